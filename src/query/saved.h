/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queries that are called by a name: those that the build puts into the program, and the user's own
 * files NAME.sql. A file of the user replaces the shipped query of the same name.
 */
#ifndef QUERY_SAVED_H
#define QUERY_SAVED_H

#include <stdbool.h>

#include <spur/error.h>

#include "base/buf.h"

#define SAVED_LIMIT (1u << 20) /* bytes of a query's text */

/* A query that is part of the program. tools/embed writes arrays of them. */
struct saved_query {
	const char *name;
	const char *summary; /* the first sentence of its head comment */
	const char *text;
};

/* Queries of one kind. */
struct saved_kind {
	const char *folder; /* of the user's queries, in spur's configuration folder: "queries" */
	const struct saved_query *shipped; /* up to one without a name */
};

/* The shipped query of a name, or NULL. */
const struct saved_query *saved_shipped(const struct saved_kind *k, const char *name);

/* Calls fn for the names of the user's own, sorted. */
void saved_own(const struct saved_kind *k, void (*fn)(void *arg, const char *name), void *arg);

/*
 * Appends the text of a query; a user's query comes before a shipped one. -ENOENT, without a
 * message, if there is none of that name; another negative errno if the file cannot be read.
 */
int saved_read(const struct saved_kind *k, const char *name, struct buf *text,
	       struct spur_error *err);

/*
 * The description in a query's first line: the comment without "NAME: " and without its last full
 * stop.
 */
const char *saved_summary(const char *name, const char *text, size_t *len);

#endif
