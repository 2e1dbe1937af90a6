/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TLS over a connected socket that does not block, by GnuTLS, which is loaded when it is first
 * needed: commands that do not talk to a server should not pay for it when they start.
 *
 * The server's certificate must be one of its name that the system (or the given file) trusts.
 */
#ifndef NET_TLS_H
#define NET_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <spur/error.h>

struct tls;

/* `ca`: a file of certificates to trust instead of the system's, or NULL. */
int tls_new(struct tls **out, int fd, const char *host, const char *ca, struct spur_error *err);
void tls_free(struct tls *t);

/* 0, -EAGAIN: when the socket is ready again (tls_writes() says for what), or why not. */
int tls_shake(struct tls *t, struct spur_error *err);

/* How many bytes, 0 at the end, -EAGAIN as above, or another negative errno. */
ssize_t tls_read(struct tls *t, void *to, size_t len);
ssize_t tls_write(struct tls *t, const void *data, size_t len);

/* Whether what was tried last waits for being able to write. */
bool tls_writes(const struct tls *t);

/* Whether bytes have been read off the socket that tls_read() has not handed out. */
bool tls_pending(const struct tls *t);

#endif
