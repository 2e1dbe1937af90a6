// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Uses an undo log until all settings are made: if the kernel refuses one, all others are restored.
 */
#include "record/setup.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>

#include "base/error.h"
#include "base/vec.h"
#include "record/command.h"

#define LOOK_MS 20 /* how often to check whether a command has ended, if the kernel has no pidfds */

static struct setup_options settings(const struct start_options *opt, pid_t command)
{
	return (struct setup_options){
		.main = "", .command = command, .for_good = true, .additional = opt->additional};
}

static int remove_instances(const struct tracefs *fs, const struct string_refs *names,
			    struct spur_error *err)
{
	int rc = 0;

	for (size_t i = 0; names && i < names->n && rc == 0; i++)
		rc = tracefs_remove_instance(fs, names->at[i], err);
	return rc;
}

/* Turns on all buffers that have been set up. */
static int turn_on(const struct setup *s, struct undo *undo, struct spur_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < s->nr_buffers && rc == 0; i++)
		if (s->buffers[i].instance)
			rc = undo_write(undo, s->buffers[i].instance, "tracing_on", TRACEFS_REPLACE,
					"1", err);
	return rc;
}

static void wait_for(struct command_run *c)
{
	while (!command_ended(c)) {
		struct pollfd end = {c->pidfd, POLLIN, 0};

		poll(&end, 1, c->pidfd < 0 ? LOOK_MS : -1);
	}
}

static int make_settings(const struct tracefs *fs, const struct request *r,
			 const struct start_options *opt, struct undo *undo,
			 struct command_run *command, struct spur_error *err)
{
	const struct setup_options how = settings(opt, command->pid);
	struct setup s;
	int rc = setup_make(r, fs, &how, &s, err);

	if (rc == 0)
		rc = plan_apply(&s.plan, fs, undo, err);
	for (size_t i = 0; i < s.notes.n && rc == 0 && opt->note; i++)
		opt->note(NULL, s.notes.at[i]);
	if (rc == 0 && !opt->additional)
		rc = turn_on(&s, undo, err);
	if (rc == 0 && command->pid)
		rc = command_go(command, err);
	setup_free(&s);
	return rc;
}

int start_run(const struct tracefs *fs, const struct request *r, const struct start_options *opt,
	      struct spur_error *err)
{
	const struct undo_options guarded = {.guarded = true};
	struct command_run command = {0};
	struct undo *undo;
	int rc = undo_new(fs, &guarded, &undo, err);

	if (rc < 0)
		return rc;
	rc = remove_instances(fs, opt->remove, err);
	if (rc == 0 && opt->command)
		rc = command_hold(&command, opt->command, opt->user, err);
	if (rc == 0)
		rc = make_settings(fs, r, opt, undo, &command, err);
	if (rc == 0)
		undo_keep(undo);
	undo_free(undo);
	if (rc == 0 && command.pid && !opt->leave)
		wait_for(&command);
	if (command.pid)
		command_close(&command);
	return rc;
}

int start_show(const struct tracefs *fs, const struct request *r, const struct start_options *opt,
	       struct buf *to, struct spur_error *err)
{
	const struct setup_options how = settings(opt, 0);
	struct setup s;
	int rc = setup_make(r, fs, &how, &s, err);

	for (size_t i = 0; opt->remove && i < opt->remove->n && rc == 0; i++)
		buf_printf(to, "rmdir %s/instances/%s\n", fs->path, opt->remove->at[i]);
	if (rc == 0)
		plan_show(&s.plan, fs, to);
	for (size_t i = 0; i < s.nr_buffers && rc == 0 && !opt->additional; i++) {
		char path[512];

		if (s.buffers[i].instance &&
		    tracefs_path(fs, s.buffers[i].instance, "tracing_on", path, sizeof(path)))
			buf_printf(to, "echo 1 > %s\n", path);
	}
	setup_free(&s);
	return rc;
}
