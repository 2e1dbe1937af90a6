// SPDX-License-Identifier: GPL-2.0-or-later
/* Formats of events, and the symbols that what they print may refer to. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/vec.h"
#include "record/meta_parts.h"
#include "tracefs/owner.h"

#define SYMBOLS_AT_ONCE (16u << 10)

static int by_name(const void *a, const void *b)
{
	const struct setup_event *x = a, *y = b;
	int order = strcmp(x->system, y->system);

	return order ? order : strcmp(x->name, y->name);
}

/* Events that are on in a buffer without our having turned them on. */
static int add_enabled(struct meta *m, struct setup_event **list, size_t *n, size_t *cap,
		       struct spur_error *err)
{
	for (size_t i = 0; i < m->setup->nr_buffers; i++) {
		const char *instance = m->setup->buffers[i].instance;
		struct dat_span on;
		int rc;

		if (!instance)
			continue;
		rc = meta_read(m, instance, "set_event", &on, err);
		if (rc < 0)
			return rc;
		for (char *at = (char *)on.data, *next; *at; at = next) {
			char *colon;
			struct setup_event *e;

			next = at + strcspn(at, "\n");
			if (*next)
				*next++ = '\0';
			colon = strchr(at, ':');
			if (!colon)
				continue;
			*colon = '\0';
			e = vec_push_((void **)list, n, cap, sizeof(*e));
			if (!e)
				return meta_no_memory(err);
			*e = (struct setup_event){at, colon + 1};
		}
	}
	return 0;
}

/* The events of the setup and those that are on, each once, by system and name. */
static int recorded_events(struct meta *m, struct setup_event **list, size_t *n,
			   struct spur_error *err)
{
	size_t cap = 0, kept = 0;
	int rc;

	*list = NULL;
	*n = 0;
	rc = add_enabled(m, list, n, &cap, err);
	for (size_t i = 0; i < m->setup->events.n && rc == 0; i++) {
		struct setup_event *e = vec_push_((void **)list, n, &cap, sizeof(*e));

		if (!e)
			return meta_no_memory(err);
		*e = m->setup->events.at[i];
	}
	if (rc < 0 || !*n)
		return rc;
	qsort(*list, *n, sizeof(**list), by_name);
	for (size_t i = 0; i < *n; i++)
		if (!kept || by_name(&(*list)[kept - 1], &(*list)[i]) != 0)
			(*list)[kept++] = (*list)[i];
	*n = kept;
	return 0;
}

static int add_recorded(struct meta *m, struct dat_tracing *t, struct spur_error *err)
{
	struct setup_event *list;
	size_t n;
	int rc = recorded_events(m, &list, &n, err);

	/* All of ftrace's own are there already. */
	for (size_t i = 0; i < n && rc == 0; i++)
		if (strcmp(list[i].system, "ftrace") != 0)
			rc = dat_tracing_event(t, list[i].system, list[i].name, err);
	free(list);
	return rc;
}

/*
 * Probes are in a group of their owner in the kernel, "spur_PID_START". In a file that would be
 * another name for each recording; there they are in "spur".
 */
static void name_probes(struct dat_contents *c)
{
	struct dat_out_system *own = NULL;

	for (size_t i = 0; i < c->nr_systems; i++) {
		const struct dat_out_system *s = &c->systems[i];
		struct owner o;

		if (strcmp(s->name, "spur") == 0)
			return;
		if (!owner_of_group(s->name, &o))
			continue;
		/* Of two they would be mixed up. */
		if (own)
			return;
		own = (struct dat_out_system *)s;
	}
	if (own)
		own->name = "spur";
}

int meta_formats(struct meta *m, struct spur_error *err)
{
	struct dat_tracing t = {.path = m->fs->path, .arena = &m->arena};
	int rc;

	if (m->opt.all_formats) {
		rc = dat_tracing_systems(&t, err);
	} else {
		rc = dat_tracing_system(&t, "ftrace", err);
		if (rc == 0)
			rc = add_recorded(m, &t, err);
	}
	if (rc == 0)
		rc = dat_tracing_formats(&t, &m->contents, err);
	if (rc == 0)
		name_probes(&m->contents);
	dat_tracing_free(&t);
	return rc;
}

/* ---- symbols ---- */

/* Whether a format prints an address as a symbol: %ps, %pS, %pf, %pF, %pB. */
static bool prints_symbols(const struct dat_span *format)
{
	const char *print = strstr(format->data, "print fmt:");

	for (const char *at = print; at && (at = strstr(at, "%p")); at += 2)
		if (strchr("sSfFB", at[2]) && at[2])
			return true;
	return false;
}

