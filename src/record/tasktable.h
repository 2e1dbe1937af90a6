/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tasks by pid: who they are, and what an event of theirs makes of that. */
#ifndef RECORD_TASKTABLE_H
#define RECORD_TASKTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

#define TASK_COMM 16

struct task {
	int32_t pid;
	int32_t tgid, ppid; /* 0: not known */
	bool dead;
	char name[TASK_COMM];
};

struct task_table {
	struct task *at;
	size_t n, cap;
	struct map places; /* of a pid in `at`, plus 1 */
};

/* NULL: there is none. Pointers hold until the next task is added. */
struct task *task_table_find(const struct task_table *t, int32_t pid);
/* The same, added when it is new; NULL without memory. */
struct task *task_table_get(struct task_table *t, int32_t pid);
void task_table_free(struct task_table *t);

/* A name as it can stand in a line: no control characters. */
void task_set_name(struct task *t, const char *name, size_t len);

enum task_change_kind {
	TASK_IS_NEW,
	TASK_IS_RENAMED,
	TASK_EXECUTES,
	TASK_EXITS,
	NR_TASK_CHANGES,
};

/* An event that changes who a task is. */
struct task_change {
	uint64_t ts;
	uint32_t order; /* in which it was read */
	enum task_change_kind kind;
	int32_t pid;
	int32_t other;	/* new: who created it; executes: the thread that did */
	uint64_t flags; /* new: of clone() */
	char name[TASK_COMM];
};

/* Makes the table what holds after the change. False: a reader need not be told of it. */
bool task_table_apply(struct task_table *t, const struct task_change *c);

/* Forgets tasks that have ended; without memory all stay. */
void task_table_drop_dead(struct task_table *t);

#endif
