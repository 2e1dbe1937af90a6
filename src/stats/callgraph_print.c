// SPDX-License-Identifier: GPL-2.0-or-later
/* The widths of columns are gprof's, so that what reads gprof's output reads this. */
#include "stats/callgraph_print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/safe.h"

#define PAGE_WIDTH  80
#define INDEX_WIDTH 7 /* of "[12] " in the index, right-aligned */

/* ---- units ---- */

struct unit {
	double ns;	  /* that it has */
	const char *name; /* as wide as gprof's "seconds" */
	const char *each; /* of a call */
	double each_ns;
};

/* The whole decides, so that all lines can be compared, and that it fits into its column. */
static const struct unit *unit_of(const struct callgraph *g)
{
	static const struct unit units[] = {
		{1, "nsecs  ", "ns/call", 1},
		{1e3, "usecs  ", "us/call", 1e3},
		{1e6, "msecs  ", "us/call", 1e3},
		{1e9, "seconds", "ms/call", 1e6},
	};
	static const struct unit samples = {1, "samples", "  /call", 1};
	size_t u = 0;

	if (g->sampled)
		return &samples;
	while (u < 3 && (double)g->total / units[u].ns >= 1e4)
		u++;
	return &units[u];
}

static double percent(const struct callgraph *g, int64_t part)
{
	return g->total ? 100.0 * (double)part / (double)g->total : 0;
}

/* ---- the flat profile ---- */

static void put_flat_line(const struct callgraph *g, const struct unit *u,
			  const struct cg_function *f, double so_far, struct buf *out)
{
	const double calls = (double)(f->calls - f->open);

	buf_printf(out, "%6.2f %10.2f %8.2f ", percent(g, f->self), so_far / u->ns,
		   (double)f->self / u->ns);
	if (calls > 0)
		buf_printf(out, "%8llu %8.2f %8.2f", (unsigned long long)f->calls,
			   (double)f->self / calls / u->each_ns,
			   (double)f->total / calls / u->each_ns);
	else if (f->calls)
		buf_printf(out, "%8llu %8s %8s", (unsigned long long)f->calls, "", "");
	else
		buf_printf(out, "%8s %8s %8s", "", "", "");
	buf_puts(out, "  ");
	buf_put_safe(out, f->name, strlen(f->name));
	buf_putc(out, '\n');
}

void callgraph_put_flat(struct callgraph *g, struct buf *out)
{
	const struct unit *u = unit_of(g);
	double so_far = 0;

	callgraph_sort(g, CG_SELF);
	buf_puts(out, "Flat profile:\n\n");
	buf_puts(out, "  %   cumulative   self              self     total           \n");
	buf_printf(out, " time   %s   %s    calls  %s  %s  name    \n", u->name, u->name, u->each,
		   u->each);
	for (size_t i = 0; i < g->functions.n; i++) {
		const struct cg_function *f = g->functions.at[i];

		/* Callers that were not traced themselves only have a name. */
		if (!f->calls && !f->self && !f->total)
			continue;
		so_far += (double)f->self;
		put_flat_line(g, u, f, so_far, out);
	}
}

/* ---- blocks ---- */

static void put_name(const struct cg_function *f, struct buf *out)
{
	buf_put_safe(out, f->name, strlen(f->name));
	buf_printf(out, " [%u]\n", f->index + 1);
}

/* A line of a caller or callee, which is the function that is shown. */
static void put_relative(const struct unit *u, const struct cg_arc *a,
			 const struct cg_function *shown, struct buf *out)
{
	if (a->from == a->to) {
		buf_printf(out, "%6s %5s %7s %7s %7llu %7s     ", "", "", "", "",
			   (unsigned long long)a->calls, "");
		put_name(shown, out);
		return;
	}
	buf_printf(out, "%6s %5s %7.2f %7.2f ", "", "", (double)a->self / u->ns,
		   (double)(a->total - a->self) / u->ns);
	if (a->calls)
		buf_printf(out, "%7llu/%-7llu     ", (unsigned long long)a->calls,
			   (unsigned long long)(a->to->calls - a->to->recursive));
	else
		buf_printf(out, "%7s %7s     ", "", "");
	put_name(shown, out);
}

