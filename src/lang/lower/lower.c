// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Statements, variables and functions of the script. Numbers are in registers where there are no
 * loops; all other variables are in memory.
 */
#include <errno.h>
#include <string.h>

#include "lang/check/check.h"
#include "lang/lower/lower.h"

/* ---- variables ---- */

/* Structs in other memory stay there: the variable is their address. */
static bool is_reference(const struct var *v)
{
	return (v->type.kind == V_STRUCT || v->type.kind == V_ARRAY) && v->type.space != SPACE_OWN;
}

static uint32_t size_of(const struct var *v)
{
	return is_reference(v) ? 8 : (v->type.size + 7) & ~7u;
}

static bool in_register(const struct lower *l, const struct var *v)
{
	return vtype_is_number(&v->type) && !l->prog->loops && !v->addressed;
}

/*
 * Verifiers before Linux 6.7 check a loop's body as if it ran once. They believe that a variable on
 * the stack always has the value from before the loop, and remove branches that this value never
 * takes. They know nothing about the scratch area.
 */
static bool must_be_unknown(const struct lower *l, const struct var *v)
{
	return l->prog->loops && l->prog->runs == RUNS_IN_KERNEL && v->type.space != SPACE_CTX;
}

/* The place of a variable is decided once, for the whole program. */
static void place(struct lower *l, struct var *v)
{
	const uint32_t size = size_of(v);

	if (v->placed)
		return;
	v->placed = true;
	if (in_register(l, v)) {
		v->offset = ir_new(l->f);
		return;
	}
	v->in_scratch =
		size > 32 || l->frame_vars + size > LOWER_FRAME / 2 || must_be_unknown(l, v);
	/* Variables are never freed: they are below the memory of statements. */
	v->offset = v->in_scratch ? l->scratch_vars : l->frame_vars;
	if (v->in_scratch)
		l->scratch_vars += size;
	else
		l->frame_vars += size;
}

void var_place_all(struct lower *l)
{
	for (struct var *v = l->prog->vars; v; v = v->next)
		place(l, v);
	if (l->scratch_vars) {
		lower_scratch(l);
		if (l->scratch_vars > lower_scratch_limit(l->unit))
			l->scratch_missing = true;
		else if (l->scratch_most < l->scratch_vars)
			l->scratch_most = l->scratch_vars;
	}
	l->frame_used = l->frame_vars;
	l->scratch_used = l->scratch_vars;
	if (l->f->frame < l->frame_vars)
		l->f->frame = l->frame_vars;
	/* Some path may not write a variable: it must not contain an old value. */
	for (struct var *v = l->prog->vars; v; v = v->next) {
		if (in_register(l, v))
			ir_set_const(l->f, v->offset, 0);
		else
			mem_zero(l, var_mem(l, v), size_of(v));
	}
}

struct mem var_mem(struct lower *l, struct var *v)
{
	if (v->in_scratch)
		return (struct mem){lower_scratch(l), v->offset};
	if (l->in.is_callback)
		return (struct mem){l->in.vars, v->offset};
	return (struct mem){ir_frame(l->f, v->offset), 0};
}

void var_read(struct lower *l, struct var *var, struct value *v)
{
	v->type = var->type;
	if (in_register(l, var)) {
		/* A copy: the variable may change before the value is used. */
		const ir_reg copy = ir_new(l->f);

		ir_set(l->f, copy, var->offset);
		set_number(v, copy);
	} else if (vtype_is_number(&var->type)) {
		set_number(v, mem_load(l, var_mem(l, var), 8, false));
	} else if (is_reference(var)) {
		v->mem = (struct mem){mem_load(l, var_mem(l, var), 8, false), 0};
	} else {
		set_memory(v, var_mem(l, var));
	}
}

/* Cuts a value to the declared size of the variable. */
static ir_reg cut_off(struct lower *l, const struct var *var, ir_reg r)
{
	if (!var->declared || var->type.kind != V_INT || var->type.size >= 8)
		return r;
	return ir_unary(l->f, var->type.is_signed ? IR_SEXT : IR_ZEXT, r, var->type.size);
}

