// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From a syntax tree to programs: matches attach points, makes one body for each kind of target,
 * checks all bodies in rounds until their types are known, and lowers them.
 */
#include "lang/compile.h"

#include <errno.h>
#include <string.h>

#include "base/pattern.h"
#include "base/vec.h"
#include "lang/check/check.h"
#include "lang/lower/lower.h"

/* ---- copies of bodies, one for each kind of probe they are compiled for ---- */

static struct node *ast_copy(const struct node *list, struct arena *arena);

static struct node *copy_one(const struct node *n, struct arena *arena)
{
	struct node *c = arena_alloc(arena, sizeof(*c));

	if (!c)
		return NULL;
	*c = *n;
	c->next = NULL;
	if ((n->a && !(c->a = ast_copy(n->a, arena))) ||
	    (n->b && !(c->b = ast_copy(n->b, arena))) ||
	    (n->c && !(c->c = ast_copy(n->c, arena))) ||
	    (n->list && !(c->list = ast_copy(n->list, arena))))
		return NULL;
	return c;
}

static struct node *ast_copy(const struct node *list, struct arena *arena)
{
	struct node *first = NULL, **end = &first;

	for (; list; list = list->next) {
		*end = copy_one(list, arena);
		if (!*end)
			return NULL;
		end = &(*end)->next;
	}
	return first;
}

/* ---- what a body uses ---- */

static void note_name(const struct node *n, struct program *p)
{
	p->uses_args |= strcmp(n->name, "args") == 0;
	p->uses_regs |= strncmp(n->name, "arg", 3) == 0 || strncmp(n->name, "sarg", 4) == 0 ||
			strcmp(n->name, "retval") == 0 || strcmp(n->name, "reg") == 0 ||
			strcmp(n->name, "ctx") == 0;
	p->uses_kstack |= strcmp(n->name, "kstack") == 0 || strcmp(n->name, "stack") == 0;
	p->uses_objects |= strcmp(n->name, "path") == 0 || strcmp(n->name, "socket_cookie") == 0 ||
			   strcmp(n->name, "skboutput") == 0;
	/* uaddr() is relative to the place of the probe. */
	p->uses_place |= strcmp(n->name, "uaddr") == 0;
	p->uses_name |= strcmp(n->name, "probe") == 0 || strcmp(n->name, "func") == 0;
}

/* The name of the probe as a string is a constant of the program, so it can have only one probe. */
static void note_strings(const struct node *call, struct program *p)
{
	if (strncmp(call->name, "str", 3) != 0 && strcmp(call->name, "memcmp") != 0)
		return;
	for (const struct node *a = call->list; a; a = a->next)
		if (a->kind == N_NAME || a->kind == N_CALL)
			p->uses_place |=
				strcmp(a->name, "probe") == 0 || strcmp(a->name, "func") == 0;
}

static void find_uses(const struct node *list, struct program *p)
{
	for (const struct node *n = list; n; n = n->next) {
		if (n->kind == N_NAME || n->kind == N_CALL)
			note_name(n, p);
		if (n->kind == N_CALL)
			note_strings(n, p);
		p->uses_types |= n->type != NULL;
		find_uses(n->a, p);
		find_uses(n->b, p);
		find_uses(n->c, p);
		find_uses(n->list, p);
	}
}

/* ---- -p: predicates for processes ---- */

/*
 * A probe in the kernel sees all processes, so a condition on the pid is put before the predicate
 * of the script. The kernel itself limits probes in programs, but only to a single process.
 */

static bool is_limited(enum probe_type t, size_t nr_pids)
{
	switch (t) {
	case PT_PROFILE:
	case PT_TRACEPOINT:
	case PT_RAWTRACEPOINT:
	case PT_KPROBE:
	case PT_KRETPROBE:
	case PT_FENTRY:
	case PT_FEXIT:
	case PT_SOFTWARE:
	case PT_HARDWARE: return nr_pids > 0;
	case PT_UPROBE:
	case PT_URETPROBE:
	case PT_USDT:
	case PT_WATCHPOINT: return nr_pids > 1;
	default: return false;
	}
}

static struct node *make(struct checker *c, const struct node *like)
{
	struct node *n = arena_alloc(c->arena, sizeof(*n));

	if (n)
		*n = *like;
	return n;
}

static struct node *join(struct checker *c, int op, struct node *a, struct node *b)
{
	const uint32_t height = a && b && a->height > b->height ? a->height : b ? b->height : 0;

