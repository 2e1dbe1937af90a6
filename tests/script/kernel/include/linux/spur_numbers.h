/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A header of a kernel, for cases to include. */
#ifndef SPUR_NUMBERS_H
#define SPUR_NUMBERS_H

#include <uapi/linux/spur_numbers.h>

struct spur_numbers;

#define SPUR_SHIFT   4
#define SPUR_FLAG    (1UL << SPUR_SHIFT) /* a comment */
#define SPUR_BOTH    (SPUR_FLAG | SPUR_OTHER)
#define SPUR_TEXT    "text"
#define SPUR_CALL    spur_function(1)
#define SPUR_ITSELF  SPUR_ITSELF
#define SPUR_WITH(x) (x)
#define SPUR_SHIFTED 9

#endif
