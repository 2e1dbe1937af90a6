// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The BPF ring buffer. Memory as the kernel lays it out:
 *
 *	page 0		where we are (bytes since the beginning; only we write it)
 *	page 1		where the kernel is
 *	from page 2	the data, and once more the same memory, so that no record is cut in two
 *
 * A record is a word of length, with a bit that says that it is still being written, one word that
 * is not for us, and the data, up to a multiple of 8.
 */
#include "code/ring.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/vec.h"
#include "code/ring_parts.h"

enum {
	MIN_DELAY = 1,
	MAX_BUSY_DELAY = 8,
	MAX_DELAY = 64,
	BYTES_PER_MS = 256 << 10, /* more than anybody sends */
	GIVE_BACK = 64 << 10,	  /* bytes after which the kernel is told that we have read them */
};

static int watch(struct ring *r, int op, int fd, uint32_t events)
{
	struct epoll_event e = {.events = events, .data = {.fd = fd}};

	return epoll_ctl(r->epoll, op, fd, &e);
}

int ring_watch(struct ring *r, int fd, struct spur_error *err)
{
	int *slot = vec_push(&r->watched);

	if (!slot)
		return error_set(err, -ENOMEM, "not enough memory for the kernel's buffer");
	*slot = fd;
	if (!watch(r, EPOLL_CTL_ADD, fd, EPOLLIN))
		return 0;
	return error_sys(err, -errno, "cannot wait for the kernel's buffer");
}

/* Whether the kernel can wake us. When it may again, it does so at once if there is something. */
static void set_wakeups(struct ring *r, bool on)
{
	if (r->deaf != on)
		return;
	r->deaf = !on;
	vec_each (fd, &r->watched)
		watch(r, EPOLL_CTL_MOD, *fd, on ? EPOLLIN : 0);
}

/* ---- the ring buffer ---- */

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
		 * The kernel wakes whoever has read everything: it must see that before we look
		 * again.
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

/* ---- both ---- */

int ring_open(int map, size_t size, bool perf, struct ring **out, struct spur_error *err)
{
	struct ring *r = calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return error_set(err, -ENOMEM, "not enough memory for the kernel's buffer");
	r->ops = perf ? &ring_perf_ops : &bpf_ring_ops;
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

/* When to look again, if what there is comes as fast as it can. */
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
