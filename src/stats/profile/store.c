// SPDX-License-Identifier: GPL-2.0-or-later
/* What a profile remembers: tasks, their entries, what has begun, and stacks. */
#include <stdio.h>
#include <string.h>

#include "stats/profile/store.h"

/*
 * Beginnings of one kind that never end (softirqs are raised more often than they run) would need
 * more and more memory. So the oldest ones are dropped: an end belongs to the newest.
 */
#define START_DEPTH 4096

#define COMM_MAX 255

static void *drop(struct profile *p)
{
	p->dropped++;
	return NULL;
}

/* What everything in a map begins with: the next thing of equal hash. */
struct keyed {
	struct keyed *same;
};

/* Adds zeroed memory to a map; NULL beyond the limit. */
static void *add_keyed(struct profile *p, struct map *m, uint64_t hash, size_t size)
{
	struct keyed *k = arena_alloc(&p->arena, size);

	if (!k)
		return drop(p);
	k->same = map_get(m, hash);
	return map_set(m, hash, k) ? k : drop(p);
}

/* ---- tasks ---- */

/* A task that stands for no task. */
static struct profile_task *new_task(struct scope *s)
{
	struct profile_task *t = arena_alloc(&s->profile->arena, sizeof(*t));

	if (!t)
		return drop(s->profile);
	t->scope = s;
	t->pid = -1;
	return t;
}

struct profile_task *task_find(struct scope *s, int pid)
{
	struct profile *p = s->profile;
	struct profile_task *t;
	uint64_t hash;

	if (s->last && s->last->pid == pid)
		return s->last;
	hash = hash_add(&p->seed, hash_add(&p->seed, 0, (uintptr_t)s), (uint32_t)pid);
	for (t = map_get(&p->tasks, hash); t; t = t->same)
		if (t->pid == pid && t->scope == s)
			return s->last = t;
	t = add_keyed(p, &p->tasks, hash, sizeof(*t));
	if (!t)
		return NULL;
	t->scope = s;
	t->pid = pid;
	t->next = s->tasks;
	s->tasks = t;
	return s->last = t;
}

void task_name(struct profile_task *t, const char *name, size_t len)
{
	len = strnlen(name, len < COMM_MAX ? len : COMM_MAX);
	if (!t->comm || t->comm_room <= len) {
		size_t room = len < 32 ? 32 : COMM_MAX + 1;
		char *comm = arena_alloc(&t->scope->profile->arena, room);

		if (!comm) {
			drop(t->scope->profile);
			return;
		}
		t->comm = comm;
		t->comm_room = room;
	}
	memcpy(t->comm, name, len);
	t->comm[len] = 0;
	t->named = true;
}

struct profile_task *task_of_all(struct scope *s)
{
	static const char name[] = "Global Events";

	if (!s->global) {
		s->global = new_task(s);
		if (s->global)
			task_name(s->global, name, sizeof(name));
	}
	return s->global;
}

static struct cpu_state *cpu_find(struct scope *s, uint32_t cpu)
{
	/* Different numbers have different hashes: nothing to compare afterwards. */
	uint64_t hash = hash_add(&s->profile->seed, 0, cpu);
	struct cpu_state *c = map_get(&s->by_cpu, hash);

	if (c)
		return c;
	c = arena_alloc(&s->profile->arena, sizeof(*c));
	if (!c || !map_set(&s->by_cpu, hash, c))
		return drop(s->profile);
	c->cpu = cpu;
	c->next = s->cpus;
	s->cpus = c;
	return c;
}

struct profile_task *task_of_cpu(struct scope *s, uint32_t cpu)
{
	struct cpu_state *c = cpu_find(s, cpu);
	char name[40];
	int len;

	if (!c)
		return NULL;
	if (!c->task) {
		c->task = new_task(s);
		len = snprintf(name, sizeof(name), "Global CPU[%u] Events", cpu);
		if (c->task)
			task_name(c->task, name, (size_t)len);
	}
	return c->task;
}

struct profile_task *task_group(struct scope *s, const char *comm)
{
	struct profile *p = s->profile;
	uint64_t hash = hash_bytes(&p->seed, comm, strlen(comm));
	struct profile_task *g;
	char *name;

	hash = hash_add(&p->seed, hash, (uintptr_t)s);
	for (g = map_get(&p->groups, hash); g; g = g->same)
		if (g->scope == s && strcmp(g->comm, comm) == 0)
			return g;
	name = arena_strdup(&p->arena, comm);
	g = name ? add_keyed(p, &p->groups, hash, sizeof(*g)) : drop(p);
	if (!g)
		return NULL;
	g->scope = s;
	g->pid = -1;
	g->comm = name;
	g->next = s->groups;
	s->groups = g;
	return g;
}

/* What a task has at a watch; both are places in our own memory, which a file cannot choose. */
static uint64_t hash_at(const struct profile_task *t, const struct watch *w, uint64_t search)
{
	uint64_t place = (uint64_t)(uintptr_t)t ^ (uint64_t)(uintptr_t)w << 32;

	return hash_add(&t->scope->profile->seed, place, search);
}

/* ---- entries ---- */

struct entry *entry_find(struct profile_task *t, struct watch *w, uint64_t search, uint64_t value)
{
	struct profile *p = t->scope->profile;
	uint64_t hash = hash_at(t, w, search);
	struct entry *e;

