// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur latency`: how long things take, of a trace or of the running kernel. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "cli/latency.h"
#include "cli/live.h"
#include "cli/onefile.h"
#include "cli/script.h"
#include "measure/latency_live.h"
#include "table/feed.h"
#include "table/pairs.h"

#define MAX_WORST  1000
#define ABOUT_TEXT 1024
#define NOT_GIVEN  INT64_MIN
#define FEW_WORST  5 /* shown by default, without why they waited */

static int take_step(void *options, const struct opt *o, const char *arg)
{
	int rc = opt_set_time(options, o, arg);
	const struct latency_command *c = options;

	if (rc == 0 && (!c->linear || c->linear > INT64_MAX / 2048))
		return opt_error(o, "'%s' is not a step", arg);
	return rc;
}

static int take_live(void *options, const struct opt *o, const char *arg)
{
	((struct latency_command *)options)->is_live = true;
	return opt_set_time(options, o, arg);
}

static int take_interval(void *options, const struct opt *o, const char *arg)
{
	const struct latency_command *c = options;
	int rc = opt_set_time(options, o, arg);

	return rc == 0 && c->interval < 1000 ? opt_error(o, "at least 1us") : rc;
}

#define AT(field) offsetof(struct latency_command, field)

static const struct opt opts[] = {
	{.kind = OPT_GROUP, .help = "What is measured"},
	{0, "from", OPT_STRING, "EVENT[/FILTER/]", "from this event, instead of a KIND …",
	 AT(from)},
	{0, "to", OPT_STRING, "EVENT[/FILTER/]", "… to this one", AT(to)},
	{0, "period", OPT_STRING, "EVENT[/FILTER/]", "from this event to the next one", AT(period)},
	{0, "match", OPT_STRING, "FIELD[=FIELD][,...]", "both events have these in common",
	 AT(match)},
	{0, "first", OPT_FLAG, NULL, "of several --from, measure from the first, not the last",
	 AT(first)},
	{.kind = OPT_GROUP, .help = "How it is shown"},
	{0, "by", OPT_STRING, "COLUMN[,...]", "by task, pid, cpu, …; \"none\": all together",
	 AT(by)},
	{0, "sort", OPT_STRING, "WORD", "max (default), count, avg, p99, total or name", AT(sort),
	 .values = "max count avg p99 total name"},
	{0, "top", OPT_NUMBER, "N", "show N groups (20); 0: all", AT(top)},
	{0, "worst", OPT_NUMBER, "N", "show N of the longest (5), and why they waited", AT(worst)},
	{0, "around", OPT_TIME, "TIME", "and the events for TIME before and after each",
	 AT(around)},
	{0, "linear", OPT_CALL, "STEP", "a histogram by this step instead of powers of two",
	 AT(linear), take_step},
	{0, "each", OPT_FLAG, NULL, "a histogram for each group", AT(each)},
	{0, "no-hist", OPT_FLAG, NULL, "no histogram", AT(no_hist)},
	{0, "ns", OPT_FLAG, NULL, "numbers of nanoseconds, without units", AT(ns)},
	{0, "json", OPT_FLAG, NULL, "a JSON object", AT(json)},
	{0, "csv", OPT_FLAG, NULL, "comma-separated values, a line a group", AT(csv)},
	{.kind = OPT_GROUP, .help = "The running kernel"},
	{0, "live", OPT_CALL, "TIME", "measure it for TIME; 0: until Ctrl-C", AT(live), take_live},
	{0, "interval", OPT_CALL, "TIME", "with --live: also show it every TIME", AT(interval),
	 take_interval},
	{0, "script", OPT_FLAG, NULL, "with --live: print the script for 'spur script' instead",
	 AT(script)},
	{.kind = OPT_GROUP, .help = "Which part of it"},
};

/* ---- what is asked for ---- */

struct asked {
	struct latency_command *o;
	const struct latency_kind *kind;
	struct pairs_options pairs;
	bool is_pairs;
	const char *file; /* NULL: the usual one */
	const char *by;
	enum latency_order order;
	char about[ABOUT_TEXT];
};

