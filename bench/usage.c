// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a command uses: usage FILE COMMAND [ARGUMENT...]
 *
 * Writes wall clock seconds, CPU seconds of all of its processes, peak memory in kB and exit status to
 * FILE. A program of its own, because the peak memory of a process counts what the one that forked it
 * had: this one has little.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	struct timespec a, b;
	struct rusage usage;
	int status = 127 << 8;
	FILE *file;
	pid_t pid;

	if (argc < 3)
		return 2;
	clock_gettime(CLOCK_MONOTONIC, &a);
	pid = fork();
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) < 0)
		return 2;
	clock_gettime(CLOCK_MONOTONIC, &b);
	file = fopen(argv[1], "w");
	if (!file)
		return 2;
	fprintf(file, "%.6f %.6f %ld %d\n",
		(double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9,
		seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss,
		WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return fclose(file) == 0 ? 0 : 2;
}
