/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One ClickHouse server: where it is and how it is to be talked to, which is
 * clickhouse://HOST[:PORT]/DATABASE (clickhouses:// with TLS) and settings; and questions over HTTP
 * whose answers are short enough to be kept.
 *
 * What functions return: 0; -EREMOTEIO when the server refuses, which will not change by trying
 * again; -EHOSTDOWN when it cannot be reached or does not make sense; -EINTR after a stop.
 */
#ifndef STORE_CLICKHOUSE_SERVER_H
#define STORE_CLICKHOUSE_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include <spur/error.h>

#include "base/buf.h"
#include "net/http.h"

struct ch_address {
	char *host, *port, *database;
	char *headers; /* who we are, for the server; never NULL once it has been read */
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

/* Whether this is an address of ClickHouse, be it a good one or not. */
bool ch_address_is(const char *target);

/* What settings return must stay. ch_address_free() is due in any case. */
int ch_address_read(struct ch_address *o, const char *target, const struct ch_settings *s,
		    struct spur_error *err);
void ch_address_free(struct ch_address *o);

/* Whether a password would go over a network as it is. */
bool ch_address_exposes(const struct ch_address *o);

/* A setting from 0 to `most`; *to stays as it is without one. */
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
	struct http_answer answer; /* to what was asked last, its body terminated */
	struct buf sql, path;
	unsigned int code; /* of what the server refused last; 0: it did not say */
	bool away;	   /* it has been tried in vain */
	struct spur_error why;
	bool known; /* its tables are */
	struct {
		struct ch_table_info *at;
		size_t n, cap;
	} tables;
};

int ch_server_init(struct ch_server *s, const struct ch_address *to, const char *host,
		   size_t host_len, const char *port, size_t port_len, struct spur_error *err);
void ch_server_free(struct ch_server *s);

/* Asks what is in s->sql, again and again if need be. */
int ch_ask(struct ch_server *s, struct spur_error *err);

/* Inserts a block by what is in s->sql; once. *sent: the server may have it in any case. */
int ch_insert(struct ch_server *s, const char *query_id, const struct buf *data, bool *sent,
	      struct spur_error *err);

/* Waits before the n-th try, from 1 on. */
int ch_back_off(const struct ch_server *s, unsigned int n);

/* Fields of an answer: the next one of a line, unescaped in place; NULL after the last. */
char *ch_field(char **at);
/* The next line of an answer; NULL after the last. */
char *ch_line(char **at);
/* An answer that is not what was asked for. */
int ch_nonsense(struct ch_server *s, struct spur_error *err);
bool ch_read_number(const char *text, uint64_t *out);

/*
 * What the server says: 0 when it is no exception, -EREMOTEIO, or -EHOSTDOWN for what may be better
 * next time; with its words, and its code in s->code.
 */
int ch_judge(struct ch_server *s, int status, const char *body, struct spur_error *err);

/* A name, and a text, as SQL writes them. */
void ch_put_name(struct buf *to, const char *name);
void ch_put_string(struct buf *to, const char *text);

/* ---- tables ---- */

/* Learns what tables there are, unless that is known. */
int ch_tables_load(struct ch_server *s, struct spur_error *err);
void ch_tables_forget(struct ch_server *s);
struct ch_table_info *ch_table_find(const struct ch_server *s, const char *name);
const struct ch_info_column *ch_column_find(const struct ch_table_info *t, const char *name);
/* Adds one; -ENOMEM. */
int ch_column_know(struct ch_server *s, const char *table, const char *name, const char *type);

#endif
