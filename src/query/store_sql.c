// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Statements for ClickHouse: they are sent unchanged, except for parameters and spur's functions.
 *
 * The lexer knows just enough of ClickHouse's SQL to leave strings, comments and quoted names
 * alone. It never fails: an unterminated string reaches to the end of the text, and the server
 * reports the error.
 */
#include "query/store_sql.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"
#include "query/parts.h"
#include "store/clickhouse/server.h"

#define MAX_DEPTH 32	/* nested calls of spur's functions */
#define MAX_ARGS  2	/* of spur's functions */
#define ROUNDING  1e-14 /* as in quantiles.c */

/* ---- tokens ---- */

static bool word_start(char c)
{
	return isalpha((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool word_byte(char c)
{
	return word_start(c) || isdigit((unsigned char)c);
}

static size_t word_length(const char *s)
{
	size_t n = 0;

	while (word_byte(s[n]))
		n++;
	return n;
}

/* A backslash quotes any byte; the quote twice stands for itself. */
static size_t quoted_length(const char *s)
{
	size_t n = 1;

	while (s[n]) {
		if (s[n] == '\\' && s[n + 1])
			n += 2;
		else if (s[n] != *s)
			n++;
		else if (s[n + 1] == *s)
			n += 2;
		else
			return n + 1;
	}
	return n;
}

/* $tag$ any text $tag$; 0: this is none. */
static size_t heredoc_length(const char *s)
{
	const size_t tag = word_length(s + 1) + 2;
	const char *end;

	if (s[tag - 1] != '$')
		return 0;
	for (end = s + tag; (end = strchr(end, '$')); end++)
		if (strncmp(end, s, tag) == 0)
			return (size_t)(end - s) + tag;
	return strlen(s);
}

static size_t number_length(const char *s)
{
	size_t n = 0;

	while (word_byte(s[n]) || s[n] == '.' ||
	       ((s[n] == '+' || s[n] == '-') && n && (s[n - 1] | 32) == 'e' && (s[1] | 32) != 'x'))
		n++;
	return n;
}

static size_t blank_length(const char *s)
{
	const char *end;

	if (isspace((unsigned char)*s))
		return 1;
	if ((s[0] == '-' && s[1] == '-') || (s[0] == '#' && (s[1] == ' ' || s[1] == '!')))
		return strcspn(s, "\n");
	if (s[0] != '/' || s[1] != '*')
		return 0;
	end = strstr(s + 2, "*/");
	return end ? (size_t)(end - s) + 2 : strlen(s);
}

/* `before` is the byte before it. */
static size_t token_length(const char *s, char before, enum sql_kind *kind)
{
	size_t n;

	if (*s == '\'' || *s == '"' || *s == '`') {
		*kind = *s == '\'' ? SQL_STRING : SQL_NAME;
		return quoted_length(s);
	}
	if (*s == '$' && (n = heredoc_length(s)) > 0) {
		*kind = SQL_STRING;
		return n;
	}
	if (word_start(*s)) {
		*kind = SQL_WORD;
		return word_length(s);
	}
	if (isdigit((unsigned char)*s)) {
		*kind = SQL_NUMBER;
		return number_length(s);
	}
	/* Neither the type of {name:Type} nor a cast by x::Type. */
	if (*s == ':' && word_start(s[1]) && !word_byte(before) && before != ':') {
		*kind = SQL_PARAM;
		return 1 + word_length(s + 1);
	}
	*kind = SQL_SIGN;
	return 1;
}

size_t store_sql_length(const char *text, bool *complete)
{
	size_t n = 0;

	*complete = false;
	while (text[n] && !*complete) {
		const size_t blank = blank_length(text + n);
		enum sql_kind kind;

		*complete = !blank && text[n] == ';';
		n += blank ? blank : token_length(text + n, n ? text[n - 1] : ' ', &kind);
	}
	return n;
}

bool store_sql_complete(const char *text)
{
	bool complete = false;

	while (*text) {
		const size_t blank = blank_length(text);

		text += blank ? blank : store_sql_length(text, &complete);
	}
	return complete;
}

static int add_param(struct store_sql *s, const struct store_token *t)
{
	struct sql_param *p;

	vec_each (known, &s->params)
		if (strlen(known->name) == t->len &&
		    memcmp(known->name, s->text + t->at, t->len) == 0)
			return 0;
	p = vec_push(&s->params);
	if (!p)
		return -ENOMEM;
	p->name = strndup(s->text + t->at, t->len);
	return p->name ? 0 : -ENOMEM;
}

int store_sql_read(struct store_sql *s, const char *text)
{
	size_t choices = 0; /* "? a : b" of which the colon is to come */
	bool complete;
	size_t len = store_sql_length(text, &complete);

	*s = (struct store_sql){.text = strndup(text, len - complete)};
	if (!s->text)
		return -ENOMEM;
	for (size_t n = 0; s->text[n];) {
		const size_t blank = blank_length(s->text + n);
		struct store_token *t;

		if (blank) {
			n += blank;
			continue;
		}
		t = vec_push(&s->tokens);
		if (!t)
			return -ENOMEM;
		t->at = n;
		t->len = token_length(s->text + n, n ? s->text[n - 1] : ' ', &t->kind);
		if (s->text[n] == ':' && choices) {
			*t = (struct store_token){SQL_SIGN, n, 1};
			choices--;
		}
		choices += s->text[n] == '?';
		if (t->kind == SQL_PARAM && add_param(s, t) < 0)
			return -ENOMEM;
		n += t->len;
	}
	return 0;
}

void store_sql_free(struct store_sql *s)
{
	vec_each (p, &s->params) {
		free(p->name);
		free(p->value);
	}
	vec_free(&s->params);
	vec_free(&s->tokens);
	free(s->text);
}

/* ---- what it is ---- */

static bool is_word(const struct store_sql *s, size_t i, const char *word)
{
	const struct store_token *t = i < s->tokens.n ? &s->tokens.at[i] : NULL;

	return t && t->kind == SQL_WORD && strlen(word) == t->len &&
	       strncasecmp(s->text + t->at, word, t->len) == 0;
}

static bool is_any_word(const struct store_sql *s, size_t i, const char *const *words)
{
	for (; *words; words++)
		if (is_word(s, i, *words))
			return true;
	return false;
}

static bool is_sign(const struct store_sql *s, size_t i, char sign)
{
	return i < s->tokens.n && s->tokens.at[i].kind == SQL_SIGN &&
	       s->text[s->tokens.at[i].at] == sign;
}

int store_sql_check(const struct store_sql *s, struct spur_error *err)
{
	static const char *const reading[] = {"select", "with",	  "show",    "describe",
					      "desc",	"exists", "explain", NULL};
	size_t first = 0;
	bool reads;

	while (is_sign(s, first, '('))
		first++;
	reads = is_any_word(s, first, reading);
	for (size_t i = 0; reads && i < s->tokens.n; i++)
		reads = !is_word(s, i, "insert") || !is_word(s, i + 1, "into");
	if (reads && s->tokens.n > 2 && is_word(s, s->tokens.n - 2, "format"))
		return error_set(err, -EINVAL,
				 "a statement for spur has no FORMAT: --csv, --json and "
				 "others say how rows are shown");
	if (reads)
		return 0;
	first = first < s->tokens.n ? first : 0;
	return error_set(
		err, -EINVAL,
		"a query can only read: '%.*s' is not sent to the server, but SELECT, WITH, "
		"SHOW, DESCRIBE, EXISTS and EXPLAIN are",
		(int)s->tokens.at[first].len, s->text + s->tokens.at[first].at);
}

bool store_sql_joins_outer(const struct store_sql *s)
{
	static const char *const outer[] = {"left", "right", "full", NULL};

	for (size_t i = 0; i < s->tokens.n; i++)
		for (size_t k = 1; is_any_word(s, i, outer) && k <= 3; k++)
			if (is_word(s, i + k, "join"))
				return true;
	return false;
}

/* ---- writing it ---- */

struct span {
	size_t from, to; /* tokens */
};

struct writer {
	const struct store_sql *sql;
	const char *mark;
	struct buf *to;
	struct spur_error *err;
	int rc;
	unsigned int depth; /* of functions of ours */
};

static void write_span(struct writer *w, struct span s);

static size_t end_of(const struct store_sql *s, size_t token)
{
	return s->tokens.at[token].at + s->tokens.at[token].len;
}

/* Numbers are written as numbers, like query_bind() does. */
static void write_value(struct writer *w, const char *text)
{
	long long number;
	double real;
	char *end;

	if (!text) {
		buf_puts(w->to, "NULL");
		return;
	}
	errno = 0;
	number = strtoll(text, &end, 0);
	if (*text && !*end && errno == 0) {
		buf_printf(w->to, "%lld", number);
		return;
	}
	real = strtod(text, &end);
	if (*text && !*end && isfinite(real))
		buf_printf(w->to, "%.17g", real);
	else
		ch_put_string(w->to, text);
}

static const char *value_of(const struct writer *w, const struct store_token *t)
{
	vec_each (p, &w->sql->params)
		if (strlen(p->name) == t->len && memcmp(p->name, w->sql->text + t->at, t->len) == 0)
			return p->value;
	return NULL;
}

/* '$' in a template is the argument, '@' the mark. */
static void write_template(struct writer *w, const char *template, struct span x)
{
	for (; *template; template ++) {
		if (*template == '$')
			write_span(w, x);
		else if (*template == '@')
			buf_puts(w->to, w->mark);
		else
			buf_putc(w->to, *template);
	}
}

/*
 * A server's exact quantile is the value whose number, from 0, is the level times their count
 * without its fraction. Ours is the smallest that so many percent do not exceed. The two differ
 * where that product is a whole number, so the level is a little lower. The quantile of nothing is
 * NULL only if the argument can be NULL.
 */
static bool write_quantile(struct writer *w, double percent, struct span x)
{
	const double level = percent <= 0 ? 0 : percent >= 100 ? 1 : percent / 100;

	buf_printf(w->to, "quantileExact(%.17g)", level * (1 - ROUNDING));
	write_template(w, "(toNullable($))", x);
	return true;
}

static bool write_p50(struct writer *w, const struct span *args)
{
	return write_quantile(w, 50, args[0]);
}

static bool write_p90(struct writer *w, const struct span *args)
{
	return write_quantile(w, 90, args[0]);
}

static bool write_p99(struct writer *w, const struct span *args)
{
	return write_quantile(w, 99, args[0]);
}

/* The server needs a number as the level; it accepts no expression. */
static bool write_percentile(struct writer *w, const struct span *args)
{
	const struct store_token *t = &w->sql->tokens.at[args[1].from];

	if (args[1].to - args[1].from != 1 || t->kind != SQL_NUMBER)
		return false;
	return write_quantile(w, strtod(w->sql->text + t->at, NULL), args[0]);
}

static bool write_stddev(struct writer *w, const struct span *args)
{
	write_template(w, "stddevSamp($)", args[0]);
	return true;
}

/* The server counts by powers of two. The bars are drawn here. */
static bool write_hist(struct writer *w, const struct span *args)
{
	write_template(w,
		       "concat('@', toString(sumMap([if(ifNull($, 0) < 0, toInt64(-1), "
		       "toInt64(roundToExp2(toInt64(ifNull($, 0)))))], [toUInt64(isNotNull($))])))",
		       args[0]);
	return true;
}

/* ns('5ms') is a number, ns(dur) a text. */
static bool write_ns(struct writer *w, const struct span *args)
{
	const struct store_token *t = &w->sql->tokens.at[args[0].from];
	char text[64];
	double ns;

	if (args[0].to - args[0].from != 1 || t->kind != SQL_STRING) {
		write_template(
			w,
			"arrayMap(spur_ns -> concat(toString(round(spur_ns / "
			"multiIf(abs(spur_ns) >= 1e9, 1e9, abs(spur_ns) >= 1e6, 1e6, "
			"abs(spur_ns) >= 1e3, 1e3, 1), 3)), multiIf(abs(spur_ns) >= 1e9, 's', "
			"abs(spur_ns) >= 1e6, 'ms', abs(spur_ns) >= 1e3, 'us', 'ns')), "
			"[toFloat64($)])[1]",
			args[0]);
		return true;
	}
	if (t->len < 3 || t->len - 2 >= sizeof(text))
		return false;
	memcpy(text, w->sql->text + t->at + 1, t->len - 2);
	text[t->len - 2] = '\0';
	if (!functions_parse_ns(text, &ns)) {
		w->rc = error_set(w->err, -EINVAL, FUNCTIONS_NO_TIME, text);
		return true;
	}
	buf_printf(w->to, "%.0f", ns);
	return true;
}

/* coalesce(:name, 20) is a parameter and its default: LIMIT accepts no expression. */
static bool write_default(struct writer *w, const struct span *args)
{
	const struct store_token *t = &w->sql->tokens.at[args[0].from];
	const char *value = value_of(w, t);

	if (args[0].to - args[0].from != 1 || t->kind != SQL_PARAM ||
	    args[1].to - args[1].from != 1)
		return false;
	if (value)
		write_value(w, value);
	else
		write_span(w, args[1]);
	return true;
}

static const struct function {
	const char *name;
	size_t args;
	bool (*write)(struct writer *w, const struct span *args); /* false: as it is */
} functions[] = {
	{"p50", 1, write_p50},	     {"p90", 1, write_p90},
	{"p99", 1, write_p99},	     {"percentile", 2, write_percentile},
	{"stddev", 1, write_stddev}, {"hist", 1, write_hist},
	{"ns", 1, write_ns},	     {"coalesce", 2, write_default},
};

/*
 * The arguments of a call, whose bracket is the token `open`: how many there are, MAX_ARGS + 1 for
 * too many, 0 when there is no end. *close is the bracket at the end.
 */
static size_t find_args(const struct store_sql *s, size_t open, size_t to, struct span *args,
			size_t *close)
{
	size_t depth = 0, n = 0, from = open + 1;

	for (size_t i = open + 1; i < to; i++) {
		const char c = s->tokens.at[i].kind == SQL_SIGN ? s->text[s->tokens.at[i].at] : ' ';
		const bool ends = !depth && (c == ')' || c == ',');

		depth += c == '(' || c == '[';
		if (!ends) {
			depth -= depth && (c == ')' || c == ']');
			continue;
		}
		if (i == from)
			return 0;
		if (n < MAX_ARGS)
			args[n] = (struct span){from, i};
		n += n <= MAX_ARGS;
		from = i + 1;
		*close = i;
		if (c == ')')
			return n;
	}
	return 0;
}

/* Writes a call of one of spur's functions; returns its number of tokens, 0: it is no such call. */
static size_t write_call(struct writer *w, size_t at, size_t to)
{
	const struct store_sql *s = w->sql;
	struct span args[MAX_ARGS];
	size_t close = 0, n;

	if (w->depth >= MAX_DEPTH || !is_sign(s, at + 1, '(') || (at && is_sign(s, at - 1, '.')))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		if (!is_word(s, at, functions[i].name))
			continue;
		n = find_args(s, at + 1, to, args, &close);
		if (n != functions[i].args)
			return 0;
		w->depth++;
		n = functions[i].write(w, args) ? close + 1 - at : 0;
		w->depth--;
		return n;
	}
	return 0;
}

/* Whether these tokens are a whole column of the outermost SELECT, without a name. */
static bool is_column(const struct store_sql *s, size_t from, size_t to)
{
	static const char *const before[] = {"select", "distinct", NULL};
	static const char *const other[] = {"from",  "where", "group",	"order",
					    "limit", "union", "having", NULL};
	size_t depth = 0;
	bool columns = false;

	if (!from || !(is_any_word(s, from - 1, before) || is_sign(s, from - 1, ',')) ||
	    !(to == s->tokens.n || is_sign(s, to, ',') || is_any_word(s, to, other)))
		return false;
	for (size_t i = 0; i < from; i++) {
		depth += is_sign(s, i, '(') || is_sign(s, i, '[');
		depth -= depth && (is_sign(s, i, ')') || is_sign(s, i, ']'));
		if (!depth && is_word(s, i, "select"))
			columns = true;
		else if (!depth && is_any_word(s, i, other))
			columns = false;
	}
	return columns && !depth;
}

/* The name of a column is the text that the user wrote, not its translation. */
static void write_name(struct writer *w, size_t from, size_t to)
{
	const struct store_sql *s = w->sql;
	const size_t at = s->tokens.at[from].at;
	char *text = strndup(s->text + at, end_of(s, to - 1) - at);

	buf_puts(w->to, " AS ");
	ch_put_name(w->to, text ? text : "");
	free(text);
}

static void write_span(struct writer *w, struct span span)
{
	const struct store_sql *s = w->sql;

	for (size_t i = span.from; i < span.to && w->rc == 0 && !buf_full(w->to);) {
		const struct store_token *t = &s->tokens.at[i];
		size_t n;

		if (i > span.from)
			buf_put(w->to, s->text + end_of(s, i - 1), t->at - end_of(s, i - 1));
		n = t->kind == SQL_WORD ? write_call(w, i, span.to) : 0;
		if (n && !w->depth && is_column(s, i, i + n))
			write_name(w, i, i + n);
		if (!n && t->kind == SQL_PARAM)
			write_value(w, value_of(w, t));
		else if (!n)
			buf_put(w->to, s->text + t->at, t->len);
		i += n ? n : 1;
	}
}

int store_sql_write(const struct store_sql *s, const char *mark, struct buf *to,
		    struct spur_error *err)
{
	struct writer w = {.sql = s, .mark = mark, .to = to, .err = err};

	buf_reset(to);
	write_span(&w, (struct span){0, s->tokens.n});
	if (w.rc == 0 && buf_full(to))
		return error_set(err, -E2BIG, "the statement is too long");
	return w.rc;
}
