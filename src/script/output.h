/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a script shows: texts of printf, values, maps with their histograms; as text or as JSON.
 * Everything is appended to a buffer; its caller writes it out.
 *
 *	struct output o = {.unit = u, .to = &text};
 *	if (output_open(&o)) …			-ENOMEM
 *	for each record: output_action(&o, action, args, len);
 *	output_end(&o); output_map(…) for each map
 *	output_close(&o);
 *
 * Private to src/script.
 */
#ifndef SCRIPT_OUTPUT_H
#define SCRIPT_OUTPUT_H

#include "code/unit.h"

struct symbolizer;   /* script/symbols.h */
struct output_state; /* script/show.h */

/*
 * bpftrace's text has changed in details. Those of 0.17: "Attaching 1 probe...", a space after the
 * colon of "@h: " before a histogram, a blank line for an empty map and after stats, %d and %x of
 * 32 bits, stacks in keys indented by 4. Those of 0.26: "Attached 1 probe", among the errors, as is
 * "Lost 1 events", none of these spaces and lines, %d of 64 bits (%x stays at 32), 8.
 */
enum output_style { OUTPUT_0_17, OUTPUT_0_26 };

struct output {
	const struct unit *unit;
	struct buf *to;
	struct buf *errors; /* for errorf() and warnf(); NULL: as `to` */
	bool json;
	bool clean; /* control characters of values, not of the script's texts, are replaced */
	enum output_style style;
	struct symbolizer *symbols; /* NULL: addresses stay numbers */
	struct source *source;	    /* for the places of errorf() and warnf(); or NULL */
	/* The wall time at 0 of each clock of strftime(), by enum vclock. */
	int64_t clock_offset[3];
	int64_t wall_ns; /* what time() shows: nanoseconds since 1970; 0: now */
	/*
	 * The frames of a stack by its id; the number of words, 0 when it is gone. Those of
	 * unit_has_build_ids() are a struct bpf_stack_build_id each.
	 */
	size_t (*stack)(void *arg, const struct vtype *t, int64_t id, uint64_t *frames, size_t max);
	void *arg;
	struct output_state *state; /* of this folder; from output_open() to output_close() */
};

int output_open(struct output *o);
void output_close(struct output *o);

/* The contents of a map as read for printing: values of all CPUs already joined. */
struct map_row {
	const uint8_t *key;   /* as in the map */
	const uint8_t *value; /* without the flag; aggregations as one CPU has them */
};

struct map_rows {
	struct map_row *at;
	size_t n, cap;
};

/*
 * Joins the value of one more CPU into `to`. Numbers that are no aggregations: the last one stays.
 */
void agg_join(const struct vtype *t, void *to, const void *from);

/* One value as maps show it, without a newline; numbers in decimal, enums by name. */
void output_value(struct output *o, const struct vtype *t, const void *value);

/*
 * Executes an action that is output: printf() and the like, print of a value or entry, time, join.
 * `args` has len bytes. False: it is another kind.
 */
bool output_action(struct output *o, const struct action *a, const void *args, size_t len);

/* The text of a format with its arguments; `clean`: these cannot drive a terminal. */
void output_format(struct output *o, const struct action *a, const void *args, size_t len,
		   bool clean, struct buf *to);

/* The output of cat() and system(): as it is, or as JSON with its type, "cat" or "syscall". */
void output_text(struct output *o, const char *type, const char *text, size_t len);

/* A whole map, sorted as bpftrace does; top 0: all; div 0: 1. Rows are reordered. */
void output_map(struct output *o, const struct map_def *m, struct map_rows *rows, int64_t top,
		int64_t div);

/* "Attaching 3 probes..." and, of JSON, whatever else is told by type. */
void output_attached(struct output *o, size_t nr);
void output_lost(struct output *o, uint64_t n);

/* Before the maps that are printed at the end: two empty lines; nothing in JSON. */
void output_end(struct output *o);

#endif
