/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The viewer for terminals, without a terminal: what it shows and what keys do to that.
 *
 *	title, overview of the whole trace, axis	what there is, and which part is seen
 *	rows: events, hits, CPUs, tasks			the time line
 *	events around the cursor			the list
 *	cursor and markers, messages or a prompt
 *
 * The owner of a terminal calls tui_key() and tui_mouse() for what the user does, tui_resize() when
 * it changes, tui_news() now and then, and tui_draw() after each; tui_key() says when it is over.
 * Times are relative to the view's origin. One thread uses it.
 *
 * The range that is seen is never empty, the cursor is always in it, and the selected item exists
 * whenever there are any.
 */
#ifndef TUI_TUI_H
#define TUI_TUI_H

#include "base/buf.h"
#include "base/vec.h"
#include "tui/screen.h"
#include "view/answers/records.h"
#include "view/view.h"

/*
 * A track as columns of a terminal: of each how much of its time is covered, by what, and how many
 * records are in it.
 *
 * A column of a terminal is a hundredth of the picture: much more happens in it than in one of
 * pixels (view/draw/columns.c), so times are summed up by value, and slices are not rounded to it.
 */
#define COLUMN_VALUES 4 /* that are distinguished in a column */

struct tui_column {
	uint64_t busy;	/* nanoseconds that are covered */
	uint64_t count; /* of ticks: records */
	uint32_t value; /* that covers most, … */
	uint64_t most;	/* … and how much */
	bool whole;	/* by one slice from end to end */
	struct {
		uint32_t value;
		uint64_t ns;
	} parts[COLUMN_VALUES];
};

/* Which time is in how many columns. `until` is not in it and is more than `since`. */
struct column_scale {
	uint64_t since, until;
	int32_t width;
};

/* The column that a time is in, below 0 or beyond the width where it is none. */
int32_t column_at(const struct column_scale *s, uint64_t ts);
/* The first time that is in a column, or would be if it is on no screen. */
uint64_t column_time(const struct column_scale *s, int32_t column);

/* Values are those of the track, `map` of them if it is not NULL. 0 or -ENOMEM. */
int columns_fill(struct view *v, uint32_t row, uint32_t track, const struct column_scale *s,
		 uint32_t (*map)(uint32_t value), struct view_tile *tile, struct tui_column *out);

/* Keys are characters; those that are none have these numbers. */
enum tui_key {
	TUI_ENTER = '\n',
	TUI_ESCAPE = 27,
	TUI_TAB = '\t',
	TUI_UP = 0x110000,
	TUI_DOWN,
	TUI_LEFT,
	TUI_RIGHT,
	TUI_HOME,
	TUI_END,
	TUI_PAGE_UP,
	TUI_PAGE_DOWN,
	TUI_BACKSPACE,
	TUI_DELETE,
};

enum tui_mouse { TUI_CLICK, TUI_DOUBLE_CLICK, TUI_WHEEL_UP, TUI_WHEEL_DOWN };

enum tui_focus { TUI_TIMELINE, TUI_LIST };
enum tui_which { TUI_ALL_ROWS, TUI_CPU_ROWS, TUI_TASK_ROWS, TUI_NR_WHICH };
enum tui_move { TUI_OTHER_MOVE, TUI_ZOOMED, TUI_PANNED };
enum tui_panes { TUI_BOTH_PANES, TUI_ONLY_TIMELINE, TUI_ONLY_LIST, TUI_NR_PANES };

struct tui_range {
	uint64_t since, until;
};

/* A line of the time line: what a row is about, or one of its tracks when it is unfolded. */
struct tui_item {
	uint32_t row;
	int32_t track; /* -1: the row */
	struct view_row info;
	bool unfolded;
};

struct tui_list {
	uint64_t selected, top; /* numbers of events, or of hits where only those are listed */
	bool follows;		/* the cursor has moved: the selected one is to be found */
	bool leads;		/* the selected one has moved: the cursor is to follow */
	bool only_hits;
	/* What was asked for last. */
	uint64_t first, total, generation;
	int64_t search;
	int32_t room;
	bool settled;
	struct view_records records;
	char error[200];
};

