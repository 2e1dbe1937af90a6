// SPDX-License-Identifier: GPL-2.0-or-later
/* Records of the list of all or of a search, and everything that is known about one. */
#include "view/answers/records.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "event/event.h"
#include "event/names.h"

#define TEXT_LIMIT   (64u << 10)  /* of a record */
#define TEXTS_LIMIT  (128u << 20) /* of an answer */
#define MOST_FRAMES  256
#define MOST_BETWEEN 256 /* records of interrupts between an event and its stack */
#define WAIT_MS	     300 /* for names from earlier records */

/* Flags of a record, as the kernel writes them. */
enum {
	FLAG_IRQS_OFF = 0x01,
	FLAG_NEED_RESCHED = 0x04,
	FLAG_HARDIRQ = 0x08,
	FLAG_SOFTIRQ = 0x10,
	FLAG_PREEMPT_RESCHED = 0x20,
	FLAG_NMI = 0x40,
	FLAG_BH_OFF = 0x80,
};

const struct view_context view_contexts[] = {
	{FLAG_IRQS_OFF, "interrupts off"},
	{FLAG_NEED_RESCHED, "needs to be rescheduled"},
	{FLAG_HARDIRQ, "in an interrupt"},
	{FLAG_SOFTIRQ, "in a softirq"},
	{FLAG_PREEMPT_RESCHED, "preemption asked for"},
	{FLAG_NMI, "in an NMI"},
	{FLAG_BH_OFF, "softirqs disabled"},
	{0, NULL},
};

static unsigned int flags_of(const struct view_cursor *c)
{
	return events_record_flags(c->from->emit.buffer->trace->events, c->rec);
}

/* ---- stacks ---- */

/*
 * A stack is written right after its event, by the same task in the same context. Records between
 * the two belong to an interrupt, possibly a nested one.
 */

enum context { TASK, SOFTIRQ, HARDIRQ, NMI };

static enum context context_of(const struct view_cursor *c)
{
	const unsigned int flags = flags_of(c);

	if (flags & FLAG_NMI)
		return NMI;
	return flags & FLAG_HARDIRQ ? HARDIRQ : flags & FLAG_SOFTIRQ ? SOFTIRQ : TASK;
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
static void add_frames(const char *text, struct view_details *d, struct view_records *out)
{
	static const char mark[] = "=> ";
	struct view_stack *stack = &d->stacks.at[d->stacks.n - 1];

	for (const char *at = text; (at = strstr(at, mark)) != NULL && stack->nr < MOST_FRAMES;) {
		struct view_text *frame = vec_push(&d->frames);
		const char *address;
		size_t len;

		if (!frame) {
			out->failed = true;
			return;
		}
		at += sizeof(mark) - 1;
		len = strcspn(at, "\n");
		address = memmem(at, len, " (", 2);
		*frame = view_text_add(&out->texts, at, address ? (size_t)(address - at) : len);
		stack->nr++;
		at += len;
	}
}

static void add_stack(struct view_cursor *c, const char *kind, struct view_details *d,
		      struct view_records *out)
{
	struct view_stack *stack = vec_push(&d->stacks);
	scoped_buf text = buf_new(TEXT_LIMIT);

