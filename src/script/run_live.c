// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A script on the running kernel: the loop that executes the requests of its programs, lost events,
 * and the kernel's switch for debugf().
 */
#include "script/run_live.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/error.h"
#include "base/nanoseconds.h"
#include "base/vec.h"
#include "code/ring.h"
#include "code/sys.h"
#include "code/umap.h"
#include "script/unwind.h"

/* Losses: records that did not fit the ring buffer, entries that did not fit maps. */

#define NOTE_CAP 512

#define LOST   "%llu events of %s were lost: a larger buffer (perf_rb_pages) would help"
#define STACKS "%llu stacks of %s were lost: there is no room for so many different ones"
#define CUT_OFF                                                                                    \
	"%llu hits of %s were cut off: their loops had more rounds than a program is given "       \
	"(max_loop_rounds)"
#define FULL                                                                                       \
	"Map full; can't update element: %llu updates of @%s were lost, more entries "             \
	"(max_map_keys) would help"

#define NO_MEMORY "%llu updates of @%s were lost: the kernel had no memory for them at that moment"

static int take_counts(void *arg, const void *key, const uint8_t *values, size_t nr, size_t stride)
{
	buf_put(arg, values, stride);
	return 0;
}

/* Numbers of an internal map, one for each probe or map; how many there are. */
static size_t read_counts(struct script *s, int map, struct buf *to)
{
	struct live_run *r = s->live;
	const uint32_t key = 0;

	buf_reset(to);
	if (map < 0)
		return 0;
	if (!r || !r->kernel) {
		const void *own = umap_lookup((struct umap *)s->maps[map], &key);

		if (own)
			buf_put(to, own, s->unit.maps.at[map]->value_size);
	} else if (kmap_read_one(&r->maps.at[map], &key, take_counts, to, NULL) < 0) {
		return 0;
	}
	return to->len / 8;
}

static uint64_t count_at(const struct buf *counts, size_t i)
{
	uint64_t n;

	memcpy(&n, counts->data + i * 8, 8);
	return n;
}

static void note(struct script *s, const char *fmt, uint64_t n, const char *name)
{
	char text[NOTE_CAP];

	snprintf(text, sizeof(text), fmt, (unsigned long long)n, name);
	if (s->opt.note)
		s->opt.note(s->opt.arg, text);
}

/* Reports the counts of an internal map, one for each probe; returns their sum. */
static uint64_t note_by_probe(struct script *s, int map, const char *fmt, struct buf *counts)
{
	const size_t n = read_counts(s, map, counts);
	uint64_t sum = 0;

	for (size_t i = 0; i < n && i < s->unit.probes.n; i++) {
		const uint64_t count = count_at(counts, i);

		if (count)
			note(s, fmt, count, s->unit.probes.at[i].target->name);
		sum += count;
	}
	return sum;
}

void run_losses(struct script *s)
{
	const struct live_run *r = s->live; /* NULL: a recording */
	const uint64_t packets = r && r->packets ? ring_lost(r->packets) : 0;
	uint64_t sum = r && r->ring ? ring_lost(r->ring) : 0;
	struct buf counts;
	size_t n;

	if (s->unwinder && unwind_is_full(s->unwinder))
		note(s,
		     "%llu rows are not enough for all files that dw_ustack() has met: some stacks "
		     "are short%s",
		     UNWIND_ROWS, "");
	if (s->left_out)
		note(s, "%llu commands of %s were still to be run and are left out", s->left_out,
		     "system() and cat()");
	if (packets)
		note(s, LOST, packets, "skboutput()");
	sum += packets;
	buf_init(&counts, 1u << 20);
	sum += note_by_probe(s, s->unit.lost, LOST, &counts);
	note_by_probe(s, s->unit.stacks_lost, STACKS, &counts);
	note_by_probe(s, s->unit.cut_off, CUT_OFF, &counts);
	n = read_counts(s, s->unit.full, &counts);
	for (size_t i = 0; i < n && i / FULL_REASONS < s->unit.maps.n; i++)
		if (count_at(&counts, i))
			note(s, i % FULL_REASONS == FULL_ENTRIES ? FULL : NO_MEMORY,
			     count_at(&counts, i), s->unit.maps.at[i / FULL_REASONS]->name);
	buf_free(&counts);
	if (sum)
		output_lost(&s->out, sum);
}

