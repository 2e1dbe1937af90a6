// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur view --svg, --png, --html`: pictures and pages in files, without a browser. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/newfile.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "cli/view.h"
#include "view/api/api.h"
#include "view/draw/draw.h"

#define USUAL_WIDTH 1600
/* As --size-limit reads 5M, 64k and 1G. */
#define USUAL_LIMIT 5000000
#define LEAST_LIMIT 64000
#define MOST_LIMIT  1000000000
#define PICTURE_CAP (1u << 30) /* bytes of a file */
#define WAIT_MS	    200

struct drawing {
	const struct view_options *o;
	const char *cache; /* folder of kept indexes, or NULL */
	struct view *view;
	uint64_t since, until; /* relative to the view's origin */
	uint64_t limit;
	struct draw_rows rows;
};

/* ---- the view ---- */

/* Opens the files. The first that is no trace is named; its status is returned if none is one. */
static int open_view(struct drawing *d, const char *const *paths, size_t nr)
{
	const struct view_index_options opt = {.cache = d->cache,
					       .threads = (uint32_t)d->o->threads};
	struct spur_error err = {0};
	int status = SPUR_OK;
	size_t good = 0;

	d->view = view_open(paths, nr, &opt, &err);
	if (!d->view)
		return cli_fail(&err);
	for (size_t i = 0; i < nr; i++) {
		const struct view_file *f = view_file(d->view, i);

		good += f->trace != NULL;
		if (!f->trace && status == SPUR_OK)
			status = cli_fail(&f->error);
	}
	return good ? SPUR_OK : status;
}

/* Until the index is complete. */
static int wait_for_index(struct drawing *d)
{
	const bool shown = isatty(STDERR_FILENO);
	struct progress p;

	progress_begin(&p);
	while (view_progress(d->view) < 1 && !cli_stop) {
		view_wait(d->view, view_generation(d->view), WAIT_MS, &cli_stop);
		if (shown)
			progress_show(&p, (uint64_t)(view_progress(d->view) * 1000), 1000);
	}
	progress_end(&p);
	return cli_stop ? -EINTR : 0;
}

/* ---- which part ---- */

static bool has_events(const struct view *v)
{
	for (size_t i = 0; i < view_nr_files(v); i++)
		if (view_file(v, i)->index && view_index_records(view_file(v, i)->index))
			return true;
	return false;
}

static int say_outside(uint64_t origin, uint64_t last, bool ticks, struct spur_error *err)
{
	const char *words = "there are no events between --since and --until: they are from";

	if (ticks)
		return error_set(err, -ENODATA, "%s %llu to %llu", words,
				 (unsigned long long)origin, (unsigned long long)last);
	return error_set(err, -ENODATA, "%s %llu.%09llu to %llu.%09llu s", words,
			 (unsigned long long)(origin / 1000000000),
			 (unsigned long long)(origin % 1000000000),
			 (unsigned long long)(last / 1000000000),
			 (unsigned long long)(last % 1000000000));
}

static int choose_range(struct drawing *d, struct spur_error *err)
{
	const uint64_t origin = view_origin(d->view), last = origin + view_duration(d->view);
	const bool ticks = !view_nanoseconds(d->view);
	uint64_t since = origin, until = last;

	if (!has_events(d->view))
		return error_set(err, -ENODATA, "%s: there are no events in it",
				 view_file(d->view, 0)->path);
	if (parse_range(d->o->since, d->o->until, ticks, &since, &until, err) < 0)
		return -EINVAL;
	if (d->o->since && d->o->until && until <= since)
		return error_set(err, -EINVAL, "--until %s is not after --since %s", d->o->until,
				 d->o->since);
	if (since > last || until < origin)
		return say_outside(origin, last, ticks, err);
	since = since > origin ? since : origin;
	until = until < last ? until : last;
	d->since = since - origin;
	/* A single event is in a picture of a microsecond. */
	d->until = until - origin + (until > since ? 1 : 1000);
	return 0;
}

/* ---- files ---- */

/* A file appears when it is complete; a pipe or a device, as /dev/stdout, is written to. */
static int write_file(const char *path, const struct buf *b, struct spur_error *err)
{
	struct stat st;
	int rc, fd;

	if (strcmp(path, "-") == 0) {
		rc = file_write_fd(STDOUT_FILENO, b->data, b->len);
		return rc < 0 ? error_sys(err, rc, "standard output") : 0;
	}
	if (stat(path, &st) != 0 || S_ISREG(st.st_mode))
		return newfile_write(path, b->data, b->len, err);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return error_sys(err, -errno, "%s", path);
	rc = file_write_fd(fd, b->data, b->len);
	if (close(fd) != 0 && rc == 0)
		rc = -errno;
	return rc < 0 ? error_sys(err, rc, "%s", path) : 0;
}

/* Whether an index that was kept turned out to be damaged while it was drawn. */
static bool is_spoilt(const struct drawing *d)
{
	for (size_t i = 0; i < view_nr_files(d->view); i++) {
		const struct view_file *f = view_file(d->view, i);

		if (f->index && view_index_error(f->index, NULL) == -EBADMSG)
			return true;
	}
	return false;
}

static int make_picture(const struct drawing *d,
			int (*writer)(const struct picture *, struct buf *), struct buf *out,
			struct spur_error *err)
{
	const struct draw_options o = {
		.since = d->since,
		.until = d->until,
		.width = (int32_t)(d->o->width ? d->o->width : USUAL_WIDTH),
		.height = (int32_t)d->o->height,
		.dark = d->o->dark,
		.processes = d->o->processes,
		.rows = d->rows.at,
		.nr_rows = d->rows.n,
	};
	struct picture p;
	int rc = draw_view(d->view, &o, &p, err);

