// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The function_graph tracer: calls as a tree with durations.
 *
 *	funcgraph_entry:                   |  vfs_write() {
 *	funcgraph_entry:        2.423 us   |    rw_verify_area();
 *	funcgraph_exit:       + 12.090 us  |  }
 *
 * An entry that is directly followed by its own exit is a leaf: both become one line, and the exit
 * is taken from the stream.
 */
#include "event/handlers/handlers.h"

/* Linux nests at most some 50 calls; a depth beyond this is the file's lie and not indented. */
#define MAX_DEPTH 1000

/* ---- the parts of a line ---- */

static void print_overhead(uint64_t duration, struct buf *out)
{
	char mark = ' ';

	if (duration > 1000000000)
		mark = '$';
	else if (duration > 1000000)
		mark = '#';
	else if (duration > 100000)
		mark = '!';
	else if (duration > 10000)
		mark = '+';
	/* The value that stands for "no duration" elsewhere. */
	if (duration == UINT64_MAX)
		mark = ' ';
	buf_putc(out, mark);
	buf_putc(out, ' ');
}

/* Microseconds, with three more digits unless there are seven or more already. */
static void print_duration(uint64_t duration, struct buf *out)
{
	size_t start = out->len, width;

	print_overhead(duration, out);
	buf_u64(out, duration / 1000);
	if (out->len - start - 2 < 7) {
		buf_putc(out, '.');
		buf_u64_pad(out, duration % 1000, 3, '0');
	}
	width = out->len - start - 2;
	buf_put(out, " us ", 4);
	if (width < 7)
		buf_fill(out, ' ', 7 - width);
	buf_put(out, "|  ", 3);
}

static void print_indent(uint64_t depth, struct buf *out)
{
	if (depth <= MAX_DEPTH)
		buf_fill(out, ' ', 2 * (size_t)depth);
}

static void print_depth(const struct event_printer *p, uint64_t depth, struct buf *out)
{
	if (!p->opt.fgraph_depth)
		return;
	buf_put(out, " (", 2);
	buf_i64(out, (int64_t)depth);
	buf_putc(out, ')');
}

/* What a function returned: error numbers in decimal, all else in hexadecimal. */
static void print_retval(const struct event_printer *p, uint64_t retval, struct buf *out)
{
	const bool is_error = retval >= (uint64_t)-4095;

	if (p->opt.retval_skip)
		return;
	buf_puts(out, " (ret=");
	if (p->opt.retval_dec || (is_error && !p->opt.retval_hex))
		buf_i64(out, (int64_t)retval);
	else
		buf_hex_pad(out, retval, 1);
	buf_putc(out, ')');
}

/* trace-cmd 3.1 knows neither return values, nor callers, nor arguments. */
static bool knows_details(const struct event_printer *p)
{
	return p->events->compat != COMPAT_31;
}

/* ---- exits ---- */

enum { EXIT_FUNC, EXIT_RETTIME, EXIT_CALLTIME, EXIT_RETVAL, EXIT_DEPTH, NR_EXIT };

static const char *const exit_names[NR_EXIT] = {
	[EXIT_FUNC] = "func",	  [EXIT_RETTIME] = "rettime", [EXIT_CALLTIME] = "calltime",
	[EXIT_RETVAL] = "retval", [EXIT_DEPTH] = "depth",
};

struct exit_values {
	uint64_t duration;
	uint64_t retval;
	bool has_retval;
};

static void *exit_bind(struct events *ev, struct event *e)
{
	return handler_bind(ev, e, exit_names, NR_EXIT);
}

/* False when a field is missing, which the text then says. */
static bool read_exit(const struct event_printer *p, const struct bound_field *f,
		      const struct spur_record *r, struct exit_values *v, struct buf *out)
{
	uint64_t rettime, calltime;

	v->has_retval = f[EXIT_RETVAL].field && knows_details(p);
	if (!bound_need(p->events, &f[EXIT_RETTIME], r, &rettime, out) ||
	    !bound_need(p->events, &f[EXIT_CALLTIME], r, &calltime, out) ||
	    (v->has_retval && !bound_need(p->events, &f[EXIT_RETVAL], r, &v->retval, out)))
		return false;
	v->duration = rettime - calltime;
	return true;
}

