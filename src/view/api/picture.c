// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a page needs to draw: the trace, its rows, names and tiles.
 *
 * Tiles are binary, little-endian, everything at a multiple of 8:
 *
 *	u32 "SPT1", u32 chunks, u64 generation, then for each track of each row
 *	u32 row, u16 track, u8 mode, u8 complete, u32 n, u32 0
 *	mode 1, intervals	f64 start[n], f64 duration[n], u32 value[n], u32 flags[n]
 *	mode 2, bins		u32 bin[n], u32 n[n], f64 busy[n], u32 top[n], u32 mask[n]
 */
#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "view/api/api.h"

#ifndef SPUR_VERSION
#define SPUR_VERSION "0.0.0"
#endif

#define WAIT_MS	   10000
#define TILE_MAGIC 0x31545053u /* "SPT1" */

/* ---- trace ---- */

static void put_damage(struct buf *b, struct dat *d)
{
	char text[sizeof(d->damage.text)] = "";

	pthread_mutex_lock(&d->lock);
	if (d->damage.code)
		memcpy(text, d->damage.text, sizeof(text));
	pthread_mutex_unlock(&d->lock);
	if (*text)
		api_put_text(b, "damage", text);
}

static void put_file(struct buf *b, const struct view_file *f)
{
	char followed[DAT_FOLLOWED_WORDS];
	struct spur_error err = {0};

	buf_putc(b, '{');
	api_put_text(b, "path", f->path);
	if (!f->trace) {
		api_put_text(b, "error", f->error.text);
		buf_putc(b, '}');
		return;
	}
	api_put_text(b, "kernel", f->trace->dat->uname);
	api_put_number(b, "cpus", f->trace->dat->nr_cpus);
	api_put_number(b, "events", view_index_records(f->index));
	api_put_number(b, "size", f->trace->dat->file_size);
	if (view_index_error(f->index, &err) < 0)
		api_put_text(b, "error", err.text);
	put_damage(b, f->trace->dat);
	if (dat_followed_words(f->trace->dat, followed))
		api_put_text(b, "followed", followed);
	buf_putc(b, '}');
}

static void put_buffers(struct buf *b, const struct view *v)
{
	const char *comma = "";

	for (size_t i = 0; i < view_nr_files(v); i++) {
		const struct view_file *f = view_file(v, i);

		for (uint32_t k = 0; f->trace && k < f->trace->nr_buffers; k++, comma = ",") {
			const struct dat_buffer *data = f->trace->buffers[k].data;

			buf_puts(b, comma);
			buf_putc(b, '{');
			api_put_number(b, "file", i);
			api_put_text(b, "name", data->name);
			api_put_text(b, "clock", *data->clock ? data->clock : f->trace->dat->clock);
			buf_putc(b, '}');
		}
	}
}

/* Those types that occur: a trace describes thousands. */
static void put_events(struct buf *b, const struct view *v)
{
	const char *comma = "";

	for (size_t i = 0; i < view_nr_files(v); i++) {
		const struct view_file *f = view_file(v, i);

		for (uint32_t k = 0; f->trace && k < f->trace->events->nr; k++) {
			const struct event *e = f->trace->events->list[k];
			const uint64_t count = view_index_count(f->index, k);

			if (!count)
				continue;
			buf_puts(b, comma);
			buf_putc(b, '{');
			api_put_number(b, "id", f->first_event + k);
			api_put_number(b, "file", i);
			api_put_text(b, "system", e->system);
			api_put_text(b, "name", e->name);
			api_put_number(b, "class", view_class(e));
			api_put_number(b, "count", count);
			buf_putc(b, '}');
			comma = ",";
		}
	}
}

static void put_progress(struct buf *b, double progress)
{
	/* Nothing that is not finished looks so by rounding. */
	if (progress < 1)
		buf_printf(b, ",\"progress\":%.4f", progress < 0.9999 ? progress : 0.9999);
	else
		buf_puts(b, ",\"progress\":1");
}

static int answer_trace(struct view *v, const struct api_request *q, struct api_answer *a,
			struct spur_error *err)
{
	struct buf *b = &a->body;
	uint64_t wait;
	int rc = api_number(q, "wait", &wait, err);

	if (rc == 0)
		view_wait(v, wait, WAIT_MS, q->stop);
	else if (rc != -ENOENT)
		return rc;
	/* First of all: what changes while this is written has a later generation. */
	buf_putc(b, '{');
	api_put_number(b, "generation", view_generation(v));
	put_progress(b, view_progress(v));
	buf_printf(b, ",\"origin\":\"%llu\"", (unsigned long long)view_origin(v));
	buf_printf(b, ",\"nanoseconds\":%s", view_nanoseconds(v) ? "true" : "false");
	api_put_number(b, "duration", view_duration(v));
	buf_puts(b, ",\"files\":[");
	for (size_t i = 0; i < view_nr_files(v); i++) {
		buf_puts(b, i ? "," : "");
		put_file(b, view_file(v, i));
	}
	buf_puts(b, "],\"buffers\":[");
	put_buffers(b, v);
	buf_puts(b, "],\"events\":[");
	put_events(b, v);
	buf_puts(b, "],\"classes\":[");
	for (size_t i = 0; view_classes[i]; i++) {
		buf_puts(b, i ? "," : "");
		buf_json_string(b, view_classes[i], strlen(view_classes[i]));
	}
	buf_printf(b, "],\"can_record\":%s", view_broker(v) ? "true" : "false");
	api_put_text(b, "version", SPUR_VERSION);
	buf_putc(b, '}');
	return 0;
}