/*
 * The kernel enables bpf_trace:bpf_trace_printk when it loads a program that writes to its trace
 * buffer (debugf), and leaves it enabled. A script that has done so disables it at its end, unless
 * another script still needs it.
 */

static struct tracefs tracefs_of(const struct script *s)
{
	struct tracefs fs;

	snprintf(fs.path, sizeof(fs.path), "%s", s->world.tracefs);
	return fs;
}

/* Remembers whether the event of debugf() is enabled, to disable it again. */
static void printk_begin(struct live_run *r)
{
	const struct tracefs fs = tracefs_of(r->s);

	r->printk.fd = -1;
	if (r->s->unit.debugs)
		kernelswitch_begin(&r->printk, &fs);
}

static void printk_end(struct live_run *r)
{
	const struct tracefs fs = tracefs_of(r->s);

	kernelswitch_end(&r->printk, &fs, r->kernel);
}

#define COMMAND_MS 50 /* between checks of a command, if the kernel does not report its end */

/* ---- what it needs ---- */

static bool runs_in_kernel(const struct script *s)
{
	for (size_t i = 0; i < s->unit.progs.n; i++)
		if (s->unit.progs.at[i].runs == RUNS_IN_KERNEL)
			return true;
	return false;
}

static int create_maps(struct live_run *r, struct spur_error *err)
{
	struct script *s = r->s;
	int rc;

	if (!r->kernel) {
		s->maps = umaps_new(&s->unit);
		return s->maps ? 0 : error_set(err, -ENOMEM, "out of memory");
	}
	rc = kmaps_create(&r->maps, &s->unit, &s->features, err);
	s->maps = r->maps.views;
	if (rc == 0 && s->unit.ring >= 0)
		rc = ring_open(r->maps.at[s->unit.ring].fd, s->unit.maps.at[s->unit.ring]->entries,
			       r->maps.perf_ring, &r->ring, err);
	if (rc == 0 && s->unit.packets >= 0)
		rc = ring_open(r->maps.at[s->unit.packets].fd,
			       s->unit.maps.at[s->unit.packets]->entries, true, &r->packets, err);
	return rc;
}

/* ---- timers ---- */

static int add_timer(struct live_run *r, const struct unit_probe *p, struct spur_error *err)
{
	const struct timespec t = ns_to_timespec(p->target->period_ns);
	const struct itimerspec every = {t, t};
	struct timer *timer = vec_push(&r->timers);

	if (!timer)
		return error_set(err, -ENOMEM, "out of memory");
	timer->prog = p->prog;
	timer->fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (timer->fd < 0 || timerfd_settime(timer->fd, 0, &every, NULL) != 0)
		return error_sys(err, -errno, "a timer");
	return 0;
}

static int start_timers(struct live_run *r, struct spur_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < r->s->unit.probes.n && rc == 0; i++)
		if (r->s->unit.probes.at[i].target->type == PT_INTERVAL)
			rc = add_timer(r, &r->s->unit.probes.at[i], err);
	return rc;
}

/* ---- the loop ---- */

static int on_record(void *arg, const void *data, size_t size)
{
	struct script *s = arg;

	if (!s->ended)
		run_record(s, data, size);
	return 0;
}

void live_run_here(struct live_run *r, uint32_t prog)
{
	uint32_t result;

	if (r->progs && r->progs[prog] >= 0)
		sys_prog_test_run(r->progs[prog], NULL, 0, &result);
	else
		run_program(r->s, prog, NULL, 0);
	if (r->kernel)
		kmaps_flush(&r->maps);
}

void live_take_records(struct live_run *r)
{
	if (r->ring)
		ring_read(r->ring, on_record, r->s);
	if (r->packets && ring_read(r->packets, on_record, r->s) > 0)
		packets_flush(r->s);
	run_flush(r->s);
}

static void run_all(struct live_run *r, enum probe_type type)
{
	struct script *s = r->s;

	for (size_t i = 0; i < s->unit.probes.n && s->rc == 0; i++) {
		if (s->unit.probes.at[i].target->type != type)
			continue;
		live_run_here(r, s->unit.probes.at[i].prog);
		live_take_records(r);
		if (s->ended && type == PT_BEGIN)
			break;
	}
}

