// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `spur reset`: turns everything off. As trace-cmd's, but what others use is left alone: dynamic
 * events are removed only when the top buffer is reset, and not while another instance uses them.
 * What killed recordings left in the kernel is always removed.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "cli/live.h"
#include "tracefs/leftovers.h"
#include "tracefs/state.h"

struct reset_options {
	struct picks picks;
	unsigned int keep; /* bits by enum dynamic_kind */
	bool dead;	   /* only what is left of the dead */
	int64_t early_kb;  /* -b before any buffer was named: the top one's */
};

static struct pick *last_pick(struct reset_options *o)
{
	return o->picks.n ? &o->picks.at[o->picks.n - 1] : NULL;
}

static int take_size(void *options, const struct opt *opt, const char *arg)
{
	struct reset_options *o = options;
	struct pick *last = last_pick(o);
	int64_t kb;

	if (!parse_number(arg, &kb) || kb < 0)
		return opt_error(opt, "'%s' is not a size in kB", arg);
	*(last ? &last->size_kb : &o->early_kb) = kb > 1 ? kb : 1;
	return 0;
}

static int take_delete(void *options, const struct opt *opt, const char *arg)
{
	struct pick *last = last_pick(options);

	if (!last || last->kind == PICK_TOP)
		return opt_error(opt, "the top buffer cannot be removed; give it after -B or -a");
	last->remove = true;
	return 0;
}

static int take_keep(void *options, const struct opt *opt, const char *arg)
{
	struct reset_options *o = options;
	enum dynamic_kind kind = dynamic_kind_named(arg);

	if (strcmp(arg, "all") == 0)
		o->keep = ~0u;
	else if (kind < DYNAMIC_FOREIGN)
		o->keep |= 1u << kind;
	else
		return opt_error(opt,
				 "kprobe, kretprobe, uprobe, uretprobe, fprobe, eprobe, synth "
				 "or all, not '%s'",
				 arg);
	return 0;
}

#define PICKS offsetof(struct reset_options, picks)

static const struct opt opts[] = {
	LIVE_BUFFER_OPTIONS(PICKS),
	{'b', NULL, OPT_CALL, "KB", "the size per CPU of the buffers before it (-B, -a, -t)",
	 .call = take_size},
	{'d', NULL, OPT_CALL, NULL, "remove the instances before it (-B, -a)", .call = take_delete},
	{'k', NULL, OPT_CALL, "KIND", "keep these dynamic events: kprobe, uprobe, …, all",
	 .call = take_keep, .values = "kprobe kretprobe uprobe uretprobe fprobe eprobe synth all"},
	{0, "dead", OPT_FLAG, NULL, "remove only what killed recordings left",
	 offsetof(struct reset_options, dead)},
};

static void print_removed(void *kind, const char *name)
{
	printf("removed the %s %s, which a recording had left behind\n", (const char *)kind, name);
}

/*
 * What is in undo logs first. Instances and probes without a log are of recordings that could not
 * write one.
 */
static int reset_dead(void)
{
	struct spur_error err = {0};
	struct tracefs fs;
	int status;

	if (tracefs_find(&fs, &err) < 0)
		return cli_fail(&err);
	status = live_clean(&fs, true);
	if (leftovers_instances(&fs, print_removed, "instance", &err) < 0 ||
	    leftovers_probes(&fs, print_removed, "probe", &err) < 0)
		return cli_fail(&err);
	return status;
}

static void print_left(void *arg, const struct dynamic_event *e, const struct spur_error *why)
{
	int *status = arg;

	cli_error("%s/%s stays: %s", e->group, e->name,
		  why->code == -EBUSY ? "it is in use" : why->text);
	*status = SPUR_ENVIRONMENT;
}

static int resize(const struct tracefs *fs, const char *instance, int64_t kb,
		  struct spur_error *err)
{
	char text[24];

	if (!kb)
		return 0;
	snprintf(text, sizeof(text), "%lld", (long long)kb);
	return tracefs_write(fs, instance, "buffer_size_kb", TRACEFS_REPLACE, text, err);
}

static int reset_target(const struct tracefs *fs, const struct target *t, unsigned int keep)
{
	struct spur_error err = {0};
	int rc = reset_buffer(fs, t->instance, &err), dynamic = 0, left = SPUR_OK;

	if (!t->instance)
		dynamic = dynamic_remove_all(fs, keep, print_left, &left, &err);
	if (t->remove)
		rc = tracefs_remove_instance(fs, t->instance, &err);
	else if (resize(fs, t->instance, t->size_kb, &err) < 0 && rc == 0)
		rc = err.code;
	return rc < 0 || dynamic < 0 ? cli_fail(&err) : left;
}

static int reset(const struct reset_options *o)
{
	struct spur_error err = {0};
	struct targets targets;
	struct tracefs fs;
	int status = live_targets(&fs, &o->picks, &targets), left = SPUR_OK;

	if (status != SPUR_OK)
		return status;
	/* Before the top buffer is: they may hold dynamic events. */
	if (leftovers_instances(&fs, print_removed, "instance", &err) < 0)
		left = cli_fail(&err);
	err = (struct spur_error){0};
	if (resize(&fs, NULL, o->early_kb, &err) < 0)
		left = cli_fail(&err);
	vec_each (t, &targets) {
		int one;

		/* It may have been a leftover that is removed by now. */
		if (t->instance && !tracefs_has(&fs, t->instance, "trace"))
			continue;
		one = reset_target(&fs, t, o->keep);
		status = status ? status : one;
	}
	live_targets_free(&targets);
	return status ? status : left;
}

static int run(void *options, int others, char **argv)
{
	const struct reset_options *o = options;

	if (o->dead && (o->picks.n || o->keep || o->early_kb))
		return cli_wrong("--dead goes with no other option");
	return o->dead ? reset_dead() : reset(o);
}

const struct command command_reset = {
	.name = "reset",
	.summary = "turn all tracing off and reset its settings",
	.usage = "[-B NAME | -a | -t [-b KB] [-d]]... [-k KIND]... | --dead",
	COMMAND_OPTS(opts, struct reset_options),
	.run = run,
	.takes_nothing = LIVE_TAKES_NOTHING,
};
