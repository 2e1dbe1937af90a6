// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tracepoints: tracepoint:SYSTEM:EVENT, rawtracepoint:[MODULE:]EVENT.
 *
 * An event that is named exactly is looked up by its directory; the list of all events is only read
 * for patterns, and for what was probably meant.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/pattern.h"
#include "event/event.h"
#include "probe/probes_parts.h"
#include "scan/trace.h"
#include "symbols/nearest.h"

#define FORMAT_LIMIT (1 << 20)

static int add_event(struct match *m, const char *system, const char *name)
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

/* ---- what was meant -------------------------------------------------------------------- */

/* Events of that system whose names are near; else those of any system with the very name. */
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

/* ---- matching -------------------------------------------------------------------------- */

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
			ret = add_event(m, all->at[i].system, all->at[i].name);
	patterns_free(&p);
	if (ret)
		return ret;
	return m->to->n > before ? 0 : missing_event(m, system, name);
}

int match_tracepoint(struct match *m)
{
	const char *system = m->word[0], *name = m->nr_words > 1 ? m->word[1] : NULL;

	if (!name && is_glob(system)) {
		/* Who looks for "tracepoint:*foo*" means the event. */
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
	case 0: return add_event(m, system, name);
	case -EACCES:
		m->world->denied = true;
		return match_error(m, "tracepoint %s:%s: %s", system, name, strerror(EACCES));
	default: return missing_event(m, system, name);
	}
}

/* ---- raw tracepoints ------------------------------------------------------------------- */

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

/* Events are the only tracepoints the kernel lists; those of "syscalls" are made from sys_enter. */
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

/* Whether the kernel has such a module. */
static bool is_module(const char *module)
{
	char path[256];

	if (!strcmp(module, WHOLE_KERNEL))
		return true;
	if (strchr(module, '/') || *module == '.' || !*module)
		return false;
	return (snprintf(path, sizeof(path), "/sys/kernel/btf/%s", module) < (int)sizeof(path) &&
		!access(path, F_OK)) ||
	       (snprintf(path, sizeof(path), "/sys/module/%s/initstate", module) <
			(int)sizeof(path) &&
		!access(path, F_OK));
}

/* The module as it is named, or NULL where it does not matter. */
static int read_module(struct match *m, const char **module)
{
	const char *word = m->nr_words > 1 && strcmp(m->word[0], "*") ? m->word[0] : NULL;
	struct pattern pattern;
	bool whole;

	*module = word;
	if (!word)
		return 0;
	if (is_glob(word)) {
		if (pattern_glob(&pattern, word, strlen(word), NULL))
			return match_error(m, "'%s' is no pattern", word);
		whole = pattern_match(&pattern, WHOLE_KERNEL, strlen(WHOLE_KERNEL));
		pattern_free(&pattern);
		*module = whole ? WHOLE_KERNEL : word;
	}
	return is_module(*module) ? 0 : match_missing(m, "there is no module '%s'", word);
}

int match_raw_tracepoint(struct match *m)
{
	const char *name = m->word[m->nr_words - 1], *module;
	int ret;

	if (!*name)
		return match_error(m, "rawtracepoint should be attached to a function");
	ret = read_module(m, &module);
	if (ret)
		return ret;
	return is_glob(name) ? match_raw_events(m, module, name) : add_raw(m, module, name, false);
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

/* ---- fields ---------------------------------------------------------------------------- */

/* What stands between "field:" and the semicolon, of the fields behind the first empty line. */
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
