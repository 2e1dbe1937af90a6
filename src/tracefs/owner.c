// SPDX-License-Identifier: GPL-2.0-or-later
#include "tracefs/owner.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"

/* Numbers that all kernels give to the first namespaces. */
#define FIRST_PIDNS  0xEFFFFFFCull
#define FIRST_TIMENS 0xEFFFFFFAull

#define START_FIELD 19 /* of /proc/PID/stat, counted from after the name */

static uint64_t namespace_of_self(const char *kind)
{
	char path[64], target[64];
	const char *number;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/ns/%s", kind);
	n = readlink(path, target, sizeof(target) - 1);
	if (n <= 0)
		return 0;
	target[n] = '\0';
	number = strchr(target, '[');
	return number ? strtoull(number + 1, NULL, 10) : 0;
}

/* 0 when there is no such process, or it cannot be seen. */
static uint64_t start_of(pid_t pid)
{
	char path[64];
	const char *at;
	struct buf text;
	uint64_t start = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	buf_init(&text, 64u << 10);
	if (file_read(path, &text, NULL) == 0) {
		at = strrchr(buf_str(&text), ')');
		for (int i = 0; at && i <= START_FIELD; i++)
			at = strchr(at + 1, ' ');
		start = at ? strtoull(at + 1, NULL, 10) : 0;
	}
	buf_free(&text);
	return start;
}

static void fill_namespaces(struct owner *o)
{
	o->pidns = namespace_of_self("pid");
	o->timens = namespace_of_self("time");
	/* A kernel without namespaces of time has one of them. */
	if (o->pidns && !o->timens)
		o->timens = FIRST_TIMENS;
}

void owner_self(struct owner *o)
{
	o->pid = getpid();
	o->start = start_of(o->pid);
	fill_namespaces(o);
}

enum owner_state owner_state(const struct owner *o)
{
	struct owner self;
	uint64_t start;

	fill_namespaces(&self);
	if (!o->pidns || self.pidns != o->pidns || self.timens != o->timens)
		return OWNER_UNKNOWN;
	if (kill(o->pid, 0) != 0 && errno == ESRCH)
		return OWNER_DEAD;
	start = start_of(o->pid);
	return start && o->start && start != o->start ? OWNER_DEAD : OWNER_ALIVE;
}

void owner_tag(const struct owner *o, char *tag, size_t cap)
{
	if (o->pidns == FIRST_PIDNS && o->timens == FIRST_TIMENS)
		snprintf(tag, cap, "%d.%llx", (int)o->pid, (unsigned long long)o->start);
	else
		snprintf(tag, cap, "%d.%llx.%llx.%llx", (int)o->pid, (unsigned long long)o->start,
			 (unsigned long long)o->pidns, (unsigned long long)o->timens);
}

/* A hexadecimal number after a dot; false when there is none. */
static bool take_hex(const char **at, uint64_t *value)
{
	char *end;

	if (**at != '.' || !strchr("0123456789abcdef", (*at)[1]) || !(*at)[1])
		return false;
	*value = strtoull(*at + 1, &end, 16);
	*at = end;
	return true;
}

bool owner_parse(const char *tag, struct owner *o)
{
	char *end;
	const char *at;
	long pid;

	if (*tag < '1' || *tag > '9')
		return false;
	errno = 0;
	pid = strtol(tag, &end, 10);
	at = end;
	*o = (struct owner){.pid = (pid_t)pid, .pidns = FIRST_PIDNS, .timens = FIRST_TIMENS};
	if (errno || pid > INT_MAX || !take_hex(&at, &o->start))
		return false;
	if (*at == '.' && (!take_hex(&at, &o->pidns) || !take_hex(&at, &o->timens)))
		return false;
	return *at == '\0' || *at == '-';
}

void owner_instance(char *name, size_t cap, const char *suffix)
{
	char tag[OWNER_TAG_CAP];
	struct owner self;

	owner_self(&self);
	owner_tag(&self, tag, sizeof(tag));
	snprintf(name, cap, "spur-%s%s%s", tag, *suffix ? "-" : "", suffix);
}

void owner_group(char *name, size_t cap)
{
	char tag[OWNER_TAG_CAP];
	struct owner self;

	owner_self(&self);
	owner_tag(&self, tag, sizeof(tag));
	for (char *p = tag; *p; p++)
		if (*p == '.')
			*p = '_';
	snprintf(name, cap, "spur_%s", tag);
}

bool owner_of_group(const char *group, struct owner *o)
{
	char tag[OWNER_TAG_CAP];

	if (strncmp(group, "spur_", 5) != 0 || strlen(group + 5) >= sizeof(tag))
		return false;
	snprintf(tag, sizeof(tag), "%s", group + 5);
	for (char *p = tag; *p; p++)
		if (*p == '_')
			*p = '.';
	return owner_parse(tag, o);
}

void owner_boot(char *boot, size_t cap)
{
	struct buf text;

	buf_init(&text, 4096);
	boot[0] = '\0';
	if (file_read("/proc/sys/kernel/random/boot_id", &text, NULL) == 0)
		snprintf(boot, cap, "%.*s", (int)strcspn(buf_str(&text), "\n"), text.data);
	buf_free(&text);
}
