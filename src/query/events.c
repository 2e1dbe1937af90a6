// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The virtual tables of event types and of all records: a cursor is a walk over the trace.
 *
 * A scan either returns records in order of time as it reads them, or reads all of them before its
 * first row and returns groups. The result does not depend on that, nor on which conditions the
 * scan checks itself.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "query/parts.h"
#include "scan/run.h"

/* A row's number is the place of its record: lane, page, and offset in the page. */
#define ROWID_POS_BITS	18
#define ROWID_PAGE_BITS 32

struct event_table {
	sqlite3_vtab base;
	struct query_file *file;
	struct event *event; /* NULL: all records */
	struct cells cells;
	enum limit_kind *kinds;
	bool *coarse;
	bool noted; /* the user has been notified that it is empty */
	struct scans scans;
};

struct event_cursor {
	sqlite3_vtab_cursor base;
	struct walk walk;
	bool walking; /* the walk has been opened */
	struct limits limits;
	uint64_t *cpus;
	struct reader reader;
	struct groups *groups; /* NULL: records are returned as they are read */
	const struct spur_record *record;
	struct event *event; /* of the record */
	bool by_pid, by_event, by_ts, eof;
	sqlite3_int64 row;
};

/* ---- tables ---- */

static int declare(sqlite3 *db, const struct cells *cells)
{
	struct buf sql;
	int rc;

	buf_init(&sql, 4u << 20);
	buf_puts(&sql, "create table t(");
	for (size_t i = 0; i < cells->n; i++) {
		buf_puts(&sql, i ? ", " : "");
		put_identifier(&sql, cells->at[i].name);
		buf_puts(&sql, cell_is_text(&cells->at[i]) ? " text" : " integer");
	}
	buf_putc(&sql, ')');
	rc = sqlite3_declare_vtab(db, buf_str(&sql));
	buf_free(&sql);
	return rc;
}

static enum limit_kind limit_of(enum cell_kind kind)
{
	switch (kind) {
	case CELL_TS: return LIMIT_TS;
	case CELL_CPU: return LIMIT_CPU;
	case CELL_PID: return LIMIT_PID;
	case CELL_SYSTEM: return LIMIT_SYSTEM;
	case CELL_EVENT: return LIMIT_EVENT;
	default: return NR_LIMITS;
	}
}

static int disconnect(sqlite3_vtab *vtab)
{
	struct event_table *t = (struct event_table *)vtab;

	cells_free(&t->cells);
	free(t->kinds);
	free(t->coarse);
	free(t);
	return SQLITE_OK;
}

/* Arguments: the file's number, and that of the event, or -1. */
static int connect(sqlite3 *db, void *query, int argc, const char *const *argv, sqlite3_vtab **out,
		   char **why)
{
	const struct query *q = query;
	struct event_table *t = calloc(1, sizeof(*t));
	const long file = argc == 5 ? strtol(argv[3], NULL, 10) : -1;
	const long event = argc == 5 ? strtol(argv[4], NULL, 10) : -1;
	int rc = SQLITE_NOMEM;

	if (!t || file < 0 || (size_t)file >= q->files.n) {
		free(t);
		return SQLITE_ERROR;
	}
	t->file = q->files.at[file];
	if (event >= 0 && (size_t)event < t->file->trace->events->nr)
		t->event = t->file->trace->events->list[event];
	if (cells_make(&t->cells, t->event) == 0) {
		t->kinds = calloc(t->cells.n, sizeof(*t->kinds));
		t->coarse = calloc(t->cells.n, sizeof(*t->coarse));
		rc = t->kinds && t->coarse ? declare(db, &t->cells) : SQLITE_NOMEM;
	}
	if (rc != SQLITE_OK) {
		disconnect(&t->base);
		return rc;
	}
	for (size_t i = 0; i < t->cells.n; i++) {
		t->kinds[i] = limit_of(t->cells.at[i].kind);
		t->coarse[i] = t->kinds[i] != LIMIT_TS && t->cells.at[i].kind != CELL_REPORT;
	}
	*out = &t->base;
	return SQLITE_OK;
}

static int best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	const struct event_table *t = (struct event_table *)vtab;
	const struct plan_request req = {
		.query = t->file->query,
		.kinds = t->kinds,
		.coarse = t->coarse,
		.nr_columns = (int)t->cells.n,
		.in_order = true,
		.rows = (double)t->file->records,
	};

	return plan_make(&req, info);
}

/* ---- scans ---- */

