// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a file says about its recording: tables of text, and options.
 *
 * Both versions store the tables in the same way, one after the other in version 6, each in a
 * section of its own in version 7:
 *
 *	headers    "header_page\0" u64 size, text, "header_event\0" u64 size, text
 *	ftrace     u32 count, each: u64 size, text
 *	events     u32 systems, each: name\0, u32 count, each: u64 size, text
 *	kallsyms   u32 size, text
 *	printk     u32 size, text
 *	cmdlines   u64 size, text
 *
 * Counts need no limits of their own: every element needs bytes, and these are limited.
 */
#include "dat/load.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/vec.h"

/* ---- tables --------------------------------------------------------------------------- */

static uint64_t stored_at(const struct dat_load *l, const struct cursor *c)
{
	return l->stored ? l->stored : cursor_offset(c);
}

bool dat_take_blob(struct dat_load *l, struct cursor *c, uint64_t n, struct dat_blob *blob)
{
	struct dat_blob b = {.offset = stored_at(l, c)};

	if (n > cursor_left(c) && __builtin_add_overflow(cursor_offset(c), n, &l->wanted))
		l->wanted = UINT64_MAX;
	b.data = cursor_bytes(c, n);
	if (!b.data)
		return false;
	b.size = (size_t)n;
	*blob = b;
	return true;
}

/* A single text is useful even without its end. */
static bool take_text(struct dat_load *l, struct cursor *c, uint64_t n, struct dat_blob *blob)
{
	size_t left = cursor_left(c);

	if (dat_take_blob(l, c, n, blob))
		return true;
	if (left)
		*blob = (struct dat_blob){c->pos, left, stored_at(l, c)};
	return false;
}

static bool expect(struct cursor *c, const char *word)
{
	const uint8_t *p = cursor_bytes(c, strlen(word) + 1);

	if (p && memcmp(p, word, strlen(word) + 1) != 0)
		c->failed = true;
	return !cursor_failed(c);
}

static bool parse_headers(struct dat_load *l, struct cursor *c)
{
	struct dat *d = l->d;
	uint64_t size;

	if (!expect(c, "header_page"))
		return false;
	size = cursor_u64(c);
	if (!dat_take_blob(l, c, size, &d->header_page))
		return false;
	d->has_header = true;
	if (!expect(c, "header_event"))
		return false;
	size = cursor_u64(c);
	return dat_take_blob(l, c, size, &d->header_event);
}

static bool take_format(struct dat_load *l, struct cursor *c, const char *system)
{
	struct dat_format format = {.system = system};
	uint64_t size = cursor_u64(c);

	if (!dat_take_blob(l, c, size, &format.text))
		return false;
	if (l->formats.n >= DAT_MAX_FORMATS || !vec_add(&l->formats, &format))
		c->failed = true;
	return !c->failed;
}

static bool parse_ftrace(struct dat_load *l, struct cursor *c)
{
	uint32_t count = cursor_u32(c);

	l->d->has_ftrace = !cursor_failed(c);
	for (uint32_t i = 0; i < count; i++)
		if (!take_format(l, c, "ftrace"))
			break;
	l->d->nr_ftrace_formats = l->formats.n;
	return !cursor_failed(c);
}

static bool add_system(struct dat_load *l, const char *name, uint32_t count)
{
	const struct dat_system system = {name, count};

	return l->systems.n < DAT_MAX_SYSTEMS && vec_add(&l->systems, &system);
}

static bool parse_events(struct dat_load *l, struct cursor *c)
{
	uint32_t systems = cursor_u32(c);

	l->d->has_formats = !cursor_failed(c);
	for (uint32_t i = 0; i < systems && !cursor_failed(c); i++) {
		const char *name = cursor_string(c);
		uint32_t count = cursor_u32(c);

		if (cursor_failed(c))
			break;
		name = dat_text(l->d, name, strlen(name));
		if (!add_system(l, name, count))
			return false;
		for (uint32_t k = 0; k < count; k++)
			if (!take_format(l, c, name))
				return false;
	}
	return !cursor_failed(c);
}

static bool take_sized(struct dat_load *l, struct cursor *c, unsigned int width,
		       struct dat_blob *blob, bool *has)
{
	uint64_t size = cursor_uint(c, width);

	*has = !cursor_failed(c);
	return *has && take_text(l, c, size, blob);
}

static bool parse_kallsyms(struct dat_load *l, struct cursor *c)
{
	return take_sized(l, c, 4, &l->d->kallsyms, &l->d->has_kallsyms);
}

static bool parse_printk(struct dat_load *l, struct cursor *c)
{
	return take_sized(l, c, 4, &l->d->printk, &l->d->has_printk);
}

