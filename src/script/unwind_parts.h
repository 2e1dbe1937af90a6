/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to unwind.c and unwind_process.c. */
#ifndef SCRIPT_UNWIND_PARTS_H
#define SCRIPT_UNWIND_PARTS_H

#include <sys/stat.h>

#include "base/map.h"
#include "script/unwind.h"
#include "symbols/cfi.h"

/* A file that has been read. */
struct known_file {
	dev_t dev;
	ino_t inode;
	off_t size;
	time_t changed;
	struct unwind_file file;
};

/* When a process was looked at. */
struct known_process {
	pid_t pid;
	uint64_t ns;
};

struct unwinder {
	struct kmap *files, *pages;
	struct unwind_row *rows; /* of the maps' memory */
	struct cfi_rule *rules;
	uint32_t nr_rows, nr_rules;
	struct map numbers; /* of rules, by what they are */
	struct {
		struct known_file *at;
		size_t n, cap;
	} known;
	struct {
		struct known_process *at;
		size_t n, cap;
	} processes;
	bool full;
};

#endif
