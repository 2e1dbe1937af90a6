// SPDX-License-Identifier: GPL-2.0-or-later
/* Stacks and single addresses, with names where they have any. */
#include "script/show.h"

#include <inttypes.h>
#include <linux/bpf.h>

#include "base/cursor.h"
#include "script/symbols.h"
#include "symbols/frames.h"
#include "symbols/notes.h"

enum { INDENT = 8, KEY_INDENT = 4 };

static uint64_t load(const uint8_t *v, size_t len, size_t at, unsigned int size)
{
	if (len < size || len - size < at)
		return 0;
	return load_uint(v + at, size, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

/* An address without a name, as C++ writes a pointer: nothing but a digit for none at all. */
static void put_address(struct buf *to, uint64_t addr)
{
	if (addr)
		buf_puts(to, "0x");
	buf_hex(to, addr);
}

static void put_symbol(struct buf *to, const struct symbol_at *at, bool offset)
{
	buf_puts(to, at->name);
	if (offset) {
		buf_putc(to, '+');
		buf_u64(to, at->offset);
	}
}

static void put_kernel(const struct show *s, uint64_t addr, bool offset)
{
	struct symbol_at at;

	if (s->o->symbols && symbols_kernel(s->o->symbols, addr, &at))
		put_symbol(s->to, &at, offset);
	else
		put_address(s->to, addr);
}

static void put_user(const struct show *s, uint32_t pid, uint64_t addr, bool offset, bool module)
{
	struct symbol_at at = {0};
	bool known = s->o->symbols && symbols_user(s->o->symbols, pid, addr, &at);

	if (known)
		put_symbol(s->to, &at, offset);
	else
		put_address(s->to, addr);
	if (module)
		buf_printf(s->to, " (%s)", known && at.module ? at.module : "[unknown]");
}

void show_ksym(const struct show *s, uint64_t addr)
{
	put_kernel(s, addr, false);
}

void show_usym(const struct show *s, const uint8_t *v, size_t len)
{
	put_user(s, (uint32_t)load(v, len, 8, 4), load(v, len, 0, 8), false, false);
}

static void put_build_id(const struct show *s, const uint8_t *id, size_t len, uint64_t offset)
{
	for (size_t i = 0; i < BPF_BUILD_ID_SIZE; i++)
		buf_printf(s->to, "%02x", i < len ? id[i] : 0);
	buf_printf(s->to, " 0x%02" PRIx64, offset);
}

/* Where an address is in the file that is mapped there, if the process still tells. */
static void put_file_offset(const struct show *s, uint32_t pid, uint64_t addr)
{
	uint64_t offset = 0;
	const struct build_id *id =
		s->o->symbols ? symbols_user_file(s->o->symbols, pid, addr, &offset) : NULL;

	if (id)
		put_build_id(s, id->bytes, id->len, offset);
	else
		buf_hex(s->to, addr);
}

/* What comes before the name. */
static void begin_frame(const struct show *s, bool perf, uint64_t addr)
{
	if (perf) {
		buf_putc(s->to, '\t');
		buf_hex(s->to, addr);
		buf_putc(s->to, ' ');
	} else {
		buf_fill(s->to, ' ', s->key && s->o->style == OUTPUT_0_17 ? KEY_INDENT : INDENT);
	}
}

static void put_line(const struct show *s, const struct source_frame *f)
{
	if (!*f->file)
		return;
	buf_putc(s->to, '@');
	buf_puts(s->to, f->file);
	buf_putc(s->to, ':');
	buf_u64(s->to, f->line);
}

/*
 * A frame of a program: functions that were inlined come first, on lines of their own. `place` is
 * what lines are looked for at.
 */
static void put_user_frame(const struct show *s, bool perf, uint32_t pid, uint64_t addr,
			   uint64_t place)
{
	const struct source_frame *frames = NULL;
	const bool lines = s->o->unit->config.show_debug_info && s->o->style == OUTPUT_0_26;
	const size_t n =
		lines && s->o->symbols ? symbols_source(s->o->symbols, pid, place, &frames) : 0;

	for (size_t i = 0; i + 1 < n; i++) {
		begin_frame(s, perf, addr);
		buf_puts(s->to, perf ? "" : "[inlined] ");
		buf_puts(s->to, *frames[i].function ? frames[i].function : "[unknown]");
		if (perf)
			buf_puts(s->to, " (inlined)");
		else
			put_line(s, &frames[i]);
		buf_putc(s->to, '\n');
	}
	begin_frame(s, perf, addr);
	put_user(s, pid, addr, true, perf);
	if (n && !perf)
		put_line(s, &frames[n - 1]);
}

/* Frames but the first are behind the call that they are in. */
static void put_frame(const struct show *s, const struct vtype *t, uint32_t pid, uint64_t addr,
		      bool first)
{
	const bool perf = t->mode == STACK_PERF;

	if (t->mode == STACK_RAW || t->mode == STACK_BUILD_ID) {
		if (t->mode == STACK_RAW || t->kind != V_USTACK)
			buf_hex(s->to, addr);
		else
			put_file_offset(s, pid, addr);
		buf_putc(s->to, '\n');
		return;
	}
	if (t->kind == V_USTACK) {
		put_user_frame(s, perf, pid, addr, first ? addr : addr - 1);
	} else {
		begin_frame(s, perf, addr);
		put_kernel(s, addr, true);
	}
	buf_putc(s->to, '\n');
}

/* Frames that the kernel has found the files of, as far as it could. */
static void put_found(const struct show *s, uint32_t pid, const uint64_t *words, size_t n)
{
	struct bpf_stack_build_id f;
	const size_t each = sizeof(f) / sizeof(*words);

	buf_putc(s->to, '\n');
	for (size_t i = 0; i + each <= n; i += each) {
		memcpy(&f, &words[i], sizeof(f));
		if (f.status == BPF_STACK_BUILD_ID_VALID)
			put_build_id(s, f.build_id, sizeof(f.build_id), f.offset);
		else
			put_file_offset(s, pid, f.ip);
		buf_putc(s->to, '\n');
	}
}

void show_stack(const struct show *s, const struct vtype *t, const uint8_t *v, size_t len)
{
	int64_t id = (int64_t)load(v, len, 0, 8);
	uint32_t pid = t->kind == V_USTACK ? (uint32_t)load(v, len, 8, 4) : 0;
	uint64_t *frames = s->o->state->frames;
	size_t n;

	if (id < 0 || !s->o->stack)
		return;
	n = s->o->stack(s->o->arg, t, id, frames, sizeof(s->o->state->frames) / sizeof(*frames));
	if (!n)
		return;
	if (unit_has_build_ids(t)) {
		put_found(s, pid, frames, n);
		return;
	}
	if (n > SHOW_FRAMES)
		n = SHOW_FRAMES;
	if (t->depth && n > t->depth)
		n = t->depth;
	buf_putc(s->to, '\n');
	for (size_t i = 0; i < n && frames[i]; i++)
		put_frame(s, t, pid, frames[i], i == 0);
}
