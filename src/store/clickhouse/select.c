// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A query that only reads: sending it, reading its rows one by one, and ending it on the server if
 * the other rows are not needed.
 */
#include "store/clickhouse/select.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/nanoseconds.h"
#include "base/vec.h"

/* ---- rows of an answer, in text: types from their names, values from their escapes ---- */

#define MAX_NUMBER 64 /* bytes of one as text */

void tsv_free(struct tsv *t)
{
	strings_free(&t->names);
	vec_free(&t->kinds);
	vec_free(&t->values);
}

/* ---- types ---- */

/* Replaces NAME(...) by its argument. */
static bool unwrap(const char **type, size_t *len, const char *name)
{
	const size_t n = strlen(name);

	if (*len < n + 2 || memcmp(*type, name, n) != 0 || (*type)[n] != '(' ||
	    (*type)[*len - 1] != ')')
		return false;
	*type += n + 1;
	*len -= n + 2;
	return true;
}

enum tsv_kind tsv_kind_of(const char *type, size_t len)
{
	static const struct {
		const char *name;
		enum tsv_kind kind;
	} kinds[] = {
		{"Int8", TSV_INTEGER},	 {"Int16", TSV_INTEGER},  {"Int32", TSV_INTEGER},
		{"Int64", TSV_INTEGER},	 {"UInt8", TSV_INTEGER},  {"UInt16", TSV_INTEGER},
		{"UInt32", TSV_INTEGER}, {"UInt64", TSV_INTEGER}, {"Bool", TSV_INTEGER},
		{"Float32", TSV_REAL},	 {"Float64", TSV_REAL},
	};

	while (unwrap(&type, &len, "LowCardinality") || unwrap(&type, &len, "Nullable"))
		;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strlen(kinds[i].name) == len && memcmp(kinds[i].name, type, len) == 0)
			return kinds[i].kind;
	return TSV_TEXT;
}

/* ---- values ---- */

/* Decodes escapes in place; returns the new length. */
static size_t unescape(char *text, size_t len)
{
	static const char codes[] = "bfrnt0", bytes[] = "\b\f\r\n\t";
	char *to = text;

	for (size_t i = 0; i < len; i++) {
		const char *code;

		if (text[i] != '\\' || i + 1 == len) {
			*to++ = text[i];
			continue;
		}
		code = memchr(codes, text[++i], sizeof(codes) - 1);
		/* The array's own zero is the byte of the last code. */
		*to++ = code ? bytes[code - codes] : text[i];
	}
	return (size_t)(to - text);
}

/* Digits that fill 64 bits: 1 when they do not fit, -1: this is no number. */
static int read_integer(const char *text, size_t len, int64_t *out)
{
	const bool minus = len && *text == '-';
	int64_t v = 0;
	bool fits = true;

	if (len == (size_t)minus || len > MAX_NUMBER)
		return -1;
	for (size_t i = minus; i < len; i++) {
		const int digit = text[i] - '0';

		if (digit < 0 || digit > 9)
			return -1;
		fits = fits && !__builtin_mul_overflow(v, 10, &v) &&
		       !__builtin_add_overflow(v, minus ? -digit : digit, &v);
	}
	*out = v;
	return !fits;
}

static bool read_real(const char *text, size_t len, double *out)
{
	char copy[MAX_NUMBER + 1], *end;

	if (!len || len > MAX_NUMBER || memchr(text, 0, len))
		return false;
	memcpy(copy, text, len);
	copy[len] = '\0';
	*out = strtod(copy, &end);
	return !*end;
}

static bool read_value(struct tsv_value *v, char *text, size_t len)
{
	int rc;

	v->null = len == 2 && memcmp(text, "\\N", 2) == 0;
	if (v->null)
		return true;
	v->text = text;
	v->len = len;
	switch (v->kind) {
	case TSV_INTEGER:
		if ((len == 4 && memcmp(text, "true", 4) == 0) ||
		    (len == 5 && memcmp(text, "false", 5) == 0)) {
			v->number = len == 4;
			return true;
		}
		rc = read_integer(text, len, &v->number);
		if (rc > 0)
			v->kind = TSV_TEXT;
		return rc >= 0;
	case TSV_REAL:
		if (!read_real(text, len, &v->real))
			return false;
		v->null = isnan(v->real);
		return true;
	default: v->len = unescape(text, len); return true;
	}
}

/* ---- lines ---- */

