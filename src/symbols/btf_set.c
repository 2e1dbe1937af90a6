// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/btf_set.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define KERNEL "/sys/kernel/btf/vmlinux"

int btf_set_open(struct btf_set *s, const char *path, struct spur_error *err)
{
	*s = (struct btf_set){.path = path ? path : KERNEL};
	return btf_open(s->path, NULL, &s->kernel, err);
}

void btf_set_close(struct btf_set *s)
{
	btf_free(s->module);
	btf_free(s->kernel);
	s->module = s->kernel = NULL;
}

static void load(struct btf_set *s, const char *module)
{
	const char *slash = strrchr(s->path, '/');
	int len = slash ? (int)(slash - s->path) + 1 : 0;
	char file[PATH_MAX];

	btf_free(s->module);
	s->module = NULL;
	snprintf(s->loaded, sizeof(s->loaded), "%s", module);
	if (snprintf(file, sizeof(file), "%.*s%s", len, s->path, module) < (int)sizeof(file))
		btf_open(file, s->kernel, &s->module, NULL);
}

const struct btf *btf_set_of(struct btf_set *s, const char *module)
{
	if (!module || !*module || !s->kernel)
		return s->kernel;
	if (strlen(module) >= sizeof(s->loaded))
		return NULL;
	if (strcmp(s->loaded, module) != 0)
		load(s, module);
	return s->module;
}
