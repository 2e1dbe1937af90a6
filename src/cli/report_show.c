// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What `spur report` shows instead of records: facts about a file, function calls as an indented
 * tree (--graph), a profile (--profile).
 */
#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "cli/report.h"
#include "event/names.h"
#include "stats/calltree.h"
#include "stats/profile.h"
#include "stats/profile/hook.h"

static void show_functions(struct spur_trace *t)
{
	size_t n;
	const struct symbol *s = symbols_all(t->events->symbols, &n);

	for (size_t i = 0; i < n; i++) {
		cli_printf("%016llx %s", (unsigned long long)s[i].addr, s[i].name);
		if (s[i].module)
			cli_printf(" [%s]", s[i].module);
		putchar('\n');
	}
}

static void show_printk(struct spur_trace *t)
{
	size_t n;
	const struct printk_format *p = printk_formats_all(t->events->printk, &n);

	for (size_t i = 0; i < n; i++)
		cli_printf("%016llx %s\n", (unsigned long long)p[i].addr, p[i].text);
}

static int by_system(const void *a, const void *b)
{
	const struct event *x = *(struct event *const *)a, *y = *(struct event *const *)b;
	int order = strcmp(x->system, y->system);

	if (!order)
		order = strcmp(x->name, y->name);
	return order ? order : (x->id > y->id) - (x->id < y->id);
}

static int show_events(struct spur_trace *t)
{
	struct event **list = calloc(t->events->nr + 1, sizeof(*list));

	if (!list)
		return cli_refused("out of memory");
	memcpy(list, t->events->list, t->events->nr * sizeof(*list));
	qsort(list, t->events->nr, sizeof(*list), by_system);
	for (size_t i = 0; i < t->events->nr; i++)
		if (!list[i]->added)
			cli_printf("%s:%s\n", list[i]->system, list[i]->name);
	free(list);
	return SPUR_OK;
}

/* Which formats to print: SYSTEM:EVENT, or one expression for either. */
struct format_filter {
	regex_t system, event;
	bool both; /* have to match */
};

static bool filter_formats(struct format_filter *f, const char *text)
{
	const char *colon = strchr(text, ':');
	char *system = strndup(text, colon ? (size_t)(colon - text) : strlen(text));
	const int flags = REG_ICASE | REG_NOSUB;
	bool ok = system && regcomp(&f->system, system, flags) == 0;

	f->both = colon != NULL;
	if (ok && regcomp(&f->event, colon ? colon + 1 : text, flags) != 0) {
		regfree(&f->system);
		ok = false;
	}
	free(system);
	return ok;
}

static bool format_wanted(const struct dat_format *f, const struct format_filter *filter)
{
	char name[128] = "";
	bool system = regexec(&filter->system, f->system, 0, NULL, 0) == 0, event;

	sscanf((const char *)f->text.data, "name: %127s", name);
	event = regexec(&filter->event, name, 0, NULL, 0) == 0;
	return filter->both ? system && event : system || event;
}

/* The event formats of a version 6 file, as trace-cmd prints them; of version 7 it prints none. */
static int print_formats(const struct dat *d, const char *regex)
{
	const char *system = NULL;
	struct format_filter filter;

	if (regex && !filter_formats(&filter, regex))
		return cli_wrong("--event: '%s' is not a regular expression", regex);
	for (size_t i = d->nr_ftrace_formats; d->version < 7 && i < d->nr_formats; i++) {
		const struct dat_format *f = &d->formats[i];

		if (regex && !format_wanted(f, &filter))
			continue;
		if (!system || strcmp(system, f->system) != 0)
			cli_printf("\nsystem: %s\n", f->system);
		system = f->system;
		cli_put((const char *)f->text.data, f->text.size);
		putchar('\n');
	}
	if (regex) {
		regfree(&filter.system);
		regfree(&filter.event);
	}
	return SPUR_OK;
}

