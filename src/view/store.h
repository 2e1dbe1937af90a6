/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the bytes of an index are kept: in memory as long as that is allowed, beyond it in a
 * temporary file that has no name; those of a finished index that was kept, in its file.
 *
 * What has been put never changes. Any number of threads may put and get.
 */
#ifndef VIEW_STORE_H
#define VIEW_STORE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STORE_CHUNK (256u << 10) /* a piece that is put lies in one of these */
#define STORE_FULL  UINT64_MAX

struct store {
	pthread_mutex_t lock; /* guards what follows */
	struct {
		uint8_t **at; /* NULL: it is in the file */
		size_t n, cap;
	} chunks;
	size_t filed;		       /* chunks before this one are in the file */
	size_t most;		       /* that may be in memory */
	uint64_t size;		       /* where the next piece goes */
	int fd;			       /* -1: there is no file, and all stays in memory */
	uint64_t base;		       /* where the first byte lies in it */
	unsigned int turn, reading[2]; /* threads that read from it, and from the one before */
	_Atomic bool spoilt;	       /* not guarded: a piece was not what had been put */
};

/* Keeps about so many bytes in memory; the file is made in that folder, or in none. */
void store_init(struct store *s, uint64_t memory, const char *folder);
/* One whose bytes lie in a file from `base` on. It takes over the descriptor. */
void store_over(struct store *s, int fd, uint64_t base, uint64_t size);
void store_free(struct store *s);

/* Where the piece (of at most STORE_CHUNK bytes) lies now; STORE_FULL without memory. */
uint64_t store_put(struct store *s, const void *data, size_t len);

/* False: there is no such piece, or it cannot be read. */
bool store_get(struct store *s, uint64_t at, size_t len, void *to);

/* A sum of bytes that tells whether they are what they were; words are the machine's. */
uint64_t store_sum(uint64_t sum, const void *data, size_t len);

/* Copies all of it into a file from `base` on; 0 or a negative errno. */
int store_copy(struct store *s, int fd, uint64_t base);

/* From now on it is read from a file it has been copied to; memory is given back. */
void store_move(struct store *s, int fd, uint64_t base);

#endif