/* The next field of a line; false after the last. */
static bool next_field(char **at, char *end, char **field, size_t *len)
{
	char *tab;

	if (!*at)
		return false;
	tab = memchr(*at, '\t', (size_t)(end - *at));
	*field = *at;
	*len = (size_t)((tab ? tab : end) - *at);
	*at = tab ? tab + 1 : NULL;
	return true;
}

static size_t count_fields(const char *line, size_t len)
{
	size_t n = 1;

	for (size_t i = 0; i < len; i++)
		n += line[i] == '\t';
	return n;
}

static int take_types(struct tsv *t, char *line, size_t len)
{
	char *at = line, *field;
	size_t n;

	if (count_fields(line, len) != t->kinds.n)
		return -EBADMSG;
	for (size_t i = 0; next_field(&at, line + len, &field, &n); i++) {
		if (!n || !isalpha((unsigned char)*field))
			return -EBADMSG;
		t->kinds.at[i] = tsv_kind_of(field, n);
	}
	return 0;
}

static int take_names(struct tsv *t, char *line, size_t len)
{
	char *at = line, *field;
	size_t n;

	if (count_fields(line, len) > TSV_COLUMNS)
		return -EBADMSG;
	while (next_field(&at, line + len, &field, &n)) {
		if (!strings_add_bytes(&t->names, field, unescape(field, n)) ||
		    !vec_push(&t->kinds) || !vec_push(&t->values))
			return -ENOMEM;
	}
	return 0;
}

int tsv_take(struct tsv *t, char *line, size_t len)
{
	char *at = line, *field;
	size_t n, i = 0;

	if (t->lines < 2) {
		const int rc = t->lines ? take_types(t, line, len) : take_names(t, line, len);

		t->lines++;
		return rc;
	}
	if (count_fields(line, len) != t->kinds.n)
		return -EBADMSG;
	for (; next_field(&at, line + len, &field, &n); i++) {
		t->values.at[i] = (struct tsv_value){.kind = t->kinds.at[i]};
		if (!read_value(&t->values.at[i], field, n))
			return -EBADMSG;
	}
	return 1;
}

/* ---- questions ---- */

#define EXCEPTION_LIMIT 16384 /* bytes of what a server says when it fails midway */
#define KILL_TIMEOUT	(2 * NS_PER_S)

/* Errors of the query itself. */
static const unsigned int faults[] = {
	6,   /* a value cannot be read */
	10,  /* there is no such column in a block */
	16,  /* there is no such column */
	36,  /* bad arguments */
	42,  /* their number */
	43,  /* their types */
	44,  /* a column as one of them */
	46,  /* there is no such function */
	47,  /* there is no such name */
	48,  /* this is not implemented */
	50,  /* there is no such type */
	53,  /* types do not match */
	59,  /* a condition has the wrong type */
	60,  /* there is no such table */
	62,  /* no SQL */
	70,  /* a value cannot become one of another type */
	153, /* division by zero */
	168, /* too much of it */
	184, /* an aggregate within another */
	215, /* neither grouped nor an aggregate */
	386, /* types have nothing in common */
	427, /* no regular expression */
};

/*
 * How much may be set: a user who may only read may set less, and one who may read and nothing else
 * nothing at all.
 */
static const char *const levels[] = {
	"&readonly=2&join_use_nulls=1&send_progress_in_http_headers=1"
	"&http_headers_progress_interval_ms=10000&max_query_size=4194304",
	"&join_use_nulls=1&send_progress_in_http_headers=1"
	"&http_headers_progress_interval_ms=10000&max_query_size=4194304",
	"",
};
#define NR_LEVELS     ARRAY_SIZE(levels)
#define MAY_ONLY_READ 164

/* ---- */

static void make_id(char *to, size_t cap)
{
	uint64_t some = 0;

	if (getrandom(&some, sizeof(some), GRND_NONBLOCK) != sizeof(some))
		some = net_now() ^ (uint64_t)getpid() << 40;
	snprintf(to, cap, "%016llx", (unsigned long long)some);
}

/* {"read_rows":"1","read_bytes":"2","total_rows":"3"} */
static uint64_t number_of(const char *json, const char *name)
{
	const char *at = strstr(json, name);
	uint64_t v = 0;

	if (!at)
		return 0;
	at += strlen(name) + strspn(at + strlen(name), "\": ");
	for (; *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*at - '0'), &v))
			return 0;
	return v;
}

