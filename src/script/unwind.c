// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The tables: rows of files into the kernel's maps. A file's rows are complete before its entry
 * says where they are, and never change afterwards.
 */
#include "script/unwind.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "script/unwind_parts.h"
#include "symbols/cfi.h"
#include "probe/loader.h"

#define PATHS_MEMORY (1u << 20)

/* ---- opening --------------------------------------------------------------------------- */

int unwind_open(struct kmaps *maps, const struct unit *unit, struct unwinder **out,
		struct spur_error *err)
{
	const struct unit_unwind *n = &unit->unwind;
	struct unwinder *u = calloc(1, sizeof(*u));

	*out = u;
	if (!u)
		return error_set(err, -ENOMEM, "out of memory");
	u->files = &maps->at[n->files];
	u->pages = &maps->at[n->pages];
	u->rows = maps->at[n->rows].mapped;
	u->rules = maps->at[n->rules].mapped;
	if (!u->rows || !u->rules)
		return error_set(err, -ENOTSUP, "this kernel cannot share memory with dw_ustack()");
	/* Rule 0 is the end of a stack. */
	u->nr_rules = 1;
	return 0;
}

void unwind_close(struct unwinder *u)
{
	if (!u)
		return;
	vec_free(&u->known);
	vec_free(&u->processes);
	map_free(&u->numbers);
	free(u);
}

bool unwind_is_full(const struct unwinder *u)
{
	return u->full;
}

/* ---- rows ------------------------------------------------------------------------------ */

/* The number of a rule, which is 0 when there is no room for another one. */
static uint32_t rule_number(struct unwinder *u, const struct cfi_rule *rule)
{
	const uint64_t hash = map_hash(rule, sizeof(*rule));
	uintptr_t number = (uintptr_t)map_get(&u->numbers, hash);

	if (rule->kind == CFI_END)
		return 0;
	if (number && !memcmp(&u->rules[number], rule, sizeof(*rule)))
		return (uint32_t)number;
	if (number || u->nr_rules >= UNWIND_RULES ||
	    !map_set(&u->numbers, hash, (void *)(uintptr_t)u->nr_rules)) {
		u->full = true;
		return 0;
	}
	u->rules[u->nr_rules] = *rule;
	return u->nr_rules++;
}

/* The first row of code: what lies in front of it is none of a program's. */
static size_t first_row(const struct binary *b, const struct cfi_rows *rows, uint64_t *offset)
{
	size_t i = 0;

	while (i < rows->n && !binary_code_offset(b, rows->at[i].addr, offset))
		i++;
	return i;
}

static bool put_rows(struct unwinder *u, const struct binary *b, const struct cfi_rows *rows,
		     struct unwind_file *to)
{
	uint64_t offset = 0;
	const size_t from = first_row(b, rows, &offset);
	const uint64_t base = from < rows->n ? rows->at[from].addr : 0;
	uint32_t n = 0;

	if (rows->n - from > UNWIND_ROWS - u->nr_rows || offset > INT64_MAX) {
		u->full = true;
		return false;
	}
	for (size_t i = from; i < rows->n && rows->at[i].addr - base <= INT32_MAX; i++)
		u->rows[u->nr_rows + n++] = (struct unwind_row){(uint32_t)(rows->at[i].addr - base),
								rule_number(u, &rows->at[i].rule)};
	*to = (struct unwind_file){u->nr_rows, n, (int64_t)offset};
	u->nr_rows += n;
	return n > 0;
}

static bool read_file(struct unwinder *u, const char *path, struct unwind_file *to)
{
	struct cfi_rows rows = {0};
	struct binary *b;
	int ret;

	if (binary_open(path, &b, NULL))
		return false;
	ret = cfi_read(b, &rows, NULL);
	u->full |= ret == -ENOMEM;
	if (!ret && !put_rows(u, b, &rows, to))
		ret = -ENOSPC;
	vec_free(&rows);
	binary_close(b);
	return !ret;
}

/* ---- files ----------------------------------------------------------------------------- */

static struct known_file *find_known(struct unwinder *u, const struct stat *st)
{
	vec_each (f, &u->known)
		if (f->dev == st->st_dev && f->inode == st->st_ino && f->size == st->st_size &&
		    f->changed == st->st_mtime)
			return f;
	return NULL;
}

bool unwind_file(struct unwinder *u, const char *path, const struct unwind_file_key *key,
		 struct unwind_file *to)
{
	struct unwind_file_key own;
	struct known_file *f;
	struct stat st;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	own = (struct unwind_file_key){st.st_ino, (uint64_t)st.st_size};
	f = find_known(u, &st);
	if (!f) {
		struct unwind_file file = {0};

		/* What cannot be read is known as well: a file of no rows. */
		if (!read_file(u, path, &file))
			file.nr = 0;
		f = vec_push(&u->known);
		if (!f)
			return false;
		*f = (struct known_file){st.st_dev, st.st_ino, st.st_size, st.st_mtime, file};
	}
	*to = f->file;
	kmap_update(u->files, key ? key : &own, &f->file, BPF_ANY);
	return f->file.nr > 0;
}

void unwind_forget(struct unwinder *u, const struct unwind_file_key *key)
{
	kmap_delete(u->files, key);
}

void unwind_page(struct unwinder *u, const struct unwind_page_key *key,
		 const struct unwind_page *page)
{
	kmap_update(u->pages, key, page, BPF_ANY);
}

/* A file and its libraries, or what the command would load. */
static void add_closure(struct unwinder *u, const char *path, const char *command)
{
	const struct probe_options opt = {.command = command};
	struct spur_error ignored = {0};
	struct paths list = {0};
	struct utsname machine = {0};
	struct unwind_file file;
	struct arena arena;

	uname(&machine);
	arena_init(&arena, PATHS_MEMORY);
	if (command)
		path_loaded(&opt, machine.machine, &arena, &list, &ignored);
	else
		loader_closure(path, machine.machine, &arena, &list, &ignored);
	vec_each (each, &list)
		unwind_file(u, *each, NULL, &file);
	vec_free(&list);
	arena_free(&arena);
}

void unwind_program(struct unwinder *u, const char *path)
{
	add_closure(u, path, NULL);
}

void unwind_command(struct unwinder *u, const char *command)
{
	add_closure(u, NULL, command);
}
