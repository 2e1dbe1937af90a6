// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur info`: one screen about a file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "base/safe.h"
#include "cli/cli.h"
#include "dat/dat.h"
#include "event/names.h"
#include "scan/summary.h"

struct info_options {
	const char *input;
	bool quick, all, json;
	int64_t threads;
	const char *colour;
	bool use_colour;
	const char *findings; /* names; "": all; NULL: it is not about findings */
	int64_t rows;
};

#define FINDING_ROWS 3 /* of each finding, unless --rows says another number */
#define MOST_ROWS    10000

#define AT(field) offsetof(struct info_options, field)

static int take_findings(void *options, const struct opt *o, const char *arg)
{
	struct info_options *info = options;

	info->findings = arg ? arg : "";
	return 0;
}

static int take_rows(void *options, const struct opt *o, const char *arg)
{
	int64_t *rows = &((struct info_options *)options)->rows;

	if (!parse_number(arg, rows) || *rows < 1 || *rows > MOST_ROWS)
		return opt_error(o, "a number from 1 to %d, not '%s'", MOST_ROWS, arg);
	return 0;
}

static const struct opt opts[] = {
	{'i', NULL, OPT_FILE, "FILE", "the file (trace.dat)", AT(input)},
	{0, "quick", OPT_FLAG, NULL, "only what the file says about itself; do not count events",
	 AT(quick)},
	{0, "all", OPT_FLAG, NULL, "all event types and tasks, not only the most frequent",
	 AT(all)},
	{0, "json", OPT_FLAG, NULL, "as one JSON object", AT(json)},
	{0, "findings", OPT_CALL, "[NAME,...]",
	 "what is worth a look: worst wakeups, longest system calls, losses, ...",
	 .call = take_findings,
	 .values = "losses unknown wakeups blocked syscalls irqs irq-time softirqs softirq-time "
		   "block tasks bursts"},
	{'n', "rows", OPT_CALL, "N", "with --findings: show N of each (3)", .call = take_rows},
	{0, "threads", OPT_NUMBER, "N", "number of threads (one per CPU)", AT(threads)},
	CLI_COLOUR_OPTION(AT(colour)),
};

/* Strings of the file, without control characters and newlines. */
static void put_safe(const char *s)
{
	scoped_buf shown = buf_new(strlen(s) + 1);

	buf_put_safe(&shown, s, strlen(s));
	for (size_t i = 0; i < shown.len; i++)
		putchar(strchr("\n\t", shown.data[i]) ? '?' : shown.data[i]);
}

static void key(const struct info_options *o, const char *name)
{
	printf(o->use_colour ? "\033[1m%-10s\033[0m " : "%-10s ", name);
}

/* The buffer of what is printed, unless it is the top one. */
static void put_in_buffer(const char *name)
{
	if (!*name)
		return;
	printf(" in ");
	put_safe(name);
}

static void line(const struct info_options *o, const char *name, const char *value)
{
	if (!*value)
		return;
	key(o, name);
	put_safe(value);
	putchar('\n');
}

/* ---- what the file says ---- */

static void show_file(const struct info_options *o, const struct dat *d)
{
	key(o, "file");
	put_safe(d->path);
	printf(", %s, version %u", amount_bytes(d->file_size).text, d->version);
	if (strcmp(d->compression, "none") != 0)
		printf(", %s", d->compression);
	printf(", %s-endian, %u-byte longs, pages of %u bytes\n", d->big_endian ? "big" : "little",
	       d->long_size, d->page_size);
	line(o, "machine", d->uname);
	line(o, "recorder", d->trace_version);
	key(o, "clock");
	put_safe(*d->clock ? d->clock : "not recorded");
	if (d->tsc2nsec.valid)
		printf(", TSC converted to nanoseconds");
	if (d->has_date)
		printf(", shifted to wall time by %lld ns", (long long)d->date_offset);
	if (d->has_ts_offset)
		printf(", offset %lld ns", (long long)d->ts_offset);
	putchar('\n');
	if (d->trace_id)
		printf("%-10s %016llx\n", "trace id", (unsigned long long)d->trace_id);
	for (size_t i = 0; i < d->nr_guests; i++) {
		key(o, "guest");
		put_safe(d->guests[i].name);
		printf(", %u CPUs, trace id %016llx\n", d->guests[i].nr_cpus,
		       (unsigned long long)d->guests[i].trace_id);
	}
	for (size_t i = 0; i < d->nr_processes && i < 8; i++) {
		key(o, i ? "" : "maps of");
		put_safe(d->processes[i].name);
		printf("-%d, %u mappings\n", d->processes[i].pid, d->processes[i].nr);
	}
	if (d->nr_time_shifts)
		printf("%-10s to the clock of trace %016llx\n", "time shift",
		       (unsigned long long)d->time_shifts[0].peer_trace_id);
}

