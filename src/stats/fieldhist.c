// SPDX-License-Identifier: GPL-2.0-or-later
/* Histograms of fields: parsing the options, counting values in a trace, and sorting entries. */
#include "stats/fieldhist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/suggest.h"
#include "base/vec.h"
#include "event/event.h"
#include "event/names.h"
#include "event/pretty_tables.h"

#define MAX_ENTRIES  (1u << 18)
#define MANY	     65536 /* values of a number that may be shown in ranges */
#define FEW	     32	   /* values of one that is not */
#define MAX_BARS     1000
#define NR_MODIFIERS ARRAY_SIZE(modifiers)
#define ARENA_LIMIT  (16u << 20)
#define TEXT_LIMIT   4096
#define NR_CALLS     1024

struct fieldhist_run {
	struct map by_hash;
	struct hash_seed seed;
};

/* ---- what is asked for ---- */

static const struct {
	const char *name;
	enum hist_as as;
} modifiers[] = {
	{"hex", AS_HEX},	   {"sym", AS_SYM},	    {"sym-offset", AS_SYM_OFFSET},
	{"log2", AS_LOG2},	   {"buckets", AS_BUCKETS}, {"usecs", AS_USECS},
	{"execname", AS_EXECNAME}, {"syscall", AS_SYSCALL},
};

static int take_modifier(struct hist_field *f, const char *text, size_t len, struct spur_error *err)
{
	const char *equals = memchr(text, '=', len), *best;
	const size_t word = equals ? (size_t)(equals - text) : len;
	struct suggest near = suggest_for(text, word);
	char *end = NULL;

	for (size_t i = 0; i < NR_MODIFIERS; i++) {
		suggest_try(&near, modifiers[i].name);
		if (strlen(modifiers[i].name) != word || memcmp(modifiers[i].name, text, word) != 0)
			continue;
		f->as = modifiers[i].as;
		if (f->as != AS_BUCKETS && !equals)
			return 0;
		if (equals)
			f->step = strtoll(equals + 1, &end, 0);
		if (f->as == AS_BUCKETS && equals && end == text + len && f->step > 0)
			return 0;
		return error_set(err, -EINVAL,
				 "'.%.*s': it is .buckets=N, and only that has a number", (int)len,
				 text);
	}
	best = suggest_best(&near);
	if (best)
		return error_set(err, -EINVAL, "there is no modifier '.%.*s'; did you mean '.%s'?",
				 (int)word, text, best);
	return error_set(err, -EINVAL,
			 "there is no modifier '.%.*s': it is .hex, .sym, .sym-offset, .log2, "
			 ".buckets=N, .usecs, .execname or .syscall",
			 (int)word, text);
}

static int take_fields(struct fieldhist *h, const char *text, struct spur_error *err)
{
	while (*text) {
		const size_t len = strcspn(text, ",");
		const char *dot = memchr(text, '.', len);
		struct hist_field *f = &h->fields[h->nr];
		int rc = 0;

		if (h->nr == HIST_KEYS)
			return error_set(err, -EINVAL, "no more than %d fields", HIST_KEYS);
		*f = (struct hist_field){.name = text, .len = dot ? (size_t)(dot - text) : len};
		if (!f->len)
			return error_set(err, -EINVAL, "a field is missing in '%s'", text);
		if (dot)
			rc = take_modifier(f, dot + 1, len - f->len - 1, err);
		if (rc < 0)
			return rc;
		h->nr++;
		text += len + (text[len] == ',');
	}
	return 0;
}

int fieldhist_init(struct fieldhist *h, const struct fieldhist_options *opt, struct spur_error *err)
{
	const char *dot = strchr(opt->what, '.');
	int rc = 0;

	*h = (struct fieldhist){.opt = *opt, .mode = opt->mode, .step = opt->step};
	h->run = calloc(1, sizeof(*h->run));
	if (!h->run)
		return error_set(err, -ENOMEM, "out of memory");
	h->run->seed = hash_seed_new();
	if (!dot || dot == opt->what || !dot[1])
		return error_set(err, -EINVAL,
				 "'%s': it is EVENT.field, as in sched_switch.next_comm",
				 opt->what);
	h->event = (struct selector_text){.event = opt->what,
					  .event_len = (size_t)(dot - opt->what),
					  .filter = opt->filter,
					  .filter_len = opt->filter ? strlen(opt->filter) : 0};
	if (opt->by)
		rc = take_fields(h, opt->by, err);
	h->nr_by = h->nr;
	if (rc == 0)
		rc = take_fields(h, dot + 1, err);
	if (rc == 0 && fieldhist_is_ranges(h) &&
	    (h->nr - h->nr_by != 1 || h->fields[h->nr_by].as != AS_IS))
		return error_set(
			err, -EINVAL,
			"ranges are of one field without a modifier; the others go to --by");
	return rc;
}

