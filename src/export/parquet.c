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

#include "table/overview.h"
#include "base/error.h"
#include "base/vec.h"
#include "export/formats.h"
#include "scan/identity.h"
#include "export/parquet_about.h"
#include "export/parquet_choices.h"
#include "export/parquet_events.h"
#include "export/parquet_store.h"
#include "export/pass.h"

#define LEAST_MEMORY (64u << 10) /* bytes of a table */

/* One trace. */
struct exporting {
	const struct export_job *job;
	struct pq_choices *choices;
	struct spur_trace *trace;
	struct identity id;
	struct pq_work work;
	struct pq_store store;
	struct reader reader;
	struct pq_events **events; /* by the event's index */
	bool *left_out;		   /* the same: events that were not chosen */
	struct {
		struct pq_table **at;
		size_t n, cap;
	} tables;
	struct {
		struct pq_rows **at;
		size_t n, cap;
	} rows;
	struct {
		struct pass_table *at;
		size_t n, cap;
	} pass;
	struct pq_rows *losses;
	struct pq_about about;
	size_t allowed; /* memory of all tables */
};

/* ---- tables ---- */

/* However many there are, each has room for some hundred rows: files of tiny pieces help nobody. */
static size_t allowance(const struct exporting *x)
{
	const size_t least = x->tables.n * LEAST_MEMORY;

	return least > (size_t)x->choices->memory ? least : (size_t)x->choices->memory;
}

static struct pq_table *new_table(struct exporting *x, const char *name, bool sorted)
{
	struct pq_table **slot = vec_push(&x->tables);

	if (!slot)
		return NULL;
	*slot = pq_table_new(&x->work, name, (uint32_t)x->tables.n, sorted);
	x->allowed = allowance(x);
	if (*slot)
		return *slot;
	x->tables.n--;
	return NULL;
}

static bool is_taken(const struct exporting *x, const char *name)
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
static char *event_table_name(const struct exporting *x, const struct event *e)
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

static struct pq_events *begin_event(struct exporting *x, struct event *e)
{
	char *name = event_table_name(x, e);
	struct pq_table *t = NULL;

	if (name && !pq_is_chosen(x->choices, name)) {
		x->left_out[e->index] = true;
		free(name);
		return NULL;
	}
	if (name)
		t = new_table(x, name, false);
	if (t)
		x->events[e->index] = pq_events_new(t, &x->reader, e, x->id.trace_id);
	if (!x->events[e->index])
		x->work.rc = error_set(x->work.err, -ENOMEM, "out of memory");
	free(name);
	return x->events[e->index];
}

static struct pq_rows *begin_rows(struct exporting *x, const struct table *like, const char *name)
{
	struct pq_table *t = new_table(x, name, true);
	struct pq_rows **slot = t ? vec_push(&x->rows) : NULL;

	if (slot)
		*slot = pq_rows_new(t, like, x->id.trace_id);
	return slot ? *slot : NULL;
}

static void take_loss(void *exporting, const void *row)
{
	struct exporting *x = exporting;
	const struct lost_row *loss = row;

	/* As in all sums of losses, those that no event comes after do not count. */
	if (!lost_at_end(loss)) {
		x->about.gaps++;
		if (loss->events > 0)
			x->about.lost = ns_add(x->about.lost, loss->events);
	}
	if (x->losses)
		pq_rows_take(x->losses, row);
}

/* Losses are counted even if nobody wants their table. */
static int begin_derived(struct exporting *x)
{
	for (size_t i = 0; tables[i]; i++) {
		const struct table *like = tables[i];
		const char *name = like == &lost_table ? "losses" : like->name;
		struct pass_table *p;
		struct pq_rows *rows = NULL;

		if (like == &files_table ||
		    (like != &lost_table && !pq_is_chosen(x->choices, name)))
			continue;
		if (pq_is_chosen(x->choices, name)) {
			rows = begin_rows(x, like, name);
			if (!rows)
				return -ENOMEM;
		}
		p = vec_push(&x->pass);
		if (!p)
			return -ENOMEM;
		*p = (struct pass_table){like, pq_rows_take, rows};
		if (like == &lost_table) {
			*p = (struct pass_table){like, take_loss, x};
			x->losses = rows;
		}
	}
	return 0;
}

/* ---- the pass ---- */

static void make_room(struct exporting *x)
{
	struct pq_table *largest = NULL;

	vec_each (t, &x->tables)
		if (!largest || (*t)->memory > largest->memory)
			largest = *t;
	if (largest)
		pq_table_shrink(largest);
}

static inline void take_record(struct exporting *x, struct event *e, const struct spur_record *r)
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
	struct exporting *x = exporting;
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
	struct exporting *x = exporting;

	vec_each (t, &x->tables)
		pq_table_complete(*t);
}

