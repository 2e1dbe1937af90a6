// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `spur dump`: what a file says about itself, in the words of trace-cmd dump.
 *
 * No difference between 3.1 and 3.4 is known, so --compat is checked and changes nothing. What a
 * file does not have is left out. A damaged file is shown as far as it can be read; the line that
 * says what is wrong comes last.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/cursor.h"
#include "cli/cli.h"
#include "dat/dat.h"
#include "import/sources.h"

enum dump_item {
	DUMP_SUMMARY,
	DUMP_HEAD_PAGE,
	DUMP_HEAD_EVENT,
	DUMP_FTRACE,
	DUMP_SYSTEMS,
	DUMP_EVENTS,
	DUMP_KALLSYMS,
	DUMP_PRINTK,
	DUMP_CMDLINES,
	DUMP_OPTIONS,
	DUMP_FLYRECORD,
	DUMP_CLOCK,
	DUMP_SECTIONS,
	DUMP_STRINGS,
	DUMP_NR_ITEMS,
};

/* A set of items. Text belongs to one and is printed when any of its items was asked for. */
#define ITEM(name) (1u << DUMP_##name)

struct dump {
	const struct dat *dat;
	uint32_t items;
	int error; /* of writing; nothing is written after the first */
	struct buf out;
};

#define DEFAULT_FILE "trace.dat"
#define PIECE	     (64u << 10) /* written at once */
#define OUT_LIMIT    (1u << 20)

/* trace-cmd prints texts in pieces of so many bytes, each up to its first NUL. */
#define TEXT_PIECE 1023

struct dump_options {
	const char *input;
	const char *compat;
	bool items[DUMP_NR_ITEMS];
	bool all, validate;
};

/* ---- output ---- */

static void flush(struct dump *p)
{
	if (!p->error && cli_stop)
		p->error = -EINTR;
	if (!p->error && p->out.full)
		p->error = -ENOMEM;
	if (!p->error)
		p->error = cli_write(p->out.data, p->out.len);
	buf_reset(&p->out);
}

static void dump_put(struct dump *p, uint32_t items, const void *text, size_t n)
{
	const char *s = text;

	if (!(p->items & items))
		return;
	while (n && !p->error) {
		size_t piece = n < PIECE ? n : PIECE;

		buf_put(&p->out, s, piece);
		if (p->out.len >= PIECE)
			flush(p);
		s += piece;
		n -= piece;
	}
}

/* Prints when an item was asked for. Strings of the file need a precision: they may be huge. */
static void dump_say(struct dump *p, uint32_t items, const char *fmt, ...)
{
	va_list ap;

	if (!(p->items & items) || p->error)
		return;
	va_start(ap, fmt);
	buf_vprintf(&p->out, fmt, ap);
	va_end(ap);
	if (p->out.len >= PIECE)
		flush(p);
}

/* A text of the file and a newline. */
static void dump_text(struct dump *p, uint32_t items, const struct dat_blob *text)
{
	const char *s = (const char *)text->data;
	size_t left = text->size;

	if (!(p->items & items))
		return;
	if (!memchr(s, 0, left)) {
		dump_put(p, items, s, left);
		left = 0;
	}
	while (left && !p->error) {
		size_t piece = left < TEXT_PIECE ? left : TEXT_PIECE;

		dump_put(p, items, s, strnlen(s, piece));
		s += piece;
		left -= piece;
	}
	dump_put(p, items, "\n", 1);
}

/* ---- sections ---- */

/* The section whose header is at that offset, or NULL. */
static const struct dat_section *dump_find_section(const struct dump *p, uint64_t offset)
{
	const struct dat *d = p->dat;
	size_t at;

	binary_search(at, 0, d->nr_sections, d->sections[at].offset < offset);
	return at < d->nr_sections && d->sections[at].offset == offset ? &d->sections[at] : NULL;
}

static const char *describe(const struct dat *d, const struct dat_section *s)
{
	return s->description < d->strings.size ? dat_string(d, s->description) : "Unknown";
}

