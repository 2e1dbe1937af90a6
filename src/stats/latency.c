// SPDX-License-Identifier: GPL-2.0-or-later
/* Latencies: the named kinds, and their distributions over the rows of a trace. */
#include "stats/latency.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/order.h"
#include "base/suggest.h"
#include "base/vec.h"
#include "table/sched.h"
#include "table/spans.h"

#define MAX_GROUPS  20000
#define DISTS_LIMIT (64u << 20) /* bytes of all distributions */
#define MAX_LABEL   4096
#define NR_FOUND    256 /* groups at hand */

/* ---- kinds ---- */

static bool is_runnable(const void *row)
{
	const struct state_row *s = row;

	return s->state == RUN_RUNNABLE;
}

static bool has_latency(const void *row)
{
	const struct softirq_row *s = row;

	return s->latency != ROW_NULL || s->open;
}

static bool is_futex(const void *row)
{
	const struct syscall_row *s = row;

	return s->name && strncmp(s->name, "futex", 5) == 0;
}

static const char *const of_wakeups[] = {"run_cpu",    "comm",	    "pid", "prio",
					 "waker_comm", "waker_pid", NULL};
static const char *const of_states[] = {"cpu", "comm", "pid", "reason", NULL};
static const char *const of_irqs[] = {"cpu", "irq", "name", "handled", "comm", "pid", NULL};
static const char *const of_softirqs[] = {"cpu", "name", "comm", "pid", NULL};
static const char *const of_syscalls[] = {"cpu", "comm", "pid", "name", "ret", "error", NULL};
static const char *const of_block[] = {"cpu",	 "comm",  "pid",  "device",
				       "sector", "bytes", "rwbs", NULL};
static const char *const of_pairs[] = {"from_cpu", "to_cpu", "comm", "pid", "key", NULL};

const struct latency_kind latency_kinds[] = {
	{
		.name = "wakeup",
		.about = "from when a task is woken until it runs",
		.table = "wakeups",
		.value = "latency",
		.by = "task",
		.cpu = "run_cpu",
		.shown = of_wakeups,
		.record = "-e sched_switch -e sched_wakeup -e sched_wakeup_new",
		.waits = true,
	},
	{
		.name = "sched",
		.about = "from when a task could run (woken, preempted) until it runs",
		.table = "states",
		.value = "dur",
		.wanted = is_runnable,
		.by = "task",
		.cpu = "cpu",
		.shown = of_states,
		.record = "-e sched_switch -e sched_wakeup -e sched_wakeup_new",
		.waits = true,
	},
	{
		.name = "irq",
		.about = "from the entry of an interrupt's handler until its exit",
		.table = "irqs",
		.value = "dur",
		.by = "name",
		.cpu = "cpu",
		.shown = of_irqs,
		.record = "-e irq_handler_entry -e irq_handler_exit",
	},
	{
		.name = "softirq",
		.about = "from when a softirq is raised until it runs",
		.table = "softirqs",
		.value = "latency",
		.wanted = has_latency,
		.by = "name",
		.cpu = "cpu",
		.shown = of_softirqs,
		.record = "-e softirq_raise -e softirq_entry -e softirq_exit",
	},
	{
		.name = "softirq-time",
		.about = "from the entry of a softirq until its exit",
		.table = "softirqs",
		.value = "dur",
		.by = "name",
		.cpu = "cpu",
		.shown = of_softirqs,
		.record = "-e softirq_entry -e softirq_exit",
	},
	{
		.name = "syscall",
		.about = "from the entry of a system call until its exit",
		.table = "syscalls",
		.value = "dur",
		.by = "name",
		.cpu = "cpu",
		.shown = of_syscalls,
		.record = "-e raw_syscalls",
		.contains = true,
	},
	{
		.name = "block",
		.about = "from when a request is given to a block device until it is done",
		.table = "block",
		.value = "dur",
		.by = "device",
		.cpu = "cpu",
		.shown = of_block,
		.record = "-e block_rq_issue -e block_rq_complete",
	},
	{
		.name = "futex",
		.about = "from the entry of a futex system call until its exit",
		.table = "syscalls",
		.value = "dur",
		.wanted = is_futex,
		.by = "task",
		.cpu = "cpu",
		.shown = of_syscalls,
		.record = "-e sys_enter_futex -e sys_exit_futex",
		.contains = true,
	},
	{0},
};

