/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a tracing directory says that goes into a trace: this machine's, for recordings, or a copy
 * that somebody made of a board's.
 *
 * Formats are gathered event by event, or system by system, and then put into the contents:
 *
 *	struct dat_tracing t = {.path = "/sys/kernel/tracing", .arena = &arena};
 *	dat_tracing_system(&t, "sched", &err);
 *	dat_tracing_formats(&t, &contents, &err);
 *	dat_tracing_free(&t);
 */
#ifndef DAT_TRACING_H
#define DAT_TRACING_H

#include "base/arena.h"
#include "base/vec.h"
#include "dat/write.h"

struct dat_tracing {
	const char *path;
	struct arena *arena;		 /* of all that is read */
	vec_of(struct dat_span) formats; /* of the current system */
	vec_of(struct dat_out_system) systems;
};

/* A file, whatever its path, in an arena; terminated. */
int dat_tracing_path(struct arena *arena, const char *path, struct dat_span *to,
		     struct spur_error *err);

/* A file of the directory; a missing one counts as empty. */
int dat_tracing_optional(const struct dat_tracing *t, const char *file, struct dat_span *to,
			 struct spur_error *err);

/* What describes pages and records, and what follows from it: byte order, sizes. */
int dat_tracing_headers(const struct dat_tracing *t, struct dat_contents *c,
			struct spur_error *err);

/* The numbers of the CPUs that have buffers, increasing, in the arena; none is no error. */
int dat_tracing_cpus(const struct dat_tracing *t, uint32_t **cpus, uint32_t *n,
		     struct spur_error *err);

/*
 * Collects the format of an event, of all events of a system, of all systems'. Names that are not,
 * or no longer, events or systems are skipped. Events of a system come one after the other.
 */
int dat_tracing_event(struct dat_tracing *t, const char *system, const char *event,
		      struct spur_error *err);
int dat_tracing_system(struct dat_tracing *t, const char *system, struct spur_error *err);
int dat_tracing_systems(struct dat_tracing *t, struct spur_error *err);

/* Puts what was gathered into the contents. ftrace's own events have their own place there. */
int dat_tracing_formats(struct dat_tracing *t, struct dat_contents *c, struct spur_error *err);

/* Forgets what was gathered; the arena stays. */
void dat_tracing_free(struct dat_tracing *t);

/* "Linux HOST RELEASE MACHINE" of this machine, in the arena; NULL when it is not known. */
const char *dat_tracing_uname(struct arena *arena);

/* ---- all of a machine ----------------------------------------------------------------- */

/*
 * What a machine says about its events: formats, symbols, names, as its tracing directory has it.
 *
 * The directory may be a copy, as people make them of boards. Whatever is missing from a copy is
 * left out, but for the formats of the events.
 */
struct dat_machine {
	struct arena arena; /* everything below */
	struct dat_contents contents;
};

/*
 * Reads a tracing directory. kallsyms: another file than /proc/kallsyms, or NULL. A copy is of an
 * unknown machine: its contents do not say it is this one, and have no symbols but those of a file
 * that is named. The buffers are an empty top one.
 * dat_machine_free() also after an error.
 */
int dat_machine_read(struct dat_machine *m, const char *tracing, const char *kallsyms, bool copy,
		     struct spur_error *err);
void dat_machine_free(struct dat_machine *m);

#endif
