// SPDX-License-Identifier: GPL-2.0-or-later
/* Names that tasks get while a feed is read, in the order in which the feed reads them. */
#include "stats/renames.h"

#include <errno.h>

#include "base/vec.h"
#include "table/analysis.h"

#define NAMES_MEMORY (16u << 20)

struct renaming {
	int64_t pid;
	uint64_t ts;
	const char *name; /* NULL: there is no memory for more names */
};

void renames_init(struct renames *r, const struct events *ev)
{
	*r = (struct renames){.events = ev};
	intern_init(&r->names, NAMES_MEMORY);
}

void renames_free(struct renames *r)
{
	vec_free(&r->all);
	intern_free(&r->names);
}

static void take_rename(void *arg, struct event *e, const struct spur_record *rec)
{
	struct renames *r = arg;
	int64_t pid;
	size_t len;
	const char *name = comm_given(r->events, e, rec, &pid, &len);

	if (name && !vec_add(&r->all,
			     &((struct renaming){pid, rec->ts, intern_text(&r->names, name, len)})))
		r->rc = -ENOMEM;
}

void watch_renames(struct feed *f,
		   void (*take)(void *arg, struct event *e, const struct spur_record *rec),
		   void *arg)
{
	feed_watch(f, "task:task_rename", take, arg);
	feed_watch(f, "sched:sched_process_exec", take, arg);
}

void renames_watch(struct renames *r, struct feed *f)
{
	watch_renames(f, take_rename, r);
}

const char *renames_last(const struct renames *r, int64_t pid, uint64_t from, uint64_t to)
{
	for (size_t i = r->all.n; i-- > 0;) {
		const struct renaming *n = &r->all.at[i];

		if (n->ts < from)
			break;
		if (n->pid == pid && n->ts <= to && n->name)
			return n->name;
	}
	return NULL;
}
