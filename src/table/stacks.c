// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Stacks and the events they belong to.
 *
 * The kernel writes a stack right after its event, by the same task and in the same context. Only
 * an interrupt can write between the two on that CPU. So a CPU has one event in each context that
 * may still get a stack: the task, a softirq, an interrupt, an NMI. A stack whose event was lost
 * has a row without one.
 */
#include "table/stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "table/analysis.h"
#include "base/array.h"
#include "base/file.h"
#include "base/vec.h"
#include "event/names.h"

#define STACKS_LIMIT (32u << 20)
#define TEXT_LIMIT   (64u << 10) /* bytes of one */
#define MAX_FRAMES   1024
#define TRAMPOLINE   0x7fffffffu /* the address that the kernel writes for ftrace's own code */
#define CPUS_LIMIT   (16u << 20)
#define NEAR_CPUS    64 /* with numbers below are found at once */

/* common_flags */
#define IN_HARDIRQ (1 << 3)
#define IN_SOFTIRQ (1 << 4)
#define IN_NMI	   (1 << 6)

/* A stack with names. Equal stacks are one. */
struct folded {
	const char *text; /* "outer;…;inner" */
	const char *top;
	uint32_t depth;
	uint32_t nr;		 /* of addresses */
	int tgid;		 /* of a program's stack, if its mappings are known, else 0 */
	const uint64_t *address; /* the innermost first */
};

/* ---- stacks as text ---- */

/*
 * A trace has many records with stacks, but few different stacks: names are looked up once for each
 * different one. Beyond the limit of memory, stacks have no text.
 */

/* Two stacks, one after the other. */
struct joined {
	const struct folded *user, *kernel;
	const char *text;
};

/* Where an event has its addresses. */
struct layout {
	struct event *event; /* NULL: not looked at yet */
	uint32_t offset, size;
	uint32_t end; /* of a fixed array; 0: the addresses run to the record's end */
	struct number count, tgid;
};

struct folder {
	struct events *events;
	const char *suffix;
	struct arena arena;
	struct intern texts;
	struct hash_seed seed;
	struct map stacks, joins; /* by hash, or for a collision by the next free number */
	struct layout kernel, user;
	struct buf text;
	uint64_t address[MAX_FRAMES];
};

/* `suffix` is appended to every function of the kernel. NULL without memory. */
static struct folder *folder_new(struct events *ev, const char *suffix)
{
	struct folder *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->events = ev;
	f->suffix = suffix;
	f->seed = hash_seed_new();
	arena_init(&f->arena, STACKS_LIMIT);
	intern_init(&f->texts, STACKS_LIMIT);
	buf_init(&f->text, TEXT_LIMIT);
	return f;
}

static void folder_free(struct folder *f)
{
	if (!f)
		return;
	map_free(&f->stacks);
	map_free(&f->joins);
	intern_free(&f->texts);
	arena_free(&f->arena);
	buf_free(&f->text);
	free(f);
}

/* ---- names ---- */

/* A name as a part of a folded stack, which is one line and separated by semicolons. */
static void put_name(struct buf *out, const char *name)
{
	for (; *name; name++)
		buf_putc(out, *name == ';' || (unsigned char)*name < ' ' ? '_' : *name);
}

static void put_address(struct buf *out, uint64_t addr)
{
	buf_puts(out, "0x");
	buf_hex(out, addr);
}

static void put_kernel(struct folder *f, uint64_t addr)
{
	const struct symbol *s = symbols_find(f->events->symbols, addr);

	if (s)
		put_name(&f->text, s->name);
	else if (addr == TRAMPOLINE)
		buf_puts(&f->text, "[FTRACE TRAMPOLINE]");
	else
		put_address(&f->text, addr);
	buf_puts(&f->text, f->suffix);
}

static void put_user(struct folder *f, int tgid, uint64_t addr)
{
	struct events *ev = f->events;
	uint64_t start = 0;
	const char *path = ev->map_of ? ev->map_of(ev->map_arg, tgid, addr, &start) : NULL;

	if (path) {
		put_name(&f->text, file_name_of(path));
		buf_putc(&f->text, '+');
	}
	put_address(&f->text, addr - start);
}

