// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur convert`: rewrites a file with another version or compression. */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "cli/cli.h"
#include "dat/copy.h"
#include "dat/dat.h"
#include "import/sources.h"

struct convert_options {
	const char *input, *output;
	int64_t version;
	const char *compression;
	bool progress, force;
};

#define AT(field) offsetof(struct convert_options, field)

static const struct opt opts[] = {
	{'i', NULL, OPT_STRING, "FILE", "the file to read (trace.dat)", AT(input),
	 .values = "FILE"},
	{'o', NULL, OPT_STRING, "FILE", "the file to write; may replace a recording", AT(output),
	 .values = "FILE"},
	{0, "file-version", OPT_NUMBER, "N", "6 or 7 (the default)", AT(version), .values = "6 7"},
	{0, "compression", OPT_STRING, "NAME", "none, zlib, zstd, or any: the best (the default)",
	 AT(compression), .values = "any none zlib zstd"},
	{0, "force", OPT_FLAG, NULL, "write even if that replaces a recording", AT(force)},
	{0, "progress", OPT_FLAG, NULL, "show progress on standard error", AT(progress)},
};

static bool check_options(struct convert_options *o, int others, char **argv)
{
	const char *problem = NULL;

	if (others > 1 || (others && o->output))
		problem = "convert writes one file";
	else if (!others && !o->output)
		problem = "the file to write is missing: spur convert -i INPUT OUTPUT";
	else if (o->version != 6 && o->version != 7)
		problem = "--file-version: 6 or 7";
	else if (o->version == 6 && o->compression && strcmp(o->compression, "none") != 0 &&
		 strcmp(o->compression, "any") != 0)
		problem = "version 6 has no compression; leave out --compression, or "
			  "--file-version=6";
	if (problem) {
		cli_error("%s", problem);
		return false;
	}
	if (others)
		o->output = argv[0];
	if (!o->input)
		o->input = "trace.dat";
	if (!o->compression || o->version == 6)
		o->compression = o->version == 6 ? "none" : "any";
	return true;
}

static int convert(const struct convert_options *o, struct dat *d)
{
	struct progress progress;
	struct dat_convert how = {
		.version = (unsigned int)o->version,
		.compression = o->compression,
		.job = progress_job(&progress, o->progress),
	};
	struct spur_error err = {0};
	int rc, status;

	cli_catch_signals();
	rc = dat_convert(d, o->output, &how, &err);
	progress_end(&progress);
	status = cli_result(rc, o->output, &err);
	return status == SPUR_OK ? cli_damage(d) : status;
}

static int run(int argc, char **argv)
{
	struct convert_options o = {.version = 7};
	int others = opts_parse(&command_convert, &o, argc, argv);
	struct spur_error err = {0};
	struct dat *d;
	int status;

	if (others < 0)
		return others == -ECANCELED ? SPUR_OK : SPUR_USAGE;
	if (!check_options(&o, others, argv))
		return SPUR_USAGE;
	status = others && !o.force
			 ? cli_spare(o.output, "-i names the file to read; " SOURCE_FORCE)
			 : SPUR_OK;
	if (status != SPUR_OK)
		return status;
	if (source_open(o.input, &d, &err) < 0)
		return cli_fail(&err);
	status = convert(&o, d);
	dat_close(d);
	return status;
}

const struct command command_convert = {
	.name = "convert",
	.summary = "rewrite a trace with another file version or compression",
	.usage = "[options] OUTPUT",
	.opts = opts,
	.nr_opts = ARRAY_SIZE(opts),
	.run = run,
};
