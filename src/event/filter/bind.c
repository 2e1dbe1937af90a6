// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Binding: the names in a rule are checked against its events' fields, and a rule's tree and an
 * event become tests with offsets.
 *
 * A term about a field that the event does not have is false; such terms vanish here, together with
 * what they decide, so that a bound tree is either one constant or has none inside.
 */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/suggest.h"
#include "event/filter/tree.h"

/* ---- the fields of a rule's events ---- */

/*
 * What the fields of a rule's events say about the names in it. All of this parses the formats of
 * the events it looks at; a search ends with the first event that has the field, so that common
 * names cost one format.
 */
static const struct event_field *field_of(struct event *e, const char *name)
{
	return event_ready(e) == EVENT_BROKEN ? NULL : event_field_find(e, name);
}

/* Whether any event of the rule has that field. Parses formats. */
static bool rule_has_field(const struct filter *f, const struct filter_rule *rule, const char *name)
{
	for (size_t i = 0; i < rule->events.n; i++)
		if (field_of(f->events->list[rule->events.at[i]], name))
			return true;
	return false;
}

static bool lacks(const struct filter *f, const struct filter_rule *rule, enum own_field *known,
		  const char *name)
{
	if (*known == OWN_UNKNOWN)
		*known = rule_has_field(f, rule, name) ? OWN_YES : OWN_NO;
	return *known == OWN_NO;
}

/* Whether a name stands for the task's name or the CPU in this rule. The lock must be held. */
static bool rule_means_comm(const struct filter *f, struct filter_rule *rule, const char *name)
{
	return !strcmp(name, "COMM") ||
	       (!strcmp(name, "comm") && lacks(f, rule, &rule->own_comm, "comm"));
}

static bool rule_means_cpu(const struct filter *f, struct filter_rule *rule, const char *name)
{
	return !strcmp(name, "CPU") ||
	       (!strcmp(name, "cpu") && lacks(f, rule, &rule->own_cpu, "cpu"));
}

/* Calls fn for every name of a field in the tree, except for words on the right of == and !=. */
static void each_field(const struct filter_node *n,
		       void (*fn)(void *arg, const struct filter_node *field), void *arg)
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

static int check_compare(struct filter_parser *p, const struct filter_node *n)
{
	const struct filter_node *word = n->right;
	bool equality = n->op == FILTER_OP_EQ || n->op == FILTER_OP_NE;

	if (word->kind != NODE_FIELD || rule_has_field(p->filter, p->rule, word->text) ||
	    rule_means_comm(p->filter, p->rule, word->text) ||
	    rule_means_cpu(p->filter, p->rule, word->text))
		return 0;
	if (equality && n->left->kind == NODE_FIELD && may_be_text(p, n->left->text))
		return 0;
	return filter_fail(p, FILTER_BAD_RIGHT, word->pos, word->len,
			   "'%.60s' is no field here; a text goes in quotes", word->text);
}

int filter_check_words(struct filter_parser *p, const struct filter_node *n)
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
	struct filter_rule *rule;
	size_t unknown;
	struct spur_error *err;
};

/* Appends "; did you mean 'NAME'?" when a field of the rule's events has such a name. */
static void suggest_field(struct checker *c, const struct filter_node *field, struct buf *out)
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

static void describe(struct checker *c, const struct filter_node *field)
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

static void check_field(void *arg, const struct filter_node *field)
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

struct binder {
	const struct filter *filter;
	struct filter_rule *rule;
	struct event *event;
	struct arena *memory; /* of the bound tree */
	struct arena *stay;   /* of what a program points to */
};

static struct filter_bound *new_bound(struct binder *b, enum bound_kind kind,
				      const struct filter_node *node)
{
	struct filter_bound *t = arena_alloc(b->memory, sizeof(*t));

	if (t) {
		t->kind = kind;
		t->node = node;
	}
	return t;
}

