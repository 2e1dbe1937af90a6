/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/cli: `spur sql`, its options and what its files share. */
#ifndef CLI_SQL_H
#define CLI_SQL_H

#include "base/buf.h"
#include "base/strings.h"
#include "cli/cli.h"
#include "query/query.h"
#include "query/saved.h"

enum sql_mode { SQL_TABLE, SQL_CSV, SQL_JSON, SQL_MARKDOWN, SQL_TABS, NR_SQL_MODES };
extern const char *const sql_modes[NR_SQL_MODES];

/* Those of queries/, up to one without a name. Written by tools/embed. */
extern const struct saved_query saved_queries[];

struct sql {
	/* Options. */
	const char *input, *script, *fleet;
	int64_t threads;
	struct string_refs params, events, settings;
	bool list, header, timer, quiet;
	bool modes[NR_SQL_MODES]; /* given as options */
	enum sql_mode mode;
	uint64_t live;	   /* ns */
	const char *query; /* argument, or NULL */

	/* While it runs. */
	struct query *session;
	vec_of(struct spur_trace *) traces;
	struct progress progress;
	int out_fd;
	bool interactive;
	bool quit;	    /* .quit */
	bool shown;	    /* a result has been shown: the next table stands apart */
	unsigned int depth; /* of files that read files */
};

/* The characters of names. */
#define SQL_NAME_CHARACTERS "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

/* The value of a name in a list of "NAME=VALUE", of which the last one counts; NULL: none. */
const char *sql_value(const struct string_refs *list, const char *name);

/*
 * The functions below that return an int return an exit status, after a message if it is not
 * SPUR_OK.
 */

/* Runs the statements and dot commands of a text; `name` is for messages. */
int sql_run_text(struct sql *s, const char *text, const char *name);
int sql_run_file(struct sql *s, const char *path);
/* "@NAME" */
int sql_run_saved(struct sql *s, const char *name);

void sql_list_saved(const struct sql *s);
/* Calls fn for each of their names. */
void sql_saved_names(void (*fn)(void *arg, const char *name), void *arg);

/* Shows the rows of a statement; a negative errno or 0. */
int sql_show(struct sql *s, struct query_stmt *stmt, uint64_t *rows, struct spur_error *err);
/* Writes to where output goes. A negative errno or 0. */
int sql_write(struct sql *s, const char *data, size_t len);

/* A line ".word arguments". */
int sql_dot(struct sql *s, const char *line);

/* Reads statements from the terminal until the user leaves. */
int sql_shell(struct sql *s);

/* Records what the query's tables need, and opens that. */
int sql_live(struct sql *s, struct spur_trace **trace);

#endif
