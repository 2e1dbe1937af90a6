// SPDX-License-Identifier: GPL-2.0-or-later
/* What all emitters share: printers per trace, task names, times. */
#include "report/emit.h"

#include <errno.h>
#include <stdlib.h>

#include "base/num.h"
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

void emitter_time(struct emitter *em, uint64_t ts, struct buf *out)
{
	if (!em->buffer->nanoseconds)
		emit_time(em->opt, em->buffer, ts, out);
	else if (em->opt->nanosec)
		put_time(em, ts, 1000000000, 9, out);
	else
		put_time(em, (ts + 500) / 1000, 1000000, 6, out);
}
