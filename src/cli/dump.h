/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of `spur dump` share: what was asked for, and the text on its way out. */
#ifndef CLI_DUMP_H
#define CLI_DUMP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "dat/dat.h"

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

/* Prints when an item was asked for. Strings of the file need a precision: they may be huge. */
void dump_say(struct dump *p, uint32_t items, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void dump_put(struct dump *p, uint32_t items, const void *text, size_t n);

/* A text of the file and a newline. */
void dump_text(struct dump *p, uint32_t items, const struct dat_blob *text);

/* The section whose header is at that offset, or NULL. */
const struct dat_section *dump_find_section(const struct dump *p, uint64_t offset);

/* The line that introduces what is in a section. */
void dump_section_head(struct dump *p, uint32_t items, const struct dat_section *s);

/* ---- dump_options.c ---- */

/* All options, and of version 7 the sections they stand in. */
void dump_options(struct dump *p);

/* ---- dump_tables.c ---- */

/* Formats, symbols and names; in version 7 in the order of the options that name them. */
void dump_tables(struct dump *p);

#endif
