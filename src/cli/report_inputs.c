// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The inputs of `spur report`: opening them, marking their events, their buffers, and the filters:
 * -F and -v as they are, --pid and --comm as filters.
 */
#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/vec.h"
#include "cli/report.h"
#include "event/names.h"
#include "event/tep.h"

#define SYMBOLS_LIMIT (1u << 30)
#define REGEX_LIMIT   (64u << 10)

/* ---- opening ---- */

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
	struct spur_error err = {0};
	scoped_buf symbols = buf_new(SYMBOLS_LIMIT);
	int status = SPUR_OK;

	note_missing_plugins(o);
	opt.plugin_options = o->plugin_options.at;
	if (o->kallsyms) {
		if (file_read(o->kallsyms, &symbols, &err) < 0)
			status = cli_fail(&err);
		opt.kallsyms = symbols.data;
		opt.kallsyms_len = symbols.len;
	}
	for (size_t i = 0; status == SPUR_OK && i < o->inputs.n; i++) {
		struct report_input *in = &o->inputs.at[i];

		opt.ts_offset = in->ts_offset;
		opt.ts_hz = in->ts_hz ? in->ts_hz : o->ts_hz;
		if (trace_open(in->path, &opt, &in->trace, &err) < 0)
			status = cli_fail(&err);
	}
	return status;
}

/* ---- event types ---- */

/* A regular expression for a whole name. */
static bool compile_regex(const char *text, regex_t *re)
{
	scoped_buf pattern = buf_new(REGEX_LIMIT);
	bool ok;

	buf_printf(&pattern, "^%s$", text);
	ok = !buf_full(&pattern) && regcomp(re, buf_str(&pattern), REG_ICASE | REG_NOSUB) == 0;
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
	return basename(in->path);
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

int report_times(const struct report_options *o, uint64_t *since, uint64_t *until,
		 struct spur_error *err)
{
	bool ticks = o->inputs.n > 0;

	vec_each (in, &o->inputs)
		ticks &= trace_counts_ticks(in->trace);
	return parse_range(o->since, o->until, ticks, since, until, err);
}

int report_walk(const struct report_options *o, struct walk_options *w, struct spur_error *err)
{
	if (report_times(o, &w->since, &w->until, err) < 0)
		return -EINVAL;
	/* 0 would mean no limit; no event is at time 1. */
	if (o->until && !w->until)
		w->until = 1;
	w->cpus = o->cpus.bits;
	w->nr_cpus = o->cpus.nr;
	w->stop = &cli_stop;
	return 0;
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

bool report_next_part(const char **at, const char **part, size_t *len)
{
	*part = *at + strspn(*at, ",");
	*len = strcspn(*part, ",");
	*at = *part + *len;
	return *len > 0;
}

static int add_pids(const struct string_refs *lists, struct buf *text, struct spur_error *err)
{
	const char *part;
	size_t len;

	for (size_t i = 0; i < lists->n; i++) {
		for (const char *at = lists->at[i]; report_next_part(&at, &part, &len);) {
			char *end;
			long pid = strtol(part, &end, 10);

			if (end != part + len)
				return error_set(err, -EINVAL, "--pid: '%.*s' is not a number",
						 (int)len, part);
			add_pid(text, pid);
		}
	}
	return 0;
}

static void add_comms(const struct report_options *o, const struct spur_trace *t, struct buf *text)
{
	for (size_t i = 0; i < o->comms.n; i++) {
		struct comm_search s = {.text = text};

		for (const char *at = o->comms.at[i]; report_next_part(&at, &s.name, &s.len);) {
			s.found = false;
			comms_each(t->events->comms, match_comm, &s);
			for (size_t k = 0; k < t->dat->nr_tasks; k++)
				match_comm(&s, t->dat->tasks[k].pid, t->dat->tasks[k].name);
			if (!s.found && !o->quiet)
				cli_error("--comm: no task of the name '%.*s' in %s", (int)s.len,
					  s.name, t->dat->path);
		}
	}
}

/* Events of the tasks, and those that name one of them as theirs or as the next to run. */
static int add_tasks(struct report_options *o, struct select_filters *to, struct spur_trace *t,
		     struct spur_error *err)
{
	scoped_buf text = buf_new(FILTER_TEXT_LIMIT);
	int rc = add_pids(&o->pids, &text, err);

	if (rc == 0)
		add_comms(o, t, &text);
	/* Names that no task has select nothing, not everything. */
	if (rc == 0 && !text.len)
		buf_puts(&text, ".*:common_pid==-1&&common_pid==1");
	return rc == 0 ? add(&to->wanted, t->events, buf_str(&text), err) : rc;
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
