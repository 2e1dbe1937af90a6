// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer: statements for ClickHouse. Whatever a text is, it is split into statements whose
 * tokens lie in order within them; and what has neither a call nor a parameter is sent as it is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "query/store_sql.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SENT_LIMIT (1u << 20)

static void check_tokens(const struct store_sql *s)
{
	size_t end = 0;

	vec_each (t, &s->tokens) {
		if (t->at < end || !t->len || t->len > strlen(s->text) - t->at)
			abort();
		end = t->at + t->len;
	}
}

static void send(struct store_sql *s)
{
	struct spur_error err = {0};
	struct buf out;
	int rc;

	buf_init(&out, SENT_LIMIT);
	vec_each (p, &s->params)
		p->value = p->name[1] & 1 ? strdup(p->name) : NULL;
	rc = store_sql_write(s, "0123456789abcdef", &out, &err);
	if (rc < 0 && (!err.code || !*err.text))
		abort();
	if (rc == 0 && s->tokens.n && !s->params.n && !strchr(s->text, '(')) {
		const struct store_token *first = s->tokens.at, *last = first + s->tokens.n - 1;

		if (out.len != last->at + last->len - first->at ||
		    memcmp(out.data, s->text + first->at, out.len) != 0)
			abort();
	}
	buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	size_t at = 0;

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	while (text[at]) {
		struct spur_error err = {0};
		struct store_sql s;
		bool complete;
		const size_t len = store_sql_length(text + at, &complete);

		if (!len || len > size - at || store_sql_read(&s, text + at) < 0)
			abort();
		check_tokens(&s);
		if (s.tokens.n && store_sql_check(&s, &err) < 0 && !*err.text)
			abort();
		send(&s);
		store_sql_free(&s);
		at += len;
	}
	free(text);
	return 0;
}
