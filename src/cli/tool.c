// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * spur tool: scripts that come with the program, for everyday questions.
 *
 * A tool is its script: its head comment says what it is for, its calls of getopt() are its
 * options. Nothing here knows any tool by name.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/num.h"
#include "base/suggest.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "cli/script.h"
#include "script/script.h"

#define TEXT_LIMIT (64u << 10)

struct tool_command {
	struct script_command script; /* first: options of scripts expect it there */
	bool list, show;
	struct arena arena; /* of options as getopt() wants them */
};

#define AT(field) offsetof(struct tool_command, field)

static const struct opt opts[] = {
	{'p', "pid", OPT_CALL, "PID[,PID...]", "trace only these processes", 0, script_take_pids},
	{'c', "cmd", OPT_STRING, "COMMAND", "run the command, and end with it", AT(script.command)},
	{'d', "duration", OPT_DURATION, "SECONDS", "end after this time", AT(script.duration)},
	{'i', "input", OPT_FILE, "TRACE", "look at a recording instead of the running kernel",
	 AT(script.input)},
	{'o', "output", OPT_FILE, "FILE", "write to a file", AT(script.output)},
	{'f', "format", OPT_STRING, "FORMAT", "text or json", AT(script.format), NULL, "text json"},
	{'B', "buffer", OPT_STRING, "MODE", "when output is written: none, line or full",
	 AT(script.buffering), NULL, "none line full"},
	{'v', "verbose", OPT_FLAG, NULL, "print more", AT(script.verbose)},
	{0, "max-loop-rounds", OPT_STRING, "N", "rounds that the loops of a hit may have (65536)",
	 AT(script.max_loop_rounds)},
	{0, "no-warnings", OPT_FLAG, NULL, "no warnings, for example about lost events",
	 AT(script.no_warnings)},
	{0, "show", OPT_FLAG, NULL, "print the tool's script instead", AT(show)},
	{0, "list", OPT_FLAG, NULL, "list the tools instead", AT(list)},
};

/* ---- the tools ---- */

static const struct tool *find_tool(const char *name)
{
	for (const struct tool *t = tools; t->name; t++)
		if (strcmp(t->name, name) == 0)
			return t;
	return NULL;
}

static int list_tools(void)
{
	for (const struct tool *t = tools; t->name; t++)
		printf("%-14s %s\n", t->name, t->summary);
	return SPUR_OK;
}

static int no_tool(const char *name)
{
	struct suggest s = suggest_for(name, strlen(name));

	for (const struct tool *t = tools; t->name; t++)
		suggest_try(&s, t->name);
	return cli_wrong("there is no tool '%s'%s", name,
			 suggest_hint_or(&s, "; 'spur tool' lists them"));
}

/* ---- their options ---- */

struct tool_options {
	struct getopts asked;
	struct opt *at;
	size_t n, cap;
};

/* "--NAME=VALUE", for the script. */
static int take_named(void *options, const struct opt *o, const char *arg)
{
	struct tool_command *c = options;
	scoped_buf text = buf_new(TEXT_LIMIT);
	char *word;

	buf_printf(&text, arg ? "--%s=%s" : "--%s", o->name, arg);
	word = arena_strdup(&c->arena, buf_str(&text));
	return word && string_refs_add(&c->script.named, word) ? 0 : -ENOMEM;
}

static int take_number(void *options, const struct opt *o, const char *arg)
{
	char *end;

	errno = 0;
	strtoll(arg, &end, num_base(arg));
	if (errno || end == arg || *end)
		return opt_error(o, "'%s' is not a number", arg);
	return take_named(options, o, arg);
}

static bool add_asked(struct tool_options *o, const struct getopt_call *c)
{
	static const char *const args[] = {[GETOPT_NUMBER] = "N", [GETOPT_TEXT] = "TEXT"};
	struct opt *opt = vec_push(o);
	scoped_buf help = buf_new(TEXT_LIMIT);

	if (!opt)
		return false;
	buf_puts(&help, c->help);
	/* As defaults, -1 and 0 mean "not given". */
	if (*c->usual && strcmp(c->usual, "0") != 0 && strcmp(c->usual, "-1") != 0)
		buf_printf(&help, " (%s)", c->usual);
	*opt = (struct opt){
		.letter = strcmp(c->name, "pid") == 0 ? 'p' : 0,
		.name = c->name,
		.kind = OPT_CALL,
		.arg = c->kind == GETOPT_FLAG && *c->usual ? "[true|false]" : args[c->kind],
		.help = arena_strdup(&o->asked.arena, buf_str(&help)),
		.call = c->kind == GETOPT_NUMBER ? take_number : take_named,
	};
	return opt->help;
}

