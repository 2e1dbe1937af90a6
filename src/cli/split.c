// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur split`: a trace cut into pieces. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "scan/split.h"

struct split_options {
	const char *input, *output;
	enum split_unit unit;
	uint64_t amount;
	bool repeat, per_cpu, progress, quiet, force;
	int64_t cpu;
	vec_of(struct split_buffer) buffers;
};

#define AT(field) offsetof(struct split_options, field)

/* -s, -m, -u, -e, -p: how much a piece has. */
static int take_amount(void *options, const struct opt *opt, const char *arg)
{
	static const struct {
		char letter;
		enum split_unit unit;
		uint64_t factor;
	} units[] = {
		{'s', SPLIT_TIME, 1000000000}, {'m', SPLIT_TIME, 1000000}, {'u', SPLIT_TIME, 1000},
		{'e', SPLIT_EVENTS, 1},	       {'p', SPLIT_PAGES, 1},
	};
	struct split_options *o = options;
	int64_t number;

	if (!parse_number(arg, &number) || number <= 0)
		return opt_error(opt, "'%s' is not a number greater than 0", arg);
	if (o->unit != SPLIT_ALL)
		return opt_error(opt, "only one of -s, -m, -u, -e and -p");
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (units[i].letter != opt->letter)
			continue;
		o->unit = units[i].unit;
		if (__builtin_mul_overflow((uint64_t)number, units[i].factor, &o->amount))
			return opt_error(opt, "'%s' is too much", arg);
	}
	return 0;
}

static int take_buffer(void *options, const struct opt *opt, const char *arg)
{
	struct split_options *o = options;
	const char *name = arg ? arg : "";
	const struct split_buffer b = {name, name};

	return vec_add(&o->buffers, &b) ? 0 : -ENOMEM;
}

/* -t and -b: what the buffer named last is called in the pieces. */
static int rename_buffer(void *options, const struct opt *opt, const char *arg)
{
	struct split_options *o = options;

	if (!o->buffers.n)
		return opt_error(opt, "has to follow -B or --top");
	o->buffers.at[o->buffers.n - 1].as = arg ? arg : "";
	return 0;
}

static const struct opt opts[] = {
	{'i', NULL, OPT_FILE, "FILE", "the file to read (trace.dat)", AT(input)},
	{'o', NULL, OPT_FILE, "FILE", "the file to write (FILE.1); with -r FILE.0001 and so on",
	 AT(output)},
	{0, "force", OPT_FLAG, NULL, "write even if that replaces a recording", AT(force)},
	{0, NULL, OPT_GROUP, NULL, "How much a piece has at most"},
	{'s', NULL, OPT_CALL, "N", "N seconds", .call = take_amount},
	{'m', NULL, OPT_CALL, "N", "N milliseconds", .call = take_amount},
	{'u', NULL, OPT_CALL, "N", "N microseconds", .call = take_amount},
	{'e', NULL, OPT_CALL, "N", "N events", .call = take_amount},
	{'p', NULL, OPT_CALL, "N", "N pages of each CPU", .call = take_amount},
	{'c', NULL, OPT_FLAG, NULL, "count separately for each CPU", AT(per_cpu)},
	{'r', NULL, OPT_FLAG, NULL, "write pieces up to the end, not only one", AT(repeat)},
	{0, NULL, OPT_GROUP, NULL, "What is in the pieces"},
	{'C', NULL, OPT_NUMBER, "CPU", "only this CPU", AT(cpu)},
	{'B', NULL, OPT_VEC, "NAME", "this buffer (instance); may be given several times",
	 AT(buffers), take_buffer},
	{0, "top", OPT_VEC, NULL, "the top buffer", AT(buffers), take_buffer},
	{'t', NULL, OPT_CALL, NULL, "the buffer just named becomes the top one",
	 .call = rename_buffer},
	{'b', NULL, OPT_CALL, "NAME", "the buffer just named gets another name",
	 .call = rename_buffer},
	{0, NULL, OPT_GROUP, NULL, "What is shown"},
	{'q', "quiet", OPT_FLAG, NULL, "do not list the files", AT(quiet)},
	{0, "progress", OPT_FLAG, NULL, "show progress on standard error", AT(progress)},
};

/* Times are what a report shows: seconds, or what another clock counts. */
static bool take_time(const struct spur_trace *t, const char *text, const char *what, uint64_t *ts)
{
	if (parse_trace_time(text, trace_counts_ticks(t), ts))
		return true;
	return cli_complain("the %s '%s' is not a time as the report shows it", what, text);
}

