// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Format files:
 *
 *	name: sched_waking
 *	ID: 294
 *	format:
 *		field:unsigned short common_type;	offset:0;	size:2;	signed:0;
 *		…
 *
 *		field:char comm[16];	offset:8;	size:16;	signed:0;
 *		…
 *
 *	print fmt: "comm=%s …", REC->comm, …
 *
 * The common fields, an empty line, the event's own, an empty line. What cannot be read here makes
 * the event unusable (EVENT_BROKEN); a mistake after the fields only costs its print format.
 */
#include "event/format.h"

#include <limits.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/vec.h"
#include "event/expr.h"
#include "event/handler.h"
#include "event/plan.h"

/* ---- words ---- */

enum char_class {
	CLASS_NONE, /* not printable: nothing is read beyond it */
	CLASS_NEWLINE,
	CLASS_SPACE,
	CLASS_WORD,
	CLASS_CHAR,
	CLASS_STRING,
	CLASS_DELIM,
	CLASS_OP,
};

static enum char_class class_of(char c)
{
	if (c == '\n')
		return CLASS_NEWLINE;
	if (c == ' ' || (c >= '\t' && c <= '\r'))
		return CLASS_SPACE;
	if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_')
		return CLASS_WORD;
	if (c == '\'')
		return CLASS_CHAR;
	if (c == '"')
		return CLASS_STRING;
	if (c == '(' || c == ')' || c == ',')
		return CLASS_DELIM;
	return c > ' ' && c <= '~' ? CLASS_OP : CLASS_NONE;
}

static bool is_print(char c)
{
	return c >= ' ' && c <= '~';
}

/*
 * Where a quoted text that starts at p ends, NULL when it does not. The quote ends it unless a
 * backslash stands before, and so does any unprintable character but a line end.
 */
static const char *quoted_end(const char *p, const char *end, char quote)
{
	for (char before = quote; p < end; before = *p++) {
		if (*p <= 0)
			return NULL;
		if (before == '\\' || *p == '\n')
			continue;
		if (*p == quote || !is_print(*p))
			return p;
	}
	return NULL;
}

static struct format_token nothing(struct format_lexer *l)
{
	l->pos = l->end;
	return (struct format_token){TOKEN_END, "", 0};
}

/* Where the next piece of a string begins (after its quote) when one follows, or NULL. */
static const char *next_piece(const struct format_lexer *l, const char *p)
{
	while (p < l->end && (class_of(*p) == CLASS_SPACE || *p == '\n'))
		p++;
	return p < l->end && *p == '"' ? p + 1 : NULL;
}

/*
 * Walks over the pieces of a string from p, after the first quote, and copies them to `out` unless
 * that is NULL. Returns the place after the last quote, or NULL.
 */
static const char *walk_pieces(const struct format_lexer *l, const char *p, char *out, size_t *len)
{
	const char *end = NULL;

	*len = 0;
	while (p) {
		end = quoted_end(p, l->end, '"');
		if (!end)
			return NULL;
		if (out)
			memcpy(out + *len, p, (size_t)(end - p));
		*len += (size_t)(end - p);
		p = next_piece(l, ++end);
	}
	return end;
}

static struct format_token string(struct format_lexer *l)
{
	const char *start = l->pos + 1;
	struct format_token t = {TOKEN_STRING, start, 0};
	const char *after = walk_pieces(l, start, NULL, &t.len);

	if (!after)
		return nothing(l);
	if (start + t.len + 1 != after) {
		char *joined = l->arena ? arena_alloc(l->arena, t.len + 1) : NULL;

		if (!joined)
			return nothing(l);
		walk_pieces(l, start, joined, &t.len);
		t.text = joined;
	}
	l->pos = after;
	return t;
}

static struct format_token character(struct format_lexer *l)
{
	const char *start = l->pos + 1;
	const char *end = quoted_end(start, l->end, '\'');

	if (!end)
		return nothing(l);
	l->pos = end + 1;
	return (struct format_token){TOKEN_CHAR, start, (size_t)(end - start)};
}

static struct format_token slice(struct format_lexer *l, enum format_token_kind kind, size_t len)
{
	struct format_token t = {kind, l->pos, len};

	l->pos += len;
	return t;
}

