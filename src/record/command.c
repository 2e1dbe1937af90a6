// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Forks the recorded command early; the child waits and executes the program when everything is
 * ready.
 */
#include "record/command.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"

/* Changes to the user. Runs in the child, so only the child is affected. */
static int become(const struct passwd *pw)
{
	if (!pw)
		return 0;
	if (initgroups(pw->pw_name, pw->pw_gid) != 0 || setgid(pw->pw_gid) != 0 ||
	    setuid(pw->pw_uid) != 0)
		return -errno;
	setenv("HOME", pw->pw_dir, 1);
	setenv("USER", pw->pw_name, 1);
	setenv("LOGNAME", pw->pw_name, 1);
	return 0;
}

static void reset_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
}

/* The child: waits for a byte, or for the end of the pipe if the parent has died. */
static void run(int go, int said, char *const *argv, const struct passwd *pw)
{
	char byte;
	int why;
	ssize_t n;

	reset_signals();
	do
		n = read(go, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(0);
	why = become(pw);
	if (why == 0) {
		execvp(argv[0], argv);
		why = -errno;
	}
	n = write(said, &why, sizeof(why));
	_exit(n < 0 ? 126 : 127);
}

int command_hold(struct command_run *c, char *const *argv, const char *user, struct spur_error *err)
{
	const struct passwd *pw = NULL;
	int go[2] = {-1, -1}, said[2] = {-1, -1}, rc;

	*c = (struct command_run){.name = argv[0], .go = -1, .said = -1, .pidfd = -1};
	if (user && !(pw = getpwnam(user)))
		return error_set(err, -EINVAL, "there is no user '%s'", user);
	if (pipe2(go, O_CLOEXEC) != 0 || pipe2(said, O_CLOEXEC) != 0 || (c->pid = fork()) < 0) {
		rc = error_sys(err, -errno, "starting %s", argv[0]);
		for (int i = 0; i < 2; i++) {
			close(go[i]);
			close(said[i]);
		}
		c->pid = 0;
		return rc;
	}
	if (c->pid == 0) {
		close(go[1]);
		close(said[0]);
		run(go[0], said[1], argv, pw);
	}
	close(go[0]);
	close(said[1]);
	c->go = go[1];
	c->said = said[0];
#ifdef SYS_pidfd_open
	c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
#endif
	return 0;
}

int command_go(struct command_run *c, struct spur_error *err)
{
	ssize_t n = write(c->go, "", 1);
	int why = 0;

	if (n == 1)
		n = read(c->said, &why, sizeof(why));
	close(c->go);
	c->go = -1;
	return n == sizeof(why) ? error_sys(err, why, "%s cannot be run", c->name) : 0;
}

/* ---- looking at it before it is gone ---- */

int command_watch(struct command_run *c, void (*at_exit)(void *arg, pid_t pid), void *arg,
		  struct spur_error *err)
{
	if (ptrace(PTRACE_SEIZE, c->pid, 0, PTRACE_O_TRACEEXIT | PTRACE_O_TRACEEXEC) != 0)
		return error_sys(err, -errno, "watching the command for its end");
	c->at_exit = at_exit;
	c->arg = arg;
	return 0;
}

/* A traced process stops at every signal; this passes the signal on. */
static void continue_watched(const struct command_run *c, int status)
{
	int event = status >> 16, sig = WSTOPSIG(status);

	if (event == PTRACE_EVENT_EXIT)
		c->at_exit(c->arg, c->pid);
	if (event == PTRACE_EVENT_STOP &&
	    (sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU))
		ptrace(PTRACE_LISTEN, c->pid, 0, 0);
	else
		ptrace(PTRACE_CONT, c->pid, 0, event ? 0 : sig);
}

bool command_ended(struct command_run *c)
{
	while (c->pid && !c->ended) {
		int status;
		pid_t pid = waitpid(c->pid, &status, WNOHANG);

		if (pid == 0)
			break;
		if (pid > 0 && WIFSTOPPED(status)) {
			continue_watched(c, status);
			continue;
		}
		c->ended = pid < 0 ? errno != EINTR : true;
		c->status = pid > 0 ? status : c->status;
	}
	return c->ended;
}

void command_signal(const struct command_run *c, int sig)
{
	if (c->pid && !c->ended)
		kill(c->pid, sig);
}

void command_close(struct command_run *c)
{
	const int fds[] = {c->go, c->said, c->pidfd};

	/* A child that still waits ends when its pipe is closed. */
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		if (c->pid && fds[i] >= 0)
			close(fds[i]);
	if (c->pid && c->go >= 0)
		waitpid(c->pid, &c->status, 0);
	c->pid = 0;
}
