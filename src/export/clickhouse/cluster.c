// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Choosing the server of a row.
 *
 * Without a cluster there is one. In a cluster all rows of a machine go to one shard, chosen as the
 * Distributed tables choose: cityHash64(host) by the shards' weights. They are inserted on that
 * shard itself, not through another server, which would store them in a queue that cannot be
 * queried. Statements ON CLUSTER would need a keeper, so tables are made on each shard. If a shard
 * is unreachable, the next export that reaches it makes them.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "export/clickhouse/private.h"

#define MAX_SHARDS 1000

int ch_store_init(struct ch_store *s, const struct ch_options *opt, struct spur_error *err)
{
	*s = (struct ch_store){.opt = opt};
	return ch_server_init(&s->front, &opt->at, opt->at.host, strlen(opt->at.host), opt->at.port,
			      strlen(opt->at.port), err);
}

void ch_store_again(struct ch_store *s)
{
	s->front.away = false;
	for (size_t i = 0; i < s->nr_shards; i++)
		s->shards[i].away = false;
}

/* ---- the cluster ---- */

/* The n-th of "HOST:PORT,HOST:PORT"; false when there is none. */
static bool nth_place(const char *list, size_t n, const char **host, size_t *host_len,
		      const char **port, size_t *port_len)
{
	const char *end, *colon;

	for (; n; n--) {
		list += strcspn(list, ",");
		if (!*list++)
			return false;
	}
	end = list + strcspn(list, ",");
	colon = memrchr(list, ':', (size_t)(end - list));
	if (!colon || colon == list || colon + 1 == end)
		return false;
	*host = list;
	*host_len = (size_t)(colon - list);
	if (**host == '[' && colon[-1] == ']') {
		*host += 1;
		*host_len -= 2;
	}
	*port = colon + 1;
	*port_len = (size_t)(end - colon - 1);
	return true;
}

static bool is_host(const char *name)
{
	if (!*name || strlen(name) > 253)
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && !strchr(".-_:", *name))
			return false;
	return true;
}

static int add_shard(struct ch_store *s, const char *name, uint64_t weight, struct spur_error *err)
{
	const struct ch_options *o = s->opt;
	const char *host = name, *port = o->at.port;
	size_t host_len = strlen(name), port_len = strlen(port), n = s->nr_shards;
	int rc;

	if (n >= MAX_SHARDS || !is_host(name) ||
	    __builtin_add_overflow(s->weight, weight, &s->weight))
		return ch_nonsense(&s->front, err);
	if (o->shards && !nth_place(o->shards, n, &host, &host_len, &port, &port_len))
		return error_set(
			err, -EINVAL,
			"shards=%.200s: HOST:PORT of shard %zu is missing, in the order of "
			"the cluster's shards",
			o->shards, n + 1);
	s->weights[n] = weight;
	rc = ch_server_init(&s->shards[n], &o->at, host, host_len, port, port_len, err);
	s->nr_shards++;
	return rc;
}

/* Lines of shard, replica, weight, host. */
static int read_shards(struct ch_store *s, char *at, struct spur_error *err)
{
	uint64_t shard, replica, weight;
	char *line;
	int rc = 0;

	while (rc == 0 && (line = ch_line(&at))) {
		if (!ch_read_number(ch_field(&line), &shard) ||
		    !ch_read_number(ch_field(&line), &replica) ||
		    !ch_read_number(ch_field(&line), &weight) || !line)
			return ch_nonsense(&s->front, err);
		if (replica != 1)
			return error_set(
				err, -EREMOTEIO,
				"%s:%s: shards of the cluster '%s' have replicas, to which "
				"nothing would be copied: its shards must be single servers",
				s->front.host, s->front.port, s->opt->at.cluster);
		rc = add_shard(s, ch_field(&line), weight, err);
	}
	return rc;
}

