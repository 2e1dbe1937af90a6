// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Delivering blocks so that each of their rows arrives once.
 *
 * If the connection is lost during an insert, the server may have all of the block, nothing, or
 * (older servers) a part. So before a block is sent again, its rows on the server are counted: if
 * all are there, it is done; if none are, it is sent again; otherwise the rows are removed first.
 * If the insert may still be running, this waits for it: its query id is made of the block, and a
 * server does not run two queries with the same id.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/mutex.h"
#include "base/vec.h"
#include "export/clickhouse/private.h"

#define POLL_NS	      200000000ull
#define MAX_WAITS     600 /* polls for an insert that still runs, or for a removal */
#define SECONDS	      86400
#define VERIFY_TABLES 40 /* in one query */

/* The rows that a server has of a table of a trace: queried once, then updated. */
struct ch_known {
	char *table;
	char host[IDENTITY_NAME], trace_id[33];
	bool has_wall, counted, ensured;
	uint16_t date;
	struct ch_count {
		uint64_t block, rows;
		bool seen; /* by a verification */
	} * at;
	size_t n, cap;
};

static const struct hash_seed fixed = {0x452821e638d01377, 0xbe5466cf34e90c6c};

uint64_t ch_trace_hash(const char *host, const char *trace_id)
{
	uint64_t h = hash_add(&fixed, 0, hash_bytes(&fixed, host, strlen(host)));

	return hash_add(&fixed, h, hash_bytes(&fixed, trace_id, strlen(trace_id)));
}

void ch_block_free(struct ch_block *b)
{
	if (b->data.data)
		buf_free(&b->data);
	b->data = (struct buf){0};
}

void ch_store_free(struct ch_store *s)
{
	vec_each (k, &s->tables) {
		free(k->table);
		free(k->at);
	}
	vec_free(&s->tables);
	for (size_t i = 0; i < s->nr_shards; i++)
		ch_server_free(&s->shards[i]);
	free(s->shards);
	free(s->weights);
	ch_server_free(&s->front);
}

static struct ch_known *known_table(struct ch_store *s, const struct ch_block *b)
{
	struct ch_known *k = NULL;

	vec_each (at, &s->tables)
		if (strcmp(at->table, b->table) == 0)
			k = at;
	if (!k) {
		char *name = strdup(b->table);

		k = name ? vec_push(&s->tables) : NULL;
		if (!k) {
			free(name);
			return NULL;
		}
		k->table = name;
	}
	if (strcmp(k->host, b->host) != 0 || strcmp(k->trace_id, b->trace_id) != 0) {
		memcpy(k->host, b->host, sizeof(k->host));
		memcpy(k->trace_id, b->trace_id, sizeof(k->trace_id));
		k->has_wall = b->has_wall;
		k->date = b->date;
		k->counted = false;
		/* Another kernel's events may have other fields. */
		k->ensured = false;
	}
	return k;
}

/* ---- what there is ---- */

static void put_date(struct buf *to, uint16_t days)
{
	const time_t t = (time_t)days * SECONDS;
	struct tm tm;
	char text[16] = "1970-01-01";

	if (gmtime_r(&t, &tm))
		strftime(text, sizeof(text), "%Y-%m-%d", &tm);
	ch_put_string(to, text);
}

/*
 * Appends the condition for the rows of a trace. Without wall time, the date is only that of its
 * file, so it is not used.
 */
static void put_condition(const struct ch_known *k, struct buf *to)
{
	buf_puts(to, " WHERE host = ");
	ch_put_string(to, k->host);
	buf_puts(to, " AND trace_id = ");
	ch_put_string(to, k->trace_id);
	if (k->has_wall) {
		buf_puts(to, " AND date = ");
		put_date(to, k->date);
	}
}

static struct ch_count *find_count(const struct ch_known *k, uint64_t block)
{
	vec_each (c, k)
		if (c->block == block)
			return c;
	return NULL;
}

static int set_count(struct ch_known *k, uint64_t block, uint64_t rows)
{
	const struct ch_count count = {.block = block, .rows = rows};
	struct ch_count *c = find_count(k, block);

	if (!c)
		return vec_add(k, &count) ? 0 : -ENOMEM;
	*c = count;
	return 0;
}

static uint64_t get_count(const struct ch_known *k, uint64_t block)
{
	const struct ch_count *c = find_count(k, block);

	return c ? c->rows : 0;
}

