// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who we are is never said on the command line, which everybody on a machine can read.
 */
#include "store/clickhouse/address.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"

#define NS_PER_S	  1e9
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
	o->timeout = (uint64_t)(timeout * NS_PER_S);
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
