// SPDX-License-Identifier: GPL-2.0-or-later
/* Aggregations: what a map is assigned, and is updated by. */
#include <string.h>

#include "lang/lower.h"

#define MAX_LHIST 1000 /* buckets, as bpftrace allows */

static int check_value(struct checker *c, struct node *n, enum vkind kind, uint32_t size)
{
	struct node *v = n->list;

	n->vtype = (struct vtype){.kind = kind, .size = size, .is_signed = true};
	if (!v)
		return 0;
	n->vtype.is_signed = v->vtype.kind != V_INT || v->vtype.is_signed;
	return check_number(c, n, v);
}

static int check_simple(struct checker *c, struct node *n)
{
	const enum vkind kind = (enum vkind)n->builtin->what;

	return check_value(c, n, kind, kind == V_COUNT || kind == V_SUM ? 8 : 16);
}

static int check_hist(struct checker *c, struct node *n)
{
	struct node *bits = node_nth(n, 1);
	int rc = check_value(c, n, V_HIST, 0);

	if (rc == 0 && bits)
		rc = check_const_int(c, n, bits, &n->vtype.param[0]);
	if (rc < 0)
		return rc;
	if (n->vtype.param[0] < 0 || n->vtype.param[0] > 5)
		return check_fail(c, bits, "hist() takes 0 to 5 bits");
	n->vtype.size = 8 * agg_hist_buckets((unsigned int)n->vtype.param[0]);
	return 0;
}

static int check_lhist(struct checker *c, struct node *n)
{
	int64_t *p;
	int rc = check_value(c, n, V_LHIST, 0);

	p = n->vtype.param;
	for (unsigned int i = 0; i < 3 && rc == 0; i++)
		rc = check_const_int(c, n, node_nth(n, i + 1), &p[i]);
	if (rc < 0)
		return rc;
	if (p[2] <= 0)
		return check_fail(c, node_nth(n, 3), "lhist() step must be >= 1 (%lld provided)",
				  (long long)p[2]);
	if (p[0] < 0)
		return check_fail(c, node_nth(n, 1),
				  "lhist() min must be non-negative (provided min %lld)",
				  (long long)p[0]);
	if (p[0] >= p[1])
		return check_fail(
			c, n, "lhist() min must be less than max (provided min %lld and max %lld)",
			(long long)p[0], (long long)p[1]);
	if ((p[1] - p[0]) / p[2] > MAX_LHIST)
		return check_fail(c, n, "lhist() too many buckets, must be <= %d (would need %lld)",
				  MAX_LHIST, (long long)((p[1] - p[0]) / p[2]));
	if (p[2] > p[1] - p[0])
		return check_fail(c, n, "lhist() step is larger than the range");
	n->vtype.size = 8 * agg_lhist_buckets(&n->vtype);
	return 0;
}

static int check_tseries(struct checker *c, struct node *n)
{
	static const char *const kinds[] = {"", "avg", "max", "min", "sum"};
	struct node *how = node_nth(n, 3);
	int rc = check_value(c, n, V_TSERIES, 0);

	if (c->unit->config.tseries == UNSTABLE_ERROR)
		return check_fail(c, n, "tseries() is refused by the setting unstable_tseries");
	if (c->unit->config.tseries == UNSTABLE_WARN && c->last)
		source_warning(c->source, n->at, "tseries() may change in later versions");
	if (rc == 0)
		rc = check_const_int(c, n, node_nth(n, 1), &n->vtype.param[0]);
	if (rc == 0)
		rc = check_const_int(c, n, node_nth(n, 2), &n->vtype.param[1]);
	if (rc == 0 && how)
		rc = check_const_text(c, n, how);
	if (rc < 0)
		return rc;
	if (n->vtype.param[0] <= 0)
		return check_fail(c, n, "tseries() interval must be greater than 0");
	if (n->vtype.param[1] < 1 || n->vtype.param[1] > MAX_LHIST)
		return check_fail(c, n, "tseries() takes 1 to %d buckets", MAX_LHIST);
	for (int i = 1; how && i < 5; i++)
		if (strcmp(how->text, kinds[i]) == 0)
			n->vtype.mode = i;
	if (how && !n->vtype.mode)
		return check_fail(c, how, "tseries() aggregates by avg, max, min or sum");
	n->vtype.size = 24 * (uint32_t)n->vtype.param[1];
	return 0;
}