void var_set(struct lower *l, struct var *var, const struct value *v)
{
	if (in_register(l, var))
		ir_set(l->f, var->offset, cut_off(l, var, v->reg));
	else if (vtype_is_number(&var->type))
		mem_store(l, var_mem(l, var), 8, cut_off(l, var, v->reg));
	else if (is_reference(var))
		mem_store(l, var_mem(l, var), 8, mem_address(l, v->mem));
	else
		value_store(l, v, &var->type, var_mem(l, var));
}

void var_write(struct lower *l, struct var *var, struct node *n)
{
	struct value v = {0};

	if (!vtype_is_number(&var->type) && var->type.kind == V_STRING &&
	    n->vtype.kind == V_STRING && n->kind != N_VAR) {
		lower_into(l, n, &var->type, var_mem(l, var), &v);
		return;
	}
	lower_expr(l, n, &v);
	var_set(l, var, &v);
}

/* ---- functions of the script ---- */

/* A call is a copy of the body: see check/check.c. */

void lower_function(struct lower *l, struct node *n, struct value *v)
{
	struct lower_call call = {.outer = l->call, .n = n, .f = l->f, .end = ir_new_label(l->f)};

	lower_statements(l, n->list);
	lower_statements(l, n->b);
	l->call = &call;
	lower_statements(l, n->a->list);
	l->call = call.outer;
	ir_place(l->f, call.end);
	if (n->b)
		var_read(l, n->b->a->var, v);
}

void lower_returned(struct lower *l, struct node *n)
{
	const struct lower_call *call = l->call;

	if (n->a)
		var_write(l, call->n->b->a->var, n->a);
	if (call->f == l->f) {
		ir_jump(l->f, call->end);
		return;
	}
	/* Inside a loop, whose body is a function of its own: that has to end first. */
	ir_store_const(l->f, l->in.vars, l->return_at, 8, RETURN_FUNCTION);
	ir_jump(l->f, l->in.end);
}

void lower_leave_function(struct lower *l, ir_reg returned)
{
	const ir_label stays = ir_new_label(l->f);

	ir_branch_const(l->f, IR_EQ, returned, 0, stays);
	ir_branch_const(l->f, IR_EQ, returned, RETURN_PROGRAM, l->in.end);
	ir_store_const(l->f, lower_frame_address(l), l->return_at, 8, 0);
	ir_jump(l->f, l->call->end);
	ir_place(l->f, stays);
}

/* The offset of the CPU's number in the frame, if it is needed: after the key of zeros. */
enum { CPU_KEY = 8 };

#define SCRATCH_MAP UINT32_MAX /* placeholder until it is known whether the program needs one */

/* ---- the beginning and end of functions ---- */

static bool is_wide(const struct unit *u)
{
	return u->config.max_strlen > LOWER_SCRATCH / 2;
}

uint32_t lower_scratch_limit(const struct unit *u)
{
	return is_wide(u) ? LOWER_SCRATCH_WIDE : LOWER_SCRATCH;
}

static uint32_t frame_keys(const struct unit *u)
{
	return is_wide(u) ? CPU_KEY + 8 : CPU_KEY;
}

/* The element of the map that is the scratch area: the only one, or that of the CPU. */
static ir_reg scratch_key(struct lower *l)
{
	if (!is_wide(l->unit) || l->prog->runs == RUNS_IN_USER)
		return ir_frame(l->f, 0);
	ir_store(l->f, ir_frame(l->f, 0), CPU_KEY, 4,
		 ir_call(l->f, BPF_FUNC_get_smp_processor_id, 0, NULL));
	return ir_frame(l->f, CPU_KEY);
}

/*
 * Registers that most functions need are set at the beginning, so that they are valid on all paths.
 * lower_end() removes those that are not used.
 */
void lower_begin(struct lower *l)
{
	ir_reg key;

	l->in.end = ir_new_label(l->f);
	if (!l->in.is_callback)
		l->in.ctx = ir_arg(l->f, 0);
	/* The frame always begins with a key of zeros. */
	if (l->f->frame < frame_keys(l->unit))
		l->f->frame = frame_keys(l->unit);
	l->in.zero_from = l->f->code.n;
	ir_store_const(l->f, ir_frame(l->f, 0), 0, 8, 0);
	l->in.scratch_from = l->f->code.n;
	l->in.scratch = ir_new(l->f);
	key = scratch_key(l);
	ir_set(l->f, l->in.scratch,
	       IR_CALL(l->f, BPF_FUNC_map_lookup_elem, ir_map(l->f, SCRATCH_MAP), key));
	ir_branch_const(l->f, IR_EQ, l->in.scratch, 0, l->in.end);
	l->in.begun = l->f->code.n;
}

