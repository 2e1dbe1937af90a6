// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * debugf(format, …): a line in the kernel's own trace buffer, by bpf_trace_printk(). The kernel
 * formats it, so what it does not know is refused here: an unknown conversion would only be an
 * error that is not shown anywhere.
 */
#include <string.h>

#include "lang/lower.h"

#define MAX_ARGS 3 /* that the helper takes */

/* One conversion after its '%': the letter that says what is shown, NULL at a wrong one. */
static const char *conversion(const char *f)
{
	f += strspn(f, "-+ #0");
	f += strspn(f, "0123456789");
	f += strspn(f, "l");
	return *f && strchr("diuxXsp", *f) ? f : NULL;
}

static int check_conversion(struct checker *c, struct node *n, char letter, const struct node *arg)
{
	if (!arg)
		return check_fail(c, n, "debugf: there are fewer arguments than conversions");
	if (arg->vtype.kind == V_NONE)
		return c->last ? check_fail(c, arg, "this has no value") : 0;
	if (letter == 's' ? arg->vtype.kind == V_STRING : vtype_is_number(&arg->vtype))
		return 0;
	return check_fail(c, arg, "debugf: %%%c cannot show this", letter);
}

static int check_debugf(struct checker *c, struct node *n)
{
	const struct node *arg = n->list->next;
	int rc = check_const_text(c, n, n->list);
	const char *f = n->list->text;

	if (rc == 0 && node_count(arg) > MAX_ARGS)
		return check_fail(c, n, "debugf() takes up to %d values", MAX_ARGS);
	while (rc == 0 && (f = strchr(f, '%'))) {
		const char *letter = f[1] == '%' ? f + 1 : conversion(f + 1);

		if (!letter)
			return check_fail(c, n, "debugf: the kernel does not know '%.4s'", f);
		if (*letter != '%') {
			rc = check_conversion(c, n, *letter, arg);
			arg = arg ? arg->next : NULL;
		}
		f = letter + 1;
	}
	if (rc == 0 && arg)
		rc = check_fail(c, arg, "debugf: there are more arguments than conversions");
	c->unit->debugs = true;
	return rc;
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
	const struct mem format = mem_take_scratch(l, (size + 7) & ~7u);
	ir_reg args[2 + MAX_ARGS];
	unsigned int nr = 2;

	mem_text(l, format, n->list->text, n->list->len, (size + 7) & ~7u);
	args[0] = mem_address(l, format);
	args[1] = ir_const(l->f, size);
	for (struct node *a = n->list->next; a; a = a->next)
		args[nr++] = argument(l, a);
	ir_call(l->f, BPF_FUNC_trace_printk, nr, args);
}

const struct builtin builtins_debug[] = {
	{"debugf", 1, 1 + MAX_ARGS, BUILTIN_STATEMENT | BUILTIN_LIVE | BUILTIN_KERNEL, check_debugf,
	 lower_debugf, 0},
	BUILTIN_END,
};
