/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asking an HTTP/1.1 server: one request after the other over a connection that is kept as long as
 * the server keeps it.
 */
#ifndef NET_HTTP_H
#define NET_HTTP_H

#include "base/buf.h"
#include "net/answer.h"
#include "net/channel.h"

#define HTTP_SLOWEST (16u << 10) /* bytes a second that a server must take of a body, at least */

struct http {
	struct channel_target target;
	struct channel channel;
	const char *headers; /* more of them, each with its line end; or NULL */
	uint64_t timeout;    /* nanoseconds for connecting, and for the answer */
	uint64_t patience;   /* instead of it: of an answer in pieces, for the next; or 0 */
	struct buf head;
	uint64_t deadline; /* of the next piece of an answer that comes in pieces */
	size_t since;	   /* bytes since it was set */
};

struct http_request {
	const char *path; /* and query, encoded */
	const void *body;
	size_t len;
};

/* The target's texts and the headers must stay. */
void http_init(struct http *h, const struct channel_target *target, const char *headers,
	       uint64_t timeout);
void http_done(struct http *h);

/*
 * Posts a request and reads the answer, whatever its status. 0 when there is one. Otherwise a
 * negative errno, and *sent says whether the server may have got the request.
 */
int http_post(struct http *h, const struct http_request *q, struct answer *a, bool *sent,
	      struct spur_error *err);

/*
 * The same for an answer of any length: http_begin() ends when its head has come, and each
 * http_more() reads a piece, until answer_done(). What has come of the body is taken out of a->body
 * by the caller. The server may take as long as it likes as long as it says something: patience
 * ends with silence, and saying next to nothing is silence. http_abort() ends it before its time.
 * The request may be sent twice, so it must not matter if it is.
 */
int http_begin(struct http *h, const struct http_request *q, struct answer *a,
	       struct spur_error *err);
int http_more(struct http *h, struct answer *a, struct spur_error *err);
void http_abort(struct http *h);

/* Appends text as part of a query: what has a meaning there is encoded. */
void http_encode(struct buf *to, const char *text, size_t len);

#endif
