// SPDX-License-Identifier: GPL-2.0-or-later
/* A second unit of a program whose debug information is in a package. */
struct elsewhere {
	char name[16];
	long values[2];
};

int elsewhere(struct elsewhere *e, int n);

__attribute__((noinline)) int elsewhere(struct elsewhere *e, int n)
{
	__asm__ volatile("" : : "r"(e), "r"(n) : "memory");
	return n;
}

__attribute__((constructor)) static void call_it(void)
{
	struct elsewhere one = {"elsewhere", {5, 6}};

	elsewhere(&one, 3);
}
