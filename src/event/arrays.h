/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How the raw form shows arrays of characters. One whose bytes are all printable is shown as text,
 * any other as ARRAY[…], and from then on so is the same field of every later record: addresses and
 * other binary data are declared like text, and what happens to be printable in them is no text.
 *
 * Records printed before their turn may have been shown in the wrong form. Which fields were shown
 * as text is remembered, so that this can be found out: see array_forms_stale().
 */
#ifndef EVENT_ARRAYS_H
#define EVENT_ARRAYS_H

#include <stdbool.h>

#include "base/map.h"

struct event_field;

/* All zero: nothing is known of any field. The keys are fields, the values say nothing. */
struct array_forms {
	struct map binary; /* have held something else than text */
	struct map text;   /* have been shown as text */
	bool lost;	   /* memory ran out, and something was not remembered */
};

void array_forms_free(struct array_forms *a);

/* Forgets everything. */
void array_forms_reset(struct array_forms *a);

/* Whether to show the field as text, this time being printable or not. */
bool array_forms_text(struct array_forms *a, const struct event_field *f, bool printable);

/* Would text printed with `later` be another one, had it known all that `earlier` knows? */
bool array_forms_stale(const struct array_forms *later, const struct array_forms *earlier);

/* Learns what `from` knows about binary fields. False without memory. */
bool array_forms_adopt(struct array_forms *a, const struct array_forms *from);

#endif
