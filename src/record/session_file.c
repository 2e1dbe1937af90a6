// SPDX-License-Identifier: GPL-2.0-or-later
/* A session's files: one, or one after the other. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/newfile.h"
#include "base/scoped.h"
#include "dat/copy.h"
#include "dat/dat.h"
#include "record/session_state.h"

/* ---- a file that is cut ---- */

#define OPTION_LIMIT (16u << 20)

static struct dat_cut_cpu cut_of(const struct session *s, struct dat *d, size_t buffer,
				 uint32_t cpu, size_t stream)
{
	const struct rescue_file *file = &s->trail[0];
	struct dat_cut_cpu cut = {.buffer = (uint32_t)buffer, .cpu = cpu, .after = DAT_CUT_UNKNOWN};
	struct tally had = {0};
	uint64_t taken, left, saved;

	if (s->gone)
		cut.between = s->gone[stream];
	if (buffer >= d->nr_buffers || tally_file(&had, d, buffer, cpu) < 0)
		return cut;
	cut.last = had.last;
	if (!s->unwritten) {
		cut.after = 0;
		return cut;
	}
	if (stream >= file->nr_base ||
	    !tally_kernel(s->fs, s->setup.buffers[buffer].instance, cpu, &taken, &left))
		return cut;
	saved = had.events + file->base[stream];
	cut.after = taken + left > saved ? taken + left - saved : 0;
	return cut;
}

static int count_cut(const struct session *s, struct dat *d, struct dat_cut *cut)
{
	const size_t cap = s->setup.nr_buffers * s->meta.nr_cpus;

	cut->cpus = calloc(cap + 1, sizeof(*cut->cpus));
	if (!cut->cpus)
		return -ENOMEM;
	for (size_t i = 0; i < s->setup.nr_buffers; i++)
		for (uint32_t k = 0; k < s->meta.nr_cpus && s->setup.buffers[i].instance; k++) {
			cut->cpus[cut->nr] = cut_of(s, d, i, s->meta.cpus[k], cut->nr);
			cut->nr++;
		}
	return 0;
}

/*
 * Marks a file that could not be written completely, or replaces one that was overwritten: where it
 * ends, and how many events of the kernel are not in it. Files reserve space for that, in case the
 * disk is full.
 */
static void session_mark_cut(struct session *s)
{
	struct dat_cut cut = {.cause = s->unwritten ? DAT_CUT_UNWRITTEN : DAT_CUT_OVERWRITTEN};
	struct buf text;
	char path[64];
	struct dat *d;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", dat_out_fd(s->out));
	/* Data in temporary files cannot be counted. */
	if (dat_out_gather(s->out) < 0 || dat_open(path, NULL, &d, NULL) < 0)
		return;
	buf_init(&text, OPTION_LIMIT);
	if (count_cut(s, d, &cut) == 0)
		dat_cut_put(&cut, d->big_endian, &text);
	if (text.len && !buf_full(&text))
		meta_option(&s->meta, DAT_OPT_CUT, text.data, text.len, NULL);
	buf_free(&text);
	free(cut.cpus);
	dat_close(d);
}

/* ---- files ---- */

#define TEXT_LIMIT	 (64u << 20)
#define STAT_BYTES	 320 /* of a CPU's statistics in the options */
#define CMDLINE_BYTES	 32  /* of a task in the list of names */
#define MIN_CMDLINES	 (16u << 10)
#define OPTIONS_AT_LEAST (64u << 10)

static const char *const text_tracers[] = {
	"wakeup", "wakeup_rt", "wakeup_dl", "irqsoff", "preemptoff", "preemptirqsoff",
};

bool session_text_tracer(const char *tracer)
{
	for (size_t i = 0; tracer && i < ARRAY_SIZE(text_tracers); i++)
		if (strcmp(text_tracers[i], tracer) == 0)
			return true;
	return false;
}

bool session_is_text(const struct session *s)
{
	return session_text_tracer(s->req->buffers.at[0].tracer);
}

