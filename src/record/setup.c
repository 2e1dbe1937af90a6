// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The order of the steps for a buffer: stop it; settings that empty it (clock, sizes); functions;
 * the tracer; its options; tasks; events last. If the tracer was set before its functions, it would
 * trace all functions for a moment.
 */
#include "record/setup.h"

#include <dirent.h>
#include <errno.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/suggest.h"
#include "base/vec.h"
#include "record/session_state.h"
#include "tracefs/owner.h"

#define TEXT_CAP	4096
#define SET_EVENT_LIMIT (4u << 20)
#define KERNEL_SIZE_KB	1408 /* the kernel's default */
#define OWN_SIZE_KB	16384

struct maker {
	const struct request *r;
	const struct tracefs *fs;
	const struct setup_options *opt;
	struct setup *s;
	struct tracefs_events events; /* that the kernel has */
	const char *group;	      /* for probes, if the usual one is in use */
	struct probe_lines probes;    /* of all expressions, so that no name is used twice */
	struct spur_error *err;
};

static int setup_no_memory(struct maker *m)
{
	return error_set(m->err, -ENOMEM, "out of memory for the settings");
}

/* A text in the plan's memory; NULL without memory. */
static const char *__attribute__((format(printf, 2, 3)))
setup_text(struct maker *m, const char *fmt, ...)
{
	char text[TEXT_CAP];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return n < 0 || (size_t)n >= sizeof(text) ? NULL : arena_strdup(&m->s->plan.arena, text);
}

/* Adds a step; 0 or -ENOMEM with an error set. */
static int setup_step(struct maker *m, enum plan_step_kind kind, const char *instance,
		      const char *file, const char *text)
{
	return plan_add(&m->s->plan, kind, instance, file, text) ? 0 : setup_no_memory(m);
}

static int setup_number(struct maker *m, const char *instance, const char *file, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	return setup_step(m, PLAN_WRITE, instance, file, text);
}

static bool is_nop(const char *tracer)
{
	return !tracer || strcmp(tracer, "nop") == 0;
}

/* ---- functions ---- */

/* The kernel accepts names and globs; regular expressions are matched here. */

#define FUNCTIONS_LIMIT (32u << 20)

static bool is_regex(const char *name)
{
	size_t len = strlen(name);

	return len && (name[0] == '^' || name[len - 1] == '$');
}

/* Adds the functions a regular expression matches, a line each. */
static int add_matching(struct maker *m, const char *re, const char *suffix, struct buf *lines)
{
	struct buf all;
	regex_t compiled;
	size_t before = lines->len;
	int rc;

	if (regcomp(&compiled, re, REG_NOSUB) != 0)
		return error_set(m->err, -EINVAL, "'%s' is no regular expression", re);
	buf_init(&all, FUNCTIONS_LIMIT);
	rc = tracefs_read(m->fs, "", "available_filter_functions", &all, m->err);
	for (char *at = all.data, *next; rc == 0 && *at; at = next) {
		size_t len = strcspn(at, " \t\n"); /* a module's name may follow */

		next = at + strcspn(at, "\n");
		if (*next)
			next++;
		at[len] = '\0';
		if (regexec(&compiled, at, 0, NULL, 0) == 0)
			buf_printf(lines, "%s%s\n", at, suffix);
	}
	if (rc == 0 && lines->len == before)
		rc = error_set(m->err, -ENOENT, "no function of this kernel matches '%s'", re);
	buf_free(&all);
	regfree(&compiled);
	return rc;
}

/* Writes a list of functions to a file; `suffix` limits them to a module. */
static int set_list(struct maker *m, const char *instance, const char *file,
		    const struct string_refs *names, const char *suffix)
{
	struct buf lines;
	int rc = 0;

	if (!names->n)
		return 0;
	buf_init(&lines, FUNCTIONS_LIMIT);
	vec_each (name, names) {
		if (rc < 0)
			break;
		if (is_regex(*name))
			rc = add_matching(m, *name, suffix, &lines);
		else
			buf_printf(&lines, "%s%s\n", *name, strstr(*name, ":mod:") ? "" : suffix);
	}
	if (rc == 0)
		rc = buf_full(&lines) ? setup_no_memory(m)
				      : setup_step(m, PLAN_WRITE, instance, file, buf_str(&lines));
	buf_free(&lines);
	return rc;
}

