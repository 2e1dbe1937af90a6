// SPDX-License-Identifier: GPL-2.0-or-later
/* The options of `spur report`: those of trace-cmd report, and what its users miss. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "cli/plugin_options.h"
#include "cli/report.h"

static int add_name(struct name_list *list, const char *name)
{
	const char **slot = vec_push(list);

	if (!slot)
		return -ENOMEM;
	*slot = name;
	return 0;
}

/* The input that options now belong to. */
static struct report_input *current(struct report_options *o)
{
	return o->inputs.n ? &o->inputs.at[o->inputs.n - 1] : &o->early;
}

static int take_input(void *options, const struct opt *opt, const char *arg)
{
	struct report_options *o = options;
	struct report_input *in = vec_push(&o->inputs);

	if (!in)
		return -ENOMEM;
	if (o->inputs.n == 1) {
		*in = o->early;
		memset(&o->early, 0, sizeof(o->early));
	}
	in->path = arg;
	o->several = o->inputs.n > 1;
	return 0;
}

static int take_filter(void *options, const struct opt *opt, const char *arg)
{
	struct report_options *o = options;
	struct report_filter *f = vec_push(&current(o)->filters);

	if (!f)
		return -ENOMEM;
	*f = (struct report_filter){arg, o->negate};
	return 0;
}

static int take_ts_offset(void *options, const struct opt *opt, const char *arg)
{
	struct report_options *o = options;
	int64_t offset;

	if (!o->inputs.n)
		return opt_error(opt, "must come after -i");
	if (!parse_number(arg, &offset))
		return opt_error(opt, "'%s' is not a number", arg);
	/* As in trace-cmd it moves a file against others; a single one stays where it is. */
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
	/* As in trace-cmd: before the second file it holds for all that do not have their own. */
	*(o->several ? &current(o)->ts_hz : &o->ts_hz) = (uint64_t)hz;
	return 0;
}

static int take_cpus(void *options, const struct opt *opt, const char *arg)
{
	return cpu_list_add(&((struct report_options *)options)->cpus, opt, arg);
}

static int take_count(void *options, const struct opt *opt, const char *arg)
{
	int64_t n;

	if (!parse_number(arg, &n) || n < 1)
		return opt_error(opt, "'%s' is not a number of events", arg);
	*(int64_t *)(void *)((char *)options + opt->offset) = n;
	return 0;
}

static int ignore(void *options, const struct opt *opt, const char *arg)
{
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

static int take_first(void *options, const struct opt *opt, const char *arg)
{
	struct report_options *o = options;

	o->show_cpus = o->show_first = true;
	return 0;
}

static int take_last(void *options, const struct opt *opt, const char *arg)
{
	struct report_options *o = options;

	o->show_cpus = o->show_last = true;
	return 0;
}

static int take_no_plugins(void *options, const struct opt *opt, const char *arg)
{
	struct report_options *o = options;

	o->emit.no_plugins = o->no_user_plugins = true;
	return 0;
}

static int take_debug(void *options, const struct opt *opt, const char *arg)
{
	struct report_options *o = options;

	o->emit.debug = o->emit.boundary = true;
	return 0;
}

/* The value of a switch: the contrary of what it normally is when none is given. */
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

/* [plugin:]name[=value]; what is no builtin printer's is for a plugin of the user's. */
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
	return add_name(&o->plugin_options, arg);
}

static int take_list(void *options, const struct opt *opt, const char *arg)
{
	return add_name((struct name_list *)((char *)options + opt->offset), arg);
}

#define AT(field) offsetof(struct report_options, field)

