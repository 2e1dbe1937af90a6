// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * spur script --fmt: a script as it should look. It is only printed when it can be read again, and
 * means the same as before.
 */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "cli/cli.h"
#include "cli/script.h"
#include "lang/format.h"
#include "lang/parse.h"

#define ARENA_LIMIT (64u << 20)
#define TEXT_LIMIT  (64u << 20)

/* The picture of a script's tree. -EINVAL, told, when it is none. */
static int picture(const struct script_command *o, const struct buf *text, struct buf *to)
{
	const struct parse_options opt = {.include_dirs = o->include_dirs.at,
					  .include_files = o->include_files.at};
	struct script_ast ast;
	struct source source;
	struct arena arena;
	int rc;

	arena_init(&arena, ARENA_LIMIT);
	source_init(&source, &arena);
	source.no_warnings = true;
	rc = source_add(&source, script_name(o), text->data, text->len, (struct span){0, 0})
		     ? parse_bpftrace(&source, &opt, &ast)
		     : -EFBIG;
	if (rc == 0)
		ast_dump(&ast, to);
	script_tell(source.messages.data, source.messages.len);
	source_free(&source);
	arena_free(&arena);
	return rc == 0 && to->full ? -EFBIG : rc;
}

static bool same(const struct buf *a, const struct buf *b)
{
	return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

static int format(const struct script_command *o, const struct buf *text, struct buf *formatted)
{
	struct spur_error err = {0};
	struct buf before, after;
	int rc;

	buf_init(&before, TEXT_LIMIT);
	buf_init(&after, TEXT_LIMIT);
	rc = picture(o, text, &before);
	if (rc == 0) {
		rc = format_script(text->data, text->len, formatted, &err);
		if (rc == 0 && (picture(o, formatted, &after) < 0 || !same(&before, &after)))
			rc = error_set(&err, -EINVAL,
				       "the script cannot be laid out: it would mean something "
				       "else");
		if (rc < 0)
			script_error(o, "%s: %s", script_name(o), err.text);
	}
	buf_free(&before);
	buf_free(&after);
	return rc;
}

int script_command_format(struct script_command *o)
{
	struct buf text, formatted;
	int status;

	if (!script_words_end(&o->include_dirs) || !script_words_end(&o->include_files))
		return script_error(o, "out of memory");
	buf_init(&formatted, TEXT_LIMIT);
	status = script_read(o, &text);
	if (status == SPUR_OK && format(o, &text, &formatted) < 0)
		status = SPUR_USAGE;
	if (status == SPUR_OK)
		cli_put(formatted.data, formatted.len);
	buf_free(&text);
	buf_free(&formatted);
	return status;
}
