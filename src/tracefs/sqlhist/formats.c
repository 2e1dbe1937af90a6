// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events as the folder events/ of tracefs describes them, or of a copy of it. An event's format is
 * read when it is first needed. An event without a system is searched in all systems.
 */
#include "tracefs/sqlhist/sqlhist.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define FORMAT_LIMIT (1u << 20)
#define NAMES_LIMIT  (16u << 20)
#define PATH_CAP     512

struct sql_formats {
	struct tracefs fs;
	struct events *events;
	struct arena arena; /* texts of formats, and names */
};

int sql_formats_open(const struct tracefs *fs, struct sql_formats **out, struct spur_error *err)
{
	struct sql_formats *f;

	*out = NULL;
	if (!tracefs_has(fs, NULL, "events"))
		return error_sys(err, -errno, "%s/events", fs->path);
	f = calloc(1, sizeof(*f));
	if (f)
		f->events = events_new();
	if (!f || !f->events) {
		free(f);
		return error_set(err, -ENOMEM, "out of memory");
	}
	f->fs = *fs;
	f->events->long_size = sizeof(long);
	arena_init(&f->arena, NAMES_LIMIT);
	*out = f;
	return 0;
}

void sql_formats_close(struct sql_formats *f)
{
	if (!f)
		return;
	events_free(f->events);
	arena_free(&f->arena);
	free(f);
}

/* ---- finding ---- */

static bool path_of(char *path, const char *system, const char *name, const char *file)
{
	int n = snprintf(path, PATH_CAP, "events/%s/%s%s", system, name, file);

	return n > 0 && n < PATH_CAP;
}

/* 1 and the event, or 0 if the system has no event of that name. */
static int load(struct sql_formats *f, const char *system, const char *name, struct event **e,
		struct spur_error *err)
{
	char path[PATH_CAP], *copy;
	struct buf text;
	int rc;

	*e = events_find(f->events, system, name);
	if (*e)
		return 1;
	if (!path_of(path, system, name, "/format") || !tracefs_has(&f->fs, NULL, path))
		return 0;
	buf_init(&text, FORMAT_LIMIT);
	rc = tracefs_read(&f->fs, NULL, path, &text, err);
	if (rc >= 0) {
		copy = arena_strndup(&f->arena, text.data, text.len);
		rc = copy ? events_add(f->events, system, copy, text.len, err)
			  : error_set(err, -ENOMEM, "out of memory");
	}
	buf_free(&text);
	*e = rc >= 0 ? f->events->list[f->events->nr - 1] : NULL;
	/* Only the fields matter here, not how they are printed. */
	if (*e && event_ready(*e) == EVENT_BROKEN)
		rc = error_set(err, -EBADMSG, "%s: the format cannot be read", path);
	return rc < 0 ? rc : 1;
}

struct search {
	struct sql_formats *f;
	const char *name;
	const char *system; /* the first system with such an event */
	int found;
};

static int try_system(void *arg, const char *system)
{
	struct search *s = arg;
	char path[PATH_CAP];

	if (!path_of(path, system, s->name, "/format") || !tracefs_has(&s->f->fs, NULL, path))
		return 0;
	if (!s->found++)
		s->system = arena_strdup(&s->f->arena, system);
	return s->system ? 0 : -ENOMEM;
}

static int find(void *arg, const char *system, const char *name, struct event **e,
		struct spur_error *err)
{
	struct search s = {.f = arg, .name = name, .system = system, .found = system != NULL};
	int rc;

	*e = NULL;
	if (!system) {
		rc = tracefs_each(&s.f->fs, NULL, "events", try_system, &s, err);
		if (rc < 0)
			return error_set(err, rc, "out of memory");
	}
	if (!s.found)
		return 0;
	rc = load(s.f, s.system, name, e, err);
	return rc > 0 ? s.found : rc;
}

/* ---- listing ---- */

struct listing {
	struct sql_formats *f;
	const char *system;
	void (*fn)(void *to, const char *name);
	void *to;
};

static int list_event(void *arg, const char *name)
{
	const struct listing *l = arg;
	char path[PATH_CAP];
	char *copy;

	if (!path_of(path, l->system, name, "/format") || !tracefs_has(&l->f->fs, NULL, path))
		return 0;
	copy = arena_strdup(&l->f->arena, name);
	if (copy)
		l->fn(l->to, copy);
	return copy ? 0 : -ENOMEM;
}

static int list_system(void *arg, const char *system)
{
	struct listing *l = arg;
	char path[PATH_CAP];

	l->system = system;
	if (path_of(path, system, "", ""))
		tracefs_each(&l->f->fs, NULL, path, list_event, l, NULL);
	return 0;
}

static void each(void *arg, void (*fn)(void *to, const char *name), void *to)
{
	struct listing l = {.f = arg, .fn = fn, .to = to};

	tracefs_each(&l.f->fs, NULL, "events", list_system, &l, NULL);
}

struct sql_schema sql_formats_schema(struct sql_formats *f)
{
	return (struct sql_schema){.find = find, .each = each, .arg = f};
}
