// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What the builtin printers share (binding and reading fields), the small groups of them, and the
 * list of all groups.
 */
#include "event/handlers/handlers.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/array.h"
#include "base/num.h"
#include "event/handler.h"

struct bound_field handler_bind_field(const struct event *e, const char *name)
{
	struct bound_field b = {.name = name, .field = event_own_field_named(e, name)};

	if (b.field) {
		uint32_t size = b.field->size;

		b.offset = b.field->offset;
		b.size = size == 1 || size == 2 || size == 4 || size == 8 ? size : 0;
	}
	return b;
}

struct bound_field *handler_bind_fields(const struct event *e, const char *const *names, size_t n)
{
	struct bound_field *b = arena_array(&e->events->arena, n, sizeof(*b));

	for (size_t i = 0; b && i < n; i++)
		b[i] = handler_bind_field(e, names[i]);
	return b;
}

bool bound_missing(const struct bound_field *b, struct buf *out)
{
	if (b->field) {
		buf_putc(out, ' ');
		buf_puts(out, b->name);
		buf_puts(out, "=INVALID");
	} else {
		buf_puts(out, "<CANT FIND FIELD ");
		buf_puts(out, b->name);
		buf_putc(out, '>');
	}
	return false;
}

bool bound_show(const struct events *ev, const struct bound_field *b, const struct spur_record *r,
		uint64_t *value, struct buf *out)
{
	if (bound_get(ev, b, r, value))
		return true;
	buf_puts(out, "CAN'T FIND FIELD \"");
	buf_puts(out, b->name);
	buf_putc(out, '"');
	return false;
}

void buf_hex_pad(struct buf *b, uint64_t v, unsigned int width)
{
	char digits[NUM_MAX_HEX];
	size_t n = num_hex(digits, v);

	buf_put(b, "0x", 2);
	if (n < width)
		buf_fill(b, '0', width - n);
	buf_put(b, digits, n);
}

bool handler_give_up(struct event_printer *p, struct event *e, const struct spur_record *r,
		     struct buf *out)
{
	event_print_plan(p, e, r, out);
	return true;
}

bool handler_spoil(struct event_printer *p, struct event *e, const struct spur_record *r,
		   struct buf *out)
{
	buf_putc(out, '!');
	return handler_give_up(p, e, r, out);
}

const char *handler_text(const struct events *ev, const struct event_field *f,
			 const struct spur_record *r, size_t *len)
{
	const char *text;

	*len = 0;
	if (f->flags & (FIELD_DYNAMIC | FIELD_RELATIVE)) {
		text = (const char *)field_bytes(ev, f, r, len);
	} else {
		if (f->offset >= r->size)
			return "";
		text = (const char *)r->data + f->offset;
		*len = f->size < r->size - f->offset ? f->size : r->size - f->offset;
	}
	*len = text ? strnlen(text, *len) : 0;
	return text ? text : "";
}

/*
 * High-resolution timers.
 *
 *	hrtimer_start:        hrtimer=0xff11 function=tick_sched_timer/0x0 expires=9 softexpires=8
 *	hrtimer_expire_entry: hrtimer=0xff11 now=123 function=tick_sched_timer/0x0
 */
enum { TIMER, HRTIMER, FUNCTION, NOW, EXPIRES, SOFTEXPIRES, NR_TIMER };

static const char *const timer_names[NR_TIMER] = {
	[TIMER] = "timer", [HRTIMER] = "hrtimer", [FUNCTION] = "function",
	[NOW] = "now",	   [EXPIRES] = "expires", [SOFTEXPIRES] = "softexpires",
};

static void print_timer(const struct event_printer *p, const struct bound_field *f,
			const struct spur_record *r, struct buf *out)
{
	uint64_t val;

	buf_puts(out, "hrtimer=");
	if (bound_get(p->events, &f[TIMER], r, &val) ||
	    bound_show(p->events, &f[HRTIMER], r, &val, out))
		buf_hex_pad(out, val, 1);
}

