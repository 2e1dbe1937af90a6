/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/export: what the files of the Perfetto export share.
 *
 * The output is a sequence of packets. Events of the kernel go into bundles, one open for each CPU
 * of each buffer, which are written when they have become large or old (bundle.c).
 */
#ifndef EXPORT_PERFETTO_PERFETTO_H
#define EXPORT_PERFETTO_PERFETTO_H

#include "table/cells.h"
#include "table/analysis.h"
#include "base/proto.h"
#include "base/vec.h"
#include "export/export.h"

#define PERFETTO_CPUS 1024 /* Perfetto refuses a trace with a CPU of a higher number */

/* TracePacket */
enum {
	PACKET_FTRACE = 1,
	PACKET_PROCESS_TREE = 2,
	PACKET_CLOCKS = 6,
	PACKET_TIME = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_SYSTEM = 45,
	PACKET_TRACK = 60,
	PACKET_SAMPLE = 66,
	PACKET_FIRST = 87,
	PACKET_MACHINE = 98,
};

/* FtraceEvent: the kinds that are treated apart from the others */
enum {
	FTRACE_PRINT = 3,
	FTRACE_SCHED_SWITCH = 4,
	FTRACE_SCHED_WAKEUP = 17,
	FTRACE_SCHED_WAKING = 20,
	FTRACE_SCHED_EXEC = 237,
	FTRACE_SCHED_FORK = 239,
	FTRACE_GENERIC = 327,
	FTRACE_SYS_ENTER = 329,
	FTRACE_SYS_EXIT = 330,
};

/* ---- event types: kinds.c ------------------------------------------------------------- */

/* Perfetto draws slices, states and counters from these: see kinds.c. */
enum group { NO_GROUP, SCHEDULING, INTERRUPTS, SYSCALLS, CALLS, POWER, NR_GROUPS };

enum value_kind {
	KIND_NUMBER,
	KIND_TEXT,
	KIND_SYMBOL, /* an address that is interned with its function's name */
	KIND_ARRAY,  /* of numbers, one field each */
};

/* A field of an event as a field of a message of its own. */
struct typed_op {
	enum value_kind kind;
	uint8_t field;
	struct number number;		/* also the first of an array */
	uint8_t count;			/* of an array */
	const struct event_field *text; /* KIND_TEXT */
};

#define TYPED_OPS 8

/* A field of a generic event. */
struct generic_op {
	const struct cell *cell;
	struct number number; /* CELL_NUMBER: read without further ado */
	const char *prefix;   /* its message up to the value, without that's tag */
	size_t prefix_len;
};

struct event_kind {
	bool ready;
	bool is_stack;	 /* samples.c */
	bool by_text;	 /* a print whose text is made by the printer */
	bool tells_task; /* tasks.c */
	uint16_t number; /* of FtraceEvent; 0: generic only */
	enum group group;
	bool named_call; /* of the system "syscalls", as opposed to raw_syscalls */
	int64_t owner;	 /* the buffer whose records are drawn; -1: none, or not yet known */
	bool owned;	 /* it is known */

	struct typed_op ops[TYPED_OPS];
	uint32_t nr_ops;

	/* Scheduling, for the compact form. */
	struct number prev_pid, prev_prio, prev_state, next_pid, next_prio; /* pid, prio: next */
	struct number target_cpu;
	bool has_success;
	const struct event_field *prev_comm, *next_comm;

	/* Tasks. */
	struct number clone_flags, tgid;

	struct cells cells;
	struct generic_op *fields;
	uint32_t nr_fields;
	const char *head; /* the generic event's name as a field */
	size_t head_len;
	const char *buffer_field; /* what the field for the buffer's name is called */
};

struct perfetto;

/* NULL without memory. Every event type is looked at once, when its first record comes. */
struct event_kind *perfetto_kind(struct perfetto *p, struct event *e);
void perfetto_kinds_free(struct perfetto *p);

/* ---- which records are drawn: kinds.c ------------------------------------------------- */

/*
 * The events that tell of system calls. Where one buffer has both kinds, a call is drawn from those
 * that make its row: see events.c. If they are in several buffers, one kind is drawn.
 */
