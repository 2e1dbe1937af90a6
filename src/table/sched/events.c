// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The scheduler's events: the places of their fields, which are looked up once, and their meaning.
 *
 * Kernels differ: fields are missing or have other sizes, names are arrays or __data_loc, states
 * have other letters. All of this is read from the formats. An event without its pids is ignored.
 */
#include "table/sched/events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "event/names.h"

#define NAMES_LIMIT (24u << 20)

/* Bits of common_flags. */
#define FLAG_HARDIRQ 0x08
#define FLAG_SOFTIRQ 0x10
#define FLAG_NMI     0x40

static const struct {
	const char *system, *name;
	unsigned int pids; /* of the numbers: those that must be there */
	const char *numbers[SCHED_NUMBERS];
	const char *texts[SCHED_TEXTS];
} types[NR_KINDS] = {
	[ON_SWITCH] = {"sched",
		       "sched_switch",
		       2,
		       {"prev_pid", "next_pid", "prev_state", "prev_prio", "next_prio"},
		       {"prev_comm", "next_comm"}},
	[ON_WAKING] =
		{"sched", "sched_waking", 1, {"pid", "prio", "target_cpu", "success"}, {"comm"}},
	[ON_WAKEUP] =
		{"sched", "sched_wakeup", 1, {"pid", "prio", "target_cpu", "success"}, {"comm"}},
	[ON_WAKEUP_NEW] = {"sched",
			   "sched_wakeup_new",
			   1,
			   {"pid", "prio", "target_cpu", "success"},
			   {"comm"}},
	[ON_MIGRATE] = {"sched", "sched_migrate_task", 1, {"pid", "dest_cpu"}, {"comm"}},
	[ON_FORK] = {"sched",
		     "sched_process_fork",
		     2,
		     {"parent_pid", "child_pid"},
		     {"parent_comm", "child_comm"}},
	[ON_EXEC] = {"sched", "sched_process_exec", 1, {"pid"}, {"filename"}},
	[ON_EXIT] = {"sched", "sched_process_exit", 1, {"pid"}, {"comm"}},
	[ON_FREE] = {"sched", "sched_process_free", 1, {"pid"}, {"comm"}},
	[ON_RENAME] = {"task", "task_rename", 1, {"pid"}, {"newcomm"}},
	[ON_BLOCKED] = {"sched", "sched_blocked_reason", 1, {"pid", "caller", "io_wait"}, {NULL}},
};

static bool is_number(const struct event_field *f)
{
	return f && !(f->flags & (FIELD_ARRAY | FIELD_DYNAMIC | FIELD_RELATIVE)) &&
	       (f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8);
}

static bool bind(struct sched_type *t, enum sched_kind kind, struct event *e)
{
	for (unsigned int i = 0; i < SCHED_NUMBERS && types[kind].numbers[i]; i++) {
		const struct event_field *f = event_field_find(e, types[kind].numbers[i]);

		uint32_t end = 0;

		if (is_number(f) && !__builtin_add_overflow(f->offset, f->size, &end)) {
			t->num[i] = (struct sched_number){f->offset, f->size};
			t->size = end > t->size ? end : t->size;
		} else if (i < types[kind].pids) {
			return false;
		}
	}
	for (unsigned int i = 0; i < SCHED_TEXTS && types[kind].texts[i]; i++)
		t->text[i] = event_field_find(e, types[kind].texts[i]);
	return true;
}

/*
 * A recording reads /proc while tasks are created: the first entry about a task may be followed by
 * one that says that it is new.
 */
static bool is_reuse(const struct dat_task *before, const struct dat_task *t)
{
	return t->kind == DAT_TASK_NEW && before->pid == t->pid &&
	       (before->kind != DAT_TASK_THERE || before->tgid != t->tgid ||
		before->ppid != t->ppid);
}

static int find_reuses(struct sched_events *s)
{
	const struct dat *d = s->trace->dat;
	uint64_t since = 0;

	for (size_t i = 0; d && i < d->nr_tasks; i++) {
		const struct dat_task *t = &d->tasks[i];
		const uint64_t ts = trace_task_time(s->trace, t);
		const bool reuse = i && is_reuse(t - 1, t);

		if (reuse && !vec_add(&s->reused, &((struct reuse){t->pid, ts, since})))
			return -ENOMEM;
		if (t->kind == DAT_TASK_NEW || !i || t[-1].pid != t->pid)
			since = ts;
	}
	return 0;
}

