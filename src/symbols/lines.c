// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lines of source files through libdw: the places of a line, and the lines that an address belongs
 * to.
 */
#include "symbols/lines.h"

#include <errno.h>

#include "base/error.h"

#ifdef HAVE_DW

#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/vec.h"
#include "symbols/debug.h"
#include "symbols/names.h"

/* ---- places of a line ---- */

/*
 * An optimising compiler scatters a line: its instructions are mixed with those of others. Of all
 * rows of a function for a line only the first counts; otherwise a probe would be hit several times
 * while the line runs once. The part of a function that rarely runs (the cold part) is often before
 * the function: it is never the first if there are others.
 *
 * When GCC optimises, it marks the rows that begin a statement. Then the other beginnings of the
 * same statement count as well: copies of an unrolled loop.
 */

#define MAX_FILES   4	    /* of the same name that are reported */
#define MAX_ROWS    65536   /* of one line */
#define MAX_RANGES  100000u /* of one function */
#define MAX_INLINED 64	    /* nested functions */

struct row {
	Dwarf_Die unit;
	uint64_t addr, column;
	bool told; /* all rows of the unit are beginnings of statements */
	/* Of the innermost function around it, and whether that does not begin near it. */
	Dwarf_Off function;
	bool aside;
	const char *name;
};

struct search {
	struct debug *debug;
	const struct line_wanted *wanted;
	char file[PATH_MAX]; /* what is wanted, without "." and ".." */
	struct {
		char *at[MAX_FILES]; /* the files that match, in the arena */
		size_t n;
	} files;
	bool is_whole; /* the first of them is exactly what is wanted */
	struct arena *arena;
	uint64_t below, above; /* the nearest lines with code; 0: none */
	uint64_t columns[3];
	size_t nr_columns;
	vec_of(struct row) rows;
	bool failed; /* no memory, or too many rows */
};

/* ---- files ---- */

/* Takes "./" and "x/../" out of a path. False when it is too long. */
static bool plain_path(const char *path, char *to, size_t size)
{
	const bool absolute = *path == '/';
	size_t len = 0;

	while (*path) {
		size_t n = strcspn(path, "/"), slash = len;

		while (slash > 0 && to[slash - 1] != '/')
			slash--;
		if (n == 2 && !memcmp(path, "..", 2) && len > slash &&
		    strncmp(to + slash, "..", len - slash) != 0) {
			len = slash ? slash - 1 : 0;
		} else if (n && !(n == 1 && *path == '.')) {
			const bool divide = len || absolute;

			if (n + divide >= size - len)
				return false;
			if (divide)
				to[len++] = '/';
			memcpy(to + len, path, n);
			len += n;
		}
		path += n + (path[n] == '/');
	}
	to[len] = '\0';
	return true;
}

/* Whether a path ends with these whole names. */
static bool ends_with(const char *path, const char *end)
{
	size_t n = strlen(path), len = strlen(end);

	return n >= len && !strcmp(path + n - len, end) &&
	       (n == len || end[0] == '/' || path[n - len - 1] == '/');
}

/* Whether a row's file is the one that is wanted; it is remembered. */
static bool is_wanted(struct search *s, const char *source)
{
	char path[PATH_MAX];
	bool whole;

	if (!plain_path(source, path, sizeof(path)) || !*s->file || !ends_with(path, s->file))
		return false;
	whole = !strcmp(path, s->file);
	if (s->is_whole && !whole)
		return false;
	if (whole && !s->is_whole) {
		/* Others only end like it. */
		s->is_whole = true;
		s->files.n = s->rows.n = s->nr_columns = 0;
		s->below = s->above = 0;
	}
	for (size_t i = 0; i < s->files.n; i++)
		if (!strcmp(s->files.at[i], path))
			return true;
	if (s->files.n < MAX_FILES) {
		s->files.at[s->files.n] = arena_strdup(s->arena, path);
		s->failed |= !s->files.at[s->files.n++];
	}
	return true;
}

/* ---- rows ---- */

static void see_column(struct search *s, uint64_t column)
{
	for (size_t i = 0; i < s->nr_columns; i++)
		if (s->columns[i] == column)
			return;
	if (column && s->nr_columns < ARRAY_SIZE(s->columns))
		s->columns[s->nr_columns++] = column;
}

