// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur report --profile`, and the lines that tell of hooks. */
#include "cli/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats/profile/hook.h"
#include "stats/profile.h"
#include "base/error.h"
#include "base/vec.h"

#define TEXT_LIMIT (256u << 20)

int report_show_hooks(const struct report_options *o, struct spur_error *err)
{
	struct buf out;
	int rc = 0;

	buf_init(&out, TEXT_LIMIT);
	for (size_t i = 0; i < o->hooks.n && rc == 0; i++) {
		struct hook h;

		rc = hook_parse(&h, o->hooks.at[i], strlen(o->hooks.at[i]), err);
		if (rc == 0)
			hook_put(&h, &out);
	}
	vec_each (in, &o->inputs)
		hook_put_stored(in->trace->dat, &out);
	if (rc == 0)
		cli_put(out.data, out.len);
	buf_free(&out);
	return rc;
}

static void warn(void *arg, const char *text)
{
	const struct report_options *o = arg;

	if (!o->quiet)
		cli_error("%s", text);
}

static struct profile *make_profile(const struct report_options *o,
				    struct spur_trace *const *traces, struct spur_error *err)
{
	const char **names = calloc(o->inputs.n + 1, sizeof(*names));
	struct profile_options opt = {
		.global = o->global,
		.by_comm = o->by_comm,
		.hooks = o->hooks.at,
		.nr_hooks = o->hooks.n,
		.names = names,
		.warn = warn,
		.warn_arg = (void *)o,
	};
	struct profile *p;

	for (size_t i = 0; names && i < o->inputs.n; i++)
		names[i] = o->inputs.at[i].path;
	p = profile_new(traces, o->inputs.n, &opt, err);
	free(names);
	return p;
}

int report_profile(const struct report_options *o, const struct report *rep, struct spur_error *err)
{
	const struct profile_input in = {rep->sources, rep->nr_sources, &rep->select, rep->stop};
	struct profile *p = make_profile(o, rep->traces, err);
	struct buf out;
	int rc;

	if (!p)
		return err->code;
	buf_init(&out, TEXT_LIMIT);
	rc = profile_run(p, &in, err);
	if (rc == 0) {
		profile_print(p, &out);
		rc = cli_write(out.data, out.len);
	}
	if (rc == 0 && (profile_dropped(p) || buf_full(&out)))
		warn((void *)o, "the profile is incomplete: it would take too much memory");
	buf_free(&out);
	profile_free(p);
	return rc;
}
