// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer: headers of C. The input is several of them with a NUL between two. What they include
 * is one of them, chosen by the last letter of its name but two, so that all can reach all. The
 * numbers that they define are asked for, and their declarations are parsed.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lang/env.h"
#include "lang/parse/preprocess.h"

enum { MAX_NAMES = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	struct header_files files; /* comes first */
	const char *at;
	size_t len;
};

/* The header of a number, counted over all of them. */
static bool find_text(const struct input *in, size_t which, struct buf *text)
{
	const char *at = in->at, *end = in->at + in->len, *stop;

	for (;; at = stop + 1) {
		stop = memchr(at, '\0', (size_t)(end - at));
		if (!which--) {
			buf_put(text, at, (size_t)((stop ? stop : end) - at));
			return true;
		}
		if (!stop)
			return false;
	}
}

static bool read_text(const struct header_files *f, const char *name, const char *by,
		      struct buf *path, struct buf *text)
{
	const size_t len = strlen(name);

	buf_puts(path, name);
	return find_text((const struct input *)f, len < 3 ? 0 : name[len - 3] & 7, text);
}

/* What a script reads: nothing that begins a text, ends a statement or is no character. */
static void check_number(struct buf *text)
{
	for (size_t i = 0; i < text->len; i++)
		if (!isalnum((unsigned char)text->data[i]) &&
		    !strchr("_ ()+-*/%|&^~<>=!?:", text->data[i]))
			abort();
	if (!text->len)
		abort();
}

/* Asks for every name that the input itself has. */
static void ask(struct headers *h, const char *at, const char *end)
{
	for (unsigned int n = 0; at < end && n < MAX_NAMES; at++) {
		const char *from = at;
		struct buf text;

		while (at < end && (isalnum((unsigned char)*at) || *at == '_'))
			at++;
		if (at == from)
			continue;
		n++;
		buf_init(&text, 1 << 20);
		if (headers_number(h, from, (size_t)(at - from), &text))
			check_number(&text);
		buf_free(&text);
	}
}

/* Whatever is in headers, it is never an error. */
static void parse_types(const struct buf *text)
{
	struct c_text c = {.at = {0, (uint32_t)text->len}, .origin = C_OF_SYSTEM};
	static const struct env_ops nothing;
	struct env e = {.ops = &nothing};
	struct source source;
	struct script_ast ast = {.source = &source, .c = &c};
	struct cdefs *defs = NULL;
	struct arena arena;

	arena_init(&arena, 64 << 20);
	source_init(&source, &arena);
	if (source_add(&source, "fuzz", text->data, text->len, (struct span){0}) &&
	    (cdefs_parse(&ast, &e, &defs) || source.errors || source.messages.len))
		abort();
	cdefs_free(defs);
	source_free(&source);
	arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {{.read = read_text}, size ? (const char *)data : "", size};
	struct headers *h = headers_new(&in.files, NULL);

	headers_define(h, "__KERNEL__", "1");
	headers_include(h, "linux/0.h", 0);
	headers_include(h, "linux/1.h", 0);
	ask(h, in.at, in.at + size);
	parse_types(headers_text(h));
	headers_free(h);
	return 0;
}
