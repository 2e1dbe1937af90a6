// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A recording as a script sees it: its events and its symbols. Records are all there is of the
 * kernel's memory, so that types of C are only good for sizes and for the names of enumerators;
 * they are those of the running kernel when that is the one that was recorded.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include <spur/trace.h>

#include "event/event.h"
#include "event/names.h"
#include "lang/env_parts.h"
#include "scan/trace.h"

struct file {
	struct env env; /* first: a pointer to it is one to the whole */
	struct spur_trace *trace;
	struct env_kernel kernel;
};

static struct file *file_of(struct env *e)
{
	return (struct file *)e;
}

static bool file_tracepoint(struct env *e, const char *system, const char *name,
			    struct type *fields)
{
	struct event *event = events_find(file_of(e)->trace->events, system, name);

	return event && env_event_fields(e, event, fields);
}

static uint64_t file_symbol(struct env *e, const char *name)
{
	const struct symbol *s = symbols_find_name(file_of(e)->trace->events->symbols, name);

	return s ? s->addr : 0;
}

static bool file_function(struct env *e, const char *module, const char *name, struct proto *p)
{
	return env_kernel_function(&file_of(e)->kernel, module, name, e->arena, p);
}

static bool file_raw_tracepoint(struct env *e, const char *name, struct proto *p)
{
	return env_kernel_raw_tracepoint(&file_of(e)->kernel, name, e->arena, p);
}

static bool file_type(struct env *e, const char *name, struct type *t)
{
	return env_kernel_type(&file_of(e)->kernel, name, t);
}

static bool file_enumerator(struct env *e, const char *name, int64_t *value, struct type *in)
{
	return env_kernel_enumerator(&file_of(e)->kernel, name, value, in);
}

static void file_near_type(struct env *e, const char *name, struct nearest *near)
{
	env_kernel_near(&file_of(e)->kernel, name, near);
}

static const char *file_no_types(struct env *e)
{
	return env_kernel_missing(&file_of(e)->kernel);
}

static void file_free(struct env *e)
{
	struct file *f = file_of(e);

	env_kernel_close(&f->kernel);
	free(f);
}

static const struct env_ops file_ops = {
	.tracepoint = file_tracepoint,
	.function = file_function,
	.raw_tracepoint = file_raw_tracepoint,
	.type = file_type,
	.enumerator = file_enumerator,
	.symbol = file_symbol,
	.near_type = file_near_type,
	.no_types = file_no_types,
	.free = file_free,
};

/* "Linux HOST RELEASE VERSION MACHINE": the release and the build must be those of this kernel. */
static bool is_running_kernel(const char *recorded)
{
	struct utsname u;

	return !uname(&u) && strstr(recorded, u.release) && strstr(recorded, u.version) &&
	       strstr(recorded, u.machine);
}

struct env *env_file(struct spur_trace *trace, struct arena *arena)
{
	struct file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->env = (struct env){.ops = &file_ops, .arena = arena, .offline = true};
	f->trace = trace;
	if (is_running_kernel(spur_trace_uname(trace)))
		f->kernel.path = ENV_KERNEL_BTF;
	return &f->env;
}
