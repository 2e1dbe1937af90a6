/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probes by expression: what a user writes becomes lines for the kernel's files of dynamic events.
 *
 *	kprobe      [GROUP/][NAME=]SYMBOL[+OFFSET] [ARG…]        function, MODULE:function, address
 *	kretprobe   [GROUP/][NAME=]SYMBOL [ARG…]
 *	uprobe      [GROUP/][NAME=]BINARY:SYMBOL[+OFFSET] [ARG…] or BINARY:0xOFFSET
 *	uretprobe   [GROUP/][NAME=]BINARY:SYMBOL [ARG…]
 *	usdt        [GROUP/][NAME=][BINARY:]PROVIDER:PROBE [ARG…]
 *	eprobe      [GROUP/][NAME=]SYSTEM.EVENT [ARG…] [if FILTER]
 *
 * ARG is what the kernel takes (dfd=%di, path=+0(%si):ustring, $arg1, $retval, $comm, @symbol), or
 * the name of a parameter of the function when BTF or DWARF tell where it is and what type it has,
 * or a member of what it points at (file->f_path.dentry); "*" is all parameters. Without any ARG an
 * entry probe gets all parameters that are known, a return probe the value it returns. docs/man/
 * spur-probes.7.scd says it all.
 */
#ifndef PROBE_PROBE_H
#define PROBE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <spur/error.h>

#include "base/arena.h"

enum probe_kind {
	PROBE_KPROBE,
	PROBE_KRETPROBE,
	PROBE_UPROBE,
	PROBE_URETPROBE,
	PROBE_USDT,
	PROBE_EPROBE,
};

/* One line for the kernel. */
struct probe_line {
	const char *file;  /* "kprobe_events", "uprobe_events", "dynamic_events" */
	const char *group; /* the system its event is in */
	const char *event;
	const char *text; /* "p:GROUP/EVENT …" */
	const char *back; /* "-:GROUP/EVENT" */
	const char *note; /* what the user should know: an argument left out, …; or NULL */
};

struct probe_options {
	const char *group;    /* if the expression has none; NULL: "spur" */
	pid_t pid;	      /* names are searched in its executable and libraries; 0: none */
	const char *command;  /* the program that will be run, where BINARY is left out; or NULL */
	bool dynamic_events;  /* the kernel has that file */
	const char *machine;  /* "x86_64", …; NULL: this one */
	const char *btf;      /* NULL: /sys/kernel/btf/vmlinux */
	const char *kallsyms; /* NULL: /proc/kallsyms */
	const char *tracefs;  /* NULL: /sys/kernel/tracing */
};

/* Grows as of base/vec.h: its owner frees it with vec_free(). */
struct probe_lines {
	struct probe_line *at;
	size_t n, cap;
};

/*
 * Appends the lines of one expression (a USDT probe may have several places, a symbol with a
 * wildcard several functions; events of a name that another line of the list has are numbered).
 * Their texts are allocated in the arena. -EINVAL if the expression is wrong, -ENOENT with similar
 * names if there is no such binary, symbol or probe; the list is then unchanged.
 */
int probe_resolve(enum probe_kind kind, const char *expression, const struct probe_options *opt,
		  struct arena *arena, struct probe_lines *lines, struct spur_error *err);

#endif
