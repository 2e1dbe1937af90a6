/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/view: tells those who answer when nobody waits for their answer any more, because
 * the connection was closed, the server ends, or too much time has passed. And shows those the door
 * who have a connection and do not say who they are: there are few connections.
 */
#ifndef VIEW_HTTP_WATCH_H
#define VIEW_HTTP_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"

struct http_watch;

/* A question that is being answered. */
struct http_watched {
	volatile int stop;
	int fd; /* of the connection */
	uint64_t until;
	uint64_t number; /* no two have the same: memory and descriptors are used again */
	struct list link;
};

/* Who has a connection. */
struct http_guest {
	int fd;
	uint64_t heard; /* when it came, or asked for something the last time */
	bool known;	/* it knew the session's secret */
	bool sent_away;
	struct list link;
};

/* NULL without memory or threads. Freed when nothing is watched any more. */
struct http_watch *http_watch_new(void);
void http_watch_free(struct http_watch *w);

void http_watch_add(struct http_watch *w, struct http_watched *q, int fd);
void http_watch_remove(struct http_watch *w, struct http_watched *q);

/* Somebody comes, asks, says the secret, goes. NULL is a guest that is not remembered. */
struct http_guest *http_watch_come(struct http_watch *w, int fd);
void http_watch_heard(struct http_watch *w, struct http_guest *g);
void http_watch_know(struct http_watch *w, struct http_guest *g);
void http_watch_go(struct http_watch *w, struct http_guest *g);

/* Stops all that are watched, and all that will be. */
void http_watch_end(struct http_watch *w);

#endif
