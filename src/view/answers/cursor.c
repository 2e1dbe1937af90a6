// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A cursor over the records of all files of a view.
 *
 * Its lanes are those that `spur report` of the same files merges, in the same order, and so is the
 * text. One thing differs: a report shows the entry and the immediate return of a function as one
 * line, and skips the return. Here every record has a number, so the return remains and is marked.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "view/answers/answers.h"

#define SCRATCH_LIMIT (16u << 20)
#define LOOK_BACK     16   /* at least so many records before the wanted one are read … */
#define FARTHEST_BACK 4096 /* … and at most */
#define SHORT_WAY     512  /* over so many records reading is better than seeking */

/* ---- sources ---- */

/* The top buffers come before the others, as in a report. */
static int add_buffers(struct view_sources *s, struct view *v, size_t nr, bool top)
{
	for (size_t i = 0; i < nr; i++) {
		const struct spur_trace *t = view_file(v, i)->trace;

		for (uint32_t k = 0; t && k < t->nr_buffers; k++) {
			const struct view_source source = {{.buffer = &t->buffers[k]}, (uint32_t)i};

			if (!source.emit.buffer->data->text && (k == 0) == top &&
			    !vec_add(s, &source))
				return -ENOMEM;
		}
	}
	return 0;
}

int view_sources_init(struct view_sources *s, struct view *v)
{
	const size_t nr = view_nr_files(v);

	*s = (struct view_sources){.view = v, .traces = calloc(nr + 1, sizeof(*s->traces))};
	if (!s->traces)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		if (view_file(v, i)->trace)
			s->traces[s->nr_traces++] = view_file(v, i)->trace;
	if (add_buffers(s, v, nr, true) < 0 || add_buffers(s, v, nr, false) < 0)
		return -ENOMEM;
	return 0;
}

void view_sources_free(struct view_sources *s)
{
	free(s->at);
	free(s->traces);
	*s = (struct view_sources){0};
}

int view_sources_lanes(const void *sources, struct scan *m)
{
	const struct view_sources *s = sources;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < s->n; i++)
		rc = scan_add_buffer(m, s->at[i].emit.buffer);
	return rc;
}

/* The source of each lane of such a scan; NULL without memory. */
static const struct view_source **map_lanes(const struct view_sources *s, const struct scan *m)
{
	const struct view_source **lanes = calloc((size_t)m->nr + 1, sizeof(*lanes));
	const struct view_source *source = s->at;

	for (uint32_t i = 0; lanes && i < m->nr; i++) {
		/* Lanes were added in the order of the sources. */
		while (source->emit.buffer != m->lanes[i].buffer)
			source++;
		lanes[i] = source;
	}
	return lanes;
}

/* ---- looking ahead ---- */

static struct view_fold *fold_of(struct view_cursor *c)
{
	return &c->folds[c->from - c->sources->at];
}

static const struct spur_record *peek(void *cursor)
{
	struct view_cursor *c = cursor;
	const struct spur_record *r = scan_peek(&c->scan);

	c->peeked = (struct view_fold){.valid = r != NULL};
	if (r) {
		c->peeked.offset = r->offset;
		c->peeked.cpu = r->cpu;
	}
	return r;
}

static void take(void *cursor)
{
	struct view_cursor *c = cursor;

	*fold_of(c) = c->peeked;
}

/* ---- opening ---- */

static int open_printers(struct view_cursor *c)
{
	int rc = emitter_init(&c->emitter, &emit_text, &c->options, &c->scan, c->sources->traces,
			      c->sources->nr_traces);

	for (size_t i = 0; rc == 0 && i < c->emitter.nr_traces; i++) {
		struct event_printer *p = &c->emitter.traces[i].printer;

		p->peek_next = peek;
		p->take_next = take;
		p->stream = c;
	}
	return rc;
}

int view_cursor_open(struct view_cursor *c, struct view *v, const struct view_sources *sources,
		     const volatile int *stop, struct spur_error *err)
{
	int rc = 0;

	*c = (struct view_cursor){.view = v, .stop = stop, .sources = sources};
	scan_init(&c->scan, NULL);
	buf_init(&c->scratch, SCRATCH_LIMIT);
	if (!sources) {
		rc = view_sources_init(&c->own, v);
		c->sources = &c->own;
	}
	if (rc == 0)
		rc = open_printers(c);
	if (rc == 0)
		rc = view_sources_lanes(c->sources, &c->scan);
	if (rc == 0) {
		c->lanes = map_lanes(c->sources, &c->scan);
		c->folds = calloc(c->sources->n + 1, sizeof(*c->folds));
		rc = c->lanes && c->folds ? 0 : -ENOMEM;
	}
	for (uint32_t i = 0; i < c->scan.nr; i++)
		c->scan.lanes[i].stop = stop;
	return rc < 0 ? error_sys(err, rc, "reading the trace") : 0;
}

void view_cursor_close(struct view_cursor *c)
{
	emitter_done(&c->emitter);
	scan_free(&c->scan);
	free(c->lanes);
	free(c->folds);
	buf_free(&c->scratch);
	view_sources_free(&c->own);
}

void view_cursor_only(struct view_cursor *c, uint32_t file, uint32_t buffer, int64_t cpu)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < c->scan.nr; i++) {
		struct lane *l = &c->scan.lanes[i];

		if (c->lanes[i]->file != file || l->buffer->index != buffer ||
		    (cpu >= 0 && l->cpu->cpu != cpu)) {
			lane_close(l);
			continue;
		}
		c->scan.lanes[kept] = *l;
		c->scan.lanes[kept].index = kept;
		c->lanes[kept++] = c->lanes[i];
	}
	c->scan.nr = kept;
}

/* ---- moving ---- */

