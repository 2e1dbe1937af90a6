/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the formats of profiles share: the stacks of a job's traces, merged and weighted. */
#ifndef EXPORT_WEIGHED_H
#define EXPORT_WEIGHED_H

#include "stats/flame.h"
#include "export/export.h"

/* Their settings: what to take, how to weigh it, what to put at the root. */
extern const struct export_setting_info weighed_settings[];

struct weighed {
	struct flame flame;
	enum flame_from from;
	bool nanoseconds; /* values are times */
	const char *unit; /* "nanoseconds", "samples", "calls" or the name of a field */
};

/* Reads the traces. -ENODATA: there are no stacks. weighed_free() is due in any case. */
int weighed_read(struct weighed *p, const struct export_job *job, struct spur_error *err);
void weighed_free(struct weighed *p);

/* The file's name without folders: what a profile is called. */
const char *weighed_title(const struct export_job *job);

#endif
