// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `spur report`: the records of one or more traces as text, JSON or CSV. Its options are those of
 * trace-cmd report, and what its users miss.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/map.h"
#include "base/safe.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "cli/report.h"
#include "report/wakeup.h"

/* The input that options now belong to. */
static struct report_input *current(struct report_options *o)
{
	return o->inputs.n ? &o->inputs.at[o->inputs.n - 1] : &o->early;
}

int report_add_input(struct report_options *o, const char *path)
{
	struct report_input *in = vec_push(&o->inputs);

	if (!in)
		return -ENOMEM;
	*in = o->early;
	memset(&o->early, 0, sizeof(o->early));
	in->path = path;
	return 0;
}

static int take_input(void *options, const struct opt *opt, const char *arg)
{
	struct report_options *o = options;

	o->several = o->inputs.n > 0;
	return report_add_input(o, arg);
}

static int take_filter(void *options, const struct opt *opt, const char *arg)
{
	struct report_options *o = options;
	const struct report_filter f = {arg, o->negate};

	return vec_add(&current(o)->filters, &f) ? 0 : -ENOMEM;
}

static int take_ts_offset(void *options, const struct opt *opt, const char *arg)
{
	struct report_options *o = options;
	int64_t offset;

	if (!o->inputs.n)
		return opt_error(opt, "must come after -i");
	if (!parse_number(arg, &offset))
		return opt_error(opt, "'%s' is not a number", arg);
	/* As in trace-cmd, it shifts a file against the others; a single file is not shifted. */
	if (o->several)
		current(o)->ts_offset = offset;
	return 0;
}

static int take_ts2secs(void *options, const struct opt *opt, const char *arg)
{
	struct report_options *o = options;
	int64_t hz;

	if (!parse_number(arg, &hz) || hz <= 0)
		return opt_error(opt, "'%s' is not a frequency", arg);
	/* As in trace-cmd: before the second file, it is the default for all files. */
	*(o->several ? &current(o)->ts_hz : &o->ts_hz) = (uint64_t)hz;
	return 0;
}

static int take_count(void *options, const struct opt *opt, const char *arg)
{
	int64_t n;

	if (!parse_number(arg, &n) || n < 1)
		return opt_error(opt, "'%s' is not a number of events", arg);
	*(int64_t *)(void *)((char *)options + opt->offset) = n;
	return 0;
}

static int take_negate(void *options, const struct opt *opt, const char *arg)
{
	struct report_options *o = options;

	if (o->negate)
		return opt_error(opt, "can be given once");
	o->negate = true;
	return 0;
}

/* The value of a switch; without a value, the opposite of its default. */
static bool read_switch(const char *value, bool normally, bool *on)
{
	if (!value)
		*on = !normally;
	else if (strcmp(value, "1") == 0 || strcmp(value, "true") == 0)
		*on = true;
	else if (strcmp(value, "0") == 0 || strcmp(value, "false") == 0)
		*on = false;
	else
		return false;
	return true;
}

/* [plugin:]name[=value]; an option that no builtin printer has is for a user's plugin. */
static int take_plugin_option(void *options, const struct opt *opt, const char *arg)
{
	struct report_options *o = options;
	const char *colon = strchr(arg, ':'), *name = colon ? colon + 1 : arg;
	const char *equals = strchr(name, '=');
	size_t len = equals ? (size_t)(equals - name) : strlen(name);
	bool on;

	for (const struct plugin_option *p = plugin_options; p->plugin; p++) {
		if (strncmp(name, p->name, len) || p->name[len] ||
		    (colon &&
		     (strncmp(arg, p->plugin, (size_t)(colon - arg)) || p->plugin[colon - arg])))
			continue;
		if (!read_switch(equals ? equals + 1 : NULL, p->normally, &on))
			return opt_error(opt, "%s is on (1, true) or off (0, false)", arg);
		*(bool *)((char *)&o->emit.plugins + p->offset) = on != p->turned;
		return 0;
	}
	return string_refs_add(&o->plugin_options, arg) ? 0 : -ENOMEM;
}

static int take_graph(void *options, const struct opt *opt, const char *arg)
{
	struct report_options *o = options;

	o->graph = true;
	if (arg && strcmp(arg, "task") != 0 && strcmp(arg, "time") != 0)
		return opt_error(opt, "'%s' is no order: task or time", arg);
	o->graph_by_time = arg && strcmp(arg, "time") == 0;
	return 0;
}

