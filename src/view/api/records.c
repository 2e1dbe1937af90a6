// SPDX-License-Identifier: GPL-2.0-or-later
/* Records as JSON: the list of all, by number, and one with everything that is known about it. */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "event/event.h"
#include "view/answers/records.h"
#include "view/api/api.h"

#define SAFE_WHOLE (1ull << 53) /* what a page's numbers hold */

/* What all answers about a record begin with; the object is left open. */
static void put_record(const struct view_record *r, const struct buf *texts, struct json_writer *w)
{
	json_object(w);
	json_put_i64_or_null(json_key(w, "n"), r->numbered ? (int64_t)r->n : -1, -1);
	json_put_i64(json_key(w, "ts"), r->ts);
	json_put_u64(json_key(w, "cpu"), r->cpu);
	json_put_u64(json_key(w, "file"), r->file);
	json_put_u64(json_key(w, "buffer"), r->buffer);
	json_put_i64(json_key(w, "row"), r->row);
	json_put_i64(json_key(w, "pid"), r->pid);
	api_put_text(w, "comm", texts, r->comm);
	json_put_text(json_key(w, "event"), r->event ? r->event->name : "");
	json_put_i64(json_key(w, "id"), r->type);
	if (r->lost)
		json_put_i64(json_key(w, "lost"), r->lost);
	if (r->folded)
		json_put_bool(json_key(w, "folded"), true);
	api_put_text(w, "text", texts, r->text);
}

/* ---- details ---- */

/* A number that a page can hold is one; a larger one is text. */
static void put_whole(struct json_writer *w, uint64_t v, bool is_signed)
{
	const bool negative = is_signed && (int64_t)v < 0;
	const bool safe = negative ? v > 0 - SAFE_WHOLE : v < SAFE_WHOLE;

	if (negative)
		json_put_printf(w, safe ? "%lld" : "\"%lld\"", (long long)v);
	else
		json_put_printf(w, safe ? "%llu" : "\"%llu\"", (unsigned long long)v);
}

static void put_field(const struct view_field *f, const struct buf *texts, struct json_writer *w)
{
	json_object(w);
	json_put_text(json_key(w, "name"), f->field->name);
	json_put_text(json_key(w, "type"), f->field->type ? f->field->type : "");
	if (f->kind == VIEW_FIELD_NUMBER)
		put_whole(json_key(w, "value"), f->number, f->is_signed);
	else if (f->kind == VIEW_FIELD_TEXT)
		api_put_text(w, "value", texts, f->text);
	else
		json_put_null(json_key(w, "value"));
	api_put_text(w, "text", texts, f->text);
	json_end_object(w);
}

static void put_context(const struct view_details *d, struct json_writer *w)
{
	json_object(json_key(w, "context"));
	json_put_u64(json_key(w, "flags"), d->flags);
	json_put_u64(json_key(w, "preempt_count"), d->preempt_count);
	json_array(json_key(w, "words"));
	for (const struct view_context *c = view_contexts; c->words; c++)
		if (d->flags & c->flag)
			json_put_text(w, c->words);
	json_end_array(w);
	json_end_object(w);
}

static void put_stacks(const struct view_details *d, const struct buf *texts, struct json_writer *w)
{
	json_key(w, "stack");
	if (!d->stacks.n) {
		json_put_null(w);
		return;
	}
	json_array(w);
	vec_each (s, &d->stacks) {
		json_object(w);
		json_put_text(json_key(w, "kind"), s->kind);
		json_array(json_key(w, "frames"));
		for (size_t k = 0; k < s->nr; k++) {
			const struct view_text frame = d->frames.at[s->first + k];

			json_put_bytes(w, view_text(texts, frame), frame.len);
		}
		json_end_array(w);
		json_end_object(w);
	}
	json_end_array(w);
}

static void put_details(const struct view_details *d, const struct buf *texts,
			struct json_writer *w)
{
	json_put_text(json_key(w, "system"), d->system);
	json_array(json_key(w, "fields"));
	vec_each (f, &d->fields)
		put_field(f, texts, w);
	json_end_array(w);
	put_context(d, w);
	put_stacks(d, texts, w);
}

