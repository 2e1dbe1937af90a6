// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `spur list`: what this kernel, and this program, have to offer.
 *
 * A pattern is a regular expression of regcomp(3), case ignored. For events "SYSTEM:EVENT" is one
 * for each, a word alone one for either, and "SYSTEM:" all events of the systems that match. For
 * functions it is compared with the whole line of available_filter_functions, "NAME" or
 * "NAME [MODULE]".
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/pattern.h"
#include "base/strings.h"
#include "base/suggest.h"
#include "base/vec.h"
#include "cli/live.h"
#include "cli/report.h"
#include "dat/codec.h"
#include "event/tep.h"
#include "symbols/btf.h"
#include "tracefs/caps.h"
#include "tracefs/state.h"

struct list_options {
	/* What to list; the order of the sections is fixed. */
	bool events, tracers, options, plugins, plugin_options, functions, instances, clocks,
		systems, compression;
	bool all;
	bool formats, full, filters, triggers;
	bool prototypes;
	struct string_refs event_patterns, function_patterns;
	const char *colour;
	bool no_pager;

	bool use_colour;
};

#define PATH_CAP   512
#define TEXT_LIMIT (1u << 20)
#define COLUMNS	   100

#define DIM   "\033[36m"
#define BOLD  "\033[1m"
#define PLAIN "\033[0m"

/* ---- patterns of events ---- */

struct event_pattern {
	struct pattern system, event;
	bool both; /* one for each; else `system` is for either */
	bool all;  /* "SYSTEM:" */
};

static int compile(struct event_pattern *p, const char *text)
{
	const char *colon = strchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : strlen(text);
	struct spur_error err = {0};
	int rc;

	memset(p, 0, sizeof(*p));
	rc = pattern_regex(&p->system, text, len, &err);
	if (rc == 0 && colon && colon[1]) {
		p->both = true;
		rc = pattern_regex(&p->event, colon + 1, strlen(colon + 1), &err);
	}
	p->all = colon && !colon[1];
	if (rc == 0)
		return SPUR_OK;
	pattern_free(&p->system);
	return cli_wrong("'%s' is not a regular expression: %s", text, err.text);
}

static bool matches(const struct event_pattern *p, const struct tracefs_event *e)
{
	if (pattern_match(&p->system, e->system, strlen(e->system)))
		return !p->both || pattern_match(&p->event, e->name, strlen(e->name));
	return !p->both && !p->all && pattern_match(&p->system, e->name, strlen(e->name));
}

/* Nothing has matched: what may have been meant. */
static void suggest(const struct tracefs_events *list, const char *text)
{
	const char *colon = strchr(text, ':'), *word = colon && colon[1] ? colon + 1 : text;
	struct suggest near = suggest_for(word, strcspn(word, ":"));

	for (size_t i = 0; i < list->n; i++) {
		suggest_try(&near, list->at[i].name);
		suggest_try(&near, list->at[i].system);
	}
	cli_error("no event matches '%s'%s", text, suggest_hint(&near));
}

/* ---- an event ---- */

static void put_name(const struct list_options *o, const struct tracefs_event *e)
{
	fputs(o->use_colour ? DIM : "", stdout);
	cli_printf("%s:", e->system);
	fputs(o->use_colour ? PLAIN : "", stdout);
	cli_printf("%s\n", e->name);
}

/* Reads a file of an event. SPUR_OK or an exit status after a message. */
static int load(const struct tracefs *fs, const struct tracefs_event *e, const char *file,
		struct buf *text)
{
	struct spur_error err = {0};
	char path[PATH_CAP];

	buf_reset(text);
	snprintf(path, sizeof(path), "events/%s/%s/%s", e->system, e->name, file);
	return tracefs_read(fs, NULL, path, text, &err) < 0 ? cli_fail(&err) : SPUR_OK;
}

