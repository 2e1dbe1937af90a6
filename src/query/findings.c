// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Running the queries of findings. Each has a session of its own, so tables that a user's query
 * creates do not exist for the next one.
 */
#include "query/findings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/error.h"
#include "base/strings.h"
#include "base/suggest.h"
#include "base/vec.h"
#include "query/query.h"

static const struct saved_kind kind = {"findings", shipped_findings};

/* ---- which there are ---- */

struct names {
	struct strings list;
	bool no_memory;
};

static void add_name(void *names, const char *name)
{
	struct names *n = names;

	n->no_memory |= !strings_add(&n->list, name);
}

static void add_other(void *names, const char *name)
{
	if (!saved_shipped(&kind, name))
		add_name(names, name);
}

/* Whether a list "NAME,NAME" has a name in it. */
static bool listed(const char *list, const char *name)
{
	const size_t len = strlen(name);

	for (; *list; list += strcspn(list, ","), list += *list == ',')
		if (strcspn(list, ",") == len && strncmp(list, name, len) == 0)
			return true;
	return false;
}

/* Checks that there is a finding for every name in the list. */
static int check_list(const char *list, const struct strings *all, struct spur_error *err)
{
	for (; *list; list += strcspn(list, ","), list += *list == ',') {
		const size_t len = strcspn(list, ",");
		struct suggest near = suggest_for(list, len);
		bool found = false;

		vec_each (name, all) {
			found |= strlen(*name) == len && strncmp(list, *name, len) == 0;
			suggest_try(&near, *name);
		}
		if (!found)
			return error_set(err, -EINVAL, "there is no finding '%.*s'%s", (int)len,
					 list, suggest_hint(&near));
	}
	return 0;
}

static int list_names(struct names *n, const char *wanted, struct spur_error *err)
{
	for (const struct saved_query *q = shipped_findings; q->name; q++)
		add_name(n, q->name);
	saved_own(&kind, add_other, n);
	if (n->no_memory)
		return error_set(err, -ENOMEM, "out of memory");
	return wanted ? check_list(wanted, &n->list, err) : 0;
}

/* ---- what a query gives ---- */

enum role { TS, DUR, CPU, PID, COMM, BUFFER, TEXT, NS, COUNT, BYTES, NR_ROLES };

static const char *const columns[NR_ROLES] = {
	[TS] = "ts",	     [DUR] = "dur",   [CPU] = "cpu", [PID] = "pid",	[COMM] = "comm",
	[BUFFER] = "buffer", [TEXT] = "text", [NS] = "ns",   [COUNT] = "count", [BYTES] = "bytes",
};

/* The index of each column, plus one; 0: the query does not have it. */
struct roles {
	size_t at[NR_ROLES];
	enum role value;
};

static int bad_columns(struct spur_error *err, const char *why, const char *name)
{
	return error_set(err, -EINVAL,
			 "%s%s; a finding has the columns text and one of ns, count and bytes, and "
			 "may have ts, dur, cpu, pid, comm and buffer",
			 why, name);
}

static int find_roles(const struct query_stmt *s, struct roles *roles, struct spur_error *err)
{
	size_t values = 0;

	*roles = (struct roles){0};
	for (size_t i = 0; i < query_nr_columns(s); i++) {
		const char *name = query_column_name(s, i);
		enum role r = 0;

		while (r < NR_ROLES && strcasecmp(columns[r], name) != 0)
			r++;
		if (r == NR_ROLES)
			return bad_columns(err, "unknown column ", name);
		if (roles->at[r])
			return bad_columns(err, "two columns ", name);
		roles->at[r] = i + 1;
		if (r >= NS) {
			roles->value = r;
			values++;
		}
	}
	if (!roles->at[TEXT])
		return bad_columns(err, "no column ", columns[TEXT]);
	if (values != 1)
		return bad_columns(err, values ? "more than one value" : "no value", "");
	return 0;
}

static int take_number(const struct query_stmt *s, const struct roles *roles, enum role r,
		       int64_t *value, struct spur_error *err)
{
	*value = FINDING_NONE;
	if (!roles->at[r])
		return 0;
	switch (query_type(s, roles->at[r] - 1)) {
	case QUERY_NULL: return 0;
	case QUERY_INTEGER:
	case QUERY_REAL: *value = query_int64(s, roles->at[r] - 1); return 0;
	default: return error_set(err, -EINVAL, "column %s is not a number", columns[r]);
	}
}

