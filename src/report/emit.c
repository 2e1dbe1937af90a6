// SPDX-License-Identifier: GPL-2.0-or-later
/* Emitters: what all of them share (printers per trace, task names, times), and lines of text. */
#include "report/emit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/safe.h"
#include "event/names.h"
#include "event/pretty.h"

#define SCRATCH_LIMIT (16u << 20)

static const char *machine_of(const struct spur_trace *t)
{
	const char *space = strrchr(t->dat->uname, ' ');

	return space ? space + 1 : "";
}

static int trace_init(struct emitter *em, struct emit_trace *et, struct spur_trace *t)
{
	const struct emit_options *opt = em->opt;
	int rc;

	et->trace = t;
	rc = event_printer_init(&et->printer, t->events);
	if (rc < 0)
		return rc;
	et->names = calloc(t->events->nr + 1, sizeof(*et->names));
	if (!et->names)
		return -ENOMEM;
	et->printer.raw = opt->raw;
	et->printer.no_handlers = opt->no_plugins;
	et->printer.opt = opt->plugins;
	scan_look_ahead(em->scan, &et->printer);
	if (opt->pretty)
		et->pretty = pretty_new(machine_of(t));
	return 0;
}

int emitter_init(struct emitter *em, const struct emit_ops *ops, const struct emit_options *opt,
		 struct scan *scan, struct spur_trace *const *traces, size_t nr_traces)
{
	*em = (struct emitter){.ops = ops, .opt = opt, .scan = scan};
	buf_init(&em->scratch, SCRATCH_LIMIT);
	em->traces = calloc(nr_traces, sizeof(*em->traces));
	if (!em->traces)
		return -ENOMEM;
	while (em->nr_traces < nr_traces) {
		size_t i = em->nr_traces++;
		int rc = trace_init(em, &em->traces[i], traces[i]);

		if (rc < 0)
			return rc;
	}
	return 0;
}

void emitter_done(struct emitter *em)
{
	for (size_t i = 0; i < em->nr_traces; i++) {
		struct emit_trace *et = &em->traces[i];

		for (size_t k = 0; et->names && k < et->trace->events->nr; k++)
			free(et->names[k].text);
		free(et->names);
		pretty_free(et->pretty);
		event_printer_done(&et->printer);
	}
	free(em->traces);
	buf_free(&em->scratch);
}

void emitter_forget(struct emitter *em)
{
	memset(em->tasks, 0, sizeof(em->tasks));
}

void emitter_enter(struct emitter *em, const struct emit_source *source)
{
	if (em->source == source)
		return;
	em->source = source;
	em->buffer = source->buffer;
	for (size_t i = 0; i < em->nr_traces; i++)
		if (em->traces[i].trace == source->buffer->trace)
			em->now = &em->traces[i];
	em->now->printer.time_style = !em->buffer->nanoseconds ? TIME_AS_COUNTER
				      : em->opt->nanosec       ? TIME_IN_NSEC
							       : TIME_IN_USEC;
}

const char *emitter_comm(struct emitter *em, int pid, size_t *len)
{
	return overlay_find(em->now->printer.learned, pid, len);
}

/* "%5llu.%0*llu" of ts, with so many digits after the dot. */
static void put_seconds(struct buf *out, uint64_t ts, uint64_t unit, unsigned int digits)
{
	uint64_t seconds = ts / unit;
	char text[NUM_MAX_DEC + 1 + 12];
	size_t n = num_dec(text, seconds);

	if (n < 5)
		buf_fill(out, ' ', 5 - n);
	text[n++] = '.';
	num_dec_fixed(text + n, ts - seconds * unit, digits);
	buf_put(out, text, n + digits);
}

void emit_time(const struct emit_options *opt, const struct trace_buffer *b, uint64_t ts,
	       struct buf *out)
{
	if (!b->nanoseconds) {
		/* trace-cmd 3.4 shows ticks with a point, which has no meaning. */
		if (opt->compat == COMPAT_34 && b->trace->opt.raw_ts)
			put_seconds(out, ts, 1000000000000ull, 12);
		else
			buf_u64_pad(out, ts, 12, ' ');
	} else if (opt->nanosec) {
		put_seconds(out, ts, 1000000000ull, 9);
	} else {
		put_seconds(out, (ts + 500) / 1000, 1000000, 6);
	}
}

