// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Turning everything off in a buffer.
 *
 * All steps are done, even after errors. The first error is returned.
 */
#include "tracefs/state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"
#include "tracefs/owner.h"

#define TEXT_LIMIT (64u << 20)
#define PATH_CAP   512
#define MAX_PASSES 16 /* because triggers may depend on each other */

/* ---- triggers ---- */

/*
 * The text that removes a trigger or a command: "!" and the line, without its current state, and
 * without "unlimited": with a count it would be another command.
 */
static void put_removal(struct buf *to, const char *line, size_t len)
{
	static const char *const states[] = {" [active]", " [paused]", ":unlimited"};
	const char *at;

	buf_reset(to);
	buf_putc(to, '!');
	buf_put(to, line, len);
	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		size_t n = strlen(states[i]), end;

		at = strstr(buf_str(to), states[i]);
		if (!at)
			continue;
		end = (size_t)(at - to->data) + n;
		memmove(to->data + end - n, to->data + end, to->len - end);
		to->len -= n;
	}
	buf_putc(to, '\n');
	buf_str(to);
}

/*
 * Removes the lines of a file of triggers or of function commands, the last one first: a histogram
 * that uses another's variables comes after it. Returns how many could be removed.
 */
static int remove_lines(const struct tracefs *fs, const char *instance, const char *path,
			const char *text, bool (*wanted)(const char *line, size_t len),
			struct spur_error *err)
{
	size_t end = strlen(text);
	struct buf line;
	int removed = 0;

	buf_init(&line, TEXT_LIMIT);
	while (end) {
		size_t start = end;

		while (start && text[start - 1] != '\n')
			start--;
		if (start < end && text[start] != '#' && wanted(text + start, end - start)) {
			put_removal(&line, text + start, end - start);
			removed += tracefs_write(fs, instance, path, TRACEFS_APPEND, line.data,
						 err) == 0;
		}
		end = start ? start - 1 : 0;
	}
	buf_free(&line);
	return removed;
}

static bool any_line(const char *line, size_t len)
{
	return true;
}

struct walk {
	const struct tracefs *fs;
	const char *instance;
	struct spur_error *err;
	size_t found;
	int removed;
};

static int remove_triggers(void *arg, const struct tracefs_event *e, const char *text)
{
	struct walk *w = arg;
	char path[PATH_CAP];

	w->found++;
	if (snprintf(path, sizeof(path), "events/%s/%s/trigger", e->system, e->name) <
	    (int)sizeof(path))
		w->removed += remove_lines(w->fs, w->instance, path, text, any_line, w->err);
	return 0;
}

static int reset_triggers(const struct tracefs *fs, const char *instance, struct spur_error *err)
{
	struct spur_error why = {0};

	for (int pass = 0; pass < MAX_PASSES; pass++) {
		struct walk w = {fs, instance, &why, 0, 0};
		int rc;

		why = (struct spur_error){0};
		rc = state_each_event(fs, instance, "trigger", remove_triggers, &w, err);
		if (rc < 0)
			return rc;
		if (!w.found || !w.removed)
			break;
	}
	return why.code ? error_set(err, why.code, "%s", why.text) : 0;
}

/* ---- filters ---- */

static int remove_filter(void *arg, const struct tracefs_event *e, const char *text)
{
	struct walk *w = arg;
	char path[PATH_CAP];

	if (snprintf(path, sizeof(path), "events/%s/%s/filter", e->system, e->name) <
	    (int)sizeof(path))
		tracefs_write(w->fs, w->instance, path, TRACEFS_REPLACE, "0", w->err);
	return 0;
}

/* A system remembers the filter that was written for all of its events. */
static int reset_system_filter(void *arg, const char *system)
{
	struct walk *w = arg;
	char path[PATH_CAP], line[64];

	if (snprintf(path, sizeof(path), "events/%s/filter", system) < (int)sizeof(path) &&
	    tracefs_read_line(w->fs, w->instance, path, line, sizeof(line), NULL) == 0 &&
	    line[0] != '#' && strcmp(line, "none") != 0)
		tracefs_write(w->fs, w->instance, path, TRACEFS_REPLACE, "0", w->err);
	return 0;
}

static int reset_filters(const struct tracefs *fs, const char *instance, struct spur_error *err)
{
	struct spur_error why = {0};
	struct walk w = {fs, instance, &why, 0, 0};

	state_each_system(fs, instance, reset_system_filter, &w, NULL);
	state_each_event(fs, instance, "filter", remove_filter, &w, &why);
	return why.code ? error_set(err, why.code, "%s", why.text) : 0;
}

static int events_off(const struct tracefs *fs, const char *instance, struct spur_error *err)
{
	if (state_enabled(fs, instance, "events") == '0')
		return 0;
	return tracefs_write(fs, instance, "events/enable", TRACEFS_REPLACE, "0", err);
}

