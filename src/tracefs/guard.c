// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The guardian: a process that outlives the one it watches just long enough to take back what that
 * one has changed.
 *
 * It reads entries from a socket. The end of the stream without a farewell means that the other
 * side is gone, killed perhaps; an entry that is not whole belongs to a change that was not made
 * yet. The guardian is in a session of its own and ignores the signals of a terminal, so that
 * what ends the recorder does not end it.
 *
 *	entry     u32 kind, u32 sizes of instance, file and text, then these without a NUL
 *	farewell  u32 FAREWELL
 */
#include "tracefs/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"

#define FAREWELL   0x62796521u
#define END_TRIES  10000       /* of 1 ms */
#define TEXT_LIMIT (64u << 20) /* a list of all functions of a large kernel has 2 MB */

static bool read_all(int fd, void *to, size_t n)
{
	char *p = to;

	while (n) {
		ssize_t got = read(fd, p, n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		p += got;
		n -= (size_t)got;
	}
	return true;
}

static bool write_all(int fd, const void *from, size_t n)
{
	const char *p = from;

	while (n) {
		ssize_t put = send(fd, p, n, MSG_NOSIGNAL);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		p += put;
		n -= (size_t)put;
	}
	return true;
}

/* ---- the guardian's side ---- */

static char *read_text(int fd, uint32_t n)
{
	char *text = n <= TEXT_LIMIT ? malloc((size_t)n + 1) : NULL;

	if (!text || !read_all(fd, text, n)) {
		free(text);
		return NULL;
	}
	text[n] = '\0';
	return text;
}

/* Reads entries until there are no more: true when that was announced. */
static bool listen_to(int fd, struct backs *backs)
{
	uint32_t kind, sizes[3];

	while (read_all(fd, &kind, sizeof(kind))) {
		char *texts[3] = {0};
		bool whole;

		if (kind == FAREWELL)
			return true;
		whole = read_all(fd, sizes, sizeof(sizes));
		for (size_t i = 0; i < 3 && whole; i++)
			whole = (texts[i] = read_text(fd, sizes[i]));
		if (whole && kind == BACK_NOTE && backs->n &&
		    backs->at[backs->n - 1].kind == BACK_NOTE)
			backs_forget(backs);
		if (whole && kind == BACK_FORGET)
			backs_forget(backs);
		else if (whole)
			whole = backs_add(backs, (enum back_kind)kind, texts[0], texts[1],
					  texts[2]) == 0;
		for (size_t i = 0; i < 3; i++)
			free(texts[i]);
		if (!whole)
			break;
	}
	return false;
}

/* Leaves the terminal, its signals, and every descriptor but the socket. */
static int settle(int fd)
{
	static const int ignored[] = {SIGINT,  SIGTERM, SIGHUP,	 SIGQUIT,
				      SIGPIPE, SIGTSTP, SIGUSR1, SIGUSR2};
	struct sigaction sa = {.sa_handler = SIG_IGN};
	int null = open("/dev/null", O_RDWR);

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		sigaction(ignored[i], &sa, NULL);
	setsid();
	prctl(PR_SET_NAME, "spur-guard");
	for (int i = 0; i < 3 && null >= 0; i++)
		dup2(null, i);
	if (fd != 3)
		fd = dup2(fd, 3);
	close_range(4, ~0u, 0);
	return fd;
}

/* The last note, in memory of its own. */
static char *take_note(const struct backs *backs)
{
	for (size_t i = backs->n; i-- > 0;)
		if (backs->at[i].kind == BACK_NOTE)
			return strdup(backs->at[i].text);
	return NULL;
}

/*
 * Its descriptors are closed one after the other, and its threads may still be in a system call:
 * only when it is gone altogether nothing more comes from it.
 */
static void await_end(pid_t watched)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	for (int i = 0; i < END_TRIES && getppid() == watched; i++)
		nanosleep(&pause, NULL);
}

static void guard(pid_t watched, int fd, const struct tracefs *fs, const struct undo_options *opt)
{
	struct backs backs = {0};
	const char *note;
	void *arg = NULL;

	fd = settle(fd);
	if (listen_to(fd, &backs))
		_exit(0);
	await_end(watched);
	note = take_note(&backs);
	if (opt->before)
		arg = opt->before(fs, note ? note : "");
	backs_run(&backs, fs, NULL);
	if (opt->after)
		opt->after(arg);
	_exit(0);
}

/* ---- the other side ---- */

int guard_start(struct guard *g, const struct tracefs *fs, const struct undo_options *opt,
		struct spur_error *err)
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
		guard(watched, pair[1], fs, opt);
	}
	close(pair[1]);
	g->fd = pair[0];
	return 0;
}

int guard_tell(struct guard *g, const struct back *b, struct spur_error *err)
{
	const char *texts[3] = {b->instance, b->file, b->text};
	uint32_t head[4] = {b->kind};
	bool told;

	if (g->fd < 0)
		return 0;
	for (size_t i = 0; i < 3; i++)
		head[i + 1] = (uint32_t)strlen(texts[i]);
	told = write_all(g->fd, head, sizeof(head));
	for (size_t i = 0; i < 3 && told; i++)
		told = write_all(g->fd, texts[i], head[i + 1]);
	return told ? 0 : error_set(err, -EIO, "the guardian is gone; nothing is changed without");
}

void guard_end(struct guard *g)
{
	const uint32_t farewell = FAREWELL;

	if (g->fd < 0)
		return;
	write_all(g->fd, &farewell, sizeof(farewell));
	close(g->fd);
	g->fd = -1;
	while (waitpid(g->pid, NULL, 0) < 0 && errno == EINTR)
		;
}
