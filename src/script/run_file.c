// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A script over a recording: the executor runs the programs of tracepoints on each record, in the
 * order of time; the trace's clock drives intervals. Stacks and processes of threads come from the
 * recording, too.
 */
#include "script/run_file.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/map.h"
#include "code/umap.h"
#include "event/names.h"

/*
 * Stacks of a recording: they are records of their own, directly after the event, on the same CPU.
 * They are only searched when a program needs them.
 */

#define LOOK_AHEAD                                                                                 \
	3 /* records: an event may be followed by the kernel's stack, then the process's */
#define MAX_FRAMES 1024

struct stacks {
	struct lane *lanes; /* that look ahead, as many as the merge has */
	bool *open;
	uint32_t nr;
	struct event *kernel, *user;
};

static struct stacks *stacks_new(struct file_run *r)
{
	struct stacks *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->nr = r->scan.nr;
	k->lanes = calloc(k->nr + 1, sizeof(*k->lanes));
	k->open = calloc(k->nr + 1, sizeof(*k->open));
	k->kernel = events_find(r->trace->events, "ftrace", "kernel_stack");
	k->user = events_find(r->trace->events, "ftrace", "user_stack");
	return k;
}

static void stacks_free(struct stacks *k)
{
	if (!k)
		return;
	for (uint32_t i = 0; k->open && i < k->nr; i++)
		if (k->open[i])
			lane_close(&k->lanes[i]);
	free(k->lanes);
	free(k->open);
	free(k);
}

/* A lane at the current record. */
static struct lane *look_from(struct file_run *r)
{
	struct stacks *k = r->stacks;
	const struct lane *at = r->scan.current;
	const uint32_t i = (uint32_t)(at - r->scan.lanes);
	struct lane *look;

	if (!k->lanes || !k->open || i >= k->nr)
		return NULL;
	look = &k->lanes[i];
	if (!k->open[i]) {
		if (lane_open(look, at->buffer, at->cpu) < 0)
			return NULL;
		k->open[i] = true;
	}
	lane_seek(look, lane_tell(at));
	return lane_next(look) ? look : NULL;
}

/* The frames a stack's record has: addresses up to the end, or to one that marks it. */
static size_t frames_of(const struct file_run *r, struct event *e, const struct spur_record *rec,
			uint64_t *frames, size_t max)
{
	const struct event_field *caller = event_field_find(e, "caller");
	const uint32_t word = caller && caller->elem_size == 4 ? 4 : 8;
	size_t n = 0;

	if (!caller)
		return 0;
	for (size_t at = caller->offset; n < max && at + word <= rec->size; at += word) {
		const uint64_t v = record_uint(r->trace->events, rec, (uint32_t)at, word);

		if (!v || v == UINT64_MAX || (word == 4 && v == UINT32_MAX))
			break;
		frames[n++] = v;
	}
	return n;
}

/* The number of frames of the recorder itself, which programs in the kernel do not see. */
static size_t own_frames(const struct file_run *r, const uint64_t *frames, size_t n)
{
	static const char *const own[] = {"trace_event_raw_event_", "__traceiter_",
					  "trace_event_buffer_", "__trace_stack",
					  "__ftrace_trace_stack"};
	size_t i = 0;

	for (bool is_own = true; i < n && is_own; i += is_own) {
		const struct symbol *s = symbols_find(r->trace->events->symbols, frames[i]);

		is_own = false;
		for (size_t k = 0; s && k < sizeof(own) / sizeof(own[0]); k++)
			is_own |= strncmp(s->name, own[k], strlen(own[k])) == 0;
	}
	return i;
}

int64_t run_stack(struct script *s, struct vm_map *map, bool user)
{
	struct file_run *r = s->file;
	uint64_t frames[MAX_FRAMES];
	struct event *wanted;
	struct lane *look;
	size_t max = map->key_size / 8, n, skip; /* the frames are the key of such a map */

	if (!r->in_record)
		return -EFAULT;
	if (!r->stacks)
		r->stacks = stacks_new(r);
	look = r->stacks ? look_from(r) : NULL;
	wanted = r->stacks ? (user ? r->stacks->user : r->stacks->kernel) : NULL;
	for (int i = 0; look && wanted && i < LOOK_AHEAD && lane_next(look); i++) {
		const struct event *e = events_of_record(r->trace->events, &look->rec);

		if (!r->stacks->kernel || (e != r->stacks->kernel && e != r->stacks->user))
			break;
		if (e != wanted)
			continue;
		n = frames_of(r, wanted, &look->rec, frames, MAX_FRAMES);
		skip = user ? 0 : own_frames(r, frames, n);
		return umap_add_stack((struct umap *)map, frames + skip,
				      n - skip < max ? n - skip : max);
	}
	return -EFAULT;
}

