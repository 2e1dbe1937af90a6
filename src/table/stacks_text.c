// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stacks as text. A trace has many records with stacks and few different ones: names are looked up
 * for each of those once. What comes beyond the limit of memory has no text.
 */
#include "table/stacks_parts.h"

#include <stdlib.h>
#include <string.h>

#include "event/names.h"

#define STACKS_LIMIT (32u << 20)
#define TEXT_LIMIT   (64u << 10) /* bytes of one */
#define MAX_FRAMES   1024
#define TRAMPOLINE   0x7fffffffu /* what the kernel writes for ftrace's own code */

/* Two stacks one behind the other. */
struct joined {
	const struct folded *user, *kernel;
	const char *text;
};

/* Where an event has its addresses. */
struct layout {
	struct event *event; /* NULL: not looked at yet */
	uint32_t offset, size;
	uint32_t end; /* of a fixed array; 0: the addresses run to the record's end */
	struct number count, tgid;
};

struct folder {
	struct events *events;
	const char *suffix;
	struct arena arena;
	struct intern texts;
	struct hash_seed seed;
	struct map stacks, joins; /* by hash; of unequal ones the later uses the next one */
	struct layout kernel, user;
	struct buf text;
	uint64_t address[MAX_FRAMES];
};

struct folder *folder_new(struct events *ev, const char *suffix)
{
	struct folder *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->events = ev;
	f->suffix = suffix;
	f->seed = hash_seed_new();
	arena_init(&f->arena, STACKS_LIMIT);
	intern_init(&f->texts, STACKS_LIMIT);
	buf_init(&f->text, TEXT_LIMIT);
	return f;
}

void folder_free(struct folder *f)
{
	if (!f)
		return;
	map_free(&f->stacks);
	map_free(&f->joins);
	intern_free(&f->texts);
	arena_free(&f->arena);
	buf_free(&f->text);
	free(f);
}

/* ---- names ---- */

/* A name as a part of a folded stack, which is one line and separated by semicolons. */
static void put_name(struct buf *out, const char *name)
{
	for (; *name; name++)
		buf_putc(out, *name == ';' || (unsigned char)*name < ' ' ? '_' : *name);
}

static void put_address(struct buf *out, uint64_t addr)
{
	buf_puts(out, "0x");
	buf_hex(out, addr);
}

static void put_kernel(struct folder *f, uint64_t addr)
{
	const struct symbol *s = symbols_find(f->events->symbols, addr);

	if (s)
		put_name(&f->text, s->name);
	else if (addr == TRAMPOLINE)
		buf_puts(&f->text, "[FTRACE TRAMPOLINE]");
	else
		put_address(&f->text, addr);
	buf_puts(&f->text, f->suffix);
}

static void put_user(struct folder *f, int tgid, uint64_t addr)
{
	struct events *ev = f->events;
	uint64_t start = 0;
	const char *path = ev->map_of ? ev->map_of(ev->map_arg, tgid, addr, &start) : NULL;
	const char *slash = path ? strrchr(path, '/') : NULL;

	if (path) {
		put_name(&f->text, slash ? slash + 1 : path);
		buf_putc(&f->text, '+');
	}
	put_address(&f->text, addr - start);
}

/* ---- stacks ---- */

static bool same(const struct folded *s, const uint64_t *address, uint32_t nr, int tgid)
{
	return s->nr == nr && s->tgid == tgid &&
	       memcmp(s->address, address, nr * sizeof(*address)) == 0;
}

/* The text of what f->address holds, and where in it the innermost function begins. */
static const char *fold(struct folder *f, uint32_t nr, int tgid, bool user, size_t *top)
{
	buf_reset(&f->text);
	for (uint32_t i = nr; i-- > 0;) {
		if (i + 1 < nr)
			buf_putc(&f->text, ';');
		*top = f->text.len;
		if (user)
			put_user(f, tgid, f->address[i]);
		else
			put_kernel(f, f->address[i]);
	}
	return buf_full(&f->text) ? NULL : intern_text(&f->texts, f->text.data, f->text.len);
}

