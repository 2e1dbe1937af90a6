// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events in `spur list`.
 *
 * A pattern is a regular expression of regcomp(3), case ignored. "SYSTEM:EVENT" is one for each, a
 * word alone one for either, and "SYSTEM:" all events of the systems that match.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/pattern.h"
#include "base/safe.h"
#include "base/suggest.h"
#include "base/vec.h"
#include "cli/list.h"
#include "tracefs/state.h"

#define PATH_CAP   512
#define TEXT_LIMIT (1u << 20)
#define COLUMNS	   100

#define DIM   "\033[36m"
#define BOLD  "\033[1m"
#define PLAIN "\033[0m"

/* ---- patterns of events ---- */

struct event_pattern {
	struct pattern system, event;
	bool both; /* one for each; else `system` is for either */
	bool all;  /* "SYSTEM:" */
};

static int compile(struct event_pattern *p, const char *text)
{
	const char *colon = strchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : strlen(text);
	struct spur_error err = {0};
	int rc;

	memset(p, 0, sizeof(*p));
	rc = pattern_regex(&p->system, text, len, &err);
	if (rc == 0 && colon && colon[1]) {
		p->both = true;
		rc = pattern_regex(&p->event, colon + 1, strlen(colon + 1), &err);
	}
	p->all = colon && !colon[1];
	if (rc == 0)
		return SPUR_OK;
	pattern_free(&p->system);
	cli_error("'%s' is not a regular expression: %s", text, err.text);
	return SPUR_USAGE;
}

static bool matches(const struct event_pattern *p, const struct tracefs_event *e)
{
	if (pattern_match(&p->system, e->system, strlen(e->system)))
		return !p->both || pattern_match(&p->event, e->name, strlen(e->name));
	return !p->both && !p->all && pattern_match(&p->system, e->name, strlen(e->name));
}

/* Nothing has matched: what may have been meant. */
static void suggest(const struct tracefs_events *list, const char *text)
{
	const char *colon = strchr(text, ':'), *word = colon && colon[1] ? colon + 1 : text;
	struct suggest near = suggest_for(word, strcspn(word, ":"));

	for (size_t i = 0; i < list->n; i++) {
		suggest_try(&near, list->at[i].name);
		suggest_try(&near, list->at[i].system);
	}
	if (suggest_best(&near))
		cli_error("no event matches '%s'; did you mean '%s'?", text, suggest_best(&near));
	else
		cli_error("no event matches '%s'", text);
}

/* ---- an event ---- */

static void put_name(const struct list_options *o, const struct tracefs_event *e)
{
	fputs(o->use_colour ? DIM : "", stdout);
	cli_printf("%s:", e->system);
	fputs(o->use_colour ? PLAIN : "", stdout);
	cli_printf("%s\n", e->name);
}

/* A file of an event's, read; SPUR_OK or an exit status after a message. */
static int load(const struct tracefs *fs, const struct tracefs_event *e, const char *file,
		struct buf *text)
{
	struct spur_error err = {0};
	char path[PATH_CAP];

	buf_reset(text);
	snprintf(path, sizeof(path), "events/%s/%s/%s", e->system, e->name, file);
	return tracefs_read(fs, NULL, path, text, &err) < 0 ? cli_fail(&err) : SPUR_OK;
}

/* The format, up to its print format unless that is wanted as well. */
static int put_format(const struct tracefs *fs, const struct list_options *o,
		      const struct tracefs_event *e, struct buf *text)
{
	int status = load(fs, e, "format", text);
	const char *print = status == SPUR_OK ? strstr(text->data, "\nprint fmt") : NULL;

	if (status != SPUR_OK)
		return status;
	fputs(o->use_colour ? BOLD : "", stdout);
	cli_printf("system: %s", e->system);
	puts(o->use_colour ? PLAIN : "");
	cli_put(text->data, print && !o->full ? (size_t)(print + 1 - text->data) : text->len);
	return SPUR_OK;
}

static int put_file(const struct tracefs *fs, const struct list_options *o,
		    const struct tracefs_event *e, const char *file, struct buf *text)
{
	int status = load(fs, e, file, text);

	if (status != SPUR_OK)
		return status;
	put_name(o, e);
	cli_put(text->data, text->len);
	putchar('\n');
	return SPUR_OK;
}

static int put_event(const struct tracefs *fs, const struct list_options *o,
		     const struct tracefs_event *e, struct buf *text)
{
	int status = SPUR_OK;

	if (!o->formats && !o->filters && !o->triggers)
		put_name(o, e);
	if (o->formats)
		status = put_format(fs, o, e, text);
	if (status == SPUR_OK && o->filters)
		status = put_file(fs, o, e, "filter", text);
	if (status == SPUR_OK && o->triggers)
		status = put_file(fs, o, e, "trigger", text);
	return status;
}

