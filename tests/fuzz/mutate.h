/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mutation driver: damages good trace files on purpose and watches what a program makes of
 * them.
 *
 *	mutate_map.c   finds out what stands where in a good file
 *	mutate_edit.c  damages it
 *	mutate_run.c   runs the commands on the damaged file and judges how they end
 *	mutate.c       hands out the work and counts
 *
 * Mutant number k of a run is a function of the list of files, the seed and k alone, so any one of
 * them can be made again.
 */
#ifndef FUZZ_MUTATE_H
#define FUZZ_MUTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What can stand at a place. The kinds up to PLACE_SIZE are numbers. */
enum place_kind {
	PLACE_NUMBER, /* a count, an id, a page size, … */
	PLACE_OFFSET, /* a number that is an offset in the file */
	PLACE_SIZE,   /* a number that counts the bytes from … to */
	PLACE_PAGE,   /* a number in the ring buffer: of a page's or a record's header */
	PLACE_RECORD, /* a record's bytes */
	PLACE_TEXT,   /* a format, symbols, names of tasks, an option's text */
	PLACE_PACKED, /* u32 packed size, u32 unpacked size, zstd data */
	PLACE_KINDS
};

struct place {
	size_t at;
	size_t size;
	size_t from, to;      /* PLACE_SIZE: what it counts */
	unsigned int section; /* PLACE_PACKED: what is inside, as map_section() takes it */
};

/* Bytes and what is known about them. A file is one; so is every packed section, once unpacked. */
struct image {
	uint8_t *data;
	size_t len, cap;
	size_t pages; /* where the ring buffer's pages begin, which stay aligned; 0: nowhere */
	size_t page_size;
	bool big_endian;
	bool zstd;
	struct {
		struct place *at;
		size_t n, cap;
	} places[PLACE_KINDS];
};

#define SECTION_PAGES 0x10000u /* map_section(): pages of the ring buffer */

/* Reads a good trace file and maps it. False when it cannot be read or is none. */
bool image_load(struct image *img, const char *path);
void image_copy(struct image *to, const struct image *from);
void image_free(struct image *img);

/* Maps an unpacked section: its id in the file, or SECTION_PAGES. */
void map_section(struct image *img, unsigned int section);

/*
 * Replaces old_len bytes by new ones and corrects, as a careful liar would, every offset and size
 * that is known to be affected.
 */
void image_splice(struct image *img, size_t at, size_t old_len, const void *bytes, size_t new_len);

/* A pseudo-random generator: splitmix64. */
struct rng {
	uint64_t state;
};

uint64_t rng_next(struct rng *r);

/* Below n; 0 when n is 0. */
static inline size_t rng_below(struct rng *r, size_t n)
{
	return n ? (size_t)(rng_next(r) % n) : 0;
}

/* Damages the image in one to eight places. */
void image_mutate(struct image *img, struct rng *r);

/* How a command ended. */
enum outcome {
	OUTCOME_OK,	 /* exit status 0 */
	OUTCOME_REFUSED, /* 3 or 4, with one line that names the file */
	OUTCOME_CRASH,	 /* killed by a signal, or stopped by a sanitizer */
	OUTCOME_HANG,	 /* still running after the time limit */
	OUTCOME_RUNAWAY, /* more output than the limit */
	OUTCOME_UNCLEAR, /* another exit status (2: out of memory), or no proper message */
	OUTCOMES
};

struct limits {
	unsigned int seconds;
	size_t memory; /* address space in bytes; 0: no limit */
	size_t output;
};

/* The commands every mutant goes through; NULL at the end. */
extern const char *const mutate_commands[];

/* One process that runs commands: where it keeps the mutant and what was printed. */
struct runner {
	const char *program;
	struct limits limits;
	char dir[64];
	char path[96];
	int out, err;
	char why[200]; /* what is wrong with the outcome of the command run last */
};

bool runner_open(struct runner *run, const char *program, const struct limits *limits);
void runner_close(struct runner *run);

/* Makes the image the file that commands are run on. */
bool runner_write(struct runner *run, const struct image *img);

enum outcome runner_run(struct runner *run, const char *command);

#endif