static int count_blocks(struct ch_server *sv, struct ch_known *k, struct spur_error *err)
{
	char *at, *line;
	int rc;

	buf_reset(&sv->sql);
	buf_puts(&sv->sql, "SELECT " CH_BLOCK_COLUMN ", count() FROM ");
	ch_put_table(sv, k->table, &sv->sql);
	put_condition(k, &sv->sql);
	buf_puts(&sv->sql, " GROUP BY " CH_BLOCK_COLUMN " FORMAT TabSeparated");
	rc = ch_ask(sv, err);
	if (rc < 0)
		return rc;
	k->n = 0;
	at = sv->answer.body.data;
	while ((line = ch_line(&at))) {
		uint64_t block, rows;

		if (!ch_read_number(ch_field(&line), &block) ||
		    !ch_read_number(ch_field(&line), &rows) || line)
			return ch_nonsense(sv, err);
		if (set_count(k, block, rows) < 0)
			return error_set(err, -ENOMEM, "out of memory");
	}
	k->counted = true;
	return 0;
}

static void put_query_id(const struct ch_block *b, char *out, size_t cap)
{
	uint64_t h = ch_trace_hash(b->host, b->trace_id);

	h = hash_add(&fixed, h, hash_bytes(&fixed, b->table, strlen(b->table)));
	snprintf(out, cap, "spur-%.16s-%016" PRIx64 "-%u", b->trace_id, h, b->number);
}

/* Waits until an insert that the server may have received has ended. */
static int wait_quiet(struct ch_server *sv, const char *query_id, struct spur_error *err)
{
	for (int i = 0; i < MAX_WAITS; i++) {
		uint64_t running;
		int rc;

		buf_reset(&sv->sql);
		buf_puts(&sv->sql, "SELECT count() FROM system.processes WHERE query_id = ");
		ch_put_string(&sv->sql, query_id);
		rc = ch_ask_number(sv, &running, err);
		if (rc < 0 || !running)
			return rc;
		if (net_sleep(POLL_NS, sv->to->stop) < 0)
			return -EINTR;
	}
	return error_set(err, -EHOSTDOWN, "%s:%s: an insert does not come to its end", sv->host,
			 sv->port);
}

/* ---- inserting ---- */

/* Removes the rows of a block; servers do that asynchronously, so this waits. */
static int remove_block(struct ch_server *sv, struct ch_known *k, const struct ch_block *b,
			struct spur_error *err)
{
	int rc;

	buf_reset(&sv->sql);
	buf_puts(&sv->sql, "ALTER TABLE ");
	ch_put_table(sv, k->table, &sv->sql);
	buf_puts(&sv->sql, " DELETE");
	put_condition(k, &sv->sql);
	buf_printf(&sv->sql, " AND " CH_BLOCK_COLUMN " = %u", b->number);
	rc = ch_ask(sv, err);
	for (int i = 0; rc == 0 && i < MAX_WAITS; i++) {
		rc = count_blocks(sv, k, err);
		if (rc < 0 || !get_count(k, b->number))
			return rc;
		rc = net_sleep(POLL_NS, sv->to->stop);
	}
	return rc < 0 ? rc
		      : error_set(err, -EHOSTDOWN, "%s:%s: half a block cannot be removed",
				  sv->host, sv->port);
}

/* Finds out whether the block has arrived. 1 if it has, 0 if none of it has. */
static int find_outcome(struct ch_server *sv, struct ch_known *k, const struct ch_block *b,
			struct spur_error *err)
{
	char query_id[64];
	uint64_t there;
	int rc;

	put_query_id(b, query_id, sizeof(query_id));
	rc = wait_quiet(sv, query_id, err);
	if (rc == 0)
		rc = count_blocks(sv, k, err);
	if (rc < 0)
		return rc;
	there = get_count(k, b->number);
	if (there == b->rows)
		return 1;
	return there ? remove_block(sv, k, b, err) : 0;
}

static void put_insert(struct ch_server *sv, const struct ch_block *b)
{
	buf_reset(&sv->sql);
	buf_puts(&sv->sql, "INSERT INTO ");
	ch_put_table(sv, b->table, &sv->sql);
	vec_each (c, b->columns) {
		buf_puts(&sv->sql, c == b->columns->at ? " (" : ", ");
		ch_put_name(&sv->sql, c->name);
	}
	buf_puts(&sv->sql, ") FORMAT RowBinary");
}

static int insert(struct ch_server *sv, struct ch_known *k, const struct ch_block *b,
		  struct spur_error *err)
{
	struct spur_error why = {0};
	char query_id[64];
	int rc = 0;

