// SPDX-License-Identifier: GPL-2.0-or-later
/* src/view/serve/broker.c: the side that asks, with a broker that is played here. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

#include "view/serve/broker.h"

/* One that asks, and does not wait for long; the other end of its socket. */
static int connect_to(struct broker *b)
{
	const struct timeval most = {.tv_usec = 20000};
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	memset(b, 0, sizeof(*b));
	b->fd = ends[0];
	b->late = -1;
	assert_int_equal(setsockopt(b->fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most)), 0);
	pthread_mutex_init(&b->lock, NULL);
	return ends[1];
}

/* The number of the next question. */
static uint32_t next_question(int peer)
{
	static struct broker_question question;

	assert_true(recv(peer, &question, sizeof(question), 0) > 0);
	return question.number;
}

/* An answer with a path, and a file where there is one. */
static void answer(int peer, uint32_t number, const char *path, int fd)
{
	static struct broker_answer reply;
	char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec io = {&reply, offsetof(struct broker_answer, text)};
	struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1};
	struct cmsghdr *c;

	memset(&reply, 0, sizeof(reply));
	reply.number = number;
	snprintf(reply.status.path, sizeof(reply.status.path), "%s", path);
	if (fd >= 0) {
		m.msg_control = control;
		m.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(int));
	} else if (!*path) {
		reply.rc = -ENOENT;
	}
	assert_true(sendmsg(peer, &m, 0) > 0);
}

/* Whose question was given up, has an answer that is nobody else's. */
static void test_late(void **state)
{
	static struct broker b;
	const int peer = connect_to(&b), file = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct broker_status status;
	struct spur_error err = {0};
	struct stat st, null;
	char path[100];
	uint32_t first;
	int fd;

	assert_int_equal(broker_finish(&b, path, sizeof(path), &err), -EPIPE);
	first = next_question(peer);
	answer(peer, first, "/late", file);
	answer(peer, first + 1, "/right", -1);
	assert_int_equal(broker_status(&b, &status, &err), 0);
	assert_string_equal(status.path, "/right");
	assert_int_equal(next_question(peer), first + 1);
	/* A recording that came too late is not lost. */
	answer(peer, first + 2, "", -1);
	fd = broker_finish(&b, path, sizeof(path), &err);
	assert_true(fd >= 0);
	assert_string_equal(path, "/late");
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(fstat(file, &null), 0);
	assert_true(st.st_rdev == null.st_rdev);
	close(fd);
	answer(peer, first + 3, "", -1);
	assert_int_equal(broker_finish(&b, path, sizeof(path), &err), -ENOENT);
	close(file);
	close(peer);
	close(b.fd);
	pthread_mutex_destroy(&b.lock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
