// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ways to move pages from the kernel to a file.
 *
 * splice() hands the ring buffer's own pages to the file system through a pipe, whole pages only;
 * a page that is still being written is left, and read at the end. Recording 4 million events
 * this way takes a quarter of the time that the mapped ring buffer takes, which needs two system
 * calls and a copy for every page.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "record/stream_parts.h"

/* ---- read ---- */

static int read_open(struct stream *s)
{
	s->pages = malloc(MOVE_BYTES > s->page_size ? MOVE_BYTES : s->page_size);
	return s->pages ? 0 : -ENOMEM;
}

static void read_close(struct stream *s)
{
	free(s->pages);
	s->pages = NULL;
}

static int write_pages(struct stream *s, struct dat_out *out, size_t n)
{
	return s->queue ? queue_put(s->queue, out, s, s->pages, n)
			: dat_out_pages(out, s->buffer, s->cpu, s->pages, n / s->page_size);
}

/* Reading takes a page that is not full as well: that is for the end only, when it is the last. */
static int64_t read_move(struct stream *s, struct dat_out *out, bool rest)
{
	size_t n = 0;
	int rc = 0;

	(void)rest;
	while (n + s->page_size <= MOVE_BYTES) {
		ssize_t got = read(s->fd, s->pages + n, s->page_size);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno != EAGAIN)
			rc = -errno;
		if (got <= 0)
			break;
		n += s->page_size;
	}
	for (size_t i = 0, k = stream_sample_size(s, n / s->page_size); i < k; i++)
		stream_sample(s, s->pages + i * s->page_size);
	/* What has been taken from the kernel is written even if it gives no more. */
	if (n)
		rc = write_pages(s, out, n);
	return rc < 0 ? rc : (int64_t)n;
}

const struct mover mover_read = {"read", read_open, read_close, read_move};

/* ---- splice ---- */

static void splice_close(struct stream *s)
{
	close(s->pipe[0]);
	close(s->pipe[1]);
	read_close(s);
}

static int splice_open(struct stream *s)
{
	int rc = read_open(s);

	if (rc < 0)
		return rc;
	if (pipe2(s->pipe, O_CLOEXEC) != 0) {
		rc = -errno;
		read_close(s);
		return rc;
	}
	/* A larger pipe means fewer calls; it works with any. */
	fcntl(s->pipe[0], F_SETPIPE_SZ, MOVE_BYTES);
	return 0;
}

/* Reads some of the pages back that have passed by unseen. */
static void sample_file(struct stream *s, const struct dat_out *out, uint64_t place, uint64_t n)
{
	size_t pages = stream_sample_size(s, n / s->page_size);

	for (size_t i = 0; i < pages; i++)
		if (pread(dat_out_fd(out), s->pages, s->page_size,
			  (off_t)(place + i * s->page_size)) == (ssize_t)s->page_size)
			stream_sample(s, s->pages);
}

/*
 * Writes what is in the pipe. What has been written in whole pages counts even when the rest
 * fails.
 */
static int empty_pipe(struct stream *s, struct dat_out *out, size_t n)
{
	uint64_t room, place = dat_out_place(out, s->buffer, s->cpu, &room);
	loff_t at = (loff_t)place;
	const bool full = n > room;
	int rc = 0;

	n = full ? (size_t)(room / s->page_size * s->page_size) : n;
	while (n && rc == 0) {
		ssize_t put = splice(s->pipe[0], NULL, dat_out_fd(out), &at, n, SPLICE_F_MOVE);

		if (put > 0)
			n -= (size_t)put;
		else if (put == 0 || errno != EINTR)
			rc = put == 0 ? -EIO : -errno;
	}
	sample_file(s, out, place, (uint64_t)at - place);
	dat_out_advance(out, s->buffer, s->cpu,
			((uint64_t)at - place) / s->page_size * s->page_size);
	return rc ? rc : full ? -EFBIG : 0;
}

static int64_t splice_move(struct stream *s, struct dat_out *out, bool rest)
{
	ssize_t n = splice(s->fd, NULL, s->pipe[1], NULL, MOVE_BYTES,
			   SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
	int rc;

	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return -errno;
	if (n <= 0)
		return rest ? read_move(s, out, true) : 0;
	rc = empty_pipe(s, out, (size_t)n);
	return rc < 0 ? rc : n;
}

const struct mover mover_splice = {"splice", splice_open, splice_close, splice_move};
