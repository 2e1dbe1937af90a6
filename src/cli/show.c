// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur show`: the kernel's own text of a buffer, or one of its settings. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/suggest.h"
#include "base/vec.h"
#include "cli/live.h"

#define PATH_CAP 512

/* A setting to be shown. */
struct setting {
	const struct opt *option;
	const char *event; /* NULL: not an event's */
};

struct show_options {
	const char *instance;
	const char *cpu;
	bool pipe, snapshot, name, no_pager;
	vec_of(struct setting) settings;
};

static int take_setting(void *options, const struct opt *opt, const char *arg)
{
	struct show_options *o = options;
	const struct setting s = {opt, arg};

	return vec_add(&o->settings, &s) ? 0 : -ENOMEM;
}

static int take_instance(void *options, const struct opt *opt, const char *arg)
{
	struct show_options *o = options;

	if (o->instance)
		return opt_error(opt, "one buffer at a time");
	o->instance = arg;
	return 0;
}

#define AT(field) offsetof(struct show_options, field)

static const struct opt opts[] = {
	{'p', NULL, OPT_FLAG, NULL, "remove the events from the buffer (trace_pipe), and wait",
	 AT(pipe)},
	{'s', NULL, OPT_FLAG, NULL, "the snapshot", AT(snapshot)},
	{'c', NULL, OPT_STRING, "CPU", "only this CPU", AT(cpu)},
	{'B', NULL, OPT_CALL, "NAME", "of this instance", .call = take_instance},
	{'f', NULL, OPT_FLAG, NULL, "name the file first", AT(name)},
	{0, "pager", OPT_CLEAR, NULL, "page the output on a terminal (the default)", AT(no_pager)},
	{0, "no-pager", OPT_FLAG, NULL, "do not", AT(no_pager)},

	{.kind = OPT_GROUP, .help = "Settings instead of the buffer"},
	{0, "tracing_on", OPT_VEC, NULL, "whether the buffer accepts events", AT(settings),
	 take_setting},
	{0, "current_tracer", OPT_VEC, NULL, "the tracer", AT(settings), take_setting},
	{0, "buffer_size", OPT_VEC, NULL, "the size per CPU, in kB", AT(settings), take_setting},
	{0, "buffer_total_size", OPT_VEC, NULL, "the size of all CPUs, in kB", AT(settings),
	 take_setting},
	{0, "buffer_subbuf_size", OPT_VEC, NULL, "the size of a sub-buffer, in kB", AT(settings),
	 take_setting},
	{0, "buffer_percent", OPT_VEC, NULL, "how full it is when readers wake up", AT(settings),
	 take_setting},
	{0, "ftrace_filter", OPT_VEC, NULL, "the functions that are traced", AT(settings),
	 take_setting},
	{0, "ftrace_notrace", OPT_VEC, NULL, "the functions that are not", AT(settings),
	 take_setting},
	{0, "ftrace_pid", OPT_VEC, NULL, "the tasks whose functions are traced", AT(settings),
	 take_setting},
	{0, "graph_function", OPT_VEC, NULL, "the functions whose calls are graphed", AT(settings),
	 take_setting},
	{0, "graph_notrace", OPT_VEC, NULL, "the functions whose calls are not", AT(settings),
	 take_setting},
	{0, "cpumask", OPT_VEC, NULL, "the CPUs that are traced", AT(settings), take_setting},
	{0, "max_latency", OPT_VEC, NULL, "the longest latency of a latency tracer, in us",
	 AT(settings), take_setting},
	{0, "hist", OPT_VEC, "EVENT", "an event's histogram", AT(settings), take_setting},
	{0, "trigger", OPT_VEC, "EVENT", "an event's triggers", AT(settings), take_setting},
	{0, "filter", OPT_VEC, "EVENT", "an event's filter", AT(settings), take_setting},
};

/* ---- settings ---- */

