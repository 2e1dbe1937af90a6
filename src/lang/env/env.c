// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The two environments, the running kernel and a recording, and the queries that both answer in the
 * same way.
 */
#include "lang/env.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/file.h"
#include "base/scoped.h"
#include "event/event.h"
#include "event/names.h"
#include "lang/env/types.h"
#include "scan/trace.h"

/* ---- queries to any environment ---- */

#define MAX_NAME 1024

void env_free(struct env *e)
{
	if (!e)
		return;
	programs_free(e->programs);
	loaded_free(e->loaded);
	e->ops->free(e);
}

bool env_type_in(struct env *e, const char *path, const char *name, struct type *t)
{
	return (e->own && cdefs_type(e->own, name, t)) || ctype_base(name, t) ||
	       (path && env_user_type(e, path, name, t)) ||
	       (e->ops->type && e->ops->type(e, name, t));
}

bool env_type(struct env *e, const char *name, struct type *t)
{
	return env_type_in(e, NULL, name, t);
}

bool env_complete(struct env *e, struct type *t)
{
	const char *name = t->in && t->in->name ? t->in->name(t->in, t) : NULL;
	struct type found;
	struct buf full;
	bool ok;

	if (t->kind != TYPE_STRUCT || t->size || !name || !*name)
		return t->kind != TYPE_STRUCT || t->size;
	buf_init(&full, MAX_NAME);
	buf_printf(&full, "%s %s", t->is_union ? "union" : "struct", name);
	ok = !buf_full(&full) && env_type(e, buf_str(&full), &found) && found.size;
	buf_free(&full);
	if (ok)
		*t = found;
	return ok;
}

bool env_enumerator(struct env *e, const char *name, int64_t *value, struct type *in)
{
	return (e->own && cdefs_enumerator(e->own, name, value, in)) ||
	       (e->ops->enumerator && e->ops->enumerator(e, name, value, in));
}

const char *env_skipped_type(struct env *e, const char *name, const char **file)
{
	return e->own ? cdefs_skipped(e->own, name, file) : NULL;
}

void env_near_type(struct env *e, const char *name, struct buf *to)
{
	const char *bare = name;
	struct nearest near;

	ctype_tag(&bare);
	near = nearest_to(bare, strlen(bare));
	if (e->own)
		cdefs_near(e->own, name, &near);
	if (e->ops->near_type)
		e->ops->near_type(e, name, &near);
	buf_puts(to, nearest_words(&near));
}

/* ---- the running kernel ---- */

/* tracefs, BTF and kallsyms, each opened when it is needed. */

#define FORMAT_LIMIT (1u << 20)
#define KALLSYMS     "/proc/kallsyms"
#define READ_STEP    65536

struct live {
	struct env env; /* first: its address is that of the whole struct */
	const char *tracefs;
	struct events *events; /* formats that were read */
	struct env_kernel kernel;
};

/* ---- tracepoints ---- */

static bool is_file_name(const char *s)
{
	return s && *s && *s != '.' && !strchr(s, '/');
}

/* The text of a format, in the arena; NULL if there is none. */
static const char *read_format(struct live *l, const char *system, const char *name, size_t *len)
{
	char path[PATH_MAX];
	const char *copy = NULL;
	struct buf text;

	if (!l->tracefs || !is_file_name(system) || !is_file_name(name) ||
	    snprintf(path, sizeof(path), "%s/events/%s/%s/format", l->tracefs, system, name) >=
		    (int)sizeof(path))
		return NULL;
	buf_init(&text, FORMAT_LIMIT);
	if (!file_read(path, &text, NULL)) {
		copy = arena_strndup(l->env.arena, text.data, text.len);
		*len = text.len;
	}
	buf_free(&text);
	return copy;
}

static struct event *find_event(struct live *l, const char *system, const char *name)
{
	struct event *e;
	const char *text;
	size_t len;

	if (!l->events) {
		l->events = events_new();
		if (!l->events)
			return NULL;
		l->events->long_size = sizeof(long);
		l->events->big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	}
	e = events_find(l->events, system, name);
	if (e)
		return e;
	text = read_format(l, system, name, &len);
	if (!text || events_add(l->events, system, text, len, NULL) < 0)
		return NULL;
	return events_find(l->events, system, name);
}

static bool live_tracepoint(struct env *e, const char *system, const char *name,
			    struct type *fields)
{
	struct event *event = find_event((struct live *)e, system, name);

	return event && env_event_fields(e, event, fields);
}

/* ---- symbols ---- */

struct symbol_search {
	const char *name;
	size_t len;
	const char *module; /* NULL: any */
	size_t module_len;
	uint64_t found;
};

