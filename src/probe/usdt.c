// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * USDT probes: reading the notes, the lines for probes that are wanted, and the places of their
 * arguments, for the kernel and for BPF programs. usdt.h has the layout.
 */
#include "probe/usdt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/error.h"
#include "base/pattern.h"
#include "base/vec.h"
#include "probe/loader.h"
#include "probe/resolve.h"
#include "symbols/elf.h"
#include "symbols/functions.h"
#include "symbols/names.h"

#define NOTE_TYPE 3
#define MAX_NAME  200

/* ---- notes ---- */

struct walk {
	const struct binary *b;
	unsigned int addr_size;
	uint64_t base;
	bool has_base;
	int (*fn)(void *arg, const struct usdt_probe *p);
	void *arg;
};

static int read_probe(struct walk *w, struct cursor c)
{
	struct usdt_probe p;
	uint64_t base;

	p.addr = cursor_uint(&c, w->addr_size);
	base = cursor_uint(&c, w->addr_size);
	p.semaphore = cursor_uint(&c, w->addr_size);
	p.provider = cursor_string(&c);
	p.name = cursor_string(&c);
	p.args = cursor_string(&c);
	if (cursor_failed(&c))
		return 0;
	if (w->has_base && base) {
		p.addr += w->base - base;
		if (p.semaphore)
			p.semaphore += w->base - base;
	}
	return w->fn(w->arg, &p);
}

static int read_notes(void *arg, struct cursor c)
{
	struct walk *w = arg;
	struct note n;
	int ret = 0;

	while (!ret && note_next(&c, &n))
		if (note_is(&n, "stapsdt", NOTE_TYPE))
			ret = read_probe(w, n.content);
	return ret;
}

int usdt_each(const struct binary *b, int (*fn)(void *arg, const struct usdt_probe *p), void *arg)
{
	struct walk w = {.b = b, .fn = fn, .arg = arg};

	w.addr_size = binary_info(b).is_64 ? 8 : 4;
	w.has_base = binary_section(b, ".stapsdt.base", &w.base);
	return binary_each_notes(b, read_notes, &w);
}

/* ---- probes ---- */

struct query {
	struct probe_request *r;
	const char *binary; /* as the user names it; NULL: the traced program */
	const char *provider, *name;
	struct pattern provider_is, name_is;
	struct nearest near;
	size_t probes; /* seen */
	size_t lines;
	/* The current program. */
	const char *path;
	const struct binary *b;
	uint64_t base; /* the address of the probe less its offset in the file */
};

/* The linked address of a variable that an argument names; false: there is none. */
static bool usdt_variable(const struct binary *b, const char *path, const char *name, size_t len,
			  uint64_t *address)
{
	struct spur_error ignored = {0};
	char text[MAX_NAME];
	uint64_t size;

	if (!len || len >= sizeof(text))
		return false;
	memcpy(text, name, len);
	text[len] = '\0';
	return variable_find(b, path, text, address, &size, &ignored) == 0;
}

static bool find_variable(void *arg, const char *name, size_t len, int64_t *offset)
{
	struct query *q = arg;
	uint64_t addr;

	if (!usdt_variable(q->b, q->path, name, len, &addr))
		return false;
	*offset = (int64_t)(addr - q->base);
	return true;
}

/* In DTrace's manner a dash in a name is written as two underlines in the program. */
static bool is_called(const struct pattern *p, const char *wanted, const char *name)
{
	char dashed[MAX_NAME];
	size_t n = 0;

	if (pattern_match(p, name, strlen(name)))
		return true;
	if (!strchr(wanted, '-') || strlen(name) >= sizeof(dashed))
		return false;
	for (const char *s = name; *s; s++) {
		bool dash = s[0] == '_' && s[1] == '_';

		dashed[n++] = dash ? '-' : *s;
		s += dash;
	}
	return pattern_match(p, dashed, n);
}

