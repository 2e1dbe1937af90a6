/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing a file again: as another version, with another compressor, or whole. */
#ifndef DAT_CONVERT_H
#define DAT_CONVERT_H

#include "base/newfile.h"
#include "dat/copy.h"

struct dat_convert {
	unsigned int version;	 /* 6 or 7; 0: that of the input */
	const char *compression; /* "none", "zlib", "zstd", "any"; NULL: that of the input */
	enum dat_copy_how how;
	/*
	 * Called with the contents before they are written, to change them; what it adds lives as
	 * long as the input, in its arena. May be NULL.
	 */
	int (*edit)(void *arg, struct dat *from, struct dat_contents *c, struct spur_error *err);
	void *edit_arg;
	bool replace_cut_off; /* an input that is cut off may be replaced by what there is of it */
	struct dat_job job;
};

/*
 * Writes all that an open file says and contains into another one, which may be the same: it gets
 * its name when it is complete. What cannot be read is missing in it and noted as damage of the
 * input; such an input is not replaced.
 */
int dat_convert(struct dat *from, const char *path, const struct dat_convert *opt,
		struct spur_error *err);

/* The same up to the name, which newfile_keep() then gives it; newfile_drop() gives it up. */
int dat_convert_beside(struct dat *from, const char *path, const struct dat_convert *opt,
		       struct newfile *file, struct spur_error *err);

/* Whether a path leads to the very file that is open. */
bool dat_is_file(const struct dat *d, const char *path);

#endif
