/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Filling a struct spur_error. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <spur/error.h>

/*
 * Records the failure and returns its code, so that a caller can write `return error_set(err,
 * -EBADMSG, "…")`. err may be NULL. The first failure stays: a caller that has nothing to add
 * passes the code on.
 */
int error_set(struct spur_error *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The same, followed by ": " and the text of the system's errno. */
int error_sys(struct spur_error *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Puts context in front of the text that is already there: "PREFIX: text". Returns err's code. */
int error_prefix(struct spur_error *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
