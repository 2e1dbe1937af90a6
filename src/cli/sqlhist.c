// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur sqlhist`: SQL into histograms and synthetic events of the kernel. */
#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"
#include "cli/live.h"
#include "tracefs/sqlhist/sqlhist.h"

#define TEXT_LIMIT (4u << 20)

struct sqlhist_options {
	const char *name;
	const char *dir;
	const char *file;
	const char *on_max, *on_change;
	const char *instance;
	bool execute, snapshot, both;
	struct strings save;
};

static int take_save(void *options, const struct opt *opt, const char *arg)
{
	struct sqlhist_options *o = options;

	while (*arg) {
		size_t n = strcspn(arg, ",");

		if (n && !strings_add_bytes(&o->save, arg, n))
			return -ENOMEM;
		arg += n + (arg[n] == ',');
	}
	return o->save.n ? 0 : opt_error(opt, "needs fields of the second event: FIELD,FIELD");
}

#define AT(field) offsetof(struct sqlhist_options, field)

static const struct opt opts[] = {
	{'n', "name", OPT_STRING, "NAME", "name of the synthetic event (Anonymous)", AT(name)},
	{'e', "execute", OPT_FLAG, NULL, "run the commands, not only print them", AT(execute)},
	{'f', "file", OPT_FILE, "FILE", "read the query from a file, \"-\" for standard input",
	 AT(file)},
	{'m', "max", OPT_STRING, "COLUMN", "act when a column has a new maximum", AT(on_max)},
	{'c', "change", OPT_STRING, "COLUMN", "act when a column changes", AT(on_change)},
	{'s', "snapshot", OPT_FLAG, NULL, "with -m or -c: take a snapshot instead of the event",
	 AT(snapshot)},
	{'T', NULL, OPT_FLAG, NULL, "with -m or -c: the event and a snapshot", AT(both)},
	{'S', "save", OPT_CALL, "FIELDS", "with -m or -c: save fields of the second event",
	 .call = take_save},
	{'B', "buffer", OPT_STRING, "NAME", "make the histogram in this instance", AT(instance)},
	{'t', NULL, OPT_FILE, "DIR", "a tracefs, or a copy of its events, in another place",
	 AT(dir)},
};

/* ---- the query ---- */

static int read_query(struct buf *query, const char *path)
{
	struct spur_error err = {0};

	if (file_read(strcmp(path, "-") == 0 ? "/dev/stdin" : path, query, &err) < 0)
		return cli_fail(&err);
	if (memchr(query->data, 0, query->len))
		return cli_wrong("%s: that is no query", path);
	return SPUR_OK;
}

static int get_query(struct buf *query, const struct sqlhist_options *o, int others, char **argv)
{
	if (o->file && others)
		return cli_wrong("a query in a file and one on the command line");
	if (o->file)
		return read_query(query, o->file);
	if (!others)
		return cli_wrong("sqlhist needs a query: 'SELECT ... FROM event'");
	for (int i = 0; i < others; i++)
		buf_printf(query, "%s%s", i ? " " : "", argv[i]);
	return SPUR_OK;
}

/* ---- tracefs ---- */

/* The kernel that is set up (or would be), and where events are described. */
struct places {
	struct tracefs driven, described;
	bool known; /* events are described at all */
};

static bool is_tracefs(const char *path)
{
	struct statfs fs;

	return statfs(path, &fs) == 0 && fs.f_type == TRACEFS_MAGIC;
}

static int find_places(struct places *p, const struct sqlhist_options *o)
{
	struct spur_error err = {0};
	int rc = 0;

	if (o->dir && snprintf(p->described.path, sizeof(p->described.path), "%s", o->dir) >=
			      (int)sizeof(p->described.path))
		return cli_wrong("-t: the name is too long");
	if (o->dir && is_tracefs(o->dir))
		p->driven = p->described;
	else
		rc = o->execute ? tracefs_find(&p->driven, &err) : tracefs_look(&p->driven, &err);
	if (rc < 0 && o->execute)
		return cli_fail(&err);
	if (o->execute)
		live_clean(&p->driven, false);
	p->known = o->dir || rc == 0;
	if (!o->dir)
		p->described = p->driven;
	if (rc == 0)
		return SPUR_OK;
	/* Printing what would be done needs no kernel that supports it. */
	snprintf(p->driven.path, sizeof(p->driven.path), "/sys/kernel/tracing");
	if (!p->known)
		cli_error("events are not checked: %s", err.text);
	return SPUR_OK;
}

