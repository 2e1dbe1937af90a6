// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `spur tui` from start to end. The files and the terminal are opened, then privileges are given
 * up, and only then a byte of the files is read. Messages are printed before the viewer has the
 * terminal, and after. Whatever ends it, the terminal is restored.
 *
 * ncurses writes only what is drawn; characters of the grid are harmless (tui/screen.h).
 */
#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "cli/tui.h"
#include "cli/view.h"
#include "dat/dat.h"
#include "tui/screen.h"
#include "tui/tui.h"

#define MOST_PAIRS   32767
#define COLOURS	     257 /* 256 and the usual one */
#define ESCAPE_MS    50	 /* for the bytes of one key to arrive, also over slow lines */
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

/* Small systems have "xterm" but not "xterm-256color". */
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

static struct terminal *terminal_open(bool *colour)
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

static void terminal_end(struct terminal *term)
{
	if (!term->taken)
		return;
	term->taken = false;
	endwin();
	if (term->has_before)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &term->before);
}

static void terminal_close(struct terminal *term)
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

static void terminal_show(struct terminal *term, const struct tui *t)
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

static int terminal_resize(struct terminal *term, struct tui *t)
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

/* 0, or a negative errno, which ends the viewer. */
static int take_code(struct terminal *term, struct tui *t, wint_t code)
{
	if (code == KEY_RESIZE)
		return terminal_resize(term, t);
	if (code == KEY_MOUSE)
		read_mouse(term, t);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
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

static int terminal_read(struct terminal *term, struct tui *t, int ms)
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

#define BUSY_MS 100 /* between looks while something goes on */
#define IDLE_MS 500 /* a signal may come just before it waits */

struct running {
	const struct tui_command *o;
	struct view_setup setup;
	struct terminal *term;
	struct view *view;
	struct tui *tui;
	bool colour, ascii;
};

/* ---- signals ---- */

static void on_signal(int sig)
{
	cli_stop = sig;
}

/* Unlike elsewhere, a second signal does not kill the program: the terminal must be restored. */
static void catch_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	const struct sigaction sa = {.sa_handler = on_signal};

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* ---- what the terminal shows ---- */

static bool names_utf8(const char *variable)
{
	const char *value = getenv(variable);

	return value && (strcasestr(value, "utf-8") || strcasestr(value, "utf8"));
}

/*
 * Characters only: numbers are those of the report. Where the user's language is not installed, as
 * on a board that is reached by ssh, its characters may be known all the same.
 */
static bool shows_utf8(void)
{
	if (!setlocale(LC_CTYPE, "") &&
	    (names_utf8("LC_ALL") || names_utf8("LC_CTYPE") || names_utf8("LANG")))
		setlocale(LC_CTYPE, "C.UTF-8");
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

static int open_terminal(struct running *r)
{
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return cli_refused(
			"'spur tui' needs a terminal; 'spur report' prints, 'spur view --svg' "
			"draws");
	if (!cli_colour(r->o->colour, &r->colour))
		return SPUR_USAGE;
	r->ascii = !shows_utf8() || r->o->ascii;
	r->term = terminal_open(&r->colour);
	return r->term ? SPUR_OK : SPUR_ENVIRONMENT;
}

/* ---- which part ---- */

static int read_range(const struct running *r, uint64_t *since, uint64_t *until)
{
	const struct tui_command *o = r->o;
	struct spur_error err = {0};

	if (parse_range(o->since, o->until, !view_nanoseconds(r->view), since, until, &err) < 0)
		return cli_fail(&err);
	if (o->since && o->until && *until <= *since)
		return cli_wrong("--until %s is not after --since %s", o->until, o->since);
	return SPUR_OK;
}

/* Waits until it is known whether the files reach this time. */
static void wait_for_time(struct view *v, uint64_t ts)
{
	while (view_progress(v) < 1 && view_origin(v) + view_duration(v) < ts && !cli_stop)
		view_wait(v, view_generation(v), BUSY_MS, &cli_stop);
}

static int make_tui(struct running *r, uint64_t since, uint64_t until)
{
	struct tui_options opt = {
		.ascii = r->ascii,
		.mono = !r->colour,
		.filter = r->o->filter,
		.cpus = r->o->cpus.bits,
		.nr_cpus = r->o->cpus.nr,
		.stop = &cli_stop,
	};
	struct spur_error err = {0};

	if (r->o->since || r->o->until) {
		const uint64_t origin = view_origin(r->view);
		uint64_t end;

		wait_for_time(r->view, r->o->until ? until : since);
		end = view_duration(r->view) + 1;
		opt.since = r->o->since && since > origin ? since - origin : 0;
		opt.until = r->o->until ? (until > origin ? until - origin : 0) : end;
		if (opt.since >= end || opt.until <= opt.since) {
			cli_error("there are no events between --since and --until");
			return SPUR_INCOMPLETE;
		}
	}
	r->tui = tui_new(r->view, &opt, &err);
	if (!r->tui && r->o->filter && err.code == -EINVAL)
		error_prefix(&err, "-F");
	return r->tui ? SPUR_OK : cli_fail(&err);
}

/* ---- the loop ---- */

static int loop(struct running *r)
{
	int rc = terminal_resize(r->term, r->tui);

	while (rc >= 0 && !cli_stop) {
		tui_news(r->tui);
		tui_draw(r->tui);
		terminal_show(r->term, r->tui);
		do {
			rc = terminal_read(r->term, r->tui, tui_waits(r->tui) ? BUSY_MS : IDLE_MS);
		} while (!rc && !cli_stop && !tui_news(r->tui));
	}
	return rc;
}

static int look(struct running *r)
{
	struct spur_error err = {0};
	int rc;

	r->term->taken = true;
	refresh();
	rc = loop(r);
	terminal_end(r->term);
	if (rc == -ENOMEM)
		return cli_fail((error_set(&err, rc, "out of memory"), &err));
	return cli_stop ? 128 + cli_stop : SPUR_OK;
}

static bool has_trace(const struct view *v)
{
	for (size_t i = 0; i < view_nr_files(v); i++)
		if (view_file(v, i)->trace)
			return true;
	return false;
}

static int show(struct running *r)
{
	const struct view_setup_options setup = {.terminal = true};
	uint64_t since = 0, until = 0;
	int status = view_setup_scratch(&r->setup);

	if (status == SPUR_OK)
		status = view_setup_confine(&r->setup, &setup);
	if (status == SPUR_OK)
		status = view_setup_view(&r->setup, (uint32_t)r->o->threads, &r->view);
	if (status == SPUR_OK && !has_trace(r->view))
		status = view_setup_unreadable(r->view);
	if (status == SPUR_OK)
		status = read_range(r, &since, &until);
	if (status == SPUR_OK)
		status = make_tui(r, since, until);
	if (status != SPUR_OK)
		return status;
	for (size_t i = 0; i < view_nr_files(r->view); i++)
		if (!view_file(r->view, i)->trace)
			tui_say(r->tui, "%s", view_file(r->view, i)->error.text);
	status = look(r);
	return status ? status : view_setup_damage(r->view, false);
}

int tui_run(const struct tui_command *o, const char *const *paths, size_t nr)
{
	struct running *r = calloc(1, sizeof(*r));
	int status;

	if (!r)
		return cli_refused("out of memory");
	r->o = o;
	status = view_setup_open(&r->setup, paths, nr, o->cache, o->no_cache);
	if (status == SPUR_OK)
		status = open_terminal(r);
	catch_signals();
	if (status == SPUR_OK)
		status = show(r);
	tui_free(r->tui);
	view_close(r->view);
	terminal_close(r->term);
	view_setup_close(&r->setup);
	free(r);
	return status;
}
