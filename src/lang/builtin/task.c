// SPDX-License-Identifier: GPL-2.0-or-later
/* Builtins for the task, the CPU and the time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "code/vm.h"
#include "lang/lower/lower.h"

/* ---- comm and comm(pid): names of tasks ---- */

/*
 * No helper finds the task of a pid for all kinds of programs. So a program looks it up in the tree
 * of the initial pid namespace, as the kernel itself does:
 *
 *	task->thread_pid->numbers[0].ns->idr.idr_rt.xa_head: the first node
 *	node->slots[number >> node->shift & (slots - 1)]: the next node, or the struct pid
 *	pid->tasks[PIDTYPE_PID].first: task->pid_links[PIDTYPE_PID]
 *
 * Entries that are nodes have XA_NODE in their lowest bits.
 */

#define COMM	   16 /* bytes of a task's name */
#define MAX_LEVELS 6  /* of the tree: pids have 22 bits, a node resolves 4 or 6 of them */
#define XA_MASK	   3
#define XA_NODE	   2

/* Offsets in the kernel's structs. */
struct tree {
	int64_t thread_pid, ns, head, shift, slots, tasks, links, comm;
	int64_t nr_slots;
};

static void lower_own_comm(struct lower *l, struct value *v)
{
	const struct mem m = mem_result(l, v, COMM);

	/* The bytes after the name are undefined, but may become part of a key. */
	mem_zero(l, m, COMM);
	IR_CALL(l->f, BPF_FUNC_get_current_comm, mem_address(l, m), ir_const(l->f, COMM));
	set_memory(v, m);
}

/* The offset and type of "a.b" in a struct; for an array the type of its elements. */
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

	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		if (!find_member(e, members[i].in, members[i].names, members[i].offset, &m))
			return false;
	/* The last member is the array of slots. */
	t->nr_slots = (int64_t)m.type.count;
	return t->nr_slots > 0;
}

static bool check_comm(struct checker *c, struct node *n)
{
	struct tree tree;

	n->vtype = vtype_string(COMM);
	if (!n->list)
		return true;
	if (n->list->vtype.kind != V_NONE && !node_is_int(n->list))
		return check_fail(c, n->list, "comm() takes the number of a process");
	if (!c->opt->offline && program_probe(c->at) > PT_INTERVAL && !find_tree(c->env, &tree))
		return check_fail(c, n,
				  "comm() of another process needs the kernel's types (BTF), "
				  "which it does not have");
	return true;
}

static ir_reg read_word(struct lower *l, struct mem word, ir_reg at, int64_t offset)
{
	mem_read(l, word, 8, SPACE_KERNEL, ir_binary_const(l->f, IR_ADD, at, offset));
	return mem_load(l, word, 8, false);
}

/* The slot for a pid in a node. */
static ir_reg slot_of(struct lower *l, const struct tree *t, struct mem word, ir_reg node,
		      ir_reg pid)
{
	mem_read(l, word, 1, SPACE_KERNEL, ir_binary_const(l->f, IR_ADD, node, t->shift));
	return ir_binary(l->f, IR_SHR, pid, mem_load(l, word, 1, false));
}

/* Finds the struct pid of a pid, in `entry`; jumps to `none` if there is none. */
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
		/* The shift of the first node limits the pids. */
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
	const struct mem word = mem_alloc(l, 8);
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

