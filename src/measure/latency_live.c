// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Latencies measured in the running kernel: the script that measures, and reading its maps.
 *
 * The script stores a time where the latency begins. Where it ends, the script adds the difference
 * to the aggregations of the group. Each map is read when it is printed; the last one completes a
 * result.
 */
#include "measure/latency_live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/suggest.h"
#include "base/vec.h"
#include "code/sys.h"
#include "code/unit.h"
#include "script/script.h"
#include "table/spans.h"

/* The maps of the script: waits that have begun, and by group its measurements. */
#define LIVE_SINCE  "since"
#define LIVE_HIST   "ns"
#define LIVE_STATS  "sum"
#define LIVE_MIN    "min"
#define LIVE_MAX    "max"
#define LIVE_BITS   5 /* of a bucket within its power of two */
#define MAX_COLUMNS 8
#define WAITING	    "65536" /* entries at a time */
#define MAX_GROUPS  2048
#define MIN_GROUPS  128
#define MEMORY	    (64u << 20) /* of the kernel's memory for histograms */
#define TEXT_LIMIT  (1u << 20)
#define OF_TASK                                                                                    \
	{"comm", "comm"}, {"pid", "tid"},                                                          \
	{                                                                                          \
		"cpu", "cpu"                                                                       \
	}
#define OF_NEXT                                                                                    \
	{"comm", "args.next_comm"}, {"pid", "args.next_pid"}, {"cpu", "cpu"},                      \
	{                                                                                          \
		"prio", "args.next_prio"                                                           \
	}
#define SCRIPT_LIMIT (1u << 20)
#define LABEL_LIMIT  4096

/* How a value of a group is shown. */
enum live_shown { SHOWN_AS_IS, SHOWN_SOFTIRQ, SHOWN_DEVICE };

/* A group's column: its expression where the latency ends. */
struct live_column {
	const char *name;
	const char *expr;
	enum live_shown shown;
};

/* What to group by, found by name. */
struct live_columns {
	struct live_column at[LATENCY_KEYS];
	unsigned int n;
};

/* ---- the script ---- */

struct live_kind {
	const char *name;
	const char *begin; /* whole probes */
	const char *end;   /* probe in which a latency ends, */
	const char *extra; /* further code there; or NULL */
	const char *key;   /* and the key of the stored time there */
	struct live_column columns[MAX_COLUMNS];
};

static const struct live_kind kinds[] = {
	{
		.name = "wakeup",
		.begin = "tracepoint:sched:sched_wakeup, tracepoint:sched:sched_wakeup_new\n"
			 "{\n\t@since[args.pid] = nsecs;\n}\n",
		.end = "tracepoint:sched:sched_switch",
		.key = "args.next_pid",
		.columns = {OF_NEXT},
	},
	{
		.name = "sched",
		.begin = "tracepoint:sched:sched_wakeup, tracepoint:sched:sched_wakeup_new\n"
			 "{\n\t@since[args.pid] = nsecs;\n}\n",
		.end = "tracepoint:sched:sched_switch",
		/* Bits from 256 on say that it was preempted. */
		.extra = "\tif ((args.prev_state & 0xff) == 0 && args.prev_pid != 0) {\n"
			 "\t\t@since[args.prev_pid] = nsecs;\n\t}\n",
		.key = "args.next_pid",
		.columns = {OF_NEXT},
	},
	{
		.name = "irq",
		.begin = "tracepoint:irq:irq_handler_entry\n"
			 "{\n\t@since[cpu, args.irq] = nsecs;\n\t@name[args.irq] = args.name;\n}\n",
		.end = "tracepoint:irq:irq_handler_exit",
		.key = "cpu, args.irq",
		.columns = {OF_TASK, {"name", "@name[args.irq]"}, {"irq", "args.irq"}},
	},
	{
		.name = "softirq",
		.begin = "tracepoint:irq:softirq_raise\n{\n\tif (!@since[cpu, args.vec]) {\n"
			 "\t\t@since[cpu, args.vec] = nsecs;\n\t}\n}\n",
		.end = "tracepoint:irq:softirq_entry",
		.key = "cpu, args.vec",
		.columns = {OF_TASK, {"name", "args.vec", SHOWN_SOFTIRQ}, {"vec", "args.vec"}},
	},
	{
		.name = "softirq-time",
		.begin = "tracepoint:irq:softirq_entry\n{\n\t@since[cpu, args.vec] = nsecs;\n}\n",
		.end = "tracepoint:irq:softirq_exit",
		.key = "cpu, args.vec",
		.columns = {OF_TASK, {"name", "args.vec", SHOWN_SOFTIRQ}, {"vec", "args.vec"}},
	},
	{
		.name = "syscall",
		.begin = "tracepoint:raw_syscalls:sys_enter\n{\n\t@since[tid] = nsecs;\n}\n",
		.end = "tracepoint:raw_syscalls:sys_exit",
		.key = "tid",
		.columns = {OF_TASK, {"name", "syscall_name(args.id)"}, {"nr", "args.id"}},
	},
	{
		.name = "block",
		.begin = "tracepoint:block:block_rq_issue\n"
			 "{\n\t@since[args.dev, args.sector] = nsecs;\n}\n",
		.end = "tracepoint:block:block_rq_complete",
		.key = "args.dev, args.sector",
		.columns = {OF_TASK, {"device", "args.dev", SHOWN_DEVICE}, {"rwbs", "args.rwbs"}},
	},
	{
		.name = "futex",
		.begin = "tracepoint:syscalls:sys_enter_futex\n{\n\t@since[tid] = nsecs;\n}\n",
		.end = "tracepoint:syscalls:sys_exit_futex",
		.key = "tid",
		.columns = {OF_TASK},
	},
};

