// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What this kernel and this user can do: a table of capabilities, each with a function that checks
 * it. First the checks by topic, then the table and the functions that use it.
 */
#include "tracefs/caps.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"
#include "tracefs/leftovers.h"
#include "tracefs/owner.h"
#include "tracefs/state.h"

struct caps {
	const struct tracefs *fs;  /* NULL: none */
	struct spur_error why_not; /* then: why */
	char instance[80]; /* the instance for checks, "" before it is made and if it cannot be */
	struct spur_error refused; /* why it cannot */
	bool tried;
};

#define SINCE	  "Linux " /* in front of a version in cap->config */
#define LINE_CAP  512
#define MAX_NAMED 8 /* names of instances in an answer */

/* ---- answers ---- */

/* Texts that do not fit are cut. */
static void fill(struct cap_answer *a, enum cap_state state, const char *fmt, va_list ap)
{
	a->state = state;
	vsnprintf(a->what, sizeof(a->what), fmt, ap);
}

static void __attribute__((format(printf, 2, 3)))
cap_yes(struct cap_answer *a, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fill(a, CAP_YES, fmt, ap);
	va_end(ap);
}

static void __attribute__((format(printf, 2, 3)))
cap_partly(struct cap_answer *a, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fill(a, CAP_PARTLY, fmt, ap);
	va_end(ap);
}

static void __attribute__((format(printf, 2, 3))) cap_no(struct cap_answer *a, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fill(a, CAP_NO, fmt, ap);
	va_end(ap);
}

static void __attribute__((format(printf, 2, 3)))
cap_advice(struct cap_answer *a, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(a->advice, sizeof(a->advice), fmt, ap);
	va_end(ap);
}

/* The kernel does not have it: because of its configuration, or because it is too old. */
static void cap_absent(const struct cap *cap, struct cap_answer *a)
{
	if (cap->config && strncmp(cap->config, SINCE, strlen(SINCE)) == 0) {
		cap_no(a, "this kernel is too old for it");
		cap_advice(a, "use %s or newer", cap->config);
	} else {
		cap_no(a, "this kernel is built without it");
		cap_advice(a, "use a kernel with %s", cap->config);
	}
}

/* Checks for a file of tracefs, or of the machine; `config` is what the kernel needs for it. */
static void probe_file(struct caps *c, const struct cap *cap, struct cap_answer *a)
{
	if (cap->file[0] == '/' ? access(cap->file, F_OK) == 0
				: tracefs_has(c->fs, NULL, cap->file))
		cap_yes(a, "%s", cap->file);
	else
		cap_absent(cap, a);
}

/* ---- tracefs, events, instances ---- */

static void probe_tracefs(struct caps *c, const struct cap *cap, struct cap_answer *a)
{
	const int why = c->why_not.code;

	if (c->fs) {
		cap_yes(a, "%s", c->fs->path);
		return;
	}
	cap_no(a, "%s", c->why_not.text);
	if (why == -ENOENT)
		cap_advice(a, "mount -t tracefs nodev /sys/kernel/tracing; spur does it as root");
	else if (why == -EACCES || why == -EPERM)
		cap_advice(a, "run spur as root, or mount tracefs for your group: "
			      "mount -o remount,gid=GROUP /sys/kernel/tracing");
	else
		cap_advice(a, "use a kernel that is built with CONFIG_FTRACE and CONFIG_TRACING");
}

static void probe_events(struct caps *c, const struct cap *cap, struct cap_answer *a)
{
	struct tracefs_events list;
	struct spur_error err = {0};
	size_t systems = 0;

	if (tracefs_events_load(c->fs, NULL, &list, &err) < 0) {
		cap_no(a, "%s", err.text);
		cap_advice(a, err.code == -ENOENT ? "use a kernel with CONFIG_EVENT_TRACING"
						  : "run spur as root");
		return;
	}
	for (size_t i = 0; i < list.n; i++)
		systems += !i || strcmp(list.at[i].system, list.at[i - 1].system) != 0;
	if (list.n)
		cap_yes(a, "%zu events of %zu systems", list.n, systems);
	else
		cap_absent(cap, a);
	tracefs_events_free(&list);
}

