// SPDX-License-Identifier: GPL-2.0-or-later
#include "table/syscalls_parts.h"

#include <stdlib.h>
#include <string.h>

#include "event/pretty_tables.h"

#define NAMES_LIMIT (4u << 20)
#define ARGS_LIMIT  4096 /* bytes of a call's arguments as text */
#define NR_NAMES    1024 /* calls with numbers below have names by number */
#define MAX_ERRNO   4095
#define KEPT_BITS   10
#define NR_KEPT	    (1u << KEPT_BITS) /* arguments whose text is kept */
#define KEY_WORDS   8

/*
 * What an entry's text is made of: the registers of a raw one; of others the whole record, whatever
 * its format shows of it.
 */
struct args_key {
	uint64_t words[KEY_WORDS];
	uint64_t size; /* of the record; 0: registers. Keys are compared as bytes: no padding */
};

struct kept_args {
	struct args_key key;
	struct syscall_args *args; /* NULL: nothing is here */
};

struct syscall_kinds {
	struct events *events;
	struct event_printer printer;
	struct buf text;
	struct syscall_kind **kinds; /* by the event's index */
	struct arena arena;
	const struct pretty_arch *arch; /* NULL: not known */
	const char *names[NR_NAMES];
	struct intern texts;
	bool host_order; /* numbers are as this machine has them */
	uint64_t factors[KEY_WORDS];
	struct kept_args *kept;
	uint64_t nr_args;		   /* texts so far */
	struct syscall_args *dying, *dead; /* dropped since the last record, and before it */
};

/* ---- event types ---- */