static int take_graph_min(void *options, const struct opt *opt, const char *arg)
{
	struct report_options *o = options;
	uint64_t ns;

	if (!parse_time(arg, &ns) || ns > INT64_MAX)
		return opt_error(opt, "'%s' is not a time", arg);
	o->graph_min = (int64_t)ns;
	return 0;
}

static int take_graph_depth(void *options, const struct opt *opt, const char *arg)
{
	struct report_options *o = options;
	int64_t n;

	if (!parse_number(arg, &n) || n < 1 || n > UINT32_MAX)
		return opt_error(opt, "'%s' is not a number of levels", arg);
	o->graph_depth = (uint32_t)n;
	return 0;
}

#define AT(field) offsetof(struct report_options, field)

static const struct opt opts[] = {
	{.kind = OPT_GROUP, .help = "What to read"},
	{'i', NULL, OPT_CALL, "FILE", "read this file (trace.dat); several are merged by time",
	 .call = take_input, .values = "FILE"},
	{0, "cpu", OPT_CPUS, "LIST", "only these CPUs, as in 0,2-4; counted through all buffers",
	 AT(cpus)},
	{'F', NULL, OPT_CALL, "FILTER", "only what matches: [system/]event: expression",
	 .call = take_filter},
	{'v', NULL, OPT_CALL, NULL, "the filters after it say what to leave out",
	 .call = take_negate},
	{'T', "filter-test", OPT_FLAG, NULL, "check the filters and show what they became",
	 AT(test_filters)},
	{0, "pid", OPT_LIST, "LIST", "only events of or about these tasks", AT(pids)},
	{0, "comm", OPT_LIST, "LIST", "only events of or about tasks of these names", AT(comms)},
	{'I', NULL, OPT_FLAG, NULL, "leave out events in hard interrupts", AT(no_irqs)},
	{'S', NULL, OPT_FLAG, NULL, "leave out events in soft interrupts", AT(no_softirqs)},
	{0, "since", OPT_STRING, "TIME", "from this trace time on: seconds, or with ns, us, ms, s",
	 AT(since)},
	{0, "until", OPT_STRING, "TIME", "up to this trace time", AT(until)},
	{0, "head", OPT_CALL, "N", "stop after N events", AT(head), take_count},
	{0, "tail", OPT_CALL, "N", "only the last N events", AT(tail), take_count},

	{.kind = OPT_GROUP, .help = "How to show it"},
	{'t', NULL, OPT_FLAG, NULL, "times with nine digits instead of six", AT(emit.nanosec)},
	{'l', NULL, OPT_FLAG, NULL, "narrow lines in the latency format", AT(emit.latency)},
	{'R', NULL, OPT_FLAG, NULL, "raw: field names and numbers", AT(emit.raw)},
	{'r', NULL, OPT_LIST, "REGEX", "raw for events of this name or system", AT(raw_events)},
	{0, "pretty", OPT_FLAG, NULL, "system calls with names for flags and errors",
	 AT(emit.pretty)},
	{0, "json", OPT_FLAG, NULL, "one JSON object per line", AT(json)},
	{0, "csv", OPT_FLAG, NULL, "comma-separated values", AT(csv)},
	{0, "fields", OPT_STRING, "LIST",
	 "only these columns: ts, time, cpu, pid, comm, …, or fields", AT(fields)},
	CLI_COLOUR_OPTION(AT(colour)),
	{0, "pager", OPT_CLEAR, NULL, "page the output on a terminal (the default)", AT(no_pager)},
	{0, "no-pager", OPT_FLAG, NULL, "do not", AT(no_pager)},
	{0, "compat", OPT_STRING, "VERSION", "the text of trace-cmd 3.4 (default) or 3.1",
	 AT(compat), .values = "3.4 3.1"},
	{0, "threads", OPT_NUMBER, "N", "number of threads (one per CPU)", AT(threads)},
	{0, "progress", OPT_FLAG, NULL, "show progress on standard error", AT(progress)},
	{'q', NULL, OPT_FLAG, NULL, "no warnings", AT(quiet)},

	{.kind = OPT_GROUP, .help = "Function calls"},
	{0, "graph", OPT_CALL, "[ORDER]", "calls as a tree, one task after the other; or by time",
	 .call = take_graph, .values = "task time"},
	{0, "graph-min", OPT_CALL, "TIME", "only count shorter calls: 10us, 1ms",
	 .call = take_graph_min},
	{0, "graph-depth", OPT_CALL, "N", "show N levels of calls", .call = take_graph_depth},
	{0, "graph-function", OPT_GLOBS, "NAME",
	 "only calls of this function; * and ? are wildcards", AT(graph_functions)},

	{.kind = OPT_GROUP, .help = "Time"},
	{0, "ts-offset", OPT_CALL, "N", "add N to the times of the file before (with several -i)",
	 .call = take_ts_offset},
	{0, "ts2secs", OPT_CALL, "HZ", "the clock of the file before ticks HZ times a second",
	 .call = take_ts2secs},
	{0, "ts-diff", OPT_FLAG, NULL, "show the time since the previous line", AT(emit.ts_diff)},
	{0, "ts-check", OPT_FLAG, NULL, "warn when time goes backwards", AT(ts_check)},
	{0, "nodate", OPT_FLAG, NULL, "ignore the date recorded with --date", AT(no_date)},
	{0, "raw-ts", OPT_FLAG, NULL, "times as they are in the ring buffer", AT(raw_ts)},
	{0, "align-ts", OPT_FLAG, NULL, "the first event is at time 0", AT(align_ts)},

	{.kind = OPT_GROUP, .help = "Latencies"},
	{'w', NULL, OPT_FLAG, NULL, "show wakeup latencies", AT(wakeup)},
	{0, "profile", OPT_FLAG, NULL, "show where tasks spent their time", AT(profile)},
	{'H', NULL, OPT_LIST, "HOOK",
	 "with --profile: EVENT,FIELD/EVENT,FIELD: measure between two events", AT(hooks)},
	{'G', NULL, OPT_FLAG, NULL, "with --profile: interrupts belong to their CPU", AT(global)},
	{0, "by-comm", OPT_FLAG, NULL, "with --profile: tasks of the same name together",
	 AT(by_comm)},

	{.kind = OPT_GROUP, .help = "Event types and plugins"},
	{'N', NULL, OPT_FLAG, NULL, "no plugins; use the print formats", AT(no_user_plugins)},
	{'L', NULL, OPT_FLAG, NULL, "only plugins of the user's own", AT(emit.no_plugins)},
	{'n', NULL, OPT_LIST, "REGEX", "no plugin for events of this name or system",
	 AT(plain_events)},
	{'O', NULL, OPT_CALL, "NAME[=VALUE]", "set an option of a plugin",
	 .call = take_plugin_option},
	{0, "kallsyms", OPT_FILE, "FILE", "also read names of functions from this file",
	 AT(kallsyms)},

	{.kind = OPT_GROUP, .help = "Facts about the file instead of events"},
	{'E', NULL, OPT_FLAG, NULL, "list the event types", AT(show_events)},
	{0, "events", OPT_FLAG, NULL, "show the formats of all events", AT(print_formats)},
	{0, "event", OPT_STRING, "REGEX", "show the formats of these events", AT(print_format)},
	{0, "check-events", OPT_FLAG, NULL,
	 "name formats that cannot be parsed; 4 when fields cannot", AT(check_events)},
	{'f', NULL, OPT_FLAG, NULL, "list the functions", AT(show_functions)},
	{'P', NULL, OPT_FLAG, NULL, "list the formats of trace_printk()", AT(show_printk)},
	{'e', NULL, OPT_FLAG, NULL, "show the byte order", AT(show_endian)},
	{'p', NULL, OPT_FLAG, NULL, "show the page size", AT(show_page_size)},
	{0, "cpus", OPT_FLAG, NULL, "list the CPUs that have data", AT(show_cpus)},
	{0, "first-event", OPT_FLAG, NULL, "…and the time of their first event", AT(show_first)},
	{0, "last-event", OPT_FLAG, NULL, "…and of their last one", AT(show_last)},
	{0, "stat", OPT_FLAG, NULL, "show the ring buffers' statistics", AT(show_stat)},
	{0, "uname", OPT_FLAG, NULL, "show the machine", AT(show_uname)},
	{0, "version", OPT_FLAG, NULL, "show the version of the recorder", AT(show_version)},
	{0, "boundary", OPT_FLAG, NULL, "mark where pages of the ring buffer begin",
	 AT(emit.boundary)},
	{0, "debug", OPT_FLAG, NULL, "…and show what is between records", AT(emit.debug)},
	{'V', "verbose", OPT_IGNORED, "[LEVEL]", "does nothing; accepted because trace-cmd has it"},
};

