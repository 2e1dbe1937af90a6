/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/tui: what the parts of the viewer for terminals offer to each other. */
#ifndef TUI_INTERNAL_H
#define TUI_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/tui.h"

/* ---- keys.c: which time is seen ---- */

struct column_scale tui_scale(const struct tui *t);
/* Begin and end of everything; the end is not in it. */
struct tui_range tui_everything(const struct tui *t);
/* Shows a range, as far as possible. `remember`: the user can go back to the previous one. */
void tui_show(struct tui *t, struct tui_range r, bool remember);
/* Everything there is; while files are read, that becomes more. */
void tui_show_all(struct tui *t, bool remember);
/* Moves the cursor to a time. The visible range moves if the time is outside. The list follows. */
void tui_go(struct tui *t, uint64_t ts);
/* The same, for the code that moves the list. */
void tui_cursor(struct tui *t, uint64_t ts);
void tui_zoom(struct tui *t, double factor, uint64_t around);
/* The time between the markers; false: there is none. */
bool tui_marked_range(const struct tui *t, struct tui_range *out);

/* ---- rows.c: which lines there are ---- */

/* Whether the events of a CPU are asked for (--cpu). */
bool tui_cpu_wanted(const struct tui *t, int64_t cpu);
/* Makes the items anew; the selected one stays. 0 or -ENOMEM. */
int tui_rows(struct tui *t);
void tui_select(struct tui *t, int64_t item);
bool tui_select_row(struct tui *t, uint32_t row);
/* A function of a key; `how` has no meaning. */
void tui_fold(struct tui *t, int32_t how);
/* The main track of a row, -1: it only has events. */
int64_t tui_main_track(const struct view_row *r);
/* "bash-123", "CPU 3", … */
void tui_row_name(const struct tui *t, const struct view_row *r, struct buf *out);
/* What a value of a track is called. */
void tui_value_name(struct tui *t, const struct view_row *r, enum view_track_kind kind,
		    uint32_t value, struct buf *out);
const char *tui_kind_name(enum view_track_kind kind);
/* The interval of an item that covers a time, relative; on a task's row also its waiting. */
bool tui_slice_at(struct tui *t, const struct tui_item *item, uint64_t ts,
		  struct view_interval *out, uint32_t *track);

/* ---- list.c: the list of events ---- */

/* Asks for what is to be seen, where it is not there yet; lets list and cursor follow. */
void tui_list_update(struct tui *t);
void tui_list_move(struct tui *t, int64_t by);
void tui_list_to(struct tui *t, uint64_t position);
const struct view_record *tui_list_event(const struct tui *t, uint64_t position);
/* How many can be listed. */
uint64_t tui_list_total(struct tui *t);
/* Bytes that are no UTF-8 become characters: a terminal shows nothing else. */
void tui_put_text(const struct buf *texts, struct view_text text, struct buf *out);

/* ---- list.c: searches ---- */

void tui_search_start(struct tui *t, const char *text);
/* The same for nothing but a filter, NULL: everything on the CPUs that are wanted. */
int tui_search_filter(struct tui *t, const char *filter, struct spur_error *err);
void tui_search_end(struct tui *t);
/* Whether anything has changed. */
bool tui_search_news(struct tui *t);
void tui_search_step(struct tui *t, int dir);

/* ---- pages.c ---- */

void tui_page_close(struct tui *t);
void tui_page_scroll(struct tui *t, int64_t by);
/* Functions of keys (struct tui_binding); `how` has no meaning. */
void tui_page_details(struct tui *t, int32_t how);
void tui_page_help(struct tui *t, int32_t how);
void tui_page_sums(struct tui *t, int32_t how);
/* Who woke the selected slice: goes there. */
void tui_waker(struct tui *t, int32_t how);

/* ---- keys.c: what is typed ---- */

const char *tui_prompt_words(enum tui_prompt_kind kind);

/* ---- drawing: draw.c, draw_rows.c ---- */

void tui_lay_out(struct tui *t);
void tui_draw_rows(struct tui *t);
/* Styles that mean the same everywhere. */
struct screen_style tui_fill(const struct tui *t, int16_t colour);  /* a part of a cell */
struct screen_style tui_paint(const struct tui *t, int16_t colour); /* with letters on it */
struct screen_style tui_chosen(const struct tui *t, bool focused);

/*
 * ---- times.c: times for people ----
 *
 * Where a clock does not count nanoseconds, numbers are what the trace says.
 */

#define TIMES_TEXT 48 /* enough for any of these */

/* A time on the trace's time line, all digits: "44.776459123". Returns text. */
const char *time_stamp(char *text, uint64_t ts, bool nanoseconds);
/* A duration, all digits: "3.540877 ms"; and with about four of them: "3.541ms". */
const char *time_exact(char *text, uint64_t ns, bool nanoseconds);
const char *time_short(char *text, uint64_t ns, bool nanoseconds);

/* The stamp of a relative time. */
const char *tui_stamp(const struct tui *t, char *text, uint64_t ts);

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
