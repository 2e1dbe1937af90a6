// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The tree as text: one statement a line, expressions with all their brackets, so that one sees how
 * they were understood. After the checker has run, a ':' and the type follow each value.
 */
#include "lang/ast.h"

struct dump {
	struct buf *to;
	unsigned int indent;
};

static void put_node(const struct node *n, struct dump *d);
static void put_body(const struct node *list, struct dump *d);

static void put_op(int op, struct dump *d)
{
	static const char *const names[] = {"<<", ">>", "==", "!=", "<=", ">=", "&&", "||"};

	if (op >= NODE_OP_SHL && op <= NODE_OP_OR)
		buf_puts(d->to, names[op - NODE_OP_SHL]);
	else
		buf_putc(d->to, (char)op);
}

static void put_string(const char *s, size_t len, struct dump *d)
{
	buf_putc(d->to, '"');
	for (size_t i = 0; i < len; i++) {
		const unsigned char c = (unsigned char)s[i];

		if (c == '"' || c == '\\')
			buf_printf(d->to, "\\%c", c);
		else if (c == '\n')
			buf_puts(d->to, "\\n");
		else if (c == '\t')
			buf_puts(d->to, "\\t");
		else if (c < ' ' || c >= 0x7f)
			buf_printf(d->to, "\\x%02x", c);
		else
			buf_putc(d->to, (char)c);
	}
	buf_putc(d->to, '"');
}

static void put_list(const struct node *list, struct dump *d)
{
	for (const struct node *n = list; n; n = n->next) {
		put_node(n, d);
		if (n->next)
			buf_puts(d->to, ", ");
	}
}

static void put_type(const struct type_name *t, struct dump *d)
{
	if (t->of) {
		buf_puts(d->to, "typeof(");
		put_node(t->of, d);
		buf_putc(d->to, ')');
	} else if (t->name && *t->name) {
		buf_puts(d->to, t->name);
	} else {
		buf_putc(d->to, '(');
		for (const struct type_name *e = t->elems; e; e = e->next) {
			put_type(e, d);
			buf_puts(d->to, e->next ? ", " : "");
		}
		buf_putc(d->to, ')');
	}
	if (t->pointers) {
		buf_putc(d->to, ' ');
		buf_fill(d->to, '*', t->pointers);
	}
	if (t->is_array) {
		buf_putc(d->to, '[');
		if (t->count)
			put_node(t->count, d);
		buf_putc(d->to, ']');
		buf_fill(d->to, '*', t->outer);
	}
}

/*
 * How a node is written. In place of these come
 *	%a %b %c	a part
 *	%A %B %C %L	a body in braces: that of the block a; the lists b, c, or its own
 *	%l		the list, with commas
 *	%n %o %t	its name, operator, type
 *	%i %u %s	its value: a number, an unsigned one, a string
 */
static const char *const forms[N_KINDS] = {
	[N_STRING] = "%s",	     [N_NAME] = "%n",		[N_VAR] = "$%n",
	[N_PARAM] = "$%i",	     [N_NPARAMS] = "$#",	[N_CALL] = "%n(%l)",
	[N_UNARY] = "(%o%a)",	     [N_BINARY] = "(%a %o %b)", [N_CAST] = "((%t)%a)",
	[N_ARROW] = "%a->%n",	     [N_INDEX] = "%a[%b]",	[N_TUPLE] = "tuple(%l)",
	[N_RECORD] = "record(%l)",   [N_ITEM] = "%n=%a",	[N_TYPEOF] = "type(%t)",
	[N_RANGE] = "%a..%b",	     [N_BLOCK] = "%L",		[N_FUNC] = "%n() %A",
	[N_DISCARD] = "_ = %a",	     [N_WHILE] = "while %a %B", [N_UNROLL] = "unroll %a %B",
	[N_FOR] = "for %a in %c %B", [N_BREAK] = "break",	[N_CONTINUE] = "continue",
};

