// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Probes that are events: tracepoints and raw tracepoints, the system calls that tracepoints stand
 * for, and events of a recording that kprobes and uprobes made.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/pattern.h"
#include "event/event.h"
#include "event/pretty_tables.h"
#include "probe/provider.h"
#include "scan/trace.h"
#include "symbols/names.h"

/*
 * Tracepoints: tracepoint:SYSTEM:EVENT, rawtracepoint:[MODULE:]EVENT.
 *
 * An event with an exact name is looked up by its directory; the list of all events is only read
 * for patterns and for suggestions.
 */

#define FORMAT_LIMIT (1 << 20)

static int add_tracepoint(struct match *m, const char *system, const char *name)
{
	struct probe_target *t = match_add(m, "%s:%s", system, name);

	if (!t)
		return match_no_memory(m);
	t->system = arena_strdup(m->world->arena, system);
	t->event = arena_strdup(m->world->arena, name);
	return t->system && t->event ? 0 : match_no_memory(m);
}

/* 0, -ENOENT, or -EACCES when this user may not know. */
static int find_event(const struct match *m, const char *system, const char *name)
{
	char file[512], path[768];

	if (m->world->trace)
		return events_find(m->world->trace->events, system, name) ? 0 : -ENOENT;
	/* A name with a slash would leave the directory. */
	if (strchr(system, '/') || strchr(name, '/') || !*system || !*name)
		return -ENOENT;
	if (snprintf(file, sizeof(file), "events/%s/%s/id", system, name) >= (int)sizeof(file))
		return -ENOENT;
	if (!access(world_path(m->world, file, path, sizeof(path)), F_OK))
		return 0;
	return errno == EACCES ? -EACCES : -ENOENT;
}

/* ---- suggestions ---- */

/* Suggests events of that system with similar names, or of any system with the same name. */
static void suggest_events(struct match *m, const char *system, const char *name)
{
	const struct tracefs_events *all = world_events(m);
	struct nearest near = nearest_to(name, strlen(name));
	const struct tracefs_event *elsewhere = NULL;
	struct nearest systems = nearest_to(system, strlen(system));
	bool known = false;

	for (size_t i = 0; all && i < all->n; i++) {
		const struct tracefs_event *e = &all->at[i];

		if (!strcmp(e->name, name))
			elsewhere = e;
		nearest_try(&systems, e->system, strlen(e->system));
		if (strcmp(e->system, system))
			continue;
		known = true;
		nearest_try(&near, e->name, strlen(e->name));
	}
	if (elsewhere)
		match_hint(m, "did you mean 'tracepoint:%s:%s'?", elsewhere->system,
			   elsewhere->name);
	else if (known && near.n)
		match_hint(m, "did you mean 'tracepoint:%s:%s'?", system, near.best[0].name);
	else if (!known && systems.n)
		match_hint(m, "there is no system '%s'; did you mean '%s'?", system,
			   systems.best[0].name);
}

static int missing_event(struct match *m, const char *system, const char *name)
{
	const bool several = is_glob(system) || is_glob(name);
	const int ret = match_missing(m, "No matches for tracepoint %s:%s%s.", system, name,
				      m->world->trace ? " in the recording" : "");

	if (!several && !m->quiet && !m->listing)
		suggest_events(m, system, name);
	return ret;
}

/* ---- matching ---- */

struct patterns {
	struct pattern system, name;
};

static int patterns_init(struct match *m, struct patterns *p, const char *system, const char *name)
{
	if (pattern_glob(&p->system, system, strlen(system), NULL))
		return match_error(m, "'%s' is no pattern", system);
	if (!pattern_glob(&p->name, name, strlen(name), NULL))
		return 0;
	pattern_free(&p->system);
	return match_error(m, "'%s' is no pattern", name);
}

static void patterns_free(struct patterns *p)
{
	pattern_free(&p->system);
	pattern_free(&p->name);
}

static bool patterns_match(const struct patterns *p, const struct tracefs_event *e)
{
	return pattern_match(&p->system, e->system, strlen(e->system)) &&
	       pattern_match(&p->name, e->name, strlen(e->name));
}

