/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names the kernel takes, and names made from those of programs. */
#ifndef SYMBOLS_NAMES_H
#define SYMBOLS_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#define NAME_MAX_EVENT 63 /* letters of an event's or a group's name */

/* The length of the identifier at s, 0 when there is none. */
size_t identifier_len(const char *s);

/* Whether a text is an identifier and nothing else. */
bool is_identifier(const char *s, size_t len);

/*
 * Makes an event's name, of at most NAME_MAX_EVENT letters, from a symbol: what no identifier has
 * becomes '_'.
 */
void event_name(const char *symbol, char to[NAME_MAX_EVENT + 1]);

/*
 * The qualified name in a mangled one of C++ (or Rust): "_ZN3app4User4sizeEv" is app::User::size.
 * Parameters are left out. False when it is not mangled or too complicated: templates, operators.
 */
bool cxx_name(const char *mangled, size_t len, char *to, size_t cap);

#endif
