// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `spur flame`: stacks and calls of a trace as a picture, or as folded text.
 *
 * A trace, of spur or another tool, is recognized by its first bytes. Every other input is folded
 * text, and may come through a pipe.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/newfile.h"
#include "base/suggest.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "cli/range.h"
#include "draw/svg.h"
#include "import/sources.h"

struct flame_options {
	struct range_options range;

	/* What to take. */
	const char *from, *weight, *unit, *buffer;
	struct globs events;
	struct string_refs event_names; /* the same as they were written */
	bool off_cpu, by_task, by_cpu, reverse;

	/* What to make of it. */
	const char *other; /* --diff */
	bool folded, icicle, chart, heat;
	const char *column;

	/* How it looks and where it goes. */
	const char *output, *title, *colours, *min_width;
	int64_t width;

	/* What becomes of the above. */
	struct flame_wanted wanted;
	struct flame_look look;
	uint64_t column_ns;
	char *weight_event; /* of --weight EVENT.FIELD; owned */
};

/* A file to read: a trace, or folded text. */
struct flame_input {
	const char *path;
	struct spur_trace *trace; /* NULL: text */
	int fd;			  /* of the text; -1 */
	struct buf head;	  /* what has been read of it */
};

#define CHUNK (256u << 10)

static int fill(struct flame_input *in, struct spur_error *err)
{
	ssize_t n;

	buf_reset(&in->head);
	if (!buf_room(&in->head, CHUNK))
		return error_set(err, -ENOMEM, "out of memory");
	do
		n = read(in->fd, in->head.data, CHUNK);
	while (n < 0 && errno == EINTR && !cli_stop);
	if (n < 0)
		return error_sys(err, -errno, "%s", in->path);
	in->head.len = (size_t)n;
	return 0;
}

static bool is_trace(const struct buf *head)
{
	static const char magic[] = "\x17\x08\x44tracing";

	return head->len >= sizeof(magic) - 1 && memcmp(head->data, magic, sizeof(magic) - 1) == 0;
}

/* Opens a trace or folded text; "-" is standard input. */
static int flame_input_open(struct flame_input *in, const char *path, struct spur_error *err)
{
	const bool standard = strcmp(path, "-") == 0;
	int rc;

	*in = (struct flame_input){.path = standard ? "standard input" : path};
	buf_init(&in->head, CHUNK);
	in->fd = standard ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
	if (in->fd < 0)
		return error_sys(err, -errno, "%s", in->path);
	if (standard || !source_of(in->fd)) {
		rc = fill(in, err);
		if (rc < 0 || !is_trace(&in->head))
			return rc;
	}
	if (standard)
		return error_set(err, -EINVAL, "standard input: a trace must be a file");
	close(in->fd);
	in->fd = -1;
	return trace_open(path, NULL, &in->trace, err);
}

/* Says what is damaged and returns the exit status for it. */
static int flame_input_close(struct flame_input *in)
{
	int status = SPUR_OK;

	if (in->trace) {
		status = cli_damage(in->trace->dat);
		trace_close(in->trace);
	}
	if (in->fd >= 0)
		close(in->fd);
	buf_free(&in->head);
	return status;
}

/* ---- folded text ---- */

static int read_text(struct flame_input *in, struct flame *f, unsigned int side,
		     struct spur_error *err)
{
	struct flame_folded folded;
	int rc = 0;

	flame_folded_begin(&folded, f, side);
	while (rc == 0 && in->head.len && !cli_stop) {
		flame_folded_take(&folded, in->head.data, in->head.len);
		rc = fill(in, err);
	}
	flame_folded_end(&folded);
	if (cli_stop)
		return -EINTR;
	if (rc < 0 || !folded.bad)
		return rc;
	error_set(err, -EBADMSG, "%s: line %llu is no folded stack, a line \"outer;inner 42\"",
		  in->path, (unsigned long long)folded.first_bad);
	/*
	 * A damaged trace is shown in part, and the status says so; a file of another kind is not.
	 */
	if (folded.bad == folded.lines || folded.bad > folded.lines / 2)
		return -EBADMSG;
	return 0;
}

