// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Architectures: which numbers the calls have, and which names differ from the common ones.
 * A new one needs a row here, and names of its own only where its headers differ.
 */
#include "event/pretty_tables.h"

#include <ctype.h>
#include <string.h>

#include "base/array.h"

#define X32_SYSCALL_BIT 0x40000000

extern const struct name_set pretty_open_flags_arm, pretty_open_flags_ppc;
extern const struct name_set pretty_pipe_flags_arm, pretty_pipe_flags_ppc;
extern const struct name_set pretty_mmap_flags_x86, pretty_mmap_flags_ppc;
extern const struct name_set pretty_mmap_prot_arm64, pretty_mmap_prot_ppc;
extern const struct name_set pretty_mlockall_ppc, pretty_sock_opt_ppc, pretty_ioctl_cmd_ppc;
extern const struct name_set pretty_fadvise_s390x, pretty_ptrace_request_regs;

static const struct set_override x86_sets[] = {
	{A_MMAP_FLAGS, &pretty_mmap_flags_x86},
	{A_PTRACE_REQUEST, &pretty_ptrace_request_regs},
};

static const struct set_override arm_sets[] = {
	{A_PTRACE_REQUEST, &pretty_ptrace_request_regs},
	{A_OPEN_FLAGS, &pretty_open_flags_arm},
	{A_PIPE_FLAGS, &pretty_pipe_flags_arm},
};

static const struct set_override arm64_sets[] = {
	{A_OPEN_FLAGS, &pretty_open_flags_arm},
	{A_PIPE_FLAGS, &pretty_pipe_flags_arm},
	{A_MMAP_PROT, &pretty_mmap_prot_arm64},
};

static const struct set_override s390x_sets[] = {
	{A_FADVISE, &pretty_fadvise_s390x},
};

static const struct set_override ppc_sets[] = {
	{A_OPEN_FLAGS, &pretty_open_flags_ppc}, {A_PIPE_FLAGS, &pretty_pipe_flags_ppc},
	{A_MMAP_FLAGS, &pretty_mmap_flags_ppc}, {A_MMAP_PROT, &pretty_mmap_prot_ppc},
	{A_MLOCKALL, &pretty_mlockall_ppc},	{A_SOCK_OPT, &pretty_sock_opt_ppc},
	{A_IOCTL_CMD, &pretty_ioctl_cmd_ppc},	{A_PTRACE_REQUEST, &pretty_ptrace_request_regs},
};

#define OVERRIDES(sets) .overrides = sets, .nr_overrides = ARRAY_SIZE(sets)

static const struct pretty_arch archs[] = {
	{
		.machines = "x86_64 amd64",
		.numbers = {pretty_numbers_x86_64, pretty_numbers_common, pretty_numbers_x32},
		.bit = ON_X86_64,
		.abi_bit = X32_SYSCALL_BIT,
		.plain_ioctl = true,
		OVERRIDES(x86_sets),
	},
	{
		.machines = "i386 i486 i586 i686",
		.numbers = {pretty_numbers_i386, pretty_numbers_common},
		.bit = ON_I386,
		.plain_ioctl = true,
		OVERRIDES(x86_sets),
	},
	{
		.machines = "aarch64 aarch64_be arm64",
		.numbers = {pretty_numbers_generic, pretty_numbers_common},
		.bit = ON_ARM64,
		.plain_ioctl = true,
		OVERRIDES(arm64_sets),
	},
	{
		.machines = "riscv64",
		.numbers = {pretty_numbers_generic, pretty_numbers_common,
			    "258 riscv_hwprobe riscv_flush_icache"},
		.bit = ON_RISCV64,
		.plain_ioctl = true,
	},
	{
		.machines = "loongarch64",
		.numbers = {pretty_numbers_generic, pretty_numbers_common},
		.bit = ON_LOONGARCH64,
		.plain_ioctl = true,
	},
	{
		.machines = "arm armv*",
		.numbers = {pretty_numbers_arm, pretty_numbers_common},
		.bit = ON_ARM,
		.plain_ioctl = true,
		OVERRIDES(arm_sets),
	},
	{
		.machines = "s390x",
		.numbers = {pretty_numbers_s390x, pretty_numbers_common},
		.bit = ON_S390X,
		.plain_ioctl = true,
		OVERRIDES(s390x_sets),
	},
	{
		.machines = "ppc64 ppc64le",
		.numbers = {pretty_numbers_ppc64, pretty_numbers_common},
		.bit = ON_PPC64,
		OVERRIDES(ppc_sets),
	},
};

/* The next word of a text, and where it ends; empty at the end. */
static const char *next_word(const char *s, size_t *len)
{
	s += strspn(s, " \t\n");
	*len = strcspn(s, " \t\n");
	return s;
}

static bool machine_is(const struct pretty_arch *arch, const char *word, size_t len)
{
	size_t n;

	for (const char *m = next_word(arch->machines, &n); n; m = next_word(m + n, &n)) {
		bool prefix = m[n - 1] == '*';

		if (prefix ? len >= n - 1 && !memcmp(m, word, n - 1)
			   : len == n && !memcmp(m, word, n))
			return true;
	}
	return false;
}

const struct pretty_arch *pretty_arch_find(const char *machine)
{
	const struct pretty_arch *found = NULL;
	size_t len;

	if (!machine)
		return NULL;
	/* The machine is the last such word: what stands before it may be a host's name. */
	for (const char *w = next_word(machine, &len); len; w = next_word(w + len, &len))
		for (size_t i = 0; i < ARRAY_SIZE(archs); i++)
			if (machine_is(&archs[i], w, len))
				found = &archs[i];
	return found;
}

void pretty_arch_sets(const struct pretty_arch *arch, const struct name_set *sets[PRETTY_NR_SETS])
{
	static const struct {
		const struct name_set *set;
		bool abi;
	} all[] = {
#define X(kind, set, abi) {&pretty_##set, abi},
		PRETTY_SETS(X)
#undef X
	};

	for (size_t i = 0; i < PRETTY_NR_SETS; i++)
		sets[i] = all[i].abi && !arch ? NULL : all[i].set;
	for (size_t i = 0; arch && i < arch->nr_overrides; i++)
		sets[arch->overrides[i].kind - A_FIRST_SET] = arch->overrides[i].set;
}

bool pretty_arch_next_call(struct arch_walk *w)
{
	const size_t texts = ARRAY_SIZE(w->arch->numbers);

	for (;;) {
		if (!w->pos) {
			if (w->text == texts || !w->arch->numbers[w->text])
				return false;
			w->pos = w->arch->numbers[w->text++];
			w->nr = 0;
		}
		w->pos = w->name = next_word(w->pos, &w->len);
		if (!w->len) {
			w->pos = NULL;
			continue;
		}
		w->pos += w->len;
		if (!isdigit((unsigned char)*w->name)) {
			w->nr++;
			return true;
		}
		w->nr = 0;
		for (size_t i = 0; i < w->len; i++)
			w->nr = w->nr * 10 + (uint32_t)(w->name[i] - '0');
		w->nr--; /* the number of the call before */
	}
}