/* ---- rows and names ---- */

static const char *const row_kinds[] = {
	[VIEW_CPU_ROW] = "cpu", [VIEW_TASK_ROW] = "task", [VIEW_COUNTER_ROW] = "counter"};

static const char *const track_kinds[] = {
	[VIEW_RUNNING] = "running", [VIEW_STATE] = "state",	[VIEW_IRQ] = "irq",
	[VIEW_SOFTIRQ] = "softirq", [VIEW_SYSCALL] = "syscall", [VIEW_CALL] = "call",
	[VIEW_LOST] = "lost",	    [VIEW_EVENTS] = "events",	[VIEW_COUNTER] = "counter",
};

static void put_row(struct buf *b, const struct view *v, uint32_t number,
		    const struct view_place *at, const struct view_row *r)
{
	buf_putc(b, '{');
	api_put_number(b, "row", number);
	api_put_text(b, "kind", row_kinds[r->kind]);
	api_put_number(b, "file", at->file_number);
	api_put_number(b, "buffer", view_buffer_number(v, at->file_number, r->buffer));
	if (r->kind == VIEW_TASK_ROW) {
		buf_printf(b, ",\"pid\":%lld", (long long)r->number);
		if (r->tgid >= 0)
			buf_printf(b, ",\"tgid\":%lld", (long long)r->tgid);
		if (r->process)
			api_put_text(b, "process", r->process);
	} else if (r->kind == VIEW_CPU_ROW) {
		buf_printf(b, ",\"cpu\":%lld", (long long)r->number);
	}
	if (r->name)
		api_put_text(b, "comm", r->name);
	for (uint32_t i = 0; i < r->nr_older; i++) {
		buf_puts(b, i ? "," : ",\"names\":[");
		buf_json_string(b, r->older[i], strlen(r->older[i]));
	}
	buf_puts(b, r->nr_older ? "]" : "");
	api_put_number(b, "events", r->events);
	api_put_number(b, "busy", r->busy);
	if (r->first <= r->last) {
		api_put_number(b, "first", r->first + at->shift);
		api_put_number(b, "last", r->last + at->shift);
	}
	buf_puts(b, ",\"tracks\":[");
	for (uint32_t i = 0; i < r->nr_tracks; i++) {
		buf_puts(b, i ? ",{" : "{");
		api_put_number(b, "track", i);
		api_put_text(b, "kind", track_kinds[r->tracks[i].kind]);
		api_put_number(b, "depth", r->tracks[i].depth);
		buf_putc(b, '}');
	}
	buf_puts(b, "]}");
}

/* From where on a list that grows is wanted. */
static int read_from(const struct api_request *q, uint64_t *from, struct spur_error *err)
{
	int rc = api_number(q, "from", from, err);

	return rc == -ENOENT ? 0 : rc;
}

static int answer_rows(struct view *v, const struct api_request *q, struct api_answer *a,
		       struct spur_error *err)
{
	const uint32_t nr = view_rows(v);
	uint64_t from = 0;
	int rc = read_from(q, &from, err);

	if (rc < 0)
		return rc;
	buf_putc(&a->body, '[');
	for (uint64_t i = from; i < nr && !*q->stop; i++) {
		struct view_place at;
		struct view_row row;

		if (!view_row(v, (uint32_t)i, &at, &row))
			break;
		buf_puts(&a->body, i > from ? ",\n" : "");
		put_row(&a->body, v, (uint32_t)i, &at, &row);
	}
	buf_putc(&a->body, ']');
	return 0;
}

static int answer_names(struct view *v, const struct api_request *q, struct api_answer *a,
			struct spur_error *err)
{
	const uint32_t nr = view_names(v);
	uint64_t from = 0;
	int rc = read_from(q, &from, err);

	if (rc < 0)
		return rc;
	buf_putc(&a->body, '[');
	for (uint64_t i = from; i < nr && !*q->stop; i++) {
		const char *name = view_name(v, (uint32_t)i);

		buf_puts(&a->body, i > from ? "," : "");
		buf_json_string(&a->body, name ? name : "", name ? strlen(name) : 0);
	}
	buf_putc(&a->body, ']');
	return 0;
}

/* ---- tiles ---- */

static void put_u32(struct buf *b, uint32_t v)
{
	v = htole32(v);
	buf_put(b, &v, sizeof(v));
}