static int add_probe(struct query *q, const struct usdt_probe *p, uint64_t offset)
{
	struct binary_info info = binary_info(q->b);
	struct usdt_symbols symbols = {.find = find_variable, .arg = q};
	char place[4300], semaphore[32] = "", symbol[2 * MAX_NAME + 8], what[2 * MAX_NAME + 8];
	struct fetch_scope scope = {
		.what = what,
		.abi = abi_of_elf(info.machine, info.is_64, q->r->machine),
		.arena = &q->r->scratch,
	};
	struct proto proto;
	uint64_t counter;
	int ret;

	snprintf(what, sizeof(what), "%.*s:%.*s", MAX_NAME, p->provider, MAX_NAME, p->name);
	snprintf(symbol, sizeof(symbol), "%.*s_%.*s", MAX_NAME, p->provider, MAX_NAME, p->name);
	if (p->semaphore) {
		if (!binary_offset(q->b, p->semaphore, &counter))
			return error_set(q->r->err, -EBADMSG, "%s: the semaphore of %s is nowhere",
					 q->path, what);
		snprintf(semaphore, sizeof(semaphore), "(0x%" PRIx64 ")", counter);
	}
	q->base = p->addr - offset;
	ret = usdt_args(p->args, scope.abi, &symbols, &q->r->scratch, &proto);
	if (ret)
		return error_sys(q->r->err, ret, "%s", what);
	scope.proto = &proto;
	snprintf(place, sizeof(place), "%s:0x%" PRIx64 "%s", q->path, offset, semaphore);
	return request_line(q->r, symbol, place, &scope, NULL);
}

static int look_at(void *arg, const struct usdt_probe *p)
{
	char full[2 * MAX_NAME + 2];
	struct query *q = arg;
	uint64_t offset;

	q->probes++;
	snprintf(full, sizeof(full), "%.*s:%.*s", MAX_NAME, p->provider, MAX_NAME, p->name);
	nearest_try(&q->near, full, strlen(full));
	if (!is_called(&q->provider_is, q->provider, p->provider) ||
	    !is_called(&q->name_is, q->name, p->name))
		return 0;
	if (!binary_code_offset(q->b, p->addr, &offset))
		return 0;
	if (++q->lines > PROBE_MAX_PLACES)
		return error_set(q->r->err, -EINVAL, "more than %d places match", PROBE_MAX_PLACES);
	return add_probe(q, p, offset);
}

/* ---- programs ---- */

static int search_file(struct query *q, const char *path, struct spur_error *err)
{
	struct binary *b;
	int ret = binary_open(path, &b, err);

	if (ret)
		return ret;
	q->path = path;
	q->b = b;
	ret = usdt_each(b, look_at, q);
	binary_close(b);
	return ret;
}

static int search_loaded(struct query *q)
{
	struct probe_request *r = q->r;
	struct paths list = {0};
	int ret = path_loaded(r->opt, r->machine, &r->scratch, &list, r->err);

	vec_each (path, &list) {
		struct spur_error ignored = {0};

		if (ret)
			break;
		/* A file that cannot be read (as a script) has no probes. */
		ret = search_file(q, *path, &ignored);
		if (ignored.code && !r->err->code)
			ret = ignored.code == -ENOTSUP
				      ? error_set(r->err, -ENOTSUP, "%s", ignored.text)
				      : 0;
	}
	vec_free(&list);
	return ret;
}

/* [BINARY:]PROVIDER:PROBE */
static int parse_place(struct query *q)
{
	struct probe_request *r = q->r;
	char *text = arena_strdup(&r->scratch, r->expr.place), *colon, *other;

	if (!text)
		return error_sys(r->err, -ENOMEM, "probe");
	colon = strrchr(text, ':');
	if (!colon || !colon[1] || colon == text)
		return error_set(r->err, -EINVAL,
				 "it should be PROVIDER:PROBE or PROGRAM:PROVIDER:PROBE");
	*colon = '\0';
	q->name = colon + 1;
	q->provider = text;
	other = strrchr(text, ':');
	if (other) {
		*other = '\0';
		q->provider = other + 1;
		q->binary = text;
	}
	if (!q->provider[0] || (q->binary && !q->binary[0]))
		return error_set(r->err, -EINVAL,
				 "it should be PROVIDER:PROBE or PROGRAM:PROVIDER:PROBE");
	return 0;
}

