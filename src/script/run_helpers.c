// SPDX-License-Identifier: GPL-2.0-or-later
/* The helpers of programs that the executor runs. They return what the kernel's helpers would. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "event/names.h"
#include "script/run_file.h"
#include "scan/trace.h"

#define COMM	     16
#define RECORD_LIMIT (4u << 20)

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
	struct timespec t;

	if (script_of(vm)->opt.trace || script_of(vm)->now.ns)
		return script_of(vm)->now.ns;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
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
	ssize_t n;
	int fd;

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
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, to, b - 1);
	to[n > 0 ? strcspn(to, "\n") : 0] = '\0';
	if (fd >= 0)
		close(fd);
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

static bool make_room(struct script *s, size_t size)
{
	uint8_t *more;

	if (size <= s->record_size)
		return true;
	more = size <= RECORD_LIMIT ? realloc(s->record, size) : NULL;
	if (!more)
		return false;
	s->record = more;
	s->record_size = size;
	return true;
}

HELPER(help_output)
{
	struct script *s = script_of(vm);

	run_record(s, pointer(b), c);
	return 0;
}

/* There is only one reserved record: programs submit it before they reserve another. */
HELPER(help_reserve)
{
	struct script *s = script_of(vm);

	if (!make_room(s, b + 8))
		return 0;
	memcpy(s->record, &b, 8);
	memset(s->record + 8, 0, b);
	return (uint64_t)(uintptr_t)(s->record + 8);
}

HELPER(help_submit)
{
	struct script *s = script_of(vm);
	uint64_t size;

	memcpy(&size, s->record, 8);
	run_record(s, s->record + 8, size);
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
