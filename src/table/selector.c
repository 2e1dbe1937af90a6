// SPDX-License-Identifier: LGPL-2.1-or-later
/* Selecting records and values by the names that a user writes. */
#include "table/selector.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/suggest.h"
#include "base/vec.h"

#define MAX_NAME      256
#define NR_OF_RECORDS ARRAY_SIZE(of_records)

int selector_split(const char *text, struct selector_text *out, struct spur_error *err)
{
	const size_t len = strlen(text);
	const char *slash = strchr(text, '/');

	*out = (struct selector_text){.event = text,
				      .event_len = slash ? (size_t)(slash - text) : len};
	if (!out->event_len || out->event_len > MAX_NAME)
		return error_set(err, -EINVAL, "'%s': an event is [system:]name", text);
	if (!slash)
		return 0;
	if (slash == text + len - 1 || text[len - 1] != '/')
		return error_set(err, -EINVAL, "'%s': a filter ends with a slash: EVENT/FILTER/",
				 text);
	out->filter = slash + 1;
	out->filter_len = len - out->event_len - 2;
	return 0;
}

/* "*:name" for a name of any system. */
static void put_pattern(struct buf *to, const struct selector_text *t)
{
	if (!memchr(t->event, ':', t->event_len))
		buf_puts(to, "*:");
	buf_put(to, t->event, t->event_len);
}

static int no_event(const struct events *ev, const struct selector_text *t, struct spur_error *err)
{
	const char *colon = memchr(t->event, ':', t->event_len);
	const char *name = colon ? colon + 1 : t->event;
	struct suggest near = suggest_for(name, (size_t)(t->event + t->event_len - name));

	for (size_t i = 0; i < ev->nr; i++)
		suggest_try(&near, ev->list[i]->name);
	return error_set(err, -ENOENT, "there is no event '%.*s' in the trace%s", (int)t->event_len,
			 t->event, suggest_hint(&near));
}

static int choose(struct event_selector *c, const struct selector_text *t, struct spur_error *err)
{
	struct buf pattern;
	size_t n = 0;

	buf_init(&pattern, 2 * MAX_NAME);
	put_pattern(&pattern, t);
	buf_str(&pattern);
	for (size_t i = 0; i < c->events->nr; i++) {
		struct event *e = c->events->list[i];

		/* If two events share an id, records of the older one cannot be recognized. */
		if (events_by_id(c->events, e->id) != e || !event_named(e, pattern.data) ||
		    event_ready(e) == EVENT_BROKEN)
			continue;
		c->at[n++] = e;
	}
	buf_free(&pattern);
	c->n = n;
	return n ? 0 : no_event(c->events, t, err);
}

/* The filter's own message, but with positions in the text that the user wrote. */
static int wrong_filter(const struct filter *f, const struct selector_text *t, size_t before,
			struct spur_error *err)
{
	const struct filter_mistake m = filter_mistake(f);
	const char *why = strstr(err->text, ": ");
	struct spur_error mine = {0};

	if (!why || m.offset < before)
		return err->code;
	error_set(&mine, err->code, "'%.*s', column %zu%s", (int)t->filter_len, t->filter,
		  m.offset - before + 1, why);
	*err = mine;
	return err->code;
}

static int add_filter(struct event_selector *c, const struct selector_text *t,
		      struct spur_error *err)
{
	struct spur_error missing = {0};
	struct buf text;
	size_t before;
	int rc = 0;

	if (!t->filter_len)
		return 0;
	c->filter = filter_new(c->events);
	if (!c->filter)
		return error_set(err, -ENOMEM, "out of memory");
	buf_init(&text, FILTER_MAX_TEXT);
	for (size_t i = 0; rc == 0 && i < c->n; i++) {
		buf_reset(&text);
		buf_printf(&text, "%s/%s: ", c->at[i]->system, c->at[i]->name);
		before = text.len;
		buf_put(&text, t->filter, t->filter_len);
		rc = filter_add(c->filter, buf_str(&text), err);
		if (rc == -EINVAL)
			rc = wrong_filter(c->filter, t, before, err);
	}
	buf_free(&text);
	if (rc == 0 && filter_check(c->filter, &missing)) {
		/* The message begins with a position in a text that the user did not write. */
		const char *why = strstr(missing.text, ": ");

		rc = error_set(err, -EINVAL, "'%.*s': %s", (int)t->filter_len, t->filter,
			       why ? why + 2 : missing.text);
	}
	return rc;
}