static int setup_functions(struct maker *m, const struct request_buffer *b, const char *instance)
{
	const char *everything[] = {""}, *suffix = "";
	struct string_refs all = {.at = everything, .n = 1};
	const struct string_refs *functions = &b->functions;
	int rc;

	if (m->r->module) {
		suffix = setup_text(m, ":mod:%s", m->r->module);
		if (!suffix)
			return setup_no_memory(m);
		/* A module without functions means all of its functions. */
		if (!functions->n && !b->hidden.n && b->tracer)
			functions = &all;
	}
	rc = set_list(m, instance, "set_ftrace_filter", functions, suffix);
	if (rc == 0)
		rc = set_list(m, instance, "set_ftrace_notrace", &b->hidden, suffix);
	if (rc == 0)
		rc = set_list(m, instance, "set_graph_function", &b->graph, "");
	return rc;
}

/* ---- tasks ---- */

/*
 * The tasks whose events are recorded. The kernel adds what these tasks fork from now on; existing
 * threads and children are looked up here.
 */

#define TASKS_LIMIT (1u << 20)
#define MAX_TASKS   32768 /* the kernel's limit; also ends the search in a broken /proc */

struct task_list {
	struct maker *m;
	struct buf text;
	unsigned int n;
};

/* On one line, which is written at once: the kernel waits for all CPUs after each write. */
static void add_task(struct task_list *l, const char *pid)
{
	buf_printf(&l->text, "%s%s", l->n ? " " : "", pid);
	l->n++;
}

static void add_children(struct task_list *l, const char *pid, const char *tid);

/* Adds the threads of a process, with their children if wanted. False if it does not exist. */
static bool add_process(struct task_list *l, const char *pid)
{
	char path[64];
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/task", pid);
	dir = opendir(path);
	if (!dir)
		return false;
	while ((d = readdir(dir)) && l->n < MAX_TASKS) {
		if (d->d_name[0] == '.')
			continue;
		add_task(l, d->d_name);
		if (l->m->r->children)
			add_children(l, pid, d->d_name);
	}
	closedir(dir);
	return true;
}

static void add_children(struct task_list *l, const char *pid, const char *tid)
{
	char path[96], child[16];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.16s/task/%.16s/children", pid, tid);
	file = fopen(path, "re");
	if (!file)
		return;
	while (l->n < MAX_TASKS && fscanf(file, "%15s", child) == 1)
		add_process(l, child);
	fclose(file);
}

static int add_pids(struct task_list *l)
{
	const struct request *r = l->m->r;

	for (size_t i = 0; i < r->pids.n; i++) {
		char pid[16];

		snprintf(pid, sizeof(pid), "%d", (int)r->pids.at[i]);
		if (!add_process(l, pid))
			return error_set(l->m->err, -ESRCH, "there is no process %s", pid);
	}
	if (r->only_command) {
		char pid[16] = "PID";

		if (l->m->opt->command)
			snprintf(pid, sizeof(pid), "%d", (int)l->m->opt->command);
		add_task(l, pid);
	}
	return 0;
}

static int setup_tasks(struct maker *m, const char *instance, bool functions)
{
	static const struct {
		const char *file, *follow;
	} filters[] = {
		{"set_event_pid", "options/event-fork"},
		{"set_ftrace_pid", "options/function-fork"},
	};
	struct task_list list = {.m = m};
	int rc;

	if (!m->r->pids.n && !m->r->only_command)
		return 0;
	buf_init(&list.text, TASKS_LIMIT);
	rc = add_pids(&list);
	buf_putc(&list.text, '\n');
	for (size_t i = 0; i < (functions ? 2 : 1) && rc == 0; i++) {
		rc = setup_step(m, PLAN_WRITE, instance, filters[i].file, buf_str(&list.text));
		if (rc == 0 && m->r->children)
			rc = setup_step(m, PLAN_WRITE, instance, filters[i].follow, "1");
	}
	buf_free(&list.text);
	return rc;
}

/* ---- events ---- */

/*
 * Turning events on. In a private buffer, one write turns on a whole system. In a buffer that
 * others use too, each event is written by itself, so that each can be restored.
 */

