// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur sql`: questions about traces in SQL. */
#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/suggest.h"
#include "base/vec.h"
#include "cli/onefile.h"
#include "cli/sql.h"
#include "query/fleet/fleet.h"
#include "query/store.h"

#define AT(field) offsetof(struct sql, field)
#define MAX_NAME  128

static int check_param(void *options, const struct opt *o, const char *arg)
{
	if (!strchr(arg, '=') || *arg == '=')
		return opt_error(o, "NAME=VALUE, not '%s'", arg);
	return 0;
}

/* Settings of a server that --fleet asks. */
static const char *const settings[] = {"credentials", "tls", "ca", "timeout", "retries", "cluster"};

static int check_setting(void *options, const struct opt *o, const char *arg)
{
	struct suggest near = suggest_for(arg, strcspn(arg, "="));

	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		const size_t len = strlen(settings[i]);

		if (strncmp(arg, settings[i], len) == 0 && arg[len] == '=')
			return 0;
		suggest_try(&near, settings[i]);
	}
	return opt_error(o, "there is no setting '%.*s'%s", (int)strcspn(arg, "="), arg,
			 suggest_hint(&near));
}

static const struct opt opts[] = {
	{'i', NULL, OPT_FILE, "FILE", "a file to ask (trace.dat)", AT(input)},
	{'f', NULL, OPT_FILE, "FILE", "read the query from a file, - is standard input",
	 AT(script)},
	{'p', "param", OPT_LIST, "NAME=VALUE", "the value of :NAME in the query; may be repeated",
	 AT(params), check_param},
	{0, "list", OPT_FLAG, NULL, "list the saved queries", AT(list)},
	{0, NULL, OPT_GROUP, NULL, "How rows are shown"},
	{0, "table", OPT_FLAG, NULL, "aligned columns (the default)", AT(modes[SQL_TABLE])},
	{0, "csv", OPT_FLAG, NULL, "comma-separated values", AT(modes[SQL_CSV])},
	{0, "json", OPT_FLAG, NULL, "a JSON array of objects", AT(modes[SQL_JSON])},
	{0, "markdown", OPT_FLAG, NULL, "a Markdown table", AT(modes[SQL_MARKDOWN])},
	{0, "tabs", OPT_FLAG, NULL, "values separated by tabs", AT(modes[SQL_TABS])},
	{0, "no-header", OPT_CLEAR, NULL, "without the names of columns", AT(header)},
	{0, "timer", OPT_FLAG, NULL, "print how long each statement took", AT(timer)},
	{'q', "quiet", OPT_FLAG, NULL, "no progress and no remarks", AT(quiet)},
	{0, "threads", OPT_NUMBER, "N", "number of threads (one per CPU)", AT(threads)},
	{0, NULL, OPT_GROUP, NULL, "Asking many traces"},
	{0, "fleet", OPT_STRING, "FOLDER",
	 "all traces in a folder and below it, or clickhouse://HOST:PORT/DATABASE", AT(fleet),
	 .values = "FOLDER"},
	{'O', "set", OPT_LIST, "NAME=VALUE",
	 "of a server: credentials=FILE, tls=1, ca=FILE, timeout=SECONDS, retries=N", AT(settings),
	 check_setting},
	{0, NULL, OPT_GROUP, NULL, "Asking the running kernel"},
	{0, "live", OPT_DURATION, "TIME", "record for TIME what the query needs, and ask that",
	 AT(live)},
	{'e', NULL, OPT_LIST, "EVENT", "record these events, too; may be repeated", AT(events)},
};

#ifndef HAVE_SQLITE

static int run(void *options, int others, char **argv)
{
	return cli_refused("this program was built without SQLite, which 'spur sql' needs");
}

#else

/* ---- arguments ---- */

/* "NAME=FILE", unless there is a file of that very name. */
static const char *named_file(const char *arg, char *name, size_t cap)
{
	const size_t len = strspn(arg, SQL_NAME_CHARACTERS);

	if (!len || len >= cap || arg[len] != '=' || !arg[len + 1] || access(arg, F_OK) == 0 ||
	    isdigit((unsigned char)*arg))
		return NULL;
	memcpy(name, arg, len);
	name[len] = '\0';
	return arg + len + 1;
}

/*
 * A query has several words, or is a saved one or a dot command. A file may look like a query, but
 * it exists.
 */
static bool is_query(const char *arg)
{
	char name[MAX_NAME];
	const char *path = named_file(arg, name, sizeof(name));

	if (access(path ? path : arg, F_OK) == 0)
		return false;
	return *arg == '@' || strpbrk(arg, " \t\n;") ||
	       (*arg == '.' && isalpha((unsigned char)arg[1]));
}

static int add_trace(struct sql *s, struct spur_trace *t, const char *name)
{
	struct spur_error err = {0};
	if (!vec_add(&s->traces, &t)) {
		trace_close(t);
		return cli_refused("out of memory");
	}
	return query_add(s->session, t, name, &err) < 0 ? cli_fail(&err) : SPUR_OK;
}

static int add_file(struct sql *s, const char *arg)
{
	struct spur_error err = {0};
	struct spur_trace *t;
	char name[MAX_NAME];
	const char *path = named_file(arg, name, sizeof(name));

	if (trace_open(path ? path : arg, NULL, &t, &err) < 0)
		return cli_fail(&err);
	if (t->nr_buffers == 1 && !onefile_has_records(&t->buffers[0])) {
		trace_close(t);
		return SPUR_USAGE;
	}
	return add_trace(s, t, path ? name : NULL);
}

