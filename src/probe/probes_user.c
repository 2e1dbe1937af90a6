// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Probes in programs and libraries: functions (uprobe:BINARY:FUNCTION[+OFFSET], uretprobe, with
 * "cpp" before a function of C++, or an address instead of it), lines of source files, and what
 * they were built with (USDT). Binary and function may be patterns. With a process the binary may
 * be left out.
 */
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/pattern.h"
#include "base/scoped.h"
#include "base/vec.h"
#include "probe/loader.h"
#include "probe/provider.h"
#include "probe/usdt.h"
#include "symbols/elf.h"
#include "symbols/functions.h"
#include "symbols/lines.h"
#include "symbols/names.h"

#define LIST_MOST (1u << 20)
#define MAX_PATHS 4096

/* ---- binaries ---- */

static int glob_paths(struct match *m, const char *word, struct paths *list)
{
	struct utsname machine = {0};
	glob_t found = {0};
	int ret = 0;

	uname(&machine);
	if (!glob(word, GLOB_NOSORT, NULL, &found))
		for (size_t i = 0; i < found.gl_pathc && i < MAX_PATHS && !ret; i++)
			if (loader_takes(found.gl_pathv[i], machine.machine, false) &&
			    !paths_add(list, m->world->arena, found.gl_pathv[i]))
				ret = match_no_memory(m);
	globfree(&found);
	return ret;
}

/* The files that all processes have loaded; processes that end or may not be read are skipped. */
static int all_loaded(struct match *m, struct paths *list)
{
	struct dirent *entry;
	scoped_dir d = opendir("/proc");

	while (d && list->n < MAX_PATHS && (entry = readdir(d))) {
		struct spur_error ignored = {0};
		const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid > 0)
			loader_of_process(pid, m->world->arena, list, &ignored);
	}
	return 0;
}

static int traced_binaries(struct match *m, const struct probe_options *opt, struct paths *list)
{
	struct utsname machine = {0};
	struct spur_error err = {0};

	if (!opt->pid && !opt->command)
		return all_loaded(m, list);
	uname(&machine);
	if (path_loaded(opt, machine.machine, m->world->arena, list, &err))
		return match_error(m, "%s", err.text);
	return 0;
}

static int one_binary(struct match *m, const char *word, const struct probe_options *opt,
		      struct paths *list)
{
	struct utsname machine = {0};
	struct spur_error err = {0};
	const char *path;
	int ret;

	uname(&machine);
	ret = path_find(word, opt, machine.machine, m->world->arena, &path, &err);
	if (!ret)
		return paths_add(list, m->world->arena, path) ? 0 : match_no_memory(m);
	ret = match_missing(m, "%s target file '%s' does not exist or is not executable",
			    m->provider->name, word ? word : "");
	match_hint(m, "%s", err.text);
	return ret;
}

/*
 * Paths in the world's arena; the list is freed with vec_free(). word may be NULL for the traced
 * program, "*" for everything it has loaded, or a pattern of paths. Errors are reported.
 */
static int user_binaries(struct match *m, const char *word, struct paths *list)
{
	const struct probe_options opt = {.pid = m->world->pid, .command = m->world->command};
	int ret;

	if (!word || !is_glob(word))
		return one_binary(m, word, &opt, list);
	if (!strcmp(word, "*"))
		return traced_binaries(m, &opt, list);
	ret = glob_paths(m, word, list);
	if (ret || list->n)
		return ret;
	return match_missing(m, "no %s target file matches '%s'", m->provider->name, word);
}

/* The path in a probe's name: as it was written, or where the binary was found. */
static const char *user_shown(const char *word, const char *path)
{
	return word && strchr(word, '/') && !is_glob(word) ? word : path;
}

/* ---- functions ---- */

struct user_query {
	const char *binary; /* NULL: the traced program */
	bool cpp;
	const char *function;
	const char *path, *shown;
	const struct binary *b;
	uint64_t offset, address;
};

