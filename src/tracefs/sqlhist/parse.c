// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From a query's text to its tree: words first, then columns and events, then conditions; and
 * messages about mistakes. Each parse function reads what it is named after and leaves the next
 * word in q->token. When one returns a negative errno or NULL, the mistake has been noted in q.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/error.h"
#include "base/suggest.h"
#include "tracefs/sqlhist/tree.h"

#define SHOWN 100 /* characters of a line before and after a mistake */

/* ---- mistakes ---- */

/* The start of the line with a given position, and the line's number from 1. */
static size_t line_of(const char *text, size_t pos, size_t *number)
{
	size_t start = 0;

	*number = 1;
	for (size_t i = 0; i < pos; i++) {
		if (text[i] == '\n') {
			start = i + 1;
			++*number;
		}
	}
	return start;
}

int sql_error(struct sql_statement *q, size_t pos, size_t len, const char *fmt, ...)
{
	size_t line, start;
	char words[300];
	va_list ap;

	if (q->rc < 0)
		return q->rc;
	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	start = line_of(q->text, pos, &line);
	*q->mistake = (struct sql_mistake){pos, len ? len : 1};
	q->rc = error_set(q->err, -EINVAL, "line %zu, column %zu: %s", line, pos - start + 1,
			  words);
	return q->rc;
}

static void put_visible(struct buf *out, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_putc(out, (unsigned char)text[i] < 0x20 || text[i] == 0x7f ? ' ' : text[i]);
}

void sql_point(struct buf *out, const char *query, const struct sql_mistake *m)
{
	size_t len = strlen(query), pos = m->offset < len ? m->offset : len;
	size_t line, start, from, end;

	if (!m->len)
		return;
	start = line_of(query, pos, &line);
	end = pos + strcspn(query + pos, "\n");
	from = pos - start > SHOWN ? pos - SHOWN : start;
	if (end - pos > SHOWN)
		end = pos + SHOWN;
	buf_puts(out, from > start ? "..." : "");
	put_visible(out, query + from, end - from);
	buf_puts(out, query[end] && query[end] != '\n' ? "...\n" : "\n");
	buf_fill(out, ' ', pos - from + (from > start ? 3 : 0));
	buf_putc(out, '^');
	for (size_t i = 1; i < m->len && pos + i < end; i++)
		buf_putc(out, '~');
	buf_putc(out, '\n');
}

/* ---- memory ---- */

void *sql_alloc(struct sql_statement *q, size_t size)
{
	void *p = arena_alloc(&q->arena, size);

	if (!p && q->rc == 0)
		q->rc = error_set(q->err, -ENOMEM, "out of memory");
	return p;
}

char *sql_copy(struct sql_statement *q, const char *text, size_t len)
{
	char *copy = sql_alloc(q, len + 1);

	if (copy)
		memcpy(copy, text, len);
	return copy;
}

/* ---- words ---- */

static const struct {
	const char *text;
	enum sql_word word;
} keywords[] = {
	{"select", WORD_SELECT}, {"as", WORD_AS},	{"from", WORD_FROM}, {"join", WORD_JOIN},
	{"on", WORD_ON},	 {"where", WORD_WHERE}, {"cast", WORD_CAST}, {"and", WORD_AND},
	{"or", WORD_OR},	 {"not", WORD_NOT},
};

