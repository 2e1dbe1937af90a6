// SPDX-License-Identifier: LGPL-2.1-or-later
/* The tracers of functions: function, function_graph, and the kernel's stacks. */
#include <stdlib.h>
#include <string.h>

#include "event/handlers/handlers.h"
#include "event/spec.h"

/* ---- state from event to event ---- */

/*
 * What the function tracers' printers keep from one event to the next: the functions looked up
 * last, and per CPU the chain of calls by which their text is indented.
 *
 * A chain is libtraceevent's guess at a call stack: names from the outermost caller on. A call
 * whose parent is in the chain belongs after the first place it has there; one whose parent is
 * not starts the chain anew. Names after the new one stay in the list, so the guess may jump back
 * into an older, deeper chain. All this affects the text, so spur does the same.
 *
 * Symbols of equal names count as the same function. A chain has at most MAX_CHAIN names and CPUs
 * beyond MAX_CPUS none: no kernel nests or has that many, hostile files do.
 */
#define MAX_CHAIN 512
#define MAX_CPUS  16384
#define NR_CACHED 1024 /* a power of two */

struct chain {
	unsigned int n;
	const struct symbol *at[MAX_CHAIN];
};

struct cached_symbol {
	uint64_t addr;
	const struct symbol *symbol; /* NULL: the slot is free, or the address has no name */
	bool used;
};

struct function_stacks {
	struct cached_symbol cache[NR_CACHED];
	struct chain **chains; /* by CPU; NULL where nothing was called yet */
	uint32_t nr_chains;
};

void function_stacks_free(struct function_stacks *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->nr_chains; i++)
		free(s->chains[i]);
	free(s->chains);
	free(s);
}

bool function_stacks_used(const struct event_printer *p)
{
	return p->stacks && p->stacks->nr_chains;
}

static struct function_stacks *state_of(struct event_printer *p)
{
	if (!p->stacks)
		p->stacks = calloc(1, sizeof(*p->stacks));
	return p->stacks;
}

const struct symbol *printer_symbol(struct event_printer *p, uint64_t addr)
{
	struct function_stacks *s = state_of(p);
	struct cached_symbol *slot;

	if (!s)
		return symbols_find(p->events->symbols, addr);
	slot = &s->cache[map_mix(addr) & (NR_CACHED - 1)];
	if (slot->addr != addr || !slot->used) {
		slot->addr = addr;
		slot->symbol = symbols_find(p->events->symbols, addr);
		slot->used = true;
	}
	return slot->symbol;
}

/* Makes room for the chains of CPUs up to this one. */
static bool grow_chains(struct function_stacks *s, uint32_t cpu)
{
	struct chain **chains;

	if (cpu >= MAX_CPUS)
		return false;
	chains = realloc(s->chains, (cpu + 1) * sizeof(*chains));
	if (!chains)
		return false;
	memset(chains + s->nr_chains, 0, (cpu + 1 - s->nr_chains) * sizeof(*chains));
	s->chains = chains;
	s->nr_chains = cpu + 1;
	return true;
}

static struct chain *chain_of(struct event_printer *p, uint32_t cpu)
{
	struct function_stacks *s = state_of(p);

	if (!s || (cpu >= s->nr_chains && !grow_chains(s, cpu)))
		return NULL;
	if (!s->chains[cpu])
		s->chains[cpu] = calloc(1, sizeof(struct chain));
	return s->chains[cpu];
}

static bool same_name(const struct symbol *a, const struct symbol *b)
{
	return a == b || (a->len == b->len && memcmp(a->name, b->name, a->len) == 0);
}

static void put_at(struct chain *c, unsigned int pos, const struct symbol *func)
{
	if (!func || pos >= MAX_CHAIN)
		return;
	c->at[pos] = func;
	if (pos >= c->n)
		c->n = pos + 1;
}

/*
 * How deep a call from parent is nested on a CPU, judging by the calls before; notes the call.
 * func is NULL when its name is unknown.
 */
static unsigned int printer_call_depth(struct event_printer *p, uint32_t cpu,
				       const struct symbol *parent, const struct symbol *func)
{
	struct chain *c = chain_of(p, cpu);

	if (!c)
		return 0;
	for (unsigned int i = 0; i < c->n; i++) {
		if (same_name(parent, c->at[i])) {
			put_at(c, i + 1, func);
			return i;
		}
	}
	put_at(c, 0, parent);
	put_at(c, 1, func);
	return 0;
}

