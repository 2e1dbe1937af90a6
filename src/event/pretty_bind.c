// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finding out, once per event type, what is to be printed: the arguments of a system call by its
 * event's fields, and those of all calls by the tables of an architecture.
 */
#include "event/pretty_bind.h"

#include <string.h>

static bool starts_with(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && !strcmp(s + n - m, end);
}

/* ", name=", or only ", " for an argument without a name. */
static bool bind_label(struct arena *arena, struct bound_arg *a, const char *name)
{
	size_t n = strlen(name);
	char *label = arena_alloc(arena, n + 4);

	if (!label || n > UINT32_MAX - 4)
		return false;
	memcpy(label, ", ", 2);
	memcpy(label + 2, name, n);
	if (n)
		label[2 + n++] = '=';
	a->label = label;
	a->label_len = (uint32_t)n + 2;
	return true;
}

bool pretty_bind_number(const struct event_field *f, struct bound_arg *a)
{
	if (!f || (f->size != 4 && f->size != 8) || f->flags & (FIELD_ARRAY | FIELD_DYNAMIC))
		return false;
	a->offset = f->offset;
	a->size = (uint8_t)f->size;
	return true;
}

/* What an argument is when no table says so: by its type, and by names that are customary. */
static uint8_t guess_kind(const struct event_field *f)
{
	static const struct {
		const char *type;
		uint8_t kind;
	} types[] = {
		{"umode_t", A_OCTAL},
		{"pid_t", A_INT},
		{"uid_t", A_ID},
		{"gid_t", A_ID},
		{"size_t", A_SIZE},
		{"loff_t", A_LONG},
		{"off_t", A_LONG},
		{"long", A_LONG},
		{"unsigned int", A_UINT},
		{"unsigned", A_UINT},
		{"u32", A_UINT},
		{"clockid_t", A_CLOCK},
		{"const clockid_t", A_CLOCK},
	};
	const char *type = f->type ? f->type : "";

	if (f->flags & FIELD_POINTER || strchr(type, '*'))
		return strstr(type, "char") ? A_STR : A_PTR;
	if (ends_with(f->name, "dfd"))
		return A_DFD;
	if (ends_with(f->name, "fd"))
		return A_FD;
	if (strstr(f->name, "flag") || strstr(f->name, "mask"))
		return A_HEX;
	if (!strcmp(type, "int"))
		return !strcmp(f->name, "sig") ? A_SIGNAL : A_INT;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(type, types[i].type))
			return types[i].kind;
	return A_HEX;
}

static bool is_pointer(uint8_t kind)
{
	return kind == A_PTR || kind == A_STR || kind == A_BUF;
}

static uint32_t count_args(const struct call_spec *spec)
{
	uint32_t n = 0;

	while (n < PRETTY_ARGS && spec->args[n].name)
		n++;
	return n;
}

/*
 * The kind of the i-th of n arguments. The table's row is for the names of today's kernels; in an
 * older one an argument of another name counts as the one at its place if it may be that.
 */
static uint8_t find_kind(const struct call_spec *spec, const struct event_field *f, uint32_t i,
			 uint32_t n)
{
	uint8_t guess = guess_kind(f);

	for (uint32_t k = 0; spec && k < count_args(spec); k++)
		if (!strcmp(spec->args[k].name, f->name))
			return spec->args[k].kind;
	if (spec && n == count_args(spec) && is_pointer(spec->args[i].kind) == is_pointer(guess))
		return spec->args[i].kind;
	return guess;
}

static bool is_text_of(const struct event_field *f, const struct event_field *arg)
{
	size_t n = strlen(arg->name);

	return f->flags & FIELD_DYNAMIC && starts_with(f->name, "__") &&
	       !strncmp(f->name + 2, arg->name, n) && !strcmp(f->name + 2 + n, "_val");
}

/* True when the print format shows the field as bytes and not as a string. */
static bool shown_as_bytes(const struct event *e, const struct event_field *f)
{
	static const char call[] = "__print_dynamic_array(";
	const char *p = e->print_fmt;

	while (p && (p = strstr(p, call))) {
		p += sizeof(call) - 1;
		if (starts_with(p, f->name))
			return true;
	}
	return false;
}

static void bind_text(const struct event *e, const struct event_field *arg, struct bound_arg *a)
{
	for (uint32_t i = e->nr_common; i < e->nr_fields; i++)
		if (is_text_of(&e->fields[i], arg)) {
			a->text = &e->fields[i];
			a->text_is_bytes = a->kind == A_BUF || shown_as_bytes(e, a->text);
			return;
		}
}

/* The fields of an event that are a call's arguments; false when they cannot be. */
static bool list_args(const struct event *e, const struct event_field **args, uint32_t *n)
{
	*n = 0;
	for (uint32_t i = e->nr_common; i < e->nr_fields; i++) {
		const struct event_field *f = &e->fields[i];

		/* The call's number comes first; older kernels call its field nr. */
		if (i == e->nr_common &&
		    (!strcmp(f->name, "__syscall_nr") || !strcmp(f->name, "nr")))
			continue;
		if (f->flags & FIELD_DYNAMIC)
			continue;
		if (*n == PRETTY_ARGS)
			return false;
		args[(*n)++] = f;
	}
	return true;
}

static bool bind_enter(const struct pretty *pr, const struct event *e, const char *name,
		       struct binding *b)
{
	const struct event_field *args[PRETTY_ARGS];
	struct arena *arena = &pr->binder->arena;
	uint32_t arch_bit = pr->arch ? pr->arch->bit : 0;
	const struct call_spec *spec = pretty_call_find(name, strlen(name), arch_bit);

