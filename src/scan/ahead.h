/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading ahead: threads that would wait load pages that the lanes of a scan will need.
 *
 * A lane's pages are loaded in windows, one after the other. Loading includes decompression and
 * finding the records that the lane cannot skip. One thread moves the lanes, any thread may load. A
 * window is used again when its lane has left it.
 */
#ifndef SCAN_AHEAD_H
#define SCAN_AHEAD_H

#include "scan/scan.h"

struct ahead;

/*
 * Makes the lanes of a scan read through windows, before the scan begins. NULL if there is too
 * little memory or there are too many lanes: then the lanes read their pages themselves.
 * ahead_free() must be called before scan_free(). The thread that moves the lanes calls wanted()
 * when there is much to load.
 */
struct ahead *ahead_new(struct scan *s, void (*wanted)(void *arg), void *arg);
void ahead_free(struct ahead *a);

/* Loads a window; false if there is nothing to load now. */
bool ahead_load(struct ahead *a);

/* ---- for lanes ---- */

#define AHEAD_MISS 2 /* not in a window: the lane has to read the page itself */

/* Like dat_pages_get(), or AHEAD_MISS. The page is valid as long as the lane is on it. */
int ahead_get(struct ahead_lane *al, uint64_t index, struct dat_page *page,
	      struct lane_breaks *breaks);

#endif
