// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur list`: what this kernel, and this program, have to offer. */
#include "cli/list.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "cli/plugin_options.h"
#include "dat/codec.h"
#include "event/tep.h"
#include "tracefs/state.h"

static int add_word(struct list_words *list, const char *word)
{
	const char **slot = word ? vec_push(list) : NULL;

	if (slot)
		*slot = word;
	return slot || !word ? 0 : -ENOMEM;
}

static int take_events(void *options, const struct opt *opt, const char *arg)
{
	struct list_options *o = options;

	o->events = true;
	return add_word(&o->event_patterns, arg);
}

static int take_functions(void *options, const struct opt *opt, const char *arg)
{
	struct list_options *o = options;

	o->functions = true;
	return add_word(&o->function_patterns, arg);
}

#define AT(field) offsetof(struct list_options, field)

static const struct opt opts[] = {
	{.kind = OPT_GROUP, .help = "What to list"},
	{'e', NULL, OPT_CALL, "[REGEX]", "events, or those whose name or system matches",
	 .call = take_events, .apart = true},
	{'s', NULL, OPT_FLAG, NULL, "systems of events", AT(systems)},
	{'t', NULL, OPT_FLAG, NULL, "tracers", AT(tracers)},
	{'p', NULL, OPT_FLAG, NULL, "the same", AT(tracers)},
	{'o', NULL, OPT_FLAG, NULL, "options of tracing, with 'no' in front of what is off",
	 AT(options)},
	{'f', NULL, OPT_CALL, "[REGEX]", "functions that can be traced", .call = take_functions,
	 .apart = true},
	{0, "proto", OPT_FLAG, NULL, "with -f: what they take and return, as C declares it",
	 AT(prototypes)},
	{'B', NULL, OPT_FLAG, NULL, "instances", AT(instances)},
	{'C', NULL, OPT_FLAG, NULL, "clocks", AT(clocks)},
	{'P', NULL, OPT_FLAG, NULL, "plugins of users that report loads", AT(plugins)},
	{'O', NULL, OPT_FLAG, NULL, "options of plugins", AT(plugin_options)},
	{'c', NULL, OPT_FLAG, NULL, "compressions of files", AT(compression)},
	{0, "all", OPT_FLAG, NULL, "systems, events, tracers and options", AT(all)},

	{.kind = OPT_GROUP, .help = "About the events"},
	{'F', NULL, OPT_FLAG, NULL, "their fields", AT(formats)},
	{0, "full", OPT_FLAG, NULL, "their fields and print formats", AT(full)},
	{'l', NULL, OPT_FLAG, NULL, "their filters", AT(filters)},
	{'R', NULL, OPT_FLAG, NULL, "their triggers", AT(triggers)},

	{.kind = OPT_GROUP, .help = "How to show it"},
	{0, "color", OPT_STRING, "WHEN", "auto, always or never", AT(colour),
	 .values = "auto always never"},
	{0, "pager", OPT_CLEAR, NULL, "page the output on a terminal (the default)", AT(no_pager)},
	{0, "no-pager", OPT_FLAG, NULL, "do not", AT(no_pager)},
};

/* ---- the short sections ---- */

static int list_tracers(const struct tracefs *fs, const struct list_options *o)
{
	return live_copy(fs, NULL, "available_tracers");
}

static int list_clocks(const struct tracefs *fs, const struct list_options *o)
{
	return live_copy(fs, NULL, "trace_clock");
}

static int put_option(void *arg, const char *option)
{
	puts(option);
	return 0;
}

static int list_options(const struct tracefs *fs, const struct list_options *o)
{
	struct spur_error err = {0};

	return state_each_option(fs, NULL, put_option, NULL, &err) < 0 ? cli_fail(&err) : SPUR_OK;
}

static int list_instances(const struct tracefs *fs, const struct list_options *o)
{
	struct spur_error err = {0};
	struct instances list;

	if (instances_load(fs, &list, &err) < 0)
		return cli_fail(&err);
	vec_each (name, &list)
		cli_printf("%s\n", *name);
	if (!list.n)
		puts("No buffer instances defined");
	instances_free(&list);
	return SPUR_OK;
}

static void put_plugin(void *arg, const char *path)
{
	*(bool *)arg = true;
	cli_printf("  %s\n", path);
}

