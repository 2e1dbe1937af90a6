// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What happens while a recording runs: its command ends, time passes, files fill up, people press
 * keys.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "record/session_parts.h"

#define TICK_NS	    100000000ull /* sizes and triggers are looked at so often */
#define STATUS_NS   500000000ull
#define NAMES_NS    2000000000ull
#define LOST_NS	    50000000ull
#define NO_PIDFD_NS 20000000ull

void session_tell(struct session *s, bool ending)
{
	struct session_status *st = &s->res->last;

	st->seconds = (double)((s->end ? s->end : session_now()) - s->begin) / 1e9;
	st->bytes = s->done_bytes + (s->rec ? recorder_bytes(s->rec) : 0);
	st->events = s->done_events + (s->rec ? recorder_events(s->rec) : 0);
	meta_lost(&s->meta, &st->lost);
	st->ending = ending;
	if (s->opt->status)
		s->opt->status(s->opt->arg, st);
}

static bool wants_rotation(const struct session *s, uint64_t now)
{
	const struct session_options *o = s->opt;

	if (!s->rec)
		return false;
	return (o->limit && recorder_largest(s->rec) >= o->limit / 2) ||
	       (o->rotate.bytes && recorder_bytes(s->rec) - s->file_bytes >= o->rotate.bytes) ||
	       (o->rotate.ns && now - s->file_begin >= o->rotate.ns);
}

/* A flight is over when somebody, a trigger for instance, has turned tracing off. */
static bool turned_off(const struct session *s)
{
	int64_t on;

	for (size_t i = 0; i < s->setup.nr_buffers; i++) {
		const char *instance = s->setup.buffers[i].instance;

		if (instance &&
		    tracefs_read_number(s->fs, instance, "tracing_on", &on, NULL) == 0 && !on)
			return true;
	}
	return false;
}

/* Writes a file of what a flight holds and goes on, also when that was not possible. */
static int save_and_go_on(struct session *s, struct spur_error *err)
{
	char told[512]; /* a signalfd gives no less than a whole siginfo */
	ssize_t n = read(s->opt->save_fd, told, sizeof(told));
	struct spur_error why = {0};

	(void)n;
	session_switch(s, false, NULL);
	if (session_save(s, &why) < 0 && s->opt->note)
		s->opt->note(s->opt->arg, why.text);
	return session_switch(s, true, err);
}

/* How long nothing needs to be looked at. */
static uint64_t patience(const struct session *s, uint64_t now)
{
	uint64_t ns = STATUS_NS;

	if (s->opt->rotate.bytes || s->opt->rotate.ns || s->opt->flight || s->opt->limit)
		ns = TICK_NS;
	if (s->round && s->period < ns)
		ns = s->period;
	if (s->lost_since)
		ns = LOST_NS;
	/* A watched process stops before it ends, which only waitpid() tells. */
	if (s->command.pid && (s->command.pidfd < 0 || s->command.at_exit))
		ns = NO_PIDFD_NS;
	if (s->opt->duration) {
		uint64_t passed = now - s->begin;
		uint64_t left = passed < s->opt->duration ? s->opt->duration - passed : 0;

		ns = left < ns ? left : ns;
	}
	return ns;
}

/* What is due at this moment: 0 to go on, 1 to end, or a negative errno. */
static int look_around(struct session *s, uint64_t now, struct spur_error *err)
{
	int rc;

	if (s->opt->duration && now - s->begin >= s->opt->duration)
		return 1;
	if (s->opt->flight && turned_off(s)) {
		s->res->triggered = true;
		return 1;
	}
	if (!wants_rotation(s, now))
		return 0;
	rc = session_rotate(s, err);
	return rc < 0 ? rc : 0;
}

/* A recording goes on without a guardian when there can be none. */
static void guard_again(struct session *s)
{
	struct spur_error why = {0};

	if (undo_guard_again(s->undo, &why) < 0 && s->opt->note)
		s->opt->note(s->opt->arg, why.text);
}

int session_wait(struct session *s, struct spur_error *err)
{
	uint64_t told = session_now(), named = told;

	for (;;) {
		uint64_t now = session_now();
		struct pollfd fds[] = {
			{s->opt->stop_fd, POLLIN, 0},
			{s->rec ? recorder_event(s->rec) : -1, POLLIN, 0},
			{s->command.pid ? s->command.pidfd : -1, POLLIN, 0},
			{s->opt->flight ? s->opt->save_fd : -1, POLLIN, 0},
			{s->watch ? watch_event(s->watch) : -1, POLLIN, 0},
			{s->rec ? recorder_full(s->rec) : -1, POLLIN, 0},
			{s->round ? s->wake_fd : -1, POLLIN, 0},
			{taskinfo_event(s->tasks), POLLIN, 0},
			{undo_guard_event(s->undo), POLLIN, 0},
			{s->watching ? s->notify : -1, POLLIN, 0},
		};
		int rc;

		/* Rounded up: waking a moment early means waking twice. */
		poll(fds, sizeof(fds) / sizeof(fds[0]), (int)(patience(s, now) / 1000000 + 1));
		if (fds[0].revents) {
			command_signal(&s->command, SIGTERM);
			return 0;
		}
		if (fds[1].revents || (s->command.pid && command_ended(&s->command)))
			return 0;
		if (fds[4].revents) {
			watch_result(s->watch, &s->res->hit);
			return 0;
		}
		if (fds[7].revents || now - named >= NAMES_NS) {
			session_save_tasks(s);
			named = now;
		}
		if (fds[8].revents)
			guard_again(s);
		session_check_file(s);
		rc = fds[3].revents ? save_and_go_on(s, err) : 0;
		if (rc == 0 && s->round)
			rc = s->round(s, err);
		now = session_now();
		if (rc == 0)
			rc = look_around(s, now, err);
		if (rc != 0)
			return rc < 0 ? rc : 0;
		if (s->opt->status && now - told >= STATUS_NS) {
			session_tell(s, false);
			told = now;
		}
	}
}
