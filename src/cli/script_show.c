// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a script command shows instead of running a script: lists of probes (all that match a
 * pattern, or those of a script, which is only parsed), lists of the kernel's types, what the
 * kernel can do for scripts (--info), and the script as it should look (--fmt).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/pattern.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "cli/live.h"
#include "cli/script.h"
#include "code/features.h"
#include "lang/parse.h"
#include "probe/probes.h"
#include "scan/trace.h"
#include "script/script.h"
#include "symbols/btf.h"
#include "tracefs/tracefs.h"

/* ---- types of the kernel ---- */

#define DEFINITION_LIMIT (4u << 20)

static const struct {
	const char *word;
	enum btf_want want;
} kinds[] = {
	{"struct ", BTF_WANT_STRUCT},
	{"union ", BTF_WANT_UNION},
	{"enum ", BTF_WANT_ENUM},
};

struct names {
	struct pattern pattern;
	struct string_refs found;
};

/* The kind of types that a pattern is about; ARRAY_SIZE(kinds): none. */
static size_t kind_of(const char *pattern)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(kinds) && strncmp(pattern, kinds[i].word, strlen(kinds[i].word)) != 0)
		i++;
	return i;
}

static bool add_matching(void *arg, const char *name)
{
	struct names *names = arg;

	return !pattern_match(&names->pattern, name, strlen(name)) ||
	       string_refs_add(&names->found, name);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void show_type(const struct btf *btf, size_t kind, const char *name, bool whole)
{
	scoped_buf text = buf_new(DEFINITION_LIMIT);

	if (!whole || !btf_define(btf, kinds[kind].want, name, &text))
		buf_printf(&text, "%s%s", kinds[kind].word, name);
	buf_putc(&text, '\n');
	cli_put(text.data, text.len);
}

static int list_types(const struct script_command *o, const char *pattern)
{
	struct names names = {0};
	struct string_refs *found = &names.found;
	struct spur_error err = {0};
	struct btf *btf = NULL;
	const size_t kind = kind_of(pattern);
	int rc;

	pattern += strlen(kinds[kind].word);
	pattern += strspn(pattern, " \t");
	rc = pattern_glob(&names.pattern, pattern, strlen(pattern), &err);
	if (rc == 0)
		rc = btf_open(o->btf ? o->btf : "/sys/kernel/btf/vmlinux", NULL, &btf, &err);
	if (rc == 0 && !btf_names(btf, kinds[kind].want, add_matching, &names))
		rc = -ENOMEM;
	if (found->n)
		qsort(found->at, found->n, sizeof(*found->at), by_name);
	for (size_t i = 0; i < found->n; i++)
		if (!i || strcmp(found->at[i - 1], found->at[i]) != 0)
			show_type(btf, kind, found->at[i], o->verbose);
	vec_free(found);
	pattern_free(&names.pattern);
	btf_free(btf);
	return rc < 0 ? script_fail(o, rc, pattern, &err) : SPUR_OK;
}

/* ---- probes ---- */

#define ARENA_LIMIT    (256u << 20)
#define DESCRIBE_LIMIT (1u << 20)

struct listing {
	const struct script_command *o;
	struct probe_world world;
	struct arena arena;
	struct tracefs fs;
	size_t nr;
};

/* Probes that take a number are listed without it: "interval:s:". */
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
	scoped_buf text = buf_new(DESCRIBE_LIMIT);

	l->nr++;
	cli_put(t->name, shown_len(t));
	cli_put("\n", 1);
	if (!l->o->verbose)
		return 0;
	probe_describe(&l->world, t, &text);
	cli_put(text.data, text.len);
	return 0;
}

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

	if (kind_of(pattern) < ARRAY_SIZE(kinds))
		return list_types(l->o, pattern);
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
					  .no_headers = true,
					  .params = script_positional(o)};
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
		script_print(source.messages.data, source.messages.len);
		status = rc < 0 ? SPUR_USAGE : SPUR_OK;
	}
	source_free(&source);
	buf_free(&text);
	return status;
}

