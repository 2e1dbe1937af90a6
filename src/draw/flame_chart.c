// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The flame chart: calls along the time, a lane for each task, callees below their callers.
 *
 * If there are more calls than a picture can hold, it has the longest ones: when several times as
 * many are stored, the shortest are dropped, and calls that are shorter than these are ignored.
 */
#include <errno.h>
#include <stdlib.h>

#include "table/calls.h"
#include "draw/flame_page.h"
#include "stats/flame.h"
#include "base/error.h"
#include "base/vec.h"
#include "table/feed.h"

#define MAX_CALLS   40000
#define HELD_CALLS  (4u * MAX_CALLS) /* until the shortest are dropped */
#define MAX_LANES   4096	     /* tasks */
#define SHOWN_LANES 200
#define NAME_BYTES  (64u << 20)
#define LABEL	    16 /* pixels above a lane */
#define AXIS	    18
#define TICKS	    6

struct call {
	uint64_t ts, dur;
	const char *func;
	uint32_t lane, depth;
	bool open;
};

struct chart_lane {
	int64_t pid;
	const char *comm;     /* the last one */
	uint64_t time;	      /* of all its calls that are drawn */
	uint32_t first, last; /* depths drawn */
	double y;
	bool shown;
};

struct flame_chart {
	struct intern names;
	struct map by_pid; /* the number of a lane + 1 */
	vec_of(struct chart_lane) lanes;
	vec_of(struct call) calls;
	uint64_t shortest; /* calls below were dropped */
	uint64_t dropped;
	uint64_t seen;
};

struct flame_chart *flame_chart_new(struct spur_error *err)
{
	struct flame_chart *c = calloc(1, sizeof(*c));

	if (!c) {
		error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	intern_init(&c->names, NAME_BYTES);
	return c;
}

void flame_chart_free(struct flame_chart *c)
{
	if (!c)
		return;
	intern_free(&c->names);
	map_free(&c->by_pid);
	vec_free(&c->lanes);
	vec_free(&c->calls);
	free(c);
}

size_t flame_chart_calls(const struct flame_chart *c)
{
	return c->seen;
}

/* ---- collecting ---- */

static int longest_first(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x < y) - (x > y);
}

/* Keeps the `most` longest calls; of equals those that came first. */
static void drop_short(struct flame_chart *c, size_t most)
{
	uint64_t *durs = c->calls.n > most ? malloc(c->calls.n * sizeof(*durs)) : NULL;
	size_t equals = 0, kept = 0;

	if (!durs)
		return;
	for (size_t i = 0; i < c->calls.n; i++)
		durs[i] = c->calls.at[i].dur;
	qsort(durs, c->calls.n, sizeof(*durs), longest_first);
	c->shortest = durs[most - 1];
	for (size_t i = most; i && durs[i - 1] == c->shortest; i--)
		equals++;
	free(durs);
	vec_each (call, &c->calls) {
		if (call->dur < c->shortest || (call->dur == c->shortest && !equals))
			continue;
		equals -= call->dur == c->shortest;
		c->calls.at[kept++] = *call;
	}
	c->dropped += c->calls.n - kept;
	c->calls.n = kept;
}

/* The number of the task's lane + 1, or 0 when there is no room for it. */
static size_t lane_of(struct flame_chart *c, int64_t pid, const char *comm)
{
	size_t n = (uintptr_t)map_get(&c->by_pid, (uint64_t)pid);
	struct chart_lane *l;

	if (!n) {
		l = c->lanes.n < MAX_LANES ? vec_push(&c->lanes) : NULL;
		if (!l)
			return 0;
		l->pid = pid;
		n = c->lanes.n;
		if (!map_set(&c->by_pid, (uint64_t)pid, (void *)(uintptr_t)n)) {
			c->lanes.n--;
			return 0;
		}
	}
	l = &c->lanes.at[n - 1];
	if (comm && (!l->comm || strcmp(l->comm, comm) != 0))
		l->comm = intern_text(&c->names, comm, strlen(comm));
	return n;
}

