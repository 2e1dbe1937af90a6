// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Filter expressions to syntax trees, by recursive descent: one function per level of the grammar
 * in filter.h. Every function returns NULL after it (or one below) has recorded the mistake.
 *
 * p->depth counts the recursion, a node's height the tree; both end at FILTER_MAX_DEPTH. Terms
 * joined by && and || are kept in one node, however many they are.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "event/filter/tree.h"

/* ---- words ---- */

/*
 * word_next() returns one word and moves on. A word that makes no sense is returned as
 * FILTER_WORD_BAD with the reason, and is the last one that is read.
 *
 * A backslash keeps a quote from ending a text but stays in it, as in libtraceevent: a regular
 * expression wants to see it. Texts in double quotes that follow each other are one.
 */

/* Longer operators come before those they start with. */
static const struct {
	const char *text;
	enum filter_op op;
} operators[] = {
	{"&&", FILTER_OP_AND},	       {"||", FILTER_OP_OR},	    {"==", FILTER_OP_EQ},
	{"!=", FILTER_OP_NE},	       {"<=", FILTER_OP_LE},	    {">=", FILTER_OP_GE},
	{"=~", FILTER_OP_REGEX},       {"!~", FILTER_OP_NOT_REGEX}, {"<<", FILTER_OP_SHIFT_LEFT},
	{">>", FILTER_OP_SHIFT_RIGHT}, {"<", FILTER_OP_LT},	    {">", FILTER_OP_GT},
	{"!", FILTER_OP_NOT},	       {"~", FILTER_OP_TILDE},	    {"|", FILTER_OP_BIT_OR},
	{"^", FILTER_OP_BIT_XOR},      {"&", FILTER_OP_BIT_AND},    {"+", FILTER_OP_ADD},
	{"-", FILTER_OP_SUB},	       {"*", FILTER_OP_MUL},	    {"/", FILTER_OP_DIV},
	{"%", FILTER_OP_MOD},	       {".", FILTER_OP_DOT},
};

#define NR_OPERATORS ARRAY_SIZE(operators)

