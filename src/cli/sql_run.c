// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What `spur sql` runs: statements and dot commands, one after the other; saved queries, the user's
 * own and those of queries/, which the build puts into the program; queries to the running kernel,
 * whose events are recorded for a while into a hidden file, as `spur record` would do it.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/nanoseconds.h"
#include "base/suggest.h"
#include "base/vec.h"
#include "cli/live.h"
#include "cli/record.h"
#include "cli/sql.h"
#include "query/fleet/fleet.h"
#include "query/store.h"
#include "table/table.h"

static const struct saved_kind kind = {"queries", saved_queries};

void sql_saved_names(void (*fn)(void *arg, const char *name), void *arg)
{
	saved_own(&kind, fn, arg);
	for (const struct saved_query *q = saved_queries; q->name; q++)
		fn(arg, q->name);
}

struct nearest {
	struct suggest near;
	char best[256];
};

static void try_name(void *arg, const char *name)
{
	struct nearest *n = arg;

	suggest_try(&n->near, name);
	if (n->near.best == name) {
		snprintf(n->best, sizeof(n->best), "%s", name);
		n->near.best = n->best;
	}
}

static int sql_saved(const char *name, struct buf *text)
{
	struct nearest n = {.near = suggest_for(name, strlen(name))};
	struct spur_error err = {0};
	const int rc = saved_read(&kind, name, text, &err);

	if (rc == 0)
		return SPUR_OK;
	if (err.code)
		return cli_fail(&err);
	sql_saved_names(try_name, &n);
	if (suggest_best(&n.near))
		return cli_wrong("there is no saved query '%s'; did you mean '@%s'?", name, n.best);
	return cli_wrong("there is no saved query '%s'; 'spur sql --list' shows them", name);
}

/* ---- the list ---- */

static void show_own(void *arg, const char *name)
{
	const char *summary;
	scoped_buf text = buf_new(SAVED_LIMIT);
	size_t len;

	if (sql_saved(name, &text) == SPUR_OK) {
		summary = saved_summary(name, buf_str(&text), &len);
		cli_printf("%-20s %.*s\n", name, (int)len, summary);
	}
}

void sql_list_saved(const struct sql *s)
{
	saved_own(&kind, show_own, NULL);
	for (const struct saved_query *q = saved_queries; q->name; q++)
		cli_printf("%-20s %s\n", q->name, q->summary);
}

struct needing {
	const struct tracefs_events *kernel;
	struct request *request;
	struct strings names; /* of events; the request has only pointers */
	bool no_memory;
};

static void need(struct needing *n, const char *system, const char *name)
{
	struct request_event *e = NULL;
	char text[300];

	snprintf(text, sizeof(text), "%s:%s", system, name);
	vec_each (have, &n->names)
		if (strcmp(*have, text) == 0)
			return;
	if (strings_add(&n->names, text))
		e = request_add_event(n->request, WANT_EVENTS, n->names.at[n->names.n - 1]);
	n->no_memory |= !e;
}

/* A table's events that this kernel has, or an event itself. */
static void need_word(void *arg, const char *word)
{
	struct needing *n = arg;
	const struct table *t = table_find(word);
	const char *colon = strchr(word, ':');

	vec_each (e, n->kernel) {
		bool wanted =
			strcmp(e->name, word) == 0 || (colon && tracefs_event_matches(e, word));

		for (size_t k = 0; t && t->events[k] && !wanted; k++)
			wanted = tracefs_event_matches(e, t->events[k]);
		if (wanted)
			need(n, e->system, e->name);
	}
}

/* The text of what will be asked. */
static int read_query(const struct sql *s, struct buf *text)
{
	struct spur_error err = {0};

	if (s->query && *s->query == '@')
		return sql_saved(s->query + 1, text);
	if (s->query)
		buf_puts(text, s->query);
	else if (s->script && strcmp(s->script, "-") != 0 && file_read(s->script, text, &err) < 0)
		return cli_fail(&err);
	buf_str(text);
	return SPUR_OK;
}

static int add_events(const struct sql *s, const struct tracefs *fs, struct needing *n)
{
	struct tracefs_events kernel = {0};
	struct spur_error err = {0};
	scoped_buf text = buf_new(16u << 20);
	int status = read_query(s, &text);

	if (status == SPUR_OK && tracefs_events_load(fs, NULL, &kernel, &err) < 0)
		status = cli_fail(&err);
	n->kernel = &kernel;
	if (status == SPUR_OK)
		query_words(buf_str(&text), need_word, n);
	for (size_t i = 0; i < s->events.n; i++)
		n->no_memory |= !request_add_event(n->request, WANT_EVENTS, s->events.at[i]);
	tracefs_events_free(&kernel);
	if (status == SPUR_OK && n->no_memory)
		return cli_refused("out of memory");
	if (status == SPUR_OK && !n->names.n && !s->events.n)
		return cli_wrong(
			"--live: the query names no event of this kernel, and there is no -e");
	return status;
}