/* Those of trace-cmd by number, then those of spur. */
static const struct {
	unsigned int id;
	const char *name;
} option_names[] = {
	{DAT_OPT_DATE, "date"},
	{DAT_OPT_CPUSTAT, "cpustat"},
	{DAT_OPT_BUFFER, "buffer"},
	{DAT_OPT_TRACECLOCK, "traceclock"},
	{DAT_OPT_UNAME, "uname"},
	{DAT_OPT_HOOK, "hook"},
	{DAT_OPT_OFFSET, "offset"},
	{DAT_OPT_CPUCOUNT, "cpucount"},
	{DAT_OPT_VERSION, "version"},
	{DAT_OPT_PROCMAPS, "procmaps"},
	{DAT_OPT_TRACEID, "traceid"},
	{DAT_OPT_TIME_SHIFT, "time-shift"},
	{DAT_OPT_GUEST, "guest"},
	{DAT_OPT_TSC2NSEC, "tsc2nsec"},
	{DAT_OPT_STRINGS, "strings"},
	{DAT_OPT_HEADER_INFO, "headers"},
	{DAT_OPT_FTRACE_EVENTS, "ftrace-events"},
	{DAT_OPT_EVENT_FORMATS, "event-formats"},
	{DAT_OPT_KALLSYMS, "kallsyms"},
	{DAT_OPT_PRINTK, "printk"},
	{DAT_OPT_CMDLINES, "cmdlines"},
	{DAT_OPT_BUFFER_TEXT, "buffer-text"},
	{DAT_OPT_BTF_FILE, "btf"},
	{DAT_OPT_LAST_BOOT_INFO, "last-boot"},
	{DAT_OPT_MODULES_FILE, "modules"},
	{DAT_OPT_CUT, "cut"},
	{DAT_OPT_TASKS, "tasks"},
	{DAT_OPT_FOLLOWED, "followed"},
	{DAT_OPT_FILTERS, "filters"},
	{DAT_OPT_HIDDEN, "hidden"},
};

#define NR_OWN_OPTIONS 5 /* at the end; each is named once */

static void show_options(const struct info_options *o, const struct dat *d)
{
	unsigned int seen[ARRAY_SIZE(option_names)] = {0}, others = 0;

	if (!d->nr_options)
		return;
	key(o, "options");
	for (size_t i = 0, k; i < d->nr_options; i++) {
		for (k = 0; k < ARRAY_SIZE(option_names); k++)
			if (option_names[k].id == d->options[i].id)
				break;
		++*(k < ARRAY_SIZE(option_names) ? &seen[k] : &others);
	}
	for (size_t k = 0; k < ARRAY_SIZE(option_names); k++) {
		if (seen[k] > 1 && k < ARRAY_SIZE(option_names) - NR_OWN_OPTIONS)
			printf("%s×%u ", option_names[k].name, seen[k]);
		else if (seen[k])
			printf("%s ", option_names[k].name);
	}
	if (others)
		printf("unknown×%u", others);
	putchar('\n');
}

static void show_buffers(const struct info_options *o, const struct spur_trace *t)
{
	for (uint32_t i = 0; i < t->nr_buffers; i++) {
		const struct dat_buffer *b = t->buffers[i].data;
		uint64_t bytes = b->text ? b->stored_text.size : 0;
		uint32_t used = 0;

		for (uint32_t k = 0; k < b->nr_cpus; k++) {
			bytes += b->cpus[k].size;
			used += b->cpus[k].size != 0;
		}
		key(o, i ? "" : "buffers");
		put_safe(*b->name ? b->name : "(top)");
		if (b->text)
			printf(": text, %s\n", amount_bytes(bytes).text);
		else
			printf(": %u of %u CPUs with data, %s%s, clock %s\n", used, b->nr_cpus,
			       amount_bytes(bytes).text, b->compressed ? " compressed" : "",
			       *b->clock	? b->clock
			       : *t->dat->clock ? t->dat->clock
						: "?");
	}
}

