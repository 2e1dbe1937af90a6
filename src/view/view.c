// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The files of a view, and numbers for what is in them.
 *
 * A file that is there stays where it is until view_close(): readers take its pointer without a
 * lock once they have seen `nr`. What is numbered is numbered under the lock, in the order in which
 * it was first seen: a number's place and the number of a place are both kept.
 */
#include "view/view.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/mutex.h"
#include "base/nanoseconds.h"
#include "base/vec.h"
#include "import/sources.h"
#include "view/answers/answers.h"

#define WAIT_MS 100 /* the longest time that passes unnoticed while waiting for several files */

/* Rows or names of all files. */
struct numbered {
	uint32_t (*count)(const struct view_index *x); /* how many a file has */
	struct {
		struct at {
			uint32_t file, item;
		} * at;
		size_t n, cap;
	} places; /* by number */
	struct {
		uint32_t *at;
		size_t n, cap;
	} numbers[VIEW_MOST_FILES]; /* by a file's own numbers */
};

struct view {
	struct view_index_options opt;
	char *cache;
	struct view_file *files[VIEW_MOST_FILES];
	_Atomic uint32_t nr;
	_Atomic uint64_t origin;
	pthread_mutex_t lock; /* of what follows */
	struct numbered rows, names;
	struct answers *answers;
	struct broker *broker;
};

/* ---- files ---- */

struct view *view_new(const struct view_index_options *opt, struct spur_error *err)
{
	struct view *v = calloc(1, sizeof(*v));

	if (!v) {
		error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	if (opt)
		v->opt = *opt;
	v->rows.count = view_index_rows;
	v->names.count = view_index_names;
	pthread_mutex_init(&v->lock, NULL);
	atomic_store(&v->origin, UINT64_MAX);
	if (!v->opt.cache)
		return v;
	v->opt.cache = v->cache = strdup(v->opt.cache);
	if (v->cache)
		return v;
	view_close(v);
	error_set(err, -ENOMEM, "out of memory");
	return NULL;
}

static void free_file(struct view_file *f)
{
	view_index_close(f->index);
	trace_close(f->trace);
	free((char *)f->path);
	free(f);
}

static void free_numbers(struct numbered *n)
{
	vec_free(&n->places);
	for (size_t i = 0; i < VIEW_MOST_FILES; i++)
		vec_free(&n->numbers[i]);
}

void view_close(struct view *v)
{
	if (!v)
		return;
	answers_free(v->answers);
	for (uint32_t i = 0; i < atomic_load(&v->nr); i++)
		free_file(v->files[i]);
	free_numbers(&v->rows);
	free_numbers(&v->names);
	pthread_mutex_destroy(&v->lock);
	free(v->cache);
	free(v);
}

/* Opens what can be opened; what cannot stays as a file with an error. */
static void open_trace(struct view *v, struct view_file *f, int fd)
{
	int rc = fd;

	if (fd < 0)
		error_sys(&f->error, fd, "%s", f->path);
	else
		rc = trace_open_fd(fd, f->path, NULL, &f->trace, &f->error);
	if (rc < 0) {
		f->trace = NULL;
		return;
	}
	f->index = view_index_open(f->path, f->trace, &v->opt, &f->error);
	if (!f->index) {
		trace_close(f->trace);
		f->trace = NULL;
	}
}

static bool sync_numbers(struct view *v, struct numbered *n);

int view_add(struct view *v, const char *path, int fd, struct spur_error *err)
{
	struct view_file *f = calloc(1, sizeof(*f));
	uint32_t nr;

	if (!f || !(f->path = strdup(path))) {
		free(f);
		if (fd >= 0)
			close(fd);
		return error_set(err, -ENOMEM, "out of memory");
	}
	open_trace(v, f, fd);
	pthread_mutex_lock(&v->lock);
	nr = atomic_load(&v->nr);
	if (nr == VIEW_MOST_FILES) {
		pthread_mutex_unlock(&v->lock);
		free_file(f);
		return error_set(err, -E2BIG, "no more than %d files can be looked at together",
				 VIEW_MOST_FILES);
	}
	f->first_event = view_events(v);
	/* The numbers of a single file are those of the view; used numbers must stay. */
	sync_numbers(v, &v->rows);
	sync_numbers(v, &v->names);
	v->files[nr] = f;
	if (f->index && view_index_origin(f->index) < atomic_load(&v->origin))
		atomic_store(&v->origin, view_index_origin(f->index));
	atomic_store(&v->nr, nr + 1);
	pthread_mutex_unlock(&v->lock);
	return (int)nr;
}

int view_open_file(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return -errno;
	/* Some traces are folders. */
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode) && !source_of(fd)) {
		close(fd);
		return -EISDIR;
	}
	return fd;
}