/* The line that introduces what is in a section. */
static void dump_section_head(struct dump *p, uint32_t items, const struct dat_section *s)
{
	dump_say(p, items, "\t[Section %u @ %llu: \"%.1023s\", flags 0x%X, %lld bytes]\n", s->id,
		 (unsigned long long)s->offset, describe(p->dat, s), s->flags, (long long)s->size);
}

/* The size that the strings of a section have in memory. */
static uint64_t full_size(const struct dat_section *s)
{
	return s->flags & DAT_SECTION_COMPRESSED ? s->full_size : s->size;
}

/* The strings up to `end`. Each ends with a NUL, at least the one after all of them. */
static size_t show_strings_to(struct dump *p, size_t at, size_t end)
{
	const struct dat *d = p->dat;

	while (at < end) {
		const char *s = (const char *)d->strings.data + at;
		size_t n = strlen(s);

		dump_say(p, ITEM(STRINGS), "\t\t\"");
		dump_put(p, ITEM(STRINGS), s, n);
		dump_say(p, ITEM(STRINGS), "\" @ %zu\n", at);
		at += n + 1;
	}
	return end;
}

static void show_strings(struct dump *p)
{
	const struct dat *d = p->dat;
	size_t at = 0;

	for (size_t i = 0; i < d->nr_sections && d->strings.size; i++) {
		size_t left = d->strings.size - at;
		uint64_t size = full_size(&d->sections[i]);

		if (d->sections[i].id != DAT_OPT_STRINGS)
			continue;
		dump_say(p, ITEM(STRINGS), "\t[String @ offset]\n");
		at = show_strings_to(p, at, at + (size < left ? (size_t)size : left));
	}
}

static void show_sections(struct dump *p)
{
	const struct dat *d = p->dat;

	for (size_t i = 0; i < d->nr_sections; i++) {
		const struct dat_section *s = &d->sections[i];
		const bool data = s->id == DAT_OPT_BUFFER || s->id == DAT_OPT_BUFFER_TEXT;
		const long long size = (long long)s->size;

		dump_say(p, ITEM(SECTIONS), "\t[Section %2u @ %-16llu\t\"%.1023s\", flags 0x%X, ",
			 s->id, (unsigned long long)s->offset, describe(d, s), s->flags);
		if (!(s->flags & DAT_SECTION_COMPRESSED))
			dump_say(p, ITEM(SECTIONS), "%lld bytes]\n", size);
		else if (data)
			dump_say(p, ITEM(SECTIONS), "%lld compressed bytes]\n", size);
		else
			dump_say(p, ITEM(SECTIONS), "%lld compressed, %llu uncompressed]\n",
				 size < 8 ? 0 : size - 8, (unsigned long long)s->full_size);
	}
}

/*
 * ---- options ----
 *
 * One line of the table below for each kind. They are shown from their bytes and not from what was
 * decoded, so that an option that makes no sense is shown as far as it goes.
 */

#define DATA_ITEMS (ITEM(OPTIONS) | ITEM(FLYRECORD))

struct option_kind {
	const char *name;
	void (*show)(struct dump *p, const struct dat_option *o, const struct option_kind *kind);
};

static struct cursor option_cursor(const struct dump *p, const struct dat_option *o)
{
	return cursor_over(o->data.data, o->data.size, p->dat->big_endian);
}

static void show_option_head(struct dump *p, uint32_t items, const struct dat_option *o,
			     const char *name)
{
	dump_say(p, items, "\t\t[Option %s, %zu bytes]\n", name, o->data.size);
}

static void show_text(struct dump *p, const struct dat_option *o, const struct option_kind *kind)
{
	show_option_head(p, ITEM(OPTIONS), o, kind->name);
	if (o->data.size)
		dump_text(p, ITEM(OPTIONS), &o->data);
}

static void show_clock(struct dump *p, const struct dat_option *o, const struct option_kind *kind)
{
	show_option_head(p, ITEM(OPTIONS), o, kind->name);
	dump_text(p, ITEM(OPTIONS) | ITEM(CLOCK), &o->data);
}

