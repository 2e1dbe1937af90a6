// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The places of each kind of probe, for lines of the kernel: functions of the kernel, functions of
 * programs and libraries, other events. (Those of USDT probes are in usdt.c.)
 */
#include "probe/resolve.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "base/pattern.h"
#include "base/vec.h"
#include "event/event.h"
#include "probe/loader.h"
#include "symbols/btf.h"
#include "symbols/dwarf.h"
#include "symbols/elf.h"
#include "symbols/functions.h"
#include "symbols/ksyms.h"
#include "symbols/names.h"

/*
 * Probes in the kernel: kprobe and kretprobe. The kernel finds a function by its name itself. It is
 * looked up here, too, so that errors can suggest names, patterns work, and all functions with the
 * same name are probed.
 */

#define KALLSYMS "/proc/kallsyms"
#define TRACEFS	 "/sys/kernel/tracing"

struct kernel_place {
	char *module; /* NULL: not given */
	char *symbol;
	uint64_t offset;
};

struct kernel_types {
	struct probe_request *r;
	struct btf_set set;
	const char *missing; /* why there is no BTF */
};

/* ---- types ---- */

static void types_open(struct kernel_types *t, struct probe_request *r)
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

/* ---- places ---- */

static int parse_kernel_place(struct probe_request *r, struct kernel_place *at)
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

static struct fetch_scope kernel_fetch_scope(const struct probe_request *r, const char *what)
{
	return (struct fetch_scope){
		.what = what,
		.abi = abi_of_kernel(r->machine),
		.kernel = true,
		.is_return = r->type->is_return,
		.arena = (struct arena *)&r->scratch,
	};
}

static int add_address(struct probe_request *r, const struct kernel_place *at)
{
	struct fetch_scope scope = kernel_fetch_scope(r, at->symbol);
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

static int add_kernel_function(struct probe_request *r, const struct kernel_place *at,
			       const struct ksym *sym, uint64_t text, struct kernel_types *types,
			       const char *note)
{
	struct fetch_scope scope = kernel_fetch_scope(r, sym->name);
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

/* ---- finding them ---- */

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

static int function_not_found(struct probe_request *r, const struct kernel_place *at,
			      const struct ksyms *found, const char *path,
			      struct kernel_types *types)
{
	struct nearest near = nearest_to(at->symbol, strlen(at->symbol));
	struct ksym named = {.name = at->symbol};
	struct traceable any = {0};
	struct ksyms none = {0};

	/* The kernel waits for a module that is not there yet. */
	if (at->module && !found->module_loaded && !is_glob(at->symbol))
		return add_kernel_function(r, at, &named, 0, types,
					   "the module is not loaded yet: the kernel waits for it");
	if (at->module && !found->module_loaded)
		return error_set(r->err, -ENOENT, "there is no module '%s'", at->module);
	ksyms_find(path, at->module, at->symbol, PROBE_MAX_PLACES, &any, &r->scratch, &none, &near,
		   NULL);
	vec_free(&none);
	return error_set(r->err, -ENOENT, "the kernel has no function '%s'%s", at->symbol,
			 nearest_words(&near));
}

static void load_traceable(const struct probe_request *r, struct traceable *t)
{
	char path[4200];

	snprintf(path, sizeof(path), "%s/available_filter_functions",
		 r->opt->tracefs ? r->opt->tracefs : TRACEFS);
	traceable_load(t, path);
}

static int add_all(struct probe_request *r, const struct kernel_place *at,
		   struct kernel_types *types)
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
		ret = function_not_found(r, at, &found, path, types);
	for (size_t i = 0; i < found.n && !ret; i++)
		if (!is_unreachable(&found, i))
			ret = add_kernel_function(r, at, &found.at[i], found.text, types, NULL);
	vec_free(&found);
	return ret;
}

int resolve_kernel(struct probe_request *r)
{
	struct kernel_types types;
	struct kernel_place at;
	int ret = parse_kernel_place(r, &at);

	if (ret)
		return ret;
	if (!strncmp(at.symbol, "0x", 2))
		return add_address(r, &at);
	types_open(&types, r);
	ret = add_all(r, &at, &types);
	types_close(&types);
	return ret;
}

/*
 * Probes in programs and libraries: uprobe and uretprobe. The kernel needs a file and an offset in
 * it; both are found here, and the function's parameters and result.
 */

struct user_place {
	const char *name; /* of the program; NULL: the traced one */
	const char *path;
	char *symbol;
	uint64_t offset;
};

/* The program, for the arguments of one line. */
struct user_scope {
	const struct binary *b;
	const char *path;
	uint64_t base; /* the address of the probe less its offset in the file */
};

/* ---- places ---- */

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

static int parse_user_place(struct probe_request *r, struct user_place *at)
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

/* ---- names in arguments ---- */

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

static struct fetch_scope user_fetch_scope(struct probe_request *r, const struct binary *b,
					   const char *what)
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

/* ---- lines ---- */

static int add_user_function(struct probe_request *r, const struct user_place *at,
			     const struct binary *b, struct debug *debug, const struct function *f)
{
	struct fetch_scope scope = user_fetch_scope(r, b, f->name);
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
	/* The debug information of an indirect function is that of its resolver. */
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

static int add_functions(struct probe_request *r, const struct user_place *at)
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
		ret = add_user_function(r, at, b, debug, &found.at[i]);
	debug_close(debug);
	binary_close(b);
	vec_free(&found);
	return ret;
}

/* An offset in the file, as the kernel takes it. */
static int add_offset(struct probe_request *r, const struct user_place *at)
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
	scope = user_fetch_scope(r, b, at->symbol);
	scope.unknown = "parameters are known by the function's name, not by an offset";
	snprintf(name, sizeof(name), "%c_%.60s_0x%" PRIx64, r->type->letter, slash + 1, offset);
	snprintf(place, sizeof(place), "%s:0x%" PRIx64, at->path, offset);
	ret = request_line(r, name, place, &scope, NULL);
	if (b)
		binary_close(b);
	return ret;
}

