// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Searches: started by a POST, looked at while they run and afterwards.
 *
 *	POST search {"filter": "sched_switch: next_pid == 3", "text": "bash", "rows": [1, 2]}
 *	POST search {"cancel": 3}
 */
#include <errno.h>

#include "base/error.h"
#include "event/filter.h"
#include "view/api/api.h"
#include "view/answers/answers.h"

#define MAX_LEVEL 54

/* ---- starting ---- */

static int put_mistake(struct api_answer *a, const struct spur_error *err, int64_t at)
{
	struct json_writer w = {&a->body};

	a->status = 400;
	json_object(&w);
	json_put_text(json_key(&w, "error"), err->text);
	if (at >= 0)
		json_put_i64(json_key(&w, "at"), at);
	json_end_object(&w);
	return 0;
}

/* What to search for. A search for everything is refused: that is the list of all events. */
static int read_wishes(struct view *v, const struct api_request *q, struct buf *filter,
		       struct buf *text, struct api_rows *rows, struct spur_error *err)
{
	int by_filter = api_body_string(q, "filter", filter, err);
	int by_text = by_filter == -EINVAL ? -EINVAL : api_body_string(q, "text", text, err);
	int by_rows = by_text == -EINVAL ? -EINVAL : api_body_rows(v, q, "rows", rows, err);

	if (by_rows < 0 && by_rows != -ENOENT)
		return by_rows;
	if (by_rows == 0 && !rows->n)
		return error_set(err, -EINVAL, "none of these rows is there");
	if (filter->len || text->len)
		return 0;
	if (by_filter == 0 || by_text == 0 || by_rows < 0)
		return error_set(
			err, -EINVAL,
			"there is nothing to search for: the filter and the text are empty");
	return 0;
}

static int start(struct view *v, const struct api_request *q, struct api_answer *a,
		 struct spur_error *err)
{
	struct api_rows rows = {0};
	scoped_buf filter = buf_new(FILTER_MAX_TEXT);
	scoped_buf text = buf_new(FILTER_MAX_TEXT);
	int64_t at = -1, id = read_wishes(v, q, &filter, &text, &rows, err);

	if (id == 0) {
		const struct view_search_options o = {.filter = buf_str(&filter),
						      .text = buf_str(&text),
						      .rows = rows.at,
						      .nr_rows = rows.n};

		id = view_search_start(v, &o, &at, err);
	}
	api_rows_free(&rows);
	if (id == -EINVAL)
		return put_mistake(a, err, at);
	if (id < 0)
		return (int)id;
	buf_printf(&a->body, "{\"id\":%lld}", (long long)id);
	return 0;
}

static int answer_start(struct view *v, const struct api_request *q, struct api_answer *a,
			struct spur_error *err)
{
	uint64_t id;
	int rc = api_body_number(q, "cancel", &id, err);

	if (rc == -ENOENT)
		return start(v, q, a, err);
	if (rc < 0)
		return rc;
	if (!view_search_drop(v, id))
		return api_no_search(id, err);
	buf_puts(&a->body, "{}");
	return 0;
}

/* ---- looking at one ---- */

static struct view_search *find(struct view *v, const struct api_request *q, struct spur_error *err)
{
	uint64_t id;

	if (api_number(q, "id", &id, err) == 0)
		return api_search_get(v, id, err);
	error_set(err, -EINVAL, "the number of a search is missing: id=NUMBER");
	return NULL;
}

static int answer_state(struct view *v, const struct api_request *q, struct api_answer *a,
			struct spur_error *err)
{
	struct json_writer w = {&a->body};
	struct view_search *s = find(v, q, err);
	struct view_search_state state;

	if (!s)
		return err->code;
	view_search_state(s, &state);
	json_object(&w);
	json_put_printf(json_key(&w, "done"), "%.4g", state.done);
	json_put_u64(json_key(&w, "hits"), state.hits);
	json_put_u64(json_key(&w, "kept"), state.kept);
	json_put_bool(json_key(&w, "truncated"), state.truncated);
	if (state.warning)
		json_put_text(json_key(&w, "warning"), state.warning);
	json_end_object(&w);
	view_search_put(s);
	return 0;
}

static void put_bins(struct view *v, struct view_search *s, uint64_t level, uint64_t tile,
		     struct buf *b)
{
	const uint64_t width = 1ull << level;
	uint64_t bins[VIEW_TILE_BINS] = {0};
	struct json_writer w = {b};

	view_search_bins(s, view_origin(v) + tile * VIEW_TILE_BINS * width, width, VIEW_TILE_BINS,
			 bins);
	json_array(&w);
	for (uint32_t i = 0; i < VIEW_TILE_BINS; i++)
		if (bins[i])
			json_put_printf(&w, "[%u,%llu]", i, (unsigned long long)bins[i]);
	json_end_array(&w);
}

