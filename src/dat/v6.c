// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Version 6: everything in one row.
 *
 *	the tables of metadata.c
 *	u32 number of CPUs
 *	"options  \0" options          (may be missing)
 *	"flyrecord\0" or "latency  \0"
 *
 * After "flyrecord" come u64 offset and u64 size for each CPU, then u64 size and text of the
 * trace clock; after "latency", text up to the end of the file. Each further buffer has a
 * "flyrecord" of its own, whose offset its option tells.
 *
 * The end of the metadata is only known after parsing. So the start of the file is loaded and
 * parsed; if that is not enough, more is loaded, and everything is parsed again.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"
#include "dat/unfinished.h"

#define FIRST_LOAD ((size_t)256 << 10)
#define TAG_SIZE   10
#define STRING_MAX 4096 /* bytes of a name or a clock */

enum tag { TAG_NONE, TAG_OPTIONS, TAG_FLYRECORD, TAG_LATENCY };

static enum tag take_tag(struct cursor *c)
{
	static const char *const words[] = {
		[TAG_OPTIONS] = "options",
		[TAG_FLYRECORD] = "flyrecord",
		[TAG_LATENCY] = "latency",
	};
	const char *p = (const char *)cursor_bytes(c, TAG_SIZE);

	for (enum tag t = TAG_OPTIONS; p && t <= TAG_LATENCY; t++)
		if (strncmp(p, words[t], strlen(words[t])) == 0)
			return t;
	return TAG_NONE;
}

static void forget(struct dat_load *l)
{
	struct dat *d = l->d;

	l->formats.n = 0;
	l->systems.n = 0;
	l->options.n = 0;
	l->wanted = 0;
	d->nr_ftrace_formats = 0;
	d->has_header = d->has_ftrace = d->has_formats = false;
	d->has_kallsyms = d->has_printk = d->has_cmdlines = d->has_options = false;
}

/* The row of tables; `what` is the one that is being read. */
static bool parse_tables(struct dat_load *l, struct cursor *c, const char **what)
{
	for (size_t i = 0; i < DAT_NR_TABLES; i++) {
		*what = dat_tables[i].name;
		if (!dat_tables[i].parse(l, c))
			return false;
	}
	return true;
}

/* Up to the first "flyrecord" or "latency", which it steps over. */
static bool parse(struct dat_load *l, struct cursor *c, enum tag *tag, const char **what)
{
	uint64_t next;

	forget(l);
	*tag = TAG_NONE;
	if (!parse_tables(l, c, what))
		return false;
	*what = "number of CPUs";
	l->d->nr_cpus = cursor_u32(c);
	*what = "options";
	*tag = take_tag(c);
	if (*tag == TAG_OPTIONS) {
		*tag = TAG_NONE;
		l->d->has_options = true;
		if (!dat_parse_options(l, c, &next))
			return false;
		*tag = take_tag(c);
	}
	return !cursor_failed(c);
}

/* Loads the start of the file up to `size`; false when there is no more to load. */
static int load_prefix(struct dat *d, size_t *have, uint64_t size)
{
	uint8_t *bigger;
	int64_t got;

	if (size > d->file_size)
		size = d->file_size;
	if (size > d->arena.limit)
		size = d->arena.limit;
	if (size <= *have)
		return 0;
	bigger = realloc(d->prefix, size + 1);
	if (!bigger)
		return -ENOMEM;
	d->prefix = bigger;
	got = dat_read(d, bigger + *have, size - *have, *have);
	if (got < 0)
		return (int)got;
	*have += (size_t)got;
	return got > 0;
}

static void note_end(struct dat_load *l, const struct cursor *c, const char *what)
{
	struct dat *d = l->d;
	uint64_t at = cursor_offset(c), left = (uint64_t)(c->end - c->pos);

	if (l->wanted > d->file_size)
		dat_note_damage(d, -ENODATA, at,
				"cut off: %llu of %llu bytes of the %s are missing",
				(unsigned long long)(l->wanted - d->file_size),
				(unsigned long long)(l->wanted - at), what);
	else if (left < 16 && at + left >= d->file_size)
		dat_note_damage(d, -ENODATA, at, "cut off: the file ends inside the %s", what);
	else
		dat_note_damage(d, -EBADMSG, at, "the %s make no sense", what);
}

/*
 * How much to load before parsing again; 0 if more bytes would not help: the parser stopped for
 * another reason, or the file or the limit has no more.
 */
static uint64_t more(const struct dat_load *l, const struct cursor *c, size_t have)
{
	bool short_of_bytes = l->wanted > have || (size_t)(c->end - c->pos) < STRING_MAX;

	if (!short_of_bytes || have >= l->d->file_size || have >= l->d->arena.limit ||
	    l->wanted > l->d->file_size)
		return 0;
	return l->wanted > (uint64_t)have * 2 ? l->wanted + FIRST_LOAD : (uint64_t)have * 2;
}

