// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The script that measures a latency in the kernel: a time is kept where the latency begins, and
 * where it ends the difference goes into the aggregations of its group.
 */
#include <errno.h>
#include <string.h>

#include "measure/latency_live_parts.h"
#include "base/error.h"
#include "base/suggest.h"
#include "code/sys.h"
#include "code/unit.h"

#define MAX_COLUMNS 8
#define WAITING	    "65536" /* entries at a time */
#define MAX_GROUPS  2048
#define MIN_GROUPS  128
#define MEMORY	    (64u << 20) /* of the kernel's that histograms may take */
#define TEXT_LIMIT  (1u << 20)

struct live_kind {
	const char *name;
	const char *begin; /* whole probes */
	const char *end;   /* probe in which a latency ends, */
	const char *extra; /* what it does besides, after that; or NULL */
	const char *key;   /* and by which key what has begun is found there */
	struct live_column columns[MAX_COLUMNS];
};

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
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
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

/* The end of what has begun with that key. */
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
	for (size_t i = 0; i < sizeof(measures) / sizeof(measures[0]); i++) {
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
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		buf_printf(to, "let @%s = percpuhash(%u);\n", maps[i], o->by ? max_groups() : 1);
	buf_putc(to, '\n');
}

/* What has been waited for comes last: whoever reads the maps then has all of them. */
static void put_maps(struct buf *to, const char *probe)
{
	buf_printf(to, "\n%s\n{\n", probe);
	buf_puts(to, "\tprint(@" LIVE_HIST ");\n\tprint(@" LIVE_STATS ");\n\tprint(@" LIVE_MIN
		     ");\n\tprint(@" LIVE_MAX ");\n\tprint(@" LIVE_SINCE ");\n}\n");
}

static void put_interval(struct buf *to, uint64_t ns)
{
	buf_printf(to, "interval:us:%llu", (unsigned long long)((ns + 999) / 1000));
}

static void put_tail(const struct latency_live *o, struct buf *to)
{
	struct buf probe;

	buf_init(&probe, 100);
	if (o->interval) {
		put_interval(&probe, o->interval);
		put_maps(to, buf_str(&probe));
	}
	if (o->duration) {
		buf_putc(to, '\n');
		put_interval(to, o->duration);
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
		/* All numbers have the same size, whatever the fields'. */
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

int latency_live_write(const struct latency_live *o, struct buf *to, struct live_columns *by,
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