/* The N of a name "BASE.N" as snprintf() would write it; 0 if it is no such name. */
static uint64_t number_of(const char *name, const char *base)
{
	const size_t len = strlen(base);
	const char *at = name + len;
	uint64_t n = 0;

	if (strncmp(name, base, len) != 0 || *at != '.' || at[1] == '0')
		return 0;
	while (*++at)
		if (*at < '0' || *at > '9' || __builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*at - '0'), &n))
			return 0;
	return n;
}

/*
 * The highest N of the existing files "OUTPUT.N", of this recording or an earlier one; 0: none.
 * Removes those with numbers from `first` to `drop`.
 */
static uint64_t numbered_files(const char *output, uint64_t first, uint64_t drop)
{
	const char *slash = strrchr(output, '/'), *base = slash ? slash + 1 : output;
	char *folder = slash ? strndup(output, (size_t)(base - output)) : strdup(".");
	scoped_dir d = folder ? opendir(folder) : NULL;
	uint64_t highest = 0;
	const struct dirent *e;

	while (d && (e = readdir(d)) != NULL) {
		const uint64_t n = number_of(e->d_name, base);

		highest = n > highest ? n : highest;
		if (n && n >= first && n <= drop)
			unlinkat(dirfd(d), e->d_name, 0);
	}
	free(folder);
	return highest;
}

/*
 * "trace.dat", or "trace.dat.N" for a rotation or a flight that continues. Numbers continue after
 * those of an earlier recording, so that a restart after a failure does not overwrite the recording
 * of the failure.
 */
static int next_path(struct session *s, struct spur_error *err)
{
	const struct session_options *o = s->opt;
	bool several = o->rotate.bytes || o->rotate.ns || o->limit || (o->flight && !s->end);
	int n;

	if (several && !s->file_number) {
		s->file_number = numbered_files(session_output(s), 1, 0);
		s->first_number = s->file_number + 1;
	}
	if (several)
		n = snprintf(s->path, sizeof(s->path), "%s.%llu", session_output(s),
			     (unsigned long long)++s->file_number);
	else
		n = snprintf(s->path, sizeof(s->path), "%s", session_output(s));
	return n < (int)sizeof(s->path)
		       ? 0
		       : error_set(err, -ENAMETOOLONG, "%s: the name is too long", o->output);
}

static bool is_too_long(int rc)
{
	return rc == -ENOSPC || rc == -EDQUOT || rc == -EFBIG;
}

static void say_left_out(const struct session *s)
{
	char text[SESSION_PATH_CAP + 128];

	if (!s->opt->note)
		return;
	snprintf(text, sizeof(text), "%s: there is little space for it: %s", s->path,
		 s->meta.which == META_NONE
			 ? "the kernel's symbols are left out, addresses have no names"
			 : "of the kernel's symbols it has only the functions");
	s->opt->note(s->opt->arg, text);
}

/* Writes what precedes the data; of the symbols only as many as there is space for. */
static int create_contents(struct session *s, int fd, const struct dat_out_options *opt,
			   struct spur_error *err)
{
	const enum meta_symbols before = s->meta.which;
	struct dat_out_options with = *opt;
	struct spur_error why;
	int rc;

	do {
		why = (struct spur_error){0};
		with.roomy = meta_can_shrink(&s->meta);
		rc = dat_out_try_fd(fd, s->path, &with, &s->meta.contents, &s->out, &why);
	} while (is_too_long(rc) && meta_shrink(&s->meta));
	if (rc == 0 && s->meta.which != before)
		say_left_out(s);
	if (rc == 0)
		return 0;
	close(fd);
	if (is_too_long(rc) && s->meta.which != META_NONE)
		return error_set(err, rc,
				 "%s; it needs the kernel's symbols, %.1f MB without --compression",
				 why.text, (double)s->meta.contents.kallsyms.size / 1e6);
	return error_set(err, rc, "%s", why.text);
}

/*
 * The file gets its name when the first data are recorded. Until then the file that it replaces
 * stays. The guardian knows both names, see session_note().
 */
