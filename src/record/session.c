// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The order of a recording. The guardian and the command are forked before there are threads. The
 * file exists before tracing is turned on. Whatever fails, the settings are restored.
 */
#include "record/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/nanoseconds.h"
#include "base/vec.h"
#include "record/session_state.h"
#include "record/side.h"
#include "tracefs/owner.h"

uint64_t session_now(void)
{
	return clock_now_ns(CLOCK_MONOTONIC);
}

/* Turns all buffers on or off. */
static int session_switch(struct session *s, bool on, struct spur_error *err)
{
	int first = 0;

	for (size_t i = 0; i < s->setup.nr_buffers; i++) {
		const char *instance = s->setup.buffers[i].instance;
		int rc;

		if (!instance)
			continue;
		rc = tracefs_write(s->fs, instance, "tracing_on", TRACEFS_REPLACE, on ? "1" : "0",
				   err);
		if (first == 0)
			first = rc;
	}
	return first;
}

/* ---- notes for the case that the session is killed: see rescue.h ---- */

#define NOTE_LIMIT (16u << 20)

/*
 * Reads how many events each stream has delivered so far. If one cannot be read, nothing is noted.
 */
static void read_bases(const struct session *s, struct rescue_file *to)
{
	const size_t nr = s->setup.nr_buffers * s->meta.nr_cpus;
	size_t n = 0;

	to->nr_base = 0;
	free(to->base);
	to->base = calloc(nr + 1, sizeof(*to->base));
	if (!to->base)
		return;
	for (size_t i = 0; i < s->setup.nr_buffers; i++)
		for (uint32_t k = 0; k < s->meta.nr_cpus && s->setup.buffers[i].instance; k++)
			if (!meta_stat(s->fs, s->setup.buffers[i].instance, s->meta.cpus[k],
				       "\nread events: ", &to->base[n++]))
				return;
	to->nr_base = n;
}

void session_trail_next(struct session *s, int fd)
{
	struct rescue_file *now = &s->trail[0];
	struct stat st = {0};

	free(s->trail[1].base);
	s->trail[1] = *now;
	*now = (struct rescue_file){0};
	if (!s->file.path || fstat(fd, &st) < 0 ||
	    !rescue_path(s->file.path, now->path, sizeof(now->path)))
		now->path[0] = '\0';
	now->dev = (uint64_t)st.st_dev;
	now->ino = (uint64_t)st.st_ino;
	/*
	 * While the previous file is still written, it is unknown with which event this one will
	 * begin.
	 */
	if (!s->rec)
		session_trail_switched(s);
}

void session_trail_switched(void *session)
{
	struct session *s = session;

	s->trail[1].nr_base = 0;
	read_bases(s, &s->trail[0]);
}

void session_trail_emptied(void *session)
{
	struct session *s = session;
	struct rescue_file *now = &s->trail[0];
	uint64_t *before = now->base;
	const size_t nr = now->nr_base, all = s->setup.nr_buffers * s->meta.nr_cpus;

	now->base = NULL;
	session_trail_switched(s);
	if (!s->gone)
		s->gone = calloc(all + 1, sizeof(*s->gone));
	for (size_t i = 0; s->gone && i < all; i++)
		if (i >= nr || i >= now->nr_base || s->gone[i] == DAT_CUT_UNKNOWN)
			s->gone[i] = DAT_CUT_UNKNOWN;
		else
			s->gone[i] += now->base[i] - before[i];
	free(before);
}

void session_trail_moved(struct session *s, const char *path)
{
	struct rescue_file *now = &s->trail[0];
	struct stat st;

	if (stat(path, &st) < 0 || !rescue_path(path, now->path, sizeof(now->path)))
		return;
	now->dev = (uint64_t)st.st_dev;
	now->ino = (uint64_t)st.st_ino;
	session_note(s, NULL);
}

void session_trail_read(struct session *s, struct rescue_file *to)
{
	free(to->base);
	*to = s->trail[0];
	s->trail[0].base = NULL;
}

