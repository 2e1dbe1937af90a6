/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What processes have mapped where, kept because they may be gone when the file is finished. */
#ifndef RECORD_MAPS_H
#define RECORD_MAPS_H

#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"

struct maps_process {
	pid_t pid;
	char *text; /* as the file has it; owned */
};

struct maps {
	struct maps_process *at;
	size_t n, cap;
};

/* Looks at a process now; what was known of it before is replaced, unless it is gone. */
void maps_take(struct maps *m, pid_t pid);

/* The text of the option PROCMAPS. */
void maps_put(const struct maps *m, struct buf *to);
void maps_free(struct maps *m);

#endif
