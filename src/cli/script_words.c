// SPDX-License-Identifier: GPL-2.0-or-later
/* What both names of scripts share in words: messages, lists of options, command lines, signals. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/safe.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "cli/script.h"

#define SCRIPT_LIMIT  (16u << 20)
#define MESSAGE_LIMIT (1u << 20)
#define SHELL_WORDS   "|&;<>()$`*?[]#~%{}\n!"

/* ---- lists ---- */

int script_word(struct script_words *w, const char *word)
{
	const char **slot = vec_push(w);

	if (!slot)
		return -ENOMEM;
	*slot = word;
	return 0;
}

bool script_words_end(struct script_words *w)
{
	if (script_word(w, NULL) < 0)
		return false;
	w->n--;
	return true;
}

void script_command_free(struct script_command *o)
{
	vec_free(&o->positional);
	vec_free(&o->named);
	vec_free(&o->include_dirs);
	vec_free(&o->include_files);
	vec_free(&o->debuginfo);
	vec_free(&o->pids);
}

bool script_params(struct script_command *o, char **argv)
{
	for (; *argv; argv++) {
		const bool named = strncmp(*argv, "--", 2) == 0 && (*argv)[2];

		if (script_word(named ? &o->named : &o->positional, *argv) < 0)
			return false;
	}
	return script_words_end(&o->positional) && script_words_end(&o->named) &&
	       script_words_end(&o->include_dirs) && script_words_end(&o->include_files) &&
	       script_words_end(&o->debuginfo);
}

/* ---- messages ---- */

void script_tell(const char *text, size_t len)
{
	struct buf shown;

	if (!len)
		return;
	fflush(stdout);
	buf_init(&shown, len + 1);
	if (isatty(STDERR_FILENO))
		buf_put_safe(&shown, text, len);
	else
		buf_put(&shown, text, len);
	fwrite(shown.data, 1, shown.len, stderr);
	buf_free(&shown);
}

static void say(const char *front, const char *fmt, va_list ap)
{
	struct buf text;

	buf_init(&text, MESSAGE_LIMIT);
	buf_puts(&text, front);
	buf_vprintf(&text, fmt, ap);
	buf_putc(&text, '\n');
	script_tell(text.data, text.len);
	buf_free(&text);
}

int script_error(const struct script_command *o, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(o->bpftrace ? "ERROR: " : "spur: ", fmt, ap);
	va_end(ap);
	return SPUR_USAGE;
}

void script_warning(const struct script_command *o, const char *fmt, ...)
{
	va_list ap;

	if (o->no_warnings)
		return;
	va_start(ap, fmt);
	say(o->bpftrace ? "WARNING: " : "spur: ", fmt, ap);
	va_end(ap);
}

int script_check_options(const struct script_command *o)
{
	if (o->aot)
		return script_error(
			o,
			"--aot: what a script becomes depends on the kernel that runs it: on its "
			"types, functions and helpers. Compiling takes milliseconds and needs no "
			"other program, so the script itself is the file to keep");
	if (o->traceable && access(o->traceable, R_OK) != 0)
		return script_error(o, "--traceable-functions: %s: %s", o->traceable,
				    strerror(errno));
	return SPUR_OK;
}

int script_fail(const struct script_command *o, int rc, const char *doing, struct spur_error *err)
{
	if (!o->bpftrace)
		return cli_result(rc, doing, err);
	if (rc == -EPIPE)
		return SPUR_OK;
	error_sys(err, rc, "%s", doing);
	script_error(o, "%s", err->text);
	return 255;
}

/* ---- the script ---- */

const char *script_name(const struct script_command *o)
{
	if (o->program && o->name)
		return o->name;
	return o->program || strcmp(o->file, "-") == 0 ? "stdin" : o->file;
}

int script_read(const struct script_command *o, struct buf *text)
{
	struct spur_error err = {0};
	const char *path = o->program ? NULL : strcmp(o->file, "-") == 0 ? "/dev/stdin" : o->file;
	int rc;

	buf_init(text, SCRIPT_LIMIT);
	if (o->program) {
		buf_puts(text, o->program);
		return 0;
	}
	rc = file_read(path, text, &err);
	if (rc == 0)
		return 0;
	if (o->bpftrace)
		return script_error(o, "failed to open file '%s': %s", o->file, strerror(-rc));
	return cli_result(rc, o->file, &err);
}

