// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The stacks of a record. A stack is written right behind its event, by the same task in the same
 * context; what comes between is of an interrupt, or of an interrupt of that.
 */
#include <string.h>

#include "base/json.h"
#include "view/api.h"
#include "view/ask.h"

#define TEXT_LIMIT   (64u << 10) /* of a record */
#define MAX_FRAMES   256
#define MOST_BETWEEN 256 /* records of interrupts between an event and its stack */

enum context { TASK, SOFTIRQ, HARDIRQ, NMI };

static enum context context_of(const struct ask_cursor *c)
{
	const struct events *ev = c->from->source->buffer->trace->events;
	const unsigned int flags = events_record_flags(ev, c->rec);

	if (flags & 0x40)
		return NMI;
	return flags & 0x08 ? HARDIRQ : flags & 0x10 ? SOFTIRQ : TASK;
}

static const char *stack_kind(const struct event *e)
{
	if (!e || strcmp(e->system, "ftrace") != 0)
		return NULL;
	if (strcmp(e->name, "kernel_stack") == 0)
		return "kernel";
	return strcmp(e->name, "user_stack") == 0 ? "user" : NULL;
}

/* The text has a line "=> function (address)" for each, the innermost first. */
static void put_frames(const char *text, struct buf *b)
{
	static const char mark[] = "=> ";
	size_t n = 0;

	for (const char *at = text; (at = strstr(at, mark)) != NULL && n < MAX_FRAMES;) {
		size_t len;
		const char *address;

		at += sizeof(mark) - 1;
		len = strcspn(at, "\n");
		address = memmem(at, len, " (", 2);
		buf_puts(b, n++ ? "," : "");
		buf_json_string(b, at, address ? (size_t)(address - at) : len);
		at += len;
	}
}

static void put_stack(struct ask_cursor *c, const char *kind, struct buf *b)
{
	struct buf text;

	buf_init(&text, TEXT_LIMIT);
	ask_cursor_text(c, &text);
	buf_printf(b, "{\"kind\":\"%s\",\"frames\":[", kind);
	put_frames(buf_str(&text), b);
	buf_puts(b, "]}");
	buf_free(&text);
}

/* Goes on from the record on its CPU; what it stood on is gone then. */
static void put_following(struct ask_cursor *c, struct buf *b)
{
	const enum context context = context_of(c);
	const int pid = ask_cursor_pid(c);
	bool user = false, kernel = false;

	buf_puts(b, ",\"stack\":");
	for (int i = 0; i < MOST_BETWEEN && ask_cursor_next(c) && !(user && kernel); i++) {
		const char *kind = stack_kind(c->event);
		bool *found = kind && *kind == 'u' ? &user : &kernel;

		if (context_of(c) > context)
			continue;
		if (!kind || context_of(c) < context || ask_cursor_pid(c) != pid)
			break;
		if (*found)
			continue;
		buf_putc(b, user || kernel ? ',' : '[');
		*found = true;
		put_stack(c, kind, b);
	}
	buf_puts(b, user || kernel ? "]" : "null");
}

/* The record's own lane is read, from the record on. */
int api_put_stacks(const struct ask_cursor *c, struct buf *b)
{
	struct ask_cursor own;
	const uint64_t offset = c->rec->offset;
	int rc;

	if (!view_has_stacks(view_file(c->view, c->from->file))) {
		buf_puts(b, ",\"stack\":null");
		return 0;
	}
	rc = ask_cursor_open(&own, c->view, NULL, c->stop, NULL);
	if (rc == 0) {
		ask_cursor_only(&own, c->from->file, c->rec->buffer, c->rec->cpu);
		rc = ask_cursor_to_time(&own, c->rec->ts, false, NULL);
	}
	if (rc == 0) {
		bool found = false;

		while (!found && ask_cursor_next(&own) && own.rec->ts == c->rec->ts)
			found = own.rec->offset == offset;
		if (found && !stack_kind(own.event))
			put_following(&own, b);
		else
			buf_puts(b, ",\"stack\":null");
	}
	ask_cursor_close(&own);
	return rc;
}