int sched_events_init(struct sched_events *s, const struct table_source *src)
{
	struct events *ev = src->trace->events;
	struct event *e = NULL;

	*s = (struct sched_events){.trace = src->trace,
				   .events = ev,
				   .kinds = calloc(ev->nr + 1, sizeof(*s->kinds)),
				   .nr = ev->nr,
				   .failed = src->failed};
	intern_init(&s->names, NAMES_LIMIT);
	if (!s->kinds)
		return -ENOMEM;
	for (int kind = ON_SWITCH; kind < NR_KINDS; kind++) {
		e = events_find(ev, types[kind].system, types[kind].name);
		if (!e || event_ready(e) == EVENT_BROKEN || e->index >= s->nr)
			continue;
		if (bind(&s->types[kind], (enum sched_kind)kind, e))
			s->kinds[e->index] = (uint8_t)kind;
		s->bound[kind] = s->kinds[e->index] == kind;
	}
	e = events_find(ev, "sched", "sched_switch");
	task_states_read(&s->states, e ? e->print_fmt : NULL);
	return find_reuses(s);
}

void sched_events_free(struct sched_events *s)
{
	free(s->kinds);
	vec_free(&s->reused);
	intern_free(&s->names);
}

/* ---- names ---- */

/* A name from another event: its text is stored. */
static void set_name(struct sched_events *s, const char *text, size_t len, struct name *name)
{
	name->comm = (struct comm){0};
	memcpy(&name->comm, text, len < COMM_SIZE ? len : COMM_SIZE);
	name->text = intern_text(&s->names, text, len);
	if (!name->text && *s->failed == 0)
		*s->failed = -E2BIG;
}

void sched_name_slow(struct sched_events *s, const struct event_field *f,
		     const struct spur_record *r, struct name *name)
{
	size_t size = 0;
	const char *text = f ? (const char *)field_bytes(s->events, f, r, &size) : NULL;
	struct comm whole = {0};

	if (!text)
		return;
	set_name(s, text, strnlen(text, size), name);
	/* The bytes after the text are also compared the next time, so they must be zero. */
	if (size == COMM_SIZE) {
		memcpy(&whole, text, sizeof(whole));
		name->comm = whole;
		*recent_name(s, &whole) = *name;
	}
}

void sched_name_listed(struct sched_events *s, int32_t pid, uint64_t ts, struct name *name)
{
	const struct dat_task *told = pid ? trace_task_at(s->trace, pid, ts) : NULL;
	size_t len;
	const char *text;

	if (told && *told->name) {
		set_name(s, told->name, strlen(told->name), name);
	} else if (pid && comms_known(s->events->comms, pid)) {
		text = comms_find(s->events->comms, pid, &len);
		set_name(s, text, len, name);
	}
}

uint64_t sched_reused_at(const struct sched_events *s, int32_t pid, uint64_t ts, bool born)
{
	const struct reuse *at = s->reused.at;
	size_t i;

	binary_search(i, 0, s->reused.n, at[i].pid < pid || (at[i].pid == pid && at[i].ts <= ts));
	if (born && i < s->reused.n && at[i].pid == pid && at[i].ts - ts < ts - at[i].before)
		i++;
	return i < s->reused.n && at[i].pid == pid ? at[i].ts : NO_TIME;
}

const char *sched_name_idle(struct sched_events *s, uint32_t cpu, struct name *name)
{
	char text[32];

	if (!name->text) {
		const int len = snprintf(text, sizeof(text), "swapper/%u", cpu);

		set_name(s, text, (size_t)len, name);
	}
	return name->text;
}

/* The kernel uses the last part of the path, cut to the size of a name. */
void sched_name_exec(struct sched_events *s, const struct spur_record *r, struct name *name)
{
	const struct event_field *f = s->types[ON_EXEC].text[TASK_COMM];
	size_t size = 0, len;
	const char *path = f ? (const char *)field_bytes(s->events, f, r, &size) : NULL, *base;

	if (!path)
		return;
	len = strnlen(path, size);
	base = len ? memrchr(path, '/', len) : NULL;
	if (base) {
		len -= (size_t)(base + 1 - path);
		path = base + 1;
	}
	if (len)
		set_name(s, path, len < COMM_SIZE ? len : COMM_SIZE - 1, name);
}

/* ---- states ---- */

static const char *make_state_text(struct sched_events *s, uint32_t bits, bool preempted)
{
	char text[2 * NR_TASK_STATES + 2];
	size_t len = 0;

	if (!bits)
		text[len++] = 'R';
	for (; bits; bits &= bits - 1) {
		if (len)
			text[len++] = '|';
		text[len++] = s->states.letters[__builtin_ctz(bits)];
	}
	if (preempted)
		text[len++] = '+';
	return intern_text(&s->names, text, len);
}

