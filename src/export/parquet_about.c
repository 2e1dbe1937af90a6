// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/parquet_about.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* One value of a row; what has no name ends it. */
struct fact {
	const char *name;
	enum pq_type type;
	uint64_t number;
	const char *text; /* NULL or "": not known */
	bool missing;	  /* the number */
};

static bool add_columns(struct pq_table *t, const struct fact *facts, const char *trace_id)
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

	if ((!t->nr_columns && !add_columns(t, facts, trace_id)) || !pq_batch(t)) {
		if (w->rc == 0)
			w->rc = error_set(w->err, -ENOMEM, "out of memory");
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

static const char *file_name(const struct dat *d)
{
	const char *slash = strrchr(d->path, '/');

	return slash ? slash + 1 : d->path;
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
		{"file", PQ_TEXT, .text = file_name(d)},
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
