// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The terminal of `spur tui`, by ncurses: what the viewer has drawn goes to it, keys and the mouse
 * come from it.
 *
 * ncurses writes nothing but what is drawn; characters of the grid are harmless (tui/screen.h).
 */
#include <curses.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "cli/tui.h"
#include "tui/colours.h"
#include "tui/tui.h"

#define MOST_PAIRS   32767
#define COLOURS	     257 /* 256 and the usual one */
#define ESCAPE_MS    50	 /* that a sequence of a key may take, over slow lines too */
#define DOUBLE_MS    400
#define MOST_AT_ONCE 200 /* keys before the screen is drawn again */

struct terminal {
	SCREEN *screen;
	bool taken;
	int colours;  /* 0: none */
	short *pairs; /* by foreground and background; 0: not made yet */
	short nr_pairs;
	struct termios before;
	bool has_before;
	/* The last click. */
	struct timespec clicked;
	int32_t x, y;
};

/* ---- begin and end ---- */

static void begin_colours(struct terminal *term, bool *wanted)
{
	if (!*wanted || start_color() == ERR || COLORS < 8 || use_default_colors() == ERR) {
		*wanted = false;
		return;
	}
	term->pairs = calloc((size_t)COLOURS * COLOURS, sizeof(*term->pairs));
	if (term->pairs)
		term->colours = COLORS >= 256 ? 256 : 8;
	else
		*wanted = false;
}

/* Small systems know "xterm" and have not heard of "xterm-256color". */
static SCREEN *find_terminal(const char *name)
{
	char family[64];
	SCREEN *screen;

	if (!name || !*name)
		return NULL;
	screen = newterm(name, stdout, stdin);
	if (screen || !strchr(name, '-') || strlen(name) >= sizeof(family))
		return screen;
	memcpy(family, name, strlen(name) + 1);
	*strchr(family, '-') = '\0';
	return *family ? newterm(family, stdout, stdin) : NULL;
}

struct terminal *terminal_open(bool *colour)
{
	struct terminal *term = calloc(1, sizeof(*term));
	const char *name = getenv("TERM");

	if (!term) {
		cli_error("out of memory");
		return NULL;
	}
	term->has_before = tcgetattr(STDIN_FILENO, &term->before) == 0;
	term->screen = find_terminal(name);
	if (!term->screen) {
		cli_error("the terminal '%s' is not known here; TERM names another one",
			  name ? name : "");
		free(term);
		return NULL;
	}
	begin_colours(term, colour);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE_MS);
	mouseinterval(0);
	mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
	/* Until the files are open the terminal is the user's. */
	endwin();
	return term;
}

void terminal_begin(struct terminal *term)
{
	term->taken = true;
	refresh();
}

void terminal_end(struct terminal *term)
{
	if (!term->taken)
		return;
	term->taken = false;
	endwin();
	if (term->has_before)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &term->before);
}

void terminal_close(struct terminal *term)
{
	if (!term)
		return;
	terminal_end(term);
	delscreen(term->screen);
	free(term->pairs);
	free(term);
}

/* ---- showing ---- */

static short colour_here(const struct terminal *term, int16_t colour)
{
	if (colour < 0)
		return -1;
	return term->colours == 8 ? colour_8(colour) : colour;
}

/* Made when it is first used; the usual one when there are too many. */
static short pair_of(struct terminal *term, struct screen_style style)
{
	short fg, bg, *pair;

	if (!term->colours || (style.fg < 0 && style.bg < 0))
		return 0;
	fg = colour_here(term, style.fg);
	bg = colour_here(term, style.bg);
	if (term->colours == 8 && bg == COLOR_BLUE && fg == COLOR_BLACK)
		fg = COLOR_WHITE;
	pair = &term->pairs[(fg + 1) * COLOURS + bg + 1];
	if (*pair)
		return *pair;
	if (term->nr_pairs + 1 >= COLOR_PAIRS || term->nr_pairs + 1 >= MOST_PAIRS ||
	    init_pair(term->nr_pairs + 1, fg, bg) == ERR)
		return 0;
	*pair = ++term->nr_pairs;
	return *pair;
}

static attr_t attributes_of(uint8_t attributes)
{
	return (attributes & SCREEN_BOLD ? A_BOLD : 0) | (attributes & SCREEN_DIM ? A_DIM : 0) |
	       (attributes & SCREEN_REVERSE ? A_REVERSE : 0) |
	       (attributes & SCREEN_UNDERLINE ? A_UNDERLINE : 0);
}

