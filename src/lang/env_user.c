// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Programs and libraries as a script sees them: their debug information. Each is opened when it is
 * first asked about and stays open, because types are views into it.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/vec.h"
#include "lang/env_parts.h"
#include "symbols/abi.h"
#include "symbols/dwarf.h"
#include "symbols/elf.h"

#define MAX_PROGRAMS 64

struct program {
	char *path;
	struct binary *binary;
	struct debug *debug;
	const struct abi *abi;
	struct spur_error why; /* it could not be opened */
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
	/* The compiler has made another function of one, and called it "f.part.0". */
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
