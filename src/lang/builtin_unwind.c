// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dw_ustack(): stacks of processes without frame pointers, followed by the tables of unwind.h. Each
 * frame is a call of a function of its own. Where the tables have nothing, the stack ends.
 *
 * Stacks are kept by a number that is made of their frames: equal ones have the same.
 */
#include <errno.h>
#include <string.h>

#include "lang/unwind_parts.h"
#include "probe/regs.h"
#include "symbols/cfi.h"

#define STACKS 16384
#define REGS   168 /* bytes of struct pt_regs */
#define SEED   0x51ed270b27b4f3cfll

/* ---- checking ---- */

/* Programs of uprobes are given the registers of the process. */
static bool has_regs(const struct program *p)
{
	const enum probe_type t = p->targets.n ? p->targets.at[0]->type : PT_BEGIN;

	return t == PT_UPROBE || t == PT_URETPROBE || t == PT_USDT;
}

static int check_unwound(struct checker *c, struct node *n)
{
	static const int helpers[] = {BPF_FUNC_loop, BPF_FUNC_find_vma,
				      BPF_FUNC_get_current_task_btf, BPF_FUNC_task_pt_regs};
	struct member m;
	const char *name;
	int rc = check_stack(c, n);

	if (rc < 0)
		return rc;
	n->vtype.param[0] = 1;
	n->vtype.param[1] = 0;
	if (c->unit->config.dw_ustack == UNSTABLE_ERROR)
		return check_fail(c, n, "%s is refused by the setting unstable_dw_ustack", n->name);
	if (c->unit->config.dw_ustack == UNSTABLE_WARN && c->last)
		source_warning(c->source, n->at, "%s may change in later versions", n->name);
	if (!cfi_here())
		return check_fail(c, n, "%s is not known for this machine: use ustack", n->name);
	for (size_t i = 0; i < sizeof(helpers) / sizeof(helpers[0]) && rc == 0; i++)
		if (i < 3 || !has_regs(c->at))
			rc = check_helper(c, n, helpers[i]);
	for (int i = 0; i < UNWIND_FIELDS && rc == 0; i++)
		if (!unwind_field(c->env, (enum unwind_field)i, &m, &name))
			rc = check_fail(c, n,
					"%s needs the kernel's types (BTF): '%s' is not known",
					n->name, name);
	return rc;
}

/* ---- a stack ---- */

/* Registers of the process, and which address space it is; goes to `none` when it has none. */
static void lower_start(const struct unwinder *u, ir_label none)
{
	struct lower *l = u->l;
	const struct regs *regs = regs_of(NULL);
	const int64_t frames = u->state.offset + (int64_t)sizeof(struct state);
	const struct mem scratch = {lower_scratch(l), 0};
	ir_reg from, task, mm;

	if (has_regs(l->prog))
		from = lower_ctx(l);
	else
		from = IR_CALL(l->f, BPF_FUNC_task_pt_regs,
			       ir_call(l->f, BPF_FUNC_get_current_task_btf, 0, NULL));
	mem_read(l, (struct mem){scratch.base, frames}, REGS, SPACE_KERNEL, from);
	PUT(ip, ir_load(l->f, scratch.base, frames + regs->ip, 8, false));
	PUT(sp, ir_load(l->f, scratch.base, frames + regs->sp, 8, false));
	PUT(bp, ir_load(l->f, scratch.base, frames + regs_named(regs, "bp"), 8, false));
	PUT(bx, ir_load(l->f, scratch.base, frames + regs_named(regs, "bx"), 8, false));
	task = ir_call(l->f, BPF_FUNC_get_current_task, 0, NULL);
	mm = unwind_read(u, task, TASK_MM, offsetof(struct state, word));
	ir_branch_const(l->f, IR_EQ, mm, 0, none);
	unwind_read(u, mm, MM_STACK, offsetof(struct state, key.space));
	task = ir_call(l->f, BPF_FUNC_get_current_pid_tgid, 0, NULL);
	task = ir_binary_const(l->f, IR_SHL, ir_binary_const(l->f, IR_SHR, task, 32), 40);
	PUT(key.space, ir_binary(l->f, IR_XOR, GET(key.space), task));
	PUT(now, ir_call(l->f, BPF_FUNC_ktime_get_ns, 0, NULL));
	PUT_CONST(exact, 1);
	PUT_CONST(n, 0);
	PUT(hash, ir_const(l->f, SEED));
	mem_zero(l, (struct mem){scratch.base, frames}, u->depth * 8);
}

