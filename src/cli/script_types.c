// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists of the kernel's types: "struct task_*", with their members when that is wanted. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/pattern.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "cli/script.h"
#include "symbols/btf.h"

#define DEFINITION_LIMIT (4u << 20)

static const struct {
	const char *word;
	enum btf_want want;
} kinds[] = {
	{"struct ", BTF_WANT_STRUCT},
	{"union ", BTF_WANT_UNION},
	{"enum ", BTF_WANT_ENUM},
};

#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

struct names {
	struct pattern pattern;
	const char **at;
	size_t n, cap;
};

bool script_is_type(const char *pattern)
{
	for (size_t i = 0; i < NR_KINDS; i++)
		if (strncmp(pattern, kinds[i].word, strlen(kinds[i].word)) == 0)
			return true;
	return false;
}

static bool take_name(void *arg, const char *name)
{
	struct names *names = arg;
	const char **slot;

	if (!pattern_match(&names->pattern, name, strlen(name)))
		return true;
	slot = vec_push(names);
	if (slot)
		*slot = name;
	return slot != NULL;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void show_type(const struct btf *btf, size_t kind, const char *name, bool whole)
{
	struct buf text;

	buf_init(&text, DEFINITION_LIMIT);
	if (!whole || !btf_define(btf, kinds[kind].want, name, &text))
		buf_printf(&text, "%s%s", kinds[kind].word, name);
	buf_putc(&text, '\n');
	cli_put(text.data, text.len);
	buf_free(&text);
}

int script_list_types(const struct script_command *o, const char *pattern)
{
	struct names names = {0};
	struct spur_error err = {0};
	struct btf *btf = NULL;
	size_t kind = 0;
	int rc;

	while (strncmp(pattern, kinds[kind].word, strlen(kinds[kind].word)) != 0)
		kind++;
	pattern += strlen(kinds[kind].word);
	pattern += strspn(pattern, " \t");
	rc = pattern_glob(&names.pattern, pattern, strlen(pattern), &err);
	if (rc == 0)
		rc = btf_open(o->btf ? o->btf : "/sys/kernel/btf/vmlinux", NULL, &btf, &err);
	if (rc == 0 && !btf_names(btf, kinds[kind].want, take_name, &names))
		rc = -ENOMEM;
	if (names.n)
		qsort(names.at, names.n, sizeof(*names.at), by_name);
	for (size_t i = 0; i < names.n; i++)
		if (!i || strcmp(names.at[i - 1], names.at[i]) != 0)
			show_type(btf, kind, names.at[i], o->verbose);
	vec_free(&names);
	pattern_free(&names.pattern);
	btf_free(btf);
	return rc < 0 ? script_fail(o, rc, pattern, &err) : SPUR_OK;
}