/* The name of an instance to try things in, or NULL. */
static const char *caps_instance(struct caps *c)
{
	if (!c->tried) {
		c->tried = true;
		/* With such a name it is recognized as a leftover if this process is killed. */
		owner_instance(c->instance, sizeof(c->instance), "");
		if (tracefs_make_instance(c->fs, c->instance, &c->refused) < 0)
			c->instance[0] = '\0';
	}
	return c->instance[0] ? c->instance : NULL;
}

static void probe_instances(struct caps *c, const struct cap *cap, struct cap_answer *a)
{
	if (!tracefs_has(c->fs, NULL, "instances")) {
		cap_absent(cap, a);
	} else if (caps_instance(c)) {
		cap_yes(a, "a recording has a buffer of its own");
	} else {
		cap_no(a, "%s", c->refused.text);
		cap_advice(a, c->refused.code == -ENOMEM ? "free some memory" : "run spur as root");
	}
}

/* ---- the ring buffer ---- */

static void probe_mmap(struct caps *c, const struct cap *cap, struct cap_answer *a)
{
	const char *instance = caps_instance(c);
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	struct spur_error err = {0};
	void *page;
	int fd;

	if (!instance) {
		cap_no(a, "cannot be tried without an instance");
		return;
	}
	fd = tracefs_open(c->fs, instance, "per_cpu/cpu0/trace_pipe_raw", O_RDONLY | O_NONBLOCK,
			  &err);
	if (fd < 0) {
		cap_no(a, "%s", err.text);
		return;
	}
	page = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (page != MAP_FAILED) {
		cap_yes(a, "trace_pipe_raw can be mapped");
		munmap(page, size);
	} else if (errno == ENODEV || errno == EINVAL) {
		cap_absent(cap, a);
	} else {
		cap_no(a, "mapping trace_pipe_raw: %s", strerror(errno));
	}
	close(fd);
}

static void probe_value(struct caps *c, const struct cap *cap, struct cap_answer *a)
{
	char line[64];

	if (tracefs_read_line(c->fs, NULL, cap->file, line, sizeof(line), NULL) == 0)
		cap_yes(a, "%s is %s", cap->file, line);
	else
		cap_absent(cap, a);
}

static void probe_clocks(struct caps *c, const struct cap *cap, struct cap_answer *a)
{
	char line[sizeof(a->what)];

	if (tracefs_read_line(c->fs, NULL, "trace_clock", line, sizeof(line), NULL) == 0)
		cap_yes(a, "%s", line);
	else
		cap_no(a, "there is no trace_clock");
}

/* Checks for a file that every event has, in the folder of sched_switch. */
static void probe_event_file(struct caps *c, const struct cap *cap, struct cap_answer *a)
{
	char path[LINE_CAP];

	snprintf(path, sizeof(path), "events/sched/sched_switch/%s", cap->file);
	if (tracefs_has(c->fs, NULL, path))
		cap_yes(a, "events have a file %s", cap->file);
	else
		cap_absent(cap, a);
}

/* ---- what others are doing ---- */

static void add_name(char *text, size_t cap, const char *name)
{
	size_t len = strlen(text);

	snprintf(text + len, cap - len, "%s%s", len ? ", " : "", name);
}

/* Appends one kind of leftovers to what an answer says. */
static void __attribute__((format(printf, 2, 3)))
add_kind(struct cap_answer *a, const char *fmt, ...)
{
	const size_t len = strlen(a->what);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(a->what + len, sizeof(a->what) - len, fmt, ap);
	va_end(ap);
	a->state = CAP_PARTLY;
}

static const char *separator(const struct cap_answer *a)
{
	return a->what[0] ? "; " : "";
}

static void add_logs(const struct leftovers *logged, struct cap_answer *a)
{
	if (logged->n)
		add_kind(a, "%zu recording%s killed with the guardian: ", logged->n,
			 logged->n == 1 ? " was" : "s were");
	for (size_t i = 0; i < logged->n && i < MAX_NAMED; i++) {
		char text[80];

		leftover_describe(&logged->at[i], text, sizeof(text));
		add_kind(a, "%s%s", i ? "; " : "", text);
	}
	if (logged->n > MAX_NAMED)
		add_kind(a, "; …");
}

