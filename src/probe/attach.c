// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Attaching to tracepoints and functions. A program of a tracepoint, kprobe or uprobe runs on all
 * CPUs and for all processes wherever its event was opened, so that one event on one CPU will do;
 * and it runs whether that event is enabled or not.
 */
#include "probe/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/error.h"
#include "base/vec.h"
#include "code/sys.h"
#include "probe/attach_parts.h"

#define PMU_DIR "/sys/bus/event_source/devices"

/* ---- what is common -------------------------------------------------------------------- */

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

int attach_failed(const struct probe_target *t, int code, struct spur_error *err)
{
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].code == code)
			return error_set(err, code, "cannot attach to %s: %s", t->name,
					 reasons[i].words);
	return error_sys(err, code, "cannot attach to %s", t->name);
}

int attached_add(struct attached *a, struct attached_fd fd, struct spur_error *err)
{
	struct attached_fd *slot = vec_push(&a->fds);

	if (!slot) {
		close(fd.fd);
		return error_set(err, -ENOMEM, "out of memory for probes");
	}
	*slot = fd;
	return 0;
}

/* ---- programs at events ---------------------------------------------------------------- */

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

int attach_event(int event, int prog_fd, uint64_t cookie, bool samples, struct attached *a,
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
			/* The link holds the event. */
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

/* An event that one CPU is enough for: on this one, which is online. */
static int attach_once(struct perf_event_attr *attr, pid_t pid, const struct probe_target *t,
		       int prog_fd, uint64_t cookie, struct attached *a, struct spur_error *err)
{
	const int here = sched_getcpu(), cpu = here < 0 ? 0 : here;
	const int event = sys_perf_event_open(attr, pid ? pid : -1, pid ? -1 : cpu, -1, 0);

	if (event < 0)
		return attach_failed(t, event, err);
	return attach_event(event, prog_fd, cookie, false, a, t, err);
}

/* ---- tracepoints ----------------------------------------------------------------------- */

static int read_number(const char *path, uint64_t *value)
{
	char text[32] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return n ? -errno : -EINVAL;
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
	/* A program that was loaded for one tracepoint says itself which. */
	int link = raw_open(t->typed ? NULL : t->event, prog_fd, cookie);

	return link < 0 ? attach_failed(t, link, err)
			: attached_add(a, (struct attached_fd){.fd = link, .quick = true}, err);
}

/* The program itself says which function, since it was loaded for it. */
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

/* ---- functions ------------------------------------------------------------------------- */

/* The type that perf_event_open() knows a kind of probe by. */
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
	/* Functions that must not be traced are refused as if the question were wrong. */
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

/* ---- all kinds ------------------------------------------------------------------------- */

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
