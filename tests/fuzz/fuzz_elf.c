// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer: a program or library: its symbols, what functions take and return, USDT probes with
 * their arguments, libraries, lines, and how its stacks are unwound.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/vec.h"
#include "probe/usdt.h"
#include "symbols/cfi.h"
#include "symbols/dwarf.h"
#include "symbols/elf.h"
#include "symbols/lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_SEEN  10000
#define MAX_KNOWN 20 /* functions looked at closely */

struct seen {
	struct binary *b;
	struct debug *debug;
	struct arena arena;
	size_t size;
	size_t n, known;
};

static const struct abi *abi_of(const struct seen *seen)
{
	struct binary_info info = binary_info(seen->b);

	return abi_of_elf(info.machine, info.is_64, "x86_64");
}

static void look_inside(const struct type *t, unsigned int depth)
{
	struct type target;
	struct member m;
	uint64_t largest;

	type_words(t, &largest);
	if (depth > 3)
		return;
	if (type_target(t, &target))
		look_inside(&target, depth + 1);
	if (type_member(t, "next", 4, &m))
		look_inside(&m.type, depth + 1);
}

static void see_frames(struct seen *seen, uint64_t addr)
{
	struct source_frame frames[FRAMES_MAX];
	const size_t n = frames_at(seen->debug, addr, &seen->arena, frames);

	for (size_t i = 0; i < n; i++)
		if (strlen(frames[i].function) > seen->size || (frames[i].line && !*frames[i].file))
			abort();
}

static void see_function(struct seen *seen, uint64_t addr)
{
	struct proto p;

	if (seen->known < MAX_KNOWN)
		see_frames(seen, addr);

	if (seen->known++ >= MAX_KNOWN ||
	    !debug_function(seen->debug, addr, addr % 2, abi_of(seen), &seen->arena, &p))
		return;
	abi_place(abi_of(seen), &p);
	look_inside(&p.ret, 0);
	for (size_t i = 0; i < p.n; i++)
		look_inside(&p.at[i].type, 0);
}

static int see_symbol(void *arg, const struct binary_symbol *s)
{
	struct seen *seen = arg;
	uint64_t offset;

	/* Reading the names lets the sanitizer look at them. */
	if (s->name_len > strlen(s->name) || (s->version && strlen(s->version) > seen->size))
		abort();
	binary_offset(seen->b, s->addr, &offset);
	binary_code_offset(seen->b, s->addr, &offset);
	if (s->function && seen->debug)
		see_function(seen, s->addr);
	return ++seen->n > MAX_SEEN;
}

static bool find_symbol(void *arg, const char *name, size_t len, int64_t *offset)
{
	*offset = (int64_t)len;
	return len % 2;
}

static int see_probe(void *arg, const struct usdt_probe *p)
{
	static const struct usdt_symbols symbols = {.find = find_symbol};
	struct seen *seen = arg;
	struct proto proto;

	if (usdt_args(p->args, abi_of(seen), &symbols, &seen->arena, &proto))
		return 1; /* no memory left */
	if (strlen(p->provider) + strlen(p->name) > seen->size)
		abort();
	return ++seen->n > MAX_SEEN;
}

static int see_text(void *arg, int tag, const char *text)
{
	struct seen *seen = arg;

	return ++seen->n > MAX_SEEN + strlen(text);
}

static void see_rows(const struct seen *seen)
{
	struct cfi_rows rows = {0};

	cfi_read(seen->b, &rows, NULL);
	for (size_t i = 1; i < rows.n; i++)
		if (rows.at[i].addr <= rows.at[i - 1].addr)
			abort();
	vec_free(&rows);
}

static void see_lines(struct seen *seen)
{
	static const struct line_wanted wanted[] = {{"main.c", 3, 0}, {"./a/../t.c", 1, 1}};
	struct line_places found = {0};

	for (size_t i = 0; seen->debug && i < 2; i++)
		lines_find(seen->debug, &wanted[i], &seen->arena, &found, NULL);
	vec_free(&found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen seen = {.size = size};
	uint64_t addr;
	int fd = memfd_create("program", MFD_CLOEXEC);
	char path[64];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!binary_open(path, &seen.b, NULL)) {
		arena_init(&seen.arena, 1 << 20);
		seen.debug = debug_open(seen.b);
		binary_each_symbol(seen.b, see_symbol, &seen);
		seen.n = 0;
		usdt_each(seen.b, see_probe, &seen);
		seen.n = 0;
		binary_each_dynamic(seen.b, see_text, &seen);
		binary_interpreter(seen.b, &seen.arena);
		binary_section(seen.b, ".text", &addr);
		binary_has_symtab(seen.b);
		see_rows(&seen);
		see_lines(&seen);
		debug_close(seen.debug);
		binary_close(seen.b);
		arena_free(&seen.arena);
	}
	close(fd);
	return 0;
}
