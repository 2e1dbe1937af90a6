// SPDX-License-Identifier: GPL-2.0-or-later
/* Builtins about the probe: its arguments, name and context. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lang/lower/lower.h"
#include "probe/usdt.h"
#include "symbols/abi.h"

/*
 * The verifier tracks pointers to kernel objects: programs cannot calculate with them, nor read
 * them before they are compared with 0. Negated twice, a pointer is a number to the verifier.
 * Helpers that need such objects get the pointer itself.
 */
static ir_reg plain_argument(struct lower *l, ir_reg r)
{
	const enum probe_type t = program_probe(l->prog);

	if (t != PT_FENTRY && t != PT_FEXIT && t != PT_ITER && !program_target(l->prog)->typed)
		return r;
	if (l->prog->uses_objects) {
		if (t == PT_ITER && !l->in.is_callback)
			ir_branch_const(l->f, IR_EQ, r, 0, l->in.end);
		return r;
	}
	return ir_unary(l->f, IR_NEG, ir_unary(l->f, IR_NEG, r, 8), 8);
}

/* Word i of a context that is a list of words. */
static ir_reg context_word(struct lower *l, int64_t i)
{
	return plain_argument(l, ir_load(l->f, lower_ctx(l), i * 8, 8, false));
}

/* Cuts a small number that was passed or returned in a register: its upper bits are undefined. */
static ir_reg cut_to_type(struct lower *l, const struct vtype *t, ir_reg r)
{
	if ((t->kind != V_INT && t->kind != V_BOOL) || t->size >= 8)
		return r;
	return ir_unary(l->f, t->is_signed ? IR_SEXT : IR_ZEXT, r, t->size);
}

/* ---- args ---- */

/* All parameters of a function as a record; a value that does not fit a register is its address. */
static bool all_parameters(struct checker *c, struct vtype *t)
{
	const struct proto *p = &c->at->proto;
	struct vtype *types = arena_array(c->arena, p->n + 1, sizeof(*types));
	const char **names = arena_array(c->arena, p->n + 1, sizeof(*names));

	if (!types || !names)
		return check_no_memory(c);
	for (size_t i = 0; i < p->n; i++) {
		types[i] = vtype_of_c(&p->at[i].type, check_space(c));
		if (!vtype_is_number(&types[i]))
			types[i] = vtype_int(8, false);
		names[i] = p->at[i].name;
	}
	return vtype_tuple(t, types, names, (uint32_t)p->n, c->arena) || check_no_memory(c);
}

static bool check_args(struct checker *c, struct node *n)
{
	if (c->at->has_fields) {
		n->vtype = (struct vtype){.kind = V_STRUCT,
					  .size = (uint32_t)c->at->fields.size,
					  .space = SPACE_CTX,
					  .c = c->at->fields};
		return true;
	}
	if (c->at->has_proto)
		return all_parameters(c, &n->vtype);
	return check_fail(
		c, n,
		"the args builtin can only be used with probes whose arguments are known, which "
		"those of %s are not",
		program_target(c->at) ? program_target(c->at)->name : "this probe");
}

/* ---- registers ---- */

static ir_reg load_register(struct lower *l, int offset)
{
	return ir_load(l->f, lower_ctx(l), offset, 8, false);
}

/* Word i of the stack, after the return address. */
static ir_reg stack_word(struct lower *l, unsigned int i)
{
	const struct regs *r = regs_of(NULL);

	return mem_fetch(l, 8, false, check_space(l->c),
			 ir_binary_const(l->f, IR_ADD, load_register(l, r->sp),
					 r->stack_args + (int64_t)i * 8));
}

/* Argument i of a function, by the ABI: in a register, or on the stack. */
static ir_reg function_argument(struct lower *l, unsigned int i)
{
	const struct regs *r = regs_of(NULL);
	unsigned int in_registers = 0;

	if (i < REGS_MAX_ARGS && r->args[i] >= 0)
		return load_register(l, r->args[i]);
	while (in_registers < REGS_MAX_ARGS && r->args[in_registers] >= 0)
		in_registers++;
	return stack_word(l, i - in_registers);
}

/*
 * The number of words of a parameter: structs by value, and numbers that are wider than a register,
 * have several.
 */
static size_t words_of(const struct type *t)
{
	const bool wide = t->kind == TYPE_STRUCT || t->kind == TYPE_INTEGER;

	return wide && t->size > 8 ? (size_t)(t->size + 7) / 8 : 1;
}

