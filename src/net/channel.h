/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A connection to a server, with or without TLS, in which nothing waits longer than it may.
 *
 * Deadlines are times of CLOCK_MONOTONIC in nanoseconds: net_now() plus what is granted. Only the
 * resolving of names has a time of its own, the system's.
 */
#ifndef NET_CHANNEL_H
#define NET_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <spur/error.h>

#include "net/tls.h"

struct channel_target {
	const char *host; /* a name or an address */
	const char *port; /* digits */
	bool tls;
	const char *ca;		  /* as in tls_new() */
	const volatile int *stop; /* waiting ends when it becomes non-zero, with -EINTR; or NULL */
};

struct channel {
	const struct channel_target *target;
	int fd; /* -1: it is not open */
	struct tls *tls;
};

uint64_t net_now(void);

/* Sleeps so many nanoseconds; -EINTR after a stop. */
int net_sleep(uint64_t ns, const volatile int *stop);

void channel_init(struct channel *c, const struct channel_target *target);
int channel_open(struct channel *c, uint64_t deadline, struct spur_error *err);
void channel_close(struct channel *c);

/* Whether the other side has ended an idle connection, or said something unasked. */
bool channel_stale(const struct channel *c);

/*
 * Sends as much as goes at once, at least a byte: how many; 0: there is something to read first;
 * -ETIMEDOUT, -EINTR, -EPIPE …
 */
ssize_t channel_send(struct channel *c, const void *data, size_t len, uint64_t deadline);

/* How many bytes were read, 0: the connection has ended, or a negative errno. */
ssize_t channel_read(struct channel *c, void *to, size_t len, uint64_t deadline);

#endif
