// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stacks of a recording: the recorder has left them as records of their own, right behind the
 * event, on the same CPU. They are looked for only when a program asks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "code/umap.h"
#include "event/names.h"
#include "script/run_file.h"

#define LOOK_AHEAD                                                                                 \
	3 /* records: an event may be followed by the kernel's stack, then the process's */
#define MAX_FRAMES 1024

struct stacks {
	struct lane *lanes; /* that look ahead, as many as the merge has */
	bool *open;
	uint32_t nr;
	struct event *kernel, *user;
};

static struct stacks *stacks_new(struct file_run *r)
{
	struct stacks *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->nr = r->merge.nr;
	k->lanes = calloc(k->nr + 1, sizeof(*k->lanes));
	k->open = calloc(k->nr + 1, sizeof(*k->open));
	k->kernel = events_find(r->trace->events, "ftrace", "kernel_stack");
	k->user = events_find(r->trace->events, "ftrace", "user_stack");
	return k;
}

void stacks_free(struct stacks *k)
{
	if (!k)
		return;
	for (uint32_t i = 0; k->open && i < k->nr; i++)
		if (k->open[i])
			lane_close(&k->lanes[i]);
	free(k->lanes);
	free(k->open);
	free(k);
}

/* A lane that stands on the record that runs. */
static struct lane *look_from(struct file_run *r)
{
	struct stacks *k = r->stacks;
	const struct lane *at = r->merge.current;
	const uint32_t i = (uint32_t)(at - r->merge.lanes);
	struct lane *look;

	if (!k->lanes || !k->open || i >= k->nr)
		return NULL;
	look = &k->lanes[i];
	if (!k->open[i]) {
		if (lane_open(look, at->buffer, at->cpu) < 0)
			return NULL;
		k->open[i] = true;
	}
	lane_seek(look, lane_tell(at));
	return lane_next(look) ? look : NULL;
}

/* The frames a stack's record has: addresses up to the end, or to one that marks it. */
static size_t frames_of(const struct file_run *r, struct event *e, const struct spur_record *rec,
			uint64_t *frames, size_t max)
{
	const struct event_field *caller = event_field_find(e, "caller");
	const uint32_t word = caller && caller->elem_size == 4 ? 4 : 8;
	size_t n = 0;

	if (!caller)
		return 0;
	for (size_t at = caller->offset; n < max && at + word <= rec->size; at += word) {
		const uint64_t v = record_uint(r->trace->events, rec, (uint32_t)at, word);

		if (!v || v == UINT64_MAX || (word == 4 && v == UINT32_MAX))
			break;
		frames[n++] = v;
	}
	return n;
}

/* The recorder's own frames, which a program in the kernel does not see. */
static size_t own_frames(const struct file_run *r, const uint64_t *frames, size_t n)
{
	static const char *const own[] = {"trace_event_raw_event_", "__traceiter_",
					  "trace_event_buffer_", "__trace_stack",
					  "__ftrace_trace_stack"};
	size_t i = 0;

	for (bool is_own = true; i < n && is_own; i += is_own) {
		const struct symbol *s = symbols_find(r->trace->events->symbols, frames[i]);

		is_own = false;
		for (size_t k = 0; s && k < sizeof(own) / sizeof(own[0]); k++)
			is_own |= strncmp(s->name, own[k], strlen(own[k])) == 0;
	}
	return i;
}

int64_t run_stack(struct script *s, struct vm_map *map, bool user)
{
	struct file_run *r = s->file;
	uint64_t frames[MAX_FRAMES];
	struct event *wanted;
	struct lane *look;
	size_t max = map->key_size / 8, n, skip; /* of such a map the frames are the key */

	if (!r->in_record)
		return -EFAULT;
	if (!r->stacks)
		r->stacks = stacks_new(r);
	look = r->stacks ? look_from(r) : NULL;
	wanted = r->stacks ? (user ? r->stacks->user : r->stacks->kernel) : NULL;
	for (int i = 0; look && wanted && i < LOOK_AHEAD && lane_next(look); i++) {
		const struct event *e = events_of_record(r->trace->events, &look->rec);

		if (!r->stacks->kernel || (e != r->stacks->kernel && e != r->stacks->user))
			break;
		if (e != wanted)
			continue;
		n = frames_of(r, wanted, &look->rec, frames, MAX_FRAMES);
		skip = user ? 0 : own_frames(r, frames, n);
		return umap_add_stack((struct umap *)map, frames + skip,
				      n - skip < max ? n - skip : max);
	}
	return -EFAULT;
}