/* Stores "%5llu." of a second, unless it is the stored one already. */
static void keep_second(struct emitter *em, uint64_t second)
{
	struct buf text = {.data = em->clock.text,
			   .cap = sizeof(em->clock.text),
			   .limit = sizeof(em->clock.text)};

	if (second + 1 == em->clock.second)
		return;
	buf_u64_pad(&text, second, 5, ' ');
	buf_putc(&text, '.');
	em->clock.len = (uint32_t)text.len;
	em->clock.second = second + 1;
}

/* Inlined with constants, to avoid divisions. */
static inline void put_time(struct emitter *em, uint64_t ts, uint64_t unit, unsigned int digits,
			    struct buf *out)
{
	const uint64_t second = ts / unit;

	keep_second(em, second);
	if (!buf_room(out, sizeof(em->clock.text) + digits))
		return;
	memcpy(out->data + out->len, em->clock.text, sizeof(em->clock.text));
	num_dec_fixed(out->data + out->len + em->clock.len, ts - second * unit, digits);
	out->len += em->clock.len + digits;
}

/* The same with the emitter's cache of the second's text. */
static void emitter_time(struct emitter *em, uint64_t ts, struct buf *out)
{
	if (!em->buffer->nanoseconds)
		emit_time(em->opt, em->buffer, ts, out);
	else if (em->opt->nanosec)
		put_time(em, ts, 1000000000, 9, out);
	else
		put_time(em, (ts + 500) / 1000, 1000000, 6, out);
}

/* ---- text ---- */

/*
 * The report line, byte for byte what trace-cmd prints:
 *
 *	            task-pid   [cpu] flags     time: event:               text
 *
 * Older versions have no column of flags unless asked (-l).
 */

#define NAME_WIDTH 20

/* All colours in one table. */
enum colour { COLOUR_TASK, COLOUR_TIME, COLOUR_EVENT, COLOUR_LOST, COLOUR_OFF };
static const char *const escapes[] = {
	[COLOUR_TASK] = "\033[36m", [COLOUR_TIME] = "\033[32m", [COLOUR_EVENT] = "\033[33m",
	[COLOUR_LOST] = "\033[31m", [COLOUR_OFF] = "\033[0m",
};

/* Text of the trace since the last colour must not contain colours. */
static void clean(struct emitter *em, struct buf *out)
{
	buf_clean(out, em->cleaned);
	em->cleaned = out->len;
}

static inline void paint(struct emitter *em, enum colour c, struct buf *out)
{
	if (__builtin_expect(!em->opt->colour, 1))
		return;
	clean(em, out);
	buf_puts(out, escapes[c]);
	em->cleaned = out->len;
}

static void put_lost(struct emitter *em, const struct spur_record *r, struct buf *out)
{
	paint(em, COLOUR_LOST, out);
	if (r->lost > 0)
		buf_printf(out, "CPU:%u [%lld EVENTS DROPPED]", r->cpu, (long long)r->lost);
	else
		buf_printf(out, "CPU:%u [EVENTS DROPPED]", r->cpu);
	paint(em, COLOUR_OFF, out);
	buf_putc(out, '\n');
}

static void put_boundary(struct emitter *em, const struct spur_record *r, struct buf *out)
{
	const struct dat_buffer *b = em->buffer->data;
	const struct lane *lane = em->scan->current;
	uint64_t in_page = r->offset % b->page_size;

	if (in_page != b->layout.data_offset)
		return;
	buf_printf(out, "CPU:%u [SUBBUFFER START]", r->cpu);
	if (em->opt->debug)
		buf_printf(out, " [%llu:0x%llx]", (unsigned long long)lane->page.page_ts,
			   (unsigned long long)(r->offset - in_page));
	buf_putc(out, '\n');
}

/* "%16s-%-5d [%03d]", or "%8.8s-%-5d %3d" in the latency form. */
static void format_task(const struct emitter *em, const char *comm, size_t len, int pid,
			uint32_t cpu, struct buf *out)
{
	const bool narrow = em->opt->latency;
	size_t start;

	if (narrow && len > 8)
		len = 8;
	buf_put_right(out, comm, len, narrow ? 8 : 16);
	buf_putc(out, '-');
	start = out->len;
	buf_i64(out, pid);
	if (out->len - start < 5)
		buf_fill(out, ' ', 5 - (out->len - start));
	buf_putc(out, ' ');
	if (narrow) {
		buf_u64_pad(out, cpu, 3, ' ');
	} else {
		buf_putc(out, '[');
		buf_u64_pad(out, cpu, 3, '0');
		buf_putc(out, ']');
	}
}

