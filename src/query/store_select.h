/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/query: the clauses of one SELECT. */
#ifndef QUERY_STORE_SELECT_H
#define QUERY_STORE_SELECT_H

#include "query/store_parts.h"

struct range {
	size_t from, to;
};

enum clause { ITEMS, FROM, WHERE, GROUP, HAVING, WINDOW, ORDER, LIMIT, NR_CLAUSES };

struct core {
	struct range clauses[NR_CLAUSES]; /* behind their words; empty: there is none */
	bool distinct;
	const char *mark; /* it is the outermost */
	bool part;	  /* of a UNION, whose columns have one type */
	unsigned int number;
};

static inline bool range_empty(const struct range *r)
{
	return r->from >= r->to;
}

bool sx_word_at(struct compiler *c, size_t at, size_t to, const char *word);
/* Finds the clauses from `from` on, of which `first` is the earliest that may come. */
void sx_find_clauses(struct compiler *c, size_t from, size_t to, enum clause first,
		     struct core *out);

/* The columns of c->scope. */
void sx_items_parse(struct compiler *c, const struct core *core);
void sx_items_star(struct compiler *c, const char *table);
struct expr sx_item_expr(struct compiler *c, size_t i);

/* What becomes of the other clauses; "" without one. */
const char *sx_group_text(struct compiler *c, const struct core *core);
const char *sx_order_text(struct compiler *c, const struct core *core);
const char *sx_limit_text(struct compiler *c, const struct core *core);
/* Whether rows are grouped by that column, which must be the server's as a whole then. */
bool sx_is_grouped(struct compiler *c, const struct core *core, size_t item);

#endif
