// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Serving a view: what needs privileges first, then those are given up, and only then a byte of the
 * files is looked at.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "cli/view_sandbox.h"
#include "view/serve/broker.h"
#include "view/serve/http.h"

/* Ports that systems do not hand out by themselves. */
#define FIRST_PORT 20000
#define NR_PORTS   10000

#define BACKGROUND_MS 500 /* between two looks at a terminal that is another program's */

struct serve {
	const struct view_options *o;
	struct view_sandbox sandbox;
	struct broker *broker;
	struct view_browser browser;
	struct http *http;
	struct view *view;
	bool asked;  /* for links, by Enter: standard input is a terminal */
	bool hinted; /* by words: standard error is one */
	int signals; /* that end it, or ask for a link; -1: none yet */
};

/* ---- before and after the privileges are given up ---- */

/* A browser keeps saved views by the address: the same files are at the same one. */
static uint16_t usual_port(const struct view_sandbox *r)
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
		opt.port = usual_port(&s->sandbox);
		if (http_listen(&opt, &s->http, NULL) == 0)
			return 0;
		opt.port = 0;
	}
	return http_listen(&opt, &s->http, err);
}

/* Whether --record can be had, if it was asked for; false after a message. */
static bool can_record(const struct view_options *o)
{
	if (!o->record)
		return true;
	if (o->bind && !login_loopback(o->bind)) {
		cli_error("--record: not with --bind %s, where others could record", o->bind);
		return false;
	}
	if (geteuid() != 0) {
		cli_error("--record: needs root");
		return false;
	}
	return true;
}

static int begin(struct serve *s)
{
	const struct view_user *u = &s->sandbox.user;
	struct spur_error err = {0};
	int status = can_record(s->o) ? view_sandbox_scratch(&s->sandbox) : SPUR_USAGE;

	if (status != SPUR_OK)
		return status;
	/* Those that are forked first have nothing open that they do not need. */
	if (s->o->record && broker_start(u->caller ? u->uid : 0, u->gid, &s->broker, &err) < 0)
		return cli_fail(&err);
	if (!s->o->no_open)
		view_browser_prepare(&s->browser, u, s->o->bind, s->sandbox.scratch);
	if (start_listening(s, &err) < 0)
		return cli_fail(&err);
	if (!http_login(s->http)->loopback)
		cli_error("--bind %s: others can reach this. What they read is not encrypted, and "
			  "the link is all that keeps them out",
			  s->o->bind);
	/* What a descriptor is cannot be asked later. */
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
	char link[LOGIN_TOKEN + 1];

	if (s->browser.pid && login_new_link(d, link, NULL) == 0)
		view_browser_open(&s->browser, d->port, link);
}

/* ---- until it ends ---- */

/* All threads have these blocked. They come through a descriptor, or there is a negative errno. */
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
	/* Reading from a terminal that another program has now fails instead of stopping this. */
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
	const struct view_sandbox_options sandbox = {.readable = s->o->web,
						     .verbose = s->o->verbose};
	struct spur_error err = {0};
	int status = view_sandbox_confine(&s->sandbox, &sandbox);

	if (status == SPUR_OK)
		status = view_sandbox_view(&s->sandbox, (uint32_t)s->o->threads, &s->view);
	if (status != SPUR_OK)
		return status;
	view_set_broker(s->view, s->broker);
	if (http_start(s->http, s->view, &err) < 0)
		return cli_fail(&err);
	if (!print_link(s))
		return SPUR_ENVIRONMENT;
	show_hints(s);
	open_browser(s);
	/* The page says it too, so it is served even when that is all of them. */
	status = view_sandbox_unreadable(s->view);
	wait_for_end(s);
	return status;
}

static void clean_up(struct serve *s)
{
	http_close(s->http);
	view_close(s->view);
	view_browser_end(&s->browser);
	broker_end(s->broker);
	view_sandbox_close(&s->sandbox);
	if (s->signals >= 0)
		close(s->signals);
}

int view_serve(const struct view_options *o, const char *const *paths, size_t nr)
{
	struct serve *s;
	int status;

	s = calloc(1, sizeof(*s));
	if (!s) {
		cli_error("out of memory");
		return SPUR_ENVIRONMENT;
	}
	s->o = o;
	s->signals = -1;
	status = view_sandbox_open(&s->sandbox, paths, nr, o->cache, o->no_cache);
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