/* The form of a node, for kinds some parts of which may be missing, too. */
static const char *form_of(const struct node *n)
{
	switch (n->kind) {
	case N_INT: return n->is_unsigned ? "%u" : "%i";
	case N_BOOL: return n->num ? "true" : "false";
	case N_MAP: return n->has_keys ? "@%n[%l]" : "@%n";
	case N_STEP: return n->prefix ? "%o%o%a" : "%a%o%o";
	case N_TERNARY: return n->b ? "(%a ? %b : %c)" : "(%a ? : %c)";
	case N_FIELD: return n->name ? "%a.%n" : "%a.%i";
	case N_SIZEOF: return n->type ? "sizeof(%t)" : "sizeof(%a)";
	case N_OFFSETOF: return n->type ? "offsetof(%t, %n)" : "offsetof(%a, %n)";
	case N_EXPR: return n->is_value ? "value %a" : "%a";
	case N_ASSIGN: return n->op ? "%a %o= %b" : "%a = %b";
	case N_LET:
		if (n->type)
			return n->b ? "let %a as %t = %b" : "let %a as %t";
		return n->b ? "let %a = %b" : "let %a";
	case N_IF: return n->c ? "if %a %B else %C" : "if %a %B";
	case N_RETURN: return n->a ? "return %a" : "return";
	default: return forms[n->kind];
	}
}

static void put_part(const struct node *n, char part, struct dump *d)
{
	switch (part) {
	case 'a': put_node(n->a, d); break;
	case 'b': put_node(n->b, d); break;
	case 'c': put_node(n->c, d); break;
	case 'A': put_body(n->a->list, d); break;
	case 'B': put_body(n->b, d); break;
	case 'C': put_body(n->c, d); break;
	case 'L': put_body(n->list, d); break;
	case 'l': put_list(n->list, d); break;
	case 'n': buf_puts(d->to, n->name); break;
	case 'o': put_op(n->op, d); break;
	case 't': put_type(n->type, d); break;
	case 'i': buf_i64(d->to, n->num); break;
	case 'u': buf_u64(d->to, (uint64_t)n->num); break;
	default: put_string(n->text, n->len, d);
	}
}

static bool is_literal(const struct node *n)
{
	return n->kind == N_INT || n->kind == N_STRING || n->kind == N_BOOL;
}

static void put_node(const struct node *n, struct dump *d)
{
	for (const char *form = form_of(n); *form; form++) {
		if (*form == '%')
			put_part(n, *++form, d);
		else
			buf_putc(d->to, *form);
	}
	if (n->vtype.kind != V_NONE && !is_literal(n)) {
		buf_putc(d->to, ':');
		vtype_name(&n->vtype, d->to);
	}
}

static void put_body(const struct node *list, struct dump *d)
{
	buf_puts(d->to, "{\n");
	d->indent++;
	for (const struct node *n = list; n; n = n->next) {
		buf_fill(d->to, '\t', d->indent);
		put_node(n, d);
		buf_putc(d->to, '\n');
	}
	d->indent--;
	buf_fill(d->to, '\t', d->indent);
	buf_putc(d->to, '}');
}

/* ---- the script ---- */

static void put_point(const struct attach_point *ap, struct dump *d)
{
	if (ap->name)
		buf_printf(d->to, "%s=", ap->name);
	for (unsigned int i = 0; i < ap->nr_parts; i++)
		buf_printf(d->to, "%s%s", i ? " : " : "", ap->parts[i]);
}

static void put_probe(const struct probe_def *p, struct dump *d)
{
	buf_puts(d->to, "probe ");
	for (const struct attach_point *ap = p->points; ap; ap = ap->next) {
		put_point(ap, d);
		buf_puts(d->to, ap->next ? ", " : " ");
	}
	if (p->predicate) {
		buf_puts(d->to, "if ");
		put_node(p->predicate, d);
		buf_putc(d->to, ' ');
	}
	put_body(p->body, d);
	buf_putc(d->to, '\n');
}

void ast_dump(const struct script_ast *ast, struct buf *to)
{
	struct dump d = {.to = to};

	for (const struct config_item *c = ast->config; c; c = c->next)
		buf_printf(to, "config %s = %s\n", c->name, c->text);
	for (const struct c_text *c = ast->c; c; c = c->next) {
		if (c->origin == C_OF_SYSTEM)
			continue;
		buf_puts(to, "c ");
		buf_put(to, ast->source->text.data + c->at.from, c->at.to - c->at.from);
		buf_putc(to, '\n');
	}
	for (const struct map_decl *m = ast->maps; m; m = m->next)
		buf_printf(to, "map @%s = %s(%lld)\n", m->name, m->type, (long long)m->entries);
	for (const struct probe_def *p = ast->probes; p; p = p->next)
		put_probe(p, &d);
}
