/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a ClickHouse server is and how it is to be talked to: clickhouse://HOST[:PORT]/DATABASE
 * (clickhouses:// with TLS) and settings. Exports and queries share it.
 */
#ifndef STORE_CLICKHOUSE_ADDRESS_H
#define STORE_CLICKHOUSE_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include <spur/error.h>

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

#endif
