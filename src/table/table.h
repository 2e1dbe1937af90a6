/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tables: rows that analyses make from records.
 *
 * A row is a C struct. Code that knows the table reads its members. Other code (SQL, exporters)
 * uses the columns, which say where in the struct a value is. Times are on the trace's time line,
 * durations in nanoseconds. A number that is not known is ROW_NULL, a text NULL. A value that is
 * one of a few names is an enum, which the column shows as text.
 *
 * What a trace does not show is never guessed. What had begun before the trace (or before a loss of
 * events), or had not ended when the trace (or the loss) came to its end, gets a row whose `open`
 * says which end is missing. The time of a missing end is that of the border.
 *
 * An analysis reads the records of one buffer in time order and hands out rows when they are
 * complete, not sorted by their start. Texts in rows live as long as the analysis, unless the row's
 * own comment says otherwise.
 */
#ifndef TABLE_TABLE_H
#define TABLE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "scan/trace.h"

#define ROW_NULL INT64_MIN

/* The sum of two durations, limited to 64 bits: an untrusted file may have any values. */
static inline int64_t ns_add(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return a < 0 ? INT64_MIN + 1 : INT64_MAX;
	return sum;
}

/* The sum of two times or counts, limited to 64 bits. */
static inline uint64_t u64_add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* The time from one moment to another; 0 if it would be negative. */
static inline int64_t ns_span(uint64_t from, uint64_t to)
{
	if (to <= from)
		return 0;
	return to - from > INT64_MAX ? INT64_MAX : (int64_t)(to - from);
}

/* The end of a row with this begin and duration; without a duration, its begin. */
static inline uint64_t row_end_of(uint64_t ts, int64_t dur)
{
	return dur > 0 ? u64_add(ts, (uint64_t)dur) : ts;
}

/* Values of `open` columns: which end is not known. A bit for each end. */
enum row_open {
	ROW_WHOLE, /* both ends are known */
	ROW_OPEN_START,
	ROW_OPEN_END,
	ROW_OPEN_BOTH,
};
extern const char *const row_open_names[]; /* NULL, "start", "end", "both" */

static inline enum row_open row_open_ends(bool start, bool end)
{
	return (enum row_open)((start ? ROW_OPEN_START : 0) | (end ? ROW_OPEN_END : 0));
}

enum column_type {
	COLUMN_NUMBER,	 /* int64_t, ROW_NULL: none */
	COLUMN_TIME,	 /* uint64_t: on the trace's time line */
	COLUMN_DURATION, /* int64_t of nanoseconds, ROW_NULL: not known */
	COLUMN_TEXT,	 /* const char *, NULL: none */
	COLUMN_NAME,	 /* an enum; shown as a text, its name */
};

struct column {
	const char *name;
	enum column_type type;
	uint32_t offset; /* in the row */
	const char *about;
	const char *const *names; /* of COLUMN_NAME, by value; a NULL is shown as none */
};

/* Defines the column of a struct's member; and of one whose values have names. */
#define ROW_COLUMN(row, kind, member, about)                                                       \
	{                                                                                          \
#member, COLUMN_##kind, offsetof(struct row, member), about, NULL                  \
	}
#define ROW_NAMES(row, member, names, about)                                                       \
	{                                                                                          \
#member, COLUMN_NAME, offsetof(struct row, member), about, names                   \
	}

struct table_source;
struct walk_evidence;

#define TABLE_BATCH 64 /* records that are given at once, at most */

struct table_record {
	struct event *event;
	struct spur_record record;
};

/* A table: its columns, the events it is made from, and the functions that make it. */
struct table {
	const char *name;
	const char *about;
	const struct column *columns;
	uint32_t nr_columns;
	uint32_t row_size;
	/* The column whose texts are valid only until the next record is read; NULL: none. */
	const char *passing;

	/*
	 * "system:event" globs of the records it is made from, up to a NULL. `needs`, for messages:
	 * without at least one of these events there are no rows; NULL: none.
	 */
	const char *const *events;
	const char *const *needs;
	/*
	 * Whether the table also needs the records of an event, by its format. Such an event also
	 * satisfies `needs`.
	 */
	bool (*wants)(const struct event *e);

	/*
	 * A row does not depend on records more than `looks_back` ns before its `ts`: if rows
	 * from a time on are wanted, reading starts so long before that time.
	 */
	bool starts_anywhere;
	uint32_t looks_back;

