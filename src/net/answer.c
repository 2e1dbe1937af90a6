// SPDX-License-Identifier: GPL-2.0-or-later
#include "net/answer.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"

void answer_init(struct answer *a, size_t body_limit)
{
	*a = (struct answer){.state = ANSWER_STATUS};
	buf_init(&a->body, body_limit);
}

void answer_free(struct answer *a)
{
	buf_free(&a->body);
}

void answer_reset(struct answer *a)
{
	struct buf body = a->body;

	buf_reset(&body);
	*a = (struct answer){.state = ANSWER_STATUS,
			     .body = body,
			     .header = a->header,
			     .header_arg = a->header_arg};
}

static int no_http(struct spur_error *err, const char *what)
{
	return error_set(err, -EBADMSG, "the answer is not HTTP: %s", what);
}

/* ---- lines ---- */

/* "HTTP/1.1 200 OK" */
static int take_status(struct answer *a, struct spur_error *err)
{
	const char *at = a->line;

	if (strncmp(at, "HTTP/1.", 7) != 0 || !isdigit((unsigned char)at[7]) || at[8] != ' ')
		return no_http(err, "it begins otherwise");
	a->keep = at[7] != '0';
	at += 9;
	for (int i = 0; i < 3; i++)
		if (!isdigit((unsigned char)at[i]))
			return no_http(err, "it has no status");
	if (at[3] && at[3] != ' ')
		return no_http(err, "it has no status");
	a->status = (at[0] - '0') * 100 + (at[1] - '0') * 10 + (at[2] - '0');
	if (a->status < 100)
		return no_http(err, "it has no status");
	a->chunked = a->has_length = false;
	a->state = ANSWER_HEADER;
	return 0;
}

/* Digits of a base and nothing else. False: it is no number, or too large. */
static bool read_number(const char *text, unsigned int base, uint64_t *out)
{
	uint64_t v = 0;

	if (!*text)
		return false;
	for (; *text; text++) {
		const char c = (char)tolower((unsigned char)*text);
		const unsigned int digit = c >= '0' && c <= '9'	  ? (unsigned int)(c - '0')
					   : c >= 'a' && c <= 'f' ? (unsigned int)(c - 'a') + 10
								  : base;

		if (digit >= base || __builtin_mul_overflow(v, base, &v) ||
		    __builtin_add_overflow(v, digit, &v))
			return false;
	}
	*out = v;
	return true;
}

static int take_length(struct answer *a, const char *value, struct spur_error *err)
{
	uint64_t length;

	if (!read_number(value, 10, &length) || (a->has_length && length != a->length))
		return no_http(err, "its length is no number");
	a->has_length = true;
	a->length = length;
	return 0;
}

/* What is not known is read over. */
static int take_header(struct answer *a, struct spur_error *err)
{
	char *value = strchr(a->line, ':');

	if (!value || value == a->line)
		return no_http(err, "a header has no name");
	*value++ = '\0';
	value += strspn(value, " \t");
	for (size_t n = strlen(value); n && strchr(" \t", value[n - 1]); n--)
		value[n - 1] = '\0';
	if (a->header)
		a->header(a->header_arg, a->line, value);
	if (strcasecmp(a->line, "content-length") == 0)
		return take_length(a, value, err);
	if (strcasecmp(a->line, "transfer-encoding") == 0) {
		if (strcasecmp(value, "chunked") != 0 && strcasecmp(value, "identity") != 0)
			return no_http(err, "it is encoded in a way that nobody asked for");
		a->chunked = strcasecmp(value, "chunked") == 0;
	} else if (strcasecmp(a->line, "connection") == 0 && strcasestr(value, "close")) {
		a->keep = false;
	} else if (strcasecmp(a->line, "content-encoding") == 0 &&
		   strcasecmp(value, "identity") != 0) {
		return no_http(err, "it is encoded in a way that nobody asked for");
	}
	return 0;
}

static void begin_body(struct answer *a)
{
	if (a->status < 200) {
		a->state = ANSWER_STATUS;
	} else if (a->status == 204 || a->status == 304) {
		a->state = ANSWER_DONE;
	} else if (a->chunked) {
		a->state = ANSWER_CHUNK;
	} else if (a->has_length) {
		a->left = a->length;
		a->state = a->left ? ANSWER_LENGTH : ANSWER_DONE;
	} else {
		a->keep = false;
		a->state = ANSWER_CLOSE;
	}
}