static bool parse_cmdlines(struct dat_load *l, struct cursor *c)
{
	return take_sized(l, c, 8, &l->d->cmdlines, &l->d->has_cmdlines);
}

const struct dat_table dat_tables[DAT_NR_TABLES] = {
	{DAT_OPT_HEADER_INFO, "headers", parse_headers},
	{DAT_OPT_FTRACE_EVENTS, "ftrace events", parse_ftrace},
	{DAT_OPT_EVENT_FORMATS, "event formats", parse_events},
	{DAT_OPT_KALLSYMS, "kallsyms", parse_kallsyms},
	{DAT_OPT_PRINTK, "printk formats", parse_printk},
	{DAT_OPT_CMDLINES, "command lines", parse_cmdlines},
};

/* ---- options -------------------------------------------------------------------------- */

/*
 * Each option is a u16 id, a u32 size and so many bytes. They end with id 0, in version 7 followed
 * by a size of 8 and the offset of the next options.
 *
 * All options are kept as they are; those in the table below are decoded as well. An option that is
 * too short is noted as damage and otherwise ignored.
 */

bool dat_is_layout(unsigned int id)
{
	switch (id) {
	case DAT_OPT_DONE:
	case DAT_OPT_BUFFER:
	case DAT_OPT_BUFFER_TEXT:
	case DAT_OPT_CPUCOUNT:
	case DAT_OPT_STRINGS:
	case DAT_OPT_HEADER_INFO:
	case DAT_OPT_FTRACE_EVENTS:
	case DAT_OPT_EVENT_FORMATS:
	case DAT_OPT_KALLSYMS:
	case DAT_OPT_PRINTK:
	case DAT_OPT_CMDLINES:
	case DAT_OPT_REGIONS: return true;
	default: return false;
	}
}

bool dat_parse_options(struct dat_load *l, struct cursor *c, uint64_t *next)
{
	const bool sized_end = l->d->version >= 7;

	*next = 0;
	for (;;) {
		struct dat_option option = {.id = cursor_u16(c), .section = l->section};
		uint32_t size;

		if (option.id == DAT_OPT_DONE && !sized_end)
			return !cursor_failed(c);
		size = cursor_u32(c);
		if (cursor_failed(c) || !dat_take_blob(l, c, size, &option.data))
			return false;
		if (option.id == DAT_OPT_DONE) {
			if (size >= 8)
				*next = load_uint(option.data.data, 8, c->big_endian);
			return size >= 8;
		}
		if (l->options.n >= DAT_MAX_OPTIONS || !vec_add(&l->options, &option))
			return false;
	}
}

/* A decimal or 0x… number with a sign, as strtoll() would read it up to the first other byte. */
static int64_t text_number(const struct dat_blob *b)
{
	char digits[64];
	size_t n = b->size < sizeof(digits) - 1 ? b->size : sizeof(digits) - 1;

	memcpy(digits, b->data, n);
	digits[n] = 0;
	return strtoll(digits, NULL, 0);
}

static const char *option_text(struct dat_load *l, const struct dat_option *o)
{
	return dat_text(l->d, o->data.data, o->data.size);
}

static bool decode_date(struct dat_load *l, const struct dat_option *o, struct cursor *c)
{
	int64_t ns;

	/* It is stored in microseconds. */
	if (__builtin_mul_overflow(text_number(&o->data), 1000, &ns))
		return false;
	l->d->date_offset = (int64_t)((uint64_t)l->d->date_offset + (uint64_t)ns);
	l->d->has_date = true;
	return true;
}

static bool decode_offset(struct dat_load *l, const struct dat_option *o, struct cursor *c)
{
	uint64_t more = (uint64_t)text_number(&o->data);

	l->d->ts_offset = (int64_t)((uint64_t)l->d->ts_offset + more);
	l->d->has_ts_offset = true;
	return true;
}

const char *dat_clock_selected(struct dat *d, const char *clocks, size_t n)
{
	const char *open = memchr(clocks, '[', n), *close;

	if (!open)
		return "";
	open++;
	close = memchr(open, ']', n - (size_t)(open - clocks));
	return close ? dat_text(d, open, (size_t)(close - open)) : "";
}

static bool decode_clock(struct dat_load *l, const struct dat_option *o, struct cursor *c)
{
	const char *selected = dat_clock_selected(l->d, (const char *)o->data.data, o->data.size);

	l->d->clocks = option_text(l, o);
	if (*selected)
		l->d->clock = selected;
	return true;
}

static bool decode_uname(struct dat_load *l, const struct dat_option *o, struct cursor *c)
{
	l->d->uname = option_text(l, o);
	return true;
}

