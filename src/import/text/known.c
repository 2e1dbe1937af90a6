// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Events whose text is known: ftrace's own, system calls, and those whose pattern is in a table.
 * They get the fields that the kernel's own format has, which analyses look for.
 */
#include "import/text/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/vec.h"

/* ---- ftrace's own events -------------------------------------------------------------- */

/*
 * Functions, calls and returns, markers. Their fields are addresses of functions of which the text
 * has the names; these get addresses that were made up, and symbols.
 */

enum { FUNCTION, PRINT, CALL, RETURN, NR_OWN };

#define ADDRESS(n)                                                                                 \
	{                                                                                          \
		.name = (n), .is_long = true                                                       \
	}
#define DEPTH                                                                                      \
	{                                                                                          \
		.name = "depth", .size = 4, .is_signed = true                                      \
	}

static const struct import_known own[NR_OWN] = {
	[FUNCTION] = {"ftrace",
		      "function",
		      1,
		      "\" %ps <-- %ps\", (void *)REC->ip, (void *)REC->parent_ip",
		      {ADDRESS("ip"), ADDRESS("parent_ip")}},
	[PRINT] = {"ftrace",
		   "print",
		   5,
		   "\"%ps: %s\", (void *)REC->ip, REC->buf",
		   {ADDRESS("ip"), {.name = "buf", .kind = IMPORT_LINE}}},
	[CALL] = {"ftrace",
		  "funcgraph_entry",
		  11,
		  "\"--> %ps (%d)\", (void *)REC->func, REC->depth",
		  {ADDRESS("func"), DEPTH}},
	[RETURN] = {"ftrace",
		    "funcgraph_exit",
		    10,
		    "\"<-- %ps (%d) (start: %llx  end: %llx) over: %d\", (void *)REC->func, "
		    "REC->depth, REC->calltime, REC->rettime, REC->depth",
		    {ADDRESS("func"),
		     DEPTH,
		     {.name = "overrun", .size = 4},
		     {.name = "calltime", .size = 8},
		     {.name = "rettime", .size = 8}}},
};

struct text_ftrace {
	struct import *im;
	struct import_type types[NR_OWN];
};

struct text_ftrace *text_ftrace_new(struct import *im)
{
	struct text_ftrace *f = import_alloc(im, sizeof(*f));

	if (f)
		f->im = im;
	return f;
}

/* A record of these numbers, and of a text after the first one. */
static void put_own(struct text_ftrace *f, const struct import_context *x, int which,
		    const uint64_t *values, const struct piece *text)
{
	const struct import_field *to = import_begin_known(f->im, &f->types[which], &own[which]);

	if (!to)
		return;
	for (uint32_t i = 0; i < f->types[which].nr_fields; i++)
		if (to[i].kind == IMPORT_LINE)
			import_set_text(f->im, &to[i], text->at, text->len);
		else
			import_set(f->im, &to[i], values[i]);
	import_end(f->im, x);
}

void text_function(struct text_ftrace *f, const struct import_context *x, uint64_t ip,
		   uint64_t parent)
{
	put_own(f, x, FUNCTION, (const uint64_t[]){ip, parent}, NULL);
}

void text_print(struct text_ftrace *f, const struct import_context *x, uint64_t ip,
		struct piece text)
{
	put_own(f, x, PRINT, &ip, &text);
}

void text_call(struct text_ftrace *f, const struct import_context *x, uint64_t func, int depth)
{
	put_own(f, x, CALL, (const uint64_t[]){func, (uint64_t)depth}, NULL);
}

void text_return(struct text_ftrace *f, const struct import_context *x, uint64_t func, int depth,
		 uint64_t called)
{
	put_own(f, x, RETURN, (const uint64_t[]){func, (uint64_t)depth, 0, called, x->ts}, NULL);
}

uint64_t text_symbol(struct import *im, struct piece name)
{
	const char *plus = memchr(name.at, '+', name.len);
	const char *space = memchr(name.at, ' ', name.len);
	const char *end = name.at + name.len;
	size_t len = plus ? (size_t)(plus - name.at) : space ? (size_t)(space - name.at) : name.len;
	char text[256];

	if (len > 127)
		len = 127;
	memcpy(text, name.at, len);
	/* Symbols of modules have the module after them, and a tab between. */
	if (space && end - space > 3 && space[1] == '[' && end[-1] == ']' && end - space < 100) {
		text[len++] = '\t';
		memcpy(text + len, space + 1, (size_t)(end - space - 1));
		len += (size_t)(end - space - 1);
	}
	return import_symbol(im, text, len);
}

