// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ELF files through libelf, which checks what it hands out against the file's size; the contents of
 * structures (offsets, addresses, lengths) are checked here.
 *
 * Invariants: `main` is the file itself, `debug` the separate one or NULL. Addresses are the same
 * in both; only main's program headers have their offsets in the file.
 */
#include "symbols/elf.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"

/* ---- notes ---- */

#define NOTE_HEAD     12
#define NOTE_BUILD_ID 3 /* NT_GNU_BUILD_ID */

bool note_next(struct cursor *notes, struct note *n)
{
	uint32_t len, padding;

	if (cursor_left(notes) < NOTE_HEAD)
		return false;
	n->name_len = cursor_u32(notes);
	len = cursor_u32(notes);
	n->type = cursor_u32(notes);
	n->name = (const char *)cursor_bytes(notes, ((uint64_t)n->name_len + 3) & ~3ull);
	n->content = cursor_sub(notes, len);
	if (cursor_failed(notes))
		return false;
	/* The last one's padding may be missing. */
	padding = -len & 3;
	cursor_skip(notes, cursor_left(notes) < padding ? cursor_left(notes) : padding);
	return true;
}

bool note_is(const struct note *n, const char *owner, uint32_t type)
{
	size_t len = strlen(owner) + 1;

	return n->type == type && n->name_len == len && memcmp(n->name, owner, len) == 0;
}

bool note_build_id(struct cursor notes, struct build_id *id)
{
	struct note n;

	while (note_next(&notes, &n)) {
		size_t len = cursor_left(&n.content);

		if (!note_is(&n, "GNU", NOTE_BUILD_ID) || len < 2 || len > sizeof(id->bytes))
			continue;
		memcpy(id->bytes, cursor_bytes(&n.content, len), len);
		id->len = len;
		return true;
	}
	return false;
}

#ifdef HAVE_ELF

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/array.h"
#include "symbols/sections.h"

/* ---- sections ---- */

Elf_Scn *section_of_type(Elf *elf, Elf_Scn *after, uint32_t type, GElf_Shdr *head)
{
	Elf_Scn *scn = after;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, head) && head->sh_type == type)
			return scn;
	return NULL;
}

Elf_Scn *section_named(Elf *elf, const char *name, GElf_Shdr *head)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *text;

		if (!gelf_getshdr(scn, head))
			continue;
		text = elf_strptr(elf, names, head->sh_name);
		if (text && !strcmp(text, name))
			return scn;
	}
	return NULL;
}

struct cursor section_bytes(Elf *elf, Elf_Scn *scn)
{
	Elf_Data *data = elf_rawdata(scn, NULL);
	struct cursor c = cursor_over("", 0, false);
	GElf_Ehdr head;

	if (!data || !data->d_buf || !gelf_getehdr(elf, &head)) {
		c.failed = true;
		return c;
	}
	return cursor_over(data->d_buf, data->d_size, head.e_ident[EI_DATA] == ELFDATA2MSB);
}

/* ---- separate debug files ---- */

/*
 * A debug file is only used if it belongs to the program: it has the same build id, or the checksum
 * in .gnu_debuglink.
 */

#define DEBUG_ROOT "/usr/lib/debug"
#define MAX_NAME   1024

static struct build_id build_id_of(Elf *elf)
{
	struct build_id id = {0};
	Elf_Scn *scn = NULL;
	GElf_Shdr head;

	while ((scn = section_of_type(elf, scn, SHT_NOTE, &head)))
		if (note_build_id(section_bytes(elf, scn), &id))
			break;
	return id;
}

static bool has_id(int fd, const struct build_id *id)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	struct build_id its = {0};

	if (elf && elf_kind(elf) == ELF_K_ELF)
		its = build_id_of(elf);
	elf_end(elf);
	return its.len == id->len && !memcmp(its.bytes, id->bytes, id->len);
}

static bool has_checksum(int fd, uint32_t wanted)
{
	uint8_t *bytes = malloc(65536);
	uLong sum = crc32(0, NULL, 0);
	off_t at = 0;
	ssize_t n = -1;

	while (bytes && (n = pread(fd, bytes, 65536, at)) > 0) {
		sum = crc32(sum, bytes, (uInt)n);
		at += n;
	}
	free(bytes);
	return !n && sum == wanted;
}

