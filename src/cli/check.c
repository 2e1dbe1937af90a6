// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `spur check`: what this kernel offers, what is missing, why, and what to do about it; and
 * `spur check-events`: whether the formats of its events can be understood.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/utsname.h>

#include "base/json.h"
#include "base/suggest.h"
#include "base/vec.h"
#include "cli/live.h"
#include "event/event.h"
#include "event/tep.h"
#include "tracefs/caps.h"
#include "tracefs/state.h"

#define JSON_LIMIT (1u << 20)
#define INDENT	   29 /* where the answers begin */

struct check_options {
	bool json, missing;
	const char *colour;
	bool use_colour;
};

#define AT(field) offsetof(struct check_options, field)

static const struct opt opts[] = {
	{0, "missing", OPT_FLAG, NULL, "only what is missing or incomplete", AT(missing)},
	{0, "json", OPT_FLAG, NULL, "as one JSON object", AT(json)},
	CLI_COLOUR_OPTION(AT(colour)),
};

static const struct {
	const char *word, *colour;
} states[] = {
	[CAP_NO] = {"no", "\033[31m"},
	[CAP_PARTLY] = {"partly", "\033[33m"},
	[CAP_YES] = {"yes", "\033[32m"},
};

/* What is being checked, and the result. */
struct report {
	const struct check_options *o;
	struct caps *caps;
	const char *group; /* whose heading was printed last */
	struct buf json;
	struct json_writer writer;
	bool can_record; /* nothing essential is missing */
	bool all;	 /* nothing is */
	bool blind;	 /* without tracefs most cannot be known */
};

/* ---- showing ---- */

static void show_text(struct report *r, const struct cap *cap, const struct cap_answer *a)
{
	const bool colour = r->o->use_colour;
	/* "…" takes more bytes than columns. */
	int width = 18 + (strncmp(cap->title, "…", strlen("…")) == 0 ? (int)strlen("…") - 1 : 0);

	if (!r->group || strcmp(r->group, cap->group) != 0)
		printf(colour ? "%s\033[1m%s\033[0m\n" : "%s%s\n", r->group ? "\n" : "",
		       cap->group);
	r->group = cap->group;
	printf("  %s%-7s%s %-*s ", colour ? states[a->state].colour : "", states[a->state].word,
	       colour ? "\033[0m" : "", width, cap->title);
	cli_printf("%s\n", a->what);
	if (a->advice[0])
		cli_printf("%*s→ %s\n", INDENT, "", a->advice);
}

static void show_json(struct report *r, const struct cap *cap, const struct cap_answer *a)
{
	struct json_writer *w = &r->writer;

	if (w->comma)
		json_newline(w);
	json_object(w);
	json_put_text(json_key(w, "name"), cap->name);
	json_put_text(json_key(w, "group"), cap->group);
	json_put_text(json_key(w, "state"), states[a->state].word);
	json_put_text(json_key(w, "what"), a->what);
	json_put_text(json_key(w, "advice"), a->advice);
	json_end_object(w);
}

static void check_one(struct report *r, const struct cap *cap)
{
	struct cap_answer a;

	cap_probe(r->caps, cap, &a);
	if (a.state != CAP_YES)
		r->all = false;
	if (cap->essential && a.state == CAP_NO)
		r->can_record = false;
	if (r->o->missing && a.state == CAP_YES)
		return;
	if (r->o->json)
		show_json(r, cap, &a);
	else
		show_text(r, cap, &a);
}

static void show_kernel(struct report *r)
{
	struct json_writer *w = &r->writer;
	struct utsname u = {0};

	uname(&u);
	if (!r->o->json) {
		printf("%s %s %s\n\n", u.sysname, u.release, u.machine);
		return;
	}
	json_object(w);
	json_put_text(json_key(w, "kernel"), u.release);
	json_put_text(json_key(w, "machine"), u.machine);
	json_array(json_key(w, "capabilities"));
	json_newline(w);
}

static void show_end(struct report *r)
{
	struct json_writer *w = &r->writer;

	if (r->o->json) {
		buf_putc(&r->json, '\n');
		json_end_array(w);
		json_put_bool(json_key(w, "can_record"), r->can_record);
		json_end_object(w);
		buf_putc(&r->json, '\n');
		cli_write(r->json.data, r->json.len);
	} else if (!r->can_record) {
		printf("\n%sNothing can be recorded like this.\n",
		       r->blind ? "The rest cannot be known without tracefs.\n" : "");
	}
}

