/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing JSON and CSV text into a buffer. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stddef.h>

#include "base/buf.h"

/*
 * A JSON string with its quotes. Control characters are escaped; bytes that are no UTF-8 come out
 * as the characters of the same number, so that the result always is valid.
 */
void buf_json_string(struct buf *b, const char *s, size_t n);

/* One CSV cell (RFC 4180): quoted when it has to be, and always UTF-8, as strings of JSON. */
void buf_csv_cell(struct buf *b, const char *s, size_t n);

#endif