	if (rc == 0 && writer(&p, out) < 0)
		rc = error_set(err, -ENOMEM, "out of memory");
	picture_free(&p);
	return rc;
}

static int write_picture(const struct drawing *d, const char *path,
			 int (*writer)(const struct picture *, struct buf *),
			 struct spur_error *err)
{
	scoped_buf out = buf_new(PICTURE_CAP);
	int rc;

	if (!path)
		return 0;
	rc = make_picture(d, writer, &out, err);
	if (is_spoilt(d))
		rc = -ESTALE;
	return rc == 0 ? write_file(path, &out, err) : rc;
}

static int write_page(const struct drawing *d, struct spur_error *err)
{
	const struct saved_options o = {
		.since = d->since,
		.until = d->until,
		.most = d->limit,
		.processes = d->o->processes,
		.stop = &cli_stop,
	};
	scoped_buf out = buf_new(2 * PICTURE_CAP);
	int rc;

	if (!d->o->html)
		return 0;
	rc = saved_page(d->view, &o, &out, err);
	if (rc == -EFBIG)
		error_prefix(err, "--size-limit");
	if (is_spoilt(d))
		rc = -ESTALE;
	return rc == 0 ? write_file(d->o->html, &out, err) : rc;
}

static bool to_terminal(const char *path)
{
	return path && strcmp(path, "-") == 0 && cli_on_terminal();
}

/* Whether two paths are one file, or both standard output. */
static bool is_same(const char *a, const char *b)
{
	return strcmp(a, b) == 0 || file_is_same(a, b);
}

/* Outputs must not be inputs, nor each other. False after a message. */
static bool outputs_fit(const struct view_options *o, const char *const *paths, size_t nr)
{
	const char *const outputs[] = {o->svg, o->png, o->html};

	for (size_t i = 0; i < 3; i++) {
		for (size_t k = 0; outputs[i] && k < nr; k++) {
			if (strcmp(outputs[i], "-") == 0 || !is_same(outputs[i], paths[k]))
				continue;
			return cli_complain("%s is an input: name another output", outputs[i]);
		}
		for (size_t k = 0; outputs[i] && k < i; k++) {
			if (!outputs[k] || !is_same(outputs[i], outputs[k]))
				continue;
			return cli_complain(
				"--svg, --png and --html need a file each, not %s for two of them",
				outputs[i]);
		}
	}
	return true;
}

static int check(struct drawing *d, size_t nr)
{
	const struct view_options *o = d->o;
	int64_t limit = USUAL_LIMIT;

	if (o->width < 0 || o->width > DRAW_MOST || (o->width && o->width < DRAW_LEAST_WIDTH))
		cli_error("--width: between %d and %d", DRAW_LEAST_WIDTH, DRAW_MOST);
	else if (o->height < 0 || o->height > DRAW_MOST ||
		 (o->height && o->height < DRAW_LEAST_HEIGHT))
		cli_error("--height: between %d and %d", DRAW_LEAST_HEIGHT, DRAW_MOST);
	else if (o->size_limit && (!parse_number(o->size_limit, &limit) || limit < LEAST_LIMIT ||
				   limit > MOST_LIMIT))
		cli_error("--size-limit: '%s' is no number of bytes between 64k and 1G",
			  o->size_limit);
	else if (to_terminal(o->png) || to_terminal(o->html) || to_terminal(o->svg))
		cli_error("standard output is a terminal: name a file, or redirect it");
	else if (nr > VIEW_MOST_FILES)
		cli_error("no more than %d files can be looked at together", VIEW_MOST_FILES);
	else {
		d->limit = (uint64_t)limit;
		return SPUR_OK;
	}
	return SPUR_USAGE;
}

static int draw(struct drawing *d, struct spur_error *err)
{
	int rc = wait_for_index(d);

	if (rc == 0)
		rc = choose_range(d, err);
	if (rc == 0 && d->o->rows && draw_choose(d->view, d->o->rows, &d->rows, err) < 0)
		rc = error_prefix(err, "--rows");
	if (rc == 0)
		rc = write_picture(d, d->o->svg, picture_svg, err);
	if (rc == 0)
		rc = write_picture(d, d->o->png, picture_png, err);
	return rc < 0 ? rc : write_page(d, err);
}

/* An exit status; *again: nothing was drawn, because an index that was kept is damaged. */
static int draw_files(struct drawing *d, const char *const *paths, size_t nr, bool *again)
{
	struct spur_error err = {0};
	int status = open_view(d, paths, nr), rc = 0;

	if (status == SPUR_OK)
		rc = draw(d, &err);
	*again = rc == -ESTALE;
	if (rc < 0 && !*again)
		status = cli_result(rc, "drawing", &err);
	else if (status == SPUR_OK && !*again)
		status = view_setup_damage(d->view, true);
	vec_free(&d->rows);
	view_close(d->view);
	return rc == -EFBIG ? SPUR_USAGE : status;
}

int view_draw(const struct view_options *o, const char *const *paths, size_t nr)
{
	struct drawing d = {.o = o, .cache = o->no_cache ? NULL : o->cache};
	int status = check(&d, nr);
	bool again;

	if (status != SPUR_OK || !outputs_fit(o, paths, nr))
		return SPUR_USAGE;
	cli_catch_signals();
	status = draw_files(&d, paths, nr, &again);
	/* It was removed when it was closed, if possible, and is built again. */
	if (again)
		status = draw_files(&d, paths, nr, &again);
	if (again) {
		d.cache = NULL;
		status = draw_files(&d, paths, nr, &again);
	}
	return status;
}