static const struct live_column of_pairs[MAX_COLUMNS] = {OF_TASK, {"to_cpu", "cpu"}};

static const struct live_kind *find_kind(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}

/* ---- groups ---- */

static const char *expr_of(const struct live_column *columns, const char *name)
{
	for (unsigned int i = 0; i < MAX_COLUMNS && columns[i].name; i++)
		if (strcmp(columns[i].name, name) == 0)
			return columns[i].expr;
	return NULL;
}

static int add_by(struct live_columns *by, const struct live_column *columns, const char *name,
		  size_t len, struct spur_error *err)
{
	struct suggest near = suggest_for(name, len);

	if (len == 4 && memcmp(name, "task", 4) == 0) {
		int rc = add_by(by, columns, "comm", 4, err);

		return rc < 0 ? rc : add_by(by, columns, "pid", 3, err);
	}
	if (by->n == LATENCY_KEYS)
		return error_set(err, -EINVAL, "no more than %d columns can be grouped by",
				 LATENCY_KEYS);
	for (unsigned int i = 0; i < MAX_COLUMNS && columns[i].name; i++) {
		if (strlen(columns[i].name) == len && memcmp(columns[i].name, name, len) == 0) {
			by->at[by->n++] = columns[i];
			return 0;
		}
		suggest_try(&near, columns[i].name);
	}
	return error_set(err, -EINVAL, "live, there is no column '%.*s' to group by%s", (int)len,
			 name, suggest_hint(&near));
}

static int find_by(const struct latency_live *o, const struct live_column *columns,
		   struct live_columns *by, struct spur_error *err)
{
	int rc = 0;

	for (const char *at = o->by; rc == 0 && at && *at;) {
		const size_t len = strcspn(at, ",");

		rc = add_by(by, columns, at, len, err);
		at += len + (at[len] == ',');
	}
	return rc;
}

/* ---- text ---- */

static void put_group(struct buf *to, const struct live_columns *by)
{
	if (!by->n)
		buf_putc(to, '0');
	for (unsigned int i = 0; i < by->n; i++)
		buf_printf(to, "%s%s", i ? ", " : "", by->at[i].expr);
}

/* Appends the code for the end of the latency with that key. */
static int put_measure(const struct latency_live *o, const struct live_column *columns,
		       const struct live_columns *by, const char *key, struct buf *to,
		       struct spur_error *err)
{
	static const struct {
		const char *map, *call;
	} measures[] = {{LIVE_HIST, "hist($ns, 5)"},
			{LIVE_STATS, "stats($ns)"},
			{LIVE_MIN, "min($ns)"},
			{LIVE_MAX, "max($ns)"}};
	int rc;

