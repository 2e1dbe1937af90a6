// SPDX-License-Identifier: GPL-2.0-or-later
/* Rows by what people call them: "cpu0-3", "1234", "postgres*". */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/pattern.h"
#include "base/vec.h"
#include "view/draw.h"

struct wish {
	enum view_row_kind kind;
	int64_t first, last; /* numbers, or … */
	struct pattern name; /* … the name of a task, when it is compiled */
};

/* "12" or "12-15" up to the end; false: it is something else. */
static bool read_numbers(const char *s, size_t len, int64_t *first, int64_t *last)
{
	char text[32], *end;

	if (!len || len >= sizeof(text) || s[0] < '0' || s[0] > '9')
		return false;
	memcpy(text, s, len);
	text[len] = '\0';
	*first = *last = strtoll(text, &end, 10);
	if (*end == '-' && end[1] >= '0' && end[1] <= '9')
		*last = strtoll(end + 1, &end, 10);
	return !*end && *first <= *last;
}

static int read_wish(const char *word, size_t len, struct wish *w, struct spur_error *err)
{
	*w = (struct wish){.kind = VIEW_TASK_ROW};
	if (read_numbers(word, len, &w->first, &w->last))
		return 0;
	if (len >= 3 && strncasecmp(word, "cpu", 3) == 0) {
		w->kind = VIEW_CPU_ROW;
		if (len == 3 || (len == 4 && word[3] == '*')) {
			w->last = INT64_MAX;
			return 0;
		}
		if (read_numbers(word + 3, len - 3, &w->first, &w->last))
			return 0;
		w->kind = VIEW_TASK_ROW;
	}
	return pattern_glob(&w->name, word, len, err);
}

static bool is_wished(const struct wish *w, const struct view_row *r)
{
	if (r->kind != w->kind)
		return false;
	if (w->name.kind == PATTERN_NONE)
		return r->number >= w->first && r->number <= w->last;
	if (r->name && pattern_match(&w->name, r->name, strlen(r->name)))
		return true;
	for (uint32_t i = 0; i < r->nr_older; i++)
		if (pattern_match(&w->name, r->older[i], strlen(r->older[i])))
			return true;
	return false;
}

struct found {
	uint32_t row;
	int64_t number;
};

static int by_number(const void *pa, const void *pb)
{
	const struct found *a = pa, *b = pb;

	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

static bool contains(const struct draw_rows *rows, uint32_t row)
{
	for (size_t i = 0; i < rows->n; i++)
		if (rows->at[i] == row)
			return true;
	return false;
}

/* The rows of one word, by their numbers. */
static int add_wished(struct view *v, const struct wish *w, struct draw_rows *out, size_t *nr)
{
	const uint32_t rows = view_rows(v);
	struct {
		struct found *at;
		size_t n, cap;
	} found = {0};
	int rc = 0;

	for (uint32_t i = 0; i < rows && rc == 0; i++) {
		struct view_place at;
		struct view_row r;
		struct found *f;

		if (!view_row(v, i, &at, &r) || !is_wished(w, &r))
			continue;
		f = vec_push(&found);
		if (f)
			*f = (struct found){i, r.number};
		else
			rc = -ENOMEM;
	}
	*nr = found.n;
	if (found.n)
		qsort(found.at, found.n, sizeof(*found.at), by_number);
	for (size_t i = 0; i < found.n && rc == 0; i++) {
		uint32_t *slot;

		if (contains(out, found.at[i].row))
			continue;
		slot = vec_push(out);
		if (slot)
			*slot = found.at[i].row;
		else
			rc = -ENOMEM;
	}
	vec_free(&found);
	return rc;
}

int draw_choose(struct view *v, const char *words, struct draw_rows *out, struct spur_error *err)
{
	while (*words) {
		const size_t len = strcspn(words, ",");
		struct wish w;
		size_t nr = 0;
		int rc = len ? read_wish(words, len, &w, err) : 0;

		if (rc < 0)
			return rc;
		if (len) {
			rc = add_wished(v, &w, out, &nr);
			pattern_free(&w.name);
		}
		if (rc < 0)
			return error_set(err, rc, "out of memory");
		if (len && !nr)
			return error_set(err, -EINVAL, "no row is '%.*s'", (int)len, words);
		words += len + (words[len] == ',');
	}
	return out->n ? 0 : error_set(err, -EINVAL, "no rows are named");
}
