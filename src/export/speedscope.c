// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * speedscope's own format: JSON with profiles that refer to a list of frames.
 *
 * Samples become one profile in the order of time, a stack each, below their task. Calls become one
 * profile for every task, of calls that begin and end. A profile must be written in one piece, but
 * the events of tasks are mixed. So every task's text is collected in blocks of a temporary file.
 * The list of frames is written last, when it is complete.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "table/calls.h"
#include "table/stacks.h"
#include "base/error.h"
#include "base/file.h"
#include "base/intern.h"
#include "base/json.h"
#include "base/map.h"
#include "base/strings.h"
#include "base/vec.h"
#include "export/export.h"
#include "export/reader.h"

#define BLOCK	   (16u << 10)
#define MAX_DEPTH  1024
#define MAX_TASKS  4096
#define NAME_BYTES (256u << 20)

/* A piece of a task's text in the temporary file. */
struct block {
	uint64_t at;
	uint32_t len;
};

/* A task with calls; those of pid 0 are one for each CPU, and a buffer's are its own. */
struct thread {
	int64_t pid, cpu;
	const char *buffer;
	const char *comm;
	const struct spur_trace *trace;
	uint64_t first, last;
	uint32_t depth;
	uint32_t open[MAX_DEPTH]; /* frames of the calls that go on, outermost first */
	struct buf text;	  /* what is not in the file yet */
	struct json_writer json;  /* of the text */
	vec_of(struct block) blocks;
};

struct writer {
	const struct export_job *job;
	struct spur_trace *trace;
	struct export_stream *out;
	struct json_writer json; /* of `out` */
	struct intern names;
	struct map frames;	 /* by the name's pointer: its number + 1 */
	struct string_refs list; /* of frames, by number */
	vec_of(struct thread *) threads;
	struct map by_task;
	int fd; /* the temporary file, -1: none yet */
	uint64_t end;
	uint64_t samples;
	bool profiles; /* one has been written */
	bool left_out; /* there were more tasks than fit */
	int rc;
};

/* ---- frames --------------------------------------------------------------------------- */

static uint32_t frame_of(struct writer *w, const char *name, size_t len)
{
	const char *kept = intern_text(&w->names, name, len);
	const uint64_t key = (uint64_t)(uintptr_t)kept;
	void *known = kept ? map_get(&w->frames, key) : NULL;

	if (known)
		return (uint32_t)((uintptr_t)known - 1);
	if (!kept || !string_refs_add(&w->list, kept) ||
	    !map_set(&w->frames, key, (void *)(uintptr_t)w->list.n)) {
		w->rc = -ENOMEM;
		return 0;
	}
	return (uint32_t)(w->list.n - 1);
}

static void put_frames(struct writer *w)
{
	json_newline(&w->json);
	json_object(json_key(&w->json, "shared"));
	json_array(json_key(&w->json, "frames"));
	vec_each (name, &w->list) {
		json_newline(&w->json);
		json_object(&w->json);
		json_put_text(json_key(&w->json, "name"), *name);
		json_end_object(&w->json);
		export_stream_flush_full(w->out);
	}
	json_end_array(&w->json);
	json_end_object(&w->json);
}

/* ---- samples -------------------------------------------------------------------------- */

static void begin_profile(struct writer *w, const char *type, const char *name, size_t len,
			  const char *unit)
{
	json_newline(&w->json);
	json_object(&w->json);
	json_put_text(json_key(&w->json, "type"), type);
	json_put_bytes(json_key(&w->json, "name"), name, len);
	json_put_text(json_key(&w->json, "unit"), unit);
	w->profiles = true;
}

static void put_range(struct writer *w, uint64_t end)
{
	json_put_u64(json_key(&w->json, "startValue"), 0);
	json_put_u64(json_key(&w->json, "endValue"), end);
}

static void put_stack(struct writer *w, const char *stack)
{
	while (*stack) {
		const size_t len = strcspn(stack, ";");

		json_put_u64(&w->json, frame_of(w, stack, len));
		stack += len + (stack[len] == ';');
	}
}

