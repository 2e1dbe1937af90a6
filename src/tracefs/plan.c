// SPDX-License-Identifier: GPL-2.0-or-later
/* A plan of what to write to tracefs: adding steps, doing them, showing them as shell commands. */
#include "tracefs/plan.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"

#define PLAN_LIMIT (64u << 20)
#define PATH_CAP   512

void plan_init(struct plan *p)
{
	memset(p, 0, sizeof(*p));
	arena_init(&p->arena, PLAN_LIMIT);
}

void plan_free(struct plan *p)
{
	vec_free(p);
	arena_free(&p->arena);
}

struct plan_step *plan_add_line(struct plan *p, const char *instance, const char *file,
				const char *text, const char *back)
{
	struct plan_step *step = vec_push(p);

	if (!step)
		return NULL;
	step->kind = PLAN_LINE;
	step->instance = arena_strdup(&p->arena, instance ? instance : "");
	step->file = arena_strdup(&p->arena, file);
	step->text = arena_strdup(&p->arena, text);
	step->back = arena_strdup(&p->arena, back);
	if (step->instance && step->file && step->text && step->back)
		return step;
	p->n--;
	return NULL;
}

struct plan_step *plan_add(struct plan *p, enum plan_step_kind kind, const char *instance,
			   const char *file, const char *text)
{
	struct plan_step *step = plan_add_line(p, instance, file, text, "");

	if (step)
		step->kind = kind;
	return step;
}

/* Lines and additions are appended to a file; everything else replaces its content. */
static enum tracefs_how how(const struct plan_step *s)
{
	return s->kind == PLAN_LINE || s->kind == PLAN_APPEND ? TRACEFS_APPEND : TRACEFS_REPLACE;
}

static int apply_for_good(const struct plan_step *s, const struct tracefs *fs,
			  struct spur_error *err)
{
	if (s->kind != PLAN_INSTANCE)
		return tracefs_write(fs, s->instance, s->file, how(s), s->text, err);
	return tracefs_has(fs, s->instance, "trace") ? 0
						     : tracefs_make_instance(fs, s->instance, err);
}

static int apply_for_now(const struct plan_step *s, const struct tracefs *fs, struct undo *u,
			 struct spur_error *err)
{
	switch (s->kind) {
	case PLAN_INSTANCE: return undo_make_instance(u, s->instance, err);
	case PLAN_LINE: return undo_line(u, s->instance, s->file, s->text, s->back, err);
	case PLAN_WRITE:
	case PLAN_APPEND: return undo_write(u, s->instance, s->file, how(s), s->text, err);
	case PLAN_ONCE: break;
	}
	return apply_for_good(s, fs, err);
}

int plan_apply(const struct plan *p, const struct tracefs *fs, struct undo *u,
	       struct spur_error *err)
{
	struct spur_error refused = {0};
	size_t group = 0;   /* group of the last such step … */
	bool taken = false; /* … and whether the kernel accepted one of the group */

	vec_each (s, p) {
		struct spur_error why = {0};
		int rc;

		if (s->optional && !tracefs_has(fs, s->instance, s->file))
			continue;
		rc = u ? apply_for_now(s, fs, u, &why) : apply_for_good(s, fs, &why);
		if (rc < 0 && !s->one_of)
			return error_set(err, rc, "%s", why.text);
		if (!s->one_of)
			continue;
		if (s->one_of != group && refused.code && !taken)
			break;
		if (s->one_of != group) {
			refused.code = 0;
			taken = false;
			group = s->one_of;
		}
		if (rc < 0)
			refused = why;
		else
			taken = true;
	}
	return refused.code && !taken ? error_set(err, refused.code, "%s", refused.text) : 0;
}

/* A word for a shell, quoted where that is needed. */
static void put_quoted(struct buf *to, const char *text)
{
	if (*text && !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					"0123456789_-+./:=,@%")]) {
		buf_puts(to, text);
		return;
	}
	buf_putc(to, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			buf_puts(to, "'\\'");
		buf_putc(to, *text);
	}
	buf_putc(to, '\'');
}

void plan_show(const struct plan *p, const struct tracefs *fs, struct buf *to)
{
	vec_each (s, p) {
		char path[PATH_CAP];

		/* An instance that is still to be made has the files of the top level. */
		if (s->optional &&
		    !tracefs_has(fs, tracefs_has(fs, s->instance, "trace") ? s->instance : "",
				 s->file))
			continue;
		if (!tracefs_path(fs, s->instance, s->kind == PLAN_INSTANCE ? "" : s->file, path,
				  sizeof(path)))
			continue;
		if (s->kind == PLAN_INSTANCE) {
			path[strlen(path) - 1] = '\0';
			buf_puts(to, "mkdir ");
			put_quoted(to, path);
		} else {
			buf_puts(to, "echo ");
			put_quoted(to, s->text);
			buf_puts(to, how(s) == TRACEFS_REPLACE ? " > " : " >> ");
			put_quoted(to, path);
		}
		buf_putc(to, '\n');
	}
}
