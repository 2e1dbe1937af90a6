// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `spur view` as a server. What needs privileges is done first, then they are given up, and only
 * then a byte of the files is read.
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
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/num.h"
#include "cli/live.h"
#include "cli/view.h"
#include "view/serve/broker.h"
#include "view/serve/login.h"
#include "view/serve/http.h"

/*
 * ---- the browser ----
 *
 * The process that serves cannot start a program any more. So another process is forked before, and
 * waits for the port and the secret of a link. It accepts nothing else: a hostile file may have
 * taken over the server by then.
 *
 * Everybody can read command lines. The browser's has a page that only its user can read, which
 * leads to the link. The page is removed when the browser has had time to read it.
 */

struct browser {
	pid_t pid; /* 0: there is none */
	int go;
};

#define PAGE_MS 60000 /* for a browser to start and read the page */

/* What the browser's process is sent; the address follows from it. */
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

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
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

/* The address for a URL. A wildcard address is reached by the loopback address. */
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
	scoped_buf b = buf_new(4096);
	scoped_buf url = buf_new(1024);
	bool written;
	int fd;

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
static void close_all_but(int fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int i = 0; i < 3 && null >= 0; i++)
		dup2(null, i);
	if (fd > 3)
		syscall(SYS_close_range, 3, fd - 1, 0);
	syscall(SYS_close_range, fd + 1, ~0u, 0);
}

/*
 * Forks the process that will start the browser, as that user, once it gets the port and the link.
 * It makes a page for that in the folder, which is the user's. `bind` is the address of --bind or
 * NULL. Nothing happens where there is no display, or no user but root.
 */
