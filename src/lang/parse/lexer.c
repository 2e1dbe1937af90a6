// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tokens. Every call moves forward by at least one character or reports the end, so that reading
 * ends whatever the text is.
 */
#include "lang/parse/lexer.h"

#include <stdio.h>

#include "base/array.h"
#include "base/num.h"

/* ---- numbers and strings ---- */

/* Suffixes of numbers. Those of C have no effect: all numbers have 64 bits. */
static const struct {
	const char *text;
	uint64_t factor;
} suffixes[] = {
	{"", 1},
	{"u", 1},
	{"l", 1},
	{"ul", 1},
	{"lu", 1},
	{"ll", 1},
	{"ull", 1},
	{"llu", 1},
	{"ns", 1},
	{"us", 1000},
	{"ms", 1000000},
	{"s", 1000000000},
	{"m", 60000000000},
	{"h", 3600000000000},
	{"d", 86400000000000},
};

enum { FIRST_DURATION = 8, MAX_SUFFIX = 4 };

static bool suffix_is(const char *s, size_t len, size_t i)
{
	if (strlen(suffixes[i].text) != len)
		return false;
	/* Durations are lower case: 1M is not a minute. */
	for (size_t k = 0; k < len; k++)
		if ((i < FIRST_DURATION ? s[k] | 0x20 : s[k]) != suffixes[i].text[k])
			return false;
	return true;
}

bool lex_suffix(const char *s, size_t len, uint64_t *factor)
{
	for (size_t i = 0; len <= MAX_SUFFIX && i < ARRAY_SIZE(suffixes); i++) {
		if (suffix_is(s, len, i)) {
			*factor = suffixes[i].factor;
			return true;
		}
	}
	return false;
}

struct digits {
	const char *p, *end;
	uint64_t value;
	bool overflow, odd; /* odd: a misplaced underscore, or no digit */
};

static void read_digits(struct digits *d, unsigned int base)
{
	bool any = false;

	for (; d->p < d->end; d->p++) {
		const unsigned int v = (unsigned int)num_hex_digit(*d->p);

		if (*d->p == '_')
			continue;
		if (v >= base)
			break;
		any = true;
		d->overflow |= __builtin_mul_overflow(d->value, (uint64_t)base, &d->value);
		d->overflow |= __builtin_add_overflow(d->value, (uint64_t)v, &d->value);
	}
	if (!any || d->p[-1] == '_')
		d->odd = true;
}

static void read_exponent(struct digits *d)
{
	uint64_t value = d->value;

	d->p++;
	d->value = 0;
	read_digits(d, 10);
	/* A value that is not 0 overflows after at most 20 rounds. */
	for (uint64_t i = 0; value && i < d->value && !d->overflow; i++)
		d->overflow |= __builtin_mul_overflow(value, (uint64_t)10, &value);
	d->value = value;
}

static unsigned int read_prefix(struct digits *d)
{
	const char next = d->end - d->p > 1 ? (char)(d->p[1] | 0x20) : '\0';

	if (*d->p != '0')
		return 10;
	if (next == 'x' || next == 'b') {
		d->p += 2;
		return next == 'x' ? 16 : 2;
	}
	return lex_is_digit(next) ? 8 : 10;
}

