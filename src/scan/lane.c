// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reading one CPU's pages. Pages that cannot be decoded are skipped and noted as damage of the
 * file. A lane does not fail; it ends.
 */
#include "scan/lane.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "scan/ahead.h"

#define MAX_IDS		    (1 << 16) /* of the ring buffer's events */
#define FLAG_IRQS_OFF	    0x01      /* of common_flags */
#define FLAG_IRQS_NOSUPPORT 0x02
#define FLAGS_INTERRUPT	    0x58 /* hard, soft, NMI */

/* If a page has no wanted record, at most so many pages before it are looked at. */
#define PAGES_BACK 16

int lane_filter_init(struct lane_filter *f, const struct events *ev)
{
	int highest = 0;

	for (size_t i = 0; i < ev->nr; i++)
		if (ev->list[i]->id > highest && ev->list[i]->id < MAX_IDS)
			highest = ev->list[i]->id;
	*f = (struct lane_filter){.wanted = calloc((size_t)highest / 64 + 1, sizeof(*f->wanted)),
				  .nr_ids = (uint32_t)highest + 1,
				  .type_offset = ev->common.type.offset,
				  .type_size = ev->common.type.size,
				  .big_endian = ev->big_endian,
				  .usual = ev->common.usual};
	return f->wanted ? 0 : -ENOMEM;
}

void lane_filter_want(struct lane_filter *f, const struct event *e)
{
	if (e->id >= 0 && (uint32_t)e->id < f->nr_ids)
		f->wanted[e->id / 64] |= 1ull << (e->id % 64);
}

void lane_filter_free(struct lane_filter *f)
{
	free(f->wanted);
	f->wanted = NULL;
}

int lane_open(struct lane *l, const struct trace_buffer *b, const struct dat_cpu *cpu)
{
	int rc;

	*l = (struct lane){.buffer = b,
			   .cpu = cpu,
			   .proof = LANE_NO_PROOF,
			   .before = LANE_NO_PROOF,
			   .settled = LANE_UNSETTLED};
	rc = dat_pages_open(b->trace->dat, b->data, cpu, &l->pages);
	if (rc < 0)
		return rc;
	l->nr_pages = dat_pages_estimate(l->pages);
	l->rec.cpu = cpu->cpu;
	l->rec.buffer = b->index;
	return 0;
}

void lane_close(struct lane *l)
{
	dat_pages_close(l->pages);
	l->pages = NULL;
}

static int get_page(struct lane *l, uint64_t index, struct dat_page *page)
{
	const int got = l->ahead ? ahead_get(l->ahead, index, page, &l->breaks) : AHEAD_MISS;

	return got == AHEAD_MISS ? dat_pages_get(l->pages, index, page) : got;
}

/* Opens the page with that number, or the next one that can be decoded. */
static bool open_page(struct lane *l, uint64_t index)
{
	const struct ring_page last = l->page;
	struct dat_page page;

	l->open = false;
	if (l->leaving)
		l->leaving(l->leaving_arg);
	for (;; index++) {
		int got;

		if (l->stop && __atomic_load_n(l->stop, __ATOMIC_RELAXED))
			return false;
		got = get_page(l, index, &page);
		if (got == 0)
			return false;
		if (got < 0) {
			/*
			 * The number of pages may be unknown: without this limit, unreadable pages
			 * would be tried forever.
			 */
			if (index >= l->nr_pages)
				return false;
			continue;
		}
		if (ring_page_open(&l->page, &l->buffer->data->layout, page.data, page.size) == 0)
			break;
		dat_note_damage(l->buffer->trace->dat, -EBADMSG, page.offset,
				"page %llu of CPU %u has an impossible header",
				(unsigned long long)index, l->cpu->cpu);
	}
	if (l->until && trace_time(&l->buffer->time, l->page.ts, l->cpu->cpu) > l->until) {
		l->page = last; /* whose times are those of the last record */
		return false;
	}
	l->page_index = index;
	l->page_offset = page.offset;
	l->page_bytes = (uint32_t)page.size;
	l->open = true;
	l->fresh = true;
	return true;
}

static void note_damaged_page(struct lane *l)
{
	dat_note_damage(l->buffer->trace->dat, -EBADMSG, l->page_offset + l->page.pos,
			"a record of CPU %u reaches over the end of its page", l->cpu->cpu);
}

