// SPDX-License-Identifier: GPL-2.0-or-later
/* A session that only saves what the buffers contain. */
#include "record/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "record/session_state.h"

static int no_memory(struct spur_error *err)
{
	return error_set(err, -ENOMEM, "out of memory");
}

/* Fills in the setup as if the session had made the buffers' settings. */
static int describe(struct session *s, const struct extract_options *opt, struct spur_error *err)
{
	struct setup *setup = &s->setup;
	struct setup_buffer *b;

	plan_init(&setup->plan);
	b = arena_array(&setup->plan.arena, opt->instances.n + 1, sizeof(*b));
	if (!b)
		return no_memory(err);
	b[0] = (struct setup_buffer){.name = "", .instance = opt->top ? "" : NULL};
	for (size_t i = 0; i < opt->instances.n; i++)
		b[i + 1] = (struct setup_buffer){.name = opt->instances.at[i],
						 .instance = opt->instances.at[i]};
	setup->buffers = b;
	setup->nr_buffers = opt->instances.n + 1;
	return 0;
}

/* Stops the buffers, because emptying one that is still written to would never end. */
static int pause_buffers(struct session *s, struct spur_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < s->setup.nr_buffers && rc == 0; i++) {
		const char *instance = s->setup.buffers[i].instance;
		int64_t on = 0;

		if (!instance)
			continue;
		rc = tracefs_read_number(s->fs, instance, "tracing_on", &on, err);
		if (rc == 0 && on)
			rc = undo_write(s->undo, instance, "tracing_on", TRACEFS_REPLACE, "0", err);
	}
	return rc;
}

static int set_options(struct session *s, const struct string_refs *options, struct spur_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < options->n && rc == 0; i++) {
		char file[SETUP_OPTION_CAP];
		bool on;

		rc = setup_option_file(s->fs, options->at[i], file, sizeof(file), &on, err);
		if (rc == 0)
			rc = undo_write(s->undo, "", file, TRACEFS_REPLACE, on ? "1" : "0", err);
	}
	return rc;
}

static int check(const struct tracefs *fs, const struct extract_options *opt,
		 struct spur_error *err)
{
	const char *first = opt->instances.n ? opt->instances.at[0] : "";

	if (opt->tracer && !session_text_tracer(opt->tracer))
		return error_set(err, -EINVAL,
				 "-p is for tracers whose result is a text (wakeup, irqsoff, …), "
				 "which %s is not",
				 opt->tracer);
	if (opt->tracer && (opt->instances.n || !opt->top))
		return error_set(err, -EINVAL,
				 "-p: the text of a tracer is the top-level buffer's");
	if (opt->snapshot && !tracefs_has(fs, opt->top ? "" : first, "snapshot"))
		return error_set(err, -ENODEV,
				 "this kernel has no snapshots (CONFIG_TRACER_SNAPSHOT)");
	return 0;
}

static int extract(struct session *s, const struct extract_options *opt, struct spur_error *err)
{
	const struct undo_options guard = {
		.guarded = true, .before = rescue_before, .after = rescue_after};
	int rc = check(s->fs, opt, err);

	if (rc == 0)
		rc = undo_new(s->fs, &guard, &s->undo, err);
	if (rc == 0)
		rc = describe(s, opt, err);
	if (rc == 0 && !opt->snapshot)
		rc = pause_buffers(s, err);
	if (rc == 0 && opt->tracer)
		rc = set_options(s, &opt->options, err);
	if (rc == 0)
		rc = meta_begin(&s->meta, s->fs, &s->setup, s->undo, &s->opt->meta, err);
	if (rc == 0)
		rc = session_taskinfo(s, false, err);
	if (rc < 0)
		return rc;
	s->begin = s->end = session_now();
	rc = session_save(s, err);
	session_tell(s, true);
	if (rc == 0 && s->misplaced.code)
		rc = error_set(err, s->misplaced.code, "%s", s->misplaced.text);
	return rc;
}

int extract_run(const struct tracefs *fs, const struct extract_options *opt,
		struct session_result *res, struct spur_error *err)
{
	/* Which events are in the buffers is not known before they have been read. */
	const struct session_options session = {
		.output = opt->output,
		.file = opt->file,
		.meta = {.all_formats = true, .date = opt->date},
		.rescue = true,
		.recorder = {.data_file = opt->snapshot ? "snapshot_raw" : NULL},
	};
	struct session *s = calloc(1, sizeof(*s));
	struct request request = {0};
	struct request_buffer *b = s ? request_add_buffer(&request, "") : NULL;
	int rc;

	memset(res, 0, sizeof(*res));
	if (!b) {
		free(s);
		return no_memory(err);
	}
	b->tracer = opt->tracer;
	s->fs = fs;
	s->req = &request;
	s->opt = &session;
	s->res = res;
	rc = extract(s, opt, err);
	session_clean_up(s, &rc, err);
	request_free(&request);
	free(s);
	return rc;
}
