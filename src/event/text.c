// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Expressions as text: what %s makes of a field, a list of flags, some bytes.
 *
 * The loops are bounded by the record's size and by PLAN_MAX_TEXT, whatever a format asks for.
 */
#include "event/plan.h"

#include "event/names.h"

static const struct spec plain = {.conv = CONV_STRING};

/* ---- fields ---------------------------------------------------------------------------- */

/* A pointer to a string of the kernel: some are known by their address. */
static void print_kernel_string(struct run *x, const struct event_field *f)
{
	const bool native = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	const char *text;
	uint64_t addr = 0;
	size_t left;
	const uint8_t *p = run_bytes(x, f->offset, &left);

	/* Read in this machine's byte order, as libtraceevent does. */
	if (f->size <= left)
		addr = load_uint(p, f->size, native);
	text = printk_format_find(x->events->printk, addr);
	if (text)
		buf_puts(x->out, text);
	else
		buf_hex(x->out, addr);
}

static void print_field(struct run *x, const struct expr *e, const struct spec *s, int star)
{
	const struct event_field *f = e->field.at;
	const uint8_t *p;
	size_t left;

	if (!f)
		return;
	if (!(f->flags & FIELD_ARRAY) && f->size == x->events->long_size) {
		print_kernel_string(x, f);
		return;
	}
	p = run_bytes(x, f->offset, &left);
	/* Fields of size 0 reach to the end of the record. */
	if (f->size && f->size < left)
		left = f->size;
	spec_string(x->out, s, star, (const char *)p, strnlen((const char *)p, left));
}

static void print_dynamic_string(struct run *x, const struct expr *e, const struct spec *s,
				 int star)
{
	uint32_t offset, len;
	const char *text;

	if (!e->field.at)
		return;
	run_dynamic(x, e->field.at, &offset, &len);
	if (!len)
		return;
	len = (uint32_t)run_text(x, offset, &text);
	spec_string(x->out, s, star, text, len);
}

/* ---- names ----------------------------------------------------------------------------- */

static void put_unnamed(struct run *x, int64_t value)
{
	buf_put(x->out, "0x", 2);
	buf_hex(x->out, (uint64_t)value);
}

static void print_flags(struct run *x, const struct expr *e, const struct spec *s, int star)
{
	int64_t value = (int64_t)expr_number(x, e->names.value);
	bool some = false;

	for (size_t i = 0; i < e->names.nr && run_goes_on(x); i++) {
		const struct expr_name *name = &e->names.list[i];

		if (!value && name->value < 0) {
			spec_string(x->out, s, star, name->text, name->len);
			break;
		}
		if (name->value <= 0 || (value & name->value) != name->value)
			continue;
		if (some && e->names.delim)
			buf_puts(x->out, e->names.delim);
		spec_string(x->out, s, star, name->text, name->len);
		some = true;
		value &= ~name->value;
	}
	if (!value)
		return;
	if (some && e->names.delim)
		buf_puts(x->out, e->names.delim);
	put_unnamed(x, value);
}

static void print_symbol(struct run *x, const struct expr *e, const struct spec *s, int star)
{
	int64_t value = (int64_t)expr_number(x, e->names.value);

	for (size_t i = 0; i < e->names.nr; i++) {
		const struct expr_name *name = &e->names.list[i];

		if (name->value == value) {
			spec_string(x->out, s, star, name->text, name->len);
			return;
		}
	}
	put_unnamed(x, value);
}

/* ---- bytes ----------------------------------------------------------------------------- */

/* The bytes that __print_hex() and its kin show; false when the argument has none. */
static bool bytes_of(struct run *x, const struct expr *e, const uint8_t **p, size_t *left)
{
	uint32_t offset, len;

	while (e->kind == EXPR_CAST)
		e = e->cast.item;
	if ((e->kind != EXPR_FIELD && e->kind != EXPR_DYNAMIC) || !e->field.at)
		return false;
	offset = e->field.at->offset;
	if (e->kind == EXPR_DYNAMIC)
		run_dynamic(x, e->field.at, &offset, &len);
	*p = run_bytes(x, offset, left);
	return true;
}

