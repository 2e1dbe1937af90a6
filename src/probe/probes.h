/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attach points: which probes "tracepoint:sched:sched_*" or "uprobe:/bin/bash:readline" matches on
 * this machine, or in a recording. One table entry and one small function for each kind of probe.
 */
#ifndef PROBE_PROBES_H
#define PROBE_PROBES_H

#include <sys/types.h>

#include "base/source.h"

/* One attach point of a probe: "tracepoint:sched:sched_switch". */
struct attach_point {
	struct attach_point *next;
	struct span at;
	const char *text; /* the whole of it, as written, unquoted */
	const char *name; /* in front of "=", or NULL: `name = probe` */
	const char *
		parts[8]; /* text between colons; parts[0] is the kind as written ("t", "kprobe") */
	unsigned int nr_parts;
};

enum probe_type {
	PT_BEGIN,
	PT_END,
	PT_SELF, /* signal */
	PT_TEST,
	PT_BENCH,
	PT_INTERVAL, /* period_ns */
	PT_PROFILE,  /* period_ns, or freq */
	PT_TRACEPOINT,
	PT_RAWTRACEPOINT,
	PT_KPROBE,
	PT_KRETPROBE,
	PT_FENTRY,
	PT_FEXIT,
	PT_UPROBE,
	PT_URETPROBE,
	PT_USDT,
	PT_SOFTWARE,
	PT_HARDWARE,
	PT_WATCHPOINT,
	PT_ITER,
	PT_TYPES
};

struct usdt_place; /* where an argument is: probe/usdt.h */

/*
 * One thing that a program is attached to. In a recording, probes of functions have the system and
 * event that they were recorded as. Several targets of one attach point may have the same name: the
 * places of a USDT probe, each with arguments of its own.
 */
struct probe_target {
	enum probe_type type;
	const char *name;	    /* the whole of it, as the builtin `probe` shows it */
	const char *func;	    /* as `func` shows it, "" when there is none */
	const char *system, *event; /* tracepoint; event also of software, hardware, iter */
	const char *module;	    /* of a function of the kernel, or NULL; USDT: the provider */
	const char *symbol;	    /* of the function */
	uint64_t address;	    /* of the function or watchpoint, 0: not known */
	uint64_t offset;	    /* in the function; in the file for uprobes and USDT */
	const char *path;	    /* of the binary; of an iterator: where to pin it, or NULL */
	uint64_t semaphore;	    /* USDT: offset in the file, 0: none */
	const char *arguments;	    /* USDT: as the note has them: "-4@%edi 8@16(%rbp)" */
	pid_t pid; /* 0: all. Only uprobes, USDT and watchpoints are limited to it by the kernel */
	uint64_t period_ns, freq, count;
	uint32_t length;  /* of a watchpoint */
	const char *mode; /* "rwx" of a watchpoint */
	int signal;
	bool found; /* found while matching; otherwise only attaching shows whether it exists */
	uint32_t bpf_prog;	    /* fentry of a BPF program: its number; 0: of the kernel */
	uint32_t bpf_btf, bpf_type; /* … of its BTF, and of the function there */
	bool typed; /* raw tracepoint: the verifier has to know what the arguments point to */
};

struct probe_targets {
	struct probe_target **at;
	size_t n, cap;
};

/* The places in which names are searched. */
struct probe_world {
	const char *tracefs;
	struct spur_trace *trace;     /* offline: its events instead of the kernel's; or NULL */
	pid_t pid;		      /* -p: 0: none */
	const char *command;	      /* -c */
	struct arena *arena;	      /* for targets */
	uint32_t max_probes;	      /* of one attach point; 0: any number */
	const char *kallsyms;	      /* NULL: /proc/kallsyms */
	const char *btf;	      /* NULL: /sys/kernel/btf/vmlinux */
	const char *const *debuginfo; /* places of debug files: symbols/elf.h; or NULL */
	bool unsafe;		      /* also addresses that nothing describes */
	const char *traceable;	      /* a list of functions; NULL: that of tracefs */
	bool denied;		      /* something may exist, but this user may not read it */
	void *cache; /* private to probes*.c; starts as NULL; freed by probe_world_close() */
};

void probe_world_close(struct probe_world *w);

/*
 * Appends the targets of one attach point. -EINVAL if it is wrong (reported to the source, with
 * similar names), -ENOENT if a pattern matches nothing (reported, too, unless quiet).
 */
int probes_match(struct probe_world *w, struct source *source, const struct attach_point *p,
		 bool quiet, struct probe_targets *to);

/*
 * Kernel functions and raw tracepoints with exact names are not looked up, because reading their
 * lists takes longer than starting a script. If attaching fails with -ENOENT, this appends similar
 * names to err.
 */
void probes_suggest(struct probe_world *w, const struct probe_target *t, struct spur_error *err);

/*
 * System calls by number, for one program on raw_syscalls that stands for all tracepoints
 * "syscalls:sys_enter_*" (or sys_exit_*) that an attach point means.
 */
struct probe_syscalls {
	const struct probe_target **at; /* by number; NULL: not matched; in the world's arena */
	size_t n;
	bool is_exit;
	size_t nr_left; /* targets that are no system call of this machine's own numbers */
};

/*
 * Sorts targets of one attach point into the table. False when they are not all tracepoints of
 * entries, or all of exits, or there is no memory.
 */
bool probes_syscalls(struct probe_world *w, const struct probe_targets *targets,
		     struct probe_syscalls *to);

/* For `-l PATTERN`: calls back for every probe whose name matches, in order. */
int probes_list(struct probe_world *w, const char *pattern,
		int (*each)(void *arg, const struct probe_target *t), void *arg,
		struct spur_error *err);

/* For `-lv`: appends a line, indented by 4, for each field or parameter that is known. */
void probe_describe(struct probe_world *w, const struct probe_target *t, struct buf *to);

/* The kind of "tracepoint", "t", …; PT_TYPES if there is no such kind. */
enum probe_type probe_type_named(const char *name);
const char *probe_type_name(enum probe_type t);

#endif
