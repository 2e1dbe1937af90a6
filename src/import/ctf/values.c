// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Values in packets. Numbers may have any size and begin at any bit: in little-endian order the
 * lowest bits of a byte come first, in big-endian order the highest ones.
 *
 * Whatever a hostile trace describes, the work is bounded by the bits that are read: types that
 * take none of them, nested in each other, must not be counted through.
 */
#include "import/ctf/ctf.h"

#include <inttypes.h>
#include <string.h>

#include "base/cursor.h"

#define FREE_VISITS  10000 /* of values in a packet, before there must be bits to them */
#define VISITS_A_BIT 64
#define MAX_RENDERED 1000 /* elements of an array that is shown as text */

static void fail(struct ctf_reader *r)
{
	r->bits.failed = true;
}

static bool visit(struct ctf_reader *r)
{
	if (++r->visits > FREE_VISITS + VISITS_A_BIT * r->bits.at)
		fail(r);
	return !r->bits.failed;
}

void ctf_align(struct ctf_reader *r, const struct ctf_type *t)
{
	const uint64_t align = t->align ? t->align : 1;
	const uint64_t rest = r->bits.at % align;

	if (rest)
		r->bits.at += align - rest;
	if (r->bits.at > r->bits.end)
		fail(r);
}

static uint64_t read_little(const struct ctf_bits *b, uint64_t at, uint32_t size)
{
	uint64_t v = 0;

	for (uint32_t done = 0; done < size;) {
		const uint32_t skip = (uint32_t)((at + done) % 8);
		const uint32_t left = size - done, n = left < 8 - skip ? left : 8 - skip;
		const uint64_t part = b->data[(at + done) / 8] >> skip & ((1u << n) - 1);

		v |= part << done;
		done += n;
	}
	return v;
}

static uint64_t read_big(const struct ctf_bits *b, uint64_t at, uint32_t size)
{
	uint64_t v = 0;

	for (uint32_t done = 0; done < size;) {
		const uint32_t skip = (uint32_t)((at + done) % 8);
		const uint32_t left = size - done, n = left < 8 - skip ? left : 8 - skip;
		const uint64_t part = b->data[(at + done) / 8] >> (8 - skip - n) & ((1u << n) - 1);

		v = v << n | part;
		done += n;
	}
	return v;
}

static uint64_t read_bits(struct ctf_reader *r, const struct ctf_type *t)
{
	struct ctf_bits *b = &r->bits;
	const bool big = t->order == CTF_NATIVE ? b->big_endian : t->order == CTF_BIG;
	uint64_t v;

	ctf_align(r, t);
	if (b->failed || t->size > b->end - b->at) {
		fail(r);
		return 0;
	}
	if (b->at % 8 == 0 && (t->size == 8 || t->size == 16 || t->size == 32 || t->size == 64))
		v = load_uint(b->data + b->at / 8, t->size / 8, big);
	else
		v = big ? read_big(b, b->at, t->size) : read_little(b, b->at, t->size);
	b->at += t->size;
	return v;
}

/* A time of fewer bits is the next one that ends with these. */
static void take_time(struct ctf_reader *r, const struct ctf_type *t, uint64_t v)
{
	const uint64_t mask = t->size < 64 ? (1ull << t->size) - 1 : UINT64_MAX;
	uint64_t time = (r->clock & ~mask) | v;

	if (t->size < 64 && time < r->clock)
		time += mask + 1;
	r->clock = time;
}

uint64_t ctf_read_number(struct ctf_reader *r, const struct ctf_type *t)
{
	const struct ctf_type *number = t->kind == CTF_ENUM ? t->of : t;
	uint64_t v;

	if (!visit(r))
		return 0;
	v = read_bits(r, number);
	if (number->is_time && !r->bits.failed)
		take_time(r, number, v);
	if (number->is_signed && number->size < 64 && v >> (number->size - 1))
		v |= UINT64_MAX << number->size;
	return v;
}

const char *ctf_read_string(struct ctf_reader *r, const struct ctf_type *t, size_t *len)
{
	struct ctf_bits *b = &r->bits;
	const char *start, *end;

	*len = 0;
	if (!visit(r))
		return NULL;
	ctf_align(r, t);
	b->at = (b->at + 7) & ~7ull;
	if (b->failed || b->at >= b->end) {
		fail(r);
		return NULL;
	}
	start = (const char *)b->data + b->at / 8;
	end = memchr(start, 0, (size_t)((b->end - b->at) / 8));
	if (!end) {
		fail(r);
		return NULL;
	}
	*len = (size_t)(end - start);
	b->at += (*len + 1) * 8;
	return start;
}

/* ---- what refers to numbers ----------------------------------------------------------- */

void ctf_remember(struct ctf_reader *r, const char *name, const struct ctf_type *t, uint64_t v)
{
	if (name && r->nr_known < CTF_MAX_KNOWN)
		r->known[r->nr_known++] = (struct ctf_known){name, t, v};
}

