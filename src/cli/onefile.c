// SPDX-License-Identifier: GPL-2.0-or-later
/* What commands share that read one file: opening it, its buffers, closing it. */
#include <string.h>

#include "base/suggest.h"
#include "cli/onefile.h"
#include "stats/profile/hook.h"

struct spur_trace *onefile_open(const struct command *cmd, const char *input, int others,
				char **argv, int *status)
{
	scoped_buf hooks = buf_new(ONEFILE_TEXT);
	struct spur_error err = {0};
	struct spur_trace *t = NULL;

	if (others > 1 || (others && input)) {
		cli_error("%s reads one file", cmd->name);
		*status = SPUR_USAGE;
	} else if (trace_open(input ? input : others ? argv[0] : "trace.dat", NULL, &t, &err) < 0) {
		*status = cli_fail(&err);
	} else {
		cli_catch_signals();
		/* trace-cmd prints them whenever it opens a file. */
		hook_put_stored(t->dat, &hooks);
		cli_put(hooks.data, hooks.len);
	}
	return t;
}

const struct trace_buffer *onefile_top(const struct spur_trace *t)
{
	for (uint32_t i = 0; i < t->nr_buffers; i++)
		if (!*t->buffers[i].data->name)
			return &t->buffers[i];
	return NULL;
}

const struct trace_buffer *onefile_buffer(const struct spur_trace *t, const char *name)
{
	const bool top = strcmp(name, "top") == 0;
	struct suggest near = suggest_for(name, strlen(name));

	for (uint32_t i = 0; i < t->nr_buffers; i++) {
		const char *candidate = t->buffers[i].data->name;

		if (strcmp(candidate, top ? "" : name) == 0)
			return &t->buffers[i];
		suggest_try(&near, candidate);
	}
	cli_error("%s: there is no buffer '%s'%s", t->dat->path, name, suggest_hint(&near));
	return NULL;
}

bool onefile_has_records(const struct trace_buffer *b)
{
	if (!b->data->text)
		return true;
	return cli_complain(
		"%s: a latency trace has text instead of events; 'spur report' shows it",
		b->trace->dat->path);
}

int onefile_close(struct spur_trace *t, int status)
{
	int damage = status == SPUR_OK ? cli_damage(t->dat) : status;

	trace_close(t);
	return damage;
}

void onefile_say_missing(const struct spur_trace *t)
{
	char text[DAT_MISSING_WORDS];

	if (!t->dat->damage.code && dat_missing_words(t->dat, text))
		cli_error("%s: %s", t->dat->path, text);
}