const struct latency_kind latency_of_pairs = {
	.name = "pairs",
	.table = "pairs",
	.value = "dur",
	.cpu = "to_cpu",
	.shown = of_pairs,
};

const struct latency_kind *latency_kind_find(const char *name, struct spur_error *err)
{
	struct suggest near = suggest_for(name, strlen(name));

	for (const struct latency_kind *k = latency_kinds; k->name; k++) {
		if (strcmp(k->name, name) == 0)
			return k;
		suggest_try(&near, k->name);
	}
	error_set(err, -EINVAL, "there is no kind of latency '%s'%s", name, suggest_hint(&near));
	return NULL;
}

const struct column *latency_column(const struct latency_kind *k, const struct table *t,
				    const char *name, size_t len)
{
	if (len == 3 && memcmp(name, "cpu", 3) == 0 && k->cpu) {
		name = k->cpu;
		len = strlen(name);
	}
	for (uint32_t i = 0; i < t->nr_columns; i++)
		if (strlen(t->columns[i].name) == len && memcmp(t->columns[i].name, name, len) == 0)
			return &t->columns[i];
	return NULL;
}

/* ---- measuring ---- */

/* Groups by the hash of their keys; of equal hashes only the first is found, the rest compared. */
struct latency_index {
	struct map map;
	struct hash_seed seed;
	struct latency_group *rest;
	struct latency_group *found[NR_FOUND]; /* by place(); may be another one */
};

/* ---- options ---- */

static int no_column(const struct latency *l, const char *name, size_t len, struct spur_error *err)
{
	struct suggest near = suggest_for(name, len);
	const struct table *t = l->opt.table;

	suggest_try(&near, "task");
	suggest_try(&near, "cpu");
	for (uint32_t i = 0; i < t->nr_columns; i++)
		suggest_try(&near, t->columns[i].name);
	return error_set(err, -EINVAL, "%s has no column '%.*s' to group by%s", t->name, (int)len,
			 name, suggest_hint(&near));
}

static int add_by(struct latency *l, const char *name, size_t len, struct spur_error *err)
{
	const struct column *c;

	if (len == 4 && memcmp(name, "task", 4) == 0) {
		int rc = add_by(l, "comm", 4, err);

		return rc < 0 ? rc : add_by(l, "pid", 3, err);
	}
	c = latency_column(l->opt.kind, l->opt.table, name, len);
	if (!c)
		return no_column(l, name, len, err);
	if (l->nr_by == LATENCY_KEYS)
		return error_set(err, -EINVAL, "no more than %d columns can be grouped by",
				 LATENCY_KEYS);
	l->by[l->nr_by++] = c;
	return 0;
}

int latency_init(struct latency *l, const struct latency_options *opt, struct spur_error *err)
{
	const struct latency_kind *k = opt->kind;
	int rc = 0;

	*l = (struct latency){.opt = *opt};
	l->value = latency_column(k, opt->table, k->value, strlen(k->value));
	l->open = latency_column(k, opt->table, "open", 4);
	l->index = calloc(1, sizeof(*l->index));
	if (!l->index)
		return error_set(err, -ENOMEM, "out of memory");
	if (!l->value)
		return error_set(err, -EINVAL, "%s has no column '%s'", opt->table->name, k->value);
	l->index->seed = hash_seed_new();
	for (const char *at = opt->by; rc == 0 && at && *at;) {
		const size_t len = strcspn(at, ",");

		rc = add_by(l, at, len, err);
		at += len + (at[len] == ',');
	}
	return rc;
}

