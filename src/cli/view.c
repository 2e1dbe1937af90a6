// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `spur view`: a picture of traces in a browser, or in a file. First what every viewer sets up
 * before it reads a byte of the files: they are opened, root chooses a user and folders for that
 * user, then everything that is not needed any more is given up.
 */
#include "cli/view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "view/serve/confine.h"

#define NOBODY 65534

static bool env_number(const char *name, uid_t *out)
{
	const char *text = getenv(name);
	int64_t n;

	if (!text || !parse_number(text, &n) || n <= 0 || n >= NOBODY)
		return false;
	*out = (uid_t)n;
	return true;
}

/* The user who called sudo, or the owner of the first file, or the system's user nobody. */
static void choose_user(struct view_setup *r)
{
	struct view_user *u = &r->user;
	struct stat st;
	gid_t gid;

	*u = (struct view_user){.uid = geteuid(), .gid = getegid(), .caller = geteuid() != 0};
	if (u->caller)
		return;
	if (env_number("SUDO_UID", &u->uid) && env_number("SUDO_GID", &gid)) {
		u->gid = gid;
		u->caller = true;
		return;
	}
	u->uid = u->gid = NOBODY;
	if (r->fds[0] >= 0 && fstat(r->fds[0], &st) == 0 && st.st_uid && st.st_gid) {
		u->uid = st.st_uid;
		u->gid = st.st_gid;
	}
}

/* Opens all of them: 0, or the exit status after a message when none can be opened. */
static int open_files(struct view_setup *r)
{
	struct spur_error err = {0};
	size_t open_ones = 0;

	for (size_t i = 0; i < r->nr; i++) {
		r->fds[i] = view_open_file(r->paths[i]);
		open_ones += r->fds[i] >= 0;
	}
	if (open_ones)
		return SPUR_OK;
	error_sys(&err, r->fds[0], "%s", r->paths[0]);
	return cli_fail(&err);
}

/* ---- the folder of indexes ---- */

/*
 * Makes the folder unless it exists; a new one belongs to the user. The path may lead through
 * folders of other users, so the owner is changed by descriptor, not by name.
 */
static int make_cache(char *path, const struct view_user *u)
{
	char *slash = strrchr(path, '/');
	int in, fd, rc = 0;

	file_make_parents(path, 0755);
	if (slash)
		*slash = '\0';
	in = open(!slash ? "." : *path ? path : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (slash)
		*slash = '/';
	if (in < 0)
		return -errno;
	if (mkdirat(in, slash ? slash + 1 : path, 0700) == 0 && geteuid() == 0) {
		fd = openat(in, slash ? slash + 1 : path,
			    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 || fchown(fd, u->uid, u->gid) != 0)
			rc = -errno;
		if (fd >= 0)
			close(fd);
	}
	close(in);
	return rc;
}

/* Whether the user can make files there, with all that leads to it. */
static bool user_can_write(const char *path, const struct view_user *u)
{
	const bool root = geteuid() == 0;
	bool can;

	if (root && (setegid(u->gid) != 0 || seteuid(u->uid) != 0))
		return false;
	can = faccessat(AT_FDCWD, path, R_OK | W_OK | X_OK, AT_EACCESS) == 0;
	if (root && (seteuid(0) != 0 || setegid(0) != 0))
		return false;
	return can;
}

/* Where indexes are stored; root's in a folder of the user that root becomes. */
static void choose_cache(struct view_setup *r, const char *given)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char *path = r->cache;
	size_t len;
	int rc;

	if (given)
		snprintf(path, VIEW_SETUP_PATH, "%s", given);
	else if (geteuid() == 0)
		snprintf(path, VIEW_SETUP_PATH, "/var/cache/spur/%u", (unsigned int)r->user.uid);
	else if (xdg && *xdg == '/')
		snprintf(path, VIEW_SETUP_PATH, "%s/spur", xdg);
	else if (home && *home == '/')
		snprintf(path, VIEW_SETUP_PATH, "%s/.cache/spur", home);
	for (len = strlen(path); len > 1 && path[len - 1] == '/'; len--)
		path[len - 1] = '\0';
	if (!*path)
		return;
	rc = make_cache(path, &r->user);
	if (rc == 0 && user_can_write(path, &r->user))
		return;
	if (rc < 0)
		cli_error("%s: %s; the index is not kept", path, strerror(-rc));
	else
		cli_error("%s: user %u cannot write there; the index is not kept", path,
			  (unsigned int)r->user.uid);
	*path = '\0';
}

