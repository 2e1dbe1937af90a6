// SPDX-License-Identifier: GPL-2.0-or-later
/* The tables of builtins, and the rules that hold for all calls. */
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>

#include "base/suggest.h"
#include "lang/check.h"
#include "probe/attach.h"

static const struct builtin *const tables[] = {
	builtins_task,	builtins_probe,	 builtins_text,	  builtins_agg,	    builtins_out,
	builtins_const, builtins_map,	 builtins_sym,	  builtins_net,	    builtins_string,
	builtins_bytes, builtins_effect, builtins_kernel, builtins_user,    builtins_about,
	builtins_pid,	builtins_unwind, builtins_search, builtins_compare, builtins_comm,
	builtins_debug,
};

#define NR_TABLES (sizeof(tables) / sizeof(tables[0]))

const struct builtin *builtin_find(const char *name, bool variable)
{
	/* What bpftrace's own macros of these names stand for. */
	if (strncmp(name, "__builtin_", 10) == 0)
		name += 10;
	for (size_t i = 0; i < NR_TABLES; i++)
		for (const struct builtin *b = tables[i]; b->name; b++)
			if (!(b->flags & BUILTIN_VARIABLE) == !variable &&
			    strcmp(b->name, name) == 0)
				return b;
	return NULL;
}

const char *builtin_nearest(const char *name)
{
	struct suggest s = suggest_for(name, strlen(name));

	for (size_t i = 0; i < NR_TABLES; i++)
		for (const struct builtin *b = tables[i]; b->name; b++)
			suggest_try(&s, b->name);
	return suggest_best(&s);
}

int check_const_int(struct checker *c, const struct node *call, const struct node *arg, int64_t *v)
{
	if (!arg->is_const || !node_is_int(arg))
		return check_fail(c, arg, "%s() needs a constant number here", call->name);
	*v = arg->num;
	return 0;
}

int check_const_text(struct checker *c, const struct node *call, const struct node *arg)
{
	if (!arg->is_const || arg->vtype.kind != V_STRING)
		return check_fail(c, arg, "%s() needs a string literal here", call->name);
	return 0;
}

int check_number(struct checker *c, const struct node *call, const struct node *arg)
{
	if (arg->vtype.kind == V_NONE)
		return 0;
	if (!vtype_is_number(&arg->vtype) && !vtype_is_aggregation(&arg->vtype))
		return check_fail(c, arg, "%s() needs a number here", call->name);
	return 0;
}

static uint32_t program_type(const struct program *p)
{
	struct attach_needs needs = {0};

	/* What user space starts itself is run as a raw tracepoint's. */
	if (p->raw || !p->targets.n || !attach_needs(p->targets.at[0], false, &needs))
		return BPF_PROG_TYPE_RAW_TRACEPOINT;
	return needs.prog_type;
}

int check_helper(struct checker *c, const struct node *n, int helper)
{
	const struct compile_features *f = &c->opt->features;
	const uint32_t type = program_type(c->at);

	/* What fentry programs may call depends on the function: the kernel tells. */
	if (!f->has_helper || type == BPF_PROG_TYPE_TRACING || f->has_helper(f->arg, type, helper))
		return 0;
	return check_fail(c, n, "this kernel does not offer what %s needs to programs of %s probes",
			  n->name,
			  c->at->targets.n ? probe_type_name(c->at->targets.at[0]->type) : "such");
}

static int wrong_count(struct checker *c, const struct node *n, const struct builtin *b,
		       unsigned int given)
{
	if (b->min == b->max)
		return check_fail(c, n, "%s() requires %u argument%s (%u provided)", b->name,
				  b->min, b->min == 1 ? "" : "s", given);
	if (given < b->min)
		return check_fail(c, n, "%s() requires at least %u argument%s (%u provided)",
				  b->name, b->min, b->min == 1 ? "" : "s", given);
	return check_fail(c, n, "%s() takes up to %u arguments (%u provided)", b->name, b->max,
			  given);
}

static int no_function(struct checker *c, struct node *n)
{
	const char *nearest = builtin_nearest(n->name);

	check_fail(c, n, "unknown function: '%s'", n->name);
	if (nearest)
		source_hint(c->source, "did you mean '%s'?", nearest);
	return -EINVAL;
}

int check_permitted(struct checker *c, const struct node *n)
{
	const struct builtin *b = n->builtin;
	const char *call = n->kind == N_CALL ? "()" : "";

	if (b->flags & BUILTIN_UNSAFE && !c->opt->unsafe)
		return check_fail(
			c, n, "%s%s is an unsafe function being used in safe mode (use --unsafe)",
			n->name, call);
	if (b->flags & BUILTIN_LIVE && c->opt->offline)
		return check_fail(c, n, "%s%s cannot be had from a recording", n->name, call);
	c->at->reads_kernel |= !!(b->flags & BUILTIN_KERNEL);
	return 0;
}

int check_call(struct checker *c, struct node *n)
{
	const unsigned int given = node_count(n->list);
	const struct builtin *b = builtin_find(n->name, false);
	int permitted;

	/* retval() is retval. */
	if (!b && !given)
		b = builtin_find(n->name, true);
	n->builtin = b;
	if (!b)
		return no_function(c, n);
	if (given < b->min || given > b->max)
		return wrong_count(c, n, b, given);
	if (b->flags & BUILTIN_AGGREGATE && n != c->assigned)
		return check_fail(c, n, "%s() must be assigned to a map", n->name);
	permitted = check_permitted(c, n);
	if (permitted < 0)
		return permitted;
	for (struct node *a = n->list; a; a = a->next) {
		/* Maps that are meant as a whole, and words, have their own rules. */
		bool apart =
			(b->flags & BUILTIN_MAPS && a->kind == N_MAP && !a->has_keys) ||
			(b->flags & BUILTIN_WORDS && (a->kind == N_NAME || a->kind == N_TYPEOF));
		int rc = apart ? 0 : check_expr(c, a);

		if (rc < 0)
			return rc;
	}
	return b->check ? b->check(c, n) : 0;
}