#define DEFAULT_FILE "trace.dat"

/* ---- running ---- */

/* What looks at every record that is shown: --ts-check and -w. */
struct watcher {
	const struct report_options *o;
	struct wakeup *wakeup;
	struct map by_cpu;	/* of each buffer of each input, to 1 + index in times */
	vec_of(uint64_t) times; /* of the last record */
};

/* Where the time of the last record on this record's CPU is stored; NULL without memory. */
static uint64_t *last_time(struct watcher *w, const struct spur_trace *t,
			   const struct spur_record *r)
{
	uint64_t input = 0, key;
	uintptr_t index;

	while (w->o->inputs.at[input].trace != t)
		input++;
	key = input << 48 | (uint64_t)r->buffer << 32 | r->cpu;
	index = (uintptr_t)map_get(&w->by_cpu, key);
	if (index)
		return &w->times.at[index - 1];
	if (!vec_push(&w->times) || !map_set(&w->by_cpu, key, (void *)(uintptr_t)w->times.n))
		return NULL;
	return &w->times.at[w->times.n - 1];
}

static void check_time(struct watcher *w, const struct spur_trace *t, const struct spur_record *r)
{
	uint64_t *last = last_time(w, t, r);

	if (!last)
		return;
	if (*last > r->ts)
		cli_error("a record on CPU %u went backwards: %llu to %llu, by %llu", r->cpu,
			  (unsigned long long)*last, (unsigned long long)r->ts,
			  (unsigned long long)(*last - r->ts));
	*last = r->ts;
}

