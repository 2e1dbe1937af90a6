// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur diff`: compares two recordings, and checks requirements. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/newfile.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "cli/diff.h"
#include "cli/latency.h"
#include "cli/onefile.h"
#include "draw/diff_html.h"
#include "import/sources.h"

#define MAX_WORST	  100
#define USUAL_WORST	  3
#define USUAL_AROUND	  200000 /* ns, in pictures */
#define REQUIREMENTS_TEXT (1u << 20)
#define EVENTS_TEXT	  (256u << 10) /* of one case */
#define PAGE_BYTES	  (256u << 20)

#define AT(field) offsetof(struct diff_command, field)

static const struct opt opts[] = {
	{.kind = OPT_GROUP, .help = "Requirements"},
	{0, "require", OPT_LIST, "REQUIREMENT", "what B has to meet, as in 'wakeup.max < 200us'",
	 AT(require)},
	{0, "requirements", OPT_FILE, "FILE", "read requirements from a file, one per line",
	 AT(requirements)},
	{.kind = OPT_GROUP, .help = "What is measured besides"},
	{0, "period", OPT_STRING, "EVENT[/FILTER/]", "\"period\": from this event to the next one",
	 AT(period)},
	{0, "from", OPT_STRING, "EVENT[/FILTER/]", "\"latency\": from this event …", AT(from)},
	{0, "to", OPT_STRING, "EVENT[/FILTER/]", "… to this one", AT(to)},
	{0, "match", OPT_STRING, "FIELD[=FIELD][,...]", "both events have these in common",
	 AT(match)},
	{0, "first", OPT_FLAG, NULL, "of several --from, measure from the first, not the last",
	 AT(first)},
	{.kind = OPT_GROUP, .help = "How it is shown"},
	{0, "focus", OPT_LIST, "MEASURE", "look at this one closely: wakeup, syscall[read]",
	 AT(focus)},
	{0, "worst", OPT_NUMBER, "N", "how many of its longest to show of each trace (3)",
	 AT(worst)},
	{0, "around", OPT_TIME, "TIME", "and the events for TIME before and after each",
	 AT(around)},
	{'n', "rows", OPT_NUMBER, "N", "show N measures (20); 0: all that changed", AT(rows)},
	{0, "all", OPT_FLAG, NULL, "also those without a clear change", AT(all)},
	{0, "html", OPT_FILE, "FILE", "write a page with pictures", AT(html)},
	{0, "force", OPT_FLAG, NULL, "write even if that replaces a recording", AT(force)},
	{0, "json", OPT_FLAG, NULL, "a JSON object", AT(json)},
	{0, "csv", OPT_FLAG, NULL, "comma-separated values, a line a measure", AT(csv)},
	CLI_COLOUR_OPTION(AT(colour)),
	{.kind = OPT_GROUP, .help = "Which part of both"},
};

/* ---- what is asked for ---- */

static int check_options(const struct diff_command *o, struct spur_error *err)
{
	if (o->period && (o->from || o->to))
		return error_set(err, -EINVAL, "--period, or --from and --to");
	if (!o->period && !o->from != !o->to)
		return error_set(err, -EINVAL, "--from and --to belong together");
	if (!o->period && !o->from && (o->match || o->first))
		return error_set(err, -EINVAL, "--match and --first are for --from and --to");
	if (o->rows < 0 || o->worst < 0 || o->worst > MAX_WORST)
		return error_set(err, -EINVAL,
				 "-n and --worst are numbers from 0 on, --worst up to %d",
				 MAX_WORST);
	if (o->json && o->csv)
		return error_set(err, -EINVAL, "--json or --csv, not both");
	if (o->force && !o->html)
		return error_set(err, -EINVAL, "--force goes with --html");
	if (o->html && strcmp(o->html, "-") == 0 && (o->json || o->csv))
		return error_set(err, -EINVAL, "--html - is instead of --json or --csv");
	return o->html && !o->force ? source_spare(o->html, CLI_FORCE("--html"), err) : 0;
}

