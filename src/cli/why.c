// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur why`: why a task waited. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "cli/onefile.h"
#include "stats/why.h"

#define MOST_NAMED 20 /* tasks of one name that a message lists */
#define NAMED_TEXT 4096

struct why_command {
	const char *input, *buffer;
	bool json;
};

/* TASK@TIME */
struct asked {
	const char *text, *time; /* the time follows the last @ */
	char *task;		 /* owned */
	uint64_t ns, tolerance;
};

struct questions {
	struct asked *at;
	size_t n, cap;
};

#define AT(field) offsetof(struct why_command, field)

static const struct opt opts[] = {
	{'i', NULL, OPT_FILE, "FILE", "the file (trace.dat)", AT(input)},
	{'B', "buffer", OPT_STRING, "NAME", "read this buffer; \"top\" is the top buffer",
	 AT(buffer)},
	{0, "json", OPT_FLAG, NULL, "one JSON object per line", AT(json)},
};

/* ---- arguments ---- */

/*
 * Seconds with few digits, as the report shows them, are rounded: the real time may be half a unit
 * of the last digit earlier or later. A number with a unit is exact.
 */
static uint64_t tolerance_of(const char *time)
{
	const char *dot = strchr(time, '.');
	size_t digits = dot ? strspn(dot + 1, "0123456789") : 0;
	uint64_t ns = 500000000;

	if (!dot || dot[1 + digits])
		return 0;
	while (digits-- && ns > 5)
		ns /= 10;
	return ns > 5 ? ns : 0;
}

static bool say_wrong(const struct asked *a)
{
	return cli_complain("'%s' is not TASK@TIME: 'bash@12.345678', '1234@12345678ns'", a->text);
}

static bool take_question(struct questions *q, const char *text)
{
	const char *at = strrchr(text, '@');
	struct asked *a = vec_push(q);

	if (!a)
		return false;
	a->text = text;
	a->time = at + 1;
	a->task = strndup(text, (size_t)(at - text));
	if (!a->task)
		return false;
	return *a->task || say_wrong(a);
}

/*
 * An argument with an @ that is no file is a question; files move to the front. -1: after a
 * message.
 */
static int take_arguments(struct questions *q, int others, char **argv)
{
	int files = 0;

	for (int i = 0; i < others; i++) {
		const char *at = strrchr(argv[i], '@');

		if (!at || strchr(at, '/') || access(argv[i], F_OK) == 0)
			argv[files++] = argv[i];
		else if (!take_question(q, argv[i]))
			return -1;
	}
	if (q->n)
		return files;
	cli_error("whose wait? TASK@TIME is a pid or a name, and when: 'bash@12.345678'");
	return -1;
}

/* ---- tasks ---- */

static int say_several(const struct asked *a, const struct why_tasks *tasks)
{
	scoped_buf list = buf_new(NAMED_TEXT);

	for (size_t i = 0; i < tasks->n && i < MOST_NAMED; i++)
		buf_printf(&list, "%s%lld", i ? ", " : "", (long long)tasks->at[i]);
	if (tasks->n > MOST_NAMED)
		buf_printf(&list, " and %zu more", tasks->n - MOST_NAMED);
	cli_error("there are %zu tasks '%s': %s; name one by its number, as in '%lld@%s'", tasks->n,
		  a->task, buf_str(&list), (long long)tasks->at[0], a->time);
	return SPUR_USAGE;
}

/* Fills in the pid; the other options have been set. */
static int find_task(const struct asked *a, struct spur_trace *t, struct why_options *opt)
{
	struct why_tasks tasks = {0};
	struct spur_error err = {0};
	int rc = why_find_tasks(t, a->task, opt, &tasks, &err), status = SPUR_OK;

	if (rc < 0)
		status = cli_result(rc, "looking for the task", &err);
	else if (tasks.n > 1)
		status = say_several(a, &tasks);
	else if (tasks.n)
		opt->pid = tasks.at[0];
	else
		cli_error("%s: there is no task '%s'", t->dat->path, a->task);
	if (rc == 0 && !tasks.n)
		status = SPUR_USAGE;
	vec_free(&tasks);
	return status;
}

/* ---- answers ---- */

/* Whether the clock of what is asked, a buffer or all of them, counts ticks. */
static bool counts_ticks(const struct why_command *o, const struct spur_trace *t)
{
	const struct trace_buffer *b = o->buffer ? onefile_buffer(t, o->buffer) : NULL;

	return b ? !b->nanoseconds : trace_counts_ticks(t);
}

static bool read_times(struct questions *q, bool ticks)
{
	vec_each (a, q) {
		if (!parse_trace_time(a->time, ticks, &a->ns))
			return say_wrong(a);
		a->tolerance = ticks ? 0 : tolerance_of(a->time);
	}
	return true;
}

static int answer(const struct why_command *o, const struct asked *a, struct spur_trace *t,
		  struct buf *out)
{
	struct why_options opt = {.moment = a->ns, .tolerance = a->tolerance, .stop = &cli_stop};
	struct spur_error err = {0};
	int status, rc;
	struct why why;

	if (o->buffer)
		opt.buffer = strcmp(o->buffer, "top") == 0 ? "" : o->buffer;
	status = find_task(a, t, &opt);
	if (status != SPUR_OK)
		return status;
	rc = why_make(&why, t, &opt, &err);
	if (rc == 0 && why.switchless && !t->dat->damage.code) {
		cli_error("%s: the events for it are not there; 'spur record -e sched_switch -e "
			  "sched_waking' records them",
			  t->dat->path);
		status = SPUR_INCOMPLETE;
	} else if (rc == 0 && !why.exists) {
		cli_error("%s: nothing in it is about task %lld", t->dat->path, (long long)opt.pid);
		status = SPUR_USAGE;
	} else if (rc == 0 && o->json) {
		why_json(&why, out);
		buf_putc(out, '\n');
	} else if (rc == 0) {
		why_text(&why, 0, out);
	}
	why_free(&why);
	return rc < 0 ? cli_result(rc, "reading the trace", &err) : status;
}

static int answer_all(const struct why_command *o, struct questions *q, struct spur_trace *t)
{
	struct spur_error err = {0};
	scoped_buf out = buf_new(ONEFILE_TEXT);
	int status = read_times(q, counts_ticks(o, t)) ? SPUR_OK : SPUR_USAGE, rc;

	for (size_t i = 0; status == SPUR_OK && i < q->n; i++) {
		if (i && !o->json)
			buf_putc(&out, '\n');
		status = answer(o, &q->at[i], t, &out);
	}
	rc = cli_write(out.data, out.len);
	if (status == SPUR_OK)
		status = cli_result(rc, "writing the answer", &err);
	return status == SPUR_OK && cli_stop ? 128 + cli_stop : status;
}

static int run(void *options, int others, char **argv)
{
	const struct why_command *o = options;
	struct questions q = {0};
	int files = take_arguments(&q, others, argv), status = SPUR_USAGE;
	struct spur_trace *t = NULL;

	if (files >= 0)
		t = onefile_open(&command_why, o->input, files, argv, &status);
	if (t && o->buffer && !onefile_buffer(t, o->buffer))
		status = onefile_close(t, SPUR_USAGE);
	else if (t)
		status = onefile_close(t, answer_all(o, &q, t));
	vec_each (a, &q)
		free(a->task);
	vec_free(&q);
	return status;
}

const struct command command_why = {
	.name = "why",
	.summary = "show why a task waited: who had its CPU, or what woke it",
	.usage = "[options] [FILE] TASK@TIME...",
	COMMAND_OPTS(opts, struct why_command),
	.run = run,
};
