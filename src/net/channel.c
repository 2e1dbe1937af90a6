// SPDX-License-Identifier: GPL-2.0-or-later
#include "net/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"

#define TURN_MS	      200 /* a stop is noticed this late, at most */
#define MAX_ADDRESSES 8	  /* that are tried of a name */

uint64_t net_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static bool stopped(const volatile int *stop)
{
	return stop && *stop;
}

/* Milliseconds to wait now; 0: the deadline is over. */
static int turn_of(uint64_t deadline)
{
	const uint64_t now = net_now();
	const uint64_t left = deadline > now ? (deadline - now + 999999) / 1000000 : 0;

	return left < TURN_MS ? (int)left : TURN_MS;
}

int net_sleep(uint64_t ns, const volatile int *stop)
{
	const uint64_t deadline = net_now() + ns;

	for (int ms; (ms = turn_of(deadline)) > 0;) {
		if (stopped(stop))
			return -EINTR;
		poll(NULL, 0, ms);
	}
	return 0;
}

/* What is possible of what was asked for, or -ETIMEDOUT, -EINTR. */
static int wait_for(const struct channel *c, short events, uint64_t deadline)
{
	for (;;) {
		struct pollfd p = {.fd = c->fd, .events = events};
		const int ms = turn_of(deadline);
		const int n = poll(&p, 1, ms);

		if (stopped(c->target->stop))
			return -EINTR;
		if (n > 0)
			return p.revents;
		if (n < 0 && errno != EINTR)
			return -errno;
		if (!ms)
			return -ETIMEDOUT;
	}
}

void channel_init(struct channel *c, const struct channel_target *target)
{
	*c = (struct channel){.target = target, .fd = -1};
}

void channel_close(struct channel *c)
{
	tls_free(c->tls);
	c->tls = NULL;
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}

static int connect_one(struct channel *c, const struct addrinfo *at, uint64_t deadline)
{
	const int on = 1;
	socklen_t len = sizeof(int);
	int failed = 0, rc;

	c->fd = socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (c->fd < 0)
		return -errno;
	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (connect(c->fd, at->ai_addr, at->ai_addrlen) == 0)
		return 0;
	if (errno != EINPROGRESS)
		return -errno;
	rc = wait_for(c, POLLOUT, deadline);
	if (rc < 0)
		return rc;
	if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &failed, &len) != 0)
		return -errno;
	return -failed;
}

static int connect_any(struct channel *c, const struct addrinfo *list, uint64_t deadline)
{
	int rc = -EHOSTUNREACH;

	for (int i = 0; list && i < MAX_ADDRESSES; list = list->ai_next, i++) {
		rc = connect_one(c, list, deadline);
		if (rc == 0 || rc == -EINTR)
			return rc;
		channel_close(c);
	}
	return rc;
}

static int shake(struct channel *c, uint64_t deadline, struct spur_error *err)
{
	int rc = tls_new(&c->tls, c->fd, c->target->host, c->target->ca, err);

	while (rc == 0) {
		rc = tls_shake(c->tls, err);
		if (rc != -EAGAIN)
			return rc;
		rc = wait_for(c, tls_writes(c->tls) ? POLLOUT : POLLIN, deadline);
		if (rc < 0)
			return error_sys(err, rc, "TLS");
		rc = 0;
	}
	return rc;
}

int channel_open(struct channel *c, uint64_t deadline, struct spur_error *err)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
	const struct channel_target *t = c->target;
	struct addrinfo *list = NULL;
	int rc = getaddrinfo(t->host, t->port, &hints, &list);

	if (rc != 0)
		return error_set(err, -EHOSTUNREACH, "%s", gai_strerror(rc));
	rc = connect_any(c, list, deadline);
	freeaddrinfo(list);
	if (rc < 0)
		error_sys(err, rc, "cannot connect");
	else if (t->tls)
		rc = shake(c, deadline, err);
	if (rc < 0)
		channel_close(c);
	return rc;
}

bool channel_stale(const struct channel *c)
{
	struct pollfd p = {.fd = c->fd, .events = POLLIN};

	return poll(&p, 1, 0) != 0;
}

static bool would_block(ssize_t n)
{
	return n == -EAGAIN || n == -EWOULDBLOCK || n == -EINTR;
}

ssize_t channel_send(struct channel *c, const void *data, size_t len, uint64_t deadline)
{
	for (;;) {
		/* With TLS the server may have to be heard before anything can be said to it. */
		const short heed = c->tls ? 0 : POLLIN;
		ssize_t n;
		int rc;

		if (c->tls) {
			n = tls_write(c->tls, data, len);
		} else {
			n = send(c->fd, data, len, MSG_NOSIGNAL);
			n = n < 0 ? -errno : n;
		}
		if (!would_block(n))
			return n;
		rc = wait_for(c, !c->tls || tls_writes(c->tls) ? POLLOUT | heed : POLLIN, deadline);
		if (rc < 0)
			return rc;
		if (!c->tls && rc & POLLIN)
			return 0;
	}
}

ssize_t channel_read(struct channel *c, void *to, size_t len, uint64_t deadline)
{
	for (;;) {
		ssize_t n;
		int rc;

		if (c->tls) {
			n = tls_read(c->tls, to, len);
		} else {
			n = recv(c->fd, to, len, 0);
			n = n < 0 ? -errno : n;
		}
		if (!would_block(n))
			return n;
		rc = wait_for(c, c->tls && tls_writes(c->tls) ? POLLOUT : POLLIN, deadline);
		if (rc < 0)
			return rc;
	}
}
