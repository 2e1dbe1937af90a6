/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A page to keep: one file with the page of `spur view`, and in place of a server as much of its
 * answers as a limit allows. web/embedded.js reads it.
 */
#ifndef VIEW_API_SAVED_H
#define VIEW_API_SAVED_H

#include "base/buf.h"
#include "view/view.h"

struct saved_options {
	uint64_t since, until; /* relative to the view's origin: of this time there are details */
	uint64_t most;	       /* bytes */
	bool processes;	       /* tasks are grouped by process at first */
	const volatile int *stop;
};

/*
 * Of a view that is complete. 0, -EFBIG: not even what is needed fits, -EINTR: *stop was set, or
 * -ENOMEM, with words.
 */
int saved_page(struct view *v, const struct saved_options *o, struct buf *out,
	       struct spur_error *err);

/*
 * The page without data, as tools/inline-page makes it of web/: what comes before the data and
 * after it.
 */
extern const unsigned char saved_before[], saved_behind[];
extern const size_t saved_before_size, saved_behind_size;

#endif
