// SPDX-License-Identifier: GPL-2.0-or-later
/* Builtins about the task, the CPU and the time. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "code/vm.h"
#include "lang/lower.h"

#define COMM 16 /* bytes of a task's name */

/* ---- numbers that a helper returns, or a part of it ---- */

enum {
	HALF_ALL,
	HALF_LOW,
	HALF_HIGH,
};

#define HELPER(id, half, is_signed) ((id) | (half) << 16 | (is_signed) << 24)

static int check_told(struct checker *c, struct node *n)
{
	const int half = n->builtin->what >> 16 & 0xff;

	n->vtype = vtype_int(half == HALF_ALL ? 8 : 4, n->builtin->what >> 24);
	return 0;
}

static ir_reg half_of(struct lower *l, ir_reg r, int half)
{
	if (half == HALF_HIGH)
		return ir_binary_const(l->f, IR_SHR, r, 32);
	return half == HALF_LOW ? ir_unary(l->f, IR_ZEXT, r, 4) : r;
}

static void lower_told(struct lower *l, struct node *n, struct value *v)
{
	const ir_reg r = ir_call(l->f, n->builtin->what & 0xffff, 0, NULL);

	set_number(v, half_of(l, r, n->builtin->what >> 16 & 0xff));
}

/* ---- time ---- */

static int check_time(struct checker *c, struct node *n)
{
	n->vtype = vtype_int(8, false);
	return 0;
}

static int clock_helper(const struct lower *l)
{
	return compile_has(l->features, COMPILE_BOOT_CLOCK) ? BPF_FUNC_ktime_get_boot_ns
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
	int helper = clock_helper(l);

	for (size_t i = 0; n->list && i < sizeof(clocks) / sizeof(clocks[0]); i++)
		if (strcmp(clocks[i].name, n->list->name) == 0)
			helper = clocks[i].helper;
	set_number(v, ir_call(l->f, helper, 0, NULL));
	if (n->num)
		v->reg = ir_binary(l->f, IR_ADD, v->reg, ir_const(l->f, n->num));
}

/* For kernels that do not tell programs: what the clock that they do tell is behind now. */
static int64_t tai_offset(bool boot)
{
	struct timespec clock = {0}, tai = {0};

	clock_gettime(boot ? CLOCK_BOOTTIME : CLOCK_MONOTONIC, &clock);
	clock_gettime(CLOCK_TAI, &tai);
	return (tai.tv_sec - clock.tv_sec) * 1000000000ll + tai.tv_nsec - clock.tv_nsec;
}

/* nsecs(boot): the word is the clock's name and nothing else. */
static int check_nsecs(struct checker *c, struct node *n)
{
	static const char *const names[] = {"boot", "monotonic", "tai", "sw_tai"};
	bool known = !n->list;

	for (size_t i = 0; n->list && i < sizeof(names) / sizeof(names[0]); i++)
		known |= n->list->kind == N_NAME && strcmp(n->list->name, names[i]) == 0;
	if (!known)
		return check_fail(c, n->list, "nsecs() takes boot, monotonic, tai or sw_tai");
	if (n->list && strcmp(n->list->name, "sw_tai") == 0)
		n->num = tai_offset(compile_has(&c->opt->features, COMPILE_BOOT_CLOCK));
	if (n->list && strcmp(n->list->name, "tai") == 0 &&
	    check_helper(c, n, BPF_FUNC_ktime_get_tai_ns) < 0)
		return -EINVAL;
	return check_time(c, n);
}

static void lower_elapsed(struct lower *l, struct node *n, struct value *v)
{
	const uint32_t start = map_internal(l, &l->unit->start, "start", MAP_ARRAY, 8, 1);
	const ir_reg now = ir_call(l->f, clock_helper(l), 0, NULL);

	set_number(v, ir_binary(l->f, IR_SUB, now,
				ir_load(l->f, ir_map_value(l->f, start, 0), 0, 8, false)));
}

/* ---- names ---- */

static int check_username(struct checker *c, struct node *n)
{
	n->vtype = (struct vtype){.kind = V_USER, .size = 4};
	return 0;
}

static void lower_username(struct lower *l, struct node *n, struct value *v)
{
	set_number(v, half_of(l, ir_call(l->f, BPF_FUNC_get_current_uid_gid, 0, NULL), HALF_LOW));
}

/* ---- the kernel's own description of the task ---- */

static int check_curtask(struct checker *c, struct node *n)
{
	n->vtype = vtype_int(8, false);
	c->at->reads_kernel = true;
	if (c->opt->offline)
		return check_fail(c, n, "%s cannot be had from a recording", n->name);
	if (env_type(c->env, "struct task_struct", &n->vtype.c)) {
		n->vtype.kind = V_POINTER;
		n->vtype.space = SPACE_KERNEL;
	}
	return 0;
}

