// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur calls`: who called whom, as gprof shows it, as a tree, as a picture. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/newfile.h"
#include "base/safe.h"
#include "cli/onefile.h"
#include "cli/range.h"
#include "draw/svg.h"

struct calls_command {
	struct range_options range;
	const char *from, *output, *buffer;
	const char *min;
	double min_percent;
	bool flat, graph, tree, dot, svg, chains, all_tasks, on_cpu;
	enum callgraph_source source;
	struct callgraph callgraph;
};

#define AT(field) offsetof(struct calls_command, field)

static const struct opt opts[] = {
	{.kind = OPT_GROUP, .help = "What to show"},
	{0, "flat", OPT_FLAG, NULL, "gprof's flat profile: functions by their own time", AT(flat)},
	{0, "graph", OPT_FLAG, NULL,
	 "gprof's call graph: each function with its callers and callees (the default is both)",
	 AT(graph)},
	{0, "tree", OPT_FLAG, NULL,
	 "the tree of calls; calls of one function from one place are one line", AT(tree)},
	{0, "dot", OPT_FLAG, NULL, "a picture for graphviz", AT(dot)},
	{0, "svg", OPT_FLAG, NULL, "a picture", AT(svg)},
	{0, "chains", OPT_FLAG, NULL,
	 "chains of calls and how often they occurred (trace-cmd hist)", AT(chains)},
	{'P', NULL, OPT_FLAG, NULL, "with --chains: all tasks together", AT(all_tasks)},
	{'B', "buffer", OPT_STRING, "NAME", "with --chains: only this buffer, or \"top\"",
	 AT(buffer)},
	{.kind = OPT_GROUP, .help = "What it is made from"},
	{0, "from", OPT_STRING, "SOURCE",
	 "calls (function_graph, probes), entries (function) or samples (stacks); the default is "
	 "the first that the trace has",
	 AT(from), .values = "calls entries samples"},
	{0, "on-cpu", OPT_FLAG, NULL, "leave out the time tasks were scheduled out", AT(on_cpu)},
	{0, "min", OPT_STRING, "PERCENT", "leave smaller functions out of trees and pictures (0.5)",
	 AT(min)},
	{'o', NULL, OPT_FILE, "FILE", "write to this file", AT(output)},
};

/* ---- trees ---- */

/* "| | name", after the time it took and its count. */
static void put_tree(const struct calls_command *o, const struct flame *f, bool timed,
		     struct buf *out)
{
	const double all = (double)f->root->total[0];
	const struct flame_node *n = flame_next(f->root);

	buf_printf(out, "%12s %12s %7s  function\n", timed ? "total" : "samples", "self", "%");
	while (n) {
		const double share = all > 0 ? 100 * (double)n->total[0] / all : 0;
		struct amount total, self;

		if (share < o->min_percent) {
			n = flame_next_beside(n);
			continue;
		}
		if (timed) {
			total = amount_time(n->total[0]);
			self = amount_time(n->self[0]);
		} else {
			snprintf(total.text, sizeof(total.text), "%llu",
				 (unsigned long long)n->total[0]);
			snprintf(self.text, sizeof(self.text), "%llu",
				 (unsigned long long)n->self[0]);
		}
		buf_printf(out, "%12s %12s %7.2f  ", total.text, self.text, share);
		for (const struct flame_node *up = n->parent; up && up->name; up = up->parent)
			buf_puts(out, "| ");
		buf_put_safe(out, n->name, strlen(n->name));
		buf_putc(out, '\n');
		n = flame_next(n);
	}
}

static int show_tree(struct calls_command *o, struct spur_trace *t, struct buf *out,
		     struct spur_error *err)
{
	static const enum flame_from sources[] = {
		[CG_FROM_ANY] = FLAME_ANY,
		[CG_FROM_CALLS] = FLAME_CALLS,
		[CG_FROM_SAMPLES] = FLAME_SAMPLES,
	};
	struct flame_wanted w = {.from = sources[o->source],
				 .weight = o->on_cpu ? FLAME_ON_CPU : FLAME_USUAL,
				 .task = range_task,
				 .task_arg = &o->range};
	enum flame_from from = FLAME_ANY;
	struct flame f;
	int rc = range_walk(&o->range, t, &w.walk, err);

	if (rc < 0)
		return rc;
	rc = flame_init(&f, 0, err);
	if (rc == 0)
		rc = flame_read(&f, 0, t, &w, &from, err);
	if (rc == 0) {
		flame_finish(&f);
		flame_sort_by_total(&f);
	}
	if (rc == 0 && flame_next(f.root))
		put_tree(o, &f, from == FLAME_CALLS, out);
	flame_free(&f);
	return rc;
}

/* ---- graphs ---- */

static bool is_wanted(void *arg, int64_t pid, const char *comm)
{
	return range_task(&((struct calls_command *)arg)->range, pid, comm);
}

static struct callgraph *one_graph(void *arg, int64_t pid, const char *comm, int64_t cpu)
{
	return &((struct calls_command *)arg)->callgraph;
}

