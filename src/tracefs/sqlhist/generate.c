// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A checked query as lines for tracefs. A histogram is one line:
 *
 *	hist:keys=call_site.sym:vals=bytes_req if bytes_req > 256
 *
 * A synthetic event is three lines: its declaration, a histogram of the first event that stores
 * values by the fields to be matched, and a histogram of the second event that looks them up:
 *
 *	s:lat pid_t pid; u64 delta;
 *	hist:keys=pid:lat__1=pid,lat__2=common_timestamp
 *	hist:keys=next_pid:lat__pid=$lat__1,lat__delta=common_timestamp-$lat__2:
 *		onmatch(sched.sched_waking).lat($lat__pid,$lat__delta)
 *
 * Variables are the event's name, two underscores and a column's name (second event) or a number
 * (first one): names of different events and of both kinds never meet.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/suggest.h"
#include "tracefs/sqlhist/tree.h"

#define LINE_LIMIT (256u << 10)
#define PATH_CAP   300
#define MAX_TERMS  4 /* of a calculation: the kernel's limit */
#define TREE_LIMIT (16u << 20)

/* ---- fields and conditions ---- */

/* Appends a field's name as histograms have it. */
static void sql_put_field(struct buf *out, const struct sql_field *f)
{
	static const char *const names[] = {
		[PSEUDO_TIMESTAMP] = "common_timestamp",
		[PSEUDO_TIMESTAMP_USECS] = "common_timestamp.usecs",
		[PSEUDO_STACKTRACE] = "stacktrace", /* old and new kernels know it by this name */
		[PSEUDO_COMM] = "COMM",
		[PSEUDO_CPU] = "common_cpu",
	};

	buf_puts(out, f->pseudo ? names[f->pseudo] : f->plain);
}

static const char *const operators[] = {
	[WORD_EQ] = "==", [WORD_NE] = "!=", [WORD_LT] = "<",   [WORD_GT] = ">",
	[WORD_LE] = "<=", [WORD_GE] = ">=", [WORD_BITS] = "&", [WORD_GLOB] = "~",
};

static void put_compare(struct buf *out, const struct sql_cond *c)
{
	/* In filters, pseudo fields have other names. */
	if (c->field.pseudo == PSEUDO_CPU)
		buf_puts(out, "CPU");
	else
		sql_put_field(out, &c->field);
	buf_printf(out, " %s ", operators[c->op]);
	if (c->value.word == WORD_TEXT) {
		char quote = strchr(c->value.text, '"') ? '\'' : '"';

		buf_putc(out, quote);
		buf_puts(out, c->value.text);
		buf_putc(out, quote);
	} else {
		buf_puts(out, c->negative ? "-" : "");
		buf_u64(out, c->value.number);
	}
}

static void sql_put_filter(struct buf *out, const struct sql_cond *c);

static void put_part(struct buf *out, const struct sql_cond *part, enum sql_cond_kind within)
{
	const bool nested =
		part->kind != COND_COMPARE && part->kind != COND_NOT && part->kind != within;

	buf_puts(out, nested ? "(" : "");
	sql_put_filter(out, part);
	buf_puts(out, nested ? ")" : "");
}

/* Appends a condition as a filter of the kernel. */
static void sql_put_filter(struct buf *out, const struct sql_cond *c)
{
	switch (c->kind) {
	case COND_COMPARE: put_compare(out, c); break;
	case COND_NOT:
		buf_puts(out, "!(");
		sql_put_filter(out, c->left);
		buf_putc(out, ')');
		break;
	case COND_AND:
	case COND_OR:
		put_part(out, c->left, c->kind);
		buf_puts(out, c->kind == COND_AND ? " && " : " || ");
		put_part(out, c->right, c->kind);
		break;
	}
}

/* ---- declarations ---- */

/* The field whose type a calculation gets: in the kernel, the first one. */
static const struct sql_field *first_field(const struct sql_expr *e)
{
	while (e->kind != SQL_EXPR_FIELD && e->kind != SQL_EXPR_NUMBER)
		e = e->left;
	return e->kind == SQL_EXPR_FIELD ? &e->field : NULL;
}