/* ---- where ---- */

/* The program whose debug file is searched. */
struct wanted_file {
	char dir[PATH_MAX]; /* that it is in; "" when that is not known */
	char file[NAME_MAX + 1];
	struct stat st;
	struct build_id id;
	const char *link; /* in .gnu_debuglink, or NULL */
	uint32_t checksum;
};

/* Whether it belongs to the program; `checked`: its checksum must be right, too. */
static bool belongs(int fd, const struct wanted_file *w, bool checked)
{
	const bool same_id = w->id.len && has_id(fd, &w->id);
	struct stat st;

	if (fstat(fd, &st) || (st.st_dev == w->st.st_dev && st.st_ino == w->st.st_ino))
		return false;
	if (same_id && !checked)
		return true;
	return (!checked || same_id || !w->id.len) && w->link && has_checksum(fd, w->checksum);
}

__attribute__((format(printf, 3, 4))) static int try(const struct wanted_file *w, bool checked,
						     const char *fmt, ...)
{
	char path[2 * PATH_MAX];
	va_list args;
	int n, fd;

	va_start(args, fmt);
	n = vsnprintf(path, sizeof(path), fmt, args);
	va_end(args);
	fd = n > 0 && (size_t)n < sizeof(path) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0 || belongs(fd, w, checked))
		return fd;
	close(fd);
	return -1;
}

static int by_build_id(const struct wanted_file *w, const char *root, bool checked)
{
	const struct build_id *id = &w->id;
	char digits[2 * sizeof(id->bytes) + 1] = "";

	if (!id->len)
		return -1;
	for (size_t i = 1; i < id->len; i++)
		snprintf(digits + 2 * (i - 1), 3, "%02x", id->bytes[i]);
	return try(w, checked, "%s/.build-id/%02x/%s.debug", root, id->bytes[0], digits);
}

/* The name and the checksum in .gnu_debuglink. */
static const char *debuglink(Elf *elf, uint32_t *checksum)
{
	GElf_Shdr head;
	Elf_Scn *scn = section_named(elf, ".gnu_debuglink", &head);
	struct cursor c;
	const char *name;

	if (!scn || head.sh_type == SHT_NOBITS)
		return NULL;
	c = section_bytes(elf, scn);
	name = cursor_string(&c);
	cursor_skip(&c, -(uint64_t)(c.pos - c.base) & 3);
	*checksum = cursor_u32(&c);
	if (cursor_failed(&c) || strchr(name, '/') || strlen(name) > MAX_NAME)
		return NULL;
	return name;
}

static void know(struct wanted_file *w, const char *path, Elf *elf)
{
	char *slash;

	*w = (struct wanted_file){.id = build_id_of(elf)};
	w->link = debuglink(elf, &w->checksum);
	if (stat(path, &w->st) || !realpath(path, w->dir)) {
		w->dir[0] = '\0';
		return;
	}
	slash = strrchr(w->dir, '/');
	snprintf(w->file, sizeof(w->file), "%s", slash + 1);
	*slash = '\0';
}

/* The usual places. */
static int by_custom(const struct wanted_file *w)
{
	static const char *const places[][2] = {
		{"", ""},
		{"", "/.debug"},
		{DEBUG_ROOT, ""},
	};
	int fd = by_build_id(w, DEBUG_ROOT, false);

	for (size_t i = 0; i < ARRAY_SIZE(places) && fd < 0 && w->link && *w->file; i++)
		fd = try(w, false, "%s%s%s/%s", places[i][0], w->dir, places[i][1], w->link);
	return fd;
}

/*
 * A place of the user: the file itself, or a folder that is laid out as the usual one or directly
 * contains the file.
 */
