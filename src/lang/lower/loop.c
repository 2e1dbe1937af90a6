// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loops. The body is a function that the kernel calls back as often as needed, so that the verifier
 * checks it once however often it runs.
 *
 * The kernel would call it 8 million times while the CPU does nothing else. So a program has a
 * number of rounds (config max_loop_rounds) that all of its loops share. A program that needs more
 * ends there, which is counted. Ranges that are known to be short, and loops over maps that are in
 * no other loop, are not limited. Over a recording the probes of events have the same limit; begin,
 * end and intervals have none.
 */
#include <string.h>

#include "lang/lower/lower.h"

#define KERNEL_ROUNDS (1 << 23) /* the limit of bpf_loop(); the executor has none */

uint32_t lower_body_begin(struct lower *l, unsigned int nr_args, unsigned int frame_arg,
			  struct lower_func *before)
{
	*before = l->in;
	memset(&l->in, 0, sizeof(l->in));
	l->in.f = l->f = ir_add_func(l->ir, nr_args);
	if (!l->f) {
		l->failed = true;
		*before = (struct lower_func){.f = before->f};
		l->in = *before;
		l->f = before->f;
		return 0;
	}
	l->in.is_callback = true;
	lower_begin(l);
	l->in.vars = ir_arg(l->f, frame_arg);
	return (uint32_t)l->ir->funcs.n - 1;
}

void lower_body_end(struct lower *l, const struct lower_func *before)
{
	ir_return_const(l->f, 0);
	ir_place(l->f, l->in.end);
	ir_return_const(l->f, 1);
	lower_end(l);
	l->in = *before;
	l->f = l->in.f;
}

ir_reg lower_frame_address(struct lower *l)
{
	return l->in.is_callback ? l->in.vars : ir_frame(l->f, 0);
}

/* A return inside the loop also ends everything around it. */
static void leave_if_returned(struct lower *l)
{
	const ir_reg returned = ir_load(l->f, lower_frame_address(l), l->return_at, 8, false);

	if (l->call && l->call->f == l->f)
		lower_leave_function(l, returned);
	else
		ir_branch_const(l->f, IR_NE, returned, 0, l->in.end);
}

static ir_reg call_loop(struct lower *l, ir_reg rounds, uint32_t body)
{
	return IR_CALL(l->f, BPF_FUNC_loop, rounds, ir_func_address(l->f, body),
		       lower_frame_address(l), ir_const(l->f, 0));
}

static ir_reg run_body(struct lower *l, ir_reg rounds, uint32_t body)
{
	const ir_reg had = call_loop(l, rounds, body);

	leave_if_returned(l);
	return had;
}

static int64_t max_rounds(const struct lower *l)
{
	return l->prog->runs == RUNS_IN_USER ? INT64_MAX : KERNEL_ROUNDS;
}

/* ---- loops that are counted ---- */

bool lower_counts_rounds(const struct lower *l)
{
	return (l->prog->counts_rounds || lower_nests_map_loops(l->prog->body, false)) &&
	       (l->prog->runs == RUNS_IN_KERNEL || l->prog->targets.at[0]->type > PT_INTERVAL);
}

static ir_reg rounds_left(struct lower *l)
{
	return ir_load(l->f, lower_frame_address(l), l->rounds_at, 8, false);
}

/* At the begin of a round: ends the program if that is one too many. */
static void cut_off(struct lower *l)
{
	lower_count_probe(l, &l->unit->cut_off, "cut_off");
	ir_store_const(l->f, l->in.vars, l->return_at, 8, RETURN_PROGRAM);
	ir_jump(l->f, l->in.end);
}

/* The kernel passes the number of the round. */
static void limit_round(struct lower *l)
{
	const ir_label fits = ir_new_label(l->f);

	ir_branch(l->f, IR_ULT, ir_arg(l->f, 0), rounds_left(l), fits);
	cut_off(l);
	ir_place(l->f, fits);
}

static void count_round(struct lower *l)
{
	const ir_label fits = ir_new_label(l->f);
	const ir_reg left = rounds_left(l);

	ir_branch_const(l->f, IR_NE, left, 0, fits);
	cut_off(l);
	ir_place(l->f, fits);
	ir_store(l->f, lower_frame_address(l), l->rounds_at, 8,
		 ir_binary_const(l->f, IR_SUB, left, 1));
}

/* `more`: calls of the body that are no rounds. */
static void run_loop(struct lower *l, bool counted, ir_reg rounds, uint32_t body, int64_t more)
{
	const ir_reg had = run_body(l, rounds, body), rest = ir_new(l->f);
	ir_label some;

	if (!counted)
		return;
	some = ir_new_label(l->f);
	/* Loops inside this one have used some, too. */
	ir_set(l->f, rest, ir_binary(l->f, IR_SUB, rounds_left(l), had));
	if (more)
		ir_set(l->f, rest, ir_binary_const(l->f, IR_ADD, rest, more));
	ir_branch_const(l->f, IR_SGE, rest, 0, some);
	ir_set_const(l->f, rest, 0);
	ir_place(l->f, some);
	ir_store(l->f, lower_frame_address(l), l->rounds_at, 8, rest);
}