static int cursor_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out)
{
	const struct event_table *t = (struct event_table *)vtab;
	struct event_cursor *c = calloc(1, sizeof(*c));

	if (!c)
		return SQLITE_NOMEM;
	reader_init(&c->reader, t->file->trace);
	c->eof = true;
	*out = &c->base;
	return SQLITE_OK;
}

static void scan_end(struct event_cursor *c)
{
	if (c->walking)
		walk_close(&c->walk);
	c->walking = false;
	limits_free(&c->limits);
	c->limits = (struct limits){0};
	groups_free(c->groups);
	c->groups = NULL;
	free(c->cpus);
	c->cpus = NULL;
	c->record = NULL;
}

static int cursor_close(sqlite3_vtab_cursor *cursor)
{
	struct event_cursor *c = (struct event_cursor *)cursor;

	scan_end(c);
	reader_done(&c->reader);
	free(c);
	return SQLITE_OK;
}

/* Makes the walk skip CPUs that are not needed. */
static int choose_cpus(struct event_cursor *c, const struct spur_trace *t, struct walk_options *opt)
{
	uint32_t highest = 0;

	if (!c->limits.numbers[LIMIT_CPU].n)
		return SQLITE_OK;
	for (uint32_t i = 0; i < t->nr_buffers; i++)
		for (uint32_t k = 0; k < t->buffers[i].data->nr_cpus; k++)
			if (t->buffers[i].data->cpus[k].cpu > highest)
				highest = t->buffers[i].data->cpus[k].cpu;
	/* Records are checked in any case, so an absurd number of a CPU needs no memory. */
	if (highest >= 1u << 20)
		return SQLITE_OK;
	if (!c->cpus)
		c->cpus = calloc(highest / 64 + 1, sizeof(*c->cpus));
	if (!c->cpus)
		return SQLITE_NOMEM;
	for (uint32_t cpu = 0; cpu <= highest; cpu++)
		if (limits_have(&c->limits, LIMIT_CPU, cpu))
			c->cpus[cpu / 64] |= 1ull << (cpu % 64);
	opt->cpus = c->cpus;
	opt->nr_cpus = highest + 1;
	return SQLITE_OK;
}

static void choose_events(struct event_cursor *c, const struct event_table *t)
{
	const struct events *ev = t->file->trace->events;

	if (t->event)
		walk_want(&c->walk, t->event);
	else if (!c->by_event)
		walk_want_all(&c->walk);
	else
		for (size_t i = 0; i < ev->nr; i++)
			if (limits_have_event(&c->limits, ev->list[i]))
				walk_want(&c->walk, ev->list[i]);
}

static int walk_begin(struct event_cursor *c, const struct event_table *t)
{
	struct walk_options opt = query_walk_options(t->file->query);
	struct spur_error err = {0};
	int rc = choose_cpus(c, t->file->trace, &opt);

	if (rc != SQLITE_OK)
		return rc;
	if (c->walking)
		walk_close(&c->walk);
	c->walking = false;
	c->eof = !limits_range(&c->limits, &opt);
	if (c->eof)
		return SQLITE_OK;
	rc = walk_open(&c->walk, t->file->trace, &opt, &err);
	c->walking = true;
	if (rc < 0) {
		vtab_error(c->base.pVtab, err.text);
		return SQLITE_ERROR;
	}
	choose_events(c, t);
	return SQLITE_OK;
}

/* Whether the record is one of the table's and within the limits. */
static inline bool wanted(const struct event_cursor *c, const struct event_table *t,
			  const struct event *e, const struct spur_record *r)
{
	if (t->event ? e != t->event : c->by_event && !limits_have_event(&c->limits, e))
		return false;
	if (c->by_pid &&
	    !limits_have(&c->limits, LIMIT_PID, events_record_pid(t->file->trace->events, r)))
		return false;
	/* The walk has checked these limits already, except in special cases. */
	return (!c->by_ts || limits_have(&c->limits, LIMIT_TS, (int64_t)r->ts)) &&
	       (!c->limits.numbers[LIMIT_CPU].n || limits_have(&c->limits, LIMIT_CPU, r->cpu));
}

/* The next wanted record; NULL at the end, or after a stop. */
static const struct spur_record *next_record(struct event_cursor *c, const struct event_table *t)
{
	const struct spur_record *r;

	do {
		r = walk_next(&c->walk);
		if (!r)
			return NULL;
		c->event = events_of_record(t->file->trace->events, r);
	} while (!wanted(c, t, c->event, r));
	return r;
}

