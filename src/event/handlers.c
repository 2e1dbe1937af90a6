// SPDX-License-Identifier: GPL-2.0-or-later
/* All builtin printers, group by group. */
#include "event/handler.h"

#include <string.h>

#include "event/handlers/handlers.h"

static const struct event_handler *const groups[] = {
	sched_handlers, function_handlers, fgraph_handlers, stack_handlers,    kmem_handlers,
	kvm_handlers,	timer_handlers,	   futex_handlers,  mac80211_handlers, tlb_handlers,
};

const struct event_handler *handler_find(const char *system, const char *name)
{
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		for (const struct event_handler *h = groups[i]; h->name; h++)
			if (strcmp(h->name, name) == 0 && strcmp(h->system, system) == 0)
				return h;
	return NULL;
}