/* Whether a statement can leave the loop around it; `inner`: it is in an inner loop. */
static bool can_leave(const struct node *list, bool inner)
{
	for (const struct node *n = list; n; n = n->next) {
		const bool deeper = inner || n->kind == N_WHILE || n->kind == N_FOR;

		if (n->kind == N_RETURN || (n->kind == N_BREAK && !inner) ||
		    (n->kind == N_CALL && n->name && strcmp(n->name, "exit") == 0))
			return true;
		if (can_leave(n->a, deeper) || can_leave(n->b, deeper) || can_leave(n->c, deeper) ||
		    can_leave(n->list, deeper))
			return true;
	}
	return false;
}

/* Whether statements change a variable. */
static bool changes(const struct node *list, const struct var *v)
{
	for (const struct node *n = list; n; n = n->next) {
		const bool sets = n->kind == N_ASSIGN || n->kind == N_STEP || n->kind == N_LET ||
				  n->kind == N_FOR || (n->kind == N_UNARY && n->op == '&') ||
				  n->kind == N_CALL;

		for (const struct node *to = sets ? (n->kind == N_CALL ? n->list : n->a) : NULL; to;
		     to = n->kind == N_CALL ? to->next : NULL)
			if (to->kind == N_VAR && to->var == v)
				return true;
		if (changes(n->a, v) || changes(n->b, v) || changes(n->c, v) || changes(n->list, v))
			return true;
	}
	return false;
}

/* Whether a condition can change: because of the body, or of something outside of the program. */
static bool can_change(const struct node *e, const struct node *body)
{
	switch (e->kind) {
	case N_INT:
	case N_BOOL:
	case N_STRING: return false;
	case N_VAR: return e->var && (e->var->addressed || changes(body, e->var));
	case N_UNARY: return e->op == '*' || can_change(e->a, body);
	case N_CAST: return can_change(e->a, body);
	case N_BINARY: return can_change(e->a, body) || can_change(e->b, body);
	default: return !e->is_const;
	}
}

static bool is_each(const struct node *n)
{
	return n->kind == N_FOR && n->c->kind == N_MAP;
}

static uint64_t times(uint64_t a, uint64_t b)
{
	uint64_t all;

	return __builtin_mul_overflow(a, b, &all) ? LOWER_UNKNOWN : all;
}

/* Warns unless constants say that the loop is short. Loops that are in a long one may be. */
static void warn_long(struct lower *l, const struct node *n, uint64_t own)
{
	const uint32_t most = l->unit->config.max_loop_rounds;
	const bool endless =
		n->kind == N_WHILE && !can_change(n->a, n->b) && !can_leave(n->b, false);
	const bool inside = l->around == LOWER_UNKNOWN && !is_each(n);
	struct span head = n->at;

	head.to = n->kind == N_FOR ? n->c->at.to : n->a->at.to;
	if (own <= most && (inside || times(l->around, own) <= most))
		return;
	if (own && endless)
		source_warning(l->c->source, head,
			       "this loop does not end by itself: it is cut off after %u rounds "
			       "(max_loop_rounds)",
			       most);
	else if (own == LOWER_UNKNOWN || is_each(n))
		source_warning(l->c->source, head,
			       "how many rounds this loop has is not known: it is cut off after %u "
			       "(max_loop_rounds)",
			       most);
	else
		source_warning(l->c->source, head,
			       "this loop has too many rounds: it is cut off after %u "
			       "(max_loop_rounds)",
			       most);
}

/* ---- while, for, unroll ---- */

static void lower_while(struct lower *l, struct node *n, bool counted)
{
	struct lower_func before;
	const uint32_t body = lower_body_begin(l, 2, 1, &before);

	lower_unless(l, n->a, l->in.end);
	if (counted)
		limit_round(l);
	lower_statements(l, n->b);
	lower_body_end(l, &before);
	/* The last call only finds out that the condition is false. */
	run_loop(l, counted, ir_const(l->f, max_rounds(l)), body, 1);
}