static int load_metadata(struct dat_load *l, uint64_t start, struct cursor *c, enum tag *tag)
{
	struct dat *d = l->d;
	const char *what = "";
	size_t have = 0;
	uint64_t size = FIRST_LOAD;

	for (;;) {
		int rc = load_prefix(d, &have, size);
		bool complete;

		if (rc < 0)
			return rc;
		*c = cursor_over(d->prefix, have, d->big_endian);
		cursor_skip(c, start);
		complete = parse(l, c, tag, &what);
		if (complete)
			return 0;
		size = rc ? more(l, c, have) : 0;
		if (!size)
			break;
	}
	note_end(l, c, what);
	return 0;
}

/* The table of CPUs at offset, and the clock after it. */
static void read_table(struct dat_load *l, struct dat_buffer *b, uint64_t offset, uint32_t cpus)
{
	struct dat *d = l->d;
	size_t size = (size_t)cpus * 16 + 8 + STRING_MAX;
	uint64_t clock;
	struct cursor c;
	uint8_t *table;
	int64_t got;

	if (cpus > DAT_MAX_ALL_CPUS - l->nr_all_cpus) {
		dat_note_damage(d, -EBADMSG, offset, "%u CPUs are too many", cpus);
		return;
	}
	table = malloc(size);
	got = table ? dat_read(d, table, size, offset) : -ENOMEM;
	c = cursor_over(table, got > 0 ? (size_t)got : 0, d->big_endian);
	if (cpus > cursor_left(&c) / 16) {
		dat_note_damage(d, -ENODATA, offset,
				"cut off: the file ends in the table of %u CPUs", cpus);
		cpus = (uint32_t)(cursor_left(&c) / 16);
	}
	if (!dat_buffer_cpus(l, b, cpus))
		dat_note_damage(d, -EBADMSG, offset, "%u CPUs are too many", cpus);
	for (uint32_t i = 0; i < b->nr_cpus; i++) {
		b->cpus[i].cpu = i;
		b->cpus[i].offset = cursor_u64(&c);
		b->cpus[i].claimed_size = cursor_u64(&c);
	}
	clock = cursor_u64(&c);
	if (clock && clock <= cursor_left(&c)) {
		b->clock = dat_clock_selected(d, (const char *)c.pos, (size_t)clock);
		b->clock_text = dat_text(d, c.pos, (size_t)clock);
	}
	free(table);
}

static void read_buffer(struct dat_load *l, struct dat_buffer *b, uint32_t cpus)
{
	struct dat *d = l->d;
	uint8_t tag[TAG_SIZE];
	struct cursor c = cursor_over(tag, TAG_SIZE, false);
	bool cut = b->offset >= d->file_size || dat_read(d, tag, TAG_SIZE, b->offset) != TAG_SIZE;

	if (!cut && take_tag(&c) == TAG_FLYRECORD)
		read_table(l, b, b->offset + TAG_SIZE, cpus);
	else
		dat_note_damage(d, cut ? -ENODATA : -EBADMSG, b->offset,
				"the data of buffer \"%.40s\" are missing", b->name);
}

static bool add_top(struct dat_load *l, enum tag tag, uint64_t after, uint32_t cpus)
{
	uint64_t offset = tag == TAG_LATENCY ? after : after - TAG_SIZE;
	struct dat_buffer *b = dat_buffer_add(l, "", offset);

	if (!b)
		return false;
	if (tag == TAG_LATENCY) {
		b->text = true;
		b->stored_text.offset = offset;
		b->stored_text.claimed_size = l->d->file_size - offset;
	} else {
		read_table(l, b, after, cpus);
	}
	return true;
}

int dat_load_v6(struct dat_load *l, uint64_t start)
{
	struct dat *d = l->d;
	struct cursor c;
	uint32_t cpus;
	enum tag tag;
	int rc = load_metadata(l, start, &c, &tag);

	if (rc)
		return rc;
	if (tag == TAG_OPTIONS || (tag == TAG_NONE && !cursor_failed(&c)))
		dat_note_damage(d, -EBADMSG, cursor_offset(&c) - TAG_SIZE,
				"neither flyrecord nor latency");
	dat_decode_options(l);
	if (d->nr_cpus > DAT_MAX_CPUS) {
		dat_note_damage(d, -EBADMSG, start, "%u CPUs are too many", d->nr_cpus);
		d->nr_cpus = l->cpu_count;
	}
	/* An option may say that the tables have another number of CPUs than the machine. */
	cpus = l->cpu_count ? l->cpu_count : d->nr_cpus;
	if (cpus > d->nr_cpus)
		d->nr_cpus = cpus;
	/* The clock of the top buffer is stored with its table too. */
	if (tag == TAG_FLYRECORD || tag == TAG_LATENCY) {
		vec_each (b, &l->buffers)
			read_buffer(l, b, cpus);
		if (!add_top(l, tag, cursor_offset(&c), cpus))
			return -ENOMEM;
		dat_load_unfinished(l);
		if (*l->buffers.at[l->buffers.n - 1].clock)
			d->clock = l->buffers.at[l->buffers.n - 1].clock;
	}
	vec_each (b, &l->buffers)
		if (!*b->clock)
			b->clock = d->clock;
	return 0;
}
