// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Debug information that is in other files than the program's (-gsplit-dwarf): packages of it, and
 * the units that are read from there.
 */

#ifdef HAVE_DW

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/scoped.h"
#include "base/vec.h"
#include "symbols/debug.h"
#include "symbols/sections.h"

/* ---- packages ---- */

/*
 * A package has the sections of .dwo files, each made of the pieces of all units, and an index of
 * the units and one of the types. An index is
 *
 *	version			u32: 2, or u16: 5 and u16: 0
 *	columns, units, slots	u32 each; slots is a power of two
 *	ids			u64 for each slot, where the hash of an id leads to
 *	rows			u32 for each slot: from 1 on; 0: the slot is free
 *	kinds			u32 for each column: the section
 *	offsets			u32 for each unit and column: where in the section its piece is
 *	sizes			u32 for each unit and column
 *
 * Only names are in a section that all units share; a unit's own table says where. A unit is given
 * only those that it uses, as the section may be large.
 */

enum {
	MAX_COLUMNS = 16,
	MAX_NAMES = 64 << 20,	/* bytes of one unit's */
	MAX_PIECES = 256 << 20, /* bytes of its types */
};

enum kind { INFO, TYPES, ABBREV, LINE, LOC, LOCLISTS, STR_OFFSETS, RNGLISTS, NR_KINDS };

/* What a column is of, by the version of the index; 0: there is none. */
static const struct {
	const char *name;
	uint32_t v2, v5;
} kinds[NR_KINDS] = {
	[INFO] = {".debug_info.dwo", 1, 1},
	[TYPES] = {".debug_types.dwo", 2, 0},
	[ABBREV] = {".debug_abbrev.dwo", 3, 3},
	[LINE] = {".debug_line.dwo", 4, 4},
	[LOC] = {".debug_loc.dwo", 5, 0},
	[LOCLISTS] = {".debug_loclists.dwo", 0, 5},
	[STR_OFFSETS] = {".debug_str_offsets.dwo", 6, 6},
	[RNGLISTS] = {".debug_rnglists.dwo", 0, 8},
};

struct index {
	struct cursor ids, rows, kinds, offsets, sizes;
	uint32_t version, nr_columns, nr_units, nr_slots;
};

struct dwp {
	int fd;
	Elf *elf;
	GElf_Ehdr head;
	struct index units, types;
	struct cursor sections[NR_KINDS], names;
};

/* ---- reading ---- */

static struct cursor find_section(Elf *elf, const char *name)
{
	struct cursor none = cursor_over("", 0, false);
	GElf_Shdr head;
	Elf_Scn *scn = section_named(elf, name, &head);

	return scn && !(head.sh_flags & SHF_COMPRESSED) ? section_bytes(elf, scn) : none;
}

/* A table of so many numbers, which the cursor steps over. */
static struct cursor table(struct cursor *c, uint64_t n, uint64_t m, uint64_t size)
{
	uint64_t bytes;

	if (__builtin_mul_overflow(n, m, &bytes) || __builtin_mul_overflow(bytes, size, &bytes))
		bytes = UINT64_MAX;
	return cursor_sub(c, bytes);
}

static bool read_index(struct cursor c, struct index *x)
{
	struct cursor version = c;

	*x = (struct index){.version = cursor_u32(&c)};
	if (x->version != 2)
		x->version = cursor_u16(&version);
	x->nr_columns = cursor_u32(&c);
	x->nr_units = cursor_u32(&c);
	x->nr_slots = cursor_u32(&c);
	/* Every unit has a slot: so there are no more of them than the file can hold. */
	if (c.failed || (x->version != 2 && x->version != 5) || (x->nr_slots & (x->nr_slots - 1)) ||
	    x->nr_columns > MAX_COLUMNS || x->nr_units > x->nr_slots)
		return false;
	x->ids = table(&c, x->nr_slots, 1, 8);
	x->rows = table(&c, x->nr_slots, 1, 4);
	x->kinds = table(&c, x->nr_columns, 1, 4);
	x->offsets = table(&c, x->nr_units, x->nr_columns, 4);
	x->sizes = table(&c, x->nr_units, x->nr_columns, 4);
	return !c.failed;
}

/* Of a table whose length has been checked. */
static uint64_t number_at(const struct cursor *c, uint64_t i, unsigned int size)
{
	struct cursor at = *c;

	cursor_skip(&at, i * size);
	return cursor_uint(&at, size);
}