	buf_printf(to, "\t$since = @" LIVE_SINCE "[%s];\n\tif ($since) {\n", key);
	buf_puts(to, "\t\t$ns = nsecs - $since;\n\t\tif (");
	rc = live_put_who(to, &o->who, expr_of(columns, "pid"), expr_of(columns, "comm"),
			  expr_of(columns, "cpu"), err);
	buf_puts(to, ") {\n");
	for (size_t i = 0; i < ARRAY_SIZE(measures); i++) {
		buf_printf(to, "\t\t\t@%s[", measures[i].map);
		put_group(to, by);
		buf_printf(to, "] = %s;\n", measures[i].call);
	}
	buf_printf(to, "\t\t}\n\t\tdelete(@" LIVE_SINCE ", (%s));\n\t}\n", key);
	return rc;
}

static unsigned int max_groups(void)
{
	const size_t each = agg_hist_buckets(LIVE_BITS) * sizeof(uint64_t) * sys_possible_cpus();
	const size_t n = MEMORY / each;

	return n < MIN_GROUPS ? MIN_GROUPS : n > MAX_GROUPS ? MAX_GROUPS : (unsigned int)n;
}

static void put_head(const struct latency_live *o, struct buf *to)
{
	static const char *const maps[] = {LIVE_HIST, LIVE_STATS, LIVE_MIN, LIVE_MAX};

	buf_puts(to, "config = {\n\tprint_maps_on_exit = false;\n}\n\n");
	buf_puts(to, "let @" LIVE_SINCE " = hash(" WAITING ");\n");
	for (size_t i = 0; i < ARRAY_SIZE(maps); i++)
		buf_printf(to, "let @%s = percpuhash(%u);\n", maps[i], o->by ? max_groups() : 1);
	buf_putc(to, '\n');
}

/* The map that ends a result comes last: then the reader has all maps. */
static void put_maps(struct buf *to, const char *probe)
{
	buf_printf(to, "\n%s\n{\n", probe);
	buf_puts(to, "\tprint(@" LIVE_HIST ");\n\tprint(@" LIVE_STATS ");\n\tprint(@" LIVE_MIN
		     ");\n\tprint(@" LIVE_MAX ");\n\tprint(@" LIVE_SINCE ");\n}\n");
}

static void put_tail(const struct latency_live *o, struct buf *to)
{
	struct buf probe;

	buf_init(&probe, 100);
	if (o->interval) {
		live_put_interval(&probe, o->interval);
		put_maps(to, buf_str(&probe));
	}
	if (o->duration) {
		buf_putc(to, '\n');
		live_put_interval(to, o->duration);
		buf_puts(to, "\n{\n\texit();\n}\n");
	}
	put_maps(to, "end");
	buf_free(&probe);
}

/* ---- pairs of events ---- */

/* The fields of a side, as a key; "0" when there are none. */
static int put_match(const char *match, bool to_side, struct event *e, struct buf *to,
		     struct spur_error *err)
{
	const char *between = "";
	int rc = 0;

	if (!match || !*match)
		buf_putc(to, '0');
	while (rc == 0 && match && *match) {
		const size_t len = strcspn(match, ",");
		const char *equals = memchr(match, '=', len);
		const char *name = equals && to_side ? equals + 1 : match;
		const size_t end = equals && !to_side ? (size_t)(equals - match) : len;

		buf_puts(to, between);
		/* All numbers have the same size, whatever the size of the fields. */
		rc = live_put_field(to, e, name, (size_t)(match + end - name), err);
		between = ", ";
		match += len + (match[len] == ',');
	}
	return rc;
}

struct live_pairs {
	struct live_events kernel;
	struct selector_text text[2];
	struct event_selector side[2]; /* from, to */
};

static bool has(const struct event_selector *c, const struct event *e)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->at[i] == e)
			return true;
	return false;
}

static int put_condition(const struct selector_text *t, struct event *e, struct buf *to,
			 struct spur_error *err)
{
	int rc = 0;

	buf_puts(to, "\tif (");
	if (t->filter_len)
		rc = live_put_filter(to, e, t->filter, t->filter_len, err);
	else
		buf_putc(to, '1');
	buf_puts(to, ") {\n");
	return rc;
}

