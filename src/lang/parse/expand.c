// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Replaces names by their definitions, as C does: arguments are replaced first and put into the
 * body, then the result is scanned again. A definition that is being replaced is left alone there.
 *
 * The number of replacements and of bytes is limited for the whole script, not for one use:
 * definitions of nothing that use each other would otherwise run forever and produce nothing.
 */
#include "lang/parse/preprocess.h"

#include <limits.h>

#include "lang/parse/lexer.h"

enum { MAX_ALIASES = 8 };

struct text {
	const char *p;
	size_t len;
};

struct args {
	struct text raw[PP_MAX_PARAMS];
	struct text full[PP_MAX_PARAMS]; /* with everything replaced; points into `content` */
	unsigned int n;
	struct buf content;
};

struct expander {
	struct lexer *l;
	struct span at; /* the use in the script */
	unsigned int depth;
	bool failed;
};

static void expand(struct expander *x, struct text in, struct buf *out);

static void fail(struct expander *x, const char *what, const struct define *d)
{
	if (!x->failed)
		lex_error(x->l, x->at, "%s %s", d->name, what);
	x->failed = true;
}

/* The length of a name, a number, a comment, a string or a single character. */
static size_t piece_length(struct text t)
{
	const uint32_t len = (uint32_t)t.len, pass = lex_skip(t.p, 0, len);
	uint32_t n = *t.p == '$' || *t.p == '@';

	if (pass)
		return pass;
	while (n < len && lex_is_name(t.p[n]))
		n++;
	return n ? n : 1;
}

static bool is_comment(struct text t)
{
	return *t.p == '/' && t.len > 1 && (t.p[1] == '/' || t.p[1] == '*');
}

static struct text trim(struct text t)
{
	while (t.len && lex_is_blank(*t.p)) {
		t.p++;
		t.len--;
	}
	while (t.len && lex_is_blank(t.p[t.len - 1]))
		t.len--;
	return t;
}

/*
 * Reads the arguments at the beginning of `in`, if it begins with a '('. Returns their length, 0 if
 * there are none. Arguments beyond PP_MAX_PARAMS are counted, but not stored.
 */
static size_t read_args(struct pp *pp, const struct define *d, struct text in, struct args *a)
{
	/* From this one on, all arguments are one. */
	const unsigned int rest = d->is_variadic ? d->nr_params - 1 : UINT_MAX;
	size_t i = 0, from, depth = 0;

	while (i < in.len &&
	       (lex_is_blank(in.p[i]) || is_comment((struct text){in.p + i, in.len - i})))
		i += piece_length((struct text){in.p + i, in.len - i});
	if (i >= in.len || in.p[i] != '(')
		return 0;
	for (from = ++i; i < in.len; i += piece_length((struct text){in.p + i, in.len - i})) {
		const char c = in.p[i];

		if (depth == 0 && (c == ')' || (c == ',' && a->n < rest))) {
			if (a->n < PP_MAX_PARAMS)
				a->raw[a->n] = trim((struct text){in.p + from, i - from});
			a->n++;
			from = i + 1;
			if (c == ')')
				return i + 1;
		} else if (c == '(' || c == '[' || c == '{') {
			depth++;
		} else if (depth && (c == ')' || c == ']' || c == '}')) {
			depth--;
		}
	}
	pp->work += in.len;
	return 0;
}

static int param_index(const struct define *d, struct text name)
{
	for (unsigned int i = 0; i < d->nr_params; i++)
		if (strlen(d->params[i]) == name.len && !memcmp(d->params[i], name.p, name.len))
			return (int)i;
	return -1;
}

static void put_quoted(struct buf *out, struct text t)
{
	buf_putc(out, '"');
	for (size_t i = 0; i < t.len; i++) {
		if (t.p[i] == '"' || t.p[i] == '\\')
			buf_putc(out, '\\');
		buf_putc(out, t.p[i] == '\n' ? ' ' : t.p[i]);
	}
	buf_putc(out, '"');
}

static void drop_spaces(struct buf *out)
{
	while (out->len && lex_is_blank(out->data[out->len - 1]))
		out->len--;
}

