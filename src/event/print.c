// SPDX-License-Identifier: LGPL-2.1-or-later
/* Printing an event: by a user's plugin, by a builtin handler, by its plan, or field by field. */
#include <errno.h>

#include "event/event.h"
#include "event/expr.h"
#include "event/handler.h"
#include "event/names.h"
#include "event/plan.h"
#include "event/tep.h"

int event_printer_init(struct event_printer *p, struct events *ev)
{
	*p = (struct event_printer){.events = ev};
	buf_init(&p->scratch, PLAN_MAX_TEXT);
	p->learned = overlay_new(ev->comms);
	return p->learned ? 0 : -ENOMEM;
}

void event_printer_done(struct event_printer *p)
{
	function_stacks_free(p->stacks);
	overlay_free(p->learned);
	array_forms_free(&p->arrays);
	buf_free(&p->scratch);
	p->stacks = NULL;
	p->learned = NULL;
	p->arrays = (struct array_forms){0};
}

static bool print_by_handler(struct event_printer *p, struct event *e, const struct spur_record *r,
			     struct buf *out)
{
	const struct event_handler *h = e->handler;

	if (!h || e->no_handler || p->no_handlers)
		return false;
	return h->print(p, e, r, out);
}

void event_print(struct event_printer *p, struct event *e, const struct spur_record *r,
		 struct buf *out)
{
	const bool raw = p->raw || e->show_raw;

	event_ready(e);
	if (__builtin_expect(event_by_tep(e, p), 0))
		tep_bridge_print(p->events->tep, e, r, raw, out);
	else if (raw)
		event_print_fields(p, e, r, out);
	else if (!print_by_handler(p, e, r, out))
		event_print_plan(p, e, r, out);
}

void event_learn(struct event_printer *p, struct event *e, const struct spur_record *r)
{
	event_ready(e);
	if (e->handler && e->handler->learn && !e->no_handler && !p->no_handlers)
		e->handler->learn(p, e, r);
}

/* ---- reading fields ---- */

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
 * than most records are. libtraceevent shows what follows the record; so do we, within its page.
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

/* Functions of plugins are unknown if plugins are off. Then the format makes no sense. */
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

/* ---- names that a print format has for a field's numbers ---- */

#define MAX_DEPTH 20

static bool is_about(const struct expr *e, const struct event_field *f, int depth)
{
	if (!e || depth > MAX_DEPTH)
		return false;
	switch (e->kind) {
	case EXPR_FIELD: return e->field.at == f;
	case EXPR_CAST: return is_about(e->cast.item, f, depth + 1);
	case EXPR_OP: return is_about(e->left, f, depth + 1) || is_about(e->right, f, depth + 1);
	default: return false;
	}
}

static bool has_names(const struct expr *e, const struct event_field *f, int depth)
{
	if (!e || depth > MAX_DEPTH)
		return false;
	switch (e->kind) {
	case EXPR_FLAGS:
	case EXPR_SYMBOL: return is_about(e->names.value, f, 0);
	case EXPR_CAST: return has_names(e->cast.item, f, depth + 1);
	case EXPR_OP: return has_names(e->left, f, depth + 1) || has_names(e->right, f, depth + 1);
	default: return false;
	}
}

/* How many print more of the same field without a word between. */
static uint32_t count_ops(const struct event_plan *plan, const struct plan_op *first,
			  const struct event_field *f)
{
	const struct plan_op *end = plan->ops + plan->nr_ops, *op = first + 1;

	while (op < end && op->kind == PLAN_STRING && !op->literal_len && is_about(op->arg, f, 0))
		op++;
	return (uint32_t)(op - first);
}

struct naming naming_find(struct event *e, const struct event_field *f)
{
	const struct event_plan *plan = event_ready(e) == EVENT_READY ? e->plan : NULL;

	if (!plan || plan->printk || !(f->flags & (FIELD_FLAG | FIELD_SYMBOLIC)))
		return (struct naming){0};
	for (const struct plan_op *op = plan->ops; op < plan->ops + plan->nr_ops; op++)
		if (op->kind == PLAN_STRING && has_names(op->arg, f, 0))
			return (struct naming){op, count_ops(plan, op, f)};
	return (struct naming){0};
}

/* Nothing but this field, numbers and words. */
static bool is_alone(const struct expr *e, const struct event_field *f, int depth)
{
	if (depth > MAX_DEPTH)
		return false;
	switch (e ? e->kind : EXPR_NULL) {
	case EXPR_NULL:
	case EXPR_ATOM: return true;
	case EXPR_FIELD: return e->field.at == f;
	case EXPR_FLAGS:
	case EXPR_SYMBOL: return is_alone(e->names.value, f, depth + 1);
	case EXPR_CAST: return is_alone(e->cast.item, f, depth + 1);
	case EXPR_OP: return is_alone(e->left, f, depth + 1) && is_alone(e->right, f, depth + 1);
	default: return false;
	}
}

bool naming_alone(const struct naming *n, const struct event_field *f)
{
	for (uint32_t i = 0; i < n->nr; i++)
		if (n->ops[i].star || !is_alone(n->ops[i].arg, f, 0))
			return false;
	return true;
}

void naming_print(const struct naming *n, struct event_printer *p, const struct spur_record *r,
		  struct buf *to)
{
	struct run x = run_start(p, r, to);

	for (uint32_t i = 0; i < n->nr; i++)
		plan_run_op(&x, &n->ops[i]);
}

/* ---- the form of arrays ---- */

void array_forms_free(struct array_forms *a)
{
	map_free(&a->binary);
	map_free(&a->text);
}

void array_forms_reset(struct array_forms *a)
{
	array_forms_free(a);
	*a = (struct array_forms){0};
}

bool array_forms_text(struct array_forms *a, const struct event_field *f, bool printable)
{
	const uint64_t key = (uintptr_t)f;
	struct map *form;

	if (map_get(&a->binary, key))
		return false;
	form = printable ? &a->text : &a->binary;
	if (!map_get(form, key) && !map_set(form, key, a))
		a->lost = true;
	return printable;
}

bool array_forms_stale(const struct array_forms *later, const struct array_forms *earlier)
{
	if (later->lost && earlier->binary.n)
		return true;
	for (size_t i = 0; i < earlier->binary.cap && later->text.n; i++) {
		const struct map_slot *s = &earlier->binary.slots[i];

		if (s->value && map_get(&later->text, s->key))
			return true;
	}
	return false;
}

bool array_forms_adopt(struct array_forms *a, const struct array_forms *from)
{
	for (size_t i = 0; i < from->binary.cap; i++) {
		const struct map_slot *s = &from->binary.slots[i];

		if (s->value && !map_get(&a->binary, s->key) && !map_set(&a->binary, s->key, a))
			return false;
	}
	return !from->lost;
}
