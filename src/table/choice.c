// SPDX-License-Identifier: GPL-2.0-or-later
#include "table/choice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/suggest.h"
#include "base/vec.h"

#define MAX_NAME 256

int choice_split(const char *text, struct choice_text *out, struct spur_error *err)
{
	const size_t len = strlen(text);
	const char *slash = strchr(text, '/');

	*out = (struct choice_text){.event = text,
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
static void put_pattern(struct buf *to, const struct choice_text *t)
{
	if (!memchr(t->event, ':', t->event_len))
		buf_puts(to, "*:");
	buf_put(to, t->event, t->event_len);
}

static int no_event(const struct events *ev, const struct choice_text *t, struct spur_error *err)
{
	const char *colon = memchr(t->event, ':', t->event_len);
	const char *name = colon ? colon + 1 : t->event;
	struct suggest near = suggest_for(name, (size_t)(t->event + t->event_len - name));

	for (size_t i = 0; i < ev->nr; i++)
		suggest_try(&near, ev->list[i]->name);
	return error_set(err, -ENOENT, "there is no event '%.*s' in the trace%s", (int)t->event_len,
			 t->event, suggest_hint(&near));
}

static int choose(struct event_choice *c, const struct choice_text *t, struct spur_error *err)
{
	struct buf pattern;
	size_t n = 0;

	buf_init(&pattern, 2 * MAX_NAME);
	put_pattern(&pattern, t);
	buf_str(&pattern);
	for (size_t i = 0; i < c->events->nr; i++) {
		struct event *e = c->events->list[i];

		/* Of two that share an id nobody can tell the older one's records. */
		if (events_by_id(c->events, e->id) != e || !event_named(e, pattern.data) ||
		    event_ready(e) == EVENT_BROKEN)
			continue;
		c->at[n++] = e;
	}
	buf_free(&pattern);
	c->n = n;
	return n ? 0 : no_event(c->events, t, err);
}

/* The filter's own words, but places are counted in what the user wrote. */
static int wrong_filter(const struct filter *f, const struct choice_text *t, size_t before,
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

static int add_filter(struct event_choice *c, const struct choice_text *t, struct spur_error *err)
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
		/* The place in front of it is one in a text that the user did not write. */
		const char *why = strstr(missing.text, ": ");

		rc = error_set(err, -EINVAL, "'%.*s': %s", (int)t->filter_len, t->filter,
			       why ? why + 2 : missing.text);
	}
	return rc;
}

int choice_make_parts(struct event_choice *c, struct events *ev, const struct choice_text *text,
		      struct spur_error *err)
{
	int rc;

	*c = (struct event_choice){.events = ev};
	c->at = calloc(ev->nr + 1, sizeof(*c->at));
	if (!c->at)
		return error_set(err, -ENOMEM, "out of memory");
	rc = choose(c, text, err);
	return rc < 0 ? rc : add_filter(c, text, err);
}

int choice_make(struct event_choice *c, struct events *ev, const char *text, struct spur_error *err)
{
	struct choice_text parts;
	int rc = choice_split(text, &parts, err);

	*c = (struct event_choice){0};
	return rc < 0 ? rc : choice_make_parts(c, ev, &parts, err);
}

void choice_free(struct event_choice *c)
{
	filter_free(c->filter);
	free(c->at);
	*c = (struct event_choice){0};
}
