/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dw_ustack(): what programs in the kernel and user space agree on. User space reads how files are
 * unwound (symbols/cfi.h) into tables; programs follow them, frame by frame.
 *
 *	rows	of all files, one behind the other; those of a file are sorted by address
 *	rules	that rows number: struct cfi_rule
 *	files	which rows are a file's
 *	pages	which rows are those of a page of an address space, found by whoever met it first
 */
#ifndef LANG_UNWIND_H
#define LANG_UNWIND_H

#include <stdint.h>

enum {
	UNWIND_ROWS = 1 << 19, /* 4 MB: older kernels have no larger values */
	UNWIND_RULES = 1 << 14,
	UNWIND_FILES = 4096,
	UNWIND_PAGES = 32768,
	UNWIND_PAGE_BITS = 12,
};

struct unwind_row {
	uint32_t addr; /* from the file's first row on */
	uint32_t rule;
};

/* A file as the kernel knows it. Devices are seen differently by either side, sizes are not. */
struct unwind_file_key {
	uint64_t inode, size;
};

struct unwind_file {
	uint32_t first, nr; /* nr 0: nothing is known, or not yet */
	int64_t bias;	    /* where in the file its first row would be */
};

/* An address space is told by where its stack began, which is random, and by its process. */
struct unwind_page_key {
	uint64_t space, page;
};

static inline uint64_t unwind_space(uint32_t pid, uint64_t start_stack)
{
	return start_stack ^ (uint64_t)pid << 40;
}

struct unwind_page {
	uint32_t first, nr;
	uint64_t bias; /* the address of its first row */
	uint64_t ns;   /* when that was found, by CLOCK_MONOTONIC: other things may be there now */
};

/* What user space is asked for: a file that was met, or (inode 0) all files of a process. */
struct unwind_note {
	uint64_t pid, addr;
	struct unwind_file_key file;
};

#endif