int view_setup_open(struct view_setup *r, const char *const *paths, size_t nr, const char *cache,
		    bool no_cache)
{
	int status;

	*r = (struct view_setup){.paths = paths, .nr = nr};
	if (nr > VIEW_MOST_FILES) {
		r->nr = 0;
		return cli_wrong("no more than %d files can be looked at together",
				 VIEW_MOST_FILES);
	}
	status = open_files(r);
	if (status != SPUR_OK)
		return status;
	choose_user(r);
	if (!no_cache)
		choose_cache(r, cache);
	return SPUR_OK;
}

/* In a folder of other users, these could replace what root makes before it is used. */
static int refuse_temp(int rc)
{
	if (rc == -EPERM)
		return cli_refused("%s: others could replace what root makes there; set TMPDIR to "
				   "a folder of root's",
				   file_temp());
	return cli_refused("%s: %s", file_temp(), strerror(-rc));
}

int view_setup_scratch(struct view_setup *r)
{
	const int temp = file_open_temp();
	char name[64];
	int fd, rc = 0;

	if (temp < 0)
		return refuse_temp(temp);
	fd = file_make_folder_at(temp, "spur-view", name, sizeof(name));
	close(temp);
	if (fd < 0)
		return refuse_temp(fd);
	if (geteuid() == 0 && fchown(fd, r->user.uid, r->user.gid) != 0)
		rc = -errno;
	close(fd);
	if ((size_t)snprintf(r->scratch, sizeof(r->scratch), "%s/%s", file_temp(), name) >=
	    sizeof(r->scratch))
		rc = -ENAMETOOLONG;
	if (rc < 0)
		return refuse_temp(rc);
	/* SQLite and the index look for it here. */
	setenv("SQLITE_TMPDIR", r->scratch, 1);
	return SPUR_OK;
}

/* A trace may be a folder (CTF), whose files are opened when it is read. */
static size_t add_folders(const struct view_setup *r, const char **to)
{
	size_t n = 0;

	for (size_t i = 0; i < r->nr; i++) {
		struct stat st;

		if (r->fds[i] >= 0 && fstat(r->fds[i], &st) == 0 && S_ISDIR(st.st_mode))
			to[n++] = r->paths[i];
	}
	return n;
}

int view_setup_confine(const struct view_setup *r, const struct view_setup_options *o)
{
	const char *const writable[] = {r->scratch, *r->cache ? r->cache : NULL, NULL};
	const char *const emptied[] = {file_temp(), NULL};
	const char *readable[VIEW_MOST_FILES + 2] = {NULL};
	const size_t folders = add_folders(r, readable);
	const struct confine_options opt = {
		.uid = r->user.uid,
		.gid = r->user.gid,
		.writable = writable,
		.readable = readable,
		.emptied = emptied,
		.terminal = o->terminal,
	};
	struct spur_error err = {0};
	scoped_buf notes = buf_new(4096);
	int rc;

	readable[folders] = o->readable;
	rc = confine(&opt, &notes, &err);
	if (rc == 0 && o->verbose)
		fprintf(stderr, "reading as user %u\n%s", (unsigned int)geteuid(), buf_str(&notes));
	return rc < 0 ? cli_fail(&err) : SPUR_OK;
}

