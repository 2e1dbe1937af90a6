// SPDX-License-Identifier: GPL-2.0-or-later
/* Call graphs: for graphviz, and for kcachegrind in callgrind's format. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "stats/callgraph.h"
#include "base/error.h"
#include "export/export.h"
#include "export/reader.h"

static const struct export_setting_info graph_settings[] = {
	{"from", "calls, entries or samples; the default is what the trace has"},
	{"weight", "oncpu: without the time in which tasks were scheduled out"},
	{NULL, NULL},
};

static struct callgraph *the_graph(void *arg, int64_t pid, const char *comm, int64_t cpu)
{
	return arg;
}

static int take_settings(const struct export_job *job, struct callgraph_reader *r,
			 struct spur_error *err)
{
	static const char *const words[] = {[CG_FROM_CALLS] = "calls",
					    [CG_FROM_ENTRIES] = "entries",
					    [CG_FROM_SAMPLES] = "samples"};
	const char *from = export_setting(job, "from"), *weight = export_setting(job, "weight");
	size_t i = from ? CG_FROM_CALLS : CG_FROM_ANY;

	while (from && i < ARRAY_SIZE(words) && strcmp(words[i], from) != 0)
		i++;
	if (i == ARRAY_SIZE(words))
		return error_set(err, -EINVAL, "from=%s: calls, entries or samples", from);
	if (weight && strcmp(weight, "oncpu") != 0)
		return error_set(err, -EINVAL, "weight=%s: oncpu is the only one", weight);
	r->source = (enum callgraph_source)i;
	r->on_cpu = weight != NULL;
	return 0;
}

/* Call callgraph_free() in any case. */
static int read_graph(const struct export_job *job, struct callgraph *g, struct spur_error *err)
{
	struct callgraph_reader r = {.graph = the_graph, .arg = g};
	int rc = take_settings(job, &r, err);

	callgraph_init(g);
	for (size_t i = 0; rc == 0 && i < job->nr_traces; i++) {
		struct export_filter filter;

		r.trace = job->traces[i];
		rc = export_filter_init(job, r.trace, &filter, &r.walk, err);
		if (rc == 0)
			rc = callgraph_read(&r, err);
		export_filter_done(&filter);
	}
	if (rc == 0 && !g->functions.n)
		rc = export_no_stacks(job, err);
	if (rc == 0 && g->full)
		export_note(job, "there are more functions than fit: the graph is not complete");
	callgraph_sort(g, CG_TOTAL);
	return rc;
}

/* ---- graphviz ------------------------------------------------------------------------- */

static int run_dot(const struct export_job *job, struct spur_error *err)
{
	const struct callgraph_limits limits = {.function = 0, .arc = 0};
	struct callgraph g;
	int rc = read_graph(job, &g, err);

	if (rc == 0)
		callgraph_put_dot(&g, &limits, &job->out->buf);
	callgraph_free(&g);
	return rc;
}

const struct export_format export_dot = {
	.name = "dot",
	.about = "the call graph for graphviz",
	.suffix = ".dot",
	.kind = EXPORT_STREAM,
	.settings = graph_settings,
	.run = run_dot,
};

/* ---- callgrind ------------------------------------------------------------------------ */

/* A name ends with its line. */
static void put_name(struct buf *b, const char *name)
{
	for (; *name; name++)
		buf_putc(b, (unsigned char)*name < ' ' ? '?' : *name);
	buf_putc(b, '\n');
}

/* "fn=(7) name" where it comes first, "fn=(7)" later: the number is one more than its place. */
static void put_function(struct buf *b, const char *key, const struct cg_function *f,
			 uint64_t *known)
{
	buf_printf(b, "%s=(%u)", key, f->index + 1);
	if (known[f->index / 64] >> (f->index % 64) & 1) {
		buf_putc(b, '\n');
		return;
	}
	known[f->index / 64] |= 1ull << (f->index % 64);
	buf_putc(b, ' ');
	put_name(b, f->name);
}

/* Costs belong to lines of a source file; the line is unknown, so it is 0. */
static void put_cost(struct buf *b, const struct callgraph *g, int64_t time, uint64_t calls)
{
	if (g->timed || g->sampled)
		buf_printf(b, "0 %lld\n", (long long)(time > 0 ? time : 0));
	else
		buf_printf(b, "0 %llu\n", (unsigned long long)calls);
}

static void put_callgrind(const struct export_job *job, const struct callgraph *g, uint64_t *known)
{
	struct buf *b = &job->out->buf;
	const char *event = g->timed ? "Nanoseconds" : g->sampled ? "Samples" : "Calls";

	buf_puts(b, "# callgrind format\nversion: 1\ncreator: spur\ncmd: ");
	put_name(b, export_title(job));
	buf_printf(b, "positions: line\nevents: %s\n\nfl=???\n", event);
	for (size_t i = 0; i < g->functions.n; i++) {
		const struct cg_function *f = g->functions.at[i];

		buf_putc(b, '\n');
		put_function(b, "fn", f, known);
		put_cost(b, g, f->self, f->calls);
		for (const struct cg_arc *a = f->callees; a; a = a->next_callee) {
			put_function(b, "cfn", a->to, known);
			/* Samples have no number of calls. */
			buf_printf(b, "calls=%llu 0\n",
				   (unsigned long long)(a->calls ? a->calls : 1));
			put_cost(b, g, a->total, a->calls);
		}
		export_stream_flush_full(job->out);
	}
}

static int run_callgrind(const struct export_job *job, struct spur_error *err)
{
	struct callgraph g;
	uint64_t *known = NULL;
	int rc = read_graph(job, &g, err);

	if (rc == 0) {
		known = calloc(g.functions.n / 64 + 1, sizeof(*known));
		if (known)
			put_callgrind(job, &g, known);
		else
			rc = error_set(err, -ENOMEM, "out of memory");
	}
	free(known);
	callgraph_free(&g);
	return rc;
}

const struct export_format export_callgrind = {
	.name = "callgrind",
	.about = "the call graph for kcachegrind and callgrind_annotate",
	.suffix = ".callgrind",
	.kind = EXPORT_STREAM,
	.settings = graph_settings,
	.run = run_callgrind,
};