static void show_number(struct dump *p, const struct dat_option *o, const struct option_kind *kind)
{
	const uint64_t n =
		load_uint(o->data.data, (unsigned int)(o->data.size > 8 ? 0 : o->data.size),
			  p->dat->big_endian);

	show_option_head(p, ITEM(OPTIONS), o, kind->name);
	if (o->id == DAT_OPT_TRACEID)
		dump_say(p, ITEM(OPTIONS), "0x%llX\n", (unsigned long long)n);
	else
		dump_say(p, ITEM(OPTIONS), "%d\n", (int)n);
}

/* An option that says where a section lies. */
static void show_place(struct dump *p, const struct dat_option *o, const struct option_kind *kind)
{
	struct cursor c = option_cursor(p, o);

	dump_say(p, ITEM(OPTIONS), "\t\t[Option %s, %zu bytes] @ %lld\n", kind->name, o->data.size,
		 (long long)cursor_u64(&c));
}

static void show_tsc(struct dump *p, const struct dat_option *o, const struct option_kind *kind)
{
	struct cursor c = option_cursor(p, o);
	int mult = (int)cursor_u32(&c), shift = (int)cursor_u32(&c);
	uint64_t offset = cursor_u64(&c);

	dump_say(p, ITEM(OPTIONS), "\n");
	show_option_head(p, ITEM(OPTIONS), o, kind->name);
	if (!cursor_failed(&c))
		dump_say(p, ITEM(OPTIONS), "%d %d %llu [multiplier, shift, offset]\n", mult, shift,
			 (unsigned long long)offset);
}

static void show_guest(struct dump *p, const struct dat_option *o, const struct option_kind *kind)
{
	struct cursor c = option_cursor(p, o);
	const char *name = cursor_string(&c);
	uint64_t trace_id;
	uint32_t cpus;

	show_option_head(p, ITEM(OPTIONS), o, kind->name);
	if (!name)
		return;
	dump_say(p, ITEM(OPTIONS), "%.1023s [Guest name]\n", name);
	trace_id = cursor_u64(&c);
	if (cursor_failed(&c))
		return;
	dump_say(p, ITEM(OPTIONS), "0x%llX [trace id]\n", (unsigned long long)trace_id);
	cpus = cursor_u32(&c);
	if (cursor_failed(&c))
		return;
	dump_say(p, ITEM(OPTIONS), "%d [Guest CPUs]\n", (int)cpus);
	for (uint32_t i = 0; i < cpus && cursor_left(&c) >= 8; i++) {
		int cpu = (int)cursor_u32(&c), pid = (int)cursor_u32(&c);

		dump_say(p, ITEM(OPTIONS), "  %d %d [guest cpu, host pid]\n", cpu, pid);
	}
}

/* ---- time shifts ---- */

/* u32 samples, then so many times, offsets and scalings; false when they are not all there. */
static bool take_samples(struct cursor *c, uint32_t *n, struct cursor *samples)
{
	*n = cursor_u32(c);
	*samples = cursor_sub(c, (uint64_t)*n * 24);
	return !cursor_failed(c);
}

static uint64_t sample_at(const struct cursor *samples, uint64_t index)
{
	return load_uint(samples->base + index * 8, 8, samples->big_endian);
}

/* Walks over all CPUs; fractions, if any, follow the last one. */
static void show_samples(struct dump *p, struct cursor c, uint32_t cpus, struct cursor fractions)
{
	for (uint32_t i = 0; i < cpus; i++) {
		struct cursor s;
		uint32_t n;

		if (!take_samples(&c, &n, &s))
			return;
		for (uint64_t k = 0; k < n; k++)
			dump_say(p, ITEM(OPTIONS),
				 "\t%lld %lld %llu %llu[offset * scaling >> fraction @ time]\n",
				 (long long)sample_at(&s, n + k),
				 (long long)sample_at(&s, 2 * (uint64_t)n + k),
				 (unsigned long long)(cursor_left(&fractions)
							      ? cursor_u64(&fractions)
							      : 0),
				 (unsigned long long)sample_at(&s, k));
	}
}

