// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Why a task waited: finding its state, reading what is around it, explaining it.
 *
 * Tables are read from shortly before a moment. What is wanted may have begun earlier: then the
 * range is made eight times as long and read again, at most until it is the whole trace. So reading
 * costs little more than the shortest range that would have done.
 */
#include "stats/why.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "stats/renames.h"
#include "stats/why/reader.h"
#include "base/error.h"
#include "base/map.h"
#include "base/order.h"
#include "base/vec.h"
#include "event/names.h"
#include "table/analysis.h"
#include "table/sched.h"

#define GROWS	    8
#define NOTE_SIZE   512
#define STATE_SPAN  50000000u /* ns */
#define TEXTS_LIMIT (4u << 20)
#define MAX_TASKS   10000

/* ---- reading the records around a moment ---- */

static void set_since(const struct why_reader *r, struct why_window *w)
{
	w->since = w->at > w->span ? w->at - w->span : 0;
	if (w->since < w->lowest)
		w->since = w->lowest;
	w->whole = w->since <= r->start || w->since == w->lowest;
	if (w->since <= r->start)
		w->since = 0;
}

struct why_window why_window(const struct why_reader *r, uint64_t at, uint64_t span,
			     uint64_t lowest)
{
	struct why_window w = {.at = at, .span = span, .lowest = lowest};

	set_since(r, &w);
	return w;
}

bool why_window_grow(const struct why_reader *r, struct why_window *w)
{
	if (w->whole)
		return false;
	w->span = w->span > UINT64_MAX / GROWS ? UINT64_MAX : w->span * GROWS;
	set_since(r, w);
	return true;
}

struct feed *why_feed(const struct why_reader *r)
{
	const struct walk_options opt = {.stop = r->stop, .nameless = true};

	return feed_new(r->trace, &opt);
}

int why_run(const struct why_reader *r, struct feed *f, uint64_t since, uint64_t until,
	    const bool *done)
{
	int rc;

	feed_read_range(f, since, until == UINT64_MAX ? 0 : until);
	while (feed_now(f) <= until && !(done && *done) && feed_step(f))
		;
	feed_cut(f);
	rc = feed_error(f, r->err);
	feed_free(f);
	return rc;
}

int why_run_table(const struct why_reader *r, const struct table *t,
		  void (*take)(void *arg, const void *row), void *arg, uint64_t since,
		  uint64_t until, const bool *done)
{
	struct feed *f = why_feed(r);

	feed_add(f, t, take, arg);
	return why_run(r, f, since, until, done);
}

struct record_search {
	const struct why_reader *r;
	uint64_t since, until;
	bool found;
};

static void find_record(void *arg, struct event *e, const struct spur_record *r)
{
	struct record_search *s = arg;

	s->found |= r->buffer == s->r->buffer->index && r->ts >= s->since && r->ts <= s->until;
}

int why_has_records(const struct why_reader *r, const char *const *events, uint64_t since,
		    uint64_t until, bool *has)
{
	struct record_search s = {.r = r, .since = since, .until = until};
	struct feed *f = why_feed(r);
	int rc;

	for (; *events; events++)
		feed_watch(f, *events, find_record, &s);
	rc = why_run(r, f, since, until, &s.found);
	*has = s.found;
	return rc;
}

int why_other(const struct why_reader *r, uint32_t i, uint64_t ts, struct why_reader *other,
	      bool *is)
{
	static const char *const all[] = {"*:*", NULL};

	*other = *r;
	other->buffer = &r->trace->buffers[i];
	*is = false;
	if (other->buffer == r->buffer || !why_same_clock(other->buffer, r->buffer) ||
	    buffer_start(other->buffer) > ts)
		return 0;
	return why_has_records(other, all, ts, UINT64_MAX, is);
}

/* ---- losses ---- */

struct losing {
	const struct table_source *src;
};

static int losses_begin(void *analysis, const struct table_source *src)
{
	((struct losing *)analysis)->src = src;
	return 0;
}