static struct filter_bound *constant(struct binder *b, bool value)
{
	return new_bound(b, value ? BOUND_TRUE : BOUND_FALSE, NULL);
}

/* ---- names ----------------------------------------------------------------------------- */

enum name_kind {
	NAME_UNKNOWN,
	NAME_FIELD,
	NAME_COMM,
	NAME_CPU,
};

struct name {
	enum name_kind kind;
	const struct event_field *field;
};

static struct name resolve(struct binder *b, const struct filter_node *n)
{
	struct name name = {0};

	if (event_ready(b->event) != EVENT_BROKEN)
		name.field = event_field_find(b->event, n->text);
	if (name.field)
		name.kind = NAME_FIELD;
	else if (rule_means_comm(b->filter, b->rule, n->text))
		name.kind = NAME_COMM;
	else if (rule_means_cpu(b->filter, b->rule, n->text))
		name.kind = NAME_CPU;
	return name;
}

static bool holds_text(struct name name)
{
	return name.kind == NAME_COMM ||
	       (name.kind == NAME_FIELD && name.field->flags & FIELD_STRING);
}

/* A field's size if it can be read as a number; 0 otherwise, which reads as 0. */
static uint8_t number_size(const struct event_field *f)
{
	return f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8 ? (uint8_t)f->size : 0;
}

/* ---- texts ----------------------------------------------------------------------------- */

static struct text_source text_of(struct name name, bool function)
{
	struct text_source s = {.kind = TEXT_COMM, .field = name.field};

	if (name.kind != NAME_FIELD)
		return s;
	if (holds_text(name) && !function)
		s.kind = TEXT_FIELD;
	else if (function || name.field->flags & (FIELD_POINTER | FIELD_LONG))
		s.kind = TEXT_FUNCTION;
	else
		s.kind = TEXT_HEX;
	return s;
}

static struct text_source literal(const char *text, size_t len)
{
	return (struct text_source){.kind = TEXT_LITERAL, .literal = text, .len = len};
}

static struct filter_bound *text_test(struct binder *b, const struct filter_node *n,
				      enum filter_op op, struct text_source left,
				      struct text_source right)
{
	struct filter_bound *t = new_bound(b, BOUND_TEST, n);
	struct text_test *text = arena_alloc(b->stay, sizeof(*text));

	if (!t || !text)
		return NULL;
	*text = (struct text_test){.op = op,
				   .left = left,
				   .right = right,
				   .pattern = op >= FILTER_OP_REGEX ? n->pattern : NULL};
	t->test.kind = TEST_TEXT;
	t->test.text = text;
	return t;
}

/* FIELD with a text or a pattern in quotes. */
static struct filter_bound *bind_text(struct binder *b, const struct filter_node *n,
				      struct name left)
{
	if (left.kind == NAME_UNKNOWN || left.kind == NAME_CPU)
		return constant(b, false);
	return text_test(b, n, n->op, text_of(left, n->left->function),
			 literal(n->right->text, n->right->text_len));
}

/* ---- numbers --------------------------------------------------------------------------- */

struct steps {
	struct filter_step *at;
	size_t n, cap;
};

enum outcome {
	DONE,
	UNKNOWN_FIELD,
	NO_MEMORY,
};

static enum outcome push(struct steps *steps, struct filter_step step)
{
	return vec_add(steps, &step) ? DONE : NO_MEMORY;
}

static enum outcome push_field(struct binder *b, const struct filter_node *n, struct steps *steps)
{
	struct name name = resolve(b, n);

	if (name.kind == NAME_CPU)
		return push(steps, (struct filter_step){.op = FILTER_OP_LOAD_CPU});
	if (name.kind != NAME_FIELD)
		return UNKNOWN_FIELD;
	return push(steps, (struct filter_step){.op = FILTER_OP_LOAD_FIELD,
						.size = number_size(name.field),
						.is_signed = name.field->flags & FIELD_SIGNED,
						.offset = name.field->offset});
}