/* The row of an id, from 0 on. */
static bool find_row(const struct index *x, uint64_t id, uint32_t *row)
{
	const uint32_t mask = x->nr_slots - 1, step = ((uint32_t)(id >> 32) & mask) | 1;
	uint32_t slot = (uint32_t)id & mask;

	for (uint32_t i = 0; i < x->nr_slots; i++, slot = (slot + step) & mask) {
		const uint64_t at = number_at(&x->rows, slot, 4);

		if (!at || at > x->nr_units)
			return false;
		if (number_at(&x->ids, slot, 8) == id) {
			*row = (uint32_t)at - 1;
			return true;
		}
	}
	return false;
}

/* Where a unit's piece of a section is; false when it has none. */
static bool find_piece(const struct index *x, uint32_t row, enum kind kind, uint64_t *offset,
		       uint64_t *size)
{
	const uint32_t wanted = x->version == 5 ? kinds[kind].v5 : kinds[kind].v2;

	for (uint32_t i = 0; wanted && i < x->nr_columns; i++) {
		const uint64_t cell = (uint64_t)row * x->nr_columns + i;

		if (number_at(&x->kinds, i, 4) != wanted)
			continue;
		*offset = number_at(&x->offsets, cell, 4);
		*size = number_at(&x->sizes, cell, 4);
		return true;
	}
	return false;
}

/* Its bytes; none when they are not in the section. */
static struct cursor piece(const struct dwp *p, const struct index *x, uint32_t row, enum kind kind)
{
	struct cursor c = p->sections[kind];
	uint64_t offset, size;

	if (!find_piece(x, row, kind, &offset, &size))
		return cursor_over("", 0, false);
	cursor_skip(&c, offset);
	return cursor_sub(&c, size);
}

/* ---- what a unit needs ---- */

static void put_cursor(struct buf *to, const struct cursor *c)
{
	if (!c->failed)
		buf_put(to, c->base, (size_t)(c->end - c->base));
}

/* Whether two units were compiled at once: they have pieces in common. */
static bool is_of_same_file(const struct dwp *p, uint32_t unit, uint32_t type)
{
	static const enum kind common[] = {ABBREV, STR_OFFSETS};

	for (size_t i = 0; i < ARRAY_SIZE(common); i++) {
		uint64_t offset, other, size;

		if (!find_piece(&p->units, unit, common[i], &offset, &size) ||
		    !find_piece(&p->types, type, common[i], &other, &size) || offset != other)
			return false;
	}
	return true;
}

/*
 * The types of the same file. If several files have a type, a package stores it once; the others
 * cannot use it, because its names are found by a table of the file that it is from.
 */
static void put_types(const struct dwp *p, uint32_t unit, struct buf to[NR_KINDS])
{
	const enum kind kind = p->types.version == 5 ? INFO : TYPES;

	for (uint32_t row = 0; row < p->types.nr_units; row++) {
		if (is_of_same_file(p, unit, row)) {
			const struct cursor c = piece(p, &p->types, row, kind);

			put_cursor(&to[kind], &c);
		}
	}
}

/* The length of the head of a table of names, and of a number. Before version 5 it had no head. */
static uint64_t names_head(const struct dwp *p, struct cursor c, unsigned int *size)
{
	*size = 4;
	if (p->units.version == 2)
		return 0;
	if (cursor_u32(&c) != UINT32_MAX)
		return 8;
	*size = 8;
	return 16;
}

/* The names that a table leads to, and the table as it then has to be. */
static bool put_names(const struct dwp *p, const struct cursor *from, struct buf *numbers,
		      struct buf *names)
{
	struct cursor c = *from;
	unsigned int size;
	const uint64_t head = names_head(p, c, &size);

	put_cursor(numbers, from);
	cursor_skip(&c, head);
	while (cursor_left(&c) >= size) {
		struct cursor name = p->names;
		const size_t at = (size_t)(c.pos - c.base);
		const char *text;

		cursor_skip(&name, cursor_uint(&c, size));
		text = cursor_string(&name);
		if (buf_full(numbers) || buf_full(names))
			return false;
		store_uint(numbers->data + at, names->len, size, c.big_endian);
		buf_put(names, text ? text : "", text ? strlen(text) + 1 : 1);
	}
	buf_putc(names, '\0');
	return !buf_full(names);
}

/* ---- making a file ---- */

static const char titles[] = "\0.shstrtab\0.debug_str.dwo\0.debug_info.dwo\0.debug_types.dwo\0"
			     ".debug_abbrev.dwo\0.debug_line.dwo\0.debug_loc.dwo\0"
			     ".debug_loclists.dwo\0.debug_str_offsets.dwo\0.debug_rnglists.dwo";