static void watch(void *arg, const struct spur_trace *t, struct event *e,
		  const struct spur_record *r, struct buf *out)
{
	struct watcher *w = arg;
	const size_t start = out->len;

	if (w->o->ts_check)
		check_time(w, t, r);
	if (w->wakeup)
		wakeup_watch(w->wakeup, t, e, r, out);
	if (w->o->emit.colour)
		buf_clean(out, start);
}

static const struct emit_ops *choose_emitter(const struct report_options *o)
{
	if (o->json)
		return &emit_json;
	if (o->csv)
		return &emit_csv;
	return o->fields ? &emit_table : &emit_text;
}

/* JSON, CSV and tables have no colours. */
static int write_out(void *arg, const char *data, size_t len)
{
	const struct report_options *o = arg;

	return o->emit.colour && choose_emitter(o) == &emit_text ? cli_write_coloured(data, len)
								 : cli_write(data, len);
}

static int run_report(const struct report_options *o, struct report *rep, struct spur_error *err)
{
	struct progress progress;
	struct watcher w = {.o = o};
	scoped_buf text = buf_new(4096);
	int rc;

	if (o->wakeup)
		w.wakeup = wakeup_new(o->inputs.at[0].trace);
	if (w.wakeup || o->ts_check) {
		rep->watch = watch;
		rep->watch_arg = &w;
	}
	progress_begin(&progress);
	if (o->progress) {
		rep->progress = progress_show;
		rep->progress_arg = &progress;
	}
	rc = o->tail ? report_tail(rep, (uint64_t)o->tail, err) : report_run(rep, err);
	progress_end(&progress);
	if (w.wakeup && rc == 0) {
		wakeup_summary(w.wakeup, &text);
		rc = cli_write(text.data, text.len);
	}
	wakeup_free(w.wakeup);
	map_free(&w.by_cpu);
	vec_free(&w.times);
	return rc;
}

/* The text of a latency tracer, which was stored as it stood in the kernel's `trace` file. */
static int print_text_buffer(const struct report_input *in)
{
	char piece[65536];
	uint64_t pos = 0;
	int64_t n;
	int rc;

	while ((n = dat_text_read(in->trace->dat, in->trace->buffers[0].data, pos, piece,
				  sizeof(piece))) > 0 &&
	       !cli_stop) {
		rc = cli_write(piece, (size_t)n);
		if (rc < 0)
			return rc;
		pos += (uint64_t)n;
	}
	putchar('\n');
	return cli_stop ? -EINTR : 0;
}

static bool is_text(const struct report_input *in)
{
	return in->trace->nr_buffers && in->trace->buffers[0].data->text;
}