/* A tool may define --pid itself; its definition replaces the common one. */
static bool add_common(struct tool_options *o)
{
	static const struct opt head = {.kind = OPT_GROUP, .help = "Options of every tool"};
	const size_t own = o->n;

	if (own && !vec_add(o, &head))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(opts); i++) {
		bool hidden = false;

		for (size_t k = 0; k < own; k++)
			hidden |= strcmp(o->at[k].name, opts[i].name) == 0;
		if (!hidden && !vec_add(o, &opts[i]))
			return false;
	}
	return true;
}

struct tool_options *tool_options(const struct tool *t, const struct opt **all, size_t *nr)
{
	struct tool_options *o = calloc(1, sizeof(*o));
	struct spur_error err = {0};
	bool fine = o && getopts_read(t->name, t->text, strlen(t->text), &o->asked, &err) == 0;

	for (size_t i = 0; fine && i < o->asked.n; i++)
		fine = add_asked(o, &o->asked.at[i]);
	if (fine && add_common(o)) {
		*all = o->at;
		*nr = o->n;
		return o;
	}
	cli_error("%s", err.code ? err.text : "out of memory");
	tool_options_free(o);
	return NULL;
}

void tool_options_free(struct tool_options *o)
{
	if (!o)
		return;
	getopts_free(&o->asked);
	vec_free(o);
	free(o);
}

/* ---- running ---- */

static int run_tool(struct tool_command *c, const struct tool *t)
{
	struct script_command *s = &c->script;
	static char *none[] = {NULL};

	if (c->show) {
		cli_put(t->text, strlen(t->text));
		return SPUR_OK;
	}
	if (s->command && s->pids.n)
		return script_error(s, "-c and -p: a command, or processes that run already");
	if (s->input && (s->command || c->script.duration))
		return script_error(s, "-c and -d are for the running kernel, not for a recording");
	s->program = t->text;
	s->name = t->name;
	s->quiet = true;
	if (!script_params(s, none))
		return script_error(s, "out of memory");
	return script_command_run(s);
}

/* The words after the tool's name; argv[0] is the name. */
static int run_named(struct tool_command *c, int argc, char **argv)
{
	const struct tool *t = find_tool(argv[0]);
	struct command cmd = {.usage = "[OPTION...]"};
	struct tool_options *o;
	char full[64];
	int others, status = SPUR_USAGE;

	if (!t)
		return no_tool(argv[0]);
	o = tool_options(t, &cmd.opts, &cmd.nr_opts);
	if (!o)
		return SPUR_USAGE;
	snprintf(full, sizeof(full), "%s %s", command_tool.name, t->name);
	cmd.name = full;
	cmd.summary = t->summary;
	others = opts_parse(&cmd, c, argc, argv);
	if (others > 0)
		cli_error("%s: '%s' is no option; 'spur tool %s --help' lists them", t->name,
			  argv[0], t->name);
	else if (others == 0)
		status = c->list ? list_tools() : run_tool(c, t);
	else if (others == -ECANCELED)
		status = SPUR_OK;
	tool_options_free(o);
	return status;
}

static int run(void *options, int others, char **argv)
{
	struct tool_command *c = options;
	int status;

	if (c->list || !others)
		return list_tools();
	arena_init(&c->arena, TEXT_LIMIT);
	status = run_named(c, others, argv);
	arena_free(&c->arena);
	return status;
}

const struct command command_tool = {
	.name = "tool",
	.summary = "answer an everyday question with a built-in script",
	.usage = "[OPTION...] NAME [OPTION...]; without a NAME, lists them",
	COMMAND_OPTS(opts, struct tool_command),
	.run = run,
	.release = script_command_free,
	.takes_command = true,
};
