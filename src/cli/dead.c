// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/dead.h"

#include <stdio.h>

#include "base/vec.h"
#include "cli/cli.h"
#include "record/rescue.h"
#include "tracefs/kernelswitch.h"
#include "tracefs/leftovers.h"

static void tell_left(void *arg, const char *instance, const char *file)
{
	cli_error("%s%s%s stays as it is: it was changed after a recording was killed", instance,
		  *instance ? "/" : "", file);
}

static void tell_cleaned(const struct leftover *l, const struct rescue_result *res)
{
	if (res->path[0])
		cli_error("cleaned up after process %d, which was killed with its guardian: %llu "
			  "events saved in %s",
			  (int)l->owner.pid, (unsigned long long)res->events, res->path);
	else
		cli_error("cleaned up after process %d, which was killed with its guardian",
			  (int)l->owner.pid);
}

/* Whether it is gone now. */
static bool clean(struct leftover *l, const struct tracefs *fs, bool drop)
{
	struct rescue *r = rescue_begin(fs, l->note);
	const bool failed = rescue_failed(r);
	struct rescue_result res = {0};
	struct spur_error err = {0};
	bool gone = false;

	if (failed && !drop) {
		rescue_end(r, &res);
		cli_error("what process %d recorded until it was killed cannot be saved: %s; 'spur "
			  "reset --dead' removes it",
			  (int)l->owner.pid, res.err.text);
		return false;
	}
	gone = leftover_undo(l, fs, tell_left, NULL, &err) == 0;
	rescue_end(r, &res);
	if (failed)
		cli_error("what process %d recorded until it was killed is dropped: %s",
			  (int)l->owner.pid, res.err.text);
	else if (res.err.code)
		cli_error("%s", res.err.text);
	if (gone)
		tell_cleaned(l, &res);
	else
		cli_error("cleaning up after process %d: %s", (int)l->owner.pid, err.text);
	return gone;
}

int dead_clean(const struct tracefs *fs, bool drop)
{
	struct leftovers list;
	int status = SPUR_OK;

	if (leftovers_load(fs, &list, NULL) < 0)
		return SPUR_ENVIRONMENT;
	vec_each (l, &list)
		if (!clean(l, fs, drop))
			status = SPUR_ENVIRONMENT;
	leftovers_free(&list);
	if (kernelswitch_clean(fs, KERNELSWITCH_PRINTK))
		cli_error("bpf_trace_printk, which a script that was killed had left enabled, is "
			  "disabled again");
	return status;
}
