// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records: their bytes are made field by field, as the type lays them out; what is not set is 0.
 * Texts and arrays of any length lie behind the fields, which say where.
 */
#include <errno.h>
#include <string.h>

#include "import/import.h"

static void store(const struct import *im, uint8_t *to, unsigned int size, uint64_t v)
{
	for (unsigned int i = 0; i < size; i++)
		to[i] = (uint8_t)(v >> 8 * (im->big_endian ? size - 1 - i : i));
}

/* Where `size` bytes lie in the record that is being made; NULL when it is cut before them. */
static uint8_t *place(struct import *im, uint32_t offset, size_t size)
{
	if (im->record.len < offset || im->record.len - offset < size)
		return NULL;
	return (uint8_t *)im->record.data + offset;
}

void import_begin(struct import *im, const struct import_type *t)
{
	uint8_t *p;

	buf_reset(&im->record);
	buf_fill(&im->record, 0, t->size);
	p = place(im, 0, IMPORT_COMMON);
	if (p)
		store(im, p, 2, t->id);
}

void import_set(struct import *im, const struct import_field *f, uint64_t value)
{
	uint8_t *p = place(im, f->offset, f->size);

	if (p)
		store(im, p, f->size, value);
}

/* Says where the data of a field begin that were appended, and how long they are. */
static void locate(struct import *im, const struct import_field *f, size_t at, size_t len)
{
	uint8_t *p = place(im, f->offset, 4);

	if (p && at <= UINT16_MAX && len <= UINT16_MAX)
		store(im, p, 4, len << 16 | at);
}

void import_set_text(struct import *im, const struct import_field *f, const char *text, size_t len)
{
	const size_t at = im->record.len;
	uint8_t *p;

	if (f->kind == IMPORT_CHARS) {
		p = place(im, f->offset, f->nr);
		if (p && f->nr)
			memcpy(p, text, len < f->nr ? len : f->nr - 1);
		return;
	}
	/* All of the record's texts together must be where 16 bits reach. */
	if (at + len > IMPORT_MAX_TEXT) {
		len = at < IMPORT_MAX_TEXT ? IMPORT_MAX_TEXT - at : 0;
		im->cut++;
	}
	buf_put(&im->record, text, len);
	buf_putc(&im->record, '\0');
	if (f->kind == IMPORT_TEXT)
		locate(im, f, at, len + 1);
}

void import_set_numbers(struct import *im, const struct import_field *f, const uint64_t *v,
			size_t n)
{
	size_t most = f->kind == IMPORT_ARRAY ? f->nr : IMPORT_MAX_TEXT / 8;
	size_t at;

	if (n > most)
		n = most;
	if (f->kind == IMPORT_ARRAY) {
		uint8_t *p = place(im, f->offset, (size_t)f->nr * f->size);

		for (size_t i = 0; p && i < n; i++)
			store(im, p + i * f->size, f->size, v[i]);
		return;
	}
	if (f->kind == IMPORT_NUMBERS)
		buf_fill(&im->record, 0, -im->record.len % 8);
	at = im->record.len;
	if (at + n * f->size > IMPORT_MAX_TEXT) {
		n = at < IMPORT_MAX_TEXT ? (IMPORT_MAX_TEXT - at) / f->size : 0;
		im->cut++;
	}
	buf_fill(&im->record, 0, n * f->size);
	for (size_t i = 0; i < n && !buf_full(&im->record); i++)
		store(im, (uint8_t *)im->record.data + at + i * f->size, f->size, v[i]);
	if (f->kind == IMPORT_NUMBERS)
		locate(im, f, at, n * f->size);
}

void import_end(struct import *im, const struct import_context *c)
{
	uint8_t *p = place(im, 0, IMPORT_COMMON);

	if (!p)
		return;
	p[2] = c->flags;
	p[3] = c->preempt_count;
	store(im, p + 4, 4, (uint32_t)c->pid);
	if (buf_full(&im->record))
		im->cut++;
	import_raw(im, c, im->record.data, im->record.len);
}

static void add(struct import *im, uint32_t buffer, uint32_t cpu, const struct spool_record *r)
{
	int rc;

	if (im->rc < 0)
		return;
	if (cpu >= IMPORT_MAX_CPUS) {
		import_fail(im, -EBADMSG);
		return;
	}
	if (cpu >= im->nr_cpus)
		im->nr_cpus = cpu + 1;
	rc = spool_add(&im->spool, spool_key(buffer, cpu), r);
	if (rc < 0)
		import_fail(im, rc);
}

void import_raw(struct import *im, const struct import_context *c, const void *data, size_t size)
{
	struct spool_record r = {.ts = c->ts, .data = data};

	if (size > IMPORT_MAX_RECORD) {
		size = IMPORT_MAX_RECORD;
		im->cut++;
	}
	r.size = (uint32_t)size;
	if (r.size > im->largest)
		im->largest = r.size;
	im->events++;
	add(im, c->buffer, c->cpu, &r);
}

void import_lost(struct import *im, uint32_t buffer, uint32_t cpu, uint64_t ts, int64_t lost)
{
	if (lost > 0)
		im->lost += (uint64_t)lost;
	add(im, buffer, cpu, &(struct spool_record){.ts = ts, .lost = lost});
}
