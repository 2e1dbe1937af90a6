// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libtraceevent, or its absence.
 *
 * Plugins are loaded here and not by the library's own loader, which would also load the plugins
 * that spur has built in. A plugin is a shared object with a function tep_plugin_loader(), which
 * registers printers for events by name.
 */
#include "event/tep.h"

#include <errno.h>

#include "base/error.h"

#ifdef HAVE_TRACEEVENT

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>

#include "base/array.h"
#include "base/vec.h"

/* How far after a record the library may read when the record lies about its lengths. */
#define TAIL (128 * 1024)

struct tep_bridge {
	struct events *events;
	struct tep_handle *tep;
	const struct tep_options *opt; /* only while it is being built */
	struct trace_seq seq;
	char *record; /* a copy of the one being printed; zeroes after it */
	size_t record_cap;
	vec_of(void *) plugins; /* of dlopen() */
	pthread_mutex_t lock;
};

/* ---- plugins ----------------------------------------------------------------------------- */

static const char *const stock_plugins[] = {
	"cfg80211", "function", "futex",	"hrtimer", "jbd2", "kmem",
	"kvm",	    "mac80211", "sched_switch", "scsi",	   "tlb",  "xen",
};

static bool is_stock(const char *name)
{
	char stock[64];

	for (size_t i = 0; i < ARRAY_SIZE(stock_plugins); i++) {
		snprintf(stock, sizeof(stock), "plugin_%s.so", stock_plugins[i]);
		if (!strcmp(stock, name))
			return true;
	}
	return false;
}

/* A directory of the user: its plugins are used even if they have the names of built-in ones. */
static bool is_users(const char *path)
{
	const char *dir = getenv("TRACEEVENT_PLUGIN_DIR"), *home = getenv("HOME");
	size_t len = home ? strlen(home) : 0;

	if (dir && !strcmp(dir, path))
		return true;
	return len > 1 && !strncmp(home, path, len) && path[len] == '/';
}

static void load_plugin(struct tep_handle *tep, const char *path, const char *name, void *bridge)
{
	struct tep_bridge *b = bridge;
	bool ours = is_stock(name) && !is_users(path);
	char file[PATH_MAX], alias[NAME_MAX];
	struct tep_plugin_option *options;
	tep_plugin_load_func loader;
	void *handle;
	const char *own_alias;

	if (ours ? !b->opt->stock_plugins : !b->opt->user_plugins)
		return;
	if (snprintf(file, sizeof(file), "%s/%s", path, name) >= (int)sizeof(file))
		return;
	handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return;
	*(void **)&loader = dlsym(handle, "tep_plugin_loader");
	if (!loader || !vec_add(&b->plugins, &handle)) {
		dlclose(handle);
		return;
	}
	own_alias = dlsym(handle, "tep_plugin_alias");
	snprintf(alias, sizeof(alias), "%.*s", (int)strcspn(name, "."), name);
	options = dlsym(handle, "tep_plugin_options");
	if (options)
		tep_plugin_add_options(own_alias ? own_alias : alias, options);
	loader(tep);
}

/* "[plugin:]name[=value]" */
static void set_option(const char *option)
{
	char *name = strdup(option), *value;

	if (!name)
		return;
	value = strchr(name, '=');
	if (value)
		*value++ = '\0';
	tep_plugin_add_option(name, value);
	free(name);
}

static void load_plugins(struct tep_bridge *b)
{
	for (const char *const *o = b->opt->options; o && *o; o++)
		set_option(*o);
	tep_load_plugins_hook(b->tep, ".so", load_plugin, b);
}

static void unload_plugins(struct tep_bridge *b)
{
	vec_each (handle, &b->plugins) {
		struct tep_plugin_option *options = dlsym(*handle, "tep_plugin_options");
		tep_plugin_unload_func unloader;

		*(void **)&unloader = dlsym(*handle, "tep_plugin_unloader");
		if (options)
			tep_plugin_remove_options(options);
		if (unloader)
			unloader(b->tep);
		dlclose(*handle);
	}
	vec_free(&b->plugins);
}

struct plugin_walk {
	void (*found)(void *arg, const char *path);
	void *arg;
};