static void show_time_shift(struct dump *p, const struct dat_option *o,
			    const struct option_kind *kind)
{
	struct cursor c = option_cursor(p, o), start, s;
	unsigned long long peer = cursor_u64(&c), total = 0;
	uint32_t flags = cursor_u32(&c), cpus = cursor_u32(&c), n;
	bool whole = true;

	show_option_head(p, ITEM(OPTIONS), o, kind->name);
	if (cursor_failed(&c)) {
		dump_say(p, ITEM(OPTIONS), "Broken time shift option\n");
		return;
	}
	dump_say(p, ITEM(OPTIONS), "0x%llX [peer's trace id]\n", peer);
	dump_say(p, ITEM(OPTIONS), "0x%X [peer's protocol flags]\n", flags);
	dump_say(p, ITEM(OPTIONS), "0x%X [peer's CPU count]\n", cpus);
	start = c;
	for (uint32_t i = 0; i < cpus && whole; i++) {
		whole = take_samples(&c, &n, &s);
		if (whole)
			dump_say(p, ITEM(OPTIONS), "%u [samples count for CPU %u]\n", n, i);
		total += n;
	}
	/* Files of older versions have no fractions. */
	if (!whole || (cursor_left(&c) && cursor_left(&c) / 8 < total))
		dump_say(p, ITEM(OPTIONS), "Broken time shift option\n");
	else
		show_samples(p, start, cpus, c);
}

/* ---- buffers ---- */

static void show_buffer_cpus(struct dump *p, struct cursor *c, const char *name, const char *clock)
{
	uint32_t page_size = cursor_u32(c), cpus = cursor_u32(c);
	uint64_t total = 0;

	if (cursor_failed(c))
		return;
	dump_say(p, DATA_ITEMS, "%d [Page size, bytes]\n%d [CPUs]:\n", (int)page_size, (int)cpus);
	for (uint32_t i = 0; i < cpus; i++) {
		uint32_t id = cursor_u32(c);
		uint64_t offset = cursor_u64(c), size = cursor_u64(c);

		if (cursor_failed(c))
			return;
		dump_say(p, DATA_ITEMS, "   %d %lld\t%lld\t[id, data offset and size]\n", (int)id,
			 (long long)offset, (long long)size);
		total += size;
	}
	dump_say(p, ITEM(SUMMARY),
		 "\t[buffer \"%.1023s\", \"%.1023s\" clock, %d page size, %d cpus, "
		 "%lld bytes flyrecord data]\n",
		 name, clock, (int)page_size, (int)cpus, (long long)total);
}

static void show_buffer(struct dump *p, const struct dat_option *o, const struct option_kind *kind)
{
	struct cursor c = option_cursor(p, o);
	uint64_t offset = cursor_u64(&c);
	const char *name = cursor_string(&c), *clock;
	const struct dat_section *s = name ? dump_find_section(p, offset) : NULL;

	if (s)
		dump_section_head(p, ITEM(FLYRECORD), s);
	show_option_head(p, DATA_ITEMS, o, kind->name);
	if (!name)
		return;
	dump_say(p, DATA_ITEMS, "%lld [offset]\n\"%.1023s\" [name]\n", (long long)offset, name);
	clock = p->dat->version < 7 ? NULL : cursor_string(&c);
	if (!clock)
		return;
	dump_say(p, DATA_ITEMS, "\"%.1023s\" [clock]\n", clock);
	if (o->id == DAT_OPT_BUFFER)
		show_buffer_cpus(p, &c, name, clock);
	else
		dump_say(p, ITEM(SUMMARY),
			 "\t[buffer \"%.1023s\", \"%.1023s\" clock, latency data]\n", name, clock);
}

/* ---- all of them ---- */