/* Remembers that the format of an event will be needed. */
static int need_format(struct maker *m, const char *system, const char *name)
{
	struct setup_event *e = vec_push(&m->s->events);

	if (!e)
		return setup_no_memory(m);
	e->system = arena_strdup(&m->s->plan.arena, system);
	e->name = arena_strdup(&m->s->plan.arena, name);
	return e->system && e->name ? 0 : setup_no_memory(m);
}

static int event_step(struct maker *m, const char *instance, const char *system, const char *name,
		      const char *file, const char *text)
{
	const char *path = name ? setup_text(m, "events/%s/%s/%s", system, name, file)
				: setup_text(m, "events/%s/%s", system, file);

	return path ? setup_step(m, PLAN_WRITE, instance, path, text) : setup_no_memory(m);
}

/* An event that a trigger turns on has to have its format in the file as well. */
static int need_target(struct maker *m, const char *trigger)
{
	static const char *const words[] = {"enable_event:", "enable_hist:"};
	char system[128], name[128];

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strncmp(trigger, words[i], strlen(words[i])) == 0 &&
		    sscanf(trigger + strlen(words[i]), "%127[^:]:%127[^: ]", system, name) == 2)
			return need_format(m, system, name);
	return 0;
}

static int set_triggers(struct maker *m, const struct request_event *e, const char *instance,
			const char *system, const char *name)
{
	const char *file = setup_text(m, "events/%s/%s/trigger", system, name);

	if (!file)
		return setup_no_memory(m);
	vec_each (trigger, &e->triggers) {
		const char *back = setup_text(m, "!%s", *trigger);

		if (!back || !plan_add_line(&m->s->plan, instance, file, *trigger, back) ||
		    need_target(m, *trigger) < 0)
			return setup_no_memory(m);
	}
	return 0;
}

/* Filters of reports match with =~, those of the kernel with ~. Both are accepted here. */
static const char *filter_text(struct maker *m, const char *filter)
{
	char *text = arena_strdup(&m->s->plan.arena, filter), *to = text;
	char quote = 0;

	for (const char *at = filter; text && *at; at++) {
		if (quote ? *at == quote : *at == '"' || *at == '\'')
			quote = quote ? 0 : *at;
		if (!quote && at[0] == '=' && at[1] == '~')
			continue;
		*to++ = *at;
	}
	if (text)
		*to = '\0';
	return text;
}

/* Filter and triggers of one event, and whether it is on. */
static int set_event(struct maker *m, const struct request_event *e, const char *instance,
		     const char *system, const char *name, bool on)
{
	int rc = 0;

	if (e->filter && !e->exclude) {
		const char *filter = filter_text(m, e->filter);

		rc = filter ? event_step(m, instance, system, name, "filter", filter)
			    : setup_no_memory(m);
	}
	if (rc == 0 && e->triggers.n)
		rc = set_triggers(m, e, instance, system, name);
	if (rc == 0 && on)
		rc = event_step(m, instance, system, name, "enable", "1");
	return rc;
}

/* ---- probes and synthetic events ---- */

/* Stores a note for the user: what was left out of a probe. */
static int keep_note(struct maker *m, const char *note)
{
	const char **slot = vec_push(&m->s->notes);

	if (!slot)
		return setup_no_memory(m);
	*slot = note;
	return 0;
}

/* If an expression has several places, the kernel may refuse some of them. These are left out. */
static int add_line(struct maker *m, const struct request_event *e, const struct probe_line *line,
		    const char *instance, size_t one_of)
{
	struct plan_step *step = plan_add_line(&m->s->plan, "", line->file, line->text, line->back);
	size_t first = m->s->plan.n;
	int rc = step ? need_format(m, line->group, line->event) : setup_no_memory(m);

	if (step)
		step->one_of = one_of;
	if (rc == 0 && line->note)
		rc = keep_note(m, line->note);
	if (rc == 0)
		rc = set_event(m, e, instance, line->group, line->event, !e->exclude);
	for (size_t i = first; i < m->s->plan.n; i++)
		m->s->plan.at[i].optional = one_of != 0;
	return rc;
}

