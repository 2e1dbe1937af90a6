// SPDX-License-Identifier: GPL-2.0-or-later
/* Restoring a file that was cut off. */
#include "dat/restore.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "dat/convert.h"
#include "dat/dat.h"
#include "dat/write.h"

bool dat_restore_is_trace(const char *path)
{
	static const char magic[] = "\x17\x08\x44tracing";
	char head[sizeof(magic) - 1];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof(head));

	if (fd >= 0)
		close(fd);
	return n == (ssize_t)sizeof(head) && memcmp(head, magic, sizeof(head)) == 0;
}

static void note(struct dat_restore *r, const struct dat *d)
{
	r->damage = d->damage.code;
	if (r->damage)
		snprintf(r->damage_text, sizeof(r->damage_text), "%s (at offset %llu)",
			 d->damage.text, (unsigned long long)d->damage.offset);
}

/* Everything that can be read, written again as a file of the same kind. */
static int rewrite(struct dat *d, const char *path, struct dat_restore *r, struct spur_error *err)
{
	const struct dat_convert how = {
		.how = DAT_COPY_MEND, .replace_cut_off = true, .job = r->job};
	int rc = dat_convert(d, r->output ? r->output : path, &how, err);

	note(r, d);
	r->done = DAT_RESTORED_WRITTEN;
	return rc;
}

int dat_restore_file(const char *path, struct dat_restore *r, struct spur_error *err)
{
	struct dat *d;
	int rc = dat_open(path, NULL, &d, err);
	bool unfinished;

	if (rc < 0)
		return rc;
	note(r, d);
	r->done = DAT_RESTORED_NOTHING;
	unfinished = d->unfinished;
	if (unfinished && !r->output) {
		dat_close(d);
		r->done = DAT_RESTORED_FINISHED;
		return dat_finish_file(path, err);
	}
	if (r->damage == -EBADMSG && !r->output)
		rc = error_set(err, -EBADMSG,
			       "%s is not cut off but damaged, and stays as it is; -o writes "
			       "another file with what can be read: %s",
			       path, r->damage_text);
	else if (r->damage || unfinished || r->output)
		rc = rewrite(d, path, r, err);
	dat_close(d);
	return rc;
}
