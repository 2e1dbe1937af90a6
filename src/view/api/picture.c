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
#include "view/api/api.h"

#define WAIT_MS	   10000
#define TILE_MAGIC 0x31545053u /* "SPT1" */

/* ---- trace ---- */

static void put_damage(struct json_writer *w, struct dat *d)
{
	char text[sizeof(d->damage.text)] = "";

	pthread_mutex_lock(&d->lock);
	if (d->damage.code)
		memcpy(text, d->damage.text, sizeof(text));
	pthread_mutex_unlock(&d->lock);
	if (*text)
		json_put_text(json_key(w, "damage"), text);
}

/* What is in a file that could be opened. */
static void put_contents(struct json_writer *w, const struct view_file *f)
{
	char missing[DAT_MISSING_WORDS];
	struct spur_error err = {0};

	json_put_text(json_key(w, "kernel"), f->trace->dat->uname);
	json_put_u64(json_key(w, "cpus"), f->trace->dat->nr_cpus);
	json_put_u64(json_key(w, "events"), view_index_records(f->index));
	json_put_u64(json_key(w, "size"), f->trace->dat->file_size);
	if (view_index_error(f->index, &err) < 0)
		json_put_text(json_key(w, "error"), err.text);
	put_damage(w, f->trace->dat);
	if (dat_missing_words(f->trace->dat, missing))
		json_put_text(json_key(w, "missing"), missing);
}

static void put_files(struct json_writer *w, const struct view *v)
{
	json_array(json_key(w, "files"));
	for (size_t i = 0; i < view_nr_files(v); i++) {
		const struct view_file *f = view_file(v, i);

		json_object(w);
		json_put_text(json_key(w, "path"), f->path);
		if (f->trace)
			put_contents(w, f);
		else
			json_put_text(json_key(w, "error"), f->error.text);
		json_end_object(w);
	}
	json_end_array(w);
}

static void put_buffers(struct json_writer *w, const struct view *v)
{
	json_array(json_key(w, "buffers"));
	for (size_t i = 0; i < view_nr_files(v); i++) {
		const struct spur_trace *t = view_file(v, i)->trace;

		for (uint32_t k = 0; t && k < t->nr_buffers; k++) {
			const struct dat_buffer *data = t->buffers[k].data;

			json_object(w);
			json_put_u64(json_key(w, "file"), i);
			json_put_text(json_key(w, "name"), data->name);
			json_put_text(json_key(w, "clock"),
				      *data->clock ? data->clock : t->dat->clock);
			json_end_object(w);
		}
	}
	json_end_array(w);
}

/* Those types that occur: a trace describes thousands. */
static void put_events(struct json_writer *w, const struct view *v)
{
	json_array(json_key(w, "events"));
	for (size_t i = 0; i < view_nr_files(v); i++) {
		const struct view_file *f = view_file(v, i);

		for (uint32_t k = 0; f->trace && k < f->trace->events->nr; k++) {
			const struct event *e = f->trace->events->list[k];
			const uint64_t count = view_index_count(f->index, k);

			if (!count)
				continue;
			json_object(w);
			json_put_u64(json_key(w, "id"), f->first_event + k);
			json_put_u64(json_key(w, "file"), i);
			json_put_text(json_key(w, "system"), e->system);
			json_put_text(json_key(w, "name"), e->name);
			json_put_u64(json_key(w, "class"), view_class(e));
			json_put_u64(json_key(w, "count"), count);
			json_end_object(w);
		}
	}
	json_end_array(w);
}

static void put_progress(struct json_writer *w, double progress)
{
	json_key(w, "progress");
	/* Rounding must not show 100 % before everything is finished. */
	if (progress < 1)
		json_put_printf(w, "%.4f", progress < 0.9999 ? progress : 0.9999);
	else
		json_put_u64(w, 1);
}

static int answer_trace(struct view *v, const struct api_request *q, struct api_answer *a,
			struct spur_error *err)
{
	struct json_writer w = {&a->body};
	uint64_t wait;
	int rc = api_number(q, "wait", &wait, err);

