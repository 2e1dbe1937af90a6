// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The courier: delivers blocks while the next ones are being made, and puts into the spool what
 * cannot be delivered.
 *
 * Once the server is away everything that follows goes to the spool, too: waiting for it with every
 * block would take forever. Only the courier's thread uses the store and the spool while it runs;
 * the queue and what is said about it is shared, under the mutex.
 */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "export/clickhouse_parts.h"

/* 0, or why everything ends. */
static int handle(struct ch_courier *c, const struct ch_block *b, struct spur_error *err)
{
	struct spur_error why = {0};
	int rc = -EHOSTDOWN;

	if (!c->away)
		rc = ch_store_deliver(c->store, b, &why);
	if (rc != -EHOSTDOWN)
		return rc < 0 && rc != -EINTR ? error_set(err, rc, "%s", why.text) : rc;
	if (!c->away) {
		c->away = true;
		c->why = why;
	}
	rc = ch_spool_add(c->spool, b, err);
	if (rc < 0)
		error_prefix(err, "%s; and it cannot be kept for later", c->why.text);
	return rc;
}

static void *run(void *arg)
{
	struct ch_courier *c = arg;

	pthread_mutex_lock(&c->mutex);
	for (;;) {
		struct spur_error err = {0};
		struct ch_block b;
		int rc = 0;

		while (!c->nr && !c->ends)
			pthread_cond_wait(&c->changed, &c->mutex);
		if (!c->nr)
			break;
		b = c->queue[c->first];
		if (c->rc == 0) {
			pthread_mutex_unlock(&c->mutex);
			rc = handle(c, &b, &err);
			pthread_mutex_lock(&c->mutex);
		}
		ch_block_free(&b);
		if (rc < 0) {
			c->rc = rc;
			c->err = err;
		}
		c->first = (c->first + 1) % CH_QUEUE;
		c->nr--;
		pthread_cond_broadcast(&c->changed);
	}
	pthread_mutex_unlock(&c->mutex);
	return NULL;
}

int ch_courier_start(struct ch_courier *c, struct ch_store *store, struct ch_spool *spool,
		     struct spur_error *err)
{
	int rc;

	*c = (struct ch_courier){.store = store, .spool = spool};
	pthread_mutex_init(&c->mutex, NULL);
	pthread_cond_init(&c->changed, NULL);
	rc = pthread_create(&c->thread, NULL, run, c);
	if (rc != 0)
		return error_sys(err, -rc, "starting a thread");
	c->started = true;
	return 0;
}

static int result(const struct ch_courier *c, struct spur_error *err)
{
	if (c->rc < 0 && c->rc != -EINTR)
		error_set(err, c->rc, "%s", c->err.text);
	return c->rc;
}

int ch_courier_give(struct ch_courier *c, struct ch_block *b, struct spur_error *err)
{
	int rc;

	pthread_mutex_lock(&c->mutex);
	while (c->nr == CH_QUEUE && c->rc == 0)
		pthread_cond_wait(&c->changed, &c->mutex);
	rc = result(c, err);
	if (rc == 0) {
		c->queue[(c->first + c->nr) % CH_QUEUE] = *b;
		c->nr++;
		pthread_cond_broadcast(&c->changed);
	} else {
		ch_block_free(b);
	}
	b->data = (struct buf){0};
	pthread_mutex_unlock(&c->mutex);
	return rc;
}

int ch_courier_finish(struct ch_courier *c, bool drop, struct spur_error *err)
{
	if (!c->started)
		return 0;
	pthread_mutex_lock(&c->mutex);
	c->ends = true;
	if (drop && c->rc == 0)
		c->rc = -ECANCELED;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->mutex);
	pthread_join(c->thread, NULL);
	pthread_mutex_destroy(&c->mutex);
	pthread_cond_destroy(&c->changed);
	c->started = false;
	return c->rc == -ECANCELED ? 0 : result(c, err);
}
