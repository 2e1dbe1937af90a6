// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A script over a recording: the executor runs the programs of tracepoints on each record, in the
 * order of time; the trace's clock drives intervals. Stacks and processes of threads come from the
 * recording, too. The helpers are those of all programs that the executor runs, for the running
 * kernel as well.
 */
#include "script/run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/map.h"
#include "base/nanoseconds.h"
#include "base/vec.h"
#include "code/umap.h"
#include "event/names.h"
#include "scan/scan.h"
#include "scan/trace.h"

/* Programs of one event, by its number. */
struct on_event {
	uint32_t *at;
	size_t n, cap;
};

struct interval {
	uint32_t prog;
	uint64_t period, next;
};

struct file_run {
	struct script *s;
	struct spur_trace *trace;
	struct scan scan;
	struct on_event *events; /* by the event's id */
	size_t nr_ids;
	struct {
		struct interval *at;
		size_t n, cap;
	} intervals;
	uint64_t next_interval; /* the earliest; UINT64_MAX: none */
	uint64_t skipped;	/* rounds of intervals that were left out */
	unsigned int steps;
	bool stopped;	       /* by the user */
	bool in_record;	       /* a program runs on the scan's current record */
	struct stacks *stacks; /* NULL until a program needs them */
	struct groups *groups; /* likewise */
};

/*
 * Stacks of a recording: they are records of their own, directly after the event, on the same CPU.
 * They are only searched when a program needs them.
 */

/* Records after an event that may be its stacks: the kernel's, then the process's. */
#define LOOK_AHEAD 3
#define MAX_FRAMES 1024

struct stacks {
	struct lane *lanes; /* that look ahead, as many as the scan has */
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
		for (size_t k = 0; s && k < ARRAY_SIZE(own); k++)
			is_own |= strncmp(s->name, own[k], strlen(own[k])) == 0;
	}
	return i;
}

/* The number of the stack that was recorded with the event that runs; negative: none. */
static int64_t run_stack(struct script *s, struct vm_map *map, bool user)
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

/* The process of a thread, if the recording shows it; else the thread itself. */
static uint32_t run_group(struct script *s, uint32_t tid)
{
	struct file_run *r = s->file;
	const struct dat_task *told = trace_task_at(r->trace, (int)tid, s->now.ns);

	if (told && told->tgid)
		return (uint32_t)told->tgid;
	if (!r->groups)
		r->groups = run_groups_new(r);
	return r->groups ? find(r->groups, tid) : tid;
}

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

/* ---- helpers ---- */

/* They return what the kernel's helpers would. */

#define COMM 16

static struct script *script_of(struct vm *vm)
{
	return vm->env;
}

static void *pointer(uint64_t v)
{
	return (void *)(uintptr_t)v;
}

/* ---- time and task ---- */

static uint64_t now(struct vm *vm, clockid_t clock)
{
	const struct script *s = script_of(vm);

	return s->opt.trace || s->now.ns ? s->now.ns : clock_now_ns(clock);
}

#define HELPER(name)                                                                               \
	static uint64_t name(struct vm *vm, uint64_t a, uint64_t b, uint64_t c, uint64_t d,        \
			     uint64_t e)

HELPER(help_monotonic)
{
	return now(vm, CLOCK_MONOTONIC);
}

HELPER(help_boot)
{
	return now(vm, CLOCK_BOOTTIME);
}

HELPER(help_tai)
{
	return now(vm, CLOCK_TAI);
}

HELPER(help_pid_tgid)
{
	struct script *s = script_of(vm);
	const uint32_t pid = s->file ? run_group(s, s->now.tid) : s->now.pid;

	return (uint64_t)pid << 32 | s->now.tid;
}

/* struct bpf_pidns_info; the numbers are those of our own namespace anyway. */
HELPER(help_ns_pid)
{
	const struct run_now *n = &script_of(vm)->now;
	const uint32_t info[] = {n->tid, n->pid};

	if (d != sizeof(info))
		return (uint64_t)-EINVAL;
	memcpy(pointer(c), info, sizeof(info));
	return 0;
}

HELPER(help_uid_gid)
{
	return (uint64_t)getgid() << 32 | getuid();
}

