// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Tables as text, CSV, JSON and Markdown. All cells are stored first, because the width of a column
 * depends on all of them.
 */
#include "base/grid.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/safe.h"
#include "base/vec.h"

#define MEMORY	  (256u << 20)
#define CELL_TEXT 65536

void grid_init(struct grid *g, const struct grid_column *columns, size_t nr)
{
	*g = (struct grid){.columns = columns, .nr_columns = nr};
	arena_init(&g->arena, MEMORY);
}

void grid_free(struct grid *g)
{
	vec_free(&g->cells);
	arena_free(&g->arena);
}

static void add(struct grid *g, struct grid_cell cell)
{
	struct grid_cell *slot = vec_push(&g->cells);

	if (slot)
		*slot = cell;
	g->failed |= !slot;
}

/* A cell is one line of some length, whatever a task may be called. */
static const char *clean_copy(struct grid *g, const char *text)
{
	struct buf safe;
	const char *copy;

	buf_init(&safe, CELL_TEXT);
	buf_put_safe(&safe, text, strnlen(text, CELL_TEXT));
	for (size_t i = 0; i < safe.len; i++)
		if (safe.data[i] == '\n' || safe.data[i] == '\t')
			safe.data[i] = '?';
	copy = arena_strndup(&g->arena, safe.data, safe.len);
	buf_free(&safe);
	g->failed |= !copy;
	return copy;
}

void grid_text(struct grid *g, const char *text)
{
	add(g, (struct grid_cell){.text = clean_copy(g, text)});
}

void grid_shown(struct grid *g, const char *text, int64_t number)
{
	add(g,
	    (struct grid_cell){.text = clean_copy(g, text), .is_number = true, .number = number});
}

void grid_decimal(struct grid *g, double number, int digits)
{
	char text[400];

	/* JSON has no word for infinity or NaN. */
	if (!isfinite(number)) {
		grid_empty(g);
		return;
	}
	snprintf(text, sizeof(text), "%.*f", digits, number);
	add(g, (struct grid_cell){.text = clean_copy(g, text), .is_decimal = true});
}

void grid_number(struct grid *g, int64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)number);
	grid_shown(g, text, number);
}

void grid_empty(struct grid *g)
{
	add(g, (struct grid_cell){0});
}

/* ---- writing ---- */

/* Characters of UTF-8 text; each counts as one column. */
static size_t width_of(const char *text)
{
	size_t width = 0;

	for (; text && *text; text++)
		width += (*text & 0xc0) != 0x80;
	return width;
}

static size_t nr_rows(const struct grid *g)
{
	return g->nr_columns ? g->cells.n / g->nr_columns : 0;
}

static const struct grid_cell *cell(const struct grid *g, size_t row, size_t column)
{
	return &g->cells.at[row * g->nr_columns + column];
}

static size_t column_width(const struct grid *g, size_t column)
{
	size_t width = width_of(g->columns[column].title);

	for (size_t i = 0; i < nr_rows(g); i++) {
		const size_t w = width_of(cell(g, i, column)->text);

		width = w > width ? w : width;
	}
	return width;
}

static void put_padded(struct buf *out, const char *text, size_t width, bool right)
{
	const size_t used = width_of(text), fill = width > used ? width - used : 0;

	if (right)
		buf_fill(out, ' ', fill);
	buf_puts(out, text ? text : "");
	if (!right)
		buf_fill(out, ' ', fill);
}

/* A line has no blanks at its end. */
static void end_line(struct buf *out, size_t start, const char *end)
{
	while (out->len > start && out->data[out->len - 1] == ' ')
		out->len--;
	buf_puts(out, end);
}

static void put_heads(const struct grid *g, const size_t *widths, bool bold, bool ruled,
		      struct buf *out)
{
	const size_t start = out->len;

	buf_puts(out, bold ? "\033[1m" : "");
	for (size_t k = 0; k < g->nr_columns; k++) {
		buf_puts(out, k ? "  " : "");
		put_padded(out, g->columns[k].title, widths[k], g->columns[k].right);
	}
	end_line(out, start, bold ? "\033[0m\n" : "\n");
	for (size_t k = 0; ruled && k < g->nr_columns; k++) {
		buf_puts(out, k ? "  " : "");
		buf_fill(out, '-', widths[k]);
	}
	buf_puts(out, ruled ? "\n" : "");
}

