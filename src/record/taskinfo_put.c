// SPDX-License-Identifier: GPL-2.0-or-later
/* What was learned of tasks, in the order of time, and as it is written into files. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "dat/dat.h"
#include "record/taskinfo_parts.h"

#define KERNEL_LIMIT (16u << 20)

/* ---- tables ---- */

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
	len = len < TASK_COMM ? len : TASK_COMM - 1;
	memset(t->name, 0, sizeof(t->name));
	for (size_t i = 0; i < len; i++)
		t->name[i] = (unsigned char)name[i] < ' ' || name[i] == 0x7f ? '?' : name[i];
}

/* ---- changes ---- */

static int by_time(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

void taskinfo_sort(struct taskinfo *n, size_t from)
{
	if (from < n->changes.n)
		qsort(n->changes.at + from, n->changes.n - from, sizeof(*n->changes.at), by_time);
}

static bool create(struct task_table *t, const struct change *c)
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

static bool rename_task(struct task_table *t, const struct change *c)
{
	struct task *task = task_table_get(t, c->pid), before;

	if (!task)
		return false;
	before = *task;
	task->dead = false;
	task_set_name(task, c->name, strlen(c->name));
	return strcmp(before.name, task->name) != 0;
}

/* The thread that executes a program becomes the first of its process; all others have ended. */
static bool execute(struct task_table *t, const struct change *c)
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

/* False when there is nothing to be said about it. */
static bool apply(struct task_table *t, const struct change *c)
{
	struct task *task;

	switch (c->kind) {
	case CHANGE_NEW: return create(t, c);
	case CHANGE_NAME: return rename_task(t, c);
	case CHANGE_EXEC: return execute(t, c);
	default: break;
	}
	task = task_table_find(t, c->pid);
	if (task)
		task->dead = true;
	return false;
}

/* Without memory everything stays. */
static void drop_dead(struct taskinfo *n)
{
	struct task_table living = {0};

	vec_each (t, &n->base) {
		struct task *kept = t->dead ? NULL : task_table_get(&living, t->pid);

		if (kept)
			*kept = *t;
		else if (!t->dead) {
			task_table_free(&living);
			return;
		}
	}
	task_table_free(&n->base);
	n->base = living;
}

void taskinfo_fold(struct taskinfo *n, uint64_t until)
{
	size_t done = 0;

	while (done < n->changes.n && n->changes.at[done].ts <= until)
		apply(&n->base, &n->changes.at[done++]);
	if (!done)
		return;
	drop_dead(n);
	n->changes.n -= done;
	memmove(n->changes.at, n->changes.at + done, n->changes.n * sizeof(*n->changes.at));
	n->nr_told = n->nr_told > done ? n->nr_told - done : 0;
}

/* ---- texts ---- */

static void put_line(struct buf *b, char kind, const struct task *t, uint64_t ts)
{
	const int32_t numbers[] = {t->pid, t->tgid, t->ppid};

	buf_putc(b, kind);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		buf_putc(b, ' ');
		buf_i64(b, numbers[i]);
	}
	buf_putc(b, ' ');
	buf_u64(b, ts);
	buf_putc(b, ' ');
	buf_puts(b, t->name);
	buf_putc(b, '\n');
}

/* All entries, and `now` becomes what holds at the end. */
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
		if (apply(now, c))
			put_line(b, c->kind == CHANGE_NEW ? 'n' : 'c', task_table_find(now, c->pid),
				 c->ts);
	return buf_full(b) ? -ENOMEM : 0;
}

/* Blanks in front would be lost, and nothing but blanks would end the list for its readers. */
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

/* The kernel's names of tasks that are not in the table, which get into it. */
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

/* Nobody else can have recorded anything. The kernel's names are of tasks that are long gone. */
static bool knows_all(const struct taskinfo *n)
{
	return n->watching && n->base.n && !n->lost;
}

/*
 * Of tasks that were watched this knows more than the kernel. Else the kernel's names come first:
 * they are those of the time when something was recorded. The latest tasks first, because version 6
 * may not have the space for all.
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
	/* What was lost can still be seen of those who live. */
	if (n->lost != n->lost_seen)
		taskinfo_look(n);
	taskinfo_sort(n, 0);
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