static void losses_losing(void *analysis, uint32_t cpu, uint64_t from, uint64_t to)
{
	const struct table_source *src = ((struct losing *)analysis)->src;
	const struct why_loss row = {.ts = from,
				     .dur = to > from ? (int64_t)(to - from) : 0,
				     .cpu = cpu,
				     .buffer = src->buffer->data->name};

	src->row(src->arg, &row);
}

static const char *const no_events[] = {NULL};
static const struct column losses_columns[] = {
	{"ts", COLUMN_TIME, offsetof(struct why_loss, ts), "the last record before it"},
};

const struct table why_losses_table = {
	.name = "losses",
	.columns = losses_columns,
	.nr_columns = 1,
	.row_size = sizeof(struct why_loss),
	.events = no_events,
	.starts_anywhere = true,
	.analysis_size = sizeof(struct losing),
	.begin = losses_begin,
	.losing = losses_losing,
};

/* ---- texts ---- */

const char *why_keep(struct why *w, const char *text)
{
	return text ? intern_text(&w->texts, text, strlen(text)) : NULL;
}

void why_note(struct why *w, const char *fmt, ...)
{
	char text[NOTE_SIZE];
	const char *kept;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	kept = why_keep(w, text);
	/* Equal texts are one pointer, so each note is printed only once. */
	vec_each (note, &w->notes)
		if (*note == kept)
			return;
	/* Without memory there is no note. */
	if (kept)
		vec_add(&w->notes, &kept);
}

const char *why_frame(const char *stack, size_t *left, size_t *len)
{
	size_t at = *left;

	while (at && stack[at - 1] != ';')
		at--;
	*len = *left - at;
	*left = at ? at - 1 : 0;
	return stack + at;
}

const char *why_name(const struct why_reader *r, int64_t pid, uint64_t ts)
{
	const struct dat_task *task = trace_task_at(r->trace, (int)pid, ts);
	const struct comms *comms = r->trace->events->comms;
	size_t len;

	if (task && task->name)
		return task->name;
	return comms_known(comms, (int)pid) ? comms_find(comms, (int)pid, &len) : NULL;
}

const char *why_new_name(const struct why_reader *r, struct event *e, const struct spur_record *rec,
			 int64_t *pid)
{
	size_t len;
	const char *name = comm_given(r->trace->events, e, rec, pid, &len);

	return name ? intern_text(&r->why->texts, name, len) : NULL;
}

bool why_is_kthread(const struct why_reader *r, int64_t pid, uint64_t ts)
{
	const struct dat_task *task = trace_task_at(r->trace, (int)pid, ts);

	/* All other kernel threads are children of pid 2. */
	return pid == 0 || (task && (task->ppid == 2 || (pid == 2 && !task->ppid)));
}

/* ---- the state of a task at a moment ---- */

/*
 * If reading starts in the middle of a trace, the first state of a task may have begun earlier, and
 * may be a different one. All later states are right, as
 * if everything had been read: each begins with the event that ends the one before.
 */

/* ---- the longest wait of a range ---- */

struct longest {
	const struct why_reader *r;
	uint64_t ns, at;
};

static bool is_wait(const struct state_row *s)
{
	return s->state != RUN_RUNNING;
}

static void take_wait(void *arg, const void *row)
{
	struct longest *l = arg;
	const struct state_row *s = row;
	const struct why_options *asked = &l->r->why->asked;
	uint64_t ns;

	if (s->pid != asked->pid || !why_is_here(l->r, s->buffer) || !is_wait(s))
		return;
	ns = why_overlap(s->ts, s->dur, l->r->from, asked->until);
	if (ns <= l->ns)
		return;
	l->ns = ns;
	l->at = s->ts > l->r->from ? s->ts : l->r->from;
}

/* A wait that began before the range need not be read from its begin: it is only to be found. */
static int why_find_longest(const struct why_reader *r, bool *found)
{
	struct longest l = {.r = r};
	int rc = why_run_table(r, &states_table, take_wait, &l, r->from, r->why->asked.until, NULL);

	*found = l.ns > 0;
	r->why->asked.moment = l.at;
	return rc;
}

/* ---- the state at a moment ---- */

