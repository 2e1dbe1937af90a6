// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The tables of text that both versions store in the same way, one after the other in version 6,
 * each in a section of its own in version 7:
 *
 *	headers    "header_page\0" u64 size, text, "header_event\0" u64 size, text
 *	ftrace     u32 count, each: u64 size, text
 *	events     u32 systems, each: name\0, u32 count, each: u64 size, text
 *	kallsyms   u32 size, text
 *	printk     u32 size, text
 *	cmdlines   u64 size, text
 *
 * Counts need no limit of their own: every element takes bytes, and these run out.
 */
#include "dat/load.h"

#include "base/vec.h"

static uint64_t stored_at(const struct dat_load *l, const struct cursor *c)
{
	return l->stored ? l->stored : cursor_offset(c);
}

bool dat_take_blob(struct dat_load *l, struct cursor *c, uint64_t n, struct dat_blob *blob)
{
	struct dat_blob b = {.offset = stored_at(l, c)};

	if (n > cursor_left(c) && __builtin_add_overflow(cursor_offset(c), n, &l->wanted))
		l->wanted = UINT64_MAX;
	b.data = cursor_bytes(c, n);
	if (!b.data)
		return false;
	b.size = (size_t)n;
	*blob = b;
	return true;
}

/* A text that stands alone is worth having even without its end. */
static bool take_text(struct dat_load *l, struct cursor *c, uint64_t n, struct dat_blob *blob)
{
	size_t left = cursor_left(c);

	if (dat_take_blob(l, c, n, blob))
		return true;
	if (left)
		*blob = (struct dat_blob){c->pos, left, stored_at(l, c)};
	return false;
}

static bool expect(struct cursor *c, const char *word)
{
	const uint8_t *p = cursor_bytes(c, strlen(word) + 1);

	if (p && memcmp(p, word, strlen(word) + 1) != 0)
		c->failed = true;
	return !cursor_failed(c);
}

bool dat_parse_headers(struct dat_load *l, struct cursor *c)
{
	struct dat *d = l->d;
	uint64_t size;

	if (!expect(c, "header_page"))
		return false;
	size = cursor_u64(c);
	if (!dat_take_blob(l, c, size, &d->header_page))
		return false;
	d->has_header = true;
	if (!expect(c, "header_event"))
		return false;
	size = cursor_u64(c);
	return dat_take_blob(l, c, size, &d->header_event);
}

static bool take_format(struct dat_load *l, struct cursor *c, const char *system)
{
	struct dat_format format = {.system = system}, *slot;
	uint64_t size = cursor_u64(c);

	if (!dat_take_blob(l, c, size, &format.text))
		return false;
	slot = l->formats.n < DAT_MAX_FORMATS ? vec_push(&l->formats) : NULL;
	if (slot)
		*slot = format;
	else
		c->failed = true;
	return slot;
}

bool dat_parse_ftrace(struct dat_load *l, struct cursor *c)
{
	uint32_t count = cursor_u32(c);

	l->d->has_ftrace = !cursor_failed(c);
	for (uint32_t i = 0; i < count; i++)
		if (!take_format(l, c, "ftrace"))
			break;
	l->d->nr_ftrace_formats = l->formats.n;
	return !cursor_failed(c);
}

static bool add_system(struct dat_load *l, const char *name, uint32_t count)
{
	struct dat_system *slot = l->systems.n < DAT_MAX_SYSTEMS ? vec_push(&l->systems) : NULL;

	if (slot)
		*slot = (struct dat_system){name, count};
	return slot;
}

bool dat_parse_events(struct dat_load *l, struct cursor *c)
{
	uint32_t systems = cursor_u32(c);

	l->d->has_formats = !cursor_failed(c);
	for (uint32_t i = 0; i < systems && !cursor_failed(c); i++) {
		const char *name = cursor_string(c);
		uint32_t count = cursor_u32(c);

		if (cursor_failed(c))
			break;
		name = dat_text(l->d, name, strlen(name));
		if (!add_system(l, name, count))
			return false;
		for (uint32_t k = 0; k < count; k++)
			if (!take_format(l, c, name))
				return false;
	}
	return !cursor_failed(c);
}

static bool take_sized(struct dat_load *l, struct cursor *c, unsigned int width,
		       struct dat_blob *blob, bool *has)
{
	uint64_t size = cursor_uint(c, width);

	*has = !cursor_failed(c);
	return *has && take_text(l, c, size, blob);
}

bool dat_parse_kallsyms(struct dat_load *l, struct cursor *c)
{
	return take_sized(l, c, 4, &l->d->kallsyms, &l->d->has_kallsyms);
}

bool dat_parse_printk(struct dat_load *l, struct cursor *c)
{
	return take_sized(l, c, 4, &l->d->printk, &l->d->has_printk);
}

bool dat_parse_cmdlines(struct dat_load *l, struct cursor *c)
{
	return take_sized(l, c, 8, &l->d->cmdlines, &l->d->has_cmdlines);
}
