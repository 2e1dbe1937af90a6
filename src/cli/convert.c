// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur convert`: rewrites a file with another version or compression. */
#include <string.h>

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
	{'i', NULL, OPT_FILE, "FILE", "the file to read (trace.dat)", AT(input)},
	{'o', NULL, OPT_FILE, "FILE", "the file to write; may replace a recording", AT(output)},
	{0, "file-version", OPT_NUMBER, "N", "6 or 7 (the default)", AT(version), .values = "6 7"},
	{0, "compression", OPT_STRING, "NAME", "none, zlib, zstd, or any: the best (the default)",
	 AT(compression), .values = "any none zlib zstd"},
	{0, "force", OPT_FLAG, NULL, "write even if that replaces a recording", AT(force)},
	{0, "progress", OPT_FLAG, NULL, "show progress on standard error", AT(progress)},
};

static int check_options(struct convert_options *o, int others, char **argv)
{
	if (others > 1 || (others && o->output))
		return cli_wrong("convert writes one file");
	if (!others && !o->output)
		return cli_wrong("the file to write is missing: spur convert -i INPUT OUTPUT");
	if (o->version != 6 && o->version != 7)
		return cli_wrong("--file-version: 6 or 7");
	if (o->version == 6 && o->compression && strcmp(o->compression, "none") != 0 &&
	    strcmp(o->compression, "any") != 0)
		return cli_wrong("version 6 has no compression; leave out --compression, or "
				 "--file-version=6");
	if (others)
		o->output = argv[0];
	if (!o->compression || o->version == 6)
		o->compression = o->version == 6 ? "none" : "any";
	if (cli_reads_folder(o->output, o->input))
		return SPUR_USAGE;
	return others && !o->force
		       ? cli_spare(o->output, "-i names the file to read; " SOURCE_FORCE)
		       : SPUR_OK;
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

static int run(void *options, int others, char **argv)
{
	struct convert_options *o = options;
	struct spur_error err = {0};
	struct dat *d;
	int status = check_options(o, others, argv);

	if (status != SPUR_OK)
		return status;
	if (source_open(o->input, &d, &err) < 0)
		return cli_fail(&err);
	status = convert(o, d);
	dat_close(d);
	return status;
}

const struct command command_convert = {
	.name = "convert",
	.summary = "rewrite a trace with another file version or compression",
	.usage = "[options] OUTPUT",
	COMMAND_OPTS(opts, struct convert_options),
	.defaults = &(const struct convert_options){.input = "trace.dat", .version = 7},
	.run = run,
};
