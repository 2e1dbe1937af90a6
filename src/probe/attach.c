// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Attaching programs: to timers, counters and watchpoints, to tracepoints and functions, to many
 * functions by one link; and detaching all of them.
 */
#include "probe/attach.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/vec.h"
#include "code/sys.h"
#include "probe/provider.h"

#define PMU_DIR	    "/sys/bus/event_source/devices"
#define CPUS_ONLINE "/sys/devices/system/cpu/online"
#define MAX_CPU	    65536

/* ---- what is common ---- */

static const struct {
	int code;
	const char *words;
} reasons[] = {
	{-EPERM, "that needs root (CAP_PERFMON and CAP_BPF)"},
	{-EACCES, "that needs root (CAP_PERFMON and CAP_BPF)"},
	{-ENOENT, "there is none in this kernel"},
	{-ESRCH, "there is no such process"},
	{-EILSEQ, "no instruction begins there"},
	{-EADDRNOTAVAIL, "the kernel does not let it be probed"},
	{-EMFILE, "too many open files: raise the limit with ulimit -n"},
};

/* Describes the kernel's error; returns the code. */
static int attach_failed(const struct probe_target *t, int code, struct spur_error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (reasons[i].code == code)
			return error_set(err, code, "cannot attach to %s: %s", t->name,
					 reasons[i].words);
	return error_sys(err, code, "cannot attach to %s", t->name);
}

/* Adds a descriptor; closes it on failure. */
static int attached_add(struct attached *a, struct attached_fd fd, struct spur_error *err)
{
	struct attached_fd *slot = vec_push(&a->fds);

	if (!slot) {
		close(fd.fd);
		return error_set(err, -ENOMEM, "out of memory for probes");
	}
	*slot = fd;
	return 0;
}

/* ---- programs at events ---- */

static int event_link(int event, int prog_fd, uint64_t cookie)
{
	const struct link_request r = {
		.prog_fd = (uint32_t)prog_fd,
		.target_fd = (uint32_t)event,
		.attach_type = ATTACH_PERF_EVENT,
		.perf_event.cookie = cookie,
	};
	int ret = sys_bpf(BPF_LINK_CREATE, &r,
			  offsetof(struct link_request, perf_event) + sizeof(r.perf_event));

	return ret == -EINVAL || ret == -E2BIG ? -EOPNOTSUPP : ret;
}

/*
 * Attaches a program to an event, which it then owns; with a cookie, by a link. Sampling events
 * start.
 */
static int attach_event(int event, int prog_fd, uint64_t cookie, bool samples, struct attached *a,
			const struct probe_target *t, struct spur_error *err)
{
	int link = -1, ret;

	if (cookie) {
		link = event_link(event, prog_fd, cookie);
		if (link < 0) {
			close(event);
			return attach_failed(t, link, err);
		}
		ret = attached_add(a, (struct attached_fd){.fd = link, .quick = samples}, err);
		if (ret || !samples) {
			/* The link has its own reference to the event. */
			close(event);
			return ret;
		}
	} else if (ioctl(event, PERF_EVENT_IOC_SET_BPF, prog_fd)) {
		ret = -errno;
		close(event);
		return attach_failed(t, ret, err);
	}
	if (samples && ioctl(event, PERF_EVENT_IOC_ENABLE, 0)) {
		ret = -errno;
		close(event);
		return attach_failed(t, ret, err);
	}
	return attached_add(
		a,
		(struct attached_fd){.fd = event,
				     .samples = samples,
				     .quick = samples,
				     .address = t->type == PT_WATCHPOINT ? t->address : 0},
		err);
}

/*
 * What samples: timers, counters, watchpoints. These are events of their own on each CPU, and their
 * programs stop when they are disabled.
 */

/* ---- CPUs ---- */

/* "0-3,5" */
static int parse_cpus(struct attached *a, const char *s)
{
	while (isdigit((unsigned char)*s)) {
		char *end;
		unsigned long from = strtoul(s, &end, 10), to = from;

		if (*end == '-')
			to = strtoul(end + 1, &end, 10);
		if (from > MAX_CPU || to > MAX_CPU)
			return -EINVAL;
		for (; from <= to; from++) {
			int *slot = vec_push(&a->cpus);

			if (!slot)
				return -ENOMEM;
			*slot = (int)from;
		}
		s = end + (*end == ',');
	}
	return a->cpus.n ? 0 : -EINVAL;
}