void fieldhist_free_values(const struct fieldhist *h, struct hist_value *values)
{
	for (unsigned int i = 0; i < h->nr; i++)
		free(values[i].text);
}

void fieldhist_clear(struct fieldhist *h)
{
	vec_each (e, &h->entries) {
		fieldhist_free_values(h, (*e)->values);
		free(*e);
	}
	vec_free(&h->entries);
	map_free(&h->run->by_hash);
	h->run->by_hash = (struct map){0};
	h->total = h->rest = h->missing = 0;
}

void fieldhist_free(struct fieldhist *h)
{
	if (!h->run)
		return;
	fieldhist_clear(h);
	free(h->run);
	h->run = NULL;
}

/* ---- fields ---- */

bool fieldhist_is_id(const struct event_field *f)
{
	static const char *const types[] = {"pid_t", "dev_t", "bool", "enum", "uid_t", "gid_t"};
	static const char *const ends[] = {"pid",   "cpu",   "irq",  "vec", "nr",    "id",
					   "flags", "state", "prio", "ip",  "errno", "type"};
	const size_t len = strlen(f->name);

	if (f->flags & (FIELD_POINTER | FIELD_FLAG | FIELD_SYMBOLIC) ||
	    strncmp(f->name, "common_", 7) == 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (f->type && strstr(f->type, types[i]))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		const size_t end = strlen(ends[i]);

		if (len >= end && strcmp(f->name + len - end, ends[i]) == 0)
			return true;
	}
	return false;
}

/* ---- entries ---- */

static uint64_t hash_values(const struct fieldhist *h, const struct hist_value *values)
{
	const struct hash_seed *seed = &h->run->seed;
	uint64_t hash = 0;

	for (unsigned int i = 0; i < h->nr; i++)
		hash = hash_add(seed, hash,
				h->fields[i].is_text && values[i].text
					? hash_bytes(seed, values[i].text, strlen(values[i].text))
					: (uint64_t)values[i].number);
	return hash;
}

static int compare_value(const struct hist_field *f, const struct hist_value *a,
			 const struct hist_value *b)
{
	if (f->is_text)
		return strcmp(a->text ? a->text : "", b->text ? b->text : "");
	if (!f->is_signed)
		return ((uint64_t)a->number > (uint64_t)b->number) -
		       ((uint64_t)a->number < (uint64_t)b->number);
	return (a->number > b->number) - (a->number < b->number);
}

static int compare_values(const struct fieldhist *h, const struct hist_entry *a,
			  const struct hist_value *b, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		int order = compare_value(&h->fields[i], &a->values[i], &b[i]);

		if (order)
			return order;
	}
	return 0;
}

/* The start of a value's range: by powers of two, and by a step. */
static int64_t log2_start(int64_t v)
{
	return v < 0 ? -1 : v < 2 ? v : (int64_t)1 << (63 - __builtin_clzll((uint64_t)v));
}

static int64_t linear_start(int64_t v, int64_t step)
{
	const int64_t rest = v % step;

	return rest < 0 ? (v - rest < INT64_MIN + step ? INT64_MIN : v - rest - step) : v - rest;
}

/* Replaces the last value of all entries by its range of powers of two. */
static void coarsen(struct fieldhist *h)
{
	const unsigned int last = h->nr - 1;
	struct hist_entry **old = h->entries.at;
	const size_t n = h->entries.n;

	h->entries.at = NULL;
	h->entries.n = h->entries.cap = 0;
	map_free(&h->run->by_hash);
	h->run->by_hash = (struct map){0};
	h->mode = HIST_LOG2;
	for (size_t i = 0; i < n; i++) {
		free(old[i]->values[last].text);
		old[i]->values[last].text = NULL;
		old[i]->values[last].number = log2_start(old[i]->values[last].number);
		h->total -= old[i]->count;
		fieldhist_count(h, old[i]->values, old[i]->count);
		free(old[i]);
	}
	free(old);
}

