// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Builtins that do something: user space shows, clears, runs or exits; the kernel writes to its
 * trace buffer, sends signals, changes memory or results.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/vec.h"
#include "event/pretty_tables.h"
#include "lang/lower/lower.h"

/* ---- requests to user space ---- */

#define BIG 64 /* values of more bytes follow the smaller ones */

/* The type of an argument in the record. */
static struct vtype sent_type(const struct node *n)
{
	struct vtype t;

	if (vtype_is_aggregation(&n->vtype))
		return vtype_int(8, n->vtype.is_signed);
	t = vtype_stored(&n->vtype);
	/* printf() shows numbers of 64 bits. */
	if (t.kind == V_INT)
		t.size = 8;
	return t;
}

/* Small values first, so that the unused bytes of a long string at the end need not be sent. */
static bool lay_out(struct checker *c, struct action *a, struct node *args)
{
	struct velem *elems = arena_array(&c->unit->arena, a->nr_args + 1, sizeof(*elems));
	uint32_t offset = 0;

	if (!elems)
		return check_no_memory(c);
	for (int big = 0; big < 2; big++) {
		uint32_t i = 0;

		for (struct node *n = args; n && i < a->nr_args; n = n->next, i++) {
			struct vtype t = sent_type(n), *copy;
			const uint32_t align = vtype_align(&t) ? vtype_align(&t) : 1;

			if ((t.size > BIG) != big)
				continue;
			if (t.kind == V_STRUCT)
				t.space = SPACE_OWN;
			copy = arena_alloc(&c->unit->arena, sizeof(*copy));
			if (!copy)
				return check_no_memory(c);
			*copy = t;
			offset = (offset + align - 1) / align * align;
			elems[i] = (struct velem){NULL, copy, offset};
			offset += t.size;
		}
	}
	a->args = elems;
	a->size = (offset + 7) & ~7u;
	/* The last one ends at the end of the record. */
	for (uint32_t i = 0; i < a->nr_args; i++)
		if (elems[i].type->size > BIG && elems[i].offset + elems[i].type->size == offset)
			a->size = offset;
	return true;
}

struct action *check_action(struct checker *c, struct node *n, enum action_kind kind,
			    struct node *args)
{
	struct action *a = n->action ? n->action : unit_add_action(c->unit, kind);

	if (!a) {
		check_no_memory(c);
		return NULL;
	}
	n->action = a;
	a->kind = kind;
	a->at = n->at;
	a->nr_args = node_count(args);
	return lay_out(c, a, args) ? a : NULL;
}

static bool with_format(struct checker *c, struct node *n, enum action_kind kind,
			const char *format, size_t len, struct node *args)
{
	struct action *a = check_action(c, n, kind, args);

	if (!a)
		return false;
	a->format = arena_strndup(&c->unit->arena, format, len);
	return a->format || check_no_memory(c);
}

/* ---- printf() and the like ---- */

static bool shows_as_number(const struct vtype *t)
{
	return vtype_is_number(t) || vtype_is_aggregation(t);
}

static bool wrong_argument(struct checker *c, const struct node *n, const struct node *arg,
			   char spec)
{
	struct buf name;

	buf_init(&name, 256);
	vtype_name(&arg->vtype, &name);
	check_fail(c, arg, "%s: %%%c specifier expects a value of another type (%s supplied)",
		   n->name, spec, buf_str(&name));
	buf_free(&name);
	return false;
}

/* Parses a conversion after its '%': a pointer to its letter, NULL if it is wrong. */
static const char *conversion(const char *f)
{
	f += strspn(f, "-+ #0");
	f += strspn(f, "0123456789");
	if (*f == '.')
		f += 1 + strspn(f + 1, "0123456789");
	f += strspn(f, "hlLjztq");
	if (*f == 'g' && f[1] == 'r')
		return f + 1;
	return *f && strchr("diouxXcspr", *f) ? f : NULL;
}

