// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * System calls and signals in words.
 *
 * What there is to know about an event type is found out when its first record is printed and kept
 * as a `struct binding` by the event's index: which fields are arguments, of which kind, under
 * which label. Printing a record then reads values and appends text; it looks up no name.
 *
 * Threads share a decoder. A binding is made under the lock, published by one store, and never
 * changes afterwards. Formats are hostile: a field that has not the size of an argument makes the
 * event one that pretty printing leaves alone, and every value is read within the record.
 */
#include "event/pretty.h"

#include <stdlib.h>
#include <string.h>

#include "event/pretty_bind.h"

#define ARENA_LIMIT (16u << 20)

/* True when all of them lie in the record. */
static bool read_values(const struct events *ev, const struct spur_record *r,
			const struct bound_call *call, uint64_t *values)
{
	for (uint32_t i = 0; i < call->nr; i++)
		if (!bound_read(ev, r, &call->args[i], &values[i]))
			return false;
	return true;
}

/* What a pointer points to, when it was recorded. An empty one means that reading it failed. */
static bool print_pointed(const struct events *ev, const struct bound_call *call, uint32_t i,
			  const uint64_t *values, const struct spur_record *r, struct buf *out)
{
	const struct bound_arg *a = &call->args[i];
	const uint8_t *p, *nul;
	size_t size;

	if (!values[i])
		return false;
	p = field_bytes(ev, a->text, r, &size);
	if (!p || !size)
		return false;
	nul = a->text_is_bytes ? NULL : memchr(p, 0, size);
	pretty_text_quoted(p, nul ? (size_t)(nul - p) : size, out);
	if (a->text_is_bytes && i + 1 < call->nr && call->args[i + 1].kind == A_SIZE &&
	    values[i + 1] > size)
		buf_put(out, "...", 3);
	return true;
}

static void print_call(const struct pretty *pr, const struct events *ev,
		       const struct bound_call *call, const uint64_t *values,
		       const struct spur_record *r, struct buf *out)
{
	struct value_context c = {.sets = pr->sets, .arch = pr->arch, .values = values};
	size_t skip = 2; /* no comma before the first */

	buf_put(out, call->name, call->name_len);
	buf_putc(out, '(');
	for (c.i = 0; c.i < call->nr; c.i++) {
		const struct bound_arg *a = &call->args[c.i];

		c.size = a->size;
		if (!pretty_value_matters(&c, a->kind))
			continue;
		buf_put(out, a->label + skip, a->label_len - skip);
		skip = 0;
		if (!a->text || !print_pointed(ev, call, c.i, values, r, out))
			pretty_value_print(&c, a->kind, out);
	}
	buf_putc(out, ')');
}

static void print_result(const struct pretty *pr, const struct bound_call *call, uint64_t value,
			 unsigned int size, struct buf *out)
{
	struct value_context c = {
		.sets = pr->sets, .arch = pr->arch, .values = &value, .size = size};

	buf_put(out, call->name, call->name_len);
	buf_put(out, " = ", 3);
	pretty_result_print(&c, call->ret, out);
}

bool pretty_print_enter(const struct pretty *pr, const struct binding *b, const struct events *ev,
			const struct spur_record *r, struct buf *out)
{
	uint64_t values[PRETTY_ARGS];

	if (!read_values(ev, r, &b->call, values))
		return false;
	print_call(pr, ev, &b->call, values, r, out);
	return true;
}

bool pretty_print_exit(const struct pretty *pr, const struct binding *b, const struct events *ev,
		       const struct spur_record *r, struct buf *out)
{
	uint64_t value;

	if (!bound_read(ev, r, &b->value, &value))
		return false;
	print_result(pr, &b->call, value, b->value.size, out);
	return true;
}

/* The call that a record of raw_syscalls is about, or NULL. */
static const struct bound_call *raw_call(const struct pretty *pr, const struct binding *b,
					 const struct events *ev, const struct spur_record *r)
{
	uint64_t nr;

	if (!b->raw || !bound_read(ev, r, &b->number, &nr))
		return NULL;
	nr &= ~(uint64_t)pr->arch->abi_bit;
	if (nr < RAW_DENSE)
		return b->raw->dense[nr];
	for (unsigned int i = 0; i < b->raw->nr_sparse; i++)
		if (b->raw->sparse_nr[i] == nr)
			return b->raw->sparse[i];
	return NULL;
}

