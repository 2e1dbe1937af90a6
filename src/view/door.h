/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who may ask: the secret that a page has to know, and the headers that tell whose page it is.
 *
 * A page of another site can make a browser send requests here. It cannot read the token, its name
 * is not one of ours (Host, so that a name that suddenly means 127.0.0.1 is of no use), and the
 * browser says where it is from (Origin).
 */
#ifndef VIEW_DOOR_H
#define VIEW_DOOR_H

#include <stdbool.h>
#include <stdint.h>

#include <spur/error.h>

#define DOOR_TOKEN 40 /* hexadecimal digits: 160 bits */

struct door {
	uint16_t port;
	bool loopback;	   /* nobody from elsewhere can come */
	bool any;	   /* every address of the machine is served */
	char address[64];  /* the one that is, as a URL has it: 127.0.0.1, [::1] */
	char machine[256]; /* its name */
	char token[DOOR_TOKEN + 1];
	char once[DOOR_TOKEN + 1]; /* opens once, for what others may see on a command line */
	_Atomic int used;	   /* … and it did */
};

/* Makes the secrets; the rest is the caller's. */
int door_init(struct door *d, struct spur_error *err);

/* Whether an address, without brackets, is one that only this machine can reach. */
bool door_loopback(const char *address);

/* Whether a Host header names this server. NULL is wrong. */
bool door_host(const struct door *d, const char *host);

/* Whether an Origin header is the page of that Host. NULL, no such header, is fine. */
bool door_origin(const char *origin, const char *host);

/* Whether a text is the token, in a time that does not depend on how much of it is right. */
bool door_token(const struct door *d, const char *text);

/* The same for a link that is followed: the token, or the other one if it has not been used. */
bool door_link(struct door *d, const char *text);

/* "Bearer TOKEN" of an Authorization header; the cookie of this port among others. Or NULL. */
bool door_bearer(const struct door *d, const char *header);
bool door_cookie(const struct door *d, const char *header);

#endif
