// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The last line of a format file: a string with conversions, and arguments separated by commas.
 *
 *	print fmt: "comm=%s pid=%d", REC->comm, REC->pid
 */
#include "event/format.h"

#include "base/vec.h"
#include "event/expr.h"
#include "event/plan.h"

struct arguments {
	struct expr **at;
	size_t n, cap;
};

static bool add_argument(struct parser *p, struct arguments *args, struct expr *e)
{
	struct expr **slot = args->n < PLAN_MAX_OPS ? vec_push(args) : NULL;

	if (!slot)
		return parser_fail(p, "too many arguments");
	*slot = e;
	return true;
}

/* Keeps the line for people who want to read it. */
static bool keep_text(struct event *e, const struct lexer *l)
{
	const char *start = l->pos, *end = memchr(start, '\n', (size_t)(l->end - start));

	while (start < l->end && *start == ' ')
		start++;
	if (!end || end < start)
		end = l->end;
	e->print_fmt = arena_strndup(&e->events->arena, start, (size_t)(end - start));
	return e->print_fmt != NULL;
}

/* "print fmt:" and the string, whose pieces may be joined by macros. */
static bool read_format(struct parser *p, struct buf *format)
{
	parser_next_item(p);
	if (!token_is_word(&p->tok, "print"))
		return parser_fail(p, "no print format");
	parser_next(p);
	if (!token_is_word(&p->tok, "fmt"))
		return parser_fail(p, "no print format");
	parser_next(p);
	if (!token_is_op(&p->tok, ":"))
		return parser_fail(p, "no print format");
	if (!keep_text(p->event, &p->lex))
		return parser_fail(p, "the print format is too big");
	parser_next(p);
	if (p->tok.kind != TOKEN_STRING)
		return parser_fail(p, "the print format is no string");
	for (; p->tok.kind == TOKEN_STRING; parser_next_item(p))
		buf_put(format, p->tok.text, p->tok.len);
	return !buf_full(format) || parser_fail(p, "the print format is too big");
}

/*
 * The arguments behind the first comma. Where an argument ends with an operation, whatever mark
 * stands behind it is taken for the comma.
 */
static bool read_arguments(struct parser *p, struct arguments *args)
{
	for (;;) {
		struct expr *e = expr_new(p, EXPR_NULL);

		if (!e || !parse_operand(p, e) || !add_argument(p, args, e))
			return false;
		if (p->tok.kind == TOKEN_OP) {
			if (!parse_operator(p, e))
				return false;
			expr_fold(p, e);
			if (p->tok.kind == TOKEN_NEWLINE)
				parser_next_item(p);
			if (p->tok.kind == TOKEN_END)
				return true;
		} else if (!token_is_delim(&p->tok, ',')) {
			return true;
		}
	}
}

/* ftrace's own events once had no arguments: their fields, in order, were meant. */
static bool fields_as_arguments(struct parser *p, struct arguments *args)
{
	for (uint32_t i = p->event->nr_common; i < p->event->nr_fields; i++) {
		struct expr *e = expr_new(p, EXPR_FIELD);

		if (!e || !add_argument(p, args, e))
			return false;
		e->field.name = p->event->fields[i].name;
		e->field.at = &p->event->fields[i];
	}
	return true;
}

static bool read_print_format(struct parser *p, struct buf *format, struct arguments *args)
{
	if (!read_format(p, format))
		return false;
	if (p->tok.kind != TOKEN_END) {
		if (!token_is_delim(&p->tok, ','))
			return parser_fail(p, "no comma behind the print format");
		if (!read_arguments(p, args))
			return false;
	}
	if (!args->n && !strcmp(p->event->system, "ftrace"))
		return fields_as_arguments(p, args);
	return true;
}

/* trace_printk() in its binary form is printed by another format than its own. */
static bool make_printk_plan(struct event *e)
{
	struct event_plan *plan = arena_alloc(&e->events->arena, sizeof(*plan));

	if (!plan)
		return false;
	plan->printk = true;
	plan->ip = event_own_field_named(e, "ip");
	plan->fmt = event_own_field_named(e, "fmt");
	plan->buf = event_own_field_named(e, "buf");
	if (!plan->ip || !plan->fmt || !plan->buf)
		return false;
	e->plan = plan;
	return true;
}

void print_format_parse(struct event *e)
{
	struct parser p = {
		.events = e->events,
		.event = e,
		.lex = {e->print_format, e->format + e->format_len, &e->events->arena},
	};
	struct arguments args = {0};
	struct buf format;
	bool ok;

	buf_init(&format, FORMAT_MAX_SIZE);
	ok = read_print_format(&p, &format, &args);
	e->why = p.why;
	if (ok && !strcmp(e->system, "ftrace") && !strcmp(e->name, "bprint"))
		ok = make_printk_plan(e);
	else if (ok)
		ok = plan_compile(e, buf_str(&format), args.at, args.n, &e->why);
	if (ok)
		e->plan->plugin_func = p.plugin_func;
	else if (!e->why)
		e->why = "the print format makes no sense";
	e->beyond = !ok && p.unknown_func;
	vec_free(&args);
	buf_free(&format);
}
