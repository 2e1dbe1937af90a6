// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of formats, the way from a job to its format, and the stream that most formats write
 * to.
 */
#include "export/export.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/safe.h"
#include "base/newfile.h"
#include "base/suggest.h"

/* ---- streams -------------------------------------------------------------------------- */

#define STREAM_LIMIT (1u << 30) /* bytes between two writes */

void export_stream_init(struct export_stream *o, int fd)
{
	*o = (struct export_stream){.fd = fd, .terminal = isatty(fd)};
	buf_init(&o->buf, STREAM_LIMIT);
}

void export_stream_flush(struct export_stream *o)
{
	if (buf_full(&o->buf) && o->rc == 0)
		o->rc = -ENOMEM;
	if (o->terminal)
		buf_clean(&o->buf, 0);
	if (o->rc == 0)
		o->rc = file_write_fd(o->fd, o->buf.data, o->buf.len);
	buf_reset(&o->buf);
}

/* ---- formats -------------------------------------------------------------------------- */

const struct export_format *const export_formats[] = {
	&export_json,	  &export_csv,	  &export_ctf,	     &export_folded,	 &export_speedscope,
	&export_pprof,	  &export_dot,	  &export_callgrind,
#ifdef HAVE_SQLITE
	&export_sqlite,
#endif
	&export_perfetto, &export_chrome, &export_parquet,   &export_clickhouse, NULL,
};

static bool names(const struct export_format *f, const char *text)
{
	const size_t len = strlen(f->name);

	if (strcmp(f->name, text) == 0)
		return true;
	if (f->kind != EXPORT_SERVER || strncmp(f->name, text, len) != 0)
		return false;
	/* A format's name with an s is its encrypted form, as in https. */
	return strncmp(text + len, "://", 3) == 0 || strncmp(text + len, "s://", 4) == 0;
}

const struct export_format *export_find(const char *name, struct spur_error *err)
{
	struct suggest near = suggest_for(name, strlen(name));

	for (size_t i = 0; export_formats[i]; i++) {
		if (names(export_formats[i], name))
			return export_formats[i];
		suggest_try(&near, export_formats[i]->name);
	}
	error_set(err, -EINVAL, "there is no format '%s'%s", name, suggest_hint(&near));
	return NULL;
}

const char *export_setting(const struct export_job *job, const char *name)
{
	for (size_t i = job->nr_settings; i; i--)
		if (strcmp(job->settings[i - 1].name, name) == 0)
			return job->settings[i - 1].value;
	return NULL;
}

const char *export_title(const struct export_job *job)
{
	const char *path = job->traces[0]->dat->path, *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static bool is_part(const struct export_job *job)
{
	const struct walk_options *w = &job->walk;

	return w->since || w->until || w->cpus || job->nr_settings ||
	       (job->select && select_refuses(job->select, job->traces[0]));
}

int export_no_stacks(const struct export_job *job, struct spur_error *err)
{
	const char *path = job->traces[0]->dat->path;

	if (is_part(job))
		return error_set(err, -ENODATA,
				 "%s: there are no stacks and no calls in what was asked for",
				 path);
	return error_set(err, -ENODATA,
			 "%s: there are no stacks and no calls in it; 'spur record -T' or '-p "
			 "function_graph' records them",
			 path);
}

void export_note(const struct export_job *job, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (!job->note)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	job->note(job->note_arg, text);
}

static int check_settings(const struct export_format *f, const struct export_job *job,
			  struct spur_error *err)
{
	for (size_t i = 0; i < job->nr_settings; i++) {
		const char *name = job->settings[i].name;
		const struct export_setting_info *known = f->settings;
		struct suggest near = suggest_for(name, strlen(name));

		for (; known && known->name && strcmp(known->name, name) != 0; known++)
			suggest_try(&near, known->name);
		if (!known || !known->name)
			return error_set(err, -EINVAL, "%s has no setting '%s'%s", f->name, name,
					 suggest_hint(&near));
	}
	return 0;
}

/* Writes to an open descriptor, which stays open. */
static int write_stream(const struct export_format *f, struct export_job *job, int fd,
			const char *name, struct spur_error *err)
{
	struct export_stream out;
	int rc;

	export_stream_init(&out, fd);
	job->out = &out;
	rc = f->run(job, err);
	if (rc == 0)
		export_stream_flush(&out);
	if (out.rc < 0 && (rc == 0 || rc == out.rc))
		rc = error_sys(err, out.rc, "%s", name);
	buf_free(&out.buf);
	job->out = NULL;
	return rc;
}

/* A device or a pipe cannot be replaced by a new file: it is written like standard output. */
static bool is_channel(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && (S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode));
}

static int write_channel(const struct export_format *f, struct export_job *job,
			 struct spur_error *err)
{
	int fd = open(job->target, O_WRONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return error_sys(err, -errno, "%s cannot be written", job->target);
	rc = write_stream(f, job, fd, job->target, err);
	close(fd);
	return rc;
}

static int run_stream(const struct export_format *f, struct export_job *job, struct spur_error *err)
{
	struct newfile file = {0};
	int fd, rc;

	if (strcmp(job->target, "-") == 0)
		return write_stream(f, job, STDOUT_FILENO, "standard output", err);
	if (is_channel(job->target))
		return write_channel(f, job, err);
	fd = newfile_create(&file, job->target, err);
	if (fd < 0)
		return fd;
	rc = write_stream(f, job, fd, job->target, err);
	if (close(fd) != 0 && rc == 0)
		rc = error_sys(err, -errno, "%s", job->target);
	if (rc == 0)
		rc = newfile_keep(&file, err);
	else
		newfile_drop(&file);
	return rc;
}

int export_run(const struct export_format *f, struct export_job *job, struct spur_error *err)
{
	int rc = check_settings(f, job, err);

	if (rc < 0)
		return rc;
	if (f->kind == EXPORT_STREAM)
		return run_stream(f, job, err);
	if (strcmp(job->target, "-") == 0)
		return error_set(err, -EINVAL, "%s cannot be written to standard output", f->name);
	return f->run(job, err);
}
