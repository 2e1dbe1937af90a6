// SPDX-License-Identifier: GPL-2.0-or-later
/* Files that a script names. Each is read once, which also ends files that include each other. */
#include "lang/pp.h"

#include <errno.h>
#include <unistd.h>

#include "base/file.h"
#include "lang/lex.h"

static bool read_before(const struct pp *pp, const char *path)
{
	for (const struct pp_file *f = pp->files; f; f = f->next)
		if (!strcmp(f->path, path))
			return true;
	return false;
}

/* DIR/NAME, with dir_len characters of DIR; NAME alone when it is absolute or there is no DIR. */
static char *join_path(struct lexer *l, const char *dir, size_t dir_len, const char *name)
{
	const size_t len = strlen(name);
	char *path;

	if (*name == '/' || !dir_len)
		return arena_strdup(l->arena, name);
	path = arena_alloc(l->arena, dir_len + len + 2);
	if (path) {
		memcpy(path, dir, dir_len);
		path[dir_len] = '/';
		memcpy(path + dir_len + 1, name, len);
	}
	return path;
}

static char *find_file(struct lexer *l, const char *name, struct span by)
{
	const struct source_part *in = source_part_of(l->source, by.from);
	const char *slash = in ? strrchr(in->name, '/') : NULL;
	char *path = join_path(l, in ? in->name : "", slash ? (size_t)(slash - in->name) : 0, name);

	if (path && access(path, F_OK) == 0)
		return path;
	for (const char *const *dir = l->opt ? l->opt->include_dirs : NULL; dir && *dir; dir++) {
		path = join_path(l, *dir, strlen(*dir), name);
		if (path && access(path, F_OK) == 0)
			return path;
	}
	return NULL;
}

static int add_text(struct lexer *l, const char *path, struct span by, struct span *text)
{
	struct spur_error err = {0};
	struct buf content;
	int r;

	buf_init(&content, SOURCE_LIMIT);
	r = file_read(path, &content, &err);
	if (r < 0) {
		lex_error(l, by, "%s", err.text);
	} else if (!source_add(l->source, path, content.data, content.len, by)) {
		lex_no_memory(l);
		r = -ENOMEM;
	} else {
		*text = (struct span){(uint32_t)(l->source->text.len - content.len - 1),
				      (uint32_t)l->source->text.len - 1};
		r = 1;
	}
	buf_free(&content);
	return r;
}

int pp_add_file(struct lexer *l, const char *name, struct span by, struct span *text)
{
	struct pp_file *f;
	char *path;

	if (l->opt && l->opt->no_files) {
		lex_error(l, by, "files cannot be read from here");
		return -EPERM;
	}
	path = find_file(l, name, by);
	if (!path)
		return -ENOENT;
	if (read_before(&l->pp, path))
		return 0;
	f = arena_alloc(l->arena, sizeof(*f));
	if (!f) {
		lex_no_memory(l);
		return -ENOMEM;
	}
	if (l->pp.nr_files++ >= PP_MAX_FILES) {
		lex_error(l, by, "more than %d files are included", PP_MAX_FILES);
		return -E2BIG;
	}
	*f = (struct pp_file){l->pp.files, path};
	l->pp.files = f;
	return add_text(l, path, by, text);
}