	put_query_id(b, query_id, sizeof(query_id));
	for (unsigned int n = 0; n <= sv->to->retries; n++) {
		bool sent = false;

		if (n && ch_back_off(sv, n) < 0)
			return -EINTR;
		why = (struct spur_error){0};
		put_insert(sv, b);
		rc = ch_insert(sv, query_id, &b->data, &sent, &why);
		if (rc == 0)
			return set_count(k, b->number, b->rows) < 0
				       ? error_set(err, -ENOMEM, "out of memory")
				       : 0;
		if (rc != -EHOSTDOWN)
			break;
		if (sent) {
			rc = find_outcome(sv, k, b, err);
			if (rc != 0)
				return rc < 0 ? rc : 0;
			rc = -EHOSTDOWN;
		}
	}
	if (rc == -EHOSTDOWN) {
		sv->away = true;
		sv->why = why;
	}
	return ch_pass_on(rc, &why, err);
}

/* ---- the table of traces ---- */

/*
 * Another part of the trace makes other blocks, which must not be mixed with existing ones. 1 if
 * the trace's row exists, 0 if not.
 */
static int check_plan(struct ch_server *sv, const struct ch_known *k, const struct ch_block *b,
		      struct spur_error *err)
{
	const char *plan;
	char *at, *line;
	int rc;

	buf_reset(&sv->sql);
	buf_puts(&sv->sql, "SELECT plan FROM ");
	ch_put_table(sv, k->table, &sv->sql);
	put_condition(k, &sv->sql);
	buf_puts(&sv->sql, " FORMAT TabSeparated");
	rc = ch_ask(sv, err);
	if (rc < 0)
		return rc;
	at = sv->answer.body.data;
	line = ch_line(&at);
	if (!line)
		return 0;
	plan = ch_field(&line);
	if (strcmp(plan, b->plan) == 0)
		return 1;
	return error_set(err, -EREMOTEIO,
			 "%s:%s: the trace %s of %.40s is there already, with another choice of "
			 "events ('%.60s', not '%.60s')",
			 sv->host, sv->port, b->trace_id, b->host, plan, b->plan);
}

/* ---- all of it ---- */

int ch_store_deliver(struct ch_store *s, const struct ch_block *b, struct spur_error *err)
{
	struct ch_server *sv = NULL;
	struct ch_known *k = known_table(s, b);
	int rc =
		k ? ch_store_shard(s, b->host, &sv, err) : error_set(err, -ENOMEM, "out of memory");

	if (rc == 0 && !k->ensured)
		rc = ch_store_ensure(s, sv, b->table, b->columns, err);
	if (rc < 0)
		return rc;
	if (rc == 1) {
		k->n = 0;
		k->counted = true;
	}
	rc = 0;
	k->ensured = true;
	if (b->waited) {
		char query_id[64];

		put_query_id(b, query_id, sizeof(query_id));
		rc = wait_quiet(sv, query_id, err);
		k->counted = false;
	}
	if (rc == 0 && !k->counted)
		rc = count_blocks(sv, k, err);
	if (rc == 0 && b->plan) {
		rc = check_plan(sv, k, b, err);
		if (rc == 1)
			return set_count(k, b->number, b->rows);
	}
	if (rc == 0 && get_count(k, b->number) == b->rows)
		return 0;
	if (rc == 0 && get_count(k, b->number))
		rc = remove_block(sv, k, b, err);
	if (rc == 0)
		rc = insert(sv, k, b, err);
	if (rc == 0)
		s->rows_new += b->rows;
	else
		k->counted = false;
	return rc;
}

/* ---- looking once more ---- */

static void put_counts(struct ch_server *sv, const struct ch_known *k, size_t number)
{
	buf_printf(&sv->sql, "%sSELECT %zu AS t, " CH_BLOCK_COLUMN ", count() FROM ",
		   sv->sql.len ? " UNION ALL " : "", number);
	ch_put_table(sv, k->table, &sv->sql);
	put_condition(k, &sv->sql);
	buf_puts(&sv->sql, " GROUP BY " CH_BLOCK_COLUMN);
}

static int wrong_count(const struct ch_server *sv, const struct ch_known *k,
		       const struct ch_count *c, uint64_t there, struct spur_error *err)
{
	return error_set(err, -EREMOTEIO,
			 "%s:%s: %.60s has %" PRIu64 " rows of block %" PRIu64
			 " of %s, not %" PRIu64
			 "; does someone else load the same trace? The same export again "
			 "puts it right",
			 sv->host, sv->port, k->table, there, c->block, k->trace_id, c->rows);
}