static int record(const struct sql *s, const struct tracefs *fs, const struct request *r,
		  const char *path)
{
	struct session_options opt = {
		.output = path,
		.file = {.version = 7},
		.duration = s->live,
		.note = s->quiet ? NULL : tracing_note,
	};
	struct spur_error err = {0};
	struct session_result res;
	sigset_t before;
	int rc;

	sigprocmask(SIG_BLOCK, NULL, &before);
	if (!record_listen(&opt))
		return SPUR_ENVIRONMENT;
	rc = session_record(fs, r, &opt, &res, &err);
	close(opt.stop_fd);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (rc == 0 && res.last.lost && !s->quiet)
		cli_error("%llu events were lost: there were more than the buffer holds",
			  (unsigned long long)res.last.lost);
	return rc < 0 ? cli_result(rc, "recording", &err) : SPUR_OK;
}

/* Records into a directory of its own, which is removed afterwards. */
static int record_and_open(const struct sql *s, const struct tracefs *fs, const struct request *r,
			   struct spur_trace **trace)
{
	struct spur_error err = {0};
	char dir[4000], path[4096];
	int status, rc = file_make_folder("spur-sql", dir, sizeof(dir));

	if (rc < 0)
		return cli_refused("%s: %s", dir, strerror(-rc));
	snprintf(path, sizeof(path), "%s/live.dat", dir);
	status = record(s, fs, r, path);
	if (status == SPUR_OK && trace_open(path, NULL, trace, &err) < 0)
		status = cli_fail(&err);
	unlink(path);
	rmdir(dir);
	return status;
}

int sql_live(struct sql *s, struct spur_trace **trace)
{
	struct request r = {0};
	struct needing n = {.request = &r};
	struct tracefs fs;
	int status = live_open(&fs);

	if (status == SPUR_OK && !request_buffer(&r))
		status = SPUR_ENVIRONMENT;
	if (status == SPUR_OK)
		status = add_events(s, &fs, &n);
	if (status == SPUR_OK)
		status = record_and_open(s, &fs, &r, trace);
	request_free(&r);
	strings_free(&n.names);
	return status;
}

#define TEXT_LIMIT (16u << 20)
#define MAX_DEPTH  8

/* ---- parameters ---- */

const char *sql_value(const struct string_refs *list, const char *name)
{
	const size_t len = strlen(name);

	for (size_t i = list->n; i-- > 0;)
		if (strncmp(list->at[i], name, len) == 0 && list->at[i][len] == '=')
			return list->at[i] + len + 1;
	return NULL;
}

/* Names are ":name", "@name" or "$name". */
static int bind_params(const struct sql *s, struct query_stmt *stmt, struct spur_error *err)
{
	for (size_t i = 1; i <= query_nr_params(stmt); i++) {
		const char *name = query_param(stmt, i),
			   *value = name ? sql_value(&s->params, name + 1) : NULL;
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
		if (strncmp(at + 1, name, len) == 0 && !strspn(at + 1 + len, SQL_NAME_CHARACTERS))
			return true;
	return false;
}

/* A value for a parameter that the query does not have is an error. */
static int check_params(const struct sql *s, const char *text)
{
	for (size_t i = 0; !s->interactive && i < s->params.n; i++) {
		const size_t len = strcspn(s->params.at[i], "=");

		if (has_param(text, s->params.at[i], len))
			continue;
		return cli_wrong("--param: the query has no :%.*s", (int)len, s->params.at[i]);
	}
	return SPUR_OK;
}

/* ---- statements ---- */

static int run_statement(struct sql *s, struct query_stmt *stmt)
{
	struct spur_error err = {0};
	const uint64_t start = clock_now_ns(CLOCK_MONOTONIC);
	uint64_t rows = 0;
	int rc = bind_params(s, stmt, &err);

	progress_begin(&s->progress);
	if (rc == 0)
		rc = sql_show(s, stmt, &rows, &err);
	progress_end(&s->progress);
	if (s->timer && rc == 0) {
		const struct fleet_counts fleet = query_fleet_counts(s->session);
		const struct store_counts store = query_store_counts(s->session);

		fprintf(stderr, "%llu row%s in %.3f s", (unsigned long long)rows,
			rows == 1 ? "" : "s",
			(double)(clock_now_ns(CLOCK_MONOTONIC) - start) / 1e9);
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
		if (query_prepare(s->session, text, &stmt, &used, &err) < 0) {
			if (name)
				error_prefix(&err, "%s", name);
			return cli_fail(&err);
		}
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
	scoped_buf text = buf_new(TEXT_LIMIT);
	int rc, status;

	if (s->depth >= MAX_DEPTH)
		return cli_wrong("%s: files that read files, more than %d deep", path, MAX_DEPTH);
	rc = input ? read_input(&text) : file_read(path, &text, &err);
	s->depth++;
	if (rc < 0)
		status = cli_result(rc, "standard input", &err);
	else
		status = sql_run_text(s, buf_str(&text), input ? NULL : path);
	s->depth--;
	return status;
}

int sql_run_saved(struct sql *s, const char *name)
{
	scoped_buf text = buf_new(TEXT_LIMIT);
	int status = sql_saved(name, &text);

	return status == SPUR_OK ? sql_run_text(s, buf_str(&text), name) : status;
}