/* ---- system calls --------------------------------------------------------------------- */

/*
 * System calls as the kernel's text shows them, without a name of an event:
 *
 *	sys_read(fd: 3, buf: 7f001000, count: 10)
 *	sys_read -> 0x10
 */

#define MAX_CALLS 1000 /* kinds of system calls */
#define MAX_ARGS  6

struct text_calls {
	struct import *im;
	struct map by_name; /* by the kept name */
};

/* A kind of system call: how it is entered and left. */
struct text_call {
	struct import_type enter, leave;
	struct import_field enter_fields[MAX_ARGS + 1], leave_fields[2];
	bool has_enter, has_leave;
	int32_t number; /* is not told: one that no system call has ties its two ends together */
};

static struct text_call *call_of(struct text_calls *k, struct piece name)
{
	const char *known = import_name(k->im, name.at, name.len);
	struct text_call *c = map_get(&k->by_name, (uintptr_t)known);

	if (c || !known || k->by_name.n >= MAX_CALLS)
		return c;
	c = import_get(k->im, &k->by_name, (uintptr_t)known, sizeof(*c));
	if (c)
		c->number = -1 - (int32_t)k->by_name.n;
	return c;
}

/* As the kernel's own formats of system calls print them. */
static void put_call_print(const struct import_type *t, bool leaves, struct buf *out)
{
	if (leaves) {
		buf_puts(out, "\"0x%lx\", REC->ret");
		return;
	}
	buf_putc(out, '"');
	for (uint32_t i = 1; i < t->nr_fields; i++)
		buf_printf(out, "%s%s: 0x%%08lx", i > 1 ? ", " : "", t->fields[i].name);
	buf_putc(out, '"');
	for (uint32_t i = 1; i < t->nr_fields; i++)
		buf_printf(out, ", ((unsigned long)(REC->%s))", t->fields[i].name);
}

static bool make_call(struct text_calls *k, struct import_type *t, struct import_field *fields,
		      const char *prefix, struct piece name)
{
	struct buf text;
	bool ok;

	buf_init(&text, 4096);
	buf_puts(&text, prefix);
	buf_put(&text, name.at, name.len);
	t->system = "syscalls";
	t->name = import_identifier(k->im, text.data, text.len);
	t->fields = fields;
	fields[0] = (struct import_field){.name = "__syscall_nr", .size = 4, .is_signed = true};
	buf_reset(&text);
	put_call_print(t, strcmp(prefix, "sys_exit_") == 0, &text);
	ok = t->name && import_type(k->im, t, buf_str(&text));
	buf_free(&text);
	return ok;
}

struct argument {
	struct piece name;
	uint64_t value;
};

/* "fd: 0x3, buf: 0x7f…, count: 0x10)"; the rest of an argument is left out. */
static bool take_argument(struct piece *p, struct argument *a)
{
	const char *colon = memchr(p->at, ':', p->len);

	if (!colon)
		return false;
	a->name = (struct piece){p->at, (size_t)(colon - p->at)};
	p->len -= a->name.len;
	p->at = colon;
	if (!take_text(p, ": "))
		return false;
	take_text(p, "0x");
	if (!take_hexadecimal(p, &a->value))
		return false;
	while (p->len && *p->at != ',' && *p->at != ')')
		piece_skip(p, 1);
	return true;
}

static size_t take_arguments(struct piece p, struct argument *args)
{
	size_t n = 0;

	while (p.len && *p.at != ')' && n < MAX_ARGS && take_argument(&p, &args[n])) {
		n++;
		if (!take_text(&p, ", "))
			break;
	}
	return n;
}

static void enter(struct text_calls *k, const struct import_context *x, struct piece name,
		  struct piece rest)
{
	struct text_call *c = call_of(k, name);
	struct argument args[MAX_ARGS];
	const size_t n = take_arguments(rest, args);

