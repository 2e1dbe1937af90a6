// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Small instances beside the recording, whose events the recorder reads itself, and one that
 * watches for tasks that run late.
 */
#include "record/side.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "record/session_state.h"
#include "tracefs/owner.h"

#define PATH_CAP     128
#define FORMAT_LIMIT (64u << 10)

static int set_size(const struct side *s, uint32_t kb, struct spur_error *err)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", kb);
	return tracefs_write(s->fs, s->instance, "buffer_size_kb", TRACEFS_REPLACE, text, err);
}

int side_make(struct side *s, const struct tracefs *fs, struct undo *undo, const char *what,
	      const char *clock, uint32_t kb, struct spur_error *err)
{
	int rc;

	memset(s, 0, sizeof(*s));
	s->fs = fs;
	s->layout = ring_layout_default(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, sizeof(long),
					(uint32_t)sysconf(_SC_PAGESIZE));
	s->page = malloc(s->layout.page_size);
	s->events = events_new();
	if (!s->page || !s->events)
		return error_set(err, -ENOMEM, "out of memory");
	s->events->big_endian = s->layout.big_endian;
	s->events->long_size = sizeof(long);
	s->events->page_size = s->layout.page_size;
	owner_instance(s->instance, sizeof(s->instance), what);
	rc = undo_make_instance(undo, s->instance, err);
	if (rc == 0)
		rc = tracefs_write(s->fs, s->instance, "trace_clock", TRACEFS_REPLACE, clock, err);
	return rc == 0 && kb ? set_size(s, kb, err) : rc;
}

/* Adds the format, which the registry does not copy. */
static int add_format(struct side *s, const char *system, const char *name, struct spur_error *err)
{
	char file[PATH_CAP], **slot = vec_push(&s->formats);
	struct buf text;
	int rc;

	snprintf(file, sizeof(file), "events/%s/%s/format", system, name);
	buf_init(&text, FORMAT_LIMIT);
	rc = slot ? tracefs_read(s->fs, s->instance, file, &text, err) : -ENOMEM;
	if (rc == 0 && !(*slot = strndup(text.data, text.len)))
		rc = -ENOMEM;
	if (rc == 0)
		rc = events_add(s->events, system, *slot, text.len, err);
	buf_free(&text);
	return rc == -ENOMEM ? error_set(err, rc, "out of memory") : rc;
}

struct event *side_add(struct side *s, const char *system, const char *name, struct spur_error *err)
{
	char file[PATH_CAP];

	snprintf(file, sizeof(file), "events/%s/%s/enable", system, name);
	if (add_format(s, system, name, err) < 0 ||
	    tracefs_write(s->fs, s->instance, file, TRACEFS_REPLACE, "1", err) < 0)
		return NULL;
	return events_find(s->events, system, name);
}

int side_open(struct side *s, const uint32_t *cpus, uint32_t nr, struct spur_error *err)
{
	s->fds = calloc(nr + 1, sizeof(*s->fds));
	if (!s->fds || events_seal(s->events) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < nr; i++) {
		char file[PATH_CAP];
		int fd;

		snprintf(file, sizeof(file), "per_cpu/cpu%u/trace_pipe_raw", cpus[i]);
		fd = tracefs_open(s->fs, s->instance, file, O_RDONLY | O_NONBLOCK, err);
		if (fd < 0)
			return fd;
		s->fds[s->nr_fds++] = fd;
	}
	return 0;
}

static uint64_t read_page(const struct side *s, size_t size,
			  void (*fn)(void *arg, const struct spur_record *r), void *arg)
{
	struct ring_page p;
	struct ring_event e;

	if (ring_page_open(&p, &s->layout, s->page, size) < 0)
		return 0;
	while (ring_page_next(&p, &e)) {
		const struct spur_record r = {.ts = e.ts, .data = e.data, .size = e.size};

		fn(arg, &r);
	}
	return p.lost < 0 ? 1 : (uint64_t)p.lost;
}

