// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Running print plans: the inner loop of every report.
 *
 * Room is made once for each operation, for its literal and for the longest number. Short literals
 * and numbers are then written without further checks.
 */
#include "event/plan.h"

#include "base/num.h"

#define NUMBER_ROOM (NUM_MAX_DEC + 1)

/* Copies in steps of fixed size, which the compiler turns into single instructions. */
static inline void put_literal(struct buf *out, const struct plan_op *op)
{
	char *to = out->data + out->len;

	if (__builtin_expect(op->literal_len <= PLAN_TEXT_STEP, 1))
		memcpy(to, op->literal, PLAN_TEXT_STEP);
	else
		memcpy(to, op->literal, op->literal_len);
	out->len += op->literal_len;
}

static inline uint64_t load(const struct run *x, const struct plan_op *op)
{
	if (op->end > x->record->size)
		return 0;
	return load_uint(x->record->data + op->offset, op->size, x->events->big_endian);
}

static inline void put_decimal(struct run *x, const struct plan_op *op)
{
	uint64_t v = load(x, op);

	if (op->negative) {
		const unsigned int shift = 64u - 8u * op->size;
		const int64_t n = (int64_t)(v << shift) >> shift;

		if (n < 0)
			x->out->data[x->out->len++] = '-';
		v = n < 0 ? -(uint64_t)n : (uint64_t)n;
	}
	x->out->len += num_dec(x->out->data + x->out->len, v);
}

static inline void put_hex(struct run *x, const struct plan_op *op)
{
	x->out->len += num_hex(x->out->data + x->out->len, load(x, op));
}

static inline void put_chars(struct run *x, const struct plan_op *op)
{
	const struct spur_record *r = x->record;
	const uint32_t end = op->end < r->size ? op->end : r->size;
	const char *text;

	if (op->offset >= end)
		return;
	text = (const char *)r->data + op->offset;
	buf_put(x->out, text, strnlen(text, end - op->offset));
}

static inline void put_dynamic(struct run *x, const struct plan_op *op)
{
	uint32_t offset, len;
	const char *text;

	run_dynamic(x, op->arg->field.at, &offset, &len);
	if (!len)
		return;
	len = (uint32_t)run_text(x, offset, &text);
	buf_put(x->out, text, len);
}

/* A NUL ends the line: what the peer collected is printed as a string. */
static void cut_at_nul(struct run *x, size_t from)
{
	char *nul = memchr(x->out->data + from, '\0', x->out->len - from);

	if (nul) {
		x->out->len = (size_t)(nul - x->out->data);
		x->cut = true;
	}
}

static void put_value(struct run *x, const struct plan_op *op)
{
	const int star = op->star ? (int)expr_number(x, op->star) : -1;
	const size_t before = x->out->len;

	switch (op->kind) {
	case PLAN_NUMBER:
		spec_number(x->out, op->spec, star, expr_number(x, op->arg));
		if (op->spec->conv == CONV_CHAR)
			cut_at_nul(x, before);
		break;
	case PLAN_STRING: expr_print(x, op->arg, op->spec, star); break;
	case PLAN_POINTER: pointer_print(x, op->arg, op->spec, star); break;
	default: break;
	}
}

/* The buffer has room for the literal and a number. */
static inline void run_op(struct run *x, const struct plan_op *op)
{
	switch (op->kind) {
	case PLAN_LITERAL: break;
	case PLAN_DECIMAL: put_decimal(x, op); break;
	case PLAN_HEX: put_hex(x, op); break;
	case PLAN_CHARS: put_chars(x, op); break;
	case PLAN_DYNAMIC: put_dynamic(x, op); break;
	default: put_value(x, op); break;
	}
}

void plan_run(struct run *x, const struct event_plan *plan)
{
	const struct plan_op *end = plan->ops + plan->nr_ops;

	for (const struct plan_op *op = plan->ops; op < end && run_goes_on(x); op++) {
		if (!buf_room(x->out, op->literal_len + PLAN_TEXT_STEP + NUMBER_ROOM))
			return;
		put_literal(x->out, op);
		run_op(x, op);
	}
}

void plan_run_op(struct run *x, const struct plan_op *op)
{
	if (buf_room(x->out, NUMBER_ROOM))
		run_op(x, op);
}
