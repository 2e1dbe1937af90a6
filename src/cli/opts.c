// SPDX-License-Identifier: GPL-2.0-or-later
/* The option parser, and how a command is run. It knows nothing about any command. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strings.h"
#include "cli/cli.h"
#include "cli/opts.h"

#define HELP_COLUMN 30

bool parse_number(const char *text, int64_t *value)
{
	static const struct {
		const char *suffix;
		int64_t factor;
	} units[] = {{"", 1}, {"k", 1000}, {"M", 1000000}, {"G", 1000000000}};
	const char *digits = text + (*text == '-' || *text == '+');
	const bool hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
	char *end;
	long long v;

	if (!isdigit((unsigned char)*digits))
		return false;
	errno = 0;
	v = strtoll(text, &end, hex ? 16 : 10);
	for (size_t i = 0; !errno && i < ARRAY_SIZE(units); i++)
		if (strcmp(end, units[i].suffix) == 0)
			return !__builtin_mul_overflow(v, units[i].factor, value);
	return false;
}

bool parse_kilobytes(const char *text, uint64_t *kb)
{
	size_t len = strlen(text);
	int64_t n;

	if (!parse_number(text, &n) || n < 0)
		return false;
	*kb = strchr("kMG", text[len - 1]) ? ((uint64_t)n + 1023) / 1024 : (uint64_t)n;
	return true;
}

/* The digits after a dot, as billionths; those beyond the ninth do not count. */
static uint64_t parse_fraction(const char **text)
{
	uint64_t billionths = 0, worth = 100000000;

	for (; isdigit((unsigned char)**text); ++*text, worth /= 10)
		billionths += (uint64_t)(**text - '0') * worth;
	return billionths;
}

bool parse_time(const char *text, uint64_t *ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {{"", 1000000000}, {"s", 1000000000}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}};
	uint64_t whole = 0, fraction = 0;

	if (!isdigit((unsigned char)text[*text == '.']))
		return false;
	for (; isdigit((unsigned char)*text); text++)
		if (__builtin_mul_overflow(whole, 10, &whole) ||
		    __builtin_add_overflow(whole, (uint64_t)(*text - '0'), &whole))
			return false;
	if (*text == '.') {
		text++;
		fraction = parse_fraction(&text);
	}
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (strcmp(text, units[i].name) == 0)
			return !__builtin_mul_overflow(whole, units[i].ns, ns) &&
			       !__builtin_add_overflow(*ns, fraction * units[i].ns / 1000000000,
						       ns);
	return false;
}

