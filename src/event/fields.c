// SPDX-License-Identifier: GPL-2.0-or-later
/* Fields of records: reading them, and printing them one by one. */
#include "event/plan.h"

bool field_number(const struct events *ev, const struct event_field *f, const struct spur_record *r,
		  uint64_t *value)
{
	if (f->offset > r->size || f->size > r->size - f->offset)
		return false;
	if (f->size != 1 && f->size != 2 && f->size != 4 && f->size != 8)
		return false;
	if (f->flags & FIELD_SIGNED)
		*value = (uint64_t)record_int(ev, r, f->offset, f->size);
	else
		*value = record_uint(ev, r, f->offset, f->size);
	return true;
}

const uint8_t *field_bytes(const struct events *ev, const struct event_field *f,
			   const struct spur_record *r, size_t *size)
{
	struct run x = {.events = ev, .record = r};
	uint32_t offset = f->offset, len = f->size;
	const uint8_t *p;
	size_t left;

	*size = 0;
	if (f->flags & FIELD_DYNAMIC)
		run_dynamic(&x, f, &offset, &len);
	if (offset >= r->size)
		return NULL;
	p = run_bytes(&x, offset, &left);
	/* An array of size 0 at a record's end is as long as the record. */
	if (!f->size && f->flags & FIELD_ARRAY)
		len = (uint32_t)left;
	*size = len < left ? len : left;
	return p;
}

/* ---- the raw form ------------------------------------------------------------------------ */

static bool is_text(const char *p, size_t n)
{
	for (size_t i = 0; i < n && p[i]; i++)
		if ((p[i] < ' ' || p[i] > '~') && !(p[i] >= '\t' && p[i] <= '\r'))
			return false;
	return true;
}

/*
 * Where an array lies and how many bytes can be shown of it. A stack is declared as an array longer
 * than most records are; the peer shows what follows the record, and so do we within its page.
 */
static const uint8_t *array_bytes(const struct run *x, const struct event_field *f, uint32_t offset,
				  size_t *left)
{
	const struct spur_record *r = x->record;
	const uint8_t *p = run_bytes(x, offset, left);

	if (!(f->flags & FIELD_DYNAMIC) && offset < r->size && r->room > r->size)
		*left = r->room - offset;
	return p;
}

static void print_array(struct run *x, const struct event_field *f)
{
	uint32_t offset = f->offset, len = f->size;
	const char *text;
	size_t left;
	const uint8_t *p;

	if (f->flags & FIELD_DYNAMIC)
		run_dynamic(x, f, &offset, &len);
	p = array_bytes(x, f, offset, &left);
	if (len > left)
		len = (uint32_t)left;
	if (f->flags & FIELD_STRING &&
	    array_forms_text(&x->printer->arrays, f, is_text((const char *)p, len))) {
		size_t n = run_text(x, offset, &text);

		buf_put(x->out, text, n);
		return;
	}
	buf_put(x->out, "ARRAY[", 6);
	for (uint32_t i = 0; i < len && run_goes_on(x); i++) {
		if (i)
			buf_put(x->out, ", ", 2);
		spec_hex_byte(x->out, p[i], false);
	}
	buf_putc(x->out, ']');
}

static void print_signed(struct run *x, const struct event_field *f)
{
	int64_t v = record_int(x->events, x->record, f->offset, f->size);

	if (f->size == 4 && f->flags & FIELD_LONG) {
		buf_put(x->out, "0x", 2);
		buf_hex(x->out, (uint32_t)v);
		return;
	}
	/* Shorts are at least two characters wide. */
	if (f->size == 2 && v >= 0 && v < 10)
		buf_putc(x->out, ' ');
	buf_i64(x->out, v);
}

/* By type and size alone. */
static void print_raw(struct run *x, const struct event_field *f)
{
	uint64_t v;

	if (f->flags & FIELD_ARRAY) {
		print_array(x, f);
		return;
	}
	v = record_uint(x->events, x->record, f->offset, f->size);
	if (f->flags & FIELD_SIGNED && !(f->flags & FIELD_POINTER)) {
		print_signed(x, f);
	} else if (f->flags & (FIELD_POINTER | FIELD_LONG)) {
		buf_put(x->out, "0x", 2);
		buf_hex(x->out, v);
	} else {
		buf_u64(x->out, v);
	}
}

static void print_field(struct run *x, const struct event_field *f, const struct plan_op *op)
{
	if (!op) {
		print_raw(x, f);
		return;
	}
	if (op->after_0x)
		buf_put(x->out, "0x", 2);
	plan_run_op(x, op);
}

static void print_fields(struct run *x, const struct event *e, bool by_plan)
{
	for (uint32_t i = e->nr_common; i < e->nr_fields && run_goes_on(x); i++) {
		const struct event_field *f = &e->fields[i];

		buf_putc(x->out, ' ');
		buf_puts(x->out, f->name);
		buf_putc(x->out, '=');
		print_field(x, f, by_plan ? f->shown_in_turn : NULL);
	}
}

/* ---- events ------------------------------------------------------------------------------ */

static struct run run_start(struct event_printer *p, const struct spur_record *r, struct buf *out)
{
	return (struct run){
		.printer = p,
		.events = p->events,
		.record = r,
		.out = out,
		.start = out->len,
	};
}

/* Functions of plugins are unknown while plugins are off, and then the format makes no sense. */
static bool plan_usable(const struct event_printer *p, const struct event *e)
{
	return e->plan && !(p->no_handlers && e->plan->plugin_func);
}

void event_print_field(struct event_printer *p, const struct event_field *f,
		       const struct spur_record *r, struct buf *out)
{
	struct run x = run_start(p, r, out);

	print_field(&x, f, f->shown);
}

void event_print_fields(struct event_printer *p, struct event *e, const struct spur_record *r,
			struct buf *out)
{
	struct run x = run_start(p, r, out);

	x.raw = true;
	if (event_ready(e) != EVENT_BROKEN)
		print_fields(&x, e, plan_usable(p, e));
}

void event_print_plan(struct event_printer *p, struct event *e, const struct spur_record *r,
		      struct buf *out)
{
	struct run x = run_start(p, r, out);

	if (event_ready(e) == EVENT_BROKEN) {
		buf_puts(out, "[UNKNOWN EVENT]");
	} else if (!plan_usable(p, e)) {
		buf_puts(out, "[FAILED TO PARSE]");
		print_fields(&x, e, false);
	} else if (e->plan->printk) {
		printk_print(&x, e->plan);
	} else {
		plan_run(&x, e->plan);
	}
}
