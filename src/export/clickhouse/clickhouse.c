// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ClickHouse: a table for every event type and for every derived table, filled over HTTP.
 *
 * Blocks in the spool are delivered first. Then each trace is read once, while a courier (a thread)
 * delivers its blocks. In the end the server is queried whether it has everything.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "table/calls.h"
#include "table/overview.h"
#include "table/sched.h"
#include "table/spans.h"
#include "table/stacks.h"
#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "export/clickhouse/rows.h"
#include "export/export.h"
#include "export/reader.h"

#define PLAN_LIMIT	  (64u << 10)
#define DEFAULT_SPOOL_MAX (4ull << 30)

struct load {
	const struct export_job *job;
	struct ch_options opt;
	struct ch_store store;
	struct ch_spool spool;
	uint64_t undelivered;	/* traces */
	struct spur_error away; /* the reason of the first one */
};

/* ---- settings: a spool, a cluster's shards ---- */

static void free_options(struct ch_options *o)
{
	ch_address_free(&o->at);
	free(o->spool);
}

static char *spool_root(void)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char *path = NULL;

	if (geteuid() == 0)
		return strdup("/var/spool/spur");
	if (state && *state == '/')
		return asprintf(&path, "%s/spur/spool", state) < 0 ? NULL : path;
	if (home && *home == '/')
		return asprintf(&path, "%s/.local/state/spur/spool", home) < 0 ? NULL : path;
	return asprintf(&path, "%s/spur-spool-%u", file_temp(), (unsigned int)geteuid()) < 0 ? NULL
											     : path;
}

/* Each server and database has a folder of its own. */
static int choose_spool(struct ch_options *o, const char *given, struct spur_error *err)
{
	char *root = given ? strdup(given) : spool_root();
	int n = root ? asprintf(&o->spool, "%s/%s_%s_%s", root, o->at.host, o->at.port,
				o->at.database)
		     : -1;

	free(root);
	if (n < 0) {
		o->spool = NULL;
		return error_set(err, -ENOMEM, "out of memory");
	}
	for (char *c = o->spool + n - (int)strlen(strrchr(o->spool, '/')) + 1; *c; c++)
		if (*c == ':' || *c == '%')
			*c = '_';
	return 0;
}

static int read_numbers(struct ch_options *o, const struct ch_settings *s, struct spur_error *err)
{
	double deliver = 0, most = (double)DEFAULT_SPOOL_MAX;
	int rc = ch_setting_number(s, "deliver", 1, &deliver, err);

	if (rc == 0)
		rc = ch_setting_number(s, "spool_max", 1e18, &most, err);
	o->deliver = deliver > 0;
	o->spool_max = (uint64_t)most;
	return rc;
}

static int check_machine(const char *name, struct spur_error *err)
{
	if (name && (!*name || strlen(name) >= IDENTITY_NAME))
		return error_set(err, -EINVAL, "host=%.20s: a name of 1 to %d bytes is needed",
				 name, IDENTITY_NAME - 1);
	return 0;
}

static const char *setting(const void *job, const char *name)
{
	return export_setting(job, name);
}

static int read_options(struct ch_options *o, const struct export_job *job, struct spur_error *err)
{
	const struct ch_settings settings = {.get = setting, .arg = job, .stop = job->walk.stop};
	int rc;

	*o = (struct ch_options){
		.shards = export_setting(job, "shards"),
		.machine = export_setting(job, "host"),
	};
	rc = ch_address_read(&o->at, job->target, &settings, err);
	if (rc == 0)
		rc = read_numbers(o, &settings, err);
	if (rc == 0)
		rc = check_machine(o->machine, err);
	if (rc == 0 && o->shards && !o->at.cluster)
		rc = error_set(err, -EINVAL, "shards= is about a cluster: cluster=NAME is missing");
	if (rc == 0)
		rc = choose_spool(o, export_setting(job, "spool"), err);
	if (rc == 0 && ch_address_exposes(&o->at))
		export_note(job, "the password goes to %s as it is: clickhouses:// encrypts it",
			    o->at.host);
	return rc;
}

/* ---- tables of rows ---- */

static const struct table *const row_tables[] = {
	&slices_table,	 &states_table, &wakeups_table, &syscalls_table, &irqs_table,
	&softirqs_table, &block_table,	&calls_table,	&stacks_table,	 &samples_table,
	&tasks_table,	 &cpus_table,	&lost_table,
};

