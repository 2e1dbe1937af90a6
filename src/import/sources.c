// SPDX-License-Identifier: LGPL-2.1-or-later
/* The table of sources, and opening whatever one of them recognises. */
#include "import/sources.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/scoped.h"
#include "base/suggest.h"
#include "dat/dat.h"
#include "dat/restore.h"
#include "import/import.h"

const struct import_source *const sources[] = {
	&source_ctf,
	&source_perf,
	&source_text,
	NULL,
};

static const char parquet_magic[] = {'P', 'A', 'R', '1'};

/* False when it cannot be looked at. */
static bool look_at(struct source_input *in, uint8_t *head)
{
	struct stat st;
	int64_t n;

	if (fstat(in->fd, &st) < 0)
		return false;
	in->folder = S_ISDIR(st.st_mode);
	in->head = head;
	if (in->folder)
		return true;
	if (!S_ISREG(st.st_mode))
		return false;
	n = file_read_at(in->fd, head, SOURCE_HEAD, 0);
	in->size = (uint64_t)st.st_size;
	in->head_size = n < 0 ? 0 : (size_t)n;
	return n >= 0;
}

static bool begins(const struct source_input *in, const void *magic, size_t len)
{
	return in->head_size >= len && memcmp(in->head, magic, len) == 0;
}

static const struct import_source *recognise(const struct source_input *in)
{
	if (begins(in, DAT_MAGIC, DAT_MAGIC_SIZE))
		return NULL;
	for (size_t i = 0; sources[i]; i++)
		if (sources[i]->recognise(in))
			return sources[i];
	return NULL;
}

const struct import_source *source_of(int fd)
{
	uint8_t head[SOURCE_HEAD];
	struct source_input in = {.fd = fd};

	return look_at(&in, head) ? recognise(&in) : NULL;
}

/* A folder that an export to Parquet has filled. */
static bool holds_parquet(int fd)
{
	const int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	scoped_dir d = again < 0 ? NULL : fdopendir(again);
	const struct dirent *e;
	bool found = false;

	if (!d && again >= 0)
		close(again);
	while (d && !found && (e = readdir(d)) != NULL)
		found = strncmp(e->d_name, "table=", 6) == 0 ||
			strncmp(e->d_name, "date=", 5) == 0 ||
			fnmatch("*.parquet", e->d_name, 0) == 0;
	return found;
}

/* Whether the path is in a folder that a source recognises. */
static bool is_part(const char *path)
{
	char *folder = file_parent(path);
	scoped_fd fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	bool found = fd >= 0 && source_of(fd) != NULL;

	free(folder);
	return found;
}

/*
 * Whether there is something at the path that spur opens: a trace.dat, complete or not, what a
 * source recognises, or a file of it, the pages of a CPU that trace-cmd has left, Parquet. What
 * exists and cannot be read counts as well: it may be one.
 */
static bool is_recording(const char *path)
{
	/* Without O_NONBLOCK, opening a pipe without a writer would wait for one. */
	scoped_fd fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct source_input in = {.path = path, .fd = fd};
	uint8_t head[SOURCE_HEAD];
	bool found;

	if (fd < 0)
		return errno == EACCES || errno == EPERM;
	found = look_at(&in, head) &&
		(begins(&in, DAT_MAGIC, DAT_MAGIC_SIZE) ||
		 begins(&in, parquet_magic, sizeof(parquet_magic)) || recognise(&in) != NULL ||
		 (in.folder && holds_parquet(fd)) || (in.size && dat_leftover_is_called(path)) ||
		 (in.size && is_part(path)));
	return found;
}

int source_spare(const char *path, const char *how, struct spur_error *err)
{
	if (!is_recording(path))
		return 0;
	return error_set(err, -EEXIST, "%s is a recording and is not replaced; %s", path, how);
}

const struct import_source *source_find(const char *name, struct spur_error *err)
{
	struct suggest near = suggest_for(name, strlen(name));

	for (size_t i = 0; sources[i]; i++) {
		if (strcmp(sources[i]->name, name) == 0)
			return sources[i];
		suggest_try(&near, sources[i]->name);
	}
	error_set(err, -EINVAL, "there is no kind of trace '%s'%s", name, suggest_hint(&near));
	return NULL;
}

static int convert(const struct source_job *job, const struct import_source *s,
		   const struct source_input *in, int to, const char *name,
		   struct source_result *result, struct spur_error *err)
{
	struct import im;
	int rc = import_init(&im, job->path);

	im.job = job->job;
	im.from = s->about;
	if (rc == 0)
		rc = s->read(in, &im, err);
	if (rc == 0)
		rc = im.rc;
	if (rc < 0) {
		close(to);
		error_sys(err, rc, "%s", job->path);
	} else {
		rc = import_write(&im, to, name, &job->out, err);
	}
	*result = (struct source_result){im.events, im.lost, im.cut, .damage = im.damage};
	memcpy(result->remark, im.remark, sizeof(result->remark));
	import_free(&im);
	return rc;
}

int source_convert(const struct source_job *job, int from, int to, const char *name,
		   struct source_result *result, struct spur_error *err)
{
	uint8_t head[SOURCE_HEAD];
	struct source_input in = {.path = job->path, .fd = from};
	const struct import_source *s = NULL;

	if (look_at(&in, head))
		s = job->source ? job->source : recognise(&in);
	if (!s) {
		close(to);
		return error_set(err, -EBADMSG, "%s is no trace that can be imported", job->path);
	}
	return convert(job, s, &in, to, name, result, err);
}

/* A nameless file with what the open one becomes; or a negative errno. */
static int convert_nameless(const char *path, int from, struct source_result *result,
			    struct spur_error *err)
{
	const struct source_job job = {.path = path};
	int to = spool_file(), keep, rc;

	if (to < 0)
		return error_sys(err, to, "%s: a temporary file in %s", path, file_temp());
	keep = dup(to);
	if (keep < 0) {
		rc = -errno;
		close(to);
		return error_sys(err, rc, "%s", path);
	}
	rc = source_convert(&job, from, to, path, result, err);
	if (rc < 0) {
		close(keep);
		return rc;
	}
	return keep;
}

int source_open_fd(int fd, const char *name, struct dat **out, struct spur_error *err)
{
	struct source_result result = {0};
	int rc;

	*out = NULL;
	if (source_of(fd)) {
		const int made = convert_nameless(name, fd, &result, err);

		close(fd);
		if (made < 0)
			return made;
		fd = made;
	}
	rc = dat_open_fd(fd, name, NULL, out, err);
	/* Damage of the original is damage of its conversion. */
	if (rc == 0 && result.damage)
		dat_note_damage(*out, result.damage, 0, "%s", result.remark);
	return rc;
}

int source_open(const char *path, struct dat **out, struct spur_error *err)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);

	*out = NULL;
	return fd < 0 ? error_sys(err, -errno, "%s", path) : source_open_fd(fd, path, out, err);
}
