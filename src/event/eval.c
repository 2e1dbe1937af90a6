// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Expressions as numbers.
 *
 * Everything is unsigned and 64 bits wide, and a field's sign is not extended: -1 in an int is
 * 0xffffffff until a conversion looks at it. That is how libtraceevent computes, so "REC->ret < 0"
 * never holds. What lies outside the record counts as 0.
 */
#include "event/plan.h"

const uint8_t *run_bytes(const struct run *x, uint64_t offset, size_t *left)
{
	const struct spur_record *r = x->record;

	if (offset > r->size)
		offset = r->size;
	*left = r->size - (size_t)offset;
	return r->data + offset;
}

size_t run_text(const struct run *x, uint64_t offset, const char **text)
{
	size_t left;

	*text = (const char *)run_bytes(x, offset, &left);
	return strnlen(*text, left);
}

void run_dynamic(const struct run *x, const struct event_field *f, uint32_t *offset, uint32_t *len)
{
	const uint32_t size = x->record->size;
	uint32_t where, count;
	uint64_t v;

	*offset = *len = 0;
	if (f->offset > size || f->size > size - f->offset)
		return;
	v = load_uint(x->record->data + f->offset, f->size, x->events->big_endian);
	where = v & 0xffff;
	/* Long ago a location was only an offset, and the data reached to the record's end. */
	count = f->size == 2 ? (where < size ? size - where : 0) : v >> 16 & 0xffff;
	*offset = where > size ? 0 : where;
	*len = where + count > size ? 0 : count;
	if (f->flags & FIELD_RELATIVE)
		*offset += f->offset + f->size;
}

static uint64_t number_at(const struct run *x, uint64_t offset, uint32_t size)
{
	size_t left;
	const uint8_t *p = run_bytes(x, offset, &left);

	return size <= left ? load_uint(p, size, x->events->big_endian) : 0;
}

/* An element of an array: of a field's, or of the bytes of a dynamic one (counted in bytes). */
static uint64_t element(struct run *x, const struct expr *e)
{
	const struct expr *array = e->left;
	const uint64_t index = expr_number(x, e->right);
	uint64_t mask = UINT64_MAX;
	uint32_t offset, len;

	if (array->kind == EXPR_CAST)
		mask = array->cast.element_mask;
	while (array->kind == EXPR_CAST)
		array = array->cast.item;
	if (!array->field.at || (array->kind != EXPR_DYNAMIC && array->kind != EXPR_FIELD))
		return 0;
	if (array->kind == EXPR_DYNAMIC) {
		uint32_t size = array->field.at->elem_size;

		run_dynamic(x, array->field.at, &offset, &len);
		return mask &
		       number_at(x, (uint32_t)(offset + index), size ? size : x->events->long_size);
	}
	offset = array->field.at->offset + (uint32_t)index * array->field.at->elem_size;
	return mask & number_at(x, offset, array->field.at->elem_size);
}

static uint64_t operation(struct run *x, const struct expr *e)
{
	switch (e->op) {
	case OP_INDEX: return element(x, e);
	case OP_COND:
		return expr_number(x, expr_number(x, e->left) ? e->right->left : e->right->right);
	case OP_XOR: return 0; /* libtraceevent knows it only between constants */
	default: return expr_apply(e->op, expr_number(x, e->left), expr_number(x, e->right));
	}
}

uint64_t expr_number(struct run *x, const struct expr *e)
{
	uint32_t offset, len;

	switch (e->kind) {
	case EXPR_ATOM: return e->atom.value;
	case EXPR_FIELD:
		return e->field.at ? number_at(x, e->field.at->offset, e->field.at->size) : 0;
	case EXPR_CAST: return expr_number(x, e->cast.item) & e->cast.mask;
	case EXPR_OP: return operation(x, e);
	case EXPR_DYNAMIC:
	case EXPR_DYNAMIC_LEN:
		run_dynamic(x, e->field.at, &offset, &len);
		/* There it is an address in the printing process: any number but 0 will do. */
		return e->kind == EXPR_DYNAMIC ? offset : len;
	case EXPR_CALL: {
		size_t before = x->out->len;
		uint64_t value = expr_call(x, e);

		x->out->len = before;
		return value;
	}
	default: return 0;
	}
}
