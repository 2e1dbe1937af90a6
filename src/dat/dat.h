/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace.dat files, versions 6 and 7: what is in them and where.
 *
 * dat_open() reads the metadata (bounded: it refuses metadata larger than a limit) and never the
 * trace data, so a file of any size opens at once. Opening a damaged or cut-off file succeeds when
 * anything can be read; dat->damage says what is wrong. The caller first shows what can be read.
 * Opening fails only if the file is not a trace at all.
 *
 * A struct dat does not change after it was opened, except for what its comments say is locked: any
 * number of threads may read from it.
 */
#ifndef DAT_DAT_H
#define DAT_DAT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <spur/error.h>

#include "base/arena.h"
#include "base/buf.h"
#include "ring/ring.h"

/* What every file begins with. */
#define DAT_MAGIC      "\x17\x08\x44tracing"
#define DAT_MAGIC_SIZE (sizeof(DAT_MAGIC) - 1)

enum dat_option_id {
	DAT_OPT_DONE = 0,
	DAT_OPT_DATE = 1,
	DAT_OPT_CPUSTAT = 2,
	DAT_OPT_BUFFER = 3,
	DAT_OPT_TRACECLOCK = 4,
	DAT_OPT_UNAME = 5,
	DAT_OPT_HOOK = 6,
	DAT_OPT_OFFSET = 7,
	DAT_OPT_CPUCOUNT = 8,
	DAT_OPT_VERSION = 9,
	DAT_OPT_PROCMAPS = 10,
	DAT_OPT_TRACEID = 11,
	DAT_OPT_TIME_SHIFT = 12,
	DAT_OPT_GUEST = 13,
	DAT_OPT_TSC2NSEC = 14,
	DAT_OPT_STRINGS = 15,
	DAT_OPT_HEADER_INFO = 16,
	DAT_OPT_FTRACE_EVENTS = 17,
	DAT_OPT_EVENT_FORMATS = 18,
	DAT_OPT_KALLSYMS = 19,
	DAT_OPT_PRINTK = 20,
	DAT_OPT_CMDLINES = 21,
	DAT_OPT_BUFFER_TEXT = 22,
	DAT_OPT_BTF_FILE = 23,
	DAT_OPT_LAST_BOOT_INFO = 24,
	DAT_OPT_MODULES_FILE = 25,
	DAT_OPT_REGIONS = 0x5350,  /* of spur's own, while a file is being written: unfinished.h */
	DAT_OPT_TASKS = 0x5354,	   /* of spur's own: options.c */
	DAT_OPT_FOLLOWED = 0x5346, /* of spur's own: options.c */
	DAT_OPT_FILTERS = 0x5345,  /* of spur's own: options.c */
	DAT_OPT_HIDDEN = 0x5348,   /* of spur's own: options.c */
	DAT_OPT_CUT = 0x5351,	   /* of spur's own, when the recorder was killed: options.c */
};

/* Bytes of the file that have been read (and decompressed) into memory. */
struct dat_blob {
	const uint8_t *data; /* never NULL; followed by a NUL that size does not count */
	size_t size;
	uint64_t offset; /* in the file, of the stored form */
};

struct dat_option {
	uint16_t id;	  /* enum dat_option_id, or one this version does not know */
	uint64_t section; /* offset of its section; 0 in version 6 */
	struct dat_blob data;
};

/* A version 7 section's header. */
struct dat_section {
	uint16_t id;
	uint16_t flags;	      /* DAT_SECTION_COMPRESSED */
	uint32_t description; /* offset in the strings */
	uint64_t size;	      /* as stored, without the header; may reach over the file's end */
	uint64_t full_size;   /* of a compressed one that is not trace data: uncompressed */
	uint64_t offset;      /* of the header */
	uint64_t next;	      /* of options: the offset of the next options, 0 for none */
	bool ended;	      /* of options: their end was found */
};
#define DAT_SECTION_COMPRESSED 1
#define DAT_SECTION_HEADER     16 /* bytes of a section's header in the file */

struct dat_format {
	const char *system; /* "ftrace" for ftrace's own events */
	struct dat_blob text;
};

struct dat_system {
	const char *name;
	uint32_t nr_formats; /* that the file says follow */
};

struct dat_page;

