// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `spur hist EVENT.field`: counts the values of an event's fields, as text, JSON or CSV. Under the
 * name trace-cmd, `hist` is a different command: trace_cmd.c.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/json.h"
#include "cli/live.h"
#include "cli/onefile.h"
#include "cli/range.h"
#include "cli/script.h"
#include "event/names.h"
#include "measure/fieldhist_live.h"
#include "stats/fieldhist.h"

struct hist_command {
	struct range_options range; /* first: options that other commands have too */
	const char *by, *filter, *sort;
	bool log2, count, json, csv, is_live;
	int64_t top, linear;
	uint64_t live, interval;
};

struct hist_shown {
	const struct hist_command *o;
	const struct fieldhist *h;
	bool stopped;
};

#define BAR_WIDTH 40
#define MAX_WIDTH 60

static size_t nr_shown(const struct hist_shown *s, size_t n)
{
	return s->o->top && (uint64_t)s->o->top < n ? (size_t)s->o->top : n;
}

/* ---- text ---- */

static void put_values(const struct hist_shown *s, const struct hist_entry *e, const size_t *widths,
		       struct buf *to)
{
	scoped_buf text = buf_new(1u << 16);

	for (unsigned int i = 0; i < s->h->nr; i++) {
		buf_reset(&text);
		fieldhist_put(s->h, i, &e->values[i], &text);
		buf_put_left(to, text.data, text.len < widths[i] ? text.len : widths[i], widths[i]);
		buf_puts(to, "  ");
	}
}

static void find_widths(const struct hist_shown *s, size_t n, size_t *widths)
{
	scoped_buf text = buf_new(1u << 16);

	for (unsigned int i = 0; i < s->h->nr; i++) {
		widths[i] = s->h->fields[i].len;
		for (size_t k = 0; k < n; k++) {
			buf_reset(&text);
			fieldhist_put(s->h, i, &s->h->entries.at[k]->values[i], &text);
			if (text.len > widths[i])
				widths[i] = text.len < MAX_WIDTH ? text.len : MAX_WIDTH;
		}
	}
}

static void put_counts(const struct hist_shown *s, struct buf *to)
{
	const struct fieldhist *h = s->h;
	const size_t n = nr_shown(s, h->entries.n);
	size_t widths[HIST_KEYS];
	uint64_t most = 1;

	find_widths(s, n, widths);
	for (unsigned int i = 0; i < h->nr; i++) {
		buf_put_left(to, h->fields[i].name, h->fields[i].len, widths[i]);
		buf_puts(to, "  ");
	}
	buf_puts(to, "     count       %\n");
	for (size_t i = 0; i < n; i++)
		if (h->entries.at[i]->count > most)
			most = h->entries.at[i]->count;
	for (size_t i = 0; i < n; i++) {
		const uint64_t count = h->entries.at[i]->count;
		const size_t bar = (size_t)((double)count / (double)most * BAR_WIDTH);

		put_values(s, h->entries.at[i], widths, to);
		buf_printf(to, "%10llu  %6.2f |", (unsigned long long)count,
			   100.0 * (double)count / (double)(h->total ? h->total : 1));
		buf_fill(to, '@', bar);
		buf_fill(to, ' ', BAR_WIDTH - bar);
		buf_puts(to, "|\n");
	}
	if (n < h->entries.n)
		buf_printf(to, "(%zu more; --top 0 shows all)\n", h->entries.n - n);
}

static void put_histograms(const struct hist_shown *s, struct buf *to)
{
	const struct fieldhist *h = s->h;
	size_t i = 0, shown = 0;

	while (i < h->entries.n && (!s->o->top || shown < (size_t)s->o->top)) {
		struct bars bars = {0};
		size_t next;

		for (unsigned int k = 0; k < h->nr_by; k++) {
			buf_puts(to, k ? ", " : shown ? "\n" : "");
			buf_printf(to, "%.*s ", (int)h->fields[k].len, h->fields[k].name);
			fieldhist_put(h, k, &h->entries.at[i]->values[k], to);
		}
		buf_puts(to, h->nr_by ? ":\n" : "");
		if (!fieldhist_bars(h, i, &next, &bars))
			return;
		bars_print(&bars, h->mode == HIST_LOG2 ? BARS_POWERS : BARS_NUMBERS, "", to);
		bars_free(&bars);
		i = next;
		shown++;
	}
	if (i < h->entries.n)
		buf_puts(to, "(more; --top 0 shows all)\n");
}

