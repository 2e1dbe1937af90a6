// SPDX-License-Identifier: GPL-2.0-or-later
/* Asking user space to do something: a record in the ring buffer. */
#include "lang/lower.h"

#define PAGE	   4096u
#define USUAL_RING (2u << 20)
#define MAX_RING   (1u << 30)

#define DIRECT_LIMIT 256 /* bytes of a record that is written straight into the ring buffer */

/* Of big strings at the end only what they hold is sent. */
#define SHORTENED 64

/* All CPUs share it: as large as what the setting gives to each of them, a power of two. */
static uint32_t ring(struct lower *l)
{
	const uint64_t wanted =
		(uint64_t)l->unit->config.perf_rb_pages * l->features->nr_cpus * PAGE;
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

/* The kernel wakes who reads once after nothing has come for a while; the end cannot wait. */
static int64_t wakeup(const struct action *a)
{
	return a->kind == ACT_EXIT || a->kind == ACT_NOTE_PID || a->kind == ACT_UNWIND
		       ? BPF_RB_FORCE_WAKEUP
		       : 0;
}

static bool is_direct(const struct lower *l, const struct action *a)
{
	if (!compile_has(l->features, COMPILE_RINGBUF) ||
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
	/* All values are there before the record is: nothing may leave the program in between. */
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
	if (compile_has(l->features, COMPILE_RINGBUF))
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
	struct mem record, at;
	ir_reg length = 0;
	uint32_t i = 0;

	if (is_direct(l, a)) {
		send_direct(l, a, args);
		return;
	}
	record = mem_take(l, size);
	lower_head(l, record, a);
	for (struct node *n = args; n && i < a->nr_args; n = n->next, i++) {
		struct value v = {0};

		at = record;
		at.offset += head + a->args[i].offset;
		lower_into(l, n, a->args[i].type, at, &v);
		if (v.length && a->args[i].offset + a->args[i].type->size == a->size) {
			/* The verifier wants to see that it cannot be more. */
			const ir_label fits = ir_new_label(l->f);

			length = ir_new(l->f);
			ir_set(l->f, length, v.length);
			ir_branch_const(l->f, IR_ULE, length, a->args[i].type->size, fits);
			ir_set_const(l->f, length, a->args[i].type->size);
			ir_place(l->f, fits);
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
	record = at = mem_take(l, sizeof(struct action_record) + 8);
	lower_head(l, record, a);
	at.offset += sizeof(struct action_record);
	if (lookup)
		mem_store_const(l, at, 8, 0);
	else
		mem_store(l, at, 8, rc);
	lower_send(l, a, record, sizeof(struct action_record) + 8, 0);
	ir_place(l->f, good);
}