static void tell_plugin(struct tep_handle *tep, const char *path, const char *name, void *walk)
{
	const struct plugin_walk *w = walk;
	char file[PATH_MAX];

	if ((is_users(path) || !is_stock(name)) &&
	    snprintf(file, sizeof(file), "%s/%s", path, name) < (int)sizeof(file))
		w->found(w->arg, file);
}

void tep_each_user_plugin(void (*found)(void *arg, const char *path), void *arg)
{
	struct plugin_walk w = {found, arg};
	struct tep_handle *tep = tep_alloc();

	if (!tep)
		return;
	tep_load_plugins_hook(tep, ".so", tell_plugin, &w);
	tep_free(tep);
}

void tep_print_user_options(struct buf *out)
{
	const struct tep_options opt = {.user_plugins = true};
	struct tep_bridge b = {.opt = &opt, .tep = tep_alloc()};
	struct trace_seq seq;

	if (!b.tep)
		return;
	load_plugins(&b);
	trace_seq_init(&seq);
	tep_plugin_print_options(&seq);
	trace_seq_terminate(&seq);
	if (b.plugins.n && seq.state == TRACE_SEQ__GOOD)
		buf_puts(out, seq.buffer);
	trace_seq_destroy(&seq);
	unload_plugins(&b);
	tep_free(b.tep);
}

/* ---- formats and names ------------------------------------------------------------------- */

/* A format whose print format we could not read is passed on without it. */
static int add_without_print_format(struct tep_bridge *b, const struct event *e)
{
	static const char empty[] = "print fmt: \"\"\n";
	const char *print = memmem(e->format, e->format_len, "\nprint fmt:", 11);
	size_t len = print ? (size_t)(print - e->format) + 1 : e->format_len;
	char *text = malloc(len + sizeof(empty));

	if (!text)
		return -ENOMEM;
	memcpy(text, e->format, len);
	memcpy(text + len, empty, sizeof(empty));
	tep_parse_event(b->tep, text, len + sizeof(empty) - 1, e->system);
	free(text);
	return 0;
}

static int add_event(struct tep_bridge *b, struct event *e)
{
	const enum event_state state = event_ready(e);

	if (state == EVENT_BROKEN && !b->opt->refused)
		return 0;
	if (state == EVENT_FIELDS_ONLY && !e->beyond && !b->opt->refused)
		return add_without_print_format(b, e);
	tep_parse_event(b->tep, e->format, e->format_len, e->system);
	return 0;
}

static int add_text(struct tep_bridge *b, const char *text, size_t len,
		    int (*parse)(struct tep_handle *tep, const char *text))
{
	char *copy;

	if (!text || !len)
		return 0;
	copy = strndup(text, len);
	if (!copy)
		return -ENOMEM;
	parse(b->tep, copy);
	free(copy);
	return 0;
}