/* Names the formats that cannot be understood; it is an error when not even their fields can. */
static int check_events(const struct report_options *o, struct spur_trace *t)
{
	int status = SPUR_OK;

	for (size_t i = 0; i < t->events->nr; i++) {
		struct event *e = t->events->list[i];
		enum event_state state = event_ready(e);

		if (state == EVENT_READY)
			continue;
		if (state == EVENT_BROKEN)
			status = SPUR_CORRUPT;
		if (!o->quiet)
			cli_error("%s:%s: %s", e->system, e->name,
				  e->why ? e->why : "cannot be parsed");
	}
	return status;
}

bool report_show(struct report_options *o, struct report_input *in, int *status)
{
	struct spur_trace *t = in->trace;

	*status = SPUR_OK;
	if (o->show_page_size)
		printf("file page size is %u, and host page size is %ld\n", t->dat->page_size,
		       sysconf(_SC_PAGESIZE));
	else if (o->show_endian)
		printf("file is %s endian and host is %s endian\n",
		       t->dat->big_endian ? "big" : "little",
		       __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? "big" : "little");
	else if (o->print_formats || o->print_format)
		*status = print_formats(t->dat, o->print_formats ? NULL : o->print_format);
	else if (o->check_events)
		*status = check_events(o, t);
	else if (o->show_functions)
		show_functions(t);
	else if (o->show_printk)
		show_printk(t);
	else if (o->show_events)
		*status = show_events(t);
	else
		return false;
	return true;
}

static void print_time(const struct report_options *o, const struct trace_buffer *b, uint64_t ts)
{
	scoped_buf text = buf_new(100);

	emit_time(&o->emit, b, ts, &text);
	fwrite(text.data, 1, text.len, stdout);
}

/* The last record: on the last page that has one. */
static bool last_record(struct lane *l, uint64_t *ts)
{
	for (uint64_t page = l->nr_pages; page-- > 0;) {
		bool any = false;
		uint64_t unused;

		if (!lane_page_time(l, page, &unused))
			continue;
		lane_seek(l, (struct lane_pos){.page = page});
		while (lane_next(l)) {
			*ts = l->rec.ts;
			any = true;
		}
		if (any)
			return true;
	}
	return false;
}

void report_show_cpus(const struct report_options *o, const struct report_input *in)
{
	const struct trace_buffer *b = in->trace->buffers;

	cli_printf("List of CPUs in %s with data:\n", in->path);
	for (uint32_t i = 0; in->trace->nr_buffers && i < b->data->nr_cpus; i++) {
		struct lane l;
		uint64_t ts;

		if (!b->data->cpus[i].size || lane_open(&l, b, &b->data->cpus[i]) < 0)
			continue;
		if (lane_next(&l)) {
			printf("  %u", b->data->cpus[i].cpu);
			if (o->show_first) {
				printf("\tFirst event:");
				print_time(o, b, l.rec.ts);
			}
			if (o->show_last && last_record(&l, &ts)) {
				printf("\tLast event:");
				print_time(o, b, ts);
			}
			putchar('\n');
		}
		lane_close(&l);
	}
}

/* The size of a CPU's data before compression. */
static uint64_t plain_size(struct spur_trace *t, const struct dat_buffer *b,
			   const struct dat_cpu *cpu)
{
	struct dat_pages *pages;
	struct dat_page page;
	uint64_t n = 0;

	if (!b->compressed || dat_pages_open(t->dat, b, cpu, &pages) < 0)
		return cpu->size;
	while (dat_pages_get(pages, n, &page) > 0)
		n++;
	dat_pages_close(pages);
	return n * b->page_size;
}

static const struct dat_cpu *find_cpu(const struct dat_buffer *b, uint32_t cpu)
{
	for (uint32_t i = 0; i < b->nr_cpus; i++)
		if (b->cpus[i].cpu == cpu)
			return &b->cpus[i];
	return NULL;
}

