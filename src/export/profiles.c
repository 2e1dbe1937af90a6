// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Formats of profiles: the stacks of a job's traces, merged and weighted, as folded text and as
 * pprof's protobuf.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "base/error.h"
#include "base/map.h"
#include "base/proto.h"
#include "base/strings.h"
#include "base/vec.h"
#include "export/reader.h"
#include "scan/identity.h"
#include "export/export.h"
#include "stats/flame.h"

/* ---- weighted stacks ------------------------------------------------------------------ */

struct weighted_stacks {
	struct flame flame;
	enum flame_from from;
	bool nanoseconds; /* values are times */
	const char *unit; /* "nanoseconds", "samples", "calls" or the name of a field */
};

/* What to read, how to weigh it, what to put at the root. */
static const struct export_setting_info profile_settings[] = {
	{"from", "samples, stacks or calls; the default is what the trace has"},
	{"weight", "count; of calls time or oncpu; offcpu; or a field of the events"},
	{"by", "task or cpu: what is at the root"},
	{"event", "only stacks of this event, system:event"},
	{NULL, NULL},
};

static int wrong(const char *setting, const char *value, struct spur_error *err)
{
	return error_set(err, -EINVAL, "%s=%s is not one of the words it may be", setting, value);
}

static void read_weight(const char *weight, struct flame_wanted *w)
{
	if (strcmp(weight, "offcpu") == 0) {
		w->weight = FLAME_OFF_CPU;
	} else if (!flame_weight_named(weight, &w->weight)) {
		w->weight = FLAME_FIELD;
		w->field = weight;
	}
}

static int read_settings(const struct export_job *job, struct flame_wanted *w,
			 struct pattern *event, struct spur_error *err)
{
	const char *from = export_setting(job, "from"), *weight = export_setting(job, "weight");
	const char *by = export_setting(job, "by"), *name = export_setting(job, "event");

	if (from && !flame_from_named(from, &w->from))
		return wrong("from", from, err);
	if (weight)
		read_weight(weight, w);
	w->by_task = by && strcmp(by, "task") == 0;
	w->by_cpu = by && strcmp(by, "cpu") == 0;
	if (by && !w->by_task && !w->by_cpu)
		return wrong("by", by, err);
	if (w->weight == FLAME_OFF_CPU && !name)
		name = "sched:sched_switch";
	if (!name)
		return 0;
	w->events = event;
	w->nr_events = 1;
	return pattern_glob(event, name, strlen(name), err);
}

static void set_unit(struct weighted_stacks *p, const struct export_job *job,
		     const struct flame_wanted *w)
{
	const struct spur_trace *t = job->traces[0];
	const bool times =
		(p->from == FLAME_CALLS && w->weight != FLAME_COUNT) || w->weight == FLAME_OFF_CPU;

	p->nanoseconds = times && (!t->nr_buffers || t->buffers[0].nanoseconds);
	if (times)
		p->unit = p->nanoseconds ? "nanoseconds" : "ticks";
	else if (w->weight == FLAME_FIELD)
		p->unit = w->field;
	else
		p->unit = p->from == FLAME_CALLS ? "calls" : "samples";
}

static int read_trace(struct weighted_stacks *p, const struct export_job *job, struct spur_trace *t,
		      struct flame_wanted *w, struct spur_error *err)
{
	struct export_filter filter;
	int rc = export_filter_init(job, t, &filter, &w->walk, err);

	if (rc == 0)
		rc = flame_read(&p->flame, 0, t, w, &p->from, err);
	export_filter_done(&filter);
	return rc;
}

/* Reads the traces. -ENODATA: there are no stacks. The tree is to be freed in any case. */
static int read_stacks(struct weighted_stacks *p, const struct export_job *job,
		       struct spur_error *err)
{
	struct flame_wanted w = {0};
	struct pattern event = {0};
	int rc;

