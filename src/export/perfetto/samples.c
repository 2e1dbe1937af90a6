// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stacks as samples, in a sequence of their own: a sample refers to a stack by number, a stack to
 * functions, a function to where it is mapped. Each of these is defined once, in the packet that
 * needs it first. If there are too many, all definitions are dropped and written again when needed.
 */
#include "export/perfetto/perfetto.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "table/stacks.h"

#define TEXTS_LIMIT    (32u << 20)
#define INTERNED_LIMIT (64u << 20)
#define MOST_FRAMES    2048 /* of one stack */

/* InternedData, Mapping, Frame, Callstack, PerfSample */
enum { FUNCTION_NAMES = 5, FRAMES = 6, STACKS = 7, MAPPING_PATHS = 17, MAPPINGS = 19 };
enum { IID = 1, STRING = 2 };
enum { MAPPING_PATH = 7 };
enum { FRAME_FUNCTION = 2, FRAME_MAPPING = 3, FRAME_PC = 4 };
enum { STACK_FRAMES = 2 };
enum { SAMPLE_CPU = 1, SAMPLE_PID = 2, SAMPLE_TID = 3, SAMPLE_STACK = 4, SAMPLE_MODE = 5 };
enum { MODE_KERNEL = 1, MODE_USER = 2 };

static const char of_kernel[] = "_[k]";
static const struct {
	uint64_t iid;
	const char *path;
} mappings[] = {{1, "[kernel.kallsyms]"}, {2, "[user]"}};

static void put_string(struct buf *b, uint32_t field, uint64_t iid, const char *text, size_t len)
{
	const size_t start = proto_begin(b, field);

	proto_number(b, IID, iid);
	proto_text(b, STRING, text, len);
	proto_end(b, start);
}

static void put_mappings(struct buf *b)
{
	for (size_t i = 0; i < ARRAY_SIZE(mappings); i++) {
		size_t start;

		put_string(b, MAPPING_PATHS, mappings[i].iid, mappings[i].path,
			   strlen(mappings[i].path));
		start = proto_begin(b, MAPPINGS);
		proto_number(b, IID, mappings[i].iid);
		proto_number(b, MAPPING_PATH, mappings[i].iid);
		proto_end(b, start);
	}
}

static void begin(struct perfetto *p)
{
	struct perfetto_samples *s = &p->samples;

	if (!s->ready) {
		s->sequence = p->next_sequence++;
		s->interned.is_first = s->ready = true;
		buf_init(&s->interned.data, INTERNED_LIMIT);
	} else {
		intern_free(&s->texts);
		map_free(&s->frames);
		map_free(&s->stacks);
		s->frames = s->stacks = (struct map){0};
	}
	intern_init(&s->texts, TEXTS_LIMIT);
	buf_reset(&s->interned.data);
	put_mappings(&s->interned.data);
	s->interned.restated = true;
}

/* A function, or the innermost one of a stack. */
static bool is_of_kernel(const char *name, size_t len)
{
	const size_t suffix = strlen(of_kernel);

	return len >= suffix && memcmp(name + len - suffix, of_kernel, suffix) == 0;
}

/* The number of a function, told if it is new; 0: there is no more room for texts. */
static uint64_t frame_of(struct perfetto_samples *s, const char *name, size_t len)
{
	const char *text = intern_text(&s->texts, name, len);
	uintptr_t iid = text ? (uintptr_t)map_get(&s->frames, (uintptr_t)text) : 0;
	const bool kernel = is_of_kernel(name, len);
	struct buf *told = &s->interned.data;
	size_t start;

	if (iid || !text)
		return iid;
	iid = (uintptr_t)++s->last_frame;
	if (!map_set(&s->frames, (uintptr_t)text, (void *)iid))
		return 0;
	put_string(told, FUNCTION_NAMES, iid, name, kernel ? len - strlen(of_kernel) : len);
	start = proto_begin(told, FRAMES);
	proto_number(told, IID, iid);
	proto_number(told, FRAME_FUNCTION, iid);
	proto_number(told, FRAME_MAPPING, mappings[kernel ? 0 : 1].iid);
	proto_number(told, FRAME_PC, 0);
	proto_end(told, start);
	return iid;
}

/* Numbers of the functions of "outer;…;inner"; how many, 0: no room. */
static size_t frames_of(struct perfetto_samples *s, const char *stack, uint64_t *frames)
{
	size_t n = 0;

	while (n < MOST_FRAMES) {
		const size_t len = strcspn(stack, ";");

		frames[n] = frame_of(s, stack, len);
		if (!frames[n++])
			return 0;
		stack += len;
		if (!*stack++)
			break;
	}
	return n;
}

static uint64_t stack_of(struct perfetto_samples *s, const char *stack)
{
	const char *text = intern_text(&s->texts, stack, strlen(stack));
	uintptr_t iid = text ? (uintptr_t)map_get(&s->stacks, (uintptr_t)text) : 0;
	uint64_t frames[MOST_FRAMES];
	struct buf *told = &s->interned.data;
	size_t n, start;

	if (iid || !text)
		return iid;
	n = frames_of(s, stack, frames);
	iid = (uintptr_t)++s->last_stack;
	if (!n || !map_set(&s->stacks, (uintptr_t)text, (void *)iid))
		return 0;
	start = proto_begin(told, STACKS);
	proto_number(told, IID, iid);
	for (size_t i = 0; i < n; i++)
		proto_number(told, STACK_FRAMES, frames[i]);
	proto_end(told, start);
	return iid;
}

static void put_sample(struct perfetto *p, const struct sample_row *row, uint64_t stack)
{
	struct buf *b = &p->out->buf;
	const size_t packet = packet_begin(p, p->samples.sequence);
	const bool kernel = is_of_kernel(row->stack, strlen(row->stack));
	size_t start;

	interned_put(p, &p->samples.interned);
	proto_number(b, PACKET_TIME, perfetto_time(p, row->ts));
	start = proto_begin(b, PACKET_SAMPLE);
	proto_number(b, SAMPLE_CPU, (uint64_t)row->cpu);
	proto_number(b, SAMPLE_PID, (uint64_t)perfetto_tgid(p, (int32_t)row->pid));
	proto_number(b, SAMPLE_TID, (uint64_t)row->pid);
	proto_number(b, SAMPLE_STACK, stack);
	proto_number(b, SAMPLE_MODE, kernel ? MODE_KERNEL : MODE_USER);
	proto_end(b, start);
	packet_end(p, packet);
}

void perfetto_sample(void *arg, const void *row)
{
	struct perfetto *p = arg;
	const struct sample_row *s = row;
	uint64_t stack;

	if (!s->stack || s->cpu >= PERFETTO_CPUS)
		return;
	if (!p->samples.ready)
		begin(p);
	stack = stack_of(&p->samples, s->stack);
	if (!stack) {
		begin(p);
		stack = stack_of(&p->samples, s->stack);
	}
	if (stack)
		put_sample(p, s, stack);
	else
		p->failed = -ENOMEM;
}

void perfetto_samples_free(struct perfetto *p)
{
	if (!p->samples.ready)
		return;
	intern_free(&p->samples.texts);
	map_free(&p->samples.frames);
	map_free(&p->samples.stacks);
	buf_free(&p->samples.interned.data);
}
