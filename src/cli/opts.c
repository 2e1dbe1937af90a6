// SPDX-License-Identifier: GPL-2.0-or-later
/* The option parser, and how a command is run. It knows nothing about any command. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "cli/opts.h"

#define HELP_COLUMN 30
#define MAX_CPU	    65535

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

bool parse_trace_time(const char *text, bool ticks, uint64_t *ts)
{
	char *end;

	if (!ticks || text[strspn(text, "0123456789.")])
		return parse_time(text, ts);
	errno = 0;
	*ts = strtoull(text, &end, 10);
	return end > text && !*end && !errno;
}

static int parse_end(const char *option, const char *text, bool ticks, uint64_t *ts,
		     struct spur_error *err)
{
	if (!text || parse_trace_time(text, ticks, ts))
		return 0;
	return error_set(err, -EINVAL, "%s: '%s' is not a time%s", option, text,
			 ticks ? ": the trace's clock counts whole numbers" : "");
}

int parse_range(const char *since, const char *until, bool ticks, uint64_t *from, uint64_t *to,
		struct spur_error *err)
{
	const int rc = parse_end("--since", since, ticks, from, err);

	return rc == 0 ? parse_end("--until", until, ticks, to, err) : rc;
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

static int set_duration(void *options, const struct opt *o, const char *arg)
{
	uint64_t *ns = (uint64_t *)(void *)((char *)options + o->offset);

	if (!parse_time(arg, ns) || !*ns)
		return opt_error(o, "'%s' is not a time: 10, 1.5s, 300ms", arg);
	return 0;
}

/* ---- lists of CPUs ---- */

bool cpu_list_add(struct cpu_list *list, uint32_t cpu)
{
	if (cpu > UINT32_MAX - 64)
		return false;
	if (cpu >= list->nr) {
		const uint32_t nr = (cpu / 64 + 1) * 64;
		uint64_t *bits = realloc(list->bits, nr / 8);

		if (!bits)
			return false;
		memset((char *)bits + list->nr / 8, 0, (nr - list->nr) / 8);
		list->bits = bits;
		list->nr = nr;
	}
	list->bits[cpu / 64] |= 1ull << (cpu % 64);
	return true;
}

bool cpu_list_has(const struct cpu_list *list, int64_t cpu)
{
	return cpu >= 0 && cpu < list->nr && (list->bits[cpu / 64] >> (cpu % 64) & 1);
}

void cpu_list_free(struct cpu_list *list)
{
	free(list->bits);
	*list = (struct cpu_list){0};
}

/* CPUs separated by commas or colons, ranges upwards. */
static int add_cpus(struct cpu_list *list, const struct opt *o, const char *arg)
{
	const char *p = arg;

	do {
		unsigned long first, last;
		char *end;

		while (isspace((unsigned char)*p))
			p++;
		if (!isdigit((unsigned char)*p))
			return opt_error(o, "'%s' is no list of CPUs", arg);
		first = last = strtoul(p, &end, 10);
		if (*end == '-') {
			if (!isdigit((unsigned char)end[1]))
				return opt_error(o, "'%s' is no list of CPUs", arg);
			last = strtoul(end + 1, &end, 10);
		}
		if (first > last || last > MAX_CPU)
			return opt_error(o, "'%s' is no list of CPUs", arg);
		for (; first <= last; first++)
			if (!cpu_list_add(list, (uint32_t)first))
				return -ENOMEM;
		p = end + (*end == ',' || *end == ':');
	} while (*p);
	return 0;
}

/* ---- names with wildcards ---- */

static int add_glob(struct globs *g, const struct opt *o, const char *arg)
{
	struct pattern *slot = vec_push(g);
	struct spur_error err = {0};

	if (!slot)
		return -ENOMEM;
	return pattern_glob(slot, arg, strlen(arg), &err) < 0 ? opt_error(o, "%s", err.text) : 0;
}

bool globs_match(const struct globs *g, const char *name)
{
	vec_each (p, g)
		if (pattern_match(p, name, strlen(name)))
			return true;
	return false;
}

/* ---- tables of options ---- */

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

