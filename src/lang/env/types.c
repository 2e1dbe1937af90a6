// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where an environment's types come from: the BTF of the kernel and its modules, the BTF of loaded
 * BPF programs, the debug information of user programs. Each is opened when it is first needed and
 * stays open, because types are views into it.
 */
#include "lang/env/types.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/vec.h"
#include "code/sys.h"
#include "symbols/abi.h"
#include "symbols/dwarf.h"
#include "symbols/elf.h"

/* ---- the kernel and its modules ---- */

/*
 * A module's BTF is opened when the script names the module, or when a type is not the kernel's:
 * then all modules are searched, once, and those that describe a requested type stay open.
 */

#define MAX_MODULES 4096
#define MAX_ANSWERS 100

static const struct btf *kernel(struct env_kernel *k)
{
	if (!k->tried && k->path)
		btf_open(k->path, NULL, &k->btf, &k->why);
	k->tried = true;
	return k->btf;
}

const char *env_kernel_missing(struct env *e)
{
	struct env_kernel *k = e->kernel;

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

/* ---- modules ---- */

static int folder_len(const struct env_kernel *k)
{
	const char *slash = strrchr(k->path, '/');

	return slash ? (int)(slash - k->path) + 1 : 0;
}

/* The BTF of a module, NULL if it has none; both results are cached. */
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

/* Opens the BTF of all modules, once. */
static void open_modules(struct env_kernel *k)
{
	const char *own = k->path + folder_len(k);
	char folder[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	if (k->tried_modules || !kernel(k))
		return;
	k->tried_modules = true;
	/* A BTF file in another place has no modules next to it. */
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

/* ---- types ---- */

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

bool env_kernel_type(struct env *e, const char *name, struct type *t)
{
	struct env_kernel *k = e->kernel;
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

bool env_kernel_enumerator(struct env *e, const char *name, int64_t *value, struct type *in)
{
	struct env_kernel *k = e->kernel;

	if (!kernel(k))
		return false;
	if (btf_enumerator(k->btf, name, value, in))
		return true;
	vec_each (m, &k->modules)
		if (m->btf && btf_enumerator(m->btf, name, value, in))
			return true;
	return false;
}

void env_kernel_near(struct env *e, const char *name, struct nearest *near)
{
	enum btf_want want = want_of(&name);

	if (kernel(e->kernel))
		btf_nearest(e->kernel->btf, want, near);
}

/* ---- functions ---- */

/*
 * The BTF that describes a function: that of the given module, or of the kernel, or of any module
 * that has it, which is then *module.
 */
static const struct btf *described_in(struct env_kernel *k, const char **module, const char *name,
				      uint32_t *id)
{
	const struct btf *b;
	bool own;

	/* The list of symbols uses this name for the kernel itself. */
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

bool env_kernel_function(struct env *e, const char *module, const char *name, struct proto *p)
{
	uint32_t id;
	const struct btf *b = described_in(e->kernel, &module, name, &id);

	return b && btf_function(b, name, e->arena, p);
}

uint32_t env_kernel_function_id(struct env *e, const char **module, const char *name)
{
	uint32_t id;

	return described_in(e->kernel, module, name, &id) ? id : 0;
}

bool env_kernel_raw_tracepoint(struct env *e, const char *name, struct proto *p)
{
	struct env_kernel *k = e->kernel;

	if (!kernel(k))
		return false;
	if (btf_raw_tracepoint(k->btf, name, e->arena, p))
		return true;
	open_modules(k);
	vec_each (m, &k->modules)
		if (m->btf && btf_raw_tracepoint(m->btf, name, e->arena, p))
			return true;
	return false;
}

uint32_t env_kernel_raw_tracepoint_id(struct env *e, const char **module, const char *name)
{
	struct env_kernel *k = e->kernel;
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

/* ---- loaded BPF programs ---- */

struct loaded {
	uint32_t btf; /* its id */
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

	return b && btf_function_with_id(b, type, e->arena, p);
}

/* ---- user programs ---- */

#define MAX_PROGRAMS 64

struct program {
	char *path;
	struct binary *binary;
	struct debug *debug;
	const struct abi *abi;
	struct spur_error why; /* why it could not be opened */
};

struct programs {
	struct program **at;
	size_t n, cap;
};

static void open_program(struct program *p, const char *const *debuginfo)
{
	struct binary_info info;
	struct utsname u = {0};

	if (binary_open_debug(p->path, debuginfo, &p->binary, &p->why) < 0)
		return;
	uname(&u);
	info = binary_info(p->binary);
	p->abi = abi_of_elf(info.machine, info.is_64, u.machine);
	p->debug = debug_open(p->binary);
}

static void program_free(struct program *p)
{
	debug_close(p->debug);
	binary_close(p->binary);
	free(p->path);
	free(p);
}

static struct program *find_program(struct env *e, const char *path)
{
	struct program *p, **at;

	if (!e->programs)
		e->programs = calloc(1, sizeof(*e->programs));
	if (!e->programs)
		return NULL;
	vec_each (known, e->programs)
		if (!strcmp((*known)->path, path))
			return *known;
	if (e->programs->n >= MAX_PROGRAMS)
		return NULL;
	p = calloc(1, sizeof(*p));
	if (p)
		p->path = strdup(path);
	at = p && p->path ? vec_push(e->programs) : NULL;
	if (!at) {
		if (p)
			program_free(p);
		return NULL;
	}
	*at = p;
	open_program(p, e->debuginfo);
	return p;
}

void programs_free(struct programs *p)
{
	if (!p)
		return;
	vec_each (at, p)
		program_free(*at);
	vec_free(p);
	free(p);
}

bool env_user_type(struct env *e, const char *path, const char *name, struct type *t)
{
	struct program *p;

	if (ctype_base(name, t))
		return true;
	p = find_program(e, path);
	return p && p->debug && debug_type_named(p->debug, name, t);
}

bool env_user_function(struct env *e, const char *path, const char *symbol, uint64_t address,
		       struct proto *to)
{
	struct program *p = find_program(e, path);
	/* The compiler split a function and named the part "f.part.0". */
	bool clone = symbol && strchr(symbol, '.');

	if (!p || !p->debug || !debug_function(p->debug, address, clone, p->abi, e->arena, to))
		return false;
	abi_place(p->abi, to);
	return true;
}

const char *env_no_user_types(struct env *e, const char *path)
{
	struct program *p = find_program(e, path);

	if (!p)
		return "it could not be opened";
	if (!p->binary)
		return p->why.text;
	return p->debug ? "" : debug_missing();
}
