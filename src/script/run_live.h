/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/script: a script while the kernel runs it. */
#ifndef SCRIPT_RUN_LIVE_H
#define SCRIPT_RUN_LIVE_H

#include "code/kmap.h"
#include "probe/attach.h"
#include "script/run.h"
#include "tracefs/leftovers.h"

struct timer {
	int fd;
	uint32_t prog;
};

struct live_run {
	struct script *s;
	struct kmaps maps;
	int *progs;   /* descriptors by program; -1: the executor runs it, or it does not run */
	bool *multi;  /* by program: it was loaded to be attached to all of its probes at once */
	int *partner; /* by program: the other program of its session, or -1 */
	uint32_t is_return_id; /* of the kernel function that returns which of them runs */
	struct {
		int *at;
		size_t n, cap;
	} arrays; /* of sessions */
	struct attached attached;
	struct ring *ring, *packets;
	struct {
		struct timer *at;
		size_t n, cap;
	} timers;
	struct {
		struct pollfd *at;
		size_t n, cap;
	} fds;
	int process; /* readable when the process of -p has ended; -1: there is none */
	bool kernel; /* has a part in it */
	struct kernelswitch printk; /* the event of debugf() */
	size_t nr_missing;	    /* probes that could not be attached and are left out */
	struct spur_error why;	    /* of the first of them */
	struct buf missing;	    /* what to say about them, a line each */
};

extern const struct run_ops run_kernel_ops; /* maps of the kernel: run_maps.c */

/* Loads the programs that the kernel runs. */
int live_load(struct live_run *r, struct spur_error *err);

/* Attaches them. Probes that are not there may be left out: see config missing_probes. */
int live_attach(struct live_run *r, struct spur_error *err);

void sessions_close(struct live_run *r);

/* Runs a program that nothing in the kernel starts. */
void live_run_here(struct live_run *r, uint32_t prog);
/* Executes all new requests of programs in the kernel. */
void live_take_records(struct live_run *r);

/* For --test and --bench: run_tests.c. */
void run_tests(struct live_run *r);

#endif
