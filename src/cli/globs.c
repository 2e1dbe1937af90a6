// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/globs.h"

#include <errno.h>
#include <string.h>

#include "base/vec.h"

int globs_add(struct globs *g, const struct opt *opt, const char *arg)
{
	struct pattern *slot = vec_push(g);
	struct spur_error err = {0};

	if (!slot)
		return -ENOMEM;
	if (pattern_glob(slot, arg, strlen(arg), &err) < 0)
		return opt_error(opt, "%s", err.text);
	return 0;
}

void globs_free(struct globs *g)
{
	vec_each (p, g)
		pattern_free(p);
	vec_free(g);
}

bool globs_match(const struct globs *g, const char *name)
{
	vec_each (p, g)
		if (pattern_match(p, name, strlen(name)))
			return true;
	return false;
}
