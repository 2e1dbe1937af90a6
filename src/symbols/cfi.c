// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * .eh_frame to rows, for x86-64.
 *
 * The section is a list of records: u32 length (0xffffffff: u64), u32 id, …. A record of id 0 (CIE)
 * is common to several functions, any other (FDE) is for one function: its id is the distance back
 * to its CIE. Both have instructions of a small machine whose state, at each address of the
 * function, is the row.
 */
#include "symbols/cfi.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/vec.h"

enum { CFI_RETURN_ADDRESS = 16 }; /* the number DWARF has for it on x86-64 */

/* Where the old value of a register is. */
enum cfi_where {
	WHERE_SAME,    /* still in the register */
	WHERE_AT_CFA,  /* in memory, at CFA + offset */
	WHERE_AT_BP,   /* at bp + offset */
	WHERE_UNKNOWN, /* what a row cannot express */
	WHERE_LOST,    /* DWARF's "undefined": of the return address, the outermost frame */
};

struct cfi_saved {
	enum cfi_where where;
	int64_t offset;
};

/* One row of DWARF's table, of the registers that matter. */
struct cfi_state {
	enum cfi_kind kind;
	int64_t offset;
	struct cfi_saved bp, bx, ra;
};

/* A CIE. */
struct cfi_common {
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding; /* of the addresses of its functions */
	bool has_data;	  /* functions have bytes in front of their instructions */
	bool is_signal;
	struct cursor program;
	struct cfi_state start; /* what it leaves */
};

/* Called with each row, addresses increasing; false ends the run. */
typedef bool cfi_each(void *arg, uint64_t addr, const struct cfi_rule *rule);

/* ---- numbers ---- */

/* A number of seven bits a byte (LEB128); with a sign, the highest of its bits is that. */
static uint64_t read_leb(struct cursor *c, bool is_signed)
{
	uint64_t v = 0;
	uint8_t byte = 0x80;
	unsigned int shift = 0;

	for (; byte & 0x80 && !cursor_failed(c); shift += 7) {
		byte = cursor_u8(c);
		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
	}
	if (is_signed && byte & 0x40 && shift < 64)
		v |= UINT64_MAX << shift;
	return v;
}

static uint64_t read_uleb(struct cursor *c)
{
	return read_leb(c, false);
}

static int64_t read_sleb(struct cursor *c)
{
	return (int64_t)read_leb(c, true);
}

/* How pointers are written: DW_EH_PE_… */
enum {
	PE_ABSOLUTE = 0x00,
	PE_ULEB = 0x01,
	PE_U16 = 0x02,
	PE_U32 = 0x03,
	PE_U64 = 0x04,
	PE_SLEB = 0x09,
	PE_S16 = 0x0a,
	PE_S32 = 0x0b,
	PE_S64 = 0x0c,
	PE_FORMAT = 0x0f,
	PE_PC_RELATIVE = 0x10,
	PE_APPLICATION = 0x70,
	PE_INDIRECT = 0x80,
	PE_OMIT = 0xff,
};

/* Reads a pointer in an encoding DW_EH_PE_…; fails if that is not known. */
static uint64_t read_pointer(struct cursor *c, uint8_t encoding)
{
	const uint64_t at = cursor_offset(c);
	uint64_t v;

	switch (encoding & PE_FORMAT) {
	case PE_ULEB: v = read_uleb(c); break;
	case PE_SLEB: v = (uint64_t)read_sleb(c); break;
	case PE_U16: v = cursor_u16(c); break;
	case PE_S16: v = (uint64_t)(int16_t)cursor_u16(c); break;
	case PE_U32: v = cursor_u32(c); break;
	case PE_S32: v = (uint64_t)(int32_t)cursor_u32(c); break;
	case PE_ABSOLUTE:
	case PE_U64:
	case PE_S64: v = cursor_u64(c); break;
	default: c->failed = true; return 0;
	}
	switch (encoding & (PE_APPLICATION | PE_INDIRECT)) {
	case PE_ABSOLUTE: return v;
	case PE_PC_RELATIVE: return v + at; /* the section's origin is its address */
	default: c->failed = true; return 0;
	}
}

