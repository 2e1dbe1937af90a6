// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur functions`: what functions cost, in the columns that users of fdd know by their letters. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/grid.h"
#include "base/suggest.h"
#include "base/vec.h"
#include "cli/onefile.h"
#include "cli/range.h"
#include "stats/callgraph.h"

enum { BY_NOBODY, BY_TASK, BY_CPU };

struct functions_command {
	struct range_options range;
	const char *columns, *sort, *by, *colour;
	int64_t rows;
	const char *longer;
	uint64_t longer_ns;
	bool on_cpu, ns, json, csv, markdown, use_colour;
	struct globs names;
	int group;
	enum cg_order order;
};

/* A column and the letter that it is chosen by. */
struct letter {
	char letter;
	bool timed; /* makes no sense without durations */
	struct grid_column column;
};

static uint64_t timed_calls(const struct cg_function *f)
{
	return f->calls - f->open;
}

/* Nothing is known about a function if none of its calls has a known duration. */
static void put_time(const struct functions_command *o, const struct cg_function *f, struct grid *g,
		     int64_t ns)
{
	char text[40];

	if (!timed_calls(f)) {
		grid_empty(g);
		return;
	}
	if (o->ns)
		snprintf(text, sizeof(text), "%lld", (long long)ns);
	else
		snprintf(text, sizeof(text), "%.3f", (double)ns / 1000);
	grid_shown(g, text, ns);
}

static void put_cell(const struct functions_command *o, char letter, const struct callgraph *cg,
		     const struct cg_function *f, struct grid *g)
{
	const struct cg_arc *longest = letter == 'm' || letter == 'n' ? callgraph_longest(f) : NULL;
	const int64_t timed = (int64_t)timed_calls(f);

	switch (letter) {
	case 'f': grid_text(g, f->name); return;
	case 'c': grid_number(g, (int64_t)f->calls); return;
	case 't': put_time(o, f, g, f->total); return;
	case 'a': put_time(o, f, g, timed ? f->total / timed : 0); return;
	case 'r': put_time(o, f, g, f->min); return;
	case 'R': put_time(o, f, g, f->max); return;
	case 'l': put_time(o, f, g, f->self); return;
	case 's': put_time(o, f, g, f->total - f->self); return;
	case 'p':
		grid_decimal(g, cg->total ? 100.0 * (double)f->self / (double)cg->total : 0, 1);
		return;
	}
	if (letter == 'o' && cg->has_off)
		put_time(o, f, g, f->off_cpu);
	else if (letter == 'm' && longest)
		grid_text(g, longest->to->name);
	else if (letter == 'n' && longest)
		grid_number(g, (int64_t)longest->calls);
	else
		grid_empty(g);
}

static const struct letter letters[] = {
	{'f', false, {"Function", "function", false}},
	{'c', false, {"Count", "count", true}},
	{'t', true, {"Time", "time", true}},
	{'a', true, {"Average", "average", true}},
	{'r', true, {"Min", "min", true}},
	{'R', true, {"Max", "max", true}},
	{'l', true, {"Local", "local", true}},
	{'s', true, {"Sub", "sub", true}},
	{'o', true, {"Off-CPU", "off_cpu", true}},
	{'p', true, {"%", "percent", true}},
	{'m', false, {"Max-sub", "max_sub", false}},
	{'n', false, {"Sub-count", "max_sub_count", true}},
};

/* NULL: there is none. F and f are the same, as in fdd; for others case counts. */
static const struct letter *functions_letter(char c)
{
	for (size_t i = 0; i < ARRAY_SIZE(letters); i++)
		if (letters[i].letter == (c == 'F' ? 'f' : c))
			return &letters[i];
	return NULL;
}

#define DEFAULT_COLUMNS "fctarRlmn"
#define MAX_COLUMNS	16

#define AT(field) offsetof(struct functions_command, field)