/* ---- stacks ---- */

static bool same(const struct folded *s, const uint64_t *address, uint32_t nr, int tgid)
{
	return s->nr == nr && s->tgid == tgid &&
	       memcmp(s->address, address, nr * sizeof(*address)) == 0;
}

/* The text of what f->address holds, and where in it the innermost function begins. */
static const char *fold(struct folder *f, uint32_t nr, int tgid, bool user, size_t *top)
{
	buf_reset(&f->text);
	for (uint32_t i = nr; i-- > 0;) {
		if (i + 1 < nr)
			buf_putc(&f->text, ';');
		*top = f->text.len;
		if (user)
			put_user(f, tgid, f->address[i]);
		else
			put_kernel(f, f->address[i]);
	}
	return buf_full(&f->text) ? NULL : intern_text(&f->texts, f->text.data, f->text.len);
}

static const struct folded *store_stack(struct folder *f, uint64_t hash, uint32_t nr, int tgid,
					bool user)
{
	struct folded *s = arena_alloc(&f->arena, sizeof(*s));
	uint64_t *address = arena_array(&f->arena, nr, sizeof(*address));
	size_t top = 0;

	if (!s || !address)
		return NULL;
	memcpy(address, f->address, nr * sizeof(*address));
	*s = (struct folded){.depth = nr, .nr = nr, .tgid = tgid, .address = address};
	s->text = fold(f, nr, tgid, user, &top);
	s->top = s->text ? s->text + top : NULL;
	return map_set(&f->stacks, hash, s) ? s : NULL;
}

/* The stack that f->address holds. */
static const struct folded *find(struct folder *f, uint32_t nr, int tgid, bool user)
{
	uint64_t hash = hash_bytes(&f->seed, f->address, nr * sizeof(f->address[0]));
	const struct folded *s;

	if (!nr)
		return NULL;
	hash = hash_add(&f->seed, hash, (uint64_t)(uint32_t)tgid << 1 | user);
	for (; (s = map_get(&f->stacks, hash)) != NULL; hash++)
		if (same(s, f->address, nr, tgid))
			return s;
	return store_stack(f, hash, nr, tgid, user);
}

/* ---- records ---- */

static const struct layout *layout_of(struct folder *f, struct layout *l, struct event *e)
{
	const struct event_field *caller;

	if (l->event == e)
		return l;
	*l = (struct layout){.event = e, .size = f->events->long_size == 4 ? 4 : 8};
	caller = event_field_find(e, "caller");
	l->offset = caller ? caller->offset : UINT32_MAX;
	l->count = number_of(e, "size");
	l->tgid = number_of(e, "tgid");
	/*
	 * If the record has the number of addresses, the array length in the format means nothing.
	 */
	if (caller && !l->count.size && caller->array_len)
		l->end = caller->offset + caller->size;
	return l;
}

/* Reads the addresses; returns how many. */
static uint32_t read_stack(struct folder *f, const struct layout *l, const struct spur_record *r)
{
	const uint32_t end = l->end && l->end < r->size ? l->end : r->size;
	uint64_t most = MAX_FRAMES;
	uint32_t nr = 0;

	if (number_in(&l->count, r)) {
		const uint64_t said = (uint64_t)number_get(f->events, &l->count, r);

		most = said < most ? said : most;
	}
	for (uint32_t at = l->offset; nr < most && at <= end && end - at >= l->size;
	     at += l->size) {
		const uint64_t addr = record_uint(f->events, r, at, l->size);

		if (!addr || (uint32_t)addr == UINT32_MAX)
			break;
		f->address[nr++] = addr;
	}
	return nr;
}

/*
 * The stack in a record of kernel_stack or user_stack; NULL if there is none, or beyond the limit.
 */
