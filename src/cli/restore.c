// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur restore`: what a crash has left becomes a trace again. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/live.h"
#include "dat/dat.h"
#include "dat/restore.h"
#include "dat/tracing.h"
#include "dat/write.h"
#include "import/sources.h"

#define DEFAULT_FILE	"trace.dat"
#define DEFAULT_PARTIAL "trace-partial.dat"

struct restore_options {
	bool create, progress, force;
	const char *input, *output, *tracing, *kallsyms;
};

#define AT(field) offsetof(struct restore_options, field)

static const struct opt opts[] = {
	{'o', NULL, OPT_FILE, "FILE", "the file to write (trace.dat; with -c trace-partial.dat)",
	 AT(output)},
	{0, "force", OPT_FLAG, NULL, "write even if that replaces a recording", AT(force)},
	{'i', NULL, OPT_FILE, "FILE", "a file of the same machine (made by -c) for its formats",
	 AT(input)},
	{'c', NULL, OPT_FLAG, NULL, "only write a file with this machine's formats, for -i",
	 AT(create)},
	{'t', NULL, OPT_FILE, "DIR", "a copy of a machine's tracing directory, for its formats",
	 AT(tracing)},
	{'k', NULL, OPT_FILE, "FILE", "a copy of a machine's /proc/kallsyms", AT(kallsyms)},
	{0, "progress", OPT_FLAG, NULL, "show progress on standard error", AT(progress)},
};

static int restore_trace(const struct restore_options *o, const char *path)
{
	struct progress progress;
	struct dat_restore r = {.output = o->output, .job = progress_job(&progress, o->progress)};
	struct spur_error err = {0};
	int rc, status;

	cli_catch_signals();
	rc = dat_restore_file(path, &r, &err);
	progress_end(&progress);
	status = cli_result(rc, path, &err);
	if (rc < 0)
		return status;
	/* An incomplete file is what one restores; a corrupt one is an error. */
	if (r.damage == -EBADMSG) {
		cli_error("%s: restored what could be read; %s", o->output ? o->output : path,
			  r.damage_text);
		return SPUR_CORRUPT;
	}
	if (r.done == DAT_RESTORED_NOTHING)
		cli_printf("%s: is complete\n", path);
	else if (r.damage)
		cli_printf("%s: restored; before, %s\n", o->output ? o->output : path,
			   r.damage_text);
	else
		cli_printf("%s: restored\n", o->output ? o->output : path);
	return SPUR_OK;
}

/* ---- what describes the data ---- */

/* Where formats, symbols and names come from: a file, or a machine. */
struct described {
	struct dat *file;
	struct dat_machine machine;
	struct dat_contents contents;
};

static int ask_machine(struct described *s, const struct restore_options *o, struct spur_error *err)
{
	const char *tracing = o->tracing;
	struct tracefs fs;
	int rc = 0;

	if (!tracing) {
		rc = tracefs_find(&fs, err);
		if (rc == 0)
			live_clean(&fs, false);
		tracing = fs.path;
	}
	if (rc == 0)
		rc = dat_machine_read(&s->machine, tracing, o->kallsyms, !tracefs_is_live(tracing),
				      err);
	s->contents = s->machine.contents;
	return rc;
}

static int open_source(struct described *s, const struct restore_options *o, struct spur_error *err)
{
	int rc;

	if (!o->input)
		return ask_machine(s, o, err);
	rc = dat_open(o->input, NULL, &s->file, err);
	return rc == 0 ? dat_contents_of(s->file, &s->contents, err) : rc;
}

/* ---- pages without a file ---- */

/* Says which of the files had more than pages in them. */
static int print_pages(const char *output, const struct dat_leftover *files, size_t n)
{
	uint64_t pages = 0;
	int status = SPUR_OK;

	for (size_t i = 0; i < n; i++) {
		pages += files[i].pages;
		if (!files[i].bad)
			continue;
		cli_error("%s: %llu of %llu pages make no sense and were left out", files[i].path,
			  (unsigned long long)files[i].bad,
			  (unsigned long long)(files[i].bad + files[i].pages));
		status = SPUR_CORRUPT;
	}
	cli_printf("%s: restored from %zu files, %llu pages\n", output, n,
		   (unsigned long long)pages);
	return status;
}

