// SPDX-License-Identifier: GPL-2.0-or-later
/* dw_ustack(): from one frame to the next, by the rule of an address. */
#include "lang/unwind_parts.h"
#include "symbols/cfi.h"

#define SEARCH 19 /* steps: UNWIND_ROWS is 2 to this */
#define FACTOR ((int64_t)0x9e3779b97f4a7c15ull)

_Static_assert(1 << SEARCH == UNWIND_ROWS, "a search comes to its end");

/* Where the kernel leaves the registers of whom a signal has interrupted, from sp on. */
enum { SIGNAL_BP = 120, SIGNAL_BX = 128, SIGNAL_SP = 160, SIGNAL_IP = 168 };

/* ---- the rule of an address ---- */

static ir_reg row_address(const struct unwinder *u, ir_reg number)
{
	struct lower *l = u->l;
	const ir_reg within = ir_binary_const(l->f, IR_AND, number, UNWIND_ROWS - 1);

	return ir_binary(l->f, IR_ADD, ir_map_value(l->f, u->rows, 0),
			 ir_binary_const(l->f, IR_SHL, within, 3));
}

/* The last row that does not lie behind an address, of those of a table; its rule's address. */
static ir_reg lower_rule(const struct unwinder *u, ir_reg addr, ir_label end)
{
	struct lower *l = u->l;
	const ir_reg at = ir_binary(l->f, IR_SUB, addr, GET(page.bias));
	const ir_reg low = ir_new(l->f), left = ir_new(l->f);
	ir_reg rule;

	ir_branch_const(l->f, IR_UGT, at, INT32_MAX, end);
	ir_set(l->f, low, mem_load(l, at_offset(u, offsetof(struct state, page.first)), 4, false));
	ir_set(l->f, left, mem_load(l, at_offset(u, offsetof(struct state, page.nr)), 4, false));
	for (int i = 0; i < SEARCH; i++) {
		const ir_label lower = ir_new_label(l->f);
		const ir_reg half = ir_binary_const(l->f, IR_SHR, left, 1);
		const ir_reg middle = ir_binary(l->f, IR_ADD, low, half);

		ir_set(l->f, left, ir_binary(l->f, IR_SUB, left, half));
		ir_branch(l->f, IR_UGT, ir_load(l->f, row_address(u, middle), 0, 4, false), at,
			  lower);
		ir_set(l->f, low, middle);
		ir_place(l->f, lower);
	}
	rule = ir_load(l->f, row_address(u, low), offsetof(struct unwind_row, rule), 4, false);
	rule = ir_binary_const(l->f, IR_AND, rule, UNWIND_RULES - 1);
	return ir_binary(l->f, IR_ADD, ir_map_value(l->f, u->rules, 0),
			 ir_binary_const(l->f, IR_SHL, rule, 4));
}

/* ---- a step ---- */

/* A word of the process's memory; goes to `end` when it cannot be read. */
static void read_stack(const struct unwinder *u, ir_reg addr, size_t to, ir_label end)
{
	const ir_reg rc = IR_CALL(u->l->f, mem_reader(u->l, SPACE_USER, false), address_of(u, to),
				  ir_const(u->l->f, 8), addr);

	ir_branch_const(u->l->f, IR_NE, rc, 0, end);
}

/* Takes a frame into the list; goes to `end` when that is full. */
static void lower_take(const struct unwinder *u, ir_label end)
{
	struct lower *l = u->l;
	const ir_reg n = GET(n), ip = GET(ip);
	ir_reg hash, to;

	ir_branch_const(l->f, IR_UGE, n, u->depth, end);
	to = ir_binary(l->f, IR_ADD, address_of(u, sizeof(struct state)),
		       ir_binary_const(l->f, IR_SHL, n, 3));
	ir_store(l->f, to, 0, 8, ip);
	PUT(n, ir_binary_const(l->f, IR_ADD, n, 1));
	hash = ir_binary(l->f, IR_XOR, GET(hash), ip);
	hash = ir_binary(l->f, IR_MUL, hash, ir_const(l->f, FACTOR));
	PUT(hash, ir_binary(l->f, IR_XOR, hash, ir_binary_const(l->f, IR_SHR, hash, 32)));
}

static ir_reg rule_field(const struct unwinder *u, ir_reg rule, size_t offset, uint32_t size)
{
	return ir_load(u->l->f, rule, (int64_t)offset, size, size > 1);
}

#define RULE(field)                                                                                \
	rule_field(u, rule, offsetof(struct cfi_rule, field), sizeof(((struct cfi_rule *)0)->field))

/* The registers of whom a signal has interrupted: sp points at them. */
static void lower_signal(const struct unwinder *u, ir_label end)
{
	struct lower *l = u->l;
	const ir_reg sp = ir_new(l->f);

	ir_set(l->f, sp, GET(sp));
	read_stack(u, ir_binary_const(l->f, IR_ADD, sp, SIGNAL_BP), offsetof(struct state, bp),
		   end);
	read_stack(u, ir_binary_const(l->f, IR_ADD, sp, SIGNAL_BX), offsetof(struct state, bx),
		   end);
	read_stack(u, ir_binary_const(l->f, IR_ADD, sp, SIGNAL_IP), offsetof(struct state, ip),
		   end);
	read_stack(u, ir_binary_const(l->f, IR_ADD, sp, SIGNAL_SP), offsetof(struct state, sp),
		   end);
	PUT_CONST(exact, 1);
}

