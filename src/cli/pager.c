// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The pager: a child process that standard output is connected to while a command writes more than
 * a screen. Its state is the process's standard output, so it lives here and not in the library.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"

static pid_t pager;

static void become_pager(int from)
{
	const char *command = getenv("SPUR_PAGER");

	if (!command)
		command = getenv("PAGER");
	if (!command || !*command)
		command = "less";
	dup2(from, STDIN_FILENO);
	close(from);
	/* Quit when it fits on one screen, pass colours through, leave the screen as it is. */
	setenv("LESS", "FRSX", 0);
	/* Ctrl-C is for spur; less reads it from the terminal itself. */
	signal(SIGINT, SIG_IGN);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

void cli_pager_begin(bool wanted)
{
	int fds[2];

	if (!wanted || !isatty(STDOUT_FILENO) || pipe(fds) < 0)
		return;
	fflush(stdout);
	pager = fork();
	if (pager == 0) {
		close(fds[1]);
		become_pager(fds[0]);
	}
	close(fds[0]);
	if (pager > 0)
		dup2(fds[1], STDOUT_FILENO);
	close(fds[1]);
}

void cli_pager_end(void)
{
	if (pager <= 0)
		return;
	fflush(stdout);
	close(STDOUT_FILENO);
	waitpid(pager, NULL, 0);
	pager = 0;
}
