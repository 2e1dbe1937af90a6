// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tokens. Every call moves on by at least one character or says that the end is reached, so that
 * reading ends whatever the text is.
 */
#include "lang/lex.h"

#include <stdio.h>

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

enum { MAX_CHARACTER = 6 }; /* bytes of one, quotes included: '\\377' */

/* Longer ones first. */
static const struct {
	char text[4];
	unsigned int len;
	int kind, op;
} operators[] = {
	{"<<=", 3, T_ASSIGN, OP_SHL}, {">>=", 3, T_ASSIGN, OP_SHR}, {"<<", 2, OP_SHL, 0},
	{">>", 2, OP_SHR, 0},	      {"<=", 2, OP_LE, 0},	    {">=", 2, OP_GE, 0},
	{"==", 2, OP_EQ, 0},	      {"!=", 2, OP_NE, 0},	    {"&&", 2, OP_AND, 0},
	{"||", 2, OP_OR, 0},	      {"++", 2, T_INC, '+'},	    {"--", 2, T_DEC, '-'},
	{"->", 2, T_ARROW, 0},	      {"..", 2, T_RANGE, 0},	    {"+=", 2, T_ASSIGN, '+'},
	{"-=", 2, T_ASSIGN, '-'},     {"*=", 2, T_ASSIGN, '*'},	    {"/=", 2, T_ASSIGN, '/'},
	{"%=", 2, T_ASSIGN, '%'},     {"&=", 2, T_ASSIGN, '&'},	    {"|=", 2, T_ASSIGN, '|'},
	{"^=", 2, T_ASSIGN, '^'},     {"=", 1, T_ASSIGN, 0},
};

static const char single[] = "+-*/%&|^~!<>?:;,.(){}[]";

enum word lex_word(const char *s, size_t len)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
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

void lex_error(struct lexer *l, struct span at, const char *fmt, ...)
{
	char words_[512];
	va_list ap;

	if (l->headers)
		return;
	va_start(ap, fmt);
	vsnprintf(words_, sizeof(words_), fmt, ap);
	va_end(ap);
	source_error(l->source, at, "%s", words_);
	if (l->source->errors >= SOURCE_MAX_ERRORS)
		l->stop = true;
}

void lex_no_memory(struct lexer *l)
{
	if (!l->stop && !l->headers)
		source_error(l->source, (struct span){0, 0}, "the script is too large");
	l->stop = true;
}

bool lex_push(struct lexer *l, struct span text, bool expansion, struct span by)
{
	/* The last place is kept for an expansion, which has no other one on top of it. */
	if (l->nr_in >= LEX_MAX_INPUTS - (expansion ? 0 : 1)) {
		lex_error(l, by, "files are included too deeply");
		return false;
	}
	/* Some editors begin a file with a mark of its byte order. */
	if (!expansion && text.to - text.from >= 3 &&
	    memcmp(l->source->text.data + text.from, "\xef\xbb\xbf", 3) == 0)
		text.from += 3;
	l->in[l->nr_in++] = (struct lex_input){
		.pos = text.from,
		.end = text.to,
		.line_start = !expansion,
		.expansion = expansion,
		.conds = l->pp.nr_conds,
	};
	return true;
}

uint32_t lex_pass(const char *text, uint32_t at, uint32_t end)
{
	const char *p;

	if (text[at] == '"' || text[at] == '\'') {
		uint32_t i = at + 1;

		/* An apostrophe in words is no quote: a character is short. */
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

static void pass_comment(struct lexer *l, struct lex_input *in)
{
	const char *const text = l->source->text.data;
	const uint32_t to = lex_pass(text, in->pos, in->end);

	if (text[in->pos + 1] == '*' && (to - in->pos < 4 || memcmp(text + to - 2, "*/", 2) != 0)) {
		const uint32_t from = in->pos;

		in->pos = to;
		lex_error(l, (struct span){from, from + 2}, "this comment has no end");
		return;
	}
	in->pos = to;
}

/* The input on top has been read. False when it was the script itself. */
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
		} else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
			in->pos++;
		} else if (c == '\\' && in->end - in->pos > 1 && text[in->pos + 1] == '\n') {
			in->pos += 2;
		} else if (c == '/' && in->end - in->pos > 1 &&
			   (text[in->pos + 1] == '/' || text[in->pos + 1] == '*')) {
			pass_comment(l, in);
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

/* The name at the input's position, which may be "". */
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

static void read_operator(struct lexer *l, struct lex_input *in, struct token *t)
{
	const char *const text = l->source->text.data + in->pos;
	const size_t left = in->end - in->pos;

	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++) {
		if (operators[i].len <= left &&
		    !memcmp(text, operators[i].text, operators[i].len)) {
			t->kind = operators[i].kind;
			t->op = operators[i].op;
			in->pos += operators[i].len;
			t->at.to = in->pos;
			return;
		}
	}
	t->at.to = ++in->pos;
	if (*text && strchr(single, *text)) {
		t->kind = *text;
		return;
	}
	t->kind = T_BAD;
	if (*text == '#') {
		lex_error(l, t->at, "a directive has to begin its line");
	} else if (*text == '\'') {
		t->at.to = in->pos = lex_pass(l->source->text.data, t->at.from, in->end);
		in->pos += in->pos == t->at.from;
		lex_error(l, t->at, "characters in single quotes are not part of the language");
		source_hint(l->source, "use the number of the character: 65 is 'A'");
	} else if (*text > ' ' && *text < 0x7f) {
		lex_error(l, t->at, "unexpected character '%c'", *text);
	} else {
		/* One message for all bytes of a character of UTF-8. */
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
