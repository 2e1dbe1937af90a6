// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Growing expression trees.
 *
 * An operand is parsed into a node, and the operator after it turns that very node into the
 * operation: the old content moves to a new left child. How far the right side reaches is decided
 * by parse_rest(). Three things follow that C programmers do not expect and that must stay:
 * operators of equal rank group from the right, an operand in parentheses is torn apart again when
 * its operator binds weaker than the one before it, and what follows "x ? a : b" is applied to the
 * whole of it.
 */
#include "event/expr.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/vec.h"
#include "event/format.h"

static bool parse_operand_here(struct expr_parser *p, struct expr *e);

static const struct {
	const char *text;
	int8_t prio; /* negative: always applies to the operand right before it */
	bool binary;
} operators[NR_OPS] = {
	[OP_INDEX] = {"[", -1, false}, [OP_COND] = {"?", 16, false},   [OP_ELSE] = {":", -1, false},
	[OP_INVERT] = {"~", 4, false}, [OP_NOT] = {"!", 4, false},     [OP_MUL] = {"*", 6, true},
	[OP_DIV] = {"/", 6, true},     [OP_MOD] = {"%", 6, true},      [OP_ADD] = {"+", 7, true},
	[OP_SUB] = {"-", 7, true},     [OP_SHL] = {"<<", 8, true},     [OP_SHR] = {">>", 8, true},
	[OP_LT] = {"<", 9, true},      [OP_GT] = {">", 9, true},       [OP_LE] = {"<=", 9, true},
	[OP_GE] = {">=", 9, true},     [OP_EQ] = {"==", 10, true},     [OP_NE] = {"!=", 10, true},
	[OP_AND] = {"&", 11, true},    [OP_XOR] = {"^", 12, true},     [OP_OR] = {"|", 13, true},
	[OP_BOTH] = {"&&", 14, true},  [OP_EITHER] = {"||", 15, true},
};

/* Which bits a cast to this type keeps. */
static uint64_t expr_type_mask(const char *type, size_t len)
{
	static const struct {
		const char *name;
		uint64_t mask;
	} types[] = {
		{"u8", 0xff},	     {"s8", 0xff},
		{"char", 0xff},	     {"unsigned char", 0xff},
		{"u16", 0xffff},     {"s16", 0xffff},
		{"short", 0xffff},   {"unsigned short", 0xffff},
		{"u32", 0xffffffff}, {"s32", 0xffffffff},
		{"int", 0xffffffff}, {"unsigned int", 0xffffffff},
	};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (strlen(types[i].name) == len && !memcmp(types[i].name, type, len))
			return types[i].mask;
	return UINT64_MAX;
}

/* NR_OPS when the token is no operator. */
static enum expr_op operator_of(const struct format_token *t)
{
	int op = 0;

	while (op < NR_OPS && !token_is_op(t, operators[op].text))
		op++;
	return op;
}

bool parser_fail(struct expr_parser *p, const char *why)
{
	if (!p->why)
		p->why = why;
	return false;
}

struct expr *expr_new(struct expr_parser *p, enum expr_kind kind)
{
	struct expr *e = NULL;

	if (p->nodes < EXPR_MAX_NODES)
		e = arena_alloc(&p->events->arena, sizeof(*e));
	if (!e) {
		parser_fail(p, "the print format is too big");
		return NULL;
	}
	p->nodes++;
	e->kind = (uint8_t)kind;
	return e;
}

void parser_next(struct expr_parser *p)
{
	p->tok = lexer_next(&p->lex);
}

void parser_next_item(struct expr_parser *p)
{
	p->tok = lexer_next_item(&p->lex);
}

/* Reads the next token, which must be this one (a line end is not skipped). */
static bool parser_expect_delim(struct expr_parser *p, char c)
{
	parser_next(p);
	return token_is_delim(&p->tok, c) || parser_fail(p, "a parenthesis or comma is missing");
}