static void show_cpu_sizes(struct spur_trace *t, const struct trace_buffer *top)
{
	const struct dat_buffer *b = top->data;
	uint64_t next = b->page_size;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < b->nr_cpus; i++)
		nr = b->cpus[i].cpu >= nr ? b->cpus[i].cpu + 1 : nr;
	for (uint32_t i = 0; i < nr; i++) {
		const struct dat_cpu *cpu = find_cpu(b, i);
		uint64_t size = cpu && cpu->size ? plain_size(t, b, cpu) : 0;
		uint64_t offset = cpu ? cpu->offset : 0;

		/* Offsets of compressed data are those of a file that holds them uncompressed. */
		if (b->compressed)
			offset = size ? next : 0;
		printf("CPU%u data recorded at offset=0x%llx\n    %llu bytes in size\n", i,
		       (unsigned long long)offset, (unsigned long long)size);
		next += size;
	}
}

static void show_stat(const struct report_input *in)
{
	struct spur_trace *t = in->trace;
	const struct dat *d = t->dat;
	bool any = false;

	printf("\nKernel buffer statistics:\n"
	       "  Note: \"entries\" are the entries left in the kernel ring buffer and are not\n"
	       "        recorded in the trace data. They should all be zero.\n\n");
	for (size_t i = 0; i < d->nr_options; i++) {
		const struct dat_blob *text = &d->options[i].data;

		if (d->options[i].id != DAT_OPT_CPUSTAT || !text->size)
			continue;
		cli_put((const char *)text->data, text->size - 1);
		putchar('\n');
		any = true;
	}
	printf(any ? "\n" : " No stats in this file\n");
	if (t->nr_buffers)
		show_cpu_sizes(t, &t->buffers[0]);
}

void report_show_facts(const struct report_options *o, const struct report_input *in)
{
	const struct dat *d = in->trace->dat;

	if (o->show_version || o->show_uname) {
		if (!o->show_version)
			cli_printf("%s\n",
				   *d->uname ? d->uname : " uname was not recorded in this file");
		cli_printf("%s\n", *d->trace_version ? d->trace_version
						     : " version was not recorded in this file");
	} else {
		show_stat(in);
	}
}

/* ---- tasks ---- */

/* Whether a word is one of those in lists with commas. */
static bool is_listed(const struct string_refs *lists, const char *word, size_t len)
{
	const char *part;
	size_t n;

	for (size_t i = 0; i < lists->n; i++)
		for (const char *at = lists->at[i]; report_next_part(&at, &part, &n);)
			if (n == len && memcmp(part, word, len) == 0)
				return true;
	return false;
}

static bool is_wanted(void *arg, int64_t pid, const char *comm)
{
	const struct report_options *o = arg;
	scoped_buf text = buf_new(32);

	if (!o->pids.n && !o->comms.n)
		return true;
	if (comm && is_listed(&o->comms, comm, strlen(comm)))
		return true;
	buf_i64(&text, pid);
	return is_listed(&o->pids, text.data, text.len);
}

static int check_pids(const struct report_options *o, struct spur_error *err)
{
	for (size_t i = 0; i < o->pids.n; i++)
		if (strspn(o->pids.at[i], "0123456789,") != strlen(o->pids.at[i]))
			return error_set(err, -EINVAL, "--pid: '%s' is no list of numbers",
					 o->pids.at[i]);
	return 0;
}

/* ---- running ---- */

/* Foreign text without control characters, so that it stays on its line. */
static int write_out(void *arg, const char *data, size_t len)
{
	return cli_write_coloured(data, len);
}

/* Filters are about the events between calls: which tasks are shown is decided by is_wanted(). */
static int make_filters(const struct report_options *o, struct selection *sel,
			struct spur_error *err)
{
	struct report_options others = *o;

	others.pids.n = others.comms.n = 0;
	*sel = (struct selection){.no_irqs = o->no_irqs,
				  .no_softirqs = o->no_softirqs,
				  .stacks = SELECT_STACKS_FOLLOW};
	return report_make_filters(&others, sel, err);
}

