/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Command-line options as tables.
 *
 * A command describes its options once: letter, name, argument, help text and where the value goes.
 * The same table parses, prints --help, writes the shell completions and is compared with the
 * manual page.
 */
#ifndef CLI_OPTS_H
#define CLI_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <spur/error.h>

#include "base/array.h"
#include "base/pattern.h"
#include "base/strings.h"

/* What an option is, and the type of its field. */
enum opt_kind {
	OPT_FLAG,     /* bool: set */
	OPT_CLEAR,    /* bool: cleared, which undoes the flag of the same field */
	OPT_STRING,   /* const char * */
	OPT_FILE,     /* the same; shells complete it with names of files */
	OPT_NUMBER,   /* int64_t, decimal or 0x… */
	OPT_TIME,     /* uint64_t, nanoseconds */
	OPT_DURATION, /* the same, but not 0 */
	OPT_LIST,     /* struct string_refs: the argument is added; call(), if any, checks it */
	OPT_CPUS,     /* struct cpu_list: the CPUs are added */
	OPT_GLOBS,    /* struct globs: the pattern is added */
	OPT_CALL,     /* call() with the argument, or NULL when it takes none */
	OPT_VEC,      /* the same; the field is a vector that call() adds to */
	OPT_IGNORED,  /* none: the option has no effect */
	OPT_GROUP,    /* no option: a heading in the help text */
};

/* A list of CPUs: "0,2-4". */
struct cpu_list {
	uint64_t *bits; /* NULL: none was given */
	uint32_t nr;	/* bits there are; CPUs beyond are not in the list */
};

/* False without memory. */
bool cpu_list_add(struct cpu_list *list, uint32_t cpu);
/* -1 is in no list. */
bool cpu_list_has(const struct cpu_list *list, int64_t cpu);
void cpu_list_free(struct cpu_list *list);

/* Names in which * and ? stand for anything. */
struct globs {
	struct pattern *at;
	size_t n, cap;
};

bool globs_match(const struct globs *g, const char *name);

struct opt {
	char letter;	  /* 0: none */
	const char *name; /* NULL: none */
	enum opt_kind kind;
	const char *arg; /* name of its argument; "[X]" when it may be left out; NULL: takes none */
	const char *help;
	size_t offset; /* of the field in the command's options */
	/* Returns 0, or a negative errno after complaining with opt_error(). */
	int (*call)(void *options, const struct opt *o, const char *arg);
	const char *values; /* for completion: "auto always never", or "FILE" as OPT_FILE has it */
	bool apart;	    /* an argument that may be left out may also be the next word */
};

struct command {
	const char *name;
	const char *summary; /* one line for the list of commands */
	const char *usage;   /* what follows the name in "usage: spur NAME …" */
	const struct opt *opts;
	size_t nr_opts;
	/* Options that other commands have too; their fields are at the same offsets. */
	const struct opt *shared;
	size_t nr_shared;
	size_t size;	      /* of the struct that has the options' fields */
	const void *defaults; /* such a struct; NULL: all is zero */
	/* With what opts_parse() made of the words; returns the exit status. */
	int (*run)(void *options, int others, char **argv);
	/* Frees what OPT_CALLs and run() have allocated. May be NULL. */
	void (*release)(void *options);
	/* Looks at all words first; anything but SPUR_OK is the exit status. May be NULL. */
	int (*before)(char **argv);
	bool takes_command;	   /* the first argument that is no option begins a command line */
	const char *takes_nothing; /* only options; the end of a message for others. May be NULL */
	const char *page; /* under another program's name: the command with its manual page */
};

/* In a struct command: its table of options, and the struct whose fields they are. */
#define COMMAND_OPTS(table, type)                                                                  \
	.opts = (table), .nr_opts = ARRAY_SIZE(table), .size = sizeof(type)
/* The table of options that other commands have too. */
#define COMMAND_SHARED(table) .shared = (table), .nr_shared = ARRAY_SIZE(table)

/* Runs a command; argv[0] is its name. Returns the exit status. */
int command_run(const struct command *cmd, int argc, char **argv);

/* Option number i, the command's own first; i is less than command_nr_opts(). */
const struct opt *command_opt(const struct command *cmd, size_t i);
size_t command_nr_opts(const struct command *cmd);

/*
 * Parses argv[1…]; options and other arguments may be mixed, "--" ends the options. The others are
 * moved to the front of argv and their number is returned, or a negative errno after a message:
 * -EINVAL for wrong usage, -ECANCELED when help was asked for and printed.
 */
int opts_parse(const struct command *cmd, void *options, int argc, char **argv);

/* "spur: --cpu: MESSAGE" on standard error; returns -EINVAL. */
int opt_error(const struct opt *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* What the kinds OPT_LIST and OPT_TIME do, for an OPT_CALL that does more. */
int opt_add_string(void *options, const struct opt *o, const char *arg);
int opt_set_time(void *options, const struct opt *o, const char *arg);

/* Prints what --help shows: the usage and a line for every option. */
void opts_help(const struct command *cmd);

/* A whole number, decimal or 0x…, perhaps with k, M or G after it; false for anything else. */
bool parse_number(const char *text, int64_t *value);

/* A number of kilobytes; with k, M or G after it, of bytes. False for anything else. */
bool parse_kilobytes(const char *text, uint64_t *kb);

/*
 * A time in nanoseconds from seconds ("1.5") or from a number with a unit: s, ms, us, ns. False for
 * anything else, and for what 64 bits do not hold.
 */
bool parse_time(const char *text, uint64_t *ns);

/*
 * A time of a trace, as the report shows it: the same, but if its clock counts ticks (see
 * trace_counts_ticks()), a number without a unit is a whole number of ticks.
 */
bool parse_trace_time(const char *text, bool ticks, uint64_t *ts);

/* The same for --since and --until; without a text (NULL) nothing happens. -EINVAL with words. */
int parse_range(const char *since, const char *until, bool ticks, uint64_t *from, uint64_t *to,
		struct spur_error *err);

#endif
