/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Times and durations are counted in nanoseconds, as uint64_t. */
#ifndef BASE_NANOSECONDS_H
#define BASE_NANOSECONDS_H

#include <stdint.h>
#include <time.h>

#define NS_PER_US 1000ull
#define NS_PER_MS 1000000ull
#define NS_PER_S  1000000000ull

static inline uint64_t timespec_to_ns(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * NS_PER_S + (uint64_t)t->tv_nsec;
}

static inline struct timespec ns_to_timespec(uint64_t ns)
{
	return (struct timespec){(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};
}

/* What a clock shows now; 0 when there is no such clock. */
static inline uint64_t clock_now_ns(clockid_t clock)
{
	struct timespec t;

	return clock_gettime(clock, &t) == 0 ? timespec_to_ns(&t) : 0;
}

#endif
