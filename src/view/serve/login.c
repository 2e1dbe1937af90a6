// SPDX-License-Identifier: GPL-2.0-or-later
/* Who may ask: secrets of links and of the session, and the headers that name a page's origin. */
#include "view/serve/login.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mutex.h"
#include "base/num.h"

static int make_token(char *out, struct spur_error *err)
{
	uint8_t bytes[LOGIN_TOKEN / 2];

	/* So few bytes come whole, or not at all. */
	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return error_set(err, -EIO, "there are no random numbers for a link");
	for (size_t i = 0; i < sizeof(bytes); i++)
		memcpy(out + 2 * i, num_hex_pairs + 2 * bytes[i], 2);
	out[LOGIN_TOKEN] = '\0';
	return 0;
}

int login_init(struct login *d, struct spur_error *err)
{
	memset(d->links, 0, sizeof(d->links));
	d->next = 0;
	pthread_mutex_init(&d->lock, NULL);
	return make_token(d->session, err);
}

void login_free(struct login *d)
{
	pthread_mutex_destroy(&d->lock);
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

void login_set_address(struct login *d, const struct sockaddr *sa)
{
	const struct sockaddr_in *four = (const void *)sa;
	const struct sockaddr_in6 *six = (const void *)sa;
	char text[INET6_ADDRSTRLEN] = "";

	if (sa->sa_family == AF_INET) {
		d->port = ntohs(four->sin_port);
		d->any = four->sin_addr.s_addr == htonl(INADDR_ANY);
		d->loopback = is_loopback(AF_INET, &four->sin_addr);
		inet_ntop(AF_INET, &four->sin_addr, d->address, sizeof(d->address));
	} else {
		d->port = ntohs(six->sin6_port);
		d->any = IN6_IS_ADDR_UNSPECIFIED(&six->sin6_addr);
		d->loopback = is_loopback(AF_INET6, &six->sin6_addr);
		inet_ntop(AF_INET6, &six->sin6_addr, text, sizeof(text));
		snprintf(d->address, sizeof(d->address), "[%s]", text);
	}
	if (gethostname(d->machine, sizeof(d->machine) - 1) != 0)
		d->machine[0] = '\0';
}

bool login_loopback(const char *address)
{
	struct in6_addr raw;

	if (strcasecmp(address, "localhost") == 0)
		return true;
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

bool login_host(const struct login *d, const char *host)
{
	bool loopback;
	char name[256];
	uint32_t port;

	if (!host || !split_host(host, name, sizeof(name), &port) || port != d->port)
		return false;
	if (strcasecmp(name, "localhost") == 0)
		return true;
	/* An address is compared as an address, not as a name. */
	if (is_address(name, &loopback))
		return loopback || d->any || strcasecmp(name, d->address) == 0;
	return !d->loopback && *d->machine && strcasecmp(name, d->machine) == 0;
}

bool login_origin(const char *origin, const char *host)
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

	if (len != LOGIN_TOKEN)
		return false;
	for (size_t i = 0; i < LOGIN_TOKEN; i++)
		differs |= (unsigned char)(secret[i] ^ text[i]);
	return !differs;
}

int login_new_link(struct login *d, char *out, struct spur_error *err)
{
	int rc = make_token(out, err);

	if (rc < 0)
		return rc;
	mutex_hold(&d->lock);
	memcpy(d->links[d->next++ % LOGIN_LINKS], out, LOGIN_TOKEN + 1);
	return 0;
}

bool login_follow(struct login *d, const char *text)
{
	const size_t len = strlen(text);
	bool follows = false;

	mutex_hold(&d->lock);
	for (size_t i = 0; i < LOGIN_LINKS; i++) {
		if (!*d->links[i] || !same(d->links[i], text, len))
			continue;
		*d->links[i] = '\0';
		follows = true;
	}
	return follows;
}

bool login_bearer(const struct login *d, const char *header)
{
	return header && strncasecmp(header, "Bearer ", 7) == 0 &&
	       same(d->session, header + 7, strlen(header + 7));
}