/* The format, up to its print format unless that is wanted as well. */
static int put_format(const struct tracefs *fs, const struct list_options *o,
		      const struct tracefs_event *e, struct buf *text)
{
	int status = load(fs, e, "format", text);
	const char *print = status == SPUR_OK ? strstr(text->data, "\nprint fmt") : NULL;

	if (status != SPUR_OK)
		return status;
	fputs(o->use_colour ? BOLD : "", stdout);
	cli_printf("system: %s", e->system);
	puts(o->use_colour ? PLAIN : "");
	cli_put(text->data, print && !o->full ? (size_t)(print + 1 - text->data) : text->len);
	return SPUR_OK;
}

static int put_file(const struct tracefs *fs, const struct list_options *o,
		    const struct tracefs_event *e, const char *file, struct buf *text)
{
	int status = load(fs, e, file, text);

	if (status != SPUR_OK)
		return status;
	put_name(o, e);
	cli_put(text->data, text->len);
	putchar('\n');
	return SPUR_OK;
}

static int put_event(const struct tracefs *fs, const struct list_options *o,
		     const struct tracefs_event *e, struct buf *text)
{
	int status = SPUR_OK;

	if (!o->formats && !o->filters && !o->triggers)
		put_name(o, e);
	if (o->formats)
		status = put_format(fs, o, e, text);
	if (status == SPUR_OK && o->filters)
		status = put_file(fs, o, e, "filter", text);
	if (status == SPUR_OK && o->triggers)
		status = put_file(fs, o, e, "trigger", text);
	return status;
}

/* ---- events ---- */

static int put_matching_events(const struct tracefs *fs, const struct list_options *o,
			       const struct tracefs_events *list, const char *pattern,
			       struct buf *text)
{
	struct event_pattern p = {.system = {.kind = PATTERN_ALL}};
	int status = pattern ? compile(&p, pattern) : SPUR_OK;
	bool any = false;

	for (size_t i = 0; i < list->n && status == SPUR_OK && !cli_stop; i++)
		if (matches(&p, &list->at[i])) {
			any = true;
			status = put_event(fs, o, &list->at[i], text);
		}
	if (pattern && status == SPUR_OK && !any) {
		suggest(list, pattern);
		status = SPUR_USAGE;
	}
	if (pattern) {
		pattern_free(&p.system);
		pattern_free(&p.event);
	}
	return status;
}

/* The functions below return an exit status, after a message if it is not SPUR_OK. */
static int list_events(const struct tracefs *fs, const struct list_options *o)
{
	struct spur_error err = {0};
	struct tracefs_events list;
	scoped_buf text = buf_new(TEXT_LIMIT);
	int status = SPUR_OK;

	if (tracefs_events_load(fs, NULL, &list, &err) < 0)
		return cli_fail(&err);
	if (!o->event_patterns.n)
		status = put_matching_events(fs, o, &list, NULL, &text);
	vec_each (pattern, &o->event_patterns) {
		int one = put_matching_events(fs, o, &list, *pattern, &text);

		status = status ? status : one;
	}
	tracefs_events_free(&list);
	return status;
}

static int put_word(void *arg, const char *word)
{
	cli_printf("%s\n", word);
	return 0;
}

static int list_systems(const struct tracefs *fs, const struct list_options *o)
{
	struct spur_error err = {0};

	if (state_each_system(fs, NULL, put_word, NULL, &err) < 0)
		return cli_fail(&err);
	putchar('\n');
	return SPUR_OK;
}

/* ---- functions ---- */

#define FUNCTION_LIMIT (256u << 20)
#define LINE_LIMIT     (64u << 10)
#define NAME_CAP       512

struct function_list {
	const struct list_options *o;
	struct btf_set types;
	struct buf line;
};

/* One line; a function without type information is only named. */
static void put_function(struct function_list *l, const char *text, size_t len)
{
	char name[NAME_CAP], module[NAME_CAP] = "";
	const struct btf *types = NULL;

	buf_reset(&l->line);
	if (l->o->prototypes && len < NAME_CAP) {
		snprintf(name, sizeof(name), "%.*s", (int)len, text);
		sscanf(name + strcspn(name, " "), " [%511[^]]", module);
		name[strcspn(name, " ")] = '\0';
		types = btf_set_of(&l->types, module);
	}
	if (!types || !btf_prototype(types, name, &l->line))
		buf_put(&l->line, text, len);
	else if (*module)
		buf_printf(&l->line, " [%s]", module);
	buf_putc(&l->line, '\n');
	cli_put(l->line.data, l->line.len);
}

