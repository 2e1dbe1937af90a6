// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A 32-bit program without a C library: 100 times getppid(), whose number is that of semget() in
 * 64-bit programs.
 */
#define GETPPID 64
#define EXIT	1

static int call(int number)
{
	int result;

	__asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(0) : "memory");
	return result;
}

void _start(void)
{
	for (int i = 0; i < 100; i++)
		call(GETPPID);
	for (;;)
		call(EXIT);
}
