// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The memory of programs: where it comes from, how it is filled, copied and read, and how it is
 * sent to user space.
 */
#include <string.h>

#include "lang/lower/lower.h"

#define UNROLLED    128 /* bytes that are copied or zeroed without a loop */
#define ROUND_BYTES 64
#define MUCH	    16384 /* bytes from which on a helper copies */
#define TRIMMED	    32	  /* bytes of text that are searched word by word */

struct mem mem_alloc(struct lower *l, uint32_t size)
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
	return mem_alloc_scratch(l, size);
}

struct mem mem_alloc_scratch(struct lower *l, uint32_t size)
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
	return v->want.base && v->capacity >= size ? v->want : mem_alloc(l, size);
}

bool mem_same(struct mem a, struct mem b)
{
	return a.base == b.base && a.offset == b.offset;
}

struct mem mem_at(struct mem m, int64_t offset)
{
	m.offset += offset;
	return m;
}

ir_reg mem_address(struct lower *l, struct mem m)
{
	return m.offset ? ir_binary_const(l->f, IR_ADD, m.base, m.offset) : m.base;
}

/* The largest aligned word at an offset: bases are aligned, and the verifier requires it. */
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

/* Copies in a loop; from.base 0: zeroes. */
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

/*
 * For large sizes the verifier would count every round. The helper that reads the kernel's memory
 * copies at once, and writes zeros where it cannot read.
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
	zero_straight(l, mem_at(m, rounds), size - rounds);
}

void mem_copy(struct lower *l, struct mem to, struct mem from, uint32_t size)
{
	const uint32_t rounds = size > UNROLLED ? size / ROUND_BYTES * ROUND_BYTES : 0;

	if (mem_same(to, from) || (size > MUCH && at_once(l, to, mem_address(l, from), size)))
		return;
	if (rounds)
		in_rounds(l, to, from, rounds);
	copy_straight(l, mem_at(to, rounds), mem_at(from, rounds), size - rounds);
}

/*
 * The bytes of a word up to its first NUL. *rest is the mask for the next words: all bits, or none
 * after a NUL. The first byte is the lowest, so the lowest NUL is the first one, and the bytes
 * below it stay.
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
		mem_zero(l, mem_at(to, i), size - i);
}

ir_reg mem_load(struct lower *l, struct mem m, uint32_t size, bool is_signed)
{
	return ir_load(l->f, m.base, m.offset, size, is_signed);
}

ir_reg mem_load_as(struct lower *l, struct mem m, const struct vtype *t)
{
	return mem_load(l, m, t->size, t->kind == V_INT && t->is_signed);
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
	if (!compile_has(l->features, FEATURE_PROBE_READ))
		return text ? BPF_FUNC_probe_read_str : BPF_FUNC_probe_read;
	if (space == SPACE_USER)
		return text ? BPF_FUNC_probe_read_user_str : BPF_FUNC_probe_read_user;
	return text ? BPF_FUNC_probe_read_kernel_str : BPF_FUNC_probe_read_kernel;
}

void mem_read(struct lower *l, struct mem to, uint32_t size, enum vspace space, ir_reg address)
{
	const int reader = mem_reader(l, space, false);

	/* The helper writes zeros where it cannot read. */
	lower_result(l, reader,
		     IR_CALL(l->f, reader, mem_address(l, to), ir_const(l->f, size), address));
}

