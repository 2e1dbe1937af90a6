// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two tables: the functions that allocated (sites) and the addresses seen (blocks). A block that
 * was freed stays in its table without a site until its address is allocated again, so the tables
 * only grow, and no faster than the kernel's use of addresses. hash_add() of a single number maps
 * different numbers to different keys, so nothing needs to be chained.
 */
#include "stats/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/order.h"
#include "base/vec.h"
#include "event/names.h"
#include "scan/scan.h"

#define MEMORY_LIMIT (1u << 30)

struct amount {
	uint64_t alloc, req; /* bytes: what the allocator gave, what it was asked for */
};

struct site {
	const struct symbol *function; /* NULL: no symbol has the address */
	uint64_t addr;
	uint32_t number; /* in order of appearance */
	struct amount now, total, max;
};

struct block {
	struct site *site; /* NULL: it is free */
	struct amount size;
};

/* An event that matters: an allocation has all fields, a free only ptr. */
struct mem_event {
	const struct event *event;
	const struct event_field *ptr, *call_site, *bytes_req, *bytes_alloc;
};

static const struct {
	const char *name;
	bool allocates;
} event_names[] = {
	{"kmalloc", true},	    {"kmalloc_node", true},	     {"kfree", false},
	{"kmem_cache_alloc", true}, {"kmem_cache_alloc_node", true}, {"kmem_cache_free", false},
};

#define NR_EVENTS ARRAY_SIZE(event_names)

struct mem {
	struct events *events;
	struct mem_event kinds[NR_EVENTS];
	size_t nr_kinds;
	struct arena arena;
	struct hash_seed seed;
	struct map by_symbol, by_addr; /* sites: of a known function, of an unknown one */
	struct map blocks;
	vec_of(struct site *) sites;
	uint64_t seen, dropped;
};

/* ---- making ---- */

static void add_kind(struct mem *m, const char *name, bool allocates)
{
	struct event *e = events_find(m->events, "kmem", name);
	struct mem_event *k = &m->kinds[m->nr_kinds];

	if (!e)
		return;
	*k = (struct mem_event){.event = e, .ptr = event_field_find(e, "ptr")};
	if (allocates) {
		k->call_site = event_field_find(e, "call_site");
		k->bytes_req = event_field_find(e, "bytes_req");
		k->bytes_alloc = event_field_find(e, "bytes_alloc");
	}
	if (k->ptr && (!allocates || (k->call_site && k->bytes_req && k->bytes_alloc)))
		m->nr_kinds++;
}

struct mem *mem_new(struct spur_trace *t, size_t memory_limit, struct spur_error *err)
{
	struct mem *m = calloc(1, sizeof(*m));

	if (!m) {
		error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	m->events = t->events;
	m->seed = hash_seed_new();
	arena_init(&m->arena, memory_limit ? memory_limit : MEMORY_LIMIT);
	for (size_t i = 0; i < NR_EVENTS; i++)
		add_kind(m, event_names[i].name, event_names[i].allocates);
	return m;
}

void mem_free(struct mem *m)
{
	if (!m)
		return;
	map_free(&m->by_symbol);
	map_free(&m->by_addr);
	map_free(&m->blocks);
	vec_free(&m->sites);
	arena_free(&m->arena);
	free(m);
}

uint64_t mem_seen(const struct mem *m)
{
	return m->seen;
}

uint64_t mem_dropped(const struct mem *m)
{
	return m->dropped;
}

/* ---- counting ---- */

/* Makes what a key of a map stands for; NULL beyond the memory limit. */
static void *add_to_map(struct mem *m, struct map *map, uint64_t key, size_t size)
{
	void *thing = arena_alloc(&m->arena, size);

	return thing && map_set(map, key, thing) ? thing : NULL;
}

static struct site *find_site(struct mem *m, uint64_t addr)
{
	const struct symbol *function = symbols_find(m->events->symbols, addr);
	struct map *map = function ? &m->by_symbol : &m->by_addr;
	uint64_t key = hash_add(&m->seed, 0, function ? (uintptr_t)function : addr);
	struct site *s = map_get(map, key);

	if (s)
		return s;
	s = add_to_map(m, map, key, sizeof(*s));
	if (!s || !vec_add(&m->sites, &s))
		return NULL;
	s->function = function;
	s->addr = addr;
	s->number = (uint32_t)m->sites.n;
	return s;
}

static struct block *find_block(struct mem *m, uint64_t ptr, bool make)
{
	uint64_t key = hash_add(&m->seed, 0, ptr);
	struct block *b = map_get(&m->blocks, key);