static void free_group(struct latency_group *g)
{
	for (unsigned int i = 0; i < LATENCY_KEYS; i++)
		free((char *)g->keys[i].text);
	dist_free(&g->dist);
	bars_free(&g->bars);
}

static void free_row(const struct table *t, void *row)
{
	for (uint32_t i = 0; row && i < t->nr_columns; i++)
		if (t->columns[i].type == COLUMN_TEXT)
			free((char *)row_text(&t->columns[i], row));
	free(row);
}

void latency_free(struct latency *l)
{
	vec_each (g, &l->groups) {
		free_group(*g);
		free(*g);
	}
	vec_free(&l->groups);
	vec_each (w, &l->worst)
		free_row(l->opt.table, w->row);
	vec_free(&l->worst);
	free_group(&l->all);
	if (l->index)
		map_free(&l->index->map);
	free(l->index);
}

/* ---- groups ---- */

static bool same_keys(const struct latency *l, const struct latency_group *g, const void *row)
{
	for (unsigned int i = 0; i < l->nr_by; i++) {
		const struct column *c = l->by[i];
		const char *text;

		if (!row_is_text(c)) {
			if (g->keys[i].number != row_number(c, row))
				return false;
			continue;
		}
		text = row_text(c, row);
		if (!text != !g->keys[i].text || (text && strcmp(text, g->keys[i].text) != 0))
			return false;
	}
	return true;
}

static uint64_t hash_keys(const struct latency *l, const void *row)
{
	const struct hash_seed *seed = &l->index->seed;
	uint64_t hash = 0;

	for (unsigned int i = 0; i < l->nr_by; i++) {
		const struct column *c = l->by[i];
		const char *text = row_is_text(c) ? row_text(c, row) : NULL;
		const uint64_t value = !row_is_text(c) ? (uint64_t)row_number(c, row)
				       : text	       ? hash_bytes(seed, text, strlen(text))
						       : 0;

		hash = hash_add(seed, hash, value);
	}
	return hash;
}

static struct latency_group *new_group(struct latency *l)
{
	struct latency_group *g = calloc(1, sizeof(*g));

	if (g && vec_add(&l->groups, &g))
		return g;
	free(g);
	l->rc = -ENOMEM;
	return NULL;
}

static struct latency_group *rest_of(struct latency *l)
{
	if (!l->index->rest) {
		l->index->rest = new_group(l);
		if (l->index->rest)
			l->index->rest->rest = true;
	}
	return l->index->rest;
}

static bool copy_keys(const struct latency *l, struct latency_group *g, const void *row)
{
	for (unsigned int i = 0; i < l->nr_by; i++) {
		const struct column *c = l->by[i];
		const char *text = row_is_text(c) ? row_text(c, row) : NULL;

		g->keys[i].number = row_is_text(c) ? ROW_NULL : row_number(c, row);
		if (text && !(g->keys[i].text = strdup(text)))
			return false;
	}
	return true;
}

/*
 * The cached place of a row's group. Equal texts are mostly one text, so this compares addresses of
 * texts, which is much faster than comparing the texts.
 */
static struct latency_group **place(struct latency *l, const void *row)
{
	uint64_t raw = 0;

	for (unsigned int i = 0; i < l->nr_by; i++) {
		const struct column *c = l->by[i];

		raw = map_mix(raw ^ (row_is_text(c) ? (uint64_t)(uintptr_t)row_text(c, row)
						    : (uint64_t)row_number(c, row)));
	}
	return &l->index->found[raw % NR_FOUND];
}

static struct latency_group *find_group(struct latency *l, const void *row)
{
	uint64_t hash = hash_keys(l, row);
	struct latency_group *g;

	for (; (g = map_get(&l->index->map, hash)) != NULL; hash++)
		if (same_keys(l, g, row))
			return g;
	if (l->groups.n >= MAX_GROUPS)
		return rest_of(l);
	g = new_group(l);
	if (g && (!copy_keys(l, g, row) || !map_set(&l->index->map, hash, g)))
		l->rc = -ENOMEM;
	return g;
}