static const struct option_kind kinds[] = {
	[DAT_OPT_DATE] = {"DATE", show_text},
	[DAT_OPT_CPUSTAT] = {"CPUSTAT", show_text},
	[DAT_OPT_BUFFER] = {"BUFFER", show_buffer},
	[DAT_OPT_TRACECLOCK] = {"TRACECLOCK", show_clock},
	[DAT_OPT_UNAME] = {"UNAME", show_text},
	[DAT_OPT_HOOK] = {"HOOK", show_text},
	[DAT_OPT_OFFSET] = {"OFFSET", show_text},
	[DAT_OPT_CPUCOUNT] = {"CPUCOUNT", show_number},
	[DAT_OPT_VERSION] = {"VERSION", show_text},
	[DAT_OPT_PROCMAPS] = {"PROCMAPS", show_text},
	[DAT_OPT_TRACEID] = {"TRACEID", show_number},
	[DAT_OPT_TIME_SHIFT] = {"TimeShift", show_time_shift},
	[DAT_OPT_GUEST] = {"GUEST", show_guest},
	[DAT_OPT_TSC2NSEC] = {"TSC2NSEC", show_tsc},
	[DAT_OPT_HEADER_INFO] = {"HEADERS", show_place},
	[DAT_OPT_FTRACE_EVENTS] = {"FTRACE EVENTS", show_place},
	[DAT_OPT_EVENT_FORMATS] = {"EVENT FORMATS", show_place},
	[DAT_OPT_KALLSYMS] = {"KALLSYMS", show_place},
	[DAT_OPT_PRINTK] = {"PRINTK", show_place},
	[DAT_OPT_CMDLINES] = {"CMDLINES", show_place},
	[DAT_OPT_BUFFER_TEXT] = {"BUFFER", show_buffer},
};

static void show_option(struct dump *p, const struct dat_option *o)
{
	const struct option_kind *kind = &kinds[o->id < ARRAY_SIZE(kinds) ? o->id : 0];

	if (kind->show)
		kind->show(p, o, kind);
	else
		dump_say(p, ITEM(OPTIONS), " %u %zu\t[Unknown option, size - skipping]\n", o->id,
			 o->data.size);
}

/* The options of one section, from number `at` on; returns the number of the next one. */
static size_t show_section(struct dump *p, const struct dat_section *s, size_t at, size_t *count)
{
	const struct dat *d = p->dat;

	dump_section_head(p, ITEM(OPTIONS), s);
	for (; at < d->nr_options && d->options[at].section == s->offset; at++, ++*count)
		show_option(p, &d->options[at]);
	if (!s->ended)
		return at;
	++*count;
	dump_say(p, ITEM(OPTIONS), "\t\t[Option DONE, 8 bytes]\n%lld\n", (long long)s->next);
	if (s->next)
		dump_say(p, ITEM(OPTIONS), "\n\n");
	return at;
}

/* The chain of sections. Sections that are not on it come last, as they do in the list. */
static void show_chain(struct dump *p, size_t *count)
{
	const struct dat *d = p->dat;
	const struct dat_section *s = dump_find_section(p, d->options_offset);
	bool *seen = calloc(d->nr_sections + 1, sizeof(*seen));
	size_t at = 0;

	for (; seen && s && s->id == DAT_OPT_DONE && !seen[s - d->sections];
	     s = s->next ? dump_find_section(p, s->next) : NULL) {
		seen[s - d->sections] = true;
		at = show_section(p, s, at, count);
	}
	while (at < d->nr_options) {
		s = dump_find_section(p, d->options[at].section);
		if (s) {
			at = show_section(p, s, at, count);
		} else {
			show_option(p, &d->options[at++]);
			++*count;
		}
	}
	free(seen);
}

/* All options, and of version 7 the sections they stand in. */
static void dump_options(struct dump *p)
{
	const struct dat *d = p->dat;
	size_t count = 0;

	if (d->version >= 7)
		show_chain(p, &count);
	for (; d->version < 7 && count < d->nr_options; count++)
		show_option(p, &d->options[count]);
	if (count || d->has_options)
		dump_say(p, ITEM(SUMMARY) | ITEM(OPTIONS), "\t[%zu options]\n", count);
}

/*
 * ---- tables: layouts, formats, symbols, names of tasks ----
 *
 * Version 6 has them in one row. In version 7 an option names the section of each; they are shown
 * from the last such option to the first, as trace-cmd does, then those that no option names.
 */

