// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the fields of a rule's events say about the names in it. All of this parses the formats of
 * the events it looks at; a search ends with the first event that has the field, so that common
 * names cost one format.
 */
#include "event/filter_tree.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/suggest.h"

static const struct event_field *field_of(struct event *e, const char *name)
{
	return event_ready(e) == EVENT_BROKEN ? NULL : event_field_find(e, name);
}

bool rule_has_field(const struct filter *f, const struct rule *rule, const char *name)
{
	for (size_t i = 0; i < rule->events.n; i++)
		if (field_of(f->events->list[rule->events.at[i]], name))
			return true;
	return false;
}

static bool lacks(const struct filter *f, const struct rule *rule, enum own_field *known,
		  const char *name)
{
	if (*known == OWN_UNKNOWN)
		*known = rule_has_field(f, rule, name) ? OWN_YES : OWN_NO;
	return *known == OWN_NO;
}

bool rule_means_comm(const struct filter *f, struct rule *rule, const char *name)
{
	return !strcmp(name, "COMM") ||
	       (!strcmp(name, "comm") && lacks(f, rule, &rule->own_comm, "comm"));
}

bool rule_means_cpu(const struct filter *f, struct rule *rule, const char *name)
{
	return !strcmp(name, "CPU") ||
	       (!strcmp(name, "cpu") && lacks(f, rule, &rule->own_cpu, "cpu"));
}

/* Calls fn for every name of a field in the tree but the words on the right of == and !=. */
static void each_field(const struct node *n, void (*fn)(void *arg, const struct node *field),
		       void *arg)
{
	switch (n->kind) {
	case NODE_CHAIN:
		for (size_t i = 0; i < n->n; i++)
			each_field(n->items[i], fn, arg);
		break;
	case NODE_COMPARE:
	case NODE_ARITHMETIC:
		each_field(n->left, fn, arg);
		if (n->kind != NODE_COMPARE || n->right->kind != NODE_FIELD)
			each_field(n->right, fn, arg);
		break;
	case NODE_NOT:
	case NODE_COMPLEMENT: each_field(n->left, fn, arg); break;
	case NODE_FIELD: fn(arg, n); break;
	case NODE_NUMBER:
	case NODE_TEXT: break;
	}
}

/* ---- words that are no fields ---------------------------------------------------------- */

/* Whether a field holds text in some event, so that a bare word next to it can be one. */
static bool may_be_text(struct filter_parser *p, const char *name)
{
	if (rule_means_comm(p->filter, p->rule, name))
		return true;
	vec_each (index, &p->rule->events) {
		const struct event_field *field = field_of(p->filter->events->list[*index], name);

		if (field && field->flags & FIELD_STRING)
			return true;
	}
	return false;
}

static int check_compare(struct filter_parser *p, const struct node *n)
{
	const struct node *word = n->right;
	bool equality = n->op == OP_EQ || n->op == OP_NE;

	if (word->kind != NODE_FIELD || rule_has_field(p->filter, p->rule, word->text) ||
	    rule_means_comm(p->filter, p->rule, word->text) ||
	    rule_means_cpu(p->filter, p->rule, word->text))
		return 0;
	if (equality && n->left->kind == NODE_FIELD && may_be_text(p, n->left->text))
		return 0;
	return filter_fail(p, FILTER_BAD_RIGHT, word->pos, word->len,
			   "'%.60s' is no field here; a text goes in quotes", word->text);
}

int filter_check_words(struct filter_parser *p, const struct node *n)
{
	int ret = 0;

	switch (n->kind) {
	case NODE_CHAIN:
		for (size_t i = 0; i < n->n && !ret; i++)
			ret = filter_check_words(p, n->items[i]);
		return ret;
	case NODE_NOT: return filter_check_words(p, n->left);
	case NODE_COMPARE: return check_compare(p, n);
	default: return 0;
	}
}

/* ---- names that no event has ----------------------------------------------------------- */

struct checker {
	const struct filter *filter;
	struct rule *rule;
	size_t unknown;
	struct spur_error *err;
};

/* Appends "; did you mean 'NAME'?" when a field of the rule's events has such a name. */
static void suggest_field(struct checker *c, const struct node *field, struct buf *out)
{
	struct suggest near = suggest_for(field->text, field->text_len);

	for (size_t n = 0; n < c->rule->events.n; n++) {
		struct event *e = c->filter->events->list[c->rule->events.at[n]];

		if (event_ready(e) == EVENT_BROKEN)
			continue;
		for (uint32_t i = 0; i < e->nr_fields; i++)
			suggest_try(&near, e->fields[i].name);
	}
	if (suggest_best(&near))
		buf_printf(out, "; did you mean '%.60s'?", suggest_best(&near));
}

static void describe(struct checker *c, const struct node *field)
{
	const struct event *first = c->filter->events->list[c->rule->events.at[0]];
	struct buf out;

	buf_init(&out, sizeof(c->err->text));
	if (c->rule->events.n == 1)
		buf_printf(&out, "%.60s has no field '%.60s'", first->name, field->text);
	else
		buf_printf(&out, "no event here has a field '%.60s'", field->text);
	buf_puts(&out, ", comparing it is always false");
	suggest_field(c, field, &out);
	error_set(c->err, -ENOENT, "filter, column %zu: %s", field->pos + 1, buf_str(&out));
	buf_free(&out);
}

static void check_field(void *arg, const struct node *field)
{
	struct checker *c = arg;

	if (rule_has_field(c->filter, c->rule, field->text) ||
	    rule_means_comm(c->filter, c->rule, field->text) ||
	    rule_means_cpu(c->filter, c->rule, field->text))
		return;
	if (!c->unknown++)
		describe(c, field);
}

size_t filter_check(const struct filter *f, struct spur_error *err)
{
	struct checker c = {.filter = f, .err = err};

	pthread_mutex_lock(&f->rules->lock);
	vec_each (rule, &f->rules->list) {
		c.rule = rule;
		if (rule->expr)
			each_field(rule->expr, check_field, &c);
	}
	pthread_mutex_unlock(&f->rules->lock);
	return c.unknown;
}
