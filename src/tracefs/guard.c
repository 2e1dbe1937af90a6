// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The guardian: a process that outlives the one it watches just long enough to take back what that
 * one has changed.
 *
 * It has one end of a socket. The end of the stream without a farewell (one byte) means that the
 * other side is gone, killed perhaps; what is to be done then is in the journal. The guardian is in
 * a session of its own and ignores the signals of a terminal, so that what ends the recorder does
 * not end it.
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
#include "tracefs/journal.h"

#define END_TRIES 10000 /* of 1 ms */

/* Where the guardian has its two descriptors. */
#define SOCKET_FD  3
#define JOURNAL_FD 4

/* ---- the guardian's side ---- */

/* Waits for the end: true when that was announced. */
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

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		sigaction(ignored[i], &sa, NULL);
	setsid();
	prctl(PR_SET_NAME, "spur-guard");
	for (int i = 0; i < 3 && null >= 0; i++)
		dup2(null, i);
	/* Either may be where the other has to be. */
	high[0] = fcntl(fd, F_DUPFD, JOURNAL_FD + 1);
	high[1] = fcntl(journal, F_DUPFD, JOURNAL_FD + 1);
	dup2(high[0], SOCKET_FD);
	dup2(high[1], JOURNAL_FD);
	close_range(JOURNAL_FD + 1, ~0u, 0);
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

/* ---- the other side ---- */

int guard_start(struct guard *g, const struct tracefs *fs, const struct undo_options *opt,
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

void guard_bury(struct guard *g)
{
	if (g->fd < 0)
		return;
	close(g->fd);
	g->fd = -1;
	while (waitpid(g->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

void guard_end(struct guard *g)
{
	if (g->fd < 0)
		return;
	/* One that is gone does not hear it. */
	send(g->fd, "!", 1, MSG_NOSIGNAL);
	guard_bury(g);
}