static int create_file(struct session *s, const struct dat_out_options *opt, struct spur_error *err)
{
	int fd = newfile_create(&s->file, s->path, err), rc;

	if (fd < 0)
		return fd;
	session_trail_next(s, fd);
	rc = session_note(s, err);
	if (rc < 0)
		close(fd);
	else
		rc = create_contents(s, fd, opt, err);
	if (rc == 0 && s->begin)
		rc = session_name_file(s, err);
	if (rc < 0)
		newfile_drop(&s->file);
	return rc;
}

/*
 * Removes old files of a rotation, so that at most `keep` remain, including the new one. (-m
 * removes only its own parts.)
 */
static void drop_oldest(const struct session *s)
{
	const uint64_t keep = s->opt->limit ? 2 : s->opt->rotate.keep;
	const uint64_t first = s->opt->limit ? s->first_number : 1;

	if (keep && s->file_number > keep)
		numbered_files(session_output(s), first, s->file_number - keep);
}

/* Stores the absolute path of the file. */
static void remember_place(struct session *s)
{
	char *real = realpath(s->path, NULL);

	snprintf(s->place, sizeof(s->place), "%s", real ? real : "");
	s->given_up = false;
	free(real);
	session_watch_file(s);
}

int session_name_file(struct session *s, struct spur_error *err)
{
	int rc = s->file.path ? newfile_keep(&s->file, err) : 0;

	if (rc < 0) {
		dat_out_abandon(s->out);
		s->out = NULL;
	} else {
		remember_place(s);
		drop_oldest(s);
	}
	return rc;
}

struct dat_out_options session_file_options(const struct session *s)
{
	struct dat_out_options opt = s->opt->file;
	int64_t names = 0;

	opt.sparse = true;
	tracefs_read_number(s->fs, "", "saved_cmdlines_size", &names, NULL);
	opt.cmdlines_room = (size_t)(names > 0 ? names : 0) * CMDLINE_BYTES + MIN_CMDLINES;
	opt.options_room = s->setup.nr_buffers * s->meta.nr_cpus * STAT_BYTES + OPTIONS_AT_LEAST;
	return opt;
}

/* Creates the next file, elsewhere if the folder has been removed since the recording began. */
static int create_next(struct session *s, struct spur_error *err)
{
	const struct dat_out_options opt = session_file_options(s);
	struct spur_error why = {0};
	int rc = next_path(s, &why);

	if (rc == 0)
		rc = create_file(s, &opt, &why);
	if (rc == -ENOENT && session_move_output(s)) {
		why = (struct spur_error){0};
		rc = next_path(s, &why);
		if (rc == 0)
			rc = create_file(s, &opt, &why);
	}
	return rc < 0 ? error_set(err, rc, "%s", why.text) : 0;
}

int session_open_file(struct session *s, struct spur_error *err)
{
	int rc = create_next(s, err);

	if (rc == 0)
		snprintf(s->res->file, sizeof(s->res->file), "%s", s->path);
	s->tasks_full = false;
	s->file_begin = session_now();
	s->file_bytes = s->rec ? recorder_bytes(s->rec) : 0;
	return rc;
}

void session_save_tasks(struct session *s)
{
	taskinfo_read(s->tasks);
	if (!s->out || s->tasks_full || !taskinfo_changed(s->tasks))
		return;
	s->tasks_full = taskinfo_put(s->tasks, &s->meta, NULL) < 0 ||
			dat_out_update(s->out, &s->meta.contents) < 0;
}

int session_close_file(struct session *s, struct spur_error *err)
{
	struct dat_out *out = s->out;
	int fd = fcntl(dat_out_fd(out), F_DUPFD_CLOEXEC, 0);
	int rc = meta_end(&s->meta, err), closed;

	if (rc == 0)
		rc = taskinfo_put(s->tasks, &s->meta, err);
	if (!session_file_is_whole(s)) {
		/* What is in it now belongs to another process. */
		close(fd);
		dat_out_abandon(out);
		s->out = NULL;
		free(s->gone);
		s->gone = NULL;
		return rc;
	}
	if (s->unwritten || s->gone)
		session_mark_cut(s);
	free(s->gone);
	s->gone = NULL;
	s->out = NULL;
	dat_out_watch(out, s->opt->progress, s->opt->arg);
	closed = dat_out_finish(out, &s->meta.contents, err);
	if (closed == 0)
		s->res->last.files++;
	session_check_closed(s, fd);
	return rc ? rc : closed;
}