static bool starts_with(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

static void bind_args(struct syscall_kind *k, struct event *e)
{
	const struct event_field *args = event_field_find(e, "args");

	if (args && !(args->flags & FIELD_DYNAMIC) &&
	    (args->size == PRETTY_ARGS * 4 || args->size == PRETTY_ARGS * 8))
		k->args = (struct number){args->offset, (uint8_t)(args->size / PRETTY_ARGS), false};
}

static void bind(struct syscall_kind *k, struct event *e)
{
	static const char *const nr_names[] = {"__syscall_nr", "nr", NULL};
	static const char own_enter[] = "sys_enter_", own_exit[] = "sys_exit_";

	if (event_ready(e) == EVENT_BROKEN)
		return;
	if (strcmp(e->system, "raw_syscalls") == 0) {
		k->source = SYSCALL_RAW;
		k->nr = number_of(e, "id");
		k->what = strcmp(e->name, "sys_enter") == 0  ? SYSCALL_ENTER
			  : strcmp(e->name, "sys_exit") == 0 ? SYSCALL_EXIT
							     : SYSCALL_NOTHING;
		bind_args(k, e);
	} else {
		k->source = SYSCALL_OWN;
		k->nr = number_find(e, nr_names);
		if (starts_with(e->name, own_enter)) {
			k->what = SYSCALL_ENTER;
			k->name = e->name + sizeof(own_enter) - 1;
		} else if (starts_with(e->name, own_exit)) {
			k->what = SYSCALL_EXIT;
			k->name = e->name + sizeof(own_exit) - 1;
		}
	}
	k->ret = number_of(e, "ret");
	/* Whatever the format says: both may be -1 and less. */
	k->ret.is_signed = k->nr.is_signed = true;
	if (!k->nr.size)
		k->what = SYSCALL_NOTHING;
}

const struct syscall_kind *syscall_kind_of(struct syscall_kinds *s, struct event *e)
{
	static const struct syscall_kind none;
	struct syscall_kind *k = s->kinds[e->index];

	if (!k) {
		k = arena_alloc(&s->arena, sizeof(*k));
		if (!k)
			return &none;
		bind(k, e);
		s->kinds[e->index] = k;
	}
	return k;
}

/* ---- names and texts ---- */

const char *syscall_name(const struct syscall_kinds *s, const struct syscall_kind *k, int64_t nr)
{
	if (k->name)
		return k->name;
	if (s->arch)
		nr &= ~(int64_t)s->arch->abi_bit;
	return nr >= 0 && nr < NR_NAMES ? s->names[nr] : NULL;
}

static bool is_one_of(const char *name, const char *const *list)
{
	for (; name && *list; list++)
		if (strcmp(name, *list) == 0)
			return true;
	return false;
}

bool syscall_never_returns(const char *name)
{
	static const char *const calls[] = {"exit", "exit_group", NULL};

	/* Asked of every call, most of which the first letter tells. */
	return name && name[0] == 'e' && is_one_of(name, calls);
}

bool syscall_is_birth(const char *name, int64_t ret)
{
	static const char *const calls[] = {"clone", "clone3", "fork", "vfork", NULL};

	return ret == 0 && is_one_of(name, calls);
}

/* ---- arguments ---- */

void syscall_args_drop(struct syscall_kinds *s, struct syscall_args *args)
{
	if (!args || --args->users)
		return;
	args->next = s->dying;
	s->dying = args;
}

void syscall_args_age(struct syscall_kinds *s)
{
	struct syscall_args *next;

	for (struct syscall_args *args = s->dead; args; args = next) {
		next = args->next;
		free(args);
	}
	s->dead = s->dying;
	s->dying = NULL;
}

/* What is in s->text. */
static struct syscall_args *args_new(struct syscall_kinds *s)
{
	struct syscall_args *args = malloc(sizeof(*args) + s->text.len + 1);

	if (!args)
		return NULL;
	args->id = ++s->nr_args;
	args->users = 1;
	memcpy(args->text, s->text.data, s->text.len);
	args->text[s->text.len] = '\0';
	return args;
}

/* The factors are secret: no one can choose keys that fall into one place. */
static struct kept_args *place_of(const struct syscall_kinds *s, const struct args_key *key)
{
	uint64_t hash = 0;

	for (uint32_t i = 0; i < KEY_WORDS; i++)
		hash += key->words[i] * s->factors[i];
	return &s->kept[hash >> (64 - KEPT_BITS)];
}

/* One user more of what is kept for the key; NULL: nothing is. */
static struct syscall_args *find_kept(const struct syscall_kinds *s, const struct args_key *key)
{
	struct kept_args *kept = place_of(s, key);

	if (!kept->args || memcmp(&kept->key, key, sizeof(*key)) != 0)
		return NULL;
	kept->args->users++;
	return kept->args;
}

/* Keeps what is in s->text, in the place of something else. */
static struct syscall_args *keep(struct syscall_kinds *s, const struct args_key *key)
{
	struct kept_args *kept = place_of(s, key);

	syscall_args_drop(s, kept->args);
	kept->key = *key;
	kept->args = args_new(s);
	if (kept->args)
		kept->args->users++;
	return kept->args;
}

static struct syscall_args *raw_args(struct syscall_kinds *s, const struct number *first,
				     const struct spur_record *r)
{
	struct args_key key = {0};
	struct syscall_args *args;

	if (first->size == sizeof(*key.words) && s->host_order)
		memcpy(key.words, r->data + first->offset, PRETTY_ARGS * sizeof(*key.words));
	else
		for (uint32_t i = 0; i < PRETTY_ARGS; i++)
			key.words[i] = record_uint(s->events, r, first->offset + i * first->size,
						   first->size);
	args = find_kept(s, &key);
	if (args)
		return args;
	buf_reset(&s->text);
	for (uint32_t i = 0; i < PRETTY_ARGS; i++) {
		if (i)
			buf_put(&s->text, ", ", 2);
		buf_hex(&s->text, key.words[i]);
	}
	return keep(s, &key);
}

static struct syscall_args *own_args(struct syscall_kinds *s, struct event *e,
				     const struct spur_record *r)
{
	const bool fits = r->size <= sizeof(((struct args_key *)0)->words);
	struct args_key key = {.size = r->size};
	struct syscall_args *args = NULL;

	if (fits) {
		memcpy(key.words, r->data, r->size);
		args = find_kept(s, &key);
	}
	if (args)
		return args;
	buf_reset(&s->text);
	event_print(&s->printer, e, r, &s->text);
	return fits ? keep(s, &key) : args_new(s);
}

struct syscall_args *syscall_args(struct syscall_kinds *s, const struct syscall_kind *k,
				  struct event *e, const struct spur_record *r)
{
	if (k->source == SYSCALL_OWN)
		return own_args(s, e, r);
	if (k->args.size && k->args.offset <= r->size &&
	    PRETTY_ARGS * k->args.size <= r->size - k->args.offset)
		return raw_args(s, &k->args, r);
	return NULL;
}

/* ---- errors ---- */

const char *syscall_error(const struct syscall_kinds *s, int64_t ret)
{
	const struct error_name *error =
		ret < 0 && ret >= -MAX_ERRNO ? pretty_errno((unsigned int)-ret, s->arch) : NULL;

	return error ? error->name : NULL;
}

/* ---- making ---- */

static void read_names(struct syscall_kinds *s)
{
	struct arch_walk w = {.arch = s->arch};

	while (s->arch && pretty_arch_next_call(&w))
		if (w.nr < NR_NAMES)
			s->names[w.nr] = intern_text(&s->texts, w.name, w.len);
}

static void choose_factors(struct syscall_kinds *s)
{
	const struct hash_seed seed = hash_seed_new();

	for (uint32_t i = 0; i < KEY_WORDS; i++)
		s->factors[i] = hash_add(&seed, 0, i) | 1;
}

struct syscall_kinds *syscall_kinds_new(struct spur_trace *t)
{
	struct syscall_kinds *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->events = t->events;
	s->arch = pretty_arch_find(t->dat->uname);
	intern_init(&s->texts, NAMES_LIMIT);
	arena_init(&s->arena, NAMES_LIMIT);
	buf_init(&s->text, ARGS_LIMIT);
	s->kinds = calloc(t->events->nr + 1, sizeof(struct syscall_kind *));
	s->host_order = t->events->big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	choose_factors(s);
	s->kept = calloc(NR_KEPT, sizeof(*s->kept));
	if (event_printer_init(&s->printer, t->events) < 0 || !s->kinds || !s->kept) {
		syscall_kinds_free(s);
		return NULL;
	}
	read_names(s);
	return s;
}

void syscall_kinds_free(struct syscall_kinds *s)
{
	if (!s)
		return;
	intern_free(&s->texts);
	arena_free(&s->arena);
	event_printer_done(&s->printer);
	buf_free(&s->text);
	for (uint32_t i = 0; s->kept && i < NR_KEPT; i++)
		syscall_args_drop(s, s->kept[i].args);
	syscall_args_age(s);
	syscall_args_age(s);
	free(s->kept);
	free(s->kinds);
	free(s);
}
