/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A view: the files that are looked at together, their indexes, and one time line for them.
 *
 * Rows and names of all files are numbered through: those of the first file do not come before
 * those of the second, because both still grow. A number is given once and stays.
 */
#ifndef VIEW_VIEW_H
#define VIEW_VIEW_H

#include "scan/trace.h"
#include "view/index/index.h"

#define VIEW_MOST_FILES 64 /* in a view */

struct view_file {
	const char *path;
	struct spur_trace *trace; /* NULL: it could not be opened, for this reason: */
	struct view_index *index;
	struct spur_error error;
	uint32_t first_event; /* its event types are numbered from here on */
};

struct view;

/* Opens the files and starts their indexes. A file that does not open is kept with its error. */
struct view *view_open(const char *const *paths, size_t nr, const struct view_index_options *opt,
		       struct spur_error *err);
/*
 * The same without files, and one more at any time: `fd` is the open file, which it takes over, or
 * the negative errno of opening it. The file's number, or a negative errno when there are too many.
 */
struct view *view_new(const struct view_index_options *opt, struct spur_error *err);
int view_add(struct view *v, const char *path, int fd, struct spur_error *err);
/* Opens a file for that; it does not wait for the writer of a pipe. */
int view_open_file(const char *path);
void view_close(struct view *v);

/* What the answers keep (answers/answers.h). */
struct answers;
struct answers *view_answers(struct view *v);

size_t view_nr_files(const struct view *v);
const struct view_file *view_file(const struct view *v, size_t file);

/* Of all files: the first record's time. It changes only when an earlier file is added. */
uint64_t view_origin(const struct view *v);
/* A time on the trace's time line, of one relative to that; what is too large is UINT64_MAX. */
uint64_t view_absolute(const struct view *v, uint64_t ts);
uint64_t view_duration(const struct view *v);
double view_progress(const struct view *v);
uint64_t view_generation(const struct view *v); /* grows with all that is new, damage, too */
/* Until the generation differs, *stop is set or so many milliseconds have passed. */
void view_wait(struct view *v, uint64_t generation, int ms, const volatile int *stop);

/* The number of a file's buffer among those of all files. */
uint32_t view_buffer_number(const struct view *v, uint32_t file, uint32_t buffer);

/* Whether a file has stacks, or may have some: all records would be read to find none. */
bool view_has_stacks(const struct view_file *f);

/* Whether all clocks count nanoseconds. */
bool view_nanoseconds(const struct view *v);
/* Which tasks or switches a file does not have, by its own words; false: none says so. */
bool view_missing(const struct view *v, char text[static DAT_MISSING_WORDS]);

/* Rows over all files. `shift` makes times of that file's index relative to the view's origin. */
struct view_place {
	const struct view_file *file;
	uint32_t file_number;
	uint32_t row; /* in the file's index */
	uint64_t shift;
};
uint32_t view_rows(struct view *v);
/* False: there is no such row. `place` and `out` may be NULL. */
bool view_row(struct view *v, uint32_t number, struct view_place *place, struct view_row *out);
int64_t view_row_number(struct view *v, uint32_t file,
			uint32_t row); /* the view's number of a file's row */
uint32_t view_names(struct view *v);
const char *view_name(struct view *v, uint32_t number);
int64_t view_name_number(struct view *v, uint32_t file, uint32_t name);

/* Event types over all files: a file's first_event + the type's place in its registry. */
uint32_t view_events(const struct view *v);
struct event *view_event(const struct view *v, uint32_t number, uint32_t *file);

/*
 * What view_index_tile() says about a row of the view: times are relative to the view's origin and
 * rows, names and event types in values are the view's numbers. Where a file's index does not begin
 * with the view, bins are exact but for half a bin.
 */
int view_tile(struct view *v, uint32_t row, uint32_t track, uint32_t level, uint64_t tile,
	      struct view_tile *out);

/* Where tiles come from: tile_of_view(), or whatever another function makes up. */
struct tile_source {
	int (*tile)(const struct tile_source *from, uint32_t level, uint64_t tile,
		    struct view_tile *out);
	struct view *view;
	uint32_t row, track;
};
int tile_of_view(const struct tile_source *from, uint32_t level, uint64_t tile,
		 struct view_tile *out);

/* The level whose bins are at most so wide. */
uint32_t tile_level(uint64_t width);

struct tile_range {
	uint64_t since, until; /* until is not in it, and more than since */
	uint32_t level;
};

struct tile_part {
	const struct view_tile *tile;
	uint32_t level;
	uint64_t base;	   /* where the tile begins */
	uint64_t from, to; /* what of it lies in the range */
};

/* All tiles of a range, one after the other, each in `tile`. 0, or as view_tile(). */
int tiles_each(const struct tile_source *from, struct tile_range range, struct view_tile *tile,
	       void (*take)(void *arg, const struct tile_part *p), void *arg);

/* What records for the page, or NULL. It is the caller's and must outlive the view. */
struct broker;
void view_set_broker(struct view *v, struct broker *b);
struct broker *view_broker(const struct view *v);

#endif
