// SPDX-License-Identifier: GPL-2.0-or-later
/* Text over everything else, and the help, which is one. */
#include "tui/parts.h"

#define PAGE_LIMIT (4u << 20)
#define KEYS_WIDTH 20

void tui_page_open(struct tui *t, const char *title)
{
	tui_page_close(t);
	buf_init(&t->page.text, PAGE_LIMIT);
	t->page.title = title;
}

void tui_page_close(struct tui *t)
{
	if (t->page.title)
		buf_free(&t->page.text);
	t->page = (struct tui_page){0};
}

void tui_page_scroll(struct tui *t, int64_t by)
{
	const int64_t most = t->page.lines - t->page.room;
	int64_t top = t->page.top + by;

	top = top > most ? most : top;
	t->page.top = top > 0 ? (int32_t)top : 0;
}

void tui_page_help(struct tui *t)
{
	static const struct {
		enum glyph glyph;
		const char *words;
	} signs[] = {
		{GLYPH_BLOCK_LAST, "running, by the share of the time; the colour is the task's"},
		{GLYPH_RUNNABLE, "runnable: waits for a CPU"},
		{GLYPH_BLOCKED, "blocked: waits for something that is not interrupted"},
		{GLYPH_SLEEPING, "sleeping"},
		{GLYPH_STOPPED, "stopped"},
		{GLYPH_UNKNOWN, "unknown: what a CPU or task did is not in the trace"},
		{GLYPH_DOT, "events, where nothing runs"},
		{GLYPH_LOST, "events were lost"},
		{GLYPH_HIT, "hits of the search"},
	};
	struct buf *b;

	tui_page_open(t, "Keys");
	b = &t->page.text;
	for (const struct tui_binding *k = tui_bindings; k->words; k++) {
		if (!k->keys)
			buf_printf(b, "%s*%s\n", k == tui_bindings ? "" : "\n", k->words);
		else if (*k->keys)
			buf_printf(b, "  %-*s %s\n", KEYS_WIDTH, k->keys, k->words);
	}
	buf_puts(b, "\n*Signs\n");
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		struct screen one = {.ascii = t->screen.ascii};

		/* The character itself, as UTF-8. */
		if (screen_resize(&one, 1, 1) < 0)
			continue;
		screen_put(&one, 0, 0, signs[i].glyph, screen_usual);
		buf_puts(b, "  ");
		screen_dump(&one, b);
		screen_free(&one);
		b->len--;
		buf_printf(b, "%*s %s\n", KEYS_WIDTH - 1, "", signs[i].words);
	}
	buf_puts(b, "\nWith a mouse: the wheel zooms, and scrolls the list; a click puts the "
		    "cursor.\n");
}