	if (!c)
		return;
	if (!c->has_enter) {
		for (size_t i = 0; i < n; i++)
			c->enter_fields[i + 1] = (struct import_field){
				.name = import_identifier(k->im, args[i].name.at, args[i].name.len),
				.size = 8,
				.is_long = true,
			};
		c->enter.nr_fields = (uint32_t)n + 1;
		c->has_enter = make_call(k, &c->enter, c->enter_fields, "sys_enter_", name);
	}
	if (!c->has_enter || !x)
		return;
	import_begin(k->im, &c->enter);
	import_set(k->im, &c->enter_fields[0], (uint64_t)(int64_t)c->number);
	for (size_t i = 0; i < n && i + 1 < c->enter.nr_fields; i++)
		import_set(k->im, &c->enter_fields[i + 1], args[i].value);
	import_end(k->im, x);
}

static void leave(struct text_calls *k, const struct import_context *x, struct piece name,
		  struct piece rest)
{
	struct text_call *c = call_of(k, name);
	uint64_t ret = 0;

	if (!c)
		return;
	if (!c->has_leave) {
		c->leave_fields[1] =
			(struct import_field){.name = "ret", .size = 8, .is_signed = true};
		c->leave.nr_fields = 2;
		c->has_leave = make_call(k, &c->leave, c->leave_fields, "sys_exit_", name);
	}
	if (!c->has_leave || !x)
		return;
	take_text(&rest, "0x");
	take_hexadecimal(&rest, &ret);
	import_begin(k->im, &c->leave);
	import_set(k->im, &c->leave_fields[0], (uint64_t)(int64_t)c->number);
	import_set(k->im, &c->leave_fields[1], ret);
	import_end(k->im, x);
}

/* Makes the record when the text is one of a system call; without a context only says whether. */
static bool put_call(struct text_calls *k, const struct import_context *x, struct piece text)
{
	struct piece name;
	size_t n = 0;

	if (!take_text(&text, "sys_"))
		return false;
	while (n < text.len && (isalnum((unsigned char)text.at[n]) || text.at[n] == '_'))
		n++;
	name = (struct piece){text.at, n};
	piece_skip(&text, n);
	if (!n)
		return false;
	if (take_text(&text, "("))
		enter(k, x, name, text);
	else if (take_text(&text, " -> "))
		leave(k, x, name, text);
	else
		return false;
	return true;
}

/* ---- patterns ------------------------------------------------------------------------- */

/*
 * A pattern is the text with a {name:type} in the place of each value:
 *
 *	d, l, u   a number: int, long, unsigned long long     x   a hexadecimal one
 *	c         a name of a task, char[16]                   s   a text
 *	t         the states of a task, as R, S or D|K         h   "handled" or something else
 *	D         a device, MAJOR,MINOR                        _   not kept
 *
 * A value reaches to where the text that follows it in the pattern comes next.
 */

#define MAX_VALUES 12

#define TASK	  "\"comm=%s pid=%d prio=%d"
#define TASK_ARGS ", REC->comm, REC->pid, REC->prio"
#define VECTOR                                                                                     \
	"\"vec=%u [action=%s]\", REC->vec, __print_symbolic(REC->vec, { 0, \"HI\" }, { 1, "        \
	"\"TIMER\" }, "                                                                            \
	"{ 2, \"NET_TX\" }, { 3, \"NET_RX\" }, { 4, \"BLOCK\" }, { 5, \"IRQ_POLL\" }, { 6, "       \
	"\"TASKLET\" }, "                                                                          \
	"{ 7, \"SCHED\" }, { 8, \"HRTIMER\" }, { 9, \"RCU\" })"
#define DEVICE                                                                                     \
	"((unsigned int) ((REC->dev) >> 20)), ((unsigned int) ((REC->dev) & ((1U << 20) - 1)))"