static void see_row(struct search *s, Dwarf_Die *unit, uint64_t addr, uint64_t line,
		    uint64_t column)
{
	const uint64_t wanted = s->wanted->line;
	const struct row row = {.unit = *unit, .addr = addr, .column = column};

	if (line && line < wanted && line > s->below)
		s->below = line;
	if (line > wanted && (!s->above || line < s->above))
		s->above = line;
	if (line != wanted)
		return;
	see_column(s, column);
	if (s->wanted->column && column != s->wanted->column)
		return;
	s->failed |= s->rows.n >= MAX_ROWS || !vec_add(&s->rows, &row);
}

static bool is_by_gcc(Dwarf_Die *unit)
{
	Dwarf_Attribute attr;
	const char *by = dwarf_formstring(dwarf_attr(unit, DW_AT_producer, &attr));

	return by && !strncmp(by, "GNU ", 4);
}

/* Puts a NUL after a section's bytes unless they end with one; false without memory. */
static bool end_section(struct debug *d, Elf_Scn *scn)
{
	Elf_Data *data = elf_getdata(scn, NULL);

	return !data || !data->d_buf || !data->d_size ||
	       !((const char *)data->d_buf)[data->d_size - 1] || debug_copy_section(d, data);
}

/* Those that names are in, whatever is before and after these words: ".gnu.debuglto_" too. */
static bool has_names(const char *section)
{
	return strstr(section, "debug_line") || strstr(section, "debug_str") ||
	       strstr(section, "debug_info");
}

/*
 * libdw reads beyond the end of a truncated section to find the end of a name. Of complete sections
 * only the line table does not end with a NUL. Must be called before lines are read; false without
 * memory.
 */
static bool end_sections(struct debug *d)
{
	Elf *elf = dwarf_getelf(d->dw);
	size_t strings;

	if (d->ended || elf_getshdrstrndx(elf, &strings))
		return true;
	d->ended = true;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn)) != NULL;) {
		GElf_Shdr shdr;
		const char *name =
			gelf_getshdr(scn, &shdr) ? elf_strptr(elf, strings, shdr.sh_name) : NULL;

		if (name && has_names(name) && !end_section(d, scn))
			return false;
	}
	return true;
}

static void see_unit(struct search *s, Dwarf_Die *unit)
{
	const size_t before = s->rows.n;
	const char *last = NULL;
	Dwarf_Die whole = *unit; /* the rows are in the program itself, functions may not be */
	Dwarf_Lines *lines;
	bool wanted = false, goes_on = false, split = false;
	size_t n;

	if (dwarf_getsrclines(unit, &lines, &n))
		return;
	for (size_t i = 0; i < n && !s->failed; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		const char *source = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
		bool end = true, begins = false;
		int number = 0, column = 0;
		Dwarf_Addr addr;

		if (!source)
			continue;
		if (source != last)
			wanted = is_wanted(s, source);
		last = source;
		if (wanted && !dwarf_lineendsequence(line, &end) && !end &&
		    !dwarf_linebeginstatement(line, &begins) && begins &&
		    !dwarf_lineno(line, &number) && !dwarf_lineaddr(line, &addr) && number > 0) {
			dwarf_linecol(line, &column);
			if (!split)
				debug_split_unit(s->debug, &whole);
			split = true;
			see_row(s, &whole, addr, (uint64_t)number,
				column > 0 ? (uint64_t)column : 0);
		}
		goes_on |= !end && !begins;
	}
	goes_on = goes_on && s->rows.n > before && is_by_gcc(&whole);
	for (size_t i = before; i < s->rows.n; i++)
		s->rows.at[i].told = goes_on;
}

static void each_unit(struct debug *d, struct search *s, void (*see)(struct search *, Dwarf_Die *))
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;

	while (!s->failed && !dwarf_get_units(d->dw, cu, &cu, NULL, NULL, &unit, NULL))
		if (dwarf_tag(&unit) == DW_TAG_compile_unit ||
		    dwarf_tag(&unit) == DW_TAG_skeleton_unit)
			see(s, &unit);
}

/* ---- functions ---- */

