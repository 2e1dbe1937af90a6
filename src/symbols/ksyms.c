// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Walks through kallsyms line by line: "ADDRESS TYPE NAME[\t[MODULE]]". It has hundreds of
 * thousands of lines, so only what matches is kept.
 */
#include "symbols/ksyms.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/pattern.h"
#include "base/scoped.h"
#include "base/vec.h"

struct line {
	uint64_t addr;
	char type;
	char *name, *module; /* "" when there is none */
};

struct query {
	const char *module; /* or NULL; with a wildcard: */
	struct pattern modules;
	bool glob_module;
	struct pattern pattern;
	bool glob;
	size_t most;
	const struct traceable *traceable;
	struct arena *arena;
	struct ksyms *found;
	struct nearest *near;
};

/* ---- what can be probed ---- */

/* The kernel refuses a probe on functions that its tracer may not see either. */
void traceable_load(struct traceable *t, const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t cap = 0;

	*t = (struct traceable){.seed = hash_seed_new(), .known = file};
	while (file && getline(&text, &cap, file) > 0) {
		/* "NAME", "NAME [MODULE]", or "MODULE:NAME" in lists of other tools */
		size_t len = strcspn(text, " \t\n");
		const char *colon = memchr(text, ':', len), *name = colon ? colon + 1 : text;

		len -= (size_t)(name - text);
		if (!map_set(&t->names, hash_bytes(&t->seed, name, len), t))
			t->known = false;
	}
	free(text);
	if (file)
		fclose(file);
	if (!t->names.n)
		t->known = false;
}

void traceable_free(struct traceable *t)
{
	map_free(&t->names);
}

/* By hashes alone: should two be the same, the kernel has the last word anyway. */
static bool traceable_has(const struct traceable *t, const char *name)
{
	return !t->known || map_get(&t->names, hash_bytes(&t->seed, name, strlen(name)));
}

/* ---- kallsyms ---- */

static bool parse_line(char *text, struct line *l)
{
	char *end;

	text[strcspn(text, "\n")] = '\0';
	l->addr = strtoull(text, &end, 16);
	if (end == text || *end != ' ' || !end[1] || end[2] != ' ' || !end[3])
		return false;
	l->type = end[1];
	l->name = end + 3;
	l->module = l->name + strcspn(l->name, "\t ");
	if (*l->module) {
		*l->module++ = '\0';
		l->module += strspn(l->module, "\t [");
		l->module[strcspn(l->module, "]")] = '\0';
	}
	return true;
}

static bool is_function(const struct line *l)
{
	/* BPF programs and trampolines are listed as modules, but cannot be probed. */
	return strchr("tTwW", l->type) && strcmp(l->module, "bpf") &&
	       strncmp(l->module, "__builtin__", 11);
}

/* Parts of functions and gaps between them; patterns do not match them. */
static bool is_fragment(const char *name)
{
	return strstr(name, ".cold") || !strncmp(name, "__pfx_", 6) || !strncmp(name, "__cfi_", 6);
}

static int keep(struct query *q, const struct line *l, struct spur_error *err)
{
	struct ksym *s;

	if (q->found->n == q->most)
		return error_set(err, -EINVAL, "more than %zu functions match", q->most);
	s = vec_push(q->found);
	if (!s)
		return error_sys(err, -ENOMEM, "kallsyms");
	s->addr = l->addr;
	s->name = arena_strdup(q->arena, l->name);
	s->module = l->module[0] ? arena_strdup(q->arena, l->module) : NULL;
	if (!s->name || (l->module[0] && !s->module))
		return error_sys(err, -ENOMEM, "kallsyms");
	return 0;
}

static bool in_module(const struct query *q, const char *module)
{
	const char *name = *module ? module : KSYMS_KERNEL;

	if (!q->glob_module)
		return strcmp(module, q->module) == 0;
	return pattern_match(&q->modules, name, strlen(name));
}

static int look_at(struct query *q, const struct line *l, struct spur_error *err)
{
	size_t len = strlen(l->name);

	if (!q->found->text && !strcmp(l->name, "_stext"))
		q->found->text = l->addr;
	if (!is_function(l))
		return 0;
	if (q->module) {
		if (!in_module(q, l->module))
			return 0;
		q->found->module_loaded = true;
	}
	if (q->near)
		nearest_try(q->near, l->name, len);
	if (!pattern_match(&q->pattern, l->name, len))
		return 0;
	if (q->glob && (is_fragment(l->name) || !traceable_has(q->traceable, l->name)))
		return 0;
	return keep(q, l, err);
}

static int mark_repeated(struct ksyms *found, struct spur_error *err)
{
	const struct hash_seed seed = hash_seed_new();
	struct map first = {0};
	int ret = 0;

	for (size_t i = 0; i < found->n && !ret; i++) {
		struct ksym *s = &found->at[i];
		const uint64_t key = hash_bytes(&seed, s->name, strlen(s->name));
		struct ksym *other = map_get(&first, key);

		if (other && !strcmp(other->name, s->name))
			other->repeated = s->repeated = true;
		else if (!other && !map_set(&first, key, s))
			ret = error_sys(err, -ENOMEM, "kallsyms");
	}
	map_free(&first);
	return ret;
}

static int read_symbols(const char *path, struct query *q, struct spur_error *err)
{
	scoped_file file = fopen(path, "re");
	char *text = NULL;
	size_t cap = 0;
	struct line l;
	int ret = 0;

	if (!file)
		return error_sys(err, -errno, "%s", path);
	while (!ret && getline(&text, &cap, file) > 0)
		if (parse_line(text, &l))
			ret = look_at(q, &l, err);
	free(text);
	return ret;
}

int ksyms_find(const char *path, const char *module, const char *pattern, size_t most,
	       const struct traceable *traceable, struct arena *arena, struct ksyms *found,
	       struct nearest *near, struct spur_error *err)
{
	struct query q = {.module = module,
			  .glob = is_glob(pattern),
			  .most = most,
			  .traceable = traceable,
			  .arena = arena,
			  .found = found,
			  .near = near};
	int ret = pattern_glob(&q.pattern, pattern, strlen(pattern), err);

	if (ret)
		return ret;
	q.glob_module = module && is_glob(module);
	if (q.glob_module)
		ret = pattern_glob(&q.modules, module, strlen(module), err);
	if (!ret)
		ret = read_symbols(path, &q, err);
	if (q.glob_module)
		pattern_free(&q.modules);
	pattern_free(&q.pattern);
	return ret ? ret : mark_repeated(found, err);
}
