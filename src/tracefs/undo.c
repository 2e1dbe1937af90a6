// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The undo log. The content of a file is not always the text that restores it. `kinds` has
 * functions that convert it, by file.
 *
 * Settings of an instance that the log has made need no entry: they disappear with the instance.
 */
#include "tracefs/undo.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/vec.h"
#include "tracefs/journal.h"

#define OLD_LIMIT  (32u << 20)
#define BUSY_TRIES 200 /* of 5 ms: a reader that is just ending keeps an instance busy */

/* ---- old values ---- */

static void keep_first_line(struct buf *text)
{
	text->len = strcspn(buf_str(text), "\n");
}

/* "[local] global": the word in brackets. */
static void keep_choice(struct buf *text)
{
	const char *open = strchr(buf_str(text), '[');

	keep_first_line(text);
	if (open) {
		size_t len = strcspn(open + 1, "]");

		memmove(text->data, open + 1, len);
		text->len = len;
	}
}

/*
 * "none" is written as 0. After a filter that the kernel could not parse there is an error message.
 */
static void keep_filter(struct buf *text)
{
	keep_first_line(text);
	if (strcmp(buf_str(text), "none") == 0) {
		buf_reset(text);
		buf_putc(text, '0');
	}
}

/*
 * The number at the beginning: "1*" is an event that is on and has triggers, "7 (expanded: 1408)" a
 * size.
 */
static void keep_number(struct buf *text)
{
	text->len = strspn(buf_str(text), "-0123456789");
}

/* A list of names or numbers, with comments ("#### all functions enabled ####") or "no pid". */
static void keep_list(struct buf *text)
{
	char *to = text->data;
	size_t n;

	if (strncmp(buf_str(text), "no pid", 6) == 0)
		text->len = 0;
	for (const char *at = buf_str(text), *end = at + text->len, *next; at < end; at = next) {
		next = memchr(at, '\n', (size_t)(end - at));
		next = next ? next + 1 : end;
		/* A line with a colon is a command ("schedule:traceoff:unlimited"), not a name. */
		if (*at == '#' || memchr(at, ':', (size_t)(next - at)))
			continue;
		/* The name of a function's module, "[snd]", is shown but not accepted. */
		n = strcspn(at, " \t\n");
		memmove(to, at, n);
		to += n;
		*to++ = '\n';
	}
	text->len = (size_t)(to - text->data);
}

/* A list of events, one a line. */
static void keep_events(struct buf *text)
{
	(void)text;
}

static const struct {
	const char *file; /* its last component */
	void (*keep)(struct buf *text);
} kinds[] = {
	{"trace_clock", keep_choice},	   {"filter", keep_filter},
	{"enable", keep_number},	   {"buffer_size_kb", keep_number},
	{"set_ftrace_filter", keep_list},  {"set_ftrace_notrace", keep_list},
	{"set_graph_function", keep_list}, {"set_graph_notrace", keep_list},
	{"set_ftrace_pid", keep_list},	   {"set_ftrace_notrace_pid", keep_list},
	{"set_event_pid", keep_list},	   {"set_event_notrace_pid", keep_list},
	{"set_event", keep_events},
};

static int read_old(const struct tracefs *fs, const char *instance, const char *file,
		    struct buf *text, struct spur_error *err)
{
	const char *name = file_name_of(file);
	int rc = tracefs_read(fs, instance, file, text, err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strcmp(kinds[i].file, name) == 0) {
			kinds[i].keep(text);
			buf_str(text);
			return 0;
		}
	keep_first_line(text);
	buf_str(text);
	return 0;
}

/* ---- taking back ---- */

static void free_texts(struct back *back)
{
	free(back->instance);
	free(back->file);
	free(back->text);
}

void backs_forget(struct backs *b)
{
	if (b->n)
		free_texts(&b->at[--b->n]);
}

void backs_free(struct backs *b)
{
	vec_each (back, b)
		free_texts(back);
	vec_free(b);
}

int backs_add(struct backs *b, enum back_kind kind, const char *instance, const char *file,
	      const char *text)
{
	struct back *back = vec_push(b);

	if (!back)
		return -ENOMEM;
	*back = (struct back){kind, strdup(instance), strdup(file), strdup(text)};
	if (back->instance && back->file && back->text)
		return 0;
	backs_forget(b);
	return -ENOMEM;
}

/* Whether a setting has the old value already: then nothing is written. */
static bool has_old_value(const struct tracefs *fs, const char *instance, const char *file,
			  const char *text)
{
	struct buf now;
	bool same;

	buf_init(&now, OLD_LIMIT);
	same = read_old(fs, instance, file, &now, NULL) == 0 && strcmp(now.data, text) == 0;
	buf_free(&now);
	return same;
}

