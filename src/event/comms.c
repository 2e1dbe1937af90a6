// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Command names of tasks by pid: the table a trace brings along (saved_cmdlines), and the overlay
 * in which a printing thread stores what it has learned from scheduling events.
 *
 * The first name of a pid stays, as in libtraceevent. pid 0 is always "<idle>".
 *
 * Names are stored as struct comm in an arena and never move. Both tables have a limit: pids are
 * at most 4 million, but a hostile file may name any number of them.
 */
#include "event/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"

#define MAX_COMMS   (1u << 20)
#define NAMES_LIMIT (256u << 20)
#define TASK_NAME   15 /* bytes of a name in the kernel */

static const char idle_name[] = "<idle>";
static const char unknown_name[] = "<...>";

struct comm {
	uint32_t len;
	char name[];
};

struct comms {
	struct arena arena;
	struct map by_pid; /* to struct comm */
};

static uint64_t pid_key(int pid)
{
	return (uint32_t)pid;
}

static struct comm *comm_new(struct arena *a, const char *name, size_t len)
{
	struct comm *c;

	if (len > NAMES_LIMIT)
		return NULL;
	/* At least as much memory as a name of the kernel needs, so that a new name fits, too. */
	c = arena_alloc(a, sizeof(*c) + (len < TASK_NAME ? TASK_NAME : len) + 1);
	if (!c)
		return NULL;
	c->len = (uint32_t)len;
	memcpy(c->name, name, len);
	return c;
}

struct comms *comms_new(void)
{
	struct comms *c = calloc(1, sizeof(*c));

	if (c)
		arena_init(&c->arena, NAMES_LIMIT);
	return c;
}

void comms_free(struct comms *c)
{
	if (!c)
		return;
	map_free(&c->by_pid);
	arena_free(&c->arena);
	free(c);
}

int comms_learn(struct comms *c, int pid, const char *name, size_t len)
{
	struct comm *comm;

	if (!pid || c->by_pid.n >= MAX_COMMS || map_get(&c->by_pid, pid_key(pid)))
		return 0;
	comm = comm_new(&c->arena, name, len);
	if (!comm || !map_set(&c->by_pid, pid_key(pid), comm))
		return -ENOMEM;
	return 1;
}

/* ---- the text of saved_cmdlines ---- */

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static const char *skip_blank(const char *p, const char *end)
{
	while (p < end && is_blank(*p))
		p++;
	return p;
}

/* Reads "PID NAME". The name is the rest of the line. */
static bool parse_line(const char *p, const char *end, int *pid, const char **name)
{
	const char *digits;
	uint64_t v = 0;
	bool negative;

	p = skip_blank(p, end);
	negative = p < end && *p == '-';
	p += negative;
	for (digits = p; p < end && *p >= '0' && *p <= '9' && v <= INT32_MAX; p++)
		v = v * 10 + (uint64_t)(*p - '0');
	if (p == digits || v > INT32_MAX)
		return false;
	*pid = negative ? -(int)v : (int)v;
	*name = skip_blank(p, end);
	return *name < end;
}

int comms_rename(struct comms *c, int pid, const char *name, size_t len)
{
	struct comm *comm = map_get(&c->by_pid, pid_key(pid));

	if (!comm || len > TASK_NAME || comm->len > TASK_NAME)
		return comms_learn(c, pid, name, len);
	if (len == sizeof(unknown_name) - 1 && memcmp(name, unknown_name, len) == 0)
		return 0;
	comm->len = (uint32_t)len;
	memcpy(comm->name, name, len);
	comm->name[len] = '\0';
	return 0;
}