static void print_number(const struct event_printer *p, const char *label,
			 const struct bound_field *f, const struct spur_record *r, struct buf *out)
{
	uint64_t val;

	buf_puts(out, label);
	if (bound_show(p->events, f, r, &val, out))
		buf_u64(out, val);
}

/* The name with its distance from the address, which is 0 or wraps around; at most 127 bytes. */
static void print_function(struct event_printer *p, const struct bound_field *f,
			   const struct spur_record *r, struct buf *out)
{
	const struct symbol *sym;
	uint64_t addr;
	size_t start;

	if (!bound_get(p->events, f, r, &addr))
		return;
	buf_puts(out, " function=");
	sym = printer_symbol(p, addr);
	if (!sym) {
		buf_hex_pad(out, addr, 8);
		return;
	}
	start = out->len;
	buf_put(out, sym->name, sym->len);
	buf_putc(out, '/');
	buf_hex_pad(out, sym->addr - addr, 1);
	if (out->len - start > 127)
		out->len = start + 127;
}

static bool expire_print(struct event_printer *p, struct event *e, const struct spur_record *r,
			 struct buf *out)
{
	const struct bound_field *f = e->handler_data;

	print_timer(p, f, r, out);
	print_number(p, " now=", &f[NOW], r, out);
	print_function(p, &f[FUNCTION], r, out);
	return true;
}

static bool start_print(struct event_printer *p, struct event *e, const struct spur_record *r,
			struct buf *out)
{
	const struct bound_field *f = e->handler_data;

	print_timer(p, f, r, out);
	print_function(p, &f[FUNCTION], r, out);
	print_number(p, " expires=", &f[EXPIRES], r, out);
	print_number(p, " softexpires=", &f[SOFTEXPIRES], r, out);
	return true;
}

/*
 * The futex system call: which operation, and only the arguments it uses.
 *
 *	sys_enter_futex: op=FUTEX_WAIT|FUTEX_PRIVATE_FLAG uaddr=0x7f00 val=0x00000002 utime=0x0000
 */

#define OP_PRIVATE  128u
#define OP_REALTIME 256u

enum { UADDR, OP, VAL, UTIME, UADDR2, VAL3, NR_FUTEX };

static const char *const futex_names[NR_FUTEX] = {
	[UADDR] = "uaddr", [OP] = "op",		[VAL] = "val",
	[UTIME] = "utime", [UADDR2] = "uaddr2", [VAL3] = "val3",
};

/* How an argument is shown. */
enum arg_style {
	UNUSED,
	COUNT,	/* decimal */
	VALUE,	/* 0x and eight digits */
	COUNT2, /* the time-out's place holds a second count */
};

static const struct {
	const char *name;
	enum arg_style val, utime, uaddr2, val3;
} ops[] = {
	{"FUTEX_WAIT", VALUE, VALUE, UNUSED, UNUSED},
	{"FUTEX_WAKE", COUNT, UNUSED, UNUSED, UNUSED},
	{"FUTEX_FD", COUNT, UNUSED, UNUSED, UNUSED},
	{"FUTEX_REQUEUE", COUNT, COUNT2, VALUE, UNUSED},
	{"FUTEX_CMP_REQUEUE", COUNT, COUNT2, VALUE, VALUE},
	{"FUTEX_WAKE_OP", COUNT, COUNT2, VALUE, VALUE},
	{"FUTEX_LOCK_PI", UNUSED, VALUE, UNUSED, UNUSED},
	{"FUTEX_UNLOCK_PI", UNUSED, UNUSED, UNUSED, UNUSED},
	{"FUTEX_TRYLOCK_PI", UNUSED, UNUSED, UNUSED, UNUSED},
	{"FUTEX_WAIT_BITSET", VALUE, VALUE, UNUSED, VALUE},
	{"FUTEX_WAKE_BITSET", COUNT, UNUSED, UNUSED, VALUE},
	{"FUTEX_WAIT_REQUEUE_PI", VALUE, VALUE, VALUE, VALUE},
	{"FUTEX_CMP_REQUEUE_PI", COUNT, COUNT2, VALUE, VALUE},
};

