// SPDX-License-Identifier: GPL-2.0-or-later
/* The kernel's events, and what a user's words for them mean. */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "tracefs/tracefs.h"

#define LIST_LIMIT (16u << 20)
#define WORD_CAP   256

static int by_system_and_name(const void *a, const void *b)
{
	const struct tracefs_event *x = a, *y = b;
	int order = strcmp(x->system, y->system);

	return order ? order : strcmp(x->name, y->name);
}

/* Takes a list "system:name" per line apart, in place. */
static int split_list(struct tracefs_events *list)
{
	for (char *at = list->names, *next; *at; at = next) {
		char *colon;
		struct tracefs_event *e;

		next = at + strcspn(at, "\n");
		if (*next)
			*next++ = '\0';
		colon = strchr(at, ':');
		if (!colon)
			continue;
		e = vec_push(list);
		if (!e)
			return -ENOMEM;
		*colon = '\0';
		e->system = at;
		e->name = colon + 1;
	}
	if (list->n)
		qsort(list->at, list->n, sizeof(*list->at), by_system_and_name);
	return 0;
}

int tracefs_events_load(const struct tracefs *fs, const char *instance, struct tracefs_events *list,
			struct spur_error *err)
{
	struct buf text;
	int rc;

	memset(list, 0, sizeof(*list));
	buf_init(&text, LIST_LIMIT);
	/* Events are the same for all instances, and only the top directory has the list. */
	if (!tracefs_has(fs, instance, "available_events"))
		instance = NULL;
	rc = tracefs_read(fs, instance, "available_events", &text, err);
	if (rc < 0) {
		buf_free(&text);
		return rc;
	}
	list->names = text.data;
	if (split_list(list) < 0) {
		tracefs_events_free(list);
		return error_set(err, -ENOMEM, "out of memory for the list of events");
	}
	return 0;
}

void tracefs_events_free(struct tracefs_events *list)
{
	vec_free(list);
	free(list->names);
	list->names = NULL;
}

static bool word_matches(const char *wanted, size_t len, const char *name)
{
	char glob[WORD_CAP];

	if (len == 0 || (len == 3 && memcmp(wanted, "all", 3) == 0))
		return true;
	if (len >= sizeof(glob))
		return false;
	memcpy(glob, wanted, len);
	glob[len] = '\0';
	return fnmatch(glob, name, 0) == 0;
}

/* The system call's name of an event of its entry or exit, or NULL. */
static const char *syscall_of(const struct tracefs_event *e)
{
	if (strcmp(e->system, "syscalls") != 0)
		return NULL;
	if (strncmp(e->name, "sys_enter_", 10) == 0)
		return e->name + 10;
	return strncmp(e->name, "sys_exit_", 9) == 0 ? e->name + 9 : NULL;
}

bool tracefs_event_matches(const struct tracefs_event *e, const char *wanted)
{
	size_t len = strcspn(wanted, ":/");
	const char *rest = wanted[len] ? wanted + len + 1 : NULL;

	if (!rest)
		return word_matches(wanted, len, e->system) || word_matches(wanted, len, e->name);
	if (len == 7 && memcmp(wanted, "syscall", 7) == 0) {
		const char *name = syscall_of(e);

		return name && word_matches(rest, strlen(rest), name);
	}
	return word_matches(wanted, len, e->system) && word_matches(rest, strlen(rest), e->name);
}