static int match_events(struct match *m, const char *system, const char *name)
{
	const struct tracefs_events *all = world_events(m);
	const size_t before = m->to->n;
	struct patterns p;
	int ret;

	if (!all)
		return -EINVAL;
	ret = patterns_init(m, &p, system, name);
	if (ret)
		return ret;
	for (size_t i = 0; i < all->n && !ret; i++)
		if (patterns_match(&p, &all->at[i]))
			ret = add_tracepoint(m, all->at[i].system, all->at[i].name);
	patterns_free(&p);
	if (ret)
		return ret;
	return m->to->n > before ? 0 : missing_event(m, system, name);
}

int match_tracepoint(struct match *m)
{
	const char *system = m->word[0], *name = m->nr_words > 1 ? m->word[1] : NULL;

	if (!name && is_glob(system)) {
		/* In "tracepoint:*foo*" the pattern is for the event. */
		name = system;
		system = "*";
	} else if (!name) {
		return match_wrong_count(m);
	}
	if (!*system || !*name)
		return match_error(m, "tracepoint probe must have a target");
	if (is_glob(system) || is_glob(name))
		return match_events(m, system, name);
	switch (find_event(m, system, name)) {
	case 0: return add_tracepoint(m, system, name);
	case -EACCES:
		m->world->denied = true;
		return match_error(m, "tracepoint %s:%s: %s", system, name, strerror(EACCES));
	default: return missing_event(m, system, name);
	}
}

/* ---- raw tracepoints ---- */

static int add_raw(struct match *m, const char *module, const char *name, bool found)
{
	struct probe_target *t =
		match_add(m, "%s%s%s", module ? module : "", module ? ":" : "", name);

	if (!t)
		return match_no_memory(m);
	t->module = module;
	t->event = arena_strdup(m->world->arena, name);
	t->found = found;
	return t->event ? 0 : match_no_memory(m);
}

/*
 * The kernel only lists tracepoints that are events; those of "syscalls" are derived from
 * sys_enter.
 */
static int match_raw_events(struct match *m, const char *module, const char *name)
{
	const struct tracefs_events *all = world_events(m);
	const size_t before = m->to->n;
	struct patterns p;
	int ret;

	if (!all)
		return -EINVAL;
	ret = patterns_init(m, &p, "*", name);
	if (ret)
		return ret;
	for (size_t i = 0; i < all->n && !ret; i++)
		if (strcmp(all->at[i].system, "syscalls") && patterns_match(&p, &all->at[i]))
			ret = add_raw(m, module, all->at[i].name, true);
	patterns_free(&p);
	if (ret)
		return ret;
	return m->to->n > before ? 0 : match_missing(m, "No matches for rawtracepoint %s.", name);
}

/* The types of tracepoints' functions are called after them. */
#define TYPE_OF_TRACEPOINT "btf_trace_"

struct described {
	struct match *m;
	const char *module;
	const struct btf *btf;
	const struct pattern *name;
	int ret;
};

/* The types of a module come after those of the kernel. */
static bool add_described(void *arg, const char *type)
{
	const size_t head = strlen(TYPE_OF_TRACEPOINT);
	struct described *d = arg;

	if (strncmp(type, TYPE_OF_TRACEPOINT, head) ||
	    !pattern_match(d->name, type + head, strlen(type + head)) ||
	    (strcmp(d->module, WHOLE_KERNEL) && !btf_raw_tracepoint_id(d->btf, type + head)))
		return true;
	d->ret = add_raw(d->m, d->module, type + head, true);
	return !d->ret;
}

/* Adds the tracepoints that a module's types describe. */
static int match_described(struct match *m, const char *module, const char *name)
{
	struct described d = {.m = m, .module = module};
	struct pattern pattern;

	d.btf = world_btf_of(m->world, module);
	if (!d.btf)
		return 0;
	if (!is_glob(name))
		return btf_raw_tracepoint_id(d.btf, name) ? add_raw(m, module, name, true) : 0;
	if (pattern_glob(&pattern, name, strlen(name), NULL))
		return match_error(m, "'%s' is no pattern", name);
	d.name = &pattern;
	btf_names(d.btf, BTF_WANT_TYPEDEF, add_described, &d);
	pattern_free(&pattern);
	return d.ret;
}

