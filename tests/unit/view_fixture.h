/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace of one buffer that is not in a file: two CPUs with a page each, on which there are
 * records of one event type, and of one that nobody describes.
 */
#ifndef TESTS_VIEW_FIXTURE_H
#define TESTS_VIEW_FIXTURE_H

#include "event_fixture.h"
#include "scan/trace.h"

#define VIEW_FIXTURE_CPUS    2
#define VIEW_FIXTURE_RECORDS 40 /* of each CPU */
#define VIEW_FIXTURE_PAGE    4096

struct view_fixture_cpu {
	struct dat_feed feed; /* first: it is found by it */
	uint8_t page[VIEW_FIXTURE_PAGE];
};

struct view_fixture {
	struct view_fixture_cpu pages[VIEW_FIXTURE_CPUS];
	struct dat dat;
	struct dat_buffer data;
	struct dat_cpu cpus[VIEW_FIXTURE_CPUS];
	struct trace_buffer buffer;
	struct spur_trace trace;
};

static inline int view_fixture_get(struct dat_feed *f, uint64_t index, struct dat_page *page)
{
	const struct view_fixture_cpu *c = (const struct view_fixture_cpu *)f;

	*page = (struct dat_page){.data = c->page, .size = sizeof(c->page)};
	return index == 0;
}

static inline void view_fixture_put(uint8_t *to, uint64_t v, unsigned int size)
{
	for (unsigned int i = 0; i < size; i++)
		to[i] = (uint8_t)(v >> 8 * i);
}

/* Records of two words, 100 + CPU ns apart, of tasks 0 to 3. */
static inline void view_fixture_fill(uint8_t *page, uint32_t cpu)
{
	uint8_t *to = page + 16;

	for (uint32_t i = 0; i < VIEW_FIXTURE_RECORDS; i++, to += 12) {
		view_fixture_put(to, 2 | (uint64_t)(i ? 100 + cpu : 0) << 5, 4);
		view_fixture_put(to + 4, i % 8 == 7 ? 999 : 100, 2);
		view_fixture_put(to + 8, i / 5 % 4, 4);
	}
	view_fixture_put(page, 5000 + cpu, 8);
	view_fixture_put(page + 8, (uint64_t)(to - page - 16), 8);
}

static inline void view_fixture_make(struct view_fixture *f)
{
	*f = (struct view_fixture){
		.dat = {.path = "made up", .fd = -1, .uname = ""},
		.data = {.name = "",
			 .clock = "",
			 .page_size = VIEW_FIXTURE_PAGE,
			 .layout = ring_layout_default(false, 8, VIEW_FIXTURE_PAGE),
			 .cpus = f->cpus,
			 .nr_cpus = VIEW_FIXTURE_CPUS},
		.buffer = {.trace = &f->trace, .data = &f->data, .nanoseconds = true},
		.trace = {.dat = &f->dat, .buffers = &f->buffer, .nr_buffers = 1},
	};
	pthread_mutex_init(&f->dat.lock, NULL);
	for (uint32_t i = 0; i < VIEW_FIXTURE_CPUS; i++) {
		f->pages[i].feed.get = view_fixture_get;
		view_fixture_fill(f->pages[i].page, i);
		f->cpus[i] = (struct dat_cpu){
			.cpu = i, .size = VIEW_FIXTURE_PAGE, .feed = &f->pages[i].feed};
	}
	f->trace.events = fixture_events(false, 8);
	fixture_add(f->trace.events, "sched", "made_up", 100, "int a @8:4s", "\"\"");
	events_seal(f->trace.events);
}

static inline void view_fixture_free(struct view_fixture *f)
{
	events_free(f->trace.events);
	pthread_mutex_destroy(&f->dat.lock);
}

#endif
