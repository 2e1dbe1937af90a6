// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Probes in the kernel: kprobe and kretprobe. The kernel finds a function by its name itself; here
 * it is looked up so that a mistake is told with what may have been meant, that patterns work, and
 * that all functions of a name that several have are probed.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "base/pattern.h"
#include "symbols/btf_set.h"
#include "symbols/ksyms.h"
#include "probe/resolve.h"

#define KALLSYMS "/proc/kallsyms"
#define TRACEFS	 "/sys/kernel/tracing"

struct kernel_place {
	char *module; /* NULL: not said */
	char *symbol;
	uint64_t offset;
};

struct kernel_types {
	struct request *r;
	struct btf_set set;
	const char *missing; /* why there is no BTF */
};

/* ---- types ----------------------------------------------------------------------------- */

static void types_open(struct kernel_types *t, struct request *r)
{
	struct spur_error why = {0};
	char text[sizeof(why.text) + 64];

	*t = (struct kernel_types){.r = r};
	if (!btf_set_open(&t->set, r->opt->btf, &why))
		return;
	snprintf(text, sizeof(text), "the kernel does not describe its functions (%s)", why.text);
	t->missing = arena_strdup(&r->scratch, text);
}

static void types_close(struct kernel_types *t)
{
	btf_set_close(&t->set);
}

static bool types_function(struct kernel_types *t, const struct ksym *sym, const struct abi *abi,
			   struct proto *p)
{
	const struct btf *b = btf_set_of(&t->set, sym->module);

	if (!b || !btf_function(b, sym->name, &t->r->scratch, p))
		return false;
	abi_place(abi, p);
	return true;
}

/* ---- places ---------------------------------------------------------------------------- */

static int parse_place(struct request *r, struct kernel_place *at)
{
	char *text = arena_strdup(&r->scratch, r->expr.place), *colon;
	int ret;

	*at = (struct kernel_place){0};
	if (!text)
		return error_sys(r->err, -ENOMEM, "probe");
	colon = strchr(text, ':');
	if (colon) {
		*colon = '\0';
		at->module = text;
		text = colon + 1;
	}
	at->symbol = text;
	ret = expr_offset(text, &at->offset, r->err);
	if (ret)
		return ret;
	if (!*text || (at->module && !*at->module))
		return error_set(r->err, -EINVAL, "a function is missing in '%s'", r->expr.place);
	if (at->offset && r->type->is_return)
		return error_set(r->err, -EINVAL,
				 "a function returns as a whole: '%s' without +%" PRIu64, text,
				 at->offset);
	if (at->offset && is_glob(text))
		return error_set(r->err, -EINVAL, "an offset makes sense for one function only");
	return 0;
}

static struct fetch_scope scope_of(const struct request *r, const char *what)
{
	return (struct fetch_scope){
		.what = what,
		.abi = abi_of_kernel(r->machine),
		.kernel = true,
		.is_return = r->type->is_return,
		.arena = (struct arena *)&r->scratch,
	};
}

static int add_address(struct request *r, const struct kernel_place *at)
{
	struct fetch_scope scope = scope_of(r, at->symbol);
	char name[64];

	if (strspn(at->symbol + 2, "0123456789abcdefABCDEF") != strlen(at->symbol + 2) ||
	    at->offset || at->module)
		return error_set(r->err, -EINVAL, "'%s' is no address", r->expr.place);
	scope.unknown = "parameters are known by the function's name, not by an address";
	snprintf(name, sizeof(name), "%c_%.50s", r->type->letter, at->symbol);
	return request_line(r, name, at->symbol, &scope, NULL);
}

/*
 * How the kernel shall find the function: by name, or from the start of its text when that is not
 * clear.
 */
static void write_place(const struct kernel_place *at, const struct ksym *sym, uint64_t text,
			char *place, size_t cap)
{
	const char *module = sym->module ? sym->module : at->module;
	int n;

	if (sym->repeated && !sym->module && sym->addr > text && text) {
		snprintf(place, cap, "_stext+0x%" PRIx64, sym->addr - text + at->offset);
		return;
	}
	n = snprintf(place, cap, "%s%s%s", module ? module : "", module ? ":" : "", sym->name);
	if (at->offset && n > 0 && (size_t)n < cap)
		snprintf(place + n, cap - (size_t)n, "+%" PRIu64, at->offset);
}

