// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Interrupt handlers and softirqs, which a CPU runs nested in each other. The same code makes both
 * tables; only the rows differ.
 *
 * An exit ends the innermost open one with its number (of an interrupt, of a softirq); the exits of
 * those inside it were lost. An exit without an entry belongs to one that ran when the trace began,
 * or at the end of a loss, if the CPU has entered nothing since.
 */
#include "table/spans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "table/analysis.h"
#include "base/array.h"
#include "base/vec.h"

#define MAX_NESTED  16 /* of one CPU; a few occur, further ones are ignored */
#define NR_VECTORS  32
#define CPUS_LIMIT  (16u << 20)
#define TEXTS_LIMIT (4u << 20)

enum what { ENTRY, EXIT, RAISE, NR_KINDS };

struct running {
	uint64_t ts;
	int64_t number; /* of the interrupt, of the softirq */
	int64_t latency;
	const char *name;
	int64_t pid;
};

struct cpu {
	uint32_t cpu;
	uint32_t n;
	struct running stack[MAX_NESTED];
	uint64_t border;	     /* one that ran then may still end, … */
	bool fresh;		     /* … as nothing has been entered since */
	bool known;		     /* it is in the list `all` */
	uint32_t ran;		     /* a bit for every softirq that has since the border, … */
	uint32_t is_raised;	     /* … that was raised since it ran last, … */
	uint64_t raised[NR_VECTORS]; /* … and when first */
};

/* An event type, by its meaning. */
struct kind {
	struct event *event; /* NULL: the trace does not have it */
	struct number number, ret;
	const struct event_field *name;
};

struct irqs {
	const struct table_source *src;
	struct events *events;
	struct comm_times *comms;
	struct event_printer printer;
	struct buf text;
	struct intern texts;
	struct kind kinds[NR_KINDS];
	bool softirqs; /* which of the two tables this is */
	const char *vectors[NR_VECTORS];
	struct slots cpus;
	vec_of(struct cpu *) all;
};

/* ---- names ---- */

const char *softirq_name(int64_t vector)
{
	static const char *const names[] = {"HI",	"TIMER",   "NET_TX", "NET_RX",	"BLOCK",
					    "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU"};

	return vector >= 0 && vector < (int64_t)ARRAY_SIZE(names) ? names[vector] : NULL;
}

/* "[action=NET_RX]" in the event's text, as the kernel's own format says. */
static const char *vector_name(struct irqs *a, struct event *e, const struct spur_record *r,
			       int64_t vec)
{
	const char *from, *to;

	if (vec < 0 || vec >= NR_VECTORS)
		return NULL;
	if (a->vectors[vec])
		return a->vectors[vec];
	buf_reset(&a->text);
	event_print(&a->printer, e, r, &a->text);
	from = strstr(buf_str(&a->text), "action=");
	if (from) {
		from += strlen("action=");
		to = from + strcspn(from, "] ");
		a->vectors[vec] = intern_text(&a->texts, from, (size_t)(to - from));
	} else {
		a->vectors[vec] = softirq_name(vec);
	}
	return a->vectors[vec];
}

static const char *handler_name(struct irqs *a, const struct spur_record *r)
{
	size_t len = 0;
	const char *name = record_text(a->events, a->kinds[ENTRY].name, r, &len);

	return name ? intern_text(&a->texts, name, len) : NULL;
}

/* ---- rows ---- */

static void hand_out(struct irqs *a, const struct cpu *c, const struct running *run, uint64_t end,
		     int64_t handled, enum row_open open)
{
	const int64_t dur = end > run->ts ? (int64_t)(end - run->ts) : 0;
	const char *comm = comm_at(a->comms, (int)run->pid, run->ts);
	const char *buffer = a->src->buffer->data->name;

	if (a->softirqs)
		a->src->row(a->src->arg, &(struct softirq_row){.ts = run->ts,
							       .dur = dur,
							       .cpu = c->cpu,
							       .vec = run->number,
							       .name = run->name,
							       .latency = run->latency,
							       .pid = run->pid,
							       .comm = comm,
							       .open = open,
							       .buffer = buffer});
	else
		a->src->row(a->src->arg, &(struct irq_row){.ts = run->ts,
							   .dur = dur,
							   .cpu = c->cpu,
							   .irq = run->number,
							   .name = run->name,
							   .handled = handled,
							   .pid = run->pid,
							   .comm = comm,
							   .open = open,
							   .buffer = buffer,
							   .depth = c->n});
}

/* The exits of everything inside the n outermost were lost. */
static void leave_open(struct irqs *a, struct cpu *c, uint32_t n, uint64_t ts)
{
	while (c->n > n)
		hand_out(a, c, &c->stack[--c->n], ts, ROW_NULL, ROW_OPEN_END);
}

/* ---- records ---- */