static void print_hex(struct run *x, const struct expr *e, const struct spec *s, int star)
{
	const uint8_t *p;
	size_t left;
	uint32_t count;

	if (!bytes_of(x, e->bytes.data, &p, &left))
		return;
	count = (uint32_t)expr_number(x, e->bytes.count);
	for (size_t i = 0; i < count && i < left && run_goes_on(x); i++) {
		if (i && e->kind == EXPR_HEX)
			buf_putc(x->out, ' ');
		spec_hex_byte(x->out, p[i], false);
	}
}

static void put_element(struct run *x, const uint8_t *p, uint32_t size)
{
	/* In this machine's byte order, as libtraceevent does. */
	uint64_t v = load_uint(p, size, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);

	if (x->events->compat == COMPAT_31)
		buf_u64(x->out, v);
	else
		put_unnamed(x, (int64_t)v);
}

static void print_array(struct run *x, const struct expr *e, const struct spec *s, int star)
{
	const bool old = x->events->compat == COMPAT_31;
	const uint8_t *p;
	size_t left;
	uint32_t count, size;

	if (!bytes_of(x, e->bytes.data, &p, &left))
		return;
	count = (uint32_t)expr_number(x, e->bytes.count);
	size = (uint32_t)expr_number(x, e->bytes.size);
	if (!old)
		buf_putc(x->out, '{');
	for (uint32_t i = 0; i < count && run_goes_on(x); i++) {
		bool bad = size != 1 && size != 2 && size != 4 && size != 8;

		if (bad ? !left : size > left)
			break;
		if (i)
			buf_putc(x->out, old ? ' ' : ',');
		if (bad) {
			buf_put(x->out, "BAD SIZE:", 9);
			buf_i64(x->out, (int32_t)size);
			buf_put(x->out, " 0x", 3);
			buf_hex(x->out, *p);
			size = 1;
		} else {
			put_element(x, p, size);
		}
		p += size;
		left -= size;
	}
	if (!old)
		buf_putc(x->out, '}');
}

/* ---- bit masks ------------------------------------------------------------------------- */

/* Text that a width may apply to is built in the printer's scratch buffer first. */
static void print_scratch(struct run *x, const struct spec *s, int star)
{
	struct buf *text = &x->printer->scratch;

	spec_string(x->out, s, star, text->data, text->len);
}

/* The mask's bytes, cut to the record. */
static const uint8_t *mask_of(const struct run *x, const struct expr *e, size_t *size)
{
	uint32_t offset, len;
	const uint8_t *p;

	run_dynamic(x, e->field.at, &offset, &len);
	p = run_bytes(x, offset, size);
	if (len < *size)
		*size = len;
	return p;
}

/* The i-th byte of a mask, counted from the one with bit 0. */
static uint8_t mask_byte(const struct run *x, const uint8_t *p, size_t size, size_t i)
{
	return p[x->events->big_endian ? size - 1 - i : i];
}

/* As the kernel prints masks: "ff,ffffffff", highest bits first. */
static void print_bitmask(struct run *x, const struct expr *e, const struct spec *s, int star)
{
	struct buf *text = &x->printer->scratch;
	const uint8_t *p;
	size_t size;

	if (!e->field.at)
		return;
	p = mask_of(x, e, &size);
	buf_reset(text);
	for (size_t i = size; i-- > 0;) {
		spec_hex_byte(text, mask_byte(x, p, size, i), false);
		if (i && i % 4 == 0)
			buf_putc(text, ',');
	}
	print_scratch(x, s, star);
}

static void put_range(struct buf *text, size_t first, size_t last)
{
	if (text->len)
		buf_putc(text, ',');
	buf_u64(text, first);
	if (last > first) {
		buf_putc(text, '-');
		buf_u64(text, last);
	}
}