static int take_files(struct diff_work *w, int others, char **argv, struct spur_error *err)
{
	const char *input = w->o->range.input;

	if (others + (input != NULL) > 2)
		return error_set(err, -EINVAL, "diff compares two files");
	if (others + (input != NULL) < 1)
		return error_set(err, -EINVAL, "which files? 'spur diff A B' compares two");
	if (others == 2 || (others && input))
		w->path[DIFF_A] = argv[0];
	w->path[DIFF_B] = input ? input : argv[others - 1];
	if (!w->path[DIFF_A] && !w->o->require.n && !w->o->requirements && !w->o->html &&
	    !w->o->focus.n)
		return error_set(err, -EINVAL,
				 "with one file there is nothing to compare: --require says what "
				 "it has to meet");
	return 0;
}

static int add_requirement(struct diff_work *w, const char *text, struct spur_error *err)
{
	struct diff_requirement *slot = vec_push(&w->requirements);

	return slot ? diff_requirement_parse(slot, text, err)
		    : error_set(err, -ENOMEM, "out of memory");
}

/* One per line; a # begins a comment. */
static int read_requirements(struct diff_work *w, struct spur_error *err)
{
	const char *path = w->o->requirements;
	int rc = file_read(path, &w->file, err), line = 0;
	char *next = w->file.data, *text;

	if (rc < 0)
		return rc;
	if (memchr(w->file.data, '\0', w->file.len))
		return error_set(err, -EINVAL, "%s: this is no text", path);
	while (rc == 0 && (text = strsep(&next, "\n")) != NULL) {
		size_t len = strcspn(text, "#");

		line++;
		while (len && strchr(" \t\r", text[len - 1]))
			len--;
		text[len] = '\0';
		text += strspn(text, " \t");
		if (*text)
			rc = add_requirement(w, text, err);
	}
	return rc < 0 ? error_prefix(err, "%s:%d", path, line) : 0;
}

static int take_requirements(struct diff_work *w, struct spur_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < w->o->require.n; i++) {
		rc = add_requirement(w, w->o->require.at[i], err);
		if (rc == -EINVAL)
			error_prefix(err, "--require");
	}
	if (rc == 0 && w->o->requirements)
		rc = read_requirements(w, err);
	for (size_t i = 0; rc == 0 && i < w->requirements.n; i++)
		rc = diff_requirement_check(&w->diff, &w->requirements.at[i], err);
	return rc;
}

/* "syscall[read]": the name of a measure, without a statistic. */
static int add_focus(struct diff_work *w, const char *text, struct spur_error *err)
{
	const size_t len = strcspn(text, "["), all = strlen(text);
	const struct diff_family *f = diff_family_find(&w->diff, text, len);

	if (!f || !f->kind)
		return error_set(err, -EINVAL,
				 "--focus: '%s' is no distribution: wakeup, sched, irq, "
				 "softirq, softirq-time, syscall, block, futex, "
				 "function, period or latency",
				 text);
	if (!text[len])
		return diff_focus_add(&w->diff, f, NULL, 0, err);
	if (text[all - 1] != ']' || all - len < 3)
		return error_set(err, -EINVAL, "--focus: '%s': is there a ] missing?", text);
	return diff_focus_add(&w->diff, f, text + len + 1, all - len - 2, err);
}

/* Without --focus: the pairs that are asked for, what is required, or wakeups. */
static int choose_focus(struct diff_work *w, struct spur_error *err)
{
	struct diff *d = &w->diff;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < w->o->focus.n; i++)
		rc = add_focus(w, w->o->focus.at[i], err);
	if (rc < 0 || d->focus.n)
		return rc;
	if (d->opt.pairs)
		rc = diff_focus_add(d, &d->dists[DIFF_PAIRS], NULL, 0, err);
	for (size_t i = 0; rc == 0 && i < w->requirements.n; i++) {
		const struct diff_requirement *r = &w->requirements.at[i];
		const struct diff_family *f = diff_family_find(d, r->family, r->family_len);

		if (f)
			rc = diff_focus_add(d, f, r->key, r->key_len, err);
	}
	if (rc < 0 || d->focus.n)
		return rc;
	rc = diff_focus_add(d, diff_family_find(d, "wakeup", 6), NULL, 0, err);
	if (rc == 0)
		d->focus.at[0]->usual = true;
	return rc;
}

