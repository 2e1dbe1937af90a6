// SPDX-License-Identifier: GPL-2.0-or-later
/* Settings of the ClickHouse export beside the server's address: a spool, a cluster's shards. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "export/clickhouse_parts.h"

#define DEFAULT_SPOOL_MAX (4ull << 30)

static int no_memory(struct spur_error *err)
{
	return error_set(err, -ENOMEM, "out of memory");
}

void ch_options_free(struct ch_options *o)
{
	ch_address_free(&o->at);
	free(o->spool);
}

/* ---- the spool ---- */

static char *spool_root(void)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char *path = NULL;

	if (geteuid() == 0)
		return strdup("/var/spool/spur");
	if (state && *state == '/')
		return asprintf(&path, "%s/spur/spool", state) < 0 ? NULL : path;
	if (home && *home == '/')
		return asprintf(&path, "%s/.local/state/spur/spool", home) < 0 ? NULL : path;
	return asprintf(&path, "%s/spur-spool-%u", file_temp(), (unsigned int)geteuid()) < 0 ? NULL
											     : path;
}

/* Each server and database has a folder of its own. */
static int choose_spool(struct ch_options *o, const char *given, struct spur_error *err)
{
	char *root = given ? strdup(given) : spool_root();
	int n = root ? asprintf(&o->spool, "%s/%s_%s_%s", root, o->at.host, o->at.port,
				o->at.database)
		     : -1;

	free(root);
	if (n < 0) {
		o->spool = NULL;
		return no_memory(err);
	}
	for (char *c = o->spool + n - (int)strlen(strrchr(o->spool, '/')) + 1; *c; c++)
		if (*c == ':' || *c == '%')
			*c = '_';
	return 0;
}

/* ---- */

static int read_numbers(struct ch_options *o, const struct ch_settings *s, struct spur_error *err)
{
	double deliver = 0, most = (double)DEFAULT_SPOOL_MAX;
	int rc = ch_setting_number(s, "deliver", 1, &deliver, err);

	if (rc == 0)
		rc = ch_setting_number(s, "spool_max", 1e18, &most, err);
	o->deliver = deliver > 0;
	o->spool_max = (uint64_t)most;
	return rc;
}

static int check_machine(const char *name, struct spur_error *err)
{
	if (name && (!*name || strlen(name) >= IDENTITY_NAME))
		return error_set(err, -EINVAL, "host=%.20s: a name of 1 to %d bytes is needed",
				 name, IDENTITY_NAME - 1);
	return 0;
}

static const char *setting(const void *job, const char *name)
{
	return export_setting(job, name);
}

int ch_options_read(struct ch_options *o, const struct export_job *job, struct spur_error *err)
{
	const struct ch_settings settings = {.get = setting, .arg = job, .stop = job->walk.stop};
	int rc;

	*o = (struct ch_options){
		.shards = export_setting(job, "shards"),
		.machine = export_setting(job, "host"),
	};
	rc = ch_address_read(&o->at, job->target, &settings, err);
	if (rc == 0)
		rc = read_numbers(o, &settings, err);
	if (rc == 0)
		rc = check_machine(o->machine, err);
	if (rc == 0 && o->shards && !o->at.cluster)
		rc = error_set(err, -EINVAL, "shards= is about a cluster: cluster=NAME is missing");
	if (rc == 0)
		rc = choose_spool(o, export_setting(job, "spool"), err);
	if (rc == 0 && ch_address_exposes(&o->at))
		export_note(job, "the password goes to %s as it is: clickhouses:// encrypts it",
			    o->at.host);
	return rc;
}