	if (!a || !b || height >= AST_MAX_HEIGHT)
		return NULL;
	return make(c, &(struct node){.kind = N_BINARY,
				      .op = op,
				      .at = b->at,
				      .a = a,
				      .b = b,
				      .height = height + 1});
}

static struct node *is_pid(struct checker *c, pid_t pid, struct span at)
{
	return join(c, NODE_OP_EQ,
		    make(c, &(struct node){.kind = N_NAME, .at = at, .name = "pid", .height = 1}),
		    make(c, &(struct node){.kind = N_INT, .at = at, .num = pid, .height = 1}));
}

static bool limit_to_pids(struct checker *c, enum probe_type type, struct span at,
			  struct node **predicate)
{
	const struct compile_options *o = c->opt;
	struct node *any;

	if (!is_limited(type, o->nr_pids))
		return true;
	any = is_pid(c, o->pids[0], at);
	for (size_t i = 1; i < o->nr_pids; i++)
		any = join(c, NODE_OP_OR, any, is_pid(c, o->pids[i], at));
	*predicate = *predicate ? join(c, NODE_OP_AND, any, *predicate) : any;
	return *predicate != NULL;
}

#define FEW_SYSCALLS 8	/* fewer are attached one by one */
#define MAX_ROUNDS   32 /* of checking; types grow only a few times */

/* ---- bodies ---- */

/* Whether a program can read at run time which probe it runs for: see unit_probe.cookie. */
static bool has_cookies(const struct checker *c, const struct probe_target *t)
{
	if (c->opt->offline || (t->type != PT_KPROBE && t->type != PT_KRETPROBE &&
				t->type != PT_UPROBE && t->type != PT_URETPROBE))
		return false;
	return compile_has_helper(c->opt->features, BPF_PROG_TYPE_KPROBE,
				  BPF_FUNC_get_attach_cookie);
}

/* Whether the code of a program also works for this target. */
static bool fits(const struct checker *c, const struct program *p, const struct probe_target *t)
{
	/* These programs are loaded for a single function or tracepoint. */
	if (t->type == PT_FENTRY || t->type == PT_FEXIT || t->type == PT_ITER ||
	    (t->type == PT_RAWTRACEPOINT && p->uses_objects))
		return false;
	if (p->targets.at[0]->type != t->type || p->uses_args || p->uses_place || p->syscalls.at ||
	    (p->uses_name && !has_cookies(c, t)))
		return false;
	/* The types may be those of the traced program. */
	if (p->uses_types && t->path && strcmp(t->path, p->targets.at[0]->path) != 0)
		return false;
	return t->type != PT_USDT || !p->uses_regs;
}

static struct program *add_program(struct checker *c, const struct probe_def *def, struct span at,
				   enum probe_type type)
{
	struct program *p = arena_alloc(c->arena, sizeof(*p)), **end = &c->programs;

	if (!p)
		return NULL;
	while (*end)
		end = &(*end)->next;
	*end = p;
	p->def = def;
	p->at = at;
	p->predicate = def->predicate ? ast_copy(def->predicate, c->arena) : NULL;
	p->body = ast_copy(def->body, c->arena);
	if ((def->predicate && !p->predicate) || (def->body && !p->body) ||
	    !limit_to_pids(c, type, at, &p->predicate))
		return NULL;
	find_uses(p->predicate, p);
	find_uses(p->body, p);
	return p;
}

static bool add_target(struct program *p, struct probe_target *t)
{
	struct probe_target **slot = vec_push(&p->targets);

	if (slot)
		*slot = t;
	return slot != NULL;
}

static int add_to_program(struct checker *c, const struct probe_def *def,
			  const struct attach_point *point, struct probe_target *t)
{
	struct program *p = c->programs;

	while (p && (p->def != def || !fits(c, p, t)))
		p = p->next;
	if (!p)
		p = add_program(c, def, point->at, t->type);
	if (!p || !add_target(p, t))
		return -ENOMEM;
	t->typed = t->type == PT_RAWTRACEPOINT && p->uses_objects;
	return 0;
}

/*
 * For many system calls one program is attached to the tracepoint that all of them pass. That is
 * not possible if it uses arguments, which differ.
 */