static bool fill(const struct session *s, struct rescue_note *n)
{
	const struct session_options *o = s->opt;

	n->data = o->recorder.data_file ? o->recorder.data_file : "trace_pipe_raw";
	n->file = s->trail[0];
	n->was = s->trail[1];
	if (s->file.temp && !rescue_path(s->file.temp, n->temp, sizeof(n->temp)))
		return false;
	for (size_t i = 0; i < s->setup.nr_buffers; i++) {
		const char **slot = vec_push(&n->streams);

		if (!slot)
			return false;
		*slot = s->setup.buffers[i].instance;
	}
	if (session_is_text(s))
		n->tracer = s->req->buffers.at[0].tracer;
	n->version = o->file.version;
	n->compression = o->file.compression ? o->file.compression : "none";
	return true;
}

int session_note(struct session *s, struct spur_error *err)
{
	char output[RESCUE_PATH_CAP];
	struct rescue_note *n;
	struct buf text;
	int rc = 0;

	if (!s->undo)
		return 0;
	n = calloc(1, sizeof(*n));
	if (!n)
		return error_set(err, -ENOMEM, "out of memory for the undo log");
	buf_init(&text, NOTE_LIMIT);
	/* A recording that has no file until its end: a guardian would have to create one. */
	if ((s->opt->flight || session_is_text(s)) &&
	    rescue_path(s->opt->output, output, sizeof(output)))
		n->flight = output;
	if (fill(s, n))
		rescue_note_put(n, &text);
	rc = undo_note(s->undo, buf_str(&text), err);
	vec_free(&n->streams);
	free(n);
	buf_free(&text);
	return rc;
}

/* ---- while it runs: the command ends, time passes, files fill up, keys are pressed ---- */

#define TICK_NS	    100000000ull /* how often sizes and triggers are checked */
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

/* Whether tracing was turned off, for instance by a trigger: that ends a flight. */
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

/* Writes the buffers of a flight to a file and continues, also after a failure. */
static int save_and_go_on(struct session *s, struct spur_error *err)
{
	char told[512]; /* a signalfd delivers whole siginfos */
	ssize_t n = read(s->opt->save_fd, told, sizeof(told));
	struct spur_error why = {0};

	(void)n;
	session_switch(s, false, NULL);
	if (session_save(s, &why) < 0 && s->opt->note)
		s->opt->note(s->opt->arg, why.text);
	return session_switch(s, true, err);
}

/* How long the session may sleep. */
static uint64_t time_until_due(const struct session *s, uint64_t now)
{
	uint64_t ns = STATUS_NS;

	if (s->opt->rotate.bytes || s->opt->rotate.ns || s->opt->flight || s->opt->limit)
		ns = TICK_NS;
	if (s->round && s->period < ns)
		ns = s->period;
	if (s->lost_since)
		ns = LOST_NS;
	/* A traced process stops before it ends; only waitpid() shows that. */
	if (s->command.pid && (s->command.pidfd < 0 || s->command.at_exit))
		ns = NO_PIDFD_NS;
	if (s->opt->duration) {
		uint64_t passed = now - s->begin;
		uint64_t left = passed < s->opt->duration ? s->opt->duration - passed : 0;

		ns = left < ns ? left : ns;
	}
	return ns;
}

/* Does what is due now: 0 to continue, 1 to end, or a negative errno. */
static int do_due_work(struct session *s, uint64_t now, struct spur_error *err)
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

/* If no guardian can be started, the recording continues without one. */
static void guard_again(struct session *s)
{
	struct spur_error why = {0};

	if (undo_guard_again(s->undo, &why) < 0 && s->opt->note)
		s->opt->note(s->opt->arg, why.text);
}

/* Runs the recording until it has to end. */
static int session_wait(struct session *s, struct spur_error *err)
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
		poll(fds, ARRAY_SIZE(fds), (int)(time_until_due(s, now) / 1000000 + 1));
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
			rc = do_due_work(s, now, err);
		if (rc != 0)
			return rc < 0 ? rc : 0;
		if (s->opt->status && now - told >= STATUS_NS) {
			session_tell(s, false);
			told = now;
		}
	}
}