void session_drop_file(struct session *s)
{
	recorder_free(s->rec);
	s->rec = NULL;
	dat_out_abandon(s->out);
	s->out = NULL;
	newfile_drop(&s->file);
	s->res->file[0] = '\0';
}

/* The names of a file. */
struct names {
	char path[SESSION_PATH_CAP], place[SESSION_PATH_CAP];
};

static void swap_names(struct session *s, struct names *old, const struct names *new)
{
	if (old) {
		snprintf(old->path, sizeof(old->path), "%s", s->path);
		snprintf(old->place, sizeof(old->place), "%s", s->place);
	}
	if (new) {
		snprintf(s->path, sizeof(s->path), "%s", new->path);
		snprintf(s->place, sizeof(s->place), "%s", new->place);
		snprintf(s->res->file, sizeof(s->res->file), "%s", new->path);
	}
}

int session_rotate(struct session *s, struct spur_error *err)
{
	struct dat_out *old = s->out, *next;
	struct names before, now;
	int rc = taskinfo_put(s->tasks, &s->meta, err);

	swap_names(s, &before, NULL);
	if (rc == 0)
		rc = session_open_file(s, err);
	if (rc < 0) {
		/* The recording ends with its current file. */
		s->out = old;
		s->file_number--;
		snprintf(s->path, sizeof(s->path), "%s", s->res->file);
		if (err)
			err->code = -ENODATA;
		return -ENODATA;
	}
	next = s->out;
	recorder_switch(s->rec, next, session_trail_switched, s);
	session_note(s, NULL);
	s->out = old;
	swap_names(s, &now, &before);
	rc = session_close_file(s, err);
	s->out = next;
	taskinfo_rotate(s->tasks, meta_oldest(&s->meta));
	snprintf(s->previous, sizeof(s->previous), "%s", s->path);
	swap_names(s, NULL, &now);
	return rc;
}

/* ---- streams ---- */

int session_start_recorder(struct session *s, struct spur_error *err)
{
	struct recorder_source *sources = calloc(s->setup.nr_buffers, sizeof(*sources));
	struct recorder_options opt = s->opt->recorder;
	size_t first = s->setup.nr_buffers;
	uint64_t room = 0;
	int rc;

	if (!sources)
		return error_set(err, -ENOMEM, "out of memory");
	/* The buffer with a tracer's text has no pages; the others have. */
	for (size_t i = s->setup.nr_buffers; i-- > 0;) {
		if (!s->meta.contents.buffers[i].is_text)
			sources[i].instance = s->setup.buffers[i].instance;
		sources[i].page_size = s->meta.contents.buffers[i].page_size;
		first = sources[i].instance ? i : first;
	}
	opt.enough = s->opt->limit / 2;
	opt.enough_all = s->opt->rotate.bytes;
	opt.compressed = s->opt->file.compression && strcmp(s->opt->file.compression, "none") != 0;
	/* If the file cannot have holes, its data are in temporary files, and cannot be spliced. */
	if (first < s->setup.nr_buffers)
		dat_out_place(s->out, first, 0, &room);
	if (!room)
		opt.mover = &mover_read;
	rc = recorder_new(s->fs, sources, s->setup.nr_buffers, s->meta.cpus, s->meta.nr_cpus, &opt,
			  &s->rec, err);
	if (rc == 0)
		rc = recorder_start(s->rec, s->out, err);
	free(sources);
	return rc;
}

/* Why data could not be written, so that a user knows what to change. */
static const char *why_not(int rc, const struct spur_error *why)
{
	struct rlimit limit;

	if (rc != -EFBIG)
		return why->text;
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		return "the file has reached the limit of the size of files (ulimit -f)";
	return "the file cannot be longer";
}

