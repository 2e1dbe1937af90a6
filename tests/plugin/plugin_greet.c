// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A plugin as a user would write it for libtraceevent: it prints sched_waking in words of its own,
 * with an option that makes it louder.
 */
#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>

static struct tep_plugin_option options[] = {
	{.name = "loud", .plugin_alias = "greet", .description = "shout"},
	{.name = NULL},
};

static int greet(struct trace_seq *s, struct tep_record *record, struct tep_event *event,
		 void *context)
{
	unsigned long long pid;

	if (tep_get_field_val(s, event, "pid", record, &pid, 1) < 0)
		return -1;
	trace_seq_printf(s, "good morning, %lld%s", pid, options[0].set ? "!!!" : "");
	return 0;
}

int TEP_PLUGIN_LOADER(struct tep_handle *tep)
{
	tep_plugin_add_options("greet", options);
	tep_register_event_handler(tep, -1, "sched", "sched_waking", greet, NULL);
	return 0;
}

void TEP_PLUGIN_UNLOADER(struct tep_handle *tep)
{
	tep_unregister_event_handler(tep, -1, "sched", "sched_waking", greet, NULL);
	tep_plugin_remove_options(options);
}
