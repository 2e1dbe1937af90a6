// SPDX-License-Identifier: GPL-2.0-or-later
/* The settings of an export to Parquet. */
#include "export/parquet_choices.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zstd.h>

#include "base/error.h"
#include "base/vec.h"

#define MEMORY	    128 /* MB of all tables, about */
#define LEVEL	    1
#define GROUP_ROWS  (256u << 10)
#define MOST_ROWS   (64u << 20)
#define MOST_MEMORY 4096

static int take_number(const struct export_job *job, const char *name, int64_t least, int64_t most,
		       int64_t *to, struct spur_error *err)
{
	const char *text = export_setting(job, name);
	char *end;

	if (!text)
		return 0;
	errno = 0;
	*to = strtoll(text, &end, 10);
	if (errno || end == text || *end || *to < least || *to > most)
		return error_set(err, -EINVAL, "%s: a number from %lld to %lld, not '%s'", name,
				 (long long)least, (long long)most, text);
	return 0;
}

static int take_tables(struct pq_choices *c, const char *text, struct spur_error *err)
{
	while (text && *text) {
		const size_t len = strcspn(text, ",");
		struct pq_chosen *chosen = vec_push(&c->tables);

		if (!chosen)
			return error_set(err, -ENOMEM, "out of memory");
		*chosen = (struct pq_chosen){.text = text, .len = len};
		if (pattern_glob(&chosen->names, text, len, err) < 0)
			return err->code;
		text += len + (text[len] == ',');
	}
	return 0;
}

/* A day that the calendar has comes out as it went in. */
static bool is_date(const char *text)
{
	struct tm tm = {.tm_isdst = 0};
	const char *end = strptime(text, "%Y-%m-%d", &tm);
	char again[32];
	time_t day;

	if (!end || *end)
		return false;
	day = timegm(&tm);
	return gmtime_r(&day, &tm) && strftime(again, sizeof(again), "%Y-%m-%d", &tm) == 10 &&
	       strcmp(again, text) == 0;
}

static int take_date(struct pq_choices *c, const char *text, struct spur_error *err)
{
	if (text && !is_date(text))
		return error_set(err, -EINVAL, "date: a day as YYYY-MM-DD, not '%s'", text);
	c->date = text;
	return 0;
}

int pq_choose(struct pq_choices *c, const struct export_job *job, struct spur_error *err)
{
	int rc;

	*c = (struct pq_choices){.host = export_setting(job, "host"),
				 .level = LEVEL,
				 .group_rows = GROUP_ROWS,
				 .memory = MEMORY};
	rc = take_number(job, "level", 1, ZSTD_maxCLevel(), &c->level, err);
	if (rc == 0)
		rc = take_number(job, "row_group", 1, MOST_ROWS, &c->group_rows, err);
	if (rc == 0)
		rc = take_number(job, "memory", 1, MOST_MEMORY, &c->memory, err);
	c->memory <<= 20;
	if (rc == 0)
		rc = take_date(c, export_setting(job, "date"), err);
	if (rc == 0 && c->host && !*c->host)
		rc = error_set(err, -EINVAL, "host: a name");
	if (rc == 0)
		rc = take_tables(c, export_setting(job, "tables"), err);
	return rc;
}

void pq_choices_free(struct pq_choices *c)
{
	vec_each (t, &c->tables)
		pattern_free(&t->names);
	vec_free(&c->tables);
}

bool pq_is_chosen(void *choices, const char *table)
{
	struct pq_choices *c = choices;
	bool chosen = !c->tables.n;

	vec_each (t, &c->tables)
		if (pattern_match(&t->names, table, strlen(table)))
			chosen = t->met = true;
	return chosen;
}

void pq_choices_tell(const struct pq_choices *c, const struct export_job *job)
{
	vec_each (t, &c->tables)
		if (!t->met)
			export_note(job, "no table is called '%.*s'", (int)t->len, t->text);
}