/* The CPUs that are online. */
static int attached_cpus(struct attached *a, struct spur_error *err)
{
	struct buf text;
	int ret;

	if (a->cpus.n)
		return 0;
	buf_init(&text, 65536);
	ret = file_read(CPUS_ONLINE, &text, err);
	if (!ret && parse_cpus(a, text.data))
		ret = error_set(err, -EINVAL, "%s says nothing about CPUs", CPUS_ONLINE);
	buf_free(&text);
	return ret;
}

/* ---- timers and counters ---- */

static int attach_on(struct perf_event_attr *attr, pid_t pid, int cpu, const struct probe_target *t,
		     int prog_fd, uint64_t cookie, struct attached *a, struct spur_error *err)
{
	int event = sys_perf_event_open(attr, pid, cpu, -1, 0);

	if (event < 0)
		return attach_failed(t, event, err);
	return attach_event(event, prog_fd, cookie, true, a, t, err);
}

static int attach_everywhere(struct perf_event_attr *attr, const struct probe_target *t,
			     int prog_fd, uint64_t cookie, struct attached *a,
			     struct spur_error *err)
{
	int ret = attached_cpus(a, err);

	for (size_t i = 0; i < a->cpus.n && !ret; i++)
		ret = attach_on(attr, -1, a->cpus.at[i], t, prog_fd, cookie, a, err);
	return ret;
}

static int attach_timer(const struct probe_target *t, int prog_fd, uint64_t cookie,
			struct attached *a, struct spur_error *err)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.disabled = 1,
	};
	int ret;

	if (t->freq) {
		attr.freq = 1;
		attr.sample_freq = t->freq;
	} else {
		attr.sample_period = t->period_ns;
	}
	if (t->type == PT_PROFILE)
		return attach_everywhere(&attr, t, prog_fd, cookie, a, err);
	ret = attached_cpus(a, err);
	return ret ? ret : attach_on(&attr, -1, a->cpus.at[0], t, prog_fd, cookie, a, err);
}

static int attach_counter(const struct probe_target *t, int prog_fd, uint64_t cookie,
			  struct attached *a, struct spur_error *err)
{
	const struct perf_counter *c = perf_counter_named(t->type, t->event);
	struct perf_event_attr attr = {
		.type = t->type == PT_SOFTWARE ? PERF_TYPE_SOFTWARE : PERF_TYPE_HARDWARE,
		.config = c ? c->config : 0,
		.sample_period = t->count,
		.disabled = 1,
	};

	if (!c)
		return attach_failed(t, -ENOENT, err);
	return attach_everywhere(&attr, t, prog_fd, cookie, a, err);
}

/* ---- watchpoints ---- */

static uint32_t watch_type(const char *mode)
{
	return (strchr(mode, 'r') ? HW_BREAKPOINT_R : 0) |
	       (strchr(mode, 'w') ? HW_BREAKPOINT_W : 0) |
	       (strchr(mode, 'x') ? HW_BREAKPOINT_X : 0);
}

/* Threads that a process has now; those they start inherit the event. */
static int watch_threads(struct perf_event_attr *attr, const struct probe_target *t, int prog_fd,
			 uint64_t cookie, struct attached *a, struct spur_error *err)
{
	struct dirent *entry;
	char path[64];
	size_t seen = 0;
	int ret = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)t->pid);
	d = opendir(path);
	if (!d)
		return attach_failed(t, -ESRCH, err);
	while (!ret && (entry = readdir(d))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		ret = attach_on(attr, (pid_t)strtol(entry->d_name, NULL, 10), -1, t, prog_fd,
				cookie, a, err);
		seen++;
	}
	closedir(d);
	return seen ? ret : attach_failed(t, -ESRCH, err);
}

void attach_unwatch(struct attached *a, uint64_t address)
{
	vec_each (f, &a->fds)
		if (address && f->address == address)
			ioctl(f->fd, PERF_EVENT_IOC_DISABLE, 0);
}

