// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `spur script`: bpftrace's language, live or over a recording. First what `spur tool` and the name
 * bpftrace share with it: lists of options, messages, command lines, signals; then a script is
 * compiled and run, and what it shows is written out.
 */
#include "cli/script.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/safe.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "cli/live.h"
#include "scan/trace.h"

#define SCRIPT_LIMIT  (16u << 20)
#define MESSAGE_LIMIT (1u << 20)
#define SHELL_WORDS   "|&;<>()$`*?[]#~%{}\n!"

void script_command_free(void *options)
{
	struct script_command *o = options;

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

		if (!string_refs_add(named ? &o->named : &o->positional, *argv))
			return false;
	}
	return true;
}

const char *const *script_positional(const struct script_command *o)
{
	static const char *const none[] = {NULL};

	return o->positional.n ? o->positional.at : none;
}

/* ---- messages ---- */

void script_print(const char *text, size_t len)
{
	scoped_buf shown = buf_new(len + 1);

	if (!len)
		return;
	fflush(stdout);
	if (isatty(STDERR_FILENO))
		buf_put_safe(&shown, text, len);
	else
		buf_put(&shown, text, len);
	fwrite(shown.data, 1, shown.len, stderr);
}

static void say(const char *front, const char *fmt, va_list ap)
{
	scoped_buf text = buf_new(MESSAGE_LIMIT);

	buf_puts(&text, front);
	buf_vprintf(&text, fmt, ap);
	buf_putc(&text, '\n');
	script_print(text.data, text.len);
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

/* The next word, quotes removed in place; NULL at the end. *open: a quote is not closed. */
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

/* bpftrace's words: only spaces separate them, quotes are ordinary characters. */
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

/* Assignments count only before the command. */
static bool needs_shell(const char *command)
{
	const size_t blank = strspn(command, " \t"), first = strcspn(command + blank, " \t");

	return strpbrk(command, SHELL_WORDS) || memchr(command + blank, '=', first);
}

/* Whether it can be run: a path, or a name that is somewhere in PATH. */
static bool is_command(const char *word)
{
	const char *dirs = getenv("PATH");
	scoped_buf path = buf_new(MESSAGE_LIMIT);
	bool found = strchr(word, '/') && access(word, X_OK) == 0;

	while (*word && !strchr(word, '/') && dirs && *dirs && !found) {
		const size_t len = strcspn(dirs, ":");

		buf_reset(&path);
		buf_put(&path, dirs, len);
		buf_printf(&path, "/%s", word);
		found = access(buf_str(&path), X_OK) == 0;
		dirs += len + (dirs[len] == ':');
	}
	return found;
}

static char **split_command(const struct script_command *o)
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

/* Global, because a signal handler has no argument. */
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
	/* nohup has set it to be ignored. */
	if (sigaction(SIGHUP, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &end, NULL);
	sigaction(SIGUSR1, &show, NULL);
	signal(SIGPIPE, SIG_IGN);
	*stop = signal_fds[0];
	*print = signal_fds[1];
	return true;
}

#define HELD_LIMIT (1u << 20)
#define HELD_BYTES (64u << 10) /* that are worth writing when all is buffered */
#define DUMP_LIMIT (256u << 20)
#define NOTIFY	   "__BPFTRACE_NOTIFY_PROBES_ATTACHED"

/* ---- output ---- */

/* The old content of the output file stays until there is new output. */
static void begin_output(struct script_command *o)
{
	/* Only a regular file has content to lose. */
	if (!o->begun && o->out_fd != STDOUT_FILENO && ftruncate(o->out_fd, 0) != 0)
		errno = 0;
	o->begun = true;
}

static int write_now(struct script_command *o, const char *data, size_t len)
{
	if (len)
		begin_output(o);
	return o->out_fd == STDOUT_FILENO ? cli_write_coloured(data, len)
					  : file_write_fd(o->out_fd, data, len);
}

static int write_held(struct script_command *o)
{
	int rc = write_now(o, o->held.data, o->held.len);

	buf_reset(&o->held);
	return rc;
}

static int on_write(void *arg, const char *data, size_t len, bool errors)
{
	struct script_command *o = arg;
	int rc = 0;

	progress_end(&o->progress);
	if (errors) {
		script_print(data, len);
		return 0;
	}
	if (!o->full)
		return write_now(o, data, len);
	if (o->held.len + len > HELD_BYTES)
		rc = write_held(o);
	if (rc == 0 && len > HELD_BYTES)
		return write_now(o, data, len);
	buf_put(&o->held, data, len);
	return rc;
}

/* As if the user pressed Ctrl-C then. */
static void on_alarm(int sig)
{
	kill(getpid(), SIGTERM);
}

static void end_after(uint64_t ns)
{
	const struct itimerval timer = {.it_value = {.tv_sec = (time_t)(ns / 1000000000),
						     .tv_usec = (ns % 1000000000 + 999) / 1000}};
	struct sigaction sa = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

static void on_attached(void *arg, size_t nr)
{
	const struct script_command *o = arg;
	const char *notify = getenv(NOTIFY);

	if (o->duration)
		end_after(o->duration);
	if (o->verbose)
		fprintf(stderr, "%s%zu probe%s attached\n", o->bpftrace ? "INFO: " : "spur: ", nr,
			nr == 1 ? " is" : "s are");
	if (notify && *notify && strcmp(notify, "0") != 0)
		cli_write(NOTIFY "\n", sizeof(NOTIFY));
}

static void on_note(void *arg, const char *text)
{
	script_warning(arg, "%s", text);
}

static void on_progress(void *arg, uint64_t done, uint64_t total)
{
	struct script_command *o = arg;

	progress_show(&o->progress, done, total);
}

/* ---- running ---- */

/* Prints those of the script's messages that are new. */
static bool print_messages(struct script_command *o, const struct script *s)
{
	const char *all = script_messages(s);
	const size_t len = strlen(all);

	progress_end(&o->progress);
	if (len > o->told)
		script_print(all + o->told, len - o->told);
	o->told = len;
	return len > 0;
}

static int dump(const struct script_command *o, struct script *s, const char *stage)
{
	static const char *const stages[] = {"ast", "ir", "bpf"};
	struct spur_error err = {0};
	struct buf text;
	int rc;

	for (int i = 0; i < 3; i++) {
		if (strcmp(stages[i], stage) != 0)
			continue;
		buf_init(&text, DUMP_LIMIT);
		rc = script_dump(s, (enum script_dump)i, &text, &err);
		if (rc == 0)
			rc = cli_write(text.data, text.len);
		buf_free(&text);
		return rc < 0 ? script_fail(o, rc, "--dump", &err) : SPUR_OK;
	}
	return script_error(o, "--dump: ast, ir or bpf, not '%s'", stage);
}

/* What a dry run found, and the kernel accepted. */
static void print_probes(const struct script *s)
{
	for (size_t i = 0; i < script_nr_probes(s); i++) {
		uint32_t many;
		const char *name = script_probe(s, i, &many);

		if (many > 1)
			cli_printf("would attach %s (%u probes)\n", name, many);
		else
			cli_printf("would attach %s\n", name);
	}
}

static int open_output(struct script_command *o)
{
	struct spur_error err = {0};

	if (!o->output)
		return SPUR_OK;
	if (cli_reads(o->output, o->input))
		return SPUR_USAGE;
	o->out_fd = open(o->output, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (o->out_fd >= 0)
		return SPUR_OK;
	o->out_fd = STDOUT_FILENO;
	if (o->bpftrace)
		return script_error(o, "Failed to open output file: \"%s\": %s", o->output,
				    strerror(errno));
	error_sys(&err, -errno, "%s", o->output);
	return cli_fail(&err);
}

/* *why: what the library says when it could not be run. */
static int run_compiled(struct script_command *o, struct script *s, int *why)
{
	struct spur_error err = {0};
	int status = 0, rc, written;

	if (o->dump && !o->bpftrace)
		return dump(o, s, o->dump);
	if (o->dump)
		dump(o, s, o->dump);
	status = o->dry_run ? SPUR_OK : open_output(o);
	if (status != SPUR_OK)
		return status;
	if (o->compile_only)
		rc = 0;
	else
		rc = o->dry_run ? script_try(s, &err) : script_run(s, &status, &err);
	if (rc == 0 && o->dry_run && !o->bpftrace && !o->quiet)
		print_probes(s);
	written = write_held(o);
	print_messages(o, s);
	if (rc == 0)
		rc = written;
	if (rc == 0 && !o->dry_run)
		begin_output(o);
	*why = rc;
	return rc < 0 ? script_fail(o, rc, "the script", &err) : status;
}

static int compile_and_run(struct script_command *o, const struct script_options *opt)
{
	struct spur_error err = {0};
	struct script *s;
	int rc = script_open(opt, &s, &err), status;
	bool told = s && print_messages(o, s);

	if (rc == 0)
		status = run_compiled(o, s, &rc);
	else if (told)
		status = script_denied(s) && !o->bpftrace ? SPUR_ENVIRONMENT : SPUR_USAGE;
	else
		status = o->bpftrace ? script_error(o, "%s", err.text) : cli_fail(&err);
	/* What is missing may only be hidden from this user. */
	if ((rc == -EPERM || rc == -EACCES || (s && script_denied(s))) && geteuid() != 0)
		script_warning(o, "only root can trace the running kernel");
	script_close(s);
	return status;
}

/* ---- getting ready ---- */

static bool choose_format(const struct script_command *o, bool *json)
{
	*json = o->format && strcmp(o->format, "json") == 0;
	if (*json || !o->format || strcmp(o->format, "text") == 0)
		return true;
	if (o->bpftrace)
		script_error(o, "Invalid output format \"%s\"\nValid formats: 'text', 'json'",
			     o->format);
	else
		script_error(o, "-f: text or json, not '%s'", o->format);
	return false;
}

static bool choose_buffering(struct script_command *o)
{
	static const char *const modes[] = {"none", "line", "full", NULL};

	for (int i = 0; o->buffering && modes[i]; i++) {
		o->full = i == 2;
		if (strcmp(o->buffering, modes[i]) == 0)
			return true;
	}
	if (!o->buffering)
		return true;
	script_error(o, "-B: none, line or full, not '%s'", o->buffering);
	return false;
}

int script_features(const struct script_command *o, struct bpf_features *f)
{
	/* Ways of attaching: see set_options(). */
	static const char *const others[] = {"kprobe_multi", "uprobe_multi", "kprobe_session"};
	const char *at = o->features;

	bpf_features_init(f);
	while (at && *at) {
		const size_t len = strcspn(at, ",");
		bool known = !len;

		for (size_t i = 0; i < ARRAY_SIZE(others); i++)
			known |= strlen(others[i]) == len && strncmp(others[i], at, len) == 0;
		for (int i = 0; i < FEATURES && !known; i++) {
			const char *name = bpf_feature_name((enum bpf_feature)i);

			known = strlen(name) == len && strncmp(name, at, len) == 0;
			if (known)
				f->state[i] = FEATURE_NO;
		}
		if (!known && o->bpftrace)
			return script_error(o, "USAGE: --no-feature can only have values "
					       "'kprobe_multi,kprobe_session,uprobe_multi'.");
		if (!known)
			return script_error(o,
					    "--no-feature: there is no '%.*s'; --info lists them",
					    (int)len, at);
		at += len + (at[len] == ',');
	}
	return SPUR_OK;
}

/* Whether --no-feature names it. */
static bool is_without(const struct script_command *o, const char *name)
{
	const size_t n = strlen(name);

	for (const char *at = o->features; at && *at; at += strcspn(at, ","), at += *at == ',')
		if (strcspn(at, ",") == n && strncmp(at, name, n) == 0)
			return true;
	return false;
}

static void set_options(struct script_command *o, const struct buf *text,
			struct script_options *opt)
{
	opt->name = script_name(o);
	opt->mode = o->bench ? SCRIPT_BENCH : o->test ? SCRIPT_TEST : SCRIPT_TRACE;
	opt->text = buf_str((struct buf *)text);
	opt->len = text->len;
	opt->params = script_positional(o);
	opt->named = o->named.at;
	opt->include_dirs = o->include_dirs.at;
	opt->include_files = o->include_files.at;
	opt->debuginfo = o->debuginfo.at;
	opt->kernel_source = getenv("BPFTRACE_KERNEL_SOURCE");
	opt->kernel_build = getenv("BPFTRACE_KERNEL_BUILD");
	opt->environment = environ;
	opt->btf = o->btf;
	opt->traceable = o->traceable;
	opt->probe_filter = o->probe_filter;
	opt->max_loop_rounds = o->max_loop_rounds;
	opt->unsafe = o->unsafe;
	opt->no_kprobe_multi = is_without(o, "kprobe_multi");
	opt->no_uprobe_multi = is_without(o, "uprobe_multi");
	opt->no_kprobe_session = is_without(o, "kprobe_session");
	opt->check = o->check;
	opt->no_warnings = o->no_warnings;
	opt->quiet = o->quiet;
	opt->pids = o->pids.at;
	opt->nr_pids = o->pids.n;
	opt->style = OUTPUT_0_26;
	opt->write = on_write;
	opt->attached = on_attached;
	opt->note = on_note;
	opt->arg = o;
	if (isatty(STDERR_FILENO) && !o->quiet)
		opt->progress = on_progress;
}

static int run_with(struct script_command *o, const struct buf *text)
{
	struct script_options opt = {0};
	struct spur_error err = {0};
	struct bpf_features features;
	struct tracefs fs;
	char **words = NULL;
	int status = script_features(o, &features);

	if (!o->input)
		live_try(&fs);
	o->out_fd = STDOUT_FILENO;
	set_options(o, text, &opt);
	opt.features = &features;
	opt.clean = !o->output && cli_on_terminal();
	if (status == SPUR_OK && !choose_format(o, &opt.json))
		status = SPUR_USAGE;
	if (status == SPUR_OK && o->command && !(words = split_command(o)))
		status = SPUR_USAGE;
	opt.command = words;
	if (status == SPUR_OK && !script_signals(&opt.stop_fd, &opt.print_fd))
		status = script_error(o, "signals: %s", strerror(errno));
	if (status == SPUR_OK && o->input && trace_open(o->input, NULL, &opt.trace, &err) < 0)
		status = cli_fail(&err);
	if (status == SPUR_OK)
		status = compile_and_run(o, &opt);
	if (status == SPUR_OK && opt.trace)
		status = cli_damage(opt.trace->dat);
	if (o->out_fd > STDERR_FILENO)
		close(o->out_fd);
	trace_close(opt.trace);
	free(words);
	return status;
}

int script_command_run(struct script_command *o)
{
	struct buf text;
	int status;

	if (!choose_buffering(o))
		return SPUR_USAGE;
	progress_begin(&o->progress);
	buf_init(&o->held, HELD_LIMIT);
	status = script_read(o, &text);
	if (status == SPUR_OK)
		status = run_with(o, &text);
	buf_free(&text);
	buf_free(&o->held);
	return status;
}

/* ---- spur script ---- */

#define MAX_PID 4194304

#define AT(field) offsetof(struct script_command, field)

static int take_check(void *options, const struct opt *o, const char *arg)
{
	struct script_command *c = options;

	c->check++;
	return 0;
}

int script_take_pids(void *options, const struct opt *o, const char *arg)
{
	struct script_command *c = options;
	char *end;

	do {
		const long pid = strtol(arg, &end, 10);

		if (end == arg || (*end && *end != ',') || pid < 1 || pid > MAX_PID)
			return opt_error(o, "'%s' is not the number of a process", arg);
		if (!vec_add(&c->pids, &(pid_t){(pid_t)pid}))
			return -ENOMEM;
		arg = end + (*end == ',');
	} while (*arg);
	return 0;
}

static const struct opt opts[] = {
	{'e', NULL, OPT_STRING, "PROGRAM", "the script itself, instead of a file", AT(program)},
	{'i', "input", OPT_FILE, "TRACE", "run it over a recording instead of the running kernel",
	 AT(input)},
	{'p', "pid", OPT_CALL, "PID[,PID...]", "trace only these processes", 0, script_take_pids},
	{'c', "cmd", OPT_STRING, "COMMAND", "run the command, and end with it", AT(command)},
	{'o', "output", OPT_FILE, "FILE", "write to a file", AT(output)},
	{'f', "format", OPT_STRING, "FORMAT", "text or json", AT(format), NULL, "text json"},
	{'B', "buffer", OPT_STRING, "MODE", "when output is written: none, line or full",
	 AT(buffering), NULL, "none line full"},
	{'q', "quiet", OPT_FLAG, NULL, "only what the script shows", AT(quiet)},
	{'v', "verbose", OPT_FLAG, NULL, "print more; with -l, arguments and members too",
	 AT(verbose)},
	{'I', NULL, OPT_LIST, "DIR", "look for included files here, too", AT(include_dirs),
	 .values = "FILE"},
	{0, "include", OPT_LIST, "FILE", "include a file before the script", AT(include_files),
	 .values = "FILE"},
	{0, "debuginfo", OPT_LIST, "DIR[:DIR...]", "look for programs' debug information here, too",
	 AT(debuginfo), .values = "FILE"},
	{0, "probe-filter", OPT_STRING, "REGEX", "only probes whose names match", AT(probe_filter)},
	{0, "max-loop-rounds", OPT_STRING, "N", "rounds that the loops of a hit may have (65536)",
	 AT(max_loop_rounds)},
	{0, "unsafe", OPT_FLAG, NULL,
	 "allow functions that change the system: system(), signal(), ...", AT(unsafe)},
	{0, "no-warnings", OPT_FLAG, NULL, "no warnings about the script", AT(no_warnings)},
	{'k', "warnings", OPT_CALL, NULL,
	 "warn when a helper fails while it runs; -kk: and when a map has no entry", 0, take_check},
	{0, "no-feature", OPT_STRING, "NAME[,NAME...]", "act as if the kernel did not have these",
	 AT(features)},
	{0, "traceable-functions", OPT_FILE, "FILE",
	 "functions that patterns match, instead of the kernel's own list", AT(traceable)},
	{0, NULL, OPT_GROUP, NULL, "Instead of running it", 0},
	{'l', "list", OPT_FLAG, NULL,
	 "list probes or types that match a pattern, or those of the script", AT(list)},
	{0, "test", OPT_FLAG, NULL, "run the script's probes of the type test", AT(test)},
	{0, "bench", OPT_FLAG, NULL, "measure those of the type bench", AT(bench)},
	{0, "dry-run", OPT_FLAG, NULL, "compile and load it, attach nothing", AT(dry_run)},
	{0, "dump", OPT_STRING, "STAGE", "show what the script becomes: ast, ir or bpf", AT(dump),
	 NULL, "ast ir bpf"},
	{0, "fmt", OPT_FLAG, NULL, "print the script as it should look", AT(fmt)},
	{0, "aot", OPT_STRING, "FILE", "refused: a compiled script would fit one kernel only",
	 AT(aot)},
	{0, "info", OPT_FLAG, NULL, "show what the kernel can do for scripts", AT(info)},
};

static int run(void *options, int others, char **argv)
{
	struct script_command *o = options;
	int status;

	if (!o->program && others)
		*(o->list ? &o->pattern : &o->file) = *argv++;
	if (!script_params(o, argv))
		return script_error(o, "out of memory");
	status = script_check_options(o);
	if (status != SPUR_OK)
		return status;
	if (o->info)
		return script_command_info(o);
	if (o->command && o->pids.n)
		return script_error(o, "-c and -p: a command, or processes that run already");
	if (o->input && (o->command || (o->pids.n && o->list)))
		return script_error(
			o, "-c, and -p with -l, are for the running kernel, not for a recording");
	if (o->list)
		return script_command_list(o);
	if (!o->program && !o->file)
		return script_error(o, "which script? -e 'PROGRAM', or the name of a file");
	return o->fmt ? script_command_format(o) : script_command_run(o);
}

const struct command command_script = {
	.name = "script",
	.summary = "run a bpftrace script, live or over a recording",
	.usage = "[OPTION...] -e PROGRAM | FILE [PARAMETER...] [-- --NAME=VALUE...], or -l "
		 "[PATTERN]",
	COMMAND_OPTS(opts, struct script_command),
	.run = run,
	.release = script_command_free,
};
