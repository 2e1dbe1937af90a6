/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/record: who the tasks of a recording are: names, processes, parents and what they
 * have mapped, whatever events are recorded.
 *
 * The kernel stores few names, and none while its top-level buffer is off. So a recording reads
 * /proc when it begins. Later events in a small instance show which tasks are created, renamed,
 * execute a program or end. Every file gets the names as trace-cmd expects them ("command lines"),
 * and everything with its times as DAT_OPT_TASKS.
 */
#ifndef RECORD_TASKINFO_H
#define RECORD_TASKINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/map.h"
#include "record/meta.h"

/* ---- the table of tasks ---- */

#define TASK_COMM_LEN 16

struct task {
	int32_t pid;
	int32_t tgid, ppid; /* 0: not known */
	bool dead;
	char name[TASK_COMM_LEN];
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
	char name[TASK_COMM_LEN];
};

/* Applies a change to the table. False if the file needs no entry for it. */
bool task_table_apply(struct task_table *t, const struct task_change *c);

/* Removes tasks that have ended; without memory all stay. */
void task_table_drop_dead(struct task_table *t);

/* ---- learning about them ---- */

struct taskinfo;

int taskinfo_new(const struct tracefs *fs, struct taskinfo **out, struct spur_error *err);
void taskinfo_free(struct taskinfo *n);

/*
 * Starts recording changes. `clock` is that of the recording, so that times can be compared. If
 * this fails, later tasks are only known if the kernel stores their names.
 */
int taskinfo_watch(struct taskinfo *n, struct undo *undo, const char *clock, const uint32_t *cpus,
		   uint32_t nr_cpus, struct spur_error *err);

/* What taskinfo_watch() would write to tracefs, as commands of a shell. */
void taskinfo_show(const struct tracefs *fs, const char *clock, struct buf *to);

/*
 * Reads all existing tasks from /proc. To be called after taskinfo_watch(), so that none is missed.
 */
void taskinfo_look(struct taskinfo *n);

/* Sets the name of the recorder's command, which does not run yet, to that of its program. */
void taskinfo_command(struct taskinfo *n, pid_t pid, const char *path);

/* Whether taskinfo_watch() has succeeded. */
bool taskinfo_watching(const struct taskinfo *n);

/* Becomes readable when changes should be read; -1 if the kernel cannot do that. */
int taskinfo_event(const struct taskinfo *n);

/* Reads changes; cheap when there are none. */
void taskinfo_read(struct taskinfo *n);

/*
 * To be called when a new file has begun and the previous one is finished. Forgets tasks that ended
 * before both files, and before the oldest event that is in no file yet.
 */
void taskinfo_rotate(struct taskinfo *n, uint64_t oldest);

/* Adds the data to the contents of a file; they are valid until the next call. */
int taskinfo_put(struct taskinfo *n, struct meta *m, struct spur_error *err);

/* Whether there are new data since taskinfo_put(). */
bool taskinfo_changed(const struct taskinfo *n);

/* Reads changes, and calls fn with every new name since the last call. */
void taskinfo_each_new(struct taskinfo *n, void (*fn)(void *arg, int pid, const char *name),
		       void *arg);

/* Whether pids in /proc are those in the kernel's events (the same pid namespace). */
bool taskinfo_pids_are_ours(void);

/* ---- what processes have mapped: they may be gone when the file is finished ---- */

struct maps_process {
	pid_t pid;
	char *text; /* as the file has it; owned */
};

struct maps {
	struct maps_process *at;
	size_t n, cap;
};

/* Reads the mappings of a process now; replaces earlier ones, unless the process has ended. */
void maps_take(struct maps *m, pid_t pid);

/* The text of the option PROCMAPS. */
void maps_put(const struct maps *m, struct buf *to);
void maps_free(struct maps *m);

#endif