static int put_from(const struct latency_live *o, const struct live_pairs *p, struct event *e,
		    const char *key, struct buf *to, struct spur_error *err)
{
	int rc = put_condition(&p->text[0], e, to, err);

	if (o->pairs->first)
		buf_printf(to, "\tif (!@" LIVE_SINCE "[%s]) {\n", key);
	buf_printf(to, "\t@" LIVE_SINCE "[%s] = nsecs;\n", key);
	buf_puts(to, o->pairs->first ? "\t}\n\t}\n" : "\t}\n");
	return rc;
}

static int put_event(const struct latency_live *o, const struct live_pairs *p, struct event *e,
		     const struct live_columns *by, struct buf *to, struct spur_error *err)
{
	struct buf key;
	int rc = 0;

	buf_init(&key, TEXT_LIMIT);
	buf_printf(to, "tracepoint:%s:%s\n{\n", e->system, e->name);
	if (has(&p->side[1], e)) {
		rc = put_match(o->pairs->match, true, e, &key, err);
		if (rc == 0)
			rc = put_condition(&p->text[1], e, to, err);
		if (rc == 0)
			rc = put_measure(o, of_pairs, by, buf_str(&key), to, err);
		buf_puts(to, "\t}\n");
	}
	buf_reset(&key);
	if (rc == 0 && has(&p->side[0], e)) {
		rc = put_match(o->pairs->match, false, e, &key, err);
		if (rc == 0)
			rc = put_from(o, p, e, buf_str(&key), to, err);
	}
	buf_puts(to, "}\n");
	buf_free(&key);
	return rc;
}

static int put_events(const struct latency_live *o, struct live_pairs *p,
		      const struct live_columns *by, struct buf *to, struct spur_error *err)
{
	const char *const texts[] = {o->pairs->from, o->pairs->to ? o->pairs->to : o->pairs->from};
	int rc = live_events_open(&p->kernel, err);

	for (int i = 0; i < 2 && rc == 0; i++) {
		rc = selector_split(texts[i], &p->text[i], err);
		if (rc == 0)
			rc = live_choice(&p->kernel, &p->text[i], &p->side[i], err);
	}
	for (size_t i = 0; rc == 0 && i < p->side[0].n; i++)
		rc = put_event(o, p, p->side[0].at[i], by, to, err);
	for (size_t i = 0; rc == 0 && i < p->side[1].n; i++)
		if (!has(&p->side[0], p->side[1].at[i]))
			rc = put_event(o, p, p->side[1].at[i], by, to, err);
	return rc;
}

static int write_pairs(const struct latency_live *o, struct buf *to, struct live_columns *by,
		       struct spur_error *err)
{
	struct live_pairs p = {0};
	int rc = find_by(o, of_pairs, by, err);

	if (rc == 0)
		rc = put_events(o, &p, by, to, err);
	selector_free(&p.side[0]);
	selector_free(&p.side[1]);
	live_events_close(&p.kernel);
	return rc;
}

static int write_kind(const struct latency_live *o, struct buf *to, struct live_columns *by,
		      struct spur_error *err)
{
	const struct live_kind *k = find_kind(o->kind->name);
	int rc;

	if (!k)
		return error_set(err, -EINVAL, "%s is not measured live", o->kind->name);
	rc = find_by(o, k->columns, by, err);
	if (rc < 0)
		return rc;
	buf_printf(to, "%s\n%s\n{\n", k->begin, k->end);
	rc = put_measure(o, k->columns, by, k->key, to, err);
	buf_printf(to, "%s}\n", k->extra ? k->extra : "");
	return rc;
}

/* Writes the script, and fills in the columns of the groups. */
static int latency_live_write(const struct latency_live *o, struct buf *to, struct live_columns *by,
			      struct spur_error *err)
{
	int rc;

	put_head(o, to);
	rc = o->pairs ? write_pairs(o, to, by, err) : write_kind(o, to, by, err);
	put_tail(o, to);
	return rc == 0 && buf_full(to) ? error_set(err, -ENOMEM, "the script is too long") : rc;
}

int latency_live_script(const struct latency_live *o, struct buf *to, struct spur_error *err)
{
	struct live_columns by = {0};

	return latency_live_write(o, to, &by, err);
}

/* ---- its maps ---- */

struct reader {
	const struct latency_live *o;
	struct live_columns by;
	struct column columns[LATENCY_KEYS];
	struct latency now;
};