/* Whether a buffer may hold stacks or functions, or what a user writes into trace_marker. */
static bool buffer_needs_symbols(const struct meta *m, const struct setup_buffer *b)
{
	static const char *const options[] = {"options/stacktrace", "options/userstacktrace"};
	char tracer[64];
	int64_t on;

	if (!b->instance)
		return false;
	if (!b->made ||
	    tracefs_read_line(m->fs, b->instance, "current_tracer", tracer, sizeof(tracer), NULL) <
		    0 ||
	    strcmp(tracer, "nop") != 0)
		return true;
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (tracefs_read_number(m->fs, b->instance, options[i], &on, NULL) == 0 && on)
			return true;
	return false;
}

/* Whether the trace is about functions: by addresses alone it says little. */
static bool needs_symbols(const struct meta *m)
{
	for (size_t i = 0; i < m->setup->nr_buffers; i++)
		if (buffer_needs_symbols(m, &m->setup->buffers[i]))
			return true;
	/* A trigger may take stacks. */
	for (size_t i = 0; i < m->setup->plan.n; i++)
		if (strncmp(m->setup->plan.at[i].text, "stacktrace", 10) == 0)
			return true;
	return false;
}

/* Whether some event prints an address, which a reader may do without. */
static bool uses_symbols(const struct dat_contents *c)
{
	for (size_t i = 0; i < c->nr_systems; i++)
		for (size_t k = 0; k < c->systems[i].nr; k++)
			if (prints_symbols(&c->systems[i].formats[k]))
				return true;
	return false;
}

/*
 * Half of the symbols of many kernels name the padding in front of functions, where nothing runs.
 * They are left out as the list is read, so that it never takes the memory of all of it.
 */
static bool is_place(const char *line, size_t n)
{
	return !memmem(line, n, " __pfx_", 7);
}

/* "ffffffff81000000 T name": text, weak or not. */
static bool is_function(const char *line, size_t n)
{
	const char *space = memchr(line, ' ', n);

	return space && space + 1 < line + n && strchr("tTwW", space[1]);
}

static void keep_symbols(struct buf *symbols, size_t from, bool (*keep)(const char *line, size_t n))
{
	char *to = symbols->data + from;
	const char *at = to, *end = symbols->data + symbols->len;
	const char *next;

	/* What follows the last newline is not a whole line yet. */
	for (; (next = memchr(at, '\n', (size_t)(end - at))); at = next + 1) {
		size_t n = (size_t)(next + 1 - at);

		if (keep(at, n)) {
			memmove(to, at, n);
			to += n;
		}
	}
	memmove(to, at, (size_t)(end - at));
	symbols->len = (size_t)(to - symbols->data) + (size_t)(end - at);
}

/* Where the last line begins, which may not be whole. */
static size_t last_line(const struct buf *b)
{
	const char *newline = b->len ? memrchr(b->data, '\n', b->len) : NULL;

	return newline ? (size_t)(newline + 1 - b->data) : 0;
}

static int read_symbols(struct meta *m, struct spur_error *err)
{
	int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC), rc = 0;
	ssize_t n = 1;

	if (fd < 0)
		return error_sys(err, -errno, "/proc/kallsyms");
	while (n > 0 && rc == 0) {
		size_t from = last_line(&m->symbols);

		if (!buf_room(&m->symbols, SYMBOLS_AT_ONCE)) {
			rc = meta_no_memory(err);
			break;
		}
		n = read(fd, m->symbols.data + m->symbols.len, SYMBOLS_AT_ONCE);
		if (n < 0)
			rc = error_sys(err, -errno, "/proc/kallsyms");
		m->symbols.len += n > 0 ? (size_t)n : 0;
		keep_symbols(&m->symbols, from, is_place);
	}
	close(fd);
	return rc;
}

static void take_symbols(struct meta *m, enum meta_symbols which)
{
	m->which = which;
	m->contents.kallsyms = (struct dat_span){buf_str(&m->symbols), m->symbols.len};
}

int meta_symbols(struct meta *m, struct spur_error *err)
{
	const bool needed = needs_symbols(m), used = needed || uses_symbols(&m->contents);
	int rc = used ? read_symbols(m, err) : 0;

	m->least = needed ? META_FUNCTIONS : META_NONE;
	take_symbols(m, used ? META_ALL : META_NONE);
	return rc;
}

bool meta_can_shrink(const struct meta *m)
{
	return m->which > m->least;
}

bool meta_shrink(struct meta *m)
{
	if (!meta_can_shrink(m))
		return false;
	if (m->which == META_ALL)
		keep_symbols(&m->symbols, 0, is_function);
	else
		buf_reset(&m->symbols);
	take_symbols(m, m->which - 1);
	return true;
}