static const struct opt opts[] = {
	{'n', "rows", OPT_NUMBER, "N", "only the first N functions; 0: all", AT(rows)},
	{'s', "sort", OPT_STRING, "COLUMN", "total, self, calls, average, min, max or name (total)",
	 AT(sort), .values = "total self calls average min max name"},
	{'f', "columns", OPT_STRING, "LETTERS",
	 "f function, c count, t time, a average, r shortest, R longest, l local time, s time in "
	 "callees, o scheduled out, m longest callee, n its count, p percent (" DEFAULT_COLUMNS ")",
	 AT(columns)},
	{'t', "longer", OPT_STRING, "TIME", "only functions that took longer in all: 10ms, 0.5",
	 AT(longer)},
	{0, "function", OPT_GLOBS, "NAME", "only this function; * and ? are wildcards", AT(names)},
	{0, "by", OPT_STRING, "WHAT", "a table for each task or cpu", AT(by), .values = "task cpu"},
	{0, "on-cpu", OPT_FLAG, NULL, "leave out the time tasks were scheduled out", AT(on_cpu)},
	{0, "ns", OPT_FLAG, NULL, "times in nanoseconds instead of microseconds", AT(ns)},
	{0, "json", OPT_FLAG, NULL, "as JSON, times in nanoseconds", AT(json)},
	{0, "csv", OPT_FLAG, NULL, "as CSV, times in nanoseconds", AT(csv)},
	{0, "markdown", OPT_FLAG, NULL, "as a Markdown table", AT(markdown)},
	CLI_COLOUR_OPTION(AT(colour)),
};

/* ---- tables ---- */

static bool is_shown(const struct functions_command *o, const struct cg_function *f)
{
	if (!f->calls || (uint64_t)f->total < o->longer_ns)
		return false;
	return !o->names.n || globs_match(&o->names, f->name);
}

struct group {
	char *title; /* NULL: all */
	int64_t key;
	struct callgraph graph;
};

struct groups {
	struct group **at;
	size_t n, cap;
};

/* The columns that make sense for this trace; the task or CPU comes first. */
static size_t choose_columns(const struct functions_command *o, bool timed,
			     struct grid_column *columns, const struct letter **shown)
{
	size_t n = 0;

	if (o->group) {
		shown[n] = NULL;
		columns[n++] = (struct grid_column){o->group == BY_CPU ? "CPU" : "Task",
						    o->group == BY_CPU ? "cpu" : "task", false};
	}
	for (const char *c = o->columns; *c && n < MAX_COLUMNS; c++) {
		const struct letter *l = functions_letter(*c);

		if (l->timed && !timed)
			continue;
		shown[n] = l;
		columns[n++] = l->column;
	}
	return n;
}

static void put_rows(const struct functions_command *o, struct group *group,
		     const struct letter *const *shown, size_t n, struct grid *g)
{
	const struct callgraph *cg = &group->graph;
	int64_t left = o->rows > 0 ? o->rows : INT64_MAX;

	callgraph_sort(&group->graph, o->order);
	for (size_t i = 0; i < cg->functions.n && left; i++) {
		if (!is_shown(o, cg->functions.at[i]))
			continue;
		left--;
		for (size_t k = 0; k < n; k++) {
			if (shown[k])
				put_cell(o, shown[k]->letter, cg, cg->functions.at[i], g);
			else
				grid_text(g, group->title ? group->title : "-");
		}
	}
}

/* A table of some groups; false when memory has run out. */
static bool put_table(const struct functions_command *o, struct group *const *groups, size_t nr,
		      struct buf *out)
{
	const enum grid_format format = o->json	      ? GRID_JSON
					: o->csv      ? GRID_CSV
					: o->markdown ? GRID_MARKDOWN
						      : GRID_RULED;
	struct grid_column columns[MAX_COLUMNS];
	const struct letter *shown[MAX_COLUMNS];
	const size_t n = choose_columns(o, !nr || groups[0]->graph.timed, columns, shown);
	scoped_grid g = grid_of(columns, n);

	for (size_t i = 0; i < nr; i++)
		put_rows(o, groups[i], shown, n, &g);
	grid_put(&g, format, o->use_colour, out);
	return !g.failed;
}

