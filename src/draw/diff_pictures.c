// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The pictures of a comparison's page: two distributions, one over the other, and who had which CPU
 * around one of the worst cases.
 *
 * The axis of times is logarithmic, or linear if all times are similar. That of the histogram's
 * parts is always logarithmic, because people look for the rare long ones.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/xml.h"
#include "draw/diff_html.h"

#define WIDTH	   560
#define HEIGHT	   260
#define LEFT	   54
#define RIGHT	   14
#define TOP	   14
#define BOTTOM	   36
#define INNER_W	   (WIDTH - LEFT - RIGHT)
#define INNER_H	   (HEIGHT - TOP - BOTTOM)
#define POINTS	   250
#define BINS	   50
#define NEAR	   4 /* times as much as the least: a linear axis shows it */
#define MAX_LABELS 8
#define FEW_POWERS 300 /* below that there is room for labels between powers of ten */

struct axis {
	double from, to;
	bool linear;
};

static const char *const classes[DIFF_SIDES] = {"a", "b"};

static bool has_values(const struct dist *d)
{
	return d && d->n && !d->failed;
}

static struct axis axis_of(const struct diff_chart *c)
{
	struct axis x = {INFINITY, -INFINITY, false};

	for (unsigned int i = 0; i < DIFF_SIDES; i++) {
		if (!has_values(c->dist[i]))
			continue;
		x.from = fmin(x.from, fmax(1, (double)c->dist[i]->min));
		x.to = fmax(x.to, fmax(1, (double)c->dist[i]->max));
	}
	for (size_t i = 0; i < c->nr_limits; i++)
		x.to = fmax(x.to, c->limits[i] * 1.05);
	if (x.from > x.to)
		x = (struct axis){1, 10, false};
	x.linear = x.to < NEAR * x.from;
	if (x.linear) {
		const double room = fmax(1, (x.to - x.from) / 20);

		x.from = fmax(0, x.from - room);
		x.to += room;
	} else {
		x.from /= 1.1;
		x.to *= 1.1;
	}
	return x;
}

/* Where a value is, 0 to 1; and what is there. */
static double place(const struct axis *x, double v)
{
	if (x->linear)
		return (v - x->from) / (x->to - x->from);
	return log(fmax(v, x->from) / x->from) / log(x->to / x->from);
}

static double value_at(const struct axis *x, double place_)
{
	if (x->linear)
		return x->from + place_ * (x->to - x->from);
	return x->from * pow(x->to / x->from, place_);
}

static double px(double place_)
{
	return LEFT + place_ * INNER_W;
}

static double py(double part)
{
	return TOP + (1 - part) * INNER_H;
}

/* ---- axes ---- */

/* A step for an axis, not below that: 1, 2 or 5 and zeros. */
static double diff_round_step(double least)
{
	const double power = pow(10, floor(log10(least)));
	const double of = least / power;

	return power * (of <= 1 ? 1 : of <= 2 ? 2 : of <= 5 ? 5 : 10);
}

/* A time on an axis, as short as can be. */
static const char *diff_round_time(char *text, size_t cap, bool ticks, double time)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	unsigned int unit = 0;

	for (; !ticks && fabs(time) >= 999.5 && unit < 3; unit++)
		time /= 1000;
	/* Adding 0.0 makes "-0" a plain zero. */
	snprintf(text, cap, "%.4g%s%s", time + 0.0, ticks ? "" : " ", ticks ? "" : units[unit]);
	return text;
}

static void put_begin(const char *title, struct buf *out)
{
	buf_printf(out,
		   "<svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\"><title>%s</title>\n"
		   "<rect class=\"frame\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n",
		   WIDTH, HEIGHT, title, LEFT, TOP, INNER_W, INNER_H);
}

/* A line through the picture, with a time below it. */
static void put_tick(double x, int top, int bottom, bool ticks, double time, struct buf *out)
{
	char text[64];

	buf_printf(out,
		   "<line class=\"grid\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>"
		   "<text class=\"label\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
		   x, top, x, bottom, x, bottom + 16,
		   diff_round_time(text, sizeof(text), ticks, time));
}

static void put_x_label(const struct axis *x, double v, bool ticks, struct buf *out)
{
	put_tick(px(place(x, v)), TOP, TOP + INNER_H, ticks, v, out);
}

static void put_x_axis(const struct axis *x, bool ticks, struct buf *out)
{
	static const double steps[] = {1, 2, 5};
	const bool few = x->to < FEW_POWERS * x->from;

	if (x->linear) {
		const double step = diff_round_step((x->to - x->from) / 6);

		for (double v = ceil(x->from / step) * step; v <= x->to; v += step)
			put_x_label(x, v, ticks, out);
		return;
	}
	for (double power = pow(10, floor(log10(x->from))); power <= x->to; power *= 10)
		for (size_t i = 0; i < (few ? 3 : 1); i++)
			if (power * steps[i] >= x->from && power * steps[i] <= x->to)
				put_x_label(x, power * steps[i], ticks, out);
}