static Elf_Scn *add_section(Elf *elf, const char *name, uint32_t type, const void *content,
			    size_t len)
{
	const char *title = memmem(titles, sizeof(titles), name, strlen(name) + 1);
	Elf_Scn *scn = elf_newscn(elf);
	Elf_Data *data = scn ? elf_newdata(scn) : NULL;
	GElf_Shdr head;

	if (!title || !data || !gelf_getshdr(scn, &head))
		return NULL;
	head.sh_type = type;
	head.sh_name = (GElf_Word)(title - titles);
	data->d_buf = (void *)(uintptr_t)content; /* libelf only reads it */
	data->d_size = len;
	data->d_align = 1;
	return gelf_update_shdr(scn, &head) ? scn : NULL;
}

static bool write_elf(const struct dwp *p, Elf *elf, const struct buf pieces[NR_KINDS],
		      const struct buf *names)
{
	Elf_Scn *last;
	GElf_Ehdr head;

	if (!gelf_newehdr(elf, p->head.e_ident[EI_CLASS]) || !gelf_getehdr(elf, &head))
		return false;
	for (enum kind k = 0; k < NR_KINDS; k++)
		if (pieces[k].len &&
		    !add_section(elf, kinds[k].name, SHT_PROGBITS, pieces[k].data, pieces[k].len))
			return false;
	if (!add_section(elf, ".debug_str.dwo", SHT_PROGBITS, names->data, names->len))
		return false;
	last = add_section(elf, ".shstrtab", SHT_STRTAB, titles, sizeof(titles));
	if (!last)
		return false;
	head.e_ident[EI_DATA] = p->head.e_ident[EI_DATA];
	head.e_type = ET_REL;
	head.e_machine = p->head.e_machine;
	head.e_version = EV_CURRENT;
	head.e_shstrndx = (GElf_Half)elf_ndxscn(last);
	return gelf_update_ehdr(elf, &head) && elf_update(elf, ELF_C_WRITE) >= 0;
}

static int make_file(const struct dwp *p, const struct buf pieces[NR_KINDS],
		     const struct buf *names)
{
	const int fd = memfd_create("spur-dwo", MFD_CLOEXEC);
	Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_WRITE, NULL) : NULL;
	const bool ok = elf && write_elf(p, elf, pieces, names);

	elf_end(elf);
	if (ok)
		return fd;
	if (fd >= 0)
		close(fd);
	return -EIO;
}

int dwp_unit(struct dwp *p, uint64_t id)
{
	struct buf pieces[NR_KINDS], names;
	bool ok = true;
	uint32_t row;
	int fd = -EBADMSG;

	if (!find_row(&p->units, id, &row))
		return -ENOENT;
	buf_init(&names, MAX_NAMES);
	for (enum kind k = 0; k < NR_KINDS; k++) {
		const struct cursor c = piece(p, &p->units, row, k);

		buf_init(&pieces[k], MAX_PIECES);
		if (k == STR_OFFSETS)
			ok = put_names(p, &c, &pieces[k], &names) && ok;
		else
			put_cursor(&pieces[k], &c);
	}
	put_types(p, row, pieces);
	for (enum kind k = 0; k < NR_KINDS; k++)
		ok = ok && !buf_full(&pieces[k]);
	if (ok)
		fd = make_file(p, pieces, &names);
	for (enum kind k = 0; k < NR_KINDS; k++)
		buf_free(&pieces[k]);
	buf_free(&names);
	return fd;
}

bool dwp_slot(const struct dwp *p, uint32_t slot, uint64_t *id)
{
	*id = slot < p->units.nr_slots ? number_at(&p->units.ids, slot, 8) : 0;
	return slot < p->units.nr_slots;
}

/* ---- opening ---- */

struct dwp *dwp_open_fd(int fd)
{
	struct dwp *p = calloc(1, sizeof(*p));

	if (!p) {
		close(fd);
		return NULL;
	}
	p->fd = fd;
	elf_version(EV_CURRENT);
	p->elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!p->elf || elf_kind(p->elf) != ELF_K_ELF || !gelf_getehdr(p->elf, &p->head) ||
	    !read_index(find_section(p->elf, ".debug_cu_index"), &p->units)) {
		dwp_close(p);
		return NULL;
	}
	/* Without types it is empty or not there. */
	if (!read_index(find_section(p->elf, ".debug_tu_index"), &p->types) ||
	    p->types.version != p->units.version)
		p->types = (struct index){0};
	for (enum kind k = 0; k < NR_KINDS; k++)
		p->sections[k] = find_section(p->elf, kinds[k].name);
	p->names = find_section(p->elf, ".debug_str.dwo");
	return p;
}

/* NULL: there is no such file, or it is no package. */
static struct dwp *dwp_open(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return NULL;
	}
	return dwp_open_fd(fd);
}

