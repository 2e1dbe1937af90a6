/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One ClickHouse server: its address, clickhouse://HOST[:PORT]/DATABASE (clickhouses:// with TLS),
 * its settings, and queries over HTTP with short answers.
 *
 * Functions return 0; -EREMOTEIO if the server refuses, so that a retry is useless; -EHOSTDOWN if
 * it cannot be reached or its answer makes no sense; -EINTR after a stop.
 */
#ifndef STORE_CLICKHOUSE_SERVER_H
#define STORE_CLICKHOUSE_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include <spur/error.h>

#include "base/buf.h"
#include "base/vec.h"
#include "net/http.h"

struct ch_address {
	char *host, *port, *database;
	char *headers; /* with the credentials; not NULL after ch_address_read() */
	const char *ca, *cluster;
	uint64_t timeout; /* nanoseconds */
	unsigned int retries;
	bool tls;
	const volatile int *stop;
};

/* Settings that the user gave: credentials, tls, ca, timeout, retries, cluster. */
struct ch_settings {
	const char *(*get)(const void *arg, const char *name); /* NULL: not given */
	const void *arg;
	const volatile int *stop; /* as in struct http_target */
};

/* Whether this is meant as an address of ClickHouse, be it valid or not. */
bool ch_address_is(const char *target);

/* The texts of the settings must stay valid. Call ch_address_free() in any case. */
int ch_address_read(struct ch_address *o, const char *target, const struct ch_settings *s,
		    struct spur_error *err);
void ch_address_free(struct ch_address *o);

/* Whether a password would be sent unencrypted over a network. */
bool ch_address_exposes(const struct ch_address *o);

/* A setting from 0 to `most`; *to is unchanged if it is not given. */
int ch_setting_number(const struct ch_settings *s, const char *name, double most, double *to,
		      struct spur_error *err);

struct ch_table_info {
	char *name;
	struct ch_info_column {
		char *name, *type;
	} * at;
	size_t n, cap;
};

struct ch_server {
	const struct ch_address *to;
	char *host, *port;
	struct http http;
	struct http_answer answer; /* to the last request; its body is NUL-terminated */
	struct buf sql, path;
	unsigned int code; /* of the last refusal; 0: unknown */
	bool away;	   /* it could not be reached */
	struct spur_error why;
	bool known; /* `tables` is loaded */
	vec_of(struct ch_table_info) tables;
};

int ch_server_init(struct ch_server *s, const struct ch_address *to, const char *host,
		   size_t host_len, const char *port, size_t port_len, struct spur_error *err);
void ch_server_free(struct ch_server *s);

/* Sends s->sql, with retries. */
int ch_ask(struct ch_server *s, struct spur_error *err);
/* The same for a query whose answer is one number. */
int ch_ask_number(struct ch_server *s, uint64_t *out, struct spur_error *err);

/*
 * Inserts a block by s->sql, without retries. *sent: the server may have got it, even after an
 * error.
 */
int ch_insert(struct ch_server *s, const char *query_id, const struct buf *data, bool *sent,
	      struct spur_error *err);

/* Waits before the n-th try, from 1 on. */
int ch_back_off(const struct ch_server *s, unsigned int n);

/* Fields of an answer: the next one of a line, unescaped in place; NULL after the last. */
char *ch_field(char **at);
/* The next line of an answer; NULL after the last. */
char *ch_line(char **at);
/* The error of an answer that makes no sense. */
int ch_nonsense(struct ch_server *s, struct spur_error *err);
/* Returns an error whose message is in `why`; after a stop there is none. */
int ch_pass_on(int rc, const struct spur_error *why, struct spur_error *err);
bool ch_read_number(const char *text, uint64_t *out);

/*
 * Checks an answer for an exception: 0 if it is none, -EREMOTEIO, or -EHOSTDOWN for a temporary
 * error; with the server's message, and its code in s->code.
 */
int ch_judge(struct ch_server *s, int status, const char *body, struct spur_error *err);

/* Whether a list of the server's codes has this one. */
bool ch_is_among(const unsigned int *codes, size_t n, unsigned int code);

/* A name, and a text, as SQL writes them. */
void ch_put_name(struct buf *to, const char *name);
void ch_put_string(struct buf *to, const char *text);

/* ---- tables ---- */

/* Loads the list of tables, unless it is loaded. */
int ch_tables_load(struct ch_server *s, struct spur_error *err);
void ch_tables_forget(struct ch_server *s);
struct ch_table_info *ch_table_find(const struct ch_server *s, const char *name);
const struct ch_info_column *ch_column_find(const struct ch_table_info *t, const char *name);
/* Adds one; -ENOMEM. */
int ch_column_know(struct ch_server *s, const char *table, const char *name, const char *type);

#endif
