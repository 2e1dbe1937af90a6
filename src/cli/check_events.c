// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur check-events`: whether the formats of this kernel's events can be understood. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/vec.h"
#include "cli/live.h"
#include "event/event.h"
#include "event/tep.h"
#include "tracefs/state.h"

#define PATH_CAP     512
#define FORMAT_LIMIT (1u << 20)

struct check_options {
	bool no_plugins;
};

static const struct opt opts[] = {
	{'N', NULL, OPT_FLAG, NULL, "ignore plugins; check the formats alone",
	 offsetof(struct check_options, no_plugins)},
	{0, "verbose", OPT_CALL, "[LEVEL]", "does nothing; accepted because trace-cmd has it",
	 .call = opt_ignore},
};

/* The formats of the kernel while they are read. The registry points into their texts. */
struct formats {
	const struct tracefs *fs;
	struct events *events;
	const char *system;
	struct {
		struct buf *at;
		size_t n, cap;
	} texts;
	int status;
};

/* A directory below events/SYSTEM: one that has no format is not an event. */
static int add_event(void *arg, const char *name)
{
	struct formats *f = arg;
	struct spur_error err = {0};
	struct buf *text;
	char path[PATH_CAP];

	if (snprintf(path, sizeof(path), "events/%s/%s/format", f->system, name) >=
		    (int)sizeof(path) ||
	    !tracefs_has(f->fs, NULL, path))
		return 0;
	text = vec_push(&f->texts);
	if (!text)
		return -ENOMEM;
	buf_init(text, FORMAT_LIMIT);
	if (tracefs_read(f->fs, NULL, path, text, &err) < 0 ||
	    events_add(f->events, f->system, text->data, text->len, &err) < 0) {
		cli_error("%s:%s: %s", f->system, name, err.text);
		f->status = (int)spur_error_status(err.code);
	}
	return 0;
}

static int add_system(void *arg, const char *system)
{
	struct formats *f = arg;
	char dir[PATH_CAP];

	if (snprintf(dir, sizeof(dir), "events/%s", system) >= (int)sizeof(dir))
		return 0;
	f->system = system;
	return tracefs_each(f->fs, NULL, dir, add_event, f, NULL);
}

/*
 * A format whose event has a builtin printer, or is printed by libtraceevent, need not be parsed.
 */
static bool can_be_shown(struct event *e, const struct check_options *o)
{
	const enum event_state state = event_ready(e);

	if (state == EVENT_READY)
		return true;
	return state == EVENT_FIELDS_ONLY && !o->no_plugins && (e->handler || e->by_plugin);
}

static int check(const struct check_options *o, struct formats *f)
{
	const struct tep_options plugins = {.user_plugins = true};
	struct tep_bridge *bridge;
	struct events *ev = f->events;
	size_t not_all = 0, broken = 0;

	if (events_seal(ev) < 0) {
		cli_error("out of memory");
		return SPUR_ENVIRONMENT;
	}
	if (!o->no_plugins && tep_user_plugins_exist() &&
	    tep_bridge_new(ev, &plugins, &bridge, NULL) == 0)
		tep_bridge_attach(bridge);
	for (size_t i = 0; i < ev->nr; i++) {
		struct event *e = ev->list[i];

		if (can_be_shown(e, o))
			continue;
		not_all++;
		cli_error("%s:%s: %s", e->system, e->name, e->why ? e->why : "cannot be parsed");
		broken += event_ready(e) == EVENT_BROKEN;
	}
	printf("%zu formats, %zu of them not understood", ev->nr, not_all);
	printf(not_all && !broken ? ": shown field by field\n" : "\n");
	return f->status || !not_all ? f->status : SPUR_CORRUPT;
}

static int run(int argc, char **argv)
{
	struct check_options o = {0};
	int others = opts_parse(&command_check_events, &o, argc, argv), rc;
	struct spur_error err = {0};
	struct formats f = {0};
	struct tracefs fs;

	if (others < 0)
		return others == -ECANCELED ? SPUR_OK : SPUR_USAGE;
	if (others > 0) {
		cli_error("check-events takes no arguments");
		return SPUR_USAGE;
	}
	f.status = live_open(&fs);
	if (f.status != SPUR_OK)
		return f.status;
	f.fs = &fs;
	f.events = events_new();
	rc = f.events ? state_each_system(&fs, NULL, add_system, &f, &err) : -ENOMEM;
	if (rc < 0)
		f.status = cli_result(rc, "reading the formats", &err);
	else
		f.status = check(&o, &f);
	events_free(f.events);
	vec_each (text, &f.texts)
		buf_free(text);
	vec_free(&f.texts);
	return f.status;
}

const struct command command_check_events = {
	.name = "check-events",
	.summary = "check whether spur can parse this kernel's event formats",
	.usage = "[-N]",
	.opts = opts,
	.nr_opts = ARRAY_SIZE(opts),
	.run = run,
};
