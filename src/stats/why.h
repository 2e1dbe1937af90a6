/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why a task waited.
 *
 * A wait is a row of the table `states`: the task could run but had no CPU (runnable), or it slept
 * (sleeping, blocked, stopped). For the former, this finds who had the CPU meanwhile. For the
 * latter, it finds what woke the task, and which tasks had to run before that, back to the begin of
 * the wait. What the trace does not show is marked as unknown, never guessed.
 *
 * Only the records around the wait are read, and memory does not grow with its length.
 */
#ifndef STATS_WHY_H
#define STATS_WHY_H

#include "table/sched.h"
#include "base/buf.h"
#include "base/intern.h"
#include "base/vec.h"

#define WHY_LINKS 32	     /* of a chain; more are not followed */
#define WHY_WORDS (1u << 20) /* bytes of the printed text */

struct why_options {
	int64_t pid;
	uint64_t moment;
	/*
	 * The moment is only that exact: of several states within it, a wait is preferred to a run,
	 * and one that begins there to one that ends there.
	 */
	uint64_t tolerance;
	/*
	 * If not 0: the task's longest wait between `moment` and `until` is explained. If there is
	 * none, nothing is found.
	 */
	uint64_t until;
	const char *buffer; /* NULL: the first one that knows the task */
	const volatile int *stop;
};

/* What is known about something. */
enum why_known {
	WHY_NOT_ASKED,
	WHY_FOUND,
	WHY_NONE,	/* there was none */
	WHY_KERNEL,	/* the kernel's own threads have none */
	WHY_UNKNOWN,	/* there may have been one */
	WHY_UNRECORDED, /* the necessary events were not recorded */
};

/* The system call that a task was in. */
struct why_call {
	enum why_known known;
	const char *name, *args; /* NULL: not known */
	int64_t nr;
	uint64_t ts;	 /* it was entered; if not known: it was in it since then */
	bool open_start; /* not known */
};

/* A request to a block device that was done. */
struct why_request {
	bool found;
	const char *device, *rwbs; /* "8,0"; as block_rq_issue has it, or NULL */
	int64_t sector, bytes;
	int64_t dur; /* since it was issued; ROW_NULL: not known */
	int64_t pid; /* the task that issued it; ROW_NULL: not known */
	const char *comm;
	bool other; /* that is not the task that was woken */
};

enum why_context { WHY_IN_TASK, WHY_IN_SOFTIRQ, WHY_IN_IRQ, WHY_IN_NMI };

/* What made a task runnable, and where that happened. */
struct why_wake {
	bool found;
	uint64_t ts;
	int64_t cpu;
	int64_t pid; /* the task that woke it, or that was interrupted by what woke it */
	const char *comm;
	enum why_context context;
	bool is_new; /* it was created */
	int64_t irq; /* the interrupt in whose handler it happened; ROW_NULL: none, or not known */
	const char *irq_name; /* of that, or of the vector where only that was recorded */
	const char *softirq;  /* likewise */
	bool raised;	      /* the softirq: by the task that it interrupted */
	bool ksoftirqd;	      /* the softirq ran in ksoftirqd, which is `pid` */
	int64_t signal;	      /* whose arrival woke it; 0: none, or not known */
	const char *signal_name;
	const char *inner;    /* "timer", "work" and the like, whose function it happened in … */
	const char *function; /* … which is this one, or NULL */
	struct why_call call; /* of a task */
	struct why_request request;
	const char *stack; /* "outer;…;inner" */
};

/* Who had a CPU during a part of the wait. */
struct why_share {
	enum why_share_of { WHY_TASK, WHY_IDLE, WHY_UNKNOWN_TASK, WHY_OTHERS } of;
	int64_t cpu;
	int64_t pid, prio; /* ROW_NULL: not known */
	const char *comm;
	uint64_t ns;
	uint64_t times;
};

/* Interrupts or softirqs of one kind on the CPUs during the wait. */
struct why_interrupt {
	bool soft;
	int64_t number;
	const char *name;
	uint64_t ns; /* it is part of the time of the tasks that were interrupted */
	uint64_t times;
};