static void put_primary(const struct callgraph *g, const struct unit *u,
			const struct cg_function *f, struct buf *out)
{
	char index[16];

	snprintf(index, sizeof(index), "[%u]", f->index + 1);
	buf_printf(out, "%-6s %5.1f %7.2f %7.2f", index, percent(g, f->total),
		   (double)f->self / u->ns,
		   (double)(f->total > f->self ? f->total - f->self : 0) / u->ns);
	if (!f->calls)
		buf_printf(out, " %7s %7s ", "", "");
	else if (f->recursive)
		buf_printf(out, " %7llu+%-7llu ", (unsigned long long)(f->calls - f->recursive),
			   (unsigned long long)f->recursive);
	else
		buf_printf(out, " %7llu %7s ", (unsigned long long)f->calls, "");
	put_name(f, out);
}

static struct cg_arc *reversed(struct cg_arc *callers)
{
	struct cg_arc *head = NULL;

	while (callers) {
		struct cg_arc *next = callers->next_caller;

		callers->next_caller = head;
		head = callers;
		callers = next;
	}
	return head;
}

static void put_block(const struct callgraph *g, const struct unit *u, struct cg_function *f,
		      struct buf *out)
{
	const struct cg_arc *a, *itself = f->callees;

	while (itself && itself->to != f)
		itself = itself->next_callee;
	if (!f->callers)
		buf_printf(out, "%6s %5s %7s %7s %7s %7s     <spontaneous>\n", "", "", "", "", "",
			   "");
	/* gprof has those that matter most next to the function, and the function itself last. */
	if (itself)
		put_relative(u, itself, f, out);
	f->callers = reversed(f->callers);
	for (a = f->callers; a; a = a->next_caller)
		if (a != itself)
			put_relative(u, a, a->from, out);
	f->callers = reversed(f->callers);
	put_primary(g, u, f, out);
	for (a = f->callees; a; a = a->next_callee)
		if (a != itself)
			put_relative(u, a, a->to, out);
	if (itself)
		put_relative(u, itself, f, out);
	buf_puts(out, "-----------------------------------------------\n");
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(struct cg_function *const *)a)->name,
		      (*(struct cg_function *const *)b)->name);
}

/* Where to find a function; from top to bottom, in as many columns as fit. */
static void put_index(const struct callgraph *g, struct buf *out)
{
	struct cg_function **sorted = calloc(g->functions.n + 1, sizeof(struct cg_function *));
	size_t width = 0, columns, lines;

	if (!sorted)
		return;
	for (size_t i = 0; i < g->functions.n; i++) {
		sorted[i] = g->functions.at[i];
		width = strlen(sorted[i]->name) > width ? strlen(sorted[i]->name) : width;
	}
	qsort(sorted, g->functions.n, sizeof(struct cg_function *), by_name);
	columns = width + INDEX_WIDTH + 1 < PAGE_WIDTH ? PAGE_WIDTH / (width + INDEX_WIDTH + 1) : 1;
	lines = (g->functions.n + columns - 1) / columns;
	buf_puts(out, "\nIndex by function name\n\n");
	for (size_t i = 0; i < lines; i++)
		for (size_t k = i; k < g->functions.n; k += lines) {
			const bool last = k + lines >= g->functions.n;
			char index[16];

			snprintf(index, sizeof(index), "[%u]", sorted[k]->index + 1);
			buf_printf(out, "%*s ", INDEX_WIDTH - 1, index);
			buf_put_safe(out, sorted[k]->name, strlen(sorted[k]->name));
			buf_printf(out, "%*s",
				   last ? 0 : (int)(width + 1 - strlen(sorted[k]->name)), "");
			buf_puts(out, last ? "\n" : "");
		}
	free(sorted);
}