/* The number of parameter i's first word; for p->n, the number of all words. */
static size_t first_word(const struct proto *p, size_t i)
{
	size_t n = 0;

	for (size_t k = 0; k < i && k < p->n; k++)
		n += words_of(&p->at[k].type);
	return n;
}

/* Whether all parameters up to i are passed as plain words, one after the other. */
static bool are_plain(const struct proto *p, size_t i)
{
	if (p->ret.kind == TYPE_STRUCT)
		return false;
	for (size_t k = 0; k <= i && k < p->n; k++)
		if (p->at[k].type.kind == TYPE_STRUCT || p->at[k].type.kind == TYPE_FLOAT ||
		    words_of(&p->at[k].type) > 1)
			return false;
	return true;
}

/* Parameter i at the entry of a function; `second`: its second word. */
static ir_reg placed_argument(struct lower *l, size_t i, bool second)
{
	struct proto *p = &l->prog->proto;
	const struct regs *r = regs_of(NULL);
	struct place at;

	abi_place(abi_of_kernel(r->machine), p);
	at = p->at[i].place;
	if (at.kind == PLACE_REGISTER)
		return load_register(l, regs_named(r, second && at.reg2 ? at.reg2 : at.reg));
	if (at.kind != PLACE_MEMORY)
		return function_argument(l, (unsigned int)first_word(p, i) + second);
	return mem_fetch(l, 8, false, check_space(l->c),
			 ir_binary_const(l->f, IR_ADD, load_register(l, regs_named(r, at.reg)),
					 at.offset + (second ? 8 : 0)));
}

/*
 * Whether the verifier lets a program read this pointer from the context: it must know its target.
 * Others are read as memory of the kernel, which the context is.
 */
static bool is_readable(const struct type *t)
{
	struct type to;

	return t->kind != TYPE_POINTER || !type_target(t, &to) || to.kind == TYPE_VOID ||
	       to.kind == TYPE_INTEGER || to.kind == TYPE_STRUCT;
}

static ir_reg context_parameter(struct lower *l, size_t i, bool second)
{
	const struct proto *p = &l->prog->proto;
	const int64_t word = (int64_t)first_word(p, i) + second;

	if (program_probe(l->prog) == PT_RAWTRACEPOINT || is_readable(&p->at[i].type))
		return context_word(l, word);
	return mem_fetch(l, 8, false, SPACE_KERNEL,
			 ir_binary_const(l->f, IR_ADD, lower_ctx(l), word * 8));
}

/* The first or second word of parameter i. */
static ir_reg parameter(struct lower *l, size_t i, bool second)
{
	const enum probe_type t = program_probe(l->prog);

	if (t == PT_RAWTRACEPOINT || t == PT_FENTRY || t == PT_FEXIT || t == PT_ITER)
		return context_parameter(l, i, second);
	return !second && are_plain(&l->prog->proto, i) ? function_argument(l, (unsigned int)i)
							: placed_argument(l, i, second);
}

static ir_reg usdt_argument(struct lower *l, const struct usdt_place *p)
{
	ir_reg at;

	if (p->where == USDT_CONSTANT)
		return ir_const(l->f, p->offset);
	if (p->where == USDT_REGISTER) {
		at = load_register(l, p->base);
		return p->size < 8 ? ir_unary(l->f, p->is_signed ? IR_SEXT : IR_ZEXT, at, p->size)
				   : at;
	}
	at = p->base >= 0 ? load_register(l, p->base) : ir_const(l->f, 0);
	if (p->where == USDT_INDEXED)
		at = ir_binary(l->f, IR_ADD, at,
			       ir_binary_const(l->f, IR_MUL, load_register(l, p->index), p->scale));
	return mem_fetch(l, p->size, p->is_signed, SPACE_USER,
			 ir_binary_const(l->f, IR_ADD, at, p->offset));
}

/* Checks argument i of a USDT probe; reports if there is none. */
static bool check_usdt(struct checker *c, struct node *n)
{
	const struct probe_target *t = program_target(c->at);
	const size_t i = (size_t)n->builtin->what;
	struct spur_error err = {0};

	if (!c->at->usdt) {
		struct usdt_places *places = arena_alloc(c->arena, sizeof(*places));

		if (!places)
			return check_no_memory(c);
		if (usdt_places(t, c->arena, places, &err) < 0)
			return check_fail(c, n, "%s", err.text);
		c->at->usdt = places;
	}
	if (i >= c->at->usdt->n)
		return check_fail(c, n, "%s has %zu argument%s, there is no %s", t->name,
				  c->at->usdt->n, c->at->usdt->n == 1 ? "" : "s", n->name);
	if (c->at->usdt->at[i].where == USDT_NOWHERE)
		return check_fail(c, n, "%s of %s: %s", n->name, t->name, c->at->usdt->at[i].why);
	return true;
}

