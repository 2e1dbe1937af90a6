// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory of programs: where it comes from, how it is filled, copied and read. */
#include "lang/lower.h"

#include <string.h>

#define UNROLLED    128 /* bytes that are copied or zeroed without a loop */
#define ROUND_BYTES 64
#define MUCH	    16384 /* bytes that are left to the kernel */
#define TRIMMED	    32	  /* bytes of text that are looked through word by word */

struct mem mem_take(struct lower *l, uint32_t size)
{
	const uint32_t rounded = (size + 7) & ~7u;
	struct mem m;

	if (rounded <= 64 && !l->in.is_callback && l->frame_used + rounded <= LOWER_FRAME) {
		m = (struct mem){ir_frame(l->f, l->frame_used), 0};
		l->frame_used += rounded;
		if (l->f->frame < l->frame_used)
			l->f->frame = l->frame_used;
		return m;
	}
	return mem_take_scratch(l, size);
}

struct mem mem_take_scratch(struct lower *l, uint32_t size)
{
	const uint32_t rounded = (size + 7) & ~7u;
	struct mem m;

	if (l->scratch_used + rounded > lower_scratch_limit(l->unit)) {
		l->scratch_missing = true;
		return (struct mem){lower_scratch(l), 0};
	}
	m = (struct mem){lower_scratch(l), l->scratch_used};
	l->scratch_used += rounded;
	if (l->scratch_most < l->scratch_used)
		l->scratch_most = l->scratch_used;
	return m;
}

struct mem mem_result(struct lower *l, struct value *v, uint32_t size)
{
	return v->want.base && v->room >= size ? v->want : mem_take(l, size);
}

bool mem_same(struct mem a, struct mem b)
{
	return a.base == b.base && a.offset == b.offset;
}

ir_reg mem_address(struct lower *l, struct mem m)
{
	return m.offset ? ir_binary_const(l->f, IR_ADD, m.base, m.offset) : m.base;
}

/* The largest word that lies there aligned: bases are, and the verifier insists on it. */
static uint32_t word_at(int64_t offset, uint32_t size)
{
	uint32_t word = 8;

	while (word > 1 && (word > size || offset % word))
		word /= 2;
	return word;
}

static void zero_straight(struct lower *l, struct mem m, uint32_t size)
{
	for (uint32_t i = 0, step; i < size; i += step) {
		step = word_at(m.offset + i, size - i);
		ir_store_const(l->f, m.base, m.offset + i, step, 0);
	}
}

static void copy_straight(struct lower *l, struct mem to, struct mem from, uint32_t size)
{
	for (uint32_t i = 0, step; i < size; i += step) {
		step = word_at((to.offset + i) | (from.offset + i), size - i);
		ir_store(l->f, to.base, to.offset + i, step,
			 ir_load(l->f, from.base, from.offset + i, step, false));
	}
}

/* Goes through memory in rounds; from.base 0: it is zeroed. */
static void in_rounds(struct lower *l, struct mem to, struct mem from, uint32_t size)
{
	const ir_label again = ir_new_label(l->f);
	const ir_reg at = ir_new(l->f);
	ir_reg source = 0, target;

	ir_set_const(l->f, at, 0);
	ir_place(l->f, again);
	target = ir_binary(l->f, IR_ADD, mem_address(l, to), at);
	if (from.base)
		source = ir_binary(l->f, IR_ADD, mem_address(l, from), at);
	if (source)
		copy_straight(l, (struct mem){target, 0}, (struct mem){source, 0}, ROUND_BYTES);
	else
		zero_straight(l, (struct mem){target, 0}, ROUND_BYTES);
	ir_set(l->f, at, ir_binary_const(l->f, IR_ADD, at, ROUND_BYTES));
	ir_branch_const(l->f, IR_ULT, at, size / ROUND_BYTES * ROUND_BYTES, again);
}

static struct mem moved(struct mem m, int64_t by)
{
	m.offset += by;
	return m;
}

/*
 * Of much memory the verifier would count every round. The helper that reads the kernel's memory
 * copies it at once, and leaves zeros where it cannot read.
 */
static bool at_once(struct lower *l, struct mem to, ir_reg from, uint32_t size)
{
	if (size <= MUCH || l->prog->runs == RUNS_IN_USER)
		return false;
	IR_CALL(l->f, mem_reader(l, SPACE_KERNEL, false), mem_address(l, to), ir_const(l->f, size),
		from);
	return true;
}

void mem_zero(struct lower *l, struct mem m, uint32_t size)
{
	const uint32_t rounds = size > UNROLLED ? size / ROUND_BYTES * ROUND_BYTES : 0;

	if (size > MUCH && at_once(l, m, ir_const(l->f, 0), size))
		return;
	if (rounds)
		in_rounds(l, m, (struct mem){0, 0}, rounds);
	zero_straight(l, moved(m, rounds), size - rounds);
}