int session_end_recorder(struct session *s, struct spur_error *err)
{
	struct spur_error why = {0};
	int rc = recorder_drain(s->rec, &why);

	s->done_bytes += recorder_bytes(s->rec);
	s->done_events += recorder_events(s->rec);
	recorder_free(s->rec);
	s->rec = NULL;
	/* The file is valid but incomplete. */
	if (rc == 0)
		return 0;
	s->unwritten = true;
	return error_set(err, -ENODATA,
			 "%s: the recording is not complete, it ends after %.1f s: %s", s->path,
			 (double)((s->end ? s->end : session_now()) - s->begin) / 1e9,
			 why_not(rc, &why));
}

/* ---- all at once ---- */

int session_take_text(struct session *s, struct buf *text, struct spur_error *err)
{
	struct dat_out_buffer *b = (struct dat_out_buffer *)s->meta.contents.buffers;
	const char *instance = s->setup.buffers[0].instance;
	int rc = tracefs_read(s->fs, instance, "trace", text, err);

	b->is_text = true;
	b->text = (struct dat_span){text->data, text->len};
	return rc;
}

int session_save(struct session *s, struct spur_error *err)
{
	struct buf text;
	int rc = 0;

	buf_init(&text, TEXT_LIMIT);
	if (session_is_text(s))
		rc = session_take_text(s, &text, err);
	if (rc == 0)
		rc = session_open_file(s, err);
	if (rc == 0)
		rc = session_name_file(s, err);
	if (rc == 0)
		rc = session_start_recorder(s, err);
	if (rc == 0)
		rc = session_end_recorder(s, err);
	/* If some threads could not be started, the others must not outlive the file. */
	recorder_free(s->rec);
	s->rec = NULL;
	if (s->out) {
		int closed = session_close_file(s, err);

		rc = rc ? rc : closed;
	}
	buf_free(&text);
	return rc;
}

/* ---- joining ---- */

/*
 * A file with only the last part of a recording (-m): two files are written in turn, each with up
 * to half of the limit, and are joined at the end. So no more is copied than the limit.
 */

/* Appends the data of one of the two files, which have the same buffers and CPUs. */
static int add_piece(const char *path, struct dat_out *to, struct spur_error *err)
{
	const struct dat_job job = {0};
	struct dat_contents c;
	struct dat *d;
	int rc = dat_open(path, NULL, &d, err);

	if (rc < 0)
		return rc;
	rc = dat_copy_contents(d, &c, err);
	if (rc == 0)
		rc = dat_copy_data(d, &c, to, DAT_COPY_EXACT, &job, err);
	dat_close(d);
	return rc;
}

static int join(const struct session *s, const char *const *pieces, size_t nr,
		struct spur_error *err)
{
	struct dat_out_options opt = {.version = s->opt->file.version,
				      .compression = s->opt->file.compression,
				      .sparse = true};
	struct newfile file;
	struct dat_out *out;
	int fd = newfile_create(&file, session_output(s), err), rc;

	if (fd < 0)
		return fd;
	rc = dat_out_create_fd(fd, session_output(s), &opt, &s->meta.contents, &out, err);
	for (size_t i = 0; i < nr && rc == 0; i++)
		rc = add_piece(pieces[i], out, err);
	if (rc == 0)
		rc = dat_out_finish(out, &s->meta.contents, err);
	else
		dat_out_abandon(out);
	if (rc == 0)
		rc = newfile_keep(&file, err);
	newfile_drop(&file);
	return rc;
}

int session_join(struct session *s, struct spur_error *err)
{
	const char *const both[] = {s->previous, s->path};
	const size_t nr = s->previous[0] ? 2 : 1;
	const char *const *pieces = both + 2 - nr;
	int rc = join(s, pieces, nr, err);

	if (rc < 0)
		return error_sys(err, rc, "%s: joining its parts, which are kept",
				 session_output(s));
	for (size_t i = 0; i < nr; i++)
		unlink(pieces[i]);
	snprintf(s->res->file, sizeof(s->res->file), "%s", session_output(s));
	s->res->last.files = 1;
	return 0;
}
