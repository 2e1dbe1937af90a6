/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the commands that show or drive the kernel's tracer share. */
#ifndef CLI_LIVE_H
#define CLI_LIVE_H

#include "cli/cli.h"
#include "tracefs/owner.h"
#include "tracefs/tracefs.h"

/*
 * Cleans up after recordings that were killed together with their guardians: saves what is in their
 * buffers, undoes what they changed, and says so. What cannot be saved stays where it is, unless
 * `drop` is set. Removes instances and probes without an undo log if their owner is certainly dead.
 * SPUR_OK, or SPUR_ENVIRONMENT when something stays.
 */
int live_clean(const struct tracefs *fs, bool drop);

/*
 * Finds tracefs, and cleans up after recordings that were killed. SPUR_OK, or the exit status after
 * a message.
 */
int live_open(struct tracefs *fs);

/* The same for commands that work without tracefs, too: false, without a message, if it fails. */
bool live_try(struct tracefs *fs);

/* Whether there is such an instance (NULL: the top one, always); false after a message. */
bool live_has_instance(const struct tracefs *fs, const char *name);

/*
 * Copies a file to standard output, up to its end or a Ctrl-C, as cli_write() does. Returns the
 * exit status.
 */
int live_copy(const struct tracefs *fs, const char *instance, const char *file);

/* ---- which buffers are meant: -B, -a, -t --------------------------------------------------- */

enum pick_kind {
	PICK_TOP,
	PICK_ONE,
	PICK_ALL, /* all instances, which the top one is not */
};

/*
 * What the options say, in their order. Options after it that belong to a buffer are stored here.
 */
struct pick {
	enum pick_kind kind;
	const char *name;
	int64_t size_kb; /* 0: as it is */
	bool remove;
};

struct picks {
	struct pick *at;
	size_t n, cap;
};

/* Options that say which buffers; their field is a struct picks. */
/* clang-format off */
#define LIVE_BUFFER_OPTIONS(field) \
	{'B', NULL, OPT_VEC, "NAME", "this instance; may be given several times", field, \
	 live_take_buffer}, \
	{'a', NULL, OPT_VEC, NULL, "all instances, but not the top buffer", field, \
	 live_take_buffer}, \
	{'t', NULL, OPT_VEC, NULL, "the top buffer too, with -B or -a", field, live_take_buffer}
/* clang-format on */

/* For the takes_nothing of their commands. */
#define LIVE_TAKES_NOTHING "; an instance is named with -B"

/* For the options -B, -a and -t: the field is a struct picks. */
int live_take_buffer(void *options, const struct opt *o, const char *arg);

/* A buffer to do something with. */
struct target {
	const char *instance; /* NULL: the top one */
	int64_t size_kb;
	bool remove;
};

struct targets {
	struct target *at;
	size_t n, cap;
	struct instances instances; /* names that are used */
};

/*
 * live_open(), and every buffer that the options name, once, instances before the top one; without
 * options, the top one. SPUR_OK, or the exit status after a message. Names are not copied.
 */
int live_targets(struct tracefs *fs, const struct picks *picks, struct targets *out);
void live_targets_free(struct targets *t);

#endif
