// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur options`: what `spur report -O` can set. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/report.h"
#include "event/event.h"
#include "event/tep.h"

#define TEXT_LIMIT (4u << 20)
#define AT(field)  offsetof(struct event_options, field)

const struct plugin_option plugin_options[] = {
	{"ftrace", "parent", "show who called a function", AT(parent)},
	{"ftrace", "indent", "indent functions by how deep they were called", AT(no_indent), true,
	 true},
	{"ftrace", "offset", "show where in a function, not only which", AT(offset)},
	{"fgraph", "tailprint", "name the function where it ends, too", AT(fgraph_tail)},
	{"fgraph", "depth", "show how deep each call is", AT(fgraph_depth)},
	{"fgraph", "retval-skip", "do not show what functions return", AT(retval_skip)},
	{"fgraph", "retval-dec", "show what functions return as decimal numbers", AT(retval_dec)},
	{"fgraph", "retval-hex", "show what functions return as hexadecimal numbers",
	 AT(retval_hex)},
	{NULL},
};

void plugin_options_print(void)
{
	scoped_buf users = buf_new(TEXT_LIMIT);

	for (const struct plugin_option *p = plugin_options; p->plugin; p++) {
		if (p != plugin_options)
			printf("%s\n", strcmp(p->plugin, p[-1].plugin) == 0 ? "------------"
									    : "============");
		printf("  plugin:\t%s\n  option:\t%s\n    desc:\t%s\n     set:\t%d\n", p->plugin,
		       p->name, p->help, p->normally);
	}
	tep_print_user_options(&users);
	if (users.len)
		printf("============\n%s", buf_str(&users));
}

static int run(void *options, int others, char **argv)
{
	plugin_options_print();
	return SPUR_OK;
}

const struct command command_options = {
	.name = "options",
	.summary = "list the plugin options that report -O can set",
	.usage = "",
	.takes_nothing = "",
	.run = run,
};