/* Makes e an atom of that text. */
static bool expr_set_atom(struct expr_parser *p, struct expr *e, const char *text, size_t len)
{
	char *copy = arena_strndup(&p->events->arena, text, len);

	if (!copy)
		return parser_fail(p, "the print format is too big");
	*e = (struct expr){.kind = EXPR_ATOM};
	e->atom.text = copy;
	e->atom.len = strlen(copy);
	e->atom.value = strtoull(copy, NULL, 0);
	e->word = !(copy[0] >= '0' && copy[0] <= '9');
	return true;
}

static bool set_atom_number(struct expr_parser *p, struct expr *e, int64_t value)
{
	struct buf text;
	bool ok;

	buf_init(&text, 32);
	buf_i64(&text, value);
	ok = expr_set_atom(p, e, text.data, text.len);
	buf_free(&text);
	return ok;
}

/* ---- operands -------------------------------------------------------------------------- */

/* "REC" has been read. */
static bool parse_record(struct expr_parser *p, struct expr *e)
{
	struct event_field *f;

	parser_next_item(p);
	if (token_is_delim(&p->tok, ')')) {
		p->bare_record = true;
		return true;
	}
	if (!token_is_op(&p->tok, "->"))
		return parser_fail(p, "REC without ->");
	parser_next(p);
	if (p->tok.kind != TOKEN_WORD)
		return parser_fail(p, "REC-> without a field");
	*e = (struct expr){.kind = EXPR_FIELD};
	e->field.name = arena_strndup(&p->events->arena, p->tok.text, p->tok.len);
	if (!e->field.name)
		return parser_fail(p, "the print format is too big");
	f = (struct event_field *)event_field_named(p->event, e->field.name);
	e->field.at = f;
	if (f)
		f->flags |= p->mark;
	p->mark = 0;
	parser_next(p);
	return true;
}

/* Some words: a number, a constant, a type. Or the name of a function. */
static bool parse_words(struct expr_parser *p, struct expr *e)
{
	struct format_token first = p->tok;
	struct buf words;
	bool ok;

	parser_next_item(p);
	if (token_is_delim(&p->tok, '('))
		return parse_call(p, &first, e);
	if (p->tok.kind != TOKEN_WORD)
		return expr_set_atom(p, e, first.text, first.len);

	buf_init(&words, 4096);
	buf_put(&words, first.text, first.len);
	for (; p->tok.kind == TOKEN_WORD; parser_next_item(p)) {
		buf_putc(&words, ' ');
		buf_put(&words, p->tok.text, p->tok.len);
	}
	ok = buf_full(&words) ? parser_fail(p, "too many words in a row")
			      : expr_set_atom(p, e, words.data, words.len);
	buf_free(&words);
	return ok;
}

static bool parse_quoted(struct expr_parser *p, struct expr *e)
{
	bool ok;

	/* Before 1.8.3 libtraceevent treated 'x' as a word. */
	if (p->tok.kind == TOKEN_CHAR && p->events->compat != COMPAT_31)
		ok = set_atom_number(p, e, p->tok.len ? p->tok.text[0] : 0);
	else
		ok = expr_set_atom(p, e, p->tok.text, p->tok.len);
	parser_next_item(p);
	return ok;
}

/* What was in parentheses is a type: the operand that follows is cast to it. */
static bool parse_cast(struct expr_parser *p, struct expr *e)
{
	struct expr *item, type = *e;

	if (e->kind != EXPR_ATOM)
		return parser_fail(p, "a cast to something that is no type");
	item = expr_new(p, EXPR_NULL);
	if (!item)
		return false;
	*e = (struct expr){.kind = EXPR_CAST};
	e->cast.item = item;
	e->cast.mask = expr_type_mask(type.atom.text, type.atom.len);
	e->cast.element_mask = UINT64_MAX;
	if (type.atom.len >= 2 && type.atom.text[type.atom.len - 1] == '*')
		e->cast.element_mask = expr_type_mask(type.atom.text, type.atom.len - 2);
	return parse_operand_here(p, item);
}

