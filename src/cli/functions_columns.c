// SPDX-License-Identifier: GPL-2.0-or-later
/* The columns of `spur functions`, which fdd's users know by their letters. */
#include <stdio.h>

#include "cli/functions.h"

static uint64_t timed_calls(const struct cg_function *f)
{
	return f->calls - f->open;
}

/* Of a function whose calls have all no known duration there is nothing to say. */
static void put_time(const struct functions_command *o, const struct cg_function *f, struct grid *g,
		     int64_t ns)
{
	char text[40];

	if (!timed_calls(f)) {
		grid_empty(g);
		return;
	}
	if (o->ns)
		snprintf(text, sizeof(text), "%lld", (long long)ns);
	else
		snprintf(text, sizeof(text), "%.3f", (double)ns / 1000);
	grid_shown(g, text, ns);
}

#define CELL(name)                                                                                 \
	static void name(const struct functions_command *o, const struct callgraph *cg,            \
			 const struct cg_function *f, struct grid *g)

CELL(put_name)
{
	grid_text(g, f->name);
}

CELL(put_calls)
{
	grid_number(g, (int64_t)f->calls);
}

CELL(put_total)
{
	put_time(o, f, g, f->total);
}

CELL(put_average)
{
	put_time(o, f, g, timed_calls(f) ? f->total / (int64_t)timed_calls(f) : 0);
}

CELL(put_min)
{
	put_time(o, f, g, f->min);
}

CELL(put_max)
{
	put_time(o, f, g, f->max);
}

CELL(put_self)
{
	put_time(o, f, g, f->self);
}

CELL(put_callees)
{
	put_time(o, f, g, f->total - f->self);
}

CELL(put_off)
{
	if (cg->has_off)
		put_time(o, f, g, f->off_cpu);
	else
		grid_empty(g);
}

CELL(put_longest)
{
	const struct cg_arc *a = callgraph_longest(f);

	if (a)
		grid_text(g, a->to->name);
	else
		grid_empty(g);
}

CELL(put_longest_count)
{
	const struct cg_arc *a = callgraph_longest(f);

	if (a)
		grid_number(g, (int64_t)a->calls);
	else
		grid_empty(g);
}

CELL(put_percent)
{
	grid_decimal(g, cg->total ? 100.0 * (double)f->self / (double)cg->total : 0, 1);
}

static const struct letter letters[] = {
	{'f', false, {"Function", "function", false}, put_name},
	{'c', false, {"Count", "count", true}, put_calls},
	{'t', true, {"Time", "time", true}, put_total},
	{'a', true, {"Average", "average", true}, put_average},
	{'r', true, {"Min", "min", true}, put_min},
	{'R', true, {"Max", "max", true}, put_max},
	{'l', true, {"Local", "local", true}, put_self},
	{'s', true, {"Sub", "sub", true}, put_callees},
	{'o', true, {"Off-CPU", "off_cpu", true}, put_off},
	{'p', true, {"%", "percent", true}, put_percent},
	{'m', false, {"Max-sub", "max_sub", false}, put_longest},
	{'n', false, {"Sub-count", "max_sub_count", true}, put_longest_count},
};

const struct letter *functions_letter(char c)
{
	for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
		if (letters[i].letter == (c == 'F' ? 'f' : c))
			return &letters[i];
	return NULL;
}
