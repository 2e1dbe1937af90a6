// SPDX-License-Identifier: GPL-2.0-or-later
/* The whole of a file into another one. */
#include "dat/convert.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "dat/dat.h"
#include "dat/write.h"

bool dat_is_file(const struct dat *d, const char *path)
{
	struct stat ours, other;

	return fstat(d->fd, &ours) == 0 && stat(path, &other) == 0 && ours.st_dev == other.st_dev &&
	       ours.st_ino == other.st_ino;
}

/* Version 6 knows no compressors: what is not said explicitly gives way. */
static struct dat_out_options out_options(const struct dat *from, const struct dat_convert *opt)
{
	struct dat_out_options o = {
		.version = opt->version ? opt->version : from->version,
		.compression = opt->compression,
	};

	if (!o.compression)
		o.compression = o.version >= 7 ? from->compression : "none";
	return o;
}

static int write_file(struct dat *from, int fd, const char *path, const struct dat_convert *opt,
		      struct spur_error *err)
{
	struct dat_out_options options = out_options(from, opt);
	struct dat_contents c = {0};
	struct dat_out *out;
	int rc = dat_copy_contents(from, &c, err);

	if (rc == 0 && opt->edit)
		rc = opt->edit(opt->edit_arg, from, &c, err);
	if (rc < 0) {
		close(fd);
		return rc;
	}
	rc = dat_out_create_fd(fd, path, &options, &c, &out, err);
	if (rc < 0)
		return rc;
	rc = dat_copy_data(from, &c, out, opt->how, &opt->job, err);
	if (rc < 0) {
		dat_out_abandon(out);
		return rc;
	}
	return dat_out_finish(out, &c, err);
}

/* What has become of the input may be known only now that all of it has been read. */
static int check_replacing(const struct dat *from, const char *path, const struct dat_convert *opt,
			   struct spur_error *err)
{
	if (!from->damage.code || !dat_is_file(from, path) ||
	    (from->damage.code == -ENODATA &&
	     (opt->replace_cut_off || from->damage.offset == DAT_NOWHERE)))
		return 0;
	return error_set(err, from->damage.code,
			 "%s is not replaced, because it is damaged: %s (at offset %llu)",
			 from->path, from->damage.text, (unsigned long long)from->damage.offset);
}

int dat_convert_beside(struct dat *from, const char *path, const struct dat_convert *opt,
		       struct newfile *file, struct spur_error *err)
{
	int fd = newfile_create(file, path, err), rc;

	if (fd < 0)
		return fd;
	rc = write_file(from, fd, path, opt, err);
	if (rc == 0)
		rc = check_replacing(from, path, opt, err);
	if (rc < 0)
		newfile_drop(file);
	return rc;
}

int dat_convert(struct dat *from, const char *path, const struct dat_convert *opt,
		struct spur_error *err)
{
	struct newfile file;
	int rc = dat_convert_beside(from, path, opt, &file, err);

	return rc < 0 ? rc : newfile_keep(&file, err);
}
