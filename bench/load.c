// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Something to trace: load CALLS makes that many system calls, and every eighth time passes a byte
 * to another process and back, so that system calls, switches and wakeups come in the mixture of a
 * busy server.
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLS_PER_SWITCH 8

static void answer(int from, int to, long times)
{
	char byte;

	for (long i = 0; i < times; i++)
		if (read(from, &byte, 1) != 1 || write(to, &byte, 1) != 1)
			_exit(1);
	_exit(0);
}

int main(int argc, char **argv)
{
	long calls = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
	long switches = calls / CALLS_PER_SWITCH;
	int there[2], back[2];
	char byte = 0;

	if (pipe(there) < 0 || pipe(back) < 0)
		return 1;
	if (fork() == 0)
		answer(there[0], back[1], switches);
	for (long i = 0; i < switches; i++) {
		for (int k = 0; k < CALLS_PER_SWITCH; k++)
			syscall(SYS_getppid);
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			return 1;
	}
	wait(NULL);
	return 0;
}