int selector_parse_parts(struct event_selector *c, struct events *ev,
			 const struct selector_text *text, struct spur_error *err)
{
	int rc;

	*c = (struct event_selector){.events = ev};
	c->at = calloc(ev->nr + 1, sizeof(*c->at));
	if (!c->at)
		return error_set(err, -ENOMEM, "out of memory");
	rc = choose(c, text, err);
	return rc < 0 ? rc : add_filter(c, text, err);
}

int selector_parse(struct event_selector *c, struct events *ev, const char *text,
		   struct spur_error *err)
{
	struct selector_text parts;
	int rc = selector_split(text, &parts, err);

	*c = (struct event_selector){0};
	return rc < 0 ? rc : selector_parse_parts(c, ev, &parts, err);
}

void selector_free(struct event_selector *c)
{
	filter_free(c->filter);
	free(c->at);
	*c = (struct event_selector){0};
}

/* ---- values by name ---- */

static const struct {
	const char *name;
	enum ref_kind kind;
} of_records[] = {
	{"pid", REF_PID},   {"comm", REF_COMM}, {"cpu", REF_CPU},
	{"COMM", REF_COMM}, {"CPU", REF_CPU},
};

static bool named(const char *name, const char *text, size_t len)
{
	return strlen(name) == len && memcmp(name, text, len) == 0;
}

static int no_field(const struct event *e, const char *name, size_t len, struct spur_error *err)
{
	struct suggest near = suggest_for(name, len);

	for (uint32_t i = 0; i < e->nr_fields; i++)
		suggest_try(&near, e->fields[i].name);
	for (size_t i = 0; i < NR_OF_RECORDS; i++)
		suggest_try(&near, of_records[i].name);
	return error_set(err, -ENOENT, "%s:%s has no field '%.*s'%s", e->system, e->name, (int)len,
			 name, suggest_hint(&near));
}

static int use_field(const struct event *e, const struct event_field *f, struct field_ref *ref,
		     struct spur_error *err)
{
	const bool number = !(f->flags & (FIELD_ARRAY | FIELD_DYNAMIC | FIELD_RELATIVE)) &&
			    (f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8);

	ref->field = f;
	if (f->flags & FIELD_STRING)
		ref->kind = REF_TEXT;
	else if (number)
		ref->kind = REF_NUMBER;
	else
		return error_set(err, -EINVAL, "%s:%s: the field '%s' is neither a number nor text",
				 e->system, e->name, f->name);
	return 0;
}

int field_ref_find(struct event *e, const char *name, size_t len, struct field_ref *ref,
		   struct spur_error *err)
{
	event_ready(e);
	for (uint32_t i = 0; i < e->nr_fields; i++)
		if (named(e->fields[i].name, name, len))
			return use_field(e, &e->fields[i], ref, err);
	for (size_t i = 0; i < NR_OF_RECORDS; i++)
		if (named(of_records[i].name, name, len)) {
			*ref = (struct field_ref){of_records[i].kind, NULL};
			return 0;
		}
	return no_field(e, name, len, err);
}

bool field_ref_get(const struct events *ev, const struct field_ref *ref, struct comm_times *comms,
		   const struct spur_record *r, struct ref_value *v)
{
	uint64_t number = 0;
	bool there = true;

	v->text = NULL;
	v->len = 0;
	switch (ref->kind) {
	case REF_NUMBER: there = field_number(ev, ref->field, r, &number); break;
	case REF_TEXT:
		/* If the text lies outside of the record, there is none. */
		v->text = (const char *)field_bytes(ev, ref->field, r, &v->len);
		there = v->text && v->len;
		v->len = there ? strnlen(v->text, v->len) : 0;
		break;
	case REF_PID: number = (uint64_t)(int64_t)events_record_pid(ev, r); break;
	case REF_COMM:
		v->text = comms ? comm_at(comms, events_record_pid(ev, r), r->ts) : NULL;
		there = v->text;
		v->len = there ? strlen(v->text) : 0;
		break;
	case REF_CPU: number = r->cpu; break;
	}
	v->number = (int64_t)number;
	return there;
}
