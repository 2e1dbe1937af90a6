/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The calls of a range as a tree; private to the answers about ranges. */
#ifndef VIEW_SUMS_FLAME_H
#define VIEW_SUMS_FLAME_H

#include "view/sums.h"

struct flame_choice {
	bool calls, stacks; /* what may be taken; calls come first */
	bool by_task;	    /* each task has a frame of its own */
};

/* Appends {"name", "value", "self", "unit", "from", "children": […]} as JSON. */
int sum_flame(const struct sum_range *range, const struct flame_choice *choice, struct buf *out,
	      struct spur_error *err);

#endif
