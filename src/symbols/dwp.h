/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/symbols: packages of split debug information, PROGRAM.dwp, into which the .dwo
 * files of a program were put (DWARF 5 section 7.3.5, and the form that GNU's tools had before).
 * Libraries that only know .dwo files get one for each unit they need.
 */
#ifndef SYMBOLS_DWP_H
#define SYMBOLS_DWP_H

#include <stdbool.h>
#include <stdint.h>

struct dwp;

/* NULL: there is no such file, or it is no package. */
struct dwp *dwp_open(const char *path);

/* The same of an open file, which it closes. */
struct dwp *dwp_open_fd(int fd);

void dwp_close(struct dwp *p);

/*
 * Makes a .dwo file of a unit, and of the types that were compiled with it; in memory, so that
 * nothing is left when it is closed. An open file, or a negative errno: -ENOENT, it has none.
 */
int dwp_unit(struct dwp *p, uint64_t id);

/* The ids of all units, in no order: the one in a slot, if there is one; false beyond the last. */
bool dwp_slot(const struct dwp *p, uint32_t slot, uint64_t *id);

#endif
