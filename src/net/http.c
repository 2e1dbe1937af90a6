// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * HTTP by libcurl. A request runs only while the caller waits for it in run(), which checks for
 * stops and deadlines between two calls of the library. Answers are untrusted: body and headers
 * have limits.
 */
#include "net/http.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/error.h"
#include "base/nanoseconds.h"
#include "base/num.h"

#define TURN_MS 200 /* a stop is noticed this late, at most */

uint64_t net_now(void)
{
	return clock_now_ns(CLOCK_MONOTONIC);
}

static bool stopped(const volatile int *stop)
{
	return stop && *stop;
}

/* Milliseconds to wait now; 0 after the deadline. */
static int turn_of(uint64_t deadline)
{
	const uint64_t now = net_now();
	const uint64_t left = deadline > now ? (deadline - now + NS_PER_MS - 1) / NS_PER_MS : 0;

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

void http_init(struct http *h, const struct http_target *target, const char *headers,
	       uint64_t timeout)
{
	*h = (struct http){.target = *target, .headers = headers, .timeout = timeout};
}

void http_answer_init(struct http_answer *a, size_t body_limit)
{
	*a = (struct http_answer){0};
	buf_init(&a->body, body_limit);
}

void http_answer_free(struct http_answer *a)
{
	buf_free(&a->body);
}

#ifdef HAVE_CURL

#include <curl/curl.h>
#include <dlfcn.h>
#include <stdlib.h>

#define LIBRARY	     "libcurl.so.4"
#define URL_LIMIT    (256u << 10)
#define HEADER_LIMIT (64u << 10) /* bytes of all headers */
#define UPLOAD_BYTES (512l << 10)
#define LEAST_NEWS   40 /* bytes that renew the deadline */

/* The functions that are used of the library. */
#define FUNCTIONS(F)                                                                               \
	F(easy_init)                                                                               \
	F(easy_setopt)                                                                             \
	F(easy_getinfo)                                                                            \
	F(easy_strerror)                                                                           \
	F(easy_cleanup)                                                                            \
	F(multi_init)                                                                              \
	F(multi_add_handle)                                                                        \
	F(multi_remove_handle)                                                                     \
	F(multi_perform)                                                                           \
	F(multi_poll)                                                                              \
	F(multi_info_read)                                                                         \
	F(multi_cleanup)                                                                           \
	F(slist_append)                                                                            \
	F(slist_free_all)

#define MEMBER(name) __typeof__(curl_##name) *name;

struct http_connection {
	struct {
		FUNCTIONS(MEMBER)
	} f;
	CURL *easy;
	CURLM *multi;
	struct curl_slist *headers;
	char words[CURL_ERROR_SIZE];
	struct buf url;

	/* The request that runs, or ran last. */
	struct http *http;
	struct http_answer *answer;
	const char *body;
	size_t len, sent;    /* of the body; how much the library has read of it */
	size_t header_bytes; /* of the answer */
	size_t since;	     /* bytes since the deadline was set */
	uint64_t deadline;
	bool streams; /* the answer comes in pieces */
	bool runs, has_head, too_long;
	CURLcode result;
};

/* ---- callbacks of the library ---- */

/* Sets a new deadline for the server's next bytes. */
static void renew(struct http_connection *c)
{
	const struct http *h = c->http;

	c->deadline = net_now() + (c->streams && h->patience ? h->patience : h->timeout);
	c->since = 0;
}

static void note_news(struct http_connection *c, size_t n)
{
	c->since += n;
	if (c->streams && c->since >= LEAST_NEWS)
		renew(c);
}

static size_t give_body(char *to, size_t size, size_t nr, void *connection)
{
	struct http_connection *c = connection;
	const size_t left = c->len - c->sent, n = left < size * nr ? left : size * nr;

	/* It is connected. */
	if (!c->sent)
		c->deadline =
			net_now() + c->http->timeout + (uint64_t)c->len * NS_PER_S / HTTP_SLOWEST;
	memcpy(to, c->body + c->sent, n);
	c->sent += n;
	if (c->sent == c->len)
		renew(c);
	return n;
}

/*
 * If the old connection has ended, the library repeats a request over a new one. That is allowed
 * only for an answer in pieces.
 */
static int rewind_body(void *connection, curl_off_t offset, int origin)
{
	struct http_connection *c = connection;

	if (!c->streams || origin != SEEK_SET || offset != 0)
		return CURL_SEEKFUNC_FAIL;
	c->sent = 0;
	return CURL_SEEKFUNC_OK;
}

static size_t read_body(char *data, size_t size, size_t nr, void *connection)
{
	struct http_connection *c = connection;

	note_news(c, size * nr);
	buf_put(&c->answer->body, data, size * nr);
	c->too_long = buf_full(&c->answer->body);
	return c->too_long ? 0 : size * nr;
}

/* "Name: value", without spaces around the value. */
static void pass_header(struct http_answer *a, char *line)
{
	char *value = strchr(line, ':');

	if (!value)
		return;
	*value++ = '\0';
	value += strspn(value, " \t");
	for (size_t n = strlen(value); n && isspace((unsigned char)value[n - 1]); n--)
		value[n - 1] = '\0';
	a->header(a->header_arg, line, value);
}

static size_t read_header(char *data, size_t size, size_t nr, void *connection)
{
	struct http_connection *c = connection;
	const size_t n = size * nr;
	long status = 0;
	char *line;

	note_news(c, n);
	c->header_bytes += n;
	c->too_long = c->header_bytes > HEADER_LIMIT;
	if (c->too_long)
		return 0;
	c->f.easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &status);
	c->answer->status = (int)status;
	/* Interim answers (1xx) have an end, too. */
	if (*data == '\r' || *data == '\n')
		c->has_head = status >= 200;
	else if (c->answer->header && (line = strndup(data, n))) {
		pass_header(c->answer, line);
		free(line);
	}
	return n;
}

