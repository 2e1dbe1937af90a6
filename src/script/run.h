/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/script: a running script. struct run_ops has the differences between the kernel
 * and a recording: where maps are, and what helpers return.
 */
#ifndef SCRIPT_RUN_H
#define SCRIPT_RUN_H

#include <stdint.h>

#include <spur/error.h>

#include "code/code.h"
#include "code/vm.h"
#include "lang/ast.h"
#include "lang/compile.h"
#include "probe/probes.h"
#include "record/command.h"
#include "script/script.h"
#include "script/symbols.h"
#include "tracefs/tracefs.h"

struct script;

struct run_ops {
	/*
	 * All entries of a map, values of all CPUs joined; memory of the run's, until the next
	 * call.
	 */
	int (*rows)(struct script *s, const struct map_def *m, struct map_rows *rows,
		    struct spur_error *err);
	int (*clear)(struct script *s, const struct map_def *m);
	int (*zero)(struct script *s, const struct map_def *m);
	size_t (*stack)(struct script *s, const struct vtype *t, int64_t id, uint64_t *frames,
			size_t max);
	void (*unwatch)(struct script *s, uint64_t address); /* NULL: nothing is watched */
};

/* The current task, CPU and time, for the executor's helpers. */
struct run_now {
	uint64_t ns; /* 0: read the clock */
	uint32_t pid, tid, cpu;
};

struct script {
	struct script_options opt;
	struct arena arena;
	struct source source;
	struct script_ast ast;
	struct env *env;
	struct cdefs *cdefs;
	struct tracefs tracefs; /* of the running kernel, where the options name none */
	struct probe_world world;
	struct unit unit;
	struct bpf_features features;
	struct command_run command; /* held until all is attached; pid 0: there is none */
	struct bpf_code *code;	    /* of each program of the unit */
	size_t nr_code;

	const struct run_ops *ops;
	struct vm vm;
	struct vm_prog **progs; /* those that the executor runs; NULL: the kernel does */
	struct vm_map **maps;
	struct live_run *live; /* of run_live.c */
	struct file_run *file; /* of run_file.c */
	struct run_now now;
	struct output out;
	struct buf text, errors, rows_memory;
	struct symbolizer *symbols;
	struct unwinder *unwinder; /* of dw_ustack(); NULL: not needed */
	struct pcap **packets;	   /* of each action; several may share a file; NULL: no packets */
	uint8_t *record;	   /* reserved by a program in the executor */
	size_t record_size;
	uint32_t running; /* number of the program that the executor runs */
	bool held;	  /* output waits until it is known how many probes are attached */
	size_t nr_attached;
	bool ended;	   /* exit() was called, or an error happened */
	bool at_end;	   /* only the ends of the script are still to be run */
	uint64_t left_out; /* commands of system() and cat() that came after the user's Ctrl-C */
	int status;
	int rc; /* why it ended, if it failed */
	struct spur_error err;
};

/* The helpers of programs that the executor runs. */
extern const vm_helper *run_helpers(vm_helper *table);

/* Gets everything ready that both ways of running need. */
int run_begin(struct script *s, const struct run_ops *ops, struct spur_error *err);
void run_end(struct script *s);

/* One program in the executor. */
void run_program(struct script *s, uint32_t prog, const void *ctx, size_t size);
/* Runs all probes of a type, in the order of the script. */
void run_probes(struct script *s, enum probe_type type);

/* Executes the request of a program. */
void run_record(struct script *s, const void *record, size_t size);

/*
 * A record that a program fills and then submits; NULL without memory. There is only one: programs
 * submit it before they reserve another.
 */
void *run_reserve(struct script *s, uint64_t size);
void run_submit(struct script *s);
void run_flush(struct script *s);
/* Says how many probes are attached, and lets output go. */
void run_announce(struct script *s);
/* Maps that are printed at the end. */
void run_print_maps(struct script *s);
/* Tells what was lost, by probe and by map: run_live.c. */
void run_losses(struct script *s);
/* Remembers why it has to end. */
void run_fail(struct script *s, int rc, const char *what);

extern const struct run_ops run_user_ops; /* maps of umap.h */

/* Files of packets. */
int packets_open(struct script *s, struct spur_error *err);
void packets_close(struct script *s);
void packets_flush(struct script *s);

int run_live(struct script *s, struct spur_error *err);
int run_file(struct script *s, struct spur_error *err);

/*
 * Files of packets, as tcpdump reads them: the format of libpcap with times in nanoseconds and
 * packets that begin with the header of IP (LINKTYPE_RAW).
 */

struct pcap;

/* Begins a file; what was there is gone. */
int pcap_create(const char *path, struct pcap **out, struct spur_error *err);

/*
 * Appends `length` bytes of a packet that has `whole`, at a time in nanoseconds since 1970. Errors
 * are returned here or by pcap_flush(), as a negative errno.
 */
int pcap_write(struct pcap *p, uint64_t ns, const void *bytes, uint32_t length, uint32_t whole);

/* A reader of the file sees all packets from now on. */
int pcap_flush(struct pcap *p);

/* NULL is fine. */
void pcap_close(struct pcap *p);

#endif