/* A line that makes no sense ends the text, as it does for trace-cmd. */
static int add_lines(struct comms *c, const char *text, size_t len,
		     int (*take)(struct comms *c, int pid, const char *name, size_t len))
{
	const char *end = text + strnlen(text, len);

	for (const char *p = text, *next; p < end; p = next + 1) {
		const char *name;
		int pid;

		next = memchr(p, '\n', (size_t)(end - p));
		if (!next)
			next = end;
		if (p == next)
			continue;
		if (!parse_line(p, next, &pid, &name))
			break;
		if (take(c, pid, name, (size_t)(next - name)) < 0)
			return -ENOMEM;
	}
	return 0;
}

int comms_add(struct comms *c, const char *text, size_t len)
{
	return add_lines(c, text, len, comms_learn);
}

int comms_update(struct comms *c, const char *text, size_t len)
{
	return add_lines(c, text, len, comms_rename);
}

/* ---- look-ups ---- */

bool comms_known(const struct comms *c, int pid)
{
	return !pid || (c && map_get(&c->by_pid, pid_key(pid)));
}

const char *comms_find(const struct comms *c, int pid, size_t *len)
{
	const struct comm *comm;

	if (!pid) {
		*len = sizeof(idle_name) - 1;
		return idle_name;
	}
	comm = c ? map_get(&c->by_pid, pid_key(pid)) : NULL;
	*len = comm ? comm->len : sizeof(unknown_name) - 1;
	return comm ? comm->name : unknown_name;
}

static int by_pid(const void *a, const void *b)
{
	const struct map_slot *sa = a, *sb = b;
	int32_t pa = (int32_t)sa->key, pb = (int32_t)sb->key;

	return pa < pb ? -1 : pa > pb;
}

void comms_each(const struct comms *c, void (*fn)(void *arg, int pid, const char *name), void *arg)
{
	struct map_slot *slots = c->by_pid.n ? malloc(c->by_pid.n * sizeof(*slots)) : NULL;
	size_t n = 0;

	if (!slots)
		return;
	for (size_t i = 0; i < c->by_pid.cap; i++)
		if (c->by_pid.slots[i].value)
			slots[n++] = c->by_pid.slots[i];
	qsort(slots, n, sizeof(*slots), by_pid);
	for (size_t i = 0; i < n; i++)
		fn(arg, (int)slots[i].key, ((const struct comm *)slots[i].value)->name);
	free(slots);
}

/* ---- the overlay ---- */

/* The tasks looked up last, by the low bits of their pid: nearly every look-up ends here. */
#define NR_RECENT 512

struct recent {
	int pid;
	uint32_t len;
	const char *name; /* NULL: the slot is free */
};

struct comm_overlay {
	const struct comms *base;
	struct recent recent[NR_RECENT];
	struct arena arena;
	struct map by_pid; /* what was learned: to struct comm */
	struct map asked;  /* pids in `unknown`; the values mean nothing */
	vec_of(struct learned_comm) learned;
	vec_of(int) unknown;
	bool unknown_lost;					 /* `unknown` is not complete */
	bool (*ask)(void *arg, int pid, char *name, size_t cap); /* or NULL */
	void *ask_arg;
};

struct comm_overlay *overlay_new(const struct comms *base)
{
	struct comm_overlay *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->base = base;
	arena_init(&o->arena, NAMES_LIMIT);
	return o;
}

static void drop_contents(struct comm_overlay *o)
{
	map_free(&o->by_pid);
	map_free(&o->asked);
	vec_free(&o->learned);
	vec_free(&o->unknown);
	arena_free(&o->arena);
}

void overlay_free(struct comm_overlay *o)
{
	if (!o)
		return;
	drop_contents(o);
	free(o);
}

void overlay_ask(struct comm_overlay *o, bool (*ask)(void *arg, int pid, char *name, size_t cap),
		 void *arg)
{
	o->ask = ask;
	o->ask_arg = arg;
}

void overlay_reset(struct comm_overlay *o)
{
	const struct comm_overlay kept = {.base = o->base, .ask = o->ask, .ask_arg = o->ask_arg};

	drop_contents(o);
	*o = kept;
	arena_init(&o->arena, NAMES_LIMIT);
}

