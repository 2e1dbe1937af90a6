// SPDX-License-Identifier: GPL-2.0-or-later
/* The options that say what to trace, and the request that they fill. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/vec.h"
#include "cli/tracing_opts.h"
#include "record/setup.h"
#include "stats/profile/hook.h"

#define AT(field) offsetof(struct tracing_options, field)

/* ---- events ---- */

/* -e, and the options of probes. */
static int take_event(void *options, const struct opt *opt, const char *arg)
{
	static const struct {
		const char *name;
		enum request_event_kind kind;
		enum probe_kind probe;
	} kinds[] = {
		{"kprobe", WANT_PROBE, PROBE_KPROBE}, {"kretprobe", WANT_PROBE, PROBE_KRETPROBE},
		{"uprobe", WANT_PROBE, PROBE_UPROBE}, {"uretprobe", WANT_PROBE, PROBE_URETPROBE},
		{"usdt", WANT_PROBE, PROBE_USDT},     {"eprobe", WANT_PROBE, PROBE_EPROBE},
		{"synth", WANT_SYNTH, PROBE_KPROBE},
	};
	struct tracing_options *w = options;
	enum request_event_kind kind = WANT_EVENTS;
	enum probe_kind probe = PROBE_KPROBE;
	struct request_event *e;

	for (size_t i = 0; opt->name && i < ARRAY_SIZE(kinds); i++)
		if (strcmp(kinds[i].name, opt->name) == 0) {
			kind = kinds[i].kind;
			probe = kinds[i].probe;
		}
	e = request_add_event(&w->request, kind, arg);
	if (!e)
		return -ENOMEM;
	e->probe = probe;
	e->exclude = w->exclude;
	w->excludes |= w->exclude;
	return 0;
}

/* The events that the previous option added, for -f, -R and -v; returns how many. */
static size_t last_events(struct tracing_options *w, struct request_event **first)
{
	struct request_buffer *b = request_buffer(&w->request);

	if (!b || !b->events.n)
		return 0;
	*first = &b->events.at[b->last];
	return b->events.n - b->last;
}

static int take_preset(void *options, const struct opt *opt, const char *arg)
{
	struct tracing_options *w = options;
	struct request_event *e;
	int rc = request_add_preset(&w->request, arg);

	if (rc == -ENOENT)
		return opt_error(opt, "'%s' is none of: %s", arg, request_presets());
	if (rc < 0)
		return -ENOMEM;
	for (size_t n = last_events(w, &e); n--; e++)
		e->exclude = w->exclude;
	return 0;
}

static int no_events(const struct opt *opt)
{
	return opt_error(opt, "belongs to an event: it comes after -e or a probe");
}

/* All of several filters have to hold. */
static int take_filter(void *options, const struct opt *opt, const char *arg)
{
	struct tracing_options *w = options;
	struct request_event *e;
	size_t n = last_events(w, &e);
	const char *filter = arg;

	if (!n)
		return no_events(opt);
	if (e->filter) {
		char **both = vec_push(&w->owned);

		if (!both || asprintf(both, "(%s) && (%s)", e->filter, arg) < 0)
			return -ENOMEM;
		filter = *both;
	}
	for (; n--; e++)
		e->filter = filter;
	return 0;
}

static int take_trigger(void *options, const struct opt *opt, const char *arg)
{
	struct request_event *e;
	size_t n = last_events(options, &e);

	if (!n)
		return no_events(opt);
	for (; n--; e++)
		if (!string_refs_add(&e->triggers, arg))
			return -ENOMEM;
	return 0;
}

/* ---- buffers ---- */

static int take_buffer(void *options, const struct opt *opt, const char *arg)
{
	struct tracing_options *w = options;

	if (!*arg || strchr(arg, '/') || *arg == '.')
		return opt_error(opt, "'%s' is no name for an instance", arg);
	/* Options before the first -B are about the main buffer. */
	if (!request_buffer(&w->request))
		return -ENOMEM;
	/* A -v that was not about events is about the instance. */
	if (w->exclude && !w->excludes) {
		w->exclude = false;
		return string_refs_add(&w->removed, arg) ? 0 : -ENOMEM;
	}
	w->exclude = w->excludes = false;
	return request_add_buffer(&w->request, arg) ? 0 : -ENOMEM;
}