/*
 * A kernel whose top-level buffer was never used says "7 (expanded: 1408)". On many kernels it says
 * "7" after an instance was used, and then it stays that small.
 */
static int expand(const struct tracefs *fs, const char *size, struct spur_error *err)
{
	char now[64];
	int rc = tracefs_read_line(fs, "", "buffer_size_kb", now, sizeof(now), err);

	if (rc < 0 || strstr(now, "expanded") || strcmp(now, size) == 0)
		return rc;
	return tracefs_write(fs, "", "buffer_size_kb", TRACEFS_REPLACE, size, err);
}

static int take_back(const struct tracefs *fs, const struct back *b, struct spur_error *err)
{
	if (b->kind == BACK_MADE)
		return 0;
	if (b->kind == BACK_REMOVE)
		return tracefs_remove_instance(fs, b->instance, err);
	if (b->kind == BACK_EXPAND)
		return expand(fs, b->text, err);
	if (b->kind == BACK_WRITE && has_old_value(fs, b->instance, b->file, b->text))
		return 0;
	return tracefs_write(fs, b->instance, b->file,
			     b->kind == BACK_LINE ? TRACEFS_APPEND : TRACEFS_REPLACE, b->text, err);
}

static int take_back_patiently(const struct tracefs *fs, const struct back *b,
			       struct spur_error *err)
{
	const struct timespec pause = {.tv_nsec = 5000000};
	struct spur_error why = {0};
	int rc = take_back(fs, b, &why);

	for (int i = 0; rc == -EBUSY && i < BUSY_TRIES; i++) {
		nanosleep(&pause, NULL);
		why = (struct spur_error){0};
		rc = take_back(fs, b, &why);
	}
	/* It is no error if an instance or a line is gone already. */
	if (rc == -ENOENT && b->kind != BACK_WRITE)
		return 0;
	return rc < 0 ? error_set(err, rc, "taking back: %s", why.text) : 0;
}

/* Removes the instances, or undoes all other changes. */
static int run_some(const struct backs *b, bool removals, const struct tracefs *fs,
		    struct spur_error *err)
{
	int first = 0;

	for (size_t i = b->n; i-- > 0;) {
		int rc;

		if ((b->at[i].kind == BACK_REMOVE) != removals)
			continue;
		rc = take_back_patiently(fs, &b->at[i], err);
		if (first == 0)
			first = rc;
	}
	return first;
}

/*
 * Undoes all changes: removes instances first, then undoes the other changes, the last one first.
 * Returns the first error. Empties the list.
 */
static int backs_run(struct backs *b, const struct tracefs *fs, struct spur_error *err)
{
	/* Instances go first: a probe whose event is on in one of them cannot be removed. */
	int removed = run_some(b, true, fs, err);
	int rest = run_some(b, false, fs, err);

	backs_free(b);
	return removed ? removed : rest;
}

/* Whether a setting has neither the value that the process wrote nor the old one. */
static bool is_foreign(const struct tracefs *fs, const struct backs *b, size_t i)
{
	const struct back *old = &b->at[i], *made = old + 1;
	struct buf now;
	bool foreign;

	/* tracing_on is turned on and off during a recording without an entry. */
	if (old->kind != BACK_WRITE || strcmp(old->file, "tracing_on") == 0 || i + 1 >= b->n ||
	    made->kind != BACK_MADE)
		return false;
	buf_init(&now, OLD_LIMIT);
	foreign = read_old(fs, old->instance, old->file, &now, NULL) == 0 &&
		  strcmp(now.data, made->text) != 0 && strcmp(now.data, old->text) != 0;
	buf_free(&now);
	return foreign;
}

int backs_run_late(struct backs *b, const struct tracefs *fs,
		   void (*left)(void *arg, const char *instance, const char *file), void *arg,
		   struct spur_error *err)
{
	int first = run_some(b, true, fs, err);

	for (size_t i = b->n; i-- > 0;) {
		int rc = 0;

		if (is_foreign(fs, b, i))
			left(arg, b->at[i].instance, b->at[i].file);
		else if (b->at[i].kind != BACK_REMOVE)
			rc = take_back_patiently(fs, &b->at[i], err);
		/* The instance with this setting may have been removed in the meantime. */
		if (first == 0 && rc != -ENOENT)
			first = rc;
	}
	backs_free(b);
	return first;
}

/* ---- the guardian ---- */

#define END_TRIES 10000 /* of 1 ms */

#define SOCKET_FD 3 /* the guardian's; its other one is JOURNAL_FD */

struct guard {
	pid_t pid;
	int fd; /* to the guardian; -1: there is none */
};