	if (!stack) {
		out->failed = true;
		return;
	}
	*stack = (struct view_stack){.kind = kind, .first = d->frames.n};
	view_cursor_text(c, &text);
	add_frames(buf_str(&text), d, out);
}

/* Reads the next records of its CPU; this moves the cursor. */
static void add_following(struct view_cursor *c, struct view_details *d, struct view_records *out)
{
	const enum context context = context_of(c);
	const int pid = view_cursor_pid(c);
	bool user = false, kernel = false;

	for (int i = 0; i < MOST_BETWEEN && view_cursor_next(c) && !(user && kernel); i++) {
		const char *kind = stack_kind(c->event);
		bool *found = kind && *kind == 'u' ? &user : &kernel;

		if (context_of(c) > context)
			continue;
		if (!kind || context_of(c) < context || view_cursor_pid(c) != pid)
			break;
		if (!*found)
			add_stack(c, kind, d, out);
		*found = true;
	}
}

/* The record's own lane is read, from the record on. */
static int add_stacks(const struct view_cursor *c, struct view_details *d, struct view_records *out)
{
	struct view_cursor own;
	bool found = false;
	int rc;

	if (!view_has_stacks(view_file(c->view, c->from->file)))
		return 0;
	rc = view_cursor_open(&own, c->view, NULL, c->stop, NULL);
	if (rc == 0) {
		view_cursor_only(&own, c->from->file, c->rec->buffer, c->rec->cpu);
		rc = view_cursor_to_time(&own, c->rec->ts, false, NULL);
	}
	while (rc == 0 && !found && view_cursor_next(&own) && own.rec->ts == c->rec->ts)
		found = own.rec->offset == c->rec->offset;
	if (found && !stack_kind(own.event))
		add_following(&own, d, out);
	view_cursor_close(&own);
	return rc;
}

/* ---- fields ---- */

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

static void read_field(struct view_cursor *c, const struct event_field *f, struct view_field *out,
		       struct buf *texts)
{
	const struct events *ev = c->event->events;
	const bool is_list = f->flags & (FIELD_ARRAY | FIELD_STRING | FIELD_DYNAMIC);
	const uint8_t *bytes;
	scoped_buf text = buf_new(TEXT_LIMIT);
	size_t size;

	out->field = f;
	if (!is_list && field_number(ev, f, c->rec, &out->number)) {
		out->kind = VIEW_FIELD_NUMBER;
		out->is_signed = f->flags & FIELD_SIGNED;
		if (!put_meaning(c, f, out->number, &text))
			event_print_field(view_cursor_printer(c), f, c->rec, &text);
	} else if (f->flags & FIELD_STRING && (bytes = field_bytes(ev, f, c->rec, &size)) != NULL) {
		out->kind = VIEW_FIELD_TEXT;
		buf_put(&text, bytes, strnlen((const char *)bytes, size));
	} else {
		event_print_field(view_cursor_printer(c), f, c->rec, &text);
	}
	out->text = view_text_add(texts, text.data, text.len);
}

static int add_details(struct view_cursor *c, struct view_records *out)
{
	const struct events *ev = c->from->emit.buffer->trace->events;
	const struct event_common *common = &ev->common;
	struct view_details *d = vec_push(&out->details);

	if (!d)
		return -ENOMEM;
	d->system = c->event ? c->event->system : "";
	d->flags = flags_of(c);
	if (common->has_preempt_count)
		d->preempt_count = (unsigned int)record_uint(
			ev, c->rec, common->preempt_count.offset, common->preempt_count.size);
	if (c->event && event_ready(c->event) != EVENT_BROKEN)
		for (uint32_t i = 0; i < c->event->nr_fields; i++) {
			struct view_field *f = vec_push(&d->fields);

			if (!f)
				return -ENOMEM;
			read_field(c, &c->event->fields[i], f, &out->texts);
		}
	return add_stacks(c, d, out);
}

/* ---- the list ---- */

static int add_record(struct view_cursor *c, struct view_records *out)
{
	const int pid = view_cursor_pid(c);
	const uint32_t file = c->from->file;
	struct view_record *r = vec_push(&out->list);
	const char *comm;
	struct buf text;
	size_t len;

	if (!r)
		return -ENOMEM;
	*r = (struct view_record){
		.n = c->n,
		.numbered = c->numbered,
		.ts = (int64_t)(c->rec->ts - view_origin(c->view)),
		.cpu = c->rec->cpu,
		.file = file,
		.buffer = view_buffer_number(c->view, file, c->rec->buffer),
		.row = view_task_row(c->view, file, c->rec->buffer, pid),
		.pid = pid,
		.event = c->event,
		.type = c->event ? view_file(c->view, file)->first_event + (int64_t)c->event->index
				 : -1,
		.lost = c->rec->lost,
		.folded = c->folded,
	};
	/* Before the text is printed, because printing may learn the name. */
	comm = view_cursor_comm(c, pid, &len);
	r->comm = view_text_add(&out->texts, comm, len);
	buf_init(&text, TEXT_LIMIT);
	view_cursor_text(c, &text);
	r->text = view_text_add(&out->texts, text.data, text.len);
	buf_free(&text);
	return 0;
}

static void clear(struct view_records *r)
{
	vec_each (d, &r->details) {
		vec_free(&d->fields);
		vec_free(&d->stacks);
		vec_free(&d->frames);
	}
	r->details.n = r->list.n = 0;
	buf_reset(&r->texts);
}

static int add_all(struct view_cursor *c, const struct view_records_options *o,
		   struct view_records *out, struct spur_error *err)
{
	int rc = view_cursor_to(c, o->at, err);