static bool exit_print(struct event_printer *p, struct event *e, const struct spur_record *r,
		       struct buf *out)
{
	const struct bound_field *f = e->handler_data;
	struct exit_values v;
	uint64_t depth, func;

	if (!read_exit(p, f, r, &v, out))
		goto missing;
	print_duration(v.duration, out);
	if (!bound_need(p->events, &f[EXIT_DEPTH], r, &depth, out))
		goto missing;
	print_indent(depth, out);
	buf_putc(out, '}');
	if (p->opt.fgraph_tail) {
		const struct symbol *sym;

		/* Without a name the peer's line ends here. */
		if (!bound_get(p->events, &f[EXIT_FUNC], r, &func))
			return true;
		sym = printer_symbol(p, func);
		if (!sym)
			return true;
		buf_put(out, " /* ", 4);
		buf_put(out, sym->name, sym->len);
		buf_put(out, " */", 3);
	}
	print_depth(p, depth, out);
	if (v.has_retval)
		print_retval(p, v.retval, out);
	return true;
missing:
	buf_putc(out, '!');
	return handler_give_up(p, e, r, out);
}

/* ---- entries ---- */

enum { ENTRY_FUNC, ENTRY_DEPTH, ENTRY_RETADDR, NR_ENTRY };

static const char *const entry_names[NR_ENTRY] = {
	[ENTRY_FUNC] = "func",
	[ENTRY_DEPTH] = "depth",
	[ENTRY_RETADDR] = "retaddr",
};

struct fgraph_entry {
	struct bound_field num[NR_ENTRY];
	const struct event_field *args;
};

/* All that a line needs of an entry's record, which may be gone once the next one was looked at. */
struct entry_values {
	uint64_t func, depth;
	bool has_depth;
	int pid;
	uint32_t cpu;
	const struct symbol *symbol;
	const struct symbol *caller; /* NULL when the event does not tell it, or it has no name */
};

static void *entry_bind(struct events *ev, struct event *e)
{
	struct fgraph_entry *d = arena_alloc(&ev->arena, sizeof(*d));

	if (!d)
		return NULL;
	for (size_t i = 0; i < NR_ENTRY; i++)
		d->num[i] = handler_bind_field(e, entry_names[i]);
	d->args = handler_field(e, "args");
	return d;
}

/* Entries that tell their caller have no printer of their own in 3.1. */
static void *retaddr_bind(struct events *ev, struct event *e)
{
	return ev->compat == COMPAT_31 ? NULL : entry_bind(ev, e);
}

/* The arguments of a call as they were passed, from the field to the record's end. */
static void print_args(const struct event_printer *p, const struct fgraph_entry *d,
		       const struct spur_record *r, struct buf *out)
{
	const uint32_t size = p->events->long_size == 4 ? 4 : 8;

	for (uint32_t at = d->args->offset; at <= r->size && r->size - at >= size; at += size) {
		if (at != d->args->offset)
			buf_put(out, ", ", 2);
		buf_hex(out, record_uint(p->events, r, at, size));
	}
}

/* False when the record does not even tell the function. The arguments go to p->scratch. */
static bool read_entry(struct event_printer *p, const struct fgraph_entry *d,
		       const struct spur_record *r, struct entry_values *v, struct buf *out)
{
	uint64_t addr;

	if (!bound_need(p->events, &d->num[ENTRY_FUNC], r, &v->func, out))
		return false;
	v->has_depth = bound_get(p->events, &d->num[ENTRY_DEPTH], r, &v->depth);
	v->pid = events_record_pid(p->events, r);
	v->cpu = r->cpu;
	v->symbol = printer_symbol(p, v->func);
	v->caller = NULL;
	buf_reset(&p->scratch);
	if (!knows_details(p))
		return true;
	if (bound_get(p->events, &d->num[ENTRY_RETADDR], r, &addr))
		v->caller = printer_symbol(p, addr);
	if (d->args)
		print_args(p, d, r, &p->scratch);
	return true;
}

