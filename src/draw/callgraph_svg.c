// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A call graph as a picture: callers above callees, in layers.
 *
 * A function's layer is one below its lowest caller; arcs that would lead upwards (recursion) do
 * not count for that. Within a layer functions stand where their callers and callees are on
 * average, which a few sweeps down and up find. The largest functions are shown, as many as fit.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xml.h"
#include "draw/svg.h"

#define MOST_NODES 120
#define BOX_HEIGHT 46
#define GAP_X	   16
#define GAP_Y	   64
#define MARGIN	   20
#define CHAR_WIDTH 7.2 /* of names */
#define TEXT_WIDTH 6.4 /* of what is below them, at most */
#define NAME_CHARS 40
#define NUMBERS	   64 /* bytes of what is below a name */
#define SWEEPS	   8

struct node {
	const struct cg_function *f;
	unsigned int layer;
	double x, width; /* left edge */
	double weight;	 /* for sorting: where its neighbours are */
	int state;	 /* of the search for layers: 0 new, 1 open, 2 done */
};

struct picture {
	const struct callgraph *g;
	const struct callgraph_limits *limits;
	struct node nodes[MOST_NODES];
	struct node *order[MOST_NODES]; /* by layer and place */
	size_t nr;
	unsigned int layers;
	double width;
};

static double share(const struct callgraph *g, int64_t total)
{
	const double s = g->total ? (double)total / (double)g->total : 0;

	return s > 1 ? 1 : s;
}

static bool is_counted(const struct picture *p, int64_t total, double limit)
{
	return (!p->g->timed && !p->g->sampled) || 100 * share(p->g, total) >= limit;
}

/* The nodes are the first functions of the sorted graph: an index says whether one is drawn. */
static struct node *node_of(struct picture *p, const struct cg_function *f)
{
	return f->index < p->nr ? &p->nodes[f->index] : NULL;
}

/* "73.3 % (1.7 %) 4×" */
static void put_numbers(const struct callgraph *g, const struct cg_function *f, char *text)
{
	char calls[32] = "";

	if (f->calls)
		snprintf(calls, sizeof(calls), "%llu×", (unsigned long long)f->calls);
	if (g->timed || g->sampled)
		snprintf(text, NUMBERS, "%.1f %% (%.1f %%) %s", 100 * share(g, f->total),
			 100 * share(g, f->self), calls);
	else
		snprintf(text, NUMBERS, "%s", calls);
}

static double box_width(const struct callgraph *g, const struct cg_function *f)
{
	const size_t len = xml_chars(f->name, strlen(f->name));
	const double name = CHAR_WIDTH * (double)(len > NAME_CHARS ? NAME_CHARS + 1 : len);
	char text[NUMBERS];
	double numbers;

	put_numbers(g, f, text);
	numbers = TEXT_WIDTH * (double)xml_chars(text, strlen(text));
	return (name > numbers ? name : numbers) + 16;
}

static void choose_nodes(struct picture *p)
{
	for (size_t i = 0; i < p->g->functions.n && p->nr < MOST_NODES; i++) {
		const struct cg_function *f = p->g->functions.at[i];

		if (!is_counted(p, f->total, p->limits->function))
			break; /* those that follow are smaller */
		p->nodes[p->nr++] = (struct node){.f = f, .width = box_width(p->g, f)};
	}
}

/* ---- layers ---- */

/*
 * The depth is limited by the number of nodes, because each is open only once. A node is
 * visited again only if that moves it down, so at most once for each layer.
 */
static void find_layer(struct picture *p, struct node *n)
{
	n->state = 1;
	for (const struct cg_arc *a = n->f->callees; a; a = a->next_callee) {
		struct node *to = node_of(p, a->to);

		if (!to || to->state == 1)
			continue;
		if (to->state == 0 || to->layer <= n->layer) {
			to->layer = n->layer + 1;
			find_layer(p, to);
		}
	}
	n->state = 2;
}

static bool has_caller(struct picture *p, const struct node *n)
{
	for (const struct cg_arc *a = n->f->callers; a; a = a->next_caller)
		if (a->from != n->f && node_of(p, a->from))
			return true;
	return false;
}

static void find_layers(struct picture *p)
{
	for (size_t i = 0; i < p->nr; i++)
		if (!has_caller(p, &p->nodes[i]))
			find_layer(p, &p->nodes[i]);
	/* Nodes that can only be reached through cycles. */
	for (size_t i = 0; i < p->nr; i++)
		if (p->nodes[i].state == 0)
			find_layer(p, &p->nodes[i]);
	for (size_t i = 0; i < p->nr; i++) {
		p->order[i] = &p->nodes[i];
		if (p->nodes[i].layer >= p->layers)
			p->layers = p->nodes[i].layer + 1;
	}
}

/* ---- places ---- */

static int by_place(const void *a, const void *b)
{
	const struct node *x = *(struct node *const *)a, *y = *(struct node *const *)b;

	if (x->layer != y->layer)
		return x->layer < y->layer ? -1 : 1;
	if (x->weight != y->weight)
		return x->weight < y->weight ? -1 : 1;
	return (x > y) - (x < y);
}

static double middle(const struct node *n)
{
	return n->x + n->width / 2;
}

/* Sets the layers' boxes side by side, each layer in the middle of the picture. */
static void place(struct picture *p)
{
	double widths[MOST_NODES] = {0}, at[MOST_NODES];

	qsort(p->order, p->nr, sizeof(*p->order), by_place);
	p->width = 0;
	for (size_t i = 0; i < p->nr; i++) {
		double *w = &widths[p->order[i]->layer];

		*w += p->order[i]->width + (*w > 0 ? GAP_X : 0);
		p->width = *w > p->width ? *w : p->width;
	}
	for (unsigned int l = 0; l < p->layers; l++)
		at[l] = MARGIN + (p->width - widths[l]) / 2;
	for (size_t i = 0; i < p->nr; i++) {
		struct node *n = p->order[i];

		n->x = at[n->layer];
		at[n->layer] += n->width + GAP_X;
	}
}

