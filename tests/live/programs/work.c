// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program with a function to put a probe on: work() is called five times, a static probe
 * passed.
 */
#include <stdio.h>
#ifdef WITH_SDT
#include <sys/sdt.h>
#else
#define DTRACE_PROBE2(provider, name, a, b)
#endif

__attribute__((noinline)) int work(int n, const char *name, long more)
{
	DTRACE_PROBE2(work, step, n, name);
	return n * 2 + (int)more + (name[0] == '?');
}

int main(void)
{
	int sum = 0;

	for (int i = 1; i <= 5; i++)
		sum += work(i, "hello", 100);
	printf("%d\n", sum);
	return 0;
}
