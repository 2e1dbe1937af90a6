// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Strings of the kernel by address, from the text of printk_formats:
 *
 *	0xffffffff8215b060 : "mt_find"
 *	0xffffffffc02a1028 : "%s: took %d us\n"
 *
 * They are the formats of trace_printk() and the constant strings that events only point to.
 * The list is sorted whenever a text was added, so that looking up never changes it. Of equal
 * addresses the later one comes first.
 */
#include "event/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

struct printk_formats {
	struct {
		struct printk_format *at;
		size_t n, cap;
	} list;
	struct {
		char **at; /* copies of the texts, which the list points into */
		size_t n, cap;
	} texts;
};

struct printk_formats *printk_formats_new(void)
{
	return calloc(1, sizeof(struct printk_formats));
}

void printk_formats_free(struct printk_formats *p)
{
	if (!p)
		return;
	vec_each (text, &p->texts)
		free(*text);
	vec_free(&p->texts);
	vec_free(&p->list);
	free(p);
}

/* Strips the quotes and a final \n from a format, in place. */
static const char *unquote(char *s)
{
	size_t n;

	if (*s == '"')
		s++;
	n = strlen(s);
	if (n && s[n - 1] == '"') {
		s[--n] = '\0';
		if (n >= 2 && s[n - 2] == '\\' && s[n - 1] == 'n')
			s[n - 2] = '\0';
	}
	return s;
}

/* Reads one NUL-terminated line. Without memory it returns false. */
static bool add_line(struct printk_formats *p, char *line)
{
	char *colon = strchr(line, ':');
	struct printk_format *f;

	if (!colon)
		return true;
	f = vec_push(&p->list);
	if (!f)
		return false;
	f->addr = strtoull(line, NULL, 16);
	/* A space stands between the colon and the quote. */
	f->text = unquote(colon[1] ? colon + 2 : colon + 1);
	return true;
}

/* Of one text's lines the later has the higher place in memory; qsort() need not be stable. */
static int by_addr(const void *a, const void *b)
{
	const struct printk_format *fa = a, *fb = b;
	uintptr_t ta = (uintptr_t)fa->text, tb = (uintptr_t)fb->text;

	if (fa->addr != fb->addr)
		return fa->addr < fb->addr ? -1 : 1;
	return ta > tb ? -1 : ta < tb;
}

int printk_formats_add(struct printk_formats *p, const char *text, size_t len)
{
	char **slot = vec_push(&p->texts), *line, *end;

	if (!slot)
		return -ENOMEM;
	len = strnlen(text, len);
	*slot = malloc(len + 1);
	if (!*slot)
		return -ENOMEM;
	memcpy(*slot, text, len);
	(*slot)[len] = '\0';

	for (line = *slot, end = line + len; line < end;) {
		char *next = memchr(line, '\n', (size_t)(end - line));

		if (!next)
			next = end;
		*next = '\0';
		if (!add_line(p, line))
			return -ENOMEM;
		line = next + 1;
	}
	if (p->list.n)
		qsort(p->list.at, p->list.n, sizeof(*p->list.at), by_addr);
	return 0;
}

const char *printk_format_find(const struct printk_formats *p, uint64_t addr)
{
	size_t low = 0, high = p ? p->list.n : 0;

	while (low < high) {
		size_t mid = (low + high) / 2;
		uint64_t at = p->list.at[mid].addr;

		if (at == addr)
			return p->list.at[mid].text;
		if (addr < at)
			high = mid;
		else
			low = mid + 1;
	}
	return NULL;
}

const struct printk_format *printk_formats_all(const struct printk_formats *p, size_t *n)
{
	*n = p ? p->list.n : 0;
	return p ? p->list.at : NULL;
}