/* All modules of a pattern, of which *n have types, in the order of their names. */
static int match_each_module(struct match *m, const struct pattern *pattern, const char *name,
			     size_t *n)
{
	char folder[PATH_MAX];
	struct dirent **list;
	int nr = -1, ret = 0;

	if (world_btf_path(m->world, "", folder, sizeof(folder)))
		nr = scandir(folder, &list, NULL, alphasort);
	for (int i = 0; i < nr; i++) {
		const char *module = list[i]->d_name;

		if (*module != '.' && pattern_match(pattern, module, strlen(module)) && !ret) {
			char *copy = arena_strdup(m->world->arena, module);

			++*n;
			ret = copy ? match_described(m, copy, name) : match_no_memory(m);
		}
		free(list[i]);
	}
	if (nr >= 0)
		free(list);
	return ret;
}

/* The same without types, where only the kernel itself is known. */
static int match_in_kernel(struct match *m, const char *name)
{
	return is_glob(name) ? match_raw_events(m, WHOLE_KERNEL, name)
			     : add_raw(m, WHOLE_KERNEL, name, false);
}

static int match_modules(struct match *m, const char *module, const char *name)
{
	const size_t before = m->to->n;
	struct pattern pattern;
	size_t n = 0;
	bool whole;
	int ret;

	if (pattern_glob(&pattern, module, strlen(module), NULL))
		return match_error(m, "'%s' is no pattern", module);
	whole = pattern_match(&pattern, WHOLE_KERNEL, strlen(WHOLE_KERNEL));
	if (whole && !world_btf(m->world))
		ret = match_in_kernel(m, name);
	else
		ret = match_each_module(m, &pattern, name, &n);
	pattern_free(&pattern);
	if (ret || m->to->n > before)
		return ret;
	if (!n)
		return match_missing(m, "no module with types (BTF) matches '%s'", module);
	return match_missing(m, "No matches for rawtracepoint %s:%s.", module, name);
}

/* Whether the kernel has such a module. */
static bool is_module(const struct probe_world *w, const char *module)
{
	char path[PATH_MAX];

	if (!strcmp(module, WHOLE_KERNEL))
		return true;
	if (strchr(module, '/') || *module == '.' || !*module)
		return false;
	return (world_btf_path(w, module, path, sizeof(path)) && !access(path, F_OK)) ||
	       (snprintf(path, sizeof(path), "/sys/module/%s/initstate", module) <
			(int)sizeof(path) &&
		!access(path, F_OK));
}

static int match_in_module(struct match *m, const char *module, const char *name)
{
	const size_t before = m->to->n;
	int ret;

	if (!is_module(m->world, module))
		return match_missing(m, "there is no module '%s'", module);
	if (!is_glob(name))
		return add_raw(m, module, name, false);
	if (!world_btf_of(m->world, module) && !strcmp(module, WHOLE_KERNEL))
		return match_in_kernel(m, name);
	ret = match_described(m, module, name);
	if (ret || m->to->n > before)
		return ret;
	return match_missing(m, "No matches for rawtracepoint %s:%s.", module, name);
}

int match_raw_tracepoint(struct match *m)
{
	const char *name = m->word[m->nr_words - 1];
	const char *module = m->nr_words > 1 && strcmp(m->word[0], "*") ? m->word[0] : NULL;

	if (!*name)
		return match_error(m, "rawtracepoint should be attached to a function");
	if (module)
		return (is_glob(module) ? match_modules : match_in_module)(m, module, name);
	return is_glob(name) ? match_raw_events(m, NULL, name) : add_raw(m, NULL, name, false);
}

void suggest_tracepoint(struct probe_world *w, struct nearest *near)
{
	struct spur_error ignored = {0};
	struct match m = {.world = w, .quiet = true, .err = &ignored};
	const struct tracefs_events *all = world_events(&m);

	for (size_t i = 0; all && i < all->n; i++)
		if (strcmp(all->at[i].system, "syscalls"))
			nearest_try(near, all->at[i].name, strlen(all->at[i].name));
}

/* ---- fields ---- */

