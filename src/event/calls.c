// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Function calls in print formats: the macros every event may use (__print_flags(), __get_str(),
 * …), a few of the compiler's own, and functions that libtraceevent's plugins define.
 */
#include "event/expr.h"

#include <stdio.h>

#include "base/vec.h"
#include "event/format.h"

/* A value and the operators behind it; p->tok must then be `end`. */
static bool parse_argument(struct parser *p, struct expr **out, char end)
{
	struct expr *e = expr_new(p, EXPR_NULL);

	if (!e || !parse_operand(p, e))
		return false;
	if (p->tok.kind == TOKEN_OP) {
		if (!parse_operator(p, e))
			return false;
		expr_fold(p, e);
	}
	*out = e;
	return token_is_delim(&p->tok, end) || parser_fail(p, "arguments of a function are wrong");
}

/* ---- __print_flags(), __print_symbolic() ------------------------------------------------- */

/* Numbers in name lists know only some operators, and are signed. */
static bool constant(const struct expr *e, int64_t *value)
{
	int64_t a = 0, b;

	if (e->kind == EXPR_ATOM) {
		*value = (int64_t)e->atom.value;
		return true;
	}
	if (e->kind == EXPR_CAST) {
		if (!constant(e->cast.item, value))
			return false;
		*value &= (int64_t)e->cast.mask;
		return true;
	}
	if (e->kind != EXPR_OP)
		return false;
	if (e->left->kind == EXPR_NULL) {
		if (e->op != OP_SUB && e->op != OP_ADD && e->op != OP_INVERT)
			return false;
	} else if (!constant(e->left, &a)) {
		return false;
	}
	if (!constant(e->right, &b))
		return false;
	switch (e->op) {
	case OP_LT: *value = a < b; return true;
	case OP_LE: *value = a <= b; return true;
	case OP_GT: *value = a > b; return true;
	case OP_GE: *value = a >= b; return true;
	case OP_SHR: *value = a >> (b & 63); return true;
	case OP_MUL:
	case OP_DIV:
	case OP_MOD:
	case OP_XOR:
	case OP_NOT:
	case OP_COND:
	case OP_ELSE:
	case OP_INDEX: return false;
	default: *value = (int64_t)expr_apply(e->op, (uint64_t)a, (uint64_t)b); return true;
	}
}

/* The text that stands for a constant expression, as an atom. A cast around it does not count. */
static bool constant_atom(struct parser *p, struct expr *e, struct expr *atom)
{
	struct buf digits;
	int64_t value;
	bool ok;

	while (e->kind == EXPR_CAST)
		e = e->cast.item;
	if (e->kind == EXPR_ATOM) {
		*atom = *e;
		return true;
	}
	if (e->kind != EXPR_OP || !constant(e, &value))
		return parser_fail(p, "a name's value is no constant");
	buf_init(&digits, 32);
	buf_i64(&digits, value);
	ok = expr_set_atom(p, atom, digits.data, digits.len);
	buf_free(&digits);
	return ok;
}

/* { value, "text" }, behind the opening brace. */
static bool parse_name(struct parser *p, struct expr_name *name)
{
	struct expr *value = expr_new(p, EXPR_NULL), *text = expr_new(p, EXPR_NULL), atom;

	if (!value || !text || !parse_operand(p, value))
		return false;
	if (p->tok.kind == TOKEN_OP && !parse_operator(p, value))
		return false;
	if (!token_is_delim(&p->tok, ',') || !constant_atom(p, value, &atom))
		return parser_fail(p, "a name's value is wrong");
	name->value = expr_name_value(atom.atom.text);
	if (!parse_operand(p, text))
		return false;
	if (!token_is_op(&p->tok, "}") || !constant_atom(p, text, &atom))
		return parser_fail(p, "a name's text is wrong");
	name->text = atom.atom.text;
	name->len = atom.atom.len;
	return true;
}

/* The list of names, from the comma before it to the closing parenthesis. */
static bool parse_names(struct parser *p, struct expr *e)
{
	struct {
		struct expr_name *at;
		size_t n, cap;
	} names = {0};
	bool ok = true;

	do {
		struct expr_name *name;

		parser_next_item(p);
		if (!token_is_op(&p->tok, "{"))
			break;
		name = vec_push(&names);
		ok = name && parse_name(p, name);
		parser_next_item(p);
	} while (ok && token_is_delim(&p->tok, ','));

	if (ok && names.n) {
		e->names.list = arena_array(&p->events->arena, names.n, sizeof(*names.at));
		e->names.nr = names.n;
		ok = e->names.list != NULL;
		if (ok)
			memcpy(e->names.list, names.at, names.n * sizeof(*names.at));
	}
	vec_free(&names);
	if (!ok || !token_is_delim(&p->tok, ')'))
		return parser_fail(p, "a list of names is wrong");
	parser_next_item(p);
	return true;
}

