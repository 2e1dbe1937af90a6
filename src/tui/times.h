/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Times for people. Where a clock does not count nanoseconds, numbers are what the trace says.
 */
#ifndef TUI_TIMES_H
#define TUI_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIMES_TEXT 48 /* enough for any of these */

/* A time on the trace's time line, all digits: "44.776459123". Returns text. */
const char *time_stamp(char *text, uint64_t ts, bool nanoseconds);
/* A duration, all digits: "3.540877 ms"; and with about four of them: "3.541ms". */
const char *time_exact(char *text, uint64_t ns, bool nanoseconds);
const char *time_short(char *text, uint64_t ns, bool nanoseconds);

/* 1, 2 or 5 times a power of ten, at least so many. */
uint64_t time_step(uint64_t at_least);

/*
 * Labels of an axis with steps: what all of them have in common, on the trace's time line, and the
 * rest of each: "+20ms".
 */
uint64_t time_base(uint64_t since, uint64_t step);
const char *time_label(char *text, uint64_t since_base, uint64_t step, bool nanoseconds);
const char *time_base_text(char *text, uint64_t base, bool nanoseconds);

/*
 * What people type: "44.7764", "+20ms", "-1s", "250us", "50%". A sign is relative to `cursor`, a
 * unit or a per cent to the begin at `origin`, a plain number is seconds on the trace's time line.
 */
bool time_parse(const char *text, uint64_t origin, uint64_t duration, uint64_t cursor,
		bool nanoseconds, uint64_t *relative);

#endif
