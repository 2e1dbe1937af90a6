// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The name fdd: the table that fdd 0.7.2 prints of the function_duration tracer's text, with its
 * options, of that text or of any trace with function calls.
 *
 * Times are whole microseconds in columns of fixed width, as there. The callee that took longest is
 * the one that took longest in calls by this function; fdd takes the one with the largest total.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/intern.h"
#include "base/vec.h"
#include "cli/onefile.h"
#include "stats/callgraph.h"
#include "table/feed.h"

#define USUAL_COLUMNS "fctal"
#define ALL_COLUMNS   "fctalrsmnx"
#define NAMES_LIMIT   (64u << 20)

struct fdd_options {
	bool list, wide, fields, warnings, statistics, version, debug;
	int64_t rows;
	const char *longer, *columns, *sort, *filter, *interrupt;
	int64_t longer_ns;
	int64_t cpu, pid; /* of the filter; -1: any */
};

#define AT(field) offsetof(struct fdd_options, field)

static const struct opt opts[] = {
	{'d', NULL, OPT_FLAG, NULL, "list the calls by the time they began", AT(list)},
	{'n', NULL, OPT_NUMBER, "NUM", "only the NUM most time-consuming functions", AT(rows)},
	{'t', NULL, OPT_STRING, "TIME",
	 "only functions with more time: nanoseconds, or with us, ms, s", AT(longer)},
	{'i', NULL, OPT_STRING, "FUNCTION",
	 "this function is an interrupt, which no function calls", AT(interrupt)},
	{'e', NULL, OPT_STRING, "EXPR", "only calls with cpu==X or pid==Y", AT(filter)},
	{'f', NULL, OPT_STRING, "LETTERS", "these columns (" USUAL_COLUMNS "), see --fields",
	 AT(columns)},
	{0, "fields", OPT_FLAG, NULL, "list the columns and their letters", AT(fields)},
	{'l', NULL, OPT_FLAG, NULL, "long listing: the columns " ALL_COLUMNS, AT(wide)},
	{'s', NULL, OPT_STRING, "LETTER", "sort by this column: f, c, t, a, s or l (t)", AT(sort)},
	{'w', NULL, OPT_FLAG, NULL, "say which calls have no known caller", AT(warnings)},
	{'z', NULL, OPT_FLAG, NULL, "show statistics about the data", AT(statistics)},
	{'V', "version", OPT_FLAG, NULL, "show the version", AT(version)},
	{0, "debug", OPT_FLAG, NULL, "accepted; does nothing", AT(debug)},
};

/* ---- columns ---- */

static long long micros(int64_t ns)
{
	return ns / 1000;
}

static const struct fdd_column {
	char letter;
	const char *title;
	int width;
	const char *about;
} columns[] = {
	{'f', "Function", 30, "the name of the function"},
	{'c', "Count", 5, "how often it was called"},
	{'t', "Time", 8, "the time spent in it, microseconds"},
	{'a', "Average", 8, "the same for each call"},
	{'l', "Local", 8, "the time less that of the functions it called"},
	{'r', "Range", 18, "the shortest and the longest call"},
	{'s', "Sub-time", 8, "the time of the functions it called"},
	{'m', "Max-sub", 30, "the function it called that took longest"},
	{'n', "Ms cnt", 6, "how often it called that"},
	{'x', "Ms time", 8, "how long that took"},
	{'u', "Sub list", 20, "all functions it called"},
};

/* What a column of numbers has; times are in nanoseconds, except averages. */
static int64_t number_of(const struct cg_function *f, char letter)
{
	const struct cg_arc *longest = letter == 'n' || letter == 'x' ? callgraph_longest(f) : NULL;

	switch (letter) {
	case 'c': return (int64_t)f->calls;
	case 'a': return f->calls ? f->total / 1000 / (int64_t)f->calls : 0;
	case 'l': return f->self;
	case 's': return f->total - f->self;
	case 'n': return longest ? (int64_t)longest->calls : 0;
	case 'x': return longest ? longest->total : 0;
	default: return f->total;
	}
}