static size_t add_instances(struct caps *c, struct cap_answer *a)
{
	struct instances list;
	char names[160] = "";
	size_t n = 0;

	if (instances_load(c->fs, &list, NULL) < 0) {
		add_kind(a, "%sthe instances cannot be listed", separator(a));
		return 0;
	}
	vec_each (name, &list)
		if (instance_is_leftover(*name) && n++ < MAX_NAMED)
			add_name(names, sizeof(names), *name);
	instances_free(&list);
	if (n)
		add_kind(a, "%s%zu instance%s of recordings that were killed: %s%s", separator(a),
			 n, n == 1 ? "" : "s", names, n > MAX_NAMED ? ", …" : "");
	return n;
}

static size_t add_probes(struct caps *c, struct cap_answer *a)
{
	struct dynamic_events list;
	char names[160] = "";
	size_t n = 0;

	if (dynamic_load(c->fs, &list, NULL) < 0)
		return 0;
	vec_each (e, &list) {
		char name[130];

		snprintf(name, sizeof(name), "%s/%s", e->group, e->name);
		if (probe_is_leftover(e) && n++ < MAX_NAMED)
			add_name(names, sizeof(names), name);
	}
	dynamic_free(&list);
	if (n)
		add_kind(a, "%s%zu probe%s of recordings that were killed: %s%s", separator(a), n,
			 n == 1 ? "" : "s", names, n > MAX_NAMED ? ", …" : "");
	return n;
}

static void probe_leftovers(struct caps *c, const struct cap *cap, struct cap_answer *a)
{
	struct leftovers logged = {0};
	size_t n;

	a->what[0] = '\0';
	a->state = CAP_YES;
	/* While their logs are locked here, their instances and probes do not count twice. */
	leftovers_load(c->fs, &logged, NULL);
	add_logs(&logged, a);
	n = add_instances(c, a);
	n += add_probes(c, a);
	if (kernelswitch_is_left()) {
		add_kind(a, "%sa script that was killed has left bpf_trace_printk enabled",
			 separator(a));
		n++;
	}
	if (logged.n)
		cap_advice(a, "save the data and clean up: spur reset --dead");
	else if (n)
		cap_advice(a, "clean up: spur reset --dead");
	else if (a->state == CAP_YES)
		cap_yes(a, "no instance of a recording that was killed");
	leftovers_free(&logged);
}

static void probe_unused(struct caps *c, const struct cap *cap, struct cap_answer *a)
{
	char tracer[64] = "nop", what[160] = "";
	struct instances list;
	size_t others = 0;

	tracefs_read_choice(c->fs, NULL, "current_tracer", tracer, sizeof(tracer), NULL);
	if (strcmp(tracer, "nop") != 0) {
		add_name(what, sizeof(what), "tracer ");
		snprintf(what + strlen(what), sizeof(what) - strlen(what), "%s", tracer);
	}
	if (strchr("1X", state_enabled(c->fs, NULL, "events")))
		add_name(what, sizeof(what), "events are on");
	if (instances_load(c->fs, &list, NULL) == 0) {
		vec_each (name, &list)
			others += strcmp(*name, c->instance) != 0 && !instance_is_leftover(*name);
		instances_free(&list);
	}
	if (others) {
		char text[40];

		snprintf(text, sizeof(text), "%zu instance%s", others, others == 1 ? "" : "s");
		add_name(what, sizeof(what), text);
	}
	if (!what[0]) {
		cap_yes(a, "nobody else is tracing");
		return;
	}
	cap_partly(a, "somebody is tracing: %s", what);
	cap_advice(a, "see what: spur stat, spur list -B");
}

/* ---- tracers and probes ---- */

#define README_LIMIT  (1u << 20)
#define FTRACE_SWITCH "/proc/sys/kernel/ftrace_enabled"
#define KPROBE_SWITCH "/sys/kernel/debug/kprobes/enabled"

static bool offers(struct caps *c, const char *instance, const char *tracer)
{
	return tracefs_lists(c->fs, instance, "available_tracers", tracer);
}