static int attach_watchpoint(const struct probe_target *t, int prog_fd, uint64_t cookie,
			     struct attached *a, struct spur_error *err)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.bp_type = watch_type(t->mode),
		.bp_addr = t->address,
		.bp_len = t->length,
		.sample_period = 1,
		.disabled = 1,
	};

	/* The kernel wants that length for instructions, whatever theirs is. */
	if (attr.bp_type == HW_BREAKPOINT_X)
		attr.bp_len = sizeof(long);
	if (!t->pid)
		return attach_everywhere(&attr, t, prog_fd, cookie, a, err);
	attr.inherit = 1;
	return watch_threads(&attr, t, prog_fd, cookie, a, err);
}

/*
 * Attaching to tracepoints and functions. A program of a tracepoint, kprobe or uprobe runs on all
 * CPUs and for all processes wherever its event was opened, so that one event on one CPU will do;
 * and it runs whether that event is enabled or not.
 */

/* An event that needs only one CPU: the current one, which is online. */
static int attach_once(struct perf_event_attr *attr, pid_t pid, const struct probe_target *t,
		       int prog_fd, uint64_t cookie, struct attached *a, struct spur_error *err)
{
	const int here = sched_getcpu(), cpu = here < 0 ? 0 : here;
	const int event = sys_perf_event_open(attr, pid ? pid : -1, pid ? -1 : cpu, -1, 0);

	if (event < 0)
		return attach_failed(t, event, err);
	return attach_event(event, prog_fd, cookie, false, a, t, err);
}

/* ---- tracepoints ---- */

static int read_number(const char *path, uint64_t *value)
{
	char text[32];
	const int n = file_read_text(AT_FDCWD, path, text, sizeof(text));

	if (n <= 0)
		return n ? n : -EINVAL;
	*value = strtoull(text, NULL, 10);
	return 0;
}

static int attach_tracepoint(const struct probe_target *t, int prog_fd, uint64_t cookie,
			     struct attached *a, struct spur_error *err)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .sample_period = 1, .disabled = 1};
	uint64_t id;
	char path[768];
	int ret;

	if (snprintf(path, sizeof(path), "%s/events/%s/%s/id",
		     a->tracefs ? a->tracefs : "/sys/kernel/tracing", t->system,
		     t->event) >= (int)sizeof(path))
		return attach_failed(t, -ENAMETOOLONG, err);
	ret = read_number(path, &id);
	if (ret)
		return attach_failed(t, ret, err);
	attr.config = id;
	return attach_once(&attr, 0, t, prog_fd, cookie, a, err);
}

struct raw_open {
	uint64_t name;
	uint32_t prog_fd, pad;
	uint64_t cookie;
};

static int raw_open(const char *name, int prog_fd, uint64_t cookie)
{
	const struct raw_open r = {
		.name = (uint64_t)(uintptr_t)name,
		.prog_fd = (uint32_t)prog_fd,
		.cookie = cookie,
	};
	int ret = sys_bpf(BPF_RAW_TRACEPOINT_OPEN, &r,
			  cookie ? sizeof(r) : offsetof(struct raw_open, cookie));

	return cookie && (ret == -E2BIG || ret == -EINVAL) ? -EOPNOTSUPP : ret;
}

static int attach_raw(const struct probe_target *t, int prog_fd, uint64_t cookie,
		      struct attached *a, struct spur_error *err)
{
	/* A program that was loaded for one tracepoint knows it itself. */
	int link = raw_open(t->typed ? NULL : t->event, prog_fd, cookie);

	return link < 0 ? attach_failed(t, link, err)
			: attached_add(a, (struct attached_fd){.fd = link, .quick = true}, err);
}

/* The program was loaded for its function. */
static int attach_trampoline(const struct probe_target *t, int prog_fd, uint64_t cookie,
			     struct attached *a, struct spur_error *err)
{
	const struct link_request r = {
		.prog_fd = (uint32_t)prog_fd,
		.attach_type = t->type == PT_FENTRY ? BPF_TRACE_FENTRY : BPF_TRACE_FEXIT,
		.tracing.cookie = cookie,
	};
	int link = cookie ? sys_bpf(BPF_LINK_CREATE, &r,
				    offsetof(struct link_request, tracing) + sizeof(r.tracing))
			  : raw_open(NULL, prog_fd, 0);

