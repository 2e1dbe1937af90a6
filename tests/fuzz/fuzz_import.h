/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the fuzz targets of imports share. */
#ifndef FUZZ_IMPORT_H
#define FUZZ_IMPORT_H

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "import/sources.h"
#include "scan/scan.h"

#define FUZZ_RECORDS 10000 /* that are read of a trace */

static inline int fuzz_file(const uint8_t *data, size_t size)
{
	const int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	return fd;
}

/* Every import makes a trace that is not damaged. */
static inline void fuzz_read(int fd)
{
	struct spur_error err = {0};
	struct spur_trace *t;
	struct event_printer printer;
	struct scan m;
	struct buf out;
	const struct spur_record *r;

	if (trace_open_fd(fd, "fuzz", NULL, &t, &err) < 0)
		abort();
	if (t->dat->damage.code)
		abort();
	if (event_printer_init(&printer, t->events) < 0)
		abort();
	scan_init(&m, NULL);
	buf_init(&out, 1u << 20);
	for (uint32_t i = 0; i < t->nr_buffers; i++)
		scan_add_buffer(&m, &t->buffers[i]);
	scan_start(&m);
	for (int i = 0; i < FUZZ_RECORDS && (r = scan_next(&m)) != NULL; i++) {
		struct event *e = events_of_record(t->events, r);

		buf_reset(&out);
		if (e)
			event_print(&printer, e, r, &out);
	}
	buf_free(&out);
	scan_free(&m);
	event_printer_done(&printer);
	trace_close(t);
}

/* Takes over the descriptor of a file or folder. */
static inline void fuzz_import(const struct import_source *s, int from)
{
	const struct source_job job = {.path = "fuzz", .source = s};
	const int to = memfd_create("made", MFD_CLOEXEC), keep = dup(to);
	struct spur_error err = {0};
	struct source_result result;

	if (to < 0 || keep < 0)
		abort();
	if (source_convert(&job, from, to, "made", &result, &err) == 0)
		fuzz_read(keep);
	else
		close(keep);
	close(from);
}

#endif