/*
 * A function tracer may be listed and still be refused. Then the list of functions cannot be opened
 * either. Setting the tracer would patch the kernel; opening the list has no effect.
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
		cap_advice(a, "the provider of this kernel forbids it, even to root; "
			      "use events, uprobes or BPF, or another kernel");
	else if (fd == -EPERM || fd == -EACCES)
		cap_advice(a, "run spur as root");
	return true;
}

static void probe_function(struct caps *c, const struct cap *cap, struct cap_answer *a)
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

static void probe_graph_instance(struct caps *c, const struct cap *cap, struct cap_answer *a)
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
static void probe_tracers(struct caps *c, const struct cap *cap, struct cap_answer *a)
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

static void probe_stack(struct caps *c, const struct cap *cap, struct cap_answer *a)
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

static void probe_kprobes(struct caps *c, const struct cap *cap, struct cap_answer *a)
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

/* Checks for a text in the kernel's README. */
static void probe_readme(struct caps *c, const struct cap *cap, struct cap_answer *a)
{
	struct buf text;

	buf_init(&text, README_LIMIT);
	if (tracefs_read(c->fs, NULL, "README", &text, NULL) == 0 && strstr(text.data, cap->file))
		cap_yes(a, "dynamic_events");
	else
		cap_absent(cap, a);
	buf_free(&text);
}

/* ---- outside tracefs: this user, what the kernel forbids, BPF and perf ---- */

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#define CAP_BPF	    39
#endif

#define LOCKDOWN "/sys/kernel/security/lockdown"
#define JIT	 "/proc/sys/net/core/bpf_jit_enable"
#define NO_BPF	 "/proc/sys/kernel/unprivileged_bpf_disabled"
#define STATUS	 "/proc/self/status"
#define SYMBOLS	 "/proc/kallsyms"
#define RESTRICT "/proc/sys/kernel/kptr_restrict"

static const struct tracefs nowhere; /* for files whose names begin with a slash */

static bool number_in(const char *file, int64_t *value)
{
	return tracefs_read_number(&nowhere, NULL, file, value, NULL) == 0;
}

static uint64_t effective_capabilities(void)
{
	struct buf text;
	uint64_t mask = 0;
	const char *line;

	buf_init(&text, 64u << 10);
	if (tracefs_read(&nowhere, NULL, STATUS, &text, NULL) == 0) {
		line = strstr(text.data, "\nCapEff:");
		mask = line ? strtoull(line + strlen("\nCapEff:"), NULL, 16) : 0;
	}
	buf_free(&text);
	return mask;
}

static bool have_capability(unsigned int bit)
{
	return effective_capabilities() >> bit & 1;
}

/* The capabilities that tracing may need and that this process lacks. */
static void missing_capabilities(char *text, size_t cap)
{
	static const struct {
		unsigned int bit;
		const char *name;
	} known[] = {
		{CAP_DAC_OVERRIDE, "DAC_OVERRIDE"},
		{CAP_SYS_ADMIN, "SYS_ADMIN"},
		{CAP_PERFMON, "PERFMON"},
		{CAP_BPF, "BPF"},
		{CAP_SYSLOG, "SYSLOG"},
		{CAP_SYS_NICE, "SYS_NICE"},
		{CAP_SYS_PTRACE, "SYS_PTRACE"},
		{CAP_SYS_RESOURCE, "SYS_RESOURCE"},
	};
	uint64_t have = effective_capabilities();
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (!(have >> known[i].bit & 1) && len < cap)
			len += (size_t)snprintf(text + len, cap - len, "%sCAP_%s", len ? ", " : "",
						known[i].name);
}

static void probe_privileges(struct caps *c, const struct cap *cap, struct cap_answer *a)
{
	char lacking[200], path[300], who[40] = "root";
	bool writable = c->fs && tracefs_path(c->fs, NULL, "tracing_on", path, sizeof(path)) &&
			faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0;

	missing_capabilities(lacking, sizeof(lacking));
	if (geteuid() != 0)
		snprintf(who, sizeof(who), "user %u", (unsigned int)geteuid());
	if (writable || (!c->fs && geteuid() == 0)) {
		cap_yes(a, lacking[0] ? "%s, without %s" : "%s%s", who, lacking);
		return;
	}
	cap_no(a, "%s may not write to tracefs", who);
	cap_advice(a, "run spur as root, or let a group in: mount -o remount,gid=GROUP "
		      "/sys/kernel/tracing, and chmod g+w what it may change");
}

