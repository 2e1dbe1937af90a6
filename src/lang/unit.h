/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A compiled script, before anybody has decided where it runs: programs, the maps they share, and
 * what they ask user space to do.
 */
#ifndef LANG_UNIT_H
#define LANG_UNIT_H

#include "lang/ir.h"
#include "lang/vtype.h"

enum map_kind {
	MAP_HASH,
	MAP_LRU_HASH,
	MAP_PERCPU_HASH,
	MAP_PERCPU_LRU_HASH,
	MAP_ARRAY,
	MAP_PERCPU_ARRAY,
	MAP_RINGBUF,	 /* entries: bytes, a power of two */
	MAP_STACK_TRACE, /* value: 8 bytes a frame */
};

/*
 * A map without keys is an array of one entry. Of the script's own such maps the value begins with
 * a u64 that is not 0 once the map has been assigned; `value` lies behind it. How aggregations lie
 * in a value, of each CPU:
 *	count		u64
 *	sum		s64
 *	avg, stats	u64 count, s64 sum
 *	min, max	s64 value, u64 not 0 when there is one
 *	hist(x, k)	u64 of each bucket: see agg_hist_bucket()
 *	lhist		u64 below min, of each step, and of max and above
 *	tseries		per bucket u64 epoch (time / interval, 0: unused), s64 value, u64 count
 */
struct map_def {
	const char *name; /* as written, without the @; of internal ones what they are for */
	uint32_t number;
	enum map_kind kind;
	uint32_t key_size, value_size, entries;
	struct vtype key; /* V_NONE: there is none; several keys are a tuple */
	struct vtype value;
	bool own;	     /* the script's: printed at the end */
	bool flagged;	     /* the value begins with that u64 */
	bool read_only;	     /* programs cannot write it */
	const void *content; /* of entry 0 at the beginning, or NULL */
	struct span at;	     /* where it is first mentioned */
};

/* Number of buckets, and the bucket of a value, of hist(x, bits). */
uint32_t agg_hist_buckets(unsigned int bits);
uint32_t agg_hist_bucket(int64_t v, unsigned int bits);
/* The range of a bucket: from, and the first value beyond it; bucket 0 is all that is negative. */
void agg_hist_range(uint32_t bucket, unsigned int bits, int64_t *from, int64_t *to);
uint32_t agg_lhist_buckets(const struct vtype *t);

/* ---- what user space is asked to do ---- */

enum action_kind {
	ACT_PRINTF,
	ACT_ERRORF, /* to standard error, with the place: "ERROR: …" */
	ACT_WARNF,
	ACT_PRINT,	 /* a value: args[0] */
	ACT_PRINT_MAP,	 /* map, top, div */
	ACT_PRINT_ENTRY, /* map, with the key in args[0] and the value in args[1] */
	ACT_CLEAR,	 /* map */
	ACT_ZERO,	 /* map */
	ACT_TIME,	 /* format */
	ACT_CAT,	 /* format and args: a path */
	ACT_SYSTEM,	 /* format and args: a command */
	ACT_JOIN,	 /* args[0]: u32 number of strings, their bytes; format: the separator */
	ACT_EXIT,	 /* args[0]: status */
	ACT_FAILED,	 /* a helper: args[0] its number, args[1] what it returned */
	ACT_ASSERT,	 /* format: the message */
	ACT_NOTE_PID,	 /* args[0]: a process whose symbols will be needed */
	ACT_UNWATCH,	 /* args[0]: the address */
	ACT_KINDS
};

/*
 * What is sent for it begins with struct action_record; the arguments follow as a tuple, of which
 * the end may be missing when it is a string: as long as the string is.
 */
struct action {
	enum action_kind kind;
	uint32_t number;
	struct span at;
	const char *format;
	const struct velem *args; /* offsets are counted from the end of the record's head */
	uint32_t nr_args;
	uint32_t size; /* of the arguments */
	struct map_def *map;
	int64_t top, div;
};

struct action_record {
	uint32_t action;
	uint32_t probe; /* number in the unit's probes */
};

/* ---- programs ---- */

struct probe_target; /* what a program is attached to: script/probes.h */

struct unit_probe {
	uint32_t number;
	const struct probe_target *target;
	uint32_t prog;	     /* number in progs; several probes may share one */
	uint64_t cookie;     /* what tells the program which of them it runs for; 0: nothing */
	struct span at;	     /* its attach point */
	uint32_t stands_for; /* how many probes it is in one */
};

enum unit_runs {
	RUNS_IN_KERNEL,
	RUNS_IN_USER, /* begin, end, interval, …, unless it has to read the kernel's memory */
};

struct unit_prog {
	struct ir_prog ir;
	enum unit_runs runs;
	bool raw; /* a tracepoint's that does not look at its arguments: a raw one will do */
	struct span at;
};

/* What to do about attach points that match nothing. */
enum unit_missing {
	MISSING_ERROR,
	MISSING_WARN,
	MISSING_IGNORE,
	MISSING_SOME, /* warn, unless nothing is left that the script is about */
};

struct unit_config {
	uint32_t max_strlen;	/* 1024 */
	uint32_t max_map_keys;	/* 4096 */
	uint32_t max_cat_bytes; /* 10240 */
	uint32_t max_probes;
	uint32_t perf_rb_pages;
	const char *str_trunc_trailer; /* ".." */
	bool print_maps_on_exit;
	bool cpp_demangle;
	bool lazy_symbolication;
	enum vstack_mode stack_mode;
	const char *license;
	enum unit_missing missing_probes;
	uint64_t given; /* a bit for each setting that the environment has decided */
};

struct unit {
	struct arena arena;
	struct unit_config config;
	struct {
		struct map_def **at;
		size_t n, cap;
	} maps;
	struct {
		struct action **at;
		size_t n, cap;
	} actions;
	struct {
		struct unit_probe *at;
		size_t n, cap;
	} probes;
	struct {
		struct unit_prog *at;
		size_t n, cap;
	} progs;
	struct {
		const char **at;
		size_t n, cap;
	} strings; /* that values of V_PROBE number */
	/* Internal maps, by number; -1: not needed. */
	int ring, scratch, lost, full, start, off, syscalls, pids;
	struct action *note_pid; /* ACT_NOTE_PID, when it is needed */
};

/* A new action, numbered; NULL without memory. */
struct action *unit_add_action(struct unit *u, enum action_kind kind);

void unit_init(struct unit *u);
void unit_free(struct unit *u);

#endif