static void put_text_type(struct buf *out, const struct event_field *f, const char *name)
{
	if (f && !(f->flags & FIELD_DYNAMIC) && f->size)
		buf_printf(out, "char %s[%u]", name, f->size);
	else
		buf_printf(out, "char %s[]", name);
}

static void put_number_type(struct buf *out, const struct event_field *f, const char *name)
{
	/* The kernel prints these two types specially. */
	static const char *const kept[] = {"pid_t", "gfp_t"};
	const bool is_signed = f->flags & FIELD_SIGNED && !(f->flags & FIELD_POINTER);

	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		if (strcmp(f->type, kept[i]) == 0) {
			buf_printf(out, "%s %s", kept[i], name);
			return;
		}
	}
	buf_printf(out, "%c%u %s", is_signed ? 's' : 'u', f->size * 8, name);
}

/* Appends a column as a field of a synthetic event: its type and name. */
static int sql_put_declaration(struct sql_statement *q, struct buf *out, const struct sql_column *c)
{
	const struct sql_field *f = first_field(c->expr);

	if (!f || f->pseudo == PSEUDO_TIMESTAMP || f->pseudo == PSEUDO_TIMESTAMP_USECS)
		buf_printf(out, "u64 %s", c->name);
	else if (f->pseudo == PSEUDO_CPU)
		buf_printf(out, "u32 %s", c->name);
	else if (f->type == SQL_TYPE_STACK)
		buf_printf(out, "unsigned long %s[]", c->name);
	else if (f->type == SQL_TYPE_TEXT)
		put_text_type(out, f->field, c->name);
	else if (!f->field)
		return sql_error(q, f->pos, f->len,
				 "the type of '%.80s' is not known without its event's format",
				 f->name);
	else if (f->field->size != 1 && f->field->size != 2 && f->field->size != 4 &&
		 f->field->size != 8)
		return sql_error(q, f->pos, f->len,
				 "'%.80s' has %u bytes, which is no number's size", f->name,
				 f->field->size);
	else
		put_number_type(out, f->field, c->name);
	buf_putc(out, ';');
	return 0;
}

/* The variables of the first event. */
struct remembered {
	struct remembered *next;
	const struct sql_expr *expr;
};

struct generator {
	struct sql_statement *q;
	const struct sql_options *opt;
	struct plan *plan;
	struct remembered *remembered;
};

static int add_line(struct generator *g, const char *instance, const char *file, struct buf *text,
		    const char *back)
{
	if (!buf_full(text) && plan_add_line(g->plan, instance, file, buf_str(text), back))
		return 0;
	return g->q->rc = error_set(g->q->err, -ENOMEM, "out of memory");
}

/* Adds a trigger to one of the events. */
static int add_trigger(struct generator *g, enum sql_side side, const char *instance,
		       struct buf *text)
{
	const struct sql_event *e = &g->q->event[side];
	char path[PATH_CAP];
	struct buf back;
	int n, rc;

	if (g->q->where_of[side]) {
		buf_puts(text, " if ");
		sql_put_filter(text, g->q->where_of[side]);
	}
	n = snprintf(path, sizeof(path), "events/%s/%s/trigger", e->system, e->event);
	if (n < 0 || (size_t)n >= sizeof(path))
		return sql_error(g->q, e->pos, e->len, "the name is too long");
	buf_init(&back, LINE_LIMIT);
	buf_putc(&back, '!');
	buf_put(&back, text->data, text->len);
	rc = add_line(g, instance, path, text, buf_str(&back));
	buf_free(&back);
	return rc;
}

/* ---- histograms ---- */

static void put_key(struct buf *out, const struct sql_column *c)
{
	static const char *const suffixes[] = {
		[CAST_HEX] = ".hex",
		[CAST_SYM] = ".sym",
		[CAST_SYM_OFFSET] = ".sym-offset",
		[CAST_SYSCALL] = ".syscall",
		[CAST_EXECNAME] = ".execname",
		[CAST_LOG] = ".log2",
		[CAST_BUCKETS] = ".buckets=",
		[CAST_COUNTER] = "",
	};
	const struct sql_field *f = &c->expr->field;

	/* A task's name cannot be a key, but its pid, shown with the name, can. */
	if (f->pseudo == PSEUDO_COMM)
		buf_puts(out, "common_pid.execname");
	else
		sql_put_field(out, f);
	if (c->cast)
		buf_puts(out, suffixes[c->cast]);
	if (c->cast == CAST_BUCKETS)
		buf_u64(out, c->buckets);
}