static size_t op_len(const struct format_lexer *l)
{
	const char *p = l->pos;
	const char a = p[0];
	const char b = l->end - p > 1 ? p[1] : '\0';
	const char c = l->end - p > 2 ? p[2] : '\0';

	if (a == '-' && b == '>')
		return 2;
	if (strchr("-+|&<>", a) && a == b)
		return strchr("<>", a) && c == '=' ? 3 : 2;
	return strchr("-+|&<>!=", a) && b == '=' ? 2 : 1;
}

/*
 * Macros that old kernels forgot to expand in the formats of mac80211 stand for the strings they
 * were defined as.
 */
static struct format_token word(struct format_lexer *l)
{
	static const struct {
		const char *name, *text;
	} forgotten[] = {
		{"LOCAL_PR_FMT", "%s"},
		{"STA_PR_FMT", " sta:%pM"},
		{"VIF_PR_FMT", " vif:%p(%d)"},
	};
	const char *p = l->pos;
	struct format_token t;

	while (p < l->end && class_of(*p) == CLASS_WORD)
		p++;
	t = slice(l, TOKEN_WORD, (size_t)(p - l->pos));
	for (size_t i = 0; i < ARRAY_SIZE(forgotten); i++)
		if (token_is_word(&t, forgotten[i].name))
			return (struct format_token){TOKEN_STRING, forgotten[i].text,
						     strlen(forgotten[i].text)};
	return t;
}

struct format_token lexer_next(struct format_lexer *l)
{
	while (l->pos < l->end && class_of(*l->pos) == CLASS_SPACE)
		l->pos++;
	if (l->pos >= l->end)
		return nothing(l);
	switch (class_of(*l->pos)) {
	case CLASS_NEWLINE: return slice(l, TOKEN_NEWLINE, 1);
	case CLASS_DELIM: return slice(l, TOKEN_DELIM, 1);
	case CLASS_WORD: return word(l);
	case CLASS_STRING: return string(l);
	case CLASS_CHAR: return character(l);
	case CLASS_OP: return slice(l, TOKEN_OP, op_len(l));
	default: return nothing(l);
	}
}

struct format_token lexer_next_item(struct format_lexer *l)
{
	struct format_token t = lexer_next(l);

	while (t.kind == TOKEN_NEWLINE)
		t = lexer_next(l);
	return t;
}

/* A word's value as a number in C's notation, 0 when it is none; cut to 31 bits. */
static unsigned int token_number(const struct format_token *t)
{
	char digits[32];
	unsigned long long v;

	if (t->len >= sizeof(digits))
		return 0;
	memcpy(digits, t->text, t->len);
	digits[t->len] = '\0';
	v = strtoull(digits, NULL, 0);
	return v > INT_MAX ? INT_MAX : (unsigned int)v;
}

struct field_reader {
	struct event *event;
	struct format_lexer *lex;
	struct format_token tok;
	struct buf type; /* of the field being read, as far as it is known */
	vec_of(struct event_field) fields;
	const char *why;
};

static bool fail(struct field_reader *fr, const char *why)
{
	fr->why = why;
	return false;
}

static void next(struct field_reader *fr)
{
	fr->tok = lexer_next(fr->lex);
}

/* ---- the print format ---- */

/*
 * The last line of a format file: a string with conversions, and arguments separated by commas.
 *
 *	print fmt: "comm=%s pid=%d", REC->comm, REC->pid
 */

struct arguments {
	struct expr **at;
	size_t n, cap;
};

static bool add_argument(struct expr_parser *p, struct arguments *args, struct expr *e)
{
	return (args->n < PLAN_MAX_OPS && vec_add(args, &e)) ||
	       parser_fail(p, "too many arguments");
}

/* Keeps the line for people who want to read it. */
static bool keep_text(struct event *e, const struct format_lexer *l)
{
	const char *start = l->pos, *end = memchr(start, '\n', (size_t)(l->end - start));

	while (start < l->end && *start == ' ')
		start++;
	if (!end || end < start)
		end = l->end;
	e->print_fmt = arena_strndup(&e->events->arena, start, (size_t)(end - start));
	return e->print_fmt != NULL;
}

/* "print fmt:" and the string. Its pieces may be joined by macros. */
static bool read_format(struct expr_parser *p, struct buf *format)
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
 * The arguments after the first comma. If an argument ends with an operation, any mark that
 * follows it counts as the comma.
 */
static bool read_arguments(struct expr_parser *p, struct arguments *args)
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
static bool fields_as_arguments(struct expr_parser *p, struct arguments *args)
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