static int add_user_function(struct match *m, const struct user_query *q, const struct function *f)
{
	const char *shown = q->cpp ? f->name : f->symbol;
	char more[32] = "";
	struct probe_target *t;

	if (q->offset && f->size && q->offset >= f->size)
		return match_error(m,
				   "Offset outside the function bounds ('%s' size is %" PRIu64 ")",
				   f->symbol, f->size);
	if (q->offset)
		snprintf(more, sizeof(more), "+%" PRIu64, q->offset);
	if (f->indirect && !is_glob(q->function))
		match_warning(m,
			      "'%s' is chosen when the program starts: the probe sees the choice, "
			      "not the calls",
			      f->symbol);
	t = match_add(m, "%s:%s%s%s", q->shown, q->cpp ? "cpp:" : "", shown, more);
	if (!t)
		return match_no_memory(m);
	t->path = q->path;
	t->symbol = f->symbol;
	t->func = shown;
	t->address = f->addr + q->offset;
	if (__builtin_add_overflow(f->offset, q->offset, &t->offset))
		return match_error(m, "the offset is too large");
	return 0;
}

static int find_functions(struct match *m, const struct user_query *q)
{
	const size_t most = m->world->max_probes ? m->world->max_probes : LIST_MOST;
	struct functions found = {0};
	struct spur_error err = {0};
	int ret = functions_find(q->b, q->path, q->function, most, m->world->arena, &found, &err);

	if (ret == -ENOENT) {
		ret = match_missing(m, "No matches for %s %s:%s.", m->provider->name, q->path,
				    q->function);
		match_hint(m, "%s", err.text);
	} else if (ret) {
		ret = match_error(m, "%s", err.text);
	}
	for (size_t i = 0; i < found.n && !ret; i++)
		ret = add_user_function(m, q, &found.at[i]);
	vec_free(&found);
	return ret;
}

/* In a file that is not ELF an address is an offset in the file. */
static bool file_offset(const struct user_query *q, uint64_t *offset)
{
	struct stat st;

	*offset = q->address;
	return stat(q->path, &st) == 0 && q->address < (uint64_t)st.st_size;
}

static int add_address(struct match *m, const struct user_query *q)
{
	struct probe_target *t;
	uint64_t offset;

	if (!(q->b ? binary_code_offset(q->b, q->address, &offset) : file_offset(q, &offset)))
		return match_error(m, "Could not resolve address: %s:0x%" PRIx64, q->shown,
				   q->address);
	t = match_add(m, "%s:%" PRIu64, q->shown, q->address);
	if (!t)
		return match_no_memory(m);
	t->path = q->path;
	t->address = q->address;
	t->offset = offset;
	return 0;
}

/* ---- lists ---- */

struct user_list {
	struct match *m;
	const struct user_query *q;
	struct pattern pattern;
};

/* Unlike a probe, a list shows a function by all its names. */
static int list_symbol(void *arg, const struct binary_symbol *s)
{
	struct user_list *l = arg;
	struct probe_target *t;
	uint64_t offset;

	if (!s->function || strstr(s->name, ".part.") ||
	    !pattern_match(&l->pattern, s->name, strlen(s->name)) ||
	    !binary_code_offset(l->q->b, s->addr, &offset))
		return 0;
	t = match_add(l->m, "%s:%s", l->q->shown, s->name);
	if (!t)
		return match_no_memory(l->m);
	t->path = l->q->path;
	t->address = s->addr;
	t->offset = offset;
	return 0;
}

static int list_functions(struct match *m, const struct user_query *q)
{
	struct user_list l = {.m = m, .q = q};
	int ret;

	if (pattern_glob(&l.pattern, q->function, strlen(q->function), NULL))
		return 0;
	ret = binary_each_symbol(q->b, list_symbol, &l);
	pattern_free(&l.pattern);
	return ret;
}

/* ---- words ---- */

/* Parameters of a function of C++ are not compared: "f(int)" means all functions f. */
static int without_parameters(struct match *m, struct user_query *q)
{
	const char *open = strchr(q->function, '(');

	if (!q->cpp || !open || open == q->function)
		return 0;
	q->function = arena_strndup(m->world->arena, q->function, (size_t)(open - q->function));
	return q->function ? 0 : match_no_memory(m);
}

