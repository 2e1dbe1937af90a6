// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * .eh_frame to rows, for x86-64.
 *
 * The section is a list of records: u32 length (0xffffffff: u64), u32 id, …. A record of id 0 (CIE)
 * holds what functions have in common, any other one (FDE) is about one function: its id is the
 * distance back to its CIE. Both have instructions of a small machine whose state, at each address
 * of the function, is the row. cfi_run.c runs them.
 */
#include "symbols/cfi.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/vec.h"
#include "symbols/cfi_parts.h"

#define MAX_ROWS (2u << 20) /* before those that say the same are joined */

/* ---- numbers --------------------------------------------------------------------------- */

uint64_t cfi_uleb(struct cursor *c)
{
	uint64_t v = 0;
	uint8_t byte = 0x80;

	for (unsigned int shift = 0; byte & 0x80 && !cursor_failed(c); shift += 7) {
		byte = cursor_u8(c);
		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
	}
	return v;
}

int64_t cfi_sleb(struct cursor *c)
{
	uint64_t v = 0;
	uint8_t byte = 0x80;
	unsigned int shift = 0;

	for (; byte & 0x80 && !cursor_failed(c); shift += 7) {
		byte = cursor_u8(c);
		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
	}
	if (byte & 0x40 && shift < 64)
		v |= UINT64_MAX << shift;
	return (int64_t)v;
}

/* How pointers are written: DW_EH_PE_… */
enum {
	PE_ABSOLUTE = 0x00,
	PE_ULEB = 0x01,
	PE_U16 = 0x02,
	PE_U32 = 0x03,
	PE_U64 = 0x04,
	PE_SLEB = 0x09,
	PE_S16 = 0x0a,
	PE_S32 = 0x0b,
	PE_S64 = 0x0c,
	PE_FORMAT = 0x0f,
	PE_PC_RELATIVE = 0x10,
	PE_APPLICATION = 0x70,
	PE_INDIRECT = 0x80,
	PE_OMIT = 0xff,
};

uint64_t cfi_pointer(struct cursor *c, uint8_t encoding)
{
	const uint64_t at = cursor_offset(c);
	uint64_t v;

	switch (encoding & PE_FORMAT) {
	case PE_ULEB: v = cfi_uleb(c); break;
	case PE_SLEB: v = (uint64_t)cfi_sleb(c); break;
	case PE_U16: v = cursor_u16(c); break;
	case PE_S16: v = (uint64_t)(int16_t)cursor_u16(c); break;
	case PE_U32: v = cursor_u32(c); break;
	case PE_S32: v = (uint64_t)(int32_t)cursor_u32(c); break;
	case PE_ABSOLUTE:
	case PE_U64:
	case PE_S64: v = cursor_u64(c); break;
	default: c->failed = true; return 0;
	}
	switch (encoding & (PE_APPLICATION | PE_INDIRECT)) {
	case PE_ABSOLUTE: return v;
	case PE_PC_RELATIVE: return v + at; /* the section's origin is its address */
	default: c->failed = true; return 0;
	}
}

/* ---- records --------------------------------------------------------------------------- */

struct reader {
	struct cursor section;
	struct cfi_common common; /* of the CIE that was asked for last */
	uint64_t common_at;	  /* where that is; UINT64_MAX: nowhere */
	bool common_good;
	struct cfi_rows *rows;
	bool no_memory;
};

/* What the letters of the augmentation announce: "zR", "zPLR", "zRS". */
static bool read_augmentation(struct cursor *c, const char *letters, struct cfi_common *to)
{
	struct cursor data;

	if (!*letters)
		return true;
	if (*letters++ != 'z')
		return false;
	to->has_data = true;
	data = cursor_sub(c, cfi_uleb(c));
	for (; *letters; letters++) {
		switch (*letters) {
		case 'R': to->encoding = cursor_u8(&data); break;
		case 'L': cursor_u8(&data); break;
		/* The function that exceptions call: how it is written, then where it is. */
		case 'P': cfi_pointer(&data, cursor_u8(&data) & PE_FORMAT); break;
		case 'S': to->is_signal = true; break;
		case 'B': break;
		default: return false;
		}
	}
	return !cursor_failed(&data);
}

static bool read_common(struct cursor c, struct cfi_common *to)
{
	const char *letters;
	uint8_t version;

	*to = (struct cfi_common){.encoding = PE_ABSOLUTE};
	cursor_skip(&c, 4); /* its id */
	version = cursor_u8(&c);
	letters = cursor_string(&c);
	if (cursor_failed(&c) || (version != 1 && version != 3))
		return false;
	to->code_align = cfi_uleb(&c);
	to->data_align = cfi_sleb(&c);
	if ((version == 1 ? cursor_u8(&c) : cfi_uleb(&c)) != CFI_RETURN_ADDRESS)
		return false;
	if (!read_augmentation(&c, letters, to) || cursor_failed(&c))
		return false;
	to->program = c;
	cfi_start(to);
	return true;
}