void dwp_close(struct dwp *p)
{
	if (!p)
		return;
	elf_end(p->elf);
	close(p->fd);
	free(p);
}

/* ---- units ---- */

/*
 * libdw opens NAME.dwo itself, but before 0.191 it does not know packages, and it cannot be given a
 * file. So while libdw opens a unit's file, spur replaces the name of the file by
 * the name of a file in memory that has the unit from the package. The name is in a section
 * that libdw has read, of which spur makes a copy that can be written to.
 */

bool debug_copy_section(struct debug *d, Elf_Data *data)
{
	void **copy;

	vec_each (known, &d->copies)
		if (*known == data->d_buf)
			return true;
	copy = vec_push(&d->copies);
	if (!copy)
		return false;
	*copy = calloc(1, data->d_size + DEBUG_ROOM);
	if (!*copy)
		return false;
	data->d_buf = memcpy(*copy, data->d_buf, data->d_size);
	return true;
}

/* Where a name of a section can be written to, and DEBUG_ROOM bytes from there on; or NULL. */
static char *writable(struct debug *d, const char *name)
{
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(dwarf_getelf(d->dw), scn)) != NULL;) {
		Elf_Data *data = elf_getdata(scn, NULL);
		const char *from = data ? data->d_buf : NULL;

		if (!from || name < from || name >= from + data->d_size)
			continue;
		return debug_copy_section(d, data) ? (char *)data->d_buf + (name - from) : NULL;
	}
	return NULL;
}

/* Opens the path with this ending instead of the one it may have. */
static struct dwp *open_beside(const char *path, const char *old)
{
	size_t len = strlen(path);
	const size_t end = strlen(old);
	char name[PATH_MAX + 8];

	if (end && (len <= end || strcmp(path + len - end, old) != 0))
		return NULL;
	len -= end;
	snprintf(name, sizeof(name), "%.*s.dwp", (int)len, path);
	return dwp_open(name);
}

/* PROGRAM.dwp; a debug file may have one as well: x.debug has x.debug.dwp or x.dwp. */
static void find_package(struct debug *d)
{
	char path[PATH_MAX];

	d->asked = true;
	d->package = open_beside(binary_path(d->binary), "");
	if (!d->package && binary_real_path(d->binary, false, path, sizeof(path)))
		d->package = open_beside(path, "");
	if (d->package || !binary_real_path(d->binary, true, path, sizeof(path)))
		return;
	d->package = open_beside(path, "");
	if (!d->package)
		d->package = open_beside(path, ".debug");
}

/* Its name in the section; NULL: it has none, or its entry has it, which must stay as it is. */
static const char *name_of_file(Dwarf_Die *unit)
{
	Dwarf_Attribute attr;

	if (!dwarf_attr(unit, DW_AT_dwo_name, &attr) &&
	    !dwarf_attr(unit, DW_AT_GNU_dwo_name, &attr))
		return NULL;
	return dwarf_whatform(&attr) != DW_FORM_string ? dwarf_formstring(&attr) : NULL;
}

static bool find_split(const Dwarf_Die *unit, Dwarf_Die *split)
{
	return !dwarf_cu_info(unit->cu, NULL, NULL, NULL, split, NULL, NULL, NULL) &&
	       dwarf_tag(split) == DW_TAG_compile_unit;
}

/* Has libdw find the unit in the package, if it is there; libdw then remembers it. */
static void attach(struct debug *d, Dwarf_Die *unit, uint64_t id)
{
	scoped_fd fd = dwp_unit(d->package, id);
	const char *name = fd >= 0 ? name_of_file(unit) : NULL;
	char *to = name ? writable(d, name) : NULL;
	char before[DEBUG_ROOM];
	Dwarf_Die split;

	if (to) {
		memcpy(before, to, sizeof(before));
		snprintf(to, sizeof(before), "/proc/self/fd/%d", fd);
		find_split(unit, &split);
		memcpy(to, before, sizeof(before));
	}
}

void debug_split_unit(struct debug *d, Dwarf_Die *unit)
{
	Dwarf_Die split;
	uint64_t id = 0;
	uint8_t type = 0;

	if (dwarf_cu_info(unit->cu, NULL, &type, NULL, NULL, &id, NULL, NULL) ||
	    type != DW_UT_skeleton)
		return;
	if (!d->asked)
		find_package(d);
	if (d->package && !map_get(&d->attached, id) && map_set(&d->attached, id, d))
		attach(d, unit, id);
	if (find_split(unit, &split))
		*unit = split;
}

void debug_free_split(struct debug *d)
{
	vec_each (copy, &d->copies)
		free(*copy);
	vec_free(&d->copies);
	map_free(&d->attached);
	dwp_close(d->package);
}

#endif