enum calls_from { CALLS_UNKNOWN, CALLS_RAW, CALLS_NAMED, CALLS_BOTH };

/* Before the first record is written. */
int perfetto_owners(struct perfetto *p, struct spur_error *err);

/* Decides who owns a type, with the first record of it that comes. Use perfetto_owns(). */
void perfetto_find_owner(struct perfetto *p, struct event_kind *k, uint32_t buffer);

/* Whether this buffer's records of a type are those that Perfetto draws. */
static inline bool perfetto_owns(struct perfetto *p, struct event_kind *k, uint32_t buffer)
{
	if (k->group == NO_GROUP)
		return true;
	if (__builtin_expect(!k->owned, 0))
		perfetto_find_owner(p, k, buffer);
	return k->owner == buffer;
}

/* ---- bundles: bundle.c ---------------------------------------------------------------- */

/* A task's name as the kernel keeps it, zeroes after its end. */
union comm16 {
	char text[16];
	uint64_t word[2];
};

enum compact_column {
	SWITCH_TIME,
	SWITCH_PREV_STATE,
	SWITCH_NEXT_PID,
	SWITCH_NEXT_PRIO,
	SWITCH_COMM,
	WAKING_TIME,
	WAKING_PID,
	WAKING_TARGET_CPU,
	WAKING_PRIO,
	WAKING_COMM,
	WAKING_FLAGS,
	NR_COMPACT,
};

/* The event that was written last, if that was in the compact form: see bundle_expand(). */
struct last_compact {
	bool is_set, is_waking;
	uint64_t ts;
	uint64_t before;	/* the last_switch or last_waking before it */
	int32_t pid, prev_prio; /* who ran */
	union comm16 prev_comm;
	int64_t prev_state;
	int32_t next_pid, next_prio, target_cpu;
	union comm16 next_comm;
};

#define BUNDLE_SLOTS 256 /* a power of two */
#define BUNDLE_NAMES 192 /* a bundle is written before it has more */

#define HELD_BYTES 256 /* of a record; longer ones are not held */

/* The last system call's event that was drawn, or is held: an entry that is not written yet. */
struct last_call {
	bool is_set, held;
	struct event *event;
	const struct event_kind *kind;
	int pid;
	int64_t nr;
	struct spur_record r; /* `data` is valid only while it is held: */
	uint8_t data[HELD_BYTES];
};

struct bundle {
	uint32_t cpu;
	bool lost; /* events before it */
	bool open; /* there is something in it */
	struct buf events;
	struct buf columns[NR_COMPACT];
	uint64_t last_switch, last_waking; /* times in the columns are differences */
	struct last_compact last;
	struct last_call call; /* with CALLS_BOTH */
	struct buf names;      /* the table of names, as fields */
	uint32_t nr_names;
	struct {
		union comm16 comm;
		uint32_t index; /* 0: free; else one more than the name's number */
	} slots[BUNDLE_SLOTS];

	/* What Perfetto takes for the CPU's task, by the switches so far. */
	bool known;
	uint64_t latest; /* time of all events so far */
	int32_t pid, prio;
	union comm16 comm;
};

/* Texts that a sequence of packets defines once, by number. */
struct interned {
	struct buf data; /* definitions for the next packet */
	bool is_first;	 /* nothing of the sequence is written yet */
	bool restated;	 /* earlier definitions are invalid */
};

/* Puts it into a packet, the next one of its sequence. */
void interned_put(struct perfetto *p, struct interned *in);

/* A buffer of the trace: one sequence of packets with ftrace's events. */
struct stream {
	uint32_t sequence;
	const char *name; /* of the buffer, "" for the top one */
	struct bundle *bundles[PERFETTO_CPUS];
	uint64_t epoch;		  /* bundles are no older */
	struct map symbols;	  /* numbers of functions by address */
	struct interned interned; /* functions */
};

