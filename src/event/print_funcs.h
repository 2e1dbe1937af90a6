/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions of the kernel that print formats call and that libtraceevent's plugins know:
 * jbd2_dev_to_name(), scsi_trace_parse_cdb(), … A print plan looks them up by name.
 *
 * Where the result is shown as text (%s) it is what the function appended to `out`; where it is
 * used as a number it is the returned value, and the text is to be dropped.
 */
#ifndef EVENT_PRINT_FUNCS_H
#define EVENT_PRINT_FUNCS_H

#include <stdbool.h>
#include <stdint.h>

#include <spur/record.h>

#include "base/buf.h"

struct event_printer;

enum print_arg_kind {
	/* args[i] is the value of the expression. */
	PRINT_ARG_NUMBER,
	/* args[i] is a pointer to text, NUL-terminated, that lives during the call. */
	PRINT_ARG_STRING,
	/* args[i] is where in the record the expression points (it is __get_dynamic_array() or an
	   array), or PRINT_NO_BYTES. */
	PRINT_ARG_BYTES,
};

#define PRINT_NO_BYTES	    UINT64_MAX
#define PRINT_FUNC_MAX_ARGS 4

struct print_func {
	const char *name;
	unsigned int nr_args;
	enum print_arg_kind args[PRINT_FUNC_MAX_ARGS];
	uint64_t (*call)(struct event_printer *p, const struct spur_record *r, const uint64_t *args,
			 struct buf *out);
};

/* The function of that name (not NUL-terminated), or NULL. */
const struct print_func *print_func_find(const char *name, size_t len);

#endif
