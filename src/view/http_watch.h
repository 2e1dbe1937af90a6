/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/view: tells those who answer when nobody waits for their answer any more, because
 * the connection was closed, the server ends, or too much time has passed.
 */
#ifndef VIEW_HTTP_WATCH_H
#define VIEW_HTTP_WATCH_H

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

/* NULL without memory or threads. Freed when nothing is watched any more. */
struct http_watch *http_watch_new(void);
void http_watch_free(struct http_watch *w);

void http_watch_add(struct http_watch *w, struct http_watched *q, int fd);
void http_watch_remove(struct http_watch *w, struct http_watched *q);

/* Stops all that are watched, and all that will be. */
void http_watch_end(struct http_watch *w);

#endif