	if (cookie && (link == -EINVAL || link == -E2BIG))
		link = -EOPNOTSUPP;
	return link < 0 ? attach_failed(t, link, err)
			: attached_add(a, (struct attached_fd){.fd = link}, err);
}

/* ---- functions ---- */

/* The type of a kind of probe for perf_event_open(). */
static int pmu_type(const char *name, uint32_t *type, struct spur_error *err)
{
	uint64_t value;
	char path[128];
	int ret;

	if (*type)
		return 0;
	snprintf(path, sizeof(path), PMU_DIR "/%s/type", name);
	ret = read_number(path, &value);
	if (ret)
		return error_set(err, -ENODEV, "this kernel has no %ss (%s is not there)", name,
				 path);
	*type = (uint32_t)value;
	return 0;
}

static int attach_kprobe(const struct probe_target *t, int prog_fd, uint64_t cookie,
			 struct attached *a, struct spur_error *err)
{
	struct perf_event_attr attr = {.sample_period = 1, .disabled = 1};
	struct spur_error why = {0};
	char name[512];
	int ret = pmu_type("kprobe", &a->kprobe_pmu, err);

	if (ret)
		return ret;
	attr.type = a->kprobe_pmu;
	attr.config = t->type == PT_KRETPROBE;
	if (t->symbol) {
		if (snprintf(name, sizeof(name), "%s%s%s", t->module ? t->module : "",
			     t->module ? ":" : "", t->symbol) >= (int)sizeof(name))
			return attach_failed(t, -ENAMETOOLONG, err);
		attr.kprobe_func = (uint64_t)(uintptr_t)name;
		attr.probe_offset = t->offset;
	} else {
		attr.kprobe_addr = t->address;
	}
	ret = attach_once(&attr, 0, t, prog_fd, cookie, a, &why);
	/* For functions that must not be traced, the error is that of a wrong argument. */
	if (ret == -EINVAL)
		return attach_failed(t, -EADDRNOTAVAIL, err);
	return ret < 0 ? error_set(err, ret, "%s", why.text) : ret;
}

static int attach_uprobe(const struct probe_target *t, int prog_fd, uint64_t cookie,
			 struct attached *a, struct spur_error *err)
{
	struct perf_event_attr attr = {.sample_period = 1, .disabled = 1};
	int ret = pmu_type("uprobe", &a->uprobe_pmu, err);

	if (ret)
		return ret;
	if (t->semaphore > UINT32_MAX)
		return error_set(err, -EOVERFLOW,
				 "cannot attach to %s: its semaphore is too far into the file",
				 t->name);
	attr.type = a->uprobe_pmu;
	attr.config = (uint64_t)(t->type == PT_URETPROBE) | t->semaphore << 32;
	attr.uprobe_path = (uint64_t)(uintptr_t)t->path;
	attr.probe_offset = t->offset;
	return attach_once(&attr, t->pid, t, prog_fd, cookie, a, err);
}

/* ---- all kinds ---- */

typedef int (*attach_fn)(const struct probe_target *t, int prog_fd, uint64_t cookie,
			 struct attached *a, struct spur_error *err);

static const struct {
	attach_fn attach;
	uint32_t prog_type, expected_type;
} kinds[PT_TYPES] = {
	[PT_INTERVAL] = {attach_timer, BPF_PROG_TYPE_PERF_EVENT},
	[PT_PROFILE] = {attach_timer, BPF_PROG_TYPE_PERF_EVENT},
	[PT_TRACEPOINT] = {attach_tracepoint, BPF_PROG_TYPE_TRACEPOINT},
	[PT_RAWTRACEPOINT] = {attach_raw, BPF_PROG_TYPE_RAW_TRACEPOINT},
	[PT_KPROBE] = {attach_kprobe, BPF_PROG_TYPE_KPROBE},
	[PT_KRETPROBE] = {attach_kprobe, BPF_PROG_TYPE_KPROBE},
	[PT_FENTRY] = {attach_trampoline, BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY},
	[PT_FEXIT] = {attach_trampoline, BPF_PROG_TYPE_TRACING, BPF_TRACE_FEXIT},
	[PT_UPROBE] = {attach_uprobe, BPF_PROG_TYPE_KPROBE},
	[PT_URETPROBE] = {attach_uprobe, BPF_PROG_TYPE_KPROBE},
	[PT_USDT] = {attach_uprobe, BPF_PROG_TYPE_KPROBE},
	[PT_SOFTWARE] = {attach_counter, BPF_PROG_TYPE_PERF_EVENT},
	[PT_HARDWARE] = {attach_counter, BPF_PROG_TYPE_PERF_EVENT},
	[PT_WATCHPOINT] = {attach_watchpoint, BPF_PROG_TYPE_PERF_EVENT},
	[PT_ITER] = {NULL, BPF_PROG_TYPE_TRACING, BPF_TRACE_ITER},
};