static void put_y_label(double at, const char *text, struct buf *out)
{
	buf_printf(out,
		   "<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>"
		   "<text class=\"label\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
		   LEFT, at, LEFT + INNER_W, at, LEFT - 6, at + 4, text);
}

static void put_limits(const struct diff_chart *c, const struct axis *x, struct buf *out)
{
	for (size_t i = 0; i < c->nr_limits; i++) {
		const double at = px(place(x, c->limits[i]));

		if (c->limits[i] >= x->from && c->limits[i] <= x->to)
			buf_printf(out,
				   "<line class=\"limit\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" "
				   "y2=\"%d\"><title>required</title></line>\n",
				   at, TOP, at, TOP + INNER_H);
	}
}

static void put_legend(const struct diff_chart *c, bool at_left, struct buf *out)
{
	const int x = at_left ? LEFT + 10 : LEFT + INNER_W - 46;
	int y = TOP + 17;

	buf_printf(out, "<rect class=\"legend\" x=\"%d\" y=\"%d\" width=\"42\" height=\"%d\"/>\n",
		   x - 4, TOP + 3,
		   has_values(c->dist[DIFF_A]) && has_values(c->dist[DIFF_B]) ? 36 : 20);
	for (unsigned int i = 0; i < DIFF_SIDES; i++) {
		if (!has_values(c->dist[i]))
			continue;
		buf_printf(out,
			   "<line class=\"%s\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>"
			   "<text class=\"label\" x=\"%d\" y=\"%d\">%c</text>\n",
			   classes[i], x, y - 4, x + 16, y - 4, x + 21, y, 'A' + (int)i);
		y += 16;
	}
}

/* ---- how much is at most that long ---- */

static void put_curve(struct dist *d, const struct axis *x, const char *class, struct buf *out)
{
	buf_printf(out, "<polyline class=\"%s\" points=\"", class);
	for (unsigned int i = 0; i <= POINTS; i++) {
		const double at = (double)i / POINTS, v = value_at(x, at);
		const double part = (double)dist_at_most(d, (int64_t)v) / (double)d->n;

		buf_printf(out, "%s%.1f,%.1f", i ? " " : "", px(at), py(part));
	}
	buf_puts(out, "\"/>\n");
}

void diff_chart_cumulative(const struct diff_chart *c, struct buf *out)
{
	static const struct {
		double part;
		const char *text;
	} lines[] = {{0, "0 %"},     {0.25, "25 %"}, {0.5, "50 %"},
		     {0.75, "75 %"}, {0.9, "90 %"},  {1, "100 %"}};
	const struct axis x = axis_of(c);

	put_begin("how much is at most that long", out);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		put_y_label(py(lines[i].part), lines[i].text, out);
	put_x_axis(&x, c->ticks, out);
	put_limits(c, &x, out);
	for (unsigned int i = 0; i < DIFF_SIDES; i++)
		if (has_values(c->dist[i]))
			put_curve(c->dist[i], &x, classes[i], out);
	put_legend(c, true, out);
	buf_puts(out, "</svg>\n");
}

/* ---- histogram ---- */

/* The part of all values that are in this bin. */
static double part_of(struct dist *d, const struct axis *x, unsigned int bin)
{
	const double from = value_at(x, (double)bin / BINS), to = value_at(x, (bin + 1.0) / BINS);
	const uint64_t below = dist_at_most(d, (int64_t)ceil(from) - 1);
	const uint64_t most = dist_at_most(d, (int64_t)ceil(to) - 1);

	return (double)(most - below) / (double)d->n;
}

static void put_bins(struct dist *d, const struct axis *x, double least, const char *class,
		     struct buf *out)
{
	buf_printf(out, "<path class=\"%s fill\" d=\"M%.1f %.1f", class, px(0), py(0));
	for (unsigned int i = 0; i < BINS; i++) {
		const double part = part_of(d, x, i);
		const double h = part > 0 ? 1 - log10(part) / log10(least) : 0;

		buf_printf(out, "V%.1fH%.1f", py(fmax(0, h)), px((i + 1.0) / BINS));
	}
	buf_printf(out, "V%.1f\"/>\n", py(0));
}