/* ---- the connection ---- */

static int load(struct http_connection *c, struct spur_error *err)
{
	const struct {
		const char *name;
		void **to;
	} functions[] = {
#define ENTRY(name) {"curl_" #name, (void **)&c->f.name},
		FUNCTIONS(ENTRY)};
	/* It is never unloaded, because the library cannot be loaded twice. */
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return error_set(err, -ENOSYS,
				 "servers are talked to by %s, which is not installed", LIBRARY);
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		*functions[i].to = dlsym(library, functions[i].name);
		if (!*functions[i].to)
			return error_set(err, -ENOSYS, "%s has no %s", LIBRARY, functions[i].name);
	}
	return 0;
}

static bool add_header(struct http_connection *c, const char *line, size_t len)
{
	char *copy = strndup(line, len);
	struct curl_slist *list = copy ? c->f.slist_append(c->headers, copy) : NULL;

	if (copy)
		explicit_bzero(copy, len);
	free(copy);
	if (list)
		c->headers = list;
	return list;
}

/* Sets the caller's headers, and removes those that the library would add. */
static bool set_headers(struct http_connection *c, const char *more)
{
	static const char *const without[] = {"Expect:", "Accept:", "Content-Type:"};
	bool ok = true;

	for (size_t i = 0; i < ARRAY_SIZE(without); i++)
		ok = ok && add_header(c, without[i], strlen(without[i]));
	while (ok && more && *more) {
		const size_t len = strcspn(more, "\r\n");

		ok = add_header(c, more, len);
		more += len;
		more += strspn(more, "\r\n");
	}
	return ok && c->f.easy_setopt(c->easy, CURLOPT_HTTPHEADER, c->headers) == CURLE_OK;
}

