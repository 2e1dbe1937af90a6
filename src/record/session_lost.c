// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A file that is deleted, replaced, overwritten or moved while it is being recorded.
 *
 * inotify reports what happens to the file itself; what happens to the folders above it is noticed
 * when the session checks, about twice a second. Then there are four cases:
 *
 *	it has another name      it is recorded there; the user and the guardian are told
 *	it has a link elsewhere  it gets a name in the next free place
 *	it has no name           it is copied to a new file, and the recorder goes on with that
 *	it was overwritten       what was in it is lost; the recorder goes on with a new file
 *
 * A file without a name cannot get a new one, so it must be copied. The copy is made while the
 * recording continues; recording stops only for the last megabyte. The new file has its name from
 * the beginning, so that much of it remains if the recorder is killed.
 *
 * The next free place is NAME.saved, NAME.saved-2, … in the folder of the file or the nearest
 * folder above it that exists, then in the folder for temporary files. A file that exists there is
 * never opened.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "record/session_state.h"

#define TRIES	     100
#define SETTLE_NS    200000000ull
#define FD_PATH_CAP  40
#define ROUNDS	     1000		/* of copying while recording continues */
#define SMALL_ENOUGH ((int64_t)1 << 20) /* copied while recording is stopped */

/* What has happened to the file that should be at s->place. */
enum whereabouts {
	AT_PLACE,
	RENAMED, /* `now` is its name */
	LINKED,	 /* it has a name, but an unknown one */
	NAMELESS,
	OVERWRITTEN, /* `cp other trace.dat`, `: > trace.dat`: it is still the same file */
};

static void fd_path(int fd, char *path)
{
	snprintf(path, FD_PATH_CAP, "/proc/self/fd/%d", fd);
}

static bool is_file(const char *path, const struct stat *st)
{
	struct stat there;

	return stat(path, &there) == 0 && there.st_dev == st->st_dev && there.st_ino == st->st_ino;
}

static enum whereabouts find_file(const struct session *s, int fd, char *now)
{
	char link[FD_PATH_CAP];
	struct stat st;
	ssize_t n;

	if (!s->place[0] || fstat(fd, &st) != 0 || is_file(s->place, &st))
		return AT_PLACE;
	fd_path(fd, link);
	n = readlink(link, now, SESSION_PATH_CAP - 1);
	now[n > 0 ? n : 0] = '\0';
	if (n > 0 && is_file(now, &st))
		return RENAMED;
	return st.st_nlink ? LINKED : NAMELESS;
}

/* ---- watching ---- */

void session_watch_file(struct session *s)
{
	char link[FD_PATH_CAP];

	if (!s->watching) {
		s->notify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
		s->watching = s->notify >= 0;
	}
	/* Without inotify, changes are noticed a little later. */
	if (!s->watching || !s->out)
		return;
	if (s->notify_wd > 0)
		inotify_rm_watch(s->notify, s->notify_wd);
	fd_path(dat_out_fd(s->out), link);
	/* The session's own descriptor stays open, so it is another process that closes one. */
	s->notify_wd = inotify_add_watch(
		s->notify, link, IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF | IN_CLOSE_WRITE);
}

void session_unwatch_file(struct session *s)
{
	if (s->watching)
		close(s->notify);
	s->watching = false;
}

/* Tells the user what has happened to the file, now and at the end. */
static void tell_user(struct session *s)
{
	if (s->opt->note)
		s->opt->note(s->opt->arg, s->misplaced.text);
}

/* ---- places ---- */

/* Replaces a path by its folder; false for the top. */
static bool go_up(char *folder)
{
	char *slash = strrchr(folder, '/');

	if (!slash || (slash == folder && !folder[1]))
		return false;
	slash[slash == folder] = '\0';
	return true;
}

/* Puts something at a path where there is no file yet. 0 or a negative errno. */
struct putter {
	int (*put)(struct putter *p, const char *path);
	struct session *s;
	int (*change)(struct session *s, struct dat_out *next);
	int fd;
};

/* Puts it into a folder as NAME.saved, NAME.saved-2, … */
static int put_in(const char *folder, const char *name, struct putter *p, char *path)
{
	int rc = -EEXIST;

	for (int i = 1; i < TRIES && rc == -EEXIST; i++) {
		char number[16] = "";
		int n;

		if (i > 1)
			snprintf(number, sizeof(number), "-%d", i);
		n = snprintf(path, SESSION_PATH_CAP, "%s/%.200s.saved%s", folder[1] ? folder : "",
			     name, number);
		rc = n < SESSION_PATH_CAP ? p->put(p, path) : -ENAMETOOLONG;
	}
	return rc;
}

static bool is_full(int rc)
{
	return rc == -ENOSPC || rc == -EDQUOT || rc == -EFBIG;
}

