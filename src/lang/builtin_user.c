// SPDX-License-Identifier: GPL-2.0-or-later
/* Builtins about the program that is probed: uaddr("symbol"). */
#include <errno.h>
#include <string.h>

#include "base/vec.h"
#include "lang/lower.h"
#include "probe/regs.h"
#include "symbols/functions.h"

static const struct probe_target *target(const struct checker *c)
{
	return c->at->targets.n ? c->at->targets.at[0] : NULL;
}

/* ---- where the program was loaded ---- */

/* What has to be added to offsets in the file to get the addresses it was linked for. */
struct shift {
	const struct binary *b;
	uint64_t by;
	bool found;
};

static int take_shift(void *arg, const struct binary_symbol *symbol)
{
	struct shift *s = arg;
	uint64_t offset;

	if (!symbol->function || !symbol->addr || !binary_code_offset(s->b, symbol->addr, &offset))
		return 0;
	s->by = symbol->addr - offset;
	s->found = true;
	return 1;
}

/* A variable, or else a function. */
static int find_symbol(const struct binary *b, const struct probe_target *t, const char *name,
		       struct checker *c, uint64_t *addr, uint64_t *size, struct spur_error *err)
{
	struct functions found = {0};
	struct spur_error other = {0};
	int rc = variable_find(b, t->path, name, addr, size, err);

	if (rc != -ENOENT)
		return rc;
	if (functions_find(b, t->path, name, 16, c->arena, &found, &other) == 0 && found.n) {
		*addr = found.at[0].addr;
		*size = 0;
		rc = 0;
	}
	vec_free(&found);
	return rc;
}

/*
 * n->num becomes the distance from the place that is probed to the symbol: wherever the program was
 * loaded, that stays the same.
 */
static int find_distance(struct checker *c, struct node *n, uint64_t *size)
{
	const struct probe_target *t = target(c);
	struct spur_error err = {0};
	struct binary *b = NULL;
	struct shift s = {0};
	uint64_t addr = 0;
	int rc = binary_open_debug(t->path, c->env->debuginfo, &b, &err);

	if (rc == 0)
		rc = find_symbol(b, t, n->list->text, c, &addr, size, &err);
	s.b = b;
	if (rc == 0)
		binary_each_symbol(b, take_shift, &s);
	n->num = (int64_t)(addr - (t->offset + s.by));
	binary_close(b);
	if (rc < 0)
		return check_fail(c, n->list, "%s", err.text);
	return s.found ? 0 : check_fail(c, n, "uaddr(): %s has no symbols of functions", t->path);
}

static int check_uaddr(struct checker *c, struct node *n)
{
	const struct probe_target *t = target(c);
	uint64_t size = 0;
	int rc = check_const_text(c, n, n->list);

	if (rc < 0)
		return rc;
	if (!t || (t->type != PT_UPROBE && t->type != PT_USDT))
		return check_fail(c, n, "uaddr() can only be used with 'uprobe' and 'usdt' probes");
	if (n->vtype.kind == V_POINTER)
		return 0;
	rc = find_distance(c, n, &size);
	if (rc < 0)
		return rc;
	n->vtype = (struct vtype){.kind = V_POINTER, .size = 8, .space = SPACE_USER};
	n->vtype.c = (struct type){.kind = TYPE_INTEGER, .size = 8};
	if (size == 1 || size == 2 || size == 4)
		n->vtype.c.size = size;
	return 0;
}

static void lower_uaddr(struct lower *l, struct node *n, struct value *v)
{
	const ir_reg ip = ir_load(l->f, lower_ctx(l), regs_of(NULL)->ip, 8, false);

	set_number(v, ir_binary(l->f, IR_ADD, ip, ir_const(l->f, n->num)));
}

const struct builtin builtins_user[] = {
	{"uaddr", 1, 1, BUILTIN_LIVE, check_uaddr, lower_uaddr, 0},
	BUILTIN_END,
};