#define NR_TABLES ARRAY_SIZE(row_tables)

/* The argument of a function that gets rows: which table they belong to. */
struct taker {
	struct ch_rows *rows;
	const struct table *table;
};

static void take_row(void *arg, const void *row)
{
	const struct taker *t = arg;

	ch_rows_row(t->rows, t->table, row);
}

/* ---- a trace ---- */

/* Describes the exported part of the trace, on which the blocks depend. */
static int put_plan(const struct export_job *job, const struct spur_trace *t, struct buf *to,
		    struct spur_error *err)
{
	const struct walk_options *w = &job->walk;
	const struct select_filters *f = job->select ? select_filters_of(job->select, t) : NULL;

	buf_printf(to, "%d", CH_PLAN);
	if (w->since)
		buf_printf(to, " since=%" PRIu64, w->since);
	if (w->until)
		buf_printf(to, " until=%" PRIu64, w->until);
	for (uint32_t i = 0; w->cpus && i < w->nr_cpus; i++)
		if (w->cpus[i / 64] >> (i % 64) & 1)
			buf_printf(to, " cpu=%u", i);
	if (job->select && job->select->no_irqs)
		buf_puts(to, " -I");
	if (job->select && job->select->no_softirqs)
		buf_puts(to, " -S");
	if (f && f->wanted) {
		buf_puts(to, " only=");
		filter_show(f->wanted, to);
	}
	if (f && f->unwanted) {
		buf_puts(to, " not=");
		filter_show(f->unwanted, to);
	}
	buf_str(to);
	/* A row of the server's is one line. */
	for (size_t i = 0; i < to->len; i++)
		if (to->data[i] == '\n' || !to->data[i])
			to->data[i] = ' ';
	return buf_full(to) ? error_set(err, -E2BIG, "the filters are too long") : 0;
}

static int read_trace(struct load *l, struct ch_rows *rows, const struct identity *id,
		      const char *plan, struct spur_error *err)
{
	struct taker takers[NR_TABLES];
	struct export_table tables_of_pass[NR_TABLES];
	const struct export_reader pass = {
		.trace = rows->trace,
		.tables = tables_of_pass,
		.nr_tables = NR_TABLES,
		.record = ch_rows_record,
		.arg = rows,
		.failed = &rows->rc,
	};
	int rc = ch_rows_trace(rows, id, plan);

	for (size_t i = 0; i < NR_TABLES; i++) {
		takers[i] = (struct taker){rows, row_tables[i]};
		tables_of_pass[i] = (struct export_table){
			.table = row_tables[i], .row = take_row, .arg = &takers[i]};
	}
	if (rc == 0)
		rc = export_reader_run(l->job, &pass, err);
	if (rc == 0)
		ch_rows_end(rows);
	return rows->rc < 0 ? ch_pass_on(rows->rc, &rows->err, err) : rc;
}

static int finish_trace(struct load *l, struct ch_courier *courier, const struct ch_rows *rows,
			struct spur_error *err)
{
	struct spur_error why = {0};
	int rc = 0;

	if (!courier->away) {
		rc = ch_store_verify(&l->store, rows->like.host, rows->like.trace_id, &why);
		/* All blocks were acknowledged; only the check is impossible. */
		return rc == -EHOSTDOWN ? 0 : ch_pass_on(rc, &why, err);
	}
	if (!l->undelivered++)
		l->away = courier->why;
	return 0;
}

/* Loads a trace while holding its lock. */
static int load_held(struct load *l, struct spur_trace *t, const struct identity *id,
		     const char *plan, struct spur_error *err)
{
	struct ch_courier courier = {0};
	struct ch_rows rows;
	int rc = ch_courier_start(&courier, &l->store, &l->spool, err), end;

	if (rc < 0)
		return rc;
	ch_store_again(&l->store);
	rc = ch_rows_init(&rows, t, id, l->opt.machine, &courier, err);
	if (rc == 0)
		rc = read_trace(l, &rows, id, plan, err);
	end = ch_courier_finish(&courier, rc < 0, err);
	if (rc == 0)
		rc = end;
	if (rc == 0)
		rc = finish_trace(l, &courier, &rows, err);
	ch_rows_free(&rows);
	return rc;
}