/* For people a table for each group; programs get one. */
static bool put_tables(const struct functions_command *o, const struct groups *groups,
		       struct buf *out)
{
	bool ok = true;

	if (o->json || o->csv) {
		ok = put_table(o, groups->at, groups->n, out);
		buf_puts(out, o->json ? "\n" : "");
		return ok;
	}
	for (size_t i = 0; i < groups->n; i++) {
		buf_puts(out, i ? "\n" : "");
		ok &= put_table(o, &groups->at[i], 1, out);
	}
	return ok;
}

/* ---- reading ---- */

struct reading {
	struct functions_command *o;
	struct groups groups;
	struct map by_key;
	bool failed;
};

static void set_title(const struct functions_command *o, struct group *g, const char *comm)
{
	int n = 0;

	if (o->group == BY_TASK)
		n = asprintf(&g->title, "%s-%lld", comm ? comm : "<...>", (long long)g->key);
	else if (o->group == BY_CPU && g->key != ROW_NULL)
		n = asprintf(&g->title, "%lld", (long long)g->key);
	if (n < 0)
		g->title = NULL;
}

static struct callgraph *graph_of(void *arg, int64_t pid, const char *comm, int64_t cpu)
{
	struct reading *rd = arg;
	const int64_t key = rd->o->group == BY_TASK ? pid : rd->o->group == BY_CPU ? cpu : 0;
	struct group *g = map_get(&rd->by_key, (uint64_t)key), **slot;

	if (g)
		return &g->graph;
	g = calloc(1, sizeof(*g));
	slot = g ? vec_push(&rd->groups) : NULL;
	if (!slot) {
		rd->failed = true;
		free(g);
		return NULL;
	}
	*slot = g;
	g->key = key;
	callgraph_init(&g->graph);
	set_title(rd->o, g, comm);
	rd->failed |= !map_set(&rd->by_key, (uint64_t)key, g);
	return &g->graph;
}

static bool is_wanted(void *arg, int64_t pid, const char *comm)
{
	return range_task(&((struct reading *)arg)->o->range, pid, comm);
}

static void free_reading(struct reading *rd)
{
	for (size_t i = 0; i < rd->groups.n; i++) {
		callgraph_free(&rd->groups.at[i]->graph);
		free(rd->groups.at[i]->title);
		free(rd->groups.at[i]);
	}
	vec_free(&rd->groups);
	map_free(&rd->by_key);
}

static int read_trace(struct functions_command *o, struct spur_trace *t, struct reading *rd,
		      struct spur_error *err)
{
	struct callgraph_reader r = {
		.trace = t, .on_cpu = o->on_cpu, .wanted = is_wanted, .graph = graph_of, .arg = rd};
	int rc = range_walk(&o->range, t, &r.walk, err);

	/* Samples have no calls that could be counted. */
	for (r.source = CG_FROM_CALLS; rc == 0 && !rd->groups.n && r.source <= CG_FROM_ENTRIES;
	     r.source++)
		rc = callgraph_read(&r, err);
	return rc;
}

static int by_key(const void *a, const void *b)
{
	const struct group *x = *(struct group *const *)a, *y = *(struct group *const *)b;

	return (x->key > y->key) - (x->key < y->key);
}

/* Nothing, or not all that was asked for: why. */
static int say_what_is_missing(const struct functions_command *o, const struct spur_trace *t,
			       const struct groups *groups)
{
	bool off = false;

	for (size_t i = 0; i < groups->n; i++)
		off |= groups->at[i]->graph.has_off;
	if (groups->n && o->on_cpu && !off)
		cli_error("%s: when tasks were scheduled out is not known; 'spur record -e "
			  "sched_switch' records it",
			  t->dat->path);
	if (groups->n)
		return SPUR_OK;
	if (range_is_part(&o->range))
		cli_error("%s: none of its function calls matches the options", t->dat->path);
	else
		cli_error("%s: there are no function calls in it; 'spur record -p function_graph' "
			  "records them",
			  t->dat->path);
	return SPUR_INCOMPLETE;
}