static int add_probe(struct maker *m, const struct request_event *e, const char *instance)
{
	/*
	 * Another recording may have probes with the same names, and the process that cleans up
	 * must know their owner. Probes that stay have no owner.
	 */
	const bool taken = tracefs_has(m->fs, "", "events/spur");
	struct probe_options opt = {
		.group = taken || !m->opt->for_good ? m->group : NULL,
		.pid = m->r->pids.n ? m->r->pids.at[0] : 0,
		.command = m->r->command,
		.dynamic_events = tracefs_has(m->fs, "", "dynamic_events"),
		.tracefs = m->fs->path,
	};
	size_t before = m->probes.n;
	int rc = probe_resolve(e->probe, e->text, &opt, &m->s->plan.arena, &m->probes, m->err);

	for (size_t i = before; i < m->probes.n && rc == 0; i++)
		rc = add_line(m, e, &m->probes.at[i], instance,
			      m->probes.n - before > 1 ? before + 1 : 0);
	return rc;
}

/* A line "NAME TYPE FIELD; …", or "s:NAME …" as dynamic_events has it. */
static int add_synth(struct maker *m, const struct request_event *e, const char *instance)
{
	const char *from = strncmp(e->text, "s:", 2) == 0 ? e->text + 2 : e->text;
	const char *name = setup_text(m, "%.*s", (int)strcspn(from, " ;"), from);
	const char *back = name ? setup_text(m, "!%s", from) : NULL;
	int rc;

	if (!back || !plan_add_line(&m->s->plan, "", "synthetic_events", from, back))
		return setup_no_memory(m);
	rc = need_format(m, "synthetic", name);
	return rc < 0 ? rc : set_event(m, e, instance, "synthetic", name, !e->exclude);
}

/* ---- events the kernel has ---- */

static int no_such_event(struct maker *m, const char *wanted)
{
	const char *part = wanted + strcspn(wanted, ":/");
	const char *word = *part ? part + 1 : wanted, *nearest;
	struct suggest s = suggest_for(word, strlen(word));

	vec_each (e, &m->events) {
		suggest_try(&s, e->name);
		suggest_try(&s, e->system);
	}
	nearest = suggest_best(&s);
	return error_set(m->err, -ENOENT, "this kernel has no event '%s'%s%s%s", wanted,
			 nearest ? "; did you mean '" : "", nearest ? nearest : "",
			 nearest ? "'?" : "; 'spur list -e' shows those it has");
}

/* Marks the events that an entry of the request selects, and sets filters and triggers. */
static int choose(struct maker *m, const struct request_event *e, const char *instance, bool *on)
{
	bool found = false;

	for (size_t i = 0; i < m->events.n; i++) {
		const struct tracefs_event *k = &m->events.at[i];
		int rc;

		if (!tracefs_event_matches(k, e->text))
			continue;
		found = true;
		on[i] = !e->exclude;
		rc = set_event(m, e, instance, k->system, k->name, false);
		if (rc < 0)
			return rc;
	}
	if (!found && !e->may_lack && !m->r->ignore_missing && !e->exclude)
		return no_such_event(m, e->text);
	return 0;
}

/* The end of the run of events of one system that begins at i, and whether all of it is on. */
static size_t system_end(const struct maker *m, const bool *on, size_t i, bool *all)
{
	const char *system = m->events.at[i].system;

	*all = true;
	for (; i < m->events.n && strcmp(m->events.at[i].system, system) == 0; i++)
		*all &= on[i];
	return i;
}

static int turn_on(struct maker *m, const char *instance, const bool *on, bool own)
{
	int rc = 0;

	for (size_t i = 0, end; i < m->events.n && rc == 0; i = end) {
		bool all;

		end = system_end(m, on, i, &all);
		if (own && all)
			rc = event_step(m, instance, m->events.at[i].system, NULL, "enable", "1");
		for (size_t k = i; k < end && rc == 0; k++) {
			const struct tracefs_event *e = &m->events.at[k];

			if (!on[k])
				continue;
			rc = need_format(m, e->system, e->name);
			if (rc == 0 && !(own && all))
				rc = event_step(m, instance, e->system, e->name, "enable", "1");
		}
	}
	return rc;
}

static int setup_events(struct maker *m, const struct request_buffer *b, const char *instance,
			bool own)
{
	bool *on = calloc(m->events.n + 1, sizeof(*on));
	int rc = on ? 0 : setup_no_memory(m);

	vec_each (e, &b->events) {
		if (rc < 0)
			break;
		if (e->kind == WANT_PROBE)
			rc = add_probe(m, e, instance);
		else if (e->kind == WANT_SYNTH)
			rc = add_synth(m, e, instance);
		else
			rc = choose(m, e, instance, on);
	}
	if (rc == 0)
		rc = turn_on(m, instance, on, own);
	free(on);
	return rc;
}

