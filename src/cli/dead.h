/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cleaning up after recordings that were killed together with their guardians. */
#ifndef CLI_DEAD_H
#define CLI_DEAD_H

#include "tracefs/tracefs.h"

/*
 * Saves what is in their buffers, takes back what they changed, and says so. What cannot be saved
 * stays where it is, unless it is to be dropped. SPUR_OK, or SPUR_ENVIRONMENT when something stays.
 */
int dead_clean(const struct tracefs *fs, bool drop);

#endif