static void put_u64(struct buf *b, uint64_t v)
{
	v = htole64(v);
	buf_put(b, &v, sizeof(v));
}

static void put_f64(struct buf *b, double d)
{
	uint64_t bits;

	memcpy(&bits, &d, sizeof(bits));
	put_u64(b, bits);
}

static void pad(struct buf *b)
{
	buf_fill(b, 0, -b->len & 7);
}

static void put_intervals(struct buf *b, const struct view_interval *at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put_f64(b, (double)at[i].start);
	for (size_t i = 0; i < n; i++)
		put_f64(b, (double)at[i].dur);
	for (size_t i = 0; i < n; i++)
		put_u32(b, at[i].value);
	pad(b);
	for (size_t i = 0; i < n; i++)
		put_u32(b, at[i].flags);
	pad(b);
}

static void put_bins(struct buf *b, const struct view_bin *at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put_u32(b, at[i].bin);
	pad(b);
	for (size_t i = 0; i < n; i++)
		put_u32(b, at[i].n);
	pad(b);
	for (size_t i = 0; i < n; i++)
		put_f64(b, (double)at[i].busy);
	for (size_t i = 0; i < n; i++)
		put_u32(b, at[i].top);
	pad(b);
	for (size_t i = 0; i < n; i++)
		put_u32(b, at[i].mask);
	pad(b);
}

static void put_chunk(struct buf *b, uint32_t row, uint32_t track, const struct view_tile *t)
{
	const size_t n = t->has_bins ? t->bins.n : t->intervals.n;

	put_u32(b, row);
	put_u32(b, (track & 0xffff) | (t->has_bins ? 2u : 1u) << 16 | (uint32_t)t->complete << 24);
	put_u32(b, (uint32_t)n);
	put_u32(b, 0);
	if (t->has_bins)
		put_bins(b, t->bins.at, n);
	else
		put_intervals(b, t->intervals.at, n);
}

/* What there is to say about one row; how many chunks it was. */
static int put_row_tiles(struct view *v, uint32_t row, uint32_t level, uint64_t tile,
			 struct view_tile *t, struct buf *b)
{
	struct view_place at;
	struct view_row info;
	int chunks = 0;

	if (!view_row(v, row, &at, &info))
		return 0;
	for (uint32_t k = 0; k < info.nr_tracks && k <= UINT16_MAX && !buf_full(b); k++) {
		int rc = view_tile(v, row, k, level, tile, t);

		if (rc < 0)
			return rc == -ENOENT ? chunks : rc;
		/*
		 * A page takes what is left out as empty, so what may still change is not left out.
		 */
		if (t->complete && !(t->has_bins ? t->bins.n : t->intervals.n))
			continue;
		put_chunk(b, row, k, t);
		chunks++;
	}
	return chunks;
}

static int put_tiles(struct view *v, const struct api_request *q, const struct api_rows *rows,
		     uint32_t level, uint64_t tile, struct buf *b)
{
	const uint64_t generation = view_generation(v);
	struct view_tile t = {0};
	uint32_t chunks = 0;
	int rc = 0;

	put_u32(b, TILE_MAGIC);
	put_u32(b, 0);
	put_u64(b, generation);
	for (size_t i = 0; i < rows->n && rc >= 0 && !buf_full(b); i++) {
		rc = *q->stop ? -EINTR : put_row_tiles(v, rows->at[i], level, tile, &t, b);
		chunks += rc > 0 ? (uint32_t)rc : 0;
	}
	view_tile_free(&t);
	chunks = htole32(chunks);
	memcpy(b->data + 4, &chunks, sizeof(chunks));
	return rc < 0 ? rc : 0;
}

static int answer_tiles(struct view *v, const struct api_request *q, struct api_answer *a,
			struct spur_error *err)
{
	struct api_rows rows = {0};
	uint64_t level, tile;
	struct buf text;
	int rc = api_number(q, "level", &level, err);

	if (rc == 0)
		rc = api_number(q, "tile", &tile, err);
	if (rc < 0)
		return error_set(err, -EINVAL, "tiles?level=L&tile=I&rows=1,5-9");
	if (level > VIEW_MOST_LEVEL || tile > 1ull << (VIEW_MOST_LEVEL - level))
		return error_set(err, -EINVAL, "there is no such tile");
	buf_init(&text, 1 << 20);
	rc = api_text(q, "rows", &text)
		     ? api_row_list(v, buf_str(&text), &rows, err)
		     : error_set(err, -EINVAL, "tiles?level=L&tile=I&rows=1,5-9");
	buf_free(&text);
	if (rc == 0) {
		a->type = "application/octet-stream";
		rc = put_tiles(v, q, &rows, (uint32_t)level, tile, &a->body);
	}
	api_rows_free(&rows);
	return rc;
}

const struct api_question api_picture[] = {
	{"trace", false, answer_trace},
	{"rows", false, answer_rows},
	{"names", false, answer_names},
	{"tiles", false, answer_tiles},
	{NULL},
};