/* ---- a top-level buffer that others use ---- */

/*
 * The first event of a list that a user has turned on, or NULL. One event does not count: the
 * kernel turns it on for any BPF program that may write to the buffer, and leaves it on.
 */
static const char *event_in_use(char *list)
{
	for (char *line, *rest = list; (line = strsep(&rest, "\n"));)
		if (*line && strcmp(line, "bpf_trace:bpf_trace_printk") != 0)
			return line;
	return NULL;
}

/* Checks whether the top-level buffer is in use: an event is on in it, or a tracer is set. */
static int check_free(struct maker *m)
{
	const char *event = NULL;
	char tracer[64];
	struct buf on;
	int rc;

	buf_init(&on, SET_EVENT_LIMIT);
	rc = tracefs_read_line(m->fs, "", "current_tracer", tracer, sizeof(tracer), m->err);
	if (rc >= 0)
		rc = tracefs_read(m->fs, "", "set_event", &on, m->err);
	if (rc >= 0)
		event = event_in_use(on.data);
	if (rc >= 0 && (event || !is_nop(tracer)))
		rc = error_set(m->err, -EBUSY,
			       "the kernel's top-level buffer is needed and is in use (%s %s); "
			       "--force takes it",
			       is_nop(tracer) ? "event" : "tracer",
			       is_nop(tracer) ? event : tracer);
	buf_free(&on);
	return rc < 0 ? rc : 0;
}

/* Turns off a tracer that others have set, if the request does not set one. */
static int stop_tracer(struct maker *m, const struct request_buffer *b, const char *instance)
{
	char tracer[64];

	if (b->tracer ||
	    tracefs_read_line(m->fs, instance, "current_tracer", tracer, sizeof(tracer), NULL) <
		    0 ||
	    is_nop(tracer))
		return 0;
	return setup_step(m, PLAN_WRITE, instance, "current_tracer", "nop");
}

/* Turns off, during the recording, what others have turned on there. */
static int silence_top(struct maker *m)
{
	struct buf on;
	int rc;

	buf_init(&on, SET_EVENT_LIMIT);
	rc = tracefs_read(m->fs, "", "set_event", &on, m->err);
	for (char *at = on.data, *next; rc == 0 && *at; at = next) {
		const char *file;
		char *colon;

		next = at + strcspn(at, "\n");
		if (*next)
			*next++ = '\0';
		colon = strchr(at, ':');
		if (!colon)
			continue;
		*colon = '/';
		file = setup_text(m, "events/%s/enable", at);
		rc = file ? setup_step(m, PLAN_WRITE, "", file, "0") : setup_no_memory(m);
	}
	buf_free(&on);
	return rc < 0 ? rc : stop_tracer(m, m->r->buffers.at, "");
}

static int take_top(struct maker *m)
{
	int rc = m->opt->force ? 0 : check_free(m);

	return rc < 0 ? rc : silence_top(m);
}

/* A buffer that is set up for good starts with everything off. */
static int clear_buffer(struct maker *m, const struct request_buffer *b, const char *instance)
{
	int rc = setup_step(m, PLAN_WRITE, instance, "set_event", "");

	return rc < 0 ? rc : stop_tracer(m, b, instance);
}

/* ---- a buffer ---- */

/*
 * The default size of a private buffer: what a busy CPU fills in some hundred milliseconds, but for
 * all CPUs together at most a hundredth of the memory.
 */
static uint64_t default_size_kb(void)
{
	uint64_t memory_kb =
		(uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) >> 10;
	uint64_t kb = memory_kb / 100 / (uint64_t)sysconf(_SC_NPROCESSORS_CONF);

	return kb < KERNEL_SIZE_KB ? 0 : kb > OWN_SIZE_KB ? OWN_SIZE_KB : kb;
}

static int setup_sizes(struct maker *m, const struct request_buffer *b, const char *instance,
		       bool own)
{
	uint64_t size_kb = b->size_kb ? b->size_kb : own ? default_size_kb() : 0;
	int rc = 0;

	if (b->clock)
		rc = setup_step(m, PLAN_WRITE, instance, "trace_clock", b->clock);
	if (rc == 0 && b->page_kb)
		rc = setup_number(m, instance, "buffer_subbuf_size_kb", b->page_kb);
	if (rc == 0 && size_kb)
		rc = setup_number(m, instance, "buffer_size_kb", size_kb);
	if (rc == 0 && b->cpumask)
		rc = setup_step(m, PLAN_WRITE, instance, "tracing_cpumask", b->cpumask);
	return rc;
}