/* NULL without memory, or for a CPU that Perfetto does not take. */
struct bundle *bundle_of(struct perfetto *p, struct stream *s, uint32_t cpu);
/* The bundle with which events after a loss begin. */
void bundle_lost(struct perfetto *p, struct stream *s, struct bundle *b);
/* To be called after an event: writes large and old bundles. */
void bundle_turn(struct perfetto *p, struct stream *s, struct bundle *b, uint64_t ts);
void streams_flush(struct perfetto *p);
void streams_free(struct perfetto *p);

/* In the compact form: the task that runs must be the one that Perfetto assumes. */
void bundle_switch(struct bundle *b, uint64_t ts, int64_t prev_state, int32_t next_pid,
		   int32_t next_prio, const union comm16 *next_comm);
void bundle_waking(struct bundle *b, uint64_t ts, int32_t pid, int32_t cpu, int32_t prio,
		   const union comm16 *comm, uint32_t flags);
/*
 * Perfetto sorts by time. Of one time it takes events in the compact form before or after others,
 * whatever their order was. So an event is compact only if its time is its own on the CPU: when
 * another one of the same time comes, the one before becomes a message.
 */
void bundle_expand(struct bundle *b);

/* The number by which a function goes in this sequence, or its address. */
uint64_t stream_symbol(struct perfetto *p, struct stream *s, uint64_t addr);

/* ---- records: events.c ---------------------------------------------------------------- */

void perfetto_record(void *arg, struct event *e, const struct spur_record *r);
/* To be called after the last record: writes what is held. */
void perfetto_records_end(struct perfetto *p);

/* ---- tasks: tasks.c ------------------------------------------------------------------- */

/* What is known about a task's process. */
struct task_note {
	int32_t pid;
	int32_t tgid; /* 0: not known */
	int32_t ppid; /* task that forked it; 0: not known */
	bool born;    /* within the trace, as task_newtask told */
};

void perfetto_tasks_record(struct perfetto *p, const struct event_kind *k,
			   const struct spur_record *r);
/* The process of a task; if it is unknown, from now on a process of its own. */
int32_t perfetto_tgid(struct perfetto *p, int32_t pid);
void perfetto_process_tree(struct perfetto *p);

/* ---- samples: samples.c --------------------------------------------------------------- */

struct perfetto_samples {
	uint32_t sequence;
	struct intern texts;
	struct map frames, stacks; /* by their texts */
	uint64_t last_frame, last_stack;
	struct interned interned;
	bool ready;
};

void perfetto_sample(void *arg, const void *row);
void perfetto_samples_free(struct perfetto *p);

/* ---- one trace: perfetto.c ------------------------------------------------------------ */

struct perfetto {
	const struct export_job *job;
	struct spur_trace *trace;
	struct export_stream *out;
	uint32_t machine;	/* 0: the only one */
	uint32_t next_sequence; /* of the whole file */
	uint64_t shift;		/* is taken from every time */
	uint64_t first;
	int failed;
	bool begun;
	struct reader reader;
	struct arena arena; /* what kinds are made of */
	struct event_kind **kinds;
	struct stream *streams; /* by buffer */
	enum calls_from calls_from;
	bool has_waking;      /* sched_waking was recorded */
	uint64_t last_symbol; /* number of a function, in all sequences */
	struct perfetto_samples samples;
	uint32_t losses;	     /* the sequence that tells of these; 0: not begun */
	uint32_t unknown;	     /* the same of stretches of which nothing is known */
	struct slots unknown_tracks; /* uint64_t: the track's number, 0: it is not described yet */
	uint64_t nr_unknown_tracks;
	struct slots tasks;
	vec_of(struct task_note *) all_tasks;
	bool left_out; /* events of CPUs that Perfetto does not take */
};

static inline uint64_t perfetto_time(const struct perfetto *p, uint64_t ts)
{
	return ts - p->shift;
}

/* A packet is begun and ended around its content. */
size_t packet_begin(struct perfetto *p, uint32_t sequence);
void packet_end(struct perfetto *p, size_t start);

/* PACKET_FLAGS: earlier definitions of the sequence are invalid; the packet needs definitions. */
enum { STATE_CLEARED = 1, NEEDS_STATE = 2 };

#endif