/* ---- instructions ---- */

/*
 * After an instruction that cannot be expressed the rest of the function is unknown: the stack ends
 * there, instead of being wrong.
 */

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

/* ---- expressions ---- */

/* DW_OP_bregN with its offset; false when it is of another register. */
static bool is_breg(struct cursor *c, unsigned int reg, int64_t *offset)
{
	if (cursor_u8(c) != OP_BREG0 + reg)
		return false;
	*offset = read_sleb(c);
	return !cursor_failed(c);
}

/* The expression that linkers write for a procedure linkage table. */
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

/* ---- registers ---- */

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

/* ---- running them ---- */

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
	case CFA_SET_LOC: m->addr = read_pointer(c, m->common->encoding); break;
	case CFA_ADVANCE1: advance(m, cursor_u8(c)); break;
	case CFA_ADVANCE2: advance(m, cursor_u16(c)); break;
	case CFA_ADVANCE4: advance(m, cursor_u32(c)); break;
	case CFA_OFFSET_EXTENDED:
		reg = read_uleb(c);
		set_saved(m, reg, WHERE_AT_CFA, scaled_u(m, read_uleb(c)));
		break;
	case CFA_OFFSET_EXTENDED_SF:
		reg = read_uleb(c);
		set_saved(m, reg, WHERE_AT_CFA, scaled(m, read_sleb(c)));
		break;
	case CFA_GNU_NEGATIVE_OFFSET:
		reg = read_uleb(c);
		set_saved(m, reg, WHERE_AT_CFA, -scaled_u(m, read_uleb(c)));
		break;
	case CFA_RESTORE_EXTENDED: restore(m, read_uleb(c)); break;
	case CFA_UNDEFINED: set_saved(m, read_uleb(c), WHERE_LOST, 0); break;
	case CFA_SAME_VALUE: set_saved(m, read_uleb(c), WHERE_SAME, 0); break;
	case CFA_REGISTER:
		set_saved(m, read_uleb(c), WHERE_UNKNOWN, 0);
		read_uleb(c);
		break;
	case CFA_REMEMBER: remember(m); break;
	case CFA_RESTORE_STATE: recall(m); break;
	case CFA_DEF_CFA:
		set_cfa(m, read_uleb(c));
		m->now.offset = (int64_t)read_uleb(c);
		break;
	case CFA_DEF_CFA_SF:
		set_cfa(m, read_uleb(c));
		m->now.offset = scaled(m, read_sleb(c));
		break;
	case CFA_DEF_CFA_REGISTER: set_cfa(m, read_uleb(c)); break;
	case CFA_DEF_CFA_OFFSET: m->now.offset = (int64_t)read_uleb(c); break;
	case CFA_DEF_CFA_OFFSET_SF: m->now.offset = scaled(m, read_sleb(c)); break;
	case CFA_DEF_CFA_EXPRESSION: set_cfa_expression(m, cursor_sub(c, read_uleb(c))); break;
	case CFA_EXPRESSION:
		reg = read_uleb(c);
		set_expression(m, reg, cursor_sub(c, read_uleb(c)));
		break;
	case CFA_VAL_OFFSET:
	case CFA_VAL_OFFSET_SF:
		set_saved(m, read_uleb(c), WHERE_UNKNOWN, 0);
		read_uleb(c);
		break;
	case CFA_VAL_EXPRESSION:
		set_saved(m, read_uleb(c), WHERE_UNKNOWN, 0);
		cursor_skip(c, read_uleb(c));
		break;
	case CFA_GNU_ARGS_SIZE: read_uleb(c); break;
	default: m->lost = true;
	}
}

