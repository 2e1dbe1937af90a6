// SPDX-License-Identifier: GPL-2.0-or-later
/* Capabilities: tracers and probes. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tracefs/caps_parts.h"

#define README_LIMIT  (1u << 20)
#define FTRACE_SWITCH "/proc/sys/kernel/ftrace_enabled"
#define KPROBE_SWITCH "/sys/kernel/debug/kprobes/enabled"

static bool offers(struct caps *c, const char *instance, const char *tracer)
{
	return tracefs_lists(c->fs, instance, "available_tracers", tracer);
}

/*
 * A tracer of functions may be listed and yet be refused: then not even the list of functions can
 * be opened. Trying the tracer itself would patch the kernel, opening the list does nothing.
 */
static bool functions_refused(struct caps *c, struct cap_answer *a)
{
	struct spur_error err = {0};
	int fd = tracefs_open(c->fs, NULL, "set_ftrace_filter", O_RDONLY, &err);

	if (fd >= 0) {
		close(fd);
		return false;
	}
	if (fd == -ENOENT) {
		cap_partly(a, "listed, but functions cannot be chosen: built without "
			      "CONFIG_DYNAMIC_FTRACE");
		return true;
	}
	cap_no(a, "listed, but refused: %s", err.text);
	if ((fd == -EPERM || fd == -EACCES) && geteuid() == 0)
		cap_advice(a, "whoever provides this kernel has forbidden it, to root too; "
			      "events, uprobes and BPF may do, or another kernel");
	else if (fd == -EPERM || fd == -EACCES)
		cap_advice(a, "run spur as root");
	return true;
}

void probe_function(struct caps *c, const struct cap *cap, struct cap_answer *a)
{
	int64_t on;

	if (!offers(c, NULL, cap->file)) {
		cap_absent(cap, a);
	} else if (functions_refused(c, a)) {
		return;
	} else if (tracefs_read_number(c->fs, NULL, FTRACE_SWITCH, &on, NULL) == 0 && !on) {
		cap_partly(a, "switched off: %s is 0", FTRACE_SWITCH);
		cap_advice(a, "sysctl kernel.ftrace_enabled=1");
	} else {
		cap_yes(a, "in available_tracers");
	}
}

void probe_graph_instance(struct caps *c, const struct cap *cap, struct cap_answer *a)
{
	const char *instance = caps_instance(c);

	if (!offers(c, NULL, cap->file)) {
		cap_no(a, "this kernel has no function_graph at all");
	} else if (!instance) {
		cap_no(a, "cannot be tried without an instance");
	} else if (offers(c, instance, cap->file)) {
		cap_yes(a, "in available_tracers of an instance");
	} else {
		cap_no(a, "only in the buffer of all: instances can have it since %s", cap->config);
		cap_advice(a, "spur uses the buffer of all for it; one recording at a time");
	}
}

/* Any of the tracers that cap->file names. */
void probe_tracers(struct caps *c, const struct cap *cap, struct cap_answer *a)
{
	char found[sizeof(a->what)] = "", name[64];
	size_t len;

	for (const char *at = cap->file; *at; at += len + strspn(at + len, " ")) {
		size_t used = strlen(found);

		len = strcspn(at, " ");
		snprintf(name, sizeof(name), "%.*s", (int)len, at);
		if (offers(c, NULL, name))
			snprintf(found + used, sizeof(found) - used, "%s%s", used ? " " : "", name);
	}
	if (found[0])
		cap_yes(a, "%s", found);
	else
		cap_absent(cap, a);
}

void probe_stack(struct caps *c, const struct cap *cap, struct cap_answer *a)
{
	int64_t on;

	if (!tracefs_has(c->fs, NULL, cap->file))
		cap_absent(cap, a);
	else if (tracefs_read_number(c->fs, NULL, "/proc/sys/kernel/stack_tracer_enabled", &on,
				     NULL) == 0 &&
		 on)
		cap_yes(a, "running");
	else
		cap_yes(a, "not running; spur stack --start");
}

void probe_kprobes(struct caps *c, const struct cap *cap, struct cap_answer *a)
{
	int64_t on;

	if (!tracefs_has(c->fs, NULL, cap->file)) {
		cap_absent(cap, a);
	} else if (tracefs_read_number(c->fs, NULL, KPROBE_SWITCH, &on, NULL) == 0 && !on) {
		cap_partly(a, "switched off: %s is 0", KPROBE_SWITCH);
		cap_advice(a, "echo 1 > " KPROBE_SWITCH);
	} else {
		cap_yes(a, "%s", cap->file);
	}
}

/* What the kernel's own short manual knows. */
void probe_readme(struct caps *c, const struct cap *cap, struct cap_answer *a)
{
	struct buf text;

	buf_init(&text, README_LIMIT);
	if (tracefs_read(c->fs, NULL, "README", &text, NULL) == 0 && strstr(text.data, cap->file))
		cap_yes(a, "dynamic_events");
	else
		cap_absent(cap, a);
	buf_free(&text);
}
