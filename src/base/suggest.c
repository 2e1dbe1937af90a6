// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Edit distance by the usual table. Three rows of it are enough: a swap of neighbours needs the row
 * before the previous one.
 */
#include "base/suggest.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define LONGEST 64
/*
 * An edit costs more than a change of case, which only decides between otherwise equal candidates.
 */
#define EDIT 8
#define CASE 1

static unsigned char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (unsigned char)(c + 32) : (unsigned char)c;
}

static size_t min2(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t replace_cost(char a, char b)
{
	if (a == b)
		return 0;
	return lower(a) == lower(b) ? CASE : EDIT;
}

static size_t weighted_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	uint16_t rows[3][LONGEST + 1];

	if (a_len > LONGEST || b_len > LONGEST)
		return SIZE_MAX;
	for (size_t j = 0; j <= b_len; j++)
		rows[0][j] = (uint16_t)(j * EDIT);
	for (size_t i = 1; i <= a_len; i++) {
		uint16_t *row = rows[i % 3];
		const uint16_t *above = rows[(i + 2) % 3];
		const uint16_t *before = rows[(i + 1) % 3];

		row[0] = (uint16_t)(i * EDIT);
		for (size_t j = 1; j <= b_len; j++) {
			size_t d = above[j - 1] + replace_cost(a[i - 1], b[j - 1]);

			d = min2(d, min2(above[j], row[j - 1]) + (size_t)EDIT);
			if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
			    lower(a[i - 2]) == lower(b[j - 1]))
				d = min2(d, before[j - 2] + (size_t)EDIT);
			row[j] = (uint16_t)d;
		}
	}
	return rows[a_len % 3][b_len];
}

size_t edit_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t d = weighted_distance(a, a_len, b, b_len);

	return d == SIZE_MAX ? d : d / EDIT;
}

struct suggest suggest_for(const char *word, size_t len)
{
	return (struct suggest){.word = word, .len = len, .distance = SIZE_MAX};
}

void suggest_try(struct suggest *s, const char *candidate)
{
	size_t d = weighted_distance(s->word, s->len, candidate, strlen(candidate));

	if (d < s->distance) {
		s->distance = d;
		s->best = candidate;
	}
}

const char *suggest_best(const struct suggest *s)
{
	/* One edit in three letters: "pdi" is pid, but "foo" is nothing. */
	size_t allowed = s->len < 3 ? 1 : (s->len + 1) / 3;

	return s->best && s->distance < (allowed + 1) * EDIT ? s->best : NULL;
}

const char *suggest_hint(struct suggest *s)
{
	const char *best = suggest_best(s);

	if (best)
		snprintf(s->hint, sizeof(s->hint), "; did you mean '%s'?", best);
	return s->hint;
}

const char *suggest_hint_or(struct suggest *s, const char *otherwise)
{
	return suggest_best(s) ? suggest_hint(s) : otherwise;
}
