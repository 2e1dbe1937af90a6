// SPDX-License-Identifier: GPL-2.0-or-later
/* A tracing directory as the contents of a file: all events, an empty buffer. */
#include "dat/machine.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "dat/dat.h"
#include "dat/tracing.h"

#define ARENA_LIMIT ((size_t)768 << 20)
#define MAX_OPTIONS 3

static int no_memory(struct spur_error *err)
{
	return error_set(err, -ENOMEM, "out of memory for what describes a machine");
}

/* The word in brackets of "[local] global counter"; "local" when there is none. */
static const char *clock_of(struct dat_machine *m, const struct dat_span *clocks)
{
	const char *open = memchr(clocks->data, '[', clocks->size);
	const char *close = open ? strchr(open, ']') : NULL;
	const char *word =
		close ? arena_strndup(&m->arena, open + 1, (size_t)(close - open - 1)) : NULL;

	return word ? word : "local";
}

/* What lives as long as the arena; NULL: none. */
static void add_text(struct dat_machine *m, struct dat_out_option *list, unsigned int id,
		     const char *text)
{
	if (text)
		list[m->contents.nr_options++] =
			(struct dat_out_option){(uint16_t)id, {text, strlen(text) + 1}};
}

static bool describe(struct dat_machine *m, const struct dat_span *clocks, bool copy)
{
	struct dat_out_buffer *top = arena_alloc(&m->arena, sizeof(*top));
	struct dat_out_option *list = arena_array(&m->arena, MAX_OPTIONS, sizeof(*list));

	if (!top || !list)
		return false;
	*top = (struct dat_out_buffer){
		.name = "", .clock = clock_of(m, clocks), .page_size = m->contents.page_size};
	m->contents.buffers = top;
	m->contents.nr_buffers = 1;
	m->contents.options = list;
	add_text(m, list, DAT_OPT_TRACECLOCK, clocks->size ? clocks->data : NULL);
	add_text(m, list, DAT_OPT_VERSION, "spur " SPUR_VERSION);
	add_text(m, list, DAT_OPT_UNAME, copy ? NULL : dat_tracing_uname(&m->arena));
	return true;
}

static int read_formats(struct dat_tracing *t, struct dat_contents *c, struct spur_error *err)
{
	int rc = dat_tracing_systems(t, err);

	if (rc == 0)
		rc = dat_tracing_formats(t, c, err);
	dat_tracing_free(t);
	if (rc == 0 && !c->nr_systems && !c->nr_ftrace)
		rc = error_set(err, -ENODEV, "%s has no formats of events", t->path);
	return rc;
}

int dat_machine_read(struct dat_machine *m, const char *tracing, const char *kallsyms, bool copy,
		     struct spur_error *err)
{
	struct dat_contents *c = &m->contents;
	struct dat_tracing t = {.path = tracing, .arena = &m->arena};
	struct dat_span clocks = {"", 0};
	uint32_t *cpus, nr_cpus = 0;
	int rc;

	*m = (struct dat_machine){.contents.kallsyms = {"", 0}};
	arena_init(&m->arena, ARENA_LIMIT);
	if (!kallsyms && !copy)
		kallsyms = "/proc/kallsyms";
	rc = dat_tracing_headers(&t, c, err);
	if (rc == 0)
		rc = read_formats(&t, c, err);
	if (rc == 0 && kallsyms)
		rc = dat_tracing_path(&m->arena, kallsyms, &c->kallsyms, err);
	if (rc == 0)
		rc = dat_tracing_optional(&t, "printk_formats", &c->printk, err);
	if (rc == 0)
		rc = dat_tracing_optional(&t, "saved_cmdlines", &c->cmdlines, err);
	if (rc == 0)
		rc = dat_tracing_optional(&t, "trace_clock", &clocks, err);
	if (rc == 0)
		rc = dat_tracing_cpus(&t, &cpus, &nr_cpus, err);
	if (rc < 0)
		return rc;
	c->nr_cpus = nr_cpus ? cpus[nr_cpus - 1] + 1 : 0;
	return describe(m, &clocks, copy) ? 0 : no_memory(err);
}

void dat_machine_free(struct dat_machine *m)
{
	arena_free(&m->arena);
}
