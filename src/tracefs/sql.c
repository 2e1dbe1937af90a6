// SPDX-License-Identifier: GPL-2.0-or-later
#include "tracefs/sql.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "tracefs/sql_parts.h"

#define TREE_LIMIT (16u << 20)

int sql_plan(const char *query, const struct sql_options *opt, const struct sql_schema *schema,
	     struct plan *plan, struct sql_mistake *mistake, struct spur_error *err)
{
	struct sql q = {.text = query, .len = strlen(query), .mistake = mistake, .err = err};
	int rc;

	*mistake = (struct sql_mistake){0};
	if (q.len > SQL_MAX_QUERY)
		return error_set(err, -EINVAL, "a query of %zu bytes is too long", q.len);
	arena_init(&q.arena, TREE_LIMIT);
	rc = sql_parse(&q);
	if (rc == 0)
		rc = sql_check(&q, schema);
	if (rc == 0)
		rc = sql_generate(&q, opt, plan);
	arena_free(&q.arena);
	return rc;
}
