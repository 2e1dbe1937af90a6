// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Filters and the events they are about.
 *
 * filter_add() works on a rule that becomes part of the filter only at its end, so that a refused
 * text leaves nothing behind but its mistake. f->programs holds &filter_unbound for every event
 * that a rule is about until its first record comes.
 */
#include "event/filter.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/suggest.h"
#include "event/filter_tree.h"

/* Trees, names and programs of one filter; a hostile text ends here. */
#define MEMORY_LIMIT ((size_t)256 * 1024 * 1024)

struct filter *filter_new(struct events *ev)
{
	struct filter *f = calloc(1, sizeof(*f));
	struct filter_rules *rules = calloc(1, sizeof(*rules));
	const struct filter_program **programs = calloc(ev->nr ? ev->nr : 1, sizeof(*programs));

	if (!f || !rules || !programs || pthread_mutex_init(&rules->lock, NULL)) {
		free(programs);
		free(rules);
		free(f);
		return NULL;
	}
	arena_init(&rules->arena, MEMORY_LIMIT);
	*f = (struct filter){
		.events = ev, .programs = programs, .nr_events = ev->nr, .rules = rules};
	return f;
}

static void rule_free(struct rule *rule)
{
	vec_free(&rule->events);
	free(rule->wanted);
	rule->wanted = NULL;
}

void filter_free(struct filter *f)
{
	if (!f)
		return;
	vec_each (rule, &f->rules->list)
		rule_free(rule);
	vec_each (pattern, &f->rules->patterns)
		pattern_free(*pattern);
	vec_free(&f->rules->list);
	vec_free(&f->rules->patterns);
	arena_free(&f->rules->arena);
	pthread_mutex_destroy(&f->rules->lock);
	free(f->rules);
	free(f->programs);
	free(f);
}

struct filter_mistake filter_mistake(const struct filter *f)
{
	return f->rules->mistake;
}

bool filter_failed(const struct filter *f)
{
	return __atomic_load_n(&f->rules->failed, __ATOMIC_RELAXED);
}

int filter_fail(struct filter_parser *p, enum filter_reason reason, size_t pos, size_t len,
		const char *fmt, ...)
{
	char message[300];
	va_list ap;

	p->filter->rules->mistake =
		(struct filter_mistake){.reason = reason, .offset = pos, .len = len ? len : 1};
	va_start(ap, fmt);
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	return error_set(p->err, -EINVAL, "filter, column %zu: %s", pos + 1, message);
}

int filter_no_memory(struct filter_parser *p)
{
	p->filter->rules->mistake = (struct filter_mistake){.reason = FILTER_NO_MEMORY, .len = 1};
	return error_sys(p->err, -ENOMEM, "filter");
}

/* ---- the events ------------------------------------------------------------------------ */

/* A part of the text, with blanks at its ends removed. */
struct span {
	const char *at;
	size_t len;
};

static struct span trim(const char *s, size_t len)
{
	while (len && strchr(" \t\n\v\f\r", *s))
		s++, len--;
	while (len && strchr(" \t\n\v\f\r", s[len - 1]))
		len--;
	return (struct span){s, len};
}

/* Takes what is in front of the next '/', skipping empty parts; false at the end. */
static bool next_part(const char **s, const char *end, struct span *part)
{
	const char *slash;

	while (*s < end && **s == '/')
		(*s)++;
	if (*s == end)
		return false;
	slash = memchr(*s, '/', (size_t)(end - *s));
	slash = slash ? slash : end;
	*part = trim(*s, (size_t)(slash - *s));
	*s = slash;
	return true;
}

static int compile_name(struct filter_parser *p, struct pattern *pattern, struct span name)
{
	struct spur_error why = {0};
	struct buf re;
	int ret;

	/* Put together first, as libtraceevent does: in "a\|b" each anchor holds for one. */
	buf_init(&re, PATTERN_MAX + 1);
	buf_putc(&re, '^');
	buf_put(&re, name.at, name.len);
	buf_putc(&re, '$');
	ret = buf_full(&re) ? error_set(&why, -EINVAL, "it is too long")
			    : pattern_regex(pattern, re.data, re.len, &why);
	buf_free(&re);
	if (ret)
		return filter_fail(p, FILTER_BAD_EVENT_NAME, (size_t)(name.at - p->reader.text),
				   name.len, "this name is no valid regular expression: %s",
				   why.text);
	return 0;
}

static bool is_match(const struct pattern *p, const char *s)
{
	return pattern_match(p, s, strlen(s));
}

/* Says that no event has that name, and what might have been meant. */
static int no_event(struct filter_parser *p, struct span system, struct span name,
		    struct span whole)
{
	const struct events *ev = p->filter->events;
	struct suggest near = suggest_for(name.at, name.len);
	size_t pos = (size_t)(whole.at - p->reader.text);
	int len = (int)(whole.len < 60 ? whole.len : 60);

