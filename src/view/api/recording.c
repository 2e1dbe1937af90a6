// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The dialog that records: questions for the broker. A recording that is over becomes one more file
 * of the view, once.
 */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/jsonin.h"
#include "base/strings.h"
#include "view/api/api.h"
#include "view/serve/broker.h"

#define MAX_WORD 4096

static struct broker *get_broker(struct view *v, struct spur_error *err)
{
	struct broker *b = view_broker(v);

	if (!b)
		error_set(err, -EPERM,
			  "this view cannot record: 'spur view --record', started by root, can");
	return b;
}

static int answer_events(struct view *v, const struct api_request *q, struct api_answer *a,
			 struct spur_error *err)
{
	struct json_writer w = {&a->body};
	struct broker *b = get_broker(v, err);
	scoped_buf match = buf_new(MAX_WORD);
	scoped_buf names = buf_new(1u << 20);
	uint64_t total = 0;
	int rc;

	api_text(q, "match", &match);
	rc = b ? broker_events(b, buf_str(&match), &names, &total, err) : -EPERM;
	if (rc < 0)
		return rc;
	json_object(&w);
	json_put_u64(json_key(&w, "total"), total);
	json_array(json_key(&w, "events"));
	for (const char *at = buf_str(&names); *at;) {
		const size_t len = strcspn(at, "\n");

		json_put_bytes(&w, at, len);
		at += len + (at[len] == '\n');
	}
	json_end_array(&w);
	json_end_object(&w);
	return 0;
}

/* ---- begin ---- */

static int read_names(const struct api_request *q, struct strings *names, struct spur_error *err)
{
	struct json_value all, list, each;
	size_t pos = 0;
	scoped_buf text = buf_new(MAX_WORD);

	if (!json_parse(q->body, q->body_len, &all) || !json_member(&all, "events", &list) ||
	    list.kind != JSON_ARRAY)
		return error_set(err, -EINVAL, "the question is {\"events\": [\"sched_switch\"]}");
	while (json_next(&list, &pos, &each)) {
		buf_reset(&text);
		if (!json_text(&each, &text) || buf_full(&text))
			return error_set(err, -EINVAL, "an event's name is a text");
		if (!strings_add(names, buf_str(&text)))
			return error_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

static int answer_start(struct view *v, const struct api_request *q, struct api_answer *a,
			struct spur_error *err)
{
	struct broker *b = get_broker(v, err);
	struct strings names = {0};
	uint64_t seconds = 0;
	scoped_buf filter = buf_new(MAX_WORD);
	int rc = b ? read_names(q, &names, err) : -EPERM;

	/* Events that could not be shown are not recorded. */
	if (rc == 0 && view_nr_files(v) >= VIEW_MOST_FILES)
		rc = error_set(err, -EDQUOT, "no more than %d files can be looked at together",
			       VIEW_MOST_FILES);
	if (rc == 0)
		rc = api_body_number(q, "seconds", &seconds, err);
	if (rc == 0 || rc == -ENOENT) {
		const bool filtered = api_body_text(q, "filter", &filter);
		const struct broker_wish wish = {
			.events = (const char *const *)names.at,
			.nr = names.n,
			.filter = filtered ? buf_str(&filter) : NULL,
			.seconds = seconds < UINT32_MAX ? (uint32_t)seconds : UINT32_MAX,
		};

		rc = buf_full(&filter) ? error_set(err, -E2BIG, "the filter is too long")
				       : broker_record(b, &wish, err);
	}
	if (rc == -EBUSY || rc == -EDQUOT)
		a->status = 409;
	if (rc == 0)
		buf_puts(&a->body, "{}");
	strings_free(&names);
	return rc;
}

/* ---- state and end ---- */

/* Opens the recording that is over, if that has not been done. */
static int take_recording(struct view *v, struct broker *b, char *path, size_t cap,
			  struct spur_error *err)
{
	int fd = broker_finish(b, path, cap, err);

	return fd < 0 ? fd : view_add(v, path, fd, err);
}

static int answer_state(struct view *v, const struct api_request *q, struct api_answer *a,
			struct spur_error *err)
{
	static const char *const words[] = {"idle", "recording", "done", "failed"};
	struct json_writer w = {&a->body};
	struct broker *b = get_broker(v, err);
	struct broker_status s = {0};
	struct spur_error none = {0};
	char path[512];
	int rc = b ? broker_status(b, &s, err) : -EPERM;

	if (rc < 0)
		return rc;
	if (s.state == BROKER_DONE)
		take_recording(v, b, path, sizeof(path), &none);
	s.path[sizeof(s.path) - 1] = s.error[sizeof(s.error) - 1] = '\0';
	json_object(&w);
	json_put_text(json_key(&w, "state"), s.state <= BROKER_FAILED ? words[s.state] : "failed");
	json_put_printf(json_key(&w, "seconds"), "%.1f", s.seconds);
	json_put_u64(json_key(&w, "events"), s.events);
	json_put_u64(json_key(&w, "lost"), s.lost);
	json_put_u64(json_key(&w, "bytes"), s.bytes);
	if (*s.path)
		json_put_text(json_key(&w, "path"), s.path);
	if (*s.error)
		json_put_text(json_key(&w, "error"), s.error);
	json_end_object(&w);
	return 0;
}

static int answer_stop(struct view *v, const struct api_request *q, struct api_answer *a,
		       struct spur_error *err)
{
	struct json_writer w = {&a->body};
	struct broker *b = get_broker(v, err);
	struct broker_status s = {0};
	char path[512] = "";
	int rc = b ? take_recording(v, b, path, sizeof(path), err) : -EPERM;

	/* The recording ended by itself. The next request for its state opens it. */
	if (rc == -ENOENT && broker_status(b, &s, NULL) == 0 && s.state == BROKER_DONE) {
		memcpy(path, s.path, sizeof(path));
		path[sizeof(path) - 1] = '\0';
		rc = 0;
	}
	if (rc < 0)
		return rc;
	json_object(&w);
	json_put_text(json_key(&w, "path"), path);
	json_end_object(&w);
	return 0;
}

const struct api_question api_record[] = {
	{"record/events", false, answer_events},
	{"record/start", true, answer_start},
	{"record/state", false, answer_state},
	{"record/stop", true, answer_stop},
	{NULL},
};