/* ---- what it holds ---- */

struct event_count {
	const struct event *event;
	uint64_t count;
};

static int most_first(const void *a, const void *b)
{
	const struct event_count *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return strcmp(x->event->name, y->event->name);
}

static struct event_count *sorted_events(const struct spur_trace *t, const struct summary *s,
					 size_t *n)
{
	struct event_count *list = calloc(t->events->nr + 1, sizeof(*list));

	*n = 0;
	for (size_t i = 0; list && i < t->events->nr; i++)
		if (s->by_event[i])
			list[(*n)++] = (struct event_count){t->events->list[i], s->by_event[i]};
	if (list)
		qsort(list, *n, sizeof(*list), most_first);
	return list;
}

static void show_times(const struct info_options *o, const struct spur_trace *t,
		       const struct summary *s)
{
	bool ns = t->nr_buffers && t->buffers[0].nanoseconds;

	key(o, "time");
	if (!s->events)
		printf("no events\n");
	else if (ns)
		printf("%.6f to %.6f, %s\n", (double)s->first / 1e9, (double)s->last / 1e9,
		       amount_time(s->last - s->first).text);
	else
		printf("%llu to %llu ticks\n", (unsigned long long)s->first,
		       (unsigned long long)s->last);
	key(o, "events");
	printf("%llu", (unsigned long long)s->events);
	if (ns && s->last > s->first)
		printf(", %.0f a second", (double)s->events / ((double)(s->last - s->first) / 1e9));
	if (s->unknown)
		printf(", %llu of unknown type", (unsigned long long)s->unknown);
	putchar('\n');
	key(o, "lost");
	printf("%llu", (unsigned long long)s->lost);
	if (s->gaps)
		printf(", and an unknown number in %llu place%s", (unsigned long long)s->gaps,
		       s->gaps == 1 ? "" : "s");
	putchar('\n');
}

static const char *number_or_some(char *text, size_t cap, uint64_t n)
{
	if (n == DAT_CUT_UNKNOWN)
		return "some";
	snprintf(text, cap, "%llu", (unsigned long long)n);
	return text;
}

/* The tasks that were recorded, if not all were. */
static void show_followed(const struct info_options *o, const struct spur_trace *t)
{
	const struct dat_followed *f = &t->dat->followed;

	if (!f->is)
		return;
	key(o, "followed");
	if (!f->nr)
		printf("no task in all buffers");
	for (size_t i = 0; i < f->nr && (o->all || i < 8); i++) {
		size_t len;
		const char *name = comms_find(t->events->comms, f->pids[i], &len);

		printf("%s", i ? ", " : "");
		put_safe(name);
		printf("-%d", f->pids[i]);
	}
	if (f->nr > 8 && !o->all)
		printf(" and %zu more", f->nr - 8);
	printf("; events of others were not recorded\n");
}

/* The tasks whose events are missing. */
static void show_hidden(const struct info_options *o, const struct spur_trace *t)
{
	const struct dat_hidden *h = &t->dat->hidden;

	if (!h->nr)
		return;
	key(o, "hidden");
	for (size_t i = 0; i < h->nr && (o->all || i < 8); i++) {
		size_t len;

		printf("%s", i ? ", " : "");
		put_safe(comms_find(t->events->comms, h->at[i].pid, &len));
		printf("-%d", h->at[i].pid);
		put_in_buffer(h->at[i].buffer);
	}
	if (h->nr > 8 && !o->all)
		printf(" and %zu more", h->nr - 8);
	printf("; switches from one to another were not recorded\n");
}

