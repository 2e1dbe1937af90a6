// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The heat map: a column is a second (or what was asked for), its rows are fiftieths of it, the
 * colour shows how much happened then. Events once a second form a line; a pause is a hole.
 *
 * In a long trace several seconds share a column. Their number doubles whenever there would be too
 * many columns; the rows do not change.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "draw/flame_page.h"
#include "stats/flame.h"
#include "table/stacks.h"
#include "base/error.h"
#include "base/nanoseconds.h"
#include "table/feed.h"
#include "event/names.h"

#define MAX_COLUMNS 1024
#define CELL_HEIGHT 10
#define MARGIN	    72 /* for the labels on the left */
#define MAX_CELL    24

struct heat_column {
	uint64_t number;
	uint64_t cells[FLAME_HEAT_ROWS];
};

struct flame_heat {
	uint64_t period;     /* nanoseconds whose parts are the rows */
	uint64_t per_column; /* periods */
	bool any;
	uint64_t first, last; /* columns, if there are any */
	/* By number modulo MAX_COLUMNS, NULL: nothing happened then. */
	struct heat_column *columns[MAX_COLUMNS];
	uint64_t events, lost;
};

struct flame_heat *flame_heat_new(uint64_t column, struct spur_error *err)
{
	struct flame_heat *h = calloc(1, sizeof(*h));

	if (!h) {
		error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	h->period = column ? column : NS_PER_S;
	h->per_column = 1;
	return h;
}

void flame_heat_free(struct flame_heat *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < MAX_COLUMNS; i++)
		free(h->columns[i]);
	free(h);
}

uint64_t flame_heat_events(const struct flame_heat *h)
{
	return h->events;
}

/* ---- collecting ---- */

static struct heat_column *column_of(struct flame_heat *h, uint64_t number)
{
	struct heat_column **c = &h->columns[number % MAX_COLUMNS];

	if (!*c && (*c = calloc(1, sizeof(**c))) != NULL)
		(*c)->number = number;
	return *c;
}

/* Columns become twice as wide. */
static void widen(struct flame_heat *h)
{
	struct heat_column *old[MAX_COLUMNS];

	memcpy(old, h->columns, sizeof(old));
	memset(h->columns, 0, sizeof(h->columns));
	h->per_column *= 2;
	h->first /= 2;
	h->last /= 2;
	for (size_t i = 0; i < MAX_COLUMNS; i++) {
		struct heat_column *to = old[i] ? column_of(h, old[i]->number / 2) : NULL;

		for (size_t k = 0; to && k < FLAME_HEAT_ROWS; k++)
			to->cells[k] += old[i]->cells[k];
		free(old[i]);
	}
}

static void include(struct flame_heat *h, uint64_t number)
{
	h->first = h->any && h->first < number ? h->first : number;
	h->last = h->any && h->last > number ? h->last : number;
	h->any = true;
}

void flame_heat_add(struct flame_heat *h, uint64_t ts)
{
	const uint64_t part = h->period / FLAME_HEAT_ROWS;
	uint64_t row = part ? ts % h->period / part : 0;
	struct heat_column *c;

	include(h, ts / h->period / h->per_column);
	while (h->last - h->first >= MAX_COLUMNS)
		widen(h);
	c = column_of(h, ts / h->period / h->per_column);
	if (!c) {
		h->lost++;
		return;
	}
	c->cells[row < FLAME_HEAT_ROWS ? row : FLAME_HEAT_ROWS - 1]++;
	h->events++;
}

struct reading {
	struct flame_heat *heat;
	const struct flame_wanted *wanted;
	struct spur_trace *trace;
};

static void take_sample(void *arg, const void *row)
{
	const struct reading *r = arg;
	const struct sample_row *s = row;

	if (flame_wants(r->wanted, s->cpu, s->pid, s->comm, s->buffer))
		flame_heat_add(r->heat, s->ts);
}

static void take_record(void *arg, struct event *e, const struct spur_record *rec)
{
	const struct reading *r = arg;
	const int pid = events_record_pid(r->trace->events, rec);
	size_t len;
	const char *comm = comms_find(r->trace->events->comms, pid, &len);

	if (flame_wants_time(r->wanted, rec->ts) &&
	    flame_wants(r->wanted, rec->cpu, pid, comm, r->trace->buffers[rec->buffer].data->name))
		flame_heat_add(r->heat, rec->ts);
}

/* Events need no stacks to be counted. */
static void watch_events(struct feed *feed, struct reading *r)
{
	const struct events *ev = r->trace->events;

	for (size_t i = 0; i < ev->nr; i++) {
		char name[PATTERN_MAX];

		if (!flame_wants_event(r->wanted, ev->list[i]->system, ev->list[i]->name) ||
		    (size_t)snprintf(name, sizeof(name), "%s:%s", ev->list[i]->system,
				     ev->list[i]->name) >= sizeof(name))
			continue;
		feed_watch(feed, name, take_record, r);
	}
}

