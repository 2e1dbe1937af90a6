// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * comm and comm(pid): names of tasks. No helper of the kernel gives the task of a number to all
 * kinds of programs, so a program looks it up in the tree of the first namespace of processes, as
 * the kernel itself does:
 *
 *	task->thread_pid->numbers[0].ns->idr.idr_rt.xa_head: the first node
 *	node->slots[number >> node->shift & (slots - 1)]: the next node, or the struct pid
 *	pid->tasks[PIDTYPE_PID].first: task->pid_links[PIDTYPE_PID]
 *
 * Entries that are nodes have XA_NODE in their lowest bits.
 */
#include <string.h>

#include "code/vm.h"
#include "lang/lower.h"

#define COMM	   16 /* bytes of a task's name */
#define MAX_LEVELS 6  /* of the tree: numbers have 22 bits, and nodes 4 or 6 of them */
#define XA_MASK	   3
#define XA_NODE	   2

/* Offsets in the kernel's structs. */
struct tree {
	int64_t thread_pid, ns, head, shift, slots, tasks, links, comm;
	int64_t nr_slots;
};

static int check_comm(struct checker *c, struct node *n)
{
	n->vtype = vtype_string(COMM);
	return 0;
}

static void lower_comm(struct lower *l, struct node *n, struct value *v)
{
	const struct mem m = mem_result(l, v, COMM);

	/*
	 * What is after the name differs from kernel to kernel, but it may become part of a key.
	 */
	mem_zero(l, m, COMM);
	IR_CALL(l->f, BPF_FUNC_get_current_comm, mem_address(l, m), ir_const(l->f, COMM));
	set_memory(v, m);
}

/* ---- comm(pid) ---- */

/* The offset of "a.b" in a struct; the type of what is there. Of an array that of its elements. */
static bool find_member(struct env *e, const char *in, const char *const *names, int64_t *offset,
			struct member *m)
{
	struct type t;

	*offset = 0;
	if (!env_type(e, in, &t))
		return false;
	for (; *names; names++) {
		if (!type_member(&t, *names, strlen(*names), m))
			return false;
		*offset += (int64_t)m->offset;
		t = m->type;
		if (t.kind == TYPE_ARRAY && !type_target(&t, &t))
			return false;
	}
	return true;
}

static bool find_tree(struct env *e, struct tree *t)
{
	const struct {
		const char *in;
		const char *names[4];
		int64_t *offset;
	} members[] = {
		{"struct task_struct", {"thread_pid"}, &t->thread_pid},
		{"struct task_struct", {"pid_links"}, &t->links},
		{"struct task_struct", {"comm"}, &t->comm},
		{"struct pid", {"numbers", "ns"}, &t->ns},
		{"struct pid", {"tasks"}, &t->tasks},
		{"struct pid_namespace", {"idr", "idr_rt", "xa_head"}, &t->head},
		{"struct xa_node", {"shift"}, &t->shift},
		{"struct xa_node", {"slots"}, &t->slots},
	};
	struct member m = {0};

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (!find_member(e, members[i].in, members[i].names, members[i].offset, &m))
			return false;
	/* The last one is the array of slots. */
	t->nr_slots = (int64_t)m.type.count;
	return t->nr_slots > 0;
}

static int check_comm_of(struct checker *c, struct node *n)
{
	struct tree tree;

	n->vtype = vtype_string(COMM);
	if (!n->list)
		return 0;
	if (n->list->vtype.kind != V_NONE && !node_is_int(n->list))
		return check_fail(c, n->list, "comm() takes the number of a process");
	if (!c->opt->offline && c->at->targets.at[0]->type > PT_INTERVAL &&
	    !find_tree(c->env, &tree))
		return check_fail(c, n,
				  "comm() of another process needs the kernel's types (BTF), "
				  "which it does not have");
	return 0;
}

static ir_reg read_word(struct lower *l, struct mem word, ir_reg at, int64_t offset)
{
	mem_read(l, word, 8, SPACE_KERNEL, ir_binary_const(l->f, IR_ADD, at, offset));
	return mem_load(l, word, 8, false);
}

/* The slot of a node for a number. */
static ir_reg slot_of(struct lower *l, const struct tree *t, struct mem word, ir_reg node,
		      ir_reg pid)
{
	mem_read(l, word, 1, SPACE_KERNEL, ir_binary_const(l->f, IR_ADD, node, t->shift));
	return ir_binary(l->f, IR_SHR, pid, mem_load(l, word, 1, false));
}

/* The struct pid of a number, in `entry`; goes to `none` when there is none. */
static void find_pid(struct lower *l, const struct tree *t, struct mem word, ir_reg pid,
		     ir_reg entry, ir_label none)
{
	const ir_label found = ir_new_label(l->f);

	for (int i = 0; i < MAX_LEVELS; i++) {
		const ir_reg kind = ir_binary_const(l->f, IR_AND, entry, XA_MASK);
		ir_reg node, slot;

		ir_branch_const(l->f, IR_NE, kind, XA_NODE, found);
		node = ir_binary_const(l->f, IR_SUB, entry, XA_NODE);
		slot = slot_of(l, t, word, node, pid);
		/* The first node says how large numbers are. */
		if (i == 0)
			ir_branch_const(l->f, IR_UGE, slot, t->nr_slots, none);
		slot = ir_binary_const(l->f, IR_AND, slot, t->nr_slots - 1);
		slot = ir_binary_const(l->f, IR_SHL, slot, 3);
		ir_set(l->f, entry,
		       read_word(l, word, ir_binary(l->f, IR_ADD, node, slot), t->slots));
	}
	ir_place(l->f, found);
	ir_branch_const(l->f, IR_EQ, entry, 0, none);
}

static void read_comm(struct lower *l, struct mem to, ir_reg pid)
{
	const ir_label none = ir_new_label(l->f);
	const ir_reg entry = ir_new(l->f), at = ir_new(l->f);
	const struct mem word = mem_take(l, 8);
	struct tree t = {0};

	if (!find_tree(l->c->env, &t))
		return;
	ir_set(l->f, at, ir_call(l->f, BPF_FUNC_get_current_task, 0, NULL));
	ir_set(l->f, at, read_word(l, word, at, t.thread_pid));
	ir_set(l->f, at, read_word(l, word, at, t.ns));
	ir_set(l->f, entry, read_word(l, word, at, t.head));
	find_pid(l, &t, word, pid, entry, none);
	ir_set(l->f, at, read_word(l, word, entry, t.tasks));
	ir_branch_const(l->f, IR_EQ, at, 0, none);
	mem_read_text(l, to, COMM, SPACE_KERNEL,
		      ir_binary_const(l->f, IR_ADD, at, t.comm - t.links));
	ir_place(l->f, none);
}

static void lower_comm_of(struct lower *l, struct node *n, struct value *v)
{
	struct mem m;
	ir_reg pid;

	if (!n->list) {
		lower_comm(l, n, v);
		return;
	}
	m = mem_result(l, v, COMM);
	pid = lower_number(l, n->list);
	mem_zero(l, m, COMM);
	if (l->prog->runs == RUNS_IN_USER)
		IR_CALL(l->f, VM_HELPER_COMM, mem_address(l, m), ir_const(l->f, COMM), pid);
	else
		read_comm(l, m, pid);
	set_memory(v, m);
}

const struct builtin builtins_comm[] = {
	{"comm", 0, 0, BUILTIN_VARIABLE, check_comm, lower_comm, 0},
	{"comm", 0, 1, 0, check_comm_of, lower_comm_of, 0},
	BUILTIN_END,
};