static void put_text(const struct hist_shown *s, struct buf *to)
{
	const struct fieldhist *h = s->h;

	buf_printf(to, "%s%s%s: %llu event%s\n", h->opt.what, h->opt.by ? " by " : "",
		   h->opt.by ? h->opt.by : "", (unsigned long long)h->total,
		   h->total == 1 ? "" : "s");
	if (fieldhist_is_ranges(h))
		put_histograms(s, to);
	else if (h->total)
		put_counts(s, to);
	if (h->rest)
		buf_printf(to, "%llu events had other values: too many to count each\n",
			   (unsigned long long)h->rest);
	if (h->missing)
		buf_printf(to, "%llu more did not have the fields\n",
			   (unsigned long long)h->missing);
	if (s->stopped)
		buf_puts(to, ONEFILE_STOPPED);
}

/* ---- for programs ---- */

static void put_json_value(const struct hist_shown *s, unsigned int i, const struct hist_value *v,
			   struct json_writer *w)
{
	const bool is_number = !v->text && !s->h->fields[i].is_text && s->h->fields[i].as != AS_HEX;
	struct buf text;

	json_key_bytes(w, s->h->fields[i].name, s->h->fields[i].len);
	if (is_number && s->h->fields[i].is_signed) {
		json_put_i64(w, v->number);
	} else if (is_number) {
		json_put_u64(w, (uint64_t)v->number);
	} else {
		buf_init(&text, 1u << 16);
		fieldhist_put(s->h, i, v, &text);
		json_put_bytes(w, text.data, text.len);
		buf_free(&text);
	}
}

static void put_json_entries(const struct hist_shown *s, struct json_writer *w)
{
	const struct fieldhist *h = s->h;
	const bool ranges = fieldhist_is_ranges(h);
	size_t i = 0, shown = 0;

	while (i < h->entries.n && (!s->o->top || shown++ < (size_t)s->o->top)) {
		const struct hist_entry *e = h->entries.at[i];
		struct bars bars = {0};

		json_newline(w);
		json_object(w);
		for (unsigned int k = 0; k < (ranges ? h->nr_by : h->nr); k++)
			put_json_value(s, k, &e->values[k], w);
		if (!ranges) {
			json_put_u64(json_key(w, "count"), e->count);
			i++;
		} else {
			if (!fieldhist_bars(h, i, &i, &bars))
				return;
			json_separate(json_key(w, "histogram"));
			bars_json(&bars, w->out);
			bars_free(&bars);
		}
		json_end_object(w);
	}
}

static void put_json(const struct hist_shown *s, struct buf *to)
{
	struct json_writer w = {to, .spaced = true};
	const struct fieldhist *h = s->h;

	json_object(&w);
	json_put_text(json_key(&w, "hist"), h->opt.what);
	json_put_u64(json_key(&w, "events"), h->total);
	json_put_u64(json_key(&w, "rest"), h->rest);
	json_put_u64(json_key(&w, "missing"), h->missing);
	json_put_bool(json_key(&w, "complete"), !s->stopped);
	json_array(json_key(&w, fieldhist_is_ranges(h) ? "histograms" : "values"));
	put_json_entries(s, &w);
	json_end_array(&w);
	json_end_object(&w);
	buf_putc(to, '\n');
}

static void put_csv(const struct hist_shown *s, struct buf *to)
{
	const struct fieldhist *h = s->h;
	scoped_buf text = buf_new(1u << 16);

	for (unsigned int i = 0; i < h->nr; i++)
		buf_printf(to, "%.*s,", (int)h->fields[i].len, h->fields[i].name);
	buf_puts(to, "count\n");
	for (size_t i = 0; i < nr_shown(s, h->entries.n); i++) {
		const struct hist_entry *e = h->entries.at[i];

		for (unsigned int k = 0; k < h->nr; k++) {
			buf_reset(&text);
			fieldhist_put(h, k, &e->values[k], &text);
			buf_csv_cell(to, text.data, text.len);
			buf_putc(to, ',');
		}
		buf_printf(to, "%llu\n", (unsigned long long)e->count);
	}
}

