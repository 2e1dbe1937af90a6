// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Functions by address, from the text of /proc/kallsyms:
 *
 *	ffffffff81000000 T _stext
 *	ffffffffc0201000 t nfs_open	[nfs]
 *
 * Several symbols may have one address. People compare texts, so it matters which name is shown.
 * libtraceevent keeps symbols in a list that grows at its front, sorts it stably by
 * address and searches by bisection. So here: among equal addresses the later line comes first, an
 * address inside a function has the name of the earliest line, and the address itself that of
 * whichever the bisection meets.
 *
 * Until the first look-up only the texts are kept. Afterwards nothing changes any more, so threads
 * that have seen `ready` read without a lock.
 */
#include "event/names.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/vec.h"

/* Linux has some 200 000; a file that claims millions is not worth their memory. */
#define MAX_SYMBOLS (4u << 20)

struct source {
	const char *text;
	size_t len;
	char *copy;  /* what to free, or NULL */
	char *names; /* the names found in it, each NUL-terminated */
};

struct symbols {
	pthread_mutex_t lock;
	vec_of(struct source) sources;
	_Atomic bool ready;
	vec_of(struct symbol) syms;
};

struct symbols *symbols_new(void)
{
	struct symbols *s = calloc(1, sizeof(*s));

	if (s)
		pthread_mutex_init(&s->lock, NULL);
	return s;
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	vec_each (src, &s->sources) {
		free(src->copy);
		free(src->names);
	}
	vec_free(&s->sources);
	vec_free(&s->syms);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static int add_source(struct symbols *s, const char *text, size_t len, char *copy)
{
	const struct source src = {.text = text, .len = len, .copy = copy};
	int ret = 0;

	pthread_mutex_lock(&s->lock);
	if (s->ready)
		ret = -EBUSY;
	else if (!vec_add(&s->sources, &src))
		ret = -ENOMEM;
	pthread_mutex_unlock(&s->lock);
	return ret;
}

int symbols_add_ref(struct symbols *s, const char *kallsyms, size_t len)
{
	return add_source(s, kallsyms, len, NULL);
}

int symbols_add(struct symbols *s, const char *kallsyms, size_t len)
{
	char *copy = malloc(len ? len : 1);
	int ret;

	if (!copy)
		return -ENOMEM;
	memcpy(copy, kallsyms, len);
	ret = add_source(s, copy, len, copy);
	if (ret < 0)
		free(copy);
	return ret;
}

/* ---- parsing ---- */

/* 1 + the value of a hexadecimal digit; 0 for all else. */
static const uint8_t digit_plus_1[256] = {
	['0'] = 1,  ['1'] = 2,	['2'] = 3,  ['3'] = 4,	['4'] = 5,  ['5'] = 6,
	['6'] = 7,  ['7'] = 8,	['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
	['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
	['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

static const char *skip_blank(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p;
}

static const char *skip_word(const char *p, const char *end)
{
	const char *blank = memchr(p, ' ', (size_t)(end - p));

	end = blank ? blank : end;
	blank = memchr(p, '\t', (size_t)(end - p));
	return blank ? blank : end;
}

/* Up to 16 digits; NULL when there is none. */
static const char *parse_hex(const char *p, const char *end, uint64_t *value)
{
	const char *start = p, *stop = end - p > 16 ? p + 16 : end;
	uint64_t v = 0;

	for (; p < stop; p++) {
		unsigned int digit = digit_plus_1[(unsigned char)*p] - 1u;

		if (digit > 15)
			break;
		v = v << 4 | digit;
	}
	*value = v;
	return p > start ? p : NULL;
}

struct line {
	uint64_t addr;
	char type;
	const char *name, *name_end;
	const char *module, *module_end; /* NULL without a module */
};

static bool parse_line(const char *p, const char *end, struct line *l)
{
	p = parse_hex(skip_blank(p, end), end, &l->addr);
	if (!p)
		return false;
	p = skip_blank(p, end);
	if (p == end)
		return false;
	l->type = *p++;
	l->name = skip_blank(p, end);
	l->name_end = skip_word(l->name, end);
	if (l->name == l->name_end)
		return false;
	l->module = NULL;
	p = l->name_end;
	if (end - p > 2 && p[0] == '\t' && p[1] == '[') {
		l->module = p + 2;
		/* Without its closing bracket. */
		l->module_end = skip_word(l->module, end) - 1;
		if (l->module_end < l->module)
			l->module = NULL;
	}
	return true;
}

/* Copies a word into the source's names and terminates it. */
static const char *keep(char **to, const char *s, size_t n)
{
	char *word = *to;

	memcpy(word, s, n);
	word[n] = '\0';
	*to += n + 1;
	return word;
}

/*
 * Parses one text, up to its first line that is no symbol. Each word of a line is followed by at
 * least one byte that is not kept, so the names never take more room than the text.
 */
static bool parse_source(struct symbols *s, struct source *src)
{
	const char *p = src->text, *end = p + strnlen(p, src->len), *module = NULL;
	char *to = src->names = malloc((size_t)(end - p) + 1);
	struct line l;

	if (!to)
		return false;
	for (const char *next; p < end && s->syms.n < MAX_SYMBOLS; p = next + 1) {
		struct symbol *sym;

		next = memchr(p, '\n', (size_t)(end - p));
		if (!next)
			next = end;
		if (p == next)
			continue;
		if (!parse_line(p, next, &l))
			break;
		/* ARM marks code with symbols like $a; A is an offset of a per-CPU variable. */
		if (*l.name == '$' || l.type == 'A' || l.type == 'a')
			continue;
		sym = vec_push(&s->syms);
		if (!sym)
			return false;
		sym->addr = l.addr;
		sym->len = (size_t)(l.name_end - l.name);
		sym->name = keep(&to, l.name, sym->len);
		if (l.module) {
			size_t n = (size_t)(l.module_end - l.module);

			/* The symbols of a module stand together. */
			if (!module || strncmp(module, l.module, n) != 0 || module[n])
				module = keep(&to, l.module, n);
			sym->module = module;
		}
	}
	return true;
}

/* ---- order ---- */

/* The first of [a, b) that lies above addr. */
static struct symbol *first_above(struct symbol *a, struct symbol *b, uint64_t addr)
{
	size_t i;

	binary_search(i, 0, (size_t)(b - a), a[i].addr <= addr);
	return a + i;
}

/* Merges the sorted neighbours [a, b) and [b, c); tmp has room for the first. */
static void merge(struct symbol *a, struct symbol *b, struct symbol *c, struct symbol *tmp)
{
	struct symbol *left = tmp, *left_end, *right = b;

	a = first_above(a, b, b->addr);
	left_end = tmp + (b - a);
	memcpy(tmp, a, (size_t)(b - a) * sizeof(*a));
	while (left < left_end && right < c)
		*a++ = right->addr < left->addr ? *right++ : *left++;
	memcpy(a, left, (size_t)(left_end - left) * sizeof(*a));
}

static size_t run_end(const struct symbol *at, size_t i, size_t n)
{
	for (i++; i < n && at[i - 1].addr <= at[i].addr; i++)
		;
	return i;
}

/*
 * A merge sort of the runs that are sorted already. The kernel's own symbols are one long run;
 * only those of the modules after it are not in order, and must be sorted first.
 */
static bool sort_by_addr(struct symbol *at, size_t n)
{
	size_t first = run_end(at, 0, n);
	struct symbol *tmp;

	if (first >= n)
		return true;
	tmp = malloc(n * sizeof(*tmp));
	if (!tmp)
		return false;
	while (run_end(at, first, n) < n) {
		for (size_t a = first, c; a < n; a = c) {
			size_t b = run_end(at, a, n);

			c = b < n ? run_end(at, b, n) : n;
			if (b < n)
				merge(at + a, at + b, at + c, tmp);
		}
	}
	merge(at, at + first, at + n, tmp);
	free(tmp);
	return true;
}

/* Later lines first where the address is the same. */
static void reverse_equals(struct symbol *at, size_t n)
{
	for (size_t a = 0, b; a < n; a = b) {
		for (b = a + 1; b < n && at[b].addr == at[a].addr; b++)
			;
		for (size_t i = a, j = b - 1; i < j; i++, j--) {
			struct symbol tmp = at[i];

			at[i] = at[j];
			at[j] = tmp;
		}
	}
}

/* Without memory, the symbols read so far are used. */
static void parse_all(struct symbols *s)
{
	vec_each (src, &s->sources)
		if (!parse_source(s, src))
			break;
	if (!s->syms.n)
		return;
	if (!sort_by_addr(s->syms.at, s->syms.n))
		s->syms.n = 0;
	reverse_equals(s->syms.at, s->syms.n);
}

static void ensure_ready(struct symbols *s)
{
	if (__builtin_expect(s->ready, 1))
		return;
	pthread_mutex_lock(&s->lock);
	/* A look-up before there is any text does not prevent adding one later. */
	if (!s->ready && s->sources.n) {
		parse_all(s);
		s->ready = true;
	}
	pthread_mutex_unlock(&s->lock);
}

/* ---- look-ups ---- */

const struct symbol *symbols_find(struct symbols *s, uint64_t addr)
{
	const struct symbol *at;
	size_t low = 0, high;

	if (!s)
		return NULL;
	ensure_ready(s);
	at = s->syms.at;
	high = s->syms.n;
	while (low < high) {
		size_t mid = (low + high) / 2;
		uint64_t next = mid + 1 < s->syms.n ? at[mid + 1].addr : 0;

		if (at[mid].addr == addr || (addr > at[mid].addr && addr < next))
			return &at[mid];
		if (addr < at[mid].addr)
			high = mid;
		else
			low = mid + 1;
	}
	return NULL;
}

const struct symbol *symbols_find_name(struct symbols *s, const char *name)
{
	size_t len = strlen(name);

	if (!s)
		return NULL;
	ensure_ready(s);
	vec_each (sym, &s->syms)
		if (sym->len == len && memcmp(sym->name, name, len) == 0)
			return sym;
	return NULL;
}

const struct symbol *symbols_all(struct symbols *s, size_t *n)
{
	*n = 0;
	if (!s)
		return NULL;
	ensure_ready(s);
	*n = s->syms.n;
	return s->syms.at;
}
