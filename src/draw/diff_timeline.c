// SPDX-License-Identifier: GPL-2.0-or-later
/* Who had which CPU around one of the worst cases. */
#include <math.h>
#include <string.h>

#include "draw/diff_html.h"
#include "base/xml.h"

#define WIDTH	  1120
#define LEFT	  60
#define RIGHT	  10
#define INNER	  (WIDTH - LEFT - RIGHT)
#define TOP	  24
#define ROW	  34
#define BAR	  22
#define THIN	  6 /* height of interrupts */
#define BOTTOM	  24
#define MAX_CPUS  16
#define CHAR	  6.7 /* width */
#define COLOURS	  8   /* of tasks, by name */
#define NARROWEST 0.6

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

static double px(const struct view *v, uint64_t ts)
{
	ts = ts < v->from ? v->from : ts > v->to ? v->to : ts;
	return LEFT + (double)(ts - v->from) / (double)(v->to - v->from) * INNER;
}

static unsigned int colour_of(const char *name)
{
	unsigned int hash = 5381;

	/* Workers of a CPU and tasks with numbers look alike. */
	for (; *name && *name != ':' && *name != '/'; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash % COLOURS;
}

static void put_title(const struct diff_stretch *s, bool ticks, struct buf *out)
{
	char text[64];

	buf_puts(out, "<title>");
	buf_puts(out, s->layer == DIFF_IRQ	 ? "interrupt "
		      : s->layer == DIFF_SOFTIRQ ? "softirq "
						 : "");
	buf_put_xml(out, s->name, strlen(s->name));
	if (s->layer == DIFF_SLICE && s->pid > 0)
		buf_printf(out, "-%lld", (long long)s->pid);
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
	const double x = px(v, s->from), width = fmax(px(v, s->to) - x, NARROWEST);
	const double y = TOP + row * ROW + (s->layer == DIFF_SLICE ? THIN : 0);
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
	const int bottom = TOP + (int)v->nr_cpus * ROW;

	for (double i = -floor(zero / step); i * step <= range - zero; i++) {
		const double x = LEFT + (zero + i * step) / range * INNER;
		char text[64];

		buf_printf(out,
			   "<line class=\"grid\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>"
			   "<text class=\"label\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s"
			   "</text>\n",
			   x, TOP, x, bottom, x, bottom + 16,
			   diff_round_time(text, sizeof(text), ticks, i * step));
	}
}

/* Behind everything; what is before it is drawn by put_edges(). */
static void put_span(const struct view *v, const struct diff_case *c, struct buf *out)
{
	const double from = px(v, c->from), to = px(v, c->to);

	buf_printf(out, "<rect class=\"span\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n",
		   from, TOP, fmax(to - from, 1), (int)v->nr_cpus * ROW);
}

static void put_edges(const struct view *v, const struct diff_case *c, bool ticks, struct buf *out)
{
	const double from = px(v, c->from), to = px(v, c->to);
	const int height = (int)v->nr_cpus * ROW;
	char text[64];

	buf_printf(
		out,
		"<path class=\"edge\" d=\"M%.1f %dV%dM%.1f %dV%d\"/><text class=\"label strong\" "
		"x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
		from, TOP - 6, TOP + height, to, TOP - 6, TOP + height, (from + to) / 2, TOP - 9,
		diff_shown(text, sizeof(text), DIFF_TIME, ticks, (double)c->value));
}

void diff_timeline(const struct diff_case *c, uint64_t around, bool ticks, struct buf *out)
{
	const struct view v = view_of(c, around);
	const int height = TOP + (int)v.nr_cpus * ROW + BOTTOM;

	if (!v.nr_cpus)
		return;
	buf_printf(out, "<svg class=\"timeline\" viewBox=\"0 0 %d %d\" role=\"img\">\n", WIDTH,
		   height);
	put_span(&v, c, out);
	put_axis(&v, c, ticks, out);
	for (unsigned int i = 0; i < v.nr_cpus; i++)
		buf_printf(out,
			   "<text class=\"label\" x=\"%d\" y=\"%d\" text-anchor=\"end\">CPU "
			   "%lld</text>"
			   "<line class=\"rule\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n",
			   LEFT - 8, TOP + (int)i * ROW + 21, (long long)v.cpus[i], LEFT,
			   TOP + (int)(i + 1) * ROW - 5, LEFT + INNER,
			   TOP + (int)(i + 1) * ROW - 5);
	for (size_t i = 0; i < c->stretches.n; i++)
		put_stretch(&v, c, &c->stretches.at[i], ticks, out);
	put_edges(&v, c, ticks, out);
	buf_puts(out, "</svg>\n");
}
