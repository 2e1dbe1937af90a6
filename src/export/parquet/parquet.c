// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parquet: a folder of columnar files that engines like DuckDB and ClickHouse read, one table per
 * event type and per analysis, those of any number of traces beside each other.
 *
 * Records and rows go to their tables in one pass over the trace. When tables take more memory than
 * they may, the largest gives its back: it writes a row group early.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include <zstd.h>

#include "base/error.h"
#include "base/pattern.h"
#include "base/vec.h"
#include "export/export.h"
#include "export/parquet/folder.h"
#include "export/parquet/rows.h"
#include "export/reader.h"
#include "scan/identity.h"
#include "table/overview.h"

/* ---- settings ------------------------------------------------------------------------- */

#define MEMORY	    128 /* MB of all tables, about */
#define LEVEL	    1
#define GROUP_ROWS  (256u << 10)
#define MOST_ROWS   (64u << 20)
#define MOST_MEMORY 4096

struct settings {
	const char *host, *date; /* NULL: those of the trace */
	int64_t level, group_rows, memory;
	struct {
		struct wanted_table {
			struct pattern names;
			const char *text;
			size_t len;
			bool met; /* some table has such a name */
		} * at;
		size_t n, cap;
	} tables; /* none: all */
};

static int read_number(const struct export_job *job, const char *name, int64_t least, int64_t most,
		       int64_t *to, struct spur_error *err)
{
	const char *text = export_setting(job, name);
	char *end;

	if (!text)
		return 0;
	errno = 0;
	*to = strtoll(text, &end, 10);
	if (errno || end == text || *end || *to < least || *to > most)
		return error_set(err, -EINVAL, "%s: a number from %lld to %lld, not '%s'", name,
				 (long long)least, (long long)most, text);
	return 0;
}

static int read_tables(struct settings *c, const char *text, struct spur_error *err)
{
	while (text && *text) {
		const size_t len = strcspn(text, ",");
		struct wanted_table *chosen = vec_push(&c->tables);

		if (!chosen)
			return error_set(err, -ENOMEM, "out of memory");
		*chosen = (struct wanted_table){.text = text, .len = len};
		if (pattern_glob(&chosen->names, text, len, err) < 0)
			return err->code;
		text += len + (text[len] == ',');
	}
	return 0;
}

/* A valid date stays the same when it is converted to a time and back. */
static bool is_date(const char *text)
{
	struct tm tm = {.tm_isdst = 0};
	const char *end = strptime(text, "%Y-%m-%d", &tm);
	char again[32];
	time_t day;

	if (!end || *end)
		return false;
	day = timegm(&tm);
	return gmtime_r(&day, &tm) && strftime(again, sizeof(again), "%Y-%m-%d", &tm) == 10 &&
	       strcmp(again, text) == 0;
}

static int read_date(struct settings *c, const char *text, struct spur_error *err)
{
	if (text && !is_date(text))
		return error_set(err, -EINVAL, "date: a day as YYYY-MM-DD, not '%s'", text);
	c->date = text;
	return 0;
}

/* To be freed in any case. */
static int read_settings(struct settings *c, const struct export_job *job, struct spur_error *err)
{
	int rc;

	*c = (struct settings){.host = export_setting(job, "host"),
			       .level = LEVEL,
			       .group_rows = GROUP_ROWS,
			       .memory = MEMORY};
	rc = read_number(job, "level", 1, ZSTD_maxCLevel(), &c->level, err);
	if (rc == 0)
		rc = read_number(job, "row_group", 1, MOST_ROWS, &c->group_rows, err);
	if (rc == 0)
		rc = read_number(job, "memory", 1, MOST_MEMORY, &c->memory, err);
	c->memory <<= 20;
	if (rc == 0)
		rc = read_date(c, export_setting(job, "date"), err);
	if (rc == 0 && c->host && !*c->host)
		rc = error_set(err, -EINVAL, "host: a name");
	if (rc == 0)
		rc = read_tables(c, export_setting(job, "tables"), err);
	return rc;
}

static void free_settings(struct settings *c)
{
	vec_each (t, &c->tables)
		pattern_free(&t->names);
	vec_free(&c->tables);
}

/* Whether a table is wanted; `settings` is a pointer to anything, for callbacks. */
static bool is_chosen(void *settings, const char *table)
{
	struct settings *c = settings;
	bool chosen = !c->tables.n;

	vec_each (t, &c->tables)
		if (pattern_match(&t->names, table, strlen(table)))
			chosen = t->met = true;
	return chosen;
}

/* Notes which names no table has had. */
static void note_unmet(const struct settings *c, const struct export_job *job)
{
	vec_each (t, &c->tables)
		if (!t->met)
			export_note(job, "no table is called '%.*s'", (int)t->len, t->text);
}