/* The filters of the scheduler's events. */
static void show_filters(const struct info_options *o, const struct dat *d)
{
	const struct dat_filters *f = &d->filters;

	for (size_t i = 0; i < f->nr && (o->all || i < 8); i++) {
		key(o, i ? "" : "filters");
		put_safe(f->at[i].event);
		put_in_buffer(f->at[i].buffer);
		printf(": ");
		put_safe(f->at[i].text);
		printf(strcmp(f->at[i].event, "sched:sched_switch") == 0
			       ? "; what tasks did between these switches is unknown\n"
			       : "\n");
	}
	if (f->nr > 8 && !o->all)
		printf("%-10s … and %zu more\n", "", f->nr - 8);
}

/* How far each CPU goes in a recording that ended early. */
static void show_cut(const struct info_options *o, const struct dat *d)
{
	char time[48], before[24], after[24];
	uint64_t missing;

	if (!d->cut.is)
		return;
	key(o, "cut");
	printf("%s", dat_cut_why(&d->cut));
	if (dat_cut_missing(&d->cut, &missing))
		printf("; events missing: %llu\n", (unsigned long long)missing);
	else
		printf("; events may be missing\n");
	for (uint32_t i = 0; i < d->cut.nr && (o->all || i < 16); i++) {
		const struct dat_cut_cpu *c = &d->cut.cpus[i];

		printf("%-10s %3u: ", "", c->cpu);
		if (c->last)
			printf("up to %s", dat_cut_time(d, c->last, time, sizeof(time)));
		else
			printf(c->after == DAT_CUT_UNKNOWN ? "how far is not known" : "no events");
		if (c->buffer && c->buffer < d->nr_buffers)
			put_in_buffer(d->buffers[c->buffer].name);
		if (d->cut.cause == DAT_CUT_KILLED && (c->between || c->after))
			printf(", lost %s before the kill, %s at the end",
			       number_or_some(before, sizeof(before), c->between),
			       number_or_some(after, sizeof(after), c->after));
		else if (c->after)
			printf(", %s are missing at the end",
			       number_or_some(after, sizeof(after), c->after));
		putchar('\n');
	}
	if (d->cut.nr > 16 && !o->all)
		printf("%-10s … and %u more\n", "", d->cut.nr - 16);
}

static void show_cpus(const struct info_options *o, const struct summary *s)
{
	size_t rows = o->all || s->nr_lanes <= 16 ? s->nr_lanes : 16;

	for (size_t i = 0; i < rows; i++) {
		const struct summary_lane *l = &s->lanes[i];

		key(o, i ? "" : "CPUs");
		printf("%3u: %10llu events", l->cpu->cpu, (unsigned long long)l->events);
		put_in_buffer(l->buffer->data->name);
		if (l->lost || l->gaps)
			printf(", lost %llu%s", (unsigned long long)l->lost, l->gaps ? "+" : "");
		putchar('\n');
	}
	if (rows < s->nr_lanes)
		printf("%-10s … and %zu more\n", "", s->nr_lanes - rows);
}

static void show_counts(const struct info_options *o, const struct spur_trace *t,
			const struct summary *s)
{
	size_t n, rows, tasks = o->all || s->nr_tasks <= 8 ? s->nr_tasks : 8;
	struct event_count *list = sorted_events(t, s, &n);
	double seconds =
		t->nr_buffers && t->buffers[0].nanoseconds ? (double)(s->last - s->first) / 1e9 : 0;

	rows = o->all || n <= 16 ? n : 16;
	for (size_t i = 0; list && i < rows; i++) {
		key(o, i ? "" : "types");
		printf("%10llu  ", (unsigned long long)list[i].count);
		if (seconds > 0)
			printf("%9.0f/s  ", (double)list[i].count / seconds);
		put_safe(list[i].event->system);
		putchar(':');
		put_safe(list[i].event->name);
		putchar('\n');
	}
	if (rows < n)
		printf("%-10s … and %zu more (--all)\n", "", n - rows);
	for (size_t i = 0; i < tasks; i++) {
		size_t len;
		const char *name = comms_find(t->events->comms, s->tasks[i].pid, &len);

		key(o, i ? "" : "tasks");
		printf("%10llu  ", (unsigned long long)s->tasks[i].events);
		put_safe(name);
		printf("-%d\n", s->tasks[i].pid);
	}
	if (tasks < s->nr_tasks)
		printf("%-10s … and %zu more (--all)\n", "", s->nr_tasks - tasks);
	free(list);
}