/* ---- keys ---- */

static const struct vtype *key_type(const struct map_def *m, unsigned int i, uint32_t *offset)
{
	*offset = 0;
	if (m->key.kind != V_TUPLE)
		return i == 0 ? &m->key : NULL;
	if (i >= m->key.nr_elems)
		return NULL;
	*offset = m->key.elems[i].offset;
	return m->key.elems[i].type;
}

static void put_shown(struct buf *to, enum live_shown how, int64_t number)
{
	const char *softirq = how == SHOWN_SOFTIRQ ? softirq_name(number) : NULL;

	if (softirq)
		buf_puts(to, softirq);
	else if (how == SHOWN_DEVICE)
		buf_printf(to, "%lld,%lld", (long long)(number >> 20),
			   (long long)(number & 0xfffff));
	else
		buf_i64(to, number);
}

static int read_key(struct reader *r, struct output *o, const struct vtype *t, const uint8_t *v,
		    enum live_shown how, struct latency_key *key)
{
	struct buf *usual = o->to, text;

	if (t->kind == V_INT && how == SHOWN_AS_IS) {
		key->number = live_number(t, v);
		return 0;
	}
	buf_init(&text, LABEL_LIMIT);
	if (how == SHOWN_AS_IS) {
		o->to = &text;
		output_value(o, t, v);
		o->to = usual;
	} else {
		put_shown(&text, how, live_number(t, v));
	}
	key->number = ROW_NULL;
	key->text = strdup(buf_str(&text));
	buf_free(&text);
	return key->text ? 0 : -ENOMEM;
}

static int read_keys(struct reader *r, struct output *o, const struct map_def *m,
		     const struct map_row *row, struct latency_group *g)
{
	int rc = 0;

	for (unsigned int i = 0; i < r->by.n && rc == 0; i++) {
		uint32_t offset;
		const struct vtype *t = key_type(m, i, &offset);

		if (!t || offset + t->size > m->key_size)
			return -EINVAL;
		rc = read_key(r, o, t, row->key + offset, r->by.at[i].shown, &g->keys[i]);
	}
	return rc;
}

static bool same_keys(const struct reader *r, const struct latency_group *a,
		      const struct latency_group *b)
{
	for (unsigned int i = 0; i < r->by.n; i++) {
		const struct latency_key *x = &a->keys[i], *y = &b->keys[i];

		if (x->number != y->number || !x->text != !y->text ||
		    (x->text && strcmp(x->text, y->text) != 0))
			return false;
	}
	return true;
}

/* The group of a row: that of the same row in the maps before, or a new one. */
static int group_of(struct reader *r, struct output *o, const struct map_def *m,
		    const struct map_row *row, bool add, struct latency_group **out)
{
	struct latency_group *g = calloc(1, sizeof(*g));
	int rc = g ? read_keys(r, o, m, row, g) : -ENOMEM;

	*out = NULL;
	for (size_t i = 0; rc == 0 && i < r->now.groups.n && !*out; i++)
		if (same_keys(r, r->now.groups.at[i], g))
			*out = r->now.groups.at[i];
	if (rc == 0 && !*out && add) {
		if (vec_add(&r->now.groups, &g)) {
			*out = g;
			return 0;
		}
		rc = -ENOMEM;
	}
	for (unsigned int i = 0; g && i < LATENCY_KEYS; i++)
		free((char *)g->keys[i].text);
	free(g);
	return rc;
}

/* ---- maps ---- */

static uint64_t word(const uint8_t *v, size_t i)
{
	uint64_t n;

	memcpy(&n, v + i * sizeof(n), sizeof(n));
	return n;
}

static void take_hist(struct latency_group *g, const uint8_t *value)
{
	for (uint32_t i = 0; i < agg_hist_buckets(LIVE_BITS); i++) {
		const uint64_t count = word(value, i);
		int64_t from, to;

		if (!count)
			continue;
		agg_hist_range(i, LIVE_BITS, &from, &to);
		dist_add_many(&g->dist, i ? to - 1 : 0, count);
	}
}

static void take_stats(struct latency_group *g, const uint8_t *value)
{
	const uint64_t count = word(value, 0);

	g->dist.sum = (double)(int64_t)word(value, 1);
	g->dist.mean = count ? g->dist.sum / (double)count : 0;
}

