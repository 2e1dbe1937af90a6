// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program to look into: functions that call each other, through the C library as well. It is
 * built with optimisation and without frame pointers, but with debug information.
 *
 *	calls sort	outer -> middle -> inner -> qsort -> compare -> leaf
 *	calls signal	outer -> wait_here -> raise -> handler -> leaf
 *	calls aligned	outer -> aligned -> leaf
 *	calls spin	outer -> spin
 *	calls lines	lines, see below
 *	calls pair	outer -> pair, large, with structs by value
 *
 * With another word it then stays as long as whoever has started it.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifdef __clang__
#define KEEP __attribute__((noinline, used))
#else
#define KEEP __attribute__((noinline, noclone, used))
#endif
/* Keeps a call from becoming a jump, and what is computed from being known. */
#define BARRIER() __asm__ volatile("" ::: "memory")

static volatile int sink;

KEEP static int leaf(int n)
{
	sink += n;
	BARRIER();
	return n + 1;
}

/* ---- sort ---- */

KEEP static int compare(const void *a, const void *b)
{
	const int *x = a, *y = b;
	int n = leaf(*x);

	BARRIER();
	return n ? *x - *y : 0;
}

KEEP static int inner(int n)
{
	int numbers[] = {n + 2, n};

	qsort(numbers, 2, sizeof(numbers[0]), compare);
	BARRIER();
	return numbers[0];
}

KEEP static int middle(int n)
{
	n = inner(n + 1) + inner(n + 2);
	BARRIER();
	return n;
}

static int sort(void)
{
	int n = middle(1);

	BARRIER();
	return n;
}

/* ---- signal ---- */

static void handler(int number)
{
	leaf(number);
	BARRIER();
}

KEEP static int wait_here(int n)
{
	raise(SIGUSR1);
	BARRIER();
	return n;
}

static int interrupt(void)
{
	signal(SIGUSR1, handler);
	return wait_here(1) - 1;
}

/* ---- a stack that is aligned ---- */

KEEP static int aligned(int n)
{
	_Alignas(64) char bytes[64];
	char *more = __builtin_alloca((size_t)n);

	memset(bytes, n, sizeof(bytes));
	more[0] = bytes[n];
	__asm__ volatile("" : : "r"(bytes), "r"(more) : "memory");
	n = leaf(more[0]);
	BARRIER();
	return n;
}

static int align(void)
{
	return aligned(3) - 4;
}

/* ---- spin ---- */

KEEP static int spin(void)
{
	for (;;)
		sink++;
	return 0;
}

/* ---- structs that are passed by value ---- */

struct pair {
	long a, b;
};

struct large {
	long at[5];
};

KEEP static long pair(int first, struct pair by_value, int last)
{
	BARRIER();
	return first + by_value.a + by_value.b + last;
}

KEEP static long large(int first, struct large by_value, int last)
{
	BARRIER();
	return first + by_value.at[0] + by_value.at[4] + last;
}

static int structs(void)
{
	const struct pair two = {sink + 11, sink + 12};
	const struct large five = {{21, 22, 23, 24, sink + 25}};

	return pair(1, two, 3) != 27 || large(4, five, 5) != 55;
}

/* ---- lines, which tests/script/cases/user and tests/unit name ---- */

/* clang-format off */
#line 1000
static inline __attribute__((always_inline)) int twice(int n)
{
	BARRIER();
	sink = n; /* 1003 */
	return n * 2;
}

KEEP static int first(int n)
{
	int sum = twice(n); /* 1009 */

	for (int i = 0; i < 3; i++)
		sum += leaf(i); /* 1012 */
	BARRIER();
	return sum;
}

KEEP static int second(int n)
{
	n = twice(n) + 1;
	BARRIER();
	return n;
}

static int lines(void)
{
	return first(3) + second(4) - 18;
}
/* clang-format on */

/* ---- all of it ---- */

static const struct {
	const char *name;
	int (*run)(void);
} ways[] = {
	{"sort", sort}, {"signal", interrupt}, {"aligned", align},
	{"spin", spin}, {"lines", lines},      {"pair", structs},
};

KEEP static int outer(int (*run)(void))
{
	int result = run();

	BARRIER();
	return result;
}

int main(int argc, char **argv)
{
	/* Whoever is not interested any more need not say so. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(60);
	for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(ways[i].name, argv[1])) {
			sink = outer(ways[i].run);
			return argc > 2 ? pause() : 0;
		}
	return 1;
}
