// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One ClickHouse server: its address, requests and retries, its errors, and its tables. Credentials
 * are never given on the command line, which everybody on a machine can read.
 *
 * An answer is either the expected data, or an exception with a code and a message. Everything else
 * comes from a proxy, or from something that is no ClickHouse server.
 */
#include "store/clickhouse/server.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/nanoseconds.h"
#include "base/safe.h"
#include "base/vec.h"

/* ---- address ---- */

#define MAX_TIMEOUT	  86400
#define MAX_RETRIES	  100
#define DEFAULT_TIMEOUT	  60
#define DEFAULT_RETRIES	  5
#define CREDENTIALS_LIMIT 4096
#define MAX_DATABASE	  128
#define MAX_HOST	  253
#define MAX_PORT	  65535

static int no_memory(struct spur_error *err)
{
	return error_set(err, -ENOMEM, "out of memory");
}

bool ch_address_is(const char *target)
{
	return strncmp(target, "clickhouse://", 13) == 0 ||
	       strncmp(target, "clickhouses://", 14) == 0;
}

void ch_address_free(struct ch_address *o)
{
	free(o->host);
	free(o->port);
	free(o->database);
	if (o->headers)
		explicit_bzero(o->headers, strlen(o->headers));
	free(o->headers);
}

/* ---- the address ---- */

static int bad_address(const char *target, const char *why, struct spur_error *err)
{
	return error_set(err, -EINVAL,
			 "'%.100s': %s; an address is clickhouse://HOST:PORT/DATABASE", target,
			 why);
}

static bool is_port(const char *text)
{
	const size_t digits = strspn(text, "0123456789");
	const long number = strtol(text, NULL, 10);

	return digits && digits <= 5 && !text[digits] && number >= 1 && number <= MAX_PORT;
}

/* HOST, HOST:PORT, [IPV6]:PORT */
static int read_place(struct ch_address *o, const char *target, const char *at, size_t len,
		      struct spur_error *err)
{
	const char *end = at + len, *colon;
	size_t host_len;

	if (len && *at == '[') {
		const char *close = memchr(at, ']', len);

		if (!close || (close + 1 < end && close[1] != ':'))
			return bad_address(target, "a bracket is missing", err);
		at++;
		host_len = (size_t)(close - at);
		colon = close + 1 < end ? close + 1 : NULL;
	} else {
		colon = memchr(at, ':', len);
		host_len = colon ? (size_t)(colon - at) : len;
	}
	if (!host_len || host_len > MAX_HOST)
		return bad_address(target, "there is no host in it", err);
	for (size_t i = 0; i < host_len; i++)
		if (!isalnum((unsigned char)at[i]) && !memchr(".-_:%", at[i], 5))
			return bad_address(target, "this is no host", err);
	o->host = strndup(at, host_len);
	o->port = colon ? strndup(colon + 1, (size_t)(end - colon - 1))
			: strdup(o->tls ? "8443" : "8123");
	if (!o->host || !o->port)
		return no_memory(err);
	return is_port(o->port) ? 0
				: bad_address(target, "a port is a number from 1 to 65535", err);
}

static int read_address(struct ch_address *o, const char *target, struct spur_error *err)
{
	const char *at = strstr(target, "://"), *slash;

	if (!at)
		return bad_address(target, "it does not say where the server is", err);
	o->tls |= at[-1] == 's';
	at += 3;
	if (strchr(at, '@'))
		return error_set(
			err, -EINVAL,
			"names and passwords do not belong into an address, where everybody "
			"on the machine can read them: put them into a file "
			"(-O credentials=FILE) or into SPUR_CLICKHOUSE_USER and "
			"SPUR_CLICKHOUSE_PASSWORD");
	slash = strchr(at, '/');
	if (!slash || !slash[1])
		return bad_address(target, "there is no database in it", err);
	if (strlen(slash + 1) > MAX_DATABASE)
		return bad_address(target, "the database's name is too long", err);
	for (const char *c = slash + 1; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '_')
			return bad_address(target, "a database's name is letters, digits and _",
					   err);
	o->database = strdup(slash + 1);
	return o->database ? read_place(o, target, at, (size_t)(slash - at), err) : no_memory(err);
}

/* ---- who we are ---- */