static void take_min(struct latency_group *g, const uint8_t *value)
{
	if (word(value, 1))
		g->dist.min = (int64_t)word(value, 0);
}

static void take_max(struct latency_group *g, const uint8_t *value)
{
	if (word(value, 1))
		g->dist.max = (int64_t)word(value, 0);
}

/* No bucket's end is beyond the extremes. */
static void tighten(struct dist *d)
{
	for (size_t i = 0; d->values && i < d->n; i++) {
		if (d->values[i] > d->max)
			d->values[i] = d->max;
		if (d->values[i] < d->min)
			d->values[i] = d->min;
	}
}

static void sum_up(struct latency *l)
{
	struct dist *all = &l->all.dist;

	for (size_t i = 0; i < l->groups.n; i++) {
		struct dist *d = &l->groups.at[i]->dist;
		const double sum = all->sum + d->sum;

		if (!d->n)
			continue;
		tighten(d);
		dist_merge(all, d);
		/* Extremes computed from buckets would be ends of buckets, not values. */
		all->min = d->min < all->min ? d->min : all->min;
		all->sum = sum;
		all->mean = sum / (double)all->n;
	}
}

static void forget(struct reader *r)
{
	latency_free(&r->now);
	r->now = (struct latency){.nr_by = r->by.n};
	for (unsigned int i = 0; i < r->by.n; i++)
		r->now.by[i] = &r->columns[i];
	r->now.opt.kind = r->o->kind;
}

static int show(struct reader *r, size_t waiting)
{
	struct spur_error err = {0};
	int rc;

	sum_up(&r->now);
	r->now.open_rows = waiting;
	rc = latency_finish(&r->now, r->o->order, &err);
	/* If there is only one group for all, it has no name. */
	if (rc == 0 && !r->by.n) {
		for (size_t i = 0; i < r->now.groups.n; i++) {
			dist_free(&r->now.groups.at[i]->dist);
			free(r->now.groups.at[i]);
		}
		vec_free(&r->now.groups);
	}
	if (rc == 0)
		r->o->show(r->o->arg, &r->now);
	forget(r);
	return rc;
}

static int on_map(void *arg, struct output *o, const struct map_def *m, const struct map_rows *rows)
{
	static const struct {
		const char *map;
		enum vkind kind;
		void (*take)(struct latency_group *g, const uint8_t *value);
	} takers[] = {
		{LIVE_HIST, V_HIST, take_hist},
		{LIVE_STATS, V_STATS, take_stats},
		{LIVE_MIN, V_MIN, take_min},
		{LIVE_MAX, V_MAX, take_max},
	};
	struct reader *r = arg;
	size_t k = 0;
	int rc = 0;

	if (strcmp(m->name, LIVE_SINCE) == 0)
		return show(r, rows->n);
	while (k < ARRAY_SIZE(takers) && strcmp(takers[k].map, m->name) != 0)
		k++;
	if (k == ARRAY_SIZE(takers) || m->value.kind != takers[k].kind)
		return 0;
	for (size_t i = 0; i < rows->n && rc == 0; i++) {
		struct latency_group *g;

		rc = group_of(r, o, m, &rows->at[i], k == 0, &g);
		if (rc == 0 && g)
			takers[k].take(g, rows->at[i].value);
	}
	return rc;
}

/* ---- running ---- */

static void on_note(void *arg, const char *text)
{
	const struct reader *r = arg;

	if (r->o->note)
		r->o->note(r->o->arg, text);
}

int latency_live(const struct latency_live *o, struct spur_error *err)
{
	struct reader r = {.o = o};
	struct script_options opt = {
		.stop_fd = o->stop_fd, .map = on_map, .note = on_note, .arg = &r};
	struct buf text;
	int rc;

	buf_init(&text, SCRIPT_LIMIT);
	rc = latency_live_write(o, &text, &r.by, err);
	for (unsigned int i = 0; i < r.by.n; i++)
		r.columns[i] = (struct column){.name = r.by.at[i].name, .type = COLUMN_TEXT};
	forget(&r);
	if (rc == 0)
		rc = live_script_run(&opt, &text, err);
	latency_free(&r.now);
	buf_free(&text);
	return rc;
}