/* %s shows any value, as print() does. */
static bool check_format(struct checker *c, struct node *n, const char *f, struct node *args)
{
	struct node *arg = args;
	unsigned int wanted = 0;

	for (; (f = strchr(f, '%')); f++) {
		const char *letter;

		if (*++f == '%')
			continue;
		letter = conversion(f);
		if (!letter)
			return check_fail(
				c, n,
				"%s: unknown or unsupported conversion in the format: '%%%.4s'",
				n->name, f);
		wanted++;
		if (arg && arg->vtype.kind != V_NONE) {
			if (strchr("diouxXcp", *letter) && !shows_as_number(&arg->vtype))
				return wrong_argument(c, n, arg, *letter);
			if (*letter == 'r' && arg->vtype.kind != V_BUFFER && letter[-1] != 'g')
				return wrong_argument(c, n, arg, 'r');
		}
		if (arg)
			arg = arg->next;
		f = letter;
		if (*letter == 'r' && (letter[1] == 'x' || letter[1] == 'h'))
			f++;
	}
	if (wanted > node_count(args))
		return check_fail(
			c, n,
			"%s: Not enough arguments for format string (%u supplied, %u expected)",
			n->name, node_count(args), wanted);
	if (wanted < node_count(args))
		return check_fail(
			c, n, "%s: Too many arguments for format string (%u supplied, %u expected)",
			n->name, node_count(args), wanted);
	return true;
}

static bool check_printf(struct checker *c, struct node *n)
{
	if (!check_const_text(c, n, n->list))
		return false;
	for (struct node *a = n->list->next; a; a = a->next)
		if (a->vtype.kind == V_NONE)
			return check_unknown(c, a);
	return check_format(c, n, n->list->text, n->list->next) &&
	       with_format(c, n, (enum action_kind)n->builtin->what, n->list->text, n->list->len,
			   n->list->next);
}

/* Requests whose arguments are those of the call, or that have none. */
static void lower_request(struct lower *l, struct node *n, struct value *v)
{
	lower_action(l, n->action, n->list);
}

static void lower_printf(struct lower *l, struct node *n, struct value *v)
{
	lower_action(l, n->action, n->list->next);
}

static bool check_time(struct checker *c, struct node *n)
{
	static const char usual[] = "%H:%M:%S\n";

	if (!n->list)
		return with_format(c, n, ACT_TIME, usual, sizeof(usual) - 1, NULL);
	return check_const_text(c, n, n->list) &&
	       with_format(c, n, ACT_TIME, n->list->text, n->list->len, NULL);
}

/* ---- maps ---- */

static bool check_map_request(struct checker *c, struct node *n)
{
	struct node *m = n->list;
	const bool print = n->builtin->what == ACT_PRINT_MAP;

	if (m->kind != N_MAP || m->has_keys)
		return check_fail(c, m, "%s() needs a map here", n->name);
	if (!check_whole_map(c, m) || !check_action(c, n, (enum action_kind)n->builtin->what, NULL))
		return false;
	n->action->map = m->map;
	if (!print || !m->next)
		return true;
	return check_const_int(c, n, m->next, &n->action->top) &&
	       (!m->next->next || check_const_int(c, n, m->next->next, &n->action->div));
}

/* print(@x[1]) also shows the key; of other values only the value is shown. */
static bool check_print(struct checker *c, struct node *n)
{
	struct node *v = n->list;

	if (v->kind == N_MAP && !v->has_keys)
		return check_map_request(c, n);
	if (v->next)
		return check_fail(c, v->next, "only maps can be printed with a number of entries");
	if (v->vtype.kind == V_NONE)
		return check_unknown(c, v);
	return check_action(c, n, ACT_PRINT, v) != NULL;
}

/* ---- exit() ---- */

/* exit(status) and unwatch(address) */
static bool check_number_request(struct checker *c, struct node *n)
{
	return (!n->list || check_number(c, n, n->list)) &&
	       check_action(c, n, (enum action_kind)n->builtin->what, n->list);
}