static void browser_prepare(struct browser *b, const struct view_user *user, const char *bind,
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
		close_all_but(ends[0]);
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

/* Ends that process and removes its page. */
static void browser_end(struct browser *b)
{
	if (!b->pid)
		return;
	close(b->go);
	while (waitpid(b->pid, NULL, 0) < 0 && errno == EINTR)
		;
	b->pid = 0;
}

/* Ports outside the ranges that systems assign automatically. */
#define FIRST_PORT 20000
#define NR_PORTS   10000

#define BACKGROUND_MS 500 /* between two looks at a terminal that another program uses */

struct serve {
	const struct view_options *o;
	struct view_setup setup;
	struct broker *broker;
	struct browser browser;
	struct http *http;
	struct view *view;
	bool asked;  /* for links, by Enter: standard input is a terminal */
	bool hinted; /* by words: standard error is one */
	int signals; /* that end it, or ask for a link; -1: none yet */
};

/* ---- before and after the privileges are given up ---- */

/* A browser keeps saved views by the address: the same files are at the same one. */
static uint16_t usual_port(const struct view_setup *r)
{
	const struct hash_seed same = {.a = getuid()};
	uint64_t hash = 0;

	for (size_t i = 0; i < r->nr; i++) {
		char *path = realpath(r->paths[i], NULL);
		const char *name = path ? path : r->paths[i];

		hash = hash_add(&same, hash, hash_bytes(&same, name, strlen(name)));
		free(path);
	}
	return (uint16_t)(FIRST_PORT + hash % NR_PORTS);
}

static int start_listening(struct serve *s, struct spur_error *err)
{
	struct http_options opt = {
		.bind = s->o->bind, .port = (uint16_t)s->o->port, .web = s->o->web};

	if (s->o->usual_port) {
		opt.port = usual_port(&s->setup);
		if (http_listen(&opt, &s->http, NULL) == 0)
			return 0;
		opt.port = 0;
	}
	return http_listen(&opt, &s->http, err);
}

/* Whether --record is possible, if it was given; false after a message. */
static bool can_record(const struct view_options *o)
{
	if (!o->record)
		return true;
	if (o->bind && !login_loopback(o->bind))
		return cli_complain("--record: not with --bind %s, where others could record",
				    o->bind);
	if (geteuid() != 0)
		return cli_complain("--record: needs root");
	return true;
}

static void note_recorder(void *arg, const char *text)
{
	cli_error("the process that records: %s", text);
}

static int begin(struct serve *s)
{
	const struct view_user *u = &s->setup.user;
	const struct broker_options recorder = {
		.uid = u->caller ? u->uid : 0, .gid = u->gid, .note = note_recorder};
	struct spur_error err = {0};
	struct tracefs fs;
	int status = can_record(s->o) ? view_setup_scratch(&s->setup) : SPUR_USAGE;

	if (status != SPUR_OK)
		return status;
	/* The broker is confined when it looks for tracefs. */
	if (s->o->record)
		live_try(&fs);
	/* Processes that are forked first have no descriptors that they do not need. */
	if (s->o->record && broker_start(&recorder, &s->broker, &err) < 0)
		return cli_fail(&err);
	if (!s->o->no_open)
		browser_prepare(&s->browser, u, s->o->bind, s->setup.scratch);
	if (start_listening(s, &err) < 0)
		return cli_fail(&err);
	if (!http_login(s->http)->loopback)
		cli_error("--bind %s: others can reach this. What they read is not encrypted, and "
			  "the link is all that keeps them out",
			  s->o->bind);
	/* After confinement isatty() fails. */
	s->asked = isatty(STDIN_FILENO);
	s->hinted = isatty(STDERR_FILENO);
	return SPUR_OK;
}

/* ---- what the user reads ---- */

/* A link that opens once. */
static bool print_link(struct serve *s)
{
	struct login *d = http_login(s->http);
	struct spur_error err = {0};
	char link[LOGIN_TOKEN + 1];

	if (login_new_link(d, link, &err) < 0) {
		cli_fail(&err);
		return false;
	}
	printf("http://%s:%u/#token=%s\n", d->any ? d->machine : d->address, d->port, link);
	fflush(stdout);
	return true;
}

static void show_hints(struct serve *s)
{
	const struct login *d = http_login(s->http);
	const bool far = getenv("SSH_CONNECTION") && d->loopback;

	if (far || (!s->browser.pid && d->loopback && !s->o->no_open))
		fprintf(stderr,
			"From another machine: ssh -L %u:127.0.0.1:%u %s\n"
			"and open that address there.\n",
			d->port, d->port, d->machine);
	if (s->hinted)
		fprintf(stderr, "The link opens once%s. Ctrl-C ends it.\n",
			s->asked ? "; Enter prints another one" : "");
}

static void open_browser(struct serve *s)
{
	struct login *d = http_login(s->http);
	struct going g = {.port = d->port};
	ssize_t n;

	if (!s->browser.pid || login_new_link(d, g.link, NULL) < 0)
		return;
	n = write(s->browser.go, &g, sizeof(g));
	(void)n;
}

/* ---- until it ends ---- */

/* All threads block these signals; they arrive on a descriptor. Returns it or a negative errno. */
static int block_signals(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	/*
	 * Reading from a terminal that another program uses fails instead of stopping this process.
	 */
	signal(SIGTTIN, SIG_IGN);
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* False: it is one that ends everything. */
static bool take_signal(struct serve *s)
{
	struct signalfd_siginfo info;

	if (read(s->signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return errno == EINTR;
	return info.ssi_signo == SIGUSR1 && print_link(s);
}

/* Enter was pressed, or the terminal is another program's; false: there is none any more. */
static bool take_enter(struct serve *s)
{
	char line[256];
	ssize_t n = read(STDIN_FILENO, line, sizeof(line));

	if (n < 0 && (errno == EIO || errno == EINTR)) {
		nanosleep(&(struct timespec){.tv_nsec = BACKGROUND_MS * 1000000}, NULL);
		return true;
	}
	return n > 0 && print_link(s);
}

static void wait_for_end(struct serve *s)
{
	struct pollfd fds[] = {{.fd = s->signals, .events = POLLIN},
			       {.fd = s->asked ? STDIN_FILENO : -1, .events = POLLIN}};

	for (;;) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return;
		if (fds[0].revents && !take_signal(s))
			return;
		if (fds[1].revents && !take_enter(s))
			fds[1].fd = -1;
	}
}

static int serve(struct serve *s)
{
	const struct view_setup_options setup = {.readable = s->o->web, .verbose = s->o->verbose};
	struct spur_error err = {0};
	int status = view_setup_confine(&s->setup, &setup);

	if (status == SPUR_OK)
		status = view_setup_view(&s->setup, (uint32_t)s->o->threads, &s->view);
	if (status != SPUR_OK)
		return status;
	view_set_broker(s->view, s->broker);
	if (http_start(s->http, s->view, &err) < 0)
		return cli_fail(&err);
	if (!print_link(s))
		return SPUR_ENVIRONMENT;
	show_hints(s);
	open_browser(s);
	/* The page shows this as well, so it is served even if no file can be read. */
	status = view_setup_unreadable(s->view);
	wait_for_end(s);
	return status;
}

static void clean_up(struct serve *s)
{
	http_close(s->http);
	view_close(s->view);
	browser_end(&s->browser);
	broker_end(s->broker);
	view_setup_close(&s->setup);
	if (s->signals >= 0)
		close(s->signals);
}

int view_serve(const struct view_options *o, const char *const *paths, size_t nr)
{
	struct serve *s;
	int status;

	s = calloc(1, sizeof(*s));
	if (!s)
		return cli_refused("out of memory");
	s->o = o;
	s->signals = -1;
	status = view_setup_open(&s->setup, paths, nr, o->cache, o->no_cache);
	if (status == SPUR_OK)
		status = begin(s);
	if (status == SPUR_OK) {
		s->signals = block_signals();
		status = s->signals < 0 ? SPUR_ENVIRONMENT : serve(s);
	}
	clean_up(s);
	free(s);
	return status;
}
