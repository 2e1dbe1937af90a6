// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The instructions of call frame information. What cannot be followed makes the rest of the
 * function unknown: better the stack ends there than in the wrong place.
 */
#include "symbols/cfi_parts.h"

#define MAX_REMEMBERED 16

/* DWARF's numbers of registers. */
enum { REG_BX = 3, REG_BP = 6, REG_SP = 7, REG_RA = CFI_RETURN_ADDRESS };

/* DW_CFA_…: the upper two bits, or all. */
enum {
	CFA_ADVANCE = 0x40,
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
	CFA_NOP = 0x00,
	CFA_SET_LOC = 0x01,
	CFA_ADVANCE1 = 0x02,
	CFA_ADVANCE2 = 0x03,
	CFA_ADVANCE4 = 0x04,
	CFA_OFFSET_EXTENDED = 0x05,
	CFA_RESTORE_EXTENDED = 0x06,
	CFA_UNDEFINED = 0x07,
	CFA_SAME_VALUE = 0x08,
	CFA_REGISTER = 0x09,
	CFA_REMEMBER = 0x0a,
	CFA_RESTORE_STATE = 0x0b,
	CFA_DEF_CFA = 0x0c,
	CFA_DEF_CFA_REGISTER = 0x0d,
	CFA_DEF_CFA_OFFSET = 0x0e,
	CFA_DEF_CFA_EXPRESSION = 0x0f,
	CFA_EXPRESSION = 0x10,
	CFA_OFFSET_EXTENDED_SF = 0x11,
	CFA_DEF_CFA_SF = 0x12,
	CFA_DEF_CFA_OFFSET_SF = 0x13,
	CFA_VAL_OFFSET = 0x14,
	CFA_VAL_OFFSET_SF = 0x15,
	CFA_VAL_EXPRESSION = 0x16,
	CFA_GNU_ARGS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET = 0x2f,
};

/* DW_OP_… */
enum {
	OP_DEREF = 0x06,
	OP_AND = 0x1a,
	OP_PLUS = 0x22,
	OP_SHL = 0x24,
	OP_GE = 0x2a,
	OP_LIT0 = 0x30,
	OP_BREG0 = 0x70,
};

struct machine {
	const struct cfi_common *common;
	struct cfi_state now;
	struct cfi_state remembered[MAX_REMEMBERED];
	unsigned int nr_remembered;
	uint64_t addr;
	bool lost; /* an instruction was not understood */
};

/* ---- expressions ----------------------------------------------------------------------- */

/* DW_OP_bregN with its offset; false when it is of another register. */
static bool is_breg(struct cursor *c, unsigned int reg, int64_t *offset)
{
	if (cursor_u8(c) != OP_BREG0 + reg)
		return false;
	*offset = cfi_sleb(c);
	return !cursor_failed(c);
}

/* What linkers write for the entries of a procedure linkage table. */
static bool is_plt(struct cursor c, int64_t *from)
{
	int64_t sp, ip;
	uint8_t limit;

	if (!is_breg(&c, REG_SP, &sp) || sp != 8 || !is_breg(&c, REG_RA, &ip) || ip ||
	    cursor_u8(&c) != OP_LIT0 + 15 || cursor_u8(&c) != OP_AND)
		return false;
	limit = cursor_u8(&c);
	if (limit < OP_LIT0 || limit > OP_LIT0 + 15 || cursor_u8(&c) != OP_GE ||
	    cursor_u8(&c) != OP_LIT0 + 3 || cursor_u8(&c) != OP_SHL || cursor_u8(&c) != OP_PLUS)
		return false;
	*from = limit - OP_LIT0;
	return !cursor_failed(&c) && !cursor_left(&c);
}

/* "what is at bp + offset" */
static bool is_deref(struct cursor c, int64_t *offset)
{
	return is_breg(&c, REG_BP, offset) && cursor_u8(&c) == OP_DEREF && !cursor_failed(&c) &&
	       !cursor_left(&c);
}

static void set_cfa_expression(struct machine *m, struct cursor c)
{
	if (is_plt(c, &m->now.offset))
		m->now.kind = CFI_PLT;
	else if (is_deref(c, &m->now.offset))
		m->now.kind = CFI_DEREF;
	else
		m->now.kind = CFI_END;
}

/* ---- registers ------------------------------------------------------------------------- */