/* Whether the part of a function that an address is in is not the one that it begins with. */
static bool lies_aside(Dwarf_Die *function, uint64_t addr)
{
	Dwarf_Addr entry, base, from, to;
	ptrdiff_t at = 0;

	if (dwarf_entrypc(function, &entry))
		return false;
	for (unsigned int i = 0; i < MAX_RANGES; i++) {
		at = dwarf_ranges(function, at, &base, &from, &to);
		if (at <= 0)
			break;
		if (addr >= from && addr < to)
			return entry < from || entry >= to;
	}
	return false;
}

/* The first function of a list that goes outwards. */
static bool take_function(Dwarf_Die *scopes, int n, int from, Dwarf_Die *to)
{
	for (int i = from; i < n; i++) {
		const int tag = dwarf_tag(&scopes[i]);

		if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine)
			continue;
		*to = scopes[i];
		return true;
	}
	return false;
}

/* A line that calls what was inlined there, and begins where that does, is the caller's. */
static void leave_inlined(const struct search *s, Dwarf_Die *function)
{
	for (unsigned int i = 0; i < MAX_INLINED; i++) {
		Dwarf_Die *scopes = NULL;
		Dwarf_Word line;
		bool outer;
		int n;

		if (dwarf_tag(function) != DW_TAG_inlined_subroutine ||
		    !debug_attribute(function, DW_AT_call_line, &line) || line != s->wanted->line)
			return;
		n = dwarf_getscopes_die(function, &scopes);
		outer = take_function(scopes, n, 1, function);
		free(scopes);
		if (!outer)
			return;
	}
}

static void find_function(struct search *s, struct row *row)
{
	Dwarf_Die *scopes = NULL, function;
	const int n = dwarf_getscopes(&row->unit, row->addr, &scopes);
	const bool found = take_function(scopes, n, 0, &function);
	const char *name;

	free(scopes);
	row->name = "";
	if (!found)
		return;
	leave_inlined(s, &function);
	name = dwarf_diename(&function);
	row->function = dwarf_dieoffset(&function);
	row->aside = lies_aside(&function, row->addr);
	row->name = name ? arena_strdup(s->arena, name) : "";
	s->failed |= !row->name;
}

static int by_function(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	if (x->aside != y->aside)
		return x->aside ? 1 : -1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int by_address(const void *a, const void *b)
{
	const struct line_place *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* Whether a row counts: the first of its function, and all that are in no function. */
static bool counts(const struct row *row, const struct row *first)
{
	if (row == first || row->function != first->function)
		return true;
	return row->addr != row[-1].addr &&
	       (!row->function || (row->told && row->column == first->column));
}

static bool take_rows(struct search *s, struct line_places *found)
{
	const struct row *first = s->rows.at;

	for (size_t i = 0; i < s->rows.n; i++)
		find_function(s, &s->rows.at[i]);
	qsort(s->rows.at, s->rows.n, sizeof(*s->rows.at), by_function);
	for (size_t i = 0; i < s->rows.n && !s->failed; i++) {
		const struct row *row = &s->rows.at[i];
		const struct line_place place = {row->addr, row->name};

		if (!counts(row, first))
			continue;
		first = row->function != first->function ? row : first;
		if (!vec_add(found, &place))
			return false;
	}
	if (found->n)
		qsort(found->at, found->n, sizeof(*found->at), by_address);
	return !s->failed;
}

/* ---- what is not there ---- */

struct names {
	struct search s;
	struct nearest near;
};

static void see_names(struct search *s, Dwarf_Die *unit)
{
	struct names *names = (struct names *)s;
	Dwarf_Files *files;
	size_t n;

	if (dwarf_getsrcfiles(unit, &files, &n))
		return;
	for (size_t i = 0; i < n; i++) {
		const char *path = dwarf_filesrc(files, i, NULL, NULL);
		const char *slash = path ? strrchr(path, '/') : NULL;

		if (path)
			nearest_try(&names->near, slash ? slash + 1 : path,
				    strlen(slash ? slash + 1 : path));
	}
}

static int no_file(struct debug *d, const struct line_wanted *wanted, struct spur_error *err)
{
	const char *name = file_name_of(wanted->file);
	struct names names = {.near = nearest_to(name, strlen(name))};

	each_unit(d, &names.s, see_names);
	return error_set(err, -ENOENT, "its debug information has no code of a source file '%s'%s",
			 wanted->file, nearest_words(&names.near));
}

static int several_files(const struct search *s, struct spur_error *err)
{
	char list[512] = "";

	for (size_t i = 0; i < s->files.n; i++)
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%.120s",
			 i ? ", " : "", s->files.at[i]);
	return error_set(err, -EINVAL, "several source files are called '%s': %s", s->wanted->file,
			 list);
}

static int no_column(const struct search *s, struct spur_error *err)
{
	char list[96] = "";

	for (size_t i = 0; i < s->nr_columns; i++)
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%llu",
			 !i			  ? " (some do at "
			 : i + 1 == s->nr_columns ? " and "
						  : ", ",
			 (unsigned long long)s->columns[i]);
	return error_set(err, -ENOENT, "no statement begins at column %llu of line %llu of %s%s%s",
			 (unsigned long long)s->wanted->column, (unsigned long long)s->wanted->line,
			 s->wanted->file, list, s->nr_columns ? ")" : "");
}