static int search(struct query *q)
{
	struct probe_request *r = q->r;
	const char *path;
	int ret = pattern_glob(&q->provider_is, q->provider, strlen(q->provider), r->err);

	if (!ret)
		ret = pattern_glob(&q->name_is, q->name, strlen(q->name), r->err);
	if (!ret && !q->binary)
		return search_loaded(q);
	if (!ret)
		ret = path_find(q->binary, r->opt, r->machine, &r->scratch, &path, r->err);
	return ret ? ret : search_file(q, path, r->err);
}

int resolve_usdt(struct probe_request *r)
{
	struct query q = {.r = r};
	char wanted[2 * MAX_NAME + 2];
	int ret = parse_place(&q);

	if (ret)
		return ret;
	snprintf(wanted, sizeof(wanted), "%.*s:%.*s", MAX_NAME, q.provider, MAX_NAME, q.name);
	q.near = nearest_to(wanted, strlen(wanted));
	ret = search(&q);
	pattern_free(&q.provider_is);
	pattern_free(&q.name_is);
	if (ret || q.lines)
		return ret;
	if (!q.probes)
		return error_set(r->err, -ENOENT, "%s has no probes built in",
				 q.binary ? q.path : "what is traced");
	return error_set(r->err, -ENOENT, "there is no probe '%s'%s", wanted,
			 nearest_words(&q.near));
}

/*
 * Arguments of a USDT probe, as the assembler of each machine writes them:
 *
 *	[SIZE@]OPERAND      SIZE in bytes, negative: signed, with an f: floating point
 *	x86                 %rdi  -16(%rbp)  8(%rax,%rbx,4)  $5  counter(%rip)  counter+4(%rip)
 *	aarch64, arm        x0  [sp, 16]  [x1, #16]  [x1]  5  #5
 *	riscv               a0  -24(s0)  5
 */

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

/* ---- parts ---- */

/* A number that is the whole text. */
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

/* ---- operands ---- */

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

/* ---- arguments ---- */

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

/* The end of an argument: a blank outside of brackets. */
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

static struct usdt_place no_place(const char *why)
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

/* ---- places of one argument ---- */

/* The argument of that number in the text, after its size. */
static const char *argument_text(const char *args, size_t number, const char **end)
{
	const char *at;

	for (args += strspn(args, " "); number && *arg_end(args); number--) {
		args = arg_end(args);
		args += strspn(args, " ");
	}
	*end = arg_end(args);
	at = memchr(args, '@', (size_t)(*end - args));
	return at ? at + 1 : args;
}

static struct usdt_place register_in_context(const struct place *from, const struct regs *regs,
					     enum usdt_where where)
{
	const int base = regs_named(regs, from->reg);

	if (base < 0)
		return no_place("is in a register that a program does not see");
	return (struct usdt_place){.where = where, .base = base, .offset = from->offset};
}

static struct usdt_place translate(const struct place *from, const struct regs *regs,
				   uint64_t address)
{
	switch (from->kind) {
	case PLACE_CONSTANT:
		return (struct usdt_place){.where = USDT_CONSTANT, .offset = from->offset};
	case PLACE_REGISTER: return register_in_context(from, regs, USDT_REGISTER);
	case PLACE_MEMORY: return register_in_context(from, regs, USDT_MEMORY);
	case PLACE_FILE:
		/* The instruction pointer is at the probe, as far from variables as linked. */
		return (struct usdt_place){.where = USDT_MEMORY,
					   .base = regs->ip,
					   .offset = (int64_t)((uint64_t)from->offset - address)};
	default: return no_place(from->why ? from->why : "is nowhere");
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
		const char *end, *text = argument_text(args, out->n, &end);
		const uint64_t size = param->type.size;

		*p = translate(&param->place, regs, address);
		if (p->where == USDT_NOWHERE && abi && text < end &&
		    (indexed(text, end, abi, regs, &element) ||
		     indexed_brackets(text, end, abi, regs, &element)))
			*p = element;
		if (size != 1 && size != 2 && size != 4 && size != 8)
			*p = no_place("is of a size that no number has");
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

static bool linked_address(void *arg, const char *name, size_t len, int64_t *address)
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
	struct usdt_symbols symbols = {.find = linked_address, .arg = &v};
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
