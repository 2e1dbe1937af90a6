// SPDX-License-Identifier: GPL-2.0-or-later
/* Builtins that are shown as symbols: stacks, addresses, and other numbers that have names. */
#include <errno.h>
#include <string.h>

#include "base/vec.h"
#include "lang/lower/lower.h"
#include "symbols/abi.h"
#include "symbols/functions.h"

/* ---- the numbers of stacks ---- */

/*
 * Equal stacks have the same number. The kernel's own map of stacks has one entry for all stacks
 * with the same few bits of their hash, and the first of them keeps it. Others are stored in a
 * second map, by a number that is computed from all of their frames. Those numbers are at least
 * STACK_MADE; the kernel's are far below.
 */

#define ROUND  64 /* bytes */
#define SEED   0x51ed270b27b4f3cfll
#define FACTOR 0x2545f4914f6cdd1dll

uint32_t lower_stacks(struct lower *l, const struct vtype *t, enum unit_stacks which)
{
	const struct map_def like = unit_stack_map(t, which);
	int slot = unit_find_map(l->unit, &like);
	const uint32_t map =
		map_internal(l, &slot, like.name, like.kind, like.value_size, like.entries);

	if (!l->failed)
		l->unit->maps.at[map]->key_size = like.key_size;
	return map;
}

/* In few rounds, because the verifier walks through all of them. */
static ir_reg hash_words(struct lower *l, struct mem m, uint32_t size)
{
	const ir_label again = ir_new_label(l->f);
	const ir_reg at = ir_new(l->f), hash = ir_new(l->f), factor = ir_const(l->f, FACTOR);
	ir_reg from, word;

	ir_set_const(l->f, at, 0);
	ir_set_const(l->f, hash, SEED);
	ir_place(l->f, again);
	from = ir_binary(l->f, IR_ADD, mem_address(l, m), at);
	for (uint32_t i = 0; i < ROUND; i += 8) {
		word = ir_binary(l->f, IR_XOR, hash, ir_load(l->f, from, i, 8, false));
		ir_set(l->f, hash, ir_binary(l->f, IR_MUL, word, factor));
	}
	ir_set(l->f, hash, ir_binary(l->f, IR_XOR, hash, ir_binary_const(l->f, IR_SHR, hash, 29)));
	ir_set(l->f, at, ir_binary_const(l->f, IR_ADD, at, ROUND));
	ir_branch_const(l->f, IR_ULT, at, size, again);
	return hash;
}

/* Stores a stack whose entry is in use by another one: its number, or negative. */
static void store_elsewhere(struct lower *l, const struct vtype *t, int64_t flags, ir_reg id)
{
	const uint32_t size = unit_stack_map(t, STACKS_MORE).value_size;
	const uint32_t map = lower_stacks(l, t, STACKS_MORE);
	const uint32_t whole = (size + ROUND - 1) / ROUND * ROUND;
	const ir_label known = ir_new_label(l->f), lost = ir_new_label(l->f);
	const struct mem key = mem_alloc(l, 8), frames = mem_alloc_scratch(l, whole);
	ir_reg rc, number;

	flags |= unit_has_build_ids(t) ? BPF_F_USER_BUILD_ID : 0;
	rc = IR_CALL(l->f, BPF_FUNC_get_stack, lower_ctx(l), mem_address(l, frames),
		     ir_const(l->f, size), ir_const(l->f, flags));
	ir_branch_const(l->f, IR_SLT, rc, 0, lost);
	mem_zero(l, mem_at(frames, size), whole - size);
	number = ir_binary_const(l->f, IR_SHR, hash_words(l, frames, whole), 2);
	number = ir_binary(l->f, IR_OR, number, ir_const(l->f, STACK_MADE));
	mem_store(l, key, 8, number);
	ir_branch_const(l->f, IR_NE, map_lookup(l, map, key), 0, known);
	rc = map_update(l, map, key, frames, BPF_ANY);
	ir_branch_const(l->f, IR_NE, rc, 0, lost);
	ir_place(l->f, known);
	ir_set(l->f, id, mem_load(l, key, 8, false));
	ir_place(l->f, lost);
}