static void lower_range(struct lower *l, struct node *n, bool counted)
{
	const ir_label some = ir_new_label(l->f), few = ir_new_label(l->f);
	struct lower_func before;
	const ir_reg rounds = ir_new(l->f);
	struct value i = {.type = n->a->var->type};
	const uint32_t first_at = l->frame_vars;
	ir_reg first;
	uint32_t body;

	l->frame_vars += 8;
	if (l->frame_used < l->frame_vars)
		l->frame_used = l->frame_vars;
	if (l->ir->funcs.at[0]->frame < l->frame_vars)
		l->ir->funcs.at[0]->frame = l->frame_vars;
	first = lower_number(l, n->c->a);
	ir_store(l->f, lower_frame_address(l), first_at, 8, first);
	ir_set(l->f, rounds, ir_binary(l->f, IR_SUB, lower_number(l, n->c->b), first));
	ir_branch_const(l->f, IR_SGE, rounds, 0, some);
	ir_set_const(l->f, rounds, 0);
	ir_place(l->f, some);
	ir_branch_const(l->f, IR_ULE, rounds, max_rounds(l), few);
	ir_set_const(l->f, rounds, max_rounds(l));
	ir_place(l->f, few);
	body = lower_body_begin(l, 2, 1, &before);
	if (counted)
		limit_round(l);
	set_number(&i, ir_binary(l->f, IR_ADD, ir_arg(l->f, 0),
				 ir_load(l->f, l->in.vars, first_at, 8, false)));
	var_set(l, n->a->var, &i);
	lower_statements(l, n->b);
	lower_body_end(l, &before);
	run_loop(l, counted, rounds, body, 0);
}

/* Copies the entry to $kv. */
static void copy_entry(struct lower *l, const struct map_def *m, struct var *kv, ir_reg key,
		       ir_reg at)
{
	const struct velem *k = &kv->type.elems[0], *v = &kv->type.elems[1];
	struct mem to = var_mem(l, kv);

	mem_copy(l, mem_at(to, k->offset), (struct mem){key, 0},
		 m->key_size < k->type->size ? m->key_size : k->type->size);
	to = mem_at(to, v->offset);
	if (vtype_is_aggregation(&m->value))
		mem_store(l, to, 8, map_number(l, m, key));
	else
		mem_copy(l, to, (struct mem){at, 0}, m->value.size);
}

static ir_reg for_each(struct lower *l, const struct map_def *m, uint32_t body)
{
	return IR_CALL(l->f, BPF_FUNC_for_each_map_elem, ir_map(l->f, m->number),
		       ir_func_address(l->f, body), lower_frame_address(l), ir_const(l->f, 0));
}

static void lower_each(struct lower *l, struct node *n, bool counted)
{
	const struct map_def *m = n->c->map;
	struct lower_func before;
	uint32_t body = lower_body_begin(l, 4, 3, &before);

	if (counted)
		count_round(l);
	copy_entry(l, m, n->a->var, ir_arg(l->f, 1), ir_arg(l->f, 2));
	lower_statements(l, n->b);
	lower_body_end(l, &before);
	for_each(l, m, body);
	leave_if_returned(l);
}

/* ---- loops of builtins ---- */

#define ROUNDS_INLINE 128 /* the verifier walks through them one by one */
#define ROUNDS_CALL   64 /* in one call of a body: finding the scratch area is slower than a step */

static void rounds_inline(struct lower *l, uint32_t rounds, lower_step_fn *step, const void *arg,
			  ir_label done)
{
	const ir_label again = ir_new_label(l->f);
	const ir_reg k = ir_new(l->f);

	ir_set_const(l->f, k, 0);
	ir_place(l->f, again);
	step(l, arg, done);
	ir_set(l->f, k, ir_binary_const(l->f, IR_ADD, k, 1));
	ir_branch_const(l->f, IR_ULT, k, rounds, again);
}

void lower_rounds(struct lower *l, uint32_t rounds, lower_step_fn *step, const void *arg)
{
	const ir_label done = ir_new_label(l->f);
	struct lower_func before;
	uint32_t body;

	if (rounds <= ROUNDS_INLINE || !compile_has(l->features, FEATURE_LOOP)) {
		rounds_inline(l, rounds, step, arg, done);
	} else {
		body = lower_body_begin(l, 2, 1, &before);
		rounds_inline(l, ROUNDS_CALL, step, arg, l->in.end);
		lower_body_end(l, &before);
		call_loop(l, ir_const(l->f, rounds / ROUNDS_CALL + 1), body);
	}
	ir_place(l->f, done);
}

/* The helper returns the number of calls. */
ir_reg lower_map_length(struct lower *l, const struct map_def *m)
{
	struct lower_func before;
	const uint32_t body = lower_body_begin(l, 4, 3, &before);

	lower_body_end(l, &before);
	return for_each(l, m, body);
}

/* ---- statements ---- */

void lower_loop(struct lower *l, struct node *n)
{
	const bool each = is_each(n);
	const uint64_t own = lower_rounds_of(l->prog, n), around = l->around;
	const bool counted = lower_counts_rounds(l) && (each ? l->in.is_callback : n->is_counted);

	if (!compile_has(l->features, each ? FEATURE_FOR_EACH : FEATURE_LOOP)) {
		source_error(l->c->source, n->at, "this kernel has no %s, which the loop needs",
			     each ? "bpf_for_each_map_elem()" : "bpf_loop()");
		l->failed = true;
		return;
	}
	if (counted)
		warn_long(l, n, own);
	l->around = times(around, own);
	if (each)
		lower_each(l, n, counted);
	else if (n->kind == N_FOR)
		lower_range(l, n, counted);
	else
		lower_while(l, n, counted);
	l->around = around;
}