static bool check_arg(struct checker *c, struct node *n)
{
	bool fine = true;

	n->vtype = vtype_int(8, true);
	switch (program_probe(c->at)) {
	case PT_KPROBE:
	case PT_UPROBE:
	case PT_RAWTRACEPOINT:
	case PT_FENTRY:
	case PT_FEXIT: break;
	case PT_USDT: fine = check_usdt(c, n); break;
	default:
		return check_fail(
			c, n,
			"the %s builtin can only be used with 'kprobes', 'uprobes', 'usdt' and "
			"'rawtracepoint' probes",
			n->name);
	}
	if (c->opt->offline)
		return check_fail(c, n, "%s cannot be had from a recording: use args", n->name);
	return fine;
}

static void lower_arg(struct lower *l, struct node *n, struct value *v)
{
	const unsigned int i = (unsigned int)n->builtin->what;

	switch (program_probe(l->prog)) {
	case PT_RAWTRACEPOINT:
	case PT_FENTRY:
	case PT_FEXIT: set_number(v, context_word(l, i)); break;
	case PT_USDT: set_number(v, usdt_argument(l, &l->prog->usdt->at[i])); break;
	default: set_number(v, function_argument(l, i));
	}
}

/* sarg0 …: words on the stack, after the return address. */
static void lower_sarg(struct lower *l, struct node *n, struct value *v)
{
	set_number(v, stack_word(l, (unsigned int)n->builtin->what));
}

static bool check_retval(struct checker *c, struct node *n)
{
	const enum probe_type t = program_probe(c->at);

	n->vtype = vtype_int(8, true);
	if (t != PT_KRETPROBE && t != PT_URETPROBE && t != PT_FEXIT)
		return check_fail(
			c, n,
			"the retval builtin can only be used with 'kretprobe' and 'uretprobe' and "
			"'fexit' probes");
	if (t == PT_FEXIT && c->at->has_proto)
		n->vtype = vtype_of_c(&c->at->proto.ret, SPACE_KERNEL);
	if (n->vtype.kind != V_INT && n->vtype.kind != V_POINTER && n->vtype.kind != V_BOOL)
		n->vtype = vtype_int(8, true);
	return true;
}

/*
 * For an fexit probe the result follows the parameters in the context. A BPF program may have other
 * parameters in the kernel than its BTF says, so a helper is used.
 */
static ir_reg returned_word(struct lower *l)
{
	const struct proto *p = &l->prog->proto;
	struct mem m;

	if (program_target(l->prog)->bpf_prog) {
		m = mem_alloc(l, 8);
		mem_store_const(l, m, 8, 0);
		IR_CALL(l->f, BPF_FUNC_get_func_ret, lower_ctx(l), mem_address(l, m));
		return mem_load(l, m, 8, false);
	}
	return context_word(l, (int64_t)first_word(p, p->n));
}

static void lower_retval(struct lower *l, struct node *n, struct value *v)
{
	if (program_probe(l->prog) == PT_FEXIT)
		set_number(v, cut_to_type(l, &n->vtype, returned_word(l)));
	else
		set_number(v, load_register(l, regs_of(NULL)->retval));
}

ir_reg lower_syscall_number(struct lower *l, bool is_exit)
{
	const ir_reg ctx = lower_ctx(l);

	if (!is_exit)
		return ir_load(l->f, ctx, 8, 8, false);
	/* At the exit the number is still in the saved registers of the process. */
	return mem_fetch(l, 4, false, SPACE_KERNEL,
			 ir_binary_const(l->f, IR_ADD, ir_load(l->f, ctx, 0, 8, false),
					 regs_of(NULL)->syscall));
}

/* Calls of 32-bit processes have other numbers, and no tracepoints of their own. */
void lower_skip_narrow_call(struct lower *l)
{
	const struct regs *regs = regs_of(NULL);
	const struct mem m = mem_alloc(l, 8);
	const ir_label wide = ir_new_label(l->f);
	ir_reg mode;

	if (!regs->mode)
		return;
	mem_read(l, m, 4, SPACE_KERNEL,
		 ir_binary_const(l->f, IR_ADD, ir_load(l->f, lower_ctx(l), 0, 8, false),
				 regs->mode));
	mode = ir_binary_const(l->f, IR_AND, mem_load(l, m, 4, false), regs->mode_bit);
	ir_branch_const(l->f, regs->mode_set ? IR_EQ : IR_NE, mode, 0, wide);
	ir_jump(l->f, l->in.end);
	ir_place(l->f, wide);
}

