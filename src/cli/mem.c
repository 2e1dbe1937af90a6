// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur mem`: which functions of the kernel hold how much memory. */
#include "cli/onefile.h"
#include "stats/mem.h"

struct mem_options {
	const char *input;
	const char *buffer;
};

#define AT(field) offsetof(struct mem_options, field)

static const struct opt opts[] = {
	{'i', NULL, OPT_FILE, "FILE", "the file (trace.dat)", AT(input)},
	{'B', "buffer", OPT_STRING, "NAME", "read this buffer (instance) instead of the top buffer",
	 AT(buffer)},
};

static int show(struct spur_trace *t, const struct trace_buffer *b)
{
	struct spur_error err = {0};
	struct mem *m = mem_new(t, 0, &err);
	scoped_buf out = buf_new(ONEFILE_TEXT);
	int rc;

	if (!m)
		return cli_fail(&err);
	rc = mem_run(m, b, &cli_stop, &err);
	if (rc == 0) {
		mem_print(m, &out);
		rc = cli_write(out.data, out.len);
	}
	/* For a damaged file, the message about the damage is enough. */
	if (rc == 0 && !mem_seen(m) && !t->dat->damage.code)
		cli_error("%s: there are no allocations in it; 'spur record -e kmem' records them",
			  t->dat->path);
	if (rc == 0 && (mem_dropped(m) || buf_full(&out)))
		cli_error("the table is incomplete: it would take too much memory");
	mem_free(m);
	return cli_result(rc, "counting allocations", &err);
}

static int run(void *options, int others, char **argv)
{
	const struct mem_options *o = options;
	const struct trace_buffer *b;
	struct spur_trace *t;
	int status;

	t = onefile_open(&command_mem, o->input, others, argv, &status);
	if (!t)
		return status;
	b = o->buffer ? onefile_buffer(t, o->buffer) : onefile_top(t);
	if (b && onefile_has_records(b))
		status = show(t, b);
	else
		status = b || o->buffer ? SPUR_USAGE : SPUR_OK; /* damage comes below */
	return onefile_close(t, status);
}

const struct command command_mem = {
	.name = "mem",
	.summary = "show kernel memory by the function that allocated it",
	.usage = "[options] [FILE]",
	COMMAND_OPTS(opts, struct mem_options),
	.run = run,
};
