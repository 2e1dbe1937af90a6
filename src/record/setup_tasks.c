// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whose events are recorded. The kernel follows what these tasks will fork from now on; those that
 * exist already, threads and children, are looked up here.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "record/setup_parts.h"

#define LIST_LIMIT (1u << 20)
#define MAX_TASKS  32768 /* which the kernel takes; also ends a walk over a strange /proc */

struct task_list {
	struct maker *m;
	struct buf text;
	unsigned int n;
};

/* On one line, which is written at once: the kernel waits for all CPUs after each write. */
static void add_task(struct task_list *l, const char *pid)
{
	buf_printf(&l->text, "%s%s", l->n ? " " : "", pid);
	l->n++;
}

static void add_children(struct task_list *l, const char *pid, const char *tid);

/* The threads of a process, with their children if that is wanted. False when it does not exist. */
static bool add_process(struct task_list *l, const char *pid)
{
	char path[64];
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/task", pid);
	dir = opendir(path);
	if (!dir)
		return false;
	while ((d = readdir(dir)) && l->n < MAX_TASKS) {
		if (d->d_name[0] == '.')
			continue;
		add_task(l, d->d_name);
		if (l->m->r->children)
			add_children(l, pid, d->d_name);
	}
	closedir(dir);
	return true;
}

static void add_children(struct task_list *l, const char *pid, const char *tid)
{
	char path[96], child[16];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.16s/task/%.16s/children", pid, tid);
	file = fopen(path, "re");
	if (!file)
		return;
	while (l->n < MAX_TASKS && fscanf(file, "%15s", child) == 1)
		add_process(l, child);
	fclose(file);
}

static int add_pids(struct task_list *l)
{
	const struct request *r = l->m->r;

	for (size_t i = 0; i < r->pids.n; i++) {
		char pid[16];

		snprintf(pid, sizeof(pid), "%d", (int)r->pids.at[i]);
		if (!add_process(l, pid))
			return error_set(l->m->err, -ESRCH, "there is no process %s", pid);
	}
	if (r->only_command) {
		char pid[16] = "PID";

		if (l->m->opt->command)
			snprintf(pid, sizeof(pid), "%d", (int)l->m->opt->command);
		add_task(l, pid);
	}
	return 0;
}

int setup_tasks(struct maker *m, const char *instance, bool functions)
{
	static const struct {
		const char *file, *follow;
	} filters[] = {
		{"set_event_pid", "options/event-fork"},
		{"set_ftrace_pid", "options/function-fork"},
	};
	struct task_list list = {.m = m};
	int rc;

	if (!m->r->pids.n && !m->r->only_command)
		return 0;
	buf_init(&list.text, LIST_LIMIT);
	rc = add_pids(&list);
	buf_putc(&list.text, '\n');
	for (size_t i = 0; i < (functions ? 2 : 1) && rc == 0; i++) {
		rc = setup_step(m, PLAN_WRITE, instance, filters[i].file, buf_str(&list.text));
		if (rc == 0 && m->r->children)
			rc = setup_step(m, PLAN_WRITE, instance, filters[i].follow, "1");
	}
	buf_free(&list.text);
	return rc;
}