static bool parse_paren(struct expr_parser *p, struct expr *e)
{
	if (!parse_operand(p, e))
		return false;
	if (p->tok.kind == TOKEN_OP && !parse_operator(p, e))
		return false;
	if (p->bare_record) {
		p->bare_record = false;
		return parse_record(p, e);
	}
	if (!token_is_delim(&p->tok, ')'))
		return parser_fail(p, "a closing parenthesis is missing");
	parser_next_item(p);
	if (token_is_item(&p->tok) || token_is_delim(&p->tok, '('))
		return parse_cast(p, e);
	return true;
}

static bool parse_rest(struct expr_parser *p, struct expr *e, struct expr *right);

static bool parse_unary(struct expr_parser *p, struct expr *e)
{
	enum expr_op op = operator_of(&p->tok);
	struct expr *none, *right;

	if (op != OP_INVERT && op != OP_NOT && op != OP_ADD && op != OP_SUB)
		return parser_fail(p, "an operator without a left side");
	none = expr_new(p, EXPR_NULL);
	right = expr_new(p, EXPR_NULL);
	if (!none || !right)
		return false;
	*e = (struct expr){.kind = EXPR_OP, .op = (uint8_t)op, .left = none, .right = right};
	return parse_operand(p, right) && parse_rest(p, e, right);
}

static bool parse_operand_here(struct expr_parser *p, struct expr *e)
{
	bool ok;

	if (++p->depth > EXPR_MAX_DEPTH)
		return parser_fail(p, "expressions are nested too deep");
	switch (p->tok.kind) {
	case TOKEN_WORD:
		ok = token_is_word(&p->tok, "REC") ? parse_record(p, e) : parse_words(p, e);
		break;
	case TOKEN_STRING:
	case TOKEN_CHAR: ok = parse_quoted(p, e); break;
	case TOKEN_DELIM:
	case TOKEN_OP:
		ok = token_is_delim(&p->tok, '(') ? parse_paren(p, e) : parse_unary(p, e);
		break;
	default: ok = parser_fail(p, "an argument is missing"); break;
	}
	p->depth--;
	return ok;
}

bool parse_operand(struct expr_parser *p, struct expr *e)
{
	parser_next(p);
	return parse_operand_here(p, e);
}

/* ---- operators ------------------------------------------------------------------------- */

/* Makes e an operation whose left side is what e was. */
static bool become_operation(struct expr_parser *p, struct expr *e, enum expr_op op, int8_t prio)
{
	struct expr *left = expr_new(p, EXPR_NULL);

	if (!left)
		return false;
	*left = *e;
	*e = (struct expr){.kind = EXPR_OP, .op = (uint8_t)op, .prio = prio, .left = left};
	return true;
}

/*
 * The operator after e's right side, if there is one: it takes all of e when it binds weaker than
 * e's own, otherwise only the right side.
 */
static bool parse_rest(struct expr_parser *p, struct expr *e, struct expr *right)
{
	enum expr_op op;

	if (p->tok.kind != TOKEN_OP || token_is_op(&p->tok, ":"))
		return true;
	op = operator_of(&p->tok);
	if (op == NR_OPS)
		return parser_fail(p, "an unknown operator");
	if (operators[op].prio > e->prio)
		return parse_operator(p, e);
	return right ? parse_operator(p, right) : parser_fail(p, "an index after an index");
}

