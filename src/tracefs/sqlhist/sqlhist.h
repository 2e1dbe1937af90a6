/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Histograms and synthetic events of the kernel, asked for in SQL.
 *
 *	SELECT column, … FROM event [AS name] [JOIN event [AS name] ON a.f = b.g, …]
 *	[WHERE condition]
 *
 * Without JOIN it is a histogram: the columns are its keys, or values that are summed up when they
 * are CAST(field AS _COUNTER_). With JOIN it is a synthetic event that happens when the second
 * event follows the first and their fields match; the columns are its fields.
 *
 *	query		"SELECT" column {"," column} "FROM" event ["JOIN" event "ON" match
 *			{("," | and) match}] ["WHERE" condition] [";"]
 *	column		(expression | "CAST" "(" field "AS" kind ")") [["AS"] word]
 *	expression	product {("+" | "-") product}
 *	product		factor {("*" | "/") factor}
 *	factor		field | number | "(" expression ")"
 *	event		[word "."] word [["AS"] word]
 *	match		field ("=" | "==") field
 *	condition	every {or every}
 *	every		some {(and | ",") some}
 *	some		not some | "(" condition ")" | field operator (number | text)
 *	operator	"=" "==" "!=" "<>" "<" ">" "<=" ">=" "&" "~"
 *	and, or, not	"&&" "AND", "||" "OR", "!" "NOT"
 *	field		[[word "."] word "."] word
 *	kind		HEX SYM SYM-OFFSET SYSCALL EXECNAME COMM LOG LOG2 BUCKETS=number _COUNTER_
 *
 * Key words are written in either case; a backslash before a word that is one makes it a name. The
 * dialect is that of libtracefs, with some more of SQL: AND, OR, NOT, texts in single quotes,
 * negative numbers in conditions, sums of several fields.
 *
 * The result is a plan of what to write into which file; nothing here touches the kernel.
 */
#ifndef TRACEFS_SQLHIST_SQLHIST_H
#define TRACEFS_SQLHIST_SQLHIST_H

#include <stdbool.h>
#include <stddef.h>

#include <spur/error.h>

#include "base/buf.h"
#include "event/event.h"
#include "tracefs/plan.h"

#define SQL_MAX_QUERY (64u << 10) /* bytes */

/* Where events are looked up. */
struct sql_schema {
	/*
	 * Finds an event; system may be NULL. Returns how many there are, with *e one of them, or a
	 * negative errno with words.
	 */
	int (*find)(void *arg, const char *system, const char *name, struct event **e,
		    struct spur_error *err);

	/* Calls fn with the name of every event: one of them might have been meant. Names stay. */
	void (*each)(void *arg, void (*fn)(void *to, const char *name), void *to);
	void *arg;
};

enum sql_when {
	SQL_ALWAYS,
	SQL_NEW_MAXIMUM,
	SQL_CHANGE,
};

struct sql_options {
	const char *name;     /* of the synthetic event */
	const char *instance; /* in which a histogram is made; NULL or "": the top one */
	bool make_instance;   /* the instance does not exist yet */

	/* A synthetic event: when something happens, and what. */
	enum sql_when when;
	const char *column; /* whose maximum or change is awaited; a '$' before it is ignored */
	bool trace;	    /* record the event; the default if no other action is given */
	bool snapshot;
	const char *const *save; /* fields of the second event */
	size_t nr_save;
};

/* Where a query is wrong; len is 0 if the error is not in the query. */
struct sql_mistake {
	size_t offset, len;
};

/*
 * Adds the steps for a query to the plan. Without a schema (NULL), events must be written with
 * their system, and only what does not depend on the types of fields is possible. -EINVAL if the
 * query or an option makes no sense; err has the message and *mistake the place.
 */
int sql_plan(const char *query, const struct sql_options *opt, const struct sql_schema *schema,
	     struct plan *plan, struct sql_mistake *mistake, struct spur_error *err);

/* Appends the query's line with the mistake and one with a caret below it; nothing without one. */
void sql_point(struct buf *out, const char *query, const struct sql_mistake *m);

/* Whether a text may name an event or a field: letters, digits, '_'. */
bool sql_is_word(const char *text);

/* ---- events as tracefs, or a copy of its folder events/, describes them ---- */

struct sql_formats;

int sql_formats_open(const struct tracefs *fs, struct sql_formats **out, struct spur_error *err);
void sql_formats_close(struct sql_formats *f);
struct sql_schema sql_formats_schema(struct sql_formats *f);

#endif
