/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dw_ustack(): the data that programs in the kernel share with user space. User space reads the
 * unwinding rules of files (symbols/cfi.h) into tables; programs follow them, frame by frame.
 *
 *	rows	of all files, one file after the other; the rows of a file are sorted by address
 *	rules	struct cfi_rule, by the number in a row
 *	files	the rows of a file
 *	pages	the rows of a page of an address space, filled in by the first program that meets it
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
	uint32_t addr; /* relative to the file's first row */
	uint32_t rule;
};

/* A file as the kernel knows it. The two sides see different devices, but the same size. */
struct unwind_file_key {
	uint64_t inode, size;
};

struct unwind_file {
	uint32_t first, nr; /* nr 0: nothing is known (yet) */
	int64_t bias;	    /* the address of its first row in the file */
};

/* An address space is identified by the start of its stack, which is random, and its process. */
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
	uint64_t ns; /* when it was found, by CLOCK_MONOTONIC: the mapping may have changed since */
};

/* A request to user space: a file that was met, or (inode 0) all files of a process. */
struct unwind_note {
	uint64_t pid, addr;
	struct unwind_file_key file;
};

#endif
