// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Standard output, standard error, the pager, progress and amounts for people.
 *
 * What a command prints holds text of files and of the kernel. On its way to a terminal, or to the
 * pager on one, every control character in it becomes '?'. Elsewhere the bytes are passed on as
 * they are. Where spur adds colours, foreign text is cleaned first; see base/safe.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/safe.h"
#include "cli/cli.h"
#include "dat/copy.h"

#define ERROR_CAP 600
#define LINE_CAP  (1u << 20)

void cli_error(const char *fmt, ...)
{
	char text[ERROR_CAP];
	scoped_buf shown = buf_new(ERROR_CAP);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	/* A message is one line, wherever it goes. */
	for (char *c = text; (c = strpbrk(c, "\n\t"));)
		*c = '?';
	buf_put_safe(&shown, text, strlen(text));
	fflush(stdout);
	fprintf(stderr, "spur: %s\n", buf_str(&shown));
}

void cli_note(void *arg, const char *text)
{
	cli_error("%s", text);
}

static int write_shown(const void *data, size_t len,
		       void (*put)(struct buf *b, const char *s, size_t n))
{
	scoped_buf shown = buf_new(len + 1);

	if (fflush(stdout) != 0)
		return -errno;
	if (!cli_on_terminal())
		return file_write_fd(STDOUT_FILENO, data, len);
	put(&shown, data, len);
	return shown.full ? -ENOMEM : file_write_fd(STDOUT_FILENO, shown.data, shown.len);
}

int cli_write(const void *data, size_t len)
{
	return write_shown(data, len, buf_put_safe);
}

int cli_write_coloured(const void *data, size_t len)
{
	return write_shown(data, len, buf_put_shown);
}

void cli_put(const char *text, size_t len)
{
	scoped_buf shown = buf_new(len + 1);

	if (!cli_on_terminal()) {
		fwrite(text, 1, len, stdout);
		return;
	}
	buf_put_safe(&shown, text, len);
	fwrite(shown.data, 1, shown.len, stdout);
}

void cli_printf(const char *fmt, ...)
{
	scoped_buf text = buf_new(LINE_CAP);
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	cli_put(text.data, text.len);
}

void cli_eprintf(const char *fmt, ...)
{
	scoped_buf text = buf_new(LINE_CAP), shown = buf_new(LINE_CAP);
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	fflush(stdout);
	if (isatty(STDERR_FILENO))
		buf_put_safe(&shown, text.data, text.len);
	else
		buf_put(&shown, text.data, text.len);
	fwrite(shown.data, 1, shown.len, stderr);
}

bool cli_reads_folder(const char *output, const char *input)
{
	if (!output || !input || strcmp(output, "-") == 0 || !file_is_inside(output, input))
		return false;
	cli_error("%s is in the folder that is read: name another file to write", output);
	return true;
}

bool cli_reads(const char *output, const char *input)
{
	if (!output || !input || strcmp(output, "-") == 0 || !file_is_same(input, output))
		return cli_reads_folder(output, input);
	cli_error("%s is the file that is read: name another to write", output);
	return true;
}

/* ---- the pager ---- */

/*
 * A child process that reads standard output while a command writes more than a screen. A process
 * has one standard output, so this is global.
 */
static pid_t pager;
static int terminal = -1; /* what standard output was before */

static void become_pager(int from)
{
	const char *command = getenv("SPUR_PAGER");

	if (!command)
		command = getenv("PAGER");
	if (!command || !*command)
		command = "less";
	dup2(from, STDIN_FILENO);
	/* Quit when it fits on one screen, pass colours through, leave the screen as it is. */
	setenv("LESS", "FRSX", 0);
	/* Ctrl-C is for spur; less reads it from the terminal itself. */
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_DFL);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

/* A Ctrl-C ends the report, but spur must not end before its pager: they share a terminal. */
static void catch_repeated_signals(void)
{
	struct sigaction sa;

	if (sigaction(SIGINT, NULL, &sa) == 0 && sa.sa_handler != SIG_DFL) {
		sa.sa_flags &= ~(int)SA_RESETHAND;
		sigaction(SIGINT, &sa, NULL);
	}
}

bool cli_on_terminal(void)
{
	return pager > 0 || isatty(STDOUT_FILENO);
}

void cli_pager_begin(bool wanted)
{
	int fds[2];

	if (!wanted || !isatty(STDOUT_FILENO) || pipe2(fds, O_CLOEXEC) < 0)
		return;
	fflush(stdout);
	catch_repeated_signals();
	pager = fork();
	if (pager == 0)
		become_pager(fds[0]);
	if (pager > 0) {
		terminal = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
		dup2(fds[1], STDOUT_FILENO);
	}
	close(fds[0]);
	close(fds[1]);
}

void cli_pager_end(void)
{
	if (pager <= 0)
		return;
	/* What the user did not read before leaving the pager is no error. */
	fflush(stdout);
	__fpurge(stdout);
	clearerr(stdout);
	if (terminal >= 0)
		dup2(terminal, STDOUT_FILENO);
	else
		close(STDOUT_FILENO);
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
	pager = 0;
}

/* ---- amounts ---- */

/* The largest unit of a thousand that leaves something in front of the dot. */
static struct amount scaled(double v, const char *const *units, size_t n)
{
	struct amount a;
	size_t u = 0;

	for (; v >= 1000 && u + 1 < n; u++)
		v /= 1000;
	snprintf(a.text, sizeof(a.text), u ? "%.1f%s" : "%.0f%s", v, units[u]);
	return a;
}

struct amount amount_bytes(uint64_t bytes)
{
	static const char *const units[] = {" B", " kB", " MB", " GB", " TB"};

	return scaled((double)bytes, units, 5);
}

struct amount amount_count(double count)
{
	static const char *const units[] = {"", " k", " M", " G"};

	return scaled(count, units, 4);
}

struct amount amount_time(uint64_t ns)
{
	struct amount a;

	if (ns < 1000)
		snprintf(a.text, sizeof(a.text), "%llu ns", (unsigned long long)ns);
	else if (ns < 1000000)
		snprintf(a.text, sizeof(a.text), "%.1f us", (double)ns / 1e3);
	else if (ns < 1000000000)
		snprintf(a.text, sizeof(a.text), "%.1f ms", (double)ns / 1e6);
	else if (ns < 600ull * 1000000000)
		snprintf(a.text, sizeof(a.text), "%.3f s", (double)ns / 1e9);
	else
		snprintf(a.text, sizeof(a.text), "%llu min %.0f s",
			 (unsigned long long)(ns / 60000000000ull),
			 (double)(ns % 60000000000ull) / 1e9);
	return a;
}

/* ---- progress ---- */

void progress_begin(struct progress *p)
{
	*p = (struct progress){.last = time(NULL)};
}

void progress_show(void *arg, uint64_t done, uint64_t total)
{
	struct progress *p = arg;
	time_t now = time(NULL);

	if (now == p->last || !total)
		return;
	p->last = now;
	p->shown = true;
	fprintf(stderr, "\r%3u%%", (unsigned int)(100.0 * (double)done / (double)total));
	fflush(stderr);
}

void progress_end(struct progress *p)
{
	if (p->shown)
		fprintf(stderr, "\r    \r");
	p->shown = false;
}

struct dat_job progress_job(struct progress *p, bool wanted)
{
	struct dat_job job = {.stop = &cli_stop};

	progress_begin(p);
	if (wanted) {
		job.progress = progress_show;
		job.arg = p;
	}
	return job;
}
