// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loads the programs of a script into the kernel and attaches them. A program for many functions is
 * attached by one link, if the kernel has such links; this must be known when it is loaded. The
 * probes of a program are consecutive in the unit.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"
#include "code/code.h"
#include "code/sys.h"
#include "probe/attach.h"
#include "script/run_live.h"

/*
 * Sessions: newer kernels can run one program both at the entry and at the return of functions.
 * Then a kprobe and a kretprobe on the same functions need one link instead of two, and returns of
 * calls that began earlier are not reported.
 *
 * The two programs do not change. A small program asks the kernel which of the two is to run, and
 * continues there by a tail call through an array of both. The kernel clears that array when its
 * descriptor is closed.
 */

#define IS_RETURN "bpf_session_is_return"

enum { ENTRY, RETURN, BODIES };

/* The probes of a program, which are consecutive, and their number (n may be NULL). */
static const struct unit_probe *live_probes(const struct script *s, size_t prog, size_t *n)
{
	const struct unit_probe *first = NULL;
	size_t count = 0;

	for (size_t i = 0; i < s->unit.probes.n; i++) {
		if (s->unit.probes.at[i].prog != prog)
			continue;
		first = first ? first : &s->unit.probes.at[i];
		count++;
	}
	if (n)
		*n = count;
	return first;
}

/* Whether a program can be part of a session. */
static bool is_candidate(const struct live_run *r, size_t prog, enum probe_type type)
{
	const struct unit *u = &r->s->unit;
	size_t n;
	const struct unit_probe *p;

	if (u->progs.at[prog].runs != RUNS_IN_KERNEL || r->partner[prog] >= 0)
		return false;
	p = live_probes(r->s, prog, &n);
	/* Both programs would get the same cookie. */
	return n > 1 && p->target->type == type && !p->cookie;
}

static bool is_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_functions(const struct live_run *r, size_t a, size_t b)
{
	size_t n, m;
	const struct unit_probe *p = live_probes(r->s, a, &n), *q = live_probes(r->s, b, &m);

	if (n != m)
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct probe_target *x = p[i].target, *y = q[i].target;

		if (!x->symbol || !is_same(x->symbol, y->symbol) ||
		    !is_same(x->module, y->module) || x->address != y->address || x->offset ||
		    y->offset)
			return false;
	}
	return true;
}

/*
 * Finds pairs of programs that can share one link. Both must be loaded for a session; the kprobe's
 * attaches them. If that fails, both are loaded and attached in the ordinary way.
 */
static void sessions_find(struct live_run *r)
{
	const size_t n = r->s->unit.progs.n;
	const char *module = NULL;
	uint32_t id = 0;

	for (size_t a = 0; a < n && !r->s->opt.no_kprobe_session && !r->s->opt.no_kprobe_multi;
	     a++) {
		if (!is_candidate(r, a, PT_KPROBE))
			continue;
		for (size_t b = 0; b < n && r->partner[a] < 0; b++) {
			if (!is_candidate(r, b, PT_KRETPROBE) || !same_functions(r, a, b))
				continue;
			/* Only if it is needed: this reads the kernel's BTF. */
			if (!id)
				id = r->s->env->ops->function_id(r->s->env, &module, IS_RETURN);
			if (!id || module)
				return;
			r->is_return_id = id;
			r->partner[a] = (int)b;
			r->partner[b] = (int)a;
		}
	}
}

static void session_drop(struct live_run *r, size_t prog)
{
	if (r->partner[prog] >= 0)
		r->partner[r->partner[prog]] = -1;
	r->partner[prog] = -1;
}

static int make_array(const int bodies[BODIES])
{
	int fd = sys_map_create(&(struct sys_map){.type = BPF_MAP_TYPE_PROG_ARRAY,
						  .key_size = 4,
						  .value_size = 4,
						  .entries = BODIES,
						  .name = "session"});
	int rc = fd < 0 ? fd : 0;

	for (uint32_t i = 0; i < BODIES && rc == 0; i++)
		rc = sys_map_update(fd, &i, &bodies[i], BPF_ANY);
	if (rc < 0 && fd >= 0)
		close(fd);
	return rc < 0 ? rc : fd;
}

