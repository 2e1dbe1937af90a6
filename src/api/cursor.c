// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Cursors of <spur/trace.h>: the records of one or more traces, merged by time and filtered. Each
 * trace has its own state: names of tasks learned so far, and filters.
 */
#include <spur/trace.h>

#include <errno.h>
#include <stdlib.h>

#include "api/api.h"
#include "base/error.h"
#include "event/filter.h"
#include "event/names.h"
#include "scan/scan.h"
#include "scan/trace.h"

#define TEXT_LIMIT (16u << 20)

/* One of the traces that are read. */
struct input {
	struct spur_trace *trace;
	struct event_printer printer;
	struct filter *filter; /* NULL while the cursor has none */
};

struct spur_cursor {
	struct input *inputs;
	size_t nr;
	struct input *current; /* whose record was returned last; NULL: none was */
	struct scan scan;
	struct buf text;
	bool filtered;
};

/* ---- opening ---- */

static int open_input(struct spur_cursor *c, struct input *in, struct spur_trace *trace)
{
	int rc;

	in->trace = trace;
	rc = event_printer_init(&in->printer, trace->events);
	scan_look_ahead(&c->scan, &in->printer);
	return rc < 0 ? rc : scan_add_trace(&c->scan, trace);
}

int spur_cursor_open_all(struct spur_trace *const *traces, size_t nr, struct spur_cursor **cursor,
			 struct spur_error *err)
{
	struct spur_cursor *c = calloc(1, sizeof(*c));
	int rc = 0;

	*cursor = NULL;
	if (!c)
		return error_set(err, -ENOMEM, "out of memory");
	scan_init(&c->scan, NULL);
	buf_init(&c->text, TEXT_LIMIT);
	c->inputs = calloc(nr + 1, sizeof(*c->inputs));
	if (!c->inputs)
		rc = error_set(err, -ENOMEM, "out of memory");
	while (rc == 0 && c->nr < nr) {
		rc = open_input(c, &c->inputs[c->nr], traces[c->nr]);
		if (rc < 0)
			error_sys(err, rc, "%s", traces[c->nr]->dat->path);
		c->nr++;
	}
	if (rc < 0) {
		spur_cursor_close(c);
		return rc;
	}
	*cursor = c;
	return 0;
}

int spur_cursor_open(struct spur_trace *trace, struct spur_cursor **cursor, struct spur_error *err)
{
	return spur_cursor_open_all(&trace, 1, cursor, err);
}

void spur_cursor_close(struct spur_cursor *cursor)
{
	if (!cursor)
		return;
	for (size_t i = 0; i < cursor->nr; i++) {
		event_printer_done(&cursor->inputs[i].printer);
		filter_free(cursor->inputs[i].filter);
	}
	free(cursor->inputs);
	scan_free(&cursor->scan);
	buf_free(&cursor->text);
	free(cursor);
}

/* ---- which records ---- */

/* Adds a filter to one trace: 1, or 0 if the trace has no such event. */
static int filter_input(struct input *in, const char *text, struct spur_error *err)
{
	struct spur_error why = {0};
	int rc;

	if (!in->filter)
		in->filter = filter_new(in->trace->events);
	if (!in->filter)
		return error_set(err, -ENOMEM, "out of memory");
	rc = filter_add(in->filter, text, &why);
	if (rc == 0)
		return 1;
	error_set(err, rc, "%s", why.text);
	return filter_mistake(in->filter).reason == FILTER_NO_EVENT ? 0 : rc;
}

int spur_cursor_filter(struct spur_cursor *cursor, const char *filter, struct spur_error *err)
{
	struct spur_error why = {0};
	int found = 0;

	for (size_t i = 0; i < cursor->nr; i++) {
		int rc = filter_input(&cursor->inputs[i], filter, &why);

		if (rc < 0)
			return error_set(err, rc, "%s", why.text);
		found += rc;
	}
	if (!found)
		return error_set(err, -EINVAL, "%s",
				 cursor->nr ? why.text : "there is no trace to filter");
	cursor->filtered = true;
	return 0;
}

void spur_cursor_seek(struct spur_cursor *cursor, uint64_t ts)
{
	cursor->scan.opt.since = ts;
	cursor->current = NULL;
	scan_seek(&cursor->scan, ts);
	scan_start(&cursor->scan);
}

void spur_cursor_until(struct spur_cursor *cursor, uint64_t ts)
{
	cursor->scan.opt.has_until = ts != 0;
	cursor->scan.opt.until = ts;
	for (uint32_t i = 0; i < cursor->scan.nr; i++)
		cursor->scan.lanes[i].until = ts;
}

static struct input *input_of(const struct spur_cursor *c, const struct spur_trace *trace)
{
	struct input *in = c->inputs;

	while (in->trace != trace)
		in++;
	return in;
}

static bool is_wanted(const struct spur_cursor *c, struct input *in, const struct spur_record *r)
{
	struct event *e;

	if (!c->filtered)
		return true;
	e = events_of_record(in->trace->events, r);
	return e && filter_match(in->filter, in->printer.learned, e, r) == FILTER_MATCH;
}

const struct spur_record *spur_cursor_next(struct spur_cursor *cursor)
{
	const struct spur_record *r;

	do {
		r = scan_next(&cursor->scan);
		cursor->current = r ? input_of(cursor, scan_buffer(&cursor->scan)->trace) : NULL;
	} while (r && !is_wanted(cursor, cursor->current, r));
	return r;
}

struct spur_trace *spur_cursor_trace(const struct spur_cursor *cursor)
{
	return cursor->current ? cursor->current->trace : NULL;
}

/* ---- what a record says ---- */

const char *spur_record_comm(struct spur_cursor *cursor, const struct spur_record *record)
{
	const struct input *in = cursor->current;
	size_t len;

	if (!in)
		return "<...>";
	return overlay_find(in->printer.learned, events_record_pid(in->trace->events, record),
			    &len);
}

const char *spur_record_text(struct spur_cursor *cursor, const struct spur_record *record)
{
	struct input *in = cursor->current;
	struct event *e = in ? events_of_record(in->trace->events, record) : NULL;
	struct buf *text = &cursor->text;

	buf_reset(text);
	if (e)
		event_print(&in->printer, e, record, text);
	if (text->len && text->data[text->len - 1] == '\n')
		text->len--;
	return buf_str(text);
}

const char *spur_field_text(struct spur_cursor *cursor, const struct spur_field *field,
			    const struct spur_record *record)
{
	buf_reset(&cursor->text);
	if (cursor->current)
		event_print_field(&cursor->current->printer, field_in(field), record,
				  &cursor->text);
	return buf_str(&cursor->text);
}