bool function_stacks_copy(struct event_printer *p, const struct event_printer *from)
{
	const struct function_stacks *src = from->stacks;

	function_stacks_free(p->stacks);
	p->stacks = NULL;
	for (uint32_t cpu = 0; src && cpu < src->nr_chains; cpu++) {
		struct chain *c;

		if (!src->chains[cpu])
			continue;
		c = chain_of(p, cpu);
		if (!c)
			return false;
		*c = *src->chains[cpu];
	}
	return true;
}

/* ---- the function tracer ---- */

/*
 * A function's name, indented by what is known of its callers.
 *
 *	function:       vfs_read
 *	function:          rw_verify_area <-- vfs_read		(-O parent)
 *	func_repeats:   vfs_read (count: 3  last_ts:    12.345678)
 */
enum { IP, PARENT_IP, COUNT, TOP_DELTA, BOTTOM_DELTA, NR_FUNCTION };

static const char *const function_names[NR_FUNCTION] = {
	[IP] = "ip",
	[PARENT_IP] = "parent_ip",
	[COUNT] = "count",
	[TOP_DELTA] = "top_delta_ts",
	[BOTTOM_DELTA] = "bottom_delta_ts",
};

static void print_name(const struct event_printer *p, const struct symbol *sym, uint64_t addr,
		       struct buf *out)
{
	if (!sym) {
		buf_hex_pad(out, addr, 1);
		return;
	}
	buf_put(out, sym->name, sym->len);
	if (p->opt.offset) {
		buf_putc(out, '+');
		buf_hex_pad(out, (uint32_t)(addr - sym->addr), 1);
		buf_putc(out, ' ');
	}
}

static unsigned int depth_of(struct event_printer *p, const struct spur_record *r,
			     const struct symbol *parent, const struct symbol *func)
{
	return parent && !p->opt.no_indent ? printer_call_depth(p, r->cpu, parent, func) : 0;
}

/* False when a field is missing, which the text then says. */
static bool print_call(struct event_printer *p, const struct bound_field *f,
		       const struct spur_record *r, struct buf *out)
{
	const struct symbol *func, *parent;
	uint64_t ip, parent_ip;
	unsigned int depth;

	if (!bound_need(p->events, &f[IP], r, &ip, out) ||
	    !bound_need(p->events, &f[PARENT_IP], r, &parent_ip, out)) {
		buf_putc(out, '!');
		return false;
	}
	func = printer_symbol(p, ip);
	parent = printer_symbol(p, parent_ip);
	depth = depth_of(p, r, parent, func);
	if (depth)
		buf_fill(out, ' ', 3 * depth);
	print_name(p, func, ip, out);
	if (p->opt.parent) {
		buf_put(out, " <-- ", 5);
		print_name(p, parent, parent_ip, out);
	}
	return true;
}

static bool function_print(struct event_printer *p, struct event *e, const struct spur_record *r,
			   struct buf *out)
{
	return print_call(p, e->handler_data, r, out) || handler_give_up(p, e, r, out);
}

/* A time as the report's own column shows it, without its colon. */
static void print_time(const struct event_printer *p, uint64_t ts, struct buf *out)
{
	uint64_t per_second = 1000000;
	unsigned int digits = 6;

	if (p->time_style == TIME_AS_COUNTER) {
		buf_u64_pad(out, ts, 12, ' ');
		return;
	}
	if (p->time_style == TIME_IN_NSEC) {
		per_second = 1000000000;
		digits = 9;
	} else {
		ts = (ts + 500) / 1000;
	}
	buf_u64_pad(out, ts / per_second, 5, ' ');
	buf_putc(out, '.');
	buf_u64_pad(out, ts % per_second, digits, '0');
}

static bool repeats_print(struct event_printer *p, struct event *e, const struct spur_record *r,
			  struct buf *out)
{
	const struct bound_field *f = e->handler_data;
	uint64_t count, top, bottom;

	print_call(p, f, r, out);
	if (!bound_need(p->events, &f[COUNT], r, &count, out) ||
	    !bound_need(p->events, &f[TOP_DELTA], r, &top, out) ||
	    !bound_need(p->events, &f[BOTTOM_DELTA], r, &bottom, out))
		return handler_spoil(p, e, r, out);
	buf_puts(out, " (count: ");
	buf_i64(out, (int64_t)count);
	buf_puts(out, "  last_ts: ");
	print_time(p, r->ts - (top << 32 | bottom), out);
	buf_putc(out, ')');
	return true;
}