static int load_switch(const struct live_run *r, int array)
{
	const struct bpf_insn insns[] = {
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 6, 1, 0, 0),
		INSN(BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_KFUNC_CALL, 0, (int32_t)r->is_return_id),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 3, 0, 0, 0),
		INSN(BPF_ALU64 | BPF_AND | BPF_K, 3, 0, 0, 1),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 1, 6, 0, 0),
		INSN(BPF_LD | BPF_IMM | BPF_DW, 2, BPF_PSEUDO_MAP_FD, 0, array),
		INSN(0, 0, 0, 0, 0),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_tail_call),
		/* The array has been emptied. */
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};

	return sys_prog_load(&(struct sys_prog){.type = BPF_PROG_TYPE_KPROBE,
						.attach_type = ATTACH_KPROBE_SESSION,
						.insns = insns,
						.nr = ARRAY_SIZE(insns),
						.name = "session",
						.license = "GPL"});
}

static int link_all(struct live_run *r, size_t entry, int prog_fd)
{
	size_t n;
	const struct unit_probe *p = live_probes(r->s, entry, &n);
	const struct probe_target **targets = calloc(n, sizeof(*targets));
	struct spur_error ignored = {0};
	int rc;

	if (!targets)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		targets[i] = p[i].target;
	rc = attach_session(targets, n, prog_fd, &r->attached, &ignored);
	free(targets);
	return rc;
}

static int session_attach(struct live_run *r, size_t entry)
{
	const int bodies[BODIES] = {
		[ENTRY] = r->progs[entry], [RETURN] = r->progs[r->partner[entry]]};
	int array = make_array(bodies), *slot, prog_fd, rc;

	if (array < 0)
		return array;
	slot = vec_push(&r->arrays);
	prog_fd = slot ? load_switch(r, array) : -ENOMEM;
	rc = prog_fd < 0 ? prog_fd : link_all(r, entry, prog_fd);
	if (slot)
		*slot = array;
	else
		close(array);
	if (prog_fd >= 0)
		close(prog_fd);
	return rc;
}

void sessions_close(struct live_run *r)
{
	vec_each (fd, &r->arrays)
		close(*fd);
	vec_free(&r->arrays);
	free(r->partner);
	r->partner = NULL;
}

/* ---- probes that are not there ---- */

/*
 * A probe cannot be attached: 0 if it is skipped. Probes of a pattern are only counted, because
 * some functions can never be probed; others are skipped only if the script permits it.
 */
static int left_out(struct live_run *r, const struct unit_probe *p, int rc, struct spur_error *err)
{
	struct script *s = r->s;
	const enum unit_missing how = s->unit.config.missing_probes;
	const bool lenient = how == MISSING_WARN || how == MISSING_IGNORE;
	const bool is_absent = rc == -ENOENT || rc == -ENODEV || rc == -EADDRNOTAVAIL;
	const bool by_pattern = p->target->found && p->target->symbol;

	if (rc == -ENOENT)
		probes_suggest(&s->world, p->target, err);
	if (how == MISSING_ERROR || !(by_pattern || (lenient && is_absent))) {
		if (is_absent)
			source_error(&s->source, p->at,
				     "Unable to attach probe: %s. If this is expected, set the "
				     "'missing_probes' config variable to 'warn'.",
				     p->target->name);
		return rc;
	}
	if (!r->nr_missing++)
		r->why = *err;
	if (!p->target->found)
		buf_printf(&r->missing, "%s\nUnable to attach probe: %s. Skipping.\n", err->text,
			   p->target->name);
	*err = (struct spur_error){0};
	return 0;
}

