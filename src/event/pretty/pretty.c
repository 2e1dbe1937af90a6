// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * System calls and signals in words.
 *
 * What there is to know about an event type is found out when its first record is printed and kept
 * as a `struct binding` by the event's index: which fields are arguments, of which kind, under
 * which label. Printing a record then reads values and appends text; it looks up no name.
 *
 * Threads share a decoder. A binding is made under the lock, published by one store, and never
 * changes afterwards. Formats are hostile: if a field does not have the size of its argument, the
 * event is printed without names. Every value is read within the record.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "event/event.h"
#include "event/pretty.h"
#include "event/pretty_tables.h"

#define PRETTY_CHUNK	 1024 /* events with one table of slots */
#define PRETTY_NR_CHUNKS 1024

#define RAW_DENSE  1024 /* calls below are found by index, */
#define RAW_SPARSE 8	/* the few above (private ones of ARM) by looking at each */

struct bound_arg {
	const char *label; /* ", name=" */
	uint32_t label_len;
	uint32_t offset; /* where the record has it */
	uint8_t size;	 /* 4 or 8 */
	uint8_t kind;	 /* enum arg_kind, never A_NONE */
	bool text_is_bytes;
	const struct event_field *text; /* what it points to, where the kernel recorded that */
};

struct bound_call {
	const char *name;
	uint32_t name_len;
	uint32_t nr;
	struct bound_arg *args;
	uint8_t ret; /* enum arg_kind */
};

/* The calls of an architecture by number. */
struct raw_calls {
	struct bound_call *dense[RAW_DENSE];
	struct bound_call *sparse[RAW_SPARSE];
	uint32_t sparse_nr[RAW_SPARSE];
	unsigned int nr_sparse;
};

struct binding;

/* Prints a record: false, with nothing appended, when it is not what the format promised. */
typedef bool pretty_print_fn(const struct pretty *pr, const struct binding *b,
			     const struct events *ev, const struct spur_record *r, struct buf *out);

struct binding {
	const struct event *event; /* whose binding this is */
	pretty_print_fn *print;
	struct bound_call call;	     /* of a call's own event, or a signal's fields */
	const struct raw_calls *raw; /* of the events that stand for all calls */
	struct bound_arg number, value;
	uint32_t values_end; /* of a stack: the end of its addresses; `value` is the first */
};

struct binder {
	pthread_mutex_t lock; /* guards everything here but the reading of slots */
	struct arena arena;
	const struct binding **chunks[PRETTY_NR_CHUNKS];
	const struct raw_calls *raw;
};

struct pretty {
	const struct pretty_arch *arch;
	struct name_set sets[PRETTY_NR_SETS];
	struct binder *binder;
};

/* Where a field that is a number lies; false when it is none of 4 or 8 bytes. */
static bool bind_number(const struct event_field *f, struct bound_arg *a)
{
	if (!f || (f->size != 4 && f->size != 8) || f->flags & (FIELD_ARRAY | FIELD_DYNAMIC))
		return false;
	a->offset = f->offset;
	a->size = (uint8_t)f->size;
	return true;
}

static inline bool bound_read(const struct events *ev, const struct spur_record *r,
			      const struct bound_arg *a, uint64_t *value)
{
	if (a->offset > r->size || a->size > r->size - a->offset)
		return false;
	*value = load_uint(r->data + a->offset, a->size, ev->big_endian);
	return true;
}

/* ---- signal:*, with names for the signal, its code, its error and its result ---- */

/* The fields of signal:*, with the labels of their print formats. */
enum signal_show {
	SHOW_SIGNAL,
	SHOW_ERRNO,
	SHOW_CODE,
	SHOW_TEXT,
	SHOW_HANDLER,
	SHOW_NUMBER,
	SHOW_NAMES
};