/* Appends the text between "field:" and the semicolon, of the fields after the first empty line. */
static void describe_format(const char *s, const char *end, struct buf *to)
{
	bool own = false;

	while (s < end) {
		const char *line_end = memchr(s, '\n', (size_t)(end - s));
		const char *stop = line_end ? line_end : end;
		const char *semicolon = memchr(s, ';', (size_t)(stop - s));

		if (stop == s)
			own = true;
		if (own && semicolon && stop - s > 7 && !memcmp(s, "\tfield:", 7)) {
			buf_puts(to, "    ");
			buf_put(to, s + 7, (size_t)(semicolon - s - 7));
			buf_putc(to, '\n');
		}
		s = stop + 1;
	}
}

void describe_event(struct probe_world *w, const struct probe_target *t, struct buf *to)
{
	char file[512], path[768];
	struct buf text;

	if (w->trace) {
		struct event *e = events_find(w->trace->events, t->system, t->event);

		if (e)
			describe_format(e->format, e->format + e->format_len, to);
		return;
	}
	if (snprintf(file, sizeof(file), "events/%s/%s/format", t->system, t->event) >=
	    (int)sizeof(file))
		return;
	buf_init(&text, FORMAT_LIMIT);
	if (!file_read(world_path(w, file, path, sizeof(path)), &text, NULL))
		describe_format(text.data, text.data + text.len, to);
	buf_free(&text);
}

/*
 * Tracepoints of system calls by number. The tracepoints are named after functions of the kernel,
 * and for a few calls these have other names than the call.
 */

#define MAX_CALLS 4096

static const struct {
	const char *call, *function;
} other_names[] = {
	{"fstat", "newfstat"},	    {"fstatat", "newfstatat"}, {"lstat", "newlstat"},
	{"sendfile", "sendfile64"}, {"stat", "newstat"},       {"umount2", "umount"},
	{"uname", "newuname"},
};

static const char *function_of_call(const char *call, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(other_names); i++)
		if (strlen(other_names[i].call) == len && !memcmp(other_names[i].call, call, len))
			return other_names[i].function;
	return NULL;
}

/* "openat" of syscalls:sys_enter_openat; NULL when it is another event. */
static const char *call_of(const struct probe_target *t, bool *is_exit)
{
	if (t->type != PT_TRACEPOINT || strcmp(t->system, "syscalls"))
		return NULL;
	*is_exit = !strncmp(t->event, "sys_exit_", 9);
	if (*is_exit)
		return t->event + 9;
	return strncmp(t->event, "sys_enter_", 10) ? NULL : t->event + 10;
}

static int by_call(const void *a, const void *b)
{
	const struct probe_target *const *x = a, *const *y = b;
	bool ignored;

	return strcmp(call_of(*x, &ignored), call_of(*y, &ignored));
}

static size_t find(const char *const *names, size_t n, const char *name, size_t len)
{
	size_t low = 0, high = n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const int order = strncmp(names[middle], name, len);

		if (!order && !names[middle][len])
			return middle;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return n;
}

static bool all_calls(const struct probe_targets *targets, bool *is_exit)
{
	for (size_t i = 0; i < targets->n; i++) {
		bool this_exit;

		if (!call_of(targets->at[i], &this_exit) || (i && this_exit != *is_exit))
			return false;
		*is_exit = this_exit;
	}
	return targets->n > 0;
}

/* The first number of a call is its own; others are for x32 programs. */
static void fill(struct probe_syscalls *to, const struct probe_target **sorted,
		 const char *const *names, size_t n)
{
	struct arch_walk walk = {0};
	struct utsname machine = {0};
	size_t used = 0;

	uname(&machine);
	walk.arch = pretty_arch_find(machine.machine);
	while (walk.arch && pretty_arch_next_call(&walk)) {
		const char *function = function_of_call(walk.name, walk.len);
		const size_t i = function ? find(names, n, function, strlen(function))
					  : find(names, n, walk.name, walk.len);

		if (i == n || !sorted[i] || walk.nr >= MAX_CALLS || to->at[walk.nr])
			continue;
		to->at[walk.nr] = sorted[i];
		sorted[i] = NULL;
		used++;
		if (walk.nr >= to->n)
			to->n = walk.nr + 1;
	}
	to->nr_left = n - used;
}