static void lower_comm(struct lower *l, struct node *n, struct value *v)
{
	struct mem m;
	ir_reg pid;

	if (!n->list) {
		lower_own_comm(l, v);
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

/* ---- pid and tid ---- */

/*
 * The numbers are those of spur's pid namespace, unless the script asks for the initial one, which
 * the kernel itself uses.
 */

#define INITIAL_NS 0xEFFFFFFCu /* the number of the initial pid namespace */

enum {
	WHOSE_PROCESS,
	WHOSE_THREAD,
};

static bool own_namespace(struct stat *st)
{
	return stat("/proc/self/ns/pid", st) == 0;
}

static bool has_ns_pid(const struct checker *c)
{
	return compile_has_helper(c->opt->features, BPF_PROG_TYPE_RAW_TRACEPOINT,
				  BPF_FUNC_get_ns_current_pid_tgid);
}

/* Sets n->num: whether the pid of spur's namespace is wanted. */
static bool check_pid(struct checker *c, struct node *n)
{
	const struct node *where = n->list;
	const bool own = where && where->kind == N_NAME && strcmp(where->name, "curr_ns") == 0;
	const bool initial = where && where->kind == N_NAME && strcmp(where->name, "init") == 0;
	struct stat st;

	n->vtype = vtype_int(4, false);
	n->num = 0;
	if (where && !own && !initial)
		return check_fail(c, where, "%s() takes curr_ns or init", n->name);
	if (c->opt->offline || !own_namespace(&st) || (!own && st.st_ino == INITIAL_NS))
		return true;
	if (initial) {
		/* Only the kernel knows spur's own pid in that namespace. */
		c->at->reads_kernel = true;
		return true;
	}
	n->num = own || has_ns_pid(c);
	return !own || check_helper(c, n, BPF_FUNC_get_ns_current_pid_tgid);
}

/* The pid in spur's namespace; 0 for tasks that are not in it. */
static ir_reg namespace_pid(struct lower *l, const struct stat *st, bool thread)
{
	const struct mem m = mem_alloc(l, 8);

	mem_store_const(l, m, 8, 0);
	IR_CALL(l->f, BPF_FUNC_get_ns_current_pid_tgid, ir_const(l->f, (int64_t)st->st_dev),
		ir_const(l->f, (int64_t)st->st_ino), mem_address(l, m), ir_const(l->f, 8));
	return mem_load(l, mem_at(m, (thread ? 0 : 4)), 4, false);
}

/* Whether spur is not in the initial pid namespace, and /proc is of its namespace. */
static bool has_own_numbers(const struct lower *l, struct stat *st)
{
	char self[32];
	ssize_t n;

	if (l->c->opt->offline || !own_namespace(st) || st->st_ino == INITIAL_NS)
		return false;
	n = readlink("/proc/self", self, sizeof(self) - 1);
	if (n <= 0)
		return false;
	self[n] = '\0';
	return strtol(self, NULL, 10) == getpid() && has_ns_pid(l->c);
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

/* ---- numbers that a helper returns ---- */

enum {
	HALF_ALL,
	HALF_LOW,
	HALF_HIGH,
};

#define HELPER(id, half, is_signed) ((id) | (half) << 16 | (is_signed) << 24)

static bool check_helper_number(struct checker *c, struct node *n)
{
	const int half = n->builtin->what >> 16 & 0xff;

	n->vtype = vtype_int(half == HALF_ALL ? 8 : 4, n->builtin->what >> 24);
	return true;
}

static ir_reg half_of(struct lower *l, ir_reg r, int half)
{
	if (half == HALF_HIGH)
		return ir_binary_const(l->f, IR_SHR, r, 32);
	return half == HALF_LOW ? ir_unary(l->f, IR_ZEXT, r, 4) : r;
}

static void lower_helper_number(struct lower *l, struct node *n, struct value *v)
{
	const ir_reg r = ir_call(l->f, n->builtin->what & 0xffff, 0, NULL);

	set_number(v, half_of(l, r, n->builtin->what >> 16 & 0xff));
}

/* ---- time ---- */

static bool check_time(struct checker *c, struct node *n)
{
	n->vtype = vtype_int(8, false);
	return true;
}

int lower_clock(const struct lower *l)
{
	return compile_has(l->features, FEATURE_BOOT_TIME) ? BPF_FUNC_ktime_get_boot_ns
							   : BPF_FUNC_ktime_get_ns;
}

static void lower_nsecs(struct lower *l, struct node *n, struct value *v)
{
	static const struct {
		const char *name;
		int helper;
	} clocks[] = {
		{"boot", BPF_FUNC_ktime_get_boot_ns},
		{"monotonic", BPF_FUNC_ktime_get_ns},
		{"tai", BPF_FUNC_ktime_get_tai_ns},
	};
	int helper = lower_clock(l);

	for (size_t i = 0; n->list && i < ARRAY_SIZE(clocks); i++)
		if (strcmp(clocks[i].name, n->list->name) == 0)
			helper = clocks[i].helper;
	set_number(v, ir_call(l->f, helper, 0, NULL));
	if (n->num)
		v->reg = ir_binary(l->f, IR_ADD, v->reg, ir_const(l->f, n->num));
}

/* The difference of TAI and another clock, for kernels whose programs cannot read TAI. */
static int64_t tai_offset(bool boot)
{
	struct timespec clock = {0}, tai = {0};

	clock_gettime(boot ? CLOCK_BOOTTIME : CLOCK_MONOTONIC, &clock);
	clock_gettime(CLOCK_TAI, &tai);
	return (tai.tv_sec - clock.tv_sec) * 1000000000ll + tai.tv_nsec - clock.tv_nsec;
}

/* nsecs(boot): the word is only the name of a clock. */
static bool check_nsecs(struct checker *c, struct node *n)
{
	static const char *const names[] = {"boot", "monotonic", "tai", "sw_tai"};
	bool known = !n->list;

	for (size_t i = 0; n->list && i < ARRAY_SIZE(names); i++)
		known |= n->list->kind == N_NAME && strcmp(n->list->name, names[i]) == 0;
	if (!known)
		return check_fail(c, n->list, "nsecs() takes boot, monotonic, tai or sw_tai");
	if (n->list && strcmp(n->list->name, "sw_tai") == 0)
		n->num = tai_offset(compile_has(c->opt->features, FEATURE_BOOT_TIME));
	if (n->list && strcmp(n->list->name, "tai") == 0 &&
	    !check_helper(c, n, BPF_FUNC_ktime_get_tai_ns))
		return false;
	return check_time(c, n);
}

static void lower_elapsed(struct lower *l, struct node *n, struct value *v)
{
	const uint32_t start = map_internal(l, &l->unit->start, "start", MAP_ARRAY, 8, 1);
	const ir_reg now = ir_call(l->f, lower_clock(l), 0, NULL);

	set_number(v, ir_binary(l->f, IR_SUB, now,
				ir_load(l->f, ir_map_value(l->f, start, 0), 0, 8, false)));
}

/* ---- names ---- */

static bool check_username(struct checker *c, struct node *n)
{
	n->vtype = (struct vtype){.kind = V_USER, .size = 4};
	return true;
}

static void lower_username(struct lower *l, struct node *n, struct value *v)
{
	set_number(v, half_of(l, ir_call(l->f, BPF_FUNC_get_current_uid_gid, 0, NULL), HALF_LOW));
}

/* ---- fields of the task ---- */

static bool check_curtask(struct checker *c, struct node *n)
{
	n->vtype = vtype_int(8, false);
	c->at->reads_kernel = true;
	if (c->opt->offline)
		return check_fail(c, n, "%s cannot be had from a recording", n->name);
	if (env_type(c->env, "struct task_struct", &n->vtype.c)) {
		n->vtype.kind = V_POINTER;
		n->vtype.space = SPACE_KERNEL;
	}
	return true;
}

static void lower_curtask(struct lower *l, struct node *n, struct value *v)
{
	set_number(v, ir_call(l->f, BPF_FUNC_get_current_task, 0, NULL));
}

/* The pointers that ppid and the like follow, step by step. */
struct path {
	const char *fields[4];
	bool text;
};

static const struct path paths[] = {
	[IR_TASK_PPID] = {{"real_parent", "tgid"}, false},
	[IR_TASK_PCOMM] = {{"real_parent", "comm"}, true},
	[IR_TASK_LEADER_COMM] = {{"group_leader", "comm"}, true},
	[IR_TASK_LEADER_TID] = {{"group_leader", "pid"}, false},
};

static bool check_path(struct checker *c, struct node *n)
{
	const struct path *p = &paths[n->builtin->what];
	struct type t;
	struct member m;

	n->vtype = p->text ? vtype_string(COMM) : vtype_int(4, false);
	if (c->opt->offline && (n->list || !c->opt->knows_tasks))
		return check_fail(c, n, "%s cannot be had from %s recording", n->name,
				  n->list ? "a" : "this");
	if (c->opt->offline)
		return true;
	c->at->reads_kernel = true;
	if (!env_type(c->env, "struct task_struct", &t))
		return check_fail(c, n, "%s needs the kernel's types (BTF), which it does not have",
				  n->name);
	for (size_t i = 0; p->fields[i]; i++) {
		if (!type_member(&t, p->fields[i], strlen(p->fields[i]), &m))
			return check_fail(c, n, "this kernel's tasks have no '%s'", p->fields[i]);
		if (p->fields[i + 1] && !type_target(&m.type, &t))
			return check_fail(c, n, "this kernel's tasks have another '%s'",
					  p->fields[i]);
	}
	return true;
}

static void lower_recorded_path(struct lower *l, struct node *n, struct value *v)
{
	const int64_t fact = n->builtin->what;

	if (paths[fact].text) {
		const struct mem to = mem_result(l, v, COMM);

		mem_zero(l, to, COMM);
		IR_CALL(l->f, VM_HELPER_TASK, ir_const(l->f, fact), mem_address(l, to));
		set_memory(v, to);
	} else {
		set_number(v, IR_CALL(l->f, VM_HELPER_TASK, ir_const(l->f, fact)));
	}
}

static void lower_live_path(struct lower *l, struct node *n, struct value *v)
{
	const struct path *p = &paths[n->builtin->what];
	ir_reg at = n->list ? lower_number(l, n->list)
			    : ir_call(l->f, BPF_FUNC_get_current_task, 0, NULL);
	struct mem word = mem_alloc(l, 8), to;
	struct type t = {0};
	struct member m = {0};

	env_type(l->c->env, "struct task_struct", &t);
	for (size_t i = 0; p->fields[i]; i++) {
		type_member(&t, p->fields[i], strlen(p->fields[i]), &m);
		at = ir_binary_const(l->f, IR_ADD, at, (int64_t)m.offset);
		if (!p->fields[i + 1])
			break;
		mem_read(l, word, 8, SPACE_KERNEL, at);
		at = mem_load(l, word, 8, false);
		type_target(&m.type, &t);
	}
	if (p->text) {
		to = mem_result(l, v, COMM);
		mem_read_text(l, to, COMM, SPACE_KERNEL, at);
		set_memory(v, to);
	} else {
		mem_read(l, word, 4, SPACE_KERNEL, at);
		set_number(v, mem_load(l, word, 4, false));
	}
}

static void lower_path(struct lower *l, struct node *n, struct value *v)
{
	if (l->c->opt->offline)
		lower_recorded_path(l, n, v);
	else
		lower_live_path(l, n, v);
}

/* ---- constants ---- */

enum {
	CONST_CPUS,
	CONST_CHILD,
	CONST_HAS_CHILD,
};

static bool check_known(struct checker *c, struct node *n)
{
	n->vtype = vtype_int(8, false);
	n->is_const = true;
	switch (n->builtin->what) {
	case CONST_CPUS: n->num = c->opt->nr_cpus; break;
	case CONST_HAS_CHILD: n->num = c->opt->child != 0; break;
	default:
		n->num = c->opt->child;
		if (!n->num && c->last)
			source_warning(c->source, n->at,
				       "cpid is 0: there is no child command (-c), which has_cpid "
				       "would tell");
	}
	return true;
}

#define LIVE (BUILTIN_LIVE | BUILTIN_KERNEL)

#define BOTH BUILTIN_BOTH
#define NUMBER(name, flags, id, half, is_signed)                                                   \
	{                                                                                          \
		name, 0, 1, BOTH | (flags), check_helper_number, lower_helper_number,              \
			HELPER(id, half, is_signed)                                                \
	}

/* ---- the table ---- */

const struct builtin builtins_task[] = {
	NUMBER("uid", BUILTIN_LIVE, BPF_FUNC_get_current_uid_gid, HALF_LOW, 0),
	NUMBER("gid", BUILTIN_LIVE, BPF_FUNC_get_current_uid_gid, HALF_HIGH, 0),
	NUMBER("cpu", 0, BPF_FUNC_get_smp_processor_id, HALF_ALL, 0),
	NUMBER("numaid", LIVE, BPF_FUNC_get_numa_node_id, HALF_ALL, 0),
	NUMBER("rand", 0, BPF_FUNC_get_prandom_u32, HALF_LOW, 0),
	NUMBER("cgroup", LIVE, BPF_FUNC_get_current_cgroup_id, HALF_ALL, 0),
	NUMBER("jiffies", LIVE, BPF_FUNC_jiffies64, HALF_ALL, 0),
	{"nsecs", 0, 1, BOTH | BUILTIN_WORDS, check_nsecs, lower_nsecs, 0},
	{"elapsed", 0, 0, BOTH, check_time, lower_elapsed, 0},
	{"username", 0, 0, BOTH | LIVE, check_username, lower_username, 0},
	{"curtask", 0, 0, BOTH, check_curtask, lower_curtask, 0},
	{"ppid", 0, 1, BOTH, check_path, lower_path, IR_TASK_PPID},
	{"pcomm", 0, 1, BOTH, check_path, lower_path, IR_TASK_PCOMM},
	{"leader_comm", 0, 1, BOTH, check_path, lower_path, IR_TASK_LEADER_COMM},
	{"leader_tid", 0, 1, BOTH, check_path, lower_path, IR_TASK_LEADER_TID},
	{"ncpus", 0, 0, BOTH, check_known, NULL, CONST_CPUS},
	{"cpid", 0, 0, BOTH, check_known, NULL, CONST_CHILD},
	{"has_cpid", 0, 0, BOTH, check_known, NULL, CONST_HAS_CHILD},
	{"pid", 0, 1, BOTH | BUILTIN_WORDS, check_pid, lower_pid, WHOSE_PROCESS},
	{"tid", 0, 1, BOTH | BUILTIN_WORDS, check_pid, lower_pid, WHOSE_THREAD},
	{"comm", 0, 1, BOTH, check_comm, lower_comm, 0},
	BUILTIN_END,
};