int resolve_user(struct probe_request *r)
{
	struct user_place at;
	int ret = parse_user_place(r, &at);

	if (ret)
		return ret;
	if (at.symbol[0] >= '0' && at.symbol[0] <= '9')
		return add_offset(r, &at);
	return add_functions(r, &at);
}

/*
 * Probes on other events: eprobe. The fields of the event's format are used like the parameters of
 * a function.
 */

#define MAX_FORMAT (1u << 20)

struct event_place {
	char *system, *name;
};

static int parse_event_place(struct probe_request *r, struct event_place *at)
{
	char *text = arena_strdup(&r->scratch, r->expr.place), *dot;

	if (!text)
		return error_sys(r->err, -ENOMEM, "probe");
	dot = strpbrk(text, ".:");
	if (!dot || !is_identifier(dot + 1, strlen(dot + 1)))
		return error_set(r->err, -EINVAL, "it should be SYSTEM.EVENT");
	*dot = '\0';
	at->system = text;
	at->name = dot + 1;
	if (!text[0] || strchr(text, '/'))
		return error_set(r->err, -EINVAL, "it should be SYSTEM.EVENT");
	return 0;
}

/* ---- fields ---- */

/* Only pointers to text have a known target. */
static bool field_target(const struct types *in, const struct type *t, struct type *to)
{
	*to = (struct type){.kind = TYPE_INTEGER, .size = 1, .is_char = true};
	return true;
}

static bool field_member(const struct types *in, const struct type *t, size_t number,
			 struct member *m)
{
	return false;
}

static const struct types field_types = {.target = field_target, .member = field_member};

static struct type type_of_field(const struct event_field *f, bool user)
{
	struct type t = {.in = &field_types, .kind = TYPE_INTEGER, .size = f->size};

	t.is_signed = f->flags & FIELD_SIGNED;
	if (f->flags & FIELD_STRING) {
		t.kind = TYPE_TEXT;
	} else if (f->flags & (FIELD_DYNAMIC | FIELD_RELATIVE)) {
		t.kind = TYPE_UNKNOWN;
	} else if (f->flags & FIELD_ARRAY) {
		t.kind = TYPE_ARRAY;
	} else if (strstr(f->type, "char *")) {
		t.kind = TYPE_POINTER;
		t.user = user;
	} else if (f->flags & FIELD_POINTER) {
		t.hex = true;
	}
	return t;
}

