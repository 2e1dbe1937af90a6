// SPDX-License-Identifier: GPL-2.0-or-later
/* Says when it was started, in nanoseconds of the monotonic clock. */
#include <stdio.h>
#include <time.h>

int main(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	printf("stamp %lld\n", (long long)t.tv_sec * 1000000000 + t.tv_nsec);
	return 0;
}
