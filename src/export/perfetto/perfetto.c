// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Perfetto's trace format: a protobuf of packets that ui.perfetto.dev and trace_processor open.
 *
 * Every record becomes an event of a bundle (events.c). Perfetto itself makes from these: slices of
 * CPUs, states of tasks, interrupts, system calls, functions. Stacks are samples, losses are flags
 * of bundles and instants on a track of their own. Unknown times of a CPU are slices on a separate
 * track.
 *
 * Perfetto assumes that times of ftrace are those of CLOCK_BOOTTIME. So the trace's clock gets that
 * name, whatever it is. A snapshot at the start has the times of other clocks, if known. Several
 * traces become several machines.
 */
#include "export/perfetto/perfetto.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"
#include "export/reader.h"
#include "scan/identity.h"
#include "table/overview.h"
#include "table/sched.h"
#include "table/stacks.h"
#include "export/export.h"

#define KINDS_LIMIT    (64u << 20)
#define TASKS_LIMIT    (64u << 20)
#define INTERNED_LIMIT (64u << 20)

enum { TRACE_PACKET = 1 };
/* ClockSnapshot */
enum { SNAPSHOT_CLOCK = 1, SNAPSHOT_PRIMARY = 2, CLOCK_ID = 1, CLOCK_TIME = 2 };
enum {
	CLOCK_IS_REALTIME = 1,
	CLOCK_IS_MONOTONIC = 3,
	CLOCK_IS_MONOTONIC_RAW = 5,
	CLOCK_IS_BOOTTIME = 6,
	CLOCK_IS_TSC = 9,
	CLOCK_IS_PERF = 10,
};
/* SystemInfo */
enum { SYSTEM_UTSNAME = 1, SYSTEM_CPUS = 8 };
enum { UTSNAME_SYSNAME = 1, UTSNAME_RELEASE = 3, UTSNAME_MACHINE = 4 };
/* TrackDescriptor, TrackEvent, DebugAnnotation */
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PARENT = 5 };
enum { EVENT_NOTE = 4, EVENT_TYPE = 9, EVENT_TRACK = 11, EVENT_NAME = 23 };
enum { IS_BEGIN = 1, IS_END = 2, IS_INSTANT = 3 }; /* types of track events */
enum { NOTE_NUMBER = 4, NOTE_TEXT = 6, NOTE_NAME = 10 };

#define LOSSES_TRACK  0x6c6f7373ull /* with the machine's number, which makes it unique */
#define UNKNOWN_TRACK 0x756eull	    /* with the numbers of the machine and of the track */
#define TRACKS_LIMIT  (16u << 20)
/* What an unknown track is of: with the buffer's number, a task's or a CPU's. */
#define OF_CPU	     (1ull << 63)
#define OF_ALL_TASKS (1ull << 62)

size_t packet_begin(struct perfetto *p, uint32_t sequence)
{
	const size_t start = proto_begin(&p->out->buf, TRACE_PACKET);

	proto_number(&p->out->buf, PACKET_SEQUENCE, sequence);
	if (p->machine)
		proto_number(&p->out->buf, PACKET_MACHINE, p->machine);
	return start;
}

void packet_end(struct perfetto *p, size_t start)
{
	proto_end(&p->out->buf, start);
}

/* ---- what comes first ----------------------------------------------------------------- */

static void put_clock(struct buf *b, unsigned int id, uint64_t ts)
{
	const size_t start = proto_begin(b, SNAPSHOT_CLOCK);

	proto_number(b, CLOCK_ID, id);
	proto_number(b, CLOCK_TIME, ts);
	proto_end(b, start);
}

/* The number of the trace's own clock; 0: Perfetto has none for it. */
static unsigned int clock_id(const char *name)
{
	static const struct {
		const char *name;
		unsigned int id;
	} clocks[] = {{"mono", CLOCK_IS_MONOTONIC},
		      {"mono_raw", CLOCK_IS_MONOTONIC_RAW},
		      {"perf", CLOCK_IS_PERF},
		      {"x86-tsc", CLOCK_IS_TSC}};

	for (size_t i = 0; i < ARRAY_SIZE(clocks); i++)
		if (strcmp(name, clocks[i].name) == 0)
			return clocks[i].id;
	return 0;
}