static int show(struct functions_command *o, struct spur_trace *t)
{
	struct reading rd = {.o = o};
	struct spur_error err = {0};
	int rc = read_trace(o, t, &rd, &err), status = SPUR_OK;
	const bool stopped = rc == -EINTR;
	bool full = false;
	scoped_buf out = buf_new(ONEFILE_TEXT);

	progress_end(&o->range.progress);
	/* What has been read is shown. */
	if (stopped)
		err = (struct spur_error){0};
	if (rd.groups.n)
		qsort(rd.groups.at, rd.groups.n, sizeof(*rd.groups.at), by_key);
	for (size_t i = 0; i < rd.groups.n; i++)
		full |= rd.groups.at[i]->graph.full;
	if (rc == 0 || stopped) {
		full |= !put_tables(o, &rd.groups, &out) || buf_full(&out);
		buf_puts(&out, stopped && !o->json && !o->csv ? ONEFILE_STOPPED : "");
		rc = cli_write_coloured(out.data, out.len);
	}
	if (stopped)
		status = 128 + cli_stop;
	else if (rc == 0 && !t->dat->damage.code)
		status = say_what_is_missing(o, t, &rd.groups);
	if (full || rd.failed)
		cli_error("more functions than fit into memory: those that came last are left out");
	free_reading(&rd);
	rc = cli_result(rc, "writing the table", &err);
	return rc ? rc : status;
}

static bool choose_order(struct functions_command *o)
{
	struct suggest near = suggest_for(o->sort, strlen(o->sort));

	for (int i = 0; i < NR_CG_ORDERS; i++) {
		o->order = (enum cg_order)i;
		if (strcmp(o->sort, cg_orders[i]) == 0)
			return true;
		suggest_try(&near, cg_orders[i]);
	}
	return cli_complain("--sort: there is no column '%s'%s", o->sort,
			    suggest_hint_or(&near, ": total, self, calls, average, min, max or "
						   "name"));
}

static int check(struct functions_command *o)
{
	for (const char *c = o->columns; *c; c++)
		if (!functions_letter(*c) || c - o->columns >= MAX_COLUMNS - 1)
			return cli_wrong(
				"--columns: there is no column '%c'; see 'spur functions --help'",
				*c);
	if (!*o->columns)
		return cli_wrong("--columns: there must be one at least");
	o->group = !o->by			? BY_NOBODY
		   : strcmp(o->by, "task") == 0 ? BY_TASK
		   : strcmp(o->by, "cpu") == 0	? BY_CPU
						: -1;
	if (o->group < 0)
		return cli_wrong("--by: '%s' is neither task nor cpu", o->by);
	if (o->rows < 0)
		return cli_wrong("-n is a number from 0 on, 0: all");
	if (o->json + o->csv + o->markdown > 1)
		return cli_wrong("--json, --csv or --markdown, one of them");
	if (o->longer && !parse_time(o->longer, &o->longer_ns))
		return cli_wrong("--longer: '%s' is not a time", o->longer);
	return choose_order(o) && cli_colour(o->colour, &o->use_colour) ? SPUR_OK : SPUR_USAGE;
}

static int run(void *options, int others, char **argv)
{
	struct functions_command *o = options;
	struct spur_trace *t;
	int status = check(o);

	if (status != SPUR_OK)
		return status;
	t = onefile_open(&command_functions, o->range.input, others, argv, &status);
	return t ? onefile_close(t, show(o, t)) : status;
}

const struct command command_functions = {
	.name = "functions",
	.summary = "list functions by time and count, with their longest callee",
	.usage = "[options] [FILE]",
	COMMAND_OPTS(opts, struct functions_command),
	COMMAND_SHARED(range_opts),
	.defaults = &(const struct functions_command){.columns = DEFAULT_COLUMNS,
						      .sort = "total",
						      .colour = "auto"},
	.run = run,
};