/* The lines before the records. True when no records will follow; *rc then says why. */
static bool print_heads(const struct report_options *o, int *rc)
{
	bool facts = o->show_stat || o->show_uname || o->show_version;

	vec_each (in, &o->inputs) {
		bool text = is_text(in);
		uint32_t cpus = in->trace->dat->nr_cpus;

		if (in->trace->nr_buffers && !text)
			cpus = trace_buffer_cpus(&in->trace->buffers[0]);
		if (o->several)
			cli_printf("%*s: ", o->emit.label_width, report_label(in));
		printf("cpus=%u\n", cpus);
		if (text) {
			*rc = print_text_buffer(in);
			return true;
		}
		if (facts)
			report_show_facts(o, in);
	}
	return facts;
}

/* After what could be read: messages about the rest. */
static int report_damage(const struct report_options *o, int status)
{
	vec_each (in, &o->inputs) {
		int damage = in->trace ? cli_damage(in->trace->dat) : SPUR_OK;

		if (status == SPUR_OK)
			status = damage;
	}
	return status;
}

/* -T: what the filters became. */
static void show_filters(const struct selection *sel)
{
	scoped_buf text = buf_new(64u << 20);

	for (size_t i = 0; i < sel->nr_filters; i++) {
		if (sel->filters[i].wanted)
			filter_show(sel->filters[i].wanted, &text);
		if (sel->filters[i].unwanted)
			filter_show(sel->filters[i].unwanted, &text);
	}
	cli_put(text.data, text.len);
}

/* What the options say about the records to show. */
static int select_records(struct report_options *o, struct selection *sel, struct spur_error *err)
{
	int rc;

	*sel = (struct selection){.cpus = o->cpus.bits,
				  .nr_cpus = o->cpus.nr,
				  .no_irqs = o->no_irqs,
				  .no_softirqs = o->no_softirqs};
	sel->has_since = o->since;
	sel->has_until = o->until;
	rc = report_times(o, &sel->since, &sel->until, err);
	if (rc == 0)
		rc = report_make_filters(o, sel, err);
	if (sel->nr_filters)
		sel->stacks =
			o->emit.compat == COMPAT_31 ? SELECT_STACKS_LOOSE : SELECT_STACKS_FOLLOW;
	return rc;
}

/* Everything up to the first record; true when no records will follow. */
static bool before_records(struct report_options *o, const struct selection *sel, int *rc,
			   struct spur_error *err)
{
	if (o->test_filters) {
		show_filters(sel);
		return true;
	}
	if (o->align_ts)
		report_align(o);
	if (o->json || o->csv || o->fields)
		return false;
	*rc = report_show_hooks(o, err);
	return *rc < 0 || print_heads(o, rc);
}

/* A latency trace is text: there are no records to merge with others or to take apart. */
static int check_text(const struct report_options *o, struct spur_error *err)
{
	vec_each (in, &o->inputs) {
		if (!is_text(in))
			continue;
		if (o->several)
			return error_set(
				err, -EINVAL,
				"%s is a latency trace, which cannot be merged with others",
				in->path);
		if (o->json || o->csv || o->fields || o->profile || o->graph)
			return error_set(
				err, -EINVAL,
				"%s is a latency trace: text, without records to take apart",
				in->path);
	}
	return 0;
}

static int show_records(struct report_options *o)
{
	struct emit_columns columns = {0};
	struct report_sources sources = {0};
	struct spur_trace **traces = calloc(o->inputs.n, sizeof(*traces));
	struct report rep = {
		.write = write_out, .arg = o, .stop = &cli_stop, .emit = choose_emitter(o)};
	struct spur_error err = {0};
	int rc = -ENOMEM;

	if (!traces || !report_collect_sources(o, &sources))
		goto out;
	rc = check_text(o, &err);
	if (rc == 0)
		rc = select_records(o, &rep.select, &err);
	if (rc == 0 && o->fields)
		rc = columns_parse(&columns, o->fields, &err);
	if (rc < 0 || before_records(o, &rep.select, &rc, &err))
		goto out;
	for (size_t i = 0; i < o->inputs.n; i++)
		traces[i] = o->inputs.at[i].trace;
	rc = trace_map_guests(traces, o->inputs.n);
	if (rc < 0)
		goto out;
	rep.traces = traces;
	rep.nr_traces = o->inputs.n;
	rep.sources = sources.at;
	rep.nr_sources = sources.n;
	rep.options = o->emit;
	rep.options.columns = o->fields ? &columns : NULL;
	rep.head = (uint64_t)o->head;
	rep.threads = (unsigned int)o->threads;
	rc = o->profile ? report_profile(o, &rep, &err) : run_report(o, &rep, &err);
out:
	report_free_filters(&rep.select);
	columns_free(&columns);
	vec_free(&sources);
	free(traces);
	return cli_result(rc, "writing the report", &err);
}