/* Goes into a header. */
static int check_word(const char *what, const char *text, struct spur_error *err)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return error_set(err, -EINVAL, "%s has a control character in it", what);
	return 0;
}

static int set_headers(struct ch_address *o, const char *user, const char *password,
		       struct spur_error *err)
{
	int rc = user ? check_word("the user's name", user, err) : 0;

	if (rc == 0 && password)
		rc = check_word("the password", password, err);
	if (rc < 0)
		return rc;
	if (asprintf(&o->headers, "%s%s%s%s%s%s", user ? "X-ClickHouse-User: " : "",
		     user ? user : "", user ? "\r\n" : "", password ? "X-ClickHouse-Key: " : "",
		     password ? password : "", password ? "\r\n" : "") < 0) {
		o->headers = NULL;
		return no_memory(err);
	}
	return 0;
}

/* Lines user=NAME and password=SECRET. */
static int parse_credentials(struct ch_address *o, const char *path, char *text,
			     struct spur_error *err)
{
	const char *user = NULL, *password = NULL;
	char *rest = text;

	for (char *line; (line = strsep(&rest, "\n"));) {
		line[strcspn(line, "\r")] = '\0';
		if (!*line || *line == '#')
			continue;
		if (strncmp(line, "user=", 5) == 0)
			user = line + 5;
		else if (strncmp(line, "password=", 9) == 0)
			password = line + 9;
		else
			return error_set(err, -EINVAL,
					 "%s: its lines are user=NAME and password=SECRET", path);
	}
	return set_headers(o, user, password, err);
}

static int read_credentials(struct ch_address *o, const char *path, struct spur_error *err)
{
	struct buf text;
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;

	if (fd < 0)
		return error_sys(err, -errno, "%s", path);
	buf_init(&text, CREDENTIALS_LIMIT);
	if (fstat(fd, &st) != 0)
		rc = error_sys(err, -errno, "%s", path);
	else if (st.st_mode & 077)
		rc = error_set(err, -EACCES, "%s can be read by others (mode %o): chmod 600 %s",
			       path, (unsigned int)st.st_mode & 0777, path);
	if (rc == 0)
		rc = file_read_fd(fd, path, &text, err);
	if (rc == 0)
		rc = parse_credentials(o, path, text.data, err);
	explicit_bzero(text.data, text.cap);
	buf_free(&text);
	close(fd);
	return rc;
}

/* ---- settings ---- */

int ch_setting_number(const struct ch_settings *s, const char *name, double most, double *to,
		      struct spur_error *err)
{
	const char *text = s->get(s->arg, name);
	char *end;
	double v;

	if (!text)
		return 0;
	v = strtod(text, &end);
	if (end == text || *end || !(v >= 0 && v <= most))
		return error_set(err, -EINVAL, "%s=%s: a number from 0 to %g is needed", name, text,
				 most);
	*to = v;
	return 0;
}

static int read_numbers(struct ch_address *o, const struct ch_settings *s, struct spur_error *err)
{
	double timeout = DEFAULT_TIMEOUT, retries = DEFAULT_RETRIES, tls = 0;
	int rc = ch_setting_number(s, "timeout", MAX_TIMEOUT, &timeout, err);

	if (rc == 0)
		rc = ch_setting_number(s, "retries", MAX_RETRIES, &retries, err);
	if (rc == 0)
		rc = ch_setting_number(s, "tls", 1, &tls, err);
	o->timeout = (uint64_t)(timeout * (double)NS_PER_S);
	o->retries = (unsigned int)retries;
	o->tls = tls > 0;
	return rc;
}

int ch_address_read(struct ch_address *o, const char *target, const struct ch_settings *s,
		    struct spur_error *err)
{
	const char *credentials = s->get(s->arg, "credentials");
	int rc;

	*o = (struct ch_address){
		.ca = s->get(s->arg, "ca"),
		.cluster = s->get(s->arg, "cluster"),
		.stop = s->stop,
	};
	rc = read_numbers(o, s, err);
	if (rc == 0)
		rc = read_address(o, target, err);
	if (rc == 0)
		rc = credentials ? read_credentials(o, credentials, err)
				 : set_headers(o, getenv("SPUR_CLICKHOUSE_USER"),
					       getenv("SPUR_CLICKHOUSE_PASSWORD"), err);
	return rc;
}