	if (memmem(whole.at, whole.len, "==", 2) || memmem(whole.at, whole.len, "=~", 2))
		return filter_fail(p, FILTER_NO_EVENT, pos, whole.len,
				   "no event is named '%.*s'; a filter starts with its events: "
				   "'EVENT: FIELD == VALUE'",
				   len, whole.at);
	for (size_t i = 0; i < ev->nr; i++) {
		suggest_try(&near, ev->list[i]->name);
		if (!system.len)
			suggest_try(&near, ev->list[i]->system);
	}
	if (suggest_best(&near))
		return filter_fail(p, FILTER_NO_EVENT, pos, whole.len,
				   "no event is named '%.*s'; did you mean '%.60s'?", len, whole.at,
				   suggest_best(&near));
	return filter_fail(p, FILTER_NO_EVENT, pos, whole.len, "no event is named '%.*s'", len,
			   whole.at);
}

/* Adds the events that match; returns how many, or -ENOMEM. */
static long add_matching(struct filter_parser *p, const struct pattern *system,
			 const struct pattern *name)
{
	const struct events *ev = p->filter->events;
	long found = 0;

	for (size_t i = 0; i < p->filter->nr_events; i++) {
		const struct event *e = ev->list[i];
		bool by_name = is_match(name, e->name);
		uint32_t *slot;

		if (system ? !by_name || !is_match(system, e->system)
			   : !by_name && !is_match(name, e->system))
			continue;
		slot = vec_push(&p->rule->events);
		if (!slot)
			return filter_no_memory(p);
		*slot = (uint32_t)i;
		p->rule->wanted[i / 64] |= (uint64_t)1 << (i % 64);
		found++;
	}
	return found;
}

/* One name of the list: "EVENT", "SYSTEM" or "SYSTEM/EVENT". */
static int find_one(struct filter_parser *p, const char *text, size_t len)
{
	const char *end = text + len;
	struct span whole = trim(text, len), first, second = {0}, rest;
	struct pattern system = {0}, name = {0};
	long found = 0;
	int ret;

	if (!next_part(&text, end, &first))
		return filter_fail(p, FILTER_NO_NAME, (size_t)(whole.at - p->reader.text), 1,
				   "the name of an event is missing");
	next_part(&text, end, &second);
	if (next_part(&text, end, &rest))
		return filter_fail(p, FILTER_BAD_EVENT_NAME, (size_t)(rest.at - p->reader.text),
				   rest.len, "an event is EVENT or SYSTEM/EVENT");
	ret = compile_name(p, &name, second.at ? second : first);
	if (!ret && second.at)
		ret = compile_name(p, &system, first);
	if (!ret) {
		found = add_matching(p, second.at ? &system : NULL, &name);
		ret = found < 0 ? (int)found : 0;
	}
	pattern_free(&system);
	pattern_free(&name);
	if (!ret && !found)
		ret = no_event(p, second.at ? first : second, second.at ? second : first, whole);
	return ret;
}

int filter_find_events(struct filter_parser *p, const char *text, size_t len)
{
	const char *end = text + len;
	int ret;

	for (;;) {
		const char *comma = memchr(text, ',', (size_t)(end - text));

		ret = find_one(p, text, (size_t)((comma ? comma : end) - text));
		if (ret || !comma)
			return ret;
		text = comma + 1;
	}
}

/* ---- adding ---------------------------------------------------------------------------- */

static int read_rule(struct filter_parser *p, size_t len)
{
	const char *text = p->rule->text, *colon = strchr(text, ':');
	size_t words = (p->filter->nr_events + 63) / 64;
	int ret;

	p->rule->wanted = calloc(words ? words : 1, sizeof(uint64_t));
	if (!p->rule->wanted)
		return filter_no_memory(p);
	ret = filter_find_events(p, text, colon ? (size_t)(colon - text) : len);
	if (ret || !colon)
		return ret;
	p->reader.pos = (size_t)(colon + 1 - text);
	p->rule->expr = filter_parse(p);
	if (!p->rule->expr)
		return p->filter->rules->mistake.reason == FILTER_NO_MEMORY ? -ENOMEM : -EINVAL;
	return filter_check_words(p, p->rule->expr);
}

int filter_add(struct filter *f, const char *text, struct spur_error *err)
{
	struct rule rule = {0}, *slot;
	struct filter_parser p = {.filter = f, .rule = &rule, .err = err};
	size_t len = strnlen(text, FILTER_MAX_TEXT + 1);
	int ret;

	f->rules->mistake = (struct filter_mistake){0};
	if (len > FILTER_MAX_TEXT)
		return filter_fail(&p, FILTER_SYNTAX, FILTER_MAX_TEXT, 1,
				   "a filter has at most %d bytes", FILTER_MAX_TEXT);
	rule.text = arena_strndup(&f->rules->arena, text, len);
	if (!rule.text)
		return filter_no_memory(&p);
	p.reader = (struct word_reader){.text = rule.text, .len = len, .arena = &f->rules->arena};
	ret = read_rule(&p, len);
	slot = ret ? NULL : vec_push(&f->rules->list);
	if (!slot) {
		rule_free(&rule);
		return ret ? ret : filter_no_memory(&p);
	}
	*slot = rule;
	f->any = true;
	for (size_t i = 0; i < rule.events.n; i++)
		f->programs[rule.events.at[i]] = &filter_unbound;
	return 0;
}
