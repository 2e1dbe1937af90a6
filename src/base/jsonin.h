/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading JSON text of a stranger: what a request says.
 *
 * json_parse() checks all of the text; the values it and the others hand out are parts of it, and
 * nothing is allocated. Looking up a member or an element walks over the text, which is short.
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

/* False when the text is not one JSON value with nothing but blanks around it. */
bool json_parse(const char *text, size_t len, struct json_value *out);

/* A member of an object, the first one of that name. False: there is none, or it is no object. */
bool json_member(const struct json_value *object, const char *name, struct json_value *out);

/* The elements of an array one by one; *pos is 0 at first. False after the last one. */
bool json_next(const struct json_value *array, size_t *pos, struct json_value *out);

/* Appends a string's characters as UTF-8. False when it is no string, or has a zero in it. */
bool json_text(const struct json_value *v, struct buf *out);

/* A whole number that is not negative. False: it is another one, or none. */
bool json_u64(const struct json_value *v, uint64_t *out);

#endif
