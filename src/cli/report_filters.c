// SPDX-License-Identifier: GPL-2.0-or-later
/* The filters of `spur report`: -F and -v as they are, --pid and --comm in terms of them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "cli/report.h"
#include "event/names.h"

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
static int each_part(const struct name_list *lists, void *arg,
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
	/* Names that nobody has select nothing, not everything. */
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
