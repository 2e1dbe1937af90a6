// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Probes without a place in code: begin and end, timers, signals, tests; counters and watchpoints.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/nanoseconds.h"
#include "base/pattern.h"
#include "base/suggest.h"
#include "probe/provider.h"

/* Probes that nothing in the kernel has to be found for: begin and end, timers, signals, tests. */

/* ---- begin, end, tests ---- */

int match_plain(struct match *m)
{
	struct probe_target *t = match_add(m, "%s", "");

	if (!t)
		return match_no_memory(m);
	/* Scripts print it as they spell it: BEGIN or begin. */
	if (!m->own_name && !m->listing)
		t->name = m->text;
	return 0;
}

int match_named(struct match *m)
{
	struct probe_target *t;

	if (!*m->word[0])
		return match_error(m, "%s probes must have a name", m->provider->name);
	t = match_add(m, "%s", m->word[0]);
	if (!t)
		return match_no_memory(m);
	t->event = m->word[0];
	return 0;
}

int match_self(struct match *m)
{
	struct probe_target *t;

	if (strcmp(m->word[0], "signal"))
		return match_error(m, "%s is not a supported trigger", m->word[0]);
	if (strcmp(m->word[1], "SIGUSR1"))
		return match_error(m, "%s is not a supported signal", m->word[1]);
	t = match_add(m, "%s:%s", m->word[0], m->word[1]);
	if (!t)
		return match_no_memory(m);
	t->signal = SIGUSR1;
	return 0;
}

/* ---- timers ---- */

struct unit_of_time {
	const char *name;
	uint64_t ns; /* 0: times a second */
};

static const struct unit_of_time units[] = {
	{"s", NS_PER_S},
	{"ms", 1000000},
	{"us", NS_PER_US},
	{"hz", 0},
};

/* Endings of durations: "10ms". */
static const struct unit_of_time endings[] = {
	{"ns", 1},
	{"us", NS_PER_US},
	{"ms", 1000000},
	{"s", NS_PER_S},
	{"m", 60 * NS_PER_S},
	{"h", 3600 * NS_PER_S},
	{"d", 86400 * NS_PER_S},
};

/* A duration, or a number of nanoseconds. */
static bool duration(const char *s, uint64_t *ns)
{
	char *end;
	uint64_t n;

	if (!isdigit((unsigned char)*s))
		return false;
	errno = 0;
	n = strtoull(s, &end, 0);
	if (errno)
		return false;
	if (!*end) {
		*ns = n;
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++)
		if (!strcmp(end, endings[i].name))
			return !__builtin_mul_overflow(n, endings[i].ns, ns);
	return false;
}

static int add_timer(struct match *m, const char *unit, uint64_t number, uint64_t ns, uint64_t hz)
{
	struct probe_target *t = match_add(m, "%s:%" PRIu64, unit, number);

	if (!t)
		return match_no_memory(m);
	t->freq = hz;
	t->period_ns = hz ? NS_PER_S / hz : ns;
	return 0;
}

static int by_duration(struct match *m)
{
	uint64_t ns;

	if (!duration(m->word[0], &ns))
		return match_error(m, "Invalid rate of %s probe: '%s' is no duration (10ms, 1s, …)",
				   m->provider->name, m->word[0]);
	if (ns < NS_PER_US)
		return match_error(m,
				   "Invalid rate of %s probe. Minimum is 1000 or 1us. Found: "
				   "%" PRIu64 " nanoseconds",
				   m->provider->name, ns);
	return add_timer(m, "us", ns / NS_PER_US, ns, 0);
}

static int list_units(struct match *m)
{
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (!match_add(m, "%s:", units[i].name))
			return match_no_memory(m);
	return 0;
}

