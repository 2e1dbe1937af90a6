// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur stream`: the report of a recording while it runs. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/safe.h"
#include "cli/live.h"
#include "cli/record.h"
#include "report/columns.h"

#define GIVE_UP_MS 3000

/* ---- writing ---- */

/* Waits until a little can be written. -EINTR when that takes long and the user wants to end it. */
static int wait_for_room(struct stream_out *out)
{
	for (;;) {
		struct pollfd fds[] = {
			{out->fd, POLLOUT, 0},
			{out->stopped ? -1 : out->stop_fd, POLLIN, 0},
		};
		int n = poll(fds, 2, out->stopped ? GIVE_UP_MS : -1);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0 && fds[0].revents)
			return 0;
		if (n == 0)
			return -EINTR;
		out->stopped |= n > 0;
	}
}

static int write_all(struct stream_out *out, const char *data, size_t len)
{
	while (len) {
		/* A pipe that is writable accepts this much without blocking. */
		size_t most = len < PIPE_BUF ? len : PIPE_BUF;
		int rc = wait_for_room(out);
		ssize_t n;

		if (rc < 0)
			return rc;
		n = write(out->fd, data, most);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

int stream_write(void *arg, const char *data, size_t len)
{
	struct stream_out *out = arg;
	scoped_buf shown = buf_new(len + 1);

	if (!isatty(out->fd))
		return write_all(out, data, len);
	(out->coloured ? buf_put_shown : buf_put_safe)(&shown, data, len);
	return shown.full ? -ENOMEM : write_all(out, shown.data, shown.len);
}

/* ---- options ---- */

struct stream_options {
	struct tracing_options tracing;
	struct live_options live;
	const char *fields, *colour, *compat;
	int64_t head;
	bool json, csv, quiet, to_stderr;
};

#define AT(field) offsetof(struct stream_options, field)

static const struct opt stream_opts[] = {
	{0, NULL, OPT_GROUP, NULL, "How long"},
	{0, "duration", OPT_DURATION, "TIME", "end after this time", AT(live.session.duration)},
	{0, "head", OPT_NUMBER, "N", "end after N events", AT(head)},
	{0, "user", OPT_STRING, "USER", "run the command as this user", AT(live.session.user)},

	{0, NULL, OPT_GROUP, NULL, "How to show it"},
	{'t', NULL, OPT_FLAG, NULL, "times with nine digits instead of six",
	 AT(live.format.nanosec)},
	{0, "raw", OPT_FLAG, NULL, "raw: field names and numbers", AT(live.format.raw)},
	{0, "latency", OPT_FLAG, NULL, "narrow lines in the latency format",
	 AT(live.format.latency)},
	{0, "pretty", OPT_FLAG, NULL, "system calls with names for flags and errors",
	 AT(live.format.pretty)},
	{0, "json", OPT_FLAG, NULL, "one JSON object per line", AT(json)},
	{0, "csv", OPT_FLAG, NULL, "comma-separated values", AT(csv)},
	{0, "fields", OPT_STRING, "LIST",
	 "only these columns: ts, time, cpu, pid, comm, …, or fields", AT(fields)},
	CLI_COLOUR_OPTION(AT(colour)),
	{0, "ts-diff", OPT_FLAG, NULL, "show the time since the previous line",
	 AT(live.format.ts_diff)},
	{0, "date", OPT_FLAG, NULL, "times of day, in seconds since 1970",
	 AT(live.session.meta.date)},
	{0, "raw-ts", OPT_FLAG, NULL, "times as they are in the ring buffer",
	 AT(live.trace.raw_ts)},
	{0, "compat", OPT_STRING, "VERSION", "the text of trace-cmd 3.4 (default) or 3.1",
	 AT(compat), .values = "3.4 3.1"},
	{0, "stderr", OPT_FLAG, NULL, "show it on standard error", AT(to_stderr)},
	{'q', "quiet", OPT_FLAG, NULL, "do not report lost events at the end", AT(quiet)},
	{0, "verbose", OPT_IGNORED, "[LEVEL]", "does nothing; accepted because trace-cmd has it"},
};

static int check(struct stream_options *o, int others, char **argv)
{
	struct live_options *l = &o->live;
	int status = tracing_check(&o->tracing);

	if (status == SPUR_OK)
		status = tracing_anything(&o->tracing);
	if (status == SPUR_OK)
		status = tracing_session(&o->tracing, &l->session, others, argv);
	if (status != SPUR_OK)
		return status;
	if (o->json && o->csv)
		return cli_wrong("--json or --csv, not both");
	if (o->head < 0)
		return cli_wrong("--head: not a number of events");
	if (strcmp(o->compat, "3.1") == 0) {
		l->format.compat = COMPAT_31;
	} else if (strcmp(o->compat, "3.4") != 0) {
		return cli_wrong("--compat: 3.4 or 3.1, not '%s'", o->compat);
	}
	l->trace.compat = l->format.compat;
	l->trace.user_plugins = true;
	l->head = (uint64_t)o->head;
	l->emit = o->json ? &emit_json : o->csv ? &emit_csv : o->fields ? &emit_table : &emit_text;
	return cli_colour(o->colour, &l->format.colour) ? SPUR_OK : SPUR_USAGE;
}

static int stream(const struct tracefs *fs, struct stream_options *o)
{
	struct stream_out out = {.fd = o->to_stderr ? STDERR_FILENO : STDOUT_FILENO};
	struct live_options *l = &o->live;
	struct emit_columns columns = {0};
	struct session_result res = {0};
	struct spur_error err = {0};
	int rc = o->fields ? columns_parse(&columns, o->fields, &err) : 0;

	if (rc == 0 && !record_listen(&l->session)) {
		columns_free(&columns);
		return SPUR_ENVIRONMENT;
	}
	out.stop_fd = l->session.stop_fd;
	out.coloured = l->format.colour && l->emit == &emit_text;
	l->format.columns = o->fields ? &columns : NULL;
	l->write = stream_write;
	l->arg = &out;
	l->out_fd = out.fd;
	l->session.note = o->quiet ? NULL : tracing_note;
	if (rc == 0)
		rc = live_run(fs, &o->tracing.request, l, &res, &err);
	columns_free(&columns);
	if (!o->quiet)
		record_say_lost(&res);
	return rc < 0 ? cli_result(rc, "the stream", &err) : SPUR_OK;
}

static int run_stream(void *options, int others, char **argv)
{
	struct tracefs fs;
	int status = check(options, others, argv);

	if (status == SPUR_OK)
		status = live_open(&fs);
	return status == SPUR_OK ? stream(&fs, options) : status;
}

const struct command command_stream = {
	.name = "stream",
	.summary = "print what the kernel does as it happens",
	.usage = "[OPTION...] [COMMAND [ARGUMENT...]]",
	COMMAND_OPTS(stream_opts, struct stream_options),
	.defaults = &(const struct stream_options){.colour = "auto", .compat = "3.4"},
	.run = run_stream,
	.release = tracing_free,
	COMMAND_SHARED(tracing_opts),
	.takes_command = true,
};
