// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which events are on. In a buffer that is ours whole systems are turned on with one write; in one
 * that others use, too, each event is written by itself, so that each can be put back.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/suggest.h"
#include "base/vec.h"
#include "record/setup_parts.h"

/* Remembers that the format of an event will be needed. */
static int need_format(struct maker *m, const char *system, const char *name)
{
	struct setup_event *e = vec_push(&m->s->events);

	if (!e)
		return setup_no_memory(m);
	e->system = arena_strdup(&m->s->plan.arena, system);
	e->name = arena_strdup(&m->s->plan.arena, name);
	return e->system && e->name ? 0 : setup_no_memory(m);
}

static int event_step(struct maker *m, const char *instance, const char *system, const char *name,
		      const char *file, const char *text)
{
	const char *path = name ? setup_text(m, "events/%s/%s/%s", system, name, file)
				: setup_text(m, "events/%s/%s", system, file);

	return path ? setup_step(m, PLAN_WRITE, instance, path, text) : setup_no_memory(m);
}

/* An event that a trigger turns on has to have its format in the file as well. */
static int need_target(struct maker *m, const char *trigger)
{
	static const char *const words[] = {"enable_event:", "enable_hist:"};
	char system[128], name[128];

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strncmp(trigger, words[i], strlen(words[i])) == 0 &&
		    sscanf(trigger + strlen(words[i]), "%127[^:]:%127[^: ]", system, name) == 2)
			return need_format(m, system, name);
	return 0;
}

static int set_triggers(struct maker *m, const struct request_event *e, const char *instance,
			const char *system, const char *name)
{
	const char *file = setup_text(m, "events/%s/%s/trigger", system, name);

	if (!file)
		return setup_no_memory(m);
	vec_each (trigger, &e->triggers) {
		const char *back = setup_text(m, "!%s", *trigger);

		if (!back || !plan_add_line(&m->s->plan, instance, file, *trigger, back) ||
		    need_target(m, *trigger) < 0)
			return setup_no_memory(m);
	}
	return 0;
}

/* Filters of reports match with =~, those of the kernel with ~: both are taken here. */
static const char *filter_text(struct maker *m, const char *filter)
{
	char *text = arena_strdup(&m->s->plan.arena, filter), *to = text;
	char quote = 0;

	for (const char *at = filter; text && *at; at++) {
		if (quote ? *at == quote : *at == '"' || *at == '\'')
			quote = quote ? 0 : *at;
		if (!quote && at[0] == '=' && at[1] == '~')
			continue;
		*to++ = *at;
	}
	if (text)
		*to = '\0';
	return text;
}

/* Filter and triggers of one event, and whether it is on. */
static int set_event(struct maker *m, const struct request_event *e, const char *instance,
		     const char *system, const char *name, bool on)
{
	int rc = 0;

	if (e->filter && !e->exclude) {
		const char *filter = filter_text(m, e->filter);

		rc = filter ? event_step(m, instance, system, name, "filter", filter)
			    : setup_no_memory(m);
	}
	if (rc == 0 && e->triggers.n)
		rc = set_triggers(m, e, instance, system, name);
	if (rc == 0 && on)
		rc = event_step(m, instance, system, name, "enable", "1");
	return rc;
}

/* ---- probes and synthetic events ---- */

/* What was left out of a probe is told to the user. */
static int keep_note(struct maker *m, const char *note)
{
	const char **slot = vec_push(&m->s->notes);

	if (!slot)
		return setup_no_memory(m);
	*slot = note;
	return 0;
}

/*
 * Of several places that an expression means, the kernel may refuse some: they are left out then.
 */
static int add_line(struct maker *m, const struct request_event *e, const struct probe_line *line,
		    const char *instance, size_t one_of)
{
	struct plan_step *step = plan_add_line(&m->s->plan, "", line->file, line->text, line->back);
	size_t first = m->s->plan.n;
	int rc = step ? need_format(m, line->group, line->event) : setup_no_memory(m);

	if (step)
		step->one_of = one_of;
	if (rc == 0 && line->note)
		rc = keep_note(m, line->note);
	if (rc == 0)
		rc = set_event(m, e, instance, line->group, line->event, !e->exclude);
	for (size_t i = first; i < m->s->plan.n; i++)
		m->s->plan.at[i].optional = one_of != 0;
	return rc;
}

