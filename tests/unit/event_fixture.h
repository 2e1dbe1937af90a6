/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events and records from a line of text each, for tests of what is printed.
 *
 * Fields:  "char comm[16] @8:16s, pid_t pid @24:4s"
 *          declaration, offset and size; an s says that it is signed
 * Records: "'bash':16 4:1234 _4 8:0xff x0f01c1"
 *          text padded to a size, numbers of a size, bytes left out, and bytes in hexadecimal, one
 *          behind the other; the eight bytes of the common fields are put before them
 */
#ifndef TESTS_EVENT_FIXTURE_H
#define TESTS_EVENT_FIXTURE_H

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "event/event.h"
#include "event/names.h"

#define FIXTURE_COMMON                                                                             \
	"unsigned short common_type @0:2, unsigned char common_flags @2:1, "                       \
	"unsigned char common_preempt_count @3:1, int common_pid @4:4s"
#define FIXTURE_PID 1234

static const char fixture_kallsyms[] = "ffffffff81000000 T first_func\n"
				       "ffffffff81001000 T schedule\n"
				       "ffffffff81002000 t do_wait\n"
				       "ffffffff81003000 T vfs_read\n"
				       "ffffffff81004000 t rw_verify_area\n"
				       "ffffffff81005000 T tick_sched_timer\n"
				       "ffffffff81006000 T last_func\n";

static inline void fixture_add_fields(struct buf *b, const char *fields)
{
	while (*fields) {
		size_t n = strcspn(fields, ","), at = strcspn(fields, "@");
		unsigned long offset, size;
		char *end;

		assert(at < n && at > 0);
		offset = strtoul(fields + at + 1, &end, 10);
		size = strtoul(end + 1, &end, 10);
		buf_printf(b, "\tfield:%.*s;\toffset:%lu;\tsize:%lu;\tsigned:%d;\n", (int)at - 1,
			   fields, offset, size, *end == 's');
		fields += n;
		fields += strspn(fields, ", ");
	}
}

/* A registry with one sort of machine, the symbols above and no events. */
static inline struct events *fixture_events(bool big_endian, unsigned int long_size)
{
	struct events *ev = events_new();

	assert(ev);
	ev->big_endian = big_endian;
	ev->long_size = long_size;
	ev->page_size = 4096;
	if (!ev->symbols)
		ev->symbols = symbols_new();
	symbols_add(ev->symbols, fixture_kallsyms, sizeof(fixture_kallsyms) - 1);
	return ev;
}

/* Adds an event; its text lives in the registry's arena. */
static inline void fixture_add(struct events *ev, const char *system, const char *name, int id,
			       const char *fields, const char *print_fmt)
{
	struct buf b;
	char *text;
	int ret;

	buf_init(&b, 1 << 16);
	buf_printf(&b, "name: %s\nID: %d\nformat:\n", name, id);
	fixture_add_fields(&b, FIXTURE_COMMON);
	buf_puts(&b, "\n");
	fixture_add_fields(&b, fields);
	buf_printf(&b, "\nprint fmt: %s\n", print_fmt);
	text = arena_strndup(&ev->arena, b.data, b.len);
	ret = events_add(ev, system, text, b.len, NULL);
	assert(text && ret == 0);
	(void)ret;
	buf_free(&b);
}

static inline void fixture_put(struct buf *b, uint64_t v, unsigned int size, bool big_endian)
{
	for (unsigned int i = 0; i < size; i++)
		buf_putc(b, (char)(v >> 8 * (big_endian ? size - 1 - i : i)));
}

static inline void fixture_put_hex(struct buf *b, const char *hex, size_t n)
{
	for (size_t i = 0; i + 1 < n; i += 2) {
		const char digits[3] = {hex[i], hex[i + 1]};

		buf_putc(b, (char)strtoul(digits, NULL, 16));
	}
}

/* The record a line describes. Its data is b's. */
static inline struct spur_record fixture_record(struct buf *b, int id, const char *line,
						bool big_endian)
{
	char *end;

	buf_reset(b);
	fixture_put(b, (uint64_t)id, 2, big_endian);
	fixture_put(b, 0, 2, big_endian);
	fixture_put(b, FIXTURE_PID, 4, big_endian);
	for (; *line; line += strspn(line, " ")) {
		size_t n = strcspn(line, " ");

		if (*line == '\'') {
			const char *text = line + 1, *quote = strchr(text, '\'');
			size_t size = strtoul(quote + 2, &end, 10), len = (size_t)(quote - text);

			buf_put(b, text, len);
			buf_fill(b, '\0', size - len);
			n = (size_t)(end - line);
		} else if (*line == '_') {
			buf_fill(b, '\0', strtoul(line + 1, NULL, 10));
		} else if (*line == 'x') {
			fixture_put_hex(b, line + 1, n - 1);
		} else {
			unsigned int size = (unsigned int)strtoul(line, &end, 10);

			fixture_put(b, (uint64_t)strtoull(end + 1, NULL, 0), size, big_endian);
		}
		line += n;
	}
	return (struct spur_record){
		.ts = 123456789012,
		.data = (const uint8_t *)b->data,
		.size = (uint32_t)b->len,
		.cpu = 1,
	};
}

#endif