/* Removes the query from the arguments. Returns how many are left, or -1 after a message. */
static int take_query(struct sql *s, int others, char **argv)
{
	int files = 0;

	for (int i = 0; i < others; i++) {
		if (!is_query(argv[i])) {
			argv[files++] = argv[i];
			continue;
		}
		if (s->query || s->script) {
			cli_error("one query at a time: '%s' is a second one", argv[i]);
			return -1;
		}
		s->query = argv[i];
	}
	return files;
}

static const char *setting(const void *sql, const char *name)
{
	return sql_value(&((const struct sql *)sql)->settings, name);
}

static int open_fleet(struct sql *s, int files)
{
	const struct store_options store = {.address = s->fleet, .setting = setting, .arg = s};
	int64_t threads = s->threads;
	struct fleet_options opt = {.path = s->fleet};
	struct spur_error err = {0};

	if (files || s->input || s->live)
		return cli_wrong("--fleet asks the traces of a folder, and no others");
	if (query_is_store(s->fleet))
		return query_add_store(s->session, &store, &err) < 0 ? cli_fail(&err) : SPUR_OK;
	if (s->settings.n)
		return cli_wrong("-O is about a server, and '%s' is none", s->fleet);
	if (!cli_threads(&threads))
		return SPUR_USAGE;
	opt.threads = (unsigned int)threads;
	return query_add_fleet(s->session, &opt, &err) < 0 ? cli_fail(&err) : SPUR_OK;
}

static int open_files(struct sql *s, int files, char **argv)
{
	struct spur_trace *t = NULL;
	int status;

	if (s->fleet)
		return open_fleet(s, files);
	if (s->settings.n)
		return cli_wrong("-O is about the server of --fleet clickhouse://...");
	if (s->live) {
		if (files || s->input)
			return cli_wrong("--live asks the running kernel, not a file");
		status = sql_live(s, &t);
		return status == SPUR_OK ? add_trace(s, t, NULL) : status;
	}
	status = s->input ? add_file(s, s->input) : SPUR_OK;
	if (status == SPUR_OK && !s->input && !files)
		status = add_file(s, "trace.dat");
	for (int i = 0; status == SPUR_OK && i < files; i++)
		status = add_file(s, argv[i]);
	return status;
}

/* ---- asking ---- */

static void on_progress(void *arg, uint64_t done, uint64_t total)
{
	struct sql *s = arg;

	if (!s->quiet && isatty(STDERR_FILENO))
		progress_show(&s->progress, done, total);
}

static void on_note(void *arg, const char *text)
{
	struct sql *s = arg;

	progress_end(&s->progress);
	if (!s->quiet)
		cli_error("%s", text);
}

static int ask(struct sql *s)
{
	if (s->query && *s->query == '@')
		return sql_run_saved(s, s->query + 1);
	if (s->query)
		return sql_run_text(s, s->query, NULL);
	if (s->script)
		return sql_run_file(s, s->script);
	return isatty(STDIN_FILENO) ? sql_shell(s) : sql_run_file(s, "-");
}

static int run_session(struct sql *s, int files, char **argv)
{
	const struct query_options opt = {.stop = &cli_stop,
					  .threads = cli_scan_threads(s->threads),
					  .progress = on_progress,
					  .note = on_note,
					  .arg = s};
	struct spur_error err = {0};
	int status;

	if (query_open(&opt, &s->session, &err) < 0)
		return cli_fail(&err);
	cli_catch_signals();
	status = open_files(s, files, argv);
	progress_begin(&s->progress);
	if (status == SPUR_OK)
		status = ask(s);
	if (status == SPUR_OK && query_fleet_counts(s->session).incomplete)
		status = SPUR_INCOMPLETE;
	query_close(s->session);
	for (size_t i = 0; status == SPUR_OK && i < s->traces.n; i++)
		status = cli_damage(s->traces.at[i]->dat);
	vec_each (t, &s->traces)
		trace_close(*t);
	vec_free(&s->traces);
	return status;
}

static bool choose_mode(struct sql *s)
{
	int given = 0;

	for (int i = 0; i < NR_SQL_MODES; i++) {
		given += s->modes[i];
		if (s->modes[i])
			s->mode = (enum sql_mode)i;
	}
	return given <= 1 ||
	       cli_complain("rows are shown in one way: of --table, --csv, --json, --markdown and "
			    "--tabs only one can be given");
}

static int run(void *options, int others, char **argv)
{
	struct sql *s = options;
	int files;

	if (s->list) {
		sql_list_saved(s);
		return SPUR_OK;
	}
	if (!choose_mode(s) || (s->threads && !cli_threads(&s->threads)))
		return SPUR_USAGE;
	files = take_query(s, others, argv);
	return files < 0 ? SPUR_USAGE : run_session(s, files, argv);
}

#endif

const struct command command_sql = {
	.name = "sql",
	.summary = "ask questions in SQL",
	.usage = "[OPTION...] [--fleet FOLDER|ADDRESS | [NAME=]FILE...] [QUERY | @NAME]",
	COMMAND_OPTS(opts, struct sql),
	.defaults = &(const struct sql){.out_fd = STDOUT_FILENO, .header = true},
	.run = run,
};