void callgraph_put_blocks(struct callgraph *g, struct buf *out)
{
	const struct unit *u = unit_of(g);

	callgraph_sort(g, CG_TOTAL);
	buf_puts(out, "\t\t\tCall graph\n\n\n");
	if (g->sampled)
		buf_printf(out, "times are samples, %lld in all\n\n", (long long)g->total);
	else if (g->timed)
		buf_printf(out, "times are measured, in %.5s; %.2f in all\n\n", u->name,
			   (double)g->total / u->ns);
	else
		buf_puts(out, "only entries were recorded: there are no times\n\n");
	buf_puts(out, "index % time    self  children    called     name\n");
	for (size_t i = 0; i < g->functions.n; i++)
		put_block(g, u, g->functions.at[i], out);
	put_index(g, out);
}

/* ---- graphviz ---- */

static void put_dot_name(const char *name, struct buf *out)
{
	buf_putc(out, '"');
	for (; *name; name++) {
		if (*name == '"' || *name == '\\')
			buf_putc(out, '\\');
		buf_putc(out, (unsigned char)*name < ' ' || *name == 0x7f ? '?' : *name);
	}
	buf_putc(out, '"');
}

/* From pale blue to red by the share of the whole, as gprof2dot's users know it. */
static void put_colour(double share, struct buf *out)
{
	const double hue = (1 - share) * 0.62;

	buf_printf(out, "\"%.3f %.3f %.3f\"", hue, 0.25 + 0.6 * share, 0.97);
}

static void put_dot_node(const struct callgraph *g, const struct cg_function *f, struct buf *out)
{
	const double share = percent(g, g->timed || g->sampled ? f->total : 0) / 100;

	buf_printf(out, "\tn%u [label=", f->index);
	put_dot_name(f->name, out);
	/* The label goes on inside the quotes. */
	out->len--;
	if (g->timed || g->sampled)
		buf_printf(out, "\\n%.2f%%\\n(%.2f%%)", 100 * share, percent(g, f->self));
	if (f->calls)
		buf_printf(out, "\\n%llu×", (unsigned long long)f->calls);
	buf_puts(out, "\", fillcolor=");
	put_colour(share > 1 ? 1 : share, out);
	buf_puts(out, "];\n");
}

static void put_dot_arc(const struct callgraph *g, const struct cg_arc *a, struct buf *out)
{
	const double share = percent(g, a->total) / 100;

	buf_printf(out, "\tn%u -> n%u [label=\"", a->from->index, a->to->index);
	if (g->timed || g->sampled)
		buf_printf(out, "%.2f%%%s", 100 * share, a->calls ? "\\n" : "");
	if (a->calls)
		buf_printf(out, "%llu×", (unsigned long long)a->calls);
	buf_printf(out, "\", penwidth=%.2f];\n", 1 + 3 * (share > 1 ? 1 : share));
}

/* Without times everything counts the same. */
static bool is_large(const struct callgraph *g, int64_t total, double limit)
{
	return (!g->timed && !g->sampled) || percent(g, total) >= limit;
}

void callgraph_put_dot(struct callgraph *g, const struct callgraph_limits *limits, struct buf *out)
{
	callgraph_sort(g, CG_TOTAL);
	buf_puts(out, "digraph calls {\n"
		      "\tnode [shape=box, style=filled, fontname=\"sans-serif\", fontsize=10];\n"
		      "\tedge [fontname=\"sans-serif\", fontsize=9];\n");
	for (size_t i = 0; i < g->functions.n; i++)
		if (is_large(g, g->functions.at[i]->total, limits->function))
			put_dot_node(g, g->functions.at[i], out);
	for (size_t i = 0; i < g->functions.n; i++)
		for (const struct cg_arc *a = g->functions.at[i]->callees; a; a = a->next_callee)
			if (is_large(g, a->total, limits->arc) &&
			    is_large(g, a->from->total, limits->function) &&
			    is_large(g, a->to->total, limits->function))
				put_dot_arc(g, a, out);
	buf_puts(out, "}\n");
}