/* Appends the body with the arguments in it; handles # and ##. */
static void substitute(const struct define *d, const struct args *a, struct buf *out)
{
	struct text t = {d->body, d->body_len};
	bool paste = false;

	while (t.len && !buf_full(out)) {
		size_t n = piece_length(t);
		int param = param_index(d, (struct text){t.p, n});

		if (t.len > 1 && t.p[0] == '#' && t.p[1] == '#') {
			drop_spaces(out);
			paste = true;
			n = 2;
		} else if (*t.p == '#' && t.len > 1 && d->is_function) {
			struct text rest = trim((struct text){t.p + 1, t.len - 1});
			const size_t name = rest.len ? piece_length(rest) : 0;

			param = param_index(d, (struct text){rest.p, name});
			if (param >= 0) {
				put_quoted(out, a->raw[param]);
				n = (size_t)(rest.p - t.p) + name;
			} else {
				buf_putc(out, '#');
			}
		} else if (is_comment(t)) {
			buf_putc(out, ' ');
		} else if (lex_is_blank(*t.p)) {
			if (!paste)
				buf_putc(out, ' ');
		} else if (param >= 0) {
			const struct text *v = paste ? &a->raw[param] : &a->full[param];

			buf_put(out, v->p, v->len);
			paste = false;
		} else if (*t.p == '\\' && t.len > 1 && t.p[1] == '\n') {
			n = 2;
		} else {
			buf_put(out, t.p, n);
			paste = false;
		}
		t = (struct text){t.p + n, t.len - n};
	}
}

static void expand_args(struct expander *x, struct args *a)
{
	size_t ends[PP_MAX_PARAMS], from = 0;

	for (unsigned int i = 0; i < a->n; i++) {
		expand(x, a->raw[i], &a->content);
		ends[i] = a->content.len;
	}
	for (unsigned int i = 0; i < a->n; i++) {
		a->full[i] = (struct text){a->content.data + from, ends[i] - from};
		from = ends[i];
	}
}

/* Replaces one use. Its arguments are at the beginning of `rest`; returns their length. */
static size_t replace(struct expander *x, struct define *d, struct text rest, struct buf *out)
{
	struct pp *const pp = &x->l->pp;
	struct args a = {0};
	size_t taken = 0;
	struct buf body;

	if (pp->uses++ >= (x->l->headers ? PP_MAX_HEADER_USES : PP_MAX_USES) ||
	    pp->work > PP_MAX_WORK || x->depth >= PP_MAX_DEPTH) {
		fail(x, "becomes too much", d);
		x->l->stop = !x->l->headers;
		return 0;
	}
	if (d->is_function) {
		taken = read_args(pp, d, rest, &a);
		if (a.n == 1 && !d->nr_params && !a.raw[0].len)
			a.n = 0;
		if (d->is_variadic && a.n + 1 == d->nr_params)
			a.raw[a.n++] = (struct text){"", 0};
		if (a.n != d->nr_params) {
			fail(x, "is used with the wrong number of arguments", d);
			return taken;
		}
	}
	pp->work += d->body_len + taken;
	x->depth++;
	buf_init(&a.content, PP_MAX_EXPANSION);
	buf_init(&body, PP_MAX_EXPANSION);
	expand_args(x, &a);
	substitute(d, &a, &body);
	d->active = true;
	expand(x, (struct text){body.data, body.len}, out);
	d->active = false;
	x->depth--;
	if (buf_full(&a.content) || buf_full(&body) || buf_full(out))
		fail(x, "becomes too much", d);
	buf_free(&a.content);
	buf_free(&body);
	return taken;
}

/* Whether arguments follow. If there was too much work already, replace() reports that instead. */
static bool has_args(struct lexer *l, const struct define *d, struct text rest)
{
	return l->pp.work > PP_MAX_WORK || read_args(&l->pp, d, rest, &(struct args){0}) > 0;
}

/*
 * The definition to use for a name. "#define F G" makes F(x) a use of G, which has parameters.
 * NULL: it stays as it is.
 */
static struct define *definition(struct lexer *l, const char *name, size_t len, struct text rest)
{
	struct define *first = pp_find(l, name, len), *d = first;

