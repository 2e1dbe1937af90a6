// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur extract`: writes what is in the kernel's buffers into a file. */
#include <errno.h>

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

static const struct opt extract_opts[] = {
	{'o', NULL, OPT_FILE, "FILE", "the file to write (trace.dat)", AT(extract.output)},
	{0, "force", OPT_FLAG, NULL, "write even if that replaces a recording", AT(force)},
	LIVE_BUFFER_OPTIONS(AT(picks)),
	{'s', NULL, OPT_FLAG, NULL, "the snapshot instead of the buffer", AT(extract.snapshot)},
	{'p', NULL, OPT_STRING, "TRACER", "the text of a latency tracer: wakeup, irqsoff, …",
	 AT(extract.tracer)},
	{'O', NULL, OPT_LIST, "OPTION", "with -p: an option of ftrace; with the prefix 'no': off",
	 AT(extract.options)},
	{0, "date", OPT_FLAG, NULL, "store the time of day", AT(extract.date)},
	{0, "compression", OPT_STRING, "NAME", "zstd, zlib, any or none (none)",
	 AT(extract.file.compression), .values = "any none zstd zlib"},
	{0, "file-version", OPT_NUMBER, "N", "7 (the default) or 6", AT(version), .values = "6 7"},
	{'q', "quiet", OPT_FLAG, NULL, "print only errors", AT(quiet)},
	{0, "verbose", OPT_IGNORED, "[LEVEL]", "does nothing; accepted because trace-cmd has it"},
};

static int extract(struct extract_command *o)
{
	struct session_result res = {0};
	struct spur_error err = {0};
	struct targets targets;
	struct tracefs fs;
	int status = live_targets(&fs, &o->picks, &targets), rc = 0;

	if (status != SPUR_OK)
		return status;
	vec_each (t, &targets) {
		if (!t->instance)
			o->extract.top = true;
		else if (!string_refs_add(&o->extract.instances, t->instance))
			rc = -ENOMEM;
	}
	if (rc == 0)
		rc = extract_run(&fs, &o->extract, &res, &err);
	live_targets_free(&targets);
	if (!o->quiet && res.file[0])
		cli_eprintf("%s: about %s events, %s\n", res.file,
			    amount_count((double)res.last.events).text,
			    amount_bytes(res.last.bytes).text);
	return rc < 0 ? cli_result(rc, "extracting", &err) : SPUR_OK;
}

static int check(struct extract_command *o)
{
	if (o->version != 6 && o->version != 7)
		return cli_wrong("--file-version: 6 or 7");
	if (o->extract.options.n && !o->extract.tracer)
		return cli_wrong("-O: goes with -p");
	o->extract.file.version = (unsigned int)o->version;
	if (o->extract.output)
		return SPUR_OK;
	o->extract.output = "trace.dat";
	return o->force ? SPUR_OK : cli_spare(o->extract.output, SOURCE_FORCE);
}

static int run_extract(void *options, int others, char **argv)
{
	const int status = check(options);

	return status == SPUR_OK ? extract(options) : status;
}

static void release(void *options)
{
	vec_free(&((struct extract_command *)options)->extract.instances);
}

const struct command command_extract = {
	.name = "extract",
	.summary = "write the kernel's buffers into a file",
	.usage = "[OPTION...]",
	COMMAND_OPTS(extract_opts, struct extract_command),
	.defaults = &(const struct extract_command){.version = 7},
	.run = run_extract,
	.release = release,
	.takes_nothing = LIVE_TAKES_NOTHING,
};