static const struct opt opts[] = {
	{.kind = OPT_GROUP, .help = "What to read"},
	{'i', NULL, OPT_CALL, "FILE", "read this file (trace.dat); several are merged by time",
	 .call = take_input, .values = "FILE"},
	{0, "cpu", OPT_CALL, "LIST", "only these CPUs, as in 0,2-4; counted through all buffers",
	 .call = take_cpus},
	{'F', NULL, OPT_CALL, "FILTER", "only what matches: [system/]event: expression",
	 .call = take_filter},
	{'v', NULL, OPT_CALL, NULL, "filters that follow say what to leave out",
	 .call = take_negate},
	{'T', "filter-test", OPT_FLAG, NULL, "check the filters and show what they became",
	 AT(test_filters)},
	{0, "pid", OPT_CALL, "LIST", "only events of or about these tasks", AT(pids), take_list},
	{0, "comm", OPT_CALL, "LIST", "only events of or about tasks of these names", AT(comms),
	 take_list},
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
	{'r', NULL, OPT_CALL, "REGEX", "raw for events of this name or system", AT(raw_events),
	 take_list},
	{0, "pretty", OPT_FLAG, NULL, "system calls with names for flags and errors",
	 AT(emit.pretty)},
	{0, "json", OPT_FLAG, NULL, "one JSON object a line", AT(json)},
	{0, "csv", OPT_FLAG, NULL, "comma-separated values", AT(csv)},
	{0, "fields", OPT_STRING, "LIST",
	 "only these columns: ts, time, cpu, pid, comm, …, or fields", AT(fields)},
	{0, "color", OPT_STRING, "WHEN", "auto, always or never", AT(colour),
	 .values = "auto always never"},
	{0, "pager", OPT_CLEAR, NULL, "page the output on a terminal (the default)", AT(no_pager)},
	{0, "no-pager", OPT_FLAG, NULL, "do not", AT(no_pager)},
	{0, "compat", OPT_STRING, "VERSION", "the text of trace-cmd 3.4 (default) or 3.1",
	 AT(compat), .values = "3.4 3.1"},
	{0, "threads", OPT_NUMBER, "N", "use so many threads instead of one per CPU", AT(threads)},
	{0, "progress", OPT_FLAG, NULL, "show on standard error how far it is", AT(progress)},
	{'q', NULL, OPT_FLAG, NULL, "no warnings", AT(quiet)},

	{.kind = OPT_GROUP, .help = "Function calls"},
	{0, "graph", OPT_CALL, "[ORDER]", "calls as a tree, one task after the other; or by time",
	 .call = report_take_graph, .values = "task time"},
	{0, "graph-min", OPT_CALL, "TIME", "only count shorter calls: 10us, 1ms",
	 .call = report_take_graph_min},
	{0, "graph-depth", OPT_CALL, "N", "so many levels of calls",
	 .call = report_take_graph_depth},
	{0, "graph-function", OPT_CALL, "NAME",
	 "only calls of this function, in which * and ? stand for anything",
	 .call = report_take_graph_function},

	{.kind = OPT_GROUP, .help = "Time"},
	{0, "ts-offset", OPT_CALL, "N", "add N to the times of the file before (with several -i)",
	 .call = take_ts_offset},
	{0, "ts2secs", OPT_CALL, "HZ", "the clock of the file before ticks HZ times a second",
	 .call = take_ts2secs},
	{0, "ts-diff", OPT_FLAG, NULL, "show the time since the line before", AT(emit.ts_diff)},
	{0, "ts-check", OPT_FLAG, NULL, "warn when time goes backwards", AT(ts_check)},
	{0, "nodate", OPT_FLAG, NULL, "ignore the date recorded with --date", AT(no_date)},
	{0, "raw-ts", OPT_FLAG, NULL, "times as they are in the ring buffer", AT(raw_ts)},
	{0, "align-ts", OPT_FLAG, NULL, "the first event is at time 0", AT(align_ts)},

	{.kind = OPT_GROUP, .help = "Latencies"},
	{'w', NULL, OPT_FLAG, NULL, "show wakeup latencies", AT(wakeup)},
	{0, "profile", OPT_FLAG, NULL, "show where tasks spent their time", AT(profile)},
	{'H', NULL, OPT_CALL, "HOOK", "with --profile: EVENT,FIELD/EVENT,FIELD begin and end",
	 AT(hooks), take_list},
	{'G', NULL, OPT_FLAG, NULL, "with --profile: interrupts belong to their CPU", AT(global)},
	{0, "by-comm", OPT_FLAG, NULL, "with --profile: tasks of one name together", AT(by_comm)},

	{.kind = OPT_GROUP, .help = "Event types and plugins"},
	{'N', NULL, OPT_CALL, NULL, "no plugins: what the print formats say",
	 .call = take_no_plugins},
	{'L', NULL, OPT_FLAG, NULL, "only plugins of the user's own", AT(emit.no_plugins)},
	{'n', NULL, OPT_CALL, "REGEX", "no plugin for events of this name or system",
	 AT(plain_events), take_list},
	{'O', NULL, OPT_CALL, "NAME[=VALUE]", "set an option of a plugin",
	 .call = take_plugin_option},
	{0, "kallsyms", OPT_STRING, "FILE", "names of functions from this file too", AT(kallsyms),
	 .values = "FILE"},

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
	{0, "first-event", OPT_CALL, NULL, "…and the time of their first event",
	 .call = take_first},
	{0, "last-event", OPT_CALL, NULL, "…and of their last one", .call = take_last},
	{0, "stat", OPT_FLAG, NULL, "show the ring buffers' statistics", AT(show_stat)},
	{0, "uname", OPT_FLAG, NULL, "show the machine", AT(show_uname)},
	{0, "version", OPT_FLAG, NULL, "show the version of the recorder", AT(show_version)},
	{0, "boundary", OPT_FLAG, NULL, "mark where pages of the ring buffer begin",
	 AT(emit.boundary)},
	{0, "debug", OPT_CALL, NULL, "…and show what stands between events", .call = take_debug},
	{'V', "verbose", OPT_CALL, "[LEVEL]", "accepted for trace-cmd's sake", .call = ignore},
};

const struct command command_report = {
	.name = "report",
	.summary = "show the events of a trace",
	.usage = "[options] [FILE]",
	.opts = opts,
	.nr_opts = sizeof(opts) / sizeof(opts[0]),
	.run = report_main,
};