struct found {
	bool is;
	struct state_row row;
	bool sure; /* its begin does not depend on where reading started */
};

struct finder {
	const struct why_reader *r;
	const struct why_window *window;
	uint64_t low, high; /* the moment, as exactly as it is known */
	struct found best, before, last;
	int rank; /* of the best one */
	size_t seen;
	bool begun, has_next;
	struct state_row begin, next;
	bool hopeless; /* the state began before the range that is read */
	bool done;
};

/*
 * How well a state matches the moment: higher is better, 0 is no match. The moment at which a task
 * gets a CPU is the end of its wait.
 */
static int rank_of(const struct finder *f, const struct state_row *s)
{
	const uint64_t at = f->r->why->asked.moment, end = row_end_of(s->ts, s->dur);
	const bool covers = s->ts <= at && at < end;

	if (s->ts > f->high || end < f->low)
		return 0;
	/* States without a length between two others explain nothing. */
	if (end == s->ts)
		return 1;
	if (!is_wait(s))
		return covers ? 3 : 2;
	if (covers)
		return 6;
	return s->ts >= f->low ? 5 : 4;
}

/* Rows' texts live only as long as the analysis. */
static struct state_row keep_row(struct why *w, const struct state_row *s)
{
	struct state_row copy = *s;

	copy.comm = why_keep(w, s->comm);
	copy.reason = why_keep(w, s->reason);
	return copy;
}

static void follow(struct finder *f)
{
	const struct state_row *best = &f->best.row;

	if (!f->best.is || f->has_next || !f->begun ||
	    f->begin.ts < row_end_of(best->ts, best->dur))
		return;
	f->has_next = true;
	f->next = f->begin;
}

static void take_end(struct finder *f, const struct state_row *s)
{
	struct why *w = f->r->why;
	const int rank = rank_of(f, s);
	const struct found now = {true, keep_row(w, s), f->seen > 0 || !f->window->since};

	if (!w->exists || s->ts < w->first)
		w->first = s->ts;
	w->last = !w->exists || row_end_of(s->ts, s->dur) > w->last ? row_end_of(s->ts, s->dur)
								    : w->last;
	w->exists = true;
	f->seen++;
	if (rank > f->rank) {
		f->rank = rank;
		f->before = f->last;
		f->best = now;
		f->has_next = false;
	}
	f->last = now;
}

/* Stops reading when everything is known, or when this range turns out too short. */
static void check_done(struct finder *f, uint64_t now)
{
	if (now <= f->high)
		return;
	f->hopeless = !f->seen && !(f->begun && f->begin.ts > f->low) && f->window->since;
	f->done = (f->has_next && f->next.ts > f->high) || f->hopeless;
}

static void take_state(void *arg, const void *row)
{
	struct finder *f = arg;
	const struct state_row *s = row;

	if (s->pid == f->r->why->asked.pid && why_is_here(f->r, s->buffer)) {
		if (s->phase == STATE_ENDS) {
			take_end(f, s);
		} else {
			f->begun = true;
			f->begin = keep_row(f->r->why, s);
		}
		follow(f);
	}
	if (!f->done)
		check_done(f, s->ts);
}

/* Whether a longer range may say something else. */
static bool is_sure(const struct finder *f)
{
	return f->best.is && f->best.sure && !f->hopeless &&
	       (is_wait(&f->best.row) || (f->before.is && f->before.sure));
}

static void set_wait(struct why *w, const struct state_row *s)
{
	w->waits = true;
	w->comm = s->comm;
	w->state = s->state;
	w->reason = s->reason;
	w->from = s->ts;
	w->to = row_end_of(s->ts, s->dur);
	w->cpu = s->cpu;
	w->open = s->open;
	w->buffer = s->buffer;
}

static void set_next(struct why *w, const struct state_row *s)
{
	w->has_next = true;
	w->next = s->state;
	w->next_from = s->ts;
	w->next_cpu = s->cpu;
}

