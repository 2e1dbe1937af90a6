// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Bound tests to programs.
 *
 * A program is a list of tests in the order of the text. Each says which test is next when it is
 * true and when it is false; that is always a later one, so that a program ends.
 */
#include "event/filter_tree.h"

const struct filter_program filter_unbound;

static uint32_t count_tests(const struct bound *t)
{
	uint32_t n = t->kind == BOUND_TEST;

	for (size_t i = 0; i < t->n; i++)
		n += count_tests(t->items[i]);
	return n;
}

/*
 * Puts a term's tests into the program in front of what is there already, since a test has to know
 * where those behind it start. Returns where the term starts.
 */
static uint32_t emit(struct filter_program *prog, uint32_t *start, const struct bound *t,
		     uint32_t on_true, uint32_t on_false)
{
	switch (t->kind) {
	case BOUND_FALSE: return on_false;
	case BOUND_TRUE: return on_true;
	case BOUND_NOT: return emit(prog, start, t->items[0], on_false, on_true);
	case BOUND_TEST:
		prog->tests[--*start] = t->test;
		prog->tests[*start].on_true = on_true;
		prog->tests[*start].on_false = on_false;
		return *start;
	case BOUND_CHAIN: break;
	}
	/* True goes on with the next term behind &&, false with the next one behind ||. */
	for (size_t i = t->n; i-- > 0;) {
		uint32_t entry = emit(prog, start, t->items[i], on_true, on_false);

		if (!i)
			return entry;
		if (t->ops[i] == OP_AND)
			on_true = entry;
		else
			on_false = entry;
	}
	return on_false;
}

const struct filter_program *filter_compile(const struct filter *f, struct event *e)
{
	struct filter_program *prog = NULL;
	struct bound *all;
	struct arena memory;
	uint32_t n;

	arena_init(&memory, f->rules->arena.limit);
	all = filter_bind_all(f, e, &memory);
	if (all) {
		n = count_tests(all);
		prog = arena_alloc(&f->rules->arena, sizeof(*prog) + n * sizeof(prog->tests[0]));
	}
	if (prog) {
		uint32_t start = n;

		prog->n = n;
		prog->always = emit(prog, &start, all, GO_MATCH, GO_MISS) == GO_MATCH;
	}
	arena_free(&memory);
	return prog;
}
