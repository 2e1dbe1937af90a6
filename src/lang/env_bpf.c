// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Functions of BPF programs that are loaded in the kernel. What describes a program stays open,
 * because types are views into it.
 */
#include <stdlib.h>

#include "base/vec.h"
#include "code/progs.h"
#include "lang/env_parts.h"
#include "symbols/btf_parts.h"

struct loaded {
	uint32_t btf; /* its number */
	struct btf *types;
};

struct loaded_types {
	struct loaded *at;
	size_t n, cap;
};

void loaded_free(struct loaded_types *all)
{
	if (!all)
		return;
	vec_each (l, all)
		btf_free(l->types);
	vec_free(all);
	free(all);
}

static const struct btf *types_of(struct env *e, uint32_t number)
{
	struct loaded *l;
	struct btf *b = NULL;
	void *data;
	size_t size;

	if (!e->loaded)
		e->loaded = calloc(1, sizeof(*e->loaded));
	if (!e->loaded)
		return NULL;
	vec_each (known, e->loaded)
		if (known->btf == number)
			return known->types;
	if (progs_btf(number, &data, &size) < 0)
		return NULL;
	if (btf_parse(data, size, NULL, &b, NULL) < 0)
		b = NULL;
	free(data);
	l = b ? vec_push(e->loaded) : NULL;
	if (!l) {
		btf_free(b);
		return NULL;
	}
	*l = (struct loaded){number, b};
	return b;
}

bool env_bpf_function(struct env *e, uint32_t btf, uint32_t type, struct proto *p)
{
	const struct btf *b = types_of(e, btf);
	struct btf_record r;

	return b && btf_read(b, type, &r) && r.kind == BTF_FUNC &&
	       btf_proto(b, r.size, 0, e->arena, p);
}
