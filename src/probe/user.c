// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Probes in programs and libraries: uprobe and uretprobe. The kernel takes a file and an offset in
 * it; both, and what the function takes and returns, are found here.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/vec.h"
#include "base/pattern.h"
#include "symbols/dwarf.h"
#include "symbols/elf.h"
#include "symbols/functions.h"
#include "symbols/names.h"
#include "probe/path.h"
#include "probe/resolve.h"

struct user_place {
	const char *name; /* of the program; NULL: the traced one */
	const char *path;
	char *symbol;
	uint64_t offset;
};

/* What the arguments of one line may ask about the program. */
struct user_scope {
	const struct binary *b;
	const char *path;
	uint64_t base; /* the address of the probe less its offset in the file */
};

/* ---- places ---------------------------------------------------------------------------- */

/* The colon between program and function: not one of "::", and with a path not one of the path. */
static char *separator(char *text)
{
	struct stat st;
	char *first = NULL;

	for (char *s = text; (s = strchr(s, ':')); s++) {
		bool file;

		if (s[1] == ':') {
			s++;
			continue;
		}
		if (!first)
			first = s;
		if (!strchr(text, '/'))
			break;
		*s = '\0';
		file = !stat(text, &st);
		*s = ':';
		if (file)
			return s;
	}
	return first;
}

static int parse_place(struct request *r, struct user_place *at)
{
	char *text = arena_strdup(&r->scratch, r->expr.place), *colon;
	int ret;

	*at = (struct user_place){0};
	if (!text)
		return error_sys(r->err, -ENOMEM, "probe");
	colon = separator(text);
	if (colon) {
		*colon = '\0';
		at->name = text[0] ? text : NULL;
		text = colon + 1;
	} else if (strchr(text, '/')) {
		return error_set(r->err, -EINVAL, "a function of '%s' is missing: PROGRAM:FUNCTION",
				 text);
	}
	at->symbol = text;
	ret = expr_offset(text, &at->offset, r->err);
	if (ret)
		return ret;
	if (!*text)
		return error_set(r->err, -EINVAL, "a function is missing in '%s'", r->expr.place);
	if (at->offset && r->type->is_return)
		return error_set(r->err, -EINVAL,
				 "a function returns as a whole: '%s' without +%" PRIu64, text,
				 at->offset);
	if (at->offset && is_glob(text))
		return error_set(r->err, -EINVAL, "an offset makes sense for one function only");
	return path_find(at->name, r->opt, r->machine, &r->scratch, &at->path, r->err);
}

/* ---- what arguments may ask ------------------------------------------------------------ */

/* A variable's place as PLACE_FILE counts: the kernel adds the probe's address less its offset. */
static int find_variable(void *arg, const char *name, int64_t *offset, uint64_t *size,
			 struct spur_error *err)
{
	const struct user_scope *s = arg;
	uint64_t addr;
	int ret = variable_find(s->b, s->path, name, &addr, size, err);

	if (!ret)
		*offset = (int64_t)(addr - s->base);
	return ret;
}

static struct fetch_scope scope_of(struct request *r, const struct binary *b, const char *what)
{
	struct binary_info info = {0};

	if (b)
		info = binary_info(b);
	return (struct fetch_scope){
		.what = what,
		.abi = b ? abi_of_elf(info.machine, info.is_64, r->machine)
			 : abi_of_kernel(r->machine),
		.is_return = r->type->is_return,
		.arena = &r->scratch,
	};
}

/* ---- lines ----------------------------------------------------------------------------- */

static int add_function(struct request *r, const struct user_place *at, const struct binary *b,
			struct debug *debug, const struct function *f)
{
	struct fetch_scope scope = scope_of(r, b, f->name);
	struct user_scope arg = {.b = b, .path = at->path, .base = f->addr - f->offset};
	char place[4200], symbol[600], note[300] = "";
	struct proto proto;

	if (at->offset && f->offset + at->offset < f->offset)
		return error_set(r->err, -EINVAL, "the offset is too large");
	scope.entry = !at->offset;
	scope.symbol = find_variable;
	scope.arg = &arg;
	scope.unknown =
		debug ? "the debug information does not know the function" : debug_missing();
	/* What an indirect function takes is said of what it stands for, not of itself. */
	if (debug && !f->indirect &&
	    debug_function(debug, f->addr + at->offset, strchr(f->symbol, '.'), scope.abi,
			   &r->scratch, &proto)) {
		abi_place(scope.abi, &proto);
		scope.proto = &proto;
	}
	if (f->indirect)
		snprintf(note, sizeof(note),
			 "'%.60s' only chooses, once per program, which function is called instead "
			 "of "
			 "it: probe that one",
			 f->symbol);
	snprintf(place, sizeof(place), "%s:0x%" PRIx64, at->path, f->offset + at->offset);
	snprintf(symbol, sizeof(symbol), "%.500s", f->name);
	if (at->offset)
		snprintf(symbol + strlen(symbol), 32, "_%" PRIu64, at->offset);
	return request_line(r, symbol, place, &scope, note);
}

static int add_functions(struct request *r, const struct user_place *at)
{
	struct functions found = {0};
	struct debug *debug = NULL;
	struct binary *b;
	int ret = binary_open(at->path, &b, r->err);

	if (ret)
		return ret;
	ret = functions_find(b, at->path, at->symbol, PROBE_MAX_PLACES, &r->scratch, &found,
			     r->err);
	if (!ret)
		debug = debug_open(b);
	for (size_t i = 0; i < found.n && !ret; i++)
		ret = add_function(r, at, b, debug, &found.at[i]);
	debug_close(debug);
	binary_close(b);
	vec_free(&found);
	return ret;
}

/* An offset in the file, as the kernel takes it. */
static int add_offset(struct request *r, const struct user_place *at)
{
	const char *slash = strrchr(at->path, '/');
	struct spur_error ignored = {0};
	struct fetch_scope scope;
	struct binary *b = NULL;
	char name[128], place[4200], *end;
	uint64_t offset;
	struct stat st;
	int ret;

	errno = 0;
	offset = strtoull(at->symbol, &end, 0);
	if (errno || *end || at->offset)
		return error_set(r->err, -EINVAL, "'%s' is no offset in a file", at->symbol);
	if (!stat(at->path, &st) && offset >= (uint64_t)st.st_size)
		return error_set(r->err, -EINVAL, "%s ends before offset %s", at->path, at->symbol);
	/* Only to know its registers: the kernel's machine is the next best guess. */
	if (binary_open(at->path, &b, &ignored))
		b = NULL;
	scope = scope_of(r, b, at->symbol);
	scope.unknown = "parameters are known by the function's name, not by an offset";
	snprintf(name, sizeof(name), "%c_%.60s_0x%" PRIx64, r->type->letter, slash + 1, offset);
	snprintf(place, sizeof(place), "%s:0x%" PRIx64, at->path, offset);
	ret = request_line(r, name, place, &scope, NULL);
	if (b)
		binary_close(b);
	return ret;
}

int resolve_user(struct request *r)
{
	struct user_place at;
	int ret = parse_place(r, &at);

	if (ret)
		return ret;
	if (at.symbol[0] >= '0' && at.symbol[0] <= '9')
		return add_offset(r, &at);
	return add_functions(r, &at);
}
