/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the commands of the program share. Only this folder prints and decides the exit status; a
 * command parses its arguments, calls the library and shows the result.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>

#include <spur/error.h>

#include "cli/opts.h"

struct dat;

extern const struct command command_report, command_dump, command_info;

/* All commands by name, NULL at the end. */
extern const struct command *const commands[];

/* "spur: MESSAGE" on standard error, one line. */
void cli_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Prints the error and returns the exit status that belongs to it. */
int cli_fail(const struct spur_error *err);

/* Says what is damaged in the file, if anything is, and returns the exit status for it. */
int cli_damage(const struct dat *d);

/* Whether to use colour on standard output: "auto", "always", "never". False for another word. */
bool cli_colour(const char *when, bool *colour);

/*
 * Sends standard output through a pager when it is a terminal; waits for it at cli_pager_end().
 * `when` is as in cli_colour().
 */
void cli_pager_begin(bool wanted);
void cli_pager_end(void);

/* Set by Ctrl-C (SIGINT) and SIGTERM after cli_catch_signals(). */
extern volatile int cli_stop;
void cli_catch_signals(void);

/*
 * Writes everything to standard output; returns a negative errno (-EPIPE is not worth a message).
 */
int cli_write(const void *data, size_t len);

/* Prints the completion script for a shell ("bash", "zsh"); false when it is unknown. */
bool cli_completion(const char *shell);

/* Runs a command as trace-cmd would be run: argv[1] is its command. */
int cli_as_trace_cmd(int argc, char **argv);

#endif