/* The time of the last record before the current one that proves who runs. */
static inline uint64_t last_proof(const struct lane *l)
{
	/* Until the runner has settled, only records of the switch itself were skipped. */
	return l->passed && l->settled != LANE_UNSETTLED ? l->passed_ts : l->proof;
}

static bool end(struct lane *l)
{
	l->before = last_proof(l);
	l->ended = true;
	l->rec.data = NULL;
	l->rec_pos = 0;
	return false;
}

static inline bool is_wanted(const struct lane_filter *f, uint64_t id)
{
	return id >= f->nr_ids || (f->wanted[id / 64] >> (id % 64) & 1);
}

static inline bool unwanted(const struct lane_filter *f, const uint8_t *data, uint32_t size)
{
	struct usual_head head;
	uint64_t id;

	if (__builtin_expect(f->usual && size >= sizeof(head), 1)) {
		memcpy(&head, data, sizeof(head));
		return !is_wanted(f, head.type);
	}
	if (f->type_offset > size || f->type_size > size - f->type_offset)
		return false;
	id = load_uint(data + f->type_offset, f->type_size, f->big_endian);
	return !is_wanted(f, id);
}

/* ---- who runs ---- */

/* How a record begins. */
struct head {
	uint64_t type;
	int32_t pid;
};

static inline int32_t pid_at(const struct lane_watch *w, const struct ring_event *e,
			     uint32_t offset)
{
	return (int32_t)load_uint(e->data + offset, sizeof(int32_t), w->big_endian);
}

static bool read_unusual_head(const struct lane_watch *w, const struct ring_event *e,
			      struct head *head)
{
	if (e->size < sizeof(int32_t) || w->pid_offset > e->size - sizeof(int32_t) ||
	    e->size < w->type_size || w->type_offset > e->size - w->type_size)
		return false;
	head->type = load_uint(e->data + w->type_offset, w->type_size, w->big_endian);
	head->pid = pid_at(w, e, w->pid_offset);
	return true;
}

static inline bool read_head(const struct lane_watch *w, const struct ring_event *e,
			     struct head *head)
{
	struct usual_head usual;

	if (__builtin_expect(!w->usual || e->size < sizeof(usual), 0))
		return read_unusual_head(w, e, head);
	memcpy(&usual, e->data, sizeof(usual));
	*head = (struct head){usual.type, usual.pid};
	return true;
}

/* Whether the record is like nearly all: written by the task that runs, and no switch. */
static inline bool goes_on(const struct lane *l, const struct head *head)
{
	return head->pid == l->settled && head->type != l->watch->switch_id;
}

/*
 * After the record of its switch, the task that leaves the CPU can still write records: those of
 * triggers and tracers until the kernel has switched stacks. Interrupts are off then, and none is
 * being handled. A record of accounting is written before a switch, so it shows that the task is
 * back.
 */
bool lane_rest_of_switch(const struct lane_watch *w, uint64_t type, const uint8_t *data,
			 uint32_t size)
{
	uint8_t flags;

	if (!w->has_flags || w->flags_offset >= size || type == w->accounting_id)
		return false;
	flags = data[w->flags_offset];
	return (flags & (FLAG_IRQS_OFF | FLAG_IRQS_NOSUPPORT)) && !(flags & FLAGS_INTERRUPT);
}

static bool is_tail(const struct lane *l, const struct ring_event *e, const struct head *head)
{
	return l->switched && head->pid == l->left && head->pid != l->runner.pid &&
	       lane_rest_of_switch(l->watch, head->type, e->data, e->size);
}

/* Updates who runs from a record: who wrote it, and who runs after it. */
static void watch_other(struct lane *l, const struct ring_event *e, const struct head *head)
{
	const struct lane_watch *w = l->watch;
	const bool switched = head->type == w->switch_id && e->size >= w->switch_size;
	const int32_t pid = switched ? pid_at(w, e, w->prev_offset) : head->pid;
	const int32_t next = switched ? pid_at(w, e, w->next_offset) : head->pid;
	const bool known = !w->filtered && lane_follows(w, next);

	l->wrote = switched || (!w->filtered && !is_tail(l, e, head));
	l->other = false;
	l->changes = w->shared;
	if (!l->wrote)
		return;
	l->other = !l->runner.known || l->runner.pid != pid;
	l->changes = w->shared || l->other || l->announce || !known || next != pid;
	l->announce = false;
	l->pid = pid;
	l->runner = (struct lane_runner){known, next};
	l->settled = known && next == pid && !w->shared ? pid : LANE_UNSETTLED;
	l->switched = switched;
	l->left = pid;
	l->proof = e->ts;
}