/* left ? a : b, from the question mark on. */
static bool parse_cond(struct expr_parser *p, struct expr *e)
{
	struct expr *choice, *yes, *no;

	if (!become_operation(p, e, OP_COND, 0))
		return false;
	choice = expr_new(p, EXPR_OP);
	yes = expr_new(p, EXPR_NULL);
	no = expr_new(p, EXPR_NULL);
	if (!choice || !yes || !no)
		return false;
	if (!parse_operand(p, yes))
		return false;
	while (p->tok.kind == TOKEN_OP && !token_is_op(&p->tok, ":"))
		if (!parse_operator(p, yes))
			return false;
	if (!token_is_op(&p->tok, ":"))
		return parser_fail(p, "a ? without its :");
	choice->op = OP_ELSE;
	choice->left = yes;
	choice->right = no;
	e->right = choice;
	return parse_operand(p, no) && parse_rest(p, e, NULL);
}

static bool parse_index(struct expr_parser *p, struct expr *e)
{
	struct expr *index;

	if (!become_operation(p, e, OP_INDEX, 0))
		return false;
	index = expr_new(p, EXPR_NULL);
	if (!index || !parse_operand(p, index))
		return false;
	if (!token_is_op(&p->tok, "]"))
		return parser_fail(p, "a ] is missing");
	e->right = index;
	parser_next_item(p);
	return parse_rest(p, e, NULL);
}

/* "(type *)": the star was not a multiplication. */
static bool make_pointer_type(struct expr_parser *p, struct expr *e)
{
	struct buf type;
	bool ok;

	*e = *e->left;
	if (e->kind != EXPR_ATOM)
		return parser_fail(p, "a pointer to something that is no type");
	buf_init(&type, 4096);
	buf_put(&type, e->atom.text, e->atom.len);
	buf_put(&type, " *", 2);
	ok = buf_full(&type) ? parser_fail(p, "a type's name is too long")
			     : expr_set_atom(p, e, type.data, type.len);
	buf_free(&type);
	return ok;
}

/* Lets the operators of e and its right side change places: (a X (b y c)) becomes ((a X b) y c). */
static void rotate(struct expr *e, struct expr *right)
{
	struct expr was = *e;

	was.right = right->left;
	*e = *right;
	*right = was;
	e->left = right;
}

static bool parse_binary(struct expr_parser *p, struct expr *e, enum expr_op op)
{
	struct expr *right;

	if (!become_operation(p, e, op, operators[op].prio))
		return false;
	parser_next_item(p);
	if (op == OP_MUL && token_is_delim(&p->tok, ')'))
		return make_pointer_type(p, e);
	right = expr_new(p, EXPR_NULL);
	if (!right || !parse_operand_here(p, right))
		return false;
	if (right->kind == EXPR_OP && operators[op].prio < operators[right->op].prio)
		rotate(e, right);
	else
		e->right = right;
	return parse_rest(p, e, right);
}

bool parse_operator(struct expr_parser *p, struct expr *e)
{
	enum expr_op op = operator_of(&p->tok);
	bool ok;

	if (++p->depth > EXPR_MAX_DEPTH)
		return parser_fail(p, "expressions are nested too deep");
	if (op == OP_COND)
		ok = parse_cond(p, e);
	else if (op == OP_INDEX)
		ok = parse_index(p, e);
	else if (op < NR_OPS && operators[op].binary)
		ok = parse_binary(p, e, op);
	else
		ok = parser_fail(p, "an unknown operator");
	p->depth--;
	return ok;
}

/* ---- values ---------------------------------------------------------------------------- */

uint64_t expr_apply(enum expr_op op, uint64_t a, uint64_t b)
{
	switch (op) {
	case OP_INVERT: return ~b;
	case OP_NOT: return !b;
	case OP_MUL: return a * b;
	case OP_DIV: return b ? a / b : 0;
	case OP_MOD: return b ? a % b : 0;
	case OP_ADD: return a + b;
	case OP_SUB: return a - b;
	case OP_SHL: return a << (b & 63);
	case OP_SHR: return a >> (b & 63);
	case OP_LT: return a < b;
	case OP_GT: return a > b;
	case OP_LE: return a <= b;
	case OP_GE: return a >= b;
	case OP_EQ: return a == b;
	case OP_NE: return a != b;
	case OP_AND: return a & b;
	case OP_XOR: return a ^ b;
	case OP_OR: return a | b;
	case OP_BOTH: return a && b;
	case OP_EITHER: return a || b;
	default: return 0;
	}
}