static int no_line(const struct search *s, struct spur_error *err)
{
	char near[96] = "";

	if (s->below && s->above)
		snprintf(near, sizeof(near), ": the nearest lines with code are %llu and %llu",
			 (unsigned long long)s->below, (unsigned long long)s->above);
	else if (s->below || s->above)
		snprintf(near, sizeof(near), ": the %s line with code is %llu",
			 s->below ? "last" : "first",
			 (unsigned long long)(s->below ? s->below : s->above));
	return error_set(err, -ENOENT, "there is no code on line %llu of %s%s",
			 (unsigned long long)s->wanted->line, s->wanted->file, near);
}

/* ---- all of it ---- */

int lines_find(struct debug *d, const struct line_wanted *wanted, struct arena *arena,
	       struct line_places *found, struct spur_error *err)
{
	struct search s = {.debug = d, .wanted = wanted, .arena = arena};
	int ret = 0;

	if (!end_sections(d))
		return error_set(err, -ENOMEM, "out of memory");
	if (plain_path(wanted->file, s.file, sizeof(s.file)))
		each_unit(d, &s, see_unit);
	if (s.failed)
		ret = error_set(err, -ENOMEM, "line %llu of %s is in too many places",
				(unsigned long long)wanted->line, wanted->file);
	else if (!s.files.n)
		ret = no_file(d, wanted, err);
	else if (s.files.n > 1)
		ret = several_files(&s, err);
	else if (!s.rows.n)
		ret = s.nr_columns ? no_column(&s, err) : no_line(&s, err);
	else if (!take_rows(&s, found))
		ret = error_set(err, -ENOMEM, "out of memory");
	vec_free(&s.rows);
	return ret;
}

/* ---- lines of an address ---- */

/*
 * The table of lines has the line of the innermost function; each inlined function has the line of
 * its call.
 */

#define MAX_DEPTH 64 /* of nested blocks and functions */

/* The current line of a function. */
struct source_spot {
	const char *file; /* or NULL */
	uint64_t line;
};

/* The unit that an address is in. Compilers may leave out the index of addresses. */
static bool find_unit(struct debug *d, Dwarf_Addr addr, Dwarf_Die *unit)
{
	Dwarf_CU *cu = NULL;

	if (dwarf_addrdie(d->dw, addr, unit))
		return true;
	while (!dwarf_get_units(d->dw, cu, &cu, NULL, NULL, unit, NULL))
		if (dwarf_haspc(unit, addr) == 1)
			return true;
	return false;
}

static struct source_spot line_at(Dwarf_Die *unit, Dwarf_Addr addr)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, addr);
	int number = 0;

	if (!line || dwarf_lineno(line, &number) || number <= 0)
		return (struct source_spot){0};
	return (struct source_spot){dwarf_linesrc(line, NULL, NULL), (uint64_t)number};
}

static struct source_spot call_of(Dwarf_Die *unit, Dwarf_Die *inlined)
{
	struct source_spot s = {0};
	Dwarf_Word file;
	Dwarf_Files *files;
	size_t n;

	if (!debug_attribute(inlined, DW_AT_call_line, &s.line) ||
	    !debug_attribute(inlined, DW_AT_call_file, &file) ||
	    dwarf_getsrcfiles(unit, &files, &n) || file >= n)
		return (struct source_spot){0};
	s.file = dwarf_filesrc(files, file, NULL, NULL);
	return s;
}