static bool add_fd(struct live_run *r, int fd)
{
	struct pollfd *p = vec_push(&r->fds);

	if (p)
		*p = (struct pollfd){fd, POLLIN, 0};
	return p != NULL;
}

/* The order of the descriptors in poll(). */
enum { FD_STOP, FD_COMMAND, FD_PROCESS, FD_PRINT, FD_RING, FD_PACKETS, FD_TIMERS };

/* The script ends with the traced process, if the kernel reports that. */
static int watch_processes(struct live_run *r, struct spur_error *err)
{
	const struct script_options *o = &r->s->opt;

	for (size_t i = 0; i < o->nr_pids; i++)
		if (kill(o->pids[i], 0) != 0 && errno == ESRCH)
			return error_set(err, -ESRCH, "there is no process %d", (int)o->pids[i]);
	if (o->nr_pids == 1)
		r->process = (int)syscall(SYS_pidfd_open, o->pids[0], 0);
	return 0;
}

static int gather_fds(struct live_run *r, struct spur_error *err)
{
	bool ok = add_fd(r, r->s->opt.stop_fd) &&
		  add_fd(r, r->s->command.pid ? r->s->command.pidfd : -1) &&
		  add_fd(r, r->process) && add_fd(r, r->s->opt.print_fd) &&
		  add_fd(r, r->ring ? ring_fd(r->ring) : -1) &&
		  add_fd(r, r->packets ? ring_fd(r->packets) : -1);

	for (size_t i = 0; i < r->timers.n; i++)
		ok &= add_fd(r, r->timers.at[i].fd);
	return ok ? 0 : error_set(err, -ENOMEM, "out of memory");
}

static void run_timers(struct live_run *r)
{
	for (size_t i = 0; i < r->timers.n && !r->s->ended; i++) {
		uint64_t times;

		if (!(r->fds.at[FD_TIMERS + i].revents & POLLIN) ||
		    read(r->timers.at[i].fd, &times, sizeof(times)) != sizeof(times))
			continue;
		/* Earlier records are shown first. */
		live_take_records(r);
		if (!r->s->ended)
			live_run_here(r, r->timers.at[i].prog);
		live_take_records(r);
	}
}

static bool has_probe(const struct script *s, enum probe_type type)
{
	for (size_t i = 0; i < s->unit.probes.n; i++)
		if (s->unit.probes.at[i].target->type == type)
			return true;
	return false;
}

/* A SIGUSR1: for probes that wait for it, or else to see the maps while the script runs. */
static void take_signal(struct live_run *r)
{
	struct script *s = r->s;
	char some[64];

	if (read(s->opt.print_fd, some, sizeof(some)) <= 0)
		return;
	if (has_probe(s, PT_SELF))
		run_all(r, PT_SELF);
	else
		run_print_maps(s);
	run_flush(s);
}

