/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of `spur flame` share. */
#ifndef CLI_FLAME_H
#define CLI_FLAME_H

#include "draw/flame_svg.h"
#include "cli/cli.h"
#include "cli/range.h"

struct flame_options {
	struct range_options range;

	/* What to take. */
	const char *from, *weight, *unit, *buffer;
	struct globs events;
	struct {
		const char **at; /* the same as they were written */
		size_t n, cap;
	} event_names;
	bool off_cpu, by_task, by_cpu, reverse;

	/* What to make of it. */
	const char *other; /* --diff */
	bool folded, icicle, chart, heat;
	const char *column;

	/* How it looks and where it goes. */
	const char *output, *title, *colours, *min_width;
	int64_t width;

	/* What becomes of the above. */
	struct flame_wanted wanted;
	struct flame_look look;
	uint64_t column_ns;
	char *weight_event; /* of --weight EVENT.FIELD; owned */
};

/* A file to read: a trace, or folded text. */
struct flame_input {
	const char *path;
	struct spur_trace *trace; /* NULL: text */
	int fd;			  /* of the text; -1 */
	struct buf head;	  /* what has been read of it */
};

/* -i's, the only other argument's or trace.dat; "-" is standard input. */
int flame_input_open(struct flame_input *in, const char *path, struct spur_error *err);
/* Says what is damaged and returns the exit status for it. */
int flame_input_close(struct flame_input *in);

/* Takes a file's stacks into a side of the tree. *from tells of which kind they are. */
int flame_input_read(struct flame_input *in, const struct flame_options *o, struct flame *f,
		     unsigned int side, enum flame_from *from, struct spur_error *err);

/* Whether the file, if it is a trace, knows the events of -e and the buffer. -EINVAL with words. */
int flame_check_names(const struct flame_options *o, const struct flame_input *in,
		      struct spur_error *err);

#endif