/* The first record of the task that was switched to: the same result as watch_other(), faster. */
static inline bool begins(const struct lane *l, const struct head *head)
{
	const struct lane_watch *w = l->watch;

	return l->runner.known && head->pid == l->runner.pid && head->type != w->switch_id &&
	       !w->filtered && !w->shared && !l->announce;
}

/* Updates who runs from a record; `head` is NULL if the record does not say who wrote it. */
static inline void watch(struct lane *l, const struct ring_event *e, const struct head *head)
{
	l->before = last_proof(l);
	if (__builtin_expect(head && goes_on(l, head), 1)) {
		l->wrote = true;
		l->other = l->changes = false;
		l->proof = e->ts;
	} else if (head && begins(l, head)) {
		l->wrote = true;
		l->other = l->changes = l->switched = false;
		l->pid = l->left = head->pid;
		l->settled = head->pid;
		l->proof = e->ts;
	} else if (head) {
		watch_other(l, e, head);
	} else {
		l->wrote = l->other = l->changes = false;
	}
}

static inline void watch_record(struct lane *l, const struct ring_event *e)
{
	struct head head;

	watch(l, e, read_head(l->watch, e, &head) ? &head : NULL);
}

static inline void pass(struct lane *l, uint64_t ts)
{
	l->passed = true;
	l->passed_ts = ts;
}

/* Notes a skipped record to which a lane with a watch may have to go back. */
static inline void pass_watched(struct lane *l, uint64_t ts)
{
	if (!l->passed)
		l->shown = (struct lane_pos){l->rec_page, l->rec_pos, l->rec.lost};
	pass(l, ts);
}

/* ---- records ---- */

/*
 * Most skipped records come in runs. Separate loops, which only look for the end of a run, skip
 * them.
 */
struct run {
	uint64_t ts;  /* of the last record in it */
	uint32_t pos; /* of the first record after it */
};

/* The run up to the next break, if there is one. The record after `p->pos` is no break. */
static inline bool is_before_break(struct lane *l, struct run *r)
{
	struct lane_breaks *b = &l->breaks;

	while (b->next < b->n && b->at[b->next].pos < r->pos)
		b->next++;
	if (b->next == b->n || b->at[b->next].pos == r->pos)
		return false;
	*r = (struct run){b->at[b->next].ts, b->at[b->next].pos};
	return true;
}

static struct run unwanted_run(struct lane *l)
{
	const struct lane_filter *f = l->filter;
	const struct ring_page *p = &l->page;
	struct run r = {p->ts, p->pos};
	uint32_t delta, size;

	if (l->breaks.filter == f) {
		is_before_break(l, &r);
		return r;
	}
	while (ring_page_plain(p, r.pos, &delta, &size) &&
	       unwanted(f, p->data + r.pos + RING_HEAD, size)) {
		r.ts += delta;
		r.pos += RING_HEAD + size;
	}
	return r;
}

/* The same for records that also say nothing new about who runs: see goes_on(). */
static struct run settled_run(struct lane *l)
{
	const struct ring_page *p = &l->page;
	const struct lane_filter f = *l->filter;
	const uint64_t switch_id = l->watch->switch_id;
	const int32_t pid = (int32_t)l->settled;
	struct run r = {p->ts, p->pos};
	struct usual_head head;
	uint32_t delta, size;

	if (l->settled == LANE_UNSETTLED)
		return r;
	if (l->breaks.filter == l->filter) {
		struct run to = r;

		/* A record that is no break is long enough for a head. */
		if (!is_before_break(l, &to))
			return r;
		memcpy(&head, p->data + r.pos + RING_HEAD, sizeof(head));
		return head.pid == pid ? to : r;
	}
	while (ring_page_plain(p, r.pos, &delta, &size) && size >= sizeof(head)) {
		memcpy(&head, p->data + r.pos + RING_HEAD, sizeof(head));
		if (head.pid != pid || head.type == switch_id || is_wanted(&f, head.type))
			break;
		r.ts += delta;
		r.pos += RING_HEAD + size;
	}
	return r;
}