uint64_t side_read(struct side *s, void (*fn)(void *arg, const struct spur_record *r), void *arg)
{
	uint64_t lost = 0;

	for (uint32_t i = 0; i < s->nr_fds; i++) {
		ssize_t n;

		while ((n = read(s->fds[i], s->page, s->layout.page_size)) > 0)
			lost += read_page(s, (size_t)n, fn, arg);
	}
	return lost;
}

void side_free(struct side *s)
{
	for (uint32_t i = 0; i < s->nr_fds; i++)
		close(s->fds[i]);
	events_free(s->events);
	vec_each (format, &s->formats)
		free(*format);
	vec_free(&s->formats);
	free(s->fds);
	free(s->page);
	memset(s, 0, sizeof(*s));
}

/* ---- watching for a task that has to wait ---- */

/*
 * A wake-up is recorded on one CPU and the switch to the woken task often on another, so what all
 * CPUs have recorded is put into order first. When a round of reading is over, all events up to its
 * begin have been read; later ones wait for the next round.
 */

#define PERIOD_MS 10

enum { SEEN_WAKE, SEEN_SWITCH };

struct seen {
	uint64_t ts;
	int kind;
	int pid;  /* woken, or switched to */
	int prev; /* switched from */
};

struct watch {
	struct side side;
	uint64_t limit;
	struct event *wake, *change;
	const struct event_field *woken, *next, *prev;
	struct {
		struct seen *at;
		size_t n, cap;
	} seen;		  /* not processed yet */
	struct map wakes; /* pid: when it was woken, as a pointer */
	int hit_fd, end_fd;
	struct watch_hit hit; /* written before hit_fd becomes readable */
	pthread_t thread;
	bool started;
};

/* ---- following ---- */

static void take_record(void *arg, const struct spur_record *r)
{
	struct watch *w = arg;
	const struct events *ev = w->side.events;
	const struct event *type = events_of_record(ev, r);
	struct seen seen = {.ts = r->ts}, *slot;
	uint64_t pid, prev = 0;

	if (type == w->wake && field_number(ev, w->woken, r, &pid))
		seen.kind = SEEN_WAKE;
	else if (type == w->change && field_number(ev, w->next, r, &pid) &&
		 field_number(ev, w->prev, r, &prev))
		seen.kind = SEEN_SWITCH;
	else
		return;
	seen.pid = (int)pid;
	seen.prev = (int)prev;
	slot = vec_push(&w->seen);
	if (slot)
		*slot = seen;
}

static int by_time(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	return (x->ts > y->ts) - (x->ts < y->ts);
}

/* The key of a task; pid 0 is never looked up. */
static uint64_t key(int pid)
{
	return (uint64_t)(uint32_t)pid;
}

/* Times of wake-ups in a map of pointers are never NULL; this value means that the wait is over. */
#define OVER ((void *)~(uintptr_t)0)

static bool follow(struct watch *w, const struct seen *s)
{
	void *woken;

	if (s->kind == SEEN_WAKE) {
		if (s->pid)
			map_set(&w->wakes, key(s->pid), (void *)(uintptr_t)s->ts);
		return false;
	}
	/* A task that was woken before it slept has not waited. */
	if (s->prev && map_get(&w->wakes, key(s->prev)))
		map_set(&w->wakes, key(s->prev), OVER);
	woken = s->pid ? map_get(&w->wakes, key(s->pid)) : NULL;
	if (!woken || woken == OVER)
		return false;
	map_set(&w->wakes, key(s->pid), OVER);
	if (s->ts - (uintptr_t)woken < w->limit)
		return false;
	w->hit = (struct watch_hit){s->pid, s->ts - (uintptr_t)woken};
	return true;
}