static void step(struct machine *m, struct cursor *c)
{
	const uint8_t op = cursor_u8(c), low = op & 0x3f;

	switch (op & 0xc0) {
	case CFA_ADVANCE: advance(m, low); break;
	case CFA_OFFSET: set_saved(m, low, WHERE_AT_CFA, scaled_u(m, read_uleb(c))); break;
	case CFA_RESTORE: restore(m, low); break;
	default: extended(m, op, c);
	}
	m->lost |= cursor_failed(c);
}

/* Runs the instructions of the CIE. */
static void run_common(struct cfi_common *common)
{
	struct machine m = {.common = common};
	struct cursor c = common->program;

	while (cursor_left(&c) && !m.lost)
		step(&m, &c);
	common->start = m.now;
	if (m.lost)
		common->start.kind = CFI_END;
}

/* ---- rows ---- */

/* Puts where a register is into a rule; false when the rule cannot say it. */
static bool put_saved(const struct cfi_saved *s, struct cfi_rule *rule, int16_t *offset,
		      uint8_t by_cfa, uint8_t by_bp)
{
	/* A register that is lost is not used by a correct caller. */
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

/* Runs the instructions of a function; false when the callback returned false. */
static bool run_function(const struct cfi_common *common, struct cursor program, uint64_t from,
			 uint64_t to, cfi_each *each, void *arg)
{
	struct machine m = {.common = common, .now = common->start, .addr = from};
	uint64_t row = from;
	struct cfi_rule rule = rule_of(&m);

	while (cursor_left(&program) && !m.lost) {
		step(&m, &program);
		if (m.addr != row) {
			if (!each(arg, row, &rule))
				return false;
			/* Rows outside of the function are ignored. */
			if (m.addr < row || m.addr >= to)
				return true;
			row = m.addr;
		}
		rule = rule_of(&m);
	}
	return each(arg, row, &rule);
}

/* ---- records ---- */

#define MAX_ROWS (2u << 20) /* before those that say the same are joined */

struct reader {
	struct cursor section;
	struct cfi_common common; /* of the last CIE */
	uint64_t common_at;	  /* where that is; UINT64_MAX: nowhere */
	bool common_good;
	struct cfi_rows *rows;
	bool no_memory;
};

/* Reads the data for the letters of the augmentation: "zR", "zPLR", "zRS". */
static bool read_augmentation(struct cursor *c, const char *letters, struct cfi_common *to)
{
	struct cursor data;

	if (!*letters)
		return true;
	if (*letters++ != 'z')
		return false;
	to->has_data = true;
	data = cursor_sub(c, read_uleb(c));
	for (; *letters; letters++) {
		switch (*letters) {
		case 'R': to->encoding = cursor_u8(&data); break;
		case 'L': cursor_u8(&data); break;
		/* The function that exceptions call: how it is written, then where it is. */
		case 'P': read_pointer(&data, cursor_u8(&data) & PE_FORMAT); break;
		case 'S': to->is_signal = true; break;
		case 'B': break;
		default: return false;
		}
	}
	return !cursor_failed(&data);
}

static bool read_common(struct cursor c, struct cfi_common *to)
{
	const char *letters;
	uint8_t version;

	*to = (struct cfi_common){.encoding = PE_ABSOLUTE};
	cursor_skip(&c, 4); /* its id */
	version = cursor_u8(&c);
	letters = cursor_string(&c);
	if (cursor_failed(&c) || (version != 1 && version != 3))
		return false;
	to->code_align = read_uleb(&c);
	to->data_align = read_sleb(&c);
	if ((version == 1 ? cursor_u8(&c) : read_uleb(&c)) != CFI_RETURN_ADDRESS)
		return false;
	if (!read_augmentation(&c, letters, to) || cursor_failed(&c))
		return false;
	to->program = c;
	run_common(to);
	return true;
}

/* A record's content, from its id on; failed at the end. 64-bit lengths are allowed. */
static struct cursor next_record(struct cursor *c)
{
	uint64_t length = cursor_u32(c);

	if (length == UINT32_MAX)
		length = cursor_u64(c);
	if (!length)
		c->failed = true; /* what ends the section */
	return cursor_sub(c, length);
}

/* The CIE at a distance from the id of an FDE. */
static const struct cfi_common *common_of(struct reader *r, uint64_t id_at, uint32_t distance)
{
	const uint64_t at = id_at - distance;
	struct cursor c = r->section;

	if (distance > id_at - c.origin)
		return NULL;
	if (at != r->common_at) {
		r->common_at = at;
		c.pos = c.base + (at - c.origin);
		c.failed = false;
		c = next_record(&c);
		r->common_good = !cursor_failed(&c) && read_common(c, &r->common);
	}
	return r->common_good ? &r->common : NULL;
}

static bool add_row(void *arg, uint64_t addr, const struct cfi_rule *rule)
{
	struct reader *r = arg;
	const struct cfi_row row = {addr, *rule};

	r->no_memory |= r->rows->n >= MAX_ROWS || !vec_add(r->rows, &row);
	return !r->no_memory;
}

static void read_function(struct reader *r, struct cursor c)
{
	static const struct cfi_rule end = {0};
	const uint64_t id_at = cursor_offset(&c);
	const uint32_t distance = cursor_u32(&c);
	const struct cfi_common *common = distance ? common_of(r, id_at, distance) : NULL;
	uint64_t from, to;

	if (!common)
		return;
	from = read_pointer(&c, common->encoding);
	if (__builtin_add_overflow(from, read_pointer(&c, common->encoding & PE_FORMAT), &to))
		return;
	if (common->has_data)
		cursor_skip(&c, read_uleb(&c));
	/* A function that the linker removed is at 0, or has no length. */
	if (cursor_failed(&c) || from >= to || !from)
		return;
	if (run_function(common, c, from, to, add_row, r))
		add_row(r, to, &end);
}

/* ---- in order ---- */

/* Another function may begin where one ends; its row wins. */
static int by_address(const void *a, const void *b)
{
	const struct cfi_row *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (!x->rule.kind != !y->rule.kind)
		return x->rule.kind ? 1 : -1;
	/* A file may have two rules for an address; the order only has to be stable. */
	return memcmp(&x->rule, &y->rule, sizeof(x->rule));
}

static void put_in_order(struct cfi_rows *rows)
{
	size_t n = 0;

	if (rows->n)
		qsort(rows->at, rows->n, sizeof(*rows->at), by_address);
	for (size_t i = 0; i < rows->n; i++) {
		const struct cfi_row row = rows->at[i];

		if (n && rows->at[n - 1].addr == row.addr)
			n--;
		if (n && !memcmp(&rows->at[n - 1].rule, &row.rule, sizeof(row.rule)))
			continue;
		rows->at[n++] = row;
	}
	rows->n = n;
}

/* ---- all of it ---- */

static bool cfi_takes(const struct binary_info *info)
{
	return info->machine == EM_X86_64 && info->is_64 && !info->big_endian;
}

bool cfi_parse(struct cursor section, uint64_t addr, struct cfi_rows *rows)
{
	struct reader r = {.section = section, .common_at = UINT64_MAX, .rows = rows};
	struct cursor c;

	r.section.origin = addr;
	c = r.section;
	while (cursor_left(&c) && !r.no_memory) {
		struct cursor record = next_record(&c);

		if (!cursor_failed(&record))
			read_function(&r, record);
	}
	put_in_order(rows);
	return !r.no_memory;
}

int cfi_read(const struct binary *b, struct cfi_rows *rows, struct spur_error *err)
{
	const struct binary_info info = binary_info(b);
	struct cursor section;
	uint64_t addr;

	if (!cfi_takes(&info))
		return error_set(err, -ENOTSUP, "its stacks cannot be unwound on this machine");
	if (!binary_section_bytes(b, ".eh_frame", &addr, &section))
		return error_set(err, -ENOENT, "it has no .eh_frame to unwind stacks with");
	if (!cfi_parse(section, addr, rows))
		return error_set(err, -ENOMEM, "its .eh_frame is too large");
	return 0;
}
