// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Options about a recording: PROCMAPS of trace-cmd, and TASKS, FOLLOWED, FILTERS, HIDDEN and CUT,
 * which are spur's own. All but CUT are text. Tools that do not know an option skip it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/nanoseconds.h"
#include "base/num.h"
#include "base/vec.h"
#include "dat/dat.h"
#include "dat/load.h"

/* Reads a decimal number of at most `most` and the character after it; fails the cursor if not. */
static uint64_t read_number(struct cursor *c, uint64_t most, char end)
{
	uint64_t v = 0;
	bool any = false;

	for (;;) {
		const uint8_t byte = cursor_u8(c);

		if (any && byte == (uint8_t)end && !cursor_failed(c))
			return v;
		if (byte < '0' || byte > '9' || __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(byte - '0'), &v) || v > most)
			c->failed = true;
		if (cursor_failed(c))
			return 0;
		any = true;
	}
}

/* The text up to a character, which is skipped; NULL: there is none. */
static const char *read_until(struct dat_load *l, struct cursor *c, char end)
{
	const uint8_t *at = cursor_failed(c) ? NULL : memchr(c->pos, end, cursor_left(c));
	const char *text = at ? dat_text(l->d, c->pos, (size_t)(at - c->pos)) : NULL;

	if (at)
		cursor_skip(c, (uint64_t)(at - c->pos) + 1);
	return text;
}

/* ---- PROCMAPS ------------------------------------------------------------------------- */

/*
 * Where the libraries of traced processes lay, one paragraph a process:
 *
 *	PID COUNT NAME\n		both numbers in hexadecimal
 *	START END PATH\n		COUNT lines
 */

#define MAX_MAPS 65536u /* of one process */

/* Reads a hexadecimal number and the space after it. */
static uint64_t read_hex(struct cursor *c)
{
	uint64_t v = 0;
	bool any = false;

	for (;;) {
		const uint8_t byte = cursor_u8(c);
		const int digit = num_hex_digit((char)byte);

		if (digit >= 0)
			v = v << 4 | (uint64_t)digit;
		else if (byte == ' ' && any)
			return v;
		else
			c->failed = true;
		if (cursor_failed(c))
			return 0;
		any = true;
	}
}