static int check_text_options(const struct flame_input *in, const struct flame_options *o,
			      struct spur_error *err)
{
	const struct range_options *r = &o->range;
	const char *name = o->from	  ? "--from"
			   : o->events.n  ? "-e"
			   : o->weight	  ? "--weight"
			   : o->off_cpu	  ? "--off-cpu"
			   : o->by_task	  ? "--by-task"
			   : o->by_cpu	  ? "--by-cpu"
			   : o->buffer	  ? "--buffer"
			   : r->since	  ? "--since"
			   : r->until	  ? "--until"
			   : r->cpus.bits ? "--cpu"
			   : r->pids.n	  ? "--pid"
			   : r->comms.n	  ? "--task"
					  : NULL;

	return name ? error_set(err, -EINVAL, "%s: %s goes with a trace, and this is none",
				in->path, name)
		    : 0;
}

/* ---- traces ---- */

static bool has_event(const struct spur_trace *t, const struct pattern *p, struct suggest *near)
{
	const struct flame_wanted one = {.events = p, .nr_events = 1};
	bool found = false;

	for (size_t i = 0; i < t->events->nr && !found; i++) {
		const struct event *e = t->events->list[i];

		found = flame_wants_event(&one, e->system, e->name);
		suggest_try(near, e->name);
	}
	return found;
}

static int check_events(const struct flame_options *o, const struct spur_trace *t,
			struct spur_error *err)
{
	for (size_t i = 0; i < o->event_names.n; i++) {
		const char *name = o->event_names.at[i], *colon = strchr(name, ':');
		const char *word = colon ? colon + 1 : name;
		struct suggest near = suggest_for(word, strlen(word));

		if (!has_event(t, &o->events.at[i], &near))
			return error_set(err, -EINVAL, "there is no event '%s'%s", name,
					 suggest_hint(&near));
	}
	return 0;
}

static int check_buffer(const struct flame_options *o, const struct spur_trace *t,
			struct spur_error *err)
{
	const char *wanted = o->wanted.buffer;
	struct suggest near = suggest_for(wanted ? wanted : "", wanted ? strlen(wanted) : 0);

	for (uint32_t i = 0; wanted && i < t->nr_buffers; i++) {
		if (strcmp(t->buffers[i].data->name, wanted) == 0)
			return 0;
		suggest_try(&near, t->buffers[i].data->name);
	}
	return wanted ? error_set(err, -EINVAL, "there is no buffer '%s'%s", o->buffer,
				  suggest_hint(&near))
		      : 0;
}

/* Whether the file, if it is a trace, knows the events of -e and the buffer. -EINVAL with words. */
static int flame_check_names(const struct flame_options *o, const struct flame_input *in,
			     struct spur_error *err)
{
	int rc;

	if (!in->trace)
		return 0;
	rc = check_events(o, in->trace, err);
	if (rc == 0)
		rc = check_buffer(o, in->trace, err);
	return rc < 0 ? error_prefix(err, "%s", in->path) : 0;
}

/* Adds the stacks of a file to one side of the tree. *from is the kind they are of. */
static int flame_input_read(struct flame_input *in, const struct flame_options *o, struct flame *f,
			    unsigned int side, enum flame_from *from, struct spur_error *err)
{
	int rc;

	*from = FLAME_SAMPLES;
	if (!in->trace) {
		rc = check_text_options(in, o, err);
		return rc < 0 ? rc : read_text(in, f, side, err);
	}
	rc = flame_read(f, side, in->trace, &o->wanted, from, err);
	if (rc == -EINVAL)
		error_prefix(err, "%s", in->path);
	return rc;
}

#define PICTURE_BYTES (512u << 20)
#define MIN_WIDTH     200
#define USUAL_WIDTH   1200
#define MAX_WIDTH     20000

/* An event without a system is one of any. */
static int add_event(struct flame_options *o, const char *name, struct spur_error *err)
{
	struct pattern *p = vec_push(&o->events);
	const char **slot = p ? vec_push(&o->event_names) : NULL;
	scoped_buf full = buf_new(PATTERN_MAX);

	if (!slot)
		return error_set(err, -ENOMEM, "out of memory");
	*slot = name;
	buf_printf(&full, "%s%s", strchr(name, ':') ? "" : "*:", name);
	return pattern_glob(p, buf_str(&full), full.len, err);
}

static int take_event(void *options, const struct opt *opt, const char *arg)
{
	struct spur_error err = {0};

	return add_event(options, arg, &err) < 0 ? opt_error(opt, "%s", err.text) : 0;
}

