// SPDX-License-Identifier: LGPL-2.1-or-later
/* Opening a trace: its file, event types and names; and computing times on its time line. */
#include "scan/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "event/handler.h"
#include "event/names.h"
#include "event/tep.h"
#include "import/sources.h"

/*
 * Whether a clock counts nanoseconds. Times of others (counter, x86-tsc, …) are shown as they are.
 */
static bool clock_is_nanoseconds(const char *clock)
{
	static const char *const known[] = {"local", "global", "uptime", "perf", "tsc2nsec", "tai"};

	if (!*clock || strncmp(clock, "mono", 4) == 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strcmp(clock, known[i]) == 0)
			return true;
	return false;
}

/* Applies the TIME_SHIFT corrections to one time. */
static uint64_t correct(const struct dat_time_sample *a, const struct dat_time_sample *b,
			bool interpolate, uint64_t ts)
{
	uint64_t by = (uint64_t)a->offset;

	if (interpolate && b->time != a->time) {
		int64_t delta = (int64_t)(b->time - a->time);
		/* The offsets are from the file, so their difference may wrap around. */
		int64_t slope = (int64_t)((uint64_t)b->offset - (uint64_t)a->offset);
		__int128 way = (__int128)(int64_t)(ts - a->time) * slope;

		by += (uint64_t)((way + delta / 2) / delta);
	}
	/* Shifting by 64 or more is undefined in C; no valid file has such a fraction. */
	if (a->scaling)
		ts = a->fraction < 64 ? (ts * a->scaling) >> a->fraction : 0;
	return ts + by;
}

#define SHIFT_INTERPOLATE 1

static uint64_t shift_time(const struct dat_time_shift *s, uint64_t ts, uint32_t cpu)
{
	const struct dat_time_sample *at;
	bool interpolate = s->flags & SHIFT_INTERPOLATE;
	uint32_t lo = 0, hi;

	if (cpu >= s->nr_cpus || !s->cpus[cpu].nr)
		return ts;
	at = s->cpus[cpu].samples;
	if (s->cpus[cpu].nr == 1)
		return ts + (uint64_t)at[0].offset;
	/* The last sample at or before ts, except the very last one, which ends an interval. */
	hi = s->cpus[cpu].nr - 2;
	while (lo < hi) {
		uint32_t mid = (lo + hi + 1) / 2;

		if (at[mid].time <= ts)
			lo = mid;
		else
			hi = mid - 1;
	}
	return correct(&at[lo], &at[lo + 1], interpolate, ts);
}

uint64_t trace_time_slow(const struct trace_time *t, uint64_t raw, uint32_t cpu)
{
	uint64_t ts = raw;

	if (t->shift)
		ts = shift_time(t->shift, ts, cpu);
	if (t->ts2nsec != 0) {
		double ns = (double)ts * t->ts2nsec;

		ts = ns < 1.8e19 ? (uint64_t)ns : UINT64_MAX;
	} else if (t->mult) {
		ts = t->shift_bits < 96
			     ? (uint64_t)(((unsigned __int128)ts * t->mult) >> t->shift_bits)
			     : 0;
	}
	return ts + (uint64_t)t->offset;
}

void trace_shift(struct spur_trace *t, int64_t offset)
{
	for (uint32_t i = 0; i < t->nr_buffers; i++)
		t->buffers[i].time.offset =
			(int64_t)((uint64_t)t->buffers[i].time.offset + (uint64_t)offset);
}

static bool has_data(const struct dat_buffer *b)
{
	for (uint32_t i = 0; i < b->nr_cpus; i++)
		if (b->cpus[i].size || b->cpus[i].feed)
			return true;
	return false;
}

bool trace_counts_ticks(const struct spur_trace *t)
{
	bool ticks = false;

	for (uint32_t i = 0; i < t->nr_buffers; i++) {
		if (!has_data(t->buffers[i].data))
			continue;
		if (t->buffers[i].nanoseconds)
			return false;
		ticks = true;
	}
	return ticks;
}

uint32_t trace_buffer_cpus(const struct trace_buffer *b)
{
	uint32_t nr = b->trace->dat->nr_cpus;

	if (b->trace->dat->version < 7)
		return b->data->nr_cpus;
	for (uint32_t i = 0; i < b->data->nr_cpus; i++)
		if (b->data->cpus[i].cpu >= nr)
			nr = b->data->cpus[i].cpu + 1;
	return nr;
}

