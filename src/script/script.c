// SPDX-License-Identifier: GPL-2.0-or-later
/* A script from its text to its end: compiling, running, and messages; the options it has. */
#include "script/script.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"
#include "code/sys.h"
#include "lang/compile.h"
#include "lang/parse.h"
#include "scan/trace.h"
#include "script/run.h"
#include "tracefs/tracefs.h"

#define ARENA_LIMIT (256u << 20)

/* ---- compiling ---- */

/* Where tracefs is; it is mounted first if it is not yet and this process may do so. */
static const char *find_tracefs(struct script *s)
{
	if (s->opt.tracefs)
		return s->opt.tracefs;
	if (!s->opt.trace && tracefs_find(&s->tracefs, NULL) == 0)
		return s->tracefs.path;
	return "/sys/kernel/tracing";
}

static void open_world(struct script *s)
{
	const char *tracefs = find_tracefs(s);

	s->world = (struct probe_world){
		.tracefs = tracefs,
		.unsafe = s->opt.unsafe,
		.traceable = s->opt.traceable,
		.debuginfo = s->opt.debuginfo,
		.trace = s->opt.trace,
		.pid = s->opt.nr_pids == 1 ? s->opt.pids[0] : 0,
		.command = s->opt.command ? s->opt.command[0] : NULL,
		.arena = &s->unit.arena,
	};
	s->env = s->opt.trace ? env_file(s->opt.trace, &s->arena)
			      : env_live(tracefs, s->opt.btf, &s->arena);
	if (s->env)
		s->env->debuginfo = s->opt.debuginfo;
}

static int compile_probes(struct script *s, struct compile_options *opt, struct spur_error *err)
{
	regex_t only;
	int rc;

	if (!s->opt.probe_filter)
		return compile(&s->ast, s->env, &s->world, opt, &s->unit);
	if (regcomp(&only, s->opt.probe_filter, REG_EXTENDED | REG_NOSUB) != 0)
		return source_error(&s->source, (struct span){0, 0},
				    "--probe-filter: '%s' is not a regular expression",
				    s->opt.probe_filter);
	opt->only = &only;
	rc = compile(&s->ast, s->env, &s->world, opt, &s->unit);
	regfree(&only);
	return rc;
}

static int compile_script(struct script *s, struct spur_error *err)
{
	struct compile_options opt = {
		.params = s->opt.params,
		.named = s->opt.named,
		.pids = s->opt.pids,
		.nr_pids = s->opt.nr_pids,
		.script = s->opt.name,
		.unsafe = s->opt.unsafe,
		.check = s->opt.check,
		.offline = s->opt.trace != NULL,
		.knows_tasks = s->opt.trace && s->opt.trace->dat->nr_tasks,
		.swapped = s->opt.trace && s->opt.trace->events->big_endian !=
						   (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__),
		.own = getpid(),
		.features = s->opt.trace ? NULL : &s->features,
		.nr_cpus = sys_possible_cpus(),
		.child = s->command.pid,
	};
	const struct parse_options parse = {.include_dirs = s->opt.include_dirs,
					    .include_files = s->opt.include_files,
					    .kernel_source = s->opt.kernel_source,
					    .kernel_build = s->opt.kernel_build,
					    .params = s->opt.params};
	int rc = 0;

	while (opt.params && opt.params[opt.nr_params])
		opt.nr_params++;
	if (!source_add(&s->source, s->opt.name, s->opt.text, s->opt.len, (struct span){0, 0}))
		return error_set(err, -EFBIG, "%s: the script is too long", s->opt.name);
	rc = parse_bpftrace(&s->source, &parse, &s->ast);
	if (rc < 0)
		return rc;
	if (s->opt.environment)
		rc = config_environment(s->opt.environment, &s->unit, err);
	if (rc == 0 && s->opt.max_loop_rounds)
		rc = config_option("max_loop_rounds", s->opt.max_loop_rounds, &s->unit, err);
	if (rc < 0)
		return rc;
	open_world(s);
	if (!s->env)
		return error_set(err, -ENOMEM, "out of memory");
	rc = cdefs_parse(&s->ast, s->env, &s->cdefs);
	if (rc < 0)
		return rc;
	s->env->own = s->cdefs;
	return compile_probes(s, &opt, err);
}