static void lower_curtask(struct lower *l, struct node *n, struct value *v)
{
	set_number(v, ir_call(l->f, BPF_FUNC_get_current_task, 0, NULL));
}

/* What ppid and its like read, step by step. */
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

static int check_path(struct checker *c, struct node *n)
{
	const struct path *p = &paths[n->builtin->what];
	struct type t;
	struct member m;

	n->vtype = p->text ? vtype_string(COMM) : vtype_int(4, false);
	if (c->opt->offline && (n->list || !c->opt->knows_tasks))
		return check_fail(c, n, "%s cannot be had from %s recording", n->name,
				  n->list ? "a" : "this");
	if (c->opt->offline)
		return 0;
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
	return 0;
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
	struct mem word = mem_take(l, 8), to;
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

static int check_known(struct checker *c, struct node *n)
{
	n->vtype = vtype_int(8, false);
	n->is_const = true;
	switch (n->builtin->what) {
	case CONST_CPUS: n->num = c->opt->features.nr_cpus; break;
	case CONST_HAS_CHILD: n->num = c->opt->child != 0; break;
	default:
		n->num = c->opt->child;
		if (!n->num && c->last)
			source_warning(c->source, n->at,
				       "cpid is 0: there is no child command (-c), which has_cpid "
				       "would tell");
	}
	return 0;
}

#define VAR  BUILTIN_VARIABLE
#define LIVE (BUILTIN_LIVE | BUILTIN_KERNEL)

#define NUMBER(name, flags, id, half, is_signed)                                                   \
	{name, 0, 0, VAR | (flags), check_told, lower_told, HELPER(id, half, is_signed)},          \
	{                                                                                          \
		name, 0, 1, flags, check_told, lower_told, HELPER(id, half, is_signed)             \
	}

const struct builtin builtins_task[] = {
	NUMBER("uid", BUILTIN_LIVE, BPF_FUNC_get_current_uid_gid, HALF_LOW, 0),
	NUMBER("gid", BUILTIN_LIVE, BPF_FUNC_get_current_uid_gid, HALF_HIGH, 0),
	NUMBER("cpu", 0, BPF_FUNC_get_smp_processor_id, HALF_ALL, 0),
	NUMBER("numaid", LIVE, BPF_FUNC_get_numa_node_id, HALF_ALL, 0),
	NUMBER("rand", 0, BPF_FUNC_get_prandom_u32, HALF_LOW, 0),
	NUMBER("cgroup", LIVE, BPF_FUNC_get_current_cgroup_id, HALF_ALL, 0),
	NUMBER("jiffies", LIVE, BPF_FUNC_jiffies64, HALF_ALL, 0),
	{"nsecs", 0, 0, VAR, check_time, lower_nsecs, 0},
	{"nsecs", 0, 1, BUILTIN_WORDS, check_nsecs, lower_nsecs, 0},
	{"elapsed", 0, 0, VAR, check_time, lower_elapsed, 0},
	{"elapsed", 0, 0, 0, check_time, lower_elapsed, 0},
	{"username", 0, 0, VAR | LIVE, check_username, lower_username, 0},
	{"username", 0, 0, LIVE, check_username, lower_username, 0},
	{"curtask", 0, 0, VAR, check_curtask, lower_curtask, 0},
	{"curtask", 0, 0, 0, check_curtask, lower_curtask, 0},
	{"ppid", 0, 0, VAR, check_path, lower_path, IR_TASK_PPID},
	{"ppid", 0, 1, 0, check_path, lower_path, IR_TASK_PPID},
	{"pcomm", 0, 0, VAR, check_path, lower_path, IR_TASK_PCOMM},
	{"pcomm", 0, 1, 0, check_path, lower_path, IR_TASK_PCOMM},
	{"leader_comm", 0, 0, VAR, check_path, lower_path, IR_TASK_LEADER_COMM},
	{"leader_comm", 0, 1, 0, check_path, lower_path, IR_TASK_LEADER_COMM},
	{"leader_tid", 0, 0, VAR, check_path, lower_path, IR_TASK_LEADER_TID},
	{"leader_tid", 0, 1, 0, check_path, lower_path, IR_TASK_LEADER_TID},
	{"ncpus", 0, 0, VAR, check_known, NULL, CONST_CPUS},
	{"ncpus", 0, 0, 0, check_known, NULL, CONST_CPUS},
	{"cpid", 0, 0, VAR, check_known, NULL, CONST_CHILD},
	{"cpid", 0, 0, 0, check_known, NULL, CONST_CHILD},
	{"has_cpid", 0, 0, VAR, check_known, NULL, CONST_HAS_CHILD},
	{"has_cpid", 0, 0, 0, check_known, NULL, CONST_HAS_CHILD},
	BUILTIN_END,
};
