// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The pager: a child process that standard output is connected to while a command writes more than
 * a screen. Its state is the process's standard output, so it lives here and not in the library.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"

static pid_t pager;
static int terminal = -1; /* what standard output was before */

static void become_pager(int from)
{
	const char *command = getenv("SPUR_PAGER");

	if (!command)
		command = getenv("PAGER");
	if (!command || !*command)
		command = "less";
	dup2(from, STDIN_FILENO);
	/* Quit when it fits on one screen, pass colours through, leave the screen as it is. */
	setenv("LESS", "FRSX", 0);
	/* Ctrl-C is for spur; less reads it from the terminal itself. */
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_DFL);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

/* A Ctrl-C ends the report, but never spur before its pager: the two share a terminal. */
static void keep_signals(void)
{
	struct sigaction sa;

	if (sigaction(SIGINT, NULL, &sa) == 0 && sa.sa_handler != SIG_DFL) {
		sa.sa_flags &= ~(int)SA_RESETHAND;
		sigaction(SIGINT, &sa, NULL);
	}
}

bool cli_on_terminal(void)
{
	return pager > 0 || isatty(STDOUT_FILENO);
}

void cli_pager_begin(bool wanted)
{
	int fds[2];

	if (!wanted || !isatty(STDOUT_FILENO) || pipe2(fds, O_CLOEXEC) < 0)
		return;
	fflush(stdout);
	keep_signals();
	pager = fork();
	if (pager == 0)
		become_pager(fds[0]);
	if (pager > 0) {
		terminal = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
		dup2(fds[1], STDOUT_FILENO);
	}
	close(fds[0]);
	close(fds[1]);
}

void cli_pager_end(void)
{
	if (pager <= 0)
		return;
	/* What a user who has left the pager did not read is not missing. */
	fflush(stdout);
	__fpurge(stdout);
	clearerr(stdout);
	if (terminal >= 0)
		dup2(terminal, STDOUT_FILENO);
	else
		close(STDOUT_FILENO);
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
	pager = 0;
}