	for (unsigned int i = 0; d && !d->is_function && !d->active && i < MAX_ALIASES; i++) {
		const struct text body = trim((struct text){d->body, d->body_len});

		d = body.len && lex_is_name_start(*body.p) && piece_length(body) == body.len
			    ? pp_find(l, body.p, body.len)
			    : NULL;
	}
	if (!d || !d->is_function)
		d = first;
	if (d && (d->active || (d->is_function && !has_args(l, d, rest))))
		return d == first ? NULL : first;
	return d;
}

static void expand(struct expander *x, struct text in, struct buf *out)
{
	x->l->pp.work += in.len;
	while (in.len && !x->failed && !buf_full(out)) {
		size_t n = piece_length(in);
		struct define *d = NULL;
		const struct text rest = {in.p + n, in.len - n};

		if (lex_is_name_start(*in.p))
			d = definition(x->l, in.p, n, rest);
		if (d)
			n += replace(x, d, rest, out);
		else if (is_comment(in))
			buf_putc(out, ' ');
		else
			buf_put(out, in.p, n);
		in = (struct text){in.p + n, in.len - n};
	}
}

bool pp_expand_text(struct lexer *l, struct span at, const char *text, size_t len, struct buf *out)
{
	struct expander x = {.l = l, .at = at};

	expand(&x, (struct text){text, len}, out);
	return !x.failed && !buf_full(out);
}

static bool has_directive(const char *text, size_t len)
{
	for (const char *p = text, *end = text + len; (p = memchr(p, '\n', (size_t)(end - p)));) {
		while (p < end && lex_is_blank(*p))
			p++;
		if (p < end && *p == '#')
			return true;
	}
	return false;
}

/* Copies a part of the current input without its comments, and executes its directives. */
static bool copy_plain(struct lexer *l, struct span part, struct buf *out)
{
	const unsigned int outer = l->nr_in;

	if (!lex_push(l, part, false, part))
		return false;
	while (l->nr_in > outer && !l->stop) {
		struct lex_input *in = lex_top(l);
		const char *const text = l->source->text.data;
		const struct text rest = {text + in->pos, in->end - in->pos};

		if (in->pos >= in->end) {
			pp_end_of_file(l, in->conds);
			l->nr_in--;
		} else if (*rest.p == '#' && in->line_start) {
			pp_directive(l, in);
		} else {
			const size_t n = piece_length(rest);

			in->line_start =
				*rest.p == '\n' || (in->line_start && lex_is_blank(*rest.p));
			buf_put(out, is_comment(rest) ? " " : rest.p, is_comment(rest) ? 1 : n);
			in->pos += (uint32_t)n;
		}
	}
	return !l->stop && !buf_full(out);
}

/* Replaces a use whose arguments have directives in them, as those of struct_group() may. */
static void replace_plain(struct expander *x, struct define *d, struct span args, struct buf *out)
{
	struct buf plain;

	buf_init(&plain, PP_MAX_EXPANSION);
	if (copy_plain(x->l, args, &plain))
		replace(x, d, (struct text){plain.data, plain.len}, out);
	else
		x->failed = true;
	buf_free(&plain);
}

/*
 * Replaces the name at the input's position and appends what it becomes, nothing after an error.
 * NULL: it is not defined.
 */
static struct define *expand_name(struct lexer *l, struct lex_input *in, struct span *use,
				  bool *failed, struct buf *out)
{
	const struct text at = {l->source->text.data + in->pos, in->end - in->pos};
	const size_t n = piece_length(at), before = out->len;
	const struct text rest = {at.p + n, at.len - n};
	struct define *d = definition(l, at.p, n, rest);
	struct expander x = {.l = l};
	size_t args = 0;

	if (!d)
		return NULL;
	if (d->is_function && l->pp.work <= PP_MAX_WORK)
		args = read_args(&l->pp, d, rest, &(struct args){0});
	*use = (struct span){in->pos, in->pos + (uint32_t)(n + args)};
	x.at = *use;
	if (l->copy && has_directive(rest.p, args))
		replace_plain(&x, d, (struct span){use->to - (uint32_t)args, use->to}, out);
	else
		replace(&x, d, rest, out);
	in->pos = use->to;
	*failed = x.failed;
	if (x.failed)
		out->len = before;
	return d;
}