/* A struct of more than two words: on the stack, or a register points to it. */
static void read_large(struct lower *l, size_t i, struct mem to, uint32_t size)
{
	const struct regs *r = regs_of(NULL);
	struct place at;
	ir_reg address;

	mem_zero(l, to, size);
	abi_place(abi_of_kernel(r->machine), &l->prog->proto);
	at = l->prog->proto.at[i].place;
	if (at.kind != PLACE_MEMORY && !(at.kind == PLACE_REGISTER && at.reference))
		return;
	address = load_register(l, regs_named(r, at.reg));
	mem_read(l, to, size, check_space(l->c),
		 ir_binary_const(l->f, IR_ADD, address, at.kind == PLACE_MEMORY ? at.offset : 0));
}

/* A copy of a struct that is passed by value. */
static struct mem struct_argument(struct lower *l, size_t i, uint32_t size)
{
	const struct mem m = mem_alloc(l, size > 16 ? size : 16);

	if (size > 16) {
		read_large(l, i, m, size);
		return m;
	}
	mem_store(l, m, 8, parameter(l, i, false));
	if (size > 8)
		mem_store(l, mem_at(m, 8), 8, parameter(l, i, true));
	return m;
}

/* args.NAME of a function: the parameter of that name. */
bool lower_argument(struct lower *l, struct node *n, struct value *v)
{
	if (!l->prog->has_proto)
		return false;
	v->type = n->vtype;
	if (n->num >= 0 && n->vtype.kind == V_STRUCT)
		set_memory(v, struct_argument(l, (size_t)n->num, n->vtype.size));
	else if (n->num >= 0)
		set_number(v, cut_to_type(l, &v->type, parameter(l, (size_t)n->num, false)));
	else
		set_number(v, cut_to_type(l, &v->type, returned_word(l)));
	return true;
}

static void lower_args(struct lower *l, struct node *n, struct value *v)
{
	struct mem m;

	if (!l->prog->has_proto) {
		set_memory(v, (struct mem){lower_ctx(l), 0});
		return;
	}
	m = mem_result(l, v, n->vtype.size);
	mem_zero(l, m, n->vtype.size);
	for (uint32_t i = 0; i < n->vtype.nr_elems; i++) {
		const struct velem *e = &n->vtype.elems[i];
		struct node one = {.num = i, .vtype = *e->type};
		struct value part = {0};

		lower_argument(l, &one, &part);
		value_store(l, &part, e->type, mem_at(m, e->offset));
	}
	set_memory(v, m);
}

static bool check_reg(struct checker *c, struct node *n)
{
	const enum probe_type t = program_probe(c->at);

	if (!check_const_text(c, n, n->list))
		return false;
	if (t != PT_KPROBE && t != PT_KRETPROBE && t != PT_UPROBE && t != PT_URETPROBE &&
	    t != PT_USDT && t != PT_PROFILE && t != PT_SOFTWARE && t != PT_HARDWARE &&
	    t != PT_WATCHPOINT)
		return check_fail(c, n, "reg() can not be used with '%s' probes",
				  probe_type_name(t));
	if (regs_named(regs_of(NULL), n->list->text) < 0)
		return check_fail(c, n->list, "'%s' is not a register of this machine",
				  n->list->text);
	n->vtype = vtype_int(8, false);
	return true;
}

static void lower_reg(struct lower *l, struct node *n, struct value *v)
{
	set_number(v, load_register(l, regs_named(regs_of(NULL), n->list->text)));
}

/* ---- names ---- */

int64_t check_string_number(struct checker *c, const char *text)
{
	const char *copy;

	for (size_t i = 0; i < c->unit->strings.n; i++)
		if (strcmp(c->unit->strings.at[i], text) == 0)
			return (int64_t)i;
	copy = arena_strdup(&c->unit->arena, text);
	return copy && string_refs_add(&c->unit->strings, copy) ? (int64_t)c->unit->strings.n - 1
								: -1;
}

/* Whether the probe is only known at run time. */
static bool is_shared(const struct program *p)
{
	return p->syscalls.at || p->targets.n > 1;
}

