/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scripts as they should look: one statement a line, tabs, 100 columns. Only blanks and line ends
 * are changed, and semicolons added where none was needed; comments stay beside what they are
 * about. What has been laid out is laid out the same again.
 *
 * Definitions in C and lines of the preprocessor stay as they are.
 */
#ifndef LANG_FORMAT_H
#define LANG_FORMAT_H

#include <spur/error.h>

#include "base/buf.h"

/* The text must be a script that can be parsed. -EINVAL where it cannot be told what it is. */
int fmt_script(const char *text, size_t len, struct buf *to, struct spur_error *err);

#endif
