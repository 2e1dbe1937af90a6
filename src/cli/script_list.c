// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists of probes: all that match a pattern, or those of a script, which is only parsed. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "cli/script.h"
#include "lang/parse.h"
#include "probe/probes.h"
#include "scan/trace.h"
#include "tracefs/tracefs.h"

#define ARENA_LIMIT    (256u << 20)
#define DESCRIBE_LIMIT (1u << 20)

struct listing {
	const struct script_command *o;
	struct probe_world world;
	struct arena arena;
	struct tracefs fs;
	size_t nr;
};

/* Probes that take a number are told without it: "interval:s:". */
static size_t shown_len(const struct probe_target *t)
{
	const char *colon = strrchr(t->name, ':');

	switch (t->type) {
	case PT_INTERVAL:
	case PT_PROFILE:
	case PT_SOFTWARE:
	case PT_HARDWARE: return colon ? (size_t)(colon + 1 - t->name) : strlen(t->name);
	default: return strlen(t->name);
	}
}

static int show(void *arg, const struct probe_target *t)
{
	struct listing *l = arg;
	struct buf text;

	l->nr++;
	cli_put(t->name, shown_len(t));
	cli_put("\n", 1);
	if (!l->o->verbose)
		return 0;
	buf_init(&text, DESCRIBE_LIMIT);
	probe_describe(&l->world, t, &text);
	cli_put(text.data, text.len);
	buf_free(&text);
	return 0;
}

/* ---- by patterns ---- */

/* Where a pattern ends: at a comma that is not in quotes. */
static size_t pattern_len(const char *s)
{
	bool quoted = false;
	size_t n = 0;

	for (; s[n] && (quoted || s[n] != ','); n++)
		quoted ^= s[n] == '"';
	return n;
}

static int list_one(struct listing *l, const char *pattern)
{
	struct spur_error err = {0};
	int rc;

	if (script_is_type(pattern))
		return script_list_types(l->o, pattern);
	rc = probes_list(&l->world, pattern, show, l, &err);
	if (rc == -EINVAL)
		return script_error(l->o, "%s", err.text);
	return rc == 0 || rc == -ENOENT ? SPUR_OK : script_fail(l->o, rc, pattern, &err);
}

static int list_patterns(struct listing *l, const char *patterns)
{
	int status = SPUR_OK;

	if (strchr(patterns, '.') && !strpbrk(patterns, ":*"))
		script_warning(l->o,
			       "It appears that '%s' is a filename but the file does not exist. "
			       "Treating '%s' as a search pattern.",
			       patterns, patterns);
	do {
		const size_t len = pattern_len(patterns);
		const char *from = patterns + strspn(patterns, " \t");
		char *one =
			arena_strndup(&l->arena, from,
				      from < patterns + len ? (size_t)(patterns + len - from) : 0);

		if (!one)
			return script_error(l->o, "out of memory");
		status = list_one(l, one);
		patterns += len + (patterns[len] == ',');
	} while (*patterns && status == SPUR_OK);
	return status;
}

/* ---- of a script ---- */

static int list_points(struct listing *l, struct source *source, const struct script_ast *ast)
{
	int result = 0;

	for (const struct probe_def *d = ast->probes; d; d = d->next) {
		for (const struct attach_point *p = d->points; p; p = p->next) {
			struct probe_targets found = {0};
			int rc = probes_match(&l->world, source, p, false, &found);

			for (size_t i = 0; i < found.n; i++)
				show(l, found.at[i]);
			vec_free(&found);
			result = rc < 0 ? rc : result;
		}
	}
	return result;
}

static int list_script(struct listing *l)
{
	const struct script_command *o = l->o;
	const struct parse_options opt = {.include_dirs = o->include_dirs.at,
					  .include_files = o->include_files.at,
					  .params = o->positional.at};
	struct script_ast ast = {0};
	struct source source;
	struct buf text;
	int status = script_read(o, &text), rc;

	source_init(&source, &l->arena);
	source.no_warnings = o->no_warnings;
	if (status == SPUR_OK) {
		rc = source_add(&source, script_name(o), text.data, text.len, (struct span){0, 0})
			     ? parse_bpftrace(&source, &opt, &ast)
			     : -EFBIG;
		if (rc == 0)
			rc = list_points(l, &source, &ast);
		script_tell(source.messages.data, source.messages.len);
		status = rc < 0 ? SPUR_USAGE : SPUR_OK;
	}
	source_free(&source);
	buf_free(&text);
	return status;
}

/* A word behind -l is a script when there is such a file. */
static void know_pattern(struct script_command *o)
{
	if (o->pattern && !o->program && !o->file && access(o->pattern, F_OK) == 0) {
		o->file = o->pattern;
		o->pattern = NULL;
	}
}

int script_command_list(struct script_command *o)
{
	struct listing l = {.o = o};
	struct spur_error err = {0};
	int status = SPUR_OK;

	know_pattern(o);
	arena_init(&l.arena, ARENA_LIMIT);
	l.world = (struct probe_world){.arena = &l.arena,
				       .pid = o->pids.n ? o->pids.at[0] : 0,
				       .btf = o->btf,
				       .debuginfo = o->debuginfo.at,
				       .traceable = o->traceable};
	if (o->input && trace_open(o->input, NULL, &l.world.trace, &err) < 0)
		status = script_fail(o, err.code, o->input, &err);
	/* Without tracefs there are still probes of programs. */
	if (status == SPUR_OK && !o->input && tracefs_find(&l.fs, &err) == 0)
		l.world.tracefs = l.fs.path;
	if (status == SPUR_OK && !l.world.tracefs)
		l.world.tracefs = "/sys/kernel/tracing";
	if (status == SPUR_OK && (o->program || o->file))
		status = list_script(&l);
	else if (status == SPUR_OK)
		status = list_patterns(&l, o->pattern ? o->pattern : "*");
	probe_world_close(&l.world);
	trace_close(l.world.trace);
	arena_free(&l.arena);
	return status;
}