static struct latency_group *group_of(struct latency *l, const void *row)
{
	struct latency_group **at = place(l, row);

	if (!*at || (*at)->rest || !same_keys(l, *at, row))
		*at = find_group(l, row);
	return *at;
}

/* What a distribution will need once it has taken one more value. */
static bool has_room(struct latency *l, const struct dist *d)
{
	size_t more = 0;

	if (d->failed || d->buckets || d->n < d->cap)
		return true;
	more = d->cap ? d->cap * sizeof(*d->values) : 16 * sizeof(*d->values);
	if (l->used + more > (l->opt.memory ? l->opt.memory : DISTS_LIMIT))
		return false;
	l->used += more;
	return true;
}

static void add(struct latency *l, struct latency_group *g, int64_t value)
{
	if (g != &l->all && !has_room(l, &g->dist)) {
		free(g->dist.values);
		g->dist.values = NULL;
		g->dist.cap = 0;
		g->dist.failed = true;
	}
	dist_add(&g->dist, value);
	if (l->opt.linear && !bars_add(&g->bars, l->opt.linear, value))
		l->rc = -ENOMEM;
}

/* ---- the worst ---- */

static void *copy_row(const struct table *t, const void *row)
{
	char *copy = calloc(1, t->row_size);
	bool fine = copy;

	if (copy)
		memcpy(copy, row, t->row_size);
	for (uint32_t i = 0; copy && i < t->nr_columns; i++) {
		const struct column *c = &t->columns[i];
		const char *text;

		if (c->type != COLUMN_TEXT)
			continue;
		text = row_text(c, row);
		text = text ? strdup(text) : NULL;
		fine &= text || !row_text(c, row);
		memcpy(copy + c->offset, &text, sizeof(text));
	}
	if (fine)
		return copy;
	free_row(t, copy);
	return NULL;
}

static void sift_down(struct latency *l, size_t at)
{
	struct latency_worst *h = l->worst.at, moved = h[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= l->worst.n)
			break;
		if (child + 1 < l->worst.n && h[child + 1].value < h[child].value)
			child++;
		if (h[child].value >= moved.value)
			break;
		h[at] = h[child];
		at = child;
	}
	h[at] = moved;
}

static void keep_worst(struct latency *l, int64_t value, const void *row)
{
	struct latency_worst *w;

	if (l->worst.n < l->opt.worst) {
		w = vec_push(&l->worst);
		if (!w || !(w->row = copy_row(l->opt.table, row))) {
			l->worst.n -= w != NULL;
			l->rc = -ENOMEM;
			return;
		}
		w->value = value;
		/* The order matters once it is full. */
		for (size_t i = l->worst.n / 2; l->worst.n == l->opt.worst && i-- > 0;)
			sift_down(l, i);
		return;
	}
	w = &l->worst.at[0];
	free_row(l->opt.table, w->row);
	w->row = copy_row(l->opt.table, row);
	w->value = value;
	if (!w->row) {
		l->rc = -ENOMEM;
		*w = l->worst.at[--l->worst.n];
	}
	sift_down(l, 0);
}

/* ---- rows ---- */

void latency_row(void *latency, const void *row)
{
	struct latency *l = latency;
	struct latency_group *g;
	int64_t value;

	if (l->opt.kind->wanted && !l->opt.kind->wanted(row))
		return;
	l->seen++;
	if ((l->opt.wanted && !l->opt.wanted(l->opt.arg, row)) || l->rc < 0)
		return;
	if (l->open && row_text(l->open, row)) {
		l->open_rows++;
		return;
	}
	value = row_number(l->value, row);
	if (value == ROW_NULL) {
		l->unknown_rows++;
		return;
	}
	add(l, &l->all, value);
	g = l->nr_by ? group_of(l, row) : NULL;
	if (g)
		add(l, g, value);
	if (l->opt.worst && (l->worst.n < l->opt.worst || value > l->worst.at[0].value))
		keep_worst(l, value, row);
}