/*
 * The same in the nearest folder in which it is possible. A disk that was full is not tried again:
 * much may have been copied until then.
 */
static int put_near(const char *place, struct putter *p, char *path)
{
	const char *name = file_name_of(place);
	char folder[SESSION_PATH_CAP];
	struct stat st, full = {0};
	int rc = -ENOENT;
	bool more;

	snprintf(folder, sizeof(folder), "%s", place);
	do {
		more = go_up(folder);
		if (!more)
			snprintf(folder, sizeof(folder), "%s", file_temp());
		if (stat(folder, &st) < 0 || (is_full(rc) && st.st_dev == full.st_dev))
			continue;
		rc = put_in(folder, name, p, path);
		full = st;
	} while (rc < 0 && more);
	return rc;
}

static int make_file(const char *path)
{
	int made = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);

	return made < 0 ? -errno : made;
}

static int put_link(struct putter *p, const char *path)
{
	char link[FD_PATH_CAP];

	fd_path(p->fd, link);
	return linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 ? 0 : -errno;
}

/* Notes that the file, which may be finished, has another place. */
static void settle_at(struct session *s, const char *path, bool closed)
{
	snprintf(s->place, sizeof(s->place), "%s", path);
	snprintf(s->path, sizeof(s->path), "%s", path);
	snprintf(s->res->file, sizeof(s->res->file), "%s", path);
	if (!closed)
		session_trail_moved(s, path);
}

/* ---- copying ---- */

/* Makes the recorder continue with a copy of its file. */
static int change_file(struct session *s, struct dat_out *next)
{
	int64_t n = SMALL_ENOUGH;
	uint64_t room_now, room_next;

	/* Spliced data cannot be written to a file that needs temporary files. */
	dat_out_place(s->out, 0, 0, &room_now);
	dat_out_place(next, 0, 0, &room_next);
	if (room_now && !room_next)
		return -EINVAL;
	for (int i = 0; i < ROUNDS && n >= SMALL_ENOUGH; i++)
		n = dat_out_follow(next, s->out, false);
	if (n >= 0)
		n = recorder_replace(s->rec, next, dat_out_follow);
	return n < 0 ? (int)n : 0;
}

/* Makes the recorder continue with a file that has none of the data. */
static int begin_again(struct session *s, struct dat_out *next)
{
	recorder_switch(s->rec, next, session_trail_emptied, s);
	session_note(s, NULL);
	return 0;
}

/* Makes the recorder continue with a new file. */
static int put_next(struct putter *p, const char *path)
{
	struct session *s = p->s;
	struct dat_out_options opt = session_file_options(s);
	struct dat_out *next = NULL, *old = s->out;
	int fd = make_file(path), rc;

	if (fd < 0)
		return fd;
	session_trail_moved(s, path);
	rc = dat_out_create_fd(fd, path, &opt, &s->meta.contents, &next, NULL);
	if (rc == 0)
		rc = p->change(s, next);
	if (rc == 0) {
		s->out = next;
		dat_out_abandon(old);
		session_watch_file(s);
		return 0;
	}
	if (next)
		dat_out_abandon(next);
	unlink(path);
	return rc;
}

/* Copies a finished file. */
static int put_copy(struct putter *p, const char *path)
{
	int to = make_file(path), rc;

	if (to < 0)
		return to;
	rc = file_copy(p->fd, to);
	if (close(to) != 0 && rc == 0)
		rc = -errno;
	if (rc < 0)
		unlink(path);
	return rc;
}

/* ---- what the session calls ---- */

/* Tells the user what has happened to the file that was at s->place. */
static void say_where(struct session *s, enum whereabouts w, const char *now, int rc)
{
	struct spur_error *e = &s->misplaced;
	struct stat st;
	const char *what = stat(s->place, &st) == 0 ? "replaced by another file" : "deleted";

	*e = (struct spur_error){0};
	if (w == RENAMED)
		error_set(e, -ENODATA, "%s was renamed while it was recorded: it is now %s",
			  s->path, now);
	else if (w == OVERWRITTEN && rc == 0)
		error_set(e, -ENODATA,
			  "%s was overwritten while it was recorded, and what it had is lost: the "
			  "recording goes on as %s",
			  s->path, now);
	else if (w == OVERWRITTEN)
		error_set(e, -ENODATA,
			  "%s was overwritten while it was recorded: the recording is lost%s%s",
			  s->path, rc == -ENODATA ? "" : " and cannot go on elsewhere: ",
			  rc == -ENODATA ? "" : strerror(-rc));
	else if (rc == 0)
		error_set(e, -ENODATA,
			  "%s was %s while it was recorded: the recording is saved as %s", s->path,
			  what, now);
	else
		error_set(e, -ENODATA,
			  "%s was %s while it was recorded, and cannot be saved elsewhere: %s",
			  s->path, what, strerror(-rc));
	tell_user(s);
}