static const struct folded *folder_kernel(struct folder *f, struct event *e,
					  const struct spur_record *r)
{
	return find(f, read_stack(f, layout_of(f, &f->kernel, e), r), 0, false);
}

static const struct folded *folder_user(struct folder *f, struct event *e,
					const struct spur_record *r)
{
	const struct layout *l = layout_of(f, &f->user, e);
	int tgid = 0;

	if (f->events->map_of && number_in(&l->tgid, r))
		tgid = (int)number_get(f->events, &l->tgid, r);
	return find(f, read_stack(f, l, r), tgid, true);
}

/* ---- both ---- */

static const char *join(struct folder *f, uint64_t hash, const struct folded *user,
			const struct folded *kernel)
{
	struct joined *j = arena_alloc(&f->arena, sizeof(*j));

	if (!j || !user->text || !kernel->text)
		return NULL;
	buf_reset(&f->text);
	buf_puts(&f->text, user->text);
	buf_putc(&f->text, ';');
	buf_puts(&f->text, kernel->text);
	*j = (struct joined){user, kernel, NULL};
	if (!buf_full(&f->text))
		j->text = intern_text(&f->texts, f->text.data, f->text.len);
	return map_set(&f->joins, hash, j) ? j->text : NULL;
}

/* "user's;kernel's", of which one may be NULL. It lives as long as the folder. */
static const char *folder_join(struct folder *f, const struct folded *user,
			       const struct folded *kernel)
{
	uint64_t hash =
		hash_add(&f->seed, hash_add(&f->seed, 0, (uintptr_t)user), (uintptr_t)kernel);
	const struct joined *j;

	if (!user || !kernel)
		return user ? user->text : kernel ? kernel->text : NULL;
	for (; (j = map_get(&f->joins, hash)) != NULL; hash++)
		if (j->user == user && j->kernel == kernel)
			return j->text;
	return join(f, hash, user, kernel);
}

/* ---- events and their stacks ---- */

enum context { TASK, SOFTIRQ, HARDIRQ, NMI, NR_CONTEXTS };

/* An event that may get stacks. */
struct subject {
	const struct event *event; /* NULL: lost */
	int pid;
	const struct folded *user, *kernel; /* only valid if it is `stacked` */
};

struct cpu {
	uint32_t cpu;
	bool listed;
	/* A bit per context, as every record changes several: */
	uint8_t valid;	 /* the context has a subject */
	uint8_t stacked; /* the subject has a stack */
	uint8_t known;	 /* whether the event of a stack without one is known to be lost, … */
	uint64_t border[NR_CONTEXTS]; /* … at this time or later; the time of a subject */
	struct subject subjects[NR_CONTEXTS];
};

struct stacks {
	const struct table_source *src;
	struct events *events;
	struct comm_times *comms;
	struct folder *folder;
	bool samples; /* which of the two tables this is */
	const struct event *kernel, *user;
	struct slots cpus;
	struct cpu *near[NEAR_CPUS];
	vec_of(struct cpu *) all;
};

/* ---- rows ---- */

static void sample(const struct stacks *a, const struct cpu *c, int context)
{
	const struct subject *s = &c->subjects[context];
	const struct sample_row row = {
		.ts = c->border[context],
		.cpu = c->cpu,
		.pid = s->pid,
		.comm = comm_at(a->comms, s->pid, c->border[context]),
		.event = s->event ? s->event->name : NULL,
		.system = s->event ? s->event->system : NULL,
		.depth = (int64_t)(s->user ? s->user->depth : 0) +
			 (s->kernel ? s->kernel->depth : 0),
		.stack = folder_join(a->folder, s->user, s->kernel),
		.buffer = a->src->buffer->data->name,
	};

	a->src->row(a->src->arg, &row);
}

static void stack(const struct stacks *a, const struct cpu *c, int context,
		  const struct folded *folded, enum stack_kind kind)
{
	const struct subject *s = &c->subjects[context];
	const struct stack_row row = {
		.ts = c->border[context],
		.cpu = c->cpu,
		.pid = s->pid,
		.comm = comm_at(a->comms, s->pid, c->border[context]),
		.kind = kind,
		.event = s->event ? s->event->name : NULL,
		.system = s->event ? s->event->system : NULL,
		.depth = folded->depth,
		.top = folded->top,
		.stack = folded->text,
		.buffer = a->src->buffer->data->name,
	};

	a->src->row(a->src->arg, &row);
}

