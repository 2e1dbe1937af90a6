/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading untrusted JSON text, such as a request.
 *
 * json_parse() checks the whole text. Values point into the text; nothing is allocated. Looking up
 * a member or an element scans the text, which is short.
 */
#ifndef BASE_JSONIN_H
#define BASE_JSONIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define JSON_MAX_DEPTH 32

enum json_kind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json_value {
	enum json_kind kind;
	const char *at; /* its text, quotes and brackets included */
	size_t len;
};

/* False unless the text is one JSON value, possibly with blanks around it. */
bool json_parse(const char *text, size_t len, struct json_value *out);

/*
 * The first member of an object that has this name. False if there is none, or if it is no object.
 */
bool json_member(const struct json_value *object, const char *name, struct json_value *out);

/* The next element of an array; *pos is 0 before the first. False after the last one. */
bool json_next(const struct json_value *array, size_t *pos, struct json_value *out);

/* Appends a string's characters as UTF-8. False if it is no string, or contains a NUL. */
bool json_text(const struct json_value *v, struct buf *out);

/* The value of a non-negative integer. False if it is another number, or no number. */
bool json_u64(const struct json_value *v, uint64_t *out);

#endif