static void print_arg(const char *name, enum arg_style style, uint64_t v, struct buf *out)
{
	if (style == UNUSED)
		return;
	buf_putc(out, ' ');
	buf_puts(out, style == COUNT2 ? "val2" : name);
	buf_putc(out, '=');
	if (style == VALUE)
		buf_hex_pad(out, v, 8);
	else
		buf_u64(out, v);
}

static bool futex_print(struct event_printer *p, struct event *e, const struct spur_record *r,
			struct buf *out)
{
	const struct bound_field *f = e->handler_data;
	uint64_t arg[NR_FUTEX], op;

	for (size_t i = 0; i < NR_FUTEX; i++)
		if (!bound_need(p->events, &f[i], r, &arg[i], out))
			return handler_give_up(p, e, r, out);
	op = arg[OP] & ~(uint64_t)(OP_PRIVATE | OP_REALTIME);
	if (op >= ARRAY_SIZE(ops))
		return false;
	buf_puts(out, "op=");
	buf_puts(out, ops[op].name);
	if (arg[OP] & OP_PRIVATE)
		buf_puts(out, "|FUTEX_PRIVATE_FLAG");
	if (arg[OP] & OP_REALTIME)
		buf_puts(out, "|FUTEX_CLOCK_REALTIME");
	print_arg("uaddr", VALUE, arg[UADDR], out);
	print_arg("val", ops[op].val, arg[VAL], out);
	print_arg("utime", ops[op].utime, arg[UTIME], out);
	print_arg("uaddr2", ops[op].uaddr2, arg[UADDR2], out);
	print_arg("val3", ops[op].val3, arg[VAL3], out);
	return true;
}

/*
 * Kernel memory: the function that allocates or frees goes before the print format's text.
 *
 *	kmalloc:        (alloc_pipe_info+0x4e) call_site=… ptr=… bytes_req=…
 */

static const char *const kmem_names[] = {"call_site"};

static bool kmem_print(struct event_printer *p, struct event *e, const struct spur_record *r,
		       struct buf *out)
{
	const struct symbol *sym;
	uint64_t addr;

	if (bound_get(p->events, e->handler_data, r, &addr)) {
		sym = printer_symbol(p, addr);
		if (sym) {
			buf_putc(out, '(');
			buf_put(out, sym->name, sym->len);
			buf_putc(out, '+');
			buf_hex_pad(out, (uint32_t)(addr - sym->addr), 1);
			buf_put(out, ") ", 2);
		}
	}
	event_print_plan(p, e, r, out);
	return true;
}

/*
 * Flushes of address translations.
 *
 *	tlb_flush:      pages=-1 reason=flush on task switch (0)
 */

enum { PAGES, REASON, NR_TLB };

static const char *const tlb_names[NR_TLB] = {[PAGES] = "pages", [REASON] = "reason"};

static const char *const reasons[] = {
	"flush on task switch",
	"remote shootdown",
	"local shootdown",
	"local mm shootdown",
};

static bool tlb_print(struct event_printer *p, struct event *e, const struct spur_record *r,
		      struct buf *out)
{
	const struct bound_field *f = e->handler_data;
	uint64_t val;

	buf_puts(out, "pages=");
	if (bound_show(p->events, &f[PAGES], r, &val, out))
		buf_i64(out, (int64_t)val);
	if (!bound_need(p->events, &f[REASON], r, &val, out))
		return handler_give_up(p, e, r, out);
	buf_puts(out, " reason=");
	if (val < ARRAY_SIZE(reasons))
		buf_puts(out, reasons[val]);
	buf_put(out, " (", 2);
	buf_i64(out, (int64_t)val);
	buf_putc(out, ')');
	return true;
}

/*
 * The blk tracer's event. Linux has no format file for it, so trace-cmd makes one up: the fields
 * are those of struct blk_io_trace, and the id is the one after a neighbour's that has a file.
 */

