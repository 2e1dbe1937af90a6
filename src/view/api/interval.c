// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An interval as JSON with all that belongs to it, the way back over what it waited for, and why it
 * waited, in words.
 */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "view/answers/interval.h"
#include "view/api/api.h"

static void put_number(struct buf *b, const char *name, int64_t v)
{
	buf_printf(b, ",\"%s\":%lld", name, (long long)v);
}

static void put_text(struct buf *b, const char *name, const struct buf *texts, struct view_text t)
{
	buf_printf(b, ",\"%s\":", name);
	buf_json_string(b, view_text(texts, t), t.len);
}

/* ---- slice ---- */

static const char *open_word(uint32_t flags)
{
	static const char *const words[] = {"null", "\"start\"", "\"end\"", "\"both\""};

	return words[(flags & VIEW_OPEN_START ? 1 : 0) + (flags & VIEW_OPEN_END ? 2 : 0)];
}

static void put_details(const struct view_slice *s, struct buf *b)
{
	buf_puts(b, ",\"details\":[");
	for (size_t i = 0; i < s->details.n; i++) {
		buf_printf(b, "%s{\"label\":\"%s\"", i ? "," : "", s->details.at[i].label);
		put_text(b, "text", &s->texts, s->details.at[i].text);
		buf_putc(b, '}');
	}
	buf_putc(b, ']');
}

static void put_waker(const struct view_waker *w, struct buf *b)
{
	buf_printf(b, ",\"waker\":{\"row\":%lld,\"ts\":%lld", (long long)w->row, (long long)w->ts);
	if (w->has_latency)
		put_number(b, "latency", (int64_t)w->latency);
	if (w->has_record) {
		put_number(b, "cpu", w->cpu);
		buf_printf(b, ",\"in_interrupt\":%s", w->in_interrupt ? "true" : "false");
	}
	if (w->interrupt)
		api_put_text(b, "interrupt", w->interrupt);
	buf_putc(b, '}');
}

static void put_woken(const struct view_slice *s, struct buf *b)
{
	buf_puts(b, ",\"woke\":[");
	for (size_t i = 0; i < s->woke.n; i++) {
		const struct view_woken *w = &s->woke.at[i];

		buf_printf(b, "%s{\"row\":%lld,\"ts\":%lld,\"pid\":%lld,\"in_interrupt\":%s}",
			   i ? "," : "", (long long)w->row, (long long)w->ts, (long long)w->pid,
			   w->in_interrupt ? "true" : "false");
	}
	buf_putc(b, ']');
}

static void put_neighbour(const char *name, const struct view_neighbour *n, struct buf *b)
{
	if (n->is_there)
		buf_printf(b,
			   ",\"%s\":{\"start\":%lld,\"duration\":%llu,\"row\":%lld,"
			   "\"track\":%lld}",
			   name, (long long)n->start, (unsigned long long)n->dur, (long long)n->row,
			   (long long)n->track);
}

static void put_event(const struct view_slice *s, struct buf *b)
{
	buf_puts(b, ",\"event\":");
	if (s->has_event)
		buf_u64(b, s->event);
	else
		buf_puts(b, "null");
}

static void put_slice(const struct view_slice *s, struct buf *b)
{
	buf_printf(b, "{\"start\":%lld,\"duration\":%llu,\"open\":%s,\"value\":%lld",
		   (long long)s->start, (unsigned long long)s->dur, open_word(s->flags),
		   (long long)s->value);
	put_text(b, "name", &s->texts, s->name);
	if (s->task >= 0)
		put_number(b, "task", s->task);
	if (s->state)
		api_put_text(b, "state", s->state);
	if (s->kind == VIEW_EVENTS) {
		put_event(s, b);
		put_details(s, b);
	} else {
		put_details(s, b);
		put_event(s, b);
		if (s->has_waker)
			put_waker(&s->waker, b);
		put_woken(s, b);
	}
	put_neighbour("previous", &s->previous, b);
	put_neighbour("next", &s->next, b);
	buf_putc(b, '}');
}

/* Which row and time are meant. */
static int read_place(const struct api_request *q, uint64_t *row, uint64_t *ts,
		      struct spur_error *err)
{
	int rc = api_number(q, "row", row, err);

	if (rc == 0)
		rc = api_number(q, "ts", ts, err);
	return rc < 0 ? error_set(err, -EINVAL, "row=ROW and ts=TIME are missing") : 0;
}

static int answer_slice(struct view *v, const struct api_request *q, struct api_answer *a,
			struct spur_error *err)
{
	struct interval_row row;
	struct view_slice s;
	uint64_t number, track, ts;
	int rc = read_place(q, &number, &ts, err);

	if (rc == 0)
		rc = interval_place(v, number, &ts, &row, err);
	if (rc == 0)
		rc = api_number(q, "track", &track, err);
	if (rc < 0)
		return error_set(err, rc == -ENOENT && !err->code ? -EINVAL : rc,
				 "slice?row=ROW&track=TRACK&ts=TIME");
	rc = view_slice_read(&row, track < UINT32_MAX ? (uint32_t)track : UINT32_MAX, ts, q->stop,
			     &s, err);
	if (rc == 0)
		put_slice(&s, &a->body);
	view_slice_free(&s);
	return rc;
}

/* ---- chain ---- */

static int read_task(struct view *v, const struct api_request *q, struct interval_row *task,
		     uint64_t *ts, struct spur_error *err)
{
	uint64_t row;
	int rc = read_place(q, &row, ts, err);

	return rc < 0 ? rc : interval_task(v, row, ts, task, err);
}

static void put_step(const struct view_chain *c, const struct view_step *s, struct buf *b)
{
	buf_printf(b, "{\"row\":%lld,\"start\":%lld,\"end\":%lld,\"state\":\"%s\"",
		   (long long)s->row, (long long)s->start, (long long)s->end, s->state);
	if (s->why.len)
		put_text(b, "why", &c->texts, s->why);
	else
		buf_puts(b, ",\"why\":null");
	buf_putc(b, '}');
}

static int answer_chain(struct view *v, const struct api_request *q, struct api_answer *a,
			struct spur_error *err)
{
	struct interval_row task;
	struct view_chain c;
	uint64_t ts;
	int rc = read_task(v, q, &task, &ts, err);

	if (rc < 0)
		return rc;
	rc = view_chain_read(&task, ts, q->stop, &c);
	buf_putc(&a->body, '[');
	for (size_t i = 0; i < c.steps.n; i++) {
		buf_puts(&a->body, i ? "," : "");
		put_step(&c, &c.steps.at[i], &a->body);
	}
	buf_putc(&a->body, ']');
	view_chain_free(&c);
	return rc;
}

/* ---- why ---- */

static int answer_why(struct view *v, const struct api_request *q, struct api_answer *a,
		      struct spur_error *err)
{
	struct interval_row task;
	uint64_t ts;
	int rc = read_task(v, q, &task, &ts, err);
	struct why why;

	if (rc < 0)
		return rc;
	rc = view_why(&task, ts, q->stop, &why, err);
	if (rc == 0)
		why_json(&why, &a->body);
	why_free(&why);
	return rc;
}

const struct api_question api_interval[] = {
	{"slice", false, answer_slice},
	{"chain", false, answer_chain},
	{"why", false, answer_why},
	{NULL},
};