	/* After the last one there are none. */
	if (rc < 0 && o->at >= view_record_count(c->view))
		return 0;
	for (uint64_t i = 0; rc == 0 && i < o->n && view_cursor_next(c); i++) {
		rc = add_record(c, out);
		if (rc == 0 && o->details)
			rc = add_details(c, out);
	}
	return rc;
}

static int add_hits(struct view_cursor *c, const struct view_records_options *o,
		    struct view_records *out)
{
	struct view_record_id id;
	int rc = 0;

	for (uint64_t i = 0; rc == 0 && i < o->n && view_search_hit(o->search, o->at + i, &id);
	     i++) {
		if (*c->stop || !view_cursor_find(c, &id))
			return -EINTR;
		rc = add_record(c, out);
		if (rc == 0)
			out->list.at[out->list.n - 1].hit = o->at + i;
	}
	return rc;
}

static int add_records(struct view_cursor *c, const struct view_records_options *o,
		       struct view_records *out, struct spur_error *err)
{
	int rc = o->search ? add_hits(c, o, out) : add_all(c, o, out, err);

	/* Again, with the state of earlier records. */
	if (rc == 0 && view_cursor_doubtful(c) && view_history_wait(c, c->start, WAIT_MS)) {
		clear(out);
		c->rec = NULL;
		c->doubtful = false;
		rc = o->search ? add_hits(c, o, out) : add_all(c, o, out, err);
	}
	return rc;
}

static void init(struct view_records *r)
{
	*r = (struct view_records){0};
	buf_init(&r->texts, TEXTS_LIMIT);
}

static int end(struct view_cursor *c, struct view_records *out, int rc, struct spur_error *err)
{
	out->settled = !view_cursor_doubtful(c);
	view_cursor_close(c);
	if (rc == 0 && buf_full(&out->texts))
		return error_set(err, -E2BIG, "the answer is too large: ask for less at a time");
	return rc == 0 && out->failed ? -ENOMEM : rc;
}

int view_records_read(struct view *v, const struct view_records_options *o,
		      struct view_records *out, struct spur_error *err)
{
	struct view_records_options limited = *o;
	struct view_cursor c;
	int rc = view_cursor_open(&c, v, o->search ? view_search_sources(o->search) : NULL, o->stop,
				  err);

	init(out);
	limited.n = o->n < VIEW_MOST_RECORDS ? o->n : VIEW_MOST_RECORDS;
	if (rc == 0)
		rc = add_records(&c, &limited, out, err);
	rc = end(&c, out, rc, err);
	return rc == 0 && *o->stop ? -EINTR : rc;
}

/* ---- one record ---- */

static int add_one(struct view_cursor *c, uint64_t n, struct view_records *out,
		   struct spur_error *err)
{
	int rc = view_cursor_to(c, n, err);

	if (rc < 0)
		return rc;
	if (!view_cursor_next(c) || c->n != n)
		return *c->stop ? -EINTR
				: error_set(err, -ENOENT, "there is no event %llu",
					    (unsigned long long)n);
	return add_record(c, out);
}

int view_record_read(struct view *v, uint64_t n, const volatile int *stop, struct view_records *out,
		     struct spur_error *err)
{
	struct view_cursor c;
	int rc = view_cursor_open(&c, v, NULL, stop, err);

	init(out);
	if (rc == 0)
		rc = add_one(&c, n, out, err);
	if (rc == 0 && view_cursor_doubtful(&c) && view_history_wait(&c, c.start, WAIT_MS)) {
		clear(out);
		rc = add_one(&c, n, out, err);
	}
	if (rc == 0)
		rc = add_details(&c, out);
	return end(&c, out, rc, err);
}

void view_records_free(struct view_records *r)
{
	clear(r);
	vec_free(&r->list);
	vec_free(&r->details);
	buf_free(&r->texts);
}