/* Pages that come from elsewhere than the file: those of a trace that is still being recorded. */
struct dat_feed {
	/* 1: the page, 0: that page does not exist yet. It and the page before it stay valid. */
	int (*get)(struct dat_feed *f, uint64_t index, struct dat_page *page);
};

/* The trace data of one CPU. */
struct dat_cpu {
	uint32_t cpu;
	uint64_t offset;
	uint64_t size;		   /* as stored in the file, cut to what the file has */
	uint64_t claimed_size;	   /* what the file says */
	struct dat_chunks *chunks; /* compressed data's index, grown on demand; locked inside */
	struct dat_feed *feed;	   /* where pages come from instead of the file, or NULL */
};

/* A time correction between machines: valid from `time` on, ts * scaling >> fraction + offset. */
struct dat_time_sample {
	uint64_t time;
	int64_t offset;
	uint64_t scaling;
	uint64_t fraction;
};

struct dat_time_shift {
	uint64_t peer_trace_id;
	uint32_t flags;
	uint32_t nr_cpus;
	struct {
		struct dat_time_sample *samples; /* by increasing time */
		uint32_t nr;
	} * cpus;
};

struct dat_guest {
	const char *name;
	uint64_t trace_id;
	uint32_t nr_cpus;
	struct {
		uint32_t cpu;
		int32_t pid; /* of the host's task that runs it */
	} * cpus;
};

/* What is mapped where in a process that was traced. */
struct dat_map {
	uint64_t start, end;
	const char *path;
};

struct dat_process {
	int32_t pid;
	const char *name;
	struct dat_map *maps; /* by increasing start */
	uint32_t nr;
};

/* What holds for a task from a time on, see options.c. */
enum dat_task_kind { DAT_TASK_THERE, DAT_TASK_NEW, DAT_TASK_CHANGED };

struct dat_task {
	uint64_t ts; /* of the ring buffer; of DAT_TASK_THERE it means nothing */
	int32_t pid;
	int32_t tgid, ppid; /* 0: not known */
	uint32_t order;	    /* its place in the option */
	enum dat_task_kind kind;
	const char *name;
};

struct dat_buffer {
	const char *name;	/* "" for the top one */
	const char *clock;	/* "local", … or "" when the file does not say */
	const char *clock_text; /* version 6: as it stands after the table of CPUs, or "" */
	bool text;		/* a latency trace: ASCII instead of pages */
	bool compressed;
	bool recovered;	    /* nothing in the file describes it: numbers of CPUs are guesses */
	uint32_t page_size; /* 0 when the file has no usable one; its pages cannot be read then */
	uint64_t offset;    /* of its section, or of version 6's "flyrecord"; of text itself in 6 */
	struct ring_layout layout;
	struct dat_cpu *cpus;
	uint32_t nr_cpus;
	struct dat_cpu stored_text; /* of a text: where it is; dat_text_read() reads it */
};

/* Bytes that belong to one place of the file and have not been moved there yet. */
struct dat_moved {
	uint64_t at, size, from;
};

/* Whose events were recorded. */
struct dat_followed {
	bool is;       /* not everybody's */
	bool children; /* also of what these tasks created */
	int32_t *pids; /* sorted; includes those children that the file knows */
	size_t nr;
};

/* The events that were recorded through filters. */
struct dat_filter {
	const char *buffer; /* its name */
	const char *event;  /* "system:event" */
	const char *text;
};

struct dat_filters {
	struct dat_filter *at;
	size_t nr;
};

/* A task of which a buffer has no events; switches only from and to tasks that are not hidden. */
struct dat_hidden_task {
	const char *buffer; /* its name */
	int32_t pid;
};

struct dat_hidden {
	struct dat_hidden_task *at; /* sorted by pid */
	size_t nr;
	uint64_t bits; /* dat_pid_bit() of all of them */
};

#define DAT_CUT_UNKNOWN UINT64_MAX

/* A CPU of a recording whose recorder was killed. */
struct dat_cut_cpu {
	uint32_t buffer; /* its place in the file */
	uint32_t cpu;
	uint64_t last; /* time of its last event, 0: it has none */
	/* Events missing before those that were saved after the kill, or after the overwriting … */
	uint64_t between;
	uint64_t after; /* … and after the last event; DAT_CUT_UNKNOWN for either */
};