void lex_number(struct lexer *l, struct lex_input *in, struct token *t)
{
	const char *const text = l->source->text.data;
	struct digits d = {.p = text + in->pos, .end = text + in->end};
	const unsigned int base = read_prefix(&d);
	uint64_t factor = 1;
	const char *suffix;

	read_digits(&d, base);
	if (base == 10 && d.p < d.end && (*d.p == 'e' || *d.p == 'E'))
		read_exponent(&d);
	suffix = d.p;
	while (d.p < d.end && lex_is_name(*d.p))
		d.p++;
	in->pos = (uint32_t)(d.p - text);
	t->kind = T_INT;
	t->at.to = in->pos;
	if (d.odd || lex_is_digit(*suffix)) {
		lex_error(l, t->at, "'%.*s' is not a number", (int)(t->at.to - t->at.from),
			  text + t->at.from);
	} else if (!lex_suffix(suffix, (size_t)(d.p - suffix), &factor)) {
		lex_error(l, (struct span){(uint32_t)(suffix - text), t->at.to},
			  "invalid suffix '%.*s' of a number", (int)(d.p - suffix), suffix);
		source_hint(l->source, "known are ns, us, ms, s, m, h, d, and u, l, ul, ll, ull");
	} else if (d.overflow || __builtin_mul_overflow(d.value, factor, &d.value)) {
		lex_error(l, t->at, "this number does not fit into 64 bits");
	}
	t->num = (int64_t)d.value;
	t->is_unsigned = d.value > INT64_MAX;
}

static const char escapes[][2] = {
	{'n', '\n'}, {'t', '\t'}, {'r', '\r'}, {'a', '\a'}, {'b', '\b'},  {'f', '\f'},
	{'v', '\v'}, {'e', 033},  {'"', '"'},  {'?', '?'},  {'\'', '\''}, {'\\', '\\'},
};

/* Reads the escape whose backslash is before *p: its character, -1 if it is wrong. */
static int read_escape(const char **p, const char *end)
{
	const bool hex = **p == 'x' || **p == 'X';
	const unsigned int base = hex ? 16 : 8;
	int value = 0, digits = 0;

	for (size_t i = 0; i < ARRAY_SIZE(escapes); i++) {
		if (escapes[i][0] == **p) {
			++*p;
			return escapes[i][1];
		}
	}
	for (const char *q = *p + hex; q < end && digits < (hex ? 2 : 3); q++, digits++) {
		if ((unsigned int)num_hex_digit(*q) >= base)
			break;
		value = value * (int)base + num_hex_digit(*q);
	}
	if (!digits || value > 255)
		return -1;
	*p += digits + hex;
	return value;
}

void lex_string(struct lexer *l, struct lex_input *in, struct token *t)
{
	const char *const text = l->source->text.data, *const end = text + in->end;
	const char *p = text + in->pos + 1, *close = p;
	char *out;

	while (close < end && *close != '"' && *close != '\n')
		close += *close == '\\' && end - close > 1 && close[1] != '\n' ? 2 : 1;
	t->kind = T_STRING;
	t->at.to = in->pos = (uint32_t)(close - text) + (close < end && *close == '"');
	out = lex_alloc(l, (size_t)(close - p) + 1);
	if (!out) {
		t->kind = T_END;
		return;
	}
	t->text = out;
	while (p < close) {
		const char *const from = p;
		int c = (unsigned char)*p++;

		if (c == '\\' && p < close)
			c = read_escape(&p, close);
		if (c < 0) {
			lex_error(l,
				  (struct span){(uint32_t)(from - text), (uint32_t)(p - text) + 1},
				  "invalid escape '%.2s' in a string", from);
			p++;
			continue;
		}
		out[t->len++] = (char)c;
	}
	if (close == end || *close != '"')
		lex_error(l, t->at, "this string has no end");
}

/* ---- tokens ---- */

static const struct {
	const char *text;
	enum word word;
} words[] = {
	{"break", W_BREAK},	{"comptime", W_COMPTIME},
	{"config", W_CONFIG},	{"continue", W_CONTINUE},
	{"else", W_ELSE},	{"enum", W_ENUM},
	{"false", W_FALSE},	{"fn", W_FN},
	{"for", W_FOR},		{"if", W_IF},
	{"import", W_IMPORT},	{"let", W_LET},
	{"macro", W_MACRO},	{"offsetof", W_OFFSETOF},
	{"return", W_RETURN},	{"sizeof", W_SIZEOF},
	{"struct", W_STRUCT},	{"true", W_TRUE},
	{"typedef", W_TYPEDEF}, {"typeinfo", W_TYPEINFO},
	{"typeof", W_TYPEOF},	{"union", W_UNION},
	{"unroll", W_UNROLL},	{"while", W_WHILE},
};