/* As in the kernel: idle tasks are named after their CPU. */
static void recorded_comm(const struct script *s, uint32_t tid, char *to)
{
	const struct dat_task *told;
	const char *comm;
	size_t len = 0;

	if (!tid) {
		snprintf(to, COMM, "swapper/%u", s->now.cpu);
		return;
	}
	told = trace_task_at(s->opt.trace, (int)tid, s->now.ns);
	comm = comms_find(s->opt.trace->events->comms, (int)tid, &len);
	if (told && *told->name) {
		comm = told->name;
		len = strlen(comm);
	}
	if (comm)
		memcpy(to, comm, len < COMM ? len : COMM - 1);
}

HELPER(help_comm)
{
	const struct script *s = script_of(vm);

	if (b < COMM)
		return (uint64_t)-EINVAL;
	memset(pointer(a), 0, COMM);
	if (s->opt.trace)
		recorded_comm(s, s->now.tid, pointer(a));
	else
		prctl(PR_GET_NAME, pointer(a));
	return 0;
}

/* The name of another task: as the recording has it, or as it is now. */
HELPER(help_comm_of)
{
	const struct script *s = script_of(vm);
	char path[32], *to = pointer(a);
	const char *comm;
	size_t len = 0;

	memset(to, 0, b);
	if (!c || c > INT_MAX)
		return 0;
	if (s->opt.trace) {
		comm = comms_find(s->opt.trace->events->comms, (int)c, &len);
		if (comm)
			memcpy(to, comm, len < b ? len : b - 1);
		return 0;
	}
	snprintf(path, sizeof(path), "/proc/%u/comm", (unsigned int)c);
	file_read_text(AT_FDCWD, path, to, b);
	to[strcspn(to, "\n")] = '\0';
	return 0;
}

/* ppid and its like of a recording; 0 or "" where it does not say it. */
HELPER(help_task)
{
	struct script *s = script_of(vm);
	const struct dat_task *told = trace_task_at(s->opt.trace, (int)s->now.tid, s->now.ns);
	const uint32_t ppid = told ? (uint32_t)told->ppid : 0;
	const uint32_t leader = s->file ? run_group(s, s->now.tid) : s->now.tid;

	switch (a) {
	case IR_TASK_PPID: return ppid;
	case IR_TASK_LEADER_TID: return leader;
	case IR_TASK_LEADER_COMM: recorded_comm(s, leader, pointer(b)); return 0;
	default:
		if (ppid)
			recorded_comm(s, ppid, pointer(b));
		return 0;
	}
}

HELPER(help_cpu)
{
	const struct script *s = script_of(vm);
	int cpu = s->opt.trace ? (int)s->now.cpu : sched_getcpu();

	return cpu < 0 ? 0 : (uint64_t)cpu;
}

HELPER(help_random)
{
	uint32_t r = 0;

	return getrandom(&r, sizeof(r), GRND_NONBLOCK) < 0 ? 0 : r;
}

HELPER(help_zero)
{
	return 0;
}

HELPER(help_refuse)
{
	return (uint64_t)-EPERM;
}

HELPER(help_stack)
{
	struct script *s = script_of(vm);

	if (!s->file)
		return (uint64_t)-EFAULT;
	return (uint64_t)run_stack(s, pointer(b), c & BPF_F_USER_STACK);
}

/* ---- memory of the kernel: only the record is there, and the memory of programs ---- */

static bool is_there(struct vm *vm, uint64_t address, size_t n)
{
	const struct script *s = script_of(vm);
	const int scratch = s->unit.user_scratch < 0 ? s->unit.scratch : s->unit.user_scratch;
	const uint32_t zero = 0;
	struct vm_map *m;
	uint64_t start;
	size_t size;

	if (vm_own(vm, address, n))
		return true;
	if (scratch < 0)
		return false;
	m = s->maps[scratch];
	start = (uint64_t)(uintptr_t)m->ops->lookup(m, &zero);
	size = s->unit.maps.at[scratch]->value_size;
	return start && address >= start && address - start <= size &&
	       size - (address - start) >= n;
}