/* As a list of CPUs: "0-3,7". */
static void print_cpumask(struct run *x, const struct expr *e, const struct spec *s, int star)
{
	struct buf *text = &x->printer->scratch;
	const uint8_t *p;
	size_t size, first = 0;
	bool inside = false;

	if (!e->field.at)
		return;
	p = mask_of(x, e, &size);
	buf_reset(text);
	for (size_t i = 0; i < size; i++) {
		const uint8_t byte = mask_byte(x, p, size, i);

		/* Most bytes go on as the one before ended. */
		if (byte == (inside ? 0xff : 0))
			continue;
		for (unsigned int bit = 0; bit < 8; bit++) {
			if ((byte >> bit & 1) == inside)
				continue;
			if (inside)
				put_range(text, first, i * 8 + bit - 1);
			first = i * 8 + bit;
			inside = !inside;
		}
	}
	if (inside)
		put_range(text, first, size * 8 - 1);
	print_scratch(x, s, star);
}

/* ---- everything ------------------------------------------------------------------------ */

static void print_call(struct run *x, const struct expr *e, const struct spec *s, int star)
{
	expr_call(x, e);
}

static void print_atom(struct run *x, const struct expr *e, const struct spec *s, int star)
{
	spec_string(x->out, s, star, e->atom.text, e->atom.len);
}

/* Of the operators only a choice can have a text. */
static void print_choice(struct run *x, const struct expr *e, const struct spec *s, int star)
{
	if (e->op == OP_COND)
		expr_print(x, expr_number(x, e->left) ? e->right->left : e->right->right, s, star);
}

void expr_print(struct run *x, const struct expr *e, const struct spec *s, int star)
{
	static void (*const print[])(struct run *, const struct expr *, const struct spec *,
				     int) = {
		[EXPR_ATOM] = print_atom,	[EXPR_FIELD] = print_field,
		[EXPR_FLAGS] = print_flags,	[EXPR_SYMBOL] = print_symbol,
		[EXPR_HEX] = print_hex,		[EXPR_HEX_STR] = print_hex,
		[EXPR_ARRAY] = print_array,	[EXPR_STRING] = print_dynamic_string,
		[EXPR_BITMASK] = print_bitmask, [EXPR_CPUMASK] = print_cpumask,
		[EXPR_OP] = print_choice,	[EXPR_CALL] = print_call,
	};

	if (e->kind < sizeof(print) / sizeof(print[0]) && print[e->kind])
		print[e->kind](x, e, s, star);
}

/* ---- calls ----------------------------------------------------------------------------- */

/* Where in the record an argument points to. */
static uint64_t place_of(struct run *x, const struct expr *e)
{
	uint32_t offset, len;

	while (e->kind == EXPR_CAST)
		e = e->cast.item;
	if (e->kind == EXPR_DYNAMIC) {
		run_dynamic(x, e->field.at, &offset, &len);
		return offset;
	}
	if (e->kind == EXPR_FIELD && e->field.at && e->field.at->flags & FIELD_ARRAY)
		return e->field.at->offset;
	return PRINT_NO_BYTES;
}

uint64_t expr_call(struct run *x, const struct expr *e)
{
	const struct print_func *func = e->call.func;
	uint64_t args[PRINT_FUNC_MAX_ARGS] = {0}, value = 0;
	struct buf texts;
	struct run inner = *x;

	buf_init(&texts, PLAN_MAX_TEXT);
	inner.out = &texts;
	inner.start = 0;
	for (unsigned int i = 0; i < func->nr_args; i++) {
		switch (func->args[i]) {
		case PRINT_ARG_NUMBER: args[i] = expr_number(x, e->call.args[i]); break;
		case PRINT_ARG_BYTES: args[i] = place_of(x, e->call.args[i]); break;
		case PRINT_ARG_STRING:
			/* An offset at first: the buffer may move while it grows. */
			args[i] = texts.len;
			expr_print(&inner, e->call.args[i], &plain, -1);
			buf_putc(&texts, '\0');
			break;
		}
	}
	for (unsigned int i = 0; i < func->nr_args; i++)
		if (func->args[i] == PRINT_ARG_STRING)
			args[i] = (uintptr_t)(texts.data + args[i]);
	if (!buf_full(&texts))
		value = func->call(x->printer, x->record, args, x->out);
	buf_free(&texts);
	return value;
}
