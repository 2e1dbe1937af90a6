/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Untrusted text in XML and HTML. */
#ifndef BASE_XML_H
#define BASE_XML_H

#include <stddef.h>
#include <string.h>

#include "base/buf.h"

/*
 * Appends n bytes of text as it may stand between tags and in quoted attributes. U+FFFD replaces
 * what XML does not allow: bytes that are no UTF-8, control characters (tab and newline become
 * spaces), characters that change the direction of text.
 */
void buf_put_xml(struct buf *b, const char *s, size_t n);

/* The same of a whole text. */
static inline void buf_puts_xml(struct buf *b, const char *s)
{
	buf_put_xml(b, s, strlen(s));
}

/* The same for at most `chars` characters. Returns how many bytes of s these are. */
size_t buf_put_xml_chars(struct buf *b, const char *s, size_t n, size_t chars);

/* How many characters buf_put_xml() would append. */
size_t xml_chars(const char *s, size_t n);

#endif