static int in_place(const struct wanted_file *w, const char *place, bool checked)
{
	struct stat st;
	int fd;

	if (stat(place, &st))
		return -1;
	if (!S_ISDIR(st.st_mode))
		return S_ISREG(st.st_mode) ? try(w, checked, "%s", place) : -1;
	fd = by_build_id(w, place, checked);
	if (fd < 0 && w->link)
		fd = try(w, checked, "%s%s/%s", place, w->dir, w->link);
	if (fd < 0 && w->link)
		fd = try(w, checked, "%s/%s", place, w->link);
	if (fd < 0 && *w->file)
		fd = try(w, checked, "%s%s/%s.debug", place, w->dir, w->file);
	if (fd < 0 && *w->file)
		fd = try(w, checked, "%s/%s.debug", place, w->file);
	return fd < 0 && *w->file ? try(w, checked, "%s/%s", place, w->file) : fd;
}

/* "/srv/debug:+../debug": relative paths are relative to the program's folder. */
static int by_list(const struct wanted_file *w, const char *list)
{
	char place[2 * PATH_MAX];
	int fd = -1;

	for (size_t len; *list && fd < 0; list += len + (list[len] == ':')) {
		const bool checked = *list == '+';
		int n;

		list += checked;
		len = strcspn(list, ":");
		if (!len)
			continue;
		n = snprintf(place, sizeof(place), "%s%s%.*s", *list == '/' ? "" : w->dir,
			     *list == '/' ? "" : "/", (int)len, list);
		if (n > 0 && (size_t)n < sizeof(place))
			fd = in_place(w, place, checked);
	}
	return fd;
}

/*
 * Opens the debug file that belongs to an ELF file: see binary_open_debug(). -1 when there is none.
 */
static int debugfile_open(const char *path, struct Elf *elf, const char *const *places)
{
	struct wanted_file w;
	int fd = -1;

	know(&w, path, elf);
	for (; places && *places && fd < 0; places++)
		fd = by_list(&w, *places);
	return fd < 0 ? by_custom(&w) : fd;
}

#define MAX_SYMBOLS  (16u << 20)
#define MAX_SECTIONS 100000
#define MAX_VERSIONS 4096

struct binary {
	char *path;
	int fd, debug_fd;
	Elf *main, *debug;
	struct binary_info info;
};

/* ---- opening ---- */

static int read_info(struct binary *b, struct spur_error *err)
{
	GElf_Ehdr head;

	if (!b->main || elf_kind(b->main) != ELF_K_ELF || !gelf_getehdr(b->main, &head))
		return error_set(err, -EBADMSG, "it is no ELF file");
	b->info.machine = head.e_machine;
	b->info.is_64 = head.e_ident[EI_CLASS] == ELFCLASS64;
	b->info.big_endian = head.e_ident[EI_DATA] == ELFDATA2MSB;
	if (head.e_type != ET_EXEC && head.e_type != ET_DYN)
		return error_set(err, -EBADMSG, "it is neither a program nor a shared library");
	return 0;
}

static struct binary *binary_new(void)
{
	struct binary *b = calloc(1, sizeof(*b));

	if (b)
		b->fd = b->debug_fd = -1;
	elf_version(EV_CURRENT);
	return b;
}

int binary_open_debug(const char *path, const char *const *places, struct binary **out,
		      struct spur_error *err)
{
	struct binary *b = binary_new();
	int ret;

	*out = NULL;
	if (!b)
		return error_sys(err, -ENOMEM, "%s", path);
	b->path = strdup(path);
	b->fd = b->path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (b->fd < 0) {
		ret = error_sys(err, -errno, "%s", path);
		binary_close(b);
		return ret;
	}
	b->main = elf_begin(b->fd, ELF_C_READ, NULL);
	ret = read_info(b, err);
	if (ret) {
		error_prefix(err, "%s", path);
		binary_close(b);
		return ret;
	}
	b->debug_fd = debugfile_open(path, b->main, places);
	if (b->debug_fd >= 0)
		b->debug = elf_begin(b->debug_fd, ELF_C_READ, NULL);
	*out = b;
	return 0;
}

void binary_close(struct binary *b)
{
	if (!b)
		return;
	elf_end(b->debug);
	elf_end(b->main);
	if (b->debug_fd >= 0)
		close(b->debug_fd);
	if (b->fd >= 0)
		close(b->fd);
	free(b->path);
	free(b);
}

struct binary_info binary_info(const struct binary *b)
{
	return b->info;
}