static const struct {
	const char *field;
	const char *label;
	uint8_t what; /* enum signal_show */
	uint8_t kind; /* enum arg_kind, of SHOW_NAMES */
} signal_fields[] = {
	{"sig", "sig=", SHOW_SIGNAL, 0},
	{"errno", " errno=", SHOW_ERRNO, 0},
	{"code", " code=", SHOW_CODE, 0},
	{"comm", " comm=", SHOW_TEXT, 0},
	{"pid", " pid=", SHOW_NUMBER, 0},
	{"group", " grp=", SHOW_NUMBER, 0},
	{"result", " res=", SHOW_NAMES, A_SIGNAL_RESULT},
	{"sa_handler", " sa_handler=", SHOW_HANDLER, 0},
	{"sa_flags", " sa_flags=", SHOW_NAMES, A_SA_FLAGS},
};

static void print_signal_errno(const struct pretty *pr, uint64_t code, struct buf *out)
{
	const struct error_name *e = code <= 4095 ? pretty_errno((uint32_t)code, pr->arch) : NULL;

	if (e)
		buf_puts(out, e->name);
	else
		buf_i64(out, (int32_t)code);
}

static void print_signal_code(const struct pretty *pr, uint64_t sig, uint64_t code, struct buf *out)
{
	const struct named *n =
		pr->arch ? pretty_signal_code(pr->sets, (uint32_t)sig, (int32_t)code) : NULL;

	if (n)
		buf_put(out, n->name, n->len);
	else
		buf_i64(out, (int32_t)code);
}

static void print_signal_handler(uint64_t handler, struct buf *out)
{
	if (handler < 2) {
		buf_puts(out, handler ? "SIG_IGN" : "SIG_DFL");
	} else {
		buf_put(out, "0x", 2);
		buf_hex(out, handler);
	}
}

static void print_comm(const struct events *ev, const struct event_field *f,
		       const struct spur_record *r, struct buf *out)
{
	size_t size;
	const uint8_t *p = field_bytes(ev, f, r, &size);
	const uint8_t *nul = p ? memchr(p, 0, size) : NULL;

	if (p)
		pretty_text_print(p, nul ? (size_t)(nul - p) : size, out);
}

static bool print_signal(const struct pretty *pr, const struct binding *b, const struct events *ev,
			 const struct spur_record *r, struct buf *out)
{
	uint64_t sig, v = 0;

	for (uint32_t i = 0; i < b->call.nr; i++)
		if (!b->call.args[i].text && !bound_read(ev, r, &b->call.args[i], &v))
			return false;
	if (!bound_read(ev, r, &b->number, &sig))
		return false;
	for (uint32_t i = 0; i < b->call.nr; i++) {
		const struct bound_arg *a = &b->call.args[i];
		struct value_context c = {.sets = pr->sets, .arch = pr->arch, .values = &v};

		buf_put(out, a->label, a->label_len);
		if (!a->text)
			bound_read(ev, r, a, &v);
		switch (signal_fields[a->kind].what) {
		case SHOW_SIGNAL: pretty_signal_print((uint32_t)v, pr->arch, out); break;
		case SHOW_ERRNO: print_signal_errno(pr, v, out); break;
		case SHOW_CODE: print_signal_code(pr, sig, v, out); break;
		case SHOW_TEXT: print_comm(ev, a->text, r, out); break;
		case SHOW_HANDLER: print_signal_handler(v, out); break;
		case SHOW_NAMES: pretty_value_print(&c, signal_fields[a->kind].kind, out); break;
		default: buf_i64(out, (int32_t)v);
		}
	}
	return true;
}

static bool bind_signal_field(const struct event_field *f, struct bound_arg *a)
{
	const uint8_t nr = ARRAY_SIZE(signal_fields);

	for (a->kind = 0; a->kind < nr; a->kind++)
		if (!strcmp(f->name, signal_fields[a->kind].field))
			break;
	if (a->kind == nr)
		return false;
	a->label = signal_fields[a->kind].label;
	a->label_len = (uint32_t)strlen(a->label);
	if (signal_fields[a->kind].what != SHOW_TEXT)
		return bind_number(f, a);
	a->text = f;
	return true;
}

static bool bind_signal(const struct pretty *pr, struct event *e, struct binding *b)
{
	uint32_t n = e->nr_fields - e->nr_common;

	if (n > ARRAY_SIZE(signal_fields) || !bind_number(event_field_find(e, "sig"), &b->number))
		return false;
	b->call.args = arena_array(&pr->binder->arena, n + 1, sizeof(*b->call.args));
	for (uint32_t i = 0; b->call.args && i < n; i++)
		if (!bind_signal_field(&e->fields[e->nr_common + i], &b->call.args[i]))
			return false;
	b->call.nr = n;
	b->print = print_signal;
	return b->call.args;
}