static int write_pages(const struct restore_options *o, struct dat_leftover *files, size_t n)
{
	const char *output = o->output ? o->output : o->create ? DEFAULT_PARTIAL : DEFAULT_FILE;
	const struct dat_out_options options = {.version = 7};
	struct described s = {0};
	struct progress progress;
	struct dat_job job = progress_job(&progress, o->progress);
	struct spur_error err = {0};
	int rc, status = o->output || o->force ? SPUR_OK : cli_spare(output, SOURCE_FORCE);

	if (status != SPUR_OK)
		return status;
	/* The user has not chosen this name: a file of this name must not be lost. */
	if (!o->output && !o->force && !o->create && access(output, F_OK) == 0)
		return cli_refused("%s exists; -o %s replaces it", output, output);
	cli_catch_signals();
	rc = open_source(&s, o, &err);
	if (rc == 0)
		rc = dat_restore_pages(output, &options, &s.contents, files, n, &job, &err);
	progress_end(&progress);
	dat_close(s.file);
	dat_machine_free(&s.machine);
	if (rc < 0)
		return cli_result(rc, output, &err);
	return n ? print_pages(output, files, n) : SPUR_OK;
}

static int restore_pages(const struct restore_options *o, int n, char **argv)
{
	struct dat_leftover *files = calloc((size_t)n + 1, sizeof(*files));
	struct spur_error err = {0};
	struct arena arena;
	int status;

	if (!files)
		return cli_refused("out of memory");
	arena_init(&arena, 16u << 20);
	for (int i = 0; i < n; i++)
		files[i].path = argv[i];
	if (dat_leftovers_sort(files, (size_t)n, &arena, &err) < 0)
		status = cli_fail(&err);
	else
		status = write_pages(o, files, (size_t)n);
	arena_free(&arena);
	free(files);
	return status;
}

/* Only the name says that a file holds pages; with another name the user must confirm it. */
static bool all_leftovers(int n, char **argv)
{
	for (int i = 0; i < n; i++)
		if (access(argv[i], F_OK) == 0 && !dat_leftover_is_called(argv[i]))
			return false;
	return true;
}

static const char *find_conflict(const struct restore_options *o, int others, char **argv)
{
	int traces = 0;

	for (int i = 0; i < others; i++)
		traces += dat_restore_is_trace(argv[i]);
	if (o->create && o->input)
		return "-c and -i contradict each other";
	if (o->create && others)
		return "-c takes no files";
	if (o->input && (o->tracing || o->kallsyms))
		return "-i has the formats and symbols: not with -t or -k";
	if (!traces && !o->output && !o->input && !o->tracing && !all_leftovers(others, argv))
		return "neither a trace nor called .cpu0 and so on; say with -o that it holds "
		       "pages";
	if (traces && others > 1)
		return "one trace at a time, or the files of the CPUs";
	if (traces && (o->input || o->tracing || o->kallsyms))
		return "a trace has its own formats: -i, -t and -k are for the files of CPUs";
	if (!others && !o->create && (o->input || o->tracing || o->kallsyms))
		return "the files of the CPUs are missing: trace.dat.cpu0 ...";
	return NULL;
}

static int run(void *options, int others, char **argv)
{
	const struct restore_options *o = options;
	const char *conflict = find_conflict(o, others, argv);

	if (conflict)
		return cli_wrong("%s", conflict);
	for (int i = 0; i < others; i++)
		if (cli_reads(o->output, argv[i]))
			return SPUR_USAGE;
	if (cli_reads(o->output, o->input) ||
	    (!others && !o->create && cli_reads(o->output, DEFAULT_FILE)))
		return SPUR_USAGE;
	if (others == 1 && dat_restore_is_trace(argv[0]))
		return restore_trace(o, argv[0]);
	if (others || o->create)
		return restore_pages(o, others, argv);
	if (access(DEFAULT_FILE, F_OK) == 0)
		return restore_trace(o, DEFAULT_FILE);
	return cli_wrong(
		"there is no %s; name the trace, or the files of the CPUs (trace.dat.cpu0 ...)",
		DEFAULT_FILE);
}

const struct command command_restore = {
	.name = "restore",
	.summary = "turn what a crash left behind into a trace",
	.usage = "[options] [TRACE | CPU-FILE...]",
	COMMAND_OPTS(opts, struct restore_options),
	.run = run,
};