#define AT(field) offsetof(struct flame_options, field)

static const struct opt opts[] = {
	{.kind = OPT_GROUP, .help = "What to read of a trace"},
	{0, "from", OPT_STRING, "WHAT",
	 "samples, stacks or calls; the default is what the trace has", AT(from),
	 .values = "samples stacks calls"},
	{'e', "event", OPT_CALL, "EVENT", "only stacks of this event", .call = take_event},
	{'B', "buffer", OPT_STRING, "NAME", "only this buffer (instance), or \"top\"", AT(buffer)},
	{0, "weight", OPT_STRING, "WHAT",
	 "count, or for calls time or oncpu, or [EVENT.]FIELD: how wide frames are", AT(weight)},
	{0, "off-cpu", OPT_FLAG, NULL, "stacks of sched_switch by the time until the task runs",
	 AT(off_cpu)},
	{0, "by-task", OPT_FLAG, NULL, "tasks by name at the root", AT(by_task)},
	{0, "by-cpu", OPT_FLAG, NULL, "CPUs at the root", AT(by_cpu)},

	{.kind = OPT_GROUP, .help = "What to make"},
	{0, "folded", OPT_FLAG, NULL, "text instead of a picture: \"outer;inner 42\"", AT(folded)},
	{0, "diff", OPT_FILE, "OTHER", "compare with another file", AT(other)},
	{0, "chart", OPT_FLAG, NULL, "calls over time, a row for each task", AT(chart)},
	{0, "heat", OPT_FLAG, NULL, "a heat map: a column for each second", AT(heat)},
	{0, "column", OPT_STRING, "TIME", "with --heat: a column is that long instead of a second",
	 AT(column)},
	{0, "reverse", OPT_FLAG, NULL, "from the innermost function to its callers", AT(reverse)},
	{0, "icicle", OPT_FLAG, NULL, "the root at the top", AT(icicle)},
	{0, "inverted", OPT_FLAG, NULL, "the same", AT(icicle)},

	{.kind = OPT_GROUP, .help = "How it looks and where it goes"},
	{'o', NULL, OPT_FILE, "FILE", "write to this file, \"-\" to standard output", AT(output)},
	{0, "title", OPT_STRING, "TEXT", "the title", AT(title)},
	{0, "unit", OPT_STRING, "NAME", "the unit of the numbers: samples, ns or another word",
	 AT(unit), .values = "samples ns bytes"},
	{0, "colors", OPT_STRING, "PALETTE", "hot, kernel-user, by-module or colorblind",
	 AT(colours), .values = "hot kernel-user by-module colorblind"},
	{0, "width", OPT_NUMBER, "PIXELS", "instead of 1200", AT(width)},
	{0, "min-width", OPT_STRING, "PIXELS", "leave out frames that are narrower than that (0.1)",
	 AT(min_width)},
};

/* ---- options ---- */

static const char *const palettes[] = {
	[FLAME_HOT] = "hot",
	[FLAME_KERNEL_USER] = "kernel-user",
	[FLAME_BY_MODULE] = "by-module",
	[FLAME_COLOURBLIND] = "colorblind",
};

/* A field of an event asks for the stacks of that one. */
static int set_weight(struct flame_options *o, struct spur_error *err)
{
	const char *dot = o->weight ? strrchr(o->weight, '.') : NULL;
	enum flame_weight weight = FLAME_FIELD;

	o->wanted.weight = o->off_cpu ? FLAME_OFF_CPU : FLAME_USUAL;
	if (o->off_cpu && o->weight)
		return error_set(err, -EINVAL, "--off-cpu is a weight; --weight is another one");
	if (o->off_cpu)
		return add_event(o, "sched:sched_switch", err);
	if (!o->weight)
		return 0;
	if (!flame_weight_named(o->weight, &weight)) {
		o->wanted.field = dot ? dot + 1 : o->weight;
		if (!*o->wanted.field || dot == o->weight)
			return error_set(err, -EINVAL, "--weight: '%s' is no EVENT.FIELD",
					 o->weight);
	}
	o->wanted.weight = weight;
	if (!o->wanted.field || !dot || o->events.n)
		return 0;
	o->weight_event = strndup(o->weight, (size_t)(dot - o->weight));
	return o->weight_event ? add_event(o, o->weight_event, err)
			       : error_set(err, -ENOMEM, "out of memory");
}

