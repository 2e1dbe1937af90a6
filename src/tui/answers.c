// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The viewer's questions are those of the page (view/api.h), asked in the same process: both show
 * the same, and what is hard about the answers is in one place.
 */
#include <stdio.h>
#include <string.h>

#include "tui/parts.h"
#include "view/api.h"

#define ERROR_TEXT 200

static void put_error(const struct json_value *answer, char *error, size_t size)
{
	struct json_value text;
	struct buf b;

	buf_init(&b, ERROR_TEXT);
	if (json_member(answer, "error", &text))
		json_text(&text, &b);
	snprintf(error, size, "%s", b.len ? buf_str(&b) : "there is no answer");
	buf_free(&b);
}

bool tui_ask(struct tui *t, const char *path, const char *query, struct buf *text,
	     struct json_value *out, char *error, size_t error_size)
{
	const struct api_request q = {.path = path, .query = query, .stop = t->opt.stop};
	char words[ERROR_TEXT] = "";
	struct api_answer a;
	bool good;

	api_answer(t->view, &q, &a);
	good = json_parse(a.body.data, a.body.len, out);
	if (good && a.status != 200)
		put_error(out, words, sizeof(words));
	*text = a.body;
	if (error)
		snprintf(error, error_size, "%s", words);
	else if (!good || a.status != 200)
		tui_say(t, "%s", words);
	return good && a.status == 200;
}

int64_t tui_number(const struct json_value *object, const char *name, int64_t otherwise)
{
	struct json_value v;
	uint64_t n;

	if (!json_member(object, name, &v) || v.kind != JSON_NUMBER)
		return otherwise;
	if (v.at[0] == '-') {
		/* Only digits follow, or it is none of ours. */
		struct json_value positive = {JSON_NUMBER, v.at + 1, v.len - 1};

		return json_u64(&positive, &n) && n <= INT64_MAX ? -(int64_t)n : otherwise;
	}
	return json_u64(&v, &n) && n <= INT64_MAX ? (int64_t)n : otherwise;
}

void tui_put_text(const struct json_value *object, const char *name, struct buf *out)
{
	struct json_value v;

	if (!json_member(object, name, &v))
		return;
	if (v.kind == JSON_STRING)
		json_text(&v, out);
	else if (v.kind == JSON_NUMBER)
		buf_put(out, v.at, v.len);
}