/* The contexts from this one on, as bits. */
static inline uint8_t bits_from(enum context from)
{
	return (uint8_t)(((1u << NR_CONTEXTS) - 1) & ~((1u << from) - 1));
}

static void hand_out_samples(const struct stacks *a, const struct cpu *c, enum context from)
{
	for (int i = NR_CONTEXTS - 1; i >= (int)from; i--)
		if (c->valid & c->stacked & 1u << i)
			sample(a, c, i);
}

/* No more stacks will come for the subjects of this context and of those that interrupt it. */
static inline void finish(const struct stacks *a, struct cpu *c, enum context from)
{
	if (__builtin_expect(c->stacked & bits_from(from), 0) && a->samples)
		hand_out_samples(a, c, from);
	c->valid &= (uint8_t)~bits_from(from);
	c->stacked &= (uint8_t)~bits_from(from);
}

/* ---- records ---- */

/* Everything before this time in the contexts from this one on is complete. */
static inline void set_border(struct cpu *c, enum context from, uint64_t ts)
{
	c->known |= bits_from(from);
	/* Nearly always all of them, which is a loop of a known length. */
	if (from == TASK)
		for (int i = 0; i < NR_CONTEXTS; i++)
			c->border[i] = ts;
	else
		for (int i = from; i < NR_CONTEXTS; i++)
			c->border[i] = ts;
}

static struct cpu *find_cpu(struct stacks *a, uint32_t cpu)
{
	struct cpu *c = slots_get(&a->cpus, cpu);

	if (!c || c->listed)
		return c;
	if (!vec_add(&a->all, &c))
		return NULL;
	c->listed = true;
	c->cpu = cpu;
	if (cpu < NEAR_CPUS)
		a->near[cpu] = c;
	return c;
}

static inline struct cpu *cpu_of(struct stacks *a, uint32_t cpu)
{
	return cpu < NEAR_CPUS && a->near[cpu] ? a->near[cpu] : find_cpu(a, cpu);
}

static inline enum context context_of(unsigned int flags)
{
	if (__builtin_expect(!(flags & (IN_NMI | IN_HARDIRQ | IN_SOFTIRQ)), 1))
		return TASK;
	if (flags & IN_NMI)
		return NMI;
	return flags & IN_HARDIRQ ? HARDIRQ : flags & IN_SOFTIRQ ? SOFTIRQ : TASK;
}

static inline void take_event(struct stacks *a, struct cpu *c, enum context context,
			      const struct event *e, const struct spur_record *r, int pid)
{
	finish(a, c, context);
	set_border(c, context, r->ts);
	c->subjects[context].event = e;
	c->subjects[context].pid = pid;
	c->valid |= (uint8_t)(1u << context);
}

static void take_stack(struct stacks *a, struct cpu *c, enum context context, struct event *e,
		       const struct spur_record *r, int pid)
{
	const bool user = e == a->user;
	const struct folded *folded =
		user ? folder_user(a->folder, e, r) : folder_kernel(a->folder, e, r);
	struct subject *s = &c->subjects[context];

	if (!(c->valid & 1u << context) || s->pid != pid) {
		if (!(c->known & 1u << context))
			return;
		finish(a, c, context);
		*s = (struct subject){.pid = pid};
		c->valid |= (uint8_t)(1u << context);
	}
	if (!folded)
		return;
	if (!(c->stacked & 1u << context))
		s->user = s->kernel = NULL;
	c->stacked |= (uint8_t)(1u << context);
	if (!a->samples)
		stack(a, c, context, folded, user ? STACK_USER : STACK_KERNEL);
	/*
	 * Of two stacks of the same kind, the first belongs to the event; a trigger may have
	 * written the other.
	 */
	if (user && !s->user)
		s->user = folded;
	else if (!user && !s->kernel)
		s->kernel = folded;
}

