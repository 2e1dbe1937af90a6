/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of a comparison share. */
#ifndef STATS_DIFF_PARTS_H
#define STATS_DIFF_PARTS_H

#include "stats/diff.h"

uint64_t diff_hash(const struct diff *d, const struct diff_family *f, const char *key);

/* Whether it has wildcards. */
bool diff_key_is_pattern(const char *key);

/* Once the tables of a trace have been made: what was around the worst ones. */
int diff_cases_read(struct diff *d, enum diff_which which, struct spur_error *err);
void diff_cases_free(struct diff_focus *f);

#endif