static bool read_print_format(struct expr_parser *p, struct buf *format, struct arguments *args)
{
	if (!read_format(p, format))
		return false;
	if (p->tok.kind != TOKEN_END) {
		if (!token_is_delim(&p->tok, ','))
			return parser_fail(p, "no comma after the print format");
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

/* The print format: fills e->plan or e->why. */
static void print_format_parse(struct event *e)
{
	struct expr_parser p = {
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

/* ---- the head ---------------------------------------------------------------------------- */

/* "WORD:", where the word may stand on a later line. */
static bool expect_label(struct format_lexer *l, const char *word)
{
	struct format_token t = lexer_next_item(l);

	if (!token_is_word(&t, word))
		return false;
	t = lexer_next(l);
	return token_is_op(&t, ":");
}

bool format_head(struct format_lexer *l, struct format_token *name, int *id)
{
	struct format_token t;

	if (!expect_label(l, "name"))
		return false;
	*name = lexer_next(l);
	if (name->kind != TOKEN_WORD || !expect_label(l, "ID"))
		return false;
	t = lexer_next(l);
	*id = (int)token_number(&t);
	return t.kind == TOKEN_WORD;
}

/* ---- one field --------------------------------------------------------------------------- */

/* "LABEL:NUMBER;" */
static bool read_number(struct field_reader *fr, const char *label, uint32_t *value)
{
	next(fr);
	if (!token_is_word(&fr->tok, label))
		return fail(fr, "a field without its place");
	next(fr);
	if (!token_is_op(&fr->tok, ":"))
		return fail(fr, "a field without its place");
	next(fr);
	if (fr->tok.kind != TOKEN_WORD)
		return fail(fr, "a number is missing");
	*value = token_number(&fr->tok);
	next(fr);
	return token_is_op(&fr->tok, ";") || fail(fr, "a ; is missing");
}

static void add_to_type(struct field_reader *fr, const char *space, const struct format_token *t)
{
	if (fr->type.len)
		buf_puts(&fr->type, space);
	buf_put(&fr->type, t->text, t->len);
}

/* "((user))" after __attribute__ is part of the type; `last` is the attribute's name. */
static void read_attribute(struct field_reader *fr, struct format_token *last)
{
	const char *space = " ";
	unsigned int depth = 1;

	add_to_type(fr, " ", last);
	buf_putc(&fr->type, '(');
	while (depth) {
		next(fr);
		if (fr->tok.kind == TOKEN_END)
			return;
		if (fr->tok.kind == TOKEN_DELIM) {
			depth += token_is_delim(&fr->tok, '(');
			depth -= token_is_delim(&fr->tok, ')');
			space = "";
		}
		/* The last parenthesis is added as the word before the name would be. */
		if (depth)
			add_to_type(fr, space, &fr->tok);
		if (fr->tok.kind != TOKEN_DELIM)
			space = " ";
	}
	*last = fr->tok;
}

/* The type and the name; the last word before the mark that ends them is the name. */
static bool read_type(struct field_reader *fr, struct event_field *f, struct format_token *name)
{
	const bool ftrace = !strcmp(fr->event->system, "ftrace");
	const char *space = " ";

	next(fr);
	if (fr->tok.kind != TOKEN_WORD)
		return fail(fr, "a field without a type");
	*name = fr->tok;
	for (next(fr);; next(fr)) {
		bool star = token_is_op(&fr->tok, "*");

		if (fr->tok.kind == TOKEN_WORD || star || (ftrace && token_is_op(&fr->tok, "."))) {
			if (star)
				f->flags |= FIELD_POINTER;
			add_to_type(fr, space, name);
			*name = fr->tok;
			space = " ";
		} else if (token_is_delim(&fr->tok, '(') && fr->type.len &&
			   token_is_word(name, "__attribute__")) {
			read_attribute(fr, name);
			space = "";
		} else {
			break;
		}
	}
	if (!fr->type.len)
		return fail(fr, "a field without a type");
	return fr->tok.kind == TOKEN_OP || fail(fr, "a field without a name");
}

/* The size of an element when the type tells; what the kernel stores in dynamic arrays. */
static uint32_t type_size(const struct format_token *t)
{
	static const struct {
		const char *name;
		uint32_t size;
	} types[] = {{"u8", 1},	 {"u16", 2}, {"u32", 4}, {"u64", 8}, {"s8", 1},
		     {"s16", 2}, {"s32", 4}, {"s64", 8}, {"char", 1}};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (token_is_word(t, types[i].name))
			return types[i].size;
	return 0;
}

/*
 * The brackets of an array, after the name ("char comm[16]") or after the type
 * ("__data_loc char[] name"). The last word in them is the number of elements.
 */
static bool read_brackets(struct field_reader *fr, struct event_field *f, struct format_token *name,
			  uint32_t *dynamic_size)
{
	struct buf brackets;
	enum format_token_kind before = TOKEN_OP;

	buf_init(&brackets, FORMAT_MAX_SIZE);
	buf_putc(&brackets, '[');
	for (next(fr); !token_is_op(&fr->tok, "]") && fr->tok.kind != TOKEN_END; next(fr)) {
		if (before == TOKEN_WORD && fr->tok.kind == TOKEN_WORD)
			buf_putc(&brackets, ' ');
		before = fr->tok.kind;
		buf_put(&brackets, fr->tok.text, fr->tok.len);
		f->array_len = token_number(&fr->tok);
	}
	buf_putc(&brackets, ']');
	f->flags |= FIELD_ARRAY;
	next(fr);
	if (fr->tok.kind == TOKEN_WORD) {
		add_to_type(fr, " ", name);
		*dynamic_size = type_size(name);
		*name = fr->tok;
		next(fr);
	}
	buf_put(&fr->type, brackets.data, brackets.len);
	buf_free(&brackets);
	return true;
}

static bool type_has(const char *type, const char *word)
{
	return strstr(type, word) != NULL;
}

static uint32_t flags_by_type(const char *type, uint32_t flags)
{
	bool bytes = type_has(type, "char") || type_has(type, "u8") || type_has(type, "s8");

	if (flags & FIELD_ARRAY && bytes)
		flags |= FIELD_STRING;
	if (!strncmp(type, "__data_loc", 10))
		flags |= FIELD_DYNAMIC;
	if (!strncmp(type, "__rel_loc", 9))
		flags |= FIELD_DYNAMIC | FIELD_RELATIVE;
	if (type_has(type, "long"))
		flags |= FIELD_LONG;
	return flags;
}

static uint32_t element_size(const struct event_field *f, uint32_t dynamic_size, uint32_t long_size)
{
	if (!(f->flags & (FIELD_ARRAY | FIELD_DYNAMIC)))
		return f->size;
	if (f->array_len)
		return f->size / f->array_len;
	if (f->flags & FIELD_DYNAMIC)
		return dynamic_size;
	if (f->flags & FIELD_STRING)
		return 1;
	return f->flags & FIELD_LONG ? long_size : 0;
}

/* "signed:N;" is missing in the formats of old kernels. */
static bool read_sign(struct field_reader *fr, struct event_field *f)
{
	uint32_t is_signed;
	struct format_lexer here = *fr->lex;

	next(fr);
	if (fr->tok.kind == TOKEN_NEWLINE)
		return true;
	*fr->lex = here;
	if (!read_number(fr, "signed", &is_signed))
		return false;
	if (is_signed)
		f->flags |= FIELD_SIGNED;
	next(fr);
	return fr->tok.kind == TOKEN_NEWLINE || fail(fr, "unexpected text after a field");
}

/* A field, after the word "field". */
static bool read_field(struct field_reader *fr, struct event_field *f)
{
	struct events *ev = fr->event->events;
	uint32_t dynamic_size = 0;
	struct format_token name;

	buf_reset(&fr->type);
	next(fr);
	if (!strcmp(fr->event->system, "ftrace") && token_is_word(&fr->tok, "special"))
		next(fr);
	if (!token_is_op(&fr->tok, ":"))
		return fail(fr, "a field without a :");
	if (!read_type(fr, f, &name))
		return false;
	if (token_is_op(&fr->tok, "[") && !read_brackets(fr, f, &name, &dynamic_size))
		return false;
	if (!token_is_op(&fr->tok, ";"))
		return fail(fr, "a ; is missing");
	if (!read_number(fr, "offset", &f->offset) || !read_number(fr, "size", &f->size))
		return false;
	if (!read_sign(fr, f))
		return false;

	f->name = arena_strndup(&ev->arena, name.text, name.len);
	f->type = arena_strndup(&ev->arena, fr->type.data, fr->type.len);
	if (!f->name || !f->type || buf_full(&fr->type))
		return fail(fr, "the format is too big");
	f->flags = flags_by_type(f->type, f->flags);
	/* Before there were lengths, a location of two bytes was always a string's. */
	if (f->flags & FIELD_DYNAMIC && f->size == 2)
		f->flags |= FIELD_STRING | FIELD_ARRAY;
	f->elem_size = element_size(f, dynamic_size, ev->long_size);
	return true;
}

/* Fields up to an empty line. */
static bool read_fields(struct field_reader *fr)
{
	for (next(fr); fr->tok.kind != TOKEN_NEWLINE; next(fr)) {
		struct event_field *f;

		if (!token_is_word(&fr->tok, "field"))
			return fail(fr, "a line that is no field");
		f = fr->fields.n < FORMAT_MAX_FIELDS ? vec_push(&fr->fields) : NULL;
		if (!f)
			return fail(fr, "too many fields");
		if (!read_field(fr, f))
			return false;
	}
	return true;
}

/* ---- the event --------------------------------------------------------------------------- */

static bool read_all_fields(struct field_reader *fr)
{
	struct event *e = fr->event;

	if (!expect_label(fr->lex, "format"))
		return fail(fr, "no fields");
	next(fr);
	if (fr->tok.kind != TOKEN_NEWLINE)
		return fail(fr, "no fields");
	if (!read_fields(fr))
		return false;
	e->nr_common = (uint32_t)fr->fields.n;
	if (!read_fields(fr))
		return false;
	e->nr_fields = (uint32_t)fr->fields.n;
	e->fields = arena_copy(&e->events->arena, fr->fields.at, e->nr_fields, sizeof(*e->fields));
	return e->fields || fail(fr, "the format is too big");
}

bool format_read_fields(struct event *e)
{
	struct format_lexer lex = {e->format, e->format + e->format_len, &e->events->arena};
	struct field_reader fr = {.event = e, .lex = &lex};
	struct format_token name;
	bool ok;
	int id;

	if (e->print_format)
		return true;
	if (e->format_len > FORMAT_MAX_SIZE || !format_head(&lex, &name, &id)) {
		e->why = "the format is too big";
		return false;
	}
	buf_init(&fr.type, FORMAT_MAX_SIZE);
	ok = read_all_fields(&fr);
	buf_free(&fr.type);
	vec_free(&fr.fields);
	if (ok) {
		e->print_format = lex.pos;
	} else {
		e->nr_fields = e->nr_common = 0;
		e->why = fr.why;
	}
	return ok;
}

static enum event_state parse(struct event *e)
{
	if (!format_read_fields(e))
		return EVENT_BROKEN;
	print_format_parse(e);
	return e->plan ? EVENT_READY : EVENT_FIELDS_ONLY;
}

static void bind_handler(struct event *e)
{
	const struct event_handler *h = handler_find(e->system, e->name);

	if (!h)
		return;
	e->handler_data = handler_bind(h, e);
	if (e->handler_data)
		e->handler = h;
}

enum event_state event_parse(struct event *e)
{
	pthread_mutex_lock(&e->events->lock);
	/* A handler that is being bound reads fields: for it, the event is parsed already. */
	if (e->parsed == EVENT_UNPARSED) {
		e->parsed = parse(e);
		if (e->parsed != EVENT_BROKEN)
			bind_handler(e);
		__atomic_store_n(&e->state, (int)e->parsed, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&e->events->lock);
	return e->parsed;
}

static const struct event_field *field_among(const struct event *e, uint32_t from, uint32_t to,
					     const char *name)
{
	for (uint32_t i = from; i < to; i++)
		if (!strcmp(e->fields[i].name, name))
			return &e->fields[i];
	return NULL;
}

const struct event_field *event_field_named(const struct event *e, const char *name)
{
	return field_among(e, 0, e->nr_fields, name);
}

const struct event_field *event_own_field_named(const struct event *e, const char *name)
{
	return field_among(e, e->nr_common, e->nr_fields, name);
}

const struct event_field *event_common_named(const struct event *e, const char *name)
{
	return field_among(e, 0, e->nr_common, name);
}

const struct event_field *event_field_find(struct event *e, const char *name)
{
	event_ready(e);
	return event_field_named(e, name);
}

const struct event_field *event_common_find(struct event *e, const char *name)
{
	event_ready(e);
	return event_common_named(e, name);
}
