/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Event filters: `[SYSTEM/]EVENT[,…][: EXPRESSION]`, the language of `trace-cmd report -F` with the
 * kernel's operators added.
 *
 * SYSTEM and EVENT are basic regular expressions over the whole name, case ignored; a single name
 * selects by event or by system. Without an expression every record of these events matches.
 *
 *	expression = term { ("&&" | "||") term }	from left to right, neither binds tighter
 *	term	   = "!" term | "(" expression ")" | value [compare value]
 *	compare	   = == != < <= > >=			numbers, and == != text
 *		   | =~ !~				a regular expression somewhere in the text
 *		   | ~					a glob over the whole text, as in the kernel
 *	value	   = number | 'c' | "text" | 'text' | FIELD | FIELD.function | "(" value ")"
 *		   | - value | ~ value | value (+ - * / % << >> & ^ |) value
 *
 * A value alone is true when it is not zero. The rules of trace-cmd, and where this differs:
 *
 * - A comparison with a FIELD that an event does not have is false, so "!(nofield == 1)" is true.
 * - COMM is the task's name, CPU the processor. The kernel's names comm and cpu mean the same where
 *   none of the filter's events has a field of that name.
 * - A field of another type that is compared with text stands for the function at that address when
 *   it is a pointer or a long, for its value as "0x…" otherwise. FIELD.function always means the
 *   function.
 * - Numbers compare unsigned, as trace-cmd compares them: a negative field is greater than 5.
 *   Comparisons that make no sense unsigned are signed: with a negative number, "< 0" and ">= 0",
 *   field with field.
 * - trace-cmd takes "a == -5" for "a - 5", refuses "a < b", "(a & 4) == 4" and a comma in a text,
 *   and drops the first half of "a == 1 b == 2". Here all but the last mean what they say, and the
 *   last is an error.
 * - Dividing by zero gives 0, shifting by 64 or more too. A number outside the record is 0, a text
 *   outside it is empty.
 *
 * Names and syntax are checked when a filter is added. An expression is bound to an event's fields
 * when the first record of the event comes, once, under the filter's lock: formats are parsed only
 * for events that occur. All filter_ functions but filter_add() may be called by several threads.
 */
#ifndef EVENT_FILTER_H
#define EVENT_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <spur/error.h>
#include <spur/record.h>

#include "base/buf.h"
#include "event/event.h"

#define FILTER_MAX_TEXT	 (1024 * 1024)
#define FILTER_MAX_DEPTH 100 /* of parentheses, negations and operators inside operators */

enum filter_result {
	FILTER_NONE,	/* no filter was added */
	FILTER_NOEXIST, /* none is about this event */
	FILTER_MISS,
	FILTER_MATCH,
};

/* Where a filter's text is wrong, and why: the kinds of mistakes that libtraceevent knows. */
enum filter_reason {
	FILTER_FINE,
	FILTER_NO_MEMORY,
	FILTER_BAD_EVENT_NAME,
	FILTER_NO_EVENT,
	FILTER_NO_NAME,
	FILTER_SYNTAX,
	FILTER_BAD_RIGHT,
	FILTER_BAD_LEFT,
	FILTER_BAD_REGEX,
	FILTER_BAD_TEXT_COMPARE,
	FILTER_BAD_NUMBER_COMPARE,
	FILTER_BAD_TOKEN,
	FILTER_BAD_PAREN,
	FILTER_UNBALANCED,
	FILTER_UNKNOWN_TOKEN,
};

struct filter_mistake {
	enum filter_reason reason;
	size_t offset; /* in the filter's text */
	size_t len;    /* of the part that is meant, at least 1 */
};

struct filter_program;
struct filter_rules;

struct filter {
	struct events *events;
	/* By event index: NULL if no filter is about the event. */
	const struct filter_program **programs;
	size_t nr_events;
	bool any; /* a filter was added */
	struct filter_rules *rules;
};

/* All events must have been added to the registry. NULL without memory. */
struct filter *filter_new(struct events *ev);
void filter_free(struct filter *f);

/*
 * Adds a filter; a record matches when it matches any that was added. -EINVAL when the text is
 * wrong or no event has that name: err then says where and why. Must not run while others match.
 */
int filter_add(struct filter *f, const char *text, struct spur_error *err);

/* What was wrong with the text filter_add() refused last. */
struct filter_mistake filter_mistake(const struct filter *f);

/*
 * If no event of a filter has one of its fields, a part of it is always false. Fills err with words
 * about the first such name, with the nearest existing one, and returns their number. Parses
 * the formats of the filters' events.
 */
size_t filter_check(const struct filter *f, struct spur_error *err);

/*
 * Appends what became of every filter for each of its events, as `trace-cmd report -T` prints it:
 * lines " 'EVENT: (prev_pid == 5) && (…)'", TRUE or FALSE when nothing depends on the record.
 * Parses the formats of the filters' events.
 */
void filter_show(const struct filter *f, struct buf *out);

/* Whether matching records of this event needs a look at them; the rest is FILTER_NOEXIST. */
static inline bool filter_wants(const struct filter *f, const struct event *e)
{
	return e->index < f->nr_events &&
	       __atomic_load_n(&f->programs[e->index], __ATOMIC_RELAXED) != NULL;
}

/* COMM is what the calling thread has learned about tasks, or with NULL what the registry says. */
enum filter_result filter_match(const struct filter *f, struct comm_overlay *learned,
				struct event *e, const struct spur_record *r);

/* True when memory ran out while an expression was bound; such an event's records do not match. */
bool filter_failed(const struct filter *f);

#endif
