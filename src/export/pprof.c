// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pprof's profiles: a protobuf message (profile.proto), compressed as gzip does it.
 *
 * Every frame that has a value of its own is a sample, with the frames that led to it. Names are
 * kept once: a function and a location have the number of their name. The parts of the message are
 * written as they come; the table of names comes last.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/error.h"
#include "base/map.h"
#include "base/proto.h"
#include "base/vec.h"
#include "export/formats.h"
#include "scan/identity.h"
#include "export/weighed.h"

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
	struct outlet *out;
	z_stream z;
	struct buf message; /* what is not compressed yet */
	struct map numbers; /* of names: by pointer, the number + 1 */
	struct {
		const char **at;
		size_t n, cap;
	} names; /* by number, 0 is "" */
	int rc;
};

/* ---- compression ---- */

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
		outlet_turn(w->out);
	} while (w->z.avail_out == 0);
	buf_reset(&w->message);
}

static void turn(struct writer *w)
{
	if (w->message.len >= MESSAGE_BYTES / 2)
		compress_message(w, Z_NO_FLUSH);
}

/* ---- names ---- */

/* Equal names of a tree are one pointer. */
static uint64_t number_of(struct writer *w, const char *name)
{
	const uint64_t key = (uint64_t)(uintptr_t)name;
	void *known = map_get(&w->numbers, key);
	const char **slot;

	if (known)
		return (uint64_t)(uintptr_t)known - 1;
	slot = vec_push(&w->names);
	if (!slot || !map_set(&w->numbers, key, (void *)(uintptr_t)w->names.n)) {
		w->rc = -ENOMEM;
		return 0;
	}
	*slot = name;
	return w->names.n - 1;
}

static void put_names(struct writer *w)
{
	vec_each (name, &w->names) {
		proto_text(&w->message, PROFILE_STRINGS, *name, strlen(*name));
		turn(w);
	}
}

/* ---- parts of the message ---- */

static void put_value_type(struct writer *w, uint32_t field, const char *type, const char *unit)
{
	const uint64_t type_number = number_of(w, type), unit_number = number_of(w, unit);
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
		proto_varint(&w->message, number_of(w, f->name));
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

static void put_profile(struct writer *w, const struct weighed *p, const struct identity *id)
{
	const char *type = p->nanoseconds ? "time" : p->unit;
	const char *unit = p->nanoseconds || strcmp(p->unit, "ticks") == 0 ? p->unit : "count";

	number_of(w, "");
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

static int run(const struct export_job *job, struct spur_error *err)
{
	struct writer w = {.out = job->out};
	struct weighed p;
	struct identity id;
	int rc = weighed_read(&p, job, err);

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
	weighed_free(&p);
	return rc;
}

const struct export_format export_pprof = {
	.name = "pprof",
	.about = "stacks, samples and calls for pprof",
	.suffix = ".pb.gz",
	.kind = EXPORT_STREAM,
	.settings = weighed_settings,
	.run = run,
};
