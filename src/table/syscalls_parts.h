/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Event types of system calls, and what numbers are called; private to syscalls*.c. */
#ifndef TABLE_SYSCALLS_PARTS_H
#define TABLE_SYSCALLS_PARTS_H

#include "table/parts.h"
#include "table/spans.h"

enum syscall_what { SYSCALL_NOTHING, SYSCALL_ENTER, SYSCALL_EXIT };

/* Bits: raw_syscalls, and events of calls' own. */
enum syscall_source { SYSCALL_RAW = 1, SYSCALL_OWN = 2 };

/* What is known about an event type. */
struct syscall_kind {
	enum syscall_what what;
	enum syscall_source source;
	const char *name; /* of an own event's call */
	struct number nr;
	struct number ret;  /* of an exit */
	struct number args; /* of a raw entry: the first register */
};

struct syscall_kinds;

/* Of one trace, whose machine decides on names; NULL without memory. */
struct syscall_kinds *syscall_kinds_new(struct spur_trace *t);
void syscall_kinds_free(struct syscall_kinds *s);

const struct syscall_kind *syscall_kind_of(struct syscall_kinds *s, struct event *e);

/* Names live as long as the kinds; NULL: there is none. */
const char *syscall_name(const struct syscall_kinds *s, const struct syscall_kind *k, int64_t nr);
const char *syscall_error(const struct syscall_kinds *s, int64_t ret);

/*
 * What the report shows of an entry's arguments; NULL: nothing. Whoever asked for it drops it:
 * calls with equal arguments, of which there are many, share it. A row's text has to stay for one
 * more record: what nobody needs any more goes when the kinds have aged twice.
 */
struct syscall_args {
	struct syscall_args *next; /* that goes at the same time */
	uint64_t id;		   /* counted */
	uint32_t users;
	char text[];
};

struct syscall_args *syscall_args(struct syscall_kinds *s, const struct syscall_kind *k,
				  struct event *e, const struct spur_record *r);
void syscall_args_drop(struct syscall_kinds *s, struct syscall_args *args);
void syscall_args_age(struct syscall_kinds *s);

bool syscall_never_returns(const char *name);
/* A new task's first event is the exit of the call that its parent has made. */
bool syscall_is_birth(const char *name, int64_t ret);

#endif