/* One pass over the trace, by one thread. */
static int group_pass(struct event_cursor *c, const struct event_table *t)
{
	struct query *q = t->file->query;
	const struct spur_record *r;
	int rc = walk_begin(c, t);

	while (rc == SQLITE_OK && !c->eof && (r = next_record(c, t)) != NULL) {
		enum groups_result got = groups_add(c->groups, &c->reader, c->event, r);

		/* A record that did not fit may belong to a later pass, or has to be added now. */
		while (got == GROUPS_FULL && q->has_rows) {
			if (!groups_shrink(c->groups))
				return SQLITE_NOMEM;
			got = groups_add(c->groups, &c->reader, c->event, r);
		}
		if (got == GROUPS_FULL) {
			q->too_many = true;
			vtab_error(c->base.pVtab, "too many groups");
			return SQLITE_ERROR;
		}
		if (got == GROUPS_NO_MEMORY)
			return SQLITE_NOMEM;
	}
	if (rc == SQLITE_OK && c->walking && c->walk.stopped)
		return SQLITE_INTERRUPT;
	groups_sort(c->groups);
	return rc;
}

/* ---- groups, by several threads ---- */

/* The groups of a slice of time. */
struct part {
	const struct event_cursor *cursor;
	const struct event_table *table;
	struct groups *groups;
	struct reader reader;
};

static void part_free(void *part)
{
	struct part *p = part;

	if (!p)
		return;
	groups_free(p->groups);
	reader_done(&p->reader);
	free(p);
}

static void *part_begin(void *cursor)
{
	const struct event_cursor *c = cursor;
	struct part *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->cursor = c;
	p->table = (const struct event_table *)c->base.pVtab;
	reader_init(&p->reader, p->table->file->trace);
	p->groups = groups_part(c->groups);
	if (p->groups)
		return p;
	part_free(p);
	return NULL;
}

/* -E2BIG: more groups than fit into memory. */
static int groups_errno(enum groups_result got)
{
	return got == GROUPS_OK ? 0 : got == GROUPS_FULL ? -E2BIG : -ENOMEM;
}

static int part_record(void *part, const struct lane *l)
{
	struct part *p = part;
	struct event *e = events_of_record(p->table->file->trace->events, &l->rec);

	if (!wanted(p->cursor, p->table, e, &l->rec))
		return 0;
	return groups_errno(groups_add(p->groups, &p->reader, e, &l->rec));
}

static int part_join(void *cursor, const void *part)
{
	const struct event_cursor *c = cursor;

	return groups_errno(groups_join(c->groups, ((const struct part *)part)->groups));
}

static const struct scan_sink group_sink = {part_begin, part_record, part_join, part_free};

/*
 * 0, or a negative errno: -E2BIG if one thread has to do it in several passes, or if it is
 * impossible.
 */
static int group_slices(struct event_cursor *c, const struct event_table *t, unsigned int threads)
{
	const struct walk_options *o = &c->walk.opt;
	const struct scan_run run = {
		.trace = t->file->trace,
		.opt = {.since = o->since,
			.has_until = o->until > 0,
			.until = o->until,
			.cpus = o->cpus,
			.nr_cpus = o->nr_cpus,
			.filter = c->walk.all ? NULL : &c->walk.filter,
			.stop = o->stop,
			.progress = o->progress,
			.progress_arg = o->progress_arg},
		.sink = &group_sink,
		.arg = c,
		.threads = threads,
	};

	return scan_run(&run);
}

/* The first pass, mostly the only one. */
static int group_all(struct event_cursor *c, const struct event_table *t)
{
	const unsigned int threads = scan_threads(t->file->trace, t->file->query->opt.threads);
	int rc;

	if (threads < 2)
		return group_pass(c, t);
	rc = walk_begin(c, t);
	if (rc != SQLITE_OK || c->eof)
		return rc;
	rc = group_slices(c, t, threads);
	if (rc == -E2BIG) {
		groups_clear(c->groups);
		return group_pass(c, t);
	}
	groups_sort(c->groups);
	return rc == 0 ? SQLITE_OK : rc == -EINTR ? SQLITE_INTERRUPT : SQLITE_NOMEM;
}

/* A query of a type that was not recorded may be a mistake, so the user gets a note. */
static void note_empty(const struct event_cursor *c, struct event_table *t)
{
	const struct query_options *o = &t->file->query->opt;
	char name[256], record[260];

	if (t->noted || !t->event || !query_tells_missing(t->file->query) || c->by_pid ||
	    c->by_ts || c->by_event || c->cpus)
		return;
	t->noted = true;
	snprintf(name, sizeof(name), "%s:%s", t->event->system, t->event->name);
	snprintf(record, sizeof(record), "-e %s", name);
	if (o->missing)
		o->missing(o->arg, &(struct query_missing){t->event->name, name, record});
	else
		query_tell(t->file->query, "this trace has no records of %s", name);
}

