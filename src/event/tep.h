/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The bridge to libtraceevent: for plugins that users wrote for it, and for the rare print format
 * that is beyond our own plans. Tests use it as the judge of everything we print.
 *
 * A bridge only gets formats that our own parser has accepted, so that a hostile file does not
 * reach a parser that trusts its input. libtraceevent is not thread-safe; a bridge has a
 * lock of its own and may be shared.
 */
#ifndef EVENT_TEP_H
#define EVENT_TEP_H

#include <stdbool.h>
#include <stddef.h>

#include <spur/error.h>

#include "event/event.h"

struct tep_bridge;

struct tep_options {
	/* Texts of the trace that names come from; NULL when it has none. Copied. */
	const char *kallsyms, *printk, *cmdlines;
	size_t kallsyms_len, printk_len, cmdlines_len;
	bool user_plugins;	    /* load plugins of users, not the ones that are built in here */
	bool stock_plugins;	    /* load those too: for comparisons */
	bool refused;		    /* formats that we refuse as well: likewise */
	const char *const *options; /* "name=value" or "plugin:name=value", up to a NULL; or NULL */
};

/* Whether this spur was built with libtraceevent, so that plugins can be loaded. */
bool tep_available(void);

/* True if there are plugins besides those of spur: only then is a bridge useful. */
bool tep_user_plugins_exist(void);

/* Calls found() with the path of every such plugin. */
void tep_each_user_plugin(void (*found)(void *arg, const char *path), void *arg);

/* Appends the options that these plugins have, as libtraceevent lists them. */
void tep_print_user_options(struct buf *out);

/*
 * Builds a bridge over all events of a sealed registry. Events that a plugin prints are marked
 * (event->by_plugin) when the bridge is put into events->tep, which then owns it. -ENOSYS where
 * spur was built without libtraceevent.
 */
int tep_bridge_new(struct events *ev, const struct tep_options *opt, struct tep_bridge **out,
		   struct spur_error *err);
void tep_bridge_free(struct tep_bridge *b);
void tep_bridge_attach(struct tep_bridge *b);

/* Appends an event's text as libtraceevent prints it. */
void tep_bridge_print(struct tep_bridge *b, struct event *e, const struct spur_record *r, bool raw,
		      struct buf *out);

/* Which of the two versions that spur can imitate prints like the library in use. */
enum event_compat tep_compat(void);

/*
 * Whether libtraceevent is to print the event: when a user's plugin does, and when the plan could
 * not be made but libtraceevent may know how.
 */
static inline bool event_by_tep(const struct event *e, const struct event_printer *p)
{
	return e->events->tep && ((e->by_plugin && !e->no_handler) || e->beyond);
}

#endif
