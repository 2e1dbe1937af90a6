// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Attaching to what samples: timers, counters, watchpoints. These are events of their own on each
 * CPU, and their programs stop when they are disabled.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/vec.h"
#include "code/sys.h"
#include "probe/attach_parts.h"
#include "probe/probes_perf.h"

#define CPUS_ONLINE "/sys/devices/system/cpu/online"
#define MAX_CPU	    65536

/* ---- CPUs ------------------------------------------------------------------------------ */

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

int attached_cpus(struct attached *a, struct spur_error *err)
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

/* ---- timers and counters --------------------------------------------------------------- */

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

int attach_timer(const struct probe_target *t, int prog_fd, uint64_t cookie, struct attached *a,
		 struct spur_error *err)
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

int attach_counter(const struct probe_target *t, int prog_fd, uint64_t cookie, struct attached *a,
		   struct spur_error *err)
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

/* ---- watchpoints ----------------------------------------------------------------------- */

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

int attach_watchpoint(const struct probe_target *t, int prog_fd, uint64_t cookie,
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
