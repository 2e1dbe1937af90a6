// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * System calls: entries and exits of a task, which alternate.
 *
 * The events of one call, raw_syscalls and syscalls, come right after each other. The second of the
 * two entries describes the call; the first of the two exits ends it. An exit without an entry
 * belongs to a call that was entered before the trace or a loss, if its task has not been seen
 * since. Invariant: calls that are open are in one of two lists, in order of the time of their
 * entry.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "table/analysis.h"
#include "table/spans.h"
#include "base/array.h"
#include "base/list.h"
#include "event/pretty_tables.h"

#define NAMES_LIMIT (4u << 20)
#define ARGS_LIMIT  4096 /* bytes of a call's arguments as text */
#define NR_NAMES    1024 /* calls with numbers below have names by number */
#define MAX_ERRNO   4095
#define KEPT_BITS   10
#define NR_KEPT	    (1u << KEPT_BITS) /* arguments whose text is stored */
#define KEY_WORDS   8
#define TASKS_LIMIT (64u << 20)

enum syscall_what { SYSCALL_NOTHING, SYSCALL_ENTER, SYSCALL_EXIT };

/* Bits: raw_syscalls, and the events of single system calls. */
enum syscall_source { SYSCALL_RAW = 1, SYSCALL_OWN = 2 };

/* What is known about an event type. */
struct syscall_kind {
	enum syscall_what what;
	enum syscall_source source;
	const char *name; /* of the call, for an event of a single call */
	struct number nr;
	struct number ret;  /* of an exit */
	struct number args; /* of a raw entry: the first register */
};

/*
 * The arguments of an entry as the report shows them; NULL: none. Many calls have equal arguments
 * and share this, so it has a count of users, and every user drops it. The text of a row must stay
 * for one more record: unused texts are freed when the kinds have aged twice.
 */
struct syscall_args {
	struct syscall_args *next; /* that is freed at the same time */
	uint64_t id;		   /* a serial number */
	uint32_t users;
	char text[];
};

/* ---- event types, names, arguments ---- */

/* What an entry's text is made of: the registers of a raw event, the whole record of others. */
struct args_key {
	uint64_t words[KEY_WORDS];
	uint64_t size; /* of the record; 0: registers. No padding: keys are compared as bytes */
};

struct kept_args {
	struct args_key key;
	struct syscall_args *args; /* NULL: the place is empty */
};

struct syscall_kinds {
	struct events *events;
	struct event_printer printer;
	struct buf text;
	struct syscall_kind **kinds; /* by the event's index */
	struct arena arena;
	const struct pretty_arch *arch; /* NULL: not known */
	const char *names[NR_NAMES];
	struct intern texts;
	bool host_order; /* numbers are as this machine has them */
	uint64_t factors[KEY_WORDS];
	struct kept_args *kept;
	uint64_t nr_args;		   /* texts so far */
	struct syscall_args *dying, *dead; /* dropped since the last record, and before it */
};

/* ---- event types ---- */