static void put_list(struct buf *out, const struct sql_statement *q, const char *head,
		     bool counters)
{
	for (const struct sql_column *c = q->columns; c; c = c->next) {
		if ((c->cast == CAST_COUNTER) != counters)
			continue;
		buf_puts(out, head);
		put_key(out, c);
		head = ",";
	}
}

static int make_histogram(struct generator *g)
{
	struct buf line;
	int rc;

	if (g->opt->when != SQL_ALWAYS || g->opt->snapshot || g->opt->trace || g->opt->nr_save)
		return error_set(g->q->err, -EINVAL,
				 "a histogram has no actions: they need a query with JOIN");
	if (g->opt->make_instance && !plan_add(g->plan, PLAN_INSTANCE, g->opt->instance, "", ""))
		return error_set(g->q->err, -ENOMEM, "out of memory");
	buf_init(&line, LINE_LIMIT);
	put_list(&line, g->q, "hist:keys=", false);
	put_list(&line, g->q, ":vals=", true);
	rc = add_trigger(g, SIDE_FROM, g->opt->instance, &line);
	buf_free(&line);
	return rc;
}

/* ---- calculations ---- */

static bool same_expr(const struct sql_expr *a, const struct sql_expr *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == SQL_EXPR_NUMBER)
		return a->number == b->number;
	if (a->kind == SQL_EXPR_FIELD)
		return a->field.side == b->field.side && a->field.pseudo == b->field.pseudo &&
		       (a->field.pseudo || strcmp(a->field.plain, b->field.plain) == 0);
	return a->op == b->op && same_expr(a->left, b->left) && same_expr(a->right, b->right);
}

/* The number of the first event's variable for an expression, which is made when there is none. */
static unsigned int remember(struct generator *g, const struct sql_expr *e)
{
	struct remembered **r = &g->remembered;
	unsigned int n = 1;

	for (; *r; r = &(*r)->next, n++)
		if (same_expr((*r)->expr, e))
			return n;
	*r = sql_alloc(g->q, sizeof(**r));
	if (*r)
		(*r)->expr = e;
	return n;
}

static int too_much(struct generator *g, const struct sql_expr *e)
{
	return sql_error(g->q, e->pos, e->len,
			 "this is more than the kernel can calculate: it takes sums of up to %d "
			 "fields and products",
			 MAX_TERMS);
}

/*
 * Writes an expression for the kernel, without parentheses, because nested sums do not need them.
 * In expressions of the second event, fields of the first event are variables.
 */
struct expr_writer {
	struct generator *g;
	struct buf *out;
	enum sql_side at;
	unsigned int terms;
};

static int put_expr(struct expr_writer *w, const struct sql_expr *e, bool negated)
{
	const bool minus = e->kind == SQL_EXPR_SUM && (e->op == '-') != negated;

	switch (e->kind) {
	case SQL_EXPR_FIELD:
		w->terms++;
		if (w->at == SIDE_JOIN && e->field.side == SIDE_FROM)
			buf_printf(w->out, "$%s__%u", w->g->opt->name, remember(w->g, e));
		else
			sql_put_field(w->out, &e->field);
		break;
	case SQL_EXPR_NUMBER:
		w->terms++;
		buf_u64(w->out, e->number);
		break;
	case SQL_EXPR_SUM:
		if (put_expr(w, e->left, negated) < 0)
			return w->g->q->rc;
		buf_putc(w->out, minus ? '-' : '+');
		return put_expr(w, e->right, minus);
	case SQL_EXPR_PRODUCT:
		if (e->left->kind == SQL_EXPR_SUM || e->right->kind == SQL_EXPR_SUM ||
		    e->right->kind == SQL_EXPR_PRODUCT)
			return too_much(w->g, e);
		if (put_expr(w, e->left, false) < 0)
			return w->g->q->rc;
		buf_putc(w->out, e->op);
		return put_expr(w, e->right, false);
	}
	return w->terms > MAX_TERMS ? too_much(w->g, e) : w->g->q->rc;
}

