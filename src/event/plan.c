// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Print plans: compiling them from a format string and its argument trees, and running them.
 *
 * Everything that does not depend on the record is decided while compiling: where a number lies and
 * how many of its bytes count, which literal stands before it, and which conversion shows a field
 * in the raw form of an event.
 */
#include "event/plan.h"

#include "base/num.h"
#include "base/vec.h"
#include "event/names.h"

struct compiler {
	struct event *event;
	struct events *events;
	const char *format; /* what is left of it */
	struct expr *const *args;
	size_t nr_args;
	vec_of(struct plan_op) ops;
	struct buf literals; /* all of them, one after the other */
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
 * A word that is not a number may be the name of a function; its address is meant then. Only words
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
	e = expr_uncast(e);
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

/* Closes the literal that has been collected and starts an operation after it. */
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
	/* The last literal has no conversion after it. */
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

/* ---- expressions as numbers ---- */

/*
 * Everything is unsigned and 64 bits wide, and a field's sign is not extended: -1 in an int is
 * 0xffffffff until a conversion looks at it. That is how libtraceevent computes, so "REC->ret < 0"
 * never holds. What lies outside the record counts as 0.
 */

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
	array = expr_uncast(array);
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

/* ---- running: the inner loop of every report ---- */

/*
 * Room is made once for each operation, for its literal and for the longest number. Short literals
 * and numbers are then written without further checks.
 */

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

/* A NUL ends the line: libtraceevent prints what it has collected as a string. */
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