static bool is_kind(const char *word)
{
	for (const struct latency_kind *k = latency_kinds; k->name; k++)
		if (strcmp(k->name, word) == 0)
			return true;
	return false;
}

/* [KIND] [FILE], in any order; a word that is neither counts as a kind. */
static int take_words(struct asked *a, int others, char **argv)
{
	const char *kind = NULL, *file = a->o->range.input;
	struct spur_error err = {0};
	bool several = false;

	for (int i = 0; i < others; i++) {
		const bool named = is_kind(argv[i]);
		const bool there = strpbrk(argv[i], "/.") || strcmp(argv[i], "-") == 0 ||
				   access(argv[i], F_OK) == 0;

		if (!kind && (a->is_pairs ? named && !there : named || !there)) {
			kind = argv[i];
			continue;
		}
		several |= file != NULL;
		file = argv[i];
	}
	if (kind && a->is_pairs)
		return cli_wrong("a KIND, or --from and --to, or --period");
	if (file && a->o->is_live)
		return cli_wrong("a trace or --live, not both");
	if (several)
		return cli_wrong("latency reads one file");
	a->file = file;
	a->kind = a->is_pairs ? &latency_of_pairs : latency_kind_find(kind ? kind : "wakeup", &err);
	return a->kind ? SPUR_OK : cli_fail(&err);
}

static int take_pairs(struct asked *a)
{
	const struct latency_command *o = a->o;

	a->is_pairs = o->from || o->to || o->period;
	if (o->period && (o->from || o->to))
		return cli_wrong("--period, or --from and --to");
	if (a->is_pairs && !o->period && (!o->from || !o->to))
		return cli_wrong("--from and --to belong together");
	if (!a->is_pairs && (o->match || o->first))
		return cli_wrong("--match and --first are for --from and --to");
	a->pairs = (struct pairs_options){.from = o->period ? o->period : o->from,
					  .to = o->to,
					  .match = o->match,
					  .first = o->first};
	snprintf(a->about, sizeof(a->about),
		 o->period ? "from %s to the next%.0s%s%s" : "from %s to %s%s%s", a->pairs.from,
		 o->to ? o->to : "", o->match ? " of the same " : "", o->match ? o->match : "");
	return SPUR_OK;
}

static int take_order(struct asked *a)
{
	static const char *const words[] = {
		[LATENCY_BY_MAX] = "max", [LATENCY_BY_COUNT] = "count", [LATENCY_BY_AVG] = "avg",
		[LATENCY_BY_P99] = "p99", [LATENCY_BY_TOTAL] = "total", [LATENCY_BY_NAME] = "name"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		a->order = (enum latency_order)i;
		if (!a->o->sort || strcmp(a->o->sort, words[i]) == 0)
			return SPUR_OK;
	}
	return cli_wrong("--sort: max, count, avg, p99, total or name, not '%s'", a->o->sort);
}

static int check_options(struct asked *a, int others, char **argv)
{
	const struct latency_command *o = a->o;
	int status = take_pairs(a);

	if (status == SPUR_OK)
		status = take_order(a);
	if (status == SPUR_OK)
		status = take_words(a, others, argv);
	if (status != SPUR_OK)
		return status;
	if (o->top < 0 || o->worst < 0 || o->worst > MAX_WORST)
		return cli_wrong("--top and --worst are numbers from 0 on, --worst up to 1000");
	if (o->json && o->csv)
		return cli_wrong("--json or --csv, not both");
	if ((o->interval || o->script) && !o->is_live)
		return cli_wrong("--interval and --script are for --live");
	if (o->is_live && (o->around || o->linear || o->range.since || o->range.until))
		return cli_wrong(
			"--around, --linear, --since and --until are for a trace, not --live");
	a->by = o->by ? o->by : a->kind->by;
	if (a->by && strcmp(a->by, "none") == 0)
		a->by = NULL;
	if (!a->is_pairs)
		snprintf(a->about, sizeof(a->about), "%s", a->kind->about);
	return SPUR_OK;
}

