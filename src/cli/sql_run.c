// SPDX-License-Identifier: GPL-2.0-or-later
/* Statements and dot commands, one after the other. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/suggest.h"
#include "cli/amount.h"
#include "cli/sql.h"
#include "query/fleet/fleet.h"
#include "query/store.h"

#define TEXT_LIMIT (16u << 20)
#define MAX_DEPTH  8

/* ---- parameters ---- */

/* The value given for ":name", "@name" or "$name"; NULL: none. */
static const char *param_value(const struct sql *s, const char *name)
{
	const size_t len = strlen(name + 1);

	for (size_t i = s->params.n; i-- > 0;)
		if (strncmp(s->params.at[i], name + 1, len) == 0 && s->params.at[i][len] == '=')
			return s->params.at[i] + len + 1;
	return NULL;
}

static int bind_params(const struct sql *s, struct query_stmt *stmt, struct spur_error *err)
{
	for (size_t i = 1; i <= query_nr_params(stmt); i++) {
		const char *name = query_param(stmt, i),
			   *value = name ? param_value(s, name) : NULL;
		int rc = value ? query_bind(stmt, i, value, err) : 0;

		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Whether the text has a parameter of that name, wherever. */
static bool has_param(const char *text, const char *name, size_t len)
{
	for (const char *at = text; (at = strpbrk(at, ":@$")); at++)
		if (strncmp(at + 1, name, len) == 0 &&
		    !strchr("_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
			    at[len + 1]))
			return true;
		else if (strncmp(at + 1, name, len) == 0 && !at[len + 1])
			return true;
	return false;
}

/* A value for a parameter that is not there would be ignored without a word. */
static int check_params(const struct sql *s, const char *text)
{
	for (size_t i = 0; !s->interactive && i < s->params.n; i++) {
		const size_t len = strcspn(s->params.at[i], "=");

		if (has_param(text, s->params.at[i], len))
			continue;
		cli_error("--param: the query has no :%.*s", (int)len, s->params.at[i]);
		return SPUR_USAGE;
	}
	return SPUR_OK;
}

/* ---- statements ---- */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int run_statement(struct sql *s, struct query_stmt *stmt)
{
	struct spur_error err = {0};
	const double start = now();
	uint64_t rows = 0;
	int rc = bind_params(s, stmt, &err);

	progress_begin(&s->progress);
	if (rc == 0)
		rc = sql_show(s, stmt, &rows, &err);
	progress_end(&s->progress);
	s->progress.shown = false;
	if (s->timer && rc == 0) {
		const struct fleet_counts fleet = query_fleet_counts(s->session);
		const struct store_counts store = query_store_counts(s->session);

		fprintf(stderr, "%llu row%s in %.3f s", (unsigned long long)rows,
			rows == 1 ? "" : "s", now() - start);
		if (fleet.files)
			fprintf(stderr, ", read %llu of %llu files", (unsigned long long)fleet.read,
				(unsigned long long)fleet.files);
		if (fleet.groups)
			fprintf(stderr, ", %llu of their %llu row groups",
				(unsigned long long)fleet.groups_read,
				(unsigned long long)fleet.groups);
		if (store.rows)
			fprintf(stderr, ", the server read %llu rows and %llu bytes",
				(unsigned long long)store.rows, (unsigned long long)store.bytes);
		fputc('\n', stderr);
	}
	if (rc == -EPIPE)
		s->quit = true;
	return cli_result(rc, "writing the rows", &err);
}

static int fail(const char *name, struct spur_error *err)
{
	if (name)
		error_prefix(err, "%s", name);
	return cli_fail(err);
}

int sql_run_text(struct sql *s, const char *text, const char *name)
{
	int status = check_params(s, text);

	while (status == SPUR_OK && !s->quit) {
		struct spur_error err = {0};
		struct query_stmt *stmt;
		size_t used;

		text += strspn(text, " \t\r\n;");
		if (!*text)
			break;
		if (*text == '.') {
			char *line = strndup(text, strcspn(text, "\n"));

			text += strcspn(text, "\n");
			status = line ? sql_dot(s, line) : SPUR_ENVIRONMENT;
			free(line);
			continue;
		}
		if (query_prepare(s->session, text, &stmt, &used, &err) < 0)
			return fail(name, &err);
		text += used;
		if (!stmt)
			continue;
		status = run_statement(s, stmt);
		query_stmt_free(stmt);
	}
	return status;
}

static int read_input(struct buf *text)
{
	char block[65536];
	ssize_t n;

	while ((n = read(STDIN_FILENO, block, sizeof(block))) != 0) {
		if (n < 0 && errno == EINTR && !cli_stop)
			continue;
		if (n < 0)
			return -errno;
		buf_put(text, block, (size_t)n);
	}
	return text->full ? -EFBIG : 0;
}

int sql_run_file(struct sql *s, const char *path)
{
	const bool input = strcmp(path, "-") == 0;
	struct spur_error err = {0};
	struct buf text;
	int rc, status;

	if (s->depth >= MAX_DEPTH) {
		cli_error("%s: files that read files, more than %d deep", path, MAX_DEPTH);
		return SPUR_USAGE;
	}
	buf_init(&text, TEXT_LIMIT);
	rc = input ? read_input(&text) : file_read(path, &text, &err);
	s->depth++;
	if (rc < 0)
		status = cli_result(rc, "standard input", &err);
	else
		status = sql_run_text(s, buf_str(&text), input ? NULL : path);
	s->depth--;
	buf_free(&text);
	return status;
}

int sql_run_saved(struct sql *s, const char *name)
{
	struct buf text;
	int status;

	buf_init(&text, TEXT_LIMIT);
	status = sql_saved(name, &text);
	if (status == SPUR_OK)
		status = sql_run_text(s, buf_str(&text), name);
	buf_free(&text);
	return status;
}