/* ---- the end ---- */

struct sorted {
	struct latency_group *group;
	bool followed; /* or it belongs to no task, or all tasks are followed */
	double by;
	const struct latency *latency;
};

static double rank_of(struct latency_group *g, enum latency_order order)
{
	switch (order) {
	case LATENCY_BY_MAX: return (double)g->dist.max;
	case LATENCY_BY_COUNT: return (double)g->dist.n;
	case LATENCY_BY_AVG: return g->dist.mean;
	case LATENCY_BY_P99: return (double)dist_quantile(&g->dist, 0.99);
	case LATENCY_BY_TOTAL: return g->dist.sum;
	case LATENCY_BY_NAME: break;
	}
	return 0;
}

static int compare_keys(const struct latency *l, const struct latency_group *a,
			const struct latency_group *b)
{
	for (unsigned int i = 0; i < l->nr_by; i++) {
		const struct latency_key *x = &a->keys[i], *y = &b->keys[i];
		int order = (x->number > y->number) - (x->number < y->number);

		if (x->text && y->text)
			order = strcmp(x->text, y->text);
		else if (x->text || y->text)
			order = x->text ? 1 : -1;
		if (order)
			return order;
	}
	return 0;
}

/* The group that stands for the rest is last, whatever its value. */
static int by_rank(const void *a, const void *b)
{
	const struct sorted *x = a, *y = b;

	if (x->group->rest != y->group->rest)
		return x->group->rest ? 1 : -1;
	if (x->followed != y->followed)
		return x->followed ? -1 : 1;
	if (x->by != y->by)
		return x->by < y->by ? 1 : -1;
	return compare_keys(x->latency, x->group, y->group);
}

static int by_value(const void *a, const void *b)
{
	const struct latency_worst *x = a, *y = b;
	uint64_t s, t;

	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	/* All rows begin with their time. */
	memcpy(&s, x->row, sizeof(s));
	memcpy(&t, y->row, sizeof(t));
	return (s > t) - (s < t);
}

static bool is_named(const struct column *c, const char *name)
{
	return strcmp(c->name, name) == 0;
}

static bool is_followed(const struct latency *l, const struct latency_group *g)
{
	for (unsigned int i = 0; l->opt.dat && i < l->nr_by; i++)
		if (is_named(l->by[i], "pid"))
			return dat_follows(l->opt.dat, (int32_t)g->keys[i].number);
	return true;
}

int latency_finish(struct latency *l, enum latency_order order, struct spur_error *err)
{
	struct sorted *list = calloc(l->groups.n + 1, sizeof(*list));

	if (l->rc < 0 || !list) {
		free(list);
		return error_set(err, -ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < l->groups.n; i++) {
		struct latency_group *g = l->groups.at[i];

		list[i] = (struct sorted){g, is_followed(l, g), rank_of(g, order), l};
	}
	qsort(list, l->groups.n, sizeof(*list), by_rank);
	for (size_t i = 0; i < l->groups.n; i++)
		l->groups.at[i] = list[i].group;
	free(list);
	order_vec(&l->worst, by_value);
	return 0;
}

void latency_label(const struct latency *l, const struct latency_group *g, struct buf *to)
{
	if (g->rest) {
		buf_puts(to, "(the rest)");
		return;
	}
	for (unsigned int i = 0; i < l->nr_by; i++) {
		/* A task's name and number are written as everywhere else. */
		if (i)
			buf_putc(to, is_named(l->by[i - 1], "comm") && is_named(l->by[i], "pid")
					     ? '-'
					     : ' ');
		if (g->keys[i].text)
			buf_put(to, g->keys[i].text, strnlen(g->keys[i].text, MAX_LABEL));
		else if (g->keys[i].number != ROW_NULL)
			buf_i64(to, g->keys[i].number);
		else
			buf_putc(to, '?');
	}
}