int opt_error(const struct opt *o, const char *fmt, ...)
{
	char text[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (o->name)
		cli_error("--%s: %s", o->name, text);
	else
		cli_error("-%c: %s", o->letter, text);
	return -EINVAL;
}

int opt_add_string(void *options, const struct opt *o, const char *arg)
{
	struct string_refs *list = (void *)((char *)options + o->offset);

	return string_refs_add(list, arg) ? 0 : -ENOMEM;
}

int opt_set_time(void *options, const struct opt *o, const char *arg)
{
	uint64_t ns;

	if (!parse_time(arg, &ns))
		return opt_error(o, "'%s' is not a time: 10, 1.5, 500ms, 20us", arg);
	*(uint64_t *)(void *)((char *)options + o->offset) = ns;
	return 0;
}

int opt_set_duration(void *options, const struct opt *o, const char *arg)
{
	uint64_t *ns = (uint64_t *)(void *)((char *)options + o->offset);

	if (!parse_time(arg, ns) || !*ns)
		return opt_error(o, "'%s' is not a time: 10, 1.5s, 300ms", arg);
	return 0;
}

int opt_ignore(void *options, const struct opt *o, const char *arg)
{
	return 0;
}

const struct opt *command_opt(const struct command *cmd, size_t i)
{
	return i < cmd->nr_opts ? &cmd->opts[i] : &cmd->shared[i - cmd->nr_opts];
}

size_t command_nr_opts(const struct command *cmd)
{
	return cmd->nr_opts + cmd->nr_shared;
}

static const struct opt *by_letter(const struct command *cmd, char c)
{
	for (size_t i = 0; i < command_nr_opts(cmd); i++) {
		const struct opt *o = command_opt(cmd, i);

		if (o->letter == c && o->kind != OPT_GROUP)
			return o;
	}
	return NULL;
}

/* An exact name, or the only one that begins with what was typed. */
static const struct opt *by_name(const struct command *cmd, const char *name, size_t len,
				 bool *ambiguous)
{
	const struct opt *found = NULL;

	*ambiguous = false;
	for (size_t i = 0; i < command_nr_opts(cmd); i++) {
		const struct opt *o = command_opt(cmd, i);

		if (!o->name || o->kind == OPT_GROUP || strncmp(o->name, name, len) != 0)
			continue;
		if (!o->name[len])
			return *ambiguous = false, o;
		*ambiguous = found != NULL;
		found = o;
	}
	return *ambiguous ? NULL : found;
}

static bool arg_optional(const struct opt *o)
{
	return o->arg && o->arg[0] == '[';
}

/* Whether the word after an option is its argument. */
static bool takes_next(const struct opt *o, const char *next)
{
	if (!o->arg || !next)
		return false;
	return !arg_optional(o) || (o->apart && next[0] != '-');
}

static int apply(const struct opt *o, void *options, const char *arg)
{
	char *field = (char *)options + o->offset;
	int64_t number;

	switch (o->kind) {
	case OPT_FLAG: *(bool *)(void *)field = true; return 0;
	case OPT_CLEAR: *(bool *)(void *)field = false; return 0;
	case OPT_STRING: *(const char **)(void *)field = arg; return 0;
	case OPT_NUMBER:
		if (!parse_number(arg, &number))
			return opt_error(o, "'%s' is not a number", arg);
		*(int64_t *)(void *)field = number;
		return 0;
	case OPT_CALL: {
		int rc = o->call(options, o, arg);

		return rc == -ENOMEM ? opt_error(o, "out of memory") : rc;
	}
	case OPT_GROUP: break;
	}
	return 0;
}

/* What stands before the name of a command. */
static const char *program(const struct command *cmd)
{
	return cmd->page ? "" : "spur ";
}

static int parse_long(const struct command *cmd, void *options, int argc, char **argv, int *at)
{
	const char *text = argv[*at] + 2, *eq = strchr(text, '=');
	bool ambiguous;
	const struct opt *o =
		by_name(cmd, text, eq ? (size_t)(eq - text) : strlen(text), &ambiguous);
	const char *arg = eq ? eq + 1 : NULL;

	if (!o) {
		cli_error("%s option '%s'; try '%s%s --help'", ambiguous ? "ambiguous" : "unknown",
			  argv[*at], program(cmd), cmd->name);
		return -EINVAL;
	}
	if (!o->arg && arg)
		return opt_error(o, "takes no value");
	if (!arg && takes_next(o, *at + 1 < argc ? argv[*at + 1] : NULL))
		arg = argv[++*at];
	if (o->arg && !arg && !arg_optional(o))
		return opt_error(o, "needs a value: %s", o->arg);
	return apply(o, options, arg);
}

static int parse_short(const struct command *cmd, void *options, int argc, char **argv, int *at)
{
	for (const char *c = argv[*at] + 1; *c; c++) {
		const struct opt *o = by_letter(cmd, *c);
		const char *arg = NULL;
		int rc;

		if (!o) {
			cli_error("unknown option '-%c'; try '%s%s --help'", *c, program(cmd),
				  cmd->name);
			return -EINVAL;
		}
		if (o->arg && c[1])
			arg = c + 1;
		else if (takes_next(o, *at + 1 < argc ? argv[*at + 1] : NULL))
			arg = argv[++*at];
		else if (o->arg && !arg_optional(o))
			return opt_error(o, "needs a value: %s", o->arg);
		rc = apply(o, options, arg);
		if (rc < 0 || arg)
			return rc;
	}
	return 0;
}

static bool is_help(const struct command *cmd, const char *arg)
{
	return strcmp(arg, "--help") == 0 || (strcmp(arg, "-h") == 0 && !by_letter(cmd, 'h'));
}

int opts_parse(const struct command *cmd, void *options, int argc, char **argv)
{
	bool ended = false;
	int others = 0;

	for (int i = 1; i < argc; i++) {
		char *a = argv[i];
		int rc = 0;

		if (ended || a[0] != '-' || !a[1]) {
			argv[others++] = a;
			ended |= cmd->takes_command;
		} else if (strcmp(a, "--") == 0) {
			ended = true;
		} else if (is_help(cmd, a)) {
			opts_help(cmd);
			return -ECANCELED;
		} else if (a[1] == '-') {
			rc = parse_long(cmd, options, argc, argv, &i);
		} else {
			rc = parse_short(cmd, options, argc, argv, &i);
		}
		if (rc < 0)
			return rc;
	}
	argv[others] = NULL;
	return others;
}

static void help_line(const struct opt *o)
{
	char left[80];
	int n = 0;

	if (o->kind == OPT_GROUP) {
		printf("\n%s:\n", o->help);
		return;
	}
	n = snprintf(left, sizeof(left), o->letter ? "  -%c" : "    ", o->letter);
	if (o->name)
		n += snprintf(left + n, sizeof(left) - (size_t)n, "%s--%s", o->letter ? ", " : "  ",
			      o->name);
	if (o->arg && o->name)
		n += snprintf(left + n, sizeof(left) - (size_t)n,
			      arg_optional(o) ? "[=%.*s]" : "=%.*s",
			      (int)(strlen(o->arg) - (arg_optional(o) ? 2 : 0)),
			      o->arg + (arg_optional(o) ? 1 : 0));
	else if (o->arg)
		n += snprintf(left + n, sizeof(left) - (size_t)n, " %s", o->arg);
	if (n >= HELP_COLUMN)
		printf("%s\n%*s%s\n", left, HELP_COLUMN, "", o->help);
	else
		printf("%-*s%s\n", HELP_COLUMN, left, o->help);
}

void opts_help(const struct command *cmd)
{
	const char *page = cmd->page ? cmd->page : cmd->name;

	printf("usage: %s%s %s\n\n%s.\n", program(cmd), cmd->name, cmd->usage, cmd->summary);
	if (cmd->nr_opts && cmd->opts[0].kind != OPT_GROUP)
		putchar('\n');
	for (size_t i = 0; i < command_nr_opts(cmd); i++)
		help_line(command_opt(cmd, i));
	printf("\nThe manual page spur-%.*s(1) says more.\n", (int)strcspn(page, " "), page);
}