static bool can_coarsen(const struct fieldhist *h)
{
	const struct hist_field *f = &h->fields[h->nr - 1];

	return h->mode == HIST_AUTO && h->nr - h->nr_by == 1 && !f->is_text && !f->is_id &&
	       f->as == AS_IS;
}

static void add(struct fieldhist *h, struct hist_value *values, uint64_t count, uint64_t hash)
{
	const size_t size = sizeof(struct hist_entry) + h->nr * sizeof(*values);
	struct hist_entry *e = calloc(1, size);

	if (!e || !vec_add(&h->entries, &e)) {
		h->rc = -ENOMEM;
		fieldhist_free_values(h, values);
		free(e);
		return;
	}
	memcpy(e->values, values, h->nr * sizeof(*values));
	e->hash = hash;
	e->count = count;
	e->next = map_get(&h->run->by_hash, hash);
	if (!map_set(&h->run->by_hash, hash, e))
		h->rc = -ENOMEM;
}

void fieldhist_count(struct fieldhist *h, struct hist_value *values, uint64_t count)
{
	const uint64_t hash = hash_values(h, values);
	struct hist_entry *e = map_get(&h->run->by_hash, hash);

	h->total += count;
	while (e && compare_values(h, e, values, h->nr) != 0)
		e = e->next;
	if (e)
		e->count += count;
	else if (h->entries.n >= MAX_ENTRIES)
		h->rest += count;
	if (e || h->entries.n >= MAX_ENTRIES) {
		fieldhist_free_values(h, values);
		return;
	}
	add(h, values, count, hash);
	if (h->entries.n >= MANY && can_coarsen(h))
		coarsen(h);
}

/* ---- the end ---- */

struct sorted {
	struct hist_entry *entry;
	const struct fieldhist *hist;
	uint64_t group; /* of ranges: the total count of its histogram */
	bool by_value;
};

static int by_rank(const void *a, const void *b)
{
	const struct sorted *x = a, *y = b;

	if (!x->by_value && x->group != y->group)
		return x->group < y->group ? 1 : -1;
	return compare_values(x->hist, x->entry, y->entry->values, x->hist->nr);
}

static int by_values(const void *a, const void *b)
{
	const struct sorted *x = a, *y = b;

	return compare_values(x->hist, x->entry, y->entry->values, x->hist->nr);
}

/* Ranges of one histogram are sorted together, so all get the total count of the histogram. */
static void count_groups(struct sorted *list, size_t n)
{
	for (size_t i = 0, end; i < n; i = end) {
		uint64_t sum = 0;

		for (end = i;
		     end < n && compare_values(list[i].hist, list[i].entry, list[end].entry->values,
					       list[i].hist->nr_by) == 0;
		     end++)
			sum += list[end].entry->count;
		for (size_t k = i; k < end; k++)
			list[k].group = sum;
	}
}

/* Whether there are too many numbers to show each. */
static bool are_many(const struct fieldhist *h, const struct sorted *list, size_t n)
{
	size_t run = 0;

	for (size_t i = 0; i < n; i++) {
		run = i && compare_values(h, list[i].entry, list[i - 1].entry->values, h->nr_by) ==
					      0
			      ? run + 1
			      : 1;
		if (run > FEW)
			return true;
	}
	return false;
}

static struct sorted *make_list(const struct fieldhist *h, bool by_value)
{
	struct sorted *list = calloc(h->entries.n + 1, sizeof(*list));

	for (size_t i = 0; list && i < h->entries.n; i++)
		list[i] = (struct sorted){h->entries.at[i], h, h->entries.at[i]->count, by_value};
	if (list)
		qsort(list, h->entries.n, sizeof(*list), by_values);
	return list;
}

