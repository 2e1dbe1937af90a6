// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program whose functions are inlined: outer calls first, which calls second, which calls stop;
 * and first calls third of another file, which does the same. It then waits to be ended.
 */
#include <unistd.h>

#define INLINED static inline __attribute__((always_inline))
#define KEEP	__attribute__((noinline, used))

static volatile int sink;

KEEP static void stop(int n)
{
	sink += n;
	__asm__ volatile("" ::: "memory");
}

/* Where each line is said to be matters to the cases. */
#line 100 "inlined.c"
INLINED void second(int n)
{
	sink++;
	stop(n);
	sink++;
}
#line 200 "other.h"
INLINED void third(int n)
{
	stop(n);
	sink++;
}
#line 300 "inlined.c"
INLINED void first(int n)
{
	sink = 0;
	second(n);
	sink++;
	third(n);
}
#line 400 "inlined.c"
KEEP static void outer(int n)
{
	sink = n;
	first(n + 1);
	sink++;
}
#line 500 "inlined.c"
int main(void)
{
	outer(1);
	pause();
	return 0;
}
