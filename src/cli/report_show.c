// SPDX-License-Identifier: GPL-2.0-or-later
/* What `spur report` shows about a file instead of its events. */
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/report.h"
#include "event/names.h"

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

	if (!list) {
		cli_error("out of memory");
		return SPUR_ENVIRONMENT;
	}
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

	if (regex && !filter_formats(&filter, regex)) {
		cli_error("--event: '%s' is not a regular expression", regex);
		return SPUR_USAGE;
	}
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
	struct buf text;

	buf_init(&text, 100);
	emit_time(&o->emit, b, ts, &text);
	fwrite(text.data, 1, text.len, stdout);
	buf_free(&text);
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

		/* Compressed data are shown as they would lie in a file of their own. */
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