static int take_chunk_size(struct answer *a, struct spur_error *err)
{
	char *end = a->line + strcspn(a->line, "; \t");

	*end = '\0';
	if (!read_number(a->line, 16, &a->left))
		return no_http(err, "a chunk has no size");
	a->state = a->left ? ANSWER_DATA : ANSWER_TRAILER;
	return 0;
}

static int take_line(struct answer *a, struct spur_error *err)
{
	switch (a->state) {
	case ANSWER_STATUS: return take_status(a, err);
	case ANSWER_HEADER:
		if (*a->line)
			return take_header(a, err);
		begin_body(a);
		return 0;
	case ANSWER_CHUNK: return take_chunk_size(a, err);
	case ANSWER_BEHIND:
		if (*a->line)
			return no_http(err, "a chunk is longer than it says");
		a->state = ANSWER_CHUNK;
		return 0;
	case ANSWER_TRAILER:
		if (!*a->line)
			a->state = ANSWER_DONE;
		return 0;
	default: return 0;
	}
}

/* ---- bytes ---- */

static int take_line_bytes(struct answer *a, const char *data, size_t len, size_t *used,
			   struct spur_error *err)
{
	const char *newline = memchr(data, '\n', len);
	const size_t n = newline ? (size_t)(newline - data) : len;
	int rc;

	if (n >= ANSWER_LINE - a->line_len)
		return error_set(err, -E2BIG, "a line of the answer is too long");
	a->header_bytes += n + 1;
	/* Sizes of chunks are no headers: a body may have any number of them. */
	if (a->state != ANSWER_CHUNK && a->state != ANSWER_BEHIND &&
	    a->header_bytes > ANSWER_HEADERS)
		return error_set(err, -E2BIG, "the answer has too many headers");
	if (a->state == ANSWER_CHUNK || a->state == ANSWER_BEHIND)
		a->header_bytes = 0;
	memcpy(a->line + a->line_len, data, n);
	a->line_len += n;
	*used += n + (newline != NULL);
	if (!newline)
		return 0;
	if (a->line_len && a->line[a->line_len - 1] == '\r')
		a->line_len--;
	if (memchr(a->line, 0, a->line_len))
		return no_http(err, "a line has a zero in it");
	a->line[a->line_len] = '\0';
	rc = take_line(a, err);
	a->line_len = 0;
	return rc;
}

static int take_body_bytes(struct answer *a, const char *data, size_t len, size_t *used,
			   struct spur_error *err)
{
	size_t n = len;

	if (a->state != ANSWER_CLOSE && n > a->left)
		n = (size_t)a->left;
	buf_put(&a->body, data, n);
	if (buf_full(&a->body))
		return error_set(err, -E2BIG, "the answer is too long");
	*used += n;
	if (a->state == ANSWER_CLOSE)
		return 0;
	a->left -= n;
	if (!a->left)
		a->state = a->state == ANSWER_LENGTH ? ANSWER_DONE : ANSWER_BEHIND;
	return 0;
}

int answer_take(struct answer *a, const char *data, size_t len, size_t *used,
		struct spur_error *err)
{
	int rc = 0;

	*used = 0;
	a->seen |= len > 0;
	while (rc == 0 && *used < len && a->state != ANSWER_DONE) {
		const bool body = a->state == ANSWER_LENGTH || a->state == ANSWER_DATA ||
				  a->state == ANSWER_CLOSE;

		rc = (body ? take_body_bytes : take_line_bytes)(a, data + *used, len - *used, used,
								err);
	}
	return rc;
}

int answer_end(struct answer *a, struct spur_error *err)
{
	a->keep = false;
	if (a->state == ANSWER_CLOSE)
		a->state = ANSWER_DONE;
	if (a->state == ANSWER_DONE)
		return 0;
	return a->seen ? error_set(err, -EBADMSG, "the connection ended within the answer")
		       : error_set(err, -ECONNRESET, "the connection ended without an answer");
}