static int read_trace(struct exporting *x, struct spur_error *err)
{
	struct pass p = {.trace = x->trace,
			 .records = take_records,
			 .end = take_rest,
			 .arg = x,
			 .failed = &x->work.rc};

	if (begin_derived(x) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	p.tables = x->pass.at;
	p.nr_tables = x->pass.n;
	return pass_run(x->job, &p, err);
}

/* ---- files ---- */

static bool is_empty(const struct pq_table *t)
{
	/* That there are no losses is worth knowing. */
	return !t->nr_rows && !t->rows && strcmp(t->name, "losses") != 0;
}

static int describe(struct exporting *x)
{
	struct pq_table *sync = NULL, *traces;

	if (pq_is_chosen(x->choices, "clock_sync")) {
		sync = new_table(x, "clock_sync", true);
		if (!sync)
			return -ENOMEM;
		pq_about_clocks(&x->about, sync);
	}
	traces = new_table(x, "traces", true);
	if (!traces)
		return -ENOMEM;
	pq_about_trace(&x->about, traces);
	return x->work.rc;
}

static int keep_files(struct exporting *x, struct spur_error *err)
{
	int rc = 0;

	vec_each (t, &x->tables)
		if (rc == 0 && !is_empty(*t))
			rc = pq_store_name(&x->store, (*t)->file, (*t)->name, err);
	return rc < 0 ? rc : pq_store_keep(&x->store, err);
}

static int write_files(struct exporting *x, struct spur_error *err)
{
	int rc = describe(x);

	if (rc == -ENOMEM)
		return error_set(err, rc, "out of memory");
	for (size_t i = 0; i < x->tables.n && x->work.rc == 0; i++)
		if (!is_empty(x->tables.at[i]))
			pq_table_finish(x->tables.at[i]);
	return x->work.rc < 0 ? x->work.rc : keep_files(x, err);
}

/* ---- one trace, all traces ---- */

static void find_place(struct exporting *x)
{
	const time_t seconds = (time_t)x->id.date;
	char date[32] = "1970-01-01";
	struct buf b;
	struct tm tm;

	if (gmtime_r(&seconds, &tm) && tm.tm_year >= 0 && tm.tm_year <= 8099)
		strftime(date, sizeof(date), "%Y-%m-%d", &tm);
	buf_init(&b, sizeof(x->store.place.text) - 1);
	buf_printf(&b, "date=%s/host=", x->choices->date ? x->choices->date : date);
	pq_put_part(&b, x->choices->host ? x->choices->host : x->id.host);
	snprintf(x->store.place.text, sizeof(x->store.place.text), "%s", buf_str(&b));
	buf_free(&b);
}

static int begin(struct exporting *x, struct spur_error *err)
{
	int rc = identity_make(&x->id, x->trace, err);

	if (rc < 0)
		return rc;
	x->about.trace = x->trace;
	x->about.id = &x->id;
	x->work.wall = x->id.has_wall;
	x->work.group_rows = (uint32_t)x->choices->group_rows;
	x->events = calloc(x->trace->events->nr + 1, sizeof(*x->events));
	x->left_out = calloc(x->trace->events->nr + 1, sizeof(*x->left_out));
	if (!x->events || !x->left_out)
		return error_set(err, -ENOMEM, "out of memory");
	find_place(x);
	x->store.out = x->job->target;
	x->store.trace_id = x->id.trace_id;
	x->store.chosen = pq_is_chosen;
	x->store.arg = x->choices;
	rc = pq_store_open(&x->store, err);
	x->work.folder = x->store.folder;
	return rc;
}

static void end(struct exporting *x)
{
	for (size_t i = 0; x->events && i < x->trace->events->nr; i++)
		pq_events_free(x->events[i]);
	vec_each (r, &x->rows)
		pq_rows_free(*r);
	vec_each (t, &x->tables)
		pq_table_free(*t);
	vec_free(&x->rows);
	vec_free(&x->tables);
	vec_free(&x->pass);
	free(x->events);
	free(x->left_out);
	pq_store_close(&x->store);
	pq_work_free(&x->work);
	reader_done(&x->reader);
}

static int export_trace(const struct export_job *job, struct pq_choices *c, struct spur_trace *t,
			struct spur_error *err)
{
	struct exporting x = {.job = job,
			      .choices = c,
			      .trace = t,
			      .store = {.folder = -1},
			      .about.first = UINT64_MAX};
	int rc = pq_work_init(&x.work, (int)c->level, err);

	reader_init(&x.reader, t);
	if (rc == 0)
		rc = begin(&x, err);
	if (rc == 0)
		rc = read_trace(&x, err);
	if (rc == 0)
		rc = write_files(&x, err);
	end(&x);
	return rc;
}

static int run(const struct export_job *job, struct spur_error *err)
{
	struct pq_choices c;
	int rc = pq_choose(&c, job, err);

	for (size_t i = 0; rc == 0 && i < job->nr_traces; i++)
		rc = export_trace(job, &c, job->traces[i], err);
	if (rc == 0)
		pq_choices_tell(&c, job);
	pq_choices_free(&c);
	return rc;
}

static const struct export_setting_info settings[] = {
	{"host", "the machine's name (as the trace has it)"},
	{"date", "YYYY-MM-DD (when the trace begins)"},
	{"tables", "only these, names or globs separated by commas"},
	{"level", "how hard zstd tries (1)"},
	{"row_group", "rows of events that lie together (262144)"},
	{"memory", "MB that rows may take which are not yet written (128)"},
	{NULL, NULL},
};

const struct export_format export_parquet = {
	.name = "parquet",
	.about = "a folder of Parquet files, a table for every event and analysis",
	.suffix = ".parquet",
	.kind = EXPORT_FOLDER,
	.settings = settings,
	.run = run,
};
