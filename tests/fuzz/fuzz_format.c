// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer: an event's format file, a filter and a record.
 *
 * The input is the format's text, a NUL, a filter, a NUL, and the record's bytes. What is missing
 * is empty. Everything that can be done with an event is done with it.
 */
#include <stdlib.h>
#include <string.h>

#include "event/event.h"
#include "event/filter.h"
#include "event/names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void print_all_forms(struct events *ev, struct event *e, const struct spur_record *r)
{
	struct event_printer printer;
	struct buf out;

	if (event_printer_init(&printer, ev) < 0)
		return;
	buf_init(&out, 1 << 20);
	event_print(&printer, e, r, &out);
	event_print_plan(&printer, e, r, &out);
	event_print_fields(&printer, e, r, &out);
	buf_free(&out);
	event_printer_done(&printer);
}

static void try_filter(struct events *ev, struct event *e, const struct spur_record *r,
		       const char *text)
{
	struct filter *filter = filter_new(ev);
	struct spur_error err = {0};
	struct buf out;

	if (!filter)
		return;
	buf_init(&out, 1 << 20);
	if (filter_add(filter, text, &err) == 0) {
		filter_check(filter, &err);
		filter_show(filter, &out);
		filter_match(filter, NULL, e, r);
	}
	buf_free(&out);
	filter_free(filter);
}

static void use_event(struct events *ev, struct event *e, const char *filter, const uint8_t *record,
		      size_t size)
{
	struct spur_record r = {.data = record, .size = (uint32_t)size, .ts = 1000};

	event_ready(e);
	print_all_forms(ev, e, &r);
	try_filter(ev, e, &r, filter);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A copy with a NUL behind it: the filter's text has to end even where the input does. */
	char *text = malloc(size + 1);
	const char *format_end, *filter, *filter_end;
	struct events *ev = events_new();
	struct spur_error err = {0};

	if (!text || !ev)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	format_end = text + strlen(text);
	filter = format_end < text + size ? format_end + 1 : format_end;
	filter_end = filter + strlen(filter);

	ev->long_size = size & 1 ? 4 : 8;
	ev->big_endian = size & 2;
	ev->page_size = 4096;
	if (events_add(ev, "fuzz", text, (size_t)(format_end - text), &err) == 0 &&
	    events_seal(ev) == 0) {
		size_t left = (size_t)(text + size - filter_end);

		use_event(ev, ev->list[0], filter, (const uint8_t *)filter_end + (left > 0),
			  left ? left - 1 : 0);
	}
	events_free(ev);
	free(text);
	return 0;
}