#define NAME_TRIES 100

/* ---- where the main buffer is ---- */

static int make_setup(struct session *s, const char *main, bool exists, struct spur_error *err)
{
	struct setup_options opt = {
		.main = main,
		.main_exists = exists,
		.command = s->command.pid,
		.force = s->opt->force,
	};

	return setup_make(s->req, s->fs, &opt, &s->setup, err);
}

/* Makes a private instance; -ENOENT if the kernel has no instances. */
static int make_instance(struct session *s, struct spur_error *err)
{
	if (!tracefs_has(s->fs, "", "instances"))
		return -ENOENT;
	for (int i = 0; i < NAME_TRIES; i++) {
		char number[16] = "";

		if (i)
			snprintf(number, sizeof(number), "%d", i);
		owner_instance(s->name, sizeof(s->name), number);
		if (!tracefs_has(s->fs, s->name, "trace"))
			return undo_make_instance(s->undo, s->name, err);
	}
	return error_set(err, -EEXIST, "there is an instance %s already", s->name);
}

static int choose_main(struct session *s, struct spur_error *err)
{
	const char *why = NULL;
	int rc;

	if (s->req->top_level || !setup_wants_main(s->req))
		return make_setup(s, "", false, err);
	rc = make_instance(s, err);
	if (rc == -ENOENT)
		return make_setup(s, "", false, err);
	if (rc == 0)
		rc = make_setup(s, s->name, true, err);
	if (rc < 0 || !setup_needs_top(&s->setup, s->req, s->fs, s->name, &why))
		return rc;
	if (s->opt->note) {
		char text[128];

		snprintf(text, sizeof(text),
			 "the kernel's own buffer is used: %s is not for instances here", why);
		s->opt->note(s->opt->arg, text);
	}
	setup_free(&s->setup);
	rc = tracefs_remove_instance(s->fs, s->name, err);
	return rc < 0 ? rc : make_setup(s, "", false, err);
}

/*
 * Only one recording at a time may check whether something is free (the names of probes, the
 * top-level buffer) and then take it.
 */
static int set_up(struct session *s, struct spur_error *err)
{
	int lock = tracefs_open(s->fs, "", ".", O_RDONLY | O_DIRECTORY, err), rc;

	if (lock < 0)
		return lock;
	while (flock(lock, LOCK_EX) != 0 && errno == EINTR)
		;
	rc = choose_main(s, err);
	if (rc == 0)
		rc = plan_apply(&s->setup.plan, s->fs, s->undo, err);
	for (size_t i = 0; i < s->setup.notes.n && rc == 0 && s->opt->note; i++)
		s->opt->note(s->opt->arg, s->setup.notes.at[i]);
	close(lock);
	return rc;
}

/* ---- what the recorder itself does is not recorded ---- */

/* All threads of this process, in one line: the kernel waits for all CPUs after each write. */
static void list_threads(struct buf *text)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *d;

	buf_printf(text, "%d", (int)getpid());
	while (dir && (d = readdir(dir)))
		if (d->d_name[0] != '.')
			buf_printf(text, " %s", d->d_name);
	if (dir)
		closedir(dir);
	buf_putc(text, '\n');
}

static int hide(struct session *s, const char *file, struct spur_error *err)
{
	struct buf text;
	int rc = 0;

	buf_init(&text, 64u << 10);
	list_threads(&text);
	for (size_t i = 0; i < s->setup.nr_buffers && rc == 0; i++) {
		const char *instance = s->setup.buffers[i].instance;

		if (instance && tracefs_has(s->fs, instance, file))
			rc = undo_write(s->undo, instance, file, TRACEFS_REPLACE, buf_str(&text),
					err);
	}
	buf_free(&text);
	return rc;
}

int session_hide(struct session *s, struct spur_error *err)
{
	int rc;

	if (s->req->with_recorder || s->req->only_command || s->req->pids.n)
		return 0;
	rc = hide(s, "set_event_notrace_pid", err);
	/* The function tracer's list is touched only when that tracer is used. */
	if (rc == 0 && s->req->buffers.at[0].tracer)
		hide(s, "set_ftrace_notrace_pid", NULL);
	return rc;
}

