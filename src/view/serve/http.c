// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The server: libmicrohttpd with a thread for each of the few connections.
 *
 * A request is accepted or refused when its head is there, before its body is read. Questions go to
 * api.h. Files of the page are the same for everybody and need no secret. A path is used as it was
 * sent: all names are plain, so nothing is decoded and no path leads out of a folder.
 */
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/list.h"
#include "base/mutex.h"
#include "base/nanoseconds.h"
#include "base/scoped.h"
#include "view/api/api.h"
#include "view/serve/http.h"

/* ---- who waits and who has a connection ---- */

/*
 * A question is told to stop when its connection was closed, the server ends, or too much time has
 * passed. There are few connections: one that does not show the secret in time is closed.
 */

#define MAX_WATCHED	128
#define LOOK_MS		1000
#define MAX_SECONDS	120 /* for an answer */
#define MAX_UNKNOWN	32  /* guests that have not said who they are */
#define UNKNOWN_SECONDS 10

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

struct http_watch {
	pthread_mutex_t lock; /* of what follows */
	struct list all;
	struct list guests; /* that are not known, the one that was heard of longest ago first */
	size_t unknown;	    /* of those, not sent away */
	bool ends;
	uint64_t last; /* number that was given */
	int wake;
	pthread_t thread;
};

static struct http_watched *watched(struct list *l)
{
	return list_entry(l, struct http_watched, link);
}

static uint64_t seconds(void)
{
	return clock_now_ns(CLOCK_MONOTONIC) / NS_PER_S;
}

static void wake(struct http_watch *w)
{
	(void)!write(w->wake, &(uint64_t){1}, sizeof(uint64_t));
}

/* Some questions may have ended since the poll began, and others begun: numbers tell them apart. */
static void stop_questions(struct http_watch *w, const struct pollfd *fds, const uint64_t *numbers,
			   size_t n)
{
	const uint64_t now = seconds();

	for (struct list *l = w->all.next; l != &w->all; l = l->next) {
		struct http_watched *q = watched(l);

		if (now >= q->until || w->ends)
			q->stop = 1;
		for (size_t i = 0; i < n; i++)
			if (numbers[i] == q->number && fds[i].revents)
				q->stop = 1;
	}
}

/* Those that have not been told to stop: their connections and numbers. */
static size_t collect(struct http_watch *w, struct pollfd *fds, uint64_t *numbers)
{
	size_t n = 0;

	for (struct list *l = w->all.next; l != &w->all && n < MAX_WATCHED; l = l->next) {
		const struct http_watched *q = watched(l);

		if (q->stop)
			continue;
		fds[n] = (struct pollfd){.fd = q->fd, .events = POLLRDHUP};
		numbers[n++] = q->number;
	}
	return n;
}

/*
 * Ends the connections of guests that have been silent for too long, and of so many more. The
 * threads that read from them close them.
 */
static void send_away(struct http_watch *w, size_t more)
{
	const uint64_t now = seconds();

	for (struct list *l = w->guests.next; l != &w->guests; l = l->next) {
		struct http_guest *g = list_entry(l, struct http_guest, link);

		if (g->sent_away || (now < g->heard + UNKNOWN_SECONDS && !more))
			continue;
		shutdown(g->fd, SHUT_RDWR);
		g->sent_away = true;
		w->unknown--;
		more -= more > 0;
	}
}

static void *watch(void *arg)
{
	struct http_watch *w = arg;
	struct pollfd fds[MAX_WATCHED + 1];
	uint64_t numbers[MAX_WATCHED], count;
	bool ends = false;

	while (!ends) {
		size_t n;

		pthread_mutex_lock(&w->lock);
		n = collect(w, fds, numbers);
		pthread_mutex_unlock(&w->lock);
		fds[n] = (struct pollfd){.fd = w->wake, .events = POLLIN};
		poll(fds, n + 1, LOOK_MS);
		if (fds[n].revents)
			(void)!read(w->wake, &count, sizeof(count));
		pthread_mutex_lock(&w->lock);
		stop_questions(w, fds, numbers, n);
		send_away(w, 0);
		ends = w->ends && list_empty(&w->all);
		pthread_mutex_unlock(&w->lock);
	}
	return NULL;
}

/* NULL without memory or threads. */
static struct http_watch *http_watch_new(void)
{
	struct http_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	pthread_mutex_init(&w->lock, NULL);
	list_init(&w->all);
	list_init(&w->guests);
	w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->wake < 0 || pthread_create(&w->thread, NULL, watch, w) != 0) {
		if (w->wake >= 0)
			close(w->wake);
		pthread_mutex_destroy(&w->lock);
		free(w);
		return NULL;
	}
	return w;
}

