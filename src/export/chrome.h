/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/export: what the two files of the Chrome export share. */
#ifndef EXPORT_CHROME_H
#define EXPORT_CHROME_H

#include "table/cells.h"
#include "table/analysis.h"
#include "base/json.h"
#include "export/export.h"
#include "export/reader.h"

/*
 * Places are pairs of a "process" and a "thread". CPUs, interrupts and softirqs are processes with
 * a thread for each CPU; a task is a process with a thread for each kind of slices.
 */
enum cpu_place { PLACE_CPUS, PLACE_INTERRUPTS, PLACE_SOFTIRQS, NR_CPU_PLACES };
enum respect { TASK_STATES = 1, TASK_SYSCALLS, TASK_CALLS, TASK_EVENTS };

/* What is known about an event type. */
struct chrome_kind {
	bool ready;
	bool is_slice; /* rows represent it */
	bool is_counter;
	struct number value, cpu; /* of a counter */
	struct cells cells;
};

struct chrome {
	const struct export_job *job;
	struct spur_trace *trace;
	struct export_stream *out;
	uint32_t index;		  /* of the trace */
	uint32_t places;	  /* numbers of places of the previous traces */
	uint64_t start;		  /* written times are relative to this one */
	struct json_writer *json; /* of all traces */
	uint64_t *flows;
	int failed;
	struct reader reader;
	struct arena arena;
	struct chrome_kind **kinds;
	struct slots named; /* places whose name has been written */
	struct slots lanes; /* chrome_rows.c */
	struct intern texts;
	struct {
		struct call_lane **at;
		size_t n, cap;
	} all_lanes;
};

/* Begins an event with the members that all events have; further members and the end follow. */
void chrome_begin(struct chrome *c, const char *name, size_t len, char phase, uint64_t ts,
		  uint64_t pid, uint64_t tid);
void chrome_end(struct chrome *c);
/* Writes the duration of a slice, unless it is unknown. */
void chrome_duration(struct chrome *c, int64_t dur);

/* Times and numbers. Numbers that JavaScript cannot represent become texts. */
void chrome_time(struct json_writer *w, int64_t ns);
void chrome_number(struct json_writer *w, int64_t v, bool is_signed);

/*
 * Chooses the process and thread, separately for each buffer; writes their names before their first
 * event.
 */
uint64_t chrome_place(struct chrome *c, enum cpu_place place, const char *buffer, uint32_t cpu);
uint64_t chrome_task(struct chrome *c, int64_t pid, const char *comm, enum respect respect,
		     const char *buffer, int64_t cpu, uint64_t *tid);

/* ---- chrome_rows.c -------------------------------------------------------------------- */

extern const struct export_table chrome_tables[];
extern const size_t chrome_nr_tables;

extern const size_t chrome_lane_size;

void chrome_calls_end(struct chrome *c);
void chrome_calls_free(struct chrome *c);

#endif