/* The sooner one of two times; -1 is never. */
static int sooner(int a, int b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

/* How long nothing has to be done, in milliseconds; -1: no limit. */
static int delay(const struct live_run *r)
{
	int ms = r->ring ? ring_delay(r->ring) : -1;

	ms = sooner(ms, r->packets ? ring_delay(r->packets) : -1);
	if (ms < 0 && r->s->command.pid)
		ms = COMMAND_MS;
	return sooner(ms, symbols_look_again(r->s->symbols));
}

static void loop(struct live_run *r)
{
	struct script *s = r->s;

	while (!s->ended) {
		int n = poll(r->fds.at, r->fds.n, delay(r));

		if (n < 0 && errno != EINTR)
			run_fail(s, -errno, "poll");
		live_take_records(r);
		if (n > 0 && (r->fds.at[FD_STOP].revents || r->fds.at[FD_PROCESS].revents))
			break;
		if (n > 0 && r->fds.at[FD_PRINT].revents)
			take_signal(r);
		if (n > 0)
			run_timers(r);
		if (r->s->command.pid && command_ended(&r->s->command))
			break;
	}
}

/* ---- iterators ---- */

/* These are not attached, but run from beginning to end, once. */
static int iterate_all(struct live_run *r, struct spur_error *err)
{
	struct script *s = r->s;
	int rc = 0;

	for (size_t i = 0; i < s->unit.probes.n && rc == 0 && !s->ended; i++) {
		const struct unit_probe *p = &s->unit.probes.at[i];

		if (p->target->type != PT_ITER)
			continue;
		rc = attach_iterate(p->target, r->progs[p->prog], NULL, NULL, err);
		live_take_records(r);
	}
	return rc;
}

/*
 * Whether anything can happen after the BEGIN probes and iterators: a script without other probes
 * ends by itself, but not before its command.
 */
static bool has_more(const struct script *s)
{
	for (size_t i = 0; i < s->unit.probes.n; i++) {
		const enum probe_type t = s->unit.probes.at[i].target->type;

		if (t != PT_BEGIN && t != PT_END && t != PT_ITER && t != PT_TEST && t != PT_BENCH)
			return true;
	}
	return s->command.pid != 0;
}

/* ---- from beginning to end ---- */

static int set_start(struct live_run *r, struct spur_error *err)
{
	struct script *s = r->s;
	const uint32_t key = 0;
	const uint64_t ns = clock_now_ns(CLOCK_BOOTTIME);

	if (s->unit.start < 0)
		return 0;
	if (s->maps[s->unit.start]->ops->update(s->maps[s->unit.start], &key, &ns, 0) < 0)
		return error_set(err, -EIO, "a map of the script cannot be written");
	if (r->kernel)
		kmaps_flush(&r->maps);
	return 0;
}

/* Reads tables that dw_ustack() will probably need: of traced processes and probed programs. */
static int prepare_unwinding(struct live_run *r, struct spur_error *err)
{
	struct script *s = r->s;
	const char *last = NULL;
	int rc;

	if (s->unit.unwind.rows < 0)
		return 0;
	rc = unwind_open(&r->maps, &s->unit, &s->unwinder, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < s->opt.nr_pids; i++)
		unwind_process(s->unwinder, s->opt.pids[i]);
	if (s->world.command)
		unwind_program(s->unwinder, NULL, s->world.command);
	for (size_t i = 0; i < s->unit.probes.n; i++) {
		const struct probe_target *t = s->unit.probes.at[i].target;
		const bool user =
			t->type == PT_UPROBE || t->type == PT_URETPROBE || t->type == PT_USDT;

		if (user && t->path && (!last || strcmp(last, t->path) != 0))
			unwind_program(s->unwinder, t->path, NULL);
		last = user ? t->path : last;
	}
	return 0;
}

static int prepare(struct live_run *r, struct spur_error *err)
{
	struct script *s = r->s;
	int rc;

	r->kernel = runs_in_kernel(s);
	rc = watch_processes(r, err);
	if (rc == 0)
		rc = create_maps(r, err);
	if (rc == 0)
		rc = run_begin(s, r->kernel ? &run_kernel_ops : &run_user_ops, err);
	if (rc == 0)
		rc = live_load(r, err);
	if (rc == 0)
		rc = packets_open(s, err);
	if (rc == 0)
		rc = prepare_unwinding(r, err);
	s->now.pid = (uint32_t)getpid();
	s->now.tid = s->now.pid;
	return rc < 0 ? rc : set_start(r, err);
}

/* Programs that still run while they are being detached do nothing from now on. */
static void switch_off(struct live_run *r)
{
	const uint32_t key = 0;
	const uint64_t on = 1;

	if (r->kernel && r->s->unit.off >= 0)
		kmap_update(&r->maps.at[r->s->unit.off], &key, &on, 0);
	attach_end(&r->attached);
}

/* A USDT probe is one, at however many places it is. */
static bool is_other_place(const struct script *s, size_t i)
{
	const struct unit_probe *all = s->unit.probes.at, *p = &all[i];

	for (size_t k = i; p->target->type == PT_USDT && k-- > 0;)
		if (all[k].at.from == p->at.from && all[k].at.to == p->at.to &&
		    strcmp(all[k].target->name, p->target->name) == 0)
			return true;
	return false;
}

static size_t nr_probes(const struct script *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->unit.probes.n; i++)
		n += is_other_place(s, i) ? 0 : s->unit.probes.at[i].stands_for;
	return n;
}

