/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is asked for, as pairs_spec.c reads it and pairs.c uses it. Others use pairs.h. */
#ifndef TABLE_PAIRS_PARTS_H
#define TABLE_PAIRS_PARTS_H

#include "table/choice.h"
#include "table/fieldref.h"
#include "table/pairs.h"

#define MAX_MATCH 8 /* fields of a key */

/* What one event type is: either end, or both. */
struct pair_event {
	bool from, to;
	struct field_ref from_refs[MAX_MATCH], to_refs[MAX_MATCH];
};

struct pairs {
	struct table table;
	struct event_choice from, to;
	struct arena arena;
	struct pair_event **events; /* by index; NULL: neither */
	size_t nr_events;
	unsigned int nr_match;
	bool is_text[MAX_MATCH]; /* what is matched, of all events alike */
	bool first;
	bool same_cpu;	    /* the key has the CPU of both */
	uint64_t forgotten; /* by all analyses */
};

/* Fills everything but the table's functions. */
int pairs_spec_read(struct pairs *p, struct events *ev, const struct pairs_options *opt,
		    struct spur_error *err);

#endif