static void put_cell(struct buf *out, const struct cg_function *f, const struct fdd_column *c)
{
	const bool time = strchr("tlsx", c->letter);
	const struct cg_arc *longest;
	char text[48];

	switch (c->letter) {
	case 'f': buf_printf(out, "%-*s", c->width, f->name); break;
	case 'r':
		snprintf(text, sizeof(text), "(%lld-%lld)", micros(f->min), micros(f->max));
		buf_printf(out, "%*s", c->width, text);
		break;
	case 'm':
		longest = callgraph_longest(f);
		buf_printf(out, "%*s", c->width, longest ? longest->to->name : "");
		break;
	case 'u':
		for (const struct cg_arc *a = f->callees; a; a = a->next_callee)
			buf_printf(out, "%s%s", a->to->name, a->next_callee ? "," : "");
		break;
	default:
		buf_printf(out, "%*" PRId64, c->width, number_of(f, c->letter) / (time ? 1000 : 1));
	}
}

static const struct fdd_column *column_of(char letter)
{
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		if (columns[i].letter == letter)
			return &columns[i];
	return NULL;
}

/* ---- the table ---- */

/* Largest first; fdd sorts names so, too. */
static int by_column(const void *a, const void *b, void *arg)
{
	const struct cg_function *x = *(struct cg_function *const *)a;
	const struct cg_function *y = *(struct cg_function *const *)b;
	const char letter = *(const char *)arg;
	const int64_t left = number_of(x, letter), right = number_of(y, letter);

	if (letter == 'f')
		return strcmp(y->name, x->name);
	return left != right ? (left < right) - (left > right) : strcmp(x->name, y->name);
}

static void put_head(const struct fdd_options *o, struct buf *out)
{
	for (const char *c = o->columns; *c; c++)
		buf_printf(out, "%-*s%s", column_of(*c)->width, column_of(*c)->title,
			   c[1] ? " " : "\n");
	for (const char *c = o->columns; *c; c++) {
		for (int i = 0; i < column_of(*c)->width; i++)
			buf_putc(out, '-');
		buf_puts(out, c[1] ? " " : "\n");
	}
}

static void put_table(const struct fdd_options *o, struct callgraph *g, struct buf *out)
{
	int64_t left = o->rows > 0 ? o->rows : INT64_MAX;
	char letter = *o->sort;

	put_head(o, out);
	callgraph_sort(g, CG_TOTAL);
	if (g->functions.n)
		qsort_r(g->functions.at, g->functions.n, sizeof(*g->functions.at), by_column,
			&letter);
	for (size_t i = 0; i < g->functions.n && left; i++) {
		const struct cg_function *f = g->functions.at[i];

		if (!f->calls || f->total < o->longer_ns)
			continue;
		left--;
		for (const char *c = o->columns; *c; c++) {
			put_cell(out, f, column_of(*c));
			buf_putc(out, c[1] ? ' ' : '\n');
		}
	}
}

/*
 * An interrupt was not called by the function that it interrupted: removes the call, and adds its
 * time to the function's own.
 */
static void part_interrupt(struct callgraph *g, const char *name)
{
	for (size_t i = 0; i < g->functions.n; i++) {
		struct cg_function *f = g->functions.at[i];
		struct cg_arc **slot = &f->callees;

		while (*slot) {
			if (strcmp((*slot)->to->name, name) == 0) {
				f->self += (*slot)->total;
				*slot = (*slot)->next_callee;
			} else {
				slot = &(*slot)->next_callee;
			}
		}
	}
}

/* ---- the list ---- */

struct listed {
	uint64_t ts;
	int64_t dur, depth;
	const char *func;
};

struct reading {
	const struct fdd_options *o;
	struct callgraph graph;
	struct intern names;
	vec_of(struct listed) list; /* of one CPU */
	uint64_t calls, orphans;
	bool full;
};

