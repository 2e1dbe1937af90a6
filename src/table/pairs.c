// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Pairs of events: the time from one event to another that has the same key.
 *
 * Events that wait for their other end are in a list, the earliest first, and in a map by the hash
 * of their key. Keys with the same hash are a chain.
 */
#include "table/pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "table/selector.h"
#include "base/array.h"
#include "base/error.h"
#include "base/list.h"

#define MAX_MATCH   8		/* fields of a key */
#define MAX_WAITING (1u << 17)	/* at a time; then the oldest is forgotten */
#define KEY_LIMIT   4096	/* bytes; a record with a longer key is ignored */
#define KEYS_LIMIT  (16u << 20) /* bytes of texts of different keys; further keys have no text */
#define SPEC_LIMIT  (16u << 20)

enum side { FROM, TO, SIDES };

/* The role of an event type: either end, or both. */
struct pair_event {
	bool is[SIDES];
	struct field_ref refs[SIDES][MAX_MATCH];
};

struct pairs {
	struct table table;
	struct event_selector side[SIDES];
	struct arena arena;
	struct pair_event **events; /* by index; NULL: neither */
	size_t nr_events;
	unsigned int nr_match;
	bool is_text[MAX_MATCH]; /* of the values that are matched; the same for all events */
	bool first;
	bool same_cpu;	    /* the CPU is part of the key, on both sides */
	uint64_t forgotten; /* by all analyses */
};

/* ---- what is asked for ---- */

struct match {
	const char *name[SIDES];
	size_t len[SIDES];
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

/* The fields of one side's events. A number never equals a text. */
static int bind(struct pairs *p, enum side side, const struct match *m, unsigned int k,
		struct spur_error *err)
{
	const struct event_selector *c = &p->side[side];

