// SPDX-License-Identifier: GPL-2.0-or-later
/* From a URL to the function that answers, and what these have in common. */
#include "view/api/api.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/jsonin.h"
#include "base/num.h"
#include "base/vec.h"

#define MAX_ANSWER (128u << 20)
#define MAX_TEXT   (1u << 20) /* of a number or a list in a query */

static const struct api_question *const tables[] = {
	api_picture, api_records, api_interval, api_search, api_statistics, api_sql, api_record,
};

/* ---- who answers ---- */

static const struct api_question *find_question(const char *path, bool post, bool *known)
{
	*known = false;
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		for (const struct api_question *q = tables[i]; q->path; q++) {
			if (strcmp(q->path, path) != 0)
				continue;
			*known = true;
			if (q->post == post)
				return q;
		}
	}
	return NULL;
}

static int http_status(int rc)
{
	switch (rc) {
	case -ENOENT: return 404;
	case -EAGAIN:
	case -EINTR: return 503;
	case -EINVAL: return 400;
	case -E2BIG: return 413;
	case -EPERM:
	case -EACCES: return 403;
	default: return 500;
	}
}

static void put_error(struct api_answer *a, int status, const char *text)
{
	struct json_writer w = {&a->body};

	buf_reset(&a->body);
	a->status = status;
	a->type = "application/json";
	json_object(&w);
	json_put_text(json_key(&w, "error"), text);
	json_end_object(&w);
}

void api_answer(struct view *v, const struct api_request *q, struct api_answer *a)
{
	struct spur_error err = {0};
	const struct api_question *question;
	bool known;
	int rc;

	buf_init(&a->body, MAX_ANSWER);
	a->status = 0;
	a->type = "application/json";
	question = find_question(q->path, q->body, &known);
	if (!question) {
		put_error(a, known ? 405 : 404,
			  known ? "this is asked in another way (GET, POST)"
				: "there is no such question");
		return;
	}
	rc = question->answer(v, q, a, &err);
	if (rc < 0) {
		error_sys(&err, rc, "%s", question->path);
		put_error(a, a->status ? a->status : http_status(rc), err.text);
	} else if (buf_full(&a->body)) {
		put_error(a, 413, "the answer is too large: ask for less at a time");
	} else if (!a->status) {
		a->status = 200;
	}
}

/* ---- parameters ---- */

/* What is no valid escape stays as it is, and so does that of a zero, which would end the text. */
static void decode(const char *text, size_t len, struct buf *out)
{
	for (size_t i = 0; i < len; i++) {
		int high = i + 2 < len && text[i] == '%' ? num_hex_digit(text[i + 1]) : -1;
		int low = high >= 0 ? num_hex_digit(text[i + 2]) : -1;

		if (low >= 0 && (high || low)) {
			buf_putc(out, (char)(high << 4 | low));
			i += 2;
		} else {
			buf_putc(out, text[i] == '+' ? ' ' : text[i]);
		}
	}
}

bool api_text(const struct api_request *q, const char *name, struct buf *out)
{
	const size_t len = strlen(name);

	for (const char *at = q->query, *next; *at; at = next) {
		const size_t end = strcspn(at, "&");

		next = at + end + (at[end] == '&');
		if (end < len || memcmp(at, name, len) != 0 || (end > len && at[len] != '='))
			continue;
		if (end > len)
			decode(at + len + 1, end - len - 1, out);
		return true;
	}
	return false;
}

static bool read_number(const char **at, uint64_t *out)
{
	uint64_t n = 0;
	const char *s = *at;

	for (; *s >= '0' && *s <= '9'; s++)
		if (__builtin_mul_overflow(n, 10u, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*s - '0'), &n))
			return false;
	if (s == *at)
		return false;
	*at = s;
	*out = n;
	return true;
}

int api_number(const struct api_request *q, const char *name, uint64_t *out, struct spur_error *err)
{
	scoped_buf text = buf_new(MAX_TEXT);
	const char *at;
	uint64_t n;

	if (!api_text(q, name, &text))
		return -ENOENT;
	at = buf_str(&text);
	if (!read_number(&at, &n) || *at)
		return error_set(err, -EINVAL, "%s: '%.40s' is no number", name, buf_str(&text));
	*out = n;
	return 0;
}

int api_optional(const struct api_request *q, const char *name, uint64_t *out, bool *there,
		 struct spur_error *err)
{
	int rc = api_number(q, name, out, err);

	if (there)
		*there = rc == 0;
	return rc == -ENOENT ? 0 : rc;
}

