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

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
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
	while (t.len && is_space(*t.p)) {
		t.p++;
		t.len--;
	}
	while (t.len && is_space(t.p[t.len - 1]))
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

	while (i < in.len && (is_space(in.p[i]) || is_comment((struct text){in.p + i, in.len - i})))
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
	while (out->len && is_space(out->data[out->len - 1]))
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
		} else if (is_space(*t.p)) {
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

	if (pp->uses++ >= PP_MAX_USES || pp->work > PP_MAX_WORK || x->depth >= PP_MAX_DEPTH) {
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

static void expand(struct expander *x, struct text in, struct buf *out)
{
	x->l->pp.work += in.len;
	while (in.len && !x->failed && !buf_full(out)) {
		size_t n = piece_length(in);
		struct define *d = NULL;
		const struct text rest = {in.p + n, in.len - n};

		if (lex_is_name_start(*in.p))
			d = pp_find(x->l, in.p, n);
		if (d && (d->active ||
			  (d->is_function && !read_args(&x->l->pp, d, rest, &(struct args){0}))))
			d = NULL;
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

bool pp_expand(struct lexer *l, struct lex_input *in)
{
	const char *const text = l->source->text.data;
	struct text rest = {text + in->pos, in->end - in->pos};
	const size_t n = piece_length(rest);
	struct define *d = pp_find(l, rest.p, n);
	struct expander x = {.l = l};
	const uint32_t from = in->pos;
	struct span use;
	size_t taken;
	struct buf out;

	if (!d)
		return false;
	rest = (struct text){rest.p + n, rest.len - n};
	taken = d->is_function ? read_args(&l->pp, d, rest, &(struct args){0}) : 0;
	if (d->is_function && !taken && l->pp.work <= PP_MAX_WORK)
		return false;
	use = (struct span){from, from + (uint32_t)(n + taken)};
	x.at = use;
	buf_init(&out, PP_MAX_EXPANSION);
	replace(&x, d, rest, &out);
	in->pos = use.to;
	if (out.len && !x.failed) {
		if (!source_add_expansion(l->source, d->name, d->at, out.data, out.len, use)) {
			lex_no_memory(l);
		} else {
			const uint32_t end = (uint32_t)l->source->text.len - 1;

			lex_push(l, (struct span){end - (uint32_t)out.len, end}, true, use);
		}
	}
	buf_free(&out);
	return true;
}