static int emit_all(struct script *s, struct spur_error *err)
{
	struct bpf_features user;

	bpf_features_user(&user);
	s->code = calloc(s->unit.progs.n + 1, sizeof(*s->code));
	if (!s->code)
		return error_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < s->unit.progs.n; i++) {
		const struct unit_prog *p = &s->unit.progs.at[i];
		struct spur_error why = {0};
		struct span at = p->at;
		int rc = bpf_emit(&p->ir, p->runs == RUNS_IN_USER ? &user : &s->features,
				  &s->code[i], &at, &why);

		if (rc < 0)
			return source_error(&s->source, at, "%s", why.text);
		s->nr_code++;
	}
	return 0;
}

int script_open(const struct script_options *opt, struct script **out, struct spur_error *err)
{
	struct script *s = calloc(1, sizeof(*s));
	int rc;

	*out = s;
	if (!s)
		return error_set(err, -ENOMEM, "out of memory");
	s->opt = *opt;
	arena_init(&s->arena, ARENA_LIMIT);
	source_init(&s->source, &s->arena);
	s->source.no_warnings = opt->no_warnings;
	s->ast.source = &s->source;
	s->ast.arena = &s->arena;
	unit_init(&s->unit);
	if (opt->features)
		s->features = *opt->features;
	else
		bpf_features_init(&s->features);
	/* Its number is known to the script; it forks before there is much to copy. */
	rc = opt->command ? command_hold(&s->command, opt->command, NULL, err) : 0;
	if (rc < 0)
		return rc;
	rc = compile_script(s, err);
	if (rc == 0)
		rc = emit_all(s, err);
	if (rc == -ENOMEM)
		return error_set(err, -ENOMEM, "out of memory");
	if (rc < 0)
		return error_set(err, rc, "%s cannot be compiled", opt->name);
	return 0;
}

void script_close(struct script *s)
{
	if (!s)
		return;
	if (s->command.pid)
		command_close(&s->command);
	for (size_t i = 0; i < s->nr_code; i++)
		bpf_code_free(&s->code[i]);
	free(s->code);
	unit_free(&s->unit);
	probe_world_close(&s->world);
	cdefs_free(s->cdefs);
	env_free(s->env);
	source_free(&s->source);
	arena_free(&s->arena);
	free(s);
}

/* ---- asking ---- */

bool script_denied(const struct script *s)
{
	return s->world.denied;
}

const char *script_messages(const struct script *s)
{
	return buf_str((struct buf *)&s->source.messages);
}

size_t script_nr_probes(const struct script *s)
{
	return s->unit.probes.n;
}

const char *script_probe(const struct script *s, size_t i, uint32_t *many)
{
	*many = s->unit.probes.at[i].stands_for;
	return s->unit.probes.at[i].target->name;
}

static void dump_head(const struct script *s, size_t prog, struct buf *to)
{
	for (size_t i = 0; i < s->unit.probes.n; i++)
		if (s->unit.probes.at[i].prog == prog)
			buf_printf(to, "%s%s\n",
				   s->unit.progs.at[prog].runs == RUNS_IN_USER ? "(user space) "
									       : "",
				   s->unit.probes.at[i].target->name);
}

int script_dump(struct script *s, enum script_dump what, struct buf *to, struct spur_error *err)
{
	if (what == SCRIPT_AST) {
		ast_dump(&s->ast, to);
		return 0;
	}
	for (size_t i = 0; i < s->unit.progs.n; i++) {
		dump_head(s, i, to);
		if (what == SCRIPT_IR)
			ir_dump(&s->unit.progs.at[i].ir, to);
		else
			bpf_dump(&s->code[i], to);
		buf_putc(to, '\n');
	}
	return to->full ? error_set(err, -EFBIG, "the script is too long to be shown") : 0;
}

int script_run(struct script *s, int *status, struct spur_error *err)
{
	int rc = s->opt.trace ? run_file(s, err) : run_live(s, err);

	*status = s->status;
	return rc;
}