#define LEAST_MEMORY (64u << 10) /* bytes of a table */
#define ROWS_SHARE   16		 /* rows of an analysis may take this part of the memory */

/* An analysis whose rows are taken. Threads take those of several at the same time. */
struct rows_export {
	size_t allowed; /* memory */
	struct pq_work work;
	struct spur_error err;
	struct pq_table *table;
	struct pq_rows *rows;
};

/* One trace. */
struct trace_export {
	const struct export_job *job;
	struct settings *settings;
	struct spur_trace *trace;
	struct identity id;
	struct pq_work work; /* of events, and of tables that are not read from records */
	int failed;	     /* what went wrong first, of whatever table */
	struct pq_store store;
	struct reader reader;
	struct pq_events **events; /* by the event's index */
	bool *left_out;		   /* the same: events that were not chosen */
	vec_of(struct pq_table *) tables;
	vec_of(struct rows_export *) rows;
	vec_of(struct export_table) pass;
	struct rows_export *losses;
	struct pq_about about;
	size_t allowed; /* memory of all events */
};

/* ---- tables --------------------------------------------------------------------------- */

/*
 * However many there are, each has room for some hundred rows: files of tiny pieces are of no use.
 */
static size_t allowance(const struct trace_export *x)
{
	const size_t least = x->tables.n * LEAST_MEMORY;

	return least > (size_t)x->settings->memory ? least : (size_t)x->settings->memory;
}

static struct pq_table *new_table(struct trace_export *x, struct pq_work *w, const char *name,
				  bool sorted)
{
	struct pq_table *t = pq_table_new(w, name, (uint32_t)x->tables.n + 1, sorted);

	if (!t || !vec_add(&x->tables, &t)) {
		pq_table_free(t);
		return NULL;
	}
	x->allowed = allowance(x);
	return t;
}

static bool is_taken(const struct trace_export *x, const char *name)
{
	static const char *const own[] = {"events", "traces", "losses", "clock_sync", NULL};

	for (size_t i = 0; own[i]; i++)
		if (strcasecmp(own[i], name) == 0)
			return true;
	for (size_t i = 0; tables[i]; i++)
		if (strcasecmp(tables[i]->name, name) == 0)
			return true;
	vec_each (t, &x->tables)
		if (strcmp((*t)->name, name) == 0)
			return true;
	return false;
}

/* As in SQL: "event", or "system:event" where that would name several. */
static char *event_table_name(const struct trace_export *x, const struct event *e)
{
	const struct events *ev = x->trace->events;
	bool several = is_taken(x, e->name);
	char *name;

	for (size_t i = 0; i < ev->nr && !several; i++)
		several = strcasecmp(ev->list[i]->name, e->name) == 0 &&
			  strcmp(ev->list[i]->system, e->system) != 0;
	if (!several)
		return strdup(e->name);
	if (asprintf(&name, "%s:%s", e->system, e->name) < 0)
		return NULL;
	/* Described twice in one trace, which no kernel does. */
	if (is_taken(x, name)) {
		free(name);
		if (asprintf(&name, "%s:%s:%d", e->system, e->name, e->id) < 0)
			return NULL;
	}
	return name;
}

static struct pq_events *begin_event(struct trace_export *x, struct event *e)
{
	char *name = event_table_name(x, e);
	struct pq_table *t = NULL;

	if (name && !is_chosen(x->settings, name)) {
		x->left_out[e->index] = true;
		free(name);
		return NULL;
	}
	if (name)
		t = new_table(x, &x->work, name, false);
	if (t)
		x->events[e->index] = pq_events_new(t, &x->reader, e, x->id.trace_id);
	if (!x->events[e->index])
		pq_fail(&x->work);
	free(name);
	return x->events[e->index];
}

static int init_work(struct trace_export *x, struct pq_work *w, struct spur_error *err)
{
	int rc = pq_work_init(w, (int)x->settings->level, err);

	w->wall = x->id.has_wall;
	w->group_rows = (uint32_t)x->settings->group_rows;
	w->folder = x->store.folder;
	w->failed = &x->failed;
	return rc;
}

static struct rows_export *begin_rows(struct trace_export *x, const struct table *like,
				      const char *name)
{
	struct rows_export **slot = vec_push(&x->rows), *r;

	if (!slot)
		return NULL;
	r = *slot = calloc(1, sizeof(*r));
	if (!r || init_work(x, &r->work, &r->err) < 0)
		return NULL;
	r->allowed = (size_t)x->settings->memory / ROWS_SHARE;
	if (r->allowed < LEAST_MEMORY)
		r->allowed = LEAST_MEMORY;
	r->table = new_table(x, &r->work, name, true);
	r->rows = r->table ? pq_rows_new(r->table, like, x->id.trace_id) : NULL;
	return r->rows ? r : NULL;
}

