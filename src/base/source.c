// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The text of a script and the messages about it.
 *
 * Parts lie one after the other in the text, in the order in which they were added, each followed
 * by a NUL. `by` of a part is always in an earlier part, so following it ends.
 */
#include "base/source.h"

#include <errno.h>
#include <stdio.h>

#include "base/safe.h"
#include "base/vec.h"

enum {
	MESSAGES_LIMIT = 1 << 20,
	MAX_SHOWN = 160, /* bytes of a line */
	SHOWN_BEFORE = 60,
	MAX_NOTES = 3,
};

void source_init(struct source *s, struct arena *arena)
{
	*s = (struct source){.arena = arena};
	buf_init(&s->text, SOURCE_LIMIT);
	buf_init(&s->messages, MESSAGES_LIMIT);
}

void source_free(struct source *s)
{
	buf_free(&s->text);
	buf_free(&s->messages);
	vec_free(&s->parts);
}

static struct source_part *add_part(struct source *s, const char *name, const char *text,
				    size_t len, struct span by)
{
	struct source_part *p;

	if (len >= SOURCE_LIMIT || s->text.len + len + 1 > SOURCE_LIMIT)
		return NULL;
	if (!buf_room(&s->text, len + 1))
		return NULL;
	name = arena_strdup(s->arena, name);
	p = name ? vec_push(&s->parts) : NULL;
	if (!p)
		return NULL;
	*p = (struct source_part){.name = name, .from = (uint32_t)s->text.len, .by = by};
	buf_put(&s->text, text, len);
	buf_putc(&s->text, '\0');
	return p;
}

bool source_add(struct source *s, const char *name, const char *text, size_t len, struct span by)
{
	return add_part(s, name, text, len, by);
}

bool source_add_expansion(struct source *s, const char *macro, struct span def, const char *text,
			  size_t len, struct span by)
{
	struct source_part *p = add_part(s, macro, text, len, by);

	if (!p)
		return false;
	p->macro = p->name;
	p->def = def;
	return true;
}

const struct source_part *source_part_of(const struct source *s, uint32_t at)
{
	size_t low = 0, high = s->parts.n;

	while (high - low > 1) {
		const size_t middle = low + (high - low) / 2;

		if (s->parts.at[middle].from <= at)
			low = middle;
		else
			high = middle;
	}
	return s->parts.n ? &s->parts.at[low] : NULL;
}

uint32_t source_part_end(const struct source *s, const struct source_part *p)
{
	const bool last = p + 1 == s->parts.at + s->parts.n;

	return (last ? (uint32_t)s->text.len : p[1].from) - 1;
}

struct span source_join(const struct source *s, struct span a, struct span b)
{
	if (s->parts.n > 1) {
		const struct source_part *in_a = source_part_of(s, a.from);
		const struct source_part *in_b = source_part_of(s, b.from);

		while (in_a != in_b) {
			if (in_a > in_b) {
				a = in_a->by;
				in_a = source_part_of(s, a.from);
			} else {
				b = in_b->by;
				in_b = source_part_of(s, b.from);
			}
		}
	}
	return (struct span){a.from < b.from ? a.from : b.from, a.to > b.to ? a.to : b.to};
}

/* The place in the user's text: outside of all expansions. */
static struct span written(const struct source *s, struct span at, const struct source_part **in)
{
	*in = source_part_of(s, at.from);
	while (*in && (*in)->macro) {
		at = (*in)->by;
		*in = source_part_of(s, at.from);
	}
	return at;
}

static void count_lines(const struct source *s, const struct source_part *in, uint32_t at,
			uint32_t *line, uint32_t *column)
{
	const char *p = s->text.data + in->from, *const end = s->text.data + at;

	*line = 1;
	for (const char *n; (n = memchr(p, '\n', (size_t)(end - p))); p = n + 1)
		++*line;
	*column = (uint32_t)(end - p) + 1;
}

void source_place(const struct source *s, uint32_t at, const char **name, uint32_t *line,
		  uint32_t *column)
{
	const struct source_part *in;
	const struct span here = written(s, (struct span){at, at}, &in);
	uint32_t end;

	*name = in ? in->name : "";
	*line = *column = 1;
	if (!in)
		return;
	end = source_part_end(s, in);
	count_lines(s, in, here.from < end ? here.from : end, line, column);
}