static int read_function(struct match *m, struct user_query *q)
{
	const char *last = m->word[m->nr_words - 1];
	const bool traced = m->world->pid || m->world->command;
	unsigned int n = m->nr_words;
	int ret;

	if (n == 3 || (n == 2 && traced && !strcmp(m->word[0], "cpp"))) {
		const char *lang = m->word[n - 2];

		if (strcmp(lang, "cpp"))
			return match_error(m, "unsupported language type: %s", lang);
		q->cpp = true;
		n--;
	}
	if (n < 2 && !traced)
		return match_wrong_count(m);
	q->binary = n < 2 ? NULL : m->word[0];
	if (q->binary && !*q->binary)
		return match_error(m, "%s should have a target", m->provider->name);
	if (word_number(last, &q->address) && !q->cpp)
		return q->binary && is_glob(q->binary)
			       ? match_error(m, "Cannot use wildcards with absolute address")
			       : 0;
	q->address = 0;
	ret = split_offset(m, last, &q->function, &q->offset);
	if (ret)
		return ret;
	if (!*q->function)
		return match_error(m, "%s should be attached to a function and/or address",
				   m->provider->name);
	if (q->offset && m->provider->type == PT_URETPROBE)
		return match_error(m, "uretprobes can not be attached to a function offset");
	if (q->offset && is_glob(q->function))
		return match_error(m, "an offset makes sense for one function only");
	return without_parameters(m, q);
}

static int match_functions(struct match *m, struct user_query *q, bool quiet)
{
	struct spur_error err = {0};
	struct binary *b;
	int ret = binary_open_debug(q->path, m->world->debuginfo, &b, &err);

	if ((ret == -EBADMSG || ret == -ENOTSUP) && !q->function) {
		if (!m->world->unsafe && !m->listing)
			return match_error(m,
					   "%s is not a valid ELF file: a probe in it is unsafe "
					   "(use --unsafe)",
					   q->shown);
		q->b = NULL;
		return add_address(m, q);
	}
	if (ret)
		return quiet ? -ENOENT : match_error(m, "%s", err.text);
	q->b = b;
	if (!q->function)
		ret = add_address(m, q);
	else
		ret = m->listing ? list_functions(m, q) : find_functions(m, q);
	binary_close(b);
	return ret;
}

/* Libraries that are empty, or missing, where their functions have become part of libc. */
static bool is_in_libc(const char *binary)
{
	static const char *const names[] = {"libpthread", "librt", "libdl"};

	for (size_t i = 0; binary && i < ARRAY_SIZE(names); i++)
		if (!strcmp(binary, names[i]))
			return true;
	return false;
}

static int match_files(struct match *m, struct user_query *q)
{
	struct paths paths = {0};
	const size_t before = m->to->n;
	const bool quiet = m->quiet;
	int ret = user_binaries(m, q->binary, &paths);

	/* If there are several binaries, not each must have the function. */
	if (paths.n > 1)
		m->quiet = true;
	for (size_t i = 0; i < paths.n && (!ret || ret == -ENOENT); i++) {
		q->path = paths.at[i];
		q->shown = user_shown(q->binary, q->path);
		ret = match_functions(m, q, paths.n > 1);
	}
	m->quiet = quiet;
	if (paths.n > 1 && (!ret || ret == -ENOENT))
		ret = m->to->n > before ? 0
					: match_missing(m, "No matches for %s %s:%s.",
							m->provider->name, q->binary, q->function);
	vec_free(&paths);
	return ret;
}

/*
 * Statements of programs and libraries: uprobe:BINARY@FILE:LINE[:COLUMN], which their debug
 * information knows. With a process the binary may be left out.
 */

struct line_query {
	const char *binary; /* NULL: the traced program */
	struct line_wanted wanted;
	const char *path, *shown;
	const struct binary *b;
};

/* Whether words are BINARY@FILE:LINE. */
static bool is_line_probe(const struct match *m)
{
	/* A file may be called like that, too. */
	return m->nr_words && strchr(m->word[0], '@') && access(m->word[0], F_OK) != 0;
}

static int add_line(struct match *m, const struct line_query *q, const struct line_place *place)
{
	const struct line_wanted *w = &q->wanted;
	struct probe_target *t;
	uint64_t offset;

	/* Debug information still describes code that the linker removed. */
	if (!binary_code_offset(q->b, place->addr, &offset))
		return 0;
	if (w->column)
		t = match_add(m, "%s@%s:%" PRIu64 ":%" PRIu64, q->shown, w->file, w->line,
			      w->column);
	else
		t = match_add(m, "%s@%s:%" PRIu64, q->shown, w->file, w->line);
	if (!t)
		return match_no_memory(m);
	t->path = q->path;
	t->func = place->function;
	t->address = place->addr;
	t->offset = offset;
	return 0;
}

