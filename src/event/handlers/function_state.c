// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the function tracers' printers keep from one event to the next: the functions looked up
 * last, and per CPU the chain of calls by which their text is indented.
 *
 * A chain is libtraceevent's guess at a call stack: names from the outermost caller on. A call
 * whose parent is in the chain belongs behind the first place it has there; one whose parent is
 * not starts the chain anew. Names behind a new one are left standing, so the guess may jump back
 * into an older, deeper chain. All this shows in the text and is therefore kept.
 *
 * Symbols of equal names count as the same function. A chain has at most MAX_DEPTH names and CPUs
 * beyond MAX_CPUS none: no kernel nests or has that many, hostile files do.
 */
#include <stdlib.h>
#include <string.h>

#include "event/handlers/handlers.h"

#define MAX_DEPTH 512
#define MAX_CPUS  16384
#define NR_CACHED 1024 /* a power of two */

struct chain {
	unsigned int n;
	const struct symbol *at[MAX_DEPTH];
};

struct cached_symbol {
	uint64_t addr;
	const struct symbol *symbol; /* NULL: the slot is free, or the address has no name */
	bool used;
};

struct function_stacks {
	struct cached_symbol cache[NR_CACHED];
	struct chain **chains; /* by CPU; NULL where nothing was called yet */
	uint32_t nr_chains;
};

void function_stacks_free(struct function_stacks *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->nr_chains; i++)
		free(s->chains[i]);
	free(s->chains);
	free(s);
}

bool function_stacks_used(const struct event_printer *p)
{
	return p->stacks && p->stacks->nr_chains;
}

static struct function_stacks *state_of(struct event_printer *p)
{
	if (!p->stacks)
		p->stacks = calloc(1, sizeof(*p->stacks));
	return p->stacks;
}

const struct symbol *printer_symbol(struct event_printer *p, uint64_t addr)
{
	struct function_stacks *s = state_of(p);
	struct cached_symbol *slot;

	if (!s)
		return symbols_find(p->events->symbols, addr);
	slot = &s->cache[map_mix(addr) & (NR_CACHED - 1)];
	if (slot->addr != addr || !slot->used) {
		slot->addr = addr;
		slot->symbol = symbols_find(p->events->symbols, addr);
		slot->used = true;
	}
	return slot->symbol;
}

/* Makes room for the chains of CPUs up to this one. */
static bool grow_chains(struct function_stacks *s, uint32_t cpu)
{
	struct chain **chains;

	if (cpu >= MAX_CPUS)
		return false;
	chains = realloc(s->chains, (cpu + 1) * sizeof(*chains));
	if (!chains)
		return false;
	memset(chains + s->nr_chains, 0, (cpu + 1 - s->nr_chains) * sizeof(*chains));
	s->chains = chains;
	s->nr_chains = cpu + 1;
	return true;
}

static struct chain *chain_of(struct event_printer *p, uint32_t cpu)
{
	struct function_stacks *s = state_of(p);

	if (!s || (cpu >= s->nr_chains && !grow_chains(s, cpu)))
		return NULL;
	if (!s->chains[cpu])
		s->chains[cpu] = calloc(1, sizeof(struct chain));
	return s->chains[cpu];
}

static bool same_name(const struct symbol *a, const struct symbol *b)
{
	return a == b || (a->len == b->len && memcmp(a->name, b->name, a->len) == 0);
}

static void put_at(struct chain *c, unsigned int pos, const struct symbol *func)
{
	if (!func || pos >= MAX_DEPTH)
		return;
	c->at[pos] = func;
	if (pos >= c->n)
		c->n = pos + 1;
}

unsigned int printer_call_depth(struct event_printer *p, uint32_t cpu, const struct symbol *parent,
				const struct symbol *func)
{
	struct chain *c = chain_of(p, cpu);

	if (!c)
		return 0;
	for (unsigned int i = 0; i < c->n; i++) {
		if (same_name(parent, c->at[i])) {
			put_at(c, i + 1, func);
			return i;
		}
	}
	put_at(c, 0, parent);
	put_at(c, 1, func);
	return 0;
}

bool function_stacks_copy(struct event_printer *p, const struct event_printer *from)
{
	const struct function_stacks *src = from->stacks;

	function_stacks_free(p->stacks);
	p->stacks = NULL;
	for (uint32_t cpu = 0; src && cpu < src->nr_chains; cpu++) {
		struct chain *c;

		if (!src->chains[cpu])
			continue;
		c = chain_of(p, cpu);
		if (!c)
			return false;
		*c = *src->chains[cpu];
	}
	return true;
}
