/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The two kinds of buffers behind ring.h. */
#ifndef CODE_RING_PARTS_H
#define CODE_RING_PARTS_H

#include "code/ring.h"

struct ring_ops {
	int (*open)(struct ring *r, int map, struct spur_error *err);
	/* Reads all that is there; adds the bytes to r->got. */
	int (*read)(struct ring *r, ring_each each, void *arg);
	void (*close)(struct ring *r);
};

struct ring {
	const struct ring_ops *ops;
	size_t size, page;
	int epoll;
	struct {
		int *at;
		size_t n, cap;
	} watched; /* descriptors in it */
	bool deaf; /* to them */
	int delay;
	uint64_t got, lost;

	/* Of a ring buffer. */
	uint64_t *consumer; /* a page of our own */
	uint8_t *producer;  /* a page of the kernel, then the data, twice */

	/* Of perf buffers. */
	struct ring_cpu {
		int fd;
		uint8_t *base; /* a page of control, then the data */
	} * cpus;
	unsigned int nr_cpus;
	size_t cpu_size;  /* of the data of each */
	uint8_t *wrapped; /* a record that goes around the end of the data, made whole */
	uint8_t *aligned; /* the data of a record */
};

extern const struct ring_ops ring_perf_ops;

/* Makes a descriptor wake us. */
int ring_watch(struct ring *r, int fd, struct spur_error *err);

#endif
