// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * -p: probes of the kernel see all processes, so a predicate is put in front of the script's own.
 * Probes of programs are limited by the kernel, unless there are several processes.
 */
#include "lang/check.h"
#include "lang/compile.h"

static bool is_limited(enum probe_type t, size_t nr_pids)
{
	switch (t) {
	case PT_PROFILE:
	case PT_TRACEPOINT:
	case PT_RAWTRACEPOINT:
	case PT_KPROBE:
	case PT_KRETPROBE:
	case PT_FENTRY:
	case PT_FEXIT:
	case PT_SOFTWARE:
	case PT_HARDWARE: return nr_pids > 0;
	case PT_UPROBE:
	case PT_URETPROBE:
	case PT_USDT:
	case PT_WATCHPOINT: return nr_pids > 1;
	default: return false;
	}
}

static struct node *make(struct checker *c, const struct node *like)
{
	struct node *n = arena_alloc(c->arena, sizeof(*n));

	if (n)
		*n = *like;
	return n;
}

static struct node *join(struct checker *c, int op, struct node *a, struct node *b)
{
	const uint32_t height = a && b && a->height > b->height ? a->height : b ? b->height : 0;

	if (!a || !b || height >= AST_MAX_HEIGHT)
		return NULL;
	return make(c, &(struct node){.kind = N_BINARY,
				      .op = op,
				      .at = b->at,
				      .a = a,
				      .b = b,
				      .height = height + 1});
}

static struct node *is_pid(struct checker *c, pid_t pid, struct span at)
{
	return join(c, OP_EQ,
		    make(c, &(struct node){.kind = N_NAME, .at = at, .name = "pid", .height = 1}),
		    make(c, &(struct node){.kind = N_INT, .at = at, .num = pid, .height = 1}));
}

bool limit_to_pids(struct checker *c, enum probe_type type, struct span at, struct node **predicate)
{
	const struct compile_options *o = c->opt;
	struct node *any;

	if (!is_limited(type, o->nr_pids))
		return true;
	any = is_pid(c, o->pids[0], at);
	for (size_t i = 1; i < o->nr_pids; i++)
		any = join(c, OP_OR, any, is_pid(c, o->pids[i], at));
	*predicate = *predicate ? join(c, OP_AND, any, *predicate) : any;
	return *predicate != NULL;
}
