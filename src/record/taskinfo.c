// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Learning who is who: /proc, and the events of tasks. What they mean for a task is found out when
 * it is written, in the order of time: the buffers of CPUs are read one after the other.
 */
#include "record/taskinfo.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/vec.h"
#include "record/taskinfo_parts.h"

#define MAX_CHANGES  (1u << 18)
#define TEXT_LIMIT   (256u << 20)
#define MOST_KB	     256u /* of the buffer of a CPU */
#define LEAST_KB     32u
#define ALL_KB	     8192u
#define STAT_CAP     1024
#define PATH_CAP     64
#define FIRST_PID_NS 0xEFFFFFFCu /* the inode of the namespace that the trace's pids belong to */
#define INSTANCE     "names"	 /* of its name */
#define WQ_WORKER    0x20u	 /* of a task's flags */

int taskinfo_new(const struct tracefs *fs, struct taskinfo **out, struct spur_error *err)
{
	struct taskinfo *n = calloc(1, sizeof(*n));

	*out = n;
	if (!n)
		return error_set(err, -ENOMEM, "out of memory");
	n->fs = fs;
	n->wake = -1;
	buf_init(&n->cmdlines, TEXT_LIMIT);
	buf_init(&n->option, TEXT_LIMIT);
	return 0;
}

void taskinfo_free(struct taskinfo *n)
{
	if (!n)
		return;
	if (n->wake >= 0)
		close(n->wake);
	side_free(&n->side);
	task_table_free(&n->base);
	vec_free(&n->changes);
	buf_free(&n->cmdlines);
	buf_free(&n->option);
	free(n);
}

/* ---- events ---- */

static const struct {
	const char *system, *event, *name;
} events[NR_CHANGES] = {
	[CHANGE_NEW] = {"task", "task_newtask", "comm"},
	[CHANGE_NAME] = {"task", "task_rename", "newcomm"},
	[CHANGE_EXEC] = {"sched", "sched_process_exec", NULL},
	[CHANGE_EXIT] = {"sched", "sched_process_exit", NULL},
};

static void take_record(void *arg, const struct spur_record *r)
{
	struct taskinfo *n = arg;
	const struct events *ev = n->side.events;
	const struct event *type = events_of_record(ev, r);
	struct change c = {.ts = r->ts, .order = n->nr_read}, *slot;
	const uint8_t *name;
	uint64_t number;
	size_t len = 0;

	while (c.kind < NR_CHANGES && type != n->types[c.kind])
		c.kind++;
	if (c.kind == NR_CHANGES || !type)
		return;
	/* Newer kernels leave out the pid of task_rename: it is that of who does it. */
	c.other = c.pid = events_record_pid(ev, r);
	if (n->pid[c.kind] && field_number(ev, n->pid[c.kind], r, &number))
		c.pid = (int32_t)number;
	if (c.kind == CHANGE_EXEC && field_number(ev, n->old_pid, r, &number))
		c.other = (int32_t)number;
	if (c.kind == CHANGE_NEW)
		field_number(ev, n->flags, r, &c.flags);
	name = n->name[c.kind] ? field_bytes(ev, n->name[c.kind], r, &len) : NULL;
	if (name)
		memcpy(c.name, name, len < TASK_COMM ? len : TASK_COMM - 1);
	slot = c.pid > 0 ? vec_push(&n->changes) : NULL;
	if (!slot)
		return;
	*slot = c;
	n->nr_read++;
	n->latest = c.ts > n->latest ? c.ts : n->latest;
}

static int find_fields(struct taskinfo *n, struct spur_error *err)
{
	for (int i = 0; i < NR_CHANGES; i++) {
		n->types[i] = side_add(&n->side, events[i].system, events[i].event, err);
		if (!n->types[i])
			return err && err->code ? err->code : -ENOENT;
	}
	return 0;
}