/*
 * The processes of a recording's threads. Recordings of spur list their tasks. In others a record
 * only has the number of the thread, and some records show its process: the stack of a program
 * (user_stack has the number of the process), a new task (task_newtask says whether it is a thread
 * of its creator), an exec (only the first thread is left). A thread without such records counts as
 * a process.
 *
 * The file is searched once, when a program needs it for the first time. After that these records
 * are followed as they come, because numbers are used again. Before the first such record of a
 * thread, that record is used.
 */

struct groups {
	struct map of; /* thread: process */
	struct event *stack, *task, *exec;
	const struct event_field *tgid, *child, *flags, *leader;
};

/* ---- records that show a process ---- */

static uint32_t find(const struct groups *g, uint32_t tid)
{
	const uint32_t known = (uint32_t)(uintptr_t)map_get(&g->of, tid);

	return known ? known : tid;
}

/* The thread and process that a record shows; false if it shows none. */
static bool told(const struct groups *g, const struct events *ev, const struct event *e,
		 const struct spur_record *rec, uint32_t *tid, uint32_t *group)
{
	const uint32_t own = (uint32_t)events_record_pid(ev, rec);
	uint64_t n, flags;

	if (e == g->stack && g->tgid && field_number(ev, g->tgid, rec, &n)) {
		*tid = own;
		*group = (uint32_t)n;
	} else if (e == g->task && g->child && g->flags && field_number(ev, g->child, rec, &n) &&
		   field_number(ev, g->flags, rec, &flags)) {
		*tid = (uint32_t)n;
		*group = flags & CLONE_THREAD ? find(g, own) : *tid;
	} else if (e == g->exec && g->leader && field_number(ev, g->leader, rec, &n)) {
		*tid = *group = (uint32_t)n;
	} else {
		return false;
	}
	return *tid && *group;
}

static void set(struct groups *g, uint32_t tid, uint32_t group)
{
	map_set(&g->of, tid, (void *)(uintptr_t)group);
}

static void run_groups_follow(struct file_run *r, const struct event *e,
			      const struct spur_record *rec)
{
	uint32_t tid, group;

	if (r->groups && told(r->groups, r->trace->events, e, rec, &tid, &group))
		set(r->groups, tid, group);
}

/* ---- the search ---- */

static const struct event_field *field_of(struct event *e, const char *name)
{
	return e ? event_field_find(e, name) : NULL;
}

static void search(struct file_run *r, struct groups *g, const struct lane_filter *only)
{
	const struct events *ev = r->trace->events;
	const struct spur_record *rec;
	uint32_t tid, group;
	struct scan scan;

	scan_init(&scan, &(struct scan_options){.filter = only});
	if (scan_add_trace(&scan, r->trace) == 0)
		while ((rec = scan_next(&scan)))
			if (told(g, ev, events_of_record(ev, rec), rec, &tid, &group) &&
			    (rec->ts <= r->s->now.ns || !map_get(&g->of, tid)))
				set(g, tid, group);
	scan_free(&scan);
}

static struct groups *run_groups_new(struct file_run *r)
{
	struct events *ev = r->trace->events;
	struct groups *g = calloc(1, sizeof(*g));
	struct lane_filter only;

	if (!g || lane_filter_init(&only, ev) < 0)
		return g;
	g->stack = events_find(ev, "ftrace", "user_stack");
	g->task = events_find(ev, "task", "task_newtask");
	g->exec = events_find(ev, "sched", "sched_process_exec");
	g->tgid = field_of(g->stack, "tgid");
	g->child = field_of(g->task, "pid");
	g->flags = field_of(g->task, "clone_flags");
	g->leader = field_of(g->exec, "pid");
	if (g->tgid)
		lane_filter_want(&only, g->stack);
	if (g->child && g->flags)
		lane_filter_want(&only, g->task);
	if (g->leader)
		lane_filter_want(&only, g->exec);
	search(r, g, &only);
	lane_filter_free(&only);
	return g;
}

uint32_t run_group(struct script *s, uint32_t tid)
{
	struct file_run *r = s->file;
	const struct dat_task *told = trace_task_at(r->trace, (int)tid, s->now.ns);

	if (told && told->tgid)
		return (uint32_t)told->tgid;
	if (!r->groups)
		r->groups = run_groups_new(r);
	return r->groups ? find(r->groups, tid) : tid;
}