/* Longer signs come before those they start with. */
static const struct {
	const char *text;
	enum sql_word word;
} signs[] = {
	{"&&", WORD_AND},      {"||", WORD_OR},	 {"==", WORD_EQ},   {"!=", WORD_NE},
	{"<>", WORD_NE},       {"<=", WORD_LE},	 {">=", WORD_GE},   {"=", WORD_EQ},
	{"<", WORD_LT},	       {">", WORD_GT},	 {"&", WORD_BITS},  {"~", WORD_GLOB},
	{"!", WORD_NOT},       {"+", WORD_PLUS}, {"-", WORD_MINUS}, {"*", WORD_TIMES},
	{"/", WORD_DIVIDE},    {"(", WORD_OPEN}, {")", WORD_CLOSE}, {",", WORD_COMMA},
	{";", WORD_SEMICOLON},
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool sql_is_word(const char *text)
{
	size_t n = 0;

	while (is_letter(text[n]) || (n && is_digit(text[n])))
		n++;
	return n && !text[n];
}

/* Skips blanks, and comments from "--" to the end of the line. */
static void skip(struct sql_statement *q)
{
	while (q->at < q->len) {
		const char *p = q->text + q->at;

		if (*p == ' ' || (*p >= '\t' && *p <= '\r'))
			q->at++;
		else if (p[0] == '-' && q->len - q->at > 1 && p[1] == '-')
			q->at += strcspn(p, "\n");
		else
			return;
	}
}

static struct sql_token bad(struct sql_token t)
{
	t.word = WORD_BAD;
	return t;
}

static struct sql_token name_token(struct sql_statement *q, struct sql_token t)
{
	const char *p = q->text + t.pos;
	const bool escaped = *p == '\\';
	size_t n = escaped;

	while (t.pos + n < q->len && (is_letter(p[n]) || p[n] == '.' || is_digit(p[n])))
		n++;
	t.len = n;
	t.word = WORD_NAME;
	t.text = sql_copy(q, p + escaped, n - escaped);
	if (!t.text)
		return bad(t);
	for (size_t i = 0; !escaped && i < ARRAY_SIZE(keywords); i++)
		if (strcasecmp(t.text, keywords[i].text) == 0)
			t.word = keywords[i].word;
	return t;
}

static int digit_of(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

static struct sql_token number_token(struct sql_statement *q, struct sql_token t)
{
	const char *p = q->text + t.pos;
	const size_t left = q->len - t.pos;
	const bool hex = left > 1 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X');
	const int base = hex ? 16 : 10;
	size_t n = hex ? 2 : 0, first = n;
	bool large = false;

	for (; n < left && digit_of(p[n]) < base; n++)
		large |= __builtin_mul_overflow(t.number, (uint64_t)base, &t.number) ||
			 __builtin_add_overflow(t.number, (uint64_t)digit_of(p[n]), &t.number);
	t.len = n;
	t.word = WORD_NUMBER;
	if (n == first || (n < left && (is_letter(p[n]) || p[n] == '.'))) {
		while (t.len < left &&
		       (is_letter(p[t.len]) || is_digit(p[t.len]) || p[t.len] == '.'))
			t.len++;
		sql_error(q, t.pos, t.len, "'%.*s' is no number", (int)(t.len < 40 ? t.len : 40),
			  p);
		return bad(t);
	}
	if (large) {
		sql_error(q, t.pos, t.len, "the number does not fit into 64 bits");
		return bad(t);
	}
	return t;
}

static struct sql_token text_token(struct sql_statement *q, struct sql_token t)
{
	const char *p = q->text + t.pos;
	size_t n = 1, left = q->len - t.pos;

	while (n < left && p[n] != *p && p[n] != '\n')
		n++;
	if (n == left || p[n] == '\n') {
		sql_error(q, t.pos, n, "the text has no closing quote");
		return bad(t);
	}
	t.len = n + 1;
	t.word = WORD_TEXT;
	t.text = sql_copy(q, p + 1, n - 1);
	return t.text ? t : bad(t);
}

static struct sql_token sql_next_token(struct sql_statement *q)
{
	struct sql_token t = {.word = WORD_END};
	const char *p;

	skip(q);
	t.pos = q->at;
	p = q->text + q->at;
	if (q->at == q->len)
		return t;
	if (is_letter(*p) || (*p == '\\' && q->len - q->at > 1 && is_letter(p[1]))) {
		t = name_token(q, t);
	} else if (is_digit(*p)) {
		t = number_token(q, t);
	} else if (*p == '"' || *p == '\'') {
		t = text_token(q, t);
	} else {
		for (size_t i = 0; i < ARRAY_SIZE(signs) && !t.len; i++) {
			size_t n = strlen(signs[i].text);

			if (q->len - q->at >= n && memcmp(p, signs[i].text, n) == 0) {
				t.word = signs[i].word;
				t.len = n;
			}
		}
		if (!t.len) {
			sql_error(q, t.pos, 1, "unexpected character '%c'",
				  *p >= 0x20 && *p < 0x7f ? *p : '?');
			return bad(t);
		}
	}
	q->at = t.pos + t.len;
	return t;
}

/* ---- what all parts of the grammar use ---- */

#define MAX_OPERATORS 16 /* of a column; the kernel allows fewer */
#define MAX_COLUMNS   64 /* of a synthetic event: the kernel's limit */
#define MAX_MATCHES   16

/* Reads the next token. */
static void sql_step(struct sql_statement *q)
{
	q->token = sql_next_token(q);
}

/* Notes the mistake "X expected, not Y". */
static int sql_expected(struct sql_statement *q, const char *what)
{
	const struct sql_token *t = &q->token;
	const int len = t->len < 40 ? (int)t->len : 40;

	if (t->word == WORD_END)
		return sql_error(q, t->pos, 0, "%s expected, but the query ends here", what);
	return sql_error(q, t->pos, t->len, "%s expected, not '%.*s'", what, len, q->text + t->pos);
}

static int take(struct sql_statement *q, enum sql_word word, const char *what)
{
	if (q->token.word != word)
		return sql_expected(q, what);
	sql_step(q);
	return 0;
}

/* Counts one more level of parentheses; an error beyond the limit. */
static int sql_deeper(struct sql_statement *q)
{
	if (++q->depth <= SQL_MAX_DEPTH)
		return 0;
	return sql_error(q, q->token.pos, q->token.len, "too many parentheses within each other");
}

/* A field's name; `what` says what is expected, for the message. */
static bool sql_parse_field(struct sql_statement *q, struct sql_field *f, const char *what)
{
	const struct sql_token t = q->token;

	if (t.word != WORD_NAME) {
		sql_expected(q, what);
		return false;
	}
	*f = (struct sql_field){.name = t.text, .pos = t.pos, .len = t.len};
	sql_step(q);
	return true;
}

/* Words of SQL that people try where a name may stand. */
static const struct {
	const char *word, *hint;
} foreign_names[] = {
	{"group", "there is no GROUP BY: a histogram's keys are the columns themselves"},
	{"order", "there is no ORDER BY: the kernel sorts a histogram when it is read"},
	{"having", "there is no HAVING: conditions are WHERE conditions"},
	{"limit", "there is no LIMIT"},
	{"inner", "JOIN alone is an inner join"},
	{"left", "there is no LEFT JOIN: both events have to happen"},
	{"right", "there is no RIGHT JOIN: both events have to happen"},
	{"full", "there is no FULL JOIN: both events have to happen"},
	{"outer", "there is no OUTER JOIN: both events have to happen"},
	{"cross", "there is no CROSS JOIN: fields of both events have to match"},
	{"using", "there is no USING: write ON a.field = b.field"},
	{"union", "there is no UNION: a query makes one histogram or event"},
};

/* [["AS"] word]; NULL when there is none, and after a mistake. */
static const char *parse_name(struct sql_statement *q, size_t *pos, size_t *len)
{
	const bool as = q->token.word == WORD_AS;
	struct sql_token t;

	if (as)
		sql_step(q);
	t = q->token;
	if (t.word != WORD_NAME) {
		if (as)
			sql_expected(q, "a name");
		return NULL;
	}
	for (size_t i = 0; !as && i < ARRAY_SIZE(foreign_names); i++) {
		if (strcasecmp(t.text, foreign_names[i].word) == 0) {
			sql_error(q, t.pos, t.len, "%s", foreign_names[i].hint);
			return NULL;
		}
	}
	if (!sql_is_word(t.text)) {
		sql_error(q, t.pos, t.len, "a name has letters, digits and '_' only");
		return NULL;
	}
	*pos = t.pos;
	*len = t.len;
	sql_step(q);
	return t.text;
}

/* ---- columns ---- */

static struct sql_expr *new_expr(struct sql_statement *q, enum sql_expr_kind kind, size_t pos,
				 size_t len)
{
	struct sql_expr *e = sql_alloc(q, sizeof(*e));

	if (e) {
		e->kind = kind;
		e->pos = pos;
		e->len = len;
	}
	return e;
}

static struct sql_expr *new_binary(struct sql_statement *q, enum sql_expr_kind kind, char op,
				   struct sql_expr *left, struct sql_expr *right)
{
	struct sql_expr *e = NULL;

	if (left && right)
		e = new_expr(q, kind, left->pos, right->pos + right->len - left->pos);
	if (e) {
		e->op = op;
		e->left = left;
		e->right = right;
	}
	return e;
}

static struct sql_expr *time_of(struct sql_statement *q, enum sql_side side, enum sql_pseudo pseudo)
{
	struct sql_expr *e = new_expr(q, SQL_EXPR_FIELD, q->token.pos, q->token.len);

	if (e)
		e->field = (struct sql_field){.name = q->token.text,
					      .pos = e->pos,
					      .len = e->len,
					      .side = side,
					      .pseudo = pseudo};
	return e;
}

static struct sql_expr *parse_sum(struct sql_statement *q);

static struct sql_expr *parse_factor(struct sql_statement *q)
{
	const struct sql_token t = q->token;
	enum sql_pseudo delta = PSEUDO_NONE;
	struct sql_expr *e;

	switch (t.word) {
	case WORD_NUMBER:
		e = new_expr(q, SQL_EXPR_NUMBER, t.pos, t.len);
		if (e)
			e->number = t.number;
		sql_step(q);
		return e;
	case WORD_OPEN:
		sql_step(q);
		if (sql_deeper(q) < 0)
			return NULL;
		e = parse_sum(q);
		q->depth--;
		return e && take(q, WORD_CLOSE, "')'") == 0 ? e : NULL;
	case WORD_TIMES:
		sql_error(q, t.pos, t.len, "'*' cannot be selected: name the fields");
		return NULL;
	case WORD_NAME: break;
	default: sql_expected(q, "a field"); return NULL;
	}
	/* TIMESTAMP_DELTA is the time between the two events. */
	if (strcmp(t.text, "TIMESTAMP_DELTA") == 0)
		delta = PSEUDO_TIMESTAMP;
	else if (strcmp(t.text, "TIMESTAMP_DELTA_USECS") == 0)
		delta = PSEUDO_TIMESTAMP_USECS;
	if (delta) {
		e = new_binary(q, SQL_EXPR_SUM, '-', time_of(q, SIDE_JOIN, delta),
			       time_of(q, SIDE_FROM, delta));
		sql_step(q);
		if (e)
			e->len = t.len;
		return e;
	}
	e = new_expr(q, SQL_EXPR_FIELD, t.pos, t.len);
	return e && sql_parse_field(q, &e->field, "a field") ? e : NULL;
}

static bool count_operator(struct sql_statement *q, unsigned int *n)
{
	if (++*n <= MAX_OPERATORS)
		return true;
	sql_error(q, q->token.pos, q->token.len, "too many operators in a column");
	return false;
}

static struct sql_expr *parse_product(struct sql_statement *q)
{
	struct sql_expr *e = parse_factor(q);
	unsigned int n = 0;

	while (e && (q->token.word == WORD_TIMES || q->token.word == WORD_DIVIDE)) {
		char op = q->token.word == WORD_TIMES ? '*' : '/';

		if (!count_operator(q, &n))
			return NULL;
		sql_step(q);
		e = new_binary(q, SQL_EXPR_PRODUCT, op, e, parse_factor(q));
	}
	return e;
}

static struct sql_expr *parse_sum(struct sql_statement *q)
{
	struct sql_expr *e = parse_product(q);
	unsigned int n = 0;

	while (e && (q->token.word == WORD_PLUS || q->token.word == WORD_MINUS)) {
		char op = q->token.word == WORD_PLUS ? '+' : '-';

		if (!count_operator(q, &n))
			return NULL;
		sql_step(q);
		e = new_binary(q, SQL_EXPR_SUM, op, e, parse_product(q));
	}
	return e;
}

static const struct {
	const char *name;
	enum sql_cast cast;
} casts[] = {
	{"hex", CAST_HEX},
	{"sym", CAST_SYM},
	{"sym-offset", CAST_SYM_OFFSET},
	{"syscall", CAST_SYSCALL},
	{"execname", CAST_EXECNAME},
	{"comm", CAST_EXECNAME},
	{"log", CAST_LOG},
	{"log2", CAST_LOG},
	{"buckets", CAST_BUCKETS},
	{"_counter_", CAST_COUNTER},
	{"__counter__", CAST_COUNTER},
	{"counter", CAST_COUNTER},
};

static int find_cast(struct sql_statement *q, struct sql_column *c, const char *name)
{
	struct suggest near = suggest_for(name, strlen(name));
	const char *best;

	for (size_t i = 0; i < ARRAY_SIZE(casts); i++) {
		if (strcasecmp(name, casts[i].name) == 0) {
			c->cast = casts[i].cast;
			return 0;
		}
		suggest_try(&near, casts[i].name);
	}
	best = suggest_best(&near);
	return sql_error(q, c->cast_pos, c->cast_len, "a field cannot be cast to '%.40s'%s%s%s",
			 name,
			 best ? "; did you mean '" : ": it can be hex, sym, sym-offset, syscall, ",
			 best ? best : "execname, log2, buckets=N or _COUNTER_", best ? "'?" : "");
}

/* The kind after CAST(field AS. */
static int parse_kind(struct sql_statement *q, struct sql_column *c)
{
	const struct sql_token t = q->token;
	const char *name = t.text;

	if (t.word != WORD_NAME)
		return sql_expected(q, "what to cast the field to");
	c->cast_pos = t.pos;
	c->cast_len = t.len;
	sql_step(q);
	if (strcasecmp(name, "sym") == 0 && q->token.word == WORD_MINUS) {
		sql_step(q);
		if (q->token.word != WORD_NAME || strcasecmp(q->token.text, "offset") != 0)
			return sql_expected(q, "'offset'");
		c->cast_len = q->token.pos + q->token.len - t.pos;
		name = "sym-offset";
		sql_step(q);
	}
	if (find_cast(q, c, name) < 0)
		return q->rc;
	if (c->cast != CAST_BUCKETS)
		return 0;
	if (q->token.word != WORD_EQ)
		return sql_expected(q, "'=' and the size of a bucket");
	sql_step(q);
	if (q->token.word != WORD_NUMBER || !q->token.number)
		return sql_expected(q, "the size of a bucket");
	c->buckets = q->token.number;
	c->cast_len = q->token.pos + q->token.len - t.pos;
	sql_step(q);
	return 0;
}

static int parse_cast(struct sql_statement *q, struct sql_column *c)
{
	sql_step(q);
	if (take(q, WORD_OPEN, "'('") < 0)
		return q->rc;
	c->expr = new_expr(q, SQL_EXPR_FIELD, q->token.pos, q->token.len);
	if (!c->expr || !sql_parse_field(q, &c->expr->field, "a field"))
		return q->rc;
	if (take(q, WORD_AS, "AS") < 0 || parse_kind(q, c) < 0)
		return q->rc;
	return take(q, WORD_CLOSE, "')'");
}

static int parse_columns(struct sql_statement *q)
{
	struct sql_column **end = &q->columns;
	unsigned int n = 0;

	do {
		struct sql_column *c = sql_alloc(q, sizeof(*c));

		sql_step(q);
		if (!c)
			return q->rc;
		if (++n > MAX_COLUMNS)
			return sql_error(q, q->token.pos, q->token.len, "more than %d columns",
					 MAX_COLUMNS);
		if (q->token.word == WORD_CAST)
			parse_cast(q, c);
		else
			c->expr = parse_sum(q);
		if (q->rc == 0)
			c->name = parse_name(q, &c->name_pos, &c->name_len);
		*end = c;
		end = &c->next;
	} while (q->rc == 0 && q->token.word == WORD_COMMA);
	return q->rc;
}

/* ---- conditions: OR binds least, then AND, then NOT, then comparisons ---- */

#define MAX_CONDITIONS 500 /* limits the depth of a chain of conditions */

/* Words of SQL that people try as operators. */
static const struct {
	const char *word, *hint;
} foreign_operators[] = {
	{"like", "there is no LIKE: write field ~ \"abc*\""},
	{"in", "there is no IN: write field == 1 || field == 2"},
	{"between", "there is no BETWEEN: write field >= 1 && field <= 5"},
	{"is", "there is no IS: fields always have a value"},
};

static struct sql_cond *new_cond(struct sql_statement *q, enum sql_cond_kind kind,
				 struct sql_cond *left, struct sql_cond *right)
{
	struct sql_cond *c = sql_alloc(q, sizeof(*c));

	if (c) {
		c->kind = kind;
		c->left = left;
		c->right = right;
	}
	return c;
}

static int parse_value(struct sql_statement *q, struct sql_cond *c)
{
	if (q->token.word == WORD_MINUS) {
		c->negative = true;
		sql_step(q);
		if (q->token.word != WORD_NUMBER)
			return sql_expected(q, "a number");
	}
	if (q->token.word == WORD_NAME)
		return sql_error(q, q->token.pos, q->token.len,
				 "a number or a text expected; a text stands in quotes: \"%.40s\"",
				 q->token.text);
	if (q->token.word != WORD_NUMBER && q->token.word != WORD_TEXT)
		return sql_expected(q, "a number or a text in quotes");
	c->value = q->token;
	sql_step(q);
	return 0;
}

static int parse_operator(struct sql_statement *q, struct sql_cond *c)
{
	const struct sql_token *t = &q->token;

	for (size_t i = 0; t->word == WORD_NAME && i < ARRAY_SIZE(foreign_operators); i++)
		if (strcasecmp(t->text, foreign_operators[i].word) == 0)
			return sql_error(q, t->pos, t->len, "%s", foreign_operators[i].hint);
	if (t->word < WORD_EQ || t->word > WORD_GLOB)
		return sql_expected(q, "a comparison");
	c->op = t->word;
	sql_step(q);
	return 0;
}

static struct sql_cond *parse_compare(struct sql_statement *q)
{
	struct sql_cond *c;

	if (q->token.word == WORD_NUMBER || q->token.word == WORD_TEXT) {
		sql_error(q, q->token.pos, q->token.len,
			  "a field expected: it stands on the left of a comparison");
		return NULL;
	}
	c = new_cond(q, COND_COMPARE, NULL, NULL);
	if (!c || !sql_parse_field(q, &c->field, "a field") || parse_operator(q, c) < 0 ||
	    parse_value(q, c) < 0)
		return NULL;
	return c;
}

static struct sql_cond *parse_any(struct sql_statement *q, unsigned int *n);

static struct sql_cond *parse_some(struct sql_statement *q, unsigned int *n)
{
	const bool not = q->token.word == WORD_NOT;
	struct sql_cond *c;

	if (++*n > MAX_CONDITIONS) {
		sql_error(q, q->token.pos, q->token.len, "too many conditions");
		return NULL;
	}
	if (!not &&q->token.word != WORD_OPEN)
		return parse_compare(q);
	sql_step(q);
	if (sql_deeper(q) < 0)
		return NULL;
	c = not ? parse_some(q, n) : parse_any(q, n);
	q->depth--;
	if (not )
		return c ? new_cond(q, COND_NOT, c, NULL) : NULL;
	if (c && q->token.word != WORD_CLOSE) {
		sql_expected(q, "AND, OR or ')'");
		return NULL;
	}
	sql_step(q);
	return c;
}

static struct sql_cond *parse_every(struct sql_statement *q, unsigned int *n)
{
	struct sql_cond *c = parse_some(q, n);

	while (c && (q->token.word == WORD_AND || q->token.word == WORD_COMMA)) {
		struct sql_cond *right;

		sql_step(q);
		right = parse_some(q, n);
		c = right ? new_cond(q, COND_AND, c, right) : NULL;
	}
	return c;
}

static struct sql_cond *parse_any(struct sql_statement *q, unsigned int *n)
{
	struct sql_cond *c = parse_every(q, n);

	while (c && q->token.word == WORD_OR) {
		struct sql_cond *right;

		sql_step(q);
		right = parse_every(q, n);
		c = right ? new_cond(q, COND_OR, c, right) : NULL;
	}
	return c;
}

/* The condition after WHERE. */
static struct sql_cond *sql_parse_where(struct sql_statement *q)
{
	unsigned int n = 0;

	return parse_any(q, &n);
}

/* ---- events ---- */

static int parse_event(struct sql_statement *q, struct sql_event *e)
{
	const struct sql_token t = q->token;
	size_t pos, len;

	if (t.word != WORD_NAME)
		return sql_expected(q, "an event");
	e->name = t.text;
	e->pos = t.pos;
	e->len = t.len;
	sql_step(q);
	e->alias = parse_name(q, &pos, &len);
	return q->rc;
}

static int parse_matches(struct sql_statement *q)
{
	struct sql_match **end = &q->matches;
	unsigned int n = 0;

	do {
		struct sql_match *m = sql_alloc(q, sizeof(*m));

		sql_step(q);
		if (!m)
			return q->rc;
		if (++n > MAX_MATCHES)
			return sql_error(q, q->token.pos, q->token.len, "too many fields to match");
		if (!sql_parse_field(q, &m->side[0], "a field") || take(q, WORD_EQ, "'='") < 0 ||
		    !sql_parse_field(q, &m->side[1], "a field of the other event"))
			return q->rc;
		*end = m;
		end = &m->next;
	} while (q->token.word == WORD_COMMA || q->token.word == WORD_AND);
	return 0;
}

static int parse_join(struct sql_statement *q)
{
	sql_step(q);
	q->joined = true;
	if (parse_event(q, &q->event[SIDE_JOIN]) < 0)
		return q->rc;
	if (q->token.word != WORD_ON)
		return sql_expected(q, "ON and the fields that must match");
	return parse_matches(q);
}

int sql_parse(struct sql_statement *q)
{
	sql_step(q);
	if (q->token.word != WORD_SELECT)
		return sql_expected(q, "SELECT");
	if (parse_columns(q) < 0)
		return q->rc;
	if (take(q, WORD_FROM, "',' or FROM") < 0 || parse_event(q, &q->event[SIDE_FROM]) < 0)
		return q->rc;
	if (q->token.word == WORD_JOIN && parse_join(q) < 0)
		return q->rc;
	if (q->token.word == WORD_WHERE) {
		sql_step(q);
		q->where = sql_parse_where(q);
		if (!q->where)
			return q->rc;
	}
	if (q->token.word == WORD_SEMICOLON)
		sql_step(q);
	if (q->token.word == WORD_END)
		return q->rc;
	return sql_expected(q, q->where	   ? "AND, OR or the end of the query"
			       : q->joined ? "',', WHERE or the end of the query"
					   : "JOIN, WHERE or the end of the query");
}