static int put_matching_functions(struct function_list *l, const char *text, const char *pattern)
{
	struct spur_error err = {0};
	struct pattern p = {.kind = PATTERN_ALL};
	bool any = false;

	if (pattern && pattern_regex(&p, pattern, strlen(pattern), &err) < 0)
		return cli_wrong("'%s' is not a regular expression: %s", pattern, err.text);
	for (const char *at = text; *at && !cli_stop;) {
		size_t len = strcspn(at, "\n");

		if (pattern_match(&p, at, len)) {
			any = true;
			put_function(l, at, len);
		}
		at += len + (at[len] == '\n');
	}
	if (pattern)
		pattern_free(&p);
	if (pattern && !any)
		return cli_wrong("no function matches '%s'", pattern);
	return SPUR_OK;
}

static int put_functions(const struct list_options *o, const char *text)
{
	struct function_list l = {.o = o};
	struct spur_error err = {0};
	int status = SPUR_OK;

	if (o->prototypes && btf_set_open(&l.types, NULL, &err) < 0)
		return cli_fail(&err);
	buf_init(&l.line, LINE_LIMIT);
	if (!o->function_patterns.n)
		status = put_matching_functions(&l, text, NULL);
	vec_each (pattern, &o->function_patterns) {
		int one = put_matching_functions(&l, text, *pattern);

		status = status ? status : one;
	}
	buf_free(&l.line);
	btf_set_close(&l.types);
	return status;
}

static int list_functions(const struct tracefs *fs, const struct list_options *o)
{
	struct spur_error err = {0}, why = {0};
	scoped_buf text = buf_new(FUNCTION_LIMIT);

	/* Whether there is a function tracer at all says more than which file failed. */
	if (tracefs_read(fs, NULL, "available_filter_functions", &text, &err) < 0)
		return cli_fail(cap_require(fs, "function", &why) < 0 ? &why : &err);
	return put_functions(o, text.data);
}

#define AT(field) offsetof(struct list_options, field)

static const struct opt opts[] = {
	{.kind = OPT_GROUP, .help = "What to list"},
	{'e', NULL, OPT_LIST, "[REGEX]", "events, or those whose name or system matches",
	 AT(event_patterns), .apart = true},
	{'s', NULL, OPT_FLAG, NULL, "systems of events", AT(systems)},
	{'t', NULL, OPT_FLAG, NULL, "tracers", AT(tracers)},
	{'p', NULL, OPT_FLAG, NULL, "the same", AT(tracers)},
	{'o', NULL, OPT_FLAG, NULL, "options of tracing; those that are off begin with 'no'",
	 AT(options)},
	{'f', NULL, OPT_LIST, "[REGEX]", "functions that can be traced", AT(function_patterns),
	 .apart = true},
	{0, "proto", OPT_FLAG, NULL, "with -f: their C prototypes", AT(prototypes)},
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
	CLI_COLOUR_OPTION(AT(colour)),
	{0, "pager", OPT_CLEAR, NULL, "page the output on a terminal (the default)", AT(no_pager)},
	{0, "no-pager", OPT_FLAG, NULL, "do not", AT(no_pager)},
};

/* ---- everything in short ---- */

static void put_key(const struct list_options *o, const char *key)
{
	printf(o->use_colour ? BOLD "%-10s" PLAIN " " : "%-10s ", key);
}

static void put_line_of(const struct tracefs *fs, const struct list_options *o, const char *key,
			const char *file)
{
	char line[PATH_CAP];

	if (tracefs_read_line(fs, NULL, file, line, sizeof(line), NULL) < 0)
		return;
	put_key(o, key);
	cli_put(line, strlen(line));
	putchar('\n');
}

static void put_instances(const struct tracefs *fs, const struct list_options *o)
{
	struct instances list;

	if (instances_load(fs, &list, NULL) < 0)
		return;
	put_key(o, "instances");
	vec_each (name, &list) {
		cli_put(*name, strlen(*name));
		printf(instance_is_leftover(*name) ? " (left behind) " : " ");
	}
	puts(list.n ? "" : "none");
	instances_free(&list);
}

