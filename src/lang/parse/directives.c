// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The preprocessor's directives: definitions, conditions and included files. A group that a
 * condition excludes is skipped at once, line by line, so that the lexer never sees it. Open
 * conditions are a stack.
 */
#include "base/array.h"
#include "lang/parse/preprocess.h"

#include <errno.h>

#include "lang/cdef/cdef.h"
#include "lang/parse/lexer.h"

/* ---- the condition of an #if ---- */

/* defined(NAME) is replaced first, then all definitions; lang/cdef parses what is left. */

struct reader {
	const char *p, *end;
};

/* Also skips a backslash and line end. */
static void skip_blanks(struct reader *r)
{
	while (r->p < r->end &&
	       (lex_is_blank(*r->p) || (*r->p == '\\' && r->end - r->p > 1 && r->p[1] == '\n')))
		r->p++;
}

static void skip_name(struct reader *r)
{
	while (r->p < r->end && lex_is_name(*r->p))
		r->p++;
}

/* Reads NAME or (NAME) after "defined"; false if it is neither. */
static bool read_defined(struct lexer *l, struct reader *r, struct buf *out)
{
	const char *name;
	bool paren;

	skip_blanks(r);
	paren = r->p < r->end && *r->p == '(';
	if (paren)
		r->p++;
	skip_blanks(r);
	name = r->p;
	skip_name(r);
	buf_puts(out, pp_is_defined(l, name, (size_t)(r->p - name)) ? " 1 " : " 0 ");
	if (name == r->p)
		return false;
	skip_blanks(r);
	return !paren || (r->p < r->end && *r->p++ == ')');
}

bool pp_condition(struct lexer *l, struct span at, const char *text, size_t len)
{
	struct reader r = {.p = text, .end = text + len};
	struct buf plain, full;
	bool ok, holds = false, odd = false, in_c = l->in_c;

	buf_init(&plain, PP_MAX_EXPANSION);
	buf_init(&full, PP_MAX_EXPANSION);
	while (r.p < r.end) {
		const char *from = r.p;

		skip_name(&r);
		if (r.p - from == 7 && !memcmp(from, "defined", 7))
			odd |= !read_defined(l, &r, &plain);
		else
			buf_put(&plain, from, (size_t)(r.p - from) + (r.p == from));
		r.p += r.p == from;
	}
	/* A condition may use anything that headers define: KERNEL_VERSION(6, 1, 0). */
	l->in_c = true;
	ok = pp_expand_text(l, at, plain.data, plain.len, &full);
	l->in_c = in_c;
	if (ok && (odd || !cparse_condition(full.data, full.len, &holds))) {
		/* Headers ask compilers what they have: __has_include(<x.h>). */
		if (l->nr_in && lex_top(l)->is_c)
			source_warning(l->source, at,
				       "this condition cannot be understood: it does not hold");
		else
			lex_error(l, at, "this condition cannot be understood");
		holds = false;
	}
	buf_free(&plain);
	buf_free(&full);
	return holds;
}

/* ---- directives ---- */

/*
 * One directive: "#name rest", without comments at its end; it may contain backslashes and line
 * ends.
 */
struct directive {
	struct span at;
	const char *name;
	size_t name_len;
	const char *rest;
	size_t rest_len;
};

static void add_define(struct lexer *l, struct define *d)
{
	d->order = l->pp.nr_defines++;
	if (!map_set(&l->pp.defines, map_hash(d->name, d->name_len), d))
		lex_no_memory(l);
}

void pp_define(struct lexer *l, const char *name, const char *body)
{
	struct define *d = lex_alloc(l, sizeof(*d));

	if (!d)
		return;
	*d = (struct define){
		.name = name, .name_len = strlen(name), .body = body, .body_len = strlen(body)};
	add_define(l, d);
}

void pp_init(struct lexer *l)
{
	struct pp_file *f = lex_alloc(l, sizeof(*f));

	if (!f)
		return;
	/* The script cannot include itself. */
	*f = (struct pp_file){.path = l->source->parts.n ? l->source->parts.at[0].name : ""};
	l->pp.files = f;
	pp_define(l, "BPFTRACE_HAVE_BTF", "1");
}

void pp_free(struct lexer *l)
{
	pp_free_headers(l);
	map_free(&l->pp.defines);
}

struct define *pp_lookup(const struct pp *pp, const char *name, size_t len)
{
	struct define *d = map_get(&pp->defines, map_hash(name, len));

