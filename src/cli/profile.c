// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur profile`: what `report --profile` shows, live and without a file. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/live.h"
#include "cli/record.h"
#include "stats/profile.h"
#include "stats/profile/hook.h"

#define TEXT_LIMIT (256u << 20)

struct profile_command {
	struct tracing_options tracing;
	struct live_options live;
	struct string_refs hooks;
	const char *output;
	bool only_given, global, by_comm, quiet, to_stderr;

	struct profile *profile;
	struct stream_out out;
};

#define AT(field) offsetof(struct profile_command, field)

static const struct opt profile_opts[] = {
	{'S', NULL, OPT_FLAG, NULL, "only the events and tracers given with -e and -p",
	 AT(only_given)},
	{'H', NULL, OPT_LIST, "HOOK", "EVENT,FIELD/EVENT,FIELD: measure from one event to another",
	 AT(hooks)},
	{'G', NULL, OPT_FLAG, NULL, "interrupts belong to CPUs, not to tasks", AT(global)},
	{0, "by-comm", OPT_FLAG, NULL, "tasks of the same name together", AT(by_comm)},
	{'o', NULL, OPT_FILE, "FILE", "write the profile to this file", AT(output)},
	{0, "stderr", OPT_FLAG, NULL, "show it on standard error", AT(to_stderr)},
	{0, "duration", OPT_DURATION, "TIME", "end after this time", AT(live.session.duration)},
	{0, "user", OPT_STRING, "USER", "run the command as this user", AT(live.session.user)},
	{'q', "quiet", OPT_FLAG, NULL, "no warnings", AT(quiet)},
	{0, "verbose", OPT_IGNORED, "[LEVEL]", "does nothing; accepted because trace-cmd has it"},
};

/* ---- the profile ---- */

static void warn(void *arg, const char *text)
{
	const struct profile_command *o = arg;

	if (!o->quiet)
		cli_error("%s", text);
}

static int begin_profile(void *arg, struct spur_trace *t, struct spur_error *err)
{
	struct profile_command *o = arg;
	const struct profile_options opt = {
		.global = o->global,
		.by_comm = o->by_comm,
		.hooks = o->hooks.at,
		.nr_hooks = o->hooks.n,
		.warn = warn,
		.warn_arg = o,
	};

	o->profile = profile_new(&t, 1, &opt, err);
	return o->profile ? 0 : err->code;
}

static void take_record(void *arg, const struct spur_trace *t, struct event *e,
			const struct spur_record *r, struct buf *out)
{
	struct profile_command *o = arg;

	profile_record(o->profile, t, e, r);
}

/* Only the profile is written, at the end, and none of the records. */
static void emit_nothing(struct emitter *em, const struct spur_record *r, struct event *e,
			 struct buf *out)
{
}

static const struct emit_ops no_text = {.record = emit_nothing};

static int write_nothing(void *arg, const char *data, size_t len)
{
	return 0;
}

static int show_profile(void *arg, struct spur_error *err)
{
	struct profile_command *o = arg;
	char told[512]; /* a signalfd gives no less than a whole siginfo */
	scoped_buf text = buf_new(TEXT_LIMIT);
	int rc;

	/* The signal that ended the recording must not stop the writing of the profile. */
	while (read(o->out.stop_fd, told, sizeof(told)) > 0)
		;
	rc = hook_put_all(o->hooks.at, o->hooks.n, &text, err);
	profile_print(o->profile, &text);
	if (profile_dropped(o->profile) || buf_full(&text))
		warn(o, "the profile is incomplete: it would take too much memory");
	return rc == 0 ? stream_write(&o->out, text.data, text.len) : rc;
}

static bool open_output(struct profile_command *o)
{
	o->out.fd = o->to_stderr ? STDERR_FILENO : STDOUT_FILENO;
	if (!o->output)
		return true;
	o->out.fd = open(o->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (o->out.fd < 0)
		cli_error("%s: %s", o->output, strerror(errno));
	return o->out.fd >= 0;
}

static int profile(const struct tracefs *fs, struct profile_command *o)
{
	struct live_options *l = &o->live;
	struct session_result res = {0};
	struct spur_error err = {0};
	int rc;

	if (!open_output(o) || !record_listen(&l->session))
		return SPUR_ENVIRONMENT;
	o->out.stop_fd = l->session.stop_fd;
	l->emit = &no_text;
	l->write = write_nothing;
	l->out_fd = -1;
	l->session.note = o->quiet ? NULL : tracing_note;
	l->opened = begin_profile;
	l->watch = take_record;
	l->finished = show_profile;
	l->arg = o;
	rc = live_run(fs, &o->tracing.request, l, &res, &err);
	profile_free(o->profile);
	if (o->output && close(o->out.fd) != 0 && rc == 0)
		rc = error_sys(&err, -errno, "%s", o->output);
	if (!o->quiet)
		record_say_lost(&res);
	return rc < 0 ? cli_result(rc, "the profile", &err) : SPUR_OK;
}

static int check(struct profile_command *o, const struct tracefs *fs, int others, char **argv)
{
	int status = tracing_check(&o->tracing);

	if (status == SPUR_OK)
		status = tracing_session(&o->tracing, &o->live.session, others, argv);
	if (status == SPUR_OK)
		status = tracing_profile(&o->tracing, fs, &o->hooks, !o->only_given);
	return status == SPUR_OK ? tracing_anything(&o->tracing) : status;
}

static int run_profile(void *options, int others, char **argv)
{
	struct tracefs fs;
	int status = live_open(&fs);

	if (status == SPUR_OK)
		status = check(options, &fs, others, argv);
	return status == SPUR_OK ? profile(&fs, options) : status;
}

const struct command command_profile = {
	.name = "profile",
	.summary = "show where tasks spend their time",
	.usage = "[OPTION...] [COMMAND [ARGUMENT...]]",
	COMMAND_OPTS(profile_opts, struct profile_command),
	.run = run_profile,
	.release = tracing_free,
	COMMAND_SHARED(tracing_opts),
	.takes_command = true,
};
