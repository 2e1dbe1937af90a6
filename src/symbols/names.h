/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names that the kernel accepts, and names derived from those of programs. */
#ifndef SYMBOLS_NAMES_H
#define SYMBOLS_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#define NAME_MAX_EVENT 63 /* letters of an event's or a group's name */

/* The length of the identifier at s, 0 when there is none. */
size_t identifier_len(const char *s);

/* Whether the whole text is an identifier. */
bool is_identifier(const char *s, size_t len);

/*
 * Makes an event's name, of at most NAME_MAX_EVENT letters, from a symbol: characters that are not
 * allowed become '_'.
 */
void event_name(const char *symbol, char to[NAME_MAX_EVENT + 1]);

/*
 * The qualified name in a mangled one of C++ (or Rust): "_ZN3app4User4sizeEv" is app::User::size.
 * Parameters are left out. False when it is not mangled or too complicated: templates, operators.
 */
bool cxx_name(const char *mangled, size_t len, char *to, size_t cap);

#endif
