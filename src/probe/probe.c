// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Expressions to lines: what is the same for all kinds of probes. The table at the end says who
 * finds the places of each kind.
 */
#include "probe/probe.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/error.h"
#include "base/vec.h"
#include "symbols/names.h"
#include "probe/resolve.h"

#define DEFAULT_GROUP  "spur"
#define SCRATCH_MEMORY (256u << 20)
#define MAX_LINE       4000 /* of the 4096 bytes that the kernel reads at once */
#define MAX_NOTES      2000

static const struct probe_type types[] = {
	[PROBE_KPROBE] = {"kprobe", "kprobe_events", 'p', false, resolve_kernel},
	[PROBE_KRETPROBE] = {"kretprobe", "kprobe_events", 'r', true, resolve_kernel},
	[PROBE_UPROBE] = {"uprobe", "uprobe_events", 'p', false, resolve_user},
	[PROBE_URETPROBE] = {"uretprobe", "uprobe_events", 'r', true, resolve_user},
	[PROBE_USDT] = {"usdt", "uprobe_events", 'p', false, resolve_usdt},
	[PROBE_EPROBE] = {"eprobe", "dynamic_events", 'e', false, resolve_event},
};

/* ---- lines ----------------------------------------------------------------------------- */

static bool is_taken(const struct probe_lines *lines, const char *group, const char *event)
{
	vec_each (line, lines)
		if (!strcmp(line->group, group) && !strcmp(line->event, event))
			return true;
	return false;
}

/* The event's name: the user's or the symbol's, with a number when another line has it. */
static char *choose_name(struct request *r, const char *group, const char *symbol)
{
	char base[NAME_MAX_EVENT + 1], name[NAME_MAX_EVENT + 16];
	unsigned int number = 0;

	if (r->expr.name)
		snprintf(base, sizeof(base), "%s", r->expr.name);
	else
		event_name(symbol, base);
	snprintf(name, sizeof(name), "%s", base);
	if (!r->expr.name && r->type->is_return) {
		/* So that a probe on the same function can have the plain name. */
		snprintf(base, sizeof(base), "%.*s__return", NAME_MAX_EVENT - 8, name);
		snprintf(name, sizeof(name), "%s", base);
	}
	while (is_taken(r->lines, group, name)) {
		char suffix[12];
		int len = snprintf(suffix, sizeof(suffix), "_%u", ++number);

		snprintf(name, sizeof(name), "%.*s%s", NAME_MAX_EVENT - len, base, suffix);
	}
	return arena_strdup(r->arena, name);
}

static int add_line(struct request *r, const char *symbol, const char *place, const char *args,
		    const char *note)
{
	const char *group = r->expr.group ? r->expr.group : r->opt->group;
	struct probe_line line = {.file = r->type->file};
	struct probe_line *slot;
	char text[MAX_LINE + 1];
	int len;

	line.group = arena_strdup(r->arena, group ? group : DEFAULT_GROUP);
	line.event = line.group ? choose_name(r, line.group, symbol) : NULL;
	if (!line.event)
		return error_sys(r->err, -ENOMEM, "probe");
	len = snprintf(text, sizeof(text), "-:%s/%s", line.group, line.event);
	line.back = arena_strndup(r->arena, text, (size_t)len);
	len = snprintf(text, sizeof(text), "%c:%s/%s %s%s%s%s", r->type->letter, line.group,
		       line.event, place, args, r->expr.filter ? " if " : "",
		       r->expr.filter ? r->expr.filter : "");
	if (len > MAX_LINE)
		return error_set(r->err, -EINVAL,
				 "it becomes longer than the %d bytes the kernel takes", MAX_LINE);
	line.text = arena_strndup(r->arena, text, (size_t)len);
	line.note = note && note[0] ? arena_strdup(r->arena, note) : NULL;
	slot = vec_push(r->lines);
	if (!slot || !line.back || !line.text || (note && note[0] && !line.note))
		return error_sys(r->err, -ENOMEM, "probe");
	*slot = line;
	return 0;
}

int request_line(struct request *r, const char *symbol, const char *place,
		 const struct fetch_scope *scope, const char *note)
{
	struct buf args, notes;
	int ret;

	buf_init(&args, MAX_LINE);
	buf_init(&notes, MAX_NOTES);
	if (note)
		buf_puts(&notes, note);
	ret = fetch_args(scope, r->expr.args, r->expr.n, &args, &notes, r->err);
	if (!ret && buf_full(&args))
		ret = error_set(r->err, -EINVAL,
				"its arguments become longer than the %d bytes the kernel takes",
				MAX_LINE);
	if (!ret)
		ret = add_line(r, symbol, place, buf_str(&args), buf_str(&notes));
	buf_free(&args);
	buf_free(&notes);
	return ret;
}

/* ---- expressions ----------------------------------------------------------------------- */

static int resolve(struct request *r, const char *expression)
{
	const struct probe_options *opt = r->opt;
	struct utsname uts;
	int ret;

	if (opt->group && !is_identifier(opt->group, strlen(opt->group)))
		return error_set(r->err, -EINVAL, "'%s' is no name of a group", opt->group);
	r->machine = opt->machine;
	if (!r->machine) {
		if (uname(&uts))
			return error_sys(r->err, -errno, "uname");
		r->machine = arena_strdup(&r->scratch, uts.machine);
	}
	if (!r->machine)
		return error_sys(r->err, -ENOMEM, "probe");
	ret = expr_parse(r->kind, expression, &r->scratch, &r->expr, r->err);
	return ret ? ret : r->type->resolve(r);
}

int probe_resolve(enum probe_kind kind, const char *expression, const struct probe_options *opt,
		  struct arena *arena, struct probe_lines *lines, struct spur_error *err)
{
	static const struct probe_options defaults = {0};
	struct spur_error why = {0};
	struct request r = {
		.kind = kind,
		.type = &types[kind],
		.opt = opt ? opt : &defaults,
		.arena = arena,
		.lines = lines,
		.err = &why,
	};
	size_t before = lines->n;
	int ret;

	arena_init(&r.scratch, SCRATCH_MEMORY);
	ret = resolve(&r, expression);
	arena_free(&r.scratch);
	if (!ret)
		return 0;
	lines->n = before;
	return error_set(err, ret, "%s '%.150s': %s", r.type->name, expression, why.text);
}