static int know_fields(struct taskinfo *n, struct spur_error *err)
{
	for (int i = 0; i < NR_CHANGES; i++) {
		if (event_ready(n->types[i]) == EVENT_BROKEN)
			return error_set(err, -EBADMSG, "the format of %s cannot be read",
					 events[i].event);
		n->pid[i] = event_field_find(n->types[i], "pid");
		if (events[i].name)
			n->name[i] = event_field_find(n->types[i], events[i].name);
	}
	n->flags = event_field_find(n->types[CHANGE_NEW], "clone_flags");
	n->old_pid = event_field_find(n->types[CHANGE_EXEC], "old_pid");
	return n->pid[CHANGE_NEW] && n->pid[CHANGE_EXEC] && n->pid[CHANGE_EXIT] && n->flags &&
			       n->old_pid
		       ? 0
		       : error_set(err, -ENOTSUP, "events of tasks lack fields on this kernel");
}

/* Without buffer_percent it would be readable with every event. */
static void wait_for_half(struct taskinfo *n)
{
	struct epoll_event e = {.events = EPOLLIN};

	if (tracefs_write(n->fs, n->side.instance, "buffer_percent", TRACEFS_REPLACE, "50", NULL) <
	    0)
		return;
	n->wake = epoll_create1(EPOLL_CLOEXEC);
	for (uint32_t i = 0; n->wake >= 0 && i < n->side.nr_fds; i++)
		epoll_ctl(n->wake, EPOLL_CTL_ADD, n->side.fds[i], &e);
}

int taskinfo_watch(struct taskinfo *n, struct undo *undo, const char *clock, const uint32_t *cpus,
		   uint32_t nr_cpus, struct spur_error *err)
{
	uint32_t kb = ALL_KB / (nr_cpus ? nr_cpus : 1);
	int rc;

	if (!tracefs_has(n->fs, "", "instances"))
		return error_set(err, -ENOENT, "the kernel has no instances");
	kb = kb > MOST_KB ? MOST_KB : kb < LEAST_KB ? LEAST_KB : kb;
	rc = side_make(&n->side, n->fs, undo, INSTANCE, clock, kb, err);
	if (rc == 0)
		rc = find_fields(n, err);
	if (rc == 0)
		rc = side_open(&n->side, cpus, nr_cpus, err);
	if (rc == 0)
		rc = know_fields(n, err);
	if (rc < 0) {
		side_free(&n->side);
		return rc;
	}
	n->watching = true;
	wait_for_half(n);
	return 0;
}

void taskinfo_show(const struct tracefs *fs, const char *clock, struct buf *to)
{
	struct buf path;

	buf_init(&path, PATH_MAX);
	buf_printf(&path, "%s/instances/spur-PID-" INSTANCE, fs->path);
	buf_printf(to, "mkdir %s\n", buf_str(&path));
	buf_printf(to, "echo %s > %s/trace_clock\n", clock, path.data);
	buf_printf(to, "echo %u > %s/buffer_size_kb\n", MOST_KB, path.data);
	for (int i = 0; i < NR_CHANGES; i++)
		buf_printf(to, "echo 1 > %s/events/%s/%s/enable\n", path.data, events[i].system,
			   events[i].event);
	buf_free(&path);
}

bool taskinfo_watching(const struct taskinfo *n)
{
	return n->watching;
}

int taskinfo_event(const struct taskinfo *n)
{
	return n->wake;
}

void taskinfo_read(struct taskinfo *n)
{
	if (!n->watching)
		return;
	n->lost += side_read(&n->side, take_record, n);
	if (n->changes.n <= MAX_CHANGES)
		return;
	taskinfo_sort(n, 0);
	taskinfo_fold(n, n->changes.at[n->changes.n / 2].ts);
}

void taskinfo_rotate(struct taskinfo *n, uint64_t oldest)
{
	const uint64_t until = oldest < n->begun[1] ? oldest : n->begun[1];

	taskinfo_read(n);
	taskinfo_sort(n, 0);
	taskinfo_fold(n, until);
	n->begun[1] = n->begun[0];
	n->begun[0] = n->latest;
}

