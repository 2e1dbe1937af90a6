/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What commands that read one file and print a text of moderate length share. */
#ifndef CLI_ONEFILE_H
#define CLI_ONEFILE_H

#include "base/buf.h"
#include "cli/cli.h"
#include "scan/trace.h"

#define ONEFILE_TEXT (256u << 20) /* bytes of text at most */

/*
 * Opens the file: that of -i (input), else the only other argument, else trace.dat. NULL after a
 * message, with the exit status in *status. Afterwards Ctrl-C sets cli_stop.
 */
struct spur_trace *onefile_open(const struct command *cmd, const char *input, int others,
				char **argv, int *status);

/* The buffer of that name, "top" for the top one; NULL after a message. */
const struct trace_buffer *onefile_buffer(const struct spur_trace *t, const char *name);

/* The top buffer; NULL when a damaged file has none. */
const struct trace_buffer *onefile_top(const struct spur_trace *t);

/* Whether the buffer holds records; false after a message when it is a latency trace, a text. */
bool onefile_has_records(const struct trace_buffer *b);

/* Says which tasks or switches were not recorded, unless the file is damaged. */
void onefile_say_missing(const struct spur_trace *t);

/* Printed below a text when a Ctrl-C ended the reading. */
#define ONEFILE_STOPPED "(stopped: this is what had been read)\n"

/* Closes the file. Returns the status; if that is SPUR_OK, the status for the file's damage. */
int onefile_close(struct spur_trace *t, int status);

#endif