static inline uint64_t left_in(const struct sched_events *s, const struct spur_record *r)
{
	return (uint64_t)sched_number(s, &s->types[ON_SWITCH], PREV_STATE, r);
}

const char *sched_state_text(struct sched_events *s, const struct spur_record *r)
{
	const uint64_t state = left_in(s, r);
	const uint32_t bits = (uint32_t)state & s->states.bits;
	const bool preempted = (state & s->states.preempted) != 0;
	const char **kept;

	if (!sched_has(&s->types[ON_SWITCH], PREV_STATE))
		return NULL;
	if (bits & (bits - 1))
		return make_state_text(s, bits, preempted);
	kept = &s->state_texts[bits ? __builtin_ctz(bits) + 1 : 0][preempted];
	if (!*kept)
		*kept = make_state_text(s, bits, preempted);
	return *kept;
}

static enum run_state meaning(char letter)
{
	switch (letter) {
	case 'X':
	case 'x':
	case 'Z': return RUN_DEAD;
	case 'T':
	case 't': return RUN_STOPPED;
	case 'D': return RUN_BLOCKED;
	default: return RUN_SLEEPING;
	}
}

enum run_state sched_left_in(const struct sched_events *s, const struct spur_record *r)
{
	const uint64_t state = left_in(s, r);
	uint32_t bits = (uint32_t)state & s->states.bits;
	enum run_state strongest = RUN_SLEEPING;

	if (!sched_has(&s->types[ON_SWITCH], PREV_STATE))
		return RUN_UNKNOWN;
	/* A preempted task can still run, whatever state it was about to enter. */
	if (!bits || (state & s->states.preempted))
		return RUN_RUNNABLE;
	for (; bits; bits &= bits - 1) {
		const enum run_state m = meaning(s->states.letters[__builtin_ctz(bits)]);

		strongest = m > strongest ? m : strongest;
	}
	return strongest;
}

bool sched_was_preempted(const struct sched_events *s, const struct spur_record *r)
{
	return (left_in(s, r) & s->states.preempted) != 0;
}

bool sched_in_interrupt(const struct sched_events *s, const struct spur_record *r)
{
	return (events_record_flags(s->events, r) & (FLAG_HARDIRQ | FLAG_SOFTIRQ | FLAG_NMI)) != 0;
}

/* ---- CPUs ---- */

uint32_t sched_nr_cpus(const struct trace_buffer *b)
{
	uint32_t nr = b->trace->dat->nr_cpus;

	for (uint32_t i = 0; i < b->data->nr_cpus; i++)
		if (b->data->cpus[i].cpu >= nr)
			nr = b->data->cpus[i].cpu + 1;
	return nr;
}

bool sched_some_missing(const struct table_source *src)
{
	return src->trace->dat->hidden.nr || !sched_all_switches(src, -1);
}

bool sched_all_switches_slow(const struct table_source *src, int32_t pid)
{
	const struct dat *d = src->trace->dat;

	return dat_follows(d, pid) && !dat_hides(d, src->buffer->data->name, pid) &&
	       (!d->filters.nr || !dat_filtered(d, src->buffer->data->name, "sched:sched_switch"));
}

/* ---- tasks by pid ---- */

void task_set_init(struct task_set *s, size_t task_size)
{
	*s = (struct task_set){.odd = hash_seed_new().a | 1, .task_size = task_size};
	arena_init(&s->arena, (size_t)MAX_TASKS * (task_size + 64));
}

void task_set_free(struct task_set *s)
{
	map_free(&s->by_key);
	arena_free(&s->arena);
}

void *task_set_add(struct task_set *s, int32_t pid, int *failed)
{
	void *task = s->unused;

	if (s->by_key.n >= MAX_TASKS) {
		*failed = *failed ? *failed : -E2BIG;
		return NULL;
	}
	if (task) {
		memcpy(&s->unused, task, sizeof(s->unused));
		memset(task, 0, s->task_size);
	} else {
		task = arena_alloc(&s->arena, s->task_size);
	}
	if (!task || !map_set(&s->by_key, (uint32_t)pid * s->odd, task)) {
		*failed = *failed ? *failed : -ENOMEM;
		return NULL;
	}
	return task;
}

void task_set_remove(struct task_set *s, int32_t pid)
{
	void *task = map_remove(&s->by_key, (uint32_t)pid * s->odd);

	if (!task)
		return;
	s->last = NULL;
	memcpy(task, &s->unused, sizeof(s->unused));
	s->unused = task;
}
