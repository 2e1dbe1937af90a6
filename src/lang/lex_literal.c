// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers and strings. */
#include "lang/lex.h"

/* What may follow the digits. The suffixes of C change nothing: a number is as large as it is. */
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

static int digit_value(char c)
{
	if (lex_is_digit(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

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
	for (size_t i = 0; len <= MAX_SUFFIX && i < sizeof(suffixes) / sizeof(*suffixes); i++) {
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
	bool overflow, odd; /* odd: an underscore where none belongs, or no digit */
};

static void read_digits(struct digits *d, unsigned int base)
{
	bool any = false;

	for (; d->p < d->end; d->p++) {
		const unsigned int v = (unsigned int)digit_value(*d->p);

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
	/* A value that is not 0 has grown out of its 64 bits after 20 rounds. */
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

/* The character of the escape that p stands behind the backslash of; -1 when there is none. */
static int read_escape(const char **p, const char *end)
{
	const bool hex = **p == 'x' || **p == 'X';
	const unsigned int base = hex ? 16 : 8;
	int value = 0, digits = 0;

	for (size_t i = 0; i < sizeof(escapes) / sizeof(*escapes); i++) {
		if (escapes[i][0] == **p) {
			++*p;
			return escapes[i][1];
		}
	}
	for (const char *q = *p + hex; q < end && digits < (hex ? 2 : 3); q++, digits++) {
		if ((unsigned int)digit_value(*q) >= base)
			break;
		value = value * (int)base + digit_value(*q);
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
	out = arena_alloc(l->arena, (size_t)(close - p) + 1);
	if (!out) {
		lex_no_memory(l);
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