static int add_fields(struct event *e, struct arena *arena, struct proto *p)
{
	/* Arguments of system calls are the process's. */
	bool user = !strcmp(e->system, "syscalls");

	if (event_ready(e) == EVENT_BROKEN || e->nr_fields < e->nr_common)
		return -EBADMSG;
	p->at = arena_array(arena, e->nr_fields + 1, sizeof(*p->at));
	if (!p->at)
		return -ENOMEM;
	for (uint32_t i = e->nr_common; i < e->nr_fields; i++) {
		struct param *param = &p->at[p->n++];

		param->name = arena_strdup(arena, e->fields[i].name);
		if (!param->name)
			return -ENOMEM;
		param->type = type_of_field(&e->fields[i], user);
		param->place.kind = PLACE_FIELD;
		/* The result for an array depends on the version of the kernel. */
		if (param->type.kind == TYPE_ARRAY)
			param->place = (struct place){.kind = PLACE_NOWHERE, .why = "is an array"};
	}
	return 0;
}

static int read_fields(const struct event_place *at, struct buf *format, struct arena *arena,
		       struct proto *p)
{
	struct events *ev = events_new();
	struct event *e;
	int ret = -ENOMEM;

	*p = (struct proto){0};
	if (ev)
		ret = events_add(ev, at->system, format->data, format->len, NULL);
	if (!ret)
		ret = events_seal(ev);
	if (!ret) {
		e = events_find(ev, at->system, at->name);
		ret = e ? add_fields(e, arena, p) : -EBADMSG;
	}
	events_free(ev);
	return ret;
}

/* ---- events that are not there ---- */

/* The names in a directory; false when it is not there. */
static bool try_names(const char *path, struct nearest *near)
{
	struct dirent *entry;
	DIR *d = opendir(path);

	while (d && (entry = readdir(d)))
		nearest_try(near, entry->d_name, strlen(entry->d_name));
	if (d)
		closedir(d);
	return d;
}

static int event_not_found(struct probe_request *r, const char *root, const struct event_place *at)
{
	struct nearest near = nearest_to(at->name, strlen(at->name));
	char path[4400];

	snprintf(path, sizeof(path), "%s/events/%s", root, at->system);
	if (try_names(path, &near))
		return error_set(r->err, -ENOENT, "there is no event '%s' in '%s'%s", at->name,
				 at->system, nearest_words(&near));
	near = nearest_to(at->system, strlen(at->system));
	snprintf(path, sizeof(path), "%s/events", root);
	/* If it may not be read, the kernel checks it. */
	if (!try_names(path, &near))
		return 0;
	return error_set(r->err, -ENOENT, "there is no system of events '%s'%s", at->system,
			 nearest_words(&near));
}

int resolve_event(struct probe_request *r)
{
	const char *root = r->opt->tracefs ? r->opt->tracefs : "/sys/kernel/tracing";
	struct fetch_scope scope = {.abi = abi_of_kernel(r->machine),
				    .kernel = true,
				    .fields = true,
				    .arena = &r->scratch};
	struct event_place at = {0};
	char path[4400], place[4200];
	struct proto proto;
	struct buf format;
	int ret = parse_event_place(r, &at);

	if (ret)
		return ret;
	if (!r->opt->dynamic_events)
		return error_set(r->err, -EOPNOTSUPP,
				 "this kernel has no probes on events (no file dynamic_events)");
	buf_init(&format, MAX_FORMAT);
	snprintf(path, sizeof(path), "%s/events/%s/%s/format", root, at.system, at.name);
	if (!file_read(path, &format, NULL)) {
		if (!read_fields(&at, &format, &r->scratch, &proto))
			scope.proto = &proto;
	} else {
		ret = event_not_found(r, root, &at);
	}
	buf_free(&format);
	if (ret)
		return ret;
	scope.what = at.name;
	snprintf(place, sizeof(place), "%s.%s", at.system, at.name);
	return request_line(r, at.name, place, &scope, NULL);
}