enum dat_cut_cause {
	DAT_CUT_KILLED,	   /* the recorder was killed */
	DAT_CUT_UNWRITTEN, /* it could not write further: the disk was full, or the file too long */
	DAT_CUT_OVERWRITTEN, /* another process wrote over the file, so that its begin is lost */
};

struct dat_cut {
	bool is;
	enum dat_cut_cause cause;
	struct dat_cut_cpu *cpus;
	uint32_t nr;
};

#define DAT_NOWHERE UINT64_MAX

/* The first thing found wrong; code 0 when nothing is. */
struct dat_damage {
	int code;	 /* -EBADMSG: contradictory, -ENODATA: cut off */
	uint64_t offset; /* DAT_NOWHERE: it has no place; anything with a place replaces it */
	char text[200];
};

struct dat {
	const char *path;
	int fd;
	uint64_t file_size;
	struct arena arena;
	uint8_t *prefix; /* version 6: the start of the file, into which its blobs point */

	unsigned int version; /* 6 or 7 */
	bool big_endian;
	unsigned int long_size;
	uint32_t page_size;
	const char *compression; /* "none", "zlib", "zstd" */
	const char *compression_version;
	const struct dat_codec *codec; /* NULL for none */

	struct dat_blob header_page, header_event;
	struct dat_format *formats; /* ftrace's first, in the order of the file */
	size_t nr_formats;
	size_t nr_ftrace_formats;
	struct dat_system *systems; /* whose formats follow ftrace's, also those without any */
	size_t nr_systems;
	struct dat_blob kallsyms, printk, cmdlines;
	bool has_header, has_ftrace, has_formats, has_kallsyms, has_printk, has_cmdlines;

	struct dat_option *options; /* in the order of the file, DONE left out */
	size_t nr_options;
	bool has_options; /* version 6: there is a list of options, if only an empty one */
	struct dat_section *sections; /* version 7, by increasing offset */
	size_t nr_sections;
	uint64_t options_offset; /* version 7: of the first options */
	struct dat_blob strings;

	struct dat_buffer *buffers; /* the top one first */
	size_t nr_buffers;
	bool unfinished;  /* it is being written, or its writer died: dat_finish_file() */
	uint32_t nr_cpus; /* of the machine, CPUCOUNT or version 6's header */

	/* What the options say, decoded. Strings are never NULL. */
	const char *uname;
	const char *trace_version;
	const char *clock;   /* the selected one of TRACECLOCK, "" when unknown */
	const char *clocks;  /* TRACECLOCK as stored */
	int64_t date_offset; /* DATE: nanoseconds to add for wall time */
	bool has_date;
	int64_t ts_offset; /* OFFSET */
	bool has_ts_offset;
	uint64_t trace_id;
	struct {
		bool valid;
		uint32_t mult, shift;
		uint64_t offset;
	} tsc2nsec;
	struct dat_time_shift *time_shifts;
	size_t nr_time_shifts;
	struct dat_guest *guests;
	size_t nr_guests;
	struct dat_process *processes; /* PROCMAPS */
	size_t nr_processes;
	struct dat_task *tasks; /* TASKS, by pid and then by time */
	size_t nr_tasks;
	uint64_t tasks_lost; /* changes of tasks that were lost */
	struct dat_cut cut;
	struct dat_followed followed;
	struct dat_filters filters;
	struct dat_hidden hidden;

	struct dat_moved moved; /* of an unfinished file, or of size 0 */
	struct dat_damage damage;
	_Atomic size_t chunk_memory; /* that all dat_pages hold for large chunks */
	pthread_mutex_t lock;	     /* guards damage after opening, and the chunk indexes */
};

struct dat_options {
	size_t metadata_limit; /* 0: 1 GiB */
};

/* Opens a file. On failure *out is NULL and err says why. */
int dat_open(const char *path, const struct dat_options *opt, struct dat **out,
	     struct spur_error *err);

/* The same over an open descriptor, which it takes over. */
int dat_open_fd(int fd, const char *name, const struct dat_options *opt, struct dat **out,
		struct spur_error *err);
void dat_close(struct dat *d);

