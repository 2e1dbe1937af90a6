// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Bundles of events, one open for each CPU of a buffer.
 *
 * A bundle holds messages of single events and, for switches and wakeups, the compact form: a
 * column of numbers for each of their fields, and the names of tasks by number in a table of the
 * bundle's own. It is written when it is large or old, so that the file is approximately in order
 * of time and little has to be stored.
 *
 * Names of functions are numbered once in a sequence. Bundles refer to numbers that were assigned
 * while others were open, so every packet begins with all new numbers.
 */
#include "export/perfetto/perfetto.h"

#include <errno.h>
#include <stdlib.h>

#include "base/nanoseconds.h"
#include "event/names.h"

#define BUNDLE_BYTES (48u << 10)
#define BUNDLE_TIME  (100 * NS_PER_MS)
#define BUNDLE_LIMIT (256u << 20)
#define MOST_SYMBOLS (1u << 16) /* are remembered at a time */

/* FtraceEventBundle, and its CompactSched */
enum { BUNDLE_CPU = 1, BUNDLE_EVENT = 2, BUNDLE_LOST = 3, BUNDLE_COMPACT = 4 };
enum { COMPACT_NAMES = 5 };
/* FtraceEvent */
enum { EVENT_TIME = 1, EVENT_PID = 2 };
enum { INTERNED_SYMBOLS = 26 };

static const uint8_t column_fields[NR_COMPACT] = {
	[SWITCH_TIME] = 1,  [SWITCH_PREV_STATE] = 2, [SWITCH_NEXT_PID] = 3, [SWITCH_NEXT_PRIO] = 4,
	[SWITCH_COMM] = 6,  [WAKING_TIME] = 7,	     [WAKING_PID] = 8,	    [WAKING_TARGET_CPU] = 9,
	[WAKING_PRIO] = 10, [WAKING_COMM] = 11,	     [WAKING_FLAGS] = 12,
};

static struct bundle *bundle_new(uint32_t cpu)
{
	struct bundle *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->cpu = cpu;
	buf_init(&b->events, BUNDLE_LIMIT);
	buf_init(&b->names, BUNDLE_LIMIT);
	for (int i = 0; i < NR_COMPACT; i++)
		buf_init(&b->columns[i], BUNDLE_LIMIT);
	return b;
}

static void bundle_free(struct bundle *b)
{
	if (!b)
		return;
	buf_free(&b->events);
	buf_free(&b->names);
	for (int i = 0; i < NR_COMPACT; i++)
		buf_free(&b->columns[i]);
	free(b);
}

struct bundle *bundle_of(struct perfetto *p, struct stream *s, uint32_t cpu)
{
	if (__builtin_expect(cpu >= PERFETTO_CPUS, 0)) {
		p->left_out = true;
		return NULL;
	}
	if (__builtin_expect(!s->bundles[cpu], 0)) {
		s->bundles[cpu] = bundle_new(cpu);
		if (!s->bundles[cpu])
			p->failed = -ENOMEM;
	}
	return s->bundles[cpu];
}

/* ---- writing -------------------------------------------------------------------------- */

static void put_compact(struct buf *out, const struct bundle *b)
{
	const size_t start = proto_begin(out, BUNDLE_COMPACT);

	for (int i = 0; i < NR_COMPACT; i++)
		if (b->columns[i].len)
			proto_bytes(out, column_fields[i], b->columns[i].data, b->columns[i].len);
	buf_put(out, b->names.data, b->names.len);
	proto_end(out, start);
}

static void clear(struct bundle *b)
{
	buf_reset(&b->events);
	buf_reset(&b->names);
	for (int i = 0; i < NR_COMPACT; i++)
		buf_reset(&b->columns[i]);
	if (b->nr_names)
		memset(b->slots, 0, sizeof(b->slots));
	b->nr_names = 0;
	b->last_switch = b->last_waking = 0;
	b->lost = b->open = false;
}

/* Whether anything of it did not fit. */
static bool spoiled(const struct bundle *b)
{
	bool full = buf_full(&b->events) || buf_full(&b->names);

	for (int i = 0; i < NR_COMPACT; i++)
		full |= buf_full(&b->columns[i]);
	return full;
}

void interned_put(struct perfetto *p, struct interned *in)
{
	struct buf *out = &p->out->buf;

	if (in->data.len)
		proto_bytes(out, PACKET_INTERNED, in->data.data, in->data.len);
	proto_number(out, PACKET_FLAGS, in->restated ? STATE_CLEARED | NEEDS_STATE : NEEDS_STATE);
	if (in->is_first)
		proto_number(out, PACKET_FIRST, true);
	if (buf_full(&in->data))
		p->failed = -ENOMEM;
	buf_reset(&in->data);
	in->is_first = in->restated = false;
}