/* ---- what the kernel is strict about ---- */

static void probe_lockdown(struct caps *c, const struct cap *cap, struct cap_answer *a)
{
	char mode[32];

	if (tracefs_read_choice(&nowhere, NULL, LOCKDOWN, mode, sizeof(mode), NULL) < 0) {
		cap_yes(a, "this kernel knows no lockdown");
	} else if (strcmp(mode, "none") == 0) {
		cap_yes(a, "lockdown: none");
	} else if (strcmp(mode, "confidentiality") == 0) {
		cap_no(a, "lockdown: confidentiality, which forbids tracefs, kprobes and BPF");
		cap_advice(a, "boot with lockdown=none or integrity; secure boot may insist on it");
	} else {
		cap_partly(a, "lockdown: %s", mode);
		cap_advice(a, "BPF programs may not write to user memory; tracing is not affected");
	}
}

static void probe_kallsyms(struct caps *c, const struct cap *cap, struct cap_answer *a)
{
	int64_t restrict_level = 0;
	char line[200];

	number_in(RESTRICT, &restrict_level);
	if (tracefs_read_line(&nowhere, NULL, SYMBOLS, line, sizeof(line), NULL) < 0 || !line[0]) {
		cap_no(a, "%s cannot be read", SYMBOLS);
		cap_advice(a, "use a kernel that is built with CONFIG_KALLSYMS");
	} else if (strtoull(line, NULL, 16) == 0) {
		cap_no(a, "%s shows no addresses (kernel.kptr_restrict is %lld)", SYMBOLS,
		       (long long)restrict_level);
		cap_advice(a, restrict_level >= 2 ? "sysctl kernel.kptr_restrict=1, and be root"
						  : "run spur as root, or with CAP_SYSLOG");
	} else {
		cap_yes(a, "%s, kernel.kptr_restrict is %lld", SYMBOLS, (long long)restrict_level);
	}
}

/* ---- BPF ---- */

static bool bpf_exists(void)
{
	return access(NO_BPF, F_OK) == 0;
}

static void probe_bpf(struct caps *c, const struct cap *cap, struct cap_answer *a)
{
	if (!bpf_exists()) {
		cap_absent(cap, a);
	} else if (have_capability(CAP_SYS_ADMIN) ||
		   (have_capability(CAP_BPF) && have_capability(CAP_PERFMON))) {
		cap_yes(a, "may be loaded");
	} else {
		cap_no(a, "there, but not for this user");
		cap_advice(a, "run spur as root, or with CAP_BPF and CAP_PERFMON");
	}
}

static void probe_bpf_user(struct caps *c, const struct cap *cap, struct cap_answer *a)
{
	int64_t off;

	if (!number_in(NO_BPF, &off))
		cap_no(a, "there is no BPF");
	else if (off)
		cap_no(a, "kernel.unprivileged_bpf_disabled is %lld, as it mostly is",
		       (long long)off);
	else
		cap_yes(a,
			"kernel.unprivileged_bpf_disabled is 0; tracing needs privileges anyway");
}

static void probe_bpf_jit(struct caps *c, const struct cap *cap, struct cap_answer *a)
{
	int64_t on;

	if (!bpf_exists()) {
		cap_no(a, "there is no BPF");
	} else if (!number_in(JIT, &on)) {
		/* Only root may read it; if the JIT cannot be off, the file need not exist. */
		cap_partly(a, "%s cannot be read", JIT);
	} else if (on) {
		cap_yes(a, "net.core.bpf_jit_enable is %lld", (long long)on);
	} else {
		cap_partly(a, "programs are interpreted: net.core.bpf_jit_enable is 0");
		cap_advice(a, "sysctl net.core.bpf_jit_enable=1");
	}
}

static bool kernel_at_least(unsigned int major, unsigned int minor, struct utsname *u)
{
	unsigned int x = 0, y = 0;

	if (uname(u) != 0 || sscanf(u->release, "%u.%u", &x, &y) != 2)
		return false;
	return x > major || (x == major && y >= minor);
}