/* ---- user stacks ---- */

/*
 * ftrace:user_stack with the files its addresses lie in, where the recording knows what was mapped
 * (trace-cmd record --proc-map):
 *
 *	<user stack trace>
 *	=> /usr/lib/libc.so.6+0x26ad0 (7f1e2a026ad0)
 *	=> 55d0c8a01139
 */
static bool print_stack(const struct pretty *pr, const struct binding *b, const struct events *ev,
			const struct spur_record *r, struct buf *out)
{
	const uint32_t size = b->value.size;
	const uint32_t end = b->values_end < r->size ? b->values_end : r->size;
	int pid = (int)record_int(ev, r, b->number.offset, b->number.size);

	buf_puts(out, "<user stack trace>\n");
	for (uint32_t at = b->value.offset; at + size <= end; at += size) {
		const uint64_t addr = record_uint(ev, r, at, size);
		uint64_t start = 0;
		const char *path;

		if (!addr)
			break;
		path = ev->map_of ? ev->map_of(ev->map_arg, pid, addr, &start) : NULL;
		buf_puts(out, "=> ");
		if (path) {
			buf_puts(out, path);
			buf_puts(out, "+0x");
			buf_hex(out, addr - start);
			buf_puts(out, " (");
		}
		buf_hex(out, addr);
		buf_puts(out, path ? ")\n" : "\n");
	}
	return true;
}

static bool bind_stack(struct event *e, struct binding *b)
{
	const struct event_field *caller = event_field_find(e, "caller");

	if (!caller || !bind_number(event_field_find(e, "tgid"), &b->number))
		return false;
	b->value.offset = caller->offset;
	b->value.size = (uint8_t)e->events->long_size;
	b->values_end = caller->offset + caller->size;
	b->print = print_stack;
	return true;
}

/* ---- printing system calls ---- */

/* True when all of them lie in the record. */
static bool read_values(const struct events *ev, const struct spur_record *r,
			const struct bound_call *call, uint64_t *values)
{
	for (uint32_t i = 0; i < call->nr; i++)
		if (!bound_read(ev, r, &call->args[i], &values[i]))
			return false;
	return true;
}

/* What a pointer points to, when it was recorded. An empty one means that reading it failed. */
static bool print_pointed(const struct events *ev, const struct bound_call *call, uint32_t i,
			  const uint64_t *values, const struct spur_record *r, struct buf *out)
{
	const struct bound_arg *a = &call->args[i];
	const uint8_t *p, *nul;
	size_t size;

	if (!values[i])
		return false;
	p = field_bytes(ev, a->text, r, &size);
	if (!p || !size)
		return false;
	nul = a->text_is_bytes ? NULL : memchr(p, 0, size);
	pretty_text_quoted(p, nul ? (size_t)(nul - p) : size, out);
	if (a->text_is_bytes && i + 1 < call->nr && call->args[i + 1].kind == A_SIZE &&
	    values[i + 1] > size)
		buf_put(out, "...", 3);
	return true;
}

static void print_call(const struct pretty *pr, const struct events *ev,
		       const struct bound_call *call, const uint64_t *values,
		       const struct spur_record *r, struct buf *out)
{
	struct value_context c = {.sets = pr->sets, .arch = pr->arch, .values = values};
	size_t skip = 2; /* no comma before the first */

	buf_put(out, call->name, call->name_len);
	buf_putc(out, '(');
	for (c.i = 0; c.i < call->nr; c.i++) {
		const struct bound_arg *a = &call->args[c.i];

		c.size = a->size;
		if (!pretty_value_matters(&c, a->kind))
			continue;
		buf_put(out, a->label + skip, a->label_len - skip);
		skip = 0;
		if (!a->text || !print_pointed(ev, call, c.i, values, r, out))
			pretty_value_print(&c, a->kind, out);
	}
	buf_putc(out, ')');
}