static int take_text(const struct query_stmt *s, const struct roles *roles, enum role r,
		     char **value, struct spur_error *err)
{
	size_t len;

	*value = NULL;
	if (!roles->at[r] || (r != TEXT && query_type(s, roles->at[r] - 1) == QUERY_NULL))
		return 0;
	*value = strdup(query_text(s, roles->at[r] - 1, &len));
	return *value ? 0 : error_set(err, -ENOMEM, "out of memory");
}

static int take_numbers(struct finding_row *row, const struct query_stmt *s,
			const struct roles *roles, struct spur_error *err)
{
	const struct {
		enum role role;
		int64_t *to;
	} numbers[] = {{roles->value, &row->value},
		       {TS, &row->ts},
		       {DUR, &row->dur},
		       {CPU, &row->cpu},
		       {PID, &row->pid}};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(numbers); i++)
		rc = take_number(s, roles, numbers[i].role, numbers[i].to, err);
	return rc;
}

static int take_row(struct finding *f, const struct query_stmt *s, const struct roles *roles,
		    struct spur_error *err)
{
	struct finding_row *row = vec_push(&f->rows);
	int rc;

	if (!row)
		return error_set(err, -ENOMEM, "out of memory");
	row->unit = (enum finding_unit)(roles->value - NS);
	rc = take_numbers(row, s, roles, err);
	if (rc == 0)
		rc = take_text(s, roles, COMM, &row->comm, err);
	if (rc == 0)
		rc = take_text(s, roles, BUFFER, &row->buffer, err);
	return rc == 0 ? take_text(s, roles, TEXT, &row->text, err) : rc;
}

static void free_rows(struct finding *f)
{
	vec_each (row, &f->rows) {
		free(row->comm);
		free(row->buffer);
		free(row->text);
	}
	vec_free(&f->rows);
}

/* ---- one query ---- */

/* Binds ":limit" to the number of rows that will be read. */
static int bind_limit(struct query_stmt *s, uint64_t rows, struct spur_error *err)
{
	char number[24];
	int rc = 0;

	snprintf(number, sizeof(number), "%llu", (unsigned long long)rows);
	for (size_t i = 1; rc == 0 && i <= query_nr_params(s); i++) {
		const char *name = query_param(s, i);

		if (name && strcmp(name + 1, "limit") == 0)
			rc = query_bind(s, i, number, err);
	}
	return rc;
}

static int run_statement(struct finding *f, struct query_stmt *s, uint64_t rows,
			 struct spur_error *err)
{
	const bool gives = query_nr_columns(s) > 0;
	struct roles roles;
	int rc = bind_limit(s, rows, err);

	if (rc == 0 && gives)
		rc = find_roles(s, &roles, err);
	if (rc < 0)
		return rc;
	while ((!gives || f->rows.n < rows) && (rc = query_step(s, err)) > 0) {
		rc = take_row(f, s, &roles, err);
		if (rc < 0)
			break;
	}
	return rc < 0 ? rc : 0;
}

static int run_text(struct finding *f, struct query *q, const char *text, uint64_t rows,
		    struct spur_error *err)
{
	int rc = 0;

	while (rc == 0) {
		struct query_stmt *s;
		size_t used;

		text += strspn(text, " \t\r\n;");
		if (!*text)
			break;
		rc = query_prepare(q, text, &s, &used, err);
		if (rc < 0)
			break;
		text += used;
		if (s)
			rc = run_statement(f, s, rows, err);
		query_stmt_free(s);
	}
	return rc;
}

/* ---- what it needs ---- */

/* The argument of the session's callbacks. */
struct making {
	const struct findings_options *opt;
	struct finding *finding;
};

static void on_progress(void *making, uint64_t done, uint64_t total)
{
	const struct findings_options *opt = ((struct making *)making)->opt;

	if (opt->progress)
		opt->progress(opt->arg, done, total);
}

static void forget_needs(struct finding *f)
{
	free(f->needs);
	free(f->record);
	f->needs = f->record = NULL;
}

static void note_needs(struct finding *f, const char *needs, const char *record)
{
	f->needs = strdup(needs);
	f->record = strdup(record);
	if (!f->needs || !f->record)
		forget_needs(f);
}