const char *binary_path(const struct binary *b)
{
	return b->path;
}

bool binary_real_path(const struct binary *b, bool debug, char *path, size_t size)
{
	const int fd = debug ? b->debug_fd : b->fd;
	char link[32];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = fd >= 0 ? readlink(link, path, size) : -1;
	if (n <= 0 || (size_t)n >= size)
		return false;
	path[n] = '\0';
	return true;
}

struct Elf *binary_debug_elf(const struct binary *b)
{
	return b->debug ? b->debug : b->main;
}

/* ---- addresses ---- */

static bool offset_of(const struct binary *b, uint64_t addr, uint64_t *offset, uint32_t flags)
{
	size_t n;

	if (elf_getphdrnum(b->main, &n))
		return false;
	for (size_t i = 0; i < n && i < MAX_SECTIONS; i++) {
		GElf_Phdr p;

		if (!gelf_getphdr(b->main, (int)i, &p))
			return false;
		if (p.p_type == PT_LOAD && (p.p_flags & flags) == flags && addr >= p.p_vaddr &&
		    addr - p.p_vaddr < p.p_filesz)
			return !__builtin_add_overflow(addr - p.p_vaddr, p.p_offset, offset);
	}
	return false;
}

bool binary_offset(const struct binary *b, uint64_t addr, uint64_t *offset)
{
	return offset_of(b, addr, offset, 0);
}

bool binary_code_offset(const struct binary *b, uint64_t addr, uint64_t *offset)
{
	return offset_of(b, addr, offset, PF_X);
}

bool binary_code_addr(const struct binary *b, uint64_t offset, uint64_t *addr)
{
	size_t n = 0;

	if (elf_getphdrnum(b->main, &n))
		return false;
	for (size_t i = 0; i < n && i < MAX_SECTIONS; i++) {
		GElf_Phdr head;

		if (!gelf_getphdr(b->main, (int)i, &head) || head.p_type != PT_LOAD ||
		    !(head.p_flags & PF_X) || offset < head.p_offset ||
		    offset - head.p_offset >= head.p_filesz)
			continue;
		*addr = head.p_vaddr + (offset - head.p_offset);
		return true;
	}
	return false;
}

/* ---- sections ---- */

bool binary_section(const struct binary *b, const char *name, uint64_t *addr)
{
	GElf_Shdr head;

	if (!section_named(b->main, name, &head))
		return false;
	*addr = head.sh_addr;
	return true;
}

bool binary_has_debug(const struct binary *b)
{
	GElf_Shdr head;

	return section_named(binary_debug_elf(b), ".debug_info", &head) ||
	       section_named(binary_debug_elf(b), ".zdebug_info", &head);
}

bool binary_section_bytes(const struct binary *b, const char *name, uint64_t *addr,
			  struct cursor *bytes)
{
	GElf_Shdr head;
	Elf_Scn *scn = section_named(b->main, name, &head);

	if (!scn || head.sh_type == SHT_NOBITS)
		return false;
	*addr = head.sh_addr;
	*bytes = section_bytes(b->main, scn);
	return !cursor_failed(bytes);
}

int binary_each_notes(const struct binary *b, int (*fn)(void *arg, struct cursor notes), void *arg)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr head;
	int ret = 0;

	while (!ret && (scn = section_of_type(b->main, scn, SHT_NOTE, &head)))
		ret = fn(arg, section_bytes(b->main, scn));
	return ret;
}

bool binary_has_symtab(const struct binary *b)
{
	GElf_Shdr head;

	return section_of_type(b->main, NULL, SHT_SYMTAB, &head) ||
	       (b->debug && section_of_type(b->debug, NULL, SHT_SYMTAB, &head));
}

/* ---- versions ---- */

/* The versions of one file's dynamic symbols. */
struct versions {
	Elf_Data *each;	 /* a number per symbol */
	Elf_Data *names; /* what the numbers mean */
	Elf *elf;
	size_t strings;
};

static struct versions versions_of(Elf *elf)
{
	struct versions v = {.elf = elf};
	GElf_Shdr head;
	Elf_Scn *scn = section_of_type(elf, NULL, SHT_GNU_versym, &head);