/* Nearly all records: those of a task, on a known CPU, not right after a stack. */
static inline bool take_usual(struct stacks *a, struct event *e, const struct spur_record *r)
{
	struct cpu *c = r->cpu < NEAR_CPUS ? a->near[r->cpu] : NULL;
	struct usual_head head;

	if (!c || c->stacked || e == a->kernel || e == a->user ||
	    !record_usual_head(a->events, r, &head) || context_of(head.flags) != TASK)
		return false;
	c->valid = 1u << TASK;
	set_border(c, TASK, r->ts);
	c->subjects[TASK].event = e;
	c->subjects[TASK].pid = head.pid;
	return true;
}

static void stacks_record(void *analysis, struct event *e, const struct spur_record *r)
{
	struct stacks *a = analysis;
	enum context context;
	struct cpu *c;
	int pid;

	if (take_usual(a, e, r))
		return;
	context = context_of(events_record_flags(a->events, r));
	pid = events_record_pid(a->events, r);
	c = cpu_of(a, r->cpu);
	if (!c)
		return;
	if (e == a->kernel || e == a->user)
		take_stack(a, c, context, e, r, pid);
	else
		take_event(a, c, context, e, r, pid);
}

/*
 * The records of a batch that matter, as bits. Without stacks, an event of a task replaces all
 * subjects of its CPU, so earlier events of the CPU do not matter.
 */
static uint64_t lasting(const struct stacks *a, const struct table_record *all, uint32_t n)
{
	const uint64_t every = UINT64_MAX >> (TABLE_BATCH - n);
	const struct event *kernel = a->kernel, *user = a->user;
	uint64_t last = 0, forgotten = 0;
	struct usual_head head;

	_Static_assert(TABLE_BATCH == 64 && NEAR_CPUS == 64, "each has a bit");
	for (const struct table_record *at = all + n; at-- > all;) {
		const uint32_t cpu = at->record.cpu;

		if (at->event == kernel || at->event == user)
			return every;
		if (cpu < NEAR_CPUS && forgotten >> cpu & 1)
			continue;
		last |= 1ull << (at - all);
		if (cpu < NEAR_CPUS && record_usual_head(a->events, &at->record, &head) &&
		    context_of(head.flags) == TASK)
			forgotten |= 1ull << cpu;
	}
	return last;
}

static void stacks_records(void *analysis, const struct table_record *all, uint32_t n)
{
	for (uint64_t left = lasting(analysis, all, n); left; left &= left - 1) {
		const struct table_record *t = &all[__builtin_ctzll(left)];

		stacks_record(analysis, t->event, &t->record);
	}
}

static void stacks_lost(void *analysis, uint32_t cpu, uint64_t from, uint64_t to)
{
	struct stacks *a = analysis;
	struct cpu *c = cpu_of(a, cpu);

	if (!c)
		return;
	finish(a, c, TASK);
	set_border(c, TASK, to);
}

static void stacks_end(void *analysis, uint64_t ts)
{
	struct stacks *a = analysis;

	for (size_t i = 0; i < a->all.n; i++)
		finish(a, a->all.at[i], TASK);
}

static bool stacks_pending(const void *analysis, uint64_t ts)
{
	const struct stacks *a = analysis;

	for (size_t i = 0; i < a->all.n; i++)
		for (int k = 0; k < NR_CONTEXTS; k++)
			if (a->all.at[i]->valid & 1u << k && a->all.at[i]->border[k] <= ts)
				return true;
	return false;
}

/* ---- making ---- */

static void stacks_free(void *analysis)
{
	struct stacks *a = analysis;

	folder_free(a->folder);
	comm_times_free(a->comms);
	vec_free(&a->all);
	slots_free(&a->cpus);
}