/* Counts stacks that did not fit; they are reported at the end. */
static void count_lost(struct lower *l, ir_reg id)
{
	const ir_label kept = ir_new_label(l->f), lost = ir_new_label(l->f);

	ir_branch_const(l->f, IR_EQ, id, -EEXIST, lost);
	ir_branch_const(l->f, IR_NE, id, -ENOMEM, kept);
	ir_place(l->f, lost);
	lower_count_probe(l, &l->unit->stacks_lost, "lost_stacks");
	ir_place(l->f, kept);
}

ir_reg lower_stack_number(struct lower *l, const struct vtype *t)
{
	const int64_t flags = t->kind == V_USTACK ? BPF_F_USER_STACK : 0;
	const uint32_t stacks = lower_stacks(l, t, STACKS_OF_KERNEL);
	const ir_label good = ir_new_label(l->f);
	const ir_reg id = ir_new(l->f);

	ir_set(l->f, id,
	       IR_CALL(l->f, BPF_FUNC_get_stackid, lower_ctx(l), ir_map(l->f, stacks),
		       ir_const(l->f, flags)));
	ir_branch_const(l->f, IR_SGE, id, 0, good);
	/* The executor's map never loses a stack. */
	if (l->prog->runs == RUNS_IN_KERNEL) {
		const ir_label other = ir_new_label(l->f);

		ir_branch_const(l->f, IR_NE, id, -EEXIST, other);
		store_elsewhere(l, t, flags, id);
		ir_place(l->f, other);
	}
	count_lost(l, id);
	ir_place(l->f, good);
	lower_note_depth(l, t, id, stacks);
	return id;
}

#define PROCESSES 16384
#define NAME	  16 /* bytes of a task's name in the kernel */

/* ---- stacks ---- */

static int stack_mode(const char *name)
{
	for (int i = 0; i <= STACK_BUILD_ID; i++)
		if (strcmp(vtype_stack_modes[i], name) == 0)
			return i;
	return -1;
}

/* kstack(mode, depth); both are optional. */
bool check_stack(struct checker *c, struct node *n)
{
	const bool user = n->builtin->what;
	int64_t depth = VTYPE_STACK_DEPTH;
	int mode = (int)c->unit->config.stack_mode;

	for (struct node *a = n->list; a; a = a->next) {
		if (a->kind == N_NAME) {
			mode = stack_mode(a->name);
			if (mode < 0)
				return check_fail(c, a,
						  "'%s' is no mode of a stack: bpftrace, perf, raw "
						  "or build_id",
						  a->name);
		} else if (!check_expr(c, a) || !check_const_int(c, n, a, &depth)) {
			return false;
		}
	}
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
	/* A process may end before its stacks are shown: the kernel finds build ids at once. */
	n->vtype.param[1] = mode == STACK_BUILD_ID && !c->opt->offline;
	return true;
}

/*
 * Jumps to `known` in other threads than the first, and if the name is still the one that was sent.
 */
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
 * A process may end before its stacks are printed. So when it is first seen, user space is asked to
 * read its mappings. After an exec it has another name, and they are read again.
 */