/* After which event blktrace's id came, from old kernels to new ones. */
static const char *const neighbours[] = {"power", "kmem_free", "user_stack"};

static const char head[] = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\n"
			   "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\n"
			   "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\n"
			   "\tfield:int common_pid;\toffset:4;\tsize:4;\n";

static const char lock_depth[] = "\tfield:int common_lock_depth;\toffset:8;\tsize:4;\n";

static const char body[] = "\n"
			   "\tfield:u64 sector;\toffset:16;\tsize:8;\n"
			   "\tfield:int bytes;\toffset:24;\tsize:4;\n"
			   "\tfield:int action;\toffset:28;\tsize:4;\n"
			   "\tfield:int pid;\toffset:32;\tsize:4;\n"
			   "\tfield:int device;\toffset:36;\tsize:4;\n"
			   "\tfield:int cpu;\toffset:40;\tsize:4;\n"
			   "\tfield:short error;\toffset:44;\tsize:2;\n"
			   "\tfield:short pdu_len;\toffset:46;\tsize:2;\n"
			   "\tfield:void data;\toffset:48;\tsize:0;\n"
			   "\n"
			   "print fmt: \"%d\", REC->pid\n";

/* The places the made-up format claims for the common fields. */
static const struct {
	const char *name;
	uint32_t offset, size;
	bool optional;
} common[] = {
	{"common_type", 0, 2, false},	       {"common_flags", 2, 1, false},
	{"common_preempt_count", 3, 1, false}, {"common_pid", 4, 4, false},
	{"common_lock_depth", 8, 4, true},
};

static bool common_fits(struct event *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(common); i++) {
		const struct event_field *f = event_common_find(e, common[i].name);

		if (!f && common[i].optional)
			continue;
		if (!f || f->offset != common[i].offset || f->size != common[i].size)
			return false;
	}
	return true;
}

/* The newest neighbour that the trace knows, or NULL. */
static struct event *find_neighbour(const struct events *ev)
{
	struct event *e = NULL;

	for (size_t i = 0; !e && i < ARRAY_SIZE(neighbours); i++)
		e = events_find(ev, "ftrace", neighbours[i]);
	return e;
}

int handler_add_events(struct events *ev, struct spur_error *err)
{
	struct event *e = find_neighbour(ev);
	char *text;
	struct buf b;
	int ret;

	if (!e || event_ready(e) == EVENT_BROKEN || !common_fits(e))
		return 0;
	if (e->id < 0 || e->id == INT_MAX || events_by_id(ev, e->id + 1))
		return 0;
	buf_init(&b, 4096);
	buf_printf(&b, "name: blktrace\nID: %d\nformat:\n%s%s%s", e->id + 1, head,
		   event_common_find(e, "common_lock_depth") ? lock_depth : "", body);
	text = arena_strndup(&ev->arena, b.data, b.len);
	ret = text ? events_add(ev, "ftrace", text, b.len, err) : -ENOMEM;
	e = ret < 0 ? NULL : events_by_id(ev, e->id + 1);
	if (e)
		e->added = true;
	buf_free(&b);
	return ret;
}

/* Wireless: what changed about a basic service set, over four lines. */

#define INDENT 65

/* The numbers of the text: how they are shown, and what comes after them. */
static const struct {
	const char *name;
	bool hex;
	const char *after;
} numbers[] = {
	{"assoc", false, " "},
	{"aid", false, " "},
	{"cts", false, " "},
	{"shortpre", false, " "},
	{"shortslot", false, " "},
	{"dtimper", false, " \n"},
	{"bcnint", false, " "},
	{"assoc_cap", true, " "},
	{"basic_rates", true, " "},
	{"enable_beacon", false, "\n"},
	{"ht_operation_mode", false, ""},
};

#define NR_NUMBERS ARRAY_SIZE(numbers)

struct bss_info {
	const struct event_field *wiphy, *vif;
	struct bound_field vif_type;
	struct bound_field num[NR_NUMBERS];
};

