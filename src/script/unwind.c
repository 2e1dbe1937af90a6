// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The tables for dw_ustack(): writes the rows of files and the mappings of processes into the
 * kernel's maps. The rows of a file are complete before its entry refers to them, and never change
 * afterwards.
 */
#include "script/unwind.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "base/error.h"
#include "base/file.h"
#include "base/map.h"
#include "base/nanoseconds.h"
#include "base/vec.h"
#include "probe/loader.h"
#include "symbols/cfi.h"

/* A file that has been read. */
struct known_file {
	dev_t dev;
	ino_t inode;
	off_t size;
	time_t changed;
	struct unwind_file file;
};

/* When the mappings of a process were read. */
struct known_process {
	pid_t pid;
	uint64_t ns;
};

struct unwinder {
	struct kmap *files, *pages;
	struct unwind_row *rows; /* of the maps' memory */
	struct cfi_rule *rules;
	uint32_t nr_rows, nr_rules;
	struct map numbers; /* of rules, by what they are */
	struct {
		struct known_file *at;
		size_t n, cap;
	} known;
	struct {
		struct known_process *at;
		size_t n, cap;
	} processes;
	bool full;
};

#define PATHS_MEMORY (1u << 20)

/* ---- opening ---- */

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

/* ---- rows ---- */

/* The number of a rule; 0 if the table is full. */
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

/* The first row of code; rows before it do not belong to the program. */
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

/* ---- files ---- */

static struct known_file *find_known(struct unwinder *u, const struct stat *st)
{
	vec_each (f, &u->known)
		if (f->dev == st->st_dev && f->inode == st->st_ino && f->size == st->st_size &&
		    f->changed == st->st_mtime)
			return f;
	return NULL;
}

/* Adds a file, by the key that the kernel has for it (NULL: by its own); *to are its rows. */
static bool add_file(struct unwinder *u, const char *path, const struct unwind_file_key *key,
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

		/* A file that cannot be read gets an entry without rows. */
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

void unwind_program(struct unwinder *u, const char *path, const char *command)
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
		add_file(u, *each, NULL, &file);
	vec_free(&list);
	arena_free(&arena);
}

/* The mappings of processes, for programs that cannot ask the kernel or do not know a file. */

#define MAPS_LIMIT (64u << 20)
#define MAX_PAGES  4096	       /* of one mapping that are put in advance */
#define PATIENCE   200000000ll /* ns after which a process is worth another look */
#define FEW	   1024	       /* processes remembered */

struct mapping {
	uint64_t start, end, offset;
	const char *path;
};

/* "7f0000000000-7f0000001000 r-xp 00001000 08:01 1234   /usr/lib/libc.so.6": code of a file. */
static bool read_line(char *line, struct mapping *m)
{
	char mode[8];
	int used = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %n", &m->start, &m->end,
		   mode, &m->offset, &used) < 4 ||
	    !used || mode[2] != 'x' || line[used] != '/' || m->end <= m->start)
		return false;
	m->path = line + used;
	return true;
}

struct visit {
	struct unwinder *u;
	pid_t pid;
	const struct unwind_note *note; /* of one address, or NULL */
	uint64_t space;
	bool found;
};

/* Opens a mapped file, even if it was deleted or its name is another file here. */
static bool open_mapped(const struct visit *v, const struct mapping *m,
			const struct unwind_file_key *key, struct unwind_file *file)
{
	char path[128];

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)v->pid,
		 m->start, m->end);
	return add_file(v->u, path, key, file) || add_file(v->u, m->path, key, file);
}

static void put_pages(const struct visit *v, const struct mapping *m,
		      const struct unwind_file *file)
{
	const struct unwind_page page = {file->first, file->nr,
					 m->start - m->offset + (uint64_t)file->bias,
					 clock_now_ns(CLOCK_MONOTONIC)};
	struct unwind_page_key key = {v->space, m->start >> UNWIND_PAGE_BITS};
	const uint64_t last = (m->end - 1) >> UNWIND_PAGE_BITS;

	for (unsigned int i = 0; key.page <= last && i < MAX_PAGES; i++, key.page++)
		kmap_update(v->u->pages, &key, &page, BPF_ANY);
}

static void see_mapping(struct visit *v, const struct mapping *m)
{
	struct unwind_file file;

	if (v->note) {
		if (v->note->addr < m->start || v->note->addr >= m->end)
			return;
		v->found = true;
		open_mapped(v, m, &v->note->file, &file);
	} else if (open_mapped(v, m, NULL, &file)) {
		put_pages(v, m, &file);
	}
}

static void see_process(struct visit *v)
{
	char path[64], *line, *rest;
	struct mapping m;
	struct buf text;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)v->pid);
	buf_init(&text, MAPS_LIMIT);
	rest = !file_read(path, &text, NULL) && text.len ? text.data : NULL;
	while ((line = strsep(&rest, "\n")) && !v->found)
		if (read_line(line, &m))
			see_mapping(v, &m);
	buf_free(&text);
}

/* The start of a process's stack: word 28 of its "stat", whose second word is a name. */
static bool start_stack(pid_t pid, uint64_t *addr)
{
	struct buf text;
	char path[64];
	const char *s;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	buf_init(&text, 65536);
	s = file_read(path, &text, NULL) || !text.len ? NULL : strrchr(text.data, ')');
	for (int i = 2; s && i < 28; i++) {
		s = strchr(s, ' ');
		s = s ? s + 1 : NULL;
	}
	*addr = s ? strtoull(s, NULL, 10) : 0;
	buf_free(&text);
	return *addr != 0;
}

/* Whether the mappings of a process were read a moment ago. */
static bool is_recent(struct unwinder *u, pid_t pid)
{
	const uint64_t now = clock_now_ns(CLOCK_MONOTONIC);
	struct known_process *p;

	vec_each (known, &u->processes)
		if (known->pid == pid) {
			const bool recent = now - known->ns < PATIENCE;

			known->ns = recent ? known->ns : now;
			return recent;
		}
	if (u->processes.n >= FEW)
		u->processes.n = 0;
	p = vec_push(&u->processes);
	if (p)
		*p = (struct known_process){pid, now};
	return false;
}

void unwind_process(struct unwinder *u, pid_t pid)
{
	struct visit v = {.u = u, .pid = pid};
	uint64_t stack;

	if (is_recent(u, pid) || !start_stack(pid, &stack))
		return;
	v.space = unwind_space((uint32_t)pid, stack);
	see_process(&v);
}

void unwind_note(struct unwinder *u, const void *note, size_t len)
{
	struct unwind_note n;
	struct visit v = {.u = u, .note = &n};

	if (len < sizeof(n))
		return;
	memcpy(&n, note, sizeof(n));
	v.pid = (pid_t)n.pid;
	if (!n.file.inode) {
		unwind_process(u, v.pid);
		return;
	}
	see_process(&v);
	/* The process is gone: the next one that has the file mapped may request it again. */
	if (!v.found)
		kmap_delete(u->files, &n.file);
}
