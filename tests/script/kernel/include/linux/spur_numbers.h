/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A header of a kernel, for cases to include. */
#ifndef SPUR_NUMBERS_H
#define SPUR_NUMBERS_H

#include <uapi/linux/spur_numbers.h>
#include <linux/spur_not_there.h>
#include "spur_beside.h"

struct spur_numbers;

#define SPUR_SHIFT   4
#define SPUR_FLAG    (1UL << SPUR_SHIFT) /* a comment */
#define SPUR_BOTH    (SPUR_FLAG | SPUR_OTHER)
#define SPUR_TEXT    "text"
#define SPUR_CALL    spur_function(1)
#define SPUR_ITSELF  SPUR_ITSELF
#define SPUR_WITH(x) (x)
#define SPUR_SHIFTED 9
#define SPUR_WORTH   SPUR_WITH(6) + SPUR_FIRST(7, 8, 9)
#define SPUR_MODE    ((__force fmode_t)0x8 | (fmode_t __force)0x10)
#define SPUR_LONG    (1 + 2)
#define SPUR_GONE    1
#undef SPUR_GONE

/*
#define SPUR_REMARK 1
 */

#ifdef __KERNEL__
#define SPUR_WHO 1
#else
#define SPUR_WHO 2
#endif

#if IS_ENABLED(CONFIG_SPUR_MODULE_ONLY) && !defined(CONFIG_SPUR_ABSENT)
#define SPUR_CONFIGURED 1
#elif 1
#define SPUR_CONFIGURED 2
#else
#define SPUR_CONFIGURED 3
#endif

#if IS_ENABLED(CONFIG_SPUR_ABSENT) || SPUR_SHIFT + SPUR_BESIDE != 15
#define SPUR_UNTAKEN 1
#if 1
#define SPUR_DEEPER 1
#endif
#include <linux/spur_untaken.h>
#endif

#if @what nobody understands
#define SPUR_ODD 1
#else
#define SPUR_ODD 2
#endif

#endif