/* Leaves the stack pointer before the call. */
static void lower_cfa(const struct unwinder *u, ir_reg rule, ir_reg kind, ir_label end)
{
	struct lower *l = u->l;
	const ir_label add = ir_new_label(l->f), plt = ir_new_label(l->f),
		       done = ir_new_label(l->f);
	const ir_reg base = ir_new(l->f);

	ir_branch_const(l->f, IR_EQ, kind, CFI_PLT, plt);
	ir_set(l->f, base, GET(sp));
	ir_branch_const(l->f, IR_EQ, kind, CFI_SP, add);
	ir_set(l->f, base, GET(bx));
	ir_branch_const(l->f, IR_EQ, kind, CFI_BX, add);
	ir_set(l->f, base, GET(bp));
	ir_place(l->f, add);
	ir_set(l->f, base, ir_binary(l->f, IR_ADD, base, RULE(offset)));
	PUT(cfa, base);
	ir_branch_const(l->f, IR_NE, kind, CFI_DEREF, done);
	read_stack(u, base, offsetof(struct state, cfa), end);
	ir_jump(l->f, done);
	ir_place(l->f, plt);
	ir_set(l->f, base, ir_binary_const(l->f, IR_ADD, GET(sp), 8));
	PUT(cfa, base);
	ir_branch(l->f, IR_ULT, ir_binary_const(l->f, IR_AND, GET(ip), 15), RULE(offset), done);
	PUT(cfa, ir_binary_const(l->f, IR_ADD, base, 8));
	ir_place(l->f, done);
}

/* What a register was before the call, if it has been saved. */
static void lower_saved(const struct unwinder *u, ir_reg flags, ir_reg offset, int64_t by_cfa,
			int64_t by_bp, size_t to, ir_label end)
{
	struct lower *l = u->l;
	const ir_label saved = ir_new_label(l->f), kept = ir_new_label(l->f);
	const ir_reg base = ir_new(l->f);

	ir_set(l->f, base, GET(cfa));
	ir_branch_const(l->f, IR_SET, flags, by_cfa, saved);
	ir_set(l->f, base, GET(bp));
	ir_branch_const(l->f, IR_EQ, ir_binary_const(l->f, IR_AND, flags, by_bp), 0, kept);
	ir_place(l->f, saved);
	read_stack(u, ir_binary(l->f, IR_ADD, base, offset), to, end);
	ir_place(l->f, kept);
}

/* The caller's registers, by the rule. Without progress the stack would have no end. */
static void lower_caller(const struct unwinder *u, ir_reg rule, ir_reg kind, ir_label end)
{
	struct lower *l = u->l;
	const ir_reg flags = RULE(flags);

	lower_cfa(u, rule, kind, end);
	ir_branch(l->f, IR_ULE, GET(cfa), GET(sp), end);
	lower_saved(u, flags, RULE(bx), CFI_BX_BY_CFA, CFI_BX_BY_BP, offsetof(struct state, bx),
		    end);
	lower_saved(u, flags, RULE(bp), CFI_BP_BY_CFA, CFI_BP_BY_BP, offsetof(struct state, bp),
		    end);
	read_stack(u, ir_binary_const(l->f, IR_SUB, GET(cfa), 8), offsetof(struct state, ip), end);
	PUT(sp, GET(cfa));
	PUT_CONST(exact, 0);
}

uint32_t lower_unwind_step(const struct unwinder *u)
{
	struct lower *l = u->l;
	struct lower_func before;
	const uint32_t body = lower_body_begin(l, 2, 1, &before);
	const ir_label end = l->in.end, called = ir_new_label(l->f), done = ir_new_label(l->f);
	const ir_reg addr = ir_new(l->f), rule = ir_new(l->f), kind = ir_new(l->f);

	ir_branch_const(l->f, IR_EQ, GET(ip), 0, end);
	lower_take(u, end);
	/* A call may be the last instruction of a function: what it returns to is another one. */
	ir_set(l->f, addr, ir_binary_const(l->f, IR_SUB, GET(ip), 1));
	ir_branch_const(l->f, IR_EQ, GET(exact), 0, called);
	ir_set(l->f, addr, GET(ip));
	ir_place(l->f, called);
	lower_unwind_page(u, addr, end);
	ir_set(l->f, rule, lower_rule(u, addr, end));
	ir_set(l->f, kind, RULE(kind));
	ir_branch_const(l->f, IR_EQ, kind, CFI_END, end);
	{
		const ir_label usual = ir_new_label(l->f);

		ir_branch_const(l->f, IR_NE, kind, CFI_SIGNAL, usual);
		lower_signal(u, end);
		ir_jump(l->f, done);
		ir_place(l->f, usual);
	}
	lower_caller(u, rule, kind, end);
	ir_place(l->f, done);
	lower_body_end(l, &before);
	return body;
}
