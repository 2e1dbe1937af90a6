// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stacks N: calls getppid() N times, each time from a stack of its own, up to 4096 of them. It is
 * built with frame pointers, which the kernel follows.
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __clang__
#define KEEP __attribute__((noinline, used))
#else
#define KEEP __attribute__((noinline, noclone, used))
#endif
/* Keeps a call from becoming a jump. */
#define BARRIER() __asm__ volatile("" ::: "memory")
#define BITS	  12

static long even(unsigned int n, unsigned int left);
static long odd(unsigned int n, unsigned int left);

KEEP static long step(unsigned int n, unsigned int left)
{
	long result;

	if (!left)
		result = syscall(SYS_getppid);
	else
		result = n & 1 ? odd(n >> 1, left - 1) : even(n >> 1, left - 1);
	BARRIER();
	return result;
}

KEEP static long even(unsigned int n, unsigned int left)
{
	long result = step(n, left);

	BARRIER();
	return result;
}

KEEP static long odd(unsigned int n, unsigned int left)
{
	long result = step(n, left);

	BARRIER();
	return result + 1;
}

int main(int argc, char **argv)
{
	const unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 0) : 1;

	for (unsigned long i = 0; i < n; i++)
		step((unsigned int)i, BITS);
	return 0;
}
