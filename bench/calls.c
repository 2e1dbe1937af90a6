// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A load with a known number of system calls: calls N
 *
 * Calls getppid() N times and prints how many nanoseconds a call took, and how many CPU seconds all of
 * them. N = 0: forever, so that only a signal ends it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	const long n = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
	const double start = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);

	for (long i = 0; i < n || !n; i++)
		syscall(SYS_getppid);
	printf("%.1f %.6f\n", (seconds(CLOCK_MONOTONIC) - start) * 1e9 / (double)n,
	       seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
	return 0;
}