static void show_sized(struct dump *p, uint32_t item, const char *name, const struct dat_blob *text)
{
	/* A text that was found has an offset, even when it is empty. */
	if (!text->offset)
		return;
	dump_say(p, ITEM(SUMMARY) | item, "\t[%s, %zu bytes]\n", name, text->size);
	dump_text(p, item, text);
}

static void show_headers(struct dump *p)
{
	show_sized(p, ITEM(HEAD_PAGE), "Header page", &p->dat->header_page);
	show_sized(p, ITEM(HEAD_EVENT), "Header event", &p->dat->header_event);
}

static void show_ftrace(struct dump *p)
{
	const struct dat *d = p->dat;

	dump_say(p, ITEM(SUMMARY) | ITEM(FTRACE), "\t[Ftrace format, %zu events]\n",
		 d->nr_ftrace_formats);
	for (size_t i = 0; i < d->nr_ftrace_formats; i++)
		dump_text(p, ITEM(FTRACE), &d->formats[i].text);
}

static void show_events(struct dump *p)
{
	const struct dat *d = p->dat;
	size_t at = d->nr_ftrace_formats;

	dump_say(p, ITEM(SUMMARY) | ITEM(EVENTS) | ITEM(SYSTEMS),
		 "\t[Events format, %zu systems]\n", d->nr_systems);
	for (size_t i = 0; i < d->nr_systems; i++) {
		const struct dat_system *s = &d->systems[i];

		dump_say(p, ITEM(SYSTEMS), "\t\t%.1023s %u [system, events]\n", s->name,
			 s->nr_formats);
		for (uint32_t k = 0; k < s->nr_formats && at < d->nr_formats; k++)
			dump_text(p, ITEM(EVENTS), &d->formats[at++].text);
	}
}

/* In the order of version 6. */
static const struct dump_table {
	unsigned int id; /* enum dat_option_id */
	size_t has;	 /* offset of the flag that says the file has it */
	uint32_t items;	 /* which print the head of its section */
	void (*show)(struct dump *p);
	/* Without a function: a text of that name, at that offset. */
	const char *name;
	size_t text;
} tables[] = {
#define FLAG(field) offsetof(struct dat, has_##field)
#define TEXT(field) offsetof(struct dat, field)
	{DAT_OPT_HEADER_INFO, FLAG(header), ITEM(HEAD_PAGE) | ITEM(HEAD_EVENT), show_headers},
	{DAT_OPT_FTRACE_EVENTS, FLAG(ftrace), ITEM(FTRACE), show_ftrace},
	{DAT_OPT_EVENT_FORMATS, FLAG(formats), ITEM(SYSTEMS) | ITEM(EVENTS), show_events},
	{DAT_OPT_KALLSYMS, FLAG(kallsyms), ITEM(KALLSYMS), NULL, "Kallsyms", TEXT(kallsyms)},
	{DAT_OPT_PRINTK, FLAG(printk), ITEM(PRINTK), NULL, "Trace printk", TEXT(printk)},
	{DAT_OPT_CMDLINES, FLAG(cmdlines), ITEM(CMDLINES), NULL, "Saved command lines",
	 TEXT(cmdlines)},
#undef FLAG
#undef TEXT
};

static bool has(const struct dat *d, const struct dump_table *t)
{
	return *(const bool *)((const char *)d + t->has);
}

/* The section of a table: where its option says, else any of its kind. */
static const struct dat_section *section_of(const struct dump *p, unsigned int id,
					    const struct dat_option *o)
{
	const struct dat *d = p->dat;
	struct cursor c = cursor_over(o ? (const void *)o->data.data : "", o ? o->data.size : 0,
				      d->big_endian);
	const struct dat_section *s = o ? dump_find_section(p, cursor_u64(&c)) : NULL;

	if (s && s->id == id)
		return s;
	for (size_t i = 0; i < d->nr_sections; i++)
		if (d->sections[i].id == id)
			return &d->sections[i];
	return NULL;
}

