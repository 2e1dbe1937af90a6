// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What perf.data says besides records: the machine, the clock, names of counters, and the tracing
 * data with the formats of tracepoints, which are laid out as in a trace.dat of version 6.
 */
#include "import/perf/perf.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "dat/dat.h"
#include "event/format.h"

enum {
	FEATURE_TRACING_DATA = 1,
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_ARCH = 6,
	FEATURE_NRCPUS = 7,
	FEATURE_EVENT_DESC = 12,
	FEATURE_CLOCK_DATA = 29,
};

#define MAX_SYSTEMS 10000
#define MAX_FORMATS 65536

/* u32 of bytes, and a text with a NUL somewhere in them. */
static const char *take_string(struct perf *p, struct cursor *c)
{
	const uint32_t len = cursor_u32(c);
	const char *text = (const char *)cursor_bytes(c, len);

	return text ? import_name(p->im, text, strnlen(text, len)) : NULL;
}

static void set_string(struct perf *p, struct cursor *c, const char **to)
{
	const char *text = take_string(p, c);

	if (text)
		*to = text;
}

/* ---- counters ------------------------------------------------------------------------- */

static void read_event_desc(struct perf *p, struct cursor *c)
{
	const uint32_t nr = cursor_u32(c), attr_size = cursor_u32(c);

	for (uint32_t i = 0; i < nr && !cursor_failed(c); i++) {
		uint32_t nr_ids;
		const char *name;

		cursor_skip(c, attr_size);
		nr_ids = cursor_u32(c);
		name = take_string(p, c);
		for (uint32_t k = 0; k < nr_ids && cursor_left(c) >= 8; k++) {
			struct perf_attr *a = map_get(&p->by_id, cursor_u64(c));

			if (a)
				a->name = name;
		}
		/* Without ids they stand in the order of the attributes. */
		if (i < p->attrs.n && !p->attrs.at[i]->name)
			p->attrs.at[i]->name = name;
	}
}

/* ---- tracing data --------------------------------------------------------------------- */

/* The number of an event; negative when the text is no format. */
static int id_of(const char *text, size_t len)
{
	struct format_lexer l = {.pos = text, .end = text + len};
	struct format_token name;
	int id;

	return format_head(&l, &name, &id) && id >= 0 && id <= UINT16_MAX ? id : -1;
}

/* Which events the file has itself, so that they are not made up. */
static void note_own(struct perf *p, const char *system, const char *text, size_t len)
{
	static const struct {
		const char *system, *line;
		size_t flag;
	} own[] = {
		{"sched", "name: sched_process_fork\n", offsetof(struct perf, has_fork)},
		{"sched", "name: sched_process_exit\n", offsetof(struct perf, has_exit)},
		{"task", "name: task_rename\n", offsetof(struct perf, has_rename)},
	};

	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		if (strcmp(own[i].system, system) == 0 && len >= strlen(own[i].line) &&
		    memcmp(text, own[i].line, strlen(own[i].line)) == 0)
			*(bool *)((char *)p + own[i].flag) = true;
}

static bool take_format(struct perf *p, struct cursor *c, const char *system)
{
	const uint64_t size = cursor_u64(c);
	const char *text = (const char *)cursor_bytes(c, size);
	int id;

	if (!text)
		return false;
	id = id_of(text, (size_t)size);
	if (id < 0) {
		import_remark(p->im, -EBADMSG, "a format of the system %.40s makes no sense",
			      system);
		return true;
	}
	note_own(p, system, text, (size_t)size);
	return import_format(p->im, system, text, (size_t)size, id);
}

static bool take_formats(struct perf *p, struct cursor *c, const char *system)
{
	const uint32_t nr = cursor_u32(c);

	if (nr > MAX_FORMATS)
		return false;
	for (uint32_t i = 0; i < nr; i++)
		if (!take_format(p, c, system))
			return false;
	return true;
}

static bool skip_header(struct cursor *c, const char *name)
{
	const char *found = cursor_string(c);

	if (!found || strcmp(found, name) != 0)
		return false;
	cursor_skip(c, cursor_u64(c));
	return !cursor_failed(c);
}

static void take_names(struct perf *p, struct cursor *c, struct buf *to)
{
	const uint32_t size = cursor_u32(c);
	const uint8_t *text = cursor_bytes(c, size);

	if (text)
		buf_put(to, text, size);
	if (buf_full(to))
		import_fail(p->im, -ENOMEM);
}

void perf_tracing_data(struct perf *p, struct cursor c)
{
	const uint8_t *start = cursor_bytes(&c, DAT_MAGIC_SIZE);
	uint32_t nr;

	if (!start || memcmp(start, DAT_MAGIC, DAT_MAGIC_SIZE) != 0 || !cursor_string(&c))
		return;
	c.big_endian = cursor_u8(&c) == 1;
	p->im->long_size = cursor_u8(&c) == 4 ? 4 : 8;
	cursor_u32(&c);
	if (!skip_header(&c, "header_page") || !skip_header(&c, "header_event") ||
	    !take_formats(p, &c, "ftrace"))
		return;
	nr = cursor_u32(&c);
	for (uint32_t i = 0; i < nr && i < MAX_SYSTEMS; i++) {
		const char *system = cursor_string(&c);

		if (!system || !take_formats(p, &c, system))
			return;
	}
	take_names(p, &c, &p->im->symbols);
	take_names(p, &c, &p->im->printk);
}

/* ---- features ------------------------------------------------------------------------- */

void perf_feature(struct perf *p, uint32_t number, struct cursor c)
{
	switch (number) {
	case FEATURE_TRACING_DATA: perf_tracing_data(p, c); break;
	case FEATURE_HOSTNAME: set_string(p, &c, &p->host); break;
	case FEATURE_OSRELEASE: set_string(p, &c, &p->release); break;
	case FEATURE_ARCH: set_string(p, &c, &p->machine); break;
	case FEATURE_NRCPUS: {
		const uint32_t online = cursor_u32(&c), there = cursor_u32(&c);

		(void)online;
		if (there < IMPORT_MAX_CPUS)
			p->im->nr_cpus = there;
		break;
	}
	case FEATURE_EVENT_DESC: read_event_desc(p, &c); break;
	case FEATURE_CLOCK_DATA:
		cursor_u32(&c); /* version */
		cursor_u32(&c); /* the clock's id */
		p->wall_ns = cursor_u64(&c);
		p->clock_ns = cursor_u64(&c);
		p->has_clock_data = !cursor_failed(&c);
		break;
	default: break;
	}
}

static const char *clock_name(int32_t id)
{
	switch (id) {
	case 1: return "mono";
	case 4: return "mono_raw";
	case 7: return "boot";
	case 11: return "tai";
	default: return "perf";
	}
}

void perf_put_machine(struct perf *p)
{
	struct import *im = p->im;
	struct buf text;

	if (p->attrs.n && p->attrs.at[0]->flags & ATTR_USE_CLOCK)
		im->clock = clock_name(p->attrs.at[0]->clock);
	/* Not all programs know that the clock "boot" counts nanoseconds. */
	if (strcmp(im->clock, "boot") == 0)
		im->clock = "local";
	if (p->has_clock_data) {
		im->has_date = true;
		im->date_us = (int64_t)(p->wall_ns - p->clock_ns) / 1000;
	}
	if (!*p->host && !*p->release)
		return;
	buf_init(&text, 1024);
	buf_printf(&text, "Linux %s %s %s", *p->host ? p->host : "(none)", p->release, p->machine);
	im->uname = import_name(im, text.data, text.len);
	if (!im->uname)
		im->uname = "";
	buf_free(&text);
}
