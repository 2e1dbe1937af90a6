// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pid and tid. The numbers are those of a namespace: ours, unless the script asks for the initial
 * one, in which the kernel counts itself.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lang/lower.h"

#define INITIAL_NS 0xEFFFFFFCu /* the number of the first namespace of processes */

enum {
	WHOSE_PROCESS,
	WHOSE_THREAD,
};

static bool own_namespace(struct stat *st)
{
	return stat("/proc/self/ns/pid", st) == 0;
}

/* n->num: whether the number is asked of our namespace. */
static int check_pid(struct checker *c, struct node *n)
{
	const struct node *where = n->list;
	const bool own = where && where->kind == N_NAME && strcmp(where->name, "curr_ns") == 0;
	const bool initial = where && where->kind == N_NAME && strcmp(where->name, "init") == 0;
	const struct compile_features *f = &c->opt->features;
	struct stat st;

	n->vtype = vtype_int(4, false);
	n->num = 0;
	if (where && !own && !initial)
		return check_fail(c, where, "%s() takes curr_ns or init", n->name);
	if (c->opt->offline || !own_namespace(&st) || (!own && st.st_ino == INITIAL_NS))
		return 0;
	if (initial) {
		/* Only the kernel knows that number of us. */
		c->at->reads_kernel = true;
		return 0;
	}
	n->num = own || !f->has_helper ||
		 f->has_helper(f->arg, BPF_PROG_TYPE_RAW_TRACEPOINT,
			       BPF_FUNC_get_ns_current_pid_tgid);
	return own ? check_helper(c, n, BPF_FUNC_get_ns_current_pid_tgid) : 0;
}

/* Of tasks that our namespace does not have it is 0. */
static ir_reg namespace_pid(struct lower *l, const struct stat *st, bool thread)
{
	const struct mem m = mem_take(l, 8);

	mem_store_const(l, m, 8, 0);
	IR_CALL(l->f, BPF_FUNC_get_ns_current_pid_tgid, ir_const(l->f, (int64_t)st->st_dev),
		ir_const(l->f, (int64_t)st->st_ino), mem_address(l, m), ir_const(l->f, 8));
	return mem_load(l, (struct mem){m.base, m.offset + (thread ? 0 : 4)}, 4, false);
}

/* Whether processes have other numbers here than in the kernel, and /proc is of this namespace. */
static bool has_own_numbers(const struct lower *l, struct stat *st)
{
	const struct compile_features *f = &l->c->opt->features;
	char self[32];
	ssize_t n;

	if (l->c->opt->offline || !own_namespace(st) || st->st_ino == INITIAL_NS)
		return false;
	n = readlink("/proc/self", self, sizeof(self) - 1);
	if (n <= 0)
		return false;
	self[n] = '\0';
	return strtol(self, NULL, 10) == getpid() &&
	       (!f->has_helper || f->has_helper(f->arg, BPF_PROG_TYPE_RAW_TRACEPOINT,
						BPF_FUNC_get_ns_current_pid_tgid));
}

ir_reg lower_proc_pid(struct lower *l)
{
	struct stat st;

	if (has_own_numbers(l, &st))
		return namespace_pid(l, &st, false);
	return ir_binary_const(l->f, IR_SHR, ir_call(l->f, BPF_FUNC_get_current_pid_tgid, 0, NULL),
			       32);
}

static void lower_pid(struct lower *l, struct node *n, struct value *v)
{
	const bool thread = n->builtin->what == WHOSE_THREAD;
	struct stat st;
	ir_reg r;

	if (n->num && own_namespace(&st)) {
		set_number(v, namespace_pid(l, &st, thread));
		return;
	}
	r = ir_call(l->f, BPF_FUNC_get_current_pid_tgid, 0, NULL);
	set_number(v,
		   thread ? ir_unary(l->f, IR_ZEXT, r, 4) : ir_binary_const(l->f, IR_SHR, r, 32));
}

#define VAR   BUILTIN_VARIABLE
#define WORDS BUILTIN_WORDS

const struct builtin builtins_pid[] = {
	{"pid", 0, 0, VAR, check_pid, lower_pid, WHOSE_PROCESS},
	{"pid", 0, 1, WORDS, check_pid, lower_pid, WHOSE_PROCESS},
	{"tid", 0, 0, VAR, check_pid, lower_pid, WHOSE_THREAD},
	{"tid", 0, 1, WORDS, check_pid, lower_pid, WHOSE_THREAD},
	BUILTIN_END,
};