static const struct known {
	const char *system, *name, *pattern, *print;
} table[] = {
	{"sched", "sched_switch",
	 "prev_comm={prev_comm:c} prev_pid={prev_pid:d} prev_prio={prev_prio:d} "
	 "prev_state={prev_state:t} ==> next_comm={next_comm:c} next_pid={next_pid:d} "
	 "next_prio={next_prio:d}",
	 "\"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d "
	 "next_prio=%d\", REC->prev_comm, REC->prev_pid, REC->prev_prio, (REC->prev_state & 0xff) "
	 "? "
	 "__print_flags(REC->prev_state & 0x1cff, \"|\", { 0x0001, \"S\" }, { 0x0002, \"D\" }, "
	 "{ 0x0004, \"T\" }, { 0x0008, \"t\" }, { 0x0010, \"X\" }, { 0x0020, \"Z\" }, "
	 "{ 0x0040, \"P\" }, { 0x0080, \"I\" }, { 0x0400, \"K\" }, { 0x0800, \"W\" }, { 0x1000, "
	 "\"N\" }) : \"R\", REC->prev_state & 0x100 ? \"+\" : \"\", "
	 "REC->next_comm, REC->next_pid, REC->next_prio"},
	{"sched", "sched_waking",
	 "comm={comm:c} pid={pid:d} prio={prio:d} target_cpu={target_cpu:d}",
	 TASK " target_cpu=%03d\"" TASK_ARGS ", REC->target_cpu"},
	{"sched", "sched_wakeup",
	 "comm={comm:c} pid={pid:d} prio={prio:d} target_cpu={target_cpu:d}",
	 TASK " target_cpu=%03d\"" TASK_ARGS ", REC->target_cpu"},
	{"sched", "sched_wakeup_new",
	 "comm={comm:c} pid={pid:d} prio={prio:d} target_cpu={target_cpu:d}",
	 TASK " target_cpu=%03d\"" TASK_ARGS ", REC->target_cpu"},
	{"sched", "sched_migrate_task",
	 "comm={comm:c} pid={pid:d} prio={prio:d} orig_cpu={orig_cpu:d} dest_cpu={dest_cpu:d}",
	 TASK " orig_cpu=%d dest_cpu=%d\"" TASK_ARGS ", REC->orig_cpu, REC->dest_cpu"},
	{"sched", "sched_process_fork",
	 "comm={parent_comm:c} pid={parent_pid:d} child_comm={child_comm:c} "
	 "child_pid={child_pid:d}",
	 "\"comm=%s pid=%d child_comm=%s child_pid=%d\", REC->parent_comm, REC->parent_pid, "
	 "REC->child_comm, REC->child_pid"},
	{"sched", "sched_process_exec", "filename={filename:s} pid={pid:d} old_pid={old_pid:d}",
	 "\"filename=%s pid=%d old_pid=%d\", __get_str(filename), REC->pid, REC->old_pid"},
	{"sched", "sched_process_exit", "comm={comm:c} pid={pid:d} prio={prio:d}",
	 TASK "\"" TASK_ARGS},
	{"sched", "sched_process_free", "comm={comm:c} pid={pid:d} prio={prio:d}",
	 TASK "\"" TASK_ARGS},
	{"task", "task_rename",
	 "pid={pid:d} oldcomm={oldcomm:c} newcomm={newcomm:c} oom_score_adj={oom_score_adj:d}",
	 "\"pid=%d oldcomm=%s newcomm=%s oom_score_adj=%d\", REC->pid, REC->oldcomm, REC->newcomm, "
	 "REC->oom_score_adj"},
	{"irq", "irq_handler_entry", "irq={irq:d} name={name:s}",
	 "\"irq=%d name=%s\", REC->irq, __get_str(name)"},
	{"irq", "irq_handler_exit", "irq={irq:d} ret={ret:h}",
	 "\"irq=%d ret=%s\", REC->irq, REC->ret ? \"handled\" : \"unhandled\""},
	{"irq", "softirq_raise", "vec={vec:u} [action={:_}]", VECTOR},
	{"irq", "softirq_entry", "vec={vec:u} [action={:_}]", VECTOR},
	{"irq", "softirq_exit", "vec={vec:u} [action={:_}]", VECTOR},
	{"raw_syscalls", "sys_enter", "NR {id:l} ({args:6})",
	 "\"NR %ld (%lx, %lx, %lx, %lx, %lx, %lx)\", REC->id, REC->args[0], REC->args[1], "
	 "REC->args[2], REC->args[3], REC->args[4], REC->args[5]"},
	{"raw_syscalls", "sys_exit", "NR {id:l} = {ret:l}", "\"NR %ld = %ld\", REC->id, REC->ret"},
	{"block", "block_rq_complete",
	 "{dev:D} {rwbs:s} ({cmd:s}) {sector:u} + {nr_sector:u} [{error:d}]",
	 "\"%d,%d %s (%s) %llu + %u [%d]\", " DEVICE ", __get_str(rwbs), __get_str(cmd), "
	 "(unsigned long long)REC->sector, REC->nr_sector, REC->error"},
	{"block", "block_rq_issue",
	 "{dev:D} {rwbs:s} {bytes:u} ({cmd:s}) {sector:u} + {nr_sector:u} [{comm:c}]",
	 "\"%d,%d %s %u (%s) %llu + %u [%s]\", " DEVICE ", __get_str(rwbs), REC->bytes, "
	 "__get_str(cmd), (unsigned long long)REC->sector, REC->nr_sector, REC->comm"},
	{"block", "block_rq_insert",
	 "{dev:D} {rwbs:s} {bytes:u} ({cmd:s}) {sector:u} + {nr_sector:u} [{comm:c}]",
	 "\"%d,%d %s %u (%s) %llu + %u [%s]\", " DEVICE ", __get_str(rwbs), REC->bytes, "
	 "__get_str(cmd), (unsigned long long)REC->sector, REC->nr_sector, REC->comm"},
};

