// SPDX-License-Identifier: GPL-2.0-or-later
/* libFuzzer: the kernel's description of its types, and a module's on top of it. */
#include <stdlib.h>
#include <string.h>

#include "symbols/btf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const functions[] = {"vfs_read", "do_open", "many", "by_value", "call_me"};
static const char *const types[] = {"file", "dentry", "box", "mood", "limits", "size_t", "BUSY"};

static void look_inside(const struct type *t, unsigned int depth)
{
	struct type target;
	struct member m;
	struct buf names;
	uint64_t largest;

	type_words(t, &largest);
	if (depth > 3)
		return;
	if (type_target(t, &target))
		look_inside(&target, depth + 1);
	if (type_member(t, "f_count", 7, &m) || type_member(t, "d_name", 6, &m))
		look_inside(&m.type, depth + 1);
	buf_init(&names, 1000);
	type_list_members(t, &names);
	type_near_members(t, "f_coutn", &names);
	type_name(t, &names);
	type_enumerator_name(t, 7);
	if (!type_align(t) || type_size(t) < t->size)
		abort();
	type_same(t, t);
	buf_free(&names);
}

static void look_at_types(const struct btf *b)
{
	struct arena arena;
	struct proto p;
	struct type t;
	int64_t v;

	arena_init(&arena, 1 << 20);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		for (int want = BTF_WANT_STRUCT; want <= BTF_WANT_TYPEDEF; want++)
			if (btf_type(b, (enum btf_want)want, types[i], &t))
				look_inside(&t, 0);
		if (btf_enumerator(b, types[i], &v, &t))
			look_inside(&t, 0);
	}
	if (btf_raw_tracepoint(b, "named", &arena, &p) && p.n)
		look_inside(&p.at[0].type, 0);
	arena_free(&arena);
}

/* Everything that has a name, as C defines it. */
struct definitions {
	const struct btf *btf;
	enum btf_want want;
	unsigned int left;
};

static bool define(void *arg, const char *name)
{
	struct definitions *d = arg;
	struct buf text;

	buf_init(&text, 1 << 16);
	btf_define(d->btf, d->want, name, &text);
	buf_free(&text);
	return --d->left > 0;
}

static void look_at_definitions(const struct btf *b)
{
	for (int want = BTF_WANT_STRUCT; want <= BTF_WANT_TYPEDEF; want++)
		btf_names(b, (enum btf_want)want, define,
			  &(struct definitions){b, (enum btf_want)want, 20});
}

static void look_at(const struct btf *b, size_t size)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		struct arena arena;
		struct proto p;

		arena_init(&arena, 1 << 20);
		if (btf_function(b, functions[i], &arena, &p)) {
			look_inside(&p.ret, 0);
			for (size_t j = 0; j < p.n; j++) {
				/* Reading the name lets the sanitizer look at it. */
				if (strlen(p.at[j].name) > size)
					abort();
				look_inside(&p.at[j].type, 0);
			}
		}
		arena_free(&arena);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct btf *kernel, *module;

	if (btf_parse(data, size, NULL, &kernel, NULL))
		return 0;
	look_at(kernel, size);
	look_at_types(kernel);
	look_at_definitions(kernel);
	if (!btf_parse(data, size, kernel, &module, NULL)) {
		look_at(module, size);
		look_at_types(module);
		look_at_definitions(module);
		btf_free(module);
	}
	btf_free(kernel);
	return 0;
}