	*p = (struct weighted_stacks){0};
	rc = flame_init(&p->flame, 0, err);
	if (rc == 0)
		rc = read_settings(job, &w, &event, err);
	for (size_t i = 0; rc == 0 && i < job->nr_traces; i++)
		rc = read_trace(p, job, job->traces[i], &w, err);
	if (w.nr_events)
		pattern_free(&event);
	if (rc == 0)
		flame_finish(&p->flame);
	if (rc == 0 && !p->flame.stacks[0])
		rc = export_no_stacks(job, err);
	set_unit(p, job, &w);
	return rc;
}

/* ---- folded text ---------------------------------------------------------------------- */

static int run_folded(const struct export_job *job, struct spur_error *err)
{
	struct weighted_stacks p;
	int rc = read_stacks(&p, job, err);

	if (rc == 0)
		flame_folded_put(&p.flame, false, &job->out->buf);
	flame_free(&p.flame);
	return rc;
}

const struct export_format export_folded = {
	.name = "folded",
	.about = "stacks as text, \"outer;inner 42\": flamegraph.pl, speedscope",
	.suffix = ".folded",
	.kind = EXPORT_STREAM,
	.settings = profile_settings,
	.run = run_folded,
};

/* ---- pprof ---------------------------------------------------------------------------- */

/*
 * pprof's profiles: a protobuf message (profile.proto), compressed as gzip does it.
 *
 * Every frame that has a value of its own is a sample, with the frames that led to it. Names are
 * kept once: a function and a location have the number of their name. The parts of the message are
 * written as they come; the table of names comes last.
 */

enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION,
	PROFILE_STRINGS,
	PROFILE_TIME = 9,
	PROFILE_DURATION,
	PROFILE_PERIOD_TYPE,
	PROFILE_PERIOD
};
enum { VALUE_TYPE = 1, VALUE_UNIT };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES };
enum { LOCATION_ID = 1, LOCATION_LINE = 4, LINE_FUNCTION = 1 };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME };

#define GZIP_WINDOW   (15 + 16) /* zlib's way to ask for gzip's head */
#define MESSAGE_BYTES (1u << 20)

struct writer {
	struct export_stream *out;
	z_stream z;
	struct buf message;	  /* what is not compressed yet */
	struct map numbers;	  /* of names: by pointer, the number + 1 */
	struct string_refs names; /* by number, 0 is "" */
	int rc;
};

/* ---- compression ---------------------------------------------------------------------- */

static void compress_message(struct writer *w, int flush)
{
	uint8_t block[16 << 10];

	w->z.next_in = (uint8_t *)w->message.data;
	w->z.avail_in = (uInt)w->message.len;
	do {
		w->z.next_out = block;
		w->z.avail_out = sizeof(block);
		deflate(&w->z, flush);
		buf_put(&w->out->buf, block, sizeof(block) - w->z.avail_out);
		export_stream_flush_full(w->out);
	} while (w->z.avail_out == 0);
	buf_reset(&w->message);
}

static void turn(struct writer *w)
{
	if (w->message.len >= MESSAGE_BYTES / 2)
		compress_message(w, Z_NO_FLUSH);
}

/* ---- names ---------------------------------------------------------------------------- */

/* Equal names of a tree are one pointer. */
static uint64_t name_number(struct writer *w, const char *name)
{
	const uint64_t key = (uint64_t)(uintptr_t)name;
	void *known = map_get(&w->numbers, key);

	if (known)
		return (uint64_t)(uintptr_t)known - 1;
	if (!string_refs_add(&w->names, name) ||
	    !map_set(&w->numbers, key, (void *)(uintptr_t)w->names.n)) {
		w->rc = -ENOMEM;
		return 0;
	}
	return w->names.n - 1;
}

static void put_names(struct writer *w)
{
	vec_each (name, &w->names) {
		proto_text(&w->message, PROFILE_STRINGS, *name, strlen(*name));
		turn(w);
	}
}

/* ---- parts of the message ------------------------------------------------------------- */

