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

	if (op >= OP_SHL && op <= OP_OR)
		buf_puts(d->to, names[op - OP_SHL]);
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

static void put_map(const struct node *n, struct dump *d)
{
	buf_printf(d->to, "@%s", n->name);
	if (n->has_keys) {
		buf_putc(d->to, '[');
		put_list(n->list, d);
		buf_putc(d->to, ']');
	}
}

static void put_unary(const struct node *n, struct dump *d)
{
	buf_putc(d->to, '(');
	put_op(n->op, d);
	put_node(n->a, d);
	buf_putc(d->to, ')');
}

static void put_binary(const struct node *n, struct dump *d)
{
	buf_putc(d->to, '(');
	put_node(n->a, d);
	buf_putc(d->to, ' ');
	put_op(n->op, d);
	buf_putc(d->to, ' ');
	put_node(n->b, d);
	buf_putc(d->to, ')');
}

static void put_ternary(const struct node *n, struct dump *d)
{
	buf_putc(d->to, '(');
	put_node(n->a, d);
	buf_puts(d->to, " ? ");
	if (n->b)
		put_node(n->b, d);
	buf_puts(d->to, n->b ? " : " : ": ");
	put_node(n->c, d);
	buf_putc(d->to, ')');
}

static void put_step(const struct node *n, struct dump *d)
{
	if (n->prefix)
		buf_fill(d->to, (char)n->op, 2);
	put_node(n->a, d);
	if (!n->prefix)
		buf_fill(d->to, (char)n->op, 2);
}

static void put_field(const struct node *n, struct dump *d)
{
	put_node(n->a, d);
	buf_puts(d->to, n->kind == N_ARROW ? "->" : ".");
	if (n->name)
		buf_puts(d->to, n->name);
	else
		buf_i64(d->to, n->num);
}

/* sizeof() and the like: NAME(TYPE or EXPRESSION[, FIELD]) */
static void put_of_type(const struct node *n, const char *name, struct dump *d)
{
	buf_printf(d->to, "%s(", name);
	if (n->type)
		put_type(n->type, d);
	else
		put_node(n->a, d);
	if (n->kind == N_OFFSETOF)
		buf_printf(d->to, ", %s", n->name);
	buf_putc(d->to, ')');
}

static void put_cast(const struct node *n, struct dump *d)
{
	buf_puts(d->to, "((");
	put_type(n->type, d);
	buf_putc(d->to, ')');
	put_node(n->a, d);
	buf_putc(d->to, ')');
}

static void put_expr(const struct node *n, struct dump *d)
{
	switch (n->kind) {
	case N_INT:
		if (n->is_unsigned)
			buf_u64(d->to, (uint64_t)n->num);
		else
			buf_i64(d->to, n->num);
		break;
	case N_STRING: put_string(n->text, n->len, d); break;
	case N_BOOL: buf_puts(d->to, n->num ? "true" : "false"); break;
	case N_NAME: buf_puts(d->to, n->name); break;
	case N_VAR: buf_printf(d->to, "$%s", n->name); break;
	case N_MAP: put_map(n, d); break;
	case N_PARAM: buf_printf(d->to, "$%lld", (long long)n->num); break;
	case N_NPARAMS: buf_puts(d->to, "$#"); break;
	case N_CALL:
		buf_printf(d->to, "%s(", n->name);
		put_list(n->list, d);
		buf_putc(d->to, ')');
		break;
	case N_UNARY: put_unary(n, d); break;
	case N_STEP: put_step(n, d); break;
	case N_BINARY: put_binary(n, d); break;
	case N_TERNARY: put_ternary(n, d); break;
	case N_CAST: put_cast(n, d); break;
	case N_FIELD:
	case N_ARROW: put_field(n, d); break;
	case N_INDEX:
		put_node(n->a, d);
		buf_putc(d->to, '[');
		put_node(n->b, d);
		buf_putc(d->to, ']');
		break;
	case N_TUPLE:
	case N_RECORD:
		buf_puts(d->to, n->kind == N_TUPLE ? "tuple(" : "record(");
		put_list(n->list, d);
		buf_putc(d->to, ')');
		break;
	case N_ITEM:
		buf_printf(d->to, "%s=", n->name);
		put_node(n->a, d);
		break;
	case N_SIZEOF: put_of_type(n, "sizeof", d); break;
	case N_OFFSETOF: put_of_type(n, "offsetof", d); break;
	case N_TYPEOF: put_of_type(n, "type", d); break;
	case N_RANGE:
		put_node(n->a, d);
		buf_puts(d->to, "..");
		put_node(n->b, d);
		break;
	case N_BLOCK: put_body(n->list, d); break;
	case N_FUNC:
		buf_printf(d->to, "%s() ", n->name);
		put_body(n->a->list, d);
		break;
	default: buf_puts(d->to, "?");
	}
}