static void set_time(struct spur_trace *t, struct trace_buffer *b)
{
	const struct dat *d = t->dat;
	const char *clock = *b->data->clock ? b->data->clock : d->clock;
	uint64_t offset = (uint64_t)t->opt.ts_offset;

	b->nanoseconds = clock_is_nanoseconds(clock);
	if (t->opt.raw_ts) {
		b->nanoseconds = false;
		return;
	}
	if (d->nr_time_shifts)
		b->time.shift = &d->time_shifts[0];
	if (t->opt.ts_hz) {
		b->time.ts2nsec = 1e9 / (double)t->opt.ts_hz;
	} else if (d->tsc2nsec.valid && d->tsc2nsec.mult) {
		b->time.mult = d->tsc2nsec.mult;
		b->time.shift_bits = d->tsc2nsec.shift;
		b->nanoseconds = true;
	}
	if (d->has_date && !t->opt.ignore_date)
		offset += (uint64_t)d->date_offset;
	if (d->has_ts_offset)
		offset += (uint64_t)d->ts_offset;
	b->time.offset = (int64_t)offset;
}

static const char *map_of(void *dat, int pid, uint64_t addr, uint64_t *start)
{
	return dat_map_find(dat, pid, addr, start);
}

static int load_events(struct spur_trace *t, struct spur_error *err)
{
	struct dat *d = t->dat;
	struct events *ev = t->events;

	ev->big_endian = d->big_endian;
	ev->page_size = d->page_size;
	ev->compat = t->opt.compat;
	if (d->nr_processes) {
		ev->map_of = map_of;
		ev->map_arg = d;
	}
	ev->long_size = d->nr_buffers && d->buffers[0].layout.commit_size
				? d->buffers[0].layout.commit_size
				: d->long_size;
	for (size_t i = 0; i < d->nr_formats; i++) {
		const struct dat_format *f = &d->formats[i];
		struct spur_error bad = {0};
		int rc = events_add(ev, f->system, (const char *)f->text.data, f->text.size, &bad);

		if (rc == -ENOMEM)
			return error_set(err, rc, "out of memory for the event formats");
		if (rc < 0)
			dat_note_damage(d, -EBADMSG, f->text.offset, "%s", bad.text);
	}
	if (handler_add_events(ev, err) < 0 || events_seal(ev) < 0)
		return error_set(err, -ENOMEM, "out of memory for the event formats");
	return 0;
}

/* The names that records refer to by address or number. */
static int load_names(struct spur_trace *t)
{
	const struct dat *d = t->dat;
	struct events *ev = t->events;
	int rc = symbols_add_ref(ev->symbols, (const char *)d->kallsyms.data, d->kallsyms.size);

	if (rc == 0 && t->opt.kallsyms)
		rc = symbols_add(ev->symbols, t->opt.kallsyms, t->opt.kallsyms_len);
	if (rc == 0)
		rc = printk_formats_add(ev->printk, (const char *)d->printk.data, d->printk.size);
	if (rc == 0)
		rc = comms_add(ev->comms, (const char *)d->cmdlines.data, d->cmdlines.size);
	return rc;
}

/* Plugins that users wrote for libtraceevent take over their events. */
static int load_plugins(struct spur_trace *t, struct spur_error *err)
{
	const struct dat *d = t->dat;
	struct tep_options opt = {
		.kallsyms = (const char *)d->kallsyms.data,
		.kallsyms_len = d->kallsyms.size,
		.printk = (const char *)d->printk.data,
		.printk_len = d->printk.size,
		.cmdlines = (const char *)d->cmdlines.data,
		.cmdlines_len = d->cmdlines.size,
		.user_plugins = true,
		.options = t->opt.plugin_options,
	};
	struct tep_bridge *bridge;
	int rc;

	if (!t->opt.user_plugins || !tep_user_plugins_exist())
		return 0;
	rc = tep_bridge_new(t->events, &opt, &bridge, err);
	if (rc == 0)
		tep_bridge_attach(bridge);
	return rc;
}

static int load_buffers(struct spur_trace *t)
{
	t->buffers = calloc(t->dat->nr_buffers + 1, sizeof(*t->buffers));
	if (!t->buffers)
		return -ENOMEM;
	t->nr_buffers = (uint32_t)t->dat->nr_buffers;
	for (uint32_t i = 0; i < t->nr_buffers; i++) {
		t->buffers[i].trace = t;
		t->buffers[i].index = i;
		t->buffers[i].data = &t->dat->buffers[i];
		set_time(t, &t->buffers[i]);
	}
	return 0;
}

/* Makes a trace of an open file and becomes its owner. */
static int trace_of(struct dat *d, const char *name, const struct trace_options *opt,
		    struct spur_trace **out, struct spur_error *err)
{
	struct spur_trace *t = calloc(1, sizeof(*t));
	int rc = -ENOMEM;

	if (!t) {
		dat_close(d);
		return error_set(err, rc, "out of memory");
	}
	t->dat = d;
	if (opt)
		t->opt = *opt;
	t->events = events_new();
	if (!t->events)
		goto out;
	rc = load_events(t, err);
	if (rc < 0)
		goto out;
	rc = load_names(t);
	if (rc < 0)
		goto out;
	rc = load_plugins(t, err);
	if (rc < 0)
		goto out;
	rc = load_buffers(t);
out:
	if (rc < 0) {
		error_set(err, rc, "%s: out of memory", name);
		trace_close(t);
		return rc;
	}
	*out = t;
	return 0;
}