static int by_start(const void *a, const void *b)
{
	const struct dat_map *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static bool read_process(struct dat_load *l, struct cursor *c, struct dat_process *p)
{
	uint64_t count;

	p->pid = (int32_t)read_hex(c);
	count = read_hex(c);
	p->name = read_until(l, c, '\n');
	if (!p->name || count > MAX_MAPS || count > cursor_left(c))
		return false;
	p->maps = arena_array(&l->d->arena, count + 1, sizeof(*p->maps));
	if (!p->maps)
		return false;
	for (; p->nr < count; p->nr++) {
		struct dat_map *m = &p->maps[p->nr];

		m->start = read_hex(c);
		m->end = read_hex(c);
		m->path = read_until(l, c, '\n');
		if (!m->path)
			return false;
	}
	qsort(p->maps, p->nr, sizeof(*p->maps), by_start);
	return true;
}

bool dat_decode_maps(struct dat_load *l, const struct dat_option *o, struct cursor *c)
{
	while (cursor_left(c) && *c->pos) {
		struct dat_process p = {0};

		if (!read_process(l, c, &p) || !vec_add(&l->processes, &p))
			return false;
	}
	return true;
}

/* Where the file that a map belongs to begins: its segments follow each other. */
static uint64_t file_start(const struct dat_process *p, uint32_t at)
{
	while (at && strcmp(p->maps[at - 1].path, p->maps[at].path) == 0)
		at--;
	return p->maps[at].start;
}

const char *dat_map_find(const struct dat *d, int32_t pid, uint64_t addr, uint64_t *start)
{
	for (size_t i = 0; i < d->nr_processes; i++) {
		const struct dat_process *p = &d->processes[i];

		for (uint32_t k = 0; p->pid == pid && k < p->nr; k++) {
			if (addr < p->maps[k].start || addr >= p->maps[k].end)
				continue;
			*start = file_start(p, k);
			return p->maps[k].path;
		}
	}
	return NULL;
}

/* ---- TASKS ---------------------------------------------------------------------------- */

/*
 * Names, processes and parents of tasks, and when they changed:
 *
 *	1 LOST\n				the version; how many changes were lost
 *	KIND PID TGID PPID TIME NAME\n		any number of them
 *
 *	KIND	s   it existed before the first change that is listed; its time means nothing
 *		n   it was created
 *		c   its name or its process changed
 *	TGID	its process; 0: not known
 *	PPID	the process that created it, or its parent when the recording began; 0: not known
 *	TIME	of the clock of the first buffer that has pages, as the ring buffer has it
 *	NAME	the rest of the line; it may be empty and may contain blanks
 *
 * An entry is valid until the next one of the same PID. If there are several options, the last one
 * counts, because it was written later.
 */

#define TASKS_VERSION 1
#define MAX_TASKS     (1u << 22)

static bool read_kind(struct cursor *c, enum dat_task_kind *kind)
{
	static const char letters[] = {
		[DAT_TASK_THERE] = 's', [DAT_TASK_NEW] = 'n', [DAT_TASK_CHANGED] = 'c'};
	const uint8_t letter = cursor_u8(c);

	for (size_t i = 0; i < sizeof(letters); i++)
		if (letter == (uint8_t)letters[i] && cursor_u8(c) == ' ') {
			*kind = (enum dat_task_kind)i;
			return !cursor_failed(c);
		}
	return false;
}

static bool read_task(struct dat_load *l, struct cursor *c, struct dat_task *t)
{
	if (!read_kind(c, &t->kind))
		return false;
	t->pid = (int32_t)read_number(c, INT32_MAX, ' ');
	t->tgid = (int32_t)read_number(c, INT32_MAX, ' ');
	t->ppid = (int32_t)read_number(c, INT32_MAX, ' ');
	t->ts = read_number(c, UINT64_MAX, ' ');
	t->name = read_until(l, c, '\n');
	return t->name && t->pid;
}

bool dat_decode_tasks(struct dat_load *l, const struct dat_option *o, struct cursor *c)
{
	l->tasks.n = 0;
	if (read_number(c, UINT64_MAX, ' ') != TASKS_VERSION)
		return cursor_left(c) > 0; /* of a later version, which is not known */
	l->d->tasks_lost = read_number(c, UINT64_MAX, '\n');
	while (cursor_left(c)) {
		struct dat_task t = {.order = (uint32_t)l->tasks.n};

		if (!read_task(l, c, &t) || l->tasks.n >= MAX_TASKS || !vec_add(&l->tasks, &t))
			return false;
	}
	return !cursor_failed(c);
}

static int by_pid(const void *a, const void *b)
{
	const struct dat_task *x = a, *y = b;
	const bool x_later = x->kind != DAT_TASK_THERE, y_later = y->kind != DAT_TASK_THERE;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x_later != y_later)
		return x_later - y_later;
	if (x_later && x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

void dat_sort_tasks(struct dat_load *l)
{
	if (l->tasks.n)
		qsort(l->tasks.at, l->tasks.n, sizeof(*l->tasks.at), by_pid);
}

const struct dat_task *dat_task_find(const struct dat *d, int32_t pid, size_t *n)
{
	size_t first, end;

	binary_search(first, 0, d->nr_tasks, d->tasks[first].pid < pid);
	for (end = first; end < d->nr_tasks && d->tasks[end].pid == pid; end++)
		;
	*n = end - first;
	return *n ? &d->tasks[first] : NULL;
}

/* ---- FOLLOWED ------------------------------------------------------------------------- */

/*
 * The tasks whose events were recorded, if these are not all tasks:
 *
 *	1 CHILDREN\n		the version; 1: tasks that these created were followed too
 *	PID\n			any number of them
 *
 * The kernel records a switch when it is from or to such a task, and other events when such a task
 * writes them. Who ran on a CPU otherwise is not in the file.
 */

#define FOLLOWED_VERSION 1
#define MAX_FOLLOWED	 (1u << 22)

struct pids {
	int32_t *at;
	size_t n, cap;
};

static int by_number(const void *a, const void *b)
{
	const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

static bool is_in(const int32_t *pids, size_t n, int32_t pid)
{
	return n && bsearch(&pid, pids, n, sizeof(pid), by_number);
}

bool dat_decode_followed(struct dat_load *l, const struct dat_option *o, struct cursor *c)
{
	struct dat_followed *f = &l->d->followed;
	size_t n = 0;

	/* A later version is not known. */
	if (read_number(c, UINT64_MAX, ' ') != FOLLOWED_VERSION)
		return cursor_left(c) > 0;
	f->children = read_number(c, 1, '\n') != 0;
	f->pids = arena_array(&l->d->arena, cursor_left(c) / 2 + 1, sizeof(*f->pids));
	if (!f->pids)
		return false;
	while (cursor_left(c) > 1 && n < MAX_FOLLOWED)
		f->pids[n++] = (int32_t)read_number(c, INT32_MAX, '\n');
	if (cursor_failed(c))
		return false;
	f->is = true;
	f->nr = n;
	qsort(f->pids, n, sizeof(*f->pids), by_number);
	return true;
}

/* Adds tasks that followed ones have created. Returns whether there were any. */
static bool add_children(const struct dat *d, struct pids *p)
{
	const size_t before = p->n;

	for (size_t i = 0; i < d->nr_tasks; i++) {
		const struct dat_task *t = &d->tasks[i];

		if (t->kind != DAT_TASK_NEW || is_in(p->at, before, t->pid) ||
		    !(is_in(p->at, before, t->ppid) || is_in(p->at, before, t->tgid)))
			continue;
		if (!vec_add(p, &t->pid))
			return false;
	}
	qsort(p->at, p->n, sizeof(*p->at), by_number);
	return p->n > before;
}

void dat_find_followed(struct dat_load *l)
{
	struct dat_followed *f = &l->d->followed;
	struct pids p = {0};
	int32_t *all;

	if (!f->is || !f->children || !l->d->nr_tasks)
		return;
	for (size_t i = 0; i < f->nr; i++)
		vec_add(&p, &f->pids[i]);
	while (p.n && add_children(l->d, &p))
		;
	all = arena_copy(&l->d->arena, p.at, p.n, sizeof(*all));
	if (all && p.n > f->nr) {
		f->pids = all;
		f->nr = p.n;
	}
	vec_free(&p);
}

bool dat_follows(const struct dat *d, int32_t pid)
{
	return !d->followed.is || is_in(d->followed.pids, d->followed.nr, pid);
}

/* ---- FILTERS -------------------------------------------------------------------------- */

/*
 * Which of the scheduler's events went through a filter:
 *
 *	1\n				the version
 *	BUFFER\tSYSTEM:EVENT\tFILTER\n	any number of them; the top buffer has no name
 *
 * Such an event may have happened even if it is not in the file.
 */

#define FILTERS_VERSION 1
#define MAX_FILTERS	4096

bool dat_decode_filters(struct dat_load *l, const struct dat_option *o, struct cursor *c)
{
	struct dat_filters *f = &l->d->filters;

	f->nr = 0;
	/* A later version is not known. */
	if (read_number(c, UINT64_MAX, '\n') != FILTERS_VERSION)
		return cursor_left(c) > 0;
	f->at = arena_array(&l->d->arena, MAX_FILTERS, sizeof(*f->at));
	while (f->at && cursor_left(c) > 1) {
		struct dat_filter *to = &f->at[f->nr];

		to->buffer = read_until(l, c, '\t');
		to->event = read_until(l, c, '\t');
		to->text = read_until(l, c, '\n');
		if (!to->buffer || !to->event || !to->text || ++f->nr == MAX_FILTERS)
			return false;
	}
	return f->at != NULL;
}

bool dat_filtered(const struct dat *d, const char *buffer, const char *event)
{
	for (size_t i = 0; i < d->filters.nr; i++)
		if (strcmp(d->filters.at[i].buffer, buffer) == 0 &&
		    strcmp(d->filters.at[i].event, event) == 0)
			return true;
	return false;
}

/* ---- HIDDEN --------------------------------------------------------------------------- */

/*
 * The tasks whose events were not recorded, such as the recorder itself:
 *
 *	1\n			the version
 *	BUFFER\tPID\n		any number of them, those of a buffer in a row
 *
 * The kernel leaves out a switch only if both tasks are hidden (set_event_notrace_pid). So a task
 * that is the only hidden one of its buffer has all of its switches there: it is not listed.
 */

#define HIDDEN_VERSION 1
#define MAX_HIDDEN     (1u << 16)

static int by_hidden_pid(const void *a, const void *b)
{
	const int32_t x = ((const struct dat_hidden_task *)a)->pid;
	const int32_t y = ((const struct dat_hidden_task *)b)->pid;

	return (x > y) - (x < y);
}

/* The tasks of a buffer begin at `from`. A single one does not count. */
static void end_buffer(struct dat_hidden *h, size_t from)
{
	if (h->nr - from == 1)
		h->nr = from;
}

bool dat_decode_hidden(struct dat_load *l, const struct dat_option *o, struct cursor *c)
{
	struct dat_hidden *h = &l->d->hidden;
	const size_t most = cursor_left(c) / 3 + 1;
	size_t from = 0;

	*h = (struct dat_hidden){0};
	/* A later version is not known. */
	if (read_number(c, UINT64_MAX, '\n') != HIDDEN_VERSION)
		return cursor_left(c) > 0;
	h->at = arena_array(&l->d->arena, most < MAX_HIDDEN ? most : MAX_HIDDEN, sizeof(*h->at));
	while (h->at && cursor_left(c) > 1 && h->nr < most && h->nr < MAX_HIDDEN) {
		const char *buffer = read_until(l, c, '\t');
		const int32_t pid = (int32_t)read_number(c, INT32_MAX, '\n');

		if (!buffer || cursor_failed(c)) {
			h->nr = 0;
			return false;
		}
		if (h->nr > from && strcmp(h->at[from].buffer, buffer) != 0) {
			end_buffer(h, from);
			from = h->nr;
		}
		h->at[h->nr++] = (struct dat_hidden_task){buffer, pid};
	}
	end_buffer(h, from);
	if (h->nr)
		qsort(h->at, h->nr, sizeof(*h->at), by_hidden_pid);
	for (size_t i = 0; i < h->nr; i++)
		h->bits |= dat_pid_bit(h->at[i].pid);
	return h->at != NULL;
}

bool dat_hides_slow(const struct dat *d, const char *buffer, int32_t pid)
{
	const struct dat_hidden *h = &d->hidden;
	size_t i;

	binary_search(i, 0, h->nr, h->at[i].pid < pid);
	for (; i < h->nr && h->at[i].pid == pid; i++)
		if (strcmp(h->at[i].buffer, buffer) == 0)
			return true;
	return false;
}

/*
 * Hidden tasks are not mentioned: nearly every recording has some, and they are the recorder's own.
 */
bool dat_missing_words(const struct dat *d, char text[static DAT_MISSING_WORDS])
{
	int len = 0;

	if (d->followed.is && !d->followed.nr)
		len = snprintf(text, DAT_MISSING_WORDS,
			       "no task was followed in all buffers; what tasks did is unknown");
	else if (d->followed.is)
		len = snprintf(text, DAT_MISSING_WORDS,
			       "only the events of %zu task%s were recorded; what others did is "
			       "unknown",
			       d->followed.nr, d->followed.nr == 1 ? "" : "s");
	for (size_t i = 0; i < d->filters.nr; i++) {
		const struct dat_filter *f = &d->filters.at[i];

		if (strcmp(f->event, "sched:sched_switch") != 0)
			continue;
		snprintf(text + len, DAT_MISSING_WORDS - (size_t)len,
			 "%sonly switches with '%.150s%s' were recorded; what tasks did in between "
			 "is unknown",
			 len ? "; " : "", f->text, strlen(f->text) > 150 ? "â¦" : "");
		return true;
	}
	return len > 0;
}

/*
 * ---- DAT_OPT_CUT ----
 *
 * The option of an incomplete recording: how far it goes, and what is missing. A guardian writes it
 * after the recorder was killed: it saves what is left in the kernel's buffers and finishes the
 * file.
 *
 *	u32 version: 1    u32 number of streams
 *	each: u32 buffer, u32 CPU, u64 last, u64 between, u64 after
 *	u32 cause, of enum dat_cut_cause; may be left out: 0
 */

#define CUT_VERSION 1
#define CUT_EACH    32 /* bytes of a stream */

void dat_cut_put(const struct dat_cut *cut, bool big_endian, struct buf *to)
{
	buf_uint(to, CUT_VERSION, 4, big_endian);
	buf_uint(to, cut->nr, 4, big_endian);
	for (uint32_t i = 0; i < cut->nr; i++) {
		const struct dat_cut_cpu *c = &cut->cpus[i];

		buf_uint(to, c->buffer, 4, big_endian);
		buf_uint(to, c->cpu, 4, big_endian);
		buf_uint(to, c->last, 8, big_endian);
		buf_uint(to, c->between, 8, big_endian);
		buf_uint(to, c->after, 8, big_endian);
	}
	buf_uint(to, cut->cause, 4, big_endian);
}

const char *dat_cut_why(const struct dat_cut *cut)
{
	if (cut->cause == DAT_CUT_OVERWRITTEN)
		return "the file was overwritten while it was recorded";
	return cut->cause == DAT_CUT_UNWRITTEN ? "the file could not be written further"
					       : "the recorder was killed";
}

bool dat_decode_cut(struct dat_load *l, const struct dat_option *o, struct cursor *c)
{
	struct dat_cut *cut = &l->d->cut;
	uint32_t version = cursor_u32(c), nr = cursor_u32(c);

	if (cursor_failed(c) || version != CUT_VERSION || nr > cursor_left(c) / CUT_EACH)
		return false;
	cut->cpus = arena_array(&l->d->arena, (size_t)nr + 1, sizeof(*cut->cpus));
	if (!cut->cpus)
		return false;
	cut->is = true;
	cut->nr = nr;
	for (uint32_t i = 0; i < nr; i++)
		cut->cpus[i] = (struct dat_cut_cpu){
			.buffer = cursor_u32(c),
			.cpu = cursor_u32(c),
			.last = cursor_u64(c),
			.between = cursor_u64(c),
			.after = cursor_u64(c),
		};
	if (cursor_left(c) >= sizeof(uint32_t)) {
		const uint32_t cause = cursor_u32(c);

		if (cause == DAT_CUT_UNWRITTEN || cause == DAT_CUT_OVERWRITTEN)
			cut->cause = cause;
	}
	return true;
}

/* The last time of all CPUs; 0 when there is no event. */
static uint64_t dat_cut_end(const struct dat_cut *cut)
{
	uint64_t end = 0;

	for (uint32_t i = 0; i < cut->nr; i++)
		end = cut->cpus[i].last > end ? cut->cpus[i].last : end;
	return end;
}

bool dat_cut_missing(const struct dat_cut *cut, uint64_t *missing)
{
	bool known = true;

	*missing = 0;
	for (uint32_t i = 0; i < cut->nr; i++) {
		const uint64_t parts[] = {cut->cpus[i].between, cut->cpus[i].after};

		for (int k = 0; k < 2; k++)
			if (parts[k] == DAT_CUT_UNKNOWN ||
			    __builtin_add_overflow(*missing, parts[k], missing))
				known = false;
	}
	return known;
}

bool dat_cut_lacks_end(const struct dat *d, const struct dat_buffer *b, uint32_t cpu)
{
	for (uint32_t i = 0; i < d->cut.nr; i++) {
		const struct dat_cut_cpu *c = &d->cut.cpus[i];

		if (c->cpu == cpu && c->buffer < d->nr_buffers && &d->buffers[c->buffer] == b)
			return c->after != 0;
	}
	return false;
}

static bool counts_nanoseconds(const struct dat *d)
{
	static const char *const others[] = {"counter", "uptime", "x86-tsc", "ppc-tb"};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (strcmp(d->clock, others[i]) == 0)
			return d->tsc2nsec.valid;
	return true;
}

const char *dat_cut_time(const struct dat *d, uint64_t ts, char *text, size_t cap)
{
	if (!counts_nanoseconds(d)) {
		snprintf(text, cap, "%llu", (unsigned long long)ts);
		return text;
	}
	if (d->tsc2nsec.valid)
		ts = (uint64_t)(((unsigned __int128)ts * d->tsc2nsec.mult) >> d->tsc2nsec.shift) +
		     d->tsc2nsec.offset;
	ts += (uint64_t)d->date_offset + (uint64_t)d->ts_offset;
	snprintf(text, cap, "%llu.%06llu", ts / NS_PER_S, ts % NS_PER_S / NS_PER_US);
	return text;
}

void dat_note_cut(struct dat *d)
{
	char when[48], what[64];
	uint64_t missing;
	bool known;

	if (!d->cut.is)
		return;
	known = dat_cut_missing(&d->cut, &missing);
	if (known && missing)
		snprintf(what, sizeof(what), "%llu events are missing",
			 (unsigned long long)missing);
	else
		snprintf(what, sizeof(what), "%s",
			 known ? "no events are missing" : "events may be missing");
	if (dat_cut_end(&d->cut))
		dat_note_damage(d, -ENODATA, DAT_NOWHERE, "%s: the recording ends at %s, %s",
				dat_cut_why(&d->cut),
				dat_cut_time(d, dat_cut_end(&d->cut), when, sizeof(when)), what);
	else
		dat_note_damage(d, -ENODATA, DAT_NOWHERE, "%s: %s, %s", dat_cut_why(&d->cut),
				known ? "the recording has no events"
				      : "the recording ends before its time",
				what);
}
