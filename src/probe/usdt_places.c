// SPDX-License-Identifier: GPL-2.0-or-later
/* The arguments of USDT probes as a program finds them: registers, memory, elements of arrays. */
#include "probe/usdt_places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/error.h"
#include "symbols/elf.h"
#include "symbols/functions.h"

#define MAX_NAME 200

static struct usdt_place nowhere(const char *why)
{
	return (struct usdt_place){.where = USDT_NOWHERE, .why = why};
}

/* ---- elements of arrays ---- */

/* The register of a name that ends at one of the characters; -1 when there is none such. */
static int register_at(const char **s, const char *ends, const struct abi *abi,
		       const struct regs *regs)
{
	const char *name = *s + (**s == '%');
	size_t len = strcspn(name, ends);
	const char *kernel = abi_register(abi, name, len);

	*s = name + len;
	return kernel && *kernel ? regs_named(regs, kernel) : -1;
}

/* [OFFSET](BASE,INDEX[,SCALE]), BASE may be missing; the argument ends at `end`. */
static bool indexed(const char *s, const char *end, const struct abi *abi, const struct regs *regs,
		    struct usdt_place *p)
{
	const char *open = memchr(s, '(', (size_t)(end - s));
	char *stop = (char *)s;

	if (!open || end[-1] != ')' || !memchr(open, ',', (size_t)(end - open)))
		return false;
	errno = 0;
	p->offset = strtoll(s, &stop, 0);
	if (errno || (s != open && stop != open))
		return false;
	s = open + 1;
	p->base = *s == ',' ? -1 : register_at(&s, ",)", abi, regs);
	if (*s != ',' || (p->base < 0 && s != open + 1))
		return false;
	s++;
	p->index = register_at(&s, ",)", abi, regs);
	p->scale = 1;
	if (*s == ',') {
		p->scale = (unsigned int)strtoul(s + 1, &stop, 10);
		s = stop;
	}
	if (p->index < 0 || s + 1 != end || !p->scale || p->scale > 8)
		return false;
	p->where = USDT_INDEXED;
	return true;
}

/* [BASE, INDEX] or [BASE, INDEX, lsl #N] of arm64. */
static bool indexed_brackets(const char *s, const char *end, const struct abi *abi,
			     const struct regs *regs, struct usdt_place *p)
{
	if (*s != '[' || end[-1] != ']')
		return false;
	s++;
	p->base = register_at(&s, ",]", abi, regs);
	if (*s != ',')
		return false;
	s += 1 + strspn(s + 1, " ");
	p->index = register_at(&s, ", ]", abi, regs);
	p->scale = 1;
	if (*s == ',') {
		s += 1 + strspn(s + 1, " ");
		if (strncmp(s, "lsl ", 4))
			return false;
		s += 4;
		s += *s == '#';
		if (*s < '0' || *s > '3')
			return false;
		p->scale = 1u << (*s++ - '0');
	}
	if (p->base < 0 || p->index < 0 || s + 1 != end)
		return false;
	p->where = USDT_INDEXED;
	return true;
}

/* ---- one argument ---- */

/* The argument of that number in the text, after its size. */
static const char *operand(const char *args, size_t number, const char **end)
{
	for (;; number--) {
		int depth = 0;
		const char *s, *at;

		args += strspn(args, " ");
		for (s = args; *s && (depth > 0 || *s != ' '); s++)
			depth += (*s == '[' || *s == '(') - (*s == ']' || *s == ')');
		if (!number || !*s) {
			at = memchr(args, '@', (size_t)(s - args));
			*end = s;
			return at ? at + 1 : args;
		}
		args = s;
	}
}

static struct usdt_place in_register(const struct place *from, const struct regs *regs,
				     enum usdt_where where)
{
	const int base = regs_named(regs, from->reg);

	if (base < 0)
		return nowhere("is in a register that a program does not see");
	return (struct usdt_place){.where = where, .base = base, .offset = from->offset};
}

static struct usdt_place translate(const struct place *from, const struct regs *regs,
				   uint64_t address)
{
	switch (from->kind) {
	case PLACE_CONSTANT:
		return (struct usdt_place){.where = USDT_CONSTANT, .offset = from->offset};
	case PLACE_REGISTER: return in_register(from, regs, USDT_REGISTER);
	case PLACE_MEMORY: return in_register(from, regs, USDT_MEMORY);
	case PLACE_FILE:
		/* The instruction pointer is at the probe, as far from variables as linked. */
		return (struct usdt_place){.where = USDT_MEMORY,
					   .base = regs->ip,
					   .offset = (int64_t)((uint64_t)from->offset - address)};
	default: return nowhere(from->why ? from->why : "is nowhere");
	}
}

int usdt_places_of(const char *args, const struct abi *abi, const struct regs *regs,
		   const struct usdt_symbols *symbols, uint64_t address, struct arena *arena,
		   struct usdt_places *out)
{
	struct proto proto;
	int ret = usdt_args(args, abi, symbols, arena, &proto);

	*out = (struct usdt_places){0};
	if (ret)
		return ret;
	out->at = arena_array(arena, proto.n + 1, sizeof(*out->at));
	if (!out->at)
		return -ENOMEM;
	for (; out->n < proto.n; out->n++) {
		const struct param *param = &proto.at[out->n];
		struct usdt_place *p = &out->at[out->n], element = {0};
		const char *end, *text = operand(args, out->n, &end);
		const uint64_t size = param->type.size;

		*p = translate(&param->place, regs, address);
		if (p->where == USDT_NOWHERE && abi && text < end &&
		    (indexed(text, end, abi, regs, &element) ||
		     indexed_brackets(text, end, abi, regs, &element)))
			*p = element;
		if (size != 1 && size != 2 && size != 4 && size != 8)
			*p = nowhere("is of a size that no number has");
		p->size = (unsigned int)size;
		p->is_signed = param->type.is_signed;
	}
	return 0;
}

/* ---- a target's arguments ---- */

struct variables {
	const struct binary *b;
	const char *path;
};

static bool find_variable(void *arg, const char *name, size_t len, int64_t *address)
{
	const struct variables *v = arg;
	uint64_t addr;

	if (!usdt_variable(v->b, v->path, name, len, &addr))
		return false;
	*address = (int64_t)addr;
	return true;
}

int usdt_places(const struct probe_target *t, struct arena *arena, struct usdt_places *out,
		struct spur_error *err)
{
	const struct regs *regs = regs_of(NULL);
	struct variables v = {.path = t->path};
	struct usdt_symbols symbols = {.find = find_variable, .arg = &v};
	struct binary_info info;
	struct utsname u = {0};
	struct binary *b;
	int ret;

	*out = (struct usdt_places){0};
	if (!regs)
		return error_set(err, -EOPNOTSUPP,
				 "arguments of %s: the registers of this machine are not known",
				 t->name);
	ret = binary_open(t->path, &b, err);
	if (ret)
		return ret;
	uname(&u);
	info = binary_info(b);
	v.b = b;
	ret = usdt_places_of(t->arguments ? t->arguments : "",
			     abi_of_elf(info.machine, info.is_64, u.machine), regs, &symbols,
			     t->address, arena, out);
	binary_close(b);
	return ret ? error_set(err, ret, "out of memory for the arguments of %s", t->name) : 0;
}