/* Whether settings of tracers matter: a tracer may have been set before. */
static bool uses_tracer(const struct maker *m, const struct request_buffer *b)
{
	return !is_nop(b->tracer) || m->opt->additional;
}

/* Whether functions are traced, so that their tasks must be set, too. */
static bool traces_functions(const struct maker *m, const struct request_buffer *b,
			     const char *instance)
{
	char tracer[64];

	if (b->tracer || !m->opt->additional ||
	    tracefs_read_line(m->fs, instance, "current_tracer", tracer, sizeof(tracer), NULL) < 0)
		return !is_nop(b->tracer);
	return !is_nop(tracer);
}

int setup_option_file(const struct tracefs *fs, const char *option, char *file, size_t cap,
		      bool *on, struct spur_error *err)
{
	int n = snprintf(file, cap, "options/%s", option);

	*on = strncmp(option, "no", 2) != 0 || tracefs_has(fs, "", file);
	if (!*on)
		snprintf(file, cap, "options/%s", option + 2);
	if (n >= 0 && (size_t)n < cap && tracefs_has(fs, "", file))
		return 0;
	return error_set(err, -EINVAL, "there is no option '%s'; 'spur list -o' shows them",
			 option);
}

static int setup_option(struct maker *m, const char *instance, const char *option)
{
	char file[SETUP_OPTION_CAP];
	bool on;
	int rc = setup_option_file(m->fs, option, file, sizeof(file), &on, m->err);

	return rc < 0 ? rc : setup_step(m, PLAN_WRITE, instance, file, on ? "1" : "0");
}

static int setup_options(struct maker *m, const struct request_buffer *b, const char *instance)
{
	const struct request *r = m->r;
	int rc = 0;

	vec_each (option, &b->options)
		if (rc == 0)
			rc = setup_option(m, instance, *option);
	if (rc == 0 && r->function_stacks && uses_tracer(m, b))
		rc = setup_option(m, instance, "func_stack_trace");
	if (rc == 0 && (r->no_functions || r->no_functions_anywhere) && b == r->buffers.at)
		rc = setup_option(m, instance, "nofunction-trace");
	if (rc == 0 && r->no_functions_anywhere && b == r->buffers.at)
		rc = setup_step(m, PLAN_WRITE, "", "/proc/sys/kernel/ftrace_enabled", "0");
	return rc;
}

static int setup_tracer(struct maker *m, const struct request_buffer *b, const char *instance)
{
	int rc = 0;

	if (m->r->max_graph_depth && uses_tracer(m, b))
		rc = setup_number(m, instance, "max_graph_depth", m->r->max_graph_depth);
	if (rc == 0 && m->r->thresh_us && uses_tracer(m, b))
		rc = setup_number(m, instance, "tracing_thresh", m->r->thresh_us);
	if (rc == 0 && b->tracer && !tracefs_lists(m->fs, "", "available_tracers", b->tracer))
		rc = error_set(m->err, -ENODEV,
			       "this kernel has no tracer '%s'; 'spur list -t' shows those it has",
			       b->tracer);
	if (rc == 0 && b->tracer)
		rc = setup_step(m, PLAN_WRITE, instance, "current_tracer", b->tracer);
	return rc;
}

/*
 * What programs write to the top-level trace_marker goes to the top-level buffer; newer kernels can
 * copy it to others.
 */
static int setup_markers(struct maker *m, const char *instance)
{
	struct plan_step *step =
		plan_add(&m->s->plan, PLAN_WRITE, instance, "options/copy_trace_marker", "1");

	if (!step)
		return setup_no_memory(m);
	step->optional = true;
	return 0;
}