/* ---- a command line ---- */

/* The next word, quotes taken away, in place; NULL at the end. *open: a quote has no end. */
static char *next_word(char **at, bool *open)
{
	char *from = *at + strspn(*at, " \t"), *to = from, *p = from, quote = 0;

	if (!*from)
		return NULL;
	for (; *p && (quote || (*p != ' ' && *p != '\t')); p++) {
		if (*p == quote)
			quote = 0;
		else if (!quote && (*p == '"' || *p == '\''))
			quote = *p;
		else
			*to++ = *p == '\\' && p[1] && quote != '\'' ? *++p : *p;
	}
	*open |= quote != 0;
	*at = *p ? p + 1 : p;
	*to = '\0';
	return from;
}

/* bpftrace's words: spaces are between them and nothing else, quotes are letters. */
static char *next_plain(char **at)
{
	char *from = *at, *end;

	if (!from)
		return NULL;
	end = strchr(from, ' ');
	*at = end ? end + 1 : NULL;
	if (end)
		*end = '\0';
	return from;
}

/* An assignment is one only in front of the command. */
static bool needs_shell(const char *command)
{
	const size_t blank = strspn(command, " \t"), first = strcspn(command + blank, " \t");

	return strpbrk(command, SHELL_WORDS) || memchr(command + blank, '=', first);
}

/* Whether it can be run: a path, or a name that is somewhere in PATH. */
static bool is_command(const char *word)
{
	const char *dirs = getenv("PATH");
	struct buf path;
	bool found = strchr(word, '/') && access(word, X_OK) == 0;

	buf_init(&path, MESSAGE_LIMIT);
	while (*word && !strchr(word, '/') && dirs && *dirs && !found) {
		const size_t len = strcspn(dirs, ":");

		buf_reset(&path);
		buf_put(&path, dirs, len);
		buf_printf(&path, "/%s", word);
		found = access(buf_str(&path), X_OK) == 0;
		dirs += len + (dirs[len] == ':');
	}
	buf_free(&path);
	return found;
}

char **script_split(const struct script_command *o)
{
	const size_t len = strlen(o->command);
	/* As many words as there can be, a NULL, and the text they are in. */
	char **words = malloc((len + 5) * sizeof(*words) + len + 1), *text;
	bool open = false;
	size_t n = 0;

	if (!words) {
		script_error(o, "out of memory");
		return NULL;
	}
	text = (char *)(words + len + 5);
	memcpy(text, o->command, len + 1);
	if (o->bpftrace) {
		while ((words[n] = next_plain(&text)))
			n++;
	} else if (needs_shell(o->command)) {
		words[n++] = (char *)"sh";
		words[n++] = (char *)"-c";
		words[n++] = text;
	} else {
		while ((words[n] = next_word(&text, &open)))
			n++;
	}
	words[n] = NULL;
	if (!n)
		script_error(o, "-c: the command is empty");
	else if (open)
		script_error(o, "-c: a quote of the command is not closed");
	else if (!o->bpftrace || is_command(words[0]))
		return words;
	else
		script_error(o,
			     "Failed to fork child: Path '%s' does not exist or is not executable "
			     "(%s)",
			     words[0], strerror(ENOENT));
	free(words);
	return NULL;
}

/* ---- signals ---- */

/* A signal handler knows nothing but what is here. */
static int signal_fds[2] = {-1, -1};

static void on_signal(int sig)
{
	const uint64_t one = 1;
	const int saved = errno;

	if (write(signal_fds[sig == SIGUSR1], &one, sizeof(one)) < 0)
		errno = saved;
}

bool script_signals(int *stop, int *print)
{
	struct sigaction end = {.sa_handler = on_signal,
				.sa_flags = (int)SA_RESETHAND | SA_RESTART};
	struct sigaction show = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	struct sigaction now;

	for (int i = 0; i < 2; i++)
		signal_fds[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (signal_fds[0] < 0 || signal_fds[1] < 0)
		return false;
	sigaction(SIGINT, &end, NULL);
	sigaction(SIGTERM, &end, NULL);
	/* nohup has it ignored. */
	if (sigaction(SIGHUP, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &end, NULL);
	sigaction(SIGUSR1, &show, NULL);
	signal(SIGPIPE, SIG_IGN);
	*stop = signal_fds[0];
	*print = signal_fds[1];
	return true;
}
