/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a profile remembers, and what its parts share. Private to src/stats.
 *
 *	scope	one buffer of one trace; has tasks
 *	task	a task, or what stands for no task: all of them, one CPU, a group of one name
 *	watch	an event type and what its records mean
 *	start	something that has begun and not ended yet
 *	entry	a task's figures for one watch and value: a line of the output
 *	stack	a sequence of callers, each distinct one kept once
 *	stack_use	an entry's figures for one stack
 *
 * All of them live in the profile's arena; starts that have ended are used again. Look-ups go
 * through maps by a hash of the whole key; things of equal hash are chained by `same`.
 */
#ifndef STATS_PROFILE_STORE_H
#define STATS_PROFILE_STORE_H

#include "stats/profile/hook.h"
#include "stats/profile.h"
#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/vec.h"

struct scope;
struct profile_task;
struct watch;

/* What an entry's name looks like, and where it goes in a task's list. */
enum watch_kind {
	WATCH_PLAIN,
	WATCH_SWITCH,
	WATCH_WAKEUP,
	WATCH_FUNCTION,
	WATCH_SOFTIRQ,
	WATCH_SYSCALL,
};

typedef void watch_handler(struct scope *s, struct profile_task *current, struct watch *w,
			   const struct spur_record *r);

struct watch {
	struct event *event;
	enum watch_kind kind;
	watch_handler *handle;
	struct watch *end;		       /* this event begins what that one ends */
	struct watch *start;		       /* this event ends what that one has begun */
	const struct event_field *pid;	       /* the task it is about, NULL: the current one */
	const struct event_field *start_match; /* to be found in the beginning */
	const struct event_field *end_match;   /* to be found in the end */
	const struct event_field *data;	       /* the entry's value */
	const struct event_field *comm, *next_comm;
	bool pinned; /* begins and ends on the same CPU */
	bool global; /* does not belong to a task */
};

struct figures {
	uint64_t count, total;
	uint64_t max, ts_max;
	uint64_t min, ts_min;
};

struct stack {
	struct stack *same;
	uint32_t size;
	uint8_t data[]; /* as recorded: words of the traced machine */
};

struct stack_use {
	struct stack_use *same, *next; /* next: of the same entry */
	const struct entry *entry;
	const struct stack *stack;
	struct figures f;
};

struct entry {
	struct entry *same, *next; /* next: of the same task */
	const struct profile_task *task;
	struct watch *watch;
	uint64_t search, value;
	struct figures f;
	uint64_t last; /* the duration that was counted last */
	struct stack_use *stacks;
	size_t nr_stacks;
};

/* A doubly linked list of starts, for those that must go when events were lost. */
struct start_list {
	struct start *first;
};

/* What has begun in one task, at one watch, with one value: the last one ends first. */
struct start_key {
	struct start_key *same;
	struct profile_task *task;
	const struct watch *watch;
	uint64_t search;
	struct start *newest, *oldest;
	uint32_t depth;
};

struct start {
	struct start_key *key;
	struct start *older, *newer; /* of the same key */
	struct start_list *list;
	struct start *next, *prev; /* in that list; next also chains unused ones */
	uint64_t ts;
	uint64_t value;
	const struct stack *stack; /* the stack at its beginning, or NULL */
	uint64_t stack_ts;
};

struct profile_task {
	struct profile_task *same, *next; /* next: of the same scope */
	struct scope *scope;
	int pid; /* negative when it stands for no task */
	bool sleeping;
	bool grouped; /* its entries went to a group */
	bool named;   /* comm holds what scheduler events have told */
	char *comm;
	size_t comm_room;
	struct entry *entries;

	/* What a stack that follows belongs to. */
	struct profile_task *proxy;
	struct start *last_start;
	struct entry *last_entry;

	/* A stack that belongs to nothing yet; function graph events come after theirs. */
	const struct stack *last_stack;
	uint64_t last_stack_ts;
	uint64_t last_stack_number; /* counts the stacks kept this way */
};

/* One CPU of a scope. */
struct cpu_state {
	uint32_t cpu;
	struct profile_task *task; /* for what is global and pinned; NULL until needed */
	struct start_list starts;
	struct cpu_state *next; /* in no order */
};

struct scope {
	struct profile *profile;
	struct binding *binding;
	uint32_t buffer;
	struct profile_task *tasks;
	struct profile_task *groups;
	struct profile_task *last; /* found last */
	struct profile_task *global;
	struct cpu_state *cpus;
	struct map by_cpu;
	struct start_list migrating;
};

/* One trace: its watches by the events' index. Other events get theirs with their first record. */
struct binding {
	struct spur_trace *trace;
	struct events *events;
	const char *name;
	struct watch **watches;
	size_t nr_watches;
	struct scope *scopes; /* one per buffer */
	uint32_t nr_scopes;
};

struct profile {
	struct profile_options opt;
	struct arena arena;
	struct hash_seed seed;
	struct map tasks, entries, starts, stacks, stack_uses, groups;
	struct start *unused;
	struct binding *bindings;
	size_t nr_bindings;
	struct scope *scope; /* of the record before */
	struct hook *hooks;
	size_t nr_hooks;
	uint64_t stack_number;
	uint64_t dropped;
};

/* ---- the store; all return NULL beyond the memory limit ---- */

struct profile_task *task_find(struct scope *s, int pid);
struct profile_task *task_of_all(struct scope *s);
struct profile_task *task_of_cpu(struct scope *s, uint32_t cpu);
struct profile_task *task_group(struct scope *s, const char *comm);
void task_name(struct profile_task *t, const char *name, size_t len);

struct entry *entry_find(struct profile_task *t, struct watch *w, uint64_t search, uint64_t value);
void figures_add(struct figures *f, uint64_t duration, uint64_t ts);
void figures_merge(struct figures *sum, const struct figures *f);

const struct stack *stack_keep(struct profile *p, const uint8_t *data, size_t size);
struct stack_use *stack_use_find(struct entry *e, const struct stack *stack);

struct start *start_add(struct profile_task *t, const struct watch *w, const struct spur_record *r,
			uint64_t search, uint64_t value);
struct start *start_find(struct profile_task *t, const struct watch *w, uint64_t search);
void start_drop(struct start *st);

/* Drops what has begun on a CPU, and what may have ended there, because events were lost. */
void starts_lost(struct scope *s, uint32_t cpu);

#endif