static int add_syscalls(struct checker *c, struct probe_world *w, const struct probe_def *def,
			const struct attach_point *point, const struct probe_targets *targets)
{
	struct probe_syscalls set;
	struct probe_target *all;
	struct program *p;

	if (targets->n < FEW_SYSCALLS || c->opt->offline || c->opt->no_raw ||
	    !probes_syscalls(w, targets, &set) || set.nr_left)
		return 0;
	p = add_program(c, def, point->at, PT_TRACEPOINT);
	all = arena_alloc(w->arena, sizeof(*all));
	if (!p || !all)
		return -ENOMEM;
	*all = *targets->at[0];
	all->system = "raw_syscalls";
	all->event = set.is_exit ? "sys_exit" : "sys_enter";
	p->syscalls = set;
	p->stands_for = (uint32_t)targets->n;
	return add_target(p, all) ? 1 : -ENOMEM;
}

/* Removes targets that --probe-filter does not match; BEGIN and END stay. */
static void filter_targets(const struct checker *c, struct probe_targets *targets)
{
	size_t n = 0;

	for (size_t i = 0; c->opt->only && i < targets->n; i++) {
		struct probe_target *t = targets->at[i];

		if (t->type == PT_BEGIN || t->type == PT_END ||
		    regexec(c->opt->only, t->name, 0, NULL, 0) == 0)
			targets->at[n++] = t;
	}
	if (c->opt->only)
		targets->n = n;
}

/* Whether the script may run although an attach point matches nothing. */
static bool may_be_missing(const struct checker *c, const struct attach_point *point)
{
	const enum unit_missing how = c->unit->config.missing_probes;

	return how == MISSING_UNSET ? c->opt->offline || is_glob(point->text)
				    : how != MISSING_ERROR;
}

static int match_point(struct checker *c, struct probe_world *w, const struct probe_def *def,
		       const struct attach_point *point)
{
	const bool lenient = may_be_missing(c, point);
	struct probe_targets targets = {0};
	struct program body = {0};
	int rc = probes_match(w, c->source, point, lenient, &targets);

	if (rc == -ENOENT && lenient) {
		const struct attach_point **slot = vec_push(&c->missing);

		if (slot)
			*slot = point;
		rc = slot ? 0 : -ENOMEM;
	} else if (rc == -ENOENT && def->points->next) {
		source_hint(c->source, "missing_probes = \"warn\" leaves out what is not there");
	}
	filter_targets(c, &targets);
	find_uses(def->predicate, &body);
	find_uses(def->body, &body);
	if (rc == 0 && !body.uses_args && !body.uses_kstack && !body.uses_place)
		rc = add_syscalls(c, w, def, point, &targets);
	if (rc > 0) {
		vec_free(&targets);
		return 0;
	}
	for (size_t i = 0; i < targets.n && rc == 0; i++)
		rc = add_to_program(c, def, point, targets.at[i]);
	vec_free(&targets);
	return rc;
}

/* The text after the type of the probe. */
static const char *words_of(const struct attach_point *p)
{
	const char *colon = strchr(p->text, ':');

	return colon ? colon + 1 : "";
}

/* It is an error if no probe is left, unless the script sets missing_probes. */
static int report_missing(struct checker *c, struct probe_world *w, bool any_left)
{
	const enum unit_missing how = c->unit->config.missing_probes;
	struct probe_targets none = {0};
	int rc = 0;

	if (c->missing.n && !any_left && how == MISSING_UNSET) {
		rc = probes_match(w, c->source, c->missing.at[0], false, &none);
		vec_free(&none);
		return rc;
	}
	for (size_t i = 0; i < c->missing.n && how != MISSING_IGNORE; i++)
		source_warning(c->source, c->missing.at[i]->at, "No matches for %s %s. Skipping.",
			       probe_type_name(probe_type_named(c->missing.at[i]->parts[0])),
			       words_of(c->missing.at[i]));
	return 0;
}

static int match_all(struct checker *c, struct probe_world *w)
{
	int result = 0;
	size_t n = 0, real = 0;

	for (const struct probe_def *d = c->ast->probes; d; d = d->next)
		for (const struct attach_point *p = d->points; p; p = p->next) {
			int rc = match_point(c, w, d, p);

			if (rc < 0)
				result = rc;
		}
	for (struct program *p = c->programs; p; p = p->next) {
		n += p->targets.n;
		real += p->targets.at[0]->type > PT_BENCH ? p->targets.n : 0;
	}
	if (result == 0)
		result = report_missing(c, w, real > 0);
	if (result == 0 && n > c->unit->config.max_probes)
		return source_error(c->source, c->ast->probes->at,
				    "the script has %zu probes, which is more than the limit of %u "
				    "(config max_probes)",
				    n, c->unit->config.max_probes);
	if (result == 0 && c->opt->only && !real)
		return source_error(c->source, (struct span){0, 0},
				    "no probe of the script matches --probe-filter");
	if (result == 0 && !n)
		return source_error(c->source, (struct span){0, 0}, "no probes to attach");
	return result;
}

