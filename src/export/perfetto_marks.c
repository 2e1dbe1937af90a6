// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Markers that Perfetto draws, as Android's programs write them:
 *
 *	B|PID|NAME		E  E|PID		I|PID|NAME
 *	S|PID|NAME|COOKIE	F|PID|NAME|COOKIE	C|PID|NAME|VALUE
 *	N|PID|TRACK|NAME	G|PID|TRACK|NAME|COOKIE	H|PID|TRACK[|NAME]|COOKIE
 *
 * More fields may follow, except after H.
 */
#include <ctype.h>
#include <string.h>

#include "export/perfetto_parts.h"

#define MOST_DIGITS 18 /* fit into 64 bits, whatever they are */
#define PID_DIGITS  9

enum field { ANY = 1, TEXT, NUMBER, NO_MORE };

static const struct {
	char phase;
	enum field fields[3]; /* after the PID */
} marks[] = {
	{'B', {ANY}},
	{'I', {TEXT}},
	{'S', {TEXT, NUMBER}},
	{'F', {TEXT, NUMBER}},
	{'C', {TEXT, NUMBER}},
	{'N', {TEXT, TEXT}},
	{'G', {TEXT, TEXT, NUMBER}},
	{'H', {TEXT, NUMBER, NO_MORE}},
	{'H', {TEXT, ANY, NUMBER}},
};

struct rest {
	const char *at, *end; /* at is NULL when there is no field left */
};

static size_t next_field(struct rest *r, const char **field)
{
	const char *bar = memchr(r->at, '|', (size_t)(r->end - r->at));
	const char *end = bar ? bar : r->end;

	*field = r->at;
	r->at = bar ? bar + 1 : NULL;
	return (size_t)(end - *field);
}

static bool is_number(const char *text, size_t len, size_t most)
{
	if (most == MOST_DIGITS && len && *text == '-') {
		text++;
		len--;
	}
	for (size_t i = 0; i < len; i++)
		if (!isdigit((unsigned char)text[i]))
			return false;
	return len && len <= most;
}

static bool has_fields(struct rest r, const enum field *fields)
{
	const char *field;
	size_t len;

	for (int i = 0; i < 3 && fields[i]; i++) {
		if (fields[i] == NO_MORE || !r.at)
			return fields[i] == NO_MORE && !r.at;
		len = next_field(&r, &field);
		if ((fields[i] == NUMBER && !is_number(field, len, MOST_DIGITS)) ||
		    (fields[i] == TEXT && !len))
			return false;
	}
	return true;
}

bool perfetto_is_mark(const char *text, size_t len)
{
	struct rest r = {text, text + len};
	const char *field;
	char phase;

	while (r.end > text && (r.end[-1] == '\n' || !r.end[-1]))
		r.end--;
	len = next_field(&r, &field);
	if (len != 1)
		return false;
	phase = *field;
	if (!r.at)
		return phase == 'E';
	len = next_field(&r, &field);
	if (!is_number(field, len, PID_DIGITS))
		return false;
	if (phase == 'E')
		return true;
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (marks[i].phase == phase && r.at && has_fields(r, marks[i].fields))
			return true;
	return false;
}