static void take_sample(void *arg, const void *row)
{
	const struct sample_row *s = row;
	struct writer *w = arg;
	const char *comm = s->comm ? s->comm : "[unknown]";

	if (!w->samples++) {
		begin_profile(w, "sampled", "samples", strlen("samples"), "none");
		json_array(json_key(&w->json, "samples"));
	}
	json_newline(&w->json);
	json_array(&w->json);
	json_put_u64(&w->json, frame_of(w, comm, strlen(comm)));
	if (s->stack)
		put_stack(w, s->stack);
	json_end_array(&w->json);
	export_stream_flush_full(w->out);
	if (w->out->rc < 0)
		w->rc = w->out->rc;
}

static void end_samples(struct writer *w)
{
	if (!w->samples)
		return;
	json_end_array(&w->json);
	json_array(json_key(&w->json, "weights"));
	for (uint64_t i = 0; i < w->samples; i++) {
		json_put_u64(&w->json, 1);
		export_stream_flush_full(w->out);
	}
	json_end_array(&w->json);
	put_range(w, w->samples);
	json_end_object(&w->json);
}

/* ---- calls ---------------------------------------------------------------------------- */

static struct thread *thread_of(struct writer *w, const struct call_row *c)
{
	const char *buffer = c->buffer ? c->buffer : "";
	const uint64_t key = task_key((int)c->pid, (uint32_t)c->cpu) ^
			     (*buffer ? map_hash(buffer, strlen(buffer)) : 0);
	struct thread *t = map_get(&w->by_task, key);
	bool added;

	if (t || w->threads.n == MAX_TASKS) {
		w->left_out |= !t;
		return t;
	}
	t = calloc(1, sizeof(*t));
	added = t && vec_add(&w->threads, &t);
	if (!added || !map_set(&w->by_task, key, t)) {
		if (!added)
			free(t);
		w->rc = -ENOMEM;
		return NULL;
	}
	*t = (struct thread){.pid = c->pid, .cpu = c->cpu, .trace = w->trace, .first = c->ts};
	t->buffer = intern_text(&w->names, buffer, strlen(buffer));
	if (c->comm)
		t->comm = intern_text(&w->names, c->comm, strlen(c->comm));
	buf_init(&t->text, 2 * BLOCK);
	t->json.out = &t->text;
	return t;
}

static void spill(struct writer *w, struct thread *t)
{
	if (w->fd < 0)
		w->fd = file_nameless(file_temp());
	if (w->fd < 0 || !vec_add(&t->blocks, &(struct block){w->end, (uint32_t)t->text.len})) {
		w->rc = w->fd < 0 ? w->fd : -ENOMEM;
		return;
	}
	w->rc = file_write_at(w->fd, t->text.data, t->text.len, w->end, NULL);
	w->end += t->text.len;
	buf_reset(&t->text);
}

static void put_event(struct writer *w, struct thread *t, char type, uint32_t frame, uint64_t ts)
{
	/* Times of an untrusted file may run backwards; speedscope needs them in order. */
	t->last = ts > t->last ? ts : t->last;
	json_newline(&t->json);
	json_object(&t->json);
	json_put_bytes(json_key(&t->json, "type"), &type, 1);
	json_put_u64(json_key(&t->json, "frame"), frame);
	json_put_u64(json_key(&t->json, "at"), t->last - t->first);
	json_end_object(&t->json);
	if (t->text.len >= BLOCK && w->rc == 0)
		spill(w, t);
}

/* Ends calls from the innermost one on until so many are left. */
static void close_calls(struct writer *w, struct thread *t, uint32_t left, uint64_t ts)
{
	while (t->depth > left)
		put_event(w, t, 'C', t->open[--t->depth], ts);
}

static void take_call(void *arg, const void *row)
{
	const struct call_row *c = row;
	struct writer *w = arg;
	const char *name = c->func ? c->func : "[unknown]";
	const uint32_t frame = frame_of(w, name, strlen(name));
	struct thread *t = c->phase == CALL_ONLY_END ? NULL : thread_of(w, c);
	uint32_t i;

	if (!t || w->rc < 0)
		return;
	if (c->phase == CALL_BEGINS) {
		if (t->depth == MAX_DEPTH)
			return;
		t->open[t->depth++] = frame;
		put_event(w, t, 'O', frame, c->ts);
		return;
	}
	for (i = t->depth; i && t->open[i - 1] != frame; i--)
		;
	if (i)
		close_calls(w, t, i - 1, c->ts + (uint64_t)(c->dur > 0 ? c->dur : 0));
}