bool ch_address_exposes(const struct ch_address *o)
{
	return *o->headers && !o->tls && strncmp(o->host, "127.", 4) != 0 &&
	       strcmp(o->host, "::1") != 0 && strcmp(o->host, "localhost") != 0;
}

/* ---- questions ---- */

#define ANSWER_LIMIT  (32u << 20) /* the columns of all tables */
#define SQL_LIMIT     (1u << 20)
#define PATH_LIMIT    (192u << 10)
#define WORDS	      280 /* bytes of the server's message that are shown */
#define FIRST_BACKOFF 250000000ull
#define MAX_BACKOFF   10000000000ull

/* Errors that may be temporary. */
static const unsigned int passing[] = {
	159, /* a timeout of the server's own */
	202, /* too many simultaneous queries */
	203, /* no free connection */
	209, /* a socket's timeout */
	210, /* network error */
	216, /* the same query runs already */
	236, /* aborted: it shuts down */
	241, /* memory limit */
	242, /* a table is read only, for now */
	243, /* not enough space */
	252, /* too many parts: merging is late */
	279, /* all connection tries failed */
	319, /* it does not know whether the insert succeeded */
	394, /* the query was cancelled */
	425, /* a system call failed */
	439, /* no thread */
	999, /* its keeper is not available */
};

int ch_server_init(struct ch_server *s, const struct ch_address *to, const char *host,
		   size_t host_len, const char *port, size_t port_len, struct spur_error *err)
{
	struct http_target target = {.tls = to->tls, .ca = to->ca, .stop = to->stop};

	*s = (struct ch_server){.to = to};
	s->host = strndup(host, host_len);
	s->port = strndup(port, port_len);
	target.host = s->host;
	target.port = s->port;
	http_init(&s->http, &target, to->headers, to->timeout);
	http_answer_init(&s->answer, ANSWER_LIMIT);
	buf_init(&s->sql, SQL_LIMIT);
	buf_init(&s->path, PATH_LIMIT);
	return s->host && s->port ? 0 : error_set(err, -ENOMEM, "out of memory");
}

void ch_server_free(struct ch_server *s)
{
	if (!s->to)
		return;
	ch_tables_forget(s);
	free(s->tables.at);
	http_done(&s->http);
	http_answer_free(&s->answer);
	buf_free(&s->sql);
	buf_free(&s->path);
	free(s->host);
	free(s->port);
	s->to = NULL;
}

/* ---- what it says ---- */

/* The message of an exception in one line, without the place in the server's code. */
static void clean_words(const char *body, char *out, size_t cap)
{
	const char *at = strstr(body, "DB::Exception: "), *end;
	struct buf text;
	size_t n = 0;

	at = at ? at + strlen("DB::Exception: ") : body;
	end = at + strnlen(at, WORDS * 4);
	for (const char *const *mark =
		     (const char *const[]){", e.what()", " (version ", "Stack trace", NULL};
	     *mark; mark++) {
		const char *there = strstr(at, *mark);

		if (there && there < end)
			end = there;
	}
	buf_init(&text, WORDS * 16);
	buf_put_safe(&text, at, (size_t)(end - at));
	for (size_t i = 0; i < text.len && n + 1 < cap; i++) {
		const bool blank = isspace((unsigned char)text.data[i]);

		if (!blank)
			out[n++] = text.data[i];
		else if (n && out[n - 1] != ' ')
			out[n++] = ' ';
	}
	while (n && strchr(" .", out[n - 1]))
		n--;
	out[n] = '\0';
	buf_free(&text);
}

bool ch_is_among(const unsigned int *codes, size_t n, unsigned int code)
{
	for (size_t i = 0; i < n; i++)
		if (codes[i] == code)
			return true;
	return false;
}

int ch_judge(struct ch_server *s, int status, const char *body, struct spur_error *err)
{
	char words[WORDS] = "";
	int rc;

	s->code = 0;
	if (status == 200 && strncmp(body, "Code: ", 6) != 0)
		return 0;
	if (strncmp(body, "Code: ", 6) == 0) {
		for (const char *c = body + 6; isdigit((unsigned char)*c) && s->code < 100000; c++)
			s->code = s->code * 10 + (unsigned int)(*c - '0');
		rc = ch_is_among(passing, ARRAY_SIZE(passing), s->code) ? -EHOSTDOWN : -EREMOTEIO;
	} else {
		rc = status >= 400 && status < 500 && status != 408 && status != 429 ? -EREMOTEIO
										     : -EHOSTDOWN;
	}
	clean_words(body, words, sizeof(words));
	if (s->code)
		return error_set(err, rc, "%s:%s: %s (code %u)", s->host, s->port, words, s->code);
	return error_set(err, rc, "%s:%s: HTTP status %d%s%.100s", s->host, s->port, status,
			 *words ? ": " : "", words);
}

