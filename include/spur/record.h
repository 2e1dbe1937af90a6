/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A record: one occurrence of an event, as it is stored in a trace. It points into memory of its
 * cursor and is valid until the cursor returns the next record.
 */
#ifndef SPUR_RECORD_H
#define SPUR_RECORD_H

#include <stdint.h>

struct spur_record {
	uint64_t ts; /* the trace's time line: nanoseconds unless its clock counts otherwise */
	const uint8_t *data; /* the event's bytes, which begin with the common fields */
	uint32_t size;
	uint32_t cpu;
	int64_t lost;	 /* events lost on this CPU just before: 0, a count, or -1 for "some" */
	uint64_t offset; /* of its header in the file (or in the CPU's data before compression) */
	uint32_t buffer; /* index of its buffer (instance) */
	uint32_t room;	 /* bytes that may be read; those past size belong to other records */
	uint32_t delta;	 /* time since the previous record on the same page */
};

#endif
