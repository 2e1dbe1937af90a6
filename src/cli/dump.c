// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `spur dump`: what a file says about itself, in the words of trace-cmd dump.
 *
 * No difference between those of 3.1 and of 3.4 is known, so --compat is checked and changes
 * nothing. What a file does not have is left out. Of a damaged file everything is shown that could
 * be read; the line that says what is wrong comes last.
 */
#include "cli/dump.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/safe.h"
#include "cli/cli.h"
#include "import/sources.h"

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

void dump_put(struct dump *p, uint32_t items, const void *text, size_t n)
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

void dump_say(struct dump *p, uint32_t items, const char *fmt, ...)
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

void dump_text(struct dump *p, uint32_t items, const struct dat_blob *text)
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

const struct dat_section *dump_find_section(const struct dump *p, uint64_t offset)
{
	const struct dat *d = p->dat;
	size_t at = 0, behind = d->nr_sections;

	while (at < behind) {
		size_t middle = at + (behind - at) / 2;

		if (d->sections[middle].offset < offset)
			at = middle + 1;
		else
			behind = middle;
	}
	return at < d->nr_sections && d->sections[at].offset == offset ? &d->sections[at] : NULL;
}

static const char *describe(const struct dat *d, const struct dat_section *s)
{
	return s->description < d->strings.size ? dat_string(d, s->description) : "Unknown";
}

void dump_section_head(struct dump *p, uint32_t items, const struct dat_section *s)
{
	dump_say(p, items, "\t[Section %u @ %llu: \"%.1023s\", flags 0x%X, %lld bytes]\n", s->id,
		 (unsigned long long)s->offset, describe(p->dat, s), s->flags, (long long)s->size);
}

/* The size that the strings of a section have in memory. */
static uint64_t full_size(const struct dat_section *s)
{
	return s->flags & DAT_SECTION_COMPRESSED ? s->full_size : s->size;
}

/* The strings up to `end`; each has a NUL behind it, if only the one behind all of them. */
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

/* ---- the command ---- */

#define AT(field)  offsetof(struct dump_options, field)
#define FLAG(item) AT(items[DUMP_##item])

static int take_verbose(void *options, const struct opt *opt, const char *arg)
{
	return 0;
}

static const struct opt opts[] = {
	{'i', NULL, OPT_STRING, "FILE", "the file (trace.dat)", AT(input), .values = "FILE"},
	{'v', "validate", OPT_FLAG, NULL, "say whether it is a valid trace file", AT(validate)},
	{0, "compat", OPT_STRING, "VERSION", "the text of trace-cmd 3.4 (default) or 3.1",
	 AT(compat), .values = "3.4 3.1"},
	{0, "verbose", OPT_CALL, "[LEVEL]", "accepted for trace-cmd's sake", .call = take_verbose},

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

static int dump_file(const struct dump_options *o)
{
	struct spur_error err = {0};
	struct dat *d;
	int rc, damage;

	if (source_open(o->input, &d, &err) < 0)
		return cli_fail(&err);
	rc = show(o, d);
	damage = cli_damage(d);
	dat_close(d);
	return rc < 0 ? cli_result(rc, "writing the dump", &err) : damage;
}

static int run(int argc, char **argv)
{
	struct dump_options o = {.compat = "3.4"};
	int others = opts_parse(&command_dump, &o, argc, argv);

	if (others < 0)
		return others == -ECANCELED ? SPUR_OK : SPUR_USAGE;
	if (others > 1 || (others && o.input)) {
		cli_error("dump shows one file");
		return SPUR_USAGE;
	}
	if (strcmp(o.compat, "3.4") != 0 && strcmp(o.compat, "3.1") != 0) {
		cli_error("--compat: 3.4 or 3.1, not '%s'", o.compat);
		return SPUR_USAGE;
	}
	if (!o.input)
		o.input = others ? argv[0] : DEFAULT_FILE;
	cli_catch_signals();
	return dump_file(&o);
}

const struct command command_dump = {
	.name = "dump",
	.summary = "print the metadata of a trace",
	.usage = "[options] [FILE]",
	.opts = opts,
	.nr_opts = sizeof(opts) / sizeof(opts[0]),
	.run = run,
};
