/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of the CTF export share.
 *
 *	FOLDER/metadata         what is in the streams, as text
 *	FOLDER/channel_0_CPU    the events of a CPU of the top buffer
 *	FOLDER/channel_1_CPU    the same of the next buffer
 *
 * Nothing in a stream is aligned to more than a byte, and its numbers have the traced machine's
 * byte order: a field's bytes are copied as they are.
 */
#ifndef EXPORT_CTF_PARTS_H
#define EXPORT_CTF_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "export/export.h"
#include "scan/identity.h"

enum ctf_kind {
	CTF_NUMBER,
	CTF_STRING,
	CTF_ARRAY,    /* of a fixed number of numbers */
	CTF_SEQUENCE, /* of numbers, how many stands before it */
};

struct ctf_field {
	const struct event_field *field; /* NULL: the record's own bytes */
	const char *name;		 /* an identifier, unique in the event */
	enum ctf_kind kind;
	uint32_t each; /* bytes of a number */
	uint32_t nr;   /* of numbers in an array */
	bool is_signed, hex;
};

/* An event type that has been met. */
struct ctf_class {
	struct event *event; /* NULL: the trace does not describe it */
	struct ctf_field *fields;
	uint32_t nr_fields;
	uint32_t buffers; /* a bit for each buffer below 32 in which it is met; others: all */
};

#define CTF_MAX_CLASSES 65535 /* their numbers have two bytes */
#define CTF_UNKNOWN	0     /* the class of what is not described */

struct ctf_trace {
	struct spur_trace *trace;
	struct identity id;
	const char *tracer; /* how the trace says it was made */
	bool big_endian;
	bool absolute;	      /* its times can be compared with other traces' */
	int64_t clock_offset; /* nanoseconds from 1970 to the streams' 0 */
	struct arena arena;
	struct ctf_class *classes; /* by their number in the streams */
	uint32_t nr_classes, cap_classes;
	uint32_t *numbers; /* of classes, plus one, by event->index; 0: not met yet */
};

int ctf_trace_init(struct ctf_trace *c, struct spur_trace *t, struct spur_error *err);
void ctf_trace_free(struct ctf_trace *c);

/* The number of an event's class, which is made when it is new; negative: -ENOMEM. */
int ctf_class_of(struct ctf_trace *c, struct event *e);

/* Appends the fields of a record. */
void ctf_put_fields(const struct ctf_trace *c, const struct ctf_class *class,
		    const struct spur_record *r, struct buf *out);

/* Appends what every event has: task, flags. */
void ctf_put_context(const struct ctf_trace *c, const struct spur_record *r, struct buf *out);

/* Appends a number in the streams' byte order. */
void ctf_put_uint(const struct ctf_trace *c, uint64_t v, unsigned int size, struct buf *out);

/* Appends the text that describes the streams. */
void ctf_put_metadata(const struct ctf_trace *c, struct buf *out);

#endif
