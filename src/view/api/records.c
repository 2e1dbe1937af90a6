// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records: the list of all, by number, and one with everything that is known about it.
 *
 * The text of a record is what `spur report` prints. Where that depends on earlier records that
 * have not been read yet, the answer says "settled":false and may be asked for again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "event/names.h"
#include "event/naming.h"
#include "view/api/api.h"
#include "view/answers/answers.h"

/* ---- stacks ---- */

/*
 * A stack is written right after its event, by the same task in the same context. What comes
 * between is of an interrupt, or of an interrupt of that.
 */

#define TEXT_LIMIT   (64u << 10) /* of a record */
#define MAX_FRAMES   256
#define MOST_BETWEEN 256 /* records of interrupts between an event and its stack */

enum context { TASK, SOFTIRQ, HARDIRQ, NMI };

static enum context context_of(const struct view_cursor *c)
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

static void put_stack(struct view_cursor *c, const char *kind, struct buf *b)
{
	struct buf text;

	buf_init(&text, TEXT_LIMIT);
	view_cursor_text(c, &text);
	buf_printf(b, "{\"kind\":\"%s\",\"frames\":[", kind);
	put_frames(buf_str(&text), b);
	buf_puts(b, "]}");
	buf_free(&text);
}

/* Goes on from the record on its CPU; what it stood on is gone then. */
static void put_following(struct view_cursor *c, struct buf *b)
{
	const enum context context = context_of(c);
	const int pid = view_cursor_pid(c);
	bool user = false, kernel = false;

	buf_puts(b, ",\"stack\":");
	for (int i = 0; i < MOST_BETWEEN && view_cursor_next(c) && !(user && kernel); i++) {
		const char *kind = stack_kind(c->event);
		bool *found = kind && *kind == 'u' ? &user : &kernel;

		if (context_of(c) > context)
			continue;
		if (!kind || context_of(c) < context || view_cursor_pid(c) != pid)
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
int api_put_stacks(const struct view_cursor *c, struct buf *b)
{
	struct view_cursor own;
	const uint64_t offset = c->rec->offset;
	int rc;

	if (!view_has_stacks(view_file(c->view, c->from->file))) {
		buf_puts(b, ",\"stack\":null");
		return 0;
	}
	rc = view_cursor_open(&own, c->view, NULL, c->stop, NULL);
	if (rc == 0) {
		view_cursor_only(&own, c->from->file, c->rec->buffer, c->rec->cpu);
		rc = view_cursor_to_time(&own, c->rec->ts, false, NULL);
	}
	if (rc == 0) {
		bool found = false;

		while (!found && view_cursor_next(&own) && own.rec->ts == c->rec->ts)
			found = own.rec->offset == offset;
		if (found && !stack_kind(own.event))
			put_following(&own, b);
		else
			buf_puts(b, ",\"stack\":null");
	}
	view_cursor_close(&own);
	return rc;
}

/* ---- records ---- */

#define MOST_ROWS  1000
#define TEXT_LIMIT (64u << 10)	/* of a record */
#define WAIT_MS	   300		/* for names that were learned before */
#define SAFE_WHOLE (1ull << 53) /* what a page's numbers hold */

/* ---- a row of the list ---- */

static void put_signed(struct buf *b, const char *name, int64_t v)
{
	buf_printf(b, ",\"%s\":", name);
	buf_i64(b, v);
}

static void put_text(struct buf *b, const char *name, const char *text, size_t len)
{
	buf_printf(b, ",\"%s\":", name);
	buf_json_string(b, text, len);
}

/* What all answers about a record begin with; without the closing brace. */
static void put_record(struct view_cursor *c, struct buf *b)
{
	const int pid = view_cursor_pid(c);
	const uint32_t file = c->from->file;
	size_t len;
	/* Before the text, which may tell the name. */
	const char *comm = view_cursor_comm(c, pid, &len);
	struct buf text;

	buf_puts(b, "{\"n\":");
	if (c->numbered)
		buf_u64(b, c->n);
	else
		buf_puts(b, "null");
	put_signed(b, "ts", (int64_t)(c->rec->ts - view_origin(c->view)));
	put_signed(b, "cpu", c->rec->cpu);
	put_signed(b, "file", file);
	put_signed(b, "buffer", view_buffer_number(c->view, file, c->rec->buffer));
	put_signed(b, "row", view_task_row(c->view, file, c->rec->buffer, pid));
	put_signed(b, "pid", pid);
	put_text(b, "comm", comm, len);
	put_text(b, "event", c->event ? c->event->name : "", c->event ? strlen(c->event->name) : 0);
	put_signed(b, "id",
		   c->event ? view_file(c->view, file)->first_event + (int64_t)c->event->index
			    : -1);
	if (c->rec->lost)
		put_signed(b, "lost", c->rec->lost);
	if (c->folded)
		buf_puts(b, ",\"folded\":true");
	buf_init(&text, TEXT_LIMIT);
	view_cursor_text(c, &text);
	put_text(b, "text", text.data, text.len);
	buf_free(&text);
}

/* ---- events ---- */

struct list {
	uint64_t at, n;
	struct view_search *search; /* NULL: all */
	bool details;		    /* in place of what the list shows */
};

static int put_details(struct view_cursor *c, struct buf *b);

/* What is known about a record besides what the list shows. */
static int put_only_details(struct view_cursor *c, struct buf *b)
{
	int rc;

	buf_puts(b, "{\"n\":");
	buf_u64(b, c->n);
	rc = put_details(c, b);
	buf_putc(b, '}');
	return rc;
}

static int put_all(struct view_cursor *c, const struct list *l, struct buf *b,
		   struct spur_error *err)
{
	int rc = view_cursor_to(c, l->at, err);

	/* Behind the last one there are none. */
	if (rc < 0 && l->at >= view_record_count(c->view))
		return 0;
	for (uint64_t i = 0; rc == 0 && i < l->n && view_cursor_next(c); i++) {
		buf_puts(b, i ? ",\n" : "");
		if (l->details) {
			rc = put_only_details(c, b);
			continue;
		}
		put_record(c, b);
		buf_putc(b, '}');
	}
	return rc;
}

static int put_hits(struct view_cursor *c, const struct list *l, struct buf *b)
{
	struct view_record_id id;

	for (uint64_t i = 0; i < l->n && view_search_hit(l->search, l->at + i, &id); i++) {
		buf_puts(b, i ? ",\n" : "");
		if (*c->stop || !view_cursor_find(c, &id))
			return -EINTR;
		put_record(c, b);
		put_signed(b, "hit", (int64_t)(l->at + i));
		buf_putc(b, '}');
	}
	return 0;
}

static int put_rows(struct view_cursor *c, const struct list *l, struct buf *b,
		    struct spur_error *err)
{
	const size_t start = b->len;
	int rc = l->search ? put_hits(c, l, b) : put_all(c, l, b, err);

	if (rc < 0 || !view_cursor_doubtful(c))
		return rc;
	/* Once more, with what came before. */
	if (view_history_wait(c, c->start, WAIT_MS)) {
		b->len = start;
		c->rec = NULL;
		c->doubtful = false;
		rc = l->search ? put_hits(c, l, b) : put_all(c, l, b, err);
	}
	return rc;
}

static void put_list_head(struct view *v, const struct list *l, struct buf *b)
{
	struct view_search_state state;
	uint64_t total = view_record_count(v);

	if (l->search) {
		view_search_state(l->search, &state);
		total = state.kept;
	}
	buf_puts(b, "{\"first\":");
	buf_u64(b, l->at);
	buf_puts(b, ",\"total\":");
	buf_u64(b, total);
	buf_puts(b, ",\"rows\":[");
}

static int put_list(struct view *v, const struct api_request *q, const struct list *l,
		    struct buf *b, struct spur_error *err)
{
	struct view_cursor c;
	int rc = view_cursor_open(&c, v, l->search ? view_search_sources(l->search) : NULL, q->stop,
				  err);

	put_list_head(v, l, b);
	if (rc == 0)
		rc = put_rows(&c, l, b, err);
	buf_printf(b, "],\"settled\":%s}", view_cursor_doubtful(&c) ? "false" : "true");
	view_cursor_close(&c);
	return rc == 0 && *q->stop ? -EINTR : rc;
}

/* The search that a question names, if it does; to be put back. */
static int find_search(struct view *v, const struct api_request *q, struct view_search **out,
		       struct spur_error *err)
{
	uint64_t id;
	int rc = api_number(q, "search", &id, err);

	*out = NULL;
	if (rc < 0)
		return rc == -ENOENT ? 0 : rc;
	*out = view_search_get(v, id);
	return *out ? 0
		    : error_set(err, -ENOENT, "there is no search %llu any more",
				(unsigned long long)id);
}

/* A number that may be left out. */
static int optional(const struct api_request *q, const char *name, uint64_t *out,
		    struct spur_error *err)
{
	int rc = api_number(q, name, out, err);

	return rc == -ENOENT ? 0 : rc;
}

static int answer_events(struct view *v, const struct api_request *q, struct api_answer *a,
			 struct spur_error *err)
{
	struct list l = {.n = 100};
	uint64_t details = 0;
	int rc = optional(q, "at", &l.at, err);

	if (rc == 0)
		rc = optional(q, "n", &l.n, err);
	if (rc == 0)
		rc = optional(q, "details", &details, err);
	l.details = details;
	if (rc == 0)
		rc = find_search(v, q, &l.search, err);
	if (rc < 0)
		return rc;
	l.n = l.n < MOST_ROWS ? l.n : MOST_ROWS;
	rc = put_list(v, q, &l, &a->body, err);
	view_search_put(l.search);
	return rc;
}

/* ---- ordinal ---- */

static int answer_ordinal(struct view *v, const struct api_request *q, struct api_answer *a,
			  struct spur_error *err)
{
	struct view_search *search = NULL;
	uint64_t ts, n = 0;
	int rc = api_number(q, "ts", &ts, err);

	if (rc == -ENOENT)
		return error_set(err, -EINVAL, "ordinal?ts=TIME");
	if (rc == 0)
		rc = find_search(v, q, &search, err);
	if (rc < 0)
		return rc;
	if (__builtin_add_overflow(ts, view_origin(v), &ts))
		ts = UINT64_MAX;
	if (search)
		n = view_search_at(search, ts);
	else
		rc = view_record_ordinal(v, ts, &n, err);
	view_search_put(search);
	buf_puts(&a->body, "{\"n\":");
	buf_u64(&a->body, n);
	buf_putc(&a->body, '}');
	return rc;
}

/* ---- one event ---- */

/* A number that a page can hold is one; a larger one is text. */
static void put_whole(struct buf *b, uint64_t v, bool is_signed)
{
	const bool negative = is_signed && (int64_t)v < 0;
	const bool safe = negative ? v > 0 - SAFE_WHOLE : v < SAFE_WHOLE;

	buf_puts(b, safe ? "" : "\"");
	if (negative)
		buf_i64(b, (int64_t)v);
	else
		buf_u64(b, v);
	buf_puts(b, safe ? "" : "\"");
}

/* What a number means: a name the format has for it, or the function at that address. */
static bool put_meaning(struct view_cursor *c, const struct event_field *f, uint64_t v,
			struct buf *out)
{
	const struct naming naming = naming_find(c->event, f);
	const struct symbol *symbol;

	if (naming.ops) {
		naming_print(&naming, view_cursor_printer(c), c->rec, out);
		return true;
	}
	if (!(f->flags & (FIELD_POINTER | FIELD_LONG)) || v < 4096)
		return false;
	symbol = symbols_find(c->event->events->symbols, v);
	if (!symbol)
		return false;
	buf_put(out, symbol->name, symbol->len);
	if (v > symbol->addr)
		buf_printf(out, "+0x%llx", (unsigned long long)(v - symbol->addr));
	return true;
}

static void put_field(struct view_cursor *c, const struct event_field *f, struct buf *b)
{
	const struct events *ev = c->event->events;
	const bool is_list = f->flags & (FIELD_ARRAY | FIELD_STRING | FIELD_DYNAMIC);
	const uint8_t *bytes;
	struct buf text;
	uint64_t v = 0;
	size_t size;

	buf_init(&text, TEXT_LIMIT);
	buf_puts(b, "{\"name\":");
	buf_json_string(b, f->name, strlen(f->name));
	put_text(b, "type", f->type ? f->type : "", f->type ? strlen(f->type) : 0);
	buf_puts(b, ",\"value\":");
	if (!is_list && field_number(ev, f, c->rec, &v)) {
		put_whole(b, v, f->flags & FIELD_SIGNED);
		if (!put_meaning(c, f, v, &text))
			event_print_field(view_cursor_printer(c), f, c->rec, &text);
	} else if (f->flags & FIELD_STRING && (bytes = field_bytes(ev, f, c->rec, &size)) != NULL) {
		size = strnlen((const char *)bytes, size);
		buf_json_string(b, (const char *)bytes, size);
		buf_put(&text, bytes, size);
	} else {
		buf_puts(b, "null");
		event_print_field(view_cursor_printer(c), f, c->rec, &text);
	}
	put_text(b, "text", text.data, text.len);
	buf_putc(b, '}');
	buf_free(&text);
}

static void put_fields(struct view_cursor *c, struct buf *b)
{
	buf_puts(b, ",\"fields\":[");
	if (c->event && event_ready(c->event) != EVENT_BROKEN)
		for (uint32_t i = 0; i < c->event->nr_fields; i++) {
			buf_puts(b, i ? "," : "");
			put_field(c, &c->event->fields[i], b);
		}
	buf_putc(b, ']');
}

static const struct {
	unsigned int flag;
	const char *words;
} contexts[] = {
	{0x01, "interrupts off"},    {0x04, "needs to be rescheduled"}, {0x08, "in an interrupt"},
	{0x10, "in a softirq"},	     {0x20, "preemption asked for"},	{0x40, "in an NMI"},
	{0x80, "softirqs disabled"},
};

static void put_context(struct view_cursor *c, struct buf *b)
{
	const struct events *ev = c->from->source->buffer->trace->events;
	const unsigned int flags = events_record_flags(ev, c->rec);
	const struct event_common *common = &ev->common;
	const char *comma = "";

	buf_printf(b, ",\"context\":{\"flags\":%u,\"preempt_count\":%u,\"words\":[", flags,
		   common->has_preempt_count
			   ? (unsigned int)record_uint(ev, c->rec, common->preempt_count.offset,
						       common->preempt_count.size)
			   : 0);
	for (size_t i = 0; i < sizeof(contexts) / sizeof(contexts[0]); i++) {
		if (!(flags & contexts[i].flag))
			continue;
		buf_printf(b, "%s\"%s\"", comma, contexts[i].words);
		comma = ",";
	}
	buf_puts(b, "]}");
}

/* ---- all of it ---- */

static int put_details(struct view_cursor *c, struct buf *b)
{
	const char *system = c->event ? c->event->system : "";

	put_text(b, "system", system, strlen(system));
	put_fields(c, b);
	put_context(c, b);
	return api_put_stacks(c, b);
}

static int put_event(struct view_cursor *c, uint64_t n, struct buf *b, struct spur_error *err)
{
	int rc = view_cursor_to(c, n, err);

	if (rc < 0)
		return rc;
	if (!view_cursor_next(c) || c->n != n)
		return *c->stop ? -EINTR
				: error_set(err, -ENOENT, "there is no event %llu",
					    (unsigned long long)n);
	put_record(c, b);
	if (view_cursor_doubtful(c) && view_history_wait(c, c->start, WAIT_MS)) {
		buf_reset(b);
		rc = view_cursor_to(c, n, err);
		if (rc < 0 || !view_cursor_next(c))
			return rc < 0 ? rc : -EINTR;
		put_record(c, b);
	}
	return 0;
}

static int answer_event(struct view *v, const struct api_request *q, struct api_answer *a,
			struct spur_error *err)
{
	struct buf *b = &a->body;
	struct view_cursor c;
	uint64_t n;
	int rc = api_number(q, "n", &n, err);

	if (rc < 0)
		return rc == -ENOENT ? error_set(err, -EINVAL, "event?n=NUMBER") : rc;
	rc = view_cursor_open(&c, v, NULL, q->stop, err);
	if (rc == 0)
		rc = put_event(&c, n, b, err);
	if (rc == 0) {
		rc = put_details(&c, b);
		buf_putc(b, '}');
	}
	view_cursor_close(&c);
	return rc;
}

const struct api_question api_records[] = {
	{"events", false, answer_events},
	{"ordinal", false, answer_ordinal},
	{"event", false, answer_event},
	{NULL},
};
