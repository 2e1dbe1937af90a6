/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Formats scripts: one statement a line, tabs, 100 columns. Only blanks, line ends and optional
 * semicolons change; comments stay next to the code they are about. Formatting the result again
 * changes nothing.
 *
 * Definitions in C and lines of the preprocessor stay as they are.
 */
#ifndef LANG_FORMAT_H
#define LANG_FORMAT_H

#include <spur/error.h>

#include "base/buf.h"

/* The text must be a script that the parser accepts; -EINVAL if it is not. */
int format_script(const char *text, size_t len, struct buf *to, struct spur_error *err);

#endif