/* ---- options of a script ---- */

/*
 * Only calls with constants count: the checker accepts no others. The parser limits the height of
 * the tree, so recursion is safe.
 */

#define GETOPTS_LIMIT (16u << 20)

static const char *number(struct getopts *g, int64_t v)
{
	struct buf text;
	const char *copy;

	buf_init(&text, 32);
	buf_i64(&text, v);
	copy = arena_strdup(&g->arena, buf_str(&text));
	buf_free(&text);
	return copy;
}

/* Reads kind and default from the second argument. False if it is not constant. */
static bool know_usual(struct getopts *g, const struct node *usual, struct getopt_call *c)
{
	const bool negative =
		usual && usual->kind == N_UNARY && usual->op == '-' && usual->a->kind == N_INT;

	c->usual = "";
	if (!usual)
		return true;
	if (usual->kind == N_INT || negative) {
		c->kind = GETOPT_NUMBER;
		c->usual = number(g, negative ? -usual->a->num : usual->num);
	} else if (usual->kind == N_STRING) {
		c->kind = GETOPT_TEXT;
		c->usual = usual->text;
	} else if (usual->kind == N_BOOL) {
		c->usual = usual->num ? "true" : "";
	} else {
		return false;
	}
	return true;
}

static int add(struct getopts *g, const struct getopt_call *c, struct spur_error *err)
{
	struct getopt_call *slot;

	vec_each (k, g) {
		if (strcmp(k->name, c->name) != 0)
			continue;
		if (k->kind != c->kind || strcmp(k->usual, c->usual) != 0)
			return error_set(err, -EINVAL, "getopt(\"%s\") has two defaults", c->name);
		if (!*k->help)
			k->help = c->help;
		return 0;
	}
	slot = vec_push(g);
	if (!slot)
		return -ENOMEM;
	*slot = *c;
	return 0;
}

static int look_at_call(struct getopts *g, const struct node *n, struct spur_error *err)
{
	struct getopt_call c = {0};
	const struct node *name = n->list, *usual = name ? name->next : NULL;
	const struct node *help = usual ? usual->next : NULL;

	if (strcmp(n->name, "getopt") != 0 || !name || name->kind != N_STRING)
		return 0;
	if (!know_usual(g, usual, &c))
		return 0;
	c.name = name->text;
	c.help = help && help->kind == N_STRING ? help->text : "";
	return c.usual ? add(g, &c, err) : -ENOMEM;
}

static int look(struct getopts *g, const struct node *list, struct spur_error *err)
{
	int rc = 0;

	for (const struct node *n = list; n && rc == 0; n = n->next) {
		const struct node *const below[] = {n->a, n->b, n->c, n->list};

		if (n->kind == N_CALL)
			rc = look_at_call(g, n, err);
		for (size_t i = 0; i < ARRAY_SIZE(below) && rc == 0; i++)
			rc = look(g, below[i], err);
	}
	return rc;
}

int getopts_read(const char *name, const char *text, size_t len, struct getopts *g,
		 struct spur_error *err)
{
	const struct parse_options opt = {.no_files = true};
	struct source source;
	struct script_ast ast = {.source = &source, .arena = &g->arena};
	int rc;

	*g = (struct getopts){0};
	arena_init(&g->arena, GETOPTS_LIMIT);
	source_init(&source, &g->arena);
	rc = source_add(&source, name, text, len, (struct span){0, 0}) ? 0 : -EFBIG;
	if (rc == 0)
		rc = parse_bpftrace(&source, &opt, &ast);
	if (rc < 0)
		error_set(err, rc, "%s is no script: %.200s", name, buf_str(&source.messages));
	for (const struct probe_def *d = ast.probes; d && rc == 0; d = d->next) {
		rc = look(g, d->predicate, err);
		if (rc == 0)
			rc = look(g, d->body, err);
	}
	source_free(&source);
	return rc == -ENOMEM ? error_set(err, rc, "out of memory") : rc;
}

void getopts_free(struct getopts *g)
{
	vec_free(g);
	arena_free(&g->arena);
}
