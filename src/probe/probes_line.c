// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Statements of programs and libraries: uprobe:BINARY@FILE:LINE[:COLUMN], which their debug
 * information knows. With a process the binary may be left out.
 */
#include "probe/probes_user.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "base/pattern.h"
#include "symbols/elf.h"
#include "symbols/lines.h"

struct line_query {
	const char *binary; /* NULL: the traced program */
	struct line_wanted wanted;
	const char *path, *shown;
	const struct binary *b;
};

bool is_line_probe(const struct match *m)
{
	/* A file may be called like that, too. */
	return m->nr_words && strchr(m->word[0], '@') && access(m->word[0], F_OK) != 0;
}

static int add_place(struct match *m, const struct line_query *q, const struct line_place *place)
{
	const struct line_wanted *w = &q->wanted;
	struct probe_target *t;
	uint64_t offset;

	/* What the linker has left out is still described. */
	if (!binary_code_offset(q->b, place->addr, &offset))
		return 0;
	if (w->column)
		t = match_add(m, "%s@%s:%" PRIu64 ":%" PRIu64, q->shown, w->file, w->line,
			      w->column);
	else
		t = match_add(m, "%s@%s:%" PRIu64, q->shown, w->file, w->line);
	if (!t)
		return match_no_memory(m);
	t->path = q->path;
	t->func = place->function;
	t->address = place->addr;
	t->offset = offset;
	return 0;
}

static int find_places(struct match *m, const struct line_query *q, struct debug *debug)
{
	const size_t before = m->to->n;
	struct line_places found = {0};
	struct spur_error err = {0};
	int ret = lines_find(debug, &q->wanted, m->world->arena, &found, &err);

	if (ret == -ENOENT)
		ret = match_missing(m, "%s: %s", q->shown, err.text);
	else if (ret)
		ret = match_error(m, "%s: %s", q->shown, err.text);
	for (size_t i = 0; i < found.n && !ret; i++)
		ret = add_place(m, q, &found.at[i]);
	if (!ret && m->to->n == before)
		ret = match_missing(m, "%s: line %" PRIu64 " of %s is not part of the program",
				    q->shown, q->wanted.line, q->wanted.file);
	vec_free(&found);
	return ret;
}

static int match_binary(struct match *m, struct line_query *q)
{
	struct spur_error err = {0};
	struct debug *debug;
	struct binary *b;
	int ret = binary_open_debug(q->path, m->world->debuginfo, &b, &err);

	if (ret)
		return match_error(m, "%s", err.text);
	q->b = b;
	debug = debug_open(b);
	if (debug)
		ret = find_places(m, q, debug);
	else
		ret = match_error(m, "cannot find lines of %s: %s", q->shown, debug_missing());
	debug_close(debug);
	binary_close(b);
	return ret;
}

static int read_number(struct match *m, unsigned int i, const char *what, uint64_t *to)
{
	const char *word = m->word[i];

	if (word_number(word, to) && *to)
		return 0;
	if (is_glob(word))
		return match_error(m, "a probe on a line cannot have wildcards");
	return match_error(m, "'%s' is not the number of a %s", word, what);
}

static int read_words(struct match *m, struct line_query *q)
{
	const char *word = m->word[0], *at = strrchr(word, '@');
	const bool traced = m->world->pid || m->world->command;
	int ret;

	if (m->provider->type == PT_URETPROBE)
		return match_error(m, "uretprobes can not be attached to a line");
	if (m->nr_words < 2)
		return match_error(m, "a probe on a line is BINARY@FILE:LINE");
	if (is_glob(word))
		return match_error(m, "a probe on a line cannot have wildcards");
	if (!at[1])
		return match_error(m, "there is no source file behind the '@'");
	q->wanted.file = at + 1;
	if (at > word) {
		q->binary = arena_strndup(m->world->arena, word, (size_t)(at - word));
		if (!q->binary)
			return match_no_memory(m);
	} else if (!traced) {
		return match_error(m, "%s should have a target", m->provider->name);
	}
	ret = read_number(m, 1, "line", &q->wanted.line);
	if (!ret && m->nr_words > 2)
		ret = read_number(m, 2, "column", &q->wanted.column);
	return ret;
}

int match_line(struct match *m)
{
	struct line_query q = {0};
	struct paths paths = {0};
	int ret = read_words(m, &q);

	if (!ret)
		ret = user_binaries(m, q.binary, &paths);
	for (size_t i = 0; i < paths.n && !ret; i++) {
		q.path = paths.at[i];
		q.shown = user_shown(q.binary, q.path);
		ret = match_binary(m, &q);
	}
	vec_free(&paths);
	return ret;
}
