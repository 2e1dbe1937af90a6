// SPDX-License-Identifier: GPL-2.0-or-later
/* Questions to an environment that have the same answer whoever is behind it. */
#include "lang/env.h"

#include <stdlib.h>
#include <string.h>

#include "lang/env_parts.h"

#define MAX_NAME 1024

void env_free(struct env *e)
{
	if (!e)
		return;
	programs_free(e->programs);
	loaded_free(e->loaded);
	e->ops->free(e);
}

bool env_type_in(struct env *e, const char *path, const char *name, struct type *t)
{
	return (e->own && cdefs_type(e->own, name, t)) || ctype_base(name, t) ||
	       (path && env_user_type(e, path, name, t)) ||
	       (e->ops->type && e->ops->type(e, name, t));
}

bool env_type(struct env *e, const char *name, struct type *t)
{
	return env_type_in(e, NULL, name, t);
}

bool env_complete(struct env *e, struct type *t)
{
	const char *name = t->in && t->in->name ? t->in->name(t->in, t) : NULL;
	struct type found;
	struct buf full;
	bool ok;

	if (t->kind != TYPE_STRUCT || t->size || !name || !*name)
		return t->kind != TYPE_STRUCT || t->size;
	buf_init(&full, MAX_NAME);
	buf_printf(&full, "%s %s", t->is_union ? "union" : "struct", name);
	ok = !buf_full(&full) && env_type(e, buf_str(&full), &found) && found.size;
	buf_free(&full);
	if (ok)
		*t = found;
	return ok;
}

bool env_enumerator(struct env *e, const char *name, int64_t *value, struct type *in)
{
	return (e->own && cdefs_enumerator(e->own, name, value, in)) ||
	       (e->ops->enumerator && e->ops->enumerator(e, name, value, in));
}

void env_near_type(struct env *e, const char *name, struct buf *to)
{
	const char *bare = name;
	struct nearest near;

	ctype_tag(&bare);
	near = nearest_to(bare, strlen(bare));
	if (e->own)
		cdefs_near(e->own, name, &near);
	if (e->ops->near_type)
		e->ops->near_type(e, name, &near);
	buf_puts(to, nearest_words(&near));
}

const char *env_enumerator_name(const struct type *t, int64_t value)
{
	return type_enumerator_name(t, value);
}

void env_type_name(const struct type *t, struct buf *to)
{
	type_name(t, to);
}
