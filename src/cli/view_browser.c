// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Starting the browser. The process that serves cannot start anything any more once it serves, so
 * one that can is there before, and waits to be told the address.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/view.h"

#define MAX_URL 512

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

/* $BROWSER may list several, of which the first is taken. */
static void start(char *url)
{
	const char *wanted = getenv("BROWSER");
	char name[256] = "xdg-open";
	size_t len = wanted ? strcspn(wanted, ":") : 0;
	int null = open("/dev/null", O_RDWR);

	if (len && len < sizeof(name)) {
		memcpy(name, wanted, len);
		name[len] = '\0';
	}
	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	setsid();
	execlp(name, name, url, (char *)NULL);
}

static void wait_and_start(int from, const struct view_user *user)
{
	char url[MAX_URL];
	ssize_t n = read(from, url, sizeof(url) - 1);

	if (n <= 0 || !become(user))
		return;
	url[n] = '\0';
	start(url);
}

void view_browser_prepare(struct view_browser *b, const struct view_user *user)
{
	int ends[2];

	b->pid = 0;
	if (!user->caller || !has_display() || pipe2(ends, O_CLOEXEC) != 0)
		return;
	fflush(stdout);
	b->pid = fork();
	if (b->pid == 0) {
		/* A Ctrl-C ends the view, not the browser; before that, the pipe ends this. */
		signal(SIGINT, SIG_IGN);
		close(ends[1]);
		wait_and_start(ends[0], user);
		_exit(127);
	}
	close(ends[0]);
	b->go = ends[1];
	if (b->pid < 0) {
		close(ends[1]);
		b->pid = 0;
	}
}

void view_browser_open(struct view_browser *b, const char *url)
{
	ssize_t n;

	if (!b->pid)
		return;
	n = url && strlen(url) < MAX_URL ? write(b->go, url, strlen(url)) : 0;
	(void)n;
	close(b->go);
	b->pid = 0;
}