static bool starts_with(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

static void bind_args(struct syscall_kind *k, struct event *e)
{
	const struct event_field *args = event_field_find(e, "args");

	if (args && !(args->flags & FIELD_DYNAMIC) &&
	    (args->size == PRETTY_ARGS * 4 || args->size == PRETTY_ARGS * 8))
		k->args = (struct number){args->offset, (uint8_t)(args->size / PRETTY_ARGS), false};
}

static void bind(struct syscall_kind *k, struct event *e)
{
	static const char *const nr_names[] = {"__syscall_nr", "nr", NULL};
	static const char own_enter[] = "sys_enter_", own_exit[] = "sys_exit_";

	if (event_ready(e) == EVENT_BROKEN)
		return;
	if (strcmp(e->system, "raw_syscalls") == 0) {
		k->source = SYSCALL_RAW;
		k->nr = number_of(e, "id");
		k->what = strcmp(e->name, "sys_enter") == 0  ? SYSCALL_ENTER
			  : strcmp(e->name, "sys_exit") == 0 ? SYSCALL_EXIT
							     : SYSCALL_NOTHING;
		bind_args(k, e);
	} else {
		k->source = SYSCALL_OWN;
		k->nr = number_find(e, nr_names);
		if (starts_with(e->name, own_enter)) {
			k->what = SYSCALL_ENTER;
			k->name = e->name + sizeof(own_enter) - 1;
		} else if (starts_with(e->name, own_exit)) {
			k->what = SYSCALL_EXIT;
			k->name = e->name + sizeof(own_exit) - 1;
		}
	}
	k->ret = number_of(e, "ret");
	/* Both may be negative, whatever the format says. */
	k->ret.is_signed = k->nr.is_signed = true;
	if (!k->nr.size)
		k->what = SYSCALL_NOTHING;
}

static const struct syscall_kind *syscall_kind_of(struct syscall_kinds *s, struct event *e)
{
	static const struct syscall_kind none;
	struct syscall_kind *k = s->kinds[e->index];

	if (!k) {
		k = arena_alloc(&s->arena, sizeof(*k));
		if (!k)
			return &none;
		bind(k, e);
		s->kinds[e->index] = k;
	}
	return k;
}

/* ---- names and texts ---- */

static const char *syscall_name(const struct syscall_kinds *s, const struct syscall_kind *k,
				int64_t nr)
{
	if (k->name)
		return k->name;
	if (s->arch)
		nr &= ~(int64_t)s->arch->abi_bit;
	return nr >= 0 && nr < NR_NAMES ? s->names[nr] : NULL;
}

static bool is_one_of(const char *name, const char *const *list)
{
	for (; name && *list; list++)
		if (strcmp(name, *list) == 0)
			return true;
	return false;
}

static bool syscall_never_returns(const char *name)
{
	static const char *const calls[] = {"exit", "exit_group", NULL};

	/* This is called for every system call; mostly the first letter decides. */
	return name && name[0] == 'e' && is_one_of(name, calls);
}

/* The first event of a new task is the exit of its parent's call. */
static bool syscall_is_birth(const char *name, int64_t ret)
{
	static const char *const calls[] = {"clone", "clone3", "fork", "vfork", NULL};

	return ret == 0 && is_one_of(name, calls);
}

/* ---- arguments ---- */

static void syscall_args_drop(struct syscall_kinds *s, struct syscall_args *args)
{
	if (!args || --args->users)
		return;
	args->next = s->dying;
	s->dying = args;
}

static void syscall_args_age(struct syscall_kinds *s)
{
	struct syscall_args *next;

	for (struct syscall_args *args = s->dead; args; args = next) {
		next = args->next;
		free(args);
	}
	s->dead = s->dying;
	s->dying = NULL;
}

/* Makes arguments of the text in s->text. */
static struct syscall_args *args_new(struct syscall_kinds *s)
{
	struct syscall_args *args = malloc(sizeof(*args) + s->text.len + 1);

	if (!args)
		return NULL;
	args->id = ++s->nr_args;
	args->users = 1;
	memcpy(args->text, s->text.data, s->text.len);
	args->text[s->text.len] = '\0';
	return args;
}

/* The factors are secret, so a file cannot choose keys that get the same place. */
static struct kept_args *place_of(const struct syscall_kinds *s, const struct args_key *key)
{
	uint64_t hash = 0;

	for (uint32_t i = 0; i < KEY_WORDS; i++)
		hash += key->words[i] * s->factors[i];
	return &s->kept[hash >> (64 - KEPT_BITS)];
}

/* The stored arguments of a key, with one more user; NULL if there are none. */
static struct syscall_args *find_kept(const struct syscall_kinds *s, const struct args_key *key)
{
	struct kept_args *kept = place_of(s, key);

	if (!kept->args || memcmp(&kept->key, key, sizeof(*key)) != 0)
		return NULL;
	kept->args->users++;
	return kept->args;
}

/* Stores the text in s->text, in the place of another one. */
static struct syscall_args *store_args(struct syscall_kinds *s, const struct args_key *key)
{
	struct kept_args *kept = place_of(s, key);

	syscall_args_drop(s, kept->args);
	kept->key = *key;
	kept->args = args_new(s);
	if (kept->args)
		kept->args->users++;
	return kept->args;
}

static struct syscall_args *raw_args(struct syscall_kinds *s, const struct number *first,
				     const struct spur_record *r)
{
	struct args_key key = {0};
	struct syscall_args *args;

	if (first->size == sizeof(*key.words) && s->host_order)
		memcpy(key.words, r->data + first->offset, PRETTY_ARGS * sizeof(*key.words));
	else
		for (uint32_t i = 0; i < PRETTY_ARGS; i++)
			key.words[i] = record_uint(s->events, r, first->offset + i * first->size,
						   first->size);
	args = find_kept(s, &key);
	if (args)
		return args;
	buf_reset(&s->text);
	for (uint32_t i = 0; i < PRETTY_ARGS; i++) {
		if (i)
			buf_put(&s->text, ", ", 2);
		buf_hex(&s->text, key.words[i]);
	}
	return store_args(s, &key);
}

static struct syscall_args *own_args(struct syscall_kinds *s, struct event *e,
				     const struct spur_record *r)
{
	const bool fits = r->size <= sizeof(((struct args_key *)0)->words);
	struct args_key key = {.size = r->size};
	struct syscall_args *args = NULL;

	if (fits) {
		memcpy(key.words, r->data, r->size);
		args = find_kept(s, &key);
	}
	if (args)
		return args;
	buf_reset(&s->text);
	event_print(&s->printer, e, r, &s->text);
	return fits ? store_args(s, &key) : args_new(s);
}

static struct syscall_args *syscall_args(struct syscall_kinds *s, const struct syscall_kind *k,
					 struct event *e, const struct spur_record *r)
{
	if (k->source == SYSCALL_OWN)
		return own_args(s, e, r);
	if (k->args.size && k->args.offset <= r->size &&
	    PRETTY_ARGS * k->args.size <= r->size - k->args.offset)
		return raw_args(s, &k->args, r);
	return NULL;
}

/* ---- errors ---- */

static const char *syscall_error(const struct syscall_kinds *s, int64_t ret)
{
	const struct error_name *error =
		ret < 0 && ret >= -MAX_ERRNO ? pretty_errno((unsigned int)-ret, s->arch) : NULL;

	return error ? error->name : NULL;
}

/* ---- making ---- */

static void read_names(struct syscall_kinds *s)
{
	struct arch_walk w = {.arch = s->arch};

	while (s->arch && pretty_arch_next_call(&w))
		if (w.nr < NR_NAMES)
			s->names[w.nr] = intern_text(&s->texts, w.name, w.len);
}

static void choose_factors(struct syscall_kinds *s)
{
	const struct hash_seed seed = hash_seed_new();

	for (uint32_t i = 0; i < KEY_WORDS; i++)
		s->factors[i] = hash_add(&seed, 0, i) | 1;
}

static void syscall_kinds_free(struct syscall_kinds *s)
{
	if (!s)
		return;
	intern_free(&s->texts);
	arena_free(&s->arena);
	event_printer_done(&s->printer);
	buf_free(&s->text);
	for (uint32_t i = 0; s->kept && i < NR_KEPT; i++)
		syscall_args_drop(s, s->kept[i].args);
	syscall_args_age(s);
	syscall_args_age(s);
	free(s->kept);
	free(s->kinds);
	free(s);
}

/* For one trace, whose machine decides on names; NULL without memory. */
static struct syscall_kinds *syscall_kinds_new(struct spur_trace *t)
{
	struct syscall_kinds *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->events = t->events;
	s->arch = pretty_arch_find(t->dat->uname);
	intern_init(&s->texts, NAMES_LIMIT);
	arena_init(&s->arena, NAMES_LIMIT);
	buf_init(&s->text, ARGS_LIMIT);
	s->kinds = calloc(t->events->nr + 1, sizeof(struct syscall_kind *));
	s->host_order = t->events->big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	choose_factors(s);
	s->kept = calloc(NR_KEPT, sizeof(*s->kept));
	if (event_printer_init(&s->printer, t->events) < 0 || !s->kinds || !s->kept) {
		syscall_kinds_free(s);
		return NULL;
	}
	read_names(s);
	return s;
}

/* ---- calls ---- */

struct call {
	struct list open; /* points to itself if the call is not open */
	uint64_t ts;
	int64_t nr;
	const char *name;
	struct syscall_args *args; /* NULL: not known */
	int64_t left_nr;	   /* number of the call that ended last */
	uint64_t left;		   /* when it did */
	uint64_t seen;		   /* the border after which the task has been seen */
	int pid;
	uint32_t cpu;
	uint32_t losses; /* number of losses when it was entered */
	uint8_t by;	 /* enum syscall_source: which events of the entry came */
	uint8_t left_by; /* … and of the last exit; 0: the other event is not expected any more */
};

struct syscalls {
	const struct table_source *src;
	struct events *events;
	struct comm_times *comms;
	struct syscall_kinds *kinds;
	struct slots tasks;	   /* struct call */
	struct list open, leaving; /* leaving: those that do not return */
	struct losses losses;
	uint64_t border, borders; /* the time at which a call without an entry began; 0: none yet */
};

/* ---- rows ---- */

static void hand_out(struct syscalls *a, struct syscall_row *row)
{
	row->comm = comm_at(a->comms, (int)row->pid, row->ts);
	row->buffer = a->src->buffer->data->name;
	a->src->row(a->src->arg, row);
}

/* Ends a call; `row` has its return value if that is known. */
static void close_call(struct syscalls *a, struct call *c, struct syscall_row *row)
{
	row->ts = c->ts;
	row->cpu = c->cpu;
	row->pid = c->pid;
	row->name = c->name;
	row->nr = c->nr;
	row->args = c->args ? c->args->text : NULL;
	/* The analyses of other buffers count from 0, too. */
	row->args_id = (uint64_t)a->src->buffer->index << 48 | (c->args ? c->args->id : 0);
	hand_out(a, row);
	syscall_args_drop(a->kinds, c->args);
	c->args = NULL;
	list_remove(&c->open);
}

static void leave_open(struct syscalls *a, struct call *c, uint64_t ts)
{
	struct syscall_row row = {.dur = ns_span(c->ts, ts), .ret = ROW_NULL, .open = ROW_OPEN_END};

	/* A call that never returns has no duration. */
	if (syscall_never_returns(c->name))
		row.dur = ROW_NULL;
	close_call(a, c, &row);
	c->left_by = 0;
}

static void leave_all_open(struct syscalls *a, struct list *calls, uint64_t ts)
{
	while (!list_empty(calls))
		leave_open(a, list_entry(calls->next, struct call, open), ts);
}

/* Returns the rows of the calls that do not return, when no more events about them will come. */
static void let_go(struct syscalls *a, uint64_t ts)
{
	while (!list_empty(&a->leaving)) {
		struct call *c = list_entry(a->leaving.next, struct call, open);

		if (ts <= c->ts || ts - c->ts <= SAME_CALL)
			return;
		leave_open(a, c, ts);
	}
}

/* ---- records ---- */

static void enter(struct syscalls *a, struct call *c, const struct syscall_kind *k, struct event *e,
		  const struct spur_record *r, int64_t nr)
{
	const bool same = !list_empty(&c->open) && c->nr == nr && !(c->by & k->source) &&
			  c->cpu == r->cpu && ns_span(c->ts, r->ts) <= SAME_CALL;
	const char *name = syscall_name(a->kinds, k, nr);

	if (same)
		syscall_args_drop(a->kinds, c->args);
	else if (!list_empty(&c->open))
		leave_open(a, c, r->ts);
	c->by = (uint8_t)(same ? c->by | k->source : k->source);
	c->name = name || !same ? name : c->name;
	c->ts = r->ts;
	c->nr = nr;
	c->cpu = r->cpu;
	c->losses = a->losses.n;
	c->args = a->src->brief ? NULL : syscall_args(a->kinds, k, e, r);
	c->left_by = 0;
	list_move_last(&c->open, syscall_never_returns(c->name) ? &a->leaving : &a->open);
}

/* An exit of a task that has entered nothing. */
static void leave_unknown(struct syscalls *a, struct call *c, const struct syscall_kind *k,
			  const struct spur_record *r, int64_t nr, int64_t ret)
{
	struct syscall_row row = {.ts = a->border,
				  .dur = ns_span(a->border, r->ts),
				  .cpu = ROW_NULL,
				  .pid = c->pid,
				  .name = syscall_name(a->kinds, k, nr),
				  .nr = nr,
				  .ret = ret,
				  .error = syscall_error(a->kinds, ret),
				  .open = ROW_OPEN_START};

	c->left_by = (uint8_t)k->source;
	c->left_nr = nr;
	c->left = r->ts;
	if (c->seen != a->borders && a->borders && !syscall_is_birth(row.name, ret))
		hand_out(a, &row);
}

/* Whether an exit belongs to the call that its task has entered last. */
static bool is_exit_of(const struct syscalls *a, const struct call *c, const struct spur_record *r,
		       int64_t nr)
{
	/* After a return from a signal, and on some machines after exec, the number is -1. */
	if (c->nr != nr && nr != -1)
		return false;
	return !losses_since(&a->losses, c->ts, c->losses) ||
	       (c->cpu == r->cpu && ns_span(c->ts, r->ts) < SHORT_STAY);
}

/* Whether this is the second of the two events of an exit. */
static bool is_second_exit(const struct call *c, const struct syscall_kind *k,
			   const struct spur_record *r, int64_t nr)
{
	return c->left_by && !(c->left_by & k->source) && (c->left_nr == nr || nr == -1) &&
	       ns_span(c->left, r->ts) <= SAME_CALL;
}

static void leave(struct syscalls *a, struct call *c, const struct syscall_kind *k,
		  const struct spur_record *r, int64_t nr)
{
	const int64_t ret = number_in(&k->ret, r) ? number_get(a->events, &k->ret, r) : ROW_NULL;
	const bool open = !list_empty(&c->open);

	if (open && is_exit_of(a, c, r, nr)) {
		struct syscall_row row = {.dur = ns_span(c->ts, r->ts),
					  .ret = ret,
					  .error = syscall_error(a->kinds, ret)};

		close_call(a, c, &row);
		c->left_by = (uint8_t)k->source;
		c->left_nr = c->nr;
		c->left = r->ts;
	} else if (open) {
		/* Is it of a call that was entered while events were lost? */
		leave_open(a, c, c->seen != a->borders ? a->border : r->ts);
		leave_unknown(a, c, k, r, nr, ret);
	} else if (is_second_exit(c, k, r, nr)) {
		c->left_by = 0;
	} else {
		leave_unknown(a, c, k, r, nr, ret);
	}
}

static void syscalls_record(void *analysis, struct event *e, const struct spur_record *r)
{
	struct syscalls *a = analysis;
	const struct syscall_kind *k = syscall_kind_of(a->kinds, e);
	const int pid = events_record_pid(a->events, r);
	struct call *c;
	int64_t nr;

	syscall_args_age(a->kinds);
	let_go(a, r->ts);
	if (k->what == SYSCALL_NOTHING || !number_in(&k->nr, r))
		return;
	c = slots_get(&a->tasks, task_key(pid, r->cpu));
	if (!c) {
		*a->src->failed = -E2BIG;
		return;
	}
	if (!c->open.next) {
		list_init(&c->open);
		c->pid = pid;
	}
	nr = number_get(a->events, &k->nr, r);
	if (k->what == SYSCALL_ENTER)
		enter(a, c, k, e, r, nr);
	else
		leave(a, c, k, r, nr);
	c->seen = a->borders;
}

/* Ends as open all calls that are not short, or that were entered on the CPU. */
static void lose(struct syscalls *a, struct list *calls, uint32_t cpu, uint64_t ts)
{
	for (struct list *l = calls->next, *next; l != calls; l = next) {
		struct call *c = list_entry(l, struct call, open);

		next = l->next;
		if (c->cpu == cpu || ns_span(c->ts, ts) >= SHORT_STAY)
			leave_open(a, c, ts);
	}
}

static void syscalls_losing(void *analysis, uint32_t cpu, uint64_t from, uint64_t to)
{
	struct syscalls *a = analysis;

	losses_add(&a->losses, to);
	if (!from)
		return;
	lose(a, &a->open, cpu, from);
	lose(a, &a->leaving, cpu, from);
	a->border = from;
	a->borders++;
}

static void syscalls_end(void *analysis, uint64_t ts)
{
	struct syscalls *a = analysis;

	leave_all_open(a, &a->open, ts);
	leave_all_open(a, &a->leaving, ts);
}

static bool began_by(const struct list *calls, uint64_t ts)
{
	return !list_empty(calls) && list_entry(calls->next, struct call, open)->ts <= ts;
}

static bool syscalls_pending(const void *analysis, uint64_t ts)
{
	const struct syscalls *a = analysis;

	return began_by(&a->open, ts) || began_by(&a->leaving, ts) ||
	       (a->borders && a->border <= ts);
}

/* ---- making ---- */

static void forget_all(struct syscalls *a, struct list *calls)
{
	while (!list_empty(calls)) {
		struct call *c = list_entry(calls->next, struct call, open);

		syscall_args_drop(a->kinds, c->args);
		list_remove(&c->open);
	}
}

static void syscalls_free(void *analysis)
{
	struct syscalls *a = analysis;

	forget_all(a, &a->open);
	forget_all(a, &a->leaving);
	slots_free(&a->tasks);
	comm_times_free(a->comms);
	syscall_kinds_free(a->kinds);
}

static int syscalls_begin(void *analysis, const struct table_source *src)
{
	struct syscalls *a = analysis;

	a->src = src;
	a->events = src->trace->events;
	list_init(&a->open);
	list_init(&a->leaving);
	slots_init(&a->tasks, sizeof(struct call), TASKS_LIMIT);
	a->kinds = syscall_kinds_new(src->trace);
	a->border = buffer_start(src->buffer);
	a->borders = src->since <= a->border;
	return a->kinds ? comm_times_for(src, &a->comms) : -ENOMEM;
}

#define COLUMN(kind, member, about) ROW_COLUMN(syscall_row, kind, member, about)

static const struct column columns[] = {
	COLUMN(TIME, ts, "when it was entered"),
	COLUMN(DURATION, dur, "until it returned"),
	COLUMN(NUMBER, cpu, "it was entered on"),
	COLUMN(NUMBER, pid, "the task"),
	COLUMN(TEXT, comm, "the task's name"),
	COLUMN(TEXT, name, "of the call"),
	COLUMN(NUMBER, nr, "the call's number"),
	COLUMN(TEXT, args, "its arguments as the report shows them"),
	COLUMN(NUMBER, ret, "what it returned"),
	COLUMN(TEXT, error, "the name of the error that it returned"),
	ROW_NAMES(syscall_row, open, row_open_names, "the end that is not known: start, end"),
	COLUMN(TEXT, buffer, "it was recorded in"),
};

static const char *const events[] = {
	"raw_syscalls:sys_enter",
	"raw_syscalls:sys_exit",
	"syscalls:sys_enter_*",
	"syscalls:sys_exit_*",
	NULL,
};

const struct table syscalls_table = {
	.name = "syscalls",
	.about = "system calls: entry and exit joined",
	.columns = columns,
	.nr_columns = ARRAY_SIZE(columns),
	.row_size = sizeof(struct syscall_row),
	.passing = "args",
	.events = events,
	.needs = events,
	.starts_anywhere = true,
	.looks_back = SAME_CALL, /* A call that was open at a loss may end as known (SHORT_STAY). */
	.analysis_size = sizeof(struct syscalls),
	.begin = syscalls_begin,
	.record = syscalls_record,
	.losing = syscalls_losing,
	.end = syscalls_end,
	.free = syscalls_free,
	.pending = syscalls_pending,
};