/* ---- JSON ---- */

static void json_counts(struct json_writer *w, const struct spur_trace *t, const struct summary *s)
{
	size_t n;
	struct event_count *list = sorted_events(t, s, &n);

	json_put_u64(json_key(w, "first"), s->first);
	json_put_u64(json_key(w, "last"), s->last);
	json_put_u64(json_key(w, "events"), s->events);
	json_put_u64(json_key(w, "lost"), s->lost);
	json_put_u64(json_key(w, "gaps"), s->gaps);
	json_array(json_key(w, "types"));
	for (size_t i = 0; list && i < n; i++) {
		json_object(w);
		json_put_text(json_key(w, "system"), list[i].event->system);
		json_put_text(json_key(w, "event"), list[i].event->name);
		json_put_u64(json_key(w, "count"), list[i].count);
		json_end_object(w);
	}
	json_end_array(w);
	free(list);
	json_array(json_key(w, "tasks"));
	for (size_t i = 0; i < s->nr_tasks; i++) {
		size_t len;
		const char *name = comms_find(t->events->comms, s->tasks[i].pid, &len);

		json_object(w);
		json_put_i64(json_key(w, "pid"), s->tasks[i].pid);
		json_put_bytes(json_key(w, "comm"), name, len);
		json_put_u64(json_key(w, "count"), s->tasks[i].events);
		json_end_object(w);
	}
	json_end_array(w);
	json_array(json_key(w, "cpus"));
	for (size_t i = 0; i < s->nr_lanes; i++) {
		const struct summary_lane *l = &s->lanes[i];

		json_object(w);
		json_put_u64(json_key(w, "cpu"), l->cpu->cpu);
		json_put_text(json_key(w, "buffer"), l->buffer->data->name);
		json_put_u64(json_key(w, "events"), l->events);
		json_put_u64(json_key(w, "lost"), l->lost);
		json_end_object(w);
	}
	json_end_array(w);
}

static void json_cut_count(struct json_writer *w, uint64_t n)
{
	if (n == DAT_CUT_UNKNOWN)
		json_put_raw(w, "null");
	else
		json_put_u64(w, n);
}

static void json_cut(struct json_writer *w, const struct dat *d)
{
	if (!d->cut.is)
		return;
	json_array(json_key(w, "cut"));
	for (uint32_t i = 0; i < d->cut.nr; i++) {
		const struct dat_cut_cpu *c = &d->cut.cpus[i];

		json_object(w);
		json_put_u64(json_key(w, "cpu"), c->cpu);
		json_put_text(json_key(w, "buffer"),
			      c->buffer < d->nr_buffers ? d->buffers[c->buffer].name : "");
		json_put_u64(json_key(w, "last"), c->last);
		json_cut_count(json_key(w, "lost_before"), c->between);
		json_cut_count(json_key(w, "lost_after"), c->after);
		json_end_object(w);
	}
	json_end_array(w);
}

static void json_followed(struct json_writer *w, const struct dat_followed *f)
{
	if (!f->is)
		return;
	json_array(json_key(w, "followed"));
	for (size_t i = 0; i < f->nr; i++)
		json_put_i64(w, f->pids[i]);
	json_end_array(w);
}

static void json_hidden(struct json_writer *w, const struct dat_hidden *h)
{
	if (!h->nr)
		return;
	json_array(json_key(w, "hidden"));
	for (size_t i = 0; i < h->nr; i++) {
		json_object(w);
		json_put_i64(json_key(w, "pid"), h->at[i].pid);
		json_put_text(json_key(w, "buffer"), h->at[i].buffer);
		json_end_object(w);
	}
	json_end_array(w);
}

static void json_filters(struct json_writer *w, const struct dat_filters *f)
{
	if (!f->nr)
		return;
	json_array(json_key(w, "filters"));
	for (size_t i = 0; i < f->nr; i++) {
		json_object(w);
		json_put_text(json_key(w, "event"), f->at[i].event);
		json_put_text(json_key(w, "buffer"), f->at[i].buffer);
		json_put_text(json_key(w, "filter"), f->at[i].text);
		json_end_object(w);
	}
	json_end_array(w);
}

