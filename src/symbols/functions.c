// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Looks for functions in two rounds: as they are named in the file, and, when none is called so,
 * as they are called in C++.
 */
#include "symbols/functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/pattern.h"
#include "base/vec.h"
#include "symbols/names.h"

#define MAX_QUALIFIED 512

struct query {
	const struct binary *b;
	const char *version; /* what follows '@'; NULL: the newest */
	struct pattern pattern;
	bool glob;
	bool qualified; /* the second round */
	bool variables; /* instead of functions */
	size_t most;
	struct arena *arena;
	struct functions *found;
	struct nearest *near;
	bool only_old; /* all that have been found are old versions */
	int ret;       /* the error that ended the search */
};

/* ---- one symbol ---- */

static bool is_fragment(const char *name)
{
	return strstr(name, ".cold");
}

/* Without a version the newest is used, and an older one only if there is no newer. */
static bool version_fits(struct query *q, const struct binary_symbol *s)
{
	if (q->version)
		return s->version && !strcmp(s->version, q->version);
	if (q->glob)
		return !s->old_version;
	if (s->old_version) {
		if (q->found->n && !q->only_old)
			return false;
		q->only_old = true;
		return true;
	}
	if (q->only_old)
		q->found->n = 0;
	q->only_old = false;
	return true;
}

static bool is_called(const struct query *q, const struct binary_symbol *s, char *qualified)
{
	if (!cxx_name(s->name, s->name_len, qualified, MAX_QUALIFIED))
		qualified[0] = '\0';
	if (q->qualified)
		return qualified[0] && pattern_match(&q->pattern, qualified, strlen(qualified));
	return pattern_match(&q->pattern, s->name, s->name_len);
}

static bool is_known(const struct query *q, uint64_t addr)
{
	vec_each (f, q->found)
		if (f->addr == addr)
			return true;
	return false;
}

static int keep(struct query *q, const struct binary_symbol *s, const char *qualified,
		uint64_t offset)
{
	struct function *f;

	if (q->found->n == q->most)
		return -E2BIG;
	f = vec_push(q->found);
	if (!f)
		return -ENOMEM;
	f->addr = s->addr;
	f->size = s->size;
	f->offset = offset;
	f->indirect = s->indirect;
	f->symbol = arena_strndup(q->arena, s->name, s->name_len);
	f->name = qualified[0] ? arena_strdup(q->arena, qualified) : f->symbol;
	return f->symbol && f->name ? 0 : -ENOMEM;
}

static int look_at(void *arg, const struct binary_symbol *s)
{
	char qualified[MAX_QUALIFIED];
	struct query *q = arg;
	uint64_t offset = 0;

	if (s->function == q->variables)
		return 0;
	if (q->near) {
		nearest_try(q->near, s->name, s->name_len);
		return 0;
	}
	if (!is_called(q, s, qualified) || (q->glob && is_fragment(s->name)))
		return 0;
	/* Not in the file, or not to be executed: nothing a probe can be set on. */
	if (!q->variables && !binary_code_offset(q->b, s->addr, &offset))
		return 0;
	if (!version_fits(q, s) || is_known(q, s->addr))
		return 0;
	q->ret = keep(q, s, qualified, offset);
	return q->ret;
}

/* ---- all of them ---- */

static int by_address(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* Splits off the version: "memcpy@@GLIBC_2.14", "memcpy@GLIBC_2.14". */
static char *split_version(const char *wanted, struct arena *arena, struct query *q)
{
	char *name = arena_strdup(arena, wanted), *at = name ? strchr(name, '@') : NULL;

	if (at) {
		q->version = at + strspn(at, "@");
		*at = '\0';
	}
	return name;
}

static int not_found(struct query *q, const char *file, const char *name, struct spur_error *err)
{
	struct nearest near = nearest_to(name, strlen(name));

	q->near = &near;
	binary_each_symbol(q->b, look_at, q);
	if (q->version)
		return error_set(err, -ENOENT, "%s has no function '%s' of version '%s'%s", file,
				 name, q->version, nearest_words(&near));
	return error_set(err, -ENOENT, "%s has no %s '%s'%s%s", file,
			 q->variables ? "variable" : "function", name, nearest_words(&near),
			 near.n || binary_has_symtab(q->b)
				 ? ""
				 : "; it is stripped: only what others may use has a name");
}

static int search(struct query *q, const char *file, const char *wanted, struct spur_error *err)
{
	char *name = split_version(wanted, q->arena, q);
	int ret;

	if (!name)
		return error_sys(err, -ENOMEM, "%s", file);
	q->glob = is_glob(name);
	ret = pattern_glob(&q->pattern, name, strlen(name), err);
	if (ret)
		return ret;
	for (int round = 0; round < 2 && !q->found->n && !q->ret; round++) {
		q->qualified = round;
		binary_each_symbol(q->b, look_at, q);
	}
	if (q->ret == -E2BIG && q->variables)
		ret = error_set(err, -EINVAL, "%s has several variables '%s'", file, name);
	else if (q->ret == -E2BIG)
		ret = error_set(err, -EINVAL, "more than %zu functions of %s match", q->most, file);
	else if (q->ret)
		ret = error_sys(err, q->ret, "%s", file);
	else if (!q->found->n)
		ret = not_found(q, file, name, err);
	pattern_free(&q->pattern);
	return ret;
}

int functions_find(const struct binary *b, const char *file, const char *wanted, size_t most,
		   struct arena *arena, struct functions *found, struct spur_error *err)
{
	struct query q = {.b = b, .most = most, .arena = arena, .found = found};
	int ret = search(&q, file, wanted, err);

	if (!ret)
		qsort(found->at, found->n, sizeof(*found->at), by_address);
	return ret;
}

int variable_find(const struct binary *b, const char *file, const char *name, uint64_t *addr,
		  uint64_t *size, struct spur_error *err)
{
	struct functions found = {0};
	struct query q = {.b = b, .most = 1, .found = &found, .variables = true};
	struct arena arena;
	int ret;

	arena_init(&arena, 1 << 20);
	q.arena = &arena;
	ret = is_glob(name) ? error_set(err, -EINVAL, "'%s' is no name of a variable", name)
			    : search(&q, file, name, err);
	if (!ret) {
		*addr = found.at[0].addr;
		*size = found.at[0].size;
	}
	vec_free(&found);
	arena_free(&arena);
	return ret;
}
