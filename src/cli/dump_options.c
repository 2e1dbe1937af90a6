// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The options of `spur dump`: one line of the table below for each kind.
 *
 * They are shown from their bytes and not from what was decoded of them, so that what makes no
 * sense is shown as far as it goes.
 */
#include <stdlib.h>

#include "base/cursor.h"
#include "cli/dump.h"

#define DATA_ITEMS (ITEM(OPTIONS) | ITEM(FLYRECORD))

struct option_kind {
	const char *name;
	void (*show)(struct dump *p, const struct dat_option *o, const struct option_kind *kind);
};

static struct cursor option_cursor(const struct dump *p, const struct dat_option *o)
{
	return cursor_over(o->data.data, o->data.size, p->dat->big_endian);
}

static void show_head(struct dump *p, uint32_t items, const struct dat_option *o, const char *name)
{
	dump_say(p, items, "\t\t[Option %s, %zu bytes]\n", name, o->data.size);
}

static void show_text(struct dump *p, const struct dat_option *o, const struct option_kind *kind)
{
	show_head(p, ITEM(OPTIONS), o, kind->name);
	if (o->data.size)
		dump_text(p, ITEM(OPTIONS), &o->data);
}

static void show_clock(struct dump *p, const struct dat_option *o, const struct option_kind *kind)
{
	show_head(p, ITEM(OPTIONS), o, kind->name);
	dump_text(p, ITEM(OPTIONS) | ITEM(CLOCK), &o->data);
}

static uint64_t number_of(const struct dump *p, const struct dat_option *o)
{
	return load_uint(o->data.data, (unsigned int)(o->data.size > 8 ? 0 : o->data.size),
			 p->dat->big_endian);
}

static void show_count(struct dump *p, const struct dat_option *o, const struct option_kind *kind)
{
	show_head(p, ITEM(OPTIONS), o, kind->name);
	dump_say(p, ITEM(OPTIONS), "%d\n", (int)number_of(p, o));
}

static void show_id(struct dump *p, const struct dat_option *o, const struct option_kind *kind)
{
	show_head(p, ITEM(OPTIONS), o, kind->name);
	dump_say(p, ITEM(OPTIONS), "0x%llX\n", (unsigned long long)number_of(p, o));
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
	show_head(p, ITEM(OPTIONS), o, kind->name);
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

	show_head(p, ITEM(OPTIONS), o, kind->name);
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

/* Goes over all CPUs; fractions, if there are any, stand behind the last one. */
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

	show_head(p, ITEM(OPTIONS), o, kind->name);
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
	show_head(p, DATA_ITEMS, o, kind->name);
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
	[DAT_OPT_CPUCOUNT] = {"CPUCOUNT", show_count},
	[DAT_OPT_VERSION] = {"VERSION", show_text},
	[DAT_OPT_PROCMAPS] = {"PROCMAPS", show_text},
	[DAT_OPT_TRACEID] = {"TRACEID", show_id},
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
	const struct option_kind *kind =
		&kinds[o->id < sizeof(kinds) / sizeof(kinds[0]) ? o->id : 0];

	if (kind->show)
		kind->show(p, o, kind);
	else
		dump_say(p, ITEM(OPTIONS), " %u %zu\t[Unknown option, size - skipping]\n", o->id,
			 o->data.size);
}

/* The options that stand in one section, from number `at` on; returns the number behind them. */
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

/* The chain of sections. What it does not lead to comes last, as it does in the list. */
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

void dump_options(struct dump *p)
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