static enum outcome push_number(struct steps *steps, uint64_t number)
{
	return push(steps, (struct filter_step){.op = FILTER_OP_LOAD_NUMBER, .number = number});
}

static enum outcome push_value(struct binder *b, const struct filter_node *n, struct steps *steps)
{
	enum outcome ret;

	switch (n->kind) {
	case NODE_NUMBER: return push_number(steps, n->number);
	case NODE_FIELD: return push_field(b, n, steps);
	case NODE_COMPLEMENT:
		ret = push_value(b, n->left, steps);
		ret = ret ? ret : push_number(steps, UINT64_MAX);
		return ret ? ret : push(steps, (struct filter_step){.op = FILTER_OP_BIT_XOR});
	case NODE_ARITHMETIC:
		ret = push_value(b, n->left, steps);
		ret = ret ? ret : push_value(b, n->right, steps);
		return ret ? ret : push(steps, (struct filter_step){.op = (uint8_t)n->op});
	default: return UNKNOWN_FIELD;
	}
}

/* Whether a value may be read as signed: all except a field of 64 unsigned bits. */
static bool may_be_negative(struct binder *b, const struct filter_node *n)
{
	struct name name;

	switch (n->kind) {
	case NODE_NUMBER: return n->negative || n->number <= INT64_MAX;
	case NODE_COMPLEMENT: return may_be_negative(b, n->left);
	case NODE_ARITHMETIC: return may_be_negative(b, n->left) && may_be_negative(b, n->right);
	case NODE_FIELD:
		name = resolve(b, n);
		return name.kind != NAME_FIELD || name.field->size < 8 ||
		       name.field->flags & FIELD_SIGNED;
	default: return false;
	}
}

/*
 * trace-cmd compares unsigned. With a number that is not negative this stays so, except where
 * unsigned the answer would always be the same.
 */
static bool compares_signed(struct binder *b, enum filter_op op, const struct filter_node *left,
			    const struct filter_node *right)
{
	if (left->kind == NODE_FIELD && right->kind == NODE_NUMBER && !right->negative &&
	    (right->number || (op != FILTER_OP_LT && op != FILTER_OP_GE)))
		return false;
	return may_be_negative(b, left) && may_be_negative(b, right);
}

/* A calculation of left and right that is compared; right may be NULL for 0. */
static struct filter_bound *bind_values(struct binder *b, const struct filter_node *n,
					enum filter_op op, const struct filter_node *left,
					const struct filter_node *right)
{
	struct steps steps = {0};
	struct filter_bound *t = NULL;
	struct filter_values *values;
	enum outcome ret;

	ret = push_value(b, left, &steps);
	if (!ret)
		ret = right ? push_value(b, right, &steps) : push_number(&steps, 0);
	if (ret == UNKNOWN_FIELD)
		t = constant(b, false);
	if (ret)
		goto out;
	values = arena_alloc(b->stay, sizeof(*values) + steps.n * sizeof(struct filter_step));
	t = values ? new_bound(b, BOUND_TEST, n) : NULL;
	if (!t)
		goto out;
	values->n = steps.n;
	memcpy(values->steps, steps.at, steps.n * sizeof(struct filter_step));
	t->test.kind = TEST_VALUES;
	t->test.op = (uint8_t)op;
	t->test.signed_compare = right && compares_signed(b, op, left, right);
	t->test.values = values;
out:
	vec_free(&steps);
	return t;
}

/* What a negative number looks like in a field that has no sign, as the kernel reads it. */
static uint64_t fit(const struct filter_node *number, enum filter_op op,
		    const struct event_field *f)
{
	uint8_t size = number_size(f);

	if (!number->negative || f->flags & FIELD_SIGNED || !size || size == 8 ||
	    (op != FILTER_OP_EQ && op != FILTER_OP_NE))
		return number->number;
	return number->number & (((uint64_t)1 << (8 * size)) - 1);
}