static void put_new_task(struct emitter *em, struct emit_task *kept, int pid, uint32_t cpu,
			 struct buf *out)
{
	size_t len, start = out->len;
	const char *comm = emitter_comm(em, pid, &len);

	format_task(em, comm, len, pid, cpu, out);
	kept->trace = NULL;
	/* A task without a name may get one later, so it is not stored. */
	if (out->len - start > sizeof(kept->text) || !overlay_known(em->now->printer.learned, pid))
		return;
	kept->trace = em->now->trace;
	kept->pid = pid;
	kept->cpu = cpu;
	kept->len = (uint32_t)(out->len - start);
	memcpy(kept->text, out->data + start, kept->len);
}

static inline void put_task(struct emitter *em, int pid, uint32_t cpu, struct buf *out)
{
	struct emit_task *kept = &em->tasks[cpu % EMIT_TASKS];

	if (kept->trace != em->now->trace || kept->pid != pid || kept->cpu != cpu) {
		put_new_task(em, kept, pid, cpu, out);
		return;
	}
	if (buf_room(out, sizeof(kept->text))) {
		memcpy(out->data + out->len, kept->text, sizeof(kept->text));
		out->len += kept->len;
	}
}

static inline char nibble(unsigned int v)
{
	return v ? "0123456789abcdef"[v & 15] : '.';
}

/* Interrupts off, need to reschedule, hard or soft interrupt, preemption count, migration. */
static void put_flags(struct emitter *em, const struct spur_record *r, struct buf *out)
{
	const struct events *ev = em->now->trace->events;
	const struct event_common *c = &ev->common;
	unsigned int flags = 0, count = 0;
	bool hard, soft;
	char text[5];

	if (c->has_flags)
		flags = (unsigned int)record_uint(ev, r, c->flags.offset, c->flags.size);
	if (c->has_preempt_count)
		count = (unsigned int)record_uint(ev, r, c->preempt_count.offset,
						  c->preempt_count.size);
	hard = flags & 0x08;
	soft = flags & 0x10;
	text[0] = flags & 0x01 ? 'd' : flags & 0x02 ? 'X' : '.';
	text[1] = flags & 0x04 ? 'N' : '.';
	text[2] = hard && soft ? 'H' : hard ? 'h' : soft ? 's' : '.';
	text[3] = nibble(count & 0xf);
	text[4] = nibble((count >> 4) & 0xf);
	buf_put(out, text, sizeof(text));
	if (c->has_lock_depth) {
		int depth = (int)record_int(ev, r, c->lock_depth.offset, c->lock_depth.size);

		if (depth < 0)
			buf_putc(out, '.');
		else
			buf_i64(out, depth);
	}
}

static void put_latency(struct emitter *em, const struct spur_record *r, struct buf *out)
{
	const struct emit_options *opt = em->opt;

	if (opt->compat == COMPAT_31 && !opt->latency)
		return;
	if (opt->raw) {
		buf_puts(out, "-0x");
		buf_hex(out, events_record_flags(em->now->trace->events, r));
		return;
	}
	if (!opt->latency)
		buf_putc(out, ' ');
	put_flags(em, r, out);
}

static void put_ts_diff(struct emitter *em, const struct spur_record *r, struct buf *out)
{
	const struct spur_trace *t = em->now->trace;
	bool trace_clock = dat_option_find(t->dat, DAT_OPT_TRACECLOCK) && !t->opt.ts_hz;
	uint64_t ts = r->ts;
	size_t start;

	if (trace_clock && !em->opt->nanosec)
		ts = (ts + 500) / 1000;
	buf_putc(out, ' ');
	start = out->len;
	if (em->have_last && em->last_ts)
		buf_printf(out, "(+%lld)", (long long)(ts - em->last_ts));
	em->last_ts = ts;
	em->have_last = true;
	if (out->len - start < 8)
		buf_fill(out, ' ', 8 - (out->len - start));
}