static uint32_t stack_map(struct lower *l, uint32_t depth)
{
	int slot = -1;
	uint32_t map;

	for (size_t i = 0; i < l->unit->maps.n; i++)
		if (unit_is_unwound(l->unit->maps.at[i], depth))
			return (uint32_t)i;
	map = map_internal(l, &slot, UNIT_UNWOUND, MAP_HASH, depth * 8, STACKS);
	l->unit->maps.at[map]->key_size = 8;
	return map;
}

static void keyed(struct lower *l, uint32_t map, uint32_t key_size)
{
	l->unit->maps.at[map]->key_size = key_size;
}

static bool prepare(struct lower *l, uint32_t depth, struct unwinder *u)
{
	struct unit_unwind *maps = &l->unit->unwind;
	const uint32_t room = depth * 8 < REGS ? REGS : depth * 8;

	*u = (struct unwinder){
		.l = l,
		.depth = depth,
		.rows = map_internal(l, &maps->rows, "unwind_rows", MAP_ARRAY,
				     UNWIND_ROWS * sizeof(struct unwind_row), 1),
		.rules = map_internal(l, &maps->rules, "unwind_rules", MAP_ARRAY,
				      UNWIND_RULES * sizeof(struct cfi_rule), 1),
		.files = map_internal(l, &maps->files, "unwind_files", MAP_HASH,
				      sizeof(struct unwind_file), UNWIND_FILES),
		.pages = map_internal(l, &maps->pages, "unwind_pages", MAP_LRU_HASH,
				      sizeof(struct unwind_page), UNWIND_PAGES),
		.state = mem_take_scratch(l, sizeof(struct state) + room),
	};
	if (!maps->note)
		maps->note = unit_add_action(l->unit, ACT_UNWIND);
	u->note = maps->note;
	if (l->failed || !maps->note) {
		l->failed = true;
		return false;
	}
	keyed(l, u->files, sizeof(struct unwind_file_key));
	keyed(l, u->pages, sizeof(struct unwind_page_key));
	return true;
}

/* Unwinds; the number of frames is in the state then. */
static bool lower_frames(struct lower *l, uint32_t depth, struct unwinder *u, ir_label none)
{
	uint32_t body;

	if (!prepare(l, depth, u))
		return false;
	lower_start(u, none);
	body = lower_unwind_step(u);
	IR_CALL(l->f, BPF_FUNC_loop, ir_const(l->f, depth), ir_func_address(l->f, body),
		lower_frame_address(l), ir_const(l->f, 0));
	return true;
}

ir_reg lower_unwound_length(struct lower *l, const struct node *n)
{
	const ir_label none = ir_new_label(l->f);
	const ir_reg length = ir_new(l->f);
	struct unwinder unwinder, *u = &unwinder;

	ir_set_const(l->f, length, 0);
	if (lower_frames(l, n->vtype.depth, u, none))
		ir_set(l->f, length, GET(n));
	ir_place(l->f, none);
	return length;
}

static void lower_unwound(struct lower *l, struct node *n, struct value *v)
{
	const uint32_t stacks = stack_map(l, n->vtype.depth);
	const ir_label none = ir_new_label(l->f), stored = ir_new_label(l->f);
	const struct mem m = mem_result(l, v, 16);
	const ir_reg id = ir_new(l->f);
	struct unwinder unwinder, *u = &unwinder;

	ir_set_const(l->f, id, -EFAULT);
	if (!lower_frames(l, n->vtype.depth, u, none))
		return;
	ir_branch_const(l->f, IR_EQ, GET(n), 0, none);
	PUT(word, ir_binary_const(l->f, IR_SHR, GET(hash), 1));
	ir_set(l->f, id,
	       IR_CALL(l->f, BPF_FUNC_map_update_elem, ir_map(l->f, stacks), AT(word),
		       address_of(u, sizeof(struct state)), ir_const(l->f, BPF_ANY)));
	ir_branch_const(l->f, IR_EQ, id, 0, stored);
	lower_count_probe(l, &l->unit->stacks_lost, "lost_stacks");
	ir_jump(l->f, none);
	ir_place(l->f, stored);
	ir_set(l->f, id, GET(word));
	ir_place(l->f, none);
	mem_store(l, m, 8, id);
	lower_process(l, m);
	set_memory(v, m);
}

#define LIVE (BUILTIN_LIVE | BUILTIN_KERNEL)

const struct builtin builtins_unwind[] = {
	{"dw_ustack", 0, 0, BUILTIN_VARIABLE | LIVE, check_unwound, lower_unwound, 2},
	{"dw_ustack", 0, 2, BUILTIN_WORDS | LIVE, check_unwound, lower_unwound, 2},
	BUILTIN_END,
};
