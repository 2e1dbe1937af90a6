// SPDX-License-Identifier: LGPL-2.1-or-later
/* The kernel's own text, as its files `trace` and `trace_pipe` show it. */
#include "import/text/text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "import/sources.h"

#define MAX_FRAMES 256
#define STEPS	   1024 /* lines between two looks at stop and progress */

struct reading {
	struct import *im;
	struct text_classes classes;
	struct text_known *known;
	struct text_ftrace *ftrace;
	struct text_graph *graph;
	struct text_duration *duration;
	bool learn;	  /* the first of two readings */
	bool is_graph;	  /* the tracer is function_graph */
	bool is_duration; /* the tracer is function_duration */
	uint64_t events;  /* in the lines, in this reading */
	uint64_t odd;	  /* lines that are not understood */
	uint64_t last_ts; /* of an event with its task before it */
	struct map last;  /* by CPU: time of the last record of a call, or event between calls */

	/* A stack that is being read. */
	bool in_stack, user;
	struct import_context stack_at;
	uint64_t frames[MAX_FRAMES];
	size_t nr_frames;
};

/* ---- events --------------------------------------------------------------------------- */

static bool is_name(struct piece p)
{
	if (!p.len || isdigit((unsigned char)*p.at))
		return false;
	for (size_t i = 0; i < p.len; i++)
		if (!isalnum((unsigned char)p.at[i]) && p.at[i] != '_')
			return false;
	return true;
}

/* "name: text"; what has no name is all text. */
static void split_event(struct piece rest, struct piece *name, struct piece *text)
{
	const char *colon = memmem(rest.at, rest.len, ":", 1);
	const size_t len = colon ? (size_t)(colon - rest.at) : 0;

	*name = (struct piece){rest.at, 0};
	*text = rest;
	if (!colon || (len + 1 < rest.len && colon[1] != ' '))
		return;
	*name = (struct piece){rest.at, len};
	*text = (struct piece){colon + 1, rest.len - len - 1};
	if (text->len)
		piece_skip(text, 1);
}

/* "func <-parent" */
static bool is_function(struct piece rest, struct piece *func, struct piece *parent)
{
	const char *arrow = memmem(rest.at, rest.len, " <-", 3);

	if (!arrow || memchr(rest.at, ':', (size_t)(arrow - rest.at)) || arrow == rest.at)
		return false;
	*func = (struct piece){rest.at, (size_t)(arrow - rest.at)};
	*parent = (struct piece){arrow + 3, rest.len - func->len - 3};
	/* Some options show something after it. */
	for (size_t i = 0; i + 1 < parent->len; i++)
		if (parent->at[i] == ' ' && parent->at[i + 1] != '[')
			parent->len = i;
	return parent->len > 0;
}

/* Markers, and what trace_printk() wrote: the function stands where events have their name. */
static bool is_print(struct piece name)
{
	const char *plus = name.len ? memchr(name.at, '+', name.len) : NULL;
	struct piece before = {name.at, plus ? (size_t)(plus - name.at) : 0};

	return piece_is(name, "tracing_mark_write") || piece_is(name, "print") ||
	       piece_is(name, "bprint") ||
	       (plus && is_name(before) && name.len - before.len > 3 && plus[1] == '0' &&
		plus[2] == 'x');
}

static void take_event(struct reading *rd, const struct import_context *x, struct piece rest)
{
	static const struct piece line = {"line", 4};
	struct piece name, text, func, parent;

	rd->events++;
	if (is_function(rest, &func, &parent)) {
		if (!rd->learn)
			text_function(rd->ftrace, x, text_symbol(rd->im, func),
				      text_symbol(rd->im, parent));
		return;
	}
	split_event(rest, &name, &text);
	if (is_print(name)) {
		if (!rd->learn)
			text_print(rd->ftrace, x, text_symbol(rd->im, name), text);
		return;
	}
	if (!is_name(name)) {
		name.len = 0;
		text = rest;
	}
	if (text_known_put(rd->known, x, name, text, rd->learn))
		return;
	if (!name.len)
		name = line;
	if (rd->learn)
		text_classes_learn(&rd->classes, name, text);
	else
		text_classes_put(&rd->classes, x, name, text);
}

/* ---- stacks --------------------------------------------------------------------------- */

static void end_stack(struct reading *rd)
{
	if (rd->in_stack && !rd->learn && rd->nr_frames)
		import_stack(rd->im, &rd->stack_at, rd->user, rd->stack_at.pid, rd->frames,
			     rd->nr_frames);
	rd->in_stack = false;
}