void flame_chart_call(struct flame_chart *c, int64_t pid, const char *comm, const char *func,
		      uint64_t ts, uint64_t dur, int64_t depth, bool open)
{
	const size_t lane = dur >= c->shortest ? lane_of(c, pid, comm) : 0;
	const char *name = lane ? intern_text(&c->names, func, strlen(func)) : NULL;
	struct call *call;

	c->seen++;
	if (c->calls.n == HELD_CALLS)
		drop_short(c, MAX_CALLS);
	call = name ? vec_push(&c->calls) : NULL;
	if (!call) {
		c->dropped++;
		return;
	}
	*call = (struct call){.ts = ts, .dur = dur, .func = name, .open = open};
	call->lane = (uint32_t)lane - 1;
	call->depth = depth < 0 ? 0 : depth < FLAME_DEPTH ? (uint32_t)depth : FLAME_DEPTH - 1;
}

struct reading {
	struct flame_chart *chart;
	const struct flame_wanted *wanted;
};

static void take_call(void *arg, const void *row)
{
	const struct reading *r = arg;
	const struct call_row *c = row;

	if (c->dur >= 0 && c->func && flame_wants(r->wanted, c->cpu, c->pid, c->comm, c->buffer))
		flame_chart_call(r->chart, c->pid, c->comm, c->func, c->ts, (uint64_t)c->dur,
				 c->depth, c->open != ROW_WHOLE);
}

int flame_chart_read(struct flame_chart *c, struct spur_trace *t, const struct flame_wanted *w,
		     struct spur_error *err)
{
	struct reading reading = {c, w};
	struct walk_options all_cpus = w->walk;
	struct feed *feed;
	int rc;

	/* A call may end on another CPU than it began on. */
	all_cpus.cpus = NULL;
	feed = feed_new(t, &all_cpus);
	feed_add(feed, &calls_table, take_call, &reading);
	rc = feed_run(feed, err);
	feed_free(feed);
	return rc;
}

/* ---- drawing ---- */

struct chart_drawing {
	struct flame_chart *chart;
	const struct flame_look *look;
	uint64_t start, end;
	double scale; /* pixels of a nanosecond */
	uint64_t left_out;
	struct flame_page page;
	struct buf *out, numbers;
};

static uint64_t end_of(const struct call *c)
{
	uint64_t end;

	return __builtin_add_overflow(c->ts, c->dur, &end) ? UINT64_MAX : end;
}

static void measure(struct chart_drawing *d)
{
	struct flame_chart *c = d->chart;

	d->start = UINT64_MAX;
	vec_each (l, &c->lanes) {
		l->first = FLAME_DEPTH;
		l->last = 0;
		l->time = 0;
	}
	vec_each (call, &c->calls) {
		struct chart_lane *l = &c->lanes.at[call->lane];

		d->start = call->ts < d->start ? call->ts : d->start;
		d->end = end_of(call) > d->end ? end_of(call) : d->end;
		l->first = call->depth < l->first ? call->depth : l->first;
		l->last = call->depth > l->last ? call->depth : l->last;
		if (__builtin_add_overflow(l->time, call->dur, &l->time))
			l->time = UINT64_MAX;
	}
	d->start = d->end ? d->start : 0;
	d->scale = d->end > d->start ? d->page.inner / (double)(d->end - d->start) : 0;
}

/* The lanes with the most time are shown, in the order in which their tasks appeared. */
static uint32_t place_lanes(struct chart_drawing *d)
{
	struct flame_chart *c = d->chart;
	uint64_t *times = malloc((c->lanes.n + 1) * sizeof(*times)), least = 0;
	double y = FLAME_TOP + AXIS;
	size_t shown = 0;

	for (size_t i = 0; times && i < c->lanes.n; i++)
		times[i] = c->lanes.at[i].time;
	if (times && c->lanes.n > SHOWN_LANES) {
		qsort(times, c->lanes.n, sizeof(*times), longest_first);
		least = times[SHOWN_LANES - 1];
	}
	free(times);
	vec_each (l, &c->lanes) {
		l->shown = l->first <= l->last && l->time >= least && shown < SHOWN_LANES;
		if (!l->shown)
			continue;
		shown++;
		l->y = y + LABEL;
		y += LABEL + (l->last - l->first + 1.0) * FLAME_ROW + 4;
	}
	return (uint32_t)y;
}

