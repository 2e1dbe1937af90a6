// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur top`: the first screen about a recording: who ran, who waited, what interrupted. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/grid.h"
#include "base/suggest.h"
#include "cli/onefile.h"
#include "cli/range.h"
#include "stats/top.h"

struct top_command {
	struct range_options range;
	const char *sort, *colour;
	int64_t rows;
	bool json, csv, use_colour;
};

#define AT(field) offsetof(struct top_command, field)
#define NOT_GIVEN INT64_MIN

static const struct opt opts[] = {
	{'s', "sort", OPT_STRING, "COLUMN", "tasks with most of this first (running)", AT(sort),
	 .values = "running runnable blocked sleeping unknown switches migrations wakeups worst "
		   "syscalls "
		   "syscall_time requests bytes"},
	{'n', "rows", OPT_NUMBER, "N", "show N tasks (20 on a terminal, else all); 0: all",
	 AT(rows)},
	{0, "json", OPT_FLAG, NULL, "as JSON: tasks, cpus and irqs, times in nanoseconds",
	 AT(json)},
	{0, "csv", OPT_FLAG, NULL, "the tasks as CSV, times in nanoseconds", AT(csv)},
	CLI_COLOUR_OPTION(AT(colour)),
};

/* ---- columns ---- */

enum unit { NUMBER, TIME, BYTES };

/* What is summed up for tasks and CPUs alike. */
static const struct sum_column {
	struct grid_column column;
	enum unit unit;
	size_t offset; /* in struct top_sums */
	size_t has;    /* in struct top: whether there is anything to sum up */
} sums[] = {
#define SUM(title, name, unit, has)                                                                \
	{                                                                                          \
		{title, #name, true}, unit, offsetof(struct top_sums, name),                       \
			offsetof(struct top, has)                                                  \
	}
	SUM("RUNNING", running, TIME, has_sched),
	SUM("RUNNABLE", runnable, TIME, has_sched),
	SUM("BLOCKED", blocked, TIME, has_sched),
	SUM("SLEEPING", sleeping, TIME, has_sched),
	SUM("UNKNOWN", unknown, TIME, has_sched),
	SUM("SWITCHES", switches, NUMBER, has_sched),
	SUM("MIGRATED", migrations, NUMBER, has_sched),
	SUM("WAKEUPS", wakeups, NUMBER, has_wakeups),
	SUM("WORST", worst, TIME, has_wakeups),
	SUM("SYSCALLS", syscalls, NUMBER, has_syscalls),
	SUM("IN THEM", syscall_time, TIME, has_syscalls),
	SUM("I/O", requests, NUMBER, has_block),
	SUM("BYTES", bytes, BYTES, has_block),
#undef SUM
};

#define MAX_COLUMNS (ARRAY_SIZE(sums) + 6)

static bool is_there(const struct top *top, size_t has)
{
	return *(const bool *)((const char *)top + has);
}

static int64_t sum_of(const struct top_sums *s, const struct sum_column *c)
{
	return *(const int64_t *)(const void *)((const char *)s + c->offset);
}

static void put_amount(struct grid *g, const struct top *top, enum unit unit, int64_t value)
{
	if (unit == NUMBER || (unit == TIME && value && top->ticks))
		grid_number(g, value);
	else if (unit == BYTES)
		grid_shown(g, amount_bytes((uint64_t)value).text, value);
	else if (value)
		grid_shown(g, amount_time((uint64_t)value).text, value);
	else
		grid_shown(g, "-", 0);
}

static void put_sums(struct grid *g, const struct top *top, const struct top_sums *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(sums); i++)
		if (is_there(top, sums[i].has))
			put_amount(g, top, sums[i].unit, sum_of(s, &sums[i]));
}

/* The columns of a table: its own ones and all sums there are. */
static size_t add_sums(const struct top *top, struct grid_column *to, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(sums); i++)
		if (is_there(top, sums[i].has))
			to[n++] = sums[i].column;
	return n;
}

/* ---- order ---- */

struct order {
	const struct sum_column *by;
	const struct dat *dat; /* whose followed tasks come first */
};

static int by_sum(const void *a, const void *b, void *order)
{
	const struct order *o = order;
	const struct top_task *x = *(struct top_task *const *)a, *y = *(struct top_task *const *)b;
	const int64_t u = sum_of(&x->sums, o->by), v = sum_of(&y->sums, o->by);
	const bool xf = dat_follows(o->dat, (int32_t)x->pid),
		   yf = dat_follows(o->dat, (int32_t)y->pid);

	if (xf != yf)
		return xf ? -1 : 1;
	return u != v ? (u < v) - (u > v) : (x->pid > y->pid) - (x->pid < y->pid);
}

