/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Constants that scripts would have from headers: AF_INET, O_CREAT, TASK_RUNNING. */
#ifndef LANG_CONSTANTS_H
#define LANG_CONSTANTS_H

#include <stdbool.h>
#include <stdint.h>

bool constant_find(const char *name, int64_t *value, bool *is_signed);

#endif