/* Where the callers of a node, or its callees, are on average. */
static void weigh(struct picture *p, struct node *n, bool callers)
{
	double sum = 0, count = 0;

	for (const struct cg_arc *a = callers ? n->f->callers : n->f->callees; a;
	     a = callers ? a->next_caller : a->next_callee) {
		const struct node *other = node_of(p, callers ? a->from : a->to);

		if (other && other != n) {
			sum += middle(other);
			count++;
		}
	}
	n->weight = count > 0 ? sum / count : middle(n);
}

static void arrange(struct picture *p)
{
	place(p);
	for (int sweep = 0; sweep < SWEEPS; sweep++) {
		for (size_t i = 0; i < p->nr; i++)
			weigh(p, &p->nodes[i], sweep % 2 == 0);
		place(p);
	}
}

/* ---- drawing ---- */

static double top_of(const struct node *n)
{
	return MARGIN + n->layer * (double)(BOX_HEIGHT + GAP_Y);
}

static void put_arc(const struct picture *p, const struct node *from, const struct node *to,
		    const struct cg_arc *a, struct buf *out)
{
	const double x1 = middle(from), y1 = top_of(from) + BOX_HEIGHT, x2 = middle(to),
		     y2 = top_of(to), bend = y2 > y1 ? (y2 - y1) / 2 : GAP_Y;
	const double s = share(p->g, a->total);

	buf_printf(out,
		   "<path class=\"arc\" d=\"M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f\" "
		   "stroke-width=\"%.2f\"><title>",
		   x1, y1, x1, y1 + bend, x2, y2 - bend, x2, y2, 1 + 4 * s);
	buf_puts_xml(out, from->f->name);
	buf_puts(out, " → ");
	buf_puts_xml(out, to->f->name);
	buf_printf(out, ": %.2f %%, %llu calls</title></path>\n", 100 * s,
		   (unsigned long long)a->calls);
}

static void put_node(const struct picture *p, const struct node *n, struct buf *out)
{
	const struct cg_function *f = n->f;
	const double s = share(p->g, f->total), x = middle(n), y = top_of(n);
	const size_t len = strlen(f->name);
	char numbers[NUMBERS];

	buf_printf(out,
		   "<g><title>%llu calls, %.2f %% in all, %.2f %% itself</title>"
		   "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"4\" "
		   "fill=\"hsl(%.0f,%.0f%%,%.0f%%)\"/>\n",
		   (unsigned long long)f->calls, 100 * s, 100 * share(p->g, f->self), n->x, y,
		   n->width, BOX_HEIGHT, 215 * (1 - s), 45 + 45 * s, 88 - 25 * s);
	buf_printf(out, "<text class=\"name\" x=\"%.1f\" y=\"%.1f\">", x, y + 18);
	buf_put_xml_chars(out, f->name, len, NAME_CHARS);
	put_numbers(p->g, f, numbers);
	buf_printf(out, "%s</text><text x=\"%.1f\" y=\"%.1f\">%s</text></g>\n",
		   xml_chars(f->name, len) > NAME_CHARS ? "…" : "", x, y + 36, numbers);
}

static void draw(struct picture *p, struct buf *out)
{
	const double width = p->width + 2 * MARGIN,
		     height = 2 * MARGIN + p->layers * (double)(BOX_HEIGHT + GAP_Y) - GAP_Y;

	buf_printf(out,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
		   "viewBox=\"0 0 %.0f %.0f\">\n"
		   "<style>text{font:11px sans-serif;text-anchor:middle;fill:#222}"
		   ".name{font:bold 12px monospace}rect{stroke:#666}"
		   ".arc{fill:none;stroke:#555;stroke-opacity:.6;marker-end:url(#tip)}"
		   ".arc:hover{stroke:#c00;stroke-opacity:1}</style>\n"
		   "<defs><marker id=\"tip\" markerWidth=\"8\" markerHeight=\"8\" refX=\"7\" "
		   "refY=\"4\" orient=\"auto\" markerUnits=\"userSpaceOnUse\">"
		   "<path d=\"M0 0L8 4L0 8z\" fill=\"#555\"/></marker></defs>\n"
		   "<rect width=\"100%%\" height=\"100%%\" style=\"fill:#fff;stroke:none\"/>\n",
		   width, height > 0 ? height : 2 * MARGIN, width,
		   height > 0 ? height : 2 * MARGIN);
	for (size_t i = 0; i < p->nr; i++)
		for (const struct cg_arc *a = p->nodes[i].f->callees; a; a = a->next_callee) {
			const struct node *to = node_of(p, a->to);

			if (to && is_counted(p, a->total, p->limits->arc))
				put_arc(p, &p->nodes[i], to, a, out);
		}
	for (size_t i = 0; i < p->nr; i++)
		put_node(p, &p->nodes[i], out);
	buf_puts(out, "</svg>\n");
}

bool callgraph_put_svg(struct callgraph *g, const struct callgraph_limits *limits, struct buf *out)
{
	struct picture *p = calloc(1, sizeof(*p));

	if (!p)
		return false;
	callgraph_sort(g, g->timed || g->sampled ? CG_TOTAL : CG_CALLS);
	p->g = g;
	p->limits = limits;
	choose_nodes(p);
	find_layers(p);
	arrange(p);
	draw(p, out);
	free(p);
	return true;
}
