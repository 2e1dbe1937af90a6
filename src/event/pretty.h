/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `report --pretty`: system calls and signals with names where the print formats show numbers.
 *
 *	openat(dfd=AT_FDCWD, filename=0x7ffe…, flags=O_WRONLY|O_CREAT|O_TRUNC, mode=0666)
 *	openat = -1 ENOENT (No such file or directory)
 *
 * It knows syscalls:sys_enter_* and sys_exit_* (argument names from the event's own format),
 * raw_syscalls:sys_enter and sys_exit (names by number from built-in tables of the traced
 * machine's architecture), signal:*, and ftrace:user_stack where it is known what was mapped.
 */
#ifndef EVENT_PRETTY_H
#define EVENT_PRETTY_H

#include <stdbool.h>

#include <spur/record.h>

#include "base/buf.h"
#include "event/event.h"

struct pretty;

/*
 * A decoder for the events of one trace (one registry: what it finds out about an event type is
 * remembered by the event's index). `machine` is the trace's uname text, or only its machine word;
 * NULL or an unknown one leaves every number unnamed that differs between architectures.
 * NULL without memory.
 */
struct pretty *pretty_new(const char *machine);
void pretty_free(struct pretty *pr);

/*
 * Appends the event's text, what follows "name: " in a report line. False: nothing was appended,
 * print the event as usual. Any number of threads may share a decoder.
 */
bool pretty_print(const struct pretty *pr, struct event_printer *p, struct event *e,
		  const struct spur_record *r, struct buf *out);

#endif