/* In a namespace of mounts that ends with this process, so that nothing changes outside. */
static bool mount_privately(struct tracefs *fs)
{
	return unshare(CLONE_NEWNS) == 0 &&
	       mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       tracefs_find(fs, NULL) == 0;
}

/* Whether all names on the command line are known; false after a message. */
static bool all_known(int n, char **names)
{
	for (int i = 0; i < n; i++) {
		struct suggest near = suggest_for(names[i], strlen(names[i]));

		if (cap_find(names[i]))
			continue;
		for (const struct cap *cap = caps_table; cap->name; cap++)
			suggest_try(&near, cap->name);
		return cli_complain("'%s' is not known%s", names[i],
				    suggest_hint_or(&near, "; 'spur check --json' has all names"));
	}
	return true;
}

static int check(const struct check_options *o, int n, char **names)
{
	struct report r = {.o = o, .can_record = true, .all = true};
	struct spur_error why_not = {0}, err = {0};
	struct tracefs fs;
	int rc = tracefs_look(&fs, &why_not);

	if (rc == -ENOENT && mount_privately(&fs))
		rc = 0;
	if (caps_new(rc == 0 ? &fs : NULL, &why_not, &r.caps, &err) < 0)
		return cli_fail(&err);
	r.blind = rc != 0;
	buf_init(&r.json, JSON_LIMIT);
	r.writer.out = &r.json;
	if (!n || o->json)
		show_kernel(&r);
	for (int i = 0; i < n; i++)
		check_one(&r, cap_find(names[i]));
	for (const struct cap *cap = caps_table; !n && cap->name; cap++)
		if (!r.blind || cap->elsewhere || o->json)
			check_one(&r, cap);
	caps_free(r.caps);
	if (!n || o->json)
		show_end(&r);
	buf_free(&r.json);
	return (n ? r.all : r.can_record) ? SPUR_OK : SPUR_ENVIRONMENT;
}

static int run(void *options, int others, char **argv)
{
	struct check_options *o = options;

	if (!all_known(others, argv) || !cli_colour(o->colour, &o->use_colour))
		return SPUR_USAGE;
	return check(o, others, argv);
}

const struct command command_check = {
	.name = "check",
	.summary = "show what this kernel offers for tracing, and what is missing",
	.usage = "[options] [NAME]...",
	COMMAND_OPTS(opts, struct check_options),
	.defaults = &(const struct check_options){.colour = "auto"},
	.run = run,
};

/* ---- whether the formats of events can be understood ---- */

#define PATH_CAP     512
#define FORMAT_LIMIT (1u << 20)

struct format_options {
	bool no_plugins;
};

static const struct opt event_opts[] = {
	{'N', NULL, OPT_FLAG, NULL, "ignore plugins; check the formats alone",
	 offsetof(struct format_options, no_plugins)},
	{0, "verbose", OPT_IGNORED, "[LEVEL]", "does nothing; accepted because trace-cmd has it"},
};

/* The formats of the kernel while they are read. The registry points into their texts. */
struct formats {
	const struct tracefs *fs;
	struct events *events;
	const char *system;
	vec_of(struct buf) texts;
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
static bool can_be_shown(struct event *e, const struct format_options *o)
{
	const enum event_state state = event_ready(e);

	if (state == EVENT_READY)
		return true;
	return state == EVENT_FIELDS_ONLY && !o->no_plugins && (e->handler || e->by_plugin);
}

static int check_formats(const struct format_options *o, struct formats *f)
{
	const struct tep_options plugins = {.user_plugins = true};
	struct tep_bridge *bridge;
	struct events *ev = f->events;
	size_t not_all = 0, broken = 0;

	if (events_seal(ev) < 0)
		return cli_refused("out of memory");
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

static int run_events(void *options, int others, char **argv)
{
	struct spur_error err = {0};
	struct formats f = {0};
	struct tracefs fs;
	int rc;

	f.status = live_open(&fs);
	if (f.status != SPUR_OK)
		return f.status;
	f.fs = &fs;
	f.events = events_new();
	rc = f.events ? state_each_system(&fs, NULL, add_system, &f, &err) : -ENOMEM;
	if (rc < 0)
		f.status = cli_result(rc, "reading the formats", &err);
	else
		f.status = check_formats(options, &f);
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
	COMMAND_OPTS(event_opts, struct format_options),
	.run = run_events,
	.takes_nothing = "",
};
