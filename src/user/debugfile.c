// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Separate debug files. One is only taken when it says that it belongs to the program: by having
 * the same build id, or the checksum that .gnu_debuglink tells.
 */
#include "user/debugfile.h"

#ifdef HAVE_ELF

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "user/notes.h"
#include "user/sections.h"

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

static int by_build_id(const struct build_id *id)
{
	char path[sizeof(DEBUGFILE_ROOT) + 2 * sizeof(id->bytes) + 40];
	size_t n = (size_t)snprintf(path, sizeof(path), "%s/.build-id/%02x/", DEBUGFILE_ROOT,
				    id->bytes[0]);
	int fd;

	for (size_t i = 1; i < id->len; i++)
		n += (size_t)snprintf(path + n, sizeof(path) - n, "%02x", id->bytes[i]);
	snprintf(path + n, sizeof(path) - n, ".debug");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && has_id(fd, id))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
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

static int by_link(const char *path, const char *name, uint32_t checksum, const struct build_id *id)
{
	static const char *const places[][2] = {
		{"", ""},
		{"", "/.debug"},
		{DEBUGFILE_ROOT, ""},
	};
	char full[PATH_MAX], dir[PATH_MAX], *slash;

	if (!realpath(path, dir))
		return -1;
	slash = strrchr(dir, '/');
	*slash = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		int n = snprintf(full, sizeof(full), "%s%s%s/%s", places[i][0], dir, places[i][1],
				 name);
		int fd = n > 0 && (size_t)n < sizeof(full) ? open(full, O_RDONLY | O_CLOEXEC) : -1;

		if (fd < 0)
			continue;
		if ((id->len && has_id(fd, id)) || has_checksum(fd, checksum))
			return fd;
		close(fd);
	}
	return -1;
}

int debugfile_open(const char *path, struct Elf *elf)
{
	struct build_id id = build_id_of(elf);
	uint32_t checksum = 0;
	const char *name;
	int fd = id.len ? by_build_id(&id) : -1;

	if (fd >= 0)
		return fd;
	name = debuglink(elf, &checksum);
	return name ? by_link(path, name, checksum, &id) : -1;
}

#endif
