// SPDX-License-Identifier: GPL-2.0-or-later
#include "table/fieldref.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/suggest.h"

static const struct {
	const char *name;
	enum ref_kind kind;
} of_records[] = {
	{"pid", REF_PID},   {"comm", REF_COMM}, {"cpu", REF_CPU},
	{"COMM", REF_COMM}, {"CPU", REF_CPU},
};

#define NR_OF_RECORDS (sizeof(of_records) / sizeof(of_records[0]))

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
		/* Of one that lies elsewhere there is nothing, not even an end. */
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