void mem_copy(struct lower *l, struct mem to, struct mem from, uint32_t size)
{
	const uint32_t rounds = size > UNROLLED ? size / ROUND_BYTES * ROUND_BYTES : 0;

	if (mem_same(to, from) || (size > MUCH && at_once(l, to, mem_address(l, from), size)))
		return;
	if (rounds)
		in_rounds(l, to, from, rounds);
	copy_straight(l, moved(to, rounds), moved(from, rounds), size - rounds);
}

/*
 * Bytes of a word up to its first NUL; *rest is what of the words behind it counts: all bits, or
 * none. As the first byte is the lowest, the lowest NUL is the first one, and everything below it
 * stays.
 */
static ir_reg trimmed(struct lower *l, ir_reg word, uint32_t size, ir_reg *rest)
{
	const uint64_t ones = 0x0101010101010101ull >> (64 - 8 * size);
	ir_reg nul, mask;

	nul = ir_binary(l->f, IR_SUB, word, ir_const(l->f, (int64_t)ones));
	nul = ir_binary(l->f, IR_AND, nul, ir_binary_const(l->f, IR_XOR, word, -1));
	nul = ir_binary(l->f, IR_AND, nul, ir_const(l->f, (int64_t)(ones << 7)));
	mask = ir_binary(l->f, IR_AND, ir_binary_const(l->f, IR_SUB, nul, 1),
			 ir_binary_const(l->f, IR_XOR, nul, -1));
	word = ir_binary(l->f, IR_AND, word, mask);
	if (*rest)
		word = ir_binary(l->f, IR_AND, word, *rest);
	nul = ir_binary(l->f, IR_OR, nul, ir_unary(l->f, IR_NEG, nul, 8));
	mask = ir_binary_const(l->f, IR_SUB, ir_binary_const(l->f, IR_SHR, nul, 63), 1);
	*rest = *rest ? ir_binary(l->f, IR_AND, *rest, mask) : mask;
	return word;
}

void mem_copy_text(struct lower *l, struct mem to, struct mem from, uint32_t size)
{
	ir_reg rest = 0;

	if (size > TRIMMED || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__) {
		mem_read_text(l, to, size, SPACE_KERNEL, mem_address(l, from));
		return;
	}
	for (uint32_t i = 0, step; i < size; i += step) {
		step = word_at((to.offset + i) | (from.offset + i), size - i);
		ir_store(l->f, to.base, to.offset + i, step,
			 trimmed(l, ir_load(l->f, from.base, from.offset + i, step, false), step,
				 &rest));
	}
}

void mem_text(struct lower *l, struct mem to, const char *text, size_t len, uint32_t size)
{
	const uint32_t n = len < size ? (uint32_t)len : size - 1;
	uint32_t i = 0;

	while (i <= n) {
		const uint32_t step = word_at(to.offset + i, size - i);
		uint64_t word = 0;

		memcpy(&word, text + i, n - i < step ? n - i : step);
		ir_store_const(l->f, to.base, to.offset + i, step, (int64_t)word);
		i += step;
	}
	if (i < size)
		mem_zero(l, moved(to, i), size - i);
}

ir_reg mem_load(struct lower *l, struct mem m, uint32_t size, bool is_signed)
{
	return ir_load(l->f, m.base, m.offset, size, is_signed);
}

void mem_store(struct lower *l, struct mem m, uint32_t size, ir_reg v)
{
	ir_store(l->f, m.base, m.offset, size, v);
}

void mem_store_const(struct lower *l, struct mem m, uint32_t size, int64_t v)
{
	ir_store_const(l->f, m.base, m.offset, size, v);
}

int mem_reader(const struct lower *l, enum vspace space, bool text)
{
	if (!compile_has(l->features, COMPILE_READ_SPLIT))
		return text ? BPF_FUNC_probe_read_str : BPF_FUNC_probe_read;
	if (space == SPACE_USER)
		return text ? BPF_FUNC_probe_read_user_str : BPF_FUNC_probe_read_user;
	return text ? BPF_FUNC_probe_read_kernel_str : BPF_FUNC_probe_read_kernel;
}

void mem_read(struct lower *l, struct mem to, uint32_t size, enum vspace space, ir_reg address)
{
	const int reader = mem_reader(l, space, false);

	/* The helper leaves zeros where it cannot read. */
	lower_result(l, reader,
		     IR_CALL(l->f, reader, mem_address(l, to), ir_const(l->f, size), address));
}

ir_reg mem_read_some_text(struct lower *l, struct mem to, uint32_t size, ir_reg most,
			  enum vspace space, ir_reg address)
{
	const ir_label good = ir_new_label(l->f);
	const ir_reg length = ir_new(l->f);

	mem_zero(l, to, size);
	ir_set(l->f, length,
	       IR_CALL(l->f, mem_reader(l, space, true), mem_address(l, to), most, address));
	lower_result(l, mem_reader(l, space, true), length);
	ir_branch_const(l->f, IR_SGE, length, 0, good);
	ir_set_const(l->f, length, 0);
	ir_place(l->f, good);
	return length;
}

ir_reg mem_read_text(struct lower *l, struct mem to, uint32_t size, enum vspace space,
		     ir_reg address)
{
	return mem_read_some_text(l, to, size, ir_const(l->f, size), space, address);
}