enum { MAX_CHARACTER = 6 }; /* bytes of a character with its quotes: '\\377' */

/* Longer ones first. */
static const struct {
	const char *text;
	int kind, op;
} operators[] = {
	{"<<=", T_ASSIGN, NODE_OP_SHL},
	{">>=", T_ASSIGN, NODE_OP_SHR},
	{"<<", NODE_OP_SHL, 0},
	{">>", NODE_OP_SHR, 0},
	{"<=", NODE_OP_LE, 0},
	{">=", NODE_OP_GE, 0},
	{"==", NODE_OP_EQ, 0},
	{"!=", NODE_OP_NE, 0},
	{"&&", NODE_OP_AND, 0},
	{"||", NODE_OP_OR, 0},
	{"++", T_INC, '+'},
	{"--", T_DEC, '-'},
	{"->", T_ARROW, 0},
	{"..", T_RANGE, 0},
	{"+=", T_ASSIGN, '+'},
	{"-=", T_ASSIGN, '-'},
	{"*=", T_ASSIGN, '*'},
	{"/=", T_ASSIGN, '/'},
	{"%=", T_ASSIGN, '%'},
	{"&=", T_ASSIGN, '&'},
	{"|=", T_ASSIGN, '|'},
	{"^=", T_ASSIGN, '^'},
	{"=", T_ASSIGN, 0},
};

static const char single[] = "+-*/%&|^~!<>?:;,.(){}[]";

enum word lex_word(const char *s, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strlen(words[i].text) == len && !memcmp(words[i].text, s, len))
			return words[i].word;
	return W_NONE;
}

void lex_init(struct lexer *l, struct source *source, const struct parse_options *opt)
{
	*l = (struct lexer){.source = source, .arena = source->arena, .opt = opt};
	pp_init(l);
}

void lex_free(struct lexer *l)
{
	pp_free(l);
}

void lex_verror(struct lexer *l, struct span at, const char *fmt, va_list ap)
{
	char words_[512];

	if (l->headers)
		return;
	vsnprintf(words_, sizeof(words_), fmt, ap);
	source_error(l->source, at, "%s", words_);
	if (l->source->errors >= SOURCE_MAX_ERRORS)
		l->stop = true;
}

void lex_error(struct lexer *l, struct span at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	lex_verror(l, at, fmt, ap);
	va_end(ap);
}

void lex_no_memory(struct lexer *l)
{
	if (!l->stop && !l->headers)
		source_error(l->source, (struct span){0, 0}, "the script is too large");
	l->stop = true;
}

void *lex_alloc(struct lexer *l, size_t size)
{
	void *m = arena_alloc(l->arena, size);

	if (!m)
		lex_no_memory(l);
	return m;
}

/* Whether a file that a script names is a header of C, by its name. */
static bool is_header(const struct lexer *l, uint32_t at)
{
	const struct source_part *part = source_part_of(l->source, at);
	const size_t len = part ? strlen(part->name) : 0;

	return l->nr_in && len > 2 && !strcmp(part->name + len - 2, ".h");
}

bool lex_push(struct lexer *l, struct span text, bool expansion, struct span by)
{
	/* The last entry is reserved for an expansion: there is never a second one on top of it. */
	if (l->nr_in >= LEX_MAX_INPUTS - (expansion ? 0 : 1)) {
		lex_error(l, by, "files are included too deeply");
		return false;
	}
	/* Some editors write a byte order mark. */
	if (!expansion && text.to - text.from >= 3 &&
	    memcmp(l->source->text.data + text.from, "\xef\xbb\xbf", 3) == 0)
		text.from += 3;
	l->in[l->nr_in++] = (struct lex_input){
		.pos = text.from,
		.end = text.to,
		.line_start = !expansion,
		.expansion = expansion,
		.is_c = !expansion && is_header(l, text.from),
		.conds = l->pp.nr_conds,
	};
	return true;
}