static bool take_range(struct split *s, int others, char **argv)
{
	s->has_start = others > 0;
	s->has_end = others > 1;
	if ((others > 0 && !take_time(s->trace, argv[0], "start", &s->start)) ||
	    (others > 1 && !take_time(s->trace, argv[1], "end", &s->end)))
		return false;
	/* "0 END" means that only the end matters. */
	s->has_start = s->start != 0;
	if (s->has_end && s->end < s->start)
		return cli_complain("the end '%s' is before the start '%s'", argv[1], argv[0]);
	return true;
}

/* The buffer's clock when it does not count nanoseconds, or NULL. */
static const char *other_clock(const struct spur_trace *t, const struct trace_buffer *b)
{
	const char *clock = *b->data->clock ? b->data->clock : t->dat->clock;

	/* Reports show uptime as if it counted nanoseconds, as trace-cmd does; it counts ticks. */
	return b->nanoseconds && strcmp(clock, "uptime") != 0 ? NULL : clock;
}

static bool is_wanted(const struct split_options *o, const struct trace_buffer *b)
{
	vec_each (w, &o->buffers)
		if (strcmp(w->name, b->data->name) == 0)
			return true;
	return !o->buffers.n;
}

/* Whether the times of all buffers can be counted in seconds, if they have to be. */
static bool check_unit(const struct split_options *o, const struct spur_trace *t)
{
	for (uint32_t i = 0; i < t->nr_buffers && o->unit == SPLIT_TIME; i++) {
		const char *clock = other_clock(t, &t->buffers[i]);

		if (!clock || !is_wanted(o, &t->buffers[i]))
			continue;
		return cli_complain(
			"-s, -m and -u: %s was recorded with the clock '%s', which does not "
			"count nanoseconds; use -e or -p, or a start and an end",
			o->input, clock);
	}
	return true;
}

static void list_piece(void *arg, const struct split_piece *piece)
{
	cli_printf("%s: %llu events\n", piece->path, (unsigned long long)piece->events);
}

/* A given name is used as it is; only the pieces of -r are numbered. */
static char *output_name(const struct split_options *o)
{
	char *name;

	if (o->output || o->repeat)
		return strdup(o->output ? o->output : o->input);
	return asprintf(&name, "%s.1", o->input) < 0 ? NULL : name;
}

static int split(const struct split_options *o, struct spur_trace *t, int others, char **argv)
{
	struct progress progress;
	char *output = output_name(o);
	struct split s = {
		.trace = t,
		.output = output,
		.unit = o->unit,
		.amount = o->amount,
		.repeat = o->repeat,
		/* With -r, only the beginnings of the names are given. */
		.spare = (!o->output || o->repeat) && !o->force,
		.per_cpu = o->per_cpu || o->unit == SPLIT_PAGES,
		.one_cpu = o->cpu >= 0,
		.cpu = (uint32_t)o->cpu,
		.buffers = o->buffers.at,
		.nr_buffers = o->buffers.n,
		.wrote = o->quiet ? NULL : list_piece,
		.job = progress_job(&progress, o->progress),
	};
	struct spur_error err = {0};
	int status = SPUR_USAGE, rc;

	if (!output)
		return cli_refused("out of memory");
	if (check_unit(o, t) && take_range(&s, others, argv)) {
		cli_catch_signals();
		rc = split_run(&s, &err);
		progress_end(&progress);
		status = cli_result(rc, o->input, &err);
	}
	free(output);
	return status == SPUR_OK ? cli_damage(t->dat) : status;
}

static int run(void *options, int others, char **argv)
{
	const struct split_options *o = options;
	struct spur_error err = {0};
	struct spur_trace *t;
	int status;

	if (others > 2)
		return cli_wrong("split takes a start and an end");
	if (o->cpu < -1 || o->cpu > UINT32_MAX)
		return cli_wrong("-C: there is no such CPU");
	if (cli_reads_folder(o->output, o->input))
		return SPUR_USAGE;
	if (trace_open(o->input, NULL, &t, &err) < 0)
		return cli_fail(&err);
	status = split(o, t, others, argv);
	trace_close(t);
	return status;
}

const struct command command_split = {
	.name = "split",
	.summary = "cut a trace into pieces",
	.usage = "[options] [START [END]]",
	COMMAND_OPTS(opts, struct split_options),
	.defaults = &(const struct split_options){.input = "trace.dat", .cpu = -1},
	.run = run,
};
