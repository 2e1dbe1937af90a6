// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From a format string and its argument trees to a plan.
 *
 * Everything that does not depend on the record is decided here: where a number lies and how many
 * of its bytes count, which literal stands before it, and which conversion shows a field in the
 * raw form of an event.
 */
#include "event/plan.h"

#include "base/vec.h"
#include "event/names.h"

struct compiler {
	struct event *event;
	struct events *events;
	const char *format; /* what is left of it */
	struct expr *const *args;
	size_t nr_args;
	struct {
		struct plan_op *at;
		size_t n, cap;
	} ops;
	struct buf literals; /* all of them, one behind the other */
	size_t literal;	     /* where the next operation's begins */
	bool after_0x;
	const char *why;
};

static bool fail(struct compiler *c, const char *why)
{
	c->why = why;
	return false;
}

/* ---- names of functions ------------------------------------------------------------------ */

/*
 * All functions by the hash of their name. Of those with the same name the lowest one counts. A
 * kernel has 200 000, so this is done when the first name is looked up, which few traces need.
 */
static void index_functions(struct events *ev)
{
	const struct symbol *all;
	size_t n;

	ev->functions_indexed = true;
	all = symbols_all(ev->symbols, &n);
	while (n-- > 0)
		map_set(&ev->functions, map_hash(all[n].name, strlen(all[n].name)),
			(void *)&all[n]);
}

static uint64_t function_address(struct events *ev, const struct expr *e)
{
	const struct symbol *sym;

	if (!ev->functions_indexed)
		index_functions(ev);
	sym = map_get(&ev->functions, map_hash(e->atom.text, e->atom.len));
	return sym && !strcmp(sym->name, e->atom.text) ? sym->addr : 0;
}

/*
 * A word that is no number may be the name of a function, whose address is then meant. Only words
 * whose number matters are looked up: doing so parses the whole kallsyms.
 */
static void resolve_number(struct events *ev, struct expr *e)
{
	switch (e->kind) {
	case EXPR_ATOM:
		if (!e->atom.value && e->word)
			e->atom.value = function_address(ev, e);
		break;
	case EXPR_CAST: resolve_number(ev, e->cast.item); break;
	case EXPR_OP:
		resolve_number(ev, e->left);
		resolve_number(ev, e->right);
		break;
	case EXPR_CALL:
		for (unsigned int i = 0; i < e->call.func->nr_args; i++)
			if (e->call.func->args[i] == PRINT_ARG_NUMBER)
				resolve_number(ev, e->call.args[i]);
		break;
	default: break;
	}
}

static void resolve_text(struct events *ev, struct expr *e)
{
	switch (e->kind) {
	case EXPR_FLAGS:
	case EXPR_SYMBOL: resolve_number(ev, e->names.value); break;
	case EXPR_ARRAY: resolve_number(ev, e->bytes.size); /* fallthrough */
	case EXPR_HEX:
	case EXPR_HEX_STR: resolve_number(ev, e->bytes.count); break;
	case EXPR_OP:
		if (e->op != OP_COND)
			break;
		resolve_number(ev, e->left);
		resolve_text(ev, e->right->left);
		resolve_text(ev, e->right->right);
		break;
	case EXPR_CALL: resolve_number(ev, e); break;
	default: break;
	}
}

/* ---- operations -------------------------------------------------------------------------- */

/* A number at a fixed place, and how many of its bits count once all casts are applied. */
struct place {
	uint64_t offset;
	uint32_t size;
	unsigned int bits;
};

static void keep_bits(struct place *at, uint64_t mask)
{
	const unsigned int bits = 64u - (unsigned int)__builtin_clzll(mask);

	if (bits < at->bits)
		at->bits = bits;
}

static const struct event_field *field_of(const struct expr *e)
{
	while (e->kind == EXPR_CAST)
		e = e->cast.item;
	return e->kind == EXPR_FIELD ? e->field.at : NULL;
}

/* REC->field[constant], maybe cast before it is indexed. */
static bool element_place(const struct expr *e, struct place *at)
{
	const struct event_field *f = field_of(e->left);

	if (!f || e->right->kind != EXPR_ATOM || e->right->atom.value > UINT16_MAX)
		return false;
	if (e->left->kind == EXPR_CAST)
		keep_bits(at, e->left->cast.element_mask);
	at->size = f->elem_size;
	at->offset = f->offset + e->right->atom.value * at->size;
	return true;
}

