// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Samples. One of a tracepoint carries the record as the ring buffer would have it. Others become
 * events of the system "perf" that are called as their counter. Stacks follow as records of their
 * own, as ftrace writes them, so that everything that looks for stacks finds them.
 */
#include "import/perf/perf.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"

#define MAX_FRAMES     512
#define MISC_MODE      7 /* of misc: where the CPU was */
#define MODE_USER      2
#define CONTEXT	       ((uint64_t)-4095) /* from here on: no addresses, but whose follow */
#define CONTEXT_KERNEL ((uint64_t)-128)
#define CONTEXT_USER   ((uint64_t)-512)

enum { READ_ENABLED = 1, READ_RUNNING = 2, READ_ID = 4, READ_GROUP = 8, READ_LOST = 16 };

/* ---- reading -------------------------------------------------------------------------- */

static uint64_t bits_before(uint64_t type, uint64_t parts)
{
	return (uint64_t)__builtin_popcountll(type & parts);
}

/*
 * Whose sample it is. All attributes of a file have the id at the same place, so any will do to
 * find it.
 */
static struct perf_attr *attr_of(const struct perf *p, struct cursor c)
{
	struct perf_attr *first = p->attrs.n ? p->attrs.at[0] : NULL, *found;
	const uint64_t type = first ? first->sample_type : 0;

	if (p->attrs.n < 2)
		return first;
	if (!(type & SAMPLE_IDENTIFIER)) {
		if (!(type & SAMPLE_ID))
			return first;
		cursor_skip(&c, 8 * bits_before(type, SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME |
							      SAMPLE_ADDR));
	}
	found = map_get(&p->by_id, cursor_u64(&c));
	return cursor_failed(&c) ? NULL : found ? found : first;
}

static void skip_read(struct cursor *c, uint64_t format)
{
	const uint64_t each = 1 + (format & READ_ID ? 1 : 0) + (format & READ_LOST ? 1 : 0);
	const uint64_t times = (format & READ_ENABLED ? 1 : 0) + (format & READ_RUNNING ? 1 : 0);

	if (format & READ_GROUP) {
		const uint64_t nr = cursor_u64(c);

		cursor_skip(c, 8 * times);
		cursor_skip(c, nr > cursor_left(c) ? cursor_left(c) + 1 : 8 * nr * each);
	} else {
		cursor_skip(c, 8 * (times + each));
	}
}

bool perf_sample_read(struct perf *p, struct cursor c, struct perf_sample *s,
		      struct perf_attr **attr)
{
	uint64_t type;

	*s = (struct perf_sample){0};
	*attr = attr_of(p, c);
	if (!*attr)
		return false;
	type = (*attr)->sample_type;
	if (type & SAMPLE_IDENTIFIER)
		s->id = cursor_u64(&c);
	if (type & SAMPLE_IP)
		s->ip = cursor_u64(&c);
	if (type & SAMPLE_TID) {
		s->pid = cursor_u32(&c);
		s->tid = cursor_u32(&c);
	}
	if (type & SAMPLE_TIME) {
		s->time = cursor_u64(&c);
		s->has_time = true;
	}
	if (type & SAMPLE_ADDR)
		s->addr = cursor_u64(&c);
	if (type & SAMPLE_ID)
		s->id = cursor_u64(&c);
	if (type & SAMPLE_STREAM_ID)
		cursor_u64(&c);
	if (type & SAMPLE_CPU) {
		s->cpu = cursor_u32(&c);
		cursor_u32(&c);
		s->has_cpu = true;
	}
	if (type & SAMPLE_PERIOD)
		s->period = cursor_u64(&c);
	if (type & SAMPLE_READ)
		skip_read(&c, (*attr)->read_format);
	if (type & SAMPLE_CALLCHAIN) {
		const uint64_t nr = cursor_u64(&c);

		s->has_chain = true;
		s->chain = cursor_sub(&c, nr > cursor_left(&c) ? UINT64_MAX : nr * 8);
	}
	if (type & SAMPLE_RAW) {
		s->raw_size = cursor_u32(&c);
		s->raw = cursor_bytes(&c, s->raw_size);
	}
	return !cursor_failed(&c);
}

/* From the end: the parts that a sample has of these, in this order. */
void perf_sample_id(const struct perf *p, struct cursor c, struct perf_sample *s)
{
	const struct perf_attr *a = p->attrs.n ? p->attrs.at[0] : NULL;
	const uint64_t parts = SAMPLE_TID | SAMPLE_TIME | SAMPLE_ID | SAMPLE_STREAM_ID |
			       SAMPLE_CPU | SAMPLE_IDENTIFIER;
	uint64_t size;

	if (!a || !(a->flags & ATTR_SAMPLE_ID_ALL))
		return;
	size = 8 * bits_before(a->sample_type, parts);
	if (size > cursor_left(&c))
		return;
	cursor_skip(&c, cursor_left(&c) - size);
	if (a->sample_type & SAMPLE_TID) {
		s->pid = cursor_u32(&c);
		s->tid = cursor_u32(&c);
	}
	if (a->sample_type & SAMPLE_TIME) {
		s->time = cursor_u64(&c);
		s->has_time = true;
	}
	cursor_skip(&c, 8 * bits_before(a->sample_type, SAMPLE_ID | SAMPLE_STREAM_ID));
	if (a->sample_type & SAMPLE_CPU) {
		s->cpu = cursor_u32(&c);
		s->has_cpu = true;
	}
	if (s->cpu >= IMPORT_MAX_CPUS)
		s->cpu = 0;
}