	if (rc == 0)
		view_wait(v, wait, WAIT_MS, q->stop);
	else if (rc != -ENOENT)
		return rc;
	json_object(&w);
	/* Must be the first: what changes while this is written gets a later generation. */
	json_put_u64(json_key(&w, "generation"), view_generation(v));
	put_progress(&w, view_progress(v));
	json_put_printf(json_key(&w, "origin"), "\"%llu\"", (unsigned long long)view_origin(v));
	json_put_bool(json_key(&w, "nanoseconds"), view_nanoseconds(v));
	json_put_u64(json_key(&w, "duration"), view_duration(v));
	put_files(&w, v);
	put_buffers(&w, v);
	put_events(&w, v);
	json_array(json_key(&w, "classes"));
	for (size_t i = 0; view_classes[i]; i++)
		json_put_text(&w, view_classes[i]);
	json_end_array(&w);
	json_put_bool(json_key(&w, "can_record"), view_broker(v));
	json_put_text(json_key(&w, "version"), SPUR_VERSION);
	json_end_object(&w);
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

/* Which CPU or task it is. */
static void put_identity(struct json_writer *w, const struct view_row *r)
{
	if (r->kind == VIEW_TASK_ROW) {
		json_put_i64(json_key(w, "pid"), r->number);
		if (r->tgid >= 0)
			json_put_i64(json_key(w, "tgid"), r->tgid);
		if (r->process)
			json_put_text(json_key(w, "process"), r->process);
	} else if (r->kind == VIEW_CPU_ROW) {
		json_put_i64(json_key(w, "cpu"), r->number);
	}
	if (r->name)
		json_put_text(json_key(w, "comm"), r->name);
	if (!r->nr_older)
		return;
	json_array(json_key(w, "names"));
	for (uint32_t i = 0; i < r->nr_older; i++)
		json_put_text(w, r->older[i]);
	json_end_array(w);
}

static void put_row(struct json_writer *w, const struct view *v, uint32_t number,
		    const struct view_place *at, const struct view_row *r)
{
	json_object(w);
	json_put_u64(json_key(w, "row"), number);
	json_put_text(json_key(w, "kind"), row_kinds[r->kind]);
	json_put_u64(json_key(w, "file"), at->file_number);
	json_put_u64(json_key(w, "buffer"), view_buffer_number(v, at->file_number, r->buffer));
	put_identity(w, r);
	json_put_u64(json_key(w, "events"), r->events);
	json_put_u64(json_key(w, "busy"), r->busy);
	if (r->first <= r->last) {
		json_put_u64(json_key(w, "first"), r->first + at->shift);
		json_put_u64(json_key(w, "last"), r->last + at->shift);
	}
	json_array(json_key(w, "tracks"));
	for (uint32_t i = 0; i < r->nr_tracks; i++) {
		json_object(w);
		json_put_u64(json_key(w, "track"), i);
		json_put_text(json_key(w, "kind"), track_kinds[r->tracks[i].kind]);
		json_put_u64(json_key(w, "depth"), r->tracks[i].depth);
		json_end_object(w);
	}
	json_end_array(w);
	json_end_object(w);
}

static int answer_rows(struct view *v, const struct api_request *q, struct api_answer *a,
		       struct spur_error *err)
{
	struct json_writer w = {&a->body};
	const uint32_t nr = view_rows(v);
	uint64_t from = 0;
	int rc = api_optional(q, "from", &from, NULL, err);

	if (rc < 0)
		return rc;
	json_array(&w);
	for (uint64_t i = from; i < nr && !*q->stop; i++) {
		struct view_place at;
		struct view_row row;

		if (!view_row(v, (uint32_t)i, &at, &row))
			break;
		if (i > from)
			json_newline(&w);
		put_row(&w, v, (uint32_t)i, &at, &row);
	}
	json_end_array(&w);
	return 0;
}

static int answer_names(struct view *v, const struct api_request *q, struct api_answer *a,
			struct spur_error *err)
{
	struct json_writer w = {&a->body};
	const uint32_t nr = view_names(v);
	uint64_t from = 0;
	int rc = api_optional(q, "from", &from, NULL, err);

