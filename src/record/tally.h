/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counting events of a CPU: those that a file has, and those that the kernel gave or still has.
 * What is missing in a file that was cut is the difference.
 */
#ifndef RECORD_TALLY_H
#define RECORD_TALLY_H

#include "dat/dat.h"
#include "tracefs/tracefs.h"

struct tally {
	uint64_t events, last; /* last: the time of the last one, 0: there is none */
};

/* Adds the events of a page; nothing if it cannot be decoded. */
void tally_page(struct tally *t, const struct ring_layout *layout, const void *data, size_t size);

/* Adds what a file has of a CPU. */
int tally_file(struct tally *t, struct dat *d, size_t buffer, uint32_t cpu);

/* What the kernel says of a CPU's buffer: events that were read, and events it still has. */
bool tally_kernel(const struct tracefs *fs, const char *instance, uint32_t cpu, uint64_t *taken,
		  uint64_t *left);

#endif