int flame_heat_read(struct flame_heat *h, struct spur_trace *t, const struct flame_wanted *w,
		    struct spur_error *err)
{
	struct reading reading = {h, w, t};
	struct feed *feed = feed_new(t, &w->walk);
	int rc;

	if (w->nr_events)
		watch_events(feed, &reading);
	else
		feed_add(feed, &samples_table, take_sample, &reading);
	rc = feed_run(feed, err);
	feed_free(feed);
	return rc;
}

/* ---- drawing ---- */

static uint64_t most(const struct flame_heat *h)
{
	uint64_t max = 0;

	for (size_t i = 0; i < MAX_COLUMNS; i++)
		for (size_t k = 0; h->columns[i] && k < FLAME_HEAT_ROWS; k++)
			max = h->columns[i]->cells[k] > max ? h->columns[i]->cells[k] : max;
	return max;
}

struct heat_drawing {
	const struct flame_heat *heat;
	const struct flame_look *look;
	double cell; /* width */
	double max;
	struct flame_page page;
	struct buf *out, numbers, name;
};

static double row_y(size_t row)
{
	return FLAME_TOP + (double)(FLAME_HEAT_ROWS - 1 - row) * CELL_HEIGHT;
}

static void put_moment(struct buf *b, uint64_t ns)
{
	buf_u64(b, ns / NS_PER_S);
	buf_putc(b, '.');
	buf_u64_pad(b, ns % NS_PER_S, 9, '0');
	flame_drop_zeros(b);
}

static void draw_cell(struct heat_drawing *d, const struct heat_column *c, size_t row)
{
	const struct flame_heat *h = d->heat;
	const uint64_t start = c->number * h->per_column * h->period,
		       part = h->period / FLAME_HEAT_ROWS;
	struct flame_box box = {
		.x = d->page.left + (double)(c->number - h->first) * d->cell,
		.y = row_y(row),
		.w = d->cell,
		.h = CELL_HEIGHT,
		.colour = flame_colour_of_heat(d->look->colours,
					       sqrt((double)c->cells[row] / d->max)),
	};

	buf_reset(&d->name);
	put_moment(&d->name, start + row * part);
	buf_puts(&d->name, " s to ");
	put_moment(&d->name, start + (row + 1) * part);
	buf_puts(&d->name, " s");
	box.name = buf_str(&d->name);
	buf_reset(&d->numbers);
	buf_u64(&d->numbers, c->cells[row]);
	buf_puts(&d->numbers, c->cells[row] == 1 ? " event" : " events");
	flame_put_box(d->out, &box, &d->numbers);
}

static void draw_labels(struct heat_drawing *d)
{
	const struct flame_heat *h = d->heat;
	const uint64_t columns = h->last - h->first + 1;
	const uint64_t step = (uint64_t)ceil(70 / d->cell);

	for (size_t row = 0; row < FLAME_HEAT_ROWS; row += 10) {
		buf_reset(&d->name);
		buf_span(&d->name, h->period / FLAME_HEAT_ROWS * row);
		flame_put_text(d->out, "soft", "end", MARGIN + 2, row_y(row) + CELL_HEIGHT,
			       buf_str(&d->name));
	}
	for (uint64_t i = 0; i < columns; i += step) {
		buf_reset(&d->name);
		put_moment(&d->name, (h->first + i) * h->per_column * h->period);
		buf_puts(&d->name, " s");
		flame_put_text(d->out, "soft", "start", d->page.left + (double)i * d->cell,
			       FLAME_TOP + FLAME_HEAT_ROWS * CELL_HEIGHT + 15, buf_str(&d->name));
	}
}

void flame_heat_svg(const struct flame_heat *h, const struct flame_look *look, struct buf *out)
{
	struct heat_drawing d = {
		.heat = h,
		.look = look,
		.max = (double)most(h),
		.out = out,
		.page = {.kind = "heat",
			 .title = "Subsecond Heat Map",
			 .width = flame_width(look),
			 .height = FLAME_TOP + FLAME_HEAT_ROWS * CELL_HEIGHT + 20 + FLAME_BOTTOM,
			 .left = MARGIN + 8},
	};

	buf_init(&d.numbers, 64);
	buf_init(&d.name, 128);
	d.page.inner = d.page.width - d.page.left - FLAME_LEFT;
	d.cell = fmin(d.page.inner / (double)(h->last - h->first + 1), MAX_CELL);
	flame_page_begin(out, look, &d.page);
	draw_labels(&d);
	for (uint64_t number = h->first; h->any && number <= h->last; number++) {
		const struct heat_column *c = h->columns[number % MAX_COLUMNS];

		for (size_t row = 0; c && row < FLAME_HEAT_ROWS; row++)
			if (c->cells[row])
				draw_cell(&d, c, row);
	}
	flame_page_end(out, &d.page);
	buf_free(&d.name);
	buf_free(&d.numbers);
}