static void copy_blocks(struct writer *w, const struct thread *t)
{
	char data[2 * BLOCK];

	vec_each (k, &t->blocks) {
		int64_t n = file_read_at(w->fd, data, k->len < sizeof(data) ? k->len : sizeof(data),
					 k->at);

		if (n < 0)
			w->rc = (int)n;
		else
			buf_put(&w->out->buf, data, (size_t)n);
		export_stream_flush_full(w->out);
	}
	buf_put(&w->out->buf, t->text.data, t->text.len);
}

static void put_thread(struct writer *w, struct thread *t)
{
	const bool ticks = t->trace->nr_buffers && !t->trace->buffers[0].nanoseconds;
	scoped_buf name = buf_new(512);

	close_calls(w, t, 0, t->last);
	buf_printf(&name, "%s-%lld", t->comm ? t->comm : "<...>", (long long)t->pid);
	if (!t->pid)
		buf_printf(&name, " on CPU %lld", (long long)t->cpu);
	if (t->buffer && *t->buffer)
		buf_printf(&name, " in %.200s", t->buffer);
	begin_profile(w, "evented", name.data, name.len, ticks ? "none" : "nanoseconds");
	put_range(w, t->last - t->first);
	json_array(json_key(&w->json, "events"));
	copy_blocks(w, t);
	json_end_array(&w->json);
	json_end_object(&w->json);
}

/* Each trace has its own threads. */
static void end_threads(struct writer *w)
{
	for (size_t i = 0; i < w->threads.n; i++) {
		struct thread *t = w->threads.at[i];

		if (w->rc == 0 && t->json.comma)
			put_thread(w, t);
		buf_free(&t->text);
		vec_free(&t->blocks);
		free(t);
	}
	w->threads.n = 0;
	map_free(&w->by_task);
	w->by_task = (struct map){0};
	w->end = 0;
}

/* ---- all of it ------------------------------------------------------------------------ */

static const struct export_table samples[] = {{&samples_table, take_sample}};
static const struct export_table calls[] = {{&calls_both_table, take_call}};

static int pass_over(struct writer *w, const struct export_table *table, struct spur_error *err)
{
	const struct export_reader p = {
		.trace = w->trace, .tables = table, .nr_tables = 1, .arg = w, .failed = &w->rc};

	return export_reader_run(w->job, &p, err);
}

static int put_profiles(struct writer *w, struct spur_error *err)
{
	const struct export_job *job = w->job;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < job->nr_traces; i++) {
		w->trace = job->traces[i];
		rc = pass_over(w, samples, err);
	}
	end_samples(w);
	for (size_t i = 0; rc == 0 && i < job->nr_traces; i++) {
		w->trace = job->traces[i];
		rc = pass_over(w, calls, err);
		end_threads(w);
	}
	end_threads(w);
	if (rc == 0 && w->rc < 0)
		rc = error_sys(err, w->rc, "%s", job->target);
	if (w->left_out)
		export_note(job, "the calls of %d tasks are written, those of the others left out",
			    MAX_TASKS);
	if (rc == 0 && !w->profiles)
		rc = export_no_stacks(job, err);
	return rc;
}

static int run(const struct export_job *job, struct spur_error *err)
{
	struct writer w = {.job = job, .out = job->out, .fd = -1};
	int rc;

	w.json.out = &job->out->buf;
	intern_init(&w.names, NAME_BYTES);
	json_object(&w.json);
	json_put_text(json_key(&w.json, "$schema"),
		      "https://www.speedscope.app/file-format-schema.json");
	json_put_text(json_key(&w.json, "exporter"), "spur");
	json_put_text(json_key(&w.json, "name"), export_title(job));
	json_array(json_key(&w.json, "profiles"));
	rc = put_profiles(&w, err);
	json_end_array(&w.json);
	put_frames(&w);
	json_end_object(&w.json);
	buf_putc(w.json.out, '\n');
	if (w.fd >= 0)
		close(w.fd);
	map_free(&w.frames);
	vec_free(&w.list);
	vec_free(&w.threads);
	intern_free(&w.names);
	return rc;
}

const struct export_format export_speedscope = {
	.name = "speedscope",
	.about = "samples and calls in the order of time, for speedscope.app",
	.suffix = ".speedscope.json",
	.kind = EXPORT_STREAM,
	.run = run,
};