static int put_value(struct generator *g, struct buf *out, const struct sql_expr *e,
		     enum sql_side at)
{
	struct expr_writer w = {.g = g, .out = out, .at = at};

	return put_expr(&w, e, false);
}

/* ---- synthetic events ---- */

static int declare(struct generator *g)
{
	const char *name = g->opt->name;
	struct buf line, back;
	int rc = 0;

	buf_init(&line, LINE_LIMIT);
	buf_init(&back, LINE_LIMIT);
	buf_printf(&line, "s:%s", name);
	for (const struct sql_column *c = g->q->columns; c && rc == 0; c = c->next) {
		buf_putc(&line, ' ');
		rc = sql_put_declaration(g->q, &line, c);
	}
	buf_printf(&back, "-:synthetic/%s", name);
	if (rc == 0)
		rc = add_line(g, "", "dynamic_events", &line, buf_str(&back));
	buf_free(&back);
	buf_free(&line);
	return rc;
}

static void put_keys(struct buf *out, const struct sql_statement *q, enum sql_side side)
{
	const char *head = "hist:keys=";

	for (const struct sql_match *m = q->matches; m; m = m->next) {
		buf_puts(out, head);
		sql_put_field(out, &m->side[side]);
		head = ",";
	}
}

/*
 * Appends the columns as variables of the second event. Expressions of only the first event are
 * calculated there.
 */
static int put_columns(struct generator *g, struct buf *out)
{
	char head = ':';

	for (const struct sql_column *c = g->q->columns; c && g->q->rc == 0; c = c->next) {
		buf_printf(out, "%c%s__%s=", head, g->opt->name, c->name);
		if (!sql_expr_has(c->expr, SIDE_JOIN))
			buf_printf(out, "$%s__%u", g->opt->name, remember(g, c->expr));
		else
			put_value(g, out, c->expr, SIDE_JOIN);
		head = ',';
	}
	return g->q->rc;
}

static int put_remembered(struct generator *g, struct buf *out)
{
	unsigned int n = 1;

	for (const struct remembered *r = g->remembered; r && g->q->rc == 0; r = r->next, n++) {
		buf_printf(out, "%c%s__%u=", n == 1 ? ':' : ',', g->opt->name, n);
		put_value(g, out, r->expr, SIDE_FROM);
	}
	return g->q->rc;
}

/* ---- actions ---- */

/* ":onmatch(sched.sched_waking)" or ":onmax($lat__delta)". */
static void put_handler(const struct generator *g, struct buf *out,
			const struct sql_column *watched)
{
	const struct sql_event *from = &g->q->event[SIDE_FROM];

	if (!watched)
		buf_printf(out, ":onmatch(%s.%s).", from->system, from->event);
	else
		buf_printf(out, ":%s($%s__%s).", g->opt->when == SQL_CHANGE ? "onchange" : "onmax",
			   g->opt->name, watched->name);
}

/* The column that -m or -c names. */
static int find_watched(const struct generator *g, const struct sql_column **watched)
{
	const char *name = g->opt->column ? g->opt->column : "";
	const struct sql_column *c;
	struct suggest near;
	const char *best;

	name += *name == '$';
	near = suggest_for(name, strlen(name));
	for (c = g->q->columns; c; c = c->next) {
		if (strcmp(c->name, name) == 0)
			break;
		suggest_try(&near, c->name);
	}
	best = suggest_best(&near);
	if (!c)
		return error_set(g->q->err, -EINVAL, "'%.80s' is no column of the query%s%.80s%s",
				 name, best ? "; did you mean '" : "", best ? best : "",
				 best ? "'?" : "");
	if (sql_column_field(c) && sql_column_field(c)->type != SQL_TYPE_NUMBER &&
	    sql_column_field(c)->type != SQL_TYPE_EITHER)
		return error_set(g->q->err, -EINVAL,
				 "'%.80s' is no number: it has no maximum and no change", name);
	*watched = c;
	return 0;
}