static int cursor_next(sqlite3_vtab_cursor *cursor)
{
	struct event_cursor *c = (struct event_cursor *)cursor;
	struct event_table *t = (struct event_table *)cursor->pVtab;

	c->row++;
	if (!c->groups) {
		c->record = next_record(c, t);
		c->eof = !c->record;
		if (c->eof && c->walk.stopped)
			return SQLITE_INTERRUPT;
		if (c->eof && c->row == 1)
			note_empty(c, t);
		return SQLITE_OK;
	}
	while (!groups_next(c->groups, t->file->query->counts)) {
		int rc;

		c->eof = !groups_more(c->groups);
		if (c->eof && c->row == 1)
			note_empty(c, t);
		if (c->eof)
			return SQLITE_OK;
		groups_again(c->groups);
		rc = group_pass(c, t);
		if (rc != SQLITE_OK)
			return rc;
	}
	if (t->file->query->counts)
		t->file->query->weight = groups_count(c->groups);
	c->eof = false;
	return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *cursor, int number, const char *plan, int argc,
		  sqlite3_value **argv)
{
	struct event_cursor *c = (struct event_cursor *)cursor;
	struct event_table *t = (struct event_table *)cursor->pVtab;
	int rc;

	scan_end(c);
	rc = limits_read(&c->limits, plan, argv, argc);
	if (rc != SQLITE_OK)
		return rc;
	c->by_ts = c->limits.numbers[LIMIT_TS].n > 0;
	c->by_pid = c->limits.numbers[LIMIT_PID].n > 0;
	c->by_event = c->limits.names.n > 0;
	c->row = 0;
	if (!c->by_ts && t->file->records >= MANY_RECORDS)
		query_note_scan(t->file->query, t->event ? t->event->name : "events", &t->scans);
	if (c->limits.nr_group) {
		c->groups = groups_new(t->cells.at, &c->limits);
		if (!c->groups)
			return SQLITE_NOMEM;
		rc = group_all(c, t);
		return rc == SQLITE_OK ? cursor_next(cursor) : rc;
	}
	rc = walk_begin(c, t);
	return rc == SQLITE_OK && !c->eof ? cursor_next(cursor) : rc;
}

static int at_end(sqlite3_vtab_cursor *cursor)
{
	return ((struct event_cursor *)cursor)->eof;
}

static void value_result(sqlite3_context *ctx, const struct cell_value *v)
{
	switch (v->type) {
	case VALUE_NULL: sqlite3_result_null(ctx); break;
	case VALUE_NUMBER: sqlite3_result_int64(ctx, v->number); break;
	case VALUE_TEXT:
		sqlite3_result_text(ctx, v->text, (int)v->len,
				    v->stays ? SQLITE_STATIC : SQLITE_TRANSIENT);
		break;
	}
}

static int column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int number)
{
	struct event_cursor *c = (struct event_cursor *)cursor;
	const struct event_table *t = (struct event_table *)cursor->pVtab;
	struct cell_value v;

	if (!c->groups) {
		reader_get(&c->reader, &t->cells.at[number], c->event, c->record, &v);
	} else if (!groups_value(c->groups, number, &v)) {
		sqlite3_result_error(ctx, "a column was read that is no part of the groups", -1);
		return SQLITE_OK;
	}
	value_result(ctx, &v);
	return SQLITE_OK;
}

/* SQLite uses this number to find duplicates if it searches rows in several scans ("or"). */
static int rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id)
{
	const struct event_cursor *c = (struct event_cursor *)cursor;
	const struct lane *l = c->groups ? NULL : c->walk.scan.current;
	uint64_t lane = 0;

	*id = c->row;
	if (!l)
		return SQLITE_OK;
	for (uint32_t i = 0; i < l->buffer->index; i++)
		lane += l->buffer->trace->buffers[i].data->nr_cpus;
	lane += (uint64_t)(l->cpu - l->buffer->data->cpus);
	*id = (sqlite3_int64)((lane << ROWID_PAGE_BITS | l->page_index) << ROWID_POS_BITS |
			      l->rec_pos);
	return SQLITE_OK;
}

const sqlite3_module event_module = {
	.iVersion = 1,
	.xCreate = connect,
	.xConnect = connect,
	.xBestIndex = best_index,
	.xDisconnect = disconnect,
	.xDestroy = disconnect,
	.xOpen = cursor_open,
	.xClose = cursor_close,
	.xFilter = filter,
	.xNext = cursor_next,
	.xEof = at_end,
	.xColumn = column,
	.xRowid = rowid,
};