bool view_cursor_doubtful(const struct view_cursor *c)
{
	return c->doubtful || (c->rec && !c->informed && view_history_matters(c));
}

/* Puts all lanes before their first records at or after a time. */
static void move_lanes(struct view_cursor *c, uint64_t ts)
{
	c->doubtful = view_cursor_doubtful(c);
	for (uint32_t i = 0; i < c->scan.nr; i++) {
		struct lane *l = &c->scan.lanes[i];

		lane_seek_time(l, ts, l->page_index ? l->page_index : l->nr_pages / 2);
		while (lane_next(l) && l->rec.ts < ts)
			;
	}
	scan_restart(&c->scan);
	memset(c->folds, 0, c->sources->n * sizeof(*c->folds));
	emitter_forget(&c->emitter);
	c->start = ts;
	c->rec = NULL;
}

int view_cursor_to_time(struct view_cursor *c, uint64_t ts, bool numbered, struct spur_error *err)
{
	int rc = numbered ? view_record_ordinal(c->view, ts, &c->next, err) : 0;

	if (rc < 0)
		return rc;
	c->numbered = numbered;
	move_lanes(c, ts);
	c->informed = false;
	return 0;
}

/* Shows the printers a skipped record, if that affects later ones. */
static void pass(struct view_cursor *c)
{
	const uint8_t *roles = view_roles(c->view, c->from->file);

	if (!c->event || !roles || !roles[c->event->index])
		return;
	buf_reset(&c->scratch);
	view_cursor_text(c, &c->scratch);
}

/*
 * Whether it is known if the next record is a return that is shown with the previous record of its
 * buffer: that one must have been read.
 */
static bool fold_is_known(struct view_cursor *c, const bool *seen)
{
	const struct lane *l = scan_first(&c->scan);
	const struct view_source *source;
	struct event *e;
	const uint8_t *roles;

	if (!l)
		return true;
	source = c->lanes[l->index];
	e = events_of_record(l->buffer->trace->events, &l->rec);
	roles = view_roles(c->view, source->file);
	return seen[source - c->sources->at] || !e || !roles || !(roles[e->index] & ROLE_GRAPH);
}

/* Reads from a record before n up to it. */
static int go_to(struct view_cursor *c, uint64_t n, uint64_t back, bool *known,
		 struct spur_error *err)
{
	bool *seen = calloc(c->sources->n + 1, sizeof(*seen));
	uint64_t ts, first = 0;
	int rc = seen ? view_record_seek(c->view, n > back ? n - back : 0, &first, &ts, err)
		      : -ENOMEM;

	if (rc == 0) {
		c->next = first;
		c->numbered = true;
		move_lanes(c, ts);
		c->informed = view_history_give(c);
		while (c->next < n && view_cursor_next(c)) {
			pass(c);
			seen[c->from - c->sources->at] = true;
		}
		*known = !first || fold_is_known(c, seen);
	}
	free(seen);
	return rc;
}

int view_cursor_to(struct view_cursor *c, uint64_t n, struct spur_error *err)
{
	bool known = false;
	int rc = 0;

	for (uint64_t back = LOOK_BACK; rc == 0 && !known && back <= FARTHEST_BACK; back *= 16)
		rc = go_to(c, n, back, &known, err);
	return rc;
}

bool view_cursor_next(struct view_cursor *c)
{
	struct view_fold *fold;

	if (c->stop && *c->stop)
		return false;
	c->rec = scan_next(&c->scan);
	if (!c->rec)
		return false;
	c->from = c->lanes[c->scan.current->index];
	c->event = events_of_record(c->from->emit.buffer->trace->events, c->rec);
	c->id = (struct view_record_id){
		.ts = c->rec->ts, .lane = c->scan.current->index, .offset = c->rec->offset};
	c->n = c->next++;
	fold = fold_of(c);
	c->folded = fold->valid && fold->offset == c->rec->offset && fold->cpu == c->rec->cpu;
	fold->valid = false;
	return true;
}

/*
 * Reads on until the record is found, up to some number of records, or to the last one of its time.
 */
static bool read_on(struct view_cursor *c, const struct view_record_id *id, uint64_t most)
{
	while (most-- && view_cursor_next(c)) {
		if (view_record_is(&c->id, id))
			return true;
		if (most > SHORT_WAY && c->id.ts > id->ts)
			return false;
		pass(c);
	}
	return false;
}

bool view_cursor_find(struct view_cursor *c, const struct view_record_id *id)
{
	uint64_t n;
	int rc;

	if (c->rec && c->id.ts <= id->ts && read_on(c, id, SHORT_WAY))
		return true;
	rc = view_record_ordinal(c->view, id->ts, &n, NULL);
	rc = rc == 0 ? view_cursor_to(c, n, NULL) : view_cursor_to_time(c, id->ts, false, NULL);
	return rc == 0 && read_on(c, id, UINT64_MAX);
}

/* ---- printing ---- */

struct event_printer *view_cursor_printer(struct view_cursor *c)
{
	emitter_enter(&c->emitter, &c->from->emit);
	return &c->emitter.now->printer;
}

int view_cursor_pid(const struct view_cursor *c)
{
	return events_record_pid(c->from->emit.buffer->trace->events, c->rec);
}

const char *view_cursor_comm(struct view_cursor *c, int pid, size_t *len)
{
	emitter_enter(&c->emitter, &c->from->emit);
	return emitter_comm(&c->emitter, pid, len);
}

void view_cursor_text(struct view_cursor *c, struct buf *out)
{
	const size_t start = out->len;

	if (c->folded)
		return;
	if (!c->event) {
		buf_puts(out, "[UNKNOWN EVENT]");
		return;
	}
	event_print(view_cursor_printer(c), c->event, c->rec, out);
	if (out->len > start && out->data[out->len - 1] == '\n')
		out->len--;
}
