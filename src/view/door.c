// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/door.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "base/error.h"
#include "base/num.h"

static int make_token(char *out, struct spur_error *err)
{
	uint8_t bytes[DOOR_TOKEN / 2];

	/* So few bytes come whole, or not at all. */
	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return error_set(err, -EIO, "there are no random numbers for a token");
	for (size_t i = 0; i < sizeof(bytes); i++)
		memcpy(out + 2 * i, num_hex_pairs + 2 * bytes[i], 2);
	out[DOOR_TOKEN] = '\0';
	return 0;
}

int door_init(struct door *d, struct spur_error *err)
{
	int rc = make_token(d->token, err);

	atomic_store(&d->used, 0);
	return rc < 0 ? rc : make_token(d->once, err);
}

/* ---- names ---- */

/* Takes "name", "name:port" or "[address]:port" apart; the port is 80 where it is not said. */
static bool split_host(const char *host, char *name, size_t cap, uint32_t *port)
{
	const char *end = *host == '[' ? strchr(host, ']') : NULL;
	size_t len = end ? (size_t)(end + 1 - host) : strcspn(host, ":");
	char *rest;

	*port = 80;
	if (!len || len >= cap || (*host == '[' && !end))
		return false;
	memcpy(name, host, len);
	name[len] = '\0';
	if (!host[len])
		return true;
	if (host[len] != ':' || strspn(host + len + 1, "0123456789") == 0)
		return false;
	*port = (uint32_t)strtoul(host + len + 1, &rest, 10);
	return !*rest && rest - (host + len + 1) <= 5;
}

static bool is_loopback(int family, const void *address)
{
	const struct in_addr *four = address;

	if (family == AF_INET)
		return ntohl(four->s_addr) >> 24 == 127;
	return IN6_IS_ADDR_LOOPBACK((const struct in6_addr *)address);
}

bool door_loopback(const char *address)
{
	struct in6_addr raw;

	if (inet_pton(AF_INET, address, &raw) == 1)
		return is_loopback(AF_INET, &raw);
	return inet_pton(AF_INET6, address, &raw) == 1 && is_loopback(AF_INET6, &raw);
}

/* Whether it is an address in the form a URL has it, and a loopback one. */
static bool is_address(const char *name, bool *loopback)
{
	const size_t len = strlen(name);
	struct in6_addr raw;
	char text[64];

	if (inet_pton(AF_INET, name, &raw) == 1) {
		*loopback = is_loopback(AF_INET, &raw);
		return true;
	}
	if (len < 3 || len >= sizeof(text) || name[0] != '[' || name[len - 1] != ']')
		return false;
	memcpy(text, name + 1, len - 2);
	text[len - 2] = '\0';
	if (inet_pton(AF_INET6, text, &raw) != 1)
		return false;
	*loopback = is_loopback(AF_INET6, &raw);
	return true;
}

bool door_host(const struct door *d, const char *host)
{
	bool loopback;
	char name[256];
	uint32_t port;

	if (!host || !split_host(host, name, sizeof(name), &port) || port != d->port)
		return false;
	if (strcasecmp(name, "localhost") == 0)
		return true;
	/* No name leads to an address that was given as one. */
	if (is_address(name, &loopback))
		return loopback || d->any || strcasecmp(name, d->address) == 0;
	return !d->loopback && *d->machine && strcasecmp(name, d->machine) == 0;
}

bool door_origin(const char *origin, const char *host)
{
	static const char scheme[] = "http://";

	if (!origin)
		return true;
	return host && strncmp(origin, scheme, sizeof(scheme) - 1) == 0 &&
	       strcasecmp(origin + sizeof(scheme) - 1, host) == 0;
}

/* ---- secrets ---- */

static bool same(const char *secret, const char *text, size_t len)
{
	volatile unsigned char differs = 0;

	if (len != DOOR_TOKEN)
		return false;
	for (size_t i = 0; i < DOOR_TOKEN; i++)
		differs |= (unsigned char)(secret[i] ^ text[i]);
	return !differs;
}

bool door_token(const struct door *d, const char *text)
{
	return text && same(d->token, text, strlen(text));
}

bool door_link(struct door *d, const char *text)
{
	if (door_token(d, text))
		return true;
	return text && same(d->once, text, strlen(text)) && !atomic_exchange(&d->used, 1);
}

bool door_bearer(const struct door *d, const char *header)
{
	return header && strncasecmp(header, "Bearer ", 7) == 0 && door_token(d, header + 7);
}

bool door_cookie(const struct door *d, const char *header)
{
	char name[32];
	int len = snprintf(name, sizeof(name), "spur-%u=", d->port);

	for (const char *at = header, *next; at && *at; at = next) {
		size_t end = strcspn(at, ";");

		next = at + end + (at[end] == ';');
		next += strspn(next, " ");
		if (end > (size_t)len && strncmp(at, name, (size_t)len) == 0 &&
		    same(d->token, at + len, end - (size_t)len))
			return true;
	}
	return false;
}
