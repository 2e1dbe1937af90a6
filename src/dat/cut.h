/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The option DAT_OPT_CUT of a recording that ended before its time: how far it goes, and what is
 * missing. Of a recorder that was killed a guardian saved what was left in the kernel's buffers and
 * finished the file.
 *
 *	u32 version: 1    u32 number of streams
 *	each: u32 buffer, u32 CPU, u64 last, u64 between, u64 after
 *	u32 cause, of enum dat_cut_cause; may be left out: 0
 *
 * Readers that do not know the option skip it.
 */
#ifndef DAT_CUT_H
#define DAT_CUT_H

#include "base/buf.h"
#include "dat/dat.h"

/* What happened, as words to go on after: "the recorder was killed". */
const char *dat_cut_why(const struct dat_cut *cut);

/* Appends the option's bytes. */
void dat_cut_put(const struct dat_cut *cut, bool big_endian, struct buf *to);

/* The last time of all CPUs; 0 when there is no event. */
uint64_t dat_cut_end(const struct dat_cut *cut);

/* How many events are missing; false when that is not known of all CPUs. */
bool dat_cut_missing(const struct dat_cut *cut, uint64_t *missing);

/* Whether events of a CPU may be missing after its last one. */
bool dat_cut_lacks_end(const struct dat *d, const struct dat_buffer *b, uint32_t cpu);

/* A time as people read it: seconds of the trace's time, or ticks of its clock. */
const char *dat_cut_time(const struct dat *d, uint64_t ts, char *text, size_t cap);

#endif
