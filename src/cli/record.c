// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur record`: records what the kernel does into a file. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/live.h"
#include "cli/record.h"

struct record_options {
	struct tracing_options tracing;
	struct session_options session;
	const char *output, *compression;
	int64_t version, interval, priority, threads;
	int64_t rotate_keep;
	bool quiet, no_splice, daemonize, dry_run, verbose, to_stderr, profile, only_given,
		proc_map;
	bool global_irqs, by_comm, poll;
	struct string_refs hooks;
	const char *temp;
};

#define AT(field) offsetof(struct record_options, field)

/* A size (100M) or a time (10s). It needs a unit, because it could be either. */
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
		return opt_error(opt, "'%s' is not a time: 200us, 1ms", arg);
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

/* spur cannot send a trace to another machine yet; the option must not be ignored silently. */
static int refuse(void *options, const struct opt *opt, const char *arg)
{
	return opt_error(opt, "traces cannot be sent over a network by this version");
}

static const struct opt record_opts[] = {
	{'o', NULL, OPT_FILE, "FILE", "the file to write (trace.dat)", AT(output)},
	{'q', "quiet", OPT_FLAG, NULL, "print only errors", AT(quiet)},
	{0, "dry-run", OPT_FLAG, NULL, "only show what would be written to which file",
	 AT(dry_run)},

	{0, NULL, OPT_GROUP, NULL, "How long"},
	{0, "duration", OPT_DURATION, "TIME", "stop after this time", AT(session.duration)},
	{0, "rotate", OPT_CALL, "WHEN", "a new file after a size (100M) or a time (10s)", 0,
	 take_rotate},
	{0, "keep", OPT_NUMBER, "N", "with --rotate: keep the last N files", AT(rotate_keep)},
	{'m', NULL, OPT_CALL, "KB", "keep only the last KB kilobytes of each CPU", 0, take_limit},
	{0, "flight", OPT_FLAG, NULL,
	 "keep the newest events in memory, write them at the end or on SIGUSR1",
	 AT(session.flight)},
	{0, "flight-latency", OPT_CALL, "TIME",
	 "the same, until a task waits longer than this for its CPU", 0, take_latency},
	{0, "user", OPT_STRING, "USER", "run the command as this user", AT(session.user)},
	{0, "daemonize", OPT_FLAG, NULL, "go to the background once everything runs",
	 AT(daemonize)},

	{0, NULL, OPT_GROUP, NULL, "The file"},
	{0, "compression", OPT_STRING, "NAME", "zstd, zlib, any or none (none)", AT(compression),
	 .values = "any none zstd zlib"},
	{0, "file-version", OPT_NUMBER, "N", "7 (the default) or 6", AT(version), .values = "6 7"},
	{'a', NULL, OPT_FLAG, NULL, "store the formats of all events, recorded or not",
	 AT(session.meta.all_formats)},
	{0, "date", OPT_FLAG, NULL, "store the time of day", AT(session.meta.date)},
	{0, "ts-offset", OPT_CALL, "N", "store an offset that readers add to all times", 0,
	 take_ts_offset},
	{0, "tsc2nsec", OPT_FLAG, NULL, "store how to turn TSC times into nanoseconds",
	 AT(session.meta.tsc2nsec)},
	{0, "proc-map", OPT_FLAG, NULL, "store the memory maps of the traced processes",
	 AT(proc_map)},

	{0, NULL, OPT_GROUP, NULL, "How"},
	{'s', NULL, OPT_NUMBER, "USECS", "look at the buffers at least this often", AT(interval)},
	{'r', NULL, OPT_NUMBER, "PRIORITY", "real-time priority of the threads that record",
	 AT(priority)},
	{0, "threads", OPT_NUMBER, "N", "number of threads (one per CPU)", AT(threads)},
	{0, "no-splice", OPT_FLAG, NULL, "read and write instead of splice", AT(no_splice)},
	{0, "nosplice", OPT_FLAG, NULL, "the same", AT(no_splice)},
	{0, "poll", OPT_FLAG, NULL, "poll; waiting in the kernel disturbs real-time tasks",
	 AT(poll)},
	{'k', NULL, OPT_FLAG, NULL, "leave the settings as they are at the end", AT(session.keep)},

	{0, NULL, OPT_GROUP, NULL, "For report --profile"},
	{0, "profile", OPT_FLAG, NULL, "the events it needs", AT(profile)},
	{'S', NULL, OPT_FLAG, NULL, "only those given with -e and -p", AT(only_given)},
	{'H', NULL, OPT_LIST, "HOOK", "connect two events", AT(hooks)},
	{'G', NULL, OPT_FLAG, NULL, "interrupts belong to CPUs, not to tasks", AT(global_irqs)},
	{0, "by-comm", OPT_FLAG, NULL, "tasks of the same name together", AT(by_comm)},

	{0, NULL, OPT_GROUP, NULL, "Accepted because trace-cmd has them"},
	{0, "temp", OPT_FILE, "DIR", "there are no temporary files", AT(temp)},
	{0, "stderr", OPT_FLAG, NULL, "messages go to standard error in any case", AT(to_stderr)},
	{0, "verbose", OPT_FLAG, "[LEVEL]", "show the settings that are written", AT(verbose)},
	{0, "debug", OPT_FLAG, NULL, "the same", AT(verbose)},
	{'N', NULL, OPT_CALL, "HOST:PORT", "not part of this version", 0, refuse},
	{'V', NULL, OPT_CALL, "CID:PORT", "not part of this version", 0, refuse},
	{'A', NULL, OPT_CALL, "GUEST", "not part of this version", 0, refuse},
};

