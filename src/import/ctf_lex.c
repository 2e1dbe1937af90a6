// SPDX-License-Identifier: GPL-2.0-or-later
/* Words of the language in which CTF describes itself. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "import/ctf_parts.h"

void ctf_lexer_start(struct ctf_lexer *l, const char *text, size_t len)
{
	*l = (struct ctf_lexer){.at = text, .end = text + len, .line = 1};
	ctf_lexer_next(l);
}

static bool starts(const struct ctf_lexer *l, const char *text)
{
	const size_t len = strlen(text);

	return (size_t)(l->end - l->at) >= len && memcmp(l->at, text, len) == 0;
}

static void step(struct ctf_lexer *l)
{
	if (*l->at++ == '\n')
		l->line++;
}

static void skip_to(struct ctf_lexer *l, const char *mark)
{
	while (l->at < l->end && !starts(l, mark))
		step(l);
	l->at += starts(l, mark) ? strlen(mark) : 0;
}

static void skip_blanks(struct ctf_lexer *l)
{
	while (l->at < l->end) {
		if (isspace((unsigned char)*l->at)) {
			step(l);
		} else if (starts(l, "/*")) {
			l->at += 2;
			skip_to(l, "*/");
		} else if (starts(l, "//")) {
			while (l->at < l->end && *l->at != '\n')
				l->at++;
		} else {
			break;
		}
	}
}

static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static void take_number(struct ctf_lexer *l)
{
	char digits[32];
	const char *start = l->at;
	size_t n;

	while (l->at < l->end && is_letter(*l->at))
		l->at++;
	n = (size_t)(l->at - start);
	if (n >= sizeof(digits)) {
		l->bad = true;
		n = sizeof(digits) - 1;
	}
	memcpy(digits, start, n);
	digits[n] = '\0';
	l->word = CTF_NUMBER;
	l->number = (int64_t)strtoull(digits, NULL, 0);
}

static void take_text_word(struct ctf_lexer *l)
{
	l->word = CTF_TEXT;
	l->text = ++l->at;
	while (l->at < l->end && *l->at != '"') {
		if (*l->at == '\\' && l->at + 1 < l->end)
			step(l);
		step(l);
	}
	l->len = (size_t)(l->at - l->text);
	if (l->at < l->end)
		l->at++;
	else
		l->bad = true;
}

void ctf_lexer_next(struct ctf_lexer *l)
{
	static const char *const marks[] = {"...", ":=", "->", NULL};

	skip_blanks(l);
	l->mark[0] = '\0';
	l->len = 0;
	l->word = CTF_END;
	if (l->at >= l->end)
		return;
	if (isdigit((unsigned char)*l->at)) {
		take_number(l);
	} else if (is_letter(*l->at)) {
		l->word = CTF_NAME;
		l->text = l->at;
		while (l->at < l->end && is_letter(*l->at))
			l->at++;
		l->len = (size_t)(l->at - l->text);
	} else if (*l->at == '"') {
		take_text_word(l);
	} else {
		size_t len = 1;

		for (size_t i = 0; marks[i]; i++)
			if (starts(l, marks[i]))
				len = strlen(marks[i]);
		l->word = CTF_MARK;
		memcpy(l->mark, l->at, len);
		l->mark[len] = '\0';
		l->at += len;
	}
}

bool ctf_lexer_is(const struct ctf_lexer *l, const char *mark)
{
	return l->word == CTF_MARK && strcmp(l->mark, mark) == 0;
}

bool ctf_lexer_named(const struct ctf_lexer *l, const char *name)
{
	return l->word == CTF_NAME && l->len == strlen(name) && memcmp(l->text, name, l->len) == 0;
}

bool ctf_lexer_take(struct ctf_lexer *l, const char *mark)
{
	if (!ctf_lexer_is(l, mark))
		return false;
	ctf_lexer_next(l);
	return true;
}
