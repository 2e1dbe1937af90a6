// SPDX-License-Identifier: GPL-2.0-or-later
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
#include "code/ir.h"

#include <inttypes.h>

#include "base/vec.h"

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

/* A register, or the number that stands for it. */
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