/* ---- what the user sees ---- */

/* What the callbacks of a session need. */
struct record_run {
	bool live;   /* on a terminal: a line that changes */
	bool shown;  /* it is there now */
	bool flight; /* what was overwritten was not wanted, and is not lost */
	bool hint;   /* say how to end it */
	int ready;   /* pipe to the foreground process; -1: this is that process */
	struct session_status before;
	struct progress progress;
};

static void on_status(void *arg, const struct session_status *s)
{
	struct record_run *run = arg;
	double seconds = s->seconds - run->before.seconds;
	/* Both are estimates, and the later one may be the smaller. */
	double more = (double)s->events - (double)run->before.events;
	double rate = seconds > 0 && more > 0 ? more / seconds : 0;

	if (!run->live || s->ending)
		return;
	fprintf(stderr, "\r%.1f s  %s events  %s  %s/s  %llu lost\033[K", s->seconds,
		amount_count((double)s->events).text, amount_bytes(s->bytes).text,
		amount_count(rate).text, (unsigned long long)s->lost);
	run->shown = true;
	run->before = *s;
}

static void show_end(const struct record_run *run, const struct session_result *res)
{
	const struct session_status *s = &res->last;

	if (run->shown)
		fprintf(stderr, "\r\033[K");
	cli_eprintf("%s: %.1f s, about %s events, %s", res->file, s->seconds,
		    amount_count((double)s->events).text, amount_bytes(s->bytes).text);
	if (s->lost && !run->flight)
		fprintf(stderr, ", %llu events lost: a larger buffer (-b) would help",
			(unsigned long long)s->lost);
	if (s->files > 1)
		fprintf(stderr, ", %llu files", (unsigned long long)s->files);
	fputc('\n', stderr);
	if (res->triggered)
		fprintf(stderr, "ended by a trigger\n");
	if (res->hit.ns)
		fprintf(stderr, "ended because task %d waited %.0f us for its CPU\n", res->hit.pid,
			(double)res->hit.ns / 1e3);
}

/* ---- from options to a session ---- */

static bool in_range(const char *name, int64_t value, int64_t least, int64_t most)
{
	if (value >= least && value <= most)
		return true;
	return cli_complain("%s: between %lld and %lld", name, (long long)least, (long long)most);
}

static int check(const struct record_options *o)
{
	const struct session_options *s = &o->session;

	if (!in_range("--file-version", o->version, 6, 7) || !in_range("-r", o->priority, 0, 99) ||
	    !in_range("-s", o->interval, 0, 3600000000) ||
	    !in_range("--threads", o->threads, 0, 1024) ||
	    !in_range("--keep", o->rotate_keep, 0, 1ll << 40))
		return SPUR_USAGE;
	if (o->rotate_keep && !s->rotate.bytes && !s->rotate.ns)
		return cli_wrong("--keep: goes with --rotate");
	if ((s->limit != 0) + (s->rotate.bytes || s->rotate.ns) + s->flight > 1)
		return cli_wrong("-m, --rotate and --flight exclude each other");
	if ((o->profile && !o->only_given) || o->hooks.n)
		return SPUR_OK;
	return tracing_anything(&o->tracing);
}

static int prepare(struct record_options *o, int others, char **argv)
{
	struct session_options *s = &o->session;
	int status = tracing_check(&o->tracing);

	if (status == SPUR_OK)
		status = tracing_session(&o->tracing, s, others, argv);
	if (status == SPUR_OK)
		status = check(o);
	if (status != SPUR_OK)
		return status;
	s->output = o->output ? o->output : "trace.dat";
	s->file.version = (unsigned int)o->version;
	s->file.compression = o->compression;
	s->rescue = true;
	s->rotate.keep = (uint64_t)o->rotate_keep;
	s->maps = o->proc_map;
	s->recorder.interval_us = (unsigned int)o->interval;
	s->recorder.priority = (int)o->priority;
	s->recorder.threads = (unsigned int)o->threads;
	s->recorder.busy = o->poll;
	if (o->no_splice)
		s->recorder.mover = &mover_read;
	s->meta.hooks = o->hooks.at;
	return SPUR_OK;
}

/* ---- signals ---- */

