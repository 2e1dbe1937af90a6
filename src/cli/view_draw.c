// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur view --svg, --png, --html`: pictures and pages in files, without a browser. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/vec.h"
#include "cli/progress.h"
#include "cli/view.h"
#include "view/draw.h"
#include "view/saved.h"

#define USUAL_WIDTH 1600
#define USUAL_LIMIT (5u << 20)
#define LEAST_LIMIT (64 << 10)
#define MOST_LIMIT  (1ll << 30)
#define PICTURE_CAP (1u << 30) /* bytes of a file */
#define WAIT_MS	    200

struct drawing {
	const struct view_options *o;
	struct view *view;
	uint64_t since, until; /* relative to the view's origin */
	uint64_t limit;
	struct draw_rows rows;
};

/* ---- the view ---- */

/* Those that open; a message for each that does not, and its status when none does. */
static int open_view(struct drawing *d, const char *const *paths, size_t nr)
{
	const struct view_index_options opt = {.cache = d->o->no_cache ? NULL : d->o->cache,
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

/* What is wrong with the files beside what was drawn of them. */
static int damage(const struct drawing *d)
{
	int status = SPUR_OK;

	for (size_t i = 0; i < view_nr_files(d->view); i++) {
		const struct view_file *f = view_file(d->view, i);
		struct spur_error err = {0};
		int here;

		if (!f->trace)
			here = (int)spur_error_status(f->error.code);
		else if (view_index_error(f->index, &err) < 0)
			here = cli_fail(&err);
		else
			here = cli_damage(f->trace->dat);
		status = status ? status : here;
	}
	return status;
}

/* ---- which part ---- */

static int read_time(const char *option, const char *text, uint64_t *ts, struct spur_error *err)
{
	if (!text || parse_time(text, ts))
		return 0;
	return error_set(err, -EINVAL, "%s: '%s' is not a time", option, text);
}

static bool has_events(const struct view *v)
{
	for (size_t i = 0; i < view_nr_files(v); i++)
		if (view_file(v, i)->index && view_index_records(view_file(v, i)->index))
			return true;
	return false;
}

static int choose_range(struct drawing *d, struct spur_error *err)
{
	const uint64_t origin = view_origin(d->view), last = origin + view_duration(d->view);
	uint64_t since = origin, until = last;
	int rc;

	if (!has_events(d->view))
		return error_set(err, -ENODATA, "%s: there are no events in it",
				 view_file(d->view, 0)->path);
	rc = read_time("--since", d->o->since, &since, err);
	if (rc == 0)
		rc = read_time("--until", d->o->until, &until, err);
	if (rc < 0)
		return rc;
	if (d->o->since && d->o->until && until <= since)
		return error_set(err, -EINVAL, "--until %s is not after --since %s", d->o->until,
				 d->o->since);
	if (since > last || until < origin)
		return error_set(err, -ENODATA,
				 "there are no events between --since and --until: they are from "
				 "%llu.%09llu to %llu.%09llu s",
				 (unsigned long long)(origin / 1000000000),
				 (unsigned long long)(origin % 1000000000),
				 (unsigned long long)(last / 1000000000),
				 (unsigned long long)(last % 1000000000));
	since = since > origin ? since : origin;
	until = until < last ? until : last;
	d->since = since - origin;
	/* A single event is in a picture of a microsecond. */
	d->until = until - origin + (until > since ? 1 : 1000);
	return 0;
}

static int choose_rows(struct drawing *d, struct spur_error *err)
{
	int rc = d->o->rows ? draw_choose(d->view, d->o->rows, &d->rows, err) : 0;

	return rc < 0 ? error_prefix(err, "--rows") : 0;
}

/* ---- files ---- */

static int write_file(const char *path, const struct buf *b, struct spur_error *err)
{
	struct stat st;
	int rc, fd;

	if (strcmp(path, "-") == 0) {
		rc = file_write_fd(STDOUT_FILENO, b->data, b->len);
		return rc < 0 ? error_sys(err, rc, "standard output") : 0;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return error_sys(err, -errno, "%s", path);
	rc = file_write_fd(fd, b->data, b->len);
	if (rc < 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		unlink(path);
	if (close(fd) != 0 && rc == 0)
		rc = -errno;
	return rc < 0 ? error_sys(err, rc, "%s", path) : 0;
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
	struct buf out;
	int rc;

	if (!path)
		return 0;
	buf_init(&out, PICTURE_CAP);
	rc = make_picture(d, writer, &out, err);
	if (rc == 0)
		rc = write_file(path, &out, err);
	buf_free(&out);
	return rc;
}

static int write_page(const struct drawing *d, struct spur_error *err)
{
	const struct saved_options o = {
		.since = d->since, .until = d->until, .most = d->limit, .stop = &cli_stop};
	struct buf out;
	int rc;

	if (!d->o->html)
		return 0;
	buf_init(&out, 2 * PICTURE_CAP);
	rc = saved_page(d->view, &o, &out, err);
	if (rc == -EFBIG)
		error_prefix(err, "--size-limit");
	if (rc == 0)
		rc = write_file(d->o->html, &out, err);
	buf_free(&out);
	return rc;
}

/* ---- the command ---- */

static bool to_terminal(const char *path)
{
	return path && strcmp(path, "-") == 0 && cli_on_terminal();
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
	else if (nr > 64)
		cli_error("no more than 64 files can be looked at together");
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
	if (rc == 0)
		rc = choose_rows(d, err);
	if (rc == 0)
		rc = write_picture(d, d->o->svg, picture_svg, err);
	if (rc == 0)
		rc = write_picture(d, d->o->png, picture_png, err);
	return rc < 0 ? rc : write_page(d, err);
}

int view_draw(const struct view_options *o, const char *const *paths, size_t nr)
{
	struct drawing d = {.o = o};
	struct spur_error err = {0};
	int status = check(&d, nr), rc;

	if (status != SPUR_OK)
		return status;
	cli_catch_signals();
	status = open_view(&d, paths, nr);
	if (status == SPUR_OK) {
		rc = draw(&d, &err);
		status = rc < 0 ? cli_result(rc, "drawing", &err) : damage(&d);
		if (rc == -EFBIG)
			status = SPUR_USAGE;
	}
	vec_free(&d.rows);
	view_close(d.view);
	return status;
}
