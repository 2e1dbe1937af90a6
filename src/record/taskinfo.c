// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Collects names and relations of tasks from /proc and from events, and writes them into files.
 * Events are sorted by time and applied when a file is written, because the CPUs' buffers are read
 * one after the other.
 */
#include "record/taskinfo.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/vec.h"
#include "dat/dat.h"
#include "record/side.h"

/* ---- the table of tasks ---- */

struct task *task_table_find(const struct task_table *t, int32_t pid)
{
	const size_t place = (size_t)(uintptr_t)map_get(&t->places, (uint32_t)pid);

	return place ? &t->at[place - 1] : NULL;
}

struct task *task_table_get(struct task_table *t, int32_t pid)
{
	struct task *task = task_table_find(t, pid);

	if (task)
		return task;
	task = vec_push(t);
	if (!task)
		return NULL;
	if (!map_set(&t->places, (uint32_t)pid, (void *)(uintptr_t)t->n)) {
		t->n--;
		return NULL;
	}
	task->pid = pid;
	return task;
}

void task_table_free(struct task_table *t)
{
	map_free(&t->places);
	vec_free(t);
}

void task_set_name(struct task *t, const char *name, size_t len)
{
	len = len < TASK_COMM_LEN ? len : TASK_COMM_LEN - 1;
	memset(t->name, 0, sizeof(t->name));
	for (size_t i = 0; i < len; i++)
		t->name[i] = (unsigned char)name[i] < ' ' || name[i] == 0x7f ? '?' : name[i];
}

/* ---- what a change does to the table ---- */

static bool create(struct task_table *t, const struct task_change *c)
{
	const struct task *by = task_table_find(t, c->other);
	const int32_t tgid = by ? by->tgid : 0, ppid = by ? by->ppid : 0;
	struct task *task = task_table_get(t, c->pid);

	if (!task)
		return false;
	task->dead = false;
	task->tgid = c->flags & CLONE_THREAD ? tgid : c->pid;
	task->ppid = c->flags & (CLONE_THREAD | CLONE_PARENT) ? ppid : tgid;
	task_set_name(task, c->name, strlen(c->name));
	return true;
}

static bool rename_task(struct task_table *t, const struct task_change *c)
{
	struct task *task = task_table_get(t, c->pid), before;

	if (!task)
		return false;
	before = *task;
	task->dead = false;
	task_set_name(task, c->name, strlen(c->name));
	return strcmp(before.name, task->name) != 0;
}

/* The thread that executes a program becomes the main thread of its process; all others end. */
static bool execute(struct task_table *t, const struct task_change *c)
{
	struct task *old = task_table_find(t, c->other), *task = task_table_get(t, c->pid);
	bool changed;

	if (!task)
		return false;
	if (old && c->other != c->pid)
		old->dead = true;
	changed = task->tgid != c->pid;
	task->dead = false;
	task->tgid = c->pid;
	return changed;
}

bool task_table_apply(struct task_table *t, const struct task_change *c)
{
	struct task *task;

	switch (c->kind) {
	case TASK_IS_NEW: return create(t, c);
	case TASK_IS_RENAMED: return rename_task(t, c);
	case TASK_EXECUTES: return execute(t, c);
	default: break;
	}
	task = task_table_find(t, c->pid);
	if (task)
		task->dead = true;
	return false;
}

void task_table_drop_dead(struct task_table *t)
{
	struct task_table living = {0};

	vec_each (task, t) {
		struct task *kept = task->dead ? NULL : task_table_get(&living, task->pid);

		if (kept)
			*kept = *task;
		else if (!task->dead) {
			task_table_free(&living);
			return;
		}
	}
	task_table_free(t);
	*t = living;
}

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
#define KERNEL_LIMIT (16u << 20) /* of its list of names */

/* The collected data, and where more comes from. */
struct taskinfo {
	const struct tracefs *fs;
	struct side side;
	bool watching;
	int wake; /* an epoll, or -1 */
	struct event *types[NR_TASK_CHANGES];
	const struct event_field *pid[NR_TASK_CHANGES], *name[NR_TASK_CHANGES], *flags, *old_pid;

	struct task_table base; /* the state before the first change */
	struct {
		struct task_change *at;
		size_t n, cap;
	} changes;
	size_t nr_told;		  /* changes that taskinfo_each_new() has reported */
	uint32_t nr_read, nr_put; /* changes read so far; and at the last taskinfo_put() */
	uint64_t lost, lost_seen; /* lost changes; and those before /proc was last read */
	uint64_t latest;	  /* time of a change */
	uint64_t begun[2];	  /* `latest` when the last two files were begun */
	struct buf cmdlines, option;
};

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

