// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The conditions of a search: an event and values by a filter, a text in the line, a row.
 *
 * For COMM in a filter, and in texts, the name of a task may come from any place in the trace.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "event/filter.h"
#include "view/answers/internal.h"

#define MAX_NEEDLE 1024

struct file_match {
	struct filter *filter; /* NULL: the file has no such event, or all records match */
	bool none;	       /* nothing of it is wanted */
	struct lane_filter lane_filter;
	struct row_set rows;
};

static int take_rows(struct search_match *s, const struct view_search_options *o)
{
	int rc = 0;

	s->limited = o->nr_rows;
	for (size_t i = 0; rc == 0 && i < o->nr_rows; i++) {
		struct view_place place;
		struct view_row r;

		if (view_row(s->view, o->rows[i], &place, &r) && place.file_number < s->nr_files)
			rc = row_set_add(&s->files[place.file_number].rows, &r);
	}
	return rc;
}

static bool row_wanted(const struct search_match *s, const struct file_match *w,
		       const struct view_cursor *c)
{
	return !s->limited || row_set_have_cpu(&w->rows, c->rec->buffer, c->rec->cpu) ||
	       (w->rows.tasks.n && row_set_have_task(&w->rows, c->rec->buffer, view_cursor_pid(c)));
}

/* Warns about fields that no event of the filter has, for the first file with such. */
static void check_fields(struct search_match *s, size_t file)
{
	struct spur_error missing = {0};

	if (s->warning.code || !filter_check(s->files[file].filter, &missing))
		return;
	if (s->nr_files > 1)
		error_set(&s->warning, -EINVAL, "%s: %s", view_file(s->view, file)->path,
			  missing.text);
	else
		error_set(&s->warning, -EINVAL, "%s", missing.text);
}

/*
 * If no file accepts a filter, it is wrong. If one file has no events for it, it has no hits there.
 */
static int add_filter(struct search_match *s, const char *text, int64_t *at, struct spur_error *err)
{
	size_t taken = 0;
	int rc = 0;

	for (size_t i = 0; i < s->nr_files; i++) {
		const struct spur_trace *t = view_file(s->view, i)->trace;
		struct file_match *w = &s->files[i];

		if (!t)
			continue;
		w->filter = filter_new(t->events);
		if (!w->filter)
			return error_set(err, -ENOMEM, "out of memory");
		rc = filter_add(w->filter, text, taken ? NULL : err);
		if (rc == 0) {
			taken++;
			check_fields(s, i);
			continue;
		}
		if (!taken)
			*at = (int64_t)filter_mistake(w->filter).offset;
		filter_free(w->filter);
		w->filter = NULL;
		w->none = true;
	}
	if (!taken)
		return rc < 0 ? rc : error_set(err, -EINVAL, "there is no trace to search");
	*at = -1;
	*err = (struct spur_error){0};
	return 0;
}

/* Records of types that no filter names are skipped. */
static int make_lane_filters(struct search_match *s)
{
	for (size_t i = 0; i < s->nr_files; i++) {
		const struct spur_trace *t = view_file(s->view, i)->trace;
		struct file_match *w = &s->files[i];

		if (!t || (!w->filter && !w->none))
			continue;
		if (lane_filter_init(&w->lane_filter, t->events) < 0)
			return -ENOMEM;
		for (size_t k = 0; w->filter && k < t->events->nr; k++)
			if (filter_wants(w->filter, t->events->list[k]))
				lane_filter_want(&w->lane_filter, t->events->list[k]);
	}
	return 0;
}

static int take_needle(struct search_match *s, const char *text, struct spur_error *err)
{
	if (!text || !*text)
		return 0;
	if (strlen(text) > MAX_NEEDLE)
		return error_set(err, -EINVAL, "a text of more than %d bytes", MAX_NEEDLE);
	s->needle = strdup(text);
	if (!s->needle)
		return error_set(err, -ENOMEM, "out of memory");
	s->needle_len = strlen(text);
	for (char *p = s->needle; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return 0;
}

/* "task-pid event: text" as in the list, in lower case. */
static bool text_matches(const struct search_match *s, struct view_cursor *c, struct buf *line)
{
	const int pid = view_cursor_pid(c);
	size_t len;
	const char *comm = view_cursor_comm(c, pid, &len);

	buf_reset(line);
	buf_put(line, comm, len);
	buf_putc(line, '-');
	buf_i64(line, pid);
	buf_putc(line, ' ');
	buf_puts(line, c->event ? c->event->name : "");
	buf_puts(line, ": ");
	view_cursor_text(c, line);
	for (size_t i = 0; i < line->len; i++)
		line->data[i] = (char)tolower((unsigned char)line->data[i]);
	return memmem(line->data, line->len, s->needle, s->needle_len) != NULL;
}

bool search_match_record(const struct search_match *s, struct view_cursor *c, struct buf *line)
{
	const struct file_match *want = &s->files[c->from->file];

	if (want->none || !row_wanted(s, want, c))
		return false;
	if (want->filter &&
	    (!c->event || filter_match(want->filter, view_cursor_printer(c)->learned, c->event,
				       c->rec) != FILTER_MATCH))
		return false;
	return !s->needle || text_matches(s, c, line);
}

const struct lane_filter *search_match_lane(const struct search_match *s, uint32_t file)
{
	/* Printing may need the next record, whatever its type. */
	return s->needle || !s->files[file].lane_filter.wanted ? NULL : &s->files[file].lane_filter;
}

int search_match_init(struct search_match *s, struct view *v, const struct view_search_options *o,
		      int64_t *at, struct spur_error *err)
{
	int rc;

	s->view = v;
	s->nr_files = view_nr_files(v);
	s->files = calloc(s->nr_files + 1, sizeof(*s->files));
	rc = s->files ? take_rows(s, o) : -ENOMEM;
	if (rc < 0)
		return error_set(err, rc, "out of memory");
	rc = take_needle(s, o->text, err);
	if (rc == 0 && o->filter && *o->filter)
		rc = add_filter(s, o->filter, at, err);
	if (rc < 0)
		return rc;
	rc = make_lane_filters(s);
	return rc < 0 ? error_set(err, rc, "out of memory") : 0;
}

void search_match_free(struct search_match *s)
{
	for (size_t i = 0; s->files && i < s->nr_files; i++) {
		if (s->files[i].filter)
			filter_free(s->files[i].filter);
		lane_filter_free(&s->files[i].lane_filter);
		row_set_free(&s->files[i].rows);
	}
	free(s->files);
	free(s->needle);
}