	return d && !d->gone && d->name_len == len && !memcmp(d->name, name, len) ? d : NULL;
}

struct define *pp_find(struct lexer *l, const char *name, size_t len)
{
	struct define *d = l->headers ? headers_script_first(l->headers, name, len) : NULL;
	const char *value;

	if (!d)
		d = pp_lookup(&l->pp, name, len);
	if (d || map_get(&l->pp.defines, map_hash(name, len)))
		return d;
	if (l->headers)
		return headers_script_last(l->headers, name, len);
	d = l->in_c ? pp_header_define(l, name, len) : NULL;
	value = d ? NULL : pp_header_value(l, name, len);
	if (!value)
		return d;
	name = arena_strndup(l->arena, name, len);
	if (!name)
		return NULL;
	pp_define(l, name, value);
	return pp_lookup(&l->pp, name, len);
}

bool pp_is_defined(struct lexer *l, const char *name, size_t len)
{
	if (pp_lookup(&l->pp, name, len))
		return true;
	if (map_get(&l->pp.defines, map_hash(name, len)))
		return false;
	return (l->headers ? headers_script_last(l->headers, name, len)
			   : pp_header_define(l, name, len)) != NULL;
}

/* The end of the line; *content is the end without trailing blanks and comments. */
static uint32_t line_end(const char *text, uint32_t pos, uint32_t end, uint32_t *content)
{
	*content = pos;
	while (pos < end && text[pos] != '\n') {
		const uint32_t to = lex_skip(text, pos, end);

		if (text[pos] == '\\' && end - pos > 1 && text[pos + 1] == '\n') {
			pos += 2;
			continue;
		}
		if (to == pos) {
			if (!lex_is_blank(text[pos]))
				*content = pos + 1;
			pos++;
			continue;
		}
		if (text[pos] != '/')
			*content = to;
		pos = to;
	}
	return pos;
}

/* Reads the directive whose '#' is at the input's position. */
static void read_directive(struct lexer *l, struct lex_input *in, struct directive *d)
{
	const char *const text = l->source->text.data;
	uint32_t content, p = in->pos + 1;
	const uint32_t to = line_end(text, p, in->end, &content);

	*d = (struct directive){.at = {in->pos, content}};
	while (p < content && lex_is_blank(text[p]))
		p++;
	d->name = text + p;
	while (p < content && lex_is_name(text[p]))
		p++;
	d->name_len = (size_t)(text + p - d->name);
	while (p < content && lex_is_blank(text[p]))
		p++;
	d->rest = text + p;
	d->rest_len = content - p;
	in->pos = to;
}

static bool named(const struct directive *d, const char *name)
{
	return d->name_len == strlen(name) && !memcmp(d->name, name, d->name_len);
}

static size_t name_length(const char *s, size_t len)
{
	size_t n = 0;

	if (len && lex_is_name_start(*s))
		while (n < len && lex_is_name(s[n]))
			n++;
	return n;
}

static struct span span_of(const struct lexer *l, const char *s, size_t len)
{
	const uint32_t from = (uint32_t)(s - l->source->text.data);

	return (struct span){from, from + (uint32_t)len};
}

/* "..." or "NAME...": the last parameter. */
static size_t read_rest_param(struct lexer *l, struct define *def, const char *s, size_t len)
{
	const size_t n = name_length(s, len);

	if (len - n < 3 || memcmp(s + n, "...", 3) != 0)
		return 0;
	def->is_variadic = true;
	def->params[def->nr_params++] =
		n ? arena_strndup(l->arena, s, n) : arena_strdup(l->arena, "__VA_ARGS__");
	return n + 3;
}

/* Reads "(a, b)": the number of characters, 0 if it is wrong. */
static size_t read_params(struct lexer *l, struct define *def, const char *s, size_t len)
{
	size_t i = 1;

	for (;;) {
		size_t n;

		while (i < len && lex_is_blank(s[i]))
			i++;
		if (i < len && s[i] == ')' && !def->nr_params)
			return i + 1;
		if (def->nr_params == PP_MAX_PARAMS || def->is_variadic)
			return 0;
		n = read_rest_param(l, def, s + i, len - i);
		if (!n) {
			n = name_length(s + i, len - i);
			if (!n)
				return 0;
			def->params[def->nr_params++] = arena_strndup(l->arena, s + i, n);
		}
		if (!def->params[def->nr_params - 1])
			return 0;
		for (i += n; i < len && lex_is_blank(s[i]);)
			i++;
		if (i >= len || (s[i] != ',' && s[i] != ')'))
			return 0;
		if (s[i++] == ')')
			return i;
	}
}