static void answer(const struct finder *f)
{
	struct why *w = f->r->why;
	const struct state_row *best = &f->best.row;

	w->next_cpu = w->run_cpu = ROW_NULL;
	w->found = f->best.is;
	if (!w->found)
		return;
	if (is_wait(best)) {
		set_wait(w, best);
		if (f->has_next)
			set_next(w, &f->next);
		return;
	}
	w->running = true;
	w->comm = best->comm;
	w->run_from = best->ts;
	w->run_to = row_end_of(best->ts, best->dur);
	w->run_cpu = best->cpu;
	w->open = best->open;
	if (f->before.is && is_wait(&f->before.row)) {
		set_wait(w, &f->before.row);
		set_next(w, best);
	}
}

/* The row of `states` that is meant, and the next one. */
static int why_find(const struct why_reader *r)
{
	const uint64_t at = r->why->asked.moment, by = r->why->asked.tolerance;
	struct why_window window = why_window(r, at > by ? at - by : 0, STATE_SPAN, 0);
	struct finder f;
	int rc;

	do {
		f = (struct finder){.r = r,
				    .window = &window,
				    .low = at > by ? at - by : 0,
				    .high = u64_add(at, by)};
		rc = why_run_table(r, &states_both_table, take_state, &f, window.since, UINT64_MAX,
				   &f.done);
	} while (rc == 0 && !is_sure(&f) && why_window_grow(r, &window));
	if (rc == 0)
		answer(&f);
	return rc;
}

/* ---- explaining ---- */

static uint64_t trace_start(const struct spur_trace *t)
{
	uint64_t first = UINT64_MAX;

	for (uint32_t i = 0; i < t->nr_buffers; i++) {
		const struct trace_buffer *b = &t->buffers[i];
		const uint64_t start = b->data->text ? UINT64_MAX : buffer_start(b);

		first = start < first ? start : first;
	}
	return first == UINT64_MAX ? 0 : first;
}

/* The first argument of a call: "7f53add4e6f4" of "7f53add4e6f4, 81, 1". */
static size_t first_argument(const struct why_call *c)
{
	return c->known == WHY_FOUND && c->name && c->args && strncmp(c->name, "futex", 5) == 0
		       ? strcspn(c->args, ",")
		       : 0;
}

/* Whether the task slept in a futex, and was woken by one who called it for the same address. */
static bool is_same_futex(const struct why *w)
{
	const struct why_call *a = &w->call, *b = &w->wake.call;
	const size_t len = first_argument(a);

	return len && len == first_argument(b) && memcmp(a->args, b->args, len) == 0;
}

/* Which system calls were looked for, and whether any was found. */
struct looked_for {
	bool missing, found;
};

static void look(struct looked_for *l, const struct why_call *c)
{
	l->missing |= c->known == WHY_UNRECORDED;
	l->found |= c->known == WHY_FOUND;
}

/* Buffers of other clocks are not compared with the reader's. */
static bool has_other_clocks(const struct why_reader *r)
{
	for (uint32_t i = 0; i < r->trace->nr_buffers; i++)
		if (!r->trace->buffers[i].data->text &&
		    !why_same_clock(&r->trace->buffers[i], r->buffer))
			return true;
	return false;
}

/* If calls are missing everywhere, there is one note. */
static void note_calls(const struct why_reader *r)
{
	struct looked_for calls = {0};
	struct why *w = r->why;

	look(&calls, &w->call);
	look(&calls, &w->wake.call);
	vec_each (link, &w->links)
		look(&calls, &link->wake.call);
	if (calls.missing && !calls.found)
		why_note(w, "system calls were not recorded%s",
			 has_other_clocks(r) ? " in this buffer" : "");
	if (w->call.known == WHY_UNKNOWN)
		why_note(w, "in which system call it slept is not known");
}