/*
 * Is the record of this call's return what comes next: same task, same function and (but not for
 * 3.1) same CPU? Then it is read and taken. -1 when it is, but has no durations.
 */
static int take_leaf_exit(struct event_printer *p, const struct entry_values *v,
			  struct exit_values *x, struct buf *out)
{
	const struct spur_record *next = p->peek_next ? p->peek_next(p->stream) : NULL;
	struct event *e = next ? events_of_record(p->events, next) : NULL;
	const struct bound_field *f;
	uint64_t func;
	bool complete;

	if (!e || (next->cpu != v->cpu && p->events->compat != COMPAT_31))
		return 0;
	if (event_ready(e) == EVENT_BROKEN || !e->handler || e->handler->print != exit_print)
		return 0;
	f = e->handler_data;
	if (!f || events_record_pid(p->events, next) != v->pid)
		return 0;
	if (!bound_get(p->events, &f[EXIT_FUNC], next, &func) || func != v->func)
		return 0;
	complete = read_exit(p, f, next, x, out);
	p->take_next(p->stream);
	return complete ? 1 : -1;
}

static void print_caller(const struct symbol *caller, struct buf *out)
{
	if (!caller)
		return;
	buf_put(out, " /* <-", 6);
	buf_put(out, caller->name, caller->len);
	buf_put(out, " */", 3);
}

static void print_leaf(struct event_printer *p, const struct entry_values *v,
		       const struct exit_values *x, struct buf *out)
{
	print_indent(v->depth, out);
	if (v->symbol) {
		buf_put(out, v->symbol->name, v->symbol->len);
		buf_putc(out, '(');
		buf_put(out, p->scratch.data, p->scratch.len);
	} else {
		buf_hex(out, v->func);
		buf_putc(out, '(');
	}
	buf_put(out, ");", 2);
	print_depth(p, v->depth, out);
	print_caller(v->caller, out);
	if (x->has_retval)
		print_retval(p, x->retval, out);
}

static void print_nested(struct event_printer *p, const struct entry_values *v, struct buf *out)
{
	print_indent(v->depth, out);
	if (v->symbol) {
		buf_put(out, v->symbol->name, v->symbol->len);
		buf_putc(out, '(');
		buf_put(out, p->scratch.data, p->scratch.len);
	} else if (v->caller || !knows_details(p)) {
		buf_hex(out, v->func);
		buf_putc(out, '(');
	}
	/* 3.4 leaves out the address of a function without a name, unless it knows the caller. */
	buf_putc(out, ')');
	print_caller(v->caller, out);
	buf_put(out, " {", 2);
	print_depth(p, v->depth, out);
}

static bool entry_print(struct event_printer *p, struct event *e, const struct spur_record *r,
			struct buf *out)
{
	const struct fgraph_entry *d = e->handler_data;
	struct entry_values v;
	struct exit_values x;
	int leaf;

	if (!read_entry(p, d, r, &v, out)) {
		buf_putc(out, '!');
		return handler_give_up(p, e, r, out);
	}
	leaf = take_leaf_exit(p, &v, &x, out);
	if (leaf > 0)
		print_duration(x.duration, out);
	else if (!leaf)
		buf_put(out, "             |  ", 16);
	if (leaf >= 0 && !v.has_depth)
		bound_missing(&d->num[ENTRY_DEPTH], out);
	if (leaf < 0 || !v.has_depth)
		buf_putc(out, '!');
	else if (leaf)
		print_leaf(p, &v, &x, out);
	else
		print_nested(p, &v, out);
	return true;
}

const struct event_handler fgraph_handlers[] = {
	{.system = "ftrace",
	 .name = "funcgraph_entry",
	 .bind = entry_bind,
	 .print = entry_print,
	 .looks_ahead = true},
	{.system = "ftrace",
	 .name = "fgraph_retaddr_entry",
	 .bind = retaddr_bind,
	 .print = entry_print,
	 .looks_ahead = true},
	{.system = "ftrace", .name = "funcgraph_exit", .bind = exit_bind, .print = exit_print},
	{.name = NULL},
};