/* A trigger file without a trigger lists the possible ones. */
static int check_kernel(const struct plan *p, const struct tracefs *fs, struct spur_error *err)
{
	const struct plan_step *last = &p->at[p->n - 1];
	scoped_buf text = buf_new(TEXT_LIMIT);
	int rc;

	if (p->n > 1 && !tracefs_has(fs, "", "dynamic_events"))
		return error_set(err, -ENODEV,
				 "this kernel has no synthetic events (CONFIG_SYNTH_EVENTS)");
	rc = tracefs_read(fs, "", last->file, &text, err);
	if (rc >= 0 && strstr(buf_str(&text), "Available triggers") &&
	    !strstr(buf_str(&text), " hist"))
		rc = error_set(err, -ENODEV,
			       "this kernel has no histograms (CONFIG_HIST_TRIGGERS)");
	return rc < 0 ? rc : 0;
}

/* Does all or, when something is refused, nothing. */
static int execute(const struct plan *p, const struct tracefs *fs, struct spur_error *err)
{
	if (check_kernel(p, fs, err) < 0)
		return err->code;
	for (size_t i = 0; i < p->n; i++) {
		const struct plan one = {.at = &p->at[i], .n = 1};
		int rc = plan_apply(&one, fs, NULL, err);

		if (rc == 0)
			continue;
		while (i-- > 0) {
			const struct plan_step *s = &p->at[i];

			if (s->kind == PLAN_INSTANCE)
				tracefs_remove_instance(fs, s->instance, NULL);
			else
				tracefs_write(fs, s->instance, s->file, TRACEFS_APPEND, s->back,
					      NULL);
		}
		return rc;
	}
	return 0;
}

static int show_mistake(const char *query, const struct sql_mistake *m,
			const struct spur_error *err)
{
	scoped_buf lines = buf_new(TEXT_LIMIT);

	cli_error("%s", err->text);
	sql_point(&lines, query, m);
	fwrite(lines.data, 1, lines.len, stderr);
	return (int)spur_error_status(err->code);
}

static int show_plan(const struct sqlhist_options *o, const struct plan *plan,
		     const struct tracefs *fs)
{
	struct spur_error err = {0};
	scoped_buf text = buf_new(TEXT_LIMIT);
	int rc;

	plan_show(plan, fs, &text);
	rc = cli_write(text.data, text.len);
	if (o->instance && plan->n && !*plan->at[plan->n - 1].instance)
		cli_error("-B is for histograms: a synthetic event belongs to all instances");
	if (rc < 0 || !o->execute)
		return cli_result(rc, "standard output", &err);
	if (execute(plan, fs, &err) == 0)
		return SPUR_OK;
	/* The query is fine, but this kernel refuses it. */
	cli_fail(&err);
	return SPUR_ENVIRONMENT;
}

static int run_query(const struct sqlhist_options *o, const char *query)
{
	struct places places = {0};
	struct sql_options opt = {
		.name = o->name,
		.instance = o->instance,
		.when = o->on_max      ? SQL_NEW_MAXIMUM
			: o->on_change ? SQL_CHANGE
				       : SQL_ALWAYS,
		.column = o->on_max ? o->on_max : o->on_change,
		.trace = o->both,
		.snapshot = o->both || o->snapshot,
		.save = (const char *const *)o->save.at,
		.nr_save = o->save.n,
	};
	struct sql_formats *formats = NULL;
	struct sql_mistake mistake;
	struct spur_error err = {0};
	struct sql_schema schema;
	struct plan plan;
	int status = find_places(&places, o);

	if (status != SPUR_OK)
		return status;
	if (places.known && sql_formats_open(&places.described, &formats, &err) < 0)
		return cli_fail(&err);
	if (formats)
		schema = sql_formats_schema(formats);
	opt.make_instance = o->instance && !tracefs_has(&places.driven, o->instance, "trace");
	plan_init(&plan);
	if (sql_plan(query, &opt, formats ? &schema : NULL, &plan, &mistake, &err) < 0)
		status = show_mistake(query, &mistake, &err);
	else
		status = show_plan(o, &plan, &places.driven);
	plan_free(&plan);
	sql_formats_close(formats);
	return status;
}

static int run(void *options, int others, char **argv)
{
	const struct sqlhist_options *o = options;
	scoped_buf query = buf_new(TEXT_LIMIT);
	int status;

	if (o->on_max && o->on_change)
		return cli_wrong("-m and -c do not go together");
	if (o->instance && (!*o->instance || *o->instance == '.' || strchr(o->instance, '/')))
		return cli_wrong("-B: '%s' is no name for an instance", o->instance);
	status = get_query(&query, o, others, argv);
	return status == SPUR_OK ? run_query(o, buf_str(&query)) : status;
}

static void release(void *options)
{
	strings_free(&((struct sqlhist_options *)options)->save);
}

const struct command command_sqlhist = {
	.name = "sqlhist",
	.summary = "make histograms and synthetic events of the kernel from SQL",
	.usage = "[options] 'SELECT ... FROM event [JOIN event ON ...] [WHERE ...]'",
	COMMAND_OPTS(opts, struct sqlhist_options),
	.defaults = &(const struct sqlhist_options){.name = "Anonymous"},
	.run = run,
	.release = release,
};