/* ---- events ---- */

static int put_matching(const struct tracefs *fs, const struct list_options *o,
			const struct tracefs_events *list, const char *pattern, struct buf *text)
{
	struct event_pattern p = {.system = {.kind = PATTERN_ALL}};
	int status = pattern ? compile(&p, pattern) : SPUR_OK;
	bool any = false;

	for (size_t i = 0; i < list->n && status == SPUR_OK && !cli_stop; i++)
		if (matches(&p, &list->at[i])) {
			any = true;
			status = put_event(fs, o, &list->at[i], text);
		}
	if (pattern && status == SPUR_OK && !any) {
		suggest(list, pattern);
		status = SPUR_USAGE;
	}
	if (pattern) {
		pattern_free(&p.system);
		pattern_free(&p.event);
	}
	return status;
}

int list_events(const struct tracefs *fs, const struct list_options *o)
{
	struct spur_error err = {0};
	struct tracefs_events list;
	struct buf text;
	int status = SPUR_OK;

	if (tracefs_events_load(fs, NULL, &list, &err) < 0)
		return cli_fail(&err);
	buf_init(&text, TEXT_LIMIT);
	if (!o->event_patterns.n)
		status = put_matching(fs, o, &list, NULL, &text);
	vec_each (pattern, &o->event_patterns) {
		int one = put_matching(fs, o, &list, *pattern, &text);

		status = status ? status : one;
	}
	buf_free(&text);
	tracefs_events_free(&list);
	return status;
}

static int put_system(void *arg, const char *system)
{
	cli_printf("%s\n", system);
	return 0;
}

int list_systems(const struct tracefs *fs, const struct list_options *o)
{
	struct spur_error err = {0};

	if (state_each_system(fs, NULL, put_system, NULL, &err) < 0)
		return cli_fail(&err);
	putchar('\n');
	return SPUR_OK;
}

/* ---- everything in short ---- */

static void put_key(const struct list_options *o, const char *key)
{
	printf(o->use_colour ? BOLD "%-10s" PLAIN " " : "%-10s ", key);
}

static void put_line_of(const struct tracefs *fs, const struct list_options *o, const char *key,
			const char *file)
{
	char line[PATH_CAP];

	if (tracefs_read_line(fs, NULL, file, line, sizeof(line), NULL) < 0)
		return;
	put_key(o, key);
	cli_put(line, strlen(line));
	putchar('\n');
}

static void put_instances(const struct tracefs *fs, const struct list_options *o)
{
	struct instances list;

	if (instances_load(fs, &list, NULL) < 0)
		return;
	put_key(o, "instances");
	vec_each (name, &list) {
		cli_put(*name, strlen(*name));
		printf(instance_is_leftover(*name) ? " (left behind) " : " ");
	}
	puts(list.n ? "" : "none");
	instances_free(&list);
}

/* "sched 24, irq 7": systems with the number of their events, in lines of moderate length. */
static void put_systems(const struct list_options *o, const struct tracefs_events *list)
{
	size_t systems = 0, column = 0;

	for (size_t i = 0; i < list->n; i++)
		systems += !i || strcmp(list->at[i].system, list->at[i - 1].system) != 0;
	put_key(o, "events");
	printf("%zu of %zu systems:\n", list->n, systems);
	for (size_t i = 0, next; i < list->n; i = next) {
		char word[PATH_CAP];
		size_t len;

		for (next = i; next < list->n; next++)
			if (strcmp(list->at[next].system, list->at[i].system) != 0)
				break;
		len = (size_t)snprintf(word, sizeof(word), "%s %zu%s", list->at[i].system, next - i,
				       next < list->n ? "," : "");
		if (!column || column + 1 + len > COLUMNS) {
			printf(column ? "\n%-10s" : "%-10s", "");
			column = 10;
		}
		cli_printf(" %s", word);
		column += 1 + len;
	}
	putchar('\n');
}

int list_overview(const struct tracefs *fs, const struct list_options *o)
{
	struct spur_error err = {0};
	struct tracefs_events list;
	int64_t functions;

	if (tracefs_events_load(fs, NULL, &list, &err) < 0)
		return cli_fail(&err);
	put_systems(o, &list);
	tracefs_events_free(&list);
	put_line_of(fs, o, "tracers", "available_tracers");
	if (tracefs_read_number(fs, NULL, "dyn_ftrace_total_info", &functions, NULL) == 0) {
		put_key(o, "functions");
		printf("%lld\n", (long long)functions);
	}
	put_line_of(fs, o, "clocks", "trace_clock");
	put_instances(fs, o);
	puts("\n-e lists events, -F EVENT shows one's fields; more with 'spur list --help'");
	return SPUR_OK;
}