/* A field of the current buffer, whose offset the option has; NULL without memory. */
static void *buffer_field(void *options, const struct opt *opt)
{
	struct tracing_options *w = options;
	struct request_buffer *b = request_buffer(&w->request);

	return b ? (char *)b + opt->offset : NULL;
}

static int set_text(void *options, const struct opt *opt, const char *arg)
{
	const char **field = buffer_field(options, opt);

	if (!field)
		return -ENOMEM;
	*field = arg;
	return 0;
}

static int set_cpumask(void *options, const struct opt *opt, const char *arg)
{
	if (strcmp(arg, "-1") != 0 && arg[strspn(arg, "0123456789abcdefABCDEF,")])
		return opt_error(opt, "'%s' is no mask of CPUs: hexadecimal, 3 is CPU 0 and 1",
				 arg);
	/* A new buffer has all CPUs. */
	return set_text(options, opt, strcmp(arg, "-1") == 0 ? NULL : arg);
}

static int set_kilobytes(void *options, const struct opt *opt, const char *arg)
{
	uint64_t *field = buffer_field(options, opt);

	if (!field)
		return -ENOMEM;
	if (!parse_kilobytes(arg, field) || !*field)
		return opt_error(opt, "'%s' is no number of kilobytes", arg);
	return 0;
}

static int add_name(void *options, const struct opt *opt, const char *arg)
{
	struct string_refs *field = buffer_field(options, opt);

	return field && string_refs_add(field, arg) ? 0 : -ENOMEM;
}

static int add_stacktrace(void *options, const struct opt *opt, const char *arg)
{
	return add_name(options, opt, "stacktrace");
}

/* ---- tasks ---- */

static int take_pids(void *options, const struct opt *opt, const char *arg)
{
	struct tracing_options *w = options;

	if (!*arg)
		return opt_error(opt, "names no process");
	while (*arg) {
		char *end;
		long pid = strtol(arg, &end, 10);

		if (end == arg || pid <= 0 || (*end && *end != ',' && *end != ' ') || pid > 1 << 30)
			return opt_error(opt, "'%s' is no list of process numbers", arg);
		if (!vec_add(&w->request.pids, &(pid_t){(pid_t)pid}))
			return -ENOMEM;
		arg = *end ? end + 1 : end;
	}
	return 0;
}

static int take_thresh(void *options, const struct opt *opt, const char *arg)
{
	struct tracing_options *w = options;
	uint64_t ns;

	if (!parse_time(arg, &ns) || ns < 1000)
		return opt_error(opt, "'%s' is not a time of a microsecond or more", arg);
	w->request.thresh_us = ns / 1000;
	return 0;
}

#define REQ(field)    AT(request.field)
#define BUFFER(field) offsetof(struct request_buffer, field)

