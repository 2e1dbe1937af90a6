// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A file that keeps only the last part of a recording: two files take turns, each with half of
 * what may be kept, and become one at the end. What is copied then is no more than what is kept.
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/newfile.h"
#include "dat/copy.h"
#include "dat/dat.h"
#include "record/session_parts.h"

/* Appends the data of a piece, which has the same buffers and CPUs. */
static int add_piece(const char *path, struct dat_out *to, struct spur_error *err)
{
	const struct dat_job job = {0};
	struct dat_contents c;
	struct dat *d;
	int rc = dat_open(path, NULL, &d, err);

	if (rc < 0)
		return rc;
	rc = dat_copy_contents(d, &c, err);
	if (rc == 0)
		rc = dat_copy_data(d, &c, to, DAT_COPY_EXACT, &job, err);
	dat_close(d);
	return rc;
}

static int join(const struct session *s, const char *const *pieces, size_t nr,
		struct spur_error *err)
{
	struct dat_out_options opt = {.version = s->opt->file.version,
				      .compression = s->opt->file.compression,
				      .sparse = true};
	struct newfile file;
	struct dat_out *out;
	int fd = newfile_create(&file, session_output(s), err), rc;

	if (fd < 0)
		return fd;
	rc = dat_out_create_fd(fd, session_output(s), &opt, &s->meta.contents, &out, err);
	for (size_t i = 0; i < nr && rc == 0; i++)
		rc = add_piece(pieces[i], out, err);
	if (rc == 0)
		rc = dat_out_finish(out, &s->meta.contents, err);
	else
		dat_out_abandon(out);
	if (rc == 0)
		rc = newfile_keep(&file, err);
	newfile_drop(&file);
	return rc;
}

int session_join(struct session *s, struct spur_error *err)
{
	const char *const both[] = {s->previous, s->path};
	const size_t nr = s->previous[0] ? 2 : 1;
	const char *const *pieces = both + 2 - nr;
	int rc = join(s, pieces, nr, err);

	if (rc < 0)
		return error_sys(err, rc, "%s: joining its parts, which are kept",
				 session_output(s));
	for (size_t i = 0; i < nr; i++)
		unlink(pieces[i]);
	snprintf(s->res->file, sizeof(s->res->file), "%s", session_output(s));
	s->res->last.files = 1;
	return 0;
}
