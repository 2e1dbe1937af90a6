// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The futex system call: which operation, and only the arguments it uses.
 *
 *	sys_enter_futex: op=FUTEX_WAIT|FUTEX_PRIVATE_FLAG uaddr=0x7f00 val=0x00000002 utime=0x0000
 */
#include "event/handlers/handlers.h"

#define OP_PRIVATE  128u
#define OP_REALTIME 256u

enum { UADDR, OP, VAL, UTIME, UADDR2, VAL3, NR_FUTEX };

static const char *const names[NR_FUTEX] = {
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

static void *futex_bind(struct events *ev, struct event *e)
{
	return handler_bind(ev, e, names, NR_FUTEX);
}

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
	if (op >= sizeof(ops) / sizeof(ops[0]))
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

const struct event_handler futex_handlers[] = {
	{.system = "syscalls", .name = "sys_enter_futex", .bind = futex_bind, .print = futex_print},
	{.name = NULL},
};
