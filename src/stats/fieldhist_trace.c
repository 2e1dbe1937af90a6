// SPDX-License-Identifier: GPL-2.0-or-later
/* Counting values of fields in a trace. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stats/fieldhist.h"
#include "base/error.h"
#include "event/names.h"
#include "event/naming.h"
#include "event/pretty_tables.h"

#define ARENA_LIMIT (16u << 20)
#define TEXT_LIMIT  4096
#define NR_CALLS    1024

struct bound {
	struct field_ref ref;
	struct naming names;
};

struct counting {
	struct fieldhist *h;
	struct spur_trace *trace;
	struct event_selector choice;
	struct arena arena;
	struct bound **bound; /* by the event's index, of each field */
	struct comm_times *comms;
	struct event_printer printer;
	bool has_printer;
	const char *calls[NR_CALLS]; /* names of system calls */
	struct buf text;
};

/* ---- fields ---- */

/* What is known about a field, of all events alike. */
static int describe(struct hist_field *f, const struct field_ref *ref, bool first,
		    struct spur_error *err)
{
	const bool is_text = field_ref_is_text(ref);

	if (!first && f->is_text != is_text)
		return error_set(err, -EINVAL, "'%.*s' is a number in one event, text in another",
				 (int)f->len, f->name);
	if (is_text && f->as != AS_IS)
		return error_set(err, -EINVAL, "'%.*s' is text: it has no modifier", (int)f->len,
				 f->name);
	f->is_text = is_text;
	f->is_signed |= !ref->field || ref->field->flags & FIELD_SIGNED;
	f->is_id |= !ref->field || fieldhist_is_id(ref->field);
	return 0;
}

static int check_mode(struct fieldhist *h, struct spur_error *err)
{
	if (fieldhist_is_ranges(h) && h->fields[h->nr - 1].is_text)
		return error_set(err, -EINVAL, "'%.*s' is text: there are no ranges of it",
				 (int)h->fields[h->nr - 1].len, h->fields[h->nr - 1].name);
	return 0;
}

static int bind_event(struct counting *c, struct event *e, bool first, struct spur_error *err)
{
	struct fieldhist *h = c->h;
	struct bound *b = arena_array(&c->arena, h->nr, sizeof(*b));
	int rc = 0;

	if (!b)
		return error_set(err, -ENOMEM, "out of memory");
	for (unsigned int i = 0; rc == 0 && i < h->nr; i++) {
		struct hist_field *f = &h->fields[i];

		rc = field_ref_find(e, f->name, f->len, &b[i].ref, err);
		if (rc == 0)
			rc = describe(f, &b[i].ref, first, err);
		if (rc == 0 && b[i].ref.kind == REF_NUMBER && f->as == AS_IS)
			b[i].names = naming_find(e, b[i].ref.field);
	}
	c->bound[e->index] = b;
	return rc;
}

static void find_calls(struct counting *c)
{
	struct arch_walk w = {.arch = pretty_arch_find(c->trace->dat->uname)};

	while (w.arch && pretty_arch_next_call(&w))
		if (w.nr < NR_CALLS)
			c->calls[w.nr] = arena_strndup(&c->arena, w.name, w.len);
}

static int bind_all(struct counting *c, const volatile int *stop, struct spur_error *err)
{
	struct fieldhist *h = c->h;
	int rc = selector_parse_parts(&c->choice, c->trace->events, &h->event, err);

	c->bound = calloc(c->trace->events->nr + 1, sizeof(struct bound *));
	c->comms = comm_times_new(c->trace, stop);
	if (rc == 0 && (!c->bound || !c->comms))
		rc = error_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; rc == 0 && i < c->choice.n; i++)
		rc = bind_event(c, c->choice.at[i], i == 0, err);
	if (rc == 0)
		rc = check_mode(h, err);
	for (unsigned int i = 0; i < h->nr; i++)
		if (h->fields[i].as == AS_SYSCALL) {
			find_calls(c);
			break;
		}
	return rc;
}

/* ---- values ---- */

static struct event_printer *printer(struct counting *c)
{
	if (!c->has_printer)
		c->has_printer = event_printer_init(&c->printer, c->trace->events) == 0;
	return c->has_printer ? &c->printer : NULL;
}