bool attach_needs(const struct probe_target *t, bool multi, struct attach_needs *needs)
{
	*needs = (struct attach_needs){
		.prog_type = kinds[t->type].prog_type,
		.expected_type = kinds[t->type].expected_type,
	};
	if (t->typed) {
		needs->prog_type = BPF_PROG_TYPE_TRACING;
		needs->expected_type = BPF_TRACE_RAW_TP;
		needs->btf_tracepoint = t->event;
	} else if (t->bpf_prog) {
		needs->bpf_prog = t->bpf_prog;
		needs->bpf_type = t->bpf_type;
	} else if (needs->prog_type == BPF_PROG_TYPE_TRACING) {
		needs->btf_function = t->symbol;
		needs->btf_module = t->module;
	}
	if (multi && needs->prog_type == BPF_PROG_TYPE_KPROBE)
		needs->expected_type = t->type == PT_KPROBE || t->type == PT_KRETPROBE
					       ? ATTACH_KPROBE_MULTI
					       : ATTACH_UPROBE_MULTI;
	return needs->prog_type != 0;
}

int attach_probe(const struct probe_target *t, int prog_fd, uint64_t cookie, struct attached *a,
		 struct spur_error *err)
{
	if (!kinds[t->type].attach)
		return error_set(err, -EINVAL, "%s is no probe that a program is attached to",
				 t->name);
	return kinds[t->type].attach(t, prog_fd, cookie, a, err);
}

int attach_iterate(const struct probe_target *t, int prog_fd,
		   int (*each)(void *arg, const char *text, size_t len), void *arg,
		   struct spur_error *err)
{
	int ret, link = sys_link_create(prog_fd, 0, BPF_TRACE_ITER), fd;
	char text[4096];
	ssize_t n;

	if (link < 0)
		return attach_failed(t, link, err);
	fd = sys_iter_create(link);
	ret = fd < 0 ? attach_failed(t, fd, err) : 0;
	while (!ret && (n = read(fd, text, sizeof(text))) != 0) {
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			ret = error_sys(err, -errno, "cannot read %s", t->name);
		else if (n > 0 && each)
			ret = each(arg, text, (size_t)n);
	}
	if (fd >= 0)
		close(fd);
	close(link);
	return ret;
}

/* One program at many functions: the links that newer kernels have for it. */

static int multi_code(int ret)
{
	switch (ret) {
	case -EINVAL:
	case -E2BIG:
	case -ENOTSUP: return -EOPNOTSUPP;
	case -ESRCH: return -ENOENT;
	default: return ret;
	}
}

static int finish(int link, const struct probe_target *t, size_t n, struct attached *a,
		  struct spur_error *err)
{
	link = link < 0 ? multi_code(link) : link;
	if (link == -EOPNOTSUPP)
		return error_set(err, link, "this kernel cannot attach to %zu functions at once",
				 n);
	return link < 0 ? attach_failed(t, link, err)
			: attached_add(a, (struct attached_fd){.fd = link}, err);
}