static void begin_stack(struct reading *rd, const struct import_context *x, bool user)
{
	rd->events++;
	rd->in_stack = true;
	rd->user = user;
	rd->stack_at = *x;
	rd->nr_frames = 0;
}

/* " => do_wait+0x10/0x20", " =>  <00007f8c12345678>", " => /lib/libc.so[+0x123]" */
static bool take_frame(struct reading *rd, struct piece line)
{
	uint64_t addr = 0;
	const char *offset;

	skip_blanks(&line);
	if (!take_text(&line, "=>"))
		return false;
	skip_blanks(&line);
	if (!line.len || rd->nr_frames == MAX_FRAMES)
		return true;
	offset = memmem(line.at, line.len, "[+0x", 4);
	if (take_text(&line, "<")) {
		take_hexadecimal(&line, &addr);
	} else if (rd->user && offset) {
		struct piece p = {offset + 4, (size_t)(line.at + line.len - offset - 4)};

		take_hexadecimal(&p, &addr);
	} else if (!rd->user) {
		addr = text_symbol(rd->im, line);
	}
	if (addr)
		rd->frames[rd->nr_frames++] = addr;
	return true;
}

/* ---- lines ---------------------------------------------------------------------------- */

static void take_comment(struct reading *rd, struct piece line)
{
	if (take_text(&line, "# tracer: ")) {
		rd->is_graph = piece_is(line, "function_graph");
		rd->is_duration = piece_is(line, "function_duration");
	}
}

static void take_head(struct reading *rd, const struct text_head *h, struct piece rest)
{
	const struct import_context x = {.cpu = h->cpu,
					 .ts = h->ts,
					 .pid = h->pid,
					 .flags = h->flags,
					 .preempt_count = h->preempt_count};

	if (rd->learn)
		text_comm(rd->im, h->pid, h->comm);
	if (h->ticks)
		rd->im->clock = "counter";
	rd->last_ts = h->ts;
	skip_blanks(&rest);
	if (piece_is(rest, "<stack trace>"))
		begin_stack(rd, &x, false);
	else if (piece_is(rest, "<user stack trace>"))
		begin_stack(rd, &x, true);
	else
		take_event(rd, &x, rest);
}

/* Markers stand there without a name. */
static void take_comment_event(struct reading *rd, const struct import_context *x,
			       struct piece event)
{
	static const struct piece marker = {"tracing_mark_write", 18};
	struct piece name, text;

	split_event(event, &name, &text);
	if (piece_is(event, "<stack trace>")) {
		begin_stack(rd, x, false);
	} else if (is_name(name) ||
		   text_known_put(rd->known, x, (struct piece){event.at, 0}, event, true)) {
		take_event(rd, x, event);
	} else {
		rd->events++;
		if (!rd->learn)
			text_print(rd->ftrace, x, text_symbol(rd->im, marker), event);
	}
}

static void note_call(struct reading *rd, const struct import_context *x)
{
	uint64_t *last = import_get(rd->im, &rd->last, x->cpu, sizeof(*last));

	if (last && x->ts > *last)
		*last = x->ts;
}

/*
 * Events were lost after all that this CPU has written, and before its next record. Other CPUs'
 * calls may end later.
 */
static void take_lost(struct reading *rd, uint32_t cpu, int64_t lost)
{
	const uint64_t *last = map_get(&rd->last, cpu);

	if (rd->learn)
		return;
	text_duration_settle(rd->duration);
	import_lost(rd->im, 0, cpu, last && *last > rd->last_ts ? *last : rd->last_ts, lost);
}

static void take_call_line(struct reading *rd, struct piece line)
{
	struct import_context x = {0};
	struct piece event = {NULL, 0};
	bool taken = true;

	if (rd->is_duration && rd->learn)
		text_duration_learn(rd->duration, line, &event);
	else if (rd->is_duration)
		taken = text_duration_line(rd->duration, line, &x, &event);
	else if (rd->learn)
		text_graph_learn(rd->graph, line, &event);
	else
		taken = text_graph_line(rd->graph, line, &x, &event);
	if (event.at && taken)
		take_comment_event(rd, &x, event);
	else
		rd->events++;
	if (!rd->learn && taken)
		note_call(rd, &x);
	rd->odd += !taken;
}

