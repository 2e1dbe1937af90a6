// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Serving a view: what needs privileges first, then those are given up, and only then a byte of the
 * files is looked at.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "cli/view.h"
#include "view/broker.h"
#include "view/confine.h"
#include "view/http.h"

#define NOBODY	  65534
#define MAX_FILES 64
#define PATH_CAP  4096

struct serve {
	const struct view_options *o;
	const char *const *paths;
	size_t nr;
	int fds[MAX_FILES]; /* or negative errnos */
	struct view_user user;
	char cache[PATH_CAP];	/* "": none */
	char scratch[PATH_CAP]; /* the same; gone at the end */
	struct broker *broker;
	struct view_browser browser;
	struct http *http;
	struct view *view;
};

/* ---- files and folders ---- */

static bool env_number(const char *name, uid_t *out)
{
	const char *text = getenv(name);
	int64_t n;

	if (!text || !parse_number(text, &n) || n <= 0 || n >= NOBODY)
		return false;
	*out = (uid_t)n;
	return true;
}

/* Who called sudo; else whose the first file is; else nobody. */
static void choose_user(struct serve *s)
{
	struct view_user *u = &s->user;
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
	if (s->fds[0] >= 0 && fstat(s->fds[0], &st) == 0 && st.st_uid && st.st_gid) {
		u->uid = st.st_uid;
		u->gid = st.st_gid;
	}
}

/* A descriptor, or a negative errno. A pipe nobody writes to must not keep it waiting. */
static int open_file(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		close(fd);
		return -EISDIR;
	}
	return fd;
}

/* Opens all of them: 0, or the exit status after a message when none can be opened. */
static int open_files(struct serve *s)
{
	struct spur_error err = {0};
	size_t open_ones = 0;

	for (size_t i = 0; i < s->nr; i++) {
		s->fds[i] = open_file(s->paths[i]);
		open_ones += s->fds[i] >= 0;
	}
	if (open_ones)
		return SPUR_OK;
	error_sys(&err, s->fds[0], "%s", s->paths[0]);
	return cli_fail(&err);
}

static bool make_folders(char *path, mode_t mode)
{
	for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	return mkdir(path, mode) == 0 || errno == EEXIST;
}

/* Where indexes are kept; root's are for whom root becomes, who cannot write into root's folder. */
static void choose_cache(struct serve *s)
{
	const char *given = s->o->cache, *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	const bool root = geteuid() == 0;
	char *path = s->cache;

	if (s->o->no_cache)
		return;
	if (given)
		snprintf(path, PATH_CAP, "%s", given);
	else if (root)
		snprintf(path, PATH_CAP, "/var/cache/spur/%u", (unsigned int)s->user.uid);
	else if (xdg && *xdg == '/')
		snprintf(path, PATH_CAP, "%s/spur", xdg);
	else if (home && *home == '/')
		snprintf(path, PATH_CAP, "%s/.cache/spur", home);
	else
		return;
	if (make_folders(path, 0700) && (!root || given || !lchown(path, s->user.uid, s->user.gid)))
		return;
	cli_error("%s: %s; the index is not kept", path, strerror(errno));
	*path = '\0';
}

/* A folder of our own, for what does not fit into memory. */
static int make_scratch(struct serve *s)
{
	const int rc = file_make_folder("spur-view", s->scratch, sizeof(s->scratch));

	if (rc < 0) {
		cli_error("%s: %s", s->scratch, strerror(-rc));
		*s->scratch = '\0';
		return SPUR_ENVIRONMENT;
	}
	if (geteuid() == 0 && lchown(s->scratch, s->user.uid, s->user.gid) != 0) {
		cli_error("%s: %s", s->scratch, strerror(errno));
		return SPUR_ENVIRONMENT;
	}
	/* SQLite and the index look for it here. */
	setenv("SQLITE_TMPDIR", s->scratch, 1);
	return SPUR_OK;
}

/* ---- before and after the privileges are given up ---- */

static int begin(struct serve *s)
{
	const struct http_options opt = {
		.bind = s->o->bind, .port = (uint16_t)s->o->port, .web = s->o->web};
	const bool local = !s->o->bind || door_loopback(s->o->bind);
	struct spur_error err = {0};
	int status = make_scratch(s);

	if (status != SPUR_OK)
		return status;
	/* Those that are forked first have nothing open that they do not need. */
	if (geteuid() == 0 && local && !s->o->no_record &&
	    broker_start(s->user.uid, s->user.gid, &s->broker, &err) < 0)
		return cli_fail(&err);
	if (!s->o->no_open)
		view_browser_prepare(&s->browser, &s->user);
	if (http_listen(&opt, &s->http, &err) < 0)
		return cli_fail(&err);
	if (!http_door(s->http)->loopback)
		cli_error("--bind %s: others can reach this. What they read is not encrypted, and "
			  "the token is all that keeps them out",
			  s->o->bind);
	return SPUR_OK;
}