static void flush(struct perfetto *p, struct stream *s, struct bundle *b)
{
	struct buf *out = &p->out->buf;
	size_t packet, start;

	if (!b || (!b->open && !b->lost))
		return;
	/* The next event may be of the same time. */
	bundle_expand(b);
	if (spoiled(b))
		p->failed = -ENOMEM;
	packet = packet_begin(p, s->sequence);
	interned_put(p, &s->interned);
	start = proto_begin(out, PACKET_FTRACE);
	proto_number(out, BUNDLE_CPU, b->cpu);
	buf_put(out, b->events.data, b->events.len);
	if (b->lost)
		proto_number(out, BUNDLE_LOST, true);
	if (b->columns[SWITCH_TIME].len || b->columns[WAKING_TIME].len)
		put_compact(out, b);
	proto_end(out, start);
	packet_end(p, packet);
	clear(b);
}

static void stream_flush(struct perfetto *p, struct stream *s)
{
	for (int i = 0; i < PERFETTO_CPUS; i++)
		flush(p, s, s->bundles[i]);
}

/* Bundles must be written before the numbers that they refer to are dropped. */
static void forget_symbols(struct perfetto *p, struct stream *s)
{
	stream_flush(p, s);
	map_free(&s->symbols);
	s->symbols = (struct map){0};
	buf_reset(&s->interned.data);
	s->interned.restated = true;
}

void bundle_lost(struct perfetto *p, struct stream *s, struct bundle *b)
{
	flush(p, s, b);
	b->lost = true;
	b->known = false;
}

void bundle_turn(struct perfetto *p, struct stream *s, struct bundle *b, uint64_t ts)
{
	if (__builtin_expect(b->events.len + b->columns[SWITCH_TIME].len >= BUNDLE_BYTES ||
				     b->columns[WAKING_TIME].len >= BUNDLE_BYTES ||
				     b->nr_names >= BUNDLE_NAMES,
			     0))
		flush(p, s, b);
	if (__builtin_expect(ts > s->epoch && ts - s->epoch >= BUNDLE_TIME, 0)) {
		if (s->epoch)
			stream_flush(p, s);
		s->epoch = ts;
	}
	if (__builtin_expect(s->symbols.n >= MOST_SYMBOLS, 0))
		forget_symbols(p, s);
}

void streams_flush(struct perfetto *p)
{
	for (uint32_t i = 0; i < p->trace->nr_buffers; i++)
		stream_flush(p, &p->streams[i]);
}

void streams_free(struct perfetto *p)
{
	for (uint32_t i = 0; p->streams && i < p->trace->nr_buffers; i++) {
		for (int k = 0; k < PERFETTO_CPUS; k++)
			bundle_free(p->streams[i].bundles[k]);
		map_free(&p->streams[i].symbols);
		buf_free(&p->streams[i].interned.data);
	}
	free(p->streams);
}

/* ---- the compact form ----------------------------------------------------------------- */

/* The number of a name; there is room, as a bundle with many is written at once. */
static uint32_t name_index(struct bundle *b, const union comm16 *comm)
{
	const uint64_t hash =
		comm->word[0] * 0x9e3779b97f4a7c15ull ^ comm->word[1] * 0xd6e8feb86659fd93ull;

	for (size_t i = hash >> 56;; i++) {
		__typeof__(&b->slots[0]) slot = &b->slots[i % BUNDLE_SLOTS];

		if (slot->index && slot->comm.word[0] == comm->word[0] &&
		    slot->comm.word[1] == comm->word[1])
			return slot->index - 1;
		if (slot->index)
			continue;
		slot->comm = *comm;
		slot->index = ++b->nr_names;
		proto_text(&b->names, COMPACT_NAMES, comm->text,
			   strnlen(comm->text, sizeof(comm->text)));
		return slot->index - 1;
	}
}

static void note_last(struct bundle *b, bool is_waking, uint64_t ts, int64_t prev_state,
		      int32_t next_pid, int32_t next_prio, int32_t cpu, const union comm16 *comm)
{
	b->last = (struct last_compact){.is_set = true,
					.is_waking = is_waking,
					.ts = ts,
					.before = is_waking ? b->last_waking : b->last_switch,
					.pid = b->pid,
					.prev_prio = b->prio,
					.prev_comm = b->comm,
					.prev_state = prev_state,
					.next_pid = next_pid,
					.next_prio = next_prio,
					.target_cpu = cpu,
					.next_comm = *comm};
}

