// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What all pictures have around their frames: an SVG document that needs nothing else. Its style
 * and its script are in it; without a script it is a picture whose frames tell their numbers, and
 * without style sheets one in plain colours.
 */
#include <math.h>

#include "draw/flame_page.h"
#include "base/xml.h"

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

void flame_put_percent(struct buf *out, double part, double whole)
{
	flame_put_fixed(out, whole > 0 ? 100 * part / whole : 0, 2);
	buf_putc(out, '%');
}

void flame_put_value(struct buf *out, const struct flame_look *look, uint64_t v)
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

static void put_attribute(struct buf *out, const char *name, double v)
{
	buf_putc(out, ' ');
	buf_puts(out, name);
	buf_puts(out, "=\"");
	flame_put_fixed(out, v, 4);
	/* A picture is mostly such numbers. */
	while (out->len && out->data[out->len - 1] == '0')
		out->len--;
	if (out->len && out->data[out->len - 1] == '.')
		out->len--;
	buf_putc(out, '"');
}

static void put_xml(struct buf *out, const char *text)
{
	buf_put_xml(out, text, strlen(text));
}

void flame_put_text(struct buf *out, const char *classes, const char *anchor, double x, double y,
		    const char *text)
{
	buf_printf(out, "<text class=\"%s\" text-anchor=\"%s\"", classes, anchor);
	put_attribute(out, "x", x);
	put_attribute(out, "y", y);
	buf_putc(out, '>');
	put_xml(out, text);
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
	put_xml(out, b->name);
	buf_puts(out, " (");
	buf_put_xml(out, numbers->data, numbers->len);
	buf_puts(out, ")</title><rect");
	put_attribute(out, "x", b->x);
	put_attribute(out, "y", b->y);
	put_attribute(out, "width", b->w);
	put_attribute(out, "height", b->h);
	/* A border would be all there is to see of a narrow one. */
	buf_printf(out, "%s fill=\"#%06x\"/>", b->w < BORDERED ? " class=\"n\"" : "", b->colour);
	put_label(out, b);
	buf_puts(out, "</g>\n");
}

/* ---- the document ---- */

static void put_script(struct buf *out)
{
	buf_puts(out, "<script><![CDATA[\n");
	buf_puts(out, flame_js);
	buf_puts(out, "]]></script>\n");
}

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
	put_xml(out, title);
	buf_puts(out, "</title>\n<style><![CDATA[\n");
	buf_puts(out, flame_css);
	buf_puts(out, "]]></style>\n<g class=\"all\">\n"
		      "<rect class=\"bg\" width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
	flame_put_text(out, "ink title", "middle", middle, 24, title);
	if (look->subtitle || p->subtitle) {
		buf_printf(out, "<text class=\"soft\" text-anchor=\"middle\" x=\"%.0f\" y=\"44\">",
			   middle);
		if (look->subtitle)
			put_xml(out, look->subtitle);
		if (look->subtitle && p->subtitle && *p->subtitle)
			buf_puts(out, "; ");
		if (p->subtitle)
			put_xml(out, p->subtitle);
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
	buf_puts(out, "</g>\n");
	put_script(out);
	buf_puts(out, "</svg>\n");
}