	for (size_t i = 0; i < c->n; i++) {
		struct field_ref *ref = &p->events[c->at[i]->index]->refs[side][k];
		int rc = field_ref_find(c->at[i], m->name[side], m->len[side], ref, err);

		if (rc < 0)
			return rc;
		if (side == FROM && i == 0)
			p->is_text[k] = field_ref_is_text(ref);
		if (p->is_text[k] != field_ref_is_text(ref))
			return error_set(
				err, -EINVAL,
				"'%.*s' and '%.*s' cannot be matched: one is a number, the "
				"other text",
				(int)m->len[FROM], m->name[FROM], (int)m->len[TO], m->name[TO]);
	}
	return 0;
}

static bool all_cpus(const struct pairs *p, enum side side, unsigned int k)
{
	for (size_t i = 0; i < p->side[side].n; i++)
		if (p->events[p->side[side].at[i]->index]->refs[side][k].kind != REF_CPU)
			return false;
	return true;
}

static int bind_all(struct pairs *p, const struct match *all, struct spur_error *err)
{
	int rc = 0;

	for (unsigned int k = 0; rc == 0 && k < p->nr_match; k++) {
		rc = bind(p, FROM, &all[k], k, err);
		if (rc == 0)
			rc = bind(p, TO, &all[k], k, err);
		/* If both sides have the same CPU, only losses of that CPU matter. */
		if (rc == 0)
			p->same_cpu |= all_cpus(p, FROM, k) && all_cpus(p, TO, k);
	}
	return rc;
}

static int mark(struct pairs *p, enum side side, struct spur_error *err)
{
	for (size_t i = 0; i < p->side[side].n; i++) {
		const uint32_t index = p->side[side].at[i]->index;

		if (!p->events[index])
			p->events[index] = arena_alloc(&p->arena, sizeof(**p->events));
		if (!p->events[index])
			return error_set(err, -ENOMEM, "out of memory");
		p->events[index]->is[side] = true;
	}
	return 0;
}

/* "system:name" of every event that is looked at. */
static int list_events(struct pairs *p, const struct events *ev, struct spur_error *err)
{
	const char **list =
		arena_array(&p->arena, p->side[FROM].n + p->side[TO].n + 1, sizeof(*list));
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

/* Fills everything but the table's functions. */
static int pairs_spec_read(struct pairs *p, struct events *ev, const struct pairs_options *opt,
			   struct spur_error *err)
{
	struct match all[MAX_MATCH] = {0};
	int rc = selector_parse(&p->side[FROM], ev, opt->from, err);

	if (rc == 0)
		rc = selector_parse(&p->side[TO], ev, opt->to ? opt->to : opt->from, err);
	if (rc == 0)
		rc = split_matches(p, opt->match, all, err);
	if (rc < 0)
		return rc;
	p->first = opt->first;
	p->nr_events = ev->nr;
	p->events = arena_array(&p->arena, ev->nr + 1, sizeof(*p->events));
	if (!p->events)
		return error_set(err, -ENOMEM, "out of memory");
	rc = mark(p, FROM, err);
	if (rc == 0)
		rc = mark(p, TO, err);
	if (rc == 0)
		rc = bind_all(p, all, err);
	return rc == 0 ? list_events(p, ev, err) : rc;
}

/* ---- matching ---- */

struct wait {
	struct list order;
	struct wait *next; /* of the same hash */
	uint64_t hash;
	uint64_t ts;
	uint32_t cpu;
	int pid;
	uint32_t key_len;
	char key[];
};

struct analysis {
	const struct table_source *src;
	struct pairs *pairs;
	struct events *events;
	struct comm_times *comms;
	struct list waiting;
	size_t nr_waiting;
	struct map by_hash;
	struct hash_seed seed;
	struct buf key, text;
	struct intern keys;
	/* Until when events may have been lost: of each CPU, or at [0] of all. */
	uint64_t *unsure;
	uint32_t nr_unsure;
};

/* ---- keys ---- */

/* Numbers as 8 bytes, texts with their NUL. False if the record lacks one of them. */
static bool make_key(struct analysis *a, const struct field_ref *refs, const struct spur_record *r)
{
	buf_reset(&a->key);
	for (unsigned int i = 0; i < a->pairs->nr_match; i++) {
		struct ref_value v;

		if (!field_ref_get(a->events, &refs[i], a->comms, r, &v))
			return false;
		if (v.text) {
			buf_put(&a->key, v.text, v.len);
			buf_putc(&a->key, '\0');
		} else {
			buf_put(&a->key, &v.number, sizeof(v.number));
		}
	}
	return !buf_full(&a->key);
}

static const char *key_text(struct analysis *a, const struct wait *w)
{
	const char *at = w->key;

	if (!a->pairs->nr_match)
		return NULL;
	buf_reset(&a->text);
	for (unsigned int i = 0; i < a->pairs->nr_match; i++) {
		int64_t number;

		if (i)
			buf_putc(&a->text, ',');
		if (a->pairs->is_text[i]) {
			buf_puts(&a->text, at);
			at += strlen(at) + 1;
		} else {
			memcpy(&number, at, sizeof(number));
			buf_i64(&a->text, number);
			at += sizeof(number);
		}
	}
	return intern_text(&a->keys, a->text.data, a->text.len);
}

/* ---- those that wait ---- */

static struct wait *find(const struct analysis *a, uint64_t hash)
{
	struct wait *w = map_get(&a->by_hash, hash);

	while (w && (w->key_len != a->key.len || memcmp(w->key, a->key.data, w->key_len) != 0))
		w = w->next;
	return w;
}

static void forget(struct analysis *a, struct wait *w)
{
	struct wait *first = map_get(&a->by_hash, w->hash);

	if (first != w) {
		while (first->next != w)
			first = first->next;
		first->next = w->next;
	} else if (w->next) {
		map_set(&a->by_hash, w->hash, w->next);
	} else {
		map_remove(&a->by_hash, w->hash);
	}
	list_remove(&w->order);
	a->nr_waiting--;
	free(w);
}

static struct wait *add(struct analysis *a, uint64_t hash)
{
	struct wait *w;

	if (a->nr_waiting >= MAX_WAITING) {
		a->pairs->forgotten++;
		forget(a, list_entry(a->waiting.next, struct wait, order));
	}
	w = calloc(1, sizeof(*w) + a->key.len);
	if (!w)
		return NULL;
	w->hash = hash;
	w->key_len = (uint32_t)a->key.len;
	memcpy(w->key, a->key.data, a->key.len);
	w->next = map_get(&a->by_hash, hash);
	if (!map_set(&a->by_hash, hash, w)) {
		free(w);
		return NULL;
	}
	list_init(&w->order);
	list_move_last(&w->order, &a->waiting);
	a->nr_waiting++;
	return w;
}

/* ---- rows ---- */

static bool is_unsure(const struct analysis *a, const struct wait *w)
{
	const uint32_t i = a->pairs->same_cpu ? w->cpu : 0;

	return i < a->nr_unsure && w->ts < a->unsure[i];
}

static void hand_out(struct analysis *a, const struct wait *w, struct pair_row *row, uint64_t now)
{
	row->ts = w->ts;
	row->from_cpu = w->cpu;
	row->key = key_text(a, w);
	row->comm = comm_at(a->comms, (int)row->pid, now);
	row->buffer = a->src->buffer->data->name;
	a->src->row(a->src->arg, row);
}

static void take_to(struct analysis *a, const struct pair_event *pe, const struct spur_record *r)
{
	struct pair_row row = {
		.dur = ROW_NULL, .to_cpu = r->cpu, .pid = events_record_pid(a->events, r)};
	struct wait *w;

	if (!make_key(a, pe->refs[TO], r))
		return;
	w = find(a, hash_bytes(&a->seed, a->key.data, a->key.len));
	if (!w)
		return;
	/* If a clock went backwards, the duration is unknown, too. */
	if (r->ts >= w->ts && !is_unsure(a, w))
		row.dur = (int64_t)(r->ts - w->ts);
	hand_out(a, w, &row, r->ts);
	forget(a, w);
}

static void take_from(struct analysis *a, const struct pair_event *pe, const struct spur_record *r)
{
	struct wait *w;
	uint64_t hash;

	if (!make_key(a, pe->refs[FROM], r))
		return;
	hash = hash_bytes(&a->seed, a->key.data, a->key.len);
	w = find(a, hash);
	if (w && a->pairs->first)
		return;
	if (w)
		list_move_last(&w->order, &a->waiting);
	else
		w = add(a, hash);
	if (!w) {
		*a->src->failed = -ENOMEM;
		return;
	}
	w->ts = r->ts;
	w->cpu = r->cpu;
	w->pid = events_record_pid(a->events, r);
}

/* ---- the table ---- */

static void pairs_record(void *analysis, struct event *e, const struct spur_record *r)
{
	struct analysis *a = analysis;
	const struct pair_event *pe =
		e->index < a->pairs->nr_events ? a->pairs->events[e->index] : NULL;

	if (!pe)
		return;
	if (pe->is[TO] && selector_matches(&a->pairs->side[TO], e, r))
		take_to(a, pe, r);
	if (pe->is[FROM] && selector_matches(&a->pairs->side[FROM], e, r))
		take_from(a, pe, r);
}

static void pairs_losing(void *analysis, uint32_t cpu, uint64_t from, uint64_t to)
{
	struct analysis *a = analysis;
	const uint32_t i = a->pairs->same_cpu ? cpu : 0;

	if (i < a->nr_unsure && a->unsure[i] < to)
		a->unsure[i] = to;
}

static void pairs_end(void *analysis, uint64_t ts)
{
	struct analysis *a = analysis;

	while (!list_empty(&a->waiting)) {
		struct wait *w = list_entry(a->waiting.next, struct wait, order);
		struct pair_row row = {
			.dur = ROW_NULL, .to_cpu = ROW_NULL, .pid = w->pid, .open = ROW_OPEN_END};

		if (is_unsure(a, w))
			row.open = ROW_WHOLE;
		else
			row.dur = ts > w->ts ? (int64_t)(ts - w->ts) : 0;
		hand_out(a, w, &row, w->ts);
		forget(a, w);
	}
}

static bool pairs_pending(const void *analysis, uint64_t ts)
{
	const struct analysis *a = analysis;

	return !list_empty(&a->waiting) &&
	       list_entry(a->waiting.next, struct wait, order)->ts <= ts;
}

static void pairs_done(void *analysis)
{
	struct analysis *a = analysis;

	while (!list_empty(&a->waiting))
		forget(a, list_entry(a->waiting.next, struct wait, order));
	map_free(&a->by_hash);
	comm_times_free(a->comms);
	intern_free(&a->keys);
	buf_free(&a->key);
	buf_free(&a->text);
	free(a->unsure);
}

static uint32_t cpus_of(const struct trace_buffer *b)
{
	uint32_t nr = 1;

	for (uint32_t i = 0; i < b->data->nr_cpus; i++)
		if (b->data->cpus[i].cpu >= nr)
			nr = b->data->cpus[i].cpu + 1;
	return nr;
}

static int pairs_begin(void *analysis, const struct table_source *src)
{
	struct analysis *a = analysis;

	a->src = src;
	/* The table is a member of struct pairs. */
	a->pairs = list_entry(src->table, struct pairs, table);
	a->events = src->trace->events;
	a->seed = hash_seed_new();
	list_init(&a->waiting);
	buf_init(&a->key, KEY_LIMIT);
	buf_init(&a->text, 8 * KEY_LIMIT);
	intern_init(&a->keys, KEYS_LIMIT);
	a->nr_unsure = a->pairs->same_cpu ? cpus_of(src->buffer) : 1;
	a->unsure = calloc(a->nr_unsure, sizeof(*a->unsure));
	a->comms = comm_times_new(src->trace, src->stop);
	return a->unsure && a->comms ? 0 : -ENOMEM;
}

#define COLUMN(kind, member, about) ROW_COLUMN(pair_row, kind, member, about)

static const struct column columns[] = {
	COLUMN(TIME, ts, "when it began"),
	COLUMN(DURATION, dur, "until it ended"),
	COLUMN(NUMBER, from_cpu, "where it began"),
	COLUMN(NUMBER, to_cpu, "where it ended"),
	COLUMN(NUMBER, pid, "of the task that ended it"),
	COLUMN(TEXT, comm, "its name"),
	COLUMN(TEXT, key, "what both have in common"),
	ROW_NAMES(pair_row, open, row_open_names, "'end': it has not ended"),
	COLUMN(TEXT, buffer, "it was recorded in"),
};

struct pairs *pairs_new(struct spur_trace *t, const struct pairs_options *opt,
			struct spur_error *err)
{
	struct pairs *p = calloc(1, sizeof(*p));

	if (!p) {
		error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	p->table = (struct table){
		.name = "pairs",
		.about = "from one event to another",
		.columns = columns,
		.nr_columns = ARRAY_SIZE(columns),
		.row_size = sizeof(struct pair_row),
		/* If the last `from` counts, earlier ones do not matter. */
		.starts_anywhere = !opt->first,
		.analysis_size = sizeof(struct analysis),
		.begin = pairs_begin,
		.record = pairs_record,
		.losing = pairs_losing,
		.end = pairs_end,
		.free = pairs_done,
		.pending = pairs_pending,
	};
	arena_init(&p->arena, SPEC_LIMIT);
	if (pairs_spec_read(p, t->events, opt, err) < 0) {
		pairs_free(p);
		return NULL;
	}
	return p;
}

void pairs_free(struct pairs *p)
{
	if (!p)
		return;
	selector_free(&p->side[FROM]);
	selector_free(&p->side[TO]);
	arena_free(&p->arena);
	free(p);
}

const struct table *pairs_table(const struct pairs *p)
{
	return &p->table;
}

uint64_t pairs_forgotten(const struct pairs *p)
{
	return p->forgotten;
}