static int answer_hits(struct view *v, const struct api_request *q, struct api_answer *a,
		       struct spur_error *err)
{
	uint64_t level, tile;
	struct view_search *s;
	int rc = api_number(q, "level", &level, err);

	if (rc == 0)
		rc = api_number(q, "tile", &tile, err);
	if (rc < 0)
		return error_set(err, -EINVAL, "hits?id=ID&level=L&tile=I");
	if (level > MAX_LEVEL || tile >= 1ull << (MAX_LEVEL - level))
		return error_set(err, -EINVAL, "there is no such tile");
	s = find(v, q, err);
	if (!s)
		return err->code;
	put_bins(v, s, level, tile, &a->body);
	view_search_put(s);
	return 0;
}

/* ---- next and previous ---- */

/* Where to go on from: after or before a record, or from a time on, or before that. */
struct place {
	bool by_number;
	uint64_t n, ts;
	bool back;
};

/*
 * How many hits are before a record, and whether it is one itself. Many records may have the same
 * time: these are gone through beside the hits, which are in the same order.
 */
static int count_before(struct view *v, const struct api_request *q, struct view_search *s,
			uint64_t n, uint64_t *before, bool *is_hit, struct spur_error *err)
{
	struct view_cursor c;
	struct view_record_id hit;
	int rc = view_cursor_open(&c, v, view_search_sources(s), q->stop, err);

	*before = 0;
	*is_hit = false;
	if (rc == 0)
		rc = view_cursor_to(&c, n, err);
	if (rc == 0 && !view_cursor_next(&c))
		rc = error_set(err, -ENOENT, "there is no event %llu", (unsigned long long)n);
	if (rc == 0) {
		*before = view_search_at(s, c.id.ts);
		rc = view_cursor_to_time(&c, c.id.ts, true, err);
	}
	while (rc == 0 && view_cursor_next(&c)) {
		const bool found = view_search_hit(s, *before, &hit) && view_record_is(&hit, &c.id);

		if (c.n >= n) {
			*is_hit = found;
			break;
		}
		*before += found;
	}
	view_cursor_close(&c);
	return rc;
}

/* The next hit, or the one before; -ENOENT: there is none. */
static int find_hit(struct view *v, const struct api_request *q, struct view_search *s,
		    const struct place *p, uint64_t *hit, struct view_record_id *out,
		    struct spur_error *err)
{
	bool is_hit = false;
	int rc = 0;

	if (p->by_number)
		rc = count_before(v, q, s, p->n, hit, &is_hit, err);
	else
		*hit = view_search_at(s, p->ts);
	if (rc < 0)
		return rc;
	if (!p->back)
		*hit += is_hit;
	if ((p->back && !(*hit)--) || !view_search_hit(s, *hit, out))
		return error_set(err, -ENOENT, "there is no %s hit", p->back ? "earlier" : "later");
	return 0;
}

static int put_hit(struct view *v, const struct api_request *q, struct view_search *s,
		   const struct place *p, struct buf *b, struct spur_error *err)
{
	struct json_writer w = {b};
	struct view_record_id id;
	uint64_t hit, n;
	bool known;
	int rc = find_hit(v, q, s, p, &hit, &id, err);

	if (rc < 0)
		return rc;
	json_object(&w);
	known = view_search_number(s, &id, q->stop, &n);
	json_put_i64_or_null(json_key(&w, "n"), known ? (int64_t)n : -1, -1);
	json_put_i64(json_key(&w, "ts"), (int64_t)(id.ts - view_origin(v)));
	json_put_u64(json_key(&w, "hit"), hit);
	json_end_object(&w);
	return 0;
}

static int read_place(struct view *v, const struct api_request *q, struct place *p,
		      struct spur_error *err)
{
	int rc = api_number(q, "n", &p->n, err);
	struct buf dir;

	p->by_number = rc == 0;
	if (rc == -ENOENT)
		rc = api_number(q, "ts", &p->ts, err);
	if (rc < 0)
		return error_set(err, -EINVAL, "hit?id=ID&ts=TIME&dir=1|-1, or n=NUMBER for ts");
	p->ts = view_absolute(v, p->ts);
	buf_init(&dir, 16);
	p->back = api_text(q, "dir", &dir) && *buf_str(&dir) == '-';
	buf_free(&dir);
	return 0;
}

static int answer_hit(struct view *v, const struct api_request *q, struct api_answer *a,
		      struct spur_error *err)
{
	struct place p = {0};
	struct view_search *s;
	int rc = read_place(v, q, &p, err);

	if (rc < 0)
		return rc;
	s = find(v, q, err);
	if (!s)
		return err->code;
	rc = put_hit(v, q, s, &p, &a->body, err);
	view_search_put(s);
	return rc;
}

const struct api_question api_search[] = {
	{"search", true, answer_start},
	{"search", false, answer_state},
	{"hits", false, answer_hits},
	{"hit", false, answer_hit},
	{NULL},
};