bool probes_syscalls(struct probe_world *w, const struct probe_targets *targets,
		     struct probe_syscalls *to)
{
	const struct probe_target **sorted;
	const char **names;
	bool ignored;

	*to = (struct probe_syscalls){0};
	if (!all_calls(targets, &to->is_exit))
		return false;
	sorted = arena_array(w->arena, targets->n, sizeof(*sorted));
	names = arena_array(w->arena, targets->n, sizeof(*names));
	to->at = arena_array(w->arena, MAX_CALLS, sizeof(*to->at));
	if (!sorted || !names || !to->at)
		return false;
	memcpy(sorted, targets->at, targets->n * sizeof(*sorted));
	qsort(sorted, targets->n, sizeof(*sorted), by_call);
	for (size_t i = 0; i < targets->n; i++)
		names[i] = call_of(sorted[i], &ignored);
	fill(to, sorted, names, targets->n);
	return true;
}

/*
 * Probes of functions in a recording: events that were made by kprobes and uprobes. Such an event
 * has the field __probe_ip at an entry, and __probe_func at a return. Its creator chose the name:
 * after the function, as perf does (with "__return"), or as the kernel does (p_FUNCTION_OFFSET).
 */

#define NAME_CAP 256

static bool ends_with(const char *s, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len > n && !memcmp(s + len - n, end, n);
}

/* The function in an event's name. */
static void function_of_event(const char *event, char function[NAME_CAP])
{
	size_t len = strnlen(event, NAME_CAP - 1);
	const char *last = strrchr(event, '_');

	if (ends_with(event, len, "__return")) {
		len -= strlen("__return");
	} else if ((event[0] == 'p' || event[0] == 'r') && event[1] == '_' && last > event + 2 &&
		   last[1] && strspn(last + 1, "0123456789") == strlen(last + 1)) {
		len = (size_t)(last - event) - 2;
		event += 2;
	}
	memcpy(function, event, len);
	function[len] = '\0';
}

/* Searches the text of the format: parsing thousands of events would be slow. */
static bool is_probe(const struct event *e, bool is_return)
{
	const char *field = is_return ? " __probe_func;" : " __probe_ip;";

	return memmem(e->format, e->format_len, field, strlen(field));
}

static int add_recorded(struct match *m, const struct event *e, const char *function)
{
	const bool user = m->provider->type == PT_UPROBE || m->provider->type == PT_URETPROBE;
	struct probe_target *t;

	if (user && m->nr_words > 1)
		t = match_add(m, "%s:%s", m->word[0], function);
	else
		t = match_add(m, "%s", function);
	if (!t)
		return match_no_memory(m);
	t->system = e->system;
	t->event = e->name;
	t->symbol = t->func = arena_strdup(m->world->arena, function);
	return t->symbol ? 0 : match_no_memory(m);
}

int match_recorded(struct match *m)
{
	const struct events *ev = m->world->trace->events;
	const bool is_return =
		m->provider->type == PT_KRETPROBE || m->provider->type == PT_URETPROBE;
	const char *wanted = m->word[m->nr_words - 1];
	struct nearest near = nearest_to(wanted, strlen(wanted));
	const size_t before = m->to->n;
	struct pattern pattern;
	int ret = 0;

	if (!*wanted || pattern_glob(&pattern, wanted, strlen(wanted), NULL))
		return match_error(m, "%s should be attached to a function", m->provider->name);
	for (size_t i = 0; i < ev->nr && !ret; i++) {
		const struct event *e = ev->list[i];
		char function[NAME_CAP];

		if (e->added || !is_probe(e, is_return))
			continue;
		function_of_event(e->name, function);
		nearest_try(&near, function, strlen(function));
		if (pattern_match(&pattern, function, strlen(function)) ||
		    pattern_match(&pattern, e->name, strlen(e->name)))
			ret = add_recorded(m, e, function);
	}
	pattern_free(&pattern);
	if (ret || m->to->n > before)
		return ret;
	ret = match_missing(m,
			    "a recording cannot give '%s' unless the probe was recorded: there is "
			    "no such event in it",
			    m->text);
	if (near.n)
		match_hint(m, "did you mean '%s'?", near.best[0].name);
	return ret;
}