	if (value != search)
		hash = hash_add(&p->seed, hash, value);
	for (e = map_get(&p->entries, hash); e; e = e->same)
		if (e->task == t && e->watch == w && e->search == search && e->value == value)
			return e;
	e = add_keyed(p, &p->entries, hash, sizeof(*e));
	if (!e)
		return NULL;
	e->task = t;
	e->watch = w;
	e->search = search;
	e->value = value;
	e->next = t->entries;
	return t->entries = e;
}

void figures_add(struct figures *f, uint64_t duration, uint64_t ts)
{
	f->count++;
	f->total += duration;
	if (duration > f->max) {
		f->max = duration;
		f->ts_max = ts;
	}
	if (f->count == 1 || duration < f->min) {
		f->min = duration;
		f->ts_min = ts;
	}
}

void figures_merge(struct figures *sum, const struct figures *f)
{
	bool first = !sum->count;

	sum->count += f->count;
	sum->total += f->total;
	if (f->max > sum->max) {
		sum->max = f->max;
		sum->ts_max = f->ts_max;
	}
	if (first || f->min < sum->min) {
		sum->min = f->min;
		sum->ts_min = f->ts_min;
	}
}

/* ---- stacks ---- */

const struct stack *stack_keep(struct profile *p, const uint8_t *data, size_t size)
{
	uint64_t hash = hash_bytes(&p->seed, data, size);
	struct stack *s;

	for (s = map_get(&p->stacks, hash); s; s = s->same)
		if (s->size == size && memcmp(s->data, data, size) == 0)
			return s;
	s = add_keyed(p, &p->stacks, hash, sizeof(*s) + size);
	if (!s)
		return NULL;
	s->size = (uint32_t)size;
	memcpy(s->data, data, size);
	return s;
}

struct stack_use *stack_use_find(struct entry *e, const struct stack *stack)
{
	struct profile *p = e->task->scope->profile;
	uint64_t hash = hash_add(&p->seed, (uintptr_t)e, (uintptr_t)stack);
	struct stack_use *u;

	for (u = map_get(&p->stack_uses, hash); u; u = u->same)
		if (u->entry == e && u->stack == stack)
			return u;
	u = add_keyed(p, &p->stack_uses, hash, sizeof(*u));
	if (!u)
		return NULL;
	u->entry = e;
	u->stack = stack;
	u->next = e->stacks;
	e->stacks = u;
	e->nr_stacks++;
	return u;
}

/* ---- what has begun ---- */

static struct start_key *key_find(struct profile_task *t, const struct watch *w, uint64_t search,
				  bool add)
{
	struct profile *p = t->scope->profile;
	uint64_t hash = hash_at(t, w, search);
	struct start_key *k;

	for (k = map_get(&p->starts, hash); k; k = k->same)
		if (k->task == t && k->watch == w && k->search == search)
			return k;
	k = add ? add_keyed(p, &p->starts, hash, sizeof(*k)) : NULL;
	if (!k)
		return NULL;
	k->task = t;
	k->watch = w;
	k->search = search;
	return k;
}

static struct start *new_start(struct profile *p)
{
	struct start *st = p->unused;

	if (st) {
		p->unused = st->next;
		*st = (struct start){0};
		return st;
	}
	st = arena_alloc(&p->arena, sizeof(*st));
	return st ? st : drop(p);
}

struct start *start_add(struct profile_task *t, const struct watch *w, const struct spur_record *r,
			uint64_t search, uint64_t value)
{
	struct cpu_state *cpu = w->pinned ? cpu_find(t->scope, r->cpu) : NULL;
	struct start_list *list = cpu ? &cpu->starts : &t->scope->migrating;
	struct start_key *k = key_find(t, w, search, true);
	struct start *st;

	if (!k || (w->pinned && !cpu))
		return NULL;
	if (k->depth >= START_DEPTH)
		start_drop(k->oldest);
	st = new_start(t->scope->profile);
	if (!st)
		return NULL;
	st->key = k;
	st->ts = r->ts;
	st->value = value;
	st->older = k->newest;
	*(k->newest ? &k->newest->newer : &k->oldest) = st;
	k->newest = st;
	k->depth++;
	st->list = list;
	st->next = list->first;
	if (st->next)
		st->next->prev = st;
	list->first = st;
	return st;
}

struct start *start_find(struct profile_task *t, const struct watch *w, uint64_t search)
{
	struct start_key *k = key_find(t, w, search, false);

	return k ? k->newest : NULL;
}

void start_drop(struct start *st)
{
	struct start_key *k = st->key;
	struct profile *p = k->task->scope->profile;

	if (k->task->last_start == st)
		k->task->last_start = NULL;
	*(st->newer ? &st->newer->older : &k->newest) = st->older;
	*(st->older ? &st->older->newer : &k->oldest) = st->newer;
	k->depth--;
	*(st->prev ? &st->prev->next : &st->list->first) = st->next;
	if (st->next)
		st->next->prev = st->prev;
	st->next = p->unused;
	p->unused = st;
}

void starts_lost(struct scope *s, uint32_t cpu)
{
	struct cpu_state *c = map_get(&s->by_cpu, hash_add(&s->profile->seed, 0, cpu));

	while (c && c->starts.first)
		start_drop(c->starts.first);
	while (s->migrating.first)
		start_drop(s->migrating.first);
}
