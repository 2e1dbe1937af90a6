// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A query's columns and events; sql_parse_where.c has its conditions. Each function takes what it
 * is named after and leaves the first word behind it in q->token. What is wrong has been noted in
 * q when one returns a negative errno or NULL.
 */
#include "tracefs/sql_parts.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/suggest.h"

#define MAX_OPERATORS 16 /* of a column: the kernel takes fewer */
#define MAX_COLUMNS   64 /* fields of a synthetic event that the kernel takes */
#define MAX_MATCHES   16

/* ---- words ---- */

void sql_step(struct sql *q)
{
	q->token = sql_next_token(q);
}

/* "expected X, not Y", in words for people. */
int sql_expected(struct sql *q, const char *what)
{
	const struct sql_token *t = &q->token;
	const int len = t->len < 40 ? (int)t->len : 40;

	if (t->word == WORD_END)
		return sql_error(q, t->pos, 0, "%s expected, but the query ends here", what);
	return sql_error(q, t->pos, t->len, "%s expected, not '%.*s'", what, len, q->text + t->pos);
}

static int take(struct sql *q, enum sql_word word, const char *what)
{
	if (q->token.word != word)
		return sql_expected(q, what);
	sql_step(q);
	return 0;
}

int sql_deeper(struct sql *q)
{
	if (++q->depth <= SQL_MAX_DEPTH)
		return 0;
	return sql_error(q, q->token.pos, q->token.len, "too many parentheses within each other");
}

bool sql_parse_field(struct sql *q, struct sql_field *f, const char *what)
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
} foreign[] = {
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
static const char *parse_name(struct sql *q, size_t *pos, size_t *len)
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
	for (size_t i = 0; !as && i < sizeof(foreign) / sizeof(foreign[0]); i++) {
		if (strcasecmp(t.text, foreign[i].word) == 0) {
			sql_error(q, t.pos, t.len, "%s", foreign[i].hint);
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

static struct sql_expr *new_expr(struct sql *q, enum sql_expr_kind kind, size_t pos, size_t len)
{
	struct sql_expr *e = sql_alloc(q, sizeof(*e));

	if (e) {
		e->kind = kind;
		e->pos = pos;
		e->len = len;
	}
	return e;
}

static struct sql_expr *new_binary(struct sql *q, enum sql_expr_kind kind, char op,
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

static struct sql_expr *time_of(struct sql *q, enum sql_side side, enum sql_pseudo pseudo)
{
	struct sql_expr *e = new_expr(q, EXPR_FIELD, q->token.pos, q->token.len);

	if (e)
		e->field = (struct sql_field){.name = q->token.text,
					      .pos = e->pos,
					      .len = e->len,
					      .side = side,
					      .pseudo = pseudo};
	return e;
}

static struct sql_expr *parse_sum(struct sql *q);

static struct sql_expr *parse_factor(struct sql *q)
{
	const struct sql_token t = q->token;
	enum sql_pseudo delta = PSEUDO_NONE;
	struct sql_expr *e;

	switch (t.word) {
	case WORD_NUMBER:
		e = new_expr(q, EXPR_NUMBER, t.pos, t.len);
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
	/* The time between the two events is a word of its own. */
	if (strcmp(t.text, "TIMESTAMP_DELTA") == 0)
		delta = PSEUDO_TIMESTAMP;
	else if (strcmp(t.text, "TIMESTAMP_DELTA_USECS") == 0)
		delta = PSEUDO_TIMESTAMP_USECS;
	if (delta) {
		e = new_binary(q, EXPR_SUM, '-', time_of(q, SIDE_JOIN, delta),
			       time_of(q, SIDE_FROM, delta));
		sql_step(q);
		if (e)
			e->len = t.len;
		return e;
	}
	e = new_expr(q, EXPR_FIELD, t.pos, t.len);
	return e && sql_parse_field(q, &e->field, "a field") ? e : NULL;
}

static bool count_operator(struct sql *q, unsigned int *n)
{
	if (++*n <= MAX_OPERATORS)
		return true;
	sql_error(q, q->token.pos, q->token.len, "too many operators in a column");
	return false;
}

static struct sql_expr *parse_product(struct sql *q)
{
	struct sql_expr *e = parse_factor(q);
	unsigned int n = 0;

	while (e && (q->token.word == WORD_TIMES || q->token.word == WORD_DIVIDE)) {
		char op = q->token.word == WORD_TIMES ? '*' : '/';

		if (!count_operator(q, &n))
			return NULL;
		sql_step(q);
		e = new_binary(q, EXPR_PRODUCT, op, e, parse_factor(q));
	}
	return e;
}

static struct sql_expr *parse_sum(struct sql *q)
{
	struct sql_expr *e = parse_product(q);
	unsigned int n = 0;

	while (e && (q->token.word == WORD_PLUS || q->token.word == WORD_MINUS)) {
		char op = q->token.word == WORD_PLUS ? '+' : '-';

		if (!count_operator(q, &n))
			return NULL;
		sql_step(q);
		e = new_binary(q, EXPR_SUM, op, e, parse_product(q));
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

static int find_cast(struct sql *q, struct sql_column *c, const char *name)
{
	struct suggest near = suggest_for(name, strlen(name));
	const char *best;

	for (size_t i = 0; i < sizeof(casts) / sizeof(casts[0]); i++) {
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

/* What stands behind CAST(field AS. */
static int parse_kind(struct sql *q, struct sql_column *c)
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

static int parse_cast(struct sql *q, struct sql_column *c)
{
	sql_step(q);
	if (take(q, WORD_OPEN, "'('") < 0)
		return q->rc;
	c->expr = new_expr(q, EXPR_FIELD, q->token.pos, q->token.len);
	if (!c->expr || !sql_parse_field(q, &c->expr->field, "a field"))
		return q->rc;
	if (take(q, WORD_AS, "AS") < 0 || parse_kind(q, c) < 0)
		return q->rc;
	return take(q, WORD_CLOSE, "')'");
}

static int parse_columns(struct sql *q)
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

/* ---- events ---- */

static int parse_event(struct sql *q, struct sql_event *e)
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

static int parse_matches(struct sql *q)
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

static int parse_join(struct sql *q)
{
	sql_step(q);
	q->joined = true;
	if (parse_event(q, &q->event[SIDE_JOIN]) < 0)
		return q->rc;
	if (q->token.word != WORD_ON)
		return sql_expected(q, "ON and the fields that must match");
	return parse_matches(q);
}

int sql_parse(struct sql *q)
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