int view_setup_view(struct view_setup *r, uint32_t threads, struct view **out)
{
	const struct view_index_options opt = {
		.cache = *r->cache ? r->cache : NULL,
		.threads = threads,
	};
	struct spur_error err = {0};

	*out = view_new(&opt, &err);
	if (!*out)
		return cli_fail(&err);
	for (size_t i = 0; i < r->nr; i++) {
		int fd = r->fds[i];

		r->fds[i] = -1;
		if (view_add(*out, r->paths[i], fd, &err) < 0)
			return cli_fail(&err);
	}
	return SPUR_OK;
}

int view_setup_unreadable(const struct view *v)
{
	int status = SPUR_OK;
	bool some = false;

	for (size_t i = 0; i < view_nr_files(v); i++) {
		const struct view_file *f = view_file(v, i);
		int failed;

		some |= f->trace != NULL;
		if (f->trace)
			continue;
		failed = cli_fail(&f->error);
		if (status == SPUR_OK)
			status = failed;
	}
	return some ? SPUR_OK : status;
}

int view_setup_damage(const struct view *v, bool said)
{
	int status = SPUR_OK;

	for (size_t i = 0; i < view_nr_files(v); i++) {
		const struct view_file *f = view_file(v, i);
		struct spur_error err = {0};
		int here;

		if (!f->trace && said)
			here = (int)spur_error_status(f->error.code);
		else if (!f->trace)
			here = cli_fail(&f->error);
		else if (view_index_error(f->index, &err) < 0)
			here = cli_fail(&err);
		else
			here = cli_damage(f->trace->dat);
		status = status ? status : here;
	}
	return status;
}

void view_setup_close(struct view_setup *r)
{
	for (size_t i = 0; i < r->nr; i++)
		if (r->fds[i] >= 0)
			close(r->fds[i]);
	if (*r->scratch)
		rmdir(r->scratch);
}

/* ---- spur view ---- */

#define AT(field)  offsetof(struct view_options, field)
#define NOT_GIVEN  INT64_MIN
#define NOT_SERVED "does not go with --svg, --png or --html: nothing is served"

static const struct opt opts[] = {
	{0, "port", OPT_NUMBER, "N", "serve on this port, 0 for a free one", AT(port)},
	{0, "bind", OPT_STRING, "ADDRESS", "serve on this address (127.0.0.1)", AT(bind)},
	{0, "no-open", OPT_FLAG, NULL, "do not open a browser", AT(no_open)},
	{0, "record", OPT_FLAG, NULL, "the page can record this machine; needs root", AT(record)},
	{0, "no-record", OPT_CLEAR, NULL, "the page cannot record (the default)", AT(record)},
	{0, "cache", OPT_FILE, "DIR", "store indexes of files here (~/.cache/spur)", AT(cache)},
	{0, "no-cache", OPT_FLAG, NULL, "store no indexes", AT(no_cache)},
	{0, "threads", OPT_NUMBER, "N", "number of threads (one per CPU)", AT(threads)},
	{0, "web", OPT_FILE, "DIR", "serve the page from this folder, for working on it", AT(web)},
	{.kind = OPT_GROUP, .help = "Pictures, without a browser"},
	{0, "svg", OPT_FILE, "OUT", "write a picture as SVG, '-' to standard output", AT(svg)},
	{0, "png", OPT_FILE, "OUT", "write a picture as PNG", AT(png)},
	{0, "html", OPT_FILE, "OUT", "write a page that needs nothing else", AT(html)},
	{0, "force", OPT_FLAG, NULL, "write even if that replaces a recording", AT(force)},
	{0, "since", OPT_STRING, "TIME", "from this trace time on: seconds, or with ns, us, ms, s",
	 AT(since)},
	{0, "until", OPT_STRING, "TIME", "up to this trace time", AT(until)},
	{0, "rows", OPT_STRING, "LIST", "these rows, as in cpu0-3,1234,postgres*", AT(rows)},
	{0, "processes", OPT_FLAG, NULL, "group tasks by process", AT(processes)},
	{0, "width", OPT_NUMBER, "N", "width in pixels (1600)", AT(width)},
	{0, "height", OPT_NUMBER, "N", "height in pixels (what the rows need)", AT(height)},
	{0, "dark", OPT_FLAG, NULL, "light on dark", AT(dark)},
	{0, "size-limit", OPT_STRING, "SIZE", "bytes of a page, with k, M or G (5M)",
	 AT(size_limit)},
	{.kind = OPT_GROUP, .help = "General"},
	{'v', "verbose", OPT_FLAG, NULL, "say what is done for safety, and what failed",
	 AT(verbose)},
};