static void do_define(struct lexer *l, struct lex_input *in, const struct directive *d)
{
	const size_t n = name_length(d->rest, d->rest_len);
	size_t i = n;
	struct define *def;

	if (!n) {
		lex_error(l, d->at, "expected a name after #define");
		return;
	}
	def = lex_alloc(l, sizeof(*def));
	if (!def)
		return;
	*def = (struct define){.name_len = n, .at = span_of(l, d->rest, n)};
	if (i < d->rest_len && d->rest[i] == '(') {
		const size_t params = read_params(l, def, d->rest + i, d->rest_len - i);

		if (!params) {
			lex_error(l, d->at,
				  "the parameters of a definition are up to %d names: (a, b)",
				  PP_MAX_PARAMS);
			return;
		}
		i += params;
		def->is_function = true;
	}
	while (i < d->rest_len && lex_is_blank(d->rest[i]))
		i++;
	def->name = arena_strndup(l->arena, d->rest, n);
	def->body_len = d->rest_len - i;
	def->body = arena_strndup(l->arena, d->rest + i, def->body_len);
	if (!def->name || !def->body)
		lex_no_memory(l);
	else
		add_define(l, def);
}

static void do_undef(struct lexer *l, struct lex_input *in, const struct directive *d)
{
	struct define *def = pp_lookup(&l->pp, d->rest, name_length(d->rest, d->rest_len));

	if (def)
		def->gone = true;
}

static bool holds(struct lexer *l, const struct directive *d)
{
	const size_t n = name_length(d->rest, d->rest_len);

	if (named(d, "if") || named(d, "elif"))
		return pp_condition(l, d->at, d->rest, d->rest_len);
	if (!n)
		lex_error(l, d->at, "expected a name after #%.*s", (int)d->name_len, d->name);
	return !pp_is_defined(l, d->rest, n) == named(d, "ifndef");
}

/* Skips to the next directive of the input and reads it. */
static bool next_directive(struct lexer *l, struct lex_input *in, struct directive *d)
{
	const char *const text = l->source->text.data;
	uint32_t content;

	for (;;) {
		while (in->pos < in->end && lex_is_blank(text[in->pos]))
			in->pos++;
		if (in->pos >= in->end)
			return false;
		if (text[in->pos] == '#') {
			read_directive(l, in, d);
			return true;
		}
		in->pos = line_end(text, in->pos, in->end, &content);
	}
}

static void note_else(struct lexer *l, struct pp_cond *c, const struct directive *d)
{
	if (c->had_else)
		lex_error(l, d->at, "#%.*s after #else", (int)d->name_len, d->name);
	c->had_else |= named(d, "else");
}

/* Skips groups of the innermost condition, up to one that is to be read or the #endif. */
static void skip_groups(struct lexer *l, struct lex_input *in)
{
	struct pp_cond *const c = &l->pp.conds[l->pp.nr_conds - 1];
	unsigned int nested = 0;
	struct directive d;

	while (next_directive(l, in, &d)) {
		if (named(&d, "if") || named(&d, "ifdef") || named(&d, "ifndef")) {
			nested++;
		} else if (named(&d, "endif")) {
			if (!nested--) {
				l->pp.nr_conds--;
				return;
			}
		} else if (!nested && (named(&d, "else") || named(&d, "elif"))) {
			note_else(l, c, &d);
			if (!c->taken && (named(&d, "else") || holds(l, &d))) {
				c->taken = true;
				return;
			}
		}
	}
}

static void do_if(struct lexer *l, struct lex_input *in, const struct directive *d)
{
	struct pp_cond *c = &l->pp.conds[l->pp.nr_conds];

	if (l->pp.nr_conds == PP_MAX_CONDS) {
		lex_error(l, d->at, "conditions are nested too deeply");
		l->stop = true;
		return;
	}
	*c = (struct pp_cond){.at = d->at, .taken = holds(l, d)};
	l->pp.nr_conds++;
	if (!c->taken)
		skip_groups(l, in);
}

