/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Holding a mutex up to the end of a block:
 *
 *	mutex_hold(&list->lock);
 *	return list->n;
 */
#ifndef BASE_MUTEX_H
#define BASE_MUTEX_H

#include <pthread.h>

static inline pthread_mutex_t *mutex_take(pthread_mutex_t *mutex)
{
	pthread_mutex_lock(mutex);
	return mutex;
}

static inline void mutex_let_go(pthread_mutex_t *const *mutex)
{
	pthread_mutex_unlock(*mutex);
}

/* Locks now, and unlocks wherever the block is left. Once in a block. */
#define mutex_hold(mutex)                                                                          \
	pthread_mutex_t *const mutex_held __attribute__((cleanup(mutex_let_go), unused)) =         \
		mutex_take(mutex)

#endif