struct view *view_open(const char *const *paths, size_t nr, const struct view_index_options *opt,
		       struct spur_error *err)
{
	struct view *v = view_new(opt, err);

	for (size_t i = 0; v && i < nr; i++) {
		if (view_add(v, paths[i], view_open_file(paths[i]), err) < 0) {
			view_close(v);
			v = NULL;
		}
	}
	return v;
}

size_t view_nr_files(const struct view *v)
{
	return atomic_load(&v->nr);
}

const struct view_file *view_file(const struct view *v, size_t file)
{
	return file < view_nr_files(v) ? v->files[file] : NULL;
}

/* ---- all files together ---- */

uint64_t view_origin(const struct view *v)
{
	const uint64_t origin = atomic_load(&v->origin);

	return origin == UINT64_MAX ? 0 : origin;
}

uint64_t view_absolute(const struct view *v, uint64_t ts)
{
	uint64_t sum;

	return __builtin_add_overflow(ts, view_origin(v), &sum) ? UINT64_MAX : sum;
}

/* By how much a file's times are shifted. A file without records needs no shift. */
static uint64_t shift_of(const struct view *v, const struct view_file *f)
{
	const uint64_t origin = view_index_origin(f->index);

	return origin == UINT64_MAX ? 0 : origin - view_origin(v);
}

uint64_t view_duration(const struct view *v)
{
	uint64_t longest = 0;

	for (size_t i = 0; i < view_nr_files(v); i++) {
		const struct view_file *f = v->files[i];
		uint64_t end = f->index ? shift_of(v, f) + view_index_duration(f->index) : 0;

		longest = end > longest ? end : longest;
	}
	return longest;
}

double view_progress(const struct view *v)
{
	double done = 0, all = 0;

	for (size_t i = 0; i < view_nr_files(v); i++) {
		const struct view_file *f = v->files[i];
		double size = f->trace ? (double)f->trace->dat->file_size + 1 : 0;

		all += size;
		done += f->index ? size * view_index_progress(f->index) : 0;
	}
	return done < all ? done / all : 1;
}

uint32_t view_buffer_number(const struct view *v, uint32_t file, uint32_t buffer)
{
	uint32_t n = buffer;

	for (uint32_t i = 0; i < file; i++)
		n += view_file(v, i)->trace ? view_file(v, i)->trace->nr_buffers : 0;
	return n;
}

bool view_nanoseconds(const struct view *v)
{
	for (size_t i = 0; i < view_nr_files(v); i++) {
		const struct spur_trace *t = view_file(v, i)->trace;

		for (uint32_t k = 0; t && k < t->nr_buffers; k++)
			if (!t->buffers[k].nanoseconds)
				return false;
	}
	return true;
}

bool view_missing(const struct view *v, char text[static DAT_MISSING_WORDS])
{
	for (size_t i = 0; i < view_nr_files(v); i++) {
		const struct spur_trace *t = view_file(v, i)->trace;

		if (t && dat_missing_words(t->dat, text))
			return true;
	}
	return false;
}

/* What was found while reading; once it is, it stays. */
static bool is_damaged(const struct view_file *f)
{
	struct dat *d = f->trace->dat;

	mutex_hold(&d->lock);
	return d->damage.code != 0;
}

uint64_t view_generation(const struct view *v)
{
	uint64_t sum = view_nr_files(v);

	for (size_t i = 0; i < view_nr_files(v); i++)
		if (v->files[i]->index)
			sum += view_index_generation(v->files[i]->index) + is_damaged(v->files[i]);
	return sum;
}

/* A file that still changes; NULL: none does. */
static struct view_index *busy_index(const struct view *v)
{
	for (size_t i = 0; i < view_nr_files(v); i++) {
		struct view_index *x = v->files[i]->index;

		if (x && view_index_progress(x) < 1)
			return x;
	}
	return NULL;
}

void view_wait(struct view *v, uint64_t generation, int ms, const volatile int *stop)
{
	for (int waited = 0; waited < ms && view_generation(v) == generation; waited += WAIT_MS) {
		struct view_index *x = busy_index(v);

		if (stop && *stop)
			return;
		if (x)
			view_index_wait(x, view_index_generation(x), WAIT_MS);
		else
			nanosleep(&(struct timespec){.tv_nsec = WAIT_MS * NS_PER_MS}, NULL);
	}
}