static struct cpu *cpu_of(struct irqs *a, uint32_t cpu)
{
	struct cpu *c = slots_get(&a->cpus, cpu);

	if (!c || c->known)
		return c;
	if (!vec_add(&a->all, &c))
		return NULL;
	c->known = true;
	c->cpu = cpu;
	return c;
}

/* A softirq has waited since it was raised first; before it has run once that may not be known. */
static int64_t since_raised(struct cpu *c, const struct spur_record *r, int64_t number)
{
	const uint32_t bit = number >= 0 && number < NR_VECTORS ? 1u << number : 0;
	int64_t latency = ROW_NULL;

	if (c->is_raised & bit)
		latency = r->ts > c->raised[number] ? (int64_t)(r->ts - c->raised[number]) : 0;
	c->is_raised &= ~bit;
	c->ran |= bit;
	return latency;
}

static void enter(struct irqs *a, struct cpu *c, const struct spur_record *r, int64_t number)
{
	struct running run = {.ts = r->ts,
			      .number = number,
			      .latency = ROW_NULL,
			      .pid = events_record_pid(a->events, r)};

	c->fresh = false;
	if (a->softirqs) {
		run.name = vector_name(a, a->kinds[ENTRY].event, r, number);
		run.latency = since_raised(c, r, number);
	} else {
		run.name = handler_name(a, r);
	}
	if (c->n == MAX_NESTED)
		leave_open(a, c, 0, r->ts);
	c->stack[c->n++] = run;
}

static void leave(struct irqs *a, struct cpu *c, struct event *e, const struct spur_record *r,
		  int64_t number)
{
	const struct number *ret = &a->kinds[EXIT].ret;
	int64_t handled = ROW_NULL;
	uint32_t n = c->n;

	if (!a->softirqs && number_in(ret, r))
		handled = number_get(a->events, ret, r) != 0;
	while (n && c->stack[n - 1].number != number)
		n--;
	if (n) {
		leave_open(a, c, n, r->ts);
		hand_out(a, c, &c->stack[--c->n], r->ts, handled, ROW_WHOLE);
	} else if (c->fresh) {
		const struct running run = {
			.ts = c->border,
			.number = number,
			.latency = ROW_NULL,
			.pid = events_record_pid(a->events, r),
			.name = a->softirqs ? vector_name(a, e, r, number) : NULL,
		};

		hand_out(a, c, &run, r->ts, handled, ROW_OPEN_START);
	}
}

static void raise(struct cpu *c, const struct spur_record *r, int64_t number)
{
	if (number < 0 || number >= NR_VECTORS || !(c->ran & ~c->is_raised & 1u << number))
		return;
	c->is_raised |= 1u << number;
	c->raised[number] = r->ts;
}

static void irqs_record(void *analysis, struct event *e, const struct spur_record *r)
{
	struct irqs *a = analysis;
	const struct kind *k = a->kinds;
	struct cpu *c;
	int64_t number;

	while (k < a->kinds + NR_KINDS && k->event != e)
		k++;
	if (k == a->kinds + NR_KINDS || !number_in(&k->number, r))
		return;
	c = cpu_of(a, r->cpu);
	if (!c)
		return;
	number = number_get(a->events, &k->number, r);
	switch ((enum what)(k - a->kinds)) {
	case ENTRY: enter(a, c, r, number); break;
	case EXIT: leave(a, c, e, r, number); break;
	default: raise(c, r, number);
	}
}

static void irqs_lost(void *analysis, uint32_t cpu, uint64_t from, uint64_t to)
{
	struct irqs *a = analysis;
	struct cpu *c = cpu_of(a, cpu);

	if (!c)
		return;
	leave_open(a, c, 0, from);
	c->fresh = true;
	c->border = to;
	c->is_raised = c->ran = 0;
}

static void irqs_end(void *analysis, uint64_t ts)
{
	struct irqs *a = analysis;

	for (size_t i = 0; i < a->all.n; i++)
		leave_open(a, a->all.at[i], 0, ts);
}

static bool irqs_pending(const void *analysis, uint64_t ts)
{
	const struct irqs *a = analysis;

	for (size_t i = 0; i < a->all.n; i++) {
		const struct cpu *c = a->all.at[i];

		if ((c->n && c->stack[0].ts <= ts) || (c->fresh && c->border <= ts))
			return true;
	}
	return false;
}

/* ---- making ---- */

static void irqs_free(void *analysis)
{
	struct irqs *a = analysis;

	vec_free(&a->all);
	slots_free(&a->cpus);
	intern_free(&a->texts);
	comm_times_free(a->comms);
	event_printer_done(&a->printer);
	buf_free(&a->text);
}

