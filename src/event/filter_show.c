// SPDX-License-Identifier: GPL-2.0-or-later
/* Filters for people: what became of them, and where they are wrong. */
#include "event/filter_tree.h"

#include <stdlib.h>
#include <string.h>

/* ---- what became of a filter ----------------------------------------------------------- */

static void show_value(const struct node *n, struct buf *out)
{
	bool nested;

	switch (n->kind) {
	case NODE_NUMBER: buf_i64(out, (int64_t)n->number); break;
	case NODE_FIELD:
		buf_put(out, n->text, n->text_len);
		if (n->function)
			buf_puts(out, ".function");
		break;
	case NODE_TEXT:
		buf_putc(out, '"');
		buf_put(out, n->text, n->text_len);
		buf_putc(out, '"');
		break;
	case NODE_COMPLEMENT:
		buf_putc(out, '~');
		show_value(n->left, out);
		break;
	default:
		nested = n->left->kind == NODE_ARITHMETIC;
		buf_puts(out, nested ? "(" : "");
		show_value(n->left, out);
		buf_puts(out, nested ? ") " : " ");
		buf_puts(out, filter_op_text(n->op));
		nested = n->right->kind == NODE_ARITHMETIC;
		buf_puts(out, nested ? " (" : " ");
		show_value(n->right, out);
		buf_puts(out, nested ? ")" : "");
	}
}

/* Chains read from left to right: "((a) && (b)) || (c)". */
static void show_bound(const struct bound *t, struct buf *out)
{
	switch (t->kind) {
	case BOUND_FALSE: buf_puts(out, "FALSE"); break;
	case BOUND_TRUE: buf_puts(out, "TRUE"); break;
	case BOUND_TEST: show_value(t->node, out); break;
	case BOUND_NOT:
		buf_puts(out, "!(");
		show_bound(t->items[0], out);
		buf_putc(out, ')');
		break;
	case BOUND_CHAIN:
		buf_fill(out, '(', t->n - 1);
		show_bound(t->items[0], out);
		for (size_t i = 1; i < t->n; i++) {
			buf_printf(out, ") %s (", filter_op_text(t->ops[i]));
			show_bound(t->items[i], out);
			buf_putc(out, ')');
		}
		break;
	}
}

static void show_event(const struct filter *f, struct rule *rule, struct event *e, struct buf *out)
{
	struct arena memory;
	struct bound *t;

	arena_init(&memory, f->rules->arena.limit);
	t = filter_bind(f, rule, e, &memory);
	if (t) {
		buf_printf(out, " '%s: ", e->name);
		show_bound(t, out);
		buf_puts(out, "'\n");
	}
	arena_free(&memory);
}

static int by_id(const void *a, const void *b)
{
	const struct event *const *x = a, *const *y = b;

	return ((*x)->id > (*y)->id) - ((*x)->id < (*y)->id);
}

/* The last name's events come first, and of each name those with the highest ids. */
static void show_rule(const struct filter *f, struct rule *rule, struct buf *out)
{
	struct event **list = calloc(rule->events.n, sizeof(*list));
	size_t start = 0;

	if (!list)
		return;
	for (size_t i = 0; i < rule->events.n; i++) {
		list[i] = f->events->list[rule->events.at[i]];
		/* Within one name, indices increase. */
		if (i && rule->events.at[i] <= rule->events.at[i - 1]) {
			qsort(list + start, i - start, sizeof(*list), by_id);
			start = i;
		}
	}
	qsort(list + start, rule->events.n - start, sizeof(*list), by_id);
	for (size_t i = rule->events.n; i-- > 0;)
		show_event(f, rule, list[i], out);
	free(list);
}

void filter_show(const struct filter *f, struct buf *out)
{
	pthread_mutex_lock(&f->rules->lock);
	vec_each (rule, &f->rules->list)
		show_rule(f, rule, out);
	pthread_mutex_unlock(&f->rules->lock);
}

/* ---- where it is wrong ----------------------------------------------------------------- */

const char *filter_reason_text(enum filter_reason reason)
{
	static const char *const texts[] = {
		[FILTER_FINE] = "",
		[FILTER_NO_MEMORY] = "failed to allocate memory",
		[FILTER_BAD_EVENT_NAME] = "invalid event name",
		[FILTER_NO_EVENT] = "no event found",
		[FILTER_NO_NAME] = "no filter found",
		[FILTER_SYNTAX] = "syntax error",
		[FILTER_BAD_RIGHT] = "illegal rvalue",
		[FILTER_BAD_LEFT] = "illegal lvalue for string comparison",
		[FILTER_BAD_REGEX] = "regex did not compute",
		[FILTER_BAD_TEXT_COMPARE] = "illegal comparison for string",
		[FILTER_BAD_NUMBER_COMPARE] = "illegal comparison for integer",
		[FILTER_BAD_TOKEN] = "illegal token",
		[FILTER_BAD_PAREN] = "open parenthesis cannot come here",
		[FILTER_UNBALANCED] = "unbalanced number of parenthesis",
		[FILTER_UNKNOWN_TOKEN] = "unknown token",
	};

	return (size_t)reason < sizeof(texts) / sizeof(texts[0]) ? texts[reason] : "";
}

#define SHOWN_BEFORE 60
#define SHOWN_AFTER  30

/* One character wide, whatever stood there: the caret must find its column. */
static void put_visible(struct buf *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_putc(out, s[i] >= ' ' && s[i] <= '~' ? s[i] : '?');
}

void filter_point(struct buf *out, const char *text, const struct filter_mistake *m)
{
	size_t len = strlen(text), offset = m->offset < len ? m->offset : len;
	size_t from = offset > SHOWN_BEFORE ? offset - SHOWN_BEFORE : 0;
	size_t to = len - offset > SHOWN_AFTER ? offset + SHOWN_AFTER : len;

	buf_puts(out, from ? "..." : "");
	put_visible(out, text + from, to - from);
	buf_puts(out, to < len ? "...\n" : "\n");
	buf_fill(out, ' ', offset - from + (from ? 3 : 0));
	buf_putc(out, '^');
	for (size_t i = 1; i < m->len && offset + i < to; i++)
		buf_putc(out, '~');
	buf_putc(out, '\n');
}