static int find_shards(struct ch_store *s, struct spur_error *err)
{
	struct ch_server *f = &s->front;
	int rc;

	buf_reset(&f->sql);
	buf_puts(&f->sql, "SELECT shard_num, replica_num, shard_weight, host_name FROM "
			  "system.clusters WHERE cluster = ");
	ch_put_string(&f->sql, s->opt->at.cluster);
	buf_puts(&f->sql, " ORDER BY shard_num, replica_num FORMAT TabSeparated");
	rc = ch_ask(f, err);
	if (rc < 0)
		return rc;
	s->shards = calloc(MAX_SHARDS, sizeof(*s->shards));
	s->weights = calloc(MAX_SHARDS, sizeof(*s->weights));
	if (!s->shards || !s->weights)
		return error_set(err, -ENOMEM, "out of memory");
	rc = read_shards(s, f->answer.body.data, err);
	if (rc == 0 && !s->weight)
		rc = error_set(err, -EREMOTEIO, "%s:%s knows no cluster '%s'", f->host, f->port,
			       s->opt->at.cluster);
	return rc;
}

static void forget_shards(struct ch_store *s)
{
	for (size_t i = 0; i < s->nr_shards; i++)
		ch_server_free(&s->shards[i]);
	free(s->shards);
	free(s->weights);
	s->shards = NULL;
	s->weights = NULL;
	s->nr_shards = 0;
	s->weight = 0;
}

/* Makes tables on shards that were unreachable before. */
static int level(struct ch_store *s, struct spur_error *err)
{
	for (size_t i = 0; i < s->nr_shards; i++) {
		struct spur_error why = {0};
		int rc = ch_schema_load(&s->shards[i], &why);

		if (rc < 0 && rc != -EHOSTDOWN)
			return ch_pass_on(rc, &why, err);
	}
	for (size_t i = 0; i < s->nr_shards; i++)
		for (size_t k = 0; k < s->nr_shards; k++) {
			struct spur_error why = {0};
			int rc = 0;

			if (i != k && s->shards[k].known && !s->shards[i].away)
				rc = ch_schema_level(&s->shards[i], &s->shards[k], &why);
			if (rc < 0 && rc != -EHOSTDOWN)
				return ch_pass_on(rc, &why, err);
		}
	return 0;
}

static int prepare(struct ch_store *s, struct spur_error *err)
{
	int rc;

	if (s->ready || !s->opt->at.cluster)
		return 0;
	rc = find_shards(s, err);
	if (rc == 0)
		rc = level(s, err);
	if (rc == 0)
		s->ready = true;
	else
		forget_shards(s);
	return rc;
}

/* ---- rows ---- */

static int hash_host(struct ch_store *s, const char *host, struct spur_error *err)
{
	struct ch_server *f = &s->front;
	uint64_t slot;
	int rc;

	buf_reset(&f->sql);
	buf_puts(&f->sql, "SELECT cityHash64(");
	ch_put_string(&f->sql, host);
	buf_puts(&f->sql, ") % ");
	buf_u64(&f->sql, s->weight);
	rc = ch_ask_number(f, &slot, err);
	if (rc < 0)
		return rc;
	if (slot >= s->weight)
		return ch_nonsense(f, err);
	for (s->hashed_to = 0; slot >= s->weights[s->hashed_to]; s->hashed_to++)
		slot -= s->weights[s->hashed_to];
	memcpy(s->hashed, host, strlen(host) + 1);
	return 0;
}

int ch_store_shard(struct ch_store *s, const char *host, struct ch_server **out,
		   struct spur_error *err)
{
	int rc = prepare(s, err);

	if (rc < 0)
		return rc;
	if (!s->opt->at.cluster) {
		*out = &s->front;
		return 0;
	}
	if (strcmp(s->hashed, host) != 0)
		rc = hash_host(s, host, err);
	*out = &s->shards[s->hashed_to];
	return rc;
}

int ch_store_ensure(struct ch_store *s, struct ch_server *own, const char *table,
		    const struct ch_columns *columns, struct spur_error *err)
{
	const int is_new = ch_schema_ensure(own, table, columns, err);
	int rc = is_new;

	for (size_t i = 0; rc >= 0 && i < s->nr_shards; i++) {
		struct spur_error why = {0};

		if (&s->shards[i] == own || s->shards[i].away)
			continue;
		rc = ch_schema_ensure(&s->shards[i], table, columns, &why);
		rc = rc == -EHOSTDOWN ? 0 : ch_pass_on(rc, &why, err);
	}
	return rc < 0 ? rc : is_new;
}