	if (rc < 0)
		return rc;
	json_array(&w);
	for (uint64_t i = from; i < nr && !*q->stop; i++) {
		const char *name = view_name(v, (uint32_t)i);

		json_put_text(&w, name ? name : "");
	}
	json_end_array(&w);
	return 0;
}

/* ---- tiles ---- */

static void put_u32(struct buf *b, uint32_t v)
{
	v = htole32(v);
	buf_put(b, &v, sizeof(v));
}

/* One number of each interval or bin: `at` is the first one's, the next is a stride away. */
static void put_numbers(struct buf *b, const void *at, size_t n, size_t stride)
{
	for (const char *p = at; n > 0; n--, p += stride)
		put_u32(b, *(const uint32_t *)(const void *)p);
	buf_fill(b, 0, -b->len & 7);
}

static void put_times(struct buf *b, const void *at, size_t n, size_t stride)
{
	for (const char *p = at; n > 0; n--, p += stride) {
		const double time = (double)*(const uint64_t *)(const void *)p;
		uint64_t bits;

		memcpy(&bits, &time, sizeof(bits));
		bits = htole64(bits);
		buf_put(b, &bits, sizeof(bits));
	}
}

static void put_intervals(struct buf *b, const struct view_interval *at, size_t n)
{
	put_times(b, &at->start, n, sizeof(*at));
	put_times(b, &at->dur, n, sizeof(*at));
	put_numbers(b, &at->value, n, sizeof(*at));
	put_numbers(b, &at->flags, n, sizeof(*at));
}

static void put_bins(struct buf *b, const struct view_bin *at, size_t n)
{
	put_numbers(b, &at->bin, n, sizeof(*at));
	put_numbers(b, &at->n, n, sizeof(*at));
	put_times(b, &at->busy, n, sizeof(*at));
	put_numbers(b, &at->top, n, sizeof(*at));
	put_numbers(b, &at->mask, n, sizeof(*at));
}

static void put_chunk(struct buf *b, uint32_t row, uint32_t track, const struct view_tile *t)
{
	const size_t n = t->has_bins ? t->bins.n : t->intervals.n;

	put_u32(b, row);
	put_u32(b, (track & 0xffff) | (t->has_bins ? 2u : 1u) << 16 | (uint32_t)t->complete << 24);
	put_u32(b, (uint32_t)n);
	put_u32(b, 0);
	if (n && t->has_bins)
		put_bins(b, t->bins.at, n);
	else if (n)
		put_intervals(b, t->intervals.at, n);
}

void api_begin_tiles(struct buf *b, uint64_t generation)
{
	put_u32(b, TILE_MAGIC);
	put_u32(b, 0);
	buf_uint(b, generation, 8, false);
}

bool api_put_tile(struct buf *b, uint32_t row, uint32_t track, const struct view_tile *t)
{
	/* A page treats missing tiles as empty, so tiles that may still change are not left out. */
	if (t->complete && !(t->has_bins ? t->bins.n : t->intervals.n))
		return false;
	put_chunk(b, row, track, t);
	return true;
}

void api_end_tiles(struct buf *b, uint32_t chunks)
{
	chunks = htole32(chunks);
	if (b->len >= API_TILES_HEAD)
		memcpy(b->data + 4, &chunks, sizeof(chunks));
}

/* What there is to say about one row; how many chunks it was. */
static int put_row_tiles(struct view *v, uint32_t row, uint32_t level, uint64_t tile,
			 struct view_tile *t, struct buf *b)
{
	struct view_row info;
	int chunks = 0;

	if (!view_row(v, row, NULL, &info))
		return 0;
	for (uint32_t k = 0; k < info.nr_tracks && k <= UINT16_MAX && !buf_full(b); k++) {
		int rc = view_tile(v, row, k, level, tile, t);

		if (rc < 0)
			return rc == -ENOENT ? chunks : rc;
		chunks += api_put_tile(b, row, k, t);
	}
	return chunks;
}

static int put_tiles(struct view *v, const struct api_request *q, const struct api_rows *rows,
		     uint32_t level, uint64_t tile, struct buf *b)
{
	struct view_tile t = {0};
	uint32_t chunks = 0;
	int rc = 0;

	api_begin_tiles(b, view_generation(v));
	for (size_t i = 0; i < rows->n && rc >= 0 && !buf_full(b); i++) {
		rc = *q->stop ? -EINTR : put_row_tiles(v, rows->at[i], level, tile, &t, b);
		chunks += rc > 0 ? (uint32_t)rc : 0;
	}
	view_tile_free(&t);
	api_end_tiles(b, chunks);
	return rc < 0 ? rc : 0;
}

static int answer_tiles(struct view *v, const struct api_request *q, struct api_answer *a,
			struct spur_error *err)
{
	struct api_rows rows = {0};
	uint64_t level, tile;
	int rc = api_number(q, "level", &level, err);

	if (rc == 0)
		rc = api_number(q, "tile", &tile, err);
	if (rc < 0)
		return error_set(err, -EINVAL, "tiles?level=L&tile=I&rows=1,5-9");
	if (level > VIEW_MOST_LEVEL || tile > 1ull << (VIEW_MOST_LEVEL - level))
		return error_set(err, -EINVAL, "there is no such tile");
	rc = api_rows(v, q, &rows, err);
	if (rc == -ENOENT)
		rc = error_set(err, -EINVAL, "tiles?level=L&tile=I&rows=1,5-9");
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
