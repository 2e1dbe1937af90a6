// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>

#include "cli/record.h"

#define AT(field) offsetof(struct record_options, field)

static int take_duration(void *options, const struct opt *opt, const char *arg)
{
	struct record_options *o = options;

	if (!parse_time(arg, &o->session.duration) || !o->session.duration)
		return opt_error(opt, "'%s' is no time: 10, 1.5s, 300ms", arg);
	return 0;
}

/* A size (100M) or a time (10s): what has no unit could be either. */
static int take_rotate(void *options, const struct opt *opt, const char *arg)
{
	struct record_options *o = options;
	size_t len = strlen(arg);
	int64_t bytes;

	if (len && arg[len - 1] == 's' && parse_time(arg, &o->session.rotate.ns) &&
	    o->session.rotate.ns)
		return 0;
	if (len && strchr("kMG", arg[len - 1]) && parse_number(arg, &bytes) && bytes > 0) {
		o->session.rotate.bytes = (uint64_t)bytes;
		return 0;
	}
	return opt_error(opt, "'%s' is no size (500k, 100M, 2G) and no time (10s)", arg);
}

static int take_limit(void *options, const struct opt *opt, const char *arg)
{
	struct record_options *o = options;
	uint64_t kb;

	if (!parse_kilobytes(arg, &kb) || !kb || kb > 1ull << 40)
		return opt_error(opt, "'%s' is no number of kilobytes", arg);
	o->session.limit = kb << 10;
	return 0;
}

static int take_latency(void *options, const struct opt *opt, const char *arg)
{
	struct record_options *o = options;

	if (!parse_time(arg, &o->session.latency) || !o->session.latency)
		return opt_error(opt, "'%s' is no time: 200us, 1ms", arg);
	o->session.flight = true;
	return 0;
}

static int take_ts_offset(void *options, const struct opt *opt, const char *arg)
{
	struct record_options *o = options;

	if (!parse_number(arg, &o->session.meta.ts_offset))
		return opt_error(opt, "'%s' is not a number", arg);
	o->session.meta.has_ts_offset = true;
	return 0;
}

static int take_hook(void *options, const struct opt *opt, const char *arg)
{
	struct record_options *o = options;

	return request_add_name(&o->hooks, arg) ? 0 : opt_error(opt, "out of memory");
}

static int take_verbose(void *options, const struct opt *opt, const char *arg)
{
	struct record_options *o = options;

	o->verbose = true;
	return 0;
}

/* Sending a trace elsewhere is not part of this program yet; it must not pass unnoticed. */
static int refuse(void *options, const struct opt *opt, const char *arg)
{
	return opt_error(opt, "traces cannot be sent over a network by this version");
}

const struct opt record_opts[] = {
	{'o', NULL, OPT_STRING, "FILE", "where to (trace.dat)", AT(output), .values = "FILE"},
	{'q', "quiet", OPT_FLAG, NULL, "say nothing but errors", AT(quiet)},
	{0, "dry-run", OPT_FLAG, NULL, "only show what would be written to which file",
	 AT(dry_run)},

	{0, NULL, OPT_GROUP, NULL, "How long"},
	{0, "duration", OPT_CALL, "TIME", "stop after this time", 0, take_duration},
	{0, "rotate", OPT_CALL, "WHEN", "a new file after a size (100M) or a time (10s)", 0,
	 take_rotate},
	{0, "keep", OPT_NUMBER, "N", "with --rotate: keep so many files", AT(rotate_keep)},
	{'m', NULL, OPT_CALL, "KB", "keep only the last so many kilobytes of each CPU", 0,
	 take_limit},
	{0, "flight", OPT_FLAG, NULL,
	 "keep the newest events in memory, write them at the end or on SIGUSR1",
	 AT(session.flight)},
	{0, "flight-latency", OPT_CALL, "TIME",
	 "the same, ended by a task that waits longer for its CPU", 0, take_latency},
	{0, "user", OPT_STRING, "USER", "run the command as this user", AT(session.user)},
	{0, "daemonize", OPT_FLAG, NULL, "go to the background once everything runs",
	 AT(daemonize)},

	{0, NULL, OPT_GROUP, NULL, "The file"},
	{0, "compression", OPT_STRING, "NAME", "zstd, zlib, any or none (none)", AT(compression),
	 .values = "any none zstd zlib"},
	{0, "file-version", OPT_NUMBER, "N", "7 (the default) or 6", AT(version), .values = "6 7"},
	{'a', NULL, OPT_FLAG, NULL, "with the formats of all events, recorded or not",
	 AT(session.meta.all_formats)},
	{0, "date", OPT_FLAG, NULL, "with what is needed to show the time of day",
	 AT(session.meta.date)},
	{0, "ts-offset", OPT_CALL, "N", "an offset that readers add to all times", 0,
	 take_ts_offset},
	{0, "tsc2nsec", OPT_FLAG, NULL, "with what turns TSC times into nanoseconds",
	 AT(session.meta.tsc2nsec)},
	{0, "proc-map", OPT_FLAG, NULL, "with what the traced processes have mapped where",
	 AT(proc_map)},

	{0, NULL, OPT_GROUP, NULL, "How"},
	{'s', NULL, OPT_NUMBER, "USECS", "look at the buffers at least this often", AT(interval)},
	{'r', NULL, OPT_NUMBER, "PRIORITY", "real-time priority of the threads that record",
	 AT(priority)},
	{0, "threads", OPT_NUMBER, "N", "use so many threads instead of one per CPU", AT(threads)},
	{0, "no-splice", OPT_FLAG, NULL, "read and write instead of splice", AT(no_splice)},
	{0, "nosplice", OPT_FLAG, NULL, "the same", AT(no_splice)},
	{0, "poll", OPT_FLAG, NULL, "never wait in the kernel, which disturbs real-time tasks",
	 AT(poll)},
	{'k', NULL, OPT_FLAG, NULL, "leave the settings as they are at the end", AT(session.keep)},

	{0, NULL, OPT_GROUP, NULL, "For report --profile"},
	{0, "profile", OPT_FLAG, NULL, "the events it needs", AT(profile)},
	{'S', NULL, OPT_FLAG, NULL, "only those given with -e and -p", AT(only_given)},
	{'H', NULL, OPT_CALL, "HOOK", "connect two events", 0, take_hook},
	{'G', NULL, OPT_FLAG, NULL, "interrupts belong to CPUs, not to tasks", AT(global_irqs)},
	{0, "by-comm", OPT_FLAG, NULL, "tasks of the same name together", AT(by_comm)},

	{0, NULL, OPT_GROUP, NULL, "Accepted for trace-cmd's sake"},
	{0, "temp", OPT_STRING, "DIR", "there are no temporary files", AT(temp), .values = "FILE"},
	{0, "stderr", OPT_FLAG, NULL, "messages go to standard error in any case", AT(to_stderr)},
	{0, "verbose", OPT_CALL, "[LEVEL]", "say which settings were written", 0, take_verbose},
	{0, "debug", OPT_CALL, NULL, "the same", 0, take_verbose},
	{'N', NULL, OPT_CALL, "HOST:PORT", "not part of this version", 0, refuse},
	{'V', NULL, OPT_CALL, "CID:PORT", "not part of this version", 0, refuse},
	{'A', NULL, OPT_CALL, "GUEST", "not part of this version", 0, refuse},
};