	if (scn)
		v.each = elf_getdata(scn, NULL);
	scn = section_of_type(elf, NULL, SHT_GNU_verdef, &head);
	if (scn) {
		v.names = elf_getdata(scn, NULL);
		v.strings = head.sh_link;
	}
	return v;
}

static const char *version_name(const struct versions *v, unsigned int number)
{
	size_t at = 0;

	for (unsigned int i = 0; v->names && i < MAX_VERSIONS; i++) {
		GElf_Verdaux aux;
		GElf_Verdef def;

		if (at > INT32_MAX || !gelf_getverdef(v->names, (int)at, &def))
			return NULL;
		if (def.vd_ndx == number) {
			if (at + def.vd_aux > INT32_MAX ||
			    !gelf_getverdaux(v->names, (int)(at + def.vd_aux), &aux))
				return NULL;
			return elf_strptr(v->elf, v->strings, aux.vda_name);
		}
		if (!def.vd_next)
			return NULL;
		at += def.vd_next;
	}
	return NULL;
}

/* ---- symbols ---- */

#define VERSION_HIDDEN 0x8000
#define VERSION_FIRST  2 /* 0 and 1 are for symbols without one */

struct walk {
	const struct binary *b;
	Elf *elf;
	struct versions versions;
	bool dynamic;
	int (*fn)(void *arg, const struct binary_symbol *symbol);
	void *arg;
};

/* False when it is neither a function nor a variable that the file defines. */
static bool is_wanted(const struct walk *w, const GElf_Sym *sym, struct binary_symbol *s)
{
	uint64_t unused;

	if (sym->st_shndx == SHN_UNDEF || !sym->st_value)
		return false;
	s->addr = sym->st_value;
	s->size = sym->st_size;
	if (w->b->info.machine == EM_ARM && GELF_ST_TYPE(sym->st_info) != STT_OBJECT)
		s->addr &= ~1ull; /* the bit for Thumb code */
	switch (GELF_ST_TYPE(sym->st_info)) {
	case STT_GNU_IFUNC:
		s->indirect = true;
		s->function = true;
		break;
	case STT_FUNC: s->function = true; break;
	case STT_OBJECT: break;
	/* Functions in assembler often have no type. */
	case STT_NOTYPE: s->function = binary_code_offset(w->b, s->addr, &unused); break;
	default: return false;
	}
	return true;
}

static void set_version(const struct walk *w, size_t number, struct binary_symbol *s)
{
	const char *at = strchr(s->name, '@');
	GElf_Versym version;

	s->name_len = at ? (size_t)(at - s->name) : strlen(s->name);
	if (at) {
		s->old_version = at[1] != '@';
		s->version = at + (s->old_version ? 1 : 2);
		return;
	}
	if (!w->dynamic || !w->versions.each || number > INT32_MAX ||
	    !gelf_getversym(w->versions.each, (int)number, &version))
		return;
	s->old_version = version & VERSION_HIDDEN;
	version &= VERSION_HIDDEN - 1;
	if (version >= VERSION_FIRST)
		s->version = version_name(&w->versions, version);
}

static int walk_table(const struct walk *w, Elf_Scn *scn, const GElf_Shdr *head)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t each = gelf_fsize(w->elf, ELF_T_SYM, 1, EV_CURRENT);
	size_t n = data && each ? data->d_size / each : 0;
	int ret = 0;

	for (size_t i = 0; i < n && i < MAX_SYMBOLS && !ret; i++) {
		struct binary_symbol s = {0};
		GElf_Sym sym;

		if (!gelf_getsym(data, (int)i, &sym) || !is_wanted(w, &sym, &s))
			continue;
		s.name = elf_strptr(w->elf, head->sh_link, sym.st_name);
		if (!s.name || !s.name[0])
			continue;
		set_version(w, i, &s);
		if (s.name_len)
			ret = w->fn(w->arg, &s);
	}
	return ret;
}