/* Warns about each probe that was skipped. */
static void tell_missing(struct live_run *r)
{
	const struct script_options *o = &r->s->opt;
	char *line, *end;

	if (!o->note || o->no_warnings || r->s->unit.config.missing_probes == MISSING_IGNORE)
		return;
	buf_str(&r->missing); /* ends it */
	for (line = r->missing.data; line && (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		o->note(o->arg, line);
	}
}

/*
 * Some probes may be missing, but not all. BEGIN and END only count if the script sets
 * missing_probes.
 */
static int all_missing(struct live_run *r, struct spur_error *err)
{
	const struct script *s = r->s;
	const enum unit_missing how = s->unit.config.missing_probes;

	if (!r->nr_missing || r->attached.fds.n)
		return 0;
	for (size_t i = 0; i < s->unit.probes.n; i++) {
		const enum probe_type t = s->unit.probes.at[i].target->type;

		if (t == PT_INTERVAL || t == PT_ITER ||
		    (t < PT_INTERVAL && (how == MISSING_WARN || how == MISSING_IGNORE)))
			return 0;
	}
	*err = r->why;
	return r->why.code ? r->why.code : -ENOENT;
}

/* ---- loading ---- */

/* The function or tracepoint that a program is loaded for. */
static int find_function(const struct script *s, const struct probe_target *t,
			 const struct attach_needs *needs, struct bpf_load_options *o,
			 struct spur_error *err)
{
	const struct env_ops *ops = s->env->ops;
	const char *module = needs->btf_module;

	o->attach_btf_id = needs->btf_tracepoint
				   ? ops->raw_tracepoint_id(s->env, &module, needs->btf_tracepoint)
				   : ops->function_id(s->env, &module, needs->btf_function);
	if (!o->attach_btf_id) {
		const char *why = ops->no_types(s->env);

		return error_set(err, -ENOENT, "cannot attach to %s: %s", t->name,
				 why	    ? why
				 : t->typed ? "the kernel does not describe such a tracepoint"
					    : "the kernel does not describe such a function");
	}
	if (module)
		o->attach_btf_fd = sys_btf_of_module(module);
	if (o->attach_btf_fd < 0)
		return error_sys(err, o->attach_btf_fd, "cannot attach to %s: module %s", t->name,
				 module);
	return 0;
}

/* The same for a BPF program, which stays loaded as long as this one. */
static int find_program(const struct probe_target *t, const struct attach_needs *needs,
			struct bpf_load_options *o, struct spur_error *err)
{
	o->attach_btf_id = needs->bpf_type;
	o->attach_btf_fd = progs_open(needs->bpf_prog);
	return o->attach_btf_fd < 0 ? error_set(err, o->attach_btf_fd,
						"cannot attach to %s: there is no such program any "
						"more",
						t->name)
				    : 0;
}

static int load_options(struct live_run *r, size_t prog, struct bpf_load_options *o,
			struct spur_error *err)
{
	struct script *s = r->s;
	const struct probe_target *t = live_probes(s, prog, NULL)->target;
	struct attach_needs needs = {0};

	*o = (struct bpf_load_options){.type = BPF_PROG_TYPE_RAW_TRACEPOINT,
				       .license = s->unit.config.license};
	/* Programs that user space starts itself are raw tracepoints. */
	if (s->unit.progs.at[prog].raw || t->type <= PT_INTERVAL ||
	    !attach_needs(t, r->multi[prog], &needs))
		return 0;
	o->type = needs.prog_type;
	o->attach_type = r->partner[prog] >= 0 ? ATTACH_KPROBE_SESSION : needs.expected_type;
	if (needs.bpf_prog)
		return find_program(t, &needs, o, err);
	return needs.btf_function || needs.btf_tracepoint ? find_function(s, t, &needs, o, err) : 0;
}

/* Programs of this kind may be disabled although others work. */
static void tell_no_trampolines(struct script *s, size_t prog, struct spur_error *err)
{
	const struct probe_target *t = live_probes(s, prog, NULL)->target;

	if (!bpf_has_helper(&s->features, BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_FUNC_map_lookup_elem))
		return;
	*err = (struct spur_error){0};
	error_set(err, -EPERM,
		  "cannot attach to %s: this kernel does not permit %s, although it permits other "
		  "BPF "
		  "programs",
		  t->name,
		  t->typed ? "what needs to know its arguments' types" : "fentry, fexit and iter");
}

static int load_one(struct live_run *r, size_t prog, struct spur_error *err)
{
	struct script *s = r->s;
	struct bpf_load_options o;
	struct bpf_refusal why = {0};
	int fd = load_options(r, prog, &o, err);

	if (fd < 0)
		return fd;
	fd = bpf_load(&s->code[prog], r->maps.fds, &o, &why, NULL, err);
	if (fd < 0 && why.reason[0] && !r->multi[prog]) {
		source_error(&s->source, why.known ? why.at : s->unit.progs.at[prog].at,
			     "the kernel does not take this: %s", why.reason);
		*err = (struct spur_error){0};
		error_set(err, fd, "the kernel has refused the script");
	}
	if (fd == -EPERM && o.attach_btf_id)
		tell_no_trampolines(s, prog, err);
	if (o.attach_btf_fd > 0)
		close(o.attach_btf_fd);
	r->progs[prog] = fd;
	return fd < 0 ? fd : 0;
}

/* Loads it for each of its probes on their own. */
static int load_single(struct live_run *r, size_t prog, struct spur_error *err)
{
	if (r->progs[prog] >= 0)
		close(r->progs[prog]);
	r->progs[prog] = -1;
	r->multi[prog] = false;
	return load_one(r, prog, err);
}

static bool may_multi(const struct live_run *r, const struct probe_target *t)
{
	const bool kernel = t->type == PT_KPROBE || t->type == PT_KRETPROBE;

	return attach_can_multi(t) &&
	       !(kernel ? r->s->opt.no_kprobe_multi : r->s->opt.no_uprobe_multi);
}

/* Loads both programs of a session, as far as they have been, to be attached on their own. */
static int leave_session(struct live_run *r, size_t prog, struct spur_error *err)
{
	const size_t other = (size_t)r->partner[prog];
	int rc;

	session_drop(r, prog);
	*err = (struct spur_error){0};
	if (r->progs[other] >= 0) {
		close(r->progs[other]);
		rc = load_one(r, other, err);
		if (rc < 0)
			return rc;
	}
	if (r->progs[prog] >= 0)
		close(r->progs[prog]);
	return load_one(r, prog, err);
}

static int load_program(struct live_run *r, size_t prog, struct spur_error *err)
{
	size_t n;
	const struct unit_probe *p = live_probes(r->s, prog, &n);
	int rc;

	r->multi[prog] = n > 1 && may_multi(r, p->target);
	rc = load_one(r, prog, err);
	if (rc < 0 && r->partner[prog] >= 0)
		rc = leave_session(r, prog, err);
	if (rc < 0 && r->multi[prog])
		rc = load_single(r, prog, err);
	return rc == -ENOENT && r->progs[prog] < 0 ? left_out(r, p, rc, err) : rc;
}

int live_load(struct live_run *r, struct spur_error *err)
{
	const struct script *s = r->s;
	int rc = 0;

	r->progs = malloc((s->unit.progs.n + 1) * sizeof(*r->progs));
	r->multi = calloc(s->unit.progs.n + 1, sizeof(*r->multi));
	r->partner = malloc((s->unit.progs.n + 1) * sizeof(*r->partner));
	if (!r->progs || !r->multi || !r->partner)
		return error_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < s->unit.progs.n; i++)
		r->progs[i] = r->partner[i] = -1;
	sessions_find(r);
	for (size_t i = 0; i < s->unit.progs.n && rc == 0; i++)
		if (s->unit.progs.at[i].runs == RUNS_IN_KERNEL)
			rc = load_program(r, i, err);
	return rc;
}