/* ---- maps ---- */

static void take_maps(void *arg, pid_t pid)
{
	struct session *s = arg;

	maps_take(&s->maps, pid);
}

/*
 * Reads the maps of existing processes now, and again at the end; those of the command when it
 * ends, or at the end of the recording.
 */
static void take_all_maps(struct session *s)
{
	if (!s->opt->maps)
		return;
	for (size_t i = 0; i < s->req->pids.n; i++)
		maps_take(&s->maps, s->req->pids.at[i]);
	if (s->end && s->command.pid && !command_ended(&s->command))
		maps_take(&s->maps, s->command.pid);
}

/* ---- who is who ---- */

/* Without such events the recording lacks names of some tasks; that is no error. */
static void watch_tasks(struct session *s)
{
	struct spur_error why = {0};
	const char *clock = NULL;
	char text[sizeof(why.text) + 64];

	for (size_t i = s->setup.nr_buffers; i-- > 0;)
		if (s->setup.buffers[i].instance)
			clock = s->meta.contents.buffers[i].clock;
	if (!clock ||
	    taskinfo_watch(s->tasks, s->undo, clock, s->meta.cpus, s->meta.nr_cpus, &why) == 0)
		return;
	snprintf(text, sizeof(text), "tasks that begin later may have no name: %s", why.text);
	if (s->opt->note)
		s->opt->note(s->opt->arg, text);
}

int session_taskinfo(struct session *s, bool watch, struct spur_error *err)
{
	int rc = taskinfo_new(s->fs, &s->tasks, err);

	if (rc < 0)
		return rc;
	if (watch)
		watch_tasks(s);
	taskinfo_look(s->tasks);
	if (s->command.pid)
		taskinfo_command(s->tasks, s->command.pid, s->command.name);
	return taskinfo_put(s->tasks, &s->meta, err);
}

/* ---- from beginning to end ---- */

int session_begin(struct session *s, struct spur_error *err)
{
	struct undo_options guard = {
		.guarded = true, .before = rescue_before, .after = rescue_after};
	struct meta_options meta = s->opt->meta;
	int rc = undo_new(s->fs, &guard, &s->undo, err);

	meta.maps = &s->maps;
	if (rc == 0 && s->opt->command)
		rc = command_hold(&s->command, s->opt->command, s->opt->user, err);
	if (rc == 0 && s->command.pid && s->opt->maps)
		rc = command_watch(&s->command, take_maps, s, err);
	if (rc == 0)
		rc = set_up(s, err);
	if (rc == 0)
		rc = meta_begin(&s->meta, s->fs, &s->setup, s->undo, &meta, err);
	return rc < 0 ? rc : session_taskinfo(s, true, err);
}

/* Does everything that can be done before the first event. */
static int begin(struct session *s, struct spur_error *err)
{
	int rc = session_find_folder(s, err);

	if (rc == 0)
		rc = session_begin(s, err);
	if (rc == 0 && !s->opt->flight && !session_is_text(s))
		rc = session_open_file(s, err);
	if (rc == 0 && s->out)
		rc = session_start_recorder(s, err);
	else if (rc == 0)
		rc = session_note(s, err);
	if (rc == 0 && s->opt->latency)
		rc = watch_new(s->fs, s->undo, s->meta.cpus, s->meta.nr_cpus, s->opt->latency,
			       &s->watch, err);
	if (rc == 0 && s->watch)
		rc = watch_start(s->watch, err);
	if (rc == 0)
		rc = session_hide(s, err);
	return rc;
}