/* Signals arrive on descriptors; nothing is interrupted by them. */
static int signal_fd(const int *signals, size_t n)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < n; i++) {
		struct sigaction now;

		/*
		 * Under nohup SIGHUP stays ignored. SIGINT is ignored in the background of a
		 * script, but its `kill -INT` must end the recording.
		 */
		if (signals[i] != SIGHUP || sigaction(SIGHUP, NULL, &now) != 0 ||
		    now.sa_handler != SIG_IGN)
			sigaddset(&set, signals[i]);
	}
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

bool record_listen(struct session_options *s)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP}, saves[] = {SIGUSR1};

	signal(SIGPIPE, SIG_IGN);
	s->save_fd = -1;
	s->stop_fd = signal_fd(ends, 3);
	if (s->flight)
		s->save_fd = signal_fd(saves, 1);
	if (s->stop_fd >= 0)
		return true;
	return cli_complain("signalfd: %s", strerror(errno));
}

void record_say_lost(const struct session_result *res)
{
	if (res->last.lost)
		fprintf(stderr, "%llu events lost: a larger buffer (-b) would help\n",
			(unsigned long long)res->last.lost);
}

/* ---- the background ---- */

static void on_progress(void *arg, uint64_t done, uint64_t total)
{
	struct record_run *run = arg;

	if (!run->live)
		return;
	progress_show(&run->progress, done, total);
	run->shown |= run->progress.shown;
}

/* A process in the background must not hold pipes open whose end others wait for. */
static void leave_terminal(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	if (null > 2)
		close(null);
}

static void on_start(void *arg)
{
	struct record_run *run = arg;
	ssize_t n;

	if (run->hint)
		fprintf(stderr, "recording; Ctrl-C ends it\n");
	if (run->ready < 0)
		return;
	leave_terminal();
	n = write(run->ready, "", 1);
	(void)n;
	close(run->ready);
	run->ready = -1;
}

/*
 * Goes to the background: the process that was started waits until everything runs and returns its
 * exit status; the one that records gets -1 and goes on.
 */
static int go_to_background(struct record_run *run)
{
	int ends[2], status = 0;
	char byte;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0 || (pid = fork()) < 0)
		return cli_refused("going to the background: %s", strerror(errno));
	if (pid == 0) {
		close(ends[0]);
		setsid();
		run->ready = ends[1];
		run->live = run->hint = false;
		return -1;
	}
	close(ends[1]);
	if (read(ends[0], &byte, 1) == 1) {
		printf("recording in process %d\n", (int)pid);
		return SPUR_OK;
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : SPUR_ENVIRONMENT;
}

static int show_plan(const struct tracefs *fs, struct record_options *o, int fd)
{
	struct spur_error err = {0};
	scoped_buf text = buf_new(64u << 20);
	int rc = session_show(fs, &o->tracing.request, &o->session, &text, &err);

	if (rc == 0 && fd == STDOUT_FILENO)
		rc = cli_write(text.data, text.len);
	else if (rc == 0)
		cli_eprintf("%s", buf_str(&text));
	return cli_result(rc, "--dry-run", &err);
}

static int record(const struct tracefs *fs, struct record_options *o)
{
	struct session_options *s = &o->session;
	struct record_run run = {.ready = -1};
	struct session_result res;
	struct spur_error err = {0};
	int rc;

	run.live = !o->quiet && isatty(STDERR_FILENO);
	run.flight = s->flight;
	run.hint = !o->quiet && !s->command && !s->duration;
	if (o->verbose && !o->quiet)
		show_plan(fs, o, STDERR_FILENO);
	if (o->daemonize) {
		int status = go_to_background(&run);

		if (status >= 0)
			return status;
	}
	if (!record_listen(s))
		return SPUR_ENVIRONMENT;
	progress_begin(&run.progress);
	s->status = on_status;
	s->progress = on_progress;
	s->note = o->quiet ? NULL : tracing_note;
	s->started = on_start;
	s->arg = &run;
	rc = session_record(fs, &o->tracing.request, s, &res, &err);
	if (!o->quiet && res.file[0])
		show_end(&run, &res);
	else if (run.shown)
		fprintf(stderr, "\r\033[K");
	return rc < 0 ? cli_result(rc, "recording", &err) : SPUR_OK;
}

static int run_record(void *options, int others, char **argv)
{
	struct record_options *o = options;
	struct tracefs fs;
	int status = prepare(o, others, argv);

	if (status == SPUR_OK)
		status = live_open(&fs);
	if (status == SPUR_OK)
		status = tracing_profile(&o->tracing, &fs, &o->hooks, o->profile && !o->only_given);
	if (status != SPUR_OK)
		return status;
	return o->dry_run ? show_plan(&fs, o, STDOUT_FILENO) : record(&fs, o);
}

const struct command command_record = {
	.name = "record",
	.summary = "record what the kernel and programs do into a file",
	.usage = "[OPTION...] [COMMAND [ARGUMENT...]]",
	COMMAND_OPTS(record_opts, struct record_options),
	.defaults = &(const struct record_options){.version = 7},
	.run = run_record,
	.release = tracing_free,
	COMMAND_SHARED(tracing_opts),
	.takes_command = true,
};