/*
 * Reads lines of table, block, rows; removes those that are right from the list of expected ones.
 */
static int cross_out(struct ch_store *s, struct ch_server *sv, struct spur_error *err)
{
	char *at = sv->answer.body.data, *line;

	while ((line = ch_line(&at))) {
		uint64_t table, block, rows;
		const struct ch_known *k;
		struct ch_count *c;

		if (!ch_read_number(ch_field(&line), &table) ||
		    !ch_read_number(ch_field(&line), &block) ||
		    !ch_read_number(ch_field(&line), &rows) || line || table >= s->tables.n)
			return ch_nonsense(sv, err);
		k = &s->tables.at[table];
		c = find_count(k, block);
		if (!c)
			continue;
		if (c->rows != rows)
			return wrong_count(sv, k, c, rows, err);
		c->seen = true;
	}
	return 0;
}

static bool belongs(const struct ch_known *k, const char *host, const char *trace_id)
{
	return k->counted && k->n && strcmp(k->host, host) == 0 &&
	       strcmp(k->trace_id, trace_id) == 0;
}

/* Checks some tables with one query, from an index on; *next is the first of the remaining ones. */
static int verify_some(struct ch_store *s, struct ch_server *sv, const char *host,
		       const char *trace_id, size_t *next, struct spur_error *err)
{
	const size_t first = *next;
	size_t asked = 0;
	int rc;

	buf_reset(&sv->sql);
	for (; *next < s->tables.n && asked < VERIFY_TABLES; ++*next)
		if (belongs(&s->tables.at[*next], host, trace_id)) {
			put_counts(sv, &s->tables.at[*next], *next);
			asked++;
		}
	if (!asked)
		return 0;
	rc = ch_ask(sv, err);
	if (rc == 0)
		rc = cross_out(s, sv, err);
	for (size_t i = first; rc == 0 && i < *next; i++) {
		const struct ch_known *k = &s->tables.at[i];

		for (size_t n = 0; rc == 0 && belongs(k, host, trace_id) && n < k->n; n++)
			if (!k->at[n].seen)
				rc = wrong_count(sv, k, &k->at[n], 0, err);
	}
	return rc;
}

int ch_store_verify(struct ch_store *s, const char *host, const char *trace_id,
		    struct spur_error *err)
{
	struct ch_server *sv = NULL;
	int rc = ch_store_shard(s, host, &sv, err);

	for (size_t next = 0; rc == 0 && next < s->tables.n;)
		rc = verify_some(s, sv, host, trace_id, &next, err);
	return rc;
}

/*
 * ---- the courier: delivers blocks while the next ones are being made ----
 *
 * After the server was unreachable once, all further blocks go to the spool, because waiting for it
 * with every block would take too long. Only the courier's thread uses the store and the spool
 * while it runs. The queue and its result are shared, under the mutex.
 */

/* 0, or an error that ends the export. */
static int deliver_or_spool(struct ch_courier *c, const struct ch_block *b, struct spur_error *err)
{
	struct spur_error why = {0};
	int rc = -EHOSTDOWN;

	if (!c->away)
		rc = ch_store_deliver(c->store, b, &why);
	if (rc != -EHOSTDOWN)
		return ch_pass_on(rc, &why, err);
	if (!c->away) {
		c->away = true;
		c->why = why;
	}
	rc = ch_spool_add(c->spool, b, err);
	if (rc < 0)
		error_prefix(err, "%s; and it cannot be kept for later", c->why.text);
	return rc;
}

static void *courier(void *arg)
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
			rc = deliver_or_spool(c, &b, &err);
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
	rc = pthread_create(&c->thread, NULL, courier, c);
	if (rc != 0)
		return error_sys(err, -rc, "starting a thread");
	c->started = true;
	return 0;
}

int ch_courier_give(struct ch_courier *c, struct ch_block *b, struct spur_error *err)
{
	int rc;

	mutex_hold(&c->mutex);
	while (c->nr == CH_QUEUE && c->rc == 0)
		pthread_cond_wait(&c->changed, &c->mutex);
	rc = ch_pass_on(c->rc, &c->err, err);
	if (rc == 0) {
		c->queue[(c->first + c->nr) % CH_QUEUE] = *b;
		c->nr++;
		pthread_cond_broadcast(&c->changed);
	} else {
		ch_block_free(b);
	}
	b->data = (struct buf){0};
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
	return c->rc == -ECANCELED ? 0 : ch_pass_on(c->rc, &c->err, err);
}