/* REC->field or an element of it, maybe cast. */
static bool place_of(const struct expr *e, struct place *at)
{
	at->bits = 64;
	for (; e->kind == EXPR_CAST; e = e->cast.item)
		keep_bits(at, e->cast.mask);
	if (e->kind == EXPR_OP && e->op == OP_INDEX) {
		if (!element_place(e, at))
			return false;
	} else if (e->kind == EXPR_FIELD && e->field.at) {
		at->offset = e->field.at->offset;
		at->size = e->field.at->size;
	} else {
		return false;
	}
	if (at->size != 1 && at->size != 2 && at->size != 4 && at->size != 8)
		return false;
	if (at->size * 8 < at->bits)
		at->bits = at->size * 8;
	return at->offset + at->size <= INT32_MAX;
}

/*
 * A plain number at a fixed place becomes a load of just the bytes that are shown. It can be
 * negative only when it has all the bits of the conversion's type: shorter ones are not extended.
 */
static void simplify_number(const struct compiler *c, struct plan_op *op)
{
	const struct spec *s = op->spec;
	struct place at;
	unsigned int bits;

	if (!spec_is_plain(s) || s->conv == CONV_CHAR || s->conv == CONV_OCTAL ||
	    s->conv == CONV_HEX_UPPER || !place_of(op->arg, &at))
		return;
	bits = at.bits < s->bits ? at.bits : s->bits;
	op->kind = s->conv == CONV_HEX ? PLAN_HEX : PLAN_DECIMAL;
	op->negative = s->conv == CONV_SIGNED && bits == s->bits;
	op->size = (uint8_t)(bits / 8);
	op->end = (uint32_t)at.offset + at.size;
	op->offset = c->events->big_endian ? op->end - op->size : (uint32_t)at.offset;
}

static void simplify_string(const struct compiler *c, struct plan_op *op)
{
	const struct expr *e = op->arg;
	const struct event_field *f;

	if (!spec_is_plain(op->spec) || (e->kind != EXPR_STRING && e->kind != EXPR_FIELD))
		return;
	f = e->field.at;
	if (!f)
		return;
	if (e->kind == EXPR_STRING) {
		op->kind = PLAN_DYNAMIC;
		return;
	}
	/* What is no array and as long as a pointer is a pointer to a string of the kernel. */
	if (!(f->flags & FIELD_ARRAY) && f->size == c->events->long_size)
		return;
	op->kind = PLAN_CHARS;
	op->offset = f->offset;
	op->end = f->size ? f->offset + f->size : UINT32_MAX;
}

static void choose_kind(const struct compiler *c, struct plan_op *op, struct expr *arg)
{
	op->field = field_of(arg);
	switch (op->spec->conv) {
	case CONV_POINTER:
		op->kind = PLAN_POINTER;
		resolve_number(c->events, arg);
		break;
	case CONV_STRING:
		op->kind = PLAN_STRING;
		resolve_text(c->events, arg);
		simplify_string(c, op);
		break;
	default:
		op->kind = PLAN_NUMBER;
		resolve_number(c->events, arg);
		simplify_number(c, op);
		break;
	}
}

/* Closes the literal that has been collected and starts an operation behind it. */
static struct plan_op *new_op(struct compiler *c)
{
	struct plan_op *op = c->ops.n < PLAN_MAX_OPS ? vec_push(&c->ops) : NULL;

	if (!op || buf_full(&c->literals)) {
		fail(c, "the print format is too big");
		return NULL;
	}
	op->literal_len = (uint32_t)(c->literals.len - c->literal);
	op->after_0x = c->after_0x;
	c->literal = c->literals.len;
	c->after_0x = false;
	return op;
}

static struct expr *next_arg(struct compiler *c)
{
	if (!c->nr_args) {
		fail(c, "more conversions than arguments");
		return NULL;
	}
	c->nr_args--;
	return *c->args++;
}

static bool compile_conversion(struct compiler *c, const struct spec *s, struct expr *star)
{
	struct expr *arg = next_arg(c);
	struct plan_op *op;
	struct spec *copy;

	if (!arg)
		return false;
	if (s->conv < CONV_STRING && (s->length < -2 || s->length > 2))
		return fail(c, "a conversion of unknown size");
	copy = arena_alloc(&c->events->arena, sizeof(*copy));
	op = new_op(c);
	if (!copy || !op)
		return fail(c, "the print format is too big");
	*copy = *s;
	op->spec = copy;
	op->arg = arg;
	op->star = star;
	if (star)
		resolve_number(c->events, star);
	choose_kind(c, op, arg);
	return true;
}