int trace_open(const char *path, const struct trace_options *opt, struct spur_trace **out,
	       struct spur_error *err)
{
	struct dat *d;
	int rc = source_open(path, &d, err);

	*out = NULL;
	return rc < 0 ? rc : trace_of(d, path, opt, out, err);
}

int trace_open_fd(int fd, const char *name, const struct trace_options *opt,
		  struct spur_trace **out, struct spur_error *err)
{
	struct dat *d;
	int rc = source_open_fd(fd, name, &d, err);

	*out = NULL;
	return rc < 0 ? rc : trace_of(d, name, opt, out, err);
}

void trace_close(struct spur_trace *t)
{
	if (!t)
		return;
	free(t->buffers);
	events_free(t->events);
	dat_close(t->dat);
	free(t);
}

static int by_pid(const void *a, const void *b)
{
	const struct event_guest *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static const struct dat_guest *guest_of(const struct dat *host, uint64_t trace_id)
{
	for (size_t i = 0; i < host->nr_guests; i++)
		if (host->guests[i].trace_id == trace_id)
			return &host->guests[i];
	return NULL;
}

int trace_map_guests(struct spur_trace *const *traces, size_t nr)
{
	struct events *ev = traces[0]->events;

	for (size_t i = 1; i < nr; i++) {
		const struct dat_guest *g = guest_of(traces[0]->dat, traces[i]->dat->trace_id);
		struct event_guest *guests;

		if (!g || !g->nr_cpus)
			continue;
		guests = realloc(ev->guests, (ev->nr_guests + g->nr_cpus) * sizeof(*guests));
		if (!guests)
			return -ENOMEM;
		ev->guests = guests;
		for (uint32_t k = 0; k < g->nr_cpus; k++)
			guests[ev->nr_guests++] = (struct event_guest){
				.pid = g->cpus[k].pid, .symbols = traces[i]->events->symbols};
	}
	if (ev->nr_guests)
		qsort(ev->guests, ev->nr_guests, sizeof(*ev->guests), by_pid);
	return 0;
}

/* ---- tasks ---- */

/* Who a task was at a time of the trace, as far as the file says it (DAT_OPT_TASKS). */

/* The entries' clock is that of the first buffer with pages. */
static const struct trace_buffer *clock_of(const struct spur_trace *t)
{
	for (uint32_t i = 0; i < t->nr_buffers; i++)
		if (!t->buffers[i].data->text && t->buffers[i].data->nr_cpus)
			return &t->buffers[i];
	return NULL;
}

uint64_t trace_task_time(const struct spur_trace *t, const struct dat_task *task)
{
	const struct trace_buffer *b = clock_of(t);

	return b && task->kind != DAT_TASK_THERE ? trace_time(&b->time, task->ts, 0) : 0;
}

/* How many entries have a lower pid, or this pid and a time up to `ts`. */
static size_t entries_until(const struct spur_trace *t, int pid, uint64_t ts)
{
	const struct dat *d = t->dat;
	const struct dat_task *at = d ? d->tasks : NULL;
	size_t i;

	binary_search(i, 0, d ? d->nr_tasks : 0,
		      at[i].pid < pid || (at[i].pid == pid && trace_task_time(t, &at[i]) <= ts));
	return i;
}

struct task_span trace_task_span(const struct spur_trace *t, int pid, uint64_t ts)
{
	const size_t n = entries_until(t, pid, ts);
	const struct dat_task *list = t->dat ? t->dat->tasks : NULL;
	const struct dat_task *next =
		list && n < t->dat->nr_tasks && list[n].pid == pid ? &list[n] : NULL;
	struct task_span span = {.until = next ? trace_task_time(t, next) : UINT64_MAX};

	if (n && list[n - 1].pid == pid) {
		span.task = &list[n - 1];
		span.from = trace_task_time(t, span.task);
	} else {
		/*
		 * Clocks of CPUs differ: the first record of a new task may be earlier than the
		 * task.
		 */
		span.task = next;
	}
	return span;
}

const struct dat_task *trace_task_at(const struct spur_trace *t, int pid, uint64_t ts)
{
	return trace_task_span(t, pid, ts).task;
}

const struct dat_task *trace_task_named(const struct spur_trace *t, struct task_places *places,
					int pid, uint64_t ts)
{
	const unsigned int i = (unsigned int)pid % TASK_PLACES;
	const struct dat_task *task;

	if (!pid || !t->dat || !t->dat->nr_tasks)
		return NULL;
	if (places->at[i].pid != pid || ts < places->at[i].span.from ||
	    ts >= places->at[i].span.until) {
		places->at[i].pid = pid;
		places->at[i].span = trace_task_span(t, pid, ts);
	}
	task = places->at[i].span.task;
	return task && *task->name ? task : NULL;
}
