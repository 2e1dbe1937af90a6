// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer: the text of a filter, over a few events and records that are always the same. Formats
 * and records that change too are fuzz_format's.
 */
#include <stdlib.h>
#include <string.h>

#include "event/filter.h"
#include "event/names.h"
#include "../unit/filter_events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct events *make_events(void)
{
	struct events *ev = events_new();
	struct spur_error err = {0};

	if (!ev)
		abort();
	for (size_t i = 0; i < NR_FILTER_FORMATS; i++)
		if (events_add(ev, filter_formats[i].system, filter_formats[i].format,
			       strlen(filter_formats[i].format), &err))
			abort();
	if (events_seal(ev) || symbols_add(ev->symbols, filter_kallsyms, strlen(filter_kallsyms)) ||
	    comms_add(ev->comms, filter_comms, strlen(filter_comms)))
		abort();
	return ev;
}

/* Every record is tried at every length it can have. */
static void match_all(struct filter *f, struct events *ev)
{
	struct filter_bytes bytes[NR_FILTER_RECORDS];

	filter_records(bytes);
	for (size_t i = 0; i < NR_FILTER_RECORDS; i++) {
		struct spur_record r = filter_record_of(&bytes[i]);
		struct event *e = events_of_record(ev, &r);
		uint8_t *exact;

		for (; e && r.size; r.size -= r.size > 8 ? 8 : r.size) {
			/* At its exact length, so that a read behind the end is seen. */
			exact = malloc(r.size);
			if (!exact)
				abort();
			memcpy(exact, bytes[i].bytes, r.size);
			r.data = exact;
			filter_match(f, NULL, e, &r);
			free(exact);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct events *ev;
	char *text = malloc(size + 1);
	struct spur_error err = {0};
	struct filter *f;
	struct buf out;

	if (!ev)
		ev = make_events();
	f = filter_new(ev);
	if (!text || !f)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	buf_init(&out, 1 << 20);
	if (filter_add(f, text, &err)) {
		struct filter_mistake mistake = filter_mistake(f);

		if (mistake.reason == FILTER_FINE || mistake.offset > strlen(text))
			abort();
	} else {
		filter_check(f, &err);
		filter_show(f, &out);
		match_all(f, ev);
	}
	buf_free(&out);
	filter_free(f);
	free(text);
	return 0;
}
