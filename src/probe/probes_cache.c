// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/probes_cache.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "event/event.h"
#include "probe/probes_parts.h"
#include "scan/trace.h"

#define BTF_FILE "/sys/kernel/btf/vmlinux"

struct probe_cache *world_cache(struct probe_world *w)
{
	if (!w->cache)
		w->cache = calloc(1, sizeof(struct probe_cache));
	return w->cache;
}

void probe_world_close(struct probe_world *w)
{
	struct probe_cache *c = w->cache;

	if (!c)
		return;
	tracefs_events_free(&c->events);
	if (c->has_traceable)
		traceable_free(&c->traceable);
	btf_free(c->btf);
	free(c);
	w->cache = NULL;
}

const char *world_path(const struct probe_world *w, const char *file, char *path, size_t cap)
{
	int n = snprintf(path, cap, "%s/%s", w->tracefs ? w->tracefs : "", file);

	return n > 0 && (size_t)n < cap ? path : "";
}

/* ---- events ---------------------------------------------------------------------------- */

static int recorded_events(struct probe_world *w, struct tracefs_events *list)
{
	const struct events *ev = w->trace->events;

	for (size_t i = 0; i < ev->nr; i++) {
		const struct event *e = ev->list[i];
		struct tracefs_event *entry;

		if (e->added)
			continue;
		entry = vec_push(list);
		if (!entry)
			return -ENOMEM;
		entry->system = e->system;
		entry->name = e->name;
	}
	return 0;
}

static int load_events(struct probe_world *w, struct tracefs_events *list, struct spur_error *err)
{
	struct tracefs fs = {0};

	if (w->trace)
		return recorded_events(w, list);
	if (!w->tracefs || strlen(w->tracefs) >= sizeof(fs.path))
		return error_set(err, -ENOENT, "tracefs is not mounted");
	memcpy(fs.path, w->tracefs, strlen(w->tracefs));
	return tracefs_events_load(&fs, NULL, list, err);
}

const struct tracefs_events *world_events(struct match *m)
{
	struct probe_cache *c = world_cache(m->world);
	struct spur_error err = {0};

	if (!c) {
		match_no_memory(m);
		return NULL;
	}
	if (!c->has_events && load_events(m->world, &c->events, &err)) {
		tracefs_events_free(&c->events);
		m->world->denied |= err.code == -EACCES;
		match_error(m, "the kernel's events cannot be listed: %s", err.text);
		return NULL;
	}
	c->has_events = true;
	return &c->events;
}

/* ---- functions and types --------------------------------------------------------------- */

const struct traceable *world_traceable(struct probe_world *w)
{
	struct probe_cache *c = world_cache(w);
	char path[512];

	if (c && !c->has_traceable) {
		traceable_load(&c->traceable, w->traceable
						      ? w->traceable
						      : world_path(w, "available_filter_functions",
								   path, sizeof(path)));
		c->has_traceable = true;
	}
	return c ? &c->traceable : NULL;
}

const struct btf *world_btf(struct probe_world *w)
{
	struct probe_cache *c = world_cache(w);
	struct spur_error ignored = {0};

	if (c && !c->looked_for_btf) {
		c->looked_for_btf = true;
		if (btf_open(w->btf ? w->btf : BTF_FILE, NULL, &c->btf, &ignored))
			c->btf = NULL;
	}
	return c ? c->btf : NULL;
}