/* A part of the wait, during which the task waited for one CPU. */
struct why_piece {
	uint64_t from, to;
	int64_t cpu; /* ROW_NULL: not known */
};

/* A task that had to run before the wakeup: what it did until it woke the other one. */
struct why_link {
	int64_t pid;
	const char *comm;
	uint64_t from, to; /* since it was woken, or the wait began */
	uint64_t ran, waited;
	uint64_t waits;	      /* for a CPU: how often */
	bool earlier;	      /* it did not sleep since the wait began */
	struct why_wake wake; /* what made it runnable, if not */
};

/* Why a chain goes back no further. */
enum why_end {
	WHY_END_NONE,	   /* there is no chain */
	WHY_END_INTERRUPT, /* an interrupt, so an event from outside */
	WHY_END_BEGIN,	   /* the last task ran, or waited for a CPU, since the wait began */
	WHY_END_IDLE,	   /* the idle task did it */
	WHY_END_SELF,	   /* it leads back to the task itself */
	WHY_END_UNKNOWN,
	WHY_END_DEPTH, /* the chain is longer */
};

struct why {
	struct why_options asked;
	bool found;  /* the trace has the task's state at the moment */
	bool exists; /* the task is in the trace, from … to … */
	uint64_t first, last;
	bool switchless; /* it is not, but neither is any sched_switch */
	bool ticks;	 /* the clock counts something else than nanoseconds */

	/*
	 * It was running then: since, until and where. The members below are about the wait before.
	 */
	bool running;
	uint64_t run_from, run_to;
	int64_t run_cpu;
	bool waits; /* there is a wait */

	/* The wait. */
	const char *comm;
	enum run_state state;
	const char *reason; /* as in `states` */
	uint64_t from, to;
	int64_t cpu; /* waited for, or run on last */
	enum row_open open;
	bool has_next; /* the state that followed is known: */
	enum run_state next;
	uint64_t next_from;
	int64_t next_cpu; /* ROW_NULL */
	const char *buffer;

	struct why_wake wake; /* runnable: what made it so; else what ended the sleep */

	/* Of one that was runnable. */
	int64_t by; /* who got the CPU when it was preempted, or left; ROW_NULL: not known */
	const char *by_comm;
	vec_of(struct why_piece) pieces;
	vec_of(struct why_share) shares; /* their ns add up to the wait's; longest first */
	vec_of(struct why_interrupt) interrupts;

	/* Of one that slept. */
	struct why_call call;
	bool same_futex;  /* and its waker's call, which is about the same futex */
	const char *lock; /* "mutex", …: it waited for one, at: */
	uint64_t lock_addr;
	const char *stack;
	vec_of(struct why_link) links; /* back from the wakeup */
	enum why_end end;

	uint64_t callless; /* a bit for each of the first buffers: it has no system calls */

	vec_of(const char *) notes; /* what is not known, and why */
	struct intern texts;
};

/* 0, -EINTR after a stop, -ENOMEM. Call why_free() in any case. */
int why_make(struct why *w, struct spur_trace *t, const struct why_options *opt,
	     struct spur_error *err);
void why_free(struct why *w);

/* Appends the words, each line after that many spaces. */
void why_text(const struct why *w, unsigned int indent, struct buf *to);

/* Appends a JSON object; times in nanoseconds (or the clock's ticks) of the trace. */
void why_json(const struct why *w, struct buf *to);

/* ---- which task a user means ---- */

/*
 * Tasks of a name, or of "name-pid" or a pid, in a trace: their pids, each once. Of several, only
 * those that were alive at the options' moment, if there are any. 0, -ENOMEM, -EINTR after a stop.
 * A number need not be one of a task.
 */
struct why_tasks {
	int64_t *at;
	size_t n, cap;
};

int why_find_tasks(struct spur_trace *t, const char *name, const struct why_options *opt,
		   struct why_tasks *to, struct spur_error *err);

#endif