static int say_what_is_missing(const struct report_options *o, const struct calltree_result *r)
{
	const struct dat *d = o->inputs.at[0].trace->dat;
	const bool asked = o->pids.n || o->comms.n || o->graph_functions.n || o->since ||
			   o->until || o->cpus.bits || o->no_irqs || o->no_softirqs;

	if (r->incomplete)
		cli_error("more calls were open at a time than can be kept: some are missing");
	if (r->any || d->damage.code)
		return SPUR_OK;
	if (asked && !o->quiet)
		cli_error("%s: none of its function calls matches the options", d->path);
	else if (!o->quiet)
		cli_error("%s: there are no function calls in it; 'spur record -p function_graph' "
			  "records them",
			  d->path);
	return SPUR_INCOMPLETE;
}

int report_graph(struct report_options *o)
{
	struct progress progress;
	struct selection sel = {0};
	struct calltree_options opt = {
		.walk = {.progress = o->progress ? progress_show : NULL, .progress_arg = &progress},
		.order = o->graph_by_time ? CALLTREE_BY_TIME : CALLTREE_BY_TASK,
		.wanted = is_wanted,
		.wanted_arg = o,
		.functions = o->graph_functions.at,
		.nr_functions = o->graph_functions.n,
		.min = o->graph_min,
		.depth = o->graph_depth,
		.events = &sel,
		.emit = &o->emit,
		.write = write_out,
	};
	struct calltree_result result = {0};
	struct spur_error err = {0};
	int rc = check_pids(o, &err);

	if (o->align_ts)
		report_align(o);
	if (rc == 0)
		rc = report_walk(o, &opt.walk, &err);
	if (rc == 0)
		rc = make_filters(o, &sel, &err);
	if (rc == 0) {
		progress_begin(&progress);
		rc = calltree_run(o->inputs.at[0].trace, &opt, &result, &err);
		progress_end(&progress);
	}
	report_free_filters(&sel);
	return rc == 0 ? say_what_is_missing(o, &result)
		       : cli_result(rc, "writing the tree of calls", &err);
}

#define TEXT_LIMIT (256u << 20)

int report_show_hooks(const struct report_options *o, struct spur_error *err)
{
	scoped_buf out = buf_new(TEXT_LIMIT);
	int rc = hook_put_all(o->hooks.at, o->hooks.n, &out, err);

	vec_each (in, &o->inputs)
		hook_put_stored(in->trace->dat, &out);
	if (rc == 0)
		cli_put(out.data, out.len);
	return rc;
}

static void warn(void *arg, const char *text)
{
	const struct report_options *o = arg;

	if (!o->quiet)
		cli_error("%s", text);
}

static struct profile *make_profile(const struct report_options *o,
				    struct spur_trace *const *traces, struct spur_error *err)
{
	const char **names = calloc(o->inputs.n + 1, sizeof(*names));
	struct profile_options opt = {
		.global = o->global,
		.by_comm = o->by_comm,
		.hooks = o->hooks.at,
		.nr_hooks = o->hooks.n,
		.names = names,
		.warn = warn,
		.warn_arg = (void *)o,
	};
	struct profile *p;

	for (size_t i = 0; names && i < o->inputs.n; i++)
		names[i] = o->inputs.at[i].path;
	p = profile_new(traces, o->inputs.n, &opt, err);
	free(names);
	return p;
}

int report_profile(const struct report_options *o, const struct report *rep, struct spur_error *err)
{
	const struct profile_input in = {rep->sources, rep->nr_sources, &rep->select, rep->stop};
	struct profile *p = make_profile(o, rep->traces, err);
	scoped_buf out = buf_new(TEXT_LIMIT);
	int rc;

	if (!p)
		return err->code;
	rc = profile_run(p, &in, err);
	if (rc == 0) {
		profile_print(p, &out);
		rc = cli_write(out.data, out.len);
	}
	if (rc == 0 && (profile_dropped(p) || buf_full(&out)))
		warn((void *)o, "the profile is incomplete: it would take too much memory");
	profile_free(p);
	return rc;
}
