// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The flame graph: a frame is as wide as its total, callees stand on (icicle: hang from) their
 * callers, sorted by name. Twice the tree is walked by the same rule: first to learn how deep what
 * is drawn goes and how much is left out because it is too narrow, then to draw.
 */
#include <math.h>

#include "draw/flame_page.h"

#define MIN_WIDTH 0.1
#define NUMBERS	  256

struct drawing {
	const struct flame *flame;
	const struct flame_look *look;
	unsigned int side; /* whose values are widths */
	double scale;	   /* pixels of a unit */
	double min_width;
	double max_change; /* of a share, up or down */
	size_t depth;	   /* of the deepest frame drawn */
	uint64_t left_out, left_out_value;
	double gone; /* shares of the first side that the second has no frames for */
	void (*visit)(struct drawing *d, const struct flame_node *n, size_t depth);
	struct flame_page page;
	struct buf *out, numbers;
};

static double share(const struct drawing *d, unsigned int side, const struct flame_node *n)
{
	const uint64_t all = d->flame->root->total[side];

	return all ? (double)n->total[side] / (double)all : 0;
}

static double change(const struct drawing *d, const struct flame_node *n)
{
	return share(d, 1, n) - share(d, 0, n);
}

static double width(const struct drawing *d, const struct flame_node *n)
{
	return (double)n->total[d->side] * d->scale;
}

static void place_children(const struct drawing *d, const struct flame_node *parent)
{
	uint64_t at = parent->at;

	for (struct flame_node *n = parent->child; n; n = n->sibling) {
		n->at = at;
		if (__builtin_add_overflow(at, n->total[d->side], &at))
			at = UINT64_MAX;
	}
}

static bool too_narrow(const struct drawing *d, const struct flame_node *n, size_t depth)
{
	return !n->total[d->side] || width(d, n) < d->min_width || depth >= FLAME_DEPTH;
}

static void walk(struct drawing *d)
{
	const struct flame_node *n = d->flame->root;
	size_t depth = 0;

	while (n) {
		const bool narrow = too_narrow(d, n, depth);

		if (narrow) {
			d->left_out += n->total[d->side] != 0;
			d->left_out_value += n->total[d->side];
			if (!n->total[d->side])
				d->gone += share(d, 0, n);
		} else {
			d->visit(d, n, depth);
			place_children(d, n);
		}
		if (!narrow && n->child) {
			n = n->child;
			depth++;
			continue;
		}
		for (; n && !n->sibling; n = n->parent)
			depth--;
		n = n ? n->sibling : NULL;
	}
}

static void measure(struct drawing *d, const struct flame_node *n, size_t depth)
{
	d->depth = depth > d->depth ? depth : d->depth;
	d->max_change = fmax(d->max_change, fabs(change(d, n)));
}

static void put_numbers(struct drawing *d, const struct flame_node *n)
{
	struct buf *b = &d->numbers;

	buf_reset(b);
	flame_put_value(b, d->look, n->total[d->side]);
	buf_puts(b, ", ");
	flame_put_percent(b, share(d, d->side, n), 1);
	if (!d->look->both)
		return;
	buf_puts(b, "; before ");
	flame_put_value(b, d->look, n->total[0]);
	buf_puts(b, ", ");
	flame_put_percent(b, share(d, 0, n), 1);
	buf_puts(b, change(d, n) >= 0 ? "; +" : "; ");
	flame_put_percent(b, change(d, n), 1);
}

static void draw(struct drawing *d, const struct flame_node *n, size_t depth)
{
	const size_t row = d->look->icicle ? depth : d->depth - depth;
	const struct flame_box box = {
		.x = FLAME_LEFT + (double)n->at * d->scale,
		.y = (double)(FLAME_TOP + row * FLAME_ROW),
		.w = width(d, n),
		.h = FLAME_ROW - 1,
		.name = flame_name(n),
		.colour = d->look->both
				  ? flame_colour_of_change(
					    d->look->colours,
					    d->max_change > 0 ? change(d, n) / d->max_change : 0)
				  : flame_colour(d->look->colours, flame_name(n)),
	};

	put_numbers(d, n);
	flame_put_box(d->out, &box, &d->numbers);
}

/* What the picture does not show. */
static void put_omissions(const struct drawing *d, struct buf *b)
{
	const uint64_t crowded = d->flame->crowded[d->side];

	if (d->left_out) {
		buf_u64(b, d->left_out);
		buf_puts(b, " frames narrower than ");
		flame_put_fixed(b, d->min_width, d->min_width < 0.01 ? 4 : 2);
		buf_puts(b, " px left out, ");
		flame_put_percent(b, (double)d->left_out_value * d->scale, d->page.inner);
	}
	if (crowded) {
		buf_puts(b, b->len ? "; too many functions: " : "too many functions: ");
		flame_put_percent(b, (double)crowded * d->scale, d->page.inner);
		buf_puts(b, " in (other)");
	}
	if (d->look->both && d->gone > 0) {
		buf_puts(b, b->len ? "; " : "");
		flame_put_percent(b, d->gone, 1);
		buf_puts(b, " of the first is gone");
	}
}

void flame_svg(const struct flame *f, const struct flame_look *look, struct buf *out)
{
	const unsigned int side = look->both;
	const uint64_t all = f->root->total[side];
	struct drawing d = {
		.flame = f,
		.look = look,
		.side = side,
		.min_width = look->min_width >= 0 ? look->min_width : MIN_WIDTH,
		.visit = measure,
		.out = out,
		.page = {.kind = "flame", .width = flame_width(look), .left = FLAME_LEFT},
	};
	struct buf omissions;

	buf_init(&d.numbers, NUMBERS);
	buf_init(&omissions, NUMBERS);
	d.page.inner = (double)d.page.width - 2 * FLAME_LEFT;
	d.scale = all ? d.page.inner / (double)all : 0;
	f->root->at = 0;
	walk(&d);
	put_omissions(&d, &omissions);
	d.page.subtitle = buf_str(&omissions);
	d.page.title = look->both     ? "Differential Flame Graph"
		       : look->icicle ? "Icicle Graph"
				      : "Flame Graph";
	d.page.down = look->icicle;
	d.page.height = (uint32_t)(FLAME_TOP + (d.depth + 1) * FLAME_ROW + FLAME_BOTTOM);
	flame_page_begin(out, look, &d.page);
	d.visit = draw;
	walk(&d);
	flame_page_end(out, &d.page);
	buf_free(&omissions);
	buf_free(&d.numbers);
}
