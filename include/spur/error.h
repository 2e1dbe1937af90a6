/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How the library reports errors.
 *
 * A function that can fail returns 0 (or a count) on success and a negative errno on failure, and
 * fills the given spur_error with a message: what failed, on what, and why. A struct that has a
 * message keeps it, so one struct is enough for several calls. The argument may be NULL. The
 * library never prints and never exits.
 */
#ifndef SPUR_ERROR_H
#define SPUR_ERROR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPUR_API __attribute__((visibility("default")))

/* The exit status of a process; spur_error_status() derives it from the errno. */
enum spur_status {
	SPUR_OK = 0,
	SPUR_USAGE = 1,	      /* the caller asked for something that makes no sense: EINVAL */
	SPUR_ENVIRONMENT = 2, /* the system refused: any other errno */
	SPUR_INCOMPLETE = 3,  /* the data ends too early: ENODATA */
	SPUR_CORRUPT = 4,     /* the data contradicts itself: EBADMSG */
};

struct spur_error {
	int code; /* negative errno, 0 while nothing failed */
	char text[400];
};

/* The exit status that belongs to a negative errno. */
SPUR_API enum spur_status spur_error_status(int code);

/* The version of the library that is in use, as "0.1.0". */
SPUR_API const char *spur_version(void);

#ifdef __cplusplus
}
#endif
#endif