/* The line around a place, with a mark under it; of long lines the part around it. */
static void show_line(struct source *s, const struct source_part *in, struct span at)
{
	const char *const text = s->text.data, *nl;
	uint32_t from = at.from, end = source_part_end(s, in), mark_to = at.to;

	while (from > in->from && text[from - 1] != '\n')
		from--;
	nl = memchr(text + at.from, '\n', end - at.from);
	if (nl)
		end = (uint32_t)(nl - text);
	if (end - from > MAX_SHOWN) {
		if (at.from - from > SHOWN_BEFORE)
			from = at.from - SHOWN_BEFORE;
		if (end - from > MAX_SHOWN)
			end = from + MAX_SHOWN;
	}
	if (from == end)
		return;
	buf_put_safe(&s->messages, text + from, end - from);
	buf_putc(&s->messages, '\n');
	for (uint32_t i = from; i < at.from; i++)
		buf_putc(&s->messages, text[i] == '\t' ? '\t' : ' ');
	if (mark_to > end)
		mark_to = end;
	buf_fill(&s->messages, '~', mark_to > at.from ? mark_to - at.from : 1);
	buf_putc(&s->messages, '\n');
}

static void show_notes(struct source *s, struct span at)
{
	const struct source_part *in = source_part_of(s, at.from);

	for (int i = 0; i < MAX_NOTES && in && in->macro; i++) {
		const char *name;
		uint32_t line, column;

		if (in->def.to > in->def.from) {
			source_place(s, in->def.from, &name, &line, &column);
			buf_printf(&s->messages,
				   "NOTE: in the expansion of %s, defined at %s:%u:%u\n", in->macro,
				   name, line, column);
		} else {
			buf_printf(&s->messages, "NOTE: in the expansion of %s\n", in->macro);
		}
		in = source_part_of(s, in->by.from);
	}
}

static void tell(struct source *s, struct span at, const char *what, const char *fmt, va_list ap)
{
	const struct source_part *in;
	struct span here = written(s, at, &in);
	char words[1024];

	if (in) {
		const uint32_t end = source_part_end(s, in);
		uint32_t line, column;

		here.from = here.from < end ? here.from : end;
		here.to = here.to < here.from ? here.from : here.to < end ? here.to : end;
		count_lines(s, in, here.from, &line, &column);
		/* If the span has several lines, only its part of the first line is marked. */
		for (uint32_t i = here.from; i < here.to; i++)
			if (s->text.data[i] == '\n')
				here.to = i;
		buf_put_safe(&s->messages, in->name, strlen(in->name));
		buf_printf(&s->messages, ":%u:%u-%u: ", line, column, column + here.to - here.from);
	}
	vsnprintf(words, sizeof(words), fmt, ap);
	buf_printf(&s->messages, "%s: ", what);
	buf_put_safe(&s->messages, words, strlen(words));
	buf_putc(&s->messages, '\n');
	if (in) {
		show_line(s, in, here);
		show_notes(s, at);
	}
}

int source_error(struct source *s, struct span at, const char *fmt, ...)
{
	va_list ap;

	s->untold = s->errors++ >= SOURCE_MAX_ERRORS;
	if (!s->untold) {
		va_start(ap, fmt);
		tell(s, at, "ERROR", fmt, ap);
		va_end(ap);
	}
	return -EINVAL;
}

void source_warning(struct source *s, struct span at, const char *fmt, ...)
{
	const size_t before = s->messages.len;
	va_list ap;

	s->untold = s->no_warnings || s->warnings >= SOURCE_MAX_ERRORS;
	if (s->no_warnings)
		return;
	s->warnings++;
	if (!s->untold) {
		va_start(ap, fmt);
		tell(s, at, "WARNING", fmt, ap);
		va_end(ap);
	}
	/* A body may be compiled for several probes, but a warning about it is printed once. */
	if (before &&
	    memmem(s->messages.data, before, s->messages.data + before, s->messages.len - before)) {
		s->messages.len = before;
		s->warnings--;
		s->untold = true;
	}
}

void source_hint(struct source *s, const char *fmt, ...)
{
	char words[1024];
	va_list ap;

	if (s->untold)
		return;
	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	buf_puts(&s->messages, "HINT: ");
	buf_put_safe(&s->messages, words, strlen(words));
	buf_putc(&s->messages, '\n');
}