/* Stops all questions that are watched, and all that will be. */
static void http_watch_end(struct http_watch *w)
{
	pthread_mutex_lock(&w->lock);
	w->ends = true;
	stop_questions(w, NULL, NULL, 0);
	pthread_mutex_unlock(&w->lock);
	wake(w);
}

/* Nothing is watched any more. */
static void http_watch_free(struct http_watch *w)
{
	if (!w)
		return;
	http_watch_end(w);
	pthread_join(w->thread, NULL);
	close(w->wake);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

static void http_watch_add(struct http_watch *w, struct http_watched *q, int fd)
{
	list_init(&q->link);
	q->fd = fd;
	q->until = seconds() + MAX_SECONDS;
	pthread_mutex_lock(&w->lock);
	q->stop = w->ends;
	q->number = ++w->last;
	list_move_last(&q->link, &w->all);
	pthread_mutex_unlock(&w->lock);
	wake(w);
}

static void http_watch_remove(struct http_watch *w, struct http_watched *q)
{
	bool last;

	pthread_mutex_lock(&w->lock);
	list_remove(&q->link);
	last = w->ends && list_empty(&w->all);
	pthread_mutex_unlock(&w->lock);
	if (last)
		wake(w);
}

/* ---- guests: they come, ask, show the secret, go; NULL is one that is not remembered ---- */

static struct http_guest *http_watch_come(struct http_watch *w, int fd)
{
	struct http_guest *g = fd >= 0 ? calloc(1, sizeof(*g)) : NULL;

	if (!g)
		return NULL;
	g->fd = fd;
	g->heard = seconds();
	list_init(&g->link);
	mutex_hold(&w->lock);
	list_move_last(&g->link, &w->guests);
	if (++w->unknown > MAX_UNKNOWN)
		send_away(w, 1);
	return g;
}

static void http_watch_heard(struct http_watch *w, struct http_guest *g)
{
	if (!g)
		return;
	mutex_hold(&w->lock);
	g->heard = seconds();
	if (!g->known)
		list_move_last(&g->link, &w->guests);
}

/* The connection no longer counts as one that may be closed for others; called with the lock. */
static void forget(struct http_watch *w, struct http_guest *g)
{
	if (!g->known && !g->sent_away)
		w->unknown--;
	list_remove(&g->link);
}

static void http_watch_know(struct http_watch *w, struct http_guest *g)
{
	if (!g)
		return;
	mutex_hold(&w->lock);
	forget(w, g);
	g->known = true;
}

static void http_watch_go(struct http_watch *w, struct http_guest *g)
{
	if (!g)
		return;
	pthread_mutex_lock(&w->lock);
	forget(w, g);
	pthread_mutex_unlock(&w->lock);
	free(g);
}

/* ---- requests ---- */

#define MAX_CONNECTIONS 64
#define MAX_HEAD	(32u << 10)
#define MAX_BODY	(1u << 20)
#define MAX_LINK	1024 /* of a body that has the secret of a link */
#define MAX_OF_ONE	24   /* connections of an address elsewhere */
#define MAX_ASSET	(16u << 20)
#define IDLE_SECONDS	30
#define STACK_BYTES	(4u << 20)

struct http {
	struct login login;
	int socket;
	int web; /* folder, -1: what is built in */
	struct view *view;
	struct http_watch *watch;
	struct MHD_Daemon *daemon;
};

/* From its first line to the end of its answer. */
struct request {
	char *path;  /* after the first slash, without the query */
	char *query; /* in the same memory */
	struct buf body;
	bool checked;
	bool follows; /* brings the secret of a link, and wants that of the session */
};

#define ANOTHER_LINK                                                                               \
	"open the link that spur view printed. It works once: for another one press Enter where "  \
	"spur view runs, or send it SIGUSR1"

/* ---- answers ---- */

static const char *const headers[][2] = {
	{"Content-Security-Policy",
	 "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
	 "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
	{"X-Content-Type-Options", "nosniff"},
	{"X-Frame-Options", "DENY"},
	{"Referrer-Policy", "no-referrer"},
	{"Cross-Origin-Opener-Policy", "same-origin"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"Cache-Control", "no-store"},
};

/* Sends a response that is given away. */
static enum MHD_Result send_response(struct MHD_Connection *c, unsigned int status,
				     struct MHD_Response *r, const char *type)
{
	enum MHD_Result sent;

	if (!r)
		return MHD_NO;
	for (size_t i = 0; i < ARRAY_SIZE(headers); i++)
		MHD_add_response_header(r, headers[i][0], headers[i][1]);
	if (type)
		MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	sent = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return sent;
}

/* What is wrong, in one line: for a program that asks as JSON, else for a person. */
static enum MHD_Result refuse(struct MHD_Connection *c, const struct request *q,
			      unsigned int status, const char *why)
{
	const bool api = strncmp(q->path, "api/", 4) == 0;
	struct MHD_Response *r;
	char text[400];
	int n = snprintf(text, sizeof(text), api ? "{\"error\":\"%s\"}" : "%s\n", why);

	r = MHD_create_response_from_buffer((size_t)n, text, MHD_RESPMEM_MUST_COPY);
	if (r && status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD, POST");
	if (r)
		MHD_add_response_header(r, MHD_HTTP_HEADER_CONNECTION, "close");
	return send_response(c, status, r, api ? "application/json" : "text/plain; charset=utf-8");
}

static enum MHD_Result send_buf(struct MHD_Connection *c, unsigned int status, struct buf *b,
				const char *type)
{
	/* An empty buffer has no memory that could be given away. */
	struct MHD_Response *r = MHD_create_response_from_buffer(
		b->len, b->data, b->cap ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_MUST_COPY);

	if (r)
		buf_init(b, b->limit);
	return send_response(c, status, r, type);
}

/* ---- the page ---- */

static const char *type_of(const char *name)
{
	static const char *const types[][2] = {
		{".html", "text/html; charset=utf-8"},
		{".js", "text/javascript; charset=utf-8"},
		{".css", "text/css; charset=utf-8"},
		{".svg", "image/svg+xml"},
	};
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; dot && i < ARRAY_SIZE(types); i++)
		if (strcmp(dot, types[i][0]) == 0)
			return types[i][1];
	return NULL;
}

/* A name that is a file in the folder itself, and one of those that a page consists of. */
static bool is_plain(const char *name)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

	return *name && *name != '.' && !name[strspn(name, letters)] && type_of(name);
}

static enum MHD_Result send_from_folder(struct http *h, struct MHD_Connection *c,
					const struct request *q, const char *name)
{
	scoped_fd fd = openat(h->web, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	enum MHD_Result sent;
	scoped_buf b = buf_new(MAX_ASSET);

	if (fd < 0)
		return refuse(c, q, 404, "there is no such page");
	if (file_read_fd(fd, name, &b, NULL) < 0)
		sent = refuse(c, q, 500, "the file cannot be read");
	else
		sent = send_buf(c, 200, &b, type_of(name));
	return sent;
}

static enum MHD_Result send_page(struct http *h, struct MHD_Connection *c, const struct request *q)
{
	const char *name = *q->path ? q->path : "index.html";
	struct MHD_Response *r;

	if (!is_plain(name))
		return refuse(c, q, 404, "there is no such page");
	if (h->web >= 0)
		return send_from_folder(h, c, q, name);
	for (const struct asset *a = assets; a->name; a++) {
		if (strcmp(a->name, name) != 0)
			continue;
		r = MHD_create_response_from_buffer(a->size, (void *)a->data,
						    MHD_RESPMEM_PERSISTENT);
		return send_response(c, 200, r, type_of(name));
	}
	return refuse(c, q, 404, "there is no such page");
}

/* ---- who is let in ---- */

static const char *header(struct MHD_Connection *c, const char *name)
{
	return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

/* Requests that another site's page had the browser make say so. */
static bool is_ours(const struct http *h, struct MHD_Connection *c, const struct request *q)
{
	const char *site = header(c, "Sec-Fetch-Site");

	if (!login_host(&h->login, header(c, MHD_HTTP_HEADER_HOST)) ||
	    !login_origin(header(c, MHD_HTTP_HEADER_ORIGIN), header(c, MHD_HTTP_HEADER_HOST)))
		return false;
	return !*q->path || !site || strcmp(site, "same-origin") == 0 || strcmp(site, "none") == 0;
}

/* Whether the header says that the body is too long. Without it that is noticed later. */
static bool is_too_long(const char *length, size_t most)
{
	return length && (strlen(length) > 9 || strtoul(length, NULL, 10) > most);
}

static bool is_json(const char *type)
{
	return type && strncasecmp(type, "application/json", 16) == 0 &&
	       (!type[16] || type[16] == ';' || type[16] == ' ');
}

/* The connection's descriptor, or -1. */
static int fd_of(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? info->connect_fd : -1;
}

/* Whose connection it is, for http_watch. */
static struct http_guest *guest_of(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

/* Whether a request says who asks, or need not. */
static bool may_ask(struct http *h, struct MHD_Connection *c, const struct request *q)
{
	if (login_bearer(&h->login, header(c, MHD_HTTP_HEADER_AUTHORIZATION))) {
		http_watch_know(h->watch, guest_of(c));
		return true;
	}
	http_watch_heard(h->watch, guest_of(c));
	return q->follows || strncmp(q->path, "api/", 4) != 0;
}

/* Whether a request goes on; otherwise it has been answered, and *result is the outcome. */
static bool let_in(struct http *h, struct MHD_Connection *c, struct request *q, const char *method,
		   enum MHD_Result *result)
{
	const bool post = strcmp(method, "POST") == 0;

	q->follows = post && strcmp(q->path, "api/session") == 0;
	if (q->follows)
		q->body.limit = MAX_LINK;
	if (!post && strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
		*result = refuse(c, q, 405, "only GET, HEAD and POST");
	} else if (!is_ours(h, c, q)) {
		*result = refuse(c, q, 403,
				 "this was asked under another name, or by another site's page: "
				 "use the address that spur view printed");
	} else if (!may_ask(h, c, q)) {
		*result = refuse(c, q, 401, "nobody knows who asks: " ANOTHER_LINK);
	} else if (post && strncmp(q->path, "api/", 4) != 0) {
		*result = refuse(c, q, 405, "only GET and HEAD");
	} else if (post && !is_json(header(c, MHD_HTTP_HEADER_CONTENT_TYPE))) {
		*result = refuse(c, q, 415, "the body has to be application/json");
	} else if (is_too_long(header(c, MHD_HTTP_HEADER_CONTENT_LENGTH), q->body.limit)) {
		*result = refuse(c, q, 413, "the question is too long");
	} else {
		return true;
	}
	return false;
}

/* ---- the callbacks of libmicrohttpd ---- */

/* The first line of a request is there. */
static void *on_uri(void *arg, const char *uri, struct MHD_Connection *c)
{
	struct request *q = calloc(1, sizeof(*q));
	char *mark;

	if (!q)
		return NULL;
	buf_init(&q->body, MAX_BODY);
	q->path = strdup(*uri == '/' ? uri + 1 : uri);
	if (!q->path) {
		free(q);
		return NULL;
	}
	mark = strchr(q->path, '?');
	q->query = mark ? mark + 1 : q->path + strlen(q->path);
	if (mark)
		*mark = '\0';
	return q;
}

static void on_end(void *arg, struct MHD_Connection *c, void **request,
		   enum MHD_RequestTerminationCode why)
{
	struct request *q = *request;

	if (!q)
		return;
	buf_free(&q->body);
	free(q->path);
	free(q);
	*request = NULL;
}

/* A link is followed: its secret for that of the session. */
static enum MHD_Result answer_link(struct http *h, struct MHD_Connection *c, struct request *q)
{
	const struct api_request ask = {.body = buf_str(&q->body), .body_len = q->body.len};
	struct buf text;
	bool follows;

	buf_init(&text, MAX_LINK);
	follows = api_body_text(&ask, "link", &text) && login_follow(&h->login, buf_str(&text));
	buf_free(&text);
	if (!follows)
		return refuse(c, q, 401, "this link has been followed already: " ANOTHER_LINK);
	http_watch_know(h->watch, guest_of(c));
	buf_init(&text, MAX_LINK);
	buf_printf(&text, "{\"session\":\"%s\"}", h->login.session);
	return send_buf(c, 200, &text, "application/json");
}

static void on_connection(void *arg, struct MHD_Connection *c, void **guest,
			  enum MHD_ConnectionNotificationCode what)
{
	const struct http *h = arg;

	if (what == MHD_CONNECTION_NOTIFY_STARTED)
		*guest = http_watch_come(h->watch, fd_of(c));
	else if (what == MHD_CONNECTION_NOTIFY_CLOSED)
		http_watch_go(h->watch, *guest);
}

static enum MHD_Result answer(struct http *h, struct MHD_Connection *c, struct request *q,
			      bool post)
{
	struct http_watched watched;
	const struct api_request ask = {
		.path = q->path + 4,
		.query = q->query,
		.body = post ? buf_str(&q->body) : NULL,
		.body_len = q->body.len,
		.stop = &watched.stop,
	};
	struct api_answer a = {0};
	enum MHD_Result sent;

	http_watch_add(h->watch, &watched, fd_of(c));
	api_answer(h->view, &ask, &a);
	http_watch_remove(h->watch, &watched);
	sent = send_buf(c, (unsigned int)a.status, &a.body, a.type);
	buf_free(&a.body);
	return sent;
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *c, const char *url,
				  const char *method, const char *version, const char *data,
				  size_t *size, void **request)
{
	struct http *h = arg;
	struct request *q = *request;
	enum MHD_Result result;

	if (!q)
		return MHD_NO;
	if (!q->checked) {
		q->checked = true;
		return let_in(h, c, q, method, &result) ? MHD_YES : result;
	}
	if (*size) {
		buf_put(&q->body, data, *size);
		*size = 0;
		return buf_full(&q->body) ? MHD_NO : MHD_YES;
	}
	if (q->follows)
		return answer_link(h, c, q);
	if (strncmp(q->path, "api/", 4) == 0)
		return answer(h, c, q, strcmp(method, "POST") == 0);
	return send_page(h, c, q);
}

/* ---- the socket ---- */

static int open_socket(struct http *h, const struct addrinfo *to, struct spur_error *err)
{
	struct sockaddr_storage at;
	socklen_t len = sizeof(at);
	const int yes = 1;

	h->socket = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (h->socket < 0)
		return error_sys(err, -errno, "a socket");
	setsockopt(h->socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(h->socket, to->ai_addr, to->ai_addrlen) != 0 || listen(h->socket, 32) != 0 ||
	    getsockname(h->socket, (struct sockaddr *)&at, &len) != 0)
		return -errno;
	login_set_address(&h->login, (struct sockaddr *)&at);
	return 0;
}

static int listen_at(struct http *h, const struct http_options *opt, struct spur_error *err)
{
	const struct addrinfo hints = {
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
		.ai_socktype = SOCK_STREAM,
	};
	const bool here = !opt->bind || strcasecmp(opt->bind, "localhost") == 0;
	const char *address = here ? "127.0.0.1" : opt->bind;
	struct addrinfo *to;
	char port[8];
	int rc;

	snprintf(port, sizeof(port), "%u", opt->port);
	if (getaddrinfo(address, port, &hints, &to) != 0)
		return error_set(err, -EINVAL, "'%s' is no address of this machine", address);
	rc = open_socket(h, to, err);
	freeaddrinfo(to);
	if (rc == -EADDRINUSE)
		return error_set(err, rc, "port %u is taken already", opt->port);
	return rc < 0 ? error_sys(err, rc, "listening on %s port %u", address, opt->port) : 0;
}

int http_listen(const struct http_options *opt, struct http **out, struct spur_error *err)
{
	struct http *h = calloc(1, sizeof(*h));
	int rc;

	*out = NULL;
	if (!h)
		return error_set(err, -ENOMEM, "out of memory");
	h->socket = h->web = -1;
	rc = login_init(&h->login, err);
	if (rc == 0 && opt->web) {
		h->web = open(opt->web, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (h->web < 0)
			rc = error_sys(err, -errno, "%s", opt->web);
	}
	if (rc == 0)
		rc = listen_at(h, opt, err);
	if (rc < 0) {
		http_close(h);
		return rc;
	}
	*out = h;
	return 0;
}

int http_start(struct http *h, struct view *v, struct spur_error *err)
{
	h->view = v;
	h->watch = http_watch_new();
	if (!h->watch)
		return error_set(err, -EAGAIN, "the server's threads cannot be started");
	h->daemon = MHD_start_daemon(
		MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL |
			MHD_USE_ITC,
		h->login.port, NULL, NULL, on_request, h, MHD_OPTION_LISTEN_SOCKET, h->socket,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned int)MAX_CONNECTIONS,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)IDLE_SECONDS,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MAX_HEAD, MHD_OPTION_THREAD_STACK_SIZE,
		(size_t)STACK_BYTES, MHD_OPTION_URI_LOG_CALLBACK, on_uri, NULL,
		MHD_OPTION_NOTIFY_COMPLETED, on_end, NULL, MHD_OPTION_NOTIFY_CONNECTION,
		on_connection, h, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
		(unsigned int)(h->login.loopback ? 0 : MAX_OF_ONE), MHD_OPTION_END);
	if (!h->daemon)
		return error_set(err, -EIO, "the server cannot be started");
	/* It is the daemon's now. */
	h->socket = -1;
	return 0;
}

void http_close(struct http *h)
{
	if (!h)
		return;
	if (h->watch)
		http_watch_end(h->watch);
	if (h->daemon)
		MHD_stop_daemon(h->daemon);
	http_watch_free(h->watch);
	if (h->socket >= 0)
		close(h->socket);
	if (h->web >= 0)
		close(h->web);
	login_free(&h->login);
	free(h);
}

struct login *http_login(struct http *h)
{
	return &h->login;
}