static void remove_code(struct ir_func *f, size_t from, size_t to)
{
	if (f->failed || to > f->code.n)
		return;
	memmove(f->code.at + from, f->code.at + to, (f->code.n - to) * sizeof(*f->code.at));
	f->code.n -= to - from;
}

void lower_end(struct lower *l)
{
	if (!l->in.scratch_used)
		remove_code(l->f, l->in.scratch_from, l->in.begun);
	if (!l->in.scratch_used && !l->in.zero_used)
		remove_code(l->f, l->in.zero_from, l->in.scratch_from);
}

ir_reg lower_ctx(struct lower *l)
{
	return l->in.is_callback ? ir_load(l->f, l->in.vars, l->ctx_at, 8, false) : l->in.ctx;
}

ir_reg lower_scratch(struct lower *l)
{
	l->in.scratch_used = true;
	return l->in.scratch;
}

ir_reg lower_zero_key(struct lower *l)
{
	l->in.zero_used = true;
	return ir_frame(l->f, 0);
}

/* ---- statements ---- */

static void assign_compound(struct lower *l, struct node *n)
{
	const bool is_signed = fold_both_signed(n->op, n->a, n->b);
	struct value now = {0}, v = {0};
	ir_reg b = lower_number(l, n->b), r;

	/* A pointer moves by the size of its target. */
	if (n->a->vtype.kind == V_POINTER && n->a->vtype.c.size > 1)
		b = ir_binary_const(l->f, IR_MUL, b, (int64_t)n->a->vtype.c.size);
	if (n->a->kind == N_MAP && (n->op == '+' || n->op == '-')) {
		if (n->op == '-')
			b = ir_unary(l->f, IR_NEG, b, 8);
		map_step(l, n->a, b, &now, &v);
		return;
	}
	lower_expr(l, n->a, &now);
	r = lower_operate(l, n, is_signed, now.reg, b);
	set_number(&v, r);
	if (n->a->kind == N_MAP)
		map_store(l, n->a, r);
	else
		var_set(l, n->a->var, &v);
}

static void lower_assign(struct lower *l, struct node *n)
{
	struct value v = {0};

	if (n->op)
		assign_compound(l, n);
	else if (n->a->kind == N_VAR)
		var_write(l, n->a->var, n->b);
	else if (vtype_is_aggregation(&n->a->map->value) && n->b->kind == N_CALL &&
		 n->b->builtin->lower) {
		/* An aggregation updates the map it is assigned to. */
		n->b->a = n->a;
		n->b->builtin->lower(l, n->b, &v);
	} else {
		map_assign(l, n->a, n->b);
	}
}

static void lower_let(struct lower *l, struct node *n)
{
	struct value zero = {.type = n->a->var->type};

	if (n->b)
		var_write(l, n->a->var, n->b);
	else if (vtype_is_number(&zero.type)) {
		set_number(&zero, ir_const(l->f, 0));
		var_set(l, n->a->var, &zero);
	} else if (zero.type.size)
		mem_zero(l, var_mem(l, n->a->var), zero.type.size);
}

static void lower_single(struct lower *l, struct node *n)
{
	struct value v = {0};

	lower_expr(l, n->a, &v);
}

static void lower_if(struct lower *l, struct node *n)
{
	const ir_label other = ir_new_label(l->f), end = ir_new_label(l->f);

	if (n->a->is_const) {
		lower_statements(l, n->a->num ? n->b : n->c);
		return;
	}
	lower_unless(l, n->a, other);
	lower_statements(l, n->b);
	if (n->c)
		ir_jump(l->f, end);
	ir_place(l->f, other);
	lower_statements(l, n->c);
	ir_place(l->f, end);
}

static void lower_unroll(struct lower *l, struct node *n)
{
	for (int64_t i = 0; i < n->a->num; i++)
		lower_statements(l, n->b);
}

/* In the function of a loop: 1 ends the loop, 0 continues it. */
static void lower_break(struct lower *l, struct node *n)
{
	ir_return_const(l->f, n->kind == N_BREAK);
}