/* "ffffffff81000000 T name" or "… name\t[module]" */
static bool is_symbol(struct symbol_search *s, const char *line, const char *end)
{
	const char *name = memchr(line, ' ', (size_t)(end - line));
	char *digits;

	name = name ? memchr(name + 1, ' ', (size_t)(end - name - 1)) : NULL;
	if (!name || (size_t)(end - ++name) < s->len || memcmp(name, s->name, s->len) != 0 ||
	    (name + s->len < end && name[s->len] != '\t'))
		return false;
	name += s->len;
	/* "\t[module]" */
	if (s->module && ((size_t)(end - name) != s->module_len + 3 ||
			  memcmp(name + 2, s->module, s->module_len) != 0))
		return false;
	s->found = strtoull(line, &digits, 16);
	return true;
}

/* Searches all complete lines; returns their length in bytes. */
static size_t search_lines(struct symbol_search *s, const char *text, size_t len)
{
	const char *line = text, *end = text + len, *nl;

	while (line < end && (nl = memchr(line, '\n', (size_t)(end - line)))) {
		if (is_symbol(s, line, nl))
			return len;
		line = nl + 1;
	}
	return (size_t)(line - text);
}

/* kallsyms is long: it is read in pieces, up to the name. */
static uint64_t live_symbol(struct env *e, const char *name)
{
	const char *colon = strchr(name, ':'), *symbol = colon ? colon + 1 : name;
	struct symbol_search s = {
		.name = symbol,
		.len = strlen(symbol),
		.module = colon ? name : NULL,
		.module_len = colon ? (size_t)(colon - name) : 0,
	};
	scoped_fd fd = open(KALLSYMS, O_RDONLY | O_CLOEXEC);
	char *text = malloc(READ_STEP);
	size_t kept = 0;
	ssize_t n = 1;

	while (fd >= 0 && text && n > 0 && !s.found && kept < READ_STEP) {
		size_t used;

		n = read(fd, text + kept, READ_STEP - kept);
		if (n < 0)
			break;
		kept += (size_t)n;
		used = search_lines(&s, text, kept);
		kept -= used;
		memmove(text, text + used, kept);
	}
	free(text);
	return s.found;
}

static void live_free(struct env *e)
{
	struct live *l = (struct live *)e;

	events_free(l->events);
	env_kernel_close(&l->kernel);
	free(l);
}

static const struct env_ops live_ops = {
	.tracepoint = live_tracepoint,
	.function = env_kernel_function,
	.raw_tracepoint = env_kernel_raw_tracepoint,
	.function_id = env_kernel_function_id,
	.raw_tracepoint_id = env_kernel_raw_tracepoint_id,
	.type = env_kernel_type,
	.enumerator = env_kernel_enumerator,
	.symbol = live_symbol,
	.near_type = env_kernel_near,
	.no_types = env_kernel_missing,
	.free = live_free,
};

struct env *env_live(const char *tracefs, const char *btf, struct arena *arena)
{
	struct live *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->env = (struct env){.ops = &live_ops, .arena = arena, .kernel = &l->kernel};
	l->tracefs = tracefs ? arena_strdup(arena, tracefs) : NULL;
	l->kernel.path = btf ? arena_strdup(arena, btf) : ENV_KERNEL_BTF;
	return &l->env;
}

/* ---- a recording ---- */

/*
 * Its events and symbols. It has nothing of the kernel's memory but its records, so types of C only
 * give sizes and names of enumerators. They are those of the running kernel if that one was
 * recorded.
 */

struct file {
	struct env env; /* first: its address is that of the whole struct */
	struct spur_trace *trace;
	struct env_kernel kernel;
};

static bool file_tracepoint(struct env *e, const char *system, const char *name,
			    struct type *fields)
{
	const struct file *f = (struct file *)e;
	struct event *event = events_find(f->trace->events, system, name);

	return event && env_event_fields(e, event, fields);
}

static uint64_t file_symbol(struct env *e, const char *name)
{
	const struct file *f = (struct file *)e;
	const struct symbol *s = symbols_find_name(f->trace->events->symbols, name);

	return s ? s->addr : 0;
}

static void file_free(struct env *e)
{
	struct file *f = (struct file *)e;

	env_kernel_close(&f->kernel);
	free(f);
}

static const struct env_ops file_ops = {
	.tracepoint = file_tracepoint,
	.function = env_kernel_function,
	.raw_tracepoint = env_kernel_raw_tracepoint,
	.type = env_kernel_type,
	.enumerator = env_kernel_enumerator,
	.symbol = file_symbol,
	.near_type = env_kernel_near,
	.no_types = env_kernel_missing,
	.free = file_free,
};

/* Compares release and build of "Linux HOST RELEASE VERSION MACHINE" with this kernel. */
static bool is_running_kernel(const char *recorded)
{
	struct utsname u;

	return !uname(&u) && strstr(recorded, u.release) && strstr(recorded, u.version) &&
	       strstr(recorded, u.machine);
}

struct env *env_file(struct spur_trace *trace, struct arena *arena)
{
	struct file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->env = (struct env){
		.ops = &file_ops, .arena = arena, .kernel = &f->kernel, .offline = true};
	f->trace = trace;
	if (is_running_kernel(trace->dat->uname))
		f->kernel.path = ENV_KERNEL_BTF;
	return &f->env;
}
