// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The buffers through which programs in the kernel send records: a ring buffer, or perf buffers on
 * kernels without it. The kernel wakes the reader for new data; a busy buffer is polled instead.
 */
#include "code/ring.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/vec.h"
#include "code/sys.h"

struct ring_ops {
	int (*open)(struct ring *r, int map, struct spur_error *err);
	/* Reads all that is there; adds the bytes to r->got. */
	int (*read)(struct ring *r, ring_each each, void *arg);
	void (*close)(struct ring *r);
};

struct ring {
	const struct ring_ops *ops;
	size_t size, page;
	int epoll;
	struct {
		int *at;
		size_t n, cap;
	} watched; /* descriptors in it */
	bool deaf; /* to them */
	int delay;
	uint64_t got, lost;

	/* Of a ring buffer. */
	uint64_t *consumer; /* a page that spur writes */
	uint8_t *producer;  /* a page of the kernel, then the data, twice */

	/* Of perf buffers. */
	struct ring_cpu {
		int fd;
		uint8_t *base; /* a page of control, then the data */
	} * cpus;
	unsigned int nr_cpus;
	size_t cpu_size;  /* of the data of each */
	uint8_t *wrapped; /* a copy of a record that wraps around the end of the data */
	uint8_t *aligned; /* the data of a record */
};

enum {
	MIN_DELAY = 1,
	MAX_BUSY_DELAY = 8,
	MAX_DELAY = 64,
	BYTES_PER_MS = 256 << 10, /* more than programs send */
	GIVE_BACK = 64 << 10,	  /* bytes after which the kernel gets the new reading position */
};

static int watch(struct ring *r, int op, int fd, uint32_t events)
{
	struct epoll_event e = {.events = events, .data = {.fd = fd}};

	return epoll_ctl(r->epoll, op, fd, &e);
}

/* Makes a descriptor wake us. */
static int ring_watch(struct ring *r, int fd, struct spur_error *err)
{
	int *slot = vec_push(&r->watched);

	if (!slot)
		return error_set(err, -ENOMEM, "not enough memory for the kernel's buffer");
	*slot = fd;
	if (!watch(r, EPOLL_CTL_ADD, fd, EPOLLIN))
		return 0;
	return error_sys(err, -errno, "cannot wait for the kernel's buffer");
}

/* Enables or disables wake-ups. When they are enabled, pending data wakes the reader at once. */
static void set_wakeups(struct ring *r, bool on)
{
	if (r->deaf != on)
		return;
	r->deaf = !on;
	vec_each (fd, &r->watched)
		watch(r, EPOLL_CTL_MOD, *fd, on ? EPOLLIN : 0);
}

/* ---- the ring buffer ---- */

/*
 * Memory as the kernel lays it out:
 *
 *	page 0		the reader's position (bytes since the beginning; only spur writes it)
 *	page 1		the kernel's position
 *	from page 2	the data, and the same memory again, so that no record is cut in two
 *
 * A record is a word with its length, and a bit while it is still being written, one word for the
 * kernel, and the data, padded to a multiple of 8.
 */

static int bpf_ring_open(struct ring *r, int map, struct spur_error *err)
{
	void *p = mmap(NULL, r->page, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);

	if (p == MAP_FAILED)
		return error_sys(err, -errno, "cannot map the ring buffer");
	r->consumer = p;
	p = mmap(NULL, r->page + 2 * r->size, PROT_READ, MAP_SHARED, map, (off_t)r->page);
	if (p == MAP_FAILED)
		return error_sys(err, -errno, "cannot map the ring buffer");
	r->producer = p;
	return ring_watch(r, map, err);
}

static void bpf_ring_close(struct ring *r)
{
	if (r->consumer)
		munmap(r->consumer, r->page);
	if (r->producer)
		munmap(r->producer, r->page + 2 * r->size);
}