static void free_rows(struct rows_export *r)
{
	if (!r)
		return;
	pq_rows_free(r->rows);
	pq_work_free(&r->work);
	free(r);
}

static void take_row(void *rows, const void *row)
{
	struct rows_export *r = rows;

	pq_rows_take(r->rows, row);
	if (__builtin_expect(r->work.memory > r->allowed, 0))
		pq_table_shrink(r->table);
}

static void take_loss(void *exporting, const void *row)
{
	struct trace_export *x = exporting;
	const struct lost_row *loss = row;

	x->about.gaps++;
	if (loss->events > 0)
		x->about.lost = ns_add(x->about.lost, loss->events);
	if (x->losses)
		take_row(x->losses, row);
}

/* Losses are counted even if their table is not wanted. */
static int begin_derived(struct trace_export *x)
{
	for (size_t i = 0; tables[i]; i++) {
		const struct table *like = tables[i];
		const char *name = like == &lost_table ? "losses" : like->name;
		struct export_table taken = {like, take_row};
		struct rows_export *rows = NULL;

		if (like == &files_table || (like != &lost_table && !is_chosen(x->settings, name)))
			continue;
		if (is_chosen(x->settings, name)) {
			rows = begin_rows(x, like, name);
			if (!rows)
				return -ENOMEM;
		}
		taken.arg = rows;
		if (like == &lost_table) {
			taken = (struct export_table){like, take_loss, x};
			x->losses = rows;
		}
		if (!vec_add(&x->pass, &taken))
			return -ENOMEM;
	}
	return 0;
}

/* ---- the pass ------------------------------------------------------------------------- */

static void make_room(struct trace_export *x)
{
	struct pq_table *largest = NULL;

	vec_each (t, &x->tables)
		if ((*t)->work == &x->work && (!largest || (*t)->memory > largest->memory))
			largest = *t;
	if (largest)
		pq_table_shrink(largest);
}

static inline void take_record(struct trace_export *x, struct event *e, const struct spur_record *r)
{
	struct pq_events *ev = x->events[e->index];

	if (__builtin_expect(!ev, 0) && !x->left_out[e->index])
		ev = begin_event(x, e);
	if (ev)
		pq_events_take(ev, r);
	while (__builtin_expect(x->work.memory > x->allowed, 0) && x->work.rc == 0)
		make_room(x);
}

static void take_records(void *exporting, const struct table_record *all, uint32_t n)
{
	struct trace_export *x = exporting;
	uint64_t first = x->about.first, last = x->about.last;

	for (uint32_t i = 0; i < n; i++) {
		const uint64_t ts = all[i].record.ts;

		first = ts < first ? ts : first;
		last = ts > last ? ts : last;
		take_record(x, all[i].event, &all[i].record);
	}
	x->about.events += n;
	x->about.first = first;
	x->about.last = last;
}

/* What rows in batches point to is gone when the pass has ended. */
static void take_rest(void *exporting)
{
	struct trace_export *x = exporting;

	vec_each (t, &x->tables)
		pq_table_complete(*t);
}