static void take_header(void *arg, const char *name, const char *value)
{
	struct ch_select *c = arg;
	uint64_t total;

	if (strcasecmp(name, "x-clickhouse-progress") != 0 &&
	    strcasecmp(name, "x-clickhouse-summary") != 0)
		return;
	c->read_rows = number_of(value, "\"read_rows\"");
	c->read_bytes = number_of(value, "\"read_bytes\"");
	total = number_of(value, "\"total_rows_to_read\"");
	c->total_rows = total ? total : number_of(value, "\"total_rows\"");
	if (c->progress && c->total_rows >= c->read_rows)
		c->progress(c->arg, c->read_rows, c->total_rows);
}

void ch_select_init(struct ch_select *c, struct ch_server *s)
{
	*c = (struct ch_select){.server = s};
	make_id(c->id, sizeof(c->id));
	http_answer_init(&c->answer, CH_LINE_LIMIT);
	c->answer.header = take_header;
	c->answer.header_arg = c;
}

/* ---- what went wrong ---- */

/* `body` ends with a zero. */
static int refuse(struct ch_select *c, const char *body, struct spur_error *err)
{
	struct spur_error why = {0};
	int rc = ch_judge(c->server, c->answer.status, body, &why);

	if (rc == 0)
		return ch_nonsense(c->server, err);
	if (ch_is_among(faults, ARRAY_SIZE(faults), c->server->code))
		rc = -EINVAL;
	else if (c->rows)
		rc = -ENODATA;
	return error_set(err, rc, "%s", why.text);
}

static int broken(struct ch_select *c, int rc, const struct spur_error *why, struct spur_error *err)
{
	if (rc == -EINTR)
		return error_set(err, -EINTR, "stopped");
	if (rc == -ENOMEM || rc == -ENOSYS || rc == -EACCES || rc == -EINVAL)
		return error_set(err, rc, "%s:%s: %s", c->server->host, c->server->port, why->text);
	return error_set(err, c->rows ? -ENODATA : -EHOSTDOWN, "%s:%s: %s%s", c->server->host,
			 c->server->port, why->text, c->rows ? "; there are more rows" : "");
}

/* Reads more of the body. */
static int read_more(struct ch_select *c, struct spur_error *err)
{
	struct spur_error why = {0};
	int rc;

	if (c->at) {
		struct buf *b = &c->answer.body;

		memmove(b->data, b->data + c->at, b->len - c->at);
		b->len -= c->at;
		c->at = 0;
	}
	rc = http_more(&c->server->http, &c->answer, &why);
	return rc < 0 ? broken(c, rc, &why, err) : 0;
}

/* Reads as far as an exception may reach; returns whether the answer ends there. */
static bool ends_soon(struct ch_select *c)
{
	struct spur_error ignored = {0};

	while (!c->answer.done && c->answer.body.len - c->at < EXCEPTION_LIMIT)
		/* The server may close the connection after an exception. */
		if (read_more(c, &ignored) < 0)
			return true;
	return c->answer.done && c->answer.body.len - c->at <= EXCEPTION_LIMIT;
}

/* The line is no row, so the rest should be an exception. */
static int fail_midway(struct ch_select *c, struct spur_error *err)
{
	const char *code;

	ends_soon(c);
	code = strstr(buf_str(&c->answer.body) + c->at, "Code: ");
	c->runs = false;
	if (code && strstr(code, "DB::"))
		return refuse(c, code, err);
	return ch_nonsense(c->server, err);
}

/* ---- asking ---- */

static int post(struct ch_select *c, const char *settings, const char *sql, size_t len,
		struct spur_error *err)
{
	struct ch_server *s = c->server;
	struct http_request q = {.body = sql, .len = len};
	struct spur_error why = {0};
	int rc;

	buf_reset(&s->path);
	buf_printf(&s->path,
		   "/?query_id=%s&default_format=TabSeparatedWithNamesAndTypes&database=", c->id);
	http_encode(&s->path, s->to->database, strlen(s->to->database));
	buf_puts(&s->path, settings);
	q.path = buf_str(&s->path);
	c->at = 0;
	c->connected = true;
	rc = http_begin(&s->http, &q, &c->answer, &why);
	c->runs = rc == -EINTR || rc == -ETIMEDOUT || rc == 0;
	return rc < 0 ? broken(c, rc, &why, err) : 0;
}