#ifndef HAVE_MICROHTTPD

int view_serve(const struct view_options *o, const char *const *paths, size_t nr)
{
	return cli_refused("this program was built without libmicrohttpd, which 'spur view' needs");
}

#endif

/* An option that does not fit what is done is an error, not ignored; false after a message. */
static bool ways_fit(const struct view_options *o)
{
	const bool picture = o->svg || o->png, file = picture || o->html;
	const struct {
		const char *option;
		bool given, fits;
		const char *why;
	} rules[] = {
		{"--port", o->port != NOT_GIVEN, !file, NOT_SERVED},
		{"--bind", o->bind, !file, NOT_SERVED},
		{"--web", o->web, !file, NOT_SERVED},
		{"--no-open", o->no_open, !file, NOT_SERVED},
		{"--record", o->record, !file, NOT_SERVED},
		{"--verbose", o->verbose, !file, NOT_SERVED},
		{"--force", o->force, file, "goes with --svg, --png or --html"},
		{"--since", o->since, file, "goes with --svg, --png or --html"},
		{"--until", o->until, file, "goes with --svg, --png or --html"},
		{"--processes", o->processes, file, "goes with --svg, --png or --html"},
		{"--rows", o->rows, picture, "goes with --svg or --png"},
		{"--width", o->width, picture, "goes with --svg or --png"},
		{"--height", o->height, picture, "goes with --svg or --png"},
		{"--dark", o->dark, picture, "goes with --svg or --png"},
		{"--size-limit", o->size_limit, o->html, "goes with --html"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		if (!rules[i].given || rules[i].fits)
			continue;
		return cli_complain("%s %s", rules[i].option, rules[i].why);
	}
	return true;
}

/* "--svg mine.dat" may be meant as a picture of mine.dat. */
static int spare_recordings(const struct view_options *o)
{
	const struct {
		const char *path, *hint;
	} outputs[] = {
		{o->svg, CLI_FORCE("--svg")},
		{o->png, CLI_FORCE("--png")},
		{o->html, CLI_FORCE("--html")},
	};
	int status = SPUR_OK;

	for (size_t i = 0; !o->force && status == SPUR_OK && i < 3; i++)
		if (outputs[i].path)
			status = cli_spare(outputs[i].path, outputs[i].hint);
	return status;
}

static int run(void *options, int others, char **argv)
{
	static const char *const usual[] = {"trace.dat"};
	struct view_options *o = options;
	int status;

	if (!ways_fit(o))
		return SPUR_USAGE;
	status = spare_recordings(o);
	if (status != SPUR_OK)
		return status;
	if (o->port == NOT_GIVEN) {
		o->port = 0;
		o->usual_port = true;
	}
	if (o->port < 0 || o->port > 65535)
		return cli_wrong("--port: between 1 and 65535, or 0 for a free one");
	if (o->threads && !cli_threads(&o->threads))
		return SPUR_USAGE;
	return (o->svg || o->png || o->html ? view_draw : view_serve)(
		o, others ? (const char *const *)argv : usual, others ? (size_t)others : 1);
}

const struct command command_view = {
	.name = "view",
	.summary = "show traces in a browser, or draw them",
	.usage = "[OPTION...] [FILE...]",
	COMMAND_OPTS(opts, struct view_options),
	.defaults = &(const struct view_options){.port = NOT_GIVEN},
	.run = run,
};
