// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/arrays.h"

void array_forms_free(struct array_forms *a)
{
	map_free(&a->binary);
	map_free(&a->text);
}

void array_forms_reset(struct array_forms *a)
{
	array_forms_free(a);
	*a = (struct array_forms){0};
}

static uint64_t key_of(const struct event_field *f)
{
	return (uintptr_t)f;
}

bool array_forms_text(struct array_forms *a, const struct event_field *f, bool printable)
{
	const uint64_t key = key_of(f);
	struct map *form;

	if (map_get(&a->binary, key))
		return false;
	form = printable ? &a->text : &a->binary;
	if (!map_get(form, key) && !map_set(form, key, a))
		a->lost = true;
	return printable;
}

bool array_forms_stale(const struct array_forms *later, const struct array_forms *earlier)
{
	if (later->lost && earlier->binary.n)
		return true;
	for (size_t i = 0; i < earlier->binary.cap && later->text.n; i++) {
		const struct map_slot *s = &earlier->binary.slots[i];

		if (s->value && map_get(&later->text, s->key))
			return true;
	}
	return false;
}

bool array_forms_adopt(struct array_forms *a, const struct array_forms *from)
{
	for (size_t i = 0; i < from->binary.cap; i++) {
		const struct map_slot *s = &from->binary.slots[i];

		if (s->value && !map_get(&a->binary, s->key) && !map_set(&a->binary, s->key, a))
			return false;
	}
	return !from->lost;
}
