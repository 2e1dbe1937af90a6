// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program with types of its own and a USDT probe with many arguments, for cases to look into. It
 * is built twice: script_typed, and script_split, whose debug information is in a file beside it.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#define KEEP __attribute__((noinline, used))

struct inner {
	int32_t low, high;
};

union either {
	uint64_t all;
	struct inner parts;
};

/* The kernel has another struct of this name. */
struct list_head {
	uint16_t first, second;
};

typedef struct outer {
	char name[8];
	union either either;
	struct list_head head;
	struct outer *next;
} outer_t;

KEEP int take(outer_t *o, void *opaque)
{
	__asm__ volatile("" ::: "memory");
	return o->head.first + (opaque != 0);
}

#ifdef __x86_64__
/* What sys/sdt.h makes of a place of a probe of the provider "spur". */
#define PLACE(name, arguments)                                                                     \
	"990: nop\n"                                                                               \
	".pushsection .note.stapsdt,\"?\",\"note\"\n"                                              \
	".balign 4\n"                                                                              \
	".4byte 992f-991f, 994f-993f, 3\n"                                                         \
	"991: .asciz \"stapsdt\"\n"                                                                \
	"992: .balign 4\n"                                                                         \
	"993: .8byte 990b\n"                                                                       \
	".8byte _.stapsdt.base\n"                                                                  \
	".8byte 0\n"                                                                               \
	".asciz \"spur\"\n"                                                                        \
	".asciz \"" name "\"\n"                                                                    \
	".asciz \"" arguments "\"\n"                                                               \
	"994: .balign 4\n"                                                                         \
	".popsection\n"
#define BASE                                                                                       \
	".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"                    \
	".weak _.stapsdt.base\n"                                                                   \
	".hidden _.stapsdt.base\n"                                                                 \
	"_.stapsdt.base: .space 1\n"                                                               \
	".size _.stapsdt.base, 1\n"                                                                \
	".popsection\n"

/* One with 12 arguments, and one that is at two places. */
KEEP static void many(long first, int last)
{
	__asm__ volatile(
		PLACE("many", "8@%0 4@$1 4@$2 4@$3 4@$4 4@$5 4@$6 4@$7 4@$8 4@$9 4@$10 -4@%1")
			BASE::"r"(first),
		"r"(last));
	__asm__ volatile(PLACE("twice", "8@%0")::"r"(first));
	__asm__ volatile(PLACE("twice", "-4@%0")::"r"(last));
}
#else
static void many(long first, int last)
{
}
#endif

/* Runs the code in a file: meson.build says what it is. */
static int run_file(const char *path)
{
	int fd = open(path, O_RDONLY);
	char *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	int (*function)(int) = (int (*)(int))(void *)(code + 0x100);

	return code == MAP_FAILED || function(77) != 77;
}

int main(int argc, char **argv)
{
	static outer_t next = {.name = "next"};
	outer_t o = {
		.name = "outer",
		.either.parts = {.low = 7, .high = -8},
		.head = {.first = 11, .second = 12},
		.next = &next,
	};

	if (argc > 1)
		return run_file(argv[1]);
	many(100, -5);
	return take(&o, &o) == 0;
}