/* ---- changes ---- */

static int by_time(const void *a, const void *b)
{
	const struct task_change *x = a, *y = b;

	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static void sort(struct taskinfo *n, size_t from)
{
	if (from < n->changes.n)
		qsort(n->changes.at + from, n->changes.n - from, sizeof(*n->changes.at), by_time);
}

/* Applies changes up to that time to the base; tasks that have ended by then are forgotten. */
static void fold(struct taskinfo *n, uint64_t until)
{
	size_t done = 0;

	while (done < n->changes.n && n->changes.at[done].ts <= until)
		task_table_apply(&n->base, &n->changes.at[done++]);
	if (!done)
		return;
	task_table_drop_dead(&n->base);
	n->changes.n -= done;
	memmove(n->changes.at, n->changes.at + done, n->changes.n * sizeof(*n->changes.at));
	n->nr_told = n->nr_told > done ? n->nr_told - done : 0;
}

/* ---- events ---- */

static const struct {
	const char *system, *event, *name;
} events[NR_TASK_CHANGES] = {
	[TASK_IS_NEW] = {"task", "task_newtask", "comm"},
	[TASK_IS_RENAMED] = {"task", "task_rename", "newcomm"},
	[TASK_EXECUTES] = {"sched", "sched_process_exec", NULL},
	[TASK_EXITS] = {"sched", "sched_process_exit", NULL},
};

static void take_record(void *arg, const struct spur_record *r)
{
	struct taskinfo *n = arg;
	const struct events *ev = n->side.events;
	const struct event *type = events_of_record(ev, r);
	struct task_change c = {.ts = r->ts, .order = n->nr_read}, *slot;
	const uint8_t *name;
	uint64_t number;
	size_t len = 0;

	while (c.kind < NR_TASK_CHANGES && type != n->types[c.kind])
		c.kind++;
	if (c.kind == NR_TASK_CHANGES || !type)
		return;
	/* Newer kernels leave out the pid of task_rename: it is that of the record's task. */
	c.other = c.pid = events_record_pid(ev, r);
	if (n->pid[c.kind] && field_number(ev, n->pid[c.kind], r, &number))
		c.pid = (int32_t)number;
	if (c.kind == TASK_EXECUTES && field_number(ev, n->old_pid, r, &number))
		c.other = (int32_t)number;
	if (c.kind == TASK_IS_NEW)
		field_number(ev, n->flags, r, &c.flags);
	name = n->name[c.kind] ? field_bytes(ev, n->name[c.kind], r, &len) : NULL;
	if (name)
		memcpy(c.name, name, len < TASK_COMM_LEN ? len : TASK_COMM_LEN - 1);
	slot = c.pid > 0 ? vec_push(&n->changes) : NULL;
	if (!slot)
		return;
	*slot = c;
	n->nr_read++;
	n->latest = c.ts > n->latest ? c.ts : n->latest;
}

static int find_fields(struct taskinfo *n, struct spur_error *err)
{
	for (int i = 0; i < NR_TASK_CHANGES; i++) {
		n->types[i] = side_add(&n->side, events[i].system, events[i].event, err);
		if (!n->types[i])
			return err && err->code ? err->code : -ENOENT;
	}
	return 0;
}

static int know_fields(struct taskinfo *n, struct spur_error *err)
{
	for (int i = 0; i < NR_TASK_CHANGES; i++) {
		if (event_ready(n->types[i]) == EVENT_BROKEN)
			return error_set(err, -EBADMSG, "the format of %s cannot be read",
					 events[i].event);
		n->pid[i] = event_field_find(n->types[i], "pid");
		if (events[i].name)
			n->name[i] = event_field_find(n->types[i], events[i].name);
	}
	n->flags = event_field_find(n->types[TASK_IS_NEW], "clone_flags");
	n->old_pid = event_field_find(n->types[TASK_EXECUTES], "old_pid");
	return n->pid[TASK_IS_NEW] && n->pid[TASK_EXECUTES] && n->pid[TASK_EXITS] && n->flags &&
			       n->old_pid
		       ? 0
		       : error_set(err, -ENOTSUP, "events of tasks lack fields on this kernel");
}

/* Without buffer_percent it would be readable after every event. */
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
	for (int i = 0; i < NR_TASK_CHANGES; i++)
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
	sort(n, 0);
	fold(n, n->changes.at[n->changes.n / 2].ts);
}

void taskinfo_rotate(struct taskinfo *n, uint64_t oldest)
{
	const uint64_t until = oldest < n->begun[1] ? oldest : n->begun[1];

	taskinfo_read(n);
	sort(n, 0);
	fold(n, until);
	n->begun[1] = n->begun[0];
	n->begun[0] = n->latest;
}