static void note_process(struct lower *l, ir_reg pid)
{
	const uint32_t seen = map_internal(l, &l->unit->pids, "pids", MAP_HASH, NAME, PROCESSES);
	const struct mem key = mem_alloc(l, 8), name = mem_alloc(l, NAME),
			 record = mem_alloc(l, 16);
	const ir_label known = ir_new_label(l->f), unknown = ir_new_label(l->f);
	ir_reg noted;

	/* All programs share one action. */
	if (!l->unit->note_pid)
		l->unit->note_pid = unit_add_action(l->unit, ACT_NOTE_PID);
	if (!l->unit->note_pid) {
		l->failed = true;
		return;
	}
	mem_store(l, key, 8, pid);
	mem_zero(l, name, NAME);
	IR_CALL(l->f, BPF_FUNC_get_current_comm, mem_address(l, name), ir_const(l->f, NAME));
	noted = map_lookup(l, seen, key);
	ir_branch_const(l->f, IR_EQ, noted, 0, unknown);
	skip_known(l, noted, name, known);
	ir_place(l->f, unknown);
	map_update(l, seen, key, name, BPF_ANY);
	lower_head(l, record, l->unit->note_pid);
	mem_store(l, mem_at(record, sizeof(struct action_record)), 8, pid);
	lower_send(l, l->unit->note_pid, record, 16, 0);
	ir_place(l->f, known);
}

