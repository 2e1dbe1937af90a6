// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A report of a trace that grows must equal, in the end, the report of the finished trace.
 * Recordings are handed out page by page, in rounds of several lengths, as a recorder would get
 * them.
 *
 *	follow FILE…		prints what was compared; exit 1 when something differs
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats/profile.h"
#include "report/follow.h"
#include "report/report.h"

#define TEXT_LIMIT  (1u << 30)
#define MAX_SOURCES 16

static void emit_nothing(struct emitter *em, const struct spur_record *r, struct event *e,
			 struct buf *out)
{
}

static const struct emit_ops no_text = {.record = emit_nothing};

static void take_record(void *profile, const struct spur_trace *t, struct event *e,
			const struct spur_record *r, struct buf *out)
{
	profile_record(profile, t, e, r);
}

struct variant {
	const char *name;
	struct emit_options emit;
	const struct emit_ops *ops;
	const char *filter;
	bool profile; /* what is compared is the profile of the records */
};

static const struct variant variants[] = {
	{"text", {0}, &emit_text, NULL},
	{"compat", {.compat = COMPAT_31}, &emit_text, NULL},
	{"parents", {.plugins = {.parent = true}}, &emit_text, NULL},
	{"graph", {.plugins = {.fgraph_tail = true, .fgraph_depth = true}}, &emit_text, NULL},
	{"differences", {.ts_diff = true}, &emit_text, NULL},
	{"json", {0}, &emit_json, NULL},
	{"filter", {0}, &emit_text, ".*:common_pid > 100"},
	{"profile", {0}, &no_text, NULL, true},
};

/* Into how many rounds a trace is cut. */
static const unsigned int cuts[] = {1, 3, 10, 100, 1000};

static int collect(void *arg, const char *data, size_t len)
{
	buf_put(arg, data, len);
	return 0;
}

/* ---- pages that appear one after the other ---- */

struct slow_feed {
	struct dat_feed feed; /* first */
	struct lane scout;    /* of the same CPU in another trace, which is finished */
	uint64_t pages;	      /* that are there by now */
	uint64_t last;	      /* the time of the last record on them */
};

static int get_page(struct dat_feed *feed, uint64_t index, struct dat_page *page)
{
	struct slow_feed *f = (struct slow_feed *)feed;

	return index < f->pages ? dat_pages_get(f->scout.pages, index, page) : 0;
}

/* Hands out the pages with a record up to that time; the time of the last record on them. */
static uint64_t let_out(struct slow_feed *f, uint64_t until)
{
	while (!f->scout.ended && f->scout.rec.ts <= until) {
		const uint64_t page = f->scout.page_index;

		for (f->pages = page + 1; !f->scout.ended && f->scout.page_index == page;) {
			f->last = f->scout.rec.ts > f->last ? f->scout.rec.ts : f->last;
			lane_next(&f->scout);
		}
	}
	return f->last;
}

/* ---- */

struct feeds {
	struct slow_feed *at;
	size_t n;
};

static bool add_feeds(struct feeds *feeds, struct spur_trace *t, const struct spur_trace *finished)
{
	size_t cpus = 0;

	for (uint32_t i = 0; i < t->nr_buffers; i++)
		cpus += t->buffers[i].data->nr_cpus;
	feeds->at = calloc(cpus + 1, sizeof(*feeds->at));
	for (uint32_t i = 0; feeds->at && i < t->nr_buffers; i++) {
		struct dat_buffer *b = &t->dat->buffers[i];

		for (uint32_t k = 0; k < b->nr_cpus; k++) {
			struct slow_feed *f = &feeds->at[feeds->n];
			const struct trace_buffer *from = &finished->buffers[i];

			if (!b->cpus[k].size ||
			    lane_open(&f->scout, from, &from->data->cpus[k]) < 0)
				continue;
			lane_next(&f->scout);
			f->feed.get = get_page;
			b->cpus[k].feed = &f->feed;
			feeds->n++;
		}
	}
	return feeds->at;
}

/* Rounds of the length `step`, from the first record on. */
static int follow_rounds(struct follow *f, struct feeds *feeds, uint64_t begin, uint64_t step)
{
	uint64_t now = begin, seen = 0;
	int rc = 0;

	for (bool more = true; more && rc == 0;) {
		uint64_t until = seen;

		now = seen > now + step ? seen : now + step;
		more = false;
		for (size_t i = 0; i < feeds->n; i++) {
			uint64_t last = let_out(&feeds->at[i], now);

			seen = last > seen ? last : seen;
			more |= !feeds->at[i].scout.ended;
		}
		follow_forget(f);
		rc = follow_emit(f, until);
	}
	return rc == 0 ? follow_end(f) : rc;
}

static size_t list_sources(const struct spur_trace *t, struct emit_source *sources)
{
	size_t n = 0;

	for (uint32_t i = 0; i < t->nr_buffers && n < MAX_SOURCES; i++)
		if (!t->buffers[i].data->text)
			sources[n++] = (struct emit_source){.buffer = &t->buffers[i]};
	return n;
}