static int walk_file(struct walk *w, Elf *elf)
{
	static const uint32_t types[] = {SHT_DYNSYM, SHT_SYMTAB};
	int ret = 0;

	w->elf = elf;
	w->versions = versions_of(elf);
	for (size_t i = 0; i < 2; i++) {
		Elf_Scn *scn = NULL;
		GElf_Shdr head;

		w->dynamic = types[i] == SHT_DYNSYM;
		while (!ret && (scn = section_of_type(elf, scn, types[i], &head)))
			ret = walk_table(w, scn, &head);
	}
	return ret;
}

int binary_each_symbol(const struct binary *b,
		       int (*fn)(void *arg, const struct binary_symbol *symbol), void *arg)
{
	struct walk w = {.b = b, .fn = fn, .arg = arg};
	int ret = walk_file(&w, b->main);

	return ret || !b->debug ? ret : walk_file(&w, b->debug);
}

/* ---- the dynamic section ---- */

int binary_each_dynamic(const struct binary *b, int (*fn)(void *arg, int tag, const char *text),
			void *arg)
{
	GElf_Shdr head;
	Elf_Scn *scn = section_of_type(b->main, NULL, SHT_DYNAMIC, &head);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	size_t each = gelf_fsize(b->main, ELF_T_DYN, 1, EV_CURRENT);
	size_t n = data && each ? data->d_size / each : 0;
	int ret = 0;

	for (size_t i = 0; i < n && i < MAX_SECTIONS && !ret; i++) {
		const char *text = NULL;
		GElf_Dyn dyn;

		if (!gelf_getdyn(data, (int)i, &dyn) || dyn.d_tag == DT_NULL)
			break;
		if (dyn.d_tag == DT_NEEDED || dyn.d_tag == DT_RPATH || dyn.d_tag == DT_RUNPATH)
			text = elf_strptr(b->main, head.sh_link, dyn.d_un.d_val);
		if (text)
			ret = fn(arg, (int)dyn.d_tag, text);
	}
	return ret;
}

char *binary_interpreter(const struct binary *b, struct arena *arena)
{
	GElf_Shdr head;
	Elf_Scn *scn = section_named(b->main, ".interp", &head);
	struct cursor c;
	const char *text;

	if (!scn)
		return NULL;
	c = section_bytes(b->main, scn);
	text = cursor_string(&c);
	return text ? arena_strdup(arena, text) : NULL;
}

#else /* HAVE_ELF */

int binary_open_debug(const char *path, const char *const *places, struct binary **out,
		      struct spur_error *err)
{
	*out = NULL;
	return error_set(
		err, -ENOTSUP,
		"this spur was built without libelf and cannot look into %s: give an offset", path);
}

void binary_close(struct binary *b)
{
}

struct binary_info binary_info(const struct binary *b)
{
	return (struct binary_info){0};
}

bool binary_offset(const struct binary *b, uint64_t addr, uint64_t *offset)
{
	return false;
}

bool binary_code_offset(const struct binary *b, uint64_t addr, uint64_t *offset)
{
	return false;
}

bool binary_has_debug(const struct binary *b)
{
	return false;
}

bool binary_code_addr(const struct binary *b, uint64_t offset, uint64_t *addr)
{
	return false;
}

int binary_each_symbol(const struct binary *b,
		       int (*fn)(void *arg, const struct binary_symbol *symbol), void *arg)
{
	return 0;
}

int binary_each_notes(const struct binary *b, int (*fn)(void *arg, struct cursor notes), void *arg)
{
	return 0;
}

bool binary_section(const struct binary *b, const char *name, uint64_t *addr)
{
	return false;
}

bool binary_section_bytes(const struct binary *b, const char *name, uint64_t *addr,
			  struct cursor *bytes)
{
	return false;
}

int binary_each_dynamic(const struct binary *b, int (*fn)(void *arg, int tag, const char *text),
			void *arg)
{
	return 0;
}

char *binary_interpreter(const struct binary *b, struct arena *arena)
{
	return NULL;
}

struct Elf *binary_debug_elf(const struct binary *b)
{
	return NULL;
}

bool binary_has_symtab(const struct binary *b)
{
	return false;
}

#endif

int binary_open(const char *path, struct binary **out, struct spur_error *err)
{
	return binary_open_debug(path, NULL, out, err);
}