static bool is_wanted(void *arg, int64_t cpu, int64_t pid, const char *comm)
{
	const struct range_options *r = arg;

	return (!r->cpus.bits || cpu_list_has(&r->cpus, cpu)) && range_task(r, pid, comm);
}

static int prepare(struct diff_work *w, struct spur_error *err)
{
	struct diff_command *o = w->o;
	const bool chosen = o->range.cpus.bits || o->range.pids.n || o->range.comms.n;
	struct diff_options opt = {.wanted = chosen ? is_wanted : NULL,
				   .arg = &o->range,
				   .pairs_name = o->period ? "period" : "latency",
				   .pairs_about = w->about,
				   .worst = (size_t)o->worst,
				   .around = o->around ? o->around : USUAL_AROUND};
	int rc = check_options(o, err);

	if (rc == 0)
		rc = range_walk_any(&o->range, &opt.walk, err);
	if (rc < 0)
		return rc;
	w->pairs = (struct pairs_options){.from = o->period ? o->period : o->from,
					  .to = o->to,
					  .match = o->match,
					  .first = o->first};
	opt.pairs = w->pairs.from ? &w->pairs : NULL;
	snprintf(w->about, sizeof(w->about), "from %s to %s%s%s",
		 w->pairs.from ? w->pairs.from : "", o->to ? o->to : "the next one",
		 o->match ? " of the same " : "", o->match ? o->match : "");
	diff_free(&w->diff);
	diff_init(&w->diff, &opt);
	rc = take_requirements(w, err);
	return rc == 0 ? choose_focus(w, err) : rc;
}

/* ---- work ---- */

/* The report's lines around each of the worst ones. */
static int read_events(struct diff_work *w, unsigned int side, struct spur_error *err)
{
	const struct latency_command around = {.around = w->o->around};
	int rc = 0;

	vec_each (f, &w->diff.focus) {
		const struct latency_shown shown = {
			.o = &around, .latency = &(*f)->latency[side], .trace = w->trace[side]};

		vec_each (c, &(*f)->cases[side]) {
			scoped_buf text = buf_new(EVENTS_TEXT);

			if (rc < 0)
				return rc;
			rc = latency_put_around(&shown, c->worst, &text, err);
			c->text = rc == 0 ? strndup(text.data, text.len) : NULL;
		}
	}
	return rc;
}

static int read_side(struct diff_work *w, unsigned int side, struct spur_error *err)
{
	int rc;

	if (!w->path[side])
		return 0;
	rc = trace_open(w->path[side], NULL, &w->trace[side], err);
	if (rc < 0)
		return rc;
	rc = range_times(&w->o->range, w->trace[side], &w->diff.opt.walk, err);
	if (rc < 0)
		return rc;
	rc = diff_read(&w->diff, (enum diff_which)side, w->trace[side], err);
	/* An event that the trace does not have is an error. */
	if (rc == -ENOENT)
		rc = err->code = -EINVAL;
	if (rc == -EINVAL)
		error_prefix(err, "%s", w->path[side]);
	if (rc == 0 && w->o->around)
		rc = read_events(w, side, err);
	return rc;
}

static int judge(struct diff_work *w, struct spur_error *err)
{
	int rc = 0;

	w->verdicts = calloc(w->requirements.n + 1, sizeof(*w->verdicts));
	if (!w->verdicts)
		return error_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; rc == 0 && i < w->requirements.n; i++) {
		rc = diff_judge(&w->diff, &w->requirements.at[i], &w->verdicts[i], err);
		w->failed |= !w->verdicts[i].holds;
	}
	return rc;
}

