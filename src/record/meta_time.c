// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the times of a trace mean: the distance of its clock from the time of day, and what turns
 * ticks of the TSC into nanoseconds.
 *
 * The trace's clock can be read only by recording something: a marker in an instance made for this,
 * with the time of day taken before and after.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "dat/dat.h"
#include "record/meta_parts.h"
#include "ring/ring.h"
#include "tracefs/owner.h"

#define TRIES	 8
#define PAGE_CAP 65536
#define NAME_CAP 64
#define NSEC	 1000000000ull

static uint64_t time_of_day(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * NSEC + (uint64_t)t.tv_nsec;
}

/* The time stamp of the last event of a CPU's buffer, which this empties. */
static bool last_time(const struct meta *m, const char *instance, uint32_t cpu, uint64_t *ts)
{
	const struct ring_layout layout = ring_layout_default(
		__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, sizeof(long), m->contents.page_size);
	uint8_t page[PAGE_CAP];
	struct ring_page p;
	struct ring_event e;
	char file[NAME_CAP];
	bool found = false;
	ssize_t n;
	int fd;

	snprintf(file, sizeof(file), "per_cpu/cpu%u/trace_pipe_raw", cpu);
	fd = tracefs_open(m->fs, instance, file, O_RDONLY | O_NONBLOCK, NULL);
	if (fd < 0)
		return false;
	while (layout.page_size <= sizeof(page) && (n = read(fd, page, layout.page_size)) > 0)
		if (ring_page_open(&p, &layout, page, (size_t)n) == 0)
			while (ring_page_next(&p, &e)) {
				*ts = e.ts;
				found = true;
			}
	close(fd);
	return found;
}

/* One measurement; the shorter the time between the two looks at the clock, the better it is. */
static bool measure(struct meta *m, const char *instance, uint64_t *offset, uint64_t *width)
{
	uint64_t before = time_of_day(), after, ts = 0;
	bool found = false;

	if (tracefs_write(m->fs, instance, "trace_marker", TRACEFS_APPEND, "date", NULL) < 0)
		return false;
	after = time_of_day();
	for (uint32_t i = 0; i < m->nr_cpus && !found; i++)
		found = last_time(m, instance, m->cpus[i], &ts);
	*offset = before + (after - before) / 2 - ts;
	*width = after - before;
	return found;
}

static int measure_offset(struct meta *m, const char *instance, uint64_t *best)
{
	const char *clock = m->contents.buffers[0].clock;
	uint64_t narrowest = UINT64_MAX;
	int rc = tracefs_write(m->fs, instance, "trace_clock", TRACEFS_REPLACE, clock, NULL);

	for (int i = 0; i < TRIES && rc == 0; i++) {
		uint64_t offset, width;

		if (measure(m, instance, &offset, &width) && width < narrowest) {
			narrowest = width;
			*best = offset;
		}
	}
	return rc < 0 ? rc : narrowest == UINT64_MAX ? -EIO : 0;
}

int meta_date(struct meta *m, struct spur_error *err)
{
	char name[NAME_CAP], text[32];
	uint64_t offset = 0;
	int rc;

	owner_instance(name, sizeof(name), "date");
	rc = undo_make_instance(m->undo, name, err);
	if (rc < 0)
		return rc;
	rc = measure_offset(m, name, &offset);
	tracefs_remove_instance(m->fs, name, NULL);
	if (rc < 0)
		return error_sys(err, rc, "--date: the trace's clock cannot be read");
	/* Files have it in microseconds. */
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)(offset / 1000));
	return meta_option(m, DAT_OPT_DATE, text, strlen(text) + 1, err);
}

/* ---- ticks ---- */

/* What a perf event's page says about the TSC, stored as multiplier, shift and offset. */
static bool read_tsc(uint32_t *mult, uint32_t *shift, uint64_t *offset)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
	};
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	const struct perf_event_mmap_page *page;
	bool found = false;

	if (fd < 0)
		return false;
	page = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (page != MAP_FAILED) {
		found = page->cap_user_time && page->cap_user_time_zero;
		*mult = page->time_mult;
		*shift = page->time_shift;
		*offset = page->time_zero;
		munmap((void *)page, size);
	}
	close(fd);
	return found;
}

int meta_tsc(struct meta *m, struct spur_error *err)
{
	struct {
		uint32_t mult, shift;
		uint64_t offset;
	} data = {0};

	if (!read_tsc(&data.mult, &data.shift, &data.offset))
		return error_set(
			err, -ENOTSUP,
			"--tsc2nsec: perf does not say how this machine's TSC is converted");
	return meta_option(m, DAT_OPT_TSC2NSEC, &data, sizeof(data), err);
}
