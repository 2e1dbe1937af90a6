// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The top level of a script: probes, and everything between them. The parser reads characters here,
 * because an item may begin with an attach point, and tokens within an item.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/array.h"
#include "lang/parse/parser.h"

/* ---- import "FILE"; ---- */

/*
 * A file is read after the item that imports it. Its definitions hold for the whole script, so the
 * place does not matter. The library of bpftrace is part of spur.
 */

static bool ends_in(const char *s, const char *end)
{
	const size_t len = strlen(s), n = strlen(end);

	return len > n && !strcmp(s + len - n, end);
}

static void import_file(struct parser *p, const char *path, struct span at)
{
	struct import_file *i, **end = &p->imports;
	struct span text;
	int r;

	if (ends_in(path, ".c") || ends_in(path, ".o")) {
		lex_error(&p->lex, at, "%s: programs in C cannot be imported", path);
		return;
	}
	r = pp_add_file(&p->lex, path, at, &text);
	if (r == -ENOENT)
		lex_error(&p->lex, at, "%s: there is no such file", path);
	i = r > 0 ? parse_alloc(p, sizeof(*i)) : NULL;
	if (!i)
		return;
	*i = (struct import_file){.depth = p->lex.nr_in, .text = text, .by = at};
	if (lex_top(&p->lex)->expansion)
		i->depth--;
	while (*end)
		end = &(*end)->next;
	*end = i;
}

static int is_script(const struct dirent *e)
{
	return e->d_name[0] != '.' && (ends_in(e->d_name, ".bt") || ends_in(e->d_name, ".h"));
}