static int configure(struct http *h, struct spur_error *err)
{
	struct http_connection *c = h->connection;
	__typeof__(c->f.easy_setopt) set = c->f.easy_setopt;
	const long timeout = (long)(h->timeout / NS_PER_MS);

	set(c->easy, CURLOPT_ERRORBUFFER, c->words);
	set(c->easy, CURLOPT_NOSIGNAL, 1l);
	set(c->easy, CURLOPT_PROXY, "");
	set(c->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	set(c->easy, CURLOPT_USERAGENT, "spur/" SPUR_VERSION);
	set(c->easy, CURLOPT_CONNECTTIMEOUT_MS, timeout ? timeout : 1l);
	set(c->easy, CURLOPT_UPLOAD_BUFFERSIZE, UPLOAD_BYTES);
	set(c->easy, CURLOPT_POST, 1l);
	set(c->easy, CURLOPT_READFUNCTION, give_body);
	set(c->easy, CURLOPT_READDATA, c);
	set(c->easy, CURLOPT_SEEKFUNCTION, rewind_body);
	set(c->easy, CURLOPT_SEEKDATA, c);
	set(c->easy, CURLOPT_WRITEFUNCTION, read_body);
	set(c->easy, CURLOPT_WRITEDATA, c);
	set(c->easy, CURLOPT_HEADERFUNCTION, read_header);
	set(c->easy, CURLOPT_HEADERDATA, c);
	if (h->target.ca)
		set(c->easy, CURLOPT_CAINFO, h->target.ca);
	return set_headers(c, h->headers) ? 0 : error_set(err, -ENOMEM, "out of memory");
}

static int open_connection(struct http *h, struct spur_error *err)
{
	struct http_connection *c = calloc(1, sizeof(*c));
	int rc;

	if (!c)
		return error_set(err, -ENOMEM, "out of memory");
	c->http = h;
	buf_init(&c->url, URL_LIMIT);
	h->connection = c;
	rc = load(c, err);
	if (rc == 0) {
		c->easy = c->f.easy_init();
		c->multi = c->f.multi_init();
		if (!c->easy || !c->multi)
			rc = error_set(err, -ENOMEM, "out of memory");
	}
	if (rc == 0)
		rc = configure(h, err);
	if (rc < 0)
		http_done(h);
	return rc;
}

void http_abort(struct http *h)
{
	struct http_connection *c = h->connection;

	if (c && c->runs)
		c->f.multi_remove_handle(c->multi, c->easy);
	if (c)
		c->runs = false;
}

void http_done(struct http *h)
{
	struct http_connection *c = h->connection;

	if (!c)
		return;
	http_abort(h);
	if (c->easy)
		c->f.easy_cleanup(c->easy);
	if (c->multi)
		c->f.multi_cleanup(c->multi);
	for (struct curl_slist *s = c->headers; s; s = s->next)
		explicit_bzero(s->data, strlen(s->data));
	if (c->headers)
		c->f.slist_free_all(c->headers);
	buf_free(&c->url);
	free(c);
	h->connection = NULL;
}

/* ---- requests ---- */

static int start(struct http *h, const struct http_request *q, struct http_answer *a, bool streams,
		 struct spur_error *err)
{
	const bool v6 = strchr(h->target.host, ':');
	struct http_connection *c;
	int rc = h->connection ? 0 : open_connection(h, err);

	if (rc < 0)
		return rc;
	http_abort(h);
	c = h->connection;
	buf_reset(&c->url);
	buf_printf(&c->url, "%s://%s%s%s:%s", h->target.tls ? "https" : "http", v6 ? "[" : "",
		   h->target.host, v6 ? "]" : "", h->target.port);
	buf_puts(&c->url, q->path);
	if (buf_full(&c->url))
		return error_set(err, -E2BIG, "the question is too long");
	c->f.easy_setopt(c->easy, CURLOPT_URL, buf_str(&c->url));
	c->f.easy_setopt(c->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)q->len);
	buf_reset(&a->body);
	a->status = 0;
	a->done = false;
	c->answer = a;
	c->body = q->body;
	c->len = q->len;
	c->sent = c->header_bytes = c->since = 0;
	c->streams = streams;
	c->has_head = c->too_long = false;
	*c->words = '\0';
	/* Connecting has a limit of its own. */
	c->deadline = net_now() + 2 * h->timeout + NS_PER_S;
	c->result = CURLE_OK;
	c->runs = c->f.multi_add_handle(c->multi, c->easy) == CURLM_OK;
	return c->runs ? 0 : error_set(err, -ENOMEM, "out of memory");
}

/* Sets the reason why there is no answer, or an incomplete one. */
static int explain(const struct http_connection *c, struct spur_error *err)
{
	const char *words = *c->words ? c->words : c->f.easy_strerror(c->result);
	long number = 0;

	if (c->too_long)
		return error_set(err, -E2BIG, "the answer is too long");
	switch (c->result) {
	case CURLE_OUT_OF_MEMORY: return error_set(err, -ENOMEM, "out of memory");
	case CURLE_COULDNT_CONNECT:
		c->f.easy_getinfo(c->easy, CURLINFO_OS_ERRNO, &number);
		return number ? error_sys(err, -(int)number, "cannot connect")
			      : error_set(err, -EHOSTUNREACH, "cannot connect: %s", words);
	case CURLE_OPERATION_TIMEDOUT: return error_sys(err, -ETIMEDOUT, "cannot connect");
	case CURLE_COULDNT_RESOLVE_HOST: return error_set(err, -EHOSTUNREACH, "%s", words);
	case CURLE_PEER_FAILED_VERIFICATION: return error_set(err, -EACCES, "%s", words);
	case CURLE_SSL_CACERT_BADFILE:
		return error_set(err, -EINVAL, "%s: no certificate could be read from it",
				 c->http->target.ca);
	case CURLE_GOT_NOTHING:
		return error_set(err, -ECONNRESET, "the connection ended without an answer");
	case CURLE_PARTIAL_FILE:
		return error_set(err, -ECONNRESET, "the connection ended within the answer");
	case CURLE_SEND_ERROR:
	case CURLE_SEND_FAIL_REWIND: return error_set(err, -EPIPE, "sending: %s", words);
	default: return error_set(err, -EBADMSG, "%s", words);
	}
}

