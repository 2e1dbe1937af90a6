// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `spur stat`: what tracing is set to do, in the words of trace-cmd stat.
 *
 * Settings that are what they are after boot are not shown. A part prints nothing when the kernel
 * does not have its file or does not let us read it.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/safe.h"
#include "base/vec.h"
#include "cli/live.h"
#include "tracefs/state.h"

#define TEXT_LIMIT (64u << 20)
#define PATH_CAP   512

struct stat_options {
	struct picks picks;
	bool options;
};

#define AT(field) offsetof(struct stat_options, field)

static const struct opt opts[] = {
	{'B', NULL, OPT_VEC, "NAME", "this instance; may be given several times", AT(picks),
	 live_take_buffer},
	{'a', NULL, OPT_VEC, NULL, "all instances", AT(picks), live_take_buffer},
	{'t', NULL, OPT_VEC, NULL, "the top buffer too, with -B or -a", AT(picks),
	 live_take_buffer},
	{'o', NULL, OPT_FLAG, NULL, "the options too", AT(options)},
};

/* One buffer being shown. */
struct view {
	const struct tracefs *fs;
	const char *instance;
	const struct stat_options *o;
	struct buf *out;
	struct buf text;   /* of the file at hand */
	const char *title; /* of the part at hand; NULL: it has been printed */
};

static void put(struct view *v, const char *text)
{
	buf_put_safe(v->out, text, strlen(text));
}

static void head(struct view *v)
{
	buf_puts(v->out, v->title ? v->title : "");
	v->title = NULL;
}

/* Reads a file, trimmed; false when there is nothing in it or none. */
static bool load(struct view *v, const char *file)
{
	buf_reset(&v->text);
	if (tracefs_read(v->fs, v->instance, file, &v->text, NULL) < 0)
		return false;
	state_trim(&v->text);
	return v->text.len;
}

/* ---- events ---- */

static void put_systems(struct view *v, const struct tracefs_events *list)
{
	for (size_t i = 0; i < list->n; i++) {
		const char *system = list->at[i].system;
		char dir[PATH_CAP];

		if (i && strcmp(system, list->at[i - 1].system) == 0)
			continue;
		snprintf(dir, sizeof(dir), "events/%s", system);
		if (state_enabled(v->fs, v->instance, dir) != '1')
			continue;
		head(v);
		buf_printf(v->out, "   %s\n", system);
	}
}

/* Of systems that are on only in part. */
static void put_single_events(struct view *v, const struct tracefs_events *list)
{
	const char *partly = NULL, *shown = NULL;

	for (size_t i = 0; i < list->n; i++) {
		const struct tracefs_event *e = &list->at[i];
		char dir[PATH_CAP];

		if (!i || strcmp(e->system, list->at[i - 1].system) != 0) {
			snprintf(dir, sizeof(dir), "events/%s", e->system);
			partly = state_enabled(v->fs, v->instance, dir) == 'X' ? e->system : NULL;
		}
		if (!partly)
			continue;
		snprintf(dir, sizeof(dir), "events/%s/%s", e->system, e->name);
		if (state_enabled(v->fs, v->instance, dir) != '1')
			continue;
		head(v);
		if (!shown || strcmp(shown, e->system) != 0)
			buf_printf(v->out, "    %s\n", e->system);
		shown = e->system;
		buf_printf(v->out, "        %s\n", e->name);
	}
}

static void show_events(struct view *v)
{
	const char state = state_enabled(v->fs, v->instance, "events");
	struct tracefs_events list;
	bool any;

	if (state == '?')
		return;
	buf_puts(v->out, "\nEvents:\n");
	if (state != 'X') {
		buf_puts(v->out, state == '1' ? " All enabled\n" : " All disabled\n");
		return;
	}
	if (tracefs_events_load(v->fs, v->instance, &list, NULL) < 0)
		return;
	v->title = " Individual systems:\n";
	put_systems(v, &list);
	any = !v->title;
	v->title = " Individual events:\n";
	put_single_events(v, &list);
	if (!any && v->title)
		buf_puts(v->out, "  (none enabled)\n");
	tracefs_events_free(&list);
}