/* The most frequent test: a field or the CPU with a number. */
static struct filter_bound *bind_simple(struct binder *b, const struct filter_node *n,
					enum filter_op op, const struct filter_node *left,
					const struct filter_node *number)
{
	struct name name = resolve(b, left);
	struct filter_bound *t;

	if (name.kind == NAME_UNKNOWN || name.kind == NAME_COMM)
		return constant(b, false);
	t = new_bound(b, BOUND_TEST, n);
	if (!t)
		return NULL;
	t->test.op = (uint8_t)op;
	t->test.number = number ? number->number : 0;
	if (number && op != FILTER_OP_BIT_AND)
		t->test.signed_compare = compares_signed(b, op, left, number);
	if (name.kind == NAME_CPU) {
		t->test.kind = TEST_CPU;
		return t;
	}
	t->test.kind = TEST_FIELD;
	t->test.size = number_size(name.field);
	t->test.is_signed = name.field->flags & FIELD_SIGNED;
	t->test.offset = name.field->offset;
	if (number)
		t->test.number = fit(number, op, name.field);
	return t;
}

/* ---- terms ----------------------------------------------------------------------------- */

static struct filter_bound *bind_two_fields(struct binder *b, const struct filter_node *n,
					    struct name left)
{
	struct name right = resolve(b, n->right);
	bool equality = n->op == FILTER_OP_EQ || n->op == FILTER_OP_NE;

	if (equality && holds_text(left) && holds_text(right))
		return text_test(b, n, n->op, text_of(left, false), text_of(right, false));
	/* The kernel takes texts without quotes. */
	if (equality && holds_text(left) && right.kind == NAME_UNKNOWN)
		return text_test(b, n, n->op, text_of(left, false),
				 literal(n->right->text, n->right->text_len));
	return bind_values(b, n, n->op, n->left, n->right);
}

static struct filter_bound *bind_char(struct binder *b, const struct filter_node *n,
				      struct name left)
{
	struct filter_node number = {.kind = NODE_NUMBER,
				     .number = (unsigned char)n->right->text[0]};

	if (holds_text(left))
		return bind_text(b, n, left);
	return bind_simple(b, n, n->op, n->left, &number);
}

static struct filter_bound *bind_compare(struct binder *b, const struct filter_node *n)
{
	struct name left = {0};

	if (n->left->kind != NODE_FIELD)
		return bind_values(b, n, n->op, n->left, n->right);
	left = resolve(b, n->left);
	if (n->right->kind == NODE_TEXT) {
		bool is_char =
			n->right->single && n->right->text_len == 1 && n->op < FILTER_OP_REGEX;

		return is_char ? bind_char(b, n, left) : bind_text(b, n, left);
	}
	if (n->right->kind == NODE_FIELD)
		return bind_two_fields(b, n, left);
	if (n->right->kind == NODE_NUMBER)
		return bind_simple(b, n, n->op, n->left, n->right);
	return bind_values(b, n, n->op, n->left, n->right);
}

/* A value that stands for itself is true when it is not 0, a text when it is not empty. */
static struct filter_bound *bind_truth(struct binder *b, const struct filter_node *n)
{
	if (n->kind == NODE_NUMBER)
		return constant(b, n->number);
	if (n->kind == NODE_FIELD) {
		struct name name = resolve(b, n);

		return holds_text(name)
			       ? text_test(b, n, FILTER_OP_NE, text_of(name, false), literal("", 0))
			       : bind_simple(b, n, FILTER_OP_NE, n, NULL);
	}
	if (n->kind == NODE_ARITHMETIC && n->op == FILTER_OP_BIT_AND &&
	    n->left->kind == NODE_FIELD && n->right->kind == NODE_NUMBER)
		return bind_simple(b, n, FILTER_OP_BIT_AND, n->left, n->right);
	return bind_values(b, n, FILTER_OP_NE, n, NULL);
}

