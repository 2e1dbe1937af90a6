/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Untrusted text in XML and HTML. */
#ifndef BASE_XML_H
#define BASE_XML_H

#include <stddef.h>

#include "base/buf.h"

/*
 * Appends n bytes of text as it may stand between tags and in quoted attributes. U+FFFD replaces
 * what XML does not allow: bytes that are no UTF-8, control characters (tab and newline become
 * spaces), characters that change the direction of text.
 */
void buf_put_xml(struct buf *b, const char *s, size_t n);

/* The same of the first `chars` characters at most. Returns how many bytes of s these are. */
size_t buf_put_xml_chars(struct buf *b, const char *s, size_t n, size_t chars);

/* How many characters buf_put_xml() would append. */
size_t xml_chars(const char *s, size_t n);

#endif