	/*
	 * Begins an analysis of one buffer, in zeroed memory of this size. 0 or -ENOMEM; free() is
	 * called in any case. It need not free the memory itself, and may be NULL.
	 */
	size_t analysis_size;
	int (*begin)(void *analysis, const struct table_source *src);
	void (*free)(void *analysis);
	/* Processes a record of one of the events, which has been made ready; NULL: it has none. */
	void (*record)(void *analysis, struct event *e, const struct spur_record *r);
	/*
	 * The same for several consecutive records, 0 < n <= TABLE_BATCH; for tables of all events.
	 * NULL: record() is called for each.
	 */
	void (*records)(void *analysis, const struct table_record *all, uint32_t n);
	/*
	 * Records were lost on a CPU between `from` (its last record's time, 0: there was none) and
	 * `to`, the time of the first one after the loss, both of any type; called at that
	 * time, before the record if it is one of the table's. May be NULL.
	 */
	void (*lost)(void *analysis, uint32_t cpu, uint64_t from, uint64_t to);
	/*
	 * The same, called after the last record before the loss: what other CPUs recorded between
	 * `from` and `to` comes afterwards. May be NULL.
	 */
	void (*losing)(void *analysis, uint32_t cpu, uint64_t from, uint64_t to);
	/*
	 * The recording was cut: all records of a CPU after `from` are missing. `from` is the time
	 * of its last record, or the trace's start if it has none. Called at that time. May be
	 * NULL.
	 */
	void (*cut)(void *analysis, uint32_t cpu, uint64_t from);
	/*
	 * A record of any type shows who runs, and that does not follow from the switches before
	 * it. Called before the record, if it is one of the table's. See walk.h. If this is NULL,
	 * records that the table does not want are not read.
	 */
	void (*evidence)(void *analysis, const struct walk_evidence *e);
	/* After the last record: returns the rows that are still open. May be NULL. */
	void (*end)(void *analysis, uint64_t ts);
	/*
	 * Whether rows that begin at or before this time may still come, after all records of that
	 * time. Reading ends early if no such rows are pending. NULL: they may come.
	 */
	bool (*pending)(const void *analysis, uint64_t ts);
};

/* Begins and frees an analysis; NULL without memory. */
void *table_begin(const struct table *t, const struct table_source *src);
void table_free(const struct table *t, void *analysis);

/* The context of an analysis: given to begin(), valid until free(). */
struct table_source {
	const struct table *table;
	struct spur_trace *trace;
	const struct trace_buffer *buffer;
	uint64_t since; /* it gets no records before this time; 0: all */
	/*
	 * The caller does not read the columns comm (except those of scheduling) and args, which
	 * take long to make. They may be empty.
	 */
	bool brief;
	/*
	 * The same for comm alone, for which a trace may have to be read in advance. That is too
	 * expensive for the few rows of a short range of time.
	 */
	bool nameless;
	const volatile int *stop; /* for walks in advance: as in struct walk_options */
	/* Gets a row of the table; must copy what it needs later. */
	void (*row)(void *arg, const void *row);
	void *arg;
	/*
	 * An analysis sets this if it cannot continue, which ends the reading: -ENOMEM, or -E2BIG
	 * if the trace has more than it may store.
	 */
	int *failed;
};

/* All tables except those of event types, up to a NULL; and one by its name. */
extern const struct table *const tables[];
const struct table *table_find(const char *name);

/* Whether the trace has the events without which the table stays empty. */
bool table_possible(const struct table *t, const struct spur_trace *trace);

/* Whether its values are shown as texts. */
static inline bool row_is_text(const struct column *c)
{
	return c->type >= COLUMN_TEXT;
}

/* The value of a number, time or duration column. */
static inline int64_t row_number(const struct column *c, const void *row)
{
	int64_t v;

	memcpy(&v, (const char *)row + c->offset, sizeof(v));
	return v;
}

/* The value of a column that is shown as text. */
static inline const char *row_text(const struct column *c, const void *row)
{
	const char *at = (const char *)row + c->offset, *text;
	unsigned int value;

	if (c->type == COLUMN_NAME) {
		memcpy(&value, at, sizeof(value));
		return c->names[value];
	}
	memcpy(&text, at, sizeof(text));
	return text;
}

#endif
