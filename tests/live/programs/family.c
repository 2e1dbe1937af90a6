/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tasks of all kinds, each of which calls getpgid(0) once: family [TIMES]. For each it prints
 * "TID TGID PPID NAME" as they are at that moment. All are gone soon after.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) void here(void)
{
	char name[16] = "";

	prctl(PR_GET_NAME, name);
	syscall(SYS_getpgid, 0);
	dprintf(1, "%ld %d %d %s\n", syscall(SYS_gettid), getpid(), getppid(), name);
}

static void *thread(void *arg)
{
	pthread_setname_np(pthread_self(), arg);
	here();
	return NULL;
}

/* A child whose child is gone before it. */
static void generation(int left)
{
	pid_t pid = fork();

	if (pid == 0) {
		char name[16];

		snprintf(name, sizeof(name), "child %d", left);
		prctl(PR_SET_NAME, name);
		here();
		if (left > 1)
			generation(left - 1);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1;
	pthread_t t;

	here();
	while (times-- > 0) {
		pthread_create(&t, NULL, thread, "renamed thread");
		pthread_join(t, NULL);
		generation(2);
	}
	return 0;
}