static void lower_return(struct lower *l, struct node *n)
{
	if (l->call) {
		lower_returned(l, n);
		return;
	}
	if (n->action)
		lower_action(l, n->action, n->a);
	if (l->in.is_callback)
		ir_store_const(l->f, l->in.vars, l->return_at, 8, RETURN_PROGRAM);
	ir_jump(l->f, l->in.end);
}

static void lower_nested(struct lower *l, struct node *n)
{
	lower_statements(l, n->list);
}

static void (*const rules[N_KINDS])(struct lower *l, struct node *n) = {
	[N_EXPR] = lower_single,    [N_ASSIGN] = lower_assign, [N_LET] = lower_let,
	[N_DISCARD] = lower_single, [N_IF] = lower_if,	       [N_WHILE] = lower_loop,
	[N_UNROLL] = lower_unroll,  [N_FOR] = lower_loop,      [N_BREAK] = lower_break,
	[N_CONTINUE] = lower_break, [N_RETURN] = lower_return, [N_BLOCK] = lower_nested,
};

void lower_statement(struct lower *l, struct node *n)
{
	struct value v = {0};

	l->f->at = l->at = n->at;
	if (rules[n->kind])
		rules[n->kind](l, n);
	else
		lower_expr(l, n, &v);
}

void lower_statements(struct lower *l, struct node *list)
{
	for (struct node *n = list; n; n = n->next) {
		const uint32_t frame = l->frame_used, scratch = l->scratch_used;

		lower_statement(l, n);
		l->frame_used = frame > l->frame_vars ? frame : l->frame_vars;
		l->scratch_used = scratch;
	}
}

/* ---- the scratch area ---- */

/*
 * Programs that never interrupt each other on a CPU can share an area: the kernel prevents that for
 * these, and spur runs its own one by one. Others can interrupt each other.
 */
static bool shares_scratch(const struct program *p)
{
	const enum probe_type t = program_probe(p);

	if (p->runs == RUNS_IN_USER)
		return true;
	return !p->raw &&
	       (t == PT_PROFILE || t == PT_TRACEPOINT || t == PT_KPROBE || t == PT_KRETPROBE ||
		t == PT_SOFTWARE || t == PT_HARDWARE || t == PT_WATCHPOINT);
}

static void find_scratch(struct lower *l)
{
	const bool wide = is_wide(l->unit), in_user = l->prog->runs == RUNS_IN_USER;
	int own = -1, *slot = shares_scratch(l->prog) ? &l->unit->scratch : &own;
	struct map_def *m;

	/*
	 * spur's own programs use the first element, which belongs to a CPU for those in the
	 * kernel.
	 */
	if (wide && in_user)
		slot = &l->unit->user_scratch;
	for (size_t i = 0; i < l->ir->funcs.n; i++) {
		const struct ir_func *f = l->ir->funcs.at[i];

		for (size_t k = 0; k < f->code.n; k++) {
			struct ir_insn *insn = &f->code.at[k];

			if (insn->op == IR_MAP && insn->imm == SCRATCH_MAP)
				insn->imm = map_internal(l, slot, "scratch",
							 wide ? MAP_ARRAY : MAP_PERCPU_ARRAY, 8,
							 wide && !in_user ? l->c->opt->nr_cpus : 1);
		}
	}
	m = *slot >= 0 ? l->unit->maps.at[*slot] : NULL;
	if (m && m->value_size < l->scratch_most)
		m->value_size = l->scratch_most;
}

/* ---- a program ---- */

/*
 * The rounds of loops over maps are counted one by one. If the verifier knew the number, it would
 * check each round with another one; after the exclusive or it does not know it.
 */
static ir_reg rounds_of_program(struct lower *l)
{
	const int64_t most = l->unit->config.max_loop_rounds;
	ir_reg unknown;

	if (!lower_nests_map_loops(l->prog->body, false))
		return ir_const(l->f, most);
	unknown = IR_CALL(l->f, BPF_FUNC_ktime_get_ns);
	return ir_binary_const(l->f, IR_ADD, ir_binary(l->f, IR_XOR, unknown, unknown), most);
}