static bool is_literal(const struct node *n)
{
	return n->kind == N_INT || n->kind == N_STRING || n->kind == N_BOOL;
}

static void put_node(const struct node *n, struct dump *d)
{
	put_expr(n, d);
	if (n->vtype.kind != V_NONE && !is_literal(n)) {
		buf_putc(d->to, ':');
		vtype_name(&n->vtype, d->to);
	}
}

/* ---- statements ---- */

static void put_assign(const struct node *n, struct dump *d)
{
	put_node(n->a, d);
	buf_putc(d->to, ' ');
	if (n->op)
		put_op(n->op, d);
	buf_puts(d->to, "= ");
	put_node(n->b, d);
}

static void put_let(const struct node *n, struct dump *d)
{
	buf_puts(d->to, "let ");
	put_node(n->a, d);
	if (n->type) {
		buf_puts(d->to, " as ");
		put_type(n->type, d);
	}
	if (n->b) {
		buf_puts(d->to, " = ");
		put_node(n->b, d);
	}
}

static void put_if(const struct node *n, struct dump *d)
{
	buf_puts(d->to, "if ");
	put_node(n->a, d);
	buf_putc(d->to, ' ');
	put_body(n->b, d);
	if (n->c) {
		buf_puts(d->to, " else ");
		put_body(n->c, d);
	}
}

static void put_loop(const struct node *n, const char *name, struct dump *d)
{
	buf_printf(d->to, "%s ", name);
	put_node(n->a, d);
	if (n->kind == N_FOR) {
		buf_puts(d->to, " in ");
		put_node(n->c, d);
	}
	buf_putc(d->to, ' ');
	put_body(n->b, d);
}

static void put_statement(const struct node *n, struct dump *d)
{
	switch (n->kind) {
	case N_EXPR:
		if (n->is_value)
			buf_puts(d->to, "value ");
		put_node(n->a, d);
		break;
	case N_ASSIGN: put_assign(n, d); break;
	case N_LET: put_let(n, d); break;
	case N_DISCARD:
		buf_puts(d->to, "_ = ");
		put_node(n->a, d);
		break;
	case N_IF: put_if(n, d); break;
	case N_WHILE: put_loop(n, "while", d); break;
	case N_UNROLL: put_loop(n, "unroll", d); break;
	case N_FOR: put_loop(n, "for", d); break;
	case N_BREAK: buf_puts(d->to, "break"); break;
	case N_CONTINUE: buf_puts(d->to, "continue"); break;
	case N_RETURN:
		buf_puts(d->to, n->a ? "return " : "return");
		if (n->a)
			put_node(n->a, d);
		break;
	default: put_node(n, d);
	}
}

static void put_body(const struct node *list, struct dump *d)
{
	buf_puts(d->to, "{\n");
	d->indent++;
	for (const struct node *n = list; n; n = n->next) {
		buf_fill(d->to, '\t', d->indent);
		put_statement(n, d);
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
