// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer: what a server answers. It is read whole, and in pieces whose size is the first byte of
 * the input; both must say the same.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "net/answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BODY_LIMIT (64u << 10)

/* How it ended: 0, or what the reader said; *used is how much of it was the answer. */
static int read_all(struct answer *a, const char *data, size_t size, size_t piece, size_t *used)
{
	struct spur_error err = {0};
	int rc = 0;

	*used = 0;
	while (rc == 0 && *used < size && !answer_done(a)) {
		const size_t len = size - *used < piece ? size - *used : piece;
		size_t n = 0;

		rc = answer_take(a, data + *used, len, &n, &err);
		if (n > len || (rc == 0 && n < len && !answer_done(a)))
			abort();
		*used += n;
	}
	if (rc == 0 && !answer_done(a))
		rc = answer_end(a, &err);
	if (rc < 0 && !*err.text)
		abort();
	if (rc == 0 && (a->status < 200 || a->status > 999))
		abort();
	if (a->body.len > BODY_LIMIT)
		abort();
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct answer whole, pieces;
	size_t used[2];
	int rc[2];

	if (!size)
		return 0;
	answer_init(&whole, BODY_LIMIT);
	answer_init(&pieces, BODY_LIMIT);
	rc[0] = read_all(&whole, (const char *)data + 1, size - 1, size, &used[0]);
	rc[1] = read_all(&pieces, (const char *)data + 1, size - 1, data[0] % 64 + 1u, &used[1]);
	if (rc[0] != rc[1])
		abort();
	if (rc[0] == 0 && (used[0] != used[1] || whole.status != pieces.status ||
			   whole.keep != pieces.keep || whole.body.len != pieces.body.len ||
			   memcmp(whole.body.data, pieces.body.data, whole.body.len) != 0))
		abort();
	answer_reset(&whole);
	if (answer_done(&whole) || whole.body.len)
		abort();
	answer_free(&whole);
	answer_free(&pieces);
	return 0;
}
