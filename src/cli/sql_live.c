// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Asking the running kernel: the events of the tables that the query names are recorded for a while
 * into a file that nobody sees, as `spur record` would, and the query is asked of that.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "table/table.h"
#include "base/error.h"
#include "base/file.h"
#include "base/vec.h"
#include "cli/live.h"
#include "cli/record.h"
#include "cli/sql.h"

struct needing {
	const struct tracefs_events *kernel;
	struct request *request;
	struct {
		char **at;
		size_t n, cap;
	} names; /* of events; the request has only pointers */
	bool no_memory;
};

static void need(struct needing *n, const char *system, const char *name)
{
	struct request_event *e;
	char **slot, text[300];

	snprintf(text, sizeof(text), "%s:%s", system, name);
	vec_each (have, &n->names)
		if (strcmp(*have, text) == 0)
			return;
	slot = vec_push(&n->names);
	if (slot)
		*slot = strdup(text);
	e = slot && *slot ? request_add_event(n->request, WANT_EVENTS, *slot) : NULL;
	n->no_memory |= !e;
}

/* A table's events that this kernel has, or an event itself. */
static void need_word(void *arg, const char *word)
{
	struct needing *n = arg;
	const struct table *t = table_find(word);
	const char *colon = strchr(word, ':');

	for (size_t i = 0; i < n->kernel->n; i++) {
		const struct tracefs_event *e = &n->kernel->at[i];
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
	struct buf text;
	int status;

	buf_init(&text, 16u << 20);
	status = read_query(s, &text);
	if (status == SPUR_OK && tracefs_events_load(fs, NULL, &kernel, &err) < 0)
		status = cli_fail(&err);
	n->kernel = &kernel;
	if (status == SPUR_OK)
		query_words(buf_str(&text), need_word, n);
	for (size_t i = 0; i < s->events.n; i++)
		n->no_memory |= !request_add_event(n->request, WANT_EVENTS, s->events.at[i]);
	tracefs_events_free(&kernel);
	buf_free(&text);
	if (status == SPUR_OK && n->no_memory) {
		cli_error("out of memory");
		status = SPUR_ENVIRONMENT;
	}
	if (status == SPUR_OK && !n->names.n && !s->events.n) {
		cli_error("--live: the query names no event of this kernel, and there is no -e");
		status = SPUR_USAGE;
	}
	return status;
}

static int record(const struct sql *s, const struct tracefs *fs, const struct request *r,
		  const char *path)
{
	struct session_options opt = {
		.output = path,
		.file = {.version = 7},
		.duration = s->live,
		.note = s->quiet ? NULL : wanted_note,
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

/* Records into a directory of its own, of which nothing is left. */
static int record_and_open(const struct sql *s, const struct tracefs *fs, const struct request *r,
			   struct spur_trace **trace)
{
	struct spur_error err = {0};
	char dir[4000], path[4096];
	int status, rc = file_make_folder("spur-sql", dir, sizeof(dir));

	if (rc < 0) {
		cli_error("%s: %s", dir, strerror(-rc));
		return SPUR_ENVIRONMENT;
	}
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
	vec_each (name, &n.names)
		free(*name);
	vec_free(&n.names);
	return status;
}