#define NR_KNOWN (ARRAY_SIZE(table))

struct text_known {
	struct import *im;
	struct import_type types[NR_KNOWN];
	struct import_field fields[NR_KNOWN][MAX_VALUES];
	struct text_calls calls;
};

struct text_known *text_known_new(struct import *im)
{
	struct text_known *k = import_alloc(im, sizeof(*k));

	if (k)
		k->im = k->calls.im = im;
	return k;
}

void text_known_free(struct text_known *k)
{
	if (k)
		map_free(&k->calls.by_name);
}

/* ---- patterns ------------------------------------------------------------------------- */

struct value {
	struct piece name, text;
	char type;
};

/* The pattern's next {name:type}; what stands before it must stand in the text. */
static bool take_value(struct piece *pattern, struct piece *text, struct value *v)
{
	const char *open = memchr(pattern->at, '{', pattern->len), *close, *next;
	struct piece before = {pattern->at, (size_t)(open - pattern->at)}, after;
	size_t at = 0;

	if (text->len < before.len || memcmp(text->at, before.at, before.len) != 0)
		return false;
	piece_skip(text, before.len);
	close = memchr(open, '}', pattern->len - before.len);
	v->name = (struct piece){open + 1, (size_t)(close - open) - 3};
	v->type = close[-1];
	pattern->len -= (size_t)(close + 1 - pattern->at);
	pattern->at = close + 1;
	next = pattern->len ? memchr(pattern->at, '{', pattern->len) : NULL;
	after = (struct piece){pattern->at, next ? (size_t)(next - pattern->at) : pattern->len};
	/* The last value reaches to the end, but for what follows it in the pattern. */
	if (!next && text->len >= after.len)
		at = text->len - after.len;
	for (; at + after.len <= text->len; at++)
		if (memcmp(text->at + at, after.at, after.len) == 0)
			break;
	if (at + after.len > text->len)
		return false;
	v->text = (struct piece){text->at, at};
	piece_skip(text, at);
	return true;
}

/* All values of a text; 0 when it does not match. */
static size_t match(const char *pattern, struct piece text, struct value *values)
{
	struct piece p = {pattern, strlen(pattern)};
	size_t n = 0;

	while (p.len && memchr(p.at, '{', p.len) && n < MAX_VALUES)
		if (!take_value(&p, &text, &values[n++]))
			return 0;
	return p.len == text.len && memcmp(p.at, text.at, p.len) == 0 ? n : 0;
}

/* ---- values --------------------------------------------------------------------------- */

static bool signed_number(struct piece p, uint64_t *v)
{
	const bool negative = take_text(&p, "-");

	if (!take_decimal(&p, v) || p.len)
		return false;
	if (negative)
		*v = -*v;
	return true;
}

/* "R", "S", "D|K", "R+"; as in the print format above. */
static bool task_state(struct piece p, uint64_t *v)
{
	static const char states[] = "SDTtXZPI  KWN";

	*v = 0;
	if (p.len && p.at[p.len - 1] == '+') {
		*v = 0x100;
		p.len--;
	}
	if (piece_is(p, "R"))
		return true;
	for (size_t i = 0; i < p.len; i++) {
		const char *at = isalpha((unsigned char)p.at[i]) ? strchr(states, p.at[i]) : NULL;

		if (i % 2 ? p.at[i] != '|' : !at)
			return false;
		if (i % 2 == 0)
			*v |= 1ull << (at - states);
	}
	return p.len % 2;
}

