// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Probes that programs were built with: usdt:BINARY:[PROVIDER:]NAME, with patterns. One probe may
 * be at several places, each with arguments elsewhere: every place is a target of the same name.
 */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "probe/probes_user.h"
#include "symbols/nearest.h"
#include "probe/usdt.h"

struct usdt_query {
	struct match *m;
	const char *path;
	const struct binary *b;
	const char *binary, *provider, *name; /* provider NULL: any */
	struct pattern provider_pattern, name_pattern;
	struct nearest near;
	int ret;
};

static bool wanted(struct usdt_query *q, const struct usdt_probe *p)
{
	if (q->provider && !pattern_match(&q->provider_pattern, p->provider, strlen(p->provider)))
		return false;
	if (pattern_match(&q->name_pattern, p->name, strlen(p->name)))
		return true;
	nearest_try(&q->near, p->name, strlen(p->name));
	return false;
}

static int add_place(struct usdt_query *q, const struct usdt_probe *p, uint64_t offset)
{
	struct match *m = q->m;
	struct probe_target *t =
		match_add(m, "%s:%s:%s", user_shown(q->binary, q->path), p->provider, p->name);

	if (!t)
		return match_no_memory(m);
	t->path = q->path;
	t->symbol = arena_strdup(m->world->arena, p->name);
	t->func = t->symbol;
	t->module = arena_strdup(m->world->arena, p->provider);
	t->arguments = arena_strdup(m->world->arena, p->args);
	t->address = p->addr;
	t->offset = offset;
	if (p->semaphore && !binary_offset(q->b, p->semaphore, &t->semaphore))
		return match_error(m, "the semaphore of %s:%s is not in %s", p->provider, p->name,
				   q->path);
	return t->symbol && t->module && t->arguments ? 0 : match_no_memory(m);
}

static int look_at(void *arg, const struct usdt_probe *p)
{
	struct usdt_query *q = arg;
	uint64_t offset;

	if (wanted(q, p) && binary_code_offset(q->b, p->addr, &offset))
		q->ret = add_place(q, p, offset);
	return q->ret;
}

static int match_binary(struct usdt_query *q, bool quiet)
{
	struct spur_error err = {0};
	struct binary *b;

	if (binary_open_debug(q->path, q->m->world->debuginfo, &b, &err))
		return quiet ? 0 : match_error(q->m, "%s", err.text);
	q->b = b;
	usdt_each(b, look_at, q);
	binary_close(b);
	return q->ret;
}

static int compile(struct usdt_query *q)
{
	if (q->provider &&
	    pattern_glob(&q->provider_pattern, q->provider, strlen(q->provider), NULL))
		return match_error(q->m, "'%s' is no pattern", q->provider);
	if (pattern_glob(&q->name_pattern, q->name, strlen(q->name), NULL))
		return match_error(q->m, "'%s' is no pattern", q->name);
	return 0;
}

static int read_words(struct usdt_query *q)
{
	struct match *m = q->m;
	const bool traced = m->world->pid || m->world->command;

	q->name = m->word[m->nr_words - 1];
	q->binary = m->nr_words > 1 ? m->word[0] : NULL;
	q->provider = m->nr_words > 2 && *m->word[1] ? m->word[1] : NULL;
	if (!q->binary && !traced)
		return match_wrong_count(m);
	/* Without a binary any of the traced program's is meant. */
	if (!q->binary || !*q->binary) {
		if (!traced)
			return match_error(m,
					   "usdt probe must specify at least path or pid to "
					   "probe. To target all paths/pids set the path to '*'.");
		q->binary = "*";
	}
	if (!*q->name)
		return match_error(m, "usdt probe must have a target function or wildcard");
	return 0;
}

static int none_found(struct usdt_query *q, const struct paths *paths)
{
	struct match *m = q->m;
	const int ret = match_missing(
		m, "No matches for usdt %s:%s%s%s.", paths->n == 1 ? paths->at[0] : q->binary,
		q->provider ? q->provider : "", q->provider ? ":" : "", q->name);

	if (q->near.n)
		match_hint(m, "did you mean '%s'?", q->near.best[0].name);
	return ret;
}

int match_usdt(struct match *m)
{
	struct usdt_query q = {.m = m};
	struct paths paths = {0};
	const size_t before = m->to->n;
	int ret = read_words(&q);

	if (!ret)
		ret = compile(&q);
	if (!ret)
		ret = user_binaries(m, q.binary, &paths);
	if (!ret)
		q.near = nearest_to(q.name, strlen(q.name));
	for (size_t i = 0; i < paths.n && !ret; i++) {
		q.path = paths.at[i];
		ret = match_binary(&q, paths.n > 1);
	}
	if (!ret && m->to->n == before)
		ret = none_found(&q, &paths);
	vec_free(&paths);
	pattern_free(&q.provider_pattern);
	pattern_free(&q.name_pattern);
	return ret;
}
