// SPDX-License-Identifier: GPL-2.0-or-later
/* The events signal:*, with names for the signal, its code, its error and what became of it. */
#include "event/pretty_bind.h"

#include <string.h>

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
	const struct named *n = pr->arch ? pretty_signal_code((uint32_t)sig, (int32_t)code) : NULL;

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
	const uint8_t nr = sizeof(signal_fields) / sizeof(signal_fields[0]);

	for (a->kind = 0; a->kind < nr; a->kind++)
		if (!strcmp(f->name, signal_fields[a->kind].field))
			break;
	if (a->kind == nr)
		return false;
	a->label = signal_fields[a->kind].label;
	a->label_len = (uint32_t)strlen(a->label);
	if (signal_fields[a->kind].what != SHOW_TEXT)
		return pretty_bind_number(f, a);
	a->text = f;
	return true;
}

bool pretty_bind_signal(const struct pretty *pr, struct event *e, struct binding *b)
{
	uint32_t n = e->nr_fields - e->nr_common;

	if (n > sizeof(signal_fields) / sizeof(signal_fields[0]) ||
	    !pretty_bind_number(event_field_find(e, "sig"), &b->number))
		return false;
	b->call.args = arena_array(&pr->binder->arena, n + 1, sizeof(*b->call.args));
	for (uint32_t i = 0; b->call.args && i < n; i++)
		if (!bind_signal_field(&e->fields[e->nr_common + i], &b->call.args[i]))
			return false;
	b->call.nr = n;
	b->print = print_signal;
	return b->call.args;
}
