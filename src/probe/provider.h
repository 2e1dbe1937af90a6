/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/probe: what the kinds of probes share. Each kind is an entry in the table of
 * probes.c and a function that turns the words of one attach point into targets.
 *
 * Such a function sees the words after the kind, as many as its entry allows, and words never NULL.
 * While listing, all matching names are wanted, and it is no error if there are none.
 */
#ifndef PROBE_PROVIDER_H
#define PROBE_PROVIDER_H

#include "base/pattern.h"
#include "probe/probes.h"
#include "symbols/btf.h"
#include "symbols/ksyms.h"
#include "tracefs/tracefs.h"

#define PROBE_WORDS  7	       /* after the kind */
#define WHOLE_KERNEL "vmlinux" /* what bpftrace calls the module of functions that are in none */

struct match {
	struct probe_world *world;
	const struct provider *provider;
	const char *word[PROBE_WORDS];
	unsigned int nr_words;
	const char *text;     /* the attach point as written */
	const char *own_name; /* that the user gave it, or NULL */
	bool listing, quiet;
	struct probe_targets *to;
	/* Where errors are reported: a place in a source, or (listing) the error. */
	struct source *source;
	struct span at;
	struct spur_error *err;
};

enum provider_flags {
	IN_KERNEL = 1 << 0, /* shown when all probes of the kernel are listed */
	IN_USER = 1 << 1,   /* … of a process or program */
	OFFLINE = 1 << 2,   /* a recording can have it */
};

struct provider {
	enum probe_type type;
	const char *name;
	const char *aliases;	  /* words, "" for none */
	unsigned int least, most; /* words after the kind */
	const char *counts;	  /* the same as text; a list may have fewer words */
	unsigned int flags;
	int (*match)(struct match *m);
};

int match_plain(struct match *m);
int match_self(struct match *m);
int match_named(struct match *m);
int match_time(struct match *m);
int match_tracepoint(struct match *m);
int match_raw_tracepoint(struct match *m);
int match_kernel(struct match *m);
int match_fentry(struct match *m);
int match_bpf(struct match *m);
int match_iter(struct match *m);
int match_user(struct match *m);
int match_usdt(struct match *m);
int match_counter(struct match *m);
int match_watchpoint(struct match *m);
int match_recorded(struct match *m);

/* For probe_describe(): the fields of an event. */
void describe_event(struct probe_world *w, const struct probe_target *t, struct buf *to);

/* Shows `near` the names of functions, or of tracepoints, for probes_suggest(). */
struct nearest;
void suggest_function(struct probe_world *w, const struct probe_target *t, struct nearest *near);
void suggest_tracepoint(struct probe_world *w, struct nearest *near);

/* ---- telling ---- */

/* The attach point is wrong: -EINVAL. */
int match_error(struct match *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* There are too few or too many words: -EINVAL. */
int match_wrong_count(struct match *m);

/* Nothing was found: -ENOENT, reported unless quiet or listing. */
int match_missing(struct match *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A line that belongs to the message before it. */
void match_hint(struct match *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

void match_warning(struct match *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- targets ---- */

/*
 * Adds a target of the provider's type. Its name is the kind and the given text, or the user's own
 * name. NULL without memory.
 */
struct probe_target *match_add(struct match *m, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* A text in the world's arena; NULL without memory. */
char *match_text(struct match *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

int match_no_memory(struct match *m);

/* ---- words ---- */

/* All of a word as a number: decimal, 0x… or 0…. */
bool word_number(const char *s, uint64_t *value);

/* Splits "NAME+OFFSET" at the sign: the name is put into the arena. -EINVAL, reported. */
int split_offset(struct match *m, const char *word, const char **name, uint64_t *offset);

/* ---- names ---- */

/* All events, of the kernel or of the recording; loaded once. NULL, reported. */
const struct tracefs_events *world_events(struct match *m);

/* A file of tracefs; "" when its path is too long. */
const char *world_path(const struct probe_world *w, const char *file, char *path, size_t cap);

/* ---- lists that are read once, for all attach points ---- */

struct probe_cache {
	struct tracefs_events events;
	bool has_events;
	struct traceable traceable;
	bool has_traceable;
	struct btf_set types;
	bool looked_for_types;
};

/* The functions that the kernel lets be traced. */
const struct traceable *world_traceable(struct probe_world *w);

/* The kernel's types; NULL when there are none. */
const struct btf *world_btf(struct probe_world *w);
/* Those of a module, or of the kernel itself (WHOLE_KERNEL). */
const struct btf *world_btf_of(struct probe_world *w, const char *module);
/* A file beside the kernel's types, or their folder (""); false if its path is too long. */
bool world_btf_path(const struct probe_world *w, const char *file, char *path, size_t cap);

/* ---- counters of perf_event_open(2) by bpftrace's names ---- */

struct perf_counter {
	const char *name, *alias;
	uint64_t config;
	uint64_t usual; /* count if the script has none */
};

/* Of software or hardware probes, by name or alias; NULL when there is none. */
const struct perf_counter *perf_counter_named(enum probe_type type, const char *name);

#endif
