/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/cli: what `spur stream` and `spur profile` share. */
#ifndef CLI_STREAM_H
#define CLI_STREAM_H

#include "cli/wanted.h"
#include "record/live.h"

/* Where a stream's text goes. */
struct stream_out {
	int fd;
	int stop_fd;   /* readable: the user wants it to end … */
	bool stopped;  /* … and that has been seen */
	bool coloured; /* by spur: everything else in it has been cleaned */
};

/*
 * For live_options.write, with a struct stream_out: waits as long as it takes for somebody who
 * reads slowly, but not for long after a Ctrl-C.
 */
int stream_write(void *out, const char *data, size_t len);

/* For tables of options: the field is a time in nanoseconds. */
int stream_take_time(void *options, const struct opt *opt, const char *arg);

#endif