/* By addresses, or by names where one is not known: a name may be that of several functions. */
static int kernel_multi(const struct probe_target *const *t, size_t n, const uint64_t *cookies,
			int prog_fd, uint32_t type, struct attached *a, struct spur_error *err)
{
	uint64_t *where = calloc(n, sizeof(*where));
	struct link_request r = {
		.prog_fd = (uint32_t)prog_fd,
		.attach_type = type,
		.kprobe_multi = {.flags = t[0]->type == PT_KRETPROBE ? ATTACH_MULTI_RETURN : 0,
				 .count = (uint32_t)n,
				 .cookies = (uint64_t)(uintptr_t)cookies},
	};
	bool known = true;
	int ret;

	if (!where)
		return error_set(err, -ENOMEM, "out of memory for probes");
	for (size_t i = 0; i < n; i++)
		known &= t[i]->address != 0;
	for (size_t i = 0; i < n; i++)
		where[i] = known ? t[i]->address : (uint64_t)(uintptr_t)t[i]->symbol;
	if (known)
		r.kprobe_multi.addresses = (uint64_t)(uintptr_t)where;
	else
		r.kprobe_multi.symbols = (uint64_t)(uintptr_t)where;
	ret = finish(sys_bpf(BPF_LINK_CREATE, &r,
			     offsetof(struct link_request, kprobe_multi) + sizeof(r.kprobe_multi)),
		     t[0], n, a, err);
	free(where);
	return ret;
}

static int user_multi(const struct probe_target *const *t, size_t n, const uint64_t *cookies,
		      int prog_fd, struct attached *a, struct spur_error *err)
{
	uint64_t *offsets = calloc(2 * n, sizeof(*offsets)), *semaphores = offsets + n;
	bool any_semaphore = false;
	struct link_request r = {
		.prog_fd = (uint32_t)prog_fd,
		.attach_type = ATTACH_UPROBE_MULTI,
		.uprobe_multi = {.path = (uint64_t)(uintptr_t)t[0]->path,
				 .offsets = (uint64_t)(uintptr_t)offsets,
				 .cookies = (uint64_t)(uintptr_t)cookies,
				 .count = (uint32_t)n,
				 .flags = t[0]->type == PT_URETPROBE ? ATTACH_MULTI_RETURN : 0,
				 .pid = (uint32_t)t[0]->pid},
	};
	int ret;

	if (!offsets)
		return error_set(err, -ENOMEM, "out of memory for probes");
	for (size_t i = 0; i < n; i++) {
		offsets[i] = t[i]->offset;
		semaphores[i] = t[i]->semaphore;
		any_semaphore |= t[i]->semaphore != 0;
	}
	if (any_semaphore)
		r.uprobe_multi.ref_ctr_offsets = (uint64_t)(uintptr_t)semaphores;
	ret = finish(sys_bpf(BPF_LINK_CREATE, &r,
			     offsetof(struct link_request, uprobe_multi) + sizeof(r.uprobe_multi)),
		     t[0], n, a, err);
	free(offsets);
	return ret;
}

/* Whether a probe fits one link with the first: functions by name, or places in one file. */
static bool fits(const struct probe_target *first, const struct probe_target *t)
{
	const bool kernel = t->type == PT_KPROBE || t->type == PT_KRETPROBE;

	if (t->type != first->type || t->pid != first->pid)
		return false;
	return kernel ? t->symbol && !t->offset
		      : t->path && first->path && !strcmp(t->path, first->path);
}

static bool is_user(const struct probe_target *t)
{
	return t->type == PT_UPROBE || t->type == PT_URETPROBE || t->type == PT_USDT;
}

bool attach_can_multi(const struct probe_target *t)
{
	return is_user(t) || t->type == PT_KPROBE || t->type == PT_KRETPROBE;
}

static int check_all(const struct probe_target *const *t, size_t n, struct spur_error *err)
{
	if (!n || n > UINT32_MAX)
		return error_set(err, -EINVAL, "no functions to attach to");
	if (!attach_can_multi(t[0]))
		return error_set(err, -EOPNOTSUPP, "%s is no function", t[0]->name);
	for (size_t i = 0; i < n; i++)
		if (!fits(t[0], t[i]))
			return error_set(err, -EOPNOTSUPP, "%s and %s need programs of their own",
					 t[0]->name, t[i]->name);
	return 0;
}

int attach_multi(const struct probe_target *const *t, size_t n, const uint64_t *cookies,
		 int prog_fd, struct attached *a, struct spur_error *err)
{
	const int rc = check_all(t, n, err);

	if (rc < 0)
		return rc;
	return is_user(t[0]) ? user_multi(t, n, cookies, prog_fd, a, err)
			     : kernel_multi(t, n, cookies, prog_fd, ATTACH_KPROBE_MULTI, a, err);
}

