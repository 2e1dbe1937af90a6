// SPDX-License-Identifier: GPL-2.0-or-later
/* --info: what the kernel can do for scripts, laid out as bpftrace does. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/buf.h"
#include "code/features.h"
#include "cli/cli.h"
#include "cli/script.h"
#include "script/abilities.h"

#ifndef SPUR_VERSION
#define SPUR_VERSION "0.0.0"
#endif

#define COLUMN 33 /* where the second one of a line begins */

static void show_system(void)
{
	struct utsname u = {0};

	uname(&u);
	cli_printf("System\n  OS: %s %s %s\n  Arch: %s\n\n", u.sysname, u.release, u.version,
		   u.machine);
}

/* What it was built with is what a bpftrace would need to do the same. */
static void show_build(void)
{
	cli_printf("Build\n"
		   "  version: v0.26.0 (spur " SPUR_VERSION ")\n"
		   "  LLVM: none\n"
		   "  bfd: no\n"
		   "  libdw (DWARF support): yes\n"
		   "  libsystemd (systemd notify support): no\n"
		   "  blazesym (advanced symbolization): no\n"
		   "  dwunwind (DWARF stack unwinding): no\n\n");
}

static void show_group(struct bpf_features *f, enum ability_group group, const char *title)
{
	struct ability a;
	struct buf one;

	cli_printf("%s\n", title);
	buf_init(&one, 256);
	for (size_t i = 0; ability_try(f, group, i, &a); i++) {
		buf_reset(&one);
		if (a.number)
			buf_printf(&one, "%s: %lld", a.name, (long long)a.number);
		else
			buf_printf(&one, "%s: %s", a.name, a.yes ? "yes" : "no");
		if (i % 2)
			cli_printf("%s\n", buf_str(&one));
		else
			cli_printf("  %-*s", COLUMN, buf_str(&one));
		if (i % 2 == 0 && !ability_try(f, group, i + 1, &a))
			cli_printf("\n");
	}
	buf_free(&one);
	cli_printf("\n");
}

/* Those that --no-feature takes. */
static void show_features(struct bpf_features *f)
{
	cli_printf("Features that can be switched off\n");
	for (int i = 0; i < FEATURES; i++)
		cli_printf("  %s: %s\n", bpf_feature_name((enum bpf_feature)i),
			   bpf_has(f, (enum bpf_feature)i) ? "yes" : "no");
	cli_printf("\n");
}

int script_command_info(const struct script_command *o)
{
	struct bpf_features f;
	int status = script_features(o, &f);

	if (status != SPUR_OK)
		return status;
	if (geteuid() != 0)
		script_warning(
			o, "what is asked of the kernel's BPF takes root: most of it is a no here");
	show_system();
	show_build();
	show_group(&f, ABILITY_HELPER, "Kernel helpers");
	show_group(&f, ABILITY_FEATURE, "Kernel features");
	show_group(&f, ABILITY_MAP, "Map types");
	show_group(&f, ABILITY_PROBE, "Probe types");
	if (!o->bpftrace)
		show_features(&f);
	return SPUR_OK;
}
