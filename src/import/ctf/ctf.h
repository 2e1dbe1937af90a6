/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Private to src/import: what the files of the CTF 1.8 import share: the types that the metadata
 * describe, and reading values of them.
 */
#ifndef IMPORT_CTF_CTF_H
#define IMPORT_CTF_CTF_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "import/import.h"
#include "import/sources.h"

#define CTF_MAX_DEPTH	24   /* of types in types */
#define CTF_MAX_NUMBERS 8000 /* of an array in a record */

/* ---- types ---------------------------------------------------------------------------- */

enum ctf_kind {
	CTF_INTEGER,
	CTF_FLOAT,
	CTF_STRING,
	CTF_ENUM,
	CTF_STRUCT,
	CTF_VARIANT,
	CTF_ARRAY,
	CTF_SEQUENCE,
};

enum ctf_order { CTF_NATIVE, CTF_LITTLE, CTF_BIG };

struct ctf_member {
	const char *name; /* without the underscore in front */
	struct ctf_type *type;
	bool left_out; /* it only says how long another one is */
};

struct ctf_label {
	const char *name;
	int64_t first, last;
};

struct ctf_type {
	enum ctf_kind kind;
	uint32_t align; /* in bits, at least 1 */
	uint32_t size;	/* of a number, in bits: 1 to 64 */
	enum ctf_order order;
	bool is_signed, is_text, is_time;
	uint8_t base;		    /* of an integer: 16 when it is shown so */
	struct ctf_type *of;	    /* an enum's integer, an array's element */
	struct ctf_member *members; /* of a struct or variant */
	uint32_t nr_members;
	struct ctf_label *labels; /* of an enum */
	uint32_t nr_labels;
	uint64_t length;    /* of an array */
	const char *refers; /* a sequence's length, a variant's tag: the last word of its path */
};

struct ctf_event {
	uint64_t id, stream;
	const char *name;
	struct ctf_type *context, *fields;

	/* What it becomes. */
	struct import_type type;
	bool settled, broken;
	bool leads;	 /* a number of a system call is made up for its first field */
	uint32_t nr_own; /* fields before those of contexts */
};

struct ctf_stream {
	uint64_t id;
	struct ctf_type *packet_context, *event_header, *event_context;
	const char *buffer; /* "" */
};

struct ctf_variable {
	const char *name, *value;
};

struct ctf_metadata {
	struct import *im;
	struct arena *arena;
	bool big_endian;
	struct ctf_type *packet_header;
	vec_of(struct ctf_event *) events;
	vec_of(struct ctf_stream) streams;
	vec_of(struct ctf_variable) env;
	struct map names; /* types by the kept name: aliases, "struct x" */
	struct map by_id; /* events, by stream and id */
	uint64_t freq;
	int64_t offset_s, offset;
	bool lttng;	   /* names of its kernel tracer's fields */
	int32_t next_call; /* numbers of system calls that are made up */
	struct map calls;  /* by the kept name */
	struct buf text;   /* a value on its way */
	uint64_t *numbers; /* the same: CTF_MAX_NUMBERS */
};

/* Reads the text. 0, or -EBADMSG with words that say where. */
int ctf_metadata_read(struct ctf_metadata *m, const char *text, size_t len, struct spur_error *err);
void ctf_metadata_free(struct ctf_metadata *m);

const char *ctf_variable(const struct ctf_metadata *m, const char *name);
struct ctf_stream *ctf_stream_of(struct ctf_metadata *m, uint64_t id);
struct ctf_event *ctf_event_of(const struct ctf_metadata *m, uint64_t stream, uint64_t id);

/* ---- values --------------------------------------------------------------------------- */

/* Where in a packet one is. */
struct ctf_bits {
	const uint8_t *data;
	uint64_t at, end; /* bits */
	bool big_endian;  /* the trace's order */
	bool failed;
};

#define CTF_MAX_KNOWN 256

/* Numbers that were read, for lengths and tags that refer to them. */
struct ctf_known {
	const char *name;
	const struct ctf_type *type;
	uint64_t value;
};

struct ctf_reader {
	struct ctf_bits bits;
	struct ctf_known known[CTF_MAX_KNOWN];
	size_t nr_known;
	uint64_t clock;	 /* the last time */
	uint64_t visits; /* of values, in this packet */
};

/* Any value: as text, or when out is NULL only to skip it. */
void ctf_read_any(struct ctf_reader *r, const struct ctf_type *t, const char *name, struct buf *out,
		  int depth);

/* What a struct that was read is known to say; false: nothing of that name. */
bool ctf_find_known(const struct ctf_reader *r, const char *name, uint64_t *value);

/* ---- events --------------------------------------------------------------------------- */

/* What is not a field of its own: the task, as the context says. */
struct ctf_task {
	bool has_pid;
	int pid;
	uint8_t flags, preempt_count;
};

/* Makes the record of an event whose header has been read; the stream's running task is kept. */
bool ctf_put_event(struct ctf_metadata *m, struct ctf_stream *s, struct ctf_event *e,
		   struct ctf_reader *r, struct import_context *x, int *running);

#endif