static bool decode_version(struct dat_load *l, const struct dat_option *o, struct cursor *c)
{
	l->d->trace_version = option_text(l, o);
	return true;
}

static bool decode_cpu_count(struct dat_load *l, const struct dat_option *o, struct cursor *c)
{
	uint32_t count = cursor_u32(c);

	if (cursor_failed(c) || count > DAT_MAX_CPUS)
		return false;
	l->cpu_count = count;
	return true;
}

static bool decode_trace_id(struct dat_load *l, const struct dat_option *o, struct cursor *c)
{
	uint64_t id = cursor_u64(c);

	if (cursor_failed(c))
		return false;
	l->d->trace_id = id;
	return true;
}

static bool decode_tsc(struct dat_load *l, const struct dat_option *o, struct cursor *c)
{
	uint32_t mult = cursor_u32(c), shift = cursor_u32(c);
	uint64_t offset = cursor_u64(c);

	if (cursor_failed(c) || shift > 63)
		return false;
	l->d->tsc2nsec.valid = true;
	l->d->tsc2nsec.mult = mult;
	l->d->tsc2nsec.shift = shift;
	l->d->tsc2nsec.offset = offset;
	return true;
}

static bool decode_guest(struct dat_load *l, const struct dat_option *o, struct cursor *c)
{
	struct dat_guest guest = {0};
	const char *name = cursor_string(c);

	guest.trace_id = cursor_u64(c);
	guest.nr_cpus = cursor_u32(c);
	if (cursor_failed(c) || guest.nr_cpus > cursor_left(c) / 8)
		return false;
	guest.name = dat_text(l->d, name, strlen(name));
	guest.cpus = arena_array(&l->d->arena, guest.nr_cpus, sizeof(*guest.cpus));
	for (uint32_t i = 0; guest.cpus && i < guest.nr_cpus; i++) {
		guest.cpus[i].cpu = cursor_u32(c);
		guest.cpus[i].pid = (int32_t)cursor_u32(c);
	}
	return guest.cpus && vec_add(&l->guests, &guest);
}

static int by_time(const void *a, const void *b)
{
	const struct dat_time_sample *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time;
}

/* Sorts, and of samples with the same time keeps the first. */
static uint32_t sort_samples(struct dat_time_sample *s, uint32_t n)
{
	uint32_t kept = 0;

	if (n)
		qsort(s, n, sizeof(*s), by_time);
	for (uint32_t i = 0; i < n; i++)
		if (!kept || s[i].time != s[kept - 1].time)
			s[kept++] = s[i];
	return kept;
}

/* u32 n, u64 times[n], offsets[n], scalings[n] */
static struct dat_time_sample *take_samples(struct dat_load *l, struct cursor *c, uint32_t *count)
{
	uint32_t n = cursor_u32(c);
	struct dat_time_sample *s = NULL;

	if (n <= cursor_left(c) / 24)
		s = arena_array(&l->d->arena, n, sizeof(*s));
	if (!s)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		s[i].time = cursor_u64(c);
	for (uint32_t i = 0; i < n; i++)
		s[i].offset = (int64_t)cursor_u64(c);
	for (uint32_t i = 0; i < n; i++)
		s[i].scaling = cursor_u64(c);
	*count = n;
	return s;
}

/* u64 peer, u32 flags, u32 CPUs, samples of each; in newer files then u64 fractions[n] of each. */
static bool decode_time_shift(struct dat_load *l, const struct dat_option *o, struct cursor *c)
{
	struct dat_time_shift shift = {.peer_trace_id = cursor_u64(c)};

	shift.flags = cursor_u32(c);
	shift.nr_cpus = cursor_u32(c);
	if (cursor_failed(c) || shift.nr_cpus > cursor_left(c) / 4)
		return false;
	shift.cpus = arena_array(&l->d->arena, shift.nr_cpus, sizeof(*shift.cpus));
	if (!shift.cpus)
		return false;
	for (uint32_t i = 0; i < shift.nr_cpus; i++) {
		shift.cpus[i].samples = take_samples(l, c, &shift.cpus[i].nr);
		if (!shift.cpus[i].samples)
			return false;
	}
	for (uint32_t i = 0; cursor_left(c) && i < shift.nr_cpus; i++)
		for (uint32_t k = 0; k < shift.cpus[i].nr; k++)
			shift.cpus[i].samples[k].fraction = cursor_u64(c);
	for (uint32_t i = 0; i < shift.nr_cpus; i++)
		shift.cpus[i].nr = sort_samples(shift.cpus[i].samples, shift.cpus[i].nr);
	return !cursor_failed(c) && vec_add(&l->shifts, &shift);
}