static int rescue(struct session *s, enum whereabouts w, int fd, bool closed, char *now)
{
	struct putter p = {.s = s, .fd = fd, .put = closed ? put_copy : put_next};
	int rc;

	if (w == RENAMED)
		return 0;
	if (!s->opt->rescue)
		return -EPERM;
	p.change = w == OVERWRITTEN ? begin_again : change_file;
	if (w == LINKED) {
		struct putter link = {.fd = fd, .put = put_link};

		rc = put_near(s->place, &link, now);
		if (rc == 0)
			return 0;
	}
	return put_near(s->place, &p, now);
}

/*
 * Before a folder is removed, its files are; a new file there would be in the way. So this waits.
 */
static bool has_to_wait(struct session *s)
{
	const uint64_t now = session_now();

	if (!s->lost_since)
		s->lost_since = now;
	return now - s->lost_since < SETTLE_NS;
}

static void look_after(struct session *s, int fd, bool closed)
{
	char now[SESSION_PATH_CAP];
	enum whereabouts w = find_file(s, fd, now);
	int rc;

	if (s->given_up && !closed)
		return;
	if (s->place[0] && !closed && !dat_out_is_whole(s->out))
		w = OVERWRITTEN;
	if ((w == LINKED || w == NAMELESS) && !closed && has_to_wait(s))
		return;
	s->lost_since = 0;
	if (w == AT_PLACE)
		return;
	rc = rescue(s, w, fd, closed, now);
	say_where(s, w, now, rc);
	/* What cannot be changed is only reported once. But there may be more space at the end. */
	if (!closed)
		s->given_up = rc != 0;
	if (rc == 0)
		settle_at(s, now, closed);
	else if (closed || !s->opt->rescue)
		s->place[0] = '\0';
}

void session_check_file(struct session *s)
{
	struct inotify_event events[16];

	while (s->watching && read(s->notify, events, sizeof(events)) > 0)
		;
	if (s->out && s->rec)
		look_after(s, dat_out_fd(s->out), false);
}

void session_check_closed(struct session *s, int fd)
{
	if (fd < 0)
		return;
	look_after(s, fd, true);
	close(fd);
}

bool session_file_is_whole(struct session *s)
{
	if (dat_out_is_whole(s->out))
		return true;
	if (s->place[0] && !s->given_up)
		say_where(s, OVERWRITTEN, NULL, -ENODATA);
	s->res->file[0] = '\0';
	return false;
}

static int put_empty(struct putter *p, const char *path)
{
	int made = make_file(path);

	return made < 0 ? made : close(made) == 0 ? 0 : -errno;
}

int session_reserve(const char *place, bool itself, char *path)
{
	struct putter empty = {.put = put_empty};
	int n = itself ? snprintf(path, SESSION_PATH_CAP, "%s", place) : 0;

	if (itself && n < SESSION_PATH_CAP && put_empty(&empty, path) == 0)
		return 0;
	return put_near(place, &empty, path);
}

static int put_nothing(struct putter *p, const char *path)
{
	int rc = put_empty(p, path);

	if (rc == 0)
		unlink(path);
	return rc;
}

bool session_move_output(struct session *s)
{
	const char *slash = strrchr(s->opt->output, '/');
	char path[SESSION_PATH_CAP], place[SESSION_PATH_CAP];
	struct putter nothing = {.put = put_nothing};
	struct stat st;
	int n = snprintf(place, sizeof(place), "%s/%s", s->folder,
			 slash ? slash + 1 : s->opt->output);

	if (!s->begin || !s->opt->rescue || !s->folder[0] || stat(s->folder, &st) == 0 ||
	    n >= (int)sizeof(place) || put_near(place, &nothing, path) < 0)
		return false;
	snprintf(s->output, sizeof(s->output), "%s", path);
	s->file_number = 0;
	s->misplaced = (struct spur_error){0};
	error_set(&s->misplaced, -ENODATA,
		  "%s: its folder was removed while it was recorded: it goes on as %s",
		  s->opt->output, s->output);
	tell_user(s);
	return true;
}

int session_find_folder(struct session *s, struct spur_error *err)
{
	const char *slash = strrchr(s->opt->output, '/');
	char *folder = slash == s->opt->output ? strdup("/")
		       : slash ? strndup(s->opt->output, (size_t)(slash - s->opt->output))
			       : strdup(".");
	char *real = folder ? realpath(folder, NULL) : NULL;
	int rc = real ? 0 : error_sys(err, -errno, "%s cannot be written", s->opt->output);

	snprintf(s->folder, sizeof(s->folder), "%s", real ? real : "");
	free(folder);
	free(real);
	return rc;
}