static int read_trace(struct trace_export *x, struct spur_error *err)
{
	struct export_reader p = {.trace = x->trace,
				  .records = take_records,
				  .end = take_rest,
				  .arg = x,
				  .rows_apart = true,
				  .failed = &x->failed};

	if (begin_derived(x) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	p.tables = x->pass.at;
	p.nr_tables = x->pass.n;
	return export_reader_run(x->job, &p, err);
}

/* The words for what has failed: those of events are in err already. */
static int report_failed(const struct trace_export *x, struct spur_error *err)
{
	vec_each (r, &x->rows)
		if (x->work.rc == 0 && (*r)->work.rc < 0)
			*err = (*r)->err;
	return x->failed;
}

/* ---- files ---------------------------------------------------------------------------- */

static bool is_empty(const struct pq_table *t)
{
	/* That there are no losses is worth knowing. */
	return !t->nr_rows && !t->rows && strcmp(t->name, "losses") != 0;
}

static int describe(struct trace_export *x)
{
	struct pq_table *sync = NULL, *traces;

	if (is_chosen(x->settings, "clock_sync")) {
		sync = new_table(x, &x->work, "clock_sync", true);
		if (!sync)
			return -ENOMEM;
		pq_about_clocks(&x->about, sync);
	}
	traces = new_table(x, &x->work, "traces", true);
	if (!traces)
		return -ENOMEM;
	pq_about_trace(&x->about, traces);
	return x->failed;
}

static int keep_files(struct trace_export *x, struct spur_error *err)
{
	int rc = 0;

	vec_each (t, &x->tables)
		if (rc == 0 && !is_empty(*t))
			rc = pq_store_name(&x->store, (*t)->file, (*t)->name, err);
	return rc < 0 ? rc : pq_store_keep(&x->store, err);
}

static int write_files(struct trace_export *x, struct spur_error *err)
{
	int rc = describe(x);

	if (rc == -ENOMEM)
		return error_set(err, rc, "out of memory");
	for (size_t i = 0; i < x->tables.n && x->failed == 0; i++)
		if (!is_empty(x->tables.at[i]))
			pq_table_finish(x->tables.at[i]);
	return x->failed < 0 ? report_failed(x, err) : keep_files(x, err);
}

/* ---- one trace, all traces ------------------------------------------------------------ */

static void find_place(struct trace_export *x)
{
	const time_t seconds = (time_t)x->id.date;
	char date[32] = "1970-01-01";
	scoped_buf b = buf_new(sizeof(x->store.place.text) - 1);
	struct tm tm;

	if (gmtime_r(&seconds, &tm) && tm.tm_year >= 0 && tm.tm_year <= 8099)
		strftime(date, sizeof(date), "%Y-%m-%d", &tm);
	buf_printf(&b, "date=%s/host=", x->settings->date ? x->settings->date : date);
	pq_put_part(&b, x->settings->host ? x->settings->host : x->id.host);
	snprintf(x->store.place.text, sizeof(x->store.place.text), "%s", buf_str(&b));
}

static int begin(struct trace_export *x, struct spur_error *err)
{
	int rc = identity_make(&x->id, x->trace, err);

	if (rc < 0)
		return rc;
	x->about.trace = x->trace;
	x->about.id = &x->id;
	x->events = calloc(x->trace->events->nr + 1, sizeof(*x->events));
	x->left_out = calloc(x->trace->events->nr + 1, sizeof(*x->left_out));
	if (!x->events || !x->left_out)
		return error_set(err, -ENOMEM, "out of memory");
	find_place(x);
	x->store.out = x->job->target;
	x->store.trace_id = x->id.trace_id;
	x->store.chosen = is_chosen;
	x->store.arg = x->settings;
	rc = pq_store_open(&x->store, err);
	return rc < 0 ? rc : init_work(x, &x->work, err);
}

static void end(struct trace_export *x)
{
	for (size_t i = 0; x->events && i < x->trace->events->nr; i++)
		pq_events_free(x->events[i]);
	vec_each (t, &x->tables)
		pq_table_free(*t);
	vec_each (r, &x->rows)
		free_rows(*r);
	vec_free(&x->rows);
	vec_free(&x->tables);
	vec_free(&x->pass);
	free(x->events);
	free(x->left_out);
	pq_store_close(&x->store);
	pq_work_free(&x->work);
	reader_done(&x->reader);
}

static int export_trace(const struct export_job *job, struct settings *c, struct spur_trace *t,
			struct spur_error *err)
{
	struct trace_export x = {.job = job,
				 .settings = c,
				 .trace = t,
				 .store = {.folder = -1},
				 .about.first = UINT64_MAX};
	int rc;

	reader_init(&x.reader, t);
	rc = begin(&x, err);
	if (rc == 0)
		rc = read_trace(&x, err);
	if (x.failed < 0)
		rc = report_failed(&x, err);
	if (rc == 0)
		rc = write_files(&x, err);
	end(&x);
	return rc;
}

static int run(const struct export_job *job, struct spur_error *err)
{
	struct settings c;
	int rc = read_settings(&c, job, err);

	for (size_t i = 0; rc == 0 && i < job->nr_traces; i++)
		rc = export_trace(job, &c, job->traces[i], err);
	if (rc == 0)
		note_unmet(&c, job);
	free_settings(&c);
	return rc;
}

static const struct export_setting_info settings_info[] = {
	{"host", "the machine's name (as the trace has it)"},
	{"date", "YYYY-MM-DD (when the trace begins)"},
	{"tables", "only these, names or globs separated by commas"},
	{"level", "how hard zstd tries (1)"},
	{"row_group", "rows of events in a row group (262144)"},
	{"memory", "MB of rows that are not yet written (128)"},
	{NULL, NULL},
};

const struct export_format export_parquet = {
	.name = "parquet",
	.about = "a folder of Parquet files, a table for every event and analysis",
	.suffix = ".parquet",
	.kind = EXPORT_FOLDER,
	.settings = settings_info,
	.run = run,
};