/* The wakeup is missing. Its records may be missing altogether. */
static int explain_open_end(const struct why_reader *r)
{
	static const char *const wakeups[] = {"sched:sched_wak*", NULL};
	struct why *w = r->why;
	bool some = false;
	int rc = 0;

	if (!w->has_next || w->next != RUN_RUNNING) {
		why_note(w,
			 "what woke it is not known: the trace, or what is known of the task, ends "
			 "before");
		return 0;
	}
	rc = why_has_records(r, wakeups, w->to, UINT64_MAX, &some);
	if (rc == 0 && !some)
		rc = why_has_records(r, wakeups, 0, w->to, &some);
	why_note(w, "what woke it, and when, is not known: %s",
		 some ? "its wakeup was not recorded" : "no wakeups were recorded");
	return rc;
}

static int explain_sleep(const struct why_reader *r)
{
	struct why *w = r->why;
	int rc = w->open & ROW_OPEN_START ? 0 : why_slept_in(r);

	if (rc < 0)
		return rc;
	if (w->open & ROW_OPEN_END)
		return explain_open_end(r);
	rc = why_wake_at(r, w->asked.pid, w->to, &w->wake);
	w->same_futex = rc == 0 && is_same_futex(w);
	return rc < 0 ? rc : why_chain(r);
}

static int explain_runnable(const struct why_reader *r)
{
	struct why *w = r->why;
	const bool woken =
		w->reason && (strcmp(w->reason, "woken") == 0 || strcmp(w->reason, "new") == 0);
	int rc = woken ? why_wake_at(r, w->asked.pid, w->from, &w->wake) : 0;

	if (rc == 0)
		rc = why_cpus(r);
	if (woken)
		w->by = ROW_NULL;
	return rc;
}

/* ---- what is unknown ---- */

static void take_loss(void *reader, const void *row)
{
	const struct why_reader *r = reader;
	const struct why_loss *l = row;
	struct why *w = r->why;

	/* Losses on other CPUs do not explain the missing records of this one. */
	if (why_is_here(r, l->buffer) && (w->cpu == ROW_NULL || w->cpu == l->cpu) &&
	    l->ts <= w->to && row_end_of(l->ts, l->dur) >= w->from)
		why_note(w, "events of CPU %lld were lost then", (long long)l->cpu);
}

/* Does nothing: records are read only so that reading ends after the wait. */
static void pass_by(void *arg, struct event *e, const struct spur_record *r)
{
}

static int explain_unknown(const struct why_reader *r)
{
	struct why *w = r->why;
	struct feed *f = why_feed(r);
	int rc;

	feed_add(f, &why_losses_table, take_loss, (void *)r);
	feed_watch(f, "sched:*", pass_by, NULL);
	rc = why_run(r, f, w->from, w->to, NULL);
	if (rc == 0 && r->trace->dat->followed.is)
		why_note(w, "only the events of some tasks were recorded");
	if (rc == 0 && !w->notes.n)
		why_note(w, "an event that would tell was not recorded");
	return rc;
}

static int explain(const struct why_reader *r)
{
	struct why *w = r->why;

	if (!w->waits)
		return 0;
	if (w->state == RUN_RUNNABLE)
		return explain_runnable(r);
	if (why_is_sleep(w->state))
		return explain_sleep(r);
	return w->state == RUN_UNKNOWN ? explain_unknown(r) : 0;
}

/* ---- which buffer ---- */

static bool is_meant(const struct why_options *o, const struct trace_buffer *b)
{
	return !b->data->text && (!o->buffer || strcmp(o->buffer, b->data->name) == 0);
}

static bool knows(const struct why *w)
{
	return w->found && (w->running || w->state != RUN_UNKNOWN);
}

static void forget(struct why *w)
{
	w->found = w->running = w->waits = w->has_next = false;
	w->open = ROW_WHOLE;
	w->state = RUN_UNKNOWN;
}

static int find_here(const struct why_reader *r)
{
	bool any = true;
	int rc = r->why->asked.until ? why_find_longest(r, &any) : 0;

	return rc < 0 || !any ? rc : why_find(r);
}

/* A task may be in several buffers; at least one of them must have its states. */
static int find(struct why_reader *r)
{
	const struct trace_buffer *some = NULL;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < r->trace->nr_buffers; i++) {
		r->buffer = &r->trace->buffers[i];
		if (!is_meant(&r->why->asked, r->buffer))
			continue;
		forget(r->why);
		rc = find_here(r);
		if (rc == 0 && knows(r->why))
			return 0;
		if (rc == 0 && r->why->found)
			some = r->buffer;
	}
	if (rc < 0 || !some || some == r->buffer)
		return rc;
	r->buffer = some;
	forget(r->why);
	return find_here(r);
}