static struct filter_bound *bind_term(struct binder *b, const struct filter_node *n);

static struct filter_bound *bind_not(struct binder *b, const struct filter_node *n)
{
	struct filter_bound *inner = bind_term(b, n->left), *t;

	if (!inner)
		return NULL;
	if (inner->kind <= BOUND_TRUE)
		return constant(b, inner->kind == BOUND_FALSE);
	t = new_bound(b, BOUND_NOT, n);
	if (!t)
		return NULL;
	t->items = arena_array(b->memory, 1, sizeof(struct filter_bound *));
	if (!t->items)
		return NULL;
	t->items[0] = inner;
	t->n = 1;
	return t;
}

/* Appends a term to a chain that so far says `chain` and returns what it says then. */
static struct filter_bound *chain_add(struct filter_bound *chain, enum filter_op op,
				      struct filter_bound *term)
{
	/* The constant that decides, whatever the other side says. */
	enum bound_kind decides = op == FILTER_OP_AND ? BOUND_FALSE : BOUND_TRUE;

	if (chain->n && term->kind <= BOUND_TRUE) {
		if (term->kind == decides) {
			chain->n = 0;
			chain->kind = decides;
		}
		return chain;
	}
	if (!chain->n && chain->kind <= BOUND_TRUE) {
		if (chain->kind == decides)
			return chain;
		if (term->kind <= BOUND_TRUE) {
			chain->kind = term->kind;
			return chain;
		}
	}
	chain->kind = BOUND_CHAIN;
	chain->items[chain->n] = term;
	chain->ops[chain->n++] = op;
	return chain;
}

static struct filter_bound *new_chain(struct binder *b, const struct filter_node *n, size_t most)
{
	struct filter_bound *t = new_bound(b, BOUND_CHAIN, n);

	if (!t)
		return NULL;
	t->items = arena_array(b->memory, most, sizeof(struct filter_bound *));
	t->ops = arena_array(b->memory, most, sizeof(enum filter_op));
	return t->items && t->ops ? t : NULL;
}

static struct filter_bound *bind_chain(struct binder *b, const struct filter_node *n)
{
	struct filter_bound *chain = new_chain(b, n, n->n);

	if (!chain)
		return NULL;
	/* From "false or …" on, every term is added in the same way. */
	chain->kind = BOUND_FALSE;
	for (size_t i = 0; i < n->n; i++) {
		struct filter_bound *term = bind_term(b, n->items[i]);

		if (!term)
			return NULL;
		chain = chain_add(chain, i ? n->ops[i] : FILTER_OP_OR, term);
	}
	return chain->n == 1 ? chain->items[0] : chain;
}

static struct filter_bound *bind_term(struct binder *b, const struct filter_node *n)
{
	switch (n->kind) {
	case NODE_CHAIN: return bind_chain(b, n);
	case NODE_NOT: return bind_not(b, n);
	case NODE_COMPARE: return bind_compare(b, n);
	default: return bind_truth(b, n);
	}
}

struct filter_bound *filter_bind(const struct filter *f, struct filter_rule *rule, struct event *e,
				 struct arena *memory)
{
	struct binder b = {
		.filter = f, .rule = rule, .event = e, .memory = memory, .stay = &f->rules->arena};

	return rule->expr ? bind_term(&b, rule->expr) : constant(&b, true);
}

struct filter_bound *filter_bind_all(const struct filter *f, struct event *e, struct arena *memory)
{
	struct binder b = {.memory = memory};
	struct filter_bound *all = new_chain(&b, NULL, f->rules->list.n);

	if (!all)
		return NULL;
	all->kind = BOUND_FALSE;
	vec_each (rule, &f->rules->list) {
		struct filter_bound *t;

		if (!rule_is_about(rule, e->index))
			continue;
		t = filter_bind(f, rule, e, memory);
		if (!t)
			return NULL;
		all = chain_add(all, FILTER_OP_OR, t);
	}
	return all;
}
