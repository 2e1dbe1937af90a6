// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Only calls with constants count: the checker accepts no others. The parser limits the height of
 * the tree, so recursion is safe.
 */
#include "script/getopts.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "lang/parse.h"

#define ARENA_LIMIT (16u << 20)

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
		for (size_t i = 0; i < sizeof(below) / sizeof(below[0]) && rc == 0; i++)
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
	arena_init(&g->arena, ARENA_LIMIT);
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