static int load_trace(struct load *l, struct spur_trace *t, struct spur_error *err)
{
	struct identity id;
	scoped_buf plan = buf_new(PLAN_LIMIT);
	uint64_t hash;
	int rc = identity_make(&id, t, err);

	if (rc < 0)
		return rc;
	hash = ch_trace_hash(l->opt.machine ? l->opt.machine : id.host, id.trace_id);
	rc = put_plan(l->job, t, &plan, err);
	if (rc == 0) {
		rc = ch_spool_hold(&l->spool, hash);
		if (rc == -EBUSY)
			error_set(err, rc, "%s: another export of the same trace is under way",
				  t->dat->path);
		else if (rc < 0)
			error_sys(err, rc, "%s", l->opt.spool);
	}
	if (rc == 0) {
		rc = load_held(l, t, &id, plan.data, err);
		ch_spool_let_go(&l->spool, hash);
	}
	return rc;
}

/* ---- all of it ---- */

static int deliver_spool(struct load *l, struct ch_spool_report *report, struct spur_error *err)
{
	int rc = ch_spool_deliver(&l->spool, &l->store, report, err);

	if (report->delivered)
		export_note(l->job, "%" PRIu64 " blocks were delivered from %s", report->delivered,
			    l->opt.spool);
	if (report->damaged)
		export_note(l->job, "%" PRIu64 " blocks in %s are damaged (*.damaged)",
			    report->damaged, l->opt.spool);
	return rc;
}

static int conclude(struct load *l, const struct ch_spool_report *report, struct spur_error *err)
{
	if (l->undelivered)
		return error_set(err, -EHOSTDOWN,
				 "%s; %" PRIu64 " blocks with %" PRIu64
				 " rows wait in %.150s for the next export",
				 l->away.text, l->spool.blocks, l->spool.rows, l->opt.spool);
	if (report->left)
		return error_set(err, -EHOSTDOWN, "%s; %" PRIu64 " blocks still wait in %.150s",
				 report->why.text, report->left, l->opt.spool);
	if (report->damaged)
		return error_set(err, -EBADMSG, "%" PRIu64 " blocks in %s are damaged",
				 report->damaged, l->opt.spool);
	if (l->job->nr_traces)
		export_note(l->job, "%" PRIu64 " rows are new in %s", l->store.rows_new,
			    l->opt.at.database);
	return 0;
}

static int run_load(struct load *l, struct spur_error *err)
{
	struct ch_spool_report report = {0};
	int rc = ch_spool_open(&l->spool, &l->opt, err);

	if (rc == 0)
		rc = ch_store_init(&l->store, &l->opt, err);
	if (rc == 0)
		rc = deliver_spool(l, &report, err);
	for (size_t i = 0; rc == 0 && i < l->job->nr_traces; i++)
		rc = load_trace(l, l->job->traces[i], err);
	if (rc == 0)
		rc = conclude(l, &report, err);
	ch_store_free(&l->store);
	ch_spool_close(&l->spool);
	return rc;
}

static int run(const struct export_job *job, struct spur_error *err)
{
	struct load l = {.job = job, .spool.lock = -1};
	int rc = read_options(&l.opt, job, err);

	if (rc == 0 && !job->nr_traces && !l.opt.deliver)
		rc = error_set(err, -EINVAL, "there is no trace to load");
	if (rc == 0)
		rc = run_load(&l, err);
	free_options(&l.opt);
	return rc;
}

static const struct export_setting_info settings[] = {
	{"host", "the machine's name, instead of the one in the trace"},
	{"cluster", "tables over the shards of this cluster"},
	{"shards", "HOST:PORT,… of its shards' HTTP servers, in their order"},
	{"credentials", "a file with user=NAME and password=SECRET, mode 600"},
	{"tls", "1: encrypted, as with clickhouses://"},
	{"ca", "a file of certificates to trust, instead of the system's"},
	{"timeout", "seconds a connection or an answer may take (60)"},
	{"retries", "how often to try again (5)"},
	{"spool", "the folder for what cannot be delivered"},
	{"spool_max", "bytes it may hold (4 GB)"},
	{"deliver", "1: without a file, only empty the spool"},
	{NULL, NULL},
};

const struct export_format export_clickhouse = {
	.name = "clickhouse",
	.about = "tables on a ClickHouse server: clickhouse://HOST:PORT/DATABASE",
	.kind = EXPORT_SERVER,
	.settings = settings,
	.alone = "deliver",
	.run = run,
};