static void show_json(const struct spur_trace *t, const struct summary *s)
{
	const struct dat *d = t->dat;
	scoped_buf b = buf_new(256u << 20);
	struct json_writer w = {&b};

	json_object(&w);
	json_put_text(json_key(&w, "file"), d->path);
	json_put_u64(json_key(&w, "version"), d->version);
	json_put_u64(json_key(&w, "size"), d->file_size);
	json_put_u64(json_key(&w, "page_size"), d->page_size);
	json_put_u64(json_key(&w, "long_size"), d->long_size);
	json_put_text(json_key(&w, "endian"), d->big_endian ? "big" : "little");
	json_put_text(json_key(&w, "compression"), d->compression);
	json_put_text(json_key(&w, "machine"), d->uname);
	json_put_text(json_key(&w, "recorder"), d->trace_version);
	json_put_text(json_key(&w, "clock"), d->clock);
	json_put_u64(json_key(&w, "cpu_count"), d->nr_cpus);
	json_followed(&w, &d->followed);
	json_hidden(&w, &d->hidden);
	json_filters(&w, &d->filters);
	json_cut(&w, d);
	if (s)
		json_counts(&w, t, s);
	json_end_object(&w);
	buf_putc(&b, '\n');
	fwrite(b.data, 1, b.len, stdout);
}

static int followed_first(const void *a, const void *b, void *dat)
{
	const struct summary_task *x = a, *y = b;
	const bool xf = dat_follows(dat, x->pid), yf = dat_follows(dat, y->pid);

	if (xf != yf)
		return xf ? -1 : 1;
	if (x->events != y->events)
		return x->events < y->events ? 1 : -1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

static int show(const struct info_options *o, struct spur_trace *t)
{
	struct spur_error err = {0};
	struct summary s = {0};
	int rc = 0;

	if (!o->json) {
		show_file(o, t->dat);
		show_buffers(o, t);
		show_options(o, t->dat);
		show_followed(o, t);
		show_hidden(o, t);
		show_filters(o, t->dat);
		show_cut(o, t->dat);
		fflush(stdout);
	}
	if (!o->quick)
		rc = summary_make(t, (unsigned int)o->threads, &cli_stop, &s);
	if (s.nr_tasks && t->dat->followed.is)
		qsort_r(s.tasks, s.nr_tasks, sizeof(*s.tasks), followed_first, t->dat);
	if (rc == 0 && o->json) {
		show_json(t, o->quick ? NULL : &s);
	} else if (rc == 0 && !o->quick) {
		show_times(o, t, &s);
		show_cpus(o, &s);
		show_counts(o, t, &s);
	}
	summary_free(&s);
	return cli_result(rc, "counting events", &err);
}

#ifndef HAVE_SQLITE

int findings_show(struct spur_trace *t, const char *names, int64_t rows, bool json, bool colour)
{
	return cli_refused("this program was built without SQLite, which --findings needs");
}

#endif

static int run(void *options, int others, char **argv)
{
	struct info_options *o = options;
	struct spur_error err = {0};
	struct spur_trace *t;
	int status;

	if (others > 1 || (others && o->input))
		return cli_wrong("info shows one file");
	if (o->rows && !o->findings)
		return cli_wrong("--rows is about --findings, which is not given");
	if (o->findings && o->quick)
		return cli_wrong("--findings reads all events, and --quick none");
	if (!cli_colour(o->colour, &o->use_colour) || !cli_threads(&o->threads))
		return SPUR_USAGE;
	if (trace_open(o->input ? o->input : others ? argv[0] : "trace.dat", NULL, &t, &err) < 0)
		return cli_fail(&err);
	cli_catch_signals();
	if (o->findings)
		status = findings_show(t, o->findings, o->rows ? o->rows : FINDING_ROWS, o->json,
				       o->use_colour);
	else
		status = show(o, t);
	if (status == SPUR_OK)
		status = cli_damage(t->dat);
	trace_close(t);
	return status;
}

const struct command command_info = {
	.name = "info",
	.summary = "describe a trace on one screen",
	.usage = "[options] [FILE]",
	COMMAND_OPTS(opts, struct info_options),
	.defaults = &(const struct info_options){.colour = "auto"},
	.run = run,
};