static int check_saved(const struct generator *g)
{
	struct event *type = g->q->event[SIDE_JOIN].type;

	for (size_t i = 0; i < g->opt->nr_save; i++) {
		const char *name = g->opt->save[i];
		struct suggest near = suggest_for(name, strlen(name));
		const char *best;

		if (type ? event_field_find(type, name) != NULL : sql_is_word(name))
			continue;
		for (uint32_t k = 0; type && k < type->nr_fields; k++)
			suggest_try(&near, type->fields[k].name);
		best = suggest_best(&near);
		return error_set(g->q->err, -EINVAL, "%.80s has no field '%.80s' to save%s%.80s%s",
				 g->q->event[SIDE_JOIN].event, name, best ? "; did you mean '" : "",
				 best ? best : "", best ? "'?" : "");
	}
	return 0;
}

static int put_actions(const struct generator *g, struct buf *out)
{
	const struct sql_options *opt = g->opt;
	const struct sql_column *watched = NULL;
	char head = '(';

	if (opt->when != SQL_ALWAYS && find_watched(g, &watched) < 0)
		return -EINVAL;
	if (opt->when == SQL_ALWAYS && (opt->snapshot || opt->nr_save))
		return error_set(
			g->q->err, -EINVAL,
			"a snapshot or saved fields need to know when: at a new maximum or a "
			"change of a column");
	if (opt->nr_save) {
		if (check_saved(g) < 0)
			return -EINVAL;
		put_handler(g, out, watched);
		buf_puts(out, "save");
		for (size_t i = 0; i < opt->nr_save; i++)
			buf_printf(out, "%c%s", i ? ',' : '(', opt->save[i]);
		buf_putc(out, ')');
	}
	/* Before the snapshot, so that the snapshot contains the event. */
	if (opt->trace || (!opt->snapshot && !opt->nr_save)) {
		put_handler(g, out, watched);
		buf_puts(out, opt->name);
		for (const struct sql_column *c = g->q->columns; c; c = c->next, head = ',')
			buf_printf(out, "%c$%s__%s", head, opt->name, c->name);
		buf_putc(out, ')');
	}
	if (opt->snapshot) {
		put_handler(g, out, watched);
		buf_puts(out, "snapshot()");
	}
	return 0;
}

static int make_event(struct generator *g)
{
	struct buf first, second;
	int rc;

	if (!g->opt->name || !sql_is_word(g->opt->name))
		return error_set(g->q->err, -EINVAL,
				 "'%.80s' is no name for an event: letters, digits and '_'",
				 g->opt->name ? g->opt->name : "");
	buf_init(&first, LINE_LIMIT);
	buf_init(&second, LINE_LIMIT);
	put_keys(&first, g->q, SIDE_FROM);
	put_keys(&second, g->q, SIDE_JOIN);
	rc = put_columns(g, &second);
	if (rc == 0)
		rc = put_actions(g, &second);
	if (rc == 0)
		rc = put_remembered(g, &first);
	if (rc == 0)
		rc = declare(g);
	if (rc == 0)
		rc = add_trigger(g, SIDE_FROM, "", &first);
	if (rc == 0)
		rc = add_trigger(g, SIDE_JOIN, "", &second);
	buf_free(&second);
	buf_free(&first);
	return rc;
}

static int sql_generate(struct sql_statement *q, const struct sql_options *opt, struct plan *plan)
{
	struct generator g = {.q = q, .opt = opt, .plan = plan};

	return q->joined ? make_event(&g) : make_histogram(&g);
}

int sql_plan(const char *query, const struct sql_options *opt, const struct sql_schema *schema,
	     struct plan *plan, struct sql_mistake *mistake, struct spur_error *err)
{
	struct sql_statement q = {
		.text = query, .len = strlen(query), .mistake = mistake, .err = err};
	int rc;

	*mistake = (struct sql_mistake){0};
	if (q.len > SQL_MAX_QUERY)
		return error_set(err, -EINVAL, "a query of %zu bytes is too long", q.len);
	arena_init(&q.arena, TREE_LIMIT);
	rc = sql_parse(&q);
	if (rc == 0)
		rc = sql_check(&q, schema);
	if (rc == 0)
		rc = sql_generate(&q, opt, plan);
	arena_free(&q.arena);
	return rc;
}