void bundle_switch(struct bundle *b, uint64_t ts, int64_t prev_state, int32_t next_pid,
		   int32_t next_prio, const union comm16 *next_comm)
{
	note_last(b, false, ts, prev_state, next_pid, next_prio, 0, next_comm);
	proto_varint(&b->columns[SWITCH_TIME], ts - b->last_switch);
	proto_varint(&b->columns[SWITCH_PREV_STATE], (uint64_t)prev_state);
	proto_varint(&b->columns[SWITCH_NEXT_PID], (uint64_t)(int64_t)next_pid);
	proto_varint(&b->columns[SWITCH_NEXT_PRIO], (uint64_t)(int64_t)next_prio);
	proto_varint(&b->columns[SWITCH_COMM], name_index(b, next_comm));
	b->last_switch = ts;
}

void bundle_waking(struct bundle *b, uint64_t ts, int32_t pid, int32_t cpu, int32_t prio,
		   const union comm16 *comm, uint32_t flags)
{
	note_last(b, true, ts, 0, pid, prio, cpu, comm);
	proto_varint(&b->columns[WAKING_TIME], ts - b->last_waking);
	proto_varint(&b->columns[WAKING_PID], (uint64_t)(int64_t)pid);
	proto_varint(&b->columns[WAKING_TARGET_CPU], (uint64_t)(int64_t)cpu);
	proto_varint(&b->columns[WAKING_PRIO], (uint64_t)(int64_t)prio);
	proto_varint(&b->columns[WAKING_COMM], name_index(b, comm));
	proto_varint(&b->columns[WAKING_FLAGS], flags);
	b->last_waking = ts;
}

/* The last byte of a number is the only one of it whose highest bit is not set. */
static void drop_number(struct buf *b)
{
	if (b->len)
		b->len--;
	while (b->len && b->data[b->len - 1] & 0x80)
		b->len--;
}

static void put_number(struct buf *b, uint32_t field, int64_t number)
{
	proto_number(b, field, (uint64_t)number);
}

static void put_comm(struct buf *b, uint32_t field, const union comm16 *comm)
{
	proto_text(b, field, comm->text, strnlen(comm->text, sizeof(comm->text)));
}

static void put_switch(struct buf *b, const struct last_compact *l)
{
	const size_t start = proto_begin(b, FTRACE_SCHED_SWITCH);

	put_comm(b, 1, &l->prev_comm);
	put_number(b, 2, l->pid);
	put_number(b, 3, l->prev_prio);
	put_number(b, 4, l->prev_state);
	put_comm(b, 5, &l->next_comm);
	put_number(b, 6, l->next_pid);
	put_number(b, 7, l->next_prio);
	proto_end(b, start);
}

static void put_waking(struct buf *b, const struct last_compact *l)
{
	const size_t start = proto_begin(b, FTRACE_SCHED_WAKING);

	put_comm(b, 1, &l->next_comm);
	put_number(b, 2, l->next_pid);
	put_number(b, 3, l->next_prio);
	put_number(b, 5, l->target_cpu);
	proto_end(b, start);
}

void bundle_expand(struct bundle *b)
{
	const struct last_compact *l = &b->last;
	size_t start;

	if (!l->is_set)
		return;
	for (int i = l->is_waking ? WAKING_TIME : 0; i < (l->is_waking ? NR_COMPACT : WAKING_TIME);
	     i++)
		drop_number(&b->columns[i]);
	*(l->is_waking ? &b->last_waking : &b->last_switch) = l->before;
	start = proto_begin(&b->events, BUNDLE_EVENT);
	proto_number(&b->events, EVENT_TIME, l->ts);
	proto_number(&b->events, EVENT_PID, (uint32_t)l->pid);
	(l->is_waking ? put_waking : put_switch)(&b->events, l);
	proto_end(&b->events, start);
	b->last.is_set = false;
}

/* ---- functions ------------------------------------------------------------------------ */

static uint64_t symbol_key(const struct perfetto *p, uint64_t addr)
{
	return hash_add(&p->tasks.seed, 0, addr);
}

/*
 * A function that is only a hexadecimal address needs no number: Perfetto prints the address
 * itself.
 */
uint64_t stream_symbol(struct perfetto *p, struct stream *s, uint64_t addr)
{
	const uint64_t key = symbol_key(p, addr);
	const uintptr_t known = (uintptr_t)map_get(&s->symbols, key);
	const struct symbol *sym;
	size_t start;

	if (known)
		return known;
	sym = symbols_find(p->trace->events->symbols, addr);
	if (!sym)
		return addr;
	p->last_symbol++;
	if (!map_set(&s->symbols, key, (void *)(uintptr_t)p->last_symbol)) {
		p->failed = -ENOMEM;
		return addr;
	}
	start = proto_begin(&s->interned.data, INTERNED_SYMBOLS);
	proto_number(&s->interned.data, 1, p->last_symbol);
	proto_text(&s->interned.data, 2, sym->name, sym->len);
	proto_end(&s->interned.data, start);
	return p->last_symbol;
}