static void put_clocks(struct perfetto *p, const struct identity *id)
{
	struct buf *b = &p->out->buf;
	const uint64_t date = id->has_wall ? (uint64_t)p->trace->dat->date_offset : 0;
	const uint64_t now = p->first + p->shift;
	const size_t packet = packet_begin(p, p->next_sequence);
	size_t start;

	proto_number(b, PACKET_TIME, p->first);
	start = proto_begin(b, PACKET_CLOCKS);
	put_clock(b, CLOCK_IS_BOOTTIME, p->first);
	if (clock_id(id->clock))
		put_clock(b, clock_id(id->clock), now - date);
	if (id->has_wall)
		put_clock(b, CLOCK_IS_REALTIME, now);
	proto_number(b, SNAPSHOT_PRIMARY, CLOCK_IS_BOOTTIME);
	proto_end(b, start);
	packet_end(p, packet);
}

static void put_word(struct buf *b, uint32_t field, const char *text, int n)
{
	size_t len;

	text = identity_word(text, n, &len);
	if (len)
		proto_text(b, field, text, len);
}

/* "Linux board7 6.1.0 x86_64": by the machine Perfetto knows what calls' numbers mean. */
static void put_system(struct perfetto *p)
{
	struct buf *b = &p->out->buf;
	const char *uname = p->trace->dat->uname;
	const size_t packet = packet_begin(p, p->next_sequence);
	size_t start, names;

	proto_number(b, PACKET_TIME, p->first);
	start = proto_begin(b, PACKET_SYSTEM);
	if (*uname) {
		names = proto_begin(b, SYSTEM_UTSNAME);
		put_word(b, UTSNAME_SYSNAME, uname, 0);
		put_word(b, UTSNAME_RELEASE, uname, 2);
		put_word(b, UTSNAME_MACHINE, uname, 3);
		proto_end(b, names);
	}
	proto_number(b, SYSTEM_CPUS, p->trace->dat->nr_cpus);
	proto_end(b, start);
	packet_end(p, packet);
}

/* ---- losses --------------------------------------------------------------------------- */

/* Describes a track, with the first one of its sequence (0: not begun) also that. */
static void put_track(struct perfetto *p, uint32_t *sequence, uint64_t uuid, uint64_t parent,
		      const char *name)
{
	struct buf *b = &p->out->buf;
	const size_t packet = packet_begin(p, *sequence ? *sequence : p->next_sequence);
	size_t start;

	if (!*sequence) {
		*sequence = p->next_sequence++;
		proto_number(b, PACKET_FLAGS, STATE_CLEARED);
		proto_number(b, PACKET_FIRST, true);
	}
	start = proto_begin(b, PACKET_TRACK);
	proto_number(b, TRACK_UUID, uuid);
	proto_text(b, TRACK_NAME, name, strlen(name));
	if (parent)
		proto_number(b, TRACK_PARENT, parent);
	proto_end(b, start);
	packet_end(p, packet);
}

/* The begin of an event of a track, in its packet; both are to be ended. Without a name: NULL. */
static size_t begin_track_event(struct perfetto *p, uint64_t ts, unsigned int type, uint64_t track,
				const char *name)
{
	struct buf *b = &p->out->buf;
	size_t start;

	proto_number(b, PACKET_TIME, perfetto_time(p, ts));
	proto_number(b, PACKET_FLAGS, NEEDS_STATE);
	start = proto_begin(b, PACKET_TRACK_EVENT);
	proto_number(b, EVENT_TYPE, type);
	proto_number(b, EVENT_TRACK, track);
	if (name)
		proto_text(b, EVENT_NAME, name, strlen(name));
	return start;
}

static void put_note(struct buf *b, const char *name, int64_t number)
{
	const size_t start = proto_begin(b, EVENT_NOTE);

	proto_text(b, NOTE_NAME, name, strlen(name));
	proto_number(b, NOTE_NUMBER, (uint64_t)number);
	proto_end(b, start);
}