static void prepare_loops(struct lower *l)
{
	if (!l->prog->loops)
		return;
	l->ctx_at = l->frame_vars;
	l->return_at = l->frame_vars + 8;
	l->frame_vars += 16;
	ir_store(l->f, ir_frame(l->f, 0), l->ctx_at, 8, l->in.ctx);
	ir_store_const(l->f, ir_frame(l->f, 0), l->return_at, 8, 0);
	l->around = 1;
	if (!lower_counts_rounds(l))
		return;
	l->rounds_at = l->frame_vars;
	l->frame_vars += 8;
	ir_store(l->f, ir_frame(l->f, 0), l->rounds_at, 8, rounds_of_program(l));
}

/* While probes are being detached, programs that still run do nothing. */
static void check_off(struct lower *l)
{
	uint32_t off;

	if (l->prog->raw || l->prog->runs == RUNS_IN_USER ||
	    l->prog->targets.at[0]->type <= PT_INTERVAL)
		return;
	off = map_internal(l, &l->unit->off, "off", MAP_ARRAY, 8, 1);
	ir_branch_const(l->f, IR_NE, ir_load(l->f, ir_map_value(l->f, off, 0), 0, 1, false), 0,
			l->in.end);
}

/* Ends the program for other system calls; the number of the call's name stays in a register. */
static void check_syscall(struct lower *l)
{
	const struct probe_syscalls *set = &l->prog->syscalls;
	const uint32_t table = map_internal(l, &l->unit->syscalls, "syscalls", MAP_ARRAY, 8, 1);
	struct map_def *m = l->unit->maps.at[table];
	const uint32_t first = m->content ? m->value_size : 0;
	uint32_t *names = arena_array(&l->unit->arena, first / 4 + set->n + 2, sizeof(*names));
	ir_reg id;

	if (!names) {
		l->failed = true;
		return;
	}
	if (m->content)
		memcpy(names, m->content, first);
	for (size_t i = 0; i < set->n; i++)
		if (set->at[i])
			names[first / 4 + i] =
				(uint32_t)check_string_number(l->c, set->at[i]->name) + 1;
	m->content = names;
	m->value_size = first + (((uint32_t)set->n * 4 + 7) & ~7u);
	m->read_only = true;
	id = lower_syscall_number(l, set->is_exit);
	ir_branch_const(l->f, IR_UGE, id, (int64_t)set->n, l->in.end);
	id = ir_binary(l->f, IR_ADD, ir_map_value(l->f, table, first),
		       ir_binary_const(l->f, IR_SHL, id, 2));
	l->syscall = ir_load(l->f, id, 0, 4, false);
	ir_branch_const(l->f, IR_EQ, l->syscall, 0, l->in.end);
	lower_skip_narrow_call(l);
	l->syscall = ir_binary_const(l->f, IR_SUB, l->syscall, 1);
}

/* At the end an iterator is called once more, with NULL. */
static void check_object(struct lower *l)
{
	const ir_reg object = ir_load(l->f, lower_ctx(l), 8, 8, false);

	ir_branch_const(l->f, IR_EQ, object, 0, l->in.end);
}

int lower_program(struct checker *c, struct program *p, uint32_t number, struct unit_prog *out)
{
	struct lower l = {
		.c = c,
		.unit = c->unit,
		.prog = p,
		/* spur's own executor has all features. */
		.features = p->runs == RUNS_IN_USER ? NULL : c->opt->features,
		.ir = &out->ir,
		.number = number,
		.frame_vars = frame_keys(c->unit),
		.frame_used = frame_keys(c->unit),
	};

	c->at = p;
	l.in.f = l.f = ir_add_func(l.ir, 1);
	if (!l.f)
		return -ENOMEM;
	l.f->at = p->at;
	lower_begin(&l);
	check_off(&l);
	if (p->syscalls.at)
		check_syscall(&l);
	if (program_probe(p) == PT_ITER)
		check_object(&l);
	prepare_loops(&l);
	var_place_all(&l);
	if (p->predicate)
		lower_unless(&l, p->predicate, l.in.end);
	lower_statements(&l, p->body);
	ir_place(l.f, l.in.end);
	ir_return_const(l.f, 0);
	lower_end(&l);
	find_scratch(&l);
	for (size_t i = 0; i < l.ir->funcs.n; i++)
		l.failed |= l.ir->funcs.at[i]->failed;
	if (l.scratch_missing)
		return source_error(c->source, p->at,
				    "the probe needs more than %u bytes of memory at once: "
				    "fewer or shorter strings (config max_strlen) would help",
				    lower_scratch_limit(c->unit));
	return l.failed ? -EINVAL : 0;
}