/* The rest of the body does not run. */
static void end_program(struct lower *l)
{
	if (l->in.is_callback)
		ir_store_const(l->f, l->in.vars, l->return_at, 8, RETURN_PROGRAM);
	ir_jump(l->f, l->in.end);
}

static void lower_exit(struct lower *l, struct node *n, struct value *v)
{
	lower_action(l, n->action, n->list);
	end_program(l);
}

/* ---- debugf() ---- */

/*
 * It writes a line to the kernel's own trace buffer, by bpf_trace_printk(). The kernel formats it.
 * The kernel does not report a conversion that it does not know, so the compiler refuses it.
 */

#define DEBUGF_ARGS 3 /* of the helper */

/* The same for the conversions that the kernel knows. */
static const char *kernel_conversion(const char *f)
{
	f += strspn(f, "-+ #0");
	f += strspn(f, "0123456789");
	f += strspn(f, "l");
	return *f && strchr("diuxXsp", *f) ? f : NULL;
}

static bool check_conversion(struct checker *c, struct node *n, char letter, const struct node *arg)
{
	if (!arg)
		return check_fail(c, n, "debugf: there are fewer arguments than conversions");
	if (arg->vtype.kind == V_NONE)
		return check_unknown(c, arg);
	if (letter == 's' ? arg->vtype.kind == V_STRING : vtype_is_number(&arg->vtype))
		return true;
	return check_fail(c, arg, "debugf: %%%c cannot show this", letter);
}

static bool check_debugf(struct checker *c, struct node *n)
{
	const struct node *arg = n->list->next;
	const char *f = n->list->text;

	c->unit->debugs = true;
	if (!check_const_text(c, n, n->list))
		return false;
	if (node_count(arg) > DEBUGF_ARGS)
		return check_fail(c, n, "debugf() takes up to %d values", DEBUGF_ARGS);
	while ((f = strchr(f, '%'))) {
		const char *letter = f[1] == '%' ? f + 1 : kernel_conversion(f + 1);

		if (!letter)
			return check_fail(c, n, "debugf: the kernel does not know '%.4s'", f);
		if (*letter != '%') {
			if (!check_conversion(c, n, *letter, arg))
				return false;
			arg = arg->next;
		}
		f = letter + 1;
	}
	return !arg || check_fail(c, arg, "debugf: there are more arguments than conversions");
}

/* A number, or the address of a string. */
static ir_reg argument(struct lower *l, struct node *n)
{
	struct value v = {0};

	if (vtype_is_number(&n->vtype))
		return lower_number(l, n);
	lower_expr(l, n, &v);
	value_own(l, &v);
	return mem_address(l, v.mem);
}

static void lower_debugf(struct lower *l, struct node *n, struct value *v)
{
	const uint32_t size = (uint32_t)n->list->len + 1;
	const struct mem format = mem_alloc_scratch(l, (size + 7) & ~7u);
	ir_reg args[2 + DEBUGF_ARGS];
	unsigned int nr = 2;

	mem_text(l, format, n->list->text, n->list->len, (size + 7) & ~7u);
	args[0] = mem_address(l, format);
	args[1] = ir_const(l->f, size);
	for (struct node *a = n->list->next; a; a = a->next)
		args[nr++] = argument(l, a);
	ir_call(l->f, BPF_FUNC_trace_printk, nr, args);
}

#define LAST_SIGNAL 64

static bool wrong_probe(struct checker *c, const struct node *n)
{
	return check_fail(c, n, "%s() can not be used with '%s' probes", n->name,
			  probe_type_name(program_probe(c->at)));
}

/* ---- signal("KILL"), signal(9), signal_thread() ---- */

static int64_t signal_number(const char *name)
{
	char *end;
	long nr = strtol(name, &end, 10);

	if (*name && !*end)
		return nr;
	if (strncasecmp(name, "SIG", 3) == 0)
		name += 3;
	for (unsigned int i = 1; i < 32; i++) {
		const char *known = pretty_signal(i);

		if (known && strcasecmp(known + (strncmp(known, "SIG", 3) == 0 ? 3 : 0), name) == 0)
			return i;
	}
	return -1;
}