static void put_loss(struct perfetto *p, const struct lost_row *row)
{
	struct buf *b = &p->out->buf;
	const size_t packet = packet_begin(p, p->losses);
	const size_t start = begin_track_event(p, row->ts, IS_INSTANT,
					       LOSSES_TRACK << 32 | p->machine, "lost events");
	size_t note;

	put_note(b, "cpu", row->cpu);
	if (row->events != ROW_NULL)
		put_note(b, "events", row->events);
	if (row->since != ROW_NULL)
		put_note(b, "since", row->since - (int64_t)p->shift);
	if (row->buffer && *row->buffer) {
		note = proto_begin(b, EVENT_NOTE);
		proto_text(b, NOTE_NAME, "buffer", strlen("buffer"));
		proto_text(b, NOTE_TEXT, row->buffer, strlen(row->buffer));
		proto_end(b, note);
	}
	proto_end(b, start);
	packet_end(p, packet);
}

/*
 * Called right after the first record after the loss. That record has begun a bundle with the mark
 * of the loss, unless a filter has left it out. After a loss at the end there is no record.
 */
static void take_loss(void *arg, const void *row)
{
	struct perfetto *p = arg;
	const struct lost_row *loss = row;

	for (uint32_t i = 0; !lost_at_end(loss) && i < p->trace->nr_buffers; i++) {
		struct stream *s = &p->streams[i];

		if (strcmp(s->name, loss->buffer) == 0 && loss->cpu < PERFETTO_CPUS &&
		    s->bundles[loss->cpu]) {
			s->bundles[loss->cpu]->lost = true;
			break;
		}
	}
	if (!p->losses)
		put_track(p, &p->losses, LOSSES_TRACK << 32 | p->machine, 0, "Lost events");
	put_loss(p, loss);
}

/* ---- CPUs and tasks of which nothing is known ------------------------------------------ */

/* The track of a CPU or task that has such stretches, which is described the first time. */
static uint64_t unknown_track(struct perfetto *p, uint64_t of, uint64_t parent, const char *name)
{
	const uint64_t all = UNKNOWN_TRACK << 48 | (uint64_t)p->machine << 32;
	uint64_t *number = slots_get(&p->unknown_tracks, of);

	/* Without memory they share a track that has no name. */
	if (!number)
		return all;
	if (!*number) {
		*number = ++p->nr_unknown_tracks;
		put_track(p, &p->unknown, all | *number, parent, name);
	}
	return all | *number;
}

static void put_unknown(struct perfetto *p, uint64_t track, unsigned int type, uint64_t ts)
{
	const size_t packet = packet_begin(p, p->unknown);

	proto_end(&p->out->buf,
		  begin_track_event(p, ts, type, track, type == IS_BEGIN ? "unknown" : NULL));
	packet_end(p, packet);
}

static void put_stretch(struct perfetto *p, uint64_t track, uint64_t ts, int64_t dur)
{
	put_unknown(p, track, IS_BEGIN, ts);
	put_unknown(p, track, IS_END, ts + (uint64_t)dur);
}

static uint64_t buffer_key(const struct perfetto *p, const char *name)
{
	uint64_t buffer = 0;

	while (buffer + 1 < p->trace->nr_buffers && p->streams[buffer].name != name)
		buffer++;
	return buffer << 32;
}

/* Perfetto's own table of slices has no row there, as if the CPU was idle. */
static void take_slice(void *arg, const void *row)
{
	const struct slice_row *s = row;
	struct perfetto *p = arg;
	uint64_t track;
	char name[48];

	if (s->pid != ROW_NULL || s->cpu >= PERFETTO_CPUS)
		return;
	snprintf(name, sizeof(name), "CPU %u: unknown", (unsigned int)s->cpu);
	track = unknown_track(p, OF_CPU | buffer_key(p, s->buffer) | (uint32_t)s->cpu, 0, name);
	put_stretch(p, track, s->ts, s->dur);
}

/* Perfetto's own table of states continues the previous state. */
static void take_state(void *arg, const void *row)
{
	const struct state_row *s = row;
	struct perfetto *p = arg;
	uint64_t track, parent;
	char name[64];

	if (s->state != RUN_UNKNOWN || s->dur <= 0 || s->pid <= 0)
		return;
	parent = unknown_track(p, OF_ALL_TASKS, 0, "Unknown states of tasks");
	snprintf(name, sizeof(name), "%.32s%s%lld: unknown", s->comm ? s->comm : "",
		 s->comm ? "-" : "", (long long)s->pid);
	track = unknown_track(p, buffer_key(p, s->buffer) | (uint32_t)s->pid, parent, name);
	put_stretch(p, track, s->ts, s->dur);
}

