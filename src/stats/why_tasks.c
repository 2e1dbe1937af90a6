// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which task a user means. The file's own lists of names come first; only when they do not have the
 * name, as those of the kernel are short, the switches are read for it.
 */
#include <ctype.h>
#include <errno.h>

#include "table/sched.h"
#include "stats/why_parts.h"
#include "base/error.h"
#include "base/vec.h"
#include "event/names.h"

#define MAX_TASKS 10000

struct search {
	const char *name;
	size_t len;
	int64_t pid; /* ROW_NULL: of whatever number */
	struct why_tasks *to;
	int rc;
};

static void take_name(struct search *s, int64_t pid, const char *name)
{
	int64_t *slot;

	if (!name || strlen(name) != s->len || memcmp(name, s->name, s->len) != 0 ||
	    (s->pid != ROW_NULL && s->pid != pid) || s->to->n >= MAX_TASKS)
		return;
	vec_each (known, s->to)
		if (*known == pid)
			return;
	slot = vec_push(s->to);
	if (slot)
		*slot = pid;
	else
		s->rc = -ENOMEM;
}

static void take_comm(void *arg, int pid, const char *name)
{
	take_name(arg, pid, name);
}

static void take_slice(void *arg, const void *row)
{
	const struct slice_row *s = row;

	if (s->pid != ROW_NULL && s->pid)
		take_name(arg, s->pid, s->comm);
}

static void search_lists(struct search *s, const struct spur_trace *t)
{
	comms_each(t->events->comms, take_comm, s);
	for (size_t i = 0; i < t->dat->nr_tasks; i++)
		take_name(s, t->dat->tasks[i].pid, t->dat->tasks[i].name);
}

static int search_switches(struct search *s, struct spur_trace *t, const volatile int *stop,
			   struct spur_error *err)
{
	const struct walk_options opt = {.stop = stop, .brief = true};
	struct feed *f = feed_new(t, &opt, err);
	int rc;

	if (!f)
		return -ENOMEM;
	rc = feed_add(f, &slices_table, take_slice, s, err);
	if (rc == 0)
		rc = feed_run(f, err);
	feed_free(f);
	return rc;
}

/* "name-123": what the report calls a task. */
static bool split(const char *text, struct search *s)
{
	const char *dash = strrchr(text, '-');
	char *end;

	if (!dash || dash == text || !isdigit((unsigned char)dash[1]))
		return false;
	s->len = (size_t)(dash - text);
	s->pid = strtoll(dash + 1, &end, 10);
	return !*end;
}

static int by_number(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* By the lists, then by the switches. */
static int search(struct search *s, struct spur_trace *t, const volatile int *stop,
		  struct spur_error *err)
{
	int rc = 0;

	search_lists(s, t);
	if (!s->to->n && s->rc == 0)
		rc = search_switches(s, t, stop, err);
	return rc < 0 ? rc : s->rc;
}

int why_find_tasks(struct spur_trace *t, const char *name, const volatile int *stop,
		   struct why_tasks *to, struct spur_error *err)
{
	struct search s = {.name = name, .len = strlen(name), .pid = ROW_NULL, .to = to};
	const size_t digits = strspn(name, "0123456789");
	int rc = 0;

	if (digits && digits < 19 && !name[digits]) {
		int64_t *slot = vec_push(to);

		if (slot)
			*slot = strtoll(name, NULL, 10);
		return slot ? 0 : error_set(err, -ENOMEM, "out of memory");
	}
	rc = search(&s, t, stop, err);
	if (rc == 0 && !to->n && split(name, &s))
		rc = search(&s, t, stop, err);
	if (rc == 0 && to->n)
		qsort(to->at, to->n, sizeof(*to->at), by_number);
	return rc < 0 ? error_set(err, rc, "out of memory") : 0;
}
