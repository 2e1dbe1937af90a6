// SPDX-License-Identifier: GPL-2.0-or-later
/* Parsing hooks: pairs of events that begin and end something. */
#include "stats/profile/hook.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/error.h"

/* Cuts off the part before the first of these characters and says which it was, 0 for the end. */
static const char *cut(char **rest, const char *until, char *found)
{
	char *part = *rest;
	size_t n = strcspn(part, until);

	*found = part[n];
	*rest = part + n + (part[n] != 0);
	part[n] = 0;
	return part;
}

/* [SYSTEM:]EVENT,FIELD; returns what comes after the field. */
static bool parse_event(struct hook_event *e, char **rest, const char *until, char *found)
{
	const char *name = cut(rest, ":,", found);

	if (*found == ':') {
		e->system = name;
		name = cut(rest, ",", found);
		if (!*e->system)
			return false;
	}
	e->name = name;
	if (*found != ',')
		return false;
	e->field = cut(rest, until, found);
	return *e->name && *e->field;
}

static void take_flags(struct hook *h, const char *flags)
{
	h->flags = flags;
	for (; *flags; flags++) {
		switch (tolower((unsigned char)*flags)) {
		case 'p': h->pinned = true; break;
		case 'g': h->global = true; break;
		case 's': break;
		default: h->unknown_flag = *flags; break;
		}
	}
}

static bool parse(struct hook *h)
{
	char *rest = h->text;
	char found;

	if (!parse_event(&h->start, &rest, ",/", &found))
		return false;
	if (found == ',') {
		h->pid = cut(&rest, "/", &found);
		if (!*h->pid)
			return false;
	}
	if (found != '/' || !parse_event(&h->end, &rest, ",", &found))
		return false;
	if (found == ',' && *rest)
		take_flags(h, rest);
	return found != ',' || *rest;
}

int hook_parse(struct hook *h, const char *text, size_t len, struct spur_error *err)
{
	memset(h, 0, sizeof(*h));
	if (len >= sizeof(h->text) || memchr(text, 0, len))
		return error_set(err, -EINVAL, "a hook of %zu bytes", len);
	memcpy(h->text, text, len);
	if (!parse(h))
		return error_set(err, -EINVAL,
				 "'%.*s' is no hook: it should be EVENT,FIELD/EVENT,FIELD",
				 (int)len, text);
	return 0;
}

static const char *or_null(const char *s)
{
	return s ? s : "(null)";
}

void hook_put(const struct hook *h, struct buf *out)
{
	buf_printf(out, "start %s:%s:%s (%s) end %s:%s:%s (%s)\n", or_null(h->start.system),
		   h->start.name, h->start.field, or_null(h->pid), or_null(h->end.system),
		   h->end.name, h->end.field, or_null(h->flags));
}

int hook_put_all(const char *const *texts, size_t n, struct buf *out, struct spur_error *err)
{
	for (size_t i = 0; i < n; i++) {
		struct hook h;
		int rc = hook_parse(&h, texts[i], strlen(texts[i]), err);

		if (rc < 0)
			return rc;
		hook_put(&h, out);
	}
	return 0;
}

void hook_put_stored(const struct dat *d, struct buf *out)
{
	for (size_t i = 0; i < d->nr_options; i++) {
		const struct dat_blob *b = &d->options[i].data;
		struct hook h;

		if (d->options[i].id == DAT_OPT_HOOK &&
		    hook_parse(&h, (const char *)b->data, strnlen((const char *)b->data, b->size),
			       NULL) == 0)
			hook_put(&h, out);
	}
}