/* Of a task that is not in the trace: it may be missing because switches are. */
static int look_for_switches(struct why_reader *r)
{
	static const char *const events[] = {"sched:sched_switch", NULL};
	bool some = false;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && !some && i < r->trace->nr_buffers; i++) {
		r->buffer = &r->trace->buffers[i];
		if (is_meant(&r->why->asked, r->buffer))
			rc = why_has_records(r, events, 0, UINT64_MAX, &some);
	}
	r->why->switchless = !some;
	return rc;
}

int why_make(struct why *w, struct spur_trace *t, const struct why_options *opt,
	     struct spur_error *err)
{
	struct spur_error own = {0};
	struct why_reader r = {.trace = t,
			       .stop = opt->stop,
			       .start = trace_start(t),
			       .from = opt->moment,
			       .why = w,
			       .err = err ? err : &own};
	int rc;

	*w = (struct why){.asked = *opt, .cpu = ROW_NULL, .by = ROW_NULL};
	w->wake.cpu = w->wake.pid = w->wake.irq = ROW_NULL;
	intern_init(&w->texts, TEXTS_LIMIT);
	rc = find(&r);
	if (r.buffer)
		w->ticks = !r.buffer->nanoseconds;
	if (rc == 0 && w->found)
		rc = explain(&r);
	else if (rc == 0 && !w->exists)
		rc = look_for_switches(&r);
	note_calls(&r);
	return rc < 0 ? error_set(r.err, rc, "out of memory") : 0;
}

void why_free(struct why *w)
{
	vec_free(&w->pieces);
	vec_free(&w->shares);
	vec_free(&w->interrupts);
	vec_free(&w->links);
	vec_free(&w->notes);
	intern_free(&w->texts);
}

/* ---- which task is meant ---- */

/*
 * A file that describes its tasks has all their names. The kernel's list is short and has only the
 * last name of each task: then all states are read, too.
 */

struct search {
	const char *name;
	size_t len;
	int64_t pid; /* ROW_NULL: of whatever number */
	const struct events *events;
	struct why_tasks *to;
	int rc;
};

static void take_text(struct search *s, int64_t pid, const char *name, size_t len)
{
	if (!name || len != s->len || memcmp(name, s->name, s->len) != 0 ||
	    (s->pid != ROW_NULL && s->pid != pid) || s->to->n >= MAX_TASKS)
		return;
	vec_each (known, s->to)
		if (*known == pid)
			return;
	if (!vec_add(s->to, &pid))
		s->rc = -ENOMEM;
}

static void take_name(struct search *s, int64_t pid, const char *name)
{
	take_text(s, pid, name, name ? strlen(name) : 0);
}

static void take_comm(void *arg, int pid, const char *name)
{
	take_name(arg, pid, name);
}

static void take_named_state(void *arg, const void *row)
{
	const struct state_row *s = row;

	if (s->pid != ROW_NULL && s->pid)
		take_name(arg, s->pid, s->comm);
}

static void take_rename(void *arg, struct event *e, const struct spur_record *r)
{
	struct search *s = arg;
	int64_t pid;
	size_t len;
	const char *name = comm_given(s->events, e, r, &pid, &len);

	if (name)
		take_text(s, pid, name, len);
}

static void search_lists(struct search *s, const struct spur_trace *t)
{
	comms_each(t->events->comms, take_comm, s);
	for (size_t i = 0; i < t->dat->nr_tasks; i++)
		take_name(s, t->dat->tasks[i].pid, t->dat->tasks[i].name);
}

/* Finds all tasks that had the name at any time, also those that were only woken. */
static int search_states(struct search *s, struct spur_trace *t, const volatile int *stop,
			 struct spur_error *err)
{
	const struct walk_options opt = {.stop = stop, .brief = true};
	struct feed *f = feed_new(t, &opt);
	int rc;