uint32_t lex_skip(const char *text, uint32_t at, uint32_t end)
{
	const char *p;

	if (text[at] == '"' || text[at] == '\'') {
		uint32_t i = at + 1;

		/* A character is short: a quote without a close one is an apostrophe. */
		if (text[at] == '\'' && end - at > MAX_CHARACTER)
			end = at + MAX_CHARACTER;
		for (; i < end && text[i] != '\n'; i++) {
			if (text[i] == text[at])
				return i + 1;
			if (text[i] == '\\' && end - i > 1 && text[i + 1] != '\n')
				i++;
		}
		return text[at] == '"' ? i : at;
	}
	if (text[at] != '/' || end - at < 2)
		return at;
	if (text[at + 1] == '/') {
		p = memchr(text + at, '\n', end - at);
		return p ? (uint32_t)(p - text) : end;
	}
	if (text[at + 1] == '*') {
		p = memmem(text + at + 2, end - at - 2, "*/", 2);
		return p ? (uint32_t)(p - text) + 2 : end;
	}
	return at;
}

static void skip_comment(struct lexer *l, struct lex_input *in)
{
	const char *const text = l->source->text.data;
	const uint32_t to = lex_skip(text, in->pos, in->end);

	if (text[in->pos + 1] == '*' && (to - in->pos < 4 || memcmp(text + to - 2, "*/", 2) != 0)) {
		const uint32_t from = in->pos;

		in->pos = to;
		lex_error(l, (struct span){from, from + 2}, "this comment has no end");
		return;
	}
	in->pos = to;
}

/* Removes the current input. False: it is the script itself. */
static bool pop_input(struct lexer *l)
{
	if (!lex_top(l)->expansion)
		pp_end_of_file(l, lex_top(l)->conds);
	if (l->nr_in == 1)
		return false;
	l->nr_in--;
	return true;
}

int lex_char(struct lexer *l)
{
	while (l->nr_in && !l->stop) {
		struct lex_input *in = lex_top(l);
		const char *const text = l->source->text.data;
		char c;

		if (in->pos >= in->end) {
			if (!pop_input(l))
				return -1;
			continue;
		}
		c = text[in->pos];
		if (c == '\n') {
			in->line_start = !in->expansion;
			in->pos++;
		} else if (lex_is_blank(c)) {
			in->pos++;
		} else if (c == '\\' && in->end - in->pos > 1 && text[in->pos + 1] == '\n') {
			in->pos += 2;
		} else if (c == '/' && in->end - in->pos > 1 &&
			   (text[in->pos + 1] == '/' || text[in->pos + 1] == '*')) {
			skip_comment(l, in);
		} else if (c == '#' && in->line_start) {
			pp_directive(l, in);
		} else {
			return (unsigned char)c;
		}
	}
	return -1;
}

enum word lex_peek_word(struct lexer *l)
{
	const struct lex_input *in;
	const char *text;
	uint32_t to;

	if (lex_char(l) < 0)
		return W_NONE;
	in = lex_top(l);
	text = l->source->text.data;
	for (to = in->pos; to < in->end && lex_is_name(text[to]);)
		to++;
	return lex_word(text + in->pos, to - in->pos);
}

/* Reads the name at the input's position; it may be "". */
static void read_name(struct lexer *l, struct lex_input *in, struct token *t)
{
	const char *const text = l->source->text.data;
	const uint32_t from = in->pos;

	if (in->pos < in->end && lex_is_name_start(text[in->pos]))
		while (in->pos < in->end && lex_is_name(text[in->pos]))
			in->pos++;
	t->len = in->pos - from;
	t->text = arena_strndup(l->arena, text + from, t->len);
	t->at.to = in->pos;
	if (!t->text) {
		lex_no_memory(l);
		t->kind = T_END;
	}
}