static int by_call(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;

	return x->ts != y->ts ? (x->ts > y->ts) - (x->ts < y->ts)
			      : (x->depth > y->depth) - (x->depth < y->depth);
}

static void put_list(struct reading *rd, uint32_t cpu, struct buf *out)
{
	if (rd->list.n)
		qsort(rd->list.at, rd->list.n, sizeof(*rd->list.at), by_call);
	vec_each (l, &rd->list)
		buf_printf(out, "%u) %5" PRIu64 ".%09" PRIu64 " | %9.3f |%*s%s\n", cpu,
			   l->ts / 1000000000, l->ts % 1000000000, (double)l->dur / 1000,
			   (int)(2 * l->depth + 2), "", l->func);
	rd->list.n = 0;
}

static void add_listed(struct reading *rd, const struct call_row *c)
{
	const char *name = intern_text(&rd->names, c->func, strlen(c->func));
	const struct listed l = {c->ts, c->dur, c->depth > 0 ? c->depth : 0, name};

	rd->full |= !name || !vec_add(&rd->list, &l);
}

/* ---- reading ---- */

static void take_call(struct reading *rd, const struct call_row *c)
{
	const struct fdd_options *o = rd->o;

	if (c->open || !c->func || (o->pid >= 0 && c->pid != o->pid))
		return;
	rd->calls++;
	if (c->depth > 0 && !c->parent && !(o->interrupt && strcmp(c->func, o->interrupt) == 0)) {
		rd->orphans++;
		if (o->warnings)
			cli_error("the caller of %s at depth %" PRId64 " is not in the trace",
				  c->func, c->depth);
	}
	if (o->list)
		add_listed(rd, c);
	else
		callgraph_call(&rd->graph, c, false);
}

/* The calls of a CPU, -1: of all. */
static int read_calls(struct reading *rd, struct spur_trace *t, int64_t cpu, struct spur_error *err)
{
	struct walk_options opt = {.stop = &cli_stop};
	struct cpu_list only = {0};
	const struct call_row *c;
	struct rows *rows;
	int rc = -ENOMEM;

	if (cpu >= 0 && !cpu_list_add(&only, (uint32_t)cpu))
		return rc;
	opt.cpus = only.bits;
	opt.nr_cpus = only.nr;
	rows = rows_open(t, &calls_table, &opt, err);
	if (rows) {
		while ((c = rows_next(rows)) != NULL)
			take_call(rd, c);
		rc = rows_error(rows, err);
		rows_close(rows);
	} else if (err->code) {
		rc = err->code;
	}
	cpu_list_free(&only);
	return rc;
}

/* The list is one CPU after the other. */
static int list_calls(struct reading *rd, struct spur_trace *t, struct buf *out,
		      struct spur_error *err)
{
	struct cpu_list cpus = {0};
	int rc = 0;

	for (uint32_t b = 0; rc == 0 && b < t->nr_buffers; b++)
		for (uint32_t i = 0; i < t->buffers[b].data->nr_cpus; i++) {
			const struct dat_cpu *c = &t->buffers[b].data->cpus[i];

			if (c->size && !cpu_list_add(&cpus, c->cpu))
				rc = -ENOMEM;
		}
	buf_puts(out, "#   CALLTIME    DURATION          FUNCTION CALLS\n"
		      "#      |          |   |             |   |   |   |\n");
	for (uint32_t cpu = 0; rc == 0 && cpu < cpus.nr; cpu++) {
		if (!cpu_list_has(&cpus, cpu) || (rd->o->cpu >= 0 && rd->o->cpu != cpu))
			continue;
		rc = read_calls(rd, t, cpu, err);
		put_list(rd, cpu, out);
	}
	cpu_list_free(&cpus);
	return rc;
}