static void print_result(const struct pretty *pr, const struct bound_call *call, uint64_t value,
			 unsigned int size, struct buf *out)
{
	struct value_context c = {
		.sets = pr->sets, .arch = pr->arch, .values = &value, .size = size};

	buf_put(out, call->name, call->name_len);
	buf_put(out, " = ", 3);
	pretty_result_print(&c, call->ret, out);
}

static bool print_enter(const struct pretty *pr, const struct binding *b, const struct events *ev,
			const struct spur_record *r, struct buf *out)
{
	uint64_t values[PRETTY_ARGS];

	if (!read_values(ev, r, &b->call, values))
		return false;
	print_call(pr, ev, &b->call, values, r, out);
	return true;
}

static bool print_exit(const struct pretty *pr, const struct binding *b, const struct events *ev,
		       const struct spur_record *r, struct buf *out)
{
	uint64_t value;

	if (!bound_read(ev, r, &b->value, &value))
		return false;
	print_result(pr, &b->call, value, b->value.size, out);
	return true;
}

/* The call that a record of raw_syscalls is about, or NULL. */
static const struct bound_call *raw_call(const struct pretty *pr, const struct binding *b,
					 const struct events *ev, const struct spur_record *r)
{
	uint64_t nr;

	if (!b->raw || !bound_read(ev, r, &b->number, &nr))
		return NULL;
	nr &= ~(uint64_t)pr->arch->abi_bit;
	if (nr < RAW_DENSE)
		return b->raw->dense[nr];
	for (unsigned int i = 0; i < b->raw->nr_sparse; i++)
		if (b->raw->sparse_nr[i] == nr)
			return b->raw->sparse[i];
	return NULL;
}

static bool print_raw_enter(const struct pretty *pr, const struct binding *b,
			    const struct events *ev, const struct spur_record *r, struct buf *out)
{
	const struct bound_call *call = raw_call(pr, b, ev, r);
	const unsigned int size = b->value.size;
	uint64_t values[PRETTY_ARGS];

	if (!call || b->value.offset > r->size || PRETTY_ARGS * size > r->size - b->value.offset)
		return false;
	for (unsigned int i = 0; i < PRETTY_ARGS; i++)
		values[i] = load_uint(r->data + b->value.offset + i * size, size, ev->big_endian);
	print_call(pr, ev, call, values, r, out);
	return true;
}

static bool print_raw_exit(const struct pretty *pr, const struct binding *b,
			   const struct events *ev, const struct spur_record *r, struct buf *out)
{
	static const struct bound_call unknown = {.name = ""};
	const struct bound_call *call = raw_call(pr, b, ev, r);
	uint64_t nr, value;

	if (!bound_read(ev, r, &b->number, &nr) || !bound_read(ev, r, &b->value, &value))
		return false;
	if (!call) {
		buf_put(out, "NR ", 3);
		buf_i64(out, b->number.size == 4 ? (int32_t)nr : (int64_t)nr);
		call = &unknown;
	}
	print_result(pr, call, value, b->value.size, out);
	return true;
}

/* ---- binding system calls: by their events' fields, or by an architecture's tables ---- */

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
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
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

		if (!bind_number(args[i], a) || !bind_label(arena, a, args[i]->name))
			return false;
		a->kind = find_kind(spec, args[i], i, b->call.nr);
		bind_text(e, args[i], a);
	}
	b->print = print_enter;
	return true;
}

static bool bind_exit(const struct pretty *pr, struct event *e, const char *name, struct binding *b)
{
	uint32_t arch_bit = pr->arch ? pr->arch->bit : 0;
	const struct call_spec *spec = pretty_call_find(name, strlen(name), arch_bit);

	if (!bind_number(event_field_find(e, "ret"), &b->value))
		return false;
	b->call.name = name;
	b->call.name_len = (uint32_t)strlen(name);
	b->call.ret = spec ? spec->ret : A_NONE;
	b->print = print_exit;
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

	if (!bind_number(event_field_find(e, "id"), &b->number))
		return false;
	if (enter) {
		/* Registers: an array of longs. */
		if (!args || args->flags & FIELD_DYNAMIC ||
		    (args->size != PRETTY_ARGS * 4 && args->size != PRETTY_ARGS * 8))
			return false;
		b->value.offset = args->offset;
		b->value.size = (uint8_t)(args->size / PRETTY_ARGS);
	} else if (!bind_number(event_field_find(e, "ret"), &b->value)) {
		return false;
	}
	if (pr->arch && !pr->binder->raw)
		pr->binder->raw = bind_raw_calls(pr, b->value.size);
	b->raw = pr->binder->raw;
	b->print = enter ? print_raw_enter : print_raw_exit;
	return true;
}

