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

#define FILE_CAP	300
#define SYMBOLS_AT_ONCE (16u << 10)

struct formats {
	struct meta *m;
	struct spur_error *err;
	struct {
		struct dat_span *at;
		size_t n, cap;
	} list;
	const char *system;
};

static int add_format(void *arg, const char *name)
{
	struct formats *f = arg;
	struct dat_span span, *slot;
	char file[FILE_CAP];
	int rc;

	if (snprintf(file, sizeof(file), "events/%s/%s/format", f->system, name) >= FILE_CAP ||
	    !tracefs_has(f->m->fs, "", file))
		return 0;
	rc = meta_read(f->m, "", file, &span, f->err);
	if (rc < 0)
		return rc;
	slot = vec_push(&f->list);
	if (!slot)
		return meta_no_memory(f->err);
	*slot = span;
	return 0;
}

/* Moves a list into the arena. */
static int keep_list(struct formats *f, const struct dat_span **at, size_t *n)
{
	struct dat_span *copy = arena_array(&f->m->arena, f->list.n + 1, sizeof(*copy));

	if (!copy)
		return meta_no_memory(f->err);
	if (f->list.n)
		memcpy(copy, f->list.at, f->list.n * sizeof(*copy));
	*at = copy;
	*n = f->list.n;
	f->list.n = 0;
	return 0;
}

struct systems {
	struct dat_out_system *at;
	size_t n, cap;
};

/* The formats that have been gathered are those of one system. */
static int end_system(struct formats *f, struct systems *systems)
{
	struct dat_out_system *s;

	if (!f->list.n)
		return 0;
	s = vec_push(systems);
	if (!s)
		return meta_no_memory(f->err);
	s->name = arena_strdup(&f->m->arena, f->system);
	return s->name ? keep_list(f, &s->formats, &s->nr) : meta_no_memory(f->err);
}

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

static int add_recorded(struct formats *f, struct systems *systems)
{
	struct setup_event *list;
	size_t n;
	int rc = recorded_events(f->m, &list, &n, f->err);

	for (size_t i = 0; i < n && rc == 0; i++) {
		f->system = list[i].system;
		rc = add_format(f, list[i].name);
		if (rc == 0 && (i + 1 == n || strcmp(list[i + 1].system, f->system) != 0))
			rc = end_system(f, systems);
	}
	free(list);
	return rc;
}

struct all_systems {
	struct formats *f;
	struct systems *systems;
};

static int add_system(void *arg, const char *name)
{
	struct all_systems *all = arg;
	char dir[FILE_CAP];
	int rc;

	snprintf(dir, sizeof(dir), "events/%.200s/", name);
	/* Not a system but one of the files beside them. */
	if (!tracefs_has(all->f->m->fs, "", dir) || strcmp(name, "ftrace") == 0)
		return 0;
	all->f->system = name;
	rc = tracefs_each(all->f->m->fs, "", dir, add_format, all->f, all->f->err);
	return rc == 0 ? end_system(all->f, all->systems) : rc;
}

int meta_formats(struct meta *m, struct spur_error *err)
{
	struct formats f = {.m = m, .err = err, .system = "ftrace"};
	struct systems systems = {0};
	struct all_systems all = {&f, &systems};
	int rc = tracefs_each(m->fs, "", "events/ftrace", add_format, &f, err);

	if (rc == 0)
		rc = keep_list(&f, &m->contents.ftrace, &m->contents.nr_ftrace);
	if (rc == 0)
		rc = m->opt.all_formats ? tracefs_each(m->fs, "", "events", add_system, &all, err)
					: add_recorded(&f, &systems);
	if (rc == 0 && systems.n) {
		struct dat_out_system *copy = arena_array(&m->arena, systems.n, sizeof(*copy));

		if (copy) {
			memcpy(copy, systems.at, systems.n * sizeof(*copy));
			m->contents.systems = copy;
			m->contents.nr_systems = systems.n;
		} else {
			rc = meta_no_memory(err);
		}
	}
	vec_free(&f.list);
	vec_free(&systems);
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

static bool needs_symbols(const struct meta *m)
{
	const struct dat_contents *c = &m->contents;

	for (size_t i = 0; i < m->setup->nr_buffers; i++)
		if (buffer_needs_symbols(m, &m->setup->buffers[i]))
			return true;
	for (size_t i = 0; i < c->nr_systems; i++)
		for (size_t k = 0; k < c->systems[i].nr; k++)
			if (prints_symbols(&c->systems[i].formats[k]))
				return true;
	/* A trigger may take stacks. */
	for (size_t i = 0; i < m->setup->plan.n; i++)
		if (strncmp(m->setup->plan.at[i].text, "stacktrace", 10) == 0)
			return true;
	return false;
}

/*
 * Half of the symbols of many kernels name the padding in front of functions, where nothing runs.
 * They are left out as the list is read, so that it never takes the memory of all of it.
 */
static void keep_symbols(struct buf *symbols, size_t from)
{
	char *to = symbols->data + from;
	const char *at = to, *end = symbols->data + symbols->len;
	const char *next;

	/* What follows the last newline is not a whole line yet. */
	for (; (next = memchr(at, '\n', (size_t)(end - at))); at = next + 1) {
		size_t n = (size_t)(next + 1 - at);

		if (!memmem(at, n, " __pfx_", 7)) {
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
		keep_symbols(&m->symbols, from);
	}
	close(fd);
	return rc;
}

int meta_symbols(struct meta *m, struct spur_error *err)
{
	int rc = needs_symbols(m) ? read_symbols(m, err) : 0;

	m->contents.kallsyms = (struct dat_span){buf_str(&m->symbols), m->symbols.len};
	return rc;
}