void lower_process(struct lower *l, struct mem m)
{
	const ir_reg pid = lower_proc_pid(l);

	mem_store(l, mem_at(m, 8), 4, pid);
	mem_store_const(l, mem_at(m, 12), 4, l->number);
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

static bool check_sym(struct checker *c, struct node *n)
{
	const bool user = n->builtin->what;

	n->vtype = (struct vtype){.kind = user ? V_USYM : V_KSYM, .size = user ? 16 : 8};
	return check_number(c, n, n->list);
}

static void lower_usym(struct lower *l, struct node *n, struct value *v)
{
	const struct mem m = mem_result(l, v, 16);

	mem_store(l, m, 8, lower_number(l, n->list));
	lower_process(l, m);
	set_memory(v, m);
}

/* ---- numbers with names ---- */

static bool check_shown(struct checker *c, struct node *n)
{
	n->vtype =
		(struct vtype){.kind = (enum vkind)n->builtin->what, .size = 8, .is_signed = true};
	return check_number(c, n, n->list);
}

static bool check_cgroup_path(struct checker *c, struct node *n)
{
	struct node *filter = node_nth(n, 1);

	n->vtype = (struct vtype){.kind = V_CGROUP, .size = 8};
	if (!check_number(c, n, n->list) || (filter && !check_const_text(c, n, filter)))
		return false;
	if (filter)
		n->vtype.text = arena_strdup(&c->unit->arena, filter->text);
	return !filter || n->vtype.text || check_no_memory(c);
}

static bool check_strftime(struct checker *c, struct node *n)
{
	struct node *ns = node_nth(n, 1);

	if (!check_const_text(c, n, n->list) || !check_number(c, n, ns))
		return false;
	n->vtype = (struct vtype){.kind = V_TIME, .size = 8};
	n->vtype.text = arena_strdup(&c->unit->arena, n->list->text);
	/* nsecs(tai) has another epoch. */
	if (ns->kind == N_CALL && strcmp(ns->name, "nsecs") == 0 && ns->list)
		n->vtype.mode = strstr(ns->list->name, "tai")		   ? CLOCK_OF_TAI
				: strcmp(ns->list->name, "monotonic") == 0 ? CLOCK_OF_MONOTONIC
									   : CLOCK_OF_BOOT;
	return n->vtype.text || check_no_memory(c);
}

static void lower_strftime(struct lower *l, struct node *n, struct value *v)
{
	set_number(v, lower_number(l, node_nth(n, 1)));
}

/* ---- uaddr("symbol") ---- */

/* The difference between the linked addresses and the offsets in the file. */
struct shift {
	const struct binary *b;
	uint64_t by;
	bool found;
};

static int find_shift(void *arg, const struct binary_symbol *symbol)
{
	struct shift *s = arg;
	uint64_t offset;

	if (!symbol->function || !symbol->addr || !binary_code_offset(s->b, symbol->addr, &offset))
		return 0;
	s->by = symbol->addr - offset;
	s->found = true;
	return 1;
}

/* Searches a variable, then a function. */
static int find_symbol(const struct binary *b, const struct probe_target *t, const char *name,
		       struct checker *c, uint64_t *addr, uint64_t *size, struct spur_error *err)
{
	struct functions found = {0};
	struct spur_error other = {0};
	int rc = variable_find(b, t->path, name, addr, size, err);

	if (rc != -ENOENT)
		return rc;
	if (functions_find(b, t->path, name, 16, c->arena, &found, &other) == 0 && found.n) {
		*addr = found.at[0].addr;
		*size = 0;
		rc = 0;
	}
	vec_free(&found);
	return rc;
}

/*
 * Sets n->num to the distance from the probe to the symbol: it does not depend on where the program
 * is loaded.
 */
static bool find_distance(struct checker *c, struct node *n, uint64_t *size)
{
	const struct probe_target *t = program_target(c->at);
	struct spur_error err = {0};
	struct binary *b = NULL;
	struct shift s = {0};
	uint64_t addr = 0;
	int rc = binary_open_debug(t->path, c->env->debuginfo, &b, &err);

	if (rc == 0)
		rc = find_symbol(b, t, n->list->text, c, &addr, size, &err);
	s.b = b;
	if (rc == 0)
		binary_each_symbol(b, find_shift, &s);
	n->num = (int64_t)(addr - (t->offset + s.by));
	binary_close(b);
	if (rc < 0)
		return check_fail(c, n->list, "%s", err.text);
	return s.found || check_fail(c, n, "uaddr(): %s has no symbols of functions", t->path);
}

static bool check_uaddr(struct checker *c, struct node *n)
{
	const struct probe_target *t = program_target(c->at);
	uint64_t size = 0;

	if (!check_const_text(c, n, n->list))
		return false;
	if (!t || (t->type != PT_UPROBE && t->type != PT_USDT))
		return check_fail(c, n, "uaddr() can only be used with 'uprobe' and 'usdt' probes");
	if (n->vtype.kind == V_POINTER)
		return true;
	if (!find_distance(c, n, &size))
		return false;
	n->vtype = (struct vtype){.kind = V_POINTER, .size = 8, .space = SPACE_USER};
	n->vtype.c = (struct type){.kind = TYPE_INTEGER, .size = 8};
	if (size == 1 || size == 2 || size == 4)
		n->vtype.c.size = size;
	return true;
}

static void lower_uaddr(struct lower *l, struct node *n, struct value *v)
{
	const ir_reg ip = ir_load(l->f, lower_ctx(l), regs_of(NULL)->ip, 8, false);

	set_number(v, ir_binary(l->f, IR_ADD, ip, ir_const(l->f, n->num)));
}

/* ---- the table ---- */

const struct builtin builtins_symbols[] = {
	{"kstack", 0, 2, BUILTIN_BOTH | BUILTIN_WORDS, check_stack, lower_stack, 0},
	{"stack", 0, 0, BUILTIN_VARIABLE, check_stack, lower_stack, 0},
	{"ustack", 0, 2, BUILTIN_BOTH | BUILTIN_WORDS, check_stack, lower_stack, 1},
	{"ksym", 1, 1, 0, check_sym, lower_first, 0},
	{"usym", 1, 1, BUILTIN_LIVE, check_sym, lower_usym, 1},
	{"strerror", 1, 1, 0, check_shown, lower_first, V_ERRNO},
	{"signal_name", 1, 1, 0, check_shown, lower_first, V_SIGNAL},
	{"syscall_name", 1, 1, 0, check_shown, lower_first, V_SYSCALL},
	{"cgroup_path", 1, 2, 0, check_cgroup_path, lower_first, 0},
	{"strftime", 2, 2, 0, check_strftime, lower_strftime, 0},
	{"uaddr", 1, 1, BUILTIN_LIVE | BUILTIN_OF_PROBE, check_uaddr, lower_uaddr, 0},
	BUILTIN_END,
};
