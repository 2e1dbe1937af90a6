// SPDX-License-Identifier: GPL-2.0-or-later
/* Probes that nothing in the kernel has to be found for: begin and end, timers, signals, tests. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "probe/probes_parts.h"

#define NSEC_PER_SEC  1000000000ull
#define NSEC_PER_USEC 1000ull

/* ---- begin, end, tests ----------------------------------------------------------------- */

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

/* ---- timers ---------------------------------------------------------------------------- */

struct unit_of_time {
	const char *name;
	uint64_t ns; /* 0: times a second */
};

static const struct unit_of_time units[] = {
	{"s", NSEC_PER_SEC},
	{"ms", 1000000},
	{"us", NSEC_PER_USEC},
	{"hz", 0},
};

/* Endings of durations: "10ms". */
static const struct unit_of_time endings[] = {
	{"ns", 1},
	{"us", NSEC_PER_USEC},
	{"ms", 1000000},
	{"s", NSEC_PER_SEC},
	{"m", 60 * NSEC_PER_SEC},
	{"h", 3600 * NSEC_PER_SEC},
	{"d", 86400 * NSEC_PER_SEC},
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

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
	for (size_t i = 0; i < COUNT(endings); i++)
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
	t->period_ns = hz ? NSEC_PER_SEC / hz : ns;
	return 0;
}

static int by_duration(struct match *m)
{
	uint64_t ns;

	if (!duration(m->word[0], &ns))
		return match_error(m, "Invalid rate of %s probe: '%s' is no duration (10ms, 1s, …)",
				   m->provider->name, m->word[0]);
	if (ns < NSEC_PER_USEC)
		return match_error(m,
				   "Invalid rate of %s probe. Minimum is 1000 or 1us. Found: "
				   "%" PRIu64 " nanoseconds",
				   m->provider->name, ns);
	return add_timer(m, "us", ns / NSEC_PER_USEC, ns, 0);
}

static int list_units(struct match *m)
{
	for (size_t i = 0; i < COUNT(units); i++)
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
	for (size_t i = 0; i < COUNT(units); i++)
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
		     : number > NSEC_PER_SEC)
		return match_error(m, "Invalid rate of %s probe: '%s' is too large", kind,
				   m->word[1]);
	return add_timer(m, unit->name, number, ns, unit->ns ? 0 : number);
}
