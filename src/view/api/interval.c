// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An interval as JSON with all that belongs to it, the way back over what it waited for, and why it
 * waited, in words.
 */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "view/answers/interval.h"
#include "view/api/api.h"

/* ---- slice ---- */

static const char *open_word(uint32_t flags)
{
	static const char *const words[] = {NULL, "start", "end", "both"};

	return words[(flags & VIEW_OPEN_START ? 1 : 0) + (flags & VIEW_OPEN_END ? 2 : 0)];
}

static void put_details(const struct view_slice *s, struct json_writer *w)
{
	json_array(json_key(w, "details"));
	vec_each (d, &s->details) {
		json_object(w);
		json_put_text(json_key(w, "label"), d->label);
		api_put_text(w, "text", &s->texts, d->text);
		json_end_object(w);
	}
	json_end_array(w);
}

static void put_waker(const struct view_waker *waker, struct json_writer *w)
{
	json_object(json_key(w, "waker"));
	json_put_i64(json_key(w, "row"), waker->who.row);
	json_put_i64(json_key(w, "ts"), waker->ts);
	if (waker->has_latency)
		json_put_u64(json_key(w, "latency"), waker->latency);
	if (waker->who.has_record) {
		json_put_u64(json_key(w, "cpu"), waker->who.cpu);
		json_put_bool(json_key(w, "in_interrupt"), waker->who.in_interrupt);
	}
	if (waker->interrupt)
		json_put_text(json_key(w, "interrupt"), waker->interrupt);
	json_end_object(w);
}

static void put_woken(const struct view_slice *s, struct json_writer *w)
{
	json_array(json_key(w, "woke"));
	vec_each (woken, &s->woke) {
		json_object(w);
		json_put_i64(json_key(w, "row"), woken->row);
		json_put_i64(json_key(w, "ts"), woken->ts);
		json_put_i64(json_key(w, "pid"), woken->pid);
		json_put_bool(json_key(w, "in_interrupt"), woken->in_interrupt);
		json_end_object(w);
	}
	json_end_array(w);
}

static void put_neighbour(const char *name, const struct view_neighbour *n, struct json_writer *w)
{
	if (!n->is_there)
		return;
	json_object(json_key(w, name));
	json_put_i64(json_key(w, "start"), n->start);
	json_put_u64(json_key(w, "duration"), n->dur);
	json_put_i64(json_key(w, "row"), n->row);
	json_put_i64(json_key(w, "track"), n->track);
	json_end_object(w);
}

static void put_event(const struct view_slice *s, struct json_writer *w)
{
	json_put_i64_or_null(json_key(w, "event"), s->has_event ? (int64_t)s->event : -1, -1);
}

static void put_slice(const struct view_slice *s, struct json_writer *w)
{
	json_object(w);
	json_put_i64(json_key(w, "start"), s->start);
	json_put_u64(json_key(w, "duration"), s->dur);
	json_put_text(json_key(w, "open"), open_word(s->flags));
	json_put_i64(json_key(w, "value"), s->value);
	api_put_text(w, "name", &s->texts, s->name);
	if (s->task >= 0)
		json_put_i64(json_key(w, "task"), s->task);
	if (s->state)
		json_put_text(json_key(w, "state"), s->state);
	if (s->kind == VIEW_EVENTS) {
		put_event(s, w);
		put_details(s, w);
	} else {
		put_details(s, w);
		put_event(s, w);
		if (s->has_waker)
			put_waker(&s->waker, w);
		put_woken(s, w);
	}
	put_neighbour("previous", &s->previous, w);
	put_neighbour("next", &s->next, w);
	json_end_object(w);
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
	struct json_writer w = {&a->body};
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
		put_slice(&s, &w);
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

static void put_step(const struct view_chain *c, const struct view_step *s, struct json_writer *w)
{
	json_object(w);
	json_put_i64(json_key(w, "row"), s->row);
	json_put_i64(json_key(w, "start"), s->start);
	json_put_i64(json_key(w, "end"), s->end);
	json_put_text(json_key(w, "state"), s->state);
	if (s->why.len)
		api_put_text(w, "why", &c->texts, s->why);
	else
		json_put_null(json_key(w, "why"));
	json_end_object(w);
}

static int answer_chain(struct view *v, const struct api_request *q, struct api_answer *a,
			struct spur_error *err)
{
	struct json_writer w = {&a->body};
	struct interval_row task;
	struct view_chain c;
	uint64_t ts;
	int rc = read_task(v, q, &task, &ts, err);

	if (rc < 0)
		return rc;
	rc = view_chain_read(&task, ts, q->stop, &c);
	json_array(&w);
	vec_each (step, &c.steps)
		put_step(&c, step, &w);
	json_end_array(&w);
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
