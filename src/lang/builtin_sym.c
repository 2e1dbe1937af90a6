// SPDX-License-Identifier: GPL-2.0-or-later
/* Builtins that are shown as symbols: stacks, addresses, and other numbers with names. */
#include <errno.h>
#include <string.h>

#include "lang/lower.h"

#define PROCESSES 16384
#define NAME	  16 /* bytes of a task's, as the kernel has it */

/* ---- stacks ---- */

static const char *const modes[] = {"bpftrace", "perf", "raw", "build_id"};

static int stack_mode(const char *name)
{
	for (int i = 0; i < 4; i++)
		if (strcmp(modes[i], name) == 0)
			return i;
	return -1;
}

/* kstack(mode, depth), either of which may be missing. */
int check_stack(struct checker *c, struct node *n)
{
	const bool user = n->builtin->what;
	int64_t depth = VTYPE_STACK_DEPTH;
	int mode = (int)c->unit->config.stack_mode, rc = 0;

	for (struct node *a = n->list; a && rc == 0; a = a->next) {
		if (a->kind == N_NAME) {
			mode = stack_mode(a->name);
			if (mode < 0)
				return check_fail(c, a,
						  "'%s' is no mode of a stack: bpftrace, perf, raw "
						  "or build_id",
						  a->name);
		} else {
			rc = check_expr(c, a);
			if (rc == 0)
				rc = check_const_int(c, n, a, &depth);
		}
	}
	if (rc < 0)
		return rc;
	if (depth < 1 || depth > VTYPE_MAX_DEPTH)
		return check_fail(c, n, "a stack has 1 to %d frames", VTYPE_MAX_DEPTH);
	if (mode == STACK_BUILD_ID && !user) {
		if (c->last)
			source_warning(c->source, n->at,
				       "build_id is a mode of ustack only: this stack is raw");
		mode = STACK_RAW;
	}
	n->vtype = (struct vtype){.kind = user ? V_USTACK : V_KSTACK,
				  .size = user ? 16 : 8,
				  .mode = mode,
				  .depth = (uint32_t)depth};
	/* A process may be gone before its stacks are shown: the kernel looks, where it runs it. */
	n->vtype.param[1] = mode == STACK_BUILD_ID && !c->opt->offline;
	return 0;
}

/* A thread that is not the first of its process, or still has the name that was noted. */
static void skip_known(struct lower *l, ir_reg noted, struct mem name, ir_label known)
{
	const ir_reg task = ir_call(l->f, BPF_FUNC_get_current_pid_tgid, 0, NULL);
	const ir_label changed = ir_new_label(l->f);

	ir_branch(l->f, IR_NE, ir_unary(l->f, IR_ZEXT, task, 4),
		  ir_binary_const(l->f, IR_SHR, task, 32), known);
	for (uint32_t i = 0; i < NAME; i += 8)
		ir_branch(l->f, IR_NE, ir_load(l->f, noted, i, 8, false),
			  ir_load(l->f, name.base, name.offset + i, 8, false), changed);
	ir_jump(l->f, known);
	ir_place(l->f, changed);
}

/*
 * A process may be gone before its stacks are printed: when it is first seen, user space is told to
 * look at what it has mapped. After an exec it has another name, and has to be looked at again.
 */
static void note_process(struct lower *l, ir_reg pid)
{
	const uint32_t seen = map_internal(l, &l->unit->pids, "pids", MAP_HASH, NAME, PROCESSES);
	const struct mem key = mem_take(l, 8), name = mem_take(l, NAME), record = mem_take(l, 16);
	const ir_label known = ir_new_label(l->f), unknown = ir_new_label(l->f);
	struct mem arg = record;
	ir_reg noted;

	/* One action serves all programs. */
	if (!l->unit->note_pid)
		l->unit->note_pid = unit_add_action(l->unit, ACT_NOTE_PID);
	if (!l->unit->note_pid) {
		l->failed = true;
		return;
	}
	mem_store(l, key, 8, pid);
	mem_zero(l, name, NAME);
	IR_CALL(l->f, BPF_FUNC_get_current_comm, mem_address(l, name), ir_const(l->f, NAME));
	noted = IR_CALL(l->f, BPF_FUNC_map_lookup_elem, ir_map(l->f, seen), mem_address(l, key));
	ir_branch_const(l->f, IR_EQ, noted, 0, unknown);
	skip_known(l, noted, name, known);
	ir_place(l->f, unknown);
	IR_CALL(l->f, BPF_FUNC_map_update_elem, ir_map(l->f, seen), mem_address(l, key),
		mem_address(l, name), ir_const(l->f, BPF_ANY));
	lower_head(l, record, l->unit->note_pid);
	arg.offset += sizeof(struct action_record);
	mem_store(l, arg, 8, pid);
	lower_send(l, l->unit->note_pid, record, 16, 0);
	ir_place(l->f, known);
}