static int list_plugins(const struct tracefs *fs, const struct list_options *o)
{
	bool any = false;

	if (!tep_available())
		cli_error("this spur was built without libtraceevent: it loads no plugins");
	tep_each_user_plugin(put_plugin, &any);
	if (!any)
		puts("No plugins of users; those of libtraceevent are built in");
	return SPUR_OK;
}

static int list_plugin_options(const struct tracefs *fs, const struct list_options *o)
{
	plugin_options_print();
	return SPUR_OK;
}

static int list_compression(const struct tracefs *fs, const struct list_options *o)
{
	static const char *const names[] = {"zstd", "zlib"};

	puts("Supported compression algorithms:");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct dat_codec *codec = dat_codec_find(names[i]);

		if (codec)
			printf("\t%s, %s\n", codec->name, codec->version());
	}
	return SPUR_OK;
}

/* ---- sections ---- */

static const struct section {
	size_t wanted; /* the flag in the options */
	int (*list)(const struct tracefs *fs, const struct list_options *o);
	bool own; /* of this program, not of the kernel */
} sections[] = {
	{AT(events), list_events},
	{AT(tracers), list_tracers},
	{AT(options), list_options},
	{AT(plugins), list_plugins, true},
	{AT(plugin_options), list_plugin_options, true},
	{AT(functions), list_functions},
	{AT(instances), list_instances},
	{AT(clocks), list_clocks},
	{AT(systems), list_systems},
	{AT(compression), list_compression, true},
};

static bool wants(const struct list_options *o, const struct section *s)
{
	return *(const bool *)(const void *)((const char *)o + s->wanted);
}

/* What trace-cmd lists when it is not told what. */
static int list_all(const struct tracefs *fs, const struct list_options *o)
{
	static const struct {
		const char *title;
		int (*list)(const struct tracefs *fs, const struct list_options *o);
	} parts[] = {
		{"event systems:", list_systems}, {"events:", list_events},
		{"\ntracers:", list_tracers},	  {"\noptions:", list_options},
		{NULL, list_compression},
	};
	int status = SPUR_OK;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		int one;

		if (parts[i].title)
			puts(parts[i].title);
		one = parts[i].list(fs, o);
		status = status ? status : one;
	}
	return status;
}

static int list(const struct list_options *o)
{
	struct tracefs fs;
	bool kernel = false, any = false;
	int status = SPUR_OK;

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		any |= wants(o, &sections[i]);
		kernel |= wants(o, &sections[i]) && !sections[i].own;
	}
	if (kernel || !any)
		status = live_open(&fs);
	if (status != SPUR_OK)
		return status;
	cli_pager_begin(!o->no_pager);
	if (!any)
		status = o->all ? list_all(&fs, o) : list_overview(&fs, o);
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		int one = wants(o, &sections[i]) ? sections[i].list(&fs, o) : SPUR_OK;

		status = status ? status : one;
	}
	cli_pager_end();
	return status;
}

/* Words beside the options are events too: `spur list -F sched_switch`. */
static int settle(struct list_options *o, int others, char **argv)
{
	for (int i = 0; i < others; i++)
		if (take_events(o, NULL, argv[i]) < 0) {
			cli_error("out of memory");
			return SPUR_ENVIRONMENT;
		}
	o->formats |= o->full;
	if ((o->formats || o->filters || o->triggers) && !o->events) {
		cli_error("-F, -l and -R are about events: name some");
		return SPUR_USAGE;
	}
	o->functions |= o->prototypes;
	/* Who calls it by the other name expects the other's answer. */
	o->all |= strcmp(program_invocation_short_name, "trace-cmd") == 0;
	return cli_colour(o->colour, &o->use_colour) ? SPUR_OK : SPUR_USAGE;
}

static int run(int argc, char **argv)
{
	struct list_options o = {.colour = "auto"};
	int others = opts_parse(&command_list, &o, argc, argv), status = SPUR_USAGE;

	if (others == -ECANCELED)
		status = SPUR_OK;
	else if (others >= 0)
		status = settle(&o, others, argv);
	if (others >= 0 && status == SPUR_OK) {
		cli_catch_signals();
		status = list(&o);
	}
	vec_free(&o.event_patterns);
	vec_free(&o.function_patterns);
	return status;
}

const struct command command_list = {
	.name = "list",
	.summary = "list events, tracers, functions and more",
	.usage = "[options] [EVENT-REGEX]...",
	.opts = opts,
	.nr_opts = sizeof(opts) / sizeof(opts[0]),
	.run = run,
};
