/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Private to src/scan/split*.c: the lanes that are cut, and where. */
#ifndef SCAN_SPLIT_PARTS_H
#define SCAN_SPLIT_PARTS_H

#include "base/buf.h"
#include "dat/write.h"
#include "scan/scan.h"
#include "scan/split.h"

/* A lane, and the part of it in the current piece: all records from `from` up to `to`. */
struct cut_lane {
	struct lane *lane;	 /* of the scan; finds the places */
	struct dat_pages *pages; /* the same data; used for copying */
	uint32_t buffer;	 /* in the pieces */
	uint32_t place;		 /* of the CPU in that buffer's list */
	struct lane_pos from, to;
	bool any;    /* there is something between the two */
	bool to_end; /* up to the end of the data, whatever `to` says */
	bool over;   /* the range asked for ends before the record the lane stands on */
};

struct cutter {
	const struct split *s;
	struct scan scan;
	struct cut_lane *lanes; /* in the order in which files are written */
	uint32_t nr;
	struct dat_contents contents;	   /* of all pieces, but for the option CUT */
	struct dat_out_option *own_option; /* among them: CUT of the piece; NULL: none had it yet */
	struct buf mark;		   /* its bytes */
	bool *lost; /* by lane of the scan: the piece has a record after a loss */
	struct dat_out_options options;
	uint64_t events, first, last; /* of the current piece */
	uint64_t copied, total;	      /* pages, for the progress */
	uint32_t ticks;
};

/* Notes where a piece begins and ends: where its lanes stand now. */
void cut_begin(struct cutter *c);
void cut_end(struct cutter *c);

/* Sets the option CUT of the piece, if it needs one. */
int cut_mark(struct cutter *c);

/*
 * The buffer of the pieces that has the records of a buffer of the trace; false if there is none.
 */
bool cut_buffer(const struct cutter *c, const struct trace_buffer *b, uint32_t *place);

/* Writes the records between the two places into a file. */
int cut_write(struct cutter *c, const char *path, struct spur_error *err);

/* Reports progress and checks for a stop, now and then: 0 or -EINTR. */
int cut_watch(struct cutter *c);

#endif