static int fill(struct tep_bridge *b)
{
	const struct tep_options *opt = b->opt;
	struct events *ev = b->events;
	int rc;

	tep_set_file_bigendian(b->tep, ev->big_endian ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_local_bigendian(b->tep, tep_is_bigendian() ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_long_size(b->tep, (int)ev->long_size);
	tep_set_page_size(b->tep, (int)ev->page_size);
	load_plugins(b);
	rc = add_text(b, opt->kallsyms, opt->kallsyms_len, tep_parse_kallsyms);
	if (!rc)
		rc = add_text(b, opt->printk, opt->printk_len, tep_parse_printk_formats);
	if (!rc)
		rc = add_text(b, opt->cmdlines, opt->cmdlines_len, tep_parse_saved_cmdlines);
	for (size_t i = 0; i < ev->nr && !rc; i++)
		rc = add_event(b, ev->list[i]);
	return rc;
}

/* ---- the bridge -------------------------------------------------------------------------- */

int tep_bridge_new(struct events *ev, const struct tep_options *opt, struct tep_bridge **out,
		   struct spur_error *err)
{
	struct tep_bridge *b = calloc(1, sizeof(*b));

	*out = NULL;
	if (!b)
		return error_set(err, -ENOMEM, "no memory for libtraceevent");
	b->events = ev;
	b->opt = opt;
	pthread_mutex_init(&b->lock, NULL);
	trace_seq_init(&b->seq);
	tep_set_loglevel(TEP_LOG_NONE);
	b->tep = tep_alloc();
	if (!b->tep || fill(b) < 0) {
		tep_bridge_free(b);
		return error_set(err, -ENOMEM, "no memory for libtraceevent");
	}
	b->opt = NULL;
	*out = b;
	return 0;
}

void tep_bridge_free(struct tep_bridge *b)
{
	if (!b)
		return;
	if (b->tep) {
		unload_plugins(b);
		tep_free(b->tep);
	}
	trace_seq_destroy(&b->seq);
	pthread_mutex_destroy(&b->lock);
	free(b->record);
	free(b);
}

void tep_bridge_attach(struct tep_bridge *b)
{
	struct events *ev = b->events;

	for (size_t i = 0; i < ev->nr; i++) {
		struct event *e = ev->list[i];
		struct tep_event *te = tep_find_event_by_name(b->tep, e->system, e->name);

		e->by_plugin = te && te->id == e->id && te->handler;
	}
	ev->tep = b;
}

/* Copies a record to memory with zeroes after it: so strings end, and wrong lengths do no harm. */
static bool copy_record(struct tep_bridge *b, const struct spur_record *r)
{
	size_t need = (size_t)r->size + TAIL;

	if (need > b->record_cap) {
		free(b->record);
		b->record = calloc(1, need);
		b->record_cap = b->record ? need : 0;
	}
	if (!b->record)
		return false;
	memcpy(b->record, r->data, r->size);
	return true;
}

void tep_bridge_print(struct tep_bridge *b, struct event *e, const struct spur_record *r, bool raw,
		      struct buf *out)
{
	struct tep_record record = {.ts = r->ts, .cpu = (int)r->cpu, .size = (int)r->size};

	pthread_mutex_lock(&b->lock);
	if (copy_record(b, r)) {
		record.data = b->record;
		trace_seq_reset(&b->seq);
		tep_print_event(b->tep, &b->seq, &record, "%s",
				raw ? TEP_PRINT_INFO_RAW : TEP_PRINT_INFO);
		trace_seq_terminate(&b->seq);
		if (b->seq.state == TRACE_SEQ__GOOD)
			buf_put(out, b->seq.buffer, strnlen(b->seq.buffer, b->seq.len));
		memset(b->record, 0, r->size);
	}
	pthread_mutex_unlock(&b->lock);
}

/* Old libraries do not know %c, and say so in what they print. */
enum event_compat tep_compat(void)
{
	static const char format[] = "name: compat\nID: 1\nformat:\n"
				     "\tfield:short common_type;\toffset:0;\tsize:2;\n\n"
				     "\nprint fmt: \"%c\", 65\n";
	char type[2] = {1, 0};
	struct tep_record record = {.data = type, .size = sizeof(type)};
	struct tep_handle *tep = tep_alloc();
	bool known = true;
	struct trace_seq seq;

	if (!tep)
		return COMPAT_34;
	tep_set_file_bigendian(tep, TEP_LITTLE_ENDIAN);
	trace_seq_init(&seq);
	tep_parse_event(tep, format, sizeof(format) - 1, "spur");
	tep_print_event(tep, &seq, &record, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&seq);
	if (seq.state == TRACE_SEQ__GOOD)
		known = seq.buffer[0] == 'A';
	trace_seq_destroy(&seq);
	tep_free(tep);
	return known ? COMPAT_34 : COMPAT_31;
}

bool tep_available(void)
{
	return true;
}

#else

bool tep_available(void)
{
	return false;
}

enum event_compat tep_compat(void)
{
	return COMPAT_34;
}

void tep_each_user_plugin(void (*found)(void *arg, const char *path), void *arg)
{
}

void tep_print_user_options(struct buf *out)
{
}

int tep_bridge_new(struct events *ev, const struct tep_options *opt, struct tep_bridge **out,
		   struct spur_error *err)
{
	*out = NULL;
	return error_set(err, -ENOSYS, "this spur was built without libtraceevent");
}

void tep_bridge_free(struct tep_bridge *b)
{
}

void tep_bridge_attach(struct tep_bridge *b)
{
}

void tep_bridge_print(struct tep_bridge *b, struct event *e, const struct spur_record *r, bool raw,
		      struct buf *out)
{
}

#endif

static void note_plugin(void *any, const char *path)
{
	*(bool *)any = true;
}

bool tep_user_plugins_exist(void)
{
	bool any = false;

	tep_each_user_plugin(note_plugin, &any);
	return any;
}