	if (!list_args(e, args, &b->call.nr))
		return false;
	b->call.name = name;
	b->call.name_len = (uint32_t)strlen(name);
	b->call.args = arena_array(arena, b->call.nr + 1, sizeof(*b->call.args));
	if (!b->call.args)
		return false;
	for (uint32_t i = 0; i < b->call.nr; i++) {
		struct bound_arg *a = &b->call.args[i];

		if (!pretty_bind_number(args[i], a) || !bind_label(arena, a, args[i]->name))
			return false;
		a->kind = find_kind(spec, args[i], i, b->call.nr);
		bind_text(e, args[i], a);
	}
	b->print = pretty_print_enter;
	return true;
}

static bool bind_exit(const struct pretty *pr, struct event *e, const char *name, struct binding *b)
{
	uint32_t arch_bit = pr->arch ? pr->arch->bit : 0;
	const struct call_spec *spec = pretty_call_find(name, strlen(name), arch_bit);

	if (!pretty_bind_number(event_field_find(e, "ret"), &b->value))
		return false;
	b->call.name = name;
	b->call.name_len = (uint32_t)strlen(name);
	b->call.ret = spec ? spec->ret : A_NONE;
	b->print = pretty_print_exit;
	return true;
}

/* A call of the architecture's table. One whose arguments are not known shows all registers. */
static struct bound_call *bind_raw_call(const struct pretty *pr, const struct arch_walk *w)
{
	static const struct call_spec unknown = {.args = {{"", A_HEX},
							  {"", A_HEX},
							  {"", A_HEX},
							  {"", A_HEX},
							  {"", A_HEX},
							  {"", A_HEX}}};
	struct arena *arena = &pr->binder->arena;
	const struct call_spec *spec = pretty_call_find(w->name, w->len, pr->arch->bit);
	struct bound_call *call = arena_alloc(arena, sizeof(*call));

	if (!call)
		return NULL;
	if (!spec)
		spec = &unknown;
	*call = (struct bound_call){.name = w->name,
				    .name_len = (uint32_t)w->len,
				    .nr = count_args(spec),
				    .ret = spec->ret};
	call->args = arena_array(arena, call->nr + 1, sizeof(*call->args));
	for (uint32_t i = 0; call->args && i < call->nr; i++) {
		if (!bind_label(arena, &call->args[i], spec->args[i].name))
			return NULL;
		call->args[i].kind = spec->args[i].kind;
	}
	return call->args ? call : NULL;
}

static const struct raw_calls *bind_raw_calls(const struct pretty *pr, unsigned int size)
{
	struct raw_calls *raw = arena_alloc(&pr->binder->arena, sizeof(*raw));
	struct arch_walk w = {.arch = pr->arch};

	while (raw && pretty_arch_next_call(&w)) {
		struct bound_call *call = bind_raw_call(pr, &w);

		if (!call)
			return NULL;
		for (uint32_t i = 0; i < call->nr; i++)
			call->args[i].size = (uint8_t)size;
		if (w.nr < RAW_DENSE) {
			raw->dense[w.nr] = call;
		} else if (raw->nr_sparse < RAW_SPARSE) {
			raw->sparse[raw->nr_sparse] = call;
			raw->sparse_nr[raw->nr_sparse++] = w.nr;
		}
	}
	return raw;
}

static bool bind_raw(const struct pretty *pr, struct event *e, struct binding *b)
{
	const struct event_field *args = event_field_find(e, "args");
	const bool enter = !strcmp(e->name, "sys_enter");

	if (!pretty_bind_number(event_field_find(e, "id"), &b->number))
		return false;
	if (enter) {
		/* Registers: an array of longs. */
		if (!args || args->flags & FIELD_DYNAMIC ||
		    (args->size != PRETTY_ARGS * 4 && args->size != PRETTY_ARGS * 8))
			return false;
		b->value.offset = args->offset;
		b->value.size = (uint8_t)(args->size / PRETTY_ARGS);
	} else if (!pretty_bind_number(event_field_find(e, "ret"), &b->value)) {
		return false;
	}
	if (pr->arch && !pr->binder->raw)
		pr->binder->raw = bind_raw_calls(pr, b->value.size);
	b->raw = pr->binder->raw;
	b->print = enter ? pretty_print_raw_enter : pretty_print_raw_exit;
	return true;
}

bool pretty_bind(const struct pretty *pr, struct event *e, struct binding *b)
{
	static const char enter[] = "sys_enter_", leave[] = "sys_exit_";

	b->event = e;
	if (!strcmp(e->system, "syscalls")) {
		if (starts_with(e->name, enter))
			return bind_enter(pr, e, e->name + sizeof(enter) - 1, b);
		if (starts_with(e->name, leave))
			return bind_exit(pr, e, e->name + sizeof(leave) - 1, b);
	} else if (!strcmp(e->system, "raw_syscalls")) {
		if (!strcmp(e->name, "sys_enter") || !strcmp(e->name, "sys_exit"))
			return bind_raw(pr, e, b);
	} else if (!strcmp(e->system, "signal")) {
		return pretty_bind_signal(pr, e, b);
	} else if (!strcmp(e->system, "ftrace") && !strcmp(e->name, "user_stack")) {
		return pretty_bind_stack(e, b);
	}
	return false;
}