static void see_end(struct http_connection *c)
{
	const CURLMsg *m;
	int left;

	while ((m = c->f.multi_info_read(c->multi, &left)))
		if (m->msg == CURLMSG_DONE) {
			c->result = m->data.result;
			c->f.multi_remove_handle(c->multi, c->easy);
			c->runs = false;
			break;
		}
}

/* Runs the request until its end, or until *news (the number of received bytes) changes. */
static int run(struct http *h, const size_t *news, struct spur_error *err)
{
	struct http_connection *c = h->connection;
	const size_t before = news ? *news : 0;
	int n, rc = 0;

	while (rc == 0) {
		c->f.multi_perform(c->multi, &n);
		see_end(c);
		c->answer->done = !c->runs && c->result == CURLE_OK;
		/* Data from before the failure are returned first. */
		if (c->answer->done || (news && *news != before))
			return 0;
		if (!c->runs)
			return explain(c, err);
		if (stopped(h->target.stop))
			rc = error_sys(err, -EINTR, "waiting for an answer");
		else if (!(n = turn_of(c->deadline)))
			rc = error_set(err, -ETIMEDOUT, "no answer came in time");
		else
			c->f.multi_poll(c->multi, NULL, 0, n, NULL);
	}
	http_abort(h);
	return rc;
}

int http_post(struct http *h, const struct http_request *q, struct http_answer *a, bool *sent,
	      struct spur_error *err)
{
	int rc = start(h, q, a, false, err);

	*sent = false;
	if (rc < 0)
		return rc;
	rc = run(h, NULL, err);
	*sent = h->connection->sent > 0;
	return rc;
}

static int begin(struct http *h, const struct http_request *q, struct http_answer *a,
		 struct spur_error *err)
{
	int rc = start(h, q, a, true, err);

	while (rc == 0 && !a->done && !h->connection->has_head)
		rc = run(h, &h->connection->header_bytes, err);
	return rc;
}

/* Whether the server had closed a kept connection before it saw the request. */
static bool was_closed(const struct http_connection *c)
{
	long connects = 1;

	if (!c || c->runs || c->header_bytes ||
	    (c->result != CURLE_SEND_ERROR && c->result != CURLE_RECV_ERROR &&
	     c->result != CURLE_GOT_NOTHING))
		return false;
	c->f.easy_getinfo(c->easy, CURLINFO_NUM_CONNECTS, &connects);
	return connects == 0;
}

int http_begin(struct http *h, const struct http_request *q, struct http_answer *a,
	       struct spur_error *err)
{
	struct spur_error why = {0};
	int rc = begin(h, q, a, &why);

	if (rc < 0 && was_closed(h->connection))
		return begin(h, q, a, err);
	return rc < 0 ? error_set(err, rc, "%s", why.text) : rc;
}

int http_more(struct http *h, struct http_answer *a, struct spur_error *err)
{
	return run(h, &a->body.len, err);
}

#else

static int left_out(struct spur_error *err)
{
	return error_set(err, -ENOSYS,
			 "this spur was built without libcurl, and cannot talk to servers");
}

void http_done(struct http *h)
{
}

int http_post(struct http *h, const struct http_request *q, struct http_answer *a, bool *sent,
	      struct spur_error *err)
{
	*sent = false;
	return left_out(err);
}

int http_begin(struct http *h, const struct http_request *q, struct http_answer *a,
	       struct spur_error *err)
{
	return left_out(err);
}

int http_more(struct http *h, struct http_answer *a, struct spur_error *err)
{
	return left_out(err);
}

void http_abort(struct http *h)
{
}

#endif