/* ---- updating ---- */

static void add(struct lower *l, ir_reg p, int64_t at, ir_reg v)
{
	ir_store(l->f, p, at, 8, ir_binary(l->f, IR_ADD, ir_load(l->f, p, at, 8, false), v));
}

static void keep_extreme(struct lower *l, ir_reg p, int64_t at, ir_reg v, bool least,
			 bool is_signed)
{
	const ir_label take = ir_new_label(l->f), end = ir_new_label(l->f);
	const ir_reg now = ir_load(l->f, p, at, 8, false);

	ir_branch_const(l->f, IR_EQ, ir_load(l->f, p, at + 8, 8, false), 0, take);
	if (least)
		ir_branch(l->f, is_signed ? IR_SGE : IR_UGE, v, now, end);
	else
		ir_branch(l->f, is_signed ? IR_SLE : IR_ULE, v, now, end);
	ir_place(l->f, take);
	ir_store(l->f, p, at, 8, v);
	ir_store_const(l->f, p, at + 8, 8, 1);
	ir_place(l->f, end);
}

static void lower_simple(struct lower *l, struct node *n, struct value *v)
{
	const enum vkind kind = (enum vkind)n->builtin->what;
	const ir_reg x = n->list ? lower_number(l, n->list) : 0;
	const ir_label none = ir_new_label(l->f);
	const ir_reg p = map_entry(l, n->a, none);

	switch (kind) {
	case V_COUNT: add(l, p, 0, ir_const(l->f, 1)); break;
	case V_SUM: add(l, p, 0, x); break;
	case V_AVG:
	case V_STATS:
		add(l, p, 0, ir_const(l->f, 1));
		add(l, p, 8, x);
		break;
	default: keep_extreme(l, p, 0, x, kind == V_MIN, n->a->map->value.is_signed);
	}
	ir_place(l->f, none);
}

/* Adds 1 to the bucket: its number is known to be small enough, and the verifier is told so. */
static void add_bucket(struct lower *l, struct node *n, ir_reg bucket, uint32_t buckets)
{
	const ir_label none = ir_new_label(l->f);
	ir_reg p;

	p = map_entry(l, n->a, none);
	ir_branch_const(l->f, IR_UGE, bucket, buckets, none);
	p = ir_binary(l->f, IR_ADD, p, ir_binary_const(l->f, IR_SHL, bucket, 3));
	add(l, p, 0, ir_const(l->f, 1));
	ir_place(l->f, none);
}

/* The same as agg_hist_bucket(). */
static ir_reg hist_bucket(struct lower *l, ir_reg x, unsigned int bits)
{
	const ir_label found = ir_new_label(l->f);
	const ir_reg r = ir_new(l->f), v = ir_new(l->f);
	ir_reg row;

	ir_set_const(l->f, r, 0);
	ir_branch_const(l->f, IR_SLT, x, 0, found);
	ir_set(l->f, r, ir_binary_const(l->f, IR_ADD, x, 1));
	ir_branch_const(l->f, IR_ULT, x, 1ll << bits, found);
	/* The number of the highest bit, by halves. */
	ir_set(l->f, v, x);
	ir_set_const(l->f, r, 0);
	for (unsigned int half = 32; half; half /= 2) {
		const ir_label low = ir_new_label(l->f);

		ir_branch_const(l->f, IR_ULT, v, 1ll << half, low);
		ir_set(l->f, v, ir_binary_const(l->f, IR_SHR, v, half));
		ir_set(l->f, r, ir_binary_const(l->f, IR_ADD, r, half));
		ir_place(l->f, low);
	}
	if (!bits) {
		ir_set(l->f, r, ir_binary_const(l->f, IR_ADD, r, 2));
	} else {
		row = ir_binary_const(l->f, IR_SUB, r, bits);
		ir_set(l->f, v, ir_binary(l->f, IR_SHR, x, row));
		ir_set(l->f, v, ir_binary_const(l->f, IR_AND, v, (1ll << bits) - 1));
		row = ir_binary_const(l->f, IR_SHL, ir_binary_const(l->f, IR_ADD, row, 1), bits);
		ir_set(l->f, r, ir_binary_const(l->f, IR_ADD, ir_binary(l->f, IR_ADD, row, v), 1));
	}
	ir_place(l->f, found);
	return r;
}

