// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Starting the browser. The process that serves cannot start anything any more once it serves, so
 * one that can is there before, and waits to be told the port and the secret of a link. It takes
 * nothing else: what serves may have been taken over by a hostile file by then.
 *
 * Command lines can be read by everybody. The one of the browser has a page that only its user can
 * read, which leads to the link; it is removed when the browser has had time to read it.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/num.h"
#include "cli/view.h"
#include "view/serve/login.h"

#define PAGE_MS 60000 /* for a browser to start and read the page */

/* What it gets: all that is to be opened follows from it. */
struct going {
	uint16_t port;
	char link[LOGIN_TOKEN + 1];
};

struct plan {
	const struct view_user *user;
	const char *bind; /* or NULL */
	char page[4200];
};

static bool has_display(void)
{
	const char *const names[] = {"DISPLAY", "WAYLAND_DISPLAY", "BROWSER"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (getenv(names[i]) && *getenv(names[i]))
			return true;
	return false;
}

/* What a desktop's programs look for and sudo does not pass on. */
static void set_environment(const struct passwd *pw)
{
	char folder[64], bus[96];

	setenv("HOME", pw->pw_dir, 1);
	setenv("USER", pw->pw_name, 1);
	setenv("LOGNAME", pw->pw_name, 1);
	snprintf(folder, sizeof(folder), "/run/user/%u", (unsigned int)pw->pw_uid);
	if (access(folder, F_OK) != 0)
		return;
	setenv("XDG_RUNTIME_DIR", folder, 1);
	snprintf(bus, sizeof(bus), "unix:path=%s/bus", folder);
	setenv("DBUS_SESSION_BUS_ADDRESS", bus, 0);
}

static bool become(const struct view_user *user)
{
	const struct passwd *pw;

	if (geteuid() != 0)
		return true;
	pw = getpwuid(user->uid);
	if (!pw || initgroups(pw->pw_name, user->gid) != 0 ||
	    setresgid(user->gid, user->gid, user->gid) != 0 ||
	    setresuid(user->uid, user->uid, user->uid) != 0)
		return false;
	set_environment(pw);
	return true;
}

/* ---- the page that leads to the page ---- */

static bool is_link(const char *link)
{
	size_t n = 0;

	while (n < LOGIN_TOKEN && num_hex_digit(link[n]) >= 0)
		n++;
	return n == LOGIN_TOKEN && !link[n];
}

/* As a URL has it. An address for everybody is reached here by that of this machine. */
static void put_host(struct buf *b, const char *bind)
{
	if (!bind || strcmp(bind, "0.0.0.0") == 0 || strcmp(bind, "::") == 0 ||
	    strcasecmp(bind, "localhost") == 0)
		buf_puts(b, "127.0.0.1");
	else
		buf_printf(b, strchr(bind, ':') ? "[%s]" : "%s", bind);
}

static bool write_page(const struct plan *p, const struct going *g)
{
	struct buf url, b;
	bool written;
	int fd;

	buf_init(&url, 1024);
	buf_init(&b, 4096);
	buf_puts(&url, "http://");
	put_host(&url, p->bind);
	buf_printf(&url, ":%u/#token=%s", g->port, g->link);
	buf_printf(&b,
		   "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\">"
		   "<meta name=\"referrer\" content=\"no-referrer\">"
		   "<meta http-equiv=\"refresh\" content=\"0; url=%s\">"
		   "<title>spur view</title><a href=\"%s\">spur view</a></html>\n",
		   buf_str(&url), buf_str(&url));
	fd = open(p->page, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	written = fd >= 0 && !buf_full(&b) && file_write_fd(fd, b.data, b.len) == 0;
	if (fd >= 0)
		close(fd);
	buf_free(&url);
	buf_free(&b);
	return written;
}

/* "file://" and the path, with what a URL cannot have in it. */
static void put_address(struct buf *b, const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789/._-";

	buf_puts(b, "file://");
	for (; *path; path++)
		buf_printf(b, strchr(plain, *path) ? "%c" : "%%%02X", (unsigned char)*path);
}

/* ---- the process ---- */

/* $BROWSER may list several, of which the first is taken. */
static void start(const char *page)
{
	const char *wanted = getenv("BROWSER");
	char name[256] = "xdg-open";
	size_t len = wanted ? strcspn(wanted, ":") : 0;
	struct buf url;

	if (len && len < sizeof(name)) {
		memcpy(name, wanted, len);
		name[len] = '\0';
	}
	buf_init(&url, 1u << 16);
	put_address(&url, page);
	setsid();
	execlp(name, name, buf_str(&url), (char *)NULL);
}

static void wait_and_start(int from, const struct plan *p)
{
	struct pollfd end = {.fd = from, .events = POLLIN};
	struct going g;
	ssize_t n = read(from, &g, sizeof(g));

	if (n != (ssize_t)sizeof(g) || !is_link(g.link) || !become(p->user))
		return;
	if (write_page(p, &g) && fork() == 0) {
		start(p->page);
		_exit(127);
	}
	poll(&end, 1, PAGE_MS);
	unlink(p->page);
}

/* Files and sockets of the process that serves are closed when it closes them. */
static void keep_only(int fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int i = 0; i < 3 && null >= 0; i++)
		dup2(null, i);
	if (fd > 3)
		syscall(SYS_close_range, 3, fd - 1, 0);
	syscall(SYS_close_range, fd + 1, ~0u, 0);
}

void view_browser_prepare(struct view_browser *b, const struct view_user *user, const char *bind,
			  const char *folder)
{
	struct plan p = {.user = user, .bind = bind};
	int ends[2];

	b->pid = 0;
	if (!user->caller || !has_display() ||
	    (size_t)snprintf(p.page, sizeof(p.page), "%s/open.html", folder) >= sizeof(p.page) ||
	    pipe2(ends, O_CLOEXEC) != 0)
		return;
	fflush(stdout);
	b->pid = fork();
	if (b->pid == 0) {
		/* A Ctrl-C ends the view, not the browser; before that, the pipe ends this. */
		signal(SIGINT, SIG_IGN);
		keep_only(ends[0]);
		wait_and_start(ends[0], &p);
		_exit(0);
	}
	close(ends[0]);
	b->go = ends[1];
	if (b->pid < 0) {
		close(ends[1]);
		b->pid = 0;
	}
}

void view_browser_open(struct view_browser *b, uint16_t port, const char *link)
{
	struct going g = {.port = port};
	ssize_t n;

	if (!b->pid)
		return;
	memcpy(g.link, link, sizeof(g.link));
	n = write(b->go, &g, sizeof(g));
	(void)n;
}

void view_browser_end(struct view_browser *b)
{
	if (!b->pid)
		return;
	close(b->go);
	while (waitpid(b->pid, NULL, 0) < 0 && errno == EINTR)
		;
	b->pid = 0;
}
