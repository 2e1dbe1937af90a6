// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Functions of programs and libraries: uprobe:BINARY:FUNCTION[+OFFSET], uretprobe, with "cpp" in
 * front of a function of C++, an address instead of a function, and patterns over both parts. With
 * a process the binary may be left out. Lines of source files are in probes_line.c.
 */
#include "probe/probes_user.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "base/error.h"
#include "base/vec.h"
#include "base/pattern.h"
#include "probe/probes_parts.h"
#include "symbols/elf.h"
#include "symbols/functions.h"
#include "probe/loader.h"

#define LIST_MOST (1u << 20)
#define MAX_PATHS 4096

/* ---- binaries -------------------------------------------------------------------------- */

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

/* What all processes have loaded. Those that end meanwhile, or are none of ours, do not matter. */
static int all_loaded(struct match *m, struct paths *list)
{
	struct dirent *entry;
	DIR *d = opendir("/proc");

	while (d && list->n < MAX_PATHS && (entry = readdir(d))) {
		struct spur_error ignored = {0};
		const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid > 0)
			loader_of_process(pid, m->world->arena, list, &ignored);
	}
	if (d)
		closedir(d);
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

int user_binaries(struct match *m, const char *word, struct paths *list)
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

const char *user_shown(const char *word, const char *path)
{
	return word && strchr(word, '/') && !is_glob(word) ? word : path;
}

/* ---- functions ------------------------------------------------------------------------- */

struct user_query {
	const char *binary; /* NULL: the traced program */
	bool cpp;
	const char *function;
	const char *path, *shown;
	const struct binary *b;
	uint64_t offset, address;
};

static int add_function(struct match *m, const struct user_query *q, const struct function *f)
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
		ret = add_function(m, q, &found.at[i]);
	vec_free(&found);
	return ret;
}

/* In a file that is no ELF, which a program maps and runs, an address is where in the file. */
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

/* ---- lists ----------------------------------------------------------------------------- */

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

/* ---- words ----------------------------------------------------------------------------- */

/* Parameters of a function of C++ are not compared: "f(int)" means all functions f. */
static int without_parameters(struct match *m, struct user_query *q)
{
	const char *open = strchr(q->function, '(');

	if (!q->cpp || !open || open == q->function)
		return 0;
	q->function = arena_strndup(m->world->arena, q->function, (size_t)(open - q->function));
	return q->function ? 0 : match_no_memory(m);
}

static int read_words(struct match *m, struct user_query *q)
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

static int match_binary(struct match *m, struct user_query *q, bool quiet)
{
	struct spur_error err = {0};
	struct binary *b;
	int ret = binary_open_debug(q->path, m->world->debuginfo, &b, &err);

	if ((ret == -EBADMSG || ret == -ENOTSUP) && !q->function) {
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

	for (size_t i = 0; binary && i < sizeof(names) / sizeof(names[0]); i++)
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

	/* Of several binaries not each needs to have the function. */
	if (paths.n > 1)
		m->quiet = true;
	for (size_t i = 0; i < paths.n && (!ret || ret == -ENOENT); i++) {
		q->path = paths.at[i];
		q->shown = user_shown(q->binary, q->path);
		ret = match_binary(m, q, paths.n > 1);
	}
	m->quiet = quiet;
	if (paths.n > 1 && (!ret || ret == -ENOENT))
		ret = m->to->n > before ? 0
					: match_missing(m, "No matches for %s %s:%s.",
							m->provider->name, q->binary, q->function);
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
	ret = read_words(m, &q);
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