static void probe_bpf_ringbuf(struct caps *c, const struct cap *cap, struct cap_answer *a)
{
	struct utsname u = {0};

	if (!bpf_exists()) {
		cap_no(a, "there is no BPF");
	} else if (kernel_at_least(5, 8, &u)) {
		cap_yes(a, "Linux %s has it", u.release);
	} else {
		cap_absent(cap, a);
	}
}

/* ---- perf ---- */

static void probe_perf(struct caps *c, const struct cap *cap, struct cap_answer *a)
{
	int64_t level;

	if (!number_in(cap->file, &level)) {
		cap_absent(cap, a);
	} else if (have_capability(CAP_SYS_ADMIN) || have_capability(CAP_PERFMON)) {
		cap_yes(a, "all of them; kernel.perf_event_paranoid is %lld", (long long)level);
	} else if (level > 2) {
		cap_no(a, "not for users: kernel.perf_event_paranoid is %lld", (long long)level);
		cap_advice(a, "run spur as root or with CAP_PERFMON, or "
			      "sysctl kernel.perf_event_paranoid=1");
	} else {
		cap_partly(a, "%s: kernel.perf_event_paranoid is %lld",
			   level > 1   ? "own programs in user mode only"
			   : level > 0 ? "own programs only"
				       : "whole CPUs too",
			   (long long)level);
		cap_advice(a, "for more, run spur as root or with CAP_PERFMON");
	}
}

/* ---- the table ---- */

#define ACCESS	"access"
#define RECORD	"recording"
#define TRACERS "tracers"
#define PROBES	"probes"
#define EVENTS	"filters and triggers"
#define BPF	"BPF and perf"
#define OTHERS	"others"

const struct cap caps_table[] = {
	{ACCESS, "tracefs", "tracefs", probe_tracefs, .essential = true, .elsewhere = true},
	{ACCESS, "privileges", "privileges", probe_privileges, .essential = true,
	 .elsewhere = true},
	{ACCESS, "lockdown", "not locked down", probe_lockdown, .elsewhere = true},
	{ACCESS, "kallsyms", "kernel symbols", probe_kallsyms, .elsewhere = true},

	{RECORD, "events", "events", probe_events, NULL, "CONFIG_EVENT_TRACING", .essential = true},
	{RECORD, "instances", "instances", probe_instances, NULL, "CONFIG_TRACING"},
	{RECORD, "clocks", "clocks", probe_clocks},
	{RECORD, "mmap", "mapped ring buffer", probe_mmap, NULL, SINCE "6.10"},
	{RECORD, "buffer_percent", "wakeup by level", probe_value, "buffer_percent", SINCE "5.0"},
	{RECORD, "subbuf", "sub-buffer size", probe_value, "buffer_subbuf_size_kb", SINCE "6.8"},
	{RECORD, "snapshot", "snapshots", probe_file, "snapshot", "CONFIG_TRACER_SNAPSHOT"},
	{RECORD, "error_log", "reasons for errors", probe_file, "error_log", SINCE "5.2"},

	{EVENTS, "filters", "event filters", probe_event_file, "filter", "CONFIG_EVENT_TRACING"},
	{EVENTS, "pid-filters", "filters by task", probe_file, "set_event_pid", SINCE "4.4"},
	{EVENTS, "triggers", "triggers", probe_event_file, "trigger", SINCE "3.14"},
	{EVENTS, "hist", "histograms", probe_event_file, "hist", "CONFIG_HIST_TRIGGERS"},
	{EVENTS, "synthetic", "synthetic events", probe_file, "synthetic_events",
	 "CONFIG_SYNTH_EVENTS"},

	{TRACERS, "function", "function", probe_function, "function", "CONFIG_FUNCTION_TRACER"},
	{TRACERS, "function_graph", "function_graph", probe_function, "function_graph",
	 "CONFIG_FUNCTION_GRAPH_TRACER"},
	{TRACERS, "function_graph-instance", "… in instances", probe_graph_instance,
	 "function_graph", SINCE "6.11"},
	{TRACERS, "latency", "latency tracers", probe_tracers,
	 "wakeup wakeup_rt wakeup_dl irqsoff preemptoff preemptirqsoff",
	 "CONFIG_SCHED_TRACER, CONFIG_IRQSOFF_TRACER and CONFIG_PREEMPT_TRACER"},
	{TRACERS, "osnoise", "noise tracers", probe_tracers, "osnoise timerlat hwlat",
	 "CONFIG_OSNOISE_TRACER, CONFIG_TIMERLAT_TRACER and CONFIG_HWLAT_TRACER"},
	{TRACERS, "blk", "block devices", probe_tracers, "blk", "CONFIG_BLK_DEV_IO_TRACE"},
	{TRACERS, "mmiotrace", "mapped registers", probe_tracers, "mmiotrace", "CONFIG_MMIOTRACE"},
	{TRACERS, "stack", "stack tracer", probe_stack, "stack_trace", "CONFIG_STACK_TRACER"},

	{PROBES, "kprobes", "kprobes", probe_kprobes, "kprobe_events", "CONFIG_KPROBE_EVENTS"},
	{PROBES, "uprobes", "uprobes", probe_file, "uprobe_events", "CONFIG_UPROBE_EVENTS"},
	{PROBES, "fprobes", "fprobes", probe_readme, " f[:[", "CONFIG_FPROBE_EVENTS"},
	{PROBES, "eprobes", "eprobes", probe_readme, " e[:[", "CONFIG_PROBE_EVENTS"},
	{PROBES, "user_events", "user events", probe_file, "user_events_data",
	 "CONFIG_USER_EVENTS"},

	{BPF, "bpf", "BPF", probe_bpf, NULL, "CONFIG_BPF_SYSCALL", .elsewhere = true},
	{BPF, "bpf-unprivileged", "… unprivileged", probe_bpf_user, .elsewhere = true},
	{BPF, "bpf-jit", "… compiled", probe_bpf_jit, NULL, "CONFIG_BPF_JIT", .elsewhere = true},
	{BPF, "bpf-ringbuf", "… ring buffer", probe_bpf_ringbuf, NULL, SINCE "5.8",
	 .elsewhere = true},
	{BPF, "btf", "kernel types", probe_file, "/sys/kernel/btf/vmlinux", "CONFIG_DEBUG_INFO_BTF",
	 .elsewhere = true},
	{BPF, "perf", "perf events", probe_perf, "/proc/sys/kernel/perf_event_paranoid",
	 "CONFIG_PERF_EVENTS", .elsewhere = true},

	{OTHERS, "unused", "nobody else", probe_unused},
	{OTHERS, "leftovers", "no leftovers", probe_leftovers},
	{NULL},
};

