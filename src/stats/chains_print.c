// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The tree as text: each chain with its callers below it. Where callers differ every one gets a
 * column of its own, with its share of the calls.
 */
#include "stats/chains_parts.h"

#define MAX_FORKS 1000 /* one within another; what is deeper is left out */

struct fork_printer {
	struct buf *out;
	bool open[MAX_FORKS + 1]; /* a line goes down this column to a later caller */
};

static double percent(uint64_t whole, uint64_t part)
{
	return (double)part / (double)whole * 100.0;
}

static const char *name_of(const struct chain *c)
{
	return c->func ? c->func : "(null)";
}

static bool is_line(const struct chain *c)
{
	while (c->nr_callers == 1)
		c = c->callers;
	return !c->nr_callers;
}

static void put_columns(const struct fork_printer *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_puts(p->out, p->open[i] ? "            |" : "             ");
}

static void put_caller(const struct fork_printer *p, const struct chain *c, size_t column)
{
	put_columns(p, column);
	buf_printf(p->out, "          %s\n", name_of(c));
}

static void put_line(const struct fork_printer *p, const struct chain *c, size_t column)
{
	while ((c = c->callers) != NULL)
		put_caller(p, c, column);
}

/* A fork's callers; `column` is that of the function they call. */
static void put_fork(struct fork_printer *p, const struct chain *callee, size_t column)
{
	if (column >= MAX_FORKS)
		return;
	p->open[column] = true;
	for (const struct chain *c = callee->callers; c && !buf_full(p->out); c = c->sibling) {
		const struct chain *fork = c;

		put_columns(p, column + 1);
		buf_putc(p->out, '\n');
		put_columns(p, column + 1);
		buf_printf(p->out, "--%%%.2f-- %s  # %llu\n", percent(callee->count, c->count),
			   name_of(c), (unsigned long long)c->count);
		if (!c->sibling)
			p->open[column] = false;
		if (is_line(c)) {
			put_line(p, c, column + 1);
			continue;
		}
		/* Callers that are always the same one do not make a column. */
		while (fork->nr_callers == 1 && fork->callers->count == fork->count) {
			fork = fork->callers;
			put_caller(p, fork, column + 1);
		}
		if (is_line(fork))
			put_line(p, fork, column + 1);
		else
			put_fork(p, fork, column + 1);
	}
}

static void put_head(const struct chain_tree *t, const struct task_names *names,
		     const struct chain *c, struct buf *out)
{
	const double share = percent(t->total, c->count);

	if (names)
		buf_printf(out, "  %%%3.2f  (%d) %s %30s #%llu\n", share, c->pid,
			   names_find(names, c->pid), name_of(c), (unsigned long long)c->count);
	else
		buf_printf(out, "  %%%3.2f <all pids> %30s #%llu\n", share, name_of(c),
			   (unsigned long long)c->count);
	buf_puts(out, "         |\n         --- ");
	buf_printf(out, c->event ? "*%s*\n" : "%s\n", name_of(c));
}

void tree_print(const struct chain_tree *t, const struct task_names *names, struct buf *out)
{
	struct fork_printer p = {.out = out};

	for (const struct chain *c = t->tops; c && !buf_full(out); c = c->top_next) {
		if (c != t->tops)
			buf_putc(out, '\n');
		put_head(t, names, c, out);
		if (is_line(c))
			put_line(&p, c, 0);
		else
			put_fork(&p, c, 0);
	}
}