/* Sees a record that a program may not have been written for. */
static void run_groups_free(struct groups *g)
{
	if (!g)
		return;
	map_free(&g->of);
	free(g);
}

#define LOOK_EVERY 16384 /* records between two checks whether the user stops it */
/*
 * How often an interval may run between two records. After a jump of the clock in a damaged file it
 * could run for years.
 */
#define MAX_ROUNDS 10000000

/* ---- getting ready ---- */

static bool add_prog(struct on_event *e, uint32_t prog)
{
	uint32_t *more = realloc(e->progs, (e->n + 1) * sizeof(*more));

	if (!more)
		return false;
	e->progs = more;
	e->progs[e->n++] = prog;
	return true;
}

static int add_event(struct file_run *r, const struct unit_probe *p, struct spur_error *err)
{
	struct event *e = events_find(r->trace->events, p->target->system, p->target->event);

	if (!e || e->id < 0)
		return error_set(err, -ENOENT, "the recording has no %s", p->target->name);
	if ((size_t)e->id >= r->nr_ids) {
		size_t n = (size_t)e->id + 64;
		struct on_event *more = realloc(r->events, n * sizeof(*more));

		if (!more)
			return error_set(err, -ENOMEM, "out of memory");
		memset(more + r->nr_ids, 0, (n - r->nr_ids) * sizeof(*more));
		r->events = more;
		r->nr_ids = n;
	}
	return add_prog(&r->events[e->id], p->prog) ? 0 : error_set(err, -ENOMEM, "out of memory");
}

static int add_interval(struct file_run *r, const struct unit_probe *p, struct spur_error *err)
{
	struct interval *more = realloc(r->intervals, (r->nr_intervals + 1) * sizeof(*more));

	if (!more)
		return error_set(err, -ENOMEM, "out of memory");
	r->intervals = more;
	r->intervals[r->nr_intervals++] = (struct interval){p->prog, p->target->period_ns, 0};
	return 0;
}

static int prepare(struct file_run *r, struct spur_error *err)
{
	struct script *s = r->s;
	int rc = 0;

	for (size_t i = 0; i < s->unit.probes.n && rc == 0; i++) {
		const struct unit_probe *p = &s->unit.probes.at[i];

		if (p->target->type == PT_INTERVAL)
			rc = add_interval(r, p, err);
		else if (p->target->system)
			rc = add_event(r, p, err);
	}
	return rc;
}

static void free_run(struct file_run *r)
{
	for (size_t i = 0; i < r->nr_ids; i++)
		free(r->events[i].progs);
	free(r->events);
	free(r->intervals);
	stacks_free(r->stacks);
	run_groups_free(r->groups);
	scan_free(&r->scan);
}

/* ---- running ---- */

/* From time to time: reports the progress, and checks whether the user stops it. */
static void look_up(struct file_run *r)
{
	const struct script_options *o = &r->s->opt;
	struct pollfd stop = {o->stop_fd, POLLIN, 0};
	uint64_t done = 0, total = 0;

	if (++r->steps % LOOK_EVERY)
		return;
	for (uint32_t i = 0; o->progress && i < r->scan.nr; i++) {
		const struct lane *l = &r->scan.lanes[i];

		done += l->ended ? l->nr_pages : l->page_index;
		total += l->nr_pages;
	}
	if (o->progress)
		o->progress(o->arg, done, total);
	r->stopped = poll(&stop, 1, 0) > 0;
}

static bool goes_on(const struct file_run *r)
{
	return !r->s->ended && !r->stopped;
}

/* Sets the time for the helpers. */
static void set_now(struct file_run *r, uint64_t ns)
{
	r->s->now.ns = ns;
	r->s->out.wall_ns = ns ? (int64_t)ns : 1;
}

/* ---- intervals ---- */

static void set_next_interval(struct file_run *r)
{
	r->next_interval = UINT64_MAX;
	for (size_t i = 0; i < r->nr_intervals; i++)
		if (r->intervals[i].next < r->next_interval)
			r->next_interval = r->intervals[i].next;
}

/* When it is due again; never, if that is beyond the end of time. */
static void postpone(struct interval *iv, uint64_t rounds)
{
	uint64_t by;

	if (__builtin_mul_overflow(iv->period, rounds, &by) ||
	    __builtin_add_overflow(iv->next, by, &iv->next))
		iv->next = UINT64_MAX;
}