int fieldhist_finish(struct fieldhist *h, bool by_value, struct spur_error *err)
{
	struct sorted *list = h->rc < 0 ? NULL : make_list(h, by_value);

	if (list && can_coarsen(h) && are_many(h, list, h->entries.n)) {
		free(list);
		coarsen(h);
		list = h->rc < 0 ? NULL : make_list(h, by_value);
	}
	if (!list)
		return error_set(err, -ENOMEM, "out of memory");
	if (h->mode == HIST_AUTO)
		h->mode = HIST_COUNT;
	if (fieldhist_is_ranges(h))
		count_groups(list, h->entries.n);
	qsort(list, h->entries.n, sizeof(*list), by_rank);
	for (size_t i = 0; i < h->entries.n; i++)
		h->entries.at[i] = list[i].entry;
	free(list);
	return 0;
}

/* ---- showing ---- */

static void put_range(int64_t from, struct buf *to)
{
	static const char suffixes[] = "\0KMGTPE";
	unsigned int k = 0;

	if (from < 0) {
		buf_puts(to, "< 0");
		return;
	}
	for (; from >= 1024; from /= 1024)
		k++;
	buf_printf(to, "%s%lld%.1s", from < 2 && !k ? "" : "~ ", (long long)from, suffixes + k);
}

void fieldhist_put(const struct fieldhist *h, unsigned int field, const struct hist_value *v,
		   struct buf *to)
{
	const struct hist_field *f = &h->fields[field];

	if (v->text)
		buf_puts(to, v->text);
	else if (f->is_text)
		buf_putc(to, '?');
	else if (f->as == AS_HEX || f->as == AS_SYM || f->as == AS_SYM_OFFSET)
		buf_printf(to, "0x%llx", (unsigned long long)v->number);
	else if (f->as == AS_LOG2)
		put_range(v->number, to);
	else if (f->as == AS_BUCKETS)
		buf_printf(to, "~ %lld-%lld", (long long)v->number,
			   (long long)((uint64_t)v->number + (uint64_t)f->step - 1));
	else if (f->is_signed)
		buf_i64(to, v->number);
	else
		buf_u64(to, (uint64_t)v->number);
}

static bool add_bar(struct bars *b, int64_t from, int64_t to, uint64_t count)
{
	struct bar *bar = vec_push(b);

	if (bar)
		*bar = (struct bar){.from = from, .to = to, .count = count};
	return bar;
}

/* Empty ranges between two are shown, unless there are very many. */
static bool add_linear(const struct fieldhist *h, struct bars *b, int64_t from, uint64_t count)
{
	const uint64_t step = (uint64_t)h->step;

	while (b->n && b->n < MAX_BARS && (uint64_t)b->at[b->n - 1].to != (uint64_t)from) {
		const int64_t start = b->at[b->n - 1].to;

		if (!add_bar(b, start, (int64_t)((uint64_t)start + step), 0))
			return false;
	}
	return add_bar(b, from, (int64_t)((uint64_t)from + step), count);
}

bool fieldhist_bars(const struct fieldhist *h, size_t first, size_t *next, struct bars *bars)
{
	const struct hist_entry *head = h->entries.at[first];
	size_t i = first;
	bool ok = true;

	for (; ok && i < h->entries.n; i++) {
		const struct hist_entry *e = h->entries.at[i];
		const int64_t from = e->values[h->nr - 1].number;

		if (compare_values(h, e, head->values, h->nr_by) != 0)
			break;
		ok = h->mode == HIST_LOG2 ? bars_add_log2(bars, from, e->count)
					  : add_linear(h, bars, from, e->count);
	}
	*next = i;
	return ok;
}

/* ---- counting in a trace ---- */

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

/* The number in the key: equal for values that are shown in the same way. */
static int64_t key_number(const struct counting *c, const struct hist_field *f, int64_t v)
{
	const struct symbol *sym;

	switch (f->as) {
	case AS_SYM:
		sym = symbols_find(c->trace->events->symbols, (uint64_t)v);
		return sym ? (int64_t)sym->addr : v;
	case AS_LOG2: return log2_start(v);
	case AS_BUCKETS: return linear_start(v, f->step);
	case AS_USECS: return f->is_signed ? v / 1000 : (int64_t)((uint64_t)v / 1000);
	default: return v;
	}
}

/* Appends the name of the number, if it has one. */
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
		to->number = log2_start(v.number);
	else if (i == c->h->nr - 1 && c->h->mode == HIST_LINEAR)
		to->number = linear_start(v.number, c->h->step);
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
