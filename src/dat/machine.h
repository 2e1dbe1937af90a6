/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a machine says about its events: formats, symbols, names, as its tracing directory has it.
 *
 * The directory may be a copy, as people make them of boards: whatever but the events' formats is
 * missing from one is left out.
 */
#ifndef DAT_MACHINE_H
#define DAT_MACHINE_H

#include "base/arena.h"
#include "dat/write.h"

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