static int print(const struct latency_shown *s, struct spur_error *err)
{
	scoped_buf out = buf_new(ONEFILE_TEXT);
	int rc = 0;

	if (s->o->json)
		rc = latency_put_json(s, &out, err);
	else if (s->o->csv)
		latency_put_csv(s, &out);
	else
		rc = latency_put_text(s, &out, err);
	if (rc == 0)
		rc = cli_write(out.data, out.len);
	if (rc == 0 && buf_full(&out))
		cli_error("the text is cut: it would take too much memory");
	return rc;
}

/* ---- of a trace ---- */

struct rows_wanted {
	const struct range_options *range;
	const struct column *pid, *comm, *cpu;
};

static bool row_wanted(void *arg, const void *row)
{
	const struct rows_wanted *w = arg;
	const struct cpu_list *cpus = &w->range->cpus;

	if (cpus->bits && w->cpu && !cpu_list_has(cpus, row_number(w->cpu, row)))
		return false;
	return range_task(w->range, w->pid ? row_number(w->pid, row) : ROW_NULL,
			  w->comm ? row_text(w->comm, row) : NULL);
}

/* There is nothing to measure: says what has to be recorded. */
static int nothing(const struct asked *a, const struct spur_trace *t)
{
	/* For a damaged file, the message about the damage is enough. */
	if (t->dat->damage.code)
		return SPUR_OK;
	if (a->is_pairs)
		cli_error("%s: there are no such events in it", t->dat->path);
	else
		cli_error("%s: the events for it are not there; 'spur record %s' records them",
			  t->dat->path, a->kind->record);
	return SPUR_INCOMPLETE;
}

static bool has_ticks(const struct spur_trace *t)
{
	for (uint32_t i = 0; i < t->nr_buffers; i++)
		if (!t->buffers[i].nanoseconds)
			return true;
	return false;
}

static int run_walk(const struct asked *a, struct spur_trace *t, struct latency *l,
		    struct walk_options *walk, struct feed **feed, struct spur_error *err)
{
	struct range_options *range = &a->o->range;
	int rc = range_walk(range, t, walk, err);

	if (rc < 0)
		return rc;
	/* What begins on a wanted CPU may end on another, so rows are selected, not records. */
	walk->cpus = NULL;
	*feed = feed_new(t, walk);
	feed_add(*feed, l->opt.table, latency_row, l);
	rc = feed_run(*feed, err);
	progress_end(&range->progress);
	return rc;
}

static int measure(const struct asked *a, struct spur_trace *t, const struct table *table,
		   struct pairs *pairs)
{
	struct rows_wanted wanted = {.range = &a->o->range,
				     .pid = latency_column(a->kind, table, "pid", 3),
				     .comm = latency_column(a->kind, table, "comm", 4),
				     .cpu = latency_column(a->kind, table, "cpu", 3)};
	const struct latency_options opt = {
		.kind = a->kind,
		.table = table,
		.by = a->by,
		.worst = (size_t)a->o->worst,
		.linear = (int64_t)a->o->linear,
		.dat = t->dat,
		.wanted = row_wanted,
		.arg = &wanted,
	};
	struct latency l;
	struct latency_shown shown = {.o = a->o,
				      .latency = &l,
				      .name = a->is_pairs ? "latency" : a->kind->name,
				      .about = a->about,
				      .trace = t,
				      .order = a->order,
				      .ticks = has_ticks(t)};
	struct walk_options walk;
	struct feed *feed = NULL;
	struct spur_error err = {0};
	int rc = latency_init(&l, &opt, &err), status;

	if (rc == 0)
		rc = run_walk(a, t, &l, &walk, &feed, &err);
	shown.stopped = rc == -EINTR;
	shown.forgotten = pairs ? pairs_forgotten(pairs) : 0;
	if (shown.stopped) {
		/* Shows what was read so far; a second Ctrl-C stops that too. */
		err = (struct spur_error){0};
		rc = 0;
	}
	if (rc == 0)
		rc = latency_finish(&l, a->order, &err);
	if (rc == 0 && !l.seen && !shown.stopped) {
		status = nothing(a, t);
	} else {
		if (rc == 0)
			rc = print(&shown, &err);
		status = cli_result(rc, "writing the latencies", &err);
	}
	if (status == SPUR_OK && shown.stopped)
		status = 128 + cli_stop;
	feed_free(feed);
	latency_free(&l);
	return status;
}