static bool add_break(struct lane_break_list *breaks, uint64_t ts, uint32_t pos)
{
	struct lane_break *b = vec_push(breaks);

	if (b)
		*b = (struct lane_break){ts, pos};
	return b;
}

struct lane_skips lane_skips(const struct lane *l)
{
	const bool can = l->filter && l->filter->usual;

	return (struct lane_skips){.filter = can ? l->filter : NULL,
				   .layout = &l->buffer->data->layout,
				   .switch_id = l->watch ? l->watch->switch_id : LANE_NO_ID};
}

uint32_t lane_find_breaks(const struct lane_skips *skips, const struct dat_page *page,
			  struct lane_break_list *breaks)
{
	const size_t before = breaks->n;
	struct usual_head head = {0};
	struct ring_page p;
	struct ring_event e;
	uint32_t records = 0, delta, size;
	bool ok = true;

	if (!skips->filter || ring_page_open(&p, skips->layout, page->data, page->size) < 0)
		return 0;
	while (ok) {
		const int32_t pid = head.pid;

		if (ring_page_plain(&p, p.pos, &delta, &size) && size >= sizeof(head)) {
			memcpy(&head, p.data + p.pos + RING_HEAD, sizeof(head));
			if (!records || head.pid != pid || head.type == skips->switch_id ||
			    is_wanted(skips->filter, head.type))
				ok = add_break(breaks, p.ts, p.pos);
			p.ts += delta;
			p.pos += RING_HEAD + size;
		} else {
			ok = add_break(breaks, p.ts, p.pos);
			if (!ring_page_next(&p, &e))
				break;
			/* The record after it is a break, unless both have a head. */
			head.pid = 0;
			if (e.size >= sizeof(head))
				memcpy(&head, e.data, sizeof(head));
		}
		records++;
	}
	if (!ok)
		breaks->n = before;
	return records;
}

static inline void go_to_end_of(struct lane *l, struct run r)
{
	l->page.pos = r.pos;
	l->page.ts = l->passed_ts = r.ts;
}

/* Skips records of a page that the filter does not want. */
static bool next_wanted(struct lane *l, struct ring_event *e)
{
	while (ring_page_next(&l->page, e)) {
		if (!unwanted(l->filter, e->data, e->size))
			return true;
		pass(l, e->ts);
		go_to_end_of(l, unwanted_run(l));
	}
	return false;
}

/*
 * The same with a watch, which also needs the records that change who runs. After many skipped
 * records one is shown anyway, so that going back does not take long.
 */
static bool next_watched(struct lane *l, struct ring_event *e)
{
	const struct lane_filter *f = l->filter;
	const bool enough = l->pages_passed > LANE_PAGES;
	struct head head;

	while (ring_page_next(&l->page, e)) {
		const bool says = read_head(l->watch, e, &head);
		const bool wanted = !says || is_wanted(f, head.type);

		if (wanted || enough || !goes_on(l, &head)) {
			watch(l, e, says ? &head : NULL);
			l->border = !wanted;
			if (wanted || enough || l->changes)
				return true;
		}
		pass_watched(l, e->ts);
		if (__builtin_expect(l->watch->usual && !enough, 1))
			go_to_end_of(l, settled_run(l));
	}
	return false;
}

static void note_gap(struct lane *l)
{
	if (!l->gap)
		l->gap_from = l->rec.ts;
	l->gap = true;
	l->runner.known = l->switched = false;
	l->settled = LANE_UNSETTLED;
	l->gap_end = trace_time(&l->buffer->time, l->page.page_ts, l->cpu->cpu);
}

/*
 * Moves the lane to the last record before the loss that the open page reports. The filter has
 * skipped that record, and its bytes were on another page.
 */
static bool stand_before_gap(struct lane *l)
{
	l->rec = (struct spur_record){.ts = trace_time(&l->buffer->time, l->passed_ts, l->cpu->cpu),
				      .cpu = l->rec.cpu,
				      .buffer = l->rec.buffer,
				      .data = l->page.data,
				      .offset = l->page_offset};
	l->rec_page = l->page_index;
	l->rec_pos = 0;
	l->border = true;
	l->wrote = l->other = l->changes = false;
	return true;
}