int script_command_list(struct script_command *o)
{
	struct listing l = {.o = o};
	struct spur_error err = {0};
	int status = SPUR_OK;

	/* The word after -l is a script if there is such a file. */
	if (o->pattern && !o->program && !o->file && access(o->pattern, F_OK) == 0) {
		o->file = o->pattern;
		o->pattern = NULL;
	}
	arena_init(&l.arena, ARENA_LIMIT);
	l.world = (struct probe_world){.arena = &l.arena,
				       .pid = o->pids.n ? o->pids.at[0] : 0,
				       .btf = o->btf,
				       .unsafe = o->unsafe,
				       .debuginfo = o->debuginfo.at,
				       .traceable = o->traceable};
	if (o->input && trace_open(o->input, NULL, &l.world.trace, &err) < 0)
		status = script_fail(o, err.code, o->input, &err);
	/* Without tracefs there are still probes of programs. */
	if (status == SPUR_OK && !o->input && live_try(&l.fs))
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

/* ---- --info ---- */

#define COLUMN 33 /* where the second one of a line begins */

static void show_system(void)
{
	struct utsname u = {0};

	uname(&u);
	cli_printf("System\n  OS: %s %s %s\n  Arch: %s\n\n", u.sysname, u.release, u.version,
		   u.machine);
}

/* What it was built with is what a bpftrace would need to do the same. */
static void show_build(void)
{
	cli_printf("Build\n"
		   "  version: v0.26.0 (spur " SPUR_VERSION ")\n"
		   "  LLVM: none\n"
		   "  bfd: no\n"
		   "  libdw (DWARF support): yes\n"
		   "  libsystemd (systemd notify support): no\n"
		   "  blazesym (advanced symbolization): no\n"
		   "  dwunwind (DWARF stack unwinding): no\n\n");
}

static void show_group(struct bpf_features *f, enum ability_group group, const char *title)
{
	struct ability a;
	scoped_buf one = buf_new(256);

	cli_printf("%s\n", title);
	for (size_t i = 0; ability_try(f, group, i, &a); i++) {
		buf_reset(&one);
		if (a.number)
			buf_printf(&one, "%s: %lld", a.name, (long long)a.number);
		else
			buf_printf(&one, "%s: %s", a.name, a.yes ? "yes" : "no");
		if (i % 2)
			cli_printf("%s\n", buf_str(&one));
		else
			cli_printf("  %-*s", COLUMN, buf_str(&one));
		if (i % 2 == 0 && !ability_try(f, group, i + 1, &a))
			cli_printf("\n");
	}
	cli_printf("\n");
}

/* Those that --no-feature takes. */
static void show_features(struct bpf_features *f)
{
	cli_printf("Features that can be switched off\n");
	for (int i = 0; i < FEATURES; i++)
		cli_printf("  %s: %s\n", bpf_feature_name((enum bpf_feature)i),
			   bpf_has(f, (enum bpf_feature)i) ? "yes" : "no");
	cli_printf("\n");
}

int script_command_info(const struct script_command *o)
{
	struct bpf_features f;
	int status = script_features(o, &f);

	if (status != SPUR_OK)
		return status;
	if (geteuid() != 0)
		script_warning(
			o,
			"most questions about the kernel's BPF need root: the answer is no here");
	show_system();
	show_build();
	show_group(&f, ABILITY_HELPER, "Kernel helpers");
	show_group(&f, ABILITY_FEATURE, "Kernel features");
	show_group(&f, ABILITY_MAP, "Map types");
	show_group(&f, ABILITY_PROBE, "Probe types");
	if (!o->bpftrace)
		show_features(&f);
	return SPUR_OK;
}

/* ---- --fmt ---- */

#define FORMAT_LIMIT (64u << 20)
#define TEXT_LIMIT   (64u << 20)

/* The text of a script's tree. -EINVAL after a message when it cannot be parsed. */
static int picture(const struct script_command *o, const struct buf *text, struct buf *to)
{
	const struct parse_options opt = {.include_dirs = o->include_dirs.at,
					  .include_files = o->include_files.at,
					  .no_headers = true};
	struct script_ast ast;
	struct source source;
	struct arena arena;
	int rc;

	arena_init(&arena, FORMAT_LIMIT);
	source_init(&source, &arena);
	source.no_warnings = true;
	rc = source_add(&source, script_name(o), text->data, text->len, (struct span){0, 0})
		     ? parse_bpftrace(&source, &opt, &ast)
		     : -EFBIG;
	if (rc == 0)
		ast_dump(&ast, to);
	script_print(source.messages.data, source.messages.len);
	source_free(&source);
	arena_free(&arena);
	return rc == 0 && to->full ? -EFBIG : rc;
}

static bool same(const struct buf *a, const struct buf *b)
{
	return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

static int format(const struct script_command *o, const struct buf *text, struct buf *formatted)
{
	struct spur_error err = {0};
	scoped_buf after = buf_new(TEXT_LIMIT);
	scoped_buf before = buf_new(TEXT_LIMIT);
	int rc = picture(o, text, &before);

	if (rc == 0) {
		rc = format_script(text->data, text->len, formatted, &err);
		if (rc == 0 && (picture(o, formatted, &after) < 0 || !same(&before, &after)))
			rc = error_set(&err, -EINVAL,
				       "the script cannot be formatted: it would mean something "
				       "else");
		if (rc < 0)
			script_error(o, "%s: %s", script_name(o), err.text);
	}
	return rc;
}

int script_command_format(struct script_command *o)
{
	struct buf text;
	scoped_buf formatted = buf_new(TEXT_LIMIT);
	int status;

	status = script_read(o, &text);
	if (status == SPUR_OK && format(o, &text, &formatted) < 0)
		status = SPUR_USAGE;
	if (status == SPUR_OK)
		cli_put(formatted.data, formatted.len);
	buf_free(&text);
	return status;
}
