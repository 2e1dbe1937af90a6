// SPDX-License-Identifier: GPL-2.0-or-later
/* Records as JSON: the list of all, by number, and one with everything that is known about it. */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "event/event.h"
#include "view/answers/records.h"
#include "view/api/api.h"

#define SAFE_WHOLE (1ull << 53) /* what a page's numbers hold */

static void put_signed(struct buf *b, const char *name, int64_t v)
{
	buf_printf(b, ",\"%s\":", name);
	buf_i64(b, v);
}

static void put_text(struct buf *b, const char *name, const struct buf *texts, struct view_text t)
{
	buf_printf(b, ",\"%s\":", name);
	buf_json_string(b, view_text(texts, t), t.len);
}

static void put_string(struct buf *b, const char *name, const char *text)
{
	buf_printf(b, ",\"%s\":", name);
	buf_json_string(b, text, strlen(text));
}

/* What all answers about a record begin with; without the closing brace. */
static void put_record(const struct view_record *r, const struct buf *texts, struct buf *b)
{
	buf_puts(b, "{\"n\":");
	if (r->numbered)
		buf_u64(b, r->n);
	else
		buf_puts(b, "null");
	put_signed(b, "ts", r->ts);
	put_signed(b, "cpu", r->cpu);
	put_signed(b, "file", r->file);
	put_signed(b, "buffer", r->buffer);
	put_signed(b, "row", r->row);
	put_signed(b, "pid", r->pid);
	put_text(b, "comm", texts, r->comm);
	put_string(b, "event", r->event ? r->event->name : "");
	put_signed(b, "id", r->type);
	if (r->lost)
		put_signed(b, "lost", r->lost);
	if (r->folded)
		buf_puts(b, ",\"folded\":true");
	put_text(b, "text", texts, r->text);
}

/* ---- details ---- */

/* A number that a page can hold is one; a larger one is text. */
static void put_whole(struct buf *b, uint64_t v, bool is_signed)
{
	const bool negative = is_signed && (int64_t)v < 0;
	const bool safe = negative ? v > 0 - SAFE_WHOLE : v < SAFE_WHOLE;

	buf_puts(b, safe ? "" : "\"");
	if (negative)
		buf_i64(b, (int64_t)v);
	else
		buf_u64(b, v);
	buf_puts(b, safe ? "" : "\"");
}

static void put_field(const struct view_field *f, const struct buf *texts, struct buf *b)
{
	buf_puts(b, "{\"name\":");
	buf_json_string(b, f->field->name, strlen(f->field->name));
	put_string(b, "type", f->field->type ? f->field->type : "");
	buf_puts(b, ",\"value\":");
	switch (f->kind) {
	case VIEW_FIELD_NUMBER: put_whole(b, f->number, f->is_signed); break;
	case VIEW_FIELD_TEXT: buf_json_string(b, view_text(texts, f->text), f->text.len); break;
	default: buf_puts(b, "null");
	}
	put_text(b, "text", texts, f->text);
	buf_putc(b, '}');
}

static void put_context(const struct view_details *d, struct buf *b)
{
	const char *comma = "";

	buf_printf(b, ",\"context\":{\"flags\":%u,\"preempt_count\":%u,\"words\":[", d->flags,
		   d->preempt_count);
	for (const struct view_context *c = view_contexts; c->words; c++) {
		if (!(d->flags & c->flag))
			continue;
		buf_printf(b, "%s\"%s\"", comma, c->words);
		comma = ",";
	}
	buf_puts(b, "]}");
}

static void put_stacks(const struct view_details *d, const struct buf *texts, struct buf *b)
{
	buf_puts(b, ",\"stack\":");
	buf_puts(b, d->stacks.n ? "[" : "null");
	for (size_t i = 0; i < d->stacks.n; i++) {
		const struct view_stack *s = &d->stacks.at[i];

		buf_printf(b, "%s{\"kind\":\"%s\",\"frames\":[", i ? "," : "", s->kind);
		for (size_t k = 0; k < s->nr; k++) {
			const struct view_text frame = d->frames.at[s->first + k];

			buf_puts(b, k ? "," : "");
			buf_json_string(b, view_text(texts, frame), frame.len);
		}
		buf_puts(b, "]}");
	}
	buf_puts(b, d->stacks.n ? "]" : "");
}