/* Writes it to standard output, as the options say. 0 or a negative errno. */
static int hist_print(const struct hist_shown *s)
{
	scoped_buf out = buf_new(ONEFILE_TEXT);

	if (s->o->json)
		put_json(s, &out);
	else if (s->o->csv)
		put_csv(s, &out);
	else
		put_text(s, &out);
	return cli_write(out.data, out.len);
}

#define AT(field) offsetof(struct hist_command, field)

static int take_live(void *options, const struct opt *o, const char *arg)
{
	struct hist_command *c = options;

	c->is_live = true;
	if (!parse_time(arg, &c->live))
		return opt_error(o, "'%s' is not a time: 10, 1.5, 500ms", arg);
	return 0;
}

static int take_interval(void *options, const struct opt *o, const char *arg)
{
	struct hist_command *c = options;

	if (!parse_time(arg, &c->interval) || c->interval < 1000)
		return opt_error(o, "'%s' is not a time: 10, 1.5, 500ms", arg);
	return 0;
}

static int take_step(void *options, const struct opt *o, const char *arg)
{
	struct hist_command *c = options;

	if (!parse_number(arg, &c->linear) || c->linear < 1)
		return opt_error(o, "'%s' is not a step", arg);
	return 0;
}

static const struct opt opts[] = {
	{0, "by", OPT_STRING, "FIELD[,...]", "count separately for each value of these", AT(by)},
	{0, "log2", OPT_FLAG, NULL, "in ranges by powers of two", AT(log2)},
	{0, "linear", OPT_CALL, "STEP", "in ranges of this size", AT(linear), take_step},
	{0, "count", OPT_FLAG, NULL, "every value by itself", AT(count)},
	{'F', "filter", OPT_STRING, "FILTER", "only events for which this expression is true",
	 AT(filter)},
	{0, "sort", OPT_STRING, "WORD", "count (default) or value", AT(sort),
	 .values = "count value"},
	{0, "top", OPT_NUMBER, "N", "show N values, or histograms (50); 0: all", AT(top)},
	{0, "json", OPT_FLAG, NULL, "a JSON object", AT(json)},
	{0, "csv", OPT_FLAG, NULL, "comma-separated values", AT(csv)},
	{0, "live", OPT_CALL, "TIME", "count in the running kernel for TIME; 0: until Ctrl-C",
	 AT(live), take_live},
	{0, "interval", OPT_CALL, "TIME", "with --live: also show it every TIME", AT(interval),
	 take_interval},
};

/* ---- running ---- */

struct chosen {
	const struct range_options *range;
	const struct events *events;
};

static bool is_wanted(void *arg, const struct spur_record *r, struct comm_times *comms)
{
	const struct chosen *c = arg;
	int pid;

	if (!c->range->pids.n && !c->range->comms.n)
		return true;
	pid = events_record_pid(c->events, r);
	return range_task(c->range, pid, comm_at(comms, pid, r->ts));
}

static int count_trace(struct hist_command *o, struct fieldhist *h, struct spur_trace *t,
		       struct spur_error *err)
{
	struct chosen c = {&o->range, t->events};
	struct walk_options walk;
	int rc = range_walk(&o->range, t, &walk, err);

	if (rc == 0)
		rc = fieldhist_trace(h, t, &walk, is_wanted, &c, err);
	progress_end(&o->range.progress);
	return rc;
}

static bool by_value(const struct hist_command *o)
{
	return o->sort && strcmp(o->sort, "value") == 0;
}

/* An event that the trace does not have is an error. */
static int result(int rc, struct spur_error *err)
{
	if (rc == -ENOENT)
		rc = err->code = -EINVAL;
	return cli_result(rc, "writing the counts", err);
}

static int show_live(void *arg, struct fieldhist *h)
{
	const struct hist_command *o = arg;
	const struct hist_shown s = {.o = o, .h = h};
	struct spur_error err = {0};
	int rc = fieldhist_finish(h, by_value(o), &err);

	if (rc == 0)
		rc = hist_print(&s);
	if (rc == 0 && o->interval && !o->json && !o->csv)
		rc = cli_write("\n", 1);
	return rc;
}

static int count_kernel(struct hist_command *o, struct fieldhist *h)
{
	struct fieldhist_live live = {.who = range_who(&o->range),
				      .duration = o->live,
				      .interval = o->interval,
				      .show = show_live,
				      .note = cli_note,
				      .arg = o};
	struct spur_error err = {0};
	struct tracefs fs;
	int unused, rc;

	live_try(&fs);
	if (!script_signals(&live.stop_fd, &unused))
		return cli_refused("cannot wait for signals");
	rc = fieldhist_live(h, &live, &err);
	/* Whatever failed, the missing privilege is the reason. */
	if (rc < 0 && geteuid() != 0)
		return cli_refused("only root can trace the running kernel");
	return result(rc, &err);
}

