/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory in the frame of a function that a test writes. */
#ifndef TEST_IR_FRAME_H
#define TEST_IR_FRAME_H

#include "code/ir.h"

/* Reserves aligned memory in the frame, of the whole function; its offset. */
static inline uint32_t ir_frame_room(struct ir_func *f, uint32_t size, uint32_t align)
{
	uint32_t at = f->frame, end;

	if (align > 1)
		at += (align - at % align) % align;
	/* A frame that is far too large stays so, for the emitter's error. */
	if (at < f->frame || __builtin_add_overflow(at, size, &end))
		at = end = UINT32_MAX;
	f->frame = end;
	return at;
}

#endif