static struct cfi_saved *saved(struct cfi_state *s, uint64_t reg)
{
	switch (reg) {
	case REG_BX: return &s->bx;
	case REG_BP: return &s->bp;
	case REG_RA: return &s->ra;
	default: return NULL;
	}
}

static void set_saved(struct machine *m, uint64_t reg, enum cfi_where where, int64_t offset)
{
	struct cfi_saved *s = saved(&m->now, reg);

	if (s)
		*s = (struct cfi_saved){where, offset};
}

static void restore(struct machine *m, uint64_t reg)
{
	struct cfi_state start = m->common->start;
	struct cfi_saved *s = saved(&m->now, reg);

	if (s)
		*s = *saved(&start, reg);
}

static void set_expression(struct machine *m, uint64_t reg, struct cursor c)
{
	int64_t offset;

	if (is_breg(&c, REG_BP, &offset) && !cursor_left(&c))
		set_saved(m, reg, WHERE_AT_BP, offset);
	else
		set_saved(m, reg, WHERE_UNKNOWN, 0);
}

static void set_cfa(struct machine *m, uint64_t reg)
{
	m->now.kind = reg == REG_SP   ? CFI_SP
		      : reg == REG_BP ? CFI_BP
		      : reg == REG_BX ? CFI_BX
				      : CFI_END;
}

/* ---- instructions ---------------------------------------------------------------------- */

static int64_t scaled(const struct machine *m, int64_t n)
{
	int64_t v;

	return __builtin_mul_overflow(n, m->common->data_align, &v) ? INT64_MAX : v;
}

static int64_t scaled_u(const struct machine *m, uint64_t n)
{
	return n > INT64_MAX ? INT64_MAX : scaled(m, (int64_t)n);
}

static void remember(struct machine *m)
{
	if (m->nr_remembered < MAX_REMEMBERED)
		m->remembered[m->nr_remembered++] = m->now;
	else
		m->lost = true;
}

static void recall(struct machine *m)
{
	if (m->nr_remembered)
		m->now = m->remembered[--m->nr_remembered];
	else
		m->lost = true;
}

static void advance(struct machine *m, uint64_t by)
{
	uint64_t bytes;

	if (__builtin_mul_overflow(by, m->common->code_align, &bytes) ||
	    __builtin_add_overflow(m->addr, bytes, &m->addr))
		m->lost = true;
}

/* Everything but those that have their operand in the lower bits. */
static void extended(struct machine *m, uint8_t op, struct cursor *c)
{
	uint64_t reg;

	switch (op) {
	case CFA_NOP: break;
	case CFA_SET_LOC: m->addr = cfi_pointer(c, m->common->encoding); break;
	case CFA_ADVANCE1: advance(m, cursor_u8(c)); break;
	case CFA_ADVANCE2: advance(m, cursor_u16(c)); break;
	case CFA_ADVANCE4: advance(m, cursor_u32(c)); break;
	case CFA_OFFSET_EXTENDED:
		reg = cfi_uleb(c);
		set_saved(m, reg, WHERE_AT_CFA, scaled_u(m, cfi_uleb(c)));
		break;
	case CFA_OFFSET_EXTENDED_SF:
		reg = cfi_uleb(c);
		set_saved(m, reg, WHERE_AT_CFA, scaled(m, cfi_sleb(c)));
		break;
	case CFA_GNU_NEGATIVE_OFFSET:
		reg = cfi_uleb(c);
		set_saved(m, reg, WHERE_AT_CFA, -scaled_u(m, cfi_uleb(c)));
		break;
	case CFA_RESTORE_EXTENDED: restore(m, cfi_uleb(c)); break;
	case CFA_UNDEFINED: set_saved(m, cfi_uleb(c), WHERE_LOST, 0); break;
	case CFA_SAME_VALUE: set_saved(m, cfi_uleb(c), WHERE_SAME, 0); break;
	case CFA_REGISTER:
		set_saved(m, cfi_uleb(c), WHERE_UNKNOWN, 0);
		cfi_uleb(c);
		break;
	case CFA_REMEMBER: remember(m); break;
	case CFA_RESTORE_STATE: recall(m); break;
	case CFA_DEF_CFA:
		set_cfa(m, cfi_uleb(c));
		m->now.offset = (int64_t)cfi_uleb(c);
		break;
	case CFA_DEF_CFA_SF:
		set_cfa(m, cfi_uleb(c));
		m->now.offset = scaled(m, cfi_sleb(c));
		break;
	case CFA_DEF_CFA_REGISTER: set_cfa(m, cfi_uleb(c)); break;
	case CFA_DEF_CFA_OFFSET: m->now.offset = (int64_t)cfi_uleb(c); break;
	case CFA_DEF_CFA_OFFSET_SF: m->now.offset = scaled(m, cfi_sleb(c)); break;
	case CFA_DEF_CFA_EXPRESSION: set_cfa_expression(m, cursor_sub(c, cfi_uleb(c))); break;
	case CFA_EXPRESSION:
		reg = cfi_uleb(c);
		set_expression(m, reg, cursor_sub(c, cfi_uleb(c)));
		break;
	case CFA_VAL_OFFSET:
	case CFA_VAL_OFFSET_SF:
		set_saved(m, cfi_uleb(c), WHERE_UNKNOWN, 0);
		cfi_uleb(c);
		break;
	case CFA_VAL_EXPRESSION:
		set_saved(m, cfi_uleb(c), WHERE_UNKNOWN, 0);
		cursor_skip(c, cfi_uleb(c));
		break;
	case CFA_GNU_ARGS_SIZE: cfi_uleb(c); break;
	default: m->lost = true;
	}
}