static int add_probe(struct maker *m, const struct request_event *e, const char *instance)
{
	/*
	 * Another recording may have probes of the same names, and the process that cleans up has
	 * to know their owner. Probes that are to stay have no owner.
	 */
	const bool taken = tracefs_has(m->fs, "", "events/spur");
	struct probe_options opt = {
		.group = taken || !m->opt->for_good ? m->group : NULL,
		.pid = m->r->pids.n ? m->r->pids.at[0] : 0,
		.command = m->r->command,
		.dynamic_events = tracefs_has(m->fs, "", "dynamic_events"),
		.tracefs = m->fs->path,
	};
	size_t before = m->probes.n;
	int rc = probe_resolve(e->probe, e->text, &opt, &m->s->plan.arena, &m->probes, m->err);

	for (size_t i = before; i < m->probes.n && rc == 0; i++)
		rc = add_line(m, e, &m->probes.at[i], instance,
			      m->probes.n - before > 1 ? before + 1 : 0);
	return rc;
}

/* A line "NAME TYPE FIELD; …", or "s:NAME …" as dynamic_events has it. */
static int add_synth(struct maker *m, const struct request_event *e, const char *instance)
{
	const char *from = strncmp(e->text, "s:", 2) == 0 ? e->text + 2 : e->text;
	const char *name = setup_text(m, "%.*s", (int)strcspn(from, " ;"), from);
	const char *back = name ? setup_text(m, "!%s", from) : NULL;
	int rc;

	if (!back || !plan_add_line(&m->s->plan, "", "synthetic_events", from, back))
		return setup_no_memory(m);
	rc = need_format(m, "synthetic", name);
	return rc < 0 ? rc : set_event(m, e, instance, "synthetic", name, !e->exclude);
}

/* ---- events the kernel has ---- */

static int no_such_event(struct maker *m, const char *wanted)
{
	const char *part = wanted + strcspn(wanted, ":/");
	const char *word = *part ? part + 1 : wanted, *nearest;
	struct suggest s = suggest_for(word, strlen(word));

	vec_each (e, &m->events) {
		suggest_try(&s, e->name);
		suggest_try(&s, e->system);
	}
	nearest = suggest_best(&s);
	return error_set(m->err, -ENOENT, "this kernel has no event '%s'%s%s%s", wanted,
			 nearest ? "; did you mean '" : "", nearest ? nearest : "",
			 nearest ? "'?" : "; 'spur list -e' shows those it has");
}

/* Marks the events one entry of the request means, sets filters and triggers. */
static int choose(struct maker *m, const struct request_event *e, const char *instance, bool *on)
{
	bool found = false;

	for (size_t i = 0; i < m->events.n; i++) {
		const struct tracefs_event *k = &m->events.at[i];
		int rc;

		if (!tracefs_event_matches(k, e->text))
			continue;
		found = true;
		on[i] = !e->exclude;
		rc = set_event(m, e, instance, k->system, k->name, false);
		if (rc < 0)
			return rc;
	}
	if (!found && !e->may_lack && !m->r->ignore_missing && !e->exclude)
		return no_such_event(m, e->text);
	return 0;
}

/* The end of the run of events of one system that begins at i, and whether all of it is on. */
static size_t system_end(const struct maker *m, const bool *on, size_t i, bool *all)
{
	const char *system = m->events.at[i].system;

	*all = true;
	for (; i < m->events.n && strcmp(m->events.at[i].system, system) == 0; i++)
		*all &= on[i];
	return i;
}

static int turn_on(struct maker *m, const char *instance, const bool *on, bool own)
{
	int rc = 0;

	for (size_t i = 0, end; i < m->events.n && rc == 0; i = end) {
		bool all;

		end = system_end(m, on, i, &all);
		if (own && all)
			rc = event_step(m, instance, m->events.at[i].system, NULL, "enable", "1");
		for (size_t k = i; k < end && rc == 0; k++) {
			const struct tracefs_event *e = &m->events.at[k];

			if (!on[k])
				continue;
			rc = need_format(m, e->system, e->name);
			if (rc == 0 && !(own && all))
				rc = event_step(m, instance, e->system, e->name, "enable", "1");
		}
	}
	return rc;
}

int setup_events(struct maker *m, const struct request_buffer *b, const char *instance, bool own)
{
	bool *on = calloc(m->events.n + 1, sizeof(*on));
	int rc = on ? 0 : setup_no_memory(m);

	vec_each (e, &b->events) {
		if (rc < 0)
			break;
		if (e->kind == WANT_PROBE)
			rc = add_probe(m, e, instance);
		else if (e->kind == WANT_SYNTH)
			rc = add_synth(m, e, instance);
		else
			rc = choose(m, e, instance, on);
	}
	if (rc == 0)
		rc = turn_on(m, instance, on, own);
	free(on);
	return rc;
}