static int by_number(const void *a, const void *b)
{
	const struct top_cpu *x = *(struct top_cpu *const *)a, *y = *(struct top_cpu *const *)b;

	return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

static int by_time(const void *a, const void *b)
{
	const struct top_irq *x = *(struct top_irq *const *)a, *y = *(struct top_irq *const *)b;

	if (x->time != y->time)
		return x->time < y->time ? 1 : -1;
	if (x->soft != y->soft)
		return x->soft ? 1 : -1;
	return (x->number > y->number) - (x->number < y->number);
}

static const struct sum_column *find_sum(const char *name)
{
	struct suggest near = suggest_for(name, strlen(name));

	for (size_t i = 0; i < ARRAY_SIZE(sums); i++) {
		if (strcmp(sums[i].column.name, name) == 0 ||
		    strcasecmp(sums[i].column.title, name) == 0)
			return &sums[i];
		suggest_try(&near, sums[i].column.name);
	}
	cli_error("--sort: there is no column '%s'%s", name,
		  suggest_hint_or(&near, ": running, runnable, blocked, sleeping, unknown, "
					 "switches, migrations, wakeups, worst, syscalls, "
					 "syscall_time, requests or bytes"));
	return NULL;
}

/* ---- tables ---- */

static void show_tasks(const struct top_command *o, const struct top *top, enum grid_format format,
		       struct buf *out)
{
	struct grid_column columns[MAX_COLUMNS] = {{"TASK", "comm", false}, {"PID", "pid", true}};
	const size_t rows =
		o->rows > 0 && (size_t)o->rows < top->tasks.n ? (size_t)o->rows : top->tasks.n;
	scoped_grid g = grid_of(columns, add_sums(top, columns, 2));

	for (size_t i = 0; i < rows; i++) {
		const struct top_task *t = top->tasks.at[i];

		grid_text(&g, t->comm);
		grid_number(&g, t->pid);
		put_sums(&g, top, &t->sums);
	}
	grid_put(&g, format, o->use_colour, out);
	if (rows < top->tasks.n && format == GRID_TEXT)
		buf_printf(out, "… and %zu more (-n)\n", top->tasks.n - rows);
}

static void show_cpus(const struct top_command *o, const struct top *top, enum grid_format format,
		      struct buf *out)
{
	struct grid_column columns[MAX_COLUMNS] = {{"CPU", "cpu", true}, {"IDLE", "idle", true}};
	size_t n = add_sums(top, columns, 2);
	struct grid g;

	if (top->has_irqs) {
		columns[n++] = (struct grid_column){"IRQS", "irqs", true};
		columns[n++] = (struct grid_column){"IN THEM", "irq_time", true};
		columns[n++] = (struct grid_column){"SOFTIRQS", "softirqs", true};
		columns[n++] = (struct grid_column){"IN THEM", "softirq_time", true};
	}
	grid_init(&g, columns, n);
	for (size_t i = 0; i < top->cpus.n; i++) {
		const struct top_cpu *c = top->cpus.at[i];

		grid_number(&g, c->cpu);
		put_amount(&g, top, TIME, c->idle);
		put_sums(&g, top, &c->sums);
		if (top->has_irqs) {
			grid_number(&g, (int64_t)c->irqs);
			put_amount(&g, top, TIME, c->irq_time);
			grid_number(&g, (int64_t)c->softirqs);
			put_amount(&g, top, TIME, c->softirq_time);
		}
	}
	grid_put(&g, format, o->use_colour, out);
	grid_free(&g);
}

static void show_irqs(const struct top_command *o, const struct top *top, enum grid_format format,
		      struct buf *out)
{
	static const struct grid_column columns[] = {
		{"INTERRUPT", "name", false}, {"KIND", "kind", false}, {"NR", "number", true},
		{"COUNT", "count", true},     {"TIME", "time", true},  {"AVERAGE", "average", true},
		{"LONGEST", "longest", true},
	};
	scoped_grid g = grid_of(columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < top->irqs.n; i++) {
		const struct top_irq *q = top->irqs.at[i];

		grid_text(&g, q->name);
		grid_text(&g, q->soft ? "softirq" : "irq");
		grid_number(&g, q->number);
		grid_number(&g, (int64_t)q->count);
		put_amount(&g, top, TIME, q->time);
		put_amount(&g, top, TIME, q->timed ? q->time / (int64_t)q->timed : 0);
		put_amount(&g, top, TIME, q->longest);
	}
	grid_put(&g, format, o->use_colour, out);
}

static void show_text(const struct top_command *o, const struct top *top, struct buf *out)
{
	show_tasks(o, top, GRID_TEXT, out);
	buf_putc(out, '\n');
	show_cpus(o, top, GRID_TEXT, out);
	if (top->irqs.n) {
		buf_putc(out, '\n');
		show_irqs(o, top, GRID_TEXT, out);
	}
}

static void show_json(const struct top_command *o, const struct top *top, struct buf *out)
{
	buf_puts(out, "{\"tasks\":");
	show_tasks(o, top, GRID_JSON, out);
	buf_puts(out, ",\n\"cpus\":");
	show_cpus(o, top, GRID_JSON, out);
	buf_puts(out, ",\n\"irqs\":");
	show_irqs(o, top, GRID_JSON, out);
	buf_puts(out, "}\n");
}

/* For a damaged file, the message about the damage is enough. */
static void say_what_is_missing(const struct top_command *o, const struct spur_trace *t,
				const struct top *top)
{
	if (top->full)
		cli_error("more tasks than fit into memory: those that came last are left out");
	if (t->dat->damage.code)
		return;
	onefile_say_missing(t);
	if (!top->has_sched)
		cli_error("%s: it describes no sched_switch: there are no times of tasks; "
			  "'spur record -e sched -e irq' records what this shows",
			  t->dat->path);
	else if (!top->cpus.n && range_is_part(&o->range))
		cli_error("%s: nothing in it matches the options", t->dat->path);
	else if (!top->cpus.n)
		cli_error("%s: there are no events of tasks in it; 'spur record -e sched -e irq' "
			  "records them",
			  t->dat->path);
}

static void sort_all(struct top *top, const struct sum_column *sort, const struct dat *dat)
{
	struct order order = {sort, dat};

	if (top->tasks.n)
		qsort_r(top->tasks.at, top->tasks.n, sizeof(*top->tasks.at), by_sum, &order);
	if (top->cpus.n)
		qsort(top->cpus.at, top->cpus.n, sizeof(*top->cpus.at), by_number);
	if (top->irqs.n)
		qsort(top->irqs.at, top->irqs.n, sizeof(*top->irqs.at), by_time);
}

static int put_all(const struct top_command *o, const struct top *top, bool stopped)
{
	scoped_buf out = buf_new(ONEFILE_TEXT);

	if (o->json)
		show_json(o, top, &out);
	else if (o->csv)
		show_tasks(o, top, GRID_CSV, &out);
	else
		show_text(o, top, &out);
	buf_puts(&out, stopped && !o->json && !o->csv ? ONEFILE_STOPPED : "");
	return cli_write_coloured(out.data, out.len);
}

static int show(struct top_command *o, const struct sum_column *sort, struct spur_trace *t)
{
	struct top_options opt = {.wanted = range_task, .arg = &o->range};
	struct spur_error err = {0};
	struct top top = {0};
	int rc = range_walk(&o->range, t, &opt.walk, &err), status;
	bool stopped;

	if (rc < 0)
		return cli_fail(&err);
	rc = top_make(&top, t, &opt, &err);
	progress_end(&o->range.progress);
	stopped = rc == -EINTR;
	/* What has been read is shown. */
	if (stopped)
		err = (struct spur_error){0};
	if (rc == 0 || stopped) {
		sort_all(&top, sort, t->dat);
		rc = put_all(o, &top, stopped);
	}
	if (rc == 0 && !stopped)
		say_what_is_missing(o, t, &top);
	top_free(&top);
	status = cli_result(rc, "writing the tables", &err);
	return status == SPUR_OK && stopped ? 128 + cli_stop : status;
}

static int run(void *options, int others, char **argv)
{
	struct top_command *o = options;
	const struct sum_column *sort = find_sum(o->sort);
	struct spur_trace *t;
	int status;

	if (!sort)
		return SPUR_USAGE;
	if (o->rows == NOT_GIVEN)
		o->rows = cli_on_terminal() ? 20 : 0;
	if (o->rows < 0)
		return cli_wrong("-n is a number from 0 on, 0: all");
	if (o->json && o->csv)
		return cli_wrong("--json or --csv, not both");
	if (!cli_colour(o->colour, &o->use_colour))
		return SPUR_USAGE;
	t = onefile_open(&command_top, o->range.input, others, argv, &status);
	return t ? onefile_close(t, show(o, sort, t)) : status;
}

const struct command command_top = {
	.name = "top",
	.summary = "sum up who ran, who waited and what interrupted",
	.usage = "[options] [FILE]",
	COMMAND_OPTS(opts, struct top_command),
	COMMAND_SHARED(range_opts),
	.defaults =
		&(const struct top_command){.sort = "running", .colour = "auto", .rows = NOT_GIVEN},
	.run = run,
};