/* One pass over what is there. Returns what each returned, or 0; *records counts. */
static int read_pass(struct ring *r, ring_each each, void *arg, uint64_t *at, int *records)
{
	const uint64_t end = __atomic_load_n((const uint64_t *)r->producer, __ATOMIC_ACQUIRE);
	const uint8_t *data = r->producer + r->page;
	uint64_t told = *at;
	int rc = 0;

	while (*at < end && !rc) {
		const uint32_t *head = (const uint32_t *)(data + (*at & (r->size - 1)));
		const uint32_t word = __atomic_load_n(head, __ATOMIC_ACQUIRE);
		const uint32_t len = word & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		if (word & BPF_RINGBUF_BUSY_BIT)
			break;
		*at += (len + BPF_RINGBUF_HDR_SZ + 7ull) & ~7ull;
		if (!(word & BPF_RINGBUF_DISCARD_BIT)) {
			rc = each(arg, (const uint8_t *)head + BPF_RINGBUF_HDR_SZ, len);
			++*records;
		}
		if (*at - told >= GIVE_BACK) {
			__atomic_store_n(r->consumer, *at, __ATOMIC_RELEASE);
			told = *at;
		}
	}
	__atomic_store_n(r->consumer, *at, __ATOMIC_RELEASE);
	return rc;
}

static int bpf_ring_read(struct ring *r, ring_each each, void *arg)
{
	const uint64_t begin = *r->consumer;
	uint64_t at = begin, before;
	int records = 0, rc;

	do {
		before = at;
		rc = read_pass(r, each, arg, &at, &records);
		/*
		 * The kernel wakes a reader that has read everything: it must see that before we
		 * look again.
		 */
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	} while (at != before && !rc && at - begin < r->size);
	r->got += at - begin;
	return rc ? rc : records;
}

static const struct ring_ops bpf_ring_ops = {
	.open = bpf_ring_open,
	.read = bpf_ring_read,
	.close = bpf_ring_close,
};

/* ---- perf buffers ---- */

/*
 * Perf buffers, for kernels without ring buffers: one for each online CPU, stored in a map in which
 * programs find the one of their CPU.
 *
 * The lengths in records are checked against the number of bytes that the kernel has written.
 */

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

static const struct ring_ops perf_ops = {
	.open = perf_open,
	.read = perf_read,
	.close = perf_close,
};

/* ---- both ---- */

int ring_open(int map, size_t size, bool perf, struct ring **out, struct spur_error *err)
{
	struct ring *r = calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return error_set(err, -ENOMEM, "not enough memory for the kernel's buffer");
	r->ops = perf ? &perf_ops : &bpf_ring_ops;
	r->size = size;
	r->page = (size_t)sysconf(_SC_PAGESIZE);
	r->delay = MIN_DELAY;
	r->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (r->epoll < 0)
		rc = error_sys(err, -errno, "cannot wait for the kernel's buffer");
	else
		rc = r->ops->open(r, map, err);
	if (rc) {
		ring_close(r);
		return rc;
	}
	*out = r;
	return 0;
}

void ring_close(struct ring *r)
{
	if (!r)
		return;
	r->ops->close(r);
	if (r->epoll >= 0)
		close(r->epoll);
	vec_free(&r->watched);
	free(r);
}

/* The delay until the next read of a busy buffer. */
static int busy_delay(const struct ring *r)
{
	const size_t ms = r->size / 4 / BYTES_PER_MS;

	if (r->got >= r->size / 4)
		return 0;
	return ms < MIN_DELAY ? MIN_DELAY : ms > MAX_BUSY_DELAY ? MAX_BUSY_DELAY : (int)ms;
}

int ring_read(struct ring *r, ring_each each, void *arg)
{
	int rc;

	r->got = 0;
	rc = r->ops->read(r, each, arg);
	set_wakeups(r, !r->got);
	if (r->got)
		r->delay = busy_delay(r);
	else
		r->delay = r->delay >= MIN_DELAY && r->delay < MAX_DELAY / 2 ? 2 * r->delay
									     : MAX_DELAY;
	return rc;
}

int ring_fd(const struct ring *r)
{
	return r->epoll;
}

int ring_delay(const struct ring *r)
{
	return r->delay;
}

uint64_t ring_lost(const struct ring *r)
{
	return r->lost;
}
