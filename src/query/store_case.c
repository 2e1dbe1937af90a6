// SPDX-License-Identifier: GPL-2.0-or-later
/* CASE. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/vec.h"
#include "query/store_calls.h"

struct branches {
	struct expr conditions[SX_MAX_ARGS], values[SX_MAX_ARGS + 1];
	size_t n;
	bool remote, constant;
};

static void note(struct branches *b, const struct expr *e)
{
	b->remote &= e->remote != NULL;
	b->constant &= e->constant;
}

static struct expr case_here(struct compiler *c, struct branches *b)
{
	const char *text = "case";

	for (size_t i = 0; i < b->n; i++) {
		sx_to_local(c, &b->conditions[i]);
		sx_to_local(c, &b->values[i]);
		text = sx_text(c, "%s when %s then %s", text, b->conditions[i].local,
			       b->values[i].local);
	}
	sx_to_local(c, &b->values[b->n]);
	text = sx_text(c, "%s else %s end", text, b->values[b->n].local);
	return b->constant ? sx_constant(c, text) : sx_here(c, text, "CASE of this");
}

struct expr sx_case(struct compiler *c)
{
	const bool has_base = !sx_at_word(c, 0, "when");
	struct branches b = {.remote = true, .constant = true};
	const struct expr base = has_base ? sx_parse(c, 0) : sx_nothing;

	while (c->rc == 0 && sx_accept_word(c, "when")) {
		struct expr e = sx_parse(c, 0);

		if (b.n == SX_MAX_ARGS) {
			sx_fail(c, "a CASE of more than %d WHENs", SX_MAX_ARGS);
			break;
		}
		b.conditions[b.n] = has_base ? sx_compare(c, "=", base, e) : e;
		if (c->rc == 0 && !sx_accept_word(c, "then"))
			sx_fail(c, "syntax error: CASE needs a THEN");
		b.values[b.n] = sx_parse(c, 0);
		note(&b, &b.conditions[b.n]);
		note(&b, &b.values[b.n++]);
	}
	b.values[b.n] =
		c->rc == 0 && sx_accept_word(c, "else") ? sx_parse(c, 0) : sx_constant(c, "null");
	note(&b, &b.values[b.n]);
	if (c->rc == 0 && (!b.n || !sx_accept_word(c, "end")))
		sx_fail(c, "syntax error: CASE has no END");
	if (c->rc < 0)
		return sx_nothing;
	if (!b.remote || b.constant || (c->here && sx_mixed(b.values, b.n + 1)))
		return case_here(c, &b);
	return sx_choose(c, b.conditions, b.values, b.n);
}
