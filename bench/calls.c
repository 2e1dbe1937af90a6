// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A load with a known number of system calls: calls N
 *
 * Calls getppid() N times and prints how long a call took in nanoseconds, and the CPU seconds of the
 * process. N = 0: forever, so that only a signal ends it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	const long n = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
	struct timespec a, b;
	struct rusage usage;

	clock_gettime(CLOCK_MONOTONIC, &a);
	for (long i = 0; i < n || !n; i++)
		syscall(SYS_getppid);
	clock_gettime(CLOCK_MONOTONIC, &b);
	getrusage(RUSAGE_SELF, &usage);
	printf("%.1f %.3f\n",
	       ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / (double)n,
	       seconds(usage.ru_utime) + seconds(usage.ru_stime));
	return 0;
}
