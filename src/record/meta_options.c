// SPDX-License-Identifier: GPL-2.0-or-later
/* The options of a recording: what the file says about the machine, the clock and the buffers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/error.h"
#include "dat/dat.h"
#include "record/meta_parts.h"

#define STATS_CAP    1024
#define MAPS_LIMIT   (64u << 20)
#define FILE_CAP     64
#define PIDS_LIMIT   (1u << 20)
#define FILTER_LIMIT (64u << 10)

static int text_option(struct meta *m, uint16_t id, const char *text, struct spur_error *err)
{
	return meta_option(m, id, text, strlen(text) + 1, err);
}

static int add_clock(struct meta *m, struct spur_error *err)
{
	const char *instance = m->setup->buffers[0].instance;
	struct dat_span clocks;
	int rc = meta_read(m, instance ? instance : "", "trace_clock", &clocks, err);

	return rc < 0 ? rc : text_option(m, DAT_OPT_TRACECLOCK, clocks.data, err);
}

static int add_machine(struct meta *m, struct spur_error *err)
{
	const char *text = dat_tracing_uname(m->into);

	return text ? text_option(m, DAT_OPT_UNAME, text, err) : 0;
}

/* A number that tells this recording from all others; 0 means that there is none. */
static int add_identity(struct meta *m, struct spur_error *err)
{
	uint64_t id = 0;

	while (!id)
		if (getrandom(&id, sizeof(id), 0) < 0)
			return error_sys(err, -errno, "a number for the recording");
	return meta_option(m, DAT_OPT_TRACEID, &id, sizeof(id), err);
}

/* Whose events are recorded, as the kernel has it now. */
static int add_followed(struct meta *m, struct spur_error *err)
{
	const char *instance = m->setup->buffers[0].instance;
	int64_t children = 0;
	struct buf pids, text;
	int rc = 0;

	buf_init(&pids, PIDS_LIMIT);
	buf_init(&text, PIDS_LIMIT + FILE_CAP);
	if (instance && tracefs_read(m->fs, instance, "set_event_pid", &pids, NULL) == 0 &&
	    pids.len && pids.data[0] >= '0' && pids.data[0] <= '9') {
		tracefs_read_number(m->fs, instance, "options/event-fork", &children, NULL);
		buf_printf(&text, "1 %d\n%s", children != 0, buf_str(&pids));
		rc = text_option(m, DAT_OPT_FOLLOWED, buf_str(&text), err);
	}
	buf_free(&pids);
	buf_free(&text);
	return rc;
}

/* An event's filter as the kernel has it now, if there is one. */
static void put_filter(const struct meta *m, const struct setup_buffer *b, const char *event,
		       struct buf *to)
{
	char file[FILE_CAP];
	struct buf filter;

	snprintf(file, sizeof(file), "events/sched/%s/filter", event);
	buf_init(&filter, FILTER_LIMIT);
	if (tracefs_read(m->fs, b->instance, file, &filter, NULL) == 0) {
		const char *text = buf_str(&filter);
		const size_t len = strcspn(text, "\n");

		if (len && strncmp(text, "none", len) != 0)
			buf_printf(to, "%s\tsched:%s\t%.*s\n", b->name, event, (int)len, text);
	}
	buf_free(&filter);
}

/* What the scheduler's events that tables are made from had to pass. */
static int add_filters(struct meta *m, struct spur_error *err)
{
	static const char *const events[] = {"sched_switch", "sched_waking", "sched_wakeup",
					     "sched_wakeup_new"};
	struct buf text;
	int rc = 0;

	buf_init(&text, PIDS_LIMIT);
	for (size_t i = 0; i < m->setup->nr_buffers; i++) {
		const struct setup_buffer *b = &m->setup->buffers[i];

		for (size_t k = 0; b->instance && k < sizeof(events) / sizeof(events[0]); k++)
			put_filter(m, b, events[k], &text);
	}
	if (text.len) {
		struct buf option;

		buf_init(&option, PIDS_LIMIT + FILE_CAP);
		buf_printf(&option, "1\n%s", buf_str(&text));
		rc = text_option(m, DAT_OPT_FILTERS, buf_str(&option), err);
		buf_free(&option);
	}
	buf_free(&text);
	return rc;
}

int meta_first_options(struct meta *m, struct spur_error *err)
{
	int rc = add_clock(m, err);

	if (rc == 0)
		rc = add_machine(m, err);
	if (rc == 0)
		rc = text_option(m, DAT_OPT_VERSION, "spur " SPUR_VERSION, err);
	if (rc == 0)
		rc = add_identity(m, err);
	if (rc == 0)
		rc = add_followed(m, err);
	if (rc == 0)
		rc = add_filters(m, err);
	if (rc == 0 && m->opt.has_ts_offset) {
		char text[24];

		snprintf(text, sizeof(text), "%lld", (long long)m->opt.ts_offset);
		rc = text_option(m, DAT_OPT_OFFSET, text, err);
	}
	if (rc == 0 && m->opt.date)
		rc = meta_date(m, err);
	if (rc == 0 && m->opt.tsc2nsec)
		rc = meta_tsc(m, err);
	for (const char *const *hook = m->opt.hooks; hook && *hook && rc == 0; hook++)
		rc = text_option(m, DAT_OPT_HOOK, *hook, err);
	return rc;
}

/* ---- the end ---- */

