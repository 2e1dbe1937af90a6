/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Giving up what a process that reads files of strangers does not need: root, other files, and
 * most of what the kernel offers.
 */
#ifndef VIEW_SERVE_CONFINE_H
#define VIEW_SERVE_CONFINE_H

#include <stdbool.h>
#include <sys/types.h>

#include <spur/error.h>

#include "base/buf.h"

struct confine_options {
	uid_t uid; /* the user that root becomes */
	gid_t gid;
	/* Folders, up to a NULL; a NULL among `writable` is none. */
	const char *const *writable; /* files in them can be made, written and removed */
	const char *const *readable;
	const char *const *emptied; /* folders in them can be removed */
	bool terminal; /* one that is open can be set, and this process be stopped by its user */
};

/*
 * Before there are threads. Becoming another user must succeed where the process is root; what the
 * kernel lacks of the rest is left out, and `notes` gets a line about it. Files that are open stay
 * so.
 */
int confine(const struct confine_options *opt, struct buf *notes, struct spur_error *err);

/*
 * For the process that records for a view, and its children: root, without all that recording
 * events does not take.
 */
int confine_recorder(struct buf *notes, struct spur_error *err);

#endif