/* ---- types ---------------------------------------------------------------------------- */

static const char *counter_name(struct import *im, const struct perf_attr *a)
{
	static const char *const hardware[] = {"cycles",
					       "instructions",
					       "cache_references",
					       "cache_misses",
					       "branches",
					       "branch_misses",
					       "bus_cycles",
					       "stalled_cycles_frontend",
					       "stalled_cycles_backend",
					       "ref_cycles"};
	static const char *const software[] = {
		"cpu_clock",	    "task_clock",   "page_faults",  "context_switches",
		"cpu_migrations",   "minor_faults", "major_faults", "alignment_faults",
		"emulation_faults", "dummy",	    "bpf_output"};
	char text[64];

	if (a->name && *a->name)
		return import_identifier(im, a->name, strlen(a->name));
	if (a->type == PERF_HARDWARE && a->config < ARRAY_SIZE(hardware))
		return hardware[a->config];
	if (a->type == PERF_SOFTWARE && a->config < ARRAY_SIZE(software))
		return software[a->config];
	snprintf(text, sizeof(text), "type%" PRIu32 "_%" PRIx64, a->type, a->config);
	return import_identifier(im, text, strlen(text));
}

static bool need_counter(struct perf *p, struct perf_attr *a)
{
	struct import_type *t = &a->type_of;

	if (t->id)
		return true;
	a->fields[0] = (struct import_field){.name = "ip", .size = 8, .shown = "0x%llx"};
	a->fields[1] = (struct import_field){.name = "period", .size = 8};
	a->fields[2] = (struct import_field){.name = "addr", .size = 8, .shown = "0x%llx"};
	*t = (struct import_type){.system = "perf",
				  .name = counter_name(p->im, a),
				  .fields = a->fields,
				  .nr_fields = a->sample_type & SAMPLE_ADDR ? 3 : 2};
	return t->name && import_type(p->im, t, NULL);
}

/* ---- records -------------------------------------------------------------------------- */

/* A chain has the kernel's frames and the user's, each after a mark. */
static void put_stacks(struct perf *p, const struct import_context *x, const struct perf_sample *s,
		       bool user)
{
	uint64_t frames[2][MAX_FRAMES];
	size_t n[2] = {0, 0};
	struct cursor c = s->chain;

	while (s->has_chain && cursor_left(&c) >= 8) {
		const uint64_t addr = cursor_u64(&c);

		if (addr == CONTEXT_USER || addr == CONTEXT_KERNEL)
			user = addr == CONTEXT_USER;
		else if (addr < CONTEXT && addr && n[user] < MAX_FRAMES)
			frames[user][n[user]++] = addr;
	}
	/* Without a chain there is still where the CPU was. */
	if (!s->has_chain && s->ip)
		frames[user][n[user]++] = s->ip;
	p->kernel_stacks |= n[0] > 0;
	for (int i = 0; i < 2; i++)
		if (n[i])
			import_stack(p->im, x, i, (int)s->pid, frames[i], n[i]);
}

void perf_sample_put(struct perf *p, const struct perf_sample *s, struct perf_attr *attr,
		     uint16_t misc)
{
	const bool user = (misc & MISC_MODE) == MODE_USER;
	struct import_context x = {.cpu = s->cpu, .ts = s->time, .pid = (int)s->tid};

	if (!s->has_cpu)
		p->no_cpus = true;
	if (x.cpu >= IMPORT_MAX_CPUS)
		return;
	if (!s->has_time)
		x.ts = ++p->fallback_ts;
	else
		p->fallback_ts = s->time;
	if (attr->type == PERF_TRACEPOINT && s->raw && s->raw_size >= IMPORT_COMMON) {
		x.flags = s->raw[2];
		x.preempt_count = s->raw[3];
		x.pid = (int)load_uint(s->raw + 4, 4, p->big_endian);
		import_raw(p->im, &x, s->raw, s->raw_size);
		if (s->has_chain)
			put_stacks(p, &x, s, user);
		return;
	}
	if (!need_counter(p, attr))
		return;
	import_begin(p->im, &attr->type_of);
	import_set(p->im, &attr->fields[0], s->ip);
	import_set(p->im, &attr->fields[1], s->period);
	if (attr->type_of.nr_fields > 2)
		import_set(p->im, &attr->fields[2], s->addr);
	import_end(p->im, &x);
	put_stacks(p, &x, s, user);
}