/* "sched 24, irq 7": systems with the number of their events, in lines of moderate length. */
static void put_systems(const struct list_options *o, const struct tracefs_events *list)
{
	size_t systems = 0, column = 0;

	for (size_t i = 0; i < list->n; i++)
		systems += !i || strcmp(list->at[i].system, list->at[i - 1].system) != 0;
	put_key(o, "events");
	printf("%zu of %zu systems:\n", list->n, systems);
	for (size_t i = 0, next; i < list->n; i = next) {
		char word[PATH_CAP];
		size_t len;

		for (next = i; next < list->n; next++)
			if (strcmp(list->at[next].system, list->at[i].system) != 0)
				break;
		len = (size_t)snprintf(word, sizeof(word), "%s %zu%s", list->at[i].system, next - i,
				       next < list->n ? "," : "");
		if (!column || column + 1 + len > COLUMNS) {
			printf(column ? "\n%-10s" : "%-10s", "");
			column = 10;
		}
		cli_printf(" %s", word);
		column += 1 + len;
	}
	putchar('\n');
}

/* How much there is of everything. */
static int list_overview(const struct tracefs *fs, const struct list_options *o)
{
	struct spur_error err = {0};
	struct tracefs_events list;
	int64_t functions;

	if (tracefs_events_load(fs, NULL, &list, &err) < 0)
		return cli_fail(&err);
	put_systems(o, &list);
	tracefs_events_free(&list);
	put_line_of(fs, o, "tracers", "available_tracers");
	if (tracefs_read_number(fs, NULL, "dyn_ftrace_total_info", &functions, NULL) == 0) {
		put_key(o, "functions");
		printf("%lld\n", (long long)functions);
	}
	put_line_of(fs, o, "clocks", "trace_clock");
	put_instances(fs, o);
	puts("\n-e lists events, -F EVENT shows one's fields; more with 'spur list --help'");
	return SPUR_OK;
}

/* ---- the short sections ---- */

static int list_tracers(const struct tracefs *fs, const struct list_options *o)
{
	return live_copy(fs, NULL, "available_tracers");
}

static int list_clocks(const struct tracefs *fs, const struct list_options *o)
{
	return live_copy(fs, NULL, "trace_clock");
}

static int list_options(const struct tracefs *fs, const struct list_options *o)
{
	struct spur_error err = {0};

	return state_each_option(fs, NULL, put_word, NULL, &err) < 0 ? cli_fail(&err) : SPUR_OK;
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
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
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

/* What trace-cmd lists without options. */
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

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
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

	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
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
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		int one = wants(o, &sections[i]) ? sections[i].list(&fs, o) : SPUR_OK;

		status = status ? status : one;
	}
	cli_pager_end();
	return status;
}

static int run(void *options, int others, char **argv)
{
	struct list_options *o = options;

	/* Words beside the options are events too: `spur list -F sched_switch`. */
	for (int i = 0; i < others; i++)
		if (!string_refs_add(&o->event_patterns, argv[i]))
			return cli_refused("out of memory");
	o->events |= o->event_patterns.n > 0;
	o->functions |= o->prototypes || o->function_patterns.n > 0;
	o->formats |= o->full;
	if ((o->formats || o->filters || o->triggers) && !o->events)
		return cli_wrong("-F, -l and -R are about events: name some");
	/* Under the name trace-cmd, users expect trace-cmd's answer. */
	o->all |= strcmp(program_invocation_short_name, "trace-cmd") == 0;
	if (!cli_colour(o->colour, &o->use_colour))
		return SPUR_USAGE;
	cli_catch_signals();
	return list(o);
}

const struct command command_list = {
	.name = "list",
	.summary = "list events, tracers, functions and more",
	.usage = "[options] [EVENT-REGEX]...",
	COMMAND_OPTS(opts, struct list_options),
	.defaults = &(const struct list_options){.colour = "auto"},
	.run = run,
};