static void step(struct machine *m, struct cursor *c)
{
	const uint8_t op = cursor_u8(c), low = op & 0x3f;

	switch (op & 0xc0) {
	case CFA_ADVANCE: advance(m, low); break;
	case CFA_OFFSET: set_saved(m, low, WHERE_AT_CFA, scaled_u(m, cfi_uleb(c))); break;
	case CFA_RESTORE: restore(m, low); break;
	default: extended(m, op, c);
	}
	m->lost |= cursor_failed(c);
}

void cfi_start(struct cfi_common *common)
{
	struct machine m = {.common = common};
	struct cursor c = common->program;

	while (cursor_left(&c) && !m.lost)
		step(&m, &c);
	common->start = m.now;
	if (m.lost)
		common->start.kind = CFI_END;
}

/* ---- rows ------------------------------------------------------------------------------ */

/* Puts where a register is into a rule; false when the rule cannot say it. */
static bool put_saved(const struct cfi_saved *s, struct cfi_rule *rule, int16_t *offset,
		      uint8_t by_cfa, uint8_t by_bp)
{
	/* Nobody can need a register that is lost, except those who are wrong. */
	if (s->where == WHERE_SAME || s->where == WHERE_LOST)
		return true;
	if (s->where == WHERE_UNKNOWN || s->offset < INT16_MIN || s->offset > INT16_MAX)
		return false;
	rule->flags |= s->where == WHERE_AT_CFA ? by_cfa : by_bp;
	*offset = (int16_t)s->offset;
	return true;
}

static struct cfi_rule rule_of(const struct machine *m)
{
	static const struct cfi_rule end = {0};
	const struct cfi_state *s = &m->now;
	struct cfi_rule rule = {.kind = (uint8_t)s->kind, .offset = (int32_t)s->offset};

	if (m->common->is_signal)
		return (struct cfi_rule){.kind = CFI_SIGNAL};
	if (m->lost || s->kind == CFI_END || s->offset != rule.offset ||
	    s->ra.where != WHERE_AT_CFA || s->ra.offset != -8)
		return end;
	if (!put_saved(&s->bp, &rule, &rule.bp, CFI_BP_BY_CFA, CFI_BP_BY_BP) ||
	    !put_saved(&s->bx, &rule, &rule.bx, CFI_BX_BY_CFA, CFI_BX_BY_BP))
		return end;
	return rule;
}

bool cfi_run(const struct cfi_common *common, struct cursor program, uint64_t from, uint64_t to,
	     cfi_each *each, void *arg)
{
	struct machine m = {.common = common, .now = common->start, .addr = from};
	uint64_t row = from;
	struct cfi_rule rule = rule_of(&m);

	while (cursor_left(&program) && !m.lost) {
		step(&m, &program);
		if (m.addr != row) {
			if (!each(arg, row, &rule))
				return false;
			/* What is said about addresses outside the function does not count. */
			if (m.addr < row || m.addr >= to)
				return true;
			row = m.addr;
		}
		rule = rule_of(&m);
	}
	return each(arg, row, &rule);
}
