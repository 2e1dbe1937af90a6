// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints every record of some traces by its plan and by libtraceevent, as text and in the raw form,
 * and tells where the two differ. Plugins are off: what is compared are the print formats.
 *
 *	plan_oracle FILE…	exit 1 when a text differs, 77 without libtraceevent
 *
 * A record that is shorter than its format says is not compared in the raw form: libtraceevent
 * shows the bytes behind it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dat/dat.h"
#include "event/tep.h"
#include "ring/ring.h"
#include "scan/trace.h"

#define SHOWN 3 /* differences of a file that are printed */

struct tally {
	uint64_t records, texts, different, fallbacks;
};

struct comparison {
	struct spur_trace *trace;
	struct tep_bridge *judge;
	struct event_printer printer;
	struct buf ours, theirs;
	struct tally tally;
};

static bool is_complete(const struct event *e, const struct spur_record *r)
{
	for (uint32_t i = 0; i < e->nr_fields; i++)
		if ((uint64_t)e->fields[i].offset + e->fields[i].size > r->size)
			return false;
	return true;
}

static void compare(struct comparison *c, struct event *e, const struct spur_record *r, bool raw)
{
	buf_reset(&c->ours);
	buf_reset(&c->theirs);
	if (raw)
		event_print_fields(&c->printer, e, r, &c->ours);
	else
		event_print_plan(&c->printer, e, r, &c->ours);
	tep_bridge_print(c->judge, e, r, raw, &c->theirs);
	c->tally.texts++;
	if (c->ours.len == c->theirs.len && !memcmp(c->ours.data, c->theirs.data, c->ours.len))
		return;
	if (c->tally.different++ < SHOWN)
		printf("%s: %s/%s%s at %#llx\n   we: %s\n  tep: %s\n", c->trace->dat->path,
		       e->system, e->name, raw ? " (raw)" : "", (unsigned long long)r->offset,
		       buf_str(&c->ours), buf_str(&c->theirs));
}

static void compare_record(struct comparison *c, const struct spur_record *r)
{
	struct event *e = events_of_record(c->trace->events, r);

	if (!e || event_ready(e) == EVENT_BROKEN)
		return;
	c->tally.records++;
	c->tally.fallbacks += e->beyond;
	compare(c, e, r, false);
	if (is_complete(e, r))
		compare(c, e, r, true);
}

static void compare_page(struct comparison *c, const struct dat_buffer *b, uint32_t cpu,
			 const struct dat_page *page)
{
	struct ring_page ring;
	struct ring_event event;

	if (ring_page_open(&ring, &b->layout, page->data, page->size) < 0)
		return;
	while (ring_page_next(&ring, &event)) {
		struct spur_record r = {
			.ts = event.ts,
			.data = event.data,
			.size = event.size,
			.cpu = cpu,
			.offset = page->offset + event.pos,
		};

		compare_record(c, &r);
	}
}

static void compare_cpu(struct comparison *c, const struct dat_buffer *b, const struct dat_cpu *cpu)
{
	struct dat_pages *pages;
	struct dat_page page;

	if (dat_pages_open(c->trace->dat, b, cpu, &pages) < 0)
		return;
	for (uint64_t i = 0; dat_pages_get(pages, i, &page) > 0; i++)
		compare_page(c, b, cpu->cpu, &page);
	dat_pages_close(pages);
}

static int compare_trace(struct comparison *c, struct spur_error *err)
{
	const struct dat *d = c->trace->dat;
	struct tep_options opt = {
		.kallsyms = (const char *)d->kallsyms.data,
		.kallsyms_len = d->kallsyms.size,
		.printk = (const char *)d->printk.data,
		.printk_len = d->printk.size,
		.refused = true,
	};
	int rc = tep_bridge_new(c->trace->events, &opt, &c->judge, err);

	if (rc < 0)
		return rc;
	rc = event_printer_init(&c->printer, c->trace->events);
	c->printer.no_handlers = true;
	for (size_t i = 0; i < d->nr_buffers && !rc; i++)
		for (uint32_t k = 0; k < d->buffers[i].nr_cpus; k++)
			compare_cpu(c, &d->buffers[i], &d->buffers[i].cpus[k]);
	event_printer_done(&c->printer);
	tep_bridge_free(c->judge);
	return rc;
}

static int compare_file(const char *path, struct tally *total, struct spur_error *err)
{
	struct comparison c = {0};
	struct trace_options opt = {.compat = tep_compat()};
	int rc = trace_open(path, &opt, &c.trace, err);

	if (rc < 0)
		return rc;
	buf_init(&c.ours, 1 << 22);
	buf_init(&c.theirs, 1 << 22);
	rc = compare_trace(&c, err);
	total->records += c.tally.records;
	total->texts += c.tally.texts;
	total->different += c.tally.different;
	total->fallbacks += c.tally.fallbacks;
	buf_free(&c.ours);
	buf_free(&c.theirs);
	trace_close(c.trace);
	return rc;
}

int main(int argc, char **argv)
{
	struct tally total = {0};

	for (int i = 1; i < argc; i++) {
		struct spur_error err = {0};
		int rc = compare_file(argv[i], &total, &err);

		if (rc < 0)
			printf("%s: %s\n", argv[i], err.text);
		if (rc == -ENOSYS)
			return 77;
		if (rc < 0)
			return 2;
	}
	printf("%llu records, %llu texts, %llu differ, %llu records need libtraceevent\n",
	       (unsigned long long)total.records, (unsigned long long)total.texts,
	       (unsigned long long)total.different, (unsigned long long)total.fallbacks);
	return total.different || total.fallbacks * 1000 > total.records;
}
