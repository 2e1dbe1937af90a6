// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur report`: the records of one or more traces as text, JSON or CSV. */
#include "cli/report.h"

#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/vec.h"
#include "stream/tail.h"
#include "stream/wakeup.h"

#define DEFAULT_FILE "trace.dat"

/* ---- opening ---- */

/* The whole of a small file; NULL after a message. */
static char *read_file(const char *path, size_t *len)
{
	struct stat st;
	char *text = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	*len = 0;
	if (fd < 0 || fstat(fd, &st) < 0) {
		cli_error("%s: %s", path, strerror(errno));
	} else {
		size_t cap = st.st_size > 0 ? (size_t)st.st_size : 64u << 20;
		ssize_t n;

		text = malloc(cap + 1);
		while (text && *len < cap && (n = read(fd, text + *len, cap - *len)) > 0)
			*len += (size_t)n;
	}
	if (fd >= 0)
		close(fd);
	return text;
}

static int open_inputs(struct report_options *o)
{
	struct trace_options opt = {.compat = o->emit.compat,
				    .raw_ts = o->raw_ts,
				    .ignore_date = o->no_date,
				    .user_plugins = !o->emit.no_plugins,
				    .plugin_options = o->plugin_options.at};
	char *symbols = NULL;
	int status = SPUR_OK;

	/* The list of options ends with a NULL. */
	if (o->plugin_options.n && !vec_push(&o->plugin_options))
		return SPUR_ENVIRONMENT;
	if (o->kallsyms) {
		symbols = read_file(o->kallsyms, &opt.kallsyms_len);
		if (!symbols)
			return SPUR_ENVIRONMENT;
		opt.kallsyms = symbols;
	}
	vec_each (in, &o->inputs) {
		struct spur_error err = {0};

		opt.ts_offset = in->ts_offset;
		opt.ts_hz = in->ts_hz;
		if (trace_open(in->path, &opt, &in->trace, &err) < 0) {
			status = cli_fail(&err);
			break;
		}
	}
	free(symbols);
	return status;
}

/* Marks the events that -r and -n name. */
static int mark_events(const struct name_list *names, struct spur_trace *t, bool raw)
{
	for (size_t i = 0; i < names->n; i++) {
		char pattern[256];
		regex_t re;

		snprintf(pattern, sizeof(pattern), "^%s$", names->at[i]);
		if (regcomp(&re, pattern, REG_ICASE | REG_NOSUB) != 0) {
			cli_error("'%s' is not a regular expression", names->at[i]);
			return SPUR_USAGE;
		}
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

/* ---- time ---- */

/* "1.5", "1.5s", "20ms", "7us", "12ns": nanoseconds; a plain number is seconds. */
static bool parse_time(const char *text, uint64_t *ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
	char *end;
	unsigned long long whole = strtoull(text, &end, 10);
	double fraction = 0;

	if (end == text && *end != '.')
		return false;
	if (*end == '.')
		fraction = strtod(end, &end);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].name) == 0) {
			*ns = whole * (uint64_t)units[i].ns +
			      (uint64_t)(fraction * units[i].ns + 0.5);
			return true;
		}
	}
	return false;
}

static int set_range(const struct report_options *o, struct selection *sel)
{
	if (o->since && !(sel->has_since = parse_time(o->since, &sel->since))) {
		cli_error("--since: '%s' is not a time", o->since);
		return SPUR_USAGE;
	}
	if (o->until && !(sel->has_until = parse_time(o->until, &sel->until))) {
		cli_error("--until: '%s' is not a time", o->until);
		return SPUR_USAGE;
	}
	return SPUR_OK;
}