static int reset_events(const struct tracefs *fs, const char *instance, const char *file,
			struct spur_error *err)
{
	int first = 0;

	for (int step = 0; step < 3; step++) {
		/* Triggers come first: they may turn events on. */
		int rc = step == 0   ? reset_triggers(fs, instance, err)
			 : step == 1 ? events_off(fs, instance, err)
				     : reset_filters(fs, instance, err);

		if (first == 0)
			first = rc;
	}
	return first;
}

/* ---- lists of functions and of tasks ---- */

/* A command ("schedule:traceoff:unlimited") among the names of functions. */
static bool is_command(const char *line, size_t len)
{
	return memchr(line, ':', len);
}

/* Empties a list, unless it is empty. It is no error if the kernel cannot show it. */
static int empty_list(const struct tracefs *fs, const char *instance, const char *file,
		      struct spur_error *err)
{
	struct spur_error why = {0};
	struct buf text;
	bool shown;

	buf_init(&text, TEXT_LIMIT);
	shown = tracefs_read(fs, instance, file, &text, NULL) == 0;
	state_trim(&text);
	if (shown && memchr(text.data, ':', text.len))
		remove_lines(fs, instance, file, text.data, is_command, &why);
	/* An empty list is shown as nothing, as "no pid", or as one comment. */
	if (shown && text.len && strcmp(text.data, "no pid") != 0 &&
	    (text.data[0] != '#' || memchr(text.data, '\n', text.len)))
		tracefs_write(fs, instance, file, TRACEFS_REPLACE, "", &why);
	buf_free(&text);
	if (!why.code || why.code == -EPERM || why.code == -EACCES)
		return 0;
	return error_set(err, why.code, "%s", why.text);
}

/* ---- everything ---- */

/* Opening the file with O_TRUNC empties it. */
static int empty_file(const struct tracefs *fs, const char *instance, const char *file,
		      struct spur_error *err)
{
	return tracefs_write(fs, instance, file, TRACEFS_REPLACE, "", err);
}

int reset_trace(const struct tracefs *fs, const char *instance, struct spur_error *err)
{
	return empty_file(fs, instance, "trace", err);
}

static int reset_cpumask(const struct tracefs *fs, const char *instance, const char *file,
			 struct spur_error *err)
{
	unsigned int cpus = state_nr_cpus(fs, instance);
	char mask[PATH_CAP];
	struct buf all;
	int rc;

	if (!cpus || tracefs_read_line(fs, instance, file, mask, sizeof(mask), NULL) < 0 ||
	    state_mask_has_all(mask, cpus))
		return 0;
	buf_init(&all, PATH_CAP);
	state_mask_of_all(cpus, &all);
	rc = tracefs_write(fs, instance, file, TRACEFS_REPLACE, all.data, err);
	buf_free(&all);
	return rc;
}

/* In this order: first recording stops, then the rest is reset. */
static const struct {
	const char *file;
	const char *text; /* the new content; or NULL, and a function that resets it */
	int (*reset)(const struct tracefs *fs, const char *instance, const char *file,
		     struct spur_error *err);
} steps[] = {
	{"tracing_on", "0"},
	{"current_tracer", "nop"},
	{"events", .reset = reset_events},
	{"set_ftrace_pid", .reset = empty_list},
	{"set_ftrace_notrace_pid", .reset = empty_list},
	{"set_ftrace_filter", .reset = empty_list},
	{"set_ftrace_notrace", .reset = empty_list},
	{"set_graph_function", .reset = empty_list},
	{"set_graph_notrace", .reset = empty_list},
	{"set_event_pid", .reset = empty_list},
	{"set_event_notrace_pid", .reset = empty_list},
	{"trace", .reset = empty_file},
	{"error_log", .reset = empty_file},
	{"trace_clock", "local"},
	{"tracing_max_latency", "0"},
	{"tracing_cpumask", .reset = reset_cpumask},
	{"tracing_on", "1"},
};

static int write_setting(const struct tracefs *fs, const char *instance, const char *file,
			 const char *text, struct spur_error *err)
{
	char now[64];

	if (tracefs_read_choice(fs, instance, file, now, sizeof(now), NULL) == 0 &&
	    strcmp(now, text) == 0)
		return 0;
	return tracefs_write(fs, instance, file, TRACEFS_REPLACE, text, err);
}

int reset_buffer(const struct tracefs *fs, const char *instance, struct spur_error *err)
{
	int first = 0;

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		int rc;

		if (!tracefs_has(fs, instance, steps[i].file))
			continue;
		rc = steps[i].reset
			     ? steps[i].reset(fs, instance, steps[i].file, err)
			     : write_setting(fs, instance, steps[i].file, steps[i].text, err);
		if (first == 0)
			first = rc;
	}
	return first;
}