static void on_missing(void *making, const struct query_missing *m)
{
	struct finding *f = ((struct making *)making)->finding;

	if (!f->needs)
		note_needs(f, m->needs, m->record);
}

/* Appends those events of a list of which the trace has no record. */
static void find_absent(struct query *q, const char *list, struct buf *needs, struct buf *record)
{
	while (list += strspn(list, " \t\r,"), *list && *list != '\n') {
		const size_t len = strcspn(list, " \t\r\n,");
		char event[200];

		snprintf(event, sizeof(event), "%.*s", (int)len, list);
		list += len;
		if (query_has_event(q, event))
			continue;
		buf_printf(needs, "%s%s", needs->len ? " and " : "", event);
		buf_printf(record, "%s-e %s", record->len ? " " : "", event);
	}
}

/*
 * Checks the lines "-- needs: EVENT EVENT" of the head comment: there must be a record of each
 * event.
 */
static void check_needs(struct finding *f, struct query *q, const char *text)
{
	static const char word[] = "needs:";
	struct buf needs, record;

	buf_init(&needs, 4096);
	buf_init(&record, 4096);
	for (; strncmp(text, "--", 2) == 0; text += strcspn(text, "\n"), text += *text == '\n') {
		const char *at = text + 2 + strspn(text + 2, " \t");

		if (strncmp(at, word, sizeof(word) - 1) == 0)
			find_absent(q, at + sizeof(word) - 1, &needs, &record);
	}
	if (needs.len)
		note_needs(f, buf_str(&needs), buf_str(&record));
	buf_free(&needs);
	buf_free(&record);
}

/* ---- all of them ---- */

static int ask(struct finding *f, struct spur_trace *t, const char *text,
	       const struct findings_options *opt, struct spur_error *err)
{
	struct making m = {.opt = opt, .finding = f};
	const struct query_options session = {
		.stop = opt->stop, .progress = on_progress, .missing = on_missing, .arg = &m};
	struct query *q;
	int rc = query_open(&session, &q, err);

	if (rc == 0)
		rc = query_add(q, t, NULL, err);
	if (rc == 0)
		check_needs(f, q, text);
	if (rc == 0 && !f->needs)
		rc = run_text(f, q, text, opt->rows, err);
	query_close(q);
	return rc;
}

/* Whether an error prevents all further queries, not only this one. */
static bool is_fatal(int rc)
{
	return rc == -ENOMEM || rc == -EINTR;
}

static int make(struct finding *f, const char *name, struct spur_trace *t,
		const struct findings_options *opt, struct spur_error *err)
{
	const char *about;
	struct buf text;
	size_t len;
	int rc;

	buf_init(&text, SAVED_LIMIT);
	rc = saved_read(&kind, name, &text, &f->err);
	about = saved_summary(name, buf_str(&text), &len);
	f->name = strdup(name);
	f->about = strndup(about, len);
	if (rc == 0)
		rc = f->name && f->about ? ask(f, t, buf_str(&text), opt, &f->err)
					 : error_set(&f->err, -ENOMEM, "out of memory");
	buf_free(&text);
	if (rc < 0)
		free_rows(f);
	if (is_fatal(rc)) {
		if (err)
			*err = f->err;
		return rc;
	}
	/* If there is a row, missing events do not matter. */
	if (f->rows.n || rc < 0)
		forget_needs(f);
	return 0;
}

int findings_make(struct spur_trace *t, const struct findings_options *opt, struct findings *out,
		  struct spur_error *err)
{
	struct names names = {0};
	int rc = list_names(&names, opt->names, err);

	*out = (struct findings){0};
	for (size_t i = 0; rc == 0 && i < names.list.n; i++) {
		struct finding *f;

		if (opt->names && !listed(opt->names, names.list.at[i]))
			continue;
		f = vec_push(out);
		rc = f ? make(f, names.list.at[i], t, opt, err)
		       : error_set(err, -ENOMEM, "out of memory");
	}
	strings_free(&names.list);
	return rc;
}

void findings_free(struct findings *f)
{
	vec_each (one, f) {
		free_rows(one);
		free(one->name);
		free(one->about);
		forget_needs(one);
	}
	vec_free(f);
}
