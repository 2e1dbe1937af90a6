// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Arguments of a USDT probe, as the assembler of each machine writes them:
 *
 *	[SIZE@]OPERAND      SIZE in bytes, negative: signed, with an f: floating point
 *	x86                 %rdi  -16(%rbp)  8(%rax,%rbx,4)  $5  counter(%rip)  counter+4(%rip)
 *	aarch64, arm        x0  [sp, 16]  [x1, #16]  [x1]  5  #5
 *	riscv               a0  -24(s0)  5
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probe/usdt.h"

#define MAX_OPERAND 256

struct operand {
	char text[MAX_OPERAND];
	const struct abi *abi;
	const struct usdt_symbols *symbols;
};

static struct place nowhere(const char *why)
{
	return (struct place){.kind = PLACE_NOWHERE, .why = why};
}

/* ---- parts ----------------------------------------------------------------------------- */

/* A number to the very end of what is given. */
static bool number(const char *s, const char *end, int64_t *value)
{
	char *stop;

	if (s == end || *s == ' ')
		return false;
	errno = 0;
	*value = strtoll(s, &stop, 0);
	if (errno == ERANGE) {
		errno = 0;
		*value = (int64_t)strtoull(s, &stop, 0);
	}
	return !errno && stop == end;
}

static const char *skip_sign(const char *s)
{
	return s + (*s == '%' || *s == '#' || *s == '$');
}

static struct place in_register(const struct operand *o, const char *name, size_t len)
{
	const char *reg = abi_register(o->abi, name, len);

	if (!reg)
		return nowhere("is in a register that the kernel does not know");
	if (!reg[0])
		return (struct place){.kind = PLACE_CONSTANT};
	return (struct place){.kind = PLACE_REGISTER, .reg = reg};
}

static struct place at_register(const struct operand *o, const char *name, size_t len,
				int64_t offset)
{
	struct place p = in_register(o, name, len);

	if (p.kind != PLACE_REGISTER)
		return p.kind == PLACE_CONSTANT ? nowhere("is at a fixed address") : p;
	if (offset > INT32_MAX || offset < INT32_MIN)
		return nowhere("is too far from its register");
	p.kind = PLACE_MEMORY;
	p.offset = offset;
	return p;
}

/* "counter", "counter+4", "4+counter": a variable of the program. */
static struct place at_symbol(const struct operand *o, const char *s, const char *end)
{
	struct place p = {.kind = PLACE_FILE};
	const char *sign = s;
	int64_t more = 0, leading = 0;

	if (*s >= '0' && *s <= '9') {
		const char *plus = memchr(s, '+', (size_t)(end - s));

		if (!plus || !number(s, plus, &leading))
			return nowhere("is at a place the kernel cannot find");
		s = sign = plus + 1;
	}
	while (sign < end && *sign != '+' && *sign != '-')
		sign++;
	if ((sign < end && !number(sign, end, &more)) || !o->symbols ||
	    !o->symbols->find(o->symbols->arg, s, (size_t)(sign - s), &p.offset))
		return nowhere("is at a place the kernel cannot find");
	if (__builtin_add_overflow(p.offset, more, &p.offset) ||
	    __builtin_add_overflow(p.offset, leading, &p.offset))
		return nowhere("is too far away");
	return p;
}

/* ---- operands -------------------------------------------------------------------------- */

/* OFFSET(BASE) or OFFSET(BASE,INDEX,SCALE). */
static struct place parenthesis(const struct operand *o, const char *open, const char *end)
{
	const char *close = memchr(open, ')', (size_t)(end - open));
	const char *comma = memchr(open, ',', (size_t)(end - open));
	const char *base = skip_sign(open + 1);
	int64_t offset = 0;
	bool plain;

	if (!close || close + 1 != end)
		return nowhere("is written in an unknown way");
	if (comma)
		return nowhere("is an array's element with a variable index");
	plain = open == o->text || number(o->text, open, &offset);
	if (!strncmp(base, "rip)", 4) || !strncmp(base, "eip)", 4))
		return plain ? nowhere("is at a place the kernel cannot find")
			     : at_symbol(o, o->text, open);
	if (!plain)
		return nowhere("is an element of an array");
	return at_register(o, base, (size_t)(close - base), offset);
}

/* [BASE], [BASE, OFFSET] or [BASE, #OFFSET]. */
static struct place brackets(const struct operand *o, const char *end)
{
	const char *base = o->text + 1, *close = end - 1, *comma, *name_end;
	int64_t offset = 0;

	if (close == o->text || *close != ']')
		return nowhere("is written in an unknown way");
	comma = memchr(base, ',', (size_t)(close - base));
	name_end = comma ? comma : close;
	if (comma) {
		const char *s = comma + 1;

		s += strspn(s, " ");
		if (!number(skip_sign(s), close, &offset))
			return nowhere("is an array's element with a variable index");
	}
	return at_register(o, base, (size_t)(name_end - base), offset);
}

static struct place place_of(const struct operand *o)
{
	const char *s = o->text, *end = s + strlen(s);
	const char *open = strchr(s, '(');
	struct place p = {.kind = PLACE_CONSTANT};

	if (s == end)
		return nowhere("is not written");
	if (!o->abi)
		return nowhere("is of a machine that is not known");
	if (*s == '[')
		return brackets(o, end);
	if (open && *s != '%')
		return parenthesis(o, open, end);
	if (strchr(s, ':'))
		return nowhere("is in another segment");
	if (number(skip_sign(s), end, &p.offset) && *s != '%')
		return p;
	if (*s == '$' || *s == '#')
		return nowhere("is the address of something without a name");
	p = in_register(o, skip_sign(s), (size_t)(end - skip_sign(s)));
	if (p.kind == PLACE_NOWHERE && *s != '%' && o->symbols) {
		struct place variable = at_symbol(o, s, end);

		return variable.kind == PLACE_FILE ? variable : p;
	}
	return p;
}

/* ---- arguments ------------------------------------------------------------------------- */

/* The size in front of the '@'; what follows it, or the argument itself without one. */
static const char *read_size(const char *s, const char *end, const struct abi *abi, struct type *t)
{
	const char *at = memchr(s, '@', (size_t)(end - s));
	unsigned int word = abi ? abi->word : 8;
	char *stop = NULL;
	long size;

	*t = (struct type){.kind = TYPE_INTEGER, .size = word, .hex = true};
	if (!at)
		return s;
	size = strtol(s, &stop, 10);
	if (stop == s || stop > at || size < -16 || size > 16)
		return s;
	if (*stop == 'f')
		t->kind = TYPE_FLOAT;
	t->size = (uint64_t)labs(size);
	t->is_signed = size < 0;
	/* An unsigned word may well be an address. */
	t->hex = size > 0 && t->size == word;
	return at + 1;
}

/* Where an argument ends: at a blank, but not at one in brackets. */
static const char *arg_end(const char *s)
{
	int depth = 0;

	for (; *s && (depth > 0 || *s != ' '); s++)
		depth += (*s == '[' || *s == '(') - (*s == ']' || *s == ')');
	return s;
}

static struct place constant_of(struct place p, const struct type *t)
{
	const unsigned int unused = t->size && t->size < 8 ? 64 - 8 * (unsigned int)t->size : 0;
	const uint64_t high = (uint64_t)p.offset << unused;

	/* The kernel reads a number as wide as a register. */
	if (p.kind == PLACE_CONSTANT)
		p.offset = t->is_signed ? (int64_t)high >> unused : (int64_t)(high >> unused);
	return p;
}

static int one_arg(const char *s, const char *end, struct operand *o, struct arena *arena,
		   struct proto *p)
{
	struct param *param = &p->at[p->n];
	const char *text = read_size(s, end, o->abi, &param->type);
	size_t len = (size_t)(end - text);
	char name[16] = "arg";
	size_t at = 3;

	if (++p->n >= 100)
		name[at++] = (char)('0' + p->n / 100);
	if (p->n >= 10)
		name[at++] = (char)('0' + p->n / 10 % 10);
	name[at++] = (char)('0' + p->n % 10);
	param->name = arena_strndup(arena, name, at);
	if (!param->name)
		return -ENOMEM;
	if (len >= MAX_OPERAND) {
		param->place = nowhere("is written in an unknown way");
		return 0;
	}
	memcpy(o->text, text, len);
	o->text[len] = '\0';
	param->place = param->type.kind == TYPE_FLOAT ? nowhere("is a floating point number")
						      : constant_of(place_of(o), &param->type);
	return 0;
}

int usdt_args(const char *args, const struct abi *abi, const struct usdt_symbols *symbols,
	      struct arena *arena, struct proto *p)
{
	struct operand o = {.abi = abi, .symbols = symbols};
	int ret = 0;

	*p = (struct proto){.at = arena_array(arena, PROTO_MAX_PARAMS, sizeof(*p->at))};
	if (!p->at)
		return -ENOMEM;
	while (*(args += strspn(args, " ")) && p->n < PROTO_MAX_PARAMS && !ret) {
		const char *end = arg_end(args);

		ret = one_arg(args, end, &o, arena, p);
		args = end;
	}
	return ret;
}
