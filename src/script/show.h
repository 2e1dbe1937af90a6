/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/script: the functions that output.h is made of.
 *
 * Every value comes with the number of bytes that are really there. Missing bytes are shown as 0,
 * or the value ends early: no printer reads beyond it.
 */
#ifndef SCRIPT_SHOW_H
#define SCRIPT_SHOW_H

#include "script/output.h"

enum {
	SHOW_DEPTH = 16,      /* structs in structs */
	SHOW_FRAMES = 1024,   /* of a stack */
	SHOW_TEXT = 64 << 20, /* bytes of one message */
};

struct format; /* a compiled format: format.c */
struct users;  /* names of users: names.c */

struct output_state {
	struct {
		struct format **at; /* by the action's number; NULL: not yet */
		size_t n, cap;
	} formats;
	struct buf line; /* a message before it becomes JSON */
	struct buf text; /* a value before it is quoted or padded */
	struct buf key;
	struct users *users;
	uint64_t frames[4 * SHOW_FRAMES]; /* up to 4 words each: with build ids */
};

/* How a value is to be shown. */
struct show {
	struct output *o;
	struct buf *to;
	bool json;
	bool key;	    /* in the brackets of a map */
	unsigned int depth; /* of nesting */
	int64_t div;	    /* never 0 */
};

void show_value(const struct show *s, const struct vtype *t, const uint8_t *v, size_t len);

/* A value that is a number, however it is usually shown; false when it is none. */
bool value_number(const struct vtype *t, const uint8_t *v, size_t len, uint64_t *n);

/* A number in decimal, divided. */
void show_number(const struct show *s, uint64_t n, bool is_signed);

/* The bytes of a string that are there, without its end. */
size_t string_len(const struct vtype *t, const uint8_t *v, size_t len);

/* Bytes as buf() prints them. */
enum bytes_how { BYTES_ASCII, BYTES_ESCAPED, BYTES_SPACED };
void show_bytes(struct buf *to, const uint8_t *p, size_t n, enum bytes_how how);

/* The content of a V_BUFFER, bounded. */
const uint8_t *buffer_bytes(const struct vtype *t, const uint8_t *v, size_t len, size_t *n);

void show_stack(const struct show *s, const struct vtype *t, const uint8_t *v, size_t len);

/* ---- maps.c ---- */

/* All lines of a histogram, or its JSON. */
void show_hist(const struct show *s, const struct vtype *t, const uint8_t *v, size_t len);
void show_lhist(const struct show *s, const struct vtype *t, const uint8_t *v, size_t len);
void show_tseries(const struct show *s, const struct vtype *t, const uint8_t *v, size_t len,
		  uint64_t last_epoch);

/* The number in element i of an array of u64, 0 beyond its end. */
uint64_t bucket_at(const uint8_t *v, size_t len, size_t i);

/* Of a joined avg or stats. */
int64_t agg_average(const struct vtype *t, const uint8_t *v, size_t len);
/* The newest epoch of a time series, 0 when it is empty. */
uint64_t agg_last_epoch(const struct vtype *t, const uint8_t *v, size_t len);

/* ---- format.c ---- */

void format_free(struct format *f);

/* ---- names.c ---- */

/* strftime() of nanoseconds since 1970; %f, if enabled, is microseconds. */
void show_time(struct buf *to, const char *format, int64_t wall_ns, bool micros);

void show_errno(struct buf *to, int64_t code);
void show_signal(struct buf *to, int64_t number);
void show_syscall(struct buf *to, int64_t number);
void show_gfp(struct buf *to, uint64_t flags);

/* The name of a user, "" when it has none; NULL of users is fine. */
const char *users_name(struct users **u, uint32_t uid);
void users_free(struct users *u);

/* "unified:/path", of all hierarchies whose name matches a glob (or NULL). */
void show_cgroup(struct buf *to, uint64_t id, const char *glob);

#endif
