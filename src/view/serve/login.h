/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who may ask: the secrets that a page has to know, and the headers that tell whose page it is.
 *
 * A link opens once. The page gives its secret back and gets that of the session, which it keeps
 * for this server alone (a cookie would go to every server of the same machine) and sends with each
 * question. So a link is of no use any more when it has been seen, and a session's secret is never
 * in an address.
 *
 * A page of another site can make a browser send requests here. It cannot read the secrets, its
 * name is not one of ours (Host, so that a name that suddenly means 127.0.0.1 is of no use), and
 * the browser says where it is from (Origin).
 */
#ifndef VIEW_SERVE_LOGIN_H
#define VIEW_SERVE_LOGIN_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <spur/error.h>

struct sockaddr;

#define LOGIN_TOKEN 40 /* hexadecimal digits: 160 bits */
#define LOGIN_LINKS 8  /* that wait to be followed; one more, and the oldest is void */

struct login {
	uint16_t port;
	bool loopback;	   /* only this machine can connect */
	bool any;	   /* every address of the machine is served */
	char address[64];  /* the one that is, as a URL has it: 127.0.0.1, [::1] */
	char machine[256]; /* its name */
	char session[LOGIN_TOKEN + 1];
	pthread_mutex_t lock; /* of what follows */
	char links[LOGIN_LINKS][LOGIN_TOKEN + 1];
	size_t next; /* place of the next link */
};

/* Makes the session's secret; what is above it is the caller's. */
int login_init(struct login *d, struct spur_error *err);
void login_free(struct login *d);

/* One more link's secret: LOGIN_TOKEN digits and a NUL. */
int login_new_link(struct login *d, char *out, struct spur_error *err);
/* Whether a text is that of a link that has not been followed. It has now. */
bool login_follow(struct login *d, const char *text);

/* The names of this server: the address it is bound to. */
void login_set_address(struct login *d, const struct sockaddr *sa);

/* Whether an address, without brackets, is one that only this machine can reach. */
bool login_loopback(const char *address);

/* Whether a Host header names this server. NULL is wrong. */
bool login_host(const struct login *d, const char *host);

/* Whether an Origin header is the page of that Host. NULL, no such header, is fine. */
bool login_origin(const char *origin, const char *host);

/*
 * Whether an Authorization header (or NULL) is "Bearer " and the session's secret, in a time that
 * does not depend on how much of it is right.
 */
bool login_bearer(const struct login *d, const char *header);

#endif