const struct cap *cap_find(const char *name)
{
	for (const struct cap *cap = caps_table; cap->name; cap++)
		if (strcmp(cap->name, name) == 0)
			return cap;
	return NULL;
}

int caps_new(const struct tracefs *fs, const struct spur_error *why_not, struct caps **out,
	     struct spur_error *err)
{
	struct caps *c = calloc(1, sizeof(*c));

	*out = c;
	if (!c)
		return error_set(err, -ENOMEM, "out of memory");
	c->fs = fs;
	if (why_not)
		c->why_not = *why_not;
	return 0;
}

void caps_free(struct caps *c)
{
	if (!c)
		return;
	if (c->instance[0])
		tracefs_remove_instance(c->fs, c->instance, NULL);
	free(c);
}

void cap_probe(struct caps *c, const struct cap *cap, struct cap_answer *a)
{
	memset(a, 0, sizeof(*a));
	if (!c->fs && !cap->elsewhere)
		cap_no(a, "needs tracefs");
	else
		cap->probe(c, cap, a);
}

int cap_require(const struct tracefs *fs, const char *name, struct spur_error *err)
{
	const struct cap *cap = cap_find(name);
	struct cap_answer a;
	struct caps *c;
	int rc;

	if (!cap)
		return error_set(err, -EINVAL, "'%s' is not known as a capability", name);
	rc = caps_new(fs, NULL, &c, err);
	if (rc < 0)
		return rc;
	cap_probe(c, cap, &a);
	caps_free(c);
	if (a.state != CAP_NO)
		return 0;
	return error_set(err, -ENOTSUP, a.advice[0] ? "%s: %s; %s" : "%s: %s%s", cap->title, a.what,
			 a.advice);
}
