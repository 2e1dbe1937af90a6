// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * JSON, one object a line:
 *
 *	{"ts":44776459089,"cpu":0,"pid":232,"comm":"wl","system":"raw_syscalls",
 *	 "event":"sys_exit","fields":{"id":1,"ret":1}}
 *
 * "buffer" (or the file's name) and "lost" appear only if needed. With --fields the object is flat
 * and has the given columns.
 */
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "report/columns.h"

static const struct emit_column head[] = {
	{EMIT_TS, "ts"},	 {EMIT_CPU, "cpu"},	  {EMIT_PID, "pid"},
	{EMIT_COMM, "comm"},	 {EMIT_BUFFER, "buffer"}, {EMIT_LOST, "lost"},
	{EMIT_SYSTEM, "system"}, {EMIT_EVENT, "event"},
};

/* Appends `"name":value` with a comma in front where one is due; nothing when there is no value. */
static void put_member(struct emitter *em, const struct emit_column *c, const struct spur_record *r,
		       struct event *e, struct buf *out)
{
	size_t before = out->len;

	if (out->len && out->data[out->len - 1] != '{')
		buf_putc(out, ',');
	buf_json_string(out, c->name, strlen(c->name));
	buf_putc(out, ':');
	if (!column_value(em, c, r, e, VALUE_JSON, out))
		out->len = before;
}

static void put_fields(struct emitter *em, const struct spur_record *r, struct event *e,
		       struct buf *out)
{
	buf_puts(out, ",\"fields\":{");
	event_ready(e);
	for (uint32_t i = e->nr_common; i < e->nr_fields; i++) {
		const struct event_field *f = &e->fields[i];

		if (i > e->nr_common)
			buf_putc(out, ',');
		buf_json_string(out, f->name, strlen(f->name));
		buf_putc(out, ':');
		field_value(em, f, r, VALUE_JSON, out);
	}
	buf_putc(out, '}');
}

static void json_record(struct emitter *em, const struct spur_record *r, struct event *e,
			struct buf *out)
{
	const struct emit_columns *cols = em->opt->columns;

	buf_putc(out, '{');
	if (cols) {
		for (size_t i = 0; i < cols->n; i++)
			put_member(em, &cols->at[i], r, e, out);
	} else {
		for (size_t i = 0; i < ARRAY_SIZE(head); i++)
			put_member(em, &head[i], r, e, out);
		if (e)
			put_fields(em, r, e, out);
	}
	buf_puts(out, "}\n");
	if (e)
		event_learn(&em->now->printer, e, r);
}

const struct emit_ops emit_json = {
	.name = "json",
	.record = json_record,
};
