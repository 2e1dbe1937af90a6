// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Architectures: which numbers the calls have, and which names numbers have. A new one needs a row
 * here, and variants in names.h only where its headers differ.
 */
#include "event/pretty_tables.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define X32_SYSCALL_BIT 0x40000000

static const struct pretty_arch archs[] = {
	{
		.machines = "x86_64 amd64",
		.numbers = {pretty_numbers_x86_64, pretty_numbers_common, pretty_numbers_x32},
		.bit = ON_X86_64,
		.abi_bit = X32_SYSCALL_BIT,
		.plain_ioctl = true,
	},
	{
		.machines = "i386 i486 i586 i686",
		.numbers = {pretty_numbers_i386, pretty_numbers_common},
		.bit = ON_I386,
		.plain_ioctl = true,
	},
	{
		.machines = "aarch64 aarch64_be arm64",
		.numbers = {pretty_numbers_generic, pretty_numbers_common},
		.bit = ON_ARM64,
		.plain_ioctl = true,
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
	},
	{
		.machines = "s390x",
		.numbers = {pretty_numbers_s390x, pretty_numbers_common},
		.bit = ON_S390X,
		.plain_ioctl = true,
	},
	{
		.machines = "ppc64 ppc64le",
		.numbers = {pretty_numbers_ppc64, pretty_numbers_common},
		.bit = ON_PPC64,
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

static size_t count_words(const char *text)
{
	size_t n = 1;

	while (*(text = strchrnul(text, ' ')) && text[1])
		n += *text++ == ' ';
	return n;
}

/* Makes the names of a text (see names.h), in which one blank stands between words. */
static bool read_names(const char *text, struct arena *arena, struct name_set *set)
{
	uint32_t value = 0, mask = UINT32_MAX; /* no mask stands for flags */

	set->n = 0;
	set->at = arena_array(arena, count_words(text), sizeof(*set->at));
	if (!set->at)
		return false;
	for (const char *w = text, *end; *w; w = *end ? end + 1 : end) {
		end = strchrnul(w, ' ');
		if (*w == '|') {
			mask = 0;
		} else if (*w == '=') {
			mask = UINT32_MAX;
		} else if (end[-1] == ':') {
			mask = (uint32_t)strtoll(w, NULL, 0);
		} else if ((*w >= '0' && *w <= '9') || *w == '-') {
			value = (uint32_t)strtoll(w, NULL, 0);
		} else {
			set->at[set->n++] =
				(struct named){value, mask ? mask : value, w, (uint32_t)(end - w)};
			value += mask ? mask & -mask : value;
		}
	}
	return true;
}

bool pretty_sets_make(const struct pretty_arch *arch, struct arena *arena,
		      struct name_set sets[PRETTY_NR_SETS])
{
	static const struct {
		uint8_t kind, flags, on;
		const char *text;
	} texts[] = {
#define SET(kind, how, text)	{A_##kind, how, 0, text},
#define VARIANT(kind, on, text) {A_##kind, 0, on, text},
#include "event/pretty/names.h"
	};

	memset(sets, 0, PRETTY_NR_SETS * sizeof(*sets));
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct name_set *set = &sets[texts[i].kind - A_FIRST_SET];

		set->flags |= texts[i].flags;
		if (texts[i].on ? !arch || !(texts[i].on & arch->bit)
				: !arch && texts[i].flags & SET_ABI)
			continue;
		if (!read_names(texts[i].text, arena, set))
			return false;
	}
	return true;
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