static int add_function(struct request *r, const struct kernel_place *at, const struct ksym *sym,
			uint64_t text, struct kernel_types *types, const char *note)
{
	struct fetch_scope scope = scope_of(r, sym->name);
	char place[512], symbol[300];
	struct proto proto;

	scope.entry = !at->offset;
	if (at->offset && !r->type->is_return)
		scope.unknown = "where parameters are is known at the start of the function only";
	else if (types_function(types, sym, scope.abi, &proto))
		scope.proto = &proto;
	else
		scope.unknown = types->missing ? types->missing
					       : "the kernel's BTF does not describe the function";
	write_place(at, sym, text, place, sizeof(place));
	snprintf(symbol, sizeof(symbol), "%.250s", sym->name);
	if (at->offset)
		snprintf(symbol + strlen(symbol), 32, "_%" PRIu64, at->offset);
	return request_line(r, symbol, place, &scope, note);
}

/* ---- finding them ---------------------------------------------------------------------- */

/*
 * Functions of the same name that all are the same function to the kernel: only one can be named.
 */
static bool is_unreachable(const struct ksyms *found, size_t i)
{
	const struct ksym *s = &found->at[i];

	if (!s->repeated || (!s->module && s->addr && found->text))
		return false;
	for (size_t j = 0; j < i; j++) {
		const struct ksym *other = &found->at[j];

		if (!strcmp(other->name, s->name) && !other->module == !s->module &&
		    (!s->module || !strcmp(other->module, s->module)))
			return true;
	}
	return false;
}

static int not_found(struct request *r, const struct kernel_place *at, const struct ksyms *found,
		     const char *path, struct kernel_types *types)
{
	struct nearest near = nearest_to(at->symbol, strlen(at->symbol));
	struct ksym named = {.name = at->symbol};
	struct traceable any = {0};
	struct ksyms none = {0};

	/* The kernel waits for a module that is not there yet. */
	if (at->module && !found->module_loaded && !is_glob(at->symbol))
		return add_function(r, at, &named, 0, types,
				    "the module is not loaded yet: the kernel waits for it");
	if (at->module && !found->module_loaded)
		return error_set(r->err, -ENOENT, "there is no module '%s'", at->module);
	ksyms_find(path, at->module, at->symbol, PROBE_MAX_PLACES, &any, &r->scratch, &none, &near,
		   NULL);
	vec_free(&none);
	return error_set(r->err, -ENOENT, "the kernel has no function '%s'%s", at->symbol,
			 nearest_words(&near));
}

static void load_traceable(const struct request *r, struct traceable *t)
{
	char path[4200];

	snprintf(path, sizeof(path), "%s/available_filter_functions",
		 r->opt->tracefs ? r->opt->tracefs : TRACEFS);
	traceable_load(t, path);
}

static int add_all(struct request *r, const struct kernel_place *at, struct kernel_types *types)
{
	const char *path = r->opt->kallsyms ? r->opt->kallsyms : KALLSYMS;
	struct traceable traceable = {0};
	struct ksyms found = {0};
	int ret;

	if (is_glob(at->symbol))
		load_traceable(r, &traceable);
	ret = ksyms_find(path, at->module, at->symbol, PROBE_MAX_PLACES, &traceable, &r->scratch,
			 &found, NULL, r->err);
	traceable_free(&traceable);
	if (!ret && !found.n)
		ret = not_found(r, at, &found, path, types);
	for (size_t i = 0; i < found.n && !ret; i++)
		if (!is_unreachable(&found, i))
			ret = add_function(r, at, &found.at[i], found.text, types, NULL);
	vec_free(&found);
	return ret;
}

int resolve_kernel(struct request *r)
{
	struct kernel_types types;
	struct kernel_place at;
	int ret = parse_place(r, &at);

	if (ret)
		return ret;
	if (!strncmp(at.symbol, "0x", 2))
		return add_address(r, &at);
	types_open(&types, r);
	ret = add_all(r, &at, &types);
	types_close(&types);
	return ret;
}
