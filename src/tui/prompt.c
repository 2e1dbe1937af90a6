// SPDX-License-Identifier: GPL-2.0-or-later
/* The line in which something is typed: what to search for, a time to go to. */
#include <string.h>

#include "tui/parts.h"
#include "tui/times.h"

#define CTRL(c) ((c)&0x1f)

const char *tui_prompt_words(enum tui_prompt_kind kind)
{
	switch (kind) {
	case TUI_SEARCH_PROMPT: return "search: ";
	case TUI_TIME_PROMPT: return "go to: ";
	default: return "";
	}
}

void tui_prompt_open(struct tui *t, enum tui_prompt_kind kind)
{
	t->prompt = (struct tui_prompt){.kind = kind};
	if (kind == TUI_SEARCH_PROMPT)
		tui_say(t, "a filter as of report -F, or text; \"text\" is always text");
	else
		tui_say(t, "a time of the trace, +10ms, -1s from the cursor, 50%%");
}

static void go_to_time(struct tui *t)
{
	uint64_t ts;

	if (time_parse(t->prompt.text, view_origin(t->view), view_duration(t->view), t->cursor,
		       t->nanoseconds, &ts))
		tui_go(t, ts);
	else
		tui_say(t, "'%s' is not a time", t->prompt.text);
}

static void search(struct tui *t)
{
	if (!*t->prompt.text) {
		tui_search_end(t);
		tui_say(t, "nothing is searched for any more");
		return;
	}
	tui_search_start(t, t->prompt.text);
	t->search.jump = t->search.id >= 0 && t->search.hit < 0;
}

static void finish(struct tui *t)
{
	const enum tui_prompt_kind kind = t->prompt.kind;

	t->message[0] = '\0';
	if (kind == TUI_SEARCH_PROMPT)
		search(t);
	else if (*t->prompt.text)
		go_to_time(t);
	t->prompt.kind = TUI_NO_PROMPT;
}

/* ---- editing ---- */

static size_t encode(uint32_t c, char *out)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

static void insert(struct tui_prompt *p, uint32_t c)
{
	char bytes[4];
	const size_t n = encode(c, bytes);

	if (p->len + n >= TUI_PROMPT_TEXT)
		return;
	memmove(p->text + p->at + n, p->text + p->at, p->len - p->at + 1);
	memcpy(p->text + p->at, bytes, n);
	p->at += n;
	p->len += n;
}

/* Whole characters: bytes that only go on with one are passed over. */
static size_t before(const struct tui_prompt *p, size_t at)
{
	while (at && ((unsigned char)p->text[--at] & 0xc0) == 0x80)
		;
	return at;
}

static size_t behind(const struct tui_prompt *p, size_t at)
{
	at += at < p->len;
	while (at < p->len && ((unsigned char)p->text[at] & 0xc0) == 0x80)
		at++;
	return at;
}

static void erase(struct tui_prompt *p, size_t from, size_t to)
{
	memmove(p->text + from, p->text + to, p->len - to + 1);
	p->len -= to - from;
	p->at = from;
}

static void recall(struct tui *t)
{
	struct tui_prompt *p = &t->prompt;

	if (p->kind != TUI_SEARCH_PROMPT || !t->search.wanted)
		return;
	p->len = p->at = strnlen(t->search.wanted, TUI_PROMPT_TEXT - 1);
	memcpy(p->text, t->search.wanted, p->len);
	p->text[p->len] = '\0';
}

void tui_prompt_key(struct tui *t, uint32_t key)
{
	struct tui_prompt *p = &t->prompt;

	switch (key) {
	case TUI_ENTER: finish(t); break;
	case TUI_ESCAPE:
	case CTRL('g'):
		p->kind = TUI_NO_PROMPT;
		t->message[0] = '\0';
		break;
	case TUI_BACKSPACE:
		/* From an empty line it leads back, as elsewhere. */
		if (!p->len)
			p->kind = TUI_NO_PROMPT;
		else
			erase(p, before(p, p->at), p->at);
		break;
	case TUI_DELETE: erase(p, p->at, behind(p, p->at)); break;
	case CTRL('u'): erase(p, 0, p->at); break;
	case TUI_LEFT: p->at = before(p, p->at); break;
	case TUI_RIGHT: p->at = behind(p, p->at); break;
	case CTRL('a'):
	case TUI_HOME: p->at = 0; break;
	case CTRL('e'):
	case TUI_END: p->at = p->len; break;
	case TUI_UP: recall(t); break;
	default:
		if (key >= 0x20 && key < 0x110000 && key != 0x7f && (key < 0x80 || key >= 0xa0))
			insert(p, key);
	}
}
