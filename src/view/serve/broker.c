// SPDX-License-Identifier: GPL-2.0-or-later
/* The side of the process that serves: a question, an answer, one at a time. */
#include "view/serve/broker.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "view/serve/broker_wire.h"

#define MAX_WAIT 120 /* seconds, for a recording's end: its file is put in order then */

/* Nothing that the other process has open is the broker's business. */
static void close_others(int fd)
{
	syscall(SYS_close_range, 3, fd - 1, 0);
	syscall(SYS_close_range, fd + 1, ~0u, 0);
}

int broker_start(uid_t uid, gid_t gid, struct broker **out, struct spur_error *err)
{
	const struct timeval most = {.tv_sec = MAX_WAIT};
	struct broker *b;
	int ends[2];

	*out = NULL;
	if (geteuid() != 0)
		return error_set(err, -EPERM, "recording needs root");
	b = calloc(1, sizeof(*b));
	if (!b)
		return error_set(err, -ENOMEM, "out of memory");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
		free(b);
		return error_sys(err, -errno, "the broker of recordings");
	}
	b->pid = fork();
	if (b->pid == 0) {
		close_others(ends[1]);
		broker_serve(ends[1], uid, gid);
		_exit(0);
	}
	close(ends[1]);
	if (b->pid < 0) {
		int rc = error_sys(err, -errno, "the broker of recordings");

		close(ends[0]);
		free(b);
		return rc;
	}
	b->fd = ends[0];
	b->late = -1;
	setsockopt(b->fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most));
	pthread_mutex_init(&b->lock, NULL);
	*out = b;
	return 0;
}

void broker_end(struct broker *b)
{
	if (!b)
		return;
	close(b->fd);
	if (b->late >= 0)
		close(b->late);
	while (waitpid(b->pid, NULL, 0) < 0 && errno == EINTR)
		;
	pthread_mutex_destroy(&b->lock);
	free(b);
}

/* ---- questions; all with the lock ---- */

static int add_text(struct broker_question *a, const char *text, struct spur_error *err)
{
	const size_t len = strlen(text) + 1;

	if (len > sizeof(a->text) - a->len)
		return error_set(err, -E2BIG, "these are too many events");
	memcpy(a->text + a->len, text, len);
	a->len += (uint32_t)len;
	a->nr++;
	return 0;
}

/* The descriptor that came with an answer, or -1. */
static int take_fd(struct msghdr *m)
{
	int fd = -1;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
		    c->cmsg_len == CMSG_LEN(sizeof(int)))
			memcpy(&fd, CMSG_DATA(c), sizeof(int));
	return fd;
}

/* One answer, whatever question it is of. */
static int take_answer(struct broker *b, int *fd, struct spur_error *err)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec io = {&b->answer, sizeof(b->answer)};
	struct msghdr m = {
		.msg_iov = &io,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	const ssize_t n = recvmsg(b->fd, &m, MSG_CMSG_CLOEXEC);

	*fd = -1;
	if (n <= 0)
		return error_set(err, -EPIPE, "the process that records does not answer");
	*fd = take_fd(&m);
	if (n < (ssize_t)offsetof(struct broker_answer, text) ||
	    b->answer.len > sizeof(b->answer.text) ||
	    (size_t)n != offsetof(struct broker_answer, text) + b->answer.len)
		return error_set(err, -EPROTO, "the process that records answers nonsense");
	b->answer.error.text[sizeof(b->answer.error.text) - 1] = '\0';
	b->answer.status.path[sizeof(b->answer.status.path) - 1] = '\0';
	return 0;
}

/* The answer to a question that was given up: a recording is there for the next who wants it. */
static void keep_late(struct broker *b, int fd)
{
	if (fd < 0)
		return;
	if (b->late >= 0)
		close(b->late);
	b->late = fd;
	memcpy(b->late_path, b->answer.status.path, sizeof(b->late_path));
}

static int ask(struct broker *b, enum broker_what what, int *fd, struct spur_error *err)
{
	const ssize_t n = offsetof(struct broker_question, text) + b->question.len;
	int rc;

	b->question.what = what;
	b->question.number++;
	if (send(b->fd, &b->question, (size_t)n, MSG_NOSIGNAL) != n)
		return error_set(err, -EPIPE, "the process that records does not answer");
	while ((rc = take_answer(b, fd, err)) == 0 && b->answer.number != b->question.number) {
		keep_late(b, *fd);
		*fd = -1;
	}
	if (rc == 0 && b->answer.rc < 0)
		rc = error_set(err, b->answer.rc, "%s", b->answer.error.text);
	return rc;
}

static void begin(struct broker *b)
{
	pthread_mutex_lock(&b->lock);
	b->question.nr = b->question.len = b->question.seconds = 0;
}

/* Ends a question; a descriptor that is not expected is closed. */
static int end(struct broker *b, int rc, int fd)
{
	pthread_mutex_unlock(&b->lock);
	if (fd >= 0)
		close(fd);
	return rc;
}

int broker_events(struct broker *b, const char *match, struct buf *names, uint64_t *total,
		  struct spur_error *err)
{
	int fd = -1, rc;

	begin(b);
	rc = add_text(&b->question, match, err);
	if (rc == 0)
		rc = ask(b, BROKER_EVENTS, &fd, err);
	if (rc == 0) {
		buf_put(names, b->answer.text, b->answer.len);
		*total = b->answer.total;
	}
	return end(b, rc, fd);
}

int broker_record(struct broker *b, const struct broker_wish *wish, struct spur_error *err)
{
	int fd = -1, rc;

	begin(b);
	b->question.seconds = wish->seconds;
	rc = add_text(&b->question, wish->filter ? wish->filter : "", err);
	for (size_t i = 0; i < wish->nr && rc == 0; i++)
		rc = add_text(&b->question, wish->events[i], err);
	if (rc == 0)
		rc = ask(b, BROKER_RECORD, &fd, err);
	return end(b, rc, fd);
}

int broker_status(struct broker *b, struct broker_status *out, struct spur_error *err)
{
	int fd = -1, rc;

	begin(b);
	rc = ask(b, BROKER_STATUS, &fd, err);
	if (rc == 0)
		*out = b->answer.status;
	return end(b, rc, fd);
}

int broker_finish(struct broker *b, char *path, size_t cap, struct spur_error *err)
{
	int fd = -1, rc;

	begin(b);
	rc = ask(b, BROKER_FINISH, &fd, err);
	if (rc == 0 && fd < 0)
		rc = error_set(err, -EPROTO, "the process that records gave no file");
	if (rc == -ENOENT && b->late >= 0) {
		fd = b->late;
		b->late = -1;
		snprintf(path, cap, "%s", b->late_path);
		rc = 0;
	} else if (rc == 0) {
		snprintf(path, cap, "%s", b->answer.status.path);
	}
	if (rc < 0)
		return end(b, rc, fd);
	end(b, 0, -1);
	return fd;
}