int ch_nonsense(struct ch_server *s, struct spur_error *err)
{
	return error_set(err, -EHOSTDOWN, "%s:%s: the answer is not what was asked for", s->host,
			 s->port);
}

int ch_pass_on(int rc, const struct spur_error *why, struct spur_error *err)
{
	return rc < 0 && rc != -EINTR ? error_set(err, rc, "%s", why->text) : rc;
}

/* Whether an error is local, or a stop: a retry would fail, too. */
static bool is_ours(int rc)
{
	return rc == -EINTR || rc == -ENOMEM || rc == -EINVAL || rc == -ENOSYS || rc == -EACCES;
}

static int post(struct ch_server *s, const struct http_request *q, bool *sent,
		struct spur_error *err)
{
	struct spur_error why = {0};
	int rc = http_post(&s->http, q, &s->answer, sent, &why);

	if (rc == 0)
		return ch_judge(s, s->answer.status, buf_str(&s->answer.body), err);
	if (rc == -EINTR)
		return rc;
	error_set(err, is_ours(rc) ? rc : -EHOSTDOWN, "%s:%s: %s", s->host, s->port, why.text);
	return is_ours(rc) ? rc : -EHOSTDOWN;
}

/* ---- asking ---- */

int ch_back_off(const struct ch_server *s, unsigned int n)
{
	uint64_t ns = n < 7 ? FIRST_BACKOFF << (n - 1) : MAX_BACKOFF;
	uint8_t some = 0;

	/* Random, so that many machines do not retry at the same time. */
	if (getrandom(&some, 1, GRND_NONBLOCK) == 1)
		ns += ns / 512 * some;
	return net_sleep(ns < MAX_BACKOFF ? ns : MAX_BACKOFF, s->to->stop);
}

static int give_up(struct ch_server *s, const struct spur_error *why, struct spur_error *err)
{
	s->away = true;
	s->why = *why;
	return error_set(err, -EHOSTDOWN, "%s", why->text);
}

int ch_ask(struct ch_server *s, struct spur_error *err)
{
	struct spur_error why = {0};
	bool sent;
	int rc = 0;

	if (buf_full(&s->sql))
		return error_set(err, -E2BIG, "a question to the server is too long");
	if (s->away)
		return error_set(err, -EHOSTDOWN, "%s", s->why.text);
	for (unsigned int n = 0; n <= s->to->retries; n++) {
		const struct http_request q = {"/", s->sql.data, s->sql.len};

		if (n && ch_back_off(s, n) < 0)
			return -EINTR;
		why = (struct spur_error){0};
		rc = post(s, &q, &sent, &why);
		if (rc != -EHOSTDOWN)
			break;
	}
	if (rc == -EHOSTDOWN)
		return give_up(s, &why, err);
	return ch_pass_on(rc, &why, err);
}

int ch_ask_number(struct ch_server *s, uint64_t *out, struct spur_error *err)
{
	const int rc = ch_ask(s, err);
	char *at = s->answer.body.data;

	if (rc == 0 && !ch_read_number(ch_line(&at), out))
		return ch_nonsense(s, err);
	return rc;
}

int ch_insert(struct ch_server *s, const char *query_id, const struct buf *data, bool *sent,
	      struct spur_error *err)
{
	struct http_request q = {.body = data->data, .len = data->len};
	int rc;

	*sent = false;
	if (s->away)
		return error_set(err, -EHOSTDOWN, "%s", s->why.text);
	buf_reset(&s->path);
	buf_printf(&s->path, "/?query_id=%s&query=", query_id);
	http_encode(&s->path, s->sql.data, s->sql.len);
	q.path = buf_str(&s->path);
	if (buf_full(&s->path) || buf_full(&s->sql))
		return error_set(err, -E2BIG, "a question to the server is too long");
	rc = post(s, &q, sent, err);
	/* The answer to a successful insert is empty. */
	if (rc == 0 && s->answer.body.len)
		return ch_nonsense(s, err);
	return rc;
}