/* Reports damage found while reading data; only the first one is kept. Thread-safe. */
void dat_note_damage(struct dat *d, int code, uint64_t offset, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* The first option with that id, or NULL. */
const struct dat_option *dat_option_find(const struct dat *d, unsigned int id);

/* The file that is mapped at an address of a process and where it begins, or NULL. */
const char *dat_map_find(const struct dat *d, int32_t pid, uint64_t addr, uint64_t *start);

/* What the file says about a task: n entries in the order of time; NULL for none. */
const struct dat_task *dat_task_find(const struct dat *d, int32_t pid, size_t *n);

/* Whether a task's switches were recorded: it was followed, or all tasks were. */
bool dat_follows(const struct dat *d, int32_t pid);

/* Says in words that only some tasks, or some switches, were recorded; false if all were. */
#define DAT_MISSING_WORDS 400
bool dat_missing_words(const struct dat *d, char text[static DAT_MISSING_WORDS]);

/* Whether an event ("system:event") of a buffer went through a filter. */
bool dat_filtered(const struct dat *d, const char *buffer, const char *event);

/* Whether switches of a task with others may be missing: it and others were hidden. */
bool dat_hides_slow(const struct dat *d, const char *buffer, int32_t pid);

/* One of 64 bits for a pid: a set of bits says quickly that a pid is not in a list. */
static inline uint64_t dat_pid_bit(int32_t pid)
{
	return 1ull << ((uint32_t)pid % 64);
}

static inline bool dat_hides(const struct dat *d, const char *buffer, int32_t pid)
{
	return (d->hidden.bits & dat_pid_bit(pid)) && dat_hides_slow(d, buffer, pid);
}

/* The string a section's description refers to; "" when there is none. */
const char *dat_string(const struct dat *d, uint32_t id);

/* ---- trace data ----------------------------------------------------------------------- */

/*
 * Random access to the pages of one CPU. Each thread opens its own; it reads ahead and keeps one
 * window of the file (or one decompressed chunk), a few hundred kilobytes at most.
 */
struct dat_pages;

struct dat_page {
	const uint8_t *data; /* valid until the next call on the same dat_pages */
	size_t size;	     /* page_size, or less when the file ends inside the page */
	uint64_t offset;     /* of the page, in the file or in the uncompressed data */
};

int dat_pages_open(struct dat *d, const struct dat_buffer *b, const struct dat_cpu *cpu,
		   struct dat_pages **out);
void dat_pages_close(struct dat_pages *p);

/*
 * The same for one of several readers that take turns. Each reads a whole window at once; pages of
 * large chunks are -E2BIG, which is no damage.
 */
int dat_pages_open_small(struct dat *d, const struct dat_buffer *b, const struct dat_cpu *cpu,
			 struct dat_pages **out);

/* 1: the page, 0: there is none of that number, negative: it cannot be read (noted as damage). */
int dat_pages_get(struct dat_pages *p, uint64_t index, struct dat_page *page);

/*
 * An upper bound of the number of pages, cheap: for progress and for choosing slices. Of compressed
 * data it assumes that no chunk is larger than the first, or than trace-cmd makes them.
 */
uint64_t dat_pages_estimate(const struct dat_pages *p);

/* The number of bytes of all pages; exact, but it has to walk over compressed data's chunks. */
int dat_pages_bytes(struct dat_pages *p, uint64_t *bytes);

/*
 * Reads stored text (a latency buffer) piece by piece: bytes read, which may be fewer than n, 0 at
 * the end, negative errno. pos counts bytes of the text.
 */
int64_t dat_text_read(struct dat *d, const struct dat_buffer *b, uint64_t pos, void *to, size_t n);

/* ---- recordings that ended before their time: struct dat_cut ---- */

/* What happened, for the middle of a sentence: "the recorder was killed". */
const char *dat_cut_why(const struct dat_cut *cut);

/* Appends the option's bytes. */
void dat_cut_put(const struct dat_cut *cut, bool big_endian, struct buf *to);

/* How many events are missing; false when that is not known of all CPUs. */
bool dat_cut_missing(const struct dat_cut *cut, uint64_t *missing);

/* Whether events of a CPU may be missing after its last one. */
bool dat_cut_lacks_end(const struct dat *d, const struct dat_buffer *b, uint32_t cpu);

/* A time as people read it: seconds of the trace's time, or ticks of its clock. */
const char *dat_cut_time(const struct dat *d, uint64_t ts, char *text, size_t cap);

#endif
