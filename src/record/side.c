// SPDX-License-Identifier: GPL-2.0-or-later
/* A small instance beside the recording, whose events the recorder reads itself. */
#include "record/side.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/vec.h"
#include "tracefs/owner.h"

#define PATH_CAP     128
#define FORMAT_LIMIT (64u << 10)

static int set_size(const struct side *s, uint32_t kb, struct spur_error *err)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", kb);
	return tracefs_write(s->fs, s->instance, "buffer_size_kb", TRACEFS_REPLACE, text, err);
}

int side_make(struct side *s, const struct tracefs *fs, struct undo *undo, const char *what,
	      const char *clock, uint32_t kb, struct spur_error *err)
{
	int rc;

	memset(s, 0, sizeof(*s));
	s->fs = fs;
	s->layout = ring_layout_default(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, sizeof(long),
					(uint32_t)sysconf(_SC_PAGESIZE));
	s->page = malloc(s->layout.page_size);
	s->events = events_new();
	if (!s->page || !s->events)
		return error_set(err, -ENOMEM, "out of memory");
	s->events->big_endian = s->layout.big_endian;
	s->events->long_size = sizeof(long);
	s->events->page_size = s->layout.page_size;
	owner_instance(s->instance, sizeof(s->instance), what);
	rc = undo_make_instance(undo, s->instance, err);
	if (rc == 0)
		rc = tracefs_write(s->fs, s->instance, "trace_clock", TRACEFS_REPLACE, clock, err);
	return rc == 0 && kb ? set_size(s, kb, err) : rc;
}

/* Adds the format, which the registry does not copy. */
static int add_format(struct side *s, const char *system, const char *name, struct spur_error *err)
{
	char file[PATH_CAP], **slot = vec_push(&s->formats);
	struct buf text;
	int rc;

	snprintf(file, sizeof(file), "events/%s/%s/format", system, name);
	buf_init(&text, FORMAT_LIMIT);
	rc = slot ? tracefs_read(s->fs, s->instance, file, &text, err) : -ENOMEM;
	if (rc == 0 && !(*slot = strndup(text.data, text.len)))
		rc = -ENOMEM;
	if (rc == 0)
		rc = events_add(s->events, system, *slot, text.len, err);
	buf_free(&text);
	return rc == -ENOMEM ? error_set(err, rc, "out of memory") : rc;
}

struct event *side_add(struct side *s, const char *system, const char *name, struct spur_error *err)
{
	char file[PATH_CAP];

	snprintf(file, sizeof(file), "events/%s/%s/enable", system, name);
	if (add_format(s, system, name, err) < 0 ||
	    tracefs_write(s->fs, s->instance, file, TRACEFS_REPLACE, "1", err) < 0)
		return NULL;
	return events_find(s->events, system, name);
}

int side_open(struct side *s, const uint32_t *cpus, uint32_t nr, struct spur_error *err)
{
	s->fds = calloc(nr + 1, sizeof(*s->fds));
	if (!s->fds || events_seal(s->events) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < nr; i++) {
		char file[PATH_CAP];
		int fd;

		snprintf(file, sizeof(file), "per_cpu/cpu%u/trace_pipe_raw", cpus[i]);
		fd = tracefs_open(s->fs, s->instance, file, O_RDONLY | O_NONBLOCK, err);
		if (fd < 0)
			return fd;
		s->fds[s->nr_fds++] = fd;
	}
	return 0;
}

static uint64_t read_page(const struct side *s, size_t size,
			  void (*fn)(void *arg, const struct spur_record *r), void *arg)
{
	struct ring_page p;
	struct ring_event e;

	if (ring_page_open(&p, &s->layout, s->page, size) < 0)
		return 0;
	while (ring_page_next(&p, &e)) {
		const struct spur_record r = {.ts = e.ts, .data = e.data, .size = e.size};

		fn(arg, &r);
	}
	return p.lost < 0 ? 1 : (uint64_t)p.lost;
}

uint64_t side_read(struct side *s, void (*fn)(void *arg, const struct spur_record *r), void *arg)
{
	uint64_t lost = 0;

	for (uint32_t i = 0; i < s->nr_fds; i++) {
		ssize_t n;

		while ((n = read(s->fds[i], s->page, s->layout.page_size)) > 0)
			lost += read_page(s, (size_t)n, fn, arg);
	}
	return lost;
}

void side_free(struct side *s)
{
	for (uint32_t i = 0; i < s->nr_fds; i++)
		close(s->fds[i]);
	events_free(s->events);
	vec_each (format, &s->formats)
		free(*format);
	vec_free(&s->formats);
	free(s->fds);
	free(s->page);
	memset(s, 0, sizeof(*s));
}