/* Options that contradict each other. NULL when none do. */
static const char *find_conflict(const struct report_options *o)
{
	const struct {
		bool found;
		const char *text;
	} conflicts[] = {
		{o->several && o->wakeup, "-w works on a single file"},
		{o->wakeup && (o->json || o->csv || o->fields),
		 "-w is text: not with --json, --csv or --fields"},
		{o->json && o->csv, "--json or --csv, not both"},
		{o->head && o->tail, "--head or --tail, not both"},
		{o->profile && (o->json || o->csv || o->fields),
		 "--profile is text: not with --json, --csv or --fields"},
		{o->profile && (o->head || o->tail),
		 "--profile is about all events: not with --head or --tail"},
		{o->graph && o->several, "--graph works on a single file"},
		{o->graph && (o->json || o->csv || o->fields || o->profile || o->wakeup),
		 "--graph is text: not with --json, --csv, --fields, --profile or -w"},
		{o->graph && (o->head || o->tail),
		 "--graph is about whole calls: not with --head or --tail"},
		{!o->graph && (o->graph_min || o->graph_depth || o->graph_functions.n),
		 "--graph-min, --graph-depth and --graph-function belong to --graph"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(conflicts); i++)
		if (conflicts[i].found)
			return conflicts[i].text;
	return NULL;
}

static int check_options(struct report_options *o, int others, char **argv)
{
	const char *conflict = find_conflict(o);

	/* Some options imply others. */
	o->show_cpus |= o->show_first || o->show_last;
	o->emit.no_plugins |= o->no_user_plugins;
	o->emit.boundary |= o->emit.debug;
	if (others > 1 || (others && o->inputs.n))
		conflict = "one file, or several with -i each";
	if (conflict)
		return cli_wrong("%s", conflict);
	if (strcmp(o->compat, "3.1") == 0) {
		o->emit.compat = COMPAT_31;
	} else if (strcmp(o->compat, "3.4") != 0) {
		return cli_wrong("--compat: 3.4 or 3.1, not '%s'", o->compat);
	}
	if (!cli_colour(o->colour, &o->emit.colour) || !cli_threads(&o->threads))
		return SPUR_USAGE;
	if (!o->inputs.n && report_add_input(o, others ? argv[0] : DEFAULT_FILE) < 0)
		return cli_refused("out of memory");
	return SPUR_OK;
}

/* Facts are shown instead of records, and so is the text of a latency trace. */
static bool shows_tree(const struct report_options *o)
{
	return o->graph && !o->test_filters && !o->show_stat && !o->show_uname &&
	       !o->show_version && !is_text(&o->inputs.at[0]);
}

static int show_everything(struct report_options *o)
{
	int status = report_open_inputs(o);

	if (status)
		return status;
	cli_pager_begin(!o->no_pager);
	vec_each (in, &o->inputs) {
		if (report_show(o, in, &status))
			return status;
		status = report_mark_events(o, in);
		if (status)
			return status;
		if (o->show_cpus)
			report_show_cpus(o, in);
	}
	if (o->show_cpus)
		return status;
	return shows_tree(o) ? report_graph(o) : show_records(o);
}

void report_free(void *options)
{
	struct report_options *o = options;

	vec_each (in, &o->inputs) {
		trace_close(in->trace);
		vec_free(&in->filters);
	}
	vec_free(&o->inputs);
	vec_free(&o->early.filters);
	vec_free(&o->plugin_options);
}

static int run(void *options, int others, char **argv)
{
	struct report_options *o = options;
	int status = check_options(o, others, argv);

	if (status != SPUR_OK)
		return status;
	cli_catch_signals();
	status = show_everything(o);
	cli_pager_end();
	return report_damage(o, status);
}

const struct command command_report = {
	.name = "report",
	.summary = "show the events of a trace",
	.usage = "[options] [FILE]",
	COMMAND_OPTS(opts, struct report_options),
	.defaults = &(const struct report_options){.colour = "auto", .compat = "3.4"},
	.run = run,
	.release = report_free,
};
