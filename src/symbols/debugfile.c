// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Separate debug files. One is only taken when it says that it belongs to the program: by having
 * the same build id, or the checksum that .gnu_debuglink tells.
 */
#include "symbols/debugfile.h"

#ifdef HAVE_ELF

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "symbols/notes.h"
#include "symbols/sections.h"

#define MAX_NAME 1024

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

/* ---- where ----------------------------------------------------------------------------- */

/* The program whose debug file is looked for. */
struct wanted {
	char dir[PATH_MAX]; /* that it is in; "" when that is not known */
	char file[NAME_MAX + 1];
	struct stat st;
	struct build_id id;
	const char *link; /* in .gnu_debuglink, or NULL */
	uint32_t checksum;
};

/* Whether it says that it belongs to the program; `checked`: its checksum has to be right, too. */
static bool belongs(int fd, const struct wanted *w, bool checked)
{
	const bool same_id = w->id.len && has_id(fd, &w->id);
	struct stat st;

	if (fstat(fd, &st) || (st.st_dev == w->st.st_dev && st.st_ino == w->st.st_ino))
		return false;
	if (same_id && !checked)
		return true;
	return (!checked || same_id || !w->id.len) && w->link && has_checksum(fd, w->checksum);
}

__attribute__((format(printf, 3, 4))) static int try(const struct wanted *w, bool checked,
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

static int by_build_id(const struct wanted *w, const char *root, bool checked)
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

static void know(struct wanted *w, const char *path, Elf *elf)
{
	char *slash;

	*w = (struct wanted){.id = build_id_of(elf)};
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
static int by_custom(const struct wanted *w)
{
	static const char *const places[][2] = {
		{"", ""},
		{"", "/.debug"},
		{DEBUGFILE_ROOT, ""},
	};
	int fd = by_build_id(w, DEBUGFILE_ROOT, false);

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && fd < 0 && w->link && *w->file;
	     i++)
		fd = try(w, false, "%s%s%s/%s", places[i][0], w->dir, places[i][1], w->link);
	return fd;
}

/*
 * A place that the user has given: the file itself, or a folder, which is laid out as the usual one
 * or simply has the file in it.
 */
static int in_place(const struct wanted *w, const char *place, bool checked)
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

/* "/srv/debug:+../debug": relative ones are beside the program. */
static int by_list(const struct wanted *w, const char *list)
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

int debugfile_open(const char *path, struct Elf *elf, const char *const *places)
{
	struct wanted w;
	int fd = -1;

	know(&w, path, elf);
	for (; places && *places && fd < 0; places++)
		fd = by_list(&w, *places);
	return fd < 0 ? by_custom(&w) : fd;
}

#endif
