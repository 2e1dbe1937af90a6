// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The intermediate form: building it, and showing it as text. Building never fails: without memory
 * the function is marked as failed, the rest is thrown away, and the emitter refuses the function.
 */
#include "code/ir.h"

#include <inttypes.h>
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

/* Adds an instruction; sets f->failed without memory. */
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

/* ---- as text ---- */

/*
 * The intermediate form as text, for people: one line an instruction.
 *
 *	func 0 (1 argument, 8 bytes of frame):
 *	    %1 = arg 0
 *	    %2 = load u32 [%1 + 16]
 *	    if %2 == 0 goto L1
 *	    %3 = call 14()
 *	L1:
 */

static const char *const names[IR_OPS] = {
	[IR_ADD] = "+",	    [IR_SUB] = "-",   [IR_MUL] = "*",	    [IR_UDIV] = "/",
	[IR_UMOD] = "%",    [IR_SDIV] = "s/", [IR_SMOD] = "s%",	    [IR_AND] = "&",
	[IR_OR] = "|",	    [IR_XOR] = "^",   [IR_SHL] = "<<",	    [IR_SHR] = ">>",
	[IR_SAR] = "s>>",   [IR_NEG] = "neg", [IR_SEXT] = "sext",   [IR_ZEXT] = "zext",
	[IR_SWAP] = "swap", [IR_ARG] = "arg", [IR_FRAME] = "frame", [IR_MAP] = "map",
	[IR_FUNC] = "func",
};

static const char *const conds[IR_CONDS] = {
	[IR_EQ] = "==",	 [IR_NE] = "!=",   [IR_ULT] = "<",  [IR_ULE] = "<=",
	[IR_UGT] = ">",	 [IR_UGE] = ">=",  [IR_SLT] = "s<", [IR_SLE] = "s<=",
	[IR_SGT] = "s>", [IR_SGE] = "s>=", [IR_SET] = "&",
};

/* A register, or the number in its place. */
static void operand(ir_reg r, int64_t v, struct buf *to)
{
	if (r)
		buf_printf(to, "%%%u", r);
	else
		buf_i64(to, v);
}

static void memory(const struct ir_insn *i, struct buf *to)
{
	buf_printf(to, "u%u [%%%u", i->size * 8, i->a);
	if (i->imm)
		buf_printf(to, " %c %" PRIu64, i->imm < 0 ? '-' : '+',
			   i->imm < 0 ? -(uint64_t)i->imm : (uint64_t)i->imm);
	buf_putc(to, ']');
}

static void call(const struct ir_insn *i, struct buf *to)
{
	buf_printf(to, "call %" PRId64 "(", i->imm);
	for (unsigned int n = 0; n < i->nr_args; n++)
		buf_printf(to, "%s%%%u", n ? ", " : "", i->args[n]);
	buf_putc(to, ')');
}

static void dump_insn(const struct ir_insn *i, struct buf *to)
{
	if (i->op == IR_LABEL) {
		buf_printf(to, "L%" PRId64 ":", i->imm);
		return;
	}
	buf_puts(to, "    ");
	if (i->d)
		buf_printf(to, "%%%u = ", i->d);
	switch (i->op) {
	case IR_CONST: buf_i64(to, i->imm); break;
	case IR_MOVE: operand(i->a, 0, to); break;
	case IR_NEG:
	case IR_SEXT:
	case IR_ZEXT:
	case IR_SWAP:
		buf_puts(to, names[i->op]);
		if (i->op != IR_NEG)
			buf_printf(to, " u%u", i->size * 8);
		buf_printf(to, " %%%u", i->a);
		break;
	case IR_LOAD:
		buf_puts(to, "load ");
		memory(i, to);
		break;
	case IR_STORE:
	case IR_ADD_ATOMIC:
		buf_puts(to, i->op == IR_STORE ? "store " : "add ");
		memory(i, to);
		buf_puts(to, i->op == IR_STORE ? " = " : " += ");
		operand(i->b, i->value, to);
		break;
	case IR_ARG:
	case IR_FRAME:
	case IR_MAP:
	case IR_FUNC: buf_printf(to, "%s %" PRId64, names[i->op], i->imm); break;
	case IR_MAP_VALUE:
		buf_printf(to, "value of map %" PRId64 " + %" PRId64, i->imm, i->value);
		break;
	case IR_CALL: call(i, to); break;
	case IR_JUMP: buf_printf(to, "goto L%u", i->label); break;
	case IR_BRANCH:
		buf_printf(to, "if %%%u %s ", i->a, conds[i->cond]);
		operand(i->b, i->value, to);
		buf_printf(to, " goto L%u", i->label);
		break;
	case IR_RETURN: buf_printf(to, "return %%%u", i->a); break;
	default:
		buf_printf(to, "%%%u %s ", i->a, names[i->op]);
		operand(i->b, i->imm, to);
		break;
	}
}

void ir_dump(const struct ir_prog *p, struct buf *to)
{
	for (size_t n = 0; n < p->funcs.n; n++) {
		const struct ir_func *f = p->funcs.at[n];

		buf_printf(to, "func %zu (%u argument%s, %u bytes of frame):\n", n, f->nr_args,
			   f->nr_args == 1 ? "" : "s", f->frame);
		vec_each (i, &f->code) {
			dump_insn(i, to);
			buf_putc(to, '\n');
		}
	}
}
