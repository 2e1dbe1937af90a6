// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sessions: newer kernels run one program both when functions are entered and when they return. A
 * kprobe's body and a kretprobe's of the same functions then need one link instead of two, and
 * returns of calls that were not seen to begin are not reported.
 *
 * Programs stay what they are. A small one asks the kernel which of the two it is, and goes on in
 * the one that belongs to it, by way of an array of both. The kernel empties that array when its
 * descriptor is closed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "code/sys.h"
#include "probe/attach.h"
#include "script/run_live.h"

#define IS_RETURN "bpf_session_is_return"

#define INSN(c, d, s, o, i)                                                                        \
	((struct bpf_insn){.code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i)})

enum { ENTRY, RETURN, BODIES };

/* The programs of a session are looked for here until it is attached. */
static bool is_candidate(const struct live_run *r, size_t prog, enum probe_type type)
{
	const struct unit *u = &r->s->unit;
	size_t n;
	const struct unit_probe *p;

	if (u->progs.at[prog].runs != RUNS_IN_KERNEL || r->partner[prog] >= 0)
		return false;
	p = live_probes(r->s, prog, &n);
	/* What a cookie tells would be the same for both. */
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

void sessions_find(struct live_run *r)
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
			/* Only now: it takes a look at the kernel's types. */
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

void session_drop(struct live_run *r, size_t prog)
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
						.nr = sizeof(insns) / sizeof(insns[0]),
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

int session_attach(struct live_run *r, size_t entry)
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
