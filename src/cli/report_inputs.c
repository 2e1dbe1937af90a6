// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The inputs of `spur report`: opening them, marking their events, their buffers, and the filters:
 * -F and -v as they are, --pid and --comm as filters.
 */
#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/vec.h"
#include "cli/report.h"
#include "event/names.h"
#include "event/tep.h"

#define PIPE_LIMIT  (64u << 20) /* of a file that does not know its size, as those of /proc */
#define REGEX_LIMIT (64u << 10)

/* ---- opening ---- */

/* The whole of a file; NULL after a message. */
static char *read_file(const char *path, size_t *len)
{
	struct stat st;
	char *text = NULL;
	size_t cap;
	ssize_t n = -1;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	*len = 0;
	if (fd >= 0 && fstat(fd, &st) == 0) {
		cap = st.st_size > 0 ? (size_t)st.st_size : PIPE_LIMIT;
		text = malloc(cap);
		while (text && (n = read(fd, text + *len, cap - *len)) > 0)
			*len += (size_t)n;
	}
	if (n < 0) {
		cli_error("%s: %s", path, strerror(errno));
		free(text);
		text = NULL;
	}
	if (fd >= 0)
		close(fd);
	return text;
}

/* A program that cannot load plugins says so when the user expects one to be loaded. */
static void note_missing_plugins(const struct report_options *o)
{
	const bool asked = o->plugin_options.n || getenv("TRACEEVENT_PLUGIN_DIR");

	if (asked && !tep_available() && !o->no_user_plugins && !o->quiet)
		cli_error("built without libtraceevent: users' plugins are not loaded");
}

int report_open_inputs(struct report_options *o)
{
	struct trace_options opt = {.compat = o->emit.compat,
				    .raw_ts = o->raw_ts,
				    .ignore_date = o->no_date,
				    .user_plugins = !o->no_user_plugins};
	char *symbols = NULL;
	int status = SPUR_OK;

	note_missing_plugins(o);
	/* The list of options ends with a NULL. */
	if (o->plugin_options.n && !vec_push(&o->plugin_options)) {
		cli_error("out of memory");
		return SPUR_ENVIRONMENT;
	}
	opt.plugin_options = o->plugin_options.at;
	if (o->kallsyms) {
		symbols = read_file(o->kallsyms, &opt.kallsyms_len);
		if (!symbols)
			return SPUR_ENVIRONMENT;
		opt.kallsyms = symbols;
	}
	vec_each (in, &o->inputs) {
		struct spur_error err = {0};

		opt.ts_offset = in->ts_offset;
		opt.ts_hz = in->ts_hz ? in->ts_hz : o->ts_hz;
		if (trace_open(in->path, &opt, &in->trace, &err) < 0) {
			status = cli_fail(&err);
			break;
		}
	}
	free(symbols);
	return status;
}

/* ---- event types ---- */

/* A regular expression for a whole name. */
static bool compile_regex(const char *text, regex_t *re)
{
	struct buf pattern;
	bool ok;

	buf_init(&pattern, REGEX_LIMIT);
	buf_printf(&pattern, "^%s$", text);
	ok = !buf_full(&pattern) && regcomp(re, buf_str(&pattern), REG_ICASE | REG_NOSUB) == 0;
	buf_free(&pattern);
	if (!ok)
		cli_error("'%s' is not a regular expression", text);
	return ok;
}

static int mark_events(const struct string_refs *names, struct spur_trace *t, bool raw)
{
	for (size_t i = 0; i < names->n; i++) {
		regex_t re;

		if (!compile_regex(names->at[i], &re))
			return SPUR_USAGE;
		for (size_t k = 0; k < t->events->nr; k++) {
			struct event *e = t->events->list[k];

			if (regexec(&re, e->name, 0, NULL, 0) &&
			    regexec(&re, e->system, 0, NULL, 0))
				continue;
			if (raw)
				e->show_raw = true;
			else
				e->no_handler = true;
		}
		regfree(&re);
	}
	return SPUR_OK;
}

int report_mark_events(const struct report_options *o, const struct report_input *in)
{
	int status = mark_events(&o->raw_events, in->trace, true);

	return status ? status : mark_events(&o->plain_events, in->trace, false);
}

/* ---- time ---- */

/* The time of the first record of a trace's top buffer; UINT64_MAX when it has none. */
static uint64_t first_time(const struct spur_trace *t)
{
	const struct trace_buffer *b = t->buffers;
	uint64_t first = UINT64_MAX;

	for (uint32_t i = 0; t->nr_buffers && i < b->data->nr_cpus; i++) {
		struct lane l;

		if (!b->data->cpus[i].size || lane_open(&l, b, &b->data->cpus[i]) < 0)
			continue;
		if (lane_next(&l) && l.rec.ts < first)
			first = l.rec.ts;
		lane_close(&l);
	}
	return first;
}

void report_align(struct report_options *o)
{
	uint64_t first = UINT64_MAX;

	vec_each (in, &o->inputs) {
		uint64_t ts = first_time(in->trace);

		first = ts < first ? ts : first;
	}
	if (first == UINT64_MAX)
		return;
	vec_each (in, &o->inputs)
		trace_shift(in->trace, (int64_t)(0 - first));
}

/* ---- sources and labels ---- */

const char *report_label(const struct report_input *in)
{
	const char *slash = strrchr(in->path, '/');

	return slash ? slash + 1 : in->path;
}

static bool add_source(struct report_sources *s, const struct trace_buffer *b, const char *label)
{
	struct emit_source *src = vec_push(s);

	if (!src)
		return false;
	*src = (struct emit_source){.buffer = b, .label = label};
	/* --cpu counts CPUs through all buffers, as trace-cmd does. */
	if (s->n > 1)
		src->first_cpu = src[-1].first_cpu + trace_buffer_cpus(src[-1].buffer);
	return true;
}

