/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A viewer for terminals over a file whose index is complete, and keys for it as text. */
#ifndef TESTS_TUI_FIXTURE_H
#define TESTS_TUI_FIXTURE_H

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "tui/tui.h"

#define TUI_SAMPLE "data/sample.dat" /* 908 events of 2 CPUs in 38.841423 ms from 44.776459089 on */
#define TUI_SPAN   38841423ull
/* 8 events of CPUs 0 and 2 of 3 in 10 ms; who had CPU 2 from 3.5 to 6 ms is not known. */
#define TUI_UNKNOWN "tests/fuzz/seeds/dat/unknown.dat"

struct tui_fixture {
	struct view *view;
	struct tui *tui;
	volatile int stop;
};

static inline void tui_fixture_open_file(struct tui_fixture *f, const char *path,
					 struct tui_options o, int32_t width, int32_t height)
{
	const char *const paths[] = {path};
	const struct view_index_options index = {.threads = 1};
	struct spur_error err = {0};

	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	f->stop = 0;
	f->view = view_open(paths, 1, &index, &err);
	assert_non_null(f->view);
	if (!view_file(f->view, 0)->trace)
		fail_msg("%s", view_file(f->view, 0)->error.text);
	while (view_progress(f->view) < 1)
		view_wait(f->view, view_generation(f->view), 100, NULL);
	o.stop = &f->stop;
	f->tui = tui_new(f->view, &o, &err);
	if (!f->tui)
		fail_msg("%s", err.text);
	assert_int_equal(tui_resize(f->tui, width, height), 0);
	tui_news(f->tui);
	tui_draw(f->tui);
}

static inline void tui_fixture_open(struct tui_fixture *f, struct tui_options o, int32_t width,
				    int32_t height)
{
	tui_fixture_open_file(f, TUI_SAMPLE, o, width, height);
}

static inline void tui_fixture_close(struct tui_fixture *f)
{
	tui_free(f->tui);
	view_close(f->view);
}

/* A search that was asked for has ended. */
static inline void tui_fixture_wait(struct tui_fixture *f)
{
	while (f->tui->search.id >= 0 && f->tui->search.state.done < 1)
		tui_news(f->tui);
	tui_draw(f->tui);
}

static inline uint32_t tui_fixture_key(const char **keys)
{
	static const struct {
		const char *name;
		uint32_t key;
	} names[] = {
		{"<left>", TUI_LEFT},	 {"<right>", TUI_RIGHT},    {"<up>", TUI_UP},
		{"<down>", TUI_DOWN},	 {"<home>", TUI_HOME},	    {"<end>", TUI_END},
		{"<pgup>", TUI_PAGE_UP}, {"<pgdn>", TUI_PAGE_DOWN}, {"<tab>", TUI_TAB},
		{"<enter>", TUI_ENTER},	 {"<back>", TUI_BACKSPACE}, {"<esc>", TUI_ESCAPE},
		{"<del>", TUI_DELETE},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(*keys, names[i].name, strlen(names[i].name)) == 0) {
			*keys += strlen(names[i].name);
			return names[i].key;
		}
	return (unsigned char)*(*keys)++;
}

/* Types them one by one, as a terminal would; whether it goes on. */
static inline bool tui_fixture_type(struct tui_fixture *f, const char *keys)
{
	bool goes_on = true;

	while (*keys && goes_on) {
		goes_on = tui_key(f->tui, tui_fixture_key(&keys));
		tui_news(f->tui);
		tui_draw(f->tui);
		tui_fixture_wait(f);
	}
	return goes_on;
}

#endif
