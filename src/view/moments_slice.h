/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An interval that somebody asks about; private to the answers about moments. */
#ifndef VIEW_MOMENTS_SLICE_H
#define VIEW_MOMENTS_SLICE_H

#include "view/api.h"
#include "view/moments.h"

struct slice {
	struct view *view;
	const struct api_request *q;
	struct buf *out;
	struct moment_row row;
	uint32_t number; /* of the row in the view */
	uint32_t track;
	enum view_track_kind kind;
	struct view_interval at;
	struct moment_row task; /* whose it is, if it is one's */
	bool has_task;
	size_t details;
};

/* The CPU that a run of a task was on, -1: not known. */
static inline int64_t slice_cpu(const struct view_interval *run)
{
	return run->value == UINT32_MAX ? -1 : (int64_t)run->value;
}

/* Append members of the answer, each with a comma in front: what there is to know about it, … */
void slice_details(struct slice *s);
/* … who ended the sleep before it, and whom it woke (moments_wakes.c). */
void slice_waker(struct slice *s);
void slice_woken(struct slice *s);

#endif