static void put_details(const struct view_details *d, const struct buf *texts, struct buf *b)
{
	put_string(b, "system", d->system);
	buf_puts(b, ",\"fields\":[");
	for (size_t i = 0; i < d->fields.n; i++) {
		buf_puts(b, i ? "," : "");
		put_field(&d->fields.at[i], texts, b);
	}
	buf_putc(b, ']');
	put_context(d, b);
	put_stacks(d, texts, b);
}

/* ---- events ---- */

static void put_list(const struct view_records *r, const struct view_records_options *o,
		     struct buf *b)
{
	for (size_t i = 0; i < r->list.n; i++) {
		const struct view_record *record = &r->list.at[i];

		buf_puts(b, i ? ",\n" : "");
		if (i < r->details.n) {
			buf_puts(b, "{\"n\":");
			buf_u64(b, record->n);
			put_details(&r->details.at[i], &r->texts, b);
		} else {
			put_record(record, &r->texts, b);
		}
		if (o->search)
			put_signed(b, "hit", (int64_t)record->hit);
		buf_putc(b, '}');
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
	uint64_t id;
	int rc = api_number(q, "search", &id, err);

	*out = NULL;
	if (rc < 0)
		return rc == -ENOENT ? 0 : rc;
	*out = view_search_get(v, id);
	return *out ? 0
		    : error_set(err, -ENOENT, "there is no search %llu any more",
				(unsigned long long)id);
}

/* A number that may be left out. */
static int optional(const struct api_request *q, const char *name, uint64_t *out,
		    struct spur_error *err)
{
	int rc = api_number(q, name, out, err);

	return rc == -ENOENT ? 0 : rc;
}

static int answer_events(struct view *v, const struct api_request *q, struct api_answer *a,
			 struct spur_error *err)
{
	struct view_records_options o = {.n = 100, .stop = q->stop};
	struct view_records records;
	uint64_t details = 0;
	int rc = optional(q, "at", &o.at, err);

	if (rc == 0)
		rc = optional(q, "n", &o.n, err);
	if (rc == 0)
		rc = optional(q, "details", &details, err);
	o.details = details;
	if (rc == 0)
		rc = find_search(v, q, &o.search, err);
	if (rc < 0)
		return rc;
	buf_puts(&a->body, "{\"first\":");
	buf_u64(&a->body, o.at);
	buf_puts(&a->body, ",\"total\":");
	buf_u64(&a->body, total_of(v, o.search));
	buf_puts(&a->body, ",\"rows\":[");
	rc = view_records_read(v, &o, &records, err);
	put_list(&records, &o, &a->body);
	buf_printf(&a->body, "],\"settled\":%s}", records.settled ? "true" : "false");
	view_records_free(&records);
	view_search_put(o.search);
	return rc;
}

/* ---- ordinal ---- */

static int answer_ordinal(struct view *v, const struct api_request *q, struct api_answer *a,
			  struct spur_error *err)
{
	struct view_search *search = NULL;
	uint64_t ts, n = 0;
	int rc = api_number(q, "ts", &ts, err);

	if (rc == -ENOENT)
		return error_set(err, -EINVAL, "ordinal?ts=TIME");
	if (rc == 0)
		rc = find_search(v, q, &search, err);
	if (rc < 0)
		return rc;
	if (__builtin_add_overflow(ts, view_origin(v), &ts))
		ts = UINT64_MAX;
	if (search)
		n = view_search_at(search, ts);
	else
		rc = view_record_ordinal(v, ts, &n, err);
	view_search_put(search);
	buf_puts(&a->body, "{\"n\":");
	buf_u64(&a->body, n);
	buf_putc(&a->body, '}');
	return rc;
}

/* ---- one event ---- */

static int answer_event(struct view *v, const struct api_request *q, struct api_answer *a,
			struct spur_error *err)
{
	struct view_records records;
	uint64_t n;
	int rc = api_number(q, "n", &n, err);

	if (rc < 0)
		return rc == -ENOENT ? error_set(err, -EINVAL, "event?n=NUMBER") : rc;
	rc = view_record_read(v, n, q->stop, &records, err);
	if (rc == 0) {
		put_record(&records.list.at[0], &records.texts, &a->body);
		put_details(&records.details.at[0], &records.texts, &a->body);
		buf_putc(&a->body, '}');
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