void expr_fold(struct expr_parser *p, struct expr *e)
{
	if (e->kind != EXPR_OP)
		return;
	expr_fold(p, e->left);
	expr_fold(p, e->right);
	if (e->left->kind == EXPR_ATOM && e->right->kind == EXPR_ATOM && operators[e->op].binary)
		set_atom_number(
			p, e,
			(int64_t)expr_apply(e->op, e->left->atom.value, e->right->atom.value));
}

/* The value of a name in __print_flags(): a number, or one of a few well-known constants, or -1. */
static int64_t expr_name_value(const char *text)
{
	static const struct {
		const char *name;
		int64_t value;
	} constants[] = {
		{"HI_SOFTIRQ", 0},	{"TIMER_SOFTIRQ", 1},	  {"NET_TX_SOFTIRQ", 2},
		{"NET_RX_SOFTIRQ", 3},	{"BLOCK_SOFTIRQ", 4},	  {"IRQ_POLL_SOFTIRQ", 5},
		{"TASKLET_SOFTIRQ", 6}, {"SCHED_SOFTIRQ", 7},	  {"HRTIMER_SOFTIRQ", 8},
		{"RCU_SOFTIRQ", 9},	{"HRTIMER_NORESTART", 0}, {"HRTIMER_RESTART", 1},
	};

	if (text[0] >= '0' && text[0] <= '9')
		return (int64_t)strtoull(text, NULL, 0);
	for (size_t i = 0; i < ARRAY_SIZE(constants); i++)
		if (!strcmp(constants[i].name, text))
			return constants[i].value;
	return -1;
}

/* ---- function calls ---- */

/*
 * The macros every event may use (__print_flags(), __get_str(), …), a few of the compiler's own,
 * and functions that libtraceevent's plugins define.
 */

/* A value and the operators after it; p->tok must then be `end`. */
static bool parse_argument(struct expr_parser *p, struct expr **out, char end)
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

/* The text of a constant expression, as an atom. A cast around it is ignored. */
static bool constant_atom(struct expr_parser *p, struct expr *e, struct expr *atom)
{
	int64_t value;

	while (e->kind == EXPR_CAST)
		e = e->cast.item;
	if (e->kind == EXPR_ATOM) {
		*atom = *e;
		return true;
	}
	if (e->kind != EXPR_OP || !constant(e, &value))
		return parser_fail(p, "a name's value is no constant");
	return set_atom_number(p, atom, value);
}

/* { value, "text" }, after the opening brace. */
static bool parse_name(struct expr_parser *p, struct expr_name *name)
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
static bool parse_names(struct expr_parser *p, struct expr *e)
{
	vec_of(struct expr_name) names = {0};
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
		e->names.list = arena_copy(&p->events->arena, names.at, names.n, sizeof(*names.at));
		e->names.nr = names.n;
		ok = e->names.list != NULL;
	}
	vec_free(&names);
	if (!ok || !token_is_delim(&p->tok, ')'))
		return parser_fail(p, "a list of names is wrong");
	parser_next_item(p);
	return true;
}

/* The value that names are given to; e becomes the call. */
static bool parse_named_value(struct expr_parser *p, struct expr *e, enum expr_kind kind,
			      uint32_t mark)
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

static bool parse_flags(struct expr_parser *p, struct expr *e, enum expr_kind kind)
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

static bool parse_symbolic(struct expr_parser *p, struct expr *e, enum expr_kind kind)
{
	return parse_named_value(p, e, kind, FIELD_SYMBOLIC) && parse_names(p, e);
}

/* ---- bytes ------------------------------------------------------------------------------- */

