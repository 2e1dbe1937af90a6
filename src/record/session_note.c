// SPDX-License-Identifier: GPL-2.0-or-later
/* What a session notes for the case that it is killed: see rescue.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/vec.h"
#include "record/meta_parts.h"
#include "record/session_parts.h"

#define NOTE_LIMIT (16u << 20)

/* How many events each stream has given so far. Nothing is noted when one cannot be asked. */
static void read_bases(const struct session *s, struct rescue_file *to)
{
	const size_t nr = s->setup.nr_buffers * s->meta.nr_cpus;
	size_t n = 0;

	to->nr_base = 0;
	free(to->base);
	to->base = calloc(nr + 1, sizeof(*to->base));
	if (!to->base)
		return;
	for (size_t i = 0; i < s->setup.nr_buffers; i++)
		for (uint32_t k = 0; k < s->meta.nr_cpus && s->setup.buffers[i].instance; k++)
			if (!meta_stat(s->fs, s->setup.buffers[i].instance, s->meta.cpus[k],
				       "\nread events: ", &to->base[n++]))
				return;
	to->nr_base = n;
}

void session_trail_next(struct session *s, int fd)
{
	struct rescue_file *now = &s->trail[0];
	struct stat st = {0};

	free(s->trail[1].base);
	s->trail[1] = *now;
	*now = (struct rescue_file){0};
	if (!s->file.path || fstat(fd, &st) < 0 ||
	    !rescue_path(s->file.path, now->path, sizeof(now->path)))
		now->path[0] = '\0';
	now->dev = (uint64_t)st.st_dev;
	now->ino = (uint64_t)st.st_ino;
	/* While another file is written, it is not known yet where this one will begin. */
	if (!s->rec)
		session_trail_switched(s);
}

void session_trail_switched(void *session)
{
	struct session *s = session;

	s->trail[1].nr_base = 0;
	read_bases(s, &s->trail[0]);
}

void session_trail_moved(struct session *s, const char *path)
{
	struct rescue_file *now = &s->trail[0];
	struct stat st;

	if (stat(path, &st) < 0 || !rescue_path(path, now->path, sizeof(now->path)))
		return;
	now->dev = (uint64_t)st.st_dev;
	now->ino = (uint64_t)st.st_ino;
	session_note(s, NULL);
}

void session_trail_read(struct session *s, struct rescue_file *to)
{
	free(to->base);
	*to = s->trail[0];
	s->trail[0].base = NULL;
}

static bool fill(const struct session *s, struct rescue_note *n)
{
	const struct session_options *o = s->opt;

	n->data = o->recorder.data_file ? o->recorder.data_file : "trace_pipe_raw";
	n->file = s->trail[0];
	n->was = s->trail[1];
	if (s->file.temp && !rescue_path(s->file.temp, n->temp, sizeof(n->temp)))
		return false;
	for (size_t i = 0; i < s->setup.nr_buffers; i++) {
		const char **slot = vec_push(&n->streams);

		if (!slot)
			return false;
		*slot = s->setup.buffers[i].instance;
	}
	if (session_is_text(s))
		n->tracer = s->req->buffers.at[0].tracer;
	n->version = o->file.version;
	n->compression = o->file.compression ? o->file.compression : "none";
	return true;
}

int session_note(struct session *s, struct spur_error *err)
{
	char output[RESCUE_PATH_CAP];
	struct rescue_note *n;
	struct buf text;
	int rc = 0;

	if (!s->undo)
		return 0;
	n = calloc(1, sizeof(*n));
	if (!n)
		return error_set(err, -ENOMEM, "out of memory for the undo log");
	buf_init(&text, NOTE_LIMIT);
	/* A recording that has no file until its end: a guardian would have to create one. */
	if ((s->opt->flight || session_is_text(s)) &&
	    rescue_path(s->opt->output, output, sizeof(output)))
		n->flight = output;
	if (fill(s, n))
		rescue_note_put(n, &text);
	rc = undo_note(s->undo, buf_str(&text), err);
	vec_free(&n->streams);
	free(n);
	buf_free(&text);
	return rc;
}