/* Counts, and shows what was counted. */
static int count(struct hist_command *o, struct fieldhist *h, struct spur_trace *t)
{
	struct hist_shown s = {.o = o, .h = h};
	struct spur_error err = {0};
	int rc = count_trace(o, h, t, &err);

	s.stopped = rc == -EINTR;
	if (rc == 0 || s.stopped)
		rc = fieldhist_finish(h, by_value(o), &err);
	if (rc == 0)
		rc = hist_print(&s);
	return rc == 0 && s.stopped ? 128 + cli_stop : result(rc, &err);
}

static int run_with(struct hist_command *o, const char *what, const char *file)
{
	const struct fieldhist_options opt = {.what = what,
					      .by = o->by,
					      .filter = o->filter,
					      .mode = o->log2	  ? HIST_LOG2
						      : o->linear ? HIST_LINEAR
						      : o->count  ? HIST_COUNT
								  : HIST_AUTO,
					      .step = o->linear};
	struct spur_error err = {0};
	struct spur_trace *t = NULL;
	struct fieldhist h;
	char *none[] = {NULL};
	int status = SPUR_OK;

	if (fieldhist_init(&h, &opt, &err) < 0)
		status = cli_fail(&err);
	else if (!o->is_live)
		t = onefile_open(&command_hist, file, 0, none, &status);
	if (status == SPUR_OK)
		status = t ? count(o, &h, t) : count_kernel(o, &h);
	fieldhist_free(&h);
	return t ? onefile_close(t, status) : status;
}

/* trace-cmd has a different command of this name, and so had spur. */
static int moved(void)
{
	return cli_wrong("spur hist counts values: EVENT.FIELD is missing. Chains of calls, which "
			 "trace-cmd's hist shows, are 'spur calls --chains'");
}

/* Refuses options of the other command. */
static int find_old_option(char **argv)
{
	static const char *const old[] = {"-P", "-B", "--buffer"};

	for (char **arg = argv; *arg && strcmp(*arg, "--") != 0; arg++)
		for (size_t i = 0; i < ARRAY_SIZE(old); i++)
			if (strncmp(*arg, old[i], strlen(old[i])) == 0)
				return moved();
	return SPUR_OK;
}

static int check_options(const struct hist_command *o, int others, char **argv)
{
	/* The other command has a file as its only argument, or none. */
	if (others == 0 || (others == 1 && (strchr(argv[0], '/') || access(argv[0], F_OK) == 0)))
		return moved();
	if (others > 2 || (others == 2 && (o->range.input || o->is_live)))
		return cli_wrong("EVENT.field and one file, or --live");
	if (o->is_live && (o->range.input || o->range.since || o->range.until))
		return cli_wrong("-i, --since and --until are for a trace, not --live");
	if (o->interval && !o->is_live)
		return cli_wrong("--interval is for --live");
	if (o->json && o->csv)
		return cli_wrong("--json or --csv, not both");
	if (o->log2 + o->count + (o->linear != 0) > 1)
		return cli_wrong("--log2, --linear or --count, one of them");
	if (o->sort && strcmp(o->sort, "count") != 0 && strcmp(o->sort, "value") != 0)
		return cli_wrong("--sort: count or value");
	return o->top < 0 ? cli_wrong("--top is a number from 0 on") : SPUR_OK;
}

static int run(void *options, int others, char **argv)
{
	struct hist_command *o = options;
	int status = check_options(o, others, argv);

	if (status != SPUR_OK)
		return status;
	return run_with(o, argv[0], others == 2 ? argv[1] : o->range.input);
}

const struct command command_hist = {
	.name = "hist",
	.summary = "count the values of an event's fields",
	.usage = "[OPTION...] EVENT.FIELD[,FIELD...] [FILE]",
	COMMAND_OPTS(opts, struct hist_command),
	.defaults = &(const struct hist_command){.top = 50},
	.run = run,
	.before = find_old_option,
	.shared = range_opts,
	.nr_shared = RANGE_OPTS - 1, /* one thread reads */
};