static const struct folded *keep(struct folder *f, uint64_t hash, uint32_t nr, int tgid, bool user)
{
	struct folded *s = arena_alloc(&f->arena, sizeof(*s));
	uint64_t *address = arena_array(&f->arena, nr, sizeof(*address));
	size_t top = 0;

	if (!s || !address)
		return NULL;
	memcpy(address, f->address, nr * sizeof(*address));
	*s = (struct folded){.depth = nr, .nr = nr, .tgid = tgid, .address = address};
	s->text = fold(f, nr, tgid, user, &top);
	s->top = s->text ? s->text + top : NULL;
	return map_set(&f->stacks, hash, s) ? s : NULL;
}

/* The stack that f->address holds. */
static const struct folded *find(struct folder *f, uint32_t nr, int tgid, bool user)
{
	uint64_t hash = hash_bytes(&f->seed, f->address, nr * sizeof(f->address[0]));
	const struct folded *s;

	if (!nr)
		return NULL;
	hash = hash_add(&f->seed, hash, (uint64_t)(uint32_t)tgid << 1 | user);
	for (; (s = map_get(&f->stacks, hash)) != NULL; hash++)
		if (same(s, f->address, nr, tgid))
			return s;
	return keep(f, hash, nr, tgid, user);
}

/* ---- records ---- */

static const struct layout *layout_of(struct folder *f, struct layout *l, struct event *e)
{
	const struct event_field *caller;

	if (l->event == e)
		return l;
	*l = (struct layout){.event = e, .size = f->events->long_size == 4 ? 4 : 8};
	caller = event_field_find(e, "caller");
	l->offset = caller ? caller->offset : UINT32_MAX;
	l->count = number_of(e, "size");
	l->tgid = number_of(e, "tgid");
	/* Where the record says how many there are the format's own number means nothing. */
	if (caller && !l->count.size && caller->array_len)
		l->end = caller->offset + caller->size;
	return l;
}

/* Reads the addresses; returns how many. */
static uint32_t read_stack(struct folder *f, const struct layout *l, const struct spur_record *r)
{
	const uint32_t end = l->end && l->end < r->size ? l->end : r->size;
	uint64_t most = MAX_FRAMES;
	uint32_t nr = 0;

	if (number_in(&l->count, r)) {
		const uint64_t said = (uint64_t)number_get(f->events, &l->count, r);

		most = said < most ? said : most;
	}
	for (uint32_t at = l->offset; nr < most && at <= end && end - at >= l->size;
	     at += l->size) {
		const uint64_t addr = record_uint(f->events, r, at, l->size);

		if (!addr || (uint32_t)addr == UINT32_MAX)
			break;
		f->address[nr++] = addr;
	}
	return nr;
}

const struct folded *folder_kernel(struct folder *f, struct event *e, const struct spur_record *r)
{
	return find(f, read_stack(f, layout_of(f, &f->kernel, e), r), 0, false);
}

const struct folded *folder_user(struct folder *f, struct event *e, const struct spur_record *r)
{
	const struct layout *l = layout_of(f, &f->user, e);
	int tgid = 0;

	if (f->events->map_of && number_in(&l->tgid, r))
		tgid = (int)number_get(f->events, &l->tgid, r);
	return find(f, read_stack(f, l, r), tgid, true);
}

/* ---- both ---- */

static const char *join(struct folder *f, uint64_t hash, const struct folded *user,
			const struct folded *kernel)
{
	struct joined *j = arena_alloc(&f->arena, sizeof(*j));

	if (!j || !user->text || !kernel->text)
		return NULL;
	buf_reset(&f->text);
	buf_puts(&f->text, user->text);
	buf_putc(&f->text, ';');
	buf_puts(&f->text, kernel->text);
	*j = (struct joined){user, kernel, NULL};
	if (!buf_full(&f->text))
		j->text = intern_text(&f->texts, f->text.data, f->text.len);
	return map_set(&f->joins, hash, j) ? j->text : NULL;
}

const char *folder_join(struct folder *f, const struct folded *user, const struct folded *kernel)
{
	uint64_t hash =
		hash_add(&f->seed, hash_add(&f->seed, 0, (uintptr_t)user), (uintptr_t)kernel);
	const struct joined *j;

	if (!user || !kernel)
		return user ? user->text : kernel ? kernel->text : NULL;
	for (; (j = map_get(&f->joins, hash)) != NULL; hash++)
		if (j->user == user && j->kernel == kernel)
			return j->text;
	return join(f, hash, user, kernel);
}
