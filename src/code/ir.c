// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Building the intermediate form. Nothing here fails: without memory the function is marked as
 * failed, what is built after that is thrown away, and the emitter refuses the function.
 */
#include "code/ir.h"

#include <string.h>

#include "base/vec.h"

struct ir_func *ir_add_func(struct ir_prog *p, unsigned int nr_args)
{
	struct ir_func *f = calloc(1, sizeof(*f)), **slot;

	if (!f)
		return NULL;
	slot = vec_push(&p->funcs);
	if (!slot) {
		free(f);
		return NULL;
	}
	f->nr_args = nr_args;
	*slot = f;
	return f;
}

void ir_prog_free(struct ir_prog *p)
{
	vec_each (f, &p->funcs) {
		vec_free(&(*f)->code);
		free(*f);
	}
	vec_free(&p->funcs);
}

/* Adds what is described; without memory nothing is, which is told by f->failed. */
static void add(struct ir_func *f, const struct ir_insn *what)
{
	struct ir_insn *i = f->failed ? NULL : vec_push(&f->code);

	if (!i) {
		f->failed = true;
		return;
	}
	*i = *what;
	i->at = f->at;
}

ir_reg ir_new(struct ir_func *f)
{
	return ++f->nr_regs;
}

/* The same for instructions with a result in a register of its own. */
static ir_reg add_result(struct ir_func *f, struct ir_insn what)
{
	what.d = ir_new(f);
	add(f, &what);
	return what.d;
}

ir_reg ir_const(struct ir_func *f, int64_t v)
{
	return add_result(f, (struct ir_insn){.op = IR_CONST, .imm = v});
}

void ir_set(struct ir_func *f, ir_reg d, ir_reg a)
{
	add(f, &(struct ir_insn){.op = IR_MOVE, .d = d, .a = a});
}

void ir_set_const(struct ir_func *f, ir_reg d, int64_t v)
{
	add(f, &(struct ir_insn){.op = IR_CONST, .d = d, .imm = v});
}

ir_reg ir_binary(struct ir_func *f, enum ir_op op, ir_reg a, ir_reg b)
{
	return add_result(f, (struct ir_insn){.op = op, .a = a, .b = b});
}

ir_reg ir_binary_const(struct ir_func *f, enum ir_op op, ir_reg a, int64_t v)
{
	return add_result(f, (struct ir_insn){.op = op, .a = a, .imm = v});
}

ir_reg ir_unary(struct ir_func *f, enum ir_op op, ir_reg a, uint32_t size)
{
	return add_result(f, (struct ir_insn){.op = op, .a = a, .size = size});
}

ir_reg ir_load(struct ir_func *f, ir_reg address, int64_t offset, uint32_t size, bool is_signed)
{
	ir_reg d = add_result(
		f, (struct ir_insn){.op = IR_LOAD, .a = address, .imm = offset, .size = size});

	return is_signed && size < 8 ? ir_unary(f, IR_SEXT, d, size) : d;
}

void ir_store(struct ir_func *f, ir_reg address, int64_t offset, uint32_t size, ir_reg v)
{
	add(f,
	    &(struct ir_insn){.op = IR_STORE, .a = address, .b = v, .imm = offset, .size = size});
}

void ir_store_const(struct ir_func *f, ir_reg address, int64_t offset, uint32_t size, int64_t v)
{
	add(f, &(struct ir_insn){
		       .op = IR_STORE, .a = address, .imm = offset, .size = size, .value = v});
}

void ir_add_atomic(struct ir_func *f, ir_reg address, int64_t offset, uint32_t size, ir_reg v)
{
	add(f, &(struct ir_insn){
		       .op = IR_ADD_ATOMIC, .a = address, .b = v, .imm = offset, .size = size});
}

ir_reg ir_arg(struct ir_func *f, unsigned int number)
{
	return add_result(f, (struct ir_insn){.op = IR_ARG, .imm = number});
}

uint32_t ir_frame_room(struct ir_func *f, uint32_t size, uint32_t align)
{
	uint32_t at = f->frame, end;

	if (align > 1)
		at += (align - at % align) % align;
	/* What is far too much stays far too much, so that the emitter can say so. */
	if (at < f->frame || __builtin_add_overflow(at, size, &end))
		at = end = UINT32_MAX;
	f->frame = end;
	return at;
}

ir_reg ir_frame(struct ir_func *f, uint32_t offset)
{
	return add_result(f, (struct ir_insn){.op = IR_FRAME, .imm = offset});
}

ir_reg ir_map(struct ir_func *f, uint32_t map)
{
	return add_result(f, (struct ir_insn){.op = IR_MAP, .imm = map});
}

ir_reg ir_map_value(struct ir_func *f, uint32_t map, int64_t offset)
{
	return add_result(f, (struct ir_insn){.op = IR_MAP_VALUE, .imm = map, .value = offset});
}

ir_reg ir_func_address(struct ir_func *f, uint32_t func)
{
	return add_result(f, (struct ir_insn){.op = IR_FUNC, .imm = func});
}

ir_reg ir_call(struct ir_func *f, int helper, unsigned int nr_args, const ir_reg *args)
{
	struct ir_insn i = {.op = IR_CALL, .imm = helper, .nr_args = nr_args};

	if (nr_args > IR_MAX_ARGS) {
		f->failed = true;
		return ir_new(f);
	}
	if (nr_args)
		memcpy(i.args, args, nr_args * sizeof(*args));
	return add_result(f, i);
}

ir_label ir_new_label(struct ir_func *f)
{
	return ++f->nr_labels;
}

void ir_place(struct ir_func *f, ir_label l)
{
	add(f, &(struct ir_insn){.op = IR_LABEL, .imm = l});
}

void ir_jump(struct ir_func *f, ir_label l)
{
	add(f, &(struct ir_insn){.op = IR_JUMP, .label = l});
}

void ir_branch(struct ir_func *f, enum ir_cond cond, ir_reg a, ir_reg b, ir_label l)
{
	add(f, &(struct ir_insn){.op = IR_BRANCH, .cond = cond, .a = a, .b = b, .label = l});
}

void ir_branch_const(struct ir_func *f, enum ir_cond cond, ir_reg a, int64_t v, ir_label l)
{
	add(f, &(struct ir_insn){.op = IR_BRANCH, .cond = cond, .a = a, .value = v, .label = l});
}

void ir_return(struct ir_func *f, ir_reg v)
{
	add(f, &(struct ir_insn){.op = IR_RETURN, .a = v});
}

void ir_return_const(struct ir_func *f, int64_t v)
{
	add(f, &(struct ir_insn){.op = IR_RETURN, .a = ir_const(f, v)});
}
