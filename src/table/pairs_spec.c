// SPDX-License-Identifier: GPL-2.0-or-later
/* What is asked for: both events and the fields that they are matched by. */
#include <errno.h>
#include <string.h>

#include "table/pairs_parts.h"
#include "base/error.h"

struct match {
	const char *name[2]; /* on the side of `from`, of `to` */
	size_t len[2];
};

/* "pid" or "next_pid=pid". */
static int split_match(const char *text, size_t len, struct match *m, struct spur_error *err)
{
	const char *equals = memchr(text, '=', len);

	m->name[0] = m->name[1] = text;
	m->len[0] = m->len[1] = len;
	if (equals) {
		m->len[0] = (size_t)(equals - text);
		m->name[1] = equals + 1;
		m->len[1] = len - m->len[0] - 1;
	}
	if (!m->len[0] || !m->len[1])
		return error_set(err, -EINVAL,
				 "'%.*s': fields to match by are FIELD or FROMFIELD=TOFIELD",
				 (int)len, text);
	return 0;
}

static int split_matches(struct pairs *p, const char *text, struct match *all,
			 struct spur_error *err)
{
	while (text && *text) {
		const size_t len = strcspn(text, ",");
		int rc;

		if (p->nr_match == MAX_MATCH)
			return error_set(err, -EINVAL, "no more than %d fields can be matched by",
					 MAX_MATCH);
		rc = split_match(text, len, &all[p->nr_match++], err);
		if (rc < 0)
			return rc;
		text += len + (text[len] == ',');
	}
	return 0;
}

static struct pair_event *event_of(struct pairs *p, const struct event *e)
{
	if (!p->events[e->index])
		p->events[e->index] = arena_alloc(&p->arena, sizeof(**p->events));
	return p->events[e->index];
}

/* The fields of one side's events. A number never equals a text. */
static int bind(struct pairs *p, const struct event_choice *c, bool to, const struct match *m,
		unsigned int k, struct spur_error *err)
{
	for (size_t i = 0; i < c->n; i++) {
		struct pair_event *pe = event_of(p, c->at[i]);
		struct field_ref *ref = pe ? (to ? pe->to_refs : pe->from_refs) + k : NULL;
		int rc = pe ? field_ref_find(c->at[i], m->name[to], m->len[to], ref, err) : 0;

		if (!pe)
			return error_set(err, -ENOMEM, "out of memory");
		if (rc < 0)
			return rc;
		if (!to && i == 0)
			p->is_text[k] = field_ref_is_text(ref);
		if (p->is_text[k] != field_ref_is_text(ref))
			return error_set(
				err, -EINVAL,
				"'%.*s' and '%.*s' cannot be matched: one is a number, the "
				"other text",
				(int)m->len[0], m->name[0], (int)m->len[1], m->name[1]);
	}
	return 0;
}

static bool all_cpus(const struct pairs *p, const struct event_choice *c, bool to, unsigned int k)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct pair_event *pe = p->events[c->at[i]->index];

		if ((to ? pe->to_refs : pe->from_refs)[k].kind != REF_CPU)
			return false;
	}
	return true;
}

static int bind_all(struct pairs *p, const struct match *all, struct spur_error *err)
{
	int rc = 0;

	for (unsigned int k = 0; rc == 0 && k < p->nr_match; k++) {
		rc = bind(p, &p->from, false, &all[k], k, err);
		if (rc == 0)
			rc = bind(p, &p->to, true, &all[k], k, err);
		/* A CPU on both sides limits what a loss can hide. */
		if (rc == 0)
			p->same_cpu |=
				all_cpus(p, &p->from, false, k) && all_cpus(p, &p->to, true, k);
	}
	return rc;
}

static int mark(struct pairs *p, struct spur_error *err)
{
	struct pair_event *pe = NULL;

	for (size_t i = 0; i < p->from.n; i++) {
		pe = event_of(p, p->from.at[i]);
		if (!pe)
			return error_set(err, -ENOMEM, "out of memory");
		pe->from = true;
	}
	for (size_t i = 0; i < p->to.n; i++) {
		pe = event_of(p, p->to.at[i]);
		if (!pe)
			return error_set(err, -ENOMEM, "out of memory");
		pe->to = true;
	}
	return 0;
}

/* "system:name" of every event that is looked at. */
static int list_events(struct pairs *p, const struct events *ev, struct spur_error *err)
{
	const char **list = arena_array(&p->arena, p->from.n + p->to.n + 1, sizeof(*list));
	struct buf name;
	size_t n = 0;

	buf_init(&name, 1u << 16);
	for (size_t i = 0; list && i < ev->nr; i++) {
		if (!p->events[i])
			continue;
		buf_reset(&name);
		buf_printf(&name, "%s:%s", ev->list[i]->system, ev->list[i]->name);
		list[n] = arena_strdup(&p->arena, buf_str(&name));
		if (!list[n++])
			list = NULL;
	}
	buf_free(&name);
	p->table.events = list;
	return list ? 0 : error_set(err, -ENOMEM, "out of memory");
}

int pairs_spec_read(struct pairs *p, struct events *ev, const struct pairs_options *opt,
		    struct spur_error *err)
{
	struct match all[MAX_MATCH] = {0};
	int rc = choice_make(&p->from, ev, opt->from, err);

	if (rc == 0)
		rc = choice_make(&p->to, ev, opt->to ? opt->to : opt->from, err);
	if (rc == 0)
		rc = split_matches(p, opt->match, all, err);
	if (rc < 0)
		return rc;
	p->first = opt->first;
	p->nr_events = ev->nr;
	p->events = arena_array(&p->arena, ev->nr + 1, sizeof(*p->events));
	if (!p->events)
		return error_set(err, -ENOMEM, "out of memory");
	rc = mark(p, err);
	if (rc == 0)
		rc = bind_all(p, all, err);
	return rc == 0 ? list_events(p, ev, err) : rc;
}