static int show(const struct fdd_options *o, struct spur_trace *t)
{
	struct reading rd = {.o = o};
	struct spur_error err = {0};
	scoped_buf out = buf_new(ONEFILE_TEXT);
	int rc;

	callgraph_init(&rd.graph);
	intern_init(&rd.names, NAMES_LIMIT);
	if (o->list) {
		rc = list_calls(&rd, t, &out, &err);
	} else {
		rc = read_calls(&rd, t, o->cpu, &err);
		if (o->interrupt)
			part_interrupt(&rd.graph, o->interrupt);
		put_table(o, &rd.graph, &out);
	}
	if (o->statistics)
		buf_printf(&out,
			   "Trace stats:\n   %" PRIu64 " total functions\n"
			   "   missing callers: %" PRIu64 "\n",
			   rd.calls, rd.orphans);
	if (rc == 0)
		rc = cli_write(out.data, out.len);
	if (rd.full || rd.graph.full || buf_full(&out))
		cli_error("more functions than fit into memory: the rest is left out");
	if (rc == 0 && !rd.calls && o->cpu < 0 && o->pid < 0)
		cli_error("%s: there are no function calls in it", t->dat->path);
	callgraph_free(&rd.graph);
	intern_free(&rd.names);
	vec_free(&rd.list);
	rc = cli_result(rc, "writing the table", &err);
	return rc ? rc : rd.calls ? SPUR_OK : SPUR_INCOMPLETE;
}

/* ---- the command line ---- */

/* "cpu==0", "pid==17"; false after a message. */
static bool read_filter(struct fdd_options *o)
{
	int64_t *to = NULL;

	o->cpu = o->pid = -1;
	if (!o->filter)
		return true;
	if (strncmp(o->filter, "cpu==", 5) == 0)
		to = &o->cpu;
	else if (strncmp(o->filter, "pid==", 5) == 0)
		to = &o->pid;
	if (to && parse_number(o->filter + 5, to) && *to >= 0 && *to <= INT32_MAX)
		return true;
	return cli_complain("-e: '%s' is neither cpu==X nor pid==Y", o->filter);
}

static bool read_longer(struct fdd_options *o)
{
	uint64_t ns;

	if (!o->longer || (parse_number(o->longer, &o->longer_ns) && o->longer_ns >= 0))
		return true;
	if (parse_time(o->longer, &ns) && ns <= INT64_MAX) {
		o->longer_ns = (int64_t)ns;
		return true;
	}
	return cli_complain("-t: '%s' is not a time", o->longer);
}

static bool check(struct fdd_options *o)
{
	if (!o->columns)
		o->columns = o->wide ? ALL_COLUMNS : USUAL_COLUMNS;
	for (const char *c = o->columns; *c; c++)
		if (!column_of(*c))
			return cli_complain("-f: there is no column '%c'; see 'fdd --fields'", *c);
	if (!*o->columns)
		return cli_complain("-f: there must be one column at least");
	if (!*o->sort || o->sort[1] || !strchr("fctasl", *o->sort))
		return cli_complain("-s: '%s' is none of f, c, t, a, s and l", o->sort);
	return read_filter(o) && read_longer(o);
}

static int run(void *options, int others, char **argv)
{
	struct fdd_options *o = options;
	struct spur_trace *t;
	int status = SPUR_OK;

	if (o->version)
		printf("Function Duration Dump - version 0.7.2 (spur %s)\n", SPUR_VERSION);
	for (size_t i = 0; !o->version && o->fields && i < ARRAY_SIZE(columns); i++)
		printf("  %c = %-8s  %s\n", columns[i].letter, columns[i].title, columns[i].about);
	if (o->version || o->fields)
		return SPUR_OK;
	if (!check(o))
		return SPUR_USAGE;
	if (!others)
		return cli_wrong("no file is named; 'fdd -h' says more");
	t = onefile_open(&fdd_command, NULL, others, argv, &status);
	return t ? onefile_close(t, show(o, t)) : status;
}

const struct command fdd_command = {
	.name = "fdd",
	.summary = "functions by time, of the function_duration tracer's text or of another trace",
	.usage = "[OPTION...] FILE",
	COMMAND_OPTS(opts, struct fdd_options),
	.defaults = &(const struct fdd_options){.sort = "t"},
	.run = run,
	.page = "functions",
};