static bool check_named(struct checker *c, struct node *n)
{
	const struct probe_target *t = program_target(c->at);
	const char *text = "";

	if (t)
		text = n->builtin->what == 0   ? t->name
		       : n->builtin->what == 1 ? t->func
		       : t->type <= PT_SELF    ? "special"
					       : probe_type_name(t->type);
	n->vtype = (struct vtype){.kind = V_PROBE, .size = 8};
	n->num = check_string_number(c, text ? text : "");
	n->is_const = n->builtin->what == 2 || !is_shared(c->at) ||
		      (c->at->syscalls.at && n->builtin->what != 0);
	return n->num >= 0 || check_no_memory(c);
}

static bool is_in_kernel(enum probe_type t)
{
	return t == PT_KPROBE || t == PT_KRETPROBE || t == PT_FENTRY || t == PT_FEXIT;
}

void check_func_symbol(struct checker *c, struct node *n)
{
	if (!n->builtin || n->builtin->what != 1 || strcmp(n->builtin->name, "func") != 0 ||
	    c->opt->offline || !is_in_kernel(program_probe(c->at)))
		return;
	n->vtype = vtype_fixed(V_KSYM);
	n->is_const = false;
}

/* The address of the function; for a probe inside of a function, the address of the probe. */
static ir_reg function_address(struct lower *l)
{
	const struct probe_target *t = program_target(l->prog);

	if (t->type == PT_KPROBE && t->offset)
		return load_register(l, regs_of(NULL)->ip);
	return IR_CALL(l->f, BPF_FUNC_get_func_ip, lower_ctx(l));
}

/* A program with several probes finds out which one it runs for. */
static void lower_named(struct lower *l, struct node *n, struct value *v)
{
	ir_reg cookie;

	if (n->vtype.kind == V_KSYM) {
		set_number(v, function_address(l));
		return;
	}
	if (l->prog->syscalls.at) {
		set_number(v, l->syscall);
		return;
	}
	cookie = IR_CALL(l->f, BPF_FUNC_get_attach_cookie, lower_ctx(l));
	set_number(v, n->builtin->what == 0 ? ir_binary_const(l->f, IR_SHR, cookie, 32)
					    : ir_unary(l->f, IR_ZEXT, cookie, 4));
}

static bool check_func(struct checker *c, struct node *n)
{
	const enum probe_type t = program_probe(c->at);

	if (t != PT_KPROBE && t != PT_KRETPROBE && t != PT_UPROBE && t != PT_URETPROBE &&
	    t != PT_FENTRY && t != PT_FEXIT)
		return check_fail(c, n, "the func builtin can not be used with '%s' probes",
				  probe_type_name(t));
	return check_named(c, n);
}

static bool check_ctx(struct checker *c, struct node *n)
{
	n->vtype = (struct vtype){.kind = V_POINTER, .size = 8, .space = SPACE_KERNEL};
	n->vtype.c.kind = TYPE_VOID;
	if (program_probe(c->at) == PT_ITER) {
		char name[128];

		snprintf(name, sizeof(name), "struct bpf_iter__%s", program_target(c->at)->event);
		c->env->ops->type(c->env, name, &n->vtype.c);
	}
	return true;
}

static void lower_ctx_value(struct lower *l, struct node *n, struct value *v)
{
	set_number(v, lower_ctx(l));
}

#define VAR (BUILTIN_VARIABLE | BUILTIN_OF_PROBE)
#define ARG(i)                                                                                     \
	{"arg" #i, 0, 0, VAR, check_arg, lower_arg, i},                                            \
	{                                                                                          \
		"sarg" #i, 0, 0, VAR, check_arg, lower_sarg, i                                     \
	}

const struct builtin builtins_probe[] = {
	{"args", 0, 0, VAR, check_args, lower_args, 0},
	ARG(0),
	ARG(1),
	ARG(2),
	ARG(3),
	ARG(4),
	ARG(5),
	ARG(6),
	ARG(7),
	ARG(8),
	ARG(9),
	/* USDT probes have up to 12, and some libraries define more. */
	ARG(10),
	ARG(11),
	ARG(12),
	ARG(13),
	ARG(14),
	ARG(15),
	{"retval", 0, 0, VAR, check_retval, lower_retval, 0},
	{"reg", 1, 1, BUILTIN_LIVE | BUILTIN_OF_PROBE, check_reg, lower_reg, 0},
	{"probe", 0, 0, BUILTIN_BOTH | BUILTIN_OF_PROBE, check_named, lower_named, 0},
	{"func", 0, 0, BUILTIN_BOTH | BUILTIN_OF_PROBE, check_func, lower_named, 1},
	{"probetype", 0, 0, VAR, check_named, NULL, 2},
	{"ctx", 0, 0, VAR | BUILTIN_LIVE, check_ctx, lower_ctx_value, 0},
	BUILTIN_END,
};