static int begin(struct stacks *a, const struct table_source *src, bool samples)
{
	const struct dat_buffer *b = src->buffer->data;

	a->src = src;
	a->events = src->trace->events;
	a->samples = samples;
	a->kernel = events_find(a->events, "ftrace", "kernel_stack");
	a->user = events_find(a->events, "ftrace", "user_stack");
	slots_init(&a->cpus, sizeof(struct cpu), CPUS_LIMIT);
	a->folder = folder_new(a->events, samples ? "_[k]" : "");
	a->comms = src->nameless ? NULL : comm_times_new(src->trace, src->stop);
	if (!a->folder || (!a->comms && !src->nameless))
		return -ENOMEM;
	for (uint32_t i = 0; !b->text && i < b->nr_cpus; i++) {
		const uint64_t start = cpu_start(src->buffer, &b->cpus[i]);
		struct cpu *c = start != UINT64_MAX ? cpu_of(a, b->cpus[i].cpu) : NULL;

		if (c && src->since <= start)
			set_border(c, TASK, start);
	}
	return 0;
}

static int stacks_begin(void *analysis, const struct table_source *src)
{
	return begin(analysis, src, false);
}

static int samples_begin(void *analysis, const struct table_source *src)
{
	return begin(analysis, src, true);
}

#define STACK(kind, member, about)  ROW_COLUMN(stack_row, kind, member, about)
#define SAMPLE(kind, member, about) ROW_COLUMN(sample_row, kind, member, about)

static const char *const stack_kind_names[] = {[STACK_KERNEL] = "kernel", [STACK_USER] = "user"};

static const struct column stack_columns[] = {
	STACK(TIME, ts, "of the event it belongs to"),
	STACK(NUMBER, cpu, "it was recorded on"),
	STACK(NUMBER, pid, "the task"),
	STACK(TEXT, comm, "the task's name"),
	ROW_NAMES(stack_row, kind, stack_kind_names, "kernel or user"),
	STACK(TEXT, event, "it belongs to"),
	STACK(NUMBER, depth, "functions in it"),
	STACK(TEXT, top, "the innermost function"),
	STACK(TEXT, stack, "outer;…;inner"),
	STACK(TEXT, buffer, "it was recorded in"),
};

static const struct column sample_columns[] = {
	SAMPLE(TIME, ts, "of the event"),
	SAMPLE(NUMBER, cpu, "it was recorded on"),
	SAMPLE(NUMBER, pid, "the task"),
	SAMPLE(TEXT, comm, "the task's name"),
	SAMPLE(TEXT, event, "the event"),
	SAMPLE(NUMBER, depth, "functions in the stack"),
	SAMPLE(TEXT, stack, "outer;…;inner, the kernel's functions with _[k]"),
	SAMPLE(TEXT, buffer, "it was recorded in"),
};

static const char *const events[] = {"*:*", NULL};
static const char *const needs[] = {"ftrace:kernel_stack", "ftrace:user_stack", NULL};

const struct table stacks_table = {
	.name = "stacks",
	.about = "stacks recorded with events",
	.columns = stack_columns,
	.nr_columns = ARRAY_SIZE(stack_columns),
	.row_size = sizeof(struct stack_row),
	.events = events,
	.needs = needs,
	.starts_anywhere = true,
	.analysis_size = sizeof(struct stacks),
	.begin = stacks_begin,
	.record = stacks_record,
	.records = stacks_records,
	.lost = stacks_lost,
	.end = stacks_end,
	.free = stacks_free,
	.pending = stacks_pending,
};

const struct table samples_table = {
	.name = "samples",
	.about = "events with stacks: the program's and the kernel's as one",
	.columns = sample_columns,
	.nr_columns = ARRAY_SIZE(sample_columns),
	.row_size = sizeof(struct sample_row),
	.events = events,
	.needs = needs,
	.starts_anywhere = true,
	.analysis_size = sizeof(struct stacks),
	.begin = samples_begin,
	.record = stacks_record,
	.records = stacks_records,
	.lost = stacks_lost,
	.end = stacks_end,
	.free = stacks_free,
	.pending = stacks_pending,
};
