/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records from programs in the kernel: a BPF ring buffer, or, before kernel 5.8, a perf buffer for
 * each CPU, with the same interface.
 *
 * A wake-up for each record would cost the traced process more than the record. The kernel wakes
 * the reader for the first record after everything was read (flags 0 of bpf_ringbuf_output() and
 * _submit()); from then on it ignores wake-ups and reads again every few milliseconds, until no
 * more records come.
 */
#ifndef CODE_RING_H
#define CODE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <spur/error.h>

struct ring;

/* A record; the memory is the kernel's, and only valid until it returns. Not 0 ends reading. */
typedef int (*ring_each)(void *arg, const void *data, size_t size);

/*
 * map is a BPF_MAP_TYPE_RINGBUF of `size` bytes, or with perf a BPF_MAP_TYPE_PERF_EVENT_ARRAY,
 * which is filled: each CPU gets a buffer of about that size divided by their number.
 */
int ring_open(int map, size_t size, bool perf, struct ring **out, struct spur_error *err);
void ring_close(struct ring *r);

/*
 * Reads what is there. How many records, or the first value that each returned and that is not 0.
 */
int ring_read(struct ring *r, ring_each each, void *arg);

/* For poll(2) and the like, together with ring_delay(): readable when the kernel has woken us. */
int ring_fd(const struct ring *r);

/* How long to wait at most before reading again, in milliseconds, going by what was there. */
int ring_delay(const struct ring *r);

/*
 * Records that did not fit perf buffers. Programs with a ring buffer count their losses themselves.
 */
uint64_t ring_lost(const struct ring *r);

#endif
