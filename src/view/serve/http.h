/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Serving a view to a browser: the page, and the answers to what it asks.
 *
 * http_listen() opens the socket, which may need privileges; http_start() begins to serve and needs
 * none. Both are refused, with one line, by a program that was built without libmicrohttpd.
 */
#ifndef VIEW_SERVE_HTTP_H
#define VIEW_SERVE_HTTP_H

#include <stddef.h>

#include <spur/error.h>

#include "view/serve/login.h"
#include "view/view.h"

struct http_options {
	const char *bind; /* an address or "localhost"; NULL: 127.0.0.1 */
	uint16_t port;	  /* 0: a free one */
	const char *web;  /* a folder whose files are served instead of the built-in page; NULL */
};

struct http;

int http_listen(const struct http_options *opt, struct http **out, struct spur_error *err);
/* The view must outlive the server. */
int http_start(struct http *h, struct view *v, struct spur_error *err);
/* Ends all questions that are being answered and closes everything; NULL is fine. */
void http_close(struct http *h);

/* The port, the secrets, and whether only this machine can ask. */
struct login *http_login(struct http *h);

/* A file of the built-in page. */
struct asset {
	const char *name;
	const unsigned char *data;
	size_t size;
};

/* Up to one without a name; tools/embed-files writes it. */
extern const struct asset assets[];

#endif
