// SPDX-License-Identifier: GPL-2.0-or-later
/* libFuzzer: definitions of C in a script, and all that can be asked about what they define. */
#include <stdlib.h>
#include <string.h>

#include "lang/env.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {"struct a", "union b", "enum c", "t", "u8", "struct"};

static bool known_type(struct env *e, const char *name, struct type *t)
{
	*t = (struct type){.kind = TYPE_STRUCT, .size = 24};
	return !strcmp(name, "struct known") || !strcmp(name, "known_t");
}

static const struct env_ops known = {.type = known_type};

static void look_inside(const struct type *t, struct buf *text, unsigned int depth)
{
	struct type target;
	struct member m;

	buf_reset(text);
	type_name(t, text);
	type_near_members(t, "next", text);
	type_enumerator_name(t, 3);
	if (type_align(t) == 0 || (t->in && !type_same(t, t)))
		abort();
	if (depth > 4)
		return;
	if (type_target(t, &target))
		look_inside(&target, text, depth + 1);
	for (size_t i = 0;
	     i < 50 && t->in && t->kind == TYPE_STRUCT && t->in->member(t->in, t, i, &m); i++) {
		/* No member reaches beyond what it is in; the integer around bits may. */
		if (m.offset > t->size || (!m.bits && type_size(&m.type) > t->size - m.offset))
			abort();
		look_inside(&m.type, text, depth + 1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct c_text c = {.at = {0, (uint32_t)size}};
	struct env e = {.ops = &known};
	struct arena arena;
	struct source source;
	struct script_ast ast = {.source = &source, .c = &c};
	struct buf text;
	struct type t;
	int64_t v;

	arena_init(&arena, 64 << 20);
	source_init(&source, &arena);
	buf_init(&text, 4096);
	e.arena = &arena;
	if (source_add(&source, "fuzz", (const char *)data, size, (struct span){0}) &&
	    !cdefs_parse(&ast, &e, &e.own)) {
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (env_type(&e, names[i], &t))
				look_inside(&t, &text, 0);
		if (env_enumerator(&e, "A", &v, &t))
			look_inside(&t, &text, 0);
		env_near_type(&e, "struct aa", &text);
	}
	cdefs_free(e.own);
	buf_free(&text);
	source_free(&source);
	arena_free(&arena);
	return 0;
}