void function_stacks_track(struct event_printer *p, struct event *e, const struct spur_record *r)
{
	const struct bound_field *f = e->handler_data;
	const struct symbol *func, *parent;
	uint64_t ip, parent_ip;

	if (!f || !e->handler || e->handler->fields != function_names)
		return;
	if (!bound_get(p->events, &f[IP], r, &ip) ||
	    !bound_get(p->events, &f[PARENT_IP], r, &parent_ip))
		return;
	func = printer_symbol(p, ip);
	parent = printer_symbol(p, parent_ip);
	depth_of(p, r, parent, func);
}

const struct event_handler function_handlers[] = {
	HANDLER("ftrace", "function", function_names, function_print),
	HANDLER("ftrace", "func_repeats", function_names, repeats_print),
	{.name = NULL},
};

/* ---- the function_graph tracer ---- */

/*
 * Calls as a tree with durations.
 *
 *	funcgraph_entry:                   |  vfs_write() {
 *	funcgraph_entry:        2.423 us   |    rw_verify_area();
 *	funcgraph_exit:       + 12.090 us  |  }
 *
 * An entry that is directly followed by its own exit is a leaf: both become one line, and the exit
 * is taken from the stream.
 */

/* Linux nests at most some 50 calls. Larger depths come from damaged files: no indentation. */
#define MAX_GRAPH_DEPTH 1000

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
	if (depth <= MAX_GRAPH_DEPTH)
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
		return handler_spoil(p, e, r, out);
	print_duration(v.duration, out);
	if (!bound_need(p->events, &f[EXIT_DEPTH], r, &depth, out))
		return handler_spoil(p, e, r, out);
	print_indent(depth, out);
	buf_putc(out, '}');
	if (p->opt.fgraph_tail) {
		const struct symbol *sym;

		/* Without a name libtraceevent's line ends here. */
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
}

/* ---- entries ---- */

enum { ENTRY_FUNC, ENTRY_DEPTH, ENTRY_RETADDR, ENTRY_ARGS, NR_ENTRY };

