/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a format's bytes go: a buffer that is emptied into a descriptor when it has become large.
 *
 * Whoever writes appends to `buf` and calls outlet_turn() now and then, as after a record. What
 * goes wrong is kept; nothing is written afterwards, and `rc` tells in the end.
 */
#ifndef EXPORT_OUTLET_H
#define EXPORT_OUTLET_H

#include <stdint.h>

#include "base/buf.h"

#define OUTLET_PIECE (256u << 10) /* is written at a time, about */

struct outlet {
	struct buf buf;
	int fd;
	uint64_t written; /* bytes before those in the buffer */
	int rc;		  /* the first thing that went wrong, a negative errno */
};

void outlet_init(struct outlet *o, int fd);
void outlet_free(struct outlet *o);

void outlet_empty(struct outlet *o);

/* Empties the buffer when there is enough in it. */
static inline void outlet_turn(struct outlet *o)
{
	if (o->buf.len >= OUTLET_PIECE)
		outlet_empty(o);
}

/* How many bytes there are, written or not. */
static inline uint64_t outlet_offset(const struct outlet *o)
{
	return o->written + o->buf.len;
}

#endif