static int put_event_text(void *arg, const struct tracefs_event *e, const char *text)
{
	struct view *v = arg;

	head(v);
	buf_printf(v->out, "  %s:%s \"", e->system, e->name);
	put(v, text);
	buf_puts(v->out, "\"\n");
	return 0;
}

/* ---- files of lines ---- */

/* The lines of a file that are no comments, indented, under a heading. */
static void show_lines(struct view *v, const char *file, const char *title)
{
	if (!load(v, file))
		return;
	v->title = title;
	for (char *at = v->text.data, *next; *at; at = next) {
		next = at + strcspn(at, "\n");
		if (*next)
			*next++ = '\0';
		if (*at == '#' || !*at)
			continue;
		head(v);
		buf_puts(v->out, "   ");
		put(v, at);
		buf_putc(v->out, '\n');
	}
}

/* A whole file after a title, unless it has its content of after boot. */
static void show_value(struct view *v, const char *file, const char *usual, const char *title)
{
	if (!load(v, file) || strcmp(v->text.data, usual) == 0)
		return;
	buf_printf(v->out, "\n%s", title);
	put(v, v->text.data);
	buf_putc(v->out, '\n');
}

static const struct {
	const char *file, *title;
} line_files[] =
	{
		{"set_ftrace_filter", "\nFunction Filter:\n"},
		{"set_ftrace_notrace", "\nFunction No Trace:\n"},
		{"set_graph_function", "\nFunction Graph Filter:\n"},
		{"set_graph_notrace", "\nFunction Graph No Trace:\n"},
},
  probe_files[] = {
	  {"kprobe_events", "\nKprobe events:\n"},
	  {"uprobe_events", "\nUprobe events:\n"},
	  {"synthetic_events", "\nSynthetic events:\n"},
};

static const struct {
	const char *file, *usual, *title;
} task_files[] = {
	{"set_event_pid", "", "Filtered event PIDs:\n"},
	{"set_event_notrace_pid", "", "Filtered notrace event PIDs:\n"},
	{"set_ftrace_pid", "no pid", "Filtered function tracer PIDs:\n"},
	{"set_ftrace_notrace_pid", "no pid", "Filtered function tracer notrace PIDs:\n"},
};

/* ---- buffers, clock, CPUs ---- */

static void show_cpu_sizes(struct view *v)
{
	unsigned int cpus = state_nr_cpus(v->fs, v->instance);

	buf_putc(v->out, '\n');
	for (unsigned int cpu = 0; cpu < cpus; cpu++) {
		char file[PATH_CAP];

		snprintf(file, sizeof(file), "per_cpu/cpu%u/buffer_size_kb", cpu);
		if (load(v, file))
			buf_printf(v->out, "CPU %u buffer size (kb): %s\n", cpu, v->text.data);
	}
}

static void show_buffers(struct view *v)
{
	/* A buffer that has not been used is small, and not worth mentioning. */
	if (!load(v, "buffer_size_kb") || strstr(v->text.data, "expanded"))
		return;
	if (strcmp(v->text.data, "X") == 0)
		show_cpu_sizes(v);
	else
		buf_printf(v->out, "\nBuffer size in kilobytes (per cpu):\n   %s\n", v->text.data);
	if (load(v, "buffer_total_size_kb"))
		buf_printf(v->out, "\nBuffer total size in kilobytes:\n   %s\n", v->text.data);
}

static void show_subbuf(struct view *v)
{
	char usual[24];

	snprintf(usual, sizeof(usual), "%ld", sysconf(_SC_PAGESIZE) / 1024);
	if (load(v, "buffer_subbuf_size_kb") && strcmp(v->text.data, usual) != 0)
		buf_printf(v->out, "\nSub-buffer size in kilobytes:\n   %s\n", v->text.data);
}

static void show_clock(struct view *v)
{
	char clock[64];

	if (tracefs_read_choice(v->fs, v->instance, "trace_clock", clock, sizeof(clock), NULL) ==
		    0 &&
	    strcmp(clock, "local") != 0)
		buf_printf(v->out, "\nClock: %s\n", clock);
}