int match_time(struct match *m)
{
	const char *kind = m->provider->name;
	const struct unit_of_time *unit = NULL;
	uint64_t number, ns = 0;

	if (m->listing)
		return list_units(m);
	if (m->nr_words == 1)
		return by_duration(m);
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(m->word[0], units[i].name))
			unit = &units[i];
	if (!*m->word[0])
		return match_error(m, "%s probe must have unit of time", kind);
	if (!unit)
		return match_error(m, "%s is not an accepted unit of time", m->word[0]);
	if (!word_number(m->word[1], &number))
		return match_error(m, "Invalid rate of %s probe: '%s' is not a number", kind,
				   m->word[1]);
	if (!number)
		return match_error(m, "%s frequency should be a positive integer", kind);
	if (unit->ns ? __builtin_mul_overflow(number, unit->ns, &ns) || ns > INT64_MAX
		     : number > NS_PER_S)
		return match_error(m, "Invalid rate of %s probe: '%s' is too large", kind,
				   m->word[1]);
	return add_timer(m, unit->name, number, ns, unit->ns ? 0 : number);
}

/* Counters of the kernel and of the processor, and watchpoints: what perf_event_open(2) has. */

static const struct perf_counter software[] = {
	{"alignment-faults", "", PERF_COUNT_SW_ALIGNMENT_FAULTS, 1},
	{"bpf-output", "", PERF_COUNT_SW_BPF_OUTPUT, 1},
	{"context-switches", "cs", PERF_COUNT_SW_CONTEXT_SWITCHES, 1000},
	{"cpu-clock", "cpu", PERF_COUNT_SW_CPU_CLOCK, 1000000},
	{"cpu-migrations", "", PERF_COUNT_SW_CPU_MIGRATIONS, 1},
	{"dummy", "", PERF_COUNT_SW_DUMMY, 1},
	{"emulation-faults", "", PERF_COUNT_SW_EMULATION_FAULTS, 1},
	{"major-faults", "", PERF_COUNT_SW_PAGE_FAULTS_MAJ, 1},
	{"minor-faults", "", PERF_COUNT_SW_PAGE_FAULTS_MIN, 100},
	{"page-faults", "faults", PERF_COUNT_SW_PAGE_FAULTS, 100},
	{"task-clock", "", PERF_COUNT_SW_TASK_CLOCK, 1},
	{0},
};