int attach_session(const struct probe_target *const *t, size_t n, int prog_fd, struct attached *a,
		   struct spur_error *err)
{
	const int rc = check_all(t, n, err);

	return rc < 0 ? rc : kernel_multi(t, n, NULL, prog_fd, ATTACH_KPROBE_SESSION, a, err);
}

/*
 * Detaching. The last close() of a tracepoint's, kprobe's or uprobe's event waits until no CPU can
 * run its program any more: some 80 ms for each. So child processes inherit the descriptors, wait
 * until this process has closed its own (a pipe shows that), and exit.
 *
 * They are not our children (their parent exits at once), and have no other descriptors: a reader
 * that waits for the end of our output does not wait for them.
 */

#define MAX_PROCESSES 8
#define EACH	      8	    /* descriptors that one more process is worth */
#define OLD_KERNEL_FD 65536 /* as many are closed where there is no close_range() */

static void close_between(unsigned int from, unsigned int to)
{
	if (from > to)
		return;
#ifdef SYS_close_range
	if (!syscall(SYS_close_range, from, to, 0))
		return;
#endif
	for (unsigned int fd = from; fd <= to && fd < OLD_KERNEL_FD; fd++)
		close((int)fd);
}

/* Closes everything but what is listed, in order. */
static void close_others(const struct attached *a)
{
	unsigned int next = 0;

	for (size_t i = 0; i < a->fds.n; i++) {
		unsigned int fd = (unsigned int)a->fds.at[i].fd;

		if (fd > next)
			close_between(next, fd - 1);
		next = fd + 1;
	}
	close_between(next, ~0u);
}

/* Keeps each step'th descriptor, and ends when the pipe does: it is then that they are closed. */
static void __attribute__((noreturn))
keep_and_end(const struct attached *a, size_t first, size_t step, int pipe_end)
{
	char none;

	close_others(a);
	for (size_t i = 0; i < a->fds.n; i++)
		if (i % step != first && a->fds.at[i].fd != pipe_end)
			close(a->fds.at[i].fd);
	while (read(pipe_end, &none, 1) < 0 && errno == EINTR)
		;
	_exit(0);
}

static int by_fd(const void *a, const void *b)
{
	const struct attached_fd *x = a, *y = b;

	return (x->fd > y->fd) - (x->fd < y->fd);
}

/* Starts those processes; they inherit the reading end of the pipe, too. */
static void start_processes(const struct attached *a, int pipe_end)
{
	size_t processes = 1 + a->fds.n / EACH;
	int status;
	pid_t pid;

	if (processes > MAX_PROCESSES)
		processes = MAX_PROCESSES;
	pid = fork();
	if (!pid) {
		for (size_t i = 0; i < processes; i++)
			if (!fork())
				keep_and_end(a, i, processes, pipe_end);
		_exit(0);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
}

/* If that fails, this process itself waits in close(). */
static void close_slowly(struct attached *a)
{
	struct attached_fd *slot;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		ends[1] = -1;
	slot = ends[1] >= 0 ? vec_push(&a->fds) : NULL;
	if (slot) {
		slot->fd = ends[0];
		qsort(a->fds.at, a->fds.n, sizeof(*a->fds.at), by_fd);
		start_processes(a, ends[0]);
	} else if (ends[1] >= 0) {
		close(ends[0]);
	}
	vec_each (f, &a->fds)
		close(f->fd);
	if (ends[1] >= 0)
		close(ends[1]);
}

void attach_end(struct attached *a)
{
	size_t slow = 0;

	vec_each (f, &a->fds)
		if (f->samples)
			ioctl(f->fd, PERF_EVENT_IOC_DISABLE, 0);
	for (size_t i = 0; i < a->fds.n; i++) {
		if (a->fds.at[i].quick)
			close(a->fds.at[i].fd);
		else
			a->fds.at[slow++] = a->fds.at[i];
	}
	a->fds.n = slow;
	if (slow)
		close_slowly(a);
	vec_free(&a->fds);
	vec_free(&a->cpus);
}