/* ---- the format string ------------------------------------------------------------------- */

/* Takes a literal up to the next conversion. */
static void read_literal(struct compiler *c)
{
	const size_t start = c->literals.len;
	const char *p = c->format;
	size_t len;

	for (; *p && (*p != '%' || p[1] == '%'); p++) {
		if (*p == '\\' && p[1])
			buf_putc(&c->literals, spec_unescape(*++p));
		else if (*p == '%')
			buf_putc(&c->literals, *p++);
		else
			buf_putc(&c->literals, *p);
	}
	c->format = p;
	len = c->literals.len - start;
	c->after_0x = len > 1 && !memcmp(c->literals.data + c->literals.len - 2, "0x", 2);
}

static bool read_conversion(struct compiler *c)
{
	struct expr *star = NULL;
	size_t used, letter;
	struct spec s;
	enum spec_result result =
		spec_read(c->format, c->events->compat == COMPAT_31, &s, &used, &letter);

	c->format += used;
	if (s.stars > 1)
		return fail(c, "a conversion with two *");
	if (s.stars && !(star = next_arg(c)))
		return false;
	switch (result) {
	case SPEC_CONVERSION: return compile_conversion(c, &s, star);
	case SPEC_TOO_LONG: return fail(c, "a conversion is too long");
	case SPEC_CUT: return true;
	case SPEC_UNKNOWN: break;
	}
	buf_putc(&c->literals, '>');
	buf_putc(&c->literals, s.text[0]);
	buf_putc(&c->literals, '<');
	c->after_0x = false;
	return true;
}

static bool compile_format(struct compiler *c)
{
	while (*c->format) {
		if (*c->format != '%' || c->format[1] == '%')
			read_literal(c);
		else if (!read_conversion(c))
			return false;
	}
	/* The last literal has no conversion behind it. */
	return c->literals.len == c->literal || new_op(c);
}

/* ---- the plan ---------------------------------------------------------------------------- */

/*
 * The raw form shows a field by the conversion the print format has for it. libtraceevent looks
 * for that conversion from where it found the last one on, and gives up for good once it found one
 * at the very end.
 */
static void assign_fields(struct event *e, const struct event_plan *plan)
{
	uint32_t pos = 0;

	for (uint32_t i = 0; i < e->nr_fields; i++) {
		struct event_field *f = &e->fields[i];

		if (f->flags & (FIELD_ARRAY | FIELD_STRING))
			continue;
		for (uint32_t k = 0; k < plan->nr_ops && !f->shown; k++)
			if (plan->ops[k].field == f)
				f->shown = &plan->ops[k];
		if (!f->shown || pos == plan->nr_ops || i < e->nr_common)
			continue;
		while (plan->ops[pos].field != f)
			pos = (pos + 1) % plan->nr_ops;
		f->shown_in_turn = &plan->ops[pos++];
	}
}

static bool make_plan(struct compiler *c)
{
	struct arena *arena = &c->events->arena;
	struct event_plan *plan = arena_alloc(arena, sizeof(*plan));
	struct plan_op *ops = arena_array(arena, c->ops.n + 1, sizeof(*ops));
	char *text = arena_alloc(arena, c->literals.len + PLAN_TEXT_STEP);

	if (!plan || !ops || !text)
		return fail(c, "the print format is too big");
	plan->ops = ops;
	memcpy(text, c->literals.data, c->literals.len);
	vec_each (op, &c->ops) {
		op->literal = text;
		text += op->literal_len;
		plan->ops[plan->nr_ops++] = *op;
	}
	assign_fields(c->event, plan);
	c->event->plan = plan;
	return true;
}

bool plan_compile(struct event *e, const char *format, struct expr *const *args, size_t nr_args,
		  const char **why)
{
	struct compiler c = {
		.event = e,
		.events = e->events,
		.format = format,
		.args = args,
		.nr_args = nr_args,
	};
	bool ok;

	buf_init(&c.literals, PLAN_MAX_TEXT);
	ok = compile_format(&c) && make_plan(&c);
	vec_free(&c.ops);
	buf_free(&c.literals);
	*why = c.why;
	return ok;
}
