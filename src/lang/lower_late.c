// SPDX-License-Identifier: GPL-2.0-or-later
/* Which maps need not have all of their entries from the beginning. */
#include <string.h>

#include "base/vec.h"
#include "lang/lower.h"

/*
 * Making an entry while interrupts are off uses up the few that the kernel has at hand, and it
 * cannot get more before they are on again. Where programs surely run with interrupts on:
 */
static bool is_interruptible(const struct probe_target *t)
{
	if (t->type == PT_TRACEPOINT)
		return t->system && (strcmp(t->system, "raw_syscalls") == 0 ||
				     strcmp(t->system, "syscalls") == 0);
	return t->type <= PT_INTERVAL || t->type == PT_UPROBE || t->type == PT_URETPROBE ||
	       t->type == PT_USDT || t->type == PT_ITER;
}

static void fill_before(struct unit *u, const struct unit_prog *p)
{
	for (size_t i = 0; i < p->ir.funcs.n; i++) {
		const struct ir_func *f = p->ir.funcs.at[i];

		vec_each (insn, &f->code)
			if (insn->op == IR_MAP && (size_t)insn->imm < u->maps.n)
				u->maps.at[insn->imm]->late = false;
	}
}

void lower_find_late(struct unit *u)
{
	enum { SMALL = 64 }; /* of large values for each CPU the kernel has only one or two */

	vec_each (m, &u->maps)
		(*m)->late = !(*m)->declared &&
			     ((*m)->kind == MAP_HASH ||
			      ((*m)->kind == MAP_PERCPU_HASH && (*m)->value_size <= SMALL));
	vec_each (p, &u->probes)
		if (u->progs.at[p->prog].runs == RUNS_IN_KERNEL && !is_interruptible(p->target))
			fill_before(u, &u->progs.at[p->prog]);
}