static void read_dollar(struct lexer *l, struct lex_input *in, struct token *t)
{
	const char *const text = l->source->text.data;
	const char c = ++in->pos < in->end ? text[in->pos] : '\0';

	if (c == '#') {
		t->kind = T_NPARAMS;
		t->at.to = ++in->pos;
	} else if (lex_is_digit(c)) {
		t->kind = T_PARAM;
		while (in->pos < in->end && lex_is_digit(text[in->pos])) {
			t->num = t->num > INT32_MAX ? t->num : t->num * 10 + text[in->pos] - '0';
			in->pos++;
		}
		t->at.to = in->pos;
		if (t->num > INT32_MAX)
			lex_error(l, t->at, "there cannot be that many parameters");
	} else if (lex_is_name_start(c)) {
		t->kind = T_VAR;
		read_name(l, in, t);
	} else {
		t->kind = T_BAD;
		t->at.to = in->pos;
		lex_error(l, t->at, "expected the name of a variable after '$'");
	}
}

uint32_t lex_operator(const char *text, size_t left, struct token *t)
{
	for (size_t i = 0; i < ARRAY_SIZE(operators); i++) {
		const uint32_t len = (uint32_t)strlen(operators[i].text);

		if (len <= left && !memcmp(text, operators[i].text, len)) {
			t->kind = operators[i].kind;
			t->op = operators[i].op;
			return len;
		}
	}
	return 0;
}

static void read_operator(struct lexer *l, struct lex_input *in, struct token *t)
{
	const char *const text = l->source->text.data + in->pos;
	const uint32_t len = lex_operator(text, in->end - in->pos, t);

	in->pos += len ? len : 1;
	t->at.to = in->pos;
	if (len)
		return;
	if (*text && strchr(single, *text)) {
		t->kind = *text;
		return;
	}
	t->kind = T_BAD;
	if (*text == '#') {
		lex_error(l, t->at, "a directive has to begin its line");
	} else if (*text == '\'') {
		t->at.to = in->pos = lex_skip(l->source->text.data, t->at.from, in->end);
		in->pos += in->pos == t->at.from;
		lex_error(l, t->at, "characters in single quotes are not part of the language");
		source_hint(l->source, "use the number of the character: 65 is 'A'");
	} else if (*text > ' ' && *text < 0x7f) {
		lex_error(l, t->at, "unexpected character '%c'", *text);
	} else {
		/* One message for all bytes of a UTF-8 character. */
		while (in->pos < in->end && (l->source->text.data[in->pos] & 0x80))
			in->pos++;
		t->at.to = in->pos;
		lex_error(l, t->at, "unexpected character 0x%02x", (unsigned char)*text);
	}
}

void lex_next(struct lexer *l, struct token *t)
{
	for (;;) {
		const int c = lex_char(l);
		struct lex_input *const in = l->nr_in ? lex_top(l) : NULL;

		*t = (struct token){.kind = T_END};
		if (in)
			t->at = (struct span){in->pos, in->pos};
		if (c < 0)
			return;
		in->line_start = false;
		if (lex_is_digit((char)c)) {
			lex_number(l, in, t);
		} else if (c == '"') {
			lex_string(l, in, t);
		} else if (c == '$') {
			read_dollar(l, in, t);
		} else if (c == '@') {
			t->kind = T_MAP;
			in->pos++;
			read_name(l, in, t);
		} else if (lex_is_name_start((char)c)) {
			if (!in->expansion && pp_expand(l, in))
				continue;
			t->kind = T_WORD;
			read_name(l, in, t);
			if (t->text)
				t->word = lex_word(t->text, t->len);
		} else {
			read_operator(l, in, t);
		}
		return;
	}
}
