/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the commands of the program share. Only this folder prints and decides the exit status; a
 * command parses its arguments, calls the library and shows the result.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

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
/* Of the names fdd, kernelshark, and of `hist` under the name trace-cmd. */
extern const struct command fdd_command, kernelshark_command, chains_command;

/* All commands by name, NULL at the end. */
extern const struct command *const commands[];

/* The command of that name, or NULL. */
const struct command *cli_command(const char *name);

/* Prints all commands, in groups. */
void cli_usage(FILE *to);

/* Prints "spur: MESSAGE" on standard error: one line without control characters. */
void cli_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The same with a value: the status for wrong usage, for what the system refuses, or false. */
#define cli_wrong(...)	  (cli_error(__VA_ARGS__), SPUR_USAGE)
#define cli_refused(...)  (cli_error(__VA_ARGS__), SPUR_ENVIRONMENT)
#define cli_complain(...) (cli_error(__VA_ARGS__), false)

/* The same for callbacks that give a note. */
void cli_note(void *arg, const char *text);

/* Prints the error and returns the exit status that belongs to it. */
int cli_fail(const struct spur_error *err);

/* Says what is damaged in the file, if anything is, and returns the exit status for it. */
int cli_damage(const struct dat *d);

/*
 * The exit status for what the library returned. Prints the error, unless the user interrupted the
 * work (-EINTR) or closed the pipe (-EPIPE). Where the error has no words yet, `doing` says what
 * failed.
 */
int cli_result(int rc, const char *doing, struct spur_error *err);

/* SPUR_OK, or a status after a message that ends with `how` when the output is a recording. */
int cli_spare(const char *path, const char *how);

/* The `how` of cli_spare() for an option that names the output. */
#define CLI_FORCE(option) option " names the file to write; to replace this one, add --force"

/* Whether the output is the input, or in it; true after a message. Either may be NULL. */
bool cli_reads(const char *output, const char *input);

/* Whether the output is in a folder that is the input; as above. */
bool cli_reads_folder(const char *output, const char *input);

/* The option --color, whose field is a text, for cli_colour(). */
#define CLI_COLOUR_OPTION(field)                                                                   \
	{                                                                                          \
		0, "color", OPT_STRING, "WHEN", "auto, always or never", field,                    \
			.values = "auto always never"                                              \
	}

/*
 * Whether to use colour on standard output: "auto", "always", "never". False after a message for
 * another word.
 */
bool cli_colour(const char *when, bool *colour);

#define MAX_THREADS 256

/* Checks the value of --threads; 0 becomes one thread per CPU. False after a message. */
bool cli_threads(int64_t *threads);
/* The value of --threads for scan_threads(); 0: it was not given. */
unsigned int cli_scan_threads(int64_t threads);

/*
 * Sends standard output through a pager if that is wanted and it is a terminal. cli_pager_end()
 * waits until the user leaves the pager and restores standard output.
 */
void cli_pager_begin(bool wanted);
void cli_pager_end(void);

/* After cli_catch_signals(): the signal that arrived, SIGINT (Ctrl-C) or SIGTERM; 0: none. */
extern volatile int cli_stop;
void cli_catch_signals(void);

/* Whether standard output is a terminal, or the pager on one. */
bool cli_on_terminal(void);

/*
 * Writes all of it to standard output, after what stdio still holds. 0 or a negative errno. On a
 * terminal, control characters become '?'; the same holds for the functions below.
 */
int cli_write(const void *data, size_t len);

/* The same for text with spur's own colours in it; foreign text has been cleaned before. */
int cli_write_coloured(const void *data, size_t len);

/* To stdio's standard output, for text of files or of the kernel. */
void cli_put(const char *text, size_t len);
void cli_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same on standard error. */
void cli_eprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Amounts for people; printf("%s", amount_bytes(n).text). */
struct amount {
	char text[32];
};
struct amount amount_bytes(uint64_t bytes); /* "12.3 MB" */
struct amount amount_time(uint64_t ns);	    /* "1.500 s" */
struct amount amount_count(double count);   /* "12.3 k" */

/* Prints the completion script for a shell ("bash", "zsh"); false when it is unknown. */
bool cli_completion(const char *shell);

/* Runs spur as trace-cmd: argv[1] is the command. */
int cli_as_trace_cmd(int argc, char **argv);

struct spur_trace;

/*
 * Prints chains of calls and how often they came: `trace-cmd hist` and `spur calls --chains`.
 * buffer: only that one, NULL: all. Returns the exit status.
 */
int cli_show_chains(struct spur_trace *t, const char *buffer, bool all_tasks);

/* Runs a script by bpftrace's command line. */
int cli_as_bpftrace(int argc, char **argv);

/* ---- findings.c ---- */

/*
 * Looks for those of these names ("NAME,NAME"; "": all) and prints so many rows of each. Returns
 * the exit status.
 */
int findings_show(struct spur_trace *t, const char *names, int64_t rows, bool json, bool colour);

/* ---- output.c: progress of jobs ---- */

struct progress {
	time_t last;
	bool shown;
};

void progress_begin(struct progress *p);

/* For a job's `progress`; arg is the struct progress. */
void progress_show(void *arg, uint64_t done, uint64_t total);

/* Wipes what is shown. */
void progress_end(struct progress *p);

/* A job that Ctrl-C stops; it shows its progress if that is wanted. */
struct dat_job progress_job(struct progress *p, bool wanted);

#endif
