// SPDX-License-Identifier: GPL-2.0-or-later
/* Builtins that change what is traced, or end the tracing. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "event/pretty_tables.h"
#include "lang/lower.h"

#define LAST_SIGNAL 64

static enum probe_type type_of(const struct checker *c)
{
	return c->at->targets.n ? c->at->targets.at[0]->type : PT_BEGIN;
}

static int wrong_probe(struct checker *c, const struct node *n)
{
	return check_fail(c, n, "%s() can not be used with '%s' probes", n->name,
			  probe_type_name(type_of(c)));
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

static int check_signal(struct checker *c, struct node *n)
{
	struct node *s = n->list;
	int rc = 0;

	if (type_of(c) <= PT_INTERVAL || type_of(c) == PT_ITER)
		return wrong_probe(c, n);
	n->num = s->num;
	if (s->vtype.kind == V_STRING) {
		rc = check_const_text(c, n, s);
		n->num = rc == 0 ? signal_number(s->text) : 0;
		if (n->num < 0)
			return check_fail(c, s, "%s is not a valid signal", s->text);
	} else {
		rc = check_number(c, n, s);
	}
	if (rc == 0 && s->is_const && (n->num < 1 || n->num > LAST_SIGNAL))
		return check_fail(c, s, "%lld is not a valid signal, allowed range: [1,%d]",
				  (long long)n->num, LAST_SIGNAL);
	return rc < 0 ? rc : check_helper(c, n, n->builtin->what);
}

static void lower_signal(struct lower *l, struct node *n, struct value *v)
{
	const ir_reg nr = n->list->is_const ? ir_const(l->f, n->num) : lower_number(l, n->list);

	lower_result(l, n->builtin->what, IR_CALL(l->f, n->builtin->what, nr));
}

/* ---- override(rc) ---- */

static int check_override(struct checker *c, struct node *n)
{
	int rc = check_number(c, n, n->list);

	if (rc == 0 && type_of(c) != PT_KPROBE)
		return wrong_probe(c, n);
	return rc < 0 ? rc : check_helper(c, n, BPF_FUNC_override_return);
}

static void lower_override(struct lower *l, struct node *n, struct value *v)
{
	const ir_reg rc = lower_number(l, n->list);

	IR_CALL(l->f, BPF_FUNC_override_return, lower_ctx(l), rc);
}

/* ---- write_user(to, from, length) ---- */

static int check_write_user(struct checker *c, struct node *n)
{
	struct node *from = n->list->next, *len = from->next;
	int rc = check_number(c, n, n->list);

	if (rc == 0)
		rc = check_number(c, n, len);
	n->vtype = (struct vtype){.kind = V_BOOL, .size = 1};
	if (rc < 0 || from->vtype.kind == V_NONE)
		return rc;
	if (type_of(c) <= PT_INTERVAL)
		return wrong_probe(c, n);
	if (vtype_is_aggregation(&from->vtype))
		return check_fail(c, from, "write_user() cannot write this");
	if (len->is_const && (len->num < 1 || len->num > c->unit->config.max_strlen))
		return check_fail(c, len, "write_user() writes 1 to %u bytes",
				  c->unit->config.max_strlen);
	return check_helper(c, n, BPF_FUNC_probe_write_user);
}

/* The bytes that are written: those a pointer points at, or the value's own, and zeros behind. */
static struct mem written(struct lower *l, struct node *from, uint32_t most)
{
	struct mem m = mem_take(l, most);
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

static int check_assert(struct checker *c, struct node *n)
{
	struct node *text = n->list->next;
	struct action *a;
	int rc = check_number(c, n, n->list);

	if (rc < 0 || text->vtype.kind == V_NONE)
		return rc;
	if (text->vtype.kind != V_STRING)
		return check_fail(c, text, "assert() needs a string as message");
	a = check_action(c, n, ACT_ASSERT, text);
	if (!a)
		return -ENOMEM;
	a->format = "assert failed: %s";
	return 0;
}

static void lower_assert(struct lower *l, struct node *n, struct value *v)
{
	const ir_label failed = ir_new_label(l->f), end = ir_new_label(l->f);

	lower_unless(l, n->list, failed);
	ir_jump(l->f, end);
	ir_place(l->f, failed);
	lower_action(l, n->action, n->list->next);
	if (l->in.is_callback)
		ir_store_const(l->f, l->in.vars, l->return_at, 8, RETURN_PROGRAM);
	ir_jump(l->f, l->in.end);
	ir_place(l->f, end);
}

/* ---- unwatch(address) ---- */

static int check_unwatch(struct checker *c, struct node *n)
{
	int rc = check_number(c, n, n->list);

	if (rc < 0)
		return rc;
	return check_action(c, n, ACT_UNWATCH, n->list) ? 0 : -ENOMEM;
}

static void lower_unwatch(struct lower *l, struct node *n, struct value *v)
{
	lower_action(l, n->action, n->list);
}

#define UNSAFE	  (BUILTIN_UNSAFE | BUILTIN_LIVE)
#define STATEMENT BUILTIN_STATEMENT

const struct builtin builtins_effect[] = {
	{"signal", 1, 1, STATEMENT | UNSAFE, check_signal, lower_signal, BPF_FUNC_send_signal},
	{"signal_thread", 1, 1, STATEMENT | UNSAFE, check_signal, lower_signal,
	 BPF_FUNC_send_signal_thread},
	{"override", 1, 1, STATEMENT | UNSAFE, check_override, lower_override, 0},
	{"write_user", 3, 3, UNSAFE | BUILTIN_EFFECT, check_write_user, lower_write_user, 0},
	{"assert", 2, 2, STATEMENT, check_assert, lower_assert, 0},
	{"unwatch", 1, 1, STATEMENT | BUILTIN_LIVE, check_unwatch, lower_unwatch, 0},
	BUILTIN_END,
};