struct answers *view_answers(struct view *v)
{
	mutex_hold(&v->lock);
	if (!v->answers)
		v->answers = answers_new(v);
	return v->answers;
}

void view_set_broker(struct view *v, struct broker *b)
{
	v->broker = b;
}

struct broker *view_broker(const struct view *v)
{
	return v->broker;
}

/* ---- numbers ---- */

static bool add_number(struct numbered *n, uint32_t file, uint32_t item)
{
	const uint32_t number = (uint32_t)n->places.n;

	if (number == UINT32_MAX || !vec_add(&n->places, &(struct at){file, item}))
		return false;
	if (vec_add(&n->numbers[file], &number))
		return true;
	n->places.n--;
	return false;
}

/* Numbers what has come since; locked. False without memory: what has a number keeps it. */
static bool sync_numbers(struct view *v, struct numbered *n)
{
	for (uint32_t f = 0; f < atomic_load(&v->nr); f++) {
		const uint32_t nr = v->files[f]->index ? n->count(v->files[f]->index) : 0;

		for (size_t i = n->numbers[f].n; i < nr; i++)
			if (!add_number(n, f, (uint32_t)i))
				return false;
	}
	return true;
}

static uint32_t count_numbers(struct view *v, struct numbered *n)
{
	mutex_hold(&v->lock);
	sync_numbers(v, n);
	return (uint32_t)n->places.n;
}

static bool find_place(struct view *v, struct numbered *n, uint32_t number, struct at *out)
{
	bool found;

	mutex_hold(&v->lock);
	if (number >= n->places.n)
		sync_numbers(v, n);
	found = number < n->places.n;
	if (found)
		*out = n->places.at[number];
	return found;
}

static int64_t find_number(struct view *v, struct numbered *n, uint32_t file, uint32_t item)
{
	int64_t number = -1;

	if (file >= VIEW_MOST_FILES)
		return -1;
	mutex_hold(&v->lock);
	if (item >= n->numbers[file].n)
		sync_numbers(v, n);
	if (item < n->numbers[file].n)
		number = n->numbers[file].at[item];
	return number;
}

uint32_t view_rows(struct view *v)
{
	return count_numbers(v, &v->rows);
}

bool view_row(struct view *v, uint32_t number, struct view_place *place, struct view_row *out)
{
	struct at at;

	if (!find_place(v, &v->rows, number, &at))
		return false;
	if (place)
		*place = (struct view_place){
			.file = v->files[at.file],
			.file_number = at.file,
			.row = at.item,
			.shift = shift_of(v, v->files[at.file]),
		};
	return !out || view_index_row(v->files[at.file]->index, at.item, out);
}

int64_t view_row_number(struct view *v, uint32_t file, uint32_t row)
{
	return find_number(v, &v->rows, file, row);
}

uint32_t view_names(struct view *v)
{
	return count_numbers(v, &v->names);
}

const char *view_name(struct view *v, uint32_t number)
{
	struct at at;

	if (!find_place(v, &v->names, number, &at))
		return NULL;
	return view_index_name(v->files[at.file]->index, at.item);
}

int64_t view_name_number(struct view *v, uint32_t file, uint32_t name)
{
	return find_number(v, &v->names, file, name);
}

/* A registry does not grow any more, so its types can be numbered by where they begin. */
uint32_t view_events(const struct view *v)
{
	const size_t nr = view_nr_files(v);
	const struct view_file *last = nr ? v->files[nr - 1] : NULL;

	if (!last)
		return 0;
	return last->first_event + (last->trace ? (uint32_t)last->trace->events->nr : 0);
}

struct event *view_event(const struct view *v, uint32_t number, uint32_t *file)
{
	for (size_t i = view_nr_files(v); i-- > 0;) {
		const struct view_file *f = v->files[i];

		if (number < f->first_event || !f->trace)
			continue;
		number -= f->first_event;
		if (file)
			*file = (uint32_t)i;
		return number < f->trace->events->nr ? f->trace->events->list[number] : NULL;
	}
	return NULL;
}

bool view_has_stacks(const struct view_file *f)
{
	static const char *const names[] = {"kernel_stack", "user_stack"};

	if (!f->trace)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct event *e = events_find(f->trace->events, "ftrace", names[i]);

		if (e &&
		    (view_index_count(f->index, e->index) || view_index_progress(f->index) < 1))
			return true;
	}
	return false;
}