/* ---- attaching ---- */

/* Events made by users have no raw tracepoint: the program is loaded again, as an ordinary one. */
static int attach_raw(struct live_run *r, const struct unit_probe *p, struct spur_error *err)
{
	struct probe_target raw = *p->target;
	int rc;

	raw.type = PT_RAWTRACEPOINT;
	rc = attach_probe(&raw, r->progs[p->prog], 0, &r->attached, err);
	if (rc != -ENOENT || r->s->unit.probes.at[p->number].stands_for > 1)
		return rc;
	*err = (struct spur_error){0};
	r->s->unit.progs.at[p->prog].raw = false;
	rc = load_single(r, p->prog, err);
	return rc < 0 ? rc : attach_probe(p->target, r->progs[p->prog], 0, &r->attached, err);
}

static int attach_one(struct live_run *r, const struct unit_probe *p, struct spur_error *err)
{
	int rc;

	if (r->s->unit.progs.at[p->prog].raw)
		rc = attach_raw(r, p, err);
	else
		rc = attach_probe(p->target, r->progs[p->prog], p->cookie, &r->attached, err);
	return rc < 0 ? left_out(r, p, rc, err) : 0;
}

/* Attaches all probes of a program by one link; if that fails, they are attached one by one. */
static int attach_together(struct live_run *r, const struct unit_probe *p, size_t n)
{
	const struct probe_target **targets = calloc(n, sizeof(*targets));
	uint64_t *cookies = calloc(n, sizeof(*cookies));
	struct spur_error ignored = {0};
	int rc = -ENOMEM;

	for (size_t i = 0; targets && cookies && i < n; i++) {
		targets[i] = p[i].target;
		cookies[i] = p[i].cookie;
	}
	if (targets && cookies)
		rc = attach_multi(targets, n, cookies[0] ? cookies : NULL, r->progs[p->prog],
				  &r->attached, &ignored);
	free(targets);
	free(cookies);
	return rc;
}

