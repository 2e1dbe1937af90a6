// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer: SQL that is translated for ClickHouse, over tables that are always the same. Whatever
 * it is, there are words or a statement; and the statement only reads.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/vec.h"
#include "query/parts.h"
#include "../unit/store_tables.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void translate(sqlite3 *db, const char *sql, const struct tokens *tokens)
{
	struct store_params params = {0};
	struct spur_error err = {0};
	struct store_sql out;
	int rc;

	store_sql_init(&out);
	if (store_params_find(sql, tokens, &params) < 0)
		abort();
	vec_each (p, &params)
		p->value = p->name[1] & 1 ? strdup(p->name) : NULL;
	rc = store_compile(db, sql, tokens, 0, &params, &store_tables_schema, "0123456789abcdef",
			   &out, &err);
	if (rc < 0 ? !err.code || !*err.text
		   : strncmp(buf_str(&out.remote), "SELECT ", 7) != 0 ||
			     !strstr(out.remote.data, "'0123456789abcdef' AS spur_mark") ||
			     strncmp(buf_str(&out.local), "select ", 7) != 0)
		abort();
	vec_each (p, &params) {
		free(p->name);
		free(p->value);
	}
	vec_free(&params);
	store_sql_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct query *session;
	struct spur_error err = {0};
	struct tokens tokens = {0};
	char *sql = malloc(size + 1);
	size_t used;
	int rc;

	if (!sql || (!session && query_open(&(struct query_options){0}, &session, &err) < 0))
		abort();
	memcpy(sql, data, size);
	sql[size] = '\0';
	rc = store_lex(sql, &tokens, &used, &err);
	if (rc == 0 && (used > size || !tokens.n || tokens.at[tokens.n - 1].kind != TOKEN_END))
		abort();
	if (rc == 0)
		translate(session->db, sql, &tokens);
	vec_free(&tokens);
	free(sql);
	return 0;
}
