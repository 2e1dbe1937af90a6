// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows of analyses as Parquet tables: batches of rows, which are then taken column by column.
 *
 * Texts of rows live as long as the analysis, so that they are known by where they lie; but for
 * those of which the row's own comment says otherwise: these are taken at once.
 */
#include "export/parquet/rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "table/overview.h"
#include "table/spans.h"

#define KEPT 1024 /* texts that do not stay and whose cells are known; a power of two */

struct pq_rows {
	struct pq_table *table;
	const struct table *like;
	uint32_t passing; /* the column of texts that do not stay; PQ_NO_ID: there is none */
	uint32_t n, most; /* rows of the batch: there are, and may be */
	char *batch;
	struct kept {
		uint64_t id;
		uint32_t epoch, cell;
	} * kept; /* NULL: there are no such texts */
};

static bool stays(const struct table *like, const struct column *c)
{
	return !like->passing || strcmp(c->name, like->passing) != 0;
}

static enum pq_type type_of(const struct table *like, const struct column *c)
{
	static const enum pq_type types[] = {[COLUMN_NUMBER] = PQ_INT64,
					     [COLUMN_TIME] = PQ_TIME,
					     [COLUMN_DURATION] = PQ_INT64,
					     [COLUMN_TEXT] = PQ_TEXT,
					     [COLUMN_NAME] = PQ_TEXT};

	/* A time that may be missing, which columns of that type cannot be. */
	if (like == &lost_table && strcmp(c->name, "since") == 0)
		return PQ_TIME;
	return types[c->type];
}

static bool add_columns(struct pq_rows *rows)
{
	for (uint32_t i = 0; i < rows->like->nr_columns; i++) {
		const struct column *c = &rows->like->columns[i];

		if (pq_table_add(rows->table, c->name, type_of(rows->like, c),
				 c->type != COLUMN_TIME) == PQ_NO_ID)
			return false;
		if (!row_is_text(c) || stays(rows->like, c))
			continue;
		rows->passing = i;
		rows->kept = calloc(KEPT, sizeof(*rows->kept));
		if (!rows->kept)
			return false;
	}
	return true;
}

static void complete(void *arg);

struct pq_rows *pq_rows_new(struct pq_table *t, const struct table *like, const char *trace_id)
{
	struct pq_rows *rows = calloc(1, sizeof(*rows));

	if (!rows)
		return NULL;
	*rows = (struct pq_rows){.table = t, .like = like, .passing = PQ_NO_ID};
	rows->batch = calloc(PQ_BATCH, like->row_size);
	if (!rows->batch || !add_columns(rows) ||
	    pq_table_add_constant(t, "trace_id", trace_id) == PQ_NO_ID) {
		pq_rows_free(rows);
		return NULL;
	}
	t->complete = complete;
	t->complete_arg = rows;
	return rows;
}

void pq_rows_free(struct pq_rows *rows)
{
	if (!rows)
		return;
	free(rows->batch);
	free(rows->kept);
	free(rows);
}

static uint32_t text_cell(void *arg, struct pq_column *c, uint64_t key, uint32_t i)
{
	const struct pq_rows *rows = arg;
	const char *text = (const char *)(uintptr_t)key;

	return pq_text_cell(rows->table, c, text, strlen(text));
}

static void put_texts(struct pq_rows *rows, uint32_t column)
{
	const struct pq_source from = {.cell = text_cell, .arg = rows, .zero_is_none = true};
	const struct column *c = &rows->like->columns[column];
	const size_t step = rows->like->row_size;
	const char *row = rows->batch;
	uint64_t keys[PQ_BATCH];

	for (uint32_t i = 0, n = rows->n; i < n; i++, row += step)
		keys[i] = (uintptr_t)row_text(c, row);
	pq_put_keys(rows->table, &rows->table->columns[column], rows->table->rows, keys, rows->n,
		    &from);
}

static void put_numbers(struct pq_rows *rows, uint32_t column)
{
	const struct column *c = &rows->like->columns[column];
	const size_t step = rows->like->row_size;
	const char *from = rows->batch + c->offset;
	uint64_t v[PQ_BATCH], missing = 0;
	bool any = false;

	for (uint32_t i = 0, n = rows->n; i < n; i++, from += step) {
		memcpy(&v[i], from, sizeof(v[i]));
		any |= v[i] == (uint64_t)ROW_NULL;
	}
	for (uint32_t i = 0; any && c->type != COLUMN_TIME && i < rows->n; i++)
		missing |= (uint64_t)(v[i] == (uint64_t)ROW_NULL) << i;
	pq_put_numbers(rows->table, &rows->table->columns[column], rows->table->rows, v, rows->n,
		       missing);
}

/* Puts the batch, column by column. */
static void complete(void *arg)
{
	struct pq_rows *rows = arg;
	const uint32_t n = rows->n;

	if (!n)
		return;
	for (uint32_t i = 0; i < rows->like->nr_columns; i++) {
		if (!row_is_text(&rows->like->columns[i]))
			put_numbers(rows, i);
		else if (i != rows->passing)
			put_texts(rows, i);
	}
	rows->n = 0;
	pq_rows_end(rows->table, n);
}

/* Arguments of a system call, a text that does not stay: the same number is the same text. */
static void take_passing(struct pq_rows *rows, const char *data)
{
	const struct syscall_row *call = (const void *)data;
	struct pq_column *c = &rows->table->columns[rows->passing];
	const uint32_t row = rows->table->rows + rows->n;
	struct kept *kept = &rows->kept[call->args_id % KEPT];

	if (!call->args) {
		pq_set_null(rows->table, c, row);
		return;
	}
	if (kept->id != call->args_id || kept->epoch != c->epoch || !kept->cell) {
		kept->cell = pq_text_cell(rows->table, c, call->args, strlen(call->args));
		kept->id = call->args_id;
		kept->epoch = c->epoch;
	}
	pq_set_cell(rows->table, c, row, kept->cell);
}