static void show_cell(struct terminal *term, int32_t x, int32_t y, const struct screen_cell *c)
{
	const wchar_t text[] = {(wchar_t)c->character, L'\0'};
	cchar_t out;

	if (setcchar(&out, text, attributes_of(c->style.attributes), pair_of(term, c->style),
		     NULL) != ERR)
		mvadd_wch(y, x, &out);
}

void terminal_show(struct terminal *term, const struct tui *t)
{
	int32_t x, y;

	for (y = 0; y < t->screen.height && y < LINES; y++)
		for (x = 0; x < t->screen.width && x < COLS; x++)
			show_cell(term, x, y, screen_cell(&t->screen, x, y));
	if (tui_caret(t, &x, &y)) {
		curs_set(1);
		move(y, x);
	} else {
		curs_set(0);
	}
	refresh();
}

int terminal_resize(struct terminal *term, struct tui *t)
{
	erase();
	return tui_resize(t, COLS > 0 ? COLS : 1, LINES > 0 ? LINES : 1);
}

/* ---- reading ---- */

static const struct {
	wint_t code;
	uint32_t key;
} keys[] = {
	{KEY_UP, TUI_UP},
	{KEY_DOWN, TUI_DOWN},
	{KEY_LEFT, TUI_LEFT},
	{KEY_RIGHT, TUI_RIGHT},
	{KEY_HOME, TUI_HOME},
	{KEY_END, TUI_END},
	{KEY_FIND, TUI_HOME},
	{KEY_SELECT, TUI_END},
	{KEY_PPAGE, TUI_PAGE_UP},
	{KEY_NPAGE, TUI_PAGE_DOWN},
	{KEY_DC, TUI_DELETE},
	{KEY_ENTER, TUI_ENTER},
	{KEY_BACKSPACE, TUI_BACKSPACE},
};

static bool is_double(struct terminal *term, int32_t x, int32_t y)
{
	struct timespec now;
	int64_t ms;
	bool same;

	clock_gettime(CLOCK_MONOTONIC, &now);
	ms = (now.tv_sec - term->clicked.tv_sec) * 1000 +
	     (now.tv_nsec - term->clicked.tv_nsec) / 1000000;
	same = ms < DOUBLE_MS && term->x == x && term->y == y && term->clicked.tv_sec;
	term->clicked = same ? (struct timespec){0} : now;
	term->x = x;
	term->y = y;
	return same;
}

static void read_mouse(struct terminal *term, struct tui *t)
{
	MEVENT e;

	if (getmouse(&e) == ERR)
		return;
	if (e.bstate & BUTTON4_PRESSED)
		tui_mouse(t, TUI_WHEEL_UP, e.x, e.y);
	else if (e.bstate & BUTTON5_PRESSED)
		tui_mouse(t, TUI_WHEEL_DOWN, e.x, e.y);
	else if (e.bstate & BUTTON1_PRESSED)
		tui_mouse(t, is_double(term, e.x, e.y) ? TUI_DOUBLE_CLICK : TUI_CLICK, e.x, e.y);
}

/* 0, or why it is over. */
static int take_code(struct terminal *term, struct tui *t, wint_t code)
{
	if (code == KEY_RESIZE)
		return terminal_resize(term, t);
	if (code == KEY_MOUSE)
		read_mouse(term, t);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].code == code)
			return tui_key(t, keys[i].key) ? 0 : -EPIPE;
	return 0;
}

static int take_character(struct tui *t, wint_t c)
{
	if (c == '\r')
		c = TUI_ENTER;
	else if (c == 0x7f || c == '\b')
		c = TUI_BACKSPACE;
	if (c == 0x0c) {
		/* Ctrl-L: something else has written on the screen. */
		clearok(curscr, TRUE);
		return 0;
	}
	return tui_key(t, (uint32_t)c) ? 0 : -EPIPE;
}

int terminal_read(struct terminal *term, struct tui *t, int ms)
{
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
	const int ready = poll(&in, 1, ms);
	int any = 0, rc = 0;

	if (ready > 0 && !(in.revents & POLLIN))
		return -EIO;
	for (int i = 0; i < MOST_AT_ONCE && rc == 0; i++) {
		wint_t c;
		const int kind = get_wch(&c);

		if (kind == ERR) {
			/* There was something to read, and it was the end. */
			if (!i && ready > 0 && (in.revents & POLLHUP))
				return -EIO;
			break;
		}
		any = 1;
		rc = kind == KEY_CODE_YES ? take_code(term, t, c) : take_character(t, c);
	}
	return rc < 0 ? rc : any;
}