static bool one_round(struct watch *w)
{
	uint64_t until = session_now();
	size_t done = 0;
	bool hit = false;

	side_read(&w->side, take_record, w);
	if (w->seen.n)
		qsort(w->seen.at, w->seen.n, sizeof(*w->seen.at), by_time);
	while (done < w->seen.n && w->seen.at[done].ts <= until && !hit)
		hit = follow(w, &w->seen.at[done++]);
	if (done)
		memmove(w->seen.at, w->seen.at + done, (w->seen.n - done) * sizeof(*w->seen.at));
	w->seen.n -= done;
	return hit;
}

static void *follow_all(void *arg)
{
	struct watch *w = arg;
	struct pollfd end = {w->end_fd, POLLIN, 0};
	const uint64_t one = 1;

	while (poll(&end, 1, PERIOD_MS) == 0)
		if (one_round(w)) {
			ssize_t n = write(w->hit_fd, &one, sizeof(one));

			(void)n;
			break;
		}
	return NULL;
}

/* ---- setting up ---- */

static int add_events(struct watch *w, struct spur_error *err)
{
	w->wake = side_add(&w->side, "sched", "sched_waking", err);
	w->change = w->wake ? side_add(&w->side, "sched", "sched_switch", err) : NULL;
	return w->change ? 0 : err && err->code ? err->code : -ENOENT;
}

static int find_fields(struct watch *w, struct spur_error *err)
{
	if (event_ready(w->wake) == EVENT_BROKEN || event_ready(w->change) == EVENT_BROKEN)
		return error_set(err, -EBADMSG, "the formats of sched events cannot be read");
	w->woken = event_field_find(w->wake, "pid");
	w->next = event_field_find(w->change, "next_pid");
	w->prev = event_field_find(w->change, "prev_pid");
	return w->woken && w->next && w->prev
		       ? 0
		       : error_set(err, -ENOTSUP, "sched events have no pids on this kernel");
}

static int set_up(struct watch *w, const struct tracefs *fs, struct undo *undo,
		  const uint32_t *cpus, uint32_t nr, struct spur_error *err)
{
	int rc = side_make(&w->side, fs, undo, "watch", "mono", 0, err);

	if (rc == 0)
		rc = add_events(w, err);
	if (rc == 0)
		rc = side_open(&w->side, cpus, nr, err);
	if (rc == 0)
		rc = find_fields(w, err);
	w->hit_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	w->end_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (rc == 0 && (w->hit_fd < 0 || w->end_fd < 0))
		rc = error_set(err, -ENOMEM, "out of memory or descriptors");
	return rc;
}

int watch_new(const struct tracefs *fs, struct undo *undo, const uint32_t *cpus, uint32_t nr_cpus,
	      uint64_t limit, struct watch **out, struct spur_error *err)
{
	struct watch *w = calloc(1, sizeof(*w));
	int rc;

	*out = NULL;
	if (!w)
		return error_set(err, -ENOMEM, "out of memory");
	w->limit = limit;
	w->hit_fd = w->end_fd = -1;
	rc = set_up(w, fs, undo, cpus, nr_cpus, err);
	if (rc < 0) {
		watch_free(w);
		return rc;
	}
	*out = w;
	return 0;
}

int watch_start(struct watch *w, struct spur_error *err)
{
	int rc = -pthread_create(&w->thread, NULL, follow_all, w);

	w->started = rc == 0;
	if (w->started)
		pthread_setname_np(w->thread, "spur-watch");
	return rc < 0 ? error_sys(err, rc, "a thread that watches cannot start") : 0;
}

int watch_event(const struct watch *w)
{
	return w->hit_fd;
}

void watch_result(const struct watch *w, struct watch_hit *hit)
{
	*hit = w->hit;
}

void watch_free(struct watch *w)
{
	const uint64_t one = 1;

	if (!w)
		return;
	if (w->started) {
		ssize_t n = write(w->end_fd, &one, sizeof(one));

		(void)n;
		pthread_join(w->thread, NULL);
	}
	if (w->hit_fd >= 0)
		close(w->hit_fd);
	if (w->end_fd >= 0)
		close(w->end_fd);
	side_free(&w->side);
	map_free(&w->wakes);
	vec_free(&w->seen);
	free(w);
}