/* The next record of the open page that a lane with a filter or a watch shows. */
static __attribute__((noinline)) bool next_selected(struct lane *l, struct ring_event *e)
{
	if (l->filter && __builtin_expect(!l->borders || !l->gap, 1))
		return l->watch ? next_watched(l, e) : next_wanted(l, e);
	if (!ring_page_next(&l->page, e))
		return false;
	l->border = l->filter && unwanted(l->filter, e->data, e->size);
	if (l->watch)
		watch_record(l, e);
	return true;
}

static inline bool next_shown(struct lane *l, struct ring_event *e)
{
	if (__builtin_expect(!l->filter && !l->watch, 1))
		return __builtin_expect(ring_page_next(&l->page, e), 1);
	return next_selected(l, e);
}

/* Moves the lane to a record of the open page, before which `lost` records were lost. */
static inline bool stand_on(struct lane *l, const struct ring_event *e, int64_t lost)
{
	l->rec.ts = trace_time(&l->buffer->time, e->ts, l->cpu->cpu);
	l->rec.lost = lost;
	l->rec.data = e->data;
	l->rec.size = e->size;
	l->rec.room = l->page_bytes - (uint32_t)(e->data - l->page.data);
	l->rec.offset = l->page_offset + e->pos;
	l->rec.delta = e->delta;
	l->rec_page = l->page_index;
	l->rec_pos = e->pos;
	return true;
}

/* Continues where the open page is new, or has ended. */
static __attribute__((noinline)) bool next_of_pages(struct lane *l)
{
	struct ring_event e;
	int64_t lost = 0;
	bool before = false; /* records before the loss were skipped */

	for (;;) {
		if (l->fresh) {
			if (l->page.lost && l->borders && l->passed)
				return stand_before_gap(l);
			lost = l->page.lost ? l->page.lost : lost;
			if (l->page.lost) {
				note_gap(l);
				before |= l->passed;
				l->passed = false;
			}
			l->fresh = false;
			if (next_shown(l, &e))
				break;
		}
		if (l->page.damaged)
			note_damaged_page(l);
		if (!open_page(l, l->page_index + 1)) {
			l->pending = l->passed ? 0 : lost;
			l->passed |= before;
			return end(l);
		}
		l->pages_passed++;
	}
	/* The loss was before a record that has been skipped. */
	lost = l->passed ? 0 : lost;
	l->passed |= before;
	return stand_on(l, &e, lost);
}

bool lane_next(struct lane *l)
{
	struct ring_event e;

	if (__builtin_expect(!l->open, 0) && (l->ended || !open_page(l, l->page_index)))
		return end(l);
	l->passed = l->gap = l->border = false;
	l->pages_passed = 0;
	if (__builtin_expect(l->fresh || !next_shown(l, &e), 0))
		return next_of_pages(l);
	return stand_on(l, &e, 0);
}

bool lane_resume(struct lane *l)
{
	if (!l->ended)
		return true;
	if (!open_page(l, l->page_bytes ? l->page_index + 1 : 0))
		return false;
	l->ended = false;
	if (!l->page.lost)
		l->page.lost = l->pending;
	return lane_next(l);
}

void lane_set_filter(struct lane *l, const struct lane_filter *filter)
{
	l->filter = filter;
	if (filter && !l->ended && unwanted(filter, l->rec.data, l->rec.size)) {
		lane_next(l);
		l->passed = true;
	}
}

void lane_filter_from(struct lane *l, const struct lane_filter *filter)
{
	l->filter = filter;
	l->border = filter && !l->ended && unwanted(filter, l->rec.data, l->rec.size);
}

struct lane_pos lane_tell(const struct lane *l)
{
	return (struct lane_pos){l->page_index, l->rec_pos, l->rec.lost};
}

void lane_seek(struct lane *l, struct lane_pos pos)
{
	l->open = false;
	l->ended = false;
	l->rec.ts = 0;
	l->page_index = pos.page;
	if (!pos.pos || !open_page(l, pos.page) || l->page_index != pos.page)
		return;
	for (;;) {
		struct ring_page before = l->page;
		struct ring_event e;

		if (!ring_page_next(&l->page, &e))
			break;
		if (e.pos >= pos.pos) {
			l->page = before;
			break;
		}
	}
	l->page.lost = pos.lost;
}