/*
 * The guardian: a process that watches another one and, after that one's death, undoes its changes.
 *
 * It has one end of a socket. The end of the stream without one last byte means that the other
 * process has died. The journal says what is to be done then. The guardian is in a session of its
 * own and ignores the signals of a terminal, so that signals for the recorder do not end it.
 */

/* Waits for the end; true if the last byte came before it. */
static bool listen_to(int fd)
{
	char farewell;
	ssize_t got;

	while ((got = read(fd, &farewell, 1)) < 0 && errno == EINTR)
		;
	return got == 1;
}

/* Leaves the terminal, its signals, and every descriptor but two. */
static void settle(int fd, int journal)
{
	static const int ignored[] = {SIGINT,  SIGTERM, SIGHUP,	 SIGQUIT,
				      SIGPIPE, SIGTSTP, SIGUSR1, SIGUSR2};
	struct sigaction sa = {.sa_handler = SIG_IGN};
	int null = open("/dev/null", O_RDWR), high[2];

	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
		sigaction(ignored[i], &sa, NULL);
	setsid();
	prctl(PR_SET_NAME, JOURNAL_GUARD);
	for (int i = 0; i < 3 && null >= 0; i++)
		dup2(null, i);
	/* Each may have the number that the other one needs. */
	high[0] = fcntl(fd, F_DUPFD, JOURNAL_FD + 1);
	high[1] = fcntl(journal, F_DUPFD, JOURNAL_FD + 1);
	dup2(high[0], SOCKET_FD);
	dup2(high[1], JOURNAL_FD);
	close_range(JOURNAL_FD + 1, ~0u, 0);
}

/*
 * Waits until the process is completely gone: its descriptors are closed one after the other, and
 * its threads may still be in a system call.
 */
static void await_end(pid_t watched)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	for (int i = 0; i < END_TRIES && getppid() == watched; i++)
		nanosleep(&pause, NULL);
}

static void guard(pid_t watched, int fd, const struct tracefs *fs, const struct undo_options *opt,
		  const struct journal *j)
{
	struct backs backs;
	void *arg = NULL;
	char *note;

	settle(fd, j->fd);
	if (listen_to(SOCKET_FD))
		_exit(0);
	await_end(watched);
	journal_read(JOURNAL_FD, &backs, &note);
	if (opt->before)
		arg = opt->before(fs, note ? note : "");
	backs_run(&backs, fs, NULL);
	if (opt->after)
		opt->after(arg);
	if (j->path[0])
		unlink(j->path);
	_exit(0);
}

/* What follows runs in the watched process. */

static int guard_start(struct guard *g, const struct tracefs *fs, const struct undo_options *opt,
		       const struct journal *j, struct spur_error *err)
{
	pid_t watched;
	int pair[2];

	g->fd = -1;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return error_sys(err, -errno, "a socket for the guardian");
	watched = getpid();
	g->pid = fork();
	if (g->pid < 0) {
		int rc = error_sys(err, -errno, "starting the guardian");

		close(pair[0]);
		close(pair[1]);
		return rc;
	}
	if (g->pid == 0) {
		close(pair[0]);
		guard(watched, pair[1], fs, opt, j);
	}
	close(pair[1]);
	g->fd = pair[0];
	return 0;
}