bool pretty_print_raw_enter(const struct pretty *pr, const struct binding *b,
			    const struct events *ev, const struct spur_record *r, struct buf *out)
{
	const struct bound_call *call = raw_call(pr, b, ev, r);
	const unsigned int size = b->value.size;
	uint64_t values[PRETTY_ARGS];

	if (!call || b->value.offset > r->size || PRETTY_ARGS * size > r->size - b->value.offset)
		return false;
	for (unsigned int i = 0; i < PRETTY_ARGS; i++)
		values[i] = load_uint(r->data + b->value.offset + i * size, size, ev->big_endian);
	print_call(pr, ev, call, values, r, out);
	return true;
}

bool pretty_print_raw_exit(const struct pretty *pr, const struct binding *b,
			   const struct events *ev, const struct spur_record *r, struct buf *out)
{
	static const struct bound_call unknown = {.name = ""};
	const struct bound_call *call = raw_call(pr, b, ev, r);
	uint64_t nr, value;

	if (!bound_read(ev, r, &b->number, &nr) || !bound_read(ev, r, &b->value, &value))
		return false;
	if (!call) {
		buf_put(out, "NR ", 3);
		buf_i64(out, b->number.size == 4 ? (int32_t)nr : (int64_t)nr);
		call = &unknown;
	}
	print_result(pr, call, value, b->value.size, out);
	return true;
}

/* ---- bindings by event -------------------------------------------------------------------- */

/* The binding of events that are printed as usual. */
static const struct binding nothing;

static const struct binding *make_binding(const struct pretty *pr, struct event *e)
{
	struct binder *binder = pr->binder;
	const struct binding ***chunk = &binder->chunks[e->index / PRETTY_CHUNK], **slot;
	struct binding *b;

	if (!*chunk) {
		const struct binding **slots = calloc(PRETTY_CHUNK, sizeof(*slots));

		if (!slots)
			return &nothing;
		__atomic_store_n(chunk, slots, __ATOMIC_RELEASE);
	}
	slot = &(*chunk)[e->index % PRETTY_CHUNK];
	if (*slot)
		return *slot;
	b = arena_alloc(&binder->arena, sizeof(*b));
	if (!b || !pretty_bind(pr, e, b))
		__atomic_store_n(slot, &nothing, __ATOMIC_RELEASE);
	else
		__atomic_store_n(slot, b, __ATOMIC_RELEASE);
	return *slot;
}

static const struct binding *find_binding(const struct pretty *pr, struct event *e)
{
	const struct binding **slots, *b;

	if (e->index / PRETTY_CHUNK >= PRETTY_NR_CHUNKS)
		return &nothing;
	slots = __atomic_load_n(&pr->binder->chunks[e->index / PRETTY_CHUNK], __ATOMIC_ACQUIRE);
	b = slots ? __atomic_load_n(&slots[e->index % PRETTY_CHUNK], __ATOMIC_ACQUIRE) : NULL;
	if (b)
		return b;
	if (event_ready(e) == EVENT_BROKEN)
		return &nothing;
	pthread_mutex_lock(&pr->binder->lock);
	b = make_binding(pr, e);
	pthread_mutex_unlock(&pr->binder->lock);
	return b;
}

bool pretty_print(const struct pretty *pr, struct event_printer *p, struct event *e,
		  const struct spur_record *r, struct buf *out)
{
	const struct binding *b = find_binding(pr, e);

	return b->event == e && b->print(pr, b, p->events, r, out);
}

struct pretty *pretty_new(const char *machine)
{
	struct pretty *pr = calloc(1, sizeof(*pr));
	struct binder *binder = calloc(1, sizeof(*binder));

	if (!pr || !binder) {
		free(pr);
		free(binder);
		return NULL;
	}
	pthread_mutex_init(&binder->lock, NULL);
	arena_init(&binder->arena, ARENA_LIMIT);
	pr->binder = binder;
	pr->arch = pretty_arch_find(machine);
	pretty_arch_sets(pr->arch, pr->sets);
	return pr;
}

void pretty_free(struct pretty *pr)
{
	if (!pr)
		return;
	for (size_t i = 0; i < PRETTY_NR_CHUNKS; i++)
		free(pr->binder->chunks[i]);
	arena_free(&pr->binder->arena);
	pthread_mutex_destroy(&pr->binder->lock);
	free(pr->binder);
	free(pr);
}