static void put_graph(const struct calls_command *o, struct callgraph *g, struct buf *out)
{
	const struct callgraph_limits limits = {o->min_percent, o->min_percent / 5};

	if (o->dot) {
		callgraph_put_dot(g, &limits, out);
	} else if (o->svg) {
		out->full |= !callgraph_put_svg(g, &limits, out);
	} else {
		if (o->flat || !o->graph)
			callgraph_put_flat(g, out);
		buf_puts(out, o->flat == o->graph ? "\n" : "");
		if (o->graph || !o->flat)
			callgraph_put_blocks(g, out);
	}
}

static int show_graph(struct calls_command *o, struct spur_trace *t, struct buf *out,
		      struct spur_error *err)
{
	struct callgraph_reader r = {.trace = t,
				     .source = o->source,
				     .on_cpu = o->on_cpu,
				     .wanted = is_wanted,
				     .graph = one_graph,
				     .arg = o};
	int rc = range_walk(&o->range, t, &r.walk, err);

	if (rc < 0)
		return rc;
	callgraph_init(&o->callgraph);
	rc = callgraph_read(&r, err);
	if (rc == 0 && o->callgraph.functions.n)
		put_graph(o, &o->callgraph, out);
	if (o->callgraph.full)
		cli_error("more functions than fit into memory: those that came last are left out");
	callgraph_free(&o->callgraph);
	return rc;
}

static int nothing(const struct calls_command *o, const struct spur_trace *t,
		   struct spur_error *err)
{
	static const char *const what[] = {
		[CG_FROM_ANY] = "function calls or stacks in it; 'spur record -p function_graph' "
				"records calls",
		[CG_FROM_CALLS] = "function calls in it; 'spur record -p function_graph' records "
				  "them",
		[CG_FROM_ENTRIES] = "entries of functions in it; 'spur record -p function' records "
				    "them",
		[CG_FROM_SAMPLES] = "stacks in it; 'spur record -T -e EVENT' records them with "
				    "events",
	};

	if (range_is_part(&o->range))
		return error_set(err, -ENODATA, "%s: nothing in it matches the options",
				 t->dat->path);
	if (o->tree && !o->source)
		return error_set(err, -ENODATA,
				 "%s: a tree is made of calls with their ends, or of stacks, and "
				 "there are none in it; 'spur record -p function_graph' records "
				 "calls",
				 t->dat->path);
	return error_set(err, -ENODATA, "%s: there are no %s", t->dat->path, what[o->source]);
}

static int show(struct calls_command *o, struct spur_trace *t)
{
	struct spur_error err = {0};
	scoped_buf out = buf_new(ONEFILE_TEXT);
	int rc = o->tree ? show_tree(o, t, &out, &err) : show_graph(o, t, &out, &err);

	progress_end(&o->range.progress);
	if (rc == 0 && !out.len && !t->dat->damage.code)
		rc = nothing(o, t, &err);
	else if (rc == 0 && buf_full(&out))
		rc = -ENOMEM;
	else if (rc == 0)
		rc = o->output ? newfile_write(o->output, out.data, out.len, &err)
			       : cli_write(out.data, out.len);
	return cli_result(rc, "writing the calls", &err);
}

static int check(struct calls_command *o)
{
	static const char *const sources[] = {
		[CG_FROM_CALLS] = "calls",
		[CG_FROM_ENTRIES] = "entries",
		[CG_FROM_SAMPLES] = "samples",
	};
	int read;
	char end;

	if (o->tree + o->dot + o->svg + o->chains + (o->flat || o->graph) > 1)
		return cli_wrong(
			"only one of --tree, --dot, --svg, --chains and --flat/--graph at a time");
	if (!o->chains && (o->all_tasks || o->buffer))
		return cli_wrong("-P and --buffer belong to --chains");
	if (o->tree && o->from && strcmp(o->from, "entries") == 0)
		return cli_wrong("--tree: entries do not show which call is inside of which");
	read = o->min ? sscanf(o->min, "%lf%c%c", &o->min_percent, &end, &end) : 1;
	if (!(read == 1 || (read == 2 && end == '%')) ||
	    !(o->min_percent >= 0 && o->min_percent <= 100))
		return cli_wrong("--min: '%s' is no percentage", o->min);
	for (int i = CG_FROM_CALLS; o->from && i <= CG_FROM_SAMPLES; i++)
		if (strcmp(o->from, sources[i]) == 0)
			o->source = (enum callgraph_source)i;
	if (o->from && !o->source)
		return cli_wrong("--from: '%s' is none of calls, entries and samples", o->from);
	return SPUR_OK;
}

static int run(void *options, int others, char **argv)
{
	struct calls_command *o = options;
	struct spur_trace *t;
	int status = check(o);

	if (status != SPUR_OK)
		return status;
	t = onefile_open(&command_calls, o->range.input, others, argv, &status);
	if (!t)
		return status;
	if (cli_reads(o->output, t->dat->path))
		status = SPUR_USAGE;
	else
		status = o->chains ? cli_show_chains(t, o->buffer, o->all_tasks) : show(o, t);
	return onefile_close(t, status);
}

const struct command command_calls = {
	.name = "calls",
	.summary = "show who called whom: gprof's call graph, a tree, a picture",
	.usage = "[options] [FILE]",
	COMMAND_OPTS(opts, struct calls_command),
	COMMAND_SHARED(range_opts),
	.defaults = &(const struct calls_command){.min_percent = 0.5},
	.run = run,
};