/* The bytes, how many there are, and of an array how many each element has. */
static bool parse_bytes(struct expr_parser *p, struct expr *e, enum expr_kind kind)
{
	const bool array = kind == EXPR_ARRAY;

	*e = (struct expr){.kind = (uint8_t)kind};
	if (!parse_argument(p, &e->bytes.data, ',') ||
	    !parse_argument(p, &e->bytes.count, array ? ',' : ')') ||
	    (array && !parse_argument(p, &e->bytes.size, ')')))
		return false;
	parser_next_item(p);
	return true;
}

/* A field's name and the closing parenthesis. */
static bool parse_field_name(struct expr_parser *p, struct expr *e, enum expr_kind kind)
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

static bool parse_dynamic(struct expr_parser *p, struct expr *e, enum expr_kind kind)
{
	if (!parse_field_name(p, e, kind))
		return false;
	e->field.at = event_own_field_named(p->event, e->field.name);
	if (!e->field.at)
		return parser_fail(p, "an unknown dynamic field");
	parser_next_item(p);
	if (kind == EXPR_DYNAMIC && token_is_op(&p->tok, "["))
		return parser_fail(p, "an index after __get_dynamic_array()");
	return true;
}

static bool parse_text_field(struct expr_parser *p, struct expr *e, enum expr_kind kind)
{
	if (!parse_field_name(p, e, kind))
		return false;
	e->field.at = event_field_named(p->event, e->field.name);
	parser_next(p);
	return true;
}

/* ---- the compiler's --------------------------------------------------------------------- */

static bool parse_expect(struct expr_parser *p, struct expr *e, enum expr_kind kind)
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
static unsigned int word_size(const struct format_token *t, bool old)
{
	static const struct {
		const char *name;
		unsigned int size;
	} types[] = {
		{"int", 4}, {"__u64", 8}, {"u64", 8}, {"__s64", 8}, {"s64", 8}, {"__u32", 4},
		{"u32", 4}, {"__s32", 4}, {"s32", 4}, {"__u16", 2}, {"u16", 2}, {"__s16", 2},
		{"s16", 2}, {"__u8", 1},  {"u8", 1},  {"__8", 1},   {"s8", 1},
	};

	for (size_t i = 0; i < (old ? 1 : ARRAY_SIZE(types)); i++)
		if (token_is_word(t, types[i].name))
			return types[i].size;
	return 0;
}

/* sizeof(REC->field), from the REC on; 0 when that is not what stands there. */
static unsigned int field_size(struct expr_parser *p)
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
static unsigned int long_size(struct expr_parser *p)
{
	parser_next_item(p);
	if (!token_is_word(&p->tok, "long"))
		return p->events->long_size;
	parser_next_item(p);
	return 8;
}

static bool parse_sizeof(struct expr_parser *p, struct expr *e, enum expr_kind kind)
{
	unsigned int size;

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
	parser_next_item(p);
	return set_atom_number(p, e, size);
}

/* ---- plugins' --------------------------------------------------------------------------- */

static bool parse_plugin_call(struct expr_parser *p, struct expr *e, const struct print_func *func)
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
	bool (*parse)(struct expr_parser *p, struct expr *e, enum expr_kind kind);
	enum expr_kind kind;
} calls[] = {
	{"__print_flags", parse_flags, EXPR_FLAGS},
	{"__print_symbolic", parse_symbolic, EXPR_SYMBOL},
	{"__print_hex", parse_bytes, EXPR_HEX},
	{"__print_hex_str", parse_bytes, EXPR_HEX_STR},
	{"__print_array", parse_bytes, EXPR_ARRAY},
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

bool parse_call(struct expr_parser *p, const struct format_token *name, struct expr *e)
{
	const struct print_func *func;

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (token_is_word(name, calls[i].name))
			return calls[i].parse(p, e, calls[i].kind);
	func = print_func_find(name->text, name->len);
	if (func)
		return parse_plugin_call(p, e, func);
	p->unknown_func = true;
	return parser_fail(p, "an unknown function");
}
