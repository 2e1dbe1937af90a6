// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Types of a kernel from its BTF, and from that of its modules, which lies beside it.
 *
 * The kernel's is opened when the first name is asked for. A module's is opened when its name is
 * said, or when a type is not the kernel's: then all of them are looked through, once, and those
 * that describe something that was asked for stay.
 */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "lang/env_parts.h"

#define MAX_MODULES 4096
#define MAX_ANSWERS 100

static const struct btf *kernel(struct env_kernel *k)
{
	if (!k->tried && k->path)
		btf_open(k->path, NULL, &k->btf, &k->why);
	k->tried = true;
	return k->btf;
}

const char *env_kernel_missing(struct env_kernel *k)
{
	if (!k->path)
		return "nothing describes the types of the kernel that was recorded";
	return kernel(k) ? NULL : k->why.text;
}

void env_kernel_close(struct env_kernel *k)
{
	vec_each (m, &k->modules) {
		btf_free(m->btf);
		free(m->name);
	}
	vec_free(&k->modules);
	vec_each (a, &k->answers)
		free(a->name);
	vec_free(&k->answers);
	btf_free(k->btf);
	k->btf = NULL;
}

/* ---- modules ---------------------------------------------------------------------------- */

static int folder_len(const struct env_kernel *k)
{
	const char *slash = strrchr(k->path, '/');

	return slash ? (int)(slash - k->path) + 1 : 0;
}

/* The description of a module; NULL when there is none. Also that there is none is remembered. */
static const struct btf *module_btf(struct env_kernel *k, const char *name)
{
	struct env_module *m;
	char file[PATH_MAX];

	if (!kernel(k) || strchr(name, '/') || name[0] == '.')
		return NULL;
	vec_each (known, &k->modules)
		if (!strcmp(known->name, name))
			return known->btf;
	if (k->modules.n >= MAX_MODULES || snprintf(file, sizeof(file), "%.*s%s", folder_len(k),
						    k->path, name) >= (int)sizeof(file))
		return NULL;
	m = vec_push(&k->modules);
	if (!m)
		return NULL;
	m->name = strdup(name);
	if (!m->name) {
		k->modules.n--;
		return NULL;
	}
	btf_open(file, k->btf, &m->btf, NULL);
	return m->btf;
}

/* Opens all of them, once. */
static void open_modules(struct env_kernel *k)
{
	const char *own = k->path + folder_len(k);
	char folder[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	if (k->tried_modules || !kernel(k))
		return;
	k->tried_modules = true;
	/* A kernel's description somewhere else has no modules beside it. */
	if (strcmp(own, "vmlinux") != 0 || snprintf(folder, sizeof(folder), "%.*s.", folder_len(k),
						    k->path) >= (int)sizeof(folder))
		return;
	dir = opendir(folder);
	while (dir && (entry = readdir(dir)))
		if (strcmp(entry->d_name, own) != 0)
			module_btf(k, entry->d_name);
	if (dir)
		closedir(dir);
}

/* ---- types ------------------------------------------------------------------------------ */

static enum btf_want want_of(const char **name)
{
	switch (ctype_tag(name)) {
	case TAG_STRUCT: return BTF_WANT_STRUCT;
	case TAG_UNION: return BTF_WANT_UNION;
	case TAG_ENUM: return BTF_WANT_ENUM;
	default: return BTF_WANT_TYPEDEF;
	}
}

static bool look_up(struct env_kernel *k, const char *name, struct type *t)
{
	enum btf_want want = want_of(&name);

	if (btf_type(k->btf, want, name, t))
		return true;
	open_modules(k);
	vec_each (m, &k->modules)
		if (m->btf && btf_type(m->btf, want, name, t))
			return true;
	return false;
}

bool env_kernel_type(struct env_kernel *k, const char *name, struct type *t)
{
	struct env_answer *a;
	bool found;

	if (!kernel(k))
		return false;
	vec_each (known, &k->answers) {
		if (!strcmp(known->name, name)) {
			*t = known->type;
			return known->found;
		}
	}
	found = look_up(k, name, t);
	a = k->answers.n < MAX_ANSWERS ? vec_push(&k->answers) : NULL;
	if (!a)
		return found;
	a->name = strdup(name);
	if (!a->name)
		k->answers.n--;
	a->found = found;
	if (found)
		a->type = *t;
	return found;
}

bool env_kernel_enumerator(struct env_kernel *k, const char *name, int64_t *value, struct type *in)
{
	if (!kernel(k))
		return false;
	if (btf_enumerator(k->btf, name, value, in))
		return true;
	vec_each (m, &k->modules)
		if (m->btf && btf_enumerator(m->btf, name, value, in))
			return true;
	return false;
}

void env_kernel_near(struct env_kernel *k, const char *name, struct nearest *near)
{
	enum btf_want want = want_of(&name);

	if (kernel(k))
		btf_nearest(k->btf, want, near);
}

/* ---- functions -------------------------------------------------------------------------- */

/*
 * Where a function is described: in the module that was said, or in the kernel, or in whichever
 * module has it, which is then *module.
 */
static const struct btf *described_in(struct env_kernel *k, const char **module, const char *name,
				      uint32_t *id)
{
	const struct btf *b;
	bool own;

	/* What the list of symbols calls the kernel itself, when it has to have a name. */
	if (*module && (!**module || !strcmp(*module, "vmlinux")))
		*module = NULL;
	b = *module ? module_btf(k, *module) : kernel(k);
	*id = b ? btf_function_id(b, name, &own) : 0;
	if (*id && *module && !own)
		*module = NULL;
	if (*id || *module)
		return *id ? b : NULL;
	open_modules(k);
	vec_each (m, &k->modules) {
		*id = m->btf ? btf_function_id(m->btf, name, &own) : 0;
		if (*id) {
			*module = m->name;
			return m->btf;
		}
	}
	return NULL;
}

bool env_kernel_function(struct env_kernel *k, const char *module, const char *name,
			 struct arena *arena, struct proto *p)
{
	uint32_t id;
	const struct btf *b = described_in(k, &module, name, &id);

	return b && btf_function(b, name, arena, p);
}

uint32_t env_kernel_function_id(struct env_kernel *k, const char **module, const char *name)
{
	uint32_t id;

	return described_in(k, module, name, &id) ? id : 0;
}

bool env_kernel_raw_tracepoint(struct env_kernel *k, const char *name, struct arena *arena,
			       struct proto *p)
{
	if (!kernel(k))
		return false;
	if (btf_raw_tracepoint(k->btf, name, arena, p))
		return true;
	open_modules(k);
	vec_each (m, &k->modules)
		if (m->btf && btf_raw_tracepoint(m->btf, name, arena, p))
			return true;
	return false;
}

uint32_t env_kernel_raw_tracepoint_id(struct env_kernel *k, const char **module, const char *name)
{
	uint32_t id = kernel(k) ? btf_raw_tracepoint_id(k->btf, name) : 0;

	*module = NULL;
	if (id || !k->btf)
		return id;
	open_modules(k);
	vec_each (m, &k->modules) {
		id = m->btf ? btf_raw_tracepoint_id(m->btf, name) : 0;
		if (id) {
			*module = m->name;
			return id;
		}
	}
	return 0;
}
