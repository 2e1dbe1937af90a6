// SPDX-License-Identifier: GPL-2.0-or-later
/* Builtins about entries of maps. */
#include <errno.h>

#include "lang/lower.h"

/*
 * delete(@x[k]), or delete(@x, k) as it is written now; the same of has_key(). The first argument
 * becomes the entry.
 */
static int take_entry(struct checker *c, struct node *n)
{
	struct node *m = n->list, *key = m->next;

	if (m->kind != N_MAP)
		return check_fail(c, m, "%s() needs a map here", n->name);
	if (key && !m->has_keys) {
		/* A tuple stands for several keys. */
		m->list = key->kind == N_TUPLE ? key->list : key;
		m->has_keys = true;
		m->next = NULL;
	} else if (key) {
		return check_fail(c, key, "%s() has the key already", n->name);
	}
	return check_map(c, m);
}

static int check_delete(struct checker *c, struct node *n)
{
	struct node *m = n->list;
	int rc = take_entry(c, n);

	if (rc < 0)
		return rc;
	/* A map of one value is emptied. */
	if (!m->has_keys) {
		n->action = check_action(c, n, ACT_CLEAR, NULL);
		if (!n->action)
			return -ENOMEM;
		n->action->map = m->map;
	}
	n->vtype = (struct vtype){.kind = V_BOOL, .size = 1};
	return 0;
}

static void lower_delete(struct lower *l, struct node *n, struct value *v)
{
	const struct map_def *m = n->list->map;
	const ir_label none = ir_new_label(l->f);
	const ir_reg r = ir_new(l->f);
	ir_reg key, rc;

	ir_set_const(l->f, r, 0);
	if (m->flagged && m->kind == MAP_ARRAY) {
		ir_set(l->f, r, ir_load(l->f, ir_map_value(l->f, m->number, 0), 0, 8, false));
		mem_zero(l, (struct mem){ir_map_value(l->f, m->number, 0), 0}, m->value_size);
	} else if (m->flagged) {
		lower_action(l, n->action, NULL);
	} else {
		key = lower_key(l, n->list);
		rc = IR_CALL(l->f, BPF_FUNC_map_delete_elem, ir_map(l->f, m->number), key);
		lower_result(l, BPF_FUNC_map_delete_elem, rc);
		ir_branch_const(l->f, IR_NE, rc, 0, none);
		ir_set_const(l->f, r, 1);
	}
	ir_place(l->f, none);
	set_number(v, r);
}

static int check_has_key(struct checker *c, struct node *n)
{
	int rc = take_entry(c, n);

	if (rc == 0 && !n->list->has_keys)
		return check_fail(c, n->list, "has_key() needs a map with keys");
	n->vtype = (struct vtype){.kind = V_BOOL, .size = 1};
	return rc;
}

static void lower_has_key(struct lower *l, struct node *n, struct value *v)
{
	const ir_label none = ir_new_label(l->f);
	const ir_reg r = ir_new(l->f);
	const ir_reg key = lower_key(l, n->list);

	ir_set_const(l->f, r, 0);
	ir_branch_const(
		l->f, IR_EQ,
		IR_CALL(l->f, BPF_FUNC_map_lookup_elem, ir_map(l->f, n->list->map->number), key), 0,
		none);
	ir_set_const(l->f, r, 1);
	ir_place(l->f, none);
	set_number(v, r);
}

const struct builtin builtins_map[] = {
	{"delete", 1, 2, BUILTIN_MAPS | BUILTIN_EFFECT, check_delete, lower_delete, 0},
	{"has_key", 1, 2, BUILTIN_MAPS, check_has_key, lower_has_key, 0},
	BUILTIN_END,
};