static bool is_blank(struct piece line)
{
	for (size_t i = 0; i < line.len; i++) {
		const char c = line.at[i];

		if (c != ' ' && c != '\t' && c != '\r' && c != '-')
			return false;
	}
	return true;
}

static void take_line(struct reading *rd, struct piece line)
{
	struct text_head head;
	struct piece rest;
	uint32_t cpu;
	int64_t lost;

	if (line.len && line.at[line.len - 1] == '\r')
		line.len--;
	if (rd->in_stack && take_frame(rd, line))
		return;
	end_stack(rd);
	if (line.len && *line.at == '#') {
		take_comment(rd, line);
	} else if (is_blank(line)) {
		return;
	} else if (text_head_parse(line, &head, &rest)) {
		take_head(rd, &head, rest);
	} else if (text_lost_parse(line, &cpu, &lost)) {
		take_lost(rd, cpu, lost);
	} else if (rd->is_duration || rd->is_graph || text_duration_is(line) ||
		   text_graph_is(line)) {
		rd->is_duration |= text_duration_is(line);
		take_call_line(rd, line);
	} else if (!rd->learn) {
		rd->odd++;
	}
}

static int read_once(struct reading *rd, const struct source_input *in, bool learn)
{
	struct text_file f;
	struct piece line;

	text_file_init(&f, in->fd);
	rd->learn = learn;
	rd->is_graph = rd->is_duration = false;
	rd->events = rd->last_ts = 0;
	for (uint64_t i = 0; rd->im->rc == 0; i++) {
		line.at = text_file_next(&f, &line.len);
		if (!line.at)
			break;
		take_line(rd, line);
		if (i % STEPS == 0)
			import_goes_on(rd->im, f.at / 2 + (learn ? 0 : in->size / 2), in->size);
	}
	end_stack(rd);
	if (!learn)
		text_duration_end(rd->duration);
	if (f.rc < 0)
		import_fail(rd->im, f.rc);
	text_file_free(&f);
	return rd->im->rc;
}

static int read_twice(struct reading *rd, const struct source_input *in, struct spur_error *err)
{
	int rc = read_once(rd, in, true);

	if (rc == 0 && !rd->events)
		return error_set(err, -ENODATA, "%s: there is no event in the text", in->path);
	if (rc == 0) {
		text_classes_settle(&rd->classes);
		rc = read_once(rd, in, false);
	}
	if (rc == 0 && rd->odd)
		import_remark(rd->im, 0, "%" PRIu64 " lines are not understood", rd->odd);
	return rc;
}

static int read_text(const struct source_input *in, struct import *im, struct spur_error *err)
{
	struct reading *rd = calloc(1, sizeof(*rd));
	int rc;

	if (!rd)
		return error_set(err, -ENOMEM, "out of memory");
	rd->im = im;
	rd->classes.im = im;
	rd->known = text_known_new(im);
	rd->ftrace = text_ftrace_new(im);
	rd->graph = rd->ftrace ? text_graph_new(im, rd->ftrace) : NULL;
	rd->duration = rd->ftrace ? text_duration_new(im, rd->ftrace) : NULL;
	rc = im->rc < 0 ? im->rc : read_twice(rd, in, err);
	text_duration_free(rd->duration);
	text_graph_free(rd->graph);
	text_known_free(rd->known);
	text_classes_free(&rd->classes);
	map_free(&rd->last);
	free(rd);
	return rc;
}

/* A head line, or an event, among the first lines. */
static bool recognise(const struct source_input *in)
{
	struct piece all = {(const char *)in->head, in->head_size};

	if (in->folder || memchr(all.at, 0, all.len))
		return false;
	while (all.len) {
		const char *end = memchr(all.at, '\n', all.len);
		struct piece line = {all.at, end ? (size_t)(end - all.at) : all.len}, rest = line;
		struct text_head head;
		uint32_t cpu;
		int64_t lost;

		if (take_text(&rest, "# tracer: ") || text_head_parse(line, &head, &rest) ||
		    text_lost_parse(line, &cpu, &lost) || text_duration_is(line) ||
		    text_graph_is(line))
			return true;
		if (line.len && *line.at != '#' && !is_blank(line))
			return false;
		piece_skip(&all, line.len + (end != NULL));
	}
	return false;
}

const struct import_source source_text = {
	.name = "text",
	.about = "the kernel's text, of its files trace and trace_pipe",
	.recognise = recognise,
	.read = read_text,
};
