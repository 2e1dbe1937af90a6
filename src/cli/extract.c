// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur extract`: writes what is in the kernel's buffers into a file. */
#include <errno.h>
#include <stdio.h>

#include "base/array.h"
#include "base/vec.h"
#include "cli/live.h"
#include "import/sources.h"
#include "record/session.h"

struct extract_command {
	struct picks picks;
	struct extract_options extract;
	int64_t version;
	bool quiet, force;
};

#define AT(field) offsetof(struct extract_command, field)

static int take_option(void *options, const struct opt *opt, const char *arg)
{
	struct extract_command *o = options;

	return request_add_name(&o->extract.options, arg) ? 0 : opt_error(opt, "out of memory");
}

static const struct opt extract_opts[] = {
	{'o', NULL, OPT_STRING, "FILE", "the file to write (trace.dat)", AT(extract.output),
	 .values = "FILE"},
	{0, "force", OPT_FLAG, NULL, "write even if that replaces a recording", AT(force)},
	{'B', NULL, OPT_CALL, "NAME", "this instance; may be given several times", AT(picks),
	 live_take_buffer},
	{'a', NULL, OPT_CALL, NULL, "all instances, but not the top buffer", AT(picks),
	 live_take_all},
	{'t', NULL, OPT_CALL, NULL, "the top buffer too, with -B or -a", AT(picks), live_take_top},
	{'s', NULL, OPT_FLAG, NULL, "the snapshot instead of the buffer", AT(extract.snapshot)},
	{'p', NULL, OPT_STRING, "TRACER", "the text of a latency tracer: wakeup, irqsoff, …",
	 AT(extract.tracer)},
	{'O', NULL, OPT_CALL, "OPTION", "with -p: an option of ftrace; with the prefix 'no': off",
	 0, take_option},
	{0, "date", OPT_FLAG, NULL, "store the time of day", AT(extract.date)},
	{0, "compression", OPT_STRING, "NAME", "zstd, zlib, any or none (none)",
	 AT(extract.file.compression), .values = "any none zstd zlib"},
	{0, "file-version", OPT_NUMBER, "N", "7 (the default) or 6", AT(version), .values = "6 7"},
	{'q', "quiet", OPT_FLAG, NULL, "print only errors", AT(quiet)},
	{0, "verbose", OPT_CALL, "[LEVEL]", "does nothing; accepted because trace-cmd has it", 0,
	 opt_ignore},
};

static void print_result(const struct session_result *res)
{
	char bytes[32], events[32];

	if (!res->file[0])
		return;
	fprintf(stderr, "%s: about %s events, %s\n", res->file,
		amount_count(events, sizeof(events), (double)res->last.events),
		amount_bytes(bytes, sizeof(bytes), res->last.bytes));
}

static int extract(const struct tracefs *fs, struct extract_command *o)
{
	struct session_result res = {0};
	struct spur_error err = {0};
	struct targets targets;
	int status = live_targets(fs, &o->picks, &targets), rc = 0;

	if (status != SPUR_OK)
		return status;
	vec_each (t, &targets) {
		if (!t->instance)
			o->extract.top = true;
		else if (!request_add_name(&o->extract.instances, t->instance))
			rc = -ENOMEM;
	}
	if (rc == 0)
		rc = extract_run(fs, &o->extract, &res, &err);
	live_targets_free(&targets);
	if (!o->quiet)
		print_result(&res);
	return rc < 0 ? cli_result(rc, "extracting", &err) : SPUR_OK;
}

static int check(struct extract_command *o, int others)
{
	if (others > 0) {
		cli_error("extract takes no arguments; an instance is named with -B");
		return SPUR_USAGE;
	}
	if (o->version != 6 && o->version != 7) {
		cli_error("--file-version: 6 or 7");
		return SPUR_USAGE;
	}
	if (o->extract.options.n && !o->extract.tracer) {
		cli_error("-O: goes with -p");
		return SPUR_USAGE;
	}
	o->extract.file.version = (unsigned int)o->version;
	if (o->extract.output)
		return SPUR_OK;
	o->extract.output = "trace.dat";
	return o->force ? SPUR_OK : cli_spare(o->extract.output, SOURCE_FORCE);
}

static int run_extract(int argc, char **argv)
{
	struct extract_command o = {.version = 7};
	int others = opts_parse(&command_extract, &o, argc, argv);
	int status = others == -ECANCELED ? SPUR_OK : SPUR_USAGE;
	struct tracefs fs;

	if (others >= 0)
		status = check(&o, others);
	if (others >= 0 && status == SPUR_OK)
		status = live_open(&fs);
	if (others >= 0 && status == SPUR_OK)
		status = extract(&fs, &o);
	vec_free(&o.picks);
	vec_free(&o.extract.options);
	vec_free(&o.extract.instances);
	return status;
}

const struct command command_extract = {
	.name = "extract",
	.summary = "write the kernel's buffers into a file",
	.usage = "[OPTION...]",
	.opts = extract_opts,
	.nr_opts = ARRAY_SIZE(extract_opts),
	.run = run_extract,
};
