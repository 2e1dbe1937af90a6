/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Named in quotes by the header beside it, which it includes in turn. No guard: it is read once. */
#include <linux/spur_numbers.h>
#include "spur_beside.h"

#ifdef SPUR_BESIDE
#define SPUR_AGAIN 1
#endif
#define SPUR_BESIDE	   11
#define SPUR_FIRST(x, ...) x