static int attach_program(struct live_run *r, size_t prog, struct spur_error *err)
{
	size_t n;
	const struct unit_probe *p = live_probes(r->s, prog, &n);
	int rc = 0;

	if (r->progs[prog] < 0 || p->target->type <= PT_INTERVAL || p->target->type == PT_ITER)
		return 0;
	if (r->partner[prog] >= 0) {
		const size_t other = (size_t)r->partner[prog];

		/* The kprobe's turn is that of both. */
		if (p->target->type == PT_KRETPROBE || session_attach(r, prog) == 0)
			return 0;
		rc = leave_session(r, prog, err);
		if (rc == 0)
			rc = attach_program(r, other, err);
		if (rc < 0)
			return rc;
	}
	if (r->multi[prog]) {
		if (attach_together(r, p, n) == 0)
			return 0;
		rc = load_single(r, prog, err);
	}
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = attach_one(r, &p[i], err);
	return rc;
}

/* For these kinds the kernel runs the program first that was attached last. */
static const bool run_backwards[PT_TYPES] = {
	[PT_KPROBE] = true,    [PT_FENTRY] = true, [PT_FEXIT] = true,	 [PT_UPROBE] = true,
	[PT_URETPROBE] = true, [PT_USDT] = true,   [PT_SOFTWARE] = true,
};

static bool is_run_backwards(const struct script *s, size_t prog)
{
	const struct unit_probe *p = live_probes(s, prog, NULL);

	/* A clock is a timer of its own for each program. */
	if (!p || (p->target->type == PT_SOFTWARE && strstr(p->target->event, "clock")))
		return false;
	return run_backwards[p->target->type];
}

/* Bodies are to run in the order of the script. */
int live_attach(struct live_run *r, struct spur_error *err)
{
	const struct unit *u = &r->s->unit;
	int rc = 0;

	for (size_t i = 0; i < u->progs.n && rc == 0; i++)
		if (!is_run_backwards(r->s, i))
			rc = attach_program(r, i, err);
	for (size_t i = u->progs.n; i-- > 0 && rc == 0;)
		if (is_run_backwards(r->s, i))
			rc = attach_program(r, i, err);
	if (rc == 0)
		rc = all_missing(r, err);
	if (rc == 0)
		tell_missing(r);
	return rc;
}
