/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Types of a kernel, for cases to include. */
#ifndef SPUR_TYPES_H
#define SPUR_TYPES_H

#include <linux/spur_numbers.h>

#define __aligned(x) __attribute__((__aligned__(x)))
#define SPUR_GROUP(name, ...)                                                                      \
	union {                                                                                    \
		struct {                                                                           \
			__VA_ARGS__                                                                \
		};                                                                                 \
		struct {                                                                           \
			__VA_ARGS__                                                                \
		} name;                                                                            \
	}
#define SPUR_MAKE	     SPUR_MAKE_LONG
#define SPUR_MAKE_LONG(name) long name[SPUR_SHIFT]

#ifdef __KERNEL__
typedef unsigned int spur_word;
#else
typedef unsigned char spur_word;
#endif

enum spur_kind { SPUR_KIND_FIRST = SPUR_SHIFTED, SPUR_KIND_SECOND };

struct spur_types {
	spur_word word;
	SPUR_GROUP(both, char a;
#ifdef CONFIG_SPUR_ABSENT
		   long absent;
#else
		   char b;
#endif
	);
	unsigned int bits : 3;
	SPUR_MAKE(longs);
} __aligned(64);

/* BTF describes it as it is. */
struct task_struct {
	char nonsense;
};

static inline spur_word spur_word_of(struct spur_types *t)
{
	return t->word;
}

#endif
