// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer: what a browser sends. The input is a query, three headers (Host, Origin,
 * Authorization), a link's secret and a body, with zeros between them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonin.h"
#include "view/api/api.h"
#include "view/serve/login.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NR_ROWS 1000

static void check_rows(const char *text)
{
	struct spur_error err = {0};
	struct api_rows rows = {0};
	int rc = api_parse_rows(text, NR_ROWS, &rows, &err);

	if (rc < 0 && (rc != -EINVAL || !*err.text))
		abort();
	for (size_t i = 0; i < rows.n; i++)
		if (rows.at[i] >= NR_ROWS || (i && rows.at[i] <= rows.at[i - 1]))
			abort();
	api_rows_free(&rows);
}

static void check_query(const struct api_request *q)
{
	static const char *const names[] = {"level", "tile", "rows", "from", "match"};
	struct spur_error err;
	struct buf text;
	uint64_t n;

	buf_init(&text, 1 << 20);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		buf_reset(&text);
		if (api_text(q, names[i], &text)) {
			/* Nothing in it ends the text early. */
			if (strlen(buf_str(&text)) != text.len)
				abort();
			check_rows(buf_str(&text));
		}
		err = (struct spur_error){0};
		if (api_number(q, names[i], &n, &err) == -EINVAL && !*err.text)
			abort();
	}
	buf_free(&text);
}

/* Every value lies in the text, and can be looked into. */
static void walk(const struct json_value *v, int depth, struct buf *text)
{
	struct json_value each;
	uint64_t n;
	size_t pos = 0;

	if (depth > JSON_MAX_DEPTH + 1)
		abort();
	buf_reset(text);
	if (json_text(v, text) && v->kind != JSON_STRING)
		abort();
	if (json_u64(v, &n) && v->kind != JSON_NUMBER)
		abort();
	json_member(v, "query", &each);
	while (json_next(v, &pos, &each)) {
		if (each.at < v->at || each.at + each.len > v->at + v->len)
			abort();
		walk(&each, depth + 1, text);
	}
}

static void check_body(const struct api_request *q)
{
	struct spur_error err = {0};
	struct json_value all;
	struct buf text;
	uint64_t n;

	buf_init(&text, 1 << 20);
	if (json_parse(q->body, q->body_len, &all))
		walk(&all, 0, &text);
	buf_reset(&text);
	api_body_text(q, "query", &text);
	api_body_number(q, "seconds", &n, &err);
	buf_free(&text);
}

/* Whoever does not know the secrets must not come in, whatever else is said. */
static void check_login(const char *host, const char *origin, const char *bearer, const char *link)
{
	struct login d = {.port = 8080,
			  .loopback = true,
			  .address = "127.0.0.1",
			  .machine = "bench",
			  .lock = PTHREAD_MUTEX_INITIALIZER};

	memset(d.session, 'a', LOGIN_TOKEN);
	memset(d.links[3], 'b', LOGIN_TOKEN);
	if (login_host(&d, host) && !strstr(host, "8080"))
		abort();
	if (login_origin(origin, host) && strncmp(origin, "http://", 7) != 0)
		abort();
	if (login_bearer(&d, bearer) && !strstr(bearer, d.session))
		abort();
	/* What a link has opened it does not open again. */
	if (login_follow(&d, link) && (strspn(link, "b") != LOGIN_TOKEN || login_follow(&d, link)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *parts[5];
	char *copy = malloc(size + 6), *at = copy;
	struct api_request q = {.path = ""};

	if (!copy)
		abort();
	memcpy(copy, data, size);
	memset(copy + size, 0, 6);
	for (int i = 0; i < 5; i++) {
		parts[i] = at;
		at += strlen(at);
		if (at < copy + size)
			at++;
	}
	q.query = parts[0];
	q.body = at;
	q.body_len = (size_t)(copy + size - at);
	check_query(&q);
	check_login(parts[1], parts[2], parts[3], parts[4]);
	check_body(&q);
	free(copy);
	return 0;
}