int session_run(struct session *s, struct spur_error *err)
{
	int rc = session_switch(s, true, err);

	if (rc < 0)
		return rc;
	s->begin = s->file_begin = session_now();
	take_all_maps(s);
	if (s->command.pid) {
		rc = command_go(&s->command, err);
		/* If the command cannot run, no file is made. */
		if (rc < 0)
			s->begin = 0;
	}
	if (rc == 0 && s->out)
		rc = session_name_file(s, err);
	if (rc == 0 && s->opt->started)
		s->opt->started(s->opt->arg);
	if (rc == 0)
		rc = session_wait(s, err);
	session_switch(s, false, NULL);
	s->end = session_now();
	take_all_maps(s);
	return rc;
}

/* Ends the recording; the first error counts. */
static int end(struct session *s, int rc, struct spur_error *err)
{
	bool recorded = s->begin != 0;

	if (recorded && !s->out && (rc == 0 || rc == -ENODATA)) {
		int saved = session_save(s, err);

		rc = rc ? rc : saved;
	}
	if (s->out && !recorded) {
		session_drop_file(s);
	} else if (s->out) {
		int ended;

		session_check_file(s);
		ended = session_end_recorder(s, err);
		int closed = session_close_file(s, rc || ended ? NULL : err);

		rc = rc ? rc : ended ? ended : closed;
		if (s->opt->limit && (rc == 0 || rc == -ENODATA)) {
			int joined = session_join(s, err);

			rc = rc ? rc : joined;
		}
	}
	recorder_free(s->rec);
	s->rec = NULL;
	if (recorded)
		session_tell(s, true);
	if (rc == 0 && s->misplaced.code)
		rc = error_set(err, s->misplaced.code, "%s", s->misplaced.text);
	return rc;
}

void session_clean_up(struct session *s, int *rc, struct spur_error *err)
{
	watch_free(s->watch);
	taskinfo_free(s->tasks);
	session_unwatch_file(s);
	if (s->command.pid) {
		command_ended(&s->command);
		command_close(&s->command);
	}
	if (s->undo) {
		int back = s->opt->keep ? undo_keep(s->undo) : undo_all(s->undo, err);

		*rc = *rc ? *rc : back;
		undo_free(s->undo);
	}
	maps_free(&s->maps);
	meta_free(&s->meta);
	setup_free(&s->setup);
	free(s->trail[0].base);
	free(s->trail[1].base);
	free(s->gone);
}

int session_record(const struct tracefs *fs, const struct request *r,
		   const struct session_options *opt, struct session_result *res,
		   struct spur_error *err)
{
	struct session *s = calloc(1, sizeof(*s));
	int rc;

	memset(res, 0, sizeof(*res));
	if (!s)
		return error_set(err, -ENOMEM, "out of memory");
	s->fs = fs;
	s->req = r;
	s->opt = opt;
	s->res = res;
	rc = begin(s, err);
	if (rc == 0)
		rc = session_run(s, err);
	rc = end(s, rc, err);
	session_clean_up(s, &rc, err);
	free(s);
	return rc;
}

int session_show(const struct tracefs *fs, const struct request *r,
		 const struct session_options *opt, struct buf *to, struct spur_error *err)
{
	const char *tracer = r->buffers.n ? r->buffers.at[0].tracer : NULL;
	const char *clock = NULL;
	/* No instance is made for this: all kernels allow these settings in an instance. */
	bool top = r->top_level ||
		   (tracer && strcmp(tracer, "nop") != 0 && strcmp(tracer, "function") != 0);
	struct setup_options setup = {.main = top ? "" : "spur-PID", .force = opt->force};
	struct setup s;
	int rc = setup_make(r, fs, &setup, &s, err);

	for (size_t i = s.nr_buffers; i-- > 0 && rc == 0;)
		if (s.buffers[i].instance)
			clock = r->buffers.at[i].clock;
	if (rc == 0) {
		plan_show(&s.plan, fs, to);
		taskinfo_show(fs, clock ? clock : "local", to);
	}
	for (size_t i = 0; i < s.nr_buffers && rc == 0; i++) {
		char path[512];

		if (s.buffers[i].instance &&
		    tracefs_path(fs, s.buffers[i].instance, "tracing_on", path, sizeof(path)))
			buf_printf(to, "echo 1 > %s\n", path);
	}
	setup_free(&s);
	return rc;
}