void taskinfo_each_new(struct taskinfo *n, void (*fn)(void *arg, int pid, const char *name),
		       void *arg)
{
	struct task t;

	taskinfo_read(n);
	sort(n, n->nr_told);
	for (; n->nr_told < n->changes.n; n->nr_told++) {
		const struct task_change *c = &n->changes.at[n->nr_told];

		if (c->kind != TASK_IS_NEW && c->kind != TASK_IS_RENAMED)
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

/* Only adds unknown tasks: events are more precise than /proc, which is read after them. */
static struct task *add_seen(struct taskinfo *n, int32_t pid, const char *name, size_t len)
{
	struct task *t = task_table_find(&n->base, pid) ? NULL : task_table_get(&n->base, pid);

	if (t)
		task_set_name(t, name, len);
	return t;
}

/* /proc appends what a worker of the kernel is doing to its name: "kworker/0:1-events". */
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
		if (tid <= 0 || tid == pid || file_read_text(fd, path, name, sizeof(name)) <= 0)
			continue;
		t = add_seen(n, tid, name, strcspn(name, "\n"));
		if (t) {
			t->tgid = pid;
			t->ppid = ppid;
		}
	}
	closedir(dir);
}

/* Reads /proc/PID/stat. The name is in parentheses and may contain parentheses. */
static void look_at(struct taskinfo *n, int proc, int32_t pid)
{
	char path[PATH_CAP], text[STAT_CAP], *name, *end;
	unsigned int flags;
	int ppid, threads;
	struct task *t;
	size_t len;

	snprintf(path, sizeof(path), "%d/stat", (int)pid);
	if (file_read_text(proc, path, text, sizeof(text)) <= 0)
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

/* ---- texts ---- */

static void put_line(struct buf *b, char kind, const struct task *t, uint64_t ts)
{
	const int32_t numbers[] = {t->pid, t->tgid, t->ppid};

	buf_putc(b, kind);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		buf_putc(b, ' ');
		buf_i64(b, numbers[i]);
	}
	buf_putc(b, ' ');
	buf_u64(b, ts);
	buf_putc(b, ' ');
	buf_puts(b, t->name);
	buf_putc(b, '\n');
}

/* Writes all entries; *now becomes the state at the end. */
static int put_option(const struct taskinfo *n, struct task_table *now, struct buf *b)
{
	buf_printf(b, "1 %llu\n", (unsigned long long)n->lost);
	vec_each (t, &n->base) {
		struct task *copy = task_table_get(now, t->pid);

		if (!copy)
			return -ENOMEM;
		*copy = *t;
		put_line(b, 's', t, 0);
	}
	vec_each (c, &n->changes)
		if (task_table_apply(now, c))
			put_line(b, c->kind == TASK_IS_NEW ? 'n' : 'c',
				 task_table_find(now, c->pid), c->ts);
	return buf_full(b) ? -ENOMEM : 0;
}

/*
 * Readers of the list skip leading blanks, and a name of blanks only would end the list for them.
 */
static void put_name(struct buf *b, const struct task *t)
{
	const char *name = t->name + strspn(t->name, " ");

	if (!*name)
		return;
	buf_i64(b, t->pid);
	buf_putc(b, ' ');
	buf_puts(b, name);
	buf_putc(b, '\n');
}

/* Adds the kernel's names of tasks that are not in the table. */
static int put_kernel_names(const struct taskinfo *n, struct task_table *now, struct buf *b)
{
	struct buf text;
	int rc = 0;

	buf_init(&text, KERNEL_LIMIT);
	/* A kernel without the file has no names. */
	if (tracefs_read(n->fs, "", "saved_cmdlines", &text, NULL) < 0)
		buf_reset(&text);
	buf_str(&text);
	for (const char *line = text.data, *next; *line && rc == 0; line = next) {
		const size_t len = strcspn(line, "\n");
		char *name;
		const long pid = strtol(line, &name, 10);
		struct task *t;

		next = line + len + (line[len] == '\n');
		if (pid <= 0 || pid > INT32_MAX || *name != ' ' || name >= line + len ||
		    strncmp(name, " <...>", 6) == 0 || task_table_find(now, (int32_t)pid))
			continue;
		t = task_table_get(now, (int32_t)pid);
		rc = t ? 0 : -ENOMEM;
		if (!t)
			continue;
		task_set_name(t, name + 1, (size_t)(line + len - name - 1));
		put_name(b, t);
	}
	buf_free(&text);
	return rc;
}

/*
 * Whether all tasks of the recording are known. Then other names of the kernel are those of earlier
 * tasks.
 */
static bool knows_all(const struct taskinfo *n)
{
	return n->watching && n->base.n && !n->lost;
}