/* ---- answers: lines of fields, with tabs between them ---- */

char *ch_line(char **at)
{
	char *line = *at;

	if (!*line)
		return NULL;
	*at = line + strcspn(line, "\n");
	if (**at)
		*(*at)++ = '\0';
	return line;
}

char *ch_field(char **at)
{
	static const char escapes[] = "b\bf\fr\rn\nt\t0\0";
	char *field = *at, *to = field, *from = field;

	if (!field)
		return NULL;
	for (; *from && *from != '\t'; from++) {
		if (*from == '\\' && from[1]) {
			const char *e = escapes;

			from++;
			while (*e && *e != *from)
				e += 2;
			*to++ = *e && e[1] ? e[1] : *from;
		} else {
			*to++ = *from;
		}
	}
	*at = *from ? from + 1 : NULL;
	*to = '\0';
	return field;
}

bool ch_read_number(const char *text, uint64_t *out)
{
	uint64_t v = 0;

	if (!text || !*text)
		return false;
	for (; *text; text++)
		if (!isdigit((unsigned char)*text) || __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*text - '0'), &v))
			return false;
	*out = v;
	return true;
}

/* ---- questions ---- */

static void put_quoted(struct buf *to, const char *text, char quote)
{
	buf_putc(to, quote);
	for (; *text; text++) {
		if (*text == quote || *text == '\\')
			buf_putc(to, '\\');
		buf_putc(to, *text);
	}
	buf_putc(to, quote);
}

void ch_put_name(struct buf *to, const char *name)
{
	put_quoted(to, name, '`');
}

void ch_put_string(struct buf *to, const char *text)
{
	put_quoted(to, text, '\'');
}

/* ---- tables ---- */

struct ch_table_info *ch_table_find(const struct ch_server *s, const char *name)
{
	/* Mostly it is the table that was found last. */
	for (size_t i = s->tables.n; i; i--)
		if (strcmp(s->tables.at[i - 1].name, name) == 0)
			return &s->tables.at[i - 1];
	return NULL;
}

const struct ch_info_column *ch_column_find(const struct ch_table_info *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->at[i].name, name) == 0)
			return &t->at[i];
	return NULL;
}

int ch_column_know(struct ch_server *s, const char *table, const char *name, const char *type)
{
	struct ch_table_info *t = ch_table_find(s, table);
	struct ch_info_column *c;

	if (!t) {
		t = vec_push(&s->tables);
		if (!t)
			return -ENOMEM;
		t->name = strdup(table);
		if (!t->name) {
			s->tables.n--;
			return -ENOMEM;
		}
	}
	c = vec_push(t);
	if (!c)
		return -ENOMEM;
	c->name = strdup(name);
	c->type = strdup(type);
	if (c->name && c->type)
		return 0;
	free(c->name);
	free(c->type);
	t->n--;
	return -ENOMEM;
}

void ch_tables_forget(struct ch_server *s)
{
	vec_each (t, &s->tables) {
		for (size_t k = 0; k < t->n; k++) {
			free(t->at[k].name);
			free(t->at[k].type);
		}
		free(t->at);
		free(t->name);
	}
	s->tables.n = 0;
	s->known = false;
}

int ch_tables_load(struct ch_server *s, struct spur_error *err)
{
	char *at, *line;
	int rc;

	if (s->known)
		return 0;
	buf_reset(&s->sql);
	buf_puts(&s->sql, "SELECT table, name, type FROM system.columns WHERE database = ");
	ch_put_string(&s->sql, s->to->database);
	buf_puts(&s->sql, " FORMAT TabSeparated");
	rc = ch_ask(s, err);
	if (rc < 0)
		return rc;
	at = s->answer.body.data;
	while ((line = ch_line(&at))) {
		const char *table = ch_field(&line), *name = ch_field(&line);
		const char *type = ch_field(&line);

		if (!type || line)
			return ch_nonsense(s, err);
		if (ch_column_know(s, table, name, type) < 0)
			return error_set(err, -ENOMEM, "out of memory");
	}
	s->known = true;
	return 0;
}