static bool check_signal(struct checker *c, struct node *n)
{
	struct node *s = n->list;

	if (program_probe(c->at) <= PT_INTERVAL || program_probe(c->at) == PT_ITER)
		return wrong_probe(c, n);
	n->num = s->num;
	if (s->vtype.kind == V_STRING) {
		if (!check_const_text(c, n, s))
			return false;
		n->num = signal_number(s->text);
		if (n->num < 0)
			return check_fail(c, s, "%s is not a valid signal", s->text);
	} else if (!check_number(c, n, s)) {
		return false;
	}
	if (s->is_const && (n->num < 1 || n->num > LAST_SIGNAL))
		return check_fail(c, s, "%lld is not a valid signal, allowed range: [1,%d]",
				  (long long)n->num, LAST_SIGNAL);
	return check_helper(c, n, n->builtin->what);
}

static void lower_signal(struct lower *l, struct node *n, struct value *v)
{
	const ir_reg nr = n->list->is_const ? ir_const(l->f, n->num) : lower_number(l, n->list);

	lower_result(l, n->builtin->what, IR_CALL(l->f, n->builtin->what, nr));
}

/* ---- override(rc) ---- */

static bool check_override(struct checker *c, struct node *n)
{
	return check_number(c, n, n->list) &&
	       (program_probe(c->at) == PT_KPROBE || wrong_probe(c, n)) &&
	       check_helper(c, n, BPF_FUNC_override_return);
}

static void lower_override(struct lower *l, struct node *n, struct value *v)
{
	const ir_reg rc = lower_number(l, n->list);

	IR_CALL(l->f, BPF_FUNC_override_return, lower_ctx(l), rc);
}

/* ---- write_user(to, from, length) ---- */

static bool check_write_user(struct checker *c, struct node *n)
{
	struct node *from = n->list->next, *len = from->next;

	n->vtype = vtype_fixed(V_BOOL);
	if (!check_number(c, n, n->list) || !check_number(c, n, len))
		return false;
	if (from->vtype.kind == V_NONE)
		return true;
	if (program_probe(c->at) <= PT_INTERVAL)
		return wrong_probe(c, n);
	if (vtype_is_aggregation(&from->vtype))
		return check_fail(c, from, "write_user() cannot write this");
	if (len->is_const && (len->num < 1 || len->num > c->unit->config.max_strlen))
		return check_fail(c, len, "write_user() writes 1 to %u bytes",
				  c->unit->config.max_strlen);
	return check_helper(c, n, BPF_FUNC_probe_write_user);
}

/* The bytes to write: the target of a pointer, or the value itself, padded with zeros. */
static struct mem written(struct lower *l, struct node *from, uint32_t most)
{
	struct mem m = mem_alloc(l, most);
	struct value a = {0};
	struct vtype room = {.kind = V_BUFFER, .size = most};

	lower_expr(l, from, &a);
	if (from->vtype.kind == V_POINTER) {
		mem_read(l, m, most, from->vtype.space, a.reg);
	} else if (a.reg) {
		mem_zero(l, m, most);
		mem_store(l, m, most < a.type.size ? largest_word(most) : a.type.size, a.reg);
	} else {
		value_store(l, &a, &room, m);
	}
	return m;
}