int api_no_search(uint64_t id, struct spur_error *err)
{
	return error_set(err, -ENOENT, "there is no search %llu any more", (unsigned long long)id);
}

struct view_search *api_search_get(struct view *v, uint64_t id, struct spur_error *err)
{
	struct view_search *s = view_search_get(v, id);

	if (!s)
		api_no_search(id, err);
	return s;
}

/* ---- rows ---- */

/* For each row how many ranges begin with it, less those that ended before it. */
struct marks {
	int32_t *at;
	uint32_t rows;
};

static void mark(struct marks *m, uint64_t first, uint64_t last)
{
	if (first >= m->rows || first > last)
		return;
	m->at[first]++;
	if (last < m->rows - 1)
		m->at[last + 1]--;
}

static int collect(const struct marks *m, struct api_rows *out)
{
	int32_t open = 0;

	for (uint32_t i = 0; i < m->rows; i++) {
		open += m->at[i];
		if (open && !vec_add(out, &i))
			return -ENOMEM;
	}
	return 0;
}

static bool mark_text(struct marks *m, const char *text)
{
	for (const char *at = text; *at;) {
		uint64_t first, last;

		if (!read_number(&at, &first))
			return false;
		last = first;
		if (*at == '-') {
			at++;
			if (!read_number(&at, &last))
				return false;
		}
		mark(m, first, last);
		if (*at && *at++ != ',')
			return false;
	}
	return true;
}

int api_parse_rows(const char *text, uint32_t nr, struct api_rows *out, struct spur_error *err)
{
	struct marks m = {.rows = nr};
	int rc;

	m.at = calloc((size_t)m.rows + 1, sizeof(*m.at));
	if (!m.at)
		return error_set(err, -ENOMEM, "out of memory");
	rc = mark_text(&m, text)
		     ? collect(&m, out)
		     : error_set(err, -EINVAL, "'%.40s' is no list of rows, as 1,5-9 is one", text);
	free(m.at);
	return rc;
}

int api_rows(struct view *v, const struct api_request *q, struct api_rows *out,
	     struct spur_error *err)
{
	scoped_buf text = buf_new(MAX_TEXT);

	if (!api_text(q, "rows", &text))
		return -ENOENT;
	return api_parse_rows(buf_str(&text), view_rows(v), out, err);
}

void api_rows_free(struct api_rows *rows)
{
	vec_free(rows);
}

/* ---- bodies ---- */

static bool body_member(const struct api_request *q, const char *name, struct json_value *out)
{
	struct json_value all;

	return q->body && json_parse(q->body, q->body_len, &all) && json_member(&all, name, out);
}

bool api_body_text(const struct api_request *q, const char *name, struct buf *out)
{
	struct json_value value;

	return body_member(q, name, &value) && json_text(&value, out);
}

int api_body_string(const struct api_request *q, const char *name, struct buf *out,
		    struct spur_error *err)
{
	struct json_value value;

	if (!body_member(q, name, &value) || value.kind == JSON_NULL)
		return -ENOENT;
	if (!json_text(&value, out))
		return error_set(err, -EINVAL, "%s: no text", name);
	return buf_full(out) ? error_set(err, -EINVAL, "%s: the text is too long", name) : 0;
}

int api_body_number(const struct api_request *q, const char *name, uint64_t *out,
		    struct spur_error *err)
{
	struct json_value value;

	if (!body_member(q, name, &value) || value.kind == JSON_NULL)
		return -ENOENT;
	return json_u64(&value, out) ? 0 : error_set(err, -EINVAL, "%s: no whole number", name);
}

int api_body_rows(struct view *v, const struct api_request *q, const char *name,
		  struct api_rows *out, struct spur_error *err)
{
	struct marks m = {.rows = view_rows(v)};
	struct json_value list, value;
	size_t pos = 0;
	uint64_t row;
	int rc = 0;

	if (!body_member(q, name, &list) || list.kind == JSON_NULL)
		return -ENOENT;
	m.at = calloc((size_t)m.rows + 1, sizeof(*m.at));
	if (!m.at)
		return error_set(err, -ENOMEM, "out of memory");
	if (list.kind != JSON_ARRAY)
		rc = error_set(err, -EINVAL, "%s: no array of rows", name);
	while (rc == 0 && json_next(&list, &pos, &value)) {
		if (json_u64(&value, &row))
			mark(&m, row, row);
		else
			rc = error_set(err, -EINVAL, "%s: no array of rows", name);
	}
	if (rc == 0)
		rc = collect(&m, out);
	free(m.at);
	return rc;
}