static const char *const entry_names[NR_ENTRY] = {
	[ENTRY_FUNC] = "func",
	[ENTRY_DEPTH] = "depth",
	[ENTRY_RETADDR] = "retaddr",
	[ENTRY_ARGS] = "args",
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

/* Entries that tell their caller have no printer of their own in 3.1. */
static void *retaddr_bind(struct events *ev, struct event *e)
{
	return ev->compat == COMPAT_31 ? NULL : handler_bind_fields(e, entry_names, NR_ENTRY);
}

/* The arguments of a call as they were passed, from the field to the record's end. */
static void print_args(const struct event_printer *p, const struct bound_field *args,
		       const struct spur_record *r, struct buf *out)
{
	const uint32_t size = p->events->long_size == 4 ? 4 : 8;

	for (uint32_t at = args->offset; at <= r->size && r->size - at >= size; at += size) {
		if (at != args->offset)
			buf_put(out, ", ", 2);
		buf_hex(out, record_uint(p->events, r, at, size));
	}
}

/* False if the record does not even have the function. The arguments go to p->scratch. */
static bool read_entry(struct event_printer *p, const struct bound_field *f,
		       const struct spur_record *r, struct entry_values *v, struct buf *out)
{
	uint64_t addr;

	if (!bound_need(p->events, &f[ENTRY_FUNC], r, &v->func, out))
		return false;
	v->has_depth = bound_get(p->events, &f[ENTRY_DEPTH], r, &v->depth);
	v->pid = events_record_pid(p->events, r);
	v->cpu = r->cpu;
	v->symbol = printer_symbol(p, v->func);
	v->caller = NULL;
	buf_reset(&p->scratch);
	if (!knows_details(p))
		return true;
	if (bound_get(p->events, &f[ENTRY_RETADDR], r, &addr))
		v->caller = printer_symbol(p, addr);
	if (f[ENTRY_ARGS].field)
		print_args(p, &f[ENTRY_ARGS], r, &p->scratch);
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

/* "name(arguments" */
static void print_callee(const struct event_printer *p, const struct entry_values *v, bool address,
			 struct buf *out)
{
	print_indent(v->depth, out);
	if (v->symbol) {
		buf_put(out, v->symbol->name, v->symbol->len);
		buf_putc(out, '(');
		buf_put(out, p->scratch.data, p->scratch.len);
	} else if (address) {
		buf_hex(out, v->func);
		buf_putc(out, '(');
	}
}

static void print_leaf(struct event_printer *p, const struct entry_values *v,
		       const struct exit_values *x, struct buf *out)
{
	print_callee(p, v, true, out);
	buf_put(out, ");", 2);
	print_depth(p, v->depth, out);
	print_caller(v->caller, out);
	if (x->has_retval)
		print_retval(p, x->retval, out);
}

static void print_nested(struct event_printer *p, const struct entry_values *v, struct buf *out)
{
	/* 3.4 leaves out the address of a function without a name, unless it knows the caller. */
	print_callee(p, v, v->caller || !knows_details(p), out);
	buf_putc(out, ')');
	print_caller(v->caller, out);
	buf_put(out, " {", 2);
	print_depth(p, v->depth, out);
}

static bool entry_print(struct event_printer *p, struct event *e, const struct spur_record *r,
			struct buf *out)
{
	const struct bound_field *f = e->handler_data;
	struct entry_values v;
	struct exit_values x;
	int leaf;

	if (!read_entry(p, f, r, &v, out))
		return handler_spoil(p, e, r, out);
	leaf = take_leaf_exit(p, &v, &x, out);
	if (leaf > 0)
		print_duration(x.duration, out);
	else if (!leaf)
		buf_put(out, "             |  ", 16);
	if (leaf >= 0 && !v.has_depth)
		bound_missing(&f[ENTRY_DEPTH], out);
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
	 .fields = entry_names,
	 .nr_fields = NR_ENTRY,
	 .print = entry_print,
	 .looks_ahead = true},
	{.system = "ftrace",
	 .name = "fgraph_retaddr_entry",
	 .bind = retaddr_bind,
	 .print = entry_print,
	 .looks_ahead = true},
	HANDLER("ftrace", "funcgraph_exit", exit_names, exit_print),
	{.name = NULL},
};

/* ---- stacks ---- */

/*
 * Kernel stacks, and what was written to trace_marker_raw.
 *
 *	kernel_stack:   <stack trace >
 *	=> schedule (ffffffff81a2a142)
 *	=> do_wait (ffffffff8114e138)
 *	raw_data:       # 1 61 62 63 64
 */

static const char *const stack_names[] = {"caller"};

static void print_address(struct event_printer *p, uint64_t addr, struct buf *out)
{
	const struct symbol *sym = printer_symbol(p, addr);

	buf_put(out, "=> ", 3);
	if (sym) {
		print_name(p, sym, addr, out);
		buf_put(out, " (", 2);
		buf_hex(out, addr);
		buf_put(out, ")\n", 2);
	} else {
		buf_hex(out, addr);
		buf_putc(out, '\n');
	}
}

/* The addresses run to the record's end or to one whose low 32 bits are all set. */
static bool stack_print(struct event_printer *p, struct event *e, const struct spur_record *r,
			struct buf *out)
{
	const struct bound_field *caller = e->handler_data;
	const uint32_t size = p->events->long_size == 4 ? 4 : 8;

	if (!caller->field)
		return !bound_missing(caller, out);
	buf_puts(out, "<stack trace >\n");
	for (uint32_t at = caller->offset; at <= r->size && r->size - at >= size; at += size) {
		uint64_t addr = record_uint(p->events, r, at, size);

		if ((uint32_t)addr == UINT32_MAX)
			break;
		print_address(p, addr, out);
	}
	return true;
}

enum { ID, BUF, NR_RAW };

static const char *const raw_names[NR_RAW] = {[ID] = "id", [BUF] = "buf"};

static void print_bytes(const struct spur_record *r, uint32_t at, uint32_t n, struct buf *out)
{
	for (; n && at < r->size; n--, at++) {
		buf_putc(out, ' ');
		spec_hex_byte(out, r->data[at], false);
	}
}

/*
 * Eight bytes for each long of the traced machine. On one of 32 bits that shows most bytes twice,
 * which is what the peer does.
 */
static bool raw_print(struct event_printer *p, struct event *e, const struct spur_record *r,
		      struct buf *out)
{
	const struct bound_field *f = e->handler_data;
	const uint32_t step = p->events->long_size == 4 ? 4 : 8;
	uint64_t id;

	if (!bound_need(p->events, &f[ID], r, &id, out))
		return handler_spoil(p, e, r, out);
	buf_put(out, "# ", 2);
	buf_hex(out, id);
	if (!f[BUF].field)
		return !bound_missing(&f[BUF], out);
	for (uint64_t at = f[BUF].field->offset; at < r->size; at += step)
		print_bytes(r, (uint32_t)at, 8, out);
	return true;
}

const struct event_handler stack_handlers[] = {
	HANDLER("ftrace", "kernel_stack", stack_names, stack_print),
	HANDLER("ftrace", "raw_data", raw_names, raw_print),
	{.name = NULL},
};