void lower_process(struct lower *l, struct mem m)
{
	const ir_reg pid = lower_proc_pid(l);

	m.offset += 8;
	mem_store(l, m, 4, pid);
	m.offset += 4;
	mem_store_const(l, m, 4, l->number);
	if (l->prog->runs == RUNS_IN_KERNEL)
		note_process(l, pid);
}

static void lower_stack(struct lower *l, struct node *n, struct value *v)
{
	const bool user = n->builtin->what;
	const ir_reg id = lower_stack_number(l, &n->vtype);
	struct mem m;

	if (!user) {
		set_number(v, id);
		return;
	}
	m = mem_result(l, v, 16);
	mem_store(l, m, 8, id);
	lower_process(l, m);
	set_memory(v, m);
}

/* ---- symbols ---- */

static int check_sym(struct checker *c, struct node *n)
{
	const bool user = n->builtin->what;

	n->vtype = (struct vtype){.kind = user ? V_USYM : V_KSYM, .size = user ? 16 : 8};
	return check_number(c, n, n->list);
}

static void lower_ksym(struct lower *l, struct node *n, struct value *v)
{
	set_number(v, lower_number(l, n->list));
}

static void lower_usym(struct lower *l, struct node *n, struct value *v)
{
	const struct mem m = mem_result(l, v, 16);

	mem_store(l, m, 8, lower_number(l, n->list));
	lower_process(l, m);
	set_memory(v, m);
}

/* ---- numbers with names ---- */

static int check_shown(struct checker *c, struct node *n)
{
	n->vtype =
		(struct vtype){.kind = (enum vkind)n->builtin->what, .size = 8, .is_signed = true};
	return check_number(c, n, n->list);
}

static void lower_shown(struct lower *l, struct node *n, struct value *v)
{
	set_number(v, lower_number(l, n->list));
}

static int check_cgroup_path(struct checker *c, struct node *n)
{
	struct node *filter = node_nth(n, 1);
	int rc = check_number(c, n, n->list);

	if (rc == 0 && filter)
		rc = check_const_text(c, n, filter);
	n->vtype = (struct vtype){.kind = V_CGROUP, .size = 8};
	if (rc == 0 && filter) {
		n->vtype.text = arena_strdup(&c->unit->arena, filter->text);
		return n->vtype.text ? 0 : -ENOMEM;
	}
	return rc;
}

static int check_strftime(struct checker *c, struct node *n)
{
	struct node *ns = node_nth(n, 1);
	int rc = check_const_text(c, n, n->list);

	if (rc == 0)
		rc = check_number(c, n, ns);
	if (rc < 0)
		return rc;
	n->vtype = (struct vtype){.kind = V_TIME, .size = 8};
	n->vtype.text = arena_strdup(&c->unit->arena, n->list->text);
	/* What nsecs(tai) gives counts from another moment. */
	if (ns->kind == N_CALL && strcmp(ns->name, "nsecs") == 0 && ns->list)
		n->vtype.mode = strstr(ns->list->name, "tai")		   ? CLOCK_OF_TAI
				: strcmp(ns->list->name, "monotonic") == 0 ? CLOCK_OF_MONOTONIC
									   : CLOCK_OF_BOOT;
	return n->vtype.text ? 0 : -ENOMEM;
}

static void lower_strftime(struct lower *l, struct node *n, struct value *v)
{
	set_number(v, lower_number(l, node_nth(n, 1)));
}

#define VAR   BUILTIN_VARIABLE
#define WORDS BUILTIN_WORDS

const struct builtin builtins_sym[] = {
	{"kstack", 0, 0, VAR, check_stack, lower_stack, 0},
	{"kstack", 0, 2, WORDS, check_stack, lower_stack, 0},
	{"stack", 0, 0, VAR, check_stack, lower_stack, 0},
	{"ustack", 0, 0, VAR, check_stack, lower_stack, 1},
	{"ustack", 0, 2, WORDS, check_stack, lower_stack, 1},
	{"ksym", 1, 1, 0, check_sym, lower_ksym, 0},
	{"usym", 1, 1, BUILTIN_LIVE, check_sym, lower_usym, 1},
	{"strerror", 1, 1, 0, check_shown, lower_shown, V_ERRNO},
	{"signal_name", 1, 1, 0, check_shown, lower_shown, V_SIGNAL},
	{"syscall_name", 1, 1, 0, check_shown, lower_shown, V_SYSCALL},
	{"cgroup_path", 1, 2, 0, check_cgroup_path, lower_shown, 0},
	{"strftime", 2, 2, 0, check_strftime, lower_strftime, 0},
	BUILTIN_END,
};
