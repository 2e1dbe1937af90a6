// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The print format of sched_switch has the letters of its kernel, and whether there is a "+":
 *
 *	… __print_flags(REC->prev_state & (…), "|", { 0x0001, "S" }, { 0x0002, "D" }, …) : "R",
 *	REC->prev_state & (…) ? "+" : "", …
 *
 * The bit of the "+" is always the one above the last letter's.
 */
#include "event/taskstates.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char standard_letters[] = "SDTtXZPI";

static const char *skip_space(const char *p)
{
	return p + strspn(p, " \t\n");
}

/* Reads `{ VALUE, "X" }` at p; returns what follows, or NULL. */
static const char *parse_state(const char *p, struct task_states *s)
{
	uint64_t mask;
	char *end;

	p = skip_space(p);
	if (*p != '{')
		return NULL;
	mask = strtoull(p + 1, &end, 0);
	p = skip_space(end);
	if (*p != ',')
		return NULL;
	p = skip_space(p + 1);
	if (*p != '"' || !p[1] || p[1] == '"')
		return NULL;
	if (mask && !(mask >> NR_TASK_STATES)) {
		s->letters[__builtin_ctzll(mask)] = p[1];
		s->bits |= 1u << __builtin_ctzll(mask);
	}
	p = strchr(p + 1, '"');
	p = p ? skip_space(p + 1) : NULL;
	return p && *p == '}' ? p + 1 : NULL;
}

static void read_letters(struct task_states *s, const char *print_fmt)
{
	static const char call[] = "__print_flags(";
	const char *p = print_fmt;

	/* The first few calls are enough; a hostile format may have any number. */
	for (int i = 0; i < 8 && p && !s->bits && (p = strstr(p, call)); i++, p++) {
		const char *table = strchr(p, '{'), *field = strstr(p, "REC->prev_state");

		if (!table || !field || field > table)
			continue;
		while (table && *table) {
			table = parse_state(table, s);
			table = table ? skip_space(table) : NULL;
			table = table && *table == ',' ? table + 1 : NULL;
		}
	}
}

void task_states_read(struct task_states *s, const char *print_fmt)
{
	bool standard;

	*s = (struct task_states){0};
	read_letters(s, print_fmt);
	standard = !s->bits;
	for (size_t i = 0; standard && standard_letters[i]; i++) {
		s->letters[i] = standard_letters[i];
		s->bits |= 1u << i;
	}
	if ((standard || (print_fmt && strstr(print_fmt, "\"+\""))) &&
	    !(s->bits >> (NR_TASK_STATES - 1)))
		s->preempted = 2u << (31 - __builtin_clz(s->bits));
}
