/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of a script's output share: types of values, and an output into a buffer. */
#ifndef TESTS_OUTPUT_FIXTURE_H
#define TESTS_OUTPUT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/vec.h"
#include "script/output.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define BYTES(text)   (const uint8_t *)(text), sizeof(text) - 1

#define UNUSED __attribute__((unused))

/* ---- types ---- */

UNUSED static const struct vtype u8 = {.kind = V_INT, .size = 1},
				 s8 = {.kind = V_INT, .size = 1, .is_signed = true};
UNUSED static const struct vtype s16 = {.kind = V_INT, .size = 2, .is_signed = true};
UNUSED static const struct vtype s32 = {.kind = V_INT, .size = 4, .is_signed = true};
UNUSED static const struct vtype u32 = {.kind = V_INT, .size = 4}, u64 = {.kind = V_INT, .size = 8};
UNUSED static const struct vtype s64 = {.kind = V_INT, .size = 8, .is_signed = true};
UNUSED static const struct vtype boolean = {.kind = V_BOOL, .size = 1}, none = {.kind = V_NONE};
UNUSED static const struct vtype str16 = {.kind = V_STRING, .size = 16},
				 str8 = {.kind = V_STRING, .size = 8};
UNUSED static const struct vtype buffer = {.kind = V_BUFFER, .size = 12};
UNUSED static const struct vtype pointer = {.kind = V_POINTER, .size = 8};
UNUSED static const struct vtype inet = {.kind = V_INET, .size = 20},
				 mac = {.kind = V_MAC, .size = 6};
UNUSED static const struct vtype ksym = {.kind = V_KSYM, .size = 8},
				 usym = {.kind = V_USYM, .size = 16};
UNUSED static const struct vtype user = {.kind = V_USER, .size = 4},
				 probe = {.kind = V_PROBE, .size = 8};
UNUSED static const struct vtype error = {.kind = V_ERRNO, .size = 8, .is_signed = true};
UNUSED static const struct vtype signal_name = {.kind = V_SIGNAL, .size = 8, .is_signed = true};
UNUSED static const struct vtype year = {.kind = V_TIME, .size = 8, .text = "%Y-%m-%d %H:%M:%S.%f"};
UNUSED static const struct vtype percent = {.kind = V_TIME, .size = 8, .text = "%%f|%f"};
UNUSED static const struct vtype kstack = {.kind = V_KSTACK, .size = 8, .depth = 127};
UNUSED static const struct vtype kstack1 = {.kind = V_KSTACK, .size = 8, .depth = 1};
UNUSED static const struct vtype kperf = {.kind = V_KSTACK, .size = 8, .mode = STACK_PERF};
UNUSED static const struct vtype kraw = {.kind = V_KSTACK, .size = 8, .mode = STACK_RAW};
UNUSED static const struct vtype ustack = {.kind = V_USTACK, .size = 16};
UNUSED static const struct vtype uperf = {.kind = V_USTACK, .size = 16, .mode = STACK_PERF};
UNUSED static const struct vtype count = {.kind = V_COUNT, .size = 8};
UNUSED static const struct vtype sum = {.kind = V_SUM, .size = 8, .is_signed = true};
UNUSED static const struct vtype min = {.kind = V_MIN, .size = 16, .is_signed = true};
UNUSED static const struct vtype max = {.kind = V_MAX, .size = 16, .is_signed = true};
UNUSED static const struct vtype avg = {.kind = V_AVG, .size = 16, .is_signed = true};
UNUSED static const struct vtype stats = {.kind = V_STATS, .size = 16, .is_signed = true};

static const struct velem pair_elems[] = {{NULL, &s64, 0}, {NULL, &str8, 8}};
UNUSED static const struct vtype pair = {
	.kind = V_TUPLE, .size = 16, .elems = pair_elems, .nr_elems = 2};
static const struct velem nest_elems[] = {{NULL, &s32, 0}, {NULL, &pair, 8}};
UNUSED static const struct vtype nest = {
	.kind = V_TUPLE, .size = 24, .elems = nest_elems, .nr_elems = 2};
static const struct velem record_elems[] = {{"a", &s64, 0}, {"b", &str8, 8}};
UNUSED static const struct vtype record = {
	.kind = V_RECORD, .size = 16, .elems = record_elems, .nr_elems = 2};
static const struct velem stack_elems[] = {{NULL, &s64, 0}, {NULL, &kstack, 8}};
UNUSED static const struct vtype with_stack = {
	.kind = V_TUPLE, .size = 16, .elems = stack_elems, .nr_elems = 2};

/* ---- an output ---- */

struct fixture {
	struct unit unit;
	struct buf text;
	struct output o;
};

static const char *const strings[] = {"begin", "kprobe:vfs_read"};

static size_t fake_stack(void *arg, const struct vtype *t, int64_t id, uint64_t *frames,
			 size_t most)
{
	if (id == 9)
		return 0; /* gone */
	frames[0] = 0xffffffff81000010;
	frames[1] = 0x1234;
	frames[2] = 0;
	return 3;
}

static void setup(struct fixture *f, bool json, enum output_style style)
{
	memset(f, 0, sizeof(*f));
	unit_init(&f->unit);
	for (size_t i = 0; i < ARRAY_SIZE(strings); i++)
		*vec_push(&f->unit.strings) = strings[i];
	buf_init(&f->text, 16 << 20);
	f->o = (struct output){
		.unit = &f->unit,
		.to = &f->text,
		.json = json,
		.style = style,
		.stack = fake_stack,
	};
	assert_int_equal(output_open(&f->o), 0);
	setenv("TZ", "UTC", 1);
}

static void teardown(struct fixture *f)
{
	output_close(&f->o);
	buf_free(&f->text);
	unit_free(&f->unit);
}

static void expect(struct fixture *f, const char *text)
{
	assert_string_equal(buf_str(&f->text), text);
	buf_reset(&f->text);
}

/* A copy without a byte more than it has, for the sanitizer to watch. */
static uint8_t *exactly(const uint8_t *bytes, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);

	assert_non_null(copy);
	memcpy(copy, bytes, len);
	return copy;
}

#endif