void taskinfo_each_new(struct taskinfo *n, void (*fn)(void *arg, int pid, const char *name),
		       void *arg)
{
	struct task t;

	taskinfo_read(n);
	taskinfo_sort(n, n->nr_told);
	for (; n->nr_told < n->changes.n; n->nr_told++) {
		const struct change *c = &n->changes.at[n->nr_told];

		if (c->kind != CHANGE_NEW && c->kind != CHANGE_NAME)
			continue;
		task_set_name(&t, c->name, strlen(c->name));
		fn(arg, c->pid, t.name);
	}
}

/* ---- /proc ---- */

bool taskinfo_pids_are_ours(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 && st.st_ino == FIRST_PID_NS;
}

/* Reads a file below a folder as a string; its length, or -1. */
static ssize_t read_text(int folder, const char *file, char *text, size_t cap)
{
	int fd = openat(folder, file, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, text, cap - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n;
}

/* Only tasks that nothing is known of: events know better than a look that comes after them. */
static struct task *add_seen(struct taskinfo *n, int32_t pid, const char *name, size_t len)
{
	struct task *t = task_table_find(&n->base, pid) ? NULL : task_table_get(&n->base, pid);

	if (t)
		task_set_name(t, name, len);
	return t;
}

/* /proc says what a kernel's worker is doing, after its name: "kworker/0:1-events". */
static size_t worker_len(const char *name, size_t len)
{
	static const char own[] = "kworker/";
	const size_t n = sizeof(own) - 1;

	if (len <= n || memcmp(name, own, n) != 0 || name[n] == 'R')
		return len;
	for (size_t i = n; i < len; i++)
		if (name[i] == '-' || name[i] == '+')
			return i;
	return len;
}

static void look_at_threads(struct taskinfo *n, int proc, int32_t pid, int32_t ppid)
{
	char path[PATH_CAP], name[STAT_CAP];
	struct dirent *d;
	DIR *dir;
	int fd;

	snprintf(path, sizeof(path), "%d/task", (int)pid);
	fd = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((d = readdir(dir))) {
		const int32_t tid = (int32_t)strtol(d->d_name, NULL, 10);
		struct task *t;

		snprintf(path, sizeof(path), "%d/comm", (int)tid);
		if (tid <= 0 || tid == pid || read_text(fd, path, name, sizeof(name)) <= 0)
			continue;
		t = add_seen(n, tid, name, strcspn(name, "\n"));
		if (t) {
			t->tgid = pid;
			t->ppid = ppid;
		}
	}
	closedir(dir);
}

/* The text of /proc/PID/stat: the name is in parentheses and may contain any. */
static void look_at(struct taskinfo *n, int proc, int32_t pid)
{
	char path[PATH_CAP], text[STAT_CAP], *name, *end;
	unsigned int flags;
	int ppid, threads;
	struct task *t;
	size_t len;

	snprintf(path, sizeof(path), "%d/stat", (int)pid);
	if (read_text(proc, path, text, sizeof(text)) <= 0)
		return;
	name = strchr(text, '(');
	end = strrchr(text, ')');
	if (!name || !end || end < name ||
	    sscanf(end + 1, " %*c %d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d",
		   &ppid, &flags, &threads) != 3)
		return;
	len = (size_t)(end - ++name);
	t = add_seen(n, pid, name, flags & WQ_WORKER ? worker_len(name, len) : len);
	if (t) {
		t->tgid = pid;
		t->ppid = ppid;
	}
	if (threads > 1)
		look_at_threads(n, proc, pid, ppid);
}

void taskinfo_look(struct taskinfo *n)
{
	DIR *dir = taskinfo_pids_are_ours() ? opendir("/proc") : NULL;
	struct dirent *d;

	while (dir && (d = readdir(dir)))
		if (d->d_name[0] >= '1' && d->d_name[0] <= '9')
			look_at(n, dirfd(dir), (int32_t)strtol(d->d_name, NULL, 10));
	if (dir)
		closedir(dir);
	n->lost_seen = n->lost;
}

void taskinfo_command(struct taskinfo *n, pid_t pid, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct task *t = taskinfo_pids_are_ours() ? task_table_find(&n->base, pid) : NULL;

	path = slash ? slash + 1 : path;
	if (t)
		task_set_name(t, path, strlen(path));
}