/* Shows a table the first time that it is requested; `shown` has a bit for each. */
static void show_table(struct dump *p, size_t which, const struct dat_option *o, uint32_t *shown)
{
	const struct dump_table *t = &tables[which];
	const struct dat_section *s;

	if ((*shown & 1u << which) || !has(p->dat, t))
		return;
	*shown |= 1u << which;
	s = section_of(p, t->id, o);
	if (s)
		dump_section_head(p, t->items, s);
	if (t->show)
		t->show(p);
	else
		show_sized(p, t->items, t->name, (const void *)((const char *)p->dat + t->text));
}

/* Formats, symbols and names; in version 7 in the order of the options that name them. */
static void dump_tables(struct dump *p)
{
	const struct dat *d = p->dat;
	uint32_t shown = 0;

	for (size_t i = d->version < 7 ? 0 : d->nr_options; i-- > 0;)
		for (size_t k = 0; k < ARRAY_SIZE(tables); k++)
			if (tables[k].id == d->options[i].id)
				show_table(p, k, &d->options[i], &shown);
	for (size_t k = 0; k < ARRAY_SIZE(tables); k++)
		show_table(p, k, NULL, &shown);
}

/* ---- the file ---- */

static void show_head(struct dump *p)
{
	const struct dat *d = p->dat;
	const uint32_t it = ITEM(SUMMARY);

	dump_say(p, it, "\n Tracing meta data in file %s:\n", d->path);
	dump_say(p, it, "\t[Initial format]\n\t\t%u\t[Version]\n", d->version);
	dump_say(p, it, "\t\t%d\t[%s endian]\n", d->big_endian, d->big_endian ? "Big" : "Little");
	dump_say(p, it, "\t\t%u\t[Bytes in a long]\n", d->long_size);
	dump_say(p, it, "\t\t%d\t[Page size, bytes]\n", (int)d->page_size);
	if (d->version < 7)
		return;
	dump_say(p, it, "\t\t%s\t[Compression algorithm]\n", d->compression);
	dump_say(p, it, "\t\t%s\t[Compression version]\n", d->compression_version);
}

/* Version 6: where the top buffer's data are, and their clock. */
static void show_flyrecord(struct dump *p, const struct dat_buffer *b)
{
	const uint32_t head = ITEM(SUMMARY) | ITEM(FLYRECORD), clock = ITEM(SUMMARY) | ITEM(CLOCK);

	dump_say(p, head, "\t[Flyrecord tracing data]\n");
	/* A precision of 0 prints no digit for 0: an empty CPU has an empty column. */
	for (uint32_t i = 0; i < b->nr_cpus; i++)
		dump_say(p, ITEM(FLYRECORD), "\t %10.0lld %10.0lld\t[offset, size of cpu %u]\n",
			 (long long)b->cpus[i].offset, (long long)b->cpus[i].claimed_size,
			 b->cpus[i].cpu);
	dump_say(p, clock, "\t[Tracing clock]\n");
	if (!dat_option_find(p->dat, DAT_OPT_TRACECLOCK))
		dump_say(p, clock, "\t\t No tracing clock saved in the file\n");
	else
		dump_say(p, clock, "\t\t%s\n", b->clock_text);
}

static void show_v6(struct dump *p)
{
	const struct dat *d = p->dat;

	dump_tables(p);
	/* Without data the file ends too early, perhaps before the number of CPUs. */
	if (d->nr_buffers || d->nr_cpus)
		dump_say(p, ITEM(SUMMARY), "\t%u [CPUs with tracing data]\n", d->nr_cpus);
	dump_options(p);
	if (d->nr_buffers && d->buffers[0].text)
		dump_say(p, ITEM(SUMMARY), "\t[Latency tracing data]\n");
	else if (d->nr_buffers)
		show_flyrecord(p, &d->buffers[0]);
}

static void show_v7(struct dump *p)
{
	show_strings(p);
	show_sections(p);
	dump_options(p);
	dump_tables(p);
	dump_say(p, ITEM(SUMMARY) | ITEM(SECTIONS), "\t[%zu sections]\n", p->dat->nr_sections);
}