static int find_places(struct match *m, const struct line_query *q, struct debug *debug)
{
	const size_t before = m->to->n;
	struct line_places found = {0};
	struct spur_error err = {0};
	int ret = lines_find(debug, &q->wanted, m->world->arena, &found, &err);

	if (ret == -ENOENT)
		ret = match_missing(m, "%s: %s", q->shown, err.text);
	else if (ret)
		ret = match_error(m, "%s: %s", q->shown, err.text);
	for (size_t i = 0; i < found.n && !ret; i++)
		ret = add_line(m, q, &found.at[i]);
	if (!ret && m->to->n == before)
		ret = match_missing(m, "%s: line %" PRIu64 " of %s is not part of the program",
				    q->shown, q->wanted.line, q->wanted.file);
	vec_free(&found);
	return ret;
}

static int match_lines(struct match *m, struct line_query *q)
{
	struct spur_error err = {0};
	struct debug *debug;
	struct binary *b;
	int ret = binary_open_debug(q->path, m->world->debuginfo, &b, &err);

	if (ret)
		return match_error(m, "%s", err.text);
	q->b = b;
	debug = debug_open(b);
	if (debug)
		ret = find_places(m, q, debug);
	else
		ret = match_error(m, "cannot find lines of %s: %s", q->shown, debug_missing());
	debug_close(debug);
	binary_close(b);
	return ret;
}

static int read_number(struct match *m, unsigned int i, const char *what, uint64_t *to)
{
	const char *word = m->word[i];

	if (word_number(word, to) && *to)
		return 0;
	if (is_glob(word))
		return match_error(m, "a probe on a line cannot have wildcards");
	return match_error(m, "'%s' is not the number of a %s", word, what);
}

static int read_line(struct match *m, struct line_query *q)
{
	const char *word = m->word[0], *at = strrchr(word, '@');
	const bool traced = m->world->pid || m->world->command;
	int ret;

	if (m->provider->type == PT_URETPROBE)
		return match_error(m, "uretprobes can not be attached to a line");
	if (m->nr_words < 2)
		return match_error(m, "a probe on a line is BINARY@FILE:LINE");
	if (is_glob(word))
		return match_error(m, "a probe on a line cannot have wildcards");
	if (!at[1])
		return match_error(m, "there is no source file behind the '@'");
	q->wanted.file = at + 1;
	if (at > word) {
		q->binary = arena_strndup(m->world->arena, word, (size_t)(at - word));
		if (!q->binary)
			return match_no_memory(m);
	} else if (!traced) {
		return match_error(m, "%s should have a target", m->provider->name);
	}
	ret = read_number(m, 1, "line", &q->wanted.line);
	if (!ret && m->nr_words > 2)
		ret = read_number(m, 2, "column", &q->wanted.column);
	return ret;
}

static int match_line(struct match *m)
{
	struct line_query q = {0};
	struct paths paths = {0};
	int ret = read_line(m, &q);

	if (!ret)
		ret = user_binaries(m, q.binary, &paths);
	for (size_t i = 0; i < paths.n && !ret; i++) {
		q.path = paths.at[i];
		q.shown = user_shown(q.binary, q.path);
		ret = match_lines(m, &q);
	}
	vec_free(&paths);
	return ret;
}

int match_user(struct match *m)
{
	struct user_query q = {0};
	const bool quiet = m->quiet;
	int ret;

	if (is_line_probe(m))
		return match_line(m);
	ret = read_function(m, &q);
	if (ret)
		return ret;
	if (!is_in_libc(q.binary) || m->listing)
		return match_files(m, &q);
	m->quiet = true;
	ret = match_files(m, &q);
	m->quiet = quiet;
	if (ret == -ENOENT) {
		q.binary = "libc";
		ret = match_files(m, &q);
	}
	return ret;
}

/*
 * Probes that programs were built with: usdt:BINARY:[PROVIDER:]NAME, with patterns. One probe may
 * be at several places, each with arguments elsewhere: every place is a target of the same name.
 */

struct usdt_query {
	struct match *m;
	const char *path;
	const struct binary *b;
	const char *binary, *provider, *name; /* provider NULL: any */
	struct pattern provider_pattern, name_pattern;
	struct nearest near;
	int ret;
};