static void tell_attached(struct script *s)
{
	if (s->held)
		run_announce(s);
	run_flush(s);
	if (s->opt.attached)
		s->opt.attached(s->opt.arg, s->nr_attached);
}

/* Whether it is seen only when they are attached how many of the probes are there. */
static bool may_miss_some(const struct script *s)
{
	for (size_t i = 0; i < s->unit.probes.n; i++) {
		const struct probe_target *t = s->unit.probes.at[i].target;

		if (!t->found || t->symbol)
			return true;
	}
	return false;
}

/* Whether all that the script would have waited for was left out. */
static bool is_nothing_left(const struct live_run *r)
{
	const struct script *s = r->s;

	return !has_probe(s, PT_SELF) && r->nr_missing && !r->attached.fds.n && !r->timers.n &&
	       !s->command.pid;
}

static int run_prepared(struct live_run *r, struct spur_error *err)
{
	struct script *s = r->s;
	const bool more = has_more(s);
	int rc = 0;

	s->nr_attached = nr_probes(s);
	s->held = true;
	if (!more || !may_miss_some(s))
		run_announce(s);
	/* No events will come, so no reader waits for the attached probes. */
	if (!more)
		tell_attached(s);
	run_all(r, PT_BEGIN);
	if (s->opt.mode != SCRIPT_TRACE && !s->ended) {
		run_tests(r);
		return s->rc < 0 ? error_set(err, s->rc, "%s", s->err.text) : 0;
	}
	if (!s->ended)
		rc = live_attach(r, err);
	if (rc == 0 && !s->ended)
		rc = start_timers(r, err);
	s->nr_attached -= r->nr_missing;
	if (rc == 0 && more)
		tell_attached(s);
	s->held = false;
	run_flush(s);
	if (rc == 0 && !s->ended && r->s->command.pid)
		rc = command_go(&r->s->command, err);
	if (rc == 0)
		rc = gather_fds(r, err);
	if (rc == 0)
		rc = iterate_all(r, err);
	if (rc < 0)
		return rc;
	if (more && !is_nothing_left(r))
		loop(r);
	switch_off(r);
	command_signal(&s->command, SIGTERM);
	if (!s->ended)
		live_take_records(r);
	s->ended = false;
	s->at_end = true;
	run_all(r, PT_END);
	run_print_maps(s);
	run_flush(s);
	run_losses(s);
	run_flush(s);
	return s->rc < 0 ? error_set(err, s->rc, "%s", s->err.text) : 0;
}

static void clean_up(struct live_run *r)
{
	struct script *s = r->s;

	/* Detach what was attached before the error. */
	attach_end(&r->attached);
	for (size_t i = 0; r->progs && i < s->unit.progs.n; i++)
		if (r->progs[i] >= 0)
			close(r->progs[i]);
	free(r->progs);
	free(r->multi);
	sessions_close(r);
	buf_free(&r->missing);
	for (size_t i = 0; i < r->timers.n; i++)
		close(r->timers.at[i].fd);
	vec_free(&r->timers);
	vec_free(&r->fds);
	if (r->process >= 0)
		close(r->process);
	ring_close(r->ring);
	unwind_close(s->unwinder);
	s->unwinder = NULL;
	ring_close(r->packets);
	packets_close(s);
	run_end(s);
	if (r->kernel)
		kmaps_close(&r->maps);
	else if (s->maps)
		umaps_free(s->maps, s->unit.maps.n);
	s->maps = NULL;
	/* A command that was asked to end has probably ended by now. */
	command_ended(&s->command);
}

static int live(struct script *s, bool only_try, struct spur_error *err)
{
	struct live_run r = {.s = s, .attached = {.tracefs = s->world.tracefs}, .process = -1};
	int rc;

	buf_init(&r.missing, 65536);
	s->live = &r;
	printk_begin(&r);
	rc = prepare(&r, err);
	if (rc == 0 && !only_try)
		rc = run_prepared(&r, err);
	if (rc < 0)
		command_signal(&s->command, SIGTERM);
	clean_up(&r);
	printk_end(&r);
	s->live = NULL;
	return rc;
}

int run_live(struct script *s, struct spur_error *err)
{
	return live(s, false, err);
}

int script_try(struct script *s, struct spur_error *err)
{
	return s->opt.trace ? 0 : live(s, true, err);
}