HELPER(help_read)
{
	if (!is_there(vm, c, b)) {
		memset(pointer(a), 0, b);
		return (uint64_t)-EFAULT;
	}
	memcpy(pointer(a), pointer(c), b);
	return 0;
}

HELPER(help_read_text)
{
	char *to = pointer(a);
	size_t n = 0;

	if (!b)
		return 0;
	for (; n < b - 1 && is_there(vm, c + n, 1); n++) {
		to[n] = *(const char *)pointer(c + n);
		if (!to[n])
			break;
	}
	to[n] = '\0';
	return n == 0 && !is_there(vm, c, 1) ? (uint64_t)-EFAULT : n + 1;
}

/* ---- output ---- */

HELPER(help_output)
{
	run_record(script_of(vm), pointer(b), c);
	return 0;
}

HELPER(help_reserve)
{
	return (uint64_t)(uintptr_t)run_reserve(script_of(vm), b);
}

HELPER(help_submit)
{
	run_submit(script_of(vm));
	return 0;
}

const vm_helper *run_helpers(vm_helper *t)
{
	vm_helpers(t);
	t[BPF_FUNC_ktime_get_ns] = help_monotonic;
	t[BPF_FUNC_ktime_get_boot_ns] = help_boot;
	t[BPF_FUNC_ktime_get_tai_ns] = help_tai;
	t[BPF_FUNC_get_current_pid_tgid] = help_pid_tgid;
	t[BPF_FUNC_get_ns_current_pid_tgid] = help_ns_pid;
	t[BPF_FUNC_get_current_uid_gid] = help_uid_gid;
	t[BPF_FUNC_get_current_comm] = help_comm;
	t[VM_HELPER_TASK] = help_task;
	t[BPF_FUNC_get_smp_processor_id] = help_cpu;
	t[BPF_FUNC_get_numa_node_id] = help_zero;
	t[BPF_FUNC_get_prandom_u32] = help_random;
	t[BPF_FUNC_get_current_cgroup_id] = help_zero;
	t[BPF_FUNC_jiffies64] = help_zero;
	t[BPF_FUNC_get_current_task] = help_zero;
	t[BPF_FUNC_get_stackid] = help_stack;
	t[BPF_FUNC_probe_read] = help_read;
	t[BPF_FUNC_probe_read_kernel] = help_read;
	t[BPF_FUNC_probe_read_user] = help_read;
	t[BPF_FUNC_probe_read_str] = help_read_text;
	t[BPF_FUNC_probe_read_kernel_str] = help_read_text;
	t[BPF_FUNC_probe_read_user_str] = help_read_text;
	t[BPF_FUNC_ringbuf_output] = help_output;
	t[BPF_FUNC_ringbuf_reserve] = help_reserve;
	t[BPF_FUNC_ringbuf_submit] = help_submit;
	t[BPF_FUNC_send_signal] = help_refuse;
	t[VM_HELPER_COMM] = help_comm_of;
	return t;
}

/* ---- getting ready ---- */

static int add_event(struct file_run *r, const struct unit_probe *p, struct spur_error *err)
{
	struct event *e = events_find(r->trace->events, p->target->system, p->target->event);
	uint32_t *prog;

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
	prog = vec_push(&r->events[e->id]);
	if (!prog)
		return error_set(err, -ENOMEM, "out of memory");
	*prog = p->prog;
	return 0;
}

static int add_interval(struct file_run *r, const struct unit_probe *p, struct spur_error *err)
{
	struct interval *iv = vec_push(&r->intervals);

	if (!iv)
		return error_set(err, -ENOMEM, "out of memory");
	*iv = (struct interval){p->prog, p->target->period_ns, 0};
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
		vec_free(&r->events[i]);
	free(r->events);
	vec_free(&r->intervals);
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
	vec_each (iv, &r->intervals)
		if (iv->next < r->next_interval)
			r->next_interval = iv->next;
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
	vec_each (iv, &r->intervals) {
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
		vec_each (iv, &r->intervals) {
			if (iv->next != r->next_interval || r->s->ended)
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
	vec_each (iv, &r->intervals) {
		iv->next = first;
		postpone(iv, 1);
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
	for (size_t i = 0; i < e->n && !s->ended; i++)
		run_program(s, e->at[i], rec->data, rec->size);
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
