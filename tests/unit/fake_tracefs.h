/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A directory with plain files that stands for tracefs: what is written to it can be read again. It
 * shows what is written where; what a kernel makes of it is tested with kernels.
 */
#ifndef TESTS_FAKE_TRACEFS_H
#define TESTS_FAKE_TRACEFS_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tracefs/tracefs.h"

static inline void fake_file(const struct tracefs *fs, const char *file, const char *text)
{
	char path[600];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", fs->path, file);
	for (char *slash = path + strlen(fs->path) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static inline void fake_tracefs(struct tracefs *fs)
{
	memset(fs, 0, sizeof(*fs));
	snprintf(fs->path, sizeof(fs->path), "%s/spur-fake-XXXXXX",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	assert_non_null(mkdtemp(fs->path));
	fake_file(fs, "trace", "");
	fake_file(fs, "tracing_on", "1\n");
	fake_file(fs, "instances/readme", "");
}

static inline int fake_remove(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static inline void fake_end(const struct tracefs *fs)
{
	nftw(fs->path, fake_remove, 16, FTW_DEPTH | FTW_PHYS);
}

/* What a file says, in memory of this function's. */
static inline const char *fake_text(const struct tracefs *fs, const char *file)
{
	static char text[4096];
	char path[600];
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "%s/%s", fs->path, file);
	f = fopen(path, "r");
	if (!f)
		return "(no file)";
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	fclose(f);
	return text;
}

#endif