static int begin(struct irqs *a, const struct table_source *src)
{
	const struct dat_buffer *b = src->buffer->data;

	a->src = src;
	a->events = src->trace->events;
	buf_init(&a->text, 4096);
	intern_init(&a->texts, TEXTS_LIMIT);
	slots_init(&a->cpus, sizeof(struct cpu), CPUS_LIMIT);
	if (event_printer_init(&a->printer, a->events) < 0 || comm_times_for(src, &a->comms) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; !b->text && i < b->nr_cpus; i++) {
		const uint64_t start = cpu_start(src->buffer, &b->cpus[i]);
		struct cpu *c = start != UINT64_MAX ? cpu_of(a, b->cpus[i].cpu) : NULL;

		if (c) {
			c->fresh = src->since <= start;
			c->border = start;
		}
	}
	return 0;
}

static void bind(struct irqs *a, enum what what, const char *name, const char *number)
{
	struct event *e = events_find(a->events, "irq", name);

	if (!e || event_ready(e) == EVENT_BROKEN)
		return;
	a->kinds[what] = (struct kind){.event = e,
				       .number = number_of(e, number),
				       .ret = number_of(e, "ret"),
				       .name = event_field_find(e, "name")};
}

static int irqs_begin(void *analysis, const struct table_source *src)
{
	int rc = begin(analysis, src);

	bind(analysis, ENTRY, "irq_handler_entry", "irq");
	bind(analysis, EXIT, "irq_handler_exit", "irq");
	return rc;
}

static int softirqs_begin(void *analysis, const struct table_source *src)
{
	int rc = begin(analysis, src);

	((struct irqs *)analysis)->softirqs = true;
	bind(analysis, ENTRY, "softirq_entry", "vec");
	bind(analysis, EXIT, "softirq_exit", "vec");
	bind(analysis, RAISE, "softirq_raise", "vec");
	return rc;
}

#define IRQ(kind, member, about)     ROW_COLUMN(irq_row, kind, member, about)
#define SOFTIRQ(kind, member, about) ROW_COLUMN(softirq_row, kind, member, about)

static const struct column irq_columns[] = {
	IRQ(TIME, ts, "when the handler was called"),
	IRQ(DURATION, dur, "until it returned"),
	IRQ(NUMBER, cpu, "it ran on"),
	IRQ(NUMBER, irq, "the interrupt's number"),
	IRQ(TEXT, name, "of the handler"),
	IRQ(NUMBER, handled, "1: the interrupt was for this handler, 0: it was not"),
	IRQ(NUMBER, pid, "the task that was interrupted"),
	IRQ(TEXT, comm, "the task's name"),
	ROW_NAMES(irq_row, open, row_open_names, "the end that is not known: start, end"),
	IRQ(TEXT, buffer, "it was recorded in"),
};

static const struct column softirq_columns[] = {
	SOFTIRQ(TIME, ts, "when it began"),
	SOFTIRQ(DURATION, dur, "until it ended"),
	SOFTIRQ(NUMBER, cpu, "it ran on"),
	SOFTIRQ(NUMBER, vec, "the softirq's number"),
	SOFTIRQ(TEXT, name, "of the softirq: TIMER, NET_RX, …"),
	SOFTIRQ(DURATION, latency, "since it was raised on that CPU"),
	SOFTIRQ(NUMBER, pid, "the task in whose place it ran"),
	SOFTIRQ(TEXT, comm, "the task's name"),
	ROW_NAMES(softirq_row, open, row_open_names, "the end that is not known: start, end"),
	SOFTIRQ(TEXT, buffer, "it was recorded in"),
};

static const char *const irq_events[] = {"irq:irq_handler_entry", "irq:irq_handler_exit", NULL};
static const char *const softirq_events[] = {"irq:softirq_entry", "irq:softirq_exit",
					     "irq:softirq_raise", NULL};
static const char *const softirq_needs[] = {"irq:softirq_entry", "irq:softirq_exit", NULL};

const struct table irqs_table = {
	.name = "irqs",
	.about = "interrupt handlers that ran",
	.columns = irq_columns,
	.nr_columns = ARRAY_SIZE(irq_columns),
	.row_size = sizeof(struct irq_row),
	.events = irq_events,
	.needs = irq_events,
	.starts_anywhere = true,
	.analysis_size = sizeof(struct irqs),
	.begin = irqs_begin,
	.record = irqs_record,
	.lost = irqs_lost,
	.end = irqs_end,
	.free = irqs_free,
	.pending = irqs_pending,
};

/* Not starts_anywhere: a softirq was raised before it ran. */
const struct table softirqs_table = {
	.name = "softirqs",
	.about = "softirqs that ran",
	.columns = softirq_columns,
	.nr_columns = ARRAY_SIZE(softirq_columns),
	.row_size = sizeof(struct softirq_row),
	.events = softirq_events,
	.needs = softirq_needs,
	.analysis_size = sizeof(struct irqs),
	.begin = softirqs_begin,
	.record = irqs_record,
	.lost = irqs_lost,
	.end = irqs_end,
	.free = irqs_free,
	.pending = irqs_pending,
};