static int give_up_privileges(struct serve *s)
{
	const char *const writable[] = {s->scratch, *s->cache ? s->cache : NULL, NULL};
	const char *const readable[] = {s->o->web, NULL}, *const emptied[] = {file_temp(), NULL};
	const struct confine_options opt = {
		.uid = s->user.uid,
		.gid = s->user.gid,
		.writable = writable,
		.readable = readable,
		.emptied = emptied,
	};
	struct spur_error err = {0};
	struct buf notes;
	int rc;

	buf_init(&notes, 4096);
	rc = confine(&opt, &notes, &err);
	if (rc == 0 && s->o->verbose)
		fprintf(stderr, "serving as user %u\n%s", (unsigned int)geteuid(), buf_str(&notes));
	buf_free(&notes);
	return rc < 0 ? cli_fail(&err) : SPUR_OK;
}

/*
 * Says which files are no traces; the page says it too, so it is served even when that is all of
 * them. The exit status in the end: that of the first one when nothing could be shown.
 */
static int tell_unreadable(const struct view *v)
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

static int open_view(struct serve *s)
{
	const struct view_index_options opt = {
		.cache = *s->cache ? s->cache : NULL,
		.threads = (uint32_t)s->o->threads,
	};
	struct spur_error err = {0};

	s->view = view_new(&opt, &err);
	if (!s->view)
		return cli_fail(&err);
	for (size_t i = 0; i < s->nr; i++) {
		int fd = s->fds[i];

		s->fds[i] = -1;
		if (view_add(s->view, s->paths[i], fd, &err) < 0)
			return cli_fail(&err);
	}
	view_set_broker(s->view, s->broker);
	return SPUR_OK;
}

/* ---- what the user is told ---- */

static void show_address(const struct serve *s)
{
	const struct door *d = http_door(s->http);
	const bool far = getenv("SSH_CONNECTION") && d->loopback;

	printf("http://%s:%u/?token=%s\n", d->any ? d->machine : d->address, d->port, d->token);
	fflush(stdout);
	if (far || (!s->browser.pid && d->loopback && !s->o->no_open))
		fprintf(stderr,
			"From another machine: ssh -L %u:127.0.0.1:%u %s\n"
			"and open that address there.\n",
			d->port, d->port, d->machine);
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "Ctrl-C ends it.\n");
}

static void open_browser(struct serve *s)
{
	const struct door *d = http_door(s->http);
	char url[256];

	snprintf(url, sizeof(url), "http://%s:%u/?token=%s", d->any ? "127.0.0.1" : d->address,
		 d->port, d->once);
	view_browser_open(&s->browser, url);
}

/* All threads have these blocked; they come when this one waits. */
static void block_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
	sigprocmask(SIG_BLOCK, set, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static int serve(struct serve *s, const sigset_t *signals)
{
	struct spur_error err = {0};
	int signal = 0, status = give_up_privileges(s);

	if (status == SPUR_OK)
		status = open_view(s);
	if (status != SPUR_OK)
		return status;
	if (http_start(s->http, s->view, &err) < 0)
		return cli_fail(&err);
	show_address(s);
	open_browser(s);
	status = tell_unreadable(s->view);
	while (sigwait(signals, &signal) != 0)
		;
	return status;
}

static void clean_up(struct serve *s)
{
	http_close(s->http);
	view_close(s->view);
	view_browser_open(&s->browser, NULL);
	broker_end(s->broker);
	for (size_t i = 0; i < s->nr; i++)
		if (s->fds[i] >= 0)
			close(s->fds[i]);
	if (*s->scratch)
		rmdir(s->scratch);
}

int view_serve(const struct view_options *o, const char *const *paths, size_t nr)
{
	struct serve *s;
	sigset_t signals;
	int status;

	if (nr > MAX_FILES) {
		cli_error("no more than %d files can be looked at together", MAX_FILES);
		return SPUR_USAGE;
	}
	s = calloc(1, sizeof(*s));
	if (!s) {
		cli_error("out of memory");
		return SPUR_ENVIRONMENT;
	}
	*s = (struct serve){.o = o, .paths = paths, .nr = nr};
	status = open_files(s);
	if (status == SPUR_OK) {
		choose_user(s);
		choose_cache(s);
		status = begin(s);
	}
	if (status == SPUR_OK) {
		block_signals(&signals);
		status = serve(s, &signals);
	}
	clean_up(s);
	free(s);
	return status;
}
