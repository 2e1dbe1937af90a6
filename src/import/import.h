/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An import: events of another tool on their way into a trace.dat.
 *
 * The reader of the other format adds event types, tasks and records as it finds them, in any order
 * of time. The import sorts the records of each CPU (in memory of a fixed size, the rest in a
 * nameless file) and writes the trace at the end. The first failure is kept in `rc`; after it,
 * nothing more is added.
 *
 * Records begin with the common fields that Linux has: type, flags, preempt_count, pid.
 */
#ifndef IMPORT_IMPORT_H
#define IMPORT_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <spur/error.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/strings.h"
#include "base/vec.h"
#include "dat/copy.h"
#include "dat/write.h"
#include "import/spool.h"

#define IMPORT_COMMON	  8	       /* bytes of the common fields */
#define IMPORT_MAX_RECORD (256u << 10) /* bytes; what is longer is cut */
#define IMPORT_MAX_TEXT	  60000	       /* bytes of a text in a record, likewise */
#define IMPORT_MAX_CPUS	  65536u

/* ---- event types ---------------------------------------------------------------------- */

enum import_kind {
	IMPORT_NUMBER,
	IMPORT_CHARS,	/* a text in a place of `nr` bytes */
	IMPORT_TEXT,	/* a text of any length */
	IMPORT_ARRAY,	/* `nr` numbers */
	IMPORT_NUMBERS, /* as many numbers as there are */
	IMPORT_REST, /* the same without saying how many, up to the record's end: the last field */
	IMPORT_LINE, /* the same, a text */
};

struct import_field {
	const char *name;
	enum import_kind kind;
	uint8_t size; /* of a number: 1, 2, 4 or 8 */
	bool is_signed;
	bool is_long; /* an unsigned long: an address */
	uint32_t nr;
	const char *shown; /* the conversion that prints it; NULL: %lld, %s and so on */
	uint32_t offset;   /* in the record; set by import_type() */
};

struct import_type {
	uint16_t id;
	const char *system, *name;
	struct import_field *fields;
	uint32_t nr_fields;
	uint32_t size; /* of a record without its texts */
};

/* When and where a record was written. */
struct import_context {
	uint32_t buffer, cpu;
	uint64_t ts;
	int pid;
	uint8_t flags, preempt_count;
};

struct import_event_format {
	const char *system;
	struct dat_span text;
};

struct import_comm {
	int pid;
	const char *name;
};

struct import {
	const char *path; /* of what is imported, for messages */
	bool big_endian;
	unsigned int long_size;
	const char *clock; /* "local"; one that counts no nanoseconds has a name that says so */
	const char *uname;
	const char *from; /* what it was: the recorder, as spur info shows it */
	bool has_date;
	int64_t date_us;		  /* to add for the time of day, in microseconds */
	uint32_t nr_cpus;		  /* of the machine, as far as known */
	struct buf symbols, printk, maps; /* texts as trace.dat has them */

	struct arena arena;
	struct intern names;
	vec_of(struct import_event_format) formats;
	vec_of(struct import_comm) comms;
	struct map comm_of;	    /* by pid: its place in comms plus one */
	struct string_refs buffers; /* beside the top one */
	uint64_t *ids;		    /* a bit for each that is taken */
	uint32_t next_id;
	uint32_t next_symbol;
	struct map symbol_of;	      /* addresses that were made up, by the text of the name */
	struct import_type stacks[2]; /* of the kernel, of the user */
	struct spool spool;
	struct dat_job job;
	struct buf record; /* that is being made */
	uint32_t largest;  /* record */
	uint64_t events, lost, cut;
	char remark[200]; /* what the user should know, or "" */
	int damage;	  /* -EBADMSG or -ENODATA: that is it, and there may have been more */
	int rc;
};

int import_init(struct import *im, const char *path);
void import_free(struct import *im);

/* Stores the error, unless there is one already. Returns the first one. */
int import_fail(struct import *im, int rc);

/* A remark; of several the first one that is about damage counts. */
void import_remark(struct import *im, int damage, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * An event type. Its numbers in the file are chosen here; `print` is its print format, NULL: one
 * that shows "name=value" for each field. Fields and names must stay. False without memory or
 * when there are too many types.
 */
bool import_type(struct import *im, struct import_type *t, const char *print);

/* A free number for a type: the wanted one or, if that is taken, another. 0: none is left. */
uint32_t import_id(struct import *im, uint32_t wanted);

/* A format as the kernel wrote it; the text must stay. */
bool import_format(struct import *im, const char *system, const char *text, size_t len, int id);

/* ---- types that are known beforehand -------------------------------------------------- */

#define IMPORT_KNOWN_FIELDS 5

struct import_known {
	const char *system, *name;
	uint16_t id;					 /* of ftrace's own events; 0: any */
	const char *print;				 /* as for import_type() */
	struct import_field fields[IMPORT_KNOWN_FIELDS]; /* up to one without a name */
};

/*
 * Begins a record of such a type; *t, all zero at first, is made when it is needed. The type's
 * fields, or NULL when it cannot be made.
 */
const struct import_field *import_begin_known(struct import *im, struct import_type *t,
					      const struct import_known *known);

/* ftrace's events of a stack. */
void import_stack(struct import *im, const struct import_context *c, bool user, int tgid,
		  const uint64_t *addresses, size_t n);

/* ---- memory and names ----------------------------------------------------------------- */

/* Zeroed memory that stays as long as the import; NULL when there is none. */
void *import_alloc(struct import *im, size_t size);

/* What has that key in a map. When nothing has, so many bytes of import_alloc() get it. */
void *import_get(struct import *im, struct map *map, uint64_t key, size_t size);

/* A text that stays as long as the import; NULL without memory. */
const char *import_name(struct import *im, const char *text, size_t len);

/* The same, made fit for a name in a format file: letters, digits, underscores. */
const char *import_identifier(struct import *im, const char *text, size_t len);

/* The system that an event of this name belongs to; "text" when nothing is known about it. */
const char *import_system(const char *name, size_t len);

/* A task's name; the last one counts. */
void import_comm(struct import *im, int pid, const char *name, size_t len);

/* A buffer by name, to be given to import_end(); 0 for the top one, "". */
uint32_t import_buffer(struct import *im, const char *name);

/* An address for a function of which only the name is known. */
uint64_t import_symbol(struct import *im, const char *name, size_t len);

/* ---- records -------------------------------------------------------------------------- */

void import_begin(struct import *im, const struct import_type *t);
void import_set(struct import *im, const struct import_field *f, uint64_t value);
void import_set_text(struct import *im, const struct import_field *f, const char *text, size_t len);
void import_set_numbers(struct import *im, const struct import_field *f, const uint64_t *v,
			size_t n);
void import_end(struct import *im, const struct import_context *c);

/* A whole record that another kernel wrote, with its common fields. */
void import_raw(struct import *im, const struct import_context *c, const void *data, size_t size);

/* Events were lost there; -1: some. */
void import_lost(struct import *im, uint32_t buffer, uint32_t cpu, uint64_t ts, int64_t lost);

/* Reports progress; false when the import is to stop. */
bool import_goes_on(struct import *im, uint64_t done, uint64_t total);

/* Writes the trace into a descriptor open for reading and writing, which it takes over. */
int import_write(struct import *im, int fd, const char *name, const struct dat_out_options *opt,
		 struct spur_error *err);

#endif
