// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Probes of functions in a recording: events that were made by kprobes and uprobes. Such an event
 * has the field __probe_ip at an entry, and __probe_func at a return. What it is called is up to
 * who made it: after the function, as perf does (with "__return"), or as the kernel does
 * (p_FUNCTION_OFFSET).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "event/event.h"
#include "probe/probes_parts.h"
#include "scan/trace.h"
#include "symbols/nearest.h"

#define NAME_CAP 256

static bool ends_with(const char *s, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len > n && !memcmp(s + len - n, end, n);
}

/* The function in an event's name. */
static void function_of(const char *event, char function[NAME_CAP])
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

/* By its text: a recording describes thousands of events, which need not be parsed for this. */
static bool is_probe(const struct event *e, bool is_return)
{
	const char *field = is_return ? " __probe_func;" : " __probe_ip;";

	return memmem(e->format, e->format_len, field, strlen(field));
}

static int add_event(struct match *m, const struct event *e, const char *function)
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
		function_of(e->name, function);
		nearest_try(&near, function, strlen(function));
		if (pattern_match(&pattern, function, strlen(function)) ||
		    pattern_match(&pattern, e->name, strlen(e->name)))
			ret = add_event(m, e, function);
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
