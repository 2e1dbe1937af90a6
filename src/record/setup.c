// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The order in a buffer: stop it, then what empties it (clock, sizes), which functions, the
 * tracer, its options, which tasks, and the events last. A tracer that is set before its
 * functions are would trace all of them for a moment.
 */
#include "record/setup.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/vec.h"
#include "record/session_parts.h"
#include "record/setup_parts.h"
#include "tracefs/owner.h"

#define TEXT_CAP	4096
#define SET_EVENT_LIMIT (4u << 20)
#define KERNEL_SIZE_KB	1408 /* what kernels choose themselves */
#define OWN_SIZE_KB	16384

int setup_no_memory(struct maker *m)
{
	return error_set(m->err, -ENOMEM, "out of memory for the settings");
}

const char *setup_text(struct maker *m, const char *fmt, ...)
{
	char text[TEXT_CAP];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return n < 0 || (size_t)n >= sizeof(text) ? NULL : arena_strdup(&m->s->plan.arena, text);
}

int setup_step(struct maker *m, enum plan_kind kind, const char *instance, const char *file,
	       const char *text)
{
	return plan_add(&m->s->plan, kind, instance, file, text) ? 0 : setup_no_memory(m);
}

int setup_number(struct maker *m, const char *instance, const char *file, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	return setup_step(m, PLAN_WRITE, instance, file, text);
}

static bool is_nop(const char *tracer)
{
	return !tracer || strcmp(tracer, "nop") == 0;
}

/* ---- somebody else's top level ---- */

/* Events that are on in the top-level buffer, or a tracer: somebody is using it. */
static int check_free(struct maker *m)
{
	char tracer[64], event[128];

	if (tracefs_read_line(m->fs, "", "current_tracer", tracer, sizeof(tracer), m->err) < 0 ||
	    tracefs_read_line(m->fs, "", "set_event", event, sizeof(event), m->err) < 0)
		return m->err->code;
	if (is_nop(tracer) && !*event)
		return 0;
	return error_set(
		m->err, -EBUSY,
		"the kernel's top-level buffer is needed and is in use (%s %s); --force takes it",
		is_nop(tracer) ? "event" : "tracer", is_nop(tracer) ? event : tracer);
}

/* A tracer that somebody else has set, where the request has none to take its place. */
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

/* What others have turned on there is turned off for the time of the recording. */
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

/* What begins for good begins with nothing on. */
static int clear_buffer(struct maker *m, const struct request_buffer *b, const char *instance)
{
	int rc = setup_step(m, PLAN_WRITE, instance, "set_event", "");

	return rc < 0 ? rc : stop_tracer(m, b, instance);
}

/* ---- a buffer ---- */

/*
 * How large a buffer of our own is when nobody says: what a busy CPU fills in some hundred
 * milliseconds, but all of them together no more than a hundredth of the memory.
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

/* Whether settings of tracers matter: there may be one that was set before. */
static bool uses_tracer(const struct maker *m, const struct request_buffer *b)
{
	return !is_nop(b->tracer) || m->opt->additional;
}

/* Whether functions are traced, so that which tasks' has to be said as well. */
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
	char file[OPTION_CAP];
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
 * What programs write to the kernel's trace_marker goes to the top-level buffer; newer kernels can
 * give a copy to others.
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

/* For good also what cannot be recorded by itself is of use: a size, an option. */
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
		rc = m->opt->force ? silence_top(m) : check_free(m);
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

	/* Latency tracers may be set in an instance, but have nothing to show there. */
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
