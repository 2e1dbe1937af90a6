/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A compiled script, independent of where it runs: programs, the maps they share, and their
 * requests to user space.
 */
#ifndef CODE_UNIT_H
#define CODE_UNIT_H

#include "base/strings.h"
#include "code/ir.h"
#include "code/vtype.h"

enum map_kind {
	MAP_HASH,
	MAP_LRU_HASH,
	MAP_PERCPU_HASH,
	MAP_PERCPU_LRU_HASH,
	MAP_ARRAY,
	MAP_PERCPU_ARRAY,
	MAP_RINGBUF,	 /* entries: bytes, a power of two */
	MAP_PERF_RING,	 /* the same, for helpers that only write to buffers of perf */
	MAP_STACK_TRACE, /* value: 8 bytes a frame */
	MAP_BUILD_IDS,	 /* the same; value: a struct bpf_stack_build_id a frame */
};

/*
 * A map without keys is an array of one entry. In the script's own maps of this kind the value
 * begins with a u64 that is not 0 after the first assignment; `value` follows it. The layout of
 * aggregations, for each CPU:
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
	bool own;	/* the script's: printed at the end */
	bool flagged;	/* the value begins with that u64 */
	bool declared;	/* the script declares the number of entries; all are allocated at once */
	bool late;	/* entries may be allocated when they are needed: see lang/lower/map.c */
	bool read_only; /* programs cannot write it */
	const void *content; /* of entry 0 at the beginning, or NULL */
	struct span at;	     /* where it is first mentioned */
};

/* Number of buckets, and the bucket of a value, of hist(x, bits). */
uint32_t agg_hist_buckets(unsigned int bits);
uint32_t agg_hist_bucket(int64_t v, unsigned int bits);
/* The range of a bucket: from, and the first value beyond it; bucket 0 is all that is negative. */
void agg_hist_range(uint32_t bucket, unsigned int bits, int64_t *from, int64_t *to);
uint32_t agg_lhist_buckets(const struct vtype *t);

/* ---- requests to user space ---- */

enum action_kind {
	ACT_PRINTF,
	ACT_ERRORF, /* to standard error, with the place: "ERROR: …" */
	ACT_WARNF,
	ACT_PRINT,     /* a value: args[0] */
	ACT_PRINT_MAP, /* map, top, div */
	ACT_CLEAR,     /* map */
	ACT_ZERO,      /* map */
	ACT_TIME,      /* format */
	ACT_CAT,       /* format and args: a path */
	ACT_SYSTEM,    /* format and args: a command */
	ACT_JOIN,      /* args[0]: u32 number of strings, their bytes; format: the separator */
	ACT_EXIT,      /* args[0]: status */
	ACT_FAILED,    /* a helper: top is its number, the argument what it returned */
	ACT_ASSERT,    /* format: the message */
	ACT_NOTE_PID,  /* args[0]: a process whose symbols will be needed */
	ACT_UNWATCH,   /* args[0]: the address */
	ACT_PACKET, /* format: a path; struct packet_record, bytes, of which `top` are left out */
	ACT_UNWIND, /* struct unwind_note: what dw_ustack() does not know */
	ACT_KINDS
};

/*
 * The record begins with struct action_record; the arguments follow as a tuple. If the last one is
 * a string, its unused bytes may be missing.
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

/* The header of a packet. */
struct packet_record {
	uint64_t ns;
	uint32_t length, whole; /* bytes that follow, and bytes that were requested */
};

/* ---- programs ---- */

struct probe_target; /* what a program is attached to: probe/probes.h */

struct unit_probe {
	uint32_t number;
	const struct probe_target *target;
	uint32_t prog;	     /* number in progs; several probes may share one */
	uint64_t cookie;     /* shows the program which probe it runs for; 0: none */
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

/* How to treat attach points that match nothing. */
enum unit_missing {
	MISSING_ERROR,
	MISSING_WARN,
	MISSING_IGNORE,
	MISSING_UNSET, /* an error, but patterns may match nothing, and a recording not have all */
};

/* Features that bpftrace calls unstable: whether scripts may use them. */
enum unit_unstable { UNSTABLE_ENABLE, UNSTABLE_WARN, UNSTABLE_ERROR };

struct unit_config {
	uint32_t max_strlen;	/* 1024 */
	uint32_t max_map_keys;	/* 4096 */
	uint32_t max_cat_bytes; /* 10240 */
	uint32_t max_probes;
	uint32_t perf_rb_pages;
	uint32_t max_loop_rounds;      /* of one run of a program in the kernel: 65536 */
	const char *str_trunc_trailer; /* ".." */
	bool print_maps_on_exit;
	bool cpp_demangle;
	bool show_debug_info; /* lines and inlined functions in stacks of programs */
	enum vstack_mode stack_mode;
	const char *license;
	enum unit_missing missing_probes;
	enum unit_unstable tseries, dw_ustack;
	uint64_t given; /* a bit for each setting that the environment has decided */
};

/* The maps of dw_ustack(): see lang/unwind.h. */
struct unit_unwind {
	int rows, rules, files, pages; /* maps, by number; -1: not needed */
	struct action *note;
};

/* The internal map `full` has two u64 for each map: failed updates by reason. */
enum { FULL_ENTRIES, FULL_MEMORY, FULL_REASONS };

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
	struct string_refs strings; /* that values of V_PROBE number */
	/* Internal maps, by number; -1: not needed. */
	int ring, packets, scratch, user_scratch, lost, stacks_lost, cut_off, full, start, off,
		syscalls, pids, depths;
	bool debugs;		 /* a program writes to the kernel's trace buffer */
	struct action *note_pid; /* ACT_NOTE_PID, when it is needed */
	struct unit_unwind unwind;
};

/*
 * Maps of stacks: the kernel's own; a second one, for stacks with numbers from STACK_MADE on; that
 * of dw_ustack(), by a number that is computed from the frames.
 */
enum unit_stacks { STACKS_OF_KERNEL, STACKS_MORE, STACKS_UNWOUND };
#define STACK_MADE (1ll << 62)

/* What a map for stacks of a type is like. */
struct map_def unit_stack_map(const struct vtype *t, enum unit_stacks which);
/* The number of an internal map like that; -1: there is none. */
int unit_find_map(const struct unit *u, const struct map_def *like);
/* Whether the kernel adds the build ids of files to the frames. */
bool unit_has_build_ids(const struct vtype *t);

/* A new action, numbered; NULL without memory. */
struct action *unit_add_action(struct unit *u, enum action_kind kind);

void unit_init(struct unit *u);
void unit_free(struct unit *u);

#endif