void diff_chart_histogram(const struct diff_chart *c, struct buf *out)
{
	const struct axis x = axis_of(c);
	double least = 0.1;
	int decades;

	for (unsigned int i = 0; i < DIFF_SIDES; i++)
		if (has_values(c->dist[i]))
			least = fmin(least, 0.5 / (double)c->dist[i]->n);
	decades = (int)ceil(-log10(least));
	least = pow(10, -decades);
	put_begin("histogram: parts of all, in steps of ten", out);
	for (int i = 0, step = decades > MAX_LABELS ? 2 : 1; i <= decades; i += step) {
		char text[32];

		snprintf(text, sizeof(text), i <= 5 ? "%.*f %%" : "%.*e",
			 i > 2 && i <= 5 ? i - 2 : 0, (i <= 5 ? 100 : 1) * pow(10, -i));
		put_y_label(py(1 - (double)i / decades), text, out);
	}
	put_x_axis(&x, c->ticks, out);
	for (unsigned int i = 0; i < DIFF_SIDES; i++)
		if (has_values(c->dist[i]))
			put_bins(c->dist[i], &x, least, classes[i], out);
	put_limits(c, &x, out);
	put_legend(c, false, out);
	buf_puts(out, "</svg>\n");
}

/* ---- the CPUs around one of the worst cases ---- */

#define CPUS_WIDTH  1120
#define CPUS_LEFT   60
#define CPUS_RIGHT  10
#define CPUS_INNER  (CPUS_WIDTH - CPUS_LEFT - CPUS_RIGHT)
#define CPUS_TOP    24
#define ROW	    34
#define BAR	    22
#define THIN	    6 /* height of interrupts */
#define CPUS_BOTTOM 24
#define MAX_CPUS    16
#define CHAR	    6.7 /* width */
#define COLOURS	    8	/* of tasks, by name */
#define NARROWEST   0.6

struct view {
	uint64_t from, to;
	int64_t cpus[MAX_CPUS];
	unsigned int nr_cpus;
};

static int row_of(const struct view *v, int64_t cpu)
{
	for (unsigned int i = 0; i < v->nr_cpus; i++)
		if (v->cpus[i] == cpu)
			return (int)i;
	return -1;
}

static void add_cpu(struct view *v, int64_t cpu)
{
	unsigned int at = v->nr_cpus;

	if (cpu == ROW_NULL || at == MAX_CPUS || row_of(v, cpu) >= 0)
		return;
	v->nr_cpus++;
	for (; at && v->cpus[at - 1] > cpu; at--)
		v->cpus[at] = v->cpus[at - 1];
	v->cpus[at] = cpu;
}

static struct view view_of(const struct diff_case *c, uint64_t around)
{
	struct view v = {.from = c->from > around ? c->from - around : 0};

	if (__builtin_add_overflow(c->to, around, &v.to))
		v.to = UINT64_MAX;
	if (v.to <= v.from)
		v.to = v.from + 1;
	add_cpu(&v, c->cpu);
	for (size_t i = 0; i < c->stretches.n; i++)
		add_cpu(&v, c->stretches.at[i].cpu);
	return v;
}

static double px_of_time(const struct view *v, uint64_t ts)
{
	ts = ts < v->from ? v->from : ts > v->to ? v->to : ts;
	return CPUS_LEFT + (double)(ts - v->from) / (double)(v->to - v->from) * CPUS_INNER;
}