static void lower_write_user(struct lower *l, struct node *n, struct value *v)
{
	struct node *len = node_nth(n, 2);
	const uint32_t most = len->is_const ? (uint32_t)len->num : l->unit->config.max_strlen;
	const struct mem m = written(l, n->list->next, most);
	const ir_reg to = lower_number(l, n->list), length = ir_new(l->f), r = ir_new(l->f);
	const ir_label none = ir_new_label(l->f);
	ir_reg rc;

	ir_set_const(l->f, r, 0);
	if (len->is_const) {
		ir_set_const(l->f, length, most);
	} else {
		ir_set(l->f, length, lower_number(l, len));
		ir_branch_const(l->f, IR_UGT, length, most, none);
		ir_branch_const(l->f, IR_EQ, length, 0, none);
	}
	rc = IR_CALL(l->f, BPF_FUNC_probe_write_user, to, mem_address(l, m), length);
	ir_branch_const(l->f, IR_NE, rc, 0, none);
	ir_set_const(l->f, r, 1);
	ir_place(l->f, none);
	set_number(v, r);
}

/* ---- assert(condition, message) ---- */

static bool check_assert(struct checker *c, struct node *n)
{
	struct node *text = n->list->next;
	struct action *a;

	if (!check_number(c, n, n->list))
		return false;
	if (text->vtype.kind == V_NONE)
		return true;
	if (text->vtype.kind != V_STRING)
		return check_fail(c, text, "assert() needs a string as message");
	a = check_action(c, n, ACT_ASSERT, text);
	if (!a)
		return false;
	a->format = "assert failed: %s";
	return true;
}

static void lower_assert(struct lower *l, struct node *n, struct value *v)
{
	const ir_label failed = ir_new_label(l->f), end = ir_new_label(l->f);

	lower_unless(l, n->list, failed);
	ir_jump(l->f, end);
	ir_place(l->f, failed);
	lower_action(l, n->action, n->list->next);
	end_program(l);
	ir_place(l->f, end);
}

/* ---- the table ---- */

#define STATEMENT   BUILTIN_STATEMENT
#define UNSAFE	    BUILTIN_UNSAFE
#define MANY	    64 /* arguments of a format */
#define LIVE_UNSAFE (BUILTIN_UNSAFE | BUILTIN_LIVE)

const struct builtin builtins_output[] = {
	{"printf", 1, MANY, STATEMENT, check_printf, lower_printf, ACT_PRINTF},
	{"errorf", 1, MANY, STATEMENT, check_printf, lower_printf, ACT_ERRORF},
	{"warnf", 1, MANY, STATEMENT, check_printf, lower_printf, ACT_WARNF},
	{"cat", 1, MANY, STATEMENT, check_printf, lower_printf, ACT_CAT},
	{"system", 1, MANY, STATEMENT | UNSAFE, check_printf, lower_printf, ACT_SYSTEM},
	{"time", 0, 1, STATEMENT, check_time, lower_request, 0},
	{"print", 1, 3, STATEMENT | BUILTIN_MAPS, check_print, lower_request, ACT_PRINT_MAP},
	{"clear", 1, 1, STATEMENT | BUILTIN_MAPS, check_map_request, lower_request, ACT_CLEAR},
	{"zero", 1, 1, STATEMENT | BUILTIN_MAPS, check_map_request, lower_request, ACT_ZERO},
	{"exit", 0, 1, STATEMENT, check_number_request, lower_exit, ACT_EXIT},
	{"signal", 1, 1, STATEMENT | LIVE_UNSAFE, check_signal, lower_signal, BPF_FUNC_send_signal},
	{"signal_thread", 1, 1, STATEMENT | LIVE_UNSAFE, check_signal, lower_signal,
	 BPF_FUNC_send_signal_thread},
	{"override", 1, 1, STATEMENT | LIVE_UNSAFE, check_override, lower_override, 0},
	{"write_user", 3, 3, LIVE_UNSAFE | BUILTIN_EFFECT, check_write_user, lower_write_user, 0},
	{"assert", 2, 2, STATEMENT, check_assert, lower_assert, 0},
	{"unwatch", 1, 1, STATEMENT | BUILTIN_LIVE, check_number_request, lower_request,
	 ACT_UNWATCH},
	{"debugf", 1, 1 + DEBUGF_ARGS, BUILTIN_STATEMENT | BUILTIN_LIVE | BUILTIN_KERNEL,
	 check_debugf, lower_debugf, 0},
	BUILTIN_END,
};