/* Leaves out what is too much up to a time. */
static void skip_rounds(struct file_run *r, uint64_t until)
{
	for (size_t i = 0; i < r->nr_intervals; i++) {
		struct interval *iv = &r->intervals[i];
		const uint64_t rounds =
			iv->next <= until && iv->period ? (until - iv->next) / iv->period : 0;

		if (rounds < MAX_ROUNDS)
			continue;
		postpone(iv, rounds - MAX_ROUNDS);
		r->skipped += rounds - MAX_ROUNDS;
	}
	set_next_interval(r);
}

/* Runs those that are due up to a time, in order. */
static void run_intervals(struct file_run *r, uint64_t until)
{
	skip_rounds(r, until);
	while (r->next_interval <= until && r->next_interval != UINT64_MAX && goes_on(r)) {
		for (size_t i = 0; i < r->nr_intervals && !r->s->ended; i++) {
			struct interval *iv = &r->intervals[i];

			if (iv->next != r->next_interval)
				continue;
			set_now(r, iv->next);
			run_program(r->s, iv->prog, NULL, 0);
			postpone(iv, 1);
		}
		set_next_interval(r);
		look_up(r);
	}
}

/* ---- from record to record ---- */

static void start_clock(struct file_run *r, uint64_t first)
{
	struct script *s = r->s;

	set_now(r, first);
	/* `elapsed` counts from here. */
	if (s->unit.start >= 0)
		s->maps[s->unit.start]->ops->update(s->maps[s->unit.start], &(uint32_t){0}, &first,
						    0);
	for (size_t i = 0; i < r->nr_intervals; i++) {
		r->intervals[i].next = first;
		postpone(&r->intervals[i], 1);
	}
	set_next_interval(r);
}

static void run_record_of(struct file_run *r, const struct spur_record *rec,
			  const struct on_event *e)
{
	struct script *s = r->s;

	set_now(r, rec->ts);
	s->now.cpu = rec->cpu;
	s->now.tid = (uint32_t)events_record_pid(r->trace->events, rec);
	r->in_record = true;
	for (uint32_t i = 0; i < e->n && !s->ended; i++)
		run_program(s, e->progs[i], rec->data, rec->size);
	r->in_record = false;
}

static void walk(struct file_run *r, const struct spur_record *rec)
{
	for (; rec && goes_on(r); rec = scan_next(&r->scan)) {
		const struct event *e = events_of_record(r->trace->events, rec);

		look_up(r);
		if (rec->ts >= r->next_interval)
			run_intervals(r, rec->ts);
		run_groups_follow(r, e, rec);
		if (e && (size_t)e->id < r->nr_ids && r->events[e->id].n && goes_on(r))
			run_record_of(r, rec, &r->events[e->id]);
	}
}

static void tell_skipped(const struct file_run *r)
{
	char text[200];

	if (!r->skipped || !r->s->opt.note)
		return;
	snprintf(text, sizeof(text),
		 "%llu rounds of intervals were left out: the recording's clock jumps",
		 (unsigned long long)r->skipped);
	r->s->opt.note(r->s->opt.arg, text);
}

static int open_lanes(struct file_run *r, struct spur_error *err)
{
	int rc;

	scan_init(&r->scan, NULL);
	rc = scan_add_trace(&r->scan, r->trace);
	return rc < 0 ? error_sys(err, rc, "the recording") : 0;
}

static void run_all(struct file_run *r)
{
	struct script *s = r->s;
	const struct spur_record *first = scan_next(&r->scan);

	/* Time begins with the first record, also for what runs before it. */
	start_clock(r, first ? first->ts : 0);
	run_probes(s, PT_BEGIN);
	walk(r, first);
	s->ended = false;
	s->at_end = true;
	run_probes(s, PT_END);
	run_print_maps(s);
	run_flush(s);
	run_losses(s);
	tell_skipped(r);
}

int run_file(struct script *s, struct spur_error *err)
{
	struct file_run r = {.s = s, .trace = s->opt.trace, .next_interval = UINT64_MAX};
	int rc;

	s->file = &r;
	s->maps = umaps_new(&s->unit);
	if (!s->maps)
		return error_set(err, -ENOMEM, "out of memory");
	rc = run_begin(s, &run_user_ops, err);
	if (rc == 0)
		rc = prepare(&r, err);
	if (rc == 0)
		rc = open_lanes(&r, err);
	if (rc == 0) {
		if (s->opt.attached)
			s->opt.attached(s->opt.arg, s->unit.probes.n);
		run_all(&r);
		rc = s->rc < 0 ? error_set(err, s->rc, "%s", s->err.text) : 0;
	}
	run_end(s);
	free_run(&r);
	umaps_free(s->maps, s->unit.maps.n);
	s->maps = NULL;
	s->file = NULL;
	return rc;
}