static int setup_buffer(struct maker *m, const struct request_buffer *b, struct setup_buffer *sb)
{
	bool exists = m->opt->main_exists && sb->instance == m->opt->main;
	bool fresh = m->opt->for_good && !m->opt->additional;
	const char *at = sb->instance;
	int rc = 0;

	sb->made = *at && (exists || !tracefs_has(m->fs, at, "trace"));
	if (sb->made && !exists)
		rc = setup_step(m, PLAN_INSTANCE, at, "", "");
	if (rc == 0 && !m->opt->additional)
		rc = setup_step(m, PLAN_WRITE, at, "tracing_on", "0");
	if (rc == 0 && !sb->made && fresh)
		rc = clear_buffer(m, b, at);
	if (rc == 0 && !sb->made && !m->opt->additional)
		rc = setup_step(m, PLAN_ONCE, at, "trace", "");
	if (rc == 0)
		rc = setup_sizes(m, b, at, sb->made && !m->opt->for_good);
	if (rc == 0)
		rc = setup_functions(m, b, at);
	if (rc == 0 && sb->made && b == m->r->buffers.at)
		rc = setup_markers(m, at);
	if (rc == 0)
		rc = setup_tracer(m, b, at);
	if (rc == 0)
		rc = setup_options(m, b, at);
	if (rc == 0)
		rc = setup_tasks(m, at, traces_functions(m, b, at));
	return rc == 0 ? setup_events(m, b, at, sb->made || fresh) : rc;
}

bool setup_wants_main(const struct request *r)
{
	const struct request_buffer *b = r->buffers.at;

	return r->buffers.n && (b->events.n || b->tracer);
}

/* If the settings are for good, one that records nothing is also useful: a size, an option. */
static bool uses_main(const struct maker *m)
{
	const struct request_buffer *b = m->r->buffers.at;

	if (setup_wants_main(m->r) || !m->opt->for_good)
		return setup_wants_main(m->r);
	return m->r->buffers.n == 1 || b->clock || b->cpumask || b->functions.n || b->graph.n ||
	       b->hidden.n || b->options.n || b->size_kb || b->page_kb;
}

static int make(struct maker *m)
{
	const struct request *r = m->r;
	struct setup *s = m->s;
	int rc = tracefs_events_load(m->fs, "", &m->events, m->err);

	if (rc == 0 && m->opt->main && !*m->opt->main && setup_wants_main(r) && !m->opt->for_good)
		rc = take_top(m);
	if (rc == 0 && r->cmdlines)
		rc = setup_number(m, "", "saved_cmdlines_size", r->cmdlines);
	s->buffers = arena_array(&s->plan.arena, r->buffers.n, sizeof(*s->buffers));
	if (!s->buffers)
		return setup_no_memory(m);
	s->nr_buffers = r->buffers.n;
	for (size_t i = 0; i < r->buffers.n && rc == 0; i++) {
		struct setup_buffer *sb = &s->buffers[i];

		sb->name = r->buffers.at[i].name;
		sb->instance = i ? sb->name : m->opt->main;
		if (i || uses_main(m))
			rc = setup_buffer(m, &r->buffers.at[i], sb);
		else
			sb->instance = NULL;
	}
	return rc;
}

int setup_make(const struct request *r, const struct tracefs *fs, const struct setup_options *opt,
	       struct setup *s, struct spur_error *err)
{
	struct spur_error unheard = {0};
	struct maker m = {.r = r, .fs = fs, .opt = opt, .s = s, .err = err ? err : &unheard};
	char group[OWNER_TAG_CAP];
	int rc;

	memset(s, 0, sizeof(*s));
	plan_init(&s->plan);
	owner_group(group, sizeof(group));
	m.group = setup_text(&m, "%s", group);
	rc = m.group ? make(&m) : setup_no_memory(&m);
	tracefs_events_free(&m.events);
	vec_free(&m.probes);
	return rc;
}

void setup_free(struct setup *s)
{
	vec_free(&s->events);
	vec_free(&s->notes);
	plan_free(&s->plan);
}

bool setup_needs_top(const struct setup *s, const struct request *r, const struct tracefs *fs,
		     const char *instance, const char **why)
{
	const char *tracer = r->buffers.at[0].tracer;

	/* Latency tracers may be set in an instance, but record nothing there. */
	if (!is_nop(tracer) && (session_text_tracer(tracer) ||
				!tracefs_lists(fs, instance, "available_tracers", tracer))) {
		*why = tracer;
		return true;
	}
	vec_each (step, &s->plan) {
		if (strcmp(step->instance, instance) != 0 || !*step->file || step->optional)
			continue;
		if (!tracefs_has(fs, instance, step->file) && tracefs_has(fs, "", step->file)) {
			*why = step->file;
			return true;
		}
	}
	return false;
}
