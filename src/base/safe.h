/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Untrusted text on a terminal. */
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
 * The same, but the colours that spur itself writes stay. They look the same as colours in
 * untrusted text, so such text must be cleaned before spur adds its own colours.
 */
void buf_put_shown(struct buf *b, const char *s, size_t n);

/* Changes the buffer's content from this offset on to what buf_put_safe() would have appended. */
void buf_clean(struct buf *b, size_t from);

#endif
