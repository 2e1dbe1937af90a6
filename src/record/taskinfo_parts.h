/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to taskinfo*.c. */
#ifndef RECORD_TASKINFO_PARTS_H
#define RECORD_TASKINFO_PARTS_H

#include "base/map.h"
#include "record/taskinfo.h"
#include "record/side.h"

#define TASK_COMM 16

struct task {
	int32_t pid;
	int32_t tgid, ppid; /* 0: not known */
	bool dead;
	char name[TASK_COMM];
};

/* Tasks by pid. */
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

enum change_kind { CHANGE_NEW, CHANGE_NAME, CHANGE_EXEC, CHANGE_EXIT, NR_CHANGES };

/* An event of the side instance. */
struct change {
	uint64_t ts;
	uint32_t order; /* in which it was read */
	enum change_kind kind;
	int32_t pid;
	int32_t other;	/* new: who created it; exec: the thread that did */
	uint64_t flags; /* new: of clone() */
	char name[TASK_COMM];
};

struct taskinfo {
	const struct tracefs *fs;
	struct side side;
	bool watching;
	int wake; /* an epoll, or -1 */
	struct event *types[NR_CHANGES];
	const struct event_field *pid[NR_CHANGES], *name[NR_CHANGES], *flags, *old_pid;

	struct task_table base; /* what held before the first change */
	struct {
		struct change *at;
		size_t n, cap;
	} changes;
	size_t nr_told;		  /* of changes, by taskinfo_each_new() */
	uint32_t nr_read, nr_put; /* of changes, ever; and when they were last put */
	uint64_t lost, lost_seen; /* changes; those before the last look at /proc */
	uint64_t latest;	  /* time of a change */
	uint64_t begun[2];	  /* `latest` when the last two files were begun */
	struct buf cmdlines, option;
};

/* Sorts changes by time. */
void taskinfo_sort(struct taskinfo *n, size_t from);

/* Makes changes up to that time part of the base; those who have ended by then are forgotten. */
void taskinfo_fold(struct taskinfo *n, uint64_t until);

#endif