/* #else and #elif after a group that was read. */
static void do_else(struct lexer *l, struct lex_input *in, const struct directive *d)
{
	struct pp_cond *c;

	if (l->pp.nr_conds <= in->conds) {
		lex_error(l, d->at, "#%.*s without an #if", (int)d->name_len, d->name);
		return;
	}
	c = &l->pp.conds[l->pp.nr_conds - 1];
	note_else(l, c, d);
	skip_groups(l, in);
}

static void do_endif(struct lexer *l, struct lex_input *in, const struct directive *d)
{
	if (l->pp.nr_conds <= in->conds)
		lex_error(l, d->at, "#endif without an #if");
	else
		l->pp.nr_conds--;
}

static void do_include(struct lexer *l, struct lex_input *in, const struct directive *d)
{
	const char *close;
	char *name;

	if (d->rest_len && *d->rest == '<') {
		close = memchr(d->rest, '>', d->rest_len);
		if (close && l->headers)
			headers_push(l->headers, d->rest + 1, (size_t)(close - d->rest - 1), false);
		else if (close)
			pp_add_header(l, d->rest + 1, (size_t)(close - d->rest - 1), false, d->at);
		return;
	}
	close = d->rest_len > 1 ? memchr(d->rest + 1, '"', d->rest_len - 1) : NULL;
	if (!close || *d->rest != '"') {
		lex_error(l, d->at, "expected \"FILE\" or <FILE> after #include");
		return;
	}
	if (l->headers) {
		headers_push(l->headers, d->rest + 1, (size_t)(close - d->rest - 1), true);
		return;
	}
	name = arena_strndup(l->arena, d->rest + 1, (size_t)(close - d->rest - 1));
	if (name)
		pp_include_file(l, name, d->at, in->is_c);
	else
		lex_no_memory(l);
}

static void do_error(struct lexer *l, struct lex_input *in, const struct directive *d)
{
	lex_error(l, d->at, "#error %.*s", (int)(d->rest_len > 200 ? 200 : d->rest_len), d->rest);
}

static void do_warning(struct lexer *l, struct lex_input *in, const struct directive *d)
{
	source_warning(l->source, d->at, "#warning %.*s",
		       (int)(d->rest_len > 200 ? 200 : d->rest_len), d->rest);
}

/* Layouts depend on this one. */
static void do_pragma(struct lexer *l, struct lex_input *in, const struct directive *d)
{
	const size_t n = name_length(d->rest, d->rest_len);

	if (l->copy && n == 4 && !memcmp(d->rest, "pack", n)) {
		buf_puts(l->copy, CDEF_PRAGMA_PACK " ");
		buf_put(l->copy, d->rest + n, d->rest_len - n);
		buf_puts(l->copy, ";\n");
	}
}

static void do_nothing(struct lexer *l, struct lex_input *in, const struct directive *d)
{
}

static const struct {
	const char *name;
	void (*run)(struct lexer *l, struct lex_input *in, const struct directive *d);
} directives[] = {
	{"define", do_define}, {"undef", do_undef}, {"ifdef", do_if},
	{"ifndef", do_if},     {"if", do_if},	    {"else", do_else},
	{"elif", do_else},     {"endif", do_endif}, {"include", do_include},
	{"pragma", do_pragma}, {"error", do_error}, {"warning", do_warning},
	{"line", do_nothing},  {"", do_nothing},
};

static void run_directive(struct lexer *l, struct lex_input *in, const struct directive *d)
{
	for (size_t i = 0; i < ARRAY_SIZE(directives); i++) {
		if (named(d, directives[i].name)) {
			directives[i].run(l, in, d);
			return;
		}
	}
	lex_error(l, d->at, "unknown directive #%.*s", (int)(d->name_len > 100 ? 100 : d->name_len),
		  d->name);
}

void pp_directive(struct lexer *l, struct lex_input *in)
{
	const char *const text = l->source->text.data;
	struct directive d;

	if (in->end - in->pos > 1 && text[in->pos + 1] == '!') {
		const char *nl = memchr(text + in->pos, '\n', in->end - in->pos);

		in->pos = nl ? (uint32_t)(nl - text) : in->end;
		return;
	}
	read_directive(l, in, &d);
	run_directive(l, in, &d);
}

void pp_end_of_file(struct lexer *l, unsigned int conds)
{
	if (l->pp.nr_conds <= conds)
		return;
	lex_error(l, l->pp.conds[l->pp.nr_conds - 1].at, "there is no #endif for this");
	l->pp.nr_conds = conds;
}