static void import_directory(struct parser *p, const char *path, struct span at)
{
	struct dirent **entries;
	const int n = scandir(path, &entries, is_script, alphasort);

	for (int i = 0; i < n; i++) {
		struct buf name;

		buf_init(&name, 1 << 16);
		buf_printf(&name, "%s/%s", path, entries[i]->d_name);
		import_file(p, buf_str(&name), at);
		buf_free(&name);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

void parse_import(struct parser *p)
{
	struct span at = parse_next(p).at;
	const struct token name = *parse_tok(p);
	struct stat st;

	if (!parse_expect(p, T_STRING, "the name of a file in quotes"))
		return;
	at = source_join(p->source, at, name.at);
	if (!parse_expect(p, ';', "';' after the import") || !strncmp(name.text, "stdlib", 6))
		return;
	if (!(p->lex.opt && p->lex.opt->no_files) && stat(name.text, &st) == 0 &&
	    S_ISDIR(st.st_mode))
		import_directory(p, name.text, at);
	else
		import_file(p, name.text, at);
}

/* ---- probes: a list of attach points, a predicate, a body ---- */

/*
 * An attach point ends at a blank, '{' or ',', and its parts are separated by colons; quotes and
 * backslashes protect these characters. A '/' belongs to it only in kinds that name files:
 * elsewhere it begins the predicate.
 */

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
	for (size_t i = 0; i < ARRAY_SIZE(with_paths); i++)
		if (strlen(with_paths[i]) == len && !memcmp(with_paths[i], kind, len))
			return true;
	return false;
}

/* Whether a '/' at the reader's position belongs to the attach point. */
static bool slash_belongs(const struct point_reader *r)
{
	return r->nr_parts > 1 && parse_has_paths(r->out.data, strlen(r->out.data));
}

/* Copies a quoted text. False if it is not closed. */
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

/* Replaces $1 by the parameter; a parameter that was not given is empty. */
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

/* Skips blanks around a colon, as in "kprobe : f". False if they end the attach point. */
static bool skip_blanks(struct point_reader *r)
{
	const bool after_colon = r->in->pos && r->text[r->in->pos - 1] == ':';
	uint32_t to = r->in->pos;

	while (to < r->in->end && lex_is_blank(r->text[to]))
		to++;
	if (to == r->in->end || (r->text[to] != ':' && !after_colon))
		return false;
	r->in->pos = to;
	return true;
}

static bool read_parts(struct point_reader *r)
{
	r->nr_parts = 1;
	while (r->in->pos < r->in->end) {
		const char c = r->text[r->in->pos];

		if (lex_is_blank(c)) {
			if (!skip_blanks(r))
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

/* Makes an attach point of the parts that were read. */
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

	while (to > from && lex_is_blank(r->text[to - 1]))
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

static void parse_points(struct parser *p, struct attach_point **to)
{
	for (;;) {
		int c;

		*to = parse_point(p);
		p->wrong = !*to;
		if (p->wrong)
			return;
		to = &(*to)->next;
		c = lex_char(&p->lex);
		if (c != ',')
			return;
		lex_top(&p->lex)->pos++;
		c = lex_char(&p->lex);
		if (c == '{' || c == '/')
			return;
	}
}

static void parse_predicate(struct parser *p, struct probe_def *d)
{
	if (!parse_accept(p, '/'))
		return;
	p->in_predicate = true;
	p->nesting = 0;
	d->predicate = parse_expr(p);
	p->in_predicate = false;
	parse_expect(p, '/', "'/' at the end of the predicate");
}

void parse_probe(struct parser *p)
{
	struct probe_def *d = parse_alloc(p, sizeof(*d));
	uint32_t from;

	if (!d)
		return;
	from = lex_top(&p->lex)->pos;
	parse_points(p, &d->points);
	parse_predicate(p, d);
	if (!parse_at(p, '{'))
		parse_unexpected(p, d->predicate ? "'{' after the predicate"
						 : "'{', '/' or ',' after the probe");
	parse_skip_to_body(p);
	if (!parse_at(p, '{')) {
		/* Skip it, so that the parser makes progress. */
		parse_next(p);
		return;
	}
	for (struct attach_point *ap = d->points; ap; ap = ap->next)
		d->at = (struct span){from, ap->at.to};
	d->body = parse_block(p, false);
	*p->probes_end = d;
	p->probes_end = &d->next;
}

/* ---- tokens ---- */

const struct token *parse_peek(struct parser *p, unsigned int ahead)
{
	static const struct token none = {.kind = T_END};

	if (p->wrong)
		return &none;
	while (p->nr_ahead <= ahead) {
		const unsigned int at = (p->first + p->nr_ahead++) % PARSE_AHEAD;

		lex_next(&p->lex, &p->ahead[at]);
	}
	return &p->ahead[(p->first + ahead) % PARSE_AHEAD];
}

struct token parse_next(struct parser *p)
{
	const struct token t = *parse_peek(p, 0);

	if (t.kind == T_END)
		return t;
	p->last = t.at;
	p->first = (p->first + 1) % PARSE_AHEAD;
	p->nr_ahead--;
	return t;
}

bool parse_accept(struct parser *p, int kind)
{
	if (!parse_at(p, kind))
		return false;
	parse_next(p);
	return true;
}

void parse_unexpected(struct parser *p, const char *expected)
{
	const struct token *t = parse_tok(p);
	const char *const text = p->source->text.data + t->at.from;
	const uint32_t len = t->at.to - t->at.from;

	if (p->lex.stop || t->kind == T_BAD || (t->kind == T_END && p->reported_end)) {
		p->wrong = true;
	} else if (t->kind == T_END) {
		p->reported_end = !p->wrong;
		parse_fail(p, t->at, "expected %s, but the script ends here", expected);
	} else if (len > 40) {
		parse_fail(p, t->at, "expected %s, not '%.36s...'", expected, text);
	} else {
		parse_fail(p, t->at, "expected %s, not '%.*s'", expected, (int)len, text);
	}
}

void parse_fail(struct parser *p, struct span at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (!p->wrong)
		lex_verror(&p->lex, at, fmt, ap);
	va_end(ap);
	p->wrong = true;
}

bool parse_expect(struct parser *p, int kind, const char *what)
{
	if (parse_accept(p, kind))
		return true;
	parse_unexpected(p, what);
	return false;
}

void parse_skip_to_body(struct parser *p)
{
	p->wrong = false;
	while (!parse_at(p, '{') && !parse_at(p, '}') && !parse_at(p, T_END))
		parse_next(p);
}

void parse_enter(struct parser *p)
{
	if (p->depth++ < PARSE_MAX_DEPTH)
		return;
	parse_fail(p, parse_tok(p)->at, "this is nested too deeply");
	p->lex.stop = true;
}

/* ---- nodes ---- */

void *parse_alloc(struct parser *p, size_t size)
{
	void *m = lex_alloc(&p->lex, size);

	p->wrong |= !m;
	return m;
}

struct node *parse_node(struct parser *p, enum node_kind kind, struct span from)
{
	struct node *n = parse_alloc(p, sizeof(*n));

	if (!n) {
		p->spare = (struct node){0};
		n = &p->spare;
	}
	n->kind = kind;
	n->height = 1;
	n->at = source_join(p->source, from, p->last);
	return n;
}

static uint32_t higher(uint32_t height, const struct node *child)
{
	return child && child->height >= height ? child->height + 1 : height;
}

static uint32_t higher_of_list(uint32_t height, const struct node *list)
{
	for (const struct node *n = list; n; n = n->next)
		height = higher(height, n);
	return height;
}

static uint32_t higher_of_type(uint32_t height, const struct type_name *t)
{
	height = higher(higher(height, t->count), t->of);
	for (const struct type_name *e = t->elems; e; e = e->next)
		height = higher_of_type(height, e);
	return height;
}

struct node *parse_finish(struct parser *p, struct node *n)
{
	uint32_t height = higher(1, n->a);

	/* Bodies of statements are lists, too. */
	height = higher_of_list(height, n->b);
	height = higher_of_list(height, n->c);
	height = higher_of_list(height, n->list);
	if (n->type)
		height = higher_of_type(height, n->type);
	if (height > AST_MAX_HEIGHT)
		parse_fail(p, n->at, "this is nested too deeply");
	n->height = height;
	return n;
}

struct node *parse_close(struct parser *p, struct node *n, struct span from)
{
	n->at = source_join(p->source, from, p->last);
	return parse_finish(p, n);
}

struct node *parse_join(struct parser *p, enum node_kind kind, struct span from, int op,
			struct node *a, struct node *b)
{
	struct node *n = parse_node(p, kind, from);

	n->op = op;
	n->a = a;
	n->b = b;
	return parse_finish(p, n);
}

/* ---- items ---- */

/* After an error: skips to after the next block, or with `semicolon` to after a ';' before it. */
static void skip_item(struct parser *p, bool semicolon)
{
	unsigned int open = 0;

	p->wrong = false;
	while (!parse_at(p, T_END)) {
		const int kind = parse_next(p).kind;

		open += kind == '{';
		if ((kind == ';' && semicolon && !open) || (kind == '}' && (!open || !--open)))
			return;
	}
}

static void parse_config_item(struct parser *p)
{
	struct config_item *c = parse_alloc(p, sizeof(*c));
	const struct token name = *parse_tok(p);
	struct token value;

	parse_expect(p, T_WORD, "the name of a setting");
	parse_expect(p, T_ASSIGN, "'='");
	value = *parse_tok(p);
	if (value.kind != T_WORD && value.kind != T_INT && value.kind != T_STRING)
		parse_unexpected(p, "a word, a number or a string");
	parse_next(p);
	if (p->wrong)
		return;
	*c = (struct config_item){.name = name.text, .at = name.at, .text = value.text};
	if (value.kind == T_INT) {
		char digits[24];

		snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value.num);
		c->text = arena_strdup(p->lex.arena, digits);
		if (!c->text)
			lex_no_memory(&p->lex);
	}
	*p->config_end = c;
	p->config_end = &c->next;
}

/* config = { name = value; … } */
static void parse_config(struct parser *p)
{
	parse_next(p);
	parse_expect(p, T_ASSIGN, "'=' after config");
	parse_expect(p, '{', "'{' after 'config ='");
	while (!parse_at(p, '}') && !parse_at(p, T_END)) {
		parse_config_item(p);
		if (!parse_at(p, '}'))
			parse_expect(p, ';', "';' after the setting");
	}
	if (p->wrong)
		skip_item(p, false);
	else if (parse_expect(p, '}', "'}' at the end of the settings") && lex_char(&p->lex) == ';')
		parse_next(p);
}

/* let @name = type(entries); */
static void parse_map_decl(struct parser *p)
{
	const struct span from = parse_next(p).at;
	struct map_decl *m = parse_alloc(p, sizeof(*m));
	const struct token name = *parse_tok(p);
	struct token type, entries;

	parse_expect(p, T_MAP, "a map after 'let' outside of probes: let @name = hash(100)");
	parse_expect(p, T_ASSIGN, "'=' and the type of the map");
	type = *parse_tok(p);
	parse_expect(p, T_WORD, "the type of the map: hash, lruhash, percpuhash, …");
	parse_expect(p, '(', "'(' and the number of entries");
	entries = *parse_tok(p);
	parse_expect(p, T_INT, "the number of entries");
	parse_expect(p, ')', "')'");
	if (p->wrong) {
		skip_item(p, true);
		return;
	}
	*m = (struct map_decl){.at = source_join(p->source, from, p->last),
			       .name = name.text,
			       .type = type.text,
			       .entries = entries.num};
	*p->maps_end = m;
	p->maps_end = &m->next;
	if (lex_char(&p->lex) == ';')
		parse_next(p);
}

/* ---- the script ---- */

/* Starts the next file that the current input imports; `any`: that any input imports. */
static bool start_import(struct parser *p, bool any)
{
	for (struct import_file **i = &p->imports; *i; i = &(*i)->next) {
		struct import_file *const found = *i;

		if (found->depth == p->lex.nr_in || any) {
			*i = found->next;
			return lex_push(&p->lex, found->text, false, found->by);
		}
	}
	return false;
}

static void parse_item(struct parser *p)
{
	const enum word w = lex_peek_word(&p->lex);

	parse_system_headers(p);
	switch (w) {
	case W_CONFIG: parse_config(p); break;
	case W_MACRO: parse_macro(p); break;
	case W_IMPORT: parse_import(p); break;
	case W_STRUCT:
	case W_UNION:
	case W_ENUM:
	case W_TYPEDEF: parse_definition(p, w == W_TYPEDEF); break;
	case W_LET: parse_map_decl(p); break;
	case W_FN: parse_function(p); break;
	default: parse_probe(p);
	}
}

/* Returns tokens of the lookahead to the input, because characters are read next. */
static void give_back(struct parser *p)
{
	const struct token *t = &p->ahead[p->first];
	struct lex_input *in;

	if (p->nr_ahead && t->kind != T_END && p->lex.nr_in) {
		in = lex_top(&p->lex);
		if (!in->expansion && t->at.from <= in->pos)
			in->pos = t->at.from;
	}
	p->nr_ahead = 0;
}

static void parse_script(struct parser *p)
{
	while (!p->lex.stop) {
		int c;

		p->wrong = false;
		give_back(p);
		if (start_import(p, false))
			continue;
		c = lex_char(&p->lex);
		/* This may be the end of a file that imports another one. */
		if (start_import(p, false))
			continue;
		if (c < 0) {
			if (!start_import(p, true))
				return;
		} else if (lex_top(&p->lex)->is_c) {
			parse_header(p);
		} else if (c == ';') {
			parse_next(p);
		} else {
			parse_item(p);
		}
	}
}

/* Files of the command line are read before the script, in their order. */
static void push_files(struct lexer *l)
{
	const char *const *files = l->opt ? l->opt->include_files : NULL;
	size_t n = 0;

	while (files && files[n])
		n++;
	while (n-- && !l->stop)
		pp_include_file(l, files[n], (struct span){0, 0}, false);
}

int parse_bpftrace(struct source *source, const struct parse_options *opt, struct script_ast *ast)
{
	struct parser p = {.source = source, .ast = ast};
	const unsigned int errors = source->errors;

	*ast = (struct script_ast){.source = source, .arena = source->arena};
	p.probes_end = &ast->probes;
	p.maps_end = &ast->maps;
	p.config_end = &ast->config;
	p.c_end = &ast->c;
	lex_init(&p.lex, source, opt);
	if (source->parts.n) {
		const struct source_part *last = &source->parts.at[source->parts.n - 1];

		lex_push(&p.lex, (struct span){last->from, source_part_end(source, last)}, false,
			 (struct span){0, 0});
		push_files(&p.lex);
	}
	parse_script(&p);
	if (!p.lex.stop && source->errors == errors && !ast->probes)
		lex_error(&p.lex, (struct span){0, 0}, "there is no probe in this script");
	ast->included = p.lex.pp.included;
	if (source->errors == errors)
		macro_expand(&p);
	map_free(&p.types);
	lex_free(&p.lex);
	return source->errors == errors ? 0 : -EINVAL;
}
