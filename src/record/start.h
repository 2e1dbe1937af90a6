/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings that stay: `spur start` and `spur set`. All of them are made, or none. */
#ifndef RECORD_START_H
#define RECORD_START_H

#include "record/setup.h"

struct start_options {
	bool additional; /* only what was asked for; nothing is emptied or turned on or off */
	const struct request_names *remove; /* instances to be removed first, or NULL */
	char *const *command;		    /* run once all is set, up to a NULL; or NULL */
	const char *user;		    /* who runs it, NULL: the same */
	bool leave;			    /* do not wait for its end */
	/* Told what had to be left out, with a NULL for arg; or NULL. */
	void (*note)(void *arg, const char *text);
};

int start_run(const struct tracefs *fs, const struct request *r, const struct start_options *opt,
	      struct spur_error *err);

/* What start_run() would write, as commands of a shell. */
int start_show(const struct tracefs *fs, const struct request *r, const struct start_options *opt,
	       struct buf *to, struct spur_error *err);

#endif