/*
 * Fills in the binding of an event whose format is parsed; false when it is none that pretty
 * printing knows. The caller holds the binder's lock.
 */
static bool bind_event(const struct pretty *pr, struct event *e, struct binding *b)
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
		return bind_signal(pr, e, b);
	} else if (!strcmp(e->system, "ftrace") && !strcmp(e->name, "user_stack")) {
		return bind_stack(e, b);
	}
	return false;
}

#define ARENA_LIMIT (16u << 20)

/* ---- bindings by event -------------------------------------------------------------------- */

/* The binding of events that are printed as usual. */
static const struct binding nothing;

static const struct binding *make_binding(const struct pretty *pr, struct event *e)
{
	struct binder *binder = pr->binder;
	const struct binding ***chunk = &binder->chunks[e->index / PRETTY_CHUNK], **slot;
	struct binding *b;

	if (!*chunk) {
		const struct binding **slots = calloc(PRETTY_CHUNK, sizeof(*slots));

		if (!slots)
			return &nothing;
		__atomic_store_n(chunk, slots, __ATOMIC_RELEASE);
	}
	slot = &(*chunk)[e->index % PRETTY_CHUNK];
	if (*slot)
		return *slot;
	b = arena_alloc(&binder->arena, sizeof(*b));
	if (!b || !bind_event(pr, e, b))
		__atomic_store_n(slot, &nothing, __ATOMIC_RELEASE);
	else
		__atomic_store_n(slot, b, __ATOMIC_RELEASE);
	return *slot;
}

static const struct binding *find_binding(const struct pretty *pr, struct event *e)
{
	const struct binding **slots, *b;

	if (e->index / PRETTY_CHUNK >= PRETTY_NR_CHUNKS)
		return &nothing;
	slots = __atomic_load_n(&pr->binder->chunks[e->index / PRETTY_CHUNK], __ATOMIC_ACQUIRE);
	b = slots ? __atomic_load_n(&slots[e->index % PRETTY_CHUNK], __ATOMIC_ACQUIRE) : NULL;
	if (b)
		return b;
	if (event_ready(e) == EVENT_BROKEN)
		return &nothing;
	pthread_mutex_lock(&pr->binder->lock);
	b = make_binding(pr, e);
	pthread_mutex_unlock(&pr->binder->lock);
	return b;
}

bool pretty_print(const struct pretty *pr, struct event_printer *p, struct event *e,
		  const struct spur_record *r, struct buf *out)
{
	const struct binding *b = find_binding(pr, e);

	return b->event == e && b->print(pr, b, p->events, r, out);
}

struct pretty *pretty_new(const char *machine)
{
	struct pretty *pr = calloc(1, sizeof(*pr));
	struct binder *binder = calloc(1, sizeof(*binder));

	if (!pr || !binder) {
		free(pr);
		free(binder);
		return NULL;
	}
	pthread_mutex_init(&binder->lock, NULL);
	arena_init(&binder->arena, ARENA_LIMIT);
	pr->binder = binder;
	pr->arch = pretty_arch_find(machine);
	if (!pretty_sets_make(pr->arch, &binder->arena, pr->sets)) {
		pretty_free(pr);
		return NULL;
	}
	return pr;
}

void pretty_free(struct pretty *pr)
{
	if (!pr)
		return;
	for (size_t i = 0; i < PRETTY_NR_CHUNKS; i++)
		free(pr->binder->chunks[i]);
	arena_free(&pr->binder->arena);
	pthread_mutex_destroy(&pr->binder->lock);
	free(pr->binder);
	free(pr);
}