static void draw_axis(struct chart_drawing *d, double height)
{
	struct buf *b = &d->numbers;

	for (unsigned int i = 0; i <= TICKS; i++) {
		const double x = FLAME_LEFT + d->page.inner * i / TICKS;

		buf_printf(d->out,
			   "<line class=\"line\" stroke=\"#bbbbbb\" x1=\"%.0f\" x2=\"%.0f\" "
			   "y1=\"%d\" y2=\"%.0f\"/>\n",
			   x, x, FLAME_TOP + 4, height - FLAME_BOTTOM);
		buf_reset(b);
		buf_span(b, (uint64_t)((double)(d->end - d->start) * i / TICKS));
		flame_put_text(d->out, "soft tick",
			       i == 0	   ? "start"
			       : i < TICKS ? "middle"
					   : "end",
			       x, FLAME_TOP, buf_str(b));
	}
}

static void draw_lane(struct chart_drawing *d, const struct chart_lane *l)
{
	buf_reset(&d->numbers);
	buf_printf(&d->numbers, "%s-%lld", l->comm ? l->comm : "<...>", (long long)l->pid);
	flame_put_text(d->out, "ink", "start", FLAME_LEFT, l->y - 4, buf_str(&d->numbers));
}

static void draw_call(struct chart_drawing *d, const struct call *c)
{
	const struct chart_lane *l = &d->chart->lanes.at[c->lane];
	const struct flame_box box = {
		.x = FLAME_LEFT + (double)(c->ts - d->start) * d->scale,
		.y = l->y + (c->depth - l->first) * (double)FLAME_ROW,
		.w = (double)c->dur * d->scale,
		.h = FLAME_ROW - 1,
		.name = c->func,
		.colour = flame_colour(d->look->colours, c->func),
	};

	if (!l->shown || box.w < d->look->min_width) {
		d->left_out++;
		return;
	}
	buf_reset(&d->numbers);
	buf_puts(&d->numbers, c->open ? "at least " : "");
	buf_span(&d->numbers, c->dur);
	buf_puts(&d->numbers, " at ");
	flame_put_fixed(&d->numbers, (double)c->ts / 1e9, 6);
	buf_puts(&d->numbers, " s");
	flame_put_box(d->out, &box, &d->numbers);
}

/* Which calls are left out. To be called before drawing: it counts those that are too narrow. */
static const char *omissions(struct chart_drawing *d, struct buf *b)
{
	uint64_t n = d->chart->dropped;

	vec_each (c, &d->chart->calls)
		n += !d->chart->lanes.at[c->lane].shown ||
		     (double)c->dur * d->scale < d->look->min_width;
	if (n)
		buf_printf(b, "%llu shorter calls left out", (unsigned long long)n);
	return buf_str(b);
}

void flame_chart_svg(struct flame_chart *c, const struct flame_look *look, struct buf *out)
{
	struct chart_drawing d = {
		.chart = c,
		.look = look,
		.out = out,
		.page = {.kind = "chart",
			 .title = "Flame Chart",
			 .down = true,
			 .width = flame_width(look),
			 .left = FLAME_LEFT},
	};
	scoped_buf text = buf_new(256);

	buf_init(&d.numbers, 1024);
	d.page.inner = (double)d.page.width - 2 * FLAME_LEFT;
	drop_short(c, MAX_CALLS);
	measure(&d);
	d.page.height = place_lanes(&d) + FLAME_BOTTOM;
	d.page.ns = d.end - d.start;
	d.page.subtitle = omissions(&d, &text);
	flame_page_begin(out, look, &d.page);
	draw_axis(&d, d.page.height);
	vec_each (l, &c->lanes)
		if (l->shown)
			draw_lane(&d, l);
	vec_each (call, &c->calls)
		draw_call(&d, call);
	flame_page_end(out, &d.page);
	buf_free(&d.numbers);
}
