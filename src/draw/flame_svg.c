// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Flame graphs, and what all pictures of stacks have around their frames: page, text, colours.
 *
 * A picture is an SVG document that contains its style and its script. Without scripts the frames
 * still show their numbers; without style sheets the colours are plain. A function has the same
 * colour in every picture, because the colour depends only on the name. All colours are light
 * enough for black letters, on a dark page and on a light one.
 */
#include <math.h>

#include "base/array.h"
#include "base/xml.h"
#include "draw/flame_page.h"

#define WIDTH	   1200
#define CHAR_WIDTH 7.23 /* of the font of 12 pixels; flame.js has the same number */
#define MIN_CHARS  3
#define BORDERED   3 /* pixels; the same is in flame.js */

uint32_t flame_width(const struct flame_look *look)
{
	return look->width ? look->width : WIDTH;
}

/* ---- numbers ---- */

void flame_put_fixed(struct buf *out, double v, unsigned int digits)
{
	static const double powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000};
	uint64_t scaled;

	if (v < 0)
		buf_putc(out, '-');
	scaled = (uint64_t)llround(fmin(fabs(v), 1e12) * powers[digits]);
	buf_u64(out, scaled / (uint64_t)powers[digits]);
	if (!digits)
		return;
	buf_putc(out, '.');
	buf_u64_pad(out, scaled % (uint64_t)powers[digits], digits, '0');
}

static void flame_put_percent(struct buf *out, double part, double whole)
{
	flame_put_fixed(out, whole > 0 ? 100 * part / whole : 0, 2);
	buf_putc(out, '%');
}

/* A value with its unit. */
static void flame_put_value(struct buf *out, const struct flame_look *look, uint64_t v)
{
	if (look->unit == FLAME_UNIT_NS) {
		buf_span(out, v);
		return;
	}
	buf_u64(out, v);
	if (look->unit == FLAME_UNIT_SAMPLES) {
		buf_puts(out, v == 1 ? " sample" : " samples");
	} else if (look->unit_name) {
		buf_putc(out, ' ');
		buf_puts(out, look->unit_name);
	}
}

/* ---- elements ---- */

void flame_drop_zeros(struct buf *out)
{
	while (out->len && out->data[out->len - 1] == '0')
		out->len--;
	if (out->len && out->data[out->len - 1] == '.')
		out->len--;
}

static void put_attribute(struct buf *out, const char *name, double v)
{
	buf_putc(out, ' ');
	buf_puts(out, name);
	buf_puts(out, "=\"");
	flame_put_fixed(out, v, 4);
	/* A picture is mostly such numbers. */
	flame_drop_zeros(out);
	buf_putc(out, '"');
}

void flame_put_text(struct buf *out, const char *classes, const char *anchor, double x, double y,
		    const char *text)
{
	buf_printf(out, "<text class=\"%s\" text-anchor=\"%s\"", classes, anchor);
	put_attribute(out, "x", x);
	put_attribute(out, "y", y);
	buf_putc(out, '>');
	buf_puts_xml(out, text);
	buf_puts(out, "</text>\n");
}

/* As much of the name as there is room for. */
static void put_label(struct buf *out, const struct flame_box *b)
{
	const size_t len = strlen(b->name);
	const double room = (b->w - 5) / CHAR_WIDTH;

	buf_puts(out, "<text");
	put_attribute(out, "x", b->x + 3);
	put_attribute(out, "y", b->y + b->h - 4);
	buf_putc(out, '>');
	if (room >= MIN_CHARS && xml_chars(b->name, len) <= (size_t)room) {
		buf_put_xml(out, b->name, len);
	} else if (room >= MIN_CHARS) {
		buf_put_xml_chars(out, b->name, len, (size_t)room - 2);
		buf_puts(out, "..");
	}
	buf_puts(out, "</text>");
}

