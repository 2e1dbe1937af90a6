// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Probes on other events: eprobe. What an event's format file says about its fields takes the place
 * of a function's parameters.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "event/event.h"
#include "symbols/names.h"
#include "symbols/nearest.h"
#include "probe/resolve.h"

#define MAX_FORMAT (1u << 20)

struct event_place {
	char *system, *name;
};

static int parse_place(struct request *r, struct event_place *at)
{
	char *text = arena_strdup(&r->scratch, r->expr.place), *dot;

	if (!text)
		return error_sys(r->err, -ENOMEM, "probe");
	dot = strpbrk(text, ".:");
	if (!dot || !is_identifier(dot + 1, strlen(dot + 1)))
		return error_set(r->err, -EINVAL, "it should be SYSTEM.EVENT");
	*dot = '\0';
	at->system = text;
	at->name = dot + 1;
	if (!text[0] || strchr(text, '/'))
		return error_set(r->err, -EINVAL, "it should be SYSTEM.EVENT");
	return 0;
}

/* ---- fields ---------------------------------------------------------------------------- */

/* The only types with something behind them are pointers to text. */
static bool field_target(const struct types *in, const struct type *t, struct type *to)
{
	*to = (struct type){.kind = TYPE_INTEGER, .size = 1, .is_char = true};
	return true;
}

static bool field_member(const struct types *in, const struct type *t, size_t number,
			 struct member *m)
{
	return false;
}

static const struct types field_types = {.target = field_target, .member = field_member};

static struct type type_of_field(const struct event_field *f, bool user)
{
	struct type t = {.in = &field_types, .kind = TYPE_INTEGER, .size = f->size};

	t.is_signed = f->flags & FIELD_SIGNED;
	if (f->flags & FIELD_STRING) {
		t.kind = TYPE_TEXT;
	} else if (f->flags & (FIELD_DYNAMIC | FIELD_RELATIVE)) {
		t.kind = TYPE_UNKNOWN;
	} else if (f->flags & FIELD_ARRAY) {
		t.kind = TYPE_ARRAY;
	} else if (strstr(f->type, "char *")) {
		t.kind = TYPE_POINTER;
		t.user = user;
	} else if (f->flags & FIELD_POINTER) {
		t.hex = true;
	}
	return t;
}

static int add_fields(struct event *e, struct arena *arena, struct proto *p)
{
	/* Arguments of system calls are the process's. */
	bool user = !strcmp(e->system, "syscalls");

	if (event_ready(e) == EVENT_BROKEN || e->nr_fields < e->nr_common)
		return -EBADMSG;
	p->at = arena_array(arena, e->nr_fields + 1, sizeof(*p->at));
	if (!p->at)
		return -ENOMEM;
	for (uint32_t i = e->nr_common; i < e->nr_fields; i++) {
		struct param *param = &p->at[p->n++];

		param->name = arena_strdup(arena, e->fields[i].name);
		if (!param->name)
			return -ENOMEM;
		param->type = type_of_field(&e->fields[i], user);
		param->place.kind = PLACE_FIELD;
		/* What the kernel yields for one differs from version to version. */
		if (param->type.kind == TYPE_ARRAY)
			param->place = (struct place){.kind = PLACE_NOWHERE, .why = "is an array"};
	}
	return 0;
}

static int read_fields(const struct event_place *at, struct buf *format, struct arena *arena,
		       struct proto *p)
{
	struct events *ev = events_new();
	struct event *e;
	int ret = -ENOMEM;

	*p = (struct proto){0};
	if (ev)
		ret = events_add(ev, at->system, format->data, format->len, NULL);
	if (!ret)
		ret = events_seal(ev);
	if (!ret) {
		e = events_find(ev, at->system, at->name);
		ret = e ? add_fields(e, arena, p) : -EBADMSG;
	}
	events_free(ev);
	return ret;
}

/* ---- events that are not there --------------------------------------------------------- */

/* The names in a directory; false when it is not there. */
static bool try_names(const char *path, struct nearest *near)
{
	struct dirent *entry;
	DIR *d = opendir(path);

	while (d && (entry = readdir(d)))
		nearest_try(near, entry->d_name, strlen(entry->d_name));
	if (d)
		closedir(d);
	return d;
}

static int not_found(struct request *r, const char *root, const struct event_place *at)
{
	struct nearest near = nearest_to(at->name, strlen(at->name));
	char path[4400];

	snprintf(path, sizeof(path), "%s/events/%s", root, at->system);
	if (try_names(path, &near))
		return error_set(r->err, -ENOENT, "there is no event '%s' in '%s'%s", at->name,
				 at->system, nearest_words(&near));
	near = nearest_to(at->system, strlen(at->system));
	snprintf(path, sizeof(path), "%s/events", root);
	/* What may not be looked at is for the kernel to judge. */
	if (!try_names(path, &near))
		return 0;
	return error_set(r->err, -ENOENT, "there is no system of events '%s'%s", at->system,
			 nearest_words(&near));
}

int resolve_event(struct request *r)
{
	const char *root = r->opt->tracefs ? r->opt->tracefs : "/sys/kernel/tracing";
	struct fetch_scope scope = {.abi = abi_of_kernel(r->machine),
				    .kernel = true,
				    .fields = true,
				    .arena = &r->scratch};
	struct event_place at = {0};
	char path[4400], place[4200];
	struct proto proto;
	struct buf format;
	int ret = parse_place(r, &at);

	if (ret)
		return ret;
	if (!r->opt->dynamic_events)
		return error_set(r->err, -EOPNOTSUPP,
				 "this kernel has no probes on events (no file dynamic_events)");
	buf_init(&format, MAX_FORMAT);
	snprintf(path, sizeof(path), "%s/events/%s/%s/format", root, at.system, at.name);
	if (!file_read(path, &format, NULL)) {
		if (!read_fields(&at, &format, &r->scratch, &proto))
			scope.proto = &proto;
	} else {
		ret = not_found(r, root, &at);
	}
	buf_free(&format);
	if (ret)
		return ret;
	scope.what = at.name;
	snprintf(place, sizeof(place), "%s.%s", at.system, at.name);
	return request_line(r, at.name, place, &scope, NULL);
}