static const struct perf_counter hardware[] = {
	{"backend-stalls", "", PERF_COUNT_HW_STALLED_CYCLES_BACKEND, 1000000},
	{"branch-instructions", "branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100000},
	{"branch-misses", "", PERF_COUNT_HW_BRANCH_MISSES, 100000},
	{"bus-cycles", "", PERF_COUNT_HW_BUS_CYCLES, 100000},
	{"cache-misses", "", PERF_COUNT_HW_CACHE_MISSES, 1000000},
	{"cache-references", "", PERF_COUNT_HW_CACHE_REFERENCES, 1000000},
	{"cpu-cycles", "cycles", PERF_COUNT_HW_CPU_CYCLES, 1000000},
	{"frontend-stalls", "", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, 1000000},
	{"instructions", "", PERF_COUNT_HW_INSTRUCTIONS, 1000000},
	{"ref-cycles", "", PERF_COUNT_HW_REF_CPU_CYCLES, 1000000},
	{0},
};

static const struct perf_counter *counters(enum probe_type type)
{
	return type == PT_SOFTWARE ? software : hardware;
}

const struct perf_counter *perf_counter_named(enum probe_type type, const char *name)
{
	for (const struct perf_counter *c = counters(type); c->name; c++)
		if (!strcmp(c->name, name) || (c->alias[0] && !strcmp(c->alias, name)))
			return c;
	return NULL;
}

/* ---- counters ---- */

static int list_counters(struct match *m)
{
	struct pattern pattern;
	int ret = 0;

	if (pattern_glob(&pattern, m->word[0], strlen(m->word[0]), NULL))
		return 0;
	for (const struct perf_counter *c = counters(m->provider->type); c->name && !ret; c++) {
		const char *const names[] = {c->name, c->alias};

		for (int i = 0; i < 2 && !ret; i++) {
			if (!names[i][0] || !pattern_match(&pattern, names[i], strlen(names[i])))
				continue;
			ret = match_add(m, "%s:", names[i]) ? 0 : match_no_memory(m);
		}
	}
	pattern_free(&pattern);
	return ret;
}

static int unknown_counter(struct match *m, const char *name)
{
	struct suggest s = suggest_for(name, strlen(name));

	for (const struct perf_counter *c = counters(m->provider->type); c->name; c++) {
		suggest_try(&s, c->name);
		if (c->alias[0])
			suggest_try(&s, c->alias);
	}
	match_error(m, "%s is not a %s probe", name, m->provider->name);
	if (suggest_best(&s))
		match_hint(m, "did you mean '%s'?", suggest_best(&s));
	return -EINVAL;
}

int match_counter(struct match *m)
{
	const char *kind = m->provider->name, *name = m->word[0];
	const struct perf_counter *c;
	struct probe_target *t;
	char more[32] = "";
	uint64_t count = 0;

	if (m->listing)
		return list_counters(m);
	if (!*name)
		return match_error(m, "%s probe must have a %s event name", kind, kind);
	if (is_glob(name))
		return match_error(m, "wildcards are not allowed for %s probe type", kind);
	c = perf_counter_named(m->provider->type, name);
	if (!c)
		return unknown_counter(m, name);
	if (m->nr_words > 1 && *m->word[1] &&
	    (!word_number(m->word[1], &count) || count > INT64_MAX))
		return match_error(m, "Invalid count for %s probe: '%s' is not a number", kind,
				   m->word[1]);
	if (count)
		snprintf(more, sizeof(more), ":%" PRIu64, count);
	t = match_add(m, "%s%s", name, more);
	if (!t)
		return match_no_memory(m);
	t->event = c->name;
	t->count = count ? count : c->usual;
	return 0;
}

/* ---- watchpoints ---- */

/* In the order of the alphabet, each letter once. */
static bool sort_mode(const char *word, char mode[4])
{
	size_t n = 0;

	for (const char *c = "rwx"; *c; c++)
		if (strchr(word, *c))
			mode[n++] = *c;
	mode[n] = '\0';
	return n && n == strlen(word);
}

static bool mode_exists(const char *mode)
{
#if defined(__x86_64__)
	/* There the processor cannot watch for reads alone. */
	return !strcmp(mode, "rw") || !strcmp(mode, "w") || !strcmp(mode, "x");
#else
	return !strcmp(mode, "rw") || !strcmp(mode, "w") || !strcmp(mode, "x") ||
	       !strcmp(mode, "r");
#endif
}

int match_watchpoint(struct match *m)
{
	uint64_t address, length;
	struct probe_target *t;
	char mode[4];

	if (m->listing)
		return 0;
	if (!word_number(m->word[0], &address))
		return match_error(m, "Invalid function/address argument: '%s' is not a number",
				   m->word[0]);
	if (!address)
		return match_error(m, "watchpoint must be attached to a non-zero address");
	if (!word_number(m->word[1], &length) ||
	    (length != 1 && length != 2 && length != 4 && length != 8))
		return match_error(m, "watchpoint length must be one of (1,2,4,8)");
	if (!sort_mode(m->word[2], mode))
		return match_error(m, "watchpoint mode must be combination of (r,w,x)");
	if (!mode_exists(mode))
		return match_error(m, "invalid watchpoint mode: %s", mode);
	t = match_add(m, "%" PRIu64 ":%" PRIu64 ":%s", address, length, mode);
	if (!t)
		return match_no_memory(m);
	t->address = address;
	t->length = (uint32_t)length;
	t->mode = arena_strdup(m->world->arena, mode);
	return t->mode ? 0 : match_no_memory(m);
}