/*
 * If tasks were watched, these names are better than the kernel's. Otherwise the kernel's names
 * come first, because they were stored when events were recorded. The latest tasks come first,
 * because a file of version 6 may not have space for all.
 */
static int put_cmdlines(const struct taskinfo *n, struct task_table *now, struct buf *b)
{
	struct task_table listed = {0};
	int rc = n->watching ? 0 : put_kernel_names(n, &listed, b);

	for (size_t i = now->n; i-- > 0;)
		if (!task_table_find(&listed, now->at[i].pid))
			put_name(b, &now->at[i]);
	if (rc == 0 && n->watching && !knows_all(n))
		rc = put_kernel_names(n, now, b);
	task_table_free(&listed);
	return rc ? rc : buf_full(b) ? -ENOMEM : 0;
}

static int set_option(struct meta *m, const struct buf *text)
{
	struct dat_out_option *o = NULL;

	vec_each (it, &m->options)
		if (it->id == DAT_OPT_TASKS)
			o = it;
	o = o ? o : vec_push(&m->options);
	if (!o)
		return -ENOMEM;
	*o = (struct dat_out_option){DAT_OPT_TASKS, {text->data, text->len}};
	m->contents.options = m->options.at;
	m->contents.nr_options = m->options.n;
	return 0;
}

int taskinfo_put(struct taskinfo *n, struct meta *m, struct spur_error *err)
{
	struct task_table now = {0};
	int rc;

	taskinfo_read(n);
	/* After a loss, /proc still shows the tasks that live. */
	if (n->lost != n->lost_seen)
		taskinfo_look(n);
	sort(n, 0);
	buf_reset(&n->cmdlines);
	buf_reset(&n->option);
	rc = put_option(n, &now, &n->option);
	if (rc == 0)
		rc = put_cmdlines(n, &now, &n->cmdlines);
	task_table_free(&now);
	if (rc == 0) {
		n->nr_put = n->nr_read;
		m->contents.cmdlines = (struct dat_span){n->cmdlines.data, n->cmdlines.len};
		rc = set_option(m, &n->option);
	}
	return rc ? error_set(err, rc, "out of memory for the names of tasks") : 0;
}

bool taskinfo_changed(const struct taskinfo *n)
{
	return n->nr_put != n->nr_read;
}

/* ---- what processes have mapped ---- */

#define LINE_CAP  8192
#define LIST_SIZE (4u << 20)

/* The program that a process runs, or its name if the program cannot be read. */
static void program_of(pid_t pid, char *path, size_t cap)
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	n = readlink(link, path, cap - 1);
	path[n > 0 ? n : 0] = '\0';
	if (n <= 0)
		snprintf(path, cap, "[%d]", (int)pid);
}

/* Adds a line for every mapped file, as long as there is space; returns their number. */
static unsigned int add_lines(FILE *maps, struct buf *to)
{
	unsigned int n = 0;
	char *line = NULL;
	size_t cap = 0;

	while (getline(&line, &cap, maps) > 0) {
		unsigned long long start, end;
		int path = 0;

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%llx-%llx %*s %*s %*s %*s %n", &start, &end, &path) < 2 ||
		    !path || !line[path])
			continue;
		buf_printf(to, "%llx %llx %s\n", start, end, line + path);
		if (buf_full(to))
			break;
		n++;
	}
	free(line);
	return n;
}

void maps_take(struct maps *m, pid_t pid)
{
	char name[LINE_CAP], file[64];
	struct maps_process *p = NULL;
	struct buf lines;
	unsigned int n;
	FILE *maps;

	snprintf(file, sizeof(file), "/proc/%d/maps", (int)pid);
	maps = fopen(file, "re");
	if (!maps)
		return;
	buf_init(&lines, LIST_SIZE);
	n = add_lines(maps, &lines);
	fclose(maps);
	program_of(pid, name, sizeof(name));
	vec_each (old, m)
		if (old->pid == pid)
			p = old;
	if (n && !p)
		p = vec_push(m);
	/* A process that is ending has no mappings any more; then the earlier ones stay. */
	if (n && p) {
		free(p->text);
		p->pid = pid;
		p->text = NULL;
		if (asprintf(&p->text, "%x %x %s\n%s", (unsigned int)pid, n, name,
			     buf_str(&lines)) < 0)
			p->text = NULL;
	}
	buf_free(&lines);
}

void maps_put(const struct maps *m, struct buf *to)
{
	vec_each (p, m)
		if (p->text)
			buf_puts(to, p->text);
}

void maps_free(struct maps *m)
{
	vec_each (p, m)
		free(p->text);
	vec_free(m);
}