static int add_checked(void *options, const struct opt *o, const char *arg)
{
	const int rc = o->call ? o->call(options, o, arg) : 0;

	return rc < 0 ? rc : opt_add_string(options, o, arg);
}

static int set_field(const struct opt *o, void *options, const char *arg)
{
	void *field = (char *)options + o->offset;

	switch (o->kind) {
	case OPT_FLAG: *(bool *)field = true; return 0;
	case OPT_CLEAR: *(bool *)field = false; return 0;
	case OPT_STRING:
	case OPT_FILE: *(const char **)field = arg; return 0;
	case OPT_NUMBER:
		return parse_number(arg, field) ? 0 : opt_error(o, "'%s' is not a number", arg);
	case OPT_TIME: return opt_set_time(options, o, arg);
	case OPT_DURATION: return set_duration(options, o, arg);
	case OPT_LIST: return add_checked(options, o, arg);
	case OPT_CPUS: return add_cpus(field, o, arg);
	case OPT_GLOBS: return add_glob(field, o, arg);
	case OPT_CALL:
	case OPT_VEC: return o->call(options, o, arg);
	case OPT_IGNORED:
	case OPT_GROUP: break;
	}
	return 0;
}

/* With the argument that is part of the same word, or NULL. */
static int apply(const struct opt *o, void *options, const char *arg, int argc, char **argv,
		 int *at)
{
	const char *next = *at + 1 < argc ? argv[*at + 1] : NULL;
	int rc;

	if (!arg && takes_next(o, next)) {
		arg = next;
		++*at;
	}
	if (o->arg && !arg && !arg_optional(o))
		return opt_error(o, "needs a value: %s", o->arg);
	rc = set_field(o, options, arg);
	return rc == -ENOMEM ? opt_error(o, "out of memory") : rc;
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
	return apply(o, options, arg, argc, argv, at);
}

static int parse_short(const struct command *cmd, void *options, int argc, char **argv, int *at)
{
	for (const char *c = argv[*at] + 1; *c; c++) {
		const struct opt *o = by_letter(cmd, *c);
		int rc;

		if (!o) {
			cli_error("unknown option '-%c'; try '%s%s --help'", *c, program(cmd),
				  cmd->name);
			return -EINVAL;
		}
		rc = apply(o, options, o->arg && c[1] ? c + 1 : NULL, argc, argv, at);
		if (rc < 0 || o->arg)
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

/* ---- running a command ---- */

/* Fields that several options share are empty the second time. */
static void free_fields(const struct command *cmd, void *options)
{
	for (size_t i = 0; i < command_nr_opts(cmd); i++) {
		const struct opt *o = command_opt(cmd, i);
		void *field = (char *)options + o->offset;

		if (o->kind == OPT_LIST || o->kind == OPT_VEC)
			vec_free((struct string_refs *)field);
		else if (o->kind == OPT_CPUS)
			cpu_list_free(field);
		if (o->kind != OPT_GLOBS)
			continue;
		vec_each (p, (struct globs *)field)
			pattern_free(p);
		vec_free((struct globs *)field);
	}
}

static int run_with(const struct command *cmd, void *options, int argc, char **argv)
{
	int others;

	if (cmd->defaults)
		memcpy(options, cmd->defaults, cmd->size);
	others = opts_parse(cmd, options, argc, argv);
	if (others < 0)
		return others == -ECANCELED ? SPUR_OK : SPUR_USAGE;
	if (others > 0 && cmd->takes_nothing)
		return cli_wrong("%s takes no arguments%s", cmd->name, cmd->takes_nothing);
	return cmd->run(options, others, argv);
}

int command_run(const struct command *cmd, int argc, char **argv)
{
	int status = cmd->before ? cmd->before(argv + 1) : SPUR_OK;
	void *options;

	if (status != SPUR_OK)
		return status;
	options = calloc(1, cmd->size + 1);
	if (!options)
		return cli_refused("out of memory");
	status = run_with(cmd, options, argc, argv);
	if (cmd->release)
		cmd->release(options);
	free_fields(cmd, options);
	free(options);
	return status;
}