static void *bss_bind(struct events *ev, struct event *e)
{
	struct bss_info *d = arena_alloc(&ev->arena, sizeof(*d));

	if (!d)
		return NULL;
	d->wiphy = event_own_field_named(e, "wiphy_name");
	d->vif = event_own_field_named(e, "vif_name");
	d->vif_type = handler_bind_field(e, "vif_type");
	for (size_t i = 0; i < NR_NUMBERS; i++)
		d->num[i] = handler_bind_field(e, numbers[i].name);
	return d;
}

static void print_text(const struct event_printer *p, const struct event_field *f, const char *name,
		       const struct spur_record *r, struct buf *out)
{
	const char *text;
	size_t len;

	if (!f) {
		buf_puts(out, "NOTFOUND:");
		buf_puts(out, name);
		return;
	}
	text = handler_text(p->events, f, r, &len);
	buf_put(out, text, len);
}

/* As %d and %#x of an int. */
static void print_bss_number(bool hex, uint64_t val, struct buf *out)
{
	if (hex && (uint32_t)val)
		buf_hex_pad(out, (uint32_t)val, 1);
	else
		buf_i64(out, (int32_t)val);
}

static void print_after(const char *after, struct buf *out)
{
	for (; *after; after++) {
		buf_putc(out, *after);
		if (*after == '\n')
			buf_fill(out, ' ', INDENT);
	}
}

static bool bss_print(struct event_printer *p, struct event *e, const struct spur_record *r,
		      struct buf *out)
{
	const struct bss_info *d = e->handler_data;
	uint64_t val;

	print_text(p, d->wiphy, "wiphy_name", r, out);
	buf_puts(out, " vif:");
	print_text(p, d->vif, "vif_name", r, out);
	if (bound_show(p->events, &d->vif_type, r, &val, out)) {
		buf_putc(out, '(');
		print_bss_number(false, val, out);
		buf_putc(out, ')');
	}
	print_after("\n", out);
	for (size_t i = 0; i < NR_NUMBERS; i++) {
		if (bound_get(p->events, &d->num[i], r, &val)) {
			buf_puts(out, numbers[i].name);
			buf_putc(out, ':');
			print_bss_number(numbers[i].hex, val, out);
		}
		print_after(numbers[i].after, out);
	}
	return true;
}

/* ---- all groups ---- */

/* The printers of this file. */
static const struct event_handler small_handlers[] = {
	HANDLER("timer", "hrtimer_expire_entry", timer_names, expire_print),
	HANDLER("timer", "hrtimer_start", timer_names, start_print),
	HANDLER("syscalls", "sys_enter_futex", futex_names, futex_print),
	HANDLER("kmem", "kfree", kmem_names, kmem_print),
	HANDLER("kmem", "kmalloc", kmem_names, kmem_print),
	HANDLER("kmem", "kmalloc_node", kmem_names, kmem_print),
	HANDLER("kmem", "kmem_cache_alloc", kmem_names, kmem_print),
	HANDLER("kmem", "kmem_cache_alloc_node", kmem_names, kmem_print),
	HANDLER("kmem", "kmem_cache_free", kmem_names, kmem_print),
	HANDLER("tlb", "tlb_flush", tlb_names, tlb_print),
	{.system = "mac80211",
	 .name = "drv_bss_info_changed",
	 .bind = bss_bind,
	 .print = bss_print},
	{.name = NULL},
};

static const struct event_handler *const groups[] = {
	sched_handlers, function_handlers, fgraph_handlers,
	stack_handlers, kvm_handlers,	   small_handlers,
};

void *handler_bind(const struct event_handler *h, struct event *e)
{
	return h->bind ? h->bind(e->events, e) : handler_bind_fields(e, h->fields, h->nr_fields);
}

const struct event_handler *handler_find(const char *system, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
		for (const struct event_handler *h = groups[i]; h->name; h++)
			if (strcmp(h->name, name) == 0 && strcmp(h->system, system) == 0)
				return h;
	return NULL;
}