static int write_page(struct diff_work *w, struct spur_error *err)
{
	const struct diff_page page = {.diff = &w->diff,
				       .path = {w->path[DIFF_A], w->path[DIFF_B]},
				       .requirements = w->requirements.at,
				       .verdicts = w->verdicts,
				       .nr_requirements = w->requirements.n,
				       .warning = diff_warning,
				       .warning_arg = w,
				       .task = range_task,
				       .task_arg = &w->o->range};
	scoped_buf out = buf_new(PAGE_BYTES);
	int rc = diff_html(&page, &out, err);

	if (rc == 0 && buf_full(&out))
		rc = error_set(err, -ENOMEM, "%s: the page is too large", w->o->html);
	if (rc == 0)
		rc = strcmp(w->o->html, "-") == 0
			     ? cli_write(out.data, out.len)
			     : newfile_write(w->o->html, out.data, out.len, err);
	return rc;
}

static int show(struct diff_work *w, struct spur_error *err)
{
	scoped_buf out = buf_new(ONEFILE_TEXT);
	int rc = 0;

	if (w->o->html)
		rc = write_page(w, err);
	if (rc < 0 || (w->o->html && strcmp(w->o->html, "-") == 0))
		return rc;
	if (w->o->json)
		diff_put_json(w, &out);
	else if (w->o->csv)
		diff_put_csv(w, &out);
	else
		diff_put_text(w, &out);
	rc = w->o->use_colour && !w->o->json && !w->o->csv ? cli_write_coloured(out.data, out.len)
							   : cli_write(out.data, out.len);
	if (rc == 0 && buf_full(&out))
		cli_error("the text is cut: it would take too much memory");
	return rc;
}

static int work(struct diff_work *w, int others, char **argv)
{
	struct spur_error err = {0};
	int rc, status;

	if (!cli_colour(w->o->colour, &w->o->use_colour))
		return SPUR_USAGE;
	rc = take_files(w, others, argv, &err);
	for (unsigned int i = 0; rc == 0 && i < DIFF_SIDES; i++)
		if (cli_reads(w->o->html, w->path[i]))
			return SPUR_USAGE;
	if (rc == 0)
		rc = prepare(w, &err);
	if (rc < 0)
		return cli_result(rc, "diff", &err);
	cli_catch_signals();
	for (unsigned int i = 0; rc == 0 && i < DIFF_SIDES; i++)
		rc = read_side(w, i, &err);
	progress_end(&w->o->range.progress);
	if (rc == 0)
		rc = diff_finish(&w->diff, &err);
	if (rc == 0)
		rc = judge(w, &err);
	if (rc == 0)
		rc = show(w, &err);
	status = cli_result(rc, "writing the comparison", &err);
	for (unsigned int i = 0; i < DIFF_SIDES; i++) {
		const int damage = w->trace[i] ? cli_damage(w->trace[i]->dat) : SPUR_OK;

		status = status ? status : damage;
	}
	return w->failed && rc == 0 ? DIFF_FAILED : status;
}

static int run(void *options, int others, char **argv)
{
	struct diff_work w = {.o = options};
	int status;

	buf_init(&w.file, REQUIREMENTS_TEXT);
	diff_init(&w.diff, &(struct diff_options){0});
	status = work(&w, others, argv);
	diff_free(&w.diff);
	for (unsigned int i = 0; i < DIFF_SIDES; i++)
		if (w.trace[i])
			trace_close(w.trace[i]);
	free(w.verdicts);
	vec_free(&w.requirements);
	buf_free(&w.file);
	return status;
}

const struct command command_diff = {
	.name = "diff",
	.summary = "compare two recordings, and check requirements",
	.usage = "[OPTION...] A B\n"
		 "       spur diff [OPTION...] --require REQUIREMENT [A] B",
	COMMAND_OPTS(opts, struct diff_command),
	.defaults =
		&(const struct diff_command){.rows = 20, .worst = USUAL_WORST, .colour = "auto"},
	.run = run,
	COMMAND_SHARED(range_opts),
};
