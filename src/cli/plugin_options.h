/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of the builtin printers: `report -O` sets them, `options` lists them. */
#ifndef CLI_PLUGIN_OPTIONS_H
#define CLI_PLUGIN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* As libtraceevent's plugins and trace-cmd call them. */
struct plugin_option {
	const char *plugin, *name, *help;
	size_t offset; /* in struct event_options */
	bool normally; /* the default */
	bool turned;   /* the field is inverted */
};

/* The last one has no plugin. */
extern const struct plugin_option plugin_options[];

/* Prints them, and those of users' plugins, as trace-cmd does. */
void plugin_options_print(void);

#endif
