// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * import "FILE";
 *
 * A file is read when the item is done in which it is imported. What it defines is the same for all
 * of the script, so that it does not matter where that is. bpftrace's own library is part of spur.
 */
#include "lang/parser.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

static bool ends_in(const char *s, const char *end)
{
	const size_t len = strlen(s), n = strlen(end);

	return len > n && !strcmp(s + len - n, end);
}

static void import_file(struct parser *p, const char *path, struct span at)
{
	struct import *i, **end = &p->imports;
	struct span text;
	int r;

	if (ends_in(path, ".c") || ends_in(path, ".o")) {
		lex_error(&p->lex, at, "%s: programs in C cannot be imported", path);
		return;
	}
	r = pp_add_file(&p->lex, path, at, &text);
	if (r == -ENOENT)
		lex_error(&p->lex, at, "%s: there is no such file", path);
	i = r > 0 ? parse_alloc(p, sizeof(*i)) : NULL;
	if (!i)
		return;
	*i = (struct import){.depth = p->lex.nr_in, .text = text, .by = at};
	if (lex_top(&p->lex)->expansion)
		i->depth--;
	while (*end)
		end = &(*end)->next;
	*end = i;
}

static int is_script(const struct dirent *e)
{
	return e->d_name[0] != '.' && (ends_in(e->d_name, ".bt") || ends_in(e->d_name, ".h"));
}

static void import_directory(struct parser *p, const char *path, struct span at)
{
	struct dirent **entries;
	const int n = scandir(path, &entries, is_script, alphasort);

	for (int i = 0; i < n; i++) {
		struct buf name;

		buf_init(&name, 1 << 16);
		buf_printf(&name, "%s/%s", path, entries[i]->d_name);
		import_file(p, buf_str(&name), at);
		buf_free(&name);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

void parse_import(struct parser *p)
{
	struct span at = parse_next(p).at;
	const struct token name = *parse_tok(p);
	struct stat st;

	if (!parse_expect(p, T_STRING, "the name of a file in quotes"))
		return;
	at = source_join(p->source, at, name.at);
	if (!parse_expect(p, ';', "';' after the import") || !strncmp(name.text, "stdlib", 6))
		return;
	if (!(p->lex.opt && p->lex.opt->no_files) && stat(name.text, &st) == 0 &&
	    S_ISDIR(st.st_mode))
		import_directory(p, name.text, at);
	else
		import_file(p, name.text, at);
}