static bool wanted(struct usdt_query *q, const struct usdt_probe *p)
{
	if (q->provider && !pattern_match(&q->provider_pattern, p->provider, strlen(p->provider)))
		return false;
	if (pattern_match(&q->name_pattern, p->name, strlen(p->name)))
		return true;
	nearest_try(&q->near, p->name, strlen(p->name));
	return false;
}

static int add_usdt(struct usdt_query *q, const struct usdt_probe *p, uint64_t offset)
{
	struct match *m = q->m;
	struct probe_target *t =
		match_add(m, "%s:%s:%s", user_shown(q->binary, q->path), p->provider, p->name);

	if (!t)
		return match_no_memory(m);
	t->path = q->path;
	t->symbol = arena_strdup(m->world->arena, p->name);
	t->func = t->symbol;
	t->module = arena_strdup(m->world->arena, p->provider);
	t->arguments = arena_strdup(m->world->arena, p->args);
	t->address = p->addr;
	t->offset = offset;
	if (p->semaphore && !binary_offset(q->b, p->semaphore, &t->semaphore))
		return match_error(m, "the semaphore of %s:%s is not in %s", p->provider, p->name,
				   q->path);
	return t->symbol && t->module && t->arguments ? 0 : match_no_memory(m);
}

static int look_at(void *arg, const struct usdt_probe *p)
{
	struct usdt_query *q = arg;
	uint64_t offset;

	if (wanted(q, p) && binary_code_offset(q->b, p->addr, &offset))
		q->ret = add_usdt(q, p, offset);
	return q->ret;
}

static int match_notes(struct usdt_query *q, bool quiet)
{
	struct spur_error err = {0};
	struct binary *b;

	if (binary_open_debug(q->path, q->m->world->debuginfo, &b, &err))
		return quiet ? 0 : match_error(q->m, "%s", err.text);
	q->b = b;
	usdt_each(b, look_at, q);
	binary_close(b);
	return q->ret;
}

static int compile(struct usdt_query *q)
{
	if (q->provider &&
	    pattern_glob(&q->provider_pattern, q->provider, strlen(q->provider), NULL))
		return match_error(q->m, "'%s' is no pattern", q->provider);
	if (pattern_glob(&q->name_pattern, q->name, strlen(q->name), NULL))
		return match_error(q->m, "'%s' is no pattern", q->name);
	return 0;
}

static int read_usdt(struct usdt_query *q)
{
	struct match *m = q->m;
	const bool traced = m->world->pid || m->world->command;

	q->name = m->word[m->nr_words - 1];
	q->binary = m->nr_words > 1 ? m->word[0] : NULL;
	q->provider = m->nr_words > 2 && *m->word[1] ? m->word[1] : NULL;
	if (!q->binary && !traced)
		return match_wrong_count(m);
	/* No binary given: searches all those of the traced program. */
	if (!q->binary || !*q->binary) {
		if (!traced)
			return match_error(m,
					   "usdt probe must specify at least path or pid to "
					   "probe. To target all paths/pids set the path to '*'.");
		q->binary = "*";
	}
	if (!*q->name)
		return match_error(m, "usdt probe must have a target function or wildcard");
	return 0;
}

static int none_found(struct usdt_query *q, const struct paths *paths)
{
	struct match *m = q->m;
	const int ret = match_missing(
		m, "No matches for usdt %s:%s%s%s.", paths->n == 1 ? paths->at[0] : q->binary,
		q->provider ? q->provider : "", q->provider ? ":" : "", q->name);

	if (q->near.n)
		match_hint(m, "did you mean '%s'?", q->near.best[0].name);
	return ret;
}

int match_usdt(struct match *m)
{
	struct usdt_query q = {.m = m};
	struct paths paths = {0};
	const size_t before = m->to->n;
	int ret = read_usdt(&q);

	if (!ret)
		ret = compile(&q);
	if (!ret)
		ret = user_binaries(m, q.binary, &paths);
	if (!ret)
		q.near = nearest_to(q.name, strlen(q.name));
	for (size_t i = 0; i < paths.n && !ret; i++) {
		q.path = paths.at[i];
		ret = match_notes(&q, paths.n > 1);
	}
	if (!ret && m->to->n == before)
		ret = none_found(&q, &paths);
	vec_free(&paths);
	pattern_free(&q.provider_pattern);
	pattern_free(&q.name_pattern);
	return ret;
}