/* The value that names are given to; e becomes the call. */
static bool parse_named_value(struct parser *p, struct expr *e, enum expr_kind kind, uint32_t mark)
{
	struct expr *value = expr_new(p, EXPR_NULL);

	*e = (struct expr){.kind = (uint8_t)kind};
	e->names.value = value;
	p->mark = mark;
	if (!value || !parse_operand(p, value))
		return false;
	while (p->tok.kind == TOKEN_OP)
		if (!parse_operator(p, value))
			return false;
	return token_is_delim(&p->tok, ',') || parser_fail(p, "arguments of a function are wrong");
}

static bool parse_flags(struct parser *p, struct expr *e, enum expr_kind kind)
{
	if (!parse_named_value(p, e, kind, FIELD_FLAG))
		return false;
	parser_next_item(p);
	if (token_is_item(&p->tok)) {
		e->names.delim = arena_strndup(&p->events->arena, p->tok.text, p->tok.len);
		if (!e->names.delim)
			return parser_fail(p, "the print format is too big");
		parser_next_item(p);
	}
	if (!token_is_delim(&p->tok, ','))
		return parser_fail(p, "arguments of a function are wrong");
	return parse_names(p, e);
}

static bool parse_symbolic(struct parser *p, struct expr *e, enum expr_kind kind)
{
	return parse_named_value(p, e, kind, FIELD_SYMBOLIC) && parse_names(p, e);
}

/* ---- bytes ------------------------------------------------------------------------------- */

static bool parse_hex(struct parser *p, struct expr *e, enum expr_kind kind)
{
	*e = (struct expr){.kind = (uint8_t)kind};
	if (!parse_argument(p, &e->bytes.data, ',') || !parse_argument(p, &e->bytes.count, ')'))
		return false;
	parser_next_item(p);
	return true;
}

static bool parse_array(struct parser *p, struct expr *e, enum expr_kind kind)
{
	*e = (struct expr){.kind = (uint8_t)kind};
	if (!parse_argument(p, &e->bytes.data, ',') || !parse_argument(p, &e->bytes.count, ',') ||
	    !parse_argument(p, &e->bytes.size, ')'))
		return false;
	parser_next_item(p);
	return true;
}

/* A field's name and the closing parenthesis. */
static bool parse_field_name(struct parser *p, struct expr *e, enum expr_kind kind)
{
	parser_next(p);
	if (p->tok.kind != TOKEN_WORD)
		return parser_fail(p, "a field's name is missing");
	*e = (struct expr){.kind = (uint8_t)kind};
	e->field.name = arena_strndup(&p->events->arena, p->tok.text, p->tok.len);
	if (!e->field.name)
		return parser_fail(p, "the print format is too big");
	return parser_expect_delim(p, ')');
}

static bool parse_dynamic(struct parser *p, struct expr *e, enum expr_kind kind)
{
	if (!parse_field_name(p, e, kind))
		return false;
	e->field.at = event_own_field_named(p->event, e->field.name);
	if (!e->field.at)
		return parser_fail(p, "an unknown dynamic field");
	parser_next_item(p);
	if (kind == EXPR_DYNAMIC && token_is_op(&p->tok, "["))
		return parser_fail(p, "an index behind __get_dynamic_array()");
	return true;
}

static bool parse_text_field(struct parser *p, struct expr *e, enum expr_kind kind)
{
	if (!parse_field_name(p, e, kind))
		return false;
	e->field.at = event_field_named(p->event, e->field.name);
	parser_next(p);
	return true;
}

/* ---- the compiler's --------------------------------------------------------------------- */

static bool parse_expect(struct parser *p, struct expr *e, enum expr_kind kind)
{
	if (!parse_operand(p, e))
		return false;
	if (!token_is_delim(&p->tok, ','))
		return parser_fail(p, "arguments of __builtin_expect() are wrong");
	parser_next(p);
	if (p->tok.kind != TOKEN_WORD)
		return parser_fail(p, "arguments of __builtin_expect() are wrong");
	if (!parser_expect_delim(p, ')'))
		return false;
	parser_next_item(p);
	return true;
}

/* The size of a type of fixed size, 0 for any other word. libtraceevent 1.7.1 knew only int. */
static unsigned int word_size(const struct token *t, bool old)
{
	static const struct {
		const char *name;
		unsigned int size;
	} types[] = {
		{"int", 4}, {"__u64", 8}, {"u64", 8}, {"__s64", 8}, {"s64", 8}, {"__u32", 4},
		{"u32", 4}, {"__s32", 4}, {"s32", 4}, {"__u16", 2}, {"u16", 2}, {"__s16", 2},
		{"s16", 2}, {"__u8", 1},  {"u8", 1},  {"__8", 1},   {"s8", 1},
	};

	for (size_t i = 0; i < (old ? 1 : sizeof(types) / sizeof(types[0])); i++)
		if (token_is_word(t, types[i].name))
			return types[i].size;
	return 0;
}