static void put_text(const struct grid *g, bool bold, bool ruled, struct buf *out)
{
	size_t *widths = calloc(g->nr_columns + 1, sizeof(*widths));

	if (!widths) {
		out->full = true;
		return;
	}
	for (size_t k = 0; k < g->nr_columns; k++)
		widths[k] = column_width(g, k);
	put_heads(g, widths, bold, ruled, out);
	for (size_t i = 0; i < nr_rows(g); i++) {
		const size_t start = out->len;

		for (size_t k = 0; k < g->nr_columns; k++) {
			buf_puts(out, k ? "  " : "");
			put_padded(out, cell(g, i, k)->text, widths[k], g->columns[k].right);
		}
		end_line(out, start, "\n");
	}
	free(widths);
}

/* What would end the cell, be taken for HTML ("<idle>") or make the rest of it bold. */
static void put_markdown_cell(const char *text, struct buf *out)
{
	buf_puts(out, "| ");
	for (; text && *text; text++) {
		if (strchr("|\\<`*&", *text))
			buf_putc(out, '\\');
		buf_putc(out, *text);
	}
	buf_putc(out, ' ');
}

static void put_markdown(const struct grid *g, struct buf *out)
{
	for (size_t k = 0; k < g->nr_columns; k++)
		put_markdown_cell(g->columns[k].title, out);
	buf_puts(out, "|\n");
	for (size_t k = 0; k < g->nr_columns; k++)
		buf_puts(out, g->columns[k].right ? "| ---: " : "| --- ");
	buf_puts(out, "|\n");
	for (size_t i = 0; i < nr_rows(g); i++) {
		for (size_t k = 0; k < g->nr_columns; k++)
			put_markdown_cell(cell(g, i, k)->text, out);
		buf_puts(out, "|\n");
	}
}

static void put_csv(const struct grid *g, struct buf *out)
{
	for (size_t k = 0; k < g->nr_columns; k++) {
		buf_puts(out, k ? "," : "");
		buf_csv_cell(out, g->columns[k].name, strlen(g->columns[k].name));
	}
	buf_putc(out, '\n');
	for (size_t i = 0; i < nr_rows(g); i++) {
		for (size_t k = 0; k < g->nr_columns; k++) {
			const struct grid_cell *c = cell(g, i, k);

			buf_puts(out, k ? "," : "");
			if (c->is_number)
				buf_i64(out, c->number);
			else if (c->text)
				buf_csv_cell(out, c->text, strlen(c->text));
		}
		buf_putc(out, '\n');
	}
}

static void put_json_value(const struct grid_cell *c, struct buf *out)
{
	if (c->is_number)
		buf_i64(out, c->number);
	else if (c->text && c->is_decimal)
		buf_puts(out, c->text);
	else if (c->text)
		buf_json_string(out, c->text, strlen(c->text));
	else
		buf_puts(out, "null");
}

static void put_json(const struct grid *g, struct buf *out)
{
	buf_putc(out, '[');
	for (size_t i = 0; i < nr_rows(g); i++) {
		buf_puts(out, i ? ",\n {" : "{");
		for (size_t k = 0; k < g->nr_columns; k++) {
			buf_puts(out, k ? "," : "");
			buf_json_string(out, g->columns[k].name, strlen(g->columns[k].name));
			buf_putc(out, ':');
			put_json_value(cell(g, i, k), out);
		}
		buf_putc(out, '}');
	}
	buf_putc(out, ']');
}

void grid_put(const struct grid *g, enum grid_format format, bool bold, struct buf *out)
{
	switch (format) {
	case GRID_TEXT: put_text(g, bold, false, out); break;
	case GRID_RULED: put_text(g, bold, true, out); break;
	case GRID_MARKDOWN: put_markdown(g, out); break;
	case GRID_CSV: put_csv(g, out); break;
	case GRID_JSON: put_json(g, out); break;
	}
}
