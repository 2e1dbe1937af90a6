// SPDX-License-Identifier: GPL-2.0-or-later
/* Tags of processes in the names of instances and probes that spur makes in the kernel. */
#include "tracefs/owner.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/scoped.h"
#include "base/vec.h"
#include "tracefs/journal.h"

/* Numbers that all kernels give to the first namespaces. */
#define FIRST_PIDNS  0xEFFFFFFCull
#define FIRST_TIMENS 0xEFFFFFFAull

#define START_FIELD 19 /* of /proc/PID/stat, counted from after the name */

/* 0 if it is not known; errno says why. */
static uint64_t namespace_of(const char *process, const char *kind)
{
	char path[PATH_MAX], target[64];
	const char *number;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%s/ns/%s", process, kind);
	n = readlink(path, target, sizeof(target) - 1);
	if (n <= 0)
		return 0;
	target[n] = '\0';
	number = strchr(target, '[');
	return number ? strtoull(number + 1, NULL, 10) : 0;
}

/* Whether a process is in the first namespace, where it has one number only. */
static bool is_in_first(const char *process, bool *known)
{
	char path[PATH_MAX];
	scoped_buf text = buf_new(64u << 10);
	const char *numbers;

	snprintf(path, sizeof(path), "/proc/%s/status", process);
	numbers = file_read(path, &text, NULL) == 0 ? strstr(buf_str(&text), "\nNSpid:") : NULL;
	*known = numbers != NULL;
	numbers = numbers ? numbers + strlen("\nNSpid:") : "";
	numbers += strspn(numbers, "\t ");
	numbers += strspn(numbers, "0123456789");
	return *known && *numbers == '\n';
}

/*
 * Whether no process is in a namespace of pids. From the first one, all processes can be seen. If
 * /proc hides some, it hides process 1, too.
 */
static bool is_empty(uint64_t pidns)
{
	bool known;
	scoped_dir dir = is_in_first("1", &known) ? opendir("/proc") : NULL;
	const struct dirent *e;

	while (dir && (e = readdir(dir))) {
		uint64_t other;

		if (*e->d_name < '1' || *e->d_name > '9' || is_in_first(e->d_name, &known))
			continue;
		other = namespace_of(e->d_name, "pid");
		if (other == pidns || (!other && errno != ENOENT && errno != ESRCH))
			return false;
	}
	return dir != NULL;
}

/* When a process was started; 0 if there is no such process, or it cannot be seen. */
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
	o->pidns = namespace_of("self", "pid");
	o->timens = namespace_of("self", "time");
	/* A kernel without time namespaces has one time. */
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
	if (self.pidns == FIRST_PIDNS && o->pidns && o->pidns != FIRST_PIDNS)
		return is_empty(o->pidns) ? OWNER_DEAD : OWNER_UNKNOWN;
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

/* ---- instances ---- */

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
static pid_t parse_instance(const char *name, struct owner *o, bool *known)
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

	return parse_instance(name, &o, &known);
}

bool instance_is_leftover(const char *name)
{
	struct owner o;
	bool known;
	pid_t pid = parse_instance(name, &o, &known);

	if (pid <= 0)
		return false;
	if (known ? owner_state(&o) != OWNER_DEAD : kill(pid, 0) == 0 || errno != ESRCH)
		return false;
	return !journal_is_used(pid);
}

bool instance_is_orphan(const char *name)
{
	struct owner o;
	bool known;
	pid_t pid = parse_instance(name, &o, &known);

	return pid > 0 && known && owner_state(&o) == OWNER_DEAD && !journal_exists(&o);
}
