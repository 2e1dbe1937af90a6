/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * HTTP requests by libcurl. The library is loaded when it is first needed, so that other commands
 * start faster.
 *
 * One request follows the other over a connection that stays open as long as the server keeps it.
 * Redirections are not followed, and no proxy of the environment is used. With TLS the server's
 * certificate must have its name, and the system (or the given file) must trust it.
 */
#ifndef NET_HTTP_H
#define NET_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <spur/error.h>

#include "base/buf.h"

#define HTTP_SLOWEST (16u << 10) /* bytes a second that a server must accept of a body, at least */

struct http_target {
	const char *host; /* a name or an address */
	const char *port; /* digits */
	bool tls;
	const char *ca;		  /* a file of certificates instead of the system's, or NULL */
	const volatile int *stop; /* waiting ends when it becomes non-zero, with -EINTR; or NULL */
};

struct http {
	struct http_target target;
	const char *headers; /* more of them, each with its line end; or NULL */
	uint64_t timeout;    /* nanoseconds for connecting, and for the answer */
	uint64_t patience;   /* if not 0, for an answer in pieces: nanoseconds for the next piece */
	struct http_connection *connection;
};

struct http_request {
	const char *path; /* and query, encoded */
	const void *body;
	size_t len;
};

struct http_answer {
	int status; /* 200, 404, …; 0: none has come yet */
	bool done;
	struct buf body; /* its limit is the largest body accepted */

	/* Is called for each header; may be NULL. */
	void (*header)(void *arg, const char *name, const char *value);
	void *header_arg;
};

/* The target's texts and the headers must outlive the connection. */
void http_init(struct http *h, const struct http_target *target, const char *headers,
	       uint64_t timeout);
void http_done(struct http *h);

void http_answer_init(struct http_answer *a, size_t body_limit);
void http_answer_free(struct http_answer *a);

/*
 * Posts a request and reads the answer, whatever its status. 0 when there is one. Otherwise a
 * negative errno, and *sent says whether the server may have got the request: it is never sent
 * twice.
 */
int http_post(struct http *h, const struct http_request *q, struct http_answer *a, bool *sent,
	      struct spur_error *err);

/*
 * The same for an answer of any length: http_begin() ends when its head has come, and each
 * http_more() reads a piece, until a->done. The caller removes from a->body what it has used. There
 * is no limit of time as long as the server sends data; a server that sends very little counts as
 * silent. http_abort() ends the request early. The request may be sent twice, so that must do no
 * harm. Its body must stay until the answer is done.
 */
int http_begin(struct http *h, const struct http_request *q, struct http_answer *a,
	       struct spur_error *err);
int http_more(struct http *h, struct http_answer *a, struct spur_error *err);
void http_abort(struct http *h);

/* Appends text as part of a query; special characters are encoded. */
void http_encode(struct buf *to, const char *text, size_t len);

/* Nanoseconds of CLOCK_MONOTONIC. */
uint64_t net_now(void);
/* Sleeps so many nanoseconds; -EINTR after a stop. */
int net_sleep(uint64_t ns, const volatile int *stop);

#endif