static void put_value_type(struct writer *w, uint32_t field, const char *type, const char *unit)
{
	const uint64_t type_number = name_number(w, type), unit_number = name_number(w, unit);
	const size_t at = proto_begin(&w->message, field);

	proto_number(&w->message, VALUE_TYPE, type_number);
	proto_number(&w->message, VALUE_UNIT, unit_number);
	proto_end(&w->message, at);
}

static void put_sample(struct writer *w, const struct flame_node *n)
{
	const size_t sample = proto_begin(&w->message, PROFILE_SAMPLE);
	size_t at = proto_begin(&w->message, SAMPLE_LOCATIONS);

	for (const struct flame_node *f = n; f->parent; f = f->parent)
		proto_varint(&w->message, name_number(w, f->name));
	proto_end(&w->message, at);
	at = proto_begin(&w->message, SAMPLE_VALUES);
	proto_varint(&w->message, n->self[0]);
	proto_end(&w->message, at);
	proto_end(&w->message, sample);
	turn(w);
}

static void put_function(struct writer *w, uint64_t number)
{
	size_t at = proto_begin(&w->message, PROFILE_FUNCTION), line;

	proto_number(&w->message, FUNCTION_ID, number);
	proto_number(&w->message, FUNCTION_NAME, number);
	proto_number(&w->message, FUNCTION_SYSTEM_NAME, number);
	proto_end(&w->message, at);
	at = proto_begin(&w->message, PROFILE_LOCATION);
	proto_number(&w->message, LOCATION_ID, number);
	line = proto_begin(&w->message, LOCATION_LINE);
	proto_number(&w->message, LINE_FUNCTION, number);
	proto_end(&w->message, line);
	proto_end(&w->message, at);
	turn(w);
}

static void put_profile(struct writer *w, const struct weighted_stacks *p,
			const struct identity *id)
{
	const char *type = p->nanoseconds ? "time" : p->unit;
	const char *unit = p->nanoseconds || strcmp(p->unit, "ticks") == 0 ? p->unit : "count";

	name_number(w, "");
	put_value_type(w, PROFILE_SAMPLE_TYPE, type, unit);
	put_value_type(w, PROFILE_PERIOD_TYPE, type, unit);
	proto_number(&w->message, PROFILE_PERIOD, 1);
	if (id->has_wall)
		proto_number(&w->message, PROFILE_TIME, id->first);
	proto_number(&w->message, PROFILE_DURATION, id->last - id->first);
	for (const struct flame_node *n = flame_next(p->flame.root); n; n = flame_next(n))
		if (n->self[0])
			put_sample(w, n);
	/* Names that are no function's do no harm as one. */
	for (uint64_t i = 1; i < w->names.n; i++)
		put_function(w, i);
	put_names(w);
	compress_message(w, Z_FINISH);
}

static int run_pprof(const struct export_job *job, struct spur_error *err)
{
	struct writer w = {.out = job->out};
	struct weighted_stacks p;
	struct identity id;
	int rc = read_stacks(&p, job, err);

	if (rc == 0)
		rc = identity_make(&id, job->traces[0], err);
	if (rc == 0 && deflateInit2(&w.z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8,
				    Z_DEFAULT_STRATEGY) != Z_OK)
		rc = error_set(err, -ENOMEM, "out of memory");
	if (rc == 0) {
		buf_init(&w.message, MESSAGE_BYTES);
		put_profile(&w, &p, &id);
		if (w.rc < 0 || buf_full(&w.message))
			rc = error_set(err, -ENOMEM, "out of memory");
		deflateEnd(&w.z);
		buf_free(&w.message);
	}
	map_free(&w.numbers);
	vec_free(&w.names);
	flame_free(&p.flame);
	return rc;
}

const struct export_format export_pprof = {
	.name = "pprof",
	.about = "stacks, samples and calls for pprof",
	.suffix = ".pb.gz",
	.kind = EXPORT_STREAM,
	.settings = profile_settings,
	.run = run_pprof,
};
