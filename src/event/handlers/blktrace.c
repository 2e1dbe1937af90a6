// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The blk tracer's event. Linux has no format file for it, so trace-cmd makes one up: the fields
 * are those of struct blk_io_trace, and the id is the one behind a neighbour's that has a file.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "event/handlers/handlers.h"

/* Behind which event blktrace's id came, from old kernels to new ones. */
static const char *const neighbours[] = {"power", "kmem_free", "user_stack"};

static const char head[] = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\n"
			   "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\n"
			   "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\n"
			   "\tfield:int common_pid;\toffset:4;\tsize:4;\n";

static const char lock_depth[] = "\tfield:int common_lock_depth;\toffset:8;\tsize:4;\n";

static const char body[] = "\n"
			   "\tfield:u64 sector;\toffset:16;\tsize:8;\n"
			   "\tfield:int bytes;\toffset:24;\tsize:4;\n"
			   "\tfield:int action;\toffset:28;\tsize:4;\n"
			   "\tfield:int pid;\toffset:32;\tsize:4;\n"
			   "\tfield:int device;\toffset:36;\tsize:4;\n"
			   "\tfield:int cpu;\toffset:40;\tsize:4;\n"
			   "\tfield:short error;\toffset:44;\tsize:2;\n"
			   "\tfield:short pdu_len;\toffset:46;\tsize:2;\n"
			   "\tfield:void data;\toffset:48;\tsize:0;\n"
			   "\n"
			   "print fmt: \"%d\", REC->pid\n";

/* The places the made-up format claims for the common fields. */
static const struct {
	const char *name;
	uint32_t offset, size;
	bool optional;
} common[] = {
	{"common_type", 0, 2, false},	       {"common_flags", 2, 1, false},
	{"common_preempt_count", 3, 1, false}, {"common_pid", 4, 4, false},
	{"common_lock_depth", 8, 4, true},
};

static bool common_fits(struct event *e)
{
	for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++) {
		const struct event_field *f = event_common_find(e, common[i].name);

		if (!f && common[i].optional)
			continue;
		if (!f || f->offset != common[i].offset || f->size != common[i].size)
			return false;
	}
	return true;
}

/* The newest neighbour that the trace knows, or NULL. */
static struct event *find_neighbour(const struct events *ev)
{
	struct event *e = NULL;

	for (size_t i = 0; !e && i < sizeof(neighbours) / sizeof(neighbours[0]); i++)
		e = events_find(ev, "ftrace", neighbours[i]);
	return e;
}

int handler_add_events(struct events *ev, struct spur_error *err)
{
	struct event *e = find_neighbour(ev);
	char *text;
	struct buf b;
	int ret;

	if (!e || event_ready(e) == EVENT_BROKEN || !common_fits(e))
		return 0;
	if (e->id < 0 || e->id == INT_MAX || events_by_id(ev, e->id + 1))
		return 0;
	buf_init(&b, 4096);
	buf_printf(&b, "name: blktrace\nID: %d\nformat:\n%s%s%s", e->id + 1, head,
		   event_common_find(e, "common_lock_depth") ? lock_depth : "", body);
	text = arena_strndup(&ev->arena, b.data, b.len);
	ret = text ? events_add(ev, "ftrace", text, b.len, err) : -ENOMEM;
	e = ret < 0 ? NULL : events_by_id(ev, e->id + 1);
	if (e)
		e->added = true;
	buf_free(&b);
	return ret;
}