/* Names are kept once, so that equal ones are one pointer. */
static const struct ctf_known *find(const struct ctf_reader *r, const char *name)
{
	for (size_t i = r->nr_known; i > 0; i--)
		if (r->known[i - 1].name == name)
			return &r->known[i - 1];
	return NULL;
}

bool ctf_find_known(const struct ctf_reader *r, const char *name, uint64_t *value)
{
	for (size_t i = r->nr_known; i > 0; i--)
		if (strcmp(r->known[i - 1].name, name) == 0) {
			*value = r->known[i - 1].value;
			return true;
		}
	return false;
}

uint64_t ctf_read_length(struct ctf_reader *r, const struct ctf_type *t)
{
	const struct ctf_known *k;
	uint64_t length = t->length;

	if (t->kind == CTF_SEQUENCE) {
		k = find(r, t->refers);
		if (!k)
			fail(r);
		length = k ? k->value : 0;
	}
	ctf_align(r, t->of);
	/* Elements may take no bits; no real trace has that many of them. */
	if (length > r->bits.end - (r->bits.failed ? 0 : r->bits.at) + 1)
		fail(r);
	return r->bits.failed ? 0 : length;
}

static const struct ctf_member *read_tag(struct ctf_reader *r, const struct ctf_type *t)
{
	const struct ctf_known *k = t->refers ? find(r, t->refers) : NULL;
	const struct ctf_type *tag = k ? k->type : NULL;

	for (uint32_t i = 0; tag && tag->kind == CTF_ENUM && i < tag->nr_labels; i++) {
		const struct ctf_label *l = &tag->labels[i];
		const bool inside =
			tag->of->is_signed
				? (int64_t)k->value >= l->first && (int64_t)k->value <= l->last
				: k->value >= (uint64_t)l->first && k->value <= (uint64_t)l->last;

		for (uint32_t m = 0; inside && m < t->nr_members; m++)
			if (t->members[m].name == l->name)
				return &t->members[m];
	}
	fail(r);
	return NULL;
}

/* ---- anything ------------------------------------------------------------------------- */

static void put_number(const struct ctf_type *t, uint64_t v, struct buf *out)
{
	const struct ctf_type *number = t->kind == CTF_ENUM ? t->of : t;

	if (number->base == 16)
		buf_printf(out, "0x%" PRIx64, v);
	else if (number->is_signed)
		buf_i64(out, (int64_t)v);
	else
		buf_u64(out, v);
}

static void put_float(const struct ctf_type *t, uint64_t v, struct buf *out)
{
	const uint32_t bits = (uint32_t)v;
	double d;
	float f;

	memcpy(&f, &bits, sizeof(f));
	memcpy(&d, &v, sizeof(d));
	buf_printf(out, "%.17g", t->size == 32 ? (double)f : d);
}

static void read_elements(struct ctf_reader *r, const struct ctf_type *t, struct buf *out,
			  int depth)
{
	const uint64_t length = ctf_read_length(r, t);

	if (out)
		buf_putc(out, '[');
	for (uint64_t i = 0; i < length && !r->bits.failed; i++) {
		const bool shown = out && i < MAX_RENDERED;

		if (shown && i)
			buf_puts(out, ", ");
		ctf_read_any(r, t->of, NULL, shown ? out : NULL, depth + 1);
	}
	if (out)
		buf_putc(out, ']');
}

static void read_members(struct ctf_reader *r, const struct ctf_type *t, struct buf *out, int depth)
{
	ctf_align(r, t);
	if (out)
		buf_putc(out, '{');
	for (uint32_t i = 0; i < t->nr_members && !r->bits.failed; i++) {
		if (out)
			buf_printf(out, "%s%s=", i ? ", " : "", t->members[i].name);
		ctf_read_any(r, t->members[i].type, t->members[i].name, out, depth + 1);
	}
	if (out)
		buf_putc(out, '}');
}

void ctf_read_any(struct ctf_reader *r, const struct ctf_type *t, const char *name, struct buf *out,
		  int depth)
{
	const struct ctf_member *chosen;
	const char *text;
	uint64_t v;
	size_t len;

	if (depth > CTF_MAX_DEPTH || !visit(r)) {
		fail(r);
		return;
	}
	switch (t->kind) {
	case CTF_INTEGER:
	case CTF_ENUM:
		v = ctf_read_number(r, t);
		ctf_remember(r, name, t, v);
		if (out)
			put_number(t, v, out);
		break;
	case CTF_FLOAT:
		v = read_bits(r, t);
		if (out)
			put_float(t, v, out);
		break;
	case CTF_STRING:
		text = ctf_read_string(r, t, &len);
		if (out && text)
			buf_put(out, text, len);
		break;
	case CTF_STRUCT: read_members(r, t, out, depth); break;
	case CTF_VARIANT:
		chosen = read_tag(r, t);
		if (chosen)
			ctf_read_any(r, chosen->type, chosen->name, out, depth + 1);
		break;
	default: read_elements(r, t, out, depth);
	}
}