void pq_rows_take(void *arg, const void *data)
{
	struct pq_rows *rows = arg;
	const size_t size = rows->like->row_size;

	if (!rows->n) {
		rows->most = pq_batch(rows->table);
		if (!rows->most)
			return;
	}
	memcpy(rows->batch + rows->n * size, data, size);
	if (rows->passing != PQ_NO_ID)
		take_passing(rows, data);
	if (++rows->n == rows->most)
		complete(rows);
}

/* ---- tables about the trace itself ---------------------------------------------------- */

/* One value of a row; what has no name ends it. */
struct fact {
	const char *name;
	enum pq_type type;
	uint64_t number;
	const char *text; /* NULL or "": not known */
	bool missing;	  /* the number */
};

static bool add_facts(struct pq_table *t, const struct fact *facts, const char *trace_id)
{
	for (const struct fact *f = facts; f->name; f++)
		if (pq_table_add(t, f->name, f->type, f != facts) == PQ_NO_ID)
			return false;
	return pq_table_add_constant(t, "trace_id", trace_id) != PQ_NO_ID;
}

/* The first row says what columns there are. */
static void put_row(struct pq_table *t, const struct fact *facts, const char *trace_id)
{
	struct pq_work *w = t->work;
	uint32_t row;

	if ((!t->nr_columns && !add_facts(t, facts, trace_id)) || !pq_batch(t)) {
		pq_fail(w);
		return;
	}
	row = t->rows;
	for (uint32_t i = 0; facts[i].name; i++) {
		struct pq_column *c = &t->columns[i];
		const struct fact *f = &facts[i];

		if (f->type == PQ_TEXT ? !f->text || !*f->text : f->missing)
			pq_set_null(t, c, row);
		else if (f->type == PQ_TEXT)
			pq_set_cell(t, c, row, pq_text_cell(t, c, f->text, strlen(f->text)));
		else
			pq_set_number(t, c, row, f->number);
	}
	pq_rows_end(t, 1);
}

void pq_about_trace(const struct pq_about *a, struct pq_table *t)
{
	const struct dat *d = a->trace->dat;
	const bool empty = a->first > a->last;
	const struct fact facts[] = {
		{"ts", PQ_TIME, empty ? a->id->first : a->first},
		{"last", PQ_TIME, a->last, .missing = empty},
		{"kernel", PQ_TEXT, .text = a->id->kernel},
		{"uname", PQ_TEXT, .text = d->uname},
		{"clock", PQ_TEXT, .text = a->id->clock},
		{"wall", PQ_INT32, a->id->has_wall},
		{"events", PQ_INT64, a->events},
		{"lost", PQ_INT64, (uint64_t)a->lost},
		{"gaps", PQ_INT64, a->gaps},
		{"cpus", PQ_INT32, d->nr_cpus},
		{"buffers", PQ_INT32, a->trace->nr_buffers},
		{"damage", PQ_TEXT, .text = d->damage.code ? d->damage.text : NULL},
		{"file", PQ_TEXT, .text = file_name_of(d->path)},
		{"bytes", PQ_INT64, d->file_size},
		{"file_version", PQ_INT32, d->version},
		{"compression", PQ_TEXT, .text = d->compression},
		{"recorder", PQ_TEXT, .text = d->trace_version},
		{"exporter", PQ_TEXT, .text = "spur " SPUR_VERSION},
		{NULL},
	};

	put_row(t, facts, a->id->trace_id);
}

/* From a time on, of a CPU or of all: ts * scaling >> fraction + shift. */
static void put_clock(const struct pq_about *a, struct pq_table *t, const struct trace_buffer *b,
		      const struct dat_time_sample *s, const uint32_t *cpu)
{
	const struct dat_time_shift *peer = b->time.shift;
	char peer_id[20] = "";
	const struct fact facts[] = {
		{"ts", PQ_TIME, s ? s->time : a->id->first},
		{"buffer", PQ_TEXT, .text = b->data->name},
		{"clock", PQ_TEXT, .text = b->data->clock},
		{"kind", PQ_TEXT, .text = s ? "peer" : "own"},
		{"cpu", PQ_INT32, cpu ? *cpu : 0, .missing = !cpu},
		{"offset", PQ_INT64, s ? (uint64_t)s->offset : (uint64_t)b->time.offset},
		{"scaling", PQ_UINT64, s ? s->scaling : b->time.mult,
		 .missing = !s && !b->time.mult},
		{"fraction", PQ_UINT64, s ? s->fraction : b->time.shift_bits,
		 .missing = !s && !b->time.mult},
		{"peer", PQ_TEXT, .text = peer_id},
		{NULL},
	};

	if (s && peer)
		snprintf(peer_id, sizeof(peer_id), "%016" PRIx64, peer->peer_trace_id);
	put_row(t, facts, a->id->trace_id);
}

void pq_about_clocks(const struct pq_about *a, struct pq_table *t)
{
	for (uint32_t i = 0; i < a->trace->nr_buffers; i++) {
		const struct trace_buffer *b = &a->trace->buffers[i];
		const struct dat_time_shift *peer = b->time.shift;

		put_clock(a, t, b, NULL, NULL);
		for (uint32_t cpu = 0; peer && cpu < peer->nr_cpus; cpu++)
			for (uint32_t k = 0; k < peer->cpus[cpu].nr; k++)
				put_clock(a, t, b, &peer->cpus[cpu].samples[k], &cpu);
	}
}