	feed_add(f, &states_table, take_named_state, s);
	watch_renames(f, take_rename, s);
	rc = feed_run(f, err);
	feed_free(f);
	return rc;
}

/* Splits "name-123", the report's form of a task. */
static bool split(const char *text, struct search *s)
{
	const char *dash = strrchr(text, '-');
	char *end;

	if (!dash || dash == text || !isdigit((unsigned char)dash[1]))
		return false;
	s->len = (size_t)(dash - text);
	s->pid = strtoll(dash + 1, &end, 10);
	return !*end;
}

/* By the lists, then by the states. */
static int search(struct search *s, struct spur_trace *t, const volatile int *stop,
		  struct spur_error *err)
{
	int rc = 0;

	search_lists(s, t);
	if ((!s->to->n || !t->dat->nr_tasks) && s->rc == 0)
		rc = search_states(s, t, stop, err);
	return rc < 0 ? rc : s->rc;
}

/* ---- which of several tasks ---- */

enum task_life { LIFE_NONE, LIFE_SEEN, LIFE_THEN }; /* more is better */

struct lives {
	const struct why_tasks *tasks; /* sorted */
	uint64_t low, high;	       /* the moment */
	uint8_t *of;		       /* enum task_life, by place in tasks */
	uint8_t best;
};

static void take_life(void *arg, const void *row)
{
	const struct state_row *s = row;
	struct lives *l = arg;
	const int64_t *at = bsearch(&s->pid, l->tasks->at, l->tasks->n, sizeof(s->pid), order_i64);
	const bool then =
		s->state != RUN_DEAD && s->ts <= l->high && row_end_of(s->ts, s->dur) >= l->low;
	const uint8_t life = then ? LIFE_THEN : LIFE_SEEN;

	if (at && life > l->of[at - l->tasks->at])
		l->of[at - l->tasks->at] = life;
	if (at && life > l->best)
		l->best = life;
}

/*
 * Of several tasks, keeps those that were alive at the moment; else those that the trace shows at
 * all. The kernel's list has names of tasks that had ended before.
 */
static int keep_best(struct why_tasks *tasks, struct spur_trace *t, const struct why_options *opt,
		     struct spur_error *err)
{
	const struct walk_options walk = {.stop = opt->stop, .brief = true};
	const uint64_t at = opt->moment, by = opt->tolerance;
	struct lives l = {.tasks = tasks,
			  .low = at > by ? at - by : 0,
			  .high = u64_add(at, by),
			  .of = calloc(tasks->n, 1)};
	struct feed *f = feed_new(t, &walk);
	size_t n = 0;
	int rc = -ENOMEM;

	if (l.of) {
		feed_add(f, &states_table, take_life, &l);
		rc = feed_run(f, err);
	}
	feed_free(f);
	for (size_t i = 0; rc == 0 && i < tasks->n; i++)
		if (l.of[i] == l.best)
			tasks->at[n++] = tasks->at[i];
	tasks->n = rc == 0 ? n : tasks->n;
	free(l.of);
	return rc;
}

int why_find_tasks(struct spur_trace *t, const char *name, const struct why_options *opt,
		   struct why_tasks *to, struct spur_error *err)
{
	const volatile int *stop = opt->stop;
	struct search s = {
		.name = name, .len = strlen(name), .pid = ROW_NULL, .events = t->events, .to = to};
	const size_t digits = strspn(name, "0123456789");
	int rc = 0;

	if (digits && digits < 19 && !name[digits])
		return vec_add(to, &(int64_t){strtoll(name, NULL, 10)})
			       ? 0
			       : error_set(err, -ENOMEM, "out of memory");
	rc = search(&s, t, stop, err);
	if (rc == 0 && !to->n && split(name, &s))
		rc = search(&s, t, stop, err);
	if (rc == 0)
		order_vec(to, order_i64);
	if (rc == 0 && to->n > 1)
		rc = keep_best(to, t, opt, err);
	return rc < 0 ? error_set(err, rc, "out of memory") : 0;
}