bool pp_expand(struct lexer *l, struct lex_input *in)
{
	const struct define *d;
	struct span use;
	struct buf out;
	bool failed;

	buf_init(&out, PP_MAX_EXPANSION);
	d = expand_name(l, in, &use, &failed, &out);
	if (d && out.len) {
		if (!source_add_expansion(l->source, d->name, d->at, out.data, out.len, use)) {
			lex_no_memory(l);
		} else {
			const uint32_t end = (uint32_t)l->source->text.len - 1;

			lex_push(l, (struct span){end - (uint32_t)out.len, end}, true, use);
		}
	}
	buf_free(&out);
	return d != NULL;
}

/* ---- whole files ---- */

/* Copies what is at the input's position: a name, a number, a text, a comment, a character. */
static void copy_piece(struct lexer *l, struct lex_input *in, struct buf *out)
{
	const struct text rest = {l->source->text.data + in->pos, in->end - in->pos};
	bool failed = false;
	struct span use;
	size_t n;

	if (is_comment(rest)) {
		in->pos += (uint32_t)piece_length(rest);
		buf_putc(out, ' ');
		return;
	}
	if (lex_is_name_start(*rest.p)) {
		const size_t before = out->len;

		/* Keeps replaced text separate from what is before and after it. */
		buf_putc(out, ' ');
		if (expand_name(l, in, &use, &failed, out)) {
			/* Such a text makes the whole declaration unusable. */
			buf_puts(out, failed ? "\"\"" : " ");
			return;
		}
		if (!buf_full(out))
			out->len = before;
	}
	n = piece_length(rest);
	buf_put(out, rest.p, n);
	in->pos += (uint32_t)n;
}

static void copy_step(struct lexer *l, struct lex_input *in, struct buf *out)
{
	const char *const text = l->source->text.data;
	const char c = text[in->pos];

	if (c == '\n') {
		in->line_start = true;
		in->pos++;
		buf_putc(out, '\n');
	} else if (c == '\\' && in->end - in->pos > 1 && text[in->pos + 1] == '\n') {
		in->pos += 2;
	} else if (c == '#' && in->line_start) {
		pp_directive(l, in);
	} else if (lex_is_blank(c)) {
		in->pos++;
		buf_putc(out, ' ');
	} else {
		in->line_start &= is_comment((struct text){text + in->pos, in->end - in->pos});
		copy_piece(l, in, out);
	}
}

/* Names the file of the current input, if it is not that of the step before. */
static void mark_file(struct lexer *l, struct buf *out, const char **last)
{
	const struct source_part *part = source_part_of(l->source, lex_top(l)->pos);
	const char *name = part ? part->name : "";

	if (name == *last)
		return;
	*last = name;
	buf_printf(out, "\n%s %s\n", l->headers && headers_is_kernel(l->headers, name) ? "##" : "#",
		   name);
}

void pp_copy_c(struct lexer *l, unsigned int first, struct buf *out)
{
	const bool in_c = l->in_c;
	const char *name = NULL;
	unsigned int depth = 0;

	/* The caller knows the name of a single file. */
	if (!l->headers)
		name = source_part_of(l->source, l->in[first - 1].pos)->name;

	l->in_c = true;
	l->copy = out;
	while (l->nr_in >= first && !l->stop && !buf_full(out)) {
		struct lex_input *in = lex_top(l);

		if (in->pos >= in->end) {
			pp_end_of_file(l, in->conds);
			l->nr_in--;
			continue;
		}
		if (depth != l->nr_in)
			mark_file(l, out, &name);
		depth = l->nr_in;
		copy_step(l, in, out);
	}
	/* If it did not fit, the rest is not read. */
	if (l->nr_in >= first) {
		l->pp.nr_conds = l->in[first - 1].conds;
		l->nr_in = first - 1;
	}
	l->in_c = in_c;
	l->copy = NULL;
}
