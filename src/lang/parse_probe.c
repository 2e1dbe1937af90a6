// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Probes: a list of attach points, a predicate, a body.
 *
 * An attach point goes up to a blank, '{' or ','; quotes and backslashes keep those from ending it,
 * and colons from dividing it. A '/' is part of it only in kinds that name files, since everywhere
 * else it begins the predicate.
 */
#include "lang/parser.h"

static const char *const with_paths[] = {
	"uprobe",     "u", "uretprobe",	      "ur", "usdt", "U", "iter", "it",
	"watchpoint", "w", "asyncwatchpoint", "aw",
};

enum { MAX_PARTS = sizeof(((struct attach_point *)0)->parts) / sizeof(char *) };

struct point_reader {
	struct parser *p;
	struct lex_input *in;
	const char *text; /* of the source */
	struct buf out;	  /* parts, each with a NUL */
	unsigned int nr_parts;
};

bool parse_has_paths(const char *kind, size_t len)
{
	for (size_t i = 0; i < sizeof(with_paths) / sizeof(*with_paths); i++)
		if (strlen(with_paths[i]) == len && !memcmp(with_paths[i], kind, len))
			return true;
	return false;
}

/* Whether a '/' at the reader's position belongs to the attach point. */
static bool slash_belongs(const struct point_reader *r)
{
	return r->nr_parts > 1 && parse_has_paths(r->out.data, strlen(r->out.data));
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Copies a quoted text. False when it has no end. */
static bool read_quoted(struct point_reader *r)
{
	const uint32_t from = r->in->pos++;

	while (r->in->pos < r->in->end && r->text[r->in->pos] != '\n') {
		char c = r->text[r->in->pos++];

		if (c == '"')
			return true;
		if (c == '\\' && r->in->pos < r->in->end && r->text[r->in->pos] != '\n')
			c = r->text[r->in->pos++];
		if (c)
			buf_putc(&r->out, c);
	}
	lex_error(&r->p->lex, (struct span){from, r->in->pos}, "this string has no end");
	return false;
}

static void put_char(struct point_reader *r, char c)
{
	r->nr_parts += c == ':';
	buf_putc(&r->out, c == ':' ? '\0' : c);
}

/* Puts a parameter in the place of $1; one that was not given is nothing. */
static bool read_param(struct point_reader *r)
{
	const struct parse_options *opt = r->p->lex.opt;
	uint32_t to = r->in->pos + 1;
	size_t number = 0, have = 0;

	while (to < r->in->end && lex_is_digit(r->text[to]) && number < 10000)
		number = number * 10 + (size_t)(r->text[to++] - '0');
	if (!number || !opt || !opt->params)
		return false;
	while (opt->params[have] && have < number)
		have++;
	for (const char *s = have < number ? "" : opt->params[number - 1]; *s; s++)
		put_char(r, *s);
	r->in->pos = to;
	return true;
}

/* Passes blanks that stand around a colon, as in "kprobe : f". False when they end it all. */
static bool pass_blanks(struct point_reader *r)
{
	const bool behind = r->in->pos && r->text[r->in->pos - 1] == ':';
	uint32_t to = r->in->pos;

	while (to < r->in->end && is_blank(r->text[to]))
		to++;
	if (to == r->in->end || (r->text[to] != ':' && !behind))
		return false;
	r->in->pos = to;
	return true;
}

static bool read_parts(struct point_reader *r)
{
	r->nr_parts = 1;
	while (r->in->pos < r->in->end) {
		const char c = r->text[r->in->pos];

		if (is_blank(c)) {
			if (!pass_blanks(r))
				break;
			continue;
		}
		if (c == '{' || c == ',' || c == ';' || c == '}' || !c)
			break;
		if (c == '=' && r->nr_parts == 1)
			break;
		if (c == '/' && !slash_belongs(r))
			break;
		if (c == '"') {
			if (!read_quoted(r))
				return false;
			continue;
		}
		if (c == '$' && read_param(r))
			continue;
		r->in->pos++;
		if (c == '\\' && r->in->pos < r->in->end && r->text[r->in->pos] != '\n')
			buf_putc(&r->out, r->text[r->in->pos++]);
		else
			put_char(r, c);
	}
	buf_putc(&r->out, '\0');
	return true;
}

/* The parts and the whole of what has been read. */
static struct attach_point *make_point(struct point_reader *r, struct span at)
{
	struct parser *const p = r->p;
	struct attach_point *ap;
	const size_t len = r->out.len;
	char *parts, *text;

	if (len < 2 && r->nr_parts == 1) {
		const char c = at.from < r->in->end ? r->text[at.from] : '\0';

		if (c > ' ' && c < 0x7f)
			lex_error(&p->lex, (struct span){at.from, at.from + 1},
				  "expected a probe, not '%c'", c);
		else
			lex_error(&p->lex, at, "expected a probe");
		return NULL;
	}
	if (r->nr_parts > MAX_PARTS) {
		lex_error(&p->lex, at, "a probe has no more than %d parts", MAX_PARTS);
		return NULL;
	}
	ap = parse_alloc(p, sizeof(*ap));
	parts = parse_alloc(p, len);
	text = parse_alloc(p, len);
	if (!ap || !parts || !text)
		return NULL;
	memcpy(parts, r->out.data, len);
	memcpy(text, r->out.data, len);
	for (size_t i = 0; i + 1 < len; i++)
		if (!text[i])
			text[i] = ':';
	ap->at = at;
	ap->text = text;
	for (; ap->nr_parts < r->nr_parts; ap->nr_parts++) {
		ap->parts[ap->nr_parts] = parts;
		parts += strlen(parts) + 1;
	}
	return ap;
}

static uint32_t point_end(const struct point_reader *r, uint32_t from)
{
	uint32_t to = r->in->pos;

	while (to > from && is_blank(r->text[to - 1]))
		to--;
	return to;
}

static struct attach_point *read_point(struct parser *p)
{
	struct point_reader r = {.p = p};
	struct attach_point *ap = NULL;
	uint32_t from;

	if (lex_char(&p->lex) < 0) {
		parse_unexpected(p, "a probe");
		return NULL;
	}
	r.in = lex_top(&p->lex);
	r.text = p->source->text.data;
	r.in->line_start = false;
	from = r.in->pos;
	buf_init(&r.out, 1 << 16);
	if (read_parts(&r)) {
		if (buf_full(&r.out))
			lex_error(&p->lex, (struct span){from, from + 1}, "this probe is too long");
		else
			ap = make_point(&r, (struct span){from, point_end(&r, from)});
	}
	buf_free(&r.out);
	return ap;
}

/* [name=]probe */
static struct attach_point *parse_point(struct parser *p)
{
	struct attach_point *name = read_point(p), *ap;

	if (!name || lex_char(&p->lex) != '=')
		return name;
	lex_top(&p->lex)->pos++;
	ap = read_point(p);
	if (ap) {
		ap->name = name->text;
		ap->at.from = name->at.from;
	}
	return ap;
}

static bool parse_points(struct parser *p, struct attach_point **to)
{
	for (;;) {
		int c;

		*to = parse_point(p);
		if (!*to)
			return false;
		to = &(*to)->next;
		c = lex_char(&p->lex);
		if (c != ',')
			return true;
		lex_top(&p->lex)->pos++;
		c = lex_char(&p->lex);
		if (c == '{' || c == '/')
			return true;
	}
}

static bool parse_predicate(struct parser *p, struct probe_def *d)
{
	if (!parse_accept(p, '/'))
		return true;
	p->in_predicate = true;
	p->nesting = 0;
	d->predicate = parse_expr(p);
	p->in_predicate = false;
	return d->predicate && parse_expect(p, '/', "'/' at the end of the predicate");
}

/* Goes to the '{' of the body, if there is one before the next probe can begin. */
static void skip_to_body(struct parser *p)
{
	while (!parse_at(p, '{') && !parse_at(p, '}') && !parse_at(p, T_END))
		parse_next(p);
}

void parse_probe(struct parser *p)
{
	struct probe_def *d = parse_alloc(p, sizeof(*d));
	uint32_t from;

	if (!d)
		return;
	from = lex_top(&p->lex)->pos;
	if (!parse_points(p, &d->points) || !parse_predicate(p, d)) {
		skip_to_body(p);
	} else if (!parse_at(p, '{')) {
		parse_unexpected(p, d->predicate ? "'{' after the predicate"
						 : "'{', '/' or ',' after the probe");
		skip_to_body(p);
	}
	if (!parse_at(p, '{')) {
		/* Whatever it is, it is not met again. */
		parse_next(p);
		return;
	}
	for (struct attach_point *ap = d->points; ap; ap = ap->next)
		d->at = (struct span){from, ap->at.to};
	parse_block(p, &d->body, false);
	*p->probes_end = d;
	p->probes_end = &d->next;
}