/* The answer is an exception: all of it, as far as it matters. */
static int take_exception(struct ch_select *c, struct spur_error *err)
{
	while (!c->answer.done && c->answer.body.len < EXCEPTION_LIMIT) {
		const int rc = read_more(c, err);

		if (rc < 0)
			return rc;
	}
	c->runs = false;
	if (!c->answer.done)
		http_abort(&c->server->http);
	return refuse(c, buf_str(&c->answer.body), err);
}

static int ask(struct ch_select *c, const char *sql, size_t len, struct spur_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < NR_LEVELS; i++) {
		struct spur_error why = {0};

		/* Without the setting there would be zeros where NULLs belong. */
		if (!*levels[i] && c->joins_outer)
			return error_set(err, -EREMOTEIO,
					 "%s:%s: this user may not set join_use_nulls, which a "
					 "LEFT JOIN needs",
					 c->server->host, c->server->port);
		rc = post(c, levels[i], sql, len, err);
		if (rc < 0 || c->answer.status == 200)
			return rc;
		rc = take_exception(c, &why);
		if (c->server->code != MAY_ONLY_READ || !strstr(why.text, "setting") ||
		    i + 1 == NR_LEVELS)
			return error_set(err, rc, "%s", why.text);
	}
	return rc;
}

/* ---- rows ---- */

/* If a column is text, any line may be a row, so an exception may look like one. */
static bool may_be_exception(const struct ch_select *c, const char *line, size_t len)
{
	const char *code = memmem(line, len, "Code: ", 6);

	if (!code || (c->tsv.lines < 2 && code != line))
		return false;
	return memmem(code, len - (size_t)(code - line), "DB::Exception: ", 15) != NULL;
}

/* Reads the next line: the result of tsv_take(), or 2 at the end. */
static int take_line(struct ch_select *c, struct spur_error *err)
{
	struct buf *b = &c->answer.body;
	size_t looked = 0; /* bytes of the line without an end */
	size_t len;
	char *end;
	int rc;

	while (!(end = memchr(b->data + c->at + looked, '\n', b->len - c->at - looked))) {
		if (c->answer.done)
			return c->at < b->len || c->tsv.lines < 2 ? fail_midway(c, err) : 2;
		looked = b->len - c->at;
		rc = read_more(c, err);
		if (rc < 0)
			return rc;
	}
	len = (size_t)(end - b->data) - c->at;
	/* An exception is always at the end. */
	if (may_be_exception(c, b->data + c->at, len) && ends_soon(c))
		return fail_midway(c, err);
	rc = tsv_take(&c->tsv, b->data + c->at, len);
	if (rc == -ENOMEM)
		return error_set(err, rc, "out of memory");
	if (rc < 0)
		return fail_midway(c, err);
	c->at += len + 1;
	return rc;
}

int ch_select_begin(struct ch_select *c, const char *sql, size_t len, struct spur_error *err)
{
	int rc = ask(c, sql, len, err);

	while (rc == 0 && c->tsv.lines < 2)
		rc = take_line(c, err);
	return rc;
}

int ch_select_next(struct ch_select *c, struct spur_error *err)
{
	const int rc = take_line(c, err);

	if (rc < 0)
		return rc;
	c->rows += rc == 1;
	c->runs &= rc == 1;
	return rc == 1;
}

/* ---- the end ---- */

/* Over a new connection, which a stop does not end. */
static void kill_query(struct ch_select *c)
{
	const struct ch_address *to = c->server->to;
	const struct http_target target = {
		.host = c->server->host, .port = c->server->port, .tls = to->tls, .ca = to->ca};
	struct http_answer answer;
	struct http http;
	char sql[100];
	bool sent;

	snprintf(sql, sizeof(sql), "KILL QUERY WHERE query_id = '%s' ASYNC", c->id);
	http_init(&http, &target, to->headers, KILL_TIMEOUT);
	http_answer_init(&answer, EXCEPTION_LIMIT);
	http_post(&http, &(struct http_request){"/", sql, strlen(sql)}, &answer, &sent, NULL);
	http_answer_free(&answer);
	http_done(&http);
}

void ch_select_end(struct ch_select *c)
{
	if (!c->server)
		return;
	if (c->connected && (c->runs || !c->answer.done))
		http_abort(&c->server->http);
	if (c->runs && !c->answer.done)
		kill_query(c);
	http_answer_free(&c->answer);
	tsv_free(&c->tsv);
	c->server = NULL;
}