static const char *name_of(Dwarf_Die *function)
{
	Dwarf_Attribute attr;
	const char *name =
		dwarf_formstring(dwarf_attr_integrate(function, DW_AT_linkage_name, &attr));

	return name ? name : dwarf_diename(function);
}

/* A path that is relative begins where the compiler was started. */
static bool whole_path(Dwarf_Die *unit, const char *file, char *to, size_t size)
{
	Dwarf_Attribute attr;
	const char *dir = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attr));
	char joined[PATH_MAX];
	int n;

	if (*file == '/' || !dir || *dir != '/')
		return plain_path(file, to, size);
	n = snprintf(joined, sizeof(joined), "%s/%s", dir, file);
	return n > 0 && (size_t)n < sizeof(joined) && plain_path(joined, to, size);
}

static bool put(struct source_frame *to, const char *name, Dwarf_Die *unit, struct source_spot at,
		struct arena *arena)
{
	char path[PATH_MAX];

	if (!at.file || !whole_path(unit, at.file, path, sizeof(path)))
		path[0] = '\0';
	to->function = name ? arena_strdup(arena, name) : "";
	to->file = *path ? arena_strdup(arena, path) : "";
	to->line = *path ? at.line : 0;
	return to->function && to->file;
}

/* ---- functions around an address ---- */

/* From the one that was called to the innermost. libdw's own search leaks when it fails. */
struct around {
	Dwarf_Die at[FRAMES_MAX];
	size_t n;
};

static bool is_function(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

/* Whether functions around the address may be among its children. */
static bool is_around(Dwarf_Die *die, int tag, Dwarf_Addr addr)
{
	if (tag == DW_TAG_namespace)
		return true;
	return (is_function(tag) || tag == DW_TAG_lexical_block) && dwarf_haspc(die, addr) == 1;
}

/* Collects the functions below an entry; true once there is one. */
static bool look_inside(Dwarf_Die *die, Dwarf_Addr addr, struct around *to, unsigned int depth)
{
	Dwarf_Die child;

	if (depth > MAX_DEPTH || dwarf_child(die, &child))
		return to->n > 0;
	do {
		const int tag = dwarf_tag(&child);

		if (!is_around(&child, tag, addr))
			continue;
		if (is_function(tag) && to->n < FRAMES_MAX)
			to->at[to->n++] = child;
		if (look_inside(&child, addr, to, depth + 1) || tag != DW_TAG_namespace)
			break;
	} while (!dwarf_siblingof(&child, &child));
	return to->n > 0;
}

/* Goes outwards to the function that was called. */
static size_t put_all(Dwarf_Die *unit, struct around *around, struct source_spot at,
		      struct arena *arena, struct source_frame *frames)
{
	size_t n = 0;

	while (n < around->n) {
		Dwarf_Die *function = &around->at[around->n - 1 - n];

		if (!put(&frames[n++], name_of(function), unit, at, arena))
			return 0;
		at = call_of(unit, function);
	}
	return n;
}

size_t frames_at(struct debug *d, uint64_t addr, struct arena *arena,
		 struct source_frame frames[FRAMES_MAX])
{
	struct around around = {.n = 0};
	Dwarf_Die unit, whole;
	struct source_spot at;

	if (!end_sections(d) || !find_unit(d, addr, &unit))
		return 0;
	/* Lines are in the program itself, functions may be in another file. */
	whole = unit;
	debug_split_unit(d, &whole);
	at = line_at(&unit, addr);
	if (look_inside(&whole, addr, &around, 0))
		return put_all(&whole, &around, at, arena, frames);
	return at.file && put(&frames[0], NULL, &unit, at, arena) ? 1 : 0;
}

#else /* HAVE_DW */

int lines_find(struct debug *d, const struct line_wanted *wanted, struct arena *arena,
	       struct line_places *found, struct spur_error *err)
{
	return error_set(err, -ENOTSUP, "%s", debug_missing());
}

size_t frames_at(struct debug *d, uint64_t addr, struct arena *arena,
		 struct source_frame frames[FRAMES_MAX])
{
	return 0;
}

#endif
