// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur import`: traces of other tools become trace.dat files. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/newfile.h"
#include "cli/cli.h"
#include "import/sources.h"

#define COPY_STEP (256u << 10)

struct import_options {
	const char *input, *output, *from;
	int64_t version;
	const char *compression;
	bool list, quiet, progress, force;
	char *made_name; /* of the output, when none was given */
};

#define AT(field) offsetof(struct import_options, field)

static const struct opt opts[] = {
	{'i', NULL, OPT_FILE, "FILE", "the file or folder to read, \"-\" is standard input",
	 AT(input)},
	{'o', NULL, OPT_FILE, "FILE", "the trace.dat to write", AT(output)},
	{0, "from", OPT_STRING, "KIND", "what it is, instead of finding out; see --list", AT(from),
	 .values = "perf ctf text"},
	{0, "list", OPT_FLAG, NULL, "list what can be imported", AT(list)},
	{0, "file-version", OPT_NUMBER, "N", "6 or 7 (the default)", AT(version), .values = "6 7"},
	{0, "compression", OPT_STRING, "NAME", "none, zlib, zstd, or any: the best (the default)",
	 AT(compression), .values = "any none zlib zstd"},
	{0, "force", OPT_FLAG, NULL, "write even if that replaces a recording", AT(force)},
	{0, "progress", OPT_FLAG, NULL, "show progress on standard error", AT(progress)},
	{'q', "quiet", OPT_FLAG, NULL, "do not say what was imported", AT(quiet)},
};

static int check_options(struct import_options *o, int others, char **argv)
{
	if (others > 1 || (others && o->input))
		return cli_wrong("import reads one file or folder");
	if (!others && !o->input)
		return cli_wrong("what is to be imported? spur import FILE");
	if (o->version != 6 && o->version != 7)
		return cli_wrong("--file-version: 6 or 7");
	if (o->output && strcmp(o->output, "-") == 0)
		return cli_wrong("-o -: a trace.dat cannot be written to standard output");
	if (others)
		o->input = argv[0];
	if (!o->compression)
		o->compression = o->version == 6 ? "none" : "any";
	return SPUR_OK;
}

/* Sources seek in their file, and a pipe cannot. */
static int copy_input(int fd, struct spur_error *err)
{
	int to = file_nameless(file_temp()), rc = 0;
	char *step = malloc(COPY_STEP);
	ssize_t n = 0;

	if (to < 0 || !step)
		rc = to < 0 ? to : -ENOMEM;
	while (rc == 0 && ((n = read(fd, step, COPY_STEP)) > 0 || (n < 0 && errno == EINTR)))
		rc = n > 0 ? file_write_fd(to, step, (size_t)n) : 0;
	if (rc == 0 && n < 0)
		rc = -errno;
	free(step);
	if (rc == 0)
		return to;
	if (to >= 0)
		close(to);
	return error_sys(err, rc, "standard input");
}

static int open_input(const struct import_options *o, struct spur_error *err)
{
	int fd;

	if (strcmp(o->input, "-") == 0)
		return copy_input(STDIN_FILENO, err);
	fd = open(o->input, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? error_sys(err, -errno, "%s", o->input) : fd;
}

/* What is wrong with the input is always printed, notes unless -q is given. */
static void print_result(const struct import_options *o, const struct source_result *r)
{
	scoped_buf text = buf_new(1024);

	buf_printf(&text, "%" PRIu64 " events", r->events);
	if (r->lost)
		buf_printf(&text, ", %" PRIu64 " lost", r->lost);
	if (r->cut)
		buf_printf(&text, ", %" PRIu64 " of them too long and cut", r->cut);
	if (*r->remark && !r->damage)
		buf_printf(&text, "; %s", r->remark);
	if (!o->quiet)
		cli_error("%s: %s", o->output, buf_str(&text));
	if (r->damage)
		cli_error("%s: %s", o->input, r->remark);
}

static int convert(struct import_options *o, const struct import_source *s, int from, int *damage,
		   struct spur_error *err)
{
	struct progress progress;
	const struct source_job job = {
		.path = strcmp(o->input, "-") == 0 ? "standard input" : o->input,
		.source = s,
		.out = {.version = (unsigned int)o->version, .compression = o->compression},
		.job = progress_job(&progress, o->progress),
	};
	struct source_result result = {0};
	struct newfile file;
	int to, rc;

	if (!s && !source_of(from))
		return error_set(err, -EBADMSG,
				 "%s: this is none of the traces that 'spur import --list' names",
				 job.path);
	if (file_is_same(o->input, o->output))
		return error_set(err, -EINVAL, "%s is the input: name another output with -o",
				 o->output);
	if (file_is_inside(o->output, o->input))
		return error_set(err, -EINVAL, "%s is in the input: name another output with -o",
				 o->output);
	to = newfile_create(&file, o->output, err);
	if (to < 0)
		return to;
	cli_catch_signals();
	rc = source_convert(&job, from, to, o->output, &result, err);
	progress_end(&progress);
	if (rc < 0)
		newfile_drop(&file);
	else
		rc = newfile_keep(&file, err);
	if (rc < 0)
		return rc;
	print_result(o, &result);
	*damage = result.damage;
	return 0;
}

static int import(struct import_options *o)
{
	struct spur_error err = {0};
	const struct import_source *s = o->from ? source_find(o->from, &err) : NULL;
	const bool named = o->output || o->force, piped = strcmp(o->input, "-") == 0;
	int from, rc, damage = 0, status;

	if (o->from && !s)
		return cli_fail(&err);
	if (!o->output)
		o->output =
			piped ? "trace.dat" : (o->made_name = file_other_ending(o->input, ".dat"));
	if (!o->output)
		return SPUR_ENVIRONMENT;
	status = named || file_is_same(o->input, o->output) ? SPUR_OK
							    : cli_spare(o->output, SOURCE_FORCE);
	if (status != SPUR_OK)
		return status;
	from = open_input(o, &err);
	if (from < 0)
		return cli_fail(&err);
	rc = convert(o, s, from, &damage, &err);
	close(from);
	return rc == 0 && damage ? (int)spur_error_status(damage) : cli_result(rc, o->output, &err);
}

static int run(void *options, int others, char **argv)
{
	struct import_options *o = options;
	int status;

	for (size_t i = 0; o->list && sources[i]; i++)
		printf("%-12s %s\n", sources[i]->name, sources[i]->about);
	if (o->list)
		return SPUR_OK;
	status = check_options(o, others, argv);
	return status == SPUR_OK ? import(o) : status;
}

static void release(void *options)
{
	free(((struct import_options *)options)->made_name);
}

const struct command command_import = {
	.name = "import",
	.summary = "turn another tool's recording into a trace.dat",
	.usage = "[options] FILE",
	COMMAND_OPTS(opts, struct import_options),
	.defaults = &(const struct import_options){.version = 7},
	.run = run,
	.release = release,
};
