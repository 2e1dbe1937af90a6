// SPDX-License-Identifier: GPL-2.0-or-later
/* Capabilities that are not tracefs': who we are, what the kernel is strict about, BPF and perf. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "tracefs/caps_parts.h"

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

/* ---- who we are ---- */

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
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!(have >> known[i].bit & 1) && len < cap)
			len += (size_t)snprintf(text + len, cap - len, "%sCAP_%s", len ? ", " : "",
						known[i].name);
}

void probe_privileges(struct caps *c, const struct cap *cap, struct cap_answer *a)
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

void probe_lockdown(struct caps *c, const struct cap *cap, struct cap_answer *a)
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

void probe_kallsyms(struct caps *c, const struct cap *cap, struct cap_answer *a)
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

void probe_bpf(struct caps *c, const struct cap *cap, struct cap_answer *a)
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

void probe_bpf_user(struct caps *c, const struct cap *cap, struct cap_answer *a)
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

void probe_bpf_jit(struct caps *c, const struct cap *cap, struct cap_answer *a)
{
	int64_t on;

	if (!bpf_exists()) {
		cap_no(a, "there is no BPF");
	} else if (!number_in(JIT, &on)) {
		/* Only root may read it; where it can only be on it need not exist. */
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

void probe_bpf_ringbuf(struct caps *c, const struct cap *cap, struct cap_answer *a)
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

void probe_perf(struct caps *c, const struct cap *cap, struct cap_answer *a)
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