bool report_collect_sources(struct report_options *o, struct report_sources *s)
{
	bool instances = false;

	vec_each (in, &o->inputs)
		if (in->trace->nr_buffers && !in->trace->buffers[0].data->text &&
		    !add_source(s, &in->trace->buffers[0], o->several ? report_label(in) : NULL))
			return false;
	vec_each (in, &o->inputs) {
		for (uint32_t i = 1; i < in->trace->nr_buffers; i++) {
			const struct trace_buffer *b = &in->trace->buffers[i];

			instances = true;
			if (!b->data->text && !add_source(s, b, b->data->name))
				return false;
		}
	}
	if (!instances && !o->several)
		return true;
	vec_each (src, s)
		if (src->label && (int)strlen(src->label) > o->emit.label_width)
			o->emit.label_width = (int)strlen(src->label);
	o->emit.labelled = true;
	return true;
}

#define FILTER_TEXT_LIMIT (1u << 20)

static int add(struct filter **f, struct events *ev, const char *text, struct spur_error *err)
{
	if (!*f)
		*f = filter_new(ev);
	return *f ? filter_add(*f, text, err) : error_set(err, -ENOMEM, "out of memory");
}

static void add_pid(struct buf *text, long pid)
{
	buf_printf(text, "%s(common_pid==%ld)||(pid==%ld)||(next_pid==%ld)",
		   text->len ? "||" : ".*:", pid, pid, pid);
}

struct comm_search {
	const char *name;
	size_t len;
	struct buf *text;
	bool found;
};

static void match_comm(void *arg, int pid, const char *name)
{
	struct comm_search *s = arg;

	if (strlen(name) != s->len || memcmp(name, s->name, s->len) != 0)
		return;
	add_pid(s->text, pid);
	s->found = true;
}

/* Calls fn for each part of "a,b,c". */
static int each_part(const struct string_refs *lists, void *arg,
		     int (*fn)(void *arg, const char *part, size_t len))
{
	for (size_t i = 0; i < lists->n; i++) {
		const char *p = lists->at[i];

		while (*p) {
			size_t len = strcspn(p, ",");
			int rc = len ? fn(arg, p, len) : 0;

			if (rc < 0)
				return rc;
			p += len + (p[len] == ',');
		}
	}
	return 0;
}

struct task_filter {
	struct buf text;
	struct spur_trace *trace;
	const struct report_options *o;
	struct spur_error *err;
};

static int one_pid(void *arg, const char *part, size_t len)
{
	struct task_filter *f = arg;
	char *end;
	long pid = strtol(part, &end, 10);

	if (end != part + len)
		return error_set(f->err, -EINVAL, "--pid: '%.*s' is not a number", (int)len, part);
	add_pid(&f->text, pid);
	return 0;
}

static int one_comm(void *arg, const char *part, size_t len)
{
	struct task_filter *f = arg;
	struct comm_search s = {part, len, &f->text, false};

	comms_each(f->trace->events->comms, match_comm, &s);
	if (!s.found && !f->o->quiet)
		cli_error("--comm: no task of the name '%.*s' in %s", (int)len, part,
			  f->trace->dat->path);
	return 0;
}

/* Events of the tasks, and those that name one of them as theirs or as the next to run. */
static int add_tasks(struct report_options *o, struct select_filters *to, struct spur_trace *t,
		     struct spur_error *err)
{
	struct task_filter f = {.trace = t, .o = o, .err = err};
	int rc;

	buf_init(&f.text, FILTER_TEXT_LIMIT);
	rc = each_part(&o->pids, &f, one_pid);
	if (rc == 0)
		rc = each_part(&o->comms, &f, one_comm);
	/* Names that no task has select nothing, not everything. */
	if (rc == 0 && !f.text.len)
		buf_puts(&f.text, ".*:common_pid==-1&&common_pid==1");
	if (rc == 0)
		rc = add(&to->wanted, t->events, buf_str(&f.text), err);
	buf_free(&f.text);
	return rc;
}

static void note_missing_fields(const struct report_options *o, struct filter *f)
{
	struct spur_error missing = {0};

	if (f && !o->quiet && filter_check(f, &missing))
		cli_error("%s", missing.text);
}

int report_make_filters(struct report_options *o, struct selection *sel, struct spur_error *err)
{
	bool tasks = o->pids.n || o->comms.n;
	int rc = 0;

	sel->filters = calloc(o->inputs.n, sizeof(*sel->filters));
	if (!sel->filters)
		return error_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; rc == 0 && i < o->inputs.n; i++) {
		struct report_input *in = &o->inputs.at[i];
		struct select_filters *to = &sel->filters[sel->nr_filters];

		if (!in->filters.n && !tasks)
			continue;
		to->trace = in->trace;
		sel->nr_filters++;
		if (tasks)
			rc = add_tasks(o, to, in->trace, err);
		for (size_t k = 0; rc == 0 && k < in->filters.n; k++)
			rc = add(in->filters.at[k].unwanted ? &to->unwanted : &to->wanted,
				 in->trace->events, in->filters.at[k].text, err);
		if (rc == 0 && !tasks) {
			note_missing_fields(o, to->wanted);
			note_missing_fields(o, to->unwanted);
		}
	}
	return rc;
}

void report_free_filters(struct selection *sel)
{
	for (size_t i = 0; i < sel->nr_filters; i++) {
		filter_free(sel->filters[i].wanted);
		filter_free(sel->filters[i].unwanted);
	}
	free(sel->filters);
}