/* ---- events ---- */

static void put_list(const struct view_records *r, const struct view_records_options *o,
		     struct json_writer *w)
{
	for (size_t i = 0; i < r->list.n; i++) {
		const struct view_record *record = &r->list.at[i];

		if (i)
			json_newline(w);
		if (i < r->details.n) {
			json_object(w);
			json_put_u64(json_key(w, "n"), record->n);
			put_details(&r->details.at[i], &r->texts, w);
		} else {
			put_record(record, &r->texts, w);
		}
		if (o->search)
			json_put_u64(json_key(w, "hit"), record->hit);
		json_end_object(w);
	}
}

/* How many can be listed. */
static uint64_t total_of(struct view *v, struct view_search *search)
{
	struct view_search_state state;

	if (!search)
		return view_record_count(v);
	view_search_state(search, &state);
	return state.kept;
}

/* The search that a question names, if it does; to be put back. */
static int find_search(struct view *v, const struct api_request *q, struct view_search **out,
		       struct spur_error *err)
{
	bool there;
	uint64_t id;
	int rc = api_optional(q, "search", &id, &there, err);

	*out = there ? api_search_get(v, id, err) : NULL;
	return there && !*out ? err->code : rc;
}

static int answer_events(struct view *v, const struct api_request *q, struct api_answer *a,
			 struct spur_error *err)
{
	struct view_records_options o = {.n = 100, .stop = q->stop};
	struct json_writer w = {&a->body};
	struct view_records records;
	uint64_t details = 0;
	int rc = api_optional(q, "at", &o.at, NULL, err);

	if (rc == 0)
		rc = api_optional(q, "n", &o.n, NULL, err);
	if (rc == 0)
		rc = api_optional(q, "details", &details, NULL, err);
	o.details = details;
	if (rc == 0)
		rc = find_search(v, q, &o.search, err);
	if (rc < 0)
		return rc;
	json_object(&w);
	json_put_u64(json_key(&w, "first"), o.at);
	json_put_u64(json_key(&w, "total"), total_of(v, o.search));
	json_array(json_key(&w, "rows"));
	rc = view_records_read(v, &o, &records, err);
	put_list(&records, &o, &w);
	json_end_array(&w);
	json_put_bool(json_key(&w, "settled"), records.settled);
	json_end_object(&w);
	view_records_free(&records);
	view_search_put(o.search);
	return rc;
}

/* ---- ordinal ---- */

static int answer_ordinal(struct view *v, const struct api_request *q, struct api_answer *a,
			  struct spur_error *err)
{
	struct json_writer w = {&a->body};
	struct view_search *search = NULL;
	uint64_t ts, n = 0;
	int rc = api_number(q, "ts", &ts, err);

	if (rc == -ENOENT)
		return error_set(err, -EINVAL, "ordinal?ts=TIME");
	if (rc == 0)
		rc = find_search(v, q, &search, err);
	if (rc < 0)
		return rc;
	ts = view_absolute(v, ts);
	if (search)
		n = view_search_at(search, ts);
	else
		rc = view_record_ordinal(v, ts, &n, err);
	view_search_put(search);
	json_object(&w);
	json_put_u64(json_key(&w, "n"), n);
	json_end_object(&w);
	return rc;
}

/* ---- one event ---- */

static int answer_event(struct view *v, const struct api_request *q, struct api_answer *a,
			struct spur_error *err)
{
	struct json_writer w = {&a->body};
	struct view_records records;
	uint64_t n;
	int rc = api_number(q, "n", &n, err);

	if (rc < 0)
		return rc == -ENOENT ? error_set(err, -EINVAL, "event?n=NUMBER") : rc;
	rc = view_record_read(v, n, q->stop, &records, err);
	if (rc == 0) {
		put_record(&records.list.at[0], &records.texts, &w);
		put_details(&records.details.at[0], &records.texts, &w);
		json_end_object(&w);
	}
	view_records_free(&records);
	return rc;
}

const struct api_question api_records[] = {
	{"events", false, answer_events},
	{"ordinal", false, answer_ordinal},
	{"event", false, answer_event},
	{NULL},
};