/* sizeof(REC->field), from the REC on; 0 when that is not what stands there. */
static unsigned int field_size(struct parser *p)
{
	const struct event_field *f;
	char *name;

	parser_next_item(p);
	if (!token_is_op(&p->tok, "->"))
		return 0;
	parser_next(p);
	name = arena_strndup(&p->events->arena, p->tok.text, p->tok.len);
	f = name ? event_field_named(p->event, name) : NULL;
	if (!f || f->flags & FIELD_ARRAY)
		return 0;
	parser_next_item(p);
	return f->size;
}

/* sizeof(long) and sizeof(long long), from the first long on. */
static unsigned int long_size(struct parser *p)
{
	parser_next_item(p);
	if (!token_is_word(&p->tok, "long"))
		return p->events->long_size;
	parser_next_item(p);
	return 8;
}

static bool parse_sizeof(struct parser *p, struct expr *e, enum expr_kind kind)
{
	unsigned int size;
	char digits[16];

	parser_next_item(p);
	if (token_is_word(&p->tok, "REC")) {
		size = field_size(p);
	} else {
		bool sign = token_is_word(&p->tok, "unsigned");

		if (sign)
			parser_next_item(p);
		if (sign && p->tok.kind != TOKEN_WORD) {
			size = 4;
		} else if (token_is_word(&p->tok, "long")) {
			size = long_size(p);
		} else {
			size = word_size(&p->tok, p->events->compat == COMPAT_31);
			parser_next_item(p);
		}
	}
	if (!size || !token_is_delim(&p->tok, ')'))
		return parser_fail(p, "the size of an unknown type");
	snprintf(digits, sizeof(digits), "%u", size);
	parser_next_item(p);
	return expr_set_atom(p, e, digits, strlen(digits));
}

/* ---- plugins' --------------------------------------------------------------------------- */

static bool parse_plugin_call(struct parser *p, struct expr *e, const struct print_func *func)
{
	*e = (struct expr){.kind = EXPR_CALL};
	e->call.func = func;
	p->plugin_func = true;
	for (unsigned int i = 0; i < func->nr_args; i++) {
		struct expr *arg = expr_new(p, EXPR_NULL);
		char end = i + 1 < func->nr_args ? ',' : ')';

		if (!arg || !parse_operand(p, arg))
			return false;
		if (!token_is_delim(&p->tok, end))
			return parser_fail(p, "arguments of a function are wrong");
		e->call.args[i] = arg;
	}
	parser_next(p);
	return true;
}

static const struct {
	const char *name;
	bool (*parse)(struct parser *p, struct expr *e, enum expr_kind kind);
	enum expr_kind kind;
} calls[] = {
	{"__print_flags", parse_flags, EXPR_FLAGS},
	{"__print_symbolic", parse_symbolic, EXPR_SYMBOL},
	{"__print_hex", parse_hex, EXPR_HEX},
	{"__print_hex_str", parse_hex, EXPR_HEX_STR},
	{"__print_array", parse_array, EXPR_ARRAY},
	{"__get_str", parse_text_field, EXPR_STRING},
	{"__get_rel_str", parse_text_field, EXPR_STRING},
	{"__get_bitmask", parse_text_field, EXPR_BITMASK},
	{"__get_rel_bitmask", parse_text_field, EXPR_BITMASK},
	{"__get_cpumask", parse_text_field, EXPR_CPUMASK},
	{"__get_rel_cpumask", parse_text_field, EXPR_CPUMASK},
	{"__get_dynamic_array", parse_dynamic, EXPR_DYNAMIC},
	{"__get_rel_dynamic_array", parse_dynamic, EXPR_DYNAMIC},
	{"__get_sockaddr", parse_dynamic, EXPR_DYNAMIC},
	{"__get_sockaddr_rel", parse_dynamic, EXPR_DYNAMIC},
	{"__get_dynamic_array_len", parse_dynamic, EXPR_DYNAMIC_LEN},
	{"__get_rel_dynamic_array_len", parse_dynamic, EXPR_DYNAMIC_LEN},
	{"__builtin_expect", parse_expect, EXPR_NULL},
	{"sizeof", parse_sizeof, EXPR_NULL},
};

bool parse_call(struct parser *p, const struct token *name, struct expr *e)
{
	const struct print_func *func;

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (token_is_word(name, calls[i].name))
			return calls[i].parse(p, e, calls[i].kind);
	func = print_func_find(name->text, name->len);
	if (func)
		return parse_plugin_call(p, e, func);
	p->unknown_func = true;
	return parser_fail(p, "an unknown function");
}
