/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/query: calls of functions, between the table of functions and what makes them. */
#ifndef QUERY_STORE_CALLS_H
#define QUERY_STORE_CALLS_H

#include "query/store_parts.h"

#define SX_MAX_ARGS 32

struct call {
	const char *name; /* as it was written */
	struct expr args[SX_MAX_ARGS];
	size_t n;
	bool star, distinct;
	const char *filter; /* a condition that is never NULL, or NULL */
	bool here;	    /* where the call stands: its result may be used by what is done here */
};

/* Here, of values that the server sends. */
struct expr sx_call_here(struct compiler *c, struct call *f);
bool sx_all_remote(const struct call *f);
/* It is something with a text that a server would write as SQLite does. */
bool sx_has_text(const struct expr *e);
/* Numbers and texts, where a column of a server's has one type: here every value has its own. */
bool sx_mixed(const struct expr *list, size_t n);
/* The value of the first condition that is true, otherwise the last one, of n + 1. */
struct expr sx_choose(struct compiler *c, const struct expr *conditions, const struct expr *values,
		      size_t n);

struct expr sx_do_abs(struct compiler *c, struct call *f);
struct expr sx_do_avg(struct compiler *c, struct call *f);
struct expr sx_do_coalesce(struct compiler *c, struct call *f);
struct expr sx_do_count(struct compiler *c, struct call *f);
struct expr sx_do_greatest(struct compiler *c, struct call *f);
struct expr sx_do_group_concat(struct compiler *c, struct call *f);
struct expr sx_do_hist(struct compiler *c, struct call *f);
struct expr sx_do_iif(struct compiler *c, struct call *f);
struct expr sx_do_instr(struct compiler *c, struct call *f);
struct expr sx_do_least(struct compiler *c, struct call *f);
struct expr sx_do_length(struct compiler *c, struct call *f);
struct expr sx_do_lower(struct compiler *c, struct call *f);
struct expr sx_do_max(struct compiler *c, struct call *f);
struct expr sx_do_min(struct compiler *c, struct call *f);
struct expr sx_do_never(struct compiler *c, struct call *f);
struct expr sx_do_nullif(struct compiler *c, struct call *f);
struct expr sx_do_p50(struct compiler *c, struct call *f);
struct expr sx_do_p90(struct compiler *c, struct call *f);
struct expr sx_do_p99(struct compiler *c, struct call *f);
struct expr sx_do_percentile(struct compiler *c, struct call *f);
struct expr sx_do_replace(struct compiler *c, struct call *f);
struct expr sx_do_round(struct compiler *c, struct call *f);
struct expr sx_do_stddev(struct compiler *c, struct call *f);
struct expr sx_do_substr(struct compiler *c, struct call *f);
struct expr sx_do_sum(struct compiler *c, struct call *f);
struct expr sx_do_total(struct compiler *c, struct call *f);
struct expr sx_do_upper(struct compiler *c, struct call *f);

#endif
