// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ELF files through libelf, which checks what it hands out against the file's size; what the
 * structures say (offsets, addresses, lengths) is checked here.
 *
 * Invariants: `main` is the file itself, `debug` the separate one or NULL. Addresses are the same
 * in both; where they lie in the file only main's program headers tell.
 */
#include "symbols/elf.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"

#ifdef HAVE_ELF

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "symbols/debugfile.h"
#include "symbols/sections.h"

#define MAX_SYMBOLS  (16u << 20)
#define MAX_SECTIONS 100000
#define MAX_VERSIONS 4096

struct binary {
	char *path;
	int fd, debug_fd;
	Elf *main, *debug;
	struct binary_info info;
};

/* ---- opening --------------------------------------------------------------------------- */

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

/* ---- addresses ------------------------------------------------------------------------- */

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

/* ---- sections -------------------------------------------------------------------------- */

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

/* ---- versions -------------------------------------------------------------------------- */

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

/* ---- symbols --------------------------------------------------------------------------- */

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
static bool wanted(const struct walk *w, const GElf_Sym *sym, struct binary_symbol *s)
{
	uint64_t unused;

	if (sym->st_shndx == SHN_UNDEF || !sym->st_value)
		return false;
	s->addr = sym->st_value;
	s->size = sym->st_size;
	if (w->b->info.machine == EM_ARM && GELF_ST_TYPE(sym->st_info) != STT_OBJECT)
		s->addr &= ~1ull; /* the bit that says Thumb */
	switch (GELF_ST_TYPE(sym->st_info)) {
	case STT_GNU_IFUNC:
		s->indirect = true;
		s->function = true;
		break;
	case STT_FUNC: s->function = true; break;
	case STT_OBJECT: break;
	/* What is written in assembler often has no type. */
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

		if (!gelf_getsym(data, (int)i, &sym) || !wanted(w, &sym, &s))
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

/* ---- what the loader is told ----------------------------------------------------------- */

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
