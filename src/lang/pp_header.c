// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Headers in angle brackets. Types come from BTF, which has no macros: a name in capital letters
 * that nothing else knows is looked for among the definitions of the headers that the script
 * includes, and taken if it stands for a number. Nothing is read before such a name comes up. What
 * headers include themselves, and their conditions, do not count.
 */
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/file.h"
#include "lang/constants.h"
#include "lang/lex.h"
#include "lang/pp.h"

#define MOST_HEADERS 64

/* Below the kernel's source or headers. */
static const char *const folders[] = {"include", "include/uapi", "include/generated/uapi"};

struct pp_header {
	struct pp_header *next;
	const char *name;
	struct pp_text *texts; /* once they were read */
	bool read;
};

/* A file of that name; several folders may have one. */
struct pp_text {
	struct pp_text *next;
	const char *at;
	size_t len;
};

void pp_add_header(struct lexer *l, const char *name, size_t len)
{
	struct pp_header *h;
	unsigned int n = 0;

	if (l->opt && l->opt->no_files)
		return;
	for (h = l->pp.headers; h; h = h->next)
		n++;
	h = n < MOST_HEADERS && !memmem(name, len, "..", 2) ? arena_alloc(l->arena, sizeof(*h))
							    : NULL;
	if (!h)
		return;
	*h = (struct pp_header){.next = l->pp.headers, .name = arena_strndup(l->arena, name, len)};
	if (h->name)
		l->pp.headers = h;
}

static void read_from(struct lexer *l, struct pp_header *h, const char *dir, const char *below)
{
	struct pp_text *t;
	struct buf text;
	char path[PATH_MAX];
	const int n =
		snprintf(path, sizeof(path), "%s/%s%s%s", dir, below, *below ? "/" : "", h->name);

	buf_init(&text, SOURCE_LIMIT);
	if (n > 0 && (size_t)n < sizeof(path) && !file_read(path, &text, NULL) && text.len) {
		t = arena_alloc(l->arena, sizeof(*t));
		if (t)
			*t = (struct pp_text){
				h->texts, arena_strndup(l->arena, text.data, text.len), text.len};
		if (t && t->at)
			h->texts = t;
	}
	buf_free(&text);
}

static void read_below(struct lexer *l, struct pp_header *h, const char *root)
{
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		read_from(l, h, root, folders[i]);
}

/* Debian divides them: linux-headers-6.1.0-1-amd64 and linux-headers-6.1.0-1-common. */
static void read_kernel(struct lexer *l, struct pp_header *h)
{
	struct utsname u = {0};
	char root[256], *flavour;

	if (l->opt && l->opt->kernel_source) {
		read_below(l, h, l->opt->kernel_source);
		return;
	}
	uname(&u);
	snprintf(root, sizeof(root), "/lib/modules/%s/build", u.release);
	read_below(l, h, root);
	snprintf(root, sizeof(root), "/lib/modules/%s/source", u.release);
	read_below(l, h, root);
	flavour = strrchr(u.release, '-');
	if (flavour)
		*flavour = '\0';
	snprintf(root, sizeof(root), "/usr/src/linux-headers-%s-common", u.release);
	read_below(l, h, root);
}

static void read_header(struct lexer *l, struct pp_header *h)
{
	h->read = true;
	for (const char *const *dir = l->opt ? l->opt->include_dirs : NULL; dir && *dir; dir++)
		read_from(l, h, *dir, "");
	read_kernel(l, h);
	read_from(l, h, "/usr/include", "");
	if (!h->texts)
		l->source->absent = h->name;
}

/* Numbers, other such names and operators: nothing that a script would not understand. */
static bool is_number(const char *s, size_t len)
{
	bool any = false;

	for (size_t i = 0; i < len;) {
		if (isdigit((unsigned char)s[i])) {
			while (i < len && isalnum((unsigned char)s[i]))
				i++;
			any = true;
		} else if (isupper((unsigned char)s[i]) || s[i] == '_') {
			for (; i < len && lex_is_name(s[i]); i++)
				if (islower((unsigned char)s[i]))
					return false;
			any = true;
		} else if (strchr(" \t()+-*/|&^~<>", s[i])) {
			i++;
		} else {
			return false;
		}
	}
	return any;
}

static size_t blanks(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && (s[n] == ' ' || s[n] == '\t'))
		n++;
	return n;
}

/* What stands behind "#define NAME" in a line, without comments; NULL: it is another line. */
static const char *value_of(const char *line, size_t len, const char *name, size_t name_len,
			    size_t *value_len)
{
	const char *end = line + len, *comment;
	size_t n;

	line += blanks(line, len);
	if (line == end || *line++ != '#')
		return NULL;
	line += blanks(line, (size_t)(end - line));
	if (end - line < 7 || memcmp(line, "define", 6) != 0)
		return NULL;
	line += 6;
	n = blanks(line, (size_t)(end - line));
	line += n;
	if (!n || (size_t)(end - line) <= name_len || memcmp(line, name, name_len) != 0)
		return NULL;
	line += name_len;
	n = blanks(line, (size_t)(end - line));
	if (!n)
		return NULL;
	line += n;
	comment = memmem(line, (size_t)(end - line), "/*", 2);
	end = comment ? comment : end;
	while (end > line && isspace((unsigned char)end[-1]))
		end--;
	*value_len = (size_t)(end - line);
	return line;
}

static const char *find_value(const struct pp_text *t, const char *name, size_t name_len,
			      size_t *value_len)
{
	const char *at = t->at, *end = t->at + t->len;

	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		const char *value;

		stop = stop ? stop : end;
		value = value_of(at, (size_t)(stop - at), name, name_len, value_len);
		if (value && is_number(value, *value_len) &&
		    !(*value_len == name_len && !memcmp(value, name, name_len)))
			return value;
		at = stop + 1;
	}
	return NULL;
}

/* BEGIN, END and names that are known otherwise are left alone. */
static bool is_asked_for(const char *name, size_t len)
{
	char copy[128];
	int64_t value;
	bool is_signed;

	if (len < 3 || len >= sizeof(copy) || !isupper((unsigned char)*name))
		return false;
	for (size_t i = 0; i < len; i++)
		if (islower((unsigned char)name[i]))
			return false;
	memcpy(copy, name, len);
	copy[len] = '\0';
	return strcmp(copy, "BEGIN") != 0 && strcmp(copy, "END") != 0 &&
	       !constant_find(copy, &value, &is_signed);
}

const char *pp_header_value(struct lexer *l, const char *name, size_t len, size_t *value_len)
{
	if (!l->pp.headers || !is_asked_for(name, len))
		return NULL;
	for (struct pp_header *h = l->pp.headers; h; h = h->next) {
		if (!h->read)
			read_header(l, h);
		for (const struct pp_text *t = h->texts; t; t = t->next) {
			const char *value = find_value(t, name, len, value_len);

			if (value)
				return value;
		}
	}
	return NULL;
}
