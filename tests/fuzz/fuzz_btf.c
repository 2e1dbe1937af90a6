// SPDX-License-Identifier: GPL-2.0-or-later
/* libFuzzer: the kernel's description of its types, and a module's on top of it. */
#include <stdlib.h>
#include <string.h>

#include "user/btf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const functions[] = {"vfs_read", "do_open", "many", "by_value", "call_me"};

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
	buf_free(&names);
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
	if (!btf_parse(data, size, kernel, &module, NULL)) {
		look_at(module, size);
		btf_free(module);
	}
	btf_free(kernel);
	return 0;
}