/* The file that an option shows: of its name, but for these. */
static const char *file_of(const struct opt *o)
{
	static const struct {
		const char *option, *file;
	} others[] = {
		{"buffer_size", "buffer_size_kb"},
		{"buffer_total_size", "buffer_total_size_kb"},
		{"buffer_subbuf_size", "buffer_subbuf_size_kb"},
		{"ftrace_filter", "set_ftrace_filter"},
		{"ftrace_notrace", "set_ftrace_notrace"},
		{"ftrace_pid", "set_ftrace_pid"},
		{"graph_function", "set_graph_function"},
		{"graph_notrace", "set_graph_notrace"},
		{"cpumask", "tracing_cpumask"},
		{"max_latency", "tracing_max_latency"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (strcmp(others[i].option, o->name) == 0)
			return others[i].file;
	return o->name;
}

/* The path of an event's file; false after a message when there is no such event. */
static bool event_path(const struct tracefs *fs, const char *instance, const struct setting *s,
		       char *path, size_t cap)
{
	struct suggest near = suggest_for(s->event, strlen(s->event));
	struct tracefs_events list;
	struct spur_error err = {0};
	bool found = false;

	if (tracefs_events_load(fs, instance, &list, &err) < 0) {
		cli_fail(&err);
		return false;
	}
	for (size_t i = 0; i < list.n && !found; i++) {
		const struct tracefs_event *e = &list.at[i];

		/* A word alone is an event's name here, never all events of a system. */
		found = strpbrk(s->event, ":/") ? tracefs_event_matches(e, s->event)
						: strcmp(e->name, s->event) == 0;
		if (found)
			snprintf(path, cap, "events/%s/%s/%s", e->system, e->name,
				 file_of(s->option));
		else
			suggest_try(&near, e->name);
	}
	if (!found)
		cli_error("there is no event '%s'%s", s->event,
			  suggest_hint_or(&near, "; 'spur list -e' lists them"));
	tracefs_events_free(&list);
	return found;
}

static int show_setting(const struct tracefs *fs, const char *instance, const struct setting *s)
{
	const char *file = file_of(s->option);
	char path[PATH_CAP];

	if (s->event) {
		if (!event_path(fs, instance, s, path, sizeof(path)))
			return SPUR_USAGE;
		if (strcmp(file, "hist") == 0 && !tracefs_has(fs, instance, path))
			return cli_refused("this kernel has no histograms (CONFIG_HIST_TRIGGERS)");
		return live_copy(fs, instance, path);
	}
	if (!tracefs_has(fs, instance, file))
		return cli_refused("%s: this kernel has no such setting here", file);
	return live_copy(fs, instance, file);
}

/* ---- the buffer ---- */

static int show_buffer(const struct tracefs *fs, const struct show_options *o)
{
	const char *file = o->pipe ? "trace_pipe" : o->snapshot ? "snapshot" : "trace";
	char path[PATH_CAP], whole[2 * PATH_CAP];
	int64_t cpu = 0;

	if (o->cpu && (!parse_number(o->cpu, &cpu) || cpu < 0))
		return cli_wrong("-c: '%s' is not a CPU", o->cpu);
	if (o->snapshot && !tracefs_has(fs, o->instance, file))
		return cli_refused("this kernel has no snapshots (CONFIG_TRACER_SNAPSHOT)");
	snprintf(path, sizeof(path), "%s", file);
	if (o->cpu)
		snprintf(path, sizeof(path), "per_cpu/cpu%lld/%s", (long long)cpu, file);
	if (o->cpu && !tracefs_has(fs, o->instance, path))
		return cli_refused("there is no CPU %s", o->cpu);
	if (o->name && tracefs_path(fs, o->instance, path, whole, sizeof(whole)))
		printf("%s\n", whole);
	return live_copy(fs, o->instance, path);
}

static int show(const struct show_options *o)
{
	struct tracefs fs;
	int status = live_open(&fs);

	if (status != SPUR_OK)
		return status;
	if (!live_has_instance(&fs, o->instance))
		return SPUR_ENVIRONMENT;
	cli_catch_signals();
	if (!o->settings.n) {
		cli_pager_begin(!o->pipe && !o->no_pager);
		status = show_buffer(&fs, o);
		cli_pager_end();
	}
	vec_each (s, &o->settings) {
		int one = show_setting(&fs, o->instance, s);

		status = status ? status : one;
	}
	return status;
}

static int run(void *options, int others, char **argv)
{
	const struct show_options *o = options;

	if (o->pipe && o->snapshot)
		return cli_wrong("-p or -s, not both");
	if (o->settings.n && (o->pipe || o->snapshot || o->cpu || o->name))
		return cli_wrong("-p, -s, -c and -f are about the buffer: not with --%s",
				 o->settings.at[0].option->name);
	return show(o);
}

const struct command command_show = {
	.name = "show",
	.summary = "print the kernel's buffer, or a setting",
	.usage = "[-p | -s] [-c CPU] [-B NAME] [options]",
	COMMAND_OPTS(opts, struct show_options),
	.run = run,
	.takes_nothing = LIVE_TAKES_NOTHING,
};