/* The report of a trace: as a whole, or in rounds with pages of the finished one. */
static int report(struct spur_trace *t, const struct spur_trace *finished, const struct variant *v,
		  unsigned int rounds, const uint64_t range[2], struct buf *text)
{
	struct emit_source sources[MAX_SOURCES];
	struct select_filters filters = {.trace = t};
	struct spur_error err = {0};
	struct report rep = {.traces = &t,
			     .nr_traces = 1,
			     .sources = sources,
			     .nr_sources = list_sources(t, sources),
			     .emit = v->ops,
			     .options = v->emit,
			     .threads = 1,
			     .write = collect,
			     .arg = text};
	struct profile *profile = v->profile ? profile_new(&t, 1, NULL, &err) : NULL;
	struct feeds feeds = {0};
	struct follow *f = NULL;
	int rc = 0;

	if (profile) {
		rep.watch = take_record;
		rep.watch_arg = profile;
	}
	if (v->filter) {
		filters.wanted = filter_new(t->events);
		rc = filter_add(filters.wanted, v->filter, &err);
		rep.select.filters = &filters;
		rep.select.nr_filters = 1;
		rep.select.stacks = SELECT_STACKS_FOLLOW;
	}
	if (rc == 0 && !rounds)
		rc = report_run(&rep, &err);
	if (rc == 0 && rounds && add_feeds(&feeds, t, finished))
		rc = follow_new(&rep, &f);
	if (rc == 0 && rounds)
		rc = follow_rounds(f, &feeds, range[0], (range[1] - range[0]) / rounds + 1);
	follow_free(f);
	if (profile)
		profile_print(profile, text);
	profile_free(profile);
	for (size_t i = 0; i < feeds.n; i++)
		lane_close(&feeds.at[i].scout);
	free(feeds.at);
	filter_free(filters.wanted);
	return rc;
}

/* The times of a trace's first and last record. */
static void find_range(const struct spur_trace *t, uint64_t range[2])
{
	const struct spur_record *r;
	struct scan m;

	range[0] = UINT64_MAX;
	range[1] = 0;
	scan_init(&m, NULL);
	for (uint32_t i = 0; i < t->nr_buffers; i++)
		if (!t->buffers[i].data->text)
			scan_add_buffer(&m, &t->buffers[i]);
	scan_start(&m);
	while ((r = scan_next(&m)) != NULL) {
		range[0] = r->ts < range[0] ? r->ts : range[0];
		range[1] = r->ts > range[1] ? r->ts : range[1];
	}
	scan_free(&m);
}

static size_t first_difference(const struct buf *a, const struct buf *b)
{
	size_t i = 0, line = 1;

	while (i < a->len && i < b->len && a->data[i] == b->data[i])
		line += a->data[i++] == '\n';
	return line;
}

static bool open_trace(const char *path, const struct variant *v, struct spur_trace **t)
{
	struct trace_options opt = {.compat = v->emit.compat};
	struct spur_error err = {0};

	if (trace_open(path, &opt, t, &err) == 0)
		return true;
	fprintf(stderr, "%s\n", err.text);
	return false;
}

/* Compares one way to cut with the whole; true when they are equal. */
static bool compare(const char *path, const struct variant *v, struct spur_trace *whole,
		    unsigned int rounds, const uint64_t range[2], const struct buf *want)
{
	struct spur_trace *t;
	struct buf got;
	bool same;

	if (!open_trace(path, v, &t))
		return false;
	buf_init(&got, TEXT_LIMIT);
	same = report(t, whole, v, rounds, range, &got) == 0 && want->len == got.len &&
	       memcmp(buf_str((struct buf *)want), buf_str(&got), got.len) == 0;
	if (!same)
		printf("%s: %s in %u rounds differs in line %zu (%zu and %zu bytes)\n", path,
		       v->name, rounds, first_difference(want, &got), want->len, got.len);
	buf_free(&got);
	trace_close(t);
	return same;
}

static unsigned int check(const char *path, const struct variant *v)
{
	unsigned int wrong = 0;
	struct spur_trace *whole;
	uint64_t range[2];
	struct buf want;

	if (!open_trace(path, v, &whole))
		return 1;
	find_range(whole, range);
	buf_init(&want, TEXT_LIMIT);
	wrong += report(whole, NULL, v, 0, range, &want) < 0;
	for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++)
		wrong += !compare(path, v, whole, cuts[i], range, &want);
	buf_free(&want);
	trace_close(whole);
	return wrong;
}

int main(int argc, char **argv)
{
	unsigned int wrong = 0;

	for (int i = 1; i < argc; i++)
		for (size_t k = 0; k < sizeof(variants) / sizeof(variants[0]); k++)
			wrong += check(argv[i], &variants[k]);
	printf("%u reports differ\n", wrong);
	return wrong || argc < 2;
}
