// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The name kernelshark: opens files in the viewer, by KernelShark's command line.
 *
 * KernelShark stores a session as JSON. Only the names of its trace files are used, not the view.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/jsonin.h"
#include "base/strings.h"
#include "base/vec.h"
#include "cli/cli.h"

#define SESSION_LIMIT (16u << 20)

struct shark_options {
	const char *input, *session;
	struct strings files;	 /* arguments of the viewer */
	struct string_refs more; /* -a */
	bool version, last;
};

#define AT(field) offsetof(struct shark_options, field)

static int take_unused(void *options, const struct opt *opt, const char *arg)
{
	if (opt->letter)
		cli_error("-%c %s: plugins of KernelShark are not used", opt->letter, arg);
	else
		cli_error("--%s %s: the page shows all; rows are chosen there", opt->name, arg);
	return 0;
}

static const struct opt opts[] = {
	{'i', NULL, OPT_FILE, "FILE", "the file to open (trace.dat)", AT(input)},
	{'a', NULL, OPT_LIST, "FILE", "another file, on the same timeline", AT(more),
	 .values = "FILE"},
	{'s', NULL, OPT_FILE, "SESSION", "open the files of a session", AT(session)},
	{'l', NULL, OPT_FLAG, NULL, "open the files of the last session", AT(last)},
	{'p', NULL, OPT_CALL, "PLUGIN", "accepted; plugins are not used", .call = take_unused},
	{'u', NULL, OPT_CALL, "PLUGIN", "accepted; plugins are not used", .call = take_unused},
	{0, "cpu", OPT_CALL, "LIST", "accepted; rows are chosen in the page", .call = take_unused},
	{0, "pid", OPT_CALL, "LIST", "accepted; rows are chosen in the page", .call = take_unused},
	{0, "task", OPT_CALL, "LIST", "accepted; rows are chosen in the page", .call = take_unused},
	{'v', NULL, OPT_FLAG, NULL, "show the version", AT(version)},
};

static int add_file(struct shark_options *o, const char *path)
{
	return strings_add(&o->files, path) ? 0 : -ENOMEM;
}

/* ---- sessions ---- */

/* {"file": "/path/trace.dat", …}, in the member of that name. */
static int add_data(struct shark_options *o, const struct json_value *of, const char *name)
{
	struct json_value data, file;
	scoped_buf path = buf_new(1u << 16);
	int rc = 0;

	if (!json_member(of, name, &data) || !json_member(&data, "file", &file))
		return 0;
	if (json_text(&file, &path) && path.len)
		rc = add_file(o, buf_str(&path));
	return rc;
}

/*
 * Version 1 has one file in "Data", version 2 one in each of the "data streams". Returns the exit
 * status.
 */
static int add_session(struct shark_options *o, const char *path)
{
	struct json_value all, streams, stream;
	struct spur_error err = {0};
	scoped_buf text = buf_new(SESSION_LIMIT);
	size_t pos = 0;
	int rc;

	if (file_read(path, &text, &err) < 0)
		return cli_fail(&err);
	if (!json_parse(text.data, text.len, &all)) {
		cli_error("%s: it is no session of KernelShark", path);
		return SPUR_CORRUPT;
	}
	rc = add_data(o, &all, "Data");
	if (json_member(&all, "data streams", &streams))
		while (rc == 0 && json_next(&streams, &pos, &stream))
			rc = add_data(o, &stream, "data");
	if (rc < 0)
		return SPUR_ENVIRONMENT;
	if (!o->files.n) {
		cli_error("%s: the session names no trace file", path);
		return SPUR_INCOMPLETE;
	}
	cli_error("%s: only the session's files are opened, not its view", path);
	return SPUR_OK;
}

/* Where KernelShark stores its last session. */
static int add_last_session(struct shark_options *o)
{
	const char *own = getenv("KS_USER_CACHE_DIR"), *home = getenv("HOME");
	char *path = NULL;
	int rc, status;

	rc = own && *own
		     ? asprintf(&path, "%s/lastsession.json", own)
		     : asprintf(&path, "%s/.cache/kernelshark/lastsession.json", home ? home : "");
	if (rc < 0)
		return SPUR_ENVIRONMENT;
	status = add_session(o, path);
	free(path);
	return status;
}

/* ---- the command line ---- */

/* Returns the exit status. */
static int find_files(struct shark_options *o, int others, char **argv)
{
	int rc = 0, status = SPUR_OK;

	if (o->session)
		status = add_session(o, o->session);
	else if (o->last)
		status = add_last_session(o);
	else if (o->input || others)
		rc = add_file(o, o->input ? o->input : argv[0]);
	else if (o->more.n)
		rc = add_file(o, "trace.dat");
	vec_each (it, &o->more)
		if (rc == 0)
			rc = add_file(o, *it);
	return rc < 0 ? SPUR_ENVIRONMENT : status;
}

/* "view FILE..." */
static int open_viewer(struct shark_options *o)
{
	char **argv = calloc(o->files.n + 3, sizeof(*argv));
	int argc = 0, status;

	if (!argv)
		return SPUR_ENVIRONMENT;
	argv[argc++] = (char *)command_view.name;
	/* Words that begin with a dash are files here, too. */
	argv[argc++] = "--";
	vec_each (it, &o->files)
		argv[argc++] = *it;
	status = command_run(&command_view, argc, argv);
	free(argv);
	return status;
}

static int run(void *options, int others, char **argv)
{
	struct shark_options *o = options;
	int status;

	if (o->version) {
		printf("kernelshark - spur %s\n", SPUR_VERSION);
		return SPUR_OK;
	}
	if (others > 1 || (others == 1 && o->input))
		return cli_wrong("kernelshark opens one file; others are named with -a");
	status = find_files(o, others, argv);
	return status == SPUR_OK ? open_viewer(o) : status;
}

static void release(void *options)
{
	strings_free(&((struct shark_options *)options)->files);
}

const struct command kernelshark_command = {
	.name = "kernelshark",
	.summary = "look at traces in a browser, by KernelShark's command line",
	.usage = "[OPTION...] [FILE]",
	COMMAND_OPTS(opts, struct shark_options),
	.run = run,
	.release = release,
	.page = "view",
};
