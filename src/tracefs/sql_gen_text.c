// SPDX-License-Identifier: GPL-2.0-or-later
/* Fields, conditions and declarations in the kernel's words. */
#include "tracefs/sql_parts.h"

#include <string.h>

void sql_put_field(struct buf *out, const struct sql_field *f)
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

/* ---- conditions ---- */

static const char *const operators[] = {
	[WORD_EQ] = "==", [WORD_NE] = "!=", [WORD_LT] = "<",   [WORD_GT] = ">",
	[WORD_LE] = "<=", [WORD_GE] = ">=", [WORD_BITS] = "&", [WORD_GLOB] = "~",
};

static void put_compare(struct buf *out, const struct sql_cond *c)
{
	/* Filters have names of their own for what is no field. */
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

static void put_part(struct buf *out, const struct sql_cond *part, enum sql_cond_kind within)
{
	const bool nested =
		part->kind != COND_COMPARE && part->kind != COND_NOT && part->kind != within;

	buf_puts(out, nested ? "(" : "");
	sql_put_filter(out, part);
	buf_puts(out, nested ? ")" : "");
}

void sql_put_filter(struct buf *out, const struct sql_cond *c)
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

/* The field whose type a calculation has: the kernel takes that of the first. */
static const struct sql_field *first_field(const struct sql_expr *e)
{
	while (e->kind != EXPR_FIELD && e->kind != EXPR_NUMBER)
		e = e->left;
	return e->kind == EXPR_FIELD ? &e->field : NULL;
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
	/* The kernel prints these two in a way of their own. */
	static const char *const kept[] = {"pid_t", "gfp_t"};
	const bool is_signed = f->flags & FIELD_SIGNED && !(f->flags & FIELD_POINTER);

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		if (strcmp(f->type, kept[i]) == 0) {
			buf_printf(out, "%s %s", kept[i], name);
			return;
		}
	}
	buf_printf(out, "%c%u %s", is_signed ? 's' : 'u', f->size * 8, name);
}

int sql_put_declaration(struct sql *q, struct buf *out, const struct sql_column *c)
{
	const struct sql_field *f = first_field(c->expr);

	if (!f || f->pseudo == PSEUDO_TIMESTAMP || f->pseudo == PSEUDO_TIMESTAMP_USECS)
		buf_printf(out, "u64 %s", c->name);
	else if (f->pseudo == PSEUDO_CPU)
		buf_printf(out, "u32 %s", c->name);
	else if (f->type == TYPE_STACK)
		buf_printf(out, "unsigned long %s[]", c->name);
	else if (f->type == TYPE_TEXT)
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