/* --align-ts: the earliest record of the files' top buffers is time 0. */
static void align(struct report_options *o)
{
	uint64_t first = UINT64_MAX;

	vec_each (in, &o->inputs) {
		const struct trace_buffer *b = in->trace->buffers;

		for (uint32_t i = 0; in->trace->nr_buffers && i < b->data->nr_cpus; i++) {
			struct lane l;

			if (!b->data->cpus[i].size || lane_open(&l, b, &b->data->cpus[i]) < 0)
				continue;
			if (lane_next(&l) && l.rec.ts < first)
				first = l.rec.ts;
			lane_close(&l);
		}
	}
	if (first == UINT64_MAX)
		return;
	vec_each (in, &o->inputs)
		trace_shift(in->trace, -(int64_t)first);
}

/* ---- sources and labels ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

struct sources {
	struct emit_source *at;
	size_t n, cap;
};

static bool add_source(struct sources *s, const struct trace_buffer *b, const char *label)
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

/* The top buffers of all files first, then their instances: the order of equal times. */
static bool collect_sources(struct report_options *o, struct sources *s)
{
	bool instances = false;

	vec_each (in, &o->inputs)
		if (in->trace->nr_buffers && !in->trace->buffers[0].data->text &&
		    !add_source(s, &in->trace->buffers[0], o->several ? base_name(in->path) : NULL))
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

/* ---- running ---- */

static int write_out(void *arg, const char *data, size_t len)
{
	(void)arg;
	return cli_write(data, len);
}

struct progress {
	time_t last;
	bool shown;
};

static void show_progress(void *arg, uint64_t done, uint64_t total)
{
	struct progress *p = arg;
	time_t now = time(NULL);

	if (now == p->last || !total)
		return;
	p->last = now;
	p->shown = true;
	fprintf(stderr, "\r%3u%%", (unsigned int)(100.0 * (double)done / (double)total));
	fflush(stderr);
}

/* Warns about records of one CPU that are earlier than the line before (--ts-check). */
struct ts_check {
	uint64_t last;
	struct wakeup *wakeup;
	bool check;
};

static void watch(void *arg, const struct spur_trace *t, struct event *e,
		  const struct spur_record *r, struct buf *out)
{
	struct ts_check *c = arg;

	if (c->check && c->last > r->ts)
		cli_error("a record on CPU %u went backwards: %llu to %llu, by %llu", r->cpu,
			  (unsigned long long)c->last, (unsigned long long)r->ts,
			  (unsigned long long)(c->last - r->ts));
	c->last = r->ts;
	if (c->wakeup)
		wakeup_watch(c->wakeup, t, e, r, out);
}

static const struct emit_ops *choose_emitter(const struct report_options *o)
{
	if (o->json)
		return &emit_json;
	if (o->csv)
		return &emit_csv;
	return o->fields ? &emit_table : &emit_text;
}

static int run_report(struct report_options *o, struct report *rep, struct spur_error *err)
{
	struct progress progress = {.last = time(NULL)};
	struct ts_check check = {.check = o->ts_check};
	struct buf tail;
	int rc;

	if (o->wakeup)
		check.wakeup = wakeup_new(o->inputs.at[0].trace);
	if (check.wakeup || o->ts_check) {
		rep->watch = watch;
		rep->watch_arg = &check;
	}
	if (o->progress) {
		rep->progress = show_progress;
		rep->progress_arg = &progress;
	}
	rc = o->tail > 0 ? report_tail(rep, (uint64_t)o->tail, err) : report_run(rep, err);
	if (progress.shown)
		fprintf(stderr, "\r    \r");
	if (check.wakeup && rc == 0) {
		buf_init(&tail, 4096);
		wakeup_summary(check.wakeup, &tail);
		rc = cli_write(tail.data, tail.len);
		buf_free(&tail);
	}
	wakeup_free(check.wakeup);
	return rc;
}

static void print_label(const struct report_options *o, const struct report_input *in)
{
	if (o->several)
		printf("%*s: ", o->emit.label_width, base_name(in->path));
}

static int print_text_buffer(const struct report_input *in)
{
	char piece[65536];
	uint64_t pos = 0;
	int64_t n;

	fflush(stdout);
	while ((n = dat_text_read(in->trace->dat, in->trace->buffers[0].data, pos, piece,
				  sizeof(piece))) > 0) {
		if (cli_write(piece, (size_t)n) < 0)
			return SPUR_ENVIRONMENT;
		pos += (uint64_t)n;
	}
	puts("");
	return SPUR_OK;
}

/* The lines before the records. True when there will be none. */
static bool print_heads(struct report_options *o, int *status)
{
	bool facts = o->show_stat || o->show_uname || o->show_version;

	vec_each (in, &o->inputs) {
		bool text = in->trace->nr_buffers && in->trace->buffers[0].data->text;
		uint32_t cpus = in->trace->dat->nr_cpus;

		if (in->trace->nr_buffers && !text)
			cpus = trace_buffer_cpus(&in->trace->buffers[0]);
		print_label(o, in);
		printf("cpus=%u\n", cpus);
		if (text) {
			*status = print_text_buffer(in);
			return true;
		}
		if (facts)
			report_show_facts(o, in);
	}
	return facts;
}

/* After everything that could be read: what could not. */
static int report_damage(const struct report_options *o, int status)
{
	vec_each (in, &o->inputs) {
		int damage = in->trace ? cli_damage(in->trace->dat) : SPUR_OK;

		if (status == SPUR_OK)
			status = damage;
	}
	return status;
}

/* -T: what the filters became. */
static void show_filters(const struct selection *sel)
{
	struct buf text;

	buf_init(&text, 64u << 20);
	for (size_t i = 0; i < sel->nr_filters; i++) {
		if (sel->filters[i].wanted)
			filter_show(sel->filters[i].wanted, &text);
		if (sel->filters[i].unwanted)
			filter_show(sel->filters[i].unwanted, &text);
	}
	fwrite(text.data, 1, text.len, stdout);
	buf_free(&text);
}

static int show_records(struct report_options *o)
{
	struct emit_columns columns = {0};
	struct sources sources = {0};
	struct spur_trace **traces = calloc(o->inputs.n, sizeof(*traces));
	struct report rep = {.write = write_out, .stop = &cli_stop, .emit = choose_emitter(o)};
	struct spur_error err = {0};
	int rc = -ENOMEM, status = SPUR_OK;
	bool plain;

	if (!traces || !collect_sources(o, &sources))
		goto out;
	rc = 0;
	rep.select = (struct selection){.cpus = o->cpus,
					.nr_cpus = o->nr_cpus,
					.no_irqs = o->no_irqs,
					.no_softirqs = o->no_softirqs};
	status = set_range(o, &rep.select);
	if (status)
		goto out;
	rc = report_make_filters(o, &rep.select, &err);
	if (rc == 0 && o->fields)
		rc = columns_parse(&columns, o->fields, &err);
	if (rc < 0)
		goto out;
	if (o->test_filters) {
		show_filters(&rep.select);
		goto out;
	}
	if (o->align_ts)
		align(o);
	plain = !o->json && !o->csv && !o->fields;
	if (plain)
		rc = report_show_hooks(o, &err);
	if (rc < 0 || (plain && print_heads(o, &status)))
		goto out;
	fflush(stdout);
	for (size_t i = 0; i < o->inputs.n; i++)
		traces[i] = o->inputs.at[i].trace;
	rc = trace_map_guests(traces, o->inputs.n);
	if (rc < 0)
		goto out;
	rep.traces = traces;
	rep.nr_traces = o->inputs.n;
	rep.sources = sources.at;
	rep.nr_sources = sources.n;
	rep.options = o->emit;
	rep.options.columns = o->fields ? &columns : NULL;
	rep.head = o->head > 0 ? (uint64_t)o->head : 0;
	rep.threads = (unsigned int)o->threads;
	rep.select.stacks = rep.select.nr_filters ? SELECT_STACKS_FOLLOW : SELECT_STACKS_PLAIN;
	if (rep.select.nr_filters && o->emit.compat == COMPAT_31)
		rep.select.stacks = SELECT_STACKS_LOOSE;
	rc = o->profile ? report_profile(o, &rep, &err) : run_report(o, &rep, &err);
out:
	report_free_filters(&rep.select);
	columns_free(&columns);
	vec_free(&sources);
	free(traces);
	if (rc == -EPIPE || rc == -EINTR)
		return rc == -EINTR ? 128 + 2 : SPUR_OK;
	if (rc < 0) {
		error_sys(&err, rc, "writing the report");
		return cli_fail(&err);
	}
	return status;
}

/* ---- the command ---- */

static int check_options(struct report_options *o, int others, char **argv)
{
	if (others > 1 || (others && o->inputs.n)) {
		cli_error("one file, or several with -i each");
		return SPUR_USAGE;
	}
	if (!o->inputs.n) {
		struct report_input *in = vec_push(&o->inputs);

		if (!in)
			return SPUR_ENVIRONMENT;
		*in = o->early;
		memset(&o->early, 0, sizeof(o->early));
		in->path = others ? argv[0] : DEFAULT_FILE;
	}
	if (o->several && o->wakeup) {
		cli_error("-w works on a single file");
		return SPUR_USAGE;
	}
	if (o->json && o->csv) {
		cli_error("--json or --csv, not both");
		return SPUR_USAGE;
	}
	if (o->profile && (o->json || o->csv || o->fields)) {
		cli_error("--profile is text: not with --json, --csv or --fields");
		return SPUR_USAGE;
	}
	if (strcmp(o->compat, "3.1") == 0) {
		o->emit.compat = COMPAT_31;
	} else if (strcmp(o->compat, "3.4") != 0) {
		cli_error("--compat: 3.4 or 3.1, not '%s'", o->compat);
		return SPUR_USAGE;
	}
	if (!cli_colour(o->colour, &o->emit.colour)) {
		cli_error("--color: auto, always or never, not '%s'", o->colour);
		return SPUR_USAGE;
	}
	if (o->threads < 0 || o->threads > 256) {
		cli_error("--threads: between 1 and 256");
		return SPUR_USAGE;
	}
	if (!o->threads)
		o->threads = sysconf(_SC_NPROCESSORS_ONLN);
	return SPUR_OK;
}

static int show_everything(struct report_options *o)
{
	int status = open_inputs(o);

	vec_each (in, &o->inputs) {
		if (status)
			return status;
		if (report_show(o, in, &status))
			return status;
		status = mark_events(&o->raw_events, in->trace, true);
		if (!status)
			status = mark_events(&o->plain_events, in->trace, false);
		if (o->show_cpus && !status)
			report_show_cpus(o, in);
	}
	return status || o->show_cpus ? status : show_records(o);
}

static void free_options(struct report_options *o)
{
	vec_each (in, &o->inputs) {
		trace_close(in->trace);
		vec_free(&in->filters);
	}
	vec_free(&o->inputs);
	vec_free(&o->early.filters);
	vec_free(&o->raw_events);
	vec_free(&o->plain_events);
	vec_free(&o->plugin_options);
	vec_free(&o->hooks);
	vec_free(&o->pids);
	vec_free(&o->comms);
	free(o->cpus);
}

int report_main(int argc, char **argv)
{
	struct report_options o = {.colour = "auto", .compat = "3.4"};
	int others = opts_parse(&command_report, &o, argc, argv);
	int status = others == -ECANCELED ? SPUR_OK : SPUR_USAGE;

	if (others >= 0)
		status = check_options(&o, others, argv);
	if (others >= 0 && status == SPUR_OK) {
		cli_catch_signals();
		cli_pager_begin(!o.no_pager);
		status = show_everything(&o);
		fflush(stdout);
		status = report_damage(&o, status);
		cli_pager_end();
	}
	free_options(&o);
	return status;
}