const struct opt tracing_opts[] = {
	{0, NULL, OPT_GROUP, NULL, "Which events"},
	{'e', NULL, OPT_CALL, "EVENT", "a system, an event, a glob, or all; syscall:NAME", 0,
	 take_event, .values = "EVENT"},
	{'f', NULL, OPT_CALL, "FILTER", "only events that match; after -e", 0, take_filter},
	{'R', NULL, OPT_CALL, "TRIGGER", "do this when the event happens; after -e", 0,
	 take_trigger},
	{'v', NULL, OPT_FLAG, NULL, "leave out the events after it", AT(exclude)},
	{'i', NULL, OPT_FLAG, NULL, "ignore events that do not exist", REQ(ignore_missing)},
	{0, "preset", OPT_CALL, "NAME", "a group of events: sched, irq, block, …", 0, take_preset,
	 .values = "sched irq block net syscall rt boot"},
	{'T', NULL, OPT_CALL, NULL, "a stack trace with every event", BUFFER(options),
	 add_stacktrace},

	{0, NULL, OPT_GROUP, NULL, "Probes, for the time of the recording"},
	{0, "kprobe", OPT_CALL, "PROBE", "a function of the kernel: 'vfs_read count=%dx'", 0,
	 take_event},
	{0, "kretprobe", OPT_CALL, "PROBE", "its return: 'vfs_read ret=$retval:s64'", 0,
	 take_event},
	{0, "uprobe", OPT_CALL, "PROBE", "a function of a program: './prog:work'", 0, take_event},
	{0, "uretprobe", OPT_CALL, "PROBE", "its return", 0, take_event},
	{0, "usdt", OPT_CALL, "PROBE", "a static probe of a program: 'libc:memory_heap_new'", 0,
	 take_event},
	{0, "eprobe", OPT_CALL, "PROBE", "an event with other fields", 0, take_event},
	{0, "synth", OPT_CALL, "DEFINITION", "a synthetic event: 'lat u64 lat; pid_t pid'", 0,
	 take_event},

	{0, NULL, OPT_GROUP, NULL, "Tracers"},
	{'p', NULL, OPT_CALL, "TRACER", "function, function_graph, …: 'spur list -t'",
	 BUFFER(tracer), set_text},
	{'l', NULL, OPT_CALL, "FUNCTION", "trace only this function; globs, ^regex$",
	 BUFFER(functions), add_name},
	{'g', NULL, OPT_CALL, "FUNCTION", "graph this function and what it calls", BUFFER(graph),
	 add_name},
	{'n', NULL, OPT_CALL, "FUNCTION", "do not trace this function", BUFFER(hidden), add_name},
	{0, "module", OPT_STRING, "MODULE", "only functions of this module", REQ(module)},
	{0, "max-graph-depth", OPT_NUMBER, "N", "how deep calls are followed", AT(max_graph_depth)},
	{0, "thresh", OPT_CALL, "TIME", "only calls that take longer: 100us", 0, take_thresh},
	{0, "func-stack", OPT_FLAG, NULL, "a stack trace with every function; use with -l",
	 REQ(function_stacks)},
	{'d', NULL, OPT_FLAG, NULL, "turn off function tracing in the tracer", REQ(no_functions)},
	{'D', NULL, OPT_FLAG, NULL, "turn function tracing off for the whole machine",
	 REQ(no_functions_anywhere)},
	{'O', NULL, OPT_CALL, "OPTION", "an option of the tracer; with the prefix 'no': off",
	 BUFFER(options), add_name},

	{0, NULL, OPT_GROUP, NULL, "Whose"},
	{'F', NULL, OPT_FLAG, NULL, "only what the command does", REQ(only_command)},
	{'P', NULL, OPT_CALL, "PID", "only what this process does; PID,PID,…", 0, take_pids},
	{'c', NULL, OPT_FLAG, NULL, "also its children (with -F, -P)", REQ(children)},
	{0, "no-filter", OPT_FLAG, NULL, "also what spur itself does", REQ(with_recorder)},

	{0, NULL, OPT_GROUP, NULL, "Buffers"},
	{'B', NULL, OPT_CALL, "NAME", "apply the options after it to this instance", 0,
	 take_buffer},
	{'b', NULL, OPT_CALL, "KB", "size of the ring buffer per CPU", BUFFER(size_kb),
	 set_kilobytes},
	{0, "subbuf-size", OPT_CALL, "KB", "size of its pages", BUFFER(page_kb), set_kilobytes},
	{'C', NULL, OPT_CALL, "CLOCK", "the clock of time stamps: 'spur list -C'", BUFFER(clock),
	 set_text},
	{'M', NULL, OPT_CALL, "MASK", "only these CPUs, hexadecimal", BUFFER(cpumask), set_cpumask},
	{0, "cmdlines-size", OPT_NUMBER, "N", "how many names of tasks the kernel remembers",
	 AT(cmdlines)},
	{0, "top", OPT_FLAG, NULL, "use the kernel's own buffer, not a private one",
	 REQ(top_level)},
	{0, "force", OPT_FLAG, NULL, "use the kernel's own buffer even when it is in use",
	 AT(force)},
};

