/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Private to src/import: what the files of the text import share. The kernel's own text, as `trace`
 * and `trace_pipe` have it, becomes records again.
 *
 * The file is read twice. At first the types of events are found out: what fields their texts have,
 * and what kind of value all of these are. Then the records are made.
 */
#ifndef IMPORT_TEXT_TEXT_H
#define IMPORT_TEXT_TEXT_H

#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"
#include "import/import.h"

/* ---- lines ---------------------------------------------------------------------------- */

#define TEXT_MAX_LINE (64u << 10) /* what is longer is cut */

struct text_file {
	int fd;
	uint64_t at; /* of what follows the window, in the file */
	struct buf window;
	size_t pos; /* in the window */
	bool ended;
	int rc;
};

void text_file_init(struct text_file *f, int fd);
void text_file_free(struct text_file *f);

/* The next line without its end, valid until the next call; NULL at the end. */
const char *text_file_next(struct text_file *f, size_t *len);

/* A piece of a text, not terminated. */
struct piece {
	const char *at;
	size_t len;
};

static inline void piece_skip(struct piece *p, size_t n)
{
	p->at += n;
	p->len -= n;
}

static inline bool piece_is(struct piece p, const char *text)
{
	return p.len == strlen(text) && memcmp(p.at, text, p.len) == 0;
}

/* What stands before an event in its line. */
struct text_head {
	struct piece comm;
	int pid;
	uint32_t cpu;
	uint8_t flags, preempt_count;
	uint64_t ts;
	bool ticks; /* the time is no number of seconds */
};

/* "comm-pid [cpu] flags time: "; the rest of the line is the event. */
bool text_head_parse(struct piece line, struct text_head *head, struct piece *rest);

/* "CPU:1 [LOST 17 EVENTS]"; -1: it does not say how many. */
bool text_lost_parse(struct piece line, uint32_t *cpu, int64_t *lost);

/* A task's name, unless the text does not have it: "<...>". */
void text_comm(struct import *im, int pid, struct piece comm);

/* Takes a number off the front; false when there is none. */
bool take_decimal(struct piece *p, uint64_t *v);
bool take_hexadecimal(struct piece *p, uint64_t *v);
bool take_text(struct piece *p, const char *text);
void skip_blanks(struct piece *p);

/* The texts of function_graph and function_duration have cells with '|' between them. */
struct piece text_trim(struct piece p);
/* What stands before the next '|'. */
bool text_take_cell(struct piece *p, struct piece *cell);
/* "comm-pid" */
bool text_is_task(struct piece cell, struct piece *comm, int *pid);
/* "+ 12.345 us" in nanoseconds; an empty cell is 0. */
bool text_read_duration(struct piece cell, uint64_t *ns);
/* "[* text *]" as in C; a stack's begins here and ends lines later. */
bool text_is_comment(struct piece p, struct piece *text);

/* ---- event types that are found out --------------------------------------------------- */

enum { GUESS_DECIMAL = 1, GUESS_PADDED = 2, GUESS_0X = 4, GUESS_HEX = 8 };

struct text_field {
	struct piece before, key; /* as they stood in the first text, which is kept */
	unsigned int guesses;	  /* what all values so far may be */
	uint32_t width;		  /* of the first value */
	bool large;		  /* does not fit into a signed number */
};

struct text_class {
	struct piece name;
	vec_of(struct text_field) fields;
	struct piece end;  /* what follows the last value; when there is none, the whole text */
	bool seen, varies; /* texts are made in different ways: they are kept as they are */
	struct import_type type;
	struct import_field *to; /* a place for each field, and the text's after them */
};

struct text_classes {
	struct import *im;
	struct map by_name; /* by the kept name */
	vec_of(struct text_class *) all;
};

void text_classes_free(struct text_classes *c);

/* First reading: a text of an event. */
void text_classes_learn(struct text_classes *c, struct piece name, struct piece text);

/* Between the readings: adds the types to the import. */
void text_classes_settle(struct text_classes *c);

/* Second reading: makes the record. */
void text_classes_put(struct text_classes *c, const struct import_context *x, struct piece name,
		      struct piece text);

/* ---- event types that are known ------------------------------------------------------- */

struct text_known;

struct text_known *text_known_new(struct import *im);
void text_known_free(struct text_known *k);

/* Makes the record when the event is one whose text is known; `learn`: only says whether. */
bool text_known_put(struct text_known *k, const struct import_context *x, struct piece name,
		    struct piece text, bool learn);

/* ---- ftrace's own events -------------------------------------------------------------- */

struct text_ftrace;

struct text_ftrace *text_ftrace_new(struct import *im);

void text_function(struct text_ftrace *f, const struct import_context *x, uint64_t ip,
		   uint64_t parent);
void text_print(struct text_ftrace *f, const struct import_context *x, uint64_t ip,
		struct piece text);
void text_call(struct text_ftrace *f, const struct import_context *x, uint64_t func, int depth);
void text_return(struct text_ftrace *f, const struct import_context *x, uint64_t func, int depth,
		 uint64_t called);

/* A function as the text names it, "name", "name+0x10/0x20", "name [module]"; its address. */
uint64_t text_symbol(struct import *im, struct piece name);

/* ---- the function_graph tracer -------------------------------------------------------- */

struct text_graph;

struct text_graph *text_graph_new(struct import *im, struct text_ftrace *ftrace);
void text_graph_free(struct text_graph *g);

/*
 * First reading: finds out who was running before the text says so. `event` is that of a line which
 * shows another event than a call; its `at` is NULL if it does not.
 */
void text_graph_learn(struct text_graph *g, struct piece line, struct piece *event);

/*
 * Second reading: whether it was a line of that tracer, and is taken. `x`: where and when its last
 * record was written, or the event was; zero if there is none.
 */
bool text_graph_line(struct text_graph *g, struct piece line, struct import_context *x,
		     struct piece *event);

/* Whether a line looks like one. */
bool text_graph_is(struct piece line);

/* ---- the function_duration tracer ----------------------------------------------------- */

struct text_duration;

struct text_duration *text_duration_new(struct import *im, struct text_ftrace *ftrace);
void text_duration_free(struct text_duration *d);

/* Whether a line is one of that tracer. */
bool text_duration_is(struct piece line);

/* First reading: finds out how the lines are sorted. `event` is as in text_graph_learn(). */
void text_duration_learn(struct text_duration *d, struct piece line, struct piece *event);

/* Second reading, as with text_graph_line(), and its end. */
bool text_duration_line(struct text_duration *d, struct piece line, struct import_context *x,
			struct piece *event);
void text_duration_end(struct text_duration *d);

/* Second reading: adds records that wait, because what comes now follows them. */
void text_duration_settle(struct text_duration *d);

#endif
