// SPDX-License-Identifier: LGPL-2.1-or-later
/* The text of errors. struct spur_error belongs to the caller and has nothing to free. */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum spur_status spur_error_status(int code)
{
	switch (-code) {
	case 0: return SPUR_OK;
	case EINVAL: return SPUR_USAGE;
	case ENODATA: return SPUR_INCOMPLETE;
	case EBADMSG: return SPUR_CORRUPT;
	default: return SPUR_ENVIRONMENT;
	}
}

/*
 * The first message stays, because the function that failed knows the reason. False if there is a
 * message already.
 */
static bool first_words(struct spur_error *err, int code, const char *fmt, va_list ap)
{
	if (!err || err->code)
		return false;
	err->code = code;
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	return true;
}

int error_set(struct spur_error *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	first_words(err, code, fmt, ap);
	va_end(ap);
	return code;
}

int error_sys(struct spur_error *err, int code, const char *fmt, ...)
{
	va_list ap;
	size_t len;

	va_start(ap, fmt);
	if (first_words(err, code, fmt, ap)) {
		len = strlen(err->text);
		snprintf(err->text + len, sizeof(err->text) - len, ": %s", strerror(-code));
	}
	va_end(ap);
	return code;
}

int error_prefix(struct spur_error *err, const char *fmt, ...)
{
	char was[sizeof(err->text)];
	va_list ap;
	size_t len;

	if (!err)
		return 0;
	memcpy(was, err->text, sizeof(was));
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	len = strlen(err->text);
	snprintf(err->text + len, sizeof(err->text) - len, ": %s", was);
	return err->code;
}
