/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A header of a user's own program, with everything that such headers have. */
#ifndef MINE_H
#define MINE_H

#include <stdint.h>
#include <sys/types.h>
#include "deeper/other.h"

#define MINE_LENGTH 4
#define MINE_TEXT   "text"
#if defined __has_include && __has_include(<mine_nowhere.h>)
#include <mine_nowhere.h>
#endif
#ifdef __linux__
#define MINE_SYSTEM 1
#else
#define MINE_SYSTEM 2
#endif

enum mine_colour { MINE_RED = 3, mine_green, MINE_BLUE = MINE_RED * 10 };

typedef struct mine {
	uint8_t a;
	uint32_t b[MINE_LENGTH];
	struct other o;
} mine_type;

union mine_both {
	int number;
	char text[12];
};

typedef int mine_number, (*mine_function)(int x, void *more);

struct __attribute__((packed)) mine_packed {
	char a;
	long b;
};

#pragma pack(push, 1)
struct mine_tight {
	char a;
	int b;
};
#pragma pack(pop)

/* Nothing of this is of any use to a script. */
extern int mine_variable;
int mine_print(struct mine *m, ...) __attribute__((format(printf, 1, 2)));
static inline int mine_call(int x)
{
	double d = 1.5f;
	char c = '\'';

	return x ? c : (int)d;
}
_Static_assert(sizeof(struct mine_packed) == 9, "packed");

/* And this is not known. */
struct mine_strange {
	mine_unknown_type x;
};

struct mine_last {
	mine_function f;
} __attribute__((aligned(32)));

#endif
