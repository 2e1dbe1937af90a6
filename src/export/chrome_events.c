// SPDX-License-Identifier: GPL-2.0-or-later
/* Records that are no part of a slice: moments with their fields, and counters. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/vec.h"
#include "export/chrome_parts.h"

/* "system:name", of which either may end with a star: rows tell what these mean. */
static const char *const sliced[] = {
	"sched:sched_switch",  "irq:irq_handler_entry", "irq:irq_handler_exit",
	"irq:softirq_entry",   "irq:softirq_exit",	"raw_syscalls:sys_*",
	"syscalls:sys_*",      "ftrace:funcgraph_*",	"ftrace:fgraph_retaddr_entry",
	"ftrace:kernel_stack", "ftrace:user_stack",
};

static bool is_sliced(const struct event *e)
{
	char name[256];

	snprintf(name, sizeof(name), "%s:%s", e->system, e->name);
	for (size_t i = 0; i < sizeof(sliced) / sizeof(sliced[0]); i++) {
		const size_t len = strlen(sliced[i]);

		if (sliced[i][len - 1] == '*' ? strncmp(name, sliced[i], len - 1) == 0
					      : strcmp(name, sliced[i]) == 0)
			return true;
	}
	return false;
}

static void bind_counter(struct chrome_kind *k, struct event *e)
{
	if (strcmp(e->system, "power") != 0 ||
	    (strcmp(e->name, "cpu_frequency") != 0 && strcmp(e->name, "cpu_idle") != 0))
		return;
	k->value = number_of(e, "state");
	k->cpu = number_of(e, "cpu_id");
	k->is_counter = k->value.size && k->cpu.size;
}

static struct chrome_kind *kind_of(struct chrome *c, struct event *e)
{
	struct chrome_kind *k = c->kinds[e->index];

	if (k && k->ready)
		return k;
	k = k ? k : arena_alloc(&c->arena, sizeof(*k));
	c->kinds[e->index] = k;
	if (!k || cells_make(&k->cells, e) < 0) {
		c->failed = -ENOMEM;
		return NULL;
	}
	k->is_slice = is_sliced(e);
	bind_counter(k, e);
	k->ready = true;
	return k;
}

static void put_value(struct chrome *c, const struct cell *cell, const struct value *v)
{
	struct buf *b = &c->out->buf;

	if (v->type == VALUE_TEXT)
		buf_json_string(b, v->text, v->len);
	else
		chrome_number(b, v->number,
			      cell->kind != CELL_NUMBER || cell->field->flags & FIELD_SIGNED);
}

static void put_args(struct chrome *c, const struct chrome_kind *k, struct event *e,
		     const struct spur_record *r)
{
	struct buf *b = &c->out->buf;
	const char *buffer = c->trace->buffers[r->buffer].data->name;

	chrome_member(b, "args");
	buf_puts(b, "{\"cpu\":");
	buf_u64(b, r->cpu);
	vec_each (cell, &k->cells) {
		struct value v;

		if (!cell->field)
			continue;
		reader_get(&c->reader, cell, e, r, &v);
		if (v.type == VALUE_NULL)
			continue;
		chrome_member(b, cell->name);
		put_value(c, cell, &v);
	}
	if (*buffer) {
		chrome_member(b, "buffer");
		buf_json_string(b, buffer, strlen(buffer));
	}
	buf_putc(b, '}');
}

static void put_moment(struct chrome *c, const struct chrome_kind *k, struct event *e,
		       const struct spur_record *r)
{
	const int pid = events_record_pid(c->trace->events, r);
	const char *buffer = c->trace->buffers[r->buffer].data->name;
	uint64_t tid, process = chrome_task(c, pid, NULL, TASK_EVENTS, buffer, r->cpu, &tid);

	chrome_begin(c, e->name, strlen(e->name), 'i', r->ts, process, tid);
	buf_puts(&c->out->buf, ",\"s\":\"t\",\"cat\":");
	buf_json_string(&c->out->buf, e->system, strlen(e->system));
	put_args(c, k, e, r);
	chrome_end(c);
}

/* A counter is told from others by its name and process. */
static void put_counter(struct chrome *c, const struct chrome_kind *k, struct event *e,
			const struct spur_record *r)
{
	const struct events *ev = c->trace->events;
	const uint32_t cpu = (uint32_t)number_get(ev, &k->cpu, r);
	const char *buffer = c->trace->buffers[r->buffer].data->name;
	char name[64];

	snprintf(name, sizeof(name), "%s of CPU %u", e->name, cpu);
	chrome_begin(c, name, strlen(name), 'C', r->ts, chrome_place(c, PLACE_CPUS, buffer, r->cpu),
		     r->cpu);
	chrome_member(&c->out->buf, "args");
	buf_puts(&c->out->buf, "{\"state\":");
	/* 2^32 - 1 stands for none: cpu_idle ends with it. */
	buf_i64(&c->out->buf, (int32_t)number_get(ev, &k->value, r));
	buf_putc(&c->out->buf, '}');
	chrome_end(c);
}

void chrome_record(void *arg, struct event *e, const struct spur_record *r)
{
	struct chrome *c = arg;
	const struct chrome_kind *k = kind_of(c, e);

	if (!k || k->is_slice)
		return;
	if (k->is_counter && number_in(&k->value, r) && number_in(&k->cpu, r))
		put_counter(c, k, e, r);
	else
		put_moment(c, k, e, r);
}