static int show(const struct dump_options *o, const struct dat *d)
{
	struct dump p = {.dat = d};

	for (unsigned int i = 0; i < DUMP_NR_ITEMS; i++)
		if (o->items[i] || o->all)
			p.items |= 1u << i;
	if (!p.items && !o->validate)
		p.items = ITEM(SUMMARY);
	buf_init(&p.out, OUT_LIMIT);
	show_head(&p);
	if (d->version < 7)
		show_v6(&p);
	else
		show_v7(&p);
	if (o->validate && !d->damage.code) {
		p.items |= ITEM(SUMMARY);
		dump_say(&p, ITEM(SUMMARY), "File %s is a valid trace-cmd file\n", d->path);
	}
	flush(&p);
	buf_free(&p.out);
	return p.error;
}

#define AT(field)  offsetof(struct dump_options, field)
#define FLAG(item) AT(items[DUMP_##item])

static const struct opt opts[] = {
	{'i', NULL, OPT_FILE, "FILE", "the file (trace.dat)", AT(input)},
	{'v', "validate", OPT_FLAG, NULL, "say whether it is a valid trace file", AT(validate)},
	{0, "compat", OPT_STRING, "VERSION", "the text of trace-cmd 3.4 (default) or 3.1",
	 AT(compat), .values = "3.4 3.1"},
	{0, "verbose", OPT_IGNORED, "[LEVEL]", "does nothing; accepted because trace-cmd has it"},

	{.kind = OPT_GROUP, .help = "What to print"},
	{0, "summary", OPT_FLAG, NULL, "the header, and a line for each part (the default)",
	 FLAG(SUMMARY)},
	{0, "all", OPT_FLAG, NULL, "everything", AT(all)},
	{0, "head-page", OPT_FLAG, NULL, "the layout of a ring buffer's page", FLAG(HEAD_PAGE)},
	{0, "head-event", OPT_FLAG, NULL, "the layout of a record's head", FLAG(HEAD_EVENT)},
	{0, "ftrace-events", OPT_FLAG, NULL, "the formats of ftrace's own events", FLAG(FTRACE)},
	{0, "systems", OPT_FLAG, NULL, "the systems, and how many events each has", FLAG(SYSTEMS)},
	{0, "events", OPT_FLAG, NULL, "the formats of all other events", FLAG(EVENTS)},
	{0, "kallsyms", OPT_FLAG, NULL, "the kernel's symbols", FLAG(KALLSYMS)},
	{0, "printk", OPT_FLAG, NULL, "the formats of trace_printk()", FLAG(PRINTK)},
	{0, "cmd-lines", OPT_FLAG, NULL, "the names of tasks", FLAG(CMDLINES)},
	{0, "options", OPT_FLAG, NULL, "the options stored in the file", FLAG(OPTIONS)},
	{0, "flyrecord", OPT_FLAG, NULL, "where the data of each CPU lie", FLAG(FLYRECORD)},
	{0, "clock", OPT_FLAG, NULL, "the clock of the time stamps", FLAG(CLOCK)},
	{0, "sections", OPT_FLAG, NULL, "the sections of a version 7 file", FLAG(SECTIONS)},
	{0, "strings", OPT_FLAG, NULL, "the strings of a version 7 file", FLAG(STRINGS)},
};

static int run(void *options, int others, char **argv)
{
	const struct dump_options *o = options;
	const char *path = o->input ? o->input : others ? argv[0] : DEFAULT_FILE;
	struct spur_error err = {0};
	struct dat *d;
	int rc, damage;

	if (others > 1 || (others && o->input))
		return cli_wrong("dump shows one file");
	if (strcmp(o->compat, "3.4") != 0 && strcmp(o->compat, "3.1") != 0)
		return cli_wrong("--compat: 3.4 or 3.1, not '%s'", o->compat);
	cli_catch_signals();
	if (source_open(path, &d, &err) < 0)
		return cli_fail(&err);
	rc = show(o, d);
	damage = cli_damage(d);
	dat_close(d);
	return rc < 0 ? cli_result(rc, "writing the dump", &err) : damage;
}

const struct command command_dump = {
	.name = "dump",
	.summary = "print the metadata of a trace",
	.usage = "[options] [FILE]",
	COMMAND_OPTS(opts, struct dump_options),
	.defaults = &(const struct dump_options){.compat = "3.4"},
	.run = run,
};