static int read_stats(const struct tracefs *fs, const char *instance, uint32_t cpu, char *text,
		      size_t cap)
{
	struct buf b;
	char file[FILE_CAP];
	int rc;

	snprintf(file, sizeof(file), "per_cpu/cpu%u/stats", cpu);
	buf_init(&b, 64u << 10);
	rc = tracefs_read(fs, instance, file, &b, NULL);
	snprintf(text, cap, "%s", rc == 0 ? b.data : "");
	buf_free(&b);
	return rc;
}

static int add_stats(struct meta *m, const struct setup_buffer *b, struct spur_error *err)
{
	int rc = 0;

	if (*b->name) {
		char head[300];

		snprintf(head, sizeof(head), "\nBuffer: %.256s\n\n", b->name);
		rc = text_option(m, DAT_OPT_CPUSTAT, head, err);
	}
	for (uint32_t i = 0; i < m->nr_cpus && rc == 0; i++) {
		char stats[STATS_CAP], text[STATS_CAP + 32];

		if (read_stats(m->fs, b->instance, m->cpus[i], stats, sizeof(stats)) < 0)
			continue;
		snprintf(text, sizeof(text), "CPU: %u\n%s", m->cpus[i], stats);
		rc = text_option(m, DAT_OPT_CPUSTAT, text, err);
	}
	return rc;
}

/* Whose events a buffer does not record, as the kernel has it now: one pid in a line. */
static void put_hidden(const struct meta *m, const struct setup_buffer *b, struct buf *to)
{
	struct buf pids;

	buf_init(&pids, PIDS_LIMIT);
	if (tracefs_read(m->fs, b->instance, "set_event_notrace_pid", &pids, NULL) == 0)
		for (const char *at = buf_str(&pids); *at >= '0' && *at <= '9';) {
			const size_t len = strcspn(at, "\n");

			buf_printf(to, "%s\t%.*s\n", b->name, (int)len, at);
			at += len + (at[len] == '\n');
		}
	buf_free(&pids);
}

/* The recorder hides its threads, which are all there only once it runs. */
static int add_hidden(struct meta *m, struct spur_error *err)
{
	const char version[] = "1\n";
	struct buf text;
	int rc = 0;

	buf_init(&text, PIDS_LIMIT);
	buf_puts(&text, version);
	for (size_t i = 0; i < m->setup->nr_buffers; i++)
		if (m->setup->buffers[i].instance)
			put_hidden(m, &m->setup->buffers[i], &text);
	if (text.len > strlen(version))
		rc = text_option(m, DAT_OPT_HIDDEN, buf_str(&text), err);
	buf_free(&text);
	return rc;
}

int meta_last_options(struct meta *m, struct spur_error *err)
{
	int rc = add_hidden(m, err);

	for (size_t i = 0; i < m->setup->nr_buffers && rc == 0; i++)
		if (m->setup->buffers[i].instance)
			rc = add_stats(m, &m->setup->buffers[i], err);
	if (rc == 0 && m->opt.maps && m->opt.maps->n) {
		struct buf text;

		buf_init(&text, MAPS_LIMIT);
		maps_put(m->opt.maps, &text);
		rc = text_option(m, DAT_OPT_PROCMAPS, buf_str(&text), err);
		buf_free(&text);
	}
	return rc;
}

/* The number behind a word of the statistics. */
static uint64_t stat_number(const char *stats, const char *word)
{
	const char *at = strstr(stats, word);

	return at ? strtoull(at + strlen(word), NULL, 10) : 0;
}

bool meta_stat(const struct tracefs *fs, const char *instance, uint32_t cpu, const char *word,
	       uint64_t *value)
{
	char stats[STATS_CAP];

	if (read_stats(fs, instance, cpu, stats, sizeof(stats)) < 0 || !strstr(stats, word))
		return false;
	*value = stat_number(stats, word);
	return true;
}

int meta_lost(const struct meta *m, uint64_t *lost)
{
	*lost = 0;
	for (size_t i = 0; i < m->setup->nr_buffers; i++)
		for (uint32_t k = 0; k < m->nr_cpus && m->setup->buffers[i].instance; k++) {
			char stats[STATS_CAP];
			int rc = read_stats(m->fs, m->setup->buffers[i].instance, m->cpus[k], stats,
					    sizeof(stats));

			if (rc < 0)
				return rc;
			/* "commit overrun" ends in the same word: the line has to begin with it. */
			*lost += stat_number(stats, "\noverrun: ") +
				 stat_number(stats, "\ndropped events: ") +
				 stat_number(stats, "\ncommit overrun: ");
		}
	return 0;
}

/* "SECONDS.MICROSECONDS" of a clock that counts nanoseconds, or what another one counts. */
static uint64_t stat_time(const char *stats, const char *word)
{
	const char *at = strstr(stats, word);
	char *end;
	uint64_t ts = at ? strtoull(at + strlen(word), &end, 10) : 0;

	return at && *end == '.' ? ts * 1000000000 + strtoull(end + 1, NULL, 10) * 1000 : ts;
}

uint64_t meta_oldest(const struct meta *m)
{
	uint64_t oldest = UINT64_MAX;

	for (size_t i = 0; i < m->setup->nr_buffers; i++)
		for (uint32_t k = 0; k < m->nr_cpus && m->setup->buffers[i].instance; k++) {
			char stats[STATS_CAP];
			uint64_t ts;

			if (read_stats(m->fs, m->setup->buffers[i].instance, m->cpus[k], stats,
				       sizeof(stats)) < 0 ||
			    !stat_number(stats, "entries: "))
				continue;
			ts = stat_time(stats, "oldest event ts: ");
			oldest = ts < oldest ? ts : oldest;
		}
	return oldest;
}
