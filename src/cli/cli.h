/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the commands of the program share. Only this folder prints and decides the exit status; a
 * command parses its arguments, calls the library and shows the result.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>
#include <stdio.h>

#include <spur/error.h>

#include "cli/opts.h"

struct dat;

extern const struct command command_record, command_report, command_dump, command_info;
extern const struct command command_sql, command_view, command_tui;
extern const struct command command_export, command_import;
extern const struct command command_latency, command_diff;
extern const struct command command_stream, command_profile, command_start, command_set;
extern const struct command command_extract;
extern const struct command command_convert, command_split, command_restore, command_attach;
extern const struct command command_hist, command_mem, command_sqlhist, command_script,
	command_tool;
extern const struct command command_list, command_show, command_stat, command_check;
extern const struct command command_stop, command_restart, command_clear, command_reset;
extern const struct command command_snapshot, command_stack, command_options;
extern const struct command command_check_events;
extern const struct command command_flame;
extern const struct command command_top, command_functions, command_calls, command_why;

/* All commands by name, NULL at the end. */
extern const struct command *const commands[];

/* The command of that name, or NULL. */
const struct command *cli_command(const char *name);

/* Prints all commands, in groups. */
void cli_usage(FILE *to);

/* "spur: MESSAGE" on standard error, one line that cannot drive a terminal. */
void cli_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Prints the error and returns the exit status that belongs to it. */
int cli_fail(const struct spur_error *err);

/* Says what is damaged in the file, if anything is, and returns the exit status for it. */
int cli_damage(const struct dat *d);

/*
 * The exit status for what the library returned, after a message where one is due: none when the
 * user has interrupted the work (-EINTR) or does not read on (-EPIPE). Where the error has no words
 * yet, `doing` is what failed.
 */
int cli_result(int rc, const char *doing, struct spur_error *err);

/* SPUR_OK, or a message that ends with `how` when the file to be written is a recording. */
int cli_spare(const char *path, const char *how);

/* How to replace one, and why it may not be meant: for an option that names the output. */
#define CLI_FORCE(option) option " names the file to write; to replace this one, add --force"

/*
 * Whether to use colour on standard output: "auto", "always", "never". False after a message for
 * another word.
 */
bool cli_colour(const char *when, bool *colour);

/* Makes the value of --threads a sensible one, 0 one per CPU. False after a message. */
bool cli_threads(int64_t *threads);

/*
 * Sends standard output through a pager when that is wanted and it is a terminal. cli_pager_end()
 * waits until the user leaves it and gives standard output back.
 */
void cli_pager_begin(bool wanted);
void cli_pager_end(void);

/* The signal, after cli_catch_signals(), once there was a Ctrl-C (SIGINT) or a SIGTERM. */
extern volatile int cli_stop;
void cli_catch_signals(void);

/* Whether standard output is a terminal, or the pager on one. */
bool cli_on_terminal(void);

/*
 * Writes everything to standard output, behind what stdio still has. 0 or a negative errno. Where
 * it is a terminal nothing in it drives that; the same holds for the two below.
 */
int cli_write(const void *data, size_t len);

/* The same for text with spur's own colours in it: what came from elsewhere has been cleaned. */
int cli_write_coloured(const void *data, size_t len);

/* To stdio's standard output: what prints text of files or of the kernel. */
void cli_put(const char *text, size_t len);
void cli_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Amounts for people: each writes to the memory it is given and returns that. */
const char *amount_bytes(char *text, size_t cap, uint64_t bytes); /* "12.3 MB" */
const char *amount_time(char *text, size_t cap, uint64_t ns);	  /* "1.500 s" */
const char *amount_count(char *text, size_t cap, double count);	  /* "12.3 k" */

/* Prints the completion script for a shell ("bash", "zsh"); false when it is unknown. */
bool cli_completion(const char *shell);

/* Runs a command as trace-cmd would be run: argv[1] is its command. */
int cli_as_trace_cmd(int argc, char **argv);

struct spur_trace;

/*
 * Prints chains of calls and how often they came: `trace-cmd hist` and `spur calls --chains`.
 * buffer: only that one, NULL: all. Returns the exit status.
 */
int cli_show_chains(struct spur_trace *t, const char *buffer, bool all_tasks);

/* Runs a script as bpftrace would be run. */
int cli_as_bpftrace(int argc, char **argv);

/* Prints a table of functions as fdd does. */
int cli_as_fdd(int argc, char **argv);

/* Opens the viewer as KernelShark is opened. */
int cli_as_kernelshark(int argc, char **argv);

#endif