static void show_cpumask(struct view *v)
{
	if (load(v, "tracing_cpumask") &&
	    !state_mask_has_all(v->text.data, state_nr_cpus(v->fs, v->instance)))
		buf_printf(v->out, "\nCPU mask: %s\n", v->text.data);
}

static int put_option(void *arg, const char *option)
{
	struct view *v = arg;

	buf_printf(v->out, "   %s\n", option);
	return 0;
}

static void show_instances(struct view *v)
{
	struct instances list;

	if (instances_load(v->fs, &list, NULL) < 0)
		return;
	if (list.n)
		buf_puts(v->out, "\nInstances:\n");
	vec_each (name, &list) {
		buf_putc(v->out, ' ');
		put(v, *name);
		if (instance_is_leftover(*name))
			buf_puts(v->out, " (left behind; spur reset removes it)");
		buf_putc(v->out, '\n');
	}
	instances_free(&list);
}

/* ---- a buffer ---- */

static void show_settings(struct view *v)
{
	show_value(v, "current_tracer", "nop", "Tracer: ");
	show_events(v);
	v->title = "\nFilters:\n";
	state_each_event(v->fs, v->instance, "filter", put_event_text, v, NULL);
	v->title = "\nTriggers:\n";
	state_each_event(v->fs, v->instance, "trigger", put_event_text, v, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(line_files); i++)
		show_lines(v, line_files[i].file, line_files[i].title);
	show_buffers(v);
	show_subbuf(v);
	show_clock(v);
	show_cpumask(v);
	show_value(v, "tracing_max_latency", "0", "Max Latency: ");
	for (size_t i = 0; i < ARRAY_SIZE(probe_files); i++)
		show_lines(v, probe_files[i].file, probe_files[i].title);
	for (size_t i = 0; i < ARRAY_SIZE(task_files); i++)
		show_value(v, task_files[i].file, task_files[i].usual, task_files[i].title);
	if (v->o->options) {
		buf_puts(v->out, "\nOptions:\n");
		state_each_option(v->fs, v->instance, put_option, v, NULL);
	}
	if (load(v, "tracing_on"))
		buf_printf(v->out, "\nTracing is %s\n\n",
			   strcmp(v->text.data, "0") == 0 ? "disabled" : "enabled");
	show_value(v, "error_log", "", "Error log:\n");
}

static void show_target(const struct tracefs *fs, const struct stat_options *o,
			const struct target *t, bool first, struct buf *out)
{
	struct view v = {fs, t->instance, o, out};

	buf_init(&v.text, TEXT_LIMIT);
	if (t->instance) {
		buf_puts(out, first ? "Instance: " : "---------------\nInstance: ");
		put(&v, t->instance);
		buf_putc(out, '\n');
	}
	show_settings(&v);
	if (!t->instance)
		show_instances(&v);
	buf_free(&v.text);
}

static int run(void *options, int others, char **argv)
{
	const struct stat_options *o = options;
	struct spur_error err = {0};
	struct targets targets;
	struct tracefs fs;
	scoped_buf out = buf_new(TEXT_LIMIT);
	int64_t stack = 0;
	int status = live_targets(&fs, &o->picks, &targets), rc;

	if (status != SPUR_OK)
		return status;
	/* The top buffer is shown first, though commands work on it last. */
	if (targets.n && !targets.at[targets.n - 1].instance)
		show_target(&fs, o, &targets.at[targets.n - 1], true, &out);
	vec_each (t, &targets)
		if (t->instance)
			show_target(&fs, o, t, !out.len, &out);
	if (tracefs_read_number(&fs, NULL, "/proc/sys/kernel/stack_tracer_enabled", &stack, NULL) ==
		    0 &&
	    stack)
		buf_puts(&out, "Stack tracing is enabled\n\n");
	rc = cli_write(out.data, out.len);
	live_targets_free(&targets);
	return cli_result(rc, "standard output", &err);
}

const struct command command_stat = {
	.name = "stat",
	.summary = "show what tracing is set to do",
	.usage = "[-B NAME]... [-a] [-t] [-o]",
	COMMAND_OPTS(opts, struct stat_options),
	.run = run,
	.takes_nothing = LIVE_TAKES_NOTHING,
};