static const struct emit_name *name_cell(struct emitter *em, const struct event *e)
{
	struct emit_name *cell = &em->now->names[e->index];
	size_t len;

	if (__builtin_expect(cell->text != NULL, 1))
		return cell;
	len = strlen(e->name);
	cell->len = (uint32_t)(3 + (len < NAME_WIDTH ? NAME_WIDTH : len));
	cell->text = malloc(cell->len + 1);
	if (!cell->text) {
		cell->len = 0;
		return cell;
	}
	snprintf(cell->text, cell->len + 1, " %s: %*s", e->name,
		 len < NAME_WIDTH ? (int)(NAME_WIDTH - len) : 0, "");
	return cell;
}

/* Time extends, padding and the like that follow the record in its page. */
static void put_between(struct emitter *em, const struct spur_record *r, struct buf *out)
{
	static const char *const kinds[] = {
		[RING_PADDING] = "PADDING",
		[RING_TIME_EXTEND] = "TIME EXTEND",
		[RING_TIME_STAMP] = "TIME STAMP",
	};
	const struct lane *lane = em->scan->current;
	struct ring_raw raw;

	buf_printf(out, " [%u:0x%llx:%u]", r->delta,
		   (unsigned long long)(r->offset % em->buffer->data->page_size), r->size);
	if (!ring_page_raw(&lane->page, lane->rec_pos, &raw))
		return;
	while (ring_page_raw(&lane->page, raw.next, &raw) && raw.kind != RING_DATA)
		buf_printf(out, "\n %s: %s:%lld length:%u", kinds[raw.kind],
			   raw.kind == RING_TIME_STAMP ? "timestamp" : "delta",
			   (long long)raw.delta, raw.length);
}

static void put_unknown(struct emitter *em, const struct spur_record *r, struct buf *out)
{
	static const char unknown[] = "[UNKNOWN EVENT]";

	buf_puts(out, unknown);
	if (em->opt->compat == COMPAT_34 || em->opt->latency)
		buf_puts(out, unknown);
	buf_puts(out, unknown);
	if (em->opt->ts_diff)
		put_ts_diff(em, r, out);
	buf_puts(out, " (NULL):               ");
	buf_puts(out, unknown);
}

static void put_event(struct emitter *em, const struct spur_record *r, struct event *e,
		      struct buf *out)
{
	struct emit_trace *et = em->now;
	const struct emit_name *name;
	int pid = events_record_pid(et->trace->events, r);

	paint(em, COLOUR_TASK, out);
	put_task(em, pid, r->cpu, out);
	paint(em, COLOUR_OFF, out);
	put_latency(em, r, out);
	/* trace-cmd writes no blank before ticks; 3.4 does, except with raw times. */
	if (em->buffer->nanoseconds || (em->opt->compat == COMPAT_34 && !et->trace->opt.raw_ts))
		buf_putc(out, ' ');
	paint(em, COLOUR_TIME, out);
	emitter_time(em, r->ts, out);
	paint(em, COLOUR_OFF, out);
	buf_putc(out, ':');
	if (em->opt->ts_diff)
		put_ts_diff(em, r, out);
	name = name_cell(em, e);
	paint(em, COLOUR_EVENT, out);
	buf_put(out, name->text, name->len);
	paint(em, COLOUR_OFF, out);
	if (et->pretty && pretty_print(et->pretty, &et->printer, e, r, out))
		return;
	event_print(&et->printer, e, r, out);
}

static void text_record(struct emitter *em, const struct spur_record *r, struct event *e,
			struct buf *out)
{
	const struct emit_options *opt = em->opt;
	size_t start;

	em->cleaned = out->len;
	if (opt->labelled) {
		const char *label = em->source->label;

		buf_printf(out, "%*s%s", opt->label_width, label ? label : "",
			   label && *label ? ": " : "  ");
	}
	if (__builtin_expect(r->lost != 0, 0))
		put_lost(em, r, out);
	if (__builtin_expect(opt->boundary, 0))
		put_boundary(em, r, out);
	start = out->len;
	if (e)
		put_event(em, r, e, out);
	else
		put_unknown(em, r, out);
	if (out->len > start && out->data[out->len - 1] == '\n')
		out->len--;
	if (__builtin_expect(opt->debug, 0))
		put_between(em, r, out);
	if (__builtin_expect(opt->colour, 0))
		clean(em, out);
	buf_putc(out, '\n');
}

const struct emit_ops emit_text = {
	.record = text_record,
};