void flame_put_box(struct buf *out, const struct flame_box *b, struct buf *numbers)
{
	buf_puts(out, "<g class=\"f\"><title>");
	buf_puts_xml(out, b->name);
	buf_puts(out, " (");
	buf_put_xml(out, numbers->data, numbers->len);
	buf_puts(out, ")</title><rect");
	put_attribute(out, "x", b->x);
	put_attribute(out, "y", b->y);
	put_attribute(out, "width", b->w);
	put_attribute(out, "height", b->h);
	/* A narrow frame would consist of its border only. */
	buf_printf(out, "%s fill=\"#%06x\"/>", b->w < BORDERED ? " class=\"n\"" : "", b->colour);
	put_label(out, b);
	buf_puts(out, "</g>\n");
}

/* ---- the document ---- */

void flame_page_begin(struct buf *out, const struct flame_look *look, const struct flame_page *p)
{
	const char *title = look->title ? look->title : p->title;
	const double middle = (double)p->width / 2;

	buf_printf(out,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"spur-flame\" version=\"1.1\" "
		   "width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\" data-kind=\"%s\" "
		   "data-down=\"%d\" data-ns=\"%llu\"",
		   p->width, p->height, p->width, p->height, p->kind, p->down,
		   (unsigned long long)p->ns);
	put_attribute(out, "data-left", p->left);
	put_attribute(out, "data-inner", p->inner);
	buf_puts(out, " font-family=\"monospace\" font-size=\"12\">\n<title>");
	buf_puts_xml(out, title);
	buf_puts(out, "</title>\n<style><![CDATA[\n");
	buf_puts(out, flame_css);
	buf_puts(out, "]]></style>\n<g class=\"all\">\n"
		      "<rect class=\"bg\" width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
	flame_put_text(out, "ink title", "middle", middle, 24, title);
	if (look->subtitle || p->subtitle) {
		buf_printf(out, "<text class=\"soft\" text-anchor=\"middle\" x=\"%.0f\" y=\"44\">",
			   middle);
		if (look->subtitle)
			buf_puts_xml(out, look->subtitle);
		if (look->subtitle && p->subtitle && *p->subtitle)
			buf_puts(out, "; ");
		if (p->subtitle)
			buf_puts_xml(out, p->subtitle);
		buf_puts(out, "</text>\n");
	}
	/* Only a script makes these visible. */
	buf_printf(
		out,
		"<text class=\"key reset\" visibility=\"hidden\" x=\"%d\" y=\"24\">Reset</text>\n"
		"<text class=\"key search\" visibility=\"hidden\" text-anchor=\"end\" x=\"%u\" "
		"y=\"24\">Search</text>\n",
		FLAME_LEFT, p->width - FLAME_LEFT);
}

void flame_page_end(struct buf *out, const struct flame_page *p)
{
	const double y = p->height - 10.0;

	flame_put_text(out, "ink details", "start", FLAME_LEFT, y, " ");
	flame_put_text(out, "ink found", "end", (double)p->width - FLAME_LEFT, y, " ");
	buf_puts(out, "</g>\n<script><![CDATA[\n");
	buf_puts(out, flame_js);
	buf_puts(out, "]]></script>\n</svg>\n");
}

/* ---- colours ---- */

struct rgb {
	double r, g, b;
};

/* A range of colours, and where a name lies in it (0 to 1, independently of each other). */
struct range {
	struct rgb from, along, across;
};

static const struct range warm = {{205, 60, 20}, {50, 130, 20}, {0, 45, 35}};
static const struct range kernel = {{235, 120, 40}, {15, 50, 30}, {0, 15, 20}};
static const struct range user = {{120, 190, 110}, {50, 40, 40}, {20, 10, 20}};
static const struct range plain = {{185, 185, 190}, {30, 30, 25}, {0, 0, 0}};

/* Light versions of colours that can be told apart with any kind of colour vision. */
static const struct rgb distinct[] = {{230, 159, 60}, {110, 190, 235}, {240, 228, 120},
				      {90, 160, 215}, {225, 170, 200}, {200, 200, 200}};

static uint32_t pack(struct rgb c)
{
	return (uint32_t)lround(fmin(fmax(c.r, 0), 255)) << 16 |
	       (uint32_t)lround(fmin(fmax(c.g, 0), 255)) << 8 |
	       (uint32_t)lround(fmin(fmax(c.b, 0), 255));
}

static struct rgb between(struct rgb a, struct rgb b, double t)
{
	return (struct rgb){a.r + (b.r - a.r) * t, a.g + (b.g - a.g) * t, a.b + (b.b - a.b) * t};
}

static uint32_t in_range(const struct range *r, uint64_t hash)
{
	const double t = (double)(hash & 0xffff) / 0xffff,
		     u = (double)(hash >> 16 & 0xffff) / 0xffff;

	return pack((struct rgb){r->from.r + r->along.r * t + r->across.r * u,
				 r->from.g + r->along.g * t + r->across.g * u,
				 r->from.b + r->along.b * t + r->across.b * u});
}

/* FNV-1a, mixed: no secret is needed for a colour, and it must not differ from run to run. */
static uint64_t hash_name(const char *s, size_t len)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)s[i]) * 0x100000001b3ull;
	return map_mix(h);
}

