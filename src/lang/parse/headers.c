// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What headers in angle brackets define: numbers, and the text that lang/cdef parses.
 *
 * A lexer of its own reads the headers, and only its preprocessor runs. Its limits bound
 * everything: the number and depth of files, the size of all texts, the work for conditions and for
 * replaced names.
 */
#include "lang/parse/preprocess.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lang/parse/lexer.h"

enum {
	MAX_MEMORY = 64 << 20,
	MAX_TEXT = 8 << 20, /* of C with everything replaced; the rest is cut off */
	MAX_HEADERS = 4096,
	MAX_NUMBER = 1 << 16, /* bytes of a definition with everything replaced */
};

/* "(__force fmode_t)1": __force is for a checker of the kernel's source. */
static const char FORCE[] = "__force";

struct headers {
	const struct header_files *files;
	const struct pp *script; /* its definitions, or NULL */
	unsigned int order;	 /* how many of them the headers know */
	bool script_first;
	struct buf text;
	struct arena arena;
	struct source source;
	struct lexer lex;
	struct map seen; /* names in angle brackets, and paths; by their hash */
	unsigned int nr_files;
};

struct headers *headers_new(const struct header_files *files, const struct pp *script)
{
	struct headers *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->files = files;
	h->script = script;
	buf_init(&h->text, MAX_TEXT);
	arena_init(&h->arena, MAX_MEMORY);
	source_init(&h->source, &h->arena);
	h->source.no_warnings = true;
	lex_init(&h->lex, &h->source, NULL);
	h->lex.headers = h;
	return h;
}

void headers_free(struct headers *h)
{
	if (!h)
		return;
	map_free(&h->seen);
	buf_free(&h->text);
	lex_free(&h->lex);
	source_free(&h->source);
	arena_free(&h->arena);
	free(h);
}

void headers_define(struct headers *h, const char *name, const char *body)
{
	pp_define(&h->lex, name, body);
}

struct buf *headers_text(struct headers *h)
{
	return &h->text;
}

struct define *headers_define_of(const struct headers *h, const char *name, size_t len)
{
	return pp_lookup(&h->lex.pp, name, len);
}

struct define *headers_script_first(const struct headers *h, const char *name, size_t len)
{
	return h->script_first && h->script ? pp_lookup(h->script, name, len) : NULL;
}

struct define *headers_script_last(const struct headers *h, const char *name, size_t len)
{
	struct define *d = h->script ? pp_lookup(h->script, name, len) : NULL;

	return d && d->order < h->order ? d : NULL;
}

bool headers_is_kernel(const struct headers *h, const char *path)
{
	return h->files->is_kernel && h->files->is_kernel(h->files, path);
}

/* Whether the text is new, and remembers it; false without memory. */
static bool is_new(struct headers *h, const char *text)
{
	const uint64_t key = map_hash(text, strlen(text));

	return !map_get(&h->seen, key) && map_set(&h->seen, key, h);
}

static bool push_text(struct headers *h, const char *path, struct buf *text)
{
	uint32_t end;

	if (!source_add(&h->source, path, buf_str(text), text->len, (struct span){0, 0}))
		return false;
	end = (uint32_t)h->source.text.len - 1;
	return lex_push(&h->lex, (struct span){end - (uint32_t)text->len, end}, false,
			(struct span){0, 0});
}

/* False: there is no such header. A header that was read before is not read again. */
static bool add(struct headers *h, const char *name, const char *by)
{
	struct buf path, text;
	bool found;

	if (*name == '/' || (!by && strstr(name, "..")))
		return false;
	if (!by && !is_new(h, name))
		return true;
	if (h->nr_files >= MAX_HEADERS)
		return false;
	buf_init(&path, PATH_MAX);
	buf_init(&text, SOURCE_LIMIT);
	found = h->files->read(h->files, name, by, &path, &text);
	if (found && !buf_full(&path) && !buf_full(&text) && is_new(h, buf_str(&path))) {
		h->nr_files++;
		push_text(h, buf_str(&path), &text);
	}
	buf_free(&path);
	buf_free(&text);
	return found;
}

void headers_push(struct headers *h, const char *name, size_t len, bool quoted)
{
	const struct source_part *in = source_part_of(&h->source, lex_top(&h->lex)->pos);
	char copy[NAME_MAX + 1];

	/* A line of the text names the file. */
	if (!len || len >= sizeof(copy) || memchr(name, '\0', len) || memchr(name, '\n', len))
		return;
	memcpy(copy, name, len);
	copy[len] = '\0';
	if (!quoted || !in || !add(h, copy, in->name))
		add(h, copy, NULL);
}

bool headers_include(struct headers *h, const char *name, unsigned int order)
{
	const bool found = add(h, name, NULL);

	h->order = order;
	pp_copy_c(&h->lex, 1, &h->text);
	return found;
}

static const char *skip_blanks(const char *s, const char *end)
{
	while (s < end && lex_is_blank(*s))
		s++;
	return s;
}

static const char *skip_name(const char *s, const char *end)
{
	while (s < end && lex_is_name(*s))
		s++;
	return s;
}

/* The end of a cast with __force, or s. */
static const char *skip_force(const char *s, const char *end)
{
	const char *from, *at = s + 1;
	bool forced = false;

	if (*s != '(')
		return s;
	do {
		from = skip_blanks(at, end);
		at = skip_name(from, end);
		forced |=
			(size_t)(at - from) == strlen(FORCE) && !memcmp(from, FORCE, strlen(FORCE));
	} while (at != from);
	return forced && at < end && *at == ')' ? at + 1 : s;
}

static bool is_capital(const char *s, const char *end)
{
	for (; s < end; s++)
		if (islower((unsigned char)*s))
			return false;
	return true;
}

/* Appends numbers, names in capital letters and operators; false if there is anything else. */
static bool put_number(const char *s, const char *end, struct buf *to)
{
	bool any = false;

	while (s < end) {
		const char *next = skip_name(s, end), *forced = skip_force(s, end);

		if (next > s) {
			if (!lex_is_digit(*s) && !is_capital(s, next))
				return false;
			buf_put(to, s, (size_t)(next - s));
			any = true;
		} else if (forced > s) {
			next = forced;
		} else if (lex_is_blank(*s)) {
			buf_putc(to, ' ');
			next = s + 1;
		} else if (strchr("()+-*/%|&^~<>=!?:", *s) && *s) {
			buf_putc(to, *s);
			next = s + 1;
		} else {
			return false;
		}
		s = next;
	}
	return any && !buf_full(to);
}

bool headers_number(struct headers *h, const char *name, size_t len, struct buf *to)
{
	const struct define *d = pp_lookup(&h->lex.pp, name, len);
	struct define *force = pp_lookup(&h->lex.pp, FORCE, strlen(FORCE));
	const char *from, *end;
	struct buf full;
	bool ok;

	if (!d || d->is_function)
		return false;
	/* For compilers it is defined as nothing, but skip_force() needs it. */
	if (force)
		force->gone = true;
	buf_init(&full, MAX_NUMBER);
	h->script_first = true;
	ok = pp_expand_text(&h->lex, (struct span){0, 0}, name, len, &full) && full.len;
	h->script_first = false;
	if (ok) {
		from = skip_blanks(full.data, full.data + full.len);
		for (end = full.data + full.len; end > from && lex_is_blank(end[-1]);)
			end--;
		ok = !((size_t)(end - from) == len && !memcmp(from, name, len)) &&
		     put_number(from, end, to);
	}
	buf_free(&full);
	return ok;
}