void lane_forget_runner(struct lane *l)
{
	l->runner = (struct lane_runner){0};
	l->settled = LANE_UNSETTLED;
	l->switched = l->announce = l->other = l->changes = false;
	l->proof = l->before = LANE_NO_PROOF;
}

/* Goes back to the record that was shown last, then forward to the first one at or after `ts`. */
static void go_back(struct lane *l, uint64_t ts)
{
	const struct lane_filter *filter = l->filter;

	l->filter = NULL;
	lane_seek(l, l->shown);
	lane_next(l);
	while (lane_next(l) && l->rec.ts < ts)
		;
	lane_filter_from(l, filter);
	/* A loss before it has been shown already. */
	l->gap = false;
	l->rec.lost = 0;
}

void lane_doubt_runner(struct lane *l, uint64_t ts)
{
	if (l->passed && trace_time(&l->buffer->time, l->passed_ts, l->cpu->cpu) >= ts)
		go_back(l, ts);
	if (l->wrote && !l->ended) {
		l->other = l->changes = true;
	} else {
		/* This record does not say who runs; the next one that does changes it. */
		l->other = l->runner.known = false;
		l->settled = LANE_UNSETTLED;
	}
}

uint64_t lane_end(const struct lane *l)
{
	const bool empty = !l->page_bytes || l->page.end == l->page.layout->data_offset;

	if (!l->ended || (empty && !l->passed))
		return 0;
	return trace_time(&l->buffer->time, empty ? l->passed_ts : l->page.ts, l->cpu->cpu);
}

/* Looks at a page without moving the lane. */
static bool look_at(struct lane *l, uint64_t page, struct ring_page *ring)
{
	struct dat_page p;

	return dat_pages_get(l->pages, page, &p) == 1 &&
	       ring_page_open(ring, &l->buffer->data->layout, p.data, p.size) == 0;
}

bool lane_page_time(struct lane *l, uint64_t page, uint64_t *ts)
{
	struct ring_page ring;

	if (!look_at(l, page, &ring) || ring.pos == ring.end)
		return false;
	*ts = trace_time(&l->buffer->time, ring.page_ts, l->cpu->cpu);
	return true;
}

static bool has_records(struct lane *l, uint64_t page)
{
	struct ring_page ring;
	struct ring_event e;

	return look_at(l, page, &ring) && ring_page_next(&ring, &e);
}

/* A page whose time is unknown may start later. */
static bool starts_before(struct lane *l, uint64_t page, uint64_t ts)
{
	uint64_t at;

	return lane_page_time(l, page, &at) && at < ts;
}

void lane_seek_time(struct lane *l, uint64_t ts, uint64_t hint)
{
	uint64_t lo = 0, hi = l->nr_pages, step = 1;

	/* From the hint, double the step until the first page of [lo, hi) starts before ts. */
	if (hint < hi && starts_before(l, hint, ts)) {
		lo = hint;
		while (lo + step < hi && starts_before(l, lo + step, ts)) {
			lo += step;
			step *= 2;
		}
		if (lo + step < hi)
			hi = lo + step;
	} else if (hint < hi) {
		hi = hint;
		while (step < hi && !starts_before(l, hi - step, ts)) {
			hi -= step;
			step *= 2;
		}
		lo = step < hi ? hi - step : 0;
	}
	while (lo + 1 < hi) {
		uint64_t mid = lo + (hi - lo) / 2;

		if (starts_before(l, mid, ts))
			lo = mid;
		else
			hi = mid;
	}
	/* Pages without records may report losses before the first record. */
	for (int i = 0; i < PAGES_BACK && lo > 0 && !has_records(l, lo - 1); i++)
		lo--;
	lane_seek(l, (struct lane_pos){.page = lo});
}

/* A page may begin before its first record. */
static bool has_before(struct lane *l, uint64_t page, uint64_t ts)
{
	struct ring_page ring;
	struct ring_event e;

	return look_at(l, page, &ring) && ring_page_next(&ring, &e) &&
	       trace_time(&l->buffer->time, e.ts, l->cpu->cpu) < ts;
}

void lane_seek_before(struct lane *l, uint64_t ts, uint64_t hint)
{
	uint64_t page;

	lane_seek_time(l, ts, hint);
	page = l->page_index;
	for (int i = 0; i < PAGES_BACK && page > 0 && !has_before(l, page, ts); i++)
		page--;
	lane_seek(l, (struct lane_pos){.page = page});
}