/* ---- arguments of probes ---- */

static bool find_arguments(struct checker *c, struct program *p)
{
	const struct probe_target *t = p->targets.at[0];
	const struct env_ops *ops = c->env->ops;

	switch (t->type) {
	case PT_TRACEPOINT:
		p->has_fields = ops->tracepoint(c->env, t->system, t->event, &p->fields);
		return p->has_fields;
	case PT_RAWTRACEPOINT:
		return p->has_proto = ops->raw_tracepoint(c->env, t->event, &p->proto);
	case PT_KPROBE:
	case PT_FENTRY:
	case PT_ITER:
	case PT_FEXIT:
		if (t->bpf_prog)
			return p->has_proto =
				       env_bpf_function(c->env, t->bpf_btf, t->bpf_type, &p->proto);
		return p->has_proto = ops->function(c->env, t->module, t->symbol, &p->proto);
	case PT_UPROBE:
		return p->has_proto =
			       env_user_function(c->env, t->path, t->symbol, t->address, &p->proto);
	default: return false;
	}
}

/*
 * The kernel derives the tracepoints of single system calls from two others, so they have no raw
 * tracepoints.
 */
static bool any_syscall(const struct program *p)
{
	for (size_t i = 0; i < p->targets.n; i++)
		if (p->targets.at[i]->system && strcmp(p->targets.at[i]->system, "syscalls") == 0)
			return true;
	return false;
}

static bool has_tracepoint(const struct program *p, const struct probe_target *t)
{
	for (size_t i = 0; i < p->targets.n; i++) {
		const struct probe_target *own = p->targets.at[i];

		if (own->type == PT_TRACEPOINT && strcmp(own->event, t->event) == 0 &&
		    strcmp(own->system, t->system) == 0)
			return true;
	}
	return false;
}

/*
 * Whether another program is attached to the same tracepoint, but not as a raw one: the two would
 * not run in the order of the script.
 */
static bool has_other_way(const struct checker *c, const struct program *p)
{
	for (const struct program *other = c->programs; other; other = other->next)
		for (size_t i = 0; !other->raw && i < p->targets.n; i++)
			if (other != p && has_tracepoint(other, p->targets.at[i]))
				return true;
	return false;
}

static void prepare_programs(struct checker *c)
{
	bool changed = true;

	for (struct program *p = c->programs; p; p = p->next) {
		const enum probe_type t = p->targets.at[0]->type;

		/* The result of a function follows its parameters in the context. */
		if (p->uses_args || (t == PT_FEXIT && p->uses_regs))
			find_arguments(c, p);
		/* A raw tracepoint's stack begins with the frames of the program itself. */
		p->raw = p->syscalls.at != NULL;
		p->raw |= t == PT_TRACEPOINT && !p->uses_args && !p->uses_regs && !p->uses_kstack &&
			  !c->opt->offline && !c->opt->no_raw && !any_syscall(p);
	}
	while (changed) {
		changed = false;
		for (struct program *p = c->programs; p; p = p->next)
			if (p->raw && !p->syscalls.at && has_other_way(c, p)) {
				p->raw = false;
				changed = true;
			}
	}
}

/* ---- rounds of checking ---- */

static bool check_program(struct checker *c, struct program *p)
{
	c->at = p;
	c->visible = NULL;
	c->loops = 0;
	c->rounds = 1;
	c->unknown_rounds = false;
	p->counts_rounds = false;
	if (p->predicate && !check_expr(c, p->predicate))
		return false;
	if (p->predicate && p->predicate->vtype.kind != V_NONE &&
	    !vtype_is_number(&p->predicate->vtype))
		return check_fail(c, p->predicate, "a predicate must be a number");
	return check_statements(c, p->body);
}

