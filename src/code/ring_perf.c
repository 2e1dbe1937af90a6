// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Perf buffers, for kernels without ring buffers: one for each CPU that is online, entered into the
 * map, in which programs find the one of the CPU they run on.
 *
 * The kernel writes lengths, but what a record says is checked against what it has written.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "code/ring_parts.h"
#include "code/sys.h"

struct sample {
	struct perf_event_header header;
	uint32_t size;
	uint8_t data[];
};

struct lost {
	struct perf_event_header header;
	uint64_t id, lost;
};

static int open_cpu(struct ring *r, int map, uint32_t cpu, struct spur_error *err)
{
	struct ring_cpu *c = &r->cpus[cpu];
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_type = PERF_SAMPLE_RAW,
		.sample_period = 1,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)(r->cpu_size / 4),
	};
	void *p;
	int rc;

	c->fd = sys_perf_event_open(&attr, -1, (int)cpu, -1, 0);
	/* A CPU that is not there. */
	if (c->fd == -ENODEV || c->fd == -EINVAL)
		return 0;
	if (c->fd < 0)
		return error_set(err, c->fd, "cannot open the buffer of CPU %u: %s", cpu,
				 strerror(-c->fd));
	p = mmap(NULL, r->page + r->cpu_size, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd, 0);
	if (p == MAP_FAILED)
		return error_sys(err, -errno, "cannot map the buffer of CPU %u", cpu);
	c->base = p;
	rc = sys_map_update(map, &cpu, &c->fd, BPF_ANY);
	if (rc)
		return error_set(err, rc, "cannot use the buffer of CPU %u: %s", cpu,
				 strerror(-rc));
	if (ioctl(c->fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
		return error_sys(err, -errno, "cannot start the buffer of CPU %u", cpu);
	return ring_watch(r, c->fd, err);
}

static int perf_open(struct ring *r, int map, struct spur_error *err)
{
	const unsigned int cpus = sys_possible_cpus();
	int rc = 0;

	r->cpus = calloc(cpus, sizeof(*r->cpus));
	r->cpu_size = 8 * r->page;
	while (r->cpu_size * 2 * cpus <= r->size)
		r->cpu_size *= 2;
	r->wrapped = malloc(UINT16_MAX + 1);
	r->aligned = malloc(UINT16_MAX + 1);
	if (!r->cpus || !r->wrapped || !r->aligned)
		return error_set(err, -ENOMEM, "not enough memory for the kernel's buffer");
	for (; r->nr_cpus < cpus && !rc; r->nr_cpus++) {
		r->cpus[r->nr_cpus].fd = -1;
		rc = open_cpu(r, map, r->nr_cpus, err);
	}
	return rc;
}

static void perf_close(struct ring *r)
{
	for (unsigned int n = 0; n < r->nr_cpus; n++) {
		struct ring_cpu *c = &r->cpus[n];

		if (c->base)
			munmap(c->base, r->page + r->cpu_size);
		if (c->fd >= 0)
			close(c->fd);
	}
	free(r->cpus);
	free(r->wrapped);
	free(r->aligned);
}

/* The record at a position in one piece; size bytes of it. */
static const void *whole(struct ring *r, const uint8_t *data, uint64_t at, size_t size)
{
	const size_t from = at & (r->cpu_size - 1), first = r->cpu_size - from;

	if (size <= first)
		return data + from;
	memcpy(r->wrapped, data + from, first);
	memcpy(r->wrapped + first, data, size - first);
	return r->wrapped;
}

static int read_record(struct ring *r, const void *p, size_t size, ring_each each, void *arg,
		       int *records)
{
	const struct perf_event_header *h = p;
	const struct sample *s = p;
	const struct lost *l = p;

	if (h->type == PERF_RECORD_LOST && size >= sizeof(*l))
		r->lost += l->lost;
	if (h->type != PERF_RECORD_SAMPLE || size < sizeof(*s) || s->size > size - sizeof(*s))
		return 0;
	++*records;
	/* Data begins in the middle of a word, where numbers of 8 bytes must not be. */
	memcpy(r->aligned, s->data, s->size);
	return each(arg, r->aligned, s->size);
}

static int read_cpu(struct ring *r, struct ring_cpu *c, ring_each each, void *arg, int *records)
{
	struct perf_event_mmap_page *control = (struct perf_event_mmap_page *)c->base;
	const uint8_t *data = c->base + r->page;
	const uint64_t end = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
	uint64_t at = control->data_tail;
	int rc = 0;

	while (end - at >= sizeof(struct perf_event_header) && !rc) {
		/* A head is never cut: records are multiples of 8 bytes. */
		const struct perf_event_header *h = (const void *)(data + (at & (r->cpu_size - 1)));
		const size_t size = h->size;

		if (size < sizeof(*h) || size > end - at) {
			at = end;
			break;
		}
		rc = read_record(r, whole(r, data, at, size), size, each, arg, records);
		at += size;
		r->got += size;
	}
	__atomic_store_n(&control->data_tail, at, __ATOMIC_RELEASE);
	return rc;
}

static int perf_read(struct ring *r, ring_each each, void *arg)
{
	int records = 0, rc = 0;

	for (unsigned int n = 0; n < r->nr_cpus && !rc; n++)
		if (r->cpus[n].base)
			rc = read_cpu(r, &r->cpus[n], each, arg, &records);
	return rc ? rc : records;
}

const struct ring_ops ring_perf_ops = {
	.open = perf_open,
	.read = perf_read,
	.close = perf_close,
};
