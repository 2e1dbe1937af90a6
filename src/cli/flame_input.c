// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The files of `spur flame`. A trace, of spur or another tool, is told by how it begins; everything
 * else is folded text, and may come through a pipe.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/suggest.h"
#include "cli/flame.h"
#include "import/sources.h"

#define CHUNK (256u << 10)

static int fill(struct flame_input *in, struct spur_error *err)
{
	ssize_t n;

	buf_reset(&in->head);
	if (!buf_room(&in->head, CHUNK))
		return error_set(err, -ENOMEM, "out of memory");
	do
		n = read(in->fd, in->head.data, CHUNK);
	while (n < 0 && errno == EINTR && !cli_stop);
	if (n < 0)
		return error_sys(err, -errno, "%s", in->path);
	in->head.len = (size_t)n;
	return 0;
}

static bool is_trace(const struct buf *head)
{
	static const char magic[] = "\x17\x08\x44tracing";

	return head->len >= sizeof(magic) - 1 && memcmp(head->data, magic, sizeof(magic) - 1) == 0;
}

int flame_input_open(struct flame_input *in, const char *path, struct spur_error *err)
{
	const bool standard = strcmp(path, "-") == 0;
	int rc;

	*in = (struct flame_input){.path = standard ? "standard input" : path};
	buf_init(&in->head, CHUNK);
	in->fd = standard ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
	if (in->fd < 0)
		return error_sys(err, -errno, "%s", in->path);
	if (standard || !source_of(in->fd)) {
		rc = fill(in, err);
		if (rc < 0 || !is_trace(&in->head))
			return rc;
	}
	if (standard)
		return error_set(err, -EINVAL, "standard input: a trace must be a file");
	close(in->fd);
	in->fd = -1;
	return trace_open(path, NULL, &in->trace, err);
}

int flame_input_close(struct flame_input *in)
{
	int status = SPUR_OK;

	if (in->trace) {
		status = cli_damage(in->trace->dat);
		trace_close(in->trace);
	}
	if (in->fd >= 0)
		close(in->fd);
	buf_free(&in->head);
	return status;
}

/* ---- folded text ---- */

static int read_text(struct flame_input *in, struct flame *f, unsigned int side,
		     struct spur_error *err)
{
	struct flame_folded folded;
	int rc = 0;

	flame_folded_begin(&folded, f, side);
	while (rc == 0 && in->head.len && !cli_stop) {
		flame_folded_take(&folded, in->head.data, in->head.len);
		rc = fill(in, err);
	}
	flame_folded_end(&folded);
	if (cli_stop)
		return -EINTR;
	if (rc < 0 || !folded.bad)
		return rc;
	error_set(err, -EBADMSG, "%s: line %llu is no folded stack, a line \"outer;inner 42\"",
		  in->path, (unsigned long long)folded.first_bad);
	/* Some of it is shown, and the status tells; of a file of another kind nothing is. */
	if (folded.bad == folded.lines || folded.bad > folded.lines / 2)
		return -EBADMSG;
	return 0;
}

static int check_text_options(const struct flame_input *in, const struct flame_options *o,
			      struct spur_error *err)
{
	const struct range_options *r = &o->range;
	const char *name = o->from	  ? "--from"
			   : o->events.n  ? "-e"
			   : o->weight	  ? "--weight"
			   : o->off_cpu	  ? "--off-cpu"
			   : o->by_task	  ? "--by-task"
			   : o->by_cpu	  ? "--by-cpu"
			   : o->buffer	  ? "--buffer"
			   : r->since	  ? "--since"
			   : r->until	  ? "--until"
			   : r->cpus.bits ? "--cpu"
			   : r->pids.n	  ? "--pid"
			   : r->comms.n	  ? "--task"
					  : NULL;

	return name ? error_set(err, -EINVAL, "%s: %s goes with a trace, and this is none",
				in->path, name)
		    : 0;
}

/* ---- traces ---- */

static bool knows(const struct spur_trace *t, const struct pattern *p, struct suggest *near)
{
	const struct flame_wanted one = {.events = p, .nr_events = 1};
	bool found = false;

	for (size_t i = 0; i < t->events->nr && !found; i++) {
		const struct event *e = t->events->list[i];

		found = flame_wants_event(&one, e->system, e->name);
		suggest_try(near, e->name);
	}
	return found;
}

static int check_events(const struct flame_options *o, const struct spur_trace *t,
			struct spur_error *err)
{
	for (size_t i = 0; i < o->event_names.n; i++) {
		const char *name = o->event_names.at[i], *colon = strchr(name, ':');
		const char *word = colon ? colon + 1 : name;
		struct suggest near = suggest_for(word, strlen(word));

		if (!knows(t, &o->events.at[i], &near))
			return error_set(err, -EINVAL, "there is no event '%s'%s", name,
					 suggest_hint(&near));
	}
	return 0;
}

static int check_buffer(const struct flame_options *o, const struct spur_trace *t,
			struct spur_error *err)
{
	const char *wanted = o->wanted.buffer;
	struct suggest near = suggest_for(wanted ? wanted : "", wanted ? strlen(wanted) : 0);

	for (uint32_t i = 0; wanted && i < t->nr_buffers; i++) {
		if (strcmp(t->buffers[i].data->name, wanted) == 0)
			return 0;
		suggest_try(&near, t->buffers[i].data->name);
	}
	return wanted ? error_set(err, -EINVAL, "there is no buffer '%s'%s", o->buffer,
				  suggest_hint(&near))
		      : 0;
}

int flame_check_names(const struct flame_options *o, const struct flame_input *in,
		      struct spur_error *err)
{
	int rc;

	if (!in->trace)
		return 0;
	rc = check_events(o, in->trace, err);
	if (rc == 0)
		rc = check_buffer(o, in->trace, err);
	return rc < 0 ? error_prefix(err, "%s", in->path) : 0;
}

int flame_input_read(struct flame_input *in, const struct flame_options *o, struct flame *f,
		     unsigned int side, enum flame_from *from, struct spur_error *err)
{
	int rc;

	*from = FLAME_SAMPLES;
	if (!in->trace) {
		rc = check_text_options(in, o, err);
		return rc < 0 ? rc : read_text(in, f, side, err);
	}
	rc = flame_read(f, side, in->trace, &o->wanted, from, err);
	if (rc == -EINVAL)
		error_prefix(err, "%s", in->path);
	return rc;
}
