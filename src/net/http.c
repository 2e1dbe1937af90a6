// SPDX-License-Identifier: GPL-2.0-or-later
#include "net/http.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/num.h"

#define NS_PER_S   1000000000ull
#define HEAD_LIMIT (256u << 10)
#define READ_PIECE 16384
#define LEAST_NEWS 40	       /* bytes that are worth waiting for more */
#define MAX_EARLY  (64u << 10) /* bytes of a body that are sent with the head in one piece */

void http_init(struct http *h, const struct channel_target *target, const char *headers,
	       uint64_t timeout)
{
	*h = (struct http){.target = *target, .headers = headers, .timeout = timeout};
	channel_init(&h->channel, &h->target);
	buf_init(&h->head, HEAD_LIMIT);
}

void http_done(struct http *h)
{
	channel_close(&h->channel);
	buf_free(&h->head);
}

void http_encode(struct buf *to, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		const unsigned char c = (unsigned char)text[i];

		if (isalnum(c) || (c && strchr("-_.~", c))) {
			buf_putc(to, (char)c);
		} else {
			buf_putc(to, '%');
			buf_put(to, num_hex_pairs + 2 * c, 2);
		}
	}
}

static int make_head(struct http *h, const struct http_request *q, struct spur_error *err)
{
	const bool v6 = strchr(h->target.host, ':');

	buf_reset(&h->head);
	buf_printf(&h->head, "POST %s HTTP/1.1\r\nHost: %s%s%s:%s\r\n", q->path, v6 ? "[" : "",
		   h->target.host, v6 ? "]" : "", h->target.port);
	buf_printf(&h->head, "User-Agent: spur/%s\r\nAccept-Encoding: identity\r\n", SPUR_VERSION);
	buf_printf(&h->head, "Content-Length: %zu\r\n%s\r\n", q->len, h->headers ? h->headers : "");
	/* A short request is one packet, and the server does not wait for its second half. */
	if (q->len && q->len <= MAX_EARLY)
		buf_put(&h->head, q->body, q->len);
	return buf_full(&h->head) ? error_set(err, -E2BIG, "the question is too long") : 0;
}

static int send_all(struct http *h, const char *data, size_t len, uint64_t deadline,
		    bool *interrupted)
{
	size_t done = 0;

	while (done < len) {
		const ssize_t n = channel_send(&h->channel, data + done, len - done, deadline);

		if (n < 0)
			return (int)n;
		if (n == 0) {
			*interrupted = true;
			return 0;
		}
		done += (size_t)n;
	}
	return 0;
}

/* Whoever answers before all is said refuses it, and what is left is not sent. */
static int send_request(struct http *h, const struct http_request *q, bool *interrupted)
{
	const uint64_t deadline =
		net_now() + h->timeout + (uint64_t)q->len * NS_PER_S / HTTP_SLOWEST;
	int rc = send_all(h, h->head.data, h->head.len, deadline, interrupted);

	if (rc == 0 && !*interrupted && q->len > MAX_EARLY)
		rc = send_all(h, q->body, q->len, deadline, interrupted);
	return rc;
}

/* *came: how many bytes. */
static int read_piece(struct http *h, struct answer *a, uint64_t deadline, size_t *came,
		      struct spur_error *err)
{
	char piece[READ_PIECE];
	const ssize_t n = channel_read(&h->channel, piece, sizeof(piece), deadline);
	size_t used = 0;
	int rc;

	*came = n > 0 ? (size_t)n : 0;
	if (n == -ETIMEDOUT)
		return error_set(err, -ETIMEDOUT, "no answer came in time");
	if (n < 0)
		return error_sys(err, (int)n, "waiting for an answer");
	if (n == 0)
		return answer_end(a, err);
	rc = answer_take(a, piece, (size_t)n, &used, err);
	/* More than was asked for: nobody knows what belongs to what any more. */
	if (rc == 0 && used < (size_t)n)
		a->keep = false;
	return rc;
}

static int read_answer(struct http *h, struct answer *a, struct spur_error *err)
{
	const uint64_t deadline = net_now() + h->timeout;
	size_t came;
	int rc = 0;

	while (rc == 0 && !answer_done(a))
		rc = read_piece(h, a, deadline, &came, err);
	return rc;
}

static int exchange(struct http *h, const struct http_request *q, struct answer *a,
		    int (*read)(struct http *h, struct answer *a, struct spur_error *err),
		    struct spur_error *err)
{
	bool interrupted = false;
	struct spur_error ignored = {0};
	int failed = send_request(h, q, &interrupted), rc;

	if (failed == -EINTR || failed == -ETIMEDOUT)
		return error_sys(err, failed, "sending");
	/* It may have said why before it hung up. */
	rc = read(h, a, failed < 0 ? &ignored : err);
	if (rc < 0 && failed < 0)
		return error_sys(err, failed, "sending");
	if (failed < 0 || interrupted)
		a->keep = false;
	return rc;
}

/* A connection for the request, whose head is made. */
static int prepare(struct http *h, const struct http_request *q, struct answer *a,
		   struct spur_error *err)
{
	int rc;

	answer_reset(a);
	rc = make_head(h, q, err);
	if (rc < 0)
		return rc;
	if (h->channel.fd >= 0 && channel_stale(&h->channel))
		channel_close(&h->channel);
	if (h->channel.fd < 0)
		rc = channel_open(&h->channel, net_now() + h->timeout, err);
	return rc;
}

int http_post(struct http *h, const struct http_request *q, struct answer *a, bool *sent,
	      struct spur_error *err)
{
	int rc = prepare(h, q, a, err);

	*sent = false;
	if (rc < 0)
		return rc;
	*sent = true;
	rc = exchange(h, q, a, read_answer, err);
	if (rc < 0 || !a->keep)
		channel_close(&h->channel);
	return rc;
}

/* ---- answers in pieces ---- */

void http_abort(struct http *h)
{
	channel_close(&h->channel);
}

static void renew(struct http *h)
{
	h->deadline = net_now() + (h->patience ? h->patience : h->timeout);
	h->since = 0;
}

int http_more(struct http *h, struct answer *a, struct spur_error *err)
{
	size_t came;
	int rc = read_piece(h, a, h->deadline, &came, err);

	h->since += came;
	if (h->since >= LEAST_NEWS)
		renew(h);
	if (rc < 0 || (answer_done(a) && !a->keep))
		channel_close(&h->channel);
	return rc;
}

static int read_head(struct http *h, struct answer *a, struct spur_error *err)
{
	int rc = 0;

	renew(h);
	while (rc == 0 && !answer_has_head(a) && !answer_done(a))
		rc = http_more(h, a, err);
	return rc;
}

static int begin(struct http *h, const struct http_request *q, struct answer *a, bool *reused,
		 struct spur_error *err)
{
	int rc;

	*reused = h->channel.fd >= 0;
	rc = prepare(h, q, a, err);
	if (rc == 0)
		rc = exchange(h, q, a, read_head, err);
	if (rc < 0)
		channel_close(&h->channel);
	return rc;
}

int http_begin(struct http *h, const struct http_request *q, struct answer *a,
	       struct spur_error *err)
{
	struct spur_error first = {0};
	bool reused;
	int rc = begin(h, q, a, &reused, &first);

	/* A server may end an idle connection just when it is used again. */
	if (reused && !a->seen && (rc == -ECONNRESET || rc == -EPIPE))
		return begin(h, q, a, &reused, err);
	return rc < 0 ? error_set(err, rc, "%s", first.text) : 0;
}
