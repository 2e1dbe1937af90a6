// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/http_watch.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAX_WATCHED	128
#define LOOK_MS		1000
#define MAX_SECONDS	120 /* for an answer */
#define MAX_UNKNOWN	32  /* guests that have not said who they are */
#define UNKNOWN_SECONDS 10

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
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec;
}

static void wake(struct http_watch *w)
{
	const uint64_t one = 1;
	ssize_t n = write(w->wake, &one, sizeof(one));

	(void)n;
}

/* Since they were asked about some of them may have gone, and others come. */
static void tell(struct http_watch *w, const struct pollfd *fds, const uint64_t *numbers, size_t n)
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
 * Those who have been silent for too long, and so many beside them. Their connections are closed by
 * who reads from them.
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
		ssize_t got;

		pthread_mutex_lock(&w->lock);
		n = collect(w, fds, numbers);
		pthread_mutex_unlock(&w->lock);
		fds[n] = (struct pollfd){.fd = w->wake, .events = POLLIN};
		poll(fds, n + 1, LOOK_MS);
		if (fds[n].revents) {
			got = read(w->wake, &count, sizeof(count));
			(void)got;
		}
		pthread_mutex_lock(&w->lock);
		tell(w, fds, numbers, n);
		send_away(w, 0);
		ends = w->ends && list_empty(&w->all);
		pthread_mutex_unlock(&w->lock);
	}
	return NULL;
}

struct http_watch *http_watch_new(void)
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

void http_watch_free(struct http_watch *w)
{
	if (!w)
		return;
	http_watch_end(w);
	pthread_join(w->thread, NULL);
	close(w->wake);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

void http_watch_add(struct http_watch *w, struct http_watched *q, int fd)
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

void http_watch_remove(struct http_watch *w, struct http_watched *q)
{
	bool last;

	pthread_mutex_lock(&w->lock);
	list_remove(&q->link);
	last = w->ends && list_empty(&w->all);
	pthread_mutex_unlock(&w->lock);
	if (last)
		wake(w);
}

/* ---- guests ---- */

struct http_guest *http_watch_come(struct http_watch *w, int fd)
{
	struct http_guest *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->fd = fd;
	g->heard = seconds();
	list_init(&g->link);
	pthread_mutex_lock(&w->lock);
	list_move_last(&g->link, &w->guests);
	if (++w->unknown > MAX_UNKNOWN)
		send_away(w, 1);
	pthread_mutex_unlock(&w->lock);
	return g;
}

void http_watch_heard(struct http_watch *w, struct http_guest *g)
{
	if (!g)
		return;
	pthread_mutex_lock(&w->lock);
	g->heard = seconds();
	if (!g->known)
		list_move_last(&g->link, &w->guests);
	pthread_mutex_unlock(&w->lock);
}

/* No longer among those that may have to go; locked. */
static void forget(struct http_watch *w, struct http_guest *g)
{
	if (!g->known && !g->sent_away)
		w->unknown--;
	list_remove(&g->link);
}

void http_watch_know(struct http_watch *w, struct http_guest *g)
{
	if (!g)
		return;
	pthread_mutex_lock(&w->lock);
	forget(w, g);
	g->known = true;
	pthread_mutex_unlock(&w->lock);
}

void http_watch_go(struct http_watch *w, struct http_guest *g)
{
	if (!g)
		return;
	pthread_mutex_lock(&w->lock);
	forget(w, g);
	pthread_mutex_unlock(&w->lock);
	free(g);
}

void http_watch_end(struct http_watch *w)
{
	pthread_mutex_lock(&w->lock);
	w->ends = true;
	for (struct list *l = w->all.next; l != &w->all; l = l->next)
		watched(l)->stop = 1;
	pthread_mutex_unlock(&w->lock);
	wake(w);
}