static void lower_hist(struct lower *l, struct node *n, struct value *v)
{
	const unsigned int bits = (unsigned int)n->vtype.param[0];

	add_bucket(l, n, hist_bucket(l, lower_number(l, n->list), bits), agg_hist_buckets(bits));
}

static void lower_lhist(struct lower *l, struct node *n, struct value *v)
{
	const int64_t *p = n->vtype.param;
	const uint32_t buckets = agg_lhist_buckets(&n->vtype);
	const ir_label found = ir_new_label(l->f);
	const ir_reg r = ir_new(l->f), x = lower_number(l, n->list);

	ir_set_const(l->f, r, 0);
	ir_branch_const(l->f, IR_SLT, x, p[0], found);
	ir_set_const(l->f, r, buckets - 1);
	ir_branch_const(l->f, IR_SGE, x, p[1], found);
	ir_set(l->f, r,
	       ir_binary_const(l->f, IR_UDIV, ir_binary_const(l->f, IR_SUB, x, p[0]), p[2]));
	ir_set(l->f, r, ir_binary_const(l->f, IR_ADD, r, 1));
	ir_place(l->f, found);
	add_bucket(l, n, r, buckets);
}

/* A bucket holds an interval until a later one needs its place. */
static void lower_tseries(struct lower *l, struct node *n, struct value *v)
{
	const ir_label none = ir_new_label(l->f), same = ir_new_label(l->f);
	const int64_t buckets = n->vtype.param[1];
	const ir_reg x = lower_number(l, n->list);
	const ir_reg now =
		ir_call(l->f,
			compile_has(l->features, COMPILE_BOOT_CLOCK) ? BPF_FUNC_ktime_get_boot_ns
								     : BPF_FUNC_ktime_get_ns,
			0, NULL);
	const ir_reg epoch = ir_binary_const(l->f, IR_UDIV, now, n->vtype.param[0]);
	ir_reg slot = ir_binary_const(l->f, IR_UMOD, epoch, buckets), p = map_entry(l, n->a, none);

	ir_branch_const(l->f, IR_UGE, slot, buckets, none);
	p = ir_binary(l->f, IR_ADD, p, ir_binary_const(l->f, IR_MUL, slot, 24));
	ir_branch(l->f, IR_EQ, ir_load(l->f, p, 0, 8, false), epoch, same);
	ir_store(l->f, p, 0, 8, epoch);
	ir_store_const(l->f, p, 8, 8, 0);
	ir_store_const(l->f, p, 16, 8, 0);
	ir_place(l->f, same);
	switch (n->vtype.mode) {
	case SERIES_AVG:
	case SERIES_SUM: add(l, p, 8, x); break;
	case SERIES_MIN:
	case SERIES_MAX:
		keep_extreme(l, p, 8, x, n->vtype.mode == SERIES_MIN, n->vtype.is_signed);
		break;
	default: ir_store(l->f, p, 8, 8, x);
	}
	if (n->vtype.mode != SERIES_MIN && n->vtype.mode != SERIES_MAX)
		add(l, p, 16, ir_const(l->f, 1));
	ir_place(l->f, none);
}

#define AGG BUILTIN_AGGREGATE

const struct builtin builtins_agg[] = {
	{"count", 0, 0, AGG, check_simple, lower_simple, V_COUNT},
	{"sum", 1, 1, AGG, check_simple, lower_simple, V_SUM},
	{"avg", 1, 1, AGG, check_simple, lower_simple, V_AVG},
	{"min", 1, 1, AGG, check_simple, lower_simple, V_MIN},
	{"max", 1, 1, AGG, check_simple, lower_simple, V_MAX},
	{"stats", 1, 1, AGG, check_simple, lower_simple, V_STATS},
	{"hist", 1, 2, AGG, check_hist, lower_hist, 0},
	{"lhist", 4, 4, AGG, check_lhist, lower_lhist, 0},
	{"tseries", 3, 4, AGG, check_tseries, lower_tseries, 0},
	BUILTIN_END,
};