static int check_round(struct checker *c)
{
	const struct probe_def *wrong = NULL;

	c->changed = false;
	/* Errors of a body are reported once, however many programs have it. */
	for (struct program *p = c->programs; p && !c->no_memory; p = p->next)
		if (p->def != wrong && !check_program(c, p))
			wrong = p->def;
	return c->no_memory ? -ENOMEM : wrong ? -EINVAL : 0;
}

static int check_until_known(struct checker *c)
{
	int rc = 0;

	for (int i = 0; i < MAX_ROUNDS; i++) {
		rc = check_round(c);
		if (rc < 0 || !c->changed)
			break;
	}
	return rc;
}

static int check_all(struct checker *c)
{
	int rc = check_until_known(c);

	c->guess = true;
	if (rc == 0)
		rc = check_until_known(c);
	if (rc < 0)
		return rc;
	c->last = true;
	return check_round(c);
}

/* ---- functions that nothing calls ---- */

/* Whether a body uses what only some probes have, or what this run of the script refuses. */
static bool needs_probe(const struct checker *c, const struct node *list)
{
	unsigned int wrong = BUILTIN_OF_PROBE | BUILTIN_UNSAFE;

	wrong |= c->opt->offline ? BUILTIN_LIVE : 0;
	for (const struct node *n = list; n; n = n->next) {
		const struct builtin *b = NULL;

		if (n->kind == N_NAME || n->kind == N_CALL) {
			b = builtin_find(n->name, n->kind == N_NAME);
			b = b ? b : builtin_find(n->name, n->kind != N_NAME);
		}
		if ((b && b->flags & wrong) || needs_probe(c, n->a) || needs_probe(c, n->b) ||
		    needs_probe(c, n->c) || needs_probe(c, n->list))
			return true;
	}
	return false;
}

/* Maps have the types that the probes give them. */
static bool copy_maps(const struct unit *from, struct unit *to)
{
	for (size_t i = 0; i < from->maps.n; i++) {
		struct map_def *m = arena_alloc(&to->arena, sizeof(*m));
		struct map_def **slot = m ? vec_push(&to->maps) : NULL;

		if (!slot)
			return false;
		*m = *from->maps.at[i];
		*slot = m;
	}
	return true;
}

/* A program for each function: it belongs to the first program that may know types of its own. */
static bool add_unused(struct checker *c, const struct program *all)
{
	struct program **end = &c->programs;

	while (all && !(program_target(all) && program_target(all)->path))
		all = all->next;
	for (struct node *n = c->ast->unused; n; n = n->next) {
		struct program *p = arena_alloc(c->arena, sizeof(*p));
		struct probe_def *def = arena_alloc(c->arena, sizeof(*def));

		if (!p || !def)
			return false;
		if (needs_probe(c, n->a))
			continue;
		p->def = def;
		p->body = copy_one(n, c->arena);
		if (!p->body)
			return false;
		if (all)
			p->targets = all->targets;
		*end = p;
		end = &p->next;
	}
	return true;
}

/* Checks these functions in a unit of their own: nothing of them gets into the script. */
static int check_unused(const struct checker *c)
{
	struct checker alone = *c;
	struct unit unit;
	int rc = -ENOMEM;

	if (!c->ast->unused)
		return 0;
	unit_init(&unit);
	unit.config = c->unit->config;
	alone.unit = &unit;
	alone.programs = NULL;
	alone.last = alone.guess = false;
	if (copy_maps(c->unit, &unit) && add_unused(&alone, c->programs))
		rc = check_all(&alone);
	unit_free(&unit);
	return rc;
}

/* ---- final types of maps ---- */

static uint32_t rounded(uint32_t size)
{
	return (size + 7) & ~7u;
}

static int finish_map(struct checker *c, struct map_def *m)
{
	const uint32_t most = lower_scratch_limit(c->unit) / 2;
	const bool aggregates = vtype_is_aggregation(&m->value);

	m->value_size = rounded(m->value.size) + (m->flagged ? 8 : 0);
	m->key_size = m->key.size;
	if (m->flagged) {
		m->kind = aggregates ? MAP_PERCPU_ARRAY : MAP_ARRAY;
		m->entries = 1;
		m->key_size = 4;
	} else if (aggregates && m->kind == MAP_HASH) {
		m->kind = MAP_PERCPU_HASH;
	} else if (aggregates && m->kind == MAP_LRU_HASH) {
		m->kind = MAP_PERCPU_LRU_HASH;
	}
	if (m->key_size > most || m->value_size > most)
		return source_error(c->source, m->at, "@%s: keys or values are too large", m->name);
	return 0;
}