ir_reg mem_fetch(struct lower *l, uint32_t size, bool is_signed, enum vspace space, ir_reg address)
{
	const struct mem m = mem_alloc(l, 8);

	mem_read(l, m, size, space, address);
	return mem_load(l, m, size, is_signed);
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

/* ---- records in the ring buffer: requests to user space ---- */

#define PAGE	   4096u
#define USUAL_RING (2u << 20)
#define MAX_RING   (1u << 30)

#define DIRECT_LIMIT 256 /* smaller records are written directly into the ring buffer */

/* Only the used bytes of larger strings at the end are sent. */
#define SHORTENED 64

/* All CPUs share the ring: the size is the sum of what the setting gives each, a power of two. */
static uint32_t ring(struct lower *l)
{
	const uint64_t wanted = (uint64_t)l->unit->config.perf_rb_pages * l->c->opt->nr_cpus * PAGE;
	uint32_t size = USUAL_RING;

	if (wanted)
		for (size = PAGE; size < wanted && size < MAX_RING;)
			size *= 2;
	return map_internal(l, &l->unit->ring, "ring", MAP_RINGBUF, 0, size);
}

void lower_count_probe(struct lower *l, int *slot, const char *name)
{
	const uint32_t map = map_internal(l, slot, name, MAP_ARRAY, 8, 1);
	struct map_def *def = l->unit->maps.at[map];

	if (def->value_size < (l->number + 1) * 8)
		def->value_size = (l->number + 1) * 8;
	ir_add_atomic(l->f, ir_map_value(l->f, map, l->number * 8), 0, 8, ir_const(l->f, 1));
}

static void count_lost(struct lower *l)
{
	lower_count_probe(l, &l->unit->lost, "lost");
}

void lower_head(struct lower *l, struct mem m, const struct action *a)
{
	mem_store_const(l, m, 8, (int64_t)((uint64_t)l->number << 32 | a->number));
}

/* The kernel wakes the reader only when it waits for data; these must not be delayed. */
static int64_t wakeup(const struct action *a)
{
	return a->kind == ACT_EXIT || a->kind == ACT_NOTE_PID || a->kind == ACT_UNWIND
		       ? BPF_RB_FORCE_WAKEUP
		       : 0;
}

static bool is_direct(const struct lower *l, const struct action *a)
{
	if (!compile_has(l->features, FEATURE_RINGBUF) ||
	    a->size + sizeof(struct action_record) > DIRECT_LIMIT)
		return false;
	for (uint32_t i = 0; i < a->nr_args; i++)
		if (a->args[i].type->size > SHORTENED)
			return false;
	return true;
}

static void send_direct(struct lower *l, struct action *a, struct node *args)
{
	const uint32_t size = a->size + sizeof(struct action_record);
	const ir_label full = ir_new_label(l->f), end = ir_new_label(l->f);
	struct value *values = arena_array(l->c->arena, a->nr_args + 1, sizeof(*values));
	const ir_reg p = ir_new(l->f);
	uint32_t i = 0;

	if (!values) {
		l->failed = true;
		return;
	}
	/*
	 * All values are computed before the record is reserved: the program must not end in
	 * between.
	 */
	for (struct node *n = args; n && i < a->nr_args; n = n->next, i++) {
		lower_expr(l, n, &values[i]);
		value_own(l, &values[i]);
	}
	ir_set(l->f, p,
	       IR_CALL(l->f, BPF_FUNC_ringbuf_reserve, ir_map(l->f, ring(l)), ir_const(l->f, size),
		       ir_const(l->f, 0)));
	ir_branch_const(l->f, IR_EQ, p, 0, full);
	lower_head(l, (struct mem){p, 0}, a);
	for (i = 0; i < a->nr_args; i++)
		value_store(
			l, &values[i], a->args[i].type,
			(struct mem){p, (int64_t)sizeof(struct action_record) + a->args[i].offset});
	IR_CALL(l->f, BPF_FUNC_ringbuf_submit, p, ir_const(l->f, wakeup(a)));
	ir_jump(l->f, end);
	ir_place(l->f, full);
	count_lost(l);
	ir_place(l->f, end);
}

void lower_send(struct lower *l, const struct action *a, struct mem record, uint32_t size,
		ir_reg length)
{
	const ir_label good = ir_new_label(l->f);
	ir_reg rc;

	if (!length)
		length = ir_const(l->f, size);
	if (compile_has(l->features, FEATURE_RINGBUF))
		rc = IR_CALL(l->f, BPF_FUNC_ringbuf_output, ir_map(l->f, ring(l)),
			     mem_address(l, record), length, ir_const(l->f, wakeup(a)));
	else
		rc = IR_CALL(l->f, BPF_FUNC_perf_event_output, lower_ctx(l), ir_map(l->f, ring(l)),
			     ir_const(l->f, (int64_t)BPF_F_CURRENT_CPU), mem_address(l, record),
			     length);
	ir_branch_const(l->f, IR_EQ, rc, 0, good);
	count_lost(l);
	ir_place(l->f, good);
}

void lower_action(struct lower *l, struct action *a, struct node *args)
{
	const uint32_t head = sizeof(struct action_record), size = head + a->size;
	struct mem record;
	ir_reg length = 0;
	uint32_t i = 0;

	if (is_direct(l, a)) {
		send_direct(l, a, args);
		return;
	}
	record = mem_alloc(l, size);
	lower_head(l, record, a);
	for (struct node *n = args; n && i < a->nr_args; n = n->next, i++) {
		struct value v = {0};

		lower_into(l, n, a->args[i].type, mem_at(record, head + a->args[i].offset), &v);
		if (v.length && a->args[i].offset + a->args[i].type->size == a->size) {
			length = lower_limited(l, v.length, a->args[i].type->size);
			length = ir_binary_const(l->f, IR_ADD, length, head + a->args[i].offset);
		}
	}
	lower_send(l, a, record, size, length);
}

void lower_result(struct lower *l, int helper, ir_reg rc)
{
	const bool lookup = helper == BPF_FUNC_map_lookup_elem;
	struct mem record, at;
	struct action *a;
	ir_label good;

	if (l->c->opt->check < (lookup ? 2 : 1))
		return;
	a = unit_add_action(l->unit, ACT_FAILED);
	if (!a) {
		l->failed = true;
		return;
	}
	a->at = l->at;
	a->top = helper;
	good = ir_new_label(l->f);
	ir_branch_const(l->f, lookup ? IR_NE : IR_SGE, rc, 0, good);
	record = mem_alloc(l, sizeof(struct action_record) + 8);
	lower_head(l, record, a);
	at = mem_at(record, sizeof(struct action_record));
	if (lookup)
		mem_store_const(l, at, 8, 0);
	else
		mem_store(l, at, 8, rc);
	lower_send(l, a, record, sizeof(struct action_record) + 8, 0);
	ir_place(l->f, good);
}
