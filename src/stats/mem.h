/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory of the kernel by the function that asked for it (`mem`): how much it holds, has asked for
 * in all and held at most, from the events kmalloc, kmalloc_node, kfree, kmem_cache_alloc,
 * kmem_cache_alloc_node and kmem_cache_free.
 *
 * A free without its allocation is of memory from before the trace, and is ignored. An allocation
 * at an address whose free was not recorded replaces the older one, which is still counted. The
 * text is trace-cmd's, the order of functions with equal waste included.
 *
 * Memory grows with the number of distinct functions and addresses, up to a limit: further ones are
 * only counted as dropped.
 */
#ifndef STATS_MEM_H
#define STATS_MEM_H

#include <stddef.h>

#include "base/buf.h"
#include "scan/trace.h"

struct mem;

/* memory_limit 0: 1 GiB. NULL without memory. The trace must stay open. */
struct mem *mem_new(struct spur_trace *t, size_t memory_limit, struct spur_error *err);
void mem_free(struct mem *m);

/* Takes a record, of which the event type may be NULL. Records come in time order. */
void mem_record(struct mem *m, const struct event *e, const struct spur_record *r);

/*
 * Takes all records of a buffer of the trace. 0, -EINTR once *stop (which may be NULL) is not zero,
 * or another negative errno with words in err.
 */
int mem_run(struct mem *m, const struct trace_buffer *b, const volatile int *stop,
	    struct spur_error *err);

/* How many allocations and frees were seen, and how many left out beyond the memory limit. */
uint64_t mem_seen(const struct mem *m);
uint64_t mem_dropped(const struct mem *m);

/* Appends the table. */
void mem_print(const struct mem *m, struct buf *out);

#endif