/* A record's content, from its id on; failed at the end. 64-bit lengths are allowed. */
static struct cursor next_record(struct cursor *c)
{
	uint64_t length = cursor_u32(c);

	if (length == UINT32_MAX)
		length = cursor_u64(c);
	if (!length)
		c->failed = true; /* what ends the section */
	return cursor_sub(c, length);
}

/* The CIE at a distance from the id of an FDE. */
static const struct cfi_common *common_of(struct reader *r, uint64_t id_at, uint32_t distance)
{
	const uint64_t at = id_at - distance;
	struct cursor c = r->section;

	if (distance > id_at - c.origin)
		return NULL;
	if (at != r->common_at) {
		r->common_at = at;
		c.pos = c.base + (at - c.origin);
		c.failed = false;
		c = next_record(&c);
		r->common_good = !cursor_failed(&c) && read_common(c, &r->common);
	}
	return r->common_good ? &r->common : NULL;
}

static bool add_row(void *arg, uint64_t addr, const struct cfi_rule *rule)
{
	struct reader *r = arg;
	struct cfi_row *row = r->rows->n < MAX_ROWS ? vec_push(r->rows) : NULL;

	if (row)
		*row = (struct cfi_row){addr, *rule};
	r->no_memory |= !row;
	return row != NULL;
}

static void read_function(struct reader *r, struct cursor c)
{
	static const struct cfi_rule end = {0};
	const uint64_t id_at = cursor_offset(&c);
	const uint32_t distance = cursor_u32(&c);
	const struct cfi_common *common = distance ? common_of(r, id_at, distance) : NULL;
	uint64_t from, to;

	if (!common)
		return;
	from = cfi_pointer(&c, common->encoding);
	if (__builtin_add_overflow(from, cfi_pointer(&c, common->encoding & PE_FORMAT), &to))
		return;
	if (common->has_data)
		cursor_skip(&c, cfi_uleb(&c));
	/* What the linker has left out is at 0, or of no length. */
	if (cursor_failed(&c) || from >= to || !from)
		return;
	if (cfi_run(common, c, from, to, add_row, r))
		add_row(r, to, &end);
}

/* ---- in order -------------------------------------------------------------------------- */

/* Where one function ends another may begin, whose row counts. */
static int by_address(const void *a, const void *b)
{
	const struct cfi_row *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (!x->rule.kind != !y->rule.kind)
		return x->rule.kind ? 1 : -1;
	/* That one file says two things of an address matters less than that it is the same. */
	return memcmp(&x->rule, &y->rule, sizeof(x->rule));
}

static void put_in_order(struct cfi_rows *rows)
{
	size_t n = 0;

	if (rows->n)
		qsort(rows->at, rows->n, sizeof(*rows->at), by_address);
	for (size_t i = 0; i < rows->n; i++) {
		const struct cfi_row row = rows->at[i];

		if (n && rows->at[n - 1].addr == row.addr)
			n--;
		if (n && !memcmp(&rows->at[n - 1].rule, &row.rule, sizeof(row.rule)))
			continue;
		rows->at[n++] = row;
	}
	rows->n = n;
}

/* ---- all of it ------------------------------------------------------------------------- */

bool cfi_takes(const struct binary_info *info)
{
	return info->machine == EM_X86_64 && info->is_64 && !info->big_endian;
}

bool cfi_parse(struct cursor section, uint64_t addr, struct cfi_rows *rows)
{
	struct reader r = {.section = section, .common_at = UINT64_MAX, .rows = rows};
	struct cursor c;

	r.section.origin = addr;
	c = r.section;
	while (cursor_left(&c) && !r.no_memory) {
		struct cursor record = next_record(&c);

		if (!cursor_failed(&record))
			read_function(&r, record);
	}
	put_in_order(rows);
	return !r.no_memory;
}

int cfi_read(const struct binary *b, struct cfi_rows *rows, struct spur_error *err)
{
	const struct binary_info info = binary_info(b);
	struct cursor section;
	uint64_t addr;

	if (!cfi_takes(&info))
		return error_set(err, -ENOTSUP, "its stacks cannot be unwound on this machine");
	if (!binary_section_bytes(b, ".eh_frame", &addr, &section))
		return error_set(err, -ENOENT, "it has no .eh_frame to unwind stacks with");
	if (!cfi_parse(section, addr, rows))
		return error_set(err, -ENOMEM, "its .eh_frame is too large");
	return 0;
}
