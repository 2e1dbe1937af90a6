// SPDX-License-Identifier: GPL-2.0-or-later
#include "tracefs/instances.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "tracefs/journal.h"

#define OWN_PREFIX "spur-"

static int add_name(void *arg, const char *name)
{
	char **slot = vec_push((struct instances *)arg);

	if (!slot)
		return -ENOMEM;
	*slot = strdup(name);
	return *slot ? 0 : -ENOMEM;
}

int instances_load(const struct tracefs *fs, struct instances *list, struct spur_error *err)
{
	int rc;

	memset(list, 0, sizeof(*list));
	if (!tracefs_has(fs, NULL, "instances"))
		return 0;
	rc = tracefs_each(fs, NULL, "instances", add_name, list, err);
	if (rc < 0) {
		instances_free(list);
		return error_sys(err, rc, "the list of instances");
	}
	return 0;
}

void instances_free(struct instances *list)
{
	vec_each (name, list)
		free(*name);
	vec_free(list);
}

/* The process of a name "spur-PID…"; *known: all of its owner is in the name. */
static pid_t parse(const char *name, struct owner *o, bool *known)
{
	const char *digits = name + strlen(OWN_PREFIX);
	char *end;
	long pid;

	*known = false;
	if (strncmp(name, OWN_PREFIX, strlen(OWN_PREFIX)) != 0 || *digits < '1' || *digits > '9')
		return 0;
	*known = owner_parse(digits, o);
	if (*known)
		return o->pid;
	errno = 0;
	pid = strtol(digits, &end, 10);
	return !errno && pid <= INT_MAX && (*end == '\0' || *end == '-') ? (pid_t)pid : 0;
}

pid_t instance_owner(const char *name)
{
	struct owner o;
	bool known;

	return parse(name, &o, &known);
}

bool instance_is_leftover(const char *name)
{
	struct owner o;
	bool known;
	pid_t pid = parse(name, &o, &known);

	if (pid <= 0)
		return false;
	if (known ? owner_state(&o) != OWNER_DEAD : kill(pid, 0) == 0 || errno != ESRCH)
		return false;
	return !journal_is_used(pid);
}
