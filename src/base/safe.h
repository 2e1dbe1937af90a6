/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Text of strangers on a terminal. */
#ifndef BASE_SAFE_H
#define BASE_SAFE_H

#include <stddef.h>

#include "base/buf.h"

/*
 * Appends n bytes of text so that nothing in them can drive a terminal: control characters other
 * than newline and tab become '?', the two-byte ones of UTF-8 and stray bytes of it included.
 */
void buf_put_safe(struct buf *b, const char *s, size_t n);

/*
 * The same, but the colours stay that spur itself puts into what it shows. They cannot be told from
 * those in text of strangers, which therefore is cleaned before: where it is put between colours.
 */
void buf_put_shown(struct buf *b, const char *s, size_t n);

/* Makes what the buffer has from there on as buf_put_safe() would have put it. */
void buf_clean(struct buf *b, size_t from);

#endif