/* ---- a trace -------------------------------------------------------------------------- */

static void note_limits(const struct perfetto *p)
{
	const char *path = p->trace->dat->path;

	if (p->trace->nr_buffers && !p->trace->buffers[0].nanoseconds)
		export_note(p->job,
			    "%s: its clock does not count nanoseconds; Perfetto takes it so", path);
	if (p->left_out)
		export_note(p->job, "%s: Perfetto takes %d CPUs; events of the others are left out",
			    path, PERFETTO_CPUS);
}

static int begin(struct perfetto *p, struct spur_error *err)
{
	const struct spur_trace *t = p->trace;
	struct identity id;
	int rc = identity_make(&id, p->trace, err);

	if (rc < 0)
		return rc;
	p->begun = true;
	reader_init(&p->reader, t);
	arena_init(&p->arena, KINDS_LIMIT);
	slots_init(&p->tasks, sizeof(struct task_note), TASKS_LIMIT);
	slots_init(&p->unknown_tracks, sizeof(uint64_t), TRACKS_LIMIT);
	p->kinds = calloc(t->events->nr + 1, sizeof(struct event_kind *));
	p->streams = calloc((size_t)t->nr_buffers + 1, sizeof(*p->streams));
	if (!p->kinds || !p->streams)
		return error_set(err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < t->nr_buffers; i++) {
		struct stream *s = &p->streams[i];

		s->sequence = p->next_sequence++;
		s->name = t->buffers[i].data->name;
		s->interned.is_first = s->interned.restated = true;
		buf_init(&s->interned.data, INTERNED_LIMIT);
	}
	if (id.has_wall && p->job->nr_traces == 1)
		p->shift = (uint64_t)t->dat->date_offset;
	p->first = (id.first > p->job->walk.since ? id.first : p->job->walk.since) - p->shift;
	put_clocks(p, &id);
	put_system(p);
	p->next_sequence++;
	return 0;
}

static void end(struct perfetto *p)
{
	perfetto_samples_free(p);
	streams_free(p);
	perfetto_kinds_free(p);
	slots_free(&p->tasks);
	slots_free(&p->unknown_tracks);
	vec_free(&p->all_tasks);
	reader_done(&p->reader);
}

static int write_trace(struct perfetto *p, struct spur_error *err)
{
	struct export_table wanted[4] = {{&lost_table, take_loss}};
	struct export_reader pass = {.trace = p->trace,
				     .tables = wanted,
				     .nr_tables = 1,
				     .record = perfetto_record,
				     .arg = p,
				     .failed = &p->failed,
				     .brief = true,
				     .nameless = true};
	int rc = begin(p, err);

	if (table_possible(&samples_table, p->trace))
		wanted[pass.nr_tables++] = (struct export_table){&samples_table, perfetto_sample};
	if (table_possible(&slices_table, p->trace))
		wanted[pass.nr_tables++] = (struct export_table){&slices_table, take_slice};
	/* Tasks that were only woken are unknown after that. */
	if (table_possible(&states_table, p->trace) || table_possible(&wakeups_table, p->trace))
		wanted[pass.nr_tables++] = (struct export_table){&states_table, take_state};
	if (rc == 0)
		rc = perfetto_owners(p, err);
	if (rc == 0)
		rc = export_reader_run(p->job, &pass, err);
	if (rc == 0) {
		perfetto_records_end(p);
		streams_flush(p);
		perfetto_process_tree(p);
		note_limits(p);
		rc = p->failed;
	}
	if (rc == -ENOMEM && !err->code)
		error_set(err, rc, "out of memory");
	if (p->begun)
		end(p);
	return rc;
}

static int run(const struct export_job *job, struct spur_error *err)
{
	uint32_t sequence = 1;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < job->nr_traces; i++) {
		struct perfetto p = {.job = job,
				     .trace = job->traces[i],
				     .out = job->out,
				     .machine = (uint32_t)i,
				     .next_sequence = sequence};

		rc = write_trace(&p, err);
		sequence = p.next_sequence;
	}
	return rc;
}

const struct export_format export_perfetto = {
	.name = "perfetto",
	.about = "a trace for ui.perfetto.dev",
	.suffix = ".pftrace",
	.kind = EXPORT_STREAM,
	.run = run,
};