/* Waits for a guardian that has died. */
static void guard_bury(struct guard *g)
{
	if (g->fd < 0)
		return;
	close(g->fd);
	g->fd = -1;
	while (waitpid(g->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Tells it that everything has been undone, and waits for its end. */
static void guard_end(struct guard *g)
{
	if (g->fd < 0)
		return;
	/* It may be dead, so no SIGPIPE. */
	send(g->fd, "!", 1, MSG_NOSIGNAL);
	guard_bury(g);
}

/* ---- the log ---- */

struct undo {
	const struct tracefs *fs;
	struct backs backs;
	struct undo_options opt;
	struct guard guard;
	struct journal journal; /* fd -1: there is none */
};

int undo_new(const struct tracefs *fs, const struct undo_options *opt, struct undo **out,
	     struct spur_error *err)
{
	struct undo *u = calloc(1, sizeof(*u));
	int rc;

	*out = NULL;
	if (!u)
		return error_set(err, -ENOMEM, "out of memory");
	u->fs = fs;
	u->opt = *opt;
	u->guard.fd = u->journal.fd = -1;
	rc = opt->guarded ? journal_create(&u->journal, fs, err) : 0;
	if (rc == 0 && opt->guarded)
		rc = guard_start(&u->guard, fs, opt, &u->journal, err);
	if (rc < 0) {
		journal_end(&u->journal);
		free(u);
		return rc;
	}
	*out = u;
	return 0;
}

int undo_all(struct undo *u, struct spur_error *err)
{
	int rc = backs_run(&u->backs, u->fs, err);

	journal_end(&u->journal);
	guard_end(&u->guard);
	return rc;
}

int undo_keep(struct undo *u)
{
	backs_free(&u->backs);
	journal_end(&u->journal);
	guard_end(&u->guard);
	return 0;
}

int undo_guard_event(const struct undo *u)
{
	return u->guard.fd;
}

int undo_guard_again(struct undo *u, struct spur_error *err)
{
	guard_bury(&u->guard);
	return guard_start(&u->guard, u->fs, &u->opt, &u->journal, err);
}

void undo_free(struct undo *u)
{
	if (!u)
		return;
	undo_all(u, NULL);
	free(u);
}

/* Adds a change to the log and the journal, before it is made. */
static int note(struct undo *u, enum back_kind kind, const char *instance, const char *file,
		const char *text, struct spur_error *err)
{
	int rc = backs_add(&u->backs, kind, instance ? instance : "", file, text);

	if (rc < 0)
		return error_set(err, rc, "out of memory for the undo log");
	return u->journal.fd < 0 ? 0 : journal_add(&u->journal, &u->backs.at[u->backs.n - 1], err);
}

/* Whether the instance will be removed anyway. */
static bool is_own(const struct undo *u, const char *instance)
{
	if (!instance || !*instance)
		return false;
	vec_each (b, &u->backs)
		if (b->kind == BACK_REMOVE && strcmp(b->instance, instance) == 0)
			return true;
	return false;
}

/*
 * Notes the new content of a file: a later cleanup does not restore the file if it has another
 * content by then.
 */
static void note_made(struct undo *u, const char *instance, const char *file)
{
	struct buf now;

	buf_init(&now, OLD_LIMIT);
	if (read_old(u->fs, instance, file, &now, NULL) == 0)
		note(u, BACK_MADE, instance, file, now.data, NULL);
	buf_free(&now);
}

int undo_write(struct undo *u, const char *instance, const char *file, enum tracefs_how how,
	       const char *text, struct spur_error *err)
{
	const char *where = instance;
	struct buf old;
	int rc = 0;

	/* Options of tracers are the same in all instances of many kernels. */
	if (is_own(u, instance) && strncmp(file, "options/", 8) == 0 &&
	    tracefs_has(u->fs, "", file))
		where = "";
	if (!is_own(u, where) || file[0] == '/') {
		buf_init(&old, OLD_LIMIT);
		rc = read_old(u->fs, where, file, &old, err);
		if (rc == 0)
			rc = note(u, BACK_WRITE, where, file, old.data, err);
		buf_free(&old);
	}
	if (rc == 0)
		rc = tracefs_write(u->fs, instance, file, how, text, err);
	if (rc == 0 && u->journal.fd >= 0 && (!is_own(u, where) || file[0] == '/'))
		note_made(u, where, file);
	return rc;
}

/* If it existed before, it is not ours and must not be removed. */
static int forget_if_there(struct undo *u, bool noted, int rc, struct spur_error *err)
{
	const struct back forget = {BACK_FORGET, (char *)"", (char *)"", (char *)""};

	if (rc == -EEXIST && noted) {
		backs_forget(&u->backs);
		if (u->journal.fd >= 0)
			journal_add(&u->journal, &forget, NULL);
	}
	return rc;
}

int undo_line(struct undo *u, const char *instance, const char *file, const char *text,
	      const char *back, struct spur_error *err)
{
	bool own = is_own(u, instance);
	int rc = own ? 0 : note(u, BACK_LINE, instance, file, back, err);

	if (rc < 0)
		return rc;
	rc = tracefs_write(u->fs, instance, file, TRACEFS_APPEND, text, err);
	return forget_if_there(u, !own, rc, err);
}

/* See expand(). */
static int note_size(struct undo *u, struct spur_error *err)
{
	char size[64];
	const char *expanded;

	if (tracefs_read_line(u->fs, "", "buffer_size_kb", size, sizeof(size), NULL) < 0 ||
	    !(expanded = strstr(size, "(expanded: ")))
		return 0;
	size[strcspn(size, ")")] = '\0';
	return note(u, BACK_EXPAND, "", "", expanded + strlen("(expanded: "), err);
}

int undo_make_instance(struct undo *u, const char *name, struct spur_error *err)
{
	int rc = note_size(u, err);

	if (rc == 0)
		rc = note(u, BACK_REMOVE, name, "", "", err);
	return rc < 0 ? rc : forget_if_there(u, true, tracefs_make_instance(u->fs, name, err), err);
}

int undo_note(struct undo *u, const char *text, struct spur_error *err)
{
	return u->journal.fd < 0 ? 0 : journal_note(&u->journal, text, err);
}