static int set_look(struct flame_options *o, struct spur_error *err)
{
	char *end = "";
	size_t palette = 0;

	o->look.min_width = -1;
	if (o->min_width)
		o->look.min_width = strtod(o->min_width, &end);
	if (o->min_width && (end == o->min_width || *end || !(o->look.min_width >= 0) ||
			     o->look.min_width > MAX_WIDTH))
		return error_set(err, -EINVAL, "--min-width: '%s' is no number of pixels",
				 o->min_width);
	if (o->width < MIN_WIDTH || o->width > MAX_WIDTH)
		return error_set(err, -EINVAL, "--width: between %d and %d", MIN_WIDTH, MAX_WIDTH);
	while (o->colours && palette < ARRAY_SIZE(palettes) &&
	       strcmp(palettes[palette], o->colours) != 0)
		palette++;
	if (palette == ARRAY_SIZE(palettes))
		return error_set(err, -EINVAL,
				 "--colors: hot, kernel-user, by-module or colorblind, not '%s'",
				 o->colours);
	o->look.colours = (enum flame_colours)palette;
	o->look.width = (uint32_t)o->width;
	o->look.title = o->title;
	o->look.icicle = o->icicle;
	o->look.both = o->other != NULL;
	return 0;
}

/* Pairs of options of which one makes the other meaningless. */
static int check_conflicts(const struct flame_options *o, struct spur_error *err)
{
	const struct {
		bool both;
		const char *words;
	} wrong[] = {
		{o->chart && o->heat, "--chart and --heat are two pictures"},
		{o->chart && o->folded, "--folded has no times; --chart is a picture of them"},
		{o->heat && o->folded, "--heat is a picture; --folded is a text"},
		{(o->chart || o->heat) && o->other, "--diff compares flame graphs"},
		{(o->chart || o->heat) && (o->reverse || o->icicle),
		 "--reverse and --icicle are about flame graphs"},
		{(o->chart || o->heat) && (o->weight || o->off_cpu || o->by_cpu),
		 "--weight, --off-cpu and --by-cpu are about flame graphs"},
		{o->chart && (o->events.n || (o->from && strcmp(o->from, "calls") != 0)),
		 "--chart shows calls: only they have a duration"},
		{o->heat && o->from && strcmp(o->from, "samples") != 0,
		 "--heat counts samples, or events (-e)"},
		{o->column && !o->heat, "--column goes with --heat"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		if (wrong[i].both)
			return error_set(err, -EINVAL, "%s", wrong[i].words);
	return 0;
}

static int prepare(struct flame_options *o, struct spur_error *err)
{
	enum flame_from from = FLAME_ANY;
	int rc = check_conflicts(o, err);

	if (rc == 0)
		rc = range_walk_any(&o->range, &o->wanted.walk, err);
	if (rc == 0)
		rc = set_weight(o, err);
	if (rc == 0)
		rc = set_look(o, err);
	if (rc < 0)
		return rc;
	if (o->from && !flame_from_named(o->from, &from))
		return error_set(err, -EINVAL, "--from: samples, stacks or calls, not '%s'",
				 o->from);
	if (o->column && (!parse_time(o->column, &o->column_ns) || o->column_ns < FLAME_HEAT_ROWS))
		return error_set(err, -EINVAL, "--column: '%s' is not a time", o->column);
	o->wanted.from = from;
	o->wanted.events = o->events.at;
	o->wanted.nr_events = o->events.n;
	o->wanted.task = range_task;
	o->wanted.task_arg = &o->range;
	o->wanted.buffer = o->buffer && strcmp(o->buffer, "top") == 0 ? "" : o->buffer;
	o->wanted.by_task = o->by_task;
	o->wanted.by_cpu = o->by_cpu;
	return 0;
}

/* On a terminal, the picture goes to a file, and a message says its name. */
static int deliver(const struct flame_options *o, const struct buf *b, struct spur_error *err)
{
	const char *path = o->output;
	int rc;

	if (buf_full(b))
		return error_set(err, -ENOMEM, "the picture is too large; see --min-width");
	if (!path && !o->folded && isatty(STDOUT_FILENO))
		path = o->heat ? "heat.svg" : "flame.svg";
	if (!path || strcmp(path, "-") == 0)
		return cli_write(b->data, b->len);
	rc = o->output ? 0 : source_spare(path, "name it with -o", err);
	if (rc == 0)
		rc = newfile_write(path, b->data, b->len, err);
	if (rc == 0 && !o->output)
		printf("%s\n", path);
	return rc;
}

/* ---- pictures ---- */

static void set_unit(struct flame_options *o, const struct spur_trace *t, enum flame_from from)
{
	const enum flame_weight w = o->wanted.weight;
	const bool times = (from == FLAME_CALLS && w != FLAME_COUNT) || w == FLAME_OFF_CPU;
	const bool ticks = t && t->nr_buffers && !t->buffers[0].nanoseconds;

	o->look.unit = FLAME_UNIT_PLAIN;
	if (o->unit && strcmp(o->unit, "ns") == 0)
		o->look.unit = FLAME_UNIT_NS;
	else if (o->unit)
		o->look.unit_name = o->unit;
	else if (times && !ticks)
		o->look.unit = FLAME_UNIT_NS;
	else if (times)
		o->look.unit_name = "ticks";
	else if (w == FLAME_FIELD)
		o->look.unit_name = o->wanted.field;
	else if (from == FLAME_CALLS)
		o->look.unit_name = "calls";
	else
		o->look.unit = FLAME_UNIT_SAMPLES;
}

/* Whether the switches of all buffers may be missing. */
static bool all_filtered(const struct spur_trace *t)
{
	for (uint32_t i = 0; i < t->nr_buffers; i++)
		if (!dat_filtered(t->dat, t->buffers[i].data->name, "sched:sched_switch"))
			return false;
	return t->nr_buffers > 0;
}

static int nothing(const struct flame_options *o, const struct flame_input *in,
		   enum flame_from from, struct spur_error *err)
{
	if (!in->trace)
		return error_set(err, -ENODATA, "%s: there are no stacks in it", in->path);
	if (o->off_cpu && all_filtered(in->trace))
		return error_set(err, -ENODATA,
				 "%s: sched_switch had to pass a filter, so it is not known how "
				 "long tasks were off the CPU",
				 in->path);
	if (from == FLAME_CALLS)
		return error_set(err, -ENODATA,
				 "%s: there are no such calls in it; 'spur record -p "
				 "function_graph' records them",
				 in->path);
	return error_set(err, -ENODATA,
			 "%s: there are no such stacks in it; 'spur record -T -e EVENT' records "
			 "them with events",
			 in->path);
}

static int show_flame(struct flame_options *o, struct flame *f, struct spur_error *err)
{
	struct flame reversed, *shown = f;
	scoped_buf out = buf_new(PICTURE_BYTES);
	int rc = 0;

	if (o->reverse) {
		rc = flame_init(&reversed, 0, err);
		if (rc < 0)
			return rc;
		flame_reverse(f, &reversed);
		shown = &reversed;
	}
	flame_finish(shown);
	if (o->folded)
		flame_folded_put(shown, o->other != NULL, &out);
	else
		flame_svg(shown, &o->look, &out);
	rc = deliver(o, &out, err);
	if (o->reverse)
		flame_free(&reversed);
	return rc;
}

static int flame_graph(struct flame_options *o, struct flame_input *in, struct flame_input *other,
		       struct spur_error *err)
{
	enum flame_from from, second;
	char subtitle[512];
	struct flame f;
	int rc = flame_init(&f, 0, err);

	if (rc < 0)
		return rc;
	rc = flame_input_read(in, o, &f, 0, &from, err);
	if (rc == 0 && !f.stacks[0] && !err->code)
		rc = nothing(o, in, from, err);
	if (rc == 0 && other)
		rc = range_times(&o->range, other->trace, &o->wanted.walk, err);
	if (rc == 0 && other) {
		rc = flame_input_read(other, o, &f, 1, &second, err);
		if (rc == 0 && !f.stacks[1] && !err->code)
			rc = nothing(o, other, second, err);
		if (rc == 0 && from != second)
			rc = error_set(err, -EINVAL,
				       "one file has calls, the other one samples: choose with "
				       "--from");
	}
	if (rc == 0) {
		set_unit(o, in->trace, from);
		snprintf(subtitle, sizeof(subtitle), "%s%s%s", file_name_of(in->path),
			 other ? " and then " : "", other ? file_name_of(other->path) : "");
		o->look.subtitle = subtitle;
		rc = show_flame(o, &f, err);
	}
	flame_free(&f);
	return rc;
}

static int flame_chart(struct flame_options *o, const struct flame_input *in,
		       struct spur_error *err)
{
	struct flame_chart *c = flame_chart_new(err);
	scoped_buf out = buf_new(PICTURE_BYTES);
	int rc;

	if (!c)
		return err->code;
	o->look.subtitle = file_name_of(in->path);
	rc = flame_chart_read(c, in->trace, &o->wanted, err);
	if (rc == 0 && !flame_chart_calls(c))
		rc = nothing(o, in, FLAME_CALLS, err);
	if (rc == 0) {
		flame_chart_svg(c, &o->look, &out);
		rc = deliver(o, &out, err);
	}
	flame_chart_free(c);
	return rc;
}

static int heat_map(struct flame_options *o, const struct flame_input *in, struct spur_error *err)
{
	struct flame_heat *h = flame_heat_new(o->column_ns, err);
	scoped_buf out = buf_new(PICTURE_BYTES);
	int rc;

	if (!h)
		return err->code;
	o->look.subtitle = file_name_of(in->path);
	rc = flame_heat_read(h, in->trace, &o->wanted, err);
	if (rc == -EINVAL)
		error_prefix(err, "%s", in->path);
	if (rc == 0 && !flame_heat_events(h))
		rc = nothing(o, in, FLAME_SAMPLES, err);
	if (rc == 0) {
		flame_heat_svg(h, &o->look, &out);
		rc = deliver(o, &out, err);
	}
	flame_heat_free(h);
	return rc;
}

static int make(struct flame_options *o, struct flame_input *in, struct flame_input *other,
		struct spur_error *err)
{
	int rc = flame_check_names(o, in, err);

	if (rc == 0 && other)
		rc = flame_check_names(o, other, err);
	if (rc == 0)
		rc = range_times(&o->range, in->trace, &o->wanted.walk, err);
	if (rc < 0)
		return rc;
	if ((o->chart || o->heat) && !in->trace)
		return error_set(err, -EINVAL, "%s: %s needs a trace: folded stacks have no times",
				 in->path, o->chart ? "--chart" : "--heat");
	if (o->chart)
		return flame_chart(o, in, err);
	if (o->heat)
		return heat_map(o, in, err);
	return flame_graph(o, in, other, err);
}

static int work(struct flame_options *o, const char *path)
{
	struct flame_input in = {.fd = -1}, other = {.fd = -1};
	struct spur_error err = {0};
	int rc, status, damage;

	cli_catch_signals();
	rc = prepare(o, &err);
	if (rc == 0)
		rc = flame_input_open(&in, path, &err);
	if (rc == 0 && o->other)
		rc = flame_input_open(&other, o->other, &err);
	if (rc == 0)
		rc = make(o, &in, o->other ? &other : NULL, &err);
	progress_end(&o->range.progress);
	/* An error without a failure: a part of the input was shown. */
	status = rc == 0 && err.code ? cli_fail(&err) : cli_result(rc, "writing the picture", &err);
	damage = flame_input_close(&in);
	status = status ? status : damage;
	damage = flame_input_close(&other);
	return status ? status : damage;
}

static int run(void *options, int others, char **argv)
{
	struct flame_options *o = options;
	const char *path = o->range.input ? o->range.input : others ? argv[0] : "trace.dat";

	if (others > 1 || (others > 0 && o->range.input))
		return cli_wrong("flame reads one file; --diff names another one");
	if (cli_reads(o->output, path) || cli_reads(o->output, o->other))
		return SPUR_USAGE;
	return work(o, path);
}

static void release(void *options)
{
	struct flame_options *o = options;

	vec_each (p, &o->events)
		pattern_free(p);
	vec_free(&o->events);
	vec_free(&o->event_names);
	free(o->weight_event);
}

const struct command command_flame = {
	.name = "flame",
	.summary = "draw flame graphs of stacks and calls",
	.usage = "[options] [FILE]",
	COMMAND_OPTS(opts, struct flame_options),
	.defaults = &(const struct flame_options){.width = USUAL_WIDTH},
	.run = run,
	.release = release,
	COMMAND_SHARED(range_opts),
};