static size_t recent_slot(int pid)
{
	return (unsigned int)pid % NR_RECENT;
}

/* Remembers that a task was looked up and had no name. */
static void note_unknown(struct comm_overlay *o, int pid)
{
	if (map_get(&o->asked, pid_key(pid)))
		return;
	if (o->unknown.n >= MAX_COMMS || !vec_add(&o->unknown, &pid) ||
	    !map_set(&o->asked, pid_key(pid), o))
		o->unknown_lost = true;
}

bool overlay_known(const struct comm_overlay *o, int pid)
{
	const struct recent *slot = &o->recent[recent_slot(pid)];

	if (__builtin_expect(slot->name && slot->pid == pid && slot->name != unknown_name, 1))
		return true;
	return comms_known(o->base, pid) || map_get(&o->by_pid, pid_key(pid));
}

/* Asks for the name of a task that is in no table; whether it has one now. */
static bool ask_name(struct comm_overlay *o, int pid)
{
	char name[TASK_NAME + 1];

	return o->ask && o->ask(o->ask_arg, pid, name, sizeof(name)) &&
	       overlay_learn(o, pid, name, strnlen(name, sizeof(name)));
}

const char *overlay_find(struct comm_overlay *o, int pid, size_t *len)
{
	struct recent *slot = &o->recent[recent_slot(pid)];
	const struct comm *comm;

	if (__builtin_expect(slot->name && slot->pid == pid, 1)) {
		*len = slot->len;
		return slot->name;
	}
	slot->pid = pid;
	comm = map_get(&o->by_pid, pid_key(pid));
	if (comm) {
		slot->name = comm->name;
		*len = comm->len;
	} else {
		slot->name = comms_find(o->base, pid, len);
		if (slot->name == unknown_name && ask_name(o, pid)) {
			*len = slot->len;
			return slot->name;
		}
		if (slot->name == unknown_name)
			note_unknown(o, pid);
	}
	slot->len = (uint32_t)*len;
	return slot->name;
}

bool overlay_learn(struct comm_overlay *o, int pid, const char *name, size_t len)
{
	struct recent *slot = &o->recent[recent_slot(pid)];
	struct learned_comm l;
	struct comm *comm;

	if (overlay_known(o, pid) || o->learned.n >= MAX_COMMS)
		return false;
	comm = comm_new(&o->arena, name, len);
	if (!comm || !map_set(&o->by_pid, pid_key(pid), comm))
		return false;
	*slot = (struct recent){.pid = pid, .len = comm->len, .name = comm->name};
	l = (struct learned_comm){.pid = pid, .len = comm->len, .name = comm->name};
	vec_add(&o->learned, &l);
	return true;
}

const int *overlay_unknown(const struct comm_overlay *o, size_t *n)
{
	*n = o->unknown.n;
	return o->unknown.at;
}

const struct learned_comm *overlay_learned(const struct comm_overlay *o, size_t *n)
{
	*n = o->learned.n;
	return o->learned.at;
}

bool overlay_stale(const struct comm_overlay *later, const struct comm_overlay *earlier)
{
	if (later->unknown_lost && earlier->learned.n)
		return true;
	for (size_t i = 0; i < earlier->learned.n; i++) {
		const struct learned_comm *l = &earlier->learned.at[i];
		const struct comm *own = map_get(&later->by_pid, pid_key(l->pid));

		if (map_get(&later->asked, pid_key(l->pid)))
			return true;
		if (own && (own->len != l->len || memcmp(own->name, l->name, l->len) != 0))
			return true;
	}
	return false;
}

bool overlay_adopt(struct comm_overlay *o, const struct comm_overlay *from)
{
	for (size_t i = 0; i < from->learned.n; i++) {
		const struct learned_comm *l = &from->learned.at[i];

		overlay_learn(o, l->pid, l->name, l->len);
		if (!comms_known(o->base, l->pid) && !map_get(&o->by_pid, pid_key(l->pid)))
			return false;
	}
	return true;
}