static bool device(struct piece p, uint64_t *v)
{
	uint64_t major, minor;

	if (!take_decimal(&p, &major) || !take_text(&p, ",") || !take_decimal(&p, &minor) || p.len)
		return false;
	*v = major << 20 | minor;
	return major < 4096 && minor < 1 << 20;
}

static size_t hex_list(struct piece p, uint64_t *list)
{
	size_t n = 0;

	while (n < MAX_ARGS && take_hexadecimal(&p, &list[n])) {
		n++;
		if (!take_text(&p, ", "))
			break;
	}
	return p.len ? 0 : n;
}

static bool read_number(const struct value *v, uint64_t *n)
{
	struct piece p = v->text;

	switch (v->type) {
	case 'd':
	case 'l': return signed_number(p, n);
	case 'u': return take_decimal(&p, n) && !p.len;
	case 't': return task_state(p, n);
	case 'D': return device(p, n);
	case 'h': *n = piece_is(p, "handled"); return *n || piece_is(p, "unhandled");
	default: return true;
	}
}

static bool all_valid(const struct value *values, size_t n)
{
	uint64_t v, list[MAX_ARGS];

	for (size_t i = 0; i < n; i++)
		if (values[i].type == '6' ? hex_list(values[i].text, list) != MAX_ARGS
					  : !read_number(&values[i], &v))
			return false;
		else if (values[i].type == 'c' && values[i].text.len > 15)
			return false;
	return true;
}

/* ---- known events --------------------------------------------------------------------- */

static struct import_field field_of(struct import *im, const struct value *v)
{
	struct import_field f = {.name = import_name(im, v->name.at, v->name.len)};

	switch (v->type) {
	case 'c':
		f.kind = IMPORT_CHARS;
		f.nr = 16;
		break;
	case 's': f.kind = IMPORT_TEXT; break;
	case '6':
		f.kind = IMPORT_ARRAY;
		f.nr = MAX_ARGS;
		f.size = 8;
		f.is_long = true;
		break;
	case 'u':
		f.size = v->name.len == 3 || piece_is(v->name, "bytes") ||
					 piece_is(v->name, "nr_sector")
				 ? 4
				 : 8;
		break;
	case 'D': f.size = 4; break;
	case 't':
	case 'l':
		f.size = 8;
		f.is_signed = true;
		break;
	default: f.size = 4; f.is_signed = true;
	}
	return f;
}

static bool make_type(struct text_known *k, size_t i, const struct value *values, size_t n)
{
	struct import_type *t = &k->types[i];

	if (t->id)
		return true;
	*t = (struct import_type){
		.system = table[i].system, .name = table[i].name, .fields = k->fields[i]};
	for (size_t at = 0; at < n; at++)
		if (values[at].type != '_')
			k->fields[i][t->nr_fields++] = field_of(k->im, &values[at]);
	return k->im->rc == 0 && import_type(k->im, t, table[i].print);
}

static void put_known(struct text_known *k, size_t i, const struct import_context *x,
		      const struct value *values, size_t n)
{
	struct import_field *f = k->fields[i];

	import_begin(k->im, &k->types[i]);
	for (size_t at = 0; at < n; at++) {
		uint64_t v = 0, list[MAX_ARGS];

		if (values[at].type == '_')
			continue;
		if (values[at].type == '6') {
			import_set_numbers(k->im, f, list, hex_list(values[at].text, list));
		} else if (f->kind == IMPORT_NUMBER) {
			read_number(&values[at], &v);
			import_set(k->im, f, v);
		} else {
			import_set_text(k->im, f, values[at].text.at, values[at].text.len);
		}
		f++;
	}
	import_end(k->im, x);
}

bool text_known_put(struct text_known *k, const struct import_context *x, struct piece name,
		    struct piece text, bool learn)
{
	struct value values[MAX_VALUES];

	if (!name.len)
		return put_call(&k->calls, learn ? NULL : x, text);
	for (size_t i = 0; i < NR_KNOWN; i++) {
		size_t n;

		if (!piece_is(name, table[i].name))
			continue;
		n = match(table[i].pattern, text, values);
		if (!n || !all_valid(values, n) || !make_type(k, i, values, n))
			continue;
		if (!learn)
			put_known(k, i, x, values, n);
		return true;
	}
	return false;
}