static bool of_kernel(const char *name, size_t len)
{
	return len > 4 && strcmp(name + len - 4, "_[k]") == 0;
}

/* "[module]" at the name's end (but not "_[k]"), or what is in front of a backquote. */
static const char *module_of(const char *name, size_t *len)
{
	const size_t n = strlen(name);
	const char *open = strrchr(name, '['), *quote = strchr(name, '`');

	if (of_kernel(name, n)) {
		*len = 3;
		return name + n - 3;
	}
	if (open && n && name[n - 1] == ']') {
		*len = strlen(open);
		return open;
	}
	*len = quote ? (size_t)(quote - name) : 0;
	return name;
}

static uint32_t by_module(const char *name)
{
	size_t len;
	const char *module = module_of(name, &len);
	const uint64_t hash = hash_name(module, len);

	if (!len)
		return in_range(&plain, hash_name(name, strlen(name)));
	/* A hue of its own for each: a wheel of light colours. */
	return pack((struct rgb){190 + 60 * sin((double)(hash % 628) / 100),
				 190 + 60 * sin((double)(hash % 628) / 100 + 2.1),
				 190 + 60 * sin((double)(hash % 628) / 100 + 4.2)});
}

uint32_t flame_colour(enum flame_colours c, const char *name)
{
	const size_t len = strlen(name);
	const uint64_t hash = hash_name(name, len);

	switch (c) {
	case FLAME_KERNEL_USER: return in_range(of_kernel(name, len) ? &kernel : &user, hash);
	case FLAME_BY_MODULE: return by_module(name);
	case FLAME_COLOURBLIND: return pack(distinct[hash % ARRAY_SIZE(distinct)]);
	case FLAME_HOT:
	default: return in_range(&warm, hash);
	}
}

/* For a change between -1 and 1 of what there is at most. */
static uint32_t flame_colour_of_change(enum flame_colours c, double change)
{
	static const struct rgb none = {238, 238, 238}, less = {70, 120, 255};
	static const struct rgb more = {255, 70, 60}, more_orange = {240, 145, 20};
	const struct rgb up = c == FLAME_COLOURBLIND ? more_orange : more;

	return pack(between(none, change > 0 ? up : less, sqrt(fmin(fabs(change), 1))));
}

uint32_t flame_colour_of_heat(enum flame_colours c, double amount)
{
	static const struct rgb stops[2][4] = {
		{{255, 245, 200}, {253, 190, 90}, {235, 80, 40}, {140, 0, 30}},
		{{253, 231, 37}, {53, 183, 121}, {49, 104, 142}, {68, 1, 84}},
	};
	const struct rgb *s = stops[c == FLAME_COLOURBLIND];
	const double at = fmin(fmax(amount, 0), 1) * 3;
	const unsigned int i = at >= 3 ? 2 : (unsigned int)at;

	return pack(between(s[i], s[i + 1], at - i));
}

/*
 * ---- the flame graph: a frame is as wide as its total, callees stand on (icicle: hang from) their
 * callers, sorted by name. The tree is walked twice by the same rule: first to find the depth of
 * the picture and how much is left out because it is too narrow, then to draw ----
 */

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
	scoped_buf omissions = buf_new(NUMBERS);

	buf_init(&d.numbers, NUMBERS);
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
	buf_free(&d.numbers);
}
