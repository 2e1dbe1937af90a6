/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What probes in functions and those built into programs share: the binaries a word means. */
#ifndef PROBE_PROBES_USER_H
#define PROBE_PROBES_USER_H

#include "probe/probes_parts.h"
#include "probe/path.h"

/*
 * Paths in the world's arena; the list is freed with vec_free(). word may be NULL for the traced
 * program, "*" for everything it has loaded, or a pattern of paths. Errors are told.
 */
int user_binaries(struct match *m, const char *word, struct paths *list);

/* BINARY@FILE:LINE: whether words are that, and what they mean. */
bool is_line_probe(const struct match *m);
int match_line(struct match *m);

/* What names of probes show: a path as it was written, or else where the binary was found. */
const char *user_shown(const char *word, const char *path);

#endif