static unsigned int colour_of(const char *name)
{
	unsigned int hash = 5381;

	/* Workers of a CPU and tasks with numbers look alike. */
	for (; *name && *name != ':' && *name != '/'; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash % COLOURS;
}

void diff_put_who(enum diff_layer layer, const char *name, int64_t pid, struct buf *out)
{
	static const char *const layers[] = {
		[DIFF_SLICE] = "", [DIFF_IRQ] = "interrupt ", [DIFF_SOFTIRQ] = "softirq "};

	buf_puts(out, layers[layer]);
	buf_puts_xml(out, name);
	if (layer == DIFF_SLICE && pid > 0)
		buf_printf(out, "-%lld", (long long)pid);
}

static void put_title(const struct diff_stretch *s, bool ticks, struct buf *out)
{
	char text[64];

	buf_puts(out, "<title>");
	diff_put_who(s->layer, s->name, s->pid, out);
	buf_printf(out, ", %s</title>",
		   diff_shown(text, sizeof(text), DIFF_TIME, ticks, (double)(s->to - s->from)));
}

static void put_name(const struct diff_stretch *s, double x, double y, double width,
		     struct buf *out)
{
	const double room = (width - 6) / CHAR;
	const size_t len = strlen(s->name), chars = xml_chars(s->name, len);

	if (room < 3 || (room < (double)chars && room < 5))
		return;
	buf_printf(out, "<text class=\"in\" x=\"%.1f\" y=\"%.1f\">", x + 3, y + BAR - 7);
	if ((double)chars <= room) {
		buf_put_xml(out, s->name, len);
	} else {
		buf_put_xml_chars(out, s->name, len, (size_t)room - 2);
		buf_puts(out, "..");
	}
	buf_puts(out, "</text>");
}

static void put_stretch(const struct view *v, const struct diff_case *c,
			const struct diff_stretch *s, bool ticks, struct buf *out)
{
	const int row = row_of(v, s->cpu);
	const double x = px_of_time(v, s->from), width = fmax(px_of_time(v, s->to) - x, NARROWEST);
	const double y = CPUS_TOP + row * ROW + (s->layer == DIFF_SLICE ? THIN : 0);
	const bool own = c->has_task && s->layer == DIFF_SLICE && s->pid == c->pid && s->pid > 0;

	if (row < 0 || (s->layer == DIFF_SLICE && !s->pid))
		return;
	buf_puts(out, "<g class=\"");
	if (s->layer != DIFF_SLICE)
		buf_puts(out, s->layer == DIFF_IRQ ? "irq" : "soft");
	else if (own)
		buf_puts(out, "own");
	else if (s->pid == ROW_NULL)
		buf_puts(out, "unknown");
	else
		buf_printf(out, "t%u", colour_of(s->name));
	buf_puts(out, "\">");
	put_title(s, ticks, out);
	buf_printf(out, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\"/>", x, y, width,
		   s->layer == DIFF_SLICE ? BAR : THIN - 1);
	if (s->layer == DIFF_SLICE)
		put_name(s, x, y, width, out);
	buf_puts(out, "</g>\n");
}

/* Times since the case began. */
static void put_axis(const struct view *v, const struct diff_case *c, bool ticks, struct buf *out)
{
	const double range = (double)(v->to - v->from), step = diff_round_step(range / 8);
	const double zero = (double)(c->from - v->from);
	const int bottom = CPUS_TOP + (int)v->nr_cpus * ROW;

	for (double i = -floor(zero / step); i * step <= range - zero; i++)
		put_tick(CPUS_LEFT + (zero + i * step) / range * CPUS_INNER, CPUS_TOP, bottom,
			 ticks, i * step, out);
}

/* Drawn first, so that all else covers it; put_edges() draws what is on top. */
static void put_span(const struct view *v, const struct diff_case *c, struct buf *out)
{
	const double from = px_of_time(v, c->from), to = px_of_time(v, c->to);

	buf_printf(out, "<rect class=\"span\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n",
		   from, CPUS_TOP, fmax(to - from, 1), (int)v->nr_cpus * ROW);
}

static void put_edges(const struct view *v, const struct diff_case *c, bool ticks, struct buf *out)
{
	const double from = px_of_time(v, c->from), to = px_of_time(v, c->to);
	const int height = (int)v->nr_cpus * ROW;
	char text[64];

	buf_printf(
		out,
		"<path class=\"edge\" d=\"M%.1f %dV%dM%.1f %dV%d\"/><text class=\"label strong\" "
		"x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
		from, CPUS_TOP - 6, CPUS_TOP + height, to, CPUS_TOP - 6, CPUS_TOP + height,
		(from + to) / 2, CPUS_TOP - 9,
		diff_shown(text, sizeof(text), DIFF_TIME, ticks, (double)c->value));
}

void diff_timeline(const struct diff_case *c, uint64_t around, bool ticks, struct buf *out)
{
	const struct view v = view_of(c, around);
	const int height = CPUS_TOP + (int)v.nr_cpus * ROW + CPUS_BOTTOM;

	if (!v.nr_cpus)
		return;
	buf_printf(out, "<svg class=\"timeline\" viewBox=\"0 0 %d %d\" role=\"img\">\n", CPUS_WIDTH,
		   height);
	put_span(&v, c, out);
	put_axis(&v, c, ticks, out);
	for (unsigned int i = 0; i < v.nr_cpus; i++)
		buf_printf(out,
			   "<text class=\"label\" x=\"%d\" y=\"%d\" text-anchor=\"end\">CPU "
			   "%lld</text>"
			   "<line class=\"rule\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n",
			   CPUS_LEFT - 8, CPUS_TOP + (int)i * ROW + 21, (long long)v.cpus[i],
			   CPUS_LEFT, CPUS_TOP + (int)(i + 1) * ROW - 5, CPUS_LEFT + CPUS_INNER,
			   CPUS_TOP + (int)(i + 1) * ROW - 5);
	for (size_t i = 0; i < c->stretches.n; i++)
		put_stretch(&v, c, &c->stretches.at[i], ticks, out);
	put_edges(&v, c, ticks, out);
	buf_puts(out, "</svg>\n");
}
