// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The registry of a trace's events.
 *
 * Adding an event costs a look at the first lines of its format. events_seal() builds the table by
 * id and reads the fields of one event, because the place of the common ones must be known before
 * type of a record can be: the place is the same in all events, and that of the lowest id is used.
 */
#include "event/event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "event/format.h"
#include "event/names.h"
#include "event/tep.h"

/* Formats that are used, their trees and plans. A kernel with everything enabled needs 10 MiB. */
#define ARENA_LIMIT ((size_t)512 * 1024 * 1024)

/* Ids are small in real traces. Larger ones are found through the map. */
#define MAX_DIRECT 65536
#define MAX_EVENTS 1000000

struct events *events_new(void)
{
	struct events *ev = calloc(1, sizeof(*ev));
	pthread_mutexattr_t recursive;

	if (!ev)
		return NULL;
	arena_init(&ev->arena, ARENA_LIMIT);
	ev->long_size = 8;
	ev->page_size = 4096;
	ev->common.type.size = 2;
	/* Handlers look at the fields of the event they are bound to, and of others. */
	pthread_mutexattr_init(&recursive);
	pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&ev->lock, &recursive);
	pthread_mutexattr_destroy(&recursive);
	ev->symbols = symbols_new();
	ev->printk = printk_formats_new();
	ev->comms = comms_new();
	if (!ev->symbols || !ev->printk || !ev->comms) {
		events_free(ev);
		return NULL;
	}
	return ev;
}

void events_free(struct events *ev)
{
	if (!ev)
		return;
	tep_bridge_free(ev->tep);
	symbols_free(ev->symbols);
	printk_formats_free(ev->printk);
	comms_free(ev->comms);
	free(ev->guests);
	pthread_mutex_destroy(&ev->lock);
	map_free(&ev->by_id);
	map_free(&ev->functions);
	free(ev->direct);
	free(ev->list);
	arena_free(&ev->arena);
	free(ev);
}

static bool make_room(struct events *ev)
{
	size_t cap = ev->cap ? ev->cap * 2 : 64;
	struct event **list;

	if (ev->nr < ev->cap)
		return true;
	if (ev->nr >= MAX_EVENTS)
		return false;
	list = realloc(ev->list, cap * sizeof(*list));
	if (!list)
		return false;
	ev->list = list;
	ev->cap = cap;
	return true;
}

int events_add(struct events *ev, const char *system, const char *text, size_t len,
	       struct spur_error *err)
{
	struct format_lexer lex = {text, text + len, NULL};
	struct format_token name;
	struct event *e;
	int id;

	if (!format_head(&lex, &name, &id))
		return error_set(err, -EBADMSG, "an event of %s has no name or id", system);
	e = make_room(ev) ? arena_alloc(&ev->arena, sizeof(*e)) : NULL;
	if (!e)
		return error_set(err, -ENOMEM, "too many events");
	e->events = ev;
	e->system = arena_strdup(&ev->arena, system);
	e->name = arena_strndup(&ev->arena, name.text, name.len);
	e->format = text;
	e->format_len = len;
	e->id = id;
	e->index = (uint32_t)ev->nr;
	if (!e->system || !e->name || !map_set(&ev->by_id, (uint64_t)(uint32_t)id, e))
		return error_set(err, -ENOMEM, "too many events");
	ev->list[ev->nr++] = e;
	return 0;
}

static bool set_common(const struct event *e, const char *name, struct event_field *f)
{
	const struct event_field *found = event_common_named(e, name);

	if (found)
		*f = *found;
	return found != NULL;
}

static bool lies_at(const struct event_field *f, size_t offset, size_t size)
{
	return f->offset == offset && f->size == size;
}

static bool is_usual(const struct events *ev)
{
	const struct event_common *c = &ev->common;

	return ev->big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) && c->has_flags &&
	       c->has_pid &&
	       lies_at(&c->type, offsetof(struct usual_head, type), sizeof(uint16_t)) &&
	       lies_at(&c->flags, offsetof(struct usual_head, flags), sizeof(uint8_t)) &&
	       lies_at(&c->pid, offsetof(struct usual_head, pid), sizeof(int32_t));
}

/*
 * Takes the common fields from the first event that has them. Its print format is left alone: it
 * may name functions, which are not known yet.
 */
static void find_common(struct events *ev)
{
	struct event_common *c = &ev->common;

	for (size_t id = 0; id < ev->nr_direct; id++) {
		struct event *e = ev->direct[id];

		if (!e || !format_read_fields(e) || !set_common(e, "common_type", &c->type))
			continue;
		c->has_flags = set_common(e, "common_flags", &c->flags);
		c->has_preempt_count = set_common(e, "common_preempt_count", &c->preempt_count);
		c->has_pid = set_common(e, "common_pid", &c->pid);
		c->has_lock_depth = set_common(e, "common_lock_depth", &c->lock_depth);
		c->usual = is_usual(ev);
		return;
	}
}

int events_seal(struct events *ev)
{
	size_t nr = 0;

	for (size_t i = 0; i < ev->nr; i++)
		if (ev->list[i]->id < MAX_DIRECT && (size_t)ev->list[i]->id >= nr)
			nr = (size_t)ev->list[i]->id + 1;
	free(ev->direct);
	ev->direct = calloc(nr ? nr : 1, sizeof(*ev->direct));
	ev->nr_direct = ev->direct ? nr : 0;
	if (!ev->direct)
		return -ENOMEM;
	for (size_t i = 0; i < ev->nr; i++)
		if (ev->list[i]->id < MAX_DIRECT)
			ev->direct[ev->list[i]->id] = ev->list[i];
	pthread_mutex_lock(&ev->lock);
	find_common(ev);
	pthread_mutex_unlock(&ev->lock);
	return 0;
}

struct event *events_find(const struct events *ev, const char *system, const char *name)
{
	for (size_t i = 0; i < ev->nr; i++)
		if (!strcmp(ev->list[i]->name, name) &&
		    (!system || !strcmp(ev->list[i]->system, system)))
			return ev->list[i];
	return NULL;
}