	return b || !make ? b : add_to_map(m, &m->blocks, key, sizeof(*b));
}

static void allocated(struct mem *m, uint64_t addr, uint64_t ptr, struct amount size)
{
	struct site *s = find_site(m, addr);
	struct block *b = s ? find_block(m, ptr, true) : NULL;

	if (!b) {
		m->dropped++;
		return;
	}
	s->total.alloc += size.alloc;
	s->total.req += size.req;
	s->now.alloc += size.alloc;
	s->now.req += size.req;
	if (s->now.alloc > s->max.alloc)
		s->max.alloc = s->now.alloc;
	if (s->now.req > s->max.req)
		s->max.req = s->now.req;
	*b = (struct block){s, size};
}

static void freed(struct mem *m, uint64_t ptr)
{
	struct block *b = find_block(m, ptr, false);

	if (!b || !b->site)
		return;
	b->site->now.alloc -= b->size.alloc;
	b->site->now.req -= b->size.req;
	b->site = NULL;
}

static uint64_t number(const struct mem *m, const struct event_field *f,
		       const struct spur_record *r)
{
	return record_uint(m->events, r, f->offset, f->size);
}

void mem_record(struct mem *m, const struct event *e, const struct spur_record *r)
{
	for (size_t i = 0; e && i < m->nr_kinds; i++) {
		const struct mem_event *k = &m->kinds[i];

		if (k->event != e)
			continue;
		m->seen++;
		if (k->call_site)
			allocated(m, number(m, k->call_site, r), number(m, k->ptr, r),
				  (struct amount){number(m, k->bytes_alloc, r),
						  number(m, k->bytes_req, r)});
		else
			freed(m, number(m, k->ptr, r));
		return;
	}
}

/* ---- a whole buffer ---- */

int mem_run(struct mem *m, const struct trace_buffer *b, const volatile int *stop,
	    struct spur_error *err)
{
	const struct spur_record *r;
	struct lane_filter filter;
	struct scan scan;
	int rc;

	/* The lanes pass over all events that do not matter. */
	if (lane_filter_init(&filter, m->events) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < m->nr_kinds; i++)
		lane_filter_want(&filter, m->kinds[i].event);
	scan_init(&scan, &(struct scan_options){.filter = &filter, .stop = stop});
	rc = scan_add_buffer(&scan, b);
	while (rc == 0 && (r = scan_next(&scan)) != NULL)
		mem_record(m, events_of_record(m->events, r), r);
	if (rc == 0 && scan_stopped(&scan))
		rc = -EINTR;
	scan_free(&scan);
	lane_filter_free(&filter);
	return rc == -ENOMEM ? error_set(err, rc, "out of memory") : rc;
}

/* ---- the table ---- */

/*
 * Where trace-cmd keeps a function in its hash table: it shows functions of equal waste in the
 * order of the table, those in one place from the newest to the oldest. The bytes of the name are
 * folded to 32 bits, which Paul Hsieh's hash then mixes.
 */
static uint32_t place_of(const struct site *s)
{
	uint32_t folded = 0, hash = 12546869;

	for (size_t i = 0; s->function && i < s->function->len; i++)
		folded ^= (uint32_t)(uint8_t)s->function->name[i] << (8 * (i % 4));
	hash += folded & 0xffff;
	hash = hash << 16 ^ folded >> 16 ^ hash;
	hash += hash >> 11;
	hash ^= hash << 3;
	hash += hash >> 5;
	hash ^= hash << 4;
	hash += hash >> 17;
	hash ^= hash << 25;
	hash += hash >> 6;
	return hash & 0xfff;
}

static int most_wasteful_first(const void *a, const void *b)
{
	const struct site *x = *(struct site *const *)a, *y = *(struct site *const *)b;
	uint64_t waste_x = x->now.alloc - x->now.req, waste_y = y->now.alloc - y->now.req;
	uint32_t place_x = place_of(x), place_y = place_of(y);

	if (waste_x != waste_y)
		return waste_x < waste_y ? 1 : -1;
	if (place_x != place_y)
		return place_x < place_y ? -1 : 1;
	return (x->number < y->number) - (x->number > y->number);
}

static void put_site(struct buf *out, const struct site *s)
{
	char unknown[24];
	const char *name = unknown;

	if (s->function)
		name = s->function->name;
	else
		snprintf(unknown, sizeof(unknown), "0x%llx", (unsigned long long)s->addr);
	buf_printf(out, "%32s\t%lld\t%lld\t%lld\t\t%8lld   %8lld\t\t%8lld   %8lld\t%lld\n", name,
		   (long long)(s->now.alloc - s->now.req), (long long)s->now.alloc,
		   (long long)s->now.req, (long long)s->total.alloc, (long long)s->total.req,
		   (long long)s->max.alloc, (long long)s->max.req,
		   (long long)(s->max.alloc - s->max.req));
}

void mem_print(const struct mem *m, struct buf *out)
{
	order_vec(&m->sites, most_wasteful_first);
	buf_puts(out,
		 "                Function            \tWaste\tAlloc\treq\t\tTotAlloc     TotReq"
		 "\t\tMaxAlloc     MaxReq\tMaxWaste\n"
		 "                --------            \t-----\t-----\t---\t\t--------     ------"
		 "\t\t--------     ------\t--------\n");
	vec_each (s, &m->sites)
		put_site(out, *s);
}