void tracing_note(void *arg, const char *text)
{
	cli_error("note: %s", text);
}

int tracing_command(struct tracing_options *w, const char *user, int others, char **argv)
{
	struct request *r = &w->request;

	r->command = others ? argv[0] : NULL;
	if ((r->only_command || user) && !others)
		return cli_wrong("%s: needs a command", r->only_command ? "-F" : "--user");
	return SPUR_OK;
}

int tracing_session(struct tracing_options *w, struct session_options *s, int others, char **argv)
{
	s->command = others ? argv : NULL;
	s->force = w->force;
	return tracing_command(w, s->user, others, argv);
}

int tracing_check(struct tracing_options *w)
{
	struct request *r = &w->request;

	if (w->max_graph_depth < 0 || w->cmdlines < 0)
		return cli_wrong("%s: a number from 0 on",
				 w->cmdlines < 0 ? "--cmdlines-size" : "--max-graph-depth");
	r->max_graph_depth = (uint64_t)w->max_graph_depth;
	r->cmdlines = (uint64_t)w->cmdlines;
	if (r->children && !r->only_command && !r->pids.n)
		return cli_wrong("-c: needs -F or -P");
	if (w->removed.n && !w->removes)
		return cli_wrong("-v -B %s: 'spur set' and 'spur reset' remove instances",
				 w->removed.at[0]);
	for (size_t i = 0; i < r->buffers.n; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(r->buffers.at[i].name, r->buffers.at[k].name) == 0)
				return cli_wrong("-B: there is a buffer '%s' already",
						 r->buffers.at[i].name);
	return request_buffer(r) ? SPUR_OK : SPUR_ENVIRONMENT;
}

int tracing_anything(const struct tracing_options *w)
{
	if (setup_wants_main(&w->request) || w->request.buffers.n > 1)
		return SPUR_OK;
	return cli_wrong("nothing to record: say which events (-e), a tracer (-p), a probe or a "
			 "--preset; 'spur list' shows what there is");
}

/* ---- profiles ---- */

/* Adds an event that a hook names; false without memory. */
static bool add_hook_event(struct tracing_options *w, const struct hook_event *e, bool stacks)
{
	char **text = vec_push(&w->owned);
	struct request_event *event;

	if (!text ||
	    asprintf(text, "%s%s%s", e->system ? e->system : "", e->system ? ":" : "", e->name) < 0)
		return false;
	event = request_add_event(&w->request, WANT_EVENTS, *text);
	return event && (!stacks || string_refs_add(&event->triggers, "stacktrace"));
}

static int add_hook(struct tracing_options *w, const char *text)
{
	struct spur_error err = {0};
	struct hook h;

	if (hook_parse(&h, text, strlen(text), &err) < 0)
		return cli_fail(&err);
	if (add_hook_event(w, &h.start, h.flags && strpbrk(h.flags, "sS")) &&
	    add_hook_event(w, &h.end, false))
		return SPUR_OK;
	return cli_refused("out of memory");
}

int tracing_profile(struct tracing_options *w, const struct tracefs *fs,
		    const struct string_refs *hooks, bool all)
{
	const bool graph = all && tracefs_lists(fs, "", "available_tracers", "function_graph");
	int status = SPUR_OK;

	for (size_t i = 0; i < hooks->n && status == SPUR_OK; i++)
		status = add_hook(w, hooks->at[i]);
	if (status == SPUR_OK && all && request_add_profile(&w->request, graph) < 0)
		return cli_refused("out of memory");
	return status;
}

void tracing_free(void *options)
{
	struct tracing_options *w = options;

	vec_each (text, &w->owned)
		free(*text);
	vec_free(&w->owned);
	vec_free(&w->removed);
	request_free(&w->request);
}
