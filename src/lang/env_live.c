// SPDX-License-Identifier: GPL-2.0-or-later
/* The running kernel as a script sees it: tracefs, BTF and kallsyms, each when it is needed. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "event/event.h"
#include "lang/env_parts.h"

#define FORMAT_LIMIT (1u << 20)
#define KALLSYMS     "/proc/kallsyms"
#define READ_STEP    65536

struct live {
	struct env env; /* first: a pointer to it is one to the whole */
	const char *tracefs;
	struct events *events; /* formats that were asked for */
	struct env_kernel kernel;
};

static struct live *live_of(struct env *e)
{
	return (struct live *)e;
}

/* ---- tracepoints ------------------------------------------------------------------------ */

static bool is_file_name(const char *s)
{
	return s && *s && *s != '.' && !strchr(s, '/');
}

/* The text of a format, in the arena; NULL when there is none. */
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
	struct event *event = find_event(live_of(e), system, name);

	return event && env_event_fields(e, event, fields);
}

/* ---- symbols ---------------------------------------------------------------------------- */

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

/* Looks at all complete lines; how many bytes these were. */
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

/* The list is long: it is read in pieces, up to the name. */
static uint64_t live_symbol(struct env *e, const char *name)
{
	const char *colon = strchr(name, ':'), *symbol = colon ? colon + 1 : name;
	struct symbol_search s = {
		.name = symbol,
		.len = strlen(symbol),
		.module = colon ? name : NULL,
		.module_len = colon ? (size_t)(colon - name) : 0,
	};
	int fd = open(KALLSYMS, O_RDONLY | O_CLOEXEC);
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
	if (fd >= 0)
		close(fd);
	return s.found;
}

/* ---- types ------------------------------------------------------------------------------ */

static bool live_function(struct env *e, const char *module, const char *name, struct proto *p)
{
	return env_kernel_function(&live_of(e)->kernel, module, name, e->arena, p);
}

static bool live_raw_tracepoint(struct env *e, const char *name, struct proto *p)
{
	return env_kernel_raw_tracepoint(&live_of(e)->kernel, name, e->arena, p);
}

static uint32_t live_function_id(struct env *e, const char **module, const char *name)
{
	return env_kernel_function_id(&live_of(e)->kernel, module, name);
}

static uint32_t live_raw_tracepoint_id(struct env *e, const char **module, const char *name)
{
	return env_kernel_raw_tracepoint_id(&live_of(e)->kernel, module, name);
}

static bool live_type(struct env *e, const char *name, struct type *t)
{
	return env_kernel_type(&live_of(e)->kernel, name, t);
}

static bool live_enumerator(struct env *e, const char *name, int64_t *value, struct type *in)
{
	return env_kernel_enumerator(&live_of(e)->kernel, name, value, in);
}

static void live_near_type(struct env *e, const char *name, struct nearest *near)
{
	env_kernel_near(&live_of(e)->kernel, name, near);
}

static const char *live_no_types(struct env *e)
{
	return env_kernel_missing(&live_of(e)->kernel);
}

static void live_free(struct env *e)
{
	struct live *l = live_of(e);

	events_free(l->events);
	env_kernel_close(&l->kernel);
	free(l);
}

static const struct env_ops live_ops = {
	.tracepoint = live_tracepoint,
	.function = live_function,
	.raw_tracepoint = live_raw_tracepoint,
	.function_id = live_function_id,
	.raw_tracepoint_id = live_raw_tracepoint_id,
	.type = live_type,
	.enumerator = live_enumerator,
	.symbol = live_symbol,
	.near_type = live_near_type,
	.no_types = live_no_types,
	.free = live_free,
};

struct env *env_live(const char *tracefs, const char *btf, struct arena *arena)
{
	struct live *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->env = (struct env){.ops = &live_ops, .arena = arena};
	l->tracefs = tracefs ? arena_strdup(arena, tracefs) : NULL;
	l->kernel.path = btf ? arena_strdup(arena, btf) : ENV_KERNEL_BTF;
	return &l->env;
}