static int finish_maps(struct checker *c)
{
	int rc = 0;

	for (size_t i = 0; i < c->unit->maps.n && rc == 0; i++)
		rc = finish_map(c, c->unit->maps.at[i]);
	return rc;
}

/* ---- programs ---- */

static enum unit_runs where(const struct checker *c, const struct program *p)
{
	const enum probe_type t = p->targets.at[0]->type;

	if (c->opt->offline)
		return RUNS_IN_USER;
	return t <= PT_INTERVAL && !p->reads_kernel ? RUNS_IN_USER : RUNS_IN_KERNEL;
}

/* The numbers of the probe's name and of its function's name. */
static uint64_t cookie_of(struct checker *c, const struct program *p, const struct probe_target *t)
{
	if (!p->uses_name || p->targets.n < 2 || p->syscalls.at)
		return 0;
	return (uint64_t)check_string_number(c, t->name) << 32 |
	       (uint32_t)check_string_number(c, t->func);
}

static int lower_one(struct checker *c, struct program *p)
{
	struct unit_prog *out = vec_push(&c->unit->progs);
	const uint32_t number = (uint32_t)c->unit->probes.n, prog = (uint32_t)c->unit->progs.n - 1;

	if (!out)
		return -ENOMEM;
	out->at = p->at;
	out->runs = p->runs = where(c, p);
	out->raw = p->raw;
	for (size_t i = 0; i < p->targets.n; i++) {
		struct unit_probe *probe = vec_push(&c->unit->probes);

		if (!probe)
			return -ENOMEM;
		probe->number = number + (uint32_t)i;
		probe->target = p->targets.at[i];
		probe->cookie = cookie_of(c, p, p->targets.at[i]);
		probe->prog = prog;
		probe->at = p->at;
		probe->stands_for = p->stands_for ? p->stands_for : 1;
	}
	return lower_program(c, p, number, out);
}

static int lower_all(struct checker *c)
{
	int rc = 0;

	for (struct program *p = c->programs; p && rc == 0; p = p->next)
		rc = lower_one(c, p);
	return rc;
}

/* Reports options of the command line that the script does not read; --help only lists its own. */
static int check_named(struct checker *c)
{
	const char *const *named = c->opt->named;
	struct buf *to = &c->source->messages;
	bool help = false, wrong = false;

	for (size_t i = 0; named && named[i] && i < 64; i++) {
		if (c->named & 1ull << i)
			continue;
		if (strcmp(named[i], "--help") == 0) {
			help = true;
			continue;
		}
		buf_puts(to, wrong ? ", " : "ERROR: unexpected program command line options: ");
		buf_put(to, named[i], strcspn(named[i], "="));
		wrong = true;
	}
	if (!wrong && !help)
		return 0;
	c->source->errors++;
	buf_puts(to, wrong ? "\n" : "");
	buf_puts(to, c->options ? "HINT: expected program options:\n"
				: "HINT: no custom program options defined.\n");
	for (const struct known_option *o = c->options; o; o = o->next)
		buf_printf(to, "  --%s: %s\n", o->name, o->help);
	return -EINVAL;
}

int compile(struct script_ast *ast, struct env *env, struct probe_world *world,
	    const struct compile_options *opt, struct unit *unit)
{
	struct checker c = {
		.ast = ast,
		.source = ast->source,
		.env = env,
		.unit = unit,
		.opt = opt,
		.arena = ast->arena,
	};
	int rc = config_script(ast, unit);

	world->max_probes = unit->config.max_probes;
	if (rc == 0 && !check_map_declarations(&c))
		rc = -EINVAL;
	if (rc == 0)
		rc = match_all(&c, world);
	if (rc == 0) {
		prepare_programs(&c);
		rc = check_all(&c);
	}
	if (rc == 0)
		rc = check_unused(&c);
	if (rc == 0)
		rc = check_named(&c);
	if (rc == 0)
		check_map_unused(&c);
	if (rc == 0)
		rc = finish_maps(&c);
	if (rc == 0)
		rc = lower_all(&c);
	if (rc == 0)
		lower_mark_late_maps(unit);
	vec_free(&c.missing);
	for (struct program *p = c.programs; p; p = p->next)
		vec_free(&p->targets);
	return rc;
}