static int of_trace(const struct asked *a)
{
	struct spur_error err = {0};
	const struct table *table = NULL;
	struct pairs *pairs = NULL;
	struct spur_trace *t;
	char *none[] = {NULL};
	int status;

	t = onefile_open(&command_latency, a->file, 0, none, &status);
	if (!t)
		return status;
	if (a->is_pairs) {
		pairs = pairs_new(t, &a->pairs, &err);
		table = pairs ? pairs_table(pairs) : NULL;
	} else {
		table = table_find(a->kind->table);
	}
	if (table && (pairs || table_possible(table, t)))
		status = measure(a, t, table, pairs);
	else if (table)
		status = nothing(a, t);
	else if (a->is_pairs)
		status = err.code == -ENOENT ? (cli_fail(&err), SPUR_USAGE) : cli_fail(&err);
	else
		status = cli_wrong("this version cannot measure that");
	if (status == SPUR_OK && (pairs || table_possible(table, t)))
		onefile_say_missing(t);
	pairs_free(pairs);
	return onefile_close(t, status);
}

/* ---- of the running kernel ---- */

struct live_state {
	const struct asked *a;
	struct spur_error err;
	int rc;
};

static void show_live(void *arg, struct latency *l)
{
	struct live_state *s = arg;
	const struct latency_shown shown = {.o = s->a->o,
					    .latency = l,
					    .name = s->a->is_pairs ? "latency" : s->a->kind->name,
					    .about = s->a->about,
					    .order = s->a->order};

	if (s->rc == 0)
		s->rc = print(&shown, &s->err);
	if (s->rc == 0 && s->a->o->interval && !s->a->o->json && !s->a->o->csv)
		s->rc = cli_write("\n", 1);
}

static int of_kernel(const struct asked *a)
{
	struct live_state state = {.a = a};
	struct latency_live live = {
		.kind = a->kind,
		.pairs = a->is_pairs ? &a->pairs : NULL,
		.by = a->by,
		.who = range_who(&a->o->range),
		.duration = a->o->live,
		.interval = a->o->interval,
		.order = a->order,
		.stop_fd = -1,
		.show = show_live,
		.note = cli_note,
		.arg = &state,
	};
	struct spur_error err = {0};
	struct tracefs fs;
	struct buf text;
	int unused, rc;

	live_try(&fs);
	if (a->o->script) {
		buf_init(&text, ONEFILE_TEXT);
		rc = latency_live_script(&live, &text, &err);
		if (rc == 0)
			rc = cli_write(text.data, text.len);
		buf_free(&text);
		return cli_result(rc, "writing the script", &err);
	}
	if (!script_signals(&live.stop_fd, &unused))
		return cli_wrong("cannot wait for signals");
	rc = latency_live(&live, &err);
	if (rc == 0 && state.rc < 0) {
		rc = state.rc;
		err = state.err;
	}
	/* Whatever failed, the missing privilege is the reason. */
	if (rc < 0 && rc != -EINTR && geteuid() != 0)
		return cli_refused("only root can measure the running kernel");
	return cli_result(rc, "measuring", &err);
}

static int run(void *options, int others, char **argv)
{
	struct latency_command *o = options;
	struct asked a = {.o = o};
	int status;

	o->explain = o->worst != NOT_GIVEN;
	if (!o->explain)
		o->worst = FEW_WORST;
	status = check_options(&a, others, argv);
	if (status != SPUR_OK)
		return status;
	return o->is_live ? of_kernel(&a) : of_trace(&a);
}

const struct command command_latency = {
	.name = "latency",
	.summary = "show how long things take: wakeups, system calls, from any event to another",
	.usage = "[OPTION...] [KIND] [FILE]\n"
		 "       KIND: wakeup, sched, irq, softirq, softirq-time, syscall, block, futex",
	COMMAND_OPTS(opts, struct latency_command),
	.defaults = &(const struct latency_command){.top = 20, .worst = NOT_GIVEN},
	.run = run,
	COMMAND_SHARED(range_opts),
};