/* The number as the key has it: equal for what is shown as one. */
static int64_t key_number(const struct counting *c, const struct hist_field *f, int64_t v)
{
	const struct symbol *sym;

	switch (f->as) {
	case AS_SYM:
		sym = symbols_find(c->trace->events->symbols, (uint64_t)v);
		return sym ? (int64_t)sym->addr : v;
	case AS_LOG2: return fieldhist_log2(v);
	case AS_BUCKETS: return fieldhist_linear(v, f->step);
	case AS_USECS: return f->is_signed ? v / 1000 : (int64_t)((uint64_t)v / 1000);
	default: return v;
	}
}

/* What the number is called; nothing is appended when it has no name. */
static void put_name(struct counting *c, const struct hist_field *f, const struct bound *b,
		     const struct spur_record *r, int64_t v)
{
	const struct symbol *sym;
	const char *name;

	switch (f->as) {
	case AS_IS:
		if (b->names.nr && printer(c))
			naming_print(&b->names, &c->printer, r, &c->text);
		break;
	case AS_SYM:
	case AS_SYM_OFFSET:
		sym = symbols_find(c->trace->events->symbols, (uint64_t)v);
		if (sym)
			buf_puts(&c->text, sym->name);
		if (sym && f->as == AS_SYM_OFFSET)
			buf_printf(&c->text, "+0x%llx",
				   (unsigned long long)((uint64_t)v - sym->addr));
		break;
	case AS_EXECNAME:
		name = comm_at(c->comms, (int)v, r->ts);
		buf_printf(&c->text, "%s-%lld", name ? name : "<...>", (long long)v);
		break;
	case AS_SYSCALL:
		if (v >= 0 && v < NR_CALLS && c->calls[v])
			buf_puts(&c->text, c->calls[v]);
		break;
	default: break;
	}
}

static bool take_value(struct counting *c, unsigned int i, const struct bound *b,
		       const struct spur_record *r, struct hist_value *to)
{
	const struct hist_field *f = &c->h->fields[i];
	struct ref_value v;

	if (!field_ref_get(c->trace->events, &b->ref, c->comms, r, &v))
		return false;
	if (v.text) {
		to->text = strndup(v.text, v.len);
		return to->text;
	}
	to->number = key_number(c, f, v.number);
	if (i == c->h->nr - 1 && c->h->mode == HIST_LOG2)
		to->number = fieldhist_log2(v.number);
	else if (i == c->h->nr - 1 && c->h->mode == HIST_LINEAR)
		to->number = fieldhist_linear(v.number, c->h->step);
	else if (b->names.nr || f->as != AS_IS) {
		buf_reset(&c->text);
		put_name(c, f, b, r, v.number);
		to->text = c->text.len ? strdup(buf_str(&c->text)) : NULL;
	}
	return true;
}

static void count_record(struct counting *c, const struct event *e, const struct spur_record *r)
{
	struct hist_value values[HIST_KEYS] = {0};
	bool all = true;

	for (unsigned int i = 0; all && i < c->h->nr; i++)
		all = take_value(c, i, &c->bound[e->index][i], r, &values[i]);
	if (all) {
		fieldhist_count(c->h, values, 1);
		return;
	}
	c->h->missing++;
	fieldhist_free_values(c->h, values);
}

int fieldhist_trace(struct fieldhist *h, struct spur_trace *t, const struct walk_options *walk,
		    bool (*wanted)(void *arg, const struct spur_record *r,
				   struct comm_times *comms),
		    void *arg, struct spur_error *err)
{
	struct counting c = {.h = h, .trace = t};
	const struct spur_record *r;
	struct walk w;
	int rc;

	arena_init(&c.arena, ARENA_LIMIT);
	buf_init(&c.text, TEXT_LIMIT);
	rc = bind_all(&c, walk->stop, err);
	if (rc == 0) {
		rc = walk_open(&w, t, walk, err);
		for (size_t i = 0; rc == 0 && i < c.choice.n; i++)
			walk_want(&w, c.choice.at[i]);
		while (rc == 0 && h->rc == 0 && (r = walk_next(&w)) != NULL) {
			struct event *e = events_of_record(t->events, r);

			if (e && c.bound[e->index] && (!wanted || wanted(arg, r, c.comms)) &&
			    selector_matches(&c.choice, e, r))
				count_record(&c, e, r);
		}
		if (rc == 0 && w.stopped)
			rc = -EINTR;
		walk_close(&w);
	}
	if (c.has_printer)
		event_printer_done(&c.printer);
	comm_times_free(c.comms);
	selector_free(&c.choice);
	free(c.bound);
	buf_free(&c.text);
	arena_free(&c.arena);
	return rc;
}
