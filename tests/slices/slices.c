// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reports made by several threads must equal those made by one, to the last byte. Recordings are
 * small, so they are cut into slices of one page, which makes every boundary case common: task
 * names learned in the slice before, calls of function_graph cut from their return, stacks cut from
 * their event, lines indented by what came before.
 *
 *	slices FILE…		prints what was compared; exit 1 when something differs
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"

#define TEXT_LIMIT (1u << 30)

static int collect(void *arg, const char *data, size_t len)
{
	buf_put(arg, data, len);
	return 0;
}

struct variant {
	const char *name;
	struct emit_options emit;
	const struct emit_ops *ops;
	const char *filter;
	bool unwanted;
	struct selection select; /* a range is the middle third */
};

static const uint64_t first_cpu = 1;

static const struct variant variants[] = {
	{"text", {0}, &emit_text, NULL, false},
	{"compat", {.compat = COMPAT_31}, &emit_text, NULL, false},
	{"raw", {.raw = true}, &emit_text, NULL, false},
	{"parents", {.plugins = {.parent = true}}, &emit_text, NULL, false},
	{"no plugins", {.no_plugins = true}, &emit_text, NULL, false},
	{"graph",
	 {.plugins = {.fgraph_tail = true, .fgraph_depth = true}},
	 &emit_text,
	 NULL,
	 false},
	{"json", {0}, &emit_json, NULL, false},
	{"filter", {0}, &emit_text, ".*:common_pid > 100", false},
	{"filter out", {0}, &emit_text, ".*:common_pid == 0", true},
	{"range", {0}, &emit_text, NULL, false, {.has_since = true, .has_until = true}},
	{"filter a range", {0}, &emit_text, ".*:common_pid > 100", false, {.has_since = true}},
	{"no interrupts", {0}, &emit_text, ".*:common_pid > 1", false, {.no_irqs = true}},
	{"a CPU", {0}, &emit_text, ".*:common_pid > 1", false, {.cpus = &first_cpu, .nr_cpus = 64}},
};

/* The times of the records that end the first and the second third of a trace. */
static void middle(const struct emit_source *sources, size_t n, uint64_t *since, uint64_t *until)
{
	const struct spur_record *r;
	uint64_t count = 0, at = 0;
	struct scan m;

	for (int again = 0; again < 2; again++, at = 0) {
		scan_init(&m, NULL);
		for (size_t i = 0; i < n; i++)
			scan_add_buffer(&m, sources[i].buffer);
		scan_start(&m);
		while ((r = scan_next(&m)) != NULL) {
			count += !again;
			if (++at == count / 3)
				*since = r->ts;
			if (at == count * 2 / 3)
				*until = r->ts;
		}
		scan_free(&m);
	}
}

static bool run(struct spur_trace *t, const struct emit_source *sources, size_t n,
		const struct variant *v, unsigned int threads, size_t slice, struct buf *text)
{
	struct select_filters filters = {.trace = t};
	struct spur_error err = {0};
	struct report rep = {.traces = &t,
			     .nr_traces = 1,
			     .sources = sources,
			     .nr_sources = n,
			     .emit = v->ops,
			     .options = v->emit,
			     .select = v->select,
			     .threads = threads,
			     .slice_bytes = slice,
			     .write = collect,
			     .arg = text};
	int rc = 0;

	middle(sources, n, &rep.select.since, &rep.select.until);
	if (v->filter) {
		struct filter *f = filter_new(t->events);

		rc = filter_add(f, v->filter, &err);
		*(v->unwanted ? &filters.unwanted : &filters.wanted) = f;
		rep.select.filters = &filters;
		rep.select.nr_filters = 1;
		rep.select.stacks = SELECT_STACKS_FOLLOW;
	}
	buf_init(text, TEXT_LIMIT);
	if (rc == 0)
		rc = report_run(&rep, &err);
	if (rc < 0)
		fprintf(stderr, "%s: %s\n", t->dat->path, err.text);
	filter_free(filters.wanted);
	filter_free(filters.unwanted);
	return rc == 0;
}

static void show_difference(const struct buf *a, const struct buf *b)
{
	size_t i = 0, line = 1;

	while (i < a->len && i < b->len && a->data[i] == b->data[i])
		line += a->data[i++] == '\n';
	printf("  the first difference is in line %zu, byte %zu (%zu and %zu bytes)\n", line, i,
	       a->len, b->len);
}

static bool compare(const char *path, const struct variant *v, struct spur_trace *t,
		    const struct emit_source *sources, size_t n)
{
	static const struct {
		unsigned int threads;
		size_t slice;
	} ways[] = {{2, 1}, {3, 1}, {4, 16384}, {2, 65536}};
	struct buf want, got;
	bool same = run(t, sources, n, v, 1, 0, &want);

	for (size_t i = 0; same && i < sizeof(ways) / sizeof(ways[0]); i++) {
		same = run(t, sources, n, v, ways[i].threads, ways[i].slice, &got) &&
		       want.len == got.len && memcmp(want.data, got.data, want.len) == 0;
		if (!same) {
			printf("%s: %s with %u threads differs\n", path, v->name, ways[i].threads);
			show_difference(&want, &got);
		}
		buf_free(&got);
	}
	buf_free(&want);
	return same;
}

static unsigned int check_file(const char *path, const struct variant *v)
{
	struct trace_options opt = {.compat = v->emit.compat};
	struct emit_source sources[16];
	struct spur_error err = {0};
	struct spur_trace *t;
	size_t n = 0;
	bool same;

	if (trace_open(path, &opt, &t, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	for (uint32_t i = 0; i < t->nr_buffers && n < 16; i++)
		if (!t->buffers[i].data->text)
			sources[n++] = (struct emit_source){.buffer = &t->buffers[i]};
	same = compare(path, v, t, sources, n);
	trace_close(t);
	return !same;
}

int main(int argc, char **argv)
{
	unsigned int compared = 0, wrong = 0;

	for (int i = 1; i < argc; i++) {
		for (size_t k = 0; k < sizeof(variants) / sizeof(variants[0]); k++) {
			wrong += check_file(argv[i], &variants[k]);
			compared++;
		}
	}
	printf("%u of %u reports are the same with several threads\n", compared - wrong, compared);
	return wrong || !compared;
}