struct tui_search {
	int64_t id;   /* -1: there is none */
	char *wanted; /* what the user has typed */
	struct view_search_state state;
	int64_t hit;   /* the one that was gone to last, -1: none */
	uint64_t time; /* when that was */
	bool jump;     /* to the first hit, when there is one */
};

enum tui_prompt_kind { TUI_NO_PROMPT, TUI_SEARCH_PROMPT, TUI_TIME_PROMPT };
#define TUI_PROMPT_TEXT 512

struct tui_prompt {
	enum tui_prompt_kind kind;
	char text[TUI_PROMPT_TEXT];
	size_t len, at;
};

/* Text over everything else: the help, details, sums. A line that begins with '*' is a heading. */
struct tui_page {
	const char *title; /* NULL: there is none */
	struct buf text;
	int32_t top, lines, room;
};

#define TUI_HISTORY 64

struct tui_history {
	struct tui_range at[TUI_HISTORY];
	size_t n, now;
};

struct tui_options {
	bool ascii, mono;
	const char *filter;   /* as of `report -F`: only these events are listed; NULL: all */
	const uint64_t *cpus; /* bits; NULL: all */
	uint32_t nr_cpus;
	uint64_t since, until; /* what is seen at first, relative; until 0: everything */
	const volatile int *stop;
};

/* Where things are on the screen: the first line and how many there are, 0: it is not there. */
struct tui_layout {
	int32_t title, overview, axis, ticks;
	int32_t events, hits;
	int32_t rows, nr_rows;
	int32_t head, list, nr_list;
	int32_t status, line; /* -1: not there */
	int32_t gutter;
};

struct tui {
	struct view *view;
	struct tui_options opt;
	struct screen screen;
	struct tui_layout layout;
	uint64_t generation;
	bool nanoseconds;

	struct tui_range range;
	bool whole; /* everything is seen, and what is still to come */
	uint64_t cursor;
	uint64_t marks[2];
	bool marked[2];
	struct tui_history history;
	enum tui_move last_move, this_move; /* several of a kind are one step of the history */

	enum tui_focus focus;
	enum tui_which which;
	enum tui_panes panes;
	vec_of(struct tui_item) items;
	size_t selected, top;
	vec_of(uint32_t) unfolded; /* rows */

	struct tui_list list;
	struct tui_search search;
	struct tui_prompt prompt;
	struct tui_page page;
	char message[200];
	bool over;

	struct view_tile tile;
	struct tui_column *columns[3]; /* as many as the screen is wide */
	struct {
		uint64_t *counts; /* of events in columns of the whole trace; as many */
		uint64_t generation;
		bool valid;
	} overview;
};

/* The view must outlive it. NULL: err says why. */
struct tui *tui_new(struct view *v, const struct tui_options *opt, struct spur_error *err);
void tui_free(struct tui *t);

/* 0 or -ENOMEM. */
int tui_resize(struct tui *t, int32_t width, int32_t height);
/* False when the user has quit. */
bool tui_key(struct tui *t, uint32_t key);
void tui_mouse(struct tui *t, enum tui_mouse what, int32_t x, int32_t y);
/* Checks for new data; returns whether there is anything new to draw. */
bool tui_news(struct tui *t);
/* Whether further news can be expected. */
bool tui_waits(const struct tui *t);
/* Makes t->screen. */
void tui_draw(struct tui *t);
/* Where the terminal's cursor belongs; false: nowhere. */
bool tui_caret(const struct tui *t, int32_t *x, int32_t *y);

/* Shows a message on the last line, until the next key. */
void tui_say(struct tui *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* What a key does, for the help and the manual; up to one without words. */
struct tui_binding {
	const char *keys;  /* as people read them; NULL: a group; "": as the one above */
	const char *words; /* what it does, or what the group is called */
	void (*act)(struct tui *t, int32_t how);
	int32_t how;
	uint32_t key[4];
};
extern const struct tui_binding tui_bindings[];

#endif
