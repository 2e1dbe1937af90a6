/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading what an HTTP/1.1 server answers, as it comes: a status, headers, and a body whose end is
 * told by its length, by chunks, or by the end of the connection. Every byte is a stranger's.
 *
 * Lines and headers have limits of their own, the body that of its buffer. Interim answers (1xx)
 * are read over.
 */
#ifndef NET_ANSWER_H
#define NET_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <spur/error.h>

#include "base/buf.h"

#define ANSWER_LINE    4096
#define ANSWER_HEADERS (64u << 10)

enum answer_state {
	ANSWER_STATUS,
	ANSWER_HEADER,
	ANSWER_LENGTH,	/* a body of so many bytes */
	ANSWER_CHUNK,	/* the size of a chunk */
	ANSWER_DATA,	/* its bytes */
	ANSWER_BEHIND,	/* the line end behind them */
	ANSWER_TRAILER, /* headers behind the last chunk */
	ANSWER_CLOSE,	/* a body up to the end of the connection */
	ANSWER_DONE,
};

struct answer {
	enum answer_state state;
	int status;    /* 200, 404, …; 0: none has come yet */
	bool keep;     /* the connection can be used again */
	uint64_t left; /* bytes of the body or of the chunk that are still to come */
	struct buf body;

	char line[ANSWER_LINE];
	size_t line_len, header_bytes;
	bool chunked, has_length, seen; /* seen: a byte has come */
	uint64_t length;

	/* Is told headers, the body's own as well as all others; may be NULL. */
	void (*header)(void *arg, const char *name, const char *value);
	void *header_arg;
};

void answer_init(struct answer *a, size_t body_limit);
void answer_free(struct answer *a);

/* Forgets what was read, for the next answer. */
void answer_reset(struct answer *a);

/*
 * Takes bytes; *used is how many of them were this answer's: fewer than all only when it is
 * complete. -EBADMSG: this is no HTTP; -E2BIG: it is longer than it may be.
 */
int answer_take(struct answer *a, const char *data, size_t len, size_t *used,
		struct spur_error *err);

/* The connection has ended. -EBADMSG when the answer is not complete. */
int answer_end(struct answer *a, struct spur_error *err);

/* Whether the body has begun, or even ended. */
static inline bool answer_has_head(const struct answer *a)
{
	return a->state != ANSWER_STATUS && a->state != ANSWER_HEADER;
}

static inline bool answer_done(const struct answer *a)
{
	return a->state == ANSWER_DONE;
}

#endif