/* u32 page size, u32 CPUs, each: u32 id, u64 offset, u64 size */
static bool take_cpus(struct dat_load *l, struct cursor *c, struct dat_buffer *b)
{
	uint32_t cpus;

	b->page_size = cursor_u32(c);
	cpus = cursor_u32(c);
	if (cursor_failed(c) || cpus > cursor_left(c) / 20 || !dat_buffer_cpus(l, b, cpus))
		return false;
	for (uint32_t i = 0; i < cpus; i++) {
		b->cpus[i].cpu = cursor_u32(c);
		b->cpus[i].offset = cursor_u64(c);
		b->cpus[i].claimed_size = cursor_u64(c);
	}
	return true;
}

/* u64 offset, name\0, and from version 7 on clock\0 and the CPUs. */
static bool decode_buffer(struct dat_load *l, const struct dat_option *o, struct cursor *c)
{
	const bool described = l->d->version >= 7;
	uint64_t offset = cursor_u64(c);
	const char *name = cursor_string(c), *clock = described ? cursor_string(c) : "";
	struct dat_buffer *b = cursor_failed(c) ? NULL : dat_buffer_add(l, name, offset);

	if (!b)
		return false;
	b->clock = dat_text(l->d, clock, strlen(clock));
	b->text = o->id == DAT_OPT_BUFFER_TEXT;
	if (described && !b->text && !take_cpus(l, c, b)) {
		/* No buffer is better than half of one: its data may be found by unfinished.c. */
		l->buffers.n--;
		return false;
	}
	return true;
}

/* Options that say where a section is; the last one of a kind counts. */
static bool decode_place(struct dat_load *l, const struct dat_option *o, struct cursor *c)
{
	uint64_t offset = cursor_u64(c);

	if (cursor_failed(c))
		return false;
	l->where[o->id] = offset;
	return true;
}

struct decoder {
	unsigned int id;
	bool (*decode)(struct dat_load *l, const struct dat_option *o, struct cursor *c);
	const char *name;
};

static const struct decoder decoders[] = {
	{DAT_OPT_DATE, decode_date, "DATE"},
	{DAT_OPT_BUFFER, decode_buffer, "BUFFER"},
	{DAT_OPT_TRACECLOCK, decode_clock, "TRACECLOCK"},
	{DAT_OPT_UNAME, decode_uname, "UNAME"},
	{DAT_OPT_OFFSET, decode_offset, "OFFSET"},
	{DAT_OPT_CPUCOUNT, decode_cpu_count, "CPUCOUNT"},
	{DAT_OPT_VERSION, decode_version, "VERSION"},
	{DAT_OPT_PROCMAPS, dat_decode_maps, "PROCMAPS"},
	{DAT_OPT_TRACEID, decode_trace_id, "TRACEID"},
	{DAT_OPT_TIME_SHIFT, decode_time_shift, "TIME_SHIFT"},
	{DAT_OPT_GUEST, decode_guest, "GUEST"},
	{DAT_OPT_TSC2NSEC, decode_tsc, "TSC2NSEC"},
	{DAT_OPT_HEADER_INFO, decode_place, "HEADER_INFO"},
	{DAT_OPT_FTRACE_EVENTS, decode_place, "FTRACE_EVENTS"},
	{DAT_OPT_EVENT_FORMATS, decode_place, "EVENT_FORMATS"},
	{DAT_OPT_KALLSYMS, decode_place, "KALLSYMS"},
	{DAT_OPT_PRINTK, decode_place, "PRINTK"},
	{DAT_OPT_CMDLINES, decode_place, "CMDLINES"},
	{DAT_OPT_BUFFER_TEXT, decode_buffer, "BUFFER_TEXT"},
	{DAT_OPT_TASKS, dat_decode_tasks, "TASKS"},
	{DAT_OPT_CUT, dat_decode_cut, "CUT"},
	{DAT_OPT_FOLLOWED, dat_decode_followed, "FOLLOWED"},
	{DAT_OPT_FILTERS, dat_decode_filters, "FILTERS"},
	{DAT_OPT_HIDDEN, dat_decode_hidden, "HIDDEN"},
};

/* NULL: this program does not read the option. */
static const struct decoder *decoder_of(unsigned int id)
{
	for (size_t i = 0; i < ARRAY_SIZE(decoders); i++)
		if (decoders[i].id == id)
			return &decoders[i];
	return NULL;
}

void dat_decode_options(struct dat_load *l)
{
	vec_each (o, &l->options) {
		const struct decoder *d = decoder_of(o->id);
		struct cursor c = cursor_over(o->data.data, o->data.size, l->d->big_endian);

		if (d && !d->decode(l, o, &c))
			dat_note_damage(l->d, -EBADMSG, o->data.offset,
					"the option %s makes no sense", d->name);
	}
}