const char *filter_op_text(enum filter_op op)
{
	for (size_t i = 0; i < NR_OPERATORS; i++)
		if (operators[i].op == op)
			return operators[i].text;
	return "?";
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word_char(char c)
{
	return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static void skip_space(struct word_reader *r)
{
	while (r->pos < r->len && is_space(r->text[r->pos]))
		r->pos++;
}

static struct filter_word bad(struct word_reader *r, size_t pos, enum filter_reason reason,
			      const char *why)
{
	return (struct filter_word){.kind = FILTER_WORD_BAD,
				    .pos = pos,
				    .len = r->pos > pos ? r->pos - pos : 1,
				    .text = why,
				    .reason = reason};
}

/* What may follow a number's digits as in C: u, l, ul, ll, ull. */
static bool is_suffix(const char *s, const char *end)
{
	size_t n_u = 0, n_l = 0;

	for (; s < end; s++) {
		if (*s == 'u' || *s == 'U')
			n_u++;
		else if (*s == 'l' || *s == 'L')
			n_l++;
		else
			return false;
	}
	return n_u <= 1 && n_l <= 2;
}

static struct filter_word read_number(struct word_reader *r, struct filter_word t)
{
	/* The text is NUL-terminated, so that strtoull() stops in it. */
	const char *start = r->text + t.pos, *end = start + t.len;
	char *stop;

	errno = 0;
	t.kind = FILTER_WORD_NUMBER;
	t.number = strtoull(start, &stop, 0);
	if (errno)
		return bad(r, t.pos, FILTER_SYNTAX, "this number does not fit into 64 bits");
	if (stop > end || !is_suffix(stop, end))
		return bad(r, t.pos, FILTER_SYNTAX, "this is neither a number nor a name");
	return t;
}

static struct filter_word read_word(struct word_reader *r)
{
	struct filter_word t = {.kind = FILTER_WORD_NAME, .pos = r->pos};

	while (r->pos < r->len && is_word_char(r->text[r->pos]))
		r->pos++;
	t.len = r->pos - t.pos;
	t.text = r->text + t.pos;
	t.text_len = t.len;
	return is_digit(*t.text) ? read_number(r, t) : t;
}

/* Steps over one text and its quotes; false when it does not end. */
static bool skip_text(struct word_reader *r)
{
	char quote = r->text[r->pos++];

	while (r->pos < r->len && r->text[r->pos] != quote)
		r->pos += r->text[r->pos] == '\\' ? 2 : 1;
	if (r->pos >= r->len) {
		r->pos = r->len;
		return false;
	}
	r->pos++;
	return true;
}

/* Copies the pieces of a text that lie in [pos, end) without quotes and what is between them. */
static const char *join_pieces(struct word_reader *r, size_t pos, size_t end, size_t *len)
{
	struct word_reader piece = {.text = r->text, .len = end, .pos = pos};
	char *copy = arena_alloc(r->arena, end - pos);
	size_t n = 0;

	while (copy && piece.pos < end) {
		size_t start = piece.pos + 1;

		skip_text(&piece);
		memcpy(copy + n, r->text + start, piece.pos - 1 - start);
		n += piece.pos - 1 - start;
		skip_space(&piece);
	}
	*len = n;
	return copy;
}

static struct filter_word read_text(struct word_reader *r)
{
	struct filter_word t = {.kind = FILTER_WORD_TEXT, .pos = r->pos};
	char quote = r->text[r->pos];
	size_t end;

	do {
		if (!skip_text(r))
			return bad(r, t.pos, FILTER_SYNTAX, "this text has no closing quote");
		end = r->pos;
		skip_space(r);
	} while (quote == '"' && r->pos < r->len && r->text[r->pos] == '"');
	r->pos = end;
	t.len = end - t.pos;
	t.single = quote == '\'';
	t.text = join_pieces(r, t.pos, end, &t.text_len);
	if (!t.text)
		return bad(r, t.pos, FILTER_NO_MEMORY, "there is not enough memory for this text");
	return t;
}

static struct filter_word read_operator(struct word_reader *r)
{
	struct filter_word t = {.kind = FILTER_WORD_OP, .pos = r->pos};
	const char *s = r->text + r->pos;

	for (size_t i = 0; i < NR_OPERATORS; i++) {
		t.len = strlen(operators[i].text);
		if (t.len <= r->len - r->pos && !memcmp(s, operators[i].text, t.len)) {
			t.op = operators[i].op;
			r->pos += t.len;
			return t;
		}
	}
	r->pos++;
	if (*s == '=')
		return bad(r, t.pos, FILTER_UNKNOWN_TOKEN, "'=' is no operator; equal is '=='");
	if (*s < ' ' || *s > '~')
		return bad(r, t.pos, FILTER_SYNTAX, "this character belongs into quotes");
	return bad(r, t.pos, FILTER_UNKNOWN_TOKEN, "this character means nothing here");
}

static struct filter_word word_next(struct word_reader *r)
{
	struct filter_word t = {.len = 1};
	char c;

	skip_space(r);
	t.pos = r->pos;
	if (r->pos >= r->len)
		return t;
	c = r->text[r->pos];
	if (is_word_char(c))
		return read_word(r);
	if (c == '"' || c == '\'')
		return read_text(r);
	t.kind = c == '('   ? FILTER_WORD_OPEN
		 : c == ')' ? FILTER_WORD_CLOSE
		 : c == ',' ? FILTER_WORD_COMMA
			    : FILTER_WORD_END;
	if (t.kind == FILTER_WORD_END)
		return read_operator(r);
	r->pos++;
	return t;
}

static const struct filter_node *parse_terms(struct filter_parser *p);
static const struct filter_node *parse_operand(struct filter_parser *p);

static void next(struct filter_parser *p)
{
	p->word = word_next(&p->reader);
}

static bool at_op(const struct filter_parser *p, enum filter_op op)
{
	return p->word.kind == FILTER_WORD_OP && p->word.op == op;
}

/* What a function returns that has recorded a mistake. */
static void *none(int rc)
{
	return NULL;
}

/* ---- mistakes -------------------------------------------------------------------------- */

#define SHOWN 40 /* how much of the text a message repeats */

/* The word's text as a printf() argument pair for "%.*s". */
static int shown_len(const struct filter_word *t)
{
	return (int)(t->len < SHOWN ? t->len : SHOWN);
}

static const char *shown(const struct filter_parser *p, const struct filter_word *t)
{
	return p->reader.text + t->pos;
}

/* `wanted` was expected, something else is there. */
static const struct filter_node *unexpected(struct filter_parser *p, const char *wanted)
{
	const struct filter_word *t = &p->word;
	enum filter_reason reason = FILTER_SYNTAX;

	switch (t->kind) {
	case FILTER_WORD_BAD: filter_fail(p, t->reason, t->pos, t->len, "%s", t->text); return NULL;
	case FILTER_WORD_END:
		return none(filter_fail(p, reason, t->pos, t->len,
					"the filter ends where %s is expected", wanted));
	case FILTER_WORD_CLOSE:
		if (p->depth)
			break;
		filter_fail(p, FILTER_UNBALANCED, t->pos, t->len, "this ')' closes nothing");
		return NULL;
	case FILTER_WORD_OPEN: reason = FILTER_BAD_PAREN; break;
	case FILTER_WORD_COMMA: reason = FILTER_BAD_TOKEN; break;
	default: break;
	}
	return none(filter_fail(p, reason, t->pos, t->len, "expected %s but found '%.*s'", wanted,
				shown_len(t), shown(p, t)));
}

static const struct filter_node *fail_at(struct filter_parser *p, enum filter_reason reason,
					 const struct filter_node *node, const char *message)
{
	return none(filter_fail(p, reason, node->pos, node->len, "%s", message));
}

static const struct filter_node *too_deep(struct filter_parser *p, size_t pos)
{
	return none(filter_fail(p, FILTER_SYNTAX, pos, 1, "this is nested more than %d levels deep",
				FILTER_MAX_DEPTH));
}

/* ---- nodes ----------------------------------------------------------------------------- */

static struct filter_node *new_node(struct filter_parser *p, enum filter_node_kind kind, size_t pos,
				    size_t len)
{
	struct filter_node *n = arena_alloc(&p->filter->rules->arena, sizeof(*n));

	if (!n)
		return none(filter_no_memory(p));
	n->kind = kind;
	n->pos = pos;
	n->len = len;
	n->height = 1;
	return n;
}

static size_t node_end(const struct filter_node *n)
{
	return n->pos + n->len;
}

/* A node with one or two below it. */
static struct filter_node *join(struct filter_parser *p, enum filter_node_kind kind,
				const struct filter_word *op, const struct filter_node *left,
				const struct filter_node *right)
{
	size_t pos = left->pos < op->pos ? left->pos : op->pos;
	struct filter_node *n = new_node(p, kind, pos, node_end(right ? right : left) - pos);

	if (!n)
		return NULL;
	n->op = op->op;
	n->left = left;
	n->right = right;
	n->height = left->height + 1;
	if (right && right->height >= left->height)
		n->height = right->height + 1;
	if (n->height <= FILTER_MAX_DEPTH)
		return n;
	too_deep(p, op->pos);
	return NULL;
}

static const struct filter_node *number_node(struct filter_parser *p, size_t pos, size_t len,
					     uint64_t number, bool negative)
{
	struct filter_node *n = new_node(p, NODE_NUMBER, pos, len);

	if (n) {
		n->number = number;
		n->negative = negative;
	}
	return n;
}

static bool is_char(const struct filter_node *n)
{
	return n->kind == NODE_TEXT && n->single && n->text_len == 1;
}

static bool is_comm(const struct filter_node *n)
{
	return n->kind == NODE_FIELD && !strcmp(n->text, "COMM");
}

static bool is_cpu(const struct filter_node *n)
{
	return n->kind == NODE_FIELD && !strcmp(n->text, "CPU");
}

/* Makes sure that something can be calculated with; 'c' becomes its code. */
static const struct filter_node *as_number(struct filter_parser *p, const struct filter_node *n)
{
	if (node_is_term(n))
		return fail_at(p, FILTER_SYNTAX, n, "a condition is no number");
	if (is_char(n))
		return number_node(p, n->pos, n->len, (unsigned char)n->text[0], false);
	if (n->kind == NODE_TEXT)
		return fail_at(p, FILTER_SYNTAX, n, "a text is no number");
	if (is_comm(n))
		return fail_at(p, FILTER_SYNTAX, n, "COMM is a text: compare it with \"NAME\"");
	if (n->kind == NODE_FIELD && n->function)
		return fail_at(p, FILTER_SYNTAX, n, "the name of a function is no number");
	return n;
}

/* ---- values ---------------------------------------------------------------------------- */

static const struct filter_node *parse_field(struct filter_parser *p)
{
	const struct filter_word name = p->word;
	struct filter_node *n = new_node(p, NODE_FIELD, name.pos, name.len);

	if (!n)
		return NULL;
	n->text = arena_strndup(&p->filter->rules->arena, name.text, name.text_len);
	n->text_len = name.text_len;
	if (!n->text)
		return none(filter_no_memory(p));
	next(p);
	if (!at_op(p, FILTER_OP_DOT))
		return n;
	next(p);
	if (p->word.kind != FILTER_WORD_NAME || p->word.text_len != strlen("function") ||
	    memcmp(p->word.text, "function", p->word.text_len))
		return unexpected(p, "'function'");
	n->function = true;
	n->len = p->word.pos + p->word.len - n->pos;
	next(p);
	return n;
}

static const struct filter_node *parse_text(struct filter_parser *p)
{
	struct filter_node *n = new_node(p, NODE_TEXT, p->word.pos, p->word.len);

	if (!n)
		return NULL;
	n->text = p->word.text;
	n->text_len = p->word.text_len;
	n->single = p->word.single;
	next(p);
	return n;
}

static const struct filter_node *parse_parentheses(struct filter_parser *p)
{
	size_t open = p->word.pos;
	const struct filter_node *n;

	if (p->depth >= FILTER_MAX_DEPTH)
		return too_deep(p, open);
	p->depth++;
	next(p);
	n = parse_terms(p);
	if (!n)
		return NULL;
	if (p->word.kind == FILTER_WORD_END) {
		filter_fail(p, FILTER_UNBALANCED, open, 1, "this '(' is never closed");
		return NULL;
	}
	if (p->word.kind != FILTER_WORD_CLOSE)
		return unexpected(p, "'&&', '||' or ')'");
	p->depth--;
	next(p);
	return n;
}

static const struct filter_node *parse_sign(struct filter_parser *p)
{
	const struct filter_word op = p->word;
	const struct filter_node *n, *zero;

	if (p->depth >= FILTER_MAX_DEPTH)
		return too_deep(p, op.pos);
	p->depth++;
	next(p);
	n = parse_operand(p);
	p->depth--;
	n = n ? as_number(p, n) : NULL;
	if (!n)
		return NULL;
	if (n->kind == NODE_NUMBER) {
		uint64_t v = op.op == FILTER_OP_SUB ? 0 - n->number : ~n->number;

		return number_node(p, op.pos, node_end(n) - op.pos, v,
				   op.op == FILTER_OP_SUB && v && !n->negative);
	}
	if (op.op == FILTER_OP_TILDE)
		return join(p, NODE_COMPLEMENT, &op, n, NULL);
	zero = number_node(p, op.pos, 1, 0, false);
	return zero ? join(p, NODE_ARITHMETIC, &op, zero, n) : NULL;
}

static const struct filter_node *parse_operand(struct filter_parser *p)
{
	const struct filter_node *n;

	switch (p->word.kind) {
	case FILTER_WORD_NUMBER:
		n = number_node(p, p->word.pos, p->word.len, p->word.number, false);
		next(p);
		return n;
	case FILTER_WORD_NAME: return parse_field(p);
	case FILTER_WORD_TEXT: return parse_text(p);
	case FILTER_WORD_OPEN: return parse_parentheses(p);
	default: break;
	}
	if (at_op(p, FILTER_OP_SUB) || at_op(p, FILTER_OP_TILDE))
		return parse_sign(p);
	return unexpected(p, "a field or a value");
}

/* How tight operators bind; 0 for what is not arithmetic. */
static int level(const struct filter_word *t)
{
	if (t->kind != FILTER_WORD_OP || !op_is_arithmetic(t->op))
		return 0;
	switch (t->op) {
	case FILTER_OP_BIT_OR: return 1;
	case FILTER_OP_BIT_XOR: return 2;
	case FILTER_OP_BIT_AND: return 3;
	case FILTER_OP_SHIFT_LEFT:
	case FILTER_OP_SHIFT_RIGHT: return 4;
	case FILTER_OP_ADD:
	case FILTER_OP_SUB: return 5;
	default: return 6;
	}
}

static const struct filter_node *calculate(struct filter_parser *p, const struct filter_word *op,
					   const struct filter_node *left,
					   const struct filter_node *right)
{
	if (left->kind != NODE_NUMBER || right->kind != NODE_NUMBER || left->negative ||
	    right->negative)
		return join(p, NODE_ARITHMETIC, op, left, right);
	return number_node(p, left->pos, node_end(right) - left->pos,
			   filter_calculate(op->op, left->number, right->number),
			   op->op == FILTER_OP_SUB && right->number > left->number);
}

static const struct filter_node *parse_value(struct filter_parser *p, int min_level)
{
	const struct filter_node *left = parse_operand(p);

	while (left && level(&p->word) && level(&p->word) >= min_level) {
		const struct filter_word op = p->word;
		const struct filter_node *right;

		left = as_number(p, left);
		if (!left)
			return NULL;
		next(p);
		right = parse_value(p, level(&op) + 1);
		if (right)
			right = as_number(p, right);
		left = right ? calculate(p, &op, left, right) : NULL;
	}
	return left;
}

/* ---- terms ----------------------------------------------------------------------------- */

static const struct pattern *compile_pattern(struct filter_parser *p, enum filter_op op,
					     const struct filter_node *text)
{
	struct filter_rules *rules = p->filter->rules;
	struct pattern *pattern = arena_alloc(&rules->arena, sizeof(*pattern));
	struct spur_error why = {0};
	int ret;

	if (!pattern || !vec_add(&rules->patterns, &pattern))
		return none(filter_no_memory(p));
	ret = op == FILTER_OP_TILDE ? pattern_glob(pattern, text->text, text->text_len, &why)
				    : pattern_regex(pattern, text->text, text->text_len, &why);
	if (!ret)
		return pattern;
	return none(filter_fail(p, FILTER_BAD_REGEX, text->pos, text->len,
				"this %s is not valid: %s",
				op == FILTER_OP_TILDE ? "glob" : "regular expression", why.text));
}

static const struct filter_node *compare_pattern(struct filter_parser *p,
						 const struct filter_word *op,
						 const struct filter_node *left,
						 const struct filter_node *right)
{
	const struct pattern *pattern;
	struct filter_node *n;

	if (right->kind != NODE_TEXT)
		return none(filter_fail(p,
					right->kind == NODE_NUMBER ? FILTER_BAD_NUMBER_COMPARE
								   : FILTER_BAD_RIGHT,
					right->pos, right->len, "'%s' needs a pattern in quotes",
					filter_op_text(op->op)));
	if (left->kind != NODE_FIELD || is_cpu(left))
		return fail_at(p, FILTER_BAD_LEFT, left,
			       "only a field can be matched by a pattern");
	pattern = compile_pattern(p, op->op, right);
	n = pattern ? join(p, NODE_COMPARE, op, left, right) : NULL;
	if (n)
		n->pattern = pattern;
	return n;
}

/* A word after FIELD.function is the name of a function, with quotes or without. */
static const struct filter_node *as_function_name(struct filter_parser *p,
						  const struct filter_node *n)
{
	struct filter_node *text;

	if (n->kind != NODE_FIELD || n->function)
		return n;
	text = new_node(p, NODE_TEXT, n->pos, n->len);
	if (text) {
		text->text = n->text;
		text->text_len = n->text_len;
	}
	return text;
}

static const struct filter_node *compare_text(struct filter_parser *p, const struct filter_word *op,
					      const struct filter_node *left,
					      const struct filter_node *right)
{
	if (op->op != FILTER_OP_EQ && op->op != FILTER_OP_NE)
		return none(filter_fail(p, FILTER_BAD_TEXT_COMPARE, op->pos, op->len,
					"texts know only ==, !=, =~, !~ and ~"));
	if (left->kind != NODE_FIELD)
		return fail_at(p, FILTER_BAD_LEFT, left, "only a field can be compared with text");
	if (is_cpu(left))
		return fail_at(p, FILTER_BAD_LEFT, left, "CPU is a number");
	return join(p, NODE_COMPARE, op, left, right);
}

static const struct filter_node *compare(struct filter_parser *p, const struct filter_word *op,
					 const struct filter_node *left,
					 const struct filter_node *right)
{
	bool equality = op->op == FILTER_OP_EQ || op->op == FILTER_OP_NE;

	if (op->op >= FILTER_OP_REGEX)
		return compare_pattern(p, op, left, right);
	if (left->kind == NODE_TEXT && !is_char(left))
		return fail_at(p, FILTER_BAD_LEFT, left,
			       "the field goes to the left, text to the right");
	if (left->kind == NODE_FIELD && left->function)
		right = as_function_name(p, right);
	if (!right)
		return NULL;
	/* 'c' next to a field is a text or a number, depending on the field. */
	if (is_char(right) && (left->kind != NODE_FIELD || !equality))
		right = as_number(p, right);
	if (right && right->kind == NODE_TEXT)
		return compare_text(p, op, left, right);
	/* Two fields may both be texts; that shows when they are bound. */
	if (!right || (equality && left->kind == NODE_FIELD && right->kind == NODE_FIELD))
		return right ? join(p, NODE_COMPARE, op, left, right) : NULL;
	left = as_number(p, left);
	right = left ? as_number(p, right) : NULL;
	return right ? join(p, NODE_COMPARE, op, left, right) : NULL;
}

static const struct filter_node *parse_compare(struct filter_parser *p)
{
	const struct filter_node *left = parse_value(p, 1), *right;
	const struct filter_word op = p->word;

	if (!left)
		return NULL;
	if (op.kind != FILTER_WORD_OP || !op_is_compare(op.op))
		return node_is_term(left) ? left : as_number(p, left);
	if (node_is_term(left))
		return fail_at(p, FILTER_SYNTAX, left, "a condition cannot be compared");
	next(p);
	right = parse_value(p, 1);
	if (!right)
		return NULL;
	if (node_is_term(right))
		return fail_at(p, FILTER_BAD_RIGHT, right, "a condition cannot be compared");
	return compare(p, &op, left, right);
}

static const struct filter_node *parse_term(struct filter_parser *p)
{
	const struct filter_word op = p->word;
	const struct filter_node *n;

	if (!at_op(p, FILTER_OP_NOT))
		return parse_compare(p);
	if (p->depth >= FILTER_MAX_DEPTH)
		return too_deep(p, op.pos);
	p->depth++;
	next(p);
	n = parse_term(p);
	p->depth--;
	return n ? join(p, NODE_NOT, &op, n, NULL) : NULL;
}

struct links {
	struct link {
		const struct filter_node *node;
		enum filter_op op;
	} * at;
	size_t n, cap;
};

static const struct filter_node *chain_node(struct filter_parser *p, const struct links *links)
{
	struct arena *arena = &p->filter->rules->arena;
	const struct filter_node *first = links->at[0].node, *last = links->at[links->n - 1].node;
	struct filter_node *n;

	if (links->n == 1)
		return first;
	n = new_node(p, NODE_CHAIN, first->pos, node_end(last) - first->pos);
	if (!n)
		return NULL;
	n->n = links->n;
	n->items = arena_array(arena, n->n, sizeof(struct filter_node *));
	n->ops = arena_array(arena, n->n, sizeof(enum filter_op));
	if (!n->items || !n->ops)
		return none(filter_no_memory(p));
	for (size_t i = 0; i < n->n; i++) {
		n->items[i] = links->at[i].node;
		n->ops[i] = links->at[i].op;
		if (n->items[i]->height >= n->height)
			n->height = n->items[i]->height + 1;
	}
	return n->height > FILTER_MAX_DEPTH ? too_deep(p, n->pos) : n;
}

static const struct filter_node *parse_terms(struct filter_parser *p)
{
	struct links links = {0};
	const struct filter_node *n = NULL;
	enum filter_op op = FILTER_OP_NONE;

	for (;;) {
		struct link link = {.node = parse_term(p), .op = op};

		n = link.node;
		if (!n)
			break;
		if (!vec_add(&links, &link)) {
			filter_no_memory(p);
			n = NULL;
			break;
		}
		if (!at_op(p, FILTER_OP_AND) && !at_op(p, FILTER_OP_OR)) {
			n = chain_node(p, &links);
			break;
		}
		op = p->word.op;
		next(p);
	}
	vec_free(&links);
	return n;
}

const struct filter_node *filter_parse(struct filter_parser *p)
{
	const struct filter_node *n;

	next(p);
	n = parse_terms(p);
	if (!n || p->word.kind == FILTER_WORD_END)
		return n;
	if (p->word.kind == FILTER_WORD_OP && op_is_compare(p->word.op))
		return unexpected(p, "'&&' or '||' between two comparisons");
	return unexpected(p, "'&&' or '||'");
}
