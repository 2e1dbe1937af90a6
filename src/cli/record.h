/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/cli: what `spur record`, `spur stream` and `spur profile` share. */
#ifndef CLI_RECORD_H
#define CLI_RECORD_H

#include "cli/tracing_opts.h"
#include "record/live.h"
#include "record/session.h"

/* Makes signals that end or save a recording arrive on descriptors. False after a message. */
bool record_listen(struct session_options *s);

/* Says how many events were lost, if any were. */
void record_say_lost(const struct session_result *res);

/* Where a stream's text goes. */
struct stream_out {
	int fd;
	int stop_fd;   /* readable: the user wants it to end … */
	bool stopped;  /* … and that has been seen */
	bool coloured; /* with spur's own colours; foreign text in it has been cleaned */
};

/*
 * For live_options.write, with a struct stream_out. Waits for a slow reader, but not for long after
 * a Ctrl-C.
 */
int stream_write(void *out, const char *data, size_t len);

#endif
